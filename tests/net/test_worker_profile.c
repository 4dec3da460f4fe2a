/* SPDX-License-Identifier: Apache-2.0
 * A training by workers whose clocks are minutes ahead: profiles of all of them, also when one is killed, joins or is
 * stopped meanwhile; the weights are those of a training without. */
#include "runtime/net/cluster/coordinator.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/profile/recorder.h"
#include "runtime/base/system/clock.h"
#include "runtime/net/worker_process.h"
#include "runtime/train/remote.h"
#include "tests/train/small_job.h"

enum { NWORKER = 2, STEPS = 1200, PATIENCE_S = 30 };

/* ---- clocks ---- */

static unsigned shifted; /* number of the worker that this process is, from 1 on */

/* What worker k adds to the time; the second one's runs faster by 200 in a million. */
static int64_t shift_of(unsigned k, int64_t ns)
{
	return k == 1 ? 420000000000 : k == 2 ? 780000000000 + ns / 5000 : 0;
}

int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);

int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	int code = __real_clock_gettime(id, t);
	int64_t ns = (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;

	if (id != CLOCK_MONOTONIC)
		return code;
	ns += shift_of(shifted, ns);
	t->tv_sec = ns / 1000000000;
	t->tv_nsec = ns % 1000000000;
	return code;
}

/* ---- a worker ---- */

static int be_worker(const char *host)
{
	struct wire_about about = { .kernels = "ref",
		.threads = 1,
		.memory = 1 << 30,
		.version = PACKAGE_VERSION,
		.processor = "any" };
	struct remote_worker *w = remote_worker_new(NULL, NULL);
	struct err e = { 0, "" };
	int code;

	snprintf(about.host, sizeof about.host, "%s", host);
	shifted = (unsigned)atoi(strrchr(host, '.') + 1);
	code = worker_process_run(STDIN_FILENO, &about, &remote_worker_ops, w, &e);
	if (code)
		fprintf(stderr, "%s\n", e.text);
	remote_worker_free(w);
	return code != 0;
}

/* ---- the coordinator ---- */

static struct coordinator *c;
static struct program *program;
static atomic_bool restarted; /* a worker is ready again */

static void say(void *ctx, const char *worker, const char *line)
{
	(void)ctx;
	restarted = restarted || strstr(line, "has been restarted");
	tap_note("%s%s%s", worker ? worker : "", worker ? ": " : "", line);
}

static void start(void)
{
	static struct host host[NWORKER] = { { "127.0.0.1", 1 }, { "127.0.0.2", 1 } };
	static struct hosts hosts = { host, NWORKER, NWORKER };
	static char agent[4200], own[4096];
	struct coordinator_options o = { .hosts = &hosts,
		.launcher = LAUNCHER_EXEC,
		.agent = agent,
		.encrypt = true,
		.restarts = 3,
		.start_s = PATIENCE_S,
		.suspect_s = 1,
		.dead_s = 10 * PATIENCE_S,
		.say = say };
	ssize_t len = readlink("/proc/self/exe", own, sizeof own - 1);
	struct train_job j = job_of(program);
	struct buf text = BUF_INIT;
	struct wire_job job;
	struct err e = { 0, "" };

	snprintf(agent, sizeof agent, "%.*s worker", (int)len, own);
	remote_job(program, &j.exec, &j.measures.loss, data.ny, &text, &job);
	if (coordinator_new(&o, &c, &e) || coordinator_job(c, &job, NULL, &e))
		tap_bail("no workers: %s", e.text);
	buf_release(&text);
}

static void end(void)
{
	coordinator_free(c);
	c = NULL;
}

/* ---- a training ---- */

/* What happens after which step. */
struct plan {
	uint64_t begin, disturb, end;
	void (*what)(void), (*afterwards)(void);
	struct profile *profile;
	int code;
	double record_s, recorded_s;
};

