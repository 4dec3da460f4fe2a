/* SPDX-License-Identifier: Apache-2.0
 * Exchanges of split states: bits of the index at two places change places, in the memory of the device where both are local,
 * else by memory of the host, of a bounded size. While one half of it is exchanged the other is filled. */
#include "config.h"
#include "runtime/exec/statevector/cuda/cuda_state.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/comm.h"

static size_t bit(unsigned b) { return (size_t)1 << b; }

bool cuda_goes_on(struct cuda_state *b)
{
	struct split_rank *r = b->split;
	const char *why;
	bool failed = cuda_stream_failure(b->stream, &why);

	if (r && failed && !r->code) {
		r->code = cuda_state_failure(b, &r->error);
		comm_abort(r->comm, r->error.text);
	}
	return !failed && !(r && r->code);
}

/* ---- amplitudes with some bits in common ---- */

/* Local places that are exchanged, ascending; and which bit of the process' number each changes places with. */
struct places {
	unsigned n, nbit; /* nbit: of the index of the process' part */
	uint8_t local[8], number[8];
};

static void add_place(struct places *x, unsigned local, unsigned number)
{
	unsigned k = x->n++;

	for (; k && x->local[k - 1] > local; k--) {
		x->local[k] = x->local[k - 1];
		x->number[k] = x->number[k - 1];
	}
	x->local[k] = (uint8_t)local;
	x->number[k] = (uint8_t)number;
}

/* Index of amplitude k of those that have the bits of `pattern` at the places. */
static size_t index_of(const struct places *x, unsigned pattern, size_t k)
{
	for (unsigned n = 0; n < x->n; n++) {
		size_t low = k & (bit(x->local[n]) - 1);

		k = (k - low) << 1 | (size_t)(pattern >> n & 1) << x->local[n] | low;
	}
	return k;
}

/* At most `most` amplitudes that are numbered one after the other, and can be copied by one call: rows. A power of two. */
static size_t copy_size(const struct places *x, size_t most)
{
	size_t n = x->n > 1 ? bit(x->local[1] - 1) : bit(x->nbit - 1);

	return n < most ? n : most;
}

/* Number k, of n, to or from memory where they lie side by side. */
static void copy(struct cuda_state *b, void *state, const struct places *x, unsigned pattern,
	size_t k, size_t n, void *beside, bool back)
{
	size_t size = cuda_amplitude_bytes(b), run = bit(x->local[0]), width = n < run ? n : run;
	struct cuda_rows rows = { (char *)state + index_of(x, pattern, k) * size, 2 * run * size };
	struct cuda_rows other = { beside, width * size };

	cuda_copy_rows(b->stream, back ? rows : other, back ? other : rows, width * size, n / width);
}

/* ---- in the process ---- */

static void swap_inside(struct cuda_state *b, void *state, unsigned nbit, unsigned low, unsigned high)
{
	enum { LOW_ONE = 1, HIGH_ONE };
	size_t size = cuda_amplitude_bytes(b), run = bit(low);
	struct places x = { .nbit = nbit };
	size_t n;

	add_place(&x, low, 0);
	add_place(&x, high, 0);
	n = copy_size(&x, b->part[CUDA_STAGING].nbyte / size);
	for (size_t k = 0; k < bit(nbit - 2); k += n) {
		size_t width = n < run ? n : run;
		struct cuda_rows from = { (char *)state + index_of(&x, HIGH_ONE, k) * size,
			2 * run * size };
		struct cuda_rows to = { (char *)state + index_of(&x, LOW_ONE, k) * size,
			2 * run * size };

		copy(b, state, &x, LOW_ONE, k, n, b->staging, false);
		cuda_copy_rows(b->stream, to, from, width * size, n / width);
		copy(b, state, &x, HIGH_ONE, k, n, b->staging, true);
	}
}

/* ---- between processes ---- */

/* For each partner `each` amplitudes at once, in one half of the memory; copied in pieces. */
struct batches {
	struct cuda_state *b;
	void *state;
	const struct places *x;
	unsigned own; /* pattern of the process */
	size_t each, piece;
};

static char *place_of(const struct batches *g, size_t k, unsigned pattern)
{
	return g->b->staging_host
		+ (((k / g->each & 1) << g->x->n | pattern) * g->each) * cuda_amplitude_bytes(g->b);
}

