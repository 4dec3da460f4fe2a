/* SPDX-License-Identifier: Apache-2.0
 * Internal state of the cluster, for the files of this folder only: workers, connections, and the state of each module.
 *
 * All functions are called with the lock of the loop held, unless noted. */
#pragma once

#include <poll.h>
#include <pthread.h>
#include "runtime/base/profile/recorder.h"
#include "runtime/base/system/threads.h"
#include "runtime/net/cluster/clock_offset.h"
#include "runtime/net/cluster/coordinator.h"
#include "runtime/net/cluster/worker_state.h"
#include "runtime/net/protocol/protocol.h"

enum {
	PENDING_CONNECTIONS_MAX = 64,
	LISTENERS_MAX = WIRE_ADDRESSES_MAX,
	STARTS_AT_ONCE = 8,     /* sshd drops further connections; one less each time it does */
	STARTS_MAX = 16,        /* attempts to start one worker whose connection sshd dropped */
	HELLOS_MAX = 1 << 16,   /* HELLOs that one job answers */
	RANK_ADDRESS_MAX = 256, /* bytes of a rank's address, its 0 included */
	KEEPER_MS = 250         /* longest time between two iterations of the loop */
};

struct traffic {
	uint64_t sent, received, messages;
}; /* bytes, messages both ways */

/* worker_profile.c: states of the recording of a worker. */
enum worker_record {
	RECORD_NONE = 0,
	RECORD_COMPARE,  /* clocks are compared before it records */
	RECORD_ON,       /* it records */
	RECORD_ASKED,    /* its profile was requested */
	RECORD_COMPLETE, /* its profile has been received */
	RECORD_LATE      /* the capture ended before: its profile will be ignored */
};
struct worker_profile {
	enum worker_record state;
	uint32_t capture;       /* number of the profile */
	unsigned life;          /* w->nrestart of the process that records */
	int64_t began;          /* by our clock */
	struct traffic traffic; /* before the recording */
	uint64_t nunit;
	struct clock_offset clock;
	enum clock_when when;
	int64_t question,
		asked_at; /* sent time of the CLOCK that is unanswered, 0: none; time of the latest */
	unsigned nleft, nasked;       /* CLOCK requests of this round: to be sent, and sent */
	uint32_t text_max, total, at; /* bytes of the answer: limit, total, and received */
	struct buf text;
};

struct worker {
	char name[HOST_NAME_LONGEST + 16];   /* host[rank] */
	struct launch_place place;
	unsigned rank, share,
		local; /* share: number of workers on its host; local: its number among them, from 0 */
	bool external;     /* started by another program: it connects on its own */
	bool on_this_host; /* on this machine */
	bool follows;      /* it holds parts of the states of another worker, and gets no units */
	enum worker_state state;     /* worker_set_state */
	struct launched process;
	unsigned nstart;
	unsigned nvain, nrestart;    /* restarts since its last result; all restarts */
	double start_at;             /* earliest time of the next start */
	struct peer peer;
	uint32_t numerical;          /* its NUMERICAL_VERSION */
	struct wire_about about;
	struct wire_ready ready;
	char address[RANK_ADDRESS_MAX]; /* as a rank of a group */
	double heard, heartbeat_at; /* times of its last message and of our last heartbeat to it */
	bool suspected;             /* silent for suspect_s: its units were reassigned */
	struct err left; /* LEAVING: the reason known so far; leaves_at: until when to wait for a better one */
	bool missed;     /* LOST before the job began, which begins without it; left says why */
	double leaves_at;
	uint32_t nlost;       /* units that were assigned to it when it left */
	struct traffic ended; /* of its earlier connections */
	struct worker_profile profile;
};

