/* SPDX-License-Identifier: Apache-2.0
 * qcnn runs: the runs of a folder as a list, one of them in full, several side by side. */
#include "config.h"
#include "cli/commands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/configuration.h"
#include "cli/run_folder.h"
#include "runtime/log/svg.h"

enum { COMPARED_MAX = SVG_COLOURS, LEAVES_MAX = 1024 };

/* ---- tables of words ---- */

struct table { unsigned ncolumn; char **cell; size_t n, cap; };

static void add_cell(struct table *t, const char *text)
{
	mem_reserve(t->cell, t->n, t->cap);
	t->cell[t->n++] = mem_strdup(text);
}

static void add_number(struct table *t, double v, const char *format)
{
	char s[64] = "";

	if (!isnan(v))
		snprintf(s, sizeof s, format, v);
	add_cell(t, s);
}

static size_t width_of(const struct table *t, unsigned column)
{
	size_t w = 0;

	for (size_t i = column; i < t->n; i += t->ncolumn)
		w = strlen(t->cell[i]) > w ? strlen(t->cell[i]) : w;
	return w;
}

/* Columns aligned, two spaces between; empty ones are left out. */
static void print_table(const struct table *t, struct buf *out)
{
	for (size_t i = 0; i < t->n; i += t->ncolumn) {
		size_t begin = out->len;

		for (unsigned k = 0; k < t->ncolumn; k++) {
			const char *s = t->cell[i + k];

			buf_str(out, s);
			buf_pad(out, ' ', width_of(t, k) + 2 - strlen(s));
		}
		while (out->len > begin && out->data[out->len - 1] == ' ')
			out->len--;
		buf_char(out, '\n');
	}
}

static void table_release(struct table *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->cell[i]);
	free(t->cell);
}

/* ---- list ---- */

static const char *folder(const struct cli *c)
{
	return c->options.value[OPT_RUNS_DIR];
}

/* "2026-11-21T09:30:00Z" without what nobody reads. */
static void add_time(struct table *t, const struct run_folder *r)
{
	const char *s = json_string_value(json_object_get(r->record, "written"));
	char shown[20] = "";

	if (s && strlen(s) >= 16)
		snprintf(shown, sizeof shown, "%.10s %.5s", s, s + 11);
	add_cell(t, shown);
}

static void list_json(const struct run_list *l, struct buf *out)
{
	json_t *all = json_object(), *runs = json_array();

	for (size_t i = 0; i < l->n; i++) {
		json_t *one = json_deep_copy(l->run[i].record);

		json_object_set_new(one, "name", json_string(l->run[i].name));
		json_object_set_new(one, "path", json_string(l->run[i].path));
		json_array_append_new(runs, one);
	}
	json_object_set_new(all, "schema", json_integer(1));
	json_object_set_new(all, "runs", runs);
	json_write(all, out);
	buf_char(out, '\n');
	json_decref(all);
}

static void list_text(const struct run_list *l, struct buf *out)
{
	static const char *const title[] = { "run", "state", "ended", "epochs", "loss", "val_loss", "seconds" };
	struct table t = { .ncolumn = sizeof title / sizeof *title };

	for (unsigned k = 0; k < t.ncolumn; k++)
		add_cell(&t, title[k]);
	for (size_t i = 0; i < l->n; i++) {
		const struct run_folder *r = &l->run[i];

		add_cell(&t, r->name);
		add_cell(&t, run_state(r));
		add_time(&t, r);
		add_number(&t, run_number(r, "metrics", "epochs"), "%.0f");
		add_number(&t, run_number(r, "metrics", "loss"), "%.6g");
		add_number(&t, run_number(r, "metrics", "val_loss"), "%.6g");
		add_number(&t, run_number(r, NULL, "seconds"), "%.3g");
	}
	print_table(&t, out);
	table_release(&t);
}

static int list(struct cli *c, struct run_list *l)
{
	if (c->options.given[OPT_JSON])
		list_json(l, &c->out);
	else if (l->n)
		list_text(l, &c->out);
	else
		cli_note(c, "there are no runs in %s", folder(c));
	return 0;
}

/* ---- show ---- */

/* Columns of the longest key, those of objects joined by points. */
static int key_columns(size_t before, const json_t *v)
{
	const char *name;
	json_t *member;
	int most = (int)before;

	if (json_is_object(v))
		json_object_foreach((json_t *)v, name, member) {
			int n = key_columns(before + (before > 0) + strlen(name), member);

			most = n > most ? n : most;
		}
	return most;
}

static void show_value(const char *key, int columns, const json_t *v, struct buf *out)
{
	struct buf b = BUF_INIT;
	const char *name;
	json_t *member;

	if (json_is_object(v)) {
		json_object_foreach((json_t *)v, name, member) {
			buf_clear(&b);
			buf_printf(&b, "%s.%s", key, name);
			show_value(b.data, columns, member, out);
		}
		buf_release(&b);
		return;
	}
	buf_printf(out, "%-*s  ", columns, key);
	if (json_is_string(v))
		buf_str(out, json_string_value(v));
	else if (json_is_array(v))
		for (size_t i = 0; i < json_array_size(v); i++) {
			buf_str(out, i ? " " : "");
			json_is_string(json_array_get(v, i)) ? buf_str(out, json_string_value(json_array_get(v, i)))
				: json_write(json_array_get(v, i), out);
		}
	else
		json_write(v, out);
	buf_char(out, '\n');
	buf_release(&b);
}

