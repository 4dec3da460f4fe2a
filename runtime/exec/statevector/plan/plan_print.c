/* SPDX-License-Identifier: Apache-2.0
 * A plan as a table. */
#include "runtime/exec/statevector/plan/plan.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/exec/statevector/backend.h"
#include "runtime/exec/statevector/plan/plan_build.h"
#include "runtime/exec/statevector/plan/plan_stage.h"

/* Has each rank a machine of its own? */
static bool has_link(const struct plan *pl, const struct plan_limits *l)
{
	return pl->nrank_bit && l->exchange_gb_s > 0;
}

/* ---- text ---- */

static const char *const shape_names[] = {
	[SHAPE_AUTO] = "auto",
	[SHAPE_BATCHED] = "samples in lanes",
	[SHAPE_PER_THREAD] = "one state a thread",
	[SHAPE_SHARED] = "one state, all threads",
};

/* "dense", "diagonal", "permutation" */
static const char *kind_name(unsigned flags)
{
	if (flags & MATRIX_DIAGONAL)
		return "diagonal";
	return flags & MATRIX_PERMUTATION ? "permutation" : "dense";
}

static const char *class_name(enum value_class cls)
{
	static const char *const name[] = { [VALUE_CONSTANT] = "constant", [VALUE_SHARED] = "shared", [VALUE_SAMPLE] = "sample" };

	return name[cls];
}

static void print_bits(struct buf *out, const struct plan_step *s)
{
	for (unsigned k = 0; k < s->ntarget; k++)
		buf_printf(out, " %u", s->bit[k]);
	for (unsigned k = 0; k < s->ncontrol; k++) {
		unsigned bit = s->bit[s->ntarget + k];

		buf_printf(out, "%s %s%u", k ? "" : " if", s->control_value >> bit & 1 ? "" : "!", bit);
	}
}

static void print_step(const struct plan *pl, struct buf *out, uint32_t k, const struct plan_step *s)
{
	if (s->op == STEP_PREPARE) {
		buf_printf(out, "  step %-5u vector %-4u                        on", k, s->matrix);
		print_bits(out, s);
		buf_char(out, '\n');
		return;
	}
	const struct matrix *m = pl->set.def[s->matrix];
	buf_printf(out, "  step %-5u m%-6u%s %-8s %-11s %s  on", k, s->matrix, s->adjoint ? "~" : " ",
		class_name(m->cls), kind_name(m->flags), s->transition ? "gradient" : "        ");
	print_bits(out, s);
	if (m->name)
		buf_printf(out, "  %s", m->name);
	if (s->tail)
		buf_str(out, "  tail");
	buf_char(out, '\n');
}

/* Bytes that lie side by side in a block's part of the state. */
static double run_bytes(const struct plan *pl, const struct plan_stage *s)
{
	return ldexp(plan_amplitude_bytes(pl), (int)plan_run(pl, s));
}

static void print_direction(struct buf *out, const char *direction, double flops, double bytes,
	double seconds)
{
	if (flops > 0 || bytes > 0)
		buf_printf(out, "    %-9s%.4g flops, %.4g bytes, %.3g s\n", direction, flops, bytes,
			seconds);
}

/* Of a device: the same, and launches of a unit. */
static void print_part(const struct plan *pl, const struct plan_limits *l, struct buf *out,
	const struct plan_circuit *c, uint32_t part)
{
	static const char *const direction[] = { "forward", "back" };
	bool any = false;

	for (unsigned back = 0; back < 2; back++) {
		const struct plan_device_work *w = &c->device->part[back][part];
		struct plan_span s = plan_device_part_seconds(pl, l, c, part, back);

		if (!w->launch && !w->copy && !w->wait)
			continue;
		buf_printf(out, "    %-9s%.4g flops, %.4g bytes, %u launches, %.3g to %.3g s\n",
			direction[back], w->flops[0] + w->flops[1], w->read + w->written, w->launch,
			s.least / pl->width, s.most / pl->width);
		any = true;
	}
	if (!any)
		buf_str(out, "    no launches: its steps are done in others\n");
}