/* A connection that has not proved the job's key yet.  by: the worker whose standard input and output it uses; NULL: it
 * was accepted by a listener. */
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
/* worker_job.c: the job, for workers that are restarted */
struct current_job {
	struct wire_job message;     /* borrows from body */
	struct buf body;
	struct wire_ready right;
	const char *right_name; /* the required READY, and the worker that sent it first */
};
/* liveness.c, worker_restart.c */
struct liveness {
	unsigned starts_at_once;
	bool started;                /* all workers were READY once: from now on a loss is not a failure */
	struct err first;            /* the first cause of a worker's loss */
	double heard;                /* clock of the last message of any worker */
	double alone_since; /* time since which no worker is connected; 0: some worker is */
	double watch_at;             /* clock of the next check of processes */
};
/* worker_profile.c: the profile being recorded */
struct capture {
	bool on, stopping;
	uint32_t number;
	enum profile_level level;
	uint64_t bytes; /* memory for the events of a worker */
	uint32_t text_max;
	struct traffic traffic;       /* of all workers, when it began */
	struct profile_process *lost; /* what is known of processes that were lost */
	size_t nlost, lost_cap;
};
/* coordinator_loop.c */
struct loop {
	pthread_mutex_t lock;
	pthread_t keeper;
	bool has_keeper; /* thread that runs the loop between steps */
	pthread_cond_t stop; bool stopping;
	struct pollfd *fds;
	size_t nfds, fds_cap;
	struct spin spin;
	double last_at;              /* time of the last iteration */
	double slept;                /* seconds for which this process was suspended */
	bool stepping; /* the loop runs within a step, in the thread whose time is recorded */
};

struct coordinator {
	struct pool pool;
	struct coordinator_options o;
	struct secrets *secrets;
	uint8_t job_id[WIRE_JOB_ID];
	struct worker *worker; unsigned nworker;
	unsigned first_rank; /* that worker 0 gives in HELLO: 1 where this process is rank 0, and has no worker beside it */
	struct scheduler *scheduler;
	struct listeners listeners;
	struct pending_connections pending;
	struct current_job job;
	struct liveness liveness;
	struct capture capture;
	struct loop loop;
	struct buf body;             /* of a message */
	unsigned ncore;              /* number of cores that this process may use */
	bool grouped;                /* workers are ranks of a group, or begin to be */
	int ending;                  /* code of BYE to external workers */
	bool rendezvous_written;
	void (*on_profiler)(void *ctx, struct peer *p);
	void *profiler_ctx;
};
/* pool is the first member. */
static inline struct coordinator *coordinator_of(struct pool *p) { return (struct coordinator *)p; }

/* coordinator.c.  Without the lock.  Raise the limit on open files if it is too low; -ERR_CONFIG if that fails. */
int descriptors_reserve(unsigned nworker, struct err *e);

/* listen.c.  Listen on an address for each host's route to this machine. */
int listeners_open(struct coordinator *c, struct err *e);

/* worker.c */
/* Start WAITING workers, at most starts_at_once at a time. */
void workers_start(struct coordinator *c, double now);
/* The worker's connection has ended: make its units pending again, and wait briefly for the exit status of its process. */
void worker_leave(struct coordinator *c, struct worker *w, const struct err *why, double now);
/* The worker is lost: report the reason, and make its units pending again. */
void worker_lose(struct coordinator *c, struct worker *w, const struct err *why);
/* The same for a worker that is silent: its network may be cut. Then no other one of its host will connect, either. */
void worker_cut(struct coordinator *c, struct worker *w, const struct err *why);
/* Send as much queued output as possible.  If the connection breaks here, worker_read handles that, after the messages
 * received before. */
