/* SPDX-License-Identifier: Apache-2.0
 * The cpu backend, and an interpreter of plans, against the reference: random programs on every
 * target, precision and shape of this machine, and the same bits for any number of threads. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include "runtime/exec/statevector/cpu/cpu_target.h"
#include "runtime/exec/statevector/cpu/kernels.h"
#include "runtime/exec/statevector/plan/plan_work.h"
#include "tests/kernels/build.h"
#include "tests/kernels/interpreter.h"
#include "tests/kernels/random_program.h"

enum { NSAMPLE = 19, NRANDOM = 12, NPROGRAM = NRANDOM + 4 /* of one structure */, MANY = 150 };

struct job { struct program *p; double *weight, *input; struct outcome want; unsigned seed; };

static struct job job_of(const struct random_shape *r, uint32_t nsample)
{
	struct job j = { .p = random_program(r), .seed = (unsigned)r->seed };

	j.weight = mem_alloc(j.p->nweight, sizeof(double));
	j.input = mem_alloc((size_t)j.p->ninput * nsample, sizeof(double));
	random_numbers(j.seed, 2, j.p->nweight, j.weight);
	random_numbers(j.seed + 100, 2, (size_t)j.p->ninput * nsample, j.input);
	j.want = outcome_new(j.p, nsample);
	return j;
}

/* Matrices of one structure alone, also those of samples. */
static struct job job_of_structure(unsigned seed, unsigned gate_flags)
{
	struct random_shape r = { .seed = seed, .nwire = 3 + seed % 3, .napply = 20, .ncircuit = 1, .nweight = 5, .ninput = 3,
		.sample_matrices = true, .controls = seed % 2, .wide = true, .gate_flags = gate_flags };

	return job_of(&r, NSAMPLE);
}

static struct random_shape shape_of(unsigned seed, unsigned nwire)
{
	return (struct random_shape){ .seed = seed,
		.nwire = nwire,
		.napply = 8 + seed % 16,
		.ncircuit = 1 + seed % 2,
		.nweight = 5,
		.ninput = 3,
		.sample_matrices = seed % 2,
		.controls = seed % 3 != 0,
		.vectors = seed % 4 == 0,
		.swaps = seed % 5 == 0,
		.wide = seed % 2 == 0,
		.frozen = seed % 6 == 0,
		.diagonals = seed % 4 > 1,
		.nz = seed % 3 == 0     ? 0
			: seed % 3 == 1 ? 150
					: 5,
		.nsame = seed % 5 == 2  ? 400
			: seed % 5 == 4 ? 12
					: 0 };
}

static struct job job_new(unsigned seed, unsigned nwire, uint32_t nsample)
{
	struct random_shape r = shape_of(seed, nwire);

	return job_of(&r, nsample);
}

static void job_release(struct job *j)
{
	outcome_release(&j->want);
	free(j->weight);
	free(j->input);
	program_free(j->p);
}

static bool run(const struct job *j, const struct evaluator_options *o, uint32_t nsample, struct outcome *out)
{
	struct err e = { 0, "" };

	if (!outcome_of(j->p, o, nsample, j->weight, j->input, out, &e))
		return true;
	tap_note("seed %u: %s", j->seed, e.text);
	return false;
}

/* ---- against ref ---- */

/* One program in all shapes; the worst differences. */
static bool compare(const struct job *j, struct evaluator_options o, double *worst_readout,
	double *worst_gradient)
{
	struct outcome got = outcome_new(j->p, NSAMPLE);
	bool ran = true;

	for (int shape = SHAPE_BATCHED; shape <= SHAPE_SHARED && ran; shape++) {
		o.shape = (enum shape)shape;
		ran = run(j, &o, NSAMPLE, &got);
		*worst_readout = tap_worst(*worst_readout, largest_difference(got.readout, j->want.readout, (size_t)NSAMPLE * j->p->nreadout));
		*worst_gradient = tap_worst(*worst_gradient,
			largest_difference(got.gradient, j->want.gradient, j->p->nweight));
	}
	outcome_release(&got);
	return ran;
}

