/* SPDX-License-Identifier: Apache-2.0
 * A run's folder: runs/<name>-<time>/ with config.yaml, model.qcnn, weights.bin,
 * metrics.jsonl, run.json, and while it is not finished checkpoint/; runs/latest (latest.h) has
 * links to the files of the newest that has finished.
 *
 * One process writes into a folder: it holds a lock on checkpoint/lock, which the system lets go
 * however the process ends; only those who may write to the run's folder can open that file.
 * Files of the folder are opened without following links (folder.h): `file` is their name in it. A path of the configuration that leaves the folder, absolute or with `..`, is taken as it is written. */
#pragma once

#include "runtime/base/buf.h"
#include "runtime/base/err.h"
#include "runtime/base/system/file_parts.h"

struct run;

/* The folders that a file is to lie in, where they are missing. */
int run_make_parents(const char *path, struct err *e);

/* Make <dir>/<name>-<stamp>[-k], exclusive, so that array jobs stay apart. */
int run_open(const char *dir, const char *name, struct run **out, struct err *e);
/* Go on in a folder that is there; -ERR_CANT_CREATE where another process writes into it. Half-written files that a
 * killed one left behind are removed. foreign not NULL: only where the folder and all in it are the user's own
 * (folder_is_own); else 0 with *out NULL, *foreign says why, and nothing was touched. */
int run_reopen(const char *path, struct buf *foreign, struct run **out, struct err *e);
const char *run_path(const struct run *r);                      /* the folder */
/* "process 12 on n1": where the file system has no locks, a process of another machine that wrote there and has not ended, as far as
 * the folder says; NULL: none. */
const char *run_other_writer(const struct run *r);
int run_folder(const struct run *r);                            /* as a descriptor, which stays the run's */
void run_full_path(const struct run *r, const char *file, struct buf *path);    /* appended to *path; r NULL: the file alone */
/* Write a file of the folder (r NULL: of the current one) atomically (sync: fsynced). A folder that was removed meanwhile is
 * made again. */
int run_write(struct run *r, const char *file, const struct buf *content, int sync, struct err *e);
int run_write_parts(struct run *r, const char *file, const struct file_parts *content, struct err *e);
/* A file as a descriptor; with O_CREAT it and its folders are made. r NULL: in the current folder. A negative code on failure, and errno. */
int run_open_file(struct run *r, const char *file, int flags, struct err *e);
void run_written(struct run *r, const char *file);              /* through such a descriptor, for run_sync; r may be NULL */
/* code, and what cannot be done to the file: "cannot write runs/a/history.csv: " and the reason in errno, which stays. */
int run_cannot(const struct run *r, const char *what, const char *file, int code, struct err *e);
/* At the end of a file: all of it, or the file stays as it was: 0, or -1 and errno. */
int run_append_whole(int fd, const struct buf *b);
int run_read(const struct run *r, const char *file, size_t max_bytes, struct buf *b, struct err *e);
int run_unlink(struct run *r, const char *file);                /* 0, or -1 and errno */
/* Everything that was written since the last time goes to the disk, with its entries in folders: before a checkpoint
 * that counts on it. */
int run_sync(struct run *r, struct err *e);
/* Append one line to a file of the folder (metrics.jsonl), flushed at once. A line that cannot be written
 * is kept, up to RUN_WAITING_MAX bytes, and goes before the next one, so that files have no gaps. */
enum { RUN_WAITING_MAX = 16 << 20, RUN_LINES_MAX = 4 };
int run_append(struct run *r, const char *file, const struct buf *line, struct err *e);
/* Once more, what waits; the first failure. */
int run_flush(struct run *r, struct err *e);
/* How long a file of lines is, and what waits for it (NULL: nothing); false where it has had none. */
bool run_lines(const struct run *r, unsigned k, const char **file, uint64_t *size, const char **waiting);
/* Make it so again: cut to size, and these lines wait. *lost: bytes that are missing, as after a power failure; the file then
 * ends with its last whole line. */
int run_cut(struct run *r, const char *file, uint64_t size, const char *waiting, uint64_t *lost, struct err *e);
/* latest has links to its files; -ERR_CANT_CREATE where something has that name that qcnn did not make. */
int run_point_latest(const struct run *r, struct err *e);
/* Its result is complete: latest gets links to its files, then checkpoints and lock are removed. */
void run_finish(struct run *r);
/* Remove the folder with all that is in it. */
int run_discard(struct run *r, struct err *e);
void run_close(struct run *r);
/* Does a process write into the folder now?  Where the user may not open the lock, or the file system has none and the
 * process would be on another machine, it may be so. */
bool run_is_open(const char *path);
