/* SPDX-License-Identifier: Apache-2.0
 * Protocol buffers' wire format, as far as event files need it.
 *
 * A message is its fields one behind the other, in any order; an inner message is a
 * field of bytes.  (Encoding: protobuf.dev/programming-guides/encoding.) */
#pragma once

#include "runtime/base/buf.h"

void proto_u64(struct buf *out, unsigned field, uint64_t v);         /* also int64, enum, bool */
void proto_f64(struct buf *out, unsigned field, double v);
void proto_bytes(struct buf *out, unsigned field, const void *p, size_t len);
void proto_str(struct buf *out, unsigned field, const char *s);
void proto_message(struct buf *out, unsigned field, const struct buf *inner);
