/* SPDX-License-Identifier: Apache-2.0
 * Weights from and to other files: weights.bin, .npz, .json and .h5 in, the last three out. */
#include "runtime/train/weights/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/json.h"
#include "runtime/data/dataset.h"
#include "runtime/data/format/npz.h"
#include "runtime/train/keras/keras.h"

/* What is filled: the weights of the program, or of its circuits alone. */
struct target {
	const struct program *program;
	bool circuit_only;
	double *weight;
	struct err *e;
};

static size_t wanted(const struct target *t)
{
	return t->circuit_only ? t->program->nweight_circuit : t->program->nweight;
}

static bool is_wanted(const struct target *t, const struct weight_group *g)
{
	return g->first < wanted(t) || !t->circuit_only;
}

static const struct weight_group *group_of(const struct program *p, const char *path)
{
	for (uint32_t g = 0; g < p->nweight_group; g++)
		if (!strcmp(p->weight_group[g].path, path))
			return &p->weight_group[g];
	return NULL;
}

enum { PATHS_SHOWN = 4 };

/* The model may be another one: its paths are shown, too. */
static int unknown_path(const struct target *t, const char *path)
{
	const struct program *p = t->program;
	buf_auto known = BUF_INIT;

	for (uint32_t g = 0; g < p->nweight_group && g < PATHS_SHOWN; g++)
		buf_printf(&known, "%s%s", g ? ", " : "", p->weight_group[g].path);
	return err_set(t->e, -ERR_BAD_DATA, "%s: the model has no weight of that path%s%s%s", path,
		known.len ? ", but " : "", known.len ? known.data : "",
		p->nweight_group > PATHS_SHOWN ? ", ..." : "");
}

static int missing_path(const struct target *t, const char *path)
{
	return err_set(t->e, -ERR_BAD_DATA, "%s: missing; the model has a weight of that path", path);
}

static void shape_text(const uint64_t *dim, uint32_t ndim, struct buf *out)
{
	buf_char(out, '[');
	for (uint32_t k = 0; k < ndim; k++)
		buf_printf(out, k ? ", %llu" : "%llu", (unsigned long long)dim[k]);
	buf_char(out, ']');
}

static int check_shape(const struct target *t, const struct weight_group *g, const uint64_t *dim, uint32_t ndim)
{
	buf_auto got = BUF_INIT, want = BUF_INIT;
	bool same = ndim == g->ndim;

	for (uint32_t k = 0; k < g->ndim; k++)
		same = same && dim[k] == g->dim[k];
	if (same)
		return 0;
	shape_text(dim, ndim, &got);
	shape_print(g->ndim, g->dim, &want);
	return err_set(t->e, -ERR_BAD_DATA, "%s: shape %s, the model's is %s", g->path, got.data,
		want.data);
}

static int set_weight(const struct target *t, const char *path, size_t place, double value)
{
	if (!isfinite(value))
		return err_set(t->e, -ERR_BAD_DATA, "%s: a value is not finite", path);
	t->weight[place] = value;
	return 0;
}

/* ---- arrays by path: .npz and weights.bin ---- */

/* Of each weight, which they borrow; the caller frees the members. */
static struct npz arrays_of(const struct program *p, const double *weight)
{
	struct npz z = { p->nweight_group, mem_alloc(p->nweight_group + 1, sizeof *z.member) };

	for (uint32_t g = 0; g < p->nweight_group; g++) {
		const struct weight_group *w = &p->weight_group[g];
		struct array *a = &z.member[g].array;

		z.member[g].name = (char *)w->path;
		*a = (struct array){
			.ndim = w->ndim, .count = w->count, .value = (double *)weight + w->first
		};
		for (uint32_t k = 0; k < w->ndim; k++)
			a->dim[k] = w->dim[k];
	}
	return z;
}

static int import_array(const struct target *t, const struct weight_group *g, const struct array *a)
{
	int code;

	if (!a)
		return missing_path(t, g->path);
	if (a->is_complex)
		return err_set(t->e, -ERR_BAD_DATA, "%s: complex numbers, weights are real", g->path);
	code = check_shape(t, g, a->dim, a->ndim);
	for (uint32_t i = 0; !code && i < g->count; i++)
		code = set_weight(t, g->path, (size_t)g->first + i, a->value[i]);
	return code;
}

