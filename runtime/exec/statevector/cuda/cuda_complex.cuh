/* SPDX-License-Identifier: Apache-2.0
 * Complex arithmetic of the kernels, in both precisions: every operation is written out, and compiled as it stands. */
#pragma once

#include <cuda_runtime.h>

#include "runtime/exec/statevector/cuda/cuda_stage.h"

#define DEVICE_MEMBER __device__ __forceinline__
#define DEVICE static DEVICE_MEMBER

/* What differs between precisions. */
template <class R> struct numbers;
template <> struct numbers<float> {
	typedef float2 amp;
	static constexpr int nreg = CUDA_REGS_SINGLE;
	static constexpr int nsum = 16; /* sums of a thread at a time */
	/* Of expectations: integers, which are exact in any order, as they have all digits of most parts. */
	typedef long long part;
};
template <> struct numbers<double> {
	typedef double2 amp;
	static constexpr int nreg = CUDA_REGS_DOUBLE;
	static constexpr int nsum = 8;
	typedef double part;
};
template <class R> using amplitude = typename numbers<R>::amp;

DEVICE float mad(float a, float b, float c) { return fmaf(a, b, c); }
DEVICE double mad(double a, double b, double c) { return fma(a, b, c); }

DEVICE float2 amp_of(float x, float y) { return make_float2(x, y); }
DEVICE double2 amp_of(double x, double y) { return make_double2(x, y); }

/* y += (re + i im) x */
template <class R> DEVICE void add_product(amplitude<R> &y, R re, R im, const amplitude<R> &x)
{
	y.x = mad(re, x.x, y.x);
	y.y = mad(re, x.y, y.y);
	y.x = mad(-im, x.y, y.x);
	y.y = mad(im, x.x, y.y);
}

template <class R> DEVICE amplitude<R> product(R re, R im, const amplitude<R> &x)
{
	return amp_of(mad(-im, x.y, re * x.x), mad(im, x.x, re * x.y));
}

/* Of the number of its bits that are 1. */
DEVICE bool is_odd(size_t x) { return (__popc((unsigned)x) ^ __popc((unsigned)(x >> 32))) & 1; }

/* In units of sums: of what is finite and less than CUDA_FIXED_LIMIT. */
DEVICE long long fixed(float x) { return __float2ll_rn(x * (float)(1ll << CUDA_FIXED_BITS)); }
DEVICE long long fixed(double x) { return __double2ll_rn(x * (double)(1ll << CUDA_FIXED_BITS)); }
template <class R> DEVICE bool is_bad(R x)
{
	return !(x < (R)CUDA_FIXED_LIMIT && x > -(R)CUDA_FIXED_LIMIT);
}

/* A part in units of sums; 0 where it is bad, which sets the flag. */
template <class R> DEVICE long long fixed_of(R x, unsigned *bad)
{
	if (is_bad(x)) {
		atomicOr(bad, 1u);
		return 0;
	}
	return fixed(x);
}

/* A part of an expectation, and what is added to the sum at last. */
DEVICE long long part_of(float x, unsigned *bad) { return fixed_of(x, bad); }
DEVICE double part_of(double x, unsigned *) { return x; }
DEVICE long long fixed_of(long long sum, unsigned *) { return sum; }

DEVICE void add_fixed(long long *sum, long long x)
{
	atomicAdd((unsigned long long *)sum, (unsigned long long)x);
}
