// SPDX-License-Identifier: Apache-2.0
// Kernels with one fault each, which the emulated device has to report, graphs and functions of the host; some have none: faults NUMBER runs one of them.
#include "emu.h"

#include <stdlib.h>

#include <utility>

struct args {
	unsigned *p; /* (256) of the device */
	unsigned *host;
};

template <int FAULT> static void faulty(const args __grid_constant__ a)
{
	unsigned *const s = (unsigned *)smem_raw; /* (256) */
	const unsigned t = threadIdx.x, other = t ^ 32;

	if constexpr (FAULT == 0) { /* none: a barrier between */
		s[t] = t;
		__syncthreads();
		a.p[t] = s[other];
	} else if constexpr (FAULT == 1) { /* none: a barrier after all have read */
		s[t] = t;
		__syncthreads();
		const unsigned x = s[other] + s[t ^ 1];
		__syncthreads();
		s[t] = x;
		a.p[t] = s[t];
	} else if constexpr (FAULT == 2) {
		s[t] = t;
		a.p[t] = s[other];
	} else if constexpr (FAULT == 3) { /* lanes go on by themselves */
		s[t] = t;
		a.p[t] = s[t ^ 1];
	} else if constexpr (FAULT == 4) {
		s[t] = t;
		__syncthreads();
		a.p[t] = s[other];
		s[t] = 1;
	} else if constexpr (FAULT == 5) { /* all blocks */
		a.p[t] = blockIdx.x;
	} else if constexpr (FAULT == 6) {
		a.p[t + 1] = t;
	} else if constexpr (FAULT == 7) {
		s[t + 1] = t;
	} else if constexpr (FAULT == 8) {
		a.p[t] = s[t];
	} else if constexpr (FAULT == 9) {
		if (t < 128)
			__syncthreads();
	} else if constexpr (FAULT == 10) {
		if (t & 1)
			a.p[t] = __shfl_xor_sync(0xffffffffu, t, 2);
	} else if constexpr (FAULT == 11) {
		__stcs((float4 *)(a.p + 1), make_float4(0, 0, 0, 0));
	} else if constexpr (FAULT == 12) {
		*a.host = t;
	} else if constexpr (FAULT == 13) { /* a shuffle orders no accesses */
		s[t] = t;
		a.p[t] = s[t ^ 1] + __shfl_xor_sync(0xffffffffu, t, 1);
	}
}

template <int FAULT> static int run(unsigned nblock, int device)
{
	static unsigned host;
	cudaLaunchConfig_t c = {};
	args a = { nullptr, &host };

	c.gridDim = dim3(nblock);
	c.blockDim = dim3(256);
	c.dynamicSmemBytes = 1024;
	if (cudaSetDevice(device) || cudaMalloc((void **)&a.p, 1024) || cudaSetDevice(0)
		|| cudaStreamCreate(&c.stream))
		return 1;
	if (cudaLaunchKernelEx(&c, faulty<FAULT>, a) || cudaStreamSynchronize(c.stream))
		return 1;
	return cudaFree(a.p) || cudaStreamDestroy(c.stream);
}

/* Memory that is set and then copied, by a graph. sets: it is, and waits: while all is captured. */
static int run_graph(bool sets, bool pinned, bool waits)
{
	static char there[8];
	unsigned char *p = nullptr, *host = nullptr;
	cudaStream_t s;
	cudaGraph_t g;
	cudaGraphExec_t x;

	if (cudaMalloc((void **)&p, 8) || cudaMallocHost((void **)&host, 8) || cudaStreamCreate(&s)
		|| cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal)
		|| (sets && cudaMemsetAsync(p, 1, 8, s))
		|| cudaMemcpyAsync(pinned ? (char *)host : there, p, 8, cudaMemcpyDeviceToHost, s))
		return 1;
	if (waits)
		cudaStreamSynchronize(s);
	if (cudaStreamEndCapture(s, &g) || cudaGraphInstantiateWithFlags(&x, g, 0)
		|| cudaGraphLaunch(x, s) || cudaStreamSynchronize(s) || (sets && pinned && host[7] != 1))
		return 1;
	return cudaGraphExecDestroy(x) || cudaGraphDestroy(g) || cudaFreeHost(host) || cudaFree(p)
		|| cudaStreamDestroy(s);
}

static void wait_for(void *s) { cudaStreamSynchronize((cudaStream_t)s); }

static int run_host_function()
{
	cudaStream_t s;

	return cudaStreamCreate(&s) || cudaLaunchHostFunc(s, wait_for, s) || cudaStreamSynchronize(s)
		|| cudaStreamDestroy(s);
}

template <size_t... FAULT> static int run_fault(unsigned n, std::index_sequence<FAULT...>)
{
	static int (*const all[])(unsigned, int) = { run<FAULT>... };

	return all[n](n == 5 ? 2 : 1, 0);
}

int main(int argc, char **argv)
{
	const int n = argc > 1 ? atoi(argv[1]) : -1;

	if (n >= 0 && n < 14)
		return run_fault((unsigned)n, std::make_index_sequence<14>());
	switch (n) {
	case 14: return run<0>(1, 1); /* on the first device, memory of the second */
	case 15: return run_graph(true, true, false);
	case 16: return run_graph(false, true, false);
	case 17: return run_graph(true, false, false);
	case 18: return run_host_function();
	case 19: return run_graph(true, true, true);
	}
	return 2;
}
