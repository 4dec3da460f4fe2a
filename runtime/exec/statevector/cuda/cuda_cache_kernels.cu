// SPDX-License-Identifier: Apache-2.0
// Kernels on final states side by side: overlaps between any two, and mixtures of all. Digests of what is exchanged.
#include "config.h"
#include "runtime/exec/statevector/cuda/cuda_complex.cuh"
#include "runtime/exec/statevector/cuda/cuda_launch.cuh"

/* (P psi)[i], times a real factor. */
template <class R> DEVICE amplitude<R> pauli_times(const cuda_term &m, const amplitude<R> *psi, size_t i, R factor)
{
	const amplitude<R> x = psi[i ^ m.flip];
	const R f = is_odd(i & m.sign) != ((m.ny & 2) != 0) ? -factor : factor;

	return m.ny & 1 ? amp_of(f * x.y, -(f * x.x)) : amp_of(f * x.x, f * x.y);
}

/* ---- overlaps ---- */

/* A block sums the overlaps of SIDE states with SIDE others over 2^CHUNK_BITS amplitudes, WIDTH at a time; a thread has one pair of
 * states. Rows of the two tiles in shared memory have a place that is not used, so that columns are in different banks. */
static constexpr uint32_t SIDE = CUDA_OVERLAP_SIDE, WIDTH = 32, ROW = WIDTH + 1, CHUNK_BITS = 11;
static_assert(SIDE * SIDE == CUDA_THREADS, "a thread for each pair of states");

static __host__ __device__ uint32_t chunks(uint32_t nbit)
{
	return nbit > CHUNK_BITS ? 1u << (nbit - CHUNK_BITS) : 1;
}

/* Block number n of the triangle (0,0), (0,1), (1,1), (0,2) ... */
DEVICE void place_in_triangle(uint32_t n, uint32_t *row, uint32_t *column)
{
	uint32_t c = 0;

	while (n > c)
		n -= ++c;
	*row = n;
	*column = c;
}

/* Amplitudes begin .. begin + WIDTH - 1 of P times the states first .. first + SIDE - 1, 0 where there are none. */
template <class R>
DEVICE void fill(amplitude<R> *tile, const cuda_overlaps &a, const cuda_term &m, uint32_t first, size_t begin)
{
	for (uint32_t k = threadIdx.x; k < SIDE * WIDTH; k += CUDA_THREADS) {
		const uint32_t row = k / WIDTH, state = first + row;
		const size_t i = begin + k % WIDTH;
		const bool exists = state < a.nstate && !(i >> a.nbit);

		tile[row * ROW + k % WIDTH] = exists
			? pauli_times<R>(m, (const amplitude<R> *)a.state + ((size_t)state << a.nbit), i, 1)
			: amp_of((R)0, (R)0);
	}
}

/* Reads the states that the block needs once for each term, and those of its rows too. */
template <class R>
__global__ void __launch_bounds__(CUDA_THREADS) overlaps(const cuda_overlaps __grid_constant__ a)
{
	extern __shared__ __align__(16) unsigned char smem_raw[];
	amplitude<R> *const left = (amplitude<R> *)smem_raw, *const right = left + SIDE * ROW;
	const uint32_t nchunk = chunks(a.nbit), chunk = blockIdx.x % nchunk;
	const size_t begin = (size_t)chunk << CHUNK_BITS;
	const size_t end = nchunk > 1 ? begin + ((size_t)1 << CHUNK_BITS) : (size_t)1 << a.nbit;
	const cuda_term one = {};
	uint32_t row, column;

	place_in_triangle(a.first + a.step * (blockIdx.x / nchunk), &row, &column);
	row *= SIDE;
	column *= SIDE;
	const uint32_t k = row + threadIdx.x / SIDE, l = column + threadIdx.x % SIDE;
	const amplitude<R> *const mine = left + threadIdx.x / SIDE * ROW,
				  *const other = right + threadIdx.x % SIDE * ROW;

	for (uint32_t t = 0; t < a.nterm; t++) {
		double re = 0, im = 0;

		for (size_t i = begin; i < end; i += WIDTH) {
			R x = 0, y = 0;

			__syncthreads();
			fill<R>(left, a, one, row, i);
			fill<R>(right, a, a.term[t], column, i);
			__syncthreads();
#pragma unroll 8
			for (uint32_t w = 0; w < WIDTH; w++) {
				x = mad(mine[w].x, other[w].x, x);
				y = mad(mine[w].x, other[w].y, y);
				x = mad(mine[w].y, other[w].y, x);
				y = mad(-mine[w].y, other[w].x, y);
			}
			re += (double)x;
			im += (double)y;
		}
		if (k <= l && l < a.nstate) {
			long long *const to = a.sum + 1 + 2 * (((size_t)t * a.nstate + k) * a.nstate + l);

			add_fixed(to, fixed_of(re, (unsigned *)a.sum));
			add_fixed(to + 1, fixed_of(im, (unsigned *)a.sum));
		}
	}
}