static void on_step(void *ctx, uint32_t restart, uint32_t epoch, uint64_t step, uint32_t in_epoch,
	uint32_t per_epoch, double loss)
{
	struct plan *t = ctx;
	struct pool *pool = coordinator_pool(c);
	struct profile_process own = { .host = "here", .role = "coordinator" };
	struct err e = { 0, "" };
	double now = clock_seconds();

	(void)restart, (void)epoch, (void)in_epoch, (void)per_epoch, (void)loss;
	if (step == t->begin) {
		t->code = pool->ops->record(pool, PROFILE_LAYERS, 16 << 20, &e);
		t->record_s = clock_seconds() - now;
		recorder_start(PROFILE_LAYERS, 16 << 20);
	} else if (step == t->disturb) {
		t->what();
	} else if (step == t->end) {
		struct profile *p = t->profile = profile_new();

		recorder_stop(p, &own);
		p->process = arena_copy(&p->arena, &own, 1, sizeof own);
		p->nprocess = 1;
		now = clock_seconds();
		t->code = t->code ? t->code : pool->ops->recorded(pool, t->profile, &e);
		t->recorded_s = clock_seconds() - now;
		if (t->afterwards)
			t->afterwards();
	}
	recorder_mark(PHASE_LOG);
}

static struct train_result train(struct plan *t, bool workers)
{
	struct train_job j = job_of(program);
	struct train_observer o = { .ctx = t, .step = on_step };

	j.epochs = 1000000;
	j.max_steps = STEPS;
	j.pool = workers ? coordinator_pool(c) : NULL;
	return run(&j, t ? &o : NULL);
}

/* ---- what a profile has to be ---- */

static const struct profile_process *process_of(const struct profile *p, uint32_t rank, bool lost)
{
	for (uint32_t k = 0; p && k < p->nprocess; k++)
		if (p->process[k].rank == rank && p->process[k].lost == lost)
			return &p->process[k];
	return NULL;
}

static uint64_t wall_sum(const struct profile_process *p)
{
	uint64_t sum = 0;

	for (unsigned k = 0; k < PHASE_COUNT; k++)
		sum += p->wall_ns[k];
	return sum;
}

/* The truth, in the middle of what was recorded. */
static int64_t offset_error(const struct profile_process *p)
{
	int64_t middle = p->begin + (p->end - p->begin) / 2;

	return p->offset - shift_of(p->rank, middle);
}

/* Of workers: those in profiles, and those with more than 2 % of their time in no phase, as where the system interrupts
 * one of the few instructions between two phases. */
static unsigned nworker, nwithout;

static void check_worker(const struct profile *p, uint32_t rank)
{
	const struct profile_process *w = process_of(p, rank, false);
	const uint64_t *ns;
	int64_t error;
	double none;

	if (!tap_ok(w, "worker %u is there", rank))
		return;
	ns = w->wall_ns;
	error = offset_error(w);
	tap_ok(!strcmp(w->role, "worker") && !strncmp(w->host, "127.0.0.", 8) && w->pid > 1
			&& (unsigned)atoi(w->host + 8) == rank,
		"with its role, host and process (%s, %s, %u)", w->role, w->host, w->pid);
	tap_ok(ns[PHASE_FORWARD] && ns[PHASE_BACKWARD] && ns[PHASE_RECEIVE] && ns[PHASE_SEND]
			&& ns[PHASE_WAIT],
		"forward %.3f, backward %.3f, receive %.3f, send %.3f, wait %.3f of %.3f ms",
		1e-6 * (double)ns[PHASE_FORWARD], 1e-6 * (double)ns[PHASE_BACKWARD],
		1e-6 * (double)ns[PHASE_RECEIVE], 1e-6 * (double)ns[PHASE_SEND],
		1e-6 * (double)ns[PHASE_WAIT], 1e-6 * (double)(w->end - w->begin));
	none = (double)ns[PHASE_NONE] / (double)(w->end - w->begin);
	tap_note("of no phase: %.4f", none);
	nworker++;
	nwithout += none > 0.02;
	tap_ok(llabs((long long)wall_sum(w) - (long long)(w->end - w->begin))
				< (w->end - w->begin) / 100 + PHASE_COUNT
			&& w->busy_ns > 0,
		"phases are all of its time, of which it was busy for %.3f ms",
		1e-6 * (double)w->busy_ns);
	tap_ok(w->units > 0 && w->messages > 2 * w->units / NROW && w->bytes_sent > w->units
			&& w->bytes_received > w->units,
		"it has done %llu units, by %llu messages, %llu bytes sent, %llu received",
		(unsigned long long)w->units, (unsigned long long)w->messages,
		(unsigned long long)w->bytes_sent, (unsigned long long)w->bytes_received);
	/* Half of the shortest trip, which is a long one on a busy machine. */
	tap_ok(w->uncertainty > 0 && llabs(error) <= w->uncertainty + 20000,
		"its clock is ahead by %.3f s, known to %.1f us (uncertain by %.1f)",
		1e-9 * (double)w->offset, 1e-3 * (double)error, 1e-3 * (double)w->uncertainty);
}

