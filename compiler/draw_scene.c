/* SPDX-License-Identifier: Apache-2.0
 * From a circuit's applies to elements in columns. */
#include "config.h"
#include "compiler/draw_scene.h"

#include <stdlib.h>
#include <string.h>

enum { EXPAND_DEPTH_MAX = 128, CONTROLS_MAX = 64 };

struct builder {
	struct scene *s;
	const struct draw_options *o;
	struct err *e;
	uint32_t *next;              /* (nrow) first free column */
	uint32_t *operand;           /* (nrow) scratch: rows of an element's operands */
	bool *touched;               /* (nrow) of a collapsed layer */
	uint32_t layer;              /* of the applies at hand */
};

/* ---- placing ---- */

static int new_element(struct builder *b, struct element **out)
{
	struct scene *s = b->s;

	if (s->nelement == DRAW_ELEMENTS_MAX)
		return err_set(b->e, -ERR_CONFIG, "more than %d boxes and symbols to draw; show layers as one box each",
			DRAW_ELEMENTS_MAX);
	mem_reserve(s->element, s->nelement, s->cap_element);
	*out = &s->element[s->nelement++];
	**out = (struct element){ .first = UINT32_MAX, .layer = b->layer, .label = { "", "", "", "", "" } };
	return 0;
}

/* The first column where all rows of the element are free. */
static void place(struct builder *b, struct element *x)
{
	uint32_t at = 0;

	for (uint32_t r = x->first; r <= x->last; r++)
		at = b->next[r] > at ? b->next[r] : at;
	x->column = at;
	for (uint32_t r = x->first; r <= x->last; r++)
		b->next[r] = at + 1;
	if (at + 1 > b->s->ncolumn)
		b->s->ncolumn = at + 1;
}

/* Columns of layers are shared with nothing else. */
static void barrier(struct builder *b)
{
	for (uint32_t r = 0; r < b->s->nrow; r++)
		b->next[r] = b->s->ncolumn;
}

static int by_row(const void *x, const void *y)
{
	const struct mark *a = x, *b = y;

	return (a->first > b->first) - (a->first < b->first);
}

static void add_mark(struct builder *b, struct element *x, enum mark_kind kind, uint32_t first, uint32_t last)
{
	/* Full at every power of two; most elements have one mark or two. */
	if (!(x->nmark & (x->nmark - 1))) {
		struct mark *more = arena_alloc(&b->s->arena, x->nmark ? 2 * (size_t)x->nmark : 1, sizeof *more);

		if (x->nmark)
			memcpy(more, x->mark, x->nmark * sizeof *more);
		x->mark = more;
	}
	x->mark[x->nmark++] = (struct mark){ kind, first, last };
	if (first < x->first)
		x->first = first;
	if (last > x->last)
		x->last = last;
}

static int u32_order(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return (a > b) - (a < b);
}

/* One box for each run of neighbouring rows. */
static void add_boxes(struct builder *b, struct element *x, const uint32_t *row, uint32_t n)
{
	uint32_t *sorted = arena_copy(&b->s->arena, row, n, sizeof *row);

	qsort(sorted, n, sizeof *sorted, u32_order);
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

static const char *layer_path(const struct builder *b)
{
	return b->layer == INDEX_NONE ? NULL : b->s->program->layer[b->layer].path;
}

/* As it is called inside its circuit. */
static const char *layer_title(const struct circuit_code *c, const char *path)
{
	size_t n = strlen(c->name);

	return n && !strncmp(path, c->name, n) && path[n] == '.' ? path + n + 1 : path;
}

struct use {                     /* controls, then targets, as rows */
	uint32_t ncontrol, nwire, *wire;
	uint64_t ones;
	bool adjoint;
};

static void add_controls(struct builder *b, struct element *x, const struct use *u)
{
	for (uint32_t k = 0; k < u->ncontrol; k++)
		add_mark(b, x, u->ones >> k & 1 ? MARK_CONTROL : MARK_ANTICONTROL, u->wire[k], u->wire[k]);
}

/* Symbols that need no box: cx, cz, swap. */
static bool add_symbols(struct builder *b, struct element *x, const struct item *it, const struct use *u)
{
	const uint32_t *target = u->wire + u->ncontrol;
	enum mark_kind kind = MARK_NONE;

	if (it->gate == GATE_PAULI && u->nwire == u->ncontrol + 1 && u->ncontrol)
		kind = it->word == 1 ? MARK_PLUS : it->word == 3 ? MARK_CONTROL : MARK_NONE;
	else if (it->gate == GATE_SWAP)
		kind = MARK_CROSS;
	for (uint32_t k = 0; kind && k < u->nwire - u->ncontrol; k++)
		add_mark(b, x, kind, target[k], target[k]);
	return kind != MARK_NONE;
}

static void set_operands(struct builder *b, struct element *x, const struct use *u, bool ordered)
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

	if (n > MATRIX_TARGETS_MAX)
		return false;
	gate_matrix(it->gate, it->word, angle, u);
	for (unsigned k = 0; k + 1 < n; k++)
		for (unsigned i = 0; i < size * size; i++) {
			unsigned j = exchanged(i / size, k) * size + exchanged(i % size, k);

			if (cabs(u[i] - u[j]) > 1e-12)
				return false;
		}
	return true;
}

