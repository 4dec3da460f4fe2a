/* SPDX-License-Identifier: Apache-2.0
 * What a plan says a GPU is asked for is what the emulated GPU has counted: launches, copies, waits, multiply-adds, and bytes of memory. */
#include "config.h"

#include <math.h>
#include <string.h>

#include "runtime/exec/statevector/cuda/cuda_device.h"
#include "runtime/exec/statevector/plan/plan.h"
#include "runtime/exec/statevector/statevector.h"
#include "runtime/net/scheduler/pool_threads.h"
#include "tests/compile_file.h"
#include "tests/gpu/emu/emu_totals.h"
#include "tests/kernels/random_program.h"
#include "tests/tap.h"

/* Bytes that are read besides those of the plan: sectors of matrices and vectors of which a launch needs only a part. */
static const double PARTS = 0.01;

/* Circuits of no more qubits, or with a tail, are evaluated again, by graphs. */
enum { NWIRE_AGAIN = 6 };

static unsigned optimisations; /* that are taken wherever they can */
static unsigned ntail, ndeep;  /* plans with a tail so far; whose states are normalised */

static bool has_loss; /* gradients are those of a loss with terms, 0 */

static void give(void *ctx, uint32_t sample, double *out)
{
	(void)sample;
	memset(out, 0, (LOSS_LABELS + (size_t) * (const uint32_t *)ctx) * sizeof *out);
}

static int zero(void *ctx, uint32_t sample, const double *readout, double *out, double *head)
{
	(void)sample, (void)readout, (void)head;
	memset(out, 0, *(const uint32_t *)ctx * sizeof *out);
	return 0;
}

static int dreadout(void *ctx, uint32_t sample, const double *readout, double *out, double *head)
{
	(void)sample, (void)head;
	for (uint32_t k = 0; out && k < *(const uint32_t *)ctx; k++)
		out[k] = readout[k];
	return 0;
}

static struct emu_totals since(const struct emu_totals *before)
{
	return (struct emu_totals){ emu_totals.launches - before->launches,
		emu_totals.blocks - before->blocks, emu_totals.copies - before->copies,
		emu_totals.clears - before->clears, emu_totals.waits - before->waits,
		emu_totals.calls - before->calls, emu_totals.graphs - before->graphs,
		emu_totals.nodes - before->nodes, emu_totals.copied - before->copied,
		{ emu_totals.mads[0] - before->mads[0], emu_totals.mads[1] - before->mads[1] },
		emu_totals.read - before->read, emu_totals.written - before->written };
}

static void compare(const char *name, const struct plan_device_work *w, const struct emu_totals *t)
{
	tap_ok(t->launches == w->launch && (double)t->blocks == w->blocks && t->copies == w->copy
			&& t->clears == w->clear && t->calls == w->call && t->waits == w->wait
			&& t->copied == w->copied,
		"%s: %lu launches of %lu blocks, %lu copies of %.0f bytes, %lu clears, %lu calls, %lu waits; planned %u of %.0f, %u of %.0f, %u, %u, %u",
		name, t->launches, t->blocks, t->copies, t->copied, t->clears, t->calls, t->waits,
		w->launch, w->blocks, w->copy, w->copied, w->clear, w->call, w->wait);
	tap_ok((double)t->mads[0] == w->mads[0] && (double)t->mads[1] == w->mads[1],
		"%s: %lu multiply-adds, %lu in double precision; planned %.0f, %.0f", name,
		t->mads[0], t->mads[1], w->mads[0], w->mads[1]);
	tap_ok(t->written == w->written, "%s: %.0f bytes written; planned %.0f", name, t->written,
		w->written);
	tap_ok(t->read >= w->read && t->read <= w->read * (1 + PARTS),
		"%s: %.0f bytes read; planned %.0f (%.5f)", name, t->read, w->read,
		t->read / w->read);
}

/* The same again: with other weights, where graphs are made, and with those of the first time, where they are launched again. */
static void check_graphs(const char *name, struct evaluator *ev, struct pool *pool,
	const struct plan_device_work *planned, double *weight, double *out)
{
	const struct plan *pl = statevector_plan(ev);
	uint32_t n = pl->program->nweight;
	double *first = mem_alloc(n + 1, sizeof *first), *other = mem_alloc(n + 1, sizeof *other);
	struct err e = { 0, "" };

	if (out)
		memcpy(first, out, n * sizeof *out);
	random_numbers(7, 1, n, other);
	for (unsigned again = 0; again < 2; again++) {
		struct emu_totals before, counted;

		tap_ok(!evaluator_weights(ev, again ? weight : other, &e), "%s again %s", name,
			e.text);
		before = emu_totals;
		tap_ok(!evaluator_run(ev, pool, out, &e), "%s again %s", name, e.text);
		counted = since(&before);
		compare(name, planned, &counted);
		tap_ok(counted.graphs == counted.waits
				&& counted.nodes
					== counted.launches + counted.copies + counted.clears
						+ counted.calls,
			"%s: %lu graphs of %lu nodes", name, counted.graphs, counted.nodes);
	}
	tap_ok(!out || !memcmp(first, out, n * sizeof *out), "%s: the gradient of the first time",
		name);
	free(first);
	free(other);
}

