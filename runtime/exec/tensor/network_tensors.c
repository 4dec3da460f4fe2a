/* SPDX-License-Identifier: Apache-2.0
 * From a light cone to tensors, and to edges with the values that matter. */
#include "runtime/exec/tensor/network_builder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/maths.h"
#include "runtime/base/rng.h"

enum {
	PROBES_KEPT = 1 << 22 /* entries of transfer matrices for random angles */
};

static const double ZERO =
	1e-12; /* entries of a transfer matrix, at most 1, that are smaller are 0 for all weights */

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

/* Any values of the angles that are not constant, whatever they are made of: an entry that is 0 for these is 0 for all. */
void network_fill_probe(struct builder *b, unsigned k)
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

void network_of_cone(struct builder *b, struct network_term *t, const struct cone *cone)
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
