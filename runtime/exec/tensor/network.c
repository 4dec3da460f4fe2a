/* SPDX-License-Identifier: Apache-2.0
 * From a program to networks: one for each product of Pauli operators that its readouts are made of. */
#include "runtime/exec/tensor/network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/maths.h"
#include "runtime/base/rng.h"

enum {
	PROBABILITY_QUBITS = 6, /* of one output: 2^6 products of Z */
	TERMS_MAX = 4096,
	GATES_MAX = 1 << 22, /* of all networks: about 1 KiB each */
	PROBES = 2,
	PROBES_KEPT = 1 << 22 /* entries of transfer matrices for random angles */
};

static const double ZERO =
	1e-12; /* entries of a transfer matrix, at most 1, that are smaller are 0 for all weights */

/* ---- lists that are searched ---- */

/* Entries of a list by the hash of what is looked for. */
struct numbers {
	uint32_t first[4096]; /* of each hash, one more than the number of the last entry; 0: none */
	uint32_t *next;       /* (n) of each entry, the same of the one before */
	uint32_t n;
};

static uint64_t hash_step(uint64_t h, uint64_t x)
{
	h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 32;
}

static uint32_t *bucket(struct numbers *x, uint64_t hash)
{
	return &x->first[hash % (sizeof x->first / sizeof *x->first)];
}

/* The entry that is added to the list next. */
static void add_number(struct numbers *x, uint64_t hash, struct arena *a)
{
	*arena_push(a, x->next, x->n) = *bucket(x, hash);
	*bucket(x, hash) = x->n;
}

/* ---- terms ---- */

struct builder {
	struct network_set *s;
	struct arena *a;
	struct arena scratch; /* until all networks are built */
	const struct program *p;
	struct numbers terms, transfers, splits, channels;
	uint32_t ndef;
	const struct matrix **def; /* the program's matrices, and parts of them */
	/* Split matrices: of matrix `of` what acts first on qubit `qubit` alone, and the rest. */
	struct split {
		uint32_t of, qubit, first, rest;
	} * split;
	uint32_t nsplit;
	bool noisy;
	uint32_t *channel; /* (program's nmatrix) number in network_set.channel, or INDEX_NONE */
	/* Sets of random angles, with the transfer matrices that are known so far. */
	struct probe {
		cplx *u;
		double *value;
		double **transfer; /* (ntransfer), or NULL */
		double *other;     /* one that is not kept */
	} probe[PROBES];
	size_t nkept;      /* entries */
	double *zero;      /* weights or inputs */
	struct uses *uses; /* (program's ncircuit) */
};

static bool same_factors(const struct network_term *t, uint32_t circuit, uint32_t n,
	const struct pauli_factor *f)
{
	if (t->circuit != circuit || t->nfactor != n)
		return false;
	for (uint32_t k = 0; k < n; k++)
		if (t->factor[k].wire != f[k].wire || t->factor[k].letter != f[k].letter)
			return false;
	return true;
}

static uint32_t find_term(struct builder *b, uint32_t circuit, uint32_t n,
	const struct pauli_factor *f)
{
	struct network_set *s = b->s;
	uint64_t hash = hash_step(circuit, n);

	for (uint32_t k = 0; k < n; k++)
		hash = hash_step(hash, f[k].wire | (uint64_t)f[k].letter << 32);
	for (uint32_t k = *bucket(&b->terms, hash); k; k = b->terms.next[k - 1])
		if (same_factors(&s->term[k - 1], circuit, n, f))
			return k - 1;
	add_number(&b->terms, hash, &b->scratch);
	struct network_term *t = arena_push(b->a, s->term, s->nterm);
	t->circuit = circuit;
	t->nfactor = n;
	t->factor = arena_copy(b->a, f, n, sizeof *f);
	return s->nterm - 1;
}

/* count readouts from the first on: coefficient[] times the product. */
static void add_parts(struct builder *b, uint32_t readout, uint32_t count, uint32_t circuit,
	uint32_t n, const struct pauli_factor *f, const double *coefficient)
{
	struct network_set *s = b->s;
	uint32_t term = n ? find_term(b, circuit, n, f) : 0;

	for (uint32_t k = 0; k < count; k++)
		if (n)
			*arena_push(b->a, s->part, s->npart) =
				(struct network_part){ readout + k, term, coefficient[k] };
		else
			s->constant[readout + k] += coefficient[k];
}

