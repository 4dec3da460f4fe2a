/* SPDX-License-Identifier: Apache-2.0
 * Parts of messages, for wire.c.
 *
 * One struct fields writes or reads a message: each function below appends a field to `out` or, where that is NULL, takes it
 * from `in`. What reads remembers a fault: all of a message is read, then field_whole tells. */
#pragma once

#include "runtime/net/protocol/wire.h"

struct fields {
	struct buf *out;
	struct rd in;
};

/* A message to be appended to *b. */
struct fields field_write(struct buf *b, enum wire_type type);
/* A reader of p[0..len), behind the type that it has to begin with. */
struct fields field_read(const uint8_t *p, size_t len, enum wire_type type);
/* All read, nothing left. */
bool field_whole(const struct fields *p);
/* What has to be so of fields that were read; a reader that is at fault stays so. */
void field_check(struct fields *p, bool holds);

void field_u8(struct fields *p, uint8_t *v);
void field_u16(struct fields *p, uint16_t *v);
void field_u32(struct fields *p, uint32_t *v);
void field_u64(struct fields *p, uint64_t *v);
void field_f64(struct fields *p, double *v);
void field_bool(struct fields *p, bool *v);
/* A text of less than size bytes, none of them NUL. */
void field_text(struct fields *p, char *text, size_t size);
void field_bytes(struct fields *p, void *bytes, size_t len);
void field_doubles(struct fields *p, double *v, uint32_t n);
/* n bytes, with n as the message says it; those that are read are borrowed, or NULL. */
void field_blob(struct fields *p, const uint8_t **bytes, uint64_t n);
/* The same, with n before them. */
void field_long_text(struct fields *p, const char **text, uint32_t *n);
/* n elements of size bytes as field_blob reads them; nothing is written, as the caller appends them. */
void field_array(struct fields *p, const uint8_t **elements, uint64_t n, size_t size);
/* At least one unit; the first and the last bit are set, those behind the last are not. */
void field_units(struct fields *p, struct wire_units *u);
