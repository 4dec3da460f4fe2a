// SPDX-License-Identifier: Apache-2.0
// The runtime API of the emulated devices: nothing that a stream was asked for is done before somebody waits; then any stream
// that has work goes on, in random order. A graph is what one stream was asked for, which is done in that order.
#include "emu.h"
#include "emu_totals.h"
#include "nvtx3/nvToolsExt.h"
#include "runtime/exec/statevector/cuda/cuda_cupti.h"

#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

struct emu_node {
	const char *what;
	const void *kernel; /* or NULL */
	std::function<void()> work;
};

struct emu_graph {
	int device;
	std::deque<emu_node> node; /* each needs the one before */
};

struct emu_exec {
	emu_graph *graph; /* whose nodes it changes */
	bool recorded;    /* CUPTI was there before */
};

struct emu_stream {
	int device;
	std::deque<std::function<void()>> work;
	emu_graph *captured; /* that becomes what it is asked for; or NULL */
	emu_node *last;      /* of it, for cudaStreamGetCaptureInfo */
};

struct emu_event {
	int device;
	bool recorded;
	double when; /* milliseconds */
};

namespace
{

std::vector<emu_stream *> streams;
emu_stream *doing; /* whose work is being done */
bool old_graph;    /* it is of a graph that CUPTI does not know */
std::map<void *, size_t> allocations, host_allocations;
std::set<emu_graph *> graphs;
std::set<emu_exec *> execs;
std::map<const void *, emu_kernel> kernels; /* that have been launched */
thread_local bool in_host_function;
thread_local emu_stream *capturing; /* by this thread, or NULL */
size_t used[EMU_DEVICES_MAX];
unsigned taken[EMU_DEVICES_MAX]; /* allocations */
int ndevice = 1;
thread_local int device;
std::recursive_mutex lock; /* threads of the host take turns */
cudaError_t sticky; /* once a device has failed it stays so */
std::map<const void *, size_t> shared_limit;
/* Calls, ranges by name and payload, nodes of graphs that were launched by what they do: "call cudaMalloc". */
std::map<std::string, unsigned long> counts;
long open_ranges;

/* ---- failures ---- */

/* What a call gives before it does anything: cudaSuccess, or how it fails. */
cudaError_t begin(const char *call, cudaError_t how)
{
	if (in_host_function) {
		emu_found("a function in a stream calls the runtime", nullptr, nullptr);
		return cudaErrorNotPermitted;
	}
	if (emu_is_fault("EMU_FAIL", call, ++counts[std::string("call ") + call])) {
		if (how == cudaErrorLaunchFailure)
			sticky = how;
		return how;
	}
	return sticky;
}

#define BEGIN(how) \
	const std::lock_guard<std::recursive_mutex> turn(lock); \
	do { \
		const cudaError_t begun = begin(__func__, how); \
		if (begun != cudaSuccess) \
			return begun; \
	} while (0)
/* For a call that a thread cannot make while it captures. */
#define BEGIN_UNCAPTURED(how) \
	BEGIN(how); \
	if (capturing) { \
		emu_found("a call that cannot be captured", nullptr, nullptr); \
		return cudaErrorStreamCaptureUnsupported; \
	}
/* For a call that a stream of the thread's device is asked for. */
#define BEGIN_IN(s, how) \
	BEGIN(how); \
	if (!is_stream(s) || (s)->device != device) \
	return cudaErrorInvalidValue

/* ---- streams ---- */

bool is_stream(cudaStream_t s)
{
	return std::find(streams.begin(), streams.end(), s) != streams.end();
}

/* Work that the stream does, or that becomes part of the graph that it captures. kernel: or NULL. */
cudaError_t ask(cudaStream_t s, const char *what, const void *kernel,
	const std::function<void()> &work)
{
	if (s->captured)
		s->captured->node.push_back({ what, kernel, work });
	else
		s->work.push_back(work);
	return cudaSuccess;
}

/* The next of any stream, if it has one. */
void do_any_work()
{
	emu_stream *const t = streams[emu_below((unsigned)streams.size())];

	if (t->work.empty())
		return;
	const std::function<void()> work = std::move(t->work.front());

	t->work.pop_front();
	doing = t;
	if (sticky == cudaSuccess)
		work();
}

/* Until s has nothing left to do. */
void drain(emu_stream *s)
{
	while (!s->work.empty())
		do_any_work();
}

void drain_all()
{
	for (emu_stream *s : streams)
		drain(s);
}

/* ---- begin and end of the program ---- */

struct whole {
	whole()
	{
		emu_open();
		if (getenv("EMU_DEVICES"))
			ndevice = atoi(getenv("EMU_DEVICES"));
		if (ndevice < 0 || ndevice > EMU_DEVICES_MAX)
			ndevice = EMU_DEVICES_MAX;
	}
	~whole()
	{
		FILE *const f = getenv("EMU_REPORT") ? fopen(getenv("EMU_REPORT"), "w") : nullptr;

		if (f) {
			for (auto &c : counts)
				fprintf(f, "%s %lu\n", c.first.c_str(), c.second);
			fprintf(f, "ranges left open %ld\n", open_ranges);
			fprintf(f, "allocations left %zu\n",
				allocations.size() + host_allocations.size() + graphs.size() + execs.size());
			fprintf(f, "graphs %lu nodes %lu\n", emu_totals.graphs, emu_totals.nodes);
			emu_print_counts(f);
			emu_cupti_report(f);
			fclose(f);
		}
		if (emu_findings()) {
			fprintf(stderr, "emu: %lu findings\n", emu_findings());
			fflush(nullptr);
			_Exit(EMU_STATUS);
		}
	}
} whole;

} // namespace

