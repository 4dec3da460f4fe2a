/* SPDX-License-Identifier: Apache-2.0
 * Walks back from outputs over the ops that they depend on; a token is a wire of the smaller circuit that remains. */
#include "runtime/exec/statevector/light_cones.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/order.h"

static const double GAIN = 1.25;

/* Outputs first .. last-1 of a circuit, and what they see. */
struct group {
	uint32_t first, last;
	uint32_t nwire, napply;
	double cost;
};

struct walk {
	const struct circuit_code *code;
	uint32_t *token; /* (nwire): the token that stands on a wire, or INDEX_NONE */
	uint32_t ntoken;
	bool *keep; /* (napply) */
};

static void touch(struct walk *w, uint32_t wire)
{
	if (w->token[wire] == INDEX_NONE)
		w->token[wire] = w->ntoken++;
}

static void touch_output(struct walk *w, const struct output *o)
{
	for (uint32_t k = 0; k < o->nwire; k++)
		touch(w, o->wire[k]);
	for (uint32_t t = 0; t < o->nterm; t++)
		for (uint32_t f = 0; f < o->term[t].nfactor; f++)
			touch(w, o->term[t].factor[f].wire);
}

static bool seen(const struct walk *w, const struct apply *a)
{
	for (uint32_t k = 0; k < a->nwire; k++)
		if (w->token[a->wire[k]] != INDEX_NONE)
			return true;
	return false;
}

static void swap_wires(uint32_t *of_wire, const struct apply *a)
{
	uint32_t t = of_wire[a->wire[0]];

	of_wire[a->wire[0]] = of_wire[a->wire[1]];
	of_wire[a->wire[1]] = t;
}

/* From the outputs of g to the start: w->token is where each token begins, w->keep what is seen. */
static void walk_back(struct walk *w, struct group *g)
{
	const struct circuit_code *c = w->code;

	w->ntoken = g->napply = 0;
	for (uint32_t k = 0; k < c->nwire; k++)
		w->token[k] = INDEX_NONE;
	for (uint32_t o = g->first; o < g->last; o++)
		touch_output(w, &c->output[o]);
	if (!w->ntoken)
		touch(w, 0); /* the identity alone: a circuit has a wire */
	for (uint32_t i = c->napply; i-- > 0;) {
		const struct apply *a = &c->apply[i];

		w->keep[i] = a->op != APPLY_DISCARD && a->op != APPLY_MEASURE && a->op != APPLY_SWAP
			&& seen(w, a);
		if (a->op == APPLY_SWAP)
			swap_wires(w->token, a);
		for (uint32_t k = 0; w->keep[i] && k < a->nwire; k++)
			touch(w, a->wire[k]);
		g->napply += w->keep[i];
	}
	g->nwire = w->ntoken;
	g->cost = ldexp(g->napply + 1.0, g->nwire < 1000 ? (int)g->nwire : 1000);
}

/* ---- which outputs stay together ---- */

static uint32_t join_cheapest(struct walk *w, struct group *g, uint32_t n)
{
	struct group best = { 0 };
	uint32_t at = n;
	double gain = 0;

	for (uint32_t k = 0; k + 1 < n; k++) {
		struct group both = { .first = g[k].first, .last = g[k + 1].last };

		walk_back(w, &both);
		if (g[k].cost + g[k + 1].cost - both.cost > gain
			|| (!gain && g[k].cost + g[k + 1].cost == both.cost)) {
			gain = g[k].cost + g[k + 1].cost - both.cost;
			best = both;
			at = k;
		}
	}
	if (at == n)
		return n;
	g[at] = best;
	memmove(g + at + 1, g + at + 2, (n - at - 2) * sizeof *g);
	return n - 1;
}

static uint32_t group_outputs(struct walk *w, struct group *g)
{
	uint32_t n = 0, before;

	for (uint32_t o = 0; o < w->code->noutput; o++, n++) {
		g[n] = (struct group){ .first = o, .last = o + 1 };
		walk_back(w, &g[n]);
	}
	do {
		before = n;
		n = join_cheapest(w, g, n);
	} while (n < before);
	return n;
}

/* ---- the circuit of a group ---- */

/* Tokens become wires in the order in which they begin; map[wire] follows the swaps. */
static void begin_map(const struct walk *w, uint32_t *map)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < w->code->nwire; k++)
		map[k] = w->token[k] == INDEX_NONE ? INDEX_NONE : n++;
}

/* A term's factors in the order of their wires. */
static void sort_factors(struct output *o)
{
	for (uint32_t t = 0; t < o->nterm; t++)
		if (o->term[t].nfactor)
			qsort(o->term[t].factor, o->term[t].nfactor, sizeof *o->term->factor,
				order_u32);
}

static struct circuit_code circuit_of(struct walk *w, struct group *g, struct arena *a, uint32_t *map)
{
	const struct circuit_code *c = w->code;
	struct circuit_code out = { .name = c->name };

	walk_back(w, g);
	begin_map(w, map);
	out.nwire = g->nwire;
	out.apply = arena_alloc(a, (size_t)g->napply + 1, sizeof *out.apply);
	for (uint32_t i = 0; i < c->napply; i++) {
		const struct apply *p = &c->apply[i];

		if (p->op == APPLY_SWAP)
			swap_wires(map, p);
		if (!w->keep[i])
			continue;
		out.apply[out.napply] = *p;
		out.apply[out.napply++].wire = wires_mapped(a, p->wire, p->nwire, map);
	}
	out.noutput = g->last - g->first;
	out.output = arena_alloc(a, out.noutput, sizeof *out.output);
	for (uint32_t o = 0; o < out.noutput; o++) {
		out.output[o] = output_mapped(a, &c->output[g->first + o], map);
		sort_factors(&out.output[o]);
		out.nreadout += output_nreadout(&out.output[o]);
	}
	return out;
}

