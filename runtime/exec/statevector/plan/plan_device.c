/* SPDX-License-Identifier: Apache-2.0
 * What a plan is expected to take on a device with memory of its own: kernels over the limits of the device, launches that cannot be
 * shorter than it takes to ask for them, copies, and the host's waits. */
#include "runtime/exec/statevector/plan/plan.h"

#include <math.h>

/* Shares of the limits that kernels reach: of the rate of memory that of a copy; of arithmetic the part of instructions that are
 * multiply-adds, which is less in the backward pass, where sums go over the lanes, and of the cycles in which one is issued. */
static const double MEMORY_SHARE = 0.85, ARITHMETIC_SHARE[] = { 0.914 * 0.8, 0.65 * 0.8 };

/* Of nunit units, which have nsample samples each; w: what does not depend on them, and what each takes. */
static void add(struct plan_device_work *sum, const struct plan_device_work *w, uint32_t nunit,
	double nsample)
{
	sum->launch += nunit * w->launch;
	sum->copy += nunit * w->copy;
	sum->clear += nunit * w->clear;
	sum->call += nunit * w->call;
	sum->wait += nunit * w->wait;
	nsample *= nunit;
	for (unsigned twice = 0; twice < 2; twice++) {
		sum->flops[twice] += nsample * w->flops[twice];
		sum->mads[twice] += nsample * w->mads[twice];
	}
	sum->converted += nsample * w->converted;
	sum->blocks += nsample * w->blocks;
	sum->read += nsample * w->read;
	sum->written += nsample * w->written;
	sum->copied += nsample * w->copied + nunit * w->copied_once;
}

/* Of a unit: by itself, and what its kernels and its copies take of the device while it has other units, too. */
struct clock {
	const struct plan_limits *l;
	unsigned streams; /* units side by side */
	double share;     /* of multiprocessors that have a block of the last launch */
	struct plan_span alone, kernels;
	double copies;
};

/* Adds whatever is done of a part, whole launches. */
static void add_work(void *ctx, const struct plan_device_work *w, bool back)
{
	struct clock *t = ctx;
	const struct plan_limits *l = t->l;
	double memory = (w->read + w->written) / (MEMORY_SHARE * l->stream_gb_s) * 1e-9;
	double arithmetic = (w->flops[0] / l->single_gflop_s + w->flops[1] / l->double_gflop_s)
			/ ARITHMETIC_SHARE[back] * 1e-9
		+ w->converted / l->convert_g_s * 1e-9;

	if (w->launch) /* else it is done in a launch of another part */
		t->share = w->blocks / w->launch / l->units;
	double one = arithmetic / fmin(1, t->share),
	       among = arithmetic / fmin(1, t->share * t->streams);
	double launches = w->launch * l->launch_us * 1e-6;
	double rest = w->clear * l->launch_us * 1e-6 + w->copy * l->copy_us * 1e-6
		+ w->copied / l->link_gb_s * 1e-9
		+ (w->call + w->wait) * l->wait_us * 1e-6; /* a call is two ways, too */

	t->alone.least += fmax(launches, fmax(memory, one)) + rest;
	t->alone.most += fmax(launches, memory + one) + rest;
	t->kernels.least += fmax(memory, among);
	t->kernels.most += memory + among;
	t->copies += w->copied / l->link_gb_s * 1e-9;
}

/* Of a unit that has `count` samples: those of a part. */
static double samples(const struct plan_circuit *c, uint32_t part, bool back, uint32_t count)
{
	uint32_t group = c->device->group;

	if (part == c->nstage + PLAN_DEVICE_OUTPUTS && !back && !plan_has_tail(c))
		return count;
	return (double)(((uint64_t)count + group - 1) / group * group);
}

/* Of a part in a unit of `count` samples. */
static struct plan_device_work part_work(const struct plan_circuit *c, uint32_t part, bool back,
	bool gradient, uint32_t count)
{
	const struct plan_device *d = c->device;
	struct plan_device_work w = { 0 };

	add(&w, &(d->joined && gradient && !back ? d->joined : d->part[back])[part], 1,
		samples(c, part, back, count));
	return w;
}

/* Calls f for each part of such a unit: back first, as its launches may do what is forward, too. */
static void visit(const struct plan *pl, uint32_t count, bool gradient,
	void (*f)(void *ctx, const struct plan_device_work *w, bool back), void *ctx)
{
	for (uint32_t k = 0; k < pl->ncircuit && pl->circuit[k].device && count; k++) {
		const struct plan_circuit *c = &pl->circuit[k];

		for (unsigned back = gradient ? 2 : 1; back-- > 0;)
			for (uint32_t part = 0; part < c->nstage + PLAN_DEVICE_PARTS; part++) {
				struct plan_device_work w = part_work(c, part, back, gradient, count);

				f(ctx, &w, back);
			}
	}
}

/* ---- work ---- */

static void add_part(void *ctx, const struct plan_device_work *w, bool back)
{
	(void)back;
	add(ctx, w, 1, 1);
}

struct plan_device_work plan_device_work(const struct plan *pl, uint64_t nsample, bool gradient)
{
	struct plan_device_work whole = { 0 }, last = { 0 }, sum = { 0 };

	visit(pl, pl->width, gradient, add_part, &whole);
	visit(pl, (uint32_t)(nsample % pl->width), gradient, add_part, &last);
	add(&sum, &whole, (uint32_t)(nsample / pl->width), 1);
	add(&sum, &last, 1, 1);
	return sum;
}

/* ---- seconds ---- */

/* Of nunit units and a last one, which may be empty: streams have as many units each, and the device does one after the other. */
static double all_seconds(double nunit, unsigned streams, double alone, double last, double kernels,
	double last_kernels)
{
	double chain = (nunit * alone + last) / streams;
	double device = nunit > 0 ? alone + (nunit - 1) * kernels + last_kernels : last;

	return fmax(chain, device);
}

struct plan_span plan_device_seconds(const struct plan *pl, const struct plan_limits *l,
	uint64_t nsample, bool gradient)
{
	uint64_t nunit = nsample / pl->width, rest = nsample % pl->width, all = nunit + (rest > 0);
	unsigned most = plan_on_device(pl) ? pl->circuit->device->streams : 1,
		 streams = all < most ? (unsigned)(all + !all) : most;
	struct clock whole = { .l = l, .streams = streams, .share = 1 }, last = whole;

	visit(pl, pl->width, gradient, add_work, &whole);
	visit(pl, (uint32_t)rest, gradient, add_work, &last);
	return (struct plan_span){ all_seconds((double)nunit, streams, whole.alone.least,
					   last.alone.least, fmax(whole.kernels.least, whole.copies),
					   fmax(last.kernels.least, last.copies)),
		all_seconds((double)nunit, streams, whole.alone.most, last.alone.most,
			fmax(whole.kernels.most, whole.copies),
			fmax(last.kernels.most, last.copies)) };
}

struct plan_span plan_device_part_seconds(const struct plan *pl, const struct plan_limits *l,
	const struct plan_circuit *c, uint32_t part, bool back)
{
	struct clock t = { .l = l, .streams = 1, .share = 1 }, without = t;
	struct plan_device_work w = part_work(c, part, back, back, pl->width);

	add_work(&t, &w, back);
	if (back && c->device->joined) {
		w = part_work(c, part, false, true, pl->width);
		add_work(&t, &w, false);
		w = part_work(c, part, false, false, pl->width);
		add_work(&without, &w, false);
	}
	return (struct plan_span){ t.alone.least - without.alone.least,
		t.alone.most - without.alone.most };
}
