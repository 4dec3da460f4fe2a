/* SPDX-License-Identifier: Apache-2.0
 * Frequencies of readouts by one weight, counted over the uses of gates. */
#include "runtime/program/spectrum.h"

#include <math.h>

/* Per matrix and whether it stands under a control: the sum of the largest frequencies of its gates;
 * NaN: an angle that is not affine. */
struct counting {
	const struct program *p;
	uint32_t weight;
	double *value,
		*derivative; /* (nexpr) of constant expressions; by the weight, NaN: not constant */
	double (*sum)[2];            /* (nmatrix) */
	bool (*used)[2];
	double base;                 /* what all frequencies so far are multiples of; 0: none yet */
};

static bool is_constant(const struct counting *c, uint32_t expr)
{
	return c->p->expr[expr].cls == VALUE_CONSTANT;
}

static double derivative_of(const struct counting *c, const struct expr *x)
{
	double a = expr_noperand(x->op) > 0 ? c->derivative[x->a] : 0,
	       b = expr_noperand(x->op) > 1 ? c->derivative[x->b] : 0;

	if (x->op == EXPR_WEIGHT)
		return x->a == c->weight;
	if (a == 0 && b == 0)
		return 0;
	switch (x->op) {
	case EXPR_NEG: return -a;
	case EXPR_ADD: return a + b;
	case EXPR_SUB: return a - b;
	case EXPR_MUL:
		if (is_constant(c, x->b))
			return a * c->value[x->b];
		return is_constant(c, x->a) ? c->value[x->a] * b : NAN;
	case EXPR_DIV: return is_constant(c, x->b) ? a / c->value[x->b] : NAN;
	default: return NAN;
	}
}

static void find_derivatives(struct counting *c)
{
	for (uint32_t i = 0; i < c->p->nexpr; i++) {
		const struct expr *x = &c->p->expr[i];

		if (x->op == EXPR_CONST)
			c->value[i] = x->value;
		else if (x->cls == VALUE_CONSTANT)
			c->value[i] = expr_apply(x->op, c->value[x->a], expr_noperand(x->op) > 1 ? c->value[x->b] : 0);
		c->derivative[i] = derivative_of(c, x);
	}
}

/* The greatest common divisor of a > 0 and b, by Euclid's algorithm with room for rounding. */
static double divisor(double a, double b)
{
	const double small = 1e-9 * fmin(a, b);

	while (b > small) {
		double rest = fmod(a, b);

		a = b;
		b = b - rest < small ? 0 : rest;
	}
	return a;
}

/* Of one factor; with `note` the common base is made to divide its frequencies. */
static double sum_of_item(struct counting *c, const struct item *it, bool controlled, bool note)
{
	double sum = 0;

	controlled |= it->ncontrol > 0;
	if (it->gate == GATE_NONE) {
		c->used[it->ref][controlled] |= note;
		return c->sum[it->ref][controlled];
	}
	const struct gate_row *row = gate_row(it->gate);
	for (unsigned k = 0; k < row->nangle; k++) {
		struct gate_frequencies f = gate_shift_frequencies(row->shift[k], controlled);
		double derivative = fabs(c->derivative[it->angle[k]]);

		if (derivative == 0)
			continue;
		sum += derivative * f.w * f.n;
		if (note && isfinite(derivative))
			c->base = divisor(derivative * f.w, c->base);
	}
	return sum;
}

static double sum_of_matrix(struct counting *c, uint32_t m, bool controlled, bool note)
{
	const struct matrix *def = &c->p->matrix[m];
	double sum = 0;

	for (uint32_t i = 0; i < def->nitem; i++)
		sum += sum_of_item(c, &def->item[i], controlled, note);
	return sum;
}

/* The largest frequency in the readouts of one circuit. */
static double sum_of_circuit(struct counting *c, const struct circuit_code *code)
{
	double sum = 0;

	for (uint32_t k = 0; k < code->napply; k++) {
		const struct apply *a = &code->apply[k];

		if (a->op == APPLY_UNITARY) {
			sum += c->sum[a->matrix][a->ncontrol > 0];
			c->used[a->matrix][a->ncontrol > 0] = true;
		}
		for (uint32_t j = 0; a->op == APPLY_AMPLITUDES && j < a->nexpr; j++)
			if (c->derivative[a->expr[j]] != 0)
				return NAN;
	}
	return sum;
}

static double largest(struct counting *c)
{
	double most = 0;

	find_derivatives(c);
	for (uint32_t m = 0; m < c->p->nmatrix; m++)
		for (int k = 0; k < 2; k++)
			c->sum[m][k] = sum_of_matrix(c, m, k, false);
	for (uint32_t k = 0; k < c->p->ncircuit; k++) {
		double sum = sum_of_circuit(c, &c->p->circuit[k]);

		if (isnan(sum))
			return NAN;
		most = fmax(most, sum);
	}
	for (uint32_t m = c->p->nmatrix; m-- > 0; )
		for (int k = 0; k < 2; k++)
			if (c->used[m][k])
				sum_of_matrix(c, m, k, true);
	return most;
}

static int refuse(const struct counting *c, double most, struct err *e)
{
	const struct weight_group *g = &c->p->weight_group[program_weight_group(c->p, c->weight)];

	if (isnan(most))
		return err_set(e, -ERR_CONFIG, "entry %u of weight %s is used in another way than as an angle of gates, plus or times a constant",
			c->weight - g->first, g->path);
	return err_set(e, -ERR_CONFIG, "entry %u of weight %s turns the readouts with more than %d frequencies", c->weight - g->first,
		g->path, SPECTRUM_MAX);
}

int weight_spectrum(const struct program *p, uint32_t i, struct spectrum *out, struct err *e)
{
	mem_list_auto memory = { 0 };
	struct counting c = { .p = p, .weight = i };

	c.value = mem_list_try(&memory, (size_t)p->nexpr + 1, 2 * sizeof *c.value);
	c.sum = mem_list_try(&memory, (size_t)p->nmatrix + 1, sizeof *c.sum);
	c.used = mem_list_try(&memory, (size_t)p->nmatrix + 1, sizeof *c.used);
	if (memory.failed)
		return err_set(e, -ERR_CONFIG, "no memory for the frequencies of %u expressions",
			p->nexpr);
	c.derivative = c.value + p->nexpr;
	double most = largest(&c);
	if (isnan(most) || most > (SPECTRUM_MAX + 0.5) * c.base)
		return refuse(&c, most, e);
	*out = (struct spectrum){ c.base, c.base > 0 ? (uint32_t)lround(most / c.base) : 0 };
	return 0;
}