static void test_kernel_set(struct job *job, const struct target *target, enum precision precision)
{
	double readout = 0, dreadout = 0, most = precision == PRECISION_DOUBLE ? 1e-12 : 1e-5;
	bool ran = true;

	for (unsigned k = 0; k < NPROGRAM && ran; k++) {
		struct evaluator_options o = { .method = METHOD_STATEVECTOR,
			.nthread = 1,
			.gradient = GRADIENT_ADJOINT,
			.target = target,
			.precision = precision,
			.random_plan = k % 3,
			.no_fuse = k % 4 == 3 };

		ran = compare(&job[k], o, &readout, &dreadout);
	}
	tap_ok(ran && readout < most && dreadout < 100 * most,
		"%s, %s: readouts off by %.2g, gradients by %.2g", target->kernels,
		precision == PRECISION_DOUBLE ? "double" : "single", readout, dreadout);
}

static void test_kernel_sets(void)
{
	struct evaluator_options ref = { .method = METHOD_STATEVECTOR,
		.target = &target_ref,
		.nthread = 1,
		.gradient = GRADIENT_ADJOINT };
	const struct target *target;
	struct job job[NPROGRAM];

	for (unsigned k = 0; k < NPROGRAM; k++) {
		job[k] = k < NRANDOM ? job_new(k + 1, 1 + k % 7, NSAMPLE)
			: job_of_structure(k + 1, k % 2 ? GATE_REAL : GATE_PARITY);
		if (!run(&job[k], &ref, NSAMPLE, &job[k].want))
			tap_bail("ref does not run");
	}
	tap_ok(kernels_find(isa_best(), PRECISION_SINGLE) != NULL,
		"the set that is taken by itself, %s, was built", cpu_target(isa_best())->kernels);
	for (unsigned k = 0; (target = tested_target(k)); k++) {
		if (target_can(target, TARGET_SINGLE))
			test_kernel_set(job, target, PRECISION_SINGLE);
		test_kernel_set(job, target, PRECISION_DOUBLE);
	}
	for (unsigned k = 0; k < NPROGRAM; k++)
		job_release(&job[k]);
}

/* ---- sizes ---- */

/* One sample of a random program on n qubits by a random plan, in the shape that a state of some size has. */
static void test_size(unsigned n, const struct target *target, enum precision precision)
{
	bool twice = precision == PRECISION_DOUBLE;
	struct job j = job_new(100 + n, n, 1);
	struct outcome got = outcome_new(j.p, 1);
	struct evaluator_options ref = { .method = METHOD_STATEVECTOR,
		.target = &target_ref,
		.nthread = 1,
		.gradient = GRADIENT_ADJOINT };
	double readout = 0, dreadout = 0;
	bool ran = run(&j, &ref, 1, &j.want);

	for (unsigned plan = 1; plan <= 8 && ran; plan++) {
		struct evaluator_options o = { .method = METHOD_STATEVECTOR,
			.nthread = 1,
			.gradient = GRADIENT_ADJOINT,
			.target = target,
			.precision = precision,
			.random_plan = 10 * n + plan,
			.shape = (enum shape)(SHAPE_BATCHED + plan % 3) };

		ran = run(&j, &o, 1, &got);
		readout = tap_worst(readout, largest_difference(got.readout, j.want.readout, j.p->nreadout));
		dreadout = tap_worst(dreadout,
			largest_difference(got.gradient, j.want.gradient, j.p->nweight));
	}
	tap_ok(ran && readout < (twice ? 1e-12 : 4e-6) && dreadout < (twice ? 1e-10 : 4e-5),
		"%u qubits, eight random plans, %s, %s: readouts off by %.2g, gradients by %.2g", n,
		target->kernels, twice ? "double" : "single", readout, dreadout);
	outcome_release(&got);
	job_release(&j);
}

/* More qubits than a block holds.  Most of them are touched by no step or by late ones only: rows that are known
 * to be 0 are left out on the way, and there at the end.  Or many permutations, which are done on the way. */
