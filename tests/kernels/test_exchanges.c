/* SPDX-License-Identifier: Apache-2.0
 * Exchanges of planned split states against exhaustive search: of small random circuits, the least number of exchanges, and
 * with as many the least bytes.
 *
 * The search tries all sets of local bits in each segment, and knows nothing of the planner: which steps commute follows
 * from the circuit's gates. It has more freedom than the planner, which keeps the bits in the lanes of vectors local. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/comm.h"
#include "runtime/base/rng.h"
#include "runtime/exec/statevector/cpu/cpu_target.h"
#include "runtime/exec/statevector/plan/plan.h"
#include "runtime/exec/statevector/split/split.h"
#include "tests/kernels/build.h"

enum { CIRCUITS = 120, STEPS_MAX = 64 };

/* A circuit as the search sees it: gates in their order, then products of Pauli operators, which are read when all gates are
 * done. A step can be done where the bits that it changes are local and all steps in `after` are done. */
struct steps {
	unsigned nbit, n, ngate;
	uint64_t targets[STEPS_MAX], controls[STEPS_MAX], after[STEPS_MAX];
};

static uint64_t bit(unsigned k) { return UINT64_C(1) << k; }
static unsigned count(uint64_t bits) { return (unsigned)__builtin_popcountll(bits); }

/* ---- random circuits ---- */

struct random_circuit {
	struct build b;
	struct steps s;
	uint64_t seed;
	uint32_t ndraw;
};

static unsigned below(struct random_circuit *r, unsigned n)
{
	return (unsigned)(rng_u64(r->seed, RNG_TEST, 7, r->ndraw++) % n);
}

static void add_gate(struct random_circuit *r, uint32_t matrix, unsigned ncontrol, unsigned nwire,
	const uint32_t *wire, bool diagonal)
{
	struct steps *s = &r->s;

	for (unsigned k = 0; k < nwire; k++)
		*(k < ncontrol || diagonal ? &s->controls[s->n] : &s->targets[s->n]) |= bit(wire[k]);
	s->n++;
	build_controlled(&r->b, 0, matrix, ncontrol, nwire, wire);
}

enum kind { DENSE, CONTROLLED, PHASE, KINDS };

/* A gate on one wire, or on two. */
static void add_random(struct random_circuit *r, unsigned nwire, const uint32_t *wire)
{
	static const struct {
		uint8_t word[2]; /* of a Pauli rotation, on one wire and on two */
		unsigned ncontrol;
	} row[KINDS] = {
		[DENSE] = { { 1, 0x5 }, 0 },
		[CONTROLLED] = { { 2, 2 }, 1 },
		[PHASE] = { { 3, 0xf }, 0 },
	};
	enum kind kind = (enum kind)below(r, KINDS);
	unsigned ncontrol = nwire > 1 ? row[kind].ncontrol : 0;
	uint32_t angle = build_weight(&r->b, 0), matrix;

	if (r->s.n == STEPS_MAX - 4)
		return;
	matrix = build_gate(&r->b, GATE_RPAULI, row[kind].word[nwire - 1], &angle);
	add_gate(r, matrix, ncontrol, nwire, wire, kind == PHASE);
}

static void shuffle(struct random_circuit *r, unsigned n, uint32_t *wire)
{
	for (unsigned k = 0; k < n; k++)
		wire[k] = k;
	for (unsigned k = n; k > 1; k--) {
		unsigned other = below(r, k);
		uint32_t was = wire[k - 1];

		wire[k - 1] = wire[other];
		wire[other] = was;
	}
}

/* Gates on one wire each, then on pairs: of neighbours, or any. */
static void add_layer(struct random_circuit *r, unsigned layer, bool any)
{
	uint32_t wire[16];

	shuffle(r, r->s.nbit, wire);
	for (unsigned k = 0; k < r->s.nbit; k += 1 + below(r, 3))
		add_random(r, 1, &wire[k]);
	shuffle(r, r->s.nbit, wire);
	for (unsigned k = layer % 2; k + 1 < r->s.nbit; k += 2)
		add_random(r, 2, any ? &wire[k] : (uint32_t[]){ k, k + 1 });
}

