/* SPDX-License-Identifier: Apache-2.0
 * Segments of a state that is split over ranks: runs of steps whose changed bits are no rank bits, and an exchange of
 * rank bits for local ones between them.
 *
 * Diagonal steps, controls and products of Z may refer to rank bits, since a rank knows its own. A product with x or y is read when
 * all steps are done and its x and y are on local bits; one with too many of them is read later (plan_products.c).
 *
 * An exchange moves less than the whole state however many bits it exchanges, so exchanges are made as few as can be, and
 * then their bytes. A beam search goes from segment to segment and tries sets of local bits: those that steps want first, and
 * others that differ in single bits, while that is better. Each set is judged by the whole plan in which the segments behind take
 * the bits that steps want first; the best of these plans is the result. */
#include "runtime/exec/statevector/plan/plan_build.h"
#include "runtime/exec/statevector/plan/plan_stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Visits of steps that the search may make, and sets of local bits with which it goes on from a segment, by each order. */
enum { VISITS_MAX = 20000000, BEAM_MAX = 16 };

struct segments {
	const struct plan *pl;
	const struct plan_circuit *c;
	uint64_t all, always; /* the circuit's bits, and some that are never rank bits */
	unsigned nlocal;      /* local bits */
	unsigned nlane; /* at least as many bits are never rank bits: for the lanes of vectors */
	uint32_t n;     /* steps, then products with x or y */
	uint64_t *targets, *controls; /* (n) */
	uint64_t visits;
	struct arena arena;
};

/* Where the search is after some segments. */
struct point {
	const struct point *before; /* NULL: there are none */
	bool *done;                 /* (segments.n) */
	uint64_t local;             /* bits in the last of them */
	uint64_t never;             /* bits that were rank bits in none of them */
	uint32_t nsegment;
	double sent; /* by each rank in all exchanges, in parts of a state */
	double work; /* operations in the last segment */
};

static uint64_t lowest(uint64_t bits) { return bits & -bits; }

/* Is step k one that no step left behind holds back, or a product when none is left? */
static bool is_next(const struct segments *s, const struct held *held, uint32_t k)
{
	return k < s->c->nstep ? !plan_is_held(held, s->targets[k], s->controls[k])
			       : !(held->targets | held->controls);
}

static void leave(const struct segments *s, struct held *held, uint32_t k)
{
	if (k < s->c->nstep)
		plan_hold(held, s->targets[k], s->controls[k]);
}

/* Do, with these local bits, each step that is not done and that no step left behind holds back. The work done. */
static double fill(struct segments *s, uint64_t local, bool *done)
{
	enum { VISIT = 12 };
	struct held held = { 0, 0 };
	double work = 0;

	for (uint32_t k = 0; k < s->n && held.targets != s->all; k++) {
		s->visits++;
		if (done[k])
			continue;
		if (!is_next(s, &held, k) || (s->targets[k] & ~local)) {
			leave(s, &held, k);
			continue;
		}
		done[k] = true;
		if (k < s->c->nstep)
			work += VISIT
				+ plan_cost(s->c->step[k].ntarget,
					s->pl->set.def[s->c->step[k].matrix]->flags);
	}
	return work;
}

static bool all_done(const struct segments *s, const struct point *p)
{
	for (uint32_t k = 0; k < s->n; k++)
		if (!p->done[k])
			return false;
	return true;
}

/* Can these bits be local, with as many as have to be that were never rank bits? */
static bool fits(const struct segments *s, const struct point *p, uint64_t local)
{
	unsigned lanes = bits_count(local & p->never);

	return bits_count(local) + (lanes < s->nlane ? s->nlane - lanes : 0) <= s->nlocal;
}

/* Add as many of these bits as are missing. */
static uint64_t add_bits(uint64_t local, uint64_t of, unsigned missing)
{
	for (of &= ~local; of && missing > 0; of &= of - 1, missing--)
		local |= lowest(of);
	return local;
}

