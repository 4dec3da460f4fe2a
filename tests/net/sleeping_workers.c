/* SPDX-License-Identifier: Apache-2.0
 * Steps by workers that sleep instead of computing: what a step costs beyond its work, and how well
 * workers of different speeds share it.
 *
 *   sleeping_workers WORKERS WEIGHTS UNITS STEPS US[,US...] [off]
 *       That many workers, the k-th of which takes US[k] microseconds a unit (the last number for all
 *       that follow), do the steps.  Below 500 they turn instead of sleeping, which is not that exact.  Prints one line of name=value: microseconds
 *       of a step (least, median), of the same work by workers that never wait (ideal), bytes of a step,
 *       and the units that each worker did.  off: without encryption.
 *   sleeping_workers swap BYTES
 *       Two processes send each other that many bytes at once by TCP: bytes a second each way, the best of ten.
 *   sleeping_workers seal BYTES
 *       One thread seals that many bytes, as a message, or opens them: bytes a second, the best of ten.
 *   sleeping_workers worker US[,US...] HOST COMMAND
 *       One of them: HOST is 127.0.0.(k+1). */
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/crypto/crypto_session.h"
#include "runtime/base/system/clock.h"
#include "runtime/net/cluster/coordinator.h"
#include "runtime/net/worker_process.h"

enum { WORKERS_MAX = 200, NIN = 8, WARM = 20, TURN_BELOW = 500 };

/* Microseconds of worker k's units. */
static double pace(const char *list, unsigned k)
{
	for (const char *comma; k > 0 && (comma = strchr(list, ',')); k--)
		list = comma + 1;
	return atof(list);
}

/* ---- a worker ---- */

struct sleeper {
	double us;
	uint32_t nweight;
	struct fixed *vector;
	double *value;
	size_t cap;
};

static int open_job(void *ctx, const struct wire_job *job, struct wire_ready *out, struct err *e)
{
	struct sleeper *s = ctx;

	(void)e;
	s->nweight = job->shots; /* any number of the job will do */
	s->vector = mem_alloc(s->nweight + 1, sizeof *s->vector);
	*out = (struct wire_ready){ .width = 1, .nvector = s->nweight, .nout = 1, .nthread = 1 };
	return 0;
}

static int take_weights(void *ctx, const struct wire_weights *m, struct err *e)
{
	struct sleeper *s = ctx;

	return m->n == s->nweight ? 0 : err_set(e, -ERR_PROTOCOL, "%u weights", m->n);
}

static void turn(double seconds)
{
	double until = clock_seconds() + seconds;

	while (clock_seconds() < until)
		;
}

/* A unit is one sample x: its readout is x, each of its sums 1. */
static int do_work(void *ctx, const struct wire_work *w, const double **value, uint32_t *nout,
	const struct fixed **vector, uint32_t *nvector, struct err *e)
{
	struct sleeper *s = ctx;
	double all = s->us * w->nsample;
	struct timespec t = { (time_t)(all / 1e6), (long)(all * 1e3) % 1000000000 };

	(void)e;
	if (s->us < TURN_BELOW)
		turn(all / 1e6);
	else
		nanosleep(&t, NULL);
	if (w->nsample > s->cap) {
		free(s->value);
		s->value = mem_alloc(w->nsample, sizeof *s->value);
		s->cap = w->nsample;
	}
	for (uint32_t i = 0; i < w->nsample; i++)
		wire_doubles(w->value + (size_t)i * w->nin * sizeof(double), 1, &s->value[i]);
	for (uint32_t i = 0; i < s->nweight; i++)
		fixed_from(w->nsample, &s->vector[i]);
	*value = s->value;
	*nout = 1;
	*vector = s->vector;
	*nvector = s->nweight;
	return 0;
}

static int be_worker(const char *list, const char *host)
{
	static const struct worker_ops ops = {
		.open = open_job, .weights = take_weights, .work = do_work
	};
	struct wire_about about = { .kernels = "baseline",
		.threads = 1,
		.version = PACKAGE_VERSION,
		.host = "here",
		.processor = "none" };
	struct sleeper s = { .us = pace(list, (unsigned)atoi(strrchr(host, '.') + 1) - 1) };
	struct err e = { 0, "" };
	int code = worker_process_run(STDIN_FILENO, &about, &ops, &s, &e);

	if (code)
		fprintf(stderr, "%s\n", e.text);
	free(s.vector);
	free(s.value);
	return code != 0;
}

