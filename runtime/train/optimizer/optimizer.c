/* SPDX-License-Identifier: Apache-2.0
 * The optimisers of optimizer.def, one function each.
 *
 * Operations stand in the order of Keras's update_step, so that results differ from it by
 * nothing but the precision. */
#include "runtime/train/optimizer/optimizer.h"

#include <float.h>
#include <math.h>

#include "runtime/train/optimizer/search.h"
#include "runtime/train/option/option_table.h"

#define BELOW_ONE (1 - DBL_EPSILON / 2)

/* Every weight that may move. */
#define EACH_WEIGHT(u, i) \
	for (size_t i = 0; i < (u)->n; i++) \
		if (update_moves(u, i))

static void update_sgd(const struct update *u)
{
	enum { LEARNING_RATE, MOMENTUM, NESTEROV };
	double rate = u->learning_rate, keep = u->opt[MOMENTUM], *m = u->slot[0];

	EACH_WEIGHT(u, i) {
		double g = u->gradient[i];

		m[i] = keep * m[i] - rate * g;
		u->weight[i] += u->opt[NESTEROV] != 0 ? keep * m[i] - rate * g : m[i];
	}
}

static void update_adam(const struct update *u)
{
	enum { LEARNING_RATE, BETA_1, BETA_2, EPSILON, AMSGRAD };
	double beta_1 = u->opt[BETA_1], beta_2 = u->opt[BETA_2], step = (double)u->step;
	double *m = u->slot[0], *v = u->slot[1], *top = u->slot[2];
	double rate = u->learning_rate * sqrt(1 - pow(beta_2, step)) / (1 - pow(beta_1, step));

	EACH_WEIGHT(u, i) {
		double g = u->gradient[i], square;

		m[i] += (g - m[i]) * (1 - beta_1);
		square = v[i] += (g * g - v[i]) * (1 - beta_2);
		if (u->opt[AMSGRAD] != 0)
			square = top[i] = fmax(top[i], square);
		u->weight[i] -= m[i] * rate / (sqrt(square) + u->opt[EPSILON]);
	}
}

#define update_adamw update_adam /* the decay, by which it differs, is a shared option */

static void update_nadam(const struct update *u)
{
	enum { LEARNING_RATE, BETA_1, BETA_2, EPSILON };
	double beta_1 = u->opt[BETA_1], beta_2 = u->opt[BETA_2], step = (double)u->step;
	double *m = u->slot[0], *v = u->slot[1], *product = u->slot[2];
	double now = beta_1 * (1 - 0.5 * pow(0.96, step)), next = beta_1 * (1 - 0.5 * pow(0.96, step + 1));

	EACH_WEIGHT(u, i) {
		double g = u->gradient[i], m_hat, v_hat;

		product[i] = (u->step == 1 ? 1 : product[i]) * now;
		m[i] += (g - m[i]) * (1 - beta_1);
		v[i] += (g * g - v[i]) * (1 - beta_2);
		m_hat = next * m[i] / (1 - product[i] * next) + (1 - now) * g / (1 - product[i]);
		v_hat = v[i] / (1 - pow(beta_2, step));
		u->weight[i] -= m_hat * u->learning_rate / (sqrt(v_hat) + u->opt[EPSILON]);
	}
}

static void update_rmsprop(const struct update *u)
{
	enum { LEARNING_RATE, RHO, MOMENTUM, EPSILON, CENTERED };
	double rho = u->opt[RHO], keep = u->opt[MOMENTUM];
	double *v = u->slot[0], *m = u->slot[1], *mean = u->slot[2];

	EACH_WEIGHT(u, i) {
		double g = u->gradient[i], square;

		square = v[i] = rho * v[i] + (1 - rho) * (g * g);
		if (u->opt[CENTERED] != 0) {
			mean[i] = rho * mean[i] + (1 - rho) * g;
			square -= mean[i] * mean[i];
		}
		m[i] = keep * m[i] + u->learning_rate * g / sqrt(square + u->opt[EPSILON]);
		u->weight[i] -= m[i];
	}
}