static void test_blocks(unsigned napply, bool permutes)
{
	struct evaluator_options ref = { .method = METHOD_STATEVECTOR,
		.target = &target_ref,
		.nthread = 1,
		.gradient = GRADIENT_ADJOINT };
	double readout = 0, dreadout = 0;
	bool ran = true;

	for (unsigned seed = 1; seed <= (permutes ? 16 : 4) && ran; seed++) {
		struct random_shape r = { .seed = 50 + seed, .nwire = permutes ? 9 : 17, .napply = napply, .ncircuit = 1, .nweight = 4, .ninput = 2,
			.controls = permutes || seed % 2, .diagonals = seed % 3 == 0, .permutes = permutes, .wide = permutes,
			.nz = seed % 2 ? 0 : 5 };
		struct job j = job_of(&r, 2);
		struct outcome got = outcome_new(j.p, 2);

		ran = run(&j, &ref, 2, &j.want);
		for (unsigned plan = 0; plan < 4 && ran; plan++) {
			struct evaluator_options o = { .method = METHOD_STATEVECTOR,
				.nthread = 2,
				.gradient = GRADIENT_ADJOINT,
				.precision = PRECISION_DOUBLE,
				.random_plan = plan,
				.shape = plan & 1 ? SHAPE_SHARED : SHAPE_PER_THREAD,
				.no_fuse = plan == 3 };

			ran = run(&j, &o, 2, &got);
			readout = tap_worst(readout, largest_difference(got.readout, j.want.readout, 2 * (size_t)j.p->nreadout));
			dreadout = tap_worst(dreadout,
				largest_difference(got.gradient, j.want.gradient, j.p->nweight));
		}
		outcome_release(&got);
		job_release(&j);
	}
	tap_ok(ran && readout < 1e-12 && dreadout < 1e-10,
		"%u steps%s: readouts off by %.2g, gradients by %.2g", napply,
		permutes ? ", many of them permutations," : "", readout, dreadout);
}

/* Products of Z alone, which are summed, and lambda made of them, while blocks of the last stage are near, behind
 * permutations on the way. */
static void test_near(const struct target *target, enum precision precision)
{
	struct evaluator_options ref = { .method = METHOD_STATEVECTOR,
		.target = &target_ref,
		.nthread = 1,
		.gradient = GRADIENT_ADJOINT };
	double worst = 0, dreadout = 0, most = precision == PRECISION_DOUBLE ? 1e-12 : 1e-5;
	bool ran = true;

	for (unsigned seed = 1; seed <= 24 && ran; seed++) {
		struct random_shape r = { .seed = 900 + seed, .nwire = 5 + seed % 9, .napply = 10 + seed, .ncircuit = 1, .nweight = 4, .ninput = 2,
			.controls = seed % 4 != 0, .permutes = seed % 3 != 0, .swaps = seed % 2, .wide = true, .only_z = true, .no_probs = seed % 5 != 0, .nz = 2 + seed };
		struct job j = job_of(&r, 2);
		struct outcome got = outcome_new(j.p, 2), again = outcome_new(j.p, 2);

		ran = run(&j, &ref, 2, &j.want);
		for (unsigned plan = 0; plan < 4 && ran; plan++) {
			struct evaluator_options o = { .method = METHOD_STATEVECTOR,
				.nthread = 1 + plan % 3,
				.gradient = GRADIENT_ADJOINT,
				.target = target,
				.precision = precision,
				.random_plan = plan,
				.shape = plan & 1 ? SHAPE_PER_THREAD : SHAPE_SHARED,
				.no_fuse = seed % 2 };

			ran = run(&j, &o, 2, &got);
			o.nthread = 4;
			ran = ran && run(&j, &o, 2, &again) && !memcmp(got.readout, again.readout, 2 * j.p->nreadout * sizeof(double))
				&& !memcmp(got.gradient, again.gradient, j.p->nweight * sizeof(double));
			dreadout = tap_worst(dreadout,
				largest_difference(got.gradient, j.want.gradient, j.p->nweight));
			worst = tap_worst(worst, largest_difference(got.readout, j.want.readout, 2 * (size_t)j.p->nreadout));
		}
		outcome_release(&got);
		outcome_release(&again);
		job_release(&j);
	}
	tap_ok(ran && worst < most && dreadout < 100 * most,
		"%s, %s: products of Z on the way are off by %.2g, their gradients by %.2g, with the same bits for any number of threads",
		target->kernels, precision == PRECISION_DOUBLE ? "double" : "single", worst,
		dreadout);
}

/* A layer of rotations and a ring of cx: in plans with small blocks the last ones have their control outside. */
static struct program *entangling_layers(unsigned n, unsigned nlayer, unsigned nreadout)
{
	struct build b = build_new(n, 0, 1);
	uint32_t x = build_gate(&b, GATE_PAULI, 1, NULL);

