/* SPDX-License-Identifier: Apache-2.0
 * Plans: what is merged, split and relabelled, as text; equal definitions are one
 * matrix; the limits of a state vector. */
#include <stdlib.h>
#include <string.h>
#include "runtime/exec/statevector/backend.h"
#include "runtime/exec/statevector/cpu/cpu_target.h"
#include "runtime/exec/statevector/plan/plan.h"
#include "tests/kernels/build.h"

static const struct plan_options single = { .precision = PRECISION_SINGLE, .target = &cpu_target_row[ISA_AVX2] };

static const struct plan_limits limits = { .nthread = 2, .stream_gb_s = 50, .write_gb_s = 40, .l2_gb_s = 50, .single_gflop_s = 300,
	.double_gflop_s = 150 };

static struct plan *plan_of(const struct program *p, const struct plan_options *o)
{
	struct err e = { 0, "" };
	struct plan *pl = plan_new(p, o, &e);

	if (!pl)
		tap_bail("no plan: %s", e.text);
	return pl;
}

static char *text_of(const struct plan *pl)
{
	struct buf b = BUF_INIT;

	plan_print(pl, &limits, 1, &b);
	return buf_take(&b);
}

/* The lines of the plan's steps alone. */
static void expect_steps(const struct program *p, const struct plan_options *o, const char *want, const char *what)
{
	struct plan *pl = plan_of(p, o);
	char *text = text_of(pl), *steps = strstr(text, "  step");

	tap_is_str(steps ? steps : "", want, "%s", what);
	if (steps && strcmp(steps, want))
		tap_note("got\n%s", steps);
	free(text);
	plan_free(pl);
}

static struct item power(uint8_t word, uint32_t expr, uint8_t wire, bool adjoint)
{
	return (struct item){ .gate = GATE_PPAULI, .word = word, .nwire = 1, .wire = { wire }, .angle = { expr }, .adjoint = adjoint };
}

/* A dense block of one zz-like interaction and rotations. */
static uint32_t dense_block(struct build *b)
{
	struct item item[5];

	for (uint8_t k = 0; k < 4; k++)
		item[k < 2 ? k : k + 1] = power(1 + k % 2 * 2, build_weight(b, k), k % 2, false);
	item[2] = (struct item){ .gate = GATE_PPAULI, .word = 0x5, .nwire = 2, .wire = { 0, 1 }, .angle = { build_weight(b, 4) } };
	return build_matrix(b, 2, 5, item);
}

/* Rotations on both, cx, rotation on the target undone. */
static uint32_t pooling_block(struct build *b)
{
	struct item item[4];
	uint32_t t = build_weight(b, 5);

	item[0] = power(1, t, 1, false);
	item[1] = power(2, build_weight(b, 6), 0, false);
	item[2] = (struct item){ .gate = GATE_PAULI, .word = 1, .ncontrol = 1, .control_ones = 1, .nwire = 2, .wire = { 0, 1 } };
	item[3] = power(1, t, 1, true);
	return build_matrix(b, 2, 4, item);
}

static void test_pooling(void)
{
	struct build b = build_new(7, 0, 1);
	uint32_t block = dense_block(&b), pool = pooling_block(&b);
	struct plan_options plain = single;
	struct program *p;

	build_wires(&b, 0, 4);
	build_apply(&b, 0, block, 2, (uint32_t[]){ 0, 1 });
	build_apply(&b, 0, block, 2, (uint32_t[]){ 2, 3 });
	build_apply(&b, 0, pool, 2, (uint32_t[]){ 0, 2 });
	build_apply(&b, 0, pool, 2, (uint32_t[]){ 1, 3 });
	build_apply(&b, 0, block, 2, (uint32_t[]){ 2, 3 });
	build_z(&b, 0, 3);
	p = build_done(&b);
	expect_steps(p, &single,
		"  step 0     m6       shared   dense       gradient  on 0 1\n"
		"  step 1     m7       shared   dense       gradient  on 2 3\n"
		"  step 2     m5       constant permutation           on 2 if 0\n"
		"  step 3     m5       constant permutation           on 3 if 1\n"
		"  step 4     m8       shared   dense       gradient  on 2 3\n",
		"rotations of pooling blocks go to their neighbours");
	plain.no_fuse = true;
	expect_steps(p, &plain,
		"  step 0     m0       shared   dense       gradient  on 0 1\n"
		"  step 1     m0       shared   dense       gradient  on 2 3\n"
		"  step 2     m1       shared   dense       gradient  on 0 2\n"
		"  step 3     m1       shared   dense       gradient  on 1 3\n"
		"  step 4     m0       shared   dense       gradient  on 2 3\n",
		"or stay where they are");
	program_free(p);
}

