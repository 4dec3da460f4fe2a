/* SPDX-License-Identifier: Apache-2.0
 * Each thread has a record that only it writes. A mark raises the record's `busy` first and then looks whether recording
 * is on; recorder_stop turns recording off first and then waits until no record is busy. */
#include "runtime/base/profile/recorder.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/base/memory_use.h"
#include "runtime/base/profile/counters.h"
#include "runtime/base/system/cgroup.h"
#include "runtime/base/system/cpus.h"
#include "runtime/base/system/threads.h"

enum { CHUNK_EVENTS = 4096, NAME_MAX_BYTES = 24, NOTE_MAX_BYTES = 120 };

struct chunk {
	struct chunk *next;
	uint32_t n;
	struct profile_event event[CHUNK_EVENTS];
};

/* Times of a record are in ticks; of a device's queue, in nanoseconds. */
struct record {
	struct record *next;
	atomic_bool busy, dead; /* dead: its thread has ended */
	bool device;            /* a device's queue, which has its name */
	unsigned capture;       /* of which it is the record */
	char name[NAME_MAX_BYTES];
	void (*at_stop)(void *ctx); /* of a queue */
	void *ctx;

	/* Of that capture, from here to the end. */
	int64_t last;
	bool inside; /* a region */
	enum profile_phase as;
	uint64_t alone[PHASE_COUNT], side[PHASE_COUNT],
		help[PHASE_COUNT]; /* outside of regions, inside, for other threads */
	struct profile_thread own; /* counts, what was dropped, and what only a queue has */
	uint64_t region,
		region_threads; /* of the regions that it began: wall time, and of all their threads */
	struct chunk *first, *newest;
	char timing_note[NOTE_MAX_BYTES];
	uint64_t states[2]; /* forward, backward */
	uint32_t nitem;
	_Atomic uint64_t *item;
};

atomic_int recorder_level;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct record *records;
static atomic_uint capture;
static atomic_llong quota; /* bytes of events that may still be taken */
static atomic_bool keeps_events;
static struct moment {
	int64_t ns, ticks;
} began;
static struct counters *counters; /* of this capture, or NULL */
static struct {
	size_t n, room;
	struct profile_exchange *at; /* ns in ticks */
} exchanges;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local struct record *own;
static _Thread_local bool stops; /* this thread is in recorder_stop, and may still record */

int64_t recorder_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

bool recorder_counter;

/* Linux takes the counter for its own clock only where it runs evenly, and equally in all processors. */
static bool counter_is_steady(void)
{
	char name[SYSTEM_LINE_BYTES];

	return system_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", "", name)
		&& !strcmp(name, "tsc");
}

/* The shortest of some tries: the thread may lose its processor between the two clocks. */
static struct moment moment_now(void)
{
	struct moment m = { 0 };
	int64_t shortest = INT64_MAX;

	for (unsigned k = 0; k < 4; k++) {
		int64_t before = recorder_ticks(), ns = recorder_clock(),
			took = recorder_ticks() - before;

		if (took < shortest) {
			shortest = took;
			m = (struct moment){ ns, before + took / 2 };
		}
	}
	return m;
}

/* Between two moments. */
static double ns_per_tick(struct moment a, struct moment b)
{
	return b.ticks > a.ticks ? (double)(b.ns - a.ns) / (double)(b.ticks - a.ticks) : 1;
}

static void thread_ended(void *record) { atomic_store(&((struct record *)record)->dead, true); }
static void begin_once(void)
{
	recorder_counter = counter_is_steady();
	pthread_key_create(&key, thread_ended);
}

static void add_record(struct record *r)
{
	mutex_auto held = mutex_hold(&lock);
	r->next = records;
	records = r;
}

static struct record *new_record(void)
{
	struct record *r = mem_alloc(1, sizeof *r);

	pthread_once(&once, begin_once);
	pthread_setspecific(key, r);
	add_record(r);
	return r;
}

