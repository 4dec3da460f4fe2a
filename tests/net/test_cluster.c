/* SPDX-License-Identifier: Apache-2.0
 * What a coordinator decides without any connection: how many files it may open, and when a job without workers ends. */
#include "config.h"
#include "runtime/net/cluster/worker.h"

#include <sys/resource.h>

#include "tests/tap.h"

static void test_descriptors(void)
{
	struct rlimit before, after, low;
	struct err e = { 0, "" };

	getrlimit(RLIMIT_NOFILE, &before);
	low = (struct rlimit){ 64, before.rlim_max };
	if (setrlimit(RLIMIT_NOFILE, &low))
		tap_bail("no limits");
	tap_ok(!descriptors_reserve(20, &e) && !getrlimit(RLIMIT_NOFILE, &after) && after.rlim_cur == 3 * 20 + PENDING_CONNECTIONS_MAX + LISTENERS_MAX + 64,
		"a limit that is too low is raised to what is needed (%llu)", (unsigned long long)after.rlim_cur);
	tap_ok(!descriptors_reserve(1, &e) && !getrlimit(RLIMIT_NOFILE, &low) && low.rlim_cur == after.rlim_cur, "one that is enough stays");
	setrlimit(RLIMIT_NOFILE, &before);
}

/* A job whose only worker was lost at 100 s; its clock starts there. */
static void lose_all(struct coordinator *c, struct worker *m, double heard)
{
	const struct err why = { -ERR_UNREACHABLE, "it went" };

	*m = (struct worker){ .state = WORKER_LOST, .peer.fd = -1, .process = LAUNCHED_NONE };
	*c = (struct coordinator){ .worker = m, .nworker = 1, .started = true, .heard = heard, .o = { .start_s = 15, .restarts = 10 } };
	worker_restart_later(c, m, &why, 100);
}

static bool goes_on(struct coordinator *c, double now)
{
	workers_restart_watch(c, now);
	return !c->fault.code;
}

static void test_replacement(void)
{
	struct coordinator c;
	struct worker m;

	lose_all(&c, &m, 100);
	tap_ok(m.state == WORKER_WAITING && m.start_at == 100.5, "the last worker is started again, half a second after its loss");
	tap_ok(goes_on(&c, 100) && goes_on(&c, 104.9), "until then the job goes on");
	tap_ok(goes_on(&c, 110), "also where it has to wait for its turn");
	m.state = WORKER_STARTED;
	m.heard = 110;
	tap_ok(goes_on(&c, 113.9), "it has four seconds to come");
	tap_ok(!goes_on(&c, 114.1) && c.fault.code == -ERR_UNREACHABLE, "then the job ends (%s)", c.fault.text);

	lose_all(&c, &m, 85);                /* nothing was heard for 15 s before it was given up */
	tap_ok(goes_on(&c, 100.1), "a worker that was silent for 15 s is started again as well");
	m.state = WORKER_STARTED;
	m.heard = 100.5;
	tap_ok(goes_on(&c, 104.4) && !goes_on(&c, 104.6), "and has as long");

	lose_all(&c, &m, 100);
	m.nvain = 2;
	tap_ok(goes_on(&c, 100) && goes_on(&c, 104.9) && !goes_on(&c, 105.1), "after a first try in vain the job ends when none has been there for 5 s");
	lose_all(&c, &m, 100);
	m.state = WORKER_LOST;
	tap_ok(!goes_on(&c, 100.1), "where no worker will be started it ends at once");
}

int main(void)
{
	test_descriptors();
	test_replacement();
	return tap_done();
}