	build_wires(&b, 0, n);
	for (unsigned layer = 0; layer < nlayer; layer++) {
		for (uint32_t w = 0; w < n; w++)
			build_apply(&b, 0, build_gate(&b, GATE_RPAULI, 2 - layer % 2, (uint32_t[]){ build_weight(&b, w) }), 1, (uint32_t[]){ w });
		for (uint32_t w = 0; w < n; w++)
			build_controlled(&b, 0, x, 1, 2, (uint32_t[]){ w, (w + 1) % n })->control_ones = w % 3 != 0;
	}
	for (uint32_t w = 0; w < nreadout; w++)
		build_z(&b, 0, w);
	return build_done(&b);
}

static void test_ring(unsigned n, enum precision precision, double most)
{
	struct job j = { .p = entangling_layers(n, 1, n) };
	struct outcome got = outcome_new(j.p, 1);
	struct evaluator_options ref = {
		.method = METHOD_STATEVECTOR, .target = &target_ref, .nthread = 1
	};
	double worst = 0;
	bool ran;

	j.weight = mem_alloc(j.p->nweight, sizeof(double));
	j.want = outcome_new(j.p, 1);
	random_numbers(3, 2, j.p->nweight, j.weight);
	ran = run(&j, &ref, 1, &j.want);
	for (unsigned plan = 0; plan < 12 && ran; plan++) {
		struct evaluator_options o = { .method = METHOD_STATEVECTOR,
			.nthread = 2,
			.precision = precision,
			.random_plan = plan,
			.shape = SHAPE_SHARED,
			.no_fuse = plan % 4 < 2 };

		ran = run(&j, &o, 1, &got);
		worst = tap_worst(worst, largest_difference(got.readout, j.want.readout, j.p->nreadout));
	}
	tap_ok(ran && worst < most, "a ring of %u cx, whose last ones are done on the way: readouts off by %.2g", n, worst);
	outcome_release(&got);
	job_release(&j);
}

/* A model is trained and used with the same bits; where outputs alone are wanted there may be another plan, for the same numbers. */
static void test_alone(unsigned n)
{
	struct job j = { .p = entangling_layers(n, 1, n) };
	struct outcome trained = outcome_new(j.p, 1), used = outcome_new(j.p, 1), alone = outcome_new(j.p, 1);
	struct evaluator_options o = {
		.method = METHOD_STATEVECTOR, .nthread = 2, .gradient = GRADIENT_ADJOINT
	};
	size_t nbyte = j.p->nreadout * sizeof(double);
	bool ran;

	j.weight = mem_alloc(j.p->nweight, sizeof(double));
	random_numbers(3, 2, j.p->nweight, j.weight);
	ran = run(&j, &o, 1, &trained);
	o.gradient = GRADIENT_NONE;
	ran = ran && run(&j, &o, 1, &used);
	o.outputs_alone = true;
	ran = ran && run(&j, &o, 1, &alone);
	tap_ok(ran && !memcmp(trained.readout, used.readout, nbyte), "%u qubits: the same bits with gradients and without", n);
	tap_ok(ran && memcmp(alone.readout, used.readout, nbyte) && largest_difference(alone.readout, used.readout, j.p->nreadout) < 1e-5,
		"and planned for outputs alone, the same numbers");
	outcome_release(&trained);
	outcome_release(&used);
	outcome_release(&alone);
	free(j.weight);
	program_free(j.p);
}

