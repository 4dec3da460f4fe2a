/* SPDX-License-Identifier: Apache-2.0
 * What stands in the boxes of a drawing: gates, angles and parameters, as short as they stay clear. */
#include "compiler/draw/draw_scene.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ANGLE_TEXT_MAX = 28, EXPR_TEXT_DEPTH = 12, BLOCK_GROUPS_SHOWN = 2, BLOCK_DEPTH_MAX = 256, PI_PARTS_MAX = 16 };

/* ---- numbers and names ---- */

/* Multiples of pi as people write them; else few digits. */
static void number_text(double v, struct buf *out)
{
	for (int d = 1; d <= PI_PARTS_MAX; d++) {
		double n = v / M_PI * d;

		if (n == 0 || fabs(n - round(n)) > 1e-9 || fabs(n) > 64)
			continue;
		buf_str(out, n < 0 ? "-" : "");
		if (fabs(round(n)) != 1)
			buf_printf(out, "%.0f", fabs(round(n)));
		buf_str(out, "π");
		if (d > 1)
			buf_printf(out, "/%d", d);
		return;
	}
	buf_printf(out, "%.4g", v);
}

static void element_text(const char *path, uint32_t ndim, const uint32_t *dim, uint32_t k, uint32_t shown, struct buf *out)
{
	uint32_t at[PROGRAM_DIMS_MAX];

	shape_place(ndim, dim, k, at);
	buf_str(out, path);
	for (uint32_t i = 0; i < shown; i++)
		buf_printf(out, i ? ",%u" : "[%u", at[i]);
	if (shown)
		buf_char(out, ']');
}

/* A parameter's path as it is called inside the layer. */
static const char *within(const char *path, const char *layer)
{
	size_t n = layer ? strlen(layer) : 0;

	return n && !strncmp(path, layer, n) && path[n] == '.' ? path + n + 1 : path;
}

static void leaf_text(const struct program *p, const struct expr *x, const char *layer, struct buf *out)
{
	bool weight = x->op == EXPR_WEIGHT;
	uint32_t i = weight ? program_weight_group(p, x->a) : program_input_group(p, x->a);

	if (weight) {
		const struct weight_group *g = &p->weight_group[i];

		element_text(within(g->path, layer), g->ndim, g->dim, x->a - g->first, g->ndim, out);
	} else {
		const struct input_group *g = &p->input_group[i];

		element_text(g->name, g->ndim, g->dim, x->a - g->first, g->ndim, out);
	}
}

/* ---- angles ---- */

enum rank { RANK_SUM = 0, RANK_PRODUCT, RANK_UNARY, RANK_LEAF };

static enum rank rank_of(enum expr_op op)
{
	return op == EXPR_ADD || op == EXPR_SUB ? RANK_SUM : op == EXPR_MUL || op == EXPR_DIV ? RANK_PRODUCT
		: op == EXPR_NEG ? RANK_UNARY : RANK_LEAF;
}

static const char *sign_of(enum expr_op op)
{
	return op == EXPR_ADD ? "+" : op == EXPR_SUB ? "-" : op == EXPR_MUL ? "*" : op == EXPR_DIV ? "/" : NULL;
}

static void expr_text(const struct program *p, uint32_t i, const char *layer, enum rank least, unsigned depth, struct buf *out)
{
	const struct expr *x = &p->expr[i];
	enum rank rank = rank_of(x->op);
	bool brackets = rank < least || (!sign_of(x->op) && x->op != EXPR_NEG && expr_noperand(x->op) > 0);

	if (depth == EXPR_TEXT_DEPTH || out->len > ANGLE_TEXT_MAX) {
		buf_str(out, "…");
		return;
	}
	if (x->op == EXPR_CONST) {
		number_text(x->value, out);
		return;
	}
	if (x->op == EXPR_WEIGHT || x->op == EXPR_INPUT) {
		leaf_text(p, x, layer, out);
		return;
	}
	if (!sign_of(x->op) && x->op != EXPR_NEG)
		buf_str(out, expr_names[x->op]);
	if (x->op == EXPR_DRAW)
		return;
	buf_str(out, brackets ? "(" : "");
	if (x->op == EXPR_NEG) {
		buf_char(out, '-');
		expr_text(p, x->a, layer, RANK_UNARY, depth + 1, out);
	} else if (sign_of(x->op)) {
		expr_text(p, x->a, layer, rank, depth + 1, out);
		buf_str(out, sign_of(x->op));
		expr_text(p, x->b, layer, x->op == EXPR_ADD ? rank : rank + 1, depth + 1, out);
	} else {
		expr_text(p, x->a, layer, RANK_SUM, depth + 1, out);
		if (expr_noperand(x->op) > 1) {
			buf_char(out, ',');
			expr_text(p, x->b, layer, RANK_SUM, depth + 1, out);
		}
	}
	buf_str(out, brackets ? ")" : "");
}

