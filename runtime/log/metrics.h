/* SPDX-License-Identifier: Apache-2.0
 * A line of metrics.jsonl: one JSON object for each epoch of each start. */
#ifndef QCNN_METRICS_H
#define QCNN_METRICS_H

#include <stdbool.h>
#include <stdint.h>
#include "runtime/base/buf.h"

/* What a worker did of an epoch. */
struct metrics_worker {
	const char *name;            /* "host[rank]" */
	double share, samples_per_second;    /* share: of all samples, 0 to 1 */
	double heard;                /* seconds since its last sign; negative: it is not connected */
	unsigned replaced;           /* how often it was started again */
	bool lost;
};

struct metrics_line {
	uint32_t start, epoch;       /* start from 0 (the stream of the seed; written from 1), epoch from 1 */
	uint64_t step;               /* updates so far in this start */
	double loss, val_loss;
	const char *const *metric;   /* names */
	const unsigned *side;        /* of the metrics that are matrices, 0: a number; NULL: all are */
	const double *value, *val_value;     /* of all metrics, a matrix row by row */
	unsigned nmetric;
	bool has_validation;         /* else no val_* members */
	bool may_validate;           /* some epochs have them: columns of the CSV file, which may be empty */
	double learning_rate;
	double seconds, samples_per_second;
	const struct metrics_worker *worker; unsigned nworker;       /* 0: this process did it all */
};

/* A number (side 0), or [[...], ...] of side rows and columns; where the next one's values are. */
const double *metrics_value(unsigned side, const double *value, struct buf *out);

/* {"start": 1, "epoch": 1, "step": 7, "loss": ..., "<metric>": ..., "val_loss": ...,
 * "val_<metric>": ..., "learning_rate": ..., "seconds": ..., "samples_per_second": ...},
 * and, where workers did it, "workers": [{"name": ..., "share": ..., ...}, ...]; without a newline. */
void metrics_format(const struct metrics_line *m, struct buf *out);

/* The same as lines of a CSV file, for spreadsheets; a matrix has a column for each entry, "confusion_0_1". */
void metrics_csv_header(const struct metrics_line *m, struct buf *out);
void metrics_csv(const struct metrics_line *m, struct buf *out);

#endif
