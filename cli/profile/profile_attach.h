/* SPDX-License-Identifier: Apache-2.0
 * Takes a profile of a job that runs. */
#pragma once

#include "cli/command.h"
#include "cli/profile/captures.h"

/* A running job: of this user on this host, or one whose port and key are known. */
struct attached {
	struct buf folder, socket; /* of the run on this host; or empty, and */
	struct buf host;
	uint16_t port;
	const char *key_file;
};

/* run: a name in `runs`, its beginning, a folder, or `latest`, the newest that runs; or, with a key file,
 * HOST:PORT. 0, or -ERR_NO_INPUT (it has ended,
 * it was never there, it runs on another host), with a sentence. Release in any case. */
int attach_find(const char *run, const char *key_file, struct attached *a, struct err *e);
void attach_release(struct attached *a);
/* Wait for a profile of it; *out is the caller's. -ERR_STOPPED: the job has ended before; -ERR_PROTOCOL: another version;
 * -ERR_AUTH: another user or key. */
int attach_take(const struct attached *a, const struct capture_order *o, struct profile **out,
	struct err *e);
