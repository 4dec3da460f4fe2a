/* SPDX-License-Identifier: Apache-2.0
 * How ranks of one host come to share memory.
 *
 * Rank 0 makes a memory file without a name.  The others connect to its abstract socket, prove the key, and hand over a
 * pipe whose other end they keep open: it breaks when they end.  When all have come, rank 0 sends each the memory and
 * all pipes.  So nothing is left behind, however the ranks end. */
#pragma once

#include "runtime/net/comm/transport.h"

struct shm_group {
	int memory;                 /* of nbyte bytes that can no longer change in number */
	int alive[GROUP_RANKS_MAX]; /* breaks when that rank ends; -1: the own rank */
	int own;                    /* the end that breaks when this process ends */
};

int shm_offer(struct group_offer *o, char address[GROUP_ADDRESS_MAX], struct err *e);
/* nbyte: the size of the memory. */
int shm_meet(const struct group_opening *g, size_t nbyte, struct shm_group *out, struct err *e);
void shm_group_close(struct shm_group *s, unsigned size);