/* The probability that the qubits have the values of j: 2^-n sum over sets S of (-1)^|j & S| <Z on S>. */
static void add_probabilities(struct builder *b, uint32_t readout, uint32_t circuit,
	const struct output *o)
{
	uint32_t n = 1u << o->nwire;

	for (uint32_t set = 0; set < n; set++) {
		struct pauli_factor f[PROBABILITY_QUBITS];
		double coefficient[1 << PROBABILITY_QUBITS];
		uint32_t nf = 0;

		for (uint32_t w = 0; w < o->nwire; w++)
			if (set >> w & 1)
				f[nf++] = (struct pauli_factor){ o->wire[w], PAULI_Z };
		for (uint32_t j = 0; j < n; j++)
			coefficient[j] = (__builtin_popcount(j & set) & 1 ? -1.0 : 1.0) / n;
		add_parts(b, readout, n, circuit, nf, f, coefficient);
	}
}

static void list_terms(struct builder *b)
{
	uint32_t readout = 0;

	for (uint32_t c = 0; c < b->p->ncircuit; c++)
		for (uint32_t i = 0; i < b->p->circuit[c].noutput; i++) {
			const struct output *o = &b->p->circuit[c].output[i];

			if (o->kind == OUTPUT_PROBS)
				add_probabilities(b, readout, c, o);
			for (uint32_t k = 0; o->kind != OUTPUT_PROBS && k < o->nterm; k++)
				add_parts(b, readout, 1, c, o->term[k].nfactor, o->term[k].factor,
					&o->term[k].coefficient);
			readout += output_nreadout(o);
		}
}

/* ---- matrices ---- */

static uint32_t add_matrix(struct builder *b, const struct matrix *m)
{
	struct matrix *own = arena_copy(b->a, m, 1, sizeof *m);

	b->def = arena_grow(b->a, b->def, b->ndef, sizeof *b->def);
	b->def[b->ndef] = own;
	matrix_derive(b->p, b->def, own);
	return b->ndef++;
}

/* The items of m that act on qubit q alone before anything else acts on it, and the others. */
static struct split split_matrix(struct builder *b, uint32_t m, uint32_t q)
{
	const struct matrix *whole = b->def[m];
	struct item *first = arena_alloc(b->a, whole->nitem + 1, sizeof *first);
	struct item *rest = arena_alloc(b->a, whole->nitem + 1, sizeof *rest);
	uint32_t nfirst = 0, nrest = 0;
	bool touched = false;

	for (uint32_t k = 0; k < whole->nitem; k++) {
		const struct item *it = &whole->item[k];
		bool alone = !touched && it->nwire == 1 && !it->ncontrol && it->wire[0] == q;

		if (alone) {
			first[nfirst] = *it;
			first[nfirst++].wire[0] = 0;
			continue;
		}
		for (unsigned w = 0; w < it->nwire; w++)
			touched |= it->wire[w] == q;
		rest[nrest++] = *it;
	}
	if (!nfirst || !nrest)
		return (struct split){ m, q, INDEX_NONE, m };
	uint32_t at = add_matrix(b,
		&(struct matrix){ .name = whole->name, .ntarget = 1, .nitem = nfirst, .item = first });
	return (struct split){ m, q, at,
		add_matrix(b,
			&(struct matrix){ .name = whole->name,
				.ntarget = whole->ntarget,
				.nitem = nrest,
				.item = rest }) };
}

static struct split find_split(struct builder *b, uint32_t m, uint32_t q)
{
	uint64_t hash = hash_step(m, q);

	for (uint32_t k = *bucket(&b->splits, hash); k; k = b->splits.next[k - 1])
		if (b->split[k - 1].of == m && b->split[k - 1].qubit == q)
			return b->split[k - 1];
	struct split found = split_matrix(b, m, q);
	add_number(&b->splits, hash, &b->scratch);
	*arena_push(&b->scratch, b->split, b->nsplit) = found;
	return found;
}

