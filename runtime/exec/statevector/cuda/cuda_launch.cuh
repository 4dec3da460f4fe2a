/* SPDX-License-Identifier: Apache-2.0
 * What the files of kernels share: one launch. */
#pragma once

#include <cuda_runtime.h>

#include "runtime/exec/statevector/cuda/cuda_launch.h"

/* Has the graph that is open been captured in a step before? */
bool cuda_graph_is_made(const struct cuda_stream *s);
/* While it is captured: remembers the node of the kernel that was launched last, with its only argument, a struct of nbyte. */
void cuda_graph_capture(struct cuda_stream *s, const void *args, size_t nbyte);
/* When it is made: its next kernel gets this argument, if it has another one. */
void cuda_graph_change(struct cuda_stream *s, const cudaKernelNodeParams *p, const void *args, size_t nbyte);

template <class Kernel, class Args>
static void launch(struct cuda_stream *s, Kernel kernel, const Args *a, uint64_t nblock, size_t shared)
{
	cudaLaunchConfig_t c = {};

	c.gridDim = dim3((unsigned)nblock);
	c.blockDim = dim3(CUDA_THREADS);
	c.dynamicSmemBytes = shared;
	c.stream = (cudaStream_t)cuda_stream_handle(s);
	if (!c.stream)
		return;
	cuda_stream_launched(s);
	if (cuda_graph_is_made(s)) {
		void *args[] = { (void *)a };
		const cudaKernelNodeParams p = { (void *)kernel, c.gridDim, c.blockDim,
			(unsigned)shared, args, NULL };

		cuda_graph_change(s, &p, a, sizeof *a);
		return;
	}
	const cudaError_t e = cudaLaunchKernelEx(&c, kernel, *a);
	if (e != cudaSuccess)
		cuda_stream_failed(s, "cudaLaunchKernelExC", (int)e);
	else if (cuda_graph_is_open(s))
		cuda_graph_capture(s, a, sizeof *a);
}