bool emu_is_fault(const char *setting, const char *name, unsigned long n)
{
	const char *const text = getenv(setting), *const at = text ? strchr(text, ':') : nullptr;

	return text && n == (at ? strtoul(at + 1, nullptr, 10) : 1)
		&& std::string(text).substr(0, std::string(text).find(':')) == name;
}

const char *cudaGetErrorString(cudaError_t e)
{
	switch (e) {
	case cudaSuccess: return "no error";
	case cudaErrorMemoryAllocation: return "out of memory";
	case cudaErrorNoDevice: return "no CUDA-capable device is detected";
	case cudaErrorLaunchFailure: return "unspecified launch failure";
	case cudaErrorInvalidValue: return "invalid argument";
	default: return "unknown error";
	}
}

/* ---- devices ---- */

cudaError_t cudaGetDeviceCount(int *n)
{
	BEGIN(cudaErrorUnknown);
	*n = ndevice;
	return ndevice ? cudaSuccess : cudaErrorNoDevice;
}

cudaError_t cudaSetDevice(int n)
{
	BEGIN(cudaErrorInvalidDevice);
	if (n < 0 || n >= ndevice)
		return cudaErrorInvalidDevice;
	device = n;
	return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int n)
{
	BEGIN(cudaErrorInvalidValue);
	if (attribute != cudaDevAttrComputeCapabilityMajor || n < 0 || n >= ndevice)
		return cudaErrorInvalidValue;
	*value = 9;
	return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int n)
{
	BEGIN(cudaErrorInvalidValue);
	if (n < 0 || n >= ndevice)
		return cudaErrorInvalidDevice;
	const char *host = getenv("EMU_HOST");

	*p = { "emulated GPU", EMU_MEMORY_BYTES, 9, 0, 1, { { (char)(1 + n), host ? *host : (char)0 } } };
	return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
	BEGIN(cudaErrorUnknown);
	*version = 13000;
	return cudaSuccess;
}

/* ---- memory ---- */