static uint32_t find_transfer(struct builder *b, const struct transfer *want)
{
	struct network_set *s = b->s;
	uint64_t hash = hash_step(want->matrix, want->adjoint);

	for (uint32_t k = *bucket(&b->transfers, hash); k; k = b->transfers.next[k - 1]) {
		const struct transfer *t = &s->transfer[k - 1];

		if (t->matrix == want->matrix && t->adjoint == want->adjoint
			&& t->ncontrol == want->ncontrol && t->control_ones == want->control_ones)
			return k - 1;
	}
	add_number(&b->transfers, hash, &b->scratch);
	struct transfer *t = arena_push(b->a, s->transfer, s->ntransfer);
	*t = *want;
	t->channel = t->matrix < b->p->nmatrix ? b->channel[t->matrix] : INDEX_NONE;
	t->cls = t->channel == INDEX_NONE ? b->def[t->matrix]->cls : s->channel[t->channel].cls;
	t->offset = s->ntransfer_entry;
	s->ntransfer_entry += (size_t)1 << (4 * t->nqubit);
	return s->ntransfer - 1;
}

/* ---- noise channels ---- */

static uint32_t find_channel(struct builder *b, const struct noise_channel *want)
{
	struct network_set *s = b->s;

	uint64_t hash = hash_step(want->nitem, want->nword);

	for (unsigned k = 0; k < want->nword; k++)
		hash = hash_step(hash, want->threshold[k]);
	for (uint32_t k = *bucket(&b->channels, hash); k; k = b->channels.next[k - 1])
		if (noise_channel_same(&s->channel[k - 1], want))
			return k - 1;
	add_number(&b->channels, hash, &b->scratch);
	*arena_push(b->a, s->channel, s->nchannel) = *want;
	return s->nchannel - 1;
}

static void list_channels(struct builder *b)
{
	mem_auto bool *drawn = noise_exprs(b->p);

	b->channel = arena_alloc(&b->scratch, b->p->nmatrix, sizeof *b->channel);
	for (uint32_t m = 0; m < b->p->nmatrix; m++) {
		struct noise_channel c;

		b->channel[m] =
			noise_channel_read(b->p, drawn, m, &c) ? find_channel(b, &c) : INDEX_NONE;
	}
}

/* ---- gates of a term ---- */

struct gate_use {
	uint32_t transfer;
	uint32_t wire[NETWORK_QUBITS];
	unsigned nwire;
	unsigned last; /* bit w: nothing acts on wire w behind it */
};

/* Gates and channels of a circuit by wire, with the numbers that wires have at its end: from there on back, swaps are undone. */
struct uses {
	uint32_t *first; /* (napply) of each op, the place of its first wire in wire[] and before[] */
	uint32_t *wire;   /* of each wire of an op */
	uint32_t *before; /* the op before it on this wire, or INDEX_NONE */
	uint32_t *last;   /* (nwire) the last op on it, or INDEX_NONE */
};

struct cone {
	struct gate_use *gate; /* the last in time first */
	uint32_t n;
	bool *touched;     /* (nwire) by what is behind; while it is found */
	uint64_t *pending; /* bits of ops on wires that are needed; while it is found */
	bool counted;      /* only n is filled */
};

static bool is_use(const struct builder *b, const struct apply *a)
{
	return a->op == APPLY_UNITARY && (b->noisy || b->channel[a->matrix] == INDEX_NONE);
}

static void list_uses(struct builder *b, const struct circuit_code *c, struct uses *u)
{
	mem_auto uint32_t *at = mem_alloc(c->nwire, sizeof *at);
	mem_auto uint32_t *behind = mem_alloc(c->nwire, sizeof *behind); /* place in before[] */
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->napply; i++)
		n += c->apply[i].op == APPLY_UNITARY ? c->apply[i].nwire : 0;
	u->first = arena_alloc(&b->scratch, (size_t)c->napply + 1, sizeof *u->first);
	u->wire = arena_alloc(&b->scratch, (size_t)n + 1, sizeof *u->wire);
	u->before = arena_alloc(&b->scratch, (size_t)n + 1, sizeof *u->before);
	u->last = arena_alloc(&b->scratch, (size_t)c->nwire + 1, sizeof *u->last);
	memset(u->before, 0xff, n * sizeof *u->before);
	memset(u->last, 0xff, c->nwire * sizeof *u->last);
	memset(behind, 0xff, c->nwire * sizeof *behind);
	for (uint32_t w = 0; w < c->nwire; w++)
		at[w] = w;
	n = 0;
	for (uint32_t i = c->napply; i-- > 0;) {
		const struct apply *a = &c->apply[i];

		if (a->op == APPLY_SWAP) {
			uint32_t x = at[a->wire[0]];

			at[a->wire[0]] = at[a->wire[1]];
			at[a->wire[1]] = x;
		}
		u->first[i] = n;
		for (unsigned w = 0; w < a->nwire && is_use(b, a); w++) {
			uint32_t wire = at[a->wire[w]];

			*(behind[wire] == INDEX_NONE ? &u->last[wire] : &u->before[behind[wire]]) = i;
			behind[wire] = n;
			u->wire[n++] = wire;
		}
	}
}

