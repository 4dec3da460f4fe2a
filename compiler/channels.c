/* SPDX-License-Identifier: Apache-2.0
 * From probabilities to matrices that a random number chooses. */
#include "compiler/channels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Words that can happen, and the bounds of their parts of [0, 1). */
struct parts {
	unsigned n, word[CHANNEL_WORDS];
	double end[CHANNEL_WORDS];
	bool varies;
	uint32_t varying_end[CHANNEL_WORDS]; /* expressions in place of them */
};

static void find_parts(enum channel c, unsigned nqubit, const double *number, struct parts *p)
{
	double q[CHANNEL_WORDS], sum = 0;

	p->n = 0;
	p->varies = false;
	channel_probabilities(c, nqubit, number, q);
	for (unsigned k = 1; k < CHANNEL_WORDS; k++)
		if (q[k] > 0) {
			p->word[p->n] = channel_word(k);
			sum += q[k];
			p->end[p->n++] =
				fmin(sum, 1); /* 1 is what is drawn where no channel does anything */
		}
	p->word[p->n] = 0;
}

/* Of phase damping, the probability of z. */
static uint32_t damped_phase(struct exprs *x, uint32_t p)
{
	uint32_t one = exprs_const(x, 1), root;

	root = exprs_folded(x, EXPR_SQRT, exprs_folded(x, EXPR_SUB, one, p), 0);
	return exprs_folded(x, EXPR_MUL, exprs_const(x, 0.5), exprs_folded(x, EXPR_SUB, one, root));
}

/* Of word k: a sum of multiples of the numbers. */
static uint32_t varying_probability(struct exprs *x, enum channel c, unsigned nqubit,
	const uint32_t *number, unsigned k)
{
	uint32_t sum = exprs_const(x, 0);

	for (unsigned i = 0; i < channel_row(c)->nnumber; i++) {
		double one[CHANNEL_NUMBERS_MAX] = { 0 }, q[CHANNEL_WORDS];

		one[i] = 1;
		channel_probabilities(c, nqubit, one, q);
		sum = exprs_folded(x, EXPR_ADD, sum,
			exprs_folded(x, EXPR_MUL, exprs_const(x, q[k]), number[i]));
	}
	return sum;
}

static void find_varying_parts(struct exprs *x, enum channel c, unsigned nqubit,
	const uint32_t *number, struct parts *p)
{
	uint32_t sum = exprs_const(x, 0), zero = sum, damped;

	if (c == CHANNEL_PHASE_DAMPING) {
		damped = damped_phase(x, number[0]);
		number = &damped;
		c = CHANNEL_PHASE_FLIP;
	}
	p->n = 0;
	p->varies = true;
	for (unsigned k = 1; k < 1u << 2 * nqubit; k++) {
		uint32_t q = varying_probability(x, c, nqubit, number, k);

		if (q == zero)
			continue;
		sum = exprs_folded(x, EXPR_ADD, sum, q);
		p->word[p->n] = channel_word(k);
		p->varying_end[p->n++] = sum;
	}
	p->word[p->n] = 0;
}

/* 1 below the end of part k. */
static uint32_t below_end(struct exprs *x, uint32_t draw, const struct parts *p, unsigned k)
{
	uint32_t end = p->varies ? p->varying_end[k] : exprs_const(x, p->end[k]);

	return exprs_node(x, EXPR_LESS, draw, end);
}

/* 1 where the number is in the part of a word with this bit: steps at the ends where the bit changes. */
static uint32_t bit_of_word(struct exprs *x, uint32_t draw, const struct parts *p, unsigned bit)
{
	uint32_t sum = exprs_const(x, 0);

	for (unsigned k = p->n; k > 0; k--) {
		bool here = p->word[k - 1] >> bit & 1, next = p->word[k] >> bit & 1;

		if (here != next)
			sum = exprs_folded(x, here ? EXPR_ADD : EXPR_SUB, sum,
				below_end(x, draw, p, k - 1));
	}
	return sum;
}

static void add_power(const struct design *d, struct item *item, uint32_t *n, unsigned qubit,
	uint8_t letter, uint32_t exponent)
{
	if (!exprs_is_const(&d->exprs, exponent, NULL))
		item[(*n)++] = (struct item){ .gate = GATE_PPAULI,
			.word = letter,
			.nwire = 1,
			.wire = { (uint8_t)qubit },
			.angle = { exponent } };
}

static uint32_t add_items(struct design *d, const struct parts *p, unsigned nqubit, uint32_t draw,
	struct item *item)
{
	uint32_t n = 0;

	for (unsigned q = 0; q < nqubit; q++) {
		uint32_t x = bit_of_word(&d->exprs, draw, p, 2 * q);
		uint32_t z = bit_of_word(&d->exprs, draw, p, 2 * q + 1);

		if (x == z) {
			add_power(d, item, &n, q, PAULI_Y, x);
			continue;
		}
		add_power(d, item, &n, q, PAULI_Z, z);
		add_power(d, item, &n, q, PAULI_X, x);
	}
	return n;
}

/* As the language writes it: "depolarizing(0.01)". */
static const char *name_of(struct design *d, enum channel c, const double *number)
{
	buf_auto b = BUF_INIT;

	for (unsigned k = 0; k < channel_row(c)->nnumber; k++) {
		buf_printf(&b, k ? ", " : "%s(", channel_row(c)->name);
		buf_real(&b, number[k]);
	}
	buf_char(&b, ')');
	return arena_strdup(d->arena, b.data);
}

