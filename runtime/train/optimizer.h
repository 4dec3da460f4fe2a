/* SPDX-License-Identifier: Apache-2.0
 * Optimisers: rows of optimizer.def, each with its options and their defaults
 * (Keras's names, defaults and formulas), state in float64. */
#ifndef QCNN_OPTIMIZER_H
#define QCNN_OPTIMIZER_H

#include <stddef.h>
#include <stdint.h>
#include "runtime/base/err.h"
#include "runtime/program/program.h"
#include "runtime/train/option.h"

enum { OPTIMIZER_OPTIONS_MAX = TRAIN_OPTIONS_MAX, OPTIMIZER_SLOTS_MAX = 4 };

/* Option 0 of every optimiser is its learning rate. */
enum { OPTIMIZER_LEARNING_RATE = 0 };

/* Options that all share, behind the row's own: option[row->nown + SHARED_...]. */
enum optimizer_shared {
	SHARED_WEIGHT_DECAY = 0, SHARED_CLIPNORM, SHARED_CLIPVALUE, SHARED_GLOBAL_CLIPNORM,
	SHARED_USE_EMA, SHARED_EMA_MOMENTUM, SHARED_EMA_OVERWRITE_FREQUENCY, SHARED_COUNT
};

/* What one update works on; step counts from 1, opt[] is as the row's option[]. */
struct update {
	const double *opt;
	uint64_t step;
	const double *gradient;      /* (n) */
	double *weight;              /* (n) */
	double *const *slot;         /* (n) each; all zero before step 1 */
	const uint8_t *frozen;       /* (n), or NULL: none is */
	size_t n;
};

struct optimizer_row {
	const char *name, *doc, *source;
	unsigned nown, noption;      /* options without and with the shared ones */
	struct train_option option[OPTIMIZER_OPTIONS_MAX];
	unsigned nslot;              /* vectors of n doubles that its update keeps */
	const char *slot_name[OPTIMIZER_SLOTS_MAX];      /* slot_name[nslot]: that of the running mean */
	/* weight[i] -= ... for i with !frozen[i]. */
	void (*update)(const struct update *u);
};

const struct optimizer_row *optimizer_find(const char *name);
size_t optimizer_rows(const struct optimizer_row **rows);

/* Slots that a run keeps: those of the row, and with use_ema the weights' running mean. */
unsigned optimizer_slots(const struct optimizer_row *row, const double *opt);
/* Do the options go together?  0 or -ERR_CONFIG. */
int optimizer_check(const struct optimizer_row *row, const double *opt, struct err *e);
/* One step on the weights of p: clipping (changes gradient), decay, the row's update, running mean. */
void optimizer_step(const struct optimizer_row *row, const struct program *p, const struct update *u, double *gradient);
/* After the last step: with use_ema the weights become their mean. */
void optimizer_finish(const struct optimizer_row *row, const struct update *u);

#endif
