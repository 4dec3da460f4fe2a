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

/* Rows of a process whose local bits are `pattern` change places with those of the rank whose bits are. Runs of rows lie between
 * the lowest and the next local place; other free bits number the parts: the first row of one. */
static size_t spread(size_t number, const struct between *x, unsigned pattern)
{
	size_t row = 0;

	number <<= x->n > 1 ? x->local[1] - 1 : 0;
	for (unsigned k = 0; k < x->n; k++) { /* a 0 at each local place */
		size_t low = number & (bit(x->local[k]) - 1);

		number = (number - low) << 1 | low;
		row |= (size_t)((pattern >> k) & 1) << x->local[k];
	}
	return row | number;
}

static int exchange(struct split_rank *r, const struct split_state *s, const struct between *x,
	unsigned nrow_bit)
{
	unsigned own = 0, npart = 0;
	size_t each = plan_exchange_parts(x->local, x->n, nrow_bit), run = bit(x->local[0]),
	       nrun = x->n > 1 ? bit(x->local[1] - x->local[0] - 1) : bit(nrow_bit - x->local[0] - 1);
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
				.data = (char *)s->part + spread(number, x, pattern) * s->row_bytes,
				.run_bytes = run * s->row_bytes,
				.nrun = nrun,
				.stride_bytes = 2 * run * s->row_bytes };
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
	if (all.n && plan_exchange_at_once(all.local, all.n, nrow_bit)) {
		r->code = exchange(r, s, &all, nrow_bit);
		return;
	}
	/* One bit at a time moves more bytes, in few parts. */
	for (unsigned k = 0; k < all.n && !r->code; k++)
		r->code = exchange(r, s, &(struct between){ 1, { all.local[k] }, { all.rank[k] } },
			nrow_bit);
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
