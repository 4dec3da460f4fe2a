/* SPDX-License-Identifier: Apache-2.0
 * Exchanges of split states, and the stages on both sides of one, which are computed while it goes on.
 *
 * A thread exchanges pieces of a state one after the other. The others compute the chunks of the stage before in the order in which pieces
 * need them, and a chunk of the stage behind when its rows have arrived. Each chunk is computed as always, and sums are of
 * chunks: neither depends on when that is. */
#include <stdlib.h>
#include "runtime/exec/statevector/cpu/cpu_state.h"
#include "runtime/base/system/threads.h"
#include "runtime/exec/statevector/split/split.h"

/* Chunks of a process that are computed beside an exchange, in an order. */
struct beside {
	unsigned n;
	uint8_t chunk[CPU_CHUNKS];
};

struct cpu_overlap {
	struct backend_state *b;
	struct split_state state[2];
	unsigned nstate;
	struct split_cut cut;
	struct split_place place;
	struct split_exchanged exchanged;
	pthread_t thread;
	bool alone;      /* there is no thread: it is exchanged between the stages */
	uint64_t number; /* of exchanges beside stages */
	struct beside before, behind;
	unsigned missing[CPU_CHUNKS]; /* chunks before that are not done, of each piece */
	unsigned ready; /* 1 + pieces that have arrived; 0: what stays may be in another place */
	unsigned need[CPU_CHUNKS]; /* of each chunk behind */
};

static struct split_state split_state_of(const struct backend_state *b, const struct cpu_circuit *c,
	void *psi)
{
	return (struct split_state){ .nbit = c->nbit,
		.lane_bits = b->lane_bits,
		.row_bytes = cpu_row_bytes(b),
		.part = (char *)((uintptr_t)psi + cpu_first_row(b, c) * cpu_row_bytes(b)) };
}

static struct split_place place_of(const struct backend_state *b, const struct cpu_exchange *x,
	const struct plan_segment *g)
{
	return (struct split_place){ (uint32_t)(x->circuit - b->circuit) << 16
			| (uint32_t)(g - x->circuit->plan->segment),
		x->back };
}

void cpu_exchange(struct backend_state *b, const struct cpu_exchange *x)
{
	struct split_state s[2] = { split_state_of(b, x->circuit, x->psi),
		split_state_of(b, x->circuit, x->lambda) };

	for (uint32_t k = 0; x->from + k <= x->to; k++) {
		const struct plan_segment *g =
			&x->circuit->plan->segment[x->back ? x->to - k : x->from + k];

		if (g->nswap)
			split_exchange(b->split, s, 1 + (x->lambda != NULL), g->swap, g->nswap,
				place_of(b, x, g));
		if (g->flip)
			split_flip(b->split, s, 1 + (x->lambda != NULL), g->control, g->flip,
				place_of(b, x, g));
	}
}

struct cpu_exchange cpu_exchange_behind(const struct cpu_circuit *c, uint32_t stage, bool back,
	void *psi, void *lambda)
{
	uint32_t first = back ? stage - 1 : stage;

	return (struct cpu_exchange){ .circuit = c,
		.psi = psi,
		.lambda = lambda,
		.from = c->plan->stage[first].segment + 1,
		.to = c->plan->stage[first + 1].segment,
		.back = back,
		.stage = stage };
}

/* ---- chunks and pieces ---- */

/* The stage before the exchange, or behind it. */
static uint32_t stage_beside(const struct cpu_exchange *x, bool behind)
{
	return !behind ? x->stage : x->back ? x->stage - 1 : x->stage + 1;
}

static const struct cpu_blocks *blocks_of(const struct cpu_exchange *x, bool behind)
{
	const struct cpu_stage *s = &x->circuit->stage[stage_beside(x, behind)];

	return x->back ? &s->back : &s->forward;
}

/* Chunks of a process are numbered by the highest bits of a block's number behind those of the rank: these places of a row. */
static const uint8_t *chunk_places(const struct cpu_blocks *blocks, unsigned *n)
{
	*n = (unsigned)__builtin_ctz(blocks->span.each);
	return blocks->outer + blocks->nouter - (unsigned)__builtin_ctz(blocks->nchunk);
}

static size_t chunk_rows(const struct cpu_blocks *blocks, unsigned chunk)
{
	unsigned n;
	const uint8_t *place = chunk_places(blocks, &n);

	return bits_spread(chunk, place, n);
}

