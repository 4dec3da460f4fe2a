/* SPDX-License-Identifier: Apache-2.0
 * How a program is evaluated: a constant table of functions, one per engine.
 *
 * The evaluator (evaluator.h) cuts a batch into work units and knows nothing of states; an
 * engine knows how the readouts of a unit's samples and their gradients are computed. Several
 * engines may be open for one program: each batch is offered to them in the order of
 * engine_choose, and the first that accepts it evaluates it.
 *
 * Fused execution: for each unit forward, the gradient with respect to its readouts (by the
 * caller's function), backward. Two-phase execution, where readouts depend on several units:
 * all forward units; `join`; the readouts and gradients of all samples; `mix`; all backward
 * units. Unit k of a batch evaluates its "states" k * width .. (k + 1) * width - 1: in fused
 * execution these are the samples.
 *
 * A unit's result is a vector of fixed-point numbers (layout.nvector); its last entries, one per
 * weight of the head, are the head's gradient. All other entries are the engine's: `finish` turns
 * their exact sums into the gradient. `worker` is the number of the calling thread; calls for
 * different workers may run at once where nothing else is said. */
#pragma once

#include "runtime/exec/evaluator.h"

/* What is to be evaluated. */
struct engine_problem {
	const struct program *program;
	const struct evaluator_options *options;
	uint32_t nsample; /* of a batch that is described; 0: 1,000 */
	double most;      /* for cost: an effort above which it is of no interest; 0: none */
	void *below; /* the state of the next engine of engine_choose, where it is open; or NULL */
};

/* What a sample takes by an engine. */
struct engine_cost {
	double flops;  /* operations executed */
	double effort; /* the same, and a few for each number that is only moved, cleared or read */
	double bytes;  /* that passes over states move */
};

struct engine_layout {
	uint32_t width;   /* of a unit */
	size_t nvector;   /* entries of a unit's result */
	unsigned nworker; /* threads that can do units at once */
	bool two_phase;   /* of the last engine: its batches are evaluated so */
	enum precision precision; /* of the states: that of the options, or double where the target has no other */
};

/* How the prepared batch is evaluated. */
struct engine_units {
	uint32_t nunit;
	uint32_t nstate; /* states that are evolved: the number of samples in fused execution */
	bool two_phase;
	double flops; /* of a unit; 0: unknown */
};

/* An exact optimisation that an engine uses. */
struct engine_optimisation {
	enum optimisation_row row;
	bool of_program; /* it changes the program, for all batches alike; otherwise each batch by itself */
	/* Optional: for plans and reports, what is expected of it, as a phrase with its name. */
	void (*describe)(const struct engine_problem *p, struct buf *out);
	/* What was saved, as a phrase with its name: u->row[row] was used in some batch. */
	void (*text)(const struct optimisation_use *u, struct buf *out);
};

struct engine {
	const char *name;
	/* NULL: it can evaluate batches of the problem. Otherwise why not, as a phrase. */
	const char *(*obstacle)(const struct engine_problem *p);
	/* For a problem without obstacle, what the engine expects of it: a phrase for plans and reports. */
	void (*describe)(const struct engine_problem *p, struct buf *out);
	/* Optional: of one sample of such a batch; with options->gradient, with a gradient. -ERR_CONFIG where the program is
	 * too large, or no such batch is evaluated by the engine. */
	int (*cost)(const struct engine_problem *p, struct engine_cost *out);
	/* Optional: -ERR_CONFIG, with the reason, where a problem without obstacle is too large, whatever memory there is. */
	int (*check)(const struct engine_problem *p, struct err *e);
	/* Optional: bytes that are needed at least, about; with options->gradient, for gradients. -ERR_CONFIG as cost. */
	int (*memory)(const struct engine_problem *p, double *nbyte);
	/* Optional: those of options->optimisations that the engine can make use of with these options. */
	unsigned (*optimisations)(const struct evaluator_options *o);
	/* The exact optimisations that it uses; the last row has no text. */
	const struct engine_optimisation *uses;
	/* Optional, of the last engine: the program that is evaluated in place of p, in a: the same weights, inputs and readouts,
	 * other circuits; or p. */
	const struct program *(*program)(const struct program *p, const struct evaluator_options *o,
		struct arena *a);

	/* Takes what does not depend on batches, memory for states included unless options->remote says
	 * otherwise. The problem's program, options and state below are borrowed and outlive *state. */
	int (*open)(const struct engine_problem *p, void **state, struct err *e);
	void (*close)(void *state);
	void (*layout)(const void *state, struct engine_layout *out);
	/* weight[nweight]: borrowed until the next call. */
	void (*set_weights)(void *state, const double *weight);
	/* Optional: may prepare look at the inputs of a batch of that many samples? */
	bool (*reads)(const void *state, uint32_t nsample);
	/* Is it taken for this batch? The batch's arrays are borrowed until the next call. */
	bool (*prepare)(void *state, const struct batch *b, bool gradient, struct engine_units *out);
	/* Operations of the prepared batch, and bytes that its passes over states move. */
	void (*work)(const void *state, double *flops, double *bytes);
	/* Of the last engine: operations of a sample without exact optimisations, or 0: unknown. written: the caller's program, of which
	 * `program` made the engine's. */
	double (*plain_flops)(const void *state, const struct program *written);
	/* Optional: adds the prepared batch to the exact optimisations that were used, tally[OPTIMISATIONS_COUNT]. */
	void (*count)(const void *state, const struct program *written,
		struct optimisation_tally *tally);

