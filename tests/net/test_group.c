/* SPDX-License-Identifier: Apache-2.0
 * Groups of ranks: what each call moves, between 1 to 16 processes, and what a rank that fails does to the others. */
#include "runtime/net/comm/group.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "runtime/base/arena.h"
#include "tests/net/meet.h"

/* STOPPED_MS, SLOW_MS: for ranks of which all that are not stopped run within that, on a busy machine too. BUSY_S: longer
 * than the deadline of one that computes, and than connections to workers may keep bytes. */
enum { PATIENCE_MS = 60000, SHORT_MS = 1000, STOPPED_MS = 4000, SLOW_MS = 6000, BUSY_S = 14 };

static const struct group_options usual = {
	.key = { 1, 2, 3 }, .encrypt = true, .deadline_ms = PATIENCE_MS
};

/* ---- what calls move ---- */

static unsigned char byte_of(unsigned from, unsigned to, size_t at)
{
	return (unsigned char)(from * 31 + to * 7 + at * 5 + at / 251);
}

/* nrun runs for each other rank, side by side in strides; bytes between the runs stay as they are. */
static bool exchanges(struct comm *c, size_t run, size_t nrun, size_t gap)
{
	size_t stride = run + gap, each = nrun * stride;
	unsigned char *data = mem_alloc(each * c->size + 1, 1);
	struct comm_part part[RANKS_MAX];
	struct err e = { 0, "" };
	unsigned n = 0;
	bool right;

	memset(data, 0xee, each * c->size);
	for (unsigned r = 0; r < c->size; r++) {
		for (size_t k = 0; k < nrun; k++)
			for (size_t i = 0; i < run; i++)
				data[r * each + k * stride + i] = byte_of(c->rank, r, k * run + i);
		if (r != c->rank)
			part[n++] = (struct comm_part){ r, data + r * each, run, nrun, stride };
	}
	right = !comm_exchange(c, part, n, &e);
	for (unsigned r = 0; r < c->size; r++)
		for (size_t at = 0; at < each && right; at++)
			right = data[r * each + at]
				== (at % stride >= run ? 0xee
						       : byte_of(r, c->rank,
							       at / stride * run + at % stride));
	if (*e.text)
		tap_note("rank %u: %s", c->rank, e.text);
	free(data);
	return right;
}

static bool gathers(struct comm *c, size_t n)
{
	unsigned char *mine = mem_alloc(n + 1, 1), *all = mem_alloc(n * c->size + 1, 1);
	struct err e = { 0, "" };
	bool right;

	for (size_t i = 0; i < n; i++)
		mine[i] = byte_of(c->rank, 0, i);
	right = !comm_gather(c, mine, n, all, &e);
	for (size_t i = 0; i < n * c->size && right; i++)
		right = all[i] == byte_of((unsigned)(i / n), 0, i % n);
	free(mine);
	free(all);
	return right;
}

static bool broadcasts(struct comm *c, unsigned root, size_t n)
{
	unsigned char *data = mem_alloc(n + 1, 1);
	struct err e = { 0, "" };
	bool right;

	for (size_t i = 0; c->rank == root && i < n; i++)
		data[i] = byte_of(root, 9, i);
	right = !comm_broadcast(c, root, data, n, &e);
	for (size_t i = 0; i < n && right; i++)
		right = data[i] == byte_of(root, 9, i);
	free(data);
	return right;
}

static int all_calls(struct comm *c)
{
	struct err e = { 0, "" };
	bool right = exchanges(c, 1, 1, 0) && exchanges(c, 0, 0, 0) && exchanges(c, 4096, 9, 100)
		&& exchanges(c, 16, 1000, 48) && gathers(c, 0) && gathers(c, 7) && gathers(c, 100000);

	/* More than all buffers hold. */
	right = right && exchanges(c, (size_t)(c->size > 4 ? 2 : 5) << 20, 1, 0);
	for (unsigned root = 0; root < c->size && right; root++)
		right = broadcasts(c, root, 3);
	right = right && broadcasts(c, c->size - 1, (size_t)8 << 20);
	right = right && (c->rank == 0 || !comm_wait(c, 0, &e)) && broadcasts(c, 0, 1);
	right = right && c->statistics.nexchange == 5;
	return !right;
}

static int one_byte(struct comm *c) { return !exchanges(c, 1, 1, 0); }

