/* SPDX-License-Identifier: Apache-2.0
 * From one operation to boxes and symbols. */
#include "compiler/draw/draw_build.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/order.h"

enum { EXPAND_DEPTH_MAX = 128 };

/* ---- placing ---- */

/* NULL: there are too many. */
static struct element *new_element(struct builder *b)
{
	struct scene *s = b->s;

	if (s->nelement == DRAW_ELEMENTS_MAX)
		b->code = err_set(b->e, -ERR_CONFIG,
			"more than %d boxes and symbols to draw; show layers as one box each",
			DRAW_ELEMENTS_MAX);
	if (b->code)
		return NULL;
	struct element *x = arena_push(&s->arena, s->element, s->nelement);
	*x = (struct element){ .first = UINT32_MAX, .bundle = INDEX_NONE, .layer = b->layer };
	return x;
}

static int by_row(const void *x, const void *y)
{
	const struct mark *a = x, *b = y;

	return ORDER(a->first, b->first);
}

static void add_mark(struct builder *b, struct element *x, enum mark_kind kind, uint32_t first, uint32_t last)
{
	*arena_push(&b->s->arena, x->mark, x->nmark) = (struct mark){ kind, first, last };
	if (first < x->first)
		x->first = first;
	if (last > x->last)
		x->last = last;
}

/* One box for each run of neighbouring rows. */
static void add_boxes(struct builder *b, struct element *x, const uint32_t *row, uint32_t n)
{
	uint32_t *sorted = arena_copy(&b->s->arena, row, n, sizeof *row);

	qsort(sorted, n, sizeof *sorted, order_u32);
	for (uint32_t i = 0, from = 0; i < n; i++)
		if (i + 1 == n || sorted[i + 1] != sorted[i] + 1) {
			add_mark(b, x, MARK_BOX, sorted[from], sorted[i]);
			from = i + 1;
		}
}

static void finish(struct builder *b, struct element *x)
{
	qsort(x->mark, x->nmark, sizeof *x->mark, by_row);
	place(b, x);
}

/* ---- gates and blocks ---- */

const char *layer_path(const struct builder *b)
{
	return b->layer == INDEX_NONE ? NULL : b->s->program->layer[b->layer].path;
}

static void add_controls(struct builder *b, struct element *x, const struct apply *u)
{
	for (uint32_t k = 0; k < u->ncontrol; k++)
		add_mark(b, x, u->control_ones >> k & 1 ? MARK_CONTROL : MARK_ANTICONTROL,
			u->wire[k], u->wire[k]);
}

/* Symbols that need no box: cx, cz, swap. */
static enum mark_kind symbol_of(const struct item *it, const struct apply *u)
{
	if (it->gate == GATE_PAULI && u->nwire == u->ncontrol + 1 && u->ncontrol)
		return it->word == 1 ? MARK_PLUS : it->word == 3 ? MARK_CONTROL : MARK_NONE;
	return it->gate == GATE_SWAP ? MARK_CROSS : MARK_NONE;
}

static void set_operands(struct builder *b, struct element *x, const struct apply *u, bool ordered)
{
	uint32_t n = u->nwire - u->ncontrol;

	if (!ordered || n < 2)
		return;
	x->noperand = n;
	x->operand = arena_copy(&b->s->arena, u->wire + u->ncontrol, n, sizeof *x->operand);
}

/* Index i with bits k and k+1 exchanged. */
static unsigned exchanged(unsigned i, unsigned k)
{
	unsigned low = i >> k & 1, high = i >> (k + 1) & 1;

	return (i & ~(3u << k)) | low << (k + 1) | high << k;
}

/* Is the gate the same whatever the order of its targets?  Asked of its matrix, at angles that mean nothing. */
static bool exchangeable(const struct item *it)
{
	static const double angle[GATE_ANGLES_MAX] = { 0.31, 0.47, 0.59, 0.73 };
	unsigned n = gate_ntarget(it->gate, it->word), size = 1u << n;
	cplx u[1 << 2 * MATRIX_TARGETS_MAX];

	gate_matrix(it->gate, it->word, angle, u);
	for (unsigned k = 0; k + 1 < n; k++)
		for (unsigned i = 0; i < size * size; i++) {
			unsigned j = exchanged(i / size, k) * size + exchanged(i % size, k);

			if (cabs(u[i] - u[j]) > 1e-12)
				return false;
		}
	return true;
}

/* Boxes on the targets under that label. ordered: the order of the targets matters. */
static struct element *add_box(struct builder *b, struct box_label label, const struct apply *u,
	bool ordered)
{
	struct element *x = new_element(b);

	if (!x)
		return NULL;
	x->label = label;
	add_controls(b, x, u);
	add_boxes(b, x, u->wire + u->ncontrol, u->nwire - u->ncontrol);
	set_operands(b, x, u, ordered);
	finish(b, x);
	return x;
}

