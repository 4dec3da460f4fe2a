/* SPDX-License-Identifier: Apache-2.0
 * Lets other processes of the same user take profiles of this job, through a Unix socket.
 *
 * Where the job has a port and a key file, who proves the key may take profiles through it as well (qcnn-wire(7), ATTACH).
 *
 * The socket (mode 0600) lies in a folder of the user alone (0700); the user of the other process is checked, too. A
 * request is one line of JSON, {"schema", "version", "level", "steps", "seconds", "max_bytes"}; the answer is a line
 * {"schema", "bytes"} and that number of bytes of JSON (profile_write_json), or a line {"schema", "error": {"code", "text"}}. */
#pragma once

#include "cli/profile/captures.h"
#include "runtime/net/protocol/peer.h"

enum { PROFILE_REQUEST_MAX = 4096, PROFILE_ANSWER_SECONDS = 5 };

struct profile_server;

/* c is borrowed. NULL and *e: nobody can attach then, and the job goes on. */
struct profile_server *profile_server_open(struct captures *c, struct err *e);
const char *profile_server_path(const struct profile_server *s);
/* A session that came through the job's port: the server's from now on, *p is not used any more. Any thread; does not wait.
 * server: struct profile_server. */
void profile_server_hand(void *server, struct peer *p);
/* After captures_end, and when nobody hands any more. NULL is allowed. */
void profile_server_close(struct profile_server *s);
