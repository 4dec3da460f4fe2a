/* SPDX-License-Identifier: Apache-2.0
 * One descriptor per counter and thread; threads are those in /proc/self/task, and inherit counts what they start. */
#include "runtime/base/profile/counters.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS_MAX = 1024, CACHE_LINE = 64 };

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} counted[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "stalled_cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
};
enum { COUNTED = sizeof counted / sizeof *counted };

struct counters {
	int fd[COUNTED][THREADS_MAX]; /* -1: not permitted or not there */
	unsigned nthread;
	int why; /* errno of the first failure */
};

static int open_counter(unsigned k, pid_t thread)
{
	struct perf_event_attr a = { .type = counted[k].type,
		.size = sizeof a,
		.config = counted[k].config,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING };

	return (int)syscall(SYS_perf_event_open, &a, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void add_thread(struct counters *c, pid_t thread)
{
	for (unsigned k = 0; k < COUNTED; k++) {
		int fd = open_counter(k, thread);

		if (fd < 0 && !c->why)
			c->why = errno;
		c->fd[k][c->nthread] = fd;
	}
	c->nthread++;
}

struct counters *counters_start(void)
{
	struct counters *c = mem_alloc(1, sizeof *c);
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *d;

	while (tasks && c->nthread < THREADS_MAX && (d = readdir(tasks)))
		if (d->d_name[0] != '.')
			add_thread(c, (pid_t)strtol(d->d_name, NULL, 10));
	if (!tasks)
		c->why = errno;
	else
		closedir(tasks);
	return c;
}

double counters_scaled(const uint64_t value[3])
{
	return value[2] ? (double)value[0] * ((double)value[1] / (double)value[2]) : (double)NAN;
}

/* Sum over the threads; NAN: no thread has one. */
static double take(struct counters *c, unsigned k)
{
	double sum = (double)NAN;

	for (unsigned t = 0; t < c->nthread; t++) {
		uint64_t value[3];

		if (c->fd[k][t] < 0)
			continue;
		if (read(c->fd[k][t], value, sizeof value) == (ssize_t)sizeof value
			&& isfinite(counters_scaled(value)))
			sum = (isfinite(sum) ? sum : 0) + counters_scaled(value);
		close(c->fd[k][t]);
	}
	return sum;
}

static const char *reason(struct profile *p, int why)
{
	switch (why) {
	case EACCES:
	case EPERM:
		return "the system permits no hardware counters to this user (kernel.perf_event_paranoid is above 2, or a container "
		       "forbids perf_event_open)";
	case 0:
	case ENOENT:
	case EOPNOTSUPP:
	case ENODEV: return "this processor or virtual machine has no hardware counters";
	default:
		return arena_printf(&p->arena, "hardware counters cannot be opened: %s",
			strerror(why));
	}
}

void counters_stop(struct counters *c, struct profile *p, struct profile_process *process)
{
	struct profile_counter *out = p ? arena_alloc(&p->arena, COUNTED + 1, sizeof *out) : NULL;
	unsigned n = 0;

	for (unsigned k = 0; k < COUNTED; k++) {
		double value = take(c, k);

		if (out && isfinite(value))
			out[n++] = (struct profile_counter){ counted[k].name, value };
		if (out && isfinite(value) && !strcmp(counted[k].name, "cache_misses"))
			out[n++] = (struct profile_counter){ "memory_bytes", value * CACHE_LINE };
	}
	if (out) {
		process->counter = out;
		process->ncounter = n;
		process->no_counters = n ? NULL : reason(p, c->why);
	}
	free(c);
}
