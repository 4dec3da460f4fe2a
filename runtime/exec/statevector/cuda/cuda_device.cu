// SPDX-License-Identifier: Apache-2.0
// The CUDA runtime behind cuda_device.h.
#include "config.h"
#include "runtime/exec/statevector/cuda/cuda_launch.cuh"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define HAS_NVTX 1
#endif
#include <assert.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Tiles of psi and lambda need more shared memory than older devices have. */
enum { MAJOR_MIN = 8 };

/* A kernel of a graph, and the arguments that it has now. */
struct kernel_node {
	cudaGraphNode_t handle;
	size_t nbyte;
	void *args;
};

/* What a stream was asked for, captured. */
struct graph {
	cudaGraph_t graph;
	cudaGraphExec_t exec; /* NULL: the shape was asked for once */
	struct kernel_node *node;
	size_t nnode, room;
	uint64_t shape;
};

struct cuda_stream {
	cudaStream_t handle;
	int device;
	struct graph graphs[CUDA_GRAPH_KINDS][CUDA_SHAPES];
	unsigned last[CUDA_GRAPH_KINDS]; /* the one of each kind that was used last */
	struct graph *graph;             /* that is open, or NULL */
	size_t node;         /* its kernel that is next */
	cudaEvent_t moment[CUDA_MOMENTS_MAX + 2];
	struct cuda_counts counts;
	const char *call;  /* the first that failed, */
	cudaError_t error; /* and how */
};

/* Memory of the host, which there always is enough of. */
static void *taken(void *p)
{
	if (!p)
		abort();
	return p;
}

/* The device that the thread's calls are for. */
static cudaError_t set_device(int device)
{
	static thread_local int now = -1;
	const cudaError_t e = now == device ? cudaSuccess : cudaSetDevice(device);

	now = e == cudaSuccess ? device : -1;
	return e;
}

/* Its first use of a device takes long: only what is asked for is asked. */
static cudaError_t is_new_enough(int device, bool *well)
{
	int major = 0;
	const cudaError_t e =
		cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);

	*well = e == cudaSuccess && major >= MAJOR_MIN;
	return e;
}

/* Of the tests: its cuda_runtime.h has a list of its own. */
#ifndef CUDA_NCCL_NAMES
#define CUDA_NCCL_NAMES "libnccl.so.2", QCNN_NCCL_LIBRARY
#define CUDA_CUPTI_NAMES "libcupti.so.13", "libcupti.so.12", QCNN_CUPTI_LIBRARY
#endif

unsigned cuda_load(enum cuda_library l, unsigned (*find)(void *handle), bool *old)
{
	const char *const names[][4] = { { CUDA_NCCL_NAMES }, { CUDA_CUPTI_NAMES } };

	for (const char *const *name = names[l]; *name; name++) {
		void *const handle = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
		const unsigned version = handle ? find(handle) : 0;

		if (version)
			return version;
		*old = *old || handle;
		if (handle)
			dlclose(handle);
	}
	return 0;
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
	static_assert(sizeof p.uuid == sizeof out->id, "the number of a device");
	memcpy(out->id, &p.uuid, sizeof out->id);
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

	return set_device((int)device) == cudaSuccess
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
	if (s->call && why)
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

#define KEEP(s, call, ...) keep(s, #call, call(__VA_ARGS__))

/* ---- life ---- */

bool cuda_stream_enter(struct cuda_stream *s)
{
	return !s->call && keep(s, "cudaSetDevice", set_device(s->device));
}

void *cuda_stream_handle(struct cuda_stream *s) { return cuda_stream_enter(s) ? s->handle : NULL; }

struct cuda_stream *cuda_stream_new(unsigned device)
{
	struct cuda_stream *s = (struct cuda_stream *)taken(calloc(1, sizeof *s));

	s->device = (int)device;
	if (cuda_stream_enter(s))
		KEEP(s, cudaStreamCreate, &s->handle);
	return s;
}

void cuda_stream_free(struct cuda_stream *s)
{
	if (!s)
		return;
	cuda_graphs_renew(s);
	for (unsigned k = 0; k < CUDA_MOMENTS_MAX + 2; k++)
		if (s->moment[k])
			cudaEventDestroy(s->moment[k]);
	if (s->handle)
		cudaStreamDestroy(s->handle);
	free(s);
}

/* ---- counts ---- */

/* For a kernel, a copy or a clear. */
static void asked(struct cuda_stream *s, bool copies)
{
	struct timespec t;

	if (!s->counts.asked++) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		s->counts.first = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
	}
	s->counts.copies += copies;
}

struct cuda_counts cuda_stream_counts(struct cuda_stream *s)
{
	const struct cuda_counts c = s->counts;

	s->counts = {};
	return c;
}

/* ---- graphs ---- */

/* All but its shape. */
static void release(struct cuda_stream *s, struct graph *g)
{
	const cudaError_t exec = g->exec ? cudaGraphExecDestroy(g->exec) : cudaSuccess;
	const cudaError_t graph = g->graph ? cudaGraphDestroy(g->graph) : cudaSuccess;

	keep(s, "cudaGraphExecDestroy", exec) && keep(s, "cudaGraphDestroy", graph);
	for (size_t k = 0; k < g->nnode; k++)
		free(g->node[k].args);
	free(g->node);
	*g = { NULL, NULL, NULL, 0, 0, g->shape };
}