static int import_arrays(const struct target *t, const struct npz *z, const char *path)
{
	const struct program *p = t->program;
	int code = 0;

	for (unsigned i = 0; !code && i < z->n; i++)
		if (!group_of(p, z->member[i].name))
			code = unknown_path(t, z->member[i].name);
	for (uint32_t i = 0; !code && i < p->nweight_group; i++)
		if (is_wanted(t, &p->weight_group[i]))
			code = import_array(t, &p->weight_group[i],
				npz_find(z, p->weight_group[i].path));
	if (code)
		err_prefix(t->e, "%s", path);
	return code;
}

static int import_bin(const struct target *t, const char *path)
{
	struct weights *w;
	int code = weights_open(path, &w, t->e);

	if (code)
		return code;
	struct npz z = arrays_of(w->program, w->weight);
	code = import_arrays(t, &z, path);
	free(z.member);
	weights_free(w);
	return code;
}

static int import_npz(const struct target *t, const char *path)
{
	struct npz z = { 0 };
	int code = npz_read(path, &z, t->e);

	if (!code)
		code = import_arrays(t, &z, path);
	npz_free(&z);
	return code;
}

/* ---- .json ---- */

static int import_number(const struct target *t, const char *path, const json_t *v, size_t place)
{
	if (!json_is_number(v))
		return err_set(t->e, -ERR_BAD_DATA, "%s: an entry is not a number", path);
	return set_weight(t, path, place, json_number_value(v));
}

static int import_flat(const struct target *t, const char *path, const json_t *list, size_t first, size_t n)
{
	int code = 0;

	if (json_array_size(list) != n)
		return err_set(t->e, -ERR_BAD_DATA, "%s: %zu numbers, the model has %zu", path, json_array_size(list), n);
	for (size_t i = 0; !code && i < n; i++)
		code = import_number(t, path, json_array_get(list, i), first + i);
	return code;
}

/* Nested lists in the group's shape; *at counts the entries. */
static int import_nested(const struct target *t, const struct weight_group *g, const json_t *v,
	uint32_t depth, uint32_t *at)
{
	int code = 0;

	if (depth == g->ndim)
		return import_number(t, g->path, v, (size_t)g->first + (*at)++);
	if (!json_is_array(v) || json_array_size(v) != g->dim[depth])
		return err_set(t->e, -ERR_BAD_DATA, "%s: %zu entries at depth %u, the model's shape has %u there",
			g->path, json_array_size(v), depth, g->dim[depth]);
	for (size_t i = 0; !code && i < json_array_size(v); i++)
		code = import_nested(t, g, json_array_get(v, i), depth + 1, at);
	return code;
}

static int import_shaped(const struct target *t, const struct weight_group *g, const json_t *v)
{
	const json_t *shape = json_object_get(v, "shape");
	uint64_t dim[PROGRAM_DIMS_MAX];
	uint32_t ndim = (uint32_t)json_array_size(shape);

	if (!json_is_array(shape) || ndim > PROGRAM_DIMS_MAX || !json_is_array(json_object_get(v, "values")))
		return err_set(t->e, -ERR_BAD_DATA, "%s: not an object of shape and values", g->path);
	for (uint32_t k = 0; k < ndim; k++)
		dim[k] = (uint64_t)json_integer_value(json_array_get(shape, k));
	int code = check_shape(t, g, dim, ndim);
	return code ? code : import_flat(t, g->path, json_object_get(v, "values"), g->first, g->count);
}

static int import_value(const struct target *t, const struct weight_group *g, const json_t *v)
{
	uint32_t at = 0;

	if (!v)
		return missing_path(t, g->path);
	return json_is_object(v) ? import_shaped(t, g, v) : import_nested(t, g, v, 0, &at);
}

