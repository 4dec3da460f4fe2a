/* SPDX-License-Identifier: Apache-2.0
 * Learnt steps as JSON: [{"inputs": 4, "kind": "min_max", "outputs": 4, "values": [...]}, ...]. */
#include "runtime/data/transform/transform.h"

#include <math.h>

#include "runtime/base/arena.h"
#include "runtime/base/json.h"

void transform_format(const struct transform *t, struct buf *out)
{
	json_auto_t *all = json_array();

	for (unsigned i = 0; i < t->nstep; i++) {
		const struct transform_step *s = &t->step[i];
		json_t *step = json_object(), *values = json_array();

		for (size_t k = 0; k < s->nvalue; k++)
			json_array_append_new(values, json_real(s->value[k]));
		json_object_set_new(step, "kind", json_string(transform_name(s->kind)));
		json_object_set_new(step, "inputs", json_integer(s->nin));
		json_object_set_new(step, "outputs", json_integer(s->nout));
		json_object_set_new(step, "values", values);
		json_array_append_new(all, step);
	}
	json_write(all, out);
}

static int bad(struct err *e, const char *what)
{
	return err_set(e, -ERR_BAD_DATA, "the fitted steps of data.transform: %s", what);
}

/* A number of columns, or 0. */
static uint32_t columns(const json_t *v)
{
	json_int_t n = json_integer_value(v);

	return n > 0 && n <= DATASET_COLUMNS_MAX ? (uint32_t)n : 0;
}

static size_t values_of(const struct transform_step *s)
{
	if (s->kind == TRANSFORM_l2)
		return 0;
	if (s->kind == TRANSFORM_resize)
		return RESIZE_VALUES;
	return s->kind == TRANSFORM_pca ? (size_t)s->nin * ((size_t)s->nout + 1) : 2 * (size_t)s->nin + 1;
}

static int parse_values(const json_t *list, struct transform_step *s, struct err *e)
{
	size_t n = values_of(s);

	if (!json_is_array(list) || json_array_size(list) != n)
		return bad(e, "a step with more or fewer numbers than it needs");
	s->value = mem_try(n, sizeof *s->value);
	if (!s->value)
		return err_set(e, -ERR_CONFIG, "no memory for %zu numbers", n);
	s->nvalue = n;
	for (size_t i = 0; i < n; i++) {
		const json_t *v = json_array_get(list, i);

		s->value[i] = json_number_value(v);
		if (!json_is_number(v) || !isfinite(s->value[i]))
			return bad(e, "a value is no number");
	}
	return 0;
}

/* width: what the step before hands on; 0 for the first. */
static int parse_step(const json_t *v, uint32_t width, struct transform_step *s, struct err *e)
{
	const char *kind = json_string_value(json_object_get(v, "kind"));

	s->kind = kind ? transform_find(kind) : TRANSFORM_NONE;
	if (!s->kind)
		return bad(e, "a step of an unknown kind");
	s->nin = columns(json_object_get(v, "inputs"));
	s->nout = columns(json_object_get(v, "outputs"));
	bool changes = s->kind == TRANSFORM_pca || s->kind == TRANSFORM_resize;

	if (!s->nin || !s->nout || (width && s->nin != width) || (!changes && s->nin != s->nout)
		|| s->nout > s->nin || (s->kind == TRANSFORM_pca && s->nout > PCA_COMPONENTS_MAX))
		return bad(e, "widths that do not fit");
	int code = parse_values(json_object_get(v, "values"), s, e);
	if (!code && s->kind == TRANSFORM_resize && !transform_resize_fits(s))
		return bad(e, "pictures whose sizes do not fit");
	return code;
}

int transform_parse(const char *text, size_t len, struct transform *out, struct err *e)
{
	json_t *all = json_read(text, len, e);
	struct transform t = { .nstep = 0 };
	int code = 0;

	if (!all)
		return -ERR_BAD_DATA;
	if (!json_is_array(all) || json_array_size(all) > TRANSFORM_STEPS_MAX)
		code = bad(e, "not a list of at most 8 steps");
	for (size_t i = 0; !code && i < json_array_size(all); i++) {
		uint32_t width = transform_outputs(&t);

		code = parse_step(json_array_get(all, i), width, &t.step[t.nstep++], e);
	}
	json_decref(all);
	if (code)
		transform_release(&t);
	else
		*out = t;
	return code;
}
