/* SPDX-License-Identifier: Apache-2.0
 * The coordinator's inside: its workers, its listeners, its step. */
#ifndef QCNN_CLUSTER_WORKER_H
#define QCNN_CLUSTER_WORKER_H

#include <poll.h>
#include <pthread.h>
#include "runtime/net/cluster/coordinator.h"
#include "runtime/net/cluster/worker_state.h"
#include "runtime/net/protocol/peer.h"
#include "runtime/net/scheduler/ledger.h"
#include "runtime/net/protocol/spin.h"

enum {
	PENDING_CONNECTIONS_MAX = 64,          /* connections that have not proved the key yet */
	LISTENERS_MAX = WIRE_ADDRESSES_MAX,
	STARTS_AT_ONCE = 8,          /* sshd drops more at a time; one less whenever it does */
	STARTS_MAX = 16,             /* of one worker whose connection was dropped like that */
	HELLOS_MAX = 1 << 16,        /* HELLOs that one job answers */
	KEEPER_MS = 250              /* between two turns at the latest */
};

struct worker {
	char name[HOST_NAME_LONGEST + 16];   /* host[rank] */
	struct launch_place place;
	unsigned rank, share;        /* share: workers on its host */
	bool external;                  /* started by others: it comes by itself */
	bool near;                   /* it is on this machine */
	enum worker_state state;
	struct launched process;
	unsigned nstart;
	unsigned nvain, nrestart;   /* starts after losses: without a result since; all */
	double start_at;             /* not before */
	struct peer peer;
	uint32_t numerical;          /* its NUMERICAL_VERSION */
	struct wire_about about;
	struct wire_ready ready;
	double heard, heartbeat_at;        /* clock of its last sign, of ours */
	bool suspected;
	struct err left;             /* LEAVING: why, as far as is known, and until when to wait for more */
	double leaves_at;
	uint32_t nlost;              /* units that it had then */
	uint64_t weights;            /* version that it has */
	unsigned npending;           /* WORKs without RESULT */
	uint32_t nqueued;            /* units of these */
	uint64_t scheduled;              /* step in which it last got units */
	double since;                /* clock when it began with the first of them */
	uint64_t nunit, nsample;
	double seconds, unit_seconds;        /* computed; of one unit, lately (0: unknown) */
	bool *kept[WIRE_SETS_MAX];   /* rows that it has of each set; NULL: none */
	uint64_t nkept;              /* bytes of them */
	uint64_t nsent;              /* bytes to it, by connections that have ended */
	double pace;                 /* while units are scheduled: units per second, 0 where it gets none */
};

/* by: the member whose process speaks by its standard output; NULL: whoever came to a listener. */
struct pending { struct peer peer; struct handshake *hs; struct worker *by; bool challenged; double until; };

/* What no core file may have (crypto_secret_new). */
struct secrets {
	uint8_t key[CRYPTO_KEY];
	struct handshake hs[PENDING_CONNECTIONS_MAX];
	struct wire_boot boot;               /* while a worker is started */
	char body[WIRE_TEXT_MAX], frame[WIRE_TEXT_MAX];
};

struct coordinator {
	struct pool pool;
	struct coordinator_options o;
	struct secrets *secrets;
	struct worker *worker; unsigned nworker;
	struct pending pending[PENDING_CONNECTIONS_MAX];     /* fd -1: free */
	struct { int fd; char address[64]; } listener[LISTENERS_MAX]; unsigned nlistener;
	uint8_t job_id[WIRE_JOB_ID];
	uint8_t (*hello)[CRYPTO_PUBLIC]; size_t nhello, hello_cap;   /* that were answered */
	struct pollfd *fds; size_t fds_cap;
	unsigned starts_at_once;
	struct err first;            /* the first cause of a worker's loss */
	int ending;                  /* what external workers are told in the end */
	bool rendezvous_written;                    /* the rendezvous file is there */
	bool listening;              /* workers can be told where */
	bool started;                /* all were there once: from now on a loss is no failure */
	struct wire_job job; struct buf job_body;    /* what late comers get: job borrows from its body */
	struct wire_ready right; const char *right_name;     /* what the test of the job has to give, and whose that is */
	double alone_since;          /* clock: no worker is connected since */
	unsigned ncore;              /* that this process may use */
	struct spin spin;
	double turned, watch_at;     /* clock of the last turn; of the next look at processes */
	double heard;                /* clock of the last sign of any worker */
	double slept;                /* seconds that this process was stopped */
	/* The step */
	const struct pool_step *step;
	uint64_t nstep;
	struct ledger ledger;
	struct err fault;
	uint32_t *id; size_t id_cap;         /* units of a message */
	uint8_t *bit; size_t bit_cap;
	const double *set[WIRE_SETS_MAX];    /* data whose rows workers keep */
	uint32_t *row; size_t row_cap;
	double *number; size_t number_cap;   /* of a sample; of a vector */
	struct fixed *vector; size_t vector_cap;
	struct buf body;
	/* Between steps */
	pthread_mutex_t lock;
	pthread_t keeper; bool has_keeper;
	pthread_cond_t stop; bool stopping;
};

