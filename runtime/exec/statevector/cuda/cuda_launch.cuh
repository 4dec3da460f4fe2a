/* SPDX-License-Identifier: Apache-2.0
 * What the files of kernels share: one launch. */
#pragma once

#include <cuda_runtime.h>

#include "runtime/exec/statevector/cuda/cuda_launch.h"

/* Before a launch with this only argument, a struct of nbyte: sets its stream. False: nothing is to be launched. The stream has failed;
 * or the graph that is open is there from a step before, and its next kernel has got the argument. */
bool cuda_launch_begin(struct cuda_stream *s, cudaLaunchConfig_t *c, const void *kernel, const void *args, size_t nbyte);
/* Its result. */
void cuda_launch_end(struct cuda_stream *s, cudaError_t e, const void *args, size_t nbyte);

template <class Kernel, class Args>
static void launch(struct cuda_stream *s, Kernel kernel, const Args *a, uint64_t nblock, size_t shared)
{
	cudaLaunchConfig_t c = {};

	c.gridDim = dim3((unsigned)nblock);
	c.blockDim = dim3(CUDA_THREADS);
	c.dynamicSmemBytes = shared;
	if (cuda_launch_begin(s, &c, (const void *)kernel, a, sizeof *a))
		cuda_launch_end(s, cudaLaunchKernelEx(&c, kernel, *a), a, sizeof *a);
}
