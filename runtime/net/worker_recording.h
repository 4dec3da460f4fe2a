/* SPDX-License-Identifier: Apache-2.0
 * What a worker records while its coordinator takes a profile. */
#pragma once

#include "runtime/net/protocol/protocol.h"

struct worker_recording {
	bool on;
	uint32_t capture; /* number of the profile */
	uint32_t text_max;
	uint64_t nread, nwritten, nmessage, nunit; /* counts at the start of the profile */
};

/* Turn the recorder on. nunit: units that the worker has computed so far. */
void worker_recording_start(struct worker_recording *r, const struct wire_profile *m,
	struct peer *peer, uint64_t nunit);
/* Turn the recorder off. *text: a profile of this process, in JSON; if it is longer than text_max, the last events are
 * left out, and if that is not enough it is empty. */
void worker_recording_stop(struct worker_recording *r, const struct peer *peer, uint64_t nunit,
	struct buf *text);
