/* SPDX-License-Identifier: Apache-2.0
 * The tables of a profile. */
#include "cli/profile/profile_sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MATRICES_SHOWN = 12 };

static const double NONE = (double)NAN;

double profile_item_seconds(const struct profile *p, uint32_t k, unsigned back)
{
	double ns = 0;

	for (uint32_t i = 0; i < p->nprocess; i++)
		if (k < p->process[i].nitem)
			ns += (double)p->process[i].item_ns[back][k];
	return ns * 1e-9 / (p->nthread ? p->nthread : 1);
}

double profile_states(const struct profile *p, unsigned back)
{
	uint32_t ncircuit = 1;
	double n = 0;

	for (uint32_t k = 0; k < p->nitem; k++)
		ncircuit = p->item[k].circuit < ncircuit ? ncircuit : p->item[k].circuit + 1;
	for (uint32_t k = 0; k < p->nprocess; k++)
		n += (double)(back ? p->process[k].backward_states : p->process[k].forward_states);
	return n > 0 ? n / ncircuit : (double)p->samples;
}

double profile_phase_seconds(const struct profile *p, enum profile_phase phase)
{
	return p->nprocess ? 1e-9 * (double)p->process[0].wall_ns[phase] : 0;
}

/* ---- building ---- */

static struct profile_section *begin(struct profile_sections *all, const char *key,
	const char *title, const struct profile_column *column, unsigned ncolumn)
{
	struct profile_section *s = &all->section[all->n++];

	*s = (struct profile_section){
		.key = key, .title = title, .ncolumn = ncolumn, .column = column, .arena = &all->arena
	};
	return s;
}
#define BEGIN(all, key, title, columns) \
	begin(all, key, title, columns, sizeof(columns) / sizeof *(columns))

static struct profile_cell text(const char *t) { return (struct profile_cell){ t, NONE }; }
static struct profile_cell number(double v) { return (struct profile_cell){ NULL, v }; }

/* A cell for each column. */
static void add_row(struct profile_section *s, const struct profile_cell *cell)
{
	s->cell = arena_grow(s->arena, s->cell, s->nrow, s->ncolumn * sizeof *cell);
	memcpy(&s->cell[s->nrow * s->ncolumn], cell, s->ncolumn * sizeof *cell);
	s->shown = ++s->nrow;
}
#define ADD_ROW(s, ...) add_row(s, (struct profile_cell[]){ __VA_ARGS__ })

static double ratio(double a, double b) { return b > 0 ? a / b : NONE; }

/* ---- phases ---- */

static const struct profile_column phase_columns[] = {
	{ "name", "phase", CELL_TEXT, false },
	{ "seconds", "time", CELL_SECONDS, false },
	{ "seconds_per_step", "a step", CELL_SECONDS, false },
	{ "share", "share", CELL_SHARE, true },
};

static void add_phases(const struct profile *p, struct profile_sections *all)
{
	struct profile_section *s = BEGIN(all, "phases", "Phases", phase_columns);

	for (unsigned k = 1; k <= PHASE_COUNT; k++) {
		enum profile_phase phase = k < PHASE_COUNT ? (enum profile_phase)k : PHASE_NONE;
		double seconds = profile_phase_seconds(p, phase);

		if (!(seconds > 0) && phase != PHASE_NONE)
			continue;
		ADD_ROW(s, text(profile_phase_name(phase)), number(seconds),
			number(ratio(seconds, (double)p->steps)),
			number(ratio(seconds, 1e-9 * (double)p->ns)));
	}
}

/* ---- layers, matrices, families ---- */

static double flops_of(const struct profile *p, uint32_t k)
{
	return p->item[k].flops[0] * profile_states(p, 0)
		+ (p->gradient ? p->item[k].flops[1] * profile_states(p, 1) : 0);
}

static double seconds_of(const struct profile *p, uint32_t k)
{
	return profile_item_seconds(p, k, 0) + profile_item_seconds(p, k, 1);
}

static double all_items(const struct profile *p)
{
	double sum = 0;

	for (uint32_t k = 0; k < p->nitem; k++)
		sum += seconds_of(p, k);
	return sum;
}

static const struct profile_column layer_columns[] = {
	{ "layer", "layer", CELL_TEXT, false },
	{ "line", "line", CELL_COUNT, false },
	{ "forward_seconds", "forward", CELL_SECONDS, false },
	{ "backward_seconds", "backward", CELL_SECONDS, false },
	{ "gflop_s", "GFLOP/s", CELL_NUMBER, false },
	{ "share", "share", CELL_SHARE, true },
};

