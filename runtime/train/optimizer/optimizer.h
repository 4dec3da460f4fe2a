/* SPDX-License-Identifier: Apache-2.0
 * Optimisers: rows of optimizer.def, each with its options and their defaults
 * (Keras's names, defaults and formulas), state in float64. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "runtime/base/err.h"
#include "runtime/program/program.h"
#include "runtime/train/option/option.h"

enum { OPTIMIZER_OPTIONS_MAX = TRAIN_OPTIONS_MAX, OPTIMIZER_SLOTS_MAX = 4 };

/* Option 0 of every optimiser with a learning rate (optimizer_has_rate). */
enum { OPTIMIZER_LEARNING_RATE = 0 };

/* How an optimizer finds its updates. */
enum optimizer_method {
	METHOD_NONE = 0,
	METHOD_GRADIENT,     /* update(): from the gradient of the step's batch */
	METHOD_PROBE,        /* search(): it asks for losses of the step's batch at weights of its choice */
	METHOD_PROBE_GRADIENT,  /* the same, for losses and gradients */
	METHOD_WHOLE,        /* search(), each step over all samples, in one order, whatever the batch size */
	METHOD_WHOLE_GRADIENT   /* the same, with gradients */
};

/* Options that all of METHOD_GRADIENT share, behind the row's own: option[row->nown + SHARED_...]. */
enum optimizer_shared {
	SHARED_WEIGHT_DECAY = 0, SHARED_CLIPNORM, SHARED_CLIPVALUE, SHARED_GLOBAL_CLIPNORM,
	SHARED_USE_EMA, SHARED_EMA_MOMENTUM, SHARED_EMA_OVERWRITE_FREQUENCY, SHARED_COUNT
};

/* What one update works on; step counts from 1, opt[] is as the row's option[]. */
struct update {
	const double *opt;
	double learning_rate; /* of this step, where the optimizer takes one from outside (schedule.h) */
	uint64_t step;
	const double *gradient;      /* (n) */
	double *weight;              /* (n) */
	double *const *slot;         /* (n) each; all zero before step 1 */
	const uint8_t *frozen;       /* (n), or NULL: none is */
	size_t n;
};

/* May weight i change? */
static inline bool update_moves(const struct update *u, size_t i)
{
	return !u->frozen || !u->frozen[i];
}

/* How a search asks for losses of the step's batch, penalties included; the trainer answers. */
struct probe {
	const struct probe_ops *ops;
	const struct program *program;
	uint64_t seed;
	uint32_t restart;
	double *gradient, *moved;    /* (nweight): the step's gradient or its estimate, for logs; scratch */
	/* METHOD_WHOLE, METHOD_WHOLE_GRADIENT: all values that the search was given in this restart, from which it
	 * continues after a resume, and its session. */
	struct search_record *record;
	void *session;
	bool over;           /* set by a search that has converged: the restart ends after this step */
};

/* Losses and gradients in the order in which a search got them: state of the optimizer beside its slots. */
struct search_record { double *value; size_t n, cap; };

struct probe_ops {
	/* *loss at weight[n]; gradient[n] unless NULL.  An error names the sample. */
	int (*loss)(struct probe *p, const double *weight, double *loss, double *gradient, struct err *e);
	/* *readout: the batch's readouts at weight[n], (*nsample, program->nreadout), until the next call;
	 * with weight NULL only *nsample is set. */
	int (*readouts)(struct probe *p, const double *weight, const double **readout, uint32_t *nsample, struct err *e);
	/* *loss of readouts of the caller's, of the same shape, with the head and penalties of weight[n]. */
	int (*loss_of)(struct probe *p, const double *weight, const double *readout, double *loss, struct err *e);
	/* The loss of an earlier step made again at weight[n], with that step's shots, and kept. */
	int (*again)(struct probe *p, const double *weight, uint64_t step, struct err *e);
	/* The last loss() is the step's: its outputs and readouts are those that metrics and logs see. */
	void (*keep)(struct probe *p);
};

struct optimizer_row {
	const char *name, *doc, *source;
	enum optimizer_method method;
	unsigned nown, noption;      /* options without and with the shared ones */
	struct train_option option[OPTIMIZER_OPTIONS_MAX];
	unsigned nslot;              /* vectors of n doubles that its update keeps */
	const char *slot_name[OPTIMIZER_SLOTS_MAX];      /* slot_name[nslot]: that of the running mean */
	/* weight[i] -= ... for i with !frozen[i]. */
	void (*update)(const struct update *u);
	/* METHOD_PROBE and above: finds the next weights; calls keep() at least once in a restart's first
	 * step.  u->gradient is not looked at.  0, or the error of a probe. */
	int (*search)(const struct update *u, struct probe *p, struct err *e);
	/* Optional: can it train the program's weights?  0 or -ERR_CONFIG. */
	int (*check)(const struct program *p, struct err *e);
	/* Optional: of what search put into p->session. */
	void (*session_free)(void *session);
	/* Optional: the rate of the update after `step` others, where the optimizer finds it itself. */
	double (*rate)(const struct update *u, uint64_t step);
	const char *lacks;           /* the library that this build has not, or NULL */
};

const struct optimizer_row *optimizer_find(const char *name);
size_t optimizer_rows(const struct optimizer_row **rows);

/* Is option 0 a learning rate, which a schedule can change? */
bool optimizer_has_rate(const struct optimizer_row *row);
/* Does a step need the loss's gradient? */
bool optimizer_needs_gradient(const struct optimizer_row *row);
/* Does a step take all samples, in the order of the data, for any batch size? */
bool optimizer_takes_all(const struct optimizer_row *row);
/* Slots that a run keeps: those of the row, and with use_ema the weights' running mean. */
unsigned optimizer_slots(const struct optimizer_row *row, const double *opt);
/* Do the options go together, and is the row's library there?  0 or -ERR_CONFIG. */
int optimizer_check(const struct optimizer_row *row, const double *opt, struct err *e);
/* One step on the weights of p: clipping (changes gradient), decay, the row's update, running mean. */
void optimizer_step(const struct optimizer_row *row, const struct program *p, const struct update *u, double *gradient);
/* After the last step: with use_ema the weights become their mean. */
void optimizer_finish(const struct optimizer_row *row, const struct update *u);
