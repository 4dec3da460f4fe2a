// SPDX-License-Identifier: Apache-2.0
// The kernels of a stage: a tile in registers, round by round, forward and backward.
//
// v[j], w[j]: amplitudes of psi and of lambda in register j of a thread. Bit k of j is register bit k
// of the round (cuda_stage.h).
#include "config.h"
#include "runtime/exec/statevector/cuda/cuda_launch.cuh"
#include "runtime/exec/statevector/cuda/cuda_products.cuh"

/* ---- transfers ---- */

/* One access of 16 bytes: in single precision two amplitudes, as register bit 0 is bit 0 of the
 * index. */
DEVICE void load_16(float2 *v, const float2 *p)
{
	const float4 x = __ldcs((const float4 *)p);

	v[0] = make_float2(x.x, x.y);
	v[1] = make_float2(x.z, x.w);
}

DEVICE void load_16(double2 *v, const double2 *p) { *v = __ldcs(p); }

DEVICE void save_16(const float2 *v, float2 *p)
{
	__stcs((float4 *)p, make_float4(v[0].x, v[0].y, v[1].x, v[1].y));
}

DEVICE void save_16(const double2 *v, double2 *p) { __stcs(p, *v); }

/* p: the amplitude of register 0; bit: load_at or save_at of the launch. */
template <class A, int N> DEVICE void load(A (&v)[N], const A *p, const uint8_t *bit)
{
#pragma unroll
	for (int j = 0; j < N; j += 16 / sizeof(A))
		load_16(&v[j], p + reg_index(bit, j));
}

/* psi; at: the index of register 0's amplitude. Amplitudes that are known to be 0 are not read, and
 * nothing is read where the state is |0...0>. */
template <class A, int N> DEVICE void load_forward(A (&v)[N], const cuda_stage_args &a, size_t at)
{
#pragma unroll
	for (int j = 0; j < N; j++)
		v[j] = A{};
#pragma unroll
	for (int j = 0; j < N; j += 16 / sizeof(A)) {
		const size_t k = at | reg_index(a.load_at, j);

		if (!(k & a.zero)) {
			if (a.start)
				v[j].x = 1;
			else
				load_16(&v[j], (const A *)a.psi + k);
		}
	}
}

template <class A, int N> DEVICE void save(const A (&v)[N], A *p, const uint8_t *bit)
{
#pragma unroll
	for (int j = 0; j < N; j += 16 / sizeof(A))
		save_16(&v[j], p + reg_index(bit, j));
}

/* Stores the registers in the tile in shared memory, and loads them: places are xors of columns
 * (cuda_round). */
template <class A, int N> DEVICE void put(const A (&v)[N], A *tile, const uint16_t *column, unsigned t)
{
	const unsigned at = thread_column(column, opaque(t));

#pragma unroll
	for (int j = 0; j < N; j++)
		tile[at ^ reg_column(column, j)] = v[j];
}

template <class A, int N> DEVICE void get(A (&v)[N], const A *tile, const uint16_t *column, unsigned t)
{
	const unsigned at = thread_column(column, opaque(t));

#pragma unroll
	for (int j = 0; j < N; j++)
		v[j] = tile[at ^ reg_column(column, j)];
}

/* ---- ops ---- */

/* In the templates below MASK has the register bits that are targets. EACH: registers of a thread
 * can differ in their matrix, as each sample has its own, or in whether controls exclude them.
 * Without EACH they all take one matrix, from the launch's arguments, which are fast to read at one
 * address for all threads. */

/* The matrix of an op for the sample of register 0, and the distance to that of the next sample. */
template <class R> struct matrices {
	const R *u; /* re, im */
	size_t stride;
};

/* The matrix for register j. */
template <class R, bool EACH>
DEVICE const R *of_register(const matrices<R> &m, const cuda_round &r, int j)
{
	return EACH ? m.u + m.stride * reg_column(r.sample, j) : m.u;
}

/* Do the controls that are register bits let the op act on register j? */
template <bool EACH> DEVICE bool is_on(const cuda_op &o, int j)
{
	return !EACH || (j & o.reg_mask) == o.reg_value;
}

