/* SPDX-License-Identifier: Apache-2.0
 * The optimisers of optimizer.def, one function each. */
#include "config.h"
#include "runtime/train/optimizer.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define BELOW_ONE (1 - DBL_EPSILON / 2)

static bool is_frozen(const uint8_t *frozen, size_t i)
{
	return frozen && frozen[i];
}

static void update_sgd(const double *opt, uint64_t step, const double *gradient, double *weight,
	double *const *slot, const uint8_t *frozen, size_t n)
{
	enum { LEARNING_RATE, MOMENTUM, NESTEROV };
	double rate = opt[LEARNING_RATE], keep = opt[MOMENTUM], *m = slot[0];

	(void)step;
	for (size_t i = 0; i < n; i++) {
		if (is_frozen(frozen, i))
			continue;
		m[i] = keep * m[i] - rate * gradient[i];
		weight[i] += opt[NESTEROV] != 0 ? keep * m[i] - rate * gradient[i] : m[i];
	}
}

static void update_adam(const double *opt, uint64_t step, const double *gradient, double *weight,
	double *const *slot, const uint8_t *frozen, size_t n)
{
	enum { LEARNING_RATE, BETA_1, BETA_2, EPSILON };
	double beta_1 = opt[BETA_1], beta_2 = opt[BETA_2], *m = slot[0], *v = slot[1];
	double rate = opt[LEARNING_RATE] * sqrt(1 - pow(beta_2, (double)step)) / (1 - pow(beta_1, (double)step));

	for (size_t i = 0; i < n; i++) {
		double g = gradient[i];

		if (is_frozen(frozen, i))
			continue;
		m[i] += (g - m[i]) * (1 - beta_1);
		v[i] += (g * g - v[i]) * (1 - beta_2);
		weight[i] -= m[i] * rate / (sqrt(v[i]) + opt[EPSILON]);
	}
}

#define LIST(...) { __VA_ARGS__ }
#define OPTION(name, value, least, most, is_bool, doc) { #name, value, least, most, is_bool, doc }

static const struct optimizer_row table[] = {
#define OPTIMIZER(id, text, origin, options, slots) { \
	.name = #id, .doc = text, .source = origin, \
	.noption = sizeof (struct optimizer_option[])LIST options / sizeof (struct optimizer_option), \
	.option = LIST options, \
	.nslot = sizeof (const char *[])LIST slots / sizeof (const char *), \
	.slot_name = LIST slots, \
	.update = update_##id },
#include "runtime/train/optimizer.def"
#undef OPTIMIZER
};

size_t optimizer_rows(const struct optimizer_row **rows)
{
	*rows = table;
	return sizeof table / sizeof *table;
}

const struct optimizer_row *optimizer_find(const char *name)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}
