/* SPDX-License-Identifier: Apache-2.0
 * The schedules of schedule.def, one function each, and the learning rate of a step. */
#include "runtime/train/optimizer/schedule.h"

#include <float.h>
#include <string.h>

#include "runtime/base/maths.h"
#include "runtime/train/option/option_table.h"

static double rate_constant(const struct schedule *s, double step)
{
	(void)step;
	return s->learning_rate;
}

static double rate_exponential(const struct schedule *s, double step)
{
	enum { INITIAL, DECAY_STEPS, DECAY_RATE, STAIRCASE };
	double p = step / s->option[DECAY_STEPS];

	return s->option[INITIAL] * pow(s->option[DECAY_RATE], s->option[STAIRCASE] != 0 ? floor(p) : p);
}

static double rate_piecewise(const struct schedule *s, double step)
{
	enum { BOUNDARIES, VALUES };
	unsigned k = 0, n = (unsigned)s->option[BOUNDARIES];

	while (k < n && step > s->list[BOUNDARIES][k])
		k++;
	return s->list[VALUES][k];
}

static double rate_polynomial(const struct schedule *s, double step)
{
	enum { INITIAL, DECAY_STEPS, END, POWER, CYCLE };
	double length = s->option[DECAY_STEPS], end = s->option[END];

	if (s->option[CYCLE] != 0)
		length *= step == 0 ? 1 : ceil(step / length);
	else
		step = fmin(step, length);
	return (s->option[INITIAL] - end) * pow(1 - step / length, s->option[POWER]) + end;
}

static double rate_inverse_time(const struct schedule *s, double step)
{
	enum { INITIAL, DECAY_STEPS, DECAY_RATE, STAIRCASE };
	double p = step / s->option[DECAY_STEPS];

	return s->option[INITIAL] / (1 + s->option[DECAY_RATE] * (s->option[STAIRCASE] != 0 ? floor(p) : p));
}

static double rate_cosine(const struct schedule *s, double step)
{
	enum { INITIAL, DECAY_STEPS, ALPHA, WARMUP_TARGET, WARMUP_STEPS };
	double initial = s->option[INITIAL], top = s->option[WARMUP_TARGET], warm = s->option[WARMUP_STEPS];
	double length = s->option[DECAY_STEPS], alpha = s->option[ALPHA];

	if (value_given(top)) {
		if (step < warm)
			return step / warm * (top - initial) + initial;
		step -= warm;
		initial = top;
	}
	return initial * ((1 - alpha) * (0.5 * (1 + cos(PI * fmin(step, length) / length))) + alpha);
}

/* Which cosine a time in units of the first one lies in, and where in it from 0 to 1. */
static double restart_of(double time, double t_mul, double *fraction)
{
	double k, begin, length;

	if (t_mul == 1) {
		k = floor(time);
		*fraction = time - k;
		return k;
	}
	k = floor(log(1 - time * (1 - t_mul)) / log(t_mul));
	/* A boundary belongs to the cosine that begins there, however the logarithms were rounded. */
	if (time >= (1 - pow(t_mul, k + 1)) / (1 - t_mul))
		k++;
	begin = (1 - pow(t_mul, k)) / (1 - t_mul);
	length = pow(t_mul, k);
	*fraction = fmin(fmax((time - begin) / length, 0), 1);
	return k;
}

static double rate_cosine_restarts(const struct schedule *s, double step)
{
	enum { INITIAL, FIRST_DECAY_STEPS, T_MUL, M_MUL, ALPHA };
	double alpha = s->option[ALPHA], fraction;
	double k = restart_of(step / s->option[FIRST_DECAY_STEPS], s->option[T_MUL], &fraction);

	return s->option[INITIAL]
		* ((1 - alpha) * (0.5 * pow(s->option[M_MUL], k) * (1 + cos(PI * fraction))) + alpha);
}

static const struct schedule_row table[] = {
#define SCHEDULE(id, text, origin, options) { \
	.name = #id, .doc = text, .source = origin, \
	.noption = OPTION_COUNT_OF(OPTION_ROWS options), .option = { OPTION_ROWS options }, \
	.rate = rate_##id },
#include "runtime/train/optimizer/schedule.def"
#undef SCHEDULE
};

TABLE_OF_ROWS(schedule_row, schedule_rows, schedule_find)

static int check_piecewise(const struct schedule *s, struct err *e)
{
	unsigned nboundary = (unsigned)s->option[0], nvalue = (unsigned)s->option[1];

	if (nvalue != nboundary + 1)
		return err_set(e, -ERR_CONFIG, "schedule piecewise has %u boundaries and %u values; it needs one more value than boundaries",
			nboundary, nvalue);
	for (unsigned k = 1; k < nboundary; k++)
		if (s->list[0][k] <= s->list[0][k - 1])
			return err_set(e, -ERR_CONFIG, "the boundaries of schedule piecewise do not rise at entry %u", k);
	return 0;
}

int schedule_check(const struct schedule *s, struct err *e)
{
	if (s->row && s->row->rate == rate_piecewise)
		return check_piecewise(s, e);
	return 0;
}

/* Is it the number of updates of the whole training? */
static bool is_length(const struct schedule *s, unsigned k)
{
	return s->row->option[k].kind == VALUE_COUNT && !value_given(s->option[k]);
}

const char *schedule_length(const struct schedule *s)
{
	for (unsigned k = 0; s->row && k < s->row->noption; k++)
		if (is_length(s, k))
			return s->row->option[k].name;
	return NULL;
}

void schedule_resolve(struct schedule *s, double learning_rate, uint64_t nstep)
{
	s->learning_rate = learning_rate;
	for (unsigned k = 0; s->row && k < s->row->noption; k++) {
		if (is_length(s, k))
			s->option[k] = (double)nstep;
		else if (!value_given(s->option[k])
			&& !strcmp(s->row->option[k].name, "initial_learning_rate"))
			s->option[k] = learning_rate;
	}
}

double schedule_rate(const struct schedule *s, uint64_t step)
{
	return s->row ? s->row->rate(s, (double)step) : s->learning_rate;
}

void learning_rate_init(struct learning_rate *r, const struct optimizer_row *optimizer,
	const double *option, const struct schedule *s, uint64_t nstep)
{
	*r = (struct learning_rate){ .optimizer = optimizer, .schedule = *s, .replaced = NAN };
	schedule_resolve(&r->schedule, option[OPTIMIZER_LEARNING_RATE], nstep);
}

double learning_rate_of_step(const struct learning_rate *r, const struct update *u, uint64_t step)
{
	if (r->optimizer->rate)
		return r->optimizer->rate(u, step);
	if (!optimizer_has_rate(r->optimizer))
		return NAN;
	return value_given(r->replaced) ? r->replaced : schedule_rate(&r->schedule, step);
}