static void release(struct record *r)
{
	for (struct chunk *c = r->first, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	free(r->item);
	memset(&r->last, 0, sizeof *r - offsetof(struct record, last));
}

/* Busy; NULL: recording is off. */
static struct record *open_one(struct record *r)
{
	atomic_store(&r->busy, true);
	if (atomic_load(&recorder_level) == PROFILE_OFF && !stops) {
		atomic_store(&r->busy, false);
		return NULL;
	}
	unsigned now = atomic_load_explicit(&capture, memory_order_relaxed);
	if (r->capture != now) {
		release(r);
		r->capture = now;
	}
	return r;
}

/* The calling thread's. */
static struct record *open_record(void) { return open_one(own ? own : (own = new_record())); }

static void close_record(struct record **r)
{
	if (*r)
		atomic_store_explicit(&(*r)->busy, false, memory_order_release);
}

/* `record_auto r = open_record();`: busy until the scope ends. */
#define record_auto __attribute__((cleanup(close_record))) struct record *

static void add_event(struct record *r, const struct profile_event *e)
{
	struct chunk *c = r->newest;

	if (!c || c->n == CHUNK_EVENTS) {
		if (atomic_fetch_sub(&quota, (long long)sizeof *c) < (long long)sizeof *c
			|| !(c = mem_try(1, sizeof *c))) {
			atomic_fetch_add(&quota, (long long)sizeof *c);
			r->own.dropped++;
			return;
		}
		*(r->newest ? &r->newest->next : &r->first) = c;
		r->newest = c;
	}
	c->event[c->n++] = *e;
}

void recorder_mark_on(enum profile_phase phase, int64_t end)
{
	record_auto r = open_record();

	if (!r)
		return;
	int64_t now = end < r->last ? r->last : end;
	if (r->last && phase) {
		enum profile_phase to = r->as ? r->as : phase;

		(r->inside ? r->side : r->alone)[to] += (uint64_t)(now - r->last);
		r->own.count[to]++;
		add_event(r, &(struct profile_event){ r->last, now, phase, EVENT_PHASE, 0 });
	}
	r->last = now;
}

void recorder_event_on(enum profile_kind kind, uint32_t id, uint16_t peer, int64_t begin)
{
	record_auto r = open_record();

	if (!r)
		return;
	add_event(r, &(struct profile_event){ begin, recorder_ticks(), id, (uint8_t)kind, peer });
}

/* Of work that is an event of that kind. */
static enum profile_phase phase_of(enum profile_kind kind, uint32_t id)
{
	return kind == EVENT_FORWARD     ? PHASE_FORWARD
		: kind == EVENT_BACKWARD ? PHASE_BACKWARD
					 : (enum profile_phase)id;
}

void recorder_help_on(enum profile_kind kind, uint32_t id, int64_t begin)
{
	record_auto r = open_record();

	if (!r)
		return;
	int64_t now = recorder_ticks();
	r->help[phase_of(kind, id)] += (uint64_t)(now - begin);
	add_event(r, &(struct profile_event){ begin, now, id, (uint8_t)kind, 0 });
}

/* With the lock. */
static struct profile_exchange *exchange_of(uint32_t id, bool back)
{
	for (size_t k = 0; k < exchanges.n; k++) {
		struct profile_exchange *x = &exchanges.at[k];

		if (x->circuit == id >> 16 && x->segment == (id & 0xffff) && x->backward == back)
			return x;
	}
	mem_reserve(exchanges.at, exchanges.n, exchanges.room);
	exchanges.at[exchanges.n] =
		(struct profile_exchange){ id >> 16, id & 0xffff, back, 0, 0, 0, 0 };
	return &exchanges.at[exchanges.n++];
}

void recorder_exchange_on(uint32_t id, bool back, int64_t begin, int64_t end, uint64_t bytes,
	double wait_seconds)
{
	struct record *r = open_record();

	if (!r)
		return;
	add_event(r, &(struct profile_event){ begin, end, id, EVENT_EXCHANGE, back });
	close_record(&r); /* recorder_stop waits for it with the lock */
	mutex_auto held = mutex_hold(&lock);
	struct profile_exchange *x = exchange_of(id, back);
	x->count++;
	x->bytes += bytes;
	x->ns += (uint64_t)(end - begin);
	x->wait_ns += (uint64_t)(1e9 * wait_seconds);
}

enum profile_phase recorder_as_on(enum profile_phase phase)
{
	record_auto r = open_record();

	if (!r)
		return PHASE_NONE;
	enum profile_phase before = r->as;
	r->as = phase;
	return before;
}

void recorder_region_begin(struct recorder_region *g)
{
	record_auto r = recorder_on() ? open_record() : NULL;

	g->began = 0;
	if (!r)
		return;
	g->as = r->as;
	atomic_store(&g->nthread, 0);
	g->began = recorder_ticks();
	if (r->last)
		r->alone[PHASE_NONE] += (uint64_t)(g->began - r->last);
}

void recorder_enter(struct recorder_region *g, unsigned worker)
{
	record_auto r = g->began && recorder_on() ? open_record() : NULL;

	if (!r)
		return;
	atomic_fetch_add(&g->nthread, 1);
	r->inside = true;
	r->as = g->as;
	r->last = recorder_ticks();
	if (worker)
		snprintf(r->name, sizeof r->name, "thread %u", worker);
}

void recorder_region_end(struct recorder_region *g)
{
	record_auto r = g->began && recorder_on() ? open_record() : NULL;

	if (!r)
		return;
	r->inside = false;
	r->last = recorder_ticks();
	r->region += (uint64_t)(r->last - g->began);
	r->region_threads += (uint64_t)(r->last - g->began) * atomic_load(&g->nthread);
}

/* The record where items are recorded; NULL: they are not, or what is evaluated is no step. */
static struct record *open_for_items(void)
{
	int level = atomic_load_explicit(&recorder_level, memory_order_relaxed);
	struct record *r = level < PROFILE_LAYERS ? NULL : open_record();

	if (!r || !r->as)
		return r;
	close_record(&r);
	return NULL;
}

_Atomic uint64_t *recorder_items(uint32_t n)
{
	record_auto r = open_for_items();

	if (!r)
		return NULL;
	if (r->nitem < n) {
		free(r->item);
		r->item = mem_alloc((size_t)2 * n, sizeof *r->item);
		r->nitem = n;
	}
	return r->item;
}

void recorder_states(bool back, uint32_t n)
{
	record_auto r = open_for_items();

	if (r)
		r->states[back] += n;
}

/* ---- devices ---- */

/* Freed with the dead records. */
struct recorder_queue {
	struct record record;
};

struct recorder_queue *recorder_queue_new(const char *device)
{
	struct recorder_queue *q = mem_alloc(1, sizeof *q);

	q->record.device = true;
	snprintf(q->record.name, sizeof q->record.name, "%s", device);
	add_record(&q->record);
	return q;
}

void recorder_queue_event(struct recorder_queue *q, enum profile_kind kind, uint32_t id,
	int64_t begin, int64_t end)
{
	enum profile_phase phase = phase_of(kind, id);
	record_auto r = open_one(&q->record);

	if (!r)
		return;
	add_event(r, &(struct profile_event){ begin, end, id, (uint8_t)kind, 0 });
	if (kind == EVENT_COPY) {
		r->own.copy_ns += (uint64_t)(end - begin);
	} else {
		r->side[phase] += (uint64_t)(end - begin);
		r->own.count[phase]++;
	}
}

void recorder_queue_count(struct recorder_queue *q, uint64_t launches, uint64_t bytes)
{
	record_auto r = open_one(&q->record);

	if (!r)
		return;
	r->own.launches += launches;
	r->own.copied_bytes += bytes;
}

void recorder_queue_timed(struct recorder_queue *q, const char *timing, const char *note)
{
	record_auto r = open_one(&q->record);

	if (!r)
		return;
	r->own.timing = timing;
	snprintf(r->timing_note, sizeof r->timing_note, "%s", note ? note : "");
}

void recorder_queue_at_stop(struct recorder_queue *q, void (*fn)(void *ctx), void *ctx)
{
	mutex_auto held = mutex_hold(&lock);
	q->record.at_stop = fn;
	q->record.ctx = ctx;
}

void recorder_queue_free(struct recorder_queue *q)
{
	if (!q)
		return;
	recorder_queue_at_stop(q, NULL, NULL); /* it is not being called any more */
	atomic_store(&q->record.dead, true);
}

void recorder_start(enum profile_level level, uint64_t bytes_max)
{
	pthread_once(&once, begin_once);
	pthread_mutex_lock(&lock);
	atomic_fetch_add(&capture, 1);
	atomic_store(&quota, (long long)bytes_max);
	atomic_store(&keeps_events, bytes_max > 0);
	counters = bytes_max ? counters_start() : NULL;
	if (bytes_max)
		cpus_memory_forget();
	began = moment_now();
	exchanges.n = 0;
	pthread_mutex_unlock(&lock);
	atomic_store(&recorder_level, (int)level);
	recorder_mark(PHASE_NONE);
}

bool recorder_keeps_events(void) { return atomic_load(&keeps_events); }

/* ---- what was recorded ---- */

static bool is_of_capture(const struct record *r) { return r->capture == atomic_load(&capture); }

/* Of the threads that coordinate, and of regions by the mean of their threads; never more than the wall time. */
static void wall_shares(double wall, double ns[PHASE_COUNT])
{
	double side[PHASE_COUNT] = { 0 }, region = 0, threads = 0, sum = 0, inside = 0;

	memset(ns, 0, PHASE_COUNT * sizeof *ns);
	for (const struct record *r = records; r; r = r->next) {
		if (!is_of_capture(r) || r->device)
			continue;
		region += (double)r->region;
		threads += (double)r->region_threads;
		for (unsigned p = 1; p < PHASE_COUNT; p++) {
			ns[p] += (double)r->alone[p];
			side[p] += (double)r->side[p];
		}
	}
	for (unsigned p = 1; p < PHASE_COUNT && threads > 0; p++) {
		ns[p] += side[p] * region / threads;
		inside += side[p] * region / threads;
	}
	if (region > inside)
		ns[PHASE_WAIT] += region - inside;
	for (unsigned p = 1; p < PHASE_COUNT; p++)
		sum += ns[p];
	for (unsigned p = 1; p < PHASE_COUNT && sum > wall; p++)
		ns[p] *= wall / sum;
	ns[PHASE_NONE] = sum < wall ? wall - sum : 0;
}

void recorder_phases(double seconds[PHASE_COUNT])
{
	mutex_auto held = mutex_hold(&lock);
	struct moment now = moment_now();

	wall_shares((double)(now.ticks - began.ticks), seconds);
	for (unsigned p = 0; p < PHASE_COUNT; p++)
		seconds[p] *= 1e-9 * ns_per_tick(began, now);
}

static void copy_thread(struct profile *p, const struct record *r, unsigned number, double scale,
	struct profile_thread *t)
{
	const int64_t zero = r->device ? began.ns : began.ticks;
	struct profile_event *event;
	uint32_t n = 0;

	*t = r->own;
	scale = r->device ? 1 : scale;
	t->device = r->device ? arena_strdup(&p->arena, r->name) : NULL;
	t->name = *r->name ? arena_strdup(&p->arena, r->name)
		: number   ? arena_printf(&p->arena, "thread %u", number)
			   : "main";
	for (unsigned k = 0; k < PHASE_COUNT; k++)
		t->ns[k] = (uint64_t)(scale * (double)(r->alone[k] + r->side[k] + r->help[k]));
	t->timing_note = *r->timing_note ? arena_strdup(&p->arena, r->timing_note) : NULL;
	for (const struct chunk *c = r->first; c; c = c->next)
		t->nevent += c->n;
	t->event = event = arena_alloc(&p->arena, t->nevent, sizeof *event);
	for (const struct chunk *c = r->first; c; c = c->next)
		for (uint32_t k = 0; k < c->n; k++, n++) {
			event[n] = c->event[k];
			event[n].begin =
				began.ns + (int64_t)(scale * (double)(c->event[k].begin - zero));
			event[n].end = began.ns + (int64_t)(scale * (double)(c->event[k].end - zero));
		}
}

static void copy_items(struct profile *p, double scale, struct profile_process *out)
{
	uint64_t *ns[2];

	for (const struct record *r = records; r; r = r->next) {
		if (is_of_capture(r) && r->nitem > out->nitem)
			out->nitem = r->nitem;
		out->forward_states += is_of_capture(r) ? r->states[0] : 0;
		out->backward_states += is_of_capture(r) ? r->states[1] : 0;
	}
	for (unsigned back = 0; back < 2; back++)
		out->item_ns[back] = ns[back] = arena_alloc(&p->arena, out->nitem, sizeof **ns);
	for (const struct record *r = records; r; r = r->next)
		for (uint32_t k = 0; is_of_capture(r) && k < r->nitem; k++)
			for (unsigned back = 0; back < 2; back++)
				ns[back][k] += (uint64_t)(scale
					* (double)atomic_load_explicit(&r->item[(size_t)back * r->nitem + k],
						memory_order_relaxed));
}

static void copy_exchanges(struct profile *p, double scale, struct profile_process *out)
{
	struct profile_exchange *x = arena_copy(&p->arena, exchanges.at, exchanges.n, sizeof *x);

	for (size_t k = 0; k < exchanges.n; k++)
		x[k].ns = (uint64_t)(scale * (double)x[k].ns);
	out->exchange = x;
	out->nexchange = (uint32_t)exchanges.n;
}

static void copy_threads(struct profile *p, double scale, struct profile_process *out)
{
	struct profile_thread *thread;
	const struct record *me = own;
	uint64_t busy = 0;
	unsigned n = 0, nthread = 0;

	for (const struct record *r = records; r; r = r->next)
		out->nthread += is_of_capture(r);
	out->thread = thread = arena_alloc(&p->arena, out->nthread, sizeof *thread);
	if (me && is_of_capture(me))
		copy_thread(p, me, 0, scale, &thread[n++]);
	for (const struct record *r = records; r; r = r->next)
		if (r != me && is_of_capture(r)) {
			copy_thread(p, r, n, scale, &thread[n]);
			n++;
		}
	for (unsigned t = 0; t < n; t++) {
		for (unsigned k = 1; k < PHASE_COUNT && !thread[t].device; k++)
			busy += k != PHASE_WAIT ? thread[t].ns[k] : 0;
		nthread += !thread[t].device;
	}
	out->busy_ns = nthread ? busy / nthread : 0;
}

/* Records of threads that have ended. */
static void forget_dead(void)
{
	for (struct record **at = &records, *r; (r = *at);) {
		if (!atomic_load(&r->dead)) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		release(r);
		free(r);
	}
}

/* In the process, and for the uses that large memory has. */
static const struct profile_memory *memory(struct profile *p, uint32_t *n)
{
	struct profile_memory *m = arena_alloc(&p->arena, 1 + MEMORY_USES, sizeof *m);
	uint64_t resident = cpus_memory_resident();

	*n = 0;
	if (resident)
		m[(*n)++] = (struct profile_memory){ "resident", resident };
	for (unsigned k = 0; k < MEMORY_USES; k++)
		if (memory_use_most(k))
			m[(*n)++] = (struct profile_memory){ memory_use_name[k], memory_use_most(k) };
	return m;
}

void recorder_stop(struct profile *p, struct profile_process *out)
{
	double wall[PHASE_COUNT];

	atomic_store(&recorder_level, PROFILE_OFF);
	mutex_auto held = mutex_hold(&lock);
	struct moment end = moment_now();
	for (struct record *r = records; r; r = r->next)
		while (atomic_load(&r->busy))
			sched_yield();
	stops = true;
	for (struct record *r = records; r; r = r->next)
		if (r->at_stop)
			r->at_stop(r->ctx);
	stops = false;
	if (counters)
		counters_stop(counters, p, out);
	counters = NULL;
	if (p) {
		out->memory = memory(p, &out->nmemory);
		double scale = ns_per_tick(began, end);

		out->begin = began.ns;
		out->end = end.ns;
		wall_shares((double)(end.ticks - began.ticks), wall);
		for (unsigned k = 0; k < PHASE_COUNT; k++)
			out->wall_ns[k] = (uint64_t)(scale * wall[k]);
		copy_items(p, scale, out);
		copy_exchanges(p, scale, out);
		copy_threads(p, scale, out);
	}
	forget_dead();
}
