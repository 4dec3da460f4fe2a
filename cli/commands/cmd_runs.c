/* SPDX-License-Identifier: Apache-2.0
 * qcnn runs: the runs of a folder as a list, one of them in full, several side by side. */
#include "cli/command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/commands/runs_compare.h"
#include "cli/commands/runs_summary.h"
#include "cli/config/configuration.h"
#include "cli/job/run_metrics.h"
#include "cli/output/table.h"
#include "runtime/base/arena.h"
#include "runtime/base/order.h"
#include "runtime/base/visible.h"

/* ---- list ---- */

static const char *folder(const struct cli *c) { return c->options.value[OPT_RUNS_DIR]; }

/* "2026-11-21T09:30:00Z" without seconds and letters. */
static void add_time(struct table *t, const struct run_folder *r)
{
	const char *s = json_string_value(json_object_get(r->record, "written"));
	char shown[20] = "";

	if (s && strlen(s) >= 16)
		snprintf(shown, sizeof shown, "%.10s %.5s", s, s + 11);
	table_add(t, shown);
}

/* The state in the record is that of a training that runs. */
static void note_cut_off(const struct run_folder *r, json_t *record)
{
	if (!strcmp(run_state(r), "cut off"))
		json_object_set_new(record, "cut_off", json_true());
}

/* best: which runs have the best value of each metric, or NULL; taken over. */
static void list_json(const struct run_list *l, json_t *best, struct buf *out)
{
	json_t *runs = json_array();

	for (size_t i = 0; i < l->n; i++) {
		json_t *one = json_deep_copy(l->run[i].record);

		json_object_set_new(one, "name", json_string(l->run[i].name));
		json_object_set_new(one, "path", json_string(l->run[i].path));
		note_cut_off(&l->run[i], one);
		json_array_append_new(runs, one);
	}
	json_auto_t *all = json_pack("{s:i, s:o}", "schema", 1, "runs", runs);
	if (best)
		json_object_set_new(all, "best", best);
	json_print(all, out);
	buf_char(out, '\n');
}

/* What --set and --const of the run's command changed. */
static void add_changes(struct table *t, const struct run_folder *r)
{
	char *word[RUN_COMMAND_WORDS_MAX];
	buf_auto b = BUF_INIT;
	struct options o;
	struct err e;

	options_parse(COMMAND_TRAIN, run_command_words(r, word), word, false, &o, NULL, &e);
	for (unsigned i = 0; i < o.nlist; i++)
		if (o.list[i].id == OPT_SET || o.list[i].id == OPT_CONST)
			buf_printf(&b, "%s%s", b.len ? " " : "", o.list[i].value);
	table_add(t, b.len ? b.data : "");
}

/* sort: a metric with a column of its own, or NULL. */
static void list_text(const struct run_list *l, const char *sort, struct buf *out)
{
	const char *title[] = { "run", "state", "ended", "epochs", "best_epoch", "loss", "val_loss",
		"seconds", "set", NULL };
	enum { TITLES = sizeof title / sizeof *title - 1 };
	struct table t = { .ncolumn = TITLES };

	if (sort) {
		title[t.ncolumn++] = title[TITLES - 1];
		title[TITLES - 1] = sort;
	}
	for (unsigned k = 0; k < t.ncolumn; k++)
		table_add(&t, title[k]);
	for (size_t i = 0; i < l->n; i++) {
		const struct run_folder *r = &l->run[i];

		table_add(&t, r->name);
		table_add(&t, run_state(r));
		add_time(&t, r);
		table_add_number(&t, run_number(r, "metrics", "epochs"), "%.0f");
		table_add_number(&t, run_number(r, "metrics", "best_epoch"), "%.0f");
		table_add_number(&t, run_number(r, "metrics", "loss"), "%.6g");
		table_add_number(&t, run_number(r, "metrics", "val_loss"), "%.6g");
		table_add_number(&t, run_number(r, NULL, "seconds"), "%.3g");
		if (sort)
			table_add_number(&t, run_number(r, "metrics", sort), "%.6g");
		add_changes(&t, r);
	}
	table_print(&t, out);
}