static const char *const other_names[ITEM_KINDS] = {
	[ITEM_STEP] = "(no layer)",
	[ITEM_TRANSFER] = "(state to blocks and back)",
	[ITEM_START] = "(initial states)",
	[ITEM_READOUTS] = "(readouts)",
};

static void add_layer(const struct profile *p, struct profile_section *s, const char *name,
	uint32_t line, uint32_t layer, unsigned kind, double all)
{
	double seconds[2] = { 0, 0 }, flops = 0;

	for (uint32_t k = 0; k < p->nitem; k++)
		if (p->item[k].layer == layer && p->item[k].kind == kind) {
			for (unsigned back = 0; back < 2; back++)
				seconds[back] += profile_item_seconds(p, k, back);
			flops += flops_of(p, k);
		}
	if (!(seconds[0] + seconds[1] > 0))
		return;
	ADD_ROW(s, text(name), number(line ? line : NONE), number(seconds[0]), number(seconds[1]),
		number(kind == ITEM_STEP ? ratio(1e-9 * flops, seconds[0] + seconds[1]) : NONE),
		number(ratio(seconds[0] + seconds[1], all)));
}

static void add_layers(const struct profile *p, struct profile_sections *all)
{
	struct profile_section *s = BEGIN(all, "layers", "Layers", layer_columns);
	double sum = all_items(p);

	for (uint32_t k = 0; k < p->nlayer && sum > 0; k++)
		add_layer(p, s, p->layer[k].path, p->layer[k].line, k, ITEM_STEP, sum);
	for (unsigned kind = 0; kind < ITEM_KINDS && sum > 0; kind++)
		add_layer(p, s, other_names[kind], 0, UINT32_MAX, kind, sum);
	s->note = sum > 0 ? "Times of the forward and backward pass; line is that of the model."
		: p->level < PROFILE_LAYERS ? "--level=layers shows the time of each layer."
					    : "The engine that was used tells no layers apart.";
}

static const struct profile_column matrix_columns[] = {
	{ "step", "step", CELL_COUNT, false },
	{ "matrix", "matrix", CELL_TEXT, false },
	{ "family", "kind", CELL_TEXT, false },
	{ "layer", "layer", CELL_TEXT, false },
	{ "line", "line", CELL_COUNT, false },
	{ "forward_seconds", "forward", CELL_SECONDS, false },
	{ "backward_seconds", "backward", CELL_SECONDS, false },
	{ "gflop_s", "GFLOP/s", CELL_NUMBER, false },
	{ "share_of_fma", "of limit", CELL_SHARE, false },
	{ "share", "share", CELL_SHARE, true },
};

struct order {
	uint32_t k;
	double seconds;
};

static int by_seconds(const void *x, const void *y)
{
	const struct order *a = x, *b = y;

	return a->seconds != b->seconds ? (a->seconds < b->seconds ? 1 : -1) : a->k < b->k ? -1 : 1;
}

/* Machines that computed. */
static unsigned hosts(const struct profile *p)
{
	unsigned n = 0;

	for (uint32_t k = 0; k < p->nprocess; k++) {
		bool known = !p->process[k].nitem;

		for (uint32_t i = 0; i < k && !known; i++)
			known = p->process[i].nitem
				&& !strcmp(p->process[i].host, p->process[k].host);
		n += !known;
	}
	return n ? n : 1;
}

double profile_fma_limit(const struct profile *p)
{
	return hosts(p)
		* (p->precision && !strcmp(p->precision, "double") ? p->limits.double_gflop_s
								   : p->limits.single_gflop_s);
}

double profile_stream_limit(const struct profile *p) { return hosts(p) * p->limits.stream_gb_s; }

static void add_matrices(const struct profile *p, struct profile_sections *all)
{
	struct profile_section *s =
		BEGIN(all, "matrices", "Matrices that take longest", matrix_columns);
	mem_auto struct order *order = mem_alloc((size_t)p->nitem + 1, sizeof *order);
	double sum = all_items(p);
	uint32_t n = 0;

	for (uint32_t k = 0; k < p->nitem && p->level >= PROFILE_MATRICES; k++)
		if (p->item[k].kind == ITEM_STEP && seconds_of(p, k) > 0)
			order[n++] = (struct order){ k, seconds_of(p, k) };
	qsort(order, n, sizeof *order, by_seconds);
	for (uint32_t i = 0; i < n; i++) {
		const struct profile_item *item = &p->item[order[i].k];
		double rate = ratio(1e-9 * flops_of(p, order[i].k), order[i].seconds);

		ADD_ROW(s, number(item->step), text(item->matrix), text(item->family),
			text(item->layer < p->nlayer ? p->layer[item->layer].path : NULL),
			number(item->line ? item->line : NONE),
			number(profile_item_seconds(p, order[i].k, 0)),
			number(profile_item_seconds(p, order[i].k, 1)), number(rate),
			number(ratio(rate, profile_fma_limit(p))),
			number(ratio(order[i].seconds, sum)));
	}
	if (s->shown > MATRICES_SHOWN) {
		s->note = arena_printf(&all->arena, "%u more are in --json.",
			s->shown - MATRICES_SHOWN);
		s->shown = MATRICES_SHOWN;
	}
	if (!n && sum > 0)
		s->note = "--level=matrices shows the time of each matrix.";
}