static void update_adagrad(const struct update *u)
{
	enum { LEARNING_RATE, INITIAL_ACCUMULATOR_VALUE, EPSILON };
	double *sum = u->slot[0];

	EACH_WEIGHT(u, i) {
		double g = u->gradient[i];

		if (u->step == 1)
			sum[i] = u->opt[INITIAL_ACCUMULATOR_VALUE];
		sum[i] += g * g;
		u->weight[i] -= u->learning_rate * g / sqrt(sum[i] + u->opt[EPSILON]);
	}
}

static void update_adadelta(const struct update *u)
{
	enum { LEARNING_RATE, RHO, EPSILON };
	double rho = u->opt[RHO], epsilon = u->opt[EPSILON], *square = u->slot[0], *moved = u->slot[1];

	EACH_WEIGHT(u, i) {
		double g = u->gradient[i], delta;

		square[i] = rho * square[i] + (1 - rho) * (g * g);
		delta = -(sqrt(moved[i] + epsilon) * g / sqrt(square[i] + epsilon));
		moved[i] = rho * moved[i] + (1 - rho) * (delta * delta);
		u->weight[i] += u->learning_rate * delta;
	}
}

static void update_adamax(const struct update *u)
{
	enum { LEARNING_RATE, BETA_1, BETA_2, EPSILON };
	double beta_1 = u->opt[BETA_1], power = pow(beta_1, (double)u->step), *m = u->slot[0], *norm = u->slot[1];

	EACH_WEIGHT(u, i) {
		double g = u->gradient[i];

		m[i] += (g - m[i]) * (1 - beta_1);
		norm[i] = fmax(u->opt[BETA_2] * norm[i], fabs(g));
		u->weight[i] -= u->learning_rate * m[i] / ((1 - power) * (norm[i] + u->opt[EPSILON]));
	}
}

static void update_lion(const struct update *u)
{
	enum { LEARNING_RATE, BETA_1, BETA_2 };
	double beta_1 = u->opt[BETA_1], beta_2 = u->opt[BETA_2], *m = u->slot[0];

	EACH_WEIGHT(u, i) {
		double g = u->gradient[i], mixed = m[i] * beta_1 + g * (1 - beta_1);

		u->weight[i] -= u->learning_rate * ((mixed > 0) - (mixed < 0));
		m[i] = m[i] * beta_2 + g * (1 - beta_2);
	}
}

static const struct optimizer_row table[] = {
#define OPTIMIZER(id, text, origin, decay, options, slots) { \
	.name = #id, .doc = text, .source = origin, .method = METHOD_GRADIENT, \
	.nown = OPTION_COUNT_OF(OPTION_ROWS options), \
	.noption = OPTION_COUNT_OF(OPTION_ROWS options, OPTIMIZER_SHARED(decay)), \
	.option = { OPTION_ROWS options, OPTIMIZER_SHARED(decay) }, \
	.nslot = sizeof (const char *[]){ OPTION_ROWS slots } / sizeof (const char *), \
	.slot_name = { OPTION_ROWS slots, "ema" }, \
	.update = update_##id },
#define SEARCH(id, how, text, origin, members, options, slots) \
	{ .name = #id, \
		.doc = text, \
		.source = origin, \
		.method = how, \
		.nown = OPTION_COUNT_OF(OPTION_ROWS options), \
		.noption = OPTION_COUNT_OF(OPTION_ROWS options), \
		.option = { OPTION_ROWS options }, \
		.nslot = sizeof(const char *[]){ OPTION_ROWS slots } / sizeof(const char *), \
		.slot_name = { OPTION_ROWS slots }, \
		OPTION_ROWS members },
#include "runtime/train/optimizer/optimizer.def"
#undef OPTIMIZER
#undef SEARCH
};

TABLE_OF_ROWS(optimizer_row, optimizer_rows, optimizer_find)
