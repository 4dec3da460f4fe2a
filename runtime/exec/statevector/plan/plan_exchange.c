/* SPDX-License-Identifier: Apache-2.0
 * What the ranks of a split state send each other, and the time that this takes beside what they compute. */
#include "runtime/exec/statevector/plan/plan.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/exec/statevector/plan/plan_build.h"
#include "runtime/exec/statevector/plan/plan_stage.h"

/* Parts that a rank exchanges at once, in all and with each partner. */
enum { PARTS_MAX = 4096, PARTNER_PARTS_MAX = 64 };

struct plan_parts plan_exchange_parts(const uint8_t *row, unsigned n, const uint8_t *piece,
	unsigned npiece, unsigned nrow_bit)
{
	struct plan_parts c = { .nlocal = n, .npiece = npiece };
	uint64_t fixed = 0;

	for (unsigned k = 0; k < n; k++)
		fixed |= UINT64_C(1) << (c.local[k] = row[k]);
	for (unsigned k = 0; k < npiece; k++) {
		c.npartner += !(fixed >> piece[k] & 1);
		fixed |= UINT64_C(1) << (c.piece[k] = piece[k]);
	}
	c.run = fixed ? (unsigned)__builtin_ctzll(fixed) : nrow_bit;
	for (unsigned k = c.run, len = 0; k < nrow_bit; k++) {
		len = fixed >> k & 1 ? 0 : len + 1;
		if (len > c.nbit) {
			c.nbit = len;
			c.low = k + 1 - len;
		}
	}
	for (unsigned k = c.run; k < nrow_bit; k++)
		if (!(fixed >> k & 1) && !(k >= c.low && k < c.low + c.nbit))
			c.other[c.nother++] = (uint8_t)k;
	c.npartner += c.nother;
	return c;
}

bool plan_parts_few(const struct plan_parts *c)
{
	return UINT64_C(1) << c->npartner <= PARTNER_PARTS_MAX
		|| UINT64_C(1) << (c->npartner + c->nlocal) <= PARTS_MAX;
}

unsigned plan_exchange_at_once(const uint8_t *row, unsigned n, unsigned nrow_bit)
{
	for (; n > 1; n--, row++) {
		struct plan_parts c = plan_exchange_parts(row, n, NULL, 0, nrow_bit);

		if (plan_parts_few(&c))
			break;
	}
	return n;
}

struct plan_sent plan_exchange(const struct plan *pl, const struct plan_circuit *c, uint32_t n)
{
	const struct plan_segment *g = &c->segment[n];
	unsigned nbit = plan_stored_bits(pl, c->nbit) - pl->nrank_bit, nlane = plan_lane_bits(pl),
		 at = 0;
	double part = ldexp(plan_amplitude_bytes(pl), (int)nbit);
	struct plan_sent sent = { 0, 0 };
	uint8_t row[PLAN_RANK_BITS_MAX];
	uint64_t rows = 0;

	if (g->flip)
		return (struct plan_sent){ part / 2, 1 };
	for (unsigned k = 0; k < g->nswap; k++)
		rows |= UINT64_C(1) << (g->swap[k].local - nlane);
	for (; rows; rows &= rows - 1)
		row[at++] = (uint8_t)__builtin_ctzll(rows);
	for (unsigned together; at; at -= together) {
		together = plan_exchange_at_once(row, at, nbit - nlane);
		sent.bytes += part - ldexp(part, -(int)together);
		sent.messages += ldexp(1, (int)together) - 1;
	}
	return sent;
}

/* The last stage that the backward pass goes through, or nstage. */
static uint32_t last_back(const struct plan_circuit *c)
{
	uint32_t k = 0;

	while (k < c->nstage && c->stage[k].first + c->stage[k].count <= c->first_transition)
		k++;
	return k;
}

struct plan_sent plan_exchanges(const struct plan *pl, bool back, uint32_t *n)
{
	struct plan_sent sum = { 0, 0 };