static void need(struct cone *k, uint32_t op)
{
	if (op != INDEX_NONE)
		k->pending[op / 64] |= UINT64_C(1) << op % 64;
}

static void add_gate(struct builder *b, struct cone *k, const struct apply *a, const uint32_t *wire)
{
	struct gate_use g = { .nwire = a->nwire };
	uint32_t channel = b->channel[a->matrix];

	for (unsigned w = 0; w < a->nwire; w++) {
		g.wire[w] = wire[w];
		g.last |= (unsigned)!k->touched[wire[w]] << w;
	}
	for (unsigned w = 0; w < a->nwire; w++)
		k->touched[wire[w]] = true;
	g.transfer = find_transfer(b,
		&(struct transfer){
			.matrix = channel == INDEX_NONE ? a->matrix : b->s->channel[channel].matrix,
			.adjoint = a->adjoint,
			.ncontrol = (uint8_t)a->ncontrol,
			.nqubit = (uint8_t)a->nwire,
			.control_ones = (uint32_t)(a->control_ones & ((1u << a->ncontrol) - 1)) });
	*arena_push(&b->scratch, k->gate, k->n) = g;
}

/* A qubit that is traced out behind a gate: what acts on it alone first becomes a gate of its own. */
static void split_last(struct builder *b, struct cone *k, const struct apply *a,
	const struct network_term *t)
{
	struct gate_use *g = &k->gate[k->n - 1];

	if (b->s->transfer[g->transfer].channel != INDEX_NONE)
		return;
	for (unsigned w = 0; w < g->nwire; w++) {
		bool read = false;

		for (uint32_t f = 0; f < t->nfactor; f++)
			read |= t->factor[f].wire == g->wire[w];
		if (read || !(g->last >> w & 1) || a->adjoint || a->ncontrol || g->nwire < 2)
			continue;
		uint32_t m = b->s->transfer[g->transfer].matrix;
		struct split s = find_split(b, m, w);
		if (s.first == INDEX_NONE)
			continue;
		struct gate_use first = { .nwire = 1, .wire = { g->wire[w] } };
		first.transfer =
			find_transfer(b, &(struct transfer){ .matrix = s.first, .nqubit = 1 });
		g->transfer = find_transfer(b,
			&(struct transfer){ .matrix = s.rest, .nqubit = (uint8_t)g->nwire });
		*arena_push(&b->scratch, k->gate, k->n) = first;
		return; /* one qubit of a gate: what is traced out */
	}
}

static void find_cone(struct builder *b, const struct network_term *t, struct cone *k)
{
	const struct circuit_code *c = &b->p->circuit[t->circuit];
	struct uses *u = &b->uses[t->circuit];
	mem_auto bool *touched = mem_alloc(c->nwire, sizeof *touched);
	mem_auto uint64_t *pending = mem_alloc((size_t)c->napply / 64 + 1, sizeof *pending);

	if (!u->first)
		list_uses(b, c, u);
	k->touched = touched;
	k->pending = pending;
	for (uint32_t f = 0; f < t->nfactor; f++)
		need(k, u->last[t->factor[f].wire]);
	for (uint32_t word = c->napply / 64 + 1; word-- > 0;)
		while (pending[word]) {
			uint32_t bit = 63 - (uint32_t)__builtin_clzll(pending[word]);
			uint32_t i = 64 * word + bit;
			const struct apply *a = &c->apply[i];

			pending[word] ^= UINT64_C(1) << bit;
			if (k->counted) {
				k->n++;
			} else {
				add_gate(b, k, a, u->wire + u->first[i]);
				split_last(b, k, a, t);
			}
			for (unsigned w = 0; w < a->nwire; w++)
				need(k, u->before[u->first[i] + w]);
		}
}

/* ---- tensors ---- */

enum leg_end { LEG_EDGE, LEG_ZERO, LEG_LETTER };

/* The legs of a gate's tensor before edges are restricted: those behind it first. */
struct raw_leaf {
	struct gate_use gate;
	enum leg_end end[NETWORK_LEGS];
	uint32_t edge[NETWORK_LEGS]; /* number; LETTER: I, X, Y or Z */
};

