/* SPDX-License-Identifier: Apache-2.0
 * Columns of a drawing: each element in the first one that has space, as in list scheduling. */
#include "compiler/draw/draw_build.h"

static enum row_action action_of(enum mark_kind kind)
{
	return kind == MARK_CONTROL || kind == MARK_ANTICONTROL ? ACTION_DIAGONAL : kind == MARK_PLUS ? ACTION_FLIP : ACTION_OTHER;
}

/* The first column after every element on the rows of a mark that does not commute with it. */
static uint32_t earliest(const struct builder *b, const struct mark *m)
{
	enum row_action mine = action_of(m->kind);
	uint32_t column = b->base;

	for (uint32_t r = m->first; r <= m->last; r++)
		for (unsigned a = 0; a < ACTION_COUNT; a++)
			if ((a != mine || a == ACTION_OTHER) && b->row[r].done[a] > column)
				column = b->row[r].done[a];
	return column;
}

/* Columns 64 * word .. 64 * word + 63 that an element covers in some row of first .. last. */
static uint64_t taken(const struct builder *b, uint32_t first, uint32_t last, uint32_t word)
{
	uint64_t bits = 0;

	for (uint32_t r = first; r <= last; r++)
		bits |= word < b->row[r].ntaken ? b->row[r].taken[word] : 0;
	return bits;
}

static uint32_t first_free(const struct builder *b, const struct element *x, uint32_t from)
{
	for (uint32_t word = from / 64;; word++) {
		uint64_t bits = taken(b, x->first, x->last, word);

		if (word == from / 64)
			bits |= ((uint64_t)1 << from % 64) - 1;
		if (~bits)
			return 64 * word + (uint32_t)__builtin_ctzll(~bits);
	}
}

static void take(struct row_columns *row, uint32_t column)
{
	while (row->ntaken <= column / 64) {
		mem_reserve(row->taken, row->ntaken, row->cap_taken);
		row->taken[row->ntaken++] = 0;
	}
	row->taken[column / 64] |= (uint64_t)1 << column % 64;
}

/* ---- bundles ---- */

static bool is_two_boxes(const struct element *x)
{
	return x->nmark == 2 && x->mark[0].kind == MARK_BOX && x->mark[1].kind == MARK_BOX;
}

/* The operands of the innermost may be neighbours, in one box. */
static bool is_one_box(const struct element *x)
{
	return x->nmark == 1 && x->mark[0].kind == MARK_BOX && x->noperand > 1;
}

static bool is_inside(const struct element *x, const struct element *outer)
{
	return x->first > outer->mark[0].last && x->last < outer->mark[1].first;
}

static bool is_below(const struct element *x, const struct element *above, const struct bundle *u)
{
	return is_two_boxes(x) && x->mark[0].first > above->mark[0].last && x->mark[0].last < u->lower
		&& x->mark[1].first > above->mark[1].last;
}

/* Join the newest bundle, where its column is not too early for x and has space below it. */
static bool join(struct builder *b, struct element *x, uint32_t from)
{
	struct scene *s = b->s;
	struct bundle *u = s->nbundle ? &s->bundle[s->nbundle - 1] : NULL;
	const struct element *y = u ? &s->element[u->newest] : NULL;

	if (!u || !is_two_boxes(y) || !(is_two_boxes(x) || is_one_box(x)) || y->column < from)
		return false;
	bool nested = is_inside(x, y);
	if ((!nested && !is_below(x, y, u)) || (u->nlane > 1 && nested != u->nested))
		return false;
	if (!nested && taken(b, y->last + 1, x->last, y->column / 64) >> y->column % 64 & 1)
		return false;
	u->nested = nested;
	u->newest = (uint32_t)(x - s->element);
	x->column = y->column;
	x->bundle = s->nbundle - 1;
	x->lane = u->nlane++;
	return true;
}

static void open_bundle(struct scene *s, struct element *x)
{
	x->bundle = s->nbundle;
	*arena_push(&s->arena, s->bundle, s->nbundle) = (struct bundle){
		.nlane = 1, .newest = (uint32_t)(x - s->element), .lower = x->mark[1].first
	};
}

void place(struct builder *b, struct element *x)
{
	uint32_t from = b->base;

	for (uint32_t k = 0; k < x->nmark; k++) {
		uint32_t column = earliest(b, &x->mark[k]);

		from = column > from ? column : from;
	}
	if (!join(b, x, from)) {
		x->column = first_free(b, x, from);
		if (is_two_boxes(x))
			open_bundle(b->s, x);
	}
	for (uint32_t r = x->first; r <= x->last; r++)
		take(&b->row[r], x->column);
	for (uint32_t k = 0; k < x->nmark; k++)
		for (uint32_t r = x->mark[k].first; r <= x->mark[k].last; r++) {
			uint32_t *done = &b->row[r].done[action_of(x->mark[k].kind)];

			*done = x->column + 1 > *done ? x->column + 1 : *done;
		}
	if (x->column + 1 > b->s->ncolumn)
		b->s->ncolumn = x->column + 1;
}