/* Stage k, or with k = nstage what comes behind the last: operations, bytes between the state and blocks, seconds expected. */
static void print_pass(const struct plan *pl, struct buf *out, const struct plan_circuit *c, uint32_t k, const struct plan_seconds *t)
{
	double flops[2], bytes[2];

	for (unsigned back = 0; back < 2; back++)
		plan_pass(pl, c, k, back, &flops[back], &bytes[back]);
	if (k + 1 == c->nstage && plan_fuses_last(pl, c)) {
		print_direction(out, "both", flops[0] + flops[1], bytes[0] + bytes[1],
			t->forward + t->back);
		return;
	}
	print_direction(out, "forward", flops[0], bytes[0], t->forward);
	print_direction(out, "back", flops[1], bytes[1], t->back);
}

static void print_wires(struct buf *out, uint64_t bits)
{
	for (; bits; bits &= bits - 1)
		buf_printf(out, " %d", __builtin_ctzll(bits));
}

/* Bits at these places. */
static void print_places(struct buf *out, const struct plan_circuit *c, const uint8_t *place,
	uint64_t places)
{
	for (unsigned b = 0; b < c->nbit; b++)
		if (places >> place[b] & 1)
			buf_printf(out, " %u", b);
}

static void print_exchange(struct buf *out, const struct plan_circuit *c, uint32_t n)
{
	const struct plan_segment *g = &c->segment[n];
	uint64_t before = g[-1].rank;

	if (g->flip) {
		buf_str(out, "  exchange   cx of local bit");
		print_places(out, c, g->place, UINT64_C(1) << g->control);
		buf_str(out, " on rank bits");
		print_places(out, c, g->place, g->flip);
		buf_str(out, ", for a product of x or y");
		return;
	}
	buf_str(out, "  exchange   rank bits");
	print_wires(out, before & ~g->rank);
	buf_str(out, " become local, and local bits");
	print_wires(out, g->rank & ~before);
	buf_str(out, " rank bits");
}

/* The exchange before segment n, and its rank bits. */
static void print_segment(const struct plan *pl, struct buf *out, const struct plan_circuit *c,
	uint32_t n)
{
	const struct plan_segment *g = &c->segment[n];

	if (n) {
		struct plan_sent x = plan_exchange(pl, c, n);

		print_exchange(out, c, n);
		buf_printf(out, "; each rank sends %.4g bytes of a state in %.0f message%s\n",
			x.bytes, x.messages, x.messages == 1 ? "" : "s");
	}
	buf_printf(out, "  segment %-2u rank bits:", n);
	print_wires(out, g->rank);
	buf_char(out, '\n');
}

static void print_segments(const struct plan *pl, struct buf *out, const struct plan_circuit *c,
	uint32_t from, uint32_t to)
{
	for (uint32_t n = from; pl->nrank_bit && n <= to; n++)
		print_segment(pl, out, c, n);
}

static void print_stage(const struct plan *pl, const struct plan_limits *l, struct buf *out,
	const struct plan_circuit *c, uint32_t k, const struct plan_seconds *t)
{
	const struct plan_stage *s = &c->stage[k];

	print_segments(pl, out, c, k ? s[-1].segment + 1 : 0, s->segment);
	buf_printf(out, "  stage %-4u %u steps, local bits:", k, s->count);
	for (unsigned b = 0; b < s->nlocal; b++)
		buf_printf(out, " %u", s->local[b]);
	buf_printf(out, "; runs of %.0f bytes\n", run_bytes(pl, s));
	if (c->device)
		print_part(pl, l, out, c, k);
	else if (k >= c->nstart_stage)
		print_pass(pl, out, c, k, t);
}

/* Steps whose reduced transition matrix is summed and that stay done. */
static uint32_t count_kept(const struct plan_circuit *c)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < c->nstep; k++)
		n += c->step[k].transition && !c->step[k].undo;
	return n;
}

