/* SPDX-License-Identifier: Apache-2.0
 * The roofline of a profile as a figure. */
#pragma once

#include <stdbool.h>

#include "cli/profile/profile_sections.h"

/* stages: the section of that name. Nothing where the limits were not measured or there are no stages. alone: a figure with
 * its own style, for a file. */
void profile_roofline(const struct profile *p, const struct profile_section *stages, bool alone,
	struct buf *out);
