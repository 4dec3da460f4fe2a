/* SPDX-License-Identifier: Apache-2.0
 * Exchanges of rank bits for local bits, and sums gathered from all ranks. */
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

size_t split_part_bytes = PLAN_PART_BYTES;

/* The bits that number pieces in a row's number: all, and what the n-th piece that is exchanged has there. Numbers are relative to
 * what the rank has at the local places among them: two partners count alike. */
static size_t piece_bits(const struct split_cut *x)
{
	return bits_spread(SIZE_MAX, x->parts.piece, x->parts.npiece);
}

static size_t own_bits(const struct split_cut *x)
{
	return bits_spread(x->own, x->parts.local, x->parts.nlocal);
}

static size_t piece_value(const struct split_cut *x, unsigned n)
{
	return bits_spread(n, x->parts.piece, x->parts.npiece) ^ (own_bits(x) & piece_bits(x));
}

bool split_piece_has(const struct split_cut *x, unsigned n, size_t mask, size_t value)
{
	size_t bits = piece_bits(x), piece = piece_value(x, n),
	       local = bits_spread(SIZE_MAX, x->parts.local, x->parts.nlocal), known = mask | bits;

	if ((value ^ piece) & mask & bits)
		return false;
	return (local & ~known) || (((value & mask) | piece) ^ own_bits(x)) & local;
}

/* By local places first, so that pieces of all partners come in turn; by more of the others while parts have their size. */
static struct plan_parts choose_parts(const struct split_state *s, const uint8_t *local, unsigned n,
	const uint8_t *piece, unsigned npiece, unsigned nrow_bit)
{
	uint8_t ordered[8];
	size_t is_local = bits_spread(SIZE_MAX, local, n);

	for (;; npiece--, piece++) {
		unsigned at = 0;

		for (unsigned k = 0; k < 2 * npiece; k++)
			if ((is_local >> piece[k % npiece] & 1) == (k < npiece))
				ordered[at++] = piece[k % npiece];
		struct plan_parts c = plan_exchange_parts(local, n, ordered, npiece, nrow_bit);
		if (!npiece
			|| (plan_parts_few(&c) && s->row_bytes << (c.run + c.nbit) >= split_part_bytes))
			return c;
	}
}

static void sort(uint8_t *local, unsigned *rank, unsigned n)
{
	for (unsigned k = 1; k < n; k++)
		for (unsigned j = k; j > 0 && local[j] < local[j - 1]; j--) {
			uint8_t l = local[j];
			unsigned r = rank[j];

			local[j] = local[j - 1];
			rank[j] = rank[j - 1];
			local[j - 1] = l;
			rank[j - 1] = r;
		}
}

/* The first place that numbers ranks. */
static unsigned low_place(const struct split_rank *r, const struct split_state *s)
{
	return s->nbit - (unsigned)__builtin_ctz(split_nrank(r));
}

struct split_cut split_cut(const struct split_rank *r, const struct split_state *s,
	const struct plan_swap *swap, unsigned nswap, const uint8_t *piece, unsigned npiece)
{
	unsigned low = low_place(r, s), n = 0;
	struct split_cut x = { .swap = swap, .nswap = nswap, .nrow_bit = low - s->lane_bits };
	uint8_t local[8];

	for (unsigned k = 0; k < nswap; k++) {
		if (swap[k].rank < low) {
			x.inside = true;
			continue;
		}
		local[n] = (uint8_t)(swap[k].local - s->lane_bits);
		x.rank[n++] = swap[k].rank - low;
	}
	sort(local, x.rank, n);
	x.parts = choose_parts(s, local, n, piece, n ? npiece : 0, x.nrow_bit);
	x.at_once = plan_parts_few(&x.parts);
	for (unsigned k = 0; k < n; k++)
		x.own |= ((r->rank >> x.rank[k]) & 1) << k;
	return x;
}

/* Pieces are complete in their order when all of their parts have arrived. */
struct progress {
	const struct split_beside *beside; /* or NULL */
	const struct comm_part *part;
	unsigned *piece_of, *left; /* of each part; parts of each piece that have not arrived */
	unsigned done, n;
};

static void advance(struct progress *g)
{
	while (g->done < g->n && !g->left[g->done])
		g->done++;
	g->beside->ready(g->beside->ctx, g->done);
}

static int arrived(void *ctx, unsigned k, size_t from, size_t to, struct err *e)
{
	struct progress *g = ctx;

	(void)from, (void)e;
	if (to == g->part[k].run_bytes * g->part[k].nrun && !--g->left[g->piece_of[k]])
		advance(g);
	return 0;
}

