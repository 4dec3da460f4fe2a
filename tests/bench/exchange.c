/* SPDX-License-Identifier: Apache-2.0
 * Speed of exchanges between ranks of this machine, by transport.
 *
 *   exchange [RANKS [MIB [ROUNDS]]]
 *   mpirun -n RANKS exchange RANKS MIB ROUNDS mpi
 *       Each rank holds a state of MIB MiB, and swaps half of it with a partner, in place: contiguous, or in runs of 64
 *       KiB and 1 KiB.  Prints the best of the rounds in GB/s: bytes that a rank sends over the time of the exchange (as
 *       many arrive in that time).  Then the time of a gather of 8 bytes, and what copying costs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/net/comm/group.h"
#include "runtime/base/system/clock.h"
#include "runtime/net/comm/digest.h"
#include "tests/net/group_ranks.h"

enum { GATHERS = 2000 };

struct job {
	size_t bytes;
	unsigned rounds;
	double gbs[3], gather_s; /* of rank 0 */
};

static const size_t runs[3] = { 0, 64 << 10, 1 << 10 }; /* 0: half of the state */

static int body(struct comm *c, void *ctx, struct err *e)
{
	struct job *j = ctx;
	unsigned peer = c->rank ^ 1;
	char *state = malloc(j->bytes);
	uint64_t mine = 1, all[GROUP_RANKS_MAX];
	double t;
	int code = 0;

	memset(state, 1, j->bytes);
	for (unsigned k = 0; k < 3 && !code; k++)
		for (unsigned round = 0; round < j->rounds && !code; round++) {
			size_t run = runs[k] ? runs[k] : j->bytes / 2;
			char *first = state + (c->rank & 1 ? 0 : run);
			struct comm_part part = { peer, first, run, j->bytes / 2 / run, 2 * run };

			code = comm_gather(c, &mine, sizeof mine, all, e);
			t = clock_seconds();
			if (!code)
				code = comm_exchange(c, &part, 1, e);
			t = (double)j->bytes / 2 / (clock_seconds() - t) * 1e-9;
			if (c->rank == 0 && t > j->gbs[k])
				j->gbs[k] = t;
		}
	t = clock_seconds();
	for (unsigned i = 0; i < GATHERS && !code; i++)
		code = comm_gather(c, &mine, sizeof mine, all, e);
	if (c->rank == 0)
		j->gather_s = (clock_seconds() - t) / GATHERS;
	free(state);
	return code;
}

static void print(const struct ranks *r, const struct job *j)
{
	printf("%-10s %5u  %-7s  %-6s  %10.2f  %10.2f  %10.2f  %10.1f\n", r->transport, r->size,
		r->options.encrypt ? "yes" : "no", r->options.no_digest ? "no" : "yes", j->gbs[0],
		j->gbs[1], j->gbs[2], j->gather_s * 1e6);
	fflush(stdout);
}

static void measure(const char *transport, unsigned size, size_t bytes, unsigned rounds,
	bool encrypt, bool verify)
{
	struct job *j = shared_memory(sizeof *j);
	struct ranks r = {
		.transport = transport, .size = size, .options = ranks_options(), .body = body, .ctx = j
	};
	struct err e = { 0 };

	*j = (struct job){ .bytes = bytes, .rounds = rounds };
	r.options.encrypt = encrypt;
	r.options.no_digest = !verify;
	r.options.deadline_ms = 120000;
	if (ranks_run(&r, &e)) {
		fprintf(stderr, "exchange: %s\n", e.text);
		exit(1);
	}
	print(&r, j);
}

static void print_end(const struct rank_end *end, unsigned rank, void *ctx)
{
	const struct ranks *r = ctx;

	if (end->code)
		fprintf(stderr, "exchange: rank %u: %s\n", rank, end->e.text);
	else if (!rank)
		print(r, r->ctx);
}

/* A rank that an MPI has started. */
static int measure_launched(const char *transport, unsigned size, size_t bytes, unsigned rounds)
{
	struct job j = { .bytes = bytes, .rounds = rounds };
	struct ranks r = { .transport = transport, .size = size, .body = body, .ctx = &j };
	struct rank_end end = { 0 };

	r.options.deadline_ms = 120000;
	ranks_launched(&r, &end, print_end, &r);
	return end.code != 0;
}

static void measure_memory(size_t bytes, unsigned rounds)
{
	char *a = malloc(bytes), *b = malloc(bytes);
	double copy = 0, digest = 0, t;
	uint64_t sum = 0;

	memset(a, 1, bytes);
	memset(b, 2, bytes);
	for (unsigned k = 0; k < rounds; k++) {
		struct digest d;

		t = clock_seconds();
		memcpy(a, b, bytes);
		t = (double)bytes / (clock_seconds() - t) * 1e-9;
		copy = t > copy ? t : copy;
		t = clock_seconds();
		digest_begin(&d);
		for (size_t at = 0; at < bytes; at += 16384)
			digest_add(&d, b, 16384);
		sum ^= digest_end(&d);
		t = (double)bytes / (clock_seconds() - t) * 1e-9;
		digest = t > digest ? t : digest;
	}
	printf("\nmemcpy %.2f GB/s, digest %.2f GB/s (%016llx), of one thread\n", copy, digest,
		(unsigned long long)sum);
	free(a);
	free(b);
}

int main(int argc, char **argv)
{
	unsigned size = argc > 1 ? (unsigned)atoi(argv[1]) : 2,
		 rounds = argc > 3 ? (unsigned)atoi(argv[3]) : 5;
	size_t bytes = (size_t)(argc > 2 ? atoi(argv[2]) : 256) << 20;

	if (size < 2 || size > GROUP_RANKS_MAX || size % 2 || !bytes || !rounds) {
		fprintf(stderr, "usage: exchange [RANKS [MIB [ROUNDS]]], RANKS even\n");
		return 2;
	}
	if (argc > 4)
		return measure_launched(argv[4], size, bytes, rounds);
	printf("transport  ranks  encrypt  digest  contiguous  64 KiB runs  1 KiB runs  gather, us\n");
	for (unsigned i = 0; group_transports[i]; i++) {
		const char *name = group_transports[i];

		measure(name, size, bytes, rounds, true, true);
		if (!strcmp(name, "tcp"))
			measure(name, size, bytes, rounds, false, true);
		else
			measure(name, size, bytes, rounds, true, false);
	}
	measure_memory(bytes, rounds);
	return 0;
}
