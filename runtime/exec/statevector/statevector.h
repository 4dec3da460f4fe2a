/* SPDX-License-Identifier: Apache-2.0
 * Cutting a batch into units, and what one unit needs: the evaluator's inside.
 *
 * A scratch belongs to one worker and is made once, so that a unit takes no memory.
 * A short unit repeats its first sample with slope 0; the copies are never counted. */
#ifndef QCNN_UNITS_H
#define QCNN_UNITS_H

#include "runtime/exec/evaluator.h"
#include "runtime/exec/exact_optimisation_use.h"
#include "runtime/exec/shots.h"

struct scratch {
	/* Per sample of the unit, (width) each. */
	double **value;              /* (nexpr) of every expression */
	cplx **u, **own_u;           /* (nmatrix_entry): of the unit (copies of a short unit: sample 0's), memory */
	double **anti_hermitian_sample;        /* (nmatrix_entry) cross matrices of class SAMPLE (anti_hermitian.h) */
	const double **row;          /* (ninput) the sample's inputs */
	/* Per circuit: vectors to prepare, readouts and slopes of all samples. */
	cplx ***vector, ***own_vector;   /* [circuit][v * width + sample] */
	double **readout, **slope;   /* [circuit][sample * nreadout + k] */
	struct unit_input input;
	double *anti_hermitian_shared;         /* (nmatrix_entry) of the others */
	double *pauli_gradient;              /* (nmatrix_entry) of matrix_reverse */
	double *slope_expr;          /* (nexpr) */
	double *slope_row;           /* (nreadout) of one sample, circuits together */
	double *gradient;            /* (nweight): by the circuit's weights, then the head's */
	double *weight;              /* (nweight) changed weights, for differences */
	double *shifted;             /* (largest nreadout * width) readouts of a changed circuit */
	struct fixed *vector_sum;    /* (nvector) */
	/* With shots: the state, scratch of shots.h, the unit's first sample, and circuits run for it so far. */
	cplx *shot_psi; void *shot_scratch;
	uint32_t first, variant;
	int64_t claimed;             /* the first unit of this batch, or -1 */
	uint64_t nunit;              /* done since the evaluator was made */
	struct stopwatch watch;      /* of this batch */
};

struct rank;

/* Batches of one size, one after the other: what they cost, and would without shortcuts. */
struct work_seen { uint32_t nsample, nstate; double n, flops, plain, sample_flops; };

