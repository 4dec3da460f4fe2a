/* SPDX-License-Identifier: Apache-2.0
 * Exchanges of rank bits for local bits, and sums gathered from all ranks. */
#include "config.h"
#include "runtime/exec/statevector/split/split.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/comm.h"
#include "runtime/base/profile/recorder.h"

static size_t bit(unsigned b) { return (size_t)1 << b; }

/* ---- inside a process ---- */

static void swap_bytes(char *a, char *b, size_t n)
{
	char room[4096];

	for (size_t k; n; n -= k, a += k, b += k) {
		k = n < sizeof room ? n : sizeof room;
		memcpy(room, a, k);
		memcpy(a, b, k);
		memcpy(b, room, k);
	}
}

/* Rows whose bits `high` and `low` differ change places, in a part of nrow rows. */
static void swap_rows(const struct split_state *s, size_t nrow, unsigned high, unsigned low)
{
	size_t run = bit(low), move = bit(high) - bit(low);

	for (size_t row = 0; row < nrow; row += run)
		if ((row & bit(low)) && !(row & bit(high)))
			swap_bytes((char *)s->part + row * s->row_bytes,
				(char *)s->part + (row + move) * s->row_bytes, run * s->row_bytes);
}

/* ---- between processes ---- */

/* One exchange of some bits: places of rows, the local ones ascending, and which bit of the rank each changes places with. */
struct between {
	unsigned n, local[8], rank[8];
};

/* Rows of a process whose local bits are `pattern` change places with those of the rank whose bits are: the first row of a part. */
static size_t spread(size_t number, const struct between *x, const struct plan_parts *p,
	unsigned nrow_bit, unsigned pattern)
{
	size_t row = 0;

	for (unsigned at = p->run, k = 0; at < nrow_bit; at++) {
		if (k < x->n && x->local[k] == at) {
			row |= (size_t)((pattern >> k++) & 1) << at;
		} else if (at < p->low || at >= p->low + p->nbit) {
			row |= (number & 1) << at;
			number >>= 1;
		}
	}
	return row;
}

static int exchange(struct split_rank *r, const struct split_state *s, const struct between *x,
	unsigned nrow_bit)
{
	unsigned own = 0, npart = 0;
	struct plan_parts p = plan_exchange_parts(x->local, x->n, nrow_bit);
	size_t each = bit(p.nother);
	struct comm_part *part = mem_alloc(each << x->n, sizeof *part);
	int code;

	for (unsigned k = 0; k < x->n; k++)
		own |= ((r->rank >> x->rank[k]) & 1) << k;
	for (unsigned pattern = 0; pattern < 1u << x->n; pattern++) {
		unsigned peer = r->rank;

		for (unsigned k = 0; k < x->n; k++)
			peer = (peer & ~(1u << x->rank[k])) | ((pattern >> k) & 1) << x->rank[k];
		for (size_t number = 0; pattern != own && number < each; number++)
			part[npart++] = (struct comm_part){ .peer = peer,
				.data = (char *)s->part
					+ spread(number, x, &p, nrow_bit, pattern) * s->row_bytes,
				.run_bytes = bit(p.run) * s->row_bytes,
				.nrun = bit(p.nbit),
				.stride_bytes = bit(p.nbit ? p.low : p.run) * s->row_bytes };
	}
	code = comm_exchange(r->comm, part, npart, &r->error);
	free(part);
	return code;
}

static void sort(struct between *x)
{
	for (unsigned k = 1; k < x->n; k++)
		for (unsigned j = k; j > 0 && x->local[j] < x->local[j - 1]; j--) {
			unsigned local = x->local[j], rank = x->rank[j];

			x->local[j] = x->local[j - 1];
			x->rank[j] = x->rank[j - 1];
			x->local[j - 1] = local;
			x->rank[j - 1] = rank;
		}
}

static void swap_places(struct split_rank *r, const struct split_state *s,
	const struct plan_swap *swap, unsigned nswap)
{
	unsigned rank_bits = (unsigned)__builtin_ctz(split_nrank(r)), low = s->nbit - rank_bits,
		 nrow_bit = low - s->lane_bits;
	struct between all = { 0 };

	for (unsigned k = 0; k < nswap; k++) {
		if (swap[k].rank < low) {
			swap_rows(s, bit(nrow_bit), swap[k].rank - s->lane_bits,
				swap[k].local - s->lane_bits);
			continue;
		}
		all.local[all.n] = swap[k].local - s->lane_bits;
		all.rank[all.n++] = swap[k].rank - low;
	}
	sort(&all);
	while (all.n && !r->code) {
		struct between some = { .n = plan_exchange_at_once(all.local, all.n, nrow_bit) };

		all.n -= some.n;
		memcpy(some.local, all.local + all.n, some.n * sizeof *some.local);
		memcpy(some.rank, all.rank + all.n, some.n * sizeof *some.rank);
		r->code = exchange(r, s, &some, nrow_bit);
	}
}

void split_exchange(struct split_rank *r, const struct split_state *s, const struct plan_swap *swap,
	unsigned nswap, struct split_place place)
{
	struct comm_statistics before;
	int64_t began;

	if (!r) {
		swap_places(r, s, swap, nswap);
		return;
	}
	if (r->code)
		return;
	before = r->comm->statistics;
	recorder_mark(r->pass);
	began = recorder_begin();
	swap_places(r, s, swap, nswap);
	recorder_exchange(place.id, place.back, began,
		r->comm->statistics.sent_bytes - before.sent_bytes,
		r->comm->statistics.wait_seconds - before.wait_seconds);
	recorder_mark(PHASE_EXCHANGE);
}

void split_gather(struct split_rank *r, double *sum, size_t n, unsigned first, unsigned end,
	unsigned each)
{
	/* What a process has: its first and last chunk, then the chunks. */
	size_t most = each * n + 2, used = (end - first) * n;
	double *mine = mem_alloc(most, sizeof *mine), *all = mem_alloc(most * r->nrank, sizeof *all);

	mine[0] = first;
	mine[1] = end;
	memcpy(mine + 2, sum + first * n, used * sizeof *sum);
	if (!r->code)
		r->code = comm_gather(r->comm, mine, most * sizeof *mine, all, &r->error);
	for (unsigned k = 0; k < r->nrank && !r->code; k++) {
		const double *its = all + k * most;

		memcpy(sum + (size_t)its[0] * n, its + 2, (size_t)(its[1] - its[0]) * n * sizeof *sum);
	}
	free(mine);
	free(all);
}