/* ---- the order of the list ---- */

struct ranked_run {
	struct ranked rank;
	struct run_folder run;
};

/* The best value of a metric first, runs without one last.  0, or the exit status. */
static int sort_list(struct cli *c, struct run_list *l, const char *metric)
{
	int rise = run_metrics_rise(metric);
	size_t known = 0;

	if (rise < 0)
		return cli_usage(c,
			"--sort takes loss, val_loss or a metric such as accuracy or val_accuracy, not `%s`",
			metric);
	mem_auto struct ranked_run *all = mem_alloc(l->n + 1, sizeof *all);
	for (size_t i = 0; i < l->n; i++) {
		double v = run_number(&l->run[i], "metrics", metric);

		known += !isnan(v);
		all[i] = (struct ranked_run){ { rise ? -v : v, i }, l->run[i] };
	}
	if (!known)
		return cli_usage(c, "none of the runs has `%s`", metric);
	qsort(all, l->n, sizeof *all, by_rank);
	for (size_t i = 0; i < l->n; i++)
		l->run[i] = all[i].run;
	return 0;
}

static void complete(struct run_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		run_metrics_complete(&l->run[i]);
}

static int list(struct cli *c, struct run_list *l)
{
	const char *sort = c->options.value[OPT_RUNS_SORT];

	complete(l);
	int status = sort && l->n ? sort_list(c, l, sort) : 0;
	if (status)
		return status;
	if (c->options.given[OPT_JSON])
		list_json(l, NULL, &c->out);
	else if (l->n)
		list_text(l, sort && strcmp(sort, "loss") && strcmp(sort, "val_loss") ? sort : NULL,
			&c->out);
	else
		cli_note(c, "there are no runs in %s", folder(c));
	return 0;
}

/* ---- show ---- */

static void add_key(const char *key, size_t width, struct buf *out)
{
	size_t begin = out->len;

	visible_str(out, key);
	buf_pad(out, ' ', 2 + (out->len - begin < width ? width - (out->len - begin) : 0));
}

static void show_value(const json_t *v, struct buf *out)
{
	if (json_is_string(v))
		visible_str(out, json_string_value(v));
	else if (json_is_array(v))
		for (size_t i = 0; i < json_array_size(v); i++) {
			const json_t *one = json_array_get(v, i);

			buf_str(out, i ? " " : "");
			json_is_string(one) ? visible_str(out, json_string_value(one))
					    : json_write(one, out);
		}
	else
		json_write(v, out);
	buf_char(out, '\n');
}

static int show(struct cli *c, struct run_list *l)
{
	json_auto_t *flat = json_object();
	size_t columns = 0;
	const char *key;
	json_t *v;

	complete(l);
	if (c->options.given[OPT_JSON]) {
		note_cut_off(&l->run[0], l->run[0].record);
		json_print(l->run[0].record, &c->out);
		buf_char(&c->out, '\n');
		return 0;
	}
	json_flatten(l->run[0].record, "", flat);
	json_object_set_new(flat, "state", json_string(run_state(&l->run[0])));
	json_object_foreach(flat, key, v)
		columns = strlen(key) > columns ? strlen(key) : columns;
	add_key("run", columns, &c->out);
	visible_str(&c->out, l->run[0].path);
	buf_char(&c->out, '\n');
	json_object_del(flat, "schema");
	json_object_foreach(flat, key, v) {
		add_key(key, columns, &c->out);
		show_value(v, &c->out);
	}
	return 0;
}

/* ---- compare ---- */

static int compare(struct cli *c, struct run_list *l)
{
	if (c->options.given[OPT_SVG])
		return runs_compare_svg(c, l);
	complete(l);
	if (c->options.given[OPT_JSON]) {
		list_json(l, runs_compare_best(l), &c->out);
		return 0;
	}
	return runs_compare_text(c, l);
}

/* ---- remove ---- */