static void test_sharing(void)
{
	struct build b = build_new(7, 1, 1);
	uint32_t block = dense_block(&b);
	uint32_t h = build_gate(&b, GATE_H, 0, NULL), rx = build_gate(&b, GATE_RPAULI, 1, (uint32_t[]){ build_input(&b, 0) });
	struct program *p;

	build_wires(&b, 0, 4);
	for (uint32_t w = 0; w < 4; w++)
		build_apply(&b, 0, h, 1, &w);
	build_apply(&b, 0, block, 2, (uint32_t[]){ 0, 1 });
	build_swap(&b, 0, 1, 2);
	build_apply(&b, 0, rx, 1, (uint32_t[]){ 1 });
	build_apply(&b, 0, block, 2, (uint32_t[]){ 1, 3 });
	build_z(&b, 0, 3);
	p = build_done(&b);
	expect_steps(p, &single,
		"  step 0     m3       sample   dense                 on 2\n"
		"  step 1     m4       shared   dense       gradient  on 0 1\n"
		"  step 2     m5       shared   dense       gradient  on 2 3\n",
		"shared matrices take constants, per-sample ones stay apart, swaps are labels");
	program_free(p);
	b = build_new(7, 0, 1);
	block = dense_block(&b);
	h = build_gate(&b, GATE_H, 0, NULL);
	build_wires(&b, 0, 4);
	for (uint32_t w = 0; w < 4; w++)
		build_apply(&b, 0, h, 1, &w);
	build_apply(&b, 0, block, 2, (uint32_t[]){ 0, 1 });
	build_apply(&b, 0, block, 2, (uint32_t[]){ 2, 3 });
	build_z(&b, 0, 3);
	p = build_done(&b);
	expect_steps(p, &single,
		"  step 0     m2       shared   dense       gradient  on 0 1\n"
		"  step 1     m2       shared   dense       gradient  on 2 3\n",
		"equal products are one matrix");
	program_free(p);
}

static struct program *plus(uint32_t nwire)
{
	struct build b = build_new(0, 0, 1);
	uint32_t m = build_gate(&b, GATE_H, 0, NULL), last = nwire - 1;

	build_wires(&b, 0, nwire);
	build_apply(&b, 0, m, 1, &last);
	build_z(&b, 0, last);
	return build_done(&b);
}

static void test_limits(void)
{
	struct program *at = plus(PLAN_WIRES_MAX), *beyond = plus(PLAN_WIRES_MAX + 1);
	struct err e = { 0, "" };
	struct plan *pl = plan_new(at, &single, &e);

	tap_ok(pl != NULL, "60 qubits can be planned");
	plan_free(pl);
	tap_ok(!plan_new(beyond, &single, &e) && e.code == -ERR_CONFIG, "61 cannot");
	tap_is_str(e.text, "a circuit of 61 qubits has 2^61 amplitudes; a state vector holds at most 2^60", "with the reason");
	program_free(at);
	program_free(beyond);
}

/* Amplitudes of weights, in each of two circuits: a state is loaded, not differentiated. */
static void test_trained_amplitudes(void)
{
	for (uint32_t trained = 0; trained < 3; trained++) {
		struct build b = build_new(1, 0, 2);
		uint32_t number[2] = { build_const(&b, 0.6), build_const(&b, 0.8) }, weight[2] = { build_weight(&b, 0), build_const(&b, 1) };
		struct err e = { 0, "" };
		struct program *p;
		struct plan *pl;

		for (uint32_t c = 0; c < 2; c++) {
			build_wires(&b, c, 1);
			build_amplitudes(&b, c, 2, c == trained ? weight : number, 1, (uint32_t[]){ 0 });
			build_z(&b, c, 0);
		}
		p = build_done(&b);
		pl = plan_new(p, &single, &e);
		if (trained < 2)
			tap_ok(!pl && e.code == -ERR_CONFIG && !strcmp(e.text, "amplitudes that depend on trained weights have no gradient"),
				"amplitudes of weights in circuit %u are refused: %s", trained, e.text);
		else
			tap_ok(pl != NULL, "those of numbers are not");
		plan_free(pl);
		program_free(p);
	}
}

