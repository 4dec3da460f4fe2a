/* SPDX-License-Identifier: Apache-2.0
 * Rounds of a launch: greedily, each takes the steps whose targets fit into its register bits. */
#include "config.h"
#include "runtime/exec/statevector/cuda/cuda_layout.h"

#include <stdlib.h>
#include <string.h>

/* ---- the tile ---- */

struct tile {
	const struct plan *pl;
	bool twice;
	unsigned nreg, nbit; /* register bits, bits of the tile */
	unsigned nline; /* lowest bits of the index, whose amplitudes are a line of 128 bytes */
	unsigned nstate; /* bits of the unit's index: those of one state, then those of the sample's number */
	unsigned nstored,
		nnear; /* bits of one state's; bits of the sample's number that are tile bits, the highest ones */
	uint8_t from[CUDA_TILE_MAX],
		to[CUDA_TILE_MAX]; /* index bits of the tile bits before and after, the former ascending */
	int8_t at[64];             /* tile bit of a circuit's bit, or -1 */
	int8_t outer[64];          /* its bit in the block's number, or -1 */
	unsigned nouter;
	uint64_t bits; /* of the circuit, with either */
	uint64_t zero; /* of the index: what is 0 before the stage, whatever memory has */
	uint8_t outer_at[CUDA_BITS_MAX]; /* index bits of these */
	/* Split states: places from nlocal on number parts, and are never tile bits; those from nown on number processes. */
	unsigned nlocal, nown;
	uint32_t number; /* of this process */
	uint64_t own,
		one; /* live bits of the circuit at places that number processes; those that are 1 here */
	bool idle; /* another bit there, which is 0 in all blocks, is 1 here */
};

/* Bit 31 of no block's number is 1: what asks for it does nothing. */
static const uint32_t NEVER = UINT32_C(1) << 31;

static uint64_t bit(unsigned b) { return UINT64_C(1) << b; }

static unsigned count(uint64_t bits) { return (unsigned)__builtin_popcountll(bits); }

unsigned cuda_sample_bits(const struct plan *pl, unsigned nbit)
{
	unsigned stored = plan_stored_bits(pl, nbit) - pl->nrank_bit,
		 width = (unsigned)__builtin_ctz(pl->width);

	return stored + width < cuda_tile_bits(pl) ? cuda_tile_bits(pl) - stored : width;
}

/* Places, with those of the sample's bits, which stay where they are. */
static void places(const struct tile *t, const uint8_t *place, uint8_t *all)
{
	for (unsigned b = 0; b < t->nstate; b++)
		all[b] = b < t->nstored ? place[b] : (uint8_t)b;
}

static bool numbers_parts(const struct tile *t, unsigned place)
{
	return place >= t->nlocal && place < t->nstored;
}

/* The bit of the index at a place. */
static uint8_t index_bit(const struct tile *t, unsigned place)
{
	return (uint8_t)(place < t->nstored ? place : place - (t->nstored - t->nown));
}

/* Places before the stage that its blocks have: those in the lanes, and of bits that it works on. */
static uint64_t block_places(const struct tile *t, const struct plan_stage *s, const uint8_t *bit_at)
{
	uint64_t mask = bit(t->nline) - 1;

	for (unsigned k = 0; k < s->nlocal; k++)
		for (unsigned at = 0; at < t->nstate; at++)
			if (bit_at[at] == s->local[k])
				mask |= bit(at < t->nline ? s->place[s->partner[at]] : at);
	return mask;
}

/* Fills the tile up: the lowest places of bits that are not known to be 0, then of others, then those of samples. Both places are
 * the same there. */
static uint64_t fill_tile(const struct tile *t, uint64_t mask, const uint8_t *bit_at, uint64_t nonzero)
{
	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned at = 0; at < t->nstate && count(mask) < t->nbit; at++)
			if (!numbers_parts(t, at) && (pass || (nonzero & bit(bit_at[at]))))
				mask |= bit(at);
	return mask;
}

