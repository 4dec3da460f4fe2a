/* SPDX-License-Identifier: Apache-2.0
 * What goes wrong in a group, by every transport: each fault is an error that names the rank, in all ranks that are
 * left, and nothing is left behind. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/net/comm/group.h"
#include "runtime/base/crypto/crypto_session.h"
#include "runtime/net/comm/strided.h"
#include "tests/net/group_ranks.h"
#include "tests/tap.h"

/* LONG_MS: never reached; SHORT_MS: for faults that only a deadline finds. */
enum {
	SIZE = 4,
	BAD = 2,
	BYTES = 1 << 20,
	LONG_MS = 120000,
	SHORT_MS = 3000,
	GARBAGE_MAX = 40,
	MEET_MAX = 20000
};

/* ---- a byte that changes behind the digest's back ---- */

static bool flips;

void __real_strided_pack(const struct strided *p, size_t at, size_t len, uint8_t *to,
	struct digest *d);
void __wrap_strided_pack(const struct strided *p, size_t at, size_t len, uint8_t *to,
	struct digest *d);
void __wrap_strided_pack(const struct strided *p, size_t at, size_t len, uint8_t *to, struct digest *d)
{
	__real_strided_pack(p, at, len, to, d);
	if (flips && at)
		to[len - 1] ^= 1;
}

/* By tcp a byte has to change behind the seal. */
static bool flips_sealed;

void __real_crypto_seal(struct crypto_channel *c, uint8_t *p, size_t len, uint8_t tag[CRYPTO_SEAL]);
void __wrap_crypto_seal(struct crypto_channel *c, uint8_t *p, size_t len, uint8_t tag[CRYPTO_SEAL]);
void __wrap_crypto_seal(struct crypto_channel *c, uint8_t *p, size_t len, uint8_t tag[CRYPTO_SEAL])
{
	__real_crypto_seal(c, p, len, tag);
	if (flips_sealed && len > BYTES / 8)
		p[len - 1] ^= 1;
}

/* ---- what ranks do ---- */

static uint8_t state[BYTES];

static int swap_with(struct comm *c, unsigned peer, const struct comm_work *work, struct err *e)
{
	struct comm_part part = { peer, state, sizeof state, 1, sizeof state };

	return comm_exchange_with(c, &part, 1, work, e);
}

/* Everybody with everybody. */
static int meet(struct comm *c, struct err *e)
{
	uint64_t mine = c->rank, all[GROUP_RANKS_MAX];

	return comm_gather(c, &mine, sizeof mine, all, e);
}

static int meet_until_error(struct comm *c, struct err *e)
{
	int code = 0;

	for (unsigned i = 0; i < MEET_MAX && !code; i++)
		code = meet(c, e);
	return code;
}

/* The second error is the first one. */
static int meet_again(struct comm *c, struct err *e)
{
	struct err second = { 0 };
	int code = meet_until_error(c, e), again = swap_with(c, !c->rank, NULL, &second);

	if (again != code || strcmp(second.text, e->text))
		return err_set(e, -ERR_BUG, "after an error: %s", second.text);
	return code;
}

static int kill_between(struct comm *c, void *ctx, struct err *e)
{
	(void)ctx;
	if (meet(c, e))
		return e->code;
	if (c->rank == BAD)
		raise(SIGKILL);
	return meet_again(c, e);
}

static int kill_here(void *ctx, unsigned part, size_t from, size_t to, struct err *e)
{
	(void)part, (void)to, (void)e;
	if (from > BYTES / 2)
		raise(*(int *)ctx);
	return 0;
}

/* Each pair swaps; the other pair finds out in its next call. */
static int signal_within(struct comm *c, int signal, struct err *e)
{
	const struct comm_work work = { &signal, NULL, kill_here };
	int code = swap_with(c, c->rank ^ 1, c->rank == BAD ? &work : NULL, e);

	return code ? code : meet_until_error(c, e);
}

static int kill_within(struct comm *c, void *ctx, struct err *e)
{
	(void)ctx;
	return signal_within(c, SIGKILL, e);
}

static int stop_within(struct comm *c, void *ctx, struct err *e)
{
	(void)ctx;
	return signal_within(c, SIGSTOP, e);
}

