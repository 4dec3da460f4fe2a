/* SPDX-License-Identifier: Apache-2.0
 * Hardware counters by numbers that a kernel gave, on a machine that has them and on machines that do not: perf_event_open is
 * wrapped, and what is read of a counter comes from a file. */
#include "runtime/base/profile/counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/tap.h"

enum { THREADS = 2 };
enum kind { CYCLES = 0, INSTRUCTIONS, CACHE_MISSES, STALLED, KINDS };
static const uint64_t event_of[KINDS] = { PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS,
	PERF_COUNT_HW_CACHE_MISSES, PERF_COUNT_HW_STALLED_CYCLES_BACKEND };

/* What the kernel gives of each event, by thread: value, nanoseconds enabled, nanoseconds running. Or the error. */
struct machine {
	uint64_t given[KINDS][THREADS][3];
	int error[KINDS];
};
/* Two seconds of a processor at 3.1 GHz, two of whose events take turns. */
static const struct machine whole = { .given = {
					      [CYCLES] = { { 6183264921, 2000312204, 2000312204 },
						      { 3091632460, 1000156102, 1000156102 } },
					      [INSTRUCTIONS] = { { 7420917904, 2000312204, 1500234153 },
						      { 5565688428, 1000156102, 750117076 } },
					      [CACHE_MISSES] = { { 1893004, 2000312204, 1500234153 },
						      { 0, 1000156102, 0 } },
					      [STALLED] = { { 905336110, 2000312204, 1000156102 },
						      { 0, 1000156102, 1000156102 } },
				      } };
static const struct machine *machine;
static unsigned opened, wrong, threads;
static long first_thread;

static FILE *file_of(const uint64_t given[3])
{
	FILE *f = tmpfile();

	fwrite(given, sizeof *given, 3, f);
	fflush(f);
	rewind(f);
	return f;
}

long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
	const struct perf_event_attr *a;
	unsigned kind = 0, thread;
	long id;
	va_list l;
	FILE *f;
	int fd;

	va_start(l, number);
	a = va_arg(l, const struct perf_event_attr *);
	id = va_arg(l, int);
	va_end(l);
	if (number != SYS_perf_event_open) {
		wrong++;
		return -1;
	}
	wrong += a->size != sizeof *a || a->type != PERF_TYPE_HARDWARE || !a->inherit
		|| !a->exclude_kernel
		|| a->read_format
			!= (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
	if (!threads) {
		first_thread = id;
		threads = 1;
	}
	thread = id != first_thread;
	threads = thread ? 2 : threads;
	while (kind < KINDS && event_of[kind] != a->config)
		kind++;
	if (kind == KINDS) {
		wrong++;
		return -1;
	}
	if (machine->error[kind]) {
		errno = machine->error[kind];
		return -1;
	}
	opened++;
	f = file_of(machine->given[kind][thread]);
	fd = dup(fileno(f));
	fclose(f);
	return fd;
}

static double value(const struct profile_process *q, const char *name)
{
	for (uint32_t k = 0; k < q->ncounter; k++)
		if (!strcmp(q->counter[k].name, name))
			return q->counter[k].value;
	return -1;
}

static void take(const struct machine *m, struct profile *p, struct profile_process *q)
{
	machine = m;
	opened = wrong = threads = 0;
	if (q)
		*q = (struct profile_process){ 0 };
	counters_stop(counters_start(), p, q);
}

static pthread_barrier_t both, done;

static void *wait_there(void *ctx)
{
	pthread_barrier_wait(&both);
	pthread_barrier_wait(&done);
	return ctx;
}

static bool near(double a, double b) { return a > b * 0.999999 && a < b * 1.000001; }

static int next_descriptor(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

static void test_refused(struct profile *p)
{
	static const struct {
		int error;
		const char *words;
	} refusal[] = { { EACCES, "perf_event_paranoid" }, { EPERM, "perf_event_paranoid" },
		{ ENOENT, "has no hardware counters" }, { EOPNOTSUPP, "has no hardware counters" },
		{ EMFILE, "cannot be opened" } };
	struct profile_process q;

	for (size_t k = 0; k < sizeof refusal / sizeof *refusal; k++) {
		struct machine m = whole;

		for (unsigned i = 0; i < KINDS; i++)
			m.error[i] = refusal[k].error;
		take(&m, p, &q);
		tap_ok(q.ncounter == 0 && q.no_counters && strstr(q.no_counters, refusal[k].words),
			"%s: %s", strerror(refusal[k].error),
			q.no_counters ? q.no_counters : "no word");
	}
}

int main(void)
{
	struct profile *p = profile_new();
	struct profile_process q;
	struct machine some = whole;
	pthread_t other;
	int before;

	pthread_barrier_init(&both, NULL, 2);
	pthread_barrier_init(&done, NULL, 2);
	pthread_create(&other, NULL, wait_there, NULL);
	pthread_barrier_wait(&both);
	before = next_descriptor();
	take(&whole, p, &q);
	tap_ok(opened == KINDS * THREADS && !wrong,
		"%u counters of %u threads, without the kernel's own work", opened, threads);
	tap_ok(near(value(&q, "cycles"), 6183264921.0 + 3091632460.0),
		"cycles of both threads: %.10g", value(&q, "cycles"));
	tap_ok(near(value(&q, "instructions"), (7420917904.0 + 5565688428.0) / 0.75),
		"instructions, counted three quarters of the time: %.10g", value(&q, "instructions"));
	tap_ok(near(value(&q, "cache_misses"), 1893004 / 0.75),
		"cache misses of the thread that had a counter for them: %.10g",
		value(&q, "cache_misses"));
	tap_ok(near(value(&q, "memory_bytes"), 64 * 1893004 / 0.75),
		"a cache line each: %.10g bytes", value(&q, "memory_bytes"));
	tap_ok(near(value(&q, "stalled_cycles"), 2 * 905336110.0) && !q.no_counters,
		"stalled cycles: %.10g", value(&q, "stalled_cycles"));

	some.error[STALLED] = ENOENT;
	some.error[CACHE_MISSES] = ENOENT;
	take(&some, p, &q);
	tap_ok(q.ncounter == 2 && value(&q, "cycles") > 0 && value(&q, "instructions") > 0
			&& !q.no_counters,
		"a processor that lacks some counts the others");
	test_refused(p);
	take(&whole, NULL, NULL);
	tap_is_int(next_descriptor(), before, "all counters are closed");
	pthread_barrier_wait(&done);
	pthread_join(other, NULL);
	profile_free(p);
	return tap_done();
}