static void print_circuit(const struct plan *pl, const struct plan_limits *l, struct buf *out, const struct plan_circuit *c)
{
	mem_auto struct plan_seconds *stage = mem_alloc(c->nstage + 1, sizeof *stage);
	struct plan_seconds all;

	plan_seconds(pl, c, l, stage, &all);
	buf_printf(out,
		"circuit %s%s%u qubits, %u operations, %u steps, %u stages, backward from step %u, of which %u need no inverse step\n",
		c->code->name ? c->code->name : "", c->code->name && *c->code->name ? ": " : "",
		c->nbit, c->code->napply, c->nstep, c->nstage, c->first_transition, count_kept(c));
	if (c->nstart)
		buf_printf(out, "  start      steps 0 to %u are constant: done once, the state is kept\n", c->nstart - 1);
	for (uint32_t k = 0; k < c->nstage; k++)
		print_stage(pl, l, out, c, k, &stage[k]);
	print_segments(pl, out, c, c->nstage ? plan_segment_of(c, c->nstage) + 1 : 0, c->nsegment - 1);
	if (c->device) {
		buf_str(out, "  start      the first state, and what is known of the samples\n");
		print_part(pl, l, out, c, c->nstage + PLAN_DEVICE_START);
		buf_str(out,
			"  outputs    readouts; what the backward pass begins with, and its sums\n");
		print_part(pl, l, out, c, c->nstage + PLAN_DEVICE_OUTPUTS);
	} else if (c->nstage && !plan_lambda_near(c)) {
		buf_str(out, "  outputs    readouts, and what the backward pass begins with\n");
		print_pass(pl, out, c, c->nstage, &stage[c->nstage]);
	}
	if (target_can(pl->target, TARGET_STAGES) && plan_fuses_last(pl, c))
		buf_printf(out,
			"  fused      the backward pass begins in stage %u in the forward pass, block by block\n",
			c->nstage - 1);
	if (target_can(pl->target, TARGET_STAGES))
		buf_printf(out, "  expected   %.3g s forward, %.3g s with gradient, a sample%s\n",
			all.forward, all.forward + all.back,
			has_link(pl, l) ? ", by one rank, without exchanges" : "");
	for (uint32_t k = 0; k < c->nstep; k++)
		print_step(pl, out, k, &c->step[k]);
}

/* Matrices that are used or summed for the gradient, of those in the table. */
static uint32_t count_used(const struct plan *pl)
{
	mem_auto bool *used = mem_alloc(pl->set.n, sizeof *used);
	uint32_t n = 0;

	plan_used(pl, used);
	for (uint32_t m = 0; m < pl->set.n; m++)
		n += used[m];
	return n;
}

static void print_traffic(const struct plan *pl, struct buf *out)
{
	struct plan_traffic forward = plan_traffic(pl, false), both = plan_traffic(pl, true);

	buf_printf(out, "bytes      %.4g forward, %.4g with gradient, a sample, in %u and %u %s\n",
		forward.bytes, both.bytes, forward.passes, both.passes,
		plan_on_device(pl) ? "launches of a unit" : "passes over the state");
}

static void print_split(const struct plan *pl, struct buf *out)
{
	uint32_t n, nback;
	struct plan_sent forward = plan_exchanges(pl, false, &n),
			 back = plan_exchanges(pl, true, &nback);

	buf_printf(out,
		"split      %u ranks, %u exchange%s forward, in which each sends %.4g bytes; %u backward, %.4g bytes of two states\n",
		1u << pl->nrank_bit, n, n == 1 ? "" : "s", forward.bytes, nback, back.bytes);
}

struct plan_rank_takes plan_rank_takes(const struct plan *pl, const struct plan_limits *l,
	bool gradient)
{
	uint32_t n;
	struct plan_sent back = plan_exchanges(pl, true, &n);
	struct plan_rank_takes t = { .seconds = plan_split_seconds(pl, l, gradient),
		.sent = plan_exchanges(pl, false, &n),
		.memory = (double)pl->target->backend->bytes(pl, l->nthread, gradient,
			1u << pl->nrank_bit) };

	t.sent.bytes += gradient * back.bytes;
	t.sent.messages += gradient * back.messages;
	return t;
}

/* What each rank is expected to take where it has a machine of its own. */
static void print_link(const struct plan *pl, const struct plan_limits *l, struct buf *out)
{
	static const char *const what[] = { "forward", "with gradient" };

	buf_printf(out,
		"link       %.4g GB/s, %.4g us a message, of each rank, which has a machine of these limits\n",
		l->exchange_gb_s, l->message_us);
	for (unsigned gradient = 0; gradient < 2; gradient++) {
		struct plan_rank_takes t = plan_rank_takes(pl, l, gradient);

		buf_printf(out,
			"  %-15s%.4g s: %.4g s of computing, %.4g s to send %.4g bytes in %.0f message%s, %.4g s for matrices and sums; %.4g bytes of memory\n",
			what[gradient], t.seconds.all, t.seconds.compute, t.seconds.exchange,
			t.sent.bytes, t.sent.messages, t.sent.messages == 1 ? "" : "s",
			t.seconds.rest, t.memory);
	}
}

