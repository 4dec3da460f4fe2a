/* SPDX-License-Identifier: Apache-2.0
 * States that are split over ranks: random programs against the reference, and the same bits for any number of processes
 * that hold the parts. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/system/inflate.h"
#include "runtime/exec/statevector/cpu/cpu_target.h"
#include "runtime/exec/statevector/plan/plan_stage.h"
#include "runtime/exec/statevector/split/split_group.h"
#include "runtime/exec/statevector/statevector.h"
#include "tests/kernels/build.h"
#include "tests/kernels/random_program.h"
#include "tests/net/meet.h"

enum {
	SEEDS = 18,
	SEEDS_TOGETHER = 10,
	OPTIMISED = 110,       /* every fifth seed up to the last: with exact optimisations */
	OPTIMISED_SMALL = 120, /* from here on with few operations */
	OPTIMISED_LAST = 125,
	ROWS = 2, /* of which the samples of these are copies */
	RANK_BITS_MAX = 4
};

/* On a device that takes long: what several processes have compared with the reference is not compared again. */
static bool few;
static unsigned optimised_first = OPTIMISED;

/* What one process alone gave for a program: of all processes that follow. */
struct alone {
	bool there;
	uint32_t digest;
};
static struct alone (*alone)[OPTIMISED_LAST + 1]; /* (RANK_BITS_MAX + 1), by bits of ranks and seed */

struct job {
	struct program *p;
	uint32_t nsample;
	double *weight, *input;
	struct outcome want;
};

static uint32_t digest_of(const struct job *j, const struct outcome *o)
{
	uint32_t d = crc32_more(0, o->readout, (size_t)j->nsample * j->p->nreadout * sizeof(double));

	return crc32_more(d, o->gradient, j->p->nweight * sizeof(double));
}

/* A few more than ranks need; in a soak up to 20. */
static unsigned wires_of(unsigned seed, unsigned rank_bits)
{
	unsigned fewest = PLAN_SPLIT_LOCAL_MIN + rank_bits;

	return fewest + seed % (getenv("QCNN_RANKS") ? 21 - fewest : 4);
}

/* Every kind of step, input and output, from a seed. From OPTIMISED on outputs are of few qubits, and the encoding is not trained.
 * by_ref: with what the reference makes of it. */
static struct job job_new(unsigned seed, unsigned nwire, bool by_ref)
{
	bool optimised = seed >= OPTIMISED;
	struct random_shape r = { .seed = seed,
		.nwire = nwire,
		.napply = 12 + seed % 40,
		.ncircuit = 1 + (seed % 5 == 0),
		.nweight = 5,
		.ninput = 3,
		.sample_matrices = !optimised && seed % 2,
		.controls = !optimised && seed % 3 != 0,
		.vectors = optimised ? seed % 2 : seed % 4 == 0,
		.swaps = seed % 5 == 1,
		.wide = !optimised && seed % 2 == 0,
		.frozen = seed % 6 == 0,
		.nseen = optimised ? 2 + seed % 2 : 0,
		.diagonals = !optimised && seed % 4 > 1,
		.permutes = !optimised && seed % 7 == 3,
		.nz = seed % 3 == 0     ? 0
			: seed % 3 == 1 ? 150
					: 5,
		.only_z = seed % 8 == 1,
		.nsame = !optimised && seed % 8 != 1 && seed % 5 == 2 ? 60 : 0,
		.nlong = optimised || seed % 8 == 1 || seed % 2 ? 0 : 1 + seed % 5 };
	struct evaluator_options ref = {
		.target = &target_ref, .nthread = 1, .gradient = GRADIENT_ADJOINT
	};
	struct job j = { .p = random_program(&r), .nsample = optimised ? 2 * ROWS : 2 };
	struct err e = { 0, "" };

	j.weight = mem_alloc(j.p->nweight, sizeof(double));
	j.input = mem_alloc((size_t)j.p->ninput * j.nsample, sizeof(double));
	random_numbers(seed, 2, j.p->nweight, j.weight);
	random_numbers(seed + 100, 2, (size_t)j.p->ninput * j.nsample, j.input);
	if (optimised)
		memcpy(j.input + (size_t)j.p->ninput * ROWS, j.input,
			(size_t)j.p->ninput * ROWS * sizeof(double));
	j.want = outcome_new(j.p, j.nsample);
	if (by_ref && outcome_of(j.p, &ref, j.nsample, j.weight, j.input, &j.want, &e))
		tap_bail("ref does not run: %s", e.text);
	return j;
}

