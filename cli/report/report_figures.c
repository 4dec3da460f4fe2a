/* SPDX-License-Identifier: Apache-2.0
 * The figures of a report. */
#include "cli/report/report.h"

#include <math.h>

#include "cli/job/run_metrics.h"
#include "runtime/log/svg.h"

enum { BINS = 24, STARTS_DRAWN_MAX = 64, SERIES_TOLD_APART = 4, MATRIX_FRAME = 90, MATRIX_CELL = 27 };

/* ---- curves over epochs ---- */

/* The rows of a restart: they follow each other. */
static size_t rows_of(const struct train_report *p, uint32_t restart, size_t *first)
{
	const double *s = history_column(&p->history, "start");
	size_t n = 0;

	*first = 0;
	for (size_t i = 0; s && i < p->history.nrow; i++)
		if (s[i] == restart + 1.0) {
			*first = n ? *first : i;
			n++;
		}
	return n;
}

static bool add_series(const struct train_report *p, const char *column, uint32_t restart,
	struct svg_series *s)
{
	const double *x = history_column(&p->history, "epoch"), *y = history_column(&p->history, column);
	size_t first, n = rows_of(p, restart, &first);

	if (!x || !y || !n)
		return false;
	s->x = x + first;
	s->y = y + first;
	s->n = n;
	return true;
}

static void curves(const struct train_report *p, const char *column, const char *title, bool others, struct buf *out)
{
	struct svg_series s[STARTS_DRAWN_MAX + 2];
	char other[128], mark[40];
	unsigned n = 0;

	for (uint32_t k = 0; others && k < p->job->train.restarts && n < STARTS_DRAWN_MAX; k++) {
		s[n] = (struct svg_series){ .name = k + (k <= p->result->winner) == 1 ? "other restarts"
										      : NULL,
			.colour = SVG_FAINT };
		if (k != p->result->winner && add_series(p, column, k, &s[n]))
			n++;
	}
	snprintf(other, sizeof other, "val_%s", column);
	s[n] = (struct svg_series){ .name = "training", .colour = 0 };
	n += add_series(p, column, p->result->winner, &s[n]);
	s[n] = (struct svg_series){ .name = "validation", .colour = 1, .dashed = true };
	n += add_series(p, other, p->result->winner, &s[n]);
	snprintf(mark, sizeof mark, "best epoch %.0f", p->best.epoch);
	if (n)
		svg_plot(&(struct svg_plot){ .title = title, .x_label = "epoch", .series = s, .nseries = n, .whole_x = true, .hover = true,
			.may_log_y = run_metrics_rise(column) == 0, .mark = isnan(p->best.epoch) ? NULL : mark, .mark_x = p->best.epoch },
			&p->size, out);
}

void figure_loss(const struct train_report *p, struct buf *out)
{
	buf_auto title = BUF_INIT;

	buf_str(&title, "Loss (");
	report_name(p->job->train.measures.loss.row->name, false, &title);
	buf_char(&title, ')');
	curves(p, "loss", title.data, true, out);
}

void figure_metric(const struct train_report *p, const char *name, struct buf *out)
{
	buf_auto title = BUF_INIT;

	report_name(name, true, &title);
	curves(p, name, title.data, false, out);
}

void figure_column(const struct train_report *p, const char *column, const char *title, struct buf *out)
{
	struct svg_series s = { .colour = 0 };

	if (add_series(p, column, p->result->winner, &s))
		svg_plot(&(struct svg_plot){ .title = title, .x_label = "epoch", .series = &s, .nseries = 1, .whole_x = true,
			.may_log_y = true, .hover = true }, &p->size, out);
}

void figure_norm(const struct train_report *p, struct buf *out)
{
	mem_auto double *x = mem_alloc(p->nnorm + 1, sizeof *x),
			*y = mem_alloc(p->nnorm + 1, sizeof *y);
	struct svg_series s = { .x = x, .y = y, .colour = 0 };
	bool positive = true;

	for (size_t i = 0; i < p->nnorm; i++)
		if (p->norm[i][NORM_RESTART] == p->result->winner) {
			x[s.n] = p->norm[i][NORM_EPOCH];
			y[s.n++] = p->norm[i][NORM_VALUE];
			positive &= p->norm[i][NORM_VALUE] > 0;
		}
	if (s.n)
		svg_plot(&(struct svg_plot){ .title = "Norm of the gradient",
				 .x_label = "epoch (its last update)",
				 .series = &s,
				 .nseries = 1,
				 .whole_x = true,
				 .log_y = positive,
				 .hover = true },
			&p->size, out);
}

void figure_starts(const struct train_report *p, struct buf *out)
{
	uint32_t n = p->job->train.restarts, w = p->result->winner;
	double winner = w + 1.0;
	mem_auto double *x = mem_alloc(n, sizeof *x);
	struct svg_series s[] = {
		{ .name = "restarts",
			.x = x,
			.y = p->result->restart_loss,
			.n = n,
			.colour = 6,
			.points = true },
		{ .name = "best restart",
			.x = &winner,
			.y = p->result->restart_loss + w,
			.n = 1,
			.colour = 1,
			.points = true },
	};

	for (uint32_t i = 0; i < n; i++)
		x[i] = i + 1.0;
	if (n > 1)
		svg_plot(&(struct svg_plot){ .title = "Final training loss of each restart",
				 .x_label = "restart",
				 .y_label = "loss",
				 .series = s,
				 .nseries = 2,
				 .whole_x = true,
				 .hover = true },
			&p->size, out);
}

