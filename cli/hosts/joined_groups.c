/* SPDX-License-Identifier: Apache-2.0
 * Every group has a key of its own; the coordinator gives it to all ranks and keeps none. */
#include "cli/hosts/joined_groups.h"

#include <stdio.h>
#include <string.h>

#include "cli/hosts/rank_start.h"
#include "cli/hosts/worker_start.h"
#include "runtime/base/arena.h"
#include "runtime/base/crypto/crypto_session.h"

/* All processes, and the groups in which they are. */
struct joined_groups {
	const struct cluster *k;
	struct coordinator *c;
	unsigned n, nrank;
	unsigned *member;     /* (n) workers, group after group */
	unsigned *host;       /* (n) of a worker: the first worker of its machine */
	const char **address; /* (n) of a worker */
	unsigned nthread;
};

/* Of the first n workers, those on the machine of worker k. */
static unsigned count_near(const struct joined_groups *g, unsigned k, unsigned n)
{
	unsigned near = 0;

	for (unsigned other = 0; other < n; other++)
		near += g->host[other] == g->host[k];
	return near;
}

/* In the order of their ranks, those workers of a machine that fill groups, or the others. */
static unsigned place_host(struct joined_groups *g, unsigned host, bool fill, unsigned placed)
{
	unsigned n = 0, filling = count_near(g, host, g->n) / g->nrank * g->nrank;

	for (unsigned k = host; k < g->n; k++)
		if (g->host[k] == host && (n++ < filling) == fill)
			g->member[placed++] = k;
	return placed;
}

/* Groups of one machine first, as many as there can be; then the other workers, in the order of
 * their machines. The first worker is the first of its group. */
static void sort_members(struct joined_groups *g)
{
	unsigned placed = 0;

	for (unsigned k = 0; k < g->n; k++) {
		g->host[k] = k;
		for (unsigned other = 0; other < k && g->host[k] == k; other++)
			if (g->host[other] == other && coordinator_same_host(g->c, other, k))
				g->host[k] = other;
	}
	for (unsigned filled = 0; filled < 2; filled++)
		for (unsigned k = 0; k < g->n; k++)
			if (g->host[k] == k)
				placed = place_host(g, k, !filled, placed);
}

/* Of member[nrank], those on that machine. */
static unsigned count_in_group(const struct joined_groups *g, const unsigned *member, unsigned k)
{
	unsigned near = 0;

	for (unsigned r = 0; r < g->nrank; r++)
		near += g->host[member[r]] == g->host[k];
	return near;
}

/* Compute threads of worker k; 0: the share that it finds. */
static unsigned threads_of(const struct joined_groups *g, const unsigned *member, unsigned k)
{
	unsigned local = g->k->joined.join.local, near = count_in_group(g, member, k);

	if (g->nthread)
		return g->nthread > near ? g->nthread / near : 1;
	if (!local)
		return 0;
	return k ? coordinator_rank(g->c, k).threads : worker_threads(local);
}

/* The address of a rank of the group that is not on the machine of worker k. */
static int find_other(const struct joined_groups *g, const unsigned *member, unsigned k,
	char out[OWN_ADDRESS_MAX], struct err *e)
{
	for (unsigned r = 0; r < g->nrank; r++)
		if (g->host[member[r]] != g->host[k])
			return coordinator_address_for(g->c, k, member[r], out, e);
	return 0;
}

/* Tell the ranks of a group what they are. */
static int start_group(const struct joined_groups *g, const unsigned *member, struct err *e)
{
	bool here = count_in_group(g, member, member[0]) == g->nrank;
	union rank_start s = {
		{ .size = g->nrank,
			.encrypt = g->k->wish.encrypt,
			.one_host = here,
			.link = (uint32_t)g->k->link },
	};
	int code = 0;

	snprintf(s.version, sizeof s.version, "%s", PACKAGE_VERSION);
	snprintf(s.transport, sizeof s.transport, "%s", g->k->mpi ? "mpi" : here ? "shm" : "tcp");
	crypto_random(s.key, sizeof s.key);
	for (unsigned r = 0; r < g->nrank && !code; r++) {
		unsigned k = member[r];

		s.rank = r;
		s.nthread = threads_of(g, member, k);
		s.share = count_near(g, k, g->n);
		s.local = count_near(g, k, k);
		if (!g->k->mpi && !here)
			code = find_other(g, member, k, s.leader, e);
		if (r)
			coordinator_group_follows(g->c, k,
				s.nthread ? s.nthread : coordinator_rank(g->c, k).threads);
		if (!code)
			coordinator_group_send(g->c, k, &s, sizeof s);
	}
	explicit_bzero(&s, sizeof s);
	return code;
}

/* The ranks of a group connect to each other. */
static void connect_group(const struct joined_groups *g, const unsigned *member)
{
	char address[SPLIT_RANKS_MAX][GROUP_ADDRESS_MAX];

	memset(address, 0, sizeof address);
	for (unsigned r = 0; r < g->nrank; r++)
		snprintf(address[r], sizeof *address, "%.*s", GROUP_ADDRESS_MAX - 1,
			g->address[member[r]]);
	for (unsigned r = 0; r < g->nrank; r++)
		coordinator_group_send(g->c, member[r], address,
			(uint32_t)(g->nrank * sizeof *address));
}

int joined_groups_open(const struct cluster *k, unsigned nthread, struct err *e)
{
	arena_auto arena = { 0 };
	unsigned n = k->groups.n * k->groups.nrank;
	struct joined_groups g = { .k = k,
		.c = k->coordinator,
		.n = n,
		.nrank = k->groups.nrank,
		.nthread = nthread,
		.member = arena_alloc(&arena, n, sizeof *g.member),
		.host = arena_alloc(&arena, n, sizeof *g.host),
		.address = arena_alloc(&arena, n, sizeof *g.address) };
	int code = 0;

	sort_members(&g);
	coordinator_group_begin(g.c);
	for (unsigned at = 0; at < n && !code; at += g.nrank)
		code = start_group(&g, &g.member[at], e);
	if (!code)
		code = coordinator_group_addresses(g.c, g.address, e);
	for (unsigned at = 0; at < n && !code; at += g.nrank)
		connect_group(&g, &g.member[at]);
	return code;
}
