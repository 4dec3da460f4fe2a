/* SPDX-License-Identifier: Apache-2.0
 * Records where the time of this process goes while a profile is taken. Recording is off by itself: then each call here
 * costs the read of one variable.
 *
 * A thread marks the end of what it has done: the time since its last mark belongs to the phase of the mark. Threads
 * that work side by side enter a region, whose time counts once: the mean of its threads, and waiting for the rest.
 * Any thread may mark at any time; recorder_stop waits for marks that are under way. */
#pragma once

#include <stdatomic.h>

#include "runtime/base/profile/profile.h"

extern atomic_int recorder_level; /* enum profile_level */

static inline bool recorder_on(void)
{
	return atomic_load_explicit(&recorder_level, memory_order_relaxed) != PROFILE_OFF;
}

/* Nanoseconds of the steady clock of this process: the clock of all events. */
int64_t recorder_clock(void);

extern bool recorder_counter; /* the processor's time stamp counter is that clock, but for its unit */

/* The same clock in the unit that is read fastest (9 against 21 ns), which recorder_stop turns into nanoseconds. */
static inline int64_t recorder_ticks(void)
{
#ifdef __x86_64__
	if (recorder_counter)
		return (int64_t)__builtin_ia32_rdtsc();
#endif
	return recorder_clock();
}

/* From now on, until recorder_stop. bytes_max: memory for events; what does not fit is counted as dropped; 0: no events
 * and no hardware counters. */
void recorder_start(enum profile_level level, uint64_t bytes_max);
/* Were there bytes for events? */
bool recorder_keeps_events(void);
/* Into a process of `p` (threads, items, phases, wall time; NULL: forget it), and off. Times are of recorder_clock. */
void recorder_stop(struct profile *p, struct profile_process *out);
/* Seconds so far of each phase as shares of the wall time, as profile_process.wall_ns; while no other thread marks. */
void recorder_phases(double seconds[PHASE_COUNT]);

/* The slow halves of the functions below. */
void recorder_mark_on(enum profile_phase phase, int64_t end);
void recorder_event_on(enum profile_kind kind, uint32_t id, uint16_t peer, int64_t begin);
void recorder_help_on(enum profile_kind kind, uint32_t id, int64_t begin);
enum profile_phase recorder_as_on(enum profile_phase phase);
void recorder_exchange_on(uint32_t id, bool back, int64_t begin, int64_t end, uint64_t bytes,
	double wait_seconds);

/* The time of this thread since its last mark belongs to the phase; PHASE_NONE: to none. */
static inline void recorder_mark(enum profile_phase phase)
{
	if (recorder_on())
		recorder_mark_on(phase, recorder_ticks());
}

/* The same of the time until `end` (as recorder_begin), after which other marks follow; 0: nothing. */
static inline void recorder_mark_until(enum profile_phase phase, int64_t end)
{
	if (end && recorder_on())
		recorder_mark_on(phase, end);
}

/* When an event begins that recorder_event ends, in ticks. */
static inline int64_t recorder_begin(void) { return recorder_on() ? recorder_ticks() : 0; }

/* An event of this thread from `begin` (0: recording was off, nothing is recorded) until now. */
static inline void recorder_event(enum profile_kind kind, uint32_t id, uint16_t peer, int64_t begin)
{
	if (begin && recorder_on())
		recorder_event_on(kind, id, peer, begin);
}

/* This thread has helped another, whose time it is, since `begin` (as recorder_event): an event, and its own busy time. */
static inline void recorder_help(enum profile_kind kind, uint32_t id, int64_t begin)
{
	if (begin && recorder_on())
		recorder_help_on(kind, id, begin);
}

/* An exchange with other ranks from begin to end (as recorder_begin), in this thread or beside it: an event EVENT_EXCHANGE, and
 * a count to the process' exchanges; of no phase. */
static inline void recorder_exchange(uint32_t id, bool back, int64_t begin, int64_t end,
	uint64_t bytes, double wait_seconds)
{
	if (begin && end && recorder_on())
		recorder_exchange_on(id, back, begin, end, bytes, wait_seconds);
}

/* All marks of this thread, and of regions that it begins, belong to that phase until the next call; PHASE_NONE: to
 * their own again. What was before. */
static inline enum profile_phase recorder_as(enum profile_phase phase)
{
	return recorder_on() ? recorder_as_on(phase) : PHASE_NONE;
}

/* Threads side by side. The thread that begins a region ends it, when all others have left. */
struct recorder_region {
	int64_t began; /* 0: recording was off */
	enum profile_phase as;
	atomic_uint nthread; /* that have entered */
};
void recorder_region_begin(struct recorder_region *r);
/* Called by each thread of it, number `worker` from 0 on, before its first mark. */
void recorder_enter(struct recorder_region *r, unsigned worker);
void recorder_region_end(struct recorder_region *r);

/* Ticks of n items (profile.item) that this thread adds to, forward and backward: [2 * n]; NULL: the level is lower
 * than PROFILE_LAYERS, or marks belong to another phase (recorder_as). Valid until the thread's next call. */
_Atomic uint64_t *recorder_items(uint32_t n);
/* This thread's items are about n more states of a circuit, forward or backward; counted where items are. */
void recorder_states(bool back, uint32_t n);
/* The work of a device, as it says itself when it did it: a row of the profile. device: "cuda:0". */
struct recorder_queue;
struct recorder_queue *recorder_queue_new(const char *device);
/* From begin to end, by recorder_clock; events of a queue by their ends. */
void recorder_queue_event(struct recorder_queue *q, enum profile_kind kind, uint32_t id,
	int64_t begin, int64_t end);
/* Kernels that were launched, and bytes that were copied between host and device, in the time of these events. */
void recorder_queue_count(struct recorder_queue *q, uint64_t launches, uint64_t bytes);
/* Members of profile_thread. timing is not copied, note is. */
void recorder_queue_timed(struct recorder_queue *q, const char *timing, const char *note);
/* Called by recorder_stop, once nothing else is recorded: may record what the queue did. */
void recorder_queue_at_stop(struct recorder_queue *q, void (*fn)(void *ctx), void *ctx);
void recorder_queue_free(struct recorder_queue *q);

/* Since `last`, which becomes now, to an item. */
static inline void recorder_item(_Atomic uint64_t *ticks, int64_t *last)
{
	int64_t now = recorder_ticks();

	atomic_store_explicit(ticks,
		atomic_load_explicit(ticks, memory_order_relaxed) + (uint64_t)(now - *last),
		memory_order_relaxed);
	*last = now;
}
