/* SPDX-License-Identifier: Apache-2.0
 * What a device must do for the evaluator: a constant table of functions.
 *
 * The evaluator does everything in double that is small (expressions, matrices,
 * chain rule, head); a backend holds states and does everything that is 2^n.
 * A unit is plan->width samples.  `worker` is the calling thread's number.  In
 * SHAPE_SHARED a call may use all threads itself; only worker 0 calls. */
#pragma once

#include "runtime/exec/engine.h"
#include "runtime/exec/statevector/backends.h"
#include "runtime/exec/statevector/plan/plan.h"
#include "runtime/exec/statevector/split/split.h"
#include "runtime/exec/target.h"

/* What differs from sample to sample of a unit. */
struct unit_input {
	uint32_t nsample;            /* = plan->width (short units are padded by the evaluator) */
	uint32_t count; /* the samples that are asked for: those behind are copies of the first, and their results are not read */
	/* Per-sample matrices: sample s's matrices are u[s] + plan->set.offset[m], for m of class
	 * VALUE_SAMPLE. */
	const cplx *const *u;
	/* Vectors to prepare: of circuit c's vector number v for sample s, vector[c][v * nsample + s]
	 * holds length[c][v] amplitudes, normalised; the rest is zero. */
	const cplx *const *const *vector;
	const uint32_t *const *length;
	/* With a gradient, where the loss has terms (plan_options.loss_terms): these, and of sample s its numbers, from
	 * number[s * loss_numbers(terms)] on; or NULL. */
	const struct loss_terms *terms;
	const double *number;
	bool whole; /* the final state itself is requested: heisenberg_tail is not taken, the backward pass does not begin early */
};

/* The numbers of sample s; there are terms. */
static inline const double *unit_numbers(const struct unit_input *in, uint32_t s)
{
	return in->number + s * loss_numbers(in->terms);
}

struct backend_state;

/* A state cache holds, per circuit, the final states of units 0 .. ceil(nstate / width) - 1: state k is sample
 * k % width of unit k / width. */
struct state_cache_ops {
	/* Bytes of nstate states of every circuit, buffers included; of each of nrank processes that split them. */
	uint64_t (*bytes)(const struct plan *pl, uint32_t nstate, unsigned nrank);
	/* Room for nstate states; keeps what it has where that is enough. */
	int (*reserve)(struct backend_state *b, uint32_t nstate, struct err *e);
	/* Keep the state that forward left, as unit `unit` of circuit c. */
	void (*keep)(struct backend_state *b, unsigned worker, uint32_t c, uint32_t unit);
	/* m[(j * nstate + k) * nstate + l] = <state k|O_j|state l> for the forms j of circuit c (pauli_observables.h).  Uses all threads itself; the same bits for any number of them. */
	int (*overlaps)(struct backend_state *b, uint32_t c, uint32_t nstate, cplx *m, struct err *e);
	/* lambda_k = sum_jl a[(j * nstate + k) * nstate + l] O_j state_l over the forms j, for the states k of a
	 * unit, then the adjoint sweep, as backward does it; `in` is the unit's. */
	void (*backward)(struct backend_state *b, unsigned worker, uint32_t c, const struct unit_input *in,
		uint32_t unit, uint32_t nstate, const cplx *a, double *anti_hermitian_shared, double *const *anti_hermitian_sample);
};

