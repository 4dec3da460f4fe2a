/* SPDX-License-Identifier: Apache-2.0
 * What the files of the evaluator share. */
#pragma once

#include "runtime/base/profile/recorder.h"
#include "runtime/exec/engine.h"

/* An engine that is open. */
struct evaluator_engine {
	const struct engine *engine;
	void *state;
};

/* Of one worker; made once, so that a unit takes no memory. */
struct evaluator_worker {
	double *dreadout;   /* (width, nreadout) gradient with respect to the unit's readouts */
	double *gradient;   /* (nweight) by the circuit's weights, then the head's */
	struct fixed *unit; /* (nvector) of the latest unit */
	struct fixed *sum;  /* (nvector) of its units, in two-phase execution */
	struct fixed *head; /* (head's weights) sum, in two-phase execution */
	int64_t claimed;    /* the first unit of this batch, or -1 */
	uint64_t nunit;     /* done since the evaluator was made */
};

/* Batches of one size, one after the other: what they cost, and would without exact optimisations. */
struct work_seen {
	uint32_t nsample, nstate;
	double n, flops, plain, sample_flops;
};

struct evaluator {
	const struct program *p;     /* what is evaluated: evaluator_program of the caller's */
	const struct program *whole; /* the caller's */
	struct evaluator_options o;
	struct arena arena;
	struct mem_list memory;                      /* of sums and of what workers have */
	struct evaluator_engine engine[ENGINES_MAX]; /* (nengine), in the order in which batches are offered */
	unsigned nengine;
	double *weight;       /* (nweight) */
	uint64_t version;     /* of the weights: no two are alike in a process */
	double *readout_most; /* (nreadout) largest magnitude of a readout while states have norm 1 */
	double *readout_limit;           /* (nreadout) the same with the tolerance of the norm */
	struct evaluator_worker *worker; /* (nworker) */
	unsigned nworker;                /* threads that do units, at most */
	struct fixed *sum;               /* (nvector) */
	struct fixed *head; /* (head's weights) of all workers, in two-phase execution */
	struct draws draws; /* of the batches to come */
	/* The batch. */
	struct batch batch;
	bool gradient;
	readout_gradient_fn fn;
	void *ctx;
	struct readout_gradient_needs needs;
	double *readout;                   /* (nsample, nreadout) */
	const struct evaluator_engine *on; /* what evaluates it */
	struct engine_units units;
	struct engine_layout layout;
	struct pool *pool;
	struct optimisation_use use; /* but for the batches that were seen last */
	struct work_seen seen;
	struct recorder_region region; /* of the units of a batch */
};

/* Weights of the head. */
static inline uint32_t head_weights(const struct evaluator *ev)
{
	return ev->p->nweight - ev->p->nweight_circuit;
}

/* The checked readouts of a sample of the batch: -ERR_NOT_FINITE, naming its row of the caller's data, where one is not
 * finite or larger than any state of norm 1 gives: then rounding has changed the norm. */
int sample_readouts(const struct evaluator *ev, uint32_t sample, struct err *e);
/* The gradient of a sample whose readouts are known into dreadout[nreadout] (where a gradient is requested), the
 * head's added into the worker's gradient. */
int sample_gradient(struct evaluator *ev, unsigned worker, uint32_t sample, double *dreadout,
	struct err *e);

/* The prepared batch in two-phase execution, with this process's threads; sums into ev->sum. */
int evaluator_run_phases(struct evaluator *ev, struct err *e);
/* The units of the prepared batch by a pool's workers elsewhere. */
int evaluator_run_remote(struct evaluator *ev, struct pool *pool, struct err *e);
uint64_t weights_version(void);

/* exact_optimisation_use.c: counts the prepared batch. */
void use_batch(struct evaluator *ev);
