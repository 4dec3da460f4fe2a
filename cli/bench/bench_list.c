/* SPDX-License-Identifier: Apache-2.0
 * Lists and ranges of whole numbers on the command line. */
#include "cli/bench/bench.h"

#include <ctype.h>
#include <stdlib.h>

/* A whole number at *p, which moves behind it. */
static bool number(const char **p, uint64_t *out)
{
	char *end;

	if (!isdigit((unsigned char)**p))
		return false;
	*out = strtoull(*p, &end, 10);
	if (end - *p > 18)
		return false;
	*p = end;
	return true;
}

/* "20", "20-28", "20-28+2" */
static bool range(const char **p, uint64_t *first, uint64_t *last, uint64_t *step)
{
	*step = 1;
	if (!number(p, first))
		return false;
	*last = *first;
	if (**p != '-')
		return true;
	++*p;
	if (!number(p, last))
		return false;
	if (**p != '+')
		return true;
	++*p;
	return number(p, step) && *step > 0;
}

int bench_list_read(const char *name, const char *text, uint64_t low, uint64_t high, struct bench_list *out,
	struct err *e)
{
	const char *p = text;

	out->n = 0;
	for (;;) {
		uint64_t first, last, step;

		if (!range(&p, &first, &last, &step) || (*p && *p != ',') || first > last)
			return err_set(e, -ERR_USAGE, "--%s takes numbers like 20,24 or 20-28 or 20-28+2, not `%s`", name, text);
		if (first < low || last > high)
			return err_set(e, -ERR_USAGE, "--%s takes numbers from %llu to %llu, not `%s`", name,
				(unsigned long long)low, (unsigned long long)high, text);
		for (uint64_t v = first; v <= last; v += step) {
			if (out->n == BENCH_NUMBERS_MAX)
				return err_set(e, -ERR_USAGE, "--%s gives more than %d numbers", name, BENCH_NUMBERS_MAX);
			out->v[out->n++] = v;
		}
		if (!*p++)
			return 0;
	}
}
