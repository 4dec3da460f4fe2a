/* SPDX-License-Identifier: Apache-2.0
 * The rendezvous of the ranks of one host, on sockets of the abstract namespace, which vanish with their process. */
#include "runtime/net/comm/shm_group.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/crypto/crypto.h"
#include "runtime/base/crypto/crypto_session.h"
#include "runtime/base/system/clock.h"

enum { MAGIC = 0x71636d31, PENDING_MAX = 16, PENDING_MS = 2000, NAME = 16, LABEL = 16 };
static const double HOST_LATER_S = 2; /* rank 0 began later, and names the missing rank */
static const char prefix[] = "shm:";

/* From a rank to rank 0, with the pipe that breaks when it ends. */
struct joining {
	uint32_t magic, rank, size, unused;
	uint64_t nbyte_chunk;
	uint8_t proof[CRYPTO_MAC];
};

/* Back, when all have come: with the memory and all pipes; or a text, without. */
struct joined {
	uint32_t magic, failed;
	uint8_t proof[CRYPTO_MAC];
	char text[GROUP_REASON_MAX];
};

/* ---- messages with descriptors ---- */

static bool send_with(int fd, const void *p, size_t len, const int *pass, unsigned npass)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE((GROUP_RANKS_MAX + 1) * sizeof(int))] = { 0 };
	struct iovec io = { .iov_base = (void *)(uintptr_t)p, .iov_len = len };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1 };

	if (npass) {
		struct cmsghdr *c = (struct cmsghdr *)(void *)control;

		m.msg_control = control;
		m.msg_controllen = CMSG_SPACE(npass * sizeof *pass);
		*c = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
			.cmsg_len = CMSG_LEN(npass * sizeof *pass) };
		memcpy(CMSG_DATA(c), pass, npass * sizeof *pass);
	}
	return sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)len;
}

static void close_all(int *fd, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		fd_close(fd[i]);
}

/* One message of exactly len bytes and its descriptors, at most npass; how many there were, or -1. */
static int receive_with(int fd, void *p, size_t len, int *pass, unsigned npass)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE((GROUP_RANKS_MAX + 1) * sizeof(int))];
	struct iovec io = { .iov_base = p, .iov_len = len };
	struct msghdr m = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control
	};
	int got[GROUP_RANKS_MAX + 1];
	unsigned n = 0;
	ssize_t nbyte = recvmsg(fd, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

	if (nbyte < 0)
		return -1;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && !n) {
			n = (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof *got);
			memcpy(got, CMSG_DATA(c), n * sizeof *got);
		}
	if (nbyte != (ssize_t)len || (m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) || n > npass) {
		close_all(got, n);
		errno = m.msg_flags & MSG_CTRUNC ? EMFILE : EBADMSG;
		return -1;
	}
	memcpy(pass, got, n * sizeof *got);
	return (int)n;
}

static void prove(const struct group_offer *o, const uint8_t name[NAME], const char *label,
	const struct joining *j, uint8_t out[CRYPTO_MAC])
{
	uint8_t said[LABEL + NAME + offsetof(struct joining, proof)] = { 0 };

	memcpy(said, label, strlen(label));
	memcpy(said + LABEL, name, NAME);
	memcpy(said + LABEL + NAME, j, offsetof(struct joining, proof));
	crypto_mac(o->options.key, said, sizeof said, out);
}

/* ---- offers ---- */

static struct sockaddr_un address_of(const uint8_t name[NAME], socklen_t *len)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	hex_text(name, NAME, a.sun_path + 1);
	*len = offsetof(struct sockaddr_un, sun_path) + 1 + 2 * NAME;
	return a;
}

static bool name_of(const char *address, uint8_t name[NAME])
{
	const char *at = address + strlen(prefix);

	return !strncmp(address, prefix, strlen(prefix)) && hex_bytes(at, strlen(at), name, NAME);
}

