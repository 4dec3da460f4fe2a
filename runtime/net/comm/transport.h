/* SPDX-License-Identifier: Apache-2.0
 * What a transport does for a group: it moves chunks between pairs of ranks, in order, each at most once, and reports
 * which ranks can no longer be reached.  Calls, parts, digests, deadlines and the spreading of errors are in group.c.
 *
 * No function but open and close blocks, and wait blocks for a bounded time. */
#pragma once

#include "runtime/net/comm/group.h"

/* In front of the bytes of a chunk, in the memory that the transport has for it. */
struct chunk {
	uint64_t call;       /* number of the call */
	uint64_t nbyte_call; /* bytes from this rank to that one in the call */
	uint64_t at;         /* of which those before this chunk */
	uint64_t digest; /* of the fields above, kind, nbyte, and of the bytes; 0 where digests are off */
	uint32_t kind; /* enum call_kind */
	uint32_t nbyte;
	uint8_t unused[24];
	uint8_t byte[];
};
_Static_assert(sizeof(struct chunk) == 64, "the bytes of a chunk begin on a cache line");

/* What a rank has offered; in memory for keys. */
struct group_offer {
	const struct group_transport *transport;
	struct group_options options; /* without zeros; bind: while the offer is made */
	int listener;                 /* of the transport; -1: none */
	uint8_t name[16]; /* shm: random, the listener's name is its hexadecimal digits */
};

/* A group that is being opened. */
struct group_opening {
	const struct group_offer *offer;
	unsigned rank, size;
	size_t nbyte_chunk; /* bytes of a chunk at most, without its header: the same for all ranks */
	const char *const *address;
	double until; /* clock_seconds() at which open gives up */
};

/* Milliseconds to wait for an event until open looks again, and what the caller knows then. */
static inline int group_opening_ms(const struct group_opening *g, double now)
{
	double left = (g->until - now) * 1e3, most = g->offer->options.watch ? 200 : 1000;

	return left <= 0 ? 0 : left > most ? (int)most : (int)left + 1;
}
static inline int group_opening_watch(const struct group_opening *g, struct err *e)
{
	const struct group_options *o = &g->offer->options;

	return o->watch ? o->watch(o->watch_ctx, e) : 0;
}

/* `rank` is missing at the deadline; nrefused: connections that did not prove the key. */
int group_opening_late(const struct group_opening *g, unsigned rank, unsigned nrefused, struct err *e);

enum { GROUP_REASON_MAX = 256 }; /* bytes of the reason of an abort, its NUL included */
enum { CHUNKS_IN_FLIGHT = 4, CHUNK_BYTES_MIN = 4096 };

/* Why a group cannot go on. */
struct group_fault {
	int code;      /* 0: it can */
	unsigned rank; /* whose fault it is */
	bool aborted;  /* text is the reason that this rank gives; else it goes on after "rank N" */
	char text[GROUP_REASON_MAX];
};

struct group_transport {
	const char *name;
	bool seals;         /* a chunk that arrives is what was sent: no digests */
	size_t nbyte_chunk; /* bytes of a chunk that serve it best */

	/* Sets what follows the options of an offer, also where it fails. */
	int (*offer)(struct group_offer *o, char address[GROUP_ADDRESS_MAX], struct err *e);
	/* Joins the group; the offer ends then. */
	int (*open)(const struct group_opening *g, void **out, struct err *e);
	/* Frees, after the others have what was handed over or were silent for the deadline: at once after an abort. */
	void (*close)(void *t);

	/* Memory for the next chunk to that rank, which stays the caller's until send; NULL: none is free now. */
	struct chunk *(*reserve)(void *t, unsigned rank);
	/* Hands over the reserved chunk, with its fields set. */
	void (*send)(void *t, unsigned rank);
	/* Whether all that was handed over for that rank will get there without further calls. */
	bool (*flushed)(void *t, unsigned rank);
	/* The next chunk from that rank, until release; NULL: none has come.  nbyte is at most that of the group. */
	const struct chunk *(*next)(void *t, unsigned rank);
	void (*release)(void *t, unsigned rank);

	/* Returns when something may have changed since it last returned, and after `ms` at the latest.  needed[size]: the
	 * ranks that are waited for.  A fault of one of these is reported (*fault) when all that it sent was given out;
	 * that of another is not.  An abort is reported in any case. */
	void (*wait)(void *t, const bool *needed, unsigned ms, struct group_fault *fault);
	/* Shows the others that this process runs: from a thread of its own, beside the one that makes the calls. And a
	 * number that changes when that rank was seen to run. */
	void (*heartbeat)(void *t);
	uint32_t (*heartbeats)(void *t, unsigned rank);
	/* Lets the others know that `rank` (this one, or another whose abort is passed on) gave up, and why. */
	void (*abort)(void *t, unsigned rank, const char *reason);
};

extern const struct group_transport transport_shm, transport_tcp, transport_mpi;
