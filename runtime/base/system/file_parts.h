/* SPDX-License-Identifier: Apache-2.0
 * A file whose parts lie anywhere in memory, written without a copy; one part of it may be a digest of all others. */
#pragma once

#include "runtime/base/buf.h"

enum { FILE_SEAL_MAX = 64 };

struct file_part { const char *p; size_t len; };
/* seal_len bytes at seal_at of the first part are made from all others: `make` reads those alone. Without make there
 * are none. */
struct file_parts {
	struct file_part *part; size_t npart, cap;
	size_t seal_at, seal_len;
	void (*make)(const struct file_parts *f, char *seal);
};

void file_parts_add(struct file_parts *f, const void *p, size_t len);       /* borrows */
void file_parts_release(struct file_parts *f);
size_t file_parts_size(const struct file_parts *f);
/* Behind *out, as one. */
void file_parts_join(const struct file_parts *f, struct buf *out);
/* As buf_write_file, fsynced. What is made from all is made while the disk takes the rest, and follows: whoever finds
 * the temporary file before finds there what the first part has. */
int file_parts_put(const void *file_parts, int fd); /* `put` of file_replace */
