/* SPDX-License-Identifier: Apache-2.0
 * What all optimisers share around their updates: clipping, decay, running mean.
 *
 * Order and formulas are those of Keras, optimizers/base_optimizer.py: apply(), where a
 * weight group is a variable; frozen groups are left out of everything. */
#include "runtime/train/optimizer/optimizer.h"

#include <assert.h>
#include <math.h>

static double shared(const struct optimizer_row *row, const double *opt, enum optimizer_shared k)
{
	return opt[row->nown + k];
}

static bool uses_ema(const struct optimizer_row *row, const double *opt)
{
	return row->method == METHOD_GRADIENT && shared(row, opt, SHARED_USE_EMA) != 0;
}

bool optimizer_has_rate(const struct optimizer_row *row) { return row->method == METHOD_GRADIENT; }

bool optimizer_needs_gradient(const struct optimizer_row *row)
{
	return row->method == METHOD_GRADIENT || row->method == METHOD_PROBE_GRADIENT || row->method == METHOD_WHOLE_GRADIENT;
}

bool optimizer_takes_all(const struct optimizer_row *row)
{
	return row->method == METHOD_WHOLE || row->method == METHOD_WHOLE_GRADIENT;
}

unsigned optimizer_slots(const struct optimizer_row *row, const double *opt)
{
	return row->nslot + uses_ema(row, opt);
}

int optimizer_check(const struct optimizer_row *row, const double *opt, struct err *e)
{
	if (row->lacks)
		return err_set(e, -ERR_CONFIG, "the optimizer %s needs %s, without which this qcnn was built", row->name, row->lacks);
	if (row->method != METHOD_GRADIENT)
		return 0;
	assert(row->noption == row->nown + SHARED_COUNT);
	int clips = value_given(shared(row, opt, SHARED_CLIPNORM))
		+ value_given(shared(row, opt, SHARED_CLIPVALUE))
		+ value_given(shared(row, opt, SHARED_GLOBAL_CLIPNORM));
	if (clips > 1)
		return err_set(e, -ERR_CONFIG, "clipnorm, clipvalue and global_clipnorm of %s exclude each other", row->name);
	return 0;
}

static double square_sum(const struct update *u, const double *gradient, size_t first, size_t count)
{
	double sum = 0;

	for (size_t i = first; i < first + count; i++)
		if (update_moves(u, i))
			sum += gradient[i] * gradient[i];
	return sum;
}

static void clip_groups(const struct program *p, const struct update *u, double *gradient, double most)
{
	for (uint32_t g = 0; g < p->nweight_group; g++) {
		size_t first = p->weight_group[g].first, count = p->weight_group[g].count;
		double norm = sqrt(square_sum(u, gradient, first, count));

		for (size_t i = first; i < first + count; i++)
			gradient[i] = gradient[i] * most / fmax(norm, most);
	}
}

static void clip_whole(const struct update *u, double *gradient, double most)
{
	double scale = most * fmin(1 / sqrt(square_sum(u, gradient, 0, u->n)), 1 / most);

	for (size_t i = 0; i < u->n; i++)
		gradient[i] *= scale;
}

static void clip_values(const struct update *u, double *gradient, double most)
{
	for (size_t i = 0; i < u->n; i++)
		gradient[i] = gradient[i] > most ? most : gradient[i] < -most ? -most : gradient[i];
}

static void clip(const struct optimizer_row *row, const struct program *p, const struct update *u, double *gradient)
{
	double group = shared(row, u->opt, SHARED_CLIPNORM), whole = shared(row, u->opt, SHARED_GLOBAL_CLIPNORM),
		value = shared(row, u->opt, SHARED_CLIPVALUE);

	if (value_given(group))
		clip_groups(p, u, gradient, group);
	else if (value_given(whole))
		clip_whole(u, gradient, whole);
	else if (value_given(value))
		clip_values(u, gradient, value);
}

static void decay(const struct optimizer_row *row, const struct update *u)
{
	double rate = shared(row, u->opt, SHARED_WEIGHT_DECAY);

	if (!value_given(rate))
		return;
	for (size_t i = 0; i < u->n; i++)
		if (update_moves(u, i))
			u->weight[i] -= u->weight[i] * rate * u->learning_rate;
}

/* The mean begins with the weights after the first update. */
static void average(const struct optimizer_row *row, const struct update *u)
{
	double keep = u->step == 1 ? 0 : shared(row, u->opt, SHARED_EMA_MOMENTUM);
	double every = shared(row, u->opt, SHARED_EMA_OVERWRITE_FREQUENCY), *mean = u->slot[row->nslot];

	for (size_t i = 0; i < u->n; i++)
		mean[i] = keep * mean[i] + (1 - keep) * u->weight[i];
	if (value_given(every) && u->step % (uint64_t)every == 0)
		optimizer_finish(row, u);
}

void optimizer_step(const struct optimizer_row *row, const struct program *p, const struct update *u, double *gradient)
{
	clip(row, p, u, gradient);
	decay(row, u);
	row->update(u);
	if (uses_ema(row, u->opt))
		average(row, u);
}

void optimizer_finish(const struct optimizer_row *row, const struct update *u)
{
	if (!uses_ema(row, u->opt))
		return;
	for (size_t i = 0; i < u->n; i++)
		if (update_moves(u, i))
			u->weight[i] = u->slot[row->nslot][i];
}
