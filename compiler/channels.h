/* SPDX-License-Identifier: Apache-2.0
 * Noise channels of a design: Pauli words that a random number chooses, and amplitude damping.
 *
 * A channel of Pauli words is a matrix of powers of x, y and z with exponents 0 and 1, which compare a random number (EXPR_DRAW) with
 * thresholds: constants, or sums of probabilities that vary, each of the one before and the next probability. Each use needs a number of its own: build_channel makes a pattern with the number DRAW_LATER, of which
 * channel_use makes a matrix for one use. */
#pragma once

#include "compiler/circuit.h"
#include "lang/channels.h"

enum { DRAW_LATER = PROGRAM_DRAWS_MAX };

/* The channel on operands 0 .. nqubit-1 appended to ops, for this number of its draw; nothing where it does nothing. */
void build_channel(struct design *d, struct calls *ops, enum channel c, unsigned nqubit,
	const double *number, uint32_t draw);
/* The same where a number is no constant: number[] are expressions. */
void build_varying_channel(struct design *d, struct calls *ops, enum channel c, unsigned nqubit,
	const uint32_t *number, uint32_t draw);
/* Amplitude damping of operand 0 with the probability p, an expression: a rotation of a qubit in |0>, which the channel
 * discards (has_own_wire), and the decay of the operand where that is 1; exact, without a random number. */
void build_damping(struct design *d, struct calls *ops, uint32_t p);
/* A matrix of build_damping, or of a block of the same name and gates. */
bool is_damping(const struct matrix *m);
bool design_is_channel(const struct design *d, uint32_t matrix);
/* The matrix for one more use; other matrices are returned as they are. */
uint32_t channel_use(struct design *d, uint32_t matrix);
