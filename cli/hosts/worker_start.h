/* SPDX-License-Identifier: Apache-2.0
 * Runs this process as a worker, however it was started. */
#pragma once

#include "runtime/net/worker_process.h"

/* Work until the coordinator ends: 0, or a code.  f NULL: the standard input says where it is.  share: processes of
 * the job that share this machine's cores; 0: not known.  most: better kernels are not listed; NULL: all are. */
int worker_start(const struct worker_finder *f, unsigned share, const char *most, struct err *e);

/* Threads of one of `share` processes of a job that share this machine; 0: not known. */
unsigned worker_threads(unsigned share);

/* Ignore signals that a batch system sends to all processes of a job: the coordinator handles them, and the worker exits
 * when the coordinator does.  After TERM that may take ten seconds. */
void stop_leave_to_control(void);