void cuda_graphs_renew(struct cuda_stream *s)
{
	for (auto &kind : s->graphs)
		for (struct graph &g : kind)
			release(s, &g);
}

/* Has the graph that is open been captured in a step before? */
static bool is_made(const struct cuda_stream *s) { return s->graph && s->graph->exec; }

/* What was captured last: what comes next needs it. */
static cudaError_t last_node(cudaStream_t s, cudaGraphNode_t *node)
{
	cudaStreamCaptureStatus status;
	const cudaGraphNode_t *last = NULL;
	size_t n = 0;
#if CUDART_VERSION >= 13000
	const cudaError_t e = cudaStreamGetCaptureInfo(s, &status, NULL, NULL, &last, NULL, &n);
#else
	const cudaError_t e = cudaStreamGetCaptureInfo_v2(s, &status, NULL, NULL, &last, &n);
#endif

	if (e == cudaSuccess && n != 1)
		return cudaErrorStreamCaptureInvalidated;
	if (e == cudaSuccess)
		*node = *last;
	return e;
}

/* Remembers the node of the kernel that was launched last, with its argument. */
static void capture(struct cuda_stream *s, const void *args, size_t nbyte)
{
	struct graph *g = s->graph;

	if (g->nnode == g->room) {
		g->room = 2 * g->room + 16;
		g->node = (struct kernel_node *)taken(realloc(g->node, g->room * sizeof *g->node));
	}
	struct kernel_node *n = &g->node[g->nnode++];

	*n = { NULL, nbyte, memcpy(taken(malloc(nbyte)), args, nbyte) };
	keep(s, "cudaStreamGetCaptureInfo", last_node(s->handle, &n->handle));
}

bool cuda_launch_begin(struct cuda_stream *s, cudaLaunchConfig_t *c, const void *kernel, const void *args, size_t nbyte)
{
	if (!cuda_stream_enter(s))
		return false;
	c->stream = s->handle;
	s->counts.launches++;
	asked(s, false);
	if (!is_made(s))
		return true;
	struct kernel_node *n = &s->graph->node[s->node++];
	void *all[] = { (void *)args };
	const cudaKernelNodeParams p = { (void *)kernel, c->gridDim, c->blockDim,
		(unsigned)c->dynamicSmemBytes, all, NULL };

	assert(s->node <= s->graph->nnode && n->nbyte == nbyte);
	if (memcmp(n->args, args, nbyte)) {
		memcpy(n->args, args, nbyte);
		KEEP(s, cudaGraphExecKernelNodeSetParams, s->graph->exec, n->handle, &p);
	}
	return false;
}

void cuda_launch_end(struct cuda_stream *s, cudaError_t e, const void *args, size_t nbyte)
{
	if (keep(s, "cudaLaunchKernelExC", e) && s->graph)
		capture(s, args, nbyte);
}

/* Of that shape, or else the one that was not used last. */
static struct graph *find(struct cuda_stream *s, unsigned kind, uint64_t shape)
{
	static_assert(CUDA_SHAPES == 2, "one or the other");
	if (s->graphs[kind][s->last[kind]].shape != shape)
		s->last[kind] = !s->last[kind];
	return &s->graphs[kind][s->last[kind]];
}

void cuda_graph_begin(struct cuda_stream *s, unsigned kind, uint64_t shape)
{
	struct graph *g = find(s, kind, shape);
	const bool again = g->shape == shape;

	if (!cuda_stream_enter(s))
		return;
	if (!again)
		release(s, g);
	g->shape = shape;
	if (!again)
		return;
	/* Other streams' threads go on meanwhile, whatever they call. */
	if (!g->exec
		&& !KEEP(s, cudaStreamBeginCapture, s->handle, cudaStreamCaptureModeThreadLocal))
		return;
	s->graph = g;
	s->node = 0;
}

/* Ends the capture, also after a failure: the stream is waited for. */
static void end_capture(struct cuda_stream *s, struct graph *g)
{
	const cudaError_t e = cudaStreamEndCapture(s->handle, &g->graph);

	if (!s->call && keep(s, "cudaStreamEndCapture", e))
		KEEP(s, cudaGraphInstantiateWithFlags, &g->exec, g->graph, 0);
}

void cuda_graph_end(struct cuda_stream *s)
{
	struct graph *g = s->graph;

	s->graph = NULL;
	if (!g)
		return;
	if (!g->exec)
		end_capture(s, g);
	else
		assert(s->call || s->node == g->nnode);
	if (!s->call)
		KEEP(s, cudaGraphLaunch, g->exec, s->handle);
}

/* ---- memory ---- */

void *cuda_malloc(struct cuda_stream *s, size_t nbyte)
{
	void *p = NULL;

	if (cuda_stream_enter(s) && !KEEP(s, cudaMalloc, &p, nbyte ? nbyte : 1))
		return NULL;
	return p;
}

void cuda_free(void *p)
{
	if (p)
		cudaFree(p);
}