static int add_gate(struct builder *b, const struct item *it, const struct use *u)
{
	struct element *x;
	int code = new_element(b, &x);

	if (code)
		return code;
	add_controls(b, x, u);
	if (!add_symbols(b, x, it, u)) {
		x->label = label_gate(b->s, it, u->adjoint, layer_path(b));
		add_boxes(b, x, u->wire + u->ncontrol, u->nwire - u->ncontrol);
		set_operands(b, x, u, !exchangeable(it));
	}
	finish(b, x);
	return 0;
}

static int add_block(struct builder *b, const struct matrix *m, const struct use *u)
{
	struct element *x;
	int code = new_element(b, &x);

	if (code)
		return code;
	add_controls(b, x, u);
	x->label = label_matrix(b->s, m, u->adjoint, layer_path(b));
	add_boxes(b, x, u->wire + u->ncontrol, u->nwire - u->ncontrol);
	set_operands(b, x, u, true);
	finish(b, x);
	return 0;
}

static int add_unitary(struct builder *b, const struct matrix *m, const struct use *u, unsigned depth);

/* An item of a matrix on the rows of its use: controls of both in front. */
static int add_item(struct builder *b, const struct item *it, const struct use *u, unsigned depth)
{
	struct use inner = { .ncontrol = u->ncontrol + it->ncontrol, .nwire = u->ncontrol + it->nwire, .adjoint = u->adjoint };
	int code;

	if (inner.ncontrol >= CONTROLS_MAX)
		return err_set(b->e, -ERR_CONFIG, "a gate under %u controls is not drawn", inner.ncontrol);
	inner.wire = mem_alloc(inner.nwire, sizeof *inner.wire);
	memcpy(inner.wire, u->wire, u->ncontrol * sizeof *u->wire);
	for (uint32_t k = 0; k < it->nwire; k++)
		inner.wire[u->ncontrol + k] = u->wire[u->ncontrol + it->wire[k]];
	inner.ones = u->ones | (uint64_t)it->control_ones << u->ncontrol;
	if (it->gate == GATE_NONE) {
		inner.adjoint = u->adjoint != it->adjoint;
		code = add_unitary(b, &b->s->program->matrix[it->ref], &inner, depth + 1);
	} else {
		code = add_gate(b, it, &inner);
	}
	free(inner.wire);
	return code;
}

/* A matrix of one gate is that gate; others are blocks, or what is in them. */
static int add_unitary(struct builder *b, const struct matrix *m, const struct use *u, unsigned depth)
{
	int code = 0;

	if (depth == EXPAND_DEPTH_MAX)
		return err_set(b->e, -ERR_CONFIG, "blocks nest deeper than %d", EXPAND_DEPTH_MAX);
	if (m->nitem == 1 && m->item[0].gate != GATE_NONE)
		return add_item(b, &m->item[0], u, depth);
	if (!b->o->expand)
		return add_block(b, m, u);
	for (uint32_t i = 0; !code && i < m->nitem; i++)
		code = add_item(b, &m->item[u->adjoint ? m->nitem - 1 - i : i], u, depth);
	return code;
}

/* ---- other applies ---- */

static int add_words(struct builder *b, const struct apply *a, const char *words)
{
	struct element *x;
	int code = new_element(b, &x);

	if (code)
		return code;
	x->label = label_words(&b->s->arena, words);
	add_boxes(b, x, a->wire, a->nwire);
	finish(b, x);
	return 0;
}

