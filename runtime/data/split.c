/* SPDX-License-Identifier: Apache-2.0
 * Splits: which rows train, validate and test. */
#include "runtime/data/dataset.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/rng.h"

static int check(const double *fraction, unsigned npart, struct err *e)
{
	double sum = 0;

	if (!npart)
		return err_set(e, -ERR_CONFIG, "a split has at least one part");
	for (unsigned k = 0; k < npart; k++) {
		if (!(fraction[k] >= 0 && fraction[k] <= 1))
			return err_set(e, -ERR_CONFIG, "a part of a split is a fraction from 0 to 1, not %g",
				fraction[k]);
		sum += fraction[k];
	}
	if (sum > 1 + 1e-9)
		return err_set(e, -ERR_CONFIG, "the parts of a split sum to %g, more than 1", sum);
	return 0;
}

static void put_in_order(uint32_t nrow, bool shuffle, uint64_t seed, uint32_t *order)
{
	for (uint32_t i = 0; i < nrow; i++)
		order[i] = i;
	if (shuffle)
		rng_shuffle(seed, RNG_SPLIT, 0, order, nrow);
}

/* Write the shortest decimal that reads as f: its digits d0.d1d2... times 10^returned. */
static int decimal_of(double f, char digits[32])
{
	char text[40];
	size_t n = 0;

	for (int precision = 0; precision < DBL_DECIMAL_DIG; precision++) {
		snprintf(text, sizeof text, "%.*e", precision, f);
		if (strtod(text, NULL) == f)
			break;
	}
	for (const char *c = text; *c != 'e'; c++)
		if (*c >= '0' && *c <= '9')
			digits[n++] = *c;
	digits[n] = 0;
	return atoi(strchr(text, 'e') + 1);
}

uint64_t split_count(double fraction, uint64_t nrow)
{
	char digits[32];
	int exponent = decimal_of(fraction, digits);
	uint64_t whole = 0, all;
	double part = 0;

	if (exponent >= 0)
		return fraction >= 1 ? nrow : 0;
	/* Horner's rule from the last digit: (nrow * d + v) / 10, which stays below 10 nrow, in whole rows and a part of one. */
	for (size_t k = strlen(digits); k-- > 0; whole = all / 10) {
		all = nrow * (uint64_t)(digits[k] - '0') + whole;
		part = ((double)(all % 10) + part) / 10;
	}
	for (; exponent < -1 && (whole || part > 0); exponent++, whole /= 10)
		part = ((double)(whole % 10) + part) / 10;
	return whole + (part > 1 - 1e-9);
}

int split_rows(uint32_t nrow, const double *fraction, unsigned npart, bool shuffle, uint64_t seed,
	uint32_t *order, uint32_t *count, struct err *e)
{
	uint32_t left = nrow;
	int code = check(fraction, npart, e);

	if (code)
		return code;
	for (unsigned k = 0; k + 1 < npart; k++) {
		uint64_t rows = split_count(fraction[k], nrow);

		count[k] = rows < left ? (uint32_t)rows : left;
		left -= count[k];
	}
	count[npart - 1] = left;
	put_in_order(nrow, shuffle, seed, order);
	return 0;
}

int split_numbers(uint32_t nrow, const uint32_t *number, unsigned npart, bool shuffle, uint64_t seed,
	uint32_t *order, uint32_t *count, struct err *e)
{
	uint64_t sum = 0;

	for (unsigned k = 0; k < npart; k++)
		sum += number[k] == SPLIT_REST ? 0 : number[k];
	if (sum > nrow)
		return err_set(e, -ERR_CONFIG, "the split asks for %llu rows, there are %u", (unsigned long long)sum, nrow);
	for (unsigned k = 0; k < npart; k++) {
		count[k] = number[k] == SPLIT_REST ? nrow - (uint32_t)sum : number[k];
		if (number[k] == SPLIT_REST)
			sum = nrow;
	}
	put_in_order(nrow, shuffle, seed, order);
	return 0;
}

void split_folds(uint32_t nrow, unsigned nfold, uint32_t *number)
{
	for (unsigned k = 0; k < nfold; k++)
		number[k] = nrow / nfold + (k < nrow % nfold);
}

uint32_t dataset_labelled(const struct dataset *d, uint32_t *row)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->nrow; i++) {
		bool left_out = false;

		for (uint32_t j = 0; d->y && j < d->ny; j++)
			left_out |= isnan(d->y[(size_t)i * d->ny + j]);
		row[n] = i;
		n += !left_out;
	}
	return n;
}
