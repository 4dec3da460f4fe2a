/* SPDX-License-Identifier: Apache-2.0
 * Bits of a number, by the places that a list names. */
#pragma once

#include <stdint.h>

static inline unsigned bits_count(uint64_t bits) { return (unsigned)__builtin_popcountll(bits); }

/* Bit k of x goes to place[k]. */
static inline uint64_t bits_spread(uint64_t x, const uint8_t *place, unsigned n)
{
	uint64_t y = 0;

	for (unsigned k = 0; k < n; k++)
		y |= (x >> k & 1) << place[k];
	return y;
}

/* Bit place[k] of x is bit k. */
static inline uint64_t bits_gather(uint64_t x, const uint8_t *place, unsigned n)
{
	uint64_t y = 0;

	for (unsigned k = 0; k < n; k++)
		y |= (x >> place[k] & 1) << k;
	return y;
}