static void test_shapes(void)
{
	static const struct {
		uint32_t nwire;
		enum shape shape;
		uint32_t width;
	} want[] = {
		{ 1, SHAPE_BATCHED, 8 },
		{ 10, SHAPE_BATCHED, 8 },
		{ 11, SHAPE_PER_THREAD, 1 },
		{ 17, SHAPE_PER_THREAD, 1 },
		{ 18, SHAPE_SHARED, 1 },
	};
	const struct plan_options ref = { .target = &target_ref };

	for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
		struct program *p = plus(want[k].nwire);
		struct plan *pl = plan_of(p, &single), *plain = plan_of(p, &ref);

		tap_ok(pl->shape == want[k].shape && pl->width == want[k].width && plain->width == 1,
			"%u qubits run in the right shape", want[k].nwire);
		plan_free(pl);
		plan_free(plain);
		program_free(p);
	}
}

static void test_flops(void)
{
	struct build b = build_new(7, 0, 1);
	uint32_t block = dense_block(&b);
	struct program *p;
	struct plan *pl;

	build_wires(&b, 0, 3);
	build_apply(&b, 0, block, 2, (uint32_t[]){ 0, 1 });
	build_apply(&b, 0, block, 2, (uint32_t[]){ 1, 0 });
	build_z(&b, 0, 0);
	p = build_done(&b);
	pl = plan_of(p, &single);
	tap_ok(plan_flops(pl, false) == 8 * 32 && plan_nominal(p, false) == 2 * 8 * 32,
		"32 flops an amplitude and block forward");
	tap_ok(plan_flops(pl, true) == 8 * (64 - 4) && plan_nominal(p, true) == 2 * 8 * 128,
		"with the gradient, the first block is only summed, but for what no gradient needs");
	plan_free(pl);
	program_free(p);
}

/* Diagonal steps and blocks; no merging, so that the steps are the applies, in their order. */
static void test_way_back(void)
{
	static const struct { uint8_t n, wire[2]; bool undo; } want[] = {
		{ 1, { 3 }, false },      /* rx on 3: nothing before it */
		{ 2, { 0, 1 }, false },   /* zz: the first on 0 and 1 */
		{ 2, { 1, 2 }, false },   /* zz: diagonal like the one before */
		{ 1, { 0 }, true },        /* rx on 0: does not commute with zz */
		{ 1, { 3 }, true },       /* rx on 3 again */
		{ 2, { 4, 2 }, false },   /* zz, both only looked at so far */
		{ 2, { 4, 3 }, true },    /* zz looks at 3, which was moved */
	};
	struct build b = build_new(2, 0, 1);
	uint32_t zz = build_gate(&b, GATE_RPAULI, 0xf, (uint32_t[]){ build_weight(&b, 0) });
	uint32_t rx = build_gate(&b, GATE_RPAULI, 1, (uint32_t[]){ build_weight(&b, 1) });
	struct plan_options o = single;
	struct program *p;
	struct plan *pl;

	build_wires(&b, 0, 5);
	for (size_t k = 0; k < sizeof want / sizeof *want; k++)
		build_apply(&b, 0, want[k].n == 2 ? zz : rx, want[k].n, (uint32_t[]){ want[k].wire[0], want[k].wire[1] });
	build_z(&b, 0, 3);
	p = build_done(&b);
	o.no_fuse = true;
	pl = plan_of(p, &o);
	for (size_t k = 0; k < sizeof want / sizeof *want; k++)
		tap_ok(pl->circuit[0].step[k].undo == want[k].undo, "apply %zu %s", k,
			want[k].undo ? "is undone in the backward pass" : "needs no undoing");
	plan_free(pl);
	program_free(p);
}

