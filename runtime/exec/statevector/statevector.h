/* SPDX-License-Identifier: Apache-2.0
 * The engine of state vectors: 2^n amplitudes of a circuit, held by a backend.
 *
 * It fits a plan to the program, builds matrices in double precision from weights and inputs, and has a backend
 * evolve the states of a unit's samples. A scratch belongs to one worker and is made once, so that a unit takes no
 * memory. A short unit repeats its first sample with gradient 0; the copies are never counted. */
#pragma once

#include "runtime/exec/engine.h"
#include "runtime/exec/shots.h"
#include "runtime/exec/statevector/backend.h"

struct scratch {
	/* Per sample of the unit, (width) each. */
	double **value; /* (nexpr) of every expression */
	cplx **u, **own_u; /* (nmatrix_entry): of the unit (copies of a short unit: sample 0's), memory */
	double **anti_hermitian_sample; /* (nmatrix_entry) reduced transition matrices of class SAMPLE (anti_hermitian.h) */
	const double **row; /* (ninput) the sample's inputs */
	/* Per circuit: vectors to prepare, readouts and readout gradients of all samples. */
	cplx ***vector, ***own_vector; /* [circuit][v * width + sample] */
	double **readout, **dreadout;  /* [circuit][sample * nreadout + k] */
	struct unit_input input;
	double *number; /* (width, loss_numbers) of the samples; NULL: the loss has no terms */
	double *anti_hermitian_shared; /* (nmatrix_entry) of the others */
	double *pauli_gradient;        /* (nmatrix_entry) of matrix_reverse */
	double *dexpr;                 /* (nexpr) */
	double *gradient; /* (nweight), the caller's: by the circuit's weights, then the head's */
	double *weight;   /* (nweight) changed weights, for differences */
	double *shifted;  /* (largest nreadout * width) readouts of a changed circuit */
	/* With shots: the state, scratch of shots.h, the unit's first sample, and circuits run for it so far. */
	cplx *shot_psi;
	void *shot_scratch;
	uint32_t first, variant;
	/* With noise channels: the first trajectory of the scratch, whose places are trajectories of one sample, and the
	 * readouts (nreadout) of trajectory 0. */
	uint32_t trajectory;
	double *base;
};

struct statevector {
	const struct program *p;
	struct evaluator_options o;
	struct plan *pl;
	const struct backend *backend;
	struct backend_state *state; /* NULL: not taken yet (options.remote) */
	struct arena arena;          /* lists and scratches */
	/* With these weights. */
	const double *weight; /* (nweight), the caller's */
	bool weighted;        /* there were some before: what is constant is there */
	double *value;        /* (nexpr) constant and shared expressions */
	cplx *u;              /* (nmatrix_entry) constant and shared matrices */
	cplx *kept;           /* (set.nkept) numbers of their build for the backward pass */
	double *shift_use; /* (set.n) uses of trained angles in a matrix, for parameter shift; or NULL */
	/* Which (nmatrix each): used at all; used by a per-sample matrix; in a definition that
	 * gets readout gradients from shared reduced transition matrices, from per-sample ones. */
	bool *need, *need_sample, *reverse_shared, *reverse_sample;
	bool *transition_shared,
		*transition_sample; /* have a reduced transition matrix of that kind themselves */
	uint32_t *sample_matrix, nsample_matrix; /* of class SAMPLE, ascending */
	uint32_t *referred,
		nreferred; /* matrices that per-sample ones refer to, none of these itself */
	uint32_t *sample_expr, nsample_expr; /* expressions of class SAMPLE, ascending */
	uint32_t *copied_expr, ncopied_expr; /* the others that units look at */
	const uint32_t *const *length;       /* [circuit][v] of the vectors to prepare */
	/* The vector of a unit: reduced transition matrices, weight gradients, head gradient. */
	uint32_t *transition,
		ntransition; /* matrices whose reduced transition matrices are summed over units */
	bool direct;         /* weight gradients are made unit by unit */
	size_t nvector;
	double *anti_hermitian;          /* (nmatrix_entry) for the finish */
	double *dexpr, *pauli_gradient;  /* (nexpr), (nmatrix_entry) likewise */
	struct shot_groups **shot_group; /* (ncircuit), with shots */
	uint32_t ntrajectory; /* of a sample, which is a unit then; 0: the program has no noise channels */
	/* The batch. */
	struct batch batch;
	bool gradient;
	double unit_flops[2]; /* forward alone, with gradient; 0: not counted yet */
	unsigned nworker;
	struct scratch *scratch; /* (nworker) */
};

/* A batch that another engine evaluates by *sv: the optimisations of its program. */
void statevector_count_program(const struct statevector *sv, const struct program *written,
	struct optimisation_tally *tally);

/* ---- memory (statevector_memory.c) ---- */

/* Memory of all workers; the lists of *sv are made. */
int scratch_new(struct statevector *sv, struct err *e);
/* Do the states alone fit, by their number; do they with all that comes on top?  -ERR_CONFIG, naming needed and
 * available bytes. */
