/* SPDX-License-Identifier: Apache-2.0
 * A profile for people and for programs. */
#pragma once

#include "runtime/base/profile/profile.h"

/* One page for a terminal. */
void profile_page_text(const struct profile *p, struct buf *out);
/* {"schema", "wall_seconds", ..., "phases": [...], "layers": [...], ...}, a line. */
void profile_page_json(const struct profile *p, struct buf *out);
/* Rows `section,row,key,value`. */
void profile_page_csv(const struct profile *p, struct buf *out);
