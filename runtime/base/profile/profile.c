/* SPDX-License-Identifier: Apache-2.0
 * Memory of a profile, and names of phases. */
#include "config.h"
#include "runtime/base/profile/profile.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *text;
} phases[PHASE_COUNT] = {
	{ "unattributed", "of no phase" },
#define PROFILE_PHASE(id, name, of, text) { name, text },
#include "runtime/base/profile/phases.def"
#undef PROFILE_PHASE
};

const char *profile_phase_name(enum profile_phase phase) { return phases[phase].name; }
const char *profile_phase_text(enum profile_phase phase) { return phases[phase].text; }

int profile_phase_find(const char *name)
{
	for (unsigned k = 0; k < PHASE_COUNT; k++)
		if (!strcmp(name, phases[k].name))
			return (int)k;
	return -1;
}

struct profile *profile_new(void)
{
	struct profile *p = mem_alloc(1, sizeof *p);

	arena_init(&p->arena);
	return p;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	arena_release(&p->arena);
	free(p);
}