static bool piece_has(const struct cpu_overlap *o, unsigned piece, const struct cpu_blocks *blocks,
	unsigned chunk)
{
	return split_piece_has(&o->cut, piece, chunk_rows(blocks, ~0u), chunk_rows(blocks, chunk));
}

/* Chunks in the order of these numbers. */
static void put_in_order(struct beside *s, unsigned n, const unsigned *number)
{
	s->n = n;
	for (unsigned k = 0; k < n; k++) {
		unsigned at = k;

		for (; at && number[s->chunk[at - 1]] > number[k]; at--)
			s->chunk[at] = s->chunk[at - 1];
		s->chunk[at] = (uint8_t)k;
	}
}

/* Which chunks a piece waits for: those that change its rows, or all where it cannot begin before. */
static void order_before(struct cpu_overlap *o, const struct cpu_blocks *blocks)
{
	unsigned npiece = split_npiece(&o->cut), first[CPU_CHUNKS];
	bool all = o->cut.inside || !o->cut.at_once;

	for (unsigned k = 0; k < blocks->span.each; k++) {
		first[k] = npiece;
		for (unsigned n = npiece; n-- > 0;)
			if ((all && !n) || piece_has(o, n, blocks, k)) {
				o->missing[n]++;
				first[k] = n;
			}
	}
	put_in_order(&o->before, blocks->span.each, first);
}

/* Which pieces a chunk waits for. */
static void order_behind(struct cpu_overlap *o, const struct cpu_blocks *blocks)
{
	for (unsigned k = 0; k < blocks->span.each; k++) {
		o->need[k] = 1;
		for (unsigned n = 0; n < split_npiece(&o->cut); n++)
			o->need[k] = piece_has(o, n, blocks, k) ? n + 2 : o->need[k];
	}
	put_in_order(&o->behind, blocks->span.each, o->need);
}

/* The blocks by whose chunks pieces are cut: of the stage with more to do, or of the only one that is computed now. */
static const struct cpu_blocks *blocks_of_pieces(const struct backend_state *b,
	const struct cpu_exchange *x, bool done)
{
	double flops[2], bytes;

	for (unsigned behind = 0; behind < 2; behind++)
		plan_pass(b->plan, x->circuit->plan, stage_beside(x, behind), x->back,
			&flops[behind], &bytes);
	return blocks_of(x, done || flops[1] >= flops[0]);
}

/* ---- the thread that exchanges ---- */

static void await(void *ctx, unsigned n)
{
	struct cpu_overlap *o = ctx;
	struct cpu_exchanging *x = &o->b->exchanging;

	mutex_auto held = mutex_hold(&x->lock);
	for (unsigned k = 0; k < n; k++)
		while (o->missing[k])
			pthread_cond_wait(&x->more, &x->lock);
}

static void ready(void *ctx, unsigned n)
{
	struct cpu_overlap *o = ctx;
	struct cpu_exchanging *x = &o->b->exchanging;

	mutex_auto held = mutex_hold(&x->lock);
	o->ready = n + 1;
	pthread_cond_broadcast(&x->more);
}

static void *run(void *ctx)
{
	struct cpu_overlap *o = ctx;
	struct cpu_exchanging *x = &o->b->exchanging;
	struct split_beside beside = { o, await, ready };

	pthread_mutex_lock(&x->lock);
	while (x->ended != o->number)
		pthread_cond_wait(&x->more, &x->lock);
	pthread_mutex_unlock(&x->lock);
	split_exchange_beside(o->b->split, o->state, o->nstate, &o->cut, &beside, &o->exchanged);
	pthread_mutex_lock(&x->lock);
	x->ended++;
	pthread_mutex_unlock(&x->lock);
	ready(o, split_npiece(&o->cut));
	return NULL;
}

/* ---- the threads that compute ---- */

/* The only exchange with swaps, or NULL. */
static const struct plan_segment *only_segment(const struct cpu_exchange *x)
{
	const struct plan_segment *only = NULL;

	for (uint32_t n = x->from; n <= x->to; n++) {
		const struct plan_segment *g = &x->circuit->plan->segment[n];

		if (g->nswap && only)
			return NULL;
		only = g->nswap ? g : only;
	}
	return only;
}

struct cpu_overlap *cpu_overlap_begin(struct backend_state *b, const struct cpu_exchange *x, bool done)
{
	const struct plan_segment *g = only_segment(x);
	const struct cpu_blocks *blocks, *behind = blocks_of(x, true);
	unsigned nplace;

