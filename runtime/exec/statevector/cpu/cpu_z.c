/* SPDX-License-Identifier: Apache-2.0
 * Products of Z block by block while the last stage has a block near: outputs and lambda need no pass of their own.
 *
 * As a block lies after the stage's steps, bits of the state's index are bits of its rows and lanes or of its first row,
 * and permutations of the transfer to the state are still to come: signs are those of the state, seen through both. */
#include <string.h>
#include "runtime/exec/statevector/cpu/cpu_record.h"

_Static_assert((int)KERNEL_TERMS_MAX >= (int)PLAN_NEAR_TERMS_MAX, "all in one call");
_Static_assert((int)KERNEL_TERMS_MAX == (int)PLAN_TOGETHER_MAX, "the visits that a plan counts");

/* The sign of the state's rows as one of a block's: row k of it is row s->row[k] behind the first. */
static size_t block_sign(const struct cpu_stage *s, size_t *sign_row)
{
	size_t sign = 0;
	for (unsigned j = 0; j < s->nlocal; j++) {
		size_t bit = s->row[(size_t)1 << j];
		sign |= *sign_row & bit ? (size_t)1 << j : 0;
		*sign_row &= ~bit;
	}
	return sign;
}

/* Lane bits and the row bits that they change places with. */
static void exchange(const struct kernel_swap *swap, size_t *sign, unsigned *lane)
{
	for (unsigned a = 0; swap->lanes >> a; a++) {
		if (!((swap->lanes >> a) & 1) || ((*lane >> a) & 1) == ((*sign >> swap->row_bit[a]) & 1))
			continue;
		*lane ^= 1u << a;
		*sign ^= (size_t)1 << swap->row_bit[a];
	}
}

/* Row k comes from row place[k ^ flip] of the block: the sign of that one which is `sign` of k, and what is left of it for
 * the first row and for all. */
static size_t see_through(const struct cpu_stage *s, size_t sign, struct cpu_sign *z)
{
	const uint32_t *place = s->out.place;
	size_t rows = (size_t)1 << s->nlocal, row = place ? 0 : sign;
	for (unsigned k = 0; k < s->out.nflip; k++)
		if (__builtin_parityll(sign & s->out.flip[k].mask))
			z->base ^= (size_t)1 << s->out.flip[k].outer;
	for (size_t k = 0; place && k < rows; k++) {
		size_t to = place[k] ^ place[0];
		if ((to & (to - 1)) == 0 && __builtin_parityll(sign & k))
			row |= to;
	}
	z->minus = place && __builtin_parityll(row & place[0]);
	return row;
}

/* Which of the signs of parts' rows it is, from now on. */
static uint32_t number_row(struct cpu_circuit *c, size_t row)
{
	for (uint32_t k = 0; k < c->npart_row; k++)
		if (c->part_row[k] == row)
			return k;
	c->part_row[c->npart_row] = row;
	return c->npart_row++;
}

void cpu_z_compile(struct backend_state *b, struct cpu_circuit *c)
{
	if (!plan_sums_near(c->plan))
		return;
	const struct cpu_stage *s = &c->stage[c->nstage - 1];
	c->near_row = arena_alloc(&b->arena, c->nz, sizeof *c->near_row);
	c->part_row = arena_alloc(&b->arena, c->nz, sizeof *c->part_row);
	c->near = arena_alloc(&b->arena, c->nz, sizeof *c->near);
	for (uint32_t k = 0; k < c->nz; k++) {
		struct cpu_sign *z = &c->near[k];
		z->base = c->term[k].kernel.sign_row;
		z->lane = c->term[k].kernel.sign_lane;
		size_t sign = block_sign(s, &z->base);
		exchange(&s->out.swap, &sign, &z->lane);
		c->near_row[k] = see_through(s, sign, z);
		z->part = s->part.nbit ? number_row(c, cpu_part_row(s, c->near_row[k])) : 0;
	}
}

