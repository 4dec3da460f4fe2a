// SPDX-License-Identifier: Apache-2.0
// Kernels on whole states: starts, expectations, probabilities, lambda. Lambda is made in double precision.
//
// A block works on 2^CHUNK_BITS amplitudes of one sample, or all of them, thread t on number t, t + 256, ...
#include "config.h"
#include "runtime/exec/statevector/cuda/cuda_complex.cuh"
#include "runtime/exec/statevector/cuda/cuda_launch.cuh"

static constexpr uint32_t CHUNK_BITS = CUDA_CHUNK_BITS;
/* Amplitudes that a warp reads side by side, as a power of two. */
static constexpr uint32_t LINE_BITS = 5;

static __host__ __device__ uint32_t chunk_bits(uint32_t nbit)
{
	return nbit < CHUNK_BITS ? nbit : CHUNK_BITS;
}

/* The opposite of cuda_gather: bits of k to bit[0], bit[1], ... */
DEVICE size_t scatter(size_t k, const uint8_t *bit, uint32_t n)
{
	size_t out = 0;

	for (uint32_t j = 0; j < n; j++)
		out |= (k >> j & 1) << bit[j];
	return out;
}

/* A chunk of chosen bits. */
struct chosen {
	size_t sample;      /* its number */
	size_t first, mine; /* index of the chunk's first amplitude, and of this thread's */
};

DEVICE chosen chosen_chunk(const cuda_chunk &c, const cuda_readout &to)
{
	const uint32_t nother = to.nbit - chunk_bits(to.part_bits);
	const size_t first = scatter(blockIdx.x, c.other, nother);

	return { blockIdx.x >> nother, first,
		first | scatter(threadIdx.x, c.at, CUDA_THREAD_BITS) };
}

/* Index of number k in the chunk, one of this thread's. */
DEVICE size_t index_of(const chosen &c, const cuda_chunk &chunk, uint32_t k)
{
	return c.mine | scatter(k >> CUDA_THREAD_BITS, chunk.at + CUDA_THREAD_BITS,
		CHUNK_BITS - CUDA_THREAD_BITS);
}

/* ---- starts ---- */

/* Writes each amplitude. */
template <class R>
__global__ void __launch_bounds__(CUDA_THREADS) start(const cuda_start __grid_constant__ a)
{
	const size_t first = (size_t)blockIdx.x << chunk_bits(a.nbit), sample = first >> a.nbit;

	for (uint32_t k = threadIdx.x; k < 1u << chunk_bits(a.nbit); k += CUDA_THREADS) {
		const size_t i = first + k, index = i | a.first;
		double2 x = make_double2(index & a.zero ? 0 : 1, 0);

		for (uint32_t n = 0; n < a.nvector; n++) {
			const cuda_vector &v = a.vector[n];
			const double2 *const entry = (const double2 *)v.entry + sample * a.stride;
			const size_t at = cuda_gather(index, v.bit, v.nbit);
			const double2 y = at < v.length ? entry[at] : make_double2(0, 0);

			x = product<double>(y.x, y.y, x);
		}
		((amplitude<R> *)a.psi)[i] = amp_of((R)x.x, (R)x.y);
	}
}

/* ---- expectations ---- */

/* Re conj(x) (-i)^ny y */
template <class R> DEVICE R overlap(const amplitude<R> &x, const amplitude<R> &y, uint32_t ny)
{
	const R z = ny & 1 ? mad(x.x, y.y, -x.y * y.x) : mad(x.x, y.x, x.y * y.y);

	return ny & 2 ? -z : z;
}

/* x, added to lambda where it is. */
template <class R>
DEVICE amplitude<R> new_lambda(const cuda_readout &a, const amplitude<R> &lambda, double2 x)
{
	if (a.add) {
		x.x += lambda.x;
		x.y += lambda.y;
	}
	return amp_of((R)x.x, (R)x.y);
}

/* P psi at amplitude k of the chunk, without phase and sign. tile: psi of the chunk. */
template <class A>
DEVICE A flipped(const A *tile, const A *psi, const cuda_chunk &chunk, const cuda_term &m,
	size_t first, uint32_t k)
{
	if (!m.is_far)
		return tile[k ^ m.near_flip];
	return psi[(first | scatter(k, chunk.at, CHUNK_BITS)) ^ m.flip];
}

