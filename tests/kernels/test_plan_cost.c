/* SPDX-License-Identifier: Apache-2.0
 * What a plan costs: operations and bytes by hand, and steps on qubits that are |0> as the kernels take them. */
#include <math.h>
#include <string.h>

#include "runtime/exec/statevector/backend.h"
#include "runtime/exec/statevector/cpu/cpu_state.h"
#include "runtime/exec/statevector/plan/plan_stage.h"
#include "runtime/exec/statevector/plan/plan_work.h"
#include "tests/kernels/build.h"
#include "tests/kernels/random_program.h"
#include "tests/kernels/targets.h"

enum { NPROGRAM = 100 };
static const struct target *target; /* of all plans */

static struct plan *plan_of(const struct program *p, enum shape shape, uint64_t random)
{
	struct plan_options o = {
		.precision = PRECISION_SINGLE, .target = target, .shape = shape, .random = random
	};
	struct err e = { 0 };
	struct plan *pl = plan_new(p, &o, &e);

	if (!pl)
		tap_bail("no plan: %s", e.text);
	return pl;
}

static struct backend_state *state_of(const struct plan *pl)
{
	struct backend_state *b = NULL;
	struct err e = { 0 };

	if (backend_cpu.prepare(pl, 1, 0, false, NULL, &b, &e))
		tap_bail("no states: %s", e.text);
	return b;
}

/* Rot of each wire, a weight each. */
static void rotations(struct build *b, uint32_t first, uint32_t nwire)
{
	for (uint32_t w = 0; w < nwire; w++) {
		const uint32_t angle[3] = { build_weight(b, 3 * w), build_weight(b, 3 * w + 1),
			build_weight(b, 3 * w + 2) };

		build_apply(b, 0, build_gate(b, GATE_ROT, 0, angle), 1, (uint32_t[]){ first + w });
	}
}

/* Rotations of 8 qubits, alone or in pairs, each of which writes all amplitudes where the qubits of those behind it are 0;
 * then cx. */
static void test_on_zero(void)
{
	struct build b = build_new(24, 0, 1);
	uint32_t x = build_gate(&b, GATE_PAULI, 1, NULL);
	double want = 0;
	unsigned turned = 0;
	struct program *p;
	struct plan *pl;

	build_wires(&b, 0, 8);
	rotations(&b, 0, 8);
	for (uint32_t w = 0; w < 8; w++)
		build_controlled(&b, 0, x, 1, 2, (uint32_t[]){ w, (w + 1) % 8 });
	build_z(&b, 0, 0);
	p = build_done(&b);
	pl = plan_of(p, SHAPE_SHARED, 0);
	for (uint32_t k = 0; k < pl->circuit->nstep; k++)
		if (!pl->circuit->step[k].ncontrol)
			want += 8 * (1 << (turned += pl->circuit->step[k].ntarget));
	double executed = plan_flops(pl, false);
	tap_ok(plan_effort(pl, false) > executed, "moves are no operations, but take time");
	tap_ok(turned == 8 && executed == want,
		"one product for each amplitude that is written, none where rows are moved: %g of %g",
		executed, want);
	plan_free(pl);
	program_free(p);
}

/* Of a circuit's steps: for how many the plan counts what the kernels do. */
struct counted {
	unsigned on_zero, on_zero_done, on_zero_planned, along, along_wrong;
};
/* Of its stages: which put back less than all in the backward pass, and where the plan counts something else. */
struct put_back {
	unsigned less, wrong;
};

static const struct cpu_op *op_of(const struct cpu_stage *s, const struct plan_step *st)
{
	for (uint32_t o = 0; o < s->nop; o++)
		if (s->op[o].step->plan == st)
			return &s->op[o];
	return NULL;
}

static void compare(const struct plan *pl, const struct cpu_circuit *c, struct counted *n)
{
	for (uint32_t k = 0; k < c->nstage; k++) {
		struct plan_visited v = plan_visit(pl, c->plan, &c->plan->stage[k]);
		const struct plan_stage *s = &c->plan->stage[k];

		for (uint32_t j = s->first; j < s->first + s->count; j++) {
			const struct plan_step *st = &c->plan->step[j];
			struct plan_visited_step planned = plan_visit_step(pl, &v, st);
			const struct cpu_op *op = op_of(&c->stage[k], st);
			bool on_zero = op && op->on_zero;
			unsigned along = op ? op->ndiagonal : 0;

			n->on_zero += on_zero && planned.on_zero;
			n->on_zero_done += on_zero && !planned.on_zero;
			n->on_zero_planned += planned.on_zero && !on_zero;
			n->along += along && along == planned.along;
			n->along_wrong += along != planned.along;
		}
	}
}

