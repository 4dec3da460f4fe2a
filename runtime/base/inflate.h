/* SPDX-License-Identifier: Apache-2.0
 * Raw deflate and CRC-32 (zlib stays behind this file). */
#ifndef QCNN_INFLATE_H
#define QCNN_INFLATE_H

#include <stddef.h>
#include <stdint.h>
#include "runtime/base/err.h"

uint32_t crc32_of(const void *p, size_t len);
/* Inflate exactly out_len bytes from a raw deflate stream; more or fewer is an error. */
int inflate_raw(const void *in, size_t in_len, void *out, size_t out_len, struct err *e);

#endif
