/* SPDX-License-Identifier: Apache-2.0
 * Which ranks of a group run. A thread of each rank shows the others that its process does, however long it computes; a rank
 * whose process is stopped, or whose host is cut off, shows nothing. */
#pragma once

#include <pthread.h>

#include "runtime/net/comm/transport.h"

struct group_liveness {
	const struct group_transport *transport;
	void *t;
	unsigned size, interval_ms;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t ending;
	bool ends;
	/* Of each rank, when it was last seen to run; and when the ranks were last looked at. */
	uint32_t heartbeats[GROUP_RANKS_MAX];
	double seen[GROUP_RANKS_MAX], looked;
};

/* `t` is a group of `size` ranks, open until group_liveness_stop. deadline_ms: a rank may be silent for that time. */
int group_liveness_start(struct group_liveness *l, const struct group_transport *transport, void *t,
	unsigned size, unsigned deadline_ms, struct err *e);
void group_liveness_stop(struct group_liveness *l);

/* Look at all ranks; now: clock_seconds(). Where this process itself has not run, or not looked, all count as seen. */
void group_liveness_look(struct group_liveness *l, double now);