/* A product of Pauli operators on up to three wires. */
static void add_term(struct random_circuit *r)
{
	struct pauli_factor factor[3];
	struct pauli_term term = { .coefficient = 1, .factor = factor };

	for (unsigned w = below(r, r->s.nbit); w < r->s.nbit && term.nfactor < 3;
		w += 1 + below(r, r->s.nbit)) {
		uint8_t letter = (uint8_t)(1 + below(r, 3));

		factor[term.nfactor++] = (struct pauli_factor){ w, letter };
		r->s.targets[r->s.n] |= letter != 3 ? bit(w) : 0;
	}
	r->s.n++;
	build_pauli(&r->b, 0, 1, &term);
}

/* Which steps wait for which: of two that do not commute by their bits, the later for the earlier. */
static void set_order(struct steps *s)
{
	for (unsigned k = 0; k < s->n; k++)
		for (unsigned j = 0; j < k && j < s->ngate; j++)
			if (k >= s->ngate || (s->targets[j] & (s->targets[k] | s->controls[k]))
				|| (s->controls[j] & s->targets[k]))
				s->after[k] |= bit(j);
}

static struct random_circuit random_circuit(uint64_t seed, unsigned nbit)
{
	struct random_circuit r = { .b = build_new(1, 0, 1), .s = { .nbit = nbit }, .seed = seed };
	unsigned nlayer = 3 + below(&r, 4), nterm = 1 + below(&r, 3);

	build_wires(&r.b, 0, nbit);
	for (unsigned k = 0; k < nlayer; k++)
		add_layer(&r, k, seed % 2);
	r.s.ngate = r.s.n;
	for (unsigned k = 0; k < nterm; k++)
		add_term(&r);
	build_done(&r.b);
	set_order(&r.s);
	return r;
}

/* ---- exhaustive search ---- */

struct exchanges {
	unsigned n;
	double parts; /* sent by each rank, in parts of the state that it holds */
};

/* After some exchanges: the steps that are done, with which local bits, and what was sent. */
struct node {
	uint64_t done, local;
	double parts;
};

struct level {
	struct node *node;
	size_t n, cap;
};

static uint64_t do_all(const struct steps *s, uint64_t done, uint64_t local)
{
	for (unsigned k = 0; k < s->n; k++)
		if (!(s->after[k] & ~done) && !(s->targets[k] & ~local))
			done |= bit(k);
	return done;
}

/* Keep those that no other is as good as. */
static void add_node(struct level *l, struct node x)
{
	size_t n = 0;

	for (size_t k = 0; k < l->n; k++) {
		const struct node *o = &l->node[k];

		if (o->local == x.local && !(x.done & ~o->done) && o->parts <= x.parts)
			return;
	}
	for (size_t k = 0; k < l->n; k++) {
		const struct node *o = &l->node[k];

		if (o->local != x.local || (o->done & ~x.done) || o->parts < x.parts)
			l->node[n++] = *o;
	}
	l->n = n;
	mem_reserve(l->node, l->n, l->cap);
	l->node[l->n++] = x;
}

static bool finished(const struct steps *s, const struct level *l, struct exchanges *best)
{
	bool any = false;

	for (size_t k = 0; k < l->n; k++)
		if (l->node[k].done == bit(s->n) - 1 && (!any || l->node[k].parts < best->parts)) {
			best->parts = l->node[k].parts;
			any = true;
		}
	return any;
}

static struct level next_level(const struct steps *s, const struct level *l, unsigned nlocal)
{
	struct level next = { 0 };

	for (uint64_t local = 0; local < bit(s->nbit); local++)
		for (size_t k = 0; count(local) == nlocal && k < l->n; k++) {
			const struct node *o = &l->node[k];

			if (o->local != local)
				add_node(&next,
					(struct node){ do_all(s, o->done, local), local,
						o->parts + 1
							- ldexp(1, -(int)count(local & ~o->local)) });
		}
	return next;
}

