/* SPDX-License-Identifier: Apache-2.0
 * The files that this process has read, so that no output replaces one of them.
 *
 * The readers of runtime/base note each regular file by device and inode when they open it; code that
 * is about to write a file that the user named calls inputs_check first. Safe to call from any thread. */
#pragma once

#include <stdbool.h>
#include "runtime/base/err.h"

/* `-` where a file is read: the standard input. A file of this name is ./- */
#define INPUT_STDIN "-"
bool input_is_stdin(const char *path);
/* What messages call it: "(standard input)", or the path itself. */
const char *input_name(const char *path);

/* Append a hint to the text of *e, which says that the file `path` does not exist: if it is a URL or begins with ~, or if
 * a file in the same folder has a similar name. */
void input_hint(const char *path, struct err *e);

/* The file that was opened as `path`; files without contents of their own (pipes, terminals, devices) are not noted. */
void inputs_note(int fd, const char *path);
/* -ERR_USAGE when `path` is a file that has been read, under this name or another (a link, ./); 0 otherwise. */
int inputs_check(const char *path, struct err *e);
/* Called once before the standard input is read: -ERR_USAGE the second time. */
int inputs_take_stdin(struct err *e);
