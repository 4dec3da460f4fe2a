/* SPDX-License-Identifier: Apache-2.0
 * Vectors of applies, and matrices interned by their definitions. */
#include "compiler/circuit.h"

#include "compiler/channels.h"

#include <stdlib.h>
#include <string.h>

void design_init(struct design *d, struct arena *a)
{
	memset(d, 0, sizeof *d);
	d->arena = a;
	exprs_init(&d->exprs);
}

void design_release(struct design *d)
{
	for (uint32_t i = 0; i < d->ncircuit; i++)
		calls_release(&d->circuit[i]->calls);
	exprs_release(&d->exprs);
	free(d->table);
	text_table_release(&d->weight_path);
	text_table_release(&d->layer_path);
}

/* ---- matrices ---- */

static void rehash(struct design *d)
{
	d->ntable = d->ntable ? 2 * d->ntable : 64;
	free(d->table);
	d->table = mem_alloc(d->ntable, sizeof *d->table);
	memset(d->table, 0xff, d->ntable * sizeof *d->table);
	for (uint32_t i = 0; i < d->nmatrix; i++) {
		const struct matrix *m = &d->matrix[i];
		uint32_t k = matrix_hash(m->ntarget, m->nitem, m->item) & (d->ntable - 1);
		while (d->table[k] != INDEX_NONE)
			k = (k + 1) & (d->ntable - 1);
		d->table[k] = i;
	}
}

void design_load(struct design *d, struct program *p)
{
	design_init(d, &p->arena);
	exprs_load(&d->exprs, p->expr, p->nexpr);
	for (uint32_t i = 0; i < p->nexpr; i++)
		if (p->expr[i].op == EXPR_DRAW && p->expr[i].a >= d->ndraw)
			d->ndraw = p->expr[i].a + 1;
	for (uint32_t m = 0; m < p->nmatrix; m++) {
		d->gates = arena_grow(d->arena, d->gates, m, sizeof *d->gates);
		*arena_push(d->arena, d->matrix, d->nmatrix) = p->matrix[m];
		d->gates[m] = matrix_gates(&p->matrix[m], d->gates);
		d->nitem += p->matrix[m].nitem;
	}
	for (d->ntable = 32; d->ntable <= p->nmatrix;)
		d->ntable *= 2;
	rehash(d);
}

uint32_t design_matrix(struct design *d, const char *name, unsigned ntarget, const struct item *item, uint32_t n)
{
	if (2 * (uint64_t)d->nmatrix >= d->ntable)
		rehash(d);
	uint32_t k = matrix_hash(ntarget, n, item) & (d->ntable - 1);
	for (; d->table[k] != INDEX_NONE; k = (k + 1) & (d->ntable - 1))
		if (matrix_same(&d->matrix[d->table[k]], ntarget, n, item))
			return d->table[k];
	if (d->nmatrix >= PROGRAM_MATRICES_MAX || d->nitem + n > PROGRAM_ITEMS_MAX) {
		d->full = true;
		return 0;
	}
	d->gates = arena_grow(d->arena, d->gates, d->nmatrix, sizeof *d->gates);
	struct matrix *m = arena_push(d->arena, d->matrix, d->nmatrix);
	*m = (struct matrix){
		.name = name,
		.ntarget = (uint8_t)ntarget,
		.nitem = n,
		.item = arena_copy(d->arena, item, n, sizeof *item),
	};
	d->nitem += n;
	d->table[k] = d->nmatrix - 1;
	d->gates[d->table[k]] = matrix_gates(m, d->gates);
	return d->table[k];
}

uint32_t design_gate(struct design *d, const char *name, enum gate g, uint8_t word, const uint32_t *angle)
{
	unsigned n = gate_ntarget(g, word);
	struct item it = { .gate = g, .word = word, .nwire = (uint8_t)n };

	for (unsigned k = 0; k < n; k++)
		it.wire[k] = (uint8_t)k;
	for (unsigned k = 0; k < gate_row(g)->nangle; k++)
		it.angle[k] = angle[k];
	return design_matrix(d, name, n, &it, 1);
}

const struct item *design_single(const struct design *d, uint32_t matrix)
{
	const struct matrix *m = &d->matrix[matrix];
	const struct item *it = m->item;

	if (m->nitem != 1 || it->gate == GATE_NONE || it->ncontrol || it->nwire != m->ntarget)
		return NULL;
	for (unsigned k = 0; k < it->nwire; k++)
		if (it->wire[k] != k)
			return NULL;
	return it;
}

bool design_plain_swap(const struct design *d, const struct apply *p)
{
	const struct item *it = p->op == APPLY_UNITARY && !p->ncontrol ? design_single(d, p->matrix) : NULL;

	return it && it->gate == GATE_SWAP;
}

bool design_self_inverse(const struct design *d, uint32_t matrix)
{
	const struct item *it = design_single(d, matrix);

	return it && gate_row(it->gate)->flags & GATE_SELF_INVERSE;
}

uint32_t design_place(struct design *d, struct span at)
{
	if (d->nplace) {
		const struct span *last = &d->place[d->nplace - 1];
		if (last->file == at.file && last->begin == at.begin && last->end == at.end)
			return d->nplace - 1;
	}
	*arena_push(d->arena, d->place, d->nplace) = at;
	return d->nplace - 1;
}

/* A path comes up again when an instance is repeated. */
uint32_t design_layer(struct design *d, const char *path, bool embed)
{
	uint32_t k = text_table_find(&d->layer_path, path);

	if (k != INDEX_NONE)
		return k;
	text_table_add(&d->layer_path, path, d->nlayer);
	*arena_push(d->arena, d->layer, d->nlayer) =
		(struct layer_note){ .path = path, .embed = embed };
	return d->nlayer - 1;
}

