/* SPDX-License-Identifier: Apache-2.0
 * Products of Pauli operators, and the gates that each depends on. */
#include "runtime/exec/tensor/network_builder.h"

#include <stdlib.h>
#include <string.h>

/* ---- lists that are searched ---- */

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

/* Gates and channels of a circuit by wire, with the numbers that wires have at its end: from there on back, swaps are undone. */
struct uses {
	uint32_t *first; /* (napply) of each op, the place of its first wire in wire[] and before[] */
	uint32_t *wire;   /* of each wire of an op */
	uint32_t *before; /* the op before it on this wire, or INDEX_NONE */
	uint32_t *last;   /* (nwire) the last op on it, or INDEX_NONE */
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

void light_cones_begin(struct builder *b)
{
	list_terms(b);
	list_channels(b);
	b->uses = arena_alloc(&b->scratch, b->p->ncircuit, sizeof *b->uses);
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

void light_cone_find(struct builder *b, const struct network_term *t, struct cone *k)
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
