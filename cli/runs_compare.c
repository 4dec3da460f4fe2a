/* SPDX-License-Identifier: Apache-2.0
 * Results, configurations and curves of several runs, set beside each other. */
#include "config.h"
#include "cli/runs_compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/configuration.h"
#include "cli/table.h"

/* The configuration of a run as a tree of its results' keys, or NULL. */
static json_t *config_of(const struct run_folder *r)
{
	struct source_set *sources = source_set_new();
	struct diags *d = diags_new(sources);
	struct buf path = BUF_INIT;
	struct config *config;
	json_t *v = NULL;
	struct err e;

	buf_printf(&path, "%s/config.yaml", r->path);
	config = config_open(path.data, NULL, 0, d, &e);
	if (config && !diags_errors(d))
		v = config_json(config, SCOPE_RESULT, NULL, NULL);
	config_free(config);
	diags_free(d);
	source_set_free(sources);
	buf_release(&path);
	return v;
}

/* Add the values of a tree to `flat`, each under the names on its path joined by dots. */
static void flatten(const json_t *v, const char *prefix, json_t *flat)
{
	const char *key;
	json_t *member;

	json_object_foreach((json_t *)v, key, member) {
		struct buf path = BUF_INIT;

		buf_printf(&path, "%s%s%s", prefix, *prefix ? "." : "", key);
		if (json_is_object(member))
			flatten(member, path.data, flat);
		else
			json_object_set(flat, path.data, member);
		buf_release(&path);
	}
}

/* The flat trees of all runs: flat[i] for run i. Returns the keys of all of them, in the order of their first appearance. */
static json_t *flatten_all(json_t *const *tree, size_t n, json_t **flat)
{
	json_t *keys = json_object();

	for (size_t i = 0; i < n; i++) {
		flat[i] = json_object();
		flatten(tree[i], "", flat[i]);
		json_object_update_missing(keys, flat[i]);
	}
	return keys;
}

static void value_text(const json_t *v, struct buf *out)
{
	buf_clear(out);
	if (json_is_string(v))
		buf_str(out, json_string_value(v));
	else if (v)
		json_write(v, out);
	else
		buf_str(out, "-");
}

/* A row for each key whose values differ. */
static void compare_configs(const struct run_list *l, struct table *t)
{
	json_t *config[RUNS_COMPARED_MAX], *flat[RUNS_COMPARED_MAX], *keys, *first;
	struct buf text[RUNS_COMPARED_MAX] = { BUF_INIT };
	const char *key;

	for (size_t i = 0; i < l->n; i++)
		config[i] = config_of(&l->run[i]);
	keys = flatten_all(config, l->n, flat);
	json_object_foreach(keys, key, first) {
		bool differ = false;

		for (size_t i = 0; i < l->n; i++) {
			value_text(json_object_get(flat[i], key), &text[i]);
			differ |= strcmp(text[i].data, text[0].data) != 0;
		}
		for (size_t i = 0; differ && i <= l->n; i++)
			table_add(t, i ? text[i - 1].data : key);
	}
	for (size_t i = 0; i < l->n; i++) {
		json_decref(config[i]);
		json_decref(flat[i]);
		buf_release(&text[i]);
	}
	json_decref(keys);
}

