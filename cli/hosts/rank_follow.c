/* SPDX-License-Identifier: Apache-2.0
 * The process of a rank that another one has started: joins its group, and follows the leader. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/hosts/rank_start.h"
#include "cli/hosts/ranks.h"
#include "runtime/base/crypto/crypto_session.h"
#include "runtime/base/system/cpus.h"
#include "runtime/exec/statevector/split/split_group.h"

static int receive(void *to, size_t len, struct err *e)
{
	for (ssize_t n; len; to = (char *)to + n, len -= (size_t)n) {
		n = read(STDIN_FILENO, to, len);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0)
			return err_set(e, -ERR_UNREACHABLE,
				"the process that started this rank has ended");
	}
	return 0;
}

/* By this host's own address on the route to the leader. */
static int offer(const union rank_start *s, struct group_offer **out,
	char address[GROUP_ADDRESS_MAX], struct err *e)
{
	struct group_options o = { .encrypt = s->encrypt };
	char own[OWN_ADDRESS_MAX];
	int code = 0;

	memcpy(o.key, s->key, sizeof o.key);
	if (*s->leader) {
		code = own_address_to(s->leader, LAUNCHER_NONE, own, e);
		o.bind = own;
	}
	if (!code)
		code = group_offer(s->transport, &o, out, address, e);
	explicit_bzero(&o, sizeof o);
	return code;
}

/* By the standard input and output of a rank that the leader has started. */
static int exchange_by_stdio(void *ctx, const char *own, void *all, size_t nbyte, struct err *e)
{
	(void)ctx;
	printf(LAUNCH_MARK LAUNCH_RANK " %s\n", own);
	fflush(stdout);
	return receive(all, nbyte, e);
}

static int join(const union rank_start *s, rank_exchange_fn exchange, void *ctx, struct comm **out,
	struct err *e)
{
	char own[GROUP_ADDRESS_MAX], address[GROUP_RANKS_MAX][GROUP_ADDRESS_MAX];
	const char *list[GROUP_RANKS_MAX];
	struct group_offer *mine;
	int code = offer(s, &mine, own, e);

	if (code)
		return code;
	code = exchange(ctx, own, address, s->size * sizeof *address, e);
	if (code) {
		group_offer_free(mine);
		return code;
	}
	for (unsigned k = 0; k < s->size; k++) {
		address[k][GROUP_ADDRESS_MAX - 1] = 0;
		list[k] = address[k];
	}
	return group_open(mine, s->rank, s->size, list, out, e);
}

static uint64_t memory_of(const union rank_start *s)
{
	return (s->memory_limit ? s->memory_limit : cpus_memory_available()) / s->share;
}

static unsigned threads_of(const union rank_start *s)
{
	const char *rule;
	unsigned n = s->nthread ? s->nthread : cpus_threads(&rule) / s->share;

	return n ? n : 1;
}

/* Join the group that *s describes; its key is wiped. */
static int begin(union rank_start *s, rank_exchange_fn exchange, void *ctx, struct comm **out,
	struct err *e)
{
	int code;

	if (strncmp(s->version, PACKAGE_VERSION, sizeof s->version) || s->size > GROUP_RANKS_MAX
		|| s->rank >= s->size || !s->share)
		code = err_set(e, -ERR_PROTOCOL,
			"this host has version " PACKAGE_VERSION
			" of qcnn, the leader has version %.31s: install the same, or use --push",
			s->version);
	else if (!crypto_start())
		code = err_set(e, -ERR_CONFIG, "this system gives no random numbers");
	else
		code = join(s, exchange, ctx, out, e);
	explicit_bzero(s->key, sizeof s->key);
	return code;
}

static int follow(union rank_start *s, rank_exchange_fn exchange, void *ctx, bool *begun,
	struct err *e)
{
	struct comm *comm;
	int code = begin(s, exchange, ctx, &comm, e);

	*begun = !code;
	if (code)
		return code;
	code = split_follow(comm,
		&(struct split_host){ s->local, s->share, threads_of(s), memory_of(s) }, e);
	comm_close(comm);
	return code;
}

int ranks_follow(bool *begun, struct err *e)
{
	union rank_start s;
	int code = receive(&s, sizeof s, e);

	*begun = false;
	return code ? code : follow(&s, exchange_by_stdio, NULL, begun, e);
}

int ranks_join(const void *start, size_t n, rank_exchange_fn exchange, void *ctx,
	struct evaluator_options *o, struct ranks **out, bool *begun, struct err *e)
{
	union rank_start s;
	struct comm *comm;

	*begun = false;
	if (n != sizeof s)
		return err_set(e, -ERR_PROTOCOL,
			"rank 0 is another version of qcnn than " PACKAGE_VERSION);
	memcpy(&s, start, sizeof s);
	if (s.rank)
		return follow(&s, exchange, ctx, begun, e);
	int code = begin(&s, exchange, ctx, &comm, e);
	if (code)
		return code;
	*out = ranks_lead(comm, &s, o);
	o->nthread = threads_of(&s);
	o->memory_limit = memory_of(&s);
	return 0;
}
