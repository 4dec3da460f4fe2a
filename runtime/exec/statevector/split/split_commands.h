/* SPDX-License-Identifier: Apache-2.0
 * Commands from the leader of a group to the ranks that follow it.
 *
 * A command is broadcast as a head and a body; then every rank, the leader too, does it with its part. Ranks are processes
 * of the same program on processors of the same byte order, which OPEN checks by version. */
#pragma once

#include "runtime/exec/statevector/backend.h"

enum command {
	COMMAND_NONE = 0,
	COMMAND_OPEN,
	COMMAND_MATRICES,
	COMMAND_FORWARD,
	COMMAND_BACKWARD,
	COMMAND_AMPLITUDES,
	COMMAND_RESERVE,
	COMMAND_KEEP,
	COMMAND_OVERLAPS,
	COMMAND_MIXED,
	COMMAND_CLOSE,
	COMMAND_RECORD,
	COMMAND_RECORDED,
	COMMAND_END
};

enum { SLICE = 1 << 15 /* amplitudes that are collected at once */, BODY_MAX = 1 << 30 };

struct head {
	uint32_t command, handle; /* of the evaluator's states */
	uint32_t circuit;
	uint32_t keep, whole;
	uint32_t unit, nstate; /* of the state cache */
	uint64_t first;        /* AMPLITUDES */
	uint64_t nbody;
};

/* What plans and states depend on. */
struct opening {
	char version[32];
	uint32_t numerical_version;
	char device[16], kernels[16];
	struct plan_options plan; /* without its target */
	uint64_t program_bytes;
	uint64_t devices; /* as prepare has it; of each host */
	bool two_states;
};

/* What a follower has for one evaluator; the leader has it for its own part. */
struct backend_state {
	struct split_rank *rank;
	const struct plan *pl;
	const struct backend *inner;
	struct backend_state *state; /* the inner backend's */
	uint32_t handle;
};

/* The answers of all ranks to a command; this one's is code, and *e where it failed. The code and text of the first that failed. */
int split_agree(struct split_rank *r, int code, struct err *e);
/* Once they have agreed, with that code: the inner backends of all ranks do what needs them all. */
int split_join(struct backend_state *b, int code, struct err *e);
/* Amplitudes first .. first+n-1 of circuit c: each is one rank's, the others have 0. */
void split_collect(struct backend_state *b, uint32_t c, uint64_t first, uint64_t n, cplx *out);
/* Overlaps, and factors of a mixture: (nform, nstate, nstate). */
size_t split_factors(const struct plan_circuit *c, uint32_t nstate);
/* Bytes of a rank for nstate states side by side, with the overlaps and factors of one circuit at a time. */
uint64_t split_cache_bytes(const struct plan *pl, uint32_t nstate, unsigned nrank);