static int add_ends(struct builder *b, const struct apply *a, enum mark_kind kind, uint32_t *end)
{
	for (uint32_t k = 0; k < a->nwire; k++) {
		struct element *x;
		int code = new_element(b, &x);

		if (code)
			return code;
		add_mark(b, x, kind, a->wire[k], a->wire[k]);
		finish(b, x);
		end[a->wire[k]] = x->column;
	}
	return 0;
}

static int add_amplitudes(struct builder *b, const struct apply *a)
{
	const struct program *p = b->s->program;
	const char *name = "amplitudes";
	uint32_t k = 0;

	/* Where all entries are of one input, its name says more. */
	for (; k < a->nexpr && p->expr[a->expr[k]].op == EXPR_INPUT; k++)
		;
	for (uint32_t i = 0; k && k == a->nexpr && i < p->ninput_group; i++)
		if (p->expr[a->expr[0]].a - p->input_group[i].first < p->input_group[i].count)
			name = arena_printf(&b->s->arena, "amplitudes(%s)", p->input_group[i].name);
	return add_words(b, a, name);
}

static int add_apply(struct builder *b, const struct apply *a)
{
	const struct program *p = b->s->program;
	static const struct item swap = { .gate = GATE_SWAP };
	struct use u = { a->ncontrol, a->nwire, a->wire, a->control_ones, a->adjoint };

	switch (a->op) {
	case APPLY_UNITARY:
		return add_unitary(b, &p->matrix[a->matrix], &u, 0);
	case APPLY_SWAP:
		return add_gate(b, &swap, &(struct use){ 0, 2, a->wire, 0, false });
	case APPLY_AMPLITUDES:
		return add_amplitudes(b, a);
	case APPLY_STATE:
		return add_words(b, a, arena_printf(&b->s->arena, "state(%s)", p->input_group[a->matrix].name));
	case APPLY_DISCARD:
		return add_ends(b, a, MARK_DISCARD, b->s->row_end);
	case APPLY_MEASURE:
		return add_ends(b, a, MARK_METER, b->s->row_classical);
	default:
		BUG("apply %d cannot be drawn", a->op);
	}
}

/* ---- layers ---- */

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
	struct buf known = BUF_INIT;
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
	buf_release(&known);
	return code;
}

/* One box on all rows that the layer touches, then the ends of its wires. */
static int add_collapsed(struct builder *b, const struct apply *a, uint32_t n)
{
	struct element *x;
	uint32_t nrow = 0;
	int code = new_element(b, &x);

	if (code)
		return code;
	memset(b->touched, 0, b->s->nrow * sizeof *b->touched);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < a[i].nwire; k++)
			b->touched[a[i].wire[k]] = true;
	for (uint32_t r = 0; r < b->s->nrow; r++)
		if (b->touched[r])
			b->operand[nrow++] = r;
	x->label = label_words(&b->s->arena, layer_title(b->s->circuit, layer_path(b)));
	x->is_layer = true;
	add_boxes(b, x, b->operand, nrow);
	finish(b, x);
	for (uint32_t i = 0; !code && i < n; i++)
		if (a[i].op == APPLY_DISCARD || a[i].op == APPLY_MEASURE)
			code = add_apply(b, &a[i]);
	return code;
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
	mem_reserve(s->frame, s->nframe, s->cap_frame);
	s->frame[s->nframe++] = f;
}

/* Applies of one layer that follow each other. */
static int add_layer(struct builder *b, const struct apply *a, uint32_t n)
{
	uint32_t column;
	int code = 0;

	b->layer = a->layer;
	if (b->layer != INDEX_NONE && is_collapsed(b, layer_path(b)))
		return add_collapsed(b, a, n);
	if (b->layer != INDEX_NONE)
		barrier(b);
	column = b->s->ncolumn;
	for (uint32_t i = 0; !code && i < n; i++)
		code = add_apply(b, &a[i]);
	if (b->layer != INDEX_NONE) {
		add_frame(b, column, a, n);
		barrier(b);
	}
	return code;
}

static int add_layers(struct builder *b)
{
	const struct circuit_code *c = b->s->circuit;
	int code = 0;

	for (uint32_t i = 0, n; !code && i < c->napply; i += n) {
		for (n = 1; i + n < c->napply && c->apply[i + n].layer == c->apply[i].layer; n++)
			;
		code = add_layer(b, c->apply + i, n);
	}
	return code;
}

/* ---- rows ---- */

