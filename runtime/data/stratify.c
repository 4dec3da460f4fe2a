/* SPDX-License-Identifier: Apache-2.0
 * Splits in which every part has its share of every label. */
#include "runtime/data/dataset.h"

#include <string.h>

#include "runtime/base/arena.h"

struct strata {
	const struct dataset *d;
	unsigned nclass;
	double value[SPLIT_CLASSES_MAX];         /* of each class, in order of appearance */
	uint32_t left[SPLIT_CLASSES_MAX];        /* rows that are in no part yet */
	uint32_t quota[SPLIT_PARTS_MAX][SPLIT_CLASSES_MAX];
	uint32_t nrow;
	const uint32_t *row;                     /* (nrow) those to be divided */
	uint16_t *class_of;                      /* (nrow) */
};

/* The label, or the number of the largest of several. */
static double label_of(const struct dataset *d, uint32_t row)
{
	const double *y = d->y + (size_t)row * d->ny;
	uint32_t largest = 0;

	if (d->ny == 1)
		return *y;
	for (uint32_t j = 1; j < d->ny; j++)
		if (y[j] > y[largest])
			largest = j;
	return largest;
}

static int classify(struct strata *s, struct err *e)
{
	for (uint32_t i = 0; i < s->nrow; i++) {
		double v = label_of(s->d, s->row[i]);
		unsigned k = 0;

		while (k < s->nclass && s->value[k] != v)
			k++;
		if (k == SPLIT_CLASSES_MAX)
			return err_set(e, -ERR_CONFIG, "data.split_stratify is for labels of classes; these have more than %d values",
				SPLIT_CLASSES_MAX);
		if (k == s->nclass)
			s->value[s->nclass++] = v;
		s->class_of[i] = (uint16_t)k;
		s->left[k]++;
	}
	return 0;
}

/* n rows for a part, of `all` that are left: whole shares first, then one for each of the largest
 * remainders. A class with a remainder has more rows than its whole share, since n <= all. */
static void share(struct strata *s, uint32_t *quota, uint32_t n, uint32_t all)
{
	uint64_t remainder[SPLIT_CLASSES_MAX];
	uint32_t missing = n;

	for (unsigned k = 0; k < s->nclass; k++) {
		quota[k] = (uint32_t)((uint64_t)n * s->left[k] / all);
		remainder[k] = (uint64_t)n * s->left[k] % all;
		missing -= quota[k];
	}
	for (; missing; missing--) {
		unsigned largest = 0;
		for (unsigned k = 1; k < s->nclass; k++)
			if (remainder[k] > remainder[largest])
				largest = k;
		quota[largest]++;
		remainder[largest] = 0;
	}
	for (unsigned k = 0; k < s->nclass; k++)
		s->left[k] -= quota[k];
}

/* Each row goes to the first part that still wants its class; what nobody wants to the end. */
static void deal(struct strata *s, const uint32_t *count, unsigned npart, uint32_t *order)
{
	uint32_t at[SPLIT_PARTS_MAX + 1] = { 0 };

	for (unsigned k = 0; k < npart; k++)
		at[k + 1] = at[k] + count[k];
	for (uint32_t i = 0; i < s->nrow; i++) {
		unsigned class = s->class_of[i], k = 0;

		while (k < npart && !s->quota[k][class])
			k++;
		if (k < npart)
			s->quota[k][class]--;
		order[at[k]++] = s->row[i];
	}
}

int split_stratify(const struct dataset *d, uint32_t nrow, const uint32_t *count, unsigned npart,
	uint32_t *order, struct err *e)
{
	mem_list_auto memory = { 0 };
	struct strata *s = mem_list_try(&memory, 1, sizeof *s);
	uint16_t *class_of = mem_list_try(&memory, (size_t)nrow + 1, sizeof *class_of);
	uint32_t *from = mem_list_try(&memory, (size_t)nrow + 1, sizeof *from), all = nrow;

	if (memory.failed)
		return err_set(e, -ERR_CONFIG, "no memory to split %u rows", nrow);
	memcpy(from, order, nrow * sizeof *from);
	s->d = d;
	s->nrow = nrow;
	s->row = from;
	s->class_of = class_of;
	int code = classify(s, e);
	for (unsigned k = 0; !code && k < npart && all; all -= count[k++])
		share(s, s->quota[k], count[k], all);
	if (!code)
		deal(s, count, npart, order);
	return code;
}
