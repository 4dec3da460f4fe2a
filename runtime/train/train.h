/* SPDX-License-Identifier: Apache-2.0
 * The step loop: batches, gradients, updates, validation, restarts.
 *
 * It prints nothing; it calls the observer of the caller (progress line, metrics file).  The same job gives the same
 * weights, bit for bit, for any number of threads. */
#pragma once

#include "runtime/train/callback/callback.h"
#include "runtime/train/job/train_job.h"
#include "runtime/train/job/train_observer.h"
#include "runtime/train/job/train_result.h"

/* Check that data, model and options fit together: 0, or an error that names the mismatch. */
int train_check(const struct train_job *j, struct err *e);
int train_run(const struct train_job *j, const struct train_observer *o, struct train_result *out, struct err *e);
void train_result_release(struct train_result *r);

/* Evaluate a part: outputs (nrow, noutput), and loss with penalties and metrics if there are labels (m, loss_out and
 * metric_out may be NULL).  The numbers are equal to those of the validation in train_run. */
int evaluate_part(struct evaluator *ev, const struct part *part, const struct measures *m,
	const double *weight, double *output, double *loss_out, double *metric_out,
	struct pool *pool, struct err *e);
/* The same; -ERR_STOPPED as soon as stop returns a word, which says by what. */
int evaluate_part_until(struct evaluator *ev, const struct part *part, const struct measures *m,
	const double *weight, double *output, double *loss_out, double *metric_out,
	struct pool *pool, const char *(*stop)(void), struct err *e);