static struct exchanges least(const struct steps *s, unsigned nlocal)
{
	struct level l = { 0 };
	struct exchanges best = { 0 };

	for (uint64_t local = 0; local < bit(s->nbit); local++)
		if (count(local) == nlocal)
			add_node(&l, (struct node){ do_all(s, 0, local), local, 0 });
	for (; !finished(s, &l, &best); best.n++) {
		struct level next = next_level(s, &l, nlocal);

		free(l.node);
		l = next;
	}
	free(l.node);
	return best;
}

/* ---- the planner ---- */

/* false: a product is on more qubits than a part has beside the lanes, and read behind CX gates. */
static bool planned(const struct program *p, const struct plan_options *o, struct exchanges *out)
{
	struct err e = { 0, "" };
	struct plan *pl = plan_new(p, o, &e);
	const struct plan_circuit *c;
	bool swaps = true;

	if (!pl)
		tap_bail("no plan: %s", e.text);
	c = pl->circuit;
	*out = (struct exchanges){ c->nsegment - 1, 0 };
	for (uint32_t k = 1; k < c->nsegment; k++) {
		out->parts += 1 - ldexp(1, -(int)c->segment[k].nswap);
		swaps = swaps && !c->segment[k].flip;
	}
	plan_free(pl);
	return swaps;
}

static void test_against_search(const struct target *target, enum precision precision,
	unsigned nbit, uint32_t nrank)
{
	const struct plan_options o = {
		.precision = precision, .target = target, .split = nrank, .no_fuse = true
	};
	unsigned nlocal = nbit - (unsigned)__builtin_ctz(nrank), ncircuit = 0, nexchange = 0,
		 nless = 0, worst = 0, nmore = 0;
	double ratio = 0;

	for (uint64_t seed = 1; seed <= CIRCUITS; seed++) {
		struct random_circuit r = random_circuit(seed, nbit);
		struct exchanges got, want = least(&r.s, nlocal);

		if (planned(r.b.p, &o, &got)) {
			if (got.n < want.n || (got.n == want.n && got.parts < want.parts - 1e-9)) {
				tap_note("seed %u: %u exchanges of %g, fewer than %u of %g",
					(unsigned)seed, got.n, got.parts, want.n, want.parts);
				nless++;
			}
			ncircuit++;
			nexchange += want.n;
			nmore += got.n > want.n;
			worst = got.n > want.n + worst ? got.n - want.n : worst;
			ratio += want.parts > 0 ? got.parts / want.parts
				: got.parts > 0 ? INFINITY
						: 1;
		}
		program_free(r.b.p);
	}
	ratio /= ncircuit;
	tap_ok(ncircuit > CIRCUITS / 2 && 2 * nexchange > ncircuit && !nless && worst <= 1
			&& ratio <= 1.05,
		"%u qubits, %u ranks, %s, %s: %u circuits of %.2f exchanges at least: at most %u more, in %u of "
		"them, and %.1f %% more bytes",
		nbit, nrank, target->kernels, precision == PRECISION_DOUBLE ? "double" : "single",
		ncircuit, (double)nexchange / ncircuit, worst, nmore, 100 * (ratio - 1));
}

