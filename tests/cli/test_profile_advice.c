/* SPDX-License-Identifier: Apache-2.0
 * What a profile advises: six slow jobs with numbers as they were measured, the advice that helps each and what it promises,
 * and jobs that nothing helps. */
#include "cli/profile/profile_advice.h"

#include <math.h>
#include <string.h>

#include "tests/tap.h"

enum { WORKERS_MAX = 4 };

/* Shares of the wall time, 2 s, of the coordinator; processes: units and busy seconds of workers. */
struct job {
	const char *name, *command, *precision;
	uint32_t batch, width, nthread, nprocessor;
	bool streaming, histograms;
	double share[PHASE_COUNT];
	struct profile_option off;
	unsigned nworker;
	struct {
		double units, busy, network;
	} worker[WORKERS_MAX];
	const char *first; /* its code; NULL: there is none */
	double gain;
};

static const struct job jobs[] = {
	{ .name = "a batch of 2 samples",
		.command = "train",
		.precision = "single",
		.batch = 2,
		.width = 16,
		.nthread = 2,
		.nprocessor = 2,
		.share = { [PHASE_DATA] = 0.05,
			[PHASE_MATRICES] = 0.25,
			[PHASE_FORWARD] = 0.2,
			[PHASE_LOSSES] = 0.05,
			[PHASE_BACKWARD] = 0.25,
			[PHASE_CHAIN] = 0.05,
			[PHASE_OPTIMIZER] = 0.05,
			[PHASE_LOG] = 0.1 },
		.first = "batch_size",
		/* 0.35 / 4 of costs of a step, 0.55 / 4 of samples in lanes that were empty, and the logs */
		.gain = 1 / (1 - 0.9 + 0.9 / 4) },
	{ .name = "states of 2^22 amplitudes in double precision",
		.command = "bench",
		.precision = "double",
		.batch = 1,
		.width = 1,
		.nthread = 2,
		.nprocessor = 2,
		.share = { [PHASE_FORWARD] = 0.5, [PHASE_BACKWARD] = 0.48, [PHASE_MATRICES] = 0.02 },
		.first = "precision",
		.gain = 1 / (1 - 0.98 / 2) },
	{ .name = "one of three hosts computes at a quarter",
		.command = "train",
		.precision = "single",
		.batch = 112,
		.width = 16,
		.nthread = 1,
		.nprocessor = 8,
		.share = { [PHASE_WAIT] = 0.9, [PHASE_SEND] = 0.06, [PHASE_CHAIN] = 0.04 },
		.nworker = 3,
		.worker = { { 4500, 0.9, 0.02 }, { 2250, 1.8, 0.02 }, { 4500, 0.9, 0.02 } },
		.first = "slow_host",
		/* 11,250 units at 10,000 a second, and 0.2 s of the coordinator */
		.gain = 2 / (0.2 + 1.125) },
	{ .name = "samples in a file of many columns",
		.command = "train",
		.precision = "single",
		.batch = 64,
		.width = 16,
		.nthread = 2,
		.nprocessor = 2,
		.streaming = true,
		.share = { [PHASE_DATA] = 0.8, [PHASE_FORWARD] = 0.08, [PHASE_BACKWARD] = 0.08, [PHASE_CHAIN] = 0.04 },
		.first = "data",
		.gain = 1 / (1 - 0.8) },
	{ .name = "two workers for steps of 100 us",
		.command = "train",
		.precision = "single",
		.batch = 16,
		.width = 16,
		.nthread = 2,
		.nprocessor = 2,
		.share = { [PHASE_WAIT] = 0.5, [PHASE_SEND] = 0.2, [PHASE_RECEIVE] = 0.1, [PHASE_CHAIN] = 0.1, [PHASE_LOG] = 0.1 },
		.nworker = 2,
		.worker = { { 20000, 0.6, 0.3 }, { 20000, 0.6, 0.3 } },
		.first = "fewer_workers",
		/* 0.3 s of each worker's computing, and a fifth of the coordinator's time */
		.gain = 2 / (2 * 0.3 + 0.4) },
	{ .name = "an optimisation is switched off",
		.command = "train",
		.precision = "single",
		.batch = 200,
		.width = 16,
		.nthread = 2,
		.nprocessor = 2,
		.share = { [PHASE_FORWARD] = 0.45, [PHASE_BACKWARD] = 0.5, [PHASE_CHAIN] = 0.05 },
		.off = { "batch_rank", 9.5 },
		.first = "batch_rank",
		.gain = 1 / (0.05 + 0.95 / 9.5) },
	{ .name = "half of the processors",
		.command = "bench",
		.precision = "single",
		.batch = 64,
		.width = 16,
		.nthread = 4,
		.nprocessor = 8,
		.share = { [PHASE_FORWARD] = 0.5, [PHASE_BACKWARD] = 0.5 },
		.first = "threads",
		.gain = 2 },
	{ .name = "validation after each of many short epochs",
		.command = "train",
		.precision = "single",
		.batch = 256,
		.width = 16,
		.nthread = 2,
		.nprocessor = 2,
		.share = { [PHASE_VALIDATION] = 0.5, [PHASE_FORWARD] = 0.25, [PHASE_BACKWARD] = 0.25 },
		.first = "validation",
		.gain = 1 / (1 - 0.8 * 0.5) },
	{ .name = "histograms after each of many short epochs",
		.command = "train",
		.precision = "single",
		.batch = 256,
		.width = 16,
		.nthread = 2,
		.nprocessor = 2,
		.histograms = true,
		.share = { [PHASE_LOG] = 0.75, [PHASE_FORWARD] = 0.15, [PHASE_BACKWARD] = 0.1 },
		.first = "log",
		.gain = 1 / (1 - 0.5 * 0.75) },
	{ .name = "nothing to change",
		.command = "train",
		.precision = "single",
		.batch = 256,
		.width = 16,
		.nthread = 2,
		.nprocessor = 2,
		.share = { [PHASE_DATA] = 0.03,
			[PHASE_FORWARD] = 0.35,
			[PHASE_BACKWARD] = 0.37,
			[PHASE_CHAIN] = 0.02,
			[PHASE_LOG] = 0.23 },
		.first = NULL },
	{ .name = "data in memory, copied for a small model",
		.command = "infer",
		.precision = "single",
		.batch = 10000,
		.width = 16,
		.nthread = 2,
		.nprocessor = 2,
		.share = { [PHASE_DATA] = 0.3, [PHASE_FORWARD] = 0.7 },
		.first = NULL },
	{ .name = "three workers at one pace that compute all the time",
		.command = "train",
		.precision = "single",
		.batch = 4096,
		.width = 16,
		.nthread = 1,
		.nprocessor = 8,
		.share = { [PHASE_WAIT] = 0.97, [PHASE_SEND] = 0.03 },
		.nworker = 3,
		.worker = { { 9000, 1.9, 0.02 }, { 9500, 1.9, 0.02 }, { 8800, 1.9, 0.02 } },
		.first = NULL },
};

