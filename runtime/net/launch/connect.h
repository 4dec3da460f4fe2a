/* SPDX-License-Identifier: Apache-2.0
 * The worker's side of a connection: reads the first frame, and connects to the coordinator. */
#ifndef QCNN_CONNECT_H
#define QCNN_CONNECT_H

#include "runtime/net/protocol/protocol.h"

/* Wait for one of the events on fd, at most until a time of clock_seconds; false: it has passed. */
bool connect_wait(int fd, short events, double until);

/* The launcher's frame, into *boot (crypto_secret_new): 0, -ERR_CONFIG, or -ERR_PROTOCOL with a sentence. */
int connect_read_boot(int fd, struct wire_boot *boot, struct err *e);

/* Adds the numeric addresses of a host's name to *boot: 0, or -ERR_UNREACHABLE without a text. *why: what getaddrinfo
 * says. */
int connect_resolve(const char *host, uint16_t port, struct wire_boot *boot, const char **why);
/* A connected socket to one of the addresses; -1: -ERR_UNREACHABLE in *e. */
int connect_coordinator(const struct wire_boot *boot, struct err *e);

/* The connection of a profiler: boot has addresses and the key. 0, and *out is a session that the coordinator's profile
 * server has; -ERR_UNREACHABLE, -ERR_AUTH or -ERR_CONFIG with a sentence. */
int connect_profiler(const struct wire_boot *boot, struct peer *out, struct err *e);

#endif
