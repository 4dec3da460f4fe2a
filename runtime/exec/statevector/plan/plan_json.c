/* SPDX-License-Identifier: Apache-2.0
 * A plan as members of a JSON object. */
#include "runtime/exec/statevector/plan/plan.h"

#include <math.h>

#include "runtime/base/arena.h"

const char *plan_shape_word(const struct plan *pl)
{
	return pl->shape == SHAPE_BATCHED       ? "samples"
		: pl->shape == SHAPE_PER_THREAD ? "state"
						: "shared";
}

static void put_limits(const struct plan *pl, const struct plan_limits *l, struct buf *out)
{
	if (plan_on_device(pl)) {
		buf_json(out, ", \"limits\": {\"measured\": false, \"gpu\": %s}",
			l->name ? l->name : "a usual GPU");
		return;
	}
	buf_json(out,
		", \"limits\": {\"measured\": %i, \"threads\": %u, \"stream_gb_s\": %g, \"write_gb_s\": %g, \"l2_gb_s\": %g, \"fma_gflop_s\": %g}",
		l->target != NULL, l->nthread, l->stream_gb_s, l->write_gb_s, l->l2_gb_s,
		pl->precision == PRECISION_DOUBLE ? l->double_gflop_s : l->single_gflop_s);
}

static void put_traffic(const struct plan *pl, struct buf *out)
{
	struct plan_traffic forward = plan_traffic(pl, false), both = plan_traffic(pl, true);

	buf_json(out,
		", \"bytes_forward\": %g, \"bytes_gradient\": %g, \"passes_forward\": %u, \"passes_gradient\": %u",
		forward.bytes, both.bytes, forward.passes, both.passes);
}

static void put_split(const struct plan *pl, struct buf *out)
{
	uint32_t n, nback;
	struct plan_sent forward = plan_exchanges(pl, false, &n),
			 back = plan_exchanges(pl, true, &nback);

	buf_json(out,
		", \"split\": {\"ranks\": %u, \"exchanges_forward\": %u, \"exchanges_back\": %u, \"bytes_forward\": %g, \"bytes_back\": %g}",
		1u << pl->nrank_bit, n, nback, forward.bytes, back.bytes);
}

static void put_link(const struct plan *pl, const struct plan_limits *l, struct buf *out)
{
	buf_json(out, ", \"link\": {\"gb_s\": %g, \"message_us\": %g", l->exchange_gb_s,
		l->message_us);
	for (unsigned gradient = 0; gradient < 2; gradient++) {
		struct plan_rank_takes t = plan_rank_takes(pl, l, gradient);

		buf_json(out,
			", %s: {\"seconds\": %g, \"computing_seconds\": %g, \"sending_seconds\": %g, \"other_seconds\": %g, \"bytes\": %g, "
			"\"messages\": %g, \"memory_bytes\": %g}",
			gradient ? "gradient" : "forward", t.seconds.all, t.seconds.compute,
			t.seconds.exchange, t.seconds.rest, t.sent.bytes, t.sent.messages, t.memory);
	}
	buf_char(out, '}');
}

static void put_batch(const struct plan *pl, const struct plan_limits *l, uint64_t nsample,
	struct buf *out)
{
	buf_json(out, ", \"batch\": {\"samples\": %llu, \"units\": %llu",
		(unsigned long long)nsample, (unsigned long long)plan_units(pl, nsample));
	for (unsigned gradient = 0; gradient < 2; gradient++) {
		struct plan_device_work w = plan_device_work(pl, nsample, gradient);
		struct plan_span s = plan_device_seconds(pl, l, nsample, gradient);

		buf_json(out,
			", %s: {\"seconds_least\": %g, \"seconds_most\": %g, \"launches\": %u, \"bytes\": %g, \"copies\": %u, "
			"\"bytes_copied\": %g, \"waits\": %u}",
			gradient ? "gradient" : "forward", s.least, s.most, w.launch,
			w.read + w.written, w.copy, w.copied, w.wait);
	}
	buf_char(out, '}');
}

static void put_pass(const struct plan *pl, const struct plan_circuit *c, uint32_t k, bool back,
	double seconds, struct buf *out)
{
	double flops, bytes;

	plan_pass(pl, c, k, back, &flops, &bytes);
	buf_json(out, ", %s: {\"flops\": %g, \"bytes\": %g, \"seconds\": %g}",
		back ? "back" : "forward", flops, bytes, seconds);
}

/* Passes of devices are not those of stages, and those of a start that is kept are done once. */
static void put_stage(const struct plan *pl, const struct plan_circuit *c, uint32_t k,
	const struct plan_seconds *t, struct buf *out)
{
	const struct plan_stage *s = &c->stage[k];

	buf_json(out, ", {\"steps\": %u, \"local_bits\": [", s->count);
	for (unsigned b = 0; b < s->nlocal; b++)
		buf_json(out, ", %u", s->local[b]);
	buf_char(out, ']');
	if (!c->device && k >= c->nstart_stage) {
		put_pass(pl, c, k, false, t->forward, out);
		put_pass(pl, c, k, true, t->back, out);
	}
	buf_char(out, '}');
}

static void put_circuit(const struct plan *pl, const struct plan_limits *l,
	const struct plan_circuit *c, struct buf *out)
{
	mem_auto struct plan_seconds *stage = mem_alloc(c->nstage + 1, sizeof *stage);
	struct plan_seconds all = { NAN, NAN };
	bool stages = target_can(pl->target, TARGET_STAGES);

	if (stages)
		plan_seconds(pl, c, l, stage, &all);
	buf_json(out,
		", {\"name\": %s, \"qubits\": %u, \"operations\": %u, \"steps\": %u, \"seconds_forward\": %g, \"seconds_gradient\": %g, "
		"\"fused\": %i, \"stages\": [",
		c->code->name ? c->code->name : "", c->nbit, c->code->napply, c->nstep, all.forward,
		all.forward + all.back, stages && plan_fuses_last(pl, c));
	for (uint32_t k = 0; k < c->nstage; k++)
		put_stage(pl, c, k, &stage[k], out);
	buf_str(out, "]}");
}

void plan_json(const struct plan *pl, const struct plan_limits *l, uint64_t nsample, struct buf *out)
{
	buf_json(out, "\"kernels\": %s, \"precision\": %s, \"shape\": %s, \"unit_samples\": %u",
		pl->target->kernels, pl->precision == PRECISION_DOUBLE ? "double" : "single",
		plan_shape_word(pl), pl->width);
	buf_json(out,
		", \"flops_forward\": %g, \"flops_gradient\": %g, \"flops_nominal_forward\": %g, \"flops_nominal_gradient\": %g",
		plan_flops(pl, false), plan_flops(pl, true), plan_nominal(pl->program, false),
		plan_nominal(pl->program, true));
	if (target_can(pl->target, TARGET_STAGES)) {
		put_traffic(pl, out);
		put_limits(pl, l, out);
	}
	if (pl->nrank_bit)
		put_split(pl, out);
	if (pl->nrank_bit && l->exchange_gb_s > 0)
		put_link(pl, l, out);
	if (plan_on_device(pl))
		put_batch(pl, l, nsample, out);
	buf_str(out, ", \"circuits\": [");
	for (uint32_t c = 0; c < pl->ncircuit; c++)
		put_circuit(pl, l, &pl->circuit[c], out);
	buf_char(out, ']');
}
