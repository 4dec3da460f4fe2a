// SPDX-License-Identifier: Apache-2.0
// The CUDA runtime behind cuda_device.h.
#include "config.h"
#include "runtime/exec/statevector/cuda/cuda_launch.cuh"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define HAS_NVTX 1
#endif
#include <stdio.h>
#include <stdlib.h>

/* Tiles of psi and lambda need more shared memory than older devices have. */
enum { MAJOR_MIN = 8 };

struct cuda_stream {
	cudaStream_t handle;
	int device;
	cudaEvent_t moment[CUDA_MOMENTS_MAX];
	struct cuda_counts counts;
	const char *call;  /* the first that failed, */
	cudaError_t error; /* and how */
};

/* Its first use of a device takes long: only what is asked for is asked. */
static cudaError_t is_new_enough(int device, bool *well)
{
	int major = 0;
	const cudaError_t e =
		cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);

	*well = e == cudaSuccess && major >= MAJOR_MIN;
	return e;
}

const char *cuda_device_obstacle(void)
{
	static char text[160];
	int count = 0;
	bool well = false;
	cudaError_t e = cudaGetDeviceCount(&count);

	if (e == cudaErrorInsufficientDriver)
		return "the NVIDIA driver is missing, or older than this build's CUDA";
	if (e == cudaErrorNoDevice || (e == cudaSuccess && !count))
		return "the NVIDIA driver finds no GPU";
	for (int k = 0; k < count && e == cudaSuccess && !well; k++)
		e = is_new_enough(k, &well);
	if (e == cudaSuccess && !well)
		return "the GPU is older than compute capability 8.0";
	if (e == cudaSuccess)
		return NULL;
	snprintf(text, sizeof text, "CUDA cannot be used here (%s)", cudaGetErrorString(e));
	return text;
}

unsigned cuda_device_list(uint64_t wanted, unsigned *number)
{
	unsigned n = 0;
	int count = 0;

	if (cudaGetDeviceCount(&count) != cudaSuccess)
		return 0;
	for (int k = 0; k < count && k < CUDA_DEVICES_MAX; k++) {
		bool well;

		if ((!wanted || (wanted >> k & 1)) && is_new_enough(k, &well) == cudaSuccess && well)
			number[n++] = (unsigned)k;
	}
	return n;
}

bool cuda_device_about(unsigned device, struct device_about *out)
{
	struct cudaDeviceProp p;
	int count = 0, driver = 0;

	if (cudaGetDeviceCount(&count) != cudaSuccess || (int)device >= count
		|| cudaGetDeviceProperties(&p, (int)device) != cudaSuccess
		|| cudaDriverGetVersion(&driver) != cudaSuccess)
		return false;
	*out = {};
	snprintf(out->name, sizeof out->name, "%s", p.name);
	out->capability = (unsigned)(10 * p.major + p.minor);
	out->units = (unsigned)p.multiProcessorCount;
	out->driver = (unsigned)driver;
	out->memory = p.totalGlobalMem;
	out->left = cuda_device_memory(device);
	return true;
}

uint64_t cuda_device_memory(unsigned device)
{
	size_t left = 0, all = 0;

	return cudaSetDevice((int)device) == cudaSuccess
			&& cudaMemGetInfo(&left, &all) == cudaSuccess
		? left
		: 0;
}

/* ---- failures ---- */

void cuda_stream_failed(struct cuda_stream *s, const char *call, int error)
{
	if (s->call)
		return;
	s->call = call;
	s->error = (cudaError_t)error;
}

const char *cuda_stream_failure(const struct cuda_stream *s, const char **why)
{
	if (s->call)
		*why = cudaGetErrorString(s->error);
	return s->call;
}

/* Keeps the result of a call that was made because none had failed. */
static bool keep(struct cuda_stream *s, const char *call, cudaError_t e)
{
	if (e != cudaSuccess)
		cuda_stream_failed(s, call, (int)e);
	return e == cudaSuccess;
}

/* ---- life ---- */

cudaStream_t cuda_stream_handle(struct cuda_stream *s) { return s->call ? NULL : s->handle; }

struct cuda_stream *cuda_stream_new(unsigned device)
{
	struct cuda_stream *s = (struct cuda_stream *)calloc(1, sizeof *s);

	if (!s)
		abort();
	s->device = (int)device;
	cuda_stream_enter(s);
	if (!s->call)
		keep(s, "cudaStreamCreate", cudaStreamCreate(&s->handle));
	return s;
}

void cuda_stream_enter(struct cuda_stream *s)
{
	if (!s->call)
		keep(s, "cudaSetDevice", cudaSetDevice(s->device));
}