/* Entries of a transfer matrix for one entry of the tensor, whose digits are those of the edges, in order of the legs. */
static unsigned leaf_entries(const struct raw_leaf *r, const uint8_t *digit, uint16_t *entry)
{
	unsigned nq = r->gate.nwire, n = 0, row = 0, column = 0, zeros = 0;

	for (unsigned l = 0; l < 2 * nq; l++) {
		unsigned d = r->end[l] == LEG_LETTER ? r->edge[l]
			: r->end[l] == LEG_EDGE      ? *digit++
						     : 0;

		zeros |= (unsigned)(r->end[l] == LEG_ZERO) << l;
		if (l < nq)
			row |= d << (2 * l);
		else
			column |= d << (2 * (l - nq));
	}
	zeros >>= nq;
	for (unsigned set = zeros;; set = (set - 1) & zeros) {
		unsigned c = column;

		for (unsigned q = 0; q < nq; q++)
			if (set >> q & 1)
				c |= (unsigned)PAULI_Z << (2 * q);
		entry[n++] = (uint16_t)(row << (2 * nq) | c);
		if (!set)
			return n;
	}
}

/* The digits of entry e of a leaf. */
static bool next_digits(const struct network *n, const struct network_leaf *f, uint32_t *place,
	uint8_t *digit)
{
	uint32_t l = f->nleg;

	while (l-- > 0) {
		const struct network_edge *x = &n->edge[f->leg[l]];

		if (++place[l] < x->nvalue) {
			digit[l] = x->value[place[l]];
			return true;
		}
		place[l] = 0;
		digit[l] = x->value[0];
	}
	return false;
}

static void first_digits(const struct network *n, const struct network_leaf *f, uint32_t *place,
	uint8_t *digit)
{
	for (uint32_t l = 0; l < f->nleg; l++) {
		place[l] = 0;
		digit[l] = n->edge[f->leg[l]].value[0];
	}
}

/* ---- values that matter ---- */

/* Of a channel: the probabilities that are constant, or any. */
static void probe_channel(struct builder *b, unsigned k, const struct transfer *t, double *r)
{
	const struct noise_channel *c = &b->s->channel[t->channel];
	double probability[NOISE_WORDS_MAX + 1];

	noise_probabilities(c, b->probe[k].value, probability);
	for (unsigned w = 0; c->cls != VALUE_CONSTANT && w <= c->nword; w++)
		probability[w] = 1 + rng_uniform(0, RNG_PROBE, b->p->nexpr + w, k);
	noise_transfer(c, t, probability, r);
}

static const double *probe_transfer(struct builder *b, unsigned k, uint32_t transfer)
{
	struct probe *pr = &b->probe[k];
	const struct transfer *t = &b->s->transfer[transfer];
	size_t size = (size_t)1 << (4 * t->nqubit);
	double *r = pr->transfer[transfer];

	if (r)
		return r;
	if (b->nkept < PROBES_KEPT) {
		r = pr->transfer[transfer] = arena_alloc(&b->scratch, size, sizeof *r);
		b->nkept += size;
	} else {
		r = pr->other;
	}
	if (t->channel == INDEX_NONE)
		transfer_make(t, pr->u + b->s->set.offset[t->matrix], r);
	else
		probe_channel(b, k, t, r);
	return r;
}

/* For each leg the digits that some entry needs. */
static void needed_digits(struct builder *b, const struct network *n, const struct network_leaf *f,
	const struct raw_leaf *r, unsigned *needed)
{
	uint32_t place[NETWORK_LEGS];
	uint8_t digit[NETWORK_LEGS];
	const double *m[2] = { probe_transfer(b, 0, f->transfer), probe_transfer(b, 1, f->transfer) };

	memset(needed, 0, NETWORK_LEGS * sizeof *needed);
	first_digits(n, f, place, digit);
	do {
		uint16_t entry[NETWORK_SUM];
		unsigned count = leaf_entries(r, digit, entry);
		double x = 0, y = 0;

		for (unsigned k = 0; k < count; k++) {
			x += m[0][entry[k]];
			y += m[1][entry[k]];
		}
		for (uint32_t l = 0; (fabs(x) > ZERO || fabs(y) > ZERO) && l < f->nleg; l++)
			needed[l] |= 1u << digit[l];
	} while (next_digits(n, f, place, digit));
}

