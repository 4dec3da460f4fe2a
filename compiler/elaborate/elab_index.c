/* SPDX-License-Identifier: Apache-2.0
 * Elaboration: elements, slices and ranges. */
#include "compiler/elaborate/elab.h"

#include <string.h>

/* Positions that one subscript picks; `single` drops the dimension. */
struct picks { uint32_t *at, n; bool single; int64_t first, step; bool regular; };

static bool negative_literal(const struct node *n)
{
	return (n->kind == NODE_UNARY && n->op == AST_NEG && n->a->kind == NODE_INT) || (n->kind == NODE_INT && n->value.i < 0);
}

static const char *element_text(const struct value *v)
{
	return value_is_array(v)         ? "element"
		: v->kind == KIND_QUBITS ? "qubit"
		: v->kind == KIND_BITS   ? "bit"
					 : "tuple";
}

/* What is indexed, for messages. */
struct object { const struct node *node; const struct value *value; uint32_t len; };

static void second_at_declaration(struct diag *g, const struct object *o)
{
	elab_declared(g, o->node, "%u %s%s here", o->len, element_text(o->value), o->len == 1 ? "" : "s");
}

static bool bound(struct elab *e, const struct node *n, const struct object *o, int64_t *at)
{
	if (!elab_int(e, n, at))
		return false;
	if (*at < 0 && negative_literal(n)) {
		*at += o->len;
		if (*at >= 0)
			return true;
		*at -= o->len;
	} else if (*at < 0) {
		struct diag *g = elab_error(e, DIAG_NEGATIVE_INDEX, n->span, "the computed index is %lld", (long long)*at);
		diag_help(g, "only a written negative number, as in w[-1], counts from the end");
		return false;
	}
	if (*at >= 0 && *at < o->len)
		return true;
	struct diag *g = elab_error(e, DIAG_INDEX_RANGE, n->span, "index %lld is outside %u %s%s", (long long)*at, o->len,
		element_text(o->value), o->len == 1 ? "" : "s");
	if (o->len)
		diag_label(g, "allowed are 0 to %u, or -1 to -%u from the end", o->len - 1, o->len);
	second_at_declaration(g, o);
	return false;
}

static bool pick_range(struct elab *e, const struct node *n, const struct object *o, struct picks *p)
{
	int64_t first, last, step = 1;

	if (n->b && !elab_int(e, n->b, &step))
		return false;
	if (step == 0)
		return elab_refuse(e, DIAG_STEP_ZERO, n->b->span, "the step of a slice is 0");
	first = step > 0 ? 0 : (int64_t)o->len - 1;
	last = step > 0 ? (int64_t)o->len - 1 : 0;
	if ((n->a && !bound(e, n->a, o, &first)) || (n->c && !bound(e, n->c, o, &last)))
		return false;
	if (o->len == 0 || (step > 0 ? first > last : first < last)) {
		struct diag *g = elab_error(e, DIAG_EMPTY_SLICE, n->span, "the slice from %lld to %lld is empty", (long long)first, (long long)last);
		second_at_declaration(g, o);
		return false;
	}
	uint64_t distance = step > 0 ? (uint64_t)(last - first) : (uint64_t)(first - last);
	uint64_t size = step > 0 ? (uint64_t)step : -(uint64_t)step;
	*p = (struct picks){ .n = (uint32_t)(distance / size) + 1, .first = first, .step = step, .regular = true };
	return true;
}

static bool pick_set(struct elab *e, const struct node *n, const struct value *v, const struct object *o, struct picks *p)
{
	const struct array *a = v->array;

	p->n = a->count;
	p->at = arena_alloc(e->arena, a->count + 1, sizeof *p->at);
	for (uint32_t k = 0; k < a->count; k++) {
		int64_t at = a->i[k];
		const struct node *el = n->kind == NODE_SET && n->list.n == a->count ? n->list.v[k] : n;
		if (at < 0 && n->kind == NODE_SET && negative_literal(el))
			at += o->len;
		if (at < 0 || at >= o->len) {
			struct diag *g = elab_error(e, DIAG_INDEX_RANGE, el->span, "index %lld is outside %u %s%s",
				(long long)a->i[k], o->len, element_text(o->value), o->len == 1 ? "" : "s");
			second_at_declaration(g, o);
			return false;
		}
		p->at[k] = (uint32_t)at;
	}
	return true;
}

static bool pick(struct elab *e, const struct node *n, const struct object *o, struct picks *p)
{
	int64_t at;

	*p = (struct picks){ 0 };
	if (n->kind == NODE_RANGE)
		return pick_range(e, n, o, p);
	if (n->rank == KIND_INT_ARRAY) {
		struct value v = elab_eval(e, n);
		return v.kind != KIND_UNKNOWN && elab_is_int(e, v.kind, n->span)
			&& pick_set(e, n, &v, o, p);
	}
	if (!bound(e, n, o, &at))
		return false;
	*p = (struct picks){ .n = 1, .single = true, .first = at, .step = 1, .regular = true };
	return true;
}

