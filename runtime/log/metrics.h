/* SPDX-License-Identifier: Apache-2.0
 * The named values of an epoch of a restart: a line of metrics.jsonl (one JSON object) and of history.csv. */
#pragma once

#include <stdbool.h>
#include "runtime/base/buf.h"

/* What a worker did of an epoch. */
struct metrics_worker {
	const char *name;            /* "host[rank]" */
	double share, samples_per_second;    /* share: of all samples, 0 to 1 */
	double heard;                /* seconds since its last sign; negative: it is not connected */
	unsigned replaced;           /* how often it was started again */
	bool lost;
};

enum { METRICS_VALUES_MAX = 64, METRICS_NAME_MAX = 80 };

/* What a value belongs to: where the run is; the training or validation samples; the learning rate; the clock. */
enum metrics_part { METRICS_PLACE = 0, METRICS_TRAINING, METRICS_VALIDATION, METRICS_RATE, METRICS_TIME };

struct metrics_value {
	char name[METRICS_NAME_MAX];
	enum metrics_part part;
	bool given;                  /* false: this epoch has none */
	unsigned side;               /* of a matrix; 0: a number */
	double number;               /* side 0 */
	const double *entry;         /* (side, side); borrowed */
};

struct metrics_line {
	struct metrics_value value[METRICS_VALUES_MAX]; unsigned n;
	const struct metrics_worker *worker; unsigned nworker;       /* 0: this process did it all */
};

/* The value of that name that is a number and is given, else NULL. */
const struct metrics_value *metrics_find(const struct metrics_line *m, const char *name);

/* A number (side 0), or [[...], ...] of side rows and columns. */
void metrics_value_json(unsigned side, const double *value, struct buf *out);

/* {"start": 1, "epoch": 1, "step": 7, "loss": ..., "<metric>": ..., "val_loss": ...,
 * "val_<metric>": ..., "learning_rate": ..., "seconds": ..., "samples_per_second": ...},
 * and, where workers did it, "workers": [{"name": ..., "share": ..., ...}, ...]; without a newline. */
void metrics_format(const struct metrics_line *m, struct buf *out);

/* The same as lines of a CSV file, for spreadsheets; a matrix has a column for each entry, "confusion_0_1". */
void metrics_csv_header(const struct metrics_line *m, struct buf *out);
void metrics_csv(const struct metrics_line *m, struct buf *out);
