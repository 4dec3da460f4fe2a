/* SPDX-License-Identifier: Apache-2.0
 * Excitations of a cluster state, as in TensorFlow Quantum's QCNN tutorial: one
 * qubit at a time is rotated; a rotation by more than pi/2 counts as excited. */
#include "runtime/data/generate/generate.h"

#include <math.h>

#include "runtime/base/maths.h"
#include "runtime/base/rng.h"

int generate_cluster(const struct generate_options *o, struct dataset **out, struct err *e)
{
	uint64_t nrow = (uint64_t)o->rounds * o->nqubit;
	struct dataset *d;
	int code = dataset_new(nrow, o->nqubit, 1, o->name, &d, e);

	if (code)
		return code;
	for (uint64_t i = 0; i < nrow; i++) {
		double angle_rad = PI * (2 * rng_uniform(o->seed, RNG_DATA, 0, i) - 1);

		d->x[i * o->nqubit + i % o->nqubit] = angle_rad;
		d->y[i] = fabs(angle_rad) <= PI / 2 ? 1 : -1;
	}
	*out = d;
	return 0;
}