/* ---- the program ---- */

/* Outputs that are looked at one by one. */
static uint32_t outputs_of(const struct circuit_code *c)
{
	return c->noutput <= CONES_OUTPUTS_MAX ? c->noutput : 0;
}

/* The cones of one circuit, or itself: false. */
static bool add_cones(struct program *out, struct arena *a, const struct circuit_code *c)
{
	struct walk w = { c, mem_alloc((size_t)c->nwire + 1, sizeof *w.token), 0,
		mem_alloc((size_t)c->napply + 1, sizeof *w.keep) };
	mem_auto uint32_t *map = mem_alloc((size_t)c->nwire + 1, sizeof *map);
	struct group g[CONES_OUTPUTS_MAX];
	uint32_t n = outputs_of(c) ? group_outputs(&w, g) : 0;
	bool falls_apart = n > 1 || (n == 1 && g->nwire < c->nwire);

	for (uint32_t k = 0; falls_apart && k < n; k++)
		out->circuit[out->ncircuit++] = circuit_of(&w, &g[k], a, map);
	if (!falls_apart)
		out->circuit[out->ncircuit++] = *c;
	free(w.token);
	free(w.keep);
	return falls_apart;
}

const struct program *cones_of(const struct program *p, struct arena *a)
{
	struct program *out = arena_copy(a, p, 1, sizeof *p);
	uint64_t most = 0;
	bool changed = false;

	for (uint32_t c = 0; c < p->ncircuit; c++)
		most += outputs_of(&p->circuit[c]) ? outputs_of(&p->circuit[c]) : 1;
	if (most > PROGRAM_CIRCUITS_MAX)
		return NULL;
	arena_init(&out->arena); /* p's tables stay p's */
	out->circuit = arena_alloc(a, most, sizeof *out->circuit);
	out->ncircuit = 0;
	for (uint32_t c = 0; c < p->ncircuit; c++)
		changed |= add_cones(out, a, &p->circuit[c]);
	return changed ? out : NULL;
}

/* ---- is it worth it? ---- */

static double effort(const struct program *p, const struct evaluator_options *o)
{
	struct evaluator_options plain = *o;
	struct engine_cost cost;

	plain.optimisations = OPTIMISATION_NONE;
	plain.method = METHOD_STATEVECTOR;
	return engine_cost(&(struct engine_problem){ .program = p, .options = &plain }, &cost)
		? HUGE_VAL
		: cost.effort;
}

/* The effort of a sample of p as it is and by its cones, both without other exact optimisations; *off is infinite where p itself cannot be
 * evaluated.  Worth it: less than four fifths. */
static bool cones_worth(const struct program *p, const struct program *cones,
	const struct evaluator_options *o, double *off, double *on)
{
	*off = effort(p, o);
	*on = effort(cones, o);
	return isfinite(*on) && GAIN * *on < *off;
}

const struct program *light_cones_program(const struct program *p,
	const struct evaluator_options *o, struct arena *a)
{
	double off, on;

	if (!(engine_optimisations(o) & OPTIMISATION_LIGHT_CONE))
		return p;
	const struct program *cones = cones_of(p, a);
	return cones && (cones_worth(p, cones, o, &off, &on) || o->optimisations_always) ? cones : p;
}

/* ---- for people ---- */

void light_cones_count(const struct program *cones, struct optimisation_tally *tally)
{
	tally += OPTIMISATION_ROW_LIGHT_CONE;
	tally->nbatch++;
	tally->ncircuit = cones->ncircuit;
	tally->nqubit = program_nwire(cones);
}

void light_cones_text(const struct optimisation_use *u, struct buf *out)
{
	const struct optimisation_tally *t = &u->row[OPTIMISATION_ROW_LIGHT_CONE];

	buf_printf(out, "light_cone: %u circuit%s of at most %u qubit%s instead of ", t->ncircuit,
		t->ncircuit == 1 ? "" : "s", t->nqubit, t->nqubit == 1 ? "" : "s");
	if (u->ncircuit == 1)
		buf_printf(out, "one of %u", u->nqubit);
	else
		buf_printf(out, "%u of at most %u", u->ncircuit, u->nqubit);
}

static bool has_too_many_outputs(const struct program *p)
{
	for (uint32_t c = 0; c < p->ncircuit; c++)
		if (p->circuit[c].noutput > CONES_OUTPUTS_MAX)
			return true;
	return false;
}

void light_cones_describe(const struct engine_problem *p, struct buf *out)
{
	arena_auto a = { 0 };
	double off, on;
	const struct program *cones = cones_of(p->program, &a);

	buf_str(out, "light_cone: ");
	if (cones) {
		bool worth = cones_worth(p->program, cones, p->options, &off, &on);
		buf_printf(out,
			"%.4g operations and moves a sample, by %u circuits of at most %u qubits %.4g; %s",
			off, cones->ncircuit, program_nwire(cones), on, worth ? "used" : "not used");
	} else if (has_too_many_outputs(p->program)) {
		buf_printf(out, "not used: a circuit has more than %d outputs", CONES_OUTPUTS_MAX);
	} else {
		buf_str(out, "not used: every output depends on all gates and qubits");
	}
}
