/* SPDX-License-Identifier: Apache-2.0
 * Fixed circuits on a device and on the reference. */
#include "cli/bench/selftest.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench/bench.h"
#include "compiler/compile.h"
#include "runtime/base/crypto/crypto.h"
#include "runtime/base/maths.h"
#include "runtime/base/rng.h"
#include "runtime/net/scheduler/pool_threads.h"

enum { SEED = 11, LAYERS = 2 };

/* Angles of inputs and weights, a prepared vector, probabilities, products of Pauli matrices. */
static const char mixed[] =
	"input float[8] x;\ninput float[n] a;\nparam float[n] w;\nparam float[n] v;\namplitudes(x) q[0:2];\n"
	"for int k in [0:n-1] { rx(a[k] * w[k] + v[k]) q[k]; }\ncx on cycle(q);\nrzz(v[0]) q[0], q[n-1];\nry(each v) on q;\n"
	"observe probs(q[1:2]), x(q[1]) * y(q[2]), z(q[n-1]);\n";

/* Small states side by side, tiles of several states, one tile, several tiles. */
static const struct {
	const char *circuit;
	unsigned nqubit;
	uint32_t nsample;
} rows[SELFTEST_ROWS / 2] = {
	{ "mixed", 4, 40 },
	{ "mixed", 9, 5 },
	{ "mixed", 13, 3 },
	{ "qcnn", 8, 33 },
	{ "qcnn", 14, 2 },
	{ "sel", 6, 1 },
	{ "sel", 13, 1 },
	{ "qft", 12, 1 },
	{ "random", 10, 1 },
};

/* ---- programs ---- */

static void write_circuit(const char *name, unsigned n, struct buf *out)
{
	const struct bench_circuit *c = bench_circuit_find(name);

	if (c)
		c->write(out,
			&(struct bench_size){
				n, c->layers < LAYERS ? LAYERS : c->layers, SEED, c->product });
	else
		buf_printf(out, "QCNN 1;\nconst int n = %u;\nqubit[n] q;\n%s", n, mixed);
}

struct program *selftest_program(const char *name, unsigned n)
{
	struct diags *d = diags_new(source_set_new());
	struct lang_options lo = { NULL, 0 };
	struct compile_options co = { 0 };
	buf_auto text = BUF_INIT;

	write_circuit(name, n, &text);
	int file = source_add(diags_sources(d), name, text.data, text.len);
	struct ast *t = lang_parse(d, (uint32_t)file, &lo);
	lang_resolve(t, d);
	struct program *p = compile_tree(t, d, &co);
	ast_free(t);
	diags_free_all(d);
	if (!p)
		BUG("the circuit %s of the self-test has faults", name);
	return p;
}

/* ---- results ---- */

static int readout_gradient(void *ctx, uint32_t sample, const double *readout, double *dreadout,
	double *head)
{
	const struct program *p = ctx;

	(void)head;
	for (uint32_t k = 0; dreadout && k < p->nreadout; k++)
		dreadout[k] = readout[k] + 1.0 / (1 + k + sample);
	return 0;
}

/* Numbers in [-1, 1). */
static void numbers(uint64_t stream, size_t n, double *out)
{
	for (size_t k = 0; k < n; k++)
		out[k] = 2 * rng_uniform(SEED, RNG_TEST, stream, k) - 1;
}

/* (nsample, nreadout) readouts. */
static size_t count_readouts(const struct program *p, uint32_t nsample)
{
	return (size_t)nsample * p->nreadout;
}

/* Results: readouts, then the gradient, the caller's to free. */
static double *new_results(const struct program *p, uint32_t nsample)
{
	return mem_alloc(count_readouts(p, nsample) + p->nweight + 1, sizeof(double));
}

static int evaluate(struct program *p, const struct evaluator_options *o, uint32_t nsample,
	double *results, struct err *e)
{
	mem_auto double *weight = mem_alloc(p->nweight + (size_t)1, sizeof *weight);
	mem_auto double *input = mem_alloc((size_t)nsample * p->ninput + 1, sizeof *input);
	struct pool *pool = pool_threads_new(o->nthread);
	struct evaluator *ev = NULL;

	numbers(0, p->nweight, weight);
	numbers(1, (size_t)nsample * p->ninput, input);
	int code = evaluator_new(p, o, &ev, e);
	if (!code)
		code = evaluator_weights(ev, weight, e);
	if (!code) {
		evaluator_prepare(ev, &(struct batch){ .nsample = nsample, .input = input }, true,
			readout_gradient, p, results);
		code = evaluator_run(ev, pool, results + count_readouts(p, nsample), e);
	}
	evaluator_free(ev);
	pool->ops->free(pool);
	return code;
}

static double largest_difference(const double *a, const double *b, size_t n)
{
	double most = 0;

	for (size_t k = 0; k < n; k++)
		if (!(fabs(a[k] - b[k]) <= most))
			most = isnan(a[k]) || isnan(b[k]) ? HUGE_VAL : fabs(a[k] - b[k]);
	return most;
}

static double largest(const double *a, size_t n)
{
	double most = 1;

	for (size_t k = 0; k < n; k++)
		most = fmax(most, fabs(a[k]));
	return most;
}

/* The same on machines of either order of bytes. */
static void digest_of(const double *results, size_t n, struct selftest_row *row)
{
	uint8_t digest[SHA256_BYTES];
	char hex[SHA256_HEX + 1];
	buf_auto bytes = BUF_INIT;

	buf_f64s(&bytes, results, n);
	sha256_of(bytes.data, bytes.len, digest);
	sha256_hex(digest, hex);
	snprintf(row->digest, sizeof row->digest, "%.16s", hex);
}

/* ---- expected digits ---- */