int shm_offer(struct group_offer *o, char address[GROUP_ADDRESS_MAX], struct err *e)
{
	socklen_t len;

	crypto_random(o->name, sizeof o->name);
	struct sockaddr_un a = address_of(o->name, &len);
	o->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (o->listener < 0 || bind(o->listener, (struct sockaddr *)&a, len)
		|| listen(o->listener, GROUP_RANKS_MAX))
		return err_set(e, -ERR_CONFIG, "cannot make a socket for shared memory: %s",
			strerror(errno));
	snprintf(address, GROUP_ADDRESS_MAX, "%s%s", prefix, a.sun_path + 1);
	return 0;
}

/* Abstract sockets have no mode, so the user at the other end is asked for. */
static bool is_own_user(int fd)
{
	struct ucred who;
	socklen_t len = sizeof who;

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) && who.uid == geteuid();
}

/* ---- rank 0 ---- */

struct host {
	const struct group_opening *g;
	struct {
		int fd;
		double until;
	} pending[PENDING_MAX];
	unsigned npending, nrefused, njoined;
	int member[GROUP_RANKS_MAX]; /* sockets, by rank; -1: not yet */
	int alive[GROUP_RANKS_MAX];
	struct joining said[GROUP_RANKS_MAX];
	struct err unlike; /* the first with other options: all learn of it when all have come */
};

static void drop_pending(struct host *h, unsigned i)
{
	close(h->pending[i].fd);
	h->pending[i] = h->pending[--h->npending];
}

static void take_connection(struct host *h)
{
	int fd = accept4(h->g->offer->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	if (!is_own_user(fd)) {
		h->nrefused++;
		close(fd);
		return;
	}
	if (h->npending == PENDING_MAX)
		drop_pending(h, 0);
	h->pending[h->npending].fd = fd;
	h->pending[h->npending++].until = clock_seconds() + PENDING_MS / 1000.0;
}

static void compare(struct host *h, const struct joining *j)
{
	const struct group_opening *g = h->g;

	if (j->size != g->size || j->nbyte_chunk != g->nbyte_chunk)
		err_set(&h->unlike, -ERR_PROTOCOL,
			"rank %u joins with other options than rank 0: %u ranks and chunks of %llu bytes, not %u and %zu",
			j->rank, j->size, (unsigned long long)j->nbyte_chunk, g->size,
			g->nbyte_chunk);
}

/* Whatever else is wrong ends the connection alone. */
static void take_joining(struct host *h, unsigned i)
{
	struct joining j;
	uint8_t right[CRYPTO_MAC];
	int alive, fd = h->pending[i].fd, n = receive_with(fd, &j, sizeof j, &alive, 1);

	if (n == 1) {
		prove(h->g->offer, h->g->offer->name, "qcnn shm join", &j, right);
		if (j.magic == MAGIC && crypto_equal(right, j.proof, sizeof right) && j.rank
			&& j.rank < h->g->size && h->member[j.rank] < 0) {
			h->pending[i] = h->pending[--h->npending];
			h->member[j.rank] = fd;
			h->alive[j.rank] = alive;
			h->said[j.rank] = j;
			h->njoined++;
			compare(h, &j);
			return;
		}
		close(alive);
	}
	h->nrefused++;
	drop_pending(h, i);
}

static int host_late(const struct host *h, struct err *e)
{
	unsigned r = 1;

	while (h->member[r] >= 0)
		r++;
	return group_opening_late(h->g, r, h->nrefused, e);
}

/* One turn of waiting for others. */
static int host_turn(struct host *h, struct err *e)
{
	struct pollfd f[1 + PENDING_MAX + GROUP_RANKS_MAX];
	unsigned npending = h->npending, n = 0;

	f[n++] = (struct pollfd){ .fd = h->g->offer->listener, .events = POLLIN };
	for (unsigned i = 0; i < npending; i++)
		f[n++] = (struct pollfd){ .fd = h->pending[i].fd, .events = POLLIN };
	for (unsigned r = 0; r < h->g->size; r++)
		f[n++] = (struct pollfd){ .fd = h->member[r], .events = POLLIN };
	poll(f, n, group_opening_ms(h->g, clock_seconds()));
	int code = group_opening_watch(h->g, e);
	if (code)
		return code;
	for (unsigned r = 0; r < h->g->size; r++)
		if (h->member[r] >= 0 && f[1 + npending + r].revents)
			return err_set(e, -ERR_UNREACHABLE,
				"rank %u has ended before all had joined", r);
	double now = clock_seconds();
	for (unsigned i = npending; i-- > 0;) {
		if (f[1 + i].revents)
			take_joining(h, i);
		else if (now > h->pending[i].until)
			drop_pending(h, i);
	}
	if (f[0].revents)
		take_connection(h);
	return now >= h->g->until && h->njoined + 1 < h->g->size ? host_late(h, e) : 0;
}

/* Memory that cannot be made shorter: touching it never fails for that reason. */
static int make_memory(size_t nbyte, int *out, struct err *e)
{
	int fd = memfd_create("qcnn-comm", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, (off_t)nbyte)
		|| fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
		fd_close(fd);
		return err_set(e, -ERR_CONFIG, "cannot make %zu bytes of shared memory: %s", nbyte,
			strerror(errno));
	}
	*out = fd;
	return 0;
}