/* Rows of a part, each of which is in one part of a message, or stays; false: one is in none or in two. */
static bool cut_covers(const struct plan_parts *c, unsigned nrow_bit, unsigned own)
{
	uint8_t *seen = calloc((size_t)1 << nrow_bit, 1);
	size_t n = 0, fixed = 0;
	bool ok = true;

	for (size_t k = 0; k < (size_t)1 << nrow_bit; k++) {
		unsigned at = 0;

		for (unsigned b = 0; b < c->nlocal; b++)
			at |= (unsigned)((k >> c->local[b]) & 1) << b;
		n += at != own;
	}
	for (unsigned b = 0; b < c->nlocal; b++)
		fixed |= (size_t)1 << c->local[b];
	for (unsigned b = 0; b < c->npiece; b++)
		fixed |= (size_t)1 << c->piece[b];
	for (size_t set = fixed;; set = (set - 1) & fixed) { /* values of the places that are fixed */
		unsigned at = 0;

		for (unsigned b = 0; b < c->nlocal; b++)
			at |= (unsigned)((set >> c->local[b]) & 1) << b;
		for (size_t part = 0; at != own && part < (size_t)1 << c->nother; part++) {
			size_t first = set;

			for (unsigned b = 0; b < c->nother; b++)
				first |= ((part >> b) & 1) << c->other[b];
			for (size_t run = 0; run < (size_t)1 << c->nbit; run++)
				for (size_t row = 0; row < (size_t)1 << c->run; row++) {
					ok &= !seen[first + (run << c->low) + row]++;
					n--;
				}
		}
		if (!set)
			break;
	}
	free(seen);
	return ok && !n;
}

/* How rows are cut into parts, and how many these are. */
static void test_parts(void)
{
	static const uint8_t high[] = { 18, 19, 20, 21, 22, 23 }, low[] = { 4, 5, 7, 8, 12, 23 },
			     apart[] = { 0, 4, 8, 12, 16, 20 }, piece[] = { 11, 12, 10 };
	struct plan_parts c = plan_exchange_parts(high, 6, NULL, 0, 24);

	tap_is_int(1 << c.npartner, 1, "the highest places: one part for each partner");
	c = plan_exchange_parts(low, 6, NULL, 0, 24);
	tap_ok(c.npartner == 4 && plan_parts_few(&c), "low places: parts beside the longest range");
	tap_is_int(plan_exchange_at_once(high, 6, 24), 6, "few parts are exchanged at once");
	tap_is_int(plan_exchange_at_once(low, 6, 24), 6, "so are these");
	tap_is_int(plan_exchange_at_once(apart, 6, 24), 3,
		"of places that lie apart, those that make few parts");
	tap_is_int(plan_exchange_at_once(apart, 1, 24), 1, "a single bit");
	for (unsigned n = 0; n <= 3; n++) {
		c = plan_exchange_parts(low, 5, piece, n, 14);
		tap_ok(cut_covers(&c, 14, 0) && cut_covers(&c, 14, 13),
			"%u places number pieces: each row that is sent is in one part", n);
	}
}

/* ---- what moves ---- */

enum {
	MOVED_ROWS = 16,
	MOVED_RANKS = 6,
	MOVED_CALLS = 6 /* exchanges at most */
};                      /* as powers of two, the first two */

/* What the ranks give to their exchanges, one rank after the other. */
struct moves {
	unsigned rank, ncall[1 << MOVED_RANKS];
	struct {
		struct comm_part *part;
		unsigned n;
	} call[MOVED_CALLS][1 << MOVED_RANKS];
};

static struct moves moves;

static int take_parts(struct comm *c, const struct comm_part *part, unsigned npart,
	const struct comm_work *work, struct err *e)
{
	unsigned call = moves.ncall[c->rank]++;

	(void)work;
	if (call >= MOVED_CALLS)
		return err_set(e, -ERR_BUG, "more exchanges than places");
	moves.call[call][c->rank].part = mem_alloc(npart, sizeof *part);
	moves.call[call][c->rank].n = npart;
	memcpy(moves.call[call][c->rank].part, part, npart * sizeof *part);
	return 0;
}

static void change_places(const struct comm_part *a, const struct comm_part *b)
{
	for (size_t run = 0; run < a->nrun; run++) {
		char *x = (char *)a->data + run * a->stride_bytes,
		     *y = (char *)b->data + run * b->stride_bytes;

		for (size_t k = 0; k < a->run_bytes; k++) {
			char was = x[k];

			x[k] = y[k];
			y[k] = was;
		}
	}
}

