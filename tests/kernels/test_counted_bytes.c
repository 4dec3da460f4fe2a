/* SPDX-License-Identifier: Apache-2.0
 * The bytes that a plan says its passes move are those that they move: kernels that count the rows of a state that they
 * read and write, in place of the backend's own. */
#include <math.h>
#include <string.h>

#include "runtime/exec/statevector/cpu/kernels.h"
#include "runtime/exec/statevector/plan/plan.h"
#include "runtime/exec/statevector/plan/plan_work.h"
#include "runtime/exec/statevector/statevector.h"
#include "runtime/net/scheduler/pool_threads.h"
#include "tests/compile_file.h"
#include "tests/tap.h"

const struct kernels *__real_kernels_find(enum isa isa, enum precision p);
const struct kernels *__wrap_kernels_find(enum isa isa, enum precision p);

static const struct kernels *real;
static struct kernels counting;
static uint64_t rows_moved; /* of states, read and written */

/* Blocks are what is gathered into; anything else is a state. */
enum { BLOCKS = 16 };
static const void *block_at[BLOCKS];
static unsigned nblock;

static bool is_block(const void *at)
{
	for (unsigned k = 0; k < nblock; k++)
		if (block_at[k] == at)
			return true;
	return false;
}

/* Rows of r that are moved: neither 0 without being read, where `absent` counts, nor left alone. */
static uint64_t rows_of(const struct kernel_rows *r, size_t absent)
{
	uint64_t n = 0;

	for (size_t k = 0; k < (size_t)1 << r->nbit; k++)
		n += !((k | r->above) & absent) && !(k & r->unset);
	return n;
}

static void gather(void *block, const void *state, size_t base, const struct kernel_rows *r)
{
	if (!is_block(block) && nblock < BLOCKS)
		block_at[nblock++] = block;
	if (!is_block(state))
		rows_moved += rows_of(r, r->absent);
	real->gather(block, state, base, r);
}

static void scatter(const void *block, void *state, size_t base, const struct kernel_rows *r)
{
	if (!is_block(state))
		rows_moved += rows_of(r, 0);
	real->scatter(block, state, base, r);
}

static void finish(void *block, void *state, size_t base, const struct kernel_rows *r,
	const struct kernel_sums *sums)
{
	if (!is_block(state))
		rows_moved += rows_of(r, 0);
	real->finish(block, state, base, r, sums);
}

static void expect_products(const void *psi, size_t first, size_t last,
	const struct kernel_partner *partner, const size_t *sign_row, unsigned n, double *out)
{
	if (!is_block(psi))
		rows_moved += last - first;
	real->expect_products(psi, first, last, partner, sign_row, n, out);
}

static void lambda_products(void *lam, const void *psi, size_t first, size_t last,
	const struct kernel_partner *partner, const size_t *sign_row, unsigned n, const double *c)
{
	if (!is_block(psi))
		rows_moved += 2 * (last - first);
	real->lambda_products(lam, psi, first, last, partner, sign_row, n, c);
}

const struct kernels *__wrap_kernels_find(enum isa isa, enum precision p)
{
	real = __real_kernels_find(isa, p);
	if (!real)
		return NULL;
	counting = *real;
	counting.gather = gather;
	counting.scatter = scatter;
	counting.finish = finish;
	counting.expect_products = expect_products;
	counting.lambda_products = lambda_products;
	return &counting;
}

/* ---- programs ---- */

static int dreadout(void *ctx, uint32_t sample, const double *readout, double *out, double *head)
{
	(void)ctx, (void)sample, (void)head;
	if (out)
		*out = *readout;
	return 0;
}

static const struct {
	const char *name, *text;
} models[] = {
	{ "rotations and a ring",
		"QCNN 1; const int n = 17; qubit[n] q; input float[n] x; param float[3] t;\n"
		"block u(float[3] t) a, b { ry(t[0]) a; rx(t[1]) b; rzz(t[2]) a, b; }\n"
		"embed { ry(each x) on q; }\n"
		"u(t) on ring(q); u(t) on cycle(q, 3); observe z(q);\n" },
	{ "one output",
		"QCNN 1; const int n = 17; qubit[n] q; param float[2] t;\n"
		"h q; rx(t[0]) q; cz on ring(q); ry(t[1]) q; cx on ring(q); rx(t[0]) q; observe z(q[0]);\n" },
	{ "diagonals",
		"QCNN 1; const int n = 17; qubit[n] q; param float[2] t;\n"
		"h q; rzz(t[0]) on ring(q); h q; rzz(t[1]) on cycle(q, 5); ry(t[0]) q; observe z(q);\n" },
	{ "permutations",
		"QCNN 1; const int n = 17; qubit[n] q; param float[2] t;\n"
		"ry(t[0]) q; cx on ring(q); cx on cycle(q, 7); ry(t[1]) q; swap on ring(q); ry(t[0]) q; observe z(q[n-1]);\n" },
};

static void check(unsigned model, const char *n, enum precision precision, bool gradient)
{
	struct program *p = compile_text(models[model].text, n);
	struct evaluator_options o = { .method = METHOD_STATEVECTOR,
		.precision = precision,
		.nthread = 1,
		.shape = SHAPE_SHARED,
		.gradient = gradient ? GRADIENT_ADJOINT : GRADIENT_NONE };
	struct pool *pool = pool_threads_new(1);
	double weight[5] = { 0.3, 0.5, 0.7 }, input[32] = { 0.1, 0.2 }, readout[32], out[5], counted;
	struct batch b = { .nsample = 1, .input = input };
	struct evaluator *ev;
	struct err e;

	nblock = 0;
	if (!tap_ok(p && !evaluator_new(p, &o, &ev, &e) && !evaluator_weights(ev, weight, &e), "%s",
		    models[model].name))
		return;
	evaluator_prepare(ev, &b, gradient, gradient ? dreadout : NULL, NULL, readout);
	rows_moved = 0;
	if (evaluator_run(ev, pool, gradient ? out : NULL, &e))
		tap_ok(false, "%s", e.text);
	struct plan_traffic planned = plan_traffic(statevector_plan(ev), gradient);
	counted = (double)rows_moved * 2 * counting.lanes * (double)counting.real_bytes;
	tap_ok(counted == planned.bytes,
		"%s, %s qubits, %s, %s: %.0f bytes counted in %u passes, %.0f planned (%.4f)",
		models[model].name, n, precision == PRECISION_DOUBLE ? "double" : "single",
		gradient ? "gradient" : "outputs", counted, planned.passes, planned.bytes,
		counted / planned.bytes);
	evaluator_free(ev);
	pool->ops->free(pool);
	program_free(p);
}

int main(void)
{
	for (unsigned model = 0; model < sizeof models / sizeof *models; model++)
		for (unsigned k = 0; k < 8; k++)
			check(model, k & 4 ? "20" : "17",
				k & 1 ? PRECISION_DOUBLE : PRECISION_SINGLE, (k & 2) != 0);
	return tap_done();
}