/* Bits that may be 1 in blocks of the launch. */
static uint64_t live_bits(const struct plan *pl, const struct plan_circuit *c,
	const struct plan_stage *s, bool back)
{
	uint32_t end = s->first + s->count;
	uint64_t live = plan_nonzero(pl, c, end);

	return back ? live | plan_left(pl, c, end) : live;
}

/* Bit b of the circuit numbers processes, by the place where it is. */
static void put_own(struct tile *t, unsigned b, unsigned place, uint64_t live)
{
	uint64_t one = (uint64_t)(t->number >> (place - t->nown) & 1) << b;

	t->own |= live & bit(b);
	t->one |= live & one;
	t->idle = t->idle || (one & ~live);
}

static const uint8_t *places_after(const struct tile *t, const struct plan_circuit *c, uint32_t k)
{
	if (t->pl->nrank_bit)
		return c->stage[k].after;
	return k + 1 < c->nstage ? c->stage[k + 1].place : c->place;
}

static void lay_out_tile(struct tile *t, const struct plan_circuit *c, uint32_t k,
	enum cuda_sweep pass, uint64_t stored)
{
	const struct plan_stage *s = &c->stage[k];
	bool back = cuda_goes_back(pass);
	unsigned n = 0;
	uint8_t before[64], after[64], bit_at[64];
	const uint8_t *from = back ? after : before,
		      *to = back && pass != CUDA_TAIL_SUMS ? before : after;
	uint64_t live = live_bits(t->pl, c, s, back), mask, number = 0;

	places(t, s->place, before);
	places(t, places_after(t, c, k), after);
	for (unsigned b = 0; b < t->nstate; b++)
		bit_at[before[b]] = (uint8_t)b;
	mask = fill_tile(t, block_places(t, s, bit_at), bit_at, live);
	memset(t->at, -1, sizeof t->at);
	memset(t->outer, -1, sizeof t->outer);
	for (unsigned b = 0; b < t->nstate; b++)
		if (mask & bit(before[b]))
			number |= bit(from[b]);
	for (unsigned b = 0; b < t->nstate; b++) {
		if (mask & bit(before[b])) {
			unsigned i = count(number & (bit(from[b]) - 1));

			t->at[b] = (int8_t)i;
			t->from[i] = from[b];
			t->to[i] = to[b];
			t->nnear += b >= t->nstored;
			n++;
		} else if (before[b] >= t->nown && before[b] < t->nstored) {
			put_own(t, b, before[b], live);
		} else if (live & bit(b)) {
			t->outer[b] = (int8_t)t->nouter;
			t->outer_at[t->nouter++] = before[b];
		}
	}
	for (unsigned b = 0; b < t->nstored; b++) {
		t->bits |= t->at[b] >= 0 || t->outer[b] >= 0 ? bit(b) : 0;
		t->zero |= stored >> b & 1 ? 0 : bit(before[b]);
	}
	if (n != t->nbit)
		BUG("a block of %u bits in a tile of %u", n, t->nbit);
}

/* ---- what is to be done ---- */

struct pending {
	const struct plan_step *step;
	uint64_t moved, looked;    /* bits of the circuit */
	uint32_t targets, control; /* tile bits: dense targets, controls */
	bool diagonal, of_sample, done;
	bool tail; /* makes lambda; what may be done before has sums of 0 with any lambda */
	unsigned nentry, nsum; /* of its matrix; sums that it makes */
	/* Of these, those in the launch's arguments, and sums of a block: none where each sample has its own. */
	unsigned nentry_near, nsum_near;
};

struct todo {
	struct tile t;
	enum cuda_sweep pass;
	bool back;
	struct pending *item;
	uint32_t n, left;
	/* Of the launch so far. Entries and sums of each sample are as many as its ops have. */
	unsigned nop, nentry, nsum;
};

