/* SPDX-License-Identifier: Apache-2.0
 * Opening a group of ranks (base/comm.h).
 *
 * Each rank makes an offer, whose address the others need to reach it; with the addresses of all it opens its view of the
 * group. */
#pragma once

#include <stdbool.h>

#include "runtime/base/comm.h"

enum {
	GROUP_ADDRESS_MAX = 256, /* of an address' text, with its 0 */
	GROUP_RANKS_MAX = 64,
	GROUP_KEY = 32,
	GROUP_DEADLINE_MS =
		15000 /* usual: in which the process of the rank that is waited for has not run */
};
#define GROUP_BUFFER_BYTES ((size_t)64 << 20)

struct group_options {
	uint8_t key[GROUP_KEY]; /* of the group, from the coordinator: who does not know it gets nothing */
	bool encrypt;           /* what leaves the host */
	bool no_digest; /* do not check a digest of each chunk; by tcp a seal is checked in any case */
	unsigned deadline_ms; /* 0: GROUP_DEADLINE_MS */
	size_t buffer_bytes; /* of a rank, for chunks on their way; 0: GROUP_BUFFER_BYTES. The same for all ranks */
	const char *bind; /* numeric address to listen on; NULL: that of the loopback interface */
	/* Called some times a second while group_open waits for others: 0, or the code and
	 * reason with which it gives up, where the caller knows that one has ended. NULL: none. */
	int (*watch)(void *ctx, struct err *e);
	void *watch_ctx;
};

struct group_offer;

/* Names of the transports by which any processes can become ranks, NULL at the end. `mpi` is for those that an MPI has started, once
 * in each. */
extern const char *const group_transports[];

/* -ERR_CONFIG where the transport is unknown or cannot be used here. */
int group_offer(const char *transport, const struct group_options *o, struct group_offer **out,
	char address[GROUP_ADDRESS_MAX], struct err *e);
/* Takes the offer, also where it fails; address[size], by rank, this one's own among them. Returns when all ranks are there:
 * -ERR_UNREACHABLE, -ERR_AUTH, -ERR_PROTOCOL where options differ. Takes deadline_ms at most, and 2 s more where another rank
 * knows better which one is missing. */
int group_open(struct group_offer *offer, unsigned rank, unsigned size, const char *const *address,
	struct comm **out, struct err *e);
/* Instead of group_open; offer may be NULL. */
void group_offer_free(struct group_offer *offer);