static void compare_back(const struct plan *pl, const struct cpu_circuit *c, struct put_back *n)
{
	for (uint32_t k = 0; k < c->nstage; k++) {
		const struct plan_stage *s = &c->plan->stage[k];
		struct plan_visited v = plan_visit(pl, c->plan, s);
		unsigned unread = (unsigned)__builtin_popcountll(c->stage[k].unread);

		if (c->plan->first_transition >= s->first)
			continue; /* it puts nothing back */
		n->less += unread > 0;
		n->wrong += v.kept != ldexp(v.back, -(int)unread);
	}
}

/* Do the passes of a shared state have the operations of the plan, forward and with the backward pass? */
static bool passes_agree(const struct plan *pl)
{
	double sum[2] = { 0 };

	for (uint32_t c = 0; c < pl->ncircuit; c++)
		for (uint32_t k = 0; k <= pl->circuit[c].nstage; k++)
			for (int back = 0; back < 2; back++) {
				double flops, bytes;

				plan_pass(pl, &pl->circuit[c], k, back, &flops, &bytes);
				sum[back] += flops;
			}
	double forward = plan_flops(pl, false), both = plan_flops(pl, true);
	return fabs(sum[0] - forward) <= 1e-12 * forward
		&& fabs(sum[0] + sum[1] - both) <= 1e-12 * both;
}

/* Layers of rotations on a large state: the plan counts what the kernels do. */
static void test_layer(void)
{
	struct build b = build_new(54, 0, 1);
	struct counted n = { 0 };
	struct backend_state *s;
	struct program *p;
	struct plan *pl;

	build_wires(&b, 0, 18);
	rotations(&b, 0, 18);
	build_z(&b, 0, 3);
	p = build_done(&b);
	pl = plan_of(p, SHAPE_SHARED, 0);
	s = state_of(pl);
	compare(pl, s->circuit, &n);
	tap_ok(n.on_zero >= 9 && n.on_zero_done + n.on_zero_planned == 0,
		"a layer: %u steps are fresh, %u for the kernels alone, %u for the plan alone",
		n.on_zero, n.on_zero_done, n.on_zero_planned);
	backend_cpu.free(s);
	plan_free(pl);
	program_free(p);
}

/* The quantum Fourier transform of a state: the controlled phases of a qubit go along with its h, but for those with a bit
 * in the lanes, which visit a quarter of the state each. */
static void test_along(void)
{
	enum { WIRES = 18 };
	struct build b = build_new(3 * WIRES, 0, 1);
	struct counted n = { 0 };
	uint32_t h = build_gate(&b, GATE_H, 0, NULL);
	struct backend_state *s;
	struct program *p;
	struct plan *pl;

	build_wires(&b, 0, WIRES);
	rotations(&b, 0, WIRES);
	for (uint32_t w = 0; w < WIRES; w++) {
		build_apply(&b, 0, h, 1, &w);
		for (uint32_t v = w + 1; v < WIRES; v++) {
			uint32_t phase = build_gate(&b, GATE_P, 0,
				(uint32_t[]){ build_const(&b, ldexp(3, -(int)(v - w))) });

			build_controlled(&b, 0, phase, 1, 2, (uint32_t[]){ v, w });
		}
	}
	build_z(&b, 0, 3);
	p = build_done(&b);
	pl = plan_of(p, SHAPE_SHARED, 0);
	s = state_of(pl);
	compare(pl, s->circuit, &n);
	tap_ok(n.along > 5 && n.along_wrong == 0,
		"a Fourier transform: %u steps take diagonal ones along as planned, %u otherwise",
		n.along, n.along_wrong);
	backend_cpu.free(s);
	plan_free(pl);
	program_free(p);
}

/* On a machine that computes and reads for nothing, the floor is what is written and was not read: of 24 qubits the last
 * stage writes 128 MiB and has read the part where its own qubits are 0.  32 MiB and less stay in caches. */