static int show(struct cli *c, struct run_list *l)
{
	int columns = key_columns(0, l->run[0].record);
	const char *key;
	json_t *v;

	if (c->options.given[OPT_JSON]) {
		json_write(l->run[0].record, &c->out);
		buf_char(&c->out, '\n');
		return 0;
	}
	buf_printf(&c->out, "%-*s  %s\n", columns, "run", l->run[0].path);
	json_object_foreach(l->run[0].record, key, v)
		if (strcmp(key, "schema"))
			show_value(key, columns, v, &c->out);
	return 0;
}

/* ---- compare ---- */

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
	json_t *config[COMPARED_MAX];
	struct buf text[COMPARED_MAX] = { BUF_INIT };
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
			add_cell(t, i ? text[i - 1].data : leaves.path[k]);
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
			add_cell(t, leaves.path[k]);
			for (size_t i = 0; i < l->n; i++)
				add_number(t, run_number(&l->run[i], "metrics", leaves.path[k]), "%.6g");
		}
		free(leaves.path[k]);
	}
	add_cell(t, "seconds");
	for (size_t i = 0; i < l->n; i++)
		add_number(t, run_number(&l->run[i], NULL, "seconds"), "%.3g");
}

static int compare_text(struct cli *c, const struct run_list *l)
{
	struct table t = { .ncolumn = (unsigned)l->n + 1 };

	add_cell(&t, "");
	for (size_t i = 0; i < l->n; i++)
		add_cell(&t, l->run[i].name);
	compare_metrics(l, &t);
	compare_configs(l, &t);
	print_table(&t, &c->out);
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

static int compare_svg(struct cli *c, const struct run_list *l)
{
	static const struct svg_size size = { 720, 440, true };
	const char *metric = c->options.value[OPT_RUNS_METRIC];
	struct history h[COMPARED_MAX] = { { 0 } };
	struct svg_series s[2 * COMPARED_MAX];
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

static int compare(struct cli *c, struct run_list *l)
{
	if (c->options.given[OPT_SVG])
		return compare_svg(c, l);
	if (c->options.given[OPT_JSON]) {
		list_json(l, &c->out);
		return 0;
	}
	return compare_text(c, l);
}

/* ---- remove ---- */

static int remove_runs(struct cli *c, struct run_list *l)
{
	struct err e;

	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(run_state(&l->run[i]), "running") && !c->options.given[OPT_FORCE])
			return cli_usage(c, "%s has not ended; --force removes it all the same", l->run[i].name);
	for (size_t i = 0; i < l->n; i++) {
		if (run_remove(folder(c), &l->run[i], &e))
			return cli_fail(c, &e);
		cli_note(c, "removed %s", l->run[i].path);
	}
	return 0;
}

/* ---- the command ---- */

static const struct { const char *word; unsigned min, max; const char *operands; int (*run)(struct cli *c, struct run_list *l); } actions[] = {
	{ "list", 0, 0, "list", list },
	{ "show", 1, 1, "show RUN", show },
	{ "compare", 2, COMPARED_MAX, "compare RUN RUN ... (up to 8)", compare },
	{ "remove", 1, OPTIONS_OPERANDS_MAX, "remove RUN ...", remove_runs },
};

enum { ACTIONS = sizeof actions / sizeof *actions };

/* Named twice is meant once. */
static bool has_run(const struct run_list *l, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (!strcmp(l->run[i].name, l->run[at].name))
			return true;
	return false;
}

static int read_runs(struct cli *c, struct run_list *l)
{
	const struct options *o = &c->options;
	struct err e;

	memset(l, 0, sizeof *l);
	if (o->noperand < 2)
		return run_list_read(folder(c), l, &e) ? cli_fail(c, &e) : 0;
	for (unsigned i = 1; i < o->noperand; i++) {
		if (run_list_find(folder(c), o->operand[i], l, &e))
			return cli_fail(c, &e);
		if (has_run(l, l->n - 1))
			return cli_usage(c, "the run %s is named twice", l->run[l->n - 1].name);
	}
	return 0;
}

static int runs(struct cli *c)
{
	const struct options *o = &c->options;
	const char *word = o->noperand ? o->operand[0] : "list";
	struct run_list l = { NULL, 0, 0 };
	unsigned n = o->noperand ? o->noperand - 1 : 0;
	int i = 0, status;

	while (i < ACTIONS && strcmp(actions[i].word, word))
		i++;
	if (i == ACTIONS)
		return cli_usage(c, "`%s` is neither list, show, compare nor remove", word);
	if (n < actions[i].min || n > actions[i].max)
		return cli_usage(c, "use: qcnn runs %s", actions[i].operands);
	status = read_runs(c, &l);
	if (!status)
		status = actions[i].run(c, &l);
	run_list_release(&l);
	return status;
}

static const char *const examples[] = {
	"qcnn runs",
	"qcnn runs show latest",
	"qcnn runs --json list",
	NULL
};

const struct command command_runs = {
	.bit = COMMAND_RUNS,
	.name = "runs",
	.summary = "list, show, compare or remove training runs",
	.operands = "show RUN | compare RUN RUN... | remove RUN... | list",
	.min_operands = 0,
	.max_operands = OPTIONS_OPERANDS_MAX,
	.text = "Lists the runs of a folder, the newest first; shows the record of one; prints the results of several side by "
		"side with the keys of their configurations that differ, or draws their curves over each other; or removes "
		"runs. A run is named by its folder, or by the beginning of its name, or as latest.",
	.example = examples,
	.run = runs,
};