static void name_rows(struct scene *s)
{
	const struct circuit_code *c = s->circuit;

	for (uint32_t r = 0; r < s->nrow; r++)
		s->row_name[r] = arena_printf(&s->arena, "wire %u", r);
	for (uint32_t i = 0; i < c->nregister; i++)
		for (uint32_t k = 0; k < c->reg[i].count && c->reg[i].first + k < s->nrow; k++)
			s->row_name[c->reg[i].first + k] = c->reg[i].count == 1
				? arena_strdup(&s->arena, c->reg[i].name)
				: arena_printf(&s->arena, "%s[%u]", c->reg[i].name, k);
}

/* The wire whose letter alone is the output, or INDEX_NONE. */
static uint32_t simple_wire(const struct output *o)
{
	return o->kind == OUTPUT_PAULI && o->nterm == 1 && o->term[0].coefficient == 1 && o->term[0].nfactor == 1
		? o->term[0].factor[0].wire : INDEX_NONE;
}

/* Outputs of one wire stand at its end, others below. */
static void name_outputs(struct scene *s)
{
	const struct circuit_code *c = s->circuit;
	struct buf b = BUF_INIT;

	s->note = arena_alloc(&s->arena, c->noutput + 1, sizeof *s->note);
	for (uint32_t i = 0; i < c->noutput; i++) {
		uint32_t r = simple_wire(&c->output[i]);

		if (r != INDEX_NONE) {
			const char *before = s->row_output[r];

			s->row_output[r] = arena_printf(&s->arena, "%s%s⟨%c⟩", before ? before : "", before ? " " : "",
				" XYZ"[c->output[i].term[0].factor[0].letter]);
			continue;
		}
		buf_clear(&b);
		buf_str(&b, c->output[i].kind == OUTPUT_PROBS ? "" : "⟨");
		label_output(s, &c->output[i], &b);
		buf_str(&b, c->output[i].kind == OUTPUT_PROBS ? "" : "⟩");
		s->note[s->nnote++] = arena_strdup(&s->arena, b.data);
	}
	buf_release(&b);
}

static void scene_rows(struct scene *s)
{
	s->row_name = arena_alloc(&s->arena, s->nrow, sizeof *s->row_name);
	s->row_output = arena_alloc(&s->arena, s->nrow, sizeof *s->row_output);
	s->row_end = arena_alloc(&s->arena, s->nrow, sizeof *s->row_end);
	s->row_classical = arena_alloc(&s->arena, s->nrow, sizeof *s->row_classical);
	for (uint32_t r = 0; r < s->nrow; r++)
		s->row_end[r] = s->row_classical[r] = INDEX_NONE;
	name_rows(s);
	name_outputs(s);
}

int scene_build(const struct program *p, uint32_t circuit, const struct draw_options *o, struct scene *s, struct err *e)
{
	struct builder b = { .s = s, .o = o, .e = e, .layer = INDEX_NONE };
	int code;

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
	b.next = mem_alloc(s->nrow + 1, sizeof *b.next);
	b.operand = mem_alloc(s->nrow + 1, sizeof *b.operand);
	b.touched = mem_alloc(s->nrow + 1, sizeof *b.touched);
	code = add_layers(&b);
	free(b.next);
	free(b.operand);
	free(b.touched);
	free(s->stamp);
	s->stamp = NULL;
	return code;
}

void scene_release(struct scene *s)
{
	free(s->element);
	free(s->frame);
	free(s->stamp);
	arena_release(&s->arena);
	memset(s, 0, sizeof *s);
}

const char *scene_title(struct scene *s)
{
	const uint32_t n = program_instances(s->program, (uint32_t)(s->circuit - s->program->circuit));

	return n > 1 ? arena_printf(&s->arena, "%s (%u times; the first is drawn)", s->circuit->name, n) : s->circuit->name;
}

void scene_head(const struct program *p, struct buf *out)
{
	static const char *const name[ACTIVATION_COUNT] = {
#define ACTIVATION(id, text) [ACTIVATION_##id] = text,
#include "runtime/program/activation.def"
#undef ACTIVATION
	};

	if (!p->ndense)
		return;
	buf_printf(out, "head: dense %u", p->dense[0].nin);
	for (uint32_t i = 0; i < p->ndense; i++) {
		buf_printf(out, " → %u", p->dense[i].nout);
		if (p->dense[i].activation)
			buf_printf(out, " (%s)", name[p->dense[i].activation]);
	}
}