/* The backward pass that begins in forward's blocks: gradients are those of ref, readouts the bits of the forward pass alone. */
static void test_fused_last(unsigned n, enum shape shape, enum isa isa)
{
	enum { SAMPLES = 3 };
	struct job j = { .p = entangling_layers(n, 4, 1) };
	struct plan_options po = { .precision = PRECISION_DOUBLE, .target = cpu_target(isa), .shape = shape };
	struct evaluator_options ref = { .method = METHOD_STATEVECTOR,
		.target = &target_ref,
		.nthread = 1,
		.gradient = GRADIENT_ADJOINT };
	struct evaluator_options o = { .method = METHOD_STATEVECTOR,
		.nthread = 2,
		.gradient = GRADIENT_ADJOINT,
		.target = cpu_target(isa),
		.shape = shape,
		.precision = PRECISION_DOUBLE };
	struct outcome turned = outcome_new(j.p, SAMPLES), forward = outcome_new(j.p, SAMPLES);
	struct err e = { 0, "" };
	struct plan *pl = plan_new(j.p, &po, &e);
	bool ran, turns = pl && plan_fuses_last(pl, pl->circuit);
	double worst, moved = 0, nontemporal;

	j.weight = mem_alloc(j.p->nweight, sizeof(double));
	j.want = outcome_new(j.p, SAMPLES);
	random_numbers(5, 2, j.p->nweight, j.weight);
	ran = run(&j, &ref, SAMPLES, &j.want) && run(&j, &o, SAMPLES, &turned);
	o.gradient = GRADIENT_NONE;
	ran = ran && run(&j, &o, SAMPLES, &forward);
	worst = largest_difference(turned.gradient, j.want.gradient, j.p->nweight);
	tap_ok(ran && turns && worst < 1e-12,
		"%s, %u qubits: the backward pass begins in the forward pass, gradients off by %.2g",
		cpu_target(isa)->kernels, n, worst);
	tap_ok(ran && !memcmp(turned.readout, forward.readout, SAMPLES * sizeof(double)), "and readouts are those without it");
	if (turns)
		moved = plan_moved_back(pl, pl->circuit,
			&pl->circuit->stage[pl->circuit->nstage - 1], &nontemporal);
	tap_ok(moved == ldexp(1, (int)n), "the last stage puts back both states, and forward is spared one: %g amplitudes", moved);
	plan_free(pl);
	outcome_release(&turned);
	outcome_release(&forward);
	job_release(&j);
}

static void add_bits(uint64_t *digest, size_t n, const double *x)
{
	uint64_t bits;

	for (size_t k = 0; k < n; k++) {
		memcpy(&bits, &x[k], sizeof bits);
		*digest = (*digest ^ bits) * 0x100000001b3;
	}
}

/* Readouts and gradients of the set that fuses nothing have these bits on every processor. */
static void test_baseline_bits(enum precision precision, uint64_t want)
{
	const struct evaluator_options o = { .method = METHOD_STATEVECTOR,
		.nthread = 1,
		.gradient = GRADIENT_ADJOINT,
		.target = cpu_target(ISA_BASELINE),
		.precision = precision };
	uint64_t digest = 0;

	for (unsigned seed = 1; seed <= 7; seed++) {
		struct random_shape r = shape_of(seed, 5);

		r.ngate = GATE_FSIM; /* further gates would make other circuits */
		struct job j = job_of(&r, NSAMPLE);

		if (!run(&j, &o, NSAMPLE, &j.want))
			tap_bail("the baseline does not run");
		add_bits(&digest, (size_t)NSAMPLE * j.p->nreadout, j.want.readout);
		add_bits(&digest, j.p->nweight, j.want.gradient);
		job_release(&j);
	}
	tap_ok(digest == want, "baseline, %s: results have the bits of every processor: %016" PRIx64,
		precision == PRECISION_DOUBLE ? "double" : "single", digest);
}

/* Whatever flags the whole program was compiled with. */
static void test_vectors(enum isa isa, enum precision precision)
{
	const struct kernels *k = kernels_find(isa, precision);

	tap_ok(k->isa == isa && k->lanes == target_lanes(cpu_target(isa), precision),
		"%s: %u numbers in a vector of the kernels, as planned", cpu_target(isa)->kernels,
		k->lanes);
}

