/* SPDX-License-Identifier: Apache-2.0
 * Segments of a state that is split over ranks: runs of steps whose changed bits are no rank bits, and an exchange of
 * rank bits for local ones between them.
 *
 * Diagonal steps, controls and products of Z may refer to rank bits, since a rank knows its own. An exchange moves less than
 * the whole state however many bits it exchanges, so segments are made as few as can be: each takes the bits that
 * steps want first, improved by trading single bits while the rest of the circuit needs fewer exchanges, or the
 * segment takes more work. */
#include "config.h"
#include "runtime/exec/statevector/plan/plan_build.h"
#include "runtime/exec/statevector/plan/plan_stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Visits of steps that the search may look at. */
enum { VISITS_MAX = 20000000 };

struct segments {
	const struct plan *pl;
	const struct plan_circuit *c;
	uint64_t all, always; /* the circuit's bits, and those that are never rank bits */
	unsigned nlocal;
	uint64_t *moved, *looked; /* (nstep) */
	uint64_t visits;
};

static unsigned count(uint64_t bits) { return (unsigned)__builtin_popcountll(bits); }

/* Do, with these local bits, each step that is not done and that no step left behind holds back. The work done. */
static double fill(struct segments *s, uint64_t local, bool *done)
{
	enum { VISIT = 12 };
	struct held held = { 0, 0 };
	double work = 0;

	for (uint32_t k = 0; k < s->c->nstep && held.moved != s->all; k++) {
		s->visits++;
		if (done[k])
			continue;
		if (plan_is_held(&held, s->moved[k], s->looked[k]) || (s->moved[k] & ~local)) {
			plan_hold(&held, s->moved[k], s->looked[k]);
			continue;
		}
		done[k] = true;
		work += VISIT
			+ plan_cost(s->c->step[k].ntarget,
				s->pl->set.def[s->c->step[k].matrix]->flags);
	}
	return work;
}

static bool all_done(const struct segments *s, const bool *done)
{
	for (uint32_t k = 0; k < s->c->nstep; k++)
		if (!done[k])
			return false;
	return true;
}

/* Bits in the order in which steps want them, as many as are local; then those that were local before. */
static uint64_t first_wanted(struct segments *s, const bool *done, uint64_t before)
{
	struct held held = { 0, 0 };
	uint64_t local = s->always;

	for (uint32_t k = 0; k < s->c->nstep && held.moved != s->all; k++) {
		s->visits++;
		if (done[k])
			continue;
		if (plan_is_held(&held, s->moved[k], s->looked[k])
			|| count(local | s->moved[k]) > s->nlocal)
			plan_hold(&held, s->moved[k], s->looked[k]);
		else
			local |= s->moved[k];
	}
	for (uint64_t rest = before & ~local; rest && count(local) < s->nlocal; rest &= rest - 1)
		local |= rest & -rest;
	for (uint64_t rest = s->all & ~local; rest && count(local) < s->nlocal; rest &= rest - 1)
		local |= rest & -rest;
	return local;
}

/* How good it is to go on with these local bits: segments to the end, then the work of this one, then bits exchanged. */
struct merit {
	uint32_t nsegment;
	double work;
	unsigned nexchange;
};

static struct merit merit_of(struct segments *s, const bool *done, uint64_t local, uint64_t before)
{
	bool *then = mem_alloc(s->c->nstep + (size_t)1, sizeof *then);
	struct merit m = { .nsegment = 1, .nexchange = count(local & ~before) };

	memcpy(then, done, s->c->nstep * sizeof *then);
	m.work = fill(s, local, then);
	while (!all_done(s, then) && s->visits < VISITS_MAX) {
		local = first_wanted(s, then, local);
		fill(s, local, then);
		m.nsegment++;
	}
	free(then);
	return m;
}

static bool is_better(const struct merit *a, const struct merit *b)
{
	if (a->nsegment != b->nsegment)
		return a->nsegment < b->nsegment;
	return a->work != b->work ? a->work > b->work : a->nexchange < b->nexchange;
}

