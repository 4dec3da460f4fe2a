/* SPDX-License-Identifier: Apache-2.0
 * What /proc, the cgroup and the processor say about this machine. */
#include "config.h"
#ifndef _GNU_SOURCE
#define _GNU_SOURCE      /* sched_getaffinity */
#endif
#include "runtime/base/cpus.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 1024, PATH_BYTES = 1200, THREADS_LIMIT = 4096, CPU_SET_BITS = 8192 };

static const char *const isa_names[ISA_COUNT] = {
	[ISA_NONE] = "none", [ISA_BASELINE] = "baseline", [ISA_AVX2] = "avx2",
	[ISA_AVX512] = "avx512",
};

enum isa isa_best(void)
{
#if defined __x86_64__
	__builtin_cpu_init();
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
		return ISA_BASELINE;
	if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq")
			|| !__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512bw"))
		return ISA_AVX2;
	return ISA_AVX512;
#else
	return ISA_BASELINE;
#endif
}

const char *isa_name(enum isa i)
{
	return isa_names[i];
}

enum isa isa_find(const char *name)
{
	for (int i = ISA_BASELINE; i < ISA_COUNT; i++)
		if (!strcmp(name, isa_names[i]))
			return (enum isa)i;
	return ISA_NONE;
}

/* The rest of the first line of `path` that begins with `key`; 0 when there is none. */
static int find_line(const char *path, const char *key, char rest[LINE_MAX_BYTES])
{
	size_t len = strlen(key);
	char line[LINE_MAX_BYTES];
	FILE *f = fopen(path, "re");
	int found = 0;

	if (!f)
		return 0;
	while (!found && fgets(line, sizeof line, f)) {
		found = !strncmp(line, key, len);
		if (found) {
			memcpy(rest, line + len, sizeof line - len);
			rest[strcspn(rest, "\n")] = '\0';
		}
	}
	fclose(f);
	return found;
}

/* Folder of this process in a cgroup hierarchy; version 1 names a controller. */
static int cgroup_folder(const char *controller, char folder[LINE_MAX_BYTES])
{
	char line[LINE_MAX_BYTES], key[64], *path, *names;
	FILE *f = fopen("/proc/self/cgroup", "re");
	int found = 0;

	if (!f)
		return 0;
	snprintf(key, sizeof key, ",%s,", controller);
	while (!found && fgets(line, sizeof line, f)) {
		char list[LINE_MAX_BYTES + 2];

		names = strchr(line, ':');
		path = names ? strchr(names + 1, ':') : NULL;
		if (!path)
			continue;
		*path++ = '\0';
		path[strcspn(path, "\n")] = '\0';
		snprintf(list, sizeof list, ",%s,", names + 1);
		found = *controller ? strstr(list, key) != NULL : !names[1];
		if (found)
			memmove(folder, path, strlen(path) + 1);
	}
	fclose(f);
	return found;
}

/* One step towards the root; 0 at the root. */
static int parent(char *folder)
{
	char *slash = strrchr(folder, '/');

	if (!slash || !*folder)
		return 0;
	*slash = '\0';
	return 1;
}

static int cgroup_text(const char *root, const char *folder, const char *file, const char *key,
	char text[LINE_MAX_BYTES])
{
	char path[PATH_BYTES];

	if (snprintf(path, sizeof path, "%s%s/%s", root, folder, file) >= (int)sizeof path)
		return 0;
	return find_line(path, key, text);
}

static double quota_v2(const char *folder)
{
	char text[LINE_MAX_BYTES];
	double quota, period;

	if (!cgroup_text("/sys/fs/cgroup", folder, "cpu.max", "", text)
			|| sscanf(text, "%lf %lf", &quota, &period) != 2 || period <= 0)
		return 0;
	return quota / period;
}

static double quota_v1(const char *folder)
{
	char quota[LINE_MAX_BYTES], period[LINE_MAX_BYTES];

	if (!cgroup_text("/sys/fs/cgroup/cpu", folder, "cpu.cfs_quota_us", "", quota)
			|| !cgroup_text("/sys/fs/cgroup/cpu", folder, "cpu.cfs_period_us", "", period)
			|| atof(period) <= 0)
		return 0;
	return atof(quota) / atof(period);
}

/* Smallest quota from this process's group up to the root, in processors; 0: none. */
static double cgroup_quota(void)
{
	static const struct { const char *controller; double (*quota)(const char *); } version[] = {
		{ "", quota_v2 }, { "cpu", quota_v1 },
	};
	char folder[LINE_MAX_BYTES];
	double least = 0, q;

	for (int i = 0; i < 2; i++) {
		if (!cgroup_folder(version[i].controller, folder))
			continue;
		do {
			q = version[i].quota(folder);
			if (q > 0 && (!least || q < least))
				least = q;
		} while (parent(folder));
	}
	return least;
}

static unsigned affinity(void)
{
	cpu_set_t *set = CPU_ALLOC(CPU_SET_BITS);
	size_t size = CPU_ALLOC_SIZE(CPU_SET_BITS);
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	int n = 0;

	if (set && !sched_getaffinity(0, size, set))
		n = CPU_COUNT_S(size, set);
	CPU_FREE(set);
	return n > 0 ? (unsigned)n : online > 0 ? (unsigned)online : 1;
}