static void add_channel(struct design *d, struct calls *ops, const char *name, unsigned nqubit,
	const struct parts *parts, uint32_t draw)
{
	struct apply p = {
		.op = APPLY_UNITARY, .nwire = (uint16_t)nqubit, .layer = INDEX_NONE, .span = INDEX_NONE
	};
	const uint32_t wire[CHANNEL_QUBITS_MAX] = { 0, 1 };
	struct item item[2 * CHANNEL_QUBITS_MAX];
	uint32_t n = add_items(d, parts, nqubit, exprs_leaf(&d->exprs, EXPR_DRAW, draw), item);

	p.matrix = design_matrix(d, name, nqubit, item, n);
	p.wire = arena_copy(d->arena, wire, nqubit, sizeof *wire);
	calls_add(ops, &p);
}

void build_channel(struct design *d, struct calls *ops, enum channel c, unsigned nqubit,
	const double *number, uint32_t draw)
{
	struct parts parts;

	find_parts(c, nqubit, number, &parts);
	if (parts.n)
		add_channel(d, ops, name_of(d, c, number), nqubit, &parts, draw);
}

void build_varying_channel(struct design *d, struct calls *ops, enum channel c, unsigned nqubit,
	const uint32_t *number, uint32_t draw)
{
	struct parts parts;

	find_varying_parts(&d->exprs, c, nqubit, number, &parts);
	if (parts.n)
		add_channel(d, ops, channel_row(c)->name, nqubit, &parts, draw);
}

static struct item controlled(enum gate gate, uint8_t word, uint8_t control, uint8_t target)
{
	return (struct item){ .gate = gate,
		.word = word,
		.ncontrol = 1,
		.control_ones = 1,
		.nwire = 2,
		.wire = { control, target } };
}

static bool same_gate(const struct item *a, const struct item *b)
{
	return a->gate == b->gate && a->word == b->word && a->ncontrol == b->ncontrol
		&& a->control_ones == b->control_ones && a->wire[0] == b->wire[0]
		&& a->wire[1] == b->wire[1];
}

bool is_damping(const struct matrix *m)
{
	const struct item rotation = controlled(GATE_RPAULI, PAULI_Y, 0, 1),
			  decay = controlled(GATE_PAULI, PAULI_X, 1, 0);
	const char *name = channel_row(CHANNEL_AMPLITUDE_DAMPING)->name;

	return m->name && !strncmp(m->name, name, strlen(name)) && m->nitem == 2
		&& same_gate(&m->item[0], &rotation) && same_gate(&m->item[1], &decay);
}

void build_damping(struct design *d, struct calls *ops, uint32_t p)
{
	struct exprs *x = &d->exprs;
	double constant = NAN;
	bool varies = !exprs_is_const(x, p, &constant);
	uint32_t root = exprs_folded(x, EXPR_SQRT, p, 0);
	uint32_t angle =
		exprs_folded(x, EXPR_MUL, exprs_const(x, 2), exprs_folded(x, EXPR_ARCSIN, root, 0));
	struct item item[] = { controlled(GATE_RPAULI, PAULI_Y, 0, 1),
		controlled(GATE_PAULI, PAULI_X, 1, 0) };
	const uint32_t wire[] = { 0, WIRE_OWN };
	struct apply a = { .op = APPLY_UNITARY, .nwire = 2, .layer = INDEX_NONE, .span = INDEX_NONE };

	if (constant == 0)
		return;
	item[0].angle[0] = angle;
	a.matrix = design_matrix(d,
		varies ? channel_row(CHANNEL_AMPLITUDE_DAMPING)->name
		       : name_of(d, CHANNEL_AMPLITUDE_DAMPING, &constant),
		2, item, 2);
	a.wire = arena_copy(d->arena, wire, 2, sizeof *wire);
	calls_add(ops, &a);
}

bool design_is_channel(const struct design *d, uint32_t matrix)
{
	const struct matrix *m = &d->matrix[matrix];
	const struct item *it = m->item;

	return m->nitem && it->gate == GATE_PPAULI && d->exprs.depends[it->angle[0]] & EXPRS_DRAW;
}

/* The expression with another number of its draw; a few nodes deep. */
static uint32_t with_draw(struct exprs *x, uint32_t e, uint32_t number)
{
	const struct expr node = x->v[e];
	unsigned n = expr_noperand(node.op);

	if (!(x->depends[e] & EXPRS_DRAW))
		return e;
	if (node.op == EXPR_DRAW)
		return exprs_leaf(x, EXPR_DRAW, number);
	uint32_t a = with_draw(x, node.a, number);
	return exprs_node(x, node.op, a, n > 1 ? with_draw(x, node.b, number) : 0);
}

uint32_t channel_use(struct design *d, uint32_t matrix)
{
	struct item item[2 * CHANNEL_QUBITS_MAX];

	if (!design_is_channel(d, matrix))
		return matrix;
	if (d->ndraw == PROGRAM_DRAWS_MAX) {
		d->full = true;
		return matrix;
	}
	const struct matrix m = d->matrix[matrix];
	for (uint32_t i = 0; i < m.nitem; i++) {
		item[i] = m.item[i];
		item[i].angle[0] = with_draw(&d->exprs, item[i].angle[0], d->ndraw);
	}
	d->ndraw++;
	return design_matrix(d, m.name, m.ntarget, item, m.nitem);
}
