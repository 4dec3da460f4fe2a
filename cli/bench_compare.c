/* SPDX-License-Identifier: Apache-2.0
 * Comparing results with those of an earlier run. */
#include "config.h"
#include "cli/bench.h"

#include <string.h>

#include "runtime/base/json.h"

/* Slower by less than this, and by what either run varied, is noise. */
static const double NOISE_LEAST = 0.05;

static bool same_text(const json_t *old, const char *key, const char *text)
{
	const char *value = json_string_value(json_object_get(old, key));

	return value && !strcmp(value, text);
}

static bool same_count(const json_t *old, const char *key, uint64_t n)
{
	return json_is_integer(json_object_get(old, key)) && json_integer_value(json_object_get(old, key)) == (json_int_t)n;
}

/* Older files have none. */
static bool same_workers(const json_t *old, uint64_t n)
{
	return (uint64_t)json_integer_value(json_object_get(old, "workers")) == n;
}

/* The same work, done by the same means. */
static bool same_case(const json_t *old, const struct bench_result *r)
{
	return same_text(old, "circuit", r->circuit) && same_count(old, "qubits", r->qubits)
		&& same_count(old, "layers", r->layers) && same_count(old, "gates", r->gates) && same_count(old, "batch", r->batch)
		&& same_count(old, "threads", r->threads) && same_workers(old, r->workers) && json_is_true(json_object_get(old, "gradient")) == r->gradient
		&& same_text(old, "precision", r->precision) && same_text(old, "device", r->device)
		&& same_text(old, "isa", r->isa) && (!*r->shortcuts) == same_text(old, "shortcuts", "");
}

static const json_t *find(const json_t *results, const struct bench_result *r)
{
	for (size_t k = 0; k < json_array_size(results); k++)
		if (same_case(json_array_get(results, k), r))
			return json_array_get(results, k);
	return NULL;
}

static bool compare_one(const json_t *old, const struct bench_result *r, struct buf *out)
{
	const json_t *seconds = json_object_get(old, "seconds");
	double min = json_number_value(json_object_get(seconds, "min"));
	double median = json_number_value(json_object_get(seconds, "median"));
	double noise = NOISE_LEAST, ratio;
	char before[BENCH_TEXT_MAX], after[BENCH_TEXT_MAX];
	bool slower;

	if (!(min > 0) || !(median >= min))
		return false;
	noise += (median - min) / median + (r->median - r->min) / r->median;
	ratio = r->median / median;
	slower = ratio > 1 + noise && r->min > min * (1 + noise);
	bench_seconds_text(median, before);
	bench_seconds_text(r->median, after);
	buf_printf(out, "%s: %.40s on %llu qubits, batch %llu, %llu threads%s: %s, was %s (%+.1f %%, noise %.1f %%)\n",
		slower ? "slower" : ratio < 1 - noise ? "faster" : "same", r->circuit, (unsigned long long)r->qubits,
		(unsigned long long)r->batch, (unsigned long long)r->threads, r->gradient ? ", gradient" : "", after, before,
		100 * (ratio - 1), 100 * noise);
	return slower;
}

static int compare_all(const struct bench_report *r, const json_t *root, struct buf *out, unsigned *slower, struct err *e)
{
	const json_t *results = json_object_get(root, "results"), *old;
	unsigned matched = 0;

	if (!same_count(root, "schema", 1) || !json_is_array(results))
		return err_set(e, -ERR_BAD_DATA, "this is no output of `qcnn bench --json`");
	for (unsigned k = 0; k < r->n; k++) {
		old = find(results, &r->result[k]);
		matched += old != NULL;
		*slower += old && compare_one(old, &r->result[k], out);
	}
	return matched ? 0 : err_set(e, -ERR_BAD_DATA, "it has none of these cases, so that nothing can be compared");
}

int bench_compare(const struct bench_report *r, const char *path, struct buf *out, unsigned *slower, struct err *e)
{
	struct buf text = BUF_INIT;
	json_t *root = NULL;
	int code = buf_read_file(&text, path, JSON_BYTES_MAX, e);

	*slower = 0;
	if (code)
		return code;
	root = json_read(text.data, text.len, e);
	code = root ? compare_all(r, root, out, slower, e) : -ERR_BAD_DATA;
	if (code)
		err_prefix(e, "%s", path);
	json_decref(root);
	buf_release(&text);
	return code;
}
