// SPDX-License-Identifier: Apache-2.0
// Kernels on whole states: starts, expectations, probabilities, lambda, scaling. Sums are made in double precision.
//
// A block works on at most 2^CHUNK_BITS amplitudes of one sample, thread t on number t, t + 256, ...
#include "config.h"
#include "runtime/exec/statevector/cuda/cuda_complex.cuh"
#include "runtime/exec/statevector/cuda/cuda_launch.cuh"

static constexpr uint32_t CHUNK_BITS = 11;

/* What a block works on. */
struct chunk {
	size_t first, sample; /* of all amplitudes; number of the sample */
	size_t begin, end;    /* of the sample's amplitudes: this thread's first, and where the block's end */
};

static __host__ __device__ uint32_t chunk_bits(uint32_t nbit)
{
	return nbit < CHUNK_BITS ? nbit : CHUNK_BITS;
}

DEVICE chunk chunk_of(uint32_t nbit)
{
	const uint32_t bits = chunk_bits(nbit);
	const size_t sample = blockIdx.x >> (nbit - bits);
	const size_t begin = ((size_t)blockIdx.x << bits) - (sample << nbit);

	return { sample << nbit, sample, begin + threadIdx.x, begin + ((size_t)1 << bits) };
}

/* Number made of the bits bit[0], bit[1], ... of i. */
DEVICE size_t gather(size_t i, const uint8_t *bit, uint32_t n)
{
	size_t out = 0;

	for (uint32_t k = 0; k < n; k++)
		out |= (i >> bit[k] & 1) << k;
	return out;
}

/* ---- starts ---- */

