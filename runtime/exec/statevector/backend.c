/* SPDX-License-Identifier: Apache-2.0
 * The backends by name. */
#include "config.h"
#include "runtime/exec/statevector/backend.h"

#include <string.h>

const struct backend *backend_find(const char *name)
{
	static const struct backend *const all[] = { &backend_cpu, &backend_ref };

	for (size_t k = 0; k < sizeof all / sizeof *all; k++)
		if (!strcmp(all[k]->name, name))
			return all[k];
	return NULL;
}
