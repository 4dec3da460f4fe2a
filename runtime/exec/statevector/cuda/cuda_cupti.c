/* SPDX-License-Identifier: Apache-2.0
 * Times of each kernel, copy and clear by CUPTI, while a profile is recorded.
 *
 * CUPTI writes a record of each, of all streams, in any order, into buffers, which are read when recording stops. The k-th record by
 * its start, among those of the stream that start between the begin and the end of a unit, is of the k-th thing that the unit asked
 * it for. A unit that has more or fewer records than it asked for is left out, and the profile says so. */
#include "config.h"
#if QCNN_CUPTI_HEADER
#include <cuda.h>
#include <cupti.h>
#endif
#include "runtime/exec/statevector/cuda/cuda_cupti.h"

#include "runtime/exec/statevector/cuda/cuda_state.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/system/threads.h"

#ifdef CUPTI_API_VERSION
#define AGREES(result, name, args) \
	_Static_assert(__builtin_types_compatible_p(__typeof__(name), result args), #name);
CUPTI_FUNCTIONS(AGREES)
_Static_assert(CUPTI_SUCCESS == CUPTI_OK && CUPTI_ERROR_MAX_LIMIT_REACHED == CUPTI_NO_MORE
		&& CUPTI_ACTIVITY_KIND_MEMCPY == CUPTI_COPY && CUPTI_ACTIVITY_KIND_MEMSET == CUPTI_CLEAR
		&& CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL == CUPTI_KERNEL
		&& CUPTI_ACTIVITY_FLAG_FLUSH_FORCED == CUPTI_FORCED
		&& CUPTI_ACTIVITY_MEMCPY_KIND_HTOD == CUPTI_TO_DEVICE
		&& CUPTI_ACTIVITY_MEMCPY_KIND_DTOH == CUPTI_TO_HOST,
	"values of CUPTI");
#define SAME(type, member, ours) \
	_Static_assert(offsetof(type, member) == offsetof(struct cupti_times, ours), #type);
#define SAME_TIMES(type, first) \
	SAME(type, kind, kind) \
	SAME(type, start, start) \
	SAME(type, end, end) \
	SAME(type, deviceId, place[first]) SAME(type, streamId, place[first + 2])
#if CUPTI_API_VERSION >= 130000 /* else the newest have other names */
SAME_TIMES(CUpti_ActivityKernel10, 2)
SAME_TIMES(CUpti_ActivityMemcpy6, 0)
SAME_TIMES(CUpti_ActivityMemset4, 0)
SAME(CUpti_ActivityMemcpy6, copyKind, copy_kind)
#endif
#endif

enum { ASKED_MAX = 1 << 22, CHECKED_UNITS = 3 }; /* of a recording */

struct traced_unit {
	int64_t begin, end;
	size_t first, n, ncopy; /* of cuda_trace.asked; how many of these are copies */
};

struct cuda_trace {
	struct cuda_trace *next;
	struct cuda_state *of;
	uint32_t stream; /* its number */
	bool known;      /* is it? */
	atomic_bool on;
	struct traced_unit open;   /* the unit that has not ended: without its end */
	uint64_t launches, copied; /* of it */
	size_t lost;               /* of units that have ended, and are left out */
	size_t nasked, asked_room, nunit, unit_room, nrecord, record_room;
	struct cuda_mark *asked; /* what kernels, copies and clears are of, one by one */
	struct traced_unit *unit;
	struct cupti_times *record;
};

/* ---- the library ---- */

/* Guards all that follows but buffers, and the contents of traces. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cupti_library lib;
static struct cuda_trace *traces;
static bool registered, enabled;
static const char *failed; /* the first call that has: CUPTI is not used again */
static const cupti_kind kinds[] = { CUPTI_KERNEL, CUPTI_COPY, CUPTI_CLEAR };
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Is it CUPTI_OK? */
static bool keep(const char *call, cupti_result r)
{
	static char text[128];
	const char *name = NULL;

	if (r == CUPTI_OK)
		return true;
	if (failed)
		return false;
	lib.cuptiGetResultString(r, &name);
	snprintf(text, sizeof text, "%s fails: %s", call, name ? name : "unknown error");
	failed = text;
	return false;
}

/* Sets lib. The version; 0: too old. */
static unsigned find_functions(void *handle)
{
	bool all = true;
	uint32_t version;

#define FIND(result, name, args) \
	{ \
		void *p = dlsym(handle, #name); \
		memcpy(&lib.name, &p, sizeof p); \
		all = all && p; \
	}
	CUPTI_FUNCTIONS(FIND)
#undef FIND
	return all && lib.cuptiGetVersion(&version) == CUPTI_OK && version >= CUPTI_VERSION_LEAST
		? version
		: 0;
}

/* NULL: it is loaded. */
static const char *load(uint32_t *version)
{
	static unsigned loaded;
	static bool tried, old;

	if (!tried)
		loaded = cuda_load(CUDA_CUPTI, find_functions, &old);
	tried = true;
	*version = loaded;
	return loaded ? NULL
		: old ? "libcupti.so is older than that of CUDA 12.0"
		      : "no libcupti.so.13 or .12 can be loaded";
}

/* From CUDA 13.0 on, numbers are those of CUDA. */
const char *cuda_cupti_about(void)
{
	static char text[40];
	const char *obstacle;
	uint32_t version;

	mutex_auto held = mutex_hold(&lock);
	obstacle = load(&version);
	if (version >= 130000)
		snprintf(text, sizeof text, "CUPTI %u.%u", version / 10000, version / 100 % 100);
	else
		snprintf(text, sizeof text, "CUPTI of CUDA 12, version %u", version);
	return obstacle ? obstacle : text;
}

/* ---- buffers ---- */

enum { BUFFER_BYTES = 1 << 20, BUFFERS_MAX = 256 };

struct buffer {
	struct buffer *next;
	size_t valid; /* bytes */
	_Alignas(16) uint8_t data[BUFFER_BYTES];
};

static _Atomic(struct buffer *) written;
static atomic_uint nbuffer;

/* Called by CUPTI, on any thread. What is recorded while there is no buffer is lost. */
static void give_buffer(uint8_t **data, size_t *nbyte, size_t *nrecord)
{
	struct buffer *b = atomic_load(&nbuffer) < BUFFERS_MAX ? malloc(sizeof *b) : NULL;

	atomic_fetch_add(&nbuffer, b != NULL);
	*data = b ? b->data : NULL;
	*nbyte = b ? BUFFER_BYTES : 0;
	*nrecord = 0; /* as many as there is room for */
}

static void take_buffer(cupti_context c, uint32_t stream, uint8_t *data, size_t nbyte, size_t valid)
{
	struct buffer *b = (void *)(data - offsetof(struct buffer, data));

	(void)c, (void)stream, (void)nbyte;
	b->valid = valid;
	b->next = atomic_load(&written);
	while (!atomic_compare_exchange_weak(&written, &b->next, b))
		;
}

/* To the trace of its stream, if that is on. If no trace has the stream (a graph may use others), to all of the device. */
static void take_record(const struct cupti_times *r)
{
	const uint32_t *place = r->place + 2 * (r->kind == CUPTI_KERNEL);
	bool known = false;

	for (const struct cuda_trace *t = traces; t && r->start; t = t->next)
		known = known || (t->known && t->of->number == place[0] && t->stream == place[2]);
	for (struct cuda_trace *t = traces; t && r->start; t = t->next) {
		if (!t->on || t->of->number != place[0] || (known && t->stream != place[2]))
			continue;
		mem_reserve(t->record, t->nrecord, t->record_room);
		t->record[t->nrecord++] = *r;
	}
}

/* All that CUPTI has, to the traces. flag: 0 or CUPTI_FORCED. */
static void read_records(uint32_t flag)
{
	keep("cuptiActivityFlushAll", lib.cuptiActivityFlushAll(flag));
	for (struct buffer *b = atomic_exchange(&written, NULL), *next; b; b = next) {
		cupti_activity *r = NULL;
		cupti_result result;

		while ((result = lib.cuptiActivityGetNextRecord(b->data, b->valid, &r)) == CUPTI_OK)
			take_record((const void *)r);
		if (result != CUPTI_NO_MORE)
			keep("cuptiActivityGetNextRecord", result);
		next = b->next;
		free(b);
		atomic_fetch_sub(&nbuffer, 1);
	}
}

static void disable(void)
{
	for (unsigned k = 0; k < KINDS; k++)
		keep("cuptiActivityDisable", lib.cuptiActivityDisable(kinds[k]));
	enabled = false;
}

static uint64_t now(void) { return (uint64_t)recorder_clock(); }

/* Does CUPTI record? */
static bool enable(void)
{
	uint32_t version;

	if (enabled || failed || load(&version))
		return enabled && !failed;
	if (!registered)
		registered = keep("cuptiActivityRegisterTimestampCallback",
				     lib.cuptiActivityRegisterTimestampCallback(now))
			&& keep("cuptiActivityRegisterCallbacks",
				lib.cuptiActivityRegisterCallbacks(give_buffer, take_buffer));
	enabled = registered;
	for (unsigned k = 0; k < KINDS && enabled; k++)
		if (!keep("cuptiActivityEnable", lib.cuptiActivityEnable(kinds[k])))
			disable();
	return enabled;
}

/* ---- traces ---- */

static int by_start(const void *x, const void *y)
{
	const struct cupti_times *a = x, *b = y;

	if (a->start == b->start) /* of two in a stream, the first has taken less than the clock tells */
		return (a->end > b->end) - (a->end < b->end);
	return a->start > b->start ? 1 : -1;
}

/* Of the k-th thing that u asked for. Only kernels are what the mark says: clears prepare sums, copies say where to. */
static void add_event(const struct cuda_trace *t, const struct traced_unit *u, size_t k,
	const struct cupti_times *r)
{
	struct cuda_mark a = t->asked[u->first + k];

	if (r->kind == CUPTI_CLEAR)
		a = (struct cuda_mark){ EVENT_PHASE, PHASE_ENCODING };
	else if (r->kind == CUPTI_COPY && r->copy_kind == CUPTI_TO_DEVICE)
		a = (struct cuda_mark){ EVENT_COPY, CUDA_TO_DEVICE };
	else if (r->kind == CUPTI_COPY && r->copy_kind == CUPTI_TO_HOST)
		a = (struct cuda_mark){ EVENT_COPY, CUDA_TO_HOST };
	else if (a.kind == EVENT_COPY || (a.kind == EVENT_PHASE && a.id == PHASE_NONE))
		return; /* of no phase */
	recorder_queue_event(t->of->queue, a.kind, a.id, (int64_t)r->start, (int64_t)r->end);
}

/* Of records from *at on, which are sorted: the first in the time of the unit is *from, and those behind are from *at on. Are they
 * of what it asked for? */
static bool match(const struct cuda_trace *t, const struct traced_unit *u, size_t *from, size_t *at)
{
	size_t ncopy = 0;

	while (*at < t->nrecord && (int64_t)t->record[*at].start < u->begin)
		++*at;
	for (*from = *at; *at < t->nrecord && (int64_t)t->record[*at].start < u->end; ++*at)
		ncopy += t->record[*at].kind == CUPTI_COPY;
	return *at - *from == u->n && ncopy == u->ncopy;
}

static void sort_records(struct cuda_trace *t)
{
	if (t->nrecord)
		qsort(t->record, t->nrecord, sizeof *t->record, by_start);
}

/* Records of all units become events, and the trace ends. */
static void finish(struct cuda_trace *t)
{
	size_t from, at = 0, all = t->lost;
	char note[120] = "";

	if (!t->on)
		return;
	sort_records(t);
	for (const struct traced_unit *u = t->unit; u < t->unit + t->nunit; u++) {
		all += u->n;
		if (match(t, u, &from, &at))
			for (size_t k = 0; k < u->n; k++)
				add_event(t, u, k, &t->record[from + k]);
		else
			t->lost += u->n;
	}
	if (t->lost)
		snprintf(note, sizeof note, "%zu of %zu kernels and copies are missing%s%s",
			t->lost, all, failed ? ", as " : "", failed ? failed : "");
	recorder_queue_timed(t->of->queue, "CUPTI", note);
	t->on = false;
}

/* The first units tell whether CUPTI does what is expected of it here; where it does not, those behind have moments. */
static void check(struct cuda_trace *t)
{
	size_t from, at = 0;

	for (const struct cuda_trace *other = traces; other; other = other->next)
		if (other != t && other->on) /* it may be computing: not all has its times */
			return;
	read_records(0);
	sort_records(t);
	for (const struct traced_unit *u = t->unit; u < t->unit + t->nunit && !failed; u++)
		if (!match(t, u, &from, &at))
			failed = "CUPTI's records are not of the kernels and copies that were launched";
	if (failed) {
		disable();
		t->on = false;
	}
}

static void stop(void *trace)
{
	mutex_auto held = mutex_hold(&lock);
	if (enabled) {
		read_records(CUPTI_FORCED);
		disable();
	}
	finish(trace);
}

/* Sets the number of its stream. */
static bool find_stream(struct cuda_trace *t)
{
	void *stream = cuda_stream_handle(t->of->stream);

	t->known = t->known
		|| keep("cuptiGetStreamIdEx", lib.cuptiGetStreamIdEx(NULL, stream, 0, &t->stream));
	return t->known;
}

/* The first unit of a recording. Streams beside it may be in a unit that began before: their records are known, too. */
static void start(struct cuda_trace *t)
{
	struct cuda_state *b = t->of;

	t->nasked = t->nunit = t->nrecord = 0;
	t->open = (struct traced_unit){ 0 };
	t->launches = t->copied = t->lost = 0;
	b->nmark = 0;
	cuda_stream_counts(b->stream);
	t->on = true;
	for (struct cuda_trace *other = traces; other && t->on; other = other->next)
		t->on = other->of->number != b->number || find_stream(other);
	if (!t->on) {
		disable();
		return;
	}
	cuda_graphs_renew(b->stream); /* CUPTI may not know nodes that are older */
}

bool cuda_trace_begin(struct cuda_state *b)
{
	struct cuda_trace *t = b->trace;

	if (!recorder_on() || !recorder_keeps_events() || b->plan->nrank_bit)
		return false;
	mutex_auto held = mutex_hold(&lock);
	if (!t->on && recorder_on() && enable()) /* still on: else `stop` has been called */
		start(t);
	return t->on;
}

const char *cuda_trace_obstacle(const struct cuda_state *b)
{
	uint32_t version;

	mutex_auto held = mutex_hold(&lock);
	return b->plan->nrank_bit ? "states are split" : failed ? failed : load(&version);
}

bool cuda_trace_mark(struct cuda_state *b, enum profile_kind kind, uint32_t id)
{
	struct cuda_trace *t = b->trace;
	struct cuda_counts n;

	if (!t->on)
		return false;
	n = cuda_stream_counts(b->stream);
	mutex_auto held = mutex_hold(&lock);
	if (!t->open.n)
		t->open.begin = n.first;
	for (uint64_t k = 0; k < n.asked && t->nasked < ASKED_MAX; k++) {
		mem_reserve(t->asked, t->nasked, t->asked_room);
		t->asked[t->nasked++] = (struct cuda_mark){ (uint8_t)kind, id };
	}
	t->open.n += n.asked;
	t->open.ncopy += n.copies;
	t->launches += n.launches;
	t->copied += n.copied;
	return true;
}

bool cuda_trace_end(struct cuda_state *b)
{
	struct cuda_trace *t = b->trace;

	mutex_auto held = mutex_hold(&lock);
	if (!t->on)
		return false;
	t->open.end = recorder_clock();
	mem_reserve(t->unit, t->nunit, t->unit_room);
	if (t->open.first + t->open.n == t->nasked)
		t->unit[t->nunit++] = t->open;
	else
		t->lost += t->open.n;
	recorder_queue_count(b->queue, t->launches, t->copied);
	t->open = (struct traced_unit){ .first = t->nasked };
	t->launches = t->copied = 0;
	if (t->nunit <= CHECKED_UNITS)
		check(t);
	return true;
}

struct cuda_trace *cuda_trace_new(struct cuda_state *b)
{
	struct cuda_trace *t = mem_alloc(1, sizeof *t);

	t->of = b;
	pthread_mutex_lock(&lock);
	t->next = traces;
	traces = t;
	if (enabled && !find_stream(t))
		disable();
	pthread_mutex_unlock(&lock);
	recorder_queue_at_stop(b->queue, stop, t);
	return t;
}

void cuda_trace_free(struct cuda_trace *t)
{
	struct cuda_trace **at = &traces;

	if (!t)
		return;
	recorder_queue_at_stop(t->of->queue, NULL, NULL);
	pthread_mutex_lock(&lock);
	if (enabled)
		read_records(0);
	finish(t);
	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	pthread_mutex_unlock(&lock);
	free(t->asked);
	free(t->unit);
	free(t->record);
	free(t);
}
