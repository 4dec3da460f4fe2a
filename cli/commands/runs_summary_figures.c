/* SPDX-License-Identifier: Apache-2.0
 * Mean curves with their deviation, and sums of confusion matrices. */
#include "cli/commands/runs_summary_figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/runs_compare.h"
#include "cli/job/classes.h"
#include "cli/job/run_metrics.h"
#include "cli/output/table.h"
#include "runtime/base/arena.h"
#include "runtime/log/svg.h"
#include "runtime/train/weights/weights.h"

enum { GROUPS_DRAWN = SVG_COLOURS };

/* ---- mean curves ---- */

/* Of each epoch: how many runs have it, and the mean and the sum of squared deviations of their values so far (Welford). */
struct band {
	struct arena *arena;
	size_t n;
	struct point {
		double x, n, mean, squares;
	} * at; /* by epochs, in order */
};

static struct point *point_of(struct band *b, double x)
{
	size_t at = 0, end = b->n;

	while (at < end) {
		size_t middle = at + (end - at) / 2;

		if (b->at[middle].x < x)
			at = middle + 1;
		else
			end = middle;
	}
	if (at < b->n && b->at[at].x == x)
		return &b->at[at];
	b->at = arena_grow(b->arena, b->at, b->n, sizeof *b->at);
	memmove(b->at + at + 1, b->at + at, (b->n - at) * sizeof *b->at);
	b->at[at] = (struct point){ .x = x };
	b->n++;
	return &b->at[at];
}

static void add_value(struct band *b, double x, double v)
{
	if (!isfinite(v))
		return;
	struct point *p = point_of(b, x);
	double d = v - p->mean;

	p->mean += d / ++p->n;
	p->squares += d * (v - p->mean);
}

static void add_run(struct band *b, const struct run_folder *r, const struct history *h,
	const char *column)
{
	size_t n, nvalue;
	const double *epoch = runs_best_values(b->arena, r, h, "epoch", &n);
	const double *v = runs_best_values(b->arena, r, h, column, &nvalue);

	for (size_t i = 0; i < n && i < nvalue; i++)
		add_value(b, epoch[i], v[i]);
}

/* Training and validation of a group. */
static int read_group(struct cli *c, const struct summary_group *g, const char *metric,
	struct band b[2])
{
	const char *other = arena_printf(b->arena, "val_%s", metric);
	int status = 0;

	for (size_t i = 0; !status && i < g->n; i++) {
		struct history h = { 0 };
		struct err e;

		if (history_read(g->run[i]->path, &h, &e)) {
			status = cli_fail(c, &e);
		} else {
			add_run(&b[0], g->run[i], &h, metric);
			add_run(&b[1], g->run[i], &h, other);
		}
		history_release(&h);
	}
	return status;
}

/* The mean, and it less and plus the deviation of a sample, where several runs have the epoch. */
static unsigned add_curves(const struct band b[2], const char *title, unsigned colour,
	struct svg_series *s)
{
	unsigned nseries = 0;

	for (unsigned k = 0; k < 2; k++) {
		size_t n = b[k].n;
		if (!n)
			continue;
		double *x = arena_alloc(b->arena, 4 * n, sizeof *x), *y = x + n, *low = y + n,
		       *high = low + n;

		for (size_t i = 0; i < n; i++) {
			const struct point *p = &b[k].at[i];
			double deviation = p->n > 1 ? sqrt(p->squares / (p->n - 1)) : 0;

			x[i] = p->x;
			y[i] = p->mean;
			low[i] = p->mean - deviation;
			high[i] = p->mean + deviation;
		}
		s[nseries] = (struct svg_series){ .name = nseries ? NULL : title,
			.x = x,
			.y = y,
			.low = low,
			.high = high,
			.n = n,
			.colour = colour,
			.dashed = k == 1 };
		nseries++;
	}
	return nseries;
}

/* only: the title of the only group, which has no legend; else "".  plot: its axis of x. */
static int draw_curves(struct cli *c, const struct svg_series *s, unsigned n, const char *metric,
	const char *only, struct svg_plot plot)
{
	static const struct svg_size size = { 720, 440, true };
	buf_auto out = BUF_INIT, title = BUF_INIT;
	bool dashed = false;

	if (!n)
		return cli_usage(c, "none of the runs has `%s`", metric);
	for (unsigned i = 0; i < n; i++)
		dashed |= s[i].dashed;
	buf_printf(&title, "%s%s; mean and deviation%s%s", metric,
		dashed ? ": training, and dashed validation" : "", *only ? " of " : "", only);
	plot.title = title.data;
	plot.y_label = metric;
	plot.series = s;
	plot.nseries = n;
	plot.may_log_y = run_metrics_rise(metric) == 0;
	plot.hover = true;
	svg_plot(&plot, &size, &out);
	return cli_write(c, &out, c->options.value[OPT_SVG]);
}

