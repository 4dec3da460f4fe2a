/* SPDX-License-Identifier: Apache-2.0
 * The passes over a shared state, one by one: what was measured, what was expected, and shares of the machine's limits. */
#include "cli/bench/bench.h"
#include "runtime/exec/statevector/statevector.h"

#include <math.h>
#include <stdio.h>

/* Passes of a circuit one way: its stages, then readouts or lambda. */
static unsigned ways(bool gradient) { return gradient ? 2 : 1; }

static void add_pass(struct bench_result *r, const struct plan *pl, uint32_t circuit,
	uint32_t stage, bool back, bool fuses_last)
{
	const struct plan_circuit *c = &pl->circuit[circuit];
	struct bench_pass *p = &r->pass[r->npass++];
	double flops, bytes;

	*p = (struct bench_pass){ .circuit = circuit,
		.stage = stage,
		.outputs = stage == c->nstage,
		.back = back,
		.fuses_last = fuses_last,
		.seconds = INFINITY };
	plan_pass(pl, c, stage, back, &p->flops, &p->bytes);
	if (!fuses_last)
		return;
	plan_pass(pl, c, stage, true, &flops, &bytes);
	p->flops += flops;
	p->bytes += bytes;
}

static void list_passes(struct bench_result *r, const struct plan *pl, bool gradient)
{
	uint32_t n = 0;

	for (uint32_t c = 0; c < pl->ncircuit; c++)
		n += (pl->circuit[c].nstage + 1) * ways(gradient);
	r->pass = mem_alloc(n, sizeof *r->pass);
	for (uint32_t c = 0; c < pl->ncircuit; c++)
		for (unsigned back = 0; back < ways(gradient); back++)
			for (uint32_t k = 0; k <= pl->circuit[c].nstage; k++) {
				bool fuses_last = gradient && k + 1 == pl->circuit[c].nstage
					&& plan_fuses_last(pl, &pl->circuit[c]);

				if (!(back && fuses_last))
					add_pass(r, pl, c, k, back, fuses_last);
			}
}

void bench_passes_note(struct bench_result *r, const struct evaluator *ev, bool gradient)
{
	if (!statevector_passes(ev, 0))
		return;
	if (!r->pass)
		list_passes(r, statevector_plan(ev), gradient);
	for (uint32_t k = 0; k < r->npass; k++) {
		struct bench_pass *p = &r->pass[k];
		const struct plan_seconds *s = &statevector_passes(ev, p->circuit)[p->stage];

		p->seconds = fmin(p->seconds,
			p->fuses_last     ? s->forward + s->back
				: p->back ? s->back
					  : s->forward);
	}
}

void bench_passes_expect(struct bench_result *r, const struct plan *pl, const struct plan_limits *l)
{
	for (uint32_t k = 0; k < r->npass; k++) {
		struct bench_pass *p = &r->pass[k];
		const struct plan_circuit *c = &pl->circuit[p->circuit];
		struct plan_seconds all;

		p->expected = p->stream_share = p->fma_share = NAN;
		if (!l)
			continue;
		mem_auto struct plan_seconds *stage = mem_alloc(c->nstage + 1, sizeof *stage);
		plan_seconds(pl, c, l, stage, &all);
		p->expected = p->back
			? stage[p->stage].back
			: stage[p->stage].forward + (p->fuses_last ? stage[p->stage].back : 0);
		if (p->seconds > 0) {
			p->stream_share = p->bytes / l->stream_gb_s * 1e-9 / p->seconds;
			p->fma_share = p->flops / (pl->precision == PRECISION_DOUBLE ? l->double_gflop_s : l->single_gflop_s) * 1e-9 / p->seconds;
		}
	}
}

void bench_passes_json(const struct bench_result *r, struct buf *out)
{
	if (!r->pass) {
		buf_str(out, "null");
		return;
	}
	buf_char(out, '[');
	for (uint32_t k = 0; k < r->npass; k++) {
		const struct bench_pass *p = &r->pass[k];

		if (p->seconds == 0)
			continue; /* the sums of the last stage, or nothing to go back through */
		buf_json(out, ", {\"circuit\": %u, \"stage\": ", p->circuit);
		p->outputs ? buf_str(out, "null") : buf_json(out, "%u", p->stage);
		buf_json(out,
			", \"back\": %i, \"pass_seconds\": %g, \"expected_seconds\": %g, \"bytes\": %g",
			p->back, p->seconds, p->expected, p->bytes);
		buf_json(out,
			", \"flops\": %g, \"share_of_stream\": %g, \"share_of_fma\": %g, \"turns\": %i}",
			p->flops, p->stream_share, p->fma_share, p->fuses_last);
	}
	buf_char(out, ']');
}

void bench_passes_text(const struct bench_result *r, struct buf *out)
{
	char text[BENCH_TEXT_MAX], name[BENCH_TEXT_MAX];

	for (uint32_t k = 0; k < r->npass; k++) {
		const struct bench_pass *p = &r->pass[k];

		if (p->seconds == 0)
			continue;
		if (p->outputs)
			snprintf(name, sizeof name, "%s", p->back ? "lambda" : "readouts");
		else
			snprintf(name, sizeof name, "stage %u %s", p->stage,
				p->fuses_last     ? "forward and back"
					: p->back ? "back"
						  : "forward");
		bench_seconds_text(p->seconds, text);
		buf_printf(out, "  pass %s: %s, %.3g GB, %.3g GFLOP", name, text, p->bytes * 1e-9, p->flops * 1e-9);
		if (isfinite(p->stream_share)) {
			bench_seconds_text(p->expected, text);
			buf_printf(out, "; %.0f %% of stream, %.0f %% of multiply-add, expected %s", 100 * p->stream_share, 100 * p->fma_share, text);
		}
		buf_char(out, '\n');
	}
}