/* ---- the coordinator ---- */

static double readout_sum;

static void give(void *ctx, uint32_t sample, double *in)
{
	(void)ctx;
	for (int i = 0; i < NIN; i++)
		in[i] = sample;
}

static void take(void *ctx, uint32_t sample, const double *out)
{
	(void)ctx;
	readout_sum += *out - sample + 1;
}

static int recompute(void *ctx, uint32_t unit, struct fixed *v, struct err *e)
{
	(void)ctx;
	(void)unit;
	(void)v;
	return err_set(e, -ERR_BUG, "a sleeper failed");
}

static void say(void *ctx, const char *worker, const char *line)
{
	(void)ctx;
	fprintf(stderr, "%s%s%s\n", worker ? worker : "", worker ? ": " : "", line);
}

static int run_step(struct pool *p, uint32_t nunit, uint32_t nweight, const double *weight,
	struct fixed *sum, struct err *e)
{
	static uint64_t version;
	struct pool_step s = { .version = ++version,
		.weight = weight,
		.nweight = nweight,
		.gradient = true,
		.nsample = nunit,
		.width = 1,
		.nin = NIN,
		.nout = 1,
		.give = give,
		.take = take,
		.recompute = recompute };
	int code;

	readout_sum = 0;
	code = p->ops->begin(p, &s, nunit, nweight, e);
	if (!code)
		code = p->ops->end(p, sum, e);
	if (!code && (readout_sum != nunit || fixed_value(sum[nweight - 1]) != nunit))
		code = err_set(e, -ERR_BUG, "a unit was not counted once");
	return code;
}

