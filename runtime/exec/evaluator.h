/* SPDX-License-Identifier: Apache-2.0
 * Outputs and gradients of a program for a batch of samples: what training,
 * inference, bench and a remote worker all use.
 *
 * It hides the method: engines (engine.h) evaluate units. A batch is cut into a fixed list of
 * work units; a unit's result is one vector of fixed-point numbers, so that units may
 * be done by anyone, in any order, and give the same sum. */
#pragma once

#include "runtime/base/loss_terms.h"
#include "runtime/base/pool.h"
#include "runtime/base/profile/profile.h"
#include "runtime/exec/exact_optimisation.h"
#include "runtime/exec/exact_optimisation_use.h"
#include "runtime/exec/target.h"
#include "runtime/program/matrix.h"

struct engine;

enum gradient_method { GRADIENT_NONE = 0, GRADIENT_ADJOINT, GRADIENT_SHIFT, GRADIENT_DIFFERENCE };

/* How a program is evaluated: METHOD(id, word, text), and auto. The words are those of run.method and --method, the texts
 * sentences of help and manual. */
#define METHODS(METHOD) \
	METHOD(STATEVECTOR, "statevector", "statevector holds all 2^n amplitudes of n qubits. ") \
	METHOD(TENSOR, "tensor", \
		"tensor contracts the circuit as a network of small tensors, exactly and in double precision: its cost depends on " \
		"how the qubits are connected, not on their number alone, and it computes models of 64 qubits and more whose layers " \
		"act on neighbours. ")
/* Columns of it. */
#define METHOD_IN_LIST(id, word, text) word,
#define METHOD_BEHIND_BAR(id, word, text) "|" word
#define METHOD_TEXT(id, word, text) text
#define METHOD_ENUM(id, word, text) METHOD_##id,
enum method { METHOD_AUTO = 0, METHODS(METHOD_ENUM) METHOD_COUNT };
#undef METHOD_ENUM
/* "auto", "statevector", "tensor". */
const char *method_name(enum method m);
/* NULL or an unknown word: METHOD_AUTO. */
enum method method_find(const char *word);

/* How states are held. */
enum shape {
	SHAPE_AUTO = 0,
	SHAPE_BATCHED, /* many small states: one sample per SIMD lane (at most PLAN_SAMPLES_WIRES_MAX qubits) */
	SHAPE_PER_THREAD, /* a unit is one sample, held by one thread (at most PLAN_STATE_WIRES_MAX qubits) */
	SHAPE_SHARED /* a unit is one sample, all threads share its state */
};

enum { SPLIT_RANKS_MAX = 64 }; /* that hold a state together */

enum { TRAJECTORIES_DEFAULT = 100, TRAJECTORIES_MAX = 1 << 20 }; /* of a sample */

#define TRAJECTORIES_NONE UINT32_MAX /* noise channels do nothing */

struct evaluator_options {
	const struct target *target; /* NULL: the best of the processor that runs here */
	enum method method;
	bool method_chosen; /* it is what auto chose (engine_method): errors say why no other one is possible */
	enum precision precision;
	unsigned nthread;            /* at least 1 */
	uint64_t devices; /* of the target's, those that may be used: bit k for number k; 0: all */
	uint32_t split; /* ranks that states are split over at most, a power of two (a result key); 0: 1 */
	struct split_rank *rank; /* the part of them that this process holds; NULL: all (statevector/split/split.h) */
	bool remote; /* a pool's workers elsewhere compute: no state is taken until one is needed here */
	enum gradient_method gradient;   /* GRADIENT_NONE: forward only, half the memory */
	struct loss_terms terms; /* of the loss whose gradients are computed (evaluator_needs), where it has any */
	bool amplitudes; /* those of states are asked for: no method without states is possible */
	bool outputs_alone; /* planned for outputs: faster, not the last digits of training */
	enum shape shape;            /* SHAPE_AUTO unless a test says so */
	bool no_fuse;
	uint64_t random_plan;
	uint32_t shots; /* number of shots of which readouts are frequencies (shots.h); 0: exact */
	uint32_t trajectories; /* of a sample, of programs with noise channels; 0: TRAJECTORIES_DEFAULT; or TRAJECTORIES_NONE */
	unsigned optimisations; /* of enum optimisation: those that may be taken where they are worth it */
	bool batch_again; /* the same batch comes again and again: what an optimisation learns of it is learnt once */
	bool optimisations_always;   /* wherever they apply, worth it or not (tests) */
	bool start_again;            /* what is constant at the start of a circuit is done with each evaluator_weights (bench), not once */
	bool threads_always;         /* threads share work of any size (tests) */
	bool lanes_never;            /* tensors of one sample at a time, however small (tests) */
	bool tensors_again; /* a backward pass computes tensors again, however few (tests) */
	uint64_t memory_limit;       /* bytes; 0: what cpus_memory_available says */
	unsigned memory_sharers; /* workers of this machine that have as much each, for messages; 0: not known */
};

