/* SPDX-License-Identifier: Apache-2.0
 * The learning rate of a step, from the optimizer, its schedule and the callbacks. */
#include "runtime/train/optimizer/learning_rate.h"

#include <math.h>

void learning_rate_init(struct learning_rate *r, const struct optimizer_row *optimizer, const double *option,
	const struct schedule *s, uint64_t nstep)
{
	*r = (struct learning_rate){ .optimizer = optimizer, .schedule = *s, .replaced = NAN };
	schedule_resolve(&r->schedule, option[OPTIMIZER_LEARNING_RATE], nstep);
}

void learning_rate_begin(struct learning_rate *r) { r->replaced = NAN; }

void learning_rate_replace(struct learning_rate *r, double value) { r->replaced = value; }

double learning_rate_of_step(const struct learning_rate *r, const struct update *u, uint64_t step)
{
	if (r->optimizer->rate)
		return r->optimizer->rate(u, step);
	if (!optimizer_has_rate(r->optimizer))
		return NAN;
	return value_given(r->replaced) ? r->replaced : schedule_rate(&r->schedule, step);
}