static void check(const char *name, const struct program *p, enum precision precision,
	bool gradient, uint32_t nsample)
{
	struct evaluator_options o = { .precision = precision,
		.nthread = 1,
		.target = target_find("cuda", NULL),
		.optimisations = optimisations,
		.optimisations_always = true,
		.terms = { has_loss ? LOSS_TERM_MSE : LOSS_TERM_NONE, p->nreadout, 0 },
		.gradient = gradient ? GRADIENT_ADJOINT : GRADIENT_NONE };
	struct pool *pool = pool_threads_new(1);
	double *weight = mem_alloc(p->nweight + 1, sizeof *weight),
	       *input = mem_alloc((size_t)nsample * p->ninput + 1, sizeof *input);
	double *readout = mem_alloc((size_t)nsample * p->nreadout + 1, sizeof *readout),
	       *out = mem_alloc(p->nweight + 1, sizeof *out);
	struct batch b = { .nsample = nsample, .input = input };
	char whole[200];
	struct evaluator *ev;
	struct err e = { 0, "" };

	snprintf(whole, sizeof whole, "%s, %s, %s, batch %u", name,
		precision == PRECISION_DOUBLE ? "double" : "single",
		gradient ? "gradient" : "outputs", nsample);
	random_numbers(5, 1, p->nweight, weight);
	random_numbers(6, 1, (size_t)nsample * p->ninput, input);
	if (!tap_ok(!evaluator_new(p, &o, &ev, &e) && !evaluator_weights(ev, weight, &e), "%s: %s",
		    whole, e.text))
		return;
	if (has_loss)
		evaluator_needs(ev,
			&(struct readout_gradient_needs){ LOSS_LABELS + p->nreadout, give });
	evaluator_prepare(ev, &b, gradient,
		!gradient          ? NULL
			: has_loss ? zero
				   : dreadout,
		(void *)&p->nreadout, readout);
	struct emu_totals before = emu_totals, counted;

	tap_ok(!evaluator_run(ev, pool, gradient ? out : NULL, &e), "%s %s", whole, e.text);
	counted = since(&before);
	struct plan_device_work planned = plan_device_work(statevector_plan(ev), nsample, gradient);

	ntail += plan_tail_qubits(statevector_plan(ev)) > 0;
	ndeep += plan_deep(&statevector_plan(ev)->circuit[0]);
	compare(whole, &planned, &counted);
	tap_ok(!counted.graphs, "%s: the first time without graphs", whole);
	if (program_nwire(p) <= NWIRE_AGAIN || plan_tail_qubits(statevector_plan(ev)))
		check_graphs(whole, ev, pool, &planned, weight, gradient ? out : NULL);
	evaluator_free(ev);
	pool->ops->free(pool);
	free(weight);
	free(input);
	free(readout);
	free(out);
}

/* ---- the jobs of tests/bench/gpu.md, with fewer qubits ---- */

static const char qcnn[] =
	"QCNN 1; const int n = 4; qubit[n] q; input float[n] x;\n"
	"block rotate(float[3] t) a { pow(t[0]) @ x a; pow(t[1]) @ y a; pow(t[2]) @ z a; }\n"
	"block entangle(float[15] t) a, b { rotate(t[0:2]) a; rotate(t[3:5]) b; pow(t[6]) @ zz a, b; pow(t[7]) @ yy a, b;\n"
	"  pow(t[8]) @ xx a, b; rotate(t[9:11]) a; rotate(t[12:14]) b; }\n"
	"block merge(float[6] t) source, sink { rotate(t[0:2]) sink; rotate(t[3:5]) source; cx source, sink; inv @ rotate(t[0:2]) sink;\n"
	"  discard source; }\n"
	"embed { h q; cz on cycle(q); rx(each x) on q; }\n"
	"let w = q;\n"
	"while (len(w) > 1) { int half = len(w) / 2;\n"
	"  layer conv { param float[15] t; entangle(t) on ring(w); }\n"
	"  layer pool { param float[6] t; merge(t) on zip(w[0:half-1], w[half:-1]); }\n"
	"  w = w[half:-1]; }\n"
	"observe z(w);\n";
static const char layers[] =
	"QCNN 1; const int n = 4; qubit[n] q; param float[3, n, 3] t;\n"
	"block turn(float[3] t) a { Rot(t[0], t[1], t[2]) a; }\n"
	"for int l in [0:2] { turn(each t[l]) on q; cx on cycle(q, l % (n - 1) + 1); }\n"
	"observe z(q);\n";
static const char fourier[] =
	"QCNN 1; const int n = 4; qubit[n] q; param float[n] w;\n"
	"ry(each w) on q;\n"
	"for int i in [n-1:-1:0] { h q[i]; for int j in [i-1:-1:0] { cp(pi / 2.0 ** (i - j)) q[j], q[i]; } }\n"
	"observe z(q[0]), x(q[1]) * y(q[n-1]); observe probs(q[0:1]);\n";
