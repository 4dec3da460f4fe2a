/* SPDX-License-Identifier: Apache-2.0
 * MPI wants to be ended by the thread that has started it: that thread sleeps between the two. */
#include "runtime/net/comm/mpi_process.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/system/clock.h"
#include "runtime/base/system/threads.h"

enum stage {
	STAGE_NONE = 0,
	STAGE_STARTING,
	STAGE_STARTED,
	STAGE_FAILED,
	STAGE_ENDING,
	STAGE_ENDED
};
/* For the others to exit, too. They have nothing to do any more; but rank 0 may have, and where it fails the launcher ends them. */
static const double END_S = 15, END_LATER_S = 300;
enum { LEADER_S = 60 }; /* for the leader of a group that has lost a rank to say so */

static struct mpi_process process = { .lock = PTHREAD_MUTEX_INITIALIZER };
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum stage stage;
	char text[MPI_TEXT_MAX]; /* why it failed to start */
	bool lost, leads;        /* a group has lost a rank, and this process leads it */
	pid_t pid;
} now = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* With now.lock. */
static void set(enum stage s)
{
	now.stage = s;
	pthread_cond_broadcast(&now.changed);
}

static void *run(void *ctx)
{
	const struct mpi_module *m = process.module;
	int code = m->start(&process.rank, &process.size, now.text);

	(void)ctx;
	pthread_mutex_lock(&now.lock);
	if (now.stage == STAGE_STARTING) /* not too late */
		set(code ? STAGE_FAILED : STAGE_STARTED);
	while (now.stage != STAGE_ENDING)
		pthread_cond_wait(&now.changed, &now.lock);
	pthread_mutex_unlock(&now.lock);
	m->end();
	pthread_mutex_lock(&now.lock);
	set(STAGE_ENDED);
	pthread_mutex_unlock(&now.lock);
	return NULL;
}

/* With now.lock: until the stage is no longer `s`, or the time is over. */
static void await(enum stage s, double until)
{
	double left;

	while (now.stage == s && (left = until - clock_seconds()) > 0)
		cond_wait_for(&now.changed, &now.lock, left);
}

/* ---- exit ---- */

static void end(double until, int status)
{
	mutex_auto held = mutex_hold(&now.lock);

	set(STAGE_ENDING);
	await(STAGE_ENDING, until);
	if (now.stage == STAGE_ENDING) /* MPI is still at it: nothing of it may be taken away */
		_exit(status);
}

/* A launcher ends the others when a process exits without having ended MPI. */
static void leave_job(int status, void *ctx)
{
	(void)ctx;
	if (getpid() != now.pid)
		return;
	fflush(NULL);
	if (now.stage == STAGE_STARTED)
		end(clock_seconds() + (process.rank ? END_LATER_S : END_S), status);
	else if (now.leads && status)
		process.module->abort(status);
	else if (now.lost && !now.leads)
		nanosleep(&(struct timespec){ .tv_sec = LEADER_S }, NULL);
}

void mpi_process_fail(bool leads)
{
	mutex_auto held = mutex_hold(&now.lock);

	if (now.stage != STAGE_STARTED)
		return;
	snprintf(now.text, sizeof now.text, "an earlier group has lost a rank");
	now.lost = true;
	now.leads = leads;
	set(STAGE_FAILED);
}

/* ---- start ---- */

/* With now.lock. */
static int begin(const struct mpi_library *l, double until, struct err *e)
{
	double since = clock_seconds();
	pthread_t thread;
	int code = mpi_load(l, &process.module, e);

	if (code)
		return code;
	cond_init(&now.changed);
	now.stage = STAGE_STARTING;
	now.pid = getpid();
	if (on_exit(leave_job, NULL) || !thread_start(&thread, run, NULL)) {
		now.stage = STAGE_NONE;
		return err_set(e, -ERR_CONFIG, "the system has no thread for MPI");
	}
	pthread_detach(thread);
	await(STAGE_STARTING, until);
	if (now.stage != STAGE_STARTING)
		return 0;
	snprintf(now.text, sizeof now.text, "it has not started in time");
	set(STAGE_FAILED);
	return err_set(e, -ERR_UNREACHABLE,
		"%s has not started within %.1f s: a process of the job does not take part",
		l->title, clock_seconds() - since);
}

int mpi_process_start(const struct mpi_library *l, double until, struct mpi_process **out,
	struct err *e)
{
	mutex_auto held = mutex_hold(&now.lock);
	int code = 0;

	if (now.stage == STAGE_NONE)
		code = begin(l, until, e);
	if (!code && now.stage != STAGE_STARTED)
		code = err_set(e, -ERR_CONFIG, "%s cannot be used: %s", l->title, now.text);
	if (!code)
		*out = &process;
	return code;
}