/* Trade local bits for others, one at a time, while that is better. */
static uint64_t choose_local(struct segments *s, const bool *done, uint64_t before)
{
	uint64_t local = first_wanted(s, done, before);
	struct merit best = merit_of(s, done, local, before);

	for (bool again = true; again && s->visits < VISITS_MAX;) {
		again = false;
		for (uint64_t out = local & ~s->always; out && !again; out &= out - 1)
			for (uint64_t in = s->all & ~local; in; in &= in - 1) {
				uint64_t other = (local & ~(out & -out)) | (in & -in);
				struct merit m;

				if (s->visits >= VISITS_MAX)
					break;
				m = merit_of(s, done, other, before);
				if (is_better(&m, &best)) {
					best = m;
					local = other;
					again = true;
					break;
				}
			}
	}
	return local;
}

/* Bits on which a product of Pauli operators has x or y. */
static uint64_t flipped(const struct pauli_term *t)
{
	uint64_t bits = 0;

	for (uint32_t f = 0; f < t->nfactor; f++)
		bits |= t->factor[f].letter != 3 ? UINT64_C(1) << t->factor[f].wire : 0;
	return bits;
}

uint32_t plan_segment_of(const struct plan_circuit *c, uint32_t k)
{
	if (k < c->nstage)
		return c->stage[k].segment;
	return c->nstage ? c->stage[c->nstage - 1].segment : 0;
}

double plan_exchange_bytes(const struct plan *pl, const struct plan_circuit *c, uint32_t n)
{
	double part = ldexp(pl->precision == PRECISION_DOUBLE ? 16 : 8,
		(int)(plan_stored_bits(pl, c->nbit) - pl->nrank_bit));

	return part - ldexp(part, -(int)c->segment[n].nswap);
}

uint32_t plan_reading(const struct plan_circuit *c, const struct pauli_term *t)
{
	uint32_t n = plan_segment_of(c, c->nstage);

	while (n + 1 < c->nsegment && (flipped(t) & c->segment[n].rank))
		n++;
	return n;
}

/* Bits that are local where terms are read that cannot be read yet: of the first of them, and of as many others as
 * fit; 0: there is none. */
static uint64_t unread(const struct segments *s, const struct plan_segment *segment, uint32_t first,
	uint32_t n)
{
	uint64_t want = 0;

	for (uint32_t o = 0; o < s->c->noutput; o++)
		for (uint32_t t = 0; t < s->c->output[o].nterm; t++) {
			uint64_t bits = flipped(&s->c->output[o].term[t]);
			bool is_read = false;

			for (uint32_t k = first; k < n; k++)
				is_read = is_read || !(bits & segment[k].rank);
			if (!is_read && count(want | bits | s->always) <= s->nlocal)
				want |= bits;
		}
	return want;
}

/* The bits that are never rank bits, since the vectors' lanes are among them: of the product with the most x and y, which have to
 * be local together, then those with the latest steps. */
static uint64_t never_rank(const struct segments *s, unsigned n)
{
	uint64_t bits = 0, most = 0;

	for (uint32_t o = 0; o < s->c->noutput; o++)
		for (uint32_t t = 0; t < s->c->output[o].nterm; t++)
			if (count(flipped(&s->c->output[o].term[t])) > count(most))
				most = flipped(&s->c->output[o].term[t]);
	for (; most && count(bits) < n; most &= most - 1)
		bits |= most & -most;
	for (uint32_t k = s->c->nstep; k-- > 0 && count(bits) < n;)
		for (uint64_t more = s->moved[k] & ~bits; more && count(bits) < n; more &= more - 1)
			bits |= more & -more;
	for (uint64_t more = s->all & ~bits; more && count(bits) < n; more &= more - 1)
		bits |= more & -more;
	return bits;
}

/* Rank bits that are none of the circuit's: of one that has too few. */
static uint64_t spare_rank(const struct plan *pl, const struct plan_circuit *c, unsigned nreal)
{
	unsigned n = pl->nrank_bit - nreal, nbit = plan_stored_bits(pl, c->nbit);

	return n ? ((UINT64_C(1) << n) - 1) << (nbit - n) : 0;
}

struct growing {
	struct plan_segment *segment;
	uint32_t n, cap;
};

static struct plan_segment *add(struct growing *g, uint32_t end, uint64_t rank)
{
	mem_reserve(g->segment, g->n, g->cap);
	g->segment[g->n] = (struct plan_segment){ .end = end, .rank = rank };
	return &g->segment[g->n++];
}

