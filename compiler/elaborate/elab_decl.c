/* SPDX-License-Identifier: Apache-2.0
 * Elaboration: const, int, float, let, assignment, and --const overrides. */
#include "compiler/elaborate/elab.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>

/* ---- sizes and conversions ---- */

bool elab_dims(struct elab *e, const struct node *dims, int64_t least, uint64_t most,
	enum diag_code limit, uint32_t *ndim, uint32_t *dim)
{
	uint64_t total = 1;

	*ndim = 0;
	for (uint32_t i = 0; dims && i < dims->list.n; i++) {
		int64_t n;
		const struct node *at = dims->list.v[i];
		if (!elab_int(e, at, &n))
			return false;
		if (n < least)
			return elab_refuse(e, DIAG_BAD_SIZE, at->span,
				"a size of %lld, at least %lld is needed", (long long)n,
				(long long)least);
		/* a dimension of 0 does not excuse the others */
		if ((uint64_t)n > most || (n && total > most / (uint64_t)n))
			return elab_refuse(e, limit, dims->span, "more than %llu elements",
				(unsigned long long)most);
		total *= n ? (uint64_t)n : 1;
		dim[(*ndim)++] = (uint32_t)n;
	}
	return true;
}

static void shape_text(char *buf, size_t len, uint32_t ndim, const uint32_t *dim)
{
	size_t at = 0;

	buf[0] = 0;
	for (uint32_t d = 0; d < ndim && at < len; d++)
		at += (size_t)snprintf(buf + at, len - at, d ? ",%u" : "%u", dim[d]);
}

struct value elab_convert(struct elab *e, struct value v, int type, const struct node *dims,
	struct span at, const struct node *decl)
{
	uint32_t ndim, dim[PROGRAM_DIMS_MAX];
	char want[96], have[96];

	if (v.kind == KIND_UNKNOWN || !elab_dims(e, dims, 0, COMPILE_LIST_MAX, DIAG_LIMIT_LIST, &ndim, dim))
		return value_unknown();
	if (type == AST_TYPE_INT && !elab_is_int(e, v.kind, at))
		return value_unknown();
	if (!ndim)
		return type == AST_TYPE_FLOAT && v.kind == KIND_INT ? value_float((double)v.i) : v;
	if (memcmp(v.array->dim, dim, ndim * sizeof *dim)) {
		shape_text(want, sizeof want, ndim, dim);
		shape_text(have, sizeof have, v.array->ndim, v.array->dim);
		struct diag *g = elab_error(e, DIAG_ARRAY_SIZE, at, "an array [%s] where [%s] is declared", have, want);
		if (decl)
			diag_second(g, decl->name_span, "declared as [%s] here", want);
		return value_unknown();
	}
	if (type != AST_TYPE_FLOAT || v.array->element != KIND_INT)
		return v;
	struct array *a = array_new(e->arena, KIND_FLOAT, ndim, dim);
	array_copy(&e->design.exprs, a, 0, v.array);
	return value_array(a);
}

/* ---- overrides ---- */

/* Of the file's own level, where statements that are included stand too. */
static const struct node *find_const(const struct elab *e, const char *name)
{
	const struct node_list *l = &e->tree->file->list;

	for (uint32_t i = 0; i < l->n; i++)
		if (l->v[i]->kind == NODE_CONST && !strcmp(l->v[i]->name, name))
			return l->v[i];
	return NULL;
}

static const struct const_override *override_of(const struct elab *e, const struct node *n)
{
	for (unsigned i = 0; e->options && i < e->options->nconstant; i++)
		if (!strcmp(e->options->constant[i].name, n->name))
			return find_const(e, n->name) == n ? &e->options->constant[i] : NULL;
	return NULL;
}

static struct span override_span(struct elab *e, const struct const_override *o)
{
	struct source_set *s = diags_sources(e->diags);
	char text[512];

	if (e->options->constant_at)
		return e->options->constant_at[o - e->options->constant];
	snprintf(text, sizeof text, "%s=%s", o->name, o->value);
	int file = source_add(s, "--const", text, strlen(text));
	return (struct span){ file > 0 ? (uint32_t)file : 0, 0, (uint32_t)strlen(text) };
}

static bool override_value(const struct const_override *o, int type, struct value *v)
{
	char *end;

	errno = 0;
	*v = type == AST_TYPE_INT ? value_int(strtoll(o->value, &end, 10)) : value_float(strtod(o->value, &end));
	if (end == o->value || *end)
		return false;
	return type == AST_TYPE_INT ? errno != ERANGE : isfinite(v->f);      /* a tiny number is rounded, as in the text */
}

static void unknown_constant(struct elab *e, const struct const_override *o)
{
	const struct node_list *l = &e->tree->file->list;
	struct diag *g = elab_error(e, DIAG_OVERRIDE, override_span(e, o),
		"the model has no constant `%s`", o->name);
	const char *all[256], *near;
	size_t nall = 0;
	buf_auto b = BUF_INIT;

	for (uint32_t i = 0; i < l->n && nall < sizeof all / sizeof *all; i++)
		if (l->v[i]->kind == NODE_CONST)
			all[nall++] = l->v[i]->name;
	for (size_t k = 0; k < nall && k < 12; k++)
		buf_printf(&b, "%s`%s`", k ? ", " : "", all[k]);
	near = diag_nearest(o->name, all, nall);
	if (near)
		diag_help(g, "did you mean `%s`?", near);
	else
		diag_help(g, nall ? "its constants are: %s%s" : "it has no `const` at file level%s%s",
			nall ? b.data : "", nall > 12 ? ", ..." : "");
}

