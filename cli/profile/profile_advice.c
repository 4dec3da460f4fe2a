/* SPDX-License-Identifier: Apache-2.0
 * Each rule looks at one cause, estimates what a change gains, and adds a sentence if that is enough. */
#include "cli/profile/profile_advice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/profile/profile_sections.h"
#include "runtime/base/order.h"

enum { ADVICE_MAX = 16, BATCH_FACTOR = 4 };
static const double GAIN_MIN = 1.03;
/* A worker is slow that does less than this share of what the median worker does while it is busy. */
static const double SLOW = 0.7;

struct advisor {
	struct profile *p;
	struct profile_advice list[ADVICE_MAX];
	uint32_t n;
	double wall; /* seconds */
};

static double phase(const struct advisor *a, enum profile_phase k)
{
	return profile_phase_seconds(a->p, k);
}

static double share(const struct advisor *a, double seconds)
{
	return a->wall > 0 ? seconds / a->wall : 0;
}

static void add(struct advisor *a, const char *code, double gain, const char *text)
{
	if (gain >= GAIN_MIN && isfinite(gain) && a->n < ADVICE_MAX)
		a->list[a->n++] = (struct profile_advice){ code, text, gain };
}

/* Time that grows with the number of samples, and is done by the threads of a process side by side. */
static double work(const struct advisor *a)
{
	return phase(a, PHASE_ENCODING) + phase(a, PHASE_FORWARD) + phase(a, PHASE_LOSSES)
		+ phase(a, PHASE_BACKWARD) + phase(a, PHASE_COMBINE);
}

/* Costs of a step that do not depend on how many samples it has, and units that leave threads or lanes idle. */
static void batch_size(struct advisor *a)
{
	struct profile *p = a->p;
	double fixed = phase(a, PHASE_MATRICES) + phase(a, PHASE_CHAIN) + phase(a, PHASE_OPTIMIZER);
	double samples = work(a) + phase(a, PHASE_DATA) + phase(a, PHASE_SUMS);
	uint64_t lanes = (uint64_t)(p->width ? p->width : 1) * (p->nthread ? p->nthread : 1);
	double idle = p->width > 1 && p->batch_size && p->batch_size < lanes
		? (double)lanes / p->batch_size
		: 1,
	       then;

	if (!p->batch_size || p->nprocess > 1
		|| (p->steps && p->samples / p->steps < p->batch_size / 2))
		return;
	idle = fmin(idle, BATCH_FACTOR);
	if (idle > 1) /* threads wait as there is not enough for them, not as others use the machine */
		fixed += phase(a, PHASE_WAIT);
	then = fixed / BATCH_FACTOR + samples / idle;
	if (fixed + samples < 0.5 * a->wall)
		return;
	add(a, "batch_size", a->wall / (a->wall - fixed - samples + then),
		arena_printf(&p->arena,
			"%.0f %% of the time are costs of a step that do not depend on its %u samples%s: a batch %d times as large "
			"takes less time a sample (train.batch_size; the learning rate may have to change with it).",
			100 * share(a, fixed), p->batch_size,
			idle > 1 ? ", and there are fewer samples than the threads and lanes of vectors could take at once"
				 : "",
			BATCH_FACTOR));
}

static void slow_data(struct advisor *a)
{
	double seconds = phase(a, PHASE_DATA);

	if (a->p->streaming)
		add(a, "data", 1 / (1 - fmin(share(a, seconds), 0.99)),
			arena_printf(&a->p->arena,
				"%.0f %% of the time go to reading samples from their file and transforming them: keep them in memory "
				"(data.streaming: off), or write only the columns that the model uses into the file, transformed.",
				100 * share(a, seconds)));
}

/* part: of the phase's time, that goes. */
static void seldom(struct advisor *a, enum profile_phase k, double part, const char *code,
	const char *text)
{
	double s = share(a, phase(a, k));

	if (s > 0.1)
		add(a, code, 1 / (1 - part * s),
			arena_printf(&a->p->arena, "%.0f %% of the time go to %s", 100 * s, text));
}

