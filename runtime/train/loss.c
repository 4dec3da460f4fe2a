/* SPDX-License-Identifier: Apache-2.0
 * The losses of loss.def, one function each. */
#include "config.h"
#include "runtime/train/loss.h"

#include <string.h>

static double loss_mse(const double *output, const double *label, uint32_t n, double *slope)
{
	double sum = 0;

	for (uint32_t j = 0; j < n; j++) {
		double d = output[j] - label[j];

		sum += d * d;
		if (slope)
			slope[j] = 2 * d / n;
	}
	return sum / n;
}

static const struct loss_row table[] = {
#define LOSS(name, doc, source) { #name, doc, source, loss_##name },
#include "runtime/train/loss.def"
#undef LOSS
};

size_t loss_rows(const struct loss_row **rows)
{
	*rows = table;
	return sizeof table / sizeof *table;
}

const struct loss_row *loss_find(const char *name)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}