/* Writes each amplitude. */
template <class R>
__global__ void __launch_bounds__(CUDA_THREADS) start(const cuda_start __grid_constant__ a)
{
	const chunk c = chunk_of(a.nbit);

	for (size_t i = c.begin; i < c.end; i += CUDA_THREADS) {
		double2 x = make_double2(i & a.zero ? 0 : 1, 0);

		for (uint32_t k = 0; k < a.nvector; k++) {
			const cuda_vector &v = a.vector[k];
			const double2 *const entry = (const double2 *)v.entry + c.sample * a.stride;
			const size_t at = gather(i, v.bit, v.nbit);
			const double2 y = at < v.length ? entry[at] : make_double2(0, 0);

			x = product<double>(y.x, y.y, x);
		}
		((amplitude<R> *)a.psi)[c.first + i] = amp_of((R)x.x, (R)x.y);
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

template <class R> DEVICE const amplitude<R> *psi_of(const cuda_readout &a, const chunk &c)
{
	return (const amplitude<R> *)a.psi + c.first;
}

template <class R> DEVICE amplitude<R> *lambda_of(const cuda_readout &a, const chunk &c)
{
	return (amplitude<R> *)a.lambda + c.first;
}

DEVICE long long *sums_of(const cuda_readout &a, const chunk &c)
{
	return a.sum + c.sample * (1 + a.stride);
}

DEVICE const double *factors_of(const cuda_readout &a, const chunk &c)
{
	return a.factor + c.sample * a.stride + a.first;
}

template <class R> DEVICE void set_lambda(const cuda_readout &a, amplitude<R> &lambda, double2 x)
{
	if (a.add) {
		x.x += lambda.x;
		x.y += lambda.y;
	}
	lambda = amp_of((R)x.x, (R)x.y);
}

/* Of the amplitudes `begin` to `end` of a sample, over the lanes of a warp. */
template <class A>
DEVICE double warp_overlap(const A *psi, const cuda_term &m, size_t begin, size_t end, unsigned lane)
{
	double sum = 0;

	for (size_t i = begin + lane; i < end; i += 32) {
		const double x = overlap(psi[i], psi[i ^ m.flip], m.ny);

		sum += is_odd(i & m.sign) ? -x : x;
	}
#pragma unroll
	for (int s = 1; s < 32; s *= 2)
		sum += __shfl_xor_sync(0xffffffffu, sum, s);
	return sum;
}

/* Reads each amplitude, from caches for all terms but the first and those that flip high bits. A warp sums one of the 2^parts
 * parts of the block's amplitudes for one term, then others. */
template <class R>
__global__ void __launch_bounds__(CUDA_THREADS) expect(const cuda_terms __grid_constant__ a)
{
	extern __shared__ __align__(16) unsigned char smem_raw[];
	double *const part = (double *)smem_raw; /* (nterm, 2^parts) */
	const unsigned t = threadIdx.x, lane = t & 31;
	const chunk c = chunk_of(a.to.nbit);
	const size_t begin = c.begin - t, n = (c.end - begin) >> a.parts;
	long long *const sums = sums_of(a.to, c);

	for (uint32_t k = t >> 5; k < a.nterm << a.parts; k += CUDA_WARPS) {
		const size_t from = begin + (k & ((1u << a.parts) - 1)) * n;
		const double x = warp_overlap(psi_of<R>(a.to, c), a.term[k >> a.parts], from,
			from + n, lane);

		if (lane == 0)
			part[k] = x;
	}
	__syncthreads();
	for (uint32_t k = t; k < a.nterm; k += CUDA_THREADS) {
		double sum = 0;

		for (uint32_t i = 0; i < 1u << a.parts; i++)
			sum += part[(k << a.parts) + i];
		add_fixed(sums + 1 + a.to.first + k, fixed_of(sum, (unsigned *)sums));
	}
}

/* Reads each amplitude once for the terms that flip nothing, and writes it. */
template <class R>
__global__ void __launch_bounds__(CUDA_THREADS) lambda_terms(const cuda_terms __grid_constant__ a)
{
	const chunk c = chunk_of(a.to.nbit);
	const amplitude<R> *const psi = psi_of<R>(a.to, c);
	amplitude<R> *const lambda = lambda_of<R>(a.to, c);
	const double *const factor = factors_of(a.to, c);

	for (size_t i = c.begin; i < c.end; i += CUDA_THREADS) {
		double2 sum = make_double2(0, 0);

		for (uint32_t k = 0; k < a.nterm; k++) {
			const cuda_term &m = a.term[k];
			const amplitude<R> y = psi[i ^ m.flip];
			const bool minus = is_odd(i & m.sign) != ((m.ny & 2) != 0);
			const double f = minus ? -factor[k] : factor[k];

			sum.x = mad(f, m.ny & 1 ? (double)y.y : (double)y.x, sum.x);
			sum.y = mad(f, m.ny & 1 ? -(double)y.x : (double)y.y, sum.y);
		}
		set_lambda<R>(a.to, lambda[i], sum);
	}
}

/* ---- probabilities ---- */

/* Reads each amplitude. Few bins are summed in shared memory first. */
template <class R>
__global__ void __launch_bounds__(CUDA_THREADS) bins(const cuda_bins __grid_constant__ a)
{
	extern __shared__ __align__(16) unsigned char smem_raw[];
	const chunk c = chunk_of(a.to.nbit);
	const amplitude<R> *const psi = psi_of<R>(a.to, c);
	long long *const near = (long long *)smem_raw, *const sums = sums_of(a.to, c);
	long long *const far = sums + 1 + a.to.first;
	const uint32_t nnear = a.nbin < 32 && 1u << a.nbin <= CUDA_NEAR_BINS ? 1u << a.nbin : 0;

	for (uint32_t k = threadIdx.x; k < nnear; k += CUDA_THREADS)
		near[k] = 0;
	__syncthreads();
	for (size_t i = c.begin; i < c.end; i += CUDA_THREADS) {
		const amplitude<R> x = psi[i];
		const double p = mad((double)x.x, (double)x.x, (double)x.y * x.y);

		add_fixed((nnear ? near : far) + gather(i, a.bit, a.nbin),
			fixed_of(p, (unsigned *)sums));
	}
	__syncthreads();
	for (uint32_t k = threadIdx.x; k < nnear; k += CUDA_THREADS)
		add_fixed(far + k, near[k]);
}

template <class R>
__global__ void __launch_bounds__(CUDA_THREADS) lambda_bins(const cuda_bins __grid_constant__ a)
{
	const chunk c = chunk_of(a.to.nbit);
	const amplitude<R> *const psi = psi_of<R>(a.to, c);
	amplitude<R> *const lambda = lambda_of<R>(a.to, c);
	const double *const factor = factors_of(a.to, c);

	for (size_t i = c.begin; i < c.end; i += CUDA_THREADS) {
		const double f = factor[gather(i, a.bit, a.nbin)];

		set_lambda<R>(a.to, lambda[i], make_double2(f * psi[i].x, f * psi[i].y));
	}
}

/* ---- scaling ---- */

template <class R>
__global__ void __launch_bounds__(CUDA_THREADS) scale_state(const cuda_scale __grid_constant__ a)
{
	const chunk c = chunk_of(a.nbit);
	amplitude<R> *const psi = (amplitude<R> *)a.psi + c.first;
	const double f = a.factor[c.sample];

	for (size_t i = c.begin; i < c.end; i += CUDA_THREADS)
		psi[i] = amp_of((R)(f * psi[i].x), (R)(f * psi[i].y));
}

/* ---- launches ---- */

static uint64_t chunks(uint32_t nbit, uint32_t nsample)
{
	return (uint64_t)nsample << (nbit - chunk_bits(nbit));
}

void cuda_launch_start(struct cuda_stream *s, const struct cuda_start *a, bool twice)
{
	if (twice)
		launch(s, start<double>, a, chunks(a->nbit, a->nsample), 0);
	else
		launch(s, start<float>, a, chunks(a->nbit, a->nsample), 0);
}

void cuda_launch_expect(struct cuda_stream *s, const struct cuda_terms *a, bool twice)
{
	const uint32_t bits = chunk_bits(a->to.nbit);
	struct cuda_terms b = *a;

	/* A warp for each part, but no parts that have not enough for a warp. */
	while (b.nterm << b.parts < CUDA_WARPS && bits > 5 + b.parts)
		b.parts++;
	const size_t nbyte = sizeof(double) * ((size_t)b.nterm << b.parts);

	if (twice)
		launch(s, expect<double>, &b, chunks(b.to.nbit, b.to.nsample), nbyte);
	else
		launch(s, expect<float>, &b, chunks(b.to.nbit, b.to.nsample), nbyte);
}

void cuda_launch_lambda(struct cuda_stream *s, const struct cuda_terms *a, bool twice)
{
	if (twice)
		launch(s, lambda_terms<double>, a, chunks(a->to.nbit, a->to.nsample), 0);
	else
		launch(s, lambda_terms<float>, a, chunks(a->to.nbit, a->to.nsample), 0);
}

void cuda_launch_bins(struct cuda_stream *s, const struct cuda_bins *a, bool twice)
{
	const size_t nbyte =
		a->nbin < 32 && 1u << a->nbin <= CUDA_NEAR_BINS ? sizeof(long long) << a->nbin : 0;

	if (twice)
		launch(s, bins<double>, a, chunks(a->to.nbit, a->to.nsample), nbyte);
	else
		launch(s, bins<float>, a, chunks(a->to.nbit, a->to.nsample), nbyte);
}

void cuda_launch_lambda_bins(struct cuda_stream *s, const struct cuda_bins *a, bool twice)
{
	if (twice)
		launch(s, lambda_bins<double>, a, chunks(a->to.nbit, a->to.nsample), 0);
	else
		launch(s, lambda_bins<float>, a, chunks(a->to.nbit, a->to.nsample), 0);
}

void cuda_launch_scale(struct cuda_stream *s, const struct cuda_scale *a, bool twice)
{
	if (twice)
		launch(s, scale_state<double>, a, chunks(a->nbit, a->nsample), 0);
	else
		launch(s, scale_state<float>, a, chunks(a->nbit, a->nsample), 0);
}
