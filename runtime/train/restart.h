/* SPDX-License-Identifier: Apache-2.0
 * One restart of a training run: from initial weights through all epochs. */
#ifndef QCNN_RESTART_H
#define QCNN_RESTART_H

#include "runtime/train/checkpoint/train_state.h"
#include "runtime/train/optimizer/learning_rate.h"
#include "runtime/train/score.h"
#include "runtime/train/train.h"

/* Trains restarts one after the other; its buffers are shared by them. */
struct trainer {
	const struct train_job *job;
	const struct train_observer *observer;   /* never NULL */
	struct evaluator *ev;
	struct pool *pool;
	struct score score;
	struct learning_rate rate;
	struct callbacks *callbacks; /* of the current restart */
	uint32_t batch_size, steps_per_epoch, last_batch;    /* last_batch: samples of the last update */
	uint32_t *row;               /* (train.nrow) this pass's order */
	uint64_t pass;               /* the pass of that order, from 1; 0: none */
	double *input;               /* (batch, nx) where the data are in a file */
	double *readout;             /* (batch, nreadout) */
	double *output, *label;      /* (samples of an epoch, noutput), (..., ny): of this epoch, for the metrics; without
				      * metrics of a batch */
	double *val_output;          /* (validation.nrow, noutput) */
	double *gradient;            /* (nweight) */
	uint8_t *frozen;             /* (nweight) */
	const struct train_result *best; const double *restart_loss;
	const struct restart_end *end; /* of the restarts before this one */
	/* The step's batch, and the buffers of optimizers that probe it (NULL for others). */
	uint32_t nevaluation;        /* of the step so far; each draws its own shots */
	uint32_t batch_at, batch_n;  /* rows at .. at+n of the pass's order */
	struct probe probe;
	double *probe_readout, *probe_output;        /* (batch, nreadout), (batch, noutput) of the last probe */
	double *kept_output;         /* (batch, noutput) of the probe that is kept */
	double probed, kept;         /* the losses' sum, penalties too: of the last probe, of the one kept */
	struct search_record record;
	/* of the current restart */
	uint32_t restart, epoch;
	uint64_t step;
	uint32_t at;                 /* samples of the epoch that were seen */
	double loss_sum;             /* of their losses */
	double epoch_begin;          /* clock, as if the epoch had never been left */
	double *weight, *slot[OPTIMIZER_SLOTS_MAX];   /* (nweight) each */
};

/* Seeds the shots of an evaluation in this step; SHOTS_OF_VALIDATION is one of them. */
void trainer_draws(struct trainer *t, uint32_t evaluation);
#define SHOTS_OF_VALIDATION UINT32_MAX
/* Losses of the step's batch at weight[nweight]: *sum over its samples, penalties included; output
 * (batch_n, noutput), readout (batch_n, nreadout), gradient (nweight) of the mean, or NULL. */
int trainer_loss(struct trainer *t, const double *weight, double *output, double *readout, double *gradient,
	double *sum, struct err *e);
/* Where the outputs of the step's batch go. */
double *trainer_output(const struct trainer *t);
/* Memory and functions of t->probe, where the optimiser probes; false: memory is short. */
bool trainer_probe_open(struct trainer *t);
/* Before the first step of a restart; then, of one that is resumed, the record of its search.  False: memory is short. */
void trainer_probe_begin(struct trainer *t);
bool trainer_probe_resume(struct trainer *t, const struct restart_state *s);
void trainer_probe_close(struct trainer *t);

/* A restart that has ended; the run keeps its loss, and all of it where it is the best so far.  To be called in the
 * order of the restarts: the first of the lowest losses wins. */
struct restart_result { uint32_t restart; const struct epoch_record *last; struct restart_end end; const double *weight; double *const *slot; };
void train_result_take(struct train_result *r, const struct train_job *j, const struct restart_result *s);

int trainer_open(struct trainer *t, const struct train_job *j, const struct train_observer *o, struct err *e);
/* Also reports its work to o (may be NULL). */
void trainer_close(struct trainer *t, const struct train_observer *o);
/* Trains from the initial weights of that restart, or from a state of it (NULL: none); *last is its last epoch. */
int trainer_run(struct trainer *t, uint32_t restart, const struct restart_state *from, struct epoch_record *last, struct err *e);

#endif
