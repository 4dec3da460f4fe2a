/* SPDX-License-Identifier: Apache-2.0
 * Raw deflate, gzip and CRC-32 (zlib stays behind this file). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "runtime/base/buf.h"

uint32_t crc32_of(const void *p, size_t len);
/* Inflate exactly out_len bytes from a raw deflate stream; more or fewer is an error. */
int inflate_raw(const void *in, size_t in_len, void *out, size_t out_len, struct err *e);
/* The contents of a gzip file (RFC 1952) of one member as *out, which is empty before. The length that it states is
 * believed as far as deflate can reach, so memory stays below GZIP_RATIO_MAX times in_len. */
enum { GZIP_RATIO_MAX = 1032 };
int inflate_gzip(const void *in, size_t in_len, struct buf *out, struct err *e);

/* Takes what was inflated, piece by piece; a code that is not 0 ends it. */
typedef int (*inflate_sink)(void *ctx, const void *p, size_t len, struct err *e);
/* The same from len bytes at `at` of an open file, which path names in errors, in little memory: a gzip file of one
 * member, or a raw stream. */
int inflate_file(int fd, const char *path, uint64_t at, uint64_t len, bool gzip, inflate_sink sink, void *ctx, struct err *e);
/* The CRC of what crc is that of, with more bytes behind it; 0 for none. */
uint32_t crc32_more(uint32_t crc, const void *p, size_t len);
