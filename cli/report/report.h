/* SPDX-License-Identifier: Apache-2.0
 * report.html: what a training run was and what came of it, in one file without scripts
 * that needs nothing else, for a screen of any width, light or dark, and for paper. */
#pragma once

#include "cli/job/classes.h"
#include "cli/job/job.h"
#include "runtime/log/history.h"
#include "runtime/log/run.h"
#include "runtime/log/svg.h"

enum {
	REPORT_ROWS_MAX = 4096,      /* samples of a part that figures show, the first ones */
	REPORT_CLASSES_MAX = 12,
	REPORT_NAME_MAX = 20,        /* bytes of a class's name; longer ones are cut */
	REPORT_NORMS_MAX = 1 << 20
};
enum { NORM_RESTART = 0, NORM_EPOCH, NORM_VALUE, NORM_NUMBERS };

/* Samples of a part with what the trained model says. */
struct report_part {
	const char *name;
	uint32_t nrow, nleft_out;
	double *output;
	const struct part *part;
};

struct train_report {
	const struct cli *cli;
	const struct job *job;
	const char *folder;
	const struct train_result *result;
	double seconds;
	struct history history;
	struct report_part part[PART_COUNT]; unsigned npart;
	/* Labels that are classes: their values, their names (words of data.label_map, else numbers), and where one ends and the next begins; nclass 0: numbers */
	unsigned nclass; double class_value[REPORT_CLASSES_MAX]; char class_name[REPORT_CLASSES_MAX][REPORT_NAME_MAX + 1];
	struct history_best best;    /* epoch of the best restart */
	struct svg_size size;        /* that figures are drawn in */
	bool has_rule; struct binary_rule rule;      /* between two classes of one output; else the nearest is chosen */
	/* Norms of the gradient at ends of epochs. */
	double (*norm)[NORM_NUMBERS];
	size_t nnorm, cap_norm;
};

struct train_report *train_report_new(const struct cli *c, const struct job *j, const char *folder);
/* At the end of an epoch. */
void train_report_state(struct train_report *p, const struct epoch_record *r, const struct epoch_state *s);
/* The norms seen so far as numbers (restart, epoch, norm), for a checkpoint (NULL: none), and from one (NULL: none). */
#define REPORT_NORMS_NAME "report/norms"
const double *train_report_norms(const struct train_report *p, size_t *n);
void train_report_resume(struct train_report *p, const struct weights_vector *norms);
/* Evaluates, and writes report.html into the run's folder. */
int train_report_write(struct train_report *p, struct run *run, const struct train_result *r, double seconds, struct err *e);
void train_report_free(struct train_report *p);

/* report_page.c: the whole page. */
void report_page(const struct train_report *p, struct buf *out);

/* report_frame.c: what the parts of the page are made with. */
void report_head(const char *title, struct buf *out);
void report_section(const char *title, struct buf *out);
void report_section_end(struct buf *out);
/* A text of several lines. */
void report_lines(const char *text, size_t len, struct buf *out);
/* The name of a loss or metric as people write it, appended to `out`: "AUC", "mean squared error", "sign accuracy". */
void report_name(const char *name, bool capital, struct buf *out);
/* A duration in words; replaces what `out` holds. */
void report_seconds(double s, struct buf *out);

/* report_how.c: the section about the run. */
void report_how(const struct train_report *p, struct buf *out);

/* report_figures.c: figures as SVG; nothing where there is nothing to show. */
void figure_loss(const struct train_report *p, struct buf *out);
void figure_metric(const struct train_report *p, const char *name, struct buf *out);
void figure_column(const struct train_report *p, const char *column, const char *title, struct buf *out);
void figure_norm(const struct train_report *p, struct buf *out);
void figure_starts(const struct train_report *p, struct buf *out);
void figure_confusion(const struct train_report *p, const struct report_part *part, struct buf *out);
void figure_outputs(const struct train_report *p, const struct report_part *part, struct buf *out);
void figure_labels(const struct train_report *p, struct buf *out);
/* Which class the label of a row is, or the model says. */
unsigned report_class(const struct train_report *p, const struct report_part *part, uint32_t row,
	bool label);
