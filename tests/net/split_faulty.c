/* SPDX-License-Identifier: Apache-2.0
 * qcnn itself, but for one fault of one of the ranks that hold states together, at an event that is counted in this rank.
 *
 * FAULT="RANK PLACE N WHAT": WHAT happens to the rank at the N-th time (from 1 on) that it is at PLACE, which is
 *   open        it is about to join the group
 *   segment     it has got a command from the leader, and is about to compute
 *   exchange    bytes of an exchange have come, others have not
 *   readout     it is about to gather sums
 *   answer      it is about to answer whether it has the memory that the leader asked for
 *   checkpoint  the leader is about to write a checkpoint, and waits until the fault has happened
 *   end         it is about to leave the group
 * and WHAT is
 *   kill, stop  the signal
 *   memory      no further memory is given to it
 *   cut         its connections break
 *   mute        nothing more comes by its connections, not even what TCP itself sends
 * The file `struck` is made just before that.  FAULT_DEADLINE_MS is the deadline of the group. */
#include <fcntl.h>
#include <linux/filter.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/training/backup.h"
#include "runtime/net/comm/group.h"

static struct {
	unsigned rank;
	char place[16], what[16];
	unsigned long at, count;
} fault;
static unsigned own_rank;
static const struct comm_ops *inner;
static pthread_t computes;

__attribute__((constructor)) static void read_fault(void)
{
	const char *text = getenv("FAULT");

	if (text
		&& sscanf(text, "%u %15s %lu %15s", &fault.rank, fault.place, &fault.at, fault.what)
			!= 4)
		abort();
}

/* ---- what happens ---- */

/* Whether it is a TCP connection. */
static int is_connection(int fd)
{
	int domain = 0, type = 0, listens = 1;
	socklen_t len = sizeof domain;

	return !getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len)
		&& (domain == AF_INET || domain == AF_INET6)
		&& !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) && type == SOCK_STREAM
		&& !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) && !listens;
}

static void cut(int fd)
{
	const struct sockaddr nobody = { .sa_family = AF_UNSPEC };

	connect(fd, &nobody, sizeof nobody);
}

static void mute(int fd)
{
	struct sock_filter nothing = { .code = BPF_RET | BPF_K, .k = 0 };
	const struct sock_fprog program = { .len = 1, .filter = &nothing };

	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program))
		abort();
}

static void for_connections(void (*function)(int fd))
{
	for (int fd = 3; fd < 1024; fd++)
		if (is_connection(fd))
			function(fd);
}

/* Also what was freed before is taken. A compiler may leave out a malloc whose result is not used, and take it for successful. */
static void exhaust(void)
{
	struct rlimit limit = { 0, 0 };
	void *volatile taken;

	setrlimit(RLIMIT_AS, &limit);
	for (size_t n = 1 << 20; n >= 16; n /= 2)
		do
			taken = malloc(n);
		while (taken);
}

/* Asked for by another thread: the one that computes has memory of its own. */
static atomic_bool exhausts;

static void note(const char *file) { close(open(file, O_CREAT | O_WRONLY, 0600)); }

static void strike(void)
{
	note("struck");
	if (!strcmp(fault.what, "kill"))
		kill(getpid(), SIGKILL);
	else if (!strcmp(fault.what, "stop"))
		kill(getpid(), SIGSTOP);
	else if (!strcmp(fault.what, "memory") && !pthread_equal(pthread_self(), computes))
		atomic_store(&exhausts, true);
	else if (!strcmp(fault.what, "memory"))
		exhaust();
	else if (!strcmp(fault.what, "cut"))
		for_connections(cut);
	else if (!strcmp(fault.what, "mute"))
		for_connections(mute);
	else
		abort();
}

static void at_place(const char *place)
{
	if (fault.at && fault.rank == own_rank && !strcmp(place, fault.place)
		&& ++fault.count == fault.at)
		strike();
}

/* ---- while the leader writes ---- */

static void wait_for(const char *file)
{
	while (access(file, F_OK))
		usleep(1000);
}

