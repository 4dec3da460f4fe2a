/* SPDX-License-Identifier: Apache-2.0
 * What limits a run, and what would make it faster. */
#pragma once

#include "runtime/base/profile/profile.h"

/* Fills p->advice, the largest gain first: what would make the profiled steps at least 3 % faster, by what the profile
 * shows. Gains are estimates: time now over time then, of a sample. */
void profile_advise(struct profile *p);
/* A sentence: what bounds the steps as they are. Appended to *out. */
void profile_bound(const struct profile *p, struct buf *out);
