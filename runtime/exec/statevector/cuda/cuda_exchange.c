/* SPDX-License-Identifier: Apache-2.0
 * Exchanges of split states: bits of the index at two places change places, in the memory of the device where both are local,
 * else by memory of a bounded size, of two halves. Of the host's memory one half is exchanged while the other is filled; of the
 * device's memory, where there is NCCL, one is sent and the other receives. */
#include "config.h"
#include "runtime/exec/statevector/cuda/cuda_state.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/comm.h"

static size_t bit(unsigned b) { return (size_t)1 << b; }

bool cuda_goes_on(struct cuda_state *b)
{
	struct split_rank *r = b->split;
	bool failed = cuda_stream_failure(b->stream, NULL);

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
	size_t turned;    /* bits of the index that are inverted, above all places */
	size_t longest;   /* amplitudes that may be copied as one piece */
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
	return k ^ x->turned;
}

/* At most `most` amplitudes that are numbered one after the other, and can be copied by one call: rows. A power of two. */
static size_t copy_size(const struct places *x, size_t most)
{
	size_t n = x->n > 1 ? bit(x->local[1] - 1) : bit(x->nbit - 1);

	n = n < x->longest ? n : x->longest;
	return n < most ? n : most;
}

/* Rows of them, from number k on. */
static struct cuda_rows rows_of(const struct cuda_state *b, void *state, const struct places *x,
	unsigned pattern, size_t k)
{
	size_t size = cuda_amplitude_bytes(b);

	return (struct cuda_rows){ (char *)state + index_of(x, pattern, k) * size,
		2 * bit(x->local[0]) * size };
}

static void copy_rows(struct cuda_state *b, const struct places *x, struct cuda_rows to,
	struct cuda_rows from, size_t n)
{
	size_t run = bit(x->local[0]), width = n < run ? n : run;

	cuda_copy_rows(b->stream, to, from, width * cuda_amplitude_bytes(b), n / width);
}

/* Number k, of n, to or from memory where they lie side by side. */
static void copy(struct cuda_state *b, void *state, const struct places *x, unsigned pattern,
	size_t k, size_t n, void *beside, bool back)
{
	size_t run = bit(x->local[0]), width = n < run ? n : run;
	struct cuda_rows rows = rows_of(b, state, x, pattern, k),
			 other = { beside, width * cuda_amplitude_bytes(b) };

	copy_rows(b, x, back ? rows : other, back ? other : rows, n);
}

/* ---- in the process ---- */

/* Amplitudes of x with the bits of `pattern` and those of y, whose places are the same, with the bits of `other` change places. */
static void swap_inside(struct cuda_state *b, void *state, const struct places *x, unsigned pattern,
	const struct places *y, unsigned other)
{
	size_t n = copy_size(x, b->part_bytes[CUDA_STAGING] / cuda_amplitude_bytes(b));

	for (size_t k = 0; k < bit(x->nbit - x->n); k += n) {
		if (index_of(x, pattern, k) > index_of(y, other, k))
			continue; /* a pair that has been there */
		copy(b, state, x, pattern, k, n, b->gpu.staging, false);
		copy_rows(b, x, rows_of(b, state, x, pattern, k), rows_of(b, state, y, other, k), n);
		copy(b, state, y, other, k, n, b->gpu.staging, true);
	}
}

/* ---- between processes ---- */

/* For each partner `each` amplitudes at once, in one half of the memory; copied in pieces. */
struct batches {
	struct cuda_state *b;
	void *state;
	char *memory;
	const struct places *x;
	unsigned own;     /* pattern of the process */
	unsigned partner; /* whose number differs in these bits, of a flip; 0: of exchanged places */
	size_t each, piece;
};

static char *place_of(const struct batches *g, unsigned half, unsigned pattern)
{
	return g->memory + (half << g->x->n | pattern) * g->each * cuda_amplitude_bytes(g->b);
}

static unsigned peer_of(const struct batches *g, unsigned pattern)
{
	unsigned peer = g->b->split->rank;

	if (g->partner)
		return pattern == g->own ? peer : peer ^ g->partner;
	for (unsigned n = 0; n < g->x->n; n++)
		peer = (peer & ~(1u << g->x->number[n])) | (pattern >> n & 1) << g->x->number[n];
	return peer;
}

