/* SPDX-License-Identifier: Apache-2.0
 * A process that computes for another one, however it was started. */
#ifndef QCNN_WORKER_START_H
#define QCNN_WORKER_START_H

#include "runtime/base/system/cpus.h"
#include "runtime/net/worker_process.h"

/* Work until the coordinator ends: 0, or a code.  f NULL: the standard input says where it is.  share: processes of
 * the job that share this machine's cores; 0: not known.  most: better kernels are not listed; NULL: all are. */
int worker_start(const struct worker_finder *f, unsigned share, const char *most, struct err *e);

/* Signals that a batch system sends to all processes of a job are for the coordinator: when it ends, so does the
 * worker.  After TERM that may take ten seconds. */
void stop_leave_to_control(void);

#endif
