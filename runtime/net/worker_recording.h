/* SPDX-License-Identifier: Apache-2.0
 * What a worker records while its coordinator takes a profile. */
#ifndef QCNN_WORKER_RECORDING_H
#define QCNN_WORKER_RECORDING_H

#include "runtime/net/protocol/protocol.h"

struct worker_recording {
	bool on;
	uint32_t capture; /* number of the profile */
	uint32_t text_max;
	uint64_t nread, nwritten, nmessage, nunit; /* when it began */
};

/* The recorder is on from now on. nunit: units that the worker has computed so far. */
void worker_recording_start(struct worker_recording *r, const struct wire_profile *m,
	struct peer *peer, uint64_t nunit);
/* The recorder is off; *text: a profile of this process alone, in JSON, without the last events where it would be longer
 * than text_max; empty where that does not help. */
void worker_recording_stop(struct worker_recording *r, const struct peer *peer, uint64_t nunit,
	struct buf *text);

#endif