static struct profile *profile_of(const struct job *j)
{
	const double ns = 2e9;
	struct profile *p = profile_new();

	p->command = j->command;
	p->precision = j->precision;
	p->ns = (int64_t)ns;
	p->steps = 1000;
	p->samples = 1000 * (uint64_t)j->batch;
	p->batch_size = j->batch;
	p->width = j->width;
	p->nthread = j->nthread;
	p->nprocessor = j->nprocessor;
	p->streaming = j->streaming;
	p->histograms = j->histograms;
	p->nswitched_off = j->off.name != NULL;
	p->switched_off = &j->off;
	p->nprocess = 1 + j->nworker;
	p->process = arena_alloc(&p->arena, p->nprocess, sizeof *p->process);
	for (uint32_t k = 0; k < p->nprocess; k++) {
		p->process[k] = (struct profile_process){
			.host = "host", .role = k ? "worker" : "coordinator", .rank = k, .end = p->ns
		};
		if (!k)
			continue;
		p->process[k].units = (uint64_t)j->worker[k - 1].units;
		p->process[k].busy_ns = (uint64_t)(1e9 * j->worker[k - 1].busy);
		p->process[k].wall_ns[PHASE_SEND] = (uint64_t)(1e9 * j->worker[k - 1].network);
	}
	for (unsigned k = 0; k < PHASE_COUNT; k++)
		p->process[0].wall_ns[k] = (uint64_t)(ns * j->share[k]);
	return p;
}

int main(void)
{
	for (size_t k = 0; k < sizeof jobs / sizeof *jobs; k++) {
		const struct job *j = &jobs[k];
		struct profile *p = profile_of(j);
		const struct profile_advice *a;

		profile_advise(p);
		a = p->nadvice ? &p->advice[0] : NULL;
		tap_is_str(a ? a->code : "none", j->first ? j->first : "none",
			"%s: the first advice", j->name);
		if (a && j->first)
			tap_ok(fabs(a->gain / j->gain - 1) < 0.01, "  it promises %.3g (%.3g)",
				a->gain, j->gain);
		for (uint32_t i = 1; i < p->nadvice; i++)
			tap_ok(p->advice[i].gain <= p->advice[i - 1].gain && p->advice[i].gain >= 1.03,
				"  %s comes after it: %.3g", p->advice[i].code, p->advice[i].gain);
		profile_free(p);
	}
	return tap_done();
}
