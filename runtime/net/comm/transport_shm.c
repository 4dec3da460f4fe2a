/* SPDX-License-Identifier: Apache-2.0
 * Ranks of one host: a ring of chunks in shared memory for each pair and direction, and a bell for each rank, which is
 * rung when something changed for it and on which it sleeps. */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/system/clock.h"
#include "runtime/base/system/cpus.h"
#include "runtime/net/comm/shm_group.h"
#include "runtime/net/protocol/protocol.h"

enum {
	LINE = 64,
	PAGE = 4096,
	LOOK_MS = 20
}; /* LOOK_MS: between two searches for ranks that have ended */

typedef _Atomic uint32_t word;
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "atomic words work between processes");

/* Positions count chunks since the beginning, modulo 2^32. */
struct ring {
	_Alignas(LINE) word written; /* by the sender */
	_Alignas(LINE) word taken;   /* by the receiver */
};
struct bell {
	_Alignas(LINE) word rung; /* grows */
	word sleeps;
};

/* The first bytes of the memory; rings and chunks follow. */
struct shared {
	_Alignas(LINE) word aborted; /* ABORT_ */
	uint32_t abort_rank;
	char reason[GROUP_REASON_MAX];
	struct bell bell[GROUP_RANKS_MAX];
	word heartbeats[GROUP_RANKS_MAX];
};
enum { ABORT_NONE = 0, ABORT_BEING_WRITTEN, ABORT_WRITTEN };

struct shm {
	unsigned rank, size;
	struct shm_group group;
	struct shared *shared; /* nbyte bytes */
	struct ring *ring;     /* [from * size + to] */
	uint8_t *chunk;        /* [(from * size + to) * CHUNKS_IN_FLIGHT + n], each of nbyte_slot */
	size_t nbyte, nbyte_slot, nbyte_chunk;
	uint32_t heard; /* own bell at the end of the last wait */
	struct spin spin;
};

/* ---- layout ---- */

static size_t up(size_t n, size_t to) { return (n + to - 1) / to * to; }

static size_t rings_at(void) { return up(sizeof(struct shared), PAGE); }

static size_t chunks_at(unsigned size)
{
	return up(rings_at() + (size_t)size * size * sizeof(struct ring), PAGE);
}

static size_t pair_of(const struct shm *s, unsigned from, unsigned to)
{
	return (size_t)from * s->size + to;
}

static struct chunk *chunk_of(const struct shm *s, size_t pair, uint32_t n)
{
	return (struct chunk *)(void *)(s->chunk
		+ (pair * CHUNKS_IN_FLIGHT + n % CHUNKS_IN_FLIGHT) * s->nbyte_slot);
}

static void shm_close(void *t)
{
	struct shm *s = t;

	if (s->shared)
		munmap(s->shared, s->nbyte);
	shm_group_close(&s->group, s->size);
	free(s);
}

static int shm_open_group(const struct group_opening *g, void **out, struct err *e)
{
	struct shm *s = mem_alloc(1, sizeof *s);

	*s = (struct shm){ .rank = g->rank, .size = g->size, .nbyte_chunk = g->nbyte_chunk };
	s->nbyte_slot = up(sizeof(struct chunk) + g->nbyte_chunk, PAGE);
	s->nbyte = chunks_at(g->size) + (size_t)g->size * g->size * CHUNKS_IN_FLIGHT * s->nbyte_slot;
	s->spin.allowed = g->size <= cpus_threads(NULL);
	int code = shm_meet(g, s->nbyte, &s->group, e);
	if (code) {
		free(s);
		return code;
	}
	s->shared = mmap(NULL, s->nbyte, PROT_READ | PROT_WRITE, MAP_SHARED, s->group.memory, 0);
	if (s->shared == MAP_FAILED) {
		s->shared = NULL;
		code = err_set(e, -ERR_CONFIG, "rank %u cannot map %zu bytes of shared memory: %s",
			g->rank, s->nbyte, strerror(errno));
		shm_close(s);
		return code;
	}
	s->ring = (struct ring *)(void *)((char *)s->shared + rings_at());
	s->chunk = (uint8_t *)s->shared + chunks_at(g->size);
	*out = s;
	return 0;
}

/* ---- bells ---- */

