// SPDX-License-Identifier: Apache-2.0
// Kernels on whole states: starts, expectations, probabilities, lambda, scaling. Sums are made in double precision.
//
// A block works on CHUNK amplitudes, thread t on number t, t + 256, ...
#include "config.h"
#include "runtime/exec/statevector/cuda/cuda_complex.cuh"
#include "runtime/exec/statevector/cuda/cuda_launch.cuh"

enum { CHUNK_BITS = 11, PER_THREAD = 1 << (CHUNK_BITS - CUDA_THREAD_BITS) };

/* Index of the k-th amplitude of this thread. */
DEVICE size_t index_of(int k)
{
	return ((size_t)blockIdx.x << CHUNK_BITS) + k * CUDA_THREADS + threadIdx.x;
}

DEVICE bool is_odd(size_t x) { return (__popc((unsigned)x) ^ __popc((unsigned)(x >> 32))) & 1; }

/* Number made of the bits bit[0], bit[1], ... of i. */
DEVICE size_t gather(size_t i, const uint8_t *bit, uint32_t n)
{
	size_t out = 0;

	for (uint32_t k = 0; k < n; k++)
		out |= (i >> bit[k] & 1) << k;
	return out;
}

/* ---- starts ---- */

/* Writes 2^nbit amplitudes. */
template <class R>
__global__ void __launch_bounds__(CUDA_THREADS) start(const cuda_start __grid_constant__ a)
{
	for (int n = 0; n < PER_THREAD; n++) {
		const size_t i = index_of(n);
		double2 x = make_double2(i & a.zero ? 0 : 1, 0);

		for (uint32_t k = 0; k < a.nvector; k++) {
			const cuda_vector &v = a.vector[k];
			const size_t at = gather(i, v.bit, v.nbit);
			const bool there = at < v.length;
			const double2 y = there ? ((const double2 *)v.entry)[at] : make_double2(0, 0);

			x = product<double>(y.x, y.y, x);
		}
		((amplitude<R> *)a.psi)[i] = amp_of((R)x.x, (R)x.y);
	}
}

/* ---- expectations ---- */

/* Re conj(x) (-i)^ny y */
template <class A> DEVICE double overlap(const A &x, const A &y, uint32_t ny)
{
	const double re = mad((double)x.x, (double)y.x, (double)x.y * y.y);
	const double im = mad((double)x.x, (double)y.y, -(double)x.y * y.x);
	const double z = ny & 1 ? im : re;

	return ny & 2 ? -z : z;
}

/* Reads 2^nbit amplitudes, from caches for all terms but the first and those that flip high bits. */
template <class R>
__global__ void __launch_bounds__(CUDA_THREADS) expect(const cuda_readout __grid_constant__ a)
{
	extern __shared__ __align__(16) unsigned char smem_raw[];
	double *const part = (double *)smem_raw; /* (CUDA_WARPS, nterm) */
	const amplitude<R> *const psi = (const amplitude<R> *)a.psi;
	const unsigned t = threadIdx.x;

	for (uint32_t k = 0; k < a.nterm; k++) {
		const cuda_term &m = a.term[k];
		double sum = 0;

		for (int n = 0; n < PER_THREAD; n++) {
			const size_t i = index_of(n);
			const double x = overlap(psi[i], psi[i ^ m.flip], m.ny);

			sum += is_odd(i & m.sign) ? -x : x;
		}
#pragma unroll
		for (int s = 1; s < 32; s *= 2)
			sum += __shfl_xor_sync(0xffffffffu, sum, s);
		if ((t & 31) == 0)
			part[(t >> 5) * a.nterm + k] = sum;
	}
	__syncthreads();
	for (uint32_t k = t; k < a.nterm; k += CUDA_THREADS) {
		double sum = 0;

		for (int w = 0; w < CUDA_WARPS; w++)
			sum += part[w * a.nterm + k];
		add_fixed(a.sum + k, fixed_of(sum, a.bad));
	}
}

/* Reads 2^nbit amplitudes once for the terms that flip nothing, and writes as many. */
template <class R>
__global__ void __launch_bounds__(CUDA_THREADS) lambda_terms(const cuda_readout __grid_constant__ a)
{
	const amplitude<R> *const psi = (const amplitude<R> *)a.psi;
	amplitude<R> *const lambda = (amplitude<R> *)a.lambda;

	for (int n = 0; n < PER_THREAD; n++) {
		const size_t i = index_of(n);
		double2 sum = make_double2(0, 0);

		for (uint32_t k = 0; k < a.nterm; k++) {
			const cuda_term &m = a.term[k];
			const amplitude<R> y = psi[i ^ m.flip];
			const bool minus = is_odd(i & m.sign) != ((m.ny & 2) != 0);
			const double f = minus ? -m.factor : m.factor;

			sum.x = mad(f, m.ny & 1 ? (double)y.y : (double)y.x, sum.x);
			sum.y = mad(f, m.ny & 1 ? -(double)y.x : (double)y.y, sum.y);
		}
		if (a.add) {
			sum.x += lambda[i].x;
			sum.y += lambda[i].y;
		}
		lambda[i] = amp_of((R)sum.x, (R)sum.y);
	}
}

