/* SPDX-License-Identifier: Apache-2.0
 * Losses and metrics: rows of loss.def and metric.def, one function each. */
#ifndef QCNN_LOSS_H
#define QCNN_LOSS_H

#include <stddef.h>
#include <stdint.h>

/* Loss of one sample with n outputs and labels; slope (may be NULL) gets dLoss/d output.
 * A batch's loss is the mean over its samples. */
struct loss_row { const char *name; const char *doc; const char *source;
	double (*value)(const double *output, const double *label, uint32_t n, double *slope); };
const struct loss_row *loss_find(const char *name);
size_t loss_rows(const struct loss_row **rows);

/* Metric of a set: output (nsample, n) and label (nsample, nlabel), row-major.  nlabel is
 * n, or 1 where a metric takes the number of a class. */
struct metric_row { const char *name; const char *doc; const char *source; int takes_class;
	double (*value)(const double *output, const double *label, uint32_t nsample, uint32_t n,
		uint32_t nlabel); };
const struct metric_row *metric_find(const char *name);
size_t metric_rows(const struct metric_row **rows);

#endif
