/* SPDX-License-Identifier: Apache-2.0
 * Values of elaboration. */
#include "compiler/elaborate/value.h"

#include <string.h>

struct value value_numbered(struct arena *a, enum kind kind, uint32_t first, uint32_t n)
{
	uint32_t *wire = arena_alloc(a, n, sizeof *wire);

	for (uint32_t k = 0; k < n; k++)
		wire[k] = first + k;
	return (struct value){ .kind = kind, .list = { n, 1, wire } };
}

struct value value_array(const struct array *a)
{
	return (struct value){ .kind = kind_array(a->element), .array = a };
}

double value_number(const struct value *v) { return v->kind == KIND_INT ? (double)v->i : v->f; }

const char *value_kind_text(enum kind k)
{
	switch (k) {
	case KIND_ANGLE: return "an angle of weights or inputs";
	case KIND_INT_ARRAY: return "an array of int";
	case KIND_FLOAT_ARRAY: return "an array of float";
	case KIND_ANGLE_ARRAY: return "an array of weights or inputs";
	default: return kind_text(k);
	}
}

uint32_t value_len(const struct value *v)
{
	return value_is_array(v) ? v->array->dim[0] : v->list.n;
}

struct value array_at(const struct array *a, uint32_t k)
{
	if (a->leaves)
		return value_angle(exprs_leaf(a->leaves, a->leaf, a->first + k));
	if (a->element == KIND_INT)
		return value_int(a->i[k]);
	if (a->element == KIND_FLOAT)
		return value_float(a->f[k]);
	return value_angle(a->expr[k]);
}

static size_t element_size(enum kind element)
{
	return element == KIND_ANGLE ? sizeof(uint32_t) : sizeof(int64_t);
}

static void set_shape(struct array *a, uint32_t ndim, const uint32_t *dim)
{
	a->ndim = ndim;
	a->count = 1;
	for (uint32_t d = 0; d < ndim; d++) {
		a->dim[d] = dim[d];
		a->count *= dim[d];
	}
}

const struct array *array_of_leaves(struct arena *m, struct exprs *x, enum expr_op leaf, uint32_t first,
	uint32_t ndim, const uint32_t *dim)
{
	struct array *a = arena_alloc(m, 1, sizeof *a);

	a->element = KIND_ANGLE;
	a->leaves = x;
	a->leaf = leaf;
	a->first = first;
	set_shape(a, ndim, dim);
	return a;
}

const struct array *array_part(struct arena *m, const struct array *a, size_t from, uint32_t ndim, const uint32_t *dim)
{
	struct array *r = arena_copy(m, a, 1, sizeof *a);

	set_shape(r, ndim, dim);
	if (a->leaves)
		r->first += (uint32_t)from;
	else
		r->i = (void *)((char *)a->i + from * element_size(a->element));
	return r;
}

struct value array_row(struct arena *m, const struct array *a, uint32_t k)
{
	size_t inner = a->dim[0] ? a->count / a->dim[0] : 0;

	return a->ndim == 1 ? array_at(a, k) : value_array(array_part(m, a, k * inner, a->ndim - 1, a->dim + 1));
}

uint32_t array_expr(struct exprs *x, const struct array *a, uint32_t k)
{
	struct value v = array_at(a, k);

	return value_expr(x, &v);
}

struct array *array_new(struct arena *m, enum kind element, uint32_t ndim, const uint32_t *dim)
{
	struct array *a = arena_alloc(m, 1, sizeof *a);

	a->element = element;
	set_shape(a, ndim, dim);
	a->i = arena_alloc(m, a->count + 1, element_size(element));
	return a;
}

void array_set(struct exprs *x, struct array *a, uint32_t k, struct value v)
{
	if (a->element == KIND_INT)
		a->i[k] = v.i;
	else if (a->element == KIND_FLOAT)
		a->f[k] = value_number(&v);
	else
		a->expr[k] = value_expr(x, &v);
}

void array_copy(struct exprs *x, struct array *a, uint32_t at, const struct array *from)
{
	for (uint32_t k = 0; k < from->count; k++)
		array_set(x, a, at + k, array_at(from, k));
}

bool array_same_shape(const struct array *a, const struct array *b)
{
	return a->ndim == b->ndim && !memcmp(a->dim, b->dim, a->ndim * sizeof *a->dim);
}

uint32_t value_expr(struct exprs *x, const struct value *v)
{
	return v->kind == KIND_ANGLE ? v->expr : exprs_const(x, value_number(v));
}

bool value_same(const struct value *a, const struct value *b)
{
	if (a->kind != b->kind)
		return false;
	if (value_is_array(a) && (a->array->leaves || b->array->leaves))
		return array_same_shape(a->array, b->array) && a->array->leaves == b->array->leaves
			&& a->array->leaf == b->array->leaf && a->array->first == b->array->first;
	if (value_is_array(a))
		return array_same_shape(a->array, b->array)
			&& !memcmp(a->array->i, b->array->i, a->array->count * element_size(a->array->element));
	if (a->kind == KIND_ANGLE)
		return a->expr == b->expr;
	if (value_is_list(a))
		return a->list.n == b->list.n && a->list.width == b->list.width
			&& !memcmp(a->list.wire, b->list.wire, (size_t)a->list.n * a->list.width * sizeof *a->list.wire);
	return (a->kind == KIND_INT || a->kind == KIND_FLOAT) && !memcmp(&a->i, &b->i, sizeof a->i);
}

/* FNV-1a. */
static uint64_t bytes(uint64_t h, const void *p, size_t n)
{
	const uint8_t *b = p;

	for (size_t i = 0; i < n; i++)
		h = (h ^ b[i]) * 1099511628211u;
	return h;
}

uint64_t value_hash(const struct value *v)
{
	uint64_t h = bytes(14695981039346656037u, &v->kind, sizeof v->kind);

	if (value_is_array(v) && v->array->leaves)
		return bytes(h, &v->array->first, sizeof v->array->first);
	if (value_is_array(v))
		return bytes(h, v->array->i, v->array->count * element_size(v->array->element));
	if (v->kind == KIND_ANGLE)
		return bytes(h, &v->expr, sizeof v->expr);
	return bytes(h, &v->i, sizeof v->i);
}
