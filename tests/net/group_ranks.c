/* SPDX-License-Identifier: Apache-2.0
 * Forks the ranks, and passes their addresses on through shared memory. */
#include "tests/net/group_ranks.h"

#include <dirent.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include "runtime/base/crypto/crypto_session.h"
#include "runtime/base/system/clock.h"

/* What a coordinator would collect. */
struct meeting {
	_Atomic unsigned noffer;
	char address[GROUP_RANKS_MAX][GROUP_ADDRESS_MAX];
};

void *shared_memory(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

struct group_options ranks_options(void)
{
	struct group_options o = { .encrypt = true, .no_digest = false };

	crypto_start();
	crypto_random(o.key, sizeof o.key);
	return o;
}

static int open_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	closedir(d);
	return n;
}

static int in_group(const struct ranks *r, unsigned rank, struct meeting *m, struct rank_end *end)
{
	char address[GROUP_RANKS_MAX][GROUP_ADDRESS_MAX];
	const char *list[GROUP_RANKS_MAX];
	struct group_options o = r->options;
	struct group_offer *offer;
	struct comm *c;
	int code;

	if (r->options_of)
		r->options_of(&o, rank, r->ctx);
	code = group_offer(r->transport, &o, &offer, m->address[rank], &end->e);
	if (code)
		return code;
	atomic_fetch_add(&m->noffer, 1);
	while (atomic_load(&m->noffer) < r->size)
		poll(NULL, 0, 1);
	memcpy(address, m->address, sizeof address);
	if (r->addresses_of)
		r->addresses_of(address, rank, r->ctx);
	for (unsigned i = 0; i < r->size; i++)
		list[i] = address[i];
	end->seconds = clock_seconds();
	code = group_open(offer, rank, r->size, list, &c, &end->e);
	if (!code) {
		code = r->body(c, r->ctx, &end->e);
		comm_close(c);
	}
	end->seconds = clock_seconds() - end->seconds;
	return code;
}

void ranks_start(const struct ranks *r, struct rank_end *end)
{
	struct meeting *m = shared_memory(sizeof *m);
	int nbefore;

	fflush(NULL);
	for (unsigned rank = 0; rank < r->size; rank++) {
		pid_t pid = fork();

		if (pid < 0)
			abort();
		if (pid) {
			end[rank].pid = pid;
			continue;
		}
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		nbefore = open_descriptors();
		end[rank].code = in_group(r, rank, m, &end[rank]);
		end[rank].nleft = open_descriptors() - nbefore;
		_exit(0);
	}
	munmap(m, sizeof *m);
}

void ranks_wait(const struct ranks *r, struct rank_end *end)
{
	for (unsigned rank = 0; rank < r->size; rank++)
		waitpid(end[rank].pid, &end[rank].status, 0);
}

/* An MPI's addresses differ in a number, "mpi:NAME:NUMBER:HOST", as all are on this host. */
static unsigned launched_addresses(const char *own, unsigned size,
	char address[GROUP_RANKS_MAX][GROUP_ADDRESS_MAX])
{
	const char *number = strchr(own + strlen("mpi:"), ':') + 1, *host = strchr(number, ':');

	for (unsigned r = 0; r < size; r++)
		snprintf(address[r], GROUP_ADDRESS_MAX, "%.*s%u%.200s", (int)(number - own), own, r,
			host);
	return (unsigned)atoi(number);
}

void ranks_launched(const struct ranks *r, struct rank_end *end,
	void (*said)(const struct rank_end *end, unsigned rank, void *ctx), void *ctx)
{
	char own[GROUP_ADDRESS_MAX], address[GROUP_RANKS_MAX][GROUP_ADDRESS_MAX];
	const char *list[GROUP_RANKS_MAX];
	struct group_options o = r->options;
	struct group_offer *offer;
	struct comm *c = NULL;
	unsigned rank = 0;

	memset(o.key, 7, sizeof o.key);
	end->code = group_offer(r->transport, &o, &offer, own, &end->e);
	if (!end->code) {
		rank = launched_addresses(own, r->size, address);
		for (unsigned k = 0; k < r->size; k++)
			list[k] = address[k];
		if (r->options_of) {
			group_offer_free(offer);
			r->options_of(&o, rank, r->ctx);
			end->code = group_offer(r->transport, &o, &offer, own, &end->e);
		}
	}
	if (!end->code)
		end->code = group_open(offer, rank, r->size, list, &c, &end->e);
	if (!end->code)
		end->code = r->body(c, r->ctx, &end->e);
	said(end, rank, ctx);
	comm_close(c);
}

int ranks_run(const struct ranks *r, struct err *e)
{
	size_t nbyte = r->size * sizeof(struct rank_end);
	struct rank_end *end = shared_memory(nbyte);
	int code = 0;

	ranks_start(r, end);
	ranks_wait(r, end);
	for (unsigned rank = 0; rank < r->size && !code; rank++) {
		if (end[rank].code)
			code = err_set(e, end[rank].code, "rank %u: %s", rank, end[rank].e.text);
		else if (end[rank].status)
			code = err_set(e, -ERR_BUG, "rank %u ended with status %d", rank,
				end[rank].status);
		else if (end[rank].nleft)
			code = err_set(e, -ERR_BUG, "rank %u left %d descriptors open", rank,
				end[rank].nleft);
	}
	munmap(end, nbyte);
	return code;
}