cudaError_t cudaMemGetInfo(size_t *left, size_t *all)
{
	BEGIN_UNCAPTURED(cudaErrorUnknown);
	*all = EMU_MEMORY_BYTES;
	*left = EMU_MEMORY_BYTES - used[device];
	return cudaSuccess;
}

/* Never what was there before. */
cudaError_t cudaMalloc(void **p, size_t n)
{
	const size_t size = (n + EMU_GAP_BYTES - 1) / EMU_GAP_BYTES * EMU_GAP_BYTES + EMU_GAP_BYTES;

	BEGIN_UNCAPTURED(cudaErrorMemoryAllocation);
	if (n > EMU_MEMORY_BYTES || size > EMU_MEMORY_BYTES - used[device])
		return cudaErrorMemoryAllocation;
	*p = emu_memory + device * EMU_MEMORY_BYTES + used[device];
	used[device] += size;
	allocations[*p] = n;
	taken[device]++;
	emu_mark(*p, n, EMU_TAKEN);
	return cudaSuccess;
}

cudaError_t cudaFree(void *p)
{
	const std::lock_guard<std::recursive_mutex> turn(lock);
	auto a = allocations.find(p);

	if (a == allocations.end())
		return p ? cudaErrorInvalidValue : cudaSuccess;
	drain_all();
	emu_mark(p, a->second, EMU_GIVEN_BACK);
	if (--taken[emu_device_of(p)] == 0) /* none is left that this memory could be confused with */
		used[emu_device_of(p)] = 0;
	allocations.erase(a);
	return cudaSuccess;
}

/* Filled with what no program expects. */
cudaError_t cudaMallocHost(void **p, size_t n)
{
	BEGIN_UNCAPTURED(cudaErrorMemoryAllocation);
	*p = malloc(n);
	if (!*p)
		return cudaErrorMemoryAllocation;
	memset(*p, 0xa5, n);
	host_allocations[*p] = n;
	return cudaSuccess;
}

cudaError_t cudaFreeHost(void *p)
{
	const std::lock_guard<std::recursive_mutex> turn(lock);
	if (!host_allocations.erase(p))
		return p ? cudaErrorInvalidValue : cudaSuccess;
	drain_all();
	free(p);
	return cudaSuccess;
}

static void copy(void *to, const void *from, size_t n)
{
	if (emu_on_device(from) != emu_on_device(to)) {
		emu_totals.copies++;
		emu_totals.copied += (double)n;
	}
	if (emu_on_device(from))
		emu_check(from, n, true,
			"a copy from beyond an allocation, or of what was never written");
	if (emu_on_device(to)) {
		emu_check(to, n, false, "a copy to beyond an allocation");
		emu_mark(to, n, EMU_WRITTEN);
	}
	memcpy(to, from, n);
}

/* As CUPTI counts them: once, however many rows. */
static void timed_copy(const void *to, const void *from, const std::function<void()> &work)
{
	const unsigned kind = !emu_on_device(from) ? CUPTI_TO_DEVICE : !emu_on_device(to) ? CUPTI_TO_HOST : 8;

	emu_timed(CUPTI_COPY, kind, nullptr, work);
}

/* Memory of the host that copies use directly. */
static bool is_pinned(const void *p, size_t n)
{
	auto a = host_allocations.upper_bound((void *)p);

	return a != host_allocations.begin()
		&& (const char *)p + n <= (const char *)(--a)->first + a->second;
}

static bool is_usable(const void *p, size_t n)
{
	return emu_on_device(p) ? emu_device_of(p) == device : is_pinned(p, n);
}

