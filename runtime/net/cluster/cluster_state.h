/* SPDX-License-Identifier: Apache-2.0
 * The inside of the cluster, for the files of this folder: workers, connections, and what each module keeps of them.
 *
 * All functions are called with the lock of the loop held, unless noted. */
#ifndef QCNN_CLUSTER_STATE_H
#define QCNN_CLUSTER_STATE_H

#include <poll.h>
#include <pthread.h>
#include "runtime/base/profile/recorder.h"
#include "runtime/net/cluster/clock_offset.h"
#include "runtime/net/cluster/coordinator.h"
#include "runtime/net/cluster/worker_state.h"
#include "runtime/net/protocol/protocol.h"

enum {
	PENDING_CONNECTIONS_MAX = 64,
	LISTENERS_MAX = WIRE_ADDRESSES_MAX,
	STARTS_AT_ONCE = 8,          /* sshd drops further connections; one less each time it does */
	STARTS_MAX = 16,             /* of one worker whose connection was dropped in that way */
	HELLOS_MAX = 1 << 16,        /* HELLOs that one job answers */
	KEEPER_MS = 250              /* longest time between two turns of the loop */
};

struct traffic {
	uint64_t sent, received, messages;
}; /* bytes, messages both ways */

/* worker_profile.c: what the worker records. */
enum worker_record {
	RECORD_NONE = 0,
	RECORD_COMPARE,  /* its clock is compared before it begins */
	RECORD_ON,       /* it records */
	RECORD_ASKED,    /* it was asked for what it has recorded */
	RECORD_COMPLETE, /* which has come */
	RECORD_LATE      /* which is ignored when it comes: the profile has ended */
};
struct worker_profile {
	enum worker_record state;
	uint32_t capture;       /* number of the profile */
	unsigned life;          /* w->nrestart of the process that records */
	int64_t began;          /* by our clock */
	struct traffic traffic; /* until then */
	uint64_t nunit;
	struct clock_offset clock;
	enum clock_when when;
	int64_t question, asked_at; /* CLOCK without an answer, 0: none; our clock at the last */
	unsigned nleft, nasked;     /* questions of this round still to come, and asked */
	uint32_t text_max, total, at; /* bytes of the answer: at most, all, and those that have come */
	struct buf text;
};

struct worker {
	char name[HOST_NAME_LONGEST + 16];   /* host[rank] */
	struct launch_place place;
	unsigned rank, share,
		local; /* share: workers on its host; local: its number among these, from 0 on */
	bool external;               /* started by others: it connects by itself */
	bool near;                   /* it is on this machine */
	enum worker_state state;     /* worker_set_state */
	struct launched process;
	unsigned nstart;
	unsigned nvain, nrestart;    /* restarts: those without a result since; all */
	double start_at;             /* earliest time of the next start */
	struct peer peer;
	uint32_t numerical;          /* its NUMERICAL_VERSION */
	struct wire_about about;
	struct wire_ready ready;
	double heard, heartbeat_at;  /* clock of the last message from it, of our last heartbeat */
	bool suspected;              /* silent for a while: its units went to others */
	struct err left;             /* LEAVING: the reason as far as is known, and until when to wait for a better one */
	double leaves_at;
	uint32_t nlost;              /* units that it had when it left */
	struct traffic ended;        /* of connections that have ended */
	struct worker_profile profile;
};

/* A connection that has not proved the job's key yet.  by: the worker whose standard output it is; NULL: it came to a
 * listener. */
struct pending { struct peer peer; struct handshake *hs; struct worker *by; bool challenged; double until; };

/* Secrets: excluded from core dumps (crypto_secret_new). */
struct secrets {
	uint8_t key[CRYPTO_KEY];
	struct handshake hs[PENDING_CONNECTIONS_MAX];
	struct wire_boot boot;               /* while a worker is started */
	char body[WIRE_TEXT_MAX], frame[WIRE_TEXT_MAX];
};

