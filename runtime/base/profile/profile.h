/* SPDX-License-Identifier: Apache-2.0
 * A profile: where the time of some steps went, in every process that took part. Plain data that the recorder
 * (recorder.h) fills, profile_json.c writes and reads, and that tables, traces and pages are made of.
 *
 * Times of events are nanoseconds since the profile began, by the coordinator's clock once profile_merge has aligned
 * them; durations are nanoseconds. All arrays and strings lie in the profile's arena. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/arena.h"
#include "runtime/base/buf.h"
#include "runtime/base/err.h"

enum profile_phase {
	PHASE_NONE = 0, /* not attributed */
#define PROFILE_PHASE(id, name, of, text) PHASE_##id,
#include "runtime/base/profile/phases.def"
#undef PROFILE_PHASE
	PHASE_COUNT
};

/* How much is recorded: each level includes those before it. */
enum profile_level {
	PROFILE_OFF = 0,
	PROFILE_PHASES,   /* phases, stages of shared states, messages */
	PROFILE_LAYERS,   /* time of each layer of the model */
	PROFILE_MATRICES, /* time of each step of the plan */
	PROFILE_LEVELS
};

/* What an event is. `id` of an event means: */
enum profile_kind {
	EVENT_PHASE = 0, /* id: enum profile_phase */
	EVENT_STEP,      /* an update of the weights, or a call: its number */
	EVENT_FORWARD,   /* a stage of a shared state, or a whole circuit: circuit << 16 | stage */
	EVENT_BACKWARD,  /* the same */
	EVENT_SEND, /* a message: its number; the receiver's EVENT_RECEIVE has the same id and the other rank */
	EVENT_RECEIVE,
	EVENT_COPY,     /* of a device's queue: id 0 from the host to the device, 1 back */
	EVENT_EXCHANGE, /* between the segments of a split state, circuit << 16 | the later segment; peer: 1 in the backward pass */
	EVENT_KINDS
};

struct profile_event {
	int64_t begin, end;
	uint32_t id;
	uint8_t kind;
	uint16_t peer; /* of messages: rank of the other process */
};

/* A thread, or a queue of a device's work: its time by phase. Of the thread that coordinates the process ("main"), phases are shares of the wall time: those
 * of the threads that work side by side count by their mean, and what is missing is PHASE_WAIT. */
struct profile_thread {
	const char *name;                             /* "main", "thread 1" */
	const char *device; /* "cuda:0"; NULL: a thread of the processor */
	uint64_t ns[PHASE_COUNT], count[PHASE_COUNT]; /* its own, and how often */
	uint32_t nevent;
	struct profile_event *event; /* by their ends, but for exchanges beside what it computed */
	uint64_t dropped;                  /* events beyond the limit of memory */
	/* Of a device's queue: time of copies between host and device, their bytes, and kernels that were launched. */
	uint64_t copy_ns, copied_bytes, launches;
	const char *timing;      /* by what its events were timed: "CUPTI", "events"; or NULL */
	const char *timing_note; /* why not by CUPTI, or what is missing, as a sentence; or NULL */
};

/* What a hardware counter has counted in all threads of a process. */
struct profile_counter {
	const char *name; /* "cycles", "instructions", "cache_misses", "memory_bytes" */
	double value;
};

/* Memory that a process held at most while the profile was taken. */
struct profile_memory {
	const char *name; /* "states", "gradients", "buffers", "program", "resident" */
	uint64_t bytes;
};

/* Exchanges of a split state with other ranks before one segment, all in one direction. */
struct profile_exchange {
	uint32_t circuit, segment;
	bool backward;         /* from that segment to the one before */
	uint64_t count, bytes; /* bytes that the process sent, and received as many */
	uint64_t ns, wait_ns;  /* from begin to end; of which without anything to send or receive */
};

struct profile_process {
	const char *host, *role; /* role: "coordinator", "worker", "rank" (of split states) */
	uint32_t rank, pid;      /* rank: 0 the coordinator, the others from 1 on */
	int64_t offset,
		uncertainty; /* of its clock against the coordinator's: its time - offset = the coordinator's */
	int64_t begin, end;            /* when it was recorded: a worker may join late or be lost */
	bool lost;                     /* it was lost: what is here is what had come */
	uint64_t wall_ns[PHASE_COUNT]; /* shares of the wall time, PHASE_NONE: of no phase; sum: end - begin */
	uint64_t busy_ns;              /* mean of its threads: not waiting */
	uint64_t units, bytes_sent, bytes_received, messages;
	uint64_t forward_states,
		backward_states; /* that items went over, in all circuits together; 0: not counted */
	uint64_t moved_events; /* events moved by profile_merge so that no message is received before it is sent */
	uint32_t nthread;
	struct profile_thread *thread;
	uint32_t nitem;
	const uint64_t *item_ns[2]; /* forward, backward: of profile.item, all threads together */
	uint32_t ncounter;
	const struct profile_counter *counter;
	const char *no_counters; /* why there are none, as a sentence; or NULL */
	uint32_t nmemory;
	const struct profile_memory *memory;
	uint32_t nexchange;
	const struct profile_exchange *exchange;
};

