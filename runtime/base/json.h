/* SPDX-License-Identifier: Apache-2.0
 * JSON in and out: jansson's tree behind bounded, exact reading and writing.
 *
 * The tree itself (json_object_get, json_array_append_new, json_decref ...) is
 * jansson's; include this header for it.  Doubles keep their bits both ways. */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include "runtime/base/buf.h"
#include "runtime/base/err.h"

enum { JSON_DEPTH_MAX = 64, JSON_BYTES_MAX = 64 << 20, JSON_MEMORY_MAX = 1 << 30 };

/* The value in text[0..len), the caller's to json_decref; NULL and ERR_BAD_DATA
 * with "line L, column C" when it is not JSON or repeats a key, ERR_BAD_DATA when it is too deep, too long or of too many
 * values, ERR_CONFIG where there is no memory. */
json_t *json_read(const char *text, size_t len, struct err *e);
/* Bytes of memory that json_read takes for the text, at most. */
uint64_t json_memory(const char *text, size_t len);
/* Put the leaves of the object v into the object flat, each under the names on its path, joined by dots, behind prefix. */
void json_flatten(const json_t *v, const char *prefix, json_t *flat);
/* Canonical: sorted keys, no spaces, doubles in the fewest digits. */
void json_write(const json_t *v, struct buf *out);
/* The form of all output for users: one line, a space after each comma and colon, keys in the order in which they
 * were added, "schema" first. */
void json_print(const json_t *v, struct buf *out);