/* Expected times: parts add up, twice the limits halve them, a way back costs more than the way there. */
static void test_seconds(void)
{
	struct build b = build_new(7, 0, 1);
	uint32_t block = dense_block(&b);
	struct plan_limits twice = limits;
	struct plan_seconds part[9], all, half;
	double forward = 0, back = 0;
	struct program *p;
	struct plan *pl;

	build_wires(&b, 0, 24);
	for (unsigned layer = 0; layer < 2; layer++)
		for (uint32_t w = 0; w < 24; w += 2)
			build_apply(&b, 0, block, 2, (uint32_t[]){ w, (w + 1 + 12 * layer) % 24 });
	build_z(&b, 0, 3);
	p = build_done(&b);
	pl = plan_of(p, &single);
	if (pl->circuit->nstage > 8)
		tap_bail("%u stages", pl->circuit->nstage);
	plan_seconds(pl, pl->circuit, &limits, part, &all);
	for (uint32_t k = 0; k < pl->circuit->nstage; k++) {
		forward += part[k].forward;
		back += part[k].back;
	}
	tap_ok(forward > 0 && forward == all.forward && part[pl->circuit->nstage].forward == 0, "the last stage sums what is read: %g of %g s",
		forward, all.forward);
	tap_ok(back > 0 && back == all.back && part[pl->circuit->nstage].back == 0, "and the first one back makes lambda: %g of %g s",
		back, all.back);
	tap_ok(all.back > all.forward, "the backward pass takes longer");
	twice.stream_gb_s *= 2;
	twice.write_gb_s *= 2;
	twice.l2_gb_s *= 2;
	twice.single_gflop_s *= 2;
	plan_seconds(pl, pl->circuit, &twice, part, &half);
	tap_ok(half.forward < 0.51 * all.forward && half.forward > 0.49 * all.forward, "a machine that is twice as fast takes half of it");
	plan_free(pl);
	program_free(p);
}

/* Steps whose reduced transition matrix is wanted and that are undone; of all that want one. */
static unsigned undone(const struct program *p, unsigned *all)
{
	struct plan_options o = single;
	struct plan *pl;
	unsigned n = 0;

	o.target = cpu_target(ISA_AVX512);
	pl = plan_of(p, &o);
	*all = 0;
	for (uint32_t k = 0; k < pl->circuit->nstep; k++) {
		*all += pl->circuit->step[k].transition;
		n += pl->circuit->step[k].transition && pl->circuit->step[k].undo;
	}
	plan_free(pl);
	return n;
}

/* One layer of rotations turns each qubit away from |0> once: undone, all but the first stage's sums are over a part of
 * the state.  Qubits that constant gates have turned before are not spared by it. */
static void test_turned(void)
{
	for (unsigned before = 0; before < 2; before++) {
		struct build b = build_new(1, 0, 1);
		uint32_t h = build_gate(&b, GATE_H, 0, NULL), x = build_gate(&b, GATE_PAULI, 1, NULL);
		uint32_t ry = build_gate(&b, GATE_RPAULI, 2, (uint32_t[]){ build_weight(&b, 0) });
		struct program *p;
		unsigned n, all;

		build_wires(&b, 0, 21);
		for (uint32_t w = 0; before && w < 21; w++)
			build_apply(&b, 0, h, 1, &w);
		for (uint32_t w = 0; before && w < 2 * 21; w++)   /* all of the first round comes before the second is through */
			build_controlled(&b, 0, x, 1, 2, (uint32_t[]){ w % 21, (w + 1) % 21 });
		for (uint32_t w = 0; w < 21; w++)
			build_apply(&b, 0, ry, 1, &w);
		for (uint32_t w = 0; w < 21; w++)
			build_z(&b, 0, w);
		p = build_done(&b);
		n = undone(p, &all);
		tap_ok(before ? n == 0 : n > all / 2, "rotations of %s: %u of %u are undone", before ? "a state" : "|0>", n, all);
		program_free(p);
	}
}

int main(void)
{
	test_pooling();
	test_sharing();
	test_limits();
	test_trained_amplitudes();
	test_shapes();
	test_flops();
	test_way_back();
	test_turned();
	test_seconds();
	return tap_done();
}