static void precision(struct advisor *a)
{
	double s = share(a, phase(a, PHASE_FORWARD) + phase(a, PHASE_BACKWARD));

	/* Tensors have no other one. */
	if (a->p->precision && !strcmp(a->p->precision, "double")
		&& !(a->p->engine && !strcmp(a->p->engine, "tensor")))
		add(a, "precision", 1 / (1 - s / 2),
			arena_printf(&a->p->arena,
				"States are in double precision, and %.0f %% of the time are passes over them: single precision moves half as "
				"many bytes and computes twice as many numbers at once (run.precision: single), where its errors of about 1e-6 "
				"are small enough.",
				100 * s));
}

static void threads(struct advisor *a)
{
	const struct profile *p = a->p;
	double s = share(a, work(a)), more = p->nthread ? (double)p->nprocessor / p->nthread : 1;

	if (more > 1 && p->nprocess == 1)
		add(a, "threads", 1 / (1 - s + s / more),
			arena_printf(&a->p->arena,
				"%u of %u processors are used: run.threads: auto uses all.",
				p->nthread, p->nprocessor));
}

static void switched_off(struct advisor *a)
{
	for (uint32_t k = 0; k < a->p->nswitched_off; k++) {
		const struct profile_option *o = &a->p->switched_off[k];
		double s = share(a, work(a));

		add(a, o->name, 1 / (1 - s + s / fmax(o->gain, 1)),
			arena_printf(&a->p->arena,
				"The exact optimisation %s is switched off; it takes about %.3g times fewer operations here "
				"(run.optimizations: auto, or --optimizations of bench).",
				o->name, o->gain));
	}
}

/* ---- workers ---- */

static double busy(const struct profile_process *q) { return 1e-9 * (double)q->busy_ns; }

/* Units a second while it is busy. */
static double pace(const struct profile_process *q)
{
	return busy(q) > 0 ? (double)q->units / busy(q) : 0;
}

/* The others would do its units, and wait for it no more. */
static void slow_host(struct advisor *a)
{
	const struct profile *p = a->p;
	mem_auto double *sorted = mem_alloc(p->nprocess + 1, sizeof *sorted);
	double units = 0, others = 0, median;
	const struct profile_process *slow = NULL;
	uint32_t n = 0;

	for (uint32_t k = 1; k < p->nprocess; k++)
		if (!p->process[k].lost && pace(&p->process[k]) > 0) {
			sorted[n++] = pace(&p->process[k]);
			units += (double)p->process[k].units;
			if (!slow || pace(&p->process[k]) < pace(slow))
				slow = &p->process[k];
		}
	qsort(sorted, n, sizeof *sorted, order_doubles);
	median = n ? sorted[n / 2] : 0;
	if (n < 2 || pace(slow) >= SLOW * median)
		return;
	for (uint32_t k = 1; k < p->nprocess; k++)
		if (&p->process[k] != slow)
			others += pace(&p->process[k]);
	/* What this process does besides waiting takes as long as before. */
	add(a, "slow_host", a->wall / (a->wall - phase(a, PHASE_WAIT) + units / others),
		arena_printf(&a->p->arena,
			"Worker %u on %s does %.3g units a second while it is busy, the median worker %.3g: the others wait for it at the "
			"end of each step. Leave it out (--hosts), or see what else runs there.",
			slow->rank, slow->host, pace(slow), median));
}