static void ring_bell(struct shm *s, unsigned rank)
{
	struct bell *b = &s->shared->bell[rank];

	atomic_fetch_add(&b->rung, 1);
	if (atomic_load(&b->sleeps))
		syscall(SYS_futex, &b->rung, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Until the own bell rings, LOOK_MS at most. */
static void sleep_on_bell(struct shm *s, unsigned ms)
{
	struct bell *b = &s->shared->bell[s->rank];
	struct timespec limit = { .tv_nsec = 1000000L * (ms < LOOK_MS ? ms : LOOK_MS) };

	atomic_store(&b->sleeps, 1);
	if (atomic_load(&b->rung) == s->heard)
		syscall(SYS_futex, &b->rung, FUTEX_WAIT, s->heard, &limit, NULL, 0);
	atomic_store(&b->sleeps, 0);
}

static bool has_rung(struct shm *s)
{
	uint32_t rung = atomic_load(&s->shared->bell[s->rank].rung);
	bool changed = rung != s->heard;

	s->heard = rung;
	return changed;
}

/* ---- chunks ---- */

static struct chunk *shm_reserve(void *t, unsigned rank)
{
	struct shm *s = t;
	size_t pair = pair_of(s, s->rank, rank);
	uint32_t written = atomic_load_explicit(&s->ring[pair].written, memory_order_relaxed);
	uint32_t taken = atomic_load_explicit(&s->ring[pair].taken, memory_order_acquire);

	return written - taken < CHUNKS_IN_FLIGHT ? chunk_of(s, pair, written) : NULL;
}

static void shm_send(void *t, unsigned rank)
{
	struct shm *s = t;

	atomic_fetch_add_explicit(&s->ring[pair_of(s, s->rank, rank)].written, 1,
		memory_order_release);
	ring_bell(s, rank);
}

static bool shm_flushed(void *t, unsigned rank)
{
	(void)t, (void)rank;
	return true;
}

static const struct chunk *shm_next(void *t, unsigned rank)
{
	struct shm *s = t;
	size_t pair = pair_of(s, rank, s->rank);
	uint32_t taken = atomic_load_explicit(&s->ring[pair].taken, memory_order_relaxed);
	const struct chunk *c = chunk_of(s, pair, taken);

	return atomic_load_explicit(&s->ring[pair].written, memory_order_acquire) != taken ? c : NULL;
}

static void shm_release(void *t, unsigned rank)
{
	struct shm *s = t;

	atomic_fetch_add_explicit(&s->ring[pair_of(s, rank, s->rank)].taken, 1, memory_order_release);
	ring_bell(s, rank);
}

/* ---- faults ---- */

static bool find_abort(const struct shm *s, struct group_fault *fault)
{
	if (atomic_load(&s->shared->aborted) != ABORT_WRITTEN)
		return false;
	*fault = (struct group_fault){
		.code = -ERR_UNREACHABLE, .rank = s->shared->abort_rank, .aborted = true
	};
	memcpy(fault->text, s->shared->reason, sizeof fault->text);
	fault->text[sizeof fault->text - 1] = 0;
	return true;
}

/* A rank that has ended sent nothing after that: it is a fault unless the bell has rung. */
static void find_ended(struct shm *s, const bool *needed, struct group_fault *fault)
{
	struct pollfd f[GROUP_RANKS_MAX];

	for (unsigned r = 0; r < s->size; r++)
		f[r] = (struct pollfd){ .fd = needed[r] ? s->group.alive[r] : -1 };
	if (poll(f, s->size, 0) <= 0 || has_rung(s) || find_abort(s, fault))
		return;
	for (unsigned r = 0; r < s->size; r++)
		if (f[r].revents) {
			*fault = (struct group_fault){ .code = -ERR_UNREACHABLE, .rank = r };
			snprintf(fault->text, sizeof fault->text, "has ended or left");
			return;
		}
}

static void shm_wait(void *t, const bool *needed, unsigned ms, struct group_fault *fault)
{
	struct shm *s = t;
	bool rung = has_rung(s);

	if (find_abort(s, fault) || rung || !ms)
		return;
	double now = clock_seconds();
	while (spin_on(&s->spin, now) && !(rung = has_rung(s)))
		now = clock_seconds();
	if (!rung) {
		sleep_on_bell(s, ms);
		rung = has_rung(s);
		now = clock_seconds();
	}
	spin_over(&s->spin, now);
	if (!find_abort(s, fault) && !rung)
		find_ended(s, needed, fault);
}

static void shm_heartbeat(void *t)
{
	struct shm *s = t;

	atomic_fetch_add(&s->shared->heartbeats[s->rank], 1);
}

static uint32_t shm_heartbeats(void *t, unsigned rank)
{
	return atomic_load(&((struct shm *)t)->shared->heartbeats[rank]);
}

/* The first reason stays. */
static void shm_abort(void *t, unsigned rank, const char *reason)
{
	struct shm *s = t;
	uint32_t none = ABORT_NONE;

	if (!atomic_compare_exchange_strong(&s->shared->aborted, &none, ABORT_BEING_WRITTEN))
		return;
	s->shared->abort_rank = rank;
	snprintf(s->shared->reason, sizeof s->shared->reason, "%s", reason);
	atomic_store(&s->shared->aborted, ABORT_WRITTEN);
	for (unsigned r = 0; r < s->size; r++)
		if (r != s->rank)
			ring_bell(s, r);
}

const struct group_transport transport_shm = {
	.name = "shm",
	.nbyte_chunk = 256 << 10,
	.offer = shm_offer,
	.open = shm_open_group,
	.close = shm_close,
	.reserve = shm_reserve,
	.send = shm_send,
	.flushed = shm_flushed,
	.next = shm_next,
	.release = shm_release,
	.wait = shm_wait,
	.heartbeat = shm_heartbeat,
	.heartbeats = shm_heartbeats,
	.abort = shm_abort,
};
