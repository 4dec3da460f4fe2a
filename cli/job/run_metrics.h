/* SPDX-License-Identifier: Apache-2.0
 * The results of a run, also of one that has not finished: metrics of run.json, else of metrics.jsonl. */
#ifndef QCNN_RUN_METRICS_H
#define QCNN_RUN_METRICS_H

#include "cli/job/run_folder.h"

/* Add best_epoch and best_val_loss (best_loss without validation) of the rows of a restart, counted from 1, to an object of
 * metrics; nothing where no epoch has ended. */
void run_metrics_best(json_t *metrics, const struct history *h, double start);
/* Complete the object metrics of a run's record in memory: without one, the numbers of the last epoch in metrics.jsonl
 * are taken; without a best epoch, that is found there. */
void run_metrics_complete(struct run_folder *r);
/* Whether larger values of the metric (a key of metrics) are better: 1 or 0; -1: it does not rank runs. */
int run_metrics_rise(const char *key);

#endif