void worker_flush(struct worker *w);
void worker_send_boot(struct coordinator *c, struct worker *w);
void coordinator_say(struct coordinator *c, const char *worker, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* liveness.c */
/* Send HEARTBEAT if it is due. */
void worker_heartbeat(struct coordinator *c, struct worker *w, double now);
/* Report the lines that the worker's process prints, and send what its marks request. */
void worker_relay(struct coordinator *c, struct worker *w, double now);
/* Check all processes and connections: printed lines, exits, silence. */
void workers_watch(struct coordinator *c, double now);

/* worker_restart.c */
/* w is lost.  True: it will be restarted at w->start_at; false: it will not be restarted. */
bool worker_restart_later(struct coordinator *c, struct worker *w, const struct err *why, double now);
/* w is lost.  Does the job begin without it, if there are enough others? */
bool worker_may_miss(const struct coordinator *c, const struct worker *w, const struct err *why);
/* The job has begun: report the hosts of workers that it has begun without, which are started from now on. */
void workers_start_missed(struct coordinator *c, double now);
/* Lose workers that did not connect in time; fail the job if all are lost. */
void workers_restart_watch(struct coordinator *c, double now);

/* pending.c */
/* Accept connections of a listener, at most PENDING_CONNECTIONS_MAX per call. */
void pending_accept_all(struct coordinator *c, int listener, double now);
void pending_read(struct coordinator *c, struct pending *s, double now);
/* A worker's process has begun to send frames on its standard output. */
void pending_tunnelled(struct coordinator *c, struct worker *w, double now);
void pending_forget(struct coordinator *c, const struct worker *w);
void pending_watch(struct coordinator *c, double now);

/* worker_job.c */
/* Keep a copy of the job for workers that connect later. */
int job_keep(struct coordinator *c, const struct wire_job *job, struct err *e);
void job_send(struct coordinator *c, struct worker *w);
/* Whether the worker's READY is equal to that of the others. */
bool job_same_answer(const struct coordinator *c, const struct worker *w, struct err *why);

/* coordinator.c */
/* Turn the loop until all workers have reached a state; the loss of one is an error, unless it may be missed, and so is one
 * that is late to have done `what`. */
int workers_wait(struct coordinator *c, enum worker_state state, const char *what, struct err *e);
/* They forget the previous job: READY workers are DESCRIBED. */
void workers_forget_job(struct coordinator *c);

/* coordinator_group.c.  Keep the worker's address; false: it violates the protocol. */
bool group_take_address(struct coordinator *c, struct worker *w, const uint8_t *body, size_t len);
/* It follows in its group, and reads nothing until that ends: what is sent every second would fill its socket. */
bool group_keeps_quiet(const struct coordinator *c, const struct worker *w);

/* Whether the worker has the kernel set of this name. */
bool worker_has_kernels(const struct wire_about *a, const char *kernels);

/* worker_profile.c */
struct traffic worker_traffic(const struct worker *w);
/* The worker is READY: if a profile is being recorded, it records, too. */
void worker_profile_ready(struct coordinator *c, struct worker *w);
/* The worker has sent a result: if it has no more units, send CLOCK. */
void worker_profile_idle(struct coordinator *c, struct worker *w);
/* The worker's connection ends. */
void worker_profile_lost(struct coordinator *c, struct worker *w);
/* Handle PROFILED and CLOCK; false: the worker violates the protocol. */
bool worker_profile_part(struct coordinator *c, struct worker *w, const uint8_t *body, size_t len);
bool worker_profile_clock(struct coordinator *c, struct worker *w, const uint8_t *body, size_t len);
void worker_profile_release(struct coordinator *c);
/* Members of pool_ops. They take the lock themselves. */
int worker_profile_record(struct pool *p, int level, uint64_t bytes_max, struct err *e);
int worker_profile_recorded(struct pool *p, struct profile *into, struct err *e);

/* worker_messages.c.  Read and handle all received messages. */
void worker_read(struct coordinator *c, struct worker *w, double now);

/* shutdown.c.  End all workers; no connection may be used afterwards. */
void workers_shut_down(struct coordinator *c);

/* coordinator_loop.c */
void loop_init(struct coordinator *c);
/* Start the thread that runs the loop between steps; it takes the lock itself.  Call loop_stop without the lock. */
void loop_keep(struct coordinator *c);
void loop_stop(struct coordinator *c);
void loop_release(struct coordinator *c);
/* One iteration: wait at most timeout_ms for an event, then handle all events. */
void loop_turn(struct coordinator *c, int timeout_ms);
/* The two parts of an iteration: wait and return the number of descriptors with events; handle these events. */
int loop_wait(struct coordinator *c, int timeout_ms);
void loop_handle(struct coordinator *c, int found);
/* Allow short waits to poll if a core is free for it, or forbid it. */
void loop_allow_spin(struct coordinator *c, bool allow);
