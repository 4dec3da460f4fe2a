/* SPDX-License-Identifier: Apache-2.0
 * Files of /proc and /sys, line by line, and what this process's cgroup allows (versions 1 and 2). */
#pragma once

#include <stdint.h>

enum { SYSTEM_LINE_BYTES = 1024, SYSTEM_PATH_BYTES = 1200 };

/* The rest of the first line of `path` that begins with `key`; 0 when there is none. */
int system_line(const char *path, const char *key, char rest[SYSTEM_LINE_BYTES]);

/* Smallest quota from this process's group up to the root, in processors; 0: none. */
double cgroup_quota(void);

/* The least memory that the groups from this process's up to the root leave, and allow: bytes, UINT64_MAX: no limit. */
uint64_t cgroup_leaves(uint64_t *limit);
