/* SPDX-License-Identifier: Apache-2.0
 * Products of Z in the stages: their expectations, summed over a tile in registers, and lambda,
 * the sum of their factors times products times psi.
 *
 * The Walsh-Hadamard transform of |psi|^2 has at place m the expectation of the product of Z on
 * the bits that are 1 in m (Nielsen and Chuang, Quantum Computation and Quantum Information, the
 * Hadamard transform of section 1.4.4). The transform of the factors, each put at its product's
 * place m, has at place k what amplitude k of psi is multiplied by to get lambda. */
#pragma once

#include "runtime/exec/statevector/cuda/cuda_index.cuh"

/* Walsh-Hadamard transform in the register bits, except `samples`, those that number samples: x[m]
 * becomes the sum over k of (-1)^popcount(k & m) x[k], where k has the bits of m in `samples`. */
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

/* The same in the bits of the lane: x is this lane's. */
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

/* The bits that number samples in an amplitude's number in the round, as sample s of the tile has
 * them. */
DEVICE unsigned sample_bits(const cuda_round &r, unsigned s)
{
	unsigned bits = 0;

#pragma unroll
	for (int k = 0; k < CUDA_TILE_MAX; k++)
		bits |= (r.sample[k] & s ? 1u : 0) << k;
	return bits;
}

/* The expectation of a product in the block's amplitudes of sample s of the tile. part: (registers,
 * threads), transformed in all bits but those of the warp and of the block. */
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

/* Adds <psi|P|psi> over the block to the sums of each sample. product, of_regs:
 * cuda_products.product and .regs in round r. part: (registers, threads), in shared memory. */
template <class R, int N>
DEVICE void sum_products(const amplitude<R> (&v)[N], const cuda_stage_args &a, const cuda_round &r,
	const cuda_product *product, unsigned of_regs, typename numbers<R>::part *part, unsigned t)
{
	const cuda_products &p = a.products;
	const unsigned first = (blockIdx.x >> a.nouter) << a.nnear; /* the block's first sample */
	const size_t sample = thread_sample(a, r, t);
	typename numbers<R>::part x[N];

#pragma unroll
	for (int j = 0; j < N; j++) {
		const size_t s = sample + reg_column(r.sample, j);
		const R square = mad(v[j].x, v[j].x, v[j].y * v[j].y);

		/* Samples that fill the last tile up have neither sums nor a flag. */
		x[j] = s < p.nsample ? part_of(square, (unsigned *)(p.sum + s * (1 + p.stride))) : 0;
	}
	transform(x, r.sample_regs);
#pragma unroll
	for (int j = 0; j < N; j++)
		part[j * CUDA_THREADS + t] = x[j];
	for (unsigned regs = of_regs; regs; regs &= regs - 1) {
		typename numbers<R>::part *const y = part + (__ffs((int)regs) - 1) * CUDA_THREADS + t;

		*y = transform_lanes(*y, r.sample_lanes, t & 31);
	}
	__syncthreads(); /* all parts are transformed */
	for (unsigned i = t; i < (unsigned)p.n << a.nnear; i += CUDA_THREADS) {
		const unsigned s = i / p.n, k = i % p.n; /* sample of the tile, product */
		long long *const sums = p.sum + (size_t)(first + s) * (1 + p.stride);

		if (first + s < p.nsample)
			add_fixed(sums + 1 + p.first + k,
				fixed_of(product_sum(product[k], r, s, part), (unsigned *)sums));
	}
}

/* The readout of sample s to which product k belongs, from the sums of all its products. */
DEVICE double readout_of(const cuda_products &p, unsigned k, size_t s)
{
	const long long *const sum = p.sum + s * (1 + p.stride) + 1;
	const unsigned end = p.loss.product[k].end;
	double readout = 0;

	for (unsigned i = p.loss.product[k].first; i < end; i++)
		readout += p.loss.product[i].coefficient
			* ((double)__ldcg(sum + i) / (double)(1ll << CUDA_FIXED_BITS));
	return readout;
}

/* The factor of product k for sample s: the gradient with respect to its readout (loss_terms.h)
 * times its coefficient, rounded as by factor_of in cuda_readout.c. */
DEVICE double loss_factor(const cuda_products &p, unsigned k, size_t s)
{
	const double *const number = p.loss.number + s * (LOSS_LABELS + p.loss.nreadout);
	const double d = loss_gradient((enum loss_term)p.loss.term, p.loss.option, readout_of(p, k, s),
		number, p.loss.product[k].readout, p.loss.nreadout);

	return rint(d * p.loss.product[k].coefficient * p.loss.unit * CUDA_FACTOR_UNITS) / CUDA_FACTOR_UNITS;
}

/* The factors for the block's samples: (samples, products), in shared memory. */
DEVICE void make_factors(const cuda_stage_args &a, double *factor, unsigned t)
{
	const cuda_products &p = a.products;
	const size_t first = (size_t)(blockIdx.x >> a.nouter) << a.nnear;

	for (unsigned i = t; i < (unsigned)p.n << a.nnear; i += CUDA_THREADS) {
		const size_t s = first + i / p.n;

		factor[i] = s < p.nsample ? loss_factor(p, i % p.n, s) : 0;
	}
}

/* lambda += the sum over the products of factor P psi. Sums of factors are exact, as these are
 * multiples of 1 / CUDA_FACTOR_UNITS. own: what make_factors has made, where there is a loss. */
template <class R, int N>
DEVICE void add_products(const amplitude<R> (&v)[N], amplitude<R> (&w)[N], const cuda_stage_args &a,
	const cuda_round &r, const double *own, unsigned t)
{
	const cuda_products &p = a.products;
	const double *const first = p.loss.number
		? own + thread_column(r.sample, t) * p.stride
		: p.factor + thread_sample(a, r, t) * p.stride + p.first;
	int pattern = 0; /* of the register bits that number samples */
	double x[N] = {};

	do {
		const double *const factor = first + (size_t)reg_column(r.sample, pattern) * p.stride;

		for (unsigned k = 0; k < p.n; k++) {
			const cuda_product &o = p.product[k];
			const bool minus = (__popc(blockIdx.x & o.block) + __popc(t & o.thread)) & 1;
			const double f = minus ? -factor[k] : factor[k];

#pragma unroll
			for (int j = 0; j < N; j++)
				if (opaque(o.reg | pattern) == (unsigned)j) /* x in registers */
					x[j] += f;
		}
		pattern = (pattern - r.sample_regs) & r.sample_regs;
	} while (pattern);
	transform(x, r.sample_regs);
#pragma unroll
	for (int j = 0; j < N; j++)
		w[j] = amp_of(mad((R)x[j], v[j].x, w[j].x), mad((R)x[j], v[j].y, w[j].y));
}
