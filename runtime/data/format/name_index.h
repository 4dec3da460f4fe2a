/* SPDX-License-Identifier: Apache-2.0
 * Names of columns in alphabetical order, to find one among many. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The names stay the caller's. */
struct name_index { const char *const *name, *const **sorted; size_t n; };

void name_index_init(struct name_index *x, const char *const *name, size_t n);
void name_index_release(struct name_index *x);
/* The first place of a name in name[n], or -1; *again (may be NULL): its second place, or -1. */
int64_t name_index_find(const struct name_index *x, const char *name, int64_t *again);
