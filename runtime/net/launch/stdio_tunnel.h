/* SPDX-License-Identifier: Apache-2.0
 * A connection by the standard input and output that a launcher has given: a socket whose other end two threads
 * join to them. */
#ifndef QCNN_STDIO_TUNNEL_H
#define QCNN_STDIO_TUNNEL_H

#include "runtime/base/err.h"

/* Says LAUNCH_PIPE and why on the standard output; from then on that belongs to frames, as does the standard input: what
 * else is printed goes to the standard error.  Without a byte for 12 seconds the process ends with the status of
 * ERR_UNREACHABLE.  The socket, or -ERR_CONFIG; one for a process. */
int stdio_tunnel_open(const char *why, struct err *e);
/* A copy of the standard input, whose end (POLLRDHUP) is the end; nothing is read from it. */
int stdio_tunnel_input(void);
/* The socket is closed, or shut for writing: wait until all that was written to it is on its way. */
void stdio_tunnel_end(void);

#endif