unsigned cpus_threads(const char **rule)
{
	const char *text = getenv("OMP_NUM_THREADS"), *ignored;
	long asked = text ? strtol(text, NULL, 10) : 0;
	unsigned n = affinity();
	double quota;

	rule = rule ? rule : &ignored;
	if (asked > 0 && asked <= THREADS_LIMIT) {
		*rule = "OMP_NUM_THREADS";
		return (unsigned)asked;
	}
	quota = cgroup_quota();
	if (quota > 0 && quota < n) {
		*rule = "cgroup quota";
		n = (unsigned)quota;
		return n < quota ? n + 1 : n;
	}
	*rule = "affinity mask";
	return n;
}

static uint64_t number(const char *text)
{
	return strtoull(text, NULL, 10);
}

struct group_files { const char *controller, *root, *limit, *used, *cache; };

static const struct group_files group_versions[] = {
	{ "", "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file " },
	{ "memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
		"total_inactive_file " },
};
enum { GROUP_VERSIONS = sizeof group_versions / sizeof *group_versions };

/* What one group leaves; page cache that nobody uses can be taken back. */
static uint64_t group_leaves(const char *root, const char *folder, const char *limit_file,
	const char *used_file, const char *cache_key)
{
	char text[LINE_MAX_BYTES];
	uint64_t limit, used, cache = 0;

	if (!cgroup_text(root, folder, limit_file, "", text) || *text < '0' || *text > '9')
		return UINT64_MAX;
	limit = number(text);
	if (!cgroup_text(root, folder, used_file, "", text))
		return UINT64_MAX;
	used = number(text);
	if (cgroup_text(root, folder, "memory.stat", cache_key, text))
		cache = number(text);
	used -= cache < used ? cache : used;
	return limit > used ? limit - used : 0;
}

static uint64_t group_limit(const struct group_files *g, const char *folder)
{
	char text[LINE_MAX_BYTES];

	if (!cgroup_text(g->root, folder, g->limit, "", text) || *text < '0' || *text > '9')
		return UINT64_MAX;
	return number(text);
}

/* The least that the groups from this process's up to the root leave, and allow. */
static uint64_t cgroup_leaves(uint64_t *limit)
{
	char folder[LINE_MAX_BYTES];
	uint64_t least = UINT64_MAX, left;

	*limit = UINT64_MAX;
	for (int i = 0; i < GROUP_VERSIONS; i++) {
		const struct group_files *g = &group_versions[i];

		if (!cgroup_folder(g->controller, folder))
			continue;
		do {
			left = group_leaves(g->root, folder, g->limit, g->used, g->cache);
			least = left < least ? left : least;
			left = group_limit(g, folder);
			*limit = left < *limit ? left : *limit;
		} while (parent(folder));
	}
	return least;
}

uint64_t cpus_memory_available(void)
{
	char text[LINE_MAX_BYTES];
	uint64_t free_bytes, limit, left = cgroup_leaves(&limit);

	/* Without /proc, as in a bare chroot, caches look like used memory: then all of it is the bound. */
	if (find_line("/proc/meminfo", "MemAvailable:", text))
		free_bytes = number(text) * 1024;
	else
		free_bytes = cpus_memory_total();
	return free_bytes && free_bytes < left ? free_bytes : left;
}

uint64_t cpus_memory_total(void)
{
	char text[LINE_MAX_BYTES];
	struct sysinfo info;

	if (find_line("/proc/meminfo", "MemTotal:", text))
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
	char path[PATH_BYTES], text[LINE_MAX_BYTES];

	for (unsigned k = 0; k < 16; k++) {
		const char *folder = "/sys/devices/system/cpu/cpu0/cache/index";

		snprintf(path, sizeof path, "%s%u/level", folder, k);
		if (!find_line(path, "", text))
			return 0;
		if (number(text) != level)
			continue;
		snprintf(path, sizeof path, "%s%u/type", folder, k);
		if (!find_line(path, "", text) || !strcmp(text, "Instruction"))
			continue;
		snprintf(path, sizeof path, "%s%u/shared_cpu_list", folder, k);
		if (shared_by)
			*shared_by = find_line(path, "", text) ? list_members(text) : 1;
		snprintf(path, sizeof path, "%s%u/size", folder, k);
		return find_line(path, "", text) ? number(text) << (strchr(text, 'K') ? 10 : strchr(text, 'M') ? 20 : 0) : 0;
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
	char text[LINE_MAX_BYTES];
	unsigned n = find_line("/sys/devices/system/node/online", "", text) ? list_members(text) : 0;

	return n ? n : 1;
}

const char *cpus_model(void)
{
	static char model[LINE_MAX_BYTES];
	char text[LINE_MAX_BYTES], *name;

	if (*model)
		return model;
	name = find_line("/proc/cpuinfo", "model name", text) ? strchr(text, ':') : NULL;
	snprintf(model, sizeof model, "%s", name && name[1] ? name + 2 : "unknown");
	return model;
}
