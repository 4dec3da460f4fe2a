/* SPDX-License-Identifier: Apache-2.0
 * What /proc, /sys, OpenMP and the processor say about this machine. */
#include "runtime/base/system/cpus.h"

#include <math.h>
#include <omp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>
#include "runtime/base/system/cgroup.h"

enum { THREADS_LIMIT = 4096, CPU_SET_BITS = 8192 };

/* Do processor and operating system support it? */
static bool supported(enum isa i)
{
	switch (i) {
	case ISA_BASELINE: return true;
#if defined __x86_64__
	case ISA_AVX2: return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
	case ISA_AVX512:
		return supported(ISA_AVX2) && __builtin_cpu_supports("avx512f")
			&& __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
			&& __builtin_cpu_supports("avx512bw");
#elif defined __aarch64__
	case ISA_NEON: return true;
#endif
	default: return false;
	}
}

static const bool built[ISA_COUNT] = {
	[ISA_BASELINE] = true,
#ifdef QCNN_X86_KERNELS
	[ISA_AVX2] = true,
	[ISA_AVX512] = true,
#endif
#ifdef QCNN_NEON_KERNELS
	[ISA_NEON] = true,
#endif
};

const char *isa_obstacle(enum isa i)
{
#if defined __x86_64__
	__builtin_cpu_init();
#endif
	return !supported(i) ? "this machine has no"
		: !built[i]  ? "this qcnn was built without"
			     : NULL;
}

enum isa isa_best(void)
{
	int i = ISA_COUNT - 1;

	while (i > ISA_BASELINE && isa_obstacle((enum isa)i))
		i--;
	return (enum isa)i;
}

static unsigned affinity(void)
{
	cpu_set_t *set = CPU_ALLOC(CPU_SET_BITS);
	size_t size = CPU_ALLOC_SIZE(CPU_SET_BITS);
	int n = 0;

	if (set && !sched_getaffinity(0, size, set))
		n = CPU_COUNT_S(size, set);
	CPU_FREE(set);
	return n > 0 ? (unsigned)n : cpus_online();
}

/* Processors in the places that OMP_PLACES or OMP_PROC_BIND make, 0 when there are none. With places, OpenMP has bound
 * this thread to the first one, so that its mask tells less than the program may use. */
static unsigned place_processors(void)
{
	cpu_set_t *set = CPU_ALLOC(CPU_SET_BITS);
	size_t size = CPU_ALLOC_SIZE(CPU_SET_BITS);

	if (!set)
		return 0;
	CPU_ZERO_S(size, set);
	for (int place = 0; place < omp_get_num_places(); place++) {
		int count = omp_get_place_num_procs(place);
		int *id = count > 0 ? malloc((size_t)count * sizeof *id) : NULL;

		if (!id)
			continue;
		omp_get_place_proc_ids(place, id);
		for (int k = 0; k < count; k++)
			if (id[k] >= 0 && id[k] < CPU_SET_BITS)
				CPU_SET_S((size_t)id[k], size, set);
		free(id);
	}
	unsigned n = (unsigned)CPU_COUNT_S(size, set);
	CPU_FREE(set);
	return n;
}

/* What the processors and the cgroup allow. */
static unsigned granted(const char **rule)
{
	unsigned places = place_processors(), n = places ? places : affinity();
	double quota = cgroup_quota();

	*rule = !places ? "affinity mask" : getenv("OMP_PLACES") ? "OMP_PLACES" : "OMP_PROC_BIND";
	if (quota > 0 && quota < n) {
		*rule = "cgroup quota";
		n = (unsigned)quota;
		return n < quota ? n + 1 : n;
	}
	return n;
}

unsigned cpus_thread_limit(void)
{
	int limit = omp_get_thread_limit();

	return limit > 0 ? (unsigned)limit : 1;
}

unsigned cpus_threads(const char **rule)
{
	const char *text = getenv("OMP_NUM_THREADS"), *ignored;
	long asked = text ? strtol(text, NULL, 10) : 0;
	unsigned n, limit = cpus_thread_limit();

	rule = rule ? rule : &ignored;
	*rule = "OMP_NUM_THREADS";
	n = asked > 0 && asked <= THREADS_LIMIT ? (unsigned)asked : granted(rule);
	if (limit < n) {
		*rule = "OMP_THREAD_LIMIT";
		n = limit;
	}
	return n;
}

static uint64_t number(const char *text) { return strtoull(text, NULL, 10); }