/* The root of the next call is stopped before it begins that. */
static int stop_awaited(struct comm *c, void *ctx, struct err *e)
{
	(void)ctx;
	if (meet(c, e))
		return e->code;
	if (c->rank == BAD)
		return raise(SIGSTOP);
	return comm_wait(c, BAD, e);
}

/* What rank 0 sends is in the system's buffers when it leaves. */
static int stop_before_reading(struct comm *c, void *ctx, struct err *e)
{
	static uint8_t data[100000];

	(void)ctx;
	if (meet(c, e))
		return e->code;
	if (c->rank == BAD)
		raise(SIGSTOP);
	return comm_broadcast(c, 0, data, sizeof data, e);
}

static int leave(struct comm *c, void *ctx, struct err *e)
{
	(void)ctx;
	if (meet(c, e))
		return e->code;
	return c->rank == BAD ? 0 : meet_until_error(c, e);
}

static int give_up(struct comm *c, void *ctx, struct err *e)
{
	(void)ctx;
	if (meet(c, e))
		return e->code;
	if (c->rank == BAD) {
		comm_abort(c, "the disk is full");
		comm_abort(c, "and more");
	}
	return meet_again(c, e);
}

static void *give_up_here(void *c)
{
	comm_abort(c, "the disk is full");
	return NULL;
}

/* While another thread is in a call, or between two. */
static int give_up_in_thread(struct comm *c, void *ctx, struct err *e)
{
	pthread_t thread;
	int code;

	(void)ctx;
	if (meet(c, e))
		return e->code;
	if (c->rank == BAD && pthread_create(&thread, NULL, give_up_here, c))
		abort();
	code = meet_again(c, e);
	if (c->rank == BAD)
		pthread_join(thread, NULL);
	return code;
}

/* A rank that waits for the next call of rank 0 gives up, which that wait finds. */
static int give_up_waiting(struct comm *c, void *ctx, struct err *e)
{
	pthread_t thread;
	int code;

	(void)ctx;
	if (meet(c, e))
		return e->code;
	if (c->rank == BAD && pthread_create(&thread, NULL, give_up_here, c))
		abort();
	if (!c->rank)
		while (!(code = comm_exchange(c, NULL, 0, e)))
			poll(NULL, 0, 1);
	else
		code = comm_wait(c, 0, e);
	if (c->rank == BAD)
		pthread_join(thread, NULL);
	return code;
}

/* Ranks that need nothing from others find an abort as well. */
static int give_up_idle(struct comm *c, void *ctx, struct err *e)
{
	int code = 0;

	(void)ctx;
	if (meet(c, e))
		return e->code;
	if (c->rank == BAD) {
		comm_abort(c, "the disk is full");
		return meet_again(c, e);
	}
	while (!code) {
		poll(NULL, 0, 1);
		code = comm_exchange(c, NULL, 0, e);
	}
	return code;
}

static int flip(struct comm *c, void *ctx, struct err *e)
{
	(void)ctx;
	flips = flips_sealed = c->rank == BAD;
	return swap_with(c, c->rank ^ 1, NULL, e) ? e->code : meet_until_error(c, e);
}

static int swap(struct comm *c, void *ctx, struct err *e)
{
	(void)ctx;
	return swap_with(c, c->rank ^ 1, NULL, e) ? e->code : meet_until_error(c, e);
}

/* Digests are off: the byte is changed, and no one says so. */
static int flip_unseen(struct comm *c, void *ctx, struct err *e)
{
	(void)ctx;
	memset(state, 0, sizeof state);
	flips = c->rank == BAD;
	if (swap_with(c, c->rank ^ 1, NULL, e))
		return e->code;
	return state[BYTES - 1] == (c->rank == (BAD ^ 1))
		? 0
		: err_set(e, -ERR_BUG, "the last byte is %d", state[BYTES - 1]);
}

static int other_size(struct comm *c, void *ctx, struct err *e)
{
	uint64_t mine[2] = { 0 }, all[2 * GROUP_RANKS_MAX];

	(void)ctx;
	if (c->rank != BAD)
		return meet_again(c, e);
	return comm_gather(c, mine, sizeof mine, all, e);
}

