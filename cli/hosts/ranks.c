/* SPDX-License-Identifier: Apache-2.0
 * Ranks of a group: each is `qcnn worker --follow`, started as workers are. */
#include "cli/hosts/ranks.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/hosts/rank_start.h"
#include "runtime/base/arena.h"
#include "runtime/base/crypto/crypto_session.h"
#include "runtime/base/system/clock.h"
#include "runtime/base/system/cpus.h"
#include "runtime/exec/statevector/split/split_group.h"

enum { LOOK_MS = 200 };
static const double START_S = 15; /* usual */
/* For a rank to end: one that has closed its output, and one whose group is over. */
static const double END_S = 2, LEAVE_S = 15,
		    DEATH_S = 0.1; /* and from the end of a connection to that of its process */

struct ranks {
	struct split_rank rank;
	struct rank_places places;
	bool chosen;                              /* the number of threads */
	struct launched process[SPLIT_RANKS_MAX]; /* of rank 0: none */
};

/* ---- places ---- */

static bool is_here(const struct ranks *r, unsigned rank)
{
	return r->places.place[rank].launcher == LAUNCHER_LOCAL;
}

static const char *host_of(const struct ranks *r, unsigned rank)
{
	return is_here(r, rank) ? "this host" : r->places.place[rank].host;
}

/* Of the first n ranks, those on the host of a rank. */
static unsigned count_near(const struct ranks *r, unsigned rank, unsigned n)
{
	unsigned near = 0;

	for (unsigned k = 0; k < n; k++)
		near += !strcmp(host_of(r, k), host_of(r, rank));
	return near;
}

/* The first rank of another host; 0: there is none. */
static unsigned first_away(const struct ranks *r)
{
	for (unsigned k = 1; k < r->rank.nrank; k++)
		if (!is_here(r, k))
			return k;
	return 0;
}

static int find_leader(const struct ranks *r, char leader[OWN_ADDRESS_MAX], struct err *e)
{
	unsigned away = first_away(r);

	*leader = 0;
	if (!away || r->places.mpi)
		return 0;
	if (r->places.joined)
		return coordinator_own_address(r->places.joined, away - 1, leader, e);
	if (r->places.iface)
		return own_address_of(r->places.iface, leader, e);
	return own_address_to(r->places.place[away].host, r->places.place[away].launcher, leader, e);
}

/* ---- starting ---- */

static void say(void *ctx, const char *line)
{
	const struct rank_places *p = *(const struct rank_places *const *)ctx;
	const struct launch_place *place = ((const struct launch_place *const *)ctx)[1];

	if (p->say)
		p->say(p->ctx, place->host, line);
}

static void relay(struct ranks *r, unsigned rank)
{
	const void *ctx[] = { &r->places, &r->places.place[rank] };

	launch_relay(&r->process[rank], say, ctx);
}

/* Waits until its process has ended; kills it at `until`, as one that is stopped would never end by itself. */
static void await_end(struct launched *l, double until)
{
	launch_let_go(l, false);
	while (l->pid && !launch_reap(l)) {
		if (clock_seconds() > until)
			launch_let_go(l, true);
		poll(NULL, 0, 1);
	}
}

/* It has ended, or its launcher. */
static int lost(struct ranks *r, unsigned rank, struct err *e)
{
	struct launched *l = &r->process[rank];
	buf_auto how = BUF_INIT;

	await_end(l, clock_seconds() + END_S);
	relay(r, rank);
	launch_ending(l, &how);
	const char *hint = launch_hint(l);
	err_set(e, -ERR_UNREACHABLE, "rank %u on %s ended before it was ready (%s)%s%s%s%s", rank,
		host_of(r, rank), how.data, *l->last ? ": " : "", l->last, hint ? "; " : "",
		hint ? hint : "");
	return -ERR_UNREACHABLE;
}

/* What a rank receives first. */
static const union rank_start *start_of(const struct ranks *r, union rank_start *s, unsigned rank)
{
	s->rank = rank;
	s->share = count_near(r, rank, r->rank.nrank);
	s->local = count_near(r, rank, rank);
	if (!r->chosen && r->places.nthread[rank])
		s->nthread = r->places.nthread[rank];
	return s;
}

/* The same where they were started together with this one. */
static int ask_addresses(struct ranks *r, union rank_start *s, const char **list, struct err *e)
{
	struct coordinator *c = r->places.joined;

	coordinator_group_begin(c);
	for (unsigned k = 1; k < r->rank.nrank; k++)
		coordinator_group_send(c, k - 1, start_of(r, s, k), sizeof *s);
	return coordinator_group_addresses(c, list + 1, e);
}

