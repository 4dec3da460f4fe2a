/* SPDX-License-Identifier: Apache-2.0
 * Sizes as text, and the one message that refuses a state. */
#include "config.h"
#include "runtime/exec/memory.h"

#include <math.h>
#include <stdio.h>

enum { SIZE_TEXT_MAX = 32, EXACT_QUBITS_MAX = 50 };

/* 2^exponent * factor bytes: "32.0 GiB", or "2^103 bytes" where no unit is usual. */
static const char *size_text(double factor, unsigned exponent, char text[SIZE_TEXT_MAX])
{
	static const char *const unit[] = { "bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double size = exponent < 200 ? ldexp(factor, (int)exponent) : HUGE_VAL;
	unsigned k = 0;

	while (size >= 1024 && k + 1 < sizeof unit / sizeof *unit) {
		size /= 1024;
		k++;
	}
	if (size >= 1024)
		snprintf(text, SIZE_TEXT_MAX, "2^%.0f bytes", exponent + log2(factor));
	else
		snprintf(text, SIZE_TEXT_MAX, k ? "%.1f %s" : "%.0f %s", size, unit[k]);
	return text;
}

static int refuse(const struct memory_need *n, const char *needed, struct err *e)
{
	char available[SIZE_TEXT_MAX];

	return err_set(e, -ERR_CONFIG, "needs %s for %u state%s of %u qubits in %s precision, %s available",
		needed, n->nstate, n->nstate == 1 ? "" : "s", n->nqubit,
		n->precision == PRECISION_DOUBLE ? "double" : "single",
		size_text((double)n->available, 0, available));
}

int memory_check_states(const struct memory_need *n, struct err *e)
{
	double amplitude = n->precision == PRECISION_DOUBLE ? 16 : 8;
	char needed[SIZE_TEXT_MAX];

	if (n->nqubit <= EXACT_QUBITS_MAX
			&& ldexp(amplitude * n->nstate, (int)n->nqubit) <= (double)n->available)
		return 0;
	return refuse(n, size_text(amplitude * n->nstate, n->nqubit, needed), e);
}

int memory_check(const struct memory_need *n, uint64_t nbyte, struct err *e)
{
	char needed[SIZE_TEXT_MAX];

	if (nbyte <= n->available)
		return 0;
	return refuse(n, size_text((double)nbyte, 0, needed), e);
}