/* Amplitudes `begin` to `end` of the chunk, over the lanes of a warp. */
template <class R>
DEVICE typename numbers<R>::part warp_overlap(const amplitude<R> *tile, const amplitude<R> *psi,
	const cuda_chunk &chunk, const cuda_term &m, size_t first, uint32_t begin, uint32_t end,
	unsigned lane, unsigned *bad)
{
	typename numbers<R>::part sum = 0;

	for (uint32_t k = begin + lane; k < end; k += 32) {
		const amplitude<R> x = tile[k], y = flipped(tile, psi, chunk, m, first, k);
		const typename numbers<R>::part part = part_of(overlap<R>(x, y, m.ny), bad);

		sum += __popc(k & m.near_sign) & 1 ? -part : part;
	}
#pragma unroll
	for (int s = 1; s < 32; s *= 2)
		sum += __shfl_xor_sync(0xffffffffu, sum, s);
	return is_odd(first & m.sign) ? -sum : sum;
}

/* Copies the chunk's amplitudes to shared memory, where all terms read them. */
template <class A>
DEVICE void fill_tile(A *tile, const A *psi, const cuda_chunk &chunk, uint32_t bits,
	const chosen &c)
{
	for (uint32_t k = threadIdx.x; k < 1u << bits; k += CUDA_THREADS)
		tile[k] = psi[index_of(c, chunk, k)];
	__syncthreads();
}

/* Reads each amplitude once, and once more for each product that leaves the chunk. A warp sums one
 * of the 2^parts parts of the chunk for one term, then others. */
template <class R>
__global__ void __launch_bounds__(CUDA_THREADS) expect(const cuda_terms __grid_constant__ a)
{
	extern __shared__ __align__(16) unsigned char smem_raw[];
	typedef amplitude<R> amp;
	const uint32_t bits = chunk_bits(a.to.part_bits), n = (1u << bits) >> a.parts;
	amp *const tile = (amp *)smem_raw;
	typedef typename numbers<R>::part part_type;
	part_type *const part = (part_type *)(tile + ((size_t)1 << bits)); /* (nterm, 2^parts) */
	const unsigned t = threadIdx.x, lane = t & 31;
	const chosen c = chosen_chunk(a.chunk, a.to);
	const amp *const psi = (const amp *)a.to.psi + (c.sample << a.to.nbit);
	long long *const sums = a.to.sum + c.sample * (1 + a.to.stride);

	fill_tile(tile, psi, a.chunk, bits, c);
	for (uint32_t k = t >> 5; k < a.nterm << a.parts; k += CUDA_WARPS) {
		const uint32_t from = (k & ((1u << a.parts) - 1)) * n;
		const part_type x = warp_overlap<R>(tile, psi, a.chunk, a.term[k >> a.parts],
			c.first, from, from + n, lane, (unsigned *)sums);

		if (lane == 0)
			part[k] = x;
	}
	__syncthreads();
	for (uint32_t k = t; k < a.nterm; k += CUDA_THREADS) {
		part_type sum = 0;

		for (uint32_t i = 0; i < 1u << a.parts; i++)
			sum += part[(k << a.parts) + i];
		add_fixed(sums + 1 + a.to.first + k, fixed_of(sum, (unsigned *)sums));
	}
}

/* Reads as expect does, and writes each amplitude. */
template <class R>
__global__ void __launch_bounds__(CUDA_THREADS) lambda_terms(const cuda_terms __grid_constant__ a)
{
	extern __shared__ __align__(16) unsigned char smem_raw[];
	typedef amplitude<R> amp;
	const uint32_t bits = chunk_bits(a.to.part_bits);
	amp *const tile = (amp *)smem_raw;
	const chosen c = chosen_chunk(a.chunk, a.to);
	const amp *const psi = (const amp *)a.to.psi + (c.sample << a.to.nbit);
	amp *const lambda = (amp *)a.to.lambda + (c.sample << a.to.nbit);
	const double *const factor = a.to.factor + c.sample * a.to.stride + a.to.first;

	fill_tile(tile, psi, a.chunk, bits, c);
	for (uint32_t k = threadIdx.x; k < 1u << bits; k += CUDA_THREADS) {
		double2 sum = make_double2(0, 0);
		double own = 0; /* of products that flip nothing: exact (cuda_factor) */

		for (uint32_t n = 0; n < a.nterm; n++) {
			const cuda_term &m = a.term[n];
			const amp y = flipped(tile, psi, a.chunk, m, c.first, k);
			const bool minus = is_odd(c.first & m.sign) ^ (__popc(k & m.near_sign) & 1)
				^ (m.ny >> 1 & 1);
			const double f = minus ? -factor[n] : factor[n];

			if (!m.flip) {
				own += f;
				continue;
			}
			sum.x = mad(f, m.ny & 1 ? (double)y.y : (double)y.x, sum.x);
			sum.y = mad(f, m.ny & 1 ? -(double)y.x : (double)y.y, sum.y);
		}
		amp &to = lambda[index_of(c, a.chunk, k)];
		const amp x = tile[k], w = new_lambda<R>(a.to, to, sum);

		to = amp_of(mad((R)own, x.x, w.x), mad((R)own, x.y, w.y));
	}
}

