// SPDX-License-Identifier: Apache-2.0
// A CUPTI of the emulated devices: a record of each kernel, copy and clear, by the clock that was registered.
//
// EMU_CUPTI=none is a working one. Others:
//   old      of an old version            /path     the real one, which knows of no emulated device
//   foreign  a library without these functions
//   lost:n   no record of the n-th        mixed     buffers have their records in the wrong order
//   beside:n with the n-th record, one of another stream of the device
//   call:n   the n-th call of that name fails, as without privileges
#include "emu.h"

#include "runtime/exec/statevector/cuda/cuda_cupti.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

struct total {
	unsigned long n, ns;
};

static std::recursive_mutex lock;
static std::set<cupti_kind> enabled;
static cupti_clock_fn *now;
static cupti_request_fn *request;
static cupti_complete_fn *complete;
static std::vector<cupti_times> records; /* that no buffer has */
static std::map<std::string, unsigned long> calls;
static std::map<std::string, total> totals; /* while CUPTI was enabled, the lost ones among them */

/* Is this the n-th of that name, which has the fault? */
static bool has_fault(const char *name)
{
	return emu_is_fault("EMU_CUPTI", name, ++calls[name]);
}

#define BEGIN() \
	const std::lock_guard<std::recursive_mutex> turn(lock); \
	if (has_fault(__func__)) \
	return 35

const char *emu_cupti_name(void)
{
	const char *const text = getenv("EMU_CUPTI");

	return !text ? nullptr : *text == '/' ? text : !strcmp(text, "foreign") ? "libm.so.6" : "";
}

static uint32_t number_of(const void *stream) { return (uint32_t)((uintptr_t)stream >> 4); }

void emu_timed(unsigned kind, unsigned copy_kind, const void *kernel, const std::function<void()> &work)
{
	std::unique_lock<std::recursive_mutex> turn(lock);
	const bool on = enabled.count(kind) && !emu_graph_is_old();
	cupti_times r = { kind, (uint8_t)copy_kind, {}, on ? now() : 0, 0, {} };
	uint32_t *const place = r.place + 2 * (kind == CUPTI_KERNEL);
	Dl_info about;

	place[2] = number_of(emu_stream_now((int *)place));

	turn.unlock();
	work();
	if (!on)
		return;
	turn.lock();
	r.end = now();
	total &t = totals[kernel && dladdr(kernel, &about) && about.dli_sname ? about.dli_sname
			  : kind == CUPTI_COPY ? "copy " + std::to_string(copy_kind)
					       : "clear"];
	t.n++;
	t.ns += r.end - r.start;
	if (!has_fault("lost"))
		records.push_back(r);
	if (has_fault("beside")) {
		place[2] = number_of(emu_stream_beside());
		records.push_back(r);
	}
}

bool emu_cupti_records(void)
{
	const std::lock_guard<std::recursive_mutex> turn(lock);

	return !enabled.empty();
}

void emu_cupti_report(FILE *f)
{
	for (auto &t : totals)
		fprintf(f, "timed %s number %lu ns %lu\n", t.first.c_str(), t.second.n, t.second.ns);
}

extern "C" {

cupti_result cuptiGetVersion(uint32_t *version)
{
	BEGIN();
	*version = has_fault("old") ? 17 : 130000;
	return CUPTI_OK;
}

cupti_result cuptiGetResultString(cupti_result, const char **text)
{
	*text = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES";
	return CUPTI_OK;
}

cupti_result cuptiGetStreamIdEx(cupti_context, cupti_stream s, uint8_t, uint32_t *number)
{
	BEGIN();
	*number = number_of(s);
	return CUPTI_OK;
}

cupti_result cuptiActivityRegisterCallbacks(cupti_request_fn *r, cupti_complete_fn *c)
{
	BEGIN();
	request = r;
	complete = c;
	return CUPTI_OK;
}

cupti_result cuptiActivityRegisterTimestampCallback(cupti_clock_fn *clock)
{
	BEGIN();
	now = clock;
	return CUPTI_OK;
}

cupti_result cuptiActivityEnable(cupti_kind kind)
{
	BEGIN();
	enabled.insert(kind);
	return CUPTI_OK;
}

cupti_result cuptiActivityDisable(cupti_kind kind)
{
	BEGIN();
	enabled.erase(kind);
	return CUPTI_OK;
}

/* Every few records in a buffer of their own. */
cupti_result cuptiActivityFlushAll(uint32_t)
{
	enum { EACH = 10 };

	BEGIN();
	if (has_fault("mixed"))
		std::reverse(records.begin(), records.end());
	for (size_t at = 0; at < records.size(); at += EACH) {
		const size_t n = std::min(records.size() - at, (size_t)EACH);
		uint8_t *buffer;
		size_t nbyte, nrecord;

		request(&buffer, &nbyte, &nrecord);
		if (!buffer)
			break;
		memcpy(buffer, &records[at], n * sizeof records[0]);
		complete(nullptr, 0, buffer, nbyte, n * sizeof records[0]);
	}
	records.clear();
	return CUPTI_OK;
}

cupti_result cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, cupti_activity **record)
{
	BEGIN();
	cupti_times *const next = *record ? *record + 1 : (cupti_times *)buffer;

	if ((uint8_t *)next >= buffer + valid)
		return CUPTI_NO_MORE;
	*record = next;
	return CUPTI_OK;
}
}

#define AGREES(result, name, args) \
	static_assert(std::is_same<decltype(&name), decltype(cupti_library::name)>::value, #name);
CUPTI_FUNCTIONS(AGREES)
