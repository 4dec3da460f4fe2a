/* SPDX-License-Identifier: Apache-2.0
 * The cluster: starts workers, keeps them alive, restarts those that are lost, and has them compute the units of a pool.
 *
 * One lock protects all of it: the caller's thread holds it during a step, a thread that keeps connections alive between
 * steps.  Which worker computes a unit does not change a result: each unit counts once, and sums are exact. */
#pragma once

#include "runtime/net/launch/launch.h"
#include "runtime/net/launch/own_address.h"
#include "runtime/net/scheduler/scheduler.h"

struct coordinator;

/* External workers, which mpirun, srun or another program has started: they connect on their own, as ranks 1 to n. */
struct external_workers {
	unsigned n;
	unsigned share;    /* processes of the job on this machine; 0 or 1: only this one */
	bool on_this_host; /* all are on this machine */
	const char *host;
	uint16_t port;      /* the address they connect to; host "": it is in the rendezvous file */
	const uint8_t *key; /* the job's key, if they have it; NULL: make a new one */
	const uint8_t *job; /* the job's id, if they have it; NULL: make a new one for the rendezvous file */
	const uint8_t *words;        /* hash of the command line, for the rendezvous file */
	const char *rendezvous; /* the file to write for them and to remove at the end, or NULL */
	double seconds;         /* how long to wait for them */
};

struct coordinator_options {
	const struct hosts *hosts;   /* borrowed */
	const struct external_workers *external;     /* borrowed; NULL: none */
	enum launcher launcher;      /* of hosts that are not local */
	const char *agent, *program; /* as in launch_place */
	unsigned nrank; /* not 0: each worker starts others, and leads a group of this number of processes */
	const struct buf *places; /* (workers) of wire_job, where nrank is not 0; borrowed; NULL: see below, ranks of groups */
	const char *iface; /* interface or address to listen on; NULL: the addresses by which hosts are reached */
	uint16_t port; /* to listen on for workers of other hosts, unless `external` has one; 0: any */
	bool encrypt, push;          /* push: as in launch_place */
	enum transport transport;
	enum shard shard;
	unsigned restarts;       /* restarts of a worker without a result in between */
	/* As many workers begin the job, if others are unreachable: these are started again once it has begun.  0: all. */
	unsigned least;
	/* 0: 15, 1, 5, 15.  start_s: longest time in which no starting worker makes progress. */
	double start_s, heartbeat_s, suspect_s, dead_s;
	/* Report a line that a worker ("b[2]") has printed, or (NULL) an event; from any thread. */
	void (*say)(void *ctx, const char *worker, const char *line);
	void *ctx;
};

/* Start all workers and wait until they, or `least`, are connected.  -ERR_UNREACHABLE, -ERR_PROTOCOL, -ERR_AUTH or -ERR_CONFIG
 * with the first cause; all processes have then been ended. */
int coordinator_new(const struct coordinator_options *o, struct coordinator **out, struct err *e);
/* Whether all workers that are connected have the kernel set of this name; else *worker is the first that lacks it, and *best its best one. */
bool coordinator_has_kernels(const struct coordinator *c, const char *kernels, const char **worker, const char **best);
/* Send the job to all workers: the first or, between steps, another one.  All that are connected must answer the fixed
 * test with the same bits, which must be those of *own unless own is NULL. */
int coordinator_job(struct coordinator *c, const struct wire_job *job, const struct wire_ready *own, struct err *e);
struct pool *coordinator_pool(struct coordinator *c);
/* Call fn for each profiler that has proved the key; fn takes over its session, is called from any thread, and must not
 * block. NULL: such connections are closed. */
void coordinator_on_profiler(struct coordinator *c, void (*fn)(void *ctx, struct peer *p), void *ctx);

/* ---- ranks of groups (net/comm/group.h) ----
 * Either all workers are ranks of one group, and get no units: worker k is rank 1 + k, and this process rank 0. Or they form several
 * groups, each of which does the units of its first worker: then the others of a group follow. A group that has lost a worker is over,
 * and none of its workers is started again. */

struct coordinator_rank {
	const char *host;
	uint32_t threads;  /* that its process would use: see wire_about */
	bool on_this_host; /* on this machine */
};
/* Of a worker that is connected. */
struct coordinator_rank coordinator_rank(struct coordinator *c, unsigned k);
/* This machine's address, as a number, to which worker k has connected. */
int coordinator_own_address(struct coordinator *c, unsigned k, char out[OWN_ADDRESS_MAX],
	struct err *e);
/* All workers begin to form a new group; none may be in one. */
void coordinator_group_begin(struct coordinator *c);
/* Send bytes about the group, at most WIRE_GROUP_MAX. A worker answers to the first ones with its address. */
void coordinator_group_send(struct coordinator *c, unsigned k, const void *bytes, uint32_t n);
/* Several groups: worker k follows another one, with nthread threads. Before the first bytes to it. */
void coordinator_group_follows(struct coordinator *c, unsigned k, uint32_t nthread);
/* Whether two workers are on one machine. */
bool coordinator_same_host(struct coordinator *c, unsigned a, unsigned b);
/* By which address, a number, worker a reaches worker b, of another machine. */
int coordinator_address_for(struct coordinator *c, unsigned a, unsigned b,
	char out[OWN_ADDRESS_MAX], struct err *e);
/* Wait for all addresses; address[k] is that of worker k, owned by c until the next group. */
int coordinator_group_addresses(struct coordinator *c, const char **address, struct err *e);

/* ---- the end ---- */

/* Set the code that BYE sends to external workers (default: 0). */
void coordinator_ending(struct coordinator *c, int code);
/* Shut down all workers, end their processes, and free. */
void coordinator_free(struct coordinator *c);

struct coordinator_worker { const char *name; uint64_t nunit; double seconds; uint32_t nthread; bool lost; unsigned nrestart;
	uint64_t nsample, nsent; /* nsent: bytes sent to it */
	double heard;            /* seconds since its last message; negative: not connected */
};
/* What the n-th worker that gets units has computed; false: there are no more. */
bool coordinator_worker(struct coordinator *c, unsigned n, struct coordinator_worker *out);