static int await(void *ctx, unsigned k, size_t from, size_t to, struct err *e)
{
	struct progress *g = ctx;

	(void)to, (void)e;
	if (!from)
		g->beside->await(g->beside->ctx, g->piece_of[k] + 1);
	return 0;
}

/* Rows of a process whose local bits are `pattern` change places with those of the rank whose bits are. */
static unsigned list_parts(const struct split_rank *r, const struct split_state *s, unsigned nstate,
	const struct split_cut *x, struct comm_part *part, struct progress *g)
{
	const struct plan_parts *c = &x->parts;
	size_t common = piece_bits(x) & bits_spread(SIZE_MAX, c->local, c->nlocal);
	unsigned n = 0;

	for (size_t k = 0; k < bit(c->npiece + c->nlocal + c->nother) * nstate; k++) {
		unsigned number = (unsigned)(k & (bit(c->nother) - 1)),
			 pattern = (unsigned)(k >> c->nother & (bit(c->nlocal) - 1)),
			 state = (unsigned)((k >> (c->nother + c->nlocal)) % nstate),
			 piece = (unsigned)((k >> (c->nother + c->nlocal)) / nstate), peer = r->rank;
		size_t row = piece_value(x, piece), rows = bits_spread(pattern, c->local, c->nlocal);

		for (unsigned b = 0; b < c->nlocal; b++)
			peer = (peer & ~(1u << x->rank[b])) | ((pattern >> b) & 1) << x->rank[b];
		if (peer == r->rank || ((row ^ rows) & common))
			continue;
		row |= rows | bits_spread(number, c->other, c->nother);
		g->piece_of[n] = piece;
		g->left[piece]++;
		part[n++] = (struct comm_part){ .peer = peer,
			.data = (char *)s[state].part + row * s->row_bytes,
			.run_bytes = s->row_bytes << c->run,
			.nrun = bit(c->nbit),
			.stride_bytes = s->row_bytes << (c->nbit ? c->low : c->run) };
	}
	return n;
}

static int exchange(struct split_rank *r, const struct split_state *s, unsigned nstate,
	const struct split_cut *x, const struct split_beside *beside)
{
	size_t most = nstate * bit(x->parts.npiece + x->parts.nlocal + x->parts.nother);
	mem_auto struct comm_part *part = mem_alloc(most, sizeof *part);
	struct progress g = { .beside = beside,
		.part = part,
		.piece_of = mem_alloc(most, sizeof *g.piece_of),
		.left = mem_alloc(split_npiece(x), sizeof *g.left),
		.n = split_npiece(x) };
	struct comm_work work = { &g, await, arrived };
	unsigned npart = list_parts(r, s, nstate, x, part, &g);

	if (beside)
		advance(&g);
	int code = comm_exchange_with(r->comm, part, npart, beside ? &work : NULL, &r->error);
	free(g.left);
	free(g.piece_of);
	return code;
}

static void swap_inside(const struct split_rank *r, const struct split_state *s, unsigned nstate,
	const struct split_cut *x)
{
	unsigned low = low_place(r, s);

	for (unsigned k = 0; k < x->nswap; k++)
		for (unsigned i = 0; x->swap[k].rank < low && i < nstate; i++)
			swap_rows(&s[i], bit(x->nrow_bit), x->swap[k].rank - s->lane_bits,
				x->swap[k].local - s->lane_bits);
}

static void swap_places(struct split_rank *r, const struct split_state *s, unsigned nstate,
	const struct split_cut *x, const struct split_beside *beside)
{
	swap_inside(r, s, nstate, x);
	if (!x->parts.nlocal)
		return;
	if (x->at_once) {
		r->code = exchange(r, s, nstate, x, beside);
		return;
	}
	/* Some bits after the others move more bytes, in few parts. */
	for (unsigned n = x->parts.nlocal, some; n && !r->code; n -= some) {
		struct split_cut cut = { .nrow_bit = x->nrow_bit };

		some = plan_exchange_at_once(x->parts.local, n, x->nrow_bit);
		cut.parts =
			plan_exchange_parts(&x->parts.local[n - some], some, NULL, 0, x->nrow_bit);
		memcpy(cut.rank, &x->rank[n - some], some * sizeof *cut.rank);
		cut.own = x->own >> (n - some) & (bit(some) - 1);
		r->code = exchange(r, s, nstate, &cut, NULL);
	}
}

