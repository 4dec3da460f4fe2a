/* SPDX-License-Identifier: Apache-2.0
 * The exact optimisations that were used, in numbers and in words. */
#include "runtime/exec/exact_optimisation_use.h"

#include <math.h>

#include "runtime/exec/evaluator_state.h"

/* Batches of one size follow each other: their work is counted when another size comes. */
static void settle(const struct work_seen *w, struct optimisation_use *u)
{
	u->flops += w->n * w->flops;
	u->plain_flops += w->n * w->plain;
}

void use_batch(struct evaluator *ev)
{
	const struct evaluator_engine *last = &ev->engine[ev->nengine - 1];
	struct work_seen *w = &ev->seen;
	double bytes;

	if (ev->gradient != (ev->o.gradient != GRADIENT_NONE))
		return;
	if (w->nsample != ev->batch.nsample || w->nstate != ev->units.nstate) {
		settle(w, &ev->use);
		if (!w->sample_flops)
			w->sample_flops = last->engine->plain_flops(last->state, ev->whole);
		*w = (struct work_seen){ .nsample = ev->batch.nsample,
			.nstate = ev->units.nstate,
			.plain = w->sample_flops * ev->batch.nsample,
			.sample_flops = w->sample_flops };
		evaluator_work(ev, &w->flops, &bytes);
	}
	w->n++;
	ev->use.nbatch++;
	if (ev->on->engine->count)
		ev->on->engine->count(ev->on->state, ev->whole, ev->use.row);
}

void evaluator_use(const struct evaluator *ev, struct optimisation_use *out)
{
	*out = ev->use;
	settle(&ev->seen, out);
	out->ncircuit = ev->whole->ncircuit;
	out->nqubit = program_nwire(ev->whole);
}

static void add_tally(struct optimisation_tally *t, const struct optimisation_tally *more)
{
	t->nbatch += more->nbatch;
	t->nsample += more->nsample;
	t->nstate += more->nstate;
	if (more->nbatch) {
		t->ncircuit = more->ncircuit;
		t->nqubit = more->nqubit;
	}
}

void optimisation_use_add(struct optimisation_use *u, const struct optimisation_use *more)
{
	u->nbatch += more->nbatch;
	u->ncircuit = more->ncircuit;
	u->nqubit = more->nqubit;
	u->flops += more->flops;
	u->plain_flops += more->plain_flops;
	for (unsigned k = 0; k < OPTIMISATIONS_COUNT; k++)
		add_tally(&u->row[k], &more->row[k]);
}

bool optimisation_use_any(const struct optimisation_use *u)
{
	for (unsigned k = 0; k < OPTIMISATIONS_COUNT; k++)
		if (u->row[k].nbatch)
			return true;
	return false;
}

void optimisation_text_number(struct buf *out, double v)
{
	if (v == floor(v) && v < 1e15)
		buf_printf(out, "%.0f", v);
	else
		buf_printf(out, v < 100 ? "%.1f" : "%.0f", v);
}

void optimisation_text_batches(const struct optimisation_use *u, uint64_t n, struct buf *out)
{
	if (n == u->nbatch)
		buf_str(out, " in every batch");
	else
		buf_printf(out, " in %llu of %llu batches", (unsigned long long)n, (unsigned long long)u->nbatch);
}

/* How many times more operations there were without, with one decimal, as it is printed; 1 where none was used. */
static double gain_of(const struct optimisation_use *u)
{
	double gain = optimisation_use_any(u) && u->flops > 0 ? u->plain_flops / u->flops : 1;

	return round(10 * gain) / 10;
}

void optimisation_use_text(const struct optimisation_use *u, struct buf *out)
{
	const struct engine_optimisation *used[OPTIMISATIONS_COUNT];
	unsigned n = engine_uses(used);

	if (u->plain_flops > 0 && gain_of(u) <= 1)
		return;
	for (unsigned k = 0, ntext = 0; k < n; k++)
		if (u->row[used[k]->row].nbatch) {
			buf_str(out, ntext++ ? "; " : "");
			used[k]->text(u, out);
		}
	if (u->plain_flops > 0) {
		buf_str(out, "; ");
		optimisation_text_number(out, gain_of(u));
		buf_str(out, " times fewer operations");
	}
}