/* Values of the edges of leaf k that it does not need are left out; true: some were. */
static bool restrict_edges(struct builder *b, struct network *n, uint32_t k, const struct raw_leaf *r)
{
	unsigned needed[NETWORK_LEGS];
	bool changed = false;

	needed_digits(b, n, &n->leaf[k], r, needed);
	for (uint32_t l = 0; l < n->leaf[k].nleg; l++) {
		struct network_edge *x = &n->edge[n->leaf[k].leg[l]];
		uint32_t kept = 0;

		for (uint32_t v = 0; v < x->nvalue; v++)
			if (needed[l] >> x->value[v] & 1)
				x->value[kept++] = x->value[v];
		if (!kept) /* the whole is 0: one value is enough to say so */
			kept = 1;
		changed |= kept < x->nvalue;
		x->nvalue = kept;
	}
	return changed;
}

/* Leaves whose edges have lost values are looked at again, the first that did first. */
static void restrict_all(struct builder *b, struct network *n, const struct raw_leaf *raw)
{
	mem_auto bool *queued = mem_alloc(n->nleaf + 1, sizeof *queued);
	mem_auto uint32_t *queue = mem_alloc(n->nleaf + 1, sizeof *queue);
	uint32_t first = 0, count = n->nleaf;

	for (uint32_t k = 0; k < n->nleaf; k++) {
		queue[k] = k;
		queued[k] = true;
	}
	while (count) {
		uint32_t k = queue[first];

		first = (first + 1) % n->nleaf;
		count--;
		queued[k] = false;
		if (!restrict_edges(b, n, k, &raw[k]))
			continue;
		for (uint32_t l = 0; l < 2 * n->leaf[k].nleg; l++) {
			uint32_t other = n->edge[n->leaf[k].leg[l / 2]].leaf[l % 2];

			if (!queued[other])
				queue[(first + count++) % n->nleaf] = other;
			queued[other] = true;
		}
	}
}

static void list_entries(struct builder *b, const struct network *n, struct network_leaf *f,
	const struct raw_leaf *r)
{
	uint32_t place[NETWORK_LEGS], at = 0;
	uint8_t digit[NETWORK_LEGS];
	uint16_t *entry;

	f->size = 1;
	for (uint32_t l = 0; l < f->nleg; l++)
		f->size *= n->edge[f->leg[l]].nvalue;
	f->sum = 1;
	for (unsigned l = 0; l < 2u * r->gate.nwire; l++)
		f->sum *= r->end[l] == LEG_ZERO ? 2 : 1;
	f->entry = entry = arena_alloc(b->a, (size_t)f->size * f->sum, sizeof *entry);
	first_digits(n, f, place, digit);
	do
		at += leaf_entries(r, digit, entry + at);
	while (next_digits(n, f, place, digit));
}

/* ---- one network ---- */

/* Edges of one value join nothing: their values are letters of the legs. The others get new numbers. */
static void drop_edges(struct network *n, struct raw_leaf *raw)
{
	mem_auto uint32_t *number = mem_alloc((size_t)n->nedge + 1, sizeof *number);
	uint32_t nedge = 0;

	for (uint32_t e = 0; e < n->nedge; e++) {
		number[e] = nedge;
		if (n->edge[e].nvalue > 1)
			nedge++;
	}
	for (uint32_t k = 0; k < n->nleaf; k++) {
		struct network_leaf *f = &n->leaf[k];

		f->nleg = 0;
		for (unsigned l = 0; l < 2u * raw[k].gate.nwire; l++) {
			const struct network_edge *x = &n->edge[raw[k].edge[l]];

			if (raw[k].end[l] != LEG_EDGE)
				continue;
			if (x->nvalue > 1) {
				raw[k].edge[l] = number[raw[k].edge[l]];
				f->leg[f->nleg++] = raw[k].edge[l];
			} else {
				raw[k].end[l] = LEG_LETTER;
				raw[k].edge[l] = x->value[0];
			}
		}
	}
	for (uint32_t e = 0; e < n->nedge; e++)
		if (n->edge[e].nvalue > 1)
			n->edge[number[e]] = n->edge[e];
	n->nedge = nedge;
}

