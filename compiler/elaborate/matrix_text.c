/* SPDX-License-Identifier: Apache-2.0
 * Reads complex matrices. */
#include "compiler/elaborate/matrix_text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	const char *text, *at, *end;
	struct matrix_text_fault *fault;
};

static bool fail(struct reader *r, const char *begin, const char *end, const char *why)
{
	snprintf(r->fault->why, sizeof r->fault->why, "%s", why);
	r->fault->begin = (size_t)(begin - r->text);
	r->fault->end = (size_t)((end < r->end ? end : r->end) - r->text);
	return false;
}

/* To the next number; false at the end. */
static bool next(struct reader *r)
{
	while (r->at < r->end && *r->at && strchr(" \t\r\n\f\v,;[](){}#", *r->at))
		r->at += *r->at == '#' ? strcspn(r->at, "\n") : 1;
	return r->at < r->end;
}

/* [+-] digits [j], as 0.5, -2j or, in savetxt's, +-1.5e-01j. */
static bool part(struct reader *r, const char *begin, double value[2], unsigned *seen)
{
	bool minus = false;
	char *end;

	for (; *r->at == '+' || *r->at == '-'; r->at++)
		minus = minus != (*r->at == '-');
	if (!isdigit((unsigned char)*r->at) && *r->at != '.')
		return fail(r, begin, r->at + (r->at < r->end), "not a number");
	double v = strtod(r->at, &end);
	if (end == r->at)
		return fail(r, begin, end + 1, "not a number");
	unsigned imaginary = *end == 'j' || *end == 'i';
	r->at = end + imaginary;
	if (*seen >> imaginary & 1)
		return fail(r, begin, r->at,
			imaginary ? "two imaginary parts"
				  : "two real parts: the imaginary one ends with j");
	if (!isfinite(v))
		return fail(r, begin, r->at, "not a finite number");
	*seen |= 1u << imaginary;
	value[imaginary] = minus ? -v : v;
	return true;
}

static bool number(struct reader *r, cplx *out)
{
	const char *begin = r->at;
	double value[2] = { 0 };
	unsigned seen = 0;

	do {
		if (!part(r, begin, value, &seen))
			return false;
	} while (*r->at == '+' || *r->at == '-');
	if (isalnum((unsigned char)*r->at) || *r->at == '_' || *r->at == '.')
		return fail(r, begin, r->at + 1, "not a number");
	*out = cplx_of(value[0], value[1]);
	return true;
}

bool matrix_text_read(const char *text, size_t len, uint32_t nrow, uint32_t ncolumn, cplx *u,
	struct span *row, struct matrix_text_fault *fault)
{
	struct reader r = { .text = text, .at = text, .end = text + len, .fault = fault };
	size_t n = 0, want = (size_t)nrow * ncolumn;
	cplx left;

	for (; next(&r); n++) {
		size_t begin = (size_t)(r.at - text);

		if (!number(&r, n < want ? &u[n] : &left))
			return false;
		if (n >= want)
			continue;
		if (n % ncolumn == 0)
			row[n / ncolumn].begin = (uint32_t)begin;
		row[n / ncolumn].end = (uint32_t)(r.at - text);
	}
	if (n == want)
		return true;
	fail(&r, text, text, "");
	if (ncolumn == 1)
		snprintf(fault->why, sizeof fault->why, "%zu numbers, where %u are needed", n, nrow);
	else
		snprintf(fault->why, sizeof fault->why,
			"%zu numbers, where %u rows of %u are needed", n, nrow, ncolumn);
	return false;
}
