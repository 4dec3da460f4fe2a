/* SPDX-License-Identifier: Apache-2.0
 * The norm of a state that went through many steps: rounding has changed it, and it becomes 1 again.
 *
 * Rounding of amplitudes does not average out where a circuit comes back to the same state again and again: the Fourier
 * transform and its inverse on 5 qubits, 4,000 times, change the norm by 1.1e-5, in proportion to the number of steps. */
#include "config.h"
#include <math.h>
#include <string.h>
#include "runtime/exec/statevector/cpu/cpu_state.h"

struct norm {
	struct backend_state *b;
	const struct cpu_circuit *c;
	void *psi;
	double *part;                /* (nchunk) of the squared norm */
	double factor[KERNEL_LANES_MAX];     /* psi += factor psi, lane by lane */
};

static const struct kernel_term identity;

static void sum_chunk(void *ctx, unsigned chunk, struct cpu_worker *thread)
{
	struct norm *n = ctx;
	size_t first = cpu_chunk_begin(n->c->nrow, n->c->nchunk, chunk), last = cpu_chunk_begin(n->c->nrow, n->c->nchunk, chunk + 1);
	double out[KERNEL_LANES_MAX] = { 0 }, sum = 0;
	(void)thread;
	n->b->k->expect(n->psi, first, last, &identity, out);
	for (unsigned l = 0; l < n->b->k->lanes; l++)
		sum += out[l];
	n->part[chunk] = sum;
}

static void scale_chunk(void *ctx, unsigned chunk, struct cpu_worker *thread)
{
	struct norm *n = ctx;
	size_t first = cpu_chunk_begin(n->c->nrow, n->c->nchunk, chunk), last = cpu_chunk_begin(n->c->nrow, n->c->nchunk, chunk + 1);
	(void)thread;
	n->b->k->lambda(n->psi, n->psi, first, last, &identity, n->factor);
}

static double factor_of(double squared_norm) { return squared_norm > 0 ? 1 / sqrt(squared_norm) - 1 : 0; }

void cpu_normalise(struct backend_state *b, struct cpu_worker *w, const struct cpu_circuit *c, void *psi)
{
	struct norm n = { .b = b, .c = c, .psi = psi };
	unsigned lanes = b->k->lanes;
	if (!b->lane_bits) {         /* a sample in each lane */
		double out[KERNEL_LANES_MAX] = { 0 };
		b->k->expect(psi, 0, c->nrow, &identity, out);
		for (unsigned l = 0; l < lanes; l++)
			n.factor[l] = factor_of(out[l]);
		b->k->lambda(psi, psi, 0, c->nrow, &identity, n.factor);
		return;
	}
	double sum = 0;
	n.part = cpu_chunk_sums(b, w);
	cpu_chunks(b, w, c->span, sum_chunk, &n);
	cpu_gather(b, n.part, 1, c->span);
	for (unsigned chunk = 0; chunk < c->nchunk; chunk++)
		sum += n.part[chunk];
	for (unsigned l = 0; l < lanes; l++)
		n.factor[l] = factor_of(sum);
	cpu_chunks(b, w, c->span, scale_chunk, &n);
}