static void job_release(struct job *j)
{
	outcome_release(&j->want);
	free(j->weight);
	free(j->input);
	program_free(j->p);
}

static double most_of(enum precision precision)
{
	return precision == PRECISION_DOUBLE ? 1e-12 : 1e-5;
}

/* How far it is from the reference. */
static struct apart apart_of(const struct job *j, const struct outcome *got)
{
	return (struct apart){
		largest_difference(got->readout, j->want.readout, (size_t)j->nsample * j->p->nreadout),
		largest_difference(got->gradient, j->want.gradient, j->p->nweight),
	};
}

/* How many of the runs took an exact optimisation, or read a product with x or y on more qubits
 * than a part has. */
struct taken {
	unsigned tails, bases, wide;
};

static bool reads_wide(const struct plan *pl)
{
	for (uint32_t c = 0; c < pl->ncircuit; c++)
		for (uint32_t n = 0; n < pl->circuit[c].nsegment; n++)
			if (pl->circuit[c].segment[n].flip)
				return true;
	return false;
}

static void take(struct taken *t, const struct job *j, const struct evaluator_options *o,
	const struct outcome *got)
{
	struct plan *pl = statevector_plan_new(j->p, o, NULL);

	t->tails += plan_tail_qubits(pl) > 0;
	t->bases += got->nstate < j->nsample;
	t->wide += reads_wide(pl);
	plan_free(pl);
}

/* The numbers of the seeds, one after the other; 0: no more. */
static unsigned next_seed(unsigned seed, unsigned usual)
{
	return seed == usual            ? optimised_first
		: seed < usual          ? seed + 1
		: seed < OPTIMISED_LAST ? seed + 5
					: 0;
}

static void use_optimisations(unsigned seed, struct evaluator_options *o)
{
	if (seed < OPTIMISED)
		return;
	o->no_fuse = false;
	o->gradient = GRADIENT_ADJOINT;
	o->shots = 0;
	o->optimisations = OPTIMISATION_HEISENBERG_TAIL | OPTIMISATION_BATCH_RANK;
	o->optimisations_always = true;
}

/* Of a program that several processes evaluate. With shots it is not compared with the reference. */
static enum precision precision_together(unsigned seed)
{
	return seed % 2 ? PRECISION_SINGLE : PRECISION_DOUBLE;
}
static bool has_shots(unsigned seed) { return seed < OPTIMISED && seed % 9 == 5; }

static void test_against_ref(uint32_t split, unsigned rank_bits, const struct target *target,
	enum precision precision, unsigned nseed)
{
	double readout = 0, gradient = 0, most = most_of(precision);
	struct taken taken = { 0 };
	bool ran = true, optimised = target_can(target, TARGET_SPLIT_OPTIMISED);

	for (unsigned seed = 1; seed && ran; seed = next_seed(seed, nseed)) {
		if (few && !has_shots(seed) && precision == precision_together(seed))
			continue;
		struct job j = job_new(seed, wires_of(seed, rank_bits), true);
		struct outcome got = outcome_new(j.p, j.nsample);
		struct err e = { 0, "" };
		struct evaluator_options o = { .nthread = 1 + seed % 2,
			.gradient = GRADIENT_ADJOINT,
			.target = target,
			.precision = precision,
			.split = split,
			.random_plan = seed % 3,
			.no_fuse = seed % 4 == 3 };

		use_optimisations(seed, &o);
		if (outcome_of(j.p, &o, j.nsample, j.weight, j.input, &got, &e)) {
			tap_note("seed %u: %s", seed, e.text);
			ran = false;
		}
		take(&taken, &j, &o, &got);
		struct apart apart = apart_of(&j, &got);
		if (!(apart.readouts < most && apart.gradients < 100 * most))
			tap_note("seed %u: %g %g", seed, apart.readouts, apart.gradients);
		readout = tap_worst(readout, apart.readouts);
		gradient = tap_worst(gradient, apart.gradients);
		outcome_release(&got);
		job_release(&j);
	}
	tap_ok(ran && (few || taken.wide >= nseed / 4) /* else the leader of processes looks */
			&& (optimised ? taken.tails && taken.bases : !taken.tails && !taken.bases)
			&& readout < most && gradient < 100 * most,
		"%u ranks, %s, %s, %u tails, %u bases, %u wide products: readouts off by %.2g, gradients by %.2g",
		split, target->kernels, precision == PRECISION_DOUBLE ? "double" : "single",
		taken.tails, taken.bases, taken.wide, readout, gradient);
}

