/* SPDX-License-Identifier: Apache-2.0
 * The worker's side of a connection: reads the first frame, and connects to the coordinator. */
#pragma once

#include "runtime/net/protocol/protocol.h"

/* Wait for one of the events on fd, at most until the time `until` of clock_seconds; false: time-out. */
bool connect_wait(int fd, short events, double until);

/* Read the launcher's frame into *boot (crypto_secret_new): 0, -ERR_CONFIG, or -ERR_PROTOCOL. */
int connect_read_boot(int fd, struct wire_boot *boot, struct err *e);

/* Add the numeric addresses of a host name to *boot: 0, or -ERR_UNREACHABLE; *why is then the message of
 * getaddrinfo. */
int connect_resolve(const char *host, uint16_t port, struct wire_boot *boot, const char **why);
/* Return a socket connected to one of the addresses, or -1 with -ERR_UNREACHABLE in *e. */
int connect_coordinator(const struct wire_boot *boot, struct err *e);

/* The worker's side of the handshake, with key, job and rank of *boot, on a connection that has just begun: 0, and *p is
 * sealed. -ERR_UNREACHABLE: it broke; -ERR_AUTH: there was no answer (`refused` says what that means), or one without the
 * key (`no_key`); -ERR_CONFIG. */
int connect_prove(struct peer *p, const struct wire_boot *boot, double until, const char *refused,
	const char *no_key, struct err *e);

/* Connect as a profiler: boot has addresses and the key, and gets the rank. 0, and *out is a session with the coordinator's
 * profile server; or -ERR_UNREACHABLE, -ERR_AUTH or -ERR_CONFIG. */
int connect_profiler(struct wire_boot *boot, struct peer *out, struct err *e);
