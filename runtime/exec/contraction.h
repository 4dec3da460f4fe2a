/* SPDX-License-Identifier: Apache-2.0
 * Kernels that a target supplies for the contraction of real tensors.
 *
 * One contraction is a product of two matrices, C[m, n] = sum over k of A[m, k] B[k, n], whose entries lie anywhere: A[m, k] is
 * a.at[a.row[m] + a.column[k]], and so on. An element of an operand `by_lane` is CONTRACTION_LANES numbers, one of each sample of
 * a unit; otherwise it is one number for all of them. Offsets count elements.
 *
 * Each sum is made in order of k, the lanes of one that is not by_lane from the first to the last, so that the bits depend on the
 * operands alone. Written for matrices of a few to some thousand rows; the operands do not overlap. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "runtime/exec/evaluator.h"

enum {
	CONTRACTION_LANES = 8,
	CONTRACTION_PACK = 1 << 14 /* numbers of the second operand that are packed together */
};

struct contraction_operand {
	double *at;
	const uint32_t *row, *column;
	bool by_lane;
};

struct contraction_product {
	size_t m, n, k; /* rows and columns of c, products of each sum */
	struct contraction_operand a, b, c;
};

struct contraction {
	/* c = a b, all entries of it written. c is by_lane where an operand is, or neither with both operands by_lane: then the lanes
	 * are summed too. nthread threads have a part of c each; more than one only outside of run's region, or on its lone worker.
	 * pack[nthread * CONTRACTION_PACK]: scratch. */
	void (*multiply)(unsigned nthread, const struct contraction_product *p, double *pack);
	/* job->work on at most nthread workers; of a lone one without a parallel region. */
	void (*run)(unsigned nthread, const struct unit_job *job);
};