/* Where random numbers come from: sample s of a batch draws from (key, sample[s]), or (key, first + s) where sample is NULL. */
struct draws {
	uint64_t key;
	uint32_t first;
	const uint32_t *sample;
};

/* What the threads of a process run together: units of a batch, or other items. */
struct unit_job {
	void *ctx;
	uint32_t nunit; /* to be done: more threads than that are not needed */
	double flops;   /* of a unit; 0: unknown, or shared by all threads whatever its size */
	/* Pull the first unit.  Every worker does so before any works, so that all have a part. */
	void (*claim)(void *ctx, unsigned worker);
	/* Do units as worker `worker`, the claimed one first, until there are none left. */
	void (*work)(void *ctx, unsigned worker);
};

/* Numbers that a sample's readout gradient needs besides its readouts (its scale, weight and labels: loss_terms.h): where units are
 * done elsewhere they go along with its inputs.  ctx is that of evaluator_prepare. */
struct readout_gradient_needs {
	uint32_t n;
	void (*give)(void *ctx, uint32_t sample, double *out);
};

/* Samples to evaluate.  Row s has ninput numbers at input + row[s] * ninput. */
struct batch {
	uint32_t nsample;
	const uint32_t *row;         /* (nsample), or NULL: rows 0 .. nsample-1 */
	const double *input;         /* (rows, program->ninput) row-major; NULL when ninput is 0 */
	/* All rows of the data that input points into, which stay as they are; NULL: these are for this batch alone. */
	const double *all; uint32_t nall;
	/* Where they are rows of a file that workers elsewhere open themselves: its number among these, from 1 on, and the
	 * samples' rows in it (NULL: file_first, file_first + 1, ...). */
	uint32_t file; const uint32_t *file_row; uint32_t file_first;
	/* Each sample by itself, as in any other batch: no engine combines samples, or forgets what it knows of the
	 * batch before. */
	bool alone;
	/* input NULL though the program has some: those rows, (nsample, ninput), from source, for a unit that is done here
	 * after all. */
	int (*fetch)(const void *source, const uint32_t *row, uint32_t first, uint32_t n, double *x, struct err *e);
	const void *source;
	/* Set by evaluator_prepare. */
	struct draws draws;                  /* of shots and trajectories */
	struct readout_gradient_needs needs; /* of the gradient; give NULL: not known */
	void *needs_ctx;
};

/* Row number in the caller's data of a sample of the batch. */
static inline uint32_t batch_row(const struct batch *b, uint32_t sample)
{
	return b->row ? b->row[sample] : sample;
}

/* Per sample, after its readouts are known (called from any compute thread, never
 * twice at once for one sample).  Writes dreadout[nreadout] = dL/d readout and adds the
 * head's gradient into head[nweight - nweight_circuit].  `sample` is the position in
 * the batch.  With a NULL dreadout only outputs are wanted.  Returns 0, or -ERR_NOT_FINITE. */
typedef int (*readout_gradient_fn)(void *ctx, uint32_t sample, const double *readout,
	double *dreadout, double *head);

struct evaluator;

/* Does it look at the inputs of a batch of nsample samples itself?  Not where all units are done elsewhere and no
 * engine decides by the inputs: there a batch of a file may come with fetch alone. */
bool evaluator_reads(const struct evaluator *ev, uint32_t nsample);

/* The program that an evaluator of p with these options evaluates: p, or, where an exact optimisation of
 * programs is worth it, another one in a: the same weights, inputs and readouts, other circuits. */
const struct program *evaluator_program(const struct program *p, const struct evaluator_options *o, struct arena *a);

/* Plan, memory check (-ERR_CONFIG naming needed and available bytes, before anything is
 * allocated), buffers.  p is borrowed. */
