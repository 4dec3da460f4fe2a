/* SPDX-License-Identifier: Apache-2.0
 * A session: frames in and out of a non-blocking socket, sealed once both sides have proved the key.
 *
 * It has no lock: its caller serialises all calls. */
#ifndef QCNN_PEER_H
#define QCNN_PEER_H

#include "runtime/net/protocol/handshake.h"

struct peer_keys { struct crypto_channel read, write; }; /* crypto_secret_new */

struct peer {
	int fd;                      /* -1: closed */
	struct peer_keys *keys;      /* NULL: before the end of the handshake, frames are not sealed */
	size_t body_max;             /* longest body that is accepted */
	uint8_t *in; size_t in_at, in_len, in_cap;
	struct buf out; size_t out_at;
	uint64_t nread, nwritten;    /* bytes so far */
	uint8_t label;               /* of the numbers of messages; both sides set it alike */
	int fault;                   /* errno that broke it, the first; 0: none; EBADMSG: a frame was damaged or forged */
};

/* Takes over a connected socket. */
void peer_init(struct peer *p, int fd);
/* Whether the other side is on this machine, in the same network namespace. */
bool peer_near(const struct peer *p);
void peer_close(struct peer *p);
/* From now on frames are sealed with the keys of the handshake, and may be long; false: no memory. */
bool peer_trust(struct peer *p, const struct handshake *h);

/* Read what has come: 0, or -ERR_UNREACHABLE when the other side has closed. */
int peer_fill(struct peer *p, struct err *e);
/* The next whole body: 1; 0: none yet.  -ERR_PROTOCOL: too long or empty; -ERR_UNREACHABLE: the frame is not what the
 * other side sealed next, and no later one will be given out.  *body is good until the next call. */
int peer_next(struct peer *p, const uint8_t **body, size_t *len, struct err *e);
/* Append a body to what is to be sent. */
void peer_put(struct peer *p, const struct buf *body);
/* Send as much as possible without blocking: 0, or -ERR_UNREACHABLE. */
int peer_flush(struct peer *p, struct err *e);
bool peer_waits(const struct peer *p);   /* whether something is left to send */

/* Messages since the handshake: those that were returned, and those that were put. */
uint64_t peer_nreceived(const struct peer *p);
uint64_t peer_nsent(const struct peer *p);
/* What both sides call the last message that was returned, or put: the label and the lowest 24 bits of its number. */
uint32_t peer_received_number(const struct peer *p);
uint32_t peer_sent_number(const struct peer *p);

#endif