/* From amplitude k on, of each pattern. */
static void copy_batch(const struct batches *g, size_t k, unsigned half, bool back)
{
	size_t size = cuda_amplitude_bytes(g->b);

	for (unsigned pattern = 0; pattern < 1u << g->x->n; pattern++)
		for (size_t n = 0; pattern != g->own && n < g->each; n += g->piece)
			copy(g->b, g->state, g->x, pattern, k + n, g->piece,
				place_of(g, half, pattern) + n * size, back);
}

static bool send_batch(const struct batches *g, unsigned half)
{
	struct split_rank *r = g->b->split;
	struct comm_part part[SPLIT_RANKS_MAX];
	size_t nbyte = g->each * cuda_amplitude_bytes(g->b);
	unsigned npart = 0;

	for (unsigned pattern = 0; pattern < 1u << g->x->n; pattern++)
		if (pattern != g->own)
			part[npart++] = (struct comm_part){ .peer = peer_of(g, pattern),
				.data = place_of(g, half, pattern),
				.run_bytes = nbyte,
				.nrun = 1,
				.stride_bytes = nbyte };
	if (g->b->nccl)
		return cuda_nccl_exchange(g->b, part, npart, nbyte << g->x->n);
	r->code = comm_exchange(r->comm, part, npart, &r->error);
	return cuda_goes_on(g->b);
}

static void exchange_by_host(const struct batches *g, size_t all)
{
	copy_batch(g, 0, 0, false);
	for (size_t k = 0; k < all; k += g->each) {
		unsigned half = k / g->each & 1;

		cuda_wait(g->b->stream);
		if (!cuda_goes_on(g->b))
			return;
		if (k + g->each < all)
			copy_batch(g, k + g->each, !half, false);
		if (!send_batch(g, half))
			return;
		copy_batch(g, k, half, true);
	}
}

/* ---- from device to device ---- */

static void add_digests(const struct batches *g, size_t k, unsigned half)
{
	uint64_t words = cuda_amplitude_bytes(g->b) / sizeof(uint64_t);
	struct cuda_digest a = { .data = (const uint64_t *)place_of(g, half, 0),
		.sum = g->b->gpu.digest + half * SPLIT_RANKS_MAX,
		.nword = g->each * words,
		.first = k * words,
		.nplace = 1u << g->x->n,
		.own = g->own };

	if (g->b->split->comm->checks)
		cuda_launch_digest(g->b->stream, &a);
}

static void compare_digests(const struct batches *g)
{
	struct split_rank *r = g->b->split;
	unsigned long long mine[CUDA_DIGESTS] = { 0 };

	cuda_download(g->b->stream, g->b->host.digest, g->b->gpu.digest, sizeof mine);
	cuda_wait(g->b->stream);
	if (!cuda_goes_on(g->b))
		return;
	mem_auto unsigned long long *all = mem_alloc((size_t)SPLIT_RANKS_MAX * r->nrank, sizeof *all);
	/* By the rank that it was sent to, or received from. */
	for (unsigned pattern = 0; pattern < 1u << g->x->n; pattern++)
		for (unsigned half = 0; half < 2; half++)
			mine[half * SPLIT_RANKS_MAX + peer_of(g, pattern)] =
				g->b->host.digest[half * SPLIT_RANKS_MAX + pattern];
	r->code = comm_gather(r->comm, mine, SPLIT_RANKS_MAX * sizeof *mine, all, &r->error);
	for (unsigned pattern = 0; pattern < 1u << g->x->n && !r->code; pattern++) {
		unsigned peer = peer_of(g, pattern);

		if (pattern == g->own
			|| all[peer * SPLIT_RANKS_MAX + r->rank] == mine[SPLIT_RANKS_MAX + peer])
			continue;
		r->code = err_set(&r->error, -ERR_IO,
			"bytes from rank %u are not those that it sent: NCCL or the GPUs' link changed them",
			peer);
		comm_abort(r->comm, r->error.text);
	}
}

/* All have come to the exchange, so that the deadline of what follows is that of NCCL alone. */
static bool meet(struct cuda_state *b)
{
	struct split_rank *r = b->split;
	uint8_t none = 0, all[SPLIT_RANKS_MAX];

	cuda_wait(b->stream);
	if (cuda_goes_on(b))
		r->code = comm_gather(r->comm, &none, sizeof none, all, &r->error);
	return !r->code;
}

