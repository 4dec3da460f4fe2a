/* SPDX-License-Identifier: Apache-2.0
 * A training job: program, data, options, and the numbers of its steps. */
#pragma once

#include "runtime/data/dataset.h"
#include "runtime/exec/evaluator.h"
#include "runtime/train/loss/measures.h"
#include "runtime/train/optimizer/constraint.h"
#include "runtime/train/optimizer/optimizer.h"
#include "runtime/train/optimizer/schedule.h"

enum { TRAIN_RESTARTS_MAX = 10000, CLASS_WEIGHTS_MAX = 1024 };

struct callback_set;
struct train_state;

/* Rows of a data set in an order. */
struct part { const struct dataset *data; const uint32_t *row; uint32_t nrow; };

/* Weights of samples by their class: a label's value, or the number of the largest of several;
 * classes that are not named weigh 1.  As Keras's, they count in training alone. */
struct class_weights { unsigned n; const double *label, *weight; };

struct train_job {
	const struct program *program;
	struct evaluator_options exec;
	struct pool *pool;                   /* whose workers do the units; NULL: threads of this process */
	struct part train, validation;       /* validation.nrow may be 0 */
	uint32_t epochs, batch_size;
	uint32_t initial_epoch;              /* this many epochs count as done */
	uint32_t steps_per_epoch;            /* 0: one pass through the data; else passes follow each other */
	uint32_t validation_freq;            /* validation after every this many epochs; 0: after each */
	const uint32_t *validation_epoch; uint32_t nvalidation_epoch;        /* or after these, from 1; 0: as validation_freq says */
	uint64_t max_steps;                  /* 0: no limit */
	struct measures measures;
	struct class_weights class_weights;
	struct constraint constraint[CONSTRAINTS_MAX]; unsigned nconstraint;
	const struct optimizer_row *optimizer; double option[OPTIMIZER_OPTIONS_MAX];
	struct schedule schedule;            /* of the learning rate; row NULL: constant */
	uint64_t seed;
	bool shuffle;
	uint32_t restarts;                   /* the lowest final training loss wins */
	const double *init;                  /* (nweight) initial weights of restart 0, or NULL */
	const struct callback_set *callbacks;        /* NULL: none */
	struct run *run;                     /* relative paths of callbacks are in its folder; NULL: in the current one */
	const struct train_state *resume;    /* continue from this state (train_state.h); NULL: from the beginning */
};

/* Numbers of all metrics of an epoch. */
unsigned train_values(const struct train_job *j);
/* Are there validation samples, and are they evaluated after this epoch? */
bool train_validates(const struct train_job *j, uint32_t epoch);
/* Samples of a step, and steps of a pass through the data and of an epoch: a search over all samples
 * takes them at once. */
uint32_t train_batch_size(const struct train_job *j);
uint32_t train_steps_per_pass(const struct train_job *j);
uint32_t train_steps_per_epoch(const struct train_job *j);
/* Samples that the first n updates of an epoch see; its end where n is train_steps_per_epoch(). */
uint64_t train_samples(const struct train_job *j, uint32_t epoch, uint32_t n);