/* A split state is one sample's; others fill its tiles, with nothing in them. */
static bool has_samples(const struct tile *t)
{
	return t->nstate > t->nstored && !t->pl->nrank_bit;
}

static uint32_t tile_mask(const struct tile *t, uint64_t bits)
{
	uint32_t mask = 0;

	for (; bits; bits &= bits - 1) {
		int at = t->at[__builtin_ctzll(bits)];

		if (at >= 0)
			mask |= UINT32_C(1) << at;
	}
	return mask;
}

/* Does a control ask for 1 of a bit that is 0 in all blocks? */
static bool never_acts(const struct tile *t, const struct plan_step *s)
{
	for (uint64_t ones = s->control_mask & s->control_value; ones; ones &= ones - 1) {
		unsigned b = (unsigned)__builtin_ctzll(ones);

		if (t->at[b] < 0 && t->outer[b] < 0 && !(t->own >> b & 1))
			return true;
	}
	return false;
}

static void add_item(struct todo *w, const struct plan_step *s)
{
	bool diagonal = plan_diagonal(w->t.pl, s), tail = s->tail && w->pass >= CUDA_TAIL_FORWARD;
	struct pending *i = &w->item[w->n];

	if (s->op != STEP_UNITARY || never_acts(&w->t, s))
		return;
	w->n++;
	*i = (struct pending){ .step = s,
		.moved = plan_targets(w->t.pl, s),
		.looked = plan_controls(w->t.pl, s),
		.targets = diagonal ? 0 : tile_mask(&w->t, plan_targets(w->t.pl, s)),
		.control = tile_mask(&w->t, s->control_mask),
		.diagonal = diagonal,
		.of_sample = (tail && w->pass == CUDA_TAIL_BACKWARD)
			|| (has_samples(&w->t)
				&& (tail || w->t.pl->set.def[s->matrix]->cls == VALUE_SAMPLE)),
		.tail = tail,
		.nentry = 1u << (diagonal ? 1 : 2) * s->ntarget };
	if (tail ? w->pass == CUDA_TAIL_SUMS : w->back && s->transition)
		i->nsum = diagonal ? MATRIX_DIM_MAX : i->nentry;
	i->nentry_near = i->of_sample ? 0 : i->nentry;
	i->nsum_near = i->of_sample ? 0 : i->nsum;
}

static void list_items(struct todo *w, const struct plan_circuit *c, const struct plan_stage *s)
{
	uint32_t end = s->first + s->count;

	w->item = mem_alloc(s->count + 1, sizeof *w->item);
	if (w->pass == CUDA_TAIL_SUMS || w->pass == CUDA_TAIL_BACKWARD)
		add_item(w, &c->step[--end]);
	if (w->pass == CUDA_TAIL_FORWARD)
		end--;
	if (w->pass == CUDA_TAIL_SUMS)
		end = s->first;
	if (w->back)
		for (uint32_t k = end; k-- > s->first && k >= c->first_transition;) {
			if (c->step[k].undo || c->step[k].transition)
				add_item(w, &c->step[k]);
		}
	else
		for (uint32_t k = s->first; k < end; k++)
			add_item(w, &c->step[k]);
	w->left = w->n;
}

/* ---- a round ---- */

struct round {
	uint8_t bit[CUDA_TILE_MAX]; /* tile bits: those of the thread's number, then the register's */
	uint32_t n, item[CUDA_OPS_MAX];
	unsigned nentry, nsum;
};

/* While a round is collected: tile bits that are registers, that may become some, and that are controls. */
struct choice {
	uint32_t have, allowed, busy;
	struct held held; /* by steps that were left */
};