/* ---- mixtures ---- */

/* A thread has one amplitude of CUDA_MIX_ROWS mixtures. Reads all states for each term, writes the mixtures. */
template <class R>
__global__ void __launch_bounds__(CUDA_THREADS) mixture(const cuda_mixture __grid_constant__ a)
{
	const size_t item = (size_t)blockIdx.x * CUDA_THREADS + threadIdx.x;
	const size_t i = item & (((size_t)1 << a.nbit) - 1);
	const uint32_t first = (uint32_t)(item >> a.nbit) * CUDA_MIX_ROWS;
	const uint32_t nrow = (a.nlambda + CUDA_MIX_ROWS - 1) / CUDA_MIX_ROWS * CUDA_MIX_ROWS;
	amplitude<R> y[CUDA_MIX_ROWS];

	if (first >= a.nlambda)
		return;
#pragma unroll
	for (int k = 0; k < CUDA_MIX_ROWS; k++)
		y[k] = amp_of((R)0, (R)0);
	for (uint32_t t = 0; t < a.nterm; t++) {
		const cuda_form_term &m = a.term[t];
		const amplitude<R> *f =
			(const amplitude<R> *)a.factor + (size_t)m.form * a.nstate * nrow + first;
		const amplitude<R> *psi = (const amplitude<R> *)a.state;

		for (uint32_t l = 0; l < a.nstate; l++, f += nrow, psi += (size_t)1 << a.nbit) {
			const amplitude<R> x = pauli_times<R>(m.term, psi, i, (R)m.coefficient);

#pragma unroll
			for (int k = 0; k < CUDA_MIX_ROWS; k++)
				add_product<R>(y[k], f[k].x, f[k].y, x);
		}
	}
#pragma unroll
	for (int k = 0; k < CUDA_MIX_ROWS; k++)
		if (first + k < a.nlambda) {
			amplitude<R> *const to =
				(amplitude<R> *)a.lambda + ((size_t)(first + k) << a.nbit) + i;
			const amplitude<R> before = a.add ? *to : amp_of((R)0, (R)0);

			*to = amp_of(before.x + y[k].x, before.y + y[k].y);
		}
}

/* ---- digests ---- */

static constexpr uint32_t WORDS = 16; /* of a thread */

/* No two values of a word give the same. */
DEVICE uint64_t mix(uint64_t word, uint64_t number)
{
	uint64_t x = (word ^ number * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;

	x = (x ^ x >> 32) * 0x94d049bb133111ebu;
	return x ^ x >> 29;
}

/* Reads each word once. */
__global__ void __launch_bounds__(CUDA_THREADS) digest(const cuda_digest __grid_constant__ a)
{
	const uint32_t place = blockIdx.x % a.nplace;
	const uint64_t begin = (uint64_t)(blockIdx.x / a.nplace) * (CUDA_THREADS * WORDS) + threadIdx.x;
	const uint64_t *const word = a.data + place * a.nword;
	uint64_t sum = 0;

	if (place == a.own)
		return;
	for (uint32_t k = 0; k < WORDS; k++) {
		const uint64_t i = begin + (uint64_t)k * CUDA_THREADS;

		if (i < a.nword)
			sum += mix(word[i], a.first + i);
	}
	for (int lane = 16; lane; lane >>= 1)
		sum += __shfl_xor_sync(0xffffffffu, sum, lane);
	if (threadIdx.x % 32 == 0)
		atomicAdd(a.sum + place, (unsigned long long)sum);
}

/* ---- launches ---- */

void cuda_launch_digest(struct cuda_stream *s, const struct cuda_digest *a)
{
	const uint64_t each = CUDA_THREADS * WORDS;

	launch(s, digest, a, (a->nword + each - 1) / each * a->nplace, 0);
}

void cuda_launch_overlaps(struct cuda_stream *s, const struct cuda_overlaps *a, bool twice)
{
	const uint64_t side = (a->nstate + SIDE - 1) / SIDE, all = side * (side + 1) / 2;
	const uint64_t nblock = all > a->first ? (all - a->first + a->step - 1) / a->step : 0;
	const size_t nbyte = 2 * SIDE * ROW * (twice ? sizeof(double2) : sizeof(float2));

	if (!nblock)
		return;
	launch(s, twice ? overlaps<double> : overlaps<float>, a, nblock * chunks(a->nbit), nbyte);
}

void cuda_launch_mixture(struct cuda_stream *s, const struct cuda_mixture *a, bool twice)
{
	const uint64_t nrow = (a->nlambda + CUDA_MIX_ROWS - 1) / CUDA_MIX_ROWS;
	const uint64_t nblock = ((nrow << a->nbit) + CUDA_THREADS - 1) / CUDA_THREADS;

	launch(s, twice ? mixture<double> : mixture<float>, a, nblock, 0);
}