/* The next register after j in which all targets are 0: numbers before lower_targets. */
template <int N, int MASK> DEVICE int next_base(const cuda_op &o, int j)
{
	const int rest = (N - 1) & ~(count_bits(MASK) > 1 ? o.targets : MASK);

	return (j - rest) & rest;
}

/* Multiplies each group of d registers, which differ in the bits MASK, by a matrix d x d,
 * row-major: N * d complex products, no memory but the matrix. With EACH, two or three targets have
 * been moved to MASK by lower_targets. `base` is the group's first register, and j the number that
 * it had before: samples and controls go by that. */
template <class R, int MASK, bool EACH, int N>
DEVICE void apply(amplitude<R> (&v)[N], const cuda_round &round, const cuda_op &o, const matrices<R> &m)
{
	constexpr int d = 1 << count_bits(MASK);
	int j = 0;

#pragma unroll
	for (int g = 0; g < N / d; g++, j = next_base<N, MASK>(o, j)) {
		const int base = deposit(g, (N - 1) & ~MASK);

		if (is_on<EACH>(o, j)) {
			const R *const u = of_register<R, EACH>(m, round, j);
			amplitude<R> y[d];

			/* Small matrices column by column: most results are then computed in the
			 * registers where they stay. Large ones row by row, which takes fewer
			 * registers. */
			constexpr bool by_row = d > 4;

#pragma unroll
			for (int k = 0; k < d * d; k++) {
				const int r = by_row ? k / d : k % d, c = by_row ? k % d : k / d;
				const R re = u[(r * d + c) * 2], im = u[(r * d + c) * 2 + 1];

				if (c == 0)
					y[r] = product<R>(re, im, v[base]);
				else
					add_product<R>(y[r], re, im, v[base | deposit(c, MASK)]);
			}
#pragma unroll
			for (int r = 0; r < d; r++)
				v[base | deposit(r, MASK)] = y[r];
		}
	}
}

/* The row of a diagonal matrix that register 0 of thread t has: its target bits in the thread's and
 * the block's number. */
DEVICE unsigned diagonal_row(const cuda_op &o, unsigned t)
{
	unsigned row = 0;

	for (unsigned k = 0; k < o.ntarget; k++) {
		const unsigned at = o.at[k];

		if (at >= CUDA_AT_ONE)
			row |= (at == CUDA_AT_ONE) << k;
		else if (at >= CUDA_AT_BLOCK)
			row |= (blockIdx.x >> (at - CUDA_AT_BLOCK) & 1) << k;
		else
			row |= (t >> at & 1) << k;
	}
	return row;
}

/* What its target bits in the number of register j add to the row. */
DEVICE unsigned register_row(const cuda_op &o, int j)
{
	unsigned row = 0;

#pragma unroll
	for (int k = 0; k < 3; k++)
		row |= (o.at[k] < CUDA_AT_BLOCK ? (unsigned)j << CUDA_AT_REG >> o.at[k] & 1 : 0) << k;
	return row;
}

/* Multiplies registers by entries of a diagonal matrix; row: diagonal_row. */
template <class R, bool EACH, int N>
DEVICE void scale(amplitude<R> (&v)[N], const cuda_round &r, const cuda_op &o, const matrices<R> &m,
	unsigned row)
{
#pragma unroll
	for (int j = 0; j < N; j++)
		if ((j & o.reg_mask) == o.reg_value) {
			const R *const f =
				of_register<R, EACH>(m, r, j) + 2 * (row | register_row(o, j));

			v[j] = product<R>(f[0], f[1], v[j]);
		}
}

/* Do the controls that are thread bits let the op act in thread t? */
DEVICE bool thread_on(const cuda_op &o, unsigned t)
{
	return (t & o.thread_mask) == o.thread_value;
}

/* Calls op.run<MASK, EACH>(v...), MASK being the op's targets, and v... states in N registers each.
 * With EACH the op has one target. */
