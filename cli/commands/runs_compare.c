/* SPDX-License-Identifier: Apache-2.0
 * Results, configurations and curves of several runs, set beside each other. */
#include "cli/commands/runs_compare.h"

#include <math.h>
#include <string.h>

#include "cli/job/run_config.h"
#include "cli/job/run_metrics.h"
#include "cli/output/table.h"
#include "runtime/base/arena.h"
#include "runtime/base/crypto/crypto.h"
#include "runtime/base/order.h"
#include "runtime/base/source.h"
#include "runtime/base/system/folder.h"

int by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	int order = isnan(x->value) - isnan(y->value);

	if (!order)
		order = ORDER(x->value, y->value);
	return order ? order : ORDER(x->at, y->at);
}

/* The tree of one more run, flat, to the array `flat`; keys: of all of them, in the order of their first appearance. */
static void add_flat(const json_t *tree, json_t *flat, json_t *keys)
{
	json_t *one = json_object();

	json_flatten(tree, "", one);
	json_object_update_missing(keys, one);
	json_array_append_new(flat, one);
}

/* Of the value, or in the arena. */
static const char *value_text(const json_t *v, struct arena *a)
{
	buf_auto text = BUF_INIT;

	if (!v || json_is_string(v))
		return v ? json_string_value(v) : "-";
	json_write(v, &text);
	return arena_strdup(a, text.data);
}

/* A row, if the values differ. */
static void add_different(struct table *t, const char *key, const char *const *text, size_t n)
{
	bool differ = false;

	for (size_t i = 1; i < n; i++)
		differ |= strcmp(text[i], text[0]) != 0;
	for (size_t i = 0; differ && i <= n; i++)
		table_add(t, i ? text[i - 1] : key);
}

void runs_model_digest(const struct run_folder *r, char hex[SHA256_HEX + 1])
{
	buf_auto text = BUF_INIT;
	uint8_t digest[SHA256_BYTES];

	strcpy(hex, "-");
	if (folder_read_in(&text, r->path, "model.qcnn", SOURCE_BYTES_MAX, NULL))
		return;
	sha256_of(text.data ? text.data : "", text.len, digest);
	sha256_hex(digest, hex);
}

static void compare_models(const struct run_list *l, struct table *t)
{
	const char *text[RUNS_COMPARED_MAX];
	char hex[SHA256_HEX + 1];
	arena_auto a = { 0 };

	for (size_t i = 0; i < l->n; i++) {
		runs_model_digest(&l->run[i], hex);
		text[i] = arena_printf(&a, "%.*s", MODEL_DIGEST_SHOWN, hex);
	}
	add_different(t, "model", text, l->n);
	for (size_t i = 0; i < l->n; i++)
		text[i] = value_text(json_object_get(l->run[i].record, "weights"), &a);
	add_different(t, "weights", text, l->n);
}

/* A row for each key whose values differ. */
static void compare_configs(const struct run_list *l, struct table *t)
{
	json_auto_t *flat = json_array();
	json_auto_t *keys = json_object();
	const char *text[RUNS_COMPARED_MAX], *key;
	arena_auto a = { 0 };
	json_t *first;

	for (size_t i = 0; i < l->n; i++) {
		json_auto_t *config = run_config(&l->run[i], &(struct config_resolved){ NULL });

		add_flat(config, flat, keys);
	}
	json_object_foreach(keys, key, first) {
		for (size_t i = 0; i < l->n; i++)
			text[i] = value_text(json_object_get(json_array_get(flat, i), key), &a);
		add_different(t, key, text, l->n);
	}
}

/* ---- results ---- */

/* A number of the metrics: NaN where a run has none; best: the runs whose value is the best of different ones. */
struct row { const char *key; double v[RUNS_COMPARED_MAX]; bool best[RUNS_COMPARED_MAX]; };

static void find_best(struct row *r, size_t n)
{
	int rise = run_metrics_rise(r->key);
	double best = NAN, worst = NAN;

	for (size_t i = 0; i < n; i++) {
		double v = rise ? r->v[i] : -r->v[i];

		best = fmax(best, v);
		worst = fmin(worst, v);
	}
	for (size_t i = 0; i < n; i++)
		r->best[i] = rise >= 0 && best > worst && (rise ? r->v[i] : -r->v[i]) == best;
}

/* A row for each number that the metrics of any of the runs have, in the arena; their number. */
static size_t find_rows(const struct run_list *l, struct arena *a, struct row **out)
{
	json_auto_t *flat = json_array();
	json_auto_t *keys = json_object();
	const char *key;
	json_t *first;
	size_t n = 0;

	*out = NULL;
	for (size_t i = 0; i < l->n; i++)
		add_flat(json_object_get(l->run[i].record, "metrics"), flat, keys);
	json_object_foreach(keys, key, first) {
		struct row r = { .key = arena_strdup(a, key) };
		bool any = false;

		for (size_t i = 0; i < l->n; i++) {
			const json_t *number = json_object_get(json_array_get(flat, i), key);
			any |= json_is_number(number);
			r.v[i] = json_is_number(number) ? json_number_value(number) : NAN;
		}
		find_best(&r, l->n);
		if (any)
			*arena_push(a, *out, n) = r;
	}
	return n;
}