	/* Before the first unit of the prepared batch: takes the memory that is still missing. */
	int (*begin)(void *state, struct err *e);
	/* The one parallel region: job->work on the workers. */
	void (*run)(void *state, const struct unit_job *job);
	/* readout[(samples of the unit, nreadout)]; NULL in two-phase execution. */
	int (*forward)(void *state, unsigned worker, uint32_t unit, double *readout, struct err *e);
	/* Unless there is `unit`: dreadout[(samples of the unit, nreadout)], the gradient with respect to the readouts of forward,
	 * which was the worker's last call (NULL in two-phase execution). gradient[nweight]: the head's
	 * part is filled, that of the circuit's weights is 0; it is used up. v[nvector] is filled. */
	int (*backward)(void *state, unsigned worker, uint32_t unit, const double *dreadout,
		double *gradient, struct fixed *v, struct err *e);
	/* Optional, in fused execution alone: forward, losses(ctx), backward, in place of these. losses reads readout and fills dreadout and the head's part
	 * of gradient; it is called once, unless a negative code comes before, maybe by another thread while the caller waits. A negative
	 * code of it is the result. */
	int (*unit)(void *state, unsigned worker, uint32_t unit, double *readout,
		int (*losses)(void *ctx), void *ctx, const double *dreadout, double *gradient,
		struct fixed *v, struct err *e);
	/* sum[nvector], over all units, to gradient[nweight]: 0 for frozen weights. */
	void (*finish)(void *state, const struct fixed *sum, double *gradient);

	/* Two-phase execution only (else NULL). Optional: after all forward units, by one thread. */
	int (*join)(void *state, struct err *e);
	/* readout[nreadout] of a sample of the batch, and what is made of its gradient. */
	void (*readout)(void *state, unsigned worker, uint32_t sample, double *readout);
	void (*readout_gradient)(void *state, uint32_t sample, const double *dreadout);
	/* After the gradients of all samples, by one thread. */
	int (*mix)(void *state, struct err *e);

	/* Optional: amplitudes of circuit c for the only sample of a batch, out[2^nwire], wire 0 the lowest bit; with noise
	 * channels, of a trajectory. */
	int (*amplitudes)(void *state, uint32_t c, const struct batch *b, uint32_t trajectory,
		cplx *out, struct err *e);
};

/* States of a unit: the first and their number. */
static inline uint32_t unit_states(uint32_t unit, uint32_t width, uint32_t nstate, uint32_t *first)
{
	*first = unit * width;
	return nstate - *first < width ? nstate - *first : width;
}

/* By how much the square of a state's norm may differ from 1 before its numbers are refused. */
static inline double norm_tolerance(enum precision p)
{
	return p == PRECISION_SINGLE ? 1e-3 : 1e-6;
}

/* The table of engines, those first that are offered a batch first: engine_NAME of each. */
#define ENGINES(ENGINE) \
	ENGINE(basis)       /* few states for a batch of many samples (basis/) */ \
	ENGINE(tensor)      /* networks of small tensors (tensor/) */ \
	ENGINE(statevector) /* 2^n amplitudes (statevector/) */

#define ENGINE_DECLARE(name) extern const struct engine engine_##name;
ENGINES(ENGINE_DECLARE)
#undef ENGINE_DECLARE

#define ENGINE_COUNT(name) +1
enum { ENGINES_MAX = ENGINES(ENGINE_COUNT) };
#undef ENGINE_COUNT

/* The engines that evaluate batches of the problem, those first that are offered a batch first; their number. The
 * last accepts every batch. The choice depends on program, options and target alone, never on times, threads or free memory. */
unsigned engine_choose(const struct engine_problem *p, const struct engine *out[ENGINES_MAX]);
/* The last of these, whose method it is. */
const struct engine *engine_main(const struct engine_problem *p);
/* The method of the problem: that of its options, or the one that auto chooses. -ERR_CONFIG, with the reasons, where it is not
 * possible, or no method is. */
int engine_method(const struct engine_problem *p, enum method *out, struct err *e);
/* Adds to the text of *e, an error of the method of the problem, what the other one needs where this machine has so much. If auto
 * has chosen the method, also what it needs where there is less, or why it is not possible. */
void engine_method_explain(const struct engine_problem *p, struct err *e);
/* What a sample takes by engine_main. */
int engine_cost(const struct engine_problem *p, struct engine_cost *out);
/* The exact optimisations of options->optimisations that it can make use of. */
unsigned engine_optimisations(const struct evaluator_options *o);
/* The exact optimisations that engines use, those of the program first; their number. */
unsigned engine_uses(const struct engine_optimisation *out[OPTIMISATIONS_COUNT]);
/* For each engine, and for optimisations that are described, what is expected or why it is not used: each between
 * `before` and `after`. */
void engine_reasons(const struct engine_problem *p, const char *before, const char *after,
	struct buf *out);

/* Items 0 .. n-1 by all workers of an engine, in any order; the error of the first item that failed. phase: of the time
 * that fn does not mark (recorder.h). */
typedef int (*engine_item_fn)(void *ctx, unsigned worker, uint32_t item, struct err *e);
int engine_items(const struct engine *engine, void *state, uint32_t n, engine_item_fn fn, void *ctx,
	enum profile_phase phase, struct err *e);