static void print_limits(const struct plan *pl, const struct plan_limits *l, struct buf *out)
{
	if (plan_on_device(pl))
		buf_printf(out,
			"limits     assumed, %s: memory %.4g GB/s, multiply-add %.4g GFLOP/s single, %.4g double, %.4g G numbers/s between them, host %.4g GB/s, %.4g multiprocessors, %.3g us a launch, %.3g a copy, %.3g a wait\n",
			l->name ? l->name : "a usual GPU", l->stream_gb_s, l->single_gflop_s,
			l->double_gflop_s, l->convert_g_s, l->link_gb_s, l->units, l->launch_us,
			l->copy_us, l->wait_us);
	else
		buf_printf(out,
			"limits     %s: %u thread%s, stream %.3g GB/s in place, write %.3g GB/s by non-temporal stores, L2 %.3g GB/s a thread, multiply-add %.3g GFLOP/s\n",
			l->target ? "measured" : "assumed", l->nthread, l->nthread == 1 ? "" : "s",
			l->stream_gb_s, l->write_gb_s, l->l2_gb_s,
			pl->precision == PRECISION_DOUBLE ? l->double_gflop_s : l->single_gflop_s);
}

/* What a device does for a batch. */
static void print_batch(const struct plan *pl, const struct plan_limits *l, uint64_t nsample,
	struct buf *out)
{
	static const char *const what[] = { "forward", "with gradient" };
	uint64_t nunit = plan_units(pl, nsample);
	unsigned streams = plan_on_device(pl) ? pl->circuit->device->streams : 1;

	buf_printf(out, "batch      %llu sample%s in %llu unit%s", (unsigned long long)nsample,
		nsample == 1 ? "" : "s", (unsigned long long)nunit, nunit == 1 ? "" : "s");
	if (streams > 1 && nunit > 1)
		buf_printf(out, ", %llu side by side where the host has as many threads",
			(unsigned long long)(nunit < streams ? nunit : streams));
	buf_char(out, '\n');
	for (unsigned gradient = 0; gradient < 2; gradient++) {
		struct plan_device_work w = plan_device_work(pl, nsample, gradient);
		struct plan_span s = plan_device_seconds(pl, l, nsample, gradient);

		buf_printf(out,
			"  %-15s%.3g to %.3g s, and the host's own work: %u launches, %.4g bytes of memory, %u copies of %.4g bytes, %u waits\n",
			what[gradient], s.least, s.most, w.launch, w.read + w.written, w.copy,
			w.copied, w.wait);
	}
}

void plan_print(const struct plan *pl, const struct plan_limits *l, uint64_t nsample, struct buf *out)
{
	buf_printf(out, "kernels    %s, %s precision\n", pl->target->kernels,
		pl->precision == PRECISION_DOUBLE ? "double" : "single");
	buf_printf(out, "shape      %s, %u sample%s a unit\n", shape_names[pl->shape], pl->width, pl->width == 1 ? "" : "s");
	buf_printf(out, "matrices   %u used, of %u in the program and %u made by merging\n", count_used(pl),
		pl->program->nmatrix, pl->set.n - pl->program->nmatrix);
	buf_printf(out, "flops      %.4g forward, %.4g with gradient, a sample (nominal %.4g, %.4g)\n",
		plan_flops(pl, false), plan_flops(pl, true), plan_nominal(pl->program, false),
		plan_nominal(pl->program, true));
	if (target_can(pl->target, TARGET_STAGES)) {
		print_traffic(pl, out);
		print_limits(pl, l, out);
	}
	if (pl->nrank_bit)
		print_split(pl, out);
	if (has_link(pl, l))
		print_link(pl, l, out);
	if (plan_on_device(pl))
		print_batch(pl, l, nsample, out);
	for (uint32_t c = 0; c < pl->ncircuit; c++)
		print_circuit(pl, l, out, &pl->circuit[c]);
}
