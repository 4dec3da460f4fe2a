/* SPDX-License-Identifier: Apache-2.0
 * What a coordinator decides without any connection: the states of a worker, how many files it may open, and when a job
 * without workers ends. */
#include "runtime/net/cluster/cluster_state.h"
#include "runtime/net/scheduler/scheduler_state.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tap.h"

/* For each state, the states that may follow. */
static const char *const next_states[WORKER_STATE_COUNT] = {
	[WORKER_WAITING] = "started lost",
	[WORKER_STARTED] = "waiting proved leaving lost",
	[WORKER_PROVED] = "described leaving lost",
	[WORKER_DESCRIBED] = "preparing leaving lost",
	[WORKER_PREPARING] = "ready leaving lost",
	[WORKER_READY] = "described leaving lost",
	[WORKER_LEAVING] = "lost",
	[WORKER_LOST] = "waiting started",
};

static bool is_next(enum worker_state from, enum worker_state to)
{
	const char *name = worker_state_name(to), *at = strstr(next_states[from], name);
	size_t len = strlen(name);

	return at && (at == next_states[from] || at[-1] == ' ') && (!at[len] || at[len] == ' ');
}

/* Whether worker_set_state makes the transition; in a process of its own, since it aborts on others. */
static bool makes_transition(enum worker_state from, enum worker_state to)
{
	struct worker w = { .state = from };
	int status;
	pid_t pid = fork();

	if (!pid) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
		close(STDERR_FILENO);
		worker_set_state(&w, to);
		_exit(w.state == to ? 0 : 1);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status);
}

static void test_states(void)
{
	for (int from = 0; from < WORKER_STATE_COUNT; from++)
		for (int to = 0; to < WORKER_STATE_COUNT; to++) {
			bool next = is_next(from, to);

			tap_ok(makes_transition(from, to) == next, "%s to %s %s",
				worker_state_name(from), worker_state_name(to),
				next ? "is a transition" : "aborts");
		}
}

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
	scheduler_free(c->scheduler);
	*c = (struct coordinator){ .worker = m, .nworker = 1, .scheduler = scheduler_new(1, SHARD_OFF),
		.liveness = { .started = true, .heard = heard }, .o = { .start_s = 15, .restarts = 10 } };
	worker_restart_later(c, m, &why, 100);
}

static bool goes_on(struct coordinator *c, double now)
{
	workers_restart_watch(c, now);
	return !c->scheduler->fault.code;
}

static void test_replacement(void)
{
	struct coordinator c = { .nworker = 0 };
	struct worker m;

	lose_all(&c, &m, 100);
	tap_ok(m.state == WORKER_WAITING && m.start_at == 100.5, "the last worker is started again, half a second after its loss");
	tap_ok(goes_on(&c, 100) && goes_on(&c, 104.9), "until then the job goes on");
	tap_ok(goes_on(&c, 110), "also where it has to wait for its turn");
	worker_set_state(&m, WORKER_STARTED);
	m.heard = 110;
	tap_ok(goes_on(&c, 113.9), "it has four seconds to come");
	tap_ok(!goes_on(&c, 114.1) && c.scheduler->fault.code == -ERR_UNREACHABLE,
		"then the job ends (%s)", c.scheduler->fault.text);

	lose_all(&c, &m, 85);                /* nothing was heard for 15 s before it was given up */
	tap_ok(goes_on(&c, 100.1), "a worker that was silent for 15 s is started again as well");
	worker_set_state(&m, WORKER_STARTED);
	m.heard = 100.5;
	tap_ok(goes_on(&c, 104.4) && !goes_on(&c, 104.6), "and has as long");

	lose_all(&c, &m, 100);
	m.nvain = 2;
	tap_ok(goes_on(&c, 100) && goes_on(&c, 104.9) && !goes_on(&c, 105.1), "after a first try in vain the job ends when none has been there for 5 s");
	lose_all(&c, &m, 100);
	worker_set_state(&m, WORKER_LOST);
	tap_ok(!goes_on(&c, 100.1), "where no worker will be started it ends at once");
	scheduler_free(c.scheduler);
}

int main(void)
{
	test_states();
	test_descriptors();
	test_replacement();
	return tap_done();
}