/* Products that several launches read, and one that flips more bits than a block has; probabilities
 * of some qubits. */
static const char products[] =
	"QCNN 1; const int n = 4; qubit[n] q; param float[n] w;\n"
	"ry(each w) on q; cz on ring(q);\n"
	"observe x(q), y(q), z(q);\n"
	"observe x(q[0]) * x(q[1]) * y(q[2]) * x(q[3]) * x(q[4]) * x(q[5]) * x(q[6]) * x(q[7])\n"
	"  * x(q[8]) * x(q[9]) * y(q[10]) * x(q[11]) * x(q[12]);\n"
	"observe probs(q[3:9]); observe probs(q[0:11]);\n";
/* More steps than states go through without being normalised. */
static const char deep[] = "QCNN 1; const int n = 2; qubit[n] q; param float[2] w;\n"
			   "for int k in [0:349] { rx(w[0]) q[0]; cx q[0], q[1]; ry(w[1]) q[1]; }\n"
			   "observe z(q[0]);\n";

/* The plan of outputs alone is that of the forward pass where gradients follow. */
static void test_text(const char *name, const char *text, const char *n, uint32_t nsample)
{
	struct program *p = compile_text(text, n);
	char of_loss[100];

	if (!tap_ok(p != NULL, "%s compiles", name))
		return;
	check(name, p, PRECISION_SINGLE, true, nsample);
	check(name, p, PRECISION_DOUBLE, false, nsample);
	has_loss = true;
	snprintf(of_loss, sizeof of_loss, "%s, of a loss", name);
	check(of_loss, p, PRECISION_SINGLE, true, nsample);
	has_loss = false;
	program_free(p);
}

static void test_random(uint64_t seed, unsigned nwire, uint32_t nsample)
{
	struct program *p = random_program(&(struct random_shape){ .seed = seed,
		.nwire = nwire,
		.napply = 30,
		.ncircuit = 1 + (unsigned)seed % 2,
		.nweight = 5,
		.ninput = 3,
		.sample_matrices = seed & 1,
		.controls = true,
		.vectors = seed % 3 == 0,
		.swaps = true,
		.wide = true,
		.diagonals = seed & 2,
		.nz = seed & 4 ? 150 : 3 });
	char name[100];

	snprintf(name, sizeof name, "random program %u of %u qubits", (unsigned)seed, nwire);
	check(name, p, seed & 1 ? PRECISION_SINGLE : PRECISION_DOUBLE, true, nsample);
	program_free(p);
}

/* CUDA copies rows that are less than 2^31 bytes apart; exchanges of parts of 2 GiB have one that is not. */
static void test_far_rows(void)
{
	enum { NBYTE = 64 };
	unsigned number[CUDA_DEVICES_MAX];
	struct cuda_stream *s = (cuda_device_list(0, number), cuda_stream_new(number[0]));
	char *device, *host;
	const char *why = NULL, *call;

	device = cuda_malloc(s, NBYTE);
	host = cuda_host_malloc(s, 2 * NBYTE);
	for (unsigned k = 0; k < NBYTE; k++)
		host[k] = (char)k;
	cuda_upload(s, device, host, NBYTE);
	cuda_copy_rows(s, (struct cuda_rows){ host + NBYTE, NBYTE },
		(struct cuda_rows){ device, (size_t)1 << 31 }, NBYTE, 1);
	cuda_wait(s);
	call = cuda_stream_failure(s, &why);
	tap_ok(!call && !memcmp(host, host + NBYTE, NBYTE),
		"one row is copied, however far others would be%s%s", call ? ": " : "",
		call ? call : "");
	cuda_host_free(host);
	cuda_free(device);
	cuda_stream_free(s);
}

int main(void)
{
	test_far_rows();
	test_text("QCNN of 8 qubits", qcnn, "8", 20);
	test_text("QCNN of 13 qubits", qcnn, "13", 1);
	test_text("entangling layers of 13 qubits", layers, "13", 1);
	test_text("Fourier transform of 13 qubits", fourier, "13", 1);
	test_text("products of 14 qubits", products, "14", 2);
	test_text("a deep circuit", deep, "7", 1);
	test_text("more samples than a unit has", qcnn, "2", 1030);
	optimisations = OPTIMISATION_HEISENBERG_TAIL;
	test_text("QCNN of 13 qubits and its tail", qcnn, "13", 1);
	test_text("QCNN of 11 qubits and its tail", qcnn, "11", 3);
	for (uint64_t seed = 1; seed <= 5; seed++)
		test_random(seed, seed % 4 == 3 ? 13 : 2 + (unsigned)seed, 1 + (uint32_t)seed % 3);
	tap_ok(ntail >= 4, "%u of them have a tail", ntail);
	tap_is_int(ndeep, 3, "one is deep, in both precisions, and with a loss");
	return tap_done();
}