	*n = 0;
	for (uint32_t k = 0; k < pl->ncircuit; k++) {
		const struct plan_circuit *c = &pl->circuit[k];
		uint32_t stage = last_back(c), g = 1;

		if (back)
			g = stage < c->nstage ? c->stage[stage].segment + 1 : c->nsegment;
		for (; g < c->nsegment; g++) {
			struct plan_sent x = plan_exchange(pl, c, g);

			sum.bytes += (back ? 2 : 1) * x.bytes;
			sum.messages += (back ? 2 : 1) * x.messages;
			++*n;
		}
	}
	return sum;
}

/* ---- seconds ---- */

/* A pass of one rank: when its threads have computed all before, and when the rows that the next stage takes have arrived. */
struct pass {
	const struct plan *pl;
	const struct plan_limits *l;
	const struct plan_circuit *c;
	double computed, arrived;
	double pieces; /* of the exchange before the next stage; 1: it is not beside stages */
	struct plan_split_seconds sum;
};

/* Of a rank, of which sums are made. */
static double chunks_of(const struct plan *pl) { return fmax(1, ldexp(64, -(int)pl->nrank_bit)); }

/* Pieces by which a state is exchanged beside stages (cpu_exchange.c): parts of messages have some size, and a rank some chunks. */
static double pieces_of(const struct pass *p, uint32_t n)
{
	const struct plan *pl = p->pl;
	unsigned nlocal = p->c->segment[n].nswap;
	double part = ldexp(plan_amplitude_bytes(pl),
		(int)(plan_stored_bits(pl, p->c->nbit) - pl->nrank_bit));

	if (pl->shape != SHAPE_SHARED || p->c->device || part < PLAN_PARTS_LEAST * PLAN_PART_BYTES)
		return 1;
	return fmin(chunks_of(pl), fmax(1, ldexp(part, -(int)nlocal) / PLAN_PART_BYTES));
}

/* Computing that waits for all that has arrived. */
static void compute_alone(struct pass *p, double seconds)
{
	p->computed = fmax(p->computed, p->arrived) + seconds;
	p->arrived = p->computed;
	p->pieces = 1;
	p->sum.compute += seconds;
}

static void exchange_alone(struct pass *p, double seconds)
{
	p->computed = p->arrived = fmax(p->computed, p->arrived) + seconds;
	p->pieces = 1;
	p->sum.exchange += seconds;
}

static double exchange_seconds(const struct pass *p, uint32_t n, unsigned nstate)
{
	struct plan_sent x = plan_exchange(p->pl, p->c, n);

	return nstate * (x.bytes / p->l->exchange_gb_s * 1e-9 + x.messages * p->l->message_us * 1e-6);
}

/* A stage that takes rows as they arrive, and the exchange of segment n behind it, which sends rows as they are computed
 * (0: none). The first piece of one waits for that of the other, and so does the last. done: the stage has been computed. */
static void stage_and_exchange(struct pass *p, double seconds, bool done, uint32_t n, unsigned nstate)
{
	double pieces = n ? pieces_of(p, n) : 1, transfer = n ? exchange_seconds(p, n, nstate) : 0,
	       begin = p->pieces > 1 ? p->computed : fmax(p->computed, p->arrived), end, first;

	if (done)
		seconds = 0;
	end = fmax(begin + seconds, p->arrived + seconds / p->pieces);
	first = pieces > 1 && !done ? fmax(begin + seconds / pieces, p->arrived) : end;
	p->sum.compute += seconds;
	p->sum.exchange += transfer;
	p->computed = end;
	p->arrived = n ? fmax(first + transfer, end + transfer / pieces) : end;
	p->pieces = n ? pieces : 1;
}

/* Exchanges between stages k and k + 1: all but the last in their direction alone, and that beside both. */
static void between(struct pass *p, double seconds, bool done, uint32_t k, unsigned nstate, bool back)
{
	const struct plan_circuit *c = p->c;
	uint32_t from = plan_segment_of(c, k) + 1, to = plan_segment_of(c, k + 1);

	if (from == to) {
		stage_and_exchange(p, seconds, done, from, nstate);
		return;
	}
	stage_and_exchange(p, seconds, done, 0, nstate);
	for (uint32_t n = from; n <= to; n++)
		exchange_alone(p, exchange_seconds(p, back ? to - (n - from) : n, nstate));
}