static size_t count(const struct profile *p, enum profile_kind kind)
{
	size_t n = 0;

	for (uint32_t i = 0; i < p->nprocess; i++)
		for (uint32_t t = 0; t < p->process[i].nthread; t++)
			for (uint32_t k = 0; k < p->process[i].thread[t].nevent; k++)
				n += p->process[i].thread[t].event[k].kind == kind;
	return n;
}

static void check_messages(struct profile *p, size_t most_lost)
{
	size_t nsend = count(p, EVENT_SEND), nreceive = count(p, EVENT_RECEIVE), n, early = 0;
	struct profile_message *m;
	uint64_t moved = 0;
	int64_t least = INT64_MAX;

	n = profile_messages(p, &m);
	for (size_t k = 0; k < n; k++)
		least = m[k].receive->end - m[k].send->begin < least
			? m[k].receive->end - m[k].send->begin
			: least;
	free(m);
	tap_ok(n > 0 && nreceive - n <= most_lost && nsend - n <= most_lost,
		"%zu sent, %zu received, %zu of both; the fastest took %.1f us", nsend, nreceive, n,
		1e-3 * (double)least);
	profile_order_messages(p);
	n = profile_messages(p, &m);
	for (size_t k = 0; k < n; k++)
		early += m[k].receive->end < m[k].send->begin;
	free(m);
	for (uint32_t k = 0; k < p->nprocess; k++)
		moved += p->process[k].moved_events;
	tap_ok(!early, "none is received before it is sent; %llu were moved for that",
		(unsigned long long)moved);
}

static void check_coordinator(const struct profile *p)
{
	const struct profile_process *own = &p->process[0];
	const uint64_t *ns = own->wall_ns;

	tap_ok(ns[PHASE_SEND] && ns[PHASE_RECEIVE] && ns[PHASE_WAIT]
			&& ns[PHASE_OPTIMIZER] + ns[PHASE_LOG],
		"the coordinator sends %.3f, receives %.3f, waits %.3f of %.3f ms",
		1e-6 * (double)ns[PHASE_SEND], 1e-6 * (double)ns[PHASE_RECEIVE],
		1e-6 * (double)ns[PHASE_WAIT], 1e-6 * (double)(own->end - own->begin));
	tap_ok(own->nthread == 1 && own->bytes_sent > 0 && own->bytes_received > 0
			&& own->messages > 0,
		"by one thread, %llu bytes and %llu", (unsigned long long)own->bytes_sent,
		(unsigned long long)own->bytes_received);
}

static struct plan profiled(const struct train_result *want, struct plan t)
{
	struct train_result got = train(&t, true);

	tap_ok(!t.code && t.profile, "a profile is taken (%.1f ms to begin, %.1f to end)",
		1e3 * t.record_s, 1e3 * t.recorded_s);
	tap_ok(same_bits(want, &got, program, 1),
		"the weights are those of a training in one process");
	train_result_release(&got);
	return t;
}

/* ---- disturbances ---- */

static pid_t pid_of_second;

static void kill_second(void)
{
	double until = clock_seconds() + PATIENCE_S;

	restarted = false;
	kill(pid_of_second, SIGKILL);
	while (!restarted && clock_seconds() < until)
		usleep(10000);
}

static void stop_second(void) { kill(pid_of_second, SIGSTOP); }