static int curves(struct cli *c, const struct summary_group *g, size_t n, const char *metric)
{
	arena_auto a = { 0 };
	const char *title = "";
	struct svg_series s[2 * GROUPS_DRAWN];
	unsigned drawn = n < GROUPS_DRAWN ? (unsigned)n : GROUPS_DRAWN, nseries = 0;

	if (n > drawn)
		cli_note(c, "the first %u of %zu configurations are drawn; --sort puts the best first",
			drawn, n);
	for (unsigned i = 0; i < drawn; i++) {
		struct band b[2] = { { .arena = &a }, { .arena = &a } };
		int status = read_group(c, &g[i], metric, b);

		if (status)
			return status;
		title = arena_printf(&a, "%s%s%zu run%s", g[i].name, *g[i].name ? ", " : "", g[i].n,
			g[i].n == 1 ? "" : "s");
		nseries += add_curves(b, title, i, s + nseries);
	}
	return draw_curves(c, s, nseries, metric, n == 1 ? title : "",
		(struct svg_plot){ .x_label = "epoch", .whole_x = true });
}

/* ---- over a key ---- */

/* Numbers by their value, before other words. */
static int by_number(const void *a, const void *b)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;
	char *end_x, *end_y;
	double v = strtod(x, &end_x), w = strtod(y, &end_y);
	bool word_x = *end_x || end_x == x, word_y = *end_y || end_y == y;

	if (word_x || word_y)
		return word_x != word_y ? word_x - word_y : strcmp(x, y);
	return (v > w) - (v < w);
}

/* The values of the key to value[n], each once, in order; how many. */
static size_t values_over(const struct summary_group *g, size_t n, const char **value)
{
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		value[i] = g[i].over;
	qsort(value, n, sizeof *value, by_number);
	for (size_t i = 0; i < n; i++)
		if (!m || strcmp(value[m - 1], value[i]) != 0)
			value[m++] = value[i];
	return m;
}

/* The results of its runs, at the place x. */
static void add_results(const struct summary_group *g, double x, const char *metric, struct band b[2])
{
	char other[128];

	snprintf(other, sizeof other, "val_%s", metric);
	for (size_t i = 0; i < g->n; i++) {
		add_value(&b[0], x, run_number(g->run[i], "metrics", metric));
		add_value(&b[1], x, run_number(g->run[i], "metrics", other));
	}
}

int summary_svg_over(struct cli *c, const struct summary_group *g, size_t n, const char *key,
	const char *metric)
{
	arena_auto a = { 0 };
	struct band b[GROUPS_DRAWN][2];
	struct svg_series s[2 * GROUPS_DRAWN];
	const char *title[GROUPS_DRAWN], **value = arena_alloc(&a, n, sizeof *value);
	unsigned drawn = 0, nseries = 0, k;
	size_t nvalue = values_over(g, n, value);
	double *tick = arena_alloc(&a, nvalue, sizeof *tick);

	for (size_t i = 0; i < nvalue; i++)
		tick[i] = (double)i;
	for (size_t i = 0; i < n; i++) {
		size_t at = 0;

		for (k = 0; k < drawn && strcmp(title[k], g[i].name) != 0; k++)
			;
		if (k == GROUPS_DRAWN)
			continue;
		if (k == drawn) {
			b[k][0] = b[k][1] = (struct band){ .arena = &a };
			title[drawn++] = g[i].name;
		}
		while (strcmp(value[at], g[i].over) != 0)
			at++;
		add_results(&g[i], (double)at, metric, b[k]);
	}
	for (k = 0; k < drawn; k++)
		nseries += add_curves(b[k], *title[k] ? title[k] : NULL, k, s + nseries);
	return draw_curves(c, s, nseries, metric, drawn == 1 ? title[0] : "",
		(struct svg_plot){
			.x_label = key, .x_tick = tick, .nx_tick = (unsigned)nvalue, .x_name = value });
}

/* ---- confusion matrices ---- */

static const char *const confusions[] = { "test_confusion", "val_confusion", "confusion" };
static const char *const part_name[] = { "test", "validation", "training" };
enum { PARTS = sizeof confusions / sizeof *confusions, CELL = 46, FRAME = 150 };

/* Of samples: 51.0 in run.json. */
static bool is_count(const json_t *v)
{
	double n = json_number_value(v);

	return json_is_number(v) && n >= 0 && n <= UINT32_MAX && floor(n) == n;
}

/* Adds m to *sum, if it is a square matrix of counts as large. */
static void add_matrix(json_t **sum, const json_t *m)
{
	size_t side = json_array_size(m);
	json_auto_t *all = json_array();

	for (size_t i = 0; i < side; i++) {
		const json_t *row = json_array_get(m, i), *before = json_array_get(*sum, i);
		json_t *added = json_array();

		json_array_append_new(all, added);
		if (json_array_size(row) != side || (*sum && json_array_size(before) != side))
			return;
		for (size_t k = 0; k < side; k++) {
			const json_t *v = json_array_get(row, k);

			if (!is_count(v))
				return;
			json_array_append_new(added,
				json_integer((json_int_t)(json_number_value(v)
					+ json_number_value(json_array_get(before, k)))));
		}
	}
	if (!side || (*sum && json_array_size(*sum) != side))
		return;
	json_decref(*sum);
	*sum = json_incref(all);
}

