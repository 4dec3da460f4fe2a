/* SPDX-License-Identifier: Apache-2.0
 * The part of CUDA that this project's kernels and host code use, for a C++ compiler alone.
 *
 * It stands in place of the toolkit's header: kernels become functions that the emulated device (emu_device.cpp) calls once a
 * thread, and calls of the runtime go to emu_runtime.cpp. Kernels share memory by one array, smem_raw. Compiled with
 * -fsanitize=thread, every access of a kernel calls the emulated device, which checks it; no library of a sanitizer is linked. */
#ifndef EMU_CUDA_RUNTIME_H
#define EMU_CUDA_RUNTIME_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <functional>

/* ---- words of the language ---- */

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __shared__
#define __grid_constant__ &/* "const T __grid_constant__ a": the launch's copy */

struct dim3 {
	unsigned x, y, z;
	constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
struct alignas(8) float2 {
	float x, y;
};
struct alignas(16) float4 {
	float x, y, z, w;
};
struct alignas(16) double2 {
	double x, y;
};

static __forceinline__ float2 make_float2(float x, float y) { return float2{ x, y }; }
static __forceinline__ float4 make_float4(float x, float y, float z, float w)
{
	return float4{ x, y, z, w };
}
static __forceinline__ double2 make_double2(double x, double y) { return double2{ x, y }; }

/* ---- the device's side ---- */

/* Of the thread that runs; the emulated device sets them whenever it changes the thread. */
extern dim3 threadIdx, blockIdx;

enum emu_meeting { EMU_BLOCK = 1, EMU_SHUFFLE_XOR };
/* Waits for the other threads of the block, or of the whole warp; a shuffle's value of the lane lane ^ other. Line: where, as
 * meetings at different places differ. */
uint64_t emu_meet(enum emu_meeting kind, uint64_t value, unsigned other, int line);
/* Is it a barrier to be left out (EMU_WITHOUT)? */
bool emu_is_left_out(const char *file, int line);

static __forceinline__ void __syncthreads(const char *file = __builtin_FILE(),
	int line = __builtin_LINE())
{
	if (!emu_is_left_out(file, line))
		emu_meet(EMU_BLOCK, 0, 0, line);
}

/* The mask is that of all lanes, as no kernel has another. */
template <class T>
static __forceinline__ T __shfl_xor_sync(unsigned, T x, int other, int line = __builtin_LINE())
{
	uint64_t value = 0;

	static_assert(sizeof x <= sizeof value, "shuffles move 4 or 8 bytes");
	__builtin_memcpy(&value, &x, sizeof x);
	value = emu_meet(EMU_SHUFFLE_XOR, value, (unsigned)other, line);
	__builtin_memcpy(&x, &value, sizeof x);
	return x;
}

/* What is one access of its whole width, whatever a compiler makes of it. */
float4 __ldcs(const float4 *p);
double2 __ldcs(const double2 *p);
void __stcs(float4 *p, float4 x);
void __stcs(double2 *p, double2 x);
/* Of sums. */
void __stcg(long long *p, long long x);
long long __ldcg(const long long *p);
/* None of float or double: their sums depend on the order. */
unsigned atomicOr(unsigned *p, unsigned x);
unsigned long long atomicAdd(unsigned long long *p, unsigned long long x);

/* Multiply-adds are counted where every access is checked. */
float emu_mad(float a, float b, float c);
double emu_mad(double a, double b, double c);
#ifdef __SANITIZE_THREAD__
#define fmaf(a, b, c) emu_mad(a, b, c)
#define fma(a, b, c) emu_mad(a, b, c)
#endif

static __forceinline__ long long __float2ll_rn(float x) { return llrintf(x); }
static __forceinline__ long long __double2ll_rn(double x) { return llrint(x); }
static __forceinline__ int __ffs(int x) { return __builtin_ffs(x); }
static __forceinline__ int __popc(unsigned x) { return __builtin_popcount(x); }

/* ---- the host's side ---- */

/* Where NCCL and CUPTI are looked for: this program has them (emu_nccl.cpp, emu_cupti.cpp), or none. */
const char *emu_nccl_name(void);
const char *emu_cupti_name(void);
#define CUDA_NCCL_NAMES emu_nccl_name()
#define CUDA_CUPTI_NAMES emu_cupti_name()

#define CUDART_VERSION 13000

enum cudaError_t {
	cudaSuccess = 0,
	cudaErrorInvalidValue = 1,
	cudaErrorMemoryAllocation = 2,
	cudaErrorInvalidConfiguration = 9,
	cudaErrorInsufficientDriver = 35,
	cudaErrorNoDevice = 100,
	cudaErrorInvalidDevice = 101,
	cudaErrorNotReady = 600,
	cudaErrorLaunchFailure = 719,
	cudaErrorNotPermitted = 800,
	cudaErrorStreamCaptureUnsupported = 900,
	cudaErrorStreamCaptureInvalidated = 901,
	cudaErrorUnknown = 999
};
enum cudaMemcpyKind {
	cudaMemcpyHostToDevice = 1,
	cudaMemcpyDeviceToHost,
	cudaMemcpyDeviceToDevice,
	cudaMemcpyDefault
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
enum cudaDeviceAttr { cudaDevAttrComputeCapabilityMajor = 75 };
struct cudaDeviceProp {
	char name[256];
	size_t totalGlobalMem;
	int major, minor, multiProcessorCount;
	struct {
		char bytes[16];
	} uuid;
};
typedef struct emu_stream *cudaStream_t;
typedef struct emu_event *cudaEvent_t;
typedef struct emu_graph *cudaGraph_t;
typedef struct emu_node *cudaGraphNode_t;
typedef struct emu_exec *cudaGraphExec_t;
typedef void (*cudaHostFn_t)(void *);
struct cudaLaunchConfig_t {
	dim3 gridDim, blockDim;
	size_t dynamicSmemBytes;
	cudaStream_t stream;
};
struct cudaKernelNodeParams {
	void *func;
	dim3 gridDim, blockDim;
	unsigned sharedMemBytes;
	void **kernelParams, **extra;
};
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal = 1 };
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive };
struct cudaGraphEdgeData;