/* Rotations of all wires, then of the first four alone, controlled by the others, and products
 * of which no x or y is on these. */
static struct program *rank_products(unsigned nwire)
{
	static const uint8_t letters[][7] = { "xxxxx", "yxzxyy", "yyyyyy" };
	struct build b = build_new(3, 1, 1);
	uint32_t angle[] = { build_weight(&b, 0), build_weight(&b, 1), build_weight(&b, 2) };

	build_wires(&b, 0, nwire);
	for (unsigned n = 0; n < nwire + 12; n++) {
		bool all = n < nwire;
		uint32_t m = build_gate(&b, GATE_RPAULI, 1 + n % 2, &angle[n % 3]);
		uint32_t wire[2] = { all ? n : nwire - 6 + n % 6, all ? (n + 1) % nwire : n % 4 };

		if (all)
			build_apply(&b, 0, m, 1, wire);
		build_controlled(&b, 0, m, 1, 2, wire);
	}
	for (unsigned t = 0; t < 3; t++) {
		struct pauli_factor factor[6];
		struct pauli_term term = { .coefficient = 1, .factor = factor };

		for (unsigned k = 0; k < 6 && letters[t][k]; k++)
			factor[term.nfactor++] = (struct pauli_factor){ nwire - 6 + k,
				(uint8_t)(letters[t][k] - 'x' + 1) };
		build_pauli(&b, 0, 1, &term);
	}
	return build_done(&b);
}

/* Where a product has no x or y on a part's qubits, a rank bit of it becomes local first. */
static void test_rank_bits_alone(const struct target *target, enum precision precision)
{
	struct program *p = rank_products(PLAN_SPLIT_LOCAL_MIN + 6);
	struct evaluator_options ref = { .target = &target_ref,
		.nthread = 1,
		.gradient = GRADIENT_ADJOINT },
				 o = ref;
	struct err e = { 0, "" };
	struct apart apart;
	struct plan *pl;
	const struct plan_circuit *c;
	double most = most_of(precision);
	unsigned n = 0;

	o.target = target;
	o.precision = precision;
	o.split = 64;
	pl = statevector_plan_new(p, &o, &e);
	c = pl->circuit;
	for (uint32_t k = plan_segment_of(c, c->nstage) + 1; k < c->nsegment; k++)
		n += c->segment[k].nswap == 1 && k + 1 < c->nsegment && c->segment[k + 1].flip;
	apart = outcomes_apart(p, &ref, &o, 2, 5, &e);
	tap_ok(n && apart.readouts < most && apart.gradients < 100 * most,
		"%s, %s: products on rank bits alone: %u of them become local; readouts off by %.2g, gradients by %.2g %s",
		target->kernels, precision == PRECISION_DOUBLE ? "double" : "single", n,
		apart.readouts, apart.gradients, e.text);
	plan_free(pl);
	program_free(p);
}

/* ---- several processes ---- */

static const struct group_options usual = { .key = { 1, 2, 3 }, .encrypt = true, .deadline_ms = 60000 };

/* Did each rank send as many bytes as planned for each sample, forward and in the backward pass? Circuits that share the memory of a
 * state run forward again, and fewer ranks than planned send other bytes: not counted. */
static bool sent_as_planned(const struct job *j, const struct evaluator_options *o,
	const struct comm *c, uint64_t bytes)
{
	struct plan *pl = statevector_plan_new(j->p, o, NULL);
	uint32_t n;
	double want = j->nsample
		* (plan_exchanges(pl, false, &n).bytes + plan_exchanges(pl, true, &n).bytes);
	bool same = (double)bytes == want || pl->ncircuit > 1 || c->size < o->split
		|| o->gradient != GRADIENT_ADJOINT;

	if (!same)
		tap_note("%u ranks sent %llu bytes, planned %.0f", c->size,
			(unsigned long long)bytes, want);
	plan_free(pl);
	return same;
}

