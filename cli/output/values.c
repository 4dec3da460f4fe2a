/* SPDX-License-Identifier: Apache-2.0
 * Arrays of results in three formats. */
#include "cli/output/values.h"

#include <stdlib.h>

#include "runtime/base/arena.h"

enum { VALUES_BYTES_MAX_LOG2 = 34 };

int values_new(struct values *v, const char *name, unsigned ndim, const uint64_t *dim, bool is_complex, struct err *e)
{
	struct array a = { .ndim = ndim, .is_complex = is_complex, .count = 1 };
	uint64_t limit = (uint64_t)1 << (VALUES_BYTES_MAX_LOG2 - 4);

	for (unsigned k = 0; k < ndim; k++) {
		a.dim[k] = dim[k];
		if (dim[k] && a.count > limit / dim[k])
			return err_set(e, -ERR_CONFIG, "%s: the result is larger than 16 GiB", name);
		a.count *= dim[k];
	}
	a.value = mem_try(a.count + 1, (is_complex ? 2 : 1) * sizeof *a.value);
	if (!a.value)
		return err_set(e, -ERR_CONFIG, "%s: no memory for %llu numbers", name, (unsigned long long)a.count);
	*v = (struct values){ .name = name, .array = a };
	return 0;
}

void values_release(struct values *v)
{
	free(v->array.value);
	v->array.value = NULL;
}

/* ---- JSON ---- */

/* One nesting level; *at counts entries, part 0 or 1 of `stride` numbers each. */
static void nested(const struct array *a, unsigned depth, uint64_t *at, unsigned part, struct buf *out)
{
	if (depth == a->ndim) {
		buf_json_f64(out, a->value[(*at)++ * (a->is_complex ? 2 : 1) + part]);
		return;
	}
	buf_char(out, '[');
	for (uint64_t i = 0; i < a->dim[depth]; i++) {
		if (i)
			buf_str(out, ", ");
		nested(a, depth + 1, at, part, out);
	}
	buf_char(out, ']');
}

static void array_json(const struct array *a, struct buf *out)
{
	uint64_t at = 0;

	if (!a->is_complex) {
		nested(a, 0, &at, 0, out);
		return;
	}
	buf_str(out, "{\"re\": ");
	nested(a, 0, &at, 0, out);
	at = 0;
	buf_str(out, ", \"im\": ");
	nested(a, 0, &at, 1, out);
	buf_char(out, '}');
}

void values_json(const struct values *v, unsigned n, struct buf *out)
{
	buf_str(out, "{\"schema\": 1");
	for (unsigned i = 0; i < n; i++) {
		buf_json(out, ", %s: ", v[i].name);
		array_json(&v[i].array, out);
	}
	buf_str(out, "}\n");
}

void values_npy(const struct values *v, struct buf *out) { npy_format(&v->array, out); }

/* ---- CSV ---- */

void weight_path(const struct program *p, uint32_t k, struct buf *out)
{
	uint32_t g = program_weight_group(p, k), at, size;

	buf_str(out, p->weight_group[g].path);
	at = k - p->weight_group[g].first;
	size = p->weight_group[g].count;
	for (uint32_t i = 0; i < p->weight_group[g].ndim; i++) {
		size /= p->weight_group[g].dim[i];
		buf_printf(out, "%c%u", i ? ',' : '[', at / size);
		at %= size;
	}
	if (p->weight_group[g].ndim)
		buf_char(out, ']');
}

static void csv_column(const struct values *v, uint64_t k, struct buf *out)
{
	if (!v->paths) {
		buf_printf(out, "%s[%llu]", v->column, (unsigned long long)k);
		return;
	}
	buf_char(out, '"');
	weight_path(v->paths, (uint32_t)k, out);
	buf_char(out, '"');
}

static void csv_header(const struct values *v, unsigned nindex, uint64_t ncolumn, struct buf *out)
{
	for (unsigned i = 0; i < nindex; i++)
		buf_printf(out, "%s%s", i ? "," : "", v->index[i]);
	if (v->column || v->paths)
		for (uint64_t k = 0; k < ncolumn; k++) {
			buf_char(out, ',');
			csv_column(v, k, out);
		}
	else
		buf_str(out, v->array.is_complex ? ",re,im" : ",value");
	buf_char(out, '\n');
}

/* A row per combination of the leading indices; the last dimension across, or down. */
void values_csv(const struct values *v, struct buf *out)
{
	const struct array *a = &v->array;
	bool across = v->column || v->paths;
	unsigned nindex = across ? a->ndim - 1 : a->ndim, each = a->is_complex ? 2 : 1;
	uint64_t ncolumn = across ? a->dim[a->ndim - 1] : 1, nrow = ncolumn ? a->count / ncolumn : 0;

	csv_header(v, nindex, ncolumn, out);
	for (uint64_t r = 0; r < nrow; r++) {
		uint64_t size = nrow, rest = r;

		for (unsigned i = 0; i < nindex; i++) {
			size /= a->dim[i];
			buf_printf(out, "%s%llu", i ? "," : "", (unsigned long long)(rest / size));
			rest %= size;
		}
		for (uint64_t k = 0; k < ncolumn * each; k++) {
			buf_char(out, ',');
			buf_real(out, a->value[r * ncolumn * each + k]);
		}
		buf_char(out, '\n');
	}
}

void duration_print(double seconds, struct buf *out)
{
	if (seconds < 1)
		buf_printf(out, "%.3g ms", 1e3 * seconds);
	else if (seconds < 600)
		buf_printf(out, "%.3g s", seconds);
	else if (seconds < 36000)
		buf_printf(out, "%.0f min", seconds / 60);
	else
		buf_printf(out, "%.3g h", seconds / 3600);
}
