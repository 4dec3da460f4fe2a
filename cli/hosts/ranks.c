/* SPDX-License-Identifier: Apache-2.0
 * Ranks on this host: each is started as `qcnn worker --follow` with a socket as its standard input. By it the rank receives its
 * number and the key of the group, sends its address and receives those of all ranks. */
#include "config.h"
#include "cli/hosts/ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/crypto/crypto_session.h"
#include "runtime/base/system/cpus.h"
#include "runtime/base/system/spawn.h"
#include "runtime/exec/statevector/split/split_group.h"
#include "runtime/net/comm/group.h"
#include "runtime/net/launch/launch.h"

enum { START_MS = 15000 };
static const char TRANSPORT[] = "shm"; /* of one host */

/* The first message to a rank. It answers with its address, and receives the addresses of all ranks. */
struct start {
	char version[32];
	uint32_t rank, size, nthread;
	uint64_t memory_limit;
	uint8_t key[sizeof((struct group_options *)0)->key];
};

struct ranks {
	struct split_rank rank;
	unsigned n; /* started */
	pid_t pid[GROUP_RANKS_MAX];
	int fd[GROUP_RANKS_MAX];
};

extern char **environ;

/* All of the bytes, from a peer that answers soon. */
static int receive(int fd, void *to, size_t len, unsigned rank, struct err *e)
{
	for (ssize_t n; len; to = (char *)to + n, len -= (size_t)n) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		n = poll(&p, 1, START_MS) > 0 ? recv(fd, to, len, 0) : -1;
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0)
			return err_set(e, -ERR_UNREACHABLE,
				"rank %u, a process of this host that holds a part of the state, %s",
				rank, n ? "does not answer" : "has ended before it answered");
	}
	return 0;
}

