/* SPDX-License-Identifier: Apache-2.0
 * Initial weights: each is a function of (seed, start, its number) alone. */
#include "runtime/program/program.h"

#include <math.h>
#include "runtime/base/rng.h"

static double initial(const struct weight_group *g, uint64_t seed, uint32_t restart, uint32_t k)
{
	double a = g->init_a, b = g->init_b, limit;
	uint64_t at = (uint64_t)g->first + k;
	switch (g->init) {
	case INIT_UNIFORM: return a + (b - a) * rng_uniform(seed, RNG_INIT, restart, at);
	case INIT_NORMAL: return a + b * rng_normal(seed, RNG_INIT, restart, at);
	case INIT_GLOROT_UNIFORM: /* Glorot and Bengio, AISTATS 2010, eq. 16 */
		limit = sqrt(6 / (a + b));
		return limit * (2 * rng_uniform(seed, RNG_INIT, restart, at) - 1);
	case INIT_VALUES: return g->init_value[k];
	case INIT_NONE:
	case INIT_COUNT: break;
	}
	return 0;
}

void program_init_weights(const struct program *p, uint64_t seed, uint32_t restart, double *weight)
{
	for (uint32_t i = 0; i < p->nweight_group; i++) {
		const struct weight_group *g = &p->weight_group[i];
		for (uint32_t k = 0; k < g->count; k++)
			weight[g->first + k] = initial(g, seed, restart, k);
	}
}
