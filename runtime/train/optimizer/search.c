/* SPDX-License-Identifier: Apache-2.0
 * Searches along one direction: simultaneous perturbation and the bold driver. */
#include "runtime/train/optimizer/search.h"

#include <math.h>
#include <string.h>

#include "runtime/base/rng.h"

/* p->moved = the weights, those that may move gone by `by` along p->gradient. */
static void move_along(const struct update *u, struct probe *p, double by)
{
	for (size_t i = 0; i < u->n; i++)
		p->moved[i] = update_moves(u, i) ? u->weight[i] + by * p->gradient[i] : u->weight[i];
}

/* ---- spsa ---- */

enum { SPSA_LEARNING_RATE, SPSA_C, SPSA_A, SPSA_ALPHA, SPSA_GAMMA, SPSA_RESAMPLINGS, SPSA_TARGET, SPSA_CALIBRATION };

/* Sample numbers of calibration's directions, beyond those of a step's. */
enum { CALIBRATION_SAMPLE = 1 << 16 };

/* +1 or -1 with equal chances. */
static double direction(const struct update *u, const struct probe *p, uint32_t sample, size_t weight)
{
	uint64_t stream = (uint64_t)p->restart << 42 | (uint64_t)sample << 24 | weight;

	return rng_u64(p->seed, RNG_PERTURB, u->step, stream) >> 63 ? -1 : 1;
}

static void move(const struct update *u, struct probe *p, uint32_t sample, double by)
{
	for (size_t i = 0; i < u->n; i++)
		p->moved[i] = update_moves(u, i) ? u->weight[i] + by * direction(u, p, sample, i)
						 : u->weight[i];
}

/* *derivative = (f(w + c d) - f(w - c d)) / 2c for direction d number `sample`. */
static int derivative_along(const struct update *u, struct probe *p, uint32_t sample, double c, double *derivative, struct err *e)
{
	double up, down;

	move(u, p, sample, c);
	int code = p->ops->loss(p, p->moved, &up, NULL, e);
	if (code)
		return code;
	move(u, p, sample, -c);
	code = p->ops->loss(p, p->moved, &down, NULL, e);
	*derivative = (up - down) / (2 * c);
	return code;
}

/* Qiskit's SPSA.calibrate; where no direction has a derivative the gain is the target itself, as there. */
static int calibrate(const struct update *u, struct probe *p, double *gain, struct err *e)
{
	uint32_t n = (uint32_t)u->opt[SPSA_CALIBRATION];
	double sum = 0, derivative;

	for (uint32_t k = 0; k < n; k++) {
		int code = derivative_along(u, p, CALIBRATION_SAMPLE + k, u->opt[SPSA_C], &derivative, e);

		if (code)
			return code;
		sum += fabs(derivative);
	}
	*gain = u->opt[SPSA_TARGET] / (sum / n);
	if (!(isfinite(*gain) && *gain >= 1e-10))
		*gain = u->opt[SPSA_TARGET];
	return 0;
}

double rate_spsa(const struct update *u, uint64_t step)
{
	return u->slot[0][0] / pow((double)step + 1 + u->opt[SPSA_A], u->opt[SPSA_ALPHA]);
}

static int begin_spsa(const struct update *u, struct probe *p, struct err *e)
{
	double gain = u->opt[SPSA_LEARNING_RATE];
	int code = value_given(gain) ? 0 : calibrate(u, p, &gain, e);

	for (size_t i = 0; i < u->n; i++)
		u->slot[0][i] = gain;
	return code;
}

int search_spsa(const struct update *u, struct probe *p, struct err *e)
{
	uint32_t n = (uint32_t)u->opt[SPSA_RESAMPLINGS];
	double c = u->opt[SPSA_C] / pow((double)u->step, u->opt[SPSA_GAMMA]), derivative;
	int code = p->ops->loss(p, u->weight, &derivative, NULL, e);

	if (!code)
		p->ops->keep(p);
	if (!code && u->step == 1)
		code = begin_spsa(u, p, e);
	memset(p->gradient, 0, u->n * sizeof *p->gradient);
	for (uint32_t k = 0; !code && k < n; k++) {
		code = derivative_along(u, p, k, c, &derivative, e);
		for (size_t i = 0; !code && i < u->n; i++)
			if (update_moves(u, i))
				p->gradient[i] += derivative * direction(u, p, k, i) / n;
	}
	if (code)
		return code;
	move_along(u, p, -rate_spsa(u, u->step - 1));
	memcpy(u->weight, p->moved, u->n * sizeof *u->weight);
	return 0;
}

/* ---- bold_driver ---- */

enum { BOLD_LEARNING_RATE, BOLD_UP, BOLD_DOWN, BOLD_TRIES };

double rate_bold_driver(const struct update *u, uint64_t step)
{
	return step ? u->slot[0][0] : u->opt[BOLD_LEARNING_RATE];
}

int search_bold_driver(const struct update *u, struct probe *p, struct err *e)
{
	double rate = rate_bold_driver(u, u->step - 1), before, after;
	int code = p->ops->loss(p, u->weight, &before, p->gradient, e);

	if (!code)
		p->ops->keep(p);
	for (double k = 0; !code && k < u->opt[BOLD_TRIES]; k++) {
		move_along(u, p, -rate);
		code = p->ops->loss(p, p->moved, &after, NULL, e);
		if (!code && after <= before) {
			memcpy(u->weight, p->moved, u->n * sizeof *u->weight);
			rate *= u->opt[BOLD_UP];
			break;
		}
		rate *= u->opt[BOLD_DOWN];
	}
	for (size_t i = 0; i < u->n; i++)
		u->slot[0][i] = rate;
	return code;
}