template <bool EACH, int N, class Op, class... States>
DEVICE void by_targets(const Op &op, States &...v)
{
#define CASE(MASK) \
	case MASK: \
		if constexpr (!EACH || count_bits(MASK) == 1) \
			op.template run<(MASK) & (N - 1), EACH>(v...); \
		break
	switch (op.o.targets) {
		CASE(1);
		CASE(2);
		CASE(3);
		CASE(4);
		CASE(5);
		CASE(6);
		CASE(7);
	}
	if (N == 16)
		switch (op.o.targets) {
			CASE(8);
			CASE(9);
			CASE(10);
			CASE(11);
			CASE(12);
			CASE(13);
			CASE(14);
		}
#undef CASE
}

/* With EACH two or three targets are first moved to the lowest register bits, so that the code is
 * compiled for two masks instead of ten. Neither the targets nor the other bits change their order:
 * results are the same. */

/* Exchanges register bits c and c + 1. */
template <class A, int N> DEVICE void exchange_bits(A (&v)[N], int c)
{
#pragma unroll
	for (int j = 0; j < N; j++)
		if ((j >> c & 3) == 1) {
			const A x = v[j];

			v[j] = v[j ^ 3 << c];
			v[j ^ 3 << c] = x;
		}
}

/* Exchanges of adjacent bits move target number k (0: the lowest) down to bit k. Do they exchange
 * c and c + 1, as the target is above c? */
DEVICE bool is_exchanged(unsigned targets, int k, int c)
{
	return count_bits(targets) > k && count_bits(targets & ((2 << c) - 1)) <= k;
}

template <int N> DEVICE constexpr int log2_of() { return N == 16 ? 4 : 3; }

template <int N, class... States> DEVICE void lower_targets(unsigned targets, States &...v)
{
#pragma unroll
	for (int k = 0; k < log2_of<N>() - 1; k++)
#pragma unroll
		for (int c = log2_of<N>() - 2; c >= k; c--)
			if (is_exchanged(targets, k, c))
				(exchange_bits(v, c), ...);
}

/* Undoes lower_targets. */
template <int N, class... States> DEVICE void raise_targets(unsigned targets, States &...v)
{
	targets = opaque(targets);
#pragma unroll
	for (int k = log2_of<N>() - 2; k >= 0; k--)
#pragma unroll
		for (int c = k; c < log2_of<N>() - 1; c++)
			if (is_exchanged(targets, k, c))
				(exchange_bits(v, c), ...);
}

/* As by_targets with EACH, for any number of targets. */
template <int N, class Op, class... States> DEVICE void each_by_targets(const Op &op, States &...v)
{
	if (count_bits(op.o.targets) == 1) {
		by_targets<true, N>(op, v...);
		return;
	}
	lower_targets<N>(op.o.targets, v...);
	if (count_bits(op.o.targets) == 2)
		op.template run<3, true>(v...);
	else
		op.template run<7, true>(v...);
	raise_targets<N>(op.o.targets, v...);
}

/* ---- forward ---- */

template <class R> struct apply_op {
	const cuda_round &r;
	const cuda_op &o;
	const matrices<R> m;

	template <int MASK, bool EACH, int N> DEVICE_MEMBER void run(amplitude<R> (&v)[N]) const
	{
		apply<R, MASK, EACH>(v, r, o, m);
	}
};

DEVICE const float *matrix_of(const cuda_stage_args &a, float) { return a.matrix.single; }
DEVICE const double *matrix_of(const cuda_stage_args &a, double) { return a.matrix.twice; }

/* The op's matrix for all samples, in the launch's arguments. */
template <class R> DEVICE matrices<R> one_matrix(const cuda_stage_args &a, const cuda_op &o)
{
	return { matrix_of(a, R()) + 2 * o.entry, 0 };
}

/* Those of the samples of thread t. */
template <class R>
DEVICE matrices<R> sample_matrices(const cuda_stage_args &a, const cuda_round &r, const cuda_op &o,
	unsigned t)
{
	const size_t stride = 2 * (size_t)a.nsample_entry;

	return { (const R *)a.sample_matrix + thread_sample(a, r, t) * stride + 2 * o.entry, stride };
}

