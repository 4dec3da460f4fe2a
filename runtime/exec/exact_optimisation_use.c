/* SPDX-License-Identifier: Apache-2.0
 * The exact optimisations that were used, in numbers and in words. */
#include "runtime/exec/exact_optimisation_use.h"

#include <math.h>
#include <string.h>

#include "runtime/exec/evaluator_state.h"
#include "runtime/exec/light_cones.h"

/* Operations of a sample by the circuits as they are written, without exact optimisations. */
static double plain_flops(const struct evaluator *ev)
{
	const struct evaluator_engine *last = &ev->engine[ev->nengine - 1];
	double off, on;

	if (!evaluator_cones(ev))
		return last->engine->plain_flops(last->state);
	cones_worth(ev->whole, ev->p, &ev->o, &off, &on);
	return off;
}

/* Batches of one size follow each other: their work is counted when another size comes. */
static void settle(const struct work_seen *w, struct optimisation_use *u)
{
	u->flops += w->n * w->flops;
	u->plain_flops += w->n * w->plain;
}

void use_batch(struct evaluator *ev)
{
	struct work_seen *w = &ev->seen;
	double bytes;

	if (ev->gradient != (ev->o.gradient != GRADIENT_NONE))
		return;
	if (w->nsample != ev->batch.nsample || w->nstate != ev->units.nstate) {
		settle(w, &ev->use);
		if (!w->sample_flops)
			w->sample_flops = plain_flops(ev);
		*w = (struct work_seen){ .nsample = ev->batch.nsample,
			.nstate = ev->units.nstate,
			.plain = w->sample_flops * ev->batch.nsample,
			.sample_flops = w->sample_flops };
		evaluator_work(ev, &w->flops, &bytes);
	}
	w->n++;
	ev->use.nbatch++;
	ev->on->engine->count(ev->on->state, &ev->use);
}

void evaluator_use(const struct evaluator *ev, struct optimisation_use *out)
{
	*out = ev->use;
	settle(&ev->seen, out);
	out->ncircuit = ev->whole->ncircuit;
	out->qubits = program_nwire(ev->whole);
	out->ncone = evaluator_cones(ev) ? ev->p->ncircuit : 0;
	out->cone_qubits = evaluator_cones(ev) ? program_nwire(ev->p) : 0;
}

void optimisation_use_add(struct optimisation_use *u, const struct optimisation_use *more)
{
	u->nbatch += more->nbatch;
	u->nrank += more->nrank;
	u->nstate += more->nstate;
	u->nsample += more->nsample;
	u->ntail += more->ntail;
	u->tail_qubits = more->tail_qubits;
	u->ncone = more->ncone;
	u->cone_qubits = more->cone_qubits;
	u->ncircuit = more->ncircuit;
	u->qubits = more->qubits;
	u->flops += more->flops;
	u->plain_flops += more->plain_flops;
}

/* How many times more operations there were without; 1 where no exact optimisation was used. */
static double gain_of(const struct optimisation_use *u)
{
	return (u->nrank || u->ncone || u->ntail) && u->flops > 0 ? u->plain_flops / u->flops : 1;
}

static void number(struct buf *out, double v)
{
	if (v == floor(v) && v < 1e15)
		buf_printf(out, "%.0f", v);
	else
		buf_printf(out, v < 100 ? "%.1f" : "%.0f", v);
}

static void in_batches(const struct optimisation_use *u, uint64_t n, struct buf *out)
{
	if (n == u->nbatch)
		buf_str(out, " in every batch");
	else
		buf_printf(out, " in %llu of %llu batches", (unsigned long long)n, (unsigned long long)u->nbatch);
}

static void rank_text(const struct optimisation_use *u, struct buf *out)
{
	buf_str(out, "batch_rank: ");
	number(out, (double)u->nstate / (double)u->nrank);
	buf_str(out, u->nstate == u->nrank ? " state instead of " : " states instead of ");
	number(out, (double)u->nsample / (double)u->nrank);
	in_batches(u, u->nrank, out);
}

static void tail_text(const struct optimisation_use *u, struct buf *out)
{
	buf_printf(out, "heisenberg_tail: the last gates on %u qubit%s as one matrix",
		u->tail_qubits, u->tail_qubits == 1 ? "" : "s");
	in_batches(u, u->ntail, out);
}

static void cone_text(const struct optimisation_use *u, struct buf *out)
{
	buf_printf(out, "light_cone: %u circuit%s of at most %u qubit%s instead of ", u->ncone, u->ncone == 1 ? "" : "s", u->cone_qubits,
		u->cone_qubits == 1 ? "" : "s");
	if (u->ncircuit == 1)
		buf_printf(out, "one of %u", u->qubits);
	else
		buf_printf(out, "%u of at most %u", u->ncircuit, u->qubits);
}

/* As it is printed, with one decimal. */
static double rounded_gain(const struct optimisation_use *u) { return round(10 * gain_of(u)) / 10; }

void optimisation_use_text(const struct optimisation_use *u, struct buf *out)
{
	if (rounded_gain(u) <= 1)
		return;
	if (u->ncone)
		cone_text(u, out);
	if (u->ncone && u->nrank)
		buf_str(out, "; ");
	if (u->nrank)
		rank_text(u, out);
	if ((u->ncone || u->nrank) && u->ntail)
		buf_str(out, "; ");
	if (u->ntail)
		tail_text(u, out);
	buf_str(out, "; ");
	number(out, rounded_gain(u));
	buf_str(out, " times fewer operations");
}
