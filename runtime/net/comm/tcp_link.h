/* SPDX-License-Identifier: Apache-2.0
 * A connection between two ranks that have proved the group's key: chunks out and in, each a sealed frame as in peer.h
 * (length, its tag, struct chunk and bytes, seal), in buffers of a fixed size. */
#pragma once

#include <pthread.h>

#include "runtime/net/comm/transport.h"
#include "runtime/net/protocol/protocol.h"

enum { LINK_CHUNKS = CHUNKS_IN_FLIGHT / 2 }; /* in each direction */

struct tcp_link {
	struct peer peer; /* fd -1: none; `in`: bytes that came with the handshake */
	size_t nbyte_chunk;
	/* Rings of frames; `last` follows those of out. */
	struct frame {
		uint8_t *memory;
		size_t nbyte;
	} out[LINK_CHUNKS], in[LINK_CHUNKS], last, heartbeat; /* heartbeat: before those of out */
	unsigned first_out, nout, first_in, nin;
	size_t sent;              /* of the first frame that goes out */
	size_t come;              /* of the frame behind the nin whole ones */
	bool ended, damaged;      /* nothing more will come */
	bool quiet;               /* nothing more will go out than is sealed */
	uint32_t heartbeats;      /* frames that have come: the other side runs */
	pthread_mutex_t lock;     /* link_heartbeat is called by another thread than the rest */
	bool ready;               /* the other side has joined all ranks */
	struct group_fault abort; /* the other side gave up */
};

/* Takes over a session whose keys are known; false: no memory, and *p is closed. */
bool link_open(struct tcp_link *l, struct peer *p, size_t nbyte_chunk);
void link_close(struct tcp_link *l);

struct chunk *link_reserve(struct tcp_link *l);
/* Seals the reserved chunk, and sends as much as possible. */
void link_send(struct tcp_link *l);
const struct chunk *link_next(const struct tcp_link *l);
void link_release(struct tcp_link *l);

/* Whether link_fill has bytes of the handshake's buffer, for which no poll waits. */
bool link_has_early(const struct tcp_link *l);
/* What poll should wait for, and what to do when it has come. Both without waiting; true: something moved. */
short link_events(struct tcp_link *l);
bool link_flush(struct tcp_link *l);
bool link_fill(struct tcp_link *l);

/* Whether all that was sent has gone out. */
bool link_is_flushed(struct tcp_link *l);
/* Sends that this side runs, where nothing else is on its way. */
void link_heartbeat(struct tcp_link *l);

/* Sends that this side has joined all ranks. */
void link_say_ready(struct tcp_link *l);
/* Sends the reason to all links that are open, as the last of this side, and waits for a short time at most until they
 * have it.  What comes meanwhile is lost. */
void links_abort(struct tcp_link *l, unsigned size, unsigned rank, const char *reason);
/* Says to all links that are open that nothing more will come, and waits until the other sides' systems have all bytes:
 * a connection that is closed while bytes of the other side were not read loses those that are on their way. An other
 * side that shows nothing for silent_s is not waited for. What comes meanwhile is lost. */
void links_leave(struct tcp_link *l, unsigned size, double silent_s);