static void test_written(void)
{
	struct build b = build_new(72, 0, 1);
	struct plan_limits l = { .nthread = 2,
		.stream_gb_s = 1e30,
		.write_gb_s = 10,
		.l2_gb_s = 1e30,
		.single_gflop_s = 1e30 };
	const struct plan_stage *last;
	struct program *p;
	struct plan *pl;
	double seconds, written;

	build_wires(&b, 0, 24);
	rotations(&b, 0, 24);
	build_z(&b, 0, 3);
	p = build_done(&b);
	pl = plan_of(p, SHAPE_SHARED, 0);
	last = &pl->circuit->stage[pl->circuit->nstage - 1];
	written = 8
		* (double)((1 << 24)
			- (1 << __builtin_popcountll(plan_nonzero(pl, pl->circuit, last->first))));
	seconds = plan_floor(pl, false, 1, &l);
	tap_ok(pl->circuit->nstage > 1 && written > 64e6 && fabs(seconds / (written / 10e9) - 1) < 1e-9,
		"%g bytes are written at 10 GB/s: %g s", written, seconds);
	l.stream_gb_s = 10;
	tap_ok(plan_floor(pl, false, 1, &l) < 2.5 * seconds, "the rest is streamed, as much as that");
	plan_free(pl);
	program_free(p);
}

/* Rotations by pi/4 of 6 qubits and cz between all, then, if turned, by a weight each. */
static struct program *constant_start(bool turned)
{
	struct build b = build_new(turned ? 18 : 0, 0, 1);
	uint32_t z = build_gate(&b, GATE_PAULI, 3, NULL);
	uint32_t half = build_const(&b, 0.25 * 3.14159265358979);
	uint32_t m = build_gate(&b, GATE_ROT, 0, (uint32_t[]){ half, half, half });

	build_wires(&b, 0, 6);
	for (uint32_t w = 0; w < 6; w++)
		build_apply(&b, 0, m, 1, (uint32_t[]){ w });
	for (uint32_t w = 0; w < 36; w++)
		if (w % 6 < w / 6)
			build_controlled(&b, 0, z, 1, 2, (uint32_t[]){ w % 6, w / 6 });
	if (turned)
		rotations(&b, 0, 6);
	build_z(&b, 0, 5);
	return build_done(&b);
}

/* The state behind constant steps is kept, and made again when that is asked for; a circuit without others is a step's own work. */
static void test_start(enum shape shape)
{
	struct program *all = constant_start(false), *p = constant_start(true);
	struct plan *whole = plan_of(all, shape, 0), *pl = plan_of(p, shape, 0);
	struct backend_state *s = state_of(pl);
	char kept[512]; /* no more than the state of a sample */
	double executed = plan_flops(whole, false), none = plan_flops(pl, false);

	tap_ok(whole->circuit->nstart == 0 && executed > 0 && plan_start_flops(whole) == 0,
		"constant from end to end: nothing is kept");
	tap_ok(pl->circuit->nstart > 0 && pl->circuit->nstart < pl->circuit->nstep
			&& plan_start_flops(pl) > 0 && none > 0,
		"a constant start is, of %g operations beside %g", plan_start_flops(pl), none);
	memcpy(kept, s->circuit->start, sizeof kept);
	memset(s->circuit->start, 0, sizeof kept);
	backend_cpu.start(s);
	tap_ok(!memcmp(kept, s->circuit->start, sizeof kept), "and the same when it is made again");
	backend_cpu.free(s);
	plan_free(pl);
	plan_free(whole);
	program_free(p);
	program_free(all);
}

/* Whatever the circuit: a step that is not counted as on |0> is not done so, and most that are counted are done. */
static void test_random(void)
{
	struct counted n = { 0 };
	struct put_back back = { 0 };
	unsigned apart = 0;

	for (uint64_t seed = 1; seed <= NPROGRAM; seed++) {
		struct random_shape r = { .seed = seed,
			.nwire = 8 + random_below(seed, 0, 4),
			.napply = 10 + random_below(seed, 1, 30),
			.ncircuit = 1,
			.nweight = 6,
			.ninput = 2,
			.controls = random_below(seed, 3, 2),
			.swaps = random_below(seed, 4, 2),
			.wide = true,
			.diagonals = seed % 8 < 4,
			.vectors = seed % 3 == 0 };
		struct program *p = random_program(&r);
		struct plan *pl = plan_of(p, seed % 2 ? SHAPE_SHARED : SHAPE_PER_THREAD,
			seed % 4 < 2 ? seed : 0);
		struct backend_state *s = state_of(pl);

		compare(pl, s->circuit, &n);
		if (pl->shape == SHAPE_SHARED)
			compare_back(pl, s->circuit, &back);
		apart += pl->shape == SHAPE_SHARED && !passes_agree(pl);
		backend_cpu.free(s);
		plan_free(pl);
		program_free(p);
	}
	tap_ok(n.on_zero > NPROGRAM && n.on_zero_done == 0 && n.on_zero_planned < n.on_zero,
		"random circuits: %u steps are fresh, %u for the kernels alone, %u for the plan alone",
		n.on_zero, n.on_zero_done, n.on_zero_planned);
	tap_ok(n.along > 0 && n.along_wrong <= n.along,
		"%u take diagonal steps along as planned, %u otherwise", n.along, n.along_wrong);
	tap_ok(back.less > 0 && back.wrong == 0,
		"%u stages put back what is read before them and no more, %u not what is planned",
		back.less, back.wrong);
	tap_ok(apart == 0, "passes have the operations of their plans, but for %u circuits", apart);
}