static void add_gate(struct builder *b, const struct item *it, const struct apply *u)
{
	enum mark_kind kind = symbol_of(it, u);
	struct element *x;

	if (!kind) {
		add_box(b, label_gate(b->s, it, u->adjoint, layer_path(b)), u, !exchangeable(it));
		return;
	}
	if (!(x = new_element(b)))
		return;
	add_controls(b, x, u);
	for (uint32_t k = u->ncontrol; k < u->nwire; k++)
		add_mark(b, x, kind, u->wire[k], u->wire[k]);
	finish(b, x);
}

/* A matrix of one gate is that gate; noise channels are boxes; others are blocks, or what is in them. */
static void add_unitary(struct builder *b, const struct apply *u, unsigned depth)
{
	const struct program *p = b->s->program;
	const struct matrix *m = &p->matrix[u->matrix];
	bool channel = matrix_is_channel(p, m);
	bool one_gate = !channel && m->nitem == 1 && m->item[0].gate != GATE_NONE;
	uint32_t wire[APPLY_WIRES_MAX];

	if (depth == EXPAND_DEPTH_MAX)
		b->code = err_set(b->e, -ERR_CONFIG, "blocks nest deeper than %d", EXPAND_DEPTH_MAX);
	else if (channel || (!one_gate && !b->o->expand))
		add_box(b, label_matrix(b->s, m, u->adjoint, layer_path(b)), u, true);
	else
		for (uint32_t i = 0; !b->code && i < m->nitem; i++) {
			const struct item *it = &m->item[u->adjoint ? m->nitem - 1 - i : i];
			const struct apply inner = apply_of_item(u, it, wire);

			if (it->gate == GATE_NONE)
				add_unitary(b, &inner, depth + 1);
			else
				add_gate(b, it, &inner);
		}
}

/* ---- other applies ---- */

static void add_words(struct builder *b, const struct apply *a, const char *words)
{
	add_box(b, label_words(&b->s->arena, words),
		&(struct apply){ .nwire = a->nwire, .wire = a->wire }, false);
}

static void add_ends(struct builder *b, const struct apply *a, enum mark_kind kind, uint32_t *end)
{
	for (uint32_t k = 0; k < a->nwire; k++) {
		struct element *x = new_element(b);

		if (!x)
			return;
		add_mark(b, x, kind, a->wire[k], a->wire[k]);
		finish(b, x);
		end[a->wire[k]] = x->column;
	}
}

static void add_amplitudes(struct builder *b, const struct apply *a)
{
	const struct program *p = b->s->program;
	const char *name = "amplitudes";
	uint32_t k = 0;

	/* Where all entries are of one input, its name says more. */
	for (; k < a->nexpr && p->expr[a->expr[k]].op == EXPR_INPUT; k++)
		;
	if (k && k == a->nexpr)
		name = arena_printf(&b->s->arena, "amplitudes(%s)",
			p->input_group[program_input_group(p, p->expr[a->expr[0]].a)].name);
	add_words(b, a, name);
}

void add_apply(struct builder *b, const struct apply *a)
{
	const struct program *p = b->s->program;
	static const struct item swap = { .gate = GATE_SWAP };

	switch (a->op) {
	case APPLY_UNITARY: add_unitary(b, a, 0); break;
	case APPLY_SWAP: add_gate(b, &swap, a); break;
	case APPLY_AMPLITUDES: add_amplitudes(b, a); break;
	case APPLY_STATE:
		add_words(b, a,
			arena_printf(&b->s->arena, "state(%s)", p->input_group[a->matrix].name));
		break;
	case APPLY_DISCARD: add_ends(b, a, MARK_DISCARD, b->s->row_end); break;
	case APPLY_MEASURE: add_ends(b, a, MARK_METER, b->s->row_classical); break;
	default: BUG("apply %d cannot be drawn", a->op);
	}
}

void add_call(struct builder *b, const struct apply *a, uint32_t n)
{
	const struct call_note *c = &b->s->program->call[a->call - 1];
	const struct apply u = { .adjoint = c->power < 0,
		.ncontrol = c->ncontrol,
		.nwire = c->nwire,
		.control_ones = c->control_ones,
		.wire = c->wire };

	add_box(b, label_call(b->s, c, a, n, layer_path(b)), &u, c->ordered);
	for (uint32_t i = 0; i < n; i++)
		if (a[i].op == APPLY_DISCARD)
			add_apply(b, &a[i]);
}

/* Wires end here, unless an expectation value of one qubit stands behind. */
void add_distribution(struct builder *b, const struct output *o)
{
	const struct apply u = { .nwire = (uint16_t)o->nwire, .wire = o->wire };
	const struct element *x = add_box(b, label_words(&b->s->arena, "probs"), &u, true);

	for (uint32_t k = 0; x && k < o->nwire; k++)
		if (!b->s->row_output[o->wire[k]])
			b->s->row_end[o->wire[k]] = x->column;
}

void add_layer_box(struct builder *b, const char *title, uint32_t *row, uint32_t n)
{
	struct element *x = add_box(b, label_words(&b->s->arena, title),
		&(struct apply){ .nwire = (uint16_t)n, .wire = row }, false);

	if (x)
		x->is_layer = true;
}