static void continue_second(void) { kill(pid_of_second, SIGCONT); }

static void do_nothing(void) { usleep(1300000); }

int main(int argc, char **argv)
{
	struct train_result want, got;
	struct plan t;
	pid_t hog[4];

	if (argc >= 3 && !strcmp(argv[1], "worker"))
		return be_worker(argv[2]);
	make_data(2);
	program = tiny_program(ACTIVATION_TANH, ACTIVATION_LINEAR, 2);
	want = train(NULL, false);
	start();
	got = train(NULL, true);
	tap_ok(same_bits(&want, &got, program, 1), "two workers give the bits of one process");
	train_result_release(&got);

	t = profiled(&want, (struct plan){ .begin = 100, .end = 1000 });
	tap_is_int(t.profile->nprocess, 1 + NWORKER, "the coordinator and each worker are in it");
	check_coordinator(t.profile);
	for (uint32_t k = 1; k <= NWORKER; k++)
		check_worker(t.profile, k);
	check_messages(t.profile, 0);
	pid_of_second = (pid_t)process_of(t.profile, 2, false)->pid;
	profile_free(t.profile);

	t = profiled(&want,
		(struct plan){ .begin = 100, .disturb = 500, .end = 1000, .what = do_nothing });
	for (uint32_t k = 1; k <= NWORKER; k++)
		check_worker(t.profile, k);
	check_messages(t.profile, 0);
	profile_free(t.profile);

	for (int k = 0; k < 4; k++)
		if (!(hog[k] = fork()))
			for (;;)
				;
	t = profiled(&want, (struct plan){ .begin = 100, .end = 1000 });
	for (int k = 0; k < 4; k++) {
		kill(hog[k], SIGKILL);
		waitpid(hog[k], NULL, 0);
	}
	for (uint32_t k = 1; k <= NWORKER; k++)
		check_worker(t.profile, k);
	check_messages(t.profile, 0);
	profile_free(t.profile);

	t = profiled(&want,
		(struct plan){ .begin = 100, .disturb = 500, .end = 1000, .what = kill_second });
	tap_is_int(t.profile->nprocess, 2 + NWORKER,
		"a worker is killed, and another one joins: both are in it");
	for (uint32_t k = 1; k <= NWORKER; k++)
		check_worker(t.profile, k);
	tap_ok(process_of(t.profile, 2, true)
			&& process_of(t.profile, 2, true)->pid == (uint32_t)pid_of_second
			&& process_of(t.profile, 2, true)->units > 0,
		"the one that was killed is lost, with what is known of it");
	check_messages(t.profile, 10000);
	pid_of_second = (pid_t)process_of(t.profile, 2, false)->pid;
	profile_free(t.profile);

	t = profiled(&want,
		(struct plan){ .begin = 100,
			.disturb = 999,
			.end = 1000,
			.what = stop_second,
			.afterwards = continue_second });
	/* Longer on a busy machine, and much less than dead_s. */
	tap_ok(t.recorded_s > 9 && t.recorded_s < 2 * PATIENCE_S,
		"a worker that is stopped is waited for, %.1f s", t.recorded_s);
	check_worker(t.profile, 1);
	tap_ok(!process_of(t.profile, 2, false) && process_of(t.profile, 2, true)
			&& process_of(t.profile, 2, true)->bytes_sent > 0,
		"and marked as lost");
	profile_free(t.profile);
	t = profiled(&want,
		(struct plan){ .begin = 100, .disturb = 200, .end = 1000, .what = do_nothing });
	for (uint32_t k = 1; k <= NWORKER; k++)
		check_worker(t.profile, k);
	tap_ok(!process_of(t.profile, 2, true) && process_of(t.profile, 2, false)
			&& process_of(t.profile, 2, false)->pid == (uint32_t)pid_of_second,
		"what it sends late counts for nothing; the next profile has it again");
	profile_free(t.profile);
	tap_ok(2 * nwithout < nworker, "nearly all of the time is of phases: not in %u of %u",
		nwithout, nworker);
	end();
	program_free(program);
	train_result_release(&want);
	return tap_done();
}
