/* SPDX-License-Identifier: Apache-2.0
 * What a run measures: a loss with its options, metrics with theirs, and penalties. */
#pragma once

#include "runtime/train/loss/loss.h"
#include "runtime/train/optimizer/regularizer.h"

enum {
	TRAIN_METRICS_MAX = 16,
	/* Numbers of all metrics together: one may be a matrix. */
	TRAIN_VALUES_MAX = TRAIN_METRICS_MAX + METRIC_SIDE_MAX * METRIC_SIDE_MAX
};

struct loss_choice { const struct loss_row *row; double option[TRAIN_OPTIONS_MAX]; };
struct metric_choice { const struct metric_row *row; double option[TRAIN_OPTIONS_MAX]; };

struct measures {
	struct loss_choice loss;
	struct metric_choice metric[TRAIN_METRICS_MAX]; unsigned nmetric;
	struct penalty penalty[PENALTIES_MAX]; unsigned npenalty;
	enum binary_labels labels; /* of the training, by which metrics of every part go */
};

/* With the options' defaults. */
struct loss_choice loss_choice(const struct loss_row *row);
struct metric_choice metric_choice(const struct metric_row *row);
/* Are the outputs logits, by an option of the loss? */
bool loss_of_logits(const struct loss_choice *loss);
/* What the outputs are to the loss with its options: logits are margins. */
enum loss_outputs loss_outputs(const struct loss_choice *loss);
/* The first metric for one output with these labels, or NULL. */
const struct metric_choice *measures_binary(const struct measures *m, enum metric_labels labels);

/* Are the metrics' values for n outputs at most TRAIN_VALUES_MAX?  0 or -ERR_CONFIG. */
int measures_check(const struct measures *m, uint32_t n, struct err *e);
/* Where the numbers of metric k begin among those of all, for n outputs; k = nmetric: their count. */
unsigned measures_at(const struct measures *m, unsigned k, uint32_t n);
/* By which one output chooses between these labels: with the threshold of the metric that is for labels 0 and 1. */
struct binary_rule measures_rule(const struct measures *m, const double *label, uint64_t n);
/* All metrics' numbers of a set (whose opt, outputs and labels are not looked at). */
void measures_metrics(const struct measures *m, const struct metric_set *s, double *value);