/* Rows that go by non-temporal stores are where the others are, with any lanes exchanged; those that are left out are as they were. */
static void test_nontemporal(enum isa isa, enum precision precision)
{
	enum { BITS = 6, ROWS = 1 << BITS };
	const struct kernels *k = kernels_find(isa, precision);
	size_t nbyte = (size_t)ROWS * 2 * k->lanes * k->real_bytes;
	char *block = aligned_alloc(64, nbyte), *want = aligned_alloc(64, nbyte), *got = aligned_alloc(64, nbyte);
	uint32_t row[ROWS];
	bool same = true, left = true;

	if (!block || !want || !got)
		tap_bail("no memory");
	for (size_t r = 0; r < ROWS; r++) {
		row[r] = (uint32_t)(r ^ 5);
		for (unsigned lane = 0; lane < k->lanes; lane++)
			k->put(block, r, lane, (double)(r * k->lanes + lane), -(double)lane);
	}
	for (unsigned lanes = 0; lanes < k->lanes; lanes++) {
		struct kernel_rows r = { .nbit = BITS, .row = row, .swap = { lanes, { 5, 1, 3, 2 } } };

		k->scatter(block, want, 0, &r);
		r.absent = 0x29;
		memset(got, 1, nbyte);
		k->scatter(block, got, 0, &r);
		same = same && !memcmp(want, got, nbyte);
		r.unset = 0x11;          /* bits that no lane changes places with */
		for (unsigned nontemporal = 0; nontemporal < 3; nontemporal++) {
			r.absent = nontemporal == 1 ? 0x29 : nontemporal == 2 ? ROWS : 0;
			r.above = nontemporal == 2 ? ROWS : 0;
			memset(got, 1, nbyte);
			k->scatter(block, got, 0, &r);
			for (size_t n = 0; n < ROWS; n++) {
				const char *at = got + row[n] * (nbyte / ROWS), *to = want + row[n] * (nbyte / ROWS);

				left = left && (n & r.unset ? at[0] == 1 && !memcmp(at, at + 1, nbyte / ROWS - 1) : !memcmp(at, to, nbyte / ROWS));
			}
		}
	}
	tap_ok(left, "%s, %s: rows that are left out", cpu_target(isa)->kernels,
		precision == PRECISION_DOUBLE ? "double" : "single");
	tap_ok(same, "%s, %s: rows written by non-temporal stores", cpu_target(isa)->kernels,
		precision == PRECISION_DOUBLE ? "double" : "single");
	free(block);
	free(want);
	free(got);
}

enum { FINISH_BITS = 6, FINISH_ROWS = 1 << FINISH_BITS, FINISH_SIGNS = 3 };

/* Sums of the lanes' squares by three signs: tiles and rows in another order, and two outer bits that are 1. */
struct finish_case {
	struct kernel_rows rows;
	size_t sign[FINISH_SIGNS];
	uint32_t row[FINISH_ROWS], place[FINISH_ROWS];
};

static struct finish_case *finish_case(void)
{
	struct finish_case *c = mem_alloc(1, sizeof *c);

	for (uint32_t k = 0; k < FINISH_ROWS; k++) {
		c->row[k] = k ^ 5;
		c->place[k] = (k & 15) ^ (k & 1) << 2 ^ (k >> 5 & 1) ^ (k >> 4 & 1) << 5 ^ (k >> 5 & 1) << 4;
	}
	c->rows = (struct kernel_rows){ .nbit = FINISH_BITS, .row = c->row, .place = c->place, .flip = 0x13 };
	c->sign[1] = 0x2b;
	c->sign[2] = 0x30;
	return c;
}

/* Put back with sums is what the two are one after the other. */
static void test_finish(enum isa isa, enum precision precision)
{
	const struct kernels *k = kernels_find(isa, precision);
	size_t n = (size_t)k->lanes * FINISH_ROWS * 2, nbyte = n * k->real_bytes, nsum = (size_t)FINISH_SIGNS * k->lanes;
	char *block = aligned_alloc(64, nbyte), *part = aligned_alloc(64, nbyte), *want = aligned_alloc(64, nbyte), *got = aligned_alloc(64, nbyte);
	double *number = mem_alloc(2 * n, sizeof *number), sum[FINISH_SIGNS * KERNEL_LANES_MAX],
	       worst = 0;
	_Alignas(64) char out[sizeof sum];
	struct finish_case *c = finish_case();

	if (!block || !part || !want || !got)
		tap_bail("no memory");
	random_numbers(7, 1, (uint32_t)n, number);
	k->store(block, number, n);
	for (unsigned lanes = 0; lanes < k->lanes; lanes++)
		for (unsigned nontemporal = 0; nontemporal < 3; nontemporal++) {
			struct kernel_sums sums = { .nz = FINISH_SIGNS,
				.sign_row = c->sign,
				.first = FINISH_ROWS,
				.out = out };

			c->rows.swap = (struct kernel_swap){ lanes, { 3, 1, 0, 2 } };
			c->rows.absent = 0;
			memcpy(part, block, nbyte);
			memset(sum, 0, sizeof sum);
			k->expect_products(part, FINISH_ROWS, 2 * FINISH_ROWS, NULL, c->sign,
				FINISH_SIGNS, sum);
			k->scatter(part, want, 0, &c->rows);
			c->rows.absent = nontemporal ? 0x52 : 0;
			c->rows.above = nontemporal == 2 ? 0x40 : 0;
			memcpy(part, block, nbyte);
			memset(out, 0, sizeof out);
			k->finish(part, got, 0, &c->rows, &sums);
			c->rows.above = 0;
			k->fetch(number, want, n);
			k->fetch(number + n, got, n);
			worst = tap_worst(worst, largest_difference(number, number + n, n));
			k->fetch(number, out, nsum);
			worst = tap_worst(worst, largest_difference(number, sum, nsum) / FINISH_ROWS);
		}
	tap_ok(worst < (precision == PRECISION_DOUBLE ? 1e-13 : 1e-4),
		"%s, %s: the last step, sums and the backward pass in one are off by %.2g",
		cpu_target(isa)->kernels, precision == PRECISION_DOUBLE ? "double" : "single", worst);
	free(c);
	free(number);
	free(block);
	free(part);
	free(want);
	free(got);
}