static bool fits(const struct todo *w, const struct choice *h, const struct round *r,
	const struct pending *i)
{
	uint32_t have = h->have | i->targets, busy = h->busy | i->control;

	return w->nop + r->n < CUDA_OPS_MAX && w->nsum + r->nsum + i->nsum_near <= CUDA_SUMS_MAX
		&& (w->nentry + r->nentry + i->nentry_near) * (w->t.twice ? 16 : 8) <= CUDA_MATRIX_BYTES
		&& !(i->targets & ~h->have & ~h->allowed) && !(have & busy)
		&& count(have) <= w->t.nreg && count(have | (h->allowed & ~busy)) >= w->t.nreg;
}

static void take(const struct todo *w, struct choice *h, struct round *r, uint32_t k)
{
	const struct pending *i = &w->item[k];

	h->have |= i->targets;
	h->busy |= i->control;
	r->item[r->n++] = k;
	r->nentry += i->nentry_near;
	r->nsum += i->nsum_near;
}

/* Bits of the sample's number. */
static uint32_t sample_mask(const struct tile *t)
{
	return (UINT32_C(1) << t->nbit) - (UINT32_C(1) << (t->nbit - t->nnear));
}

/* The highest tile bits that may be registers; then those of samples, controls last. */
static void fill_registers(const struct tile *t, struct choice *h)
{
	uint32_t later[] = { h->busy | sample_mask(t), h->busy, 0 };

	for (unsigned pass = 0; pass < 3; pass++)
		for (unsigned b = t->nbit; b-- > 0 && count(h->have) < t->nreg;)
			if ((h->allowed & ~later[pass]) >> b & 1)
				h->have |= UINT32_C(1) << b;
}

static uint32_t line_mask(const struct tile *t, const uint8_t *line)
{
	uint32_t mask = 0;

	for (unsigned k = 0; line && k < t->nline; k++)
		mask |= UINT32_C(1) << line[k];
	return mask;
}

/* line: the tile bits of a line of memory, which come first among registers (single precision: one) and threads; or NULL. */
static struct choice begin_round(const struct tile *t, const uint8_t *line, struct round *r)
{
	*r = (struct round){ 0 };
	return (struct choice){ .have = line && !t->twice ? UINT32_C(1) << line[0] : 0,
		.allowed = ((UINT32_C(1) << t->nbit) - 1) & ~line_mask(t, line) };
}

static void number_bits(const struct tile *t, struct choice *h, const uint8_t *line, struct round *r)
{
	unsigned nthread = 0, nreg = CUDA_THREAD_BITS, first = line && !t->twice;

	fill_registers(t, h);
	if (first)
		r->bit[nreg++] = line[0];
	for (unsigned k = first; line && k < t->nline; k++)
		r->bit[nthread++] = line[k];
	for (unsigned b = 0; b < t->nbit; b++)
		if (!(line_mask(t, line) >> b & 1))
			r->bit[h->have >> b & 1 ? nreg++ : nthread++] = (uint8_t)b;
}

/* Steps for one more round of the launch; nothing is marked as done. any: the first one that is left, whatever its controls are. */
static void collect(const struct todo *w, const uint8_t *line, bool any, struct round *r)
{
	struct choice h = begin_round(&w->t, line, r);

	for (uint32_t k = 0; k < w->n; k++) {
		const struct pending *i = &w->item[k];

		if (i->done)
			continue;
		if (!plan_is_held(&h.held, i->moved, i->looked)
			&& (fits(w, &h, r, i) || (any && !r->n)))
			take(w, &h, r, k);
		else
			plan_hold(&h.held, i->moved, i->looked);
	}
	number_bits(&w->t, &h, line, r);
}

static void finish_round(struct todo *w, const struct round *r)
{
	for (uint32_t k = 0; k < r->n; k++)
		w->item[r->item[k]].done = true;
	w->left -= r->n;
	w->nop += r->n;
	w->nentry += r->nentry;
	w->nsum += r->nsum;
}

/* ---- rounds of a launch ---- */

static void find_line(const struct tile *t, const uint8_t *place, uint8_t *line)
{
	for (unsigned i = 0; i < t->nbit; i++)
		if (place[i] < t->nline)
			line[place[i]] = (uint8_t)i;
}

