/* SPDX-License-Identifier: Apache-2.0
 * A run's metrics.jsonl as a table: what happened, epoch by epoch, for each restart. */
#pragma once

#include <stddef.h>
#include "runtime/base/err.h"

enum { HISTORY_COLUMNS_MAX = 64, HISTORY_ROWS_MAX = 1 << 22, HISTORY_BYTES_MAX = 1 << 30 };

struct history {
	unsigned ncolumn; char *column[HISTORY_COLUMNS_MAX];     /* "start", "epoch", "loss", ...: numbers only */
	size_t nrow;
	double *value;               /* (ncolumn, nrow): a column's values are neighbours; NaN: not there */
};

/* A line that is no JSON object (a run that was cut off) ends the table, and one with which it would have more places than
 * the text has bytes. */
void history_parse(const char *text, size_t len, struct history *h);
/* metrics.jsonl of a run's folder; -ERR_NO_INPUT without that file. Release *h in any case. */
int history_read(const char *run, struct history *h, struct err *e);
void history_release(struct history *h);
/* The values of a column, or NULL. */
const double *history_column(const struct history *h, const char *name);

/* The epoch with the lowest val_loss, or with the lowest loss where no row has a val_loss, of a restart counted from 1; the
 * first of equal ones. column: which of the two; epoch NaN: there is none. */
struct history_best { const char *column; double epoch, value; };
struct history_best history_best(const struct history *h, double restart);
