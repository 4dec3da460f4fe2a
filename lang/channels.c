/* SPDX-License-Identifier: Apache-2.0
 * Rows and names of the table of channels. */
#include "lang/channels.h"

#include <math.h>
#include <string.h>

#include "runtime/base/err.h"

#define CHANNEL(i, n, nn, nq, text) \
	_Static_assert(nn <= CHANNEL_NUMBERS_MAX && nq <= CHANNEL_QUBITS_MAX, n);
#include "lang/channels.def"
#undef CHANNEL

static const struct channel_row rows[CHANNEL_COUNT] = {
#define CHANNEL(i, n, nn, nq, text) \
	[CHANNEL_##i] = { .name = n, .nnumber = nn, .nqubit = nq, .doc = text },
#include "lang/channels.def"
#undef CHANNEL
};

static const struct {
	const char *name, *of;
} names[] = {
#define CHANNEL(i, n, ...) { n, n },
#define ALIAS(n, o) { n, o },
#include "lang/channels.def"
#undef CHANNEL
};
enum { NNAME = sizeof names / sizeof *names };

const struct channel_row *channel_row(enum channel c)
{
	if (c <= CHANNEL_NONE || c >= CHANNEL_COUNT)
		BUG("channel %d is not in the table", (int)c);
	return &rows[c];
}

size_t channel_names(const char *const **out)
{
	static const char *const all[] = {
#define CHANNEL(i, n, ...) n,
#define ALIAS(n, o) n,
#include "lang/channels.def"
#undef CHANNEL
	};

	*out = all;
	return NNAME;
}

const char *channel_name_of(const char *name)
{
	for (size_t i = 0; i < NNAME; i++)
		if (!strcmp(names[i].name, name))
			return names[i].of;
	return NULL;
}

enum channel channel_find(const char *name)
{
	const char *of = channel_name_of(name);

	for (int c = 1; of && c < CHANNEL_COUNT; c++)
		if (!strcmp(rows[c].name, of))
			return (enum channel)c;
	return CHANNEL_NONE;
}

void channel_probabilities(enum channel c, unsigned nqubit, const double *number,
	double q[CHANNEL_WORDS])
{
	enum { X = 1, Y, Z }; /* as channel_word orders them */
	unsigned nword = (1u << 2 * nqubit) - 1;

	memset(q, 0, CHANNEL_WORDS * sizeof *q);
	switch (c) {
	case CHANNEL_BIT_FLIP: q[X] = number[0]; break;
	case CHANNEL_PHASE_FLIP: q[Z] = number[0]; break;
	case CHANNEL_BIT_PHASE_FLIP: q[Y] = number[0]; break;
	case CHANNEL_PHASE_DAMPING: q[Z] = (1 - sqrt(1 - number[0])) / 2; break;
	case CHANNEL_DEPOLARIZING:
		for (unsigned k = 1; k <= nword; k++)
			q[k] = number[0] / nword;
		break;
	case CHANNEL_PAULI_CHANNEL:
		for (unsigned k = X; k <= Z; k++)
			q[k] = number[k - 1];
		break;
	case CHANNEL_AMPLITUDE_DAMPING: BUG("amplitude damping is no mixture of Pauli words");
	case CHANNEL_NONE:
	case CHANNEL_COUNT: BUG("channel %d is not in the table", (int)c);
	}
}
