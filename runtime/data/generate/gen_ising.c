/* SPDX-License-Identifier: Apache-2.0
 * Ground states on both sides of a phase transition: the chain in a transverse field (Pfeuty, Annals of
 * Physics 57 (1970) 79), and the cluster chain of Cong, Choi and Lukin (arXiv 1810.03787, equation 2). */
#include "runtime/data/generate/generate.h"

#include <stdlib.h>

#include "runtime/base/arena.h"
#include "runtime/base/rng.h"
#include "runtime/data/generate/ising.h"

/* Both transitions of the long chain lie at a field of 1. */
enum { STREAM_CHAIN = 2, STREAM_CLUSTER = 3 };
enum { LOW, HIGH, EVEN, XX, BOUNDARY };

static double field(const struct generate_options *o, uint64_t stream, uint32_t i)
{
	const double wide = o->option[HIGH] - o->option[LOW];

	if (o->option[EVEN])
		return o->option[LOW] + wide * (o->rounds > 1 ? (double)i / (o->rounds - 1) : 0);
	return o->option[LOW] + wide * rng_uniform(o->seed, RNG_DATA, stream, i);
}

static int fill(const struct ising *chain, double boundary, uint64_t stream, const struct generate_options *o,
	double *state, struct dataset *d, struct err *e)
{
	struct ising h = *chain;
	double energy;
	int code = 0;

	for (uint32_t i = 0; !code && i < d->nrow; i++) {
		h.x = field(o, stream, i);
		code = ising_ground_state(&h, &energy, state, e);
		for (uint32_t k = 0; !code && k < d->nx / 2; k++)
			d->x[(size_t)i * d->nx + 2 * k] = state[k];
		d->y[i] = h.x < boundary ? 1 : -1;
	}
	return code;
}

static int generate(const struct ising *chain, double boundary, uint64_t stream, const struct generate_options *o,
	struct dataset **out, struct err *e)
{
	struct dataset *d = NULL;

	if (o->nqubit < 3 || o->nqubit > ISING_QUBITS_MAX)
		return err_set(e, -ERR_CONFIG, "%s makes states of 3 to %d qubits, not of %u", o->name, ISING_QUBITS_MAX, o->nqubit);
	if (o->option[LOW] > o->option[HIGH])
		return err_set(e, -ERR_CONFIG, "%s: low, %g, is above high, %g", o->name, o->option[LOW], o->option[HIGH]);
	int code = dataset_new(o->rounds, (uint64_t)2 << o->nqubit, 1, o->name, &d, e);
	if (code)
		return code;
	double *state = mem_try((size_t)1 << o->nqubit, sizeof *state);
	code = state ? fill(chain, boundary, stream, o, state, d, e)
		: err_set(e, -ERR_CONFIG, "no memory for a state of %u qubits", o->nqubit);
	free(state);
	if (code)
		dataset_free(d);
	else
		*out = d;
	return code;
}

int generate_ising(const struct generate_options *o, struct dataset **out, struct err *e)
{
	return generate(&(struct ising){ .nqubit = o->nqubit, .zz = 1 }, 1, STREAM_CHAIN, o, out, e);
}

int generate_cluster_ising(const struct generate_options *o, struct dataset **out, struct err *e)
{
	const struct ising chain = { .nqubit = o->nqubit, .zxz = 1, .xx = o->option[XX] };

	return generate(&chain, o->option[BOUNDARY], STREAM_CLUSTER, o, out, e);
}
