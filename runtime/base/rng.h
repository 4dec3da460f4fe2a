/* SPDX-License-Identifier: Apache-2.0
 * Counter-based random numbers: the same (seed, purpose, a, b) gives the same
 * bits on every machine, in any order, from any thread.
 *
 * Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC'11): key = seed, counter =
 * (purpose, a, b), a below 2^56.  A uniform number is the top 53 bits of one
 * 64-bit draw. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum rng_purpose {
	RNG_NONE = 0,
	RNG_INIT,    /* a = start (restart index), b = weight index */
	RNG_DATA,    /* a = generator stream, b = draw */
	RNG_SPLIT,   /* a = 0, b = position */
	RNG_SHUFFLE, /* a = epoch, b = position */
	RNG_SHOT, /* seed = a key of RNG_SHOT_KEY; a = sample << 24 | group, b = variant << 32 | shot */
	RNG_TEST,
	RNG_PERTURB,  /* a = step, b = start << 42 | direction << 24 | weight index */
	RNG_SHOT_KEY, /* a = step, b = start << 32 | evaluation within the step */
	RNG_BASIS,    /* a = entry of a functional, b = projection */
	RNG_ROUND,    /* seed = 0; a = step of a plan, b = entry of its matrix */
	RNG_NOISE, /* seed = a key of RNG_SHOT_KEY; a = sample, b = trajectory << 32 | number of the draw */
	RNG_PROBE /* seed = 0; a = expression, b = set of values */
};

/* The bare function, for its published vectors. */
void rng_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);
uint64_t rng_u64(uint64_t seed, enum rng_purpose p, uint64_t a, uint64_t b);
double rng_uniform(uint64_t seed, enum rng_purpose p, uint64_t a, uint64_t b); /* [0, 1) */
double rng_normal(uint64_t seed, enum rng_purpose p, uint64_t a, uint64_t b);  /* mean 0, deviation 1 */
/* Fisher-Yates over order[0..n), from (seed, p, a). */
void rng_shuffle(uint64_t seed, enum rng_purpose p, uint64_t a, uint32_t *order, size_t n);