/* Bits in the order in which steps want them, as many as are local, then those that were local before; but for `without`. */
static uint64_t first_wanted(struct segments *s, const struct point *p, uint64_t without)
{
	struct held held = { 0, 0 };
	uint64_t local = s->always;

	for (uint32_t k = 0; k < s->n && held.targets != s->all; k++) {
		s->visits++;
		if (p->done[k])
			continue;
		if (!is_next(s, &held, k) || (s->targets[k] & without)
			|| !fits(s, p, local | s->targets[k]))
			leave(s, &held, k);
		else
			local |= s->targets[k];
	}
	unsigned lanes = bits_count(local & p->never);
	if (lanes < s->nlane)
		local = add_bits(local, p->never & ~without, s->nlane - lanes);
	local = add_bits(local, p->local & ~without, s->nlocal - bits_count(local));
	return add_bits(local, s->all & ~without, s->nlocal - bits_count(local));
}

/* The next segment has these local bits. */
static void advance(struct segments *s, struct point *p, uint64_t local)
{
	p->sent += p->nsegment ? 1 - ldexp(1, -(int)bits_count(local & ~p->local)) : 0;
	p->local = local;
	p->never &= local;
	p->work = fill(s, local, p->done);
	p->nsegment++;
}

static bool *copy_done(const struct segments *s, const bool *done)
{
	bool *copy = mem_alloc(s->n + (size_t)1, sizeof *copy);

	memcpy(copy, done, s->n * sizeof *copy);
	return copy;
}

/* A set of local bits behind a point, with the whole plan by which it is judged. */
struct choice {
	const struct point *from;
	uint64_t local;
	uint32_t nsegment;
	double sent, work; /* work: in the segment with these bits */
};

static struct choice judge(struct segments *s, const struct point *from, uint64_t local)
{
	struct point p = *from;
	struct choice c = { .from = from, .local = local };

	p.done = copy_done(s, from->done);
	advance(s, &p, local);
	c.work = p.work;
	while (!all_done(s, &p))
		advance(s, &p, first_wanted(s, &p, 0));
	c.nsegment = p.nsegment;
	c.sent = p.sent;
	free(p.done);
	return c;
}

/* Fewer exchanges, then fewer bytes. */
static bool is_better(const struct choice *a, const struct choice *b)
{
	if (a->nsegment != b->nsegment)
		return a->nsegment < b->nsegment;
	return a->sent != b->sent ? a->sent < b->sent : a->work > b->work;
}

/* Fewer exchanges, then more work done at once. */
static bool does_more(const struct choice *a, const struct choice *b)
{
	if (a->nsegment != b->nsegment)
		return a->nsegment < b->nsegment;
	return a->work != b->work ? a->work > b->work : a->sent < b->sent;
}

/* The choices with which the search goes on: the best ones, and those that do most, each in order. */
struct beam {
	unsigned width, n[2];
	struct choice choice[2][BEAM_MAX + 1];
};

static void offer(struct beam *b, const struct choice *c)
{
	for (unsigned by = 0; by < 2; by++) {
		bool (*before)(const struct choice *, const struct choice *) =
			by ? does_more : is_better;
		struct choice *list = b->choice[by];
		unsigned at = b->n[by];

		while (at > 0 && before(c, &list[at - 1]))
			at--;
		if (at && !before(&list[at - 1], c) && list[at - 1].local == c->local)
			continue; /* it is there */
		memmove(&list[at + 1], &list[at], (b->n[by] - at) * sizeof *list);
		list[at] = *c;
		b->n[by] += b->n[by] < b->width;
	}
}

