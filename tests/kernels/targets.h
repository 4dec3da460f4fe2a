/* SPDX-License-Identifier: Apache-2.0
 * The targets that results are compared on. */
#ifndef TESTS_KERNELS_TARGETS_H
#define TESTS_KERNELS_TARGETS_H

#include "runtime/exec/target.h"

/* Number k of those of all backends that compute, on the processor, and run here; NULL: no more. Those of
 * devices are compared in tests/gpu. */
static inline const struct target *target_here(unsigned k)
{
	const struct target *t;
	const char *name;
	unsigned n = 0;

	for (unsigned d = 0; (name = device_name(d)); d++)
		for (unsigned i = 0; (t = target_of(name, i)); i++)
			if (!target_can(t, TARGET_STATELESS) && !target_obstacle(t)
				&& !target_devices(t) && n++ == k)
				return t;
	return NULL;
}

/* Those of the cpu backend alone; the last is the best. */
static inline const struct target *cpu_target_here(unsigned k)
{
	const struct target *t;
	unsigned n = 0;

	for (unsigned i = 0; (t = target_of("cpu", i)); i++)
		if (!target_obstacle(t) && n++ == k)
			return t;
	return NULL;
}

#endif
