/* SPDX-License-Identifier: Apache-2.0
 * Reads sums of Pauli products. */
#include "compiler/elaborate/pauli_text.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	struct arena *a;
	const char *text, *at, *end;
	const struct wire_list *w;
	struct pauli_sum *sum;
	struct pauli_text_fault *fault;
	/* the term at hand */
	const char *begin; /* NULL before its first word */
	double sign, coefficient;
	bool has_coefficient, has_product, has_label; /* label: a letter for each qubit */
	uint8_t *letter;                              /* (w->n) */
	uint32_t *qubit, nfactor;                     /* (w->n) those with a letter */
	unsigned nbracket;                            /* [ that are open */
};

static bool fail(struct reader *r, const char *begin, const char *end, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static bool fail(struct reader *r, const char *begin, const char *end, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(r->fault->why, sizeof r->fault->why, fmt, args);
	va_end(args);
	r->fault->begin = (size_t)(begin - r->text);
	r->fault->end = (size_t)(end - r->text);
	return false;
}

/* ---- terms ---- */

static void clear(struct reader *r)
{
	r->begin = NULL;
	r->sign = r->coefficient = 1;
	r->has_coefficient = r->has_product = r->has_label = false;
	while (r->nfactor)
		r->letter[r->qubit[--r->nfactor]] = 0;
}

static bool end_term(struct reader *r)
{
	struct pauli_term t = { .coefficient = r->sign * r->coefficient };

	if (!r->has_coefficient && !r->has_product)
		return true;
	if (r->has_label && !r->has_coefficient)
		return fail(r, r->begin, r->at, "a label without a coefficient");
	t.factor = arena_alloc(r->a, r->nfactor + 1, sizeof *t.factor);
	for (; t.nfactor < r->nfactor; t.nfactor++)
		t.factor[t.nfactor] =
			(struct pauli_factor){ r->qubit[t.nfactor], r->letter[r->qubit[t.nfactor]] };
	pauli_term_place(&t, r->w->wire);
	if (!pauli_sum_append(r->a, r->sum, &t))
		return fail(r, r->begin, r->at, "more than %d products", PROGRAM_TERMS_MAX);
	clear(r);
	return true;
}

/* A coefficient or a label behind a complete term begins the next one. */
static bool next_word(struct reader *r, bool is_coefficient)
{
	bool complete = r->has_label && r->has_coefficient;

	if (complete && !end_term(r))
		return false;
	if (!r->begin)
		r->begin = r->at;
	if (is_coefficient && r->has_coefficient)
		return fail(r, r->begin, r->at, "a term with two coefficients");
	return true;
}

/* ---- numbers ---- */

static const char *blanks(const char *s)
{
	while (*s == ' ' || *s == '\t')
		s++;
	return s;
}

/* [sign] number, and *imaginary: with a j behind it. NULL where there is none. */
static const char *number(const char *s, double *value, bool *imaginary)
{
	const char *digits = s + (*s == '+' || *s == '-');
	char *end;

	if (!isdigit((unsigned char)*digits) && *digits != '.')
		return NULL;
	*value = strtod(s, &end);
	if (end <= digits)
		return NULL;
	*imaginary = *end == 'j';
	return end + *imaginary;
}

/* 0.5, (0.5+0j) or (0.5); *real and *other: its parts. NULL where there is none. */
static const char *complex_number(const char *s, double *real, double *other)
{
	bool in = *s == '(', imaginary;
	double v;

	*real = *other = 0;
	s = in ? blanks(s + 1) : s;
	for (unsigned n = 0; n < 2; n++) {
		const char *end = number(s, &v, &imaginary);

		if (!end)
			return n && in && *s == ')' ? s + 1 : NULL;
		*(imaginary ? other : real) += v;
		s = end;
		if (!in)
			return s;
		s = blanks(s);
	}
	return *s == ')' ? s + 1 : NULL;
}

static bool coefficient(struct reader *r, const char *end, double real, double other)
{
	const char *begin = r->at;

	if (!next_word(r, true))
		return false;
	if (*begin != '(' && end[-1] == 'j')
		return fail(r, begin, end, "a complex number stands in parentheses: (0.5+0j)");
	if (other != 0 || !isfinite(real))
		return fail(r, begin, end,
			other != 0 ? "an observable has real coefficients" : "not a finite number");
	r->coefficient = real;
	r->has_coefficient = true;
	r->at = end;
	return true;
}

/* ---- products ---- */

static uint8_t letter_of(char c)
{
	c = (char)toupper((unsigned char)c);
	return c >= 'X' && c <= 'Z' ? (uint8_t)(c - 'X' + 1) : 0;
}

static bool is_letter(char c) { return letter_of(c) || c == 'I' || c == 'i'; }

static bool factor(struct reader *r, const char *begin, const char *end, uint8_t letter,
	unsigned long qubit)
{
	if (qubit >= r->w->n)
		return fail(r, begin, end, "qubit %lu of %u, which are numbered from 0 on", qubit,
			r->w->n);
	if (letter && r->letter[qubit])
		return fail(r, begin, end, "a second letter for qubit %lu", qubit);
	if (letter)
		r->qubit[r->nfactor++] = (uint32_t)qubit;
	r->letter[qubit] |= letter;
	return true;
}

/* X0, X(0); I([0, 1]), as PennyLane writes the identity. */
static bool numbered(struct reader *r, const char *digits)
{
	const char *begin = r->at;
	uint8_t letter = letter_of(*begin);
	bool in = *digits == '(';
	char *end = (char *)digits;
	unsigned long qubit = 0;

	if (in && !letter)
		end += strcspn(digits, ")\n");
	else
		qubit = strtoul(digits + in, &end, 10);
	if (in && *end++ != ')')
		return fail(r, begin, end - 1, "`%.*s` has no end",
			(int)(end - 1 - begin > 40 ? 40 : end - 1 - begin), begin);
	if (letter && !factor(r, begin, end, letter, qubit))
		return false;
	r->at = end;
	return true;
}

static bool label(struct reader *r, const char *end)
{
	const char *begin = r->at;
	uint32_t n = (uint32_t)(end - begin);

	if (n != r->w->n)
		return fail(r, begin, end, "%u letter%s for %u qubits", n, n == 1 ? "" : "s", r->w->n);
	for (uint32_t k = 0; k < n; k++)
		if (!factor(r, begin, end, letter_of(begin[k]), k))
			return false;
	r->has_label = true;
	r->at = end;
	return true;
}

static bool product(struct reader *r)
{
	const char *end = r->at;

	while (is_letter(*end))
		end++;
	bool single = end - r->at == 1 && (isdigit((unsigned char)*end) || *end == '(');
	if (!single && (isalnum((unsigned char)*end) || *end == '_'))
		return fail(r, r->at, end + 1,
			"not a Pauli product: write X0 Z2 or a letter for each qubit");
	if (!next_word(r, false))
		return false;
	if (r->has_label || (!single && r->has_product))
		return fail(r, r->begin, end, "a term with two products");
	r->has_product = true;
	return single ? numbered(r, end) : label(r, end);
}

/* ---- the text ---- */

static bool word(struct reader *r)
{
	double real, other;
	const char *end = complex_number(r->at, &real, &other);
	bool is_sign = *r->at == '+' || *r->at == '-';

	if (end && (!is_sign || (r->has_label && !r->has_coefficient)))
		return coefficient(r, end, real, other);
	if (end && r->has_product && !r->has_coefficient)
		return fail(r, r->begin, end,
			"a coefficient stands before X0 Z2; a sign between terms has a blank behind it");
	if (is_sign) {
		if (!end_term(r))
			return false;
		r->sign = *r->at++ == '-' ? -r->sign : r->sign;
		return true;
	}
	if (is_letter(*r->at))
		return product(r);
	if (!*r->at || !strchr(" \t\r,;:'\"*@()[]{}", *r->at))
		return fail(r, r->at, r->at + 1, "not a sum of Pauli products");
	r->nbracket += *r->at == '[';
	r->nbracket -= *r->at == ']' && r->nbracket;
	r->at++;
	return true;
}

static bool line_end(struct reader *r)
{
	r->at++;
	return r->nbracket || end_term(r);
}

bool pauli_text_read(struct arena *a, const char *text, size_t len, const struct wire_list *w,
	struct pauli_sum *out, struct pauli_text_fault *fault)
{
	mem_auto uint8_t *letter = mem_alloc((size_t)w->n + 1, sizeof *letter);
	mem_auto uint32_t *qubit = mem_alloc((size_t)w->n + 1, sizeof *qubit);
	struct reader r = { .a = a,
		.text = text,
		.at = text,
		.end = text + len,
		.w = w,
		.sum = out,
		.fault = fault,
		.letter = letter,
		.qubit = qubit };
	bool fine = true;

	*out = pauli_sum_empty(a);
	clear(&r);
	while (fine && r.at < r.end) {
		if (*r.at == '#')
			r.at += strcspn(r.at, "\n");
		else
			fine = *r.at == '\n' ? line_end(&r) : word(&r);
	}
	fine = fine && end_term(&r);
	return fine && !out->n ? fail(&r, text, text, "no Pauli product") : fine;
}