/* ---- probabilities ---- */

/* Sums over the values whose numbers differ in bits that no bin has (mask: those that some have): a thread's own, then those
 * of other lanes. They are then in the value and lane whose numbers have none of these bits. */
template <int N> DEVICE void sum_bins(long long (&x)[N], uint32_t mask)
{
#pragma unroll
	for (int s = 1; s < N; s *= 2)
#pragma unroll
		for (int i = 0; i < N; i++)
			if (!(i & s) && !(mask >> CUDA_THREAD_BITS & s))
				x[i] += x[i | s];
#pragma unroll
	for (int s = 1; s < 32; s *= 2)
#pragma unroll
		for (int i = 0; i < N; i++)
			if (!(mask & s) && !(i & ~(mask >> CUDA_THREAD_BITS)))
				x[i] += __shfl_xor_sync(0xffffffffu, x[i], s);
}

/* Reads each amplitude. A warp sums the bins of its amplitudes, which are few since amplitudes of a chunk differ in bits that no
 * bin has where there are such (place_bins); then the block sums those of its warps. */
template <class R>
__global__ void __launch_bounds__(CUDA_THREADS) bins(const cuda_bins __grid_constant__ a)
{
	extern __shared__ __align__(16) unsigned char smem_raw[];
	const uint32_t bits = chunk_bits(a.to.part_bits), t = threadIdx.x;
	const chosen c = chosen_chunk(a.chunk, a.to);
	const amplitude<R> *const psi =
		(const amplitude<R> *)a.to.psi + (c.sample << a.to.nbit);
	long long *const near = (long long *)smem_raw;
	long long *const sums = a.to.sum + c.sample * (1 + a.to.stride);
	long long *const far = sums + 1 + a.to.first + cuda_gather(c.first, a.bit, a.nbin);
	constexpr int N = 1 << (CHUNK_BITS - CUDA_THREAD_BITS);
	long long x[N];

#pragma unroll
	for (int i = 0; i < N; i++) {
		const uint32_t k = t + i * CUDA_THREADS;

		x[i] = 0;
		if (k < 1u << bits) {
			const amplitude<R> z = psi[index_of(c, a.chunk, k)];

			x[i] = fixed_of(mad((double)z.x, (double)z.x, (double)z.y * z.y),
				(unsigned *)sums);
		}
	}
	sum_bins(x, a.near_mask);
#pragma unroll
	for (int i = 0; i < N; i++) {
		const uint32_t k = t + i * CUDA_THREADS;

		if (!(i & ~(a.near_mask >> CUDA_THREAD_BITS)) && !(t & 31 & ~a.near_mask))
			near[cuda_gather(t, a.warp_at, a.nwarp) << a.nnear | cuda_gather(k, a.near_at, a.nnear)] =
				x[i];
	}
	__syncthreads();
	for (uint32_t k = t; k < 1u << a.nnear; k += CUDA_THREADS) {
		long long sum = 0;

		for (uint32_t w = 0; w < 1u << a.nwarp; w++)
			sum += near[w << a.nnear | k];
		add_fixed(far + scatter(k, a.near_bin, a.nnear), sum);
	}
}

/* Psi and lambda may be the same. */
template <class R>
__global__ void __launch_bounds__(CUDA_THREADS) lambda_bins(const cuda_bins __grid_constant__ a)
{
	const size_t first = (size_t)blockIdx.x << chunk_bits(a.to.nbit);
	const amplitude<R> *const psi = (const amplitude<R> *)a.to.psi;
	amplitude<R> *const lambda = (amplitude<R> *)a.to.lambda;
	const double *const factor = a.to.factor + (first >> a.to.nbit) * a.to.stride + a.to.first;

	for (uint32_t k = threadIdx.x; k < 1u << chunk_bits(a.to.nbit); k += CUDA_THREADS) {
		const size_t i = first + k;
		const double f = factor[cuda_gather(i, a.bit, a.nbin)];

		lambda[i] = new_lambda<R>(a.to, lambda[i], make_double2(f * psi[i].x, f * psi[i].y));
	}
}

/* ---- launches ---- */

static uint64_t chunks(uint32_t nbit, uint32_t nsample)
{
	return (uint64_t)nsample << (nbit - chunk_bits(nbit));
}

static uint64_t chosen_chunks(const struct cuda_readout &to)
{
	return (uint64_t)to.nsample << (to.nbit - chunk_bits(to.part_bits));
}

