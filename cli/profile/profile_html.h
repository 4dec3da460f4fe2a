/* SPDX-License-Identifier: Apache-2.0
 * A profile as one page for a browser: no scripts, nothing from a network. */
#pragma once

#include "runtime/base/profile/profile.h"

/* What would help, the phases, a timeline with a row for each thread, the roofline, and the tables. */
void profile_page_html(const struct profile *p, struct buf *out);
