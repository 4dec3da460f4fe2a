/* SPDX-License-Identifier: Apache-2.0
 * Values of angle expressions, and derivatives back through them. */
#include "runtime/program/program.h"

#include <math.h>

static double one_operand(enum expr_op op, double a)
{
	switch (op) {
	case EXPR_NEG:    return -a;
	case EXPR_SIN:    return sin(a);
	case EXPR_COS:    return cos(a);
	case EXPR_TAN:    return tan(a);
	case EXPR_ARCSIN: return asin(a);
	case EXPR_ARCCOS: return acos(a);
	case EXPR_ARCTAN: return atan(a);
	case EXPR_EXP:    return exp(a);
	case EXPR_LOG:    return log(a);
	case EXPR_SQRT:   return sqrt(a);
	case EXPR_ABS:    return fabs(a);
	default:          BUG("expression operation %d takes no single operand", (int)op);
	}
}

static double two_operands(enum expr_op op, double a, double b)
{
	switch (op) {
	case EXPR_ADD: return a + b;
	case EXPR_SUB: return a - b;
	case EXPR_MUL: return a * b;
	case EXPR_DIV: return a / b;
	case EXPR_POW: return pow(a, b);
	case EXPR_MIN: return b < a ? b : a;
	case EXPR_MAX: return b > a ? b : a;
	case EXPR_LESS: return a < b;
	default:       BUG("expression operation %d takes no two operands", (int)op);
	}
}

double expr_apply(enum expr_op op, double a, double b)
{
	return expr_noperand(op) == 1 ? one_operand(op, a) : two_operands(op, a, b);
}

void program_eval(const struct program *p, const double *weight, const double *input, double *value)
{
	for (uint32_t i = 0; i < p->nexpr; i++) {
		const struct expr *x = &p->expr[i];
		switch (x->op) {
		case EXPR_CONST:  value[i] = x->value; break;
		case EXPR_WEIGHT: value[i] = weight[x->a]; break;
		case EXPR_INPUT:  value[i] = input ? input[x->a] : 0; break;
		case EXPR_DRAW: value[i] = 1; break;
		default:
			value[i] = expr_noperand(x->op) == 1 ? one_operand(x->op, value[x->a])
				: two_operands(x->op, value[x->a], value[x->b]);
		}
	}
}

/* The first angle of matrix m that is not finite, or INDEX_NONE; bad[]: those of the matrices before, which it may refer to. */
static uint32_t angle_not_finite(const struct matrix *m, const double *value, const uint32_t *bad)
{
	uint32_t found = INDEX_NONE;

	for (uint32_t i = 0; i < m->nitem && found == INDEX_NONE; i++) {
		const struct item *it = &m->item[i];
		if (it->gate == GATE_NONE) {
			found = bad[it->ref];
			continue;
		}
		for (unsigned k = 0; k < gate_row(it->gate)->nangle && found == INDEX_NONE; k++)
			if (!isfinite(value[it->angle[k]]))
				found = it->angle[k];
	}
	return found;
}

/* The same of an operation of a circuit. */
static uint32_t apply_not_finite(const struct apply *a, const double *value, const uint32_t *bad)
{
	if (a->op == APPLY_UNITARY)
		return bad[a->matrix];
	for (uint32_t i = 0; a->op == APPLY_AMPLITUDES && i < a->nexpr; i++)
		if (!isfinite(value[a->expr[i]]))
			return a->expr[i];
	return INDEX_NONE;
}

/* The operation of finite operands from which expression i got a value that is not. */
static void print_origin(const struct program *p, const double *value, uint32_t i, struct buf *out)
{
	const struct expr *x = &p->expr[i];
	unsigned n = expr_noperand(x->op);

	while ((n > 0 && !isfinite(value[x->a])) || (n > 1 && !isfinite(value[x->b]))) {
		i = isfinite(value[x->a]) ? x->b : x->a;
		x = &p->expr[i];
		n = expr_noperand(x->op);
	}
	if (n == 0) {
		buf_printf(out, "%s %u is %g", expr_names[x->op], x->a, value[i]);
		return;
	}
	buf_printf(out, "`%s` of %g", expr_names[x->op], value[x->a]);
	if (n > 1)
		buf_printf(out, " and %g", value[x->b]);
	buf_str(out, isnan(value[i]) ? " is not a real number" : " is not finite");
}

