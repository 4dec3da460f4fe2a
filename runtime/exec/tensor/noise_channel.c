/* SPDX-License-Identifier: Apache-2.0
 * From matrices that a random number chooses to means over that number. */
#include "runtime/exec/tensor/noise_channel.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/maths.h"
#include "runtime/exec/tensor/network.h"

/* Rounding of sums of probabilities. */
static const double ROUNDING = 1e-9;

/* ---- what depends on random numbers ---- */

bool *noise_exprs(const struct program *p)
{
	bool *drawn = mem_alloc((size_t)p->nexpr + 1, sizeof *drawn);

	for (uint32_t i = 0; i < p->nexpr; i++)
		drawn[i] = p->expr[i].op == EXPR_DRAW || expr_has(&p->expr[i], drawn);
	return drawn;
}

/* ---- the form of a channel ---- */

/* An exponent: signs of the comparisons with thresholds. */
struct exponent {
	uint32_t n, threshold[NOISE_WORDS_MAX];
	int sign[NOISE_WORDS_MAX];
};

/* A sum or difference whose last operand is a comparison. */
static bool read_exponent(const struct program *p, const bool *drawn, uint32_t e, uint32_t *draw,
	struct exponent *out)
{
	out->n = 0;
	for (bool more = true; more;) {
		const struct expr *x = &p->expr[e], *less = x;

		more = x->op == EXPR_ADD || x->op == EXPR_SUB;
		if (more)
			less = &p->expr[x->b];
		if (out->n == NOISE_WORDS_MAX || less->op != EXPR_LESS
			|| p->expr[less->a].op != EXPR_DRAW || drawn[less->b])
			return false;
		if (*draw == INDEX_NONE)
			*draw = p->expr[less->a].a;
		if (*draw != p->expr[less->a].a)
			return false;
		out->threshold[out->n] = less->b;
		out->sign[out->n++] = x->op == EXPR_SUB ? -1 : 1;
		e = x->a;
	}
	return true;
}

/* Constants by value, then others: a sum has a larger number than what it is the sum of. */
static bool below(const struct program *p, uint32_t a, uint32_t b)
{
	const struct expr *x = &p->expr[a], *y = &p->expr[b];

	if (x->op == EXPR_CONST && y->op == EXPR_CONST)
		return x->value < y->value;
	return x->op == EXPR_CONST || (y->op != EXPR_CONST && a < b);
}

static bool add_threshold(const struct program *p, struct noise_channel *c, uint32_t e)
{
	unsigned at = 0;

	while (at < c->nword && below(p, c->threshold[at], e))
		at++;
	if (at < c->nword && c->threshold[at] == e)
		return true;
	if (c->nword == NOISE_WORDS_MAX)
		return false;
	memmove(c->threshold + at + 1, c->threshold + at, (c->nword - at) * sizeof *c->threshold);
	c->threshold[at] = e;
	c->nword++;
	return true;
}

/* Constants in [0, 1], then sums, each of the one before and a probability; 0 is no part of a sum. */
static bool thresholds_ascend(const struct program *p, const struct noise_channel *c)
{
	for (unsigned k = 0; k < c->nword; k++) {
		const struct expr *x = &p->expr[c->threshold[k]];
		const struct expr *before = k ? &p->expr[c->threshold[k - 1]] : NULL;
		bool first = !before || (before->op == EXPR_CONST && before->value == 0);

		if (x->op == EXPR_CONST && !(x->value >= 0 && x->value <= 1))
			return false;
		if (x->op != EXPR_CONST && !first
			&& (x->op != EXPR_ADD || x->a != c->threshold[k - 1]))
			return false;
	}
	return true;
}

/* The exponent of item i in each word, from the last on: 0 or 1. */
static bool read_words(struct noise_channel *c, unsigned i, const struct exponent *x)
{
	int value = 0;

	for (unsigned k = c->nword; k-- > 0;) {
		for (uint32_t s = 0; s < x->n; s++)
			value += x->threshold[s] == c->threshold[k] ? x->sign[s] : 0;
		if (value != 0 && value != 1)
			return false;
		c->items[k] |= (uint8_t)(value << i);
	}
	return true;
}

static bool is_letter(const struct item *it)
{
	return it->gate == GATE_PPAULI && !it->ncontrol && it->nwire == 1 && it->word >= PAULI_X
		&& it->word <= PAULI_Z;
}

bool noise_channel_read(const struct program *p, const bool *drawn, uint32_t matrix,
	struct noise_channel *out)
{
	const struct matrix *m = &p->matrix[matrix];
	struct exponent exponent[NOISE_ITEMS_MAX];
	struct noise_channel c = { .matrix = matrix, .draw = INDEX_NONE, .nqubit = m->ntarget };

