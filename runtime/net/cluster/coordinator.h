/* SPDX-License-Identifier: Apache-2.0
 * The cluster: starts workers, keeps them alive, restarts those that are lost, and has them compute the units of a pool.
 *
 * One lock protects all of it: the caller's thread holds it during a step, a thread that keeps connections alive between
 * steps.  Which worker computes a unit does not change a result: each unit counts once, and sums are exact. */
#ifndef QCNN_COORDINATOR_H
#define QCNN_COORDINATOR_H

#include "runtime/net/launch/launch.h"
#include "runtime/net/scheduler/scheduler.h"

struct coordinator;

/* External workers, which mpirun, srun or others have started: they connect by themselves, as ranks 1 to n. */
struct external_workers {
	unsigned n;
	unsigned share;              /* of the job's processes on this machine; 0 or 1: this one alone */
	bool near;                   /* all are on this machine */
	const char *host; uint16_t port;     /* where they connect to; host "": the rendezvous file has it */
	const uint8_t *key;          /* job's key that they have; NULL: a new one */
	const uint8_t *job;          /* the job's id that they have; NULL: a new one, in the rendezvous file */
	const uint8_t *words;        /* hash of the command line, for the rendezvous file */
	const char *rendezvous;         /* the file to write for them, removed in the end, or NULL */
	double seconds;              /* to wait for them */
};

struct coordinator_options {
	const struct hosts *hosts;   /* borrowed */
	const struct external_workers *external;     /* borrowed; NULL: none */
	enum launcher launcher;      /* of hosts that are not local */
	const char *agent, *program; /* as in launch_place */
	const char *iface;           /* interface or address to listen on; NULL: where each host is reached */
	bool encrypt, push;          /* push: as in launch_place */
	enum transport transport;
	enum shard shard;
	unsigned restarts;       /* restarts of a worker without a result in between */
	double start_s, heartbeat_s, suspect_s, dead_s;       /* 0: 15 (without progress of any that starts), 1, 5, 15 */
	/* Report a line that a worker ("b[2]") has printed, or (NULL) an event; from any thread. */
	void (*say)(void *ctx, const char *worker, const char *line);
	void *ctx;
};

/* Start all workers and wait for them: -ERR_UNREACHABLE, -ERR_PROTOCOL, -ERR_AUTH or -ERR_CONFIG
 * with the first cause; no process is left then. */
int coordinator_new(const struct coordinator_options *o, struct coordinator **out, struct err *e);
/* Whether all workers have the kernel set of this name; else *worker is the first that lacks it, and *best its best one. */
bool coordinator_has_kernels(const struct coordinator *c, const char *kernels, const char **worker, const char **best);
/* Send all workers the job: the first or, between steps, another one.  All must be connected, and answer its test with
 * the same bits, those of *own where that is given. */
int coordinator_job(struct coordinator *c, const struct wire_job *job, const struct wire_ready *own, struct err *e);
struct pool *coordinator_pool(struct coordinator *c);
/* Who takes a profile and has proved the key is passed to fn, with its session, which is fn's then; any thread may call
 * it, and it must not wait. NULL: such connections are closed. */
void coordinator_on_profiler(struct coordinator *c, void (*fn)(void *ctx, struct peer *p), void *ctx);
/* The code with which the job ends, for external workers too (default: 0). */
void coordinator_ending(struct coordinator *c, int code);
/* Shut down all workers and free; no process is left. */
void coordinator_free(struct coordinator *c);

struct coordinator_worker { const char *name; uint64_t nunit; double seconds; uint32_t nthread; bool lost; unsigned nrestart;
	uint64_t nsample, nsent;     /* nsent: bytes to it */
	double heard;                /* seconds since its last message; negative: it is not connected */
};
/* What worker `rank` has computed; false: there is no such worker. */
bool coordinator_worker(struct coordinator *c, unsigned rank, struct coordinator_worker *out);

#endif
