/* SPDX-License-Identifier: Apache-2.0
 * Ranks of one host: each has memory that the others map, with a ring of chunks from each of them.
 *
 * The memory has no name. Others find it as a file of the process in /proc, where only the same user and root may open it, and it
 * goes when the last process that maps it ends, however that is. A rank waits on one word of its own memory, which everybody who
 * has done something for it changes. */
#include "config.h"
#include "runtime/net/comm/transport.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/arena.h"

enum {
	SLOTS = 3, /* chunks on the way from one rank to another */
	CHUNK_MAX = 1 << 20,
	RANK_BYTES_MAX = 48 << 20, /* of all rings of a rank: more ranks have smaller chunks */
	RING_ALIGN = 4096,
	REASON_MAX = 200
};
static const char MAGIC[8] = "qcnnshm1";

/* Chunks from one rank: written and read so far. */
struct ring {
	_Atomic uint32_t written, read;
	uint32_t length[SLOTS];
};

/* The beginning of a rank's memory; the chunks of ring r, slot s are behind it. */
struct memory {
	char magic[8];
	uint8_t key[32];
	_Atomic uint32_t event;   /* changed by whoever did something for this rank */
	_Atomic uint32_t present; /* ranks that have mapped it */
	_Atomic uint32_t aborted;
	_Atomic uint32_t ticks; /* changes while the rank's process runs */
	uint32_t rank, size;
	_Atomic uint32_t ready; /* rank, size are set */
	char reason[REASON_MAX];
	struct ring ring[GROUP_RANKS_MAX];
};

struct transport_state {
	uint8_t key[32];
	int fd;
	unsigned rank, size;
	struct memory *mine;
	struct memory *of[GROUP_RANKS_MAX];
	int process[GROUP_RANKS_MAX]; /* pidfd; -1: none */
	char why[GROUP_RANKS_MAX][REASON_MAX + 40];
	uint32_t seen; /* of mine->event at the last look */
	bool connected;
};

static size_t chunk_bytes(unsigned size)
{
	size_t most = RANK_BYTES_MAX / SLOTS / (size ? size : 1) / RING_ALIGN * RING_ALIGN;

	return most < CHUNK_MAX ? most : CHUNK_MAX;
}

static size_t head_bytes(void)
{
	return (sizeof(struct memory) + RING_ALIGN - 1) / RING_ALIGN * RING_ALIGN;
}
static size_t all_bytes(void) { return head_bytes() + RANK_BYTES_MAX; }

static char *slot(struct memory *m, unsigned from, uint32_t number)
{
	return (char *)m + head_bytes()
		+ (from * (size_t)SLOTS + number % SLOTS) * chunk_bytes(m->size);
}