	if (!m->nitem || m->nitem > NOISE_ITEMS_MAX)
		return false;
	for (; c.nitem < m->nitem; c.nitem++) {
		const struct item *it = &m->item[c.nitem];
		struct exponent *x = &exponent[c.nitem];

		if (!is_letter(it) || !read_exponent(p, drawn, it->angle[0], &c.draw, x))
			return false;
		c.letter[c.nitem] = it->word;
		c.qubit[c.nitem] = it->wire[0];
		for (uint32_t k = 0; k < x->n; k++)
			if (!add_threshold(p, &c, x->threshold[k]))
				return false;
	}
	if (!thresholds_ascend(p, &c))
		return false;
	for (unsigned i = 0; i < c.nitem; i++)
		if (!read_words(&c, i, &exponent[i]))
			return false;
	for (unsigned k = 0; k < c.nword; k++)
		if (p->expr[c.threshold[k]].cls > c.cls)
			c.cls = p->expr[c.threshold[k]].cls;
	*out = c;
	return true;
}

bool noise_channel_same(const struct noise_channel *a, const struct noise_channel *b)
{
	return a->nqubit == b->nqubit && a->nitem == b->nitem && a->nword == b->nword
		&& !memcmp(a->letter, b->letter, a->nitem) && !memcmp(a->qubit, b->qubit, a->nitem)
		&& !memcmp(a->threshold, b->threshold, a->nword * sizeof *a->threshold)
		&& !memcmp(a->items, b->items, a->nword);
}

/* One more than the largest number that is drawn. */
static uint32_t count_draws(const struct program *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->nexpr; i++)
		if (p->expr[i].op == EXPR_DRAW && p->expr[i].a >= n)
			n = p->expr[i].a + 1;
	return n;
}

const char *noise_obstacle(const struct program *p)
{
	mem_auto bool *drawn = noise_exprs(p);
	mem_auto bool *matrix = mem_alloc((size_t)p->nmatrix + 1, sizeof *matrix);
	mem_auto uint32_t *used = mem_alloc((size_t)count_draws(p) + 1, sizeof *used);

	for (uint32_t m = 0; m < p->nmatrix; m++)
		matrix[m] = matrix_has(&p->matrix[m], matrix, drawn);
	for (uint32_t i = 0; i < p->ncircuit; i++)
		for (uint32_t k = 0; k < p->circuit[i].napply; k++) {
			const struct apply *a = &p->circuit[i].apply[k];
			struct noise_channel c;

			if (a->op != APPLY_UNITARY || !matrix[a->matrix])
				continue;
			if (!noise_channel_read(p, drawn, a->matrix, &c))
				return "a random number decides about more than a Pauli word";
			if (used[c.draw] == i + 1)
				return "two noise channels share a random number";
			used[c.draw] = i + 1;
		}
	return NULL;
}

/* ---- probabilities ---- */

bool noise_probabilities(const struct noise_channel *c, const double *value,
	double probability[NOISE_WORDS_MAX + 1])
{
	double before = 0;
	bool good = true;

	for (unsigned k = 0; k <= c->nword; k++) {
		double end = k < c->nword ? value[c->threshold[k]] : 1;

		probability[k] = end - before;
		good &= probability[k] >= -ROUNDING && probability[k] <= 1 + ROUNDING;
		before = end;
	}
	return good;
}

/* ---- transfer matrices ---- */

/* The matrix of word k. */
static void word_matrix(const struct noise_channel *c, unsigned k, cplx *u)
{
	unsigned d = 1u << c->nqubit;

	memset(u, 0, (size_t)d * d * sizeof *u);
	for (unsigned column = 0; column < d; column++) {
		unsigned row = column;
		cplx x = 1;

		for (unsigned i = 0; k < c->nword && i < c->nitem; i++) {
			bool one = row >> c->qubit[i] & 1;

			if (!(c->items[k] >> i & 1))
				continue;
			if (c->letter[i] == PAULI_Z)
				x = one ? -x : x;
			if (c->letter[i] == PAULI_Y)
				x = cplx_mul(x, cplx_of(0, one ? -1 : 1));
			if (c->letter[i] != PAULI_Z)
				row ^= 1u << c->qubit[i];
		}
		u[row * d + column] = x;
	}
}

static void word_transfer(const struct noise_channel *c, const struct transfer *t, unsigned k,
	double *r)
{
	cplx u[MATRIX_ENTRIES_MAX];

	word_matrix(c, k, u);
	transfer_make(t, u, r);
}

void noise_transfer(const struct noise_channel *c, const struct transfer *t,
	const double *probability, double *r)
{
	size_t n = (size_t)1 << (4 * t->nqubit);
	double one[TRANSFER_ENTRIES];

	memset(r, 0, n * sizeof *r);
	for (unsigned k = 0; k <= c->nword; k++) {
		word_transfer(c, t, k, one);
		for (size_t i = 0; i < n; i++)
			r[i] += probability[k] * one[i];
	}
}

/* The gradient with respect to the probability of word k. */
static double word_gradient(const struct noise_channel *c, const struct transfer *t, unsigned k,
	const double *g)
{
	double one[TRANSFER_ENTRIES], sum = 0;

	word_transfer(c, t, k, one);
	for (size_t i = 0; i < (size_t)1 << (4 * t->nqubit); i++)
		sum += g[i] * one[i];
	return sum;
}

void noise_gradient(const struct noise_channel *c, const struct transfer *t, const double *g,
	double *threshold)
{
	double next = word_gradient(c, t, c->nword, g);

	for (unsigned k = c->nword; k-- > 0;) {
		double own = word_gradient(c, t, k, g);

		threshold[k] += own - next;
		next = own;
	}
}