static int ascending(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

struct task {
	unsigned nworker;
	uint32_t nweight, nunit;
	unsigned nstep;
	const char *list;
	bool plain;
};

static void report(struct coordinator *c, const struct task *t, double *took)
{
	struct coordinator_worker w;
	double speed = 0;

	for (unsigned k = 0; k < t->nworker; k++)
		speed += pace(t->list, k) > 0 ? 1 / pace(t->list, k) : 0;
	qsort(took, t->nstep, sizeof *took, ascending);
	printf("least=%.2f median=%.2f ideal=%.2f bytes=%zu units=", took[0] * 1e6,
		took[t->nstep / 2] * 1e6, speed > 0 ? t->nunit / speed : 0,
		(size_t)t->nworker * t->nweight * (sizeof(double) + sizeof(struct fixed)));
	for (unsigned k = 0; coordinator_worker(c, k, &w); k++)
		printf("%s%llu", k ? "," : "", (unsigned long long)w.nunit);
	printf("\n");
}

static int run_steps(struct coordinator *c, const struct task *t, struct err *e)
{
	struct wire_job job = { .loss = "", .shots = t->nweight };
	double *weight = mem_alloc(t->nweight, sizeof *weight),
	       *took = mem_alloc(t->nstep, sizeof *took);
	struct fixed *sum = mem_alloc(t->nweight, sizeof *sum);
	int code = coordinator_job(c, &job, NULL, e);

	for (unsigned i = 0; i < WARM && !code && pace(t->list, 0) < TURN_BELOW; i++)
		code = run_step(coordinator_pool(c), t->nunit, t->nweight, weight, sum, e);
	for (unsigned i = 0; i < t->nstep && !code; i++) {
		double begin = clock_seconds();

		code = run_step(coordinator_pool(c), t->nunit, t->nweight, weight, sum, e);
		took[i] = clock_seconds() - begin;
	}
	if (!code)
		report(c, t, took);
	free(weight);
	free(took);
	free(sum);
	return code;
}

static int be_coordinator(const struct task *t)
{
	struct host host[WORKERS_MAX];
	struct hosts hosts = { host, t->nworker, t->nworker };
	struct coordinator *c = NULL;
	struct buf agent = BUF_INIT;
	struct coordinator_options o = {
		.hosts = &hosts, .launcher = LAUNCHER_EXEC, .encrypt = !t->plain, .say = say
	};
	char own[4096];
	ssize_t len = readlink("/proc/self/exe", own, sizeof own - 1);
	struct err e = { 0, "" };
	int code;

	buf_printf(&agent, "%.*s worker %s", (int)(len > 0 ? len : 0), own, t->list);
	o.agent = agent.data;
	for (unsigned k = 0; k < t->nworker; k++) {
		snprintf(host[k].name, sizeof host[k].name, "127.0.0.%u", k + 1);
		host[k].nworker = 1;
	}
	code = coordinator_new(&o, &c, &e);
	if (!code)
		code = run_steps(c, t, &e);
	if (code)
		fprintf(stderr, "%s\n", e.text);
	coordinator_free(c);
	buf_release(&agent);
	return code != 0;
}

/* ---- what the machine can do ---- */

/* Send n bytes of p and receive as many into it. */
static bool exchange(int fd, char *p, size_t n)
{
	size_t out = 0, in = 0;

	while (out < n || in < n) {
		struct pollfd f = { .fd = fd,
			.events = (short)((in < n ? POLLIN : 0) | (out < n ? POLLOUT : 0)) };
		ssize_t k;

		if (poll(&f, 1, 10000) <= 0)
			return false;
		k = f.revents & POLLOUT ? send(fd, p + out, n - out, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;
		out += k > 0 ? (size_t)k : 0;
		k = f.revents & POLLIN ? recv(fd, p + in, n - in, MSG_DONTWAIT) : 0;
		in += k > 0 ? (size_t)k : 0;
	}
	return true;
}

static bool connected_pair(int fd[2])
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof a;
	int l = socket(AF_INET, SOCK_STREAM, 0);
	bool ok = l >= 0 && !bind(l, (struct sockaddr *)&a, len) && !listen(l, 1)
		&& !getsockname(l, (struct sockaddr *)&a, &len);

	fd[0] = socket(AF_INET, SOCK_STREAM, 0);
	ok = ok && fd[0] >= 0 && !connect(fd[0], (struct sockaddr *)&a, len);
	fd[1] = ok ? accept(l, NULL, NULL) : -1;
	close(l);
	return fd[1] >= 0;
}

static int swap(size_t n)
{
	char *p = mem_alloc(n, 1);
	double least = INFINITY;
	int fd[2], me;
	pid_t other;

	if (!connected_pair(fd))
		return 1;
	other = fork();
	me = other == 0;
	for (int i = 0; i < 10; i++) {
		double begin = clock_seconds();

		if (!exchange(fd[me], p, n))
			break;
		least = fmin(least, clock_seconds() - begin);
	}
	if (other == 0)
		_exit(0);
	waitpid(other, NULL, 0);
	printf("rate=%.0f\n", (double)n / least);
	free(p);
	return 0;
}

static int seal(size_t n)
{
	uint8_t *p = mem_alloc(n, 1), tag[CRYPTO_SEAL];
	struct crypto_channel c;
	double least = INFINITY;

	if (!crypto_start())
		return 1;
	crypto_channel_open(&c, &(struct crypto_keys){ { 1 }, { 2 } }, true, true);
	for (int i = 0; i < 10; i++) {
		double begin = clock_seconds();

		crypto_seal(&c, p, n, tag);
		least = fmin(least, clock_seconds() - begin);
	}
	printf("rate=%.0f\n", (double)n / least);
	free(p);
	return 0;
}

int main(int argc, char **argv)
{
	struct task t = { 0 };

	if (argc == 3 && !strcmp(argv[1], "seal") && atol(argv[2]) > 0)
		return seal((size_t)atol(argv[2]));

	if (argc == 3 && !strcmp(argv[1], "swap") && atol(argv[2]) > 0)
		return swap((size_t)atol(argv[2]));
	if (argc == 5 && !strcmp(argv[1], "worker"))
		return be_worker(argv[2], argv[3]);
	if (argc == 6 || (argc == 7 && !strcmp(argv[6], "off")))
		t = (struct task){ (unsigned)atoi(argv[1]), (uint32_t)atoi(argv[2]),
			(uint32_t)atoi(argv[3]), (unsigned)atoi(argv[4]), argv[5], argc == 7 };
	if (!t.nworker || t.nworker > WORKERS_MAX || !t.nweight || !t.nunit || !t.nstep) {
		fprintf(stderr,
			"use: sleeping_workers WORKERS WEIGHTS UNITS STEPS US[,US...] [off]\n");
		return 2;
	}
	return be_coordinator(&t);
}