json_t *runs_compare_best(const struct run_list *l)
{
	json_t *all = json_object();
	arena_auto a = { 0 };
	struct row *row;
	size_t n = find_rows(l, &a, &row);

	for (size_t k = 0; k < n; k++) {
		json_auto_t *paths = json_array();
		for (size_t i = 0; i < l->n; i++)
			if (row[k].best[i])
				json_array_append_new(paths, json_string(l->run[i].path));
		if (json_array_size(paths))
			json_object_set(all, row[k].key, paths);
	}
	return all;
}

/* The heading of a run: its name, or its path where another run has the same name. */
static const char *title_of(const struct run_list *l, size_t at)
{
	for (size_t i = 0; i < l->n; i++)
		if (i != at && !strcmp(l->run[i].name, l->run[at].name))
			return l->run[at].path;
	return l->run[at].name;
}

int runs_compare_text(struct cli *c, const struct run_list *l)
{
	struct table t = { .ncolumn = (unsigned)l->n + 1 };
	arena_auto a = { 0 };
	struct row *row;
	size_t n = find_rows(l, &a, &row);
	bool marked = false;

	table_add(&t, "");
	for (size_t i = 0; i < l->n; i++)
		table_add(&t, title_of(l, i));
	for (size_t k = 0; k < n; k++) {
		table_add(&t, row[k].key);
		for (size_t i = 0; i < l->n; i++) {
			/* A star after the best value. */
			table_add_number(&t, row[k].v[i], row[k].best[i] ? "%.6g *" : "%.6g");
			marked |= row[k].best[i];
		}
	}
	table_add(&t, "seconds");
	for (size_t i = 0; i < l->n; i++)
		table_add_number(&t, run_number(&l->run[i], NULL, "seconds"), "%.3g");
	compare_models(l, &t);
	compare_configs(l, &t);
	table_print(&t, &c->out);
	if (marked)
		buf_str(&c->out, "* best value of the row\n");
	return 0;
}

/* ---- curves ---- */

/* They need not lie together: further epochs of an extended run follow those of all restarts. */
const double *runs_best_values(struct arena *a, const struct run_folder *r, const struct history *h,
	const char *column, size_t *n)
{
	double best = run_number(r, "metrics", "start");
	const double *start = history_column(h, "start"), *v = history_column(h, column);
	double *out = arena_alloc(a, h->nrow, sizeof *out);

	*n = 0;
	for (size_t i = 0; start && v && i < h->nrow; i++)
		if (start[i] == (isnan(best) ? start[0] : best))
			out[(*n)++] = v[i];
	return out;
}

/* Training drawn through, validation dashed. */
static unsigned add_curves(const struct run_list *l, size_t at, const struct history *h,
	const char *metric, struct arena *a, struct svg_series *s)
{
	const struct run_folder *r = &l->run[at];
	const char *column[] = { metric, arena_printf(a, "val_%s", metric) };
	unsigned k = 0;
	size_t n;
	const double *epoch = runs_best_values(a, r, h, "epoch", &n);

	for (unsigned part = 0; part < 2; part++) {
		const double *value = runs_best_values(a, r, h, column[part], &n);
		if (!n)
			continue;
		s[k] = (struct svg_series){ .name = k ? NULL : title_of(l, at),
			.x = epoch,
			.y = value,
			.n = n,
			.colour = (unsigned)at,
			.dashed = part == 1 };
		k++;
	}
	return k;
}

int runs_compare_svg(struct cli *c, const struct run_list *l)
{
	static const struct svg_size size = { 720, 440, true };
	const char *metric = c->options.value[OPT_RUNS_METRIC];
	struct svg_series s[2 * RUNS_COMPARED_MAX];
	buf_auto out = BUF_INIT, title = BUF_INIT;
	arena_auto a = { 0 };
	unsigned n = 0;
	struct err e;

	for (size_t i = 0; i < l->n; i++) {
		struct history h = { 0 };
		int code = history_read(l->run[i].path, &h, &e);

		if (!code)
			n += add_curves(l, i, &h, metric, &a, s + n);
		history_release(&h);
		if (code)
			return cli_fail(c, &e);
	}
	if (!n)
		return cli_usage(c, "none of the runs has `%s`", metric);
	buf_printf(&title, "%s: training, and dashed validation", metric);
	svg_plot(&(struct svg_plot){ .title = title.data,
			 .x_label = "epoch",
			 .y_label = metric,
			 .series = s,
			 .nseries = n,
			 .whole_x = true,
			 .may_log_y = run_metrics_rise(metric) == 0,
			 .hover = true },
		&size, &out);
	return cli_write(c, &out, c->options.value[OPT_SVG]);
}
