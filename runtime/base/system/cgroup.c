/* SPDX-License-Identifier: Apache-2.0
 * Groups are looked through from this process's own up to the root: the tightest limit counts. */
#include "runtime/base/system/cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int system_line(const char *path, const char *key, char rest[SYSTEM_LINE_BYTES])
{
	size_t len = strlen(key);
	char line[SYSTEM_LINE_BYTES];
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
static int cgroup_folder(const char *controller, char folder[SYSTEM_LINE_BYTES])
{
	char line[SYSTEM_LINE_BYTES], key[64], *path, *names;
	FILE *f = fopen("/proc/self/cgroup", "re");
	int found = 0;

	if (!f)
		return 0;
	snprintf(key, sizeof key, ",%s,", controller);
	while (!found && fgets(line, sizeof line, f)) {
		char list[SYSTEM_LINE_BYTES + 2];

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
	char text[SYSTEM_LINE_BYTES])
{
	char path[SYSTEM_PATH_BYTES];

	if (snprintf(path, sizeof path, "%s%s/%s", root, folder, file) >= (int)sizeof path)
		return 0;
	return system_line(path, key, text);
}

static double quota_v2(const char *folder)
{
	char text[SYSTEM_LINE_BYTES];
	double quota, period;

	if (!cgroup_text("/sys/fs/cgroup", folder, "cpu.max", "", text)
			|| sscanf(text, "%lf %lf", &quota, &period) != 2 || period <= 0)
		return 0;
	return quota / period;
}

static double quota_v1(const char *folder)
{
	char quota[SYSTEM_LINE_BYTES], period[SYSTEM_LINE_BYTES];

	if (!cgroup_text("/sys/fs/cgroup/cpu", folder, "cpu.cfs_quota_us", "", quota)
			|| !cgroup_text("/sys/fs/cgroup/cpu", folder, "cpu.cfs_period_us", "", period)
			|| atof(period) <= 0)
		return 0;
	return atof(quota) / atof(period);
}

double cgroup_quota(void)
{
	static const struct { const char *controller; double (*quota)(const char *); } version[] = {
		{ "", quota_v2 }, { "cpu", quota_v1 },
	};
	char folder[SYSTEM_LINE_BYTES];
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

static uint64_t number(const char *text) { return strtoull(text, NULL, 10); }

struct group_files { const char *controller, *root, *limit, *used, *cache; };

static const struct group_files group_versions[] = {
	{ "", "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file " },
	{ "memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
		"total_inactive_file " },
};
enum { GROUP_VERSIONS = sizeof group_versions / sizeof *group_versions };

/* What one group leaves, and its limit; page cache that nobody uses can be taken back. */
static uint64_t group_leaves(const struct group_files *g, const char *folder, uint64_t *limit)
{
	char text[SYSTEM_LINE_BYTES];
	uint64_t used, cache = 0;

	*limit = UINT64_MAX;
	if (!cgroup_text(g->root, folder, g->limit, "", text) || *text < '0' || *text > '9')
		return UINT64_MAX;
	*limit = number(text);
	if (!cgroup_text(g->root, folder, g->used, "", text))
		return UINT64_MAX;
	used = number(text);
	if (cgroup_text(g->root, folder, "memory.stat", g->cache, text))
		cache = number(text);
	used -= cache < used ? cache : used;
	return *limit > used ? *limit - used : 0;
}

uint64_t cgroup_leaves(uint64_t *limit)
{
	char folder[SYSTEM_LINE_BYTES];
	uint64_t least = UINT64_MAX, left, own;

	*limit = UINT64_MAX;
	for (int i = 0; i < GROUP_VERSIONS; i++) {
		const struct group_files *g = &group_versions[i];

		if (!cgroup_folder(g->controller, folder))
			continue;
		do {
			left = group_leaves(g, folder, &own);
			least = left < least ? left : least;
			*limit = own < *limit ? own : *limit;
		} while (parent(folder));
	}
	return least;
}
