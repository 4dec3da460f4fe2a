/* SPDX-License-Identifier: Apache-2.0
 * Starts workers, keeps them at work, does without those that are lost: a pool whose units are
 * done elsewhere.
 *
 * Sockets belong to whoever holds the one lock: the caller's thread during a step, else a
 * thread that only keeps connections alive.  Which worker does what never changes a result: a
 * unit counts once, and sums are exact. */
#ifndef QCNN_COORDINATOR_H
#define QCNN_COORDINATOR_H

#include "runtime/net/launch/launch.h"
#include "runtime/net/scheduler/scheduler.h"

struct coordinator;

/* Workers that others have started: they come by themselves, as ranks 1 to n. */
struct external_workers {
	unsigned n;
	unsigned share;              /* of the job's processes on this machine; 0 or 1: this one alone */
	bool near;                   /* all are on this machine */
	const char *host; uint16_t port;     /* where they look for this process; host "": they read the rendezvous file */
	const uint8_t *key;          /* that they have already; NULL: a new one */
	const uint8_t *job;          /* the job's id, which they know; NULL: a new one, which they read in the rendezvous file */
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
	unsigned restarts;       /* starts of a lost worker without a result in between */
	double start_s, heartbeat_s, suspect_s, dead_s;       /* 0: 15 (in which none of those that start gets on), 1, 5, 15 */
	/* A line that a worker ("b[2]") has printed, or (NULL) one about what happens; from any thread. */
	void (*say)(void *ctx, const char *worker, const char *line);
	void *ctx;
};

/* Start all workers and wait for them: -ERR_UNREACHABLE, -ERR_PROTOCOL, -ERR_AUTH or -ERR_CONFIG
 * with the first cause; no process is left then. */
int coordinator_new(const struct coordinator_options *o, struct coordinator **out, struct err *e);
/* Do all workers have the kernel set of this name?  Else *worker is the first that lacks it, and *best the best that it has. */
bool coordinator_has_kernels(const struct coordinator *c, const char *kernels, const char **worker, const char **best);
/* Tell all what the job is, the first or, between steps, another one; all must be there, and get the same readings of
 * its test, those of *own where that is given. */
int coordinator_job(struct coordinator *c, const struct wire_job *job, const struct wire_ready *own, struct err *e);
struct pool *coordinator_pool(struct coordinator *c);
/* With which code the job ends; external workers end with it too (default: 0, all is done). */
void coordinator_ending(struct coordinator *c, int code);
/* The end for all workers; no process is left. */
void coordinator_free(struct coordinator *c);

struct coordinator_worker { const char *name; uint64_t nunit; double seconds; uint32_t nthread; bool lost; unsigned nrestart;
	uint64_t nsample, nsent;     /* nsent: bytes to it */
	double heard;                /* seconds since its last sign; negative: it is not connected */
};
/* What worker `rank` has done; false: there is none. */
bool coordinator_worker(struct coordinator *c, unsigned rank, struct coordinator_worker *out);

#endif