/* Choices behind a point: the bits that are wanted first, without each of them, and then single bits traded while more is done. */
static void climb(struct segments *s, const struct point *from, struct beam *b)
{
	struct choice best = judge(s, from, first_wanted(s, from, 0)), c;

	offer(b, &best);
	for (uint64_t bits = s->all & ~s->always; bits && s->visits < VISITS_MAX; bits &= bits - 1) {
		uint64_t local = first_wanted(s, from, lowest(bits));

		if (!fits(s, from, local))
			continue;
		c = judge(s, from, local);
		offer(b, &c);
		best = does_more(&c, &best) ? c : best;
	}
	for (bool again = true; again;) {
		again = false;
		for (uint64_t out = best.local & ~s->always; out && !again; out &= out - 1)
			for (uint64_t in = s->all & ~best.local; in && !again; in &= in - 1) {
				uint64_t local = (best.local & ~lowest(out)) | lowest(in);

				if (!fits(s, from, local))
					continue;
				if (s->visits >= VISITS_MAX)
					return;
				c = judge(s, from, local);
				offer(b, &c);
				again = does_more(&c, &best);
				best = again ? c : best;
			}
	}
}

static struct point *next_point(struct segments *s, const struct choice *c)
{
	struct point *p = arena_copy(&s->arena, c->from, 1, sizeof *p);

	p->before = c->from;
	p->done = arena_copy(&s->arena, c->from->done, s->n, sizeof *p->done);
	advance(s, p, c->local);
	return p;
}

/* Points behind the choices of a beam where something is left to do. */
static unsigned next_points(struct segments *s, const struct beam *b, const struct point **out)
{
	unsigned n = 0;

	for (unsigned by = 0; by < 2; by++)
		for (unsigned k = 0; k < b->n[by] && k < b->width; k++) {
			const struct choice *c = &b->choice[by][k];
			bool is_there = false;

			for (unsigned o = 0; o < n; o++)
				is_there |= out[o]->before == c->from && out[o]->local == c->local;
			struct point *p = is_there ? NULL : next_point(s, c);
			if (p && !all_done(s, p))
				out[n++] = p;
		}
	return n;
}

/* The best choice of all. The beam is as wide as the visits allow, if each point takes as many as the first. */
static struct choice search(struct segments *s, const struct point *root)
{
	struct beam beam = { .width = BEAM_MAX };
	const struct point *point[2 * BEAM_MAX] = { root };
	unsigned npoint = 1;
	struct choice best = judge(s, root, first_wanted(s, root, 0));

	for (uint32_t depth = 1; npoint && depth <= best.nsegment; depth++) {
		beam.n[0] = beam.n[1] = 0;
		for (unsigned k = 0; k < npoint && s->visits < VISITS_MAX; k++)
			climb(s, point[k], &beam);
		while (depth == 1 && beam.width > 1
			&& 2 * s->visits * beam.width * best.nsegment > VISITS_MAX)
			beam.width--;
		if (beam.n[0] && is_better(&beam.choice[0][0], &best))
			best = beam.choice[0][0];
		npoint = next_points(s, &beam, point);
	}
	return best;
}

uint32_t plan_segment_of(const struct plan_circuit *c, uint32_t k)
{
	if (k < c->nstage)
		return c->stage[k].segment;
	return c->nstage ? c->stage[c->nstage - 1].segment : 0;
}

/* Bits that are never rank bits, of the product with the most x and y, where these leave too few other bits for the lanes. */
static uint64_t bits_of_products(const struct segments *s)
{
	uint64_t bits = 0, most = 0;

	for (uint32_t k = s->c->nstep; k < s->n; k++)
		if (bits_count(s->targets[k]) > bits_count(most))
			most = s->targets[k];
	if (bits_count(most) + s->nlane > s->nlocal)
		bits = add_bits(0, most, s->nlane);
	return bits;
}

/* Rank bits that are none of the circuit's: of one that has too few. */
static uint64_t spare_rank(const struct plan *pl, const struct plan_circuit *c, unsigned nreal)
{
	unsigned n = pl->nrank_bit - nreal, nbit = plan_stored_bits(pl, c->nbit);

	return n ? ((UINT64_C(1) << n) - 1) << (nbit - n) : 0;
}

static void add_segment(struct plan *pl, struct plan_circuit *c, uint32_t end, uint64_t rank)
{
	*arena_push(&pl->arena, c->segment, c->nsegment) =
		(struct plan_segment){ .end = end, .rank = rank };
}

/* Steps by segments; vectors are prepared first. */
struct cutting {
	struct segments *s;
	struct plan *pl;
	struct plan_circuit *c;
	struct plan_step *order;
	uint32_t norder;
	uint64_t spare;
};

