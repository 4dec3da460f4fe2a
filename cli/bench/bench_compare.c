/* SPDX-License-Identifier: Apache-2.0
 * Comparing results with those of an earlier run. */
#include "cli/bench/bench.h"

#include <string.h>

#include "cli/config/aliases.h"
#include "runtime/base/json.h"
#include "runtime/base/system/cpus.h"

/* Slower by less than this, and by what either run varied, is noise. */
static const double NOISE_LEAST = 0.05;

static const char *text_of(const json_t *old, const char *key)
{
	const char *text = json_string_value(json_object_get(old, key));

	return text ? text : "";
}

/* The former name of the field, which results of older versions have. */
static const char former_field[] = "shortcuts";

/* A result of an older version has the former names. */
static bool same_optimisations(const json_t *old, const char *now)
{
	static const char tail[] = "heisenberg_tail";
	const char *text = text_of(old, "optimizations"), *before = former_name(FORMER_VALUE, tail);
	const char *at = strstr(now, tail), *then;

	if (*text || !at)
		return !strcmp(*text ? text : text_of(old, former_field), now);
	text = text_of(old, former_field);
	then = strstr(text, before);
	return then && then - text == at - now && !strncmp(text, now, (size_t)(at - now))
		&& !strcmp(then + strlen(before), at + strlen(tail));
}

static uint64_t count_of(const json_t *old, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(old, key));
}

/* What tells its case from others. Older files have no workers and no methods. */
static struct bench_result case_of(const json_t *old)
{
	return (struct bench_result){ .circuit = text_of(old, "circuit"),
		.qubits = count_of(old, "qubits"),
		.layers = count_of(old, "layers"),
		.batch = count_of(old, "batch"),
		.threads = count_of(old, "threads"),
		.workers = count_of(old, "workers"),
		.gates = count_of(old, "gates"),
		.seed = count_of(old, "seed"),
		.gradient = json_is_true(json_object_get(old, "gradient")),
		.method = *text_of(old, "method") ? text_of(old, "method")
						  : method_name(METHOD_STATEVECTOR),
		.precision = text_of(old, "precision"),
		.isa = text_of(old, "isa"),
		.device = text_of(old, "device"),
		.start = text_of(old, "start"),
		.optimisations = text_of(old,
			*text_of(old, "optimizations") ? "optimizations" : former_field) };
}

/* The same work, done by the same means. Older files have no seed. */
static bool same_case(const json_t *old, const struct bench_result *r)
{
	const struct bench_result o = case_of(old);

	return !strcmp(o.circuit, r->circuit) && o.qubits == r->qubits && o.layers == r->layers
		&& o.gates == r->gates && o.batch == r->batch && o.threads == r->threads
		&& o.workers == r->workers && o.gradient == r->gradient
		&& !strcmp(o.method, r->method) && !strcmp(o.precision, r->precision)
		&& !strcmp(o.device, r->device) && !strcmp(o.isa, r->isa)
		&& same_optimisations(old, r->optimisations)
		&& (!json_object_get(old, "seed") || o.seed == r->seed);
}

static const json_t *find(const json_t *results, const struct bench_result *r)
{
	for (size_t k = 0; k < json_array_size(results); k++)
		if (same_case(json_array_get(results, k), r))
			return json_array_get(results, k);
	return NULL;
}