/* ---- probabilities ---- */

/* Reads 2^nbit amplitudes. Few bins are summed in shared memory first. */
template <class R>
__global__ void __launch_bounds__(CUDA_THREADS) bins(const cuda_bins __grid_constant__ a)
{
	extern __shared__ __align__(16) unsigned char smem_raw[];
	long long *const near = (long long *)smem_raw;
	const uint32_t nnear = a.nbin < 32 && 1u << a.nbin <= CUDA_NEAR_BINS ? 1u << a.nbin : 0;

	for (uint32_t k = threadIdx.x; k < nnear; k += CUDA_THREADS)
		near[k] = 0;
	__syncthreads();
	for (int n = 0; n < PER_THREAD; n++) {
		const size_t i = index_of(n);
		const amplitude<R> x = ((const amplitude<R> *)a.psi)[i];
		const long long p = fixed_of(mad((double)x.x, (double)x.x, (double)x.y * x.y), a.bad);

		add_fixed((nnear ? near : a.sum) + gather(i, a.bit, a.nbin), p);
	}
	__syncthreads();
	for (uint32_t k = threadIdx.x; k < nnear; k += CUDA_THREADS)
		add_fixed(a.sum + k, near[k]);
}

template <class R>
__global__ void __launch_bounds__(CUDA_THREADS) lambda_bins(const cuda_bins __grid_constant__ a)
{
	amplitude<R> *const lambda = (amplitude<R> *)a.lambda;

	for (int n = 0; n < PER_THREAD; n++) {
		const size_t i = index_of(n);
		const amplitude<R> x = ((const amplitude<R> *)a.psi)[i];
		const double f = a.factor[gather(i, a.bit, a.nbin)];
		double2 sum = make_double2(f * x.x, f * x.y);

		if (a.add) {
			sum.x += lambda[i].x;
			sum.y += lambda[i].y;
		}
		lambda[i] = amp_of((R)sum.x, (R)sum.y);
	}
}

/* ---- scaling ---- */

template <class R>
__global__ void __launch_bounds__(CUDA_THREADS) scale_state(const cuda_scale __grid_constant__ a)
{
	amplitude<R> *const psi = (amplitude<R> *)a.psi;

	for (int n = 0; n < PER_THREAD; n++) {
		const size_t i = index_of(n);
		const amplitude<R> x = psi[i];

		psi[i] = amp_of((R)(a.factor * x.x), (R)(a.factor * x.y));
	}
}

/* ---- launches ---- */

static uint64_t chunks(uint32_t nbit) { return (uint64_t)1 << (nbit - CHUNK_BITS); }

void cuda_launch_start(struct cuda_stream *s, const struct cuda_start *a, bool twice)
{
	if (twice)
		launch(s, start<double>, a, chunks(a->nbit), 0);
	else
		launch(s, start<float>, a, chunks(a->nbit), 0);
}

void cuda_launch_expect(struct cuda_stream *s, const struct cuda_readout *a, bool twice)
{
	const size_t nbyte = sizeof(double) * CUDA_WARPS * a->nterm;

	if (twice)
		launch(s, expect<double>, a, chunks(a->nbit), nbyte);
	else
		launch(s, expect<float>, a, chunks(a->nbit), nbyte);
}

void cuda_launch_lambda(struct cuda_stream *s, const struct cuda_readout *a, bool twice)
{
	if (twice)
		launch(s, lambda_terms<double>, a, chunks(a->nbit), 0);
	else
		launch(s, lambda_terms<float>, a, chunks(a->nbit), 0);
}

void cuda_launch_bins(struct cuda_stream *s, const struct cuda_bins *a, bool twice)
{
	const size_t nbyte =
		a->nbin < 32 && 1u << a->nbin <= CUDA_NEAR_BINS ? sizeof(long long) << a->nbin : 0;

	if (twice)
		launch(s, bins<double>, a, chunks(a->nbit), nbyte);
	else
		launch(s, bins<float>, a, chunks(a->nbit), nbyte);
}

void cuda_launch_lambda_bins(struct cuda_stream *s, const struct cuda_bins *a, bool twice)
{
	if (twice)
		launch(s, lambda_bins<double>, a, chunks(a->nbit), 0);
	else
		launch(s, lambda_bins<float>, a, chunks(a->nbit), 0);
}

void cuda_launch_scale(struct cuda_stream *s, const struct cuda_scale *a, bool twice)
{
	if (twice)
		launch(s, scale_state<double>, a, chunks(a->nbit), 0);
	else
		launch(s, scale_state<float>, a, chunks(a->nbit), 0);
}
