/* SPDX-License-Identifier: Apache-2.0
 * A profile for tests: two processes of two threads each, the clock of the second three minutes ahead, with messages, a plan
 * and names that break what does not escape them. */
#ifndef TESTS_SAMPLE_PROFILE_H
#define TESTS_SAMPLE_PROFILE_H

#include <string.h>

#include "runtime/base/profile/profile.h"

#define HOSTILE "</script>\"\x1b[31m;\n\\ \xc3\xa9"
enum { SAMPLE_STEPS = 3, SAMPLE_EVENTS = 8 * SAMPLE_STEPS };
static const int64_t sample_offset = 180000000123, sample_step_ns = 10000000;

static const struct profile_layer sample_layers[] = { { "conv[0]", 7 }, { HOSTILE, 12 }, { "", 0 } };
static const struct profile_stage sample_stages[] = {
	{ 0, 0, { 1e6, 2.5e6 }, { 4096, 8192 }, { 1000.5, 2000.25 }, false },
	{ 0, 1, { 3e6, 1.0 / 3 }, { 12288, 0 }, { 0, 1e-7 }, true },
	{ 1, UINT32_MAX, { 5, 6 }, { 7, 8 }, { 9, 10 }, false },
};
static const struct profile_item sample_items[] = {
	{ ITEM_STEP, 0, 0, 0, "entangle", "dense 2", 0, 9, { 1e6, 2e6 }, { 4096, 8192 } },
	{ ITEM_STEP, 0, 1, 1, HOSTILE, "diagonal 2", 1, 14, { 3e6, 6e6 }, { 0.1, 0.2 } },
	{ ITEM_TRANSFER, 0, 1, UINT32_MAX, NULL, NULL, UINT32_MAX, 0, { 0, 0 }, { 1 << 20, 1 << 20 } },
	{ ITEM_READOUTS, 1, UINT32_MAX, 2, NULL, "prepare", 2, 0, { 10, 20 }, { 30, 40 } },
};
static const struct profile_advice sample_advice[] = {
	{ "threads", "Two of four processors are idle: set run.threads to 4.", 1.75 },
	{ HOSTILE, HOSTILE, 1 },
};
static const struct profile_counter sample_counters[] = { { "cycles", 123456789012.0 },
	{ HOSTILE, 0.5 } };
static const struct profile_memory sample_memory[] = { { "states", 1 << 24 },
	{ "resident", UINT64_C(1) << 40 } };

static const struct profile_exchange sample_exchanges[] = { { 0, 1, false, 3, 1536, 900, 0 },
	{ 0, 1, true, 6, UINT64_C(1) << 40, 1000000007, 999 } };

/* Steps of a process: phases of a thread one behind the other, a stage inside of forward and backward, and messages:
 * coordinator 0 sends 2 k to worker 1, which answers with 2 k + 1. */
static uint32_t sample_events(unsigned rank, unsigned thread, int64_t base, struct profile_event *e)
{
	uint16_t peer = rank ? 0 : 1;
	uint32_t n = 0;

	for (unsigned k = 0; k < SAMPLE_STEPS; k++) {
		int64_t t = base + k * sample_step_ns + thread * 1001;

		if (thread) {
			e[n++] = (struct profile_event){ t, t + 5000000, PHASE_FORWARD, EVENT_PHASE,
				0 };
			e[n++] = (struct profile_event){ t + 5000000, t + 9000007, PHASE_BACKWARD,
				EVENT_PHASE, 0 };
			continue;
		}
		if (rank)
			e[n++] = (struct profile_event){ t + 300000, t + 450000, 2 * k,
				EVENT_RECEIVE, peer };
		else
			e[n++] = (struct profile_event){ t + 100000, t + 200000, 2 * k, EVENT_SEND,
				peer };
		e[n++] = (struct profile_event){ t, t + 500000, rank ? PHASE_RECEIVE : PHASE_SEND,
			EVENT_PHASE, 0 };
		e[n++] = (struct profile_event){ t + 600001, t + 3999999, 0 << 16 | 1,
			EVENT_FORWARD, 0 };
		e[n++] = (struct profile_event){ t + 500000, t + 4000000, PHASE_FORWARD,
			EVENT_PHASE, 0 };
		e[n++] = (struct profile_event){ t + 4000100, t + 7999999, 1 << 16, EVENT_BACKWARD,
			0 };
		e[n++] = (struct profile_event){ t + 4000000, t + 8000000, PHASE_BACKWARD,
			EVENT_PHASE, 0 };
		if (rank)
			e[n++] = (struct profile_event){ t + 8100000, t + 8200000, 2 * k + 1,
				EVENT_SEND, peer };
		else
			e[n++] = (struct profile_event){ t + 8300000, t + 8400000, 2 * k + 1,
				EVENT_RECEIVE, peer };
		e[n++] = (struct profile_event){ t, t + sample_step_ns - 1, 10 + k, EVENT_STEP, 0 };
	}
	return n;
}