/* A row for each number of the metrics that any of the runs has. */
static void compare_metrics(const struct run_list *l, struct table *t)
{
	json_t *metrics[RUNS_COMPARED_MAX], *flat[RUNS_COMPARED_MAX], *keys, *first;
	const char *key;

	for (size_t i = 0; i < l->n; i++)
		metrics[i] = json_object_get(l->run[i].record, "metrics");
	keys = flatten_all(metrics, l->n, flat);
	json_object_foreach(keys, key, first) {
		double v[RUNS_COMPARED_MAX];
		bool any = false;

		for (size_t i = 0; i < l->n; i++) {
			const json_t *number = json_object_get(flat[i], key);

			any |= json_is_number(number);
			v[i] = json_is_number(number) ? json_number_value(number) : NAN;
		}
		if (any)
			table_add(t, key);
		for (size_t i = 0; any && i < l->n; i++)
			table_add_number(t, v[i], "%.6g");
	}
	for (size_t i = 0; i < l->n; i++)
		json_decref(flat[i]);
	json_decref(keys);
	table_add(t, "seconds");
	for (size_t i = 0; i < l->n; i++)
		table_add_number(t, run_number(&l->run[i], NULL, "seconds"), "%.3g");
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

	table_add(&t, "");
	for (size_t i = 0; i < l->n; i++)
		table_add(&t, title_of(l, i));
	compare_metrics(l, &t);
	compare_configs(l, &t);
	table_print(&t, &c->out);
	table_release(&t);
	return 0;
}

/* The best start's rows: with one start, all. */
static size_t rows_of(const struct run_folder *r, const struct history *h, size_t *first)
{
	double best = run_number(r, "metrics", "start");
	const double *start = history_column(h, "start");
	size_t n = 0;

	*first = 0;
	for (size_t i = 0; start && i < h->nrow; i++)
		if (start[i] == (isnan(best) ? start[0] : best)) {
			*first = n ? *first : i;
			n++;
		}
	return n;
}

static int read_histories(struct cli *c, const struct run_list *l, struct history *h)
{
	struct buf path = BUF_INIT;
	struct err e;
	int status = 0;

	for (size_t i = 0; !status && i < l->n; i++) {
		buf_clear(&path);
		buf_printf(&path, "%s/metrics.jsonl", l->run[i].path);
		if (history_read(path.data, &h[i], &e))
			status = cli_fail(c, &e);
	}
	buf_release(&path);
	return status;
}

/* Training drawn through, validation dashed. */
static unsigned add_curves(const struct run_list *l, size_t at, const struct history *h, const char *metric, struct svg_series *s)
{
	const struct run_folder *r = &l->run[at];
	const char *title = title_of(l, at);
	const double *epoch = history_column(h, "epoch"), *v;
	size_t first, n = rows_of(r, h, &first);
	char other[128];
	unsigned k = 0;

	snprintf(other, sizeof other, "val_%s", metric);
	if (n && epoch && (v = history_column(h, metric)))
		s[k++] = (struct svg_series){ .name = title, .x = epoch + first, .y = v + first, .n = n, .colour = (unsigned)at };
	if (n && epoch && (v = history_column(h, other))) {
		s[k] = (struct svg_series){ .name = k ? NULL : title, .x = epoch + first, .y = v + first, .n = n, .colour = (unsigned)at,
			.dashed = true };
		k++;
	}
	return k;
}

int runs_compare_svg(struct cli *c, const struct run_list *l)
{
	static const struct svg_size size = { 720, 440, true };
	const char *metric = c->options.value[OPT_RUNS_METRIC];
	struct history h[RUNS_COMPARED_MAX] = { { 0 } };
	struct svg_series s[2 * RUNS_COMPARED_MAX];
	struct buf out = BUF_INIT, title = BUF_INIT;
	unsigned n = 0;
	int status = read_histories(c, l, h);

	for (size_t i = 0; !status && i < l->n; i++)
		n += add_curves(l, i, &h[i], metric, s + n);
	if (!status && !n)
		status = cli_usage(c, "none of the runs has `%s`", metric);
	if (!status) {
		buf_printf(&title, "%s: training, and dashed validation", metric);
		svg_plot(&(struct svg_plot){ .title = title.data, .x_label = "epoch", .y_label = metric, .series = s, .nseries = n,
			.whole_x = true }, &size, &out);
		status = cli_write(c, &out, c->options.value[OPT_SVG]);
	}
	for (size_t i = 0; i < l->n; i++)
		history_release(&h[i]);
	buf_release(&out);
	buf_release(&title);
	return status;
}