/* listen.c */
struct listeners {
	struct { int fd; char address[64]; } at[LISTENERS_MAX]; unsigned n;
	bool open;                   /* the addresses are known, and can be sent to workers */
};
/* pending.c */
struct pending_connections {
	struct pending at[PENDING_CONNECTIONS_MAX];  /* fd -1: free */
	uint8_t (*hello)[CRYPTO_PUBLIC]; size_t nhello, hello_cap;   /* HELLOs that were answered */
};
/* worker_job.c: what a worker that is started again gets */
struct current_job {
	struct wire_job message;     /* borrows from body */
	struct buf body;
	struct wire_ready right; const char *right_name;     /* the answer that READY must have, and whose it is */
};
/* liveness.c, worker_restart.c */
struct liveness {
	unsigned starts_at_once;
	bool started;                /* all workers were READY once: from now on a loss is not a failure */
	struct err first;            /* the first cause of a worker's loss */
	double heard;                /* clock of the last message of any worker */
	double alone_since;          /* clock: no worker is connected since; 0: one is */
	double watch_at;             /* clock of the next check of processes */
};
/* worker_profile.c: the profile that is taken */
struct capture {
	bool on, stopping;
	uint32_t number;
	enum profile_level level;
	uint64_t bytes; /* of memory for events of a worker */
	uint32_t text_max;
	struct traffic traffic; /* of all workers, when it began */
	struct capture_loss {
		unsigned rank;
		uint32_t pid;
		int64_t begin, end;
		uint64_t nunit;
		struct traffic traffic;
	} * lost;
	size_t nlost, lost_cap;
};
/* coordinator_loop.c */
struct loop {
	pthread_mutex_t lock;
	pthread_t keeper; bool has_keeper;   /* turns the loop between steps */
	pthread_cond_t stop; bool stopping;
	struct pollfd *fds;
	size_t nfds, fds_cap;
	struct spin spin;
	double turned;               /* clock of the last turn */
	double slept;                /* seconds for which this process was suspended */
	bool stepping; /* it is turned for a step, by the thread whose time is recorded */
};

struct coordinator {
	struct pool pool;
	struct coordinator_options o;
	struct secrets *secrets;
	uint8_t job_id[WIRE_JOB_ID];
	struct worker *worker; unsigned nworker;
	struct scheduler *scheduler;
	struct listeners listeners;
	struct pending_connections pending;
	struct current_job job;
	struct liveness liveness;
	struct capture capture;
	struct loop loop;
	struct buf body;             /* of a message */
	unsigned ncore;              /* that this process may use */
	int ending;                  /* code that external workers get in the last message */
	bool rendezvous_written;
	void (*on_profiler)(void *ctx, struct peer *p);
	void *profiler_ctx;
};

/* descriptors.c.  Without the lock.  Raise the limit on open files where it is too low; -ERR_CONFIG where it cannot be. */
int descriptors_reserve(unsigned nworker, struct err *e);

/* listen.c.  Listen on an address for each host's route to this machine. */
int listeners_open(struct coordinator *c, struct err *e);

/* worker.c */
/* Start all workers that wait for it, as many as may start at a time. */
void workers_start(struct coordinator *c, double now);
/* The worker's connection has ended: its units are pending again; wait a moment for the reason. */
void worker_leave(struct coordinator *c, struct worker *w, const struct err *why, double now);
/* The worker is gone: report the reason; its units are pending again. */
void worker_lose(struct coordinator *c, struct worker *w, const struct err *why);
/* Send as much as possible of what waits to be sent.  A connection that breaks here ends when worker_read finds that:
 * what came before counts. */
