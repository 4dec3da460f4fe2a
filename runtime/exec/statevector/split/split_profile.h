/* SPDX-License-Identifier: Apache-2.0
 * Profiles of the ranks that follow: calls that all ranks make together, the leader to get what the others give. */
#pragma once

#include "runtime/exec/statevector/split/split.h"

enum { SPLIT_TEXTS_MAX = 256 << 20 /* bytes of all profiles as text */ };

/* What the leader asks for. */
struct split_recording {
	enum profile_level level;
	uint64_t bytes_max; /* of memory for events, and of the profile as text */
	uint64_t text_max;
};

/* A rank's clock: its time - offset = the leader's, to an uncertainty, in nanoseconds. */
struct split_clock {
	int64_t offset, uncertainty;
};

/* r->clock of the leader. */
void split_compare_clocks(struct split_rank *r);
/* A follower stops to record and sends what it has; the leader appends it to the processes of *into. */
void split_give_profile(struct split_rank *r, size_t text_max);
void split_take_profiles(struct split_rank *r, struct profile *into);