/* -ERR_BAD_DATA where the file's times are none; *slower_count is counted up. */
static int compare_one(const json_t *old, const struct bench_result *r, struct buf *out, unsigned *slower_count, struct err *e)
{
	const json_t *seconds = json_object_get(old, "seconds");
	double min = json_number_value(json_object_get(seconds, "min"));
	double median = json_number_value(json_object_get(seconds, "median"));
	double noise = NOISE_LEAST, ratio;
	char before[BENCH_TEXT_MAX], after[BENCH_TEXT_MAX];
	bool slower, was_reliable = !json_is_false(json_object_get(old, "reliable"));   /* older files do not say */

	if (!(min > 0) || !(median >= min))
		return err_set(e, -ERR_BAD_DATA, "it has no times of %s on %llu qubits", r->circuit, (unsigned long long)r->qubits);
	noise += (median - min) / median + (r->median - r->min) / r->median;
	ratio = r->median / median;
	slower = ratio > 1 + noise && r->min > min * (1 + noise);
	bench_seconds_text(median, before);
	bench_seconds_text(r->median, after);
	buf_printf(out, "%s%s: ", slower ? "slower" : ratio < 1 - noise ? "faster" : "same",
		!r->reliable ? ", but not reliable, as the machine is busy"
			: !was_reliable ? ", but not reliable, as the machine was busy then" : "");
	bench_case_text(r, out);
	buf_printf(out, ": %s, was %s (%+.1f %%, noise %.1f %%)\n", after, before, 100 * (ratio - 1), 100 * noise);
	*slower_count += slower;
	return 0;
}

/* What a case is, and by what it was done. */
static void put_case(const struct bench_result *r, struct buf *out)
{
	bench_case_text(r, out);
	buf_printf(out, ", %llu gates, seed %llu, %s, %s%s%s", (unsigned long long)r->gates,
		(unsigned long long)r->seed, r->precision, strcmp(r->isa, "none") ? r->isa : r->device,
		*r->optimisations ? ", with " : "", r->optimisations);
}

/* The file has nothing that was measured here: the first case of each side tells in what they differ. */
static int none_alike(const struct bench_report *r, const json_t *results, struct err *e)
{
	const struct bench_result old = case_of(json_array_get(results, 0));
	buf_auto mine = BUF_INIT, theirs = BUF_INIT;

	put_case(r->result, &mine);
	put_case(&old, &theirs);
	return err_set(e, -ERR_BAD_DATA,
		"it has none of the measured cases, so that nothing "
		"can be compared: measured %s; the file has %s",
		mine.data, json_array_size(results) ? theirs.data : "none");
}

/* Results of a file of --json, borrowed from *root, which was NULL; or NULL. */
static const json_t *open_results(const char *path, json_t **root, struct err *e)
{
	buf_auto text = BUF_INIT;
	const json_t *results = NULL;

	if (buf_read_file(&text, path, JSON_BYTES_MAX, e))
		return NULL;
	*root = json_read(text.data, text.len, e);
	results = json_object_get(*root, "results");
	if (*root && (count_of(*root, "schema") != 1 || !json_is_array(results))) {
		err_set(e, -ERR_BAD_DATA, "this is no output of `qcnn bench --json` of this version");
		results = NULL;
	}
	if (!results)
		err_prefix(e, "%s", path);
	return results;
}

int bench_compare_check(const char *path, struct err *e)
{
	json_auto_t *root = NULL;

	return open_results(path, &root, e) ? 0 : e->code;
}

int bench_compare(const struct bench_report *r, const char *path, struct buf *out, unsigned *slower, struct err *e)
{
	json_auto_t *root = NULL;
	unsigned matched = 0;
	int code = 0;

	*slower = 0;
	const json_t *results = open_results(path, &root, e);
	if (!results)
		return e->code;
	/* Times of other processors say nothing about this program. */
	const char *processor = text_of(json_object_get(root, "machine"), "processor");

	if (*processor && strcmp(processor, cpus_model()))
		buf_printf(out, "%s was measured on another processor: %s, this is %s\n", path,
			processor, cpus_model());
	for (unsigned k = 0; !code && k < r->n; k++) {
		const json_t *old = find(results, &r->result[k]);
		matched += old != NULL;
		if (old) {
			code = compare_one(old, &r->result[k], out, slower, e);
		} else {
			buf_str(out, "new: ");
			put_case(&r->result[k], out);
			buf_printf(out, ": not in %s\n", path);
		}
	}
	if (!code && !matched)
		code = none_alike(r, results, e);
	if (code)
		err_prefix(e, "%s", path);
	return code;
}