static const struct profile_column family_columns[] = {
	{ "family", "kind of matrix", CELL_TEXT, false },
	{ "seconds", "time", CELL_SECONDS, false },
	{ "gflop_s", "GFLOP/s", CELL_NUMBER, false },
	{ "share", "share", CELL_SHARE, true },
};

static void add_families(const struct profile *p, struct profile_sections *all)
{
	struct profile_section *s = BEGIN(all, "families", "Kinds of matrices", family_columns);
	mem_auto bool *done = mem_alloc((size_t)p->nitem + 1, sizeof *done);
	double sum = all_items(p);

	for (uint32_t k = 0; k < p->nitem && p->level >= PROFILE_MATRICES; k++) {
		double seconds = 0, flops = 0;

		if (done[k] || p->item[k].kind != ITEM_STEP)
			continue;
		for (uint32_t i = k; i < p->nitem; i++)
			if (p->item[i].kind == ITEM_STEP
				&& !strcmp(p->item[i].family, p->item[k].family)) {
				done[i] = true;
				seconds += seconds_of(p, i);
				flops += flops_of(p, i);
			}
		if (!(seconds > 0))
			continue;
		ADD_ROW(s, text(p->item[k].family), number(seconds),
			number(ratio(1e-9 * flops, seconds)), number(ratio(seconds, sum)));
	}
}

/* ---- stages ---- */

static const struct profile_column stage_columns[] = {
	{ "circuit", "circuit", CELL_COUNT, false },
	{ "stage", "stage", CELL_COUNT, false },
	{ "direction", "pass", CELL_TEXT, false },
	{ "seconds", "time", CELL_SECONDS, false },
	{ "expected_seconds", "expected", CELL_SECONDS, false },
	{ "measured_over_expected", "ratio", CELL_NUMBER, false },
	{ "gflop_s", "GFLOP/s", CELL_NUMBER, false },
	{ "gb_s", "GB/s", CELL_NUMBER, false },
	{ "flops_per_byte", "flops/B", CELL_NUMBER, false },
	{ "share_of_fma", "of fma", CELL_SHARE, false },
	{ "share_of_stream", "of stream", CELL_SHARE, false },
};

static double stage_seconds(const struct profile *p, const struct profile_stage *s, unsigned back)
{
	double sum = 0;

	for (uint32_t k = 0; k < p->nitem; k++)
		if (p->item[k].circuit == s->circuit && p->item[k].stage == s->stage)
			sum += profile_item_seconds(p, k, back);
	return sum;
}

/* A fused stage is one pass: both directions together. */
static void add_pass(const struct profile *p, struct profile_section *s,
	const struct profile_stage *stage, const char *name, double seconds, unsigned first,
	unsigned last)
{
	double flops = 0, bytes = 0, expected = 0;

	for (unsigned back = first; back <= last; back++) {
		double n = profile_states(p, back);

		flops += stage->flops[back] * n;
		bytes += stage->bytes[back] * n;
		expected += 1e-9 * stage->expected_ns[back] * n / hosts(p);
	}
	if (!(seconds > 0))
		return;
	ADD_ROW(s, number(stage->circuit), number(stage->stage), text(name), number(seconds),
		number(expected), number(ratio(seconds, expected)), number(1e-9 * flops / seconds),
		number(1e-9 * bytes / seconds), number(ratio(flops, bytes)),
		number(ratio(1e-9 * flops / seconds, profile_fma_limit(p))),
		number(ratio(1e-9 * bytes / seconds, profile_stream_limit(p))));
}

