/* SPDX-License-Identifier: Apache-2.0
 * The part of split states that one process holds, and what the processes exchange.
 *
 * A state is planned for up to 2^k ranks (plan_segment.c): the k highest places of an amplitude's index number them. A
 * process holds the amplitudes whose highest log2(nrank) places spell its rank, nrank being at most 2^k. Each sum over
 * amplitudes is made of chunks that are one rank's alone, and the chunks are added in their order by every process, so that
 * the bits are the same for any number of processes. */
#pragma once

#include <pthread.h>

#include "runtime/base/profile/profile.h"
#include "runtime/exec/statevector/plan/plan.h"

struct backend_link;
struct comm;
struct split_clock;

/* How GPUs exchange: as can be, through memory of the host, or by NCCL, else not at all. */
enum rank_link { RANK_LINK_AUTO = 0, RANK_LINK_HOST, RANK_LINK_NCCL };

struct split_rank {
	unsigned rank, nrank; /* nrank: a power of two; 1: the process holds whole states */
	unsigned local,
		share; /* its number among the ranks of its host, and how many these are; 0: it is alone */
	struct comm *comm;    /* borrowed; NULL where nrank is 1 */
	struct err error;     /* the first that a call here met; no later one does anything */
	int code;             /* its code, or 0 */
	pthread_mutex_t turn; /* of the leader's evaluators (split_group.h) */
	uint32_t nhandle;
	enum rank_link wish;       /* of rank 0 */
	bool one_host;             /* of rank 0: all are on its host */
	struct backend_link *link; /* of the backend's states, defined by the backend; or NULL */
	char way[192];             /* by which GPUs exchange; "": not known, or no GPUs */
	enum profile_phase pass;   /* what the time before an exchange is of */
	struct split_clock *clock; /* (nrank) of the leader while the others record a profile; or NULL */
};

/* Processes that hold parts of a state. */
static inline unsigned split_nrank(const struct split_rank *r) { return r ? r->nrank : 1; }

/* Bytes of a device's memory for the rank, which others of its host may use too, where memory(devices) gives what each of n devices
 * has. */
static inline uint64_t split_memory(const struct split_rank *r, uint64_t each, unsigned n)
{
	return r && r->share > n ? each / ((r->share + n - 1) / n) : each;
}

/* How a state lies in memory. */
struct split_state {
	unsigned nbit, lane_bits; /* places of the whole state, and those inside a row */
	size_t row_bytes;         /* of 2^lane_bits amplitudes side by side */
	void *part;               /* this process' rows, in order */
};

/* Which exchange it is, for profiles: circuit << 16 | the later of the two segments. */
struct split_place {
	uint32_t id;
	bool back; /* from that segment to the one before */
};

/* Bits at these pairs of places change places, in all processes at once, in states of the same form. */
void split_exchange(struct split_rank *r, const struct split_state *s, unsigned nstate,
	const struct plan_swap *swap, unsigned nswap, struct split_place place);

/* CX gates on rank bits: amplitudes whose bit at the local place `control` is 1 go where bits at
 * the places in `flip`, which number ranks, are the other ones. In all processes at once. */
void split_flip(struct split_rank *r, const struct split_state *s, unsigned nstate,
	unsigned control, uint64_t flip, struct split_place place);

/* An exchange cut into pieces, for a thread that exchanges beside those that compute. */
struct split_cut {
	const struct plan_swap *swap; /* borrowed */
	unsigned nswap;
	struct plan_parts parts;
	unsigned rank[8],
		own; /* bits of the rank with which those at parts.local change places, and what this rank has there */
	unsigned nrow_bit;
	bool inside; /* some bits change places inside each process: before all pieces */
	bool at_once; /* else bits change places in groups, one after the other, and there is one piece */
};
/* piece[npiece]: places of rows, ascending, of bits that may number pieces, the same in all processes; as many of the highest are taken as
 * leave parts of a message their size. */
struct split_cut split_cut(const struct split_rank *r, const struct split_state *s,
	const struct plan_swap *swap, unsigned nswap, const uint8_t *piece, unsigned npiece);
static inline unsigned split_npiece(const struct split_cut *x) { return 1u << x->parts.npiece; }
/* Are some of the rows whose numbers have these bits (value, of those in mask) sent, or received, with the n-th piece? */
bool split_piece_has(const struct split_cut *x, unsigned n, size_t mask, size_t value);

/* Called by the thread that exchanges. await: returns when the first n pieces hold what is to be sent; ready: they have what they
 * get, n from 0 (what stays in the process is in its place) to split_npiece. */
struct split_beside {
	void *ctx;
	void (*await)(void *ctx, unsigned n);
	void (*ready)(void *ctx, unsigned n);
};
struct split_exchanged {
	int64_t began, ended; /* as recorder_begin */
	uint64_t bytes;
	double wait_seconds;
};
/* Recorded by the caller. */
void split_exchange_beside(struct split_rank *r, const struct split_state *s, unsigned nstate,
	const struct split_cut *x, const struct split_beside *beside, struct split_exchanged *out);
/* The least bytes of a part of a message for which pieces are made. Tests change it. */
extern size_t split_part_bytes;

/* sum[chunks][n]: each process has chunks first .. end-1: `each` of them, or none. Afterwards all have all. Every process calls it with
 * the same n and each. Chunks of a process follow those of the processes before. */
void split_gather(struct split_rank *r, double *sum, size_t n, unsigned first, unsigned end,
	unsigned each);