/* The digest that one process has of the job, which is compared with the reference where that was not done before. */
static int evaluate_alone(struct job *j, unsigned seed, unsigned rank_bits,
	const struct evaluator_options *o, uint32_t *digest, bool *same, struct err *e)
{
	struct alone *a = &alone[rank_bits][seed];
	struct outcome got = outcome_new(j->p, j->nsample);
	int code = a->there ? 0 : outcome_of(j->p, o, j->nsample, j->weight, j->input, &got, e);

	if (!code && !a->there) {
		struct apart apart = has_shots(seed) ? (struct apart){ 0 } : apart_of(j, &got);
		double most = most_of(o->precision);

		if (!(apart.readouts < most && apart.gradients < 100 * most)) {
			tap_note("seed %u alone: %g %g", seed, apart.readouts, apart.gradients);
			*same = false;
		}
		*a = (struct alone){ true, digest_of(j, &got) };
	}
	*digest = a->digest;
	outcome_release(&got);
	return code;
}

/* Rank 0 evaluates all programs with the others' help, by nthread threads, and alone by one; false where a bit differs. */
static bool lead(struct comm *c, uint32_t split, const struct target *target, unsigned nthread)
{
	struct split_rank r = {
		.rank = 0, .nrank = c->size, .one_host = true, .comm = c, .turn = PTHREAD_MUTEX_INITIALIZER
	};
	bool by_nccl = getenv("EMU_NCCL");
	unsigned bits = (unsigned)__builtin_ctz(split);
	struct taken taken = { 0 };
	bool same = true;

	for (unsigned seed = 1; seed; seed = next_seed(seed, SEEDS_TOGETHER)) {
		struct job j = job_new(seed, wires_of(seed, bits), !alone[bits][seed].there);
		struct outcome got = outcome_new(j.p, j.nsample);
		struct err e = { 0, "" };
		struct evaluator_options o = { .nthread = 1,
			.gradient = has_shots(seed) ? GRADIENT_SHIFT : GRADIENT_ADJOINT,
			.precision = precision_together(seed),
			.target = target,
			.split = split,
			.random_plan = seed % 3,
			.no_fuse = seed % 4 == 3,
			.shots = has_shots(seed) ? 50 : 0 };
		int code = 0;
		uint64_t sent = c->statistics.sent_bytes;
		uint32_t want = 0;

		use_optimisations(seed, &o);
		code = evaluate_alone(&j, seed, bits, &o, &want, &same, &e);
		o.rank = &r;
		o.nthread = nthread;
		code = code ? code : outcome_of(j.p, &o, j.nsample, j.weight, j.input, &got, &e);
		if (code || digest_of(&j, &got) != want) {
			tap_note("%u processes, seed %u: other bits %s", c->size, seed, e.text);
			same = false;
		}
		same = (got.nstate < j.nsample
			       || sent_as_planned(&j, &o, c, c->statistics.sent_bytes - sent))
			&& same;
		take(&taken, &j, &o, &got);
		outcome_release(&got);
		job_release(&j);
	}
	split_end(&r);
	if (by_nccl != !strncmp(r.way, "NCCL", 4)) {
		tap_note("GPUs exchange by %s", r.way);
		same = false;
	}
	return same && taken.wide >= SEEDS_TOGETHER / 4
		&& target_can(target, TARGET_SPLIT_OPTIMISED) == (taken.tails && taken.bases);
}

/* In processes of their own, that the leader's threads are not lost by a fork. overlap: threads of each that compute while they
 * exchange, for states of any size; 0: one, which does not. */