static void add_stages(const struct profile *p, struct profile_sections *all)
{
	struct profile_section *s =
		BEGIN(all, "stages", "Stages, planned and measured", stage_columns);

	for (uint32_t k = 0; k < p->nstage; k++) {
		const struct profile_stage *stage = &p->stage[k];
		double forward = stage_seconds(p, stage, 0), back = stage_seconds(p, stage, 1);

		if (stage->fused) {
			add_pass(p, s, stage, "both", forward + back, 0, 1);
			continue;
		}
		add_pass(p, s, stage, "forward", forward, 0, 0);
		add_pass(p, s, stage, "backward", back, 1, 1);
	}
	if (s->nrow)
		s->note = "of fma, of stream: shares of the measured limits of the machine (multiply-add, memory).";
}

/* ---- exchanges, workers, memory, counters, advice ---- */

static const struct profile_column exchange_columns[] = {
	{ "rank", "rank", CELL_COUNT, false },
	{ "circuit", "circuit", CELL_COUNT, false },
	{ "segment", "segment", CELL_COUNT, false },
	{ "direction", "pass", CELL_TEXT, false },
	{ "exchanges", "exchanges", CELL_COUNT, false },
	{ "seconds", "time", CELL_SECONDS, false },
	{ "wait_seconds", "waiting", CELL_SECONDS, false },
	{ "bytes", "sent", CELL_BYTES, false },
	{ "gb_s", "GB/s", CELL_NUMBER, false },
};

/* Of split states; of others there is no such table. */
static void add_exchanges(const struct profile *p, struct profile_sections *all)
{
	struct profile_section *s =
		BEGIN(all, "exchanges", "Exchanges between segments", exchange_columns);

	for (uint32_t k = 0; k < p->nprocess; k++)
		for (uint32_t i = 0; i < p->process[k].nexchange; i++) {
			const struct profile_exchange *x = &p->process[k].exchange[i];

			ADD_ROW(s, number(p->process[k].rank), number(x->circuit),
				number(x->segment), text(x->backward ? "backward" : "forward"),
				number((double)x->count), number(1e-9 * (double)x->ns),
				number(1e-9 * (double)x->wait_ns), number((double)x->bytes),
				number(ratio((double)x->bytes, (double)x->ns)));
		}
	all->n -= !s->nrow;
}

static const struct profile_column worker_columns[] = {
	{ "rank", "rank", CELL_COUNT, false },
	{ "host", "host", CELL_TEXT, false },
	{ "role", "role", CELL_TEXT, false },
	{ "threads", "threads", CELL_COUNT, false },
	{ "busy_share", "busy", CELL_SHARE, true },
	{ "wait_share", "waiting", CELL_SHARE, false },
	{ "network_share", "network", CELL_SHARE, false },
	{ "units", "units", CELL_COUNT, false },
	{ "sent_bytes", "sent", CELL_BYTES, false },
	{ "received_bytes", "received", CELL_BYTES, false },
	{ "clock_offset_seconds", "clock", CELL_SECONDS, false },
	{ "clock_uncertainty_seconds", "+-", CELL_SECONDS, false },
	{ "state", "", CELL_TEXT, false },
};

/* Not counting the queues of its devices. */
static uint32_t threads_of(const struct profile_process *q)
{
	uint32_t n = 0;

	for (uint32_t t = 0; t < q->nthread; t++)
		n += !q->thread[t].device;
	return n;
}

static void add_workers(const struct profile *p, struct profile_sections *all)
{
	struct profile_section *s = BEGIN(all, "workers", "Workers", worker_columns);

	for (uint32_t k = 0; k < p->nprocess; k++) {
		const struct profile_process *q = &p->process[k];
		double wall = (double)(q->end - q->begin);
		bool remote = k > 0, works = remote && strcmp(q->role, "rank") != 0;

		ADD_ROW(s, number(q->rank), text(q->host), text(q->role),
			number(threads_of(q) ? threads_of(q) : NONE),
			number(ratio((double)q->busy_ns, wall)),
			number(ratio((double)q->wall_ns[PHASE_WAIT], wall)),
			number(ratio((double)(q->wall_ns[PHASE_SEND] + q->wall_ns[PHASE_RECEIVE]),
				wall)),
			number(works ? (double)q->units : NONE),
			number(works || q->messages ? (double)q->bytes_sent : NONE),
			number(works || q->messages ? (double)q->bytes_received : NONE),
			number(remote ? 1e-9 * (double)q->offset : NONE),
			number(remote ? 1e-9 * (double)q->uncertainty : NONE),
			text(q->lost ? "lost" : NULL));
	}
}