/* Steps by segments; vectors are prepared first. */
static void cut(struct segments *s, struct growing *g, struct plan_step *order, uint64_t spare)
{
	uint32_t nstep = s->c->nstep, n = 0;
	bool *done = mem_alloc(nstep + (size_t)1, sizeof *done),
	     *then = mem_alloc(nstep + (size_t)1, sizeof *then);
	uint64_t local = 0;

	for (uint32_t k = 0; k < nstep; k++)
		if (s->c->step[k].op == STEP_PREPARE) {
			done[k] = true;
			order[n++] = s->c->step[k];
		}
	do {
		local = choose_local(s, done, g->n ? local : s->all);
		memcpy(then, done, nstep * sizeof *then);
		fill(s, local, then);
		for (uint32_t k = 0; k < nstep; k++)
			if (then[k] && !done[k])
				order[n++] = s->c->step[k];
		memcpy(done, then, nstep * sizeof *then);
		add(g, n, (s->all & ~local) | spare);
	} while (n < nstep);
	free(done);
	free(then);
}

/* Segments without steps, where terms are read whose x or y are on rank bits before. */
static void add_readings(struct segments *s, struct growing *g, uint64_t spare)
{
	uint32_t first = g->n - 1;
	uint64_t want;

	while ((want = unread(s, g->segment, first, g->n)) != 0) {
		uint64_t local = want | s->always, before = s->all & ~g->segment[g->n - 1].rank;

		for (uint64_t rest = before & ~local; rest && count(local) < s->nlocal;
			rest &= rest - 1)
			local |= rest & -rest;
		add(g, s->c->nstep, (s->all & ~local) | spare);
	}
}

/* Is each term read in a segment? */
static int check_readings(const struct segments *s, const struct growing *g, struct err *e)
{
	const struct plan_segment *last = &g->segment[g->n - 1];

	for (uint32_t o = 0; o < s->c->noutput; o++)
		for (uint32_t t = 0; t < s->c->output[o].nterm; t++) {
			uint64_t bits = flipped(&s->c->output[o].term[t]);
			const struct plan_segment *k = last;

			while (k > g->segment && k->end == k[-1].end && (bits & k->rank))
				k--;
			if (bits & k->rank)
				return err_set(e, -ERR_CONFIG,
					"a product of x or y on %u of %u qubits cannot be read from a state that is "
					"split over %u ranks, which have %u qubits each: split it over fewer",
					count(bits), s->c->nbit, 1u << s->pl->nrank_bit, s->nlocal);
		}
	return 0;
}

int plan_segments(struct plan *pl, struct plan_circuit *c, struct err *e)
{
	int code = 0;
	struct growing g = { 0 };
	unsigned nreal = pl->nrank_bit, nlane = (unsigned)__builtin_ctz(plan_lanes(pl));
	struct segments s = { .pl = pl, .c = c, .all = (UINT64_C(1) << c->nbit) - 1 };
	struct plan_step *order = c->step;

	if (nreal && c->nbit < PLAN_SPLIT_LOCAL_MIN + nreal)
		nreal = c->nbit > PLAN_SPLIT_LOCAL_MIN ? c->nbit - PLAN_SPLIT_LOCAL_MIN : 0;
	if (nreal) {
		uint64_t spare = spare_rank(pl, c, nreal);
		unsigned free_local =
			plan_stored_bits(pl, c->nbit) - pl->nrank_bit - (c->nbit - nreal);

		order = arena_alloc(&pl->arena, c->nstep, sizeof *order);
		s.nlocal = c->nbit - nreal;
		s.moved = mem_alloc(c->nstep + (size_t)1, sizeof *s.moved);
		s.looked = mem_alloc(c->nstep + (size_t)1, sizeof *s.looked);
		for (uint32_t k = 0; k < c->nstep; k++) {
			s.moved[k] = plan_moved(pl, &c->step[k]);
			s.looked[k] = plan_looked(pl, &c->step[k]);
		}
		s.always = never_rank(&s, nlane > free_local ? nlane - free_local : 0);
		cut(&s, &g, order, spare);
		add_readings(&s, &g, spare);
		code = check_readings(&s, &g, e);
		free(s.moved);
		free(s.looked);
	} else {
		add(&g, c->nstep, pl->nrank_bit ? spare_rank(pl, c, 0) : 0);
	}
	c->step = order;
	c->nsegment = g.n;
	c->segment = arena_copy(&pl->arena, g.segment, g.n, sizeof *g.segment);
	free(g.segment);
	return code;
}