/* Waits until all ranks have given their addresses. s: their first message, without their numbers. */
static int await_addresses(struct ranks *r, union rank_start *s, struct err *e)
{
	double heard = clock_seconds(),
	       patience = r->places.start_s > 0 ? r->places.start_s : START_S;

	for (;;) {
		struct pollfd f[2 * SPLIT_RANKS_MAX];
		unsigned missing = 0;

		for (unsigned k = 1; k < r->rank.nrank; k++) {
			struct launched *l = &r->process[k];

			if (l->wants_boot)
				launch_boot(l, start_of(r, s, k), sizeof *s);
			missing = *l->address || missing ? missing : k;
			f[2 * k - 2] = (struct pollfd){ launch_events(l) ? l->control : -1,
				launch_events(l), 0 };
			f[2 * k - 1] = (struct pollfd){ l->errors, POLLIN, 0 };
		}
		if (!missing)
			return 0;
		if (poll(f, 2 * (r->rank.nrank - 1), LOOK_MS) > 0)
			heard = clock_seconds();
		for (unsigned k = 1; k < r->rank.nrank; k++) {
			relay(r, k);
			if (!*r->process[k].address
				&& (r->process[k].silent || launch_reap(&r->process[k])))
				return lost(r, k, e);
		}
		if (clock_seconds() - heard > patience)
			return err_set(e, -ERR_UNREACHABLE,
				"rank %u on %s has not started within %.0f s: --start-seconds waits longer",
				missing, host_of(r, missing), patience);
	}
}

/* While the group is opened: 0, or one has ended. */
static int watch(void *ctx, struct err *e)
{
	struct ranks *r = ctx;

	for (unsigned k = 1; k < r->rank.nrank; k++) {
		relay(r, k);
		if (launch_reap(&r->process[k]))
			return lost(r, k, e);
	}
	return 0;
}

static void give(struct ranks *r, unsigned rank, const void *bytes, size_t n)
{
	if (r->places.joined)
		coordinator_group_send(r->places.joined, rank - 1, bytes, (uint32_t)n);
	else
		launch_boot(&r->process[rank], bytes, n);
}

static int open_group(struct ranks *r, union rank_start *s, struct err *e)
{
	struct group_options o = { .encrypt = s->encrypt,
		.bind = *s->leader ? s->leader : NULL,
		.watch = r->places.joined ? NULL : watch,
		.watch_ctx = r };
	char address[SPLIT_RANKS_MAX][GROUP_ADDRESS_MAX];
	const char *list[SPLIT_RANKS_MAX];
	struct group_offer *offer;

	memset(address, 0, sizeof address);
	memcpy(o.key, s->key, sizeof o.key);
	int code = group_offer(s->transport, &o, &offer, address[0], e);
	explicit_bzero(&o, sizeof o);
	if (code)
		return code;
	for (unsigned k = 1; k < r->rank.nrank; k++)
		list[k] = r->process[k].address;
	code = r->places.joined ? ask_addresses(r, s, list, e) : await_addresses(r, s, e);
	if (code) {
		group_offer_free(offer);
		return code;
	}
	for (unsigned k = 1; k < r->rank.nrank; k++)
		snprintf(address[k], sizeof address[k], "%.*s", GROUP_ADDRESS_MAX - 1, list[k]);
	for (unsigned k = 0; k < r->rank.nrank; k++)
		list[k] = address[k];
	for (unsigned k = 1; k < r->rank.nrank; k++)
		give(r, k, address, r->rank.nrank * sizeof *address);
	return group_open(offer, 0, r->rank.nrank, list, &r->rank.comm, e);
}

int ranks_check(unsigned nrank, const struct evaluator_options *o, struct err *e)
{
	unsigned split = o->split ? o->split : 1;

	if (nrank & (nrank - 1))
		return err_set(e, -ERR_CONFIG, "--ranks takes a power of two, not %u", nrank);
	if (nrank <= split)
		return 0;
	if (o->method == METHOD_TENSOR)
		return err_set(e, -ERR_CONFIG,
			"the method tensor has no states that %u processes could share: set run.method=statevector, too, or "
			"leave out --ranks",
			nrank);
	return err_set(e, -ERR_CONFIG,
		"states are planned in %u part%s, which %u processes cannot share: set run.split=%u, too, "
		"or give fewer --ranks",
		split, split == 1 ? "" : "s", nrank, nrank);
}

int ranks_start(struct evaluator_options *o, unsigned nrank, const struct rank_places *places,
	struct ranks **out, struct err *e)
{
	union rank_start s = { { .size = nrank } };
	struct ranks *r;
	const char *rule;

