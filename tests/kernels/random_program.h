/* SPDX-License-Identifier: Apache-2.0
 * Random programs that use everything a program can hold, and their outcome on a
 * backend: what the tests of backends, plans and gradients share. */
#ifndef TESTS_KERNELS_RANDOM_PROGRAM_H
#define TESTS_KERNELS_RANDOM_PROGRAM_H

#include "runtime/exec/evaluator.h"

struct random_shape {
	uint64_t seed;
	unsigned nwire;              /* of the widest circuit */
	unsigned napply;             /* unitaries of each circuit */
	unsigned ncircuit;
	unsigned nweight, ninput;    /* at least 1 */
	bool sample_matrices;        /* angles of inputs and weights, mixed */
	bool controls;               /* of applies and of items */
	unsigned most;               /* wires of an apply, controls included; 0: any number */
	bool vectors;                /* amplitudes and an input state on some wires */
	bool swaps;
	bool frozen;                 /* some weights are frozen */
	bool wide;                   /* matrices on three wires too */
	bool diagonals;              /* half of the matrices are diagonal */
	bool permutes;               /* the other half are permutations without phases */
	unsigned ngate;              /* gates of these first numbers alone; 0: all */
	unsigned gate_flags;         /* every gate has these (of enum gate_flag) */
	unsigned nz;                 /* products of Z read besides, up to 256 */
	bool only_z;                 /* and no other Pauli products */
	unsigned nlong; /* products with x or y on most wires, up to 8 (without nseen) */
	unsigned nsame; /* products that flip the bits of one of three, each different signs, up to 400 (without nseen) */
	bool no_probs;               /* no probabilities (without nseen) */
	unsigned nprobs;             /* wires of these; 0: 2 */
	unsigned nseen;              /* outputs are read from at most so many wires, in sums, one probs and one z; 0: from all */
};

/* Verified; free with program_free. */
struct program *random_program(const struct random_shape *r);

/* n numbers in [-scale, scale) from a seed. */
void random_numbers(uint64_t seed, double scale, size_t n, double *out);

/* A loss that no readout leaves out: sum_k c_k r_k + r_k^2 / 2, summed over the samples
 * (row s has its own c); or with o->terms the mean of these, samples having weights and nreadout labels.  readout[(nsample, nreadout)], gradient[nweight] (NULL: forward
 * only).  Samples s uses input row s. */
struct outcome {
	double *readout, *gradient;
	uint32_t nstate; /* that were evolved */
};

int outcome_of(const struct program *p, const struct evaluator_options *o, uint32_t nsample,
	const double *weight, const double *input, struct outcome *out, struct err *e);
struct outcome outcome_new(const struct program *p, uint32_t nsample);
void outcome_release(struct outcome *o);

/* How far two ways of evaluating a program are apart, weights and inputs from a seed; infinitely where one fails (*e says why). */
struct apart { double readouts, gradients; };
struct apart outcomes_apart(const struct program *p, const struct evaluator_options *a, const struct evaluator_options *b,
	uint32_t nsample, uint64_t seed, struct err *e);

/* The best target of the device that the test's first argument names, of the cpu without one; the test is skipped where it cannot
 * run here. */
const struct target *tested_device(int argc, char **argv);
/* SHAPE_BATCHED where a target has it, or SHAPE_PER_THREAD. */
enum shape first_shape(const struct target *t);

/* A number below n that seed and k decide. */
unsigned random_below(uint64_t seed, uint32_t k, unsigned n);
/* One of the cpu backend that runs here. */
const struct target *random_cpu_target(uint64_t seed, uint32_t k);

/* Largest |a - b|; infinite where one is not a number. */
double largest_difference(const double *a, const double *b, size_t n);

#endif