static int other_call(struct comm *c, void *ctx, struct err *e)
{
	uint64_t data = 0;

	(void)ctx;
	if (c->rank != BAD)
		return meet_again(c, e);
	return comm_broadcast(c, BAD, &data, sizeof data, e) ? e->code : meet_again(c, e);
}

static int refuse_work(void *ctx, unsigned part, size_t from, size_t to, struct err *e)
{
	(void)ctx, (void)part, (void)to;
	return from > BYTES / 2 ? err_set(e, -ERR_NOT_FINITE, "a number is not finite") : 0;
}

static int fail_work(struct comm *c, bool before, struct err *e)
{
	const struct comm_work work = { NULL, before ? refuse_work : NULL,
		before ? NULL : refuse_work };

	return swap_with(c, c->rank ^ 1, c->rank == BAD ? &work : NULL, e) ? e->code
									   : meet_until_error(c, e);
}

static int fail_before(struct comm *c, void *ctx, struct err *e)
{
	(void)ctx;
	return fail_work(c, true, e);
}

static int fail_arrived(struct comm *c, void *ctx, struct err *e)
{
	(void)ctx;
	return fail_work(c, false, e);
}

static int once(struct comm *c, void *ctx, struct err *e)
{
	(void)ctx;
	return meet(c, e);
}

static int die(struct comm *c, void *ctx, struct err *e)
{
	(void)ctx;
	swap_with(c, c->rank ^ 1, NULL, e);
	return raise(SIGKILL);
}

/* ---- what they have at the beginning ---- */

static void other_key(struct group_options *o, unsigned rank, void *ctx)
{
	(void)ctx;
	o->key[0] ^= rank == BAD;
}

static void other_buffers(struct group_options *o, unsigned rank, void *ctx)
{
	(void)ctx;
	o->buffer_bytes = rank == BAD ? 1 << 16 : 0;
}

static void stay_away(char address[][GROUP_ADDRESS_MAX], unsigned rank, void *ctx)
{
	(void)address, (void)ctx;
	if (rank == BAD)
		raise(SIGKILL);
}

static void wrong_address(char address[][GROUP_ADDRESS_MAX], unsigned rank, void *ctx)
{
	(void)ctx;
	if (rank == BAD)
		strcpy(address[0], "pigeon:7");
}

/* A connected socket to an address of either transport; -1: it is full. */
static int connect_to(const char *address)
{
	struct sockaddr_un local = { .sun_family = AF_UNIX };
	struct sockaddr_in host = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	bool is_local = !strncmp(address, "shm:", 4);
	size_t len = strlen(address + 4);
	int fd = socket(is_local ? AF_UNIX : AF_INET,
		    (is_local ? SOCK_SEQPACKET : SOCK_STREAM) | SOCK_CLOEXEC, 0),
	    failed;

	memcpy(local.sun_path + 1, address + 4, len < 100 ? len : 100);
	if (is_local) {
		fcntl(fd, F_SETFL, O_NONBLOCK);
		failed = connect(fd, (struct sockaddr *)&local,
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len));
	} else {
		host.sin_port = htons((uint16_t)atoi(strrchr(address, ':') + 1));
		failed = connect(fd, (struct sockaddr *)&host, sizeof host);
	}
	if (!failed)
		return fd;
	close(fd);
	return -1;
}

/* ---- a proxy between ranks 2 and 3 ---- */

enum way { WAY_FLIP, WAY_CUT, WAY_STALL };

/* Passes bytes on, both ways, until half of BYTES have gone to rank 3. */
static void pass_on(int here, int there, enum way way)
{
	static uint8_t buffer[1 << 14];
	struct pollfd f[2] = { { .fd = here, .events = POLLIN }, { .fd = there, .events = POLLIN } };
	size_t gone = 0;

	while ((f[0].fd >= 0 || f[1].fd >= 0) && poll(f, 2, -1) > 0)
		for (unsigned k = 0; k < 2; k++) {
			ssize_t n = f[k].revents ? read(k ? there : here, buffer, sizeof buffer) : 0;

			if (f[k].revents && n <= 0) {
				shutdown(k ? here : there, SHUT_WR);
				f[k].fd = -1;
				f[k].revents = 0;
				n = 0;
			}
			gone += k ? (size_t)n : 0;
			if (k && gone > BYTES / 2) {
				if (way == WAY_CUT)
					return;
				while (way == WAY_STALL)
					pause();
				buffer[n / 2] ^= way == WAY_FLIP && n;
				gone = 0;
			}
			for (ssize_t at = 0, m; at < n; at += m)
				if ((m = write(k ? here : there, buffer + at, (size_t)(n - at))) <= 0)
					return;
		}
}