static void build_network(struct builder *b, struct network_term *t, const struct cone *cone)
{
	uint32_t nwire = b->p->circuit[t->circuit].nwire;
	struct network *n = &t->network;

	mem_auto uint32_t *open = mem_alloc(nwire + 1, sizeof *open);
	mem_auto struct raw_leaf *raw = mem_alloc(cone->n + 1, sizeof *raw);
	mem_auto uint32_t *end_leg = mem_alloc(nwire + 1, sizeof *end_leg);
	memset(open, 0xff, nwire * sizeof *open);
	n->factor = 1;
	n->nleaf = cone->n;
	n->leaf = arena_alloc(b->a, cone->n, sizeof *n->leaf);
	for (uint32_t k = 0; k < cone->n; k++) {
		struct raw_leaf *r = &raw[k];

		r->gate = cone->gate[cone->n - 1 - k];
		for (unsigned w = 0; w < r->gate.nwire; w++) {
			uint32_t wire = r->gate.wire[w];
			unsigned in = r->gate.nwire + w;

			r->end[in] = open[wire] == INDEX_NONE ? LEG_ZERO : LEG_EDGE;
			if (open[wire] != INDEX_NONE) {
				struct raw_leaf *before = &raw[open[wire]];

				*arena_push(b->a, n->edge, n->nedge) =
					(struct network_edge){ { open[wire], k }, 4, { 0, 1, 2, 3 } };
				r->edge[in] = n->nedge - 1;
				before->end[end_leg[wire]] = LEG_EDGE;
				before->edge[end_leg[wire]] = n->nedge - 1;
			}
			r->end[w] = LEG_LETTER;
			r->edge[w] = 0;
			open[wire] = k;
			end_leg[wire] = w;
		}
	}
	for (uint32_t f = 0; f < t->nfactor; f++) {
		uint32_t wire = t->factor[f].wire;

		if (open[wire] != INDEX_NONE)
			raw[open[wire]].edge[end_leg[wire]] = t->factor[f].letter;
		else if (t->factor[f].letter != PAULI_Z)
			n->factor = 0;
	}
	for (uint32_t k = 0; k < n->nleaf; k++) {
		struct network_leaf *f = &n->leaf[k];

		f->transfer = raw[k].gate.transfer;
		f->by_sample = b->s->transfer[f->transfer].cls == VALUE_SAMPLE;
		for (unsigned l = 0; l < 2u * raw[k].gate.nwire; l++)
			if (raw[k].end[l] == LEG_EDGE)
				f->leg[f->nleg++] = raw[k].edge[l];
	}
	restrict_all(b, n, raw);
	drop_edges(n, raw);
	for (uint32_t k = 0; k < n->nleaf; k++)
		list_entries(b, n, &n->leaf[k], &raw[k]);
}

/* Any values of the angles that are not constant, whatever they are made of: an entry that is 0 for these is 0 for all. */
static void fill_probe(struct builder *b, unsigned k)
{
	struct probe *pr = &b->probe[k];
	double *value = arena_alloc(&b->scratch, b->p->nexpr, sizeof *value);

	pr->other = arena_alloc(&b->scratch, TRANSFER_ENTRIES, sizeof *pr->other);

	pr->value = value;
	program_eval(b->p, b->zero, b->zero, value);
	for (uint32_t i = 0; i < b->p->nexpr; i++)
		if (b->p->expr[i].cls != VALUE_CONSTANT)
			value[i] = 1 + rng_uniform(0, RNG_PROBE, i, k);
	pr->u = arena_alloc(&b->scratch, b->s->set.offset[b->s->set.n], sizeof *pr->u);
	pr->transfer = arena_alloc(&b->scratch, b->s->ntransfer, sizeof *pr->transfer);
	matrix_build(&b->s->set, value, VALUE_CONSTANT, VALUE_SAMPLE, NULL, pr->u, NULL);
}

static void list_matrices(struct builder *b)
{
	uint32_t *offset = arena_alloc(b->a, (size_t)b->ndef + 1, sizeof *offset);

	for (uint32_t m = 0; m < b->ndef; m++)
		offset[m + 1] = offset[m] + matrix_dim(b->def[m]) * matrix_dim(b->def[m]);
	b->s->set =
		(struct matrix_set){ .program = b->p, .def = b->def, .n = b->ndef, .offset = offset };
	matrix_places(&b->s->set, b->a);
}

