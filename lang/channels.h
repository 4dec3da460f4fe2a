/* SPDX-License-Identifier: Apache-2.0
 * The table of noise channels, and the Pauli words that they choose from.
 *
 * A channel on n qubits applies word k = 1 .. 4^n - 1 with probability q[k], and otherwise nothing. Bit 2j of
 * channel_word(k) says that the word has x on qubit j, bit 2j + 1 that it has z there, both that it has y. Words
 * that follow each other differ by one bit. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum channel {
	CHANNEL_NONE = 0,
#define CHANNEL(id, ...) CHANNEL_##id,
#include "lang/channels.def"
#undef CHANNEL
	CHANNEL_COUNT
};

enum { CHANNEL_NUMBERS_MAX = 3, CHANNEL_QUBITS_MAX = 2, CHANNEL_WORDS = 16 };

struct channel_row {
	const char *name;
	unsigned nnumber; /* probabilities in parentheses */
	unsigned nqubit;  /* at most */
	const char *doc;
};
const struct channel_row *channel_row(enum channel c);

/* By its name or another one; CHANNEL_NONE: there is none. */
enum channel channel_find(const char *name);
/* Rows, then other names; the row's own name, or that of the row that an other name means. */
size_t channel_names(const char *const **names);
const char *channel_name_of(const char *name);

static inline unsigned channel_word(unsigned k) { return k ^ k >> 1; }

/* Of all channels but amplitude damping: q[1 .. 4^nqubit - 1] for the numbers in parentheses, each in [0, 1]. */
void channel_probabilities(enum channel c, unsigned nqubit, const double *number,
	double q[CHANNEL_WORDS]);