/* Can a round's registers be written as they are, by lines? */
static bool keeps_line(const struct tile *t, const struct round *r, const uint8_t *line)
{
	unsigned first = !t->twice;

	if (first && r->bit[CUDA_THREAD_BITS] != line[0])
		return false;
	return !memcmp(r->bit, line + first, t->nline - first);
}

/* *last: nothing is left. */
static unsigned make_rounds(struct todo *w, struct round *r, bool *last)
{
	const struct tile *t = &w->t;
	uint8_t load[8], save[8], *line;
	unsigned n = 1;

	find_line(t, t->from, load);
	find_line(t, t->to, save);
	collect(w, load, false, &r[0]);
	finish_round(w, &r[0]);
	while (w->left && n < CUDA_ROUNDS_MAX - 1) {
		collect(w, save, false, &r[n]);
		if (r[n].n < w->left)
			collect(w, NULL, false, &r[n]);
		if (!r[n].n && w->nop)
			break; /* the launch is full, or the step needs one of its own */
		if (!r[n].n)
			collect(w, NULL, true, &r[n]);
		finish_round(w, &r[n++]);
	}
	*last = !w->left;
	line = *last ? save : load;
	if (w->pass != CUDA_TAIL_SUMS && !keeps_line(t, &r[n - 1], line)) {
		struct choice h = begin_round(t, line, &r[n]);

		number_bits(t, &h, line, &r[n++]);
	}
	return n;
}

/* ---- arguments ---- */

/* Banks are the lowest bits of a place: 16 of 8 bytes, or 8 of 16. The lowest thread bits of those that write get one bank bit
 * each; those of the readers that are not among them, one that no common bit has, on top of a bit of their own. */
void cuda_layout_exchange(const struct plan *pl, const uint8_t *from, const uint8_t *to,
	uint16_t *put, uint16_t *get)
{
	const unsigned nbank = pl->precision == PRECISION_DOUBLE ? 3 : 4, nbit = cuda_tile_bits(pl);
	uint16_t column[CUDA_TILE_MAX] = { 0 };
	unsigned used = 0, high = nbank;
	uint32_t writers = 0;

	for (unsigned k = 0; k < nbank; k++) {
		writers |= UINT32_C(1) << from[k];
		column[from[k]] = (uint16_t)(1u << k);
	}
	for (unsigned b = 0; b < nbit; b++)
		if (!(writers >> b & 1))
			column[b] = (uint16_t)(1u << high++);
	for (unsigned k = 0; k < nbank; k++)
		if (writers >> to[k] & 1)
			used |= column[to[k]];
	for (unsigned k = 0; k < nbank; k++)
		if (!(writers >> to[k] & 1)) {
			unsigned bank = ~used & (used + 1);

			column[to[k]] |= (uint16_t)bank;
			used |= bank;
		}
	for (unsigned k = 0; k < nbit; k++) {
		put[k] = column[from[k]];
		get[k] = column[to[k]];
	}
}

/* Where a bit of the circuit is in the round: as `at` of a cuda_op. */
static unsigned place_of(const struct tile *t, const struct round *r, unsigned b)
{
	if (t->outer[b] >= 0)
		return CUDA_AT_BLOCK + (unsigned)t->outer[b];
	if (t->at[b] < 0)
		return t->one >> b & 1 ? CUDA_AT_ONE : CUDA_AT_NOWHERE;
	for (unsigned k = 0; k < t->nbit; k++)
		if (r->bit[k] == t->at[b])
			return k;
	BUG("a bit that no round has");
}

