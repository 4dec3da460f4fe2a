/* SPDX-License-Identifier: Apache-2.0
 * A connection tunnelled through the standard input and output: a socket whose other end two threads copy from and to
 * them. */
#ifndef QCNN_STDIO_TUNNEL_H
#define QCNN_STDIO_TUNNEL_H

#include "runtime/base/err.h"

/* Write the mark LAUNCH_PIPE with the reason to the standard output; from then on standard input and output carry frames,
 * and other output goes to the standard error.  When nothing comes for 12 seconds the process exits with the status of
 * ERR_UNREACHABLE.  The socket, or -ERR_CONFIG; at most one per process. */
int stdio_tunnel_open(const char *why, struct err *e);
/* A copy of the standard input, whose end (POLLRDHUP) is the end; nothing is read from it. */
int stdio_tunnel_input(void);
/* After the socket was closed or shut for writing: wait until all its bytes are written. */
void stdio_tunnel_end(void);

#endif
