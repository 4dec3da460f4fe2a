/* SPDX-License-Identifier: Apache-2.0
 * Ranks that an MPI has started. MPI moves messages in wait, and in heartbeat while this process computes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/system/clock.h"
#include "runtime/base/system/cpus.h"
#include "runtime/net/comm/group_liveness.h"
#include "runtime/net/comm/mpi_messages.h"

enum {
	LINE = 64,
	TAG_PAIRS = 16000, /* MPI has at least 32767 tags */
	NAP_US = 20,       /* first; each is twice as long */
	NAP_MAX_US = 1000,
	BEAT_MS = 250,
	FLUSH_MS = 200 /* of an abort */
};
static const char prefix[] = "mpi:";

/* ---- turns ---- */

static void nap(unsigned *us)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000L * *us }, NULL);
	*us = 2 * *us < NAP_MAX_US ? 2 * *us : NAP_MAX_US;
}

/* Polls for a short time where that pays, then naps between two turns: MPI cannot wait for a time. */
static void turn_within(struct mpi *t, unsigned ms)
{
	double now = clock_seconds(), until = now + ms / 1e3;
	bool moved = false;

	while (!moved && spin_on(&t->spin, now)) {
		moved = mpi_turn_all(t, NULL);
		now = clock_seconds();
	}
	for (unsigned us = NAP_US; !moved && now < until; now = clock_seconds()) {
		nap(&us);
		moved = mpi_turn_all(t, NULL);
	}
	spin_over(&t->spin, clock_seconds());
}

/* ---- opening ---- */

static int mpi_offer(struct group_offer *o, char address[GROUP_ADDRESS_MAX], struct err *e)
{
	const struct mpi_module *m;
	struct mpi_launch l;
	char host[128] = "";
	int code = mpi_launched(&l, e);

	(void)o;
	if (!code)
		code = mpi_load(l.library, &m, e);
	if (code)
		return code;
	gethostname(host, sizeof host - 1);
	snprintf(address, GROUP_ADDRESS_MAX, "%s%s:%u:%s", prefix, l.library->name, l.rank, host);
	return 0;
}

/* The host in an address; NULL: it is none of this MPI. */
static const char *read_address(const char *address, const char *library, unsigned *world)
{
	char begin[GROUP_ADDRESS_MAX];
	int n = snprintf(begin, sizeof begin, "%s%s:", prefix, library);
	char *end;

	if (strncmp(address, begin, (size_t)n))
		return NULL;
	*world = (unsigned)strtoul(address + n, &end, 10);
	return *end == ':' && end > address + n ? end + 1 : NULL;
}

static int read_addresses(struct mpi *t, const struct group_opening *g, const struct mpi_library *l,
	struct err *e)
{
	const char *own;
	unsigned near = 0, own_world;

	own = read_address(g->address[t->rank], l->name, &own_world);
	for (unsigned r = 0; r < t->size; r++) {
		const char *host = read_address(g->address[r], l->name, &t->other[r].world);

		if (!host || t->other[r].world >= t->process->size)
			return err_set(e, -ERR_PROTOCOL,
				"\"%.80s\" of rank %u is no address among %u processes of %s",
				g->address[r], r, t->process->size, l->title);
		near += own && !strcmp(host, own);
	}
	if (own_world != t->process->rank)
		return err_set(e, -ERR_PROTOCOL,
			"%s says that this is process %u, and its environment that it is %u",
			l->title, t->process->rank, own_world);
	t->spin.allowed = near <= cpus_threads(NULL);
	return 0;
}

