/* SPDX-License-Identifier: Apache-2.0
 * Chosen numbers of two vectors, by gcc's and by clang's name of it. */
#pragma once

/* A vector of the numbers with these indices: those of a, then those of b.  index: the type of a vector of integers of
 * their size. */
#if defined __clang__
#define SHUFFLED(index, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLED(index, a, b, ...) __builtin_shuffle(a, b, (index){ __VA_ARGS__ })
#endif

/* Numbers of a and of b in turns, of vectors of `width` (2 or 4): the first half (0) of what they give together, or the second (1). */
#define INTERLEAVED_2(index, a, b, half) SHUFFLED(index, a, b, half, 2 + half)
#define INTERLEAVED_4(index, a, b, half) SHUFFLED(index, a, b, 2 * half, 4 + 2 * half, 1 + 2 * half, 5 + 2 * half)
#define INTERLEAVED_(width, index, a, b, half) INTERLEAVED_##width(index, a, b, half)
#define INTERLEAVED(width, index, a, b, half) INTERLEAVED_(width, index, a, b, half)