/* What time is spent on, of the plan: numbers are of one sample. */
enum profile_item_kind {
	ITEM_STEP = 0, /* a step of the plan: one matrix, or several that were merged */
	ITEM_TRANSFER, /* blocks of a stage from and to the state */
	ITEM_START, /* clearing the state, prepared vectors, matrices of samples in the kernels' precision */
	ITEM_READOUTS, /* expectations and probabilities; backward: what the backward pass begins with */
	ITEM_KINDS
};
struct profile_item {
	uint8_t kind;
	uint32_t circuit, stage, step; /* stage UINT32_MAX: states of one block, without stages */
	const char *matrix;            /* name of the block or gate in the model; or NULL */
	const char *family; /* "dense 1", "dense 2", "diagonal 2", "permutation 2", "prepare" */
	uint32_t layer;     /* number in profile.layer, UINT32_MAX: outside of layers */
	uint32_t line;      /* in the model, from 1 on; 0: unknown */
	double flops[2], bytes[2]; /* forward, backward */
};
struct profile_stage {
	uint32_t circuit, stage;
	double flops[2], bytes[2], expected_ns[2]; /* of one sample; by the plan, with all threads */
	bool fused; /* its backward pass is part of its forward pass */
};
struct profile_layer {
	const char *path; /* "conv[0]" */
	uint32_t line;    /* where it begins in the model; 0: unknown */
};

/* Rates of the machine, all threads together; 0: not measured. */
struct profile_limits {
	double stream_gb_s, write_gb_s, l2_gb_s, single_gflop_s, double_gflop_s;
};

/* What helps, most first. */
struct profile_advice {
	const char *code; /* "batch_size", "threads", "batch_rank", "precision", "fewer_workers", "slow_host", "data", ... */
	const char *text; /* what limits, what to do: a sentence or two */
	double gain;      /* estimated: time now / time then */
};

/* An exact optimisation that is switched off, and how many times fewer operations it would take. */
struct profile_option {
	const char *name;
	double gain;
};

struct profile {
	struct arena arena;
	const char *version, *command, *model; /* of qcnn; what ran; file of the model */
	const char *engine, *target, *precision, *shape;
	int level;               /* enum profile_level */
	double began;            /* seconds since 1970 */
	double startup_seconds;  /* of the command before its first step; 0: unknown */
	int64_t ns;              /* wall time */
	uint64_t steps, samples; /* updates or calls, and samples that were evaluated, in it */
	uint32_t nthread;        /* of a process */
	uint32_t batch_size, width; /* samples of a step; of a unit of work */
	uint32_t nprocessor;        /* that this process may use */
	uint32_t nswitched_off;
	const struct profile_option *switched_off;
	bool gradient;
	bool streaming;  /* inputs are read from their file for each batch */
	bool histograms; /* of weights, gradients and readouts are written to event files */
	struct profile_limits limits;
	uint32_t nlayer;
	const struct profile_layer *layer;
	uint32_t nstage;
	const struct profile_stage *stage;
	uint32_t nitem;
	const struct profile_item *item;
	uint32_t nprocess, process_room; /* process_room: of profile_merge */
	struct profile_process *process; /* the coordinator first */
	uint32_t nadvice;
	const struct profile_advice *advice;
};

struct profile *profile_new(void);
void profile_free(struct profile *p);

const char *profile_phase_name(enum profile_phase phase);
const char *profile_phase_text(enum profile_phase phase);
bool profile_phase_is_of_call(enum profile_phase phase);
/* -1: there is none of that name. */
int profile_phase_find(const char *name);
extern const char *const profile_level_names[PROFILE_LEVELS]; /* "off", "phases", "layers", "matrices" */

/* The whole profile as one JSON object (events included), and back: -ERR_BAD_DATA with a sentence where the text is not
 * one. What was written is read back exactly; but of more than PROFILE_EVENTS_MAX events, and of what would be too
 * long to be read, the last of the threads with the most events are left out and counted as dropped. A worker's part
 * has one process and no plan (layers, stages, items). */
enum { PROFILE_EVENTS_MAX = 1 << 20 };
/* Of times in a text: sums and differences do not overflow. */
#define PROFILE_TIME_MAX (INT64_MAX / 4)
void profile_write_json(const struct profile *p, struct buf *out);
/* The same in at most max bytes; *out, which it replaces, is empty where leaving out events is not enough. */
void profile_write_json_within(const struct profile *p, size_t max, struct buf *out);
int profile_read_json(const char *text, size_t len, struct profile **out, struct err *e);

/* At most how many events of each thread so that all threads have at most `max`. */
uint32_t profile_events_each(const struct profile *p, uint64_t max);

/* Append part's processes, their times aligned to the coordinator's clock by their offsets; all memory of part goes with
 * them. -ERR_BAD_DATA where they cannot be of the same profile; both are unchanged then. */
int profile_merge(struct profile *into, struct profile *part, struct err *e);

/* A message of which both ends were recorded, the second by a thread of a process. */
struct profile_message {
	uint32_t to_process, to_thread;
	const struct profile_event *send, *receive;
};
/* All of them, the caller's to free(): how many. */
size_t profile_messages(const struct profile *p, struct profile_message **out);
/* Clocks are aligned to some uncertainty. Receives that end before their send begins end just after that begin instead;
 * moved_events of their process counts them. */
void profile_order_messages(struct profile *p);