static int get_memory(struct mpi *t, const struct group_opening *g, struct err *e)
{
	size_t nbyte = sizeof(struct chunk) + g->nbyte_chunk;

	t->nbyte_chunk = g->nbyte_chunk;
	t->nbyte_slot = (nbyte + LINE - 1) / LINE * LINE;
	t->nbyte = (size_t)first_note(t) * t->nbyte_slot;
	t->chunk = mmap(NULL, t->nbyte, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (t->chunk == MAP_FAILED) {
		t->chunk = NULL;
		return err_set(e, -ERR_CONFIG, "rank %u has no memory for %zu bytes of chunks",
			t->rank, t->nbyte);
	}
	t->slot = mem_alloc(nslot(t), sizeof *t->slot);
	t->ended = mem_alloc(nslot(t), sizeof *t->ended);
	t->requests = t->process->module->open(nslot(t));
	return t->requests ? 0 : err_set(e, -ERR_CONFIG, "no memory for requests of MPI");
}

static void begin(struct mpi *t, const uint8_t key[GROUP_KEY])
{
	mutex_auto held = mpi_hold(t);
	struct note hello = { .kind = NOTE_HELLO, .rank = t->rank, .nbyte_chunk = t->nbyte_chunk };

	for (unsigned r = 0; r < t->size; r++) {
		if (r == t->rank)
			continue;
		for (unsigned n = 0; n < CHUNKS_IN_FLIGHT; n++)
			mpi_receive_chunk(t, r, n);
		mpi_receive_note(t, r);
		mpi_prove(key, t->rank, r, t->size, hello.proof);
		mpi_send_note(t, r, &hello);
	}
}

/* The first that has not joined; size: all have. */
static unsigned missing(const struct mpi *t)
{
	unsigned r = 0;

	while (r < t->size && (r == t->rank || t->other[r].joined))
		r++;
	return r;
}

static int join(struct mpi *t, const struct group_opening *g, struct err *e)
{
	const uint8_t *key = g->offer->options.key;
	unsigned us = NAP_US;

	begin(t, key);
	while (missing(t) < t->size && !t->failed.code && clock_seconds() < g->until)
		if (!mpi_turn_all(t, key))
			nap(&us);
	if (t->failed.code)
		return err_set(e, t->failed.code, "rank %u %s%s", t->failed.rank,
			t->failed.aborted ? "has given up: " : "", t->failed.text);
	if (missing(t) < t->size)
		return group_opening_late(g, missing(t), 0, e);
	return 0;
}

static void mpi_abort(void *p, unsigned rank, const char *reason);
static void mpi_close(void *p);

static int mpi_open(const struct group_opening *g, void **out, struct err *e)
{
	struct mpi_launch l;
	struct mpi *t = mem_alloc(1, sizeof *t);

	*t = (struct mpi){
		.rank = g->rank, .size = g->size, .silent_s = g->offer->options.deadline_ms / 1e3
	};
	t->other = mem_alloc(g->size, sizeof *t->other);
	int code = mpi_launched(&l, e);
	if (!code)
		code = mpi_process_start(l.library, g->until, &t->process, e);
	if (!code)
		t->tag = (int)(2 * (t->process->ngroup++ % TAG_PAIRS));
	if (!code)
		code = read_addresses(t, g, l.library, e);
	if (!code)
		code = get_memory(t, g, e);
	if (!code)
		code = join(t, g, e);
	if (code && t->process) {
		mpi_abort(t, g->rank, e ? e->text : "it cannot join");
		mpi_close(t);
	} else if (code) {
		free(t->other);
		free(t);
	}
	*out = code ? NULL : t;
	return code;
}

/* ---- chunks ---- */

static struct chunk *mpi_reserve(void *p, unsigned rank)
{
	struct mpi *t = p;
	unsigned slot = out_slot(rank, t->other[rank].nsent);

	mutex_auto held = mpi_hold(t);
	return t->slot[slot].busy ? NULL : chunk_of(t, slot);
}

static void mpi_send(void *p, unsigned rank)
{
	struct mpi *t = p;
	unsigned slot = out_slot(rank, t->other[rank].nsent);
	const struct chunk *c = chunk_of(t, slot);

	mutex_auto held = mpi_hold(t);
	mpi_begin_send(t, slot, rank, t->tag, c, sizeof *c + c->nbyte);
	t->other[rank].nsent++;
}

/* MPI has taken them all, or the rank has left with them. */
static bool mpi_flushed(void *p, unsigned rank)
{
	struct mpi *t = p;
	const struct other *o = &t->other[rank];

	mutex_auto held = mpi_hold(t);
	if (o->left && o->left_ntaken == o->nsent)
		return true;
	for (unsigned n = 0; n < CHUNKS_IN_FLIGHT; n++)
		if (t->slot[out_slot(rank, n)].busy)
			return false;
	return true;
}

static const struct chunk *mpi_next(void *p, unsigned rank)
{
	struct mpi *t = p;
	unsigned slot = in_slot(t, rank, t->other[rank].ntaken);
	const struct chunk *c = chunk_of(t, slot);

	mutex_auto held = mpi_hold(t);
	bool has = t->slot[slot].ended && !t->other[rank].damaged;
	if (has && (t->slot[slot].nbyte < sizeof *c || t->slot[slot].nbyte - sizeof *c != c->nbyte))
		has = !(t->other[rank].damaged = true);
	return has ? c : NULL;
}

static void mpi_release(void *p, unsigned rank)
{
	struct mpi *t = p;
	mutex_auto held = mpi_hold(t);

	mpi_receive_chunk(t, rank, t->other[rank].ntaken);
	t->other[rank].ntaken++;
}

/* ---- waiting ---- */

static bool find_fault(const struct mpi *t, const bool *needed, struct group_fault *fault)
{
	if (t->failed.code) {
		*fault = t->failed;
		return true;
	}
	for (unsigned r = 0; r < t->size; r++) {
		const struct other *o = &t->other[r];

		if (!needed[r] || !(o->damaged || (o->left && o->ntaken == o->left_nsent)))
			continue;
		*fault = (struct group_fault){ .code = o->damaged ? -ERR_IO : -ERR_UNREACHABLE,
			.rank = r };
		snprintf(fault->text, sizeof fault->text, "has ended or left");
		return true;
	}
	return false;
}

/* Whether there is no more to wait for. */
static bool look(struct mpi *t, const bool *needed, unsigned ms, struct group_fault *fault)
{
	mutex_auto held = mpi_hold(t);
	bool moved = mpi_turn(t, 0, NULL) || t->changed;

	t->changed = false;
	return moved || !ms || find_fault(t, needed, fault);
}

static void mpi_wait(void *p, const bool *needed, unsigned ms, struct group_fault *fault)
{
	struct mpi *t = p;

	if (!look(t, needed, ms, fault))
		turn_within(t, ms);
	mutex_auto held = mpi_hold(t);
	if (t->failed.code)
		*fault = t->failed;
}

/* ---- liveness and aborts ---- */

static void mpi_heartbeat(void *p)
{
	struct mpi *t = p;
	struct note heartbeat = { .kind = NOTE_HEARTBEAT, .rank = t->rank };

	mutex_auto held = mpi_hold(t);
	for (unsigned r = 0; r < t->size; r++)
		if (r != t->rank)
			mpi_send_note(t, r, &heartbeat);
	t->changed |= mpi_turn(t, first_note(t), NULL);
}

static uint32_t mpi_heartbeats(void *p, unsigned rank)
{
	return atomic_load(&((struct mpi *)p)->other[rank].heartbeats);
}

static bool any_busy(const struct mpi *t, unsigned from, unsigned to)
{
	for (unsigned slot = from; slot < to; slot++)
		if (t->slot[slot].busy)
			return true;
	return false;
}

static void turn_until_idle(struct mpi *t, unsigned from, unsigned to, double until)
{
	unsigned us = NAP_US;

	while (any_busy(t, from, to) && clock_seconds() < until)
		if (!mpi_turn_all(t, NULL))
			nap(&us);
}

static void mpi_abort(void *p, unsigned rank, const char *reason)
{
	struct mpi *t = p;
	struct note n = { .kind = NOTE_ABORT, .rank = rank };

	if (t->aborted)
		return;
	t->aborted = true;
	snprintf(n.text, sizeof n.text, "%s", reason);
	if (!t->requests)
		return;
	mutex_auto held = mpi_hold(t);
	for (unsigned r = 0; r < t->size; r++)
		if (r != t->rank)
			mpi_send_note(t, r, &n);
	mpi_turn(t, first_note(t), NULL);
}

/* ---- closing ---- */

/* Ranks for which that is so. */
typedef bool (*mpi_rank_fn)(struct mpi *t, unsigned rank);

static bool has_taken(struct mpi *t, unsigned rank)
{
	return t->other[rank].left || mpi_flushed(t, rank);
}
static bool has_left(struct mpi *t, unsigned rank) { return t->other[rank].left; }

/* Until it is so for all others; false: one was silent for the deadline, or the group has failed. No other rank sends heartbeats any more. */
static bool await(struct mpi *t, mpi_rank_fn is)
{
	struct group_liveness others = { .transport = &transport_mpi, .t = t, .size = t->size };
	double now = clock_seconds(), beaten = now;
	unsigned us = NAP_US, waits = t->size;

	for (; waits && !t->failed.code; now = clock_seconds()) {
		waits = 0;
		group_liveness_look(&others, now);
		for (unsigned r = 0; r < t->size; r++) {
			if (r == t->rank || is(t, r))
				continue;
			waits++;
			if (now - others.seen[r] > t->silent_s)
				return false;
		}
		if (now - beaten > BEAT_MS / 1e3) {
			mpi_heartbeat(t);
			beaten = now;
		}
		if (waits && !mpi_turn_all(t, NULL))
			nap(&us);
	}
	return !t->failed.code;
}

static void say_leave(struct mpi *t)
{
	mutex_auto held = mpi_hold(t);

	for (unsigned r = 0; r < t->size; r++)
		if (r != t->rank)
			mpi_send_note(t, r,
				&(struct note){ .kind = NOTE_LEAVE,
					.rank = t->rank,
					.nsent = t->other[r].nsent,
					.ntaken = t->other[r].ntaken });
}

/* The others have what was handed over, and have left, too: MPI ends with no message on its way. */
static bool leave(struct mpi *t)
{
	if (!await(t, has_taken))
		return false;
	say_leave(t);
	return await(t, has_left);
}

/* Of chunks that nobody sends. */
static void cancel_receives(struct mpi *t)
{
	mutex_auto held = mpi_hold(t);

	for (unsigned slot = in_slot(t, 0, 0); slot < first_note(t); slot++)
		if (t->slot[slot].busy)
			t->process->module->cancel(t->requests, slot);
}

static void release(struct mpi *t)
{
	if (t->requests)
		t->process->module->close(t->requests);
	if (t->chunk)
		munmap(t->chunk, t->nbyte);
	free(t->slot);
	free(t->ended);
	free(t->other);
	free(t);
}

static void mpi_close(void *p)
{
	static struct mpi *kept; /* what MPI may still write to */
	struct mpi *t = p;
	bool well = !t->aborted && leave(t);

	if (well)
		cancel_receives(t);
	else
		mpi_process_fail(!t->rank);
	if (t->requests)
		turn_until_idle(t, well ? 0 : first_note(t), well ? nslot(t) : first_note_in(t),
			clock_seconds() + FLUSH_MS / 1e3);
	if (!t->requests || !any_busy(t, 0, nslot(t)))
		release(t);
	else
		kept = t;
	(void)kept;
}

const struct group_transport transport_mpi = {
	.name = "mpi",
	.nbyte_chunk = 256 << 10,
	.offer = mpi_offer,
	.open = mpi_open,
	.close = mpi_close,
	.reserve = mpi_reserve,
	.send = mpi_send,
	.flushed = mpi_flushed,
	.next = mpi_next,
	.release = mpi_release,
	.wait = mpi_wait,
	.heartbeat = mpi_heartbeat,
	.heartbeats = mpi_heartbeats,
	.abort = mpi_abort,
};