/* From amplitude k on, of each pattern. */
static void copy_batch(const struct batches *g, size_t k, bool back)
{
	size_t size = cuda_amplitude_bytes(g->b);

	for (unsigned pattern = 0; pattern < 1u << g->x->n; pattern++)
		for (size_t n = 0; pattern != g->own && n < g->each; n += g->piece)
			copy(g->b, g->state, g->x, pattern, k + n, g->piece,
				place_of(g, k, pattern) + n * size, back);
}

static int send_batch(const struct batches *g, size_t k)
{
	struct split_rank *r = g->b->split;
	struct comm_part part[SPLIT_RANKS_MAX];
	size_t nbyte = g->each * cuda_amplitude_bytes(g->b);
	unsigned npart = 0;

	for (unsigned pattern = 0; pattern < 1u << g->x->n; pattern++) {
		unsigned peer = r->rank;

		for (unsigned n = 0; n < g->x->n; n++)
			peer = (peer & ~(1u << g->x->number[n]))
				| (pattern >> n & 1) << g->x->number[n];
		if (pattern != g->own)
			part[npart++] = (struct comm_part){ .peer = peer,
				.data = place_of(g, k, pattern),
				.run_bytes = nbyte,
				.nrun = 1,
				.stride_bytes = nbyte };
	}
	return comm_exchange(r->comm, part, npart, &r->error);
}

static void exchange(struct cuda_state *b, void *state, const struct places *x)
{
	size_t all = bit(x->nbit - x->n),
	       room = (b->part[CUDA_STAGING].nbyte / cuda_amplitude_bytes(b)) >> (x->n + 1);
	struct batches g = { .b = b, .state = state, .x = x, .each = all < room ? all : room };

	g.piece = copy_size(x, g.each);
	for (unsigned n = 0; n < x->n; n++)
		g.own |= (b->split->rank >> x->number[n] & 1) << n;
	copy_batch(&g, 0, false);
	for (size_t k = 0; k < all; k += g.each) {
		cuda_wait(b->stream);
		if (!cuda_goes_on(b))
			return;
		if (k + g.each < all)
			copy_batch(&g, k + g.each, false);
		b->split->code = send_batch(&g, k);
		if (!cuda_goes_on(b))
			return;
		copy_batch(&g, k, true);
	}
}

/* ---- flips of rank bits ---- */

/* Parts of a state that a process has: 2^nbit amplitudes each, of which those with 1 at a place
 * are exchanged. */
struct flip {
	struct cuda_state *b;
	char *state;
	struct places x;
	uint32_t nparts, other; /* part k goes to k ^ other */
	unsigned peer;          /* difference of the processes' numbers; 0: in the process */
};

static char *flip_part(const struct flip *f, uint32_t part)
{
	return f->state + (cuda_amplitude_bytes(f->b) << f->x.nbit) * part;
}

static void copy_one(const struct flip *f, uint32_t part, size_t k, size_t n, void *beside, bool back)
{
	copy(f->b, flip_part(f, part), &f->x, 1, k, n, beside, back);
}

static void flip_inside(const struct flip *f)
{
	size_t size = cuda_amplitude_bytes(f->b), run = bit(f->x.local[0]),
	       all = bit(f->x.nbit - 1), n = f->b->part[CUDA_STAGING].nbyte / size;

	n = n < all ? n : all;
	for (uint32_t part = 0; part < f->nparts; part++)
		for (size_t k = 0; part < (part ^ f->other) && k < all; k += n) {
			size_t at = index_of(&f->x, 1, k) * size, width = n < run ? n : run;
			struct cuda_rows from = { flip_part(f, part ^ f->other) + at, 2 * run * size },
					 to = { flip_part(f, part) + at, 2 * run * size };

			copy_one(f, part, k, n, f->b->staging, false);
			cuda_copy_rows(f->b->stream, to, from, width * size, n / width);
			copy_one(f, part ^ f->other, k, n, f->b->staging, true);
		}
}

/* Batch k of `each` amplitudes, by the half of the memory for it; the lower process of two
 * counts its own parts, the other those to which they go. */
static void copy_flipped(const struct flip *f, size_t k, size_t each, bool back)
{
	size_t per_part = bit(f->x.nbit - 1) / each;
	uint32_t part = (uint32_t)(k / per_part);
	unsigned own = f->b->split->rank;

	part ^= own < (own ^ f->peer) ? 0 : f->other;
	copy_one(f, part, k % per_part * each, each,
		f->b->staging_host + (k & 1) * each * cuda_amplitude_bytes(f->b), back);
}

