/* SPDX-License-Identifier: Apache-2.0
 * Workers that are ranks of groups: one that follows reads nothing until its group ends, so that
 * all that the coordinator sends on its own stays in its socket. It gets no heartbeats, and takes
 * part in no profile. */
#include "runtime/net/cluster/coordinator.h"

#include "runtime/base/profile/recorder.h"
#include "runtime/net/launch/rendezvous.h"
#include "tests/net/played.h"

#define HEARTBEAT_S 0.05

static atomic_int leave;
static struct coordinator *c;

/* ---- the other side ---- */

/* Of each rank: GROUPs, HEARTBEATs behind the first of them, and other messages. */
static atomic_uint ngroup[NWORKER], nheartbeat[NWORKER], nother[NWORKER];

/* The end of a recording, in which nothing was recorded. */
static void end_profile(unsigned k, const struct wire_profile *m)
{
	struct buf b = BUF_INIT;

	wire_put_profiled(&b, &(struct wire_profiled){ .capture = m->capture });
	put(k, &b);
	buf_release(&b);
}

static void answer(unsigned k, const uint8_t *body, size_t len)
{
	struct buf address = BUF_INIT;
	struct wire_profile m;

	nheartbeat[k] += body[0] == WIRE_HEARTBEAT && ngroup[k];
	nother[k] += body[0] != WIRE_HEARTBEAT && body[0] != WIRE_GROUP && body[0] != WIRE_BYE;
	if (body[0] == WIRE_GROUP && !ngroup[k]++) {
		wire_put_group(&address, &(struct wire_group){ (const uint8_t *)"there", 5 });
		put(k, &address);
	} else if (body[0] == WIRE_PROFILE && wire_get_profile(body, len, &m) && !m.level) {
		end_profile(k, &m);
	} else if (body[0] == WIRE_BYE) {
		peer_close(&peer[k]);
	}
	buf_release(&address);
}

static void be_ranks(void)
{
	while (!leave) {
		for (unsigned k = 0; k < NWORKER; k++) {
			const uint8_t *body;
			size_t len;

			if (peer[k].fd >= 0 && peer_fill(&peer[k], NULL))
				peer_close(&peer[k]);
			while (peer[k].fd >= 0 && peer_next(&peer[k], &body, &len, NULL) == 1)
				answer(k, body, len);
		}
		usleep(2000);
	}
}

/* Two ranks of one of several groups: the coordinator starts the first one. */
static void *be_group(void *arg)
{
	(void)arg;
	read_boot(0);
	boot[1] = boot[0];
	become_worker(0, 0);
	become_worker(1, 0);
	be_ranks();
	return NULL;
}

/* Rank 1 of the only group, whose rank 0 is the coordinator. */
static void *be_follower(void *arg)
{
	double until = clock_seconds() + PATIENCE_S;
	static struct rendezvous meeting;

	(void)arg;
	while (rendezvous_read("meeting", &meeting, NULL) && clock_seconds() < until)
		usleep(10000);
	memcpy(boot[1].key, meeting.key, sizeof boot[1].key);
	memcpy(boot[1].job, meeting.job, sizeof boot[1].job);
	memcpy(boot[0].address[0], meeting.address[0], sizeof boot[0].address[0]);
	become_worker(1, 0);
	be_ranks();
	return NULL;
}

/* ---- this side ---- */

static void start(void *(*others)(void *), const struct hosts *hosts, const char *rendezvous,
	pthread_t *thread)
{
	static const uint8_t words[SHA256_BYTES];
	static struct external_workers external; /* the coordinator looks at it until it is free */
	struct coordinator_options o = { .hosts = hosts,
		.external = &external,
		.launcher = LAUNCHER_EXEC,
		.agent = "./agent",
		.encrypt = true,
		.start_s = PATIENCE_S,
		.heartbeat_s = HEARTBEAT_S,
		.suspect_s = PATIENCE_S,
		.dead_s = PATIENCE_S,
		.say = say };
	struct err e = { 0, "" };

	external = (struct external_workers){ .n = 1,
		.on_this_host = true,
		.host = "",
		.words = words,
		.rendezvous = rendezvous,
		.seconds = PATIENCE_S };
	leave = 0;
	for (unsigned k = 0; k < NWORKER; k++) {
		peer[k].fd = -1;
		ngroup[k] = nheartbeat[k] = nother[k] = 0;
	}
	pthread_create(thread, NULL, others, NULL);
	if (coordinator_new(&o, &c, &e))
		tap_bail("no workers: %s", e.text);
}

static void end(pthread_t thread)
{
	coordinator_free(c);
	leave = 1;
	pthread_join(thread, NULL);
}

/* n workers become ranks, and the last one has received that. */
static void form_group(unsigned n)
{
	const char *address[NWORKER];
	struct err e = { 0, "" };

	coordinator_group_begin(c);
	for (unsigned k = 0; k < n; k++) {
		if (k)
			coordinator_group_follows(c, k, 1);
		coordinator_group_send(c, k, "start", 5);
	}
	tap_is_int(coordinator_group_addresses(c, address, &e), 0, "%u give their addresses (%s)",
		n, e.text);
	nheartbeat[0] = 0;
	for (unsigned k = 0; k < n; k++)
		coordinator_group_send(c, k, "all", 3);
	for (double until = clock_seconds() + PATIENCE_S; ngroup[1] < 2 && clock_seconds() < until;)
		usleep(1000);
	nheartbeat[1] = nother[1] = 0; /* one may have been sent before its address came */
}

static void take_profile(void)
{
	struct pool *p = coordinator_pool(c);
	struct profile *profile = profile_new();
	struct err e = { 0, "" };

	tap_is_int(p->ops->record(p, PROFILE_LAYERS, 1 << 20, &e), 0, "a profile (%s)", e.text);
	tap_is_int(p->ops->recorded(p, profile, &e), 0, "which ends (%s)", e.text);
	profile_free(profile);
}

static void test_several(void)
{
	struct host host = { "127.0.0.1", 1 };
	struct hosts hosts = { &host, 1, 1 };
	pthread_t thread;

	start(be_group, &hosts, NULL, &thread);
	form_group(2);
	for (double until = clock_seconds() + PATIENCE_S;
		nheartbeat[0] < 5 && clock_seconds() < until;)
		usleep(1000);
	tap_ok(nheartbeat[0] >= 5, "the first rank of a group is sent heartbeats");
	tap_is_int(nheartbeat[1], 0, "another one is sent none meanwhile");
	take_profile();
	tap_ok(nother[0] > 0, "the first one takes part in a profile");
	tap_is_int(nother[1], 0, "the other one is not asked to");
	end(thread);
}

static void test_single(void)
{
	struct hosts none = { NULL, 0, 0 };
	pthread_t thread;

	start(be_follower, &none, "meeting", &thread);
	form_group(1);
	usleep((useconds_t)(8 * HEARTBEAT_S * 1e6));
	take_profile();
	tap_is_int(nheartbeat[1], 0, "a rank of the only group is sent no heartbeats");
	tap_is_int(nother[1], 0, "and is not asked to take part in a profile");
	end(thread);
}

int main(void)
{
	play_agent();
	test_several();
	test_single();
	buf_release(&notes);
	return tap_done();
}