static const struct profile_column device_columns[] = {
	{ "rank", "rank", CELL_COUNT, false },
	{ "device", "device", CELL_TEXT, false },
	{ "busy_share", "busy", CELL_SHARE, true },
	{ "start_seconds", "first states", CELL_SECONDS, false },
	{ "forward_seconds", "forward", CELL_SECONDS, false },
	{ "backward_seconds", "backward", CELL_SECONDS, false },
	{ "copy_seconds", "copies", CELL_SECONDS, false },
	{ "copied_bytes", "copied", CELL_BYTES, false },
	{ "launches", "launches", CELL_COUNT, false },
	{ "timing", "times by", CELL_TEXT, false },
};

/* By the clocks of the devices themselves. Where there are none, there is no such table. */
static void add_devices(const struct profile *p, struct profile_sections *all)
{
	struct profile_section *s = BEGIN(all, "devices", "Devices", device_columns);

	for (uint32_t k = 0; k < p->nprocess; k++)
		for (uint32_t i = 0; i < p->process[k].nthread; i++) {
			const struct profile_process *q = &p->process[k];
			const struct profile_thread *t = &q->thread[i];

			uint64_t busy = t->copy_ns;

			if (!t->device)
				continue;
			for (unsigned phase = 1; phase < PHASE_COUNT; phase++)
				busy += t->ns[phase];
			ADD_ROW(s, number(q->rank), text(t->device),
				number(ratio(1e-9 * (double)busy, 1e-9 * (double)(q->end - q->begin))),
				number(1e-9 * (double)t->ns[PHASE_ENCODING]),
				number(1e-9 * (double)t->ns[PHASE_FORWARD]),
				number(1e-9 * (double)t->ns[PHASE_BACKWARD]),
				number(1e-9 * (double)t->copy_ns), number((double)t->copied_bytes),
				number((double)t->launches), text(t->timing));
			if (t->timing && t->timing_note && !s->note)
				s->note = arena_printf(&all->arena, "%s timed by %s: %s.",
					t->device, t->timing, t->timing_note);
		}
	all->n -= !s->nrow;
}

static const struct profile_column memory_columns[] = {
	{ "rank", "rank", CELL_COUNT, false },
	{ "name", "memory", CELL_TEXT, false },
	{ "bytes", "most", CELL_BYTES, false },
};

static void add_memory(const struct profile *p, struct profile_sections *all)
{
	struct profile_section *s = BEGIN(all, "memory", "Memory", memory_columns);

	for (uint32_t k = 0; k < p->nprocess; k++)
		for (uint32_t i = 0; i < p->process[k].nmemory; i++)
			ADD_ROW(s, number(p->process[k].rank), text(p->process[k].memory[i].name),
				number((double)p->process[k].memory[i].bytes));
}

static const struct profile_column counter_columns[] = {
	{ "rank", "rank", CELL_COUNT, false },
	{ "name", "counter", CELL_TEXT, false },
	{ "value", "value", CELL_NUMBER, false },
	{ "per_second", "a second", CELL_NUMBER, false },
};

static void add_counters(const struct profile *p, struct profile_sections *all)
{
	struct profile_section *s = BEGIN(all, "counters", "Hardware counters", counter_columns);

	for (uint32_t k = 0; k < p->nprocess; k++)
		for (uint32_t i = 0; i < p->process[k].ncounter; i++)
			ADD_ROW(s, number(p->process[k].rank), text(p->process[k].counter[i].name),
				number(p->process[k].counter[i].value),
				number(ratio(p->process[k].counter[i].value, 1e-9 * (double)p->ns)));
	if (!s->nrow && p->nprocess && p->process[0].no_counters)
		s->note = arena_printf(&all->arena, "None: %s.", p->process[0].no_counters);
}

static const struct profile_column advice_columns[] = {
	{ "code", "advice", CELL_TEXT, false },
	{ "text", "what would help", CELL_TEXT, false },
	{ "gain", "times faster", CELL_NUMBER, false },
};

static void add_advice(const struct profile *p, struct profile_sections *all)
{
	struct profile_section *s = BEGIN(all, "advice", "Advice", advice_columns);

	for (uint32_t k = 0; k < p->nadvice; k++)
		ADD_ROW(s, text(p->advice[k].code), text(p->advice[k].text),
			number(p->advice[k].gain));
}

void profile_sections_make(const struct profile *p, struct profile_sections *s)
{
	arena_init(&s->arena);
	s->n = 0;
	add_phases(p, s);
	add_layers(p, s);
	add_matrices(p, s);
	add_families(p, s);
	add_stages(p, s);
	add_exchanges(p, s);
	add_workers(p, s);
	add_devices(p, s);
	add_memory(p, s);
	add_counters(p, s);
	add_advice(p, s);
}

void profile_sections_release(struct profile_sections *s) { arena_release(&s->arena); }
