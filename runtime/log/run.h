/* SPDX-License-Identifier: Apache-2.0
 * A run's folder: runs/<name>-<time>/ with config.yaml, model.qcnn, weights.bin,
 * metrics.jsonl, run.json; runs/latest points to the newest. */
#ifndef QCNN_RUN_H
#define QCNN_RUN_H

#include "runtime/base/buf.h"
#include "runtime/base/err.h"

struct run;

/* The folders that a file is to lie in, where they are missing. */
int run_make_parents(const char *path, struct err *e);

/* Make <dir>/<name>-<stamp>[-k] (exclusive, so array jobs stay apart) and <dir>/latest. */
int run_open(const char *dir, const char *name, struct run **out, struct err *e);
const char *run_path(const struct run *r);                      /* the folder */
/* Write a file of the folder atomically (sync: fsynced). */
int run_write(struct run *r, const char *file, const struct buf *content, int sync, struct err *e);
/* Append one line to a file of the folder (metrics.jsonl), flushed at once. */
int run_append(struct run *r, const char *file, const struct buf *line, struct err *e);
void run_close(struct run *r);

#endif
