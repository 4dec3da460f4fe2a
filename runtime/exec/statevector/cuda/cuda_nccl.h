/* SPDX-License-Identifier: Apache-2.0
 * The part of NCCL's interface that the backend uses, which is loaded at run time: version 2.14 or later.
 *
 * What is declared here is compared with nccl.h where configure has found it (cuda_nccl.c), and with the emulated NCCL of the tests. */
#pragma once

#include <stddef.h>

#ifdef NCCL_MAJOR
typedef ncclResult_t nccl_result;
typedef ncclDataType_t nccl_type;
typedef ncclComm_t nccl_comm;
typedef ncclUniqueId nccl_id;
typedef ncclConfig_t nccl_config;
typedef cudaStream_t nccl_stream;
#else
typedef unsigned nccl_result, nccl_type;
typedef struct ncclComm *nccl_comm;
typedef struct {
	char internal[128];
} nccl_id;
typedef struct {
	size_t size;
	unsigned magic, version;
	int blocking;
} nccl_config;
typedef void *nccl_stream;
#endif

#define NCCL_OK 0u
#define NCCL_IN_PROGRESS 7u
#define NCCL_BYTES 0u

/* The beginning of nccl_config that version 2.14 has; later ones take it. */
enum {
	NCCL_CONFIG_BYTES = 24,
	NCCL_CONFIG_VERSION = 21400,
	NCCL_VERSION_LEAST = 21400,
};
static const unsigned nccl_config_magic = 0xcafebeef;

#define NCCL_FUNCTIONS(F) \
	F(nccl_result, ncclGetVersion, (int *version)) \
	F(const char *, ncclGetErrorString, (nccl_result r)) \
	F(nccl_result, ncclGetUniqueId, (nccl_id * id)) \
	F(nccl_result, ncclCommInitRankConfig, \
		(nccl_comm * c, int size, nccl_id id, int rank, nccl_config *config)) \
	F(nccl_result, ncclCommGetAsyncError, (nccl_comm c, nccl_result * r)) \
	F(nccl_result, ncclCommAbort, (nccl_comm c)) \
	F(nccl_result, ncclGroupStart, (void)) \
	F(nccl_result, ncclGroupEnd, (void)) \
	F(nccl_result, ncclSend, \
		(const void *data, size_t n, nccl_type t, int peer, nccl_comm c, nccl_stream s)) \
	F(nccl_result, ncclRecv, \
		(void *data, size_t n, nccl_type t, int peer, nccl_comm c, nccl_stream s))

struct nccl_library {
#define NCCL_MEMBER(result, name, args) result(*name) args;
	NCCL_FUNCTIONS(NCCL_MEMBER)
#undef NCCL_MEMBER
};