static void wake(struct memory *m)
{
	atomic_fetch_add(&m->event, 1);
	syscall(SYS_futex, &m->event, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void shm_free(struct transport_state *t)
{
	if (t->connected && !atomic_load(&t->mine->aborted)) {
		atomic_store(&t->mine->aborted, 2);
		for (unsigned r = 0; r < t->size; r++)
			if (r != t->rank && t->of[r])
				wake(t->of[r]);
	}
	for (unsigned r = 0; r < GROUP_RANKS_MAX; r++) {
		if (t->of[r] && t->of[r] != t->mine)
			munmap(t->of[r], all_bytes());
		if (t->process[r] >= 0)
			close(t->process[r]);
	}
	if (t->mine)
		munmap(t->mine, all_bytes());
	if (t->fd >= 0)
		close(t->fd);
	explicit_bzero(t->key, sizeof t->key);
	free(t);
}

static int shm_offer(const struct group_options *o, struct transport_state **out,
	char address[GROUP_ADDRESS_MAX], struct err *e)
{
	struct transport_state *t = mem_alloc(1, sizeof *t);
	int code = 0;

	memcpy(t->key, o->key, sizeof t->key);
	for (unsigned r = 0; r < GROUP_RANKS_MAX; r++)
		t->process[r] = -1;
	t->fd = memfd_create("qcnn-ranks", MFD_CLOEXEC);
	if (t->fd < 0 || fchmod(t->fd, 0600) || ftruncate(t->fd, (off_t)all_bytes()))
		code = err_set(e, -ERR_CONFIG, "cannot make memory that ranks share: %s",
			strerror(errno));
	if (!code) {
		void *m = mmap(NULL, all_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, t->fd, 0);

		if (m == MAP_FAILED)
			code = err_set(e, -ERR_CONFIG, "cannot map memory that ranks share: %s",
				strerror(errno));
		else
			t->mine = m;
	}
	if (code) {
		shm_free(t);
		return code;
	}
	madvise(t->mine, all_bytes(), MADV_DONTDUMP);
	memcpy(t->mine->magic, MAGIC, sizeof MAGIC);
	memcpy(t->mine->key, o->key, sizeof t->mine->key);
	snprintf(address, GROUP_ADDRESS_MAX, "%ld/%d", (long)getpid(), t->fd);
	*out = t;
	return 0;
}

/* ---- connecting ---- */

static int map_rank(struct transport_state *t, unsigned r, const char *address, struct err *e)
{
	char path[64];
	struct stat st;
	struct memory *m;
	long pid;
	int number, fd;

	if (sscanf(address, "%ld/%d", &pid, &number) != 2 || pid <= 0 || number < 0)
		return err_set(e, -ERR_PROTOCOL, "`%.60s` is no address of memory that ranks share",
			address);
	snprintf(path, sizeof path, "/proc/%ld/fd/%d", pid, number);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, -ERR_UNREACHABLE,
			"rank %u cannot be reached by shared memory (%s: %s): is it on this host, "
			"and of the same user?",
			r, path, strerror(errno));
	m = fstat(fd, &st) || st.st_size != (off_t)all_bytes()
		? MAP_FAILED
		: mmap(NULL, all_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (m == MAP_FAILED)
		return err_set(e, -ERR_UNREACHABLE,
			"rank %u: %s is not the memory of a rank of this version", r, path);
	t->of[r] = m;
	if (memcmp(m->magic, MAGIC, sizeof MAGIC))
		return err_set(e, -ERR_PROTOCOL,
			"rank %u: %s is not the memory of a rank of this version", r, path);
	if (memcmp(m->key, t->key, sizeof t->key))
		return err_set(e, -ERR_AUTH, "rank %u is of another group", r);
	t->process[r] = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	atomic_fetch_add(&m->present, 1);
	wake(m);
	return 0;
}

static int shm_connect(struct transport_state *t, unsigned rank, unsigned size,
	const char *const *address, struct err *e)
{
	if (!t->connected) {
		t->rank = t->mine->rank = rank;
		t->size = t->mine->size = size;
		t->of[rank] = t->mine;
		t->connected = true;
		atomic_store(&t->mine->ready, 1);
	}
	for (unsigned r = 0; r < size; r++) {
		int code = t->of[r] ? 0 : map_rank(t, r, address[r], e);

		if (code)
			return code;
	}
	for (unsigned r = 0; r < size; r++) {
		if (!atomic_load(&t->of[r]->ready))
			return 0;
		if (t->of[r]->size != size || t->of[r]->rank != r)
			return err_set(e, -ERR_PROTOCOL,
				"rank %u of %u ranks takes itself for rank %u of %u", r, size,
				t->of[r]->rank, t->of[r]->size);
	}
	if (atomic_load(&t->mine->present) < size - 1)
		return 0;
	close(t->fd); /* nobody else gets in */
	t->fd = -1;
	return 1;
}

/* ---- chunks ---- */

static size_t shm_chunk_max(const struct transport_state *t) { return chunk_bytes(t->size); }

static void shm_look(struct transport_state *t) { t->seen = atomic_load(&t->mine->event); }

static void *shm_room(struct transport_state *t, unsigned peer)
{
	struct ring *r = &t->of[peer]->ring[t->rank];
	uint32_t written = atomic_load_explicit(&r->written, memory_order_relaxed);

	return written - atomic_load(&r->read) < SLOTS ? slot(t->of[peer], t->rank, written) : NULL;
}

static void shm_send(struct transport_state *t, unsigned peer, size_t n)
{
	struct ring *r = &t->of[peer]->ring[t->rank];
	uint32_t written = atomic_load_explicit(&r->written, memory_order_relaxed);

	r->length[written % SLOTS] = (uint32_t)n;
	atomic_store(&r->written, written + 1);
	wake(t->of[peer]);
}

static void *shm_chunk(struct transport_state *t, unsigned peer, size_t *n)
{
	struct ring *r = &t->mine->ring[peer];
	uint32_t read = atomic_load_explicit(&r->read, memory_order_relaxed);

	if (atomic_load(&r->written) == read)
		return NULL;
	*n = r->length[read % SLOTS];
	if (*n > chunk_bytes(t->size))
		*n = 0; /* which group.c refuses */
	return slot(t->mine, peer, read);
}

static void shm_done(struct transport_state *t, unsigned peer)
{
	struct ring *r = &t->mine->ring[peer];

	atomic_fetch_add(&r->read, 1);
	wake(t->of[peer]);
}

static void shm_wait(struct transport_state *t, unsigned timeout_ms)
{
	struct timespec ts = { timeout_ms / 1000, timeout_ms % 1000 * 1000000L };

	syscall(SYS_futex, &t->mine->event, FUTEX_WAIT, t->seen, &ts, NULL, 0);
}

static const char *shm_dead(struct transport_state *t, unsigned peer)
{
	struct memory *m = t->of[peer];
	struct pollfd p = { .fd = t->process[peer], .events = POLLIN };
	uint32_t aborted = atomic_load(&m->aborted);

	if (aborted == 2)
		return "has closed the group";
	if (aborted) {
		snprintf(t->why[peer], sizeof t->why[peer], "has given up: %.*s", REASON_MAX - 1,
			m->reason);
		return t->why[peer];
	}
	return p.fd >= 0 && poll(&p, 1, 0) > 0 ? "has ended" : NULL;
}

static void shm_tick(struct transport_state *t) { atomic_fetch_add(&t->mine->ticks, 1); }
static uint32_t shm_ticks(struct transport_state *t, unsigned peer)
{
	return atomic_load(&t->of[peer]->ticks);
}

static void shm_abort(struct transport_state *t, const char *reason)
{
	uint32_t none = 0;

	snprintf(t->mine->reason, sizeof t->mine->reason, "%s", reason);
	atomic_compare_exchange_strong(&t->mine->aborted, &none, 1);
	for (unsigned r = 0; r < t->size; r++)
		if (r != t->rank && t->of[r])
			wake(t->of[r]);
}

const struct transport transport_shm = {
	.name = "shm",
	.offer = shm_offer,
	.connect = shm_connect,
	.chunk_max = shm_chunk_max,
	.look = shm_look,
	.room = shm_room,
	.send = shm_send,
	.chunk = shm_chunk,
	.done = shm_done,
	.wait = shm_wait,
	.dead = shm_dead,
	.tick = shm_tick,
	.ticks = shm_ticks,
	.abort = shm_abort,
	.free = shm_free,
};
