/* SPDX-License-Identifier: Apache-2.0
 * Where a step's time goes, part by part, for those who ask: nothing is measured by itself.
 *
 * A stopwatch belongs to one thread.  Each lap adds the time since the one before to a part. */
#ifndef QCNN_LAPS_H
#define QCNN_LAPS_H

#include <stdbool.h>
#include "runtime/base/system/clock.h"

enum lap {
	LAP_NONE = 0,               /* of no part: what a lap throws away */
#define LAP(id, name, text) LAP_##id,
#include "runtime/exec/profile_phases.def"
#undef LAP
	LAP_COUNT
};

struct stopwatch { bool on; double last, seconds[LAP_COUNT]; };

static inline void stopwatch_lap(struct stopwatch *w, enum lap lap)
{
	double now;

	if (!w->on)
		return;
	now = clock_seconds();
	w->seconds[lap] += now - w->last;
	w->last = now;
}

#endif