/* The k-th part that one rank has for another meets the k-th that the other has for it; false where they do not. */
static bool meet_parts(unsigned call, unsigned rank, unsigned other)
{
	unsigned n = moves.call[call][rank].n, m = moves.call[call][other].n, at = 0;

	for (unsigned k = 0; k < n; k++) {
		const struct comm_part *a = &moves.call[call][rank].part[k], *b;

		if (a->peer != other)
			continue;
		while (at < m && moves.call[call][other].part[at].peer != rank)
			at++;
		if (at == m)
			return false;
		b = &moves.call[call][other].part[at++];
		if (a->run_bytes != b->run_bytes || a->nrun != b->nrun)
			return false;
		change_places(a, b);
	}
	return true;
}

/* Bits at low places that lie apart change places with those of 64 ranks in more than one exchange: the rows of all ranks lie as they
 * do where one process holds them. */
static void test_moves(unsigned nexchange, const uint8_t *place)
{
	static const struct comm_ops ops = { .exchange = take_parts };
	size_t nrow = (size_t)1 << MOVED_ROWS, nrank = (size_t)1 << MOVED_RANKS;
	uint32_t *rows = mem_alloc(nrow * nrank, sizeof *rows),
		 *whole = mem_alloc(nrow * nrank, sizeof *whole);
	struct plan_swap swap[MOVED_RANKS];
	struct split_state s = { .nbit = MOVED_ROWS + MOVED_RANKS, .row_bytes = sizeof *rows };
	bool met = true;

	moves = (struct moves){ 0 };
	for (size_t k = 0; k < nrow * nrank; k++)
		rows[k] = whole[k] = (uint32_t)k;
	for (unsigned k = 0; k < MOVED_RANKS; k++)
		swap[k] = (struct plan_swap){ (uint8_t)(MOVED_ROWS + k), place[k] };
	for (unsigned k = 0; k < nrank; k++) {
		struct comm c = { .ops = &ops, .rank = k, .size = (unsigned)nrank };
		struct split_rank r = { .rank = k, .nrank = (unsigned)nrank, .comm = &c };

		s.part = rows + k * nrow;
		split_exchange(&r, &s, 1, swap, MOVED_RANKS, (struct split_place){ 0 });
		met = met && !r.code && moves.ncall[k] == moves.ncall[0];
	}
	for (unsigned call = 0; call < moves.ncall[0]; call++)
		for (unsigned k = 0; k < nrank; k++)
			for (unsigned other = 0; other < k; other++)
				met = met && meet_parts(call, k, other);
	s.part = whole;
	split_exchange(NULL, &s, 1, swap, MOVED_RANKS, (struct split_place){ 0 });
	tap_ok(met && !memcmp(rows, whole, nrow * nrank * sizeof *rows),
		"64 ranks move the rows as one process does");
	tap_is_int(moves.ncall[0], nexchange, "in as many exchanges as expected");
	for (unsigned call = 0; call < MOVED_CALLS; call++)
		for (unsigned k = 0; k < nrank; k++)
			free(moves.call[call][k].part);
	free(rows);
	free(whole);
}

int main(void)
{
	const struct target *base = &cpu_target_row[ISA_BASELINE],
			    *wide = &cpu_target_row[ISA_AVX512];

	for (unsigned nbit = 5; nbit <= 7; nbit++)
		for (uint32_t nrank = 2; nrank <= 8 && nbit >= 4u + (unsigned)__builtin_ctz(nrank);
			nrank *= 2) {
			test_against_search(base, PRECISION_DOUBLE, nbit, nrank);
			test_against_search(wide, PRECISION_SINGLE, nbit, nrank);
		}
	test_parts();
	test_moves(1, (const uint8_t[]){ 10, 11, 12, 13, 14, 15 });
	test_moves(1, (const uint8_t[]){ 2, 15, 4, 11, 3, 14 });
	test_moves(2, (const uint8_t[]){ 0, 15, 12, 3, 9, 6 });
	return tap_done();
}