extern "C" {
const char *cudaGetErrorString(cudaError_t e);
cudaError_t cudaGetDeviceCount(int *n);
cudaError_t cudaSetDevice(int n);
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaMemGetInfo(size_t *left, size_t *all);
cudaError_t cudaMalloc(void **p, size_t n);
cudaError_t cudaFree(void *p);
cudaError_t cudaMallocHost(void **p, size_t n);
cudaError_t cudaFreeHost(void *p);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, enum cudaMemcpyKind kind,
	cudaStream_t s);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_apart, const void *from, size_t from_apart,
	size_t width, size_t n, enum cudaMemcpyKind kind, cudaStream_t s);
cudaError_t cudaMemcpyPeerAsync(void *to, int device, const void *from, int from_device, size_t n,
	cudaStream_t s);
cudaError_t cudaMemsetAsync(void *p, int value, size_t n, cudaStream_t s);
cudaError_t cudaStreamCreate(cudaStream_t *s);
cudaError_t cudaStreamDestroy(cudaStream_t s);
cudaError_t cudaStreamSynchronize(cudaStream_t s);
cudaError_t cudaEventCreate(cudaEvent_t *e);
cudaError_t cudaEventDestroy(cudaEvent_t e);
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s);
cudaError_t cudaEventQuery(cudaEvent_t e);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to);
cudaError_t cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t fn, void *arg);
cudaError_t cudaFuncSetAttribute(const void *f, enum cudaFuncAttribute attribute, int value);
cudaError_t cudaStreamBeginCapture(cudaStream_t s, enum cudaStreamCaptureMode mode);
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t s, enum cudaStreamCaptureStatus *status,
	unsigned long long *id, cudaGraph_t *g, const cudaGraphNode_t **last,
	const cudaGraphEdgeData **edge, size_t *n);
cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *g);
cudaError_t cudaGraphDestroy(cudaGraph_t g);
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *x, cudaGraph_t g, unsigned long long flags);
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t node,
	const struct cudaKernelNodeParams *p);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t x);
cudaError_t cudaGraphLaunch(cudaGraphExec_t x, cudaStream_t s);
}

/* A kernel's arguments are one struct, which the call copies; call: of one thread. */
struct emu_kernel {
	size_t nbyte;
	void (*call)(const void *kernel, const void *args);
};
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *kernel,
	const struct emu_kernel *k, const void *args);

template <class P, class A>
static cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *c, void (*kernel)(P), const A &args)
{
	static const struct emu_kernel k = { sizeof args,
		[](const void *f, const void *a) { ((void (*)(P))f)(*(const A *)a); } };

	return cudaLaunchKernelExC(c, (const void *)kernel, &k, &args);
}

#endif