struct backend {
	const struct target *target; /* (ntarget), from the least to the best */
	unsigned ntarget;
	/* Optional (NULL): why a target of it cannot run here, as target_obstacle. */
	const char *(*obstacle)(const struct target *t);
	/* Optional (NULL): counts what a device would be asked for by the plan, and sets `device` of its circuits, in memory of the plan's
	 * arena. */
	void (*work)(struct plan *pl);
	/* Can this plan run here?  Otherwise -ERR_CONFIG and a sentence. */
	int (*supports)(const struct plan *pl, struct err *e);
	/* Bytes that prepare will take for that many threads, gradients or not; of each device; of each of nrank processes
	 * that split the states. */
	uint64_t (*bytes)(const struct plan *pl, unsigned nthread, bool gradient, unsigned nrank);
	/* Optional (NULL): of the devices that may be used (evaluator_options), how many there are. Workers are on one each: they
	 * do units of their own, and have their own states. */
	unsigned (*devices)(uint64_t wanted);
	/* Optional (NULL: one): workers on each of ndevice devices, which do units side by side. */
	unsigned (*streams)(const struct plan *pl, unsigned nthread, unsigned ndevice);
	/* Optional (NULL): what device number k of the machine is, usable or not; false: there is none. */
	bool (*describe)(unsigned k, struct device_about *out);
	/* Optional (NULL): bytes that can be taken of each of these devices, where states are not in the memory of the processor. */
	uint64_t (*memory)(uint64_t wanted);
	/* Take the memory. pl and split are borrowed and outlive the state. split: the process' part of states that others
	 * have parts of too, or NULL; the calls below are then made by all of them in the same order. */
	int (*prepare)(const struct plan *pl, unsigned nthread, uint64_t devices, bool gradient,
		struct split_rank *split, struct backend_state **out, struct err *e);
	/* Optional (NULL): as target_library. */
	const char *(*library)(void);
	/* Optional (NULL): as target_profiler. */
	const char *(*profiler)(void);
	/* Optional (NULL): follows prepare of all processes of a split state, to agree on the way by which they exchange:
	 * split->way. What fails is split's. */
	void (*join)(struct backend_state *b);
	/* New constant and shared matrices: u + plan->set.offset[m]; copied. Before units run. */
	void (*matrices)(struct backend_state *b, const cplx *u);
	/* Optional (NULL): do again what prepare has done of circuits that begin with constant steps. Before units run. */
	void (*start)(struct backend_state *b);
	/* The one parallel region: run job->work on nthread workers (SHAPE_SHARED, or b NULL: on one). */
	void (*run)(struct backend_state *b, const struct unit_job *job);
	/* Optional (NULL): n samples of a unit on several threads of the processor, where units are many samples and workers are
	 * devices: part(ctx, from, to) for ranges that make up 0 .. n. */
	void (*samples)(struct backend_state *b, uint32_t n,
		void (*part)(void *ctx, uint32_t from, uint32_t to), void *ctx);
	/* Circuit c from |0...0>: readout[s * nreadout(c) + k] for every sample of the unit.  The
	 * final state stays with the worker until the next forward of the same circuit or until
	 * backward consumed it. keep: backward will follow (for several circuits the states of all
	 * may be kept, or recomputed: the backend's choice, the result is the same); unless in->whole, forward may
	 * begin with that, and the final state is not there (plan_fuses_last). */
	void (*forward)(struct backend_state *b, unsigned worker, uint32_t c,
		const struct unit_input *in, bool keep, double *readout);
	/* lambda = sum_k dreadout[s * nreadout(c) + k] O_k psi, then the adjoint sweep.  Adds what
	 * gradients need of the reduced transition matrix (see anti_hermitian.h) of every matrix m that plan->transition marks into
	 * anti_hermitian_shared + offset[m] (classes CONSTANT, SHARED: summed over the samples of the unit in a fixed
	 * order) or anti_hermitian_sample[s] + offset[m] (class SAMPLE).
	 * Follows forward(c, keep) with the same input. */
	void (*backward)(struct backend_state *b, unsigned worker, uint32_t c,
		const struct unit_input *in, const double *dreadout, double *anti_hermitian_shared,
		double *const *anti_hermitian_sample);
	/* Optional (NULL): forward of all circuits to readout[circuit]; then, unless losses is NULL, losses(ctx), which is to put the
	 * gradients into dreadout[circuit], and backward of all, whose results mean nothing where losses returned false. So the
	 * device is waited for once. losses is called once, on any thread, while the caller waits, and calls nothing of the backend; never
	 * once the device has failed. Where there are in->terms, the device may compute the gradients itself: losses is then called after both
	 * passes. False: nothing is done, and forward and backward are to be called. */
	bool (*unit)(struct backend_state *b, unsigned worker, const struct unit_input *in,
		double *const *readout, bool (*losses)(void *ctx), void *ctx, double *const *dreadout,
		double *anti_hermitian_shared, double *const *anti_hermitian_sample);
	/* Optional (NULL): after forward, backward, unit or amplitudes, did the device fail? Then what they gave is nothing, and so
	 * is all that follows: a negative code and a sentence. */
	int (*failure)(const struct backend_state *b, struct err *e);
	/* Amplitudes first .. first+n-1 of sample s after forward, wire 0 the lowest bit: out[n]; 0 for those that another process
	 * holds. Without TARGET_SPLIT all are asked for at once. */
	void (*amplitudes)(struct backend_state *b, unsigned worker, uint32_t c, uint32_t s,
		uint64_t first, uint64_t n, cplx *out);
	/* Optional (NULL): seconds of the latest forward (and backward) of circuit c, pass by pass: [nstage] of its stages, then
	 * readouts and lambda; NULL where no state is shared. */
	const struct plan_seconds *(*passes)(const struct backend_state *b, uint32_t c);
	/* Optional (NULL): many final states side by side, for batch rank. */
	const struct state_cache_ops *state_cache;
	void (*free)(struct backend_state *b);
};

/* backend_cuda is not in every build: backend_find answers NULL where it is missing. */
#define BACKEND_DECLARE(name, words, text) extern const struct backend backend_##name;
BACKENDS(BACKEND_DECLARE, BACKEND_DECLARE, )
#undef BACKEND_DECLARE

const struct backend *backend_find(const char *name);