/* Linux limits the descriptors of a user that are on their way, to RLIMIT_NOFILE: then this waits until others have taken theirs. */
static bool answer(const struct host *h, unsigned r, const struct joined *a, const int *pass,
	unsigned npass)
{
	while (!send_with(h->member[r], a, sizeof *a, pass, npass)) {
		if (errno != ETOOMANYREFS || clock_seconds() >= h->g->until + HOST_LATER_S)
			return false;
		poll(NULL, 0, 1);
	}
	return true;
}

/* The answer to each, by the same order of descriptors: the memory, then the pipes of ranks 0, 1, ... */
static int answer_all(struct host *h, int memory, const char *failed, struct err *e)
{
	struct joined a = { .magic = MAGIC, .failed = failed != NULL };
	int pass[1 + GROUP_RANKS_MAX], code = 0;

	if (failed)
		snprintf(a.text, sizeof a.text, "%s", failed);
	pass[0] = memory;
	memcpy(pass + 1, h->alive, h->g->size * sizeof *pass);
	for (unsigned r = 1; r < h->g->size; r++) {
		if (h->member[r] < 0)
			continue;
		prove(h->g->offer, h->g->offer->name, "qcnn shm joined", &h->said[r], a.proof);
		if (!answer(h, r, &a, pass, failed ? 0 : 1 + h->g->size) && !failed && !code)
			code = err_set(e, -ERR_UNREACHABLE,
				"rank %u has ended while the group was opened", r);
	}
	return code;
}

static int host_group(const struct group_opening *g, size_t nbyte, int own_alive,
	struct shm_group *out, struct err *e)
{
	mem_auto struct host *h = mem_alloc(1, sizeof *h);
	struct err why = { 0 };

	h->g = g;
	memset(h->member, 0xff, sizeof h->member);
	memset(h->alive, 0xff, sizeof h->alive);
	h->alive[0] = own_alive;
	int code = make_memory(nbyte, &out->memory, &why);
	while (!code && h->njoined + 1 < g->size)
		code = host_turn(h, &why);
	if (!code && h->unlike.code) {
		why = h->unlike;
		code = why.code;
	}
	if (code)
		answer_all(h, -1, why.text, NULL);
	else
		code = answer_all(h, out->memory, NULL, &why);
	if (code)
		err_set(e, code, "%s", why.text);
	close_all(h->member, g->size);
	while (h->npending)
		drop_pending(h, 0);
	if (code)
		close_all(h->alive + 1, g->size - 1);
	else
		memcpy(out->alive, h->alive, sizeof out->alive);
	return code;
}

/* ---- the other ranks ---- */

static int gone(struct err *e, const char *what)
{
	return err_set(e, -ERR_UNREACHABLE, "rank 0, which makes the group's shared memory, %s", what);
}

/* A full queue of connections is tried again. */
static int connect_host(const struct group_opening *g, uint8_t name[NAME], int *out, struct err *e)
{
	socklen_t len;

	if (!name_of(g->address[0], name))
		return err_set(e, -ERR_PROTOCOL, "\"%s\" is no address of shared memory",
			g->address[0]);
	struct sockaddr_un a = address_of(name, &len);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_set(e, -ERR_CONFIG, "cannot make a socket: %s", strerror(errno));
	while (connect(fd, (struct sockaddr *)&a, len)) {
		if (errno != EAGAIN || clock_seconds() >= g->until) {
			gone(e,
				errno == EAGAIN ? "accepts no connection"
						: "has ended, or is on another host");
			close(fd);
			return -ERR_UNREACHABLE;
		}
		poll(NULL, 0, 1);
	}
	if (!is_own_user(fd)) {
		close(fd);
		return err_set(e, -ERR_AUTH, "another user has taken the address of rank 0");
	}
	*out = fd;
	return 0;
}