/* descriptors.c: raise the limit on open files where it is too low; -ERR_CONFIG where it cannot be. */
int descriptors_reserve(unsigned nworker, struct err *e);

/* listen.c: an address for each host's way to us. */
int listeners_open(struct coordinator *c, struct err *e);

/* member.c: start, connect, prove, lose.  With the lock held. */
void worker_launch(struct coordinator *c, struct worker *m, double now);
/* All that wait to be started, as many as may start at a time. */
void workers_start(struct coordinator *c, double now);
/* Its connection has ended: open its units, wait a moment for the reason. */
void worker_leave(struct coordinator *c, struct worker *m, const struct err *why, double now);
/* It is gone: say why, open its units. */
void worker_lose(struct coordinator *c, struct worker *m, const struct err *why);
/* Send of what waits as much as goes.  A connection that breaks at it ends when worker_read finds that: what came before counts. */
void worker_flush(struct worker *m);
/* HEARTBEAT, where it is time. */
void worker_heartbeat(struct coordinator *c, struct worker *m, double now);
/* What its process says and wants. */
void worker_relay(struct coordinator *c, struct worker *m, double now);
/* Processes that have ended, lines that they said, broken connections, silence. */
void workers_watch(struct coordinator *c, double now);
/* pending connection.c.  Those who wait at a listener, as many as there are places. */
void pending_all_accept(struct coordinator *c, int listener, double now);
void pending_read(struct coordinator *c, struct pending *s, double now);
/* A worker whose process has begun to speak by its standard output. */
void pending_tunnelled(struct coordinator *c, struct worker *m, double now);
void pending_all_forget(struct coordinator *c, const struct worker *m);
void pending_all_watch(struct coordinator *c, double now);
void coordinator_say(struct coordinator *c, const char *worker, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* replace.c: the job, for those that start with it and for those that come again. */
int job_keep(struct coordinator *c, const struct wire_job *job, struct err *e);
void job_send(struct coordinator *c, struct worker *m);
bool job_same_answer(const struct coordinator *c, const struct worker *m, struct err *why);
/* m is lost: true, and it waits for another start at m->start_at; false: there will be none. */
bool worker_restart_later(struct coordinator *c, struct worker *m, const struct err *why, double now);
/* One that was started again has told about its machine; has prepared the job. */
bool worker_restart_described(struct coordinator *c, struct worker *m, struct err *why);
bool worker_restart_ready(struct coordinator *c, struct worker *m, struct err *why);
/* Those that do not come; the end, where nobody is left. */
void workers_restart_watch(struct coordinator *c, double now);

/* deal.c: open units to the workers that can take some, and all that waits to be sent. */
void workers_assign(struct coordinator *c);
/* A step has ended: who was too slow for a part of it may have become faster, and is tried again after a while. */
void workers_forget(struct coordinator *c);
uint32_t step_samples(const struct pool_step *s, uint32_t unit);
void coordinator_no_memory(struct coordinator *c);
/* Room for n elements in one of the coordinator's arrays, old contents forgotten; false where there is no memory. */
#define SCHEDULER_ROOM(p, cap, n) ((n) <= (cap) || scheduler_grow((void **)&(p), &(cap), (n), sizeof *(p)))
bool scheduler_grow(void **p, size_t *cap, size_t n, size_t size);

/* shard.c: true: the units' samples are rows of *set that m keeps, those it lacked being sent before. */
bool shard_rows(struct coordinator *c, struct worker *m, const uint32_t *id, uint32_t nid, uint32_t *set);
void shard_forget(struct worker *m);

/* dispatch.c: what a worker says. */
void worker_read(struct coordinator *c, struct worker *m, double now);

/* dismiss.c: the end for all; no connection is used afterwards. */
void workers_shut_down(struct coordinator *c);

/* coordinator_step.c: the pool. */
extern const struct pool_ops coordinator_ops;

/* coordinator.c: one turn of the loop: wait at most timeout_ms for something, see to it. */
void coordinator_turn(struct coordinator *c, int timeout_ms);

/* Is the kernel set of this name among those of the worker? */
bool worker_has_kernels(const struct wire_about *a, const char *kernels);

#endif
