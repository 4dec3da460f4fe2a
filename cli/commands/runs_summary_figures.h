/* SPDX-License-Identifier: Apache-2.0
 * Figures and confusion matrices of qcnn runs summary. */
#pragma once

#include "cli/command.h"
#include "cli/commands/runs_compare.h"

/* Runs that differ in run.seed and data.split.fold alone. */
struct summary_group {
	struct ranked rank; /* by --sort */
	const char *name;   /* what sets it apart from other groups, without over; "": nothing */
	const char *over;   /* its value of the key of --over; NULL without the option */
	json_t *config;     /* as config_json */
	json_t *flat;       /* its leaves by their paths, and the digest of the model */
	const struct run_folder **run; /* borrowed */
	size_t n;
};

/* The curves of a metric, as mean and deviation over the runs of each group, to --svg; of the metric confusion the sums of the only
 * group.  0, or said and the exit status. */
int summary_svg(struct cli *c, const struct summary_group *g, size_t n, const char *metric);
/* The final values of a metric over those of a key, whose values are equally far apart, to --svg. */
int summary_svg_over(struct cli *c, const struct summary_group *g, size_t n, const char *key,
	const char *metric);
/* The sum of the confusion matrices that the records of a group have under this key ("val_confusion"): rows of numbers; NULL: they
 * have none. */
json_t *summary_confusion(const struct summary_group *g, const char *key);
/* The matrices of a group as tables: of the test part, else of the validation, else of the training; all: of each of them. */
void summary_confusion_text(const struct summary_group *g, bool all, struct buf *out);
