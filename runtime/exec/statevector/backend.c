/* SPDX-License-Identifier: Apache-2.0
 * The backends and their targets by name. */
#include "runtime/exec/statevector/backend.h"

#include <string.h>

/* In a build without CUDA its address is NULL. */
#pragma weak backend_cuda

#define ROW(name, words, text) { #name, &backend_##name },
static const struct {
	const char *name;
	const struct backend *backend;
} rows[] = { BACKENDS(ROW, ROW, ) };
enum { NROW = sizeof rows / sizeof *rows };

const char *device_name(unsigned k) { return k < NROW ? rows[k].name : NULL; }

const struct backend *backend_find(const char *name)
{
	for (unsigned k = 0; k < NROW; k++)
		if (!strcmp(rows[k].name, name))
			return rows[k].backend;
	return NULL;
}

const struct target *target_or_best(const struct target *t)
{
	return t ? t : target_find(NULL, NULL);
}

const struct target *target_of(const char *device, unsigned k)
{
	const struct backend *b = backend_find(device ? device : device_name(0));

	return b && k < b->ntarget ? &b->target[k] : NULL;
}

const struct target *target_gpu(void)
{
	const struct target *t;

	for (unsigned k = 0; k < NROW; k++)
		if ((t = target_of(rows[k].name, 0)) && target_has_memory(t))
			return t;
	return NULL;
}

bool target_is_automatic(const struct target *t)
{
	return t->backend == rows[0].backend || target_has_memory(t);
}

const char *target_obstacle(const struct target *t)
{
	return t->backend->obstacle ? t->backend->obstacle(t) : NULL;
}

bool target_device(const struct target *t, unsigned k, struct device_about *out)
{
	return t->backend->describe && t->backend->describe(k, out);
}

const char *target_library(const struct target *t)
{
	return t->backend->library ? t->backend->library() : NULL;
}

const char *target_profiler(const struct target *t)
{
	return t->backend->profiler ? t->backend->profiler() : NULL;
}

unsigned target_devices(const struct target *t)
{
	return t->backend->devices && !target_obstacle(t) ? t->backend->devices(0) : 0;
}

const struct target *target_find(const char *device, const char *kernels)
{
	const struct target *found = NULL, *t;
	bool any = !kernels || !strcmp(kernels, "auto");

	if (!target_of(device, 1))
		return target_of(device, 0);
	for (unsigned k = 0; (t = target_of(device, k)); k++)
		if (any ? !target_obstacle(t) : !strcmp(t->kernels, kernels))
			found = t;
	return found;
}
