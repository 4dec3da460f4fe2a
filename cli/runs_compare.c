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

enum { LEAVES_MAX = 1024 };

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

struct leaves { char *path[LEAVES_MAX]; unsigned n; };

static void add_leaves(const json_t *v, const char *prefix, struct leaves *l)
{
	const char *key;
	json_t *member;

	json_object_foreach((json_t *)v, key, member) {
		struct buf path = BUF_INIT;
		unsigned k = 0;

		buf_printf(&path, "%s%s%s", prefix, *prefix ? "." : "", key);
		if (json_is_object(member))
			add_leaves(member, path.data, l);
		while (k < l->n && strcmp(l->path[k], path.data))
			k++;
		if (!json_is_object(member) && k == l->n && l->n < LEAVES_MAX)
			l->path[l->n++] = mem_strdup(path.data);
		buf_release(&path);
	}
}

static void leaf_text(const json_t *v, const char *path, struct buf *out)
{
	while (v && *path) {
		size_t n = strcspn(path, ".");
		char key[256];

		snprintf(key, sizeof key, "%.*s", (int)n, path);
		v = json_object_get(v, key);
		path += n + (path[n] == '.');
	}
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
	json_t *config[RUNS_COMPARED_MAX];
	struct buf text[RUNS_COMPARED_MAX] = { BUF_INIT };
	struct leaves leaves = { .n = 0 };

	for (size_t i = 0; i < l->n; i++)
		add_leaves(config[i] = config_of(&l->run[i]), "", &leaves);
	for (unsigned k = 0; k < leaves.n; k++) {
		bool differ = false;

		for (size_t i = 0; i < l->n; i++) {
			leaf_text(config[i], leaves.path[k], &text[i]);
			differ |= strcmp(text[i].data, text[0].data) != 0;
		}
		for (size_t i = 0; differ && i <= l->n; i++)
			table_add(t, i ? text[i - 1].data : leaves.path[k]);
		free(leaves.path[k]);
	}
	for (size_t i = 0; i < l->n; i++) {
		json_decref(config[i]);
		buf_release(&text[i]);
	}
}

static void compare_metrics(const struct run_list *l, struct table *t)
{
	struct leaves leaves = { .n = 0 };

	for (size_t i = 0; i < l->n; i++)
		add_leaves(json_object_get(l->run[i].record, "metrics"), "", &leaves);
	for (unsigned k = 0; k < leaves.n; k++) {
		if (!isnan(run_number(&l->run[0], "metrics", leaves.path[k]))) {
			table_add(t, leaves.path[k]);
			for (size_t i = 0; i < l->n; i++)
				table_add_number(t, run_number(&l->run[i], "metrics", leaves.path[k]), "%.6g");
		}
		free(leaves.path[k]);
	}
	table_add(t, "seconds");
	for (size_t i = 0; i < l->n; i++)
		table_add_number(t, run_number(&l->run[i], NULL, "seconds"), "%.3g");
}

int runs_compare_text(struct cli *c, const struct run_list *l)
{
	struct table t = { .ncolumn = (unsigned)l->n + 1 };

	table_add(&t, "");
	for (size_t i = 0; i < l->n; i++)
		table_add(&t, l->run[i].name);
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
static unsigned add_curves(const struct run_folder *r, const struct history *h, const char *metric, unsigned colour,
	struct svg_series *s)
{
	const double *epoch = history_column(h, "epoch"), *v;
	size_t first, n = rows_of(r, h, &first);
	char other[128];
	unsigned k = 0;

	snprintf(other, sizeof other, "val_%s", metric);
	if (n && epoch && (v = history_column(h, metric)))
		s[k++] = (struct svg_series){ .name = r->name, .x = epoch + first, .y = v + first, .n = n, .colour = colour };
	if (n && epoch && (v = history_column(h, other))) {
		s[k] = (struct svg_series){ .name = k ? NULL : r->name, .x = epoch + first, .y = v + first, .n = n, .colour = colour,
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
		n += add_curves(&l->run[i], &h[i], metric, (unsigned)i, s + n);
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