static int spawn(unsigned rank, int fd, pid_t *pid, struct err *e)
{
	char *argv[] = { (char *)"qcnn", (char *)"worker", (char *)"--follow", NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	int code = spawn_attributes(&attr);

	if (code)
		return err_set(e, -ERR_CONFIG, "cannot start rank %u: %s", rank, strerror(code));
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, fd, STDIN_FILENO);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	code = posix_spawn(pid, LAUNCH_SELF, &files, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return code ? err_set(e, -ERR_CONFIG, "cannot start rank %u: %s", rank, strerror(code)) : 0;
}

static int start_one(struct ranks *r, struct start *s, struct err *e)
{
	int pair[2], code;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_set(e, -ERR_CONFIG, "cannot make a socket to a rank: %s", strerror(errno));
	code = spawn(s->rank, pair[1], &r->pid[r->n], e);
	close(pair[1]);
	if (code) {
		close(pair[0]);
		return code;
	}
	r->fd[r->n++] = pair[0];
	return fd_write(pair[0], s, sizeof *s) ? err_set(e, -ERR_UNREACHABLE,
		       "rank %u has ended before it received its task", s->rank)
					       : 0;
}

static int open_group(struct ranks *r, unsigned size, const struct group_options *o, struct err *e)
{
	char address[GROUP_RANKS_MAX][GROUP_ADDRESS_MAX];
	const char *list[GROUP_RANKS_MAX];
	struct group_offer *offer;
	int code = group_offer(TRANSPORT, o, &offer, address[0], e);

	if (code)
		return code;
	for (unsigned k = 1; k < size && !code; k++) {
		code = receive(r->fd[k - 1], address[k], GROUP_ADDRESS_MAX, k, e);
		address[k][GROUP_ADDRESS_MAX - 1] = 0;
	}
	for (unsigned k = 1; k < size && !code; k++)
		if (fd_write(r->fd[k - 1], address, size * (size_t)GROUP_ADDRESS_MAX))
			code = err_set(e, -ERR_UNREACHABLE,
				"rank %u has ended before it received the addresses of the others",
				k);
	for (unsigned k = 0; k < size; k++)
		list[k] = address[k];
	if (code) {
		group_offer_free(offer);
		return code;
	}
	return group_open(offer, 0, size, list, &r->rank.comm, e);
}

int ranks_start(struct evaluator_options *o, unsigned nrank, struct ranks **out, struct err *e)
{
	struct group_options group = { .encrypt = true };
	struct start s = { .size = nrank };
	struct ranks *r;
	int code = 0;

	*out = NULL;
	if (nrank < 2)
		return 0;
	if ((nrank & (nrank - 1)) || nrank > o->split)
		return err_set(e, -ERR_CONFIG,
			"%u processes cannot hold the parts of states that are planned for %u: give --ranks a power of "
			"two of at most that, or set run.split",
			nrank, o->split ? o->split : 1);
	if (!crypto_start())
		return err_set(e, -ERR_CONFIG, "this system gives no random numbers");
	s.nthread = o->nthread > nrank ? o->nthread / nrank : 1;
	s.memory_limit = (o->memory_limit ? o->memory_limit : cpus_memory_available()) / nrank;
	r = mem_alloc(1, sizeof *r);
	r->rank = (struct split_rank){ .nrank = nrank, .turn = PTHREAD_MUTEX_INITIALIZER };
	snprintf(s.version, sizeof s.version, "%s", PACKAGE_VERSION);
	crypto_random(group.key, sizeof group.key);
	memcpy(s.key, group.key, sizeof s.key);
	for (s.rank = 1; s.rank < nrank && !code; s.rank++)
		code = start_one(r, &s, e);
	if (!code)
		code = open_group(r, nrank, &group, e);
	explicit_bzero(s.key, sizeof s.key);
	explicit_bzero(&group, sizeof group);
	if (code) {
		ranks_end(r);
		return code;
	}
	o->nthread = s.nthread;
	o->memory_limit = s.memory_limit;
	o->rank = &r->rank;
	*out = r;
	return 0;
}

void ranks_end(struct ranks *r)
{
	if (!r)
		return;
	if (r->rank.comm)
		split_end(&r->rank);
	for (unsigned k = 0; k < r->n; k++)
		close(r->fd[k]);
	comm_close(r->rank.comm);
	/* One that is stopped would never end by itself. */
	for (unsigned k = 0; k < r->n && (r->rank.code || !r->rank.comm); k++)
		kill(r->pid[k], SIGKILL);
	for (unsigned k = 0; k < r->n; k++)
		while (waitpid(r->pid[k], NULL, 0) < 0 && errno == EINTR)
			;
	free(r);
}

/* ---- a rank that was started ---- */

int ranks_follow(struct err *e)
{
	char address[GROUP_RANKS_MAX][GROUP_ADDRESS_MAX];
	const char *list[GROUP_RANKS_MAX];
	struct group_options group = { .encrypt = true };
	struct group_offer *offer;
	struct comm *comm;
	struct start s;
	int code = receive(STDIN_FILENO, &s, sizeof s, 0, e);

	if (code)
		return code;
	if (strncmp(s.version, PACKAGE_VERSION, sizeof s.version) || s.size > GROUP_RANKS_MAX
		|| s.rank >= s.size)
		return err_set(e, -ERR_PROTOCOL,
			"the process that started this rank is another version of qcnn");
	memcpy(group.key, s.key, sizeof group.key);
	code = group_offer(TRANSPORT, &group, &offer, address[s.rank], e);
	if (code)
		return code;
	if (fd_write(STDIN_FILENO, address[s.rank], GROUP_ADDRESS_MAX))
		code = err_set(e, -ERR_UNREACHABLE, "the process that started this rank has ended");
	code = code ? code : receive(STDIN_FILENO, address, s.size * (size_t)GROUP_ADDRESS_MAX, 0, e);
	if (code) {
		group_offer_free(offer);
		return code;
	}
	for (unsigned k = 0; k < s.size; k++)
		list[k] = address[k];
	code = group_open(offer, s.rank, s.size, list, &comm, e);
	if (code)
		return code;
	code = split_follow(comm, s.nthread, s.memory_limit, e);
	comm_close(comm);
	return code;
}
