/* SPDX-License-Identifier: Apache-2.0
 * Products of Z in the stages: their sums over a tile in registers, and the lambda that they make.
 *
 * A Walsh-Hadamard transform of |psi|^2 has the expectation of the product of Z on the bits m at place m (Nielsen and Chuang, Quantum
 * Computation and Quantum Information, the Hadamard transform of section 1.4.4). The opposite way it takes the factors of
 * products to what each amplitude is multiplied by. */
#pragma once

#include "runtime/exec/statevector/cuda/cuda_index.cuh"

/* Walsh-Hadamard transform in the bits of the register's number, except those that number samples: x[m] becomes the sum over k of
 * (-1)^popcount(k & m) x[k]. */
template <class T, int N> DEVICE void transform(T (&x)[N], unsigned samples)
{
#pragma unroll
	for (int s = 1; s < N; s *= 2)
		if (!(samples & s))
#pragma unroll
			for (int k = 0; k < N; k++)
				if (!(k & s)) {
					const T y = x[k];

					x[k] = y + x[k | s];
					x[k | s] = y - x[k | s];
				}
}

/* The same in the bits of the lane's number. */
template <class T> DEVICE T transform_lanes(T x, unsigned samples, unsigned lane)
{
#pragma unroll
	for (unsigned s = 1; s < 32; s *= 2)
		if (!(samples & s)) {
			const T y = __shfl_xor_sync(0xffffffffu, x, s);

			x = lane & s ? y - x : x + y;
		}
	return x;
}

/* The bits of the number in the round that sample s of the tile has. */
DEVICE unsigned sample_bits(const cuda_round &r, unsigned s)
{
	unsigned bits = 0;

#pragma unroll
	for (int k = 0; k < CUDA_TILE_MAX; k++)
		bits |= (r.sample[k] & s ? 1u : 0) << k;
	return bits;
}

/* Of one product and one sample: part (register bits, threads) is transformed in all bits but the warps'. */
template <class T>
DEVICE T product_sum(const cuda_product &p, const cuda_round &r, unsigned s, const T *part)
{
	const unsigned sample_warps = sample_bits(r, 0xffff) >> 5 & (CUDA_WARPS - 1);
	const unsigned bits = sample_bits(r, s), reg = p.reg | bits >> CUDA_THREAD_BITS;
	const T *const x = part + reg * CUDA_THREADS + ((bits | p.thread) & 31);
	T sum = 0;

	for (unsigned w = 0; w < CUDA_WARPS; w++)
		if ((w & sample_warps) == (bits >> 5 & (CUDA_WARPS - 1)))
			sum += __popc(w & p.thread >> 5) & 1 ? -x[w * 32] : x[w * 32];
	return __popc(blockIdx.x & p.block) & 1 ? -sum : sum;
}

/* Adds <v|P|v> of the block to the sums of each product. part: shared memory, (register bits, threads). */
template <class R, int N>
DEVICE void sum_products(const amplitude<R> (&v)[N], const cuda_stage_args &a, const cuda_round &r,
	typename numbers<R>::part *part, unsigned t)
{
	const cuda_products &p = a.products;
	const unsigned first = (blockIdx.x >> a.nouter) << a.nnear;
	const size_t mine = thread_sample(a, r, t);
	typename numbers<R>::part x[N];

#pragma unroll
	for (int j = 0; j < N; j++) {
		const size_t s = mine + reg_column(r.sample, j);
		const R square = mad(v[j].x, v[j].x, v[j].y * v[j].y);

		/* What fills the tile up has no flag. */
		x[j] = s < p.nsample ? part_of(square, (unsigned *)(p.sum + s * (1 + p.stride))) : 0;
	}
	transform(x, r.sample_regs);
#pragma unroll
	for (int j = 0; j < N; j++)
		part[j * CUDA_THREADS + t] = x[j];
	for (unsigned regs = p.regs; regs; regs &= regs - 1) {
		typename numbers<R>::part *const y = part + (__ffs((int)regs) - 1) * CUDA_THREADS + t;

		*y = transform_lanes(*y, r.sample_lanes, t & 31);
	}
	__syncthreads();
	for (unsigned i = t; i < (unsigned)p.n << a.nnear; i += CUDA_THREADS) {
		const unsigned s = i / p.n, k = i % p.n;
		long long *const sums = p.sum + (size_t)(first + s) * (1 + p.stride);

		if (first + s < p.nsample)
			add_fixed(sums + 1 + p.first + k,
				fixed_of(product_sum(p.product[k], r, s, part), (unsigned *)sums));
	}
}

/* lambda += the sum of factor P psi. Factors are rounded so that their sums are exact in double precision. */
template <class R, int N>
DEVICE void add_products(const amplitude<R> (&v)[N], amplitude<R> (&w)[N], const cuda_stage_args &a,
	const cuda_round &r, unsigned t)
{
	const cuda_products &p = a.products;
	const double *const first = p.factor + thread_sample(a, r, t) * p.stride + p.first;
	int samples = 0; /* register bits */
	double x[N] = {};

	do {
		const double *const factor = first + (size_t)reg_column(r.sample, samples) * p.stride;

		for (unsigned k = 0; k < p.n; k++) {
			const cuda_product &o = p.product[k];
			const bool minus = (__popc(blockIdx.x & o.block) + __popc(t & o.thread)) & 1;
			const double f = minus ? -factor[k] : factor[k];

#pragma unroll
			for (int j = 0; j < N; j++)
				if (opaque(o.reg | samples) == (unsigned)j) /* else x is indexed in local memory */
					x[j] += f;
		}
		samples = (samples - r.sample_regs) & r.sample_regs;
	} while (samples);
	transform(x, r.sample_regs);
#pragma unroll
	for (int j = 0; j < N; j++)
		w[j] = amp_of(mad((R)x[j], v[j].x, w[j].x), mad((R)x[j], v[j].y, w[j].y));
}