	*out = NULL;
	if (nrank < 2)
		return 0;
	int code = ranks_check(nrank, o, e);
	if (code)
		return code;
	if (!crypto_start())
		return err_set(e, -ERR_CONFIG, "this system gives no random numbers");
	r = mem_alloc(1, sizeof *r);
	r->rank = (struct split_rank){ .nrank = nrank, .turn = PTHREAD_MUTEX_INITIALIZER };
	for (unsigned k = 0; k < nrank; k++)
		r->process[k] = LAUNCHED_NONE;
	/* Ranks without a place, all of them where `places` is NULL, are on this host. */
	if (places)
		r->places = *places;
	for (unsigned k = 0; k < r->rank.nrank; k++)
		if (r->places.place[k].launcher == LAUNCHER_NONE)
			r->places.place[k] = (struct launch_place){
				.launcher = LAUNCHER_LOCAL, .host = "local", .follow = true
			};
	r->rank.wish = r->places.link;
	r->rank.one_host = !first_away(r);
	unsigned here = r->rank.share = count_near(r, 0, nrank);
	snprintf(s.version, sizeof s.version, "%s", PACKAGE_VERSION);
	snprintf(s.transport, sizeof s.transport, "%s",
		r->places.mpi           ? "mpi"
			: first_away(r) ? "tcp"
					: "shm");
	s.encrypt = !places || places->encrypt;
	/* What nobody chose is that of each host. */
	s.memory_limit = o->memory_limit;
	if (!first_away(r) && !s.memory_limit)
		s.memory_limit = cpus_memory_available();
	if (!target_has_memory(target_or_best(o->target)))
		o->memory_limit = (s.memory_limit ? s.memory_limit : cpus_memory_available()) / here;
	r->chosen = o->nthread != cpus_threads(&rule);
	unsigned share = o->nthread > here ? o->nthread / here : 1;
	s.nthread = first_away(r) && !r->chosen ? 0 : share;
	o->nthread = r->places.nthread[0] && !r->chosen ? r->places.nthread[0] : share;
	crypto_random(s.key, sizeof s.key);
	code = find_leader(r, s.leader, e);
	for (unsigned k = 1; k < nrank && !code && !r->places.joined; k++)
		code = launch_start(&r->places.place[k], &r->process[k], e);
	if (!code)
		code = open_group(r, &s, e);
	explicit_bzero(s.key, sizeof s.key);
	if (code) {
		ranks_end(r);
		return code;
	}
	o->rank = &r->rank;
	*out = r;
	return 0;
}

struct ranks *ranks_lead(struct comm *comm, const union rank_start *s, struct evaluator_options *o)
{
	struct ranks *r = mem_alloc(1, sizeof *r);

	r->rank = (struct split_rank){ .nrank = comm->size,
		.local = s->local,
		.share = s->share,
		.one_host = s->one_host,
		.wish = (enum rank_link)s->link,
		.comm = comm,
		.turn = PTHREAD_MUTEX_INITIALIZER };
	for (unsigned k = 0; k < r->rank.nrank; k++)
		r->process[k] = LAUNCHED_NONE;
	o->rank = &r->rank;
	return r;
}

void ranks_check_processors(const struct cli *c, unsigned nrank, unsigned nthread)
{
	unsigned n = cpus_online();

	if (nrank > 1 && nrank * nthread > n)
		cli_note(c,
			"%u ranks with %u thread%s each run on the %u processor%s of this machine, which is slow: ranks that wait "
			"for others keep processors busy",
			nrank, nthread, nthread == 1 ? "" : "s", n, n == 1 ? "" : "s");
}

/* The first rank of this host that a signal has ended; 0: none. Others only see that its connection is gone. */
static unsigned find_killed(struct ranks *r)
{
	double until = clock_seconds() + DEATH_S;

	for (;;) {
		for (unsigned k = 1; k < r->rank.nrank; k++)
			if (is_here(r, k) && launch_reap(&r->process[k])
				&& WIFSIGNALED(r->process[k].status))
				return k;
		if (clock_seconds() > until)
			return 0;
		poll(NULL, 0, 1);
	}
}

static void say_killed(struct ranks *r, unsigned rank)
{
	const void *ctx[] = { &r->places, &r->places.place[rank] };
	const char *hint = launch_hint_local(&r->process[rank]);
	buf_auto line = BUF_INIT;

	buf_printf(&line, "rank %u ended with ", rank);
	launch_ending(&r->process[rank], &line);
	if (hint)
		buf_printf(&line, " (%s)", hint);
	say(ctx, line.data);
}

void ranks_end(struct ranks *r)
{
	if (!r)
		return;
	bool failed = r->rank.code || !r->rank.comm;
	unsigned killed = failed ? find_killed(r) : 0;

	if (killed)
		say_killed(r, killed);
	if (r->rank.comm)
		split_end(&r->rank);
	comm_close(r->rank.comm);
	double until = clock_seconds() + (failed ? 0 : LEAVE_S);
	for (unsigned k = 1; k < r->rank.nrank; k++)
		launch_let_go(&r->process[k], false);
	for (unsigned k = 1; k < r->rank.nrank; k++) {
		if (failed) /* why, where a rank could still say so */
			relay(r, k);
		await_end(&r->process[k], until);
		launch_release(&r->process[k]);
	}
	free(r);
}
