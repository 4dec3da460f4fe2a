/* SPDX-License-Identifier: Apache-2.0
 * The worker's side of a connection: reads the first frame, and connects to the coordinator. */
#ifndef QCNN_CONNECT_H
#define QCNN_CONNECT_H

#include "runtime/net/protocol/protocol.h"

/* Wait for one of the events on fd, at most until a time of clock_seconds; false: it has passed. */
bool connect_wait(int fd, short events, double until);

/* The launcher's frame, into *boot (crypto_secret_new): 0, -ERR_CONFIG, or -ERR_PROTOCOL with a sentence. */
int connect_read_boot(int fd, struct wire_boot *boot, struct err *e);

/* A connected socket to one of the addresses; -1: -ERR_UNREACHABLE in *e. */
int connect_coordinator(const struct wire_boot *boot, struct err *e);

#endif