/* ---- predictions ---- */

void figure_confusion(const struct train_report *p, const struct report_part *part, struct buf *out)
{
	double count[REPORT_CLASSES_MAX * REPORT_CLASSES_MAX] = { 0 };
	const char *name[REPORT_CLASSES_MAX];
	struct svg_size size = p->size;
	char title[64];

	if (!p->nclass)
		return;
	if (size.height < MATRIX_FRAME + p->nclass * MATRIX_CELL)
		size.height = MATRIX_FRAME + p->nclass * MATRIX_CELL;
	if (size.width < MATRIX_FRAME + p->nclass * MATRIX_CELL)
		size.width = MATRIX_FRAME + p->nclass * MATRIX_CELL;
	for (unsigned k = 0; k < p->nclass; k++)
		name[k] = p->class_name[k];
	for (uint32_t i = 0; i < part->nrow; i++)
		count[report_class(p, part, i, true) * p->nclass + report_class(p, part, i, false)]++;
	snprintf(title, sizeof title, "Confusion matrix, %s", part->name);
	svg_matrix(&(struct svg_matrix){ title, "label", "prediction", p->nclass, name, count }, &size, out);
}

/* The output that is looked at: the only one, or that of the true class. */
static double output_of(const struct train_report *p, const struct report_part *part, uint32_t i)
{
	uint32_t n = p->job->model.program->noutput;

	return part->output[(size_t)i * n + (n > 1 && p->nclass ? report_class(p, part, i, true) : 0)];
}

/* A range that means something where the outputs are of one. */
static void output_range(const struct train_report *p, const struct report_part *part, double *low, double *high)
{
	*low = INFINITY;
	*high = -INFINITY;
	for (uint32_t i = 0; i < part->nrow; i++) {
		double v = output_of(p, part, i);

		*low = v < *low ? v : *low;
		*high = v > *high ? v : *high;
	}
	if (*low >= 0 && *high <= 1) {
		*low = 0;
		*high = 1;
	} else if (*low >= -1 && *high <= 1) {
		*low = -1;
		*high = 1;
	} else if (!(*high > *low)) {
		*low -= 0.5;
		*high = *low + 1;
	}
}

void figure_outputs(const struct train_report *p, const struct report_part *part, struct buf *out)
{
	const bool apart = p->nclass && p->nclass <= SERIES_TOLD_APART;
	unsigned n = apart ? p->nclass : 1;
	mem_auto double *count = mem_alloc((size_t)n * BINS, sizeof *count);
	double low, high;
	char label[REPORT_CLASSES_MAX][32], title[96];
	const char *name[REPORT_CLASSES_MAX];
	bool several = p->job->model.program->noutput > 1;

	output_range(p, part, &low, &high);
	for (uint32_t i = 0; i < part->nrow; i++) {
		double at = (output_of(p, part, i) - low) / (high - low) * BINS;
		unsigned k = apart ? report_class(p, part, i, true) : 0, bin = at < 0 ? 0 : at >= BINS ? BINS - 1 : (unsigned)at;

		count[k * BINS + bin]++;
	}
	for (unsigned k = 0; k < n && apart; k++) {
		snprintf(label[k], sizeof label[k], "label %s", p->class_name[k]);
		name[k] = label[k];
	}
	snprintf(title, sizeof title, "Outputs%s, %s", several && p->nclass ? " of the true class" : several ? " (the first)" : "", part->name);
	svg_bars(&(struct svg_bars){ title, "output", "samples", low, high, BINS, n,
			 apart ? name : NULL, count },
		&p->size, out);
}

void figure_labels(const struct train_report *p, struct buf *out)
{
	const char *name[REPORT_CLASSES_MAX];
	struct svg_series s[PART_COUNT];
	arena_auto a = { 0 };
	double gap = INFINITY;
	unsigned n = 0;

	if (p->job->model.program->noutput != 1
		|| p->job->train.measures.loss.row->labels == LABELS_NONE)
		return;
	for (unsigned k = 0; k < p->nclass; k++)
		name[k] = p->class_name[k];
	for (unsigned k = 0; k + 1 < p->nclass; k++)
		gap = p->class_value[k + 1] - p->class_value[k] < gap ? p->class_value[k + 1] - p->class_value[k] : gap;
	for (unsigned k = 0; k < p->npart; k++) {
		const struct report_part *part = &p->part[k];
		double *x = arena_alloc(&a, part->nrow, sizeof *x),
		       *y = arena_alloc(&a, part->nrow, sizeof *y);

		/* Classes stand apart, their samples spread over a third of the distance. */
		for (uint32_t i = 0; i < part->nrow; i++) {
			double spread = fmod(i * 0.6180339887, 1) - 0.5;

			x[i] = *labels_of(part->part, i) + (p->nclass ? 0.4 * gap * spread : 0);
			y[i] = part->output[i];
		}
		s[n++] = (struct svg_series){ .name = part->name, .x = x, .y = y, .n = part->nrow, .colour = k, .points = true };
	}
	if (n)
		svg_plot(&(struct svg_plot){ .title = "Output against label",
				 .x_label = "label",
				 .y_label = "output",
				 .series = s,
				 .nseries = n,
				 .x_tick = p->nclass ? p->class_value : NULL,
				 .nx_tick = p->nclass,
				 .x_name = name,
				 .hover = true },
			&p->size, out);
}
