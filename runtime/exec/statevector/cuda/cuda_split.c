/* SPDX-License-Identifier: Apache-2.0
 * What is different for a state that is planned for several processes, of which each has one or more parts on its device: where it
 * starts, and sums of all parts.
 *
 * To kernels on whole states the parts are samples side by side. Tiles and chunks have amplitudes of one part, and sums are
 * integers: which process has a part changes no bit. */
#include "config.h"
#include "runtime/exec/statevector/cuda/cuda_state.h"

#include <stdlib.h>
#include <string.h>

uint32_t cuda_part_number(const struct cuda_state *b, uint32_t k)
{
	return b->process.number << (b->plan->nrank_bit - b->process.nbit) | k;
}

/* ---- the first state ---- */

uint64_t cuda_split_vector(const struct cuda_state *b, const struct cuda_circuit *c,
	const struct plan_step *s, const uint8_t *place, const cplx *entry, uint64_t length, cplx *to)
{
	unsigned nbit = cuda_index_bits(b, c), nown = 0, own[CUDA_BITS_MAX];
	uint64_t n = 0, fixed = 0;

	for (unsigned k = 0; k < s->ntarget; k++)
		if (place[s->bit[k]] < nbit)
			own[nown++] = k;
		else
			fixed |= (uint64_t)(b->process.number >> (place[s->bit[k]] - nbit) & 1) << k;
	for (; n < UINT64_C(1) << nown; n++) {
		uint64_t at = fixed;

		for (unsigned k = 0; k < nown; k++)
			at |= (n >> k & 1) << own[k];
		if (at >= length)
			break;
		to[n] = entry[at];
	}
	return n;
}

/* ---- sums of parts ---- */

size_t cuda_bin_of(const struct cuda_circuit *c, const struct cuda_probs *p, uint32_t part)
{
	size_t bin = 0;

	for (unsigned k = 0; k < p->nbin; k++)
		if (p->bit[k] >= c->nbit)
			bin |= (size_t)(part >> (p->bit[k] - c->nbit) & 1) << k;
	return bin;
}

bool cuda_is_minus(const struct cuda_circuit *c, const struct cuda_pauli *p, uint32_t part)
{
	return __builtin_parityll(p->term.sign >> c->nbit & part);
}

/* Of the readouts, behind their flag (cuda_readout): those of part number `part` are added to sum. */
static void add_part(const struct cuda_circuit *c, uint32_t part, const long long *from, long long *sum)
{
	sum[0] += from[0];
	for (uint32_t k = 0; k < c->npauli; k++)
		sum[1 + k] += cuda_is_minus(c, &c->pauli[k], part) ? -from[1 + k] : from[1 + k];
	for (uint32_t k = 0; k < c->nprobs; k++) {
		const struct cuda_probs *p = &c->probs[k];
		size_t others = cuda_bin_of(c, p, UINT32_MAX), own = cuda_bin_of(c, p, part);

		for (size_t n = 0; n < (size_t)1 << p->nbin; n++)
			if (!(n & others))
				sum[1 + p->sum + (n | own)] += from[1 + p->sum + n];
	}
}

bool cuda_split_readouts(struct cuda_state *b, const struct cuda_circuit *c)
{
	size_t n = 1 + c->nsum_readout;
	long long *sum = mem_alloc(n, sizeof *sum), *host = b->sum_host + c->readout_sum;
	bool good;

	for (uint32_t k = 0; k < cuda_nparts(b) && cuda_goes_on(b); k++)
		add_part(c, cuda_part_number(b, k), host + k * n, sum);
	good = cuda_add_processes(b, sum, n);
	memcpy(host, sum, n * sizeof *sum);
	free(sum);
	return good;
}

void cuda_split_norm(struct cuda_state *b, const struct cuda_circuit *c)
{
	long long *sum = b->sum_host + c->norm_sum, all[2] = { 0 };
	size_t n = 2 * (size_t)cuda_nparts(b);

	cuda_finish(b);
	cuda_mark(b, EVENT_PHASE, PHASE_NONE);
	for (size_t k = 0; k < n && cuda_goes_on(b); k++)
		all[k % 2] += sum[k];
	if (!cuda_add_processes(b, all, 2))
		all[0] = 1;
	for (size_t k = 0; k < n; k++)
		sum[k] = all[k % 2];
}