/* One process would do the work of all, without messages. */
static void fewer_workers(struct advisor *a)
{
	const struct profile *p = a->p;
	double sum = 0, network = phase(a, PHASE_SEND) + phase(a, PHASE_RECEIVE), then;
	uint32_t n = 0;

	for (uint32_t k = 1; k < p->nprocess; k++) {
		const struct profile_process *q = &p->process[k];

		if (!strcmp(q->role, "rank")) /* what it holds may fit no other process */
			return;
		sum += busy(q) - 1e-9 * (double)(q->wall_ns[PHASE_SEND] + q->wall_ns[PHASE_RECEIVE]);
		n += !q->lost;
	}
	if (!n)
		return;
	/* All that is neither waiting nor messages is done as before. */
	then = sum + a->wall - network - phase(a, PHASE_WAIT);
	add(a, "fewer_workers", a->wall / fmax(then, 0.01 * a->wall),
		arena_printf(&a->p->arena,
			"The %u workers compute %.0f %% of the time and wait for messages in the rest: a step is too short for them. One "
			"process with all its threads takes less, or a larger batch for the same workers.",
			n, 100 * share(a, sum / n)));
}

/* ---- all ---- */

static int by_gain(const void *x, const void *y)
{
	const struct profile_advice *a = x, *b = y;

	return a->gain != b->gain ? (a->gain < b->gain ? 1 : -1) : strcmp(a->code, b->code);
}

void profile_advise(struct profile *p)
{
	struct advisor a = { .p = p, .wall = 1e-9 * (double)p->ns };

	if (!(a.wall > 0) || !p->nprocess)
		return;
	if (p->command && !strcmp(p->command, "train")) {
		batch_size(&a);
		if (p->histograms)
			seldom(&a, PHASE_LOG, 0.5, "log",
				"logs and histograms: log.histograms: 0 writes none of these, 10 one in ten epochs.");
		seldom(&a, PHASE_VALIDATION, 0.8, "validation",
			"validation and metrics: train.validation_freq: 5 evaluates every fifth epoch.");
		seldom(&a, PHASE_CHECKPOINT, 0.8, "checkpoint",
			"checkpoints: log.checkpoint_seconds: 600 writes fewer.");
	}
	slow_data(&a);
	precision(&a);
	threads(&a);
	switched_off(&a);
	slow_host(&a);
	fewer_workers(&a);
	qsort(a.list, a.n, sizeof *a.list, by_gain);
	p->advice = arena_copy(&p->arena, a.list, a.n, sizeof *a.list);
	p->nadvice = a.n;
}

/* ---- what bounds it ---- */

/* Shares of the limits of the passes over states, all together. */
static void passes(const struct profile *p, double *fma, double *stream)
{
	double limit = profile_fma_limit(p), stream_limit = profile_stream_limit(p);
	double flops = 0, bytes = 0, seconds = 0;

	for (uint32_t k = 0; k < p->nitem; k++)
		for (unsigned back = 0; back < 2; back++) {
			double s = profile_item_seconds(p, k, back);

			seconds += s;
			if (s > 0) {
				flops += p->item[k].flops[back] * profile_states(p, back);
				bytes += p->item[k].bytes[back] * profile_states(p, back);
			}
		}
	*fma = limit > 0 && seconds > 0 ? 1e-9 * flops / seconds / limit : 0;
	*stream = stream_limit > 0 && seconds > 0 ? 1e-9 * bytes / seconds / stream_limit : 0;
}

void profile_bound(const struct profile *p, struct buf *out)
{
	struct advisor a = { .p = (struct profile *)p, .wall = 1e-9 * (double)p->ns };
	double fma, stream;
	unsigned most = PHASE_NONE;

	for (unsigned k = 0; k < PHASE_COUNT && p->nprocess; k++)
		if (p->process[0].wall_ns[k] > p->process[0].wall_ns[most])
			most = k;
	passes(p, &fma, &stream);
	buf_printf(out, "The longest phase takes %.0f %% of the time: %s",
		100 * share(&a, phase(&a, (enum profile_phase)most)),
		profile_phase_text((enum profile_phase)most));
	if (fma > 0 || stream > 0)
		buf_printf(out,
			"; the passes over states reach %.0f %% of the machine's multiply-add limit and %.0f %% of its memory bandwidth",
			100 * fma, 100 * stream);
	buf_str(out, ".");
}