int statevector_check_states(const struct statevector *sv, struct err *e);
int statevector_check_memory(const struct statevector *sv, struct err *e);
/* Takes the states, and finds how many threads can be. */
int statevector_take_states(struct statevector *sv, struct err *e);
unsigned statevector_workers(const struct statevector *sv);
/* Takes the states where there are none yet: -ERR_CONFIG where they do not fit. */
int statevector_states(struct statevector *sv, struct err *e);
/* Bytes that can still be taken besides what the engine has. */
uint64_t statevector_memory_left(const struct statevector *sv);

/* ---- units (statevector_units.c) ---- */

/* After new weights: what does not differ between samples, into every scratch. */
void scratch_weights(struct statevector *sv);
/* Expressions, matrices and vectors of `count` samples of the batch from `first` on; with noise channels, of that
 * many trajectories of sample `first` from w->trajectory on. */
int unit_fill(struct statevector *sv, struct scratch *w, uint32_t first, uint32_t count,
	struct err *e);
/* Forward of circuit c for the scratch's unit: readout[width * nreadout(c)], drawn where there are shots. */
void unit_forward(struct statevector *sv, struct scratch *w, unsigned worker, uint32_t c,
	uint32_t count, bool keep, double *readout);
/* The samples of a unit of the batch: first and number. */
uint32_t unit_samples(const struct statevector *sv, uint32_t unit, uint32_t *first);
/* Runs of the circuits for a unit: one, or as many as the trajectories of its sample need. */
uint32_t unit_runs(const struct statevector *sv);
/* The part of a sample's mean that place s of the scratch has: 1 without noise channels. */
double unit_part(const struct statevector *sv, const struct scratch *w, uint32_t s);
/* All expressions of place s with these weights. */
void unit_values(const struct statevector *sv, const struct scratch *w, uint32_t s,
	const double *weight);

/* ---- the adjoint method around a backend (gradient_adjoint.c) ----
 * Readout gradients in, reduced transition matrices out, and from their sums to the gradient. Those of shared matrices are summed over
 * units and run in reverse once a step; those of per-sample matrices run in reverse sample by sample. */

/* Behind the backward sweeps of a unit: what reduced transition matrices of its samples give is added into w->gradient. */
void adjoint_samples(const struct statevector *sv, struct scratch *w, uint32_t count);
/* Reduced transition matrices of the scratch that are added to: 0. adjoint_clear_samples: those of samples. */
void adjoint_clear(const struct statevector *sv, struct scratch *w);
void adjoint_clear_samples(const struct statevector *sv, struct scratch *w);
/* v[nvector] from the scratch; -ERR_NOT_FINITE where a number cannot be summed. */
int adjoint_vector(const struct statevector *sv, const struct scratch *w, uint32_t first,
	uint32_t count, struct fixed *v, struct err *e);
/* Sums of all units to gradient[nweight]. */
void statevector_finish(void *state, const struct fixed *sum, double *gradient);

/* ---- gradients from shifted circuits (gradient_shift.c) ----
 * Both methods need a plan with own_matrices; both are slow and there to check the adjoint method, and for those who ask for them. */

/* Counts the uses of trained angles in the matrices of sv's plan, for shift_unit.  -ERR_CONFIG: the circuits have more
 * than SHIFT_USES_MAX together. */
int shift_prepare(struct statevector *sv, struct err *e);
enum { SHIFT_USES_MAX = 1 << 20 }; /* each is at least two circuits per sample */
/* w->gradient[circuit weights] += the unit's gradient by parameter shift: every angle of
 * every use of a gate is shifted alone, by its row's frequencies (Wierichs et al.,
 * arXiv:2107.12390, eq. 22); exact but for rounding. */
int shift_unit(struct statevector *sv, struct scratch *w, uint32_t count, unsigned worker,
	struct err *e);
/* The same by central differences with step 1e-4 (single precision: 1e-2) for each
 * weight: the error is about step^2 / 6 times the third derivative, and the rounding of
 * a state over the step. */
void difference_unit(struct statevector *sv, struct scratch *w, uint32_t count, unsigned worker);

/* ---- for those who know this engine ---- */

/* The plan of an evaluator; NULL: its method is another one. */
const struct plan *statevector_plan(const struct evaluator *ev);
/* Seconds of the latest call's passes over circuit c of a state that all threads share: [nstage], then readouts and
 * lambda; of its last sample. NULL where states are not shared, or there are none. */
const struct plan_seconds *statevector_passes(const struct evaluator *ev, uint32_t c);
/* The plan that the engine makes for a problem, the caller's to free; NULL: it cannot be made. */
struct plan *statevector_plan_new(const struct program *p, const struct evaluator_options *o,
	struct err *e);
/* What the engine does for another one that stands on it. */
void statevector_layout(const void *state, struct engine_layout *out);
void statevector_prepare(struct statevector *sv, const struct batch *b, bool gradient);
void statevector_run(void *state, const struct unit_job *job);
/* Has a device failed, so that what it gave is nothing? */
int statevector_failure(const struct statevector *sv, struct err *e);
