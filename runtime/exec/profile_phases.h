/* SPDX-License-Identifier: Apache-2.0
 * Where a step's time goes, part by part, for those who ask: nothing is measured by itself.
 *
 * A stopwatch belongs to one thread.  Each call adds the time since the one before to a phase. */
#ifndef QCNN_PROFILE_PHASES_H
#define QCNN_PROFILE_PHASES_H

#include <stdbool.h>
#include "runtime/base/system/clock.h"

enum profile_phase {
	PHASE_NONE = 0,               /* no phase: starts the next measurement */
#define PROFILE_PHASE(id, name, text) PHASE_##id,
#include "runtime/exec/profile_phases.def"
#undef PROFILE_PHASE
	PHASE_COUNT
};

struct stopwatch { bool on; double last, seconds[PHASE_COUNT]; };

static inline void stopwatch_phase(struct stopwatch *w, enum profile_phase phase)
{
	double now;

	if (!w->on)
		return;
	now = clock_seconds();
	w->seconds[phase] += now - w->last;
	w->last = now;
}

#endif