/* An op on psi in thread t. */
template <class R, int N>
DEVICE void forward_op(amplitude<R> (&v)[N], const cuda_stage_args &a, const cuda_round &r,
	const cuda_op &o, unsigned t)
{
	if ((blockIdx.x & o.block_mask) != o.block_value || !thread_on(o, t))
		return;
	if (!o.targets && o.of_sample)
		scale<R, true>(v, r, o, sample_matrices<R>(a, r, o, t), diagonal_row(o, t));
	else if (!o.targets)
		scale<R, false>(v, r, o, one_matrix<R>(a, o), diagonal_row(o, t));
	else if (o.of_sample || o.reg_mask)
		each_by_targets<N>(apply_op<R>{ r, o,
					   o.of_sample ? sample_matrices<R>(a, r, o, t)
						       : one_matrix<R>(a, o) },
			v);
	else
		by_targets<false, N>(apply_op<R>{ r, o, one_matrix<R>(a, o) }, v);
}

DEVICE void clear(const cuda_clears &c, unsigned t)
{
	const size_t first = blockIdx.x * c.each, end = first + c.each < c.n ? first + c.each : c.n;

#pragma unroll 1 /* most blocks have one round of it, or none */
	for (size_t k = first + t; k < end; k += CUDA_THREADS)
		__stcg(c.sum + k, 0ll);
}

/* The forward pass of a launch. Writes each amplitude once, and reads those that may be nonzero.
 * Shared memory: a tile between rounds; after the last one, terms of products' expectations. */
template <class R, int MINBLOCKS>
__global__ void __launch_bounds__(CUDA_THREADS, MINBLOCKS)
	stage_forward(const cuda_stage_args __grid_constant__ a)
{
	extern __shared__ __align__(16) unsigned char smem_raw[];
	typedef amplitude<R> amp;
	amp *const tile = (amp *)smem_raw;
	const unsigned t = threadIdx.x;
	amp v[1 << numbers<R>::nreg];

	clear(a.own, t);
	clear(a.others, t);
	load_forward(v, a, block_index(a) | thread_index(a.load_at, t));
	for (uint32_t r = 0; r < a.nround; r++) {
		if (r) {
			if (r > 1)
				__syncthreads(); /* all have loaded from the tile */
			put(v, tile, a.round[r - 1].put, t);
			__syncthreads(); /* all have stored in the tile */
			get(v, tile, a.round[r].get, t);
		}
		const uint32_t end = a.round[r].first + a.round[r].count;

		for (uint32_t k = a.round[r].first; k < end; k++)
			forward_op<R>(v, a, a.round[r], a.op[k], t);
	}
	/* With one round, others may still load psi where this thread saves. With products, others
	 * may still load from the tile, whose place their terms take, or clear their sums. */
	if (a.nround == 1 || a.products.n)
		__syncthreads();
	save(v, (amp *)a.psi + (block_index(a) | thread_index(a.save_at, t)), a.save_at);
	if (a.products.n)
		sum_products<R>(v, a, a.round[a.nround - 1], a.products.product, a.products.regs,
			(typename numbers<R>::part *)smem_raw, t);
}

/* ---- backward ---- */

/* Adds the group of registers that begins with `base` to NSUM sums, the first of which is number
 * PASS * NSUM (cuda_sum_number). */
template <class R, int MASK, int PASS, int NSUM, int N>
DEVICE void add_sums(R (&sum)[NSUM], const amplitude<R> (&v)[N], const amplitude<R> (&w)[N], int base)
{
	constexpr int d = 1 << count_bits(MASK);

#pragma unroll
	for (int r = 0; r < d; r++) {
#pragma unroll
		for (int c = r; c < d; c++) {
			const int upper = cuda_sum_number(d, r, c, 1) - PASS * NSUM, lower = upper + 1;
			const amplitude<R> pr = v[base | deposit(r, MASK)],
					   lr = w[base | deposit(r, MASK)];
			const amplitude<R> pc = v[base | deposit(c, MASK)],
					   lc = w[base | deposit(c, MASK)];

			if (r < c && upper >= 0 && upper < NSUM) {
				sum[upper] = mad(lr.x, pc.x, sum[upper]);
				sum[upper] = mad(lr.y, pc.y, sum[upper]);
				sum[upper] = mad(-lc.x, pr.x, sum[upper]);
				sum[upper] = mad(-lc.y, pr.y, sum[upper]);
			}
			if (lower >= 0 && lower < NSUM) {
				sum[lower] = mad(lr.x, pc.y, sum[lower]);
				sum[lower] = mad(-lr.y, pc.x, sum[lower]);
			}
			if (r < c && lower >= 0 && lower < NSUM) {
				sum[lower] = mad(lc.x, pr.y, sum[lower]);
				sum[lower] = mad(-lc.y, pr.x, sum[lower]);
			}
		}
	}
}