void split_exchange_beside(struct split_rank *r, const struct split_state *s, unsigned nstate,
	const struct split_cut *x, const struct split_beside *beside, struct split_exchanged *out)
{
	struct comm_statistics before = r->comm->statistics;

	if (beside)
		beside->await(beside->ctx, 1);
	out->began = recorder_begin();
	if (!r->code)
		swap_places(r, s, nstate, x, beside);
	out->ended = recorder_begin();
	out->bytes = r->comm->statistics.sent_bytes - before.sent_bytes;
	out->wait_seconds = r->comm->statistics.wait_seconds - before.wait_seconds;
}

void split_exchange(struct split_rank *r, const struct split_state *s, unsigned nstate,
	const struct plan_swap *swap, unsigned nswap, struct split_place place)
{
	struct split_cut x = split_cut(r, s, swap, nswap, NULL, 0);
	struct split_exchanged done;

	if (!r) {
		swap_inside(r, s, nstate, &x);
		return;
	}
	recorder_mark(r->pass);
	split_exchange_beside(r, s, nstate, &x, NULL, &done);
	recorder_exchange(place.id, place.back, done.began, done.ended, done.bytes, done.wait_seconds);
	recorder_mark(PHASE_EXCHANGE);
}

/* ---- flips of rank bits ---- */

/* Runs of `run` rows whose bit `run` is 1, in blocks of `block` rows, of which the process has
 * nblock; block k goes to k ^ other. */
struct flip {
	size_t run, block, nblock, other;
	unsigned peer; /* difference of the ranks' numbers; 0: inside a process */
};

static struct flip flip_of(const struct split_rank *r, const struct split_state *s,
	unsigned control, uint64_t flip)
{
	unsigned low = low_place(r, s),
		 lowest = (unsigned)__builtin_ctzll(flip | UINT64_C(1) << low),
		 block = lowest - s->lane_bits;

	return (struct flip){ .run = bit(control - s->lane_bits),
		.block = bit(block),
		.nblock = bit(low - lowest),
		.other = (size_t)((flip & ((UINT64_C(1) << low) - 1)) >> lowest),
		.peer = (unsigned)(flip >> low) };
}

/* The first row of a block with bit `run`. */
static char *flip_rows(const struct split_state *s, const struct flip *f, size_t block)
{
	return (char *)s->part + (block * f->block + f->run) * s->row_bytes;
}

static void flip_inside(const struct split_state *s, const struct flip *f)
{
	for (size_t k = 0; k < f->nblock; k++)
		for (size_t row = 0; k < (k ^ f->other) && row < f->block; row += 2 * f->run)
			swap_bytes(flip_rows(s, f, k) + row * s->row_bytes,
				flip_rows(s, f, k ^ f->other) + row * s->row_bytes,
				f->run * s->row_bytes);
}

/* The lower rank of two counts its own blocks, the other those to which they go. */
static int flip_between(struct split_rank *r, const struct split_state *s, unsigned nstate,
	const struct flip *f)
{
	unsigned peer = r->rank ^ f->peer, npart = 0;
	mem_auto struct comm_part *part = mem_alloc(nstate * f->nblock, sizeof *part);

	for (unsigned i = 0; i < nstate; i++)
		for (size_t k = 0; k < f->nblock; k++)
			part[npart++] = (struct comm_part){ .peer = peer,
				.data = flip_rows(&s[i], f, r->rank < peer ? k : k ^ f->other),
				.run_bytes = f->run * s[i].row_bytes,
				.nrun = f->block / f->run / 2,
				.stride_bytes = 2 * f->run * s[i].row_bytes };
	return comm_exchange(r->comm, part, npart, &r->error);
}

void split_flip(struct split_rank *r, const struct split_state *s, unsigned nstate,
	unsigned control, uint64_t flip, struct split_place place)
{
	struct flip f = flip_of(r, s, control, flip);

	if (!f.peer)
		for (unsigned i = 0; i < nstate; i++)
			flip_inside(&s[i], &f);
	if (!r)
		return;
	struct comm_statistics before = r->comm->statistics;
	recorder_mark(r->pass);
	int64_t began = recorder_begin();
	if (f.peer && !r->code)
		r->code = flip_between(r, s, nstate, &f);
	recorder_exchange(place.id, place.back, began, recorder_begin(),
		r->comm->statistics.sent_bytes - before.sent_bytes,
		r->comm->statistics.wait_seconds - before.wait_seconds);
	recorder_mark(PHASE_EXCHANGE);
}

/* ---- sums ---- */

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