static void exchange_by_nccl(const struct batches *g, size_t all)
{
	enum { SENT, RECEIVED };
	struct cuda_state *b = g->b;
	unsigned n = 0; /* batches; the one before the last is waited for */

	if (!meet(b))
		return;
	if (b->split->comm->checks)
		cuda_clear(b->stream, b->gpu.digest, CUDA_DIGESTS * sizeof *b->gpu.digest);
	for (size_t k = 0; k < all; k += g->each, n++) {
		copy_batch(g, k, SENT, false);
		add_digests(g, k, SENT);
		if (!send_batch(g, SENT))
			return;
		add_digests(g, k, RECEIVED);
		copy_batch(g, k, RECEIVED, true);
		cuda_moment(b->stream, CUDA_MOMENT_BATCH + n % 2);
		if (n && !cuda_nccl_await(b, CUDA_MOMENT_BATCH + (n - 1) % 2))
			return;
	}
	if (cuda_nccl_await(b, CUDA_MOMENT_BATCH + (n - 1) % 2) && b->split->comm->checks)
		compare_digests(g);
}

static void exchange(struct batches g)
{
	size_t all = bit(g.x->nbit - g.x->n), size = cuda_amplitude_bytes(g.b),
	       room = (g.b->part_bytes[CUDA_STAGING] / size) >> (g.x->n + 1);

	g.memory = g.b->nccl ? g.b->gpu.staging : g.b->host.staging;
	g.each = all < room ? all : room;
	g.piece = copy_size(g.x, g.each);
	for (unsigned n = 0; n < g.x->n && !g.partner; n++)
		g.own |= (g.b->split->rank >> g.x->number[n] & 1) << n;
	if (g.b->nccl)
		exchange_by_nccl(&g, all);
	else
		exchange_by_host(&g, all);
}

/* ---- exchanges of a plan ---- */

/* Of two processes, the lower one counts its own amplitudes, the other those to which they go. */
static void flip(struct cuda_state *b, struct places *x, void *state, const struct plan_segment *g)
{
	size_t other = g->flip & (bit(x->nbit) - 1);
	unsigned partner = (unsigned)(g->flip >> x->nbit);
	struct places turned;

	x->longest = other ? (other & -other) / 2 : SIZE_MAX;
	add_place(x, g->control, 0);
	turned = *x;
	turned.turned = other;
	if (!partner)
		swap_inside(b, state, x, 1, &turned, 1);
	else
		exchange((struct batches){ .b = b,
			.state = state,
			.x = b->split->rank > (b->split->rank ^ partner) ? &turned : x,
			.partner = partner });
}

static void exchange_segment(struct cuda_state *b, const struct cuda_circuit *c, void *state,
	const struct plan_segment *g)
{
	struct places x = { .nbit = cuda_index_bits(b, c), .longest = SIZE_MAX };

	if (g->flip) {
		flip(b, &x, state, g);
		return;
	}
	for (unsigned k = 0; k < g->nswap; k++)
		if (g->swap[k].rank < x.nbit) {
			struct places two = x;

			two.n = 2;
			two.local[0] = g->swap[k].local;
			two.local[1] = g->swap[k].rank;
			swap_inside(b, state, &two, 1, &two, 2);
		} else {
			add_place(&x, g->swap[k].local, g->swap[k].rank - x.nbit);
		}
	if (x.n)
		exchange((struct batches){ .b = b, .state = state, .x = &x });
}

static void exchange_segments(struct cuda_state *b, uint32_t number, void *state, uint32_t from,
	uint32_t to, bool back)
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

void cuda_exchange(struct cuda_state *b, uint32_t number, uint32_t from, uint32_t to)
{
	exchange_segments(b, number, b->gpu.psi, from, to, false);
}

void cuda_exchange_back(struct cuda_state *b, uint32_t number, uint32_t from, uint32_t to)
{
	exchange_segments(b, number, b->gpu.psi, from, to, true);
	exchange_segments(b, number, b->gpu.lambda, from, to, true);
}

/* ---- sums ---- */

bool cuda_add_processes(struct cuda_state *b, long long *sum, size_t n)
{
	enum { AT_ONCE = 1 << 12 };
	struct split_rank *r = b->split;
	unsigned nrank = split_nrank(r);

	if (!cuda_goes_on(b) || nrank == 1)
		return cuda_goes_on(b);
	mem_auto long long *all = mem_alloc((size_t)AT_ONCE * nrank, sizeof *all);
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
	return !r->code;
}
