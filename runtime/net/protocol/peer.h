/* SPDX-License-Identifier: Apache-2.0
 * A session: sends and receives frames over a non-blocking socket, sealed once both sides have proved the key.
 *
 * It has no lock: its caller serialises all calls. */
#pragma once

#include <sys/socket.h>

#include "runtime/net/protocol/handshake.h"

struct peer_keys { struct crypto_channel read, write; }; /* crypto_secret_new */

struct peer {
	int fd;                      /* -1: closed */
	struct peer_keys *keys;      /* NULL: before the end of the handshake, frames are not sealed */
	size_t body_max;             /* longest accepted body */
	uint8_t *in; size_t in_at, in_len, in_cap;
	struct buf out; size_t out_at;
	uint64_t nread, nwritten;    /* bytes so far */
	uint8_t label; /* highest 8 bits of the numbers of messages; equal on both sides */
	int fault; /* first errno of the connection; 0: none; EBADMSG: a frame was damaged or forged */
};

/* Takes over a connected socket. */
void peer_init(struct peer *p, int fd);
/* Whether two addresses are the same but for their ports. */
bool sockaddr_same(const struct sockaddr *a, const struct sockaddr *b);
/* Whether the other side is on this machine, in the same network namespace: then both ends have one address. */
bool peer_is_local(const struct peer *p);
void peer_close(struct peer *p);
/* Seal frames with the keys of the handshake from now on, and allow long ones; false: no memory. */
bool peer_trust(struct peer *p, const struct handshake *h);

/* Read all available bytes: 0, or -ERR_UNREACHABLE if the peer has closed the connection. */
int peer_fill(struct peer *p, struct err *e);
/* Get the next body: 1; 0: none is complete yet.  -ERR_PROTOCOL: too long or empty; -ERR_UNREACHABLE: the frame is not the
 * next one that the peer sealed, and no later frame will be returned.  *body is valid until the next call. */
int peer_next(struct peer *p, const uint8_t **body, size_t *len, struct err *e);
/* Queue a body to be sent. */
void peer_put(struct peer *p, const struct buf *body);
/* Send as much as possible without blocking: 0, or -ERR_UNREACHABLE. */
int peer_flush(struct peer *p, struct err *e);
bool peer_waits(const struct peer *p); /* whether queued bytes have not been sent */

/* Number of messages since the handshake that were received, and queued. */
uint64_t peer_nreceived(const struct peer *p);
uint64_t peer_nsent(const struct peer *p);
/* The number that both sides record for the last message received, or queued: label, and lowest 24 bits of its number. */
uint32_t peer_received_number(const struct peer *p);
uint32_t peer_sent_number(const struct peer *p);
