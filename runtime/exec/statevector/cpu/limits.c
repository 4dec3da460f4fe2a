/* SPDX-License-Identifier: Apache-2.0
 * Measuring the machine: the best of several short runs of each loop, all threads
 * starting together. */
#include "runtime/exec/statevector/cpu/limits.h"
#include "runtime/exec/statevector/cpu/cpu_target.h"
#include "runtime/exec/statevector/cpu/kernels.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "runtime/base/system/clock.h"

enum {
	STREAM_BYTES_MIN = 16 << 20,
	L2_BYTES_MAX = 1 << 20, L2_BYTES_MIN = 128 << 10,
	HUGE_PAGE = 2 << 20, STEP_NUMBERS = 512,
	STREAM_RUNS = 4, CACHE_RUNS = 8, ARITHMETIC_RUNS = 8
};
static const uint64_t STREAM_BYTES_MAX = UINT64_C(2) << 30;   /* far beyond any cache */
static const double RUN_SECONDS = 0.008;     /* of the loops that stay in a core */

/* What each thread does, and what its work counts (bytes or flops). */
struct work {
	const struct kernels *kernels;
	unsigned nthread;
	char *array;                 /* of all threads */
	size_t bytes;                /* of each thread */
	size_t rounds;
	void (*loop)(void *v, size_t n, double c); /* over the array, once */
	double factor;
};
typedef double (*work_fn)(const struct work *w, unsigned thread);

/* Threads meet behind it: their stores have left them. */
static double memory(const struct work *w, unsigned thread)
{
	w->loop(w->array + w->bytes * thread, w->bytes / w->kernels->real_bytes, w->factor);
	return (double)w->bytes;
}

static double cache(const struct work *w, unsigned thread)
{
	for (size_t r = 0; r < w->rounds; r++)
		w->kernels->stream(w->array + w->bytes * thread, w->bytes / w->kernels->real_bytes,
			r & 1 ? 0.5 : 2.0);
	return 2.0 * (double)w->bytes * (double)w->rounds;
}

static double arithmetic(const struct work *w, unsigned thread)
{
	double sink = 0, flops = w->kernels->multiply_add(w->rounds, &sink);

	(void)thread;
	return isfinite(sink) ? flops : 0;
}

/* Work of all threads per second, once. */
static double rate_once(const struct work *w, work_fn fn)
{
	double done = 0, began = 0, ended = 0;

	omp_set_dynamic(0);
	#pragma omp parallel num_threads((int)w->nthread) if (w->nthread > 1) reduction(+:done)
	{
		unsigned thread = (unsigned)omp_get_thread_num();

		#pragma omp barrier
		#pragma omp master
		began = clock_seconds();
		done += fn(w, thread);
		#pragma omp barrier
		#pragma omp master
		ended = clock_seconds();
	}
	return done / (ended - began);
}

static double rate_best(const struct work *w, work_fn fn, unsigned runs)
{
	double best = 0;

	for (unsigned k = 0; k < runs; k++)
		best = fmax(best, rate_once(w, fn));
	return best;
}

/* Bytes of the array per second. */
static double memory_rate(struct work *w, void (*loop)(void *v, size_t n, double c), double factor)
{
	w->loop = loop;
	w->factor = factor;
	return rate_best(w, memory, STREAM_RUNS);
}

/* Rounds that take about RUN_SECONDS; the first calls also wake the vector units. */
static size_t calibrate(struct work *w, work_fn fn)
{
	for (w->rounds = 64; ; w->rounds *= 2) {
		double began = clock_seconds();
		fn(w, 0);
		double took = clock_seconds() - began;
		if (took >= RUN_SECONDS / 2 || w->rounds >= SIZE_MAX / 4)
			return w->rounds;
	}
}

/* Pages are touched first by the thread that streams them. */
static void touch(const struct work *w)
{
	#pragma omp parallel num_threads((int)w->nthread) if (w->nthread > 1)
	{
		float *v = (float *)(w->array + w->bytes * (unsigned)omp_get_thread_num());

		for (size_t k = 0; k < w->bytes / sizeof *v; k++)
			v[k] = 1;
	}
}

static char *take(size_t nbytes)
{
	void *p = NULL;

	if (posix_memalign(&p, HUGE_PAGE, nbytes))
		return NULL;
	madvise(p, nbytes, MADV_HUGEPAGE);
	return p;
}

static int take_array(struct work *w, uint64_t nbytes, struct err *e)
{
	const size_t step = STEP_NUMBERS * sizeof(double); /* that one step of the loops takes */

	w->bytes = (size_t)(nbytes / w->nthread / step * step);
	w->array = take(w->bytes * w->nthread);
	if (!w->array)
		return err_set(e, -ERR_CONFIG, "no memory to measure the stream rate with");
	touch(w);
	return 0;
}

static int measure_memory(struct work *w, uint64_t nbytes, struct plan_limits *l, struct err *e)
{
	int code = take_array(w, nbytes, e);

	if (code)
		return code;
	l->stream_gb_s = 2e-9
		* fmax(memory_rate(w, w->kernels->stream, 1.0001),
			memory_rate(w, w->kernels->stream_narrow, 0.9999));
	l->write_gb_s = 1e-9 * memory_rate(w, w->kernels->write_nontemporal, 1);
	l->nontemporal = w->kernels->isa == ISA_AVX2 || w->kernels->isa == ISA_AVX512;
	free(w->array);
	return 0;
}

static int measure_cache(struct work *w, uint64_t nbytes, struct plan_limits *l, struct err *e)
{
	int code = take_array(w, nbytes * w->nthread, e);

	if (code)
		return code;
	calibrate(w, cache);
	l->l2_gb_s = rate_best(w, cache, CACHE_RUNS) / w->nthread / 1e9;
	free(w->array);
	return 0;
}

static uint64_t clamp(uint64_t x, uint64_t low, uint64_t high)
{
	return x < low ? low : x > high ? high : x;
}

static double measure_arithmetic(unsigned nthread, const struct kernels *k)
{
	struct work w = { .kernels = k, .nthread = nthread };

	calibrate(&w, arithmetic);
	return rate_best(&w, arithmetic, ARITHMETIC_RUNS);
}

int limits_measure(const struct target *t, unsigned nthread, struct plan_limits *out, struct err *e)
{
	const enum isa isa = cpu_target_isa(t);
	const struct kernels *single = kernels_find(isa, PRECISION_SINGLE);
	uint64_t stream_bytes = clamp(cpus_memory_available() / 4, STREAM_BYTES_MIN, STREAM_BYTES_MAX);
	uint64_t l2_bytes = clamp(cpus_cache(2, NULL) / 2, L2_BYTES_MIN, L2_BYTES_MAX);
	struct plan_limits l = { .nthread = nthread, .target = t };
	struct work w = { .kernels = single, .nthread = nthread };

	if (!single || isa_obstacle(isa))
		return err_set(e, -ERR_CONFIG, "the limits of %s cannot be measured here", t->kernels);
	int code = measure_memory(&w, stream_bytes, &l, e);
	if (!code)
		code = measure_cache(&w, l2_bytes, &l, e);
	if (code)
		return code;
	l.single_gflop_s = measure_arithmetic(nthread, single) / 1e9;
	l.double_gflop_s = measure_arithmetic(nthread, kernels_find(isa, PRECISION_DOUBLE)) / 1e9;
	*out = l;
	return 0;
}