/* With METHOD_AUTO, engine_method chooses; -ERR_CONFIG, too, where the method of the options is not possible. */
int evaluator_new(const struct program *p, const struct evaluator_options *o, struct evaluator **out, struct err *e);
void evaluator_free(struct evaluator *ev);

/* What is evaluated: evaluator_program of the evaluator's. */
const struct program *evaluator_evaluated(const struct evaluator *ev);
/* Samples of a unit. */
uint32_t evaluator_width(const struct evaluator *ev);
/* The state of an engine, for those who know it; NULL: it is not open. */
const void *evaluator_engine(const struct evaluator *ev, const struct engine *engine);

/* New weights (nweight doubles, copied): builds the shared matrices. */
int evaluator_weights(struct evaluator *ev, const double *weight, struct err *e);

/* With shots or noise channels: where the random numbers of the batches prepared from now on come from.  The sample at
 * position s of a batch draws from (key, first + s), whatever its unit and thread. */
void evaluator_draws(struct evaluator *ev, uint64_t key, uint32_t first);
/* The same where the samples of the batch are those numbered sample[] of another one (borrowed). */
void evaluator_draws_of(struct evaluator *ev, uint64_t key, const uint32_t *sample);
uint64_t evaluator_draw_key(const struct evaluator *ev);

/* Cut a batch into units.  gradient: backward will be wanted; fn may be NULL (readouts
 * only).  readout[(nsample, nreadout)] row-major is filled by forward.  Returns the number
 * of units. */
uint32_t evaluator_prepare(struct evaluator *ev, const struct batch *b, bool gradient,
	readout_gradient_fn fn, void *ctx, double *readout);

/* Entries of a unit's result vector: sums of reduced transition matrices (or weight gradients, by
 * method), then the head's gradient. */
size_t evaluator_vector(const struct evaluator *ev);

/* Do one unit as `worker`: forward(readouts), readout_gradient_fn, backward, all in one visit;
 * v[evaluator_vector()] is the unit's vector (zeroed and filled).  forward alone where
 * prepare said no gradient (v may be NULL).  The error names the sample. */
int evaluator_unit(struct evaluator *ev, unsigned worker, uint32_t unit, struct fixed *v, struct err *e);

/* Before a gradient by a pool whose workers are elsewhere, or on a device that computes readout gradients itself: it does so where
 * the loss has terms, instead of what readout_gradient_fn returns, and that is the same. */
void evaluator_needs(struct evaluator *ev, const struct readout_gradient_needs *n);

/* All units of the prepared batch through `pool`, with this process's threads or by its workers (past
 * it, with this process's threads, in two-phase execution: the same bits whatever the pool);
 * gradient[nweight] (frozen weights: 0) gets dL/dw from the exact sums, L being whatever
 * fn's readout gradients differentiate.  gradient may be NULL when prepare said no gradient. */
int evaluator_run(struct evaluator *ev, struct pool *pool, double *gradient, struct err *e);

/* After evaluator_run with a gradient: the exact sums [evaluator_vector()]. */
const struct fixed *evaluator_sums(const struct evaluator *ev);

/* States that are evolved for the prepared batch: fewer than it has samples where an engine combines them. */
uint32_t evaluator_states_evolved(const struct evaluator *ev);

/* Operations of the prepared batch, and bytes that its passes over states move. */
void evaluator_work(const struct evaluator *ev, double *flops, double *bytes);

/* A sample's readouts are means over its trajectories, each a run of the circuits with random numbers of its own for the
 * noise channels. Their number for a program; 0: it has no channels. With shots, at most as many, each with a part of these. */
uint32_t trajectories_of(const struct program *p, const struct evaluator_options *o);
/* Those of shots that trajectory t of n gets. */
uint32_t trajectory_shots(uint32_t shots, uint32_t n, uint32_t t);

/* (Where evaluator_program is the caller's.)  State vector of circuit c for one row of input: out[2^nwire]. -ERR_CONFIG: the method
 * has no state vectors. */
int evaluator_state(struct evaluator *ev, uint32_t c, const double *input_row, cplx *out,
	struct err *e);
/* The same with noise channels: of a trajectory of the sample at position `sample`. */
int evaluator_trajectory(struct evaluator *ev, uint32_t c, const double *input_row, uint32_t sample,
	uint32_t trajectory, cplx *out, struct err *e);