static bool memory_is(int fd, size_t nbyte)
{
	struct stat s;

	return !fstat(fd, &s) && (size_t)s.st_size == nbyte
		&& (fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK);
}

static int take_answer(int fd, const uint8_t name[NAME], const struct joining *j,
	const struct group_opening *g, size_t nbyte, struct shm_group *out, struct err *e)
{
	struct pollfd f = { .fd = fd, .events = POLLIN };
	struct joined a;
	uint8_t right[CRYPTO_MAC];
	int pass[1 + GROUP_RANKS_MAX], n;
	struct group_opening later = *g;

	later.until += HOST_LATER_S;
	while (poll(&f, 1, group_opening_ms(&later, clock_seconds())) <= 0)
		if (clock_seconds() >= later.until) {
			char what[80];

			snprintf(what, sizeof what, "has not opened it within %.1f s",
				g->offer->options.deadline_ms / 1e3);
			return gone(e, what);
		}
	n = receive_with(fd, &a, sizeof a, pass, 1 + g->size);
	if (n < 0)
		return errno == EMFILE
			? err_set(e, -ERR_CONFIG, "no descriptors left for a group of %u ranks",
				g->size)
			: err_set(e, -ERR_AUTH,
				"rank 0 has refused rank %u: it has ended, or the group's key is another one",
				j->rank);
	prove(g->offer, name, "qcnn shm joined", j, right);
	a.text[sizeof a.text - 1] = 0;
	if (a.magic != MAGIC || !crypto_equal(right, a.proof, sizeof right)
		|| (!a.failed && (unsigned)n != 1 + g->size)
		|| (!a.failed && !memory_is(pass[0], nbyte))) {
		close_all(pass, (unsigned)n);
		return err_set(e, -ERR_AUTH, "rank 0 gave an answer that does not hold");
	}
	if (a.failed)
		return err_set(e, -ERR_UNREACHABLE, "%s", a.text);
	out->memory = pass[0];
	memcpy(out->alive, pass + 1, g->size * sizeof *out->alive);
	close(out->alive[g->rank]);
	out->alive[g->rank] = -1;
	return 0;
}

static int join_group(const struct group_opening *g, size_t nbyte, int own_alive,
	struct shm_group *out, struct err *e)
{
	struct joining j = {
		.magic = MAGIC, .rank = g->rank, .size = g->size, .nbyte_chunk = g->nbyte_chunk
	};
	uint8_t name[NAME];
	int fd = -1, code = connect_host(g, name, &fd, e);

	if (code)
		return code;
	prove(g->offer, name, "qcnn shm join", &j, j.proof);
	code = send_with(fd, &j, sizeof j, &own_alive, 1)
		? take_answer(fd, name, &j, g, nbyte, out, e)
		: gone(e, "has ended");
	close(fd);
	return code;
}

int shm_meet(const struct group_opening *g, size_t nbyte, struct shm_group *out, struct err *e)
{
	struct shm_group s = { .memory = -1 };
	int ends[2];

	memset(s.alive, 0xff, sizeof s.alive);
	if (pipe2(ends, O_CLOEXEC))
		return err_set(e, -ERR_CONFIG, "cannot make a pipe: %s", strerror(errno));
	s.own = ends[1];
	int code = g->rank ? join_group(g, nbyte, ends[0], &s, e)
			   : host_group(g, nbyte, ends[0], &s, e);
	close(ends[0]);
	s.alive[g->rank] = -1;
	if (code) {
		memset(s.alive, 0xff, sizeof s.alive);
		shm_group_close(&s, g->size);
		return code;
	}
	*out = s;
	return 0;
}

void shm_group_close(struct shm_group *s, unsigned size)
{
	fd_close(s->memory);
	close_all(s->alive, size);
	close(s->own);
}
