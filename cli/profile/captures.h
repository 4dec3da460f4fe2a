/* SPDX-License-Identifier: Apache-2.0
 * Captures of a job: who wants to know where its time goes asks for one from any thread; the job's own thread begins
 * and ends it between two steps. While none is asked for, a step costs the read of one variable. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/err.h"
#include "runtime/base/pool.h"
#include "runtime/base/profile/profile.h"

/* It ends with the first limit that is reached; 0: no such limit (of both: the job's end ends it). */
struct capture_order {
	enum profile_level level;
	uint64_t steps;
	double seconds;
	uint64_t bytes_max; /* memory for events, of a process */
};

struct captures;
struct split_rank;

enum { PROFILE_BYTES_DEFAULT = 64 << 20 };

/* describe: fills what is known of the job (command, plan, limits) into a new profile; called by the job's thread.
 * pool: workers elsewhere, or NULL; rank: of the leader of other ranks, or NULL; borrowed. */
struct captures *captures_new(void (*describe)(void *ctx, struct profile *p), void *ctx,
	struct pool *pool, struct split_rank *rank);
/* After captures_end; nobody asks any more. */
void captures_free(struct captures *c);

/* From any thread but the job's: wait for a capture. *out is the caller's to free. -ERR_STOPPED: the job has ended
 * before it began; -ERR_CONFIG: another one is under way; -ERR_STOPPED too where given_up(ctx), which is asked ten
 * times a second (NULL: never), becomes true before it began. */
int captures_take(struct captures *c, const struct capture_order *o, bool (*given_up)(void *ctx),
	void *ctx, struct profile **out, struct err *e);

/* From the job's thread. Without waiting: ask for one; `done` gets its profile (to keep or free) between two steps. */
void captures_ask(struct captures *c, const struct capture_order *o,
	void (*done)(void *ctx, struct profile *p), void *ctx);
/* Between two steps; samples: that were evaluated since the call before. */
void captures_step(struct captures *c, uint64_t samples);
/* The job ends: so does a capture that is under way; those who wait get it, or an error. */
void captures_end(struct captures *c);
