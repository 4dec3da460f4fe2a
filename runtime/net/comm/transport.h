/* SPDX-License-Identifier: Apache-2.0
 * What a transport does for group.c: chunks of bytes to and from each other rank, in order.
 *
 * group.c cuts everything into chunks, checks digests and deadlines, and knows what belongs to which call. A transport has room for
 * a few chunks on the way to each rank, and for as many that have come from it. No function here waits but `wait`. */
#ifndef QCNN_TRANSPORT_H
#define QCNN_TRANSPORT_H

#include "runtime/net/comm/group.h"

struct transport_state; /* of one rank, as group_offer makes it */

struct transport {
	const char *name;
	/* Something that others can connect to, and its address. */
	int (*offer)(const struct group_options *o, struct transport_state **out,
		char address[GROUP_ADDRESS_MAX], struct err *e);
	/* One step towards being connected with all; 1 when it is done, 0 when it has to wait, or a negative code. */
	int (*connect)(struct transport_state *t, unsigned rank, unsigned size,
		const char *const *address, struct err *e);
	size_t (*chunk_max)(const struct transport_state *t);
	/* Called before rooms and chunks are asked for, so that `wait` knows what came meanwhile. */
	void (*look)(struct transport_state *t);
	/* Room for a chunk of chunk_max bytes to this peer; NULL: none now. send then hands over its first n bytes. */
	void *(*room)(struct transport_state *t, unsigned peer);
	void (*send)(struct transport_state *t, unsigned peer, size_t n);
	/* The oldest chunk that has come from this peer, and its length; NULL: none now. done gives its memory back. */
	void *(*chunk)(struct transport_state *t, unsigned peer, size_t *n);
	void (*done)(struct transport_state *t, unsigned peer);
	/* Until a room or chunk may be there that was not at the last `look`, at most so long. */
	void (*wait)(struct transport_state *t, unsigned timeout_ms);
	/* Why nothing more comes from this peer, as the end of a sentence whose subject it is; NULL: it is alive. */
	const char *(*dead)(struct transport_state *t, unsigned peer);
	/* Show the others that this process runs, however long it computes; a number of a peer that changes by that. From a
	 * thread of its own. */
	void (*tick)(struct transport_state *t);
	uint32_t (*ticks)(struct transport_state *t, unsigned peer);
	/* Report the reason to the others. */
	void (*abort)(struct transport_state *t, const char *reason);
	void (*free)(struct transport_state *t);
};

extern const struct transport transport_shm; /* processes of one host, by memory that they share */

#endif
