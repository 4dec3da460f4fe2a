/* SPDX-License-Identifier: Apache-2.0
 * Widths of columns, and how many of them fit into a band. */
#include "compiler/draw/draw_layout.h"

#include <math.h>

bool layout_has_box(const struct element *x)
{
	for (uint32_t k = 0; k < x->nmark; k++)
		if (x->mark[k].kind == MARK_BOX)
			return true;
	return false;
}

/* Boxes that are inside each other are right of their lines; else the first boxes are right, the second ones left of them. */
static double first_lane(const struct layout *l, const struct element *x)
{
	return l->s->bundle[x->bundle].nested ? l->z->edge
					      : l->bundle_box[x->bundle] - l->z->edge - l->z->line;
}

double layout_lane(const struct layout *l, const struct element *x)
{
	return first_lane(l, x) + l->z->lane * x->lane;
}

double layout_shared(const struct layout *l, const struct element *x)
{
	if (!scene_in_lanes(l->s, x))
		return l->z->element(l->o, x);
	return first_lane(l, x) - l->z->edge + l->z->lane * (l->s->bundle[x->bundle].nlane - 1)
		+ l->bundle_box[x->bundle];
}

static void widen(double *width, double least) { *width = fmax(*width, least); }

static void measure_columns(struct layout *l)
{
	const struct scene *s = l->s;

	for (uint32_t i = 0; i < s->nelement; i++)
		if (s->element[i].bundle != INDEX_NONE)
			widen(&l->bundle_box[s->element[i].bundle],
				l->z->element(l->o, &s->element[i]));
	for (uint32_t i = 0; i < s->nelement; i++)
		widen(&l->width[s->element[i].column], layout_shared(l, &s->element[i]));
	for (uint32_t k = 0; k < s->ncolumn; k++) {
		l->left[k] = l->right[k] = l->z->gap;
		l->width[k] += 2 * l->z->gap;
	}
}

static void measure_frame(struct layout *l, const struct frame *f)
{
	double total = 0, want = l->z->words(l->o, f->title, true) + l->z->title_room;
	uint32_t last = f->column + f->ncolumn - 1;

	l->left[f->column] += l->z->gap;
	l->right[last] += l->z->gap;
	l->width[f->column] += l->z->gap;
	l->width[last] += l->z->gap;
	for (uint32_t k = f->column; k <= last; k++)
		total += l->width[k];
	if (total < want)
		l->width[last] += want - total;
}

struct layout layout_of(struct scene *s, const struct draw_options *o, const struct layout_sizes *z)
{
	struct layout l = { .s = s, .o = o, .z = z };
	double **const column[] = { &l.width, &l.left, &l.right, &l.start };

	for (unsigned k = 0; k < 4; k++)
		*column[k] = arena_alloc(&s->arena, s->ncolumn + 1, sizeof **column[k]);
	l.bundle_box = arena_alloc(&s->arena, s->nbundle, sizeof *l.bundle_box);
	measure_columns(&l);
	for (uint32_t i = 0; i < s->nframe; i++)
		measure_frame(&l, &s->frame[i]);
	for (uint32_t r = 0; r < s->nrow; r++) {
		widen(&l.name_width, z->words(o, s->row_name[r], false) + z->name_room);
		if (s->row_output[r])
			widen(&l.end_width, z->words(o, s->row_output[r], false) + z->output_room);
	}
	return l;
}

/* Is it to stay in one line, and not so wide that the line would be too small on paper? */
static bool stays_whole(const struct layout *l, const struct frame *f)
{
	double width = 0;

	for (uint32_t k = f->column; k < f->column + f->ncolumn; k++)
		width += l->width[k];
	return l->o->whole_layers && width <= 1.5 * l->o->width;
}

/* Before a layer that the band would cut, unless that begins it; or the end of that layer. */
static uint32_t band_end(const struct layout *l, uint32_t to)
{
	const struct frame *cut = NULL;

	for (uint32_t i = 0; i < l->s->nframe && !cut; i++) {
		const struct frame *f = &l->s->frame[i];

		if (f->column < to && f->column + f->ncolumn > to)
			cut = f;
	}
	if (!cut)
		return to;
	if (cut->column > l->from)
		return cut->column;
	return stays_whole(l, cut) ? cut->column + cut->ncolumn : to;
}

void layout_band(struct layout *l, double x, double room)
{
	const uint32_t n = l->s->ncolumn;
	uint32_t to = l->to;

	l->from = to;
	l->start[to] = x;
	for (; to < n; x += l->width[to++])
		if (l->o->width && to > l->from
			&& x + l->width[to] + (to + 1 == n ? l->end_width : l->z->rest_room) > room)
			break;
	l->to = band_end(l, to);
	for (uint32_t k = l->from; k < l->to; k++)
		l->start[k + 1] = l->start[k] + l->width[k];
	l->first = 0;
	l->last = l->s->nrow - 1;
	while (l->first < l->last && l->s->row_end[l->first] < l->from)
		l->first++;
	while (l->last > l->first && l->s->row_end[l->last] < l->from)
		l->last--;
}
