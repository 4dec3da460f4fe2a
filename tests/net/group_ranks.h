/* SPDX-License-Identifier: Apache-2.0
 * Ranks of a group as processes of a test. */
#ifndef TESTS_GROUP_RANKS_H
#define TESTS_GROUP_RANKS_H

#include <sys/types.h>
#include "runtime/net/comm/group.h"

struct ranks {
	const char *transport;
	unsigned size;
	struct group_options options;
	/* In the process of a rank: what it does in the group; 0, or a code with a text in *e. */
	int (*body)(struct comm *c, void *ctx, struct err *e);
	void *ctx;
	/* Or NULL: changes the options of a rank, before its offer. */
	void (*options_of)(struct group_options *o, unsigned rank, void *ctx);
	/* Or NULL: changes the addresses that a rank is given (it may wait or end as well). */
	void (*addresses_of)(char address[][GROUP_ADDRESS_MAX], unsigned rank, void *ctx);
};

/* How a rank ended, in memory that is shared with it. */
struct rank_end {
	pid_t pid;
	int status;     /* of waitpid */
	int code;       /* of comm_open, or of the body */
	double seconds; /* from the call of comm_open to its end */
	int nleft;      /* descriptors more than before its offer */
	struct err e;
};

/* Memory of n bytes that this process and its children share, zeroed. */
void *shared_memory(size_t n);

/* Starts all ranks; end[size] is from shared_memory. */
void ranks_start(const struct ranks *r, struct rank_end *end);
/* Waits for all of them. */
void ranks_wait(const struct ranks *r, struct rank_end *end);
/* Both; the first code that is not 0, with its rank in front of the text.  Descriptors that are left are an error. */
int ranks_run(const struct ranks *r, struct err *e);

/* Instead, in a process that an MPI's launcher has started, `size` of them: its own part. *end is given to `said` when the body, or the
 * opening, has ended; the group is closed after that. */
void ranks_launched(const struct ranks *r, struct rank_end *end,
	void (*said)(const struct rank_end *end, unsigned rank, void *ctx), void *ctx);

/* Random options with a key; the default deadline, digests and encryption. */
struct group_options ranks_options(void);

#endif