/* Fewer descriptors than 16 ranks send each other, for a user whom the limit binds; before each rank opens its group. */
static void usual_privileges(void) {}

static void few_descriptors(void)
{
	const struct rlimit few = { 100, 100 };

	if (setrlimit(RLIMIT_NOFILE, &few) || (geteuid() == 0 && (setgid(65534) || setuid(65534))))
		tap_bail("a limit of descriptors");
}

static void (*before_opening)(void) = usual_privileges;

/* Each rank's process runs `part` and exits with its result; the exit statuses. */
static void run_ranks(unsigned size, const char *transport, const struct group_options *o,
	int (*part)(struct comm *c), int status[RANKS_MAX])
{
	struct meeting m = meeting_new(size);
	pid_t child[RANKS_MAX];

	fflush(stdout);
	for (unsigned r = 0; r < size; r++) {
		struct err e = { 0, "" };
		struct comm *c;
		int code;

		child[r] = fork();
		if (child[r])
			continue;
		before_opening();
		if (meet(&m, r, size, transport, o, &c, &e)) {
			tap_note("rank %u: %s", r, e.text);
			fflush(stdout);
			_exit(100);
		}
		code = part(c);
		comm_close(c);
		fflush(stdout);
		_exit(code);
	}
	for (unsigned r = 0; r < size; r++)
		waitpid(child[r], &status[r], 0);
	meeting_close(&m, size);
}

static void test_calls(const char *transport)
{
	for (unsigned size = 1; size <= RANKS_MAX; size = size == 2 ? 3
			: size == 3                                 ? 4
								    : 2 * size) {
		int status[RANKS_MAX];
		bool right = true;

		run_ranks(size, transport, &usual, all_calls, status);
		for (unsigned r = 0; r < size; r++)
			right = right && WIFEXITED(status[r]) && !WEXITSTATUS(status[r]);
		tap_ok(right, "%s, %u ranks: every call moves what it should, and nothing else",
			transport, size);
	}
}

static void test_few_descriptors(const char *transport)
{
	int status[RANKS_MAX], nwrong = 0;

	before_opening = few_descriptors;
	run_ranks(RANKS_MAX, transport, &usual, one_byte, status);
	before_opening = usual_privileges;
	for (unsigned r = 0; r < RANKS_MAX; r++)
		nwrong += status[r] != 0;
	tap_is_int(nwrong, 0, "%s, 16 ranks of a user who may have 100 descriptors on their way",
		transport);
}

/* ---- ranks that fail ---- */

/* Of the four ranks, rank 1 fails; the others call until a call fails, and then report by what they return. */
static const char *wanted;

static int until_failure(struct comm *c)
{
	struct err e = { 0, "" };
	char data[1000] = { 0 }, all[sizeof data * RANKS_MAX];
	int code = 0;

	for (int k = 0; k < 1000000 && !code; k++)
		code = comm_gather(c, data, sizeof data, all, &e);
	if (strstr(e.text, wanted))
		return 0;
	tap_note("rank %u: %s", c->rank, e.text);
	return 1;
}

static int one_is_killed(struct comm *c)
{
	if (c->rank == 1)
		raise(SIGKILL);
	return until_failure(c);
}

static int one_is_stopped(struct comm *c)
{
	if (c->rank == 1) {
		raise(SIGSTOP);
		return 0;
	}
	return until_failure(c);
}

static int one_gives_up(struct comm *c)
{
	if (c->rank == 1) {
		comm_abort(c, "no more memory");
		until_failure(c);
		return 0;
	}
	return until_failure(c);
}

static int one_calls_another(struct comm *c)
{
	struct err e = { 0, "" };
	char data[1000] = { 0 };

	if (c->rank == 1)
		return comm_broadcast(c, 1, data, 900, &e) && comm_gather(c, data, 1, data, &e) ? 0
												: 0;
	return until_failure(c);
}

/* Rank 1 computes for much longer than the deadline, and is waited for by ranks with more bytes for it than the system
 * takes. */
static int one_is_busy(struct comm *c)
{
	static char data[1 << 20], all[sizeof data * RANKS_MAX];
	struct err e = { 0, "" };

	if (c->rank == 1)
		nanosleep(&(struct timespec){ .tv_sec = BUSY_S }, NULL);
	if (!comm_gather(c, data, sizeof data, all, &e) && !comm_gather(c, data, sizeof data, all, &e))
		return 0;
	tap_note("rank %u: %s", c->rank, e.text);
	return 1;
}

