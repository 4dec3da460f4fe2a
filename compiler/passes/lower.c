/* SPDX-License-Identifier: Apache-2.0
 * Lowering.  Plain swaps become relabellings; input scalars get their final
 * numbers, now that the sizes of states are known; places become lines. */
#include "compiler/passes/pass.h"

struct lowering {
	const struct design *d;
	struct program *p;
	uint32_t *expr, *matrix, *span;      /* old number to new */
};

static const char *text(struct lowering *l, const char *s)
{
	return s ? arena_strdup(&l->p->arena, s) : NULL;
}

/* ---- slots ---- */

static void lower_weights(struct lowering *l)
{
	struct program *p = l->p;

	p->nweight_group = l->d->nweight;
	p->weight_group = arena_alloc(&p->arena, l->d->nweight, sizeof *p->weight_group);
	for (uint32_t i = 0; i < l->d->nweight; i++) {
		struct weight_group g = l->d->weight[i].g;
		g.path = text(l, g.path);
		if (g.init_value)
			g.init_value = arena_copy(&p->arena, g.init_value, g.count, sizeof *g.init_value);
		p->weight_group[i] = g;
	}
	p->nweight = l->d->nscalar;
}

static void lower_inputs(struct lowering *l)
{
	struct program *p = l->p;
	uint32_t first = 0;

	p->ninput_group = l->d->ninput;
	p->input_group = arena_alloc(&p->arena, l->d->ninput, sizeof *p->input_group);
	for (uint32_t i = 0; i < l->d->ninput; i++) {
		struct input_group g = l->d->input[i];
		g.name = text(l, g.name);
		g.first = first;
		first += g.count;
		p->input_group[i] = g;
	}
	p->ninput = first;
}

/* The final number of an input scalar: states before its group shift it. */
static uint32_t input_number(const struct lowering *l, uint32_t scalar)
{
	for (uint32_t i = l->d->ninput; i-- > 0; ) {
		const struct input_group *g = &l->d->input[i];
		if (!g->is_state && g->first <= scalar)
			return l->p->input_group[i].first + (scalar - g->first);
	}
	BUG("input scalar %u has no group", scalar);
}

static void lower_exprs(struct lowering *l, const struct used *u)
{
	const struct exprs *x = &l->d->exprs;
	struct program *p = l->p;
	uint32_t ndraw = 0;

	l->expr = arena_alloc(l->d->arena, x->n + 1, sizeof *l->expr);
	for (uint32_t i = 0; i < x->n; i++)
		if (u->expr[i])
			l->expr[i] = p->nexpr++;
	p->expr = arena_alloc(&p->arena, p->nexpr, sizeof *p->expr);
	for (uint32_t i = 0; i < x->n; i++) {
		if (!u->expr[i])
			continue;
		struct expr e = x->v[i];
		if (e.op == EXPR_INPUT)
			e.a = input_number(l, e.a);
		if (e.op == EXPR_DRAW)
			e.a = ndraw++; /* of the channels that are left, in their order */
		if (expr_noperand(e.op) > 0)
			e.a = l->expr[e.a];
		if (expr_noperand(e.op) > 1)
			e.b = l->expr[e.b];
		p->expr[l->expr[i]] = e;
	}
}

/* ---- matrices ---- */

static struct item lower_item(const struct lowering *l, const struct item *from)
{
	struct item it = *from;

	if (it.gate == GATE_NONE)
		it.ref = l->matrix[it.ref];
	for (unsigned k = 0; it.gate != GATE_NONE && k < gate_row(it.gate)->nangle; k++)
		it.angle[k] = l->expr[it.angle[k]];
	return it;
}

static void lower_matrices(struct lowering *l, const struct used *u)
{
	const struct design *d = l->d;
	struct program *p = l->p;

	l->matrix = arena_alloc(d->arena, d->nmatrix + 1, sizeof *l->matrix);
	for (uint32_t m = 0; m < d->nmatrix; m++)
		if (u->matrix[m])
			l->matrix[m] = p->nmatrix++;
	p->matrix = arena_alloc(&p->arena, p->nmatrix, sizeof *p->matrix);
	for (uint32_t m = 0; m < d->nmatrix; m++) {
		if (!u->matrix[m])
			continue;
		struct matrix *to = &p->matrix[l->matrix[m]];
		to->name = text(l, d->matrix[m].name);
		to->ntarget = d->matrix[m].ntarget;
		to->nitem = d->matrix[m].nitem;
		to->item = arena_alloc(&p->arena, to->nitem, sizeof *to->item);
		for (uint32_t i = 0; i < to->nitem; i++)
			to->item[i] = lower_item(l, &d->matrix[m].item[i]);
	}
}

/* ---- circuits ---- */