static int import_tree(const struct target *t, json_t *root)
{
	const struct program *p = t->program;
	json_t *params = json_object_get(root, "params"), *value;
	const char *key;
	int code = 0;

	if (json_is_array(root))
		return import_flat(t, "the list", root, 0, wanted(t));
	if (json_is_object(params) && !group_of(p, "params"))
		root = params;
	if (!json_is_object(root))
		return err_set(t->e, -ERR_BAD_DATA, "neither a list of numbers nor an object of paths");
	json_object_foreach(root, key, value)
		if (!group_of(p, key))
			return unknown_path(t, key);
	for (uint32_t i = 0; !code && i < p->nweight_group; i++)
		if (is_wanted(t, &p->weight_group[i]))
			code = import_value(t, &p->weight_group[i], json_object_get(root, p->weight_group[i].path));
	return code;
}

static int import_json(const struct target *t, const char *path)
{
	buf_auto text = BUF_INIT;
	int code = buf_read_file(&text, path, JSON_BYTES_MAX, t->e);

	if (!code) {
		json_auto_t *root = json_read(text.data, text.len, t->e);
		code = root ? import_tree(t, root) : -ERR_BAD_DATA;
		if (code)
			err_prefix(t->e, "%s", path);
	}
	return code;
}

int weights_import(const struct program *p, const char *path, bool circuit_only, double *weight, struct err *e)
{
	struct target t = { p, circuit_only, NULL, e };
	size_t n = wanted(&t);
	int code;

	t.weight = mem_try(n ? n : 1, sizeof *weight);
	if (!t.weight)
		return err_set(e, -ERR_CONFIG, "no memory for %zu weights", n);
	if (path_ends(path, ".json"))
		code = import_json(&t, path);
	else if (path_ends(path, ".npz"))
		code = import_npz(&t, path);
	else if (path_ends(path, ".h5") || path_ends(path, ".hdf5"))
		code = keras_import(p, path, circuit_only, t.weight, e);
	else
		code = import_bin(&t, path);
	if (!code)
		memcpy(weight, t.weight, n * sizeof *weight);
	free(t.weight);
	return code;
}

/* ---- out ---- */

static int export_npz(const struct program *p, const double *weight, const char *path, struct err *e)
{
	struct npz z = arrays_of(p, weight);
	int code = npz_write(path, &z, e);

	free(z.member);
	return code;
}

static void nested(const struct weight_group *g, const double *weight, uint32_t depth, uint32_t *at, struct buf *out)
{
	if (depth == g->ndim) {
		buf_json(out, depth ? ", %g" : "%g", weight[g->first + (*at)++]);
		return;
	}
	buf_json(out, depth ? ", [" : "[");
	for (uint32_t i = 0; i < g->dim[depth]; i++)
		nested(g, weight, depth + 1, at, out);
	buf_char(out, ']');
}

static int export_json(const struct program *p, const double *weight, const char *path, struct err *e)
{
	buf_auto out = BUF_INIT;

	buf_str(&out, "{\n");
	for (uint32_t g = 0; g < p->nweight_group; g++) {
		uint32_t at = 0;

		buf_json(&out, "  %s: ", p->weight_group[g].path);
		nested(&p->weight_group[g], weight, 0, &at, &out);
		buf_str(&out, g + 1 < p->nweight_group ? ",\n" : "\n");
	}
	buf_str(&out, "}\n");
	return buf_write_file(&out, path, 0, e);
}

int weights_export(const struct program *p, const double *weight, const char *path, struct err *e)
{
	if (path_ends(path, ".npz"))
		return export_npz(p, weight, path, e);
	if (path_ends(path, ".json"))
		return export_json(p, weight, path, e);
	if (path_ends(path, ".h5") || path_ends(path, ".hdf5"))
		return keras_export(p, weight, path, e);
	return err_set(e, -ERR_USAGE, "%s: weights are exported to .npz, .json or .h5", path);
}

void weights_to_json(const struct program *p, const double *weight, struct buf *out)
{
	buf_char(out, '{');
	for (uint32_t g = 0; g < p->nweight_group; g++) {
		const struct weight_group *w = &p->weight_group[g];

		buf_json(out, ", %s: {\"shape\": ", w->path);
		shape_print(w->ndim, w->dim, out);
		buf_str(out, ", \"values\": [");
		for (uint32_t i = 0; i < w->count; i++)
			buf_json(out, ", %g", weight[w->first + i]);
		buf_str(out, "]}");
	}
	buf_char(out, '}');
}