static void test_same_bits(unsigned size, uint32_t split, const char *transport,
	const struct target *target, unsigned overlap)
{
	struct meeting m = meeting_new(size);
	pid_t child[RANKS_MAX];
	bool ok = true;

	fflush(stdout);
	for (unsigned r = 0; r < size; r++) {
		struct err e = { 0, "" };
		struct comm *c;
		bool good;

		child[r] = fork();
		if (child[r])
			continue;
		if (meet(&m, r, size, transport, &usual, &c, &e))
			_exit(100);
		split_part_bytes = overlap ? 1 : SIZE_MAX;
		good = r ? !split_follow(c,
			       &(struct split_host){ .local = r, .nthread = overlap ? overlap : 1 },
			       &e)
			 : lead(c, split, target, overlap ? overlap : 1);
		if (*e.text)
			tap_note("rank %u: %s", r, e.text);
		comm_close(c);
		fflush(stdout);
		_exit(!good);
	}
	for (unsigned r = 0; r < size; r++) {
		int status;

		waitpid(child[r], &status, 0);
		ok = ok && WIFEXITED(status) && !WEXITSTATUS(status);
	}
	meeting_close(&m, size);
	tap_ok(ok,
		"%s, %s: %u processes that hold %u parts give the bits of one, and send the bytes that are planned%s",
		target->device, transport, size, split, overlap ? ", while they compute" : "");
}

/* ---- memory for a basis ---- */

enum { BASIS = 48 };

/* Of 2 * BASIS samples, the second half copies. */
static int evaluate_basis(const struct program *p, const struct evaluator_options *o,
	struct outcome *out, struct err *e)
{
	double weight[3], *input = mem_alloc(2 * BASIS, p->ninput * sizeof *input);
	size_t half = (size_t)BASIS * p->ninput;
	int code;

	random_numbers(3, 2, p->nweight, weight);
	random_numbers(4, 2, half, input);
	memcpy(input + half, input, half * sizeof *input);
	code = outcome_of(p, o, 2 * BASIS, weight, input, out, e);
	free(input);
	return code;
}

static struct program *basis_program(void)
{
	struct build b = build_new(1, 8, 1);
	uint32_t angle = build_weight(&b, 0);

	build_wires(&b, 0, 8);
	for (uint32_t w = 0; w < 8; w++) {
		uint32_t x = build_input(&b, w);

		build_apply(&b, 0, build_gate(&b, GATE_RPAULI, 1, &x), 1, &w);
	}
	for (uint32_t w = 0; w < 8; w++)
		build_apply(&b, 0, build_gate(&b, GATE_RPAULI, 2, &angle), 1, &w);
	build_z(&b, 0, 0);
	return build_done(&b);
}

/* Does the leader of two ranks use a basis if the other has enough memory, and else report why not? */
static bool reserves(struct comm *c, const struct target *target, bool enough)
{
	struct split_rank r = { .rank = 0, .nrank = 2, .comm = c, .turn = PTHREAD_MUTEX_INITIALIZER };
	struct program *p = basis_program();
	struct evaluator_options o = { .nthread = 1,
		.gradient = GRADIENT_ADJOINT,
		.target = target,
		.split = 2,
		.optimisations = OPTIMISATION_BATCH_RANK,
		.optimisations_always = true,
		.rank = &r };
	struct outcome out = outcome_new(p, 2 * BASIS);
	struct err e = { 0, "" };
	int code = evaluate_basis(p, &o, &out, &e);
	bool good = enough ? !code && out.nstate == BASIS
			   : code == -ERR_CONFIG
			&& strstr(e.text,
				"batch_rank needs 3.4 MiB for parts of 48 states side by side, "
				"3.0 MiB available: switch it off");

	if (!good)
		tap_note("%d: %u states: %s", code, out.nstate, e.text);
	split_end(&r);
	outcome_release(&out);
	program_free(p);
	return good;
}

