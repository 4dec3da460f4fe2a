/* SPDX-License-Identifier: Apache-2.0
 * The null backend: plans are made and units run, no state is allocated, all results are 0.
 *
 * It serves tests of planner, network and command line at sizes that no machine holds, and shows what a step costs
 * besides its states. Its target has the properties of the cpu backend's middle kernel set, without optional
 * capabilities. */
#include "runtime/exec/statevector/backend.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"

const struct target target_null = { .device = "null",
	.kernels = "null",
	.version = 1,
	.capabilities = TARGET_SINGLE | TARGET_BATCHED | TARGET_STAGES | TARGET_FUSED_LAST
		| TARGET_STATELESS,
	.vector_bytes = 32,
	.block_bytes = 256 << 10,
	.usual_gflop_s = 80,
	.backend = &backend_null };

struct backend_state { const struct plan *plan; };

static int null_supports(const struct plan *pl, struct err *e)
{
	return pl->target == &target_null
		? 0
		: err_set(e, -ERR_CONFIG, "the null backend executes only plans made for it");
}

static uint64_t null_bytes(const struct plan *pl, unsigned nthread, bool gradient, unsigned nrank)
{
	(void)nrank;
	(void)pl, (void)nthread, (void)gradient;
	return sizeof(struct backend_state);
}

static int null_prepare(const struct plan *pl, unsigned nthread, uint64_t devices, bool gradient,
	struct split_rank *split, struct backend_state **out, struct err *e)
{
	(void)split;
	(void)nthread, (void)devices, (void)gradient, (void)e;
	*out = mem_alloc(1, sizeof **out);
	(*out)->plan = pl;
	return 0;
}

static void null_matrices(struct backend_state *b, const cplx *u) { (void)b, (void)u; }

static void null_run(struct backend_state *b, const struct unit_job *job)
{
	(void)b;
	job->claim(job->ctx, 0);
	job->work(job->ctx, 0);
}

static void null_forward(struct backend_state *b, unsigned worker, uint32_t c,
	const struct unit_input *in, bool keep, double *readout)
{
	(void)worker, (void)keep;
	memset(readout, 0, (size_t)in->nsample * b->plan->circuit[c].nreadout * sizeof *readout);
}

/* The sums that it would add to stay as they are. */
static void null_backward(struct backend_state *b, unsigned worker, uint32_t c,
	const struct unit_input *in, const double *dreadout, double *anti_hermitian_shared,
	double *const *anti_hermitian_sample)
{
	(void)b, (void)worker, (void)c, (void)in, (void)dreadout, (void)anti_hermitian_shared,
		(void)anti_hermitian_sample;
}

static void null_amplitudes(struct backend_state *b, unsigned worker, uint32_t c, uint32_t s,
	uint64_t first, uint64_t n, cplx *out)
{
	(void)b, (void)worker, (void)c, (void)s, (void)first;
	memset(out, 0, n * sizeof *out);
}

static void null_free(struct backend_state *b) { free(b); }

const struct backend backend_null = {
	.target = &target_null,
	.ntarget = 1,
	.supports = null_supports,
	.bytes = null_bytes,
	.prepare = null_prepare,
	.matrices = null_matrices,
	.run = null_run,
	.forward = null_forward,
	.backward = null_backward,
	.amplitudes = null_amplitudes,
	.free = null_free,
};