static uint32_t position(const struct picks *p, uint32_t k)
{
	return p->regular ? (uint32_t)(p->first + (int64_t)k * p->step) : p->at[k];
}

/* ---- lists ---- */

static struct value index_list(struct elab *e, const struct node *n, const struct value *v)
{
	struct object o = { n->a, v, v->list.n };
	uint32_t width = v->list.width;
	struct picks p;

	if (n->list.n != 1)
		return elab_fail(e, DIAG_INDEX_DIMS, n->span, "a list has one dimension, %u indices given", n->list.n);
	if (!pick(e, n->list.v[0], &o, &p))
		return value_unknown();
	if (p.regular && (p.step == 1 || p.n == 1))
		return (struct value){ .kind = v->kind, .list = { p.n, width, v->list.wire + (size_t)p.first * width } };
	if (!elab_work(e, (uint64_t)p.n * width / 4, n->span))
		return value_unknown();
	uint32_t *wire = arena_alloc(e->arena, (size_t)p.n * width + 1, sizeof *wire);
	for (uint32_t k = 0; k < p.n; k++)
		for (uint32_t j = 0; j < width; j++)
			wire[k * width + j] = v->list.wire[(size_t)position(&p, k) * width + j];
	return (struct value){ .kind = v->kind, .list = { p.n, width, wire } };
}

/* ---- arrays ---- */

static size_t inner_count(const struct array *a, uint32_t from)
{
	size_t n = 1;

	for (uint32_t d = from; d < a->ndim; d++)
		n *= a->dim[d];
	return n;
}

/* The picked elements in order, last index fastest. */
static struct value gather(struct elab *e, const struct node *n, const struct array *a, const struct picks *p)
{
	uint32_t dim[PROGRAM_DIMS_MAX], ndim = 0, npick = n->list.n;
	uint64_t total = 1;
	uint32_t at[PROGRAM_DIMS_MAX] = { 0 };
	size_t inner = inner_count(a, npick);

	for (uint32_t d = 0; d < a->ndim; d++) {
		uint32_t len = d < npick ? p[d].n : a->dim[d];
		total *= len;
		if (total > COMPILE_LIST_MAX)
			return elab_fail(e, DIAG_LIMIT_LIST, n->span, "a slice of more than %d elements", COMPILE_LIST_MAX);
		if (d >= npick || !p[d].single)
			dim[ndim++] = len;
	}
	if (!elab_work(e, total / 4, n->span))
		return value_unknown();
	struct array *r = array_new(e->arena, a->element, ndim, dim);
	for (uint32_t k = 0; k < total; ) {
		size_t from = 0;
		for (uint32_t d = 0; d < npick; d++)
			from = from * a->dim[d] + position(&p[d], at[d]);
		for (size_t j = 0; j < inner; j++)
			array_set(&e->design.exprs, r, k++, array_at(a, (uint32_t)(from * inner + j)));
		for (uint32_t d = npick; d-- > 0 && ++at[d] == p[d].n; )
			at[d] = 0;
	}
	return ndim ? value_array(r) : array_at(r, 0);
}

static struct value index_array(struct elab *e, const struct node *n, const struct value *v)
{
	const struct array *a = v->array;
	struct picks p[PROGRAM_DIMS_MAX];

	for (uint32_t d = 0; d < n->list.n; d++) {
		struct object o = { n->a, v, a->dim[d] };
		if (!pick(e, n->list.v[d], &o, &p[d]))
			return value_unknown();
	}
	if (n->list.n == 1 && p[0].single)
		return array_row(e->arena, a, (uint32_t)p[0].first);
	if (n->list.n == 1 && p[0].regular && p[0].step == 1) {
		uint32_t dim[PROGRAM_DIMS_MAX];

		memcpy(dim, a->dim, sizeof dim);
		dim[0] = p[0].n;
		return value_array(array_part(e->arena, a, (size_t)p[0].first * inner_count(a, 1),
			a->ndim, dim));
	}
	return gather(e, n, a, p);
}

struct value elab_index(struct elab *e, const struct node *n)
{
	struct value v = elab_eval(e, n->a);

	if (v.kind == KIND_UNKNOWN)
		return v;
	return value_is_list(&v) ? index_list(e, n, &v) : index_array(e, n, &v);
}

bool elab_range(struct elab *e, const struct node *n, int64_t *first, int64_t *step, uint32_t *count)
{
	int64_t last;

	*step = 1;
	if (!elab_int(e, n->a, first) || !elab_int(e, n->c, &last) || (n->b && !elab_int(e, n->b, step)))
		return false;
	if (*step == 0)
		return elab_refuse(e, DIAG_STEP_ZERO, n->b->span, "the step of a range is 0");
	*count = 0;
	if (*step > 0 ? *first > last : *first < last)
		return true;
	uint64_t distance = *step > 0 ? (uint64_t)last - (uint64_t)*first : (uint64_t)*first - (uint64_t)last;
	uint64_t times = distance / (*step > 0 ? (uint64_t)*step : -(uint64_t)*step);
	*count = times >= COMPILE_STEPS_MAX ? UINT32_MAX : (uint32_t)times + 1;
	return true;
}
