/* SPDX-License-Identifier: Apache-2.0
 * Writes gzip files piece by piece, in little memory (zlib stays behind this file and inflate.h). */
#pragma once

#include "runtime/base/buf.h"

struct gzip;

/* A gzip file of one member, without name and time, appended to *out, which nothing else may touch until gzip_end.
 * NULL: -ERR_CONFIG, there is no memory. The same bytes give the same file. */
struct gzip *gzip_begin(struct buf *out, struct err *e);
void gzip_add(struct gzip *g, const void *p, size_t len);
void gzip_end(struct gzip *g);