/* The bytes that a cache of states asks for cover the states: n more states, n times the amplitudes of one. */
static void test_cache_bytes(enum shape shape)
{
	struct build b = build_new(24, 0, 1);
	struct program *p;
	struct plan *pl;
	uint64_t most, n = 64, one = 2 * sizeof(float) << 8;

	build_wires(&b, 0, 8);
	rotations(&b, 0, 8);
	build_z(&b, 0, 0);
	p = build_done(&b);
	pl = plan_of(p, shape, 0);
	most = backend_cpu.state_cache->bytes(pl, (uint32_t)(2 * n), 1)
		- backend_cpu.state_cache->bytes(pl, (uint32_t)n, 1);
	tap_ok(most >= n * one, "%s: a cache of %llu more states asks for %llu bytes",
		shape == SHAPE_BATCHED ? "batched" : "shared", (unsigned long long)n,
		(unsigned long long)most);
	plan_free(pl);
	program_free(p);
}

/* Products of x on one wire and z on others: as many visits of the state as the groups that are read. What they are expected to take. */
static struct plan_seconds test_visits(uint32_t nterm)
{
	enum { WIRES = 12, TERMS_MAX = 300 };
	struct build b = build_new(3 * WIRES, 0, 1);
	struct pauli_factor factor[TERMS_MAX][WIRES];
	struct pauli_term term[TERMS_MAX];
	uint32_t visits = 0;

	build_wires(&b, 0, WIRES);
	rotations(&b, 0, WIRES);
	for (uint32_t k = 0; k < nterm; k++) {
		term[k] = (struct pauli_term){ 1, 1, factor[k] };
		factor[k][0] = (struct pauli_factor){ .wire = 0, .letter = 1 };
		for (uint32_t w = 1; w < WIRES; w++)
			if (k >> (w - 1) & 1)
				factor[k][term[k].nfactor++] =
					(struct pauli_factor){ .wire = w, .letter = 3 };
	}
	build_pauli(&b, 0, nterm, term);
	struct program *p = build_done(&b);
	struct plan *pl = plan_of(p, SHAPE_SHARED, 0);
	struct backend_state *s = state_of(pl);
	const struct cpu_circuit *c = s->circuit;

	for (uint32_t g = 0; g < c->ngroup; g++)
		visits += c->group[g].count < PLAN_TOGETHER_MIN ? c->group[g].count : 1;
	tap_is_int(pl->circuit->nflip, visits, "%u products: the visits that the plan counts", nterm);
	struct plan_seconds seconds = plan_usual_seconds(pl, pl->circuit);

	backend_cpu.free(s);
	plan_free(pl);
	program_free(p);
	return seconds;
}

static void test_products(void)
{
	struct plan_seconds few = test_visits(200), many = test_visits(256);

	tap_ok(many.forward > few.forward && many.back > few.back,
		"more products in as many visits take longer: %.3g and %.3g s forward, %.3g and %.3g s back",
		few.forward, many.forward, few.back, many.back);
}

int main(void)
{
	for (unsigned k = 0; (target = cpu_target_here(k)); k++) {
		tap_note("%s", target->kernels);
		test_on_zero();
		test_layer();
		test_along();
		test_visits(2);
		test_visits(128);
		test_visits(258);
		test_visits(300);
		test_products();
		test_written();
		test_start(SHAPE_BATCHED);
		test_start(SHAPE_PER_THREAD);
		test_cache_bytes(SHAPE_BATCHED);
		test_cache_bytes(SHAPE_SHARED);
		test_random();
	}
	return tap_done();
}
