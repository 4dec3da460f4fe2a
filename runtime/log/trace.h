/* SPDX-License-Identifier: Apache-2.0
 * A profile in the forms that other programs show: a trace for Perfetto and Chromium's tracing page, XSpace for
 * TensorBoard's profile plugin, folded stacks for flame graphs. Profiles without processes, plan or events are fine. */
#pragma once

#include "runtime/base/profile/profile.h"

/* Appended to *out: gzip-compressed JSON ("trace.json.gz"). A row for each process and thread, stages coloured by layer,
 * arrows for messages. -ERR_CONFIG: no memory to compress. */
int trace_chrome(const struct profile *p, struct buf *out, struct err *e);

/* One process as the plugin wants it: LOGDIR/plugins/profile/RUN/HOST.xplane.pb, a file for each process. */
void trace_xplane(const struct profile *p, uint32_t process, struct buf *out);

/* Lines of "process;thread;phase;layer;matrix microseconds". Layers and matrices are measured for a whole process: each of its
 * threads has a share of them by its time in the phase. */
void trace_folded(const struct profile *p, struct buf *out);

/* ---- what they share ---- */

/* Events of all threads in one trace; what is beyond counts as dropped, as in profile_write_json. */
enum { TRACE_EVENTS_MAX = 1 << 21 };

enum trace_group { TRACE_STEPS, TRACE_THREAD, TRACE_MESSAGES, TRACE_GROUPS };

/* What a stage of a circuit does: numbers of one sample, forward and backward. */
struct trace_stage {
	uint32_t circuit, stage;
	uint32_t layer;     /* that has most of its operations; UINT32_MAX: none */
	const char *layers; /* paths of all, "conv[0], pool[1]"; "" */
	double flops[2], bytes[2], expected_ns[2];
};

struct trace {
	const struct profile *p;
	int64_t base;              /* the earliest time in the profile */
	uint32_t events_each;      /* the first of each thread are in the trace */
	struct trace_stage *stage; /* (nstage) by circuit and stage */
	uint32_t nstage;
	struct arena arena;
};
void trace_init(struct trace *t, const struct profile *p);

struct trace_slice {
	const struct profile_event *event;
	int64_t end;   /* the event's, or earlier where it could not be nested */
	unsigned lane; /* the row among those of its thread and group */
};

/* A row of slices one behind the other or nested, by their begins, outer ones first. */
struct trace_row {
	const char *name;
	uint32_t thread;
	uint32_t n;
	struct trace_slice *slice;
};

/* Of one process, in the arena: how many. */
uint32_t trace_rows(const struct trace *t, uint32_t process, struct arena *a, struct trace_row **out);

/* Of an event EVENT_FORWARD or EVENT_BACKWARD; NULL: it is of another kind, or nothing is known. */
const struct trace_stage *trace_stage_of(const struct trace *t, const struct profile_event *e);
/* "forward conv[0]": names are made of what the plan says. */
void trace_event_name(const struct trace *t, const struct profile_event *e, struct buf *out);
/* "HOST RANK ROLE" */
void trace_process_name(const struct profile_process *p, struct buf *out);
/* Events that are not in the trace, of all threads of the process. */
uint64_t trace_dropped(const struct trace *t, const struct profile_process *p);