static void sample_process(struct arena *a, unsigned rank, int64_t base, struct profile_process *p)
{
	static const uint64_t item_ns[2][4] = { { 1000000, 9000000, 500000, 0 },
		{ 2000000, 18000000, 1, 123 } };
	struct profile_thread *thread = arena_alloc(a, 2, sizeof *thread);

	*p = (struct profile_process){ .host = rank ? HOSTILE : "host-a",
		.role = rank ? "worker" : "coordinator",
		.rank = rank,
		.pid = 1000 + rank,
		.begin = base - 5,
		.end = base + SAMPLE_STEPS * sample_step_ns,
		.busy_ns = 27000000,
		.units = 30,
		.forward_states = 96,
		.backward_states = 95,
		.bytes_sent = 1 << 20,
		.bytes_received = 2 << 20,
		.messages = 2 * SAMPLE_STEPS,
		.nthread = 2,
		.thread = thread,
		.nitem = 4,
		.item_ns = { item_ns[0], item_ns[1] },
		.ncounter = rank ? 0 : 2,
		.counter = rank ? NULL : sample_counters,
		.no_counters = rank ? "perf_event_paranoid is 4" : NULL,
		.nmemory = 2,
		.memory = sample_memory,
		.nexchange = rank ? 2 : 0,
		.exchange = rank ? sample_exchanges : NULL };
	p->wall_ns[PHASE_FORWARD] = 15000000;
	p->wall_ns[PHASE_NONE] = 5;
	for (unsigned t = 0; t < 2; t++) {
		struct profile_event *e = arena_alloc(a, SAMPLE_EVENTS, sizeof *e);

		thread[t].name = t ? "thread 1" : "main";
		thread[t].device = !rank && t ? "cuda:0" : NULL;
		thread[t].timing = thread[t].device ? "CUPTI" : NULL;
		thread[t].timing_note = thread[t].device ? HOSTILE : NULL;
		thread[t].event = e;
		thread[t].nevent = sample_events(rank, t, base, e);
		thread[t].dropped = rank && t ? 17 : 0;
		for (uint32_t k = 0; k < thread[t].nevent; k++)
			if (e[k].kind == EVENT_PHASE) {
				thread[t].ns[e[k].id] += (uint64_t)(e[k].end - e[k].begin);
				thread[t].count[e[k].id]++;
			}
	}
}

/* The coordinator's, with plan and advice. */
static inline struct profile *sample_profile(void)
{
	struct profile *p = profile_new();

	p->version = "1.2.3";
	p->command = "train";
	p->model = HOSTILE;
	p->engine = "state vectors";
	p->precision = "single";
	p->level = PROFILE_MATRICES;
	p->began = 1700000000.123456;
	p->ns = SAMPLE_STEPS * sample_step_ns;
	p->steps = SAMPLE_STEPS;
	p->samples = 96;
	p->nthread = 2;
	p->batch_size = 32;
	p->gradient = true;
	p->streaming = p->histograms = true;
	p->limits = (struct profile_limits){ 12.5, 1 / 3.0, 100, 0, 3.25 };
	p->nlayer = 3;
	p->layer = sample_layers;
	p->nstage = 3;
	p->stage = sample_stages;
	p->nitem = 4;
	p->item = sample_items;
	p->nadvice = 2;
	p->advice = sample_advice;
	p->nprocess = 1;
	p->process = arena_alloc(&p->arena, 1, sizeof *p->process);
	sample_process(&p->arena, 0, 0, p->process);
	return p;
}

/* What the worker sends: its own clock, no plan. late_ns: by which its offset is wrong. */
static struct profile *sample_part(int64_t late_ns)
{
	struct profile *p = profile_new();

	p->version = "1.2.3";
	p->nprocess = 1;
	p->process = arena_alloc(&p->arena, 1, sizeof *p->process);
	sample_process(&p->arena, 1, sample_offset, p->process);
	p->process->offset = sample_offset + late_ns;
	p->process->uncertainty = 50000;
	return p;
}

#endif
