/* SPDX-License-Identifier: Apache-2.0
 * The step loop: batches, gradients, updates, validation, restarts.
 *
 * It prints nothing: what happens goes to the caller's observer (progress line,
 * metrics file).  Deterministic: the same job gives the same weights, bit for bit, for
 * any number of threads. */
#ifndef QCNN_TRAIN_H
#define QCNN_TRAIN_H

#include "runtime/data/dataset.h"
#include "runtime/exec/evaluator.h"
#include "runtime/train/callback/callback.h"
#include "runtime/train/loss/measures.h"
#include "runtime/train/optimizer/constraint.h"
#include "runtime/train/optimizer/optimizer.h"
#include "runtime/train/optimizer/schedule.h"

enum { TRAIN_RESTARTS_MAX = 10000, CLASS_WEIGHTS_MAX = 1024 };

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
	uint32_t initial_epoch;              /* so many of the epochs are taken as done */
	uint32_t steps_per_epoch;            /* 0: once through the data; else they are repeated without end */
	uint32_t validation_freq;            /* validation after every so many epochs; 0: after each */
	const uint32_t *validation_epoch; uint32_t nvalidation_epoch;        /* or after these, from 1; 0: as validation_freq says */
	uint64_t max_steps;                  /* 0: no limit */
	struct measures measures;
	struct class_weights class_weights;
	struct constraint constraint[CONSTRAINTS_MAX]; unsigned nconstraint;
	const struct optimizer_row *optimizer; double option[OPTIMIZER_OPTIONS_MAX];
	struct schedule schedule;            /* of the learning rate; row NULL: it stays */
	uint64_t seed;
	bool shuffle;
	uint32_t restarts;                   /* k starts; the lowest final training loss wins */
	const double *init;                  /* nweight given weights (start 0), or NULL */
	const struct callback_set *callbacks;        /* NULL: none */
	struct run *run;                     /* in whose folder relative paths of callbacks are; NULL: the current one */
	const struct train_state *resume;    /* go on from here (train_state.h); NULL: from the beginning */
};

struct epoch_result {
	uint32_t start, epoch;               /* start: restart index; epoch from 1 */
	uint64_t step;
	double loss, metric[TRAIN_VALUES_MAX];           /* means while weights move; see measures_at */
	bool has_validation;
	double val_loss, val_metric[TRAIN_VALUES_MAX];
	double learning_rate;                /* of the step that would be next, as Keras logs it */
	double seconds, samples_per_second;
};

/* What a start looks like when an epoch has ended; borrowed, for the time of the call. */
struct epoch_state {
	const double *weight, *gradient;     /* (nweight); the gradient is that of the epoch's last update */
	const double *readout;               /* (nbatch, nreadout) of that update, before it */
	uint32_t nbatch;
};

/* What a callback has decided.  All starts tell theirs; borrowed, for the time of the call. */
enum train_event_kind {
	TRAIN_STOPPED = 1,                   /* the start ends after this epoch: monitor, best, best_epoch */
	TRAIN_RESTORED,                      /* it has ended with the weights of best_epoch: monitor, best */
	TRAIN_RATE,                          /* the learning rate is `rate` from now on */
	TRAIN_SAVE,                          /* write `weight` to the file `path`; 0, or a code when that failed */
	TRAIN_DROP,                          /* the file `path`, saved before, is not wanted any more */
	TRAIN_CSV_FAILED                     /* the callback csv cannot write, and will try again: path is why */
};
struct train_event {
	enum train_event_kind kind;
	uint32_t start, batch;               /* batch: update in the epoch, of SAVE */
	uint32_t which;                      /* of STOPPED and RESTORED: the so-maniest early_stopping, from 0 */
	const struct epoch_result *result;   /* SAVE in mid-epoch: of the updates so far */
	const char *monitor, *path;
	const double *weight;
	double best, rate; uint32_t best_epoch;
};

struct train_observer {
	void *ctx;
	/* After every update. */
	void (*step)(void *ctx, uint32_t start, uint32_t epoch, uint64_t step, uint32_t step_in_epoch,
		uint32_t steps_per_epoch, double batch_loss);
	/* Behind step: where the run is, borrowed for the time of the call. Return non-zero to stop there:
	 * training returns the (negative) code, and goes on from that state as if it had never stopped. */
	int (*between)(void *ctx, const struct train_state *s, struct err *e);
	void (*epoch)(void *ctx, const struct epoch_result *r);
	/* Behind epoch. */
	void (*state)(void *ctx, const struct epoch_result *r, const struct epoch_state *s);
	/* What callbacks decided; the result counts for SAVE alone. */
	int (*event)(void *ctx, const struct train_event *v);
	/* A start has ended. */
	void (*start)(void *ctx, uint32_t start, double final_loss, const double *weight);
	/* At the end of training, also where it fails: what has been computed here, in parts to be added. */
	void (*work)(void *ctx, const struct shortcut_use *u);
};

struct train_result {
	double *weight;                      /* nweight of the winner; malloc'ed */
	uint32_t winner;
	double *start_loss;                  /* (restarts) final losses */
	struct start_end *end;               /* (restarts) how they ended */
	struct epoch_result last;            /* the winner's last epoch */
	uint64_t step;
	double *slot[OPTIMIZER_SLOTS_MAX];   /* optimiser's state of the winner */
};

/* Are there validation samples, and are they evaluated after this epoch? */
bool train_validates(const struct train_job *j, uint32_t epoch);
/* Samples of a step, and steps of a pass through the data and of an epoch: a search over all samples
 * takes them at once. */
uint32_t train_batch_size(const struct train_job *j);
uint32_t train_steps_per_pass(const struct train_job *j);
uint32_t train_steps_per_epoch(const struct train_job *j);
/* Samples that the first n updates of an epoch see; its end where n is train_steps_per_epoch(). */
uint64_t train_samples(const struct train_job *j, uint32_t epoch, uint32_t n);

/* Do data, model and options go together?  0 or an error that says what does not. */
int train_check(const struct train_job *j, struct err *e);
int train_run(const struct train_job *j, const struct train_observer *o, struct train_result *out, struct err *e);
void train_result_release(struct train_result *r);

/* Outputs (nrow, noutput), readouts not kept; loss (with penalties) and metrics when labels
 * are there (m, loss_out and metric_out may be NULL). The same numbers as validation in train_run. */
int evaluate_part(struct evaluator *ev, const struct part *part, const struct measures *m, const double *weight,
	double *output, double *loss_out, double *metric_out, struct pool *pool, struct err *e);

#endif