static bool is_of_kind(const void *to, const void *from, size_t n, enum cudaMemcpyKind kind)
{
	return kind == cudaMemcpyDefault ? is_usable(to, n) && is_usable(from, n)
					 : emu_on_device(to) != (kind == cudaMemcpyDeviceToHost)
			&& emu_on_device(from) != (kind == cudaMemcpyHostToDevice);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, enum cudaMemcpyKind kind,
	cudaStream_t s)
{
	BEGIN_IN(s, cudaErrorUnknown);
	if (!is_of_kind(to, from, n, kind))
		return cudaErrorInvalidValue;
	/* The host's end of a copy that a graph does again and again stays where it is. */
	for (const void *p : { (const void *)to, from })
		if (s->captured && !emu_on_device(p) && !is_pinned(p, n))
			emu_found("a graph copies memory of the host that is not pinned", nullptr, p);
	return ask(s, !emu_on_device(from) ? "upload" : !emu_on_device(to) ? "download" : "copy", nullptr,
		[=] { timed_copy(to, from, [=] { copy(to, from, n); }); });
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_apart, const void *from, size_t from_apart,
	size_t width, size_t n, enum cudaMemcpyKind kind, cudaStream_t s)
{
	BEGIN_IN(s, cudaErrorUnknown);
	if (kind != cudaMemcpyDefault || !n || !width || width > to_apart || width > from_apart
		|| to_apart >> 31 || from_apart >> 31 || !is_usable(to, (n - 1) * to_apart + width)
		|| !is_usable(from, (n - 1) * from_apart + width))
		return cudaErrorInvalidValue;
	return ask(s, "copy", nullptr, [=] {
		timed_copy(to, from, [=] {
			for (size_t k = 0; k < n; k++)
				copy((char *)to + k * to_apart, (const char *)from + k * from_apart, width);
		});
	});
}

/* Reads what is there when the stream comes to it: whoever writes must have been waited for. */
cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t n,
	cudaStream_t s)
{
	BEGIN_IN(s, cudaErrorUnknown);
	if (!emu_on_device(to) || !emu_on_device(from) || emu_device_of(to) != to_device
		|| emu_device_of(from) != from_device)
		return cudaErrorInvalidValue;
	return ask(s, "copy", nullptr, [=] { copy(to, from, n); });
}

static void set(void *p, int value, size_t n)
{
	emu_totals.clears++;
	emu_check(p, n, false, "memory is set beyond an allocation");
	emu_mark(p, n, EMU_WRITTEN);
	emu_timed(CUPTI_CLEAR, 0, nullptr, [=] { memset(p, value, n); });
}

cudaError_t cudaMemsetAsync(void *p, int value, size_t n, cudaStream_t s)
{
	BEGIN_IN(s, cudaErrorUnknown);
	if (!emu_on_device(p))
		return cudaErrorInvalidValue;
	return ask(s, "clear", nullptr, [=] { set(p, value, n); });
}

/* ---- streams ---- */

cudaError_t cudaStreamCreate(cudaStream_t *s)
{
	BEGIN(cudaErrorMemoryAllocation);
	streams.push_back(*s = new emu_stream{ device, {}, nullptr, nullptr });
	return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t s)
{
	const std::lock_guard<std::recursive_mutex> turn(lock);
	drain(s);
	streams.erase(std::find(streams.begin(), streams.end(), s));
	delete s;
	return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
	BEGIN_UNCAPTURED(cudaErrorLaunchFailure);
	drain(s);
	emu_totals.waits++;
	return sticky;
}

cudaStream_t emu_stream_now(int *on)
{
	*on = doing->device;
	return doing;
}

cudaStream_t emu_stream_beside(void)
{
	const std::lock_guard<std::recursive_mutex> turn(lock);
	cudaStream_t other = nullptr;

	for (cudaStream_t s : streams)
		if (s != doing && s->device == doing->device)
			other = s;
	return other;
}

bool emu_graph_is_old(void) { return old_graph; }

void emu_push(cudaStream_t s, const std::function<bool()> &work)
{
	const std::lock_guard<std::recursive_mutex> turn(lock);

	s->work.push_back([=] {
		const size_t n = s->work.size();

		if (work())
			return;
		emu_push(s, work);
		std::rotate(s->work.begin(), s->work.begin() + (ptrdiff_t)n, s->work.end()); /* first again */
	});
}