/* In the background: a process for end_busy. */
static pid_t begin_busy(const char *transport)
{
	struct group_options o = usual;
	int status[RANKS_MAX];
	bool right = true;
	pid_t child;

	o.deadline_ms = SLOW_MS;
	fflush(stdout);
	child = fork();
	if (child)
		return child;
	run_ranks(4, transport, &o, one_is_busy, status);
	for (unsigned r = 0; r < 4; r++)
		right = right && WIFEXITED(status[r]) && !WEXITSTATUS(status[r]);
	fflush(stdout);
	_exit(!right);
}

static void end_busy(pid_t child, const char *transport)
{
	int status;

	waitpid(child, &status, 0);
	tap_ok(WIFEXITED(status) && !WEXITSTATUS(status),
		"%s: a rank that computes for more than twice the deadline is waited for", transport);
}

/* A digest that is not that of the bytes. */
static int one_sends_other_bytes(struct comm *c) { return until_failure(c); }

static void test_failure(const char *transport, int (*part)(struct comm *c), unsigned deadline_ms,
	const char *want, const char *name)
{
	struct group_options o = usual;
	struct meeting m = meeting_new(4);
	pid_t child[4];
	bool right = true;

	o.deadline_ms = deadline_ms;
	wanted = want;
	fflush(stdout);
	for (unsigned r = 0; r < 4; r++) {
		struct err e = { 0, "" };
		struct comm *c;

		child[r] = fork();
		if (child[r])
			continue;
		o.no_digest = part == one_sends_other_bytes && r == 1;
		if (meet(&m, r, 4, transport, &o, &c, &e))
			_exit(100);
		int code = part(c);

		fflush(stdout);
		comm_close(c);
		_exit(code);
	}
	for (unsigned r = 0; r < 4; r++) {
		int status;

		if (r == 1)
			continue;
		waitpid(child[r], &status, 0);
		right = right && WIFEXITED(status) && !WEXITSTATUS(status);
	}
	kill(child[1], SIGKILL);
	waitpid(child[1], NULL, 0);
	meeting_close(&m, 4);
	tap_ok(right, "%s: %s: the others report `%s`", transport, name, want);
}

static void test_strangers(const char *transport)
{
	struct meeting m = meeting_new(2);
	pid_t child;
	struct group_options o = usual;
	struct err e = { 0, "" };
	struct comm *c;
	int code, status;

	o.deadline_ms = SHORT_MS;
	fflush(stdout);
	child = fork();
	if (!child) {
		o.key[0]++;
		_exit(!meet(&m, 1, 2, transport, &o, &c, &e));
	}
	code = meet(&m, 0, 2, transport, &o, &c, &e);
	waitpid(child, &status, 0);
	tap_ok(code && WIFEXITED(status) && !WEXITSTATUS(status),
		"%s: a rank with another key gets nothing: %s", transport, e.text);
	meeting_close(&m, 2);
}

int main(void)
{
	struct group_offer *offer;
	char address[GROUP_ADDRESS_MAX];
	struct err e = { 0, "" };
	pid_t busy[4];

	tap_is_int(group_offer("pigeon", &usual, &offer, address, &e), -ERR_CONFIG,
		"an unknown transport");
	tap_ok(strstr(e.text, "shm") != NULL, "is answered with those there are: %s", e.text);
	for (size_t t = 0; group_transports[t]; t++)
		busy[t] = begin_busy(group_transports[t]);
	for (size_t t = 0; group_transports[t]; t++) {
		const char *name = group_transports[t];

		test_calls(name);
		test_few_descriptors(name);
		test_failure(name, one_is_killed, PATIENCE_MS, "rank 1 has ended", "a rank is killed");
		test_failure(name, one_is_stopped, STOPPED_MS, "rank 1 has not run",
			"a rank is stopped");
		test_failure(name, one_gives_up, PATIENCE_MS, "rank 1 has given up: no more memory",
			"a rank gives up");
		test_failure(name, one_calls_another, PATIENCE_MS, "rank ",
			"a rank makes another call");
		if (strcmp(name, "tcp")) /* which seals instead */
			test_failure(name, one_sends_other_bytes, PATIENCE_MS,
				"bytes from rank 1 are not those that it sent", "a digest is wrong");
		test_strangers(name);
	}
	for (size_t t = 0; group_transports[t]; t++)
		end_busy(busy[t], group_transports[t]);
	return tap_done();
}
