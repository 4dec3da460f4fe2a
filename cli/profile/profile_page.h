/* SPDX-License-Identifier: Apache-2.0
 * A profile for people and for programs. */
#pragma once

#include "cli/profile/profile_sections.h"

/* One page for a terminal. */
void profile_page_text(const struct profile *p, struct buf *out);
/* {"schema", "wall_seconds", ..., "phases": [...], "layers": [...], ...}, a line. */
void profile_page_json(const struct profile *p, struct buf *out);
/* Rows `section,row,key,value`. */
void profile_page_csv(const struct profile *p, struct buf *out);
/* profile_html.c: one page for a browser, without scripts or anything from a network: what would help, the phases, a timeline
 * with a row for each thread, the roofline, and the tables. */
void profile_page_html(const struct profile *p, struct buf *out);
/* profile_roofline.c: the roofline as a figure. stages: the section of that name. Nothing where the limits were not measured or
 * there are no stages. alone: a figure with its own style, for a file. */
void profile_roofline(const struct profile *p, const struct profile_section *stages, bool alone,
	struct buf *out);