struct evaluator {
	const struct program *p;     /* what is evaluated: the caller's, or its cones */
	const struct program *whole; /* the caller's */
	struct evaluator_options o;
	struct plan *pl;
	const struct backend *backend;
	struct backend_state *state;
	struct arena arena;          /* lists and scratches */
	/* With these weights. */
	double *weight;              /* (nweight) */
	uint64_t version;            /* of the weights: no two are alike in a process */
	bool weighted;               /* there were some before: what is constant is there */
	double *value;               /* (nexpr) constant and shared expressions */
	cplx *u;                     /* (nmatrix_entry) constant and shared matrices */
	cplx *kept;                  /* (set.nkept) numbers of their build for the backward pass */
	double *shift_use;           /* (set.n) uses of trained angles in a matrix, for parameter shift; or NULL */
	/* Which (nmatrix each): used at all; used by a per-sample matrix; in a definition that
	 * gets slopes from shared cross matrices, from per-sample ones. */
	bool *need, *need_sample, *reverse_shared, *reverse_sample;
	bool *cross_shared, *cross_sample;       /* have a cross matrix of that kind themselves */
	double *readout_most;        /* (nreadout) largest magnitude of a readout while states have norm 1 */
	double *readout_limit;       /* (nreadout) the same with the tolerance of the norm */
	uint32_t *sample_matrix, nsample_matrix; /* of class SAMPLE, ascending */
	uint32_t *referred, nreferred;           /* matrices that per-sample ones refer to, none of these itself */
	uint32_t *sample_expr, nsample_expr;     /* expressions of class SAMPLE, ascending */
	uint32_t *copied_expr, ncopied_expr;     /* the others that units look at */
	const uint32_t *const *length;           /* [circuit][v] of the vectors to prepare */
	/* The vector of a unit: cross matrices, weight gradients, head gradient. */
	uint32_t *cross, ncross;     /* matrices whose cross matrices are summed over units */
	bool direct;                 /* weight gradients are made unit by unit */
	size_t nvector;
	double *anti_hermitian;                /* (nmatrix_entry) for the finish */
	double *slope_expr, *pauli_gradient; /* (nexpr), (nmatrix_entry) likewise */
	struct fixed *sum;           /* (nvector) */
	struct shot_groups **shot_group;     /* (ncircuit), with shots */
	uint64_t draw_key;
	uint32_t draw_first;
	const uint32_t *draw_sample; /* (nsample), or NULL: draw_first .. */
	/* The batch. */
	struct batch batch;
	bool gradient;
	slope_fn fn;
	void *ctx;
	struct slope_needs needs;
	double *readout;             /* (nsample, nreadout) */
	uint32_t nunit;
	double unit_flops[2];        /* forward alone, with gradient; 0: not counted yet */
	struct pool *pool;
	unsigned nworker;
	struct scratch *scratch;     /* (nworker) */
	struct rank *rank;           /* the shortcut batch_rank, or NULL */
	struct shortcut_use use;     /* but for the batches that were seen last */
	struct work_seen seen;
	struct stopwatch watch;      /* of the steps since evaluator_measure; what workers did, by their mean */
};

/* Bytes that the evaluator takes besides the backend. */
uint64_t units_bytes(const struct evaluator *ev);
/* Memory of all workers; the lists of *ev are made. */
int units_new(struct evaluator *ev, struct err *e);

/* Forward of circuit c for the scratch's unit: readout[width * nreadout(c)], drawn where there are shots. */
void unit_forward(struct evaluator *ev, struct scratch *w, unsigned worker, uint32_t c, uint32_t count, bool keep,
	double *readout);

/* The samples of a unit: first and number. */
uint32_t unit_samples(const struct evaluator *ev, uint32_t unit, uint32_t *first);
/* Row number in the caller's data of a sample of the batch, for messages. */
uint32_t unit_row(const struct evaluator *ev, uint32_t sample);

/* By how much the square of a state's norm may differ from 1 before its numbers are refused. */
double norm_tolerance(const struct evaluator *ev);
/* A sample's readouts as they were read: -ERR_NOT_FINITE, naming its row of the caller's data, where one is not finite or
 * larger than any state of norm 1 gives: then rounding has changed the norm. */
int unit_finite(const struct evaluator *ev, const double *readout, uint32_t row, struct err *e);
/* The slopes of a sample whose readouts are known into w->slope_row (where a gradient is wanted), the
 * head's gradient added into w->gradient. */
int unit_slope(struct evaluator *ev, struct scratch *w, uint32_t sample, uint32_t row, struct err *e);
/* Bytes that can still be taken besides what the evaluator has. */
uint64_t evaluator_memory_left(const struct evaluator *ev);

/* After new weights: what does not differ between samples, into every scratch. */
void units_weights(struct evaluator *ev);
/* Expressions, matrices and vectors of `count` samples from `first` on. */
int unit_fill(struct evaluator *ev, struct scratch *w, uint32_t first, uint32_t count, struct err *e);

/* States, where there are none yet (options.far): -ERR_CONFIG where they do not fit. */
int evaluator_need_states(struct evaluator *ev, struct err *e);

/* evaluator_remote.c: the units of the prepared batch by a pool's workers elsewhere. */
int evaluator_run_far(struct evaluator *ev, struct pool *pool, struct err *e);
uint64_t weights_version(void);

/* exact_optimisation_use.c: counts the prepared batch. */
void use_batch(struct evaluator *ev);

#endif
