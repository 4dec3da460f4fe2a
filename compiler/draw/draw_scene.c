/* SPDX-License-Identifier: Apache-2.0
 * From a circuit's operations to a scene: layers, framed or as one box each, in columns of their own. */
#include "compiler/draw/draw_build.h"

#include <stdlib.h>
#include <string.h>

/* As it is called inside its circuit. */
static const char *layer_title(const struct circuit_code *c, const char *path)
{
	size_t n = strlen(c->name);

	return n && !strncmp(path, c->name, n) && path[n] == '.' ? path + n + 1 : path;
}

/* Columns of layers are shared with nothing else. */
static void barrier(struct builder *b) { b->base = b->s->ncolumn; }

/* Is `path` that layer, or one of that name with an index? */
static bool names_layer(const char *word, const char *path)
{
	size_t n = strlen(word);

	return !strcmp(word, "all") || (!strncmp(path, word, n) && (!path[n] || path[n] == '['));
}

/* Also as it is called inside any circuit. */
static bool is_named(const struct program *p, const char *word, const char *path)
{
	if (names_layer(word, path))
		return true;
	for (uint32_t i = 0; i < p->ncircuit; i++)
		if (names_layer(word, layer_title(&p->circuit[i], path)))
			return true;
	return false;
}

static bool is_collapsed(const struct builder *b, const char *path)
{
	for (unsigned k = 0; k < b->o->ncollapse; k++)
		if (is_named(b->s->program, b->o->collapse[k], path))
			return true;
	return false;
}

int scene_check(const struct program *p, const struct draw_options *o, struct err *e)
{
	buf_auto known = BUF_INIT;
	int code = 0;

	for (uint32_t i = 0; i < p->nlayer; i++)
		buf_printf(&known, "%s%s", i ? ", " : "", p->layer[i].path);
	for (unsigned k = 0; !code && k < o->ncollapse; k++) {
		uint32_t i = 0;

		while (i < p->nlayer && !is_named(p, o->collapse[k], p->layer[i].path))
			i++;
		if (i == p->nlayer && strcmp(o->collapse[k], "all"))
			code = err_set(e, -ERR_USAGE, "no layer is called `%s`; there are %.300s", o->collapse[k],
				known.len ? known.data : "none");
	}
	return code;
}

/* One box on all rows that the layer touches, then the ends of its wires. */
static void add_collapsed(struct builder *b, const struct apply *a, uint32_t n)
{
	mem_auto bool *touched = mem_alloc(b->s->nrow, sizeof *touched);
	mem_auto uint32_t *row = mem_alloc(b->s->nrow, sizeof *row);
	uint32_t nrow = 0;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < a[i].nwire; k++)
			touched[a[i].wire[k]] = true;
	for (uint32_t r = 0; r < b->s->nrow; r++)
		if (touched[r])
			row[nrow++] = r;
	add_layer_box(b, layer_title(b->s->circuit, layer_path(b)), row, nrow);
	for (uint32_t i = 0; i < n; i++)
		if (a[i].op == APPLY_DISCARD || a[i].op == APPLY_MEASURE)
			add_apply(b, &a[i]);
}

static void add_frame(struct builder *b, uint32_t column, const struct apply *a, uint32_t n)
{
	struct scene *s = b->s;
	struct frame f = { .layer = b->layer, .column = column, .ncolumn = s->ncolumn - column, .first = UINT32_MAX,
		.title = layer_title(b->s->circuit, layer_path(b)) };

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < a[i].nwire; k++) {
			f.first = a[i].wire[k] < f.first ? a[i].wire[k] : f.first;
			f.last = a[i].wire[k] > f.last ? a[i].wire[k] : f.last;
		}
	if (!f.ncolumn)
		return;
	*arena_push(&s->arena, s->frame, s->nframe) = f;
}

/* How many of n operations are one call that is shown as a box; 0: the first is shown as it is. */
static uint32_t call_length(const struct builder *b, const struct apply *a, uint32_t n)
{
	uint32_t k = 0, noperation = 0;

	if (!a->call || b->o->expand)
		return 0;
	for (; k < n && a[k].call == a->call; k++)
		noperation += a[k].op != APPLY_DISCARD;
	return noperation == b->s->program->call[a->call - 1].noperation ? k : 0;
}

/* Calls as boxes, and what else there is. */
static void add_applies(struct builder *b, const struct apply *a, uint32_t n)
{
	for (uint32_t i = 0, k; !b->code && i < n; i += k ? k : 1) {
		k = call_length(b, a + i, n - i);
		if (k)
			add_call(b, a + i, k);
		else
			add_apply(b, &a[i]);
	}
}

/* Applies of one layer that follow each other. */
static void add_layer(struct builder *b, const struct apply *a, uint32_t n)
{
	b->layer = a->layer;
	if (b->layer != INDEX_NONE && is_collapsed(b, layer_path(b))) {
		add_collapsed(b, a, n);
		return;
	}
	if (b->layer != INDEX_NONE)
		barrier(b);
	uint32_t column = b->s->ncolumn;
	add_applies(b, a, n);
	if (b->layer != INDEX_NONE) {
		add_frame(b, column, a, n);
		barrier(b);
	}
}

static void add_layers(struct builder *b)
{
	const struct circuit_code *c = b->s->circuit;

	for (uint32_t i = 0, n; !b->code && i < c->napply; i += n) {
		for (n = 1; i + n < c->napply && c->apply[i + n].layer == c->apply[i].layer; n++)
			;
		add_layer(b, c->apply + i, n);
	}
}

/* Distributions in columns of their own at the end. */
static void add_distributions(struct builder *b)
{
	const struct circuit_code *c = b->s->circuit;

	b->layer = INDEX_NONE;
	barrier(b);
	for (uint32_t i = 0; i < c->noutput; i++)
		if (c->output[i].kind == OUTPUT_PROBS)
			add_distribution(b, &c->output[i]);
}

/* ---- the whole ---- */

int scene_build(const struct program *p, uint32_t circuit, const struct draw_options *o, struct scene *s, struct err *e)
{
	struct builder b = { .s = s, .o = o, .e = e, .layer = INDEX_NONE };

	memset(s, 0, sizeof *s);
	s->program = p;
	s->circuit = &p->circuit[circuit];
	s->nrow = s->circuit->nwire;
	if (s->nrow > DRAW_WIRES_MAX)
		return err_set(e, -ERR_CONFIG, "%u wires are more than the %d that are drawn", s->nrow, DRAW_WIRES_MAX);
	s->stamp = mem_try((size_t)p->nexpr + 1, sizeof *s->stamp);
	if (!s->stamp)
		return err_set(e, -ERR_CONFIG, "no memory for a drawing");
	scene_rows(s);
	b.row = mem_alloc(s->nrow + 1, sizeof *b.row);
	add_layers(&b);
	add_distributions(&b);
	for (uint32_t r = 0; r < s->nrow; r++)
		free(b.row[r].taken);
	free(b.row);
	free(s->stamp);
	s->stamp = NULL;
	return b.code;
}

bool scene_in_lanes(const struct scene *s, const struct element *x)
{
	return x->bundle != INDEX_NONE && s->bundle[x->bundle].nlane > 1;
}

void scene_release(struct scene *s)
{
	free(s->stamp);
	arena_release(&s->arena);
	memset(s, 0, sizeof *s);
}
