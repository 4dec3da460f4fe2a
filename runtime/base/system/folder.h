/* SPDX-License-Identifier: Apache-2.0
 * Files below an open folder, reached without following a symbolic link.
 *
 * A run's folder may come from somebody else: by a shared folder of runs, or inside of a repository. A link in it,
 * planted for example as metrics.jsonl or as train/, must not lead a program out of it. So the folder is opened once,
 * and everything below it is reached from that descriptor, component by component, with O_NOFOLLOW. `file` is a
 * relative path without `..` ("checkpoint/0.bin").
 *
 * Where functions return -1, errno says why, and folder_reason() in words: ELOOP is a link on the way, ENXIO what is no
 * regular file, EMLINK a file with further names (hard links), which is not written to. */
#pragma once

#include <sys/stat.h>
#include "runtime/base/buf.h"

enum { FOLDER_DEPTH_MAX = 32 };

/* The folder as a descriptor, or -1. follow: `path` itself may be a link, as in runs/latest. */
int folder_open(const char *path, bool follow);
/* A regular file: its descriptor, or -1. flags as of open(2). */
int folder_file(int folder, const char *file, int flags);
/* The mode of a file that O_CREAT makes, before the umask; 0666 in folder_file(). */
int folder_file_mode(int folder, const char *file, int flags, mode_t mode);
/* A folder below it. */
int folder_sub(int folder, const char *file);
/* Make the folders that `file` is to lie in, where they are missing: 0 or -1. */
int folder_parents(int folder, const char *file);
/* lstat and unlink: 0 or -1. */
int folder_stat(int folder, const char *file, struct stat *st);
int folder_unlink(int folder, const char *file);
/* fsync of the folder that `file` lies in: 0 or -1. File systems that cannot sync a folder count as done. */
int folder_sync(int folder, const char *file);
const char *folder_reason(int errnum);

/* The contents, as buf_read_file; shown: the folder's name in errors. */
int folder_read(struct buf *b, int folder, const char *shown, const char *file, size_t max_bytes, struct err *e);
/* The same where the folder is not open. */
int folder_read_in(struct buf *b, const char *path, const char *file, size_t max_bytes, struct err *e);
/* As file_replace; what lies there under that name is replaced, a link too. */
int folder_replace(int folder, const char *shown, const char *file, int (*put)(const void *what, int fd), const void *what,
	int sync, struct err *e);

/* Calls visit for all that lies below the folder: what a folder holds comes before the folder itself; links are not
 * followed. `at` is the folder that holds `name`, `path` the way to it. Ends with the first result that is not 0; -1 and
 * errno where a folder cannot be read. */
typedef int (*folder_visit_fn)(void *ctx, int at, const char *name, const char *path, const struct stat *st);
int folder_walk(int folder, folder_visit_fn visit, void *ctx);
/* Remove the folder and all that is in it; a path that is not absolute begins at the folder `at`, or with AT_FDCWD at the
 * current one. */
int folder_remove(int at, const char *path, struct err *e);

/* Do the folder and all in it belong to the effective user, with nobody else allowed to write, and are they folders and
 * regular files only?  Otherwise *why says what is wrong. A group that is the user's own (of the same name, without
 * further members) may write, where no access control list lets others. */
bool folder_is_own(int folder, struct buf *why);
