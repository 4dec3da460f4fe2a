// SPDX-License-Identifier: Apache-2.0
// The runtime API of the emulated devices: nothing that a stream was asked for is done before somebody waits; then any stream
// that has work goes on, in random order.
#include "emu.h"
#include "emu_totals.h"
#include "nvtx3/nvToolsExt.h"

#include <stdlib.h>

#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

struct emu_stream {
	int device;
	std::deque<std::function<void()>> work;
};

struct emu_event {
	int device;
	bool recorded;
	double when; /* milliseconds */
};

namespace
{

struct allocation {
	size_t nbyte;
	int device;
};

std::vector<emu_stream *> streams;
std::map<void *, allocation> allocations;
std::set<void *> host_allocations;
size_t used[EMU_DEVICES_MAX];
unsigned taken[EMU_DEVICES_MAX]; /* allocations */
int ndevice = 1;
thread_local int device;
std::recursive_mutex lock; /* threads of the host take turns */
cudaError_t sticky; /* once a device has failed it stays so */
std::map<const void *, size_t> shared_limit;
std::map<std::string, unsigned long> calls;
std::map<std::string, unsigned long> ranges;
long open_ranges;

struct {
	std::string call;
	unsigned long number;
} fails;

/* ---- failures ---- */

bool is_sticky(cudaError_t e)
{
	return e == cudaErrorLaunchFailure || e == cudaErrorIllegalAddress;
}

/* What a call gives before it does anything: cudaSuccess, or how it fails. */
cudaError_t begin(const char *call, cudaError_t how)
{
	if (++calls[call] == fails.number && fails.call == call) {
		if (is_sticky(how))
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

/* ---- streams ---- */

bool is_stream(cudaStream_t s)
{
	for (emu_stream *t : streams)
		if (t == s)
			return true;
	return false;
}

/* Until s has nothing left to do. */
void drain(emu_stream *s)
{
	while (!s->work.empty()) {
		emu_stream *const t = streams[emu_below((unsigned)streams.size())];

		if (t->work.empty())
			continue;
		const std::function<void()> work = std::move(t->work.front());

		t->work.pop_front();
		if (sticky == cudaSuccess)
			work();
	}
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
		const char *text = getenv("EMU_FAIL");

		emu_open();
		if (getenv("EMU_DEVICES"))
			ndevice = atoi(getenv("EMU_DEVICES"));
		if (ndevice < 0 || ndevice > EMU_DEVICES_MAX)
			ndevice = EMU_DEVICES_MAX;
		if (text) {
			fails.call = std::string(text).substr(0, std::string(text).find(':'));
			fails.number =
				strchr(text, ':') ? strtoul(strchr(text, ':') + 1, nullptr, 10) : 1;
		}
	}
	~whole()
	{
		FILE *const f = getenv("EMU_REPORT") ? fopen(getenv("EMU_REPORT"), "w") : nullptr;

		if (f) {
			for (auto &c : calls)
				fprintf(f, "call %s %lu\n", c.first.c_str(), c.second);
			for (auto &r : ranges)
				fprintf(f, "range %s %lu\n", r.first.c_str(), r.second);
			fprintf(f, "ranges left open %ld\n", open_ranges);
			fprintf(f, "allocations left %zu\n", allocations.size() + host_allocations.size());
			emu_print_counts(f);
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

const char *cudaGetErrorString(cudaError_t e)
{
	switch (e) {
	case cudaSuccess: return "no error";
	case cudaErrorMemoryAllocation: return "out of memory";
	case cudaErrorNoDevice: return "no CUDA-capable device is detected";
	case cudaErrorLaunchFailure: return "unspecified launch failure";
	case cudaErrorIllegalAddress: return "an illegal memory access was encountered";
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
	*p = { "emulated GPU", EMU_MEMORY_BYTES, 9, 0, 1 };
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
	BEGIN(cudaErrorUnknown);
	*all = EMU_MEMORY_BYTES;
	*left = EMU_MEMORY_BYTES - used[device];
	return cudaSuccess;
}

/* Never what was there before. */
cudaError_t cudaMalloc(void **p, size_t n)
{
	const size_t size = (n + EMU_GAP_BYTES - 1) / EMU_GAP_BYTES * EMU_GAP_BYTES + EMU_GAP_BYTES;

	BEGIN(cudaErrorMemoryAllocation);
	if (n > EMU_MEMORY_BYTES || size > EMU_MEMORY_BYTES - used[device])
		return cudaErrorMemoryAllocation;
	*p = emu_memory + device * EMU_MEMORY_BYTES + used[device];
	used[device] += size;
	allocations[*p] = { n, device };
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
	emu_mark(p, a->second.nbyte, EMU_GIVEN_BACK);
	if (--taken[a->second.device] == 0) /* none is left that this memory could be confused with */
		used[a->second.device] = 0;
	allocations.erase(a);
	return cudaSuccess;
}

/* Filled with what no program expects. */
cudaError_t cudaMallocHost(void **p, size_t n)
{
	BEGIN(cudaErrorMemoryAllocation);
	*p = malloc(n);
	if (!*p)
		return cudaErrorMemoryAllocation;
	memset(*p, 0xa5, n);
	host_allocations.insert(*p);
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

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, enum cudaMemcpyKind kind,
	cudaStream_t s)
{
	BEGIN(cudaErrorUnknown);
	if (!is_stream(s) || s->device != device || emu_on_device(to) == (kind == cudaMemcpyDeviceToHost)
		|| emu_on_device(from) == (kind == cudaMemcpyHostToDevice))
		return cudaErrorInvalidValue;
	s->work.push_back([=] { copy(to, from, n); });
	return cudaSuccess;
}

/* Reads what is there when the stream comes to it: whoever writes must have been waited for. */
cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t n,
	cudaStream_t s)
{
	BEGIN(cudaErrorUnknown);
	if (!is_stream(s) || s->device != device || !emu_on_device(to) || !emu_on_device(from)
		|| emu_device_of(to) != to_device || emu_device_of(from) != from_device)
		return cudaErrorInvalidValue;
	s->work.push_back([=] { copy(to, from, n); });
	return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *p, int value, size_t n, cudaStream_t s)
{
	BEGIN(cudaErrorUnknown);
	if (!is_stream(s) || s->device != device || !emu_on_device(p))
		return cudaErrorInvalidValue;
	s->work.push_back([=] {
		emu_totals.clears++;
		emu_check(p, n, false, "memory is set beyond an allocation");
		emu_mark(p, n, EMU_WRITTEN);
		memset(p, value, n);
	});
	return cudaSuccess;
}

/* ---- streams ---- */

cudaError_t cudaStreamCreate(cudaStream_t *s)
{
	BEGIN(cudaErrorMemoryAllocation);
	streams.push_back(*s = new emu_stream{ device, {} });
	return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t s)
{
	const std::lock_guard<std::recursive_mutex> turn(lock);
	drain(s);
	for (size_t k = 0; k < streams.size(); k++)
		if (streams[k] == s)
			streams.erase(streams.begin() + (ptrdiff_t)k);
	delete s;
	return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
	BEGIN(cudaErrorLaunchFailure);
	drain(s);
	emu_totals.waits++;
	return sticky;
}

/* ---- events ---- */

cudaError_t cudaEventCreate(cudaEvent_t *e)
{
	BEGIN(cudaErrorMemoryAllocation);
	*e = new emu_event{ device, false, 0 };
	host_allocations.insert(*e);
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
	BEGIN(cudaErrorUnknown);
	if (!is_stream(s) || s->device != device || e->device != device)
		return cudaErrorInvalidValue;
	e->recorded = false;
	s->work.push_back([=] {
		const auto now = std::chrono::steady_clock::now().time_since_epoch();

		e->when = std::chrono::duration<double, std::milli>(now).count();
		e->recorded = true;
	});
	return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
	BEGIN(cudaErrorUnknown);
	if (!from->recorded || !to->recorded)
		return cudaErrorNotReady;
	*ms = (float)(to->when - from->when);
	return cudaSuccess;
}

/* ---- ranges ---- */

int nvtxRangePushEx(const nvtxEventAttributes_t *a)
{
	const std::lock_guard<std::recursive_mutex> turn(lock);

	ranges[std::string(a->message.ascii) + " " + std::to_string(a->payload.uiValue)]++;
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

static cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *kernel,
	std::function<void()> body)
{
	const size_t nthread = (size_t)c->blockDim.x * c->blockDim.y * c->blockDim.z;
	const size_t limit = shared_limit.count(kernel) ? shared_limit[kernel] : 48 << 10;

	BEGIN(cudaErrorInvalidConfiguration);
	if (!nthread || nthread > 1024 || !c->gridDim.x || c->gridDim.x > 0x7fffffff
		|| c->dynamicSmemBytes > limit)
		return cudaErrorInvalidConfiguration;
	if (!is_stream(c->stream) || c->stream->device != device)
		return cudaErrorInvalidValue;
	c->stream->work.push_back([device = c->stream->device, kernel, grid = c->gridDim, block = c->blockDim,
					  shared = c->dynamicSmemBytes, body = std::move(body)] {
		emu_run(device, kernel, grid, block, shared, body);
	});
	return cudaSuccess;
}

cudaError_t emu_launch(const cudaLaunchConfig_t *c, const void *kernel, std::function<void()> body)
{
	return cudaLaunchKernelExC(c, kernel, std::move(body));
}