static struct apply lower_apply(struct lowering *l, const struct apply *from)
{
	struct arena *a = &l->p->arena;
	struct apply p = *from;

	p.wire = arena_copy(a, from->wire, p.nwire, sizeof *p.wire);
	p.expr = p.nexpr ? arena_alloc(a, p.nexpr, sizeof *p.expr) : NULL;
	for (uint32_t k = 0; k < p.nexpr; k++)
		p.expr[k] = l->expr[from->expr[k]];
	if (p.span != INDEX_NONE)
		p.span = l->span[p.span];
	if (design_plain_swap(l->d, from)) {
		p.op = APPLY_SWAP;
		p.matrix = 0;
		p.adjoint = false;
	} else if (p.op == APPLY_UNITARY) {
		p.matrix = l->matrix[p.matrix];
	}
	return p;
}

static void lower_circuit(struct lowering *l, const struct circuit *from, struct circuit_code *to)
{
	struct arena *a = &l->p->arena;

	to->name = text(l, from->name);
	to->nwire = from->calls.nwire;
	to->napply = from->calls.n;
	to->apply = arena_alloc(a, to->napply, sizeof *to->apply);
	for (uint32_t i = 0; i < to->napply; i++)
		to->apply[i] = lower_apply(l, &from->calls.v[i]);
	to->noutput = from->noutput;
	to->output = arena_alloc(a, to->noutput, sizeof *to->output);
	for (uint32_t i = 0; i < to->noutput; i++)
		to->output[i] = output_mapped(a, &from->output[i], NULL);
	to->nregister = from->nreg;
	to->reg = arena_alloc(a, to->nregister, sizeof *to->reg);
	for (uint32_t i = 0; i < to->nregister; i++) {
		to->reg[i] = from->reg[i];
		to->reg[i].name = text(l, from->reg[i].name);
	}
}

/* ---- notes ---- */

/* Places of applies that are left, in order; those in included files have no line. */
static void lower_spans(struct lowering *l, const struct source_set *sources)
{
	const struct design *d = l->d;
	mem_auto bool *used = mem_alloc(d->nplace + 1, sizeof *used);

	l->span = arena_alloc(d->arena, d->nplace + 1, sizeof *l->span);
	for (uint32_t c = 0; c < d->ncircuit; c++)
		for (uint32_t i = 0; i < d->circuit[c]->calls.n; i++)
			if (d->circuit[c]->calls.v[i].span != INDEX_NONE)
				used[d->circuit[c]->calls.v[i].span] = true;
	for (uint32_t i = 0; i < d->nplace; i++) {
		l->span[i] = INDEX_NONE;
		if (used[i] && d->place[i].file == d->main_file)
			l->span[i] = l->p->nspan++;
	}
	l->p->span = arena_alloc(&l->p->arena, l->p->nspan, sizeof *l->p->span);
	for (uint32_t i = 0; i < d->nplace; i++)
		if (l->span[i] != INDEX_NONE) {
			struct place at = source_place(sources, d->place[i]);
			l->p->span[l->span[i]] = (struct span_note){ at.line, at.column };
		}
}

static void lower_layers(struct lowering *l)
{
	struct program *p = l->p;

	p->nlayer = l->d->nlayer;
	p->layer = arena_alloc(&p->arena, p->nlayer, sizeof *p->layer);
	for (uint32_t i = 0; i < p->nlayer; i++)
		p->layer[i] = (struct layer_note){ text(l, l->d->layer[i].path), l->d->layer[i].embed };
}

static void lower_calls(struct lowering *l)
{
	struct program *p = l->p;

	p->ncall = l->d->ncall;
	p->call = arena_copy(&p->arena, l->d->call, p->ncall, sizeof *p->call);
	for (uint32_t i = 0; i < p->ncall; i++) {
		struct call_note *c = &p->call[i];

		c->name = text(l, c->name);
		c->wire = arena_copy(&p->arena, c->wire, c->nwire, sizeof *c->wire);
	}
}

struct program *lower(const struct design *d, const struct source_set *sources)
{
	struct lowering l = { .d = d, .p = program_new() };
	struct program *p = l.p;
	struct used u;

	used_mark(d, &u);
	lower_weights(&l);
	lower_inputs(&l);
	lower_exprs(&l, &u);
	lower_matrices(&l, &u);
	lower_spans(&l, sources);
	lower_layers(&l);
	lower_calls(&l);
	p->ncircuit = d->ncircuit;
	p->circuit = arena_alloc(&p->arena, p->ncircuit, sizeof *p->circuit);
	for (uint32_t c = 0; c < d->ncircuit; c++)
		lower_circuit(&l, d->circuit[c], &p->circuit[c]);
	p->ndense = d->ndense;
	p->dense = arena_copy(&p->arena, d->dense, d->ndense, sizeof *d->dense);
	program_number(p);
	return p;
}