static void by_proxy(char address[][GROUP_ADDRESS_MAX], unsigned rank, enum way way)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof a;
	int listener;

	if (rank != 3)
		return;
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(listener, (struct sockaddr *)&a, sizeof a) || listen(listener, 1)
		|| getsockname(listener, (struct sockaddr *)&a, &len))
		abort();
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pass_on(accept(listener, NULL, NULL), connect_to(address[BAD]), way);
		_exit(0);
	}
	close(listener);
	snprintf(address[BAD], sizeof address[BAD], "tcp:127.0.0.1:%u", ntohs(a.sin_port));
}

static void flip_on_way(char address[][GROUP_ADDRESS_MAX], unsigned rank, void *ctx)
{
	(void)ctx;
	by_proxy(address, rank, WAY_FLIP);
}

static void cut_on_way(char address[][GROUP_ADDRESS_MAX], unsigned rank, void *ctx)
{
	(void)ctx;
	by_proxy(address, rank, WAY_CUT);
}

static void stall_on_way(char address[][GROUP_ADDRESS_MAX], unsigned rank, void *ctx)
{
	(void)ctx;
	by_proxy(address, rank, WAY_STALL);
}

/* Another process connects, and sends nothing, or bytes of all lengths, until it is killed. */
static void add_garbage(char address[][GROUP_ADDRESS_MAX], unsigned rank, void *ctx)
{
	static const char garbage[4096] = "GET / HTTP/1.1\r\n";
	int ready[2];
	pid_t *child = ctx, pid;
	char byte;

	if (rank != BAD || pipe(ready))
		return;
	pid = fork();
	if (!pid) {
		for (unsigned i = 0; i < GARBAGE_MAX; i++) {
			int fd = connect_to(address[i % 2 ? 0 : SIZE - 2]);

			if (fd >= 0 && i % 3
				&& send(fd, garbage, (size_t)1 << i % 12, MSG_NOSIGNAL) < 0)
				continue;
			if (i == GARBAGE_MAX / 2 && write(ready[1], "x", 1) < 0)
				break;
		}
		for (;;)
			pause();
	}
	if (pid < 0 || read(ready[0], &byte, 1) < 0)
		abort();
	*child = pid;
	close(ready[0]);
	close(ready[1]);
}

/* ---- the table ---- */

