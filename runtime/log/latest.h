/* SPDX-License-Identifier: Apache-2.0
 * <log.dir>/latest: the newest run under a name that does not change.
 *
 * It is a folder of symbolic links to the run's files, not a link to the run's folder: TensorBoard follows links
 * between folders and would list every curve of that run twice.  Event files and the folders of event files have no link
 * here.  The file names are those of the run, so `latest/weights.bin` and `cd latest` work. */
#pragma once

#include <stdbool.h>

#include "runtime/base/buf.h"

/* Replace dir/latest by links to the files of dir/name, in one atomic step where the file system can exchange two
 * names.  Failures are ignored: without symbolic links there is no `latest`.  -ERR_CANT_CREATE for a `latest` that qcnn
 * did not make, which is left unchanged. */
int latest_point(const char *dir, const char *name, struct err *e);
/* Whether `path` is such a folder, or a symbolic link, as earlier versions made it. */
bool latest_is(const char *path);
/* 0, or -ERR_USAGE for what another user has put as `latest`, or as a link, into a folder with the sticky bit that others
 * may write to: it can lead anywhere, and nobody else can replace it. The folder's owner may have made it. */
int latest_check(const char *path, struct err *e);
/* The real folder of the run that `path` (a run's folder, or a `latest`) leads to; NULL: none. The caller frees it. */
char *latest_run(const char *path);
/* Remove dir/latest where the run that it names no longer exists; whether it was removed. */
bool latest_remove_dangling(const char *dir);
