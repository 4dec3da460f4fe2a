/* SPDX-License-Identifier: Apache-2.0
 * The regularisers of regularizer.def, and which weights they are for. */
#include "runtime/train/optimizer/regularizer.h"

#include <math.h>
#include <string.h>

#include "runtime/train/option/option_table.h"

static double penalty_l1(double weight, double *derivative)
{
	*derivative = (weight > 0) - (weight < 0);
	return fabs(weight);
}

static double penalty_l2(double weight, double *derivative)
{
	*derivative = 2 * weight;
	return weight * weight;
}

static const struct regularizer_row table[] = {
#define REGULARIZER(name, doc, source) { #name, doc, source, penalty_##name },
#include "runtime/train/optimizer/regularizer.def"
#undef REGULARIZER
};

TABLE_OF_ROWS(regularizer_row, regularizer_rows, regularizer_find)

/* No brackets as in fnmatch(3): paths have brackets of their own.  On a mismatch the last
 * star takes one character more. */
bool penalty_matches(const char *pattern, const char *path)
{
	const char *star = NULL, *again = NULL;

	while (*path) {
		if (*pattern == '*') {
			star = pattern++;
			again = path;
		} else if (*pattern == '?' || *pattern == *path) {
			pattern++;
			path++;
		} else if (star) {
			pattern = star + 1;
			path = ++again;
		} else {
			return false;
		}
	}
	return !pattern[strspn(pattern, "*")];
}

bool penalty_applies(const char *pattern, const struct weight_group *g)
{
	return !g->frozen && (!pattern || penalty_matches(pattern, g->path));
}

int penalty_check(const struct penalty *v, unsigned n, const struct program *p, struct err *e)
{
	for (unsigned k = 0; k < n; k++) {
		uint32_t g = 0;

		while (g < p->nweight_group && !penalty_applies(v[k].pattern, &p->weight_group[g]))
			g++;
		if (g == p->nweight_group)
			return err_set(e, -ERR_CONFIG,
				"regularizer %s: no trainable weights match `%s`", v[k].row->name,
				v[k].pattern ? v[k].pattern : "*");
	}
	return 0;
}

static double of_group(const struct penalty *v, const struct weight_group *g, const double *weight, double *gradient)
{
	double sum = 0, derivative;

	for (size_t i = g->first; i < (size_t)g->first + g->count; i++) {
		sum += v->row->value(weight[i], &derivative);
		if (gradient)
			gradient[i] += v->factor * derivative;
	}
	return v->factor * sum;
}

double penalty_sum(const struct penalty *v, unsigned n, const struct program *p, const double *weight, double *gradient)
{
	double sum = 0;

	for (unsigned k = 0; k < n; k++)
		for (uint32_t g = 0; g < p->nweight_group; g++)
			if (penalty_applies(v[k].pattern, &p->weight_group[g]))
				sum += of_group(&v[k], &p->weight_group[g], weight, gradient);
	return sum;
}