/* What all ranks but BAD end with: a code, and a part of the text.  With a signal, BAD has none. */
static const struct fault {
	const char *name, *text;
	int code, signal;
	int (*body)(struct comm *c, void *ctx, struct err *e);
	void (*options_of)(struct group_options *o, unsigned rank, void *ctx);
	void (*addresses_of)(char address[][GROUP_ADDRESS_MAX], unsigned rank, void *ctx);
	unsigned deadline_ms;
	int bad_code; /* of BAD itself, without a signal */
	const char *bad_text;
	bool unlike; /* codes differ: where an abort comes first, it is -ERR_UNREACHABLE */
	/* By tcp each rank that is not in the group yet has its own view, and may name one that gave up for whatever
	 * reason: another text, and codes that differ. One names BAD. */
	const char *tcp_text;
	bool only_tcp;
} faults[] = {
	{ .name = "a rank is killed between calls",
		.text = "rank 2 has ended or left",
		.code = -ERR_UNREACHABLE,
		.signal = SIGKILL,
		.body = kill_between },
	{ .name = "a rank is killed in an exchange",
		.text = "rank 2 has ended or left",
		.code = -ERR_UNREACHABLE,
		.signal = SIGKILL,
		.body = kill_within },
	{ .name = "a rank is stopped in an exchange",
		.text = "rank 2 has not run for",
		.code = -ERR_UNREACHABLE,
		.signal = SIGSTOP,
		.body = stop_within,
		.deadline_ms = SHORT_MS },
	{ .name = "a rank is stopped whose next call is awaited",
		.text = "rank 2 has not run for",
		.code = -ERR_UNREACHABLE,
		.signal = SIGSTOP,
		.body = stop_awaited,
		.deadline_ms = SHORT_MS },
	{ .name = "a rank is stopped, and others leave",
		.text = "",
		.signal = SIGSTOP,
		.body = stop_before_reading,
		.deadline_ms = SHORT_MS,
		.only_tcp = true },
	{ .name = "a rank leaves early",
		.text = "rank 2 has ended or left",
		.code = -ERR_UNREACHABLE,
		.body = leave },
	{ .name = "a rank aborts",
		.text = "rank 2 has given up: the disk is full",
		.code = -ERR_UNREACHABLE,
		.body = give_up,
		.bad_code = -ERR_UNREACHABLE,
		.bad_text = "rank 2 has given up: the disk is full" },
	{ .name = "a rank gives up in another thread",
		.text = "rank 2 has given up: the disk is full",
		.code = -ERR_UNREACHABLE,
		.body = give_up_in_thread,
		.bad_code = -ERR_UNREACHABLE,
		.bad_text = "rank 2 has given up: the disk is full" },
	{ .name = "a rank gives up while it waits for a call",
		.text = "rank 2 has given up: the disk is full",
		.code = -ERR_UNREACHABLE,
		.body = give_up_waiting,
		.bad_code = -ERR_UNREACHABLE,
		.bad_text = "rank 2 has given up: the disk is full" },
	{ .name = "a rank aborts, the others need nothing",
		.text = "rank 2 has given up: the disk is full",
		.code = -ERR_UNREACHABLE,
		.body = give_up_idle,
		.bad_code = -ERR_UNREACHABLE,
		.bad_text = "rank 2 has given up" },
	{ .name = "a byte changes",
		.text = "bytes from rank 2 are not those that it sent",
		.code = -ERR_IO,
		.unlike = true,
		.body = flip,
		.bad_code = -ERR_UNREACHABLE,
		.bad_text = "rank 3 has given up: exchange 1: bytes from rank 2" },
	{ .name = "a rank gathers more",
		.text = "rank",
		.code = -ERR_PROTOCOL,
		.unlike = true,
		.body = other_size,
		.bad_code = -ERR_PROTOCOL },
	{ .name = "a rank makes another call",
		.text = "rank",
		.code = -ERR_PROTOCOL,
		.unlike = true,
		.body = other_call,
		.bad_code = -ERR_PROTOCOL },
	{ .name = "bytes cannot be made",
		.text = "rank 2 has given up: exchange 1: a number is not finite",
		.code = -ERR_UNREACHABLE,
		.body = fail_before,
		.bad_code = -ERR_NOT_FINITE,
		.bad_text = "exchange 1: a number is not finite" },
	{ .name = "bytes cannot be used",
		.text = "rank 2 has given up: exchange 1: a number is not finite",
		.code = -ERR_UNREACHABLE,
		.body = fail_arrived,
		.bad_code = -ERR_NOT_FINITE,
		.bad_text = "exchange 1: a number is not finite" },
	{ .name = "a rank with another key",
		.text = "rank 2 has not joined the group within 3.0 s",
		.code = -ERR_UNREACHABLE,
		.body = once,
		.options_of = other_key,
		.deadline_ms = SHORT_MS,
		.bad_code = -ERR_AUTH,
		.bad_text = "refused",
		.tcp_text = "rank" },
	{ .name = "a rank with other options",
		.text = "rank 2 joins with other options",
		.code = -ERR_PROTOCOL,
		.unlike = true,
		.body = once,
		.options_of = other_buffers,
		.bad_code = -ERR_PROTOCOL,
		.bad_text = "rank",
		.tcp_text = "rank" },
	{ .name = "a rank that does not come",
		.text = "rank 2 has not joined the group within 3.0 s",
		.code = -ERR_UNREACHABLE,
		.signal = SIGKILL,
		.body = once,
		.addresses_of = stay_away,
		.deadline_ms = SHORT_MS,
		.tcp_text = "rank" },
	{ .name = "a rank with a wrong address",
		.text = "rank 2 has not joined the group",
		.code = -ERR_UNREACHABLE,
		.body = once,
		.addresses_of = wrong_address,
		.deadline_ms = SHORT_MS,
		.bad_code = -ERR_PROTOCOL,
		.bad_text = "\"pigeon:7\" is no address",
		.tcp_text = "rank" },
	{ .name = "a byte changes on its way",
		.text = "bytes from rank 2 are not those that it sent",
		.code = -ERR_IO,
		.unlike = true,
		.body = swap,
		.addresses_of = flip_on_way,
		.bad_code = -ERR_UNREACHABLE,
		.bad_text = "rank 3 has given up: exchange 1: bytes from rank 2",
		.only_tcp = true },
	{ .name = "a connection is cut",
		.text = "has ended or left",
		.code = -ERR_UNREACHABLE,
		.body = swap,
		.addresses_of = cut_on_way,
		.bad_code = -ERR_UNREACHABLE,
		.bad_text = "has ended or left",
		.only_tcp = true },
	{ .name = "a connection passes nothing on",
		.text = "has not run for",
		.code = -ERR_UNREACHABLE,
		.body = swap,
		.addresses_of = stall_on_way,
		.deadline_ms = SHORT_MS,
		.bad_code = -ERR_UNREACHABLE,
		.bad_text = "has not run for",
		.only_tcp = true },
};

