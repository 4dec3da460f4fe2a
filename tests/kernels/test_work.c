/* SPDX-License-Identifier: Apache-2.0
 * What a plan costs: operations and bytes by hand, and steps on fresh qubits as the kernels take them. */
#include "config.h"
#include <math.h>

#include "runtime/exec/backend.h"
#include "runtime/exec/cpu/cpu_state.h"
#include "runtime/exec/plan_stage.h"
#include "runtime/exec/plan_work.h"
#include "tests/kernels/build.h"
#include "tests/kernels/random_program.h"

enum { NPROGRAM = 100 };

static struct plan *plan_of(const struct program *p, enum shape shape, uint64_t random)
{
	struct plan_options o = { .precision = PRECISION_SINGLE, .isa = isa_best(), .shape = shape, .random = random };
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

	if (backend_cpu.prepare(pl, 1, false, &b, &e))
		tap_bail("no states: %s", e.text);
	return b;
}

/* Rot of each wire, a weight each. */
static void rotations(struct build *b, uint32_t first, uint32_t nwire)
{
	for (uint32_t w = 0; w < nwire; w++) {
		const uint32_t angle[3] = { build_weight(b, 3 * w), build_weight(b, 3 * w + 1), build_weight(b, 3 * w + 2) };

		build_apply(b, 0, build_gate(b, GATE_ROT, 0, angle), 1, (uint32_t[]){ first + w });
	}
}

/* Rotations of 8 qubits, as four matrices on two, each of which writes four times what those before wrote; then cx. */
static void test_fresh(void)
{
	struct build b = build_new(24, 0, 1);
	uint32_t x = build_gate(&b, GATE_PAULI, 1, NULL);
	double executed, nominal, first = 8 * (4 + 16 + 64 + 256);
	struct program *p;
	struct plan *pl;

	build_wires(&b, 0, 8);
	rotations(&b, 0, 8);
	for (uint32_t w = 0; w < 8; w++)
		build_controlled(&b, 0, x, 1, 2, (uint32_t[]){ w, (w + 1) % 8 });
	build_z(&b, 0, 0);
	p = build_done(&b);
	pl = plan_of(p, SHAPE_SHARED, 0);
	plan_flops(pl, false, &executed, &nominal);
	tap_ok(executed == first, "one product for each amplitude that is written, none where rows are moved: %g of %g", executed, first);
	plan_free(pl);
	program_free(p);
}

/* Of a circuit's dense steps: those that kernels do as fresh; *more: and the plan does not, *less: the other way round. */
static unsigned compare(const struct plan *pl, const struct cpu_circuit *c, unsigned *more, unsigned *less)
{
	unsigned both = 0;

	for (uint32_t k = 0; k < c->nstage; k++) {
		struct plan_visited v = plan_visit(pl, c->plan, &c->plan->stage[k]);
		const struct plan_stage *s = &c->plan->stage[k];

		for (uint32_t j = s->first; j < s->first + s->count; j++) {
			const struct plan_step *st = &c->plan->step[j];
			bool counted = plan_visit_step(pl, &v, st).fresh, done = false;

			for (uint32_t o = 0; o < c->stage[k].nop; o++)
				done |= c->stage[k].op[o].fresh && c->stage[k].op[o].step->plan == st;
			both += counted && done;
			*more += done && !counted;
			*less += counted && !done;
		}
	}
	return both;
}

/* Layers of rotations on a large state: the plan counts what the kernels do. */
static void test_layer(void)
{
	struct build b = build_new(54, 0, 1);
	unsigned more = 0, less = 0, both;
	struct backend_state *s;
	struct program *p;
	struct plan *pl;

	build_wires(&b, 0, 18);
	rotations(&b, 0, 18);
	build_z(&b, 0, 3);
	p = build_done(&b);
	pl = plan_of(p, SHAPE_SHARED, 0);
	s = state_of(pl);
	both = compare(pl, s->circuit, &more, &less);
	tap_ok(both >= 9 && more == 0 && less == 0, "a layer: %u steps are fresh, %u more for the kernels, %u for the plan", both, more, less);
	backend_cpu.free(s);
	plan_free(pl);
	program_free(p);
}

/* On a machine that computes and reads for nothing, the floor is what is written and was not read: of 24 qubits the last
 * stage writes 128 MiB and has read the part where its own qubits are 0.  32 MiB and less stay in caches. */
static void test_written(void)
{
	struct build b = build_new(72, 0, 1);
	struct plan_limits l = { .nthread = 2, .stream_gb_s = 1e30, .write_gb_s = 10, .l2_gb_s = 1e30, .single_gflop_s = 1e30 };
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
	written = 8 * (double)((1 << 24) - (1 << __builtin_popcountll(plan_turned(pl, pl->circuit, last->first))));
	seconds = plan_floor(pl, false, 1, &l);
	tap_ok(pl->circuit->nstage > 1 && written > 64e6 && fabs(seconds / (written / 10e9) - 1) < 1e-9, "%g bytes are written at 10 GB/s: %g s",
		written, seconds);
	l.stream_gb_s = 10;
	tap_ok(plan_floor(pl, false, 1, &l) < 2.5 * seconds, "the rest is streamed, as much as that");
	plan_free(pl);
	program_free(p);
}

/* Whatever the circuit: a step that is not counted as fresh is not done so, and most that are counted are done. */
static void test_random(void)
{
	unsigned more = 0, less = 0, both = 0;

	for (uint64_t seed = 1; seed <= NPROGRAM; seed++) {
		struct random_shape r = { .seed = seed, .nwire = 8 + random_below(seed, 0, 4), .napply = 10 + random_below(seed, 1, 30), .ncircuit = 1,
			.nweight = 6, .ninput = 2, .controls = random_below(seed, 3, 2), .swaps = random_below(seed, 4, 2), .wide = true };
		struct program *p = random_program(&r);
		struct plan *pl = plan_of(p, seed % 2 ? SHAPE_SHARED : SHAPE_STATE, seed % 4 < 2 ? seed : 0);
		struct backend_state *s = state_of(pl);

		both += compare(pl, s->circuit, &more, &less);
		backend_cpu.free(s);
		plan_free(pl);
		program_free(p);
	}
	tap_ok(more == 0, "random circuits: %u steps are fresh for the kernels alone", more);
	tap_ok(both > NPROGRAM && less < both, "%u are for both, %u for the plan alone", both, less);
}

int main(void)
{
	test_fresh();
	test_layer();
	test_written();
	test_random();
	return tap_done();
}