/* ---- threads ---- */

static void test_threads(enum shape shape, enum precision precision, unsigned nwire,
	const struct target *target)
{
	static const char *const name[] = { "", "samples in lanes", "one state a thread", "one state, all threads" };
	struct job j = job_new(9, nwire, MANY);
	struct outcome got = outcome_new(j.p, MANY);
	struct evaluator_options o = { .method = METHOD_STATEVECTOR,
		.nthread = 1,
		.gradient = GRADIENT_ADJOINT,
		.precision = precision,
		.shape = shape,
		.target = target,
		.threads_always = true }; /* small as they are */
	uint32_t nsample = shape == SHAPE_SHARED ? 2 : MANY;
	bool ran = run(&j, &o, nsample, &j.want);

	for (o.nthread = 2; o.nthread <= 4; o.nthread++) {
		ran = ran && run(&j, &o, nsample, &got);
		tap_ok(ran
				&& !memcmp(got.readout, j.want.readout,
					nsample * j.p->nreadout * sizeof(double))
				&& !memcmp(got.gradient, j.want.gradient,
					j.p->nweight * sizeof(double)),
			"%s, %s, %s: the same bits for %u threads", target->kernels, name[shape],
			precision == PRECISION_DOUBLE ? "double" : "single", o.nthread);
	}
	outcome_release(&got);
	job_release(&j);
}

/* ---- sums ---- */

enum { SUM_ROWS = 4096, SUM_HALF = SUM_ROWS / 2, SUM_SMALL = 512 };

/* A state whose squares add up to 1 in each lane, but for 1e8 in its first row, and in the first of its second
 * half: far apart, so that blocks of rows are added in double.  psi is i lam, the other sign in the second half. */
static void fill_sum(const struct kernels *k, void *psi, void *lam)
{
	double small = sqrt(1.0 / (SUM_HALF - SUM_SMALL));

	k->zero(psi, 0, SUM_ROWS);
	k->zero(lam, 0, SUM_ROWS);
	for (size_t row = 0; row < SUM_ROWS; row++) {
		double x = row % SUM_HALF == 0 ? 1e4 : row >= SUM_SMALL && row < SUM_HALF ? small : 0;

		for (unsigned lane = 0; lane < k->lanes; lane++) {
			k->put(psi, row, lane, 0, x);
			k->put(lam, row, lane, row < SUM_HALF ? x : -x, 0);
		}
	}
}

