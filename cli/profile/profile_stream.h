/* SPDX-License-Identifier: Apache-2.0
 * What a job and someone who takes a profile of it send each other: bytes through a Unix socket, or sealed, in ATTACH
 * messages, through the job's port. */
#pragma once

#include <sys/types.h>

#include "runtime/net/protocol/peer.h"

struct profile_stream {
	struct peer peer;
	bool sealed;    /* the peer's frames are; else only its descriptor is used */
	double seconds; /* the longest silence of the other side; 0: any */
	struct wire_attach left; /* of a message: not read yet */
};

/* A connected Unix socket, which becomes the stream's. */
struct profile_stream profile_stream_unix(int fd, double seconds);
/* A session after its handshake, which becomes the stream's. */
struct profile_stream profile_stream_sealed(const struct peer *p, double seconds);
void profile_stream_close(struct profile_stream *s);

/* At least one byte, at most n: their number. 0: the other side has closed, is silent, or sent what is no message. */
size_t profile_stream_read(struct profile_stream *s, void *out, size_t n);
/* A line with its newline, and a NUL behind it: its length. 0: as above; max: it is longer than that. */
size_t profile_stream_line(struct profile_stream *s, char *line, size_t max);
/* All of it; false: the other side does not take it. */
bool profile_stream_send(struct profile_stream *s, const char *data, size_t n);