static void cut_segment(struct cutting *t, struct point *p, uint64_t local)
{
	struct segments *s = t->s;
	mem_auto bool *before = copy_done(s, p->done);

	advance(s, p, local);
	for (uint32_t k = 0; k < s->c->nstep; k++)
		if (p->done[k] && !before[k])
			t->order[t->norder++] = s->c->step[k];
	add_segment(t->pl, t->c, t->norder, (s->all & ~local) | t->spare);
}

/* The segments that led to a point. */
static void cut_before(struct cutting *t, struct point *p, const struct point *last)
{
	if (!last->before)
		return;
	cut_before(t, p, last->before);
	cut_segment(t, p, last->local);
}

static void cut(struct cutting *t)
{
	struct segments *s = t->s;
	struct point root = { .local = s->all, .never = s->all }, p;

	root.done = mem_alloc(s->n + (size_t)1, sizeof *root.done);
	for (uint32_t k = 0; k < s->c->nstep; k++)
		if (s->c->step[k].op == STEP_PREPARE) {
			root.done[k] = true;
			t->order[t->norder++] = s->c->step[k];
		}
	struct choice best = search(s, &root);
	p = root;
	p.done = copy_done(s, root.done);
	cut_before(t, &p, best.from);
	cut_segment(t, &p, best.local);
	while (!all_done(s, &p))
		cut_segment(t, &p, first_wanted(s, &p, 0));
	free(p.done);
	free(root.done);
}

/* Products on too many bits are not read in these segments. */
static void leave_out(struct segments *s)
{
	uint32_t n = s->c->nstep;

	for (uint32_t k = n; k < s->n; k++)
		if (bits_count(s->targets[k] | s->always) <= s->nlocal)
			s->targets[n++] = s->targets[k];
	s->n = n;
}

/* What steps and products change and look at. */
static void add_steps(struct segments *s)
{
	const struct plan_circuit *c = s->c;
	size_t n = (size_t)c->nstep + c->nterm;

	s->targets = arena_alloc(&s->arena, n, sizeof *s->targets);
	s->controls = arena_alloc(&s->arena, n, sizeof *s->controls);
	for (; s->n < c->nstep; s->n++) {
		s->targets[s->n] = plan_targets(s->pl, &c->step[s->n]);
		s->controls[s->n] = plan_controls(s->pl, &c->step[s->n]);
	}
	for (uint32_t o = 0; o < c->noutput; o++)
		for (uint32_t t = 0; t < c->output[o].nterm; t++) {
			uint64_t bits = pauli_mask(&c->output[o].term[t]).flip;

			if (bits)
				s->targets[s->n++] = bits;
		}
}

void plan_segments(struct plan *pl, struct plan_circuit *c)
{
	unsigned nreal = pl->nrank_bit, nlane = plan_lane_bits(pl);
	struct segments s = { .pl = pl, .c = c, .all = (UINT64_C(1) << c->nbit) - 1 };

	if (nreal && c->nbit < PLAN_SPLIT_LOCAL_MIN + nreal)
		nreal = c->nbit > PLAN_SPLIT_LOCAL_MIN ? c->nbit - PLAN_SPLIT_LOCAL_MIN : 0;
	if (!nreal) {
		add_segment(pl, c, c->nstep, spare_rank(pl, c, 0));
		return;
	}
	unsigned free_local = plan_stored_bits(pl, c->nbit) - pl->nrank_bit - (c->nbit - nreal);
	struct plan_step *order = arena_alloc(&pl->arena, c->nstep, sizeof *order);

	s.nlocal = c->nbit - nreal;
	s.nlane = nlane > free_local ? nlane - free_local : 0;
	add_steps(&s);
	leave_out(&s);
	s.always = bits_of_products(&s);
	leave_out(&s);
	cut(&(struct cutting){ &s, pl, c, order, 0, spare_rank(pl, c, nreal) });
	arena_release(&s.arena);
	c->step = order;
}