/* ---- applies ---- */

void calls_release(struct calls *c)
{
	free(c->v);
	free(c->wire);
	*c = (struct calls){ 0 };
}

void calls_wires(struct calls *c, uint32_t n)
{
	while (n-- > 0) {
		mem_reserve(c->wire, c->nwire, c->cap_wire);
		c->wire[c->nwire++] = (struct wire_state){ WIRE_UNUSED, { 0, 0, 0 } };
	}
}

struct apply *calls_add(struct calls *c, const struct apply *a)
{
	mem_reserve(c->v, c->n, c->cap);
	c->v[c->n] = *a;
	return &c->v[c->n++];
}

struct apply apply_copy(struct arena *a, const struct apply *p, uint32_t room)
{
	struct apply q = *p;

	q.wire = arena_alloc(a, p->nwire + room + 1, sizeof *q.wire);
	if (p->nwire)
		memcpy(q.wire + room, p->wire, p->nwire * sizeof *q.wire);
	return q;
}

/* e^(i a) under controls is a phase on the last control: on its 1, or on its 0
 * as x p(a) x. */
void call_settle(struct design *d, struct apply *p, uint32_t free_wire)
{
	if (p->op != APPLY_UNITARY || p->nwire > p->ncontrol)
		return;
	if (!p->ncontrol) {
		p->wire = arena_copy(d->arena, &free_wire, 1, sizeof free_wire);
		p->nwire = 1;
		return;
	}
	const struct item *phase = d->matrix[p->matrix].item;
	unsigned last = p->ncontrol - 1u;
	struct item flip = { .gate = GATE_PAULI, .word = 1, .nwire = 1 };
	struct item turn = { .gate = GATE_P, .nwire = 1, .angle = { phase->angle[0] } };
	struct item v[3] = { flip, turn, flip };
	bool on_one = p->control_ones >> last & 1;
	p->matrix = on_one ? design_matrix(d, "p", 1, &turn, 1) : design_matrix(d, "p0", 1, v, 3);
	p->control_ones &= ~((uint64_t)1 << last);
	p->ncontrol--;
}

static struct item item_of(const struct design *d, const struct apply *p, const uint8_t *local)
{
	const struct item *one = design_single(d, p->matrix);
	struct item it = { .ref = p->matrix };

	if (one)
		it = *one;
	it.adjoint = (one && one->adjoint) != p->adjoint;
	if (one && gate_row(one->gate)->flags & GATE_SELF_INVERSE)
		it.adjoint = false;
	it.ncontrol = (uint8_t)p->ncontrol;
	it.control_ones = (uint8_t)p->control_ones;
	it.nwire = (uint8_t)p->nwire;
	for (unsigned k = 0; k < p->nwire; k++)
		it.wire[k] = local[p->wire[k]];
	return it;
}

/* Wires of the unitaries, ascending, in wire[]; false when they are too many, when
 * there is nothing to fold or something that is no unitary, or a noise channel, stands between. */
static bool foldable(const struct design *d, const struct calls *c, uint32_t *wire, unsigned *nwire,
	uint32_t *nunitary)
{
	*nwire = 0;
	*nunitary = 0;
	for (uint32_t i = 0; i < c->n; i++) {
		const struct apply *p = &c->v[i];
		if (p->op == APPLY_DISCARD)
			continue;
		if (p->op != APPLY_UNITARY || design_is_channel(d, p->matrix) || has_own_wire(p))
			return false;
		++*nunitary;
		for (unsigned k = 0; k < p->nwire; k++) {
			unsigned at = 0, j;
			while (at < *nwire && wire[at] < p->wire[k])
				at++;
			if (at < *nwire && wire[at] == p->wire[k])
				continue;
			if (*nwire == MATRIX_TARGETS_MAX)
				return false;
			for (j = (*nwire)++; j > at; j--)
				wire[j] = wire[j - 1];
			wire[at] = p->wire[k];
		}
	}
	return *nunitary > 1 && *nwire > 0;
}

void calls_fold(struct design *d, struct calls *c, const char *name)
{
	uint32_t wire[MATRIX_TARGETS_MAX], nunitary, n = 0, kept = 0;
	unsigned nwire;

	if (!foldable(d, c, wire, &nwire, &nunitary))
		return;
	mem_auto uint8_t *local = mem_alloc(c->nwire, sizeof *local);
	mem_auto struct item *item = mem_alloc(nunitary, sizeof *item);
	for (unsigned k = 0; k < nwire; k++)
		local[wire[k]] = (uint8_t)k;
	for (uint32_t i = 0; i < c->n; i++) {
		struct apply *p = &c->v[i];
		if (p->op == APPLY_UNITARY) {
			call_settle(d, p, wire[0]);
			item[n++] = item_of(d, p, local);
		}
	}
	struct apply all = {
		.op = APPLY_UNITARY, .nwire = (uint16_t)nwire, .layer = INDEX_NONE, .span = INDEX_NONE
	};
	all.matrix = design_matrix(d, name, nwire, item, n);
	all.wire = arena_copy(d->arena, wire, nwire, sizeof *wire);
	for (uint32_t i = 0; i < c->n; i++)
		if (c->v[i].op != APPLY_UNITARY)
			c->v[kept++] = c->v[i];
	c->n = kept;
	calls_add(c, &all);
	memmove(c->v + 1, c->v, kept * sizeof *c->v);
	c->v[0] = all;
}