void *cuda_host_malloc(struct cuda_stream *s, size_t nbyte)
{
	void *p = NULL;

	if (cuda_stream_enter(s) && !KEEP(s, cudaMallocHost, &p, nbyte ? nbyte : 1))
		return NULL;
	return p;
}

void cuda_host_free(void *p)
{
	if (p)
		cudaFreeHost(p);
}

static void copy(struct cuda_stream *s, void *to, const void *from, size_t nbyte, cudaMemcpyKind kind)
{
	if (!nbyte || !cuda_stream_enter(s))
		return;
	asked(s, true);
	s->counts.copied += nbyte;
	if (!is_made(s))
		KEEP(s, cudaMemcpyAsync, to, from, nbyte, kind, s->handle);
}

void cuda_upload(struct cuda_stream *s, void *device, const void *host, size_t nbyte)
{
	copy(s, device, host, nbyte, cudaMemcpyHostToDevice);
}

void cuda_download(struct cuda_stream *s, void *host, const void *device, size_t nbyte)
{
	copy(s, host, device, nbyte, cudaMemcpyDeviceToHost);
}

void cuda_copy(struct cuda_stream *s, void *to, const struct cuda_stream *owner, const void *from,
	size_t nbyte)
{
	if (!nbyte || !cuda_stream_enter(s))
		return;
	assert(!s->graph);
	if (owner->device == s->device) {
		asked(s, true);
		KEEP(s, cudaMemcpyAsync, to, from, nbyte, cudaMemcpyDeviceToDevice, s->handle);
	} else {
		KEEP(s, cudaMemcpyPeerAsync, to, s->device, from, owner->device, nbyte, s->handle);
	}
}

void cuda_clear(struct cuda_stream *s, void *device, size_t nbyte)
{
	if (!nbyte || !cuda_stream_enter(s))
		return;
	asked(s, false);
	if (!is_made(s))
		KEEP(s, cudaMemsetAsync, device, 0, nbyte, s->handle);
}

void cuda_call_host(struct cuda_stream *s, void (*fn)(void *arg), void *arg)
{
	if (!is_made(s) && cuda_stream_enter(s))
		KEEP(s, cudaLaunchHostFunc, s->handle, fn, arg);
}

void cuda_copy_rows(struct cuda_stream *s, struct cuda_rows to, struct cuda_rows from,
	size_t nbyte, size_t nrow)
{
	assert(!s->graph);
	if (!cuda_stream_enter(s))
		return;
	if (nrow == 1) /* however far apart rows would be: CUDA allows less than 2^31 bytes */
		KEEP(s, cudaMemcpyAsync, to.first, from.first, nbyte, cudaMemcpyDefault, s->handle);
	else
		KEEP(s, cudaMemcpy2DAsync, to.first, to.apart, from.first, from.apart, nbyte, nrow,
			cudaMemcpyDefault, s->handle);
	asked(s, true);
	s->counts.copied += nbyte * nrow;
}

void cuda_wait(struct cuda_stream *s)
{
	/* Also after a failure: functions of the host may be under way. */
	const cudaError_t e = s->handle ? cudaStreamSynchronize(s->handle) : cudaSuccess;

	assert(!s->graph);
	if (!s->call)
		keep(s, "cudaStreamSynchronize", e);
}

/* ---- ranges ---- */

/* Without a profiler these calls do nothing. */
void cuda_range_begin(const struct cuda_stream *s, const char *name, uint32_t number)
{
#if HAS_NVTX
	nvtxEventAttributes_t a = {};

	a.version = NVTX_VERSION;
	a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	a.messageType = NVTX_MESSAGE_TYPE_ASCII;
	a.message.ascii = name;
	a.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT32;
	a.payload.uiValue = number;
	if (!s->graph)
		nvtxRangePushEx(&a);
#endif
}

void cuda_range_end(const struct cuda_stream *s)
{
#if HAS_NVTX
	if (!s->graph)
		nvtxRangePop();
#endif
}

/* ---- moments ---- */

void cuda_moment(struct cuda_stream *s, unsigned k)
{
	if (k >= CUDA_MOMENTS_MAX + 2 || !cuda_stream_enter(s))
		return;
	if (!s->moment[k] && cudaEventCreate(&s->moment[k]) != cudaSuccess)
		s->moment[k] = NULL;
	if (s->moment[k])
		cudaEventRecord(s->moment[k], s->handle);
}

bool cuda_moment_passed(struct cuda_stream *s, unsigned k)
{
	const cudaError_t e = s->call ? cudaSuccess
		: s->moment[k]        ? cudaEventQuery(s->moment[k])
				      : cudaErrorInvalidValue;

	return e != cudaErrorNotReady && (keep(s, "cudaEventQuery", e), true);
}

int64_t cuda_moments_apart(struct cuda_stream *s, unsigned j, unsigned k)
{
	float ms = 0;

	if (s->call || !s->moment[j] || !s->moment[k]
		|| cudaEventElapsedTime(&ms, s->moment[j], s->moment[k]) != cudaSuccess)
		return -1;
	return (int64_t)(1e6 * (double)ms);
}