static int remove_runs(struct cli *c, struct run_list *l)
{
	struct err e;

	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(run_state(&l->run[i]), "running") && !c->options.given[OPT_FORCE])
			return cli_usage(c, "%s has not ended; --force removes it all the same", l->run[i].name);
	for (size_t i = 0; i < l->n; i++) {
		if (run_remove(&l->run[i], &e))
			return cli_fail(c, &e);
		cli_note(c, "removed %s", l->run[i].path);
	}
	return 0;
}

/* ---- the command ---- */

static const struct {
	const char *word;
	unsigned min, max;
	const char *operands;
	int (*run)(struct cli *c, struct run_list *l);
} actions[] = {
	{ "list", 0, 0, "list", list },
	{ "show", 1, 1, "show RUN", show },
	{ "compare", 2, RUNS_COMPARED_MAX,
		"compare RUN RUN ... (up to 8; summary takes any number)", compare },
	{ "summary", 0, OPTIONS_OPERANDS_MAX, "summary [RUN ...]", runs_summary },
	{ "remove", 1, OPTIONS_OPERANDS_MAX, "remove RUN ...", remove_runs },
};

enum { ACTIONS = sizeof actions / sizeof *actions };

/* The folder of a run, which may have several paths. */
struct place_of_run {
	dev_t device;
	ino_t inode;
	size_t at; /* in the list */
};

static int by_place(const void *x, const void *y)
{
	const struct place_of_run *a = x, *b = y;
	int order = ORDER(a->device, b->device);

	if (!order)
		order = ORDER(a->inode, b->inode);
	return order ? order : ORDER(a->at, b->at);
}

/* The first word that names a run again. */
static const char *named_again(const struct options *o, const struct run_list *l)
{
	mem_auto struct place_of_run *p = mem_alloc(l->n + 1, sizeof *p);
	size_t n = 0, again = l->n;
	struct stat st;

	for (size_t i = 0; i < l->n; i++)
		if (!stat(l->run[i].path, &st))
			p[n++] = (struct place_of_run){ st.st_dev, st.st_ino, i };
	qsort(p, n, sizeof *p, by_place);
	for (size_t i = 1; i < n; i++)
		if (p[i].device == p[i - 1].device && p[i].inode == p[i - 1].inode && p[i].at < again)
			again = p[i].at;
	return again < l->n ? o->operand[again + 1] : NULL;
}

static int read_runs(struct cli *c, struct run_list *l)
{
	const struct options *o = &c->options;
	struct err e;

	memset(l, 0, sizeof *l);
	if (o->noperand < 2)
		return run_list_read(folder(c), false, l, &e) ? cli_fail(c, &e) : 0;
	for (unsigned i = 1; i < o->noperand; i++)
		if (run_list_find(folder(c), o->operand[i], l, &e))
			return cli_fail(c, &e);
	const char *word = named_again(o, l);
	return word ? cli_usage(c, "the run %s is named twice", word) : 0;
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
		return cli_usage(c, "`%s` is neither list, show, compare, summary nor remove", word);
	if (n < actions[i].min || n > actions[i].max)
		return cli_usage(c, "usage: qcnn runs %s", actions[i].operands);
	if (o->given[OPT_RUNS_OVER] && !(actions[i].run == runs_summary && o->given[OPT_SVG]))
		return cli_usage(c, "--over needs summary --svg=FILE");
	status = read_runs(c, &l);
	if (!status)
		status = actions[i].run(c, &l);
	run_list_release(&l);
	return status;
}

const struct command_about command_runs = {
	.summary = "list, show, compare, summarise or remove training runs",
	.operands = "show RUN | compare RUN RUN... | summary [RUN...] | remove RUN... | list",
	.max_operands = OPTIONS_OPERANDS_MAX,
	.text = "Lists the runs of a folder, the newest first; shows the record of one run; prints the results of several runs "
		"side by side, with the configuration keys that differ, or plots their curves together; prints means and standard "
		"deviations over seeds and folds, or plots them; or removes runs. A run is given by its folder, by the beginning of its name, or as "
		"latest.",
	.example = (const char *const[]){ "qcnn runs", "qcnn runs --sort=val_loss",
		"qcnn runs show latest", "qcnn runs summary", "qcnn runs summary --svg=mean.svg",
		"qcnn runs --json list", NULL },
	.run = runs,
};