static void test_cancellation(enum isa isa, enum precision precision)
{
	const struct kernels *k = kernels_find(isa, precision);
	size_t nbyte = (size_t)SUM_ROWS * 2 * k->lanes * k->real_bytes, sign[3] = { SUM_HALF, SUM_HALF, SUM_HALF };
	void *psi = aligned_alloc(64, nbyte), *lam = aligned_alloc(64, nbyte);
	const struct kernel_term term = { .sign_row = SUM_HALF };
	/* The identity on row bit 1, whose rows 0 and 1 hold the large ones. */
	const struct kernel_step step = { .ntarget = 1, .nfixed = 1, .fixed = { 1 }, .target = { 0, 2 } };
	double one[KERNEL_LANES_MAX] = { 0 }, z[3 * KERNEL_LANES_MAX] = { 0 }, anti_hermitian[4] = { 0 }, alone[4] = { 0 }, r[8] = { 0 }, unit[8] = { 1, 0, 0, 0, 0, 0, 1, 0 }, u[8];
	double worst = 0;

	if (!psi || !lam)
		tap_bail("no memory");
	fill_sum(k, psi, lam);
	k->expect(psi, 0, SUM_ROWS, &term, one);
	k->expect_products(psi, 0, SUM_ROWS, NULL, sign, 3, z);
	k->store(u, unit, 8);
	k->anti_hermitian(psi, lam, 12, &step, alone, false);
	k->transition(psi, lam, 12, &step, r, false);
	k->unapply(psi, lam, 12, &step, u, anti_hermitian, false, NULL);
	for (unsigned lane = 0; lane < k->lanes; lane++) {
		worst = tap_worst(worst, fabs(one[lane] - 1));
		worst = tap_worst(worst, fabs(z[2 * k->lanes + lane] - 1));
	}
	worst = tap_worst(worst, fabs((anti_hermitian[0] + anti_hermitian[3]) / k->lanes - 1));
	worst = tap_worst(worst, fabs((alone[0] + alone[3]) / k->lanes - 1));
	worst = tap_worst(worst, fabs((r[1] + r[7]) / k->lanes - 1));
	tap_ok(worst < 1e-6, "%s, %s: 1e8 that cancels leaves sums of 1 off by %.2g",
		cpu_target(isa)->kernels, precision == PRECISION_DOUBLE ? "double" : "single", worst);
	free(psi);
	free(lam);
}

/* ---- what gradients need of reduced transition matrices ---- */

/* Memory comes filled with huge numbers: what a kernel reads must have been written. */
static void fill_memory(void)
{
#ifdef M_PERTURB
	mallopt(M_PERTURB, 0x80);
#endif
}

/* Everything that each target can do. */
static void test_target(const struct target *t, enum precision precision)
{
	test_near(t, precision);
	for (unsigned n = 1; n <= 14; n++)
		test_size(n, t, precision);
	test_threads(SHAPE_BATCHED, precision, 6, t);
	test_threads(SHAPE_PER_THREAD, precision, 6, t);
	test_threads(SHAPE_SHARED, precision, 14, t);
}

int main(void)
{
	const struct target *t;

	fill_memory();
	test_kernel_sets();
	for (unsigned k = 0; (t = tested_target(k)); k++) {
		if (target_can(t, TARGET_SINGLE))
			test_target(t, PRECISION_SINGLE);
		test_target(t, PRECISION_DOUBLE);
	}
	tap_ok(interpreter_blocks > 0, "%lu blocks were interpreted", interpreter_blocks);
	for (int isa = ISA_BASELINE; isa <= (int)isa_best(); isa++) {
		if (isa_obstacle((enum isa)isa))
			continue;
		test_vectors((enum isa)isa, PRECISION_SINGLE);
		test_vectors((enum isa)isa, PRECISION_DOUBLE);
		test_cancellation((enum isa)isa, PRECISION_SINGLE);
		test_cancellation((enum isa)isa, PRECISION_DOUBLE);
		test_nontemporal((enum isa)isa, PRECISION_SINGLE);
		test_nontemporal((enum isa)isa, PRECISION_DOUBLE);
		test_finish((enum isa)isa, PRECISION_SINGLE);
		test_finish((enum isa)isa, PRECISION_DOUBLE);
		test_fused_last(16, SHAPE_PER_THREAD, (enum isa)isa);
		test_fused_last(16, SHAPE_SHARED, (enum isa)isa);
	}
	test_baseline_bits(PRECISION_SINGLE, 0xe22d3b76286d9929);
	test_baseline_bits(PRECISION_DOUBLE, 0x7289692b7c0299c0);
	test_alone(18);
	test_alone(20);
	test_ring(11, PRECISION_DOUBLE, 1e-12);
	test_ring(14, PRECISION_DOUBLE, 1e-12);
	test_ring(14, PRECISION_SINGLE, 1e-5);
	test_blocks(3, false);
	test_blocks(9, false);
	test_blocks(30, true);
	return tap_done();
}