void program_not_finite(const struct program *p, const double *value, struct buf *out)
{
	mem_auto uint32_t *bad = mem_alloc((size_t)p->nmatrix + 1, sizeof *bad);

	for (uint32_t m = 0; m < p->nmatrix; m++)
		bad[m] = angle_not_finite(&p->matrix[m], value, bad);
	for (uint32_t c = 0; c < p->ncircuit; c++)
		for (uint32_t k = 0; k < p->circuit[c].napply; k++) {
			const struct apply *a = &p->circuit[c].apply[k];
			uint32_t at = apply_not_finite(a, value, bad);
			if (at == INDEX_NONE)
				continue;
			if (a->span != INDEX_NONE)
				buf_printf(out,
					"line %u, column %u of the model: ", p->span[a->span].line,
					p->span[a->span].column);
			print_origin(p, value, at, out);
			return;
		}
}

/* d value / d operand, where v is the value at a. */
static double derivative_one(enum expr_op op, double a, double v)
{
	switch (op) {
	case EXPR_NEG:    return -1;
	case EXPR_SIN:    return cos(a);
	case EXPR_COS:    return -sin(a);
	case EXPR_TAN:    return 1 + v * v;
	case EXPR_ARCSIN: return 1 / sqrt((1 - a) * (1 + a));
	case EXPR_ARCCOS: return -1 / sqrt((1 - a) * (1 + a));
	case EXPR_ARCTAN: return 1 / (1 + a * a);
	case EXPR_EXP:    return v;
	case EXPR_LOG:    return 1 / a;
	case EXPR_SQRT:   return 0.5 / v;
	case EXPR_ABS:    return (a > 0) - (a < 0);
	default:          BUG("expression operation %d takes no single operand", (int)op);
	}
}

/* The derivatives by both operands; that by an exponent is asked for only where it varies. */
static void derivative_two(enum expr_op op, double a, double b, double v, bool varies, double *da,
	double *db)
{
	switch (op) {
	case EXPR_ADD: *da = 1;     *db = 1; break;
	case EXPR_SUB: *da = 1;     *db = -1; break;
	case EXPR_MUL: *da = b;     *db = a; break;
	case EXPR_DIV: *da = 1 / b; *db = -v / b; break;
	case EXPR_MIN: *db = b < a; *da = 1 - *db; break;
	case EXPR_MAX: *db = b > a; *da = 1 - *db; break;
	case EXPR_LESS: *da = *db = 0; break;
	case EXPR_POW:
		*da = b == 0 ? 0 : b * pow(a, b - 1); /* 0 for b = 0 also at a = 0 */
		*db = !varies || (a == 0 && b > 0) ? 0 : v * log(a);
		break;
	default: BUG("expression operation %d takes no two operands", (int)op);
	}
}

static void push_back(const struct program *p, const struct expr *x, double v, double s,
	const double *value, double *dexpr)
{
	if (expr_noperand(x->op) == 1) {
		dexpr[x->a] += s * derivative_one(x->op, value[x->a], v);
		return;
	}
	/* A constant operand takes no derivative: what it would get may not be finite. */
	bool vary_a = p->expr[x->a].cls != VALUE_CONSTANT, vary_b = p->expr[x->b].cls != VALUE_CONSTANT;
	double da, db;
	derivative_two(x->op, value[x->a], value[x->b], v, vary_b, &da, &db);
	if (vary_a)
		dexpr[x->a] += s * da;
	if (vary_b)
		dexpr[x->b] += s * db;
}

/* Operations whose derivative is infinite at some finite values.  There a derivative of 0 gives 0 * inf, which is no number and
 * stays one, so that the gradient is reported as not finite and not as 0. */
static bool singular(enum expr_op op)
{
	return op == EXPR_SQRT || op == EXPR_POW || op == EXPR_ARCSIN || op == EXPR_ARCCOS;
}

void program_eval_reverse(const struct program *p, const double *value, double *dexpr, double *dweight)
{
	for (uint32_t i = p->nexpr; i-- > 0;) {
		const struct expr *x = &p->expr[i];
		double s = dexpr[i];
		if ((s == 0 && !singular(x->op)) || x->cls == VALUE_CONSTANT)
			continue;
		if (x->op == EXPR_WEIGHT)
			dweight[x->a] += s;
		else if (x->op != EXPR_INPUT && x->op != EXPR_DRAW)
			push_back(p, x, value[i], s, value, dexpr);
	}
}