json_t *summary_confusion(const struct summary_group *g, const char *key)
{
	json_t *sum = NULL;

	for (size_t i = 0; i < g->n; i++)
		add_matrix(&sum, json_object_get(json_object_get(g->run[i]->record, "metrics"), key));
	return sum;
}

/* The labels of the training, of a run's weights; none where they are as many as something else than the classes. */
static struct label_set labels_of_group(const struct summary_group *g, size_t side)
{
	struct label_set s = { .n = 0 };
	struct weights *w = NULL;
	buf_auto path = BUF_INIT;

	buf_printf(&path, "%s/weights.bin", g->run[0]->path);
	if (!weights_open(path.data, &w, NULL))
		s = classes_known(weights_meta(w, "labels"));
	weights_free(w);
	s.n = s.n == side ? s.n : 0;
	return s;
}

/* The name of class i: as data.label_map has it, else its label, else its number. */
static void class_name(const struct summary_group *g, const struct label_set *s, size_t i,
	struct buf *out)
{
	const json_t *map = json_object_get(json_object_get(g->config, "data"), "label_map");
	double label = s->n ? s->value[i] : (double)i;
	bool found = false;
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)map, key, v)
		if (json_is_number(v) && json_number_value(v) == label) {
			buf_printf(out, "%s%s", found ? "|" : "", key);
			found = true;
		}
	if (!found)
		buf_real(out, label);
}

static void matrix_text(const struct summary_group *g, const json_t *sum, struct buf *out)
{
	size_t side = json_array_size(sum);
	struct label_set labels = labels_of_group(g, side);
	struct table t = { .ncolumn = (unsigned)side + 1 };

	for (size_t i = 0; i <= side; i++) {
		buf_auto name = BUF_INIT;

		if (i)
			class_name(g, &labels, i - 1, &name);
		table_add(&t, i ? name.data : "");
	}
	for (size_t i = 0; i < side; i++) {
		buf_auto name = BUF_INIT;

		class_name(g, &labels, i, &name);
		table_add(&t, name.data);
		for (size_t k = 0; k < side; k++)
			table_add_number(&t,
				json_number_value(json_array_get(json_array_get(sum, i), k)), "%.0f");
	}
	table_print(&t, out);
}

void summary_confusion_text(const struct summary_group *g, bool all, struct buf *out)
{
	bool done = false;

	for (unsigned k = 0; k < PARTS && (all || !done); k++) {
		json_auto_t *sum = summary_confusion(g, confusions[k]);

		if (!sum)
			continue;
		buf_str(out, out->len ? "\n" : "");
		buf_printf(out,
			"confusion, %s, sum of %zu run%s%s%s; rows: labels, columns: predictions\n",
			part_name[k], g->n, g->n == 1 ? "" : "s", *g->name ? ": " : "", g->name);
		matrix_text(g, sum, out);
		done = true;
	}
}

static int matrix_svg(struct cli *c, const struct summary_group *g, const json_t *sum, const char *part)
{
	size_t side = json_array_size(sum);
	struct label_set labels = labels_of_group(g, side);
	double width = FRAME + CELL * (double)side;
	const struct svg_size size = { width > 420 ? width : 420, width > 320 ? width : 320, true };
	mem_auto struct buf *text = mem_alloc(side, sizeof *text);
	mem_auto const char **name = mem_alloc(side, sizeof *name);
	mem_auto double *count = mem_alloc(side * side, sizeof *count);
	buf_auto out = BUF_INIT, title = BUF_INIT;

	for (size_t i = 0; i < side; i++) {
		class_name(g, &labels, i, &text[i]);
		name[i] = text[i].data;
		for (size_t k = 0; k < side; k++)
			count[i * side + k] =
				json_number_value(json_array_get(json_array_get(sum, i), k));
	}
	buf_printf(&title, "Confusion matrix, %s, sum of %zu run%s", part, g->n, g->n == 1 ? "" : "s");
	svg_matrix(&(struct svg_matrix){ title.data, "label", "prediction", (unsigned)side, name,
			   count },
		&size, &out);
	for (size_t i = 0; i < side; i++)
		buf_release(&text[i]);
	return cli_write(c, &out, c->options.value[OPT_SVG]);
}

static int matrices(struct cli *c, const struct summary_group *g, size_t n)
{
	if (n > 1)
		return cli_usage(c,
			"there are %zu configurations, and --metric=confusion --svg draws the matrix of one: name its runs",
			n);
	for (unsigned k = 0; k < PARTS; k++) {
		json_auto_t *sum = summary_confusion(g, confusions[k]);

		if (sum)
			return matrix_svg(c, g, sum, part_name[k]);
	}
	return cli_usage(c, "none of the runs has `confusion`");
}

int summary_svg(struct cli *c, const struct summary_group *g, size_t n, const char *metric)
{
	return !strcmp(metric, "confusion") ? matrices(c, g, n) : curves(c, g, n, metric);
}