static void set_controls(const struct tile *t, const struct round *r, const struct plan_step *s,
	struct cuda_op *o)
{
	for (uint64_t mask = s->control_mask; mask; mask &= mask - 1) {
		unsigned b = (unsigned)__builtin_ctzll(mask), value = s->control_value >> b & 1,
			 at = place_of(t, r, b);

		if (at >= CUDA_AT_ONE) {
			o->block_value |= (at == CUDA_AT_ONE) != value ? NEVER : 0;
		} else if (at >= CUDA_AT_BLOCK) {
			o->block_mask |= UINT32_C(1) << (at - CUDA_AT_BLOCK);
			o->block_value |= value << (at - CUDA_AT_BLOCK);
		} else if (at >= CUDA_AT_REG) {
			o->reg_mask |= (uint8_t)(1u << (at - CUDA_AT_REG));
			o->reg_value |= (uint8_t)(value << (at - CUDA_AT_REG));
		} else {
			o->thread_mask |= (uint8_t)(1u << at);
			o->thread_value |= (uint8_t)(value << at);
		}
	}
}

static void set_diagonal(const struct tile *t, const struct round *r, const struct plan_step *s,
	struct cuda_op *o)
{
	o->ntarget = s->ntarget;
	memset(o->at, CUDA_AT_NOWHERE, sizeof o->at);
	for (unsigned k = 0; k < s->ntarget; k++)
		o->at[k] = (uint8_t)place_of(t, r, s->bit[k]);
}

static void set_targets(const struct tile *t, const struct round *r, const struct plan_step *s,
	struct cuda_op *o, struct cuda_placed *p)
{
	unsigned at[MATRIX_TARGETS_MAX];

	for (unsigned k = 0; k < s->ntarget; k++) {
		at[k] = place_of(t, r, s->bit[k]) - CUDA_AT_REG;
		o->targets |= (uint8_t)(1u << at[k]);
	}
	for (unsigned row = 0; row < 1u << s->ntarget; row++)
		for (unsigned k = 0; k < s->ntarget; k++)
			p->row[row] |=
				(uint8_t)((row >> count(o->targets & ((1u << at[k]) - 1)) & 1) << k);
}

static void set_op(const struct todo *w, const struct round *r, const struct pending *i,
	struct cuda_launch *l)
{
	struct cuda_op *o = &l->args.op[l->nplaced];
	struct cuda_placed *p = &l->placed[l->nplaced++];
	uint16_t *nentry = i->of_sample ? &l->args.nsample_entry : &l->nentry;
	uint16_t *total = i->of_sample ? &l->args.nsample_sum : &l->args.nsum;

	*p = (struct cuda_placed){
		.step = i->step, .op = o, .diagonal = i->diagonal, .back = w->back, .tail = i->tail
	};
	if (i->diagonal)
		set_diagonal(&w->t, r, i->step, o);
	else
		set_targets(&w->t, r, i->step, o, p);
	set_controls(&w->t, r, i->step, o);
	l->makes_lambda = l->makes_lambda || (i->tail && w->pass == CUDA_TAIL_BACKWARD);
	if (i->tail)
		o->undo = w->pass == CUDA_TAIL_BACKWARD ? CUDA_UNDO_LAMBDA : 0;
	else
		o->undo = w->back && i->step->undo ? CUDA_UNDO_PSI | CUDA_UNDO_LAMBDA : 0;
	o->sum = i->nsum ? (int16_t)*total : -1;
	o->entry = *nentry;
	o->of_sample = i->of_sample;
	*total = (uint16_t)(*total + i->nsum);
	*nentry = (uint16_t)(*nentry + i->nentry);
}

/* What the round's bits add to the number of the sample. */
static void set_samples(const struct tile *t, const struct round *r, struct cuda_round *out)
{
	unsigned first = t->nbit - t->nnear, bits = 0;

	for (unsigned k = 0; k < t->nbit; k++)
		if (r->bit[k] >= first) {
			out->sample[k] = (uint16_t)(1u << (r->bit[k] - first));
			bits |= 1u << k;
		}
	out->sample_regs = (uint8_t)(bits >> CUDA_THREAD_BITS);
	out->sample_lanes = bits & 31;
}