	if (!b->shared || !b->rank_bits || !g
		|| (x->circuit->nrow >> b->rank_bits) * cpu_row_bytes(b) / PLAN_PARTS_LEAST
			< split_part_bytes)
		return NULL;
	blocks = blocks_of_pieces(b, x, done);
	const uint8_t *place = chunk_places(blocks, &nplace);
	struct cpu_overlap *o = mem_alloc(1, sizeof *o);
	*o = (struct cpu_overlap){ .b = b,
		.state = { split_state_of(b, x->circuit, x->psi),
			split_state_of(b, x->circuit, x->lambda) },
		.nstate = 1 + (x->lambda != NULL),
		.place = place_of(b, x, g),
		.number = b->exchanging.begun };
	o->cut = split_cut(b->split, o->state, g->swap, g->nswap, place, nplace);
	if (!done)
		order_before(o, blocks_of(x, false));
	order_behind(o, behind);
	b->exchanging.begun++;
	o->alone = !thread_start(&o->thread, run, o);
	if (o->alone && done)
		run(o);
	return o;
}

/* The calling thread of the region has what was waited for as a phase; the others' time is not told apart. */
static void await_ready(struct cpu_overlap *o, unsigned n, bool first)
{
	struct cpu_exchanging *x = &o->b->exchanging;

	pthread_mutex_lock(&x->lock);
	bool waits = o->ready < n;
	if (waits && first)
		recorder_mark(o->b->split->pass);
	while (o->ready < n)
		pthread_cond_wait(&x->more, &x->lock);
	pthread_mutex_unlock(&x->lock);
	if (waits && first)
		recorder_mark(PHASE_EXCHANGE);
}

/* A stage between two exchanges, or beside one. */
struct stage {
	struct cpu_overlap *before, *behind; /* the exchange before it, and behind it; or NULL */
	const struct cpu_blocks *blocks;
	unsigned taken;
	cpu_chunk_fn fn;
	void *ctx;
};

/* Chunks are done that the pieces of an exchange wait for: one, or all. */
static void set_done(struct cpu_overlap *o, const struct cpu_blocks *blocks, unsigned chunk, bool all)
{
	struct cpu_exchanging *x = &o->b->exchanging;
	bool each = o->cut.inside || !o->cut.at_once;

	mutex_auto held = mutex_hold(&x->lock);
	for (unsigned n = 0; n < split_npiece(&o->cut); n++) {
		if (all)
			o->missing[n] = 0;
		else if ((each && !n) || piece_has(o, n, blocks, chunk))
			o->missing[n]--;
	}
	pthread_cond_broadcast(&x->more);
}

/* Some chunk: the next, whichever the thread was to take. */
static void next_chunk(void *ctx, unsigned unused, struct cpu_worker *w)
{
	struct stage *s = ctx;
	unsigned n = __atomic_fetch_add(&s->taken, 1, __ATOMIC_RELAXED), chunk;

	(void)unused;
	chunk = (s->before ? &s->before->behind : &s->behind->before)->chunk[n];
	if (s->before)
		await_ready(s->before, s->before->need[chunk], w == s->before->b->worker);
	s->fn(s->ctx, s->blocks->span.first + chunk, w);
	if (s->behind)
		set_done(s->behind, s->blocks, chunk, false);
}

void cpu_overlap_end(struct cpu_overlap *o)
{
	if (!o)
		return;
	await_ready(o, split_npiece(&o->cut) + 1, true);
	if (!o->alone)
		pthread_join(o->thread, NULL);
	const struct split_exchanged *x = &o->exchanged;
	recorder_exchange(o->place.id, o->place.back, x->began, x->ended, x->bytes, x->wait_seconds);
	free(o);
}

void cpu_overlap_chunks(struct backend_state *b, struct cpu_worker *own,
	const struct cpu_blocks *blocks, struct cpu_overlap *before, struct cpu_overlap *behind,
	cpu_chunk_fn fn, void *ctx)
{
	struct stage s = { .before = before, .behind = behind, .blocks = blocks, .fn = fn, .ctx = ctx };

	if (before || behind)
		cpu_chunks(b, own, blocks->span, next_chunk, &s);
	else
		cpu_chunks(b, own, blocks->span, fn, ctx);
	if (behind)
		set_done(behind, blocks, 0, true);
	cpu_overlap_end(before);
	if (behind && behind->alone)
		run(behind);
}
