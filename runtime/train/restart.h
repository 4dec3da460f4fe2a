/* SPDX-License-Identifier: Apache-2.0
 * One restart of a training run: from initial weights through all epochs. */
#pragma once

#include "runtime/train/checkpoint/train_state.h"
#include "runtime/train/optimizer/schedule.h"
#include "runtime/train/score.h"
#include "runtime/train/train.h"

/* Trains restarts one after the other; its buffers are shared by them. */
struct trainer {
	const struct train_job *job;
	/* Never NULL: of the run, and where the trainer's events go, which may be a queue. */
	const struct train_observer *of_run, *observer;
	/* After every update, in place of that of the observers; NULL: none. */
	int (*between)(void *ctx, const struct train_state *s, struct err *e);
	void *between_ctx;
	struct evaluator *ev;
	struct pool *pool;
	struct score score;
	struct learning_rate rate;
	struct callbacks *callbacks; /* of the current restart */
	struct mem_list memory;      /* of all arrays */
	uint32_t batch_size, steps_per_epoch, last_batch;    /* last_batch: samples of the last update */
	uint32_t *row; /* (train.nrow) order of the samples in this pass over the data */
	uint64_t pass; /* number of that pass, from 1; 0: none */
	double *input; /* (batch, nx), if the data are streamed */
	double *readout;             /* (batch, nreadout) */
	double *output, *label;      /* (samples of an epoch, noutput), (..., ny): of this epoch, for the metrics; without
				      * metrics of a batch */
	double *val_output;          /* (validation.nrow, noutput) */
	double *gradient;            /* (nweight) */
	uint8_t *frozen;             /* (nweight) */
	const struct train_result *best; const double *restart_loss;
	const struct restart_end *end; /* of the restarts before this one */
	/* The batch of the step, and buffers for optimisers that evaluate it several times (NULL for others). */
	uint32_t nevaluation; /* evaluations in this step so far; each draws different shots */
	uint32_t batch_at, batch_n;  /* rows at .. at+n of the pass's order */
	struct probe probe;
	double *probe_readout, *probe_output;        /* (batch, nreadout), (batch, noutput) of the last probe */
	double *before_step; /* (1 + slots, nweight): weights and slots at the beginning of the step */
	double *kept_output; /* (batch, noutput) of the kept probe */
	double probed, kept; /* sum of losses and penalties: of the last probe, of the kept one */
	struct search_record record;
	/* State of the current restart. */
	uint32_t restart, epoch;
	uint64_t step;
	uint32_t at;        /* samples of the epoch that were used so far */
	double loss_sum;    /* sum of their losses */
	double epoch_begin; /* start time of the epoch, as if it had not been interrupted */
	double *weight, *slot[OPTIMIZER_SLOTS_MAX];   /* (nweight) each */
};

/* Seed the shots of an evaluation in this step, or of the validation (SHOTS_OF_VALIDATION). */
void trainer_draws(struct trainer *t, uint32_t evaluation);
#define SHOTS_OF_VALIDATION UINT32_MAX
/* Evaluate the batch of the step at weight[nweight]: *sum of its losses and penalties; output (batch_n, noutput), readout
 * (batch_n, nreadout), gradient (nweight) of the mean, or NULL. */
int trainer_loss(struct trainer *t, const double *weight, double *output, double *readout,
	double *gradient, double *sum, struct err *e);
/* Set up t->probe, and memory for an optimiser that evaluates losses itself. */
void trainer_probe_open(struct trainer *t);
/* Call trainer_probe_begin before the first step of a restart, then trainer_probe_resume with the recorded search of a
 * resumed one; false: no memory. */
void trainer_probe_begin(struct trainer *t);
bool trainer_probe_resume(struct trainer *t, const struct restart_state *s);
void trainer_probe_close(struct trainer *t);

int trainer_open(struct trainer *t, const struct train_job *j, const struct train_observer *o, struct err *e);
/* Also report exact optimisations and operation counts to o (may be NULL). */
void trainer_close(struct trainer *t, const struct train_observer *o);
/* Train from the initial weights of the restart or, if it is not NULL, from the state `from`; *last is its last epoch. */
int trainer_run(struct trainer *t, uint32_t restart, const struct restart_state *from,
	struct epoch_record *last, struct err *e);
