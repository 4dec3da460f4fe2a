/* SPDX-License-Identifier: Apache-2.0
 * Noise channels exactly: the probability of each of their Pauli words, and what these make of a density operator.
 *
 * A program holds a channel as a matrix whose items are powers of x, y and z. Their exponents are sums and differences of
 * comparisons of one random number, uniform in [0, 1), with thresholds: numbers that do not depend on it, in ascending
 * order. Between two thresholds all exponents are 0 or 1: there the matrix is a Pauli word, whose probability is their
 * difference. Behind the last threshold all are 0, and the matrix is the identity. */
#pragma once

#include "runtime/program/matrix.h"

enum { NOISE_WORDS_MAX = 16, NOISE_ITEMS_MAX = 4 };

struct transfer;

struct noise_channel {
	uint32_t matrix;              /* the first of the program that is this channel */
	uint32_t draw;                /* its random number */
	enum value_class cls;         /* of the thresholds */
	uint8_t nqubit, nitem, nword; /* nword: besides that behind the last threshold */
	uint8_t letter[NOISE_ITEMS_MAX], qubit[NOISE_ITEMS_MAX]; /* of items, the first acts first */
	uint32_t threshold[NOISE_WORDS_MAX]; /* expressions: word k lies between threshold k - 1 (0 for the first) and k */
	uint8_t items[NOISE_WORDS_MAX]; /* of each word, those with exponent 1 */
};

/* (nexpr) Expressions that depend on random numbers; the caller frees it. */
bool *noise_exprs(const struct program *p);
/* Is the matrix a channel? drawn: noise_exprs. */
bool noise_channel_read(const struct program *p, const bool *drawn, uint32_t matrix,
	struct noise_channel *out);
/* Do they differ in their random numbers alone? */
bool noise_channel_same(const struct noise_channel *a, const struct noise_channel *b);
/* NULL: all that is random in a verified program are channels, each with a number of its own. Otherwise why not, as a phrase. */
const char *noise_obstacle(const struct program *p);

/* probability[nword + 1] from the values of expressions, that of the identity last. false: some is not in [0, 1]. */
bool noise_probabilities(const struct noise_channel *c, const double *value,
	double probability[NOISE_WORDS_MAX + 1]);
/* The transfer matrix r of a use t of the channel, as transfer_make. */
void noise_transfer(const struct noise_channel *c, const struct transfer *t,
	const double *probability, double *r);
/* threshold[nword] += the gradient with respect to the thresholds, from g, that with respect to r. */
void noise_gradient(const struct noise_channel *c, const struct transfer *t, const double *g,
	double *threshold);