/* A lane has 2 S values and keeps S of them, the higher ones if bit S of its number is 1. To each it
 * adds that of the lane whose number differs in bit S. */
template <class R, int S, int NSUM> DEVICE void halve(R (&sum)[NSUM], unsigned lane)
{
	const bool high = lane & S;

#pragma unroll
	for (int i = 0; i < S; i++) {
		const R keep = high ? sum[i + S] : sum[i], send = high ? sum[i] : sum[i + S];

		sum[i] = keep + __shfl_xor_sync(0xffffffffu, send, S);
	}
}

/* The sum over the warp of value number lane % NSUM; NSUM is 4, 8 or 16. */
template <class R, int NSUM> DEVICE R warp_sum(R (&sum)[NSUM], unsigned lane)
{
	if constexpr (NSUM > 8)
		halve<R, 8>(sum, lane);
	if constexpr (NSUM > 4)
		halve<R, 4>(sum, lane);
	halve<R, 2>(sum, lane);
	halve<R, 1>(sum, lane);
	R x = sum[0];

#pragma unroll
	for (int s = NSUM; s < 32; s *= 2)
		x += __shfl_xor_sync(0xffffffffu, x, s);
	return x;
}

/* Where the first of an op's sums is: of this warp, in shared memory; or where each sample has its
 * own, in global memory that of register 0's sample, and `stride` further the next sample's. */
struct sums_to {
	long long *sum;
	size_t stride;
};

/* An op of the backward kernel in thread t: its sums of psi (v) and lambda (w), then its matrix
 * times each of them that o.undo names. Where each sample has its own sums, they are made for one
 * pattern of the register bits that number samples (sample_regs) after the other. */