void elab_overrides(struct elab *e)
{
	for (unsigned i = 0; e->options && i < e->options->nconstant; i++) {
		const struct const_override *o = &e->options->constant[i];
		const struct node *n = find_const(e, o->name);
		struct value v;

		if (!n) {
			unknown_constant(e, o);
		} else if (n->a || !override_value(o, n->op, &v)) {
			struct diag *g = elab_error(e, DIAG_OVERRIDE, override_span(e, o), "`%s` cannot be set to `%s`", o->name, o->value);
			diag_second(g, n->name_span, n->a ? "an array is declared here" : n->op == AST_TYPE_INT ? "an int is declared here" : "a float is declared here");
		}
	}
}

/* ---- statements ---- */

void elab_const(struct elab *e, const struct node *n)
{
	const struct const_override *o = override_of(e, n);
	struct value v;

	if (o && override_value(o, n->op, &v)) {
		elab_bind(e, n, v);
		return;
	}
	v = elab_eval(e, n->b);
	if (v.kind == KIND_ANGLE || v.kind == KIND_ANGLE_ARRAY)
		v = elab_fail(e, DIAG_NOT_CONSTANT, n->b->span, "a constant cannot depend on weights or inputs");
	elab_bind(e, n, elab_convert(e, v, n->op, n->a, n->b->span, n));
}

static struct value zero(struct elab *e, const struct node *n)
{
	uint32_t ndim, dim[PROGRAM_DIMS_MAX];

	if (!elab_dims(e, n->a, 0, COMPILE_LIST_MAX, DIAG_LIMIT_LIST, &ndim, dim))
		return value_unknown();
	if (!ndim)
		return n->op == AST_TYPE_INT ? value_int(0) : value_float(0);
	struct array *a =
		array_new(e->arena, n->op == AST_TYPE_INT ? KIND_INT : KIND_FLOAT, ndim, dim);
	return elab_work(e, a->count / 4, n->span) ? value_array(a) : value_unknown();
}

void elab_var(struct elab *e, const struct node *n)
{
	if (!n->b) {
		elab_bind(e, n, zero(e, n));
		return;
	}
	struct value v = elab_eval(e, n->b);
	elab_bind(e, n, elab_convert(e, v, n->op, n->a, n->b->span, n));
}

void elab_let(struct elab *e, const struct node *n) { elab_bind(e, n, elab_eval(e, n->b)); }

/* `t op= v` is `t = t op v`, with places of the statement. */
static struct value new_value(struct elab *e, const struct node *n)
{
	if (n->op == AST_SET_TO)
		return elab_eval(e, n->b);
	struct node both = { .kind = NODE_BINARY,
		.op = n->op,
		.span = n->span,
		.a = n->a,
		.b = n->b,
		.rank = n->rank,
		.ndim = n->ndim };
	return elab_eval(e, &both);
}

/* What a body declares is declared anew in each of its runs. */
static bool declared_in(const struct node *decl, const struct node *body)
{
	return decl->name_span.file == body->span.file && decl->name_span.begin >= body->span.begin && decl->name_span.end <= body->span.end;
}

static void assign(struct elab *e, const struct node *decl, struct value v)
{
	if (e->loop && !e->changed && !declared_in(decl, e->loop->c))
		e->changed = !value_same(&e->value[decl->number], &v);
	elab_bind(e, decl, v);
}

/* One element of an array variable; the array is copied, other names keep theirs. */
static void assign_element(struct elab *e, const struct node *n, const struct node *decl)
{
	const struct node *target = n->a;
	struct value v = new_value(e, n), whole = e->value[decl->number];
	uint64_t at = 0;

	if (whole.kind == KIND_UNKNOWN || v.kind == KIND_UNKNOWN)
		return;
	/* evaluates to the old element and reports what is out of range */
	if (elab_index(e, target).kind == KIND_UNKNOWN)
		return;
	for (uint32_t d = 0; d < target->list.n; d++) {
		int64_t k;
		if (!elab_int(e, target->list.v[d], &k))
			return;
		at = at * whole.array->dim[d] + (uint64_t)(k < 0 ? k + whole.array->dim[d] : k);
	}
	enum kind element = whole.array->element == KIND_INT && decl->op == AST_TYPE_INT ? KIND_INT
		: v.kind == KIND_ANGLE || whole.array->element == KIND_ANGLE ? KIND_ANGLE
		: v.kind == KIND_INT && whole.array->element == KIND_INT ? KIND_INT : KIND_FLOAT;
	if (element == KIND_INT && !elab_is_int(e, v.kind, n->b->span))
		return;
	if (!elab_work(e, whole.array->count / 4, n->span))
		return;
	struct array *a = array_new(e->arena, element, whole.array->ndim, whole.array->dim);
	array_copy(&e->design.exprs, a, 0, whole.array);
	array_set(&e->design.exprs, a, (uint32_t)at, v);
	assign(e, decl, value_array(a));
}

void elab_assign(struct elab *e, const struct node *n)
{
	const struct node *target = n->a;

	while (target->kind == NODE_INDEX)
		target = target->a;
	const struct node *decl = target->decl;
	if (n->a->kind == NODE_INDEX) {
		assign_element(e, n, decl);
		return;
	}
	struct value v = new_value(e, n);
	if (decl->kind == NODE_VAR)
		v = elab_convert(e, v, decl->op, decl->a, n->b->span, decl);
	assign(e, decl, v);
}