/* Sums of overlaps take 1.3 MiB of memory, and 2.0 MiB while two ranks exchange them. */
static void test_reserved(const struct target *target, bool enough)
{
	struct evaluator_options o = {
		.nthread = 1, .gradient = GRADIENT_ADJOINT, .target = target, .split = 2
	};
	struct program *p = basis_program();
	struct plan *pl = statevector_plan_new(p, &o, NULL);
	uint64_t states = target->backend->bytes(pl, 1, true, 2);
	struct meeting m = meeting_new(2);
	pid_t child[2];
	bool ok = true;

	plan_free(pl);
	program_free(p);
	fflush(stdout);
	for (unsigned r = 0; r < 2; r++) {
		struct err e = { 0, "" };
		struct split_host host = { .local = 1,
			.nthread = 1,
			.memory_limit = states + (enough ? 4 << 20 : 3 << 20) };
		struct comm *c;
		bool good;

		child[r] = fork();
		if (child[r])
			continue;
		if (meet(&m, r, 2, "shm", &usual, &c, &e))
			_exit(100);
		good = r ? !split_follow(c, &host, &e) : reserves(c, target, enough);
		comm_close(c);
		fflush(stdout);
		_exit(!good);
	}
	for (unsigned r = 0; r < 2; r++) {
		int status;

		waitpid(child[r], &status, 0);
		ok = ok && WIFEXITED(status) && !WEXITSTATUS(status);
	}
	meeting_close(&m, 2);
	tap_ok(ok, "a rank with %s memory for a basis, with sums that it gets: %s",
		enough ? "enough" : "too little", enough ? "it is used" : "refused, with the sizes");
}

/* Plans for more ranks than can compute. */
static void test_plans_alone(void)
{
	struct random_shape shape = {
		.seed = 1, .nwire = 11, .napply = 30, .ncircuit = 1, .nweight = 1, .ninput = 1, .only_z = true
	};
	struct program *p = random_program(&shape);
	struct evaluator_options o = { .nthread = 1, .split = 2 * SPLIT_RANKS_MAX };
	struct err e = { 0, "" };
	struct plan *pl = statevector_plan_new(p, &o, &e);
	struct evaluator *ev = NULL;

	tap_ok(pl, "a plan for %u ranks%s%s", o.split, pl ? "" : ": ", e.text);
	tap_is_int(evaluator_new(p, &o, &ev, &e), -ERR_CONFIG, "which cannot compute: %s", e.text);
	plan_free(pl);
	o.split = 2 * PLAN_RANKS_MAX;
	tap_ok(!statevector_plan_new(p, &o, &e), "no plan for %u ranks: %s", o.split, e.text);
	program_free(p);
}

/* On the device that the argument names, without one on the cpu with all of its kernels. */
int main(int argc, char **argv)
{
	const struct target *target = tested_device(argc, argv);
	unsigned most = getenv("QCNN_RANKS") ? 16 : 8;

	few = argc > 1;
	/* What takes no exact optimisation evaluates those programs as others. */
	if (few && !target_can(target, TARGET_SPLIT_OPTIMISED))
		optimised_first = OPTIMISED_SMALL;
	alone = mmap(NULL, (RANK_BITS_MAX + 1) * sizeof *alone, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (alone == MAP_FAILED)
		tap_bail("no memory that processes share");

	/* Before this process has threads, which a fork loses. */
	for (size_t t = 0; group_transports[t] && !(few && t); t++) {
		if (few) /* as many GPUs as ranks, for the emulated NCCL */
			setenv("EMU_NCCL", "none", 1);
		for (unsigned size = 2; size <= most; size *= few ? 4 : 2)
			test_same_bits(size, size, group_transports[t], target, 0);
		unsetenv("EMU_NCCL");
		test_same_bits(2, 8, group_transports[t], target, 0);
		if (few)
			continue;
		test_same_bits(4, 16, group_transports[t], target, 0);
		test_same_bits(2, 2, group_transports[t], target, 1);
		test_same_bits(4, 8, group_transports[t], target, 1);
		if (!t)
			test_same_bits(2, 4, group_transports[t], target, 2);
	}
	if (!few) {
		test_reserved(target, false);
		test_reserved(target, true);
	}
	for (unsigned k = 0; (target = target_of(few ? argv[1] : "cpu", k)); k++) {
		if (target_obstacle(target)) {
			tap_skip("this machine lacks %s", target->kernels);
			continue;
		}
		for (unsigned bits = 1; bits <= 4; bits += 1 + few) {
			test_against_ref(1u << bits, bits, target, PRECISION_SINGLE, few ? 8 : SEEDS);
			test_against_ref(1u << bits, bits, target, PRECISION_DOUBLE, few ? 8 : SEEDS);
		}
		test_rank_bits_alone(target, PRECISION_SINGLE);
		test_rank_bits_alone(target, PRECISION_DOUBLE);
	}
	test_plans_alone();
	return tap_done();
}