template <class R> struct undo_op {
	const cuda_stage_args &a;
	const cuda_round &r;
	const cuda_op &o;
	const matrices<R> m;
	const sums_to to;
	const unsigned t;

	/* Adds the sums over the lanes of each sample to first[], in global memory. */
	template <int NSUM> DEVICE_MEMBER void keep_sample_sums(R (&sum)[NSUM], long long *first) const
	{
#pragma unroll
		for (int i = 0; i < NSUM; i++) {
#pragma unroll
			for (unsigned s = 1; s < 32; s *= 2)
				if (!(r.sample_lanes & s))
					sum[i] += __shfl_xor_sync(0xffffffffu, sum[i], s);
			if (!(t & 31 & ~r.sample_lanes))
				add_fixed(first + i, fixed_of((double)sum[i], a.bad));
		}
	}

	/* Keeps sums over the lanes as the op's number first, first + 1, ..., of the pattern. */
	template <bool EACH, int NSUM>
	DEVICE_MEMBER void keep_sums(R (&sum)[NSUM], int first, int pattern) const
	{
		const unsigned lane = t & 31;

		if (EACH && o.of_sample) {
			keep_sample_sums(sum,
				to.sum + to.stride * reg_column(r.sample, pattern) + first);
			return;
		}
		const R x = warp_sum(sum, lane);

		if (lane < NSUM)
			to.sum[first + lane] = fixed_of((double)x, a.bad);
	}

	/* The next pattern; 0: there is none. */
	template <bool EACH> DEVICE_MEMBER int next_pattern(int pattern) const
	{
		return EACH && o.of_sample ? (pattern - r.sample_regs) & r.sample_regs : 0;
	}

	template <bool EACH> DEVICE_MEMBER bool has_pattern(int j, int pattern) const
	{
		return !EACH || !o.of_sample || (j & r.sample_regs) == pattern;
	}

	/* The sums of a dense matrix, from pass PASS on: a pass makes as many as a thread has
	 * registers for. on: thread_on. */
	template <int MASK, int PASS, bool EACH, int N>
	DEVICE_MEMBER void sum_dense(const amplitude<R> (&v)[N], const amplitude<R> (&w)[N], bool on) const
	{
		constexpr int d = 1 << count_bits(MASK), most = numbers<R>::nsum;
		constexpr int nsum = d * d < most ? d * d : most;
		int pattern = 0;

		do {
			R sum[nsum];

#pragma unroll
			for (int i = 0; i < nsum; i++)
				sum[i] = 0;
			if (on) {
				int j = 0;
#pragma unroll
				for (int k = 0; k < N / d; k++, j = next_base<N, MASK>(o, j)) {
					const int base = deposit(k, (N - 1) & ~MASK);

					if (is_on<EACH>(o, j) && has_pattern<EACH>(j, pattern))
						add_sums<R, MASK, PASS>(sum, v, w, base);
				}
			}
			keep_sums<EACH>(sum, nsum * PASS, pattern);
			pattern = next_pattern<EACH>(pattern);
		} while (pattern);
		if constexpr ((PASS + 1) * nsum < d * d)
			sum_dense<MASK, PASS + 1, EACH>(v, w, on);
	}

	/* A dense matrix on the register bits MASK. */
	template <int MASK, bool EACH, int N>
	DEVICE_MEMBER void run(amplitude<R> (&v)[N], amplitude<R> (&w)[N]) const
	{
		const bool on = thread_on(o, t);

		if (o.sum >= 0)
			sum_dense<MASK, 0, EACH>(v, w, on);
		/* Two branches: interleaved they take more registers than a thread has. */
		if (on && (o.undo & CUDA_UNDO_PSI))
			apply<R, MASK, EACH>(v, r, o, m);
		if (on && (o.undo & CUDA_UNDO_LAMBDA))
			apply<R, MASK, EACH>(w, r, o, m);
	}

	/* The sums of a diagonal matrix: s[r,r] alone, always eight. row: diagonal_row. */
	template <int N>
	DEVICE_MEMBER void sum_diagonal(const amplitude<R> (&v)[N], const amplitude<R> (&w)[N], bool on,
		unsigned row) const
	{
		int pattern = 0;

		do {
			R sum[8];

#pragma unroll
			for (int i = 0; i < 8; i++)
				sum[i] = 0;
#pragma unroll
			for (int j = 0; j < N; j++) {
				const bool added = on && (j & o.reg_mask) == o.reg_value
					&& has_pattern<true>(j, pattern);
				const unsigned at = added ? row | register_row(o, j) : 8;
				const R x = mad(w[j].x, v[j].y, -w[j].y * v[j].x);

#pragma unroll
				for (unsigned i = 0; i < 8; i++)
					if (i == at)
						sum[i] += x;
			}
			keep_sums<true>(sum, 0, pattern);
			pattern = next_pattern<true>(pattern);
		} while (pattern);
	}
};

/* A diagonal matrix times psi and lambda. */
template <class R, bool EACH, int N>
DEVICE void undo_diagonal(amplitude<R> (&v)[N], amplitude<R> (&w)[N], const cuda_round &r,
	const cuda_op &o, const matrices<R> &m, unsigned row)
{
	if (o.undo & CUDA_UNDO_PSI)
		scale<R, EACH>(v, r, o, m, row);
	if (o.undo & CUDA_UNDO_LAMBDA)
		scale<R, EACH>(w, r, o, m, row);
}