/* The bits of a chunk, all of a part's index: those of a line, then the lowest of `first`, then the lowest others. */
static void choose_chunk(const struct cuda_readout &to, uint64_t first, struct cuda_chunk *c)
{
	const uint64_t line = ((uint64_t)1 << LINE_BITS) - 1;
	const uint64_t wanted[] = { line, first, ~(uint64_t)0 };
	uint64_t mine = 0;
	uint32_t n = 0, nother = 0;

	for (const uint64_t w : wanted)
		for (uint32_t b = 0; b < to.part_bits && n < chunk_bits(to.part_bits); b++)
			if (w >> b & 1 && !(mine >> b & 1)) {
				mine |= (uint64_t)1 << b;
				n++;
			}
	n = 0;
	for (uint32_t b = 0; b < to.nbit; b++)
		if (mine >> b & 1)
			c->at[n++] = (uint8_t)b;
		else
			c->other[nother++] = (uint8_t)b;
}

bool cuda_flips_fit(uint64_t flip, uint32_t part_bits)
{
	const uint64_t line = ((uint64_t)1 << LINE_BITS) - 1;

	return part_bits <= CHUNK_BITS || (uint32_t)__builtin_popcountll(flip | line) <= CHUNK_BITS;
}

/* Chunks in which the products stay: the first ones, where they cannot all. */
static void place_terms(struct cuda_terms *a)
{
	const uint32_t bits = chunk_bits(a->to.part_bits);
	uint64_t flip = 0, within = 0;

	for (uint32_t k = 0; k < a->nterm; k++)
		if (cuda_flips_fit(flip | a->term[k].flip, a->to.part_bits))
			flip |= a->term[k].flip;
	choose_chunk(a->to, flip, &a->chunk);
	for (uint32_t j = 0; j < bits; j++)
		within |= (uint64_t)1 << a->chunk.at[j];
	for (uint32_t k = 0; k < a->nterm; k++) {
		a->term[k].near_flip = (uint16_t)cuda_gather(a->term[k].flip, a->chunk.at, bits);
		a->term[k].near_sign = (uint16_t)cuda_gather(a->term[k].sign, a->chunk.at, bits);
		a->term[k].is_far = (a->term[k].flip & ~within) != 0;
	}
}

void cuda_launch_start(struct cuda_stream *s, const struct cuda_start *a, bool twice)
{
	launch(s, twice ? start<double> : start<float>, a, chunks(a->nbit, a->nsample), 0);
}

void cuda_launch_terms(struct cuda_stream *s, const struct cuda_terms *a, bool lambda, bool twice)
{
	const uint32_t bits = chunk_bits(a->to.part_bits);
	const size_t tile = (twice ? sizeof(double2) : sizeof(float2)) << bits;
	struct cuda_terms b = *a;

	place_terms(&b);
	/* A warp for each part, but no parts that have not enough for a warp. */
	while (!lambda && b.nterm << b.parts < CUDA_WARPS && bits > 5 + b.parts)
		b.parts++;
	if (lambda)
		launch(s, twice ? lambda_terms<double> : lambda_terms<float>, &b,
			chosen_chunks(b.to), tile);
	else
		launch(s, twice ? expect<double> : expect<float>, &b, chosen_chunks(b.to),
			tile + sizeof(long long) * ((size_t)b.nterm << b.parts));
}

/* Chunks whose amplitudes are in as few bins as possible. */
static void place_bins(struct cuda_bins *a)
{
	const uint32_t bits = chunk_bits(a->to.part_bits);
	uint64_t of_bins = 0;

	for (uint32_t k = 0; k < a->nbin; k++)
		of_bins |= (uint64_t)1 << a->bit[k];
	choose_chunk(a->to, ~of_bins, &a->chunk);
	a->nnear = a->near_mask = a->nwarp = 0;
	for (uint32_t k = 0; k < a->nbin; k++)
		for (uint32_t j = 0; j < bits; j++)
			if (a->chunk.at[j] == a->bit[k]) {
				a->near_at[a->nnear] = (uint8_t)j;
				a->near_bin[a->nnear++] = (uint8_t)k;
				a->near_mask |= 1u << j;
			}
	for (uint32_t j = 5; j < CUDA_THREAD_BITS; j++)
		if (!(a->near_mask >> j & 1))
			a->warp_at[a->nwarp++] = (uint8_t)j;
}

void cuda_launch_bins(struct cuda_stream *s, const struct cuda_bins *a, bool twice)
{
	struct cuda_bins b = *a;

	place_bins(&b);
	const size_t nbyte = sizeof(long long) << (b.nnear + b.nwarp);

	launch(s, twice ? bins<double> : bins<float>, &b, chosen_chunks(b.to), nbyte);
}

void cuda_launch_lambda_bins(struct cuda_stream *s, const struct cuda_bins *a, bool twice)
{
	launch(s, twice ? lambda_bins<double> : lambda_bins<float>, a,
		chunks(a->to.nbit, a->to.nsample), 0);
}
