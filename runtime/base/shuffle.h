/* SPDX-License-Identifier: Apache-2.0
 * Chosen numbers of two vectors, by gcc's and by clang's name of it. */
#ifndef QCNN_SHUFFLE_H
#define QCNN_SHUFFLE_H

/* A vector of the numbers with these indices: those of a, then those of b.  index: the type of a vector of integers of
 * their size. */
#if defined __clang__
#define SHUFFLED(index, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLED(index, a, b, ...) __builtin_shuffle(a, b, (index){ __VA_ARGS__ })
#endif

#endif