/* Of terms first to end - 1. */
static bool build_networks(struct builder *b, uint32_t first, uint32_t end,
	bool (*take)(void *ctx, uint32_t term), void *ctx)
{
	mem_auto struct cone *cone = mem_alloc(end + 1, sizeof *cone);
	bool good = true;

	for (uint32_t k = first; k < end; k++)
		find_cone(b, &b->s->term[k], &cone[k]);
	list_matrices(b);
	for (unsigned k = 0; k < PROBES; k++)
		fill_probe(b, k);
	for (uint32_t k = first; k < end && good; k++) {
		build_network(b, &b->s->term[k], &cone[k]);
		good = take(ctx, k);
	}
	return good;
}

/* Lists of the program, before anything is built. */
static struct builder *builder_new(struct network_set *s, const struct program *p, bool noisy,
	struct arena *a)
{
	struct builder *b = mem_alloc(1, sizeof *b);

	b->s = s;
	b->a = a;
	b->p = p;
	b->noisy = noisy;
	*s = (struct network_set){ .program = p };
	s->constant = arena_alloc(a, p->nreadout, sizeof *s->constant);
	list_terms(b);
	list_channels(b);
	b->uses = arena_alloc(&b->scratch, p->ncircuit, sizeof *b->uses);
	return b;
}

bool network_build(struct network_set *s, const struct program *p, bool noisy, struct arena *a,
	bool (*take)(void *ctx, uint32_t term), void *ctx)
{
	mem_auto struct builder *b = builder_new(s, p, noisy, a);

	while (b->ndef < p->nmatrix) {
		b->def = arena_grow(a, b->def, b->ndef, sizeof *b->def);
		b->def[b->ndef] = &p->matrix[b->ndef];
		b->ndef++;
	}
	b->zero = arena_alloc(&b->scratch,
		(size_t)(p->nweight > p->ninput ? p->nweight : p->ninput) + 1, sizeof *b->zero);
	/* The first by itself: most searches that end early end there. */
	uint32_t first = s->nterm > 0;
	bool good = build_networks(b, 0, first, take, ctx)
		&& (first == s->nterm || build_networks(b, first, s->nterm, take, ctx));
	arena_release(&b->scratch);
	return good;
}

/* ---- what can be built ---- */

/* Without a look at light cones where there cannot be. */
static bool too_many_gates(const struct program *p, bool noisy, uint64_t nterm)
{
	uint64_t ngate = 0;
	struct network_set s;
	arena_auto a = { 0 };

	for (uint32_t c = 0; c < p->ncircuit; c++)
		ngate += p->circuit[c].napply;
	if (ngate * nterm <= GATES_MAX)
		return false;
	mem_auto struct builder *b = builder_new(&s, p, noisy, &a);
	ngate = 0;
	for (uint32_t k = 0; k < s.nterm && ngate <= GATES_MAX; k++) {
		struct cone cone = { .counted = true };

		find_cone(b, &s.term[k], &cone);
		ngate += cone.n;
	}
	arena_release(&b->scratch);
	return ngate > GATES_MAX;
}

static const char *apply_obstacle(const struct apply *a)
{
	if (a->op == APPLY_AMPLITUDES || a->op == APPLY_STATE)
		return "qubits are prepared in a state of given amplitudes";
	if (a->op == APPLY_UNITARY && a->nwire > NETWORK_QUBITS)
		return "a gate acts on more than 3 qubits, controls included";
	return NULL;
}

const char *network_obstacle(const struct program *p, bool noisy)
{
	const char *noise = noisy ? noise_obstacle(p) : NULL;
	uint64_t nterm = 0;

	if (noise)
		return noise;

	for (uint32_t c = 0; c < p->ncircuit; c++) {
		const struct circuit_code *code = &p->circuit[c];
		const char *why = NULL;

		for (uint32_t i = 0; i < code->noutput; i++) {
			const struct output *o = &code->output[i];

			if (o->kind == OUTPUT_PROBS && o->nwire > PROBABILITY_QUBITS)
				return "probabilities of more than 6 qubits are read";
			nterm += o->kind == OUTPUT_PROBS ? 1u << o->nwire : o->nterm;
		}
		for (uint32_t k = 0; k < code->napply && !why; k++)
			why = apply_obstacle(&code->apply[k]);
		if (why)
			return why;
	}
	if (nterm > TERMS_MAX)
		return "the readouts have more than 4096 products of Pauli operators";
	return too_many_gates(p, noisy, nterm)
		? "the readouts depend on more than 4194304 gates, those of each product of Pauli operators counted"
		: NULL;
}