void worker_flush(struct worker *w);
void worker_send_boot(struct coordinator *c, struct worker *w);
void coordinator_say(struct coordinator *c, const char *worker, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* liveness.c */
/* Send HEARTBEAT, where it is due. */
void worker_heartbeat(struct coordinator *c, struct worker *w, double now);
/* Report what the worker's process prints, and send what it asks for. */
void worker_relay(struct coordinator *c, struct worker *w, double now);
/* Check all processes and connections: lines, ends, silence. */
void workers_watch(struct coordinator *c, double now);

/* worker_restart.c */
/* w is lost: true, and it waits for another start at w->start_at; false: there will be none. */
bool worker_restart_later(struct coordinator *c, struct worker *w, const struct err *why, double now);
/* Lose workers that did not connect in time; end the job where none is left. */
void workers_restart_watch(struct coordinator *c, double now);

/* pending.c */
/* Accept connections of a listener, as many as there are places. */
void pending_accept_all(struct coordinator *c, int listener, double now);
void pending_read(struct coordinator *c, struct pending *s, double now);
/* A worker's process has begun to send frames by its standard output. */
void pending_tunnelled(struct coordinator *c, struct worker *w, double now);
void pending_forget(struct coordinator *c, const struct worker *w);
void pending_watch(struct coordinator *c, double now);

/* worker_job.c */
/* Keep a copy of the job for all workers that get it. */
int job_keep(struct coordinator *c, const struct wire_job *job, struct err *e);
void job_send(struct coordinator *c, struct worker *w);
/* Whether the worker's READY is that of the others. */
bool job_same_answer(const struct coordinator *c, const struct worker *w, struct err *why);
/* A worker that came after the start has described its machine; has prepared the job. */
bool job_late_described(struct coordinator *c, struct worker *w, struct err *why);
bool job_late_ready(struct coordinator *c, struct worker *w, struct err *why);

/* Whether the worker has the kernel set of this name. */
bool worker_has_kernels(const struct wire_about *a, const char *kernels);

/* worker_profile.c */
struct traffic worker_traffic(const struct worker *w);
/* The worker takes work: where a profile is taken, it records as well. */
void worker_profile_ready(struct coordinator *c, struct worker *w);
/* It has sent a result: a good time to ask for its clock, when it has nothing else to do. */
void worker_profile_idle(struct coordinator *c, struct worker *w);
/* Its connection ends. */
void worker_profile_lost(struct coordinator *c, struct worker *w);
/* PROFILED, CLOCK; false: the worker breaks the protocol. */
bool worker_profile_part(struct coordinator *c, struct worker *w, const uint8_t *body, size_t len);
bool worker_profile_clock(struct coordinator *c, struct worker *w, const uint8_t *body, size_t len);
void worker_profile_release(struct coordinator *c);
/* As pool_ops has them. They take the lock themselves. */
int worker_profile_record(struct coordinator *c, int level, uint64_t bytes_max, struct err *e);
int worker_profile_recorded(struct coordinator *c, struct profile *into, struct err *e);

/* worker_messages.c.  Read and handle the messages that have come. */
void worker_read(struct coordinator *c, struct worker *w, double now);

/* shutdown.c.  The end of all workers; no connection is used afterwards. */
void workers_shut_down(struct coordinator *c);

/* coordinator_step.c */
extern const struct pool_ops coordinator_ops;

/* coordinator_loop.c */
void loop_init(struct coordinator *c);
/* Start the thread that turns the loop between steps; it takes the lock itself.  loop_stop is called without the lock. */
void loop_keep(struct coordinator *c);
void loop_stop(struct coordinator *c);
void loop_release(struct coordinator *c);
/* One turn: wait at most timeout_ms for an event, handle all that there are. */
void loop_turn(struct coordinator *c, int timeout_ms);
/* Its halves: the wait, which returns how many connections have events, and what they bring. */
int loop_wait(struct coordinator *c, int timeout_ms);
void loop_handle(struct coordinator *c, int found);
/* Short waits may poll from now on, where a core is left for it; or not. */
void loop_allow_spin(struct coordinator *c, bool allow);

#endif
