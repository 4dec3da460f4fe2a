/* SPDX-License-Identifier: Apache-2.0
 * Parts of messages, for wire.c and wire_work.c.
 *
 * What reads takes a reader that remembers a fault: all of a message is read, then part_whole tells. */
#pragma once

#include "runtime/net/protocol/wire.h"

/* A reader of p[0..len), behind the type that it has to begin with. */
struct rd part_begin(const uint8_t *p, size_t len, enum wire_type type);
/* All read, nothing left. */
bool part_whole(const struct rd *r);

void part_put_text(struct buf *b, const char *text);
/* A text of less than size bytes, none of them NUL. */
void part_text(struct rd *r, char *out, size_t size);
void part_bytes(struct rd *r, void *out, size_t len);
/* n elements of size bytes, with n as the message says it: borrowed, or NULL. */
const uint8_t *part_array(struct rd *r, uint64_t n, size_t size);
void part_put_units(struct buf *b, const struct wire_units *u);
/* At least one unit; the first and the last bit are set, those behind the last are not. */
void part_units(struct rd *r, struct wire_units *u);
void part_put_fixed(struct buf *b, const struct fixed *v, size_t n);