void cuda_stream_free(struct cuda_stream *s)
{
	for (unsigned k = 0; s && k < CUDA_MOMENTS_MAX && s->moment[k]; k++)
		cudaEventDestroy(s->moment[k]);
	if (s && s->handle)
		cudaStreamDestroy(s->handle);
	free(s);
}

/* ---- memory ---- */

void *cuda_malloc(struct cuda_stream *s, size_t nbyte)
{
	void *p = NULL;

	if (!s->call && !keep(s, "cudaMalloc", cudaMalloc(&p, nbyte ? nbyte : 1)))
		return NULL;
	return p;
}

void cuda_free(struct cuda_stream *s, void *p)
{
	(void)s;
	if (p)
		cudaFree(p);
}

void *cuda_host_malloc(struct cuda_stream *s, size_t nbyte)
{
	void *p = NULL;

	if (!s->call && !keep(s, "cudaMallocHost", cudaMallocHost(&p, nbyte ? nbyte : 1)))
		return NULL;
	return p;
}

void cuda_host_free(struct cuda_stream *s, void *p)
{
	(void)s;
	if (p)
		cudaFreeHost(p);
}

void cuda_upload(struct cuda_stream *s, void *device, const void *host, size_t nbyte)
{
	if (s->call || !nbyte)
		return;
	keep(s, "cudaMemcpyAsync",
		cudaMemcpyAsync(device, host, nbyte, cudaMemcpyHostToDevice, s->handle));
	s->counts.copied += nbyte;
}

void cuda_download(struct cuda_stream *s, void *host, const void *device, size_t nbyte)
{
	if (s->call || !nbyte)
		return;
	keep(s, "cudaMemcpyAsync",
		cudaMemcpyAsync(host, device, nbyte, cudaMemcpyDeviceToHost, s->handle));
	s->counts.copied += nbyte;
}

void cuda_copy(struct cuda_stream *s, void *to, const struct cuda_stream *owner, const void *from,
	size_t nbyte)
{
	if (s->call || !nbyte)
		return;
	if (owner->device == s->device)
		keep(s, "cudaMemcpyAsync",
			cudaMemcpyAsync(to, from, nbyte, cudaMemcpyDeviceToDevice, s->handle));
	else
		keep(s, "cudaMemcpyPeerAsync",
			cudaMemcpyPeerAsync(to, s->device, from, owner->device, nbyte, s->handle));
}

void cuda_clear(struct cuda_stream *s, void *device, size_t nbyte)
{
	if (!s->call && nbyte)
		keep(s, "cudaMemsetAsync", cudaMemsetAsync(device, 0, nbyte, s->handle));
}

void cuda_wait(struct cuda_stream *s)
{
	if (!s->call)
		keep(s, "cudaStreamSynchronize", cudaStreamSynchronize(s->handle));
}

/* ---- counts ---- */

void cuda_stream_launched(struct cuda_stream *s) { s->counts.launches++; }

struct cuda_counts cuda_stream_counts(struct cuda_stream *s)
{
	const struct cuda_counts c = s->counts;

	s->counts = {};
	return c;
}

/* ---- ranges ---- */

/* Without a profiler these calls do nothing. */
#if HAS_NVTX
void cuda_range_begin(const char *name, uint32_t number)
{
	nvtxEventAttributes_t a = {};

	a.version = NVTX_VERSION;
	a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	a.messageType = NVTX_MESSAGE_TYPE_ASCII;
	a.message.ascii = name;
	a.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT32;
	a.payload.uiValue = number;
	nvtxRangePushEx(&a);
}

void cuda_range_end(void) { nvtxRangePop(); }
#else
void cuda_range_begin(const char *name, uint32_t number) { (void)name, (void)number; }

void cuda_range_end(void) {}
#endif

/* ---- moments ---- */

void cuda_moment(struct cuda_stream *s, unsigned k)
{
	if (s->call || k >= CUDA_MOMENTS_MAX)
		return;
	if (!s->moment[k] && cudaEventCreate(&s->moment[k]) != cudaSuccess)
		s->moment[k] = NULL;
	if (s->moment[k])
		cudaEventRecord(s->moment[k], s->handle);
}

int64_t cuda_moments_apart(struct cuda_stream *s, unsigned j, unsigned k)
{
	float ms = 0;

	if (s->call || !s->moment[j] || !s->moment[k]
		|| cudaEventElapsedTime(&ms, s->moment[j], s->moment[k]) != cudaSuccess)
		return -1;
	return (int64_t)(1e6 * (double)ms);
}