static enum selftest_bits bits_of(const char *kernels, const struct selftest_row *row)
{
	static const struct {
		const char *kernels, *circuit;
		unsigned nqubit;
		enum precision precision;
		const char *digest;
	} golden[] = {
#define GOLDEN(kernels, circuit, nqubit, precision, digest) \
	{ kernels, circuit, nqubit, PRECISION_##precision, digest },
#include "cli/bench/selftest.def"
		{ NULL, NULL, 0, PRECISION_SINGLE, NULL }
	};
	const uint64_t maths =
#define MATHS(digest) UINT64_C(digest)
#include "cli/bench/selftest.def"
		;

	for (size_t k = 0; golden[k].kernels; k++)
		if (!strcmp(golden[k].kernels, kernels) && !strcmp(golden[k].circuit, row->circuit)
			&& golden[k].nqubit == row->nqubit && golden[k].precision == row->precision)
			return maths != maths_digest()                   ? SELFTEST_FOREIGN
				: !strcmp(golden[k].digest, row->digest) ? SELFTEST_SAME
									 : SELFTEST_OTHER;
	return SELFTEST_NONE;
}

/* ---- the test ---- */

static int run_row(const struct evaluator_options *o, struct program *p, const double *ref,
	struct selftest_row *row, struct err *e)
{
	struct evaluator_options mine = *o;
	mem_auto double *r = new_results(p, row->nsample);
	size_t n = count_readouts(p, row->nsample);

	mine.precision = row->precision;
	mine.gradient = GRADIENT_ADJOINT;
	int code = evaluate(p, &mine, row->nsample, r, e);
	if (code)
		return code;
	row->readouts = largest_difference(r, ref, n);
	row->gradients =
		largest_difference(r + n, ref + n, p->nweight) / largest(ref + n, p->nweight);
	row->most = row->precision == PRECISION_DOUBLE ? 1e-12 : 1e-5;
	digest_of(r, n + p->nweight, row);
	row->bits = bits_of(o->target->kernels, row);
	row->passed = row->readouts <= row->most && row->gradients <= 10 * row->most;
	return 0;
}

int selftest_run(const struct evaluator_options *o, struct selftest_row *row, struct err *e)
{
	const struct evaluator_options reference = { .target = &target_ref,
		.precision = PRECISION_DOUBLE,
		.nthread = 1,
		.gradient = GRADIENT_ADJOINT };
	int code = 0;

	for (unsigned k = 0; k < SELFTEST_ROWS && !code; k += 2) {
		struct program *p = selftest_program(rows[k / 2].circuit, rows[k / 2].nqubit);
		uint32_t nsample = rows[k / 2].nsample;
		mem_auto double *ref = new_results(p, nsample);

		code = evaluate(p, &reference, nsample, ref, e);
		for (unsigned twice = 0; twice < 2 && !code; twice++) {
			row[k + twice] = (struct selftest_row){ .circuit = rows[k / 2].circuit,
				.nqubit = rows[k / 2].nqubit,
				.nsample = nsample,
				.precision = twice ? PRECISION_DOUBLE : PRECISION_SINGLE };
			code = run_row(o, p, ref, &row[k + twice], e);
		}
		program_free(p);
	}
	return code;
}

/* ---- output ---- */

static const char *const bits_text[] = { [SELFTEST_NONE] = "",
	[SELFTEST_SAME] = ", the expected digits",
	[SELFTEST_OTHER] = ", other digits than expected",
	[SELFTEST_FOREIGN] = ", digits not comparable (another mathematical library)" };

bool selftest_text(const struct selftest_row *row, struct buf *out)
{
	unsigned failed = 0, other = 0;

	for (unsigned k = 0; k < SELFTEST_ROWS; k++) {
		const struct selftest_row *r = &row[k];

		buf_printf(out,
			"%-6s  %-6s %2u qubits, %2u sample%s  %s  off by %.1e, gradient %.1e%s\n",
			r->passed ? "ok" : "FAILED", r->circuit, r->nqubit, r->nsample,
			r->nsample == 1 ? " " : "s",
			r->precision == PRECISION_DOUBLE ? "double" : "single", r->readouts,
			r->gradients, bits_text[r->bits]);
		failed += !r->passed;
		other += r->bits == SELFTEST_OTHER;
	}
	if (failed)
		buf_printf(out, "%u of %d tests failed: do not compute on this device\n", failed,
			SELFTEST_ROWS);
	else if (other)
		buf_printf(out,
			"%u of %d results have other last digits than expected: they are right, but not those of other devices\n",
			other, SELFTEST_ROWS);
	return !failed && !other;
}

bool selftest_json(const struct selftest_row *row, struct buf *out)
{
	static const char *const words[] = { "unknown", "same", "other", "not comparable" };
	bool passed = true;

	buf_printf(out, "{\"schema\": 1, \"maths\": \"0x%016" PRIx64 "\", \"tests\": [",
		maths_digest());
	for (unsigned k = 0; k < SELFTEST_ROWS; k++) {
		const struct selftest_row *r = &row[k];

		buf_json(out, ", {\"circuit\": %s, \"qubits\": %u, \"samples\": %u, \"precision\": %s",
			r->circuit, r->nqubit, r->nsample,
			r->precision == PRECISION_DOUBLE ? "double" : "single");
		buf_json(out, ", \"readouts_off\": %g, \"gradients_off\": %g, \"digest\": %s",
			r->readouts, r->gradients, r->digest);
		buf_json(out, ", \"digits\": %s, \"passed\": %i}", words[r->bits], r->passed);
		passed &= r->passed && r->bits != SELFTEST_OTHER;
	}
	buf_json(out, "], \"passed\": %i}\n", passed);
	return passed;
}
