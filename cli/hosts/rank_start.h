/* SPDX-License-Identifier: Apache-2.0
 * What a rank receives on its standard input when it starts. It answers with the mark LAUNCH_RANK and its address, and receives the
 * addresses of all ranks: size * GROUP_ADDRESS_MAX bytes. */
#pragma once

#include "runtime/net/comm/group.h"
#include "runtime/net/launch/own_address.h"

enum { RANK_START_BYTES = 512 };

union rank_start {
	struct {
		char version[32];             /* the only part that all versions agree on */
		char transport[16];           /* of group_transports */
		char leader[OWN_ADDRESS_MAX]; /* of rank 0, where the transport has hosts; "": none */
		uint32_t rank, size;
		uint32_t nthread;      /* 0: those of the host, shared with share - 1 others */
		uint32_t share, local; /* ranks on its host, and its number among them */
		uint64_t memory_limit; /* of all ranks of its host; 0: the memory that is free */
		uint32_t encrypt;
		uint32_t one_host, link; /* of rank 0 of a group of one start: as in split_rank */
		uint8_t key[GROUP_KEY];
	};
	uint8_t byte[RANK_START_BYTES];
};