uint64_t cpus_memory_available(void)
{
	char text[SYSTEM_LINE_BYTES];
	uint64_t free_bytes, limit, left = cgroup_leaves(&limit);

	/* Without /proc, as in a bare chroot, caches look like used memory: then all of it is the bound. */
	if (system_line("/proc/meminfo", "MemAvailable:", text))
		free_bytes = number(text) * 1024;
	else
		free_bytes = cpus_memory_total();
	left = free_bytes && free_bytes < left ? free_bytes : left;
	return left < SIZE_MAX / 2 ? left : SIZE_MAX / 2;    /* what addresses of 32 bits reach at best */
}

uint64_t cpus_memory_total(void)
{
	char text[SYSTEM_LINE_BYTES];
	struct sysinfo info;

	if (system_line("/proc/meminfo", "MemTotal:", text))
		return number(text) * 1024;
	return sysinfo(&info) == 0 ? (uint64_t)info.totalram * info.mem_unit : 0;
}

uint64_t cpus_memory_limit(void)
{
	uint64_t limit;

	cgroup_leaves(&limit);
	/* Version 1 writes "no limit" as a number close to 2^63. */
	return limit < UINT64_C(1) << 60 ? limit : 0;
}

uint64_t cpus_memory_resident(void)
{
	char text[SYSTEM_LINE_BYTES];

	return system_line("/proc/self/status", "VmHWM:", text) ? number(text) * 1024 : 0;
}

/* proc(5): 5 in clear_refs sets the peak to what is held now. */
void cpus_memory_forget(void)
{
	FILE *f = fopen("/proc/self/clear_refs", "w");

	if (!f)
		return;
	fputs("5", f);
	fclose(f);
}

/* Members of a list like "0-3,8,10-11". */
static unsigned list_members(const char *text)
{
	unsigned n = 0, low, high;
	int used;

	while (sscanf(text, "%u%n", &low, &used) == 1) {
		high = low;
		text += used;
		if (*text == '-' && sscanf(text + 1, "%u%n", &high, &used) == 1)
			text += 1 + used;
		n += high >= low ? high - low + 1 : 0;
		if (*text++ != ',')
			break;
	}
	return n;
}

uint64_t cpus_cache(unsigned level, unsigned *shared_by)
{
	char path[SYSTEM_PATH_BYTES], text[SYSTEM_LINE_BYTES];

	for (unsigned k = 0; k < 16; k++) {
		const char *folder = "/sys/devices/system/cpu/cpu0/cache/index";

		snprintf(path, sizeof path, "%s%u/level", folder, k);
		if (!system_line(path, "", text))
			return 0;
		if (number(text) != level)
			continue;
		snprintf(path, sizeof path, "%s%u/type", folder, k);
		if (!system_line(path, "", text) || !strcmp(text, "Instruction"))
			continue;
		snprintf(path, sizeof path, "%s%u/shared_cpu_list", folder, k);
		if (shared_by)
			*shared_by = system_line(path, "", text) ? list_members(text) : 1;
		snprintf(path, sizeof path, "%s%u/size", folder, k);
		return system_line(path, "", text) ? number(text) << (strchr(text, 'K') ? 10 : strchr(text, 'M') ? 20 : 0) : 0;
	}
	return 0;
}

unsigned cpus_online(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? (unsigned)n : 1;
}

unsigned cpus_numa_nodes(void)
{
	char text[SYSTEM_LINE_BYTES];
	unsigned n = system_line("/sys/devices/system/node/online", "", text) ? list_members(text) : 0;

	return n ? n : 1;
}

const char *cpus_model(void)
{
	static char model[SYSTEM_LINE_BYTES];
	char text[SYSTEM_LINE_BYTES], *name;

	if (*model)
		return model;
	name = system_line("/proc/cpuinfo", "model name", text) ? strchr(text, ':') : NULL;
	snprintf(model, sizeof model, "%s", name && name[1] ? name + 2 : "unknown");
	return model;
}

const char *memory_text(double factor, unsigned exponent, char text[MEMORY_TEXT_MAX])
{
	static const char *const unit[] = { "bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double size = exponent < 200 ? ldexp(factor, (int)exponent) : HUGE_VAL;
	unsigned k = 0;

	while (size >= 1024 && k + 1 < sizeof unit / sizeof *unit) {
		size /= 1024;
		k++;
	}
	if (size >= 1024)
		snprintf(text, MEMORY_TEXT_MAX, "2^%.0f bytes", exponent + log2(factor));
	else
		snprintf(text, MEMORY_TEXT_MAX, k ? "%.1f %s" : "%.0f %s", size, unit[k]);
	return text;
}
