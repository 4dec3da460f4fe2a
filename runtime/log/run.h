/* SPDX-License-Identifier: Apache-2.0
 * A run's folder: runs/<name>-<time>/ with config.yaml, model.qcnn, weights.bin,
 * metrics.jsonl, run.json, and while it is not finished checkpoint/; runs/latest (latest.h) has
 * links to the files of the newest that has finished.
 *
 * One process writes into a folder: it holds a lock on checkpoint/lock, which the system lets go
 * however the process ends. */
#ifndef QCNN_RUN_H
#define QCNN_RUN_H

#include "runtime/base/buf.h"
#include "runtime/base/err.h"
#include "runtime/base/file_parts.h"

struct run;

/* The folders that a file is to lie in, where they are missing. */
int run_make_parents(const char *path, struct err *e);

/* Make <dir>/<name>-<stamp>[-k], exclusive, so that array jobs stay apart. */
int run_open(const char *dir, const char *name, struct run **out, struct err *e);
/* Go on in a folder that is there; -ERR_CANT_CREATE where another process writes into it. Half-written files that a
 * killed one left behind are removed. */
int run_reopen(const char *path, struct run **out, struct err *e);
const char *run_path(const struct run *r);                      /* the folder */
/* Write a file of the folder atomically (sync: fsynced). A folder that was removed meanwhile is made again. */
int run_write(struct run *r, const char *file, const struct buf *content, int sync, struct err *e);
int run_write_parts(struct run *r, const char *file, const struct file_parts *content, struct err *e);
/* Append one line to a file of the folder (metrics.jsonl), flushed at once. A line that cannot be written
 * is kept, up to RUN_WAITING_MAX bytes, and goes before the next one, so that files have no gaps. */
enum { RUN_WAITING_MAX = 16 << 20, RUN_LINES_MAX = 4 };
int run_append(struct run *r, const char *file, const struct buf *line, struct err *e);
/* Once more, what waits; the first failure. */
int run_flush(struct run *r, struct err *e);
/* How long a file of lines is, and what waits for it (NULL: nothing); false where it has had none. */
bool run_lines(const struct run *r, unsigned k, const char **file, uint64_t *size, const char **waiting);
/* Make it so again: cut to size, and these lines wait. */
int run_cut(struct run *r, const char *file, uint64_t size, const char *waiting, struct err *e);
/* latest has links to its files. */
void run_point_latest(const struct run *r);
/* Its result is complete: latest gets links to its files, then checkpoints and lock are removed. */
void run_finish(struct run *r);
/* Remove the folder with all that is in it. */
int run_discard(struct run *r, struct err *e);
int folder_remove(const char *path, struct err *e);
void run_close(struct run *r);
/* Does a process write into the folder now?  Where the file system has no locks it may be so. */
bool run_is_open(const char *path);

#endif
