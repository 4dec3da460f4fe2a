/* SPDX-License-Identifier: Apache-2.0
 * Curves of a metric as text. Training is a line: dots of braille where the terminal has UTF-8, else stars.
 * Validation has a small o in every third column, so that the two differ without colours. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "runtime/base/buf.h"

enum { LIVE_POINTS_MAX = 4096, LIVE_ROWS_LEAST = 5, LIVE_COLUMNS_LEAST = 30 };

/* What has been seen of a restart: beyond LIVE_POINTS_MAX points every other one is forgotten. */
struct live {
	double *training, *validation;       /* (n); validation NaN: none in this epoch */
	size_t n;
	uint32_t first, last;                /* epochs */
	uint32_t every, skipped;             /* epochs that a point stands for */
};

void live_clear(struct live *l);
void live_release(struct live *l);
void live_add(struct live *l, uint32_t epoch, double training, double validation);
/* `rows` lines of less than `columns` characters each, with newlines: a legend, the curves, the epochs.
 * Nothing for fewer than two points, or where there is too little room. */
void live_draw(const struct live *l, const char *metric, unsigned rows, unsigned columns, bool utf8, bool colour, struct buf *out);
/* Whether a plot of values from low to high has a logarithmic scale: they are positive and span a decade or more. */
bool plot_is_logarithmic(double low, double high);
/* Does the environment say that text is UTF-8? */
bool live_utf8(void);