/* Of readouts behind the last stage: exchanges in which nothing is computed. */
static void exchange_readouts(struct pass *p, unsigned nstate)
{
	for (uint32_t n = plan_segment_of(p->c, p->c->nstage) + 1; n < p->c->nsegment; n++)
		exchange_alone(p, exchange_seconds(p, n, nstate));
}

static void pass_forward(struct pass *p, const struct plan_seconds *stage, bool fused)
{
	uint32_t last = p->c->nstage - 1;

	for (uint32_t k = 0; k < last; k++)
		between(p, stage[k].forward, false, k, 1, false);
	stage_and_exchange(p, stage[last].forward + (fused ? stage[last].back : 0), false, 0, 1);
	compute_alone(p, stage[last + 1].forward);
	exchange_readouts(p, 1);
}

static void pass_back(struct pass *p, const struct plan_seconds *stage, bool fused)
{
	uint32_t first = last_back(p->c);

	compute_alone(p, stage[p->c->nstage].back);
	exchange_readouts(p, 2);
	for (uint32_t k = p->c->nstage; k-- > first;) {
		bool done = fused && k + 1 == p->c->nstage;

		if (k > first)
			between(p, stage[k].back, done, k - 1, 2, true);
		else
			stage_and_exchange(p, stage[k].back, done, 0, 2);
	}
}

static double transition_sums(const struct plan_circuit *c, const struct plan_stage *s)
{
	double n = 0;

	for (uint32_t k = s->first; k < s->first + s->count; k++)
		n += c->step[k].transition ? ldexp(1, 2 * c->step[k].ntarget) : 0;
	return n;
}

/* What each partner is sent besides amplitudes: by one rank the matrices, once for all samples and once for each pass of a
 * circuit; by all ranks the sums of their chunks, of readouts and of each stage's gradients. */
static double rest_seconds(const struct plan *pl, const struct plan_limits *l, bool gradient)
{
	double matrices = 1 + (1 + gradient) * (double)pl->ncircuit, sums = 0, messages = matrices,
	       partners = ldexp(1, (int)pl->nrank_bit) - 1;

	for (uint32_t k = 0; k < pl->ncircuit; k++) {
		const struct plan_circuit *c = &pl->circuit[k];

		sums += c->nterm;
		messages++;
		for (uint32_t s = 0; gradient && s < c->nstage; s++) {
			double n = transition_sums(c, &c->stage[s]);

			sums += n;
			messages += n > 0;
		}
	}
	return partners
		* ((matrices * pl->nmatrix_entry * sizeof(cplx) + sums * chunks_of(pl) * sizeof(double))
				/ l->exchange_gb_s * 1e-9
			+ messages * l->message_us * 1e-6);
}

struct plan_split_seconds plan_split_seconds(const struct plan *pl, const struct plan_limits *l,
	bool gradient)
{
	struct plan_split_seconds sum = { .rest = rest_seconds(pl, l, gradient) };

	sum.all = sum.rest;
	for (uint32_t k = 0; k < pl->ncircuit; k++) {
		const struct plan_circuit *c = &pl->circuit[k];
		mem_auto struct plan_seconds *stage = mem_alloc(c->nstage + (size_t)1, sizeof *stage);
		struct plan_seconds all;
		struct pass p = { .pl = pl, .l = l, .c = c, .pieces = 1 };
		bool fused = gradient && c->nstage && plan_fuses_last(pl, c);

		plan_seconds(pl, c, l, stage, &all);
		if (c->nstage)
			pass_forward(&p, stage, fused);
		else
			compute_alone(&p, all.forward);
		if (gradient && c->nstage)
			pass_back(&p, stage, fused);
		else if (gradient)
			compute_alone(&p, all.back);
		sum.compute += p.sum.compute;
		sum.exchange += p.sum.exchange;
		sum.all += fmax(p.computed, p.arrived);
	}
	return sum;
}
