/* SPDX-License-Identifier: Apache-2.0
 * A connection tunnelled through the standard input and output: a socket whose other end two threads connect with
 * them. */
#pragma once

#include "runtime/base/err.h"

/* Write the mark LAUNCH_PIPE with the reason to the standard output; afterwards standard input and output carry frames,
 * and other output goes to the standard error.  If nothing is received for 12 seconds, the process exits with the status
 * of ERR_UNREACHABLE.  Returns the socket, or -ERR_CONFIG; call it at most once per process. */
int stdio_tunnel_open(const char *why, struct err *e);
/* A duplicate of the standard input, only to be polled for its end (POLLRDHUP). */
int stdio_tunnel_input(void);
/* Call it after the socket was closed or shut down for writing: wait until all its bytes are written. */
void stdio_tunnel_end(void);