static bool ended_as(const struct rank_end *end, int code, const char *text, bool unlike)
{
	bool right = end->code == code
		|| (unlike
			&& (end->code == -ERR_UNREACHABLE || end->code == -ERR_PROTOCOL
				|| end->code == -ERR_AUTH));

	return !end->status && right && (!text || strstr(end->e.text, text)) && !end->nleft;
}

/* The rank that is stopped is waited for until it is, and ended when the others have. */
static void wait_for_ends(const struct ranks *r, struct rank_end *end, int signal)
{
	for (unsigned rank = 0; rank < SIZE; rank++)
		if (rank != BAD)
			waitpid(end[rank].pid, &end[rank].status, 0);
	if (signal == SIGSTOP)
		kill(end[BAD].pid, SIGKILL);
	waitpid(end[BAD].pid, &end[BAD].status, 0);
	(void)r;
}

static void test_fault(const char *transport, const struct fault *f)
{
	struct ranks r = { .transport = transport,
		.size = SIZE,
		.options = ranks_options(),
		.body = f->body,
		.options_of = f->options_of,
		.addresses_of = f->addresses_of };
	struct rank_end *end = shared_memory(SIZE * sizeof *end);
	bool tcp = !strcmp(transport, "tcp"), right = true, named = false;
	bool unlike = f->unlike || (tcp && f->tcp_text);
	const char *text = tcp && f->tcp_text ? f->tcp_text : f->text;

	r.options.deadline_ms = f->deadline_ms ? f->deadline_ms : LONG_MS;
	ranks_start(&r, end);
	wait_for_ends(&r, end, f->signal);
	for (unsigned rank = 0; rank < SIZE; rank++)
		if (rank != BAD) {
			right &= ended_as(&end[rank], f->code, text, unlike);
			named |= !f->code || strstr(end[rank].e.text, "rank 2")
				|| strstr(end[rank].e.text, "rank 3 has not run");
		}
	right &= named;
	right &= f->signal ? WIFSIGNALED(end[BAD].status)
			   : ended_as(&end[BAD], f->bad_code, f->bad_text, unlike);
	tap_ok(right, "%s: %s: \"%s\"", transport, f->name, end[0].e.text);
	for (unsigned rank = 0; rank < SIZE && !right; rank++)
		tap_note("rank %u: status %d, %s, %d left: %s", rank, end[rank].status,
			err_name(end[rank].code), end[rank].nleft, end[rank].e.text);
	munmap(end, SIZE * sizeof *end);
}

/* ---- */

static void test_unseen(const char *transport)
{
	struct ranks r = {
		.transport = transport, .size = SIZE, .options = ranks_options(), .body = flip_unseen
	};
	struct err e = { 0 };

	r.options.no_digest = true;
	r.options.deadline_ms = LONG_MS;
	tap_ok(!ranks_run(&r, &e), "%s: without digests a changed byte arrives unseen %s",
		transport, e.text);
}

