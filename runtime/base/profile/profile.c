/* SPDX-License-Identifier: Apache-2.0
 * Memory of a profile, and names of phases. */
#include "runtime/base/profile/profile.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *text;
	enum { OF_RUN = 0, OF_CALL } of;
} phases[PHASE_COUNT] = {
	{ "unattributed", "of no phase", OF_RUN },
#define PROFILE_PHASE(id, name, of, text) { name, text, OF_##of },
#include "runtime/base/profile/phases.def"
#undef PROFILE_PHASE
};

const char *const profile_level_names[PROFILE_LEVELS] = { "off", "phases", "layers", "matrices" };

const char *profile_phase_name(enum profile_phase phase) { return phases[phase].name; }
const char *profile_phase_text(enum profile_phase phase) { return phases[phase].text; }
bool profile_phase_is_of_call(enum profile_phase phase) { return phases[phase].of == OF_CALL; }

int profile_phase_find(const char *name)
{
	for (unsigned k = 0; k < PHASE_COUNT; k++)
		if (!strcmp(name, phases[k].name))
			return (int)k;
	return -1;
}

struct profile *profile_new(void) { return mem_alloc(1, sizeof(struct profile)); }

void profile_free(struct profile *p)
{
	if (!p)
		return;
	arena_release(&p->arena);
	free(p);
}

static uint64_t events_of(const struct profile *p, uint32_t each)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < p->nprocess; i++)
		for (uint32_t k = 0; k < p->process[i].nthread; k++) {
			uint32_t n = p->process[i].thread[k].nevent;

			sum += n < each ? n : each;
		}
	return sum;
}

uint32_t profile_events_each(const struct profile *p, uint64_t max)
{
	uint32_t low = 0, high = UINT32_MAX;

	if (events_of(p, high) <= max)
		return high;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (events_of(p, middle) <= max)
			low = middle;
		else
			high = middle;
	}
	return low;
}