static int send_flipped(const struct flip *f, size_t k, size_t each)
{
	struct split_rank *r = f->b->split;
	size_t nbyte = each * cuda_amplitude_bytes(f->b);
	struct comm_part part = { .peer = r->rank ^ f->peer,
		.data = f->b->staging_host + (k & 1) * nbyte,
		.run_bytes = nbyte,
		.nrun = 1,
		.stride_bytes = nbyte };

	return comm_exchange(r->comm, &part, 1, &r->error);
}

static void flip_between(const struct flip *f)
{
	struct cuda_state *b = f->b;
	size_t all = bit(f->x.nbit - 1),
	       room = b->part[CUDA_STAGING].nbyte / cuda_amplitude_bytes(b) / 2,
	       each = room < all ? room : all, n = all / each * f->nparts;

	copy_flipped(f, 0, each, false);
	for (size_t k = 0; k < n; k++) {
		cuda_wait(b->stream);
		if (!cuda_goes_on(b))
			return;
		if (k + 1 < n)
			copy_flipped(f, k + 1, each, false);
		b->split->code = send_flipped(f, k, each);
		if (!cuda_goes_on(b))
			return;
		copy_flipped(f, k, each, true);
	}
}

static void flip_segment(struct cuda_state *b, const struct cuda_circuit *c, void *state,
	const struct plan_segment *g)
{
	struct flip f = { .b = b, .state = state, .x = { .nbit = c->nbit }, .nparts = cuda_nparts(b) };
	uint64_t rank = g->flip >> c->nbit;

	add_place(&f.x, g->control, 0);
	f.other = (uint32_t)(rank & (f.nparts - 1));
	f.peer = (unsigned)(rank / f.nparts);
	if (f.peer)
		flip_between(&f);
	else
		flip_inside(&f);
}

/* ---- exchanges of a plan ---- */

static void exchange_segment(struct cuda_state *b, const struct cuda_circuit *c, void *state,
	const struct plan_segment *g)
{
	struct places x = { .nbit = c->nbit + b->plan->nrank_bit - b->process.nbit };

	if (g->flip) {
		flip_segment(b, c, state, g);
		return;
	}
	for (unsigned k = 0; k < g->nswap; k++)
		if (g->swap[k].rank < x.nbit)
			swap_inside(b, state, x.nbit, g->swap[k].local, g->swap[k].rank);
		else
			add_place(&x, g->swap[k].local, g->swap[k].rank - x.nbit);
	if (x.n)
		exchange(b, state, &x);
}

void cuda_exchange(struct cuda_state *b, uint32_t number, void *state, uint32_t from, uint32_t to,
	bool back)
{
	const struct cuda_circuit *c = &b->circuit[number];

	for (uint32_t n = 0; from + n <= to && cuda_goes_on(b); n++) {
		uint32_t at = back ? to - n : from + n;
		const struct plan_segment *g = &c->plan->segment[at];
		struct comm_statistics before = { 0 };
		int64_t began;

		if (!g->nswap && !g->flip)
			continue;
		if (!b->split) {
			exchange_segment(b, c, state, g);
			continue;
		}
		if (recorder_on()) /* what the device does until then is no exchange */
			cuda_wait(b->stream);
		before = b->split->comm->statistics;
		recorder_mark(b->split->pass);
		began = recorder_begin();
		exchange_segment(b, c, state, g);
		recorder_exchange(number << 16 | at, back, began, recorder_begin(),
			b->split->comm->statistics.sent_bytes - before.sent_bytes,
			b->split->comm->statistics.wait_seconds - before.wait_seconds);
		recorder_mark(PHASE_EXCHANGE);
	}
}

/* ---- sums ---- */

bool cuda_add_processes(struct cuda_state *b, long long *sum, size_t n)
{
	enum { AT_ONCE = 1 << 12 };
	struct split_rank *r = b->split;
	unsigned nrank = split_nrank(r);
	long long *all;

	if (!cuda_goes_on(b) || nrank == 1)
		return cuda_goes_on(b);
	all = mem_alloc((size_t)AT_ONCE * nrank, sizeof *all);
	for (size_t k = 0, some; k < n && !r->code; k += some) {
		some = n - k < AT_ONCE ? n - k : AT_ONCE;
		r->code = comm_gather(r->comm, sum + k, some * sizeof *sum, all, &r->error);
		for (size_t i = 0; i < some; i++) {
			unsigned long long x = 0;

			for (unsigned rank = 0; rank < nrank; rank++)
				x += (unsigned long long)all[rank * some + i];
			sum[k + i] = (long long)x;
		}
	}
	free(all);
	return !r->code;
}