static void test_garbage(const char *transport)
{
	pid_t *child = shared_memory(sizeof *child);
	struct ranks r = { .transport = transport,
		.size = SIZE,
		.options = ranks_options(),
		.body = once,
		.ctx = child,
		.addresses_of = add_garbage };
	struct err e = { 0 };

	r.options.deadline_ms = LONG_MS;
	tap_ok(!ranks_run(&r, &e),
		"%s: connections that send nothing, or garbage, disturb no group %s", transport,
		e.text);
	if (*child > 0)
		kill(*child, SIGKILL);
	munmap(child, sizeof *child);
}

/* Names in the folder of shared memory, or sockets of ours in the list of the system. */
/* Other programs have files there, too. */
static unsigned long long left_behind(void)
{
	DIR *d = opendir("/dev/shm");
	unsigned long long sum = 0;

	for (struct dirent *f; d && (f = readdir(d));)
		sum += strstr(f->d_name, PACKAGE) ? f->d_ino : 0;
	if (d)
		closedir(d);
	return sum;
}

static void test_left(const char *transport)
{
	struct ranks r = {
		.transport = transport, .size = SIZE, .options = ranks_options(), .body = die
	};
	struct rank_end *end = shared_memory(SIZE * sizeof *end);
	unsigned long long before = left_behind();
	unsigned nkilled = 0;

	r.options.deadline_ms = LONG_MS;
	ranks_start(&r, end);
	ranks_wait(&r, end);
	for (unsigned rank = 0; rank < SIZE; rank++)
		nkilled += WIFSIGNALED(end[rank].status);
	tap_ok(nkilled == SIZE && left_behind() == before,
		"%s: nothing is left in /dev/shm when all ranks are killed", transport);
	munmap(end, SIZE * sizeof *end);
}

/* ---- ranks that an MPI has started (test_mpi.sh) ---- */

/* Into a file, as what the launcher does when a rank has ended is its own affair. */
static void note_end(const struct rank_end *end, unsigned rank, void *ctx)
{
	const struct fault *f = ctx;
	bool right = rank == BAD ? ended_as(end, f->bad_code, f->bad_text, f->unlike)
				 : ended_as(end, f->code, f->text, f->unlike);
	char name[32];
	FILE *file;

	snprintf(name, sizeof name, "end.%u", rank);
	file = fopen(name, "w");
	if (!file)
		abort();
	fprintf(file, "%s: %s\n", right ? "right" : "wrong", end->e.text);
	fclose(file);
}

/* How all ranks see it if rank 2 has another key: by MPI it is refused at once. */
static const struct fault other_key_by_mpi = { .name = "a rank with another key by MPI",
	.text = "rank",
	.code = -ERR_AUTH,
	.unlike = true,
	.body = once,
	.options_of = other_key,
	.bad_code = -ERR_AUTH };

static int launched(const char *transport, const char *name)
{
	const struct fault *f = &other_key_by_mpi;
	struct ranks r = { .transport = transport, .size = SIZE, .options = ranks_options() };
	struct rank_end end = { 0 };

	for (unsigned k = 0; k < sizeof faults / sizeof *faults; k++)
		if (!strcmp(faults[k].name, name))
			f = &faults[k];
	if (strcmp(f->name, name))
		return 2;
	r.body = f->body;
	r.options_of = f->options_of;
	r.options.deadline_ms = f->deadline_ms ? f->deadline_ms : LONG_MS;
	ranks_launched(&r, &end, note_end, (void *)(uintptr_t)f);
	return end.code ? 75 : 0;
}

int main(int argc, char **argv)
{
	if (argc > 2)
		return launched(argv[1], argv[2]);
	for (unsigned i = 0; group_transports[i]; i++) {
		for (unsigned k = 0; k < sizeof faults / sizeof *faults; k++)
			if (!faults[k].only_tcp || !strcmp(group_transports[i], "tcp"))
				test_fault(group_transports[i], &faults[k]);
		if (strcmp(group_transports[i], "tcp")) /* which seals in any case */
			test_unseen(group_transports[i]);
		test_garbage(group_transports[i]);
		test_left(group_transports[i]);
	}
	return tap_done();
}
