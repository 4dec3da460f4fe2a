/* SPDX-License-Identifier: Apache-2.0
 * How ranks of one host come to share memory.
 *
 * Rank 0 makes a memory file without a name.  The others connect to its abstract socket, prove the key, and hand over a
 * pipe whose other end they keep open: it breaks when they end.  When all have come, rank 0 sends each the memory and
 * all pipes.  So nothing is left behind, however the ranks end. */
#pragma once

#include "runtime/net/comm/transport.h"

struct shm_offer {
	int listener;
	uint8_t name[16]; /* random: the socket's name is its hexadecimal digits */
	uint8_t key[GROUP_KEY];
};

struct shm_group {
	int memory;                 /* of nbyte bytes that can no longer change in number */
	int alive[GROUP_RANKS_MAX]; /* breaks when that rank ends; -1: the own rank */
	int own;                    /* the end that breaks when this process ends */
};

int shm_offer(const struct group_options *o, void **out, char address[GROUP_ADDRESS_MAX],
	struct err *e);
void shm_withdraw(void *offer);
/* The offer is consumed.  nbyte: the size of the memory. */
int shm_meet(struct shm_offer *offer, const struct group_opening *g, size_t nbyte,
	struct shm_group *out, struct err *e);
void shm_group_close(struct shm_group *s, unsigned size);