void cpu_z_begin(const struct sweep *w, struct cpu_worker *thread)
{
	memset(thread->z->total, 0, (size_t)w->circuit->nz * w->b->k->lanes * sizeof(double));
}

/* Of the lanes, with the signs of those in `minus`: pairwise, which depends on fewer sums before. */
static double lanes_total(const double *v, unsigned lanes, unsigned minus)
{
	double sum[KERNEL_LANES_MAX];
	for (unsigned l = 0; l < lanes; l++)
		sum[l] = __builtin_parity(l & minus) ? -v[l] : v[l];
	for (unsigned n = lanes / 2; n > 0; n /= 2)
		for (unsigned l = 0; l < n; l++)
			sum[l] += sum[l + n];
	return sum[0];
}

/* The sums of product k's rows in a block, lane by lane, to those of the chunk. */
static void add_product(const struct sweep *w, struct z_sums *sums, uint32_t k, size_t base,
	const double *out)
{
	const struct cpu_sign *z = &w->circuit->near[k];
	unsigned lanes = w->b->k->lanes;
	double sign = z->minus ^ (bool)__builtin_parityll(base & z->base) ? -1 : 1;
	for (unsigned l = 0; l < lanes; l++)
		sums->total[k * lanes + l] += sign * out[l];
}

static void read_block(const struct sweep *w, struct cpu_worker *thread, void *block, size_t base)
{
	const struct cpu_circuit *c = w->circuit;
	struct z_sums *z = thread->z;
	unsigned lanes = w->b->k->lanes;
	memset(z->out, 0, (size_t)c->nz * lanes * sizeof *z->out);
	w->b->k->expect_products(block, 0, (size_t)1 << w->stage->nlocal, NULL, c->near_row, c->nz,
		z->out);
	for (uint32_t k = 0; k < c->nz; k++)
		add_product(w, z, k, base, z->out + (size_t)k * lanes);
	cpu_record_block(w, thread, false, PLAN_OTHER_READOUTS);
}

void cpu_z_add_parts(const struct sweep *w, struct z_sums *z, size_t base)
{
	const struct cpu_circuit *c = w->circuit;
	for (uint32_t k = 0; k < c->nz; k++)
		add_product(w, z, k, base, z->out + (size_t)c->near[k].part * w->b->k->lanes);
}

void cpu_z_end(const struct sweep *w, struct cpu_worker *thread, unsigned chunk)
{
	const struct cpu_circuit *c = w->circuit;
	unsigned lanes = w->b->k->lanes;
	double *sum = cpu_chunk_sums(w->b, w->owner) + (size_t)chunk * c->nterm;
	memset(sum, 0, c->nterm * sizeof *sum);
	for (uint32_t k = 0; k < c->nz; k++)
		sum[k] = lanes_total(thread->z->total + (size_t)k * lanes, lanes, c->near[k].lane);
}

const struct block_step cpu_z_read = {
	.begin = cpu_z_begin,
	.block = read_block,
	.end = cpu_z_end,
};

void cpu_z_lambda(const struct sweep *w, const void *psi, size_t base, void *lambda)
{
	const double *dreadout = w->lambda_of;
	const struct cpu_circuit *c = w->circuit;
	double factor[KERNEL_TERMS_MAX * KERNEL_LANES_MAX];
	unsigned lanes = w->b->k->lanes;
	for (uint32_t k = 0; k < c->nz; k++) {
		const struct cpu_sign *z = &c->near[k];
		bool minus = z->minus ^ (bool)__builtin_parityll(base & z->base);
		double x = c->term[k].coefficient * dreadout[c->term[k].readout];
		for (unsigned l = 0; l < lanes; l++)
			factor[k * lanes + l] = minus ^ __builtin_parity(l & z->lane) ? -x : x;
	}
	w->b->k->lambda_products(lambda, psi, 0, (size_t)1 << w->stage->nlocal, NULL, c->near_row,
		c->nz, factor);
}