/* An op on psi (v) and lambda (w) in thread t. warp_sums: (nsum) of this warp, in shared memory. */
template <class R, int N>
DEVICE void backward_op(amplitude<R> (&v)[N], amplitude<R> (&w)[N], const cuda_stage_args &a,
	const cuda_round &r, const cuda_op &o, long long *warp_sums, unsigned t)
{
	if ((blockIdx.x & o.block_mask) != o.block_value)
		return;
	const sums_to to = o.of_sample
		? sums_to{ a.sample_sum + thread_sample(a, r, t) * a.nsample_sum + o.sum,
			  a.nsample_sum }
		: sums_to{ warp_sums + o.sum, 0 };
	const undo_op<R> undo{ a, r, o, one_matrix<R>(a, o), to, t };

	if (!o.targets) {
		const bool on = thread_on(o, t);
		const unsigned row = diagonal_row(o, t);

		if (o.sum >= 0)
			undo.sum_diagonal(v, w, on, row);
		if (on && o.of_sample)
			undo_diagonal<R, true>(v, w, r, o, sample_matrices<R>(a, r, o, t), row);
		else if (on)
			undo_diagonal<R, false>(v, w, r, o, undo.m, row);
	} else if (o.of_sample || o.reg_mask) {
		each_by_targets<N>(undo_op<R>{ a, r, o,
					   o.of_sample ? sample_matrices<R>(a, r, o, t) : undo.m, to, t },
			v, w);
	} else {
		by_targets<false, N>(undo, v, w);
	}
}

/* psi = |0...0>, and lambda = 0 during the forward pass. */
template <class A, int N> DEVICE void start_both(A (&v)[N], A (&w)[N], const cuda_stage_args &a, unsigned t)
{
	const size_t at = block_index(a) | thread_index(a.load_at, t);

#pragma unroll
	for (int j = 0; j < N; j++) {
		v[j] = w[j] = A{};
		if (!((at | reg_index(a.load_at, j)) & a.zero))
			v[j].x = 1;
	}
}

/* psi from memory; lambda from memory or of psi, without the products (enum cuda_lambda). */
template <class R, int N>
DEVICE void load_both(amplitude<R> (&v)[N], amplitude<R> (&w)[N], const cuda_stage_args &a, unsigned t)
{
	const size_t at = block_index(a) | thread_index(a.load_at, t);
	const unsigned from = a.lambda_from;

	load(v, (const amplitude<R> *)a.psi + at, a.load_at);
	if (from == CUDA_LAMBDA_STORED || from == CUDA_LAMBDA_ADDED) {
		load(w, (const amplitude<R> *)a.lambda + at, a.load_at);
		return;
	}
#pragma unroll
	for (int j = 0; j < N; j++)
		w[j] = from == CUDA_LAMBDA_MINUS_I_PSI ? amp_of(v[j].y, -v[j].x)
			: from == CUDA_LAMBDA_PSI ? v[j]
						  : amp_of((R)0, (R)0);
}

/* The backward pass of a launch; where nforward is not 0, both passes.
 *
 * The rounds before nforward apply ops to psi; then the expectations of products are summed. Round
 * nforward begins the backward pass: first products are added to lambda, with factors that the
 * kernel computes from these sums where there is a loss. From then on each op makes its sums, and is
 * undone on both states. In the end the block adds the sums of its warps to those in global memory.
 *
 * Shared memory: between rounds a tile of psi and one of lambda; at the same place, at other times,
 * terms of expectations, then factors; behind them the sums of each warp. Global memory: psi, and
 * lambda where it is stored, are read once, but not with nforward; where a.save, both are written. */
