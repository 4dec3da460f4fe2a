/* SPDX-License-Identifier: Apache-2.0
 * The results of a run, also of one that has not finished: metrics of run.json, else of metrics.jsonl. */
#pragma once

#include "cli/job/run_folder.h"

/* Add best_epoch and best_val_loss (best_loss without validation) of a restart, numbered from 1, to the object metrics;
 * adds nothing if no epoch has ended. */
void run_metrics_best(json_t *metrics, const struct history *h, double restart);
/* Complete the object metrics of a run's record in memory from metrics.jsonl: if it is missing, with the last epoch; if
 * it has no best epoch, with that. */
void run_metrics_complete(struct run_folder *r);
/* Whether larger values of the metric (a key of metrics) are better: 1 or 0; -1: it does not rank runs. */
int run_metrics_rise(const char *key);