/* Cut where it would be wider than what it stands in. */
static void add_angle(const struct program *p, uint32_t i, const char *layer, struct buf *out)
{
	buf_auto one = BUF_INIT;
	size_t at = 0, n = 0;

	expr_text(p, i, layer, RANK_SUM, 0, &one);
	while (at < one.len && n < ANGLE_TEXT_MAX) {
		for (at++; at < one.len && ((unsigned char)one.data[at] & 0xc0) == 0x80; at++)
			;
		n++;
	}
	buf_add(out, one.data ? one.data : "", at);
	if (at < one.len)
		buf_str(out, "…");
}

/* ---- gates ---- */

static const char *kept(struct arena *a, struct buf *b)
{
	const char *s = arena_strndup(a, b->data ? b->data : "", b->len);

	buf_release(b);
	return s;
}

static const char *upper(struct arena *a, const char *s)
{
	char *copy = arena_strdup(a, s);

	for (char *c = copy; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	return copy;
}

/* Names that are typeset otherwise than written. */
static const struct { enum gate gate; const char *base; const char *sub; const char *sup; } typeset[] = {
	{ GATE_H, "H", "", "" }, { GATE_S, "S", "", "" }, { GATE_SDG, "S", "", "†" }, { GATE_T, "T", "", "" },
	{ GATE_TDG, "T", "", "†" }, { GATE_SX, "√X", "", "" }, { GATE_SXDG, "√X", "", "†" }, { GATE_P, "P", "", "" },
	{ GATE_ID, "I", "", "" }, { GATE_U3, "U", "", "" }, { GATE_GPHASE, "φ", "", "" }, { GATE_PHASE_ALL, "φ", "", "" },
};

static void typeset_gate(struct arena *a, const struct item *it, struct box_label *l)
{
	char word[16];
	const char *name = gate_word_name(it->gate, it->word, word);

	l->base = arena_strdup(a, name);
	if (it->gate == GATE_PAULI)
		l->base = upper(a, name);
	for (size_t i = 0; i < sizeof typeset / sizeof *typeset; i++)
		if (typeset[i].gate == it->gate) {
			l->base = typeset[i].base;
			l->sup = typeset[i].sup;
		}
	if (it->gate == GATE_RPAULI) {
		l->base = "R";
		l->sub = arena_strdup(a, name + 1);
	} else if (it->gate == GATE_PPAULI || it->gate == GATE_POW_H) {
		l->base = upper(a, strrchr(name, '_') ? strrchr(name, '_') + 1 : name);
		l->sup = l->params;
		l->params = "";
	}
}

struct box_label label_gate(struct scene *s, const struct item *it, bool inverse, const char *layer)
{
	struct arena *a = &s->arena;
	struct box_label l = { "", "", "", "", "" };
	struct buf angles = BUF_INIT, plain = BUF_INIT;
	unsigned n = gate_row(it->gate)->nangle;
	char word[16];

	for (unsigned k = 0; k < n; k++) {
		buf_str(&angles, k ? ", " : "");
		add_angle(s->program, it->angle[k], layer, &angles);
	}
	l.params = kept(a, &angles);
	/* A global phase with a wire of its own is still what the model calls gphase. */
	buf_printf(&plain, "%s%s", it->gate == GATE_PHASE_ALL ? "gphase" : gate_word_name(it->gate, it->word, word), inverse ? "†" : "");
	if (n)
		buf_printf(&plain, "(%s)", l.params);
	l.plain = kept(a, &plain);
	typeset_gate(a, it, &l);
	if (inverse)
		l.sup = arena_printf(a, "%s†", l.sup);
	return l;
}

/* ---- blocks ---- */

/* The weights behind a matrix: how many uses, the lowest and the highest. */
struct leaves { uint32_t *open, nopen, cap, nweight, low, high, nitem; };

/* All of an angle's weights; expressions may be deeper than a stack is. */
static void visit_expr(struct scene *s, uint32_t root, struct leaves *v)
{
	v->nopen = 0;
	for (uint32_t i = root;; i = v->open[--v->nopen]) {
		const struct expr *x = &s->program->expr[i];
		unsigned n = s->stamp[i] == s->stamp_now ? 0 : expr_noperand(x->op);

		if (x->op == EXPR_WEIGHT) {
			v->low = !v->nweight || x->a < v->low ? x->a : v->low;
			v->high = !v->nweight || x->a > v->high ? x->a : v->high;
			v->nweight++;
		}
		s->stamp[i] = s->stamp_now;
		for (unsigned k = 0; k < n; k++) {
			mem_reserve(v->open, v->nopen, v->cap);
			v->open[v->nopen++] = k ? x->b : x->a;
		}
		if (!v->nopen)
			return;
	}
}

static void visit_matrix(struct scene *s, const struct matrix *m, unsigned depth, struct leaves *v)
{
	for (uint32_t i = 0; i < m->nitem && v->nitem < DRAW_ELEMENTS_MAX && depth < BLOCK_DEPTH_MAX; i++, v->nitem++) {
		const struct item *it = &m->item[i];

		if (it->gate == GATE_NONE)
			visit_matrix(s, &s->program->matrix[it->ref], depth + 1, v);
		for (unsigned k = 0; it->gate != GATE_NONE && k < gate_row(it->gate)->nangle; k++)
			visit_expr(s, it->angle[k], v);
	}
}

/* "t", "t[0]", "t[3:5]": weights low .. high of one group. */
static void stretch_text(const struct weight_group *g, const char *layer, uint32_t low, uint32_t high, struct buf *out)
{
	const char *path = within(g->path, layer);
	uint32_t from = low - g->first, n = high - low + 1, part = g->count;

	for (uint32_t shown = 0; shown <= g->ndim; shown++) {
		if (n == part && from % part == 0) {
			element_text(path, g->ndim, g->dim, from, shown, out);
			return;
		}
		part = shown < g->ndim ? part / g->dim[shown] : 1;
	}
	part = g->ndim ? g->dim[g->ndim - 1] : 1;
	if (from / part != (from + n - 1) / part) {
		buf_str(out, path);
		return;
	}
	/* "w[1,0:2]": within one row of the last index */
	element_text(path, g->ndim, g->dim, from, g->ndim, out);
	out->len--;
	buf_printf(out, ":%u]", from % part + n - 1);
}

static void params_text(const struct program *p, const struct leaves *v, const char *layer,
	struct buf *out)
{
	unsigned shown = 0;

	for (uint32_t i = 0; v->nweight && i < p->nweight_group; i++) {
		const struct weight_group *g = &p->weight_group[i];
		uint32_t end = g->first + g->count - 1;

		if (!g->count || v->high < g->first || v->low > end)
			continue;
		if (shown++ == BLOCK_GROUPS_SHOWN) {
			buf_str(out, ", …");
			break;
		}
		buf_str(out, shown > 1 ? ", " : "");
		stretch_text(g, layer, v->low > g->first ? v->low : g->first,
			v->high < end ? v->high : end, out);
	}
}

/* sup: what is raised behind the name; v: its weights, which are released. */
static struct box_label label_block(struct scene *s, const char *name, const char *sup,
	const char *plain_sup, struct leaves *v, const char *layer)
{
	struct arena *a = &s->arena;
	struct box_label l = { "", "", "", "", "" };
	struct buf params = BUF_INIT;

	params_text(s->program, v, layer, &params);
	free(v->open);
	l.params = kept(a, &params);
	l.base = name && *name ? arena_strdup(a, name) : "U";
	l.sup = sup;
	l.plain = arena_printf(a, *l.params ? "%s%s(%s)" : "%s%s", l.base, plain_sup, l.params);
	return l;
}

struct box_label label_matrix(struct scene *s, const struct matrix *m, bool adjoint, const char *layer)
{
	const char *sup = adjoint ? "†" : "";
	struct leaves v = { .open = NULL };

	s->stamp_now++;
	visit_matrix(s, m, 0, &v);
	return label_block(s, m->name, sup, sup, &v, layer);
}

struct box_label label_call(struct scene *s, const struct call_note *c, const struct apply *a,
	uint32_t n, const char *layer)
{
	const char *sup = c->power == 1 ? "" : "†", *plain = sup;
	struct leaves v = { .open = NULL };

	if (c->power != 1 && c->power != -1) {
		sup = arena_printf(&s->arena, "%lld", (long long)c->power);
		plain = arena_printf(&s->arena, "^%s", sup);
	}
	s->stamp_now++;
	for (uint32_t i = 0; i < n; i++)
		if (a[i].op == APPLY_UNITARY)
			visit_matrix(s, &s->program->matrix[a[i].matrix], 0, &v);
	return label_block(s, c->name, sup, plain, &v, layer);
}

struct box_label label_words(struct arena *a, const char *words)
{
	const char *copy = arena_strdup(a, words);

	return (struct box_label){ copy, copy, "", "", "" };
}

/* ---- outputs ---- */

static void term_text(const struct scene *s, const struct pauli_term *t, bool first, struct buf *out)
{
	double c = t->coefficient;

	if (!first)
		buf_str(out, c < 0 ? " - " : " + ");
	else if (c < 0)
		buf_char(out, '-');
	c = fabs(c);
	if (c != 1 || !t->nfactor)
		buf_printf(out, t->nfactor ? "%.6g*" : "%.6g", c);
	for (uint32_t k = 0; k < t->nfactor; k++)
		buf_printf(out, "%s%c(%s)", k ? "*" : "", " xyz"[t->factor[k].letter], s->row_name[t->factor[k].wire]);
}

void label_output(const struct scene *s, const struct output *o, struct buf *out)
{
	enum { TERMS_SHOWN = 8 };

	if (o->kind == OUTPUT_PROBS) {
		buf_str(out, "probs(");
		for (uint32_t k = 0; k < o->nwire; k++)
			buf_printf(out, "%s%s", k ? ", " : "", s->row_name[o->wire[k]]);
		buf_char(out, ')');
		return;
	}
	for (uint32_t t = 0; t < o->nterm && t < TERMS_SHOWN; t++)
		term_text(s, &o->term[t], !t, out);
	if (o->nterm > TERMS_SHOWN)
		buf_printf(out, " + %u more", o->nterm - TERMS_SHOWN);
	if (!o->nterm)
		buf_char(out, '0');
}