static void call_host(cudaHostFn_t fn, void *arg)
{
	emu_totals.calls++;
	in_host_function = true;
	fn(arg);
	in_host_function = false;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t fn, void *arg)
{
	BEGIN_IN(s, cudaErrorUnknown);
	if (!fn)
		return cudaErrorInvalidValue;
	return ask(s, "call", nullptr, [=] { call_host(fn, arg); });
}

/* ---- events ---- */

cudaError_t cudaEventCreate(cudaEvent_t *e)
{
	BEGIN(cudaErrorMemoryAllocation);
	*e = new emu_event{ device, false, 0 };
	host_allocations[*e] = 0;
	return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t e)
{
	const std::lock_guard<std::recursive_mutex> turn(lock);

	if (!host_allocations.erase(e))
		return cudaErrorInvalidValue;
	drain_all();
	delete e;
	return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
	BEGIN_IN(s, cudaErrorUnknown);
	if (e->device != device)
		return cudaErrorInvalidValue;
	e->recorded = false;
	return ask(s, "moment", nullptr, [=] {
		const auto now = std::chrono::steady_clock::now().time_since_epoch();

		e->when = std::chrono::duration<double, std::milli>(now).count();
		e->recorded = true;
	});
}

cudaError_t cudaEventQuery(cudaEvent_t e)
{
	BEGIN_UNCAPTURED(cudaErrorLaunchFailure);
	if (!e->recorded)
		do_any_work();
	return sticky != cudaSuccess ? sticky : e->recorded ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
	BEGIN_UNCAPTURED(cudaErrorUnknown);
	if (!from->recorded || !to->recorded)
		return cudaErrorNotReady;
	*ms = (float)(to->when - from->when);
	return cudaSuccess;
}

/* ---- ranges ---- */

int nvtxRangePushEx(const nvtxEventAttributes_t *a)
{
	const std::lock_guard<std::recursive_mutex> turn(lock);

	counts[std::string("range ") + a->message.ascii + " " + std::to_string(a->payload.uiValue)]++;
	return (int)open_ranges++;
}

int nvtxRangePop(void)
{
	const std::lock_guard<std::recursive_mutex> turn(lock);

	return (int)--open_ranges;
}

/* ---- launches ---- */

cudaError_t cudaFuncSetAttribute(const void *f, enum cudaFuncAttribute attribute, int value)
{
	BEGIN(cudaErrorInvalidValue);
	if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0
		|| value > EMU_SHARED_BYTES)
		return cudaErrorInvalidValue;
	shared_limit[f] = (size_t)value;
	return cudaSuccess;
}

/* A launch as work, which has a copy of the arguments, or how it fails. */
static cudaError_t work_of(int on, const void *kernel, dim3 grid, dim3 block, size_t shared,
	const emu_kernel &type, const void *args, std::function<void()> *work)
{
	const size_t limit = shared_limit.count(kernel) ? shared_limit[kernel] : 48 << 10;
	const unsigned char *const a = (const unsigned char *)args;
	const std::vector<unsigned char> copied(a, a + type.nbyte);

	if (block.x != EMU_THREADS || block.y * block.z * grid.y * grid.z != 1 || !grid.x
		|| grid.x > 0x7fffffff || shared > limit)
		return cudaErrorInvalidConfiguration;
	*work = [=] {
		emu_timed(CUPTI_KERNEL, 0, kernel, [&] {
			emu_run(on, kernel, grid, shared, [&] { type.call(kernel, copied.data()); });
		});
	};
	return cudaSuccess;
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *kernel,
	const struct emu_kernel *k, const void *args)
{
	std::function<void()> work;

	BEGIN_IN(c->stream, cudaErrorInvalidConfiguration);
	const cudaError_t e = work_of(device, kernel, c->gridDim, c->blockDim, c->dynamicSmemBytes,
		*k, args, &work);

	kernels[kernel] = *k;
	return e == cudaSuccess ? ask(c->stream, "kernel", kernel, work) : e;
}