static void *strike_at_checkpoint(void *unused)
{
	wait_for("checkpoint_begun");
	strike();
	return unused;
}

int __real_backup_save(struct backup *b, const struct train_state *s, struct err *e);
int __wrap_backup_save(struct backup *b, const struct train_state *s, struct err *e);
int __wrap_backup_save(struct backup *b, const struct train_state *s, struct err *e)
{
	if (!fault.rank)
		at_place("checkpoint");
	else if (fault.at && !strcmp(fault.place, "checkpoint") && ++fault.count == fault.at) {
		note("checkpoint_begun");
		wait_for("struck");
	}
	return __real_backup_save(b, s, e);
}

/* ---- calls of a group ---- */

/* The work of the exchange that is under way. */
static const struct comm_work *inner_work;

static int exchange_arrived(void *ctx, unsigned k, size_t from, size_t to, struct err *e)
{
	if (!k && !from)
		at_place("exchange");
	return inner_work ? inner_work->arrived(ctx, k, from, to, e) : 0;
}

static int exchange(struct comm *c, const struct comm_part *part, unsigned npart,
	const struct comm_work *work, struct err *e)
{
	const struct comm_work own = { work ? work->ctx : NULL, work ? work->before : NULL,
		exchange_arrived };

	inner_work = work;
	return inner->exchange(c, part, npart, &own, e);
}

/* A code and a text (split_commands.c). */
enum { ANSWER_BYTES = sizeof(int32_t) + ERR_TEXT_MAX };

static int gather(struct comm *c, const void *mine, size_t bytes, void *all, struct err *e)
{
	at_place("readout");
	if (bytes == ANSWER_BYTES)
		at_place("answer");
	return inner->gather(c, mine, bytes, all, e);
}

static int broadcast(struct comm *c, unsigned root, void *data, size_t bytes, struct err *e)
{
	int code = inner->broadcast(c, root, data, bytes, e);

	if (atomic_exchange(&exhausts, false))
		exhaust();
	at_place("segment");
	return code;
}

static int await(struct comm *c, unsigned root, struct err *e) { return inner->wait(c, root, e); }
static void give_up(struct comm *c, const char *reason) { inner->abort(c, reason); }

static void leave(struct comm *c)
{
	at_place("end");
	inner->close(c);
}

static const struct comm_ops counted = { .exchange = exchange,
	.gather = gather,
	.broadcast = broadcast,
	.wait = await,
	.abort = give_up,
	.close = leave };

int __real_group_offer(const char *transport, const struct group_options *o,
	struct group_offer **out, char address[GROUP_ADDRESS_MAX], struct err *e);
int __wrap_group_offer(const char *transport, const struct group_options *o,
	struct group_offer **out, char address[GROUP_ADDRESS_MAX], struct err *e);
int __wrap_group_offer(const char *transport, const struct group_options *o,
	struct group_offer **out, char address[GROUP_ADDRESS_MAX], struct err *e)
{
	const char *ms = getenv("FAULT_DEADLINE_MS");
	struct group_options shorter = *o;

	shorter.deadline_ms = ms ? (unsigned)atoi(ms) : o->deadline_ms;
	return __real_group_offer(transport, &shorter, out, address, e);
}

int __real_group_open(struct group_offer *offer, unsigned rank, unsigned size,
	const char *const *address, struct comm **out, struct err *e);
int __wrap_group_open(struct group_offer *offer, unsigned rank, unsigned size,
	const char *const *address, struct comm **out, struct err *e);
int __wrap_group_open(struct group_offer *offer, unsigned rank, unsigned size,
	const char *const *address, struct comm **out, struct err *e)
{
	pthread_t thread;
	int code;

	own_rank = rank;
	computes = pthread_self();
	at_place("open");
	code = __real_group_open(offer, rank, size, address, out, e);
	if (code)
		return code;
	inner = (*out)->ops;
	(*out)->ops = &counted;
	if (fault.at && rank && fault.rank == rank && !strcmp(fault.place, "checkpoint")
		&& pthread_create(&thread, NULL, strike_at_checkpoint, NULL))
		abort();
	return 0;
}