template <class R, int MINBLOCKS>
__global__ void __launch_bounds__(CUDA_THREADS, MINBLOCKS)
	stage_backward(const cuda_stage_args __grid_constant__ a)
{
	extern __shared__ __align__(16) unsigned char smem_raw[];
	typedef amplitude<R> amp;
	constexpr int N = 1 << numbers<R>::nreg;
	amp *const tile = (amp *)smem_raw, *const tile_lambda = tile + N * CUDA_THREADS;
	double *const factor = (double *)smem_raw;
	long long *const sums = (long long *)(tile_lambda + N * CUDA_THREADS);
	const unsigned t = threadIdx.x;
	long long *const warp_sums = sums + (t >> 5) * a.nsum;
	amp v[N], w[N];

	for (uint32_t i = t & 31; i < a.nsum; i += 32)
		warp_sums[i] = 0;
	__syncthreads(); /* before other lanes write sums there */
	if (a.nforward)
		start_both(v, w, a, t);
	else
		load_both<R>(v, w, a, t);
	for (uint32_t r = 0; r < a.nround; r++) {
		if (r) {
			if (r > 1 || a.products.n)
				__syncthreads(); /* all have loaded, and read the factors */
			if (r == a.nforward) {
				sum_products<R>(v, a, a.round[r - 1], a.read, a.read_regs,
					(typename numbers<R>::part *)smem_raw, t);
				__syncthreads(); /* all have read the terms, and added sums */
			}
			put(v, tile, a.round[r - 1].put, t);
			if (r > a.nforward)
				put(w, tile_lambda, a.round[r - 1].put, t);
			__syncthreads(); /* all have stored in the tiles */
			get(v, tile, a.round[r].get, t);
			if (r > a.nforward)
				get(w, tile_lambda, a.round[r].get, t);
		}
		if (r == a.nforward && a.products.n && a.products.loss.number) {
			if (r)
				__syncthreads(); /* all have loaded from the tiles */
			make_factors(a, factor, t);
			__syncthreads(); /* all factors are stored */
		}
		const int first = a.round[r].first, end = first + a.round[r].count;

		/* k = -1: products are added to lambda. As an iteration of this loop it does not
		 * hold registers at the same time as ops. */
		for (int k = r == a.nforward && a.products.n ? -1 : first; k < end; k = k < 0 ? first : k + 1)
			if (k < 0)
				add_products<R>(v, w, a, a.round[a.nforward], factor, t);
			else
				backward_op<R>(v, w, a, a.round[r], a.op[k], warp_sums, t);
	}
	__syncthreads(); /* all warps have their sums, and with one round all have loaded */
	for (uint32_t i = t; i < a.nsum; i += CUDA_THREADS) {
		long long x = 0;

		for (int k = 0; k < CUDA_WARPS; k++)
			x += sums[k * a.nsum + i];
		add_fixed(a.sum + i, x);
	}
	if (a.save) {
		const size_t at = block_index(a) | thread_index(a.save_at, t);

		save(v, (amp *)a.psi + at, a.save_at);
		save(w, (amp *)a.lambda + at, a.save_at);
	}
}

/* ---- launches ---- */

/* Blocks that a multiprocessor can hold at least, which bounds the registers of a thread. */
enum { FORWARD_BLOCKS = 4, FORWARD_BLOCKS_DOUBLE = 3, BACKWARD_BLOCKS = 2 };

static const size_t TILE_BYTES = (size_t)CUDA_THREADS << (CUDA_REGS_SINGLE + 3);
static_assert(TILE_BYTES == (size_t)CUDA_THREADS << (CUDA_REGS_DOUBLE + 4),
	"tiles of both precisions have equal bytes");
static_assert(sizeof(cuda_stage_args) <= 32764, "arguments of a launch");

static size_t backward_bytes(unsigned nsum)
{
	return 2 * TILE_BYTES + sizeof(long long) * CUDA_WARPS * nsum;
}

/* More shared memory than the 48 KiB that a block may have otherwise. */
static void allow_shared(struct cuda_stream *s, const void *kernel)
{
	const cudaError_t e = cudaFuncSetAttribute(kernel,
		cudaFuncAttributeMaxDynamicSharedMemorySize, (int)backward_bytes(CUDA_SUMS_MAX));

	if (e != cudaSuccess)
		cuda_stream_failed(s, "cudaFuncSetAttribute", (int)e);
}

void cuda_kernels_open(struct cuda_stream *s)
{
	if (!cuda_stream_handle(s))
		return;
	allow_shared(s, (const void *)stage_backward<float, BACKWARD_BLOCKS>);
	allow_shared(s, (const void *)stage_backward<double, BACKWARD_BLOCKS>);
}

void cuda_launch_stage(struct cuda_stream *s, const struct cuda_stage_args *a, uint64_t nblock,
	bool back, bool twice)
{
	launch(s,
		back ? twice ? stage_backward<double, BACKWARD_BLOCKS>
			     : stage_backward<float, BACKWARD_BLOCKS>
		: twice ? stage_forward<double, FORWARD_BLOCKS_DOUBLE>
			: stage_forward<float, FORWARD_BLOCKS>,
		a, nblock, back ? backward_bytes(a->nsum) : TILE_BYTES);
}