static void set_transfers(const struct tile *t, const struct round *first, const struct round *last,
	const uint8_t *to, struct cuda_stage_args *a)
{
	for (unsigned k = 0; k < t->nbit; k++) {
		a->load_at[k] = index_bit(t, t->from[first->bit[k]]);
		a->save_at[k] = index_bit(t, to[last->bit[k]]);
	}
	a->nouter = (uint16_t)t->nouter;
	a->nnear = (uint16_t)t->nnear;
	a->sample_at = index_bit(t, t->nstored + t->nnear);
	memcpy(a->outer, t->outer_at, t->nouter);
}

static bool changes(const struct cuda_launch *l, const struct tile *t, const uint8_t *to)
{
	for (uint32_t k = 0; k < l->nplaced; k++)
		if (l->args.op[k].undo)
			return true;
	return memcmp(t->from, to, t->nbit) != 0;
}

static struct cuda_launch *make_launch(struct todo *w, struct arena *arena)
{
	struct cuda_launch *l = arena_alloc(arena, 1, sizeof *l);
	struct cuda_stage_args *a = &l->args;
	mem_auto struct round *r = mem_alloc(CUDA_ROUNDS_MAX, sizeof *r);
	const uint8_t *to;
	bool last;

	w->nop = w->nentry = w->nsum = 0;
	a->nround = (uint16_t)make_rounds(w, r, &last);
	to = last ? w->t.to : w->t.from;
	for (unsigned n = 0; n < a->nround; n++) {
		a->round[n].first = (uint16_t)l->nplaced;
		a->round[n].count = (uint16_t)r[n].n;
		for (uint32_t k = 0; k < r[n].n; k++)
			set_op(w, &r[n], &w->item[r[n].item[k]], l);
		set_samples(&w->t, &r[n], &a->round[n]);
		if (n)
			cuda_layout_exchange(w->t.pl, r[n - 1].bit, r[n].bit, a->round[n - 1].put,
				a->round[n].get);
	}
	set_transfers(&w->t, &r[0], &r[a->nround - 1], to, a);
	a->save = !w->back || changes(l, &w->t, to);
	l->idle = w->t.idle;
	l->bits = w->t.bits;
	return l;
}

static bool moves_places(const struct tile *t) { return memcmp(t->from, t->to, t->nbit) != 0; }

struct cuda_launch *cuda_layout_stage(const struct plan *pl, const struct plan_circuit *c, uint32_t k,
	enum cuda_sweep pass, uint64_t stored, struct cuda_process process, struct arena *arena)
{
	bool twice = pl->precision == PRECISION_DOUBLE;
	struct todo w = { .t = { .pl = pl,
				  .twice = twice,
				  .nreg = cuda_reg_bits(pl),
				  .nbit = cuda_tile_bits(pl),
				  .nline = twice ? 3 : 4,
				  .nstored = plan_stored_bits(pl, c->nbit),
				  .number = process.number },
		.pass = pass,
		.back = cuda_goes_back(pass) };
	struct cuda_launch *first = NULL, **next = &first;

	w.t.nstate = w.t.nstored + cuda_sample_bits(pl, c->nbit);
	w.t.nlocal = w.t.nstored - pl->nrank_bit;
	w.t.nown = w.t.nstored - process.nbit;
	lay_out_tile(&w.t, c, k, pass, stored);
	list_items(&w, c, &c->stage[k]);
	while (w.left || (!first && moves_places(&w.t))) {
		*next = make_launch(&w, arena);
		if (*next == first && pass >= CUDA_TAIL_BACKWARD)
			first->args.lambda_from =
				pass == CUDA_TAIL_SUMS ? CUDA_LAMBDA_MINUS_I_PSI : CUDA_LAMBDA_PSI;
		next = &(*next)->next;
	}
	if (first && !w.back) {
		first->args.zero = w.t.zero;
		first->args.start = !stored;
	}
	free(w.item);
	return first;
}
