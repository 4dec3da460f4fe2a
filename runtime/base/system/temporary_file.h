/* SPDX-License-Identifier: Apache-2.0
 * Parts of files, and temporary files that nobody else sees.
 *
 * A temporary file lies in the folder that TMPDIR names, else in /var/tmp or /tmp, has no name there, and goes with its
 * descriptor or its process. */
#pragma once

#include <stdint.h>
#include "runtime/base/buf.h"

/* A regular file, open to be read: its descriptor (the caller's to close) and size, or a negative code. */
int file_open(const char *path, uint64_t *size, struct err *e);
/* Exactly len bytes from `at` on: -ERR_IO naming `path` when the disk fails or the file has become shorter. */
int file_read(int fd, const char *path, uint64_t at, void *p, size_t len, struct err *e);

/* The folder for temporary files; the environment's or a constant. */
const char *temporary_folder(void);

struct temporary_file {
	int fd;
	uint64_t len;
	struct buf waiting;
};

int temporary_file_open(struct temporary_file *s, struct err *e);
/* Appends; -ERR_IO names the folder when it is full. */
int temporary_file_add(struct temporary_file *s, const void *p, size_t len, struct err *e);
/* Writes what waits and hands over the descriptor: whoever takes it closes it. */
int temporary_file_take(struct temporary_file *s, int *fd, struct err *e);
void temporary_file_release(struct temporary_file *s);