/* ---- graphs ---- */

cudaError_t cudaStreamBeginCapture(cudaStream_t s, enum cudaStreamCaptureMode mode)
{
	BEGIN_IN(s, cudaErrorUnknown);
	if (capturing || s->captured || mode != cudaStreamCaptureModeThreadLocal)
		return cudaErrorInvalidValue;
	capturing = s;
	s->captured = new emu_graph{ device, {} };
	return cudaSuccess;
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t s, enum cudaStreamCaptureStatus *status,
	unsigned long long *, cudaGraph_t *, const cudaGraphNode_t **last,
	const cudaGraphEdgeData **, size_t *n)
{
	BEGIN_IN(s, cudaErrorUnknown);
	*status = s->captured ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
	*n = s->captured && !s->captured->node.empty();
	if (*n)
		s->last = &s->captured->node.back();
	*last = &s->last;
	return cudaSuccess;
}

/* The capture has ended even where it fails, which gives no graph. */
cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *g)
{
	const std::lock_guard<std::recursive_mutex> turn(lock);
	const cudaError_t e = s->captured && capturing == s ? begin(__func__, cudaErrorUnknown)
							    : cudaErrorInvalidValue;

	if (e == cudaSuccess)
		graphs.insert(*g = s->captured);
	else
		delete s->captured;
	s->captured = nullptr;
	capturing = nullptr;
	return e;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *x, cudaGraph_t g, unsigned long long flags)
{
	BEGIN(cudaErrorMemoryAllocation);
	if (!graphs.count(g) || flags)
		return cudaErrorInvalidValue;
	execs.insert(*x = new emu_exec{ g, emu_cupti_records() });
	return cudaSuccess;
}

/* Of launches that follow. */
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t node,
	const struct cudaKernelNodeParams *p)
{
	BEGIN(cudaErrorInvalidValue);
	if (!execs.count(x) || !graphs.count(x->graph))
		return cudaErrorInvalidValue;
	const auto &all = x->graph->node;

	if (std::none_of(all.begin(), all.end(), [=](const emu_node &n) { return &n == node; })
		|| node->kernel != p->func || p->extra)
		return cudaErrorInvalidValue;
	return work_of(x->graph->device, p->func, p->gridDim, p->blockDim, p->sharedMemBytes,
		kernels[p->func], p->kernelParams[0], &node->work);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t x, cudaStream_t s)
{
	BEGIN_IN(s, cudaErrorUnknown);
	if (!execs.count(x) || !graphs.count(x->graph) || x->graph->device != device || s->captured)
		return cudaErrorInvalidValue;
	emu_totals.graphs++;
	emu_totals.nodes += x->graph->node.size();
	for (const emu_node &node : x->graph->node) {
		counts[std::string("nodes ") + node.what]++;
		s->work.push_back([work = node.work, old = !x->recorded] {
			old_graph = old;
			work();
			old_graph = false;
		});
	}
	return cudaSuccess;
}

/* Memory is given back even by a call that fails. */
template<class T> static cudaError_t destroy(std::set<T *> &all, T *x, const char *call)
{
	const std::lock_guard<std::recursive_mutex> turn(lock);

	if (!all.erase(x))
		return cudaErrorInvalidValue;
	delete x;
	return begin(call, cudaErrorUnknown);
}

/* What has been launched is done first. */
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t x) { return destroy(execs, x, __func__); }

cudaError_t cudaGraphDestroy(cudaGraph_t g) { return destroy(graphs, g, __func__); }

/* ---- the machine ---- */

extern "C" uint64_t __real_cpus_memory_available(void) __attribute__((weak)); /* faults-emu has none */
extern "C" uint64_t __wrap_cpus_memory_available(void)
{
	const char *const bytes = getenv("EMU_HOST_BYTES");

	return bytes ? strtoull(bytes, nullptr, 0) : __real_cpus_memory_available();
}
