/* SPDX-License-Identifier: Apache-2.0
 * Refuses states that do not fit into memory. */
#include "runtime/exec/statevector/state_memory.h"

#include <math.h>
#include <stdio.h>

enum { EXACT_QUBITS_MAX = 50 };

/* fits: qubits of the largest state for which there is room; 0: not said. */
static int refuse(const struct memory_need *n, const char *needed, unsigned fits, struct err *e)
{
	char available[MEMORY_TEXT_MAX], enough[32] = "", shared[64] = "";

	if (fits)
		snprintf(enough, sizeof enough, ", enough for %u", fits);
	if (n->sharers)
		snprintf(shared, sizeof shared, "; %u workers share the memory of that machine",
			n->sharers);
	return err_set(e, -ERR_CONFIG,
		"needs %s for %u state%s of %u qubits in %s precision, %s available%s%s", needed,
		n->nstate, n->nstate == 1 ? "" : "s", n->nqubit,
		n->precision == PRECISION_DOUBLE ? "double" : "single",
		memory_text((double)n->available, 0, available), enough, shared);
}

int memory_check_states(const struct memory_need *n, struct err *e)
{
	double amplitude = n->precision == PRECISION_DOUBLE ? 16 : 8, most = (double)n->available / (amplitude * n->nstate);
	char needed[MEMORY_TEXT_MAX];

	if (!n->nstate || (n->nqubit <= EXACT_QUBITS_MAX && ldexp(1, (int)n->nqubit) <= most))
		return 0;
	most *= 15 / 16.0;               /* buffers come besides */
	return refuse(n, memory_text(amplitude * n->nstate, n->nqubit, needed), most >= 2 ? (unsigned)log2(most) : 0, e);
}

int memory_check(const struct memory_need *n, uint64_t nbyte, struct err *e)
{
	char needed[MEMORY_TEXT_MAX];

	if (nbyte <= n->available)
		return 0;
	return refuse(n, memory_text((double)nbyte, 0, needed), 0, e);
}
