/* SPDX-License-Identifier: Apache-2.0
 * The constraints of constraint.def, and which weights they are for. */
#include "runtime/train/optimizer/constraint.h"

#include <float.h>
#include <math.h>

#include "runtime/train/optimizer/regularizer.h"
#include "runtime/train/option/option_table.h"

/* Keras's backend.epsilon(), which its constraints add to norms that they divide by. */
#define EPSILON 1e-7

static double constrain_max_norm(const double *opt, double norm)
{
	enum { MAX_VALUE };

	return fmin(norm, opt[MAX_VALUE]) / (EPSILON + norm);
}

static double constrain_min_max_norm(const double *opt, double norm)
{
	enum { MIN_VALUE, MAX_VALUE, RATE };
	double wanted = fmin(fmax(norm, opt[MIN_VALUE]), opt[MAX_VALUE]);

	return (opt[RATE] * wanted + (1 - opt[RATE]) * norm) / (EPSILON + norm);
}

static double constrain_unit_norm(const double *opt, double norm)
{
	(void)opt;
	return 1 / (EPSILON + norm);
}

#define constrain_non_neg NULL       /* the sign decides, not a norm */

static const struct constraint_row table[] = {
#define CONSTRAINT(id, text, origin, options) { \
	.name = #id, .doc = text, .source = origin, \
	.noption = OPTION_COUNT_OF(OPTION_ROWS options), .option = { OPTION_ROWS options }, .scale = constrain_##id },
#include "runtime/train/optimizer/constraint.def"
#undef CONSTRAINT
};

TABLE_OF_ROWS(constraint_row, constraint_rows, constraint_find)

/* The dimension that norms are taken along: the last option of rows that have one. */
static unsigned axis_of(const struct constraint *v)
{
	return v->row->scale ? (unsigned)v->option[v->row->noption - 1] : 0;
}

static int check_group(const struct constraint *v, const struct weight_group *g, struct err *e)
{
	unsigned axis = axis_of(v), n = g->ndim ? g->ndim : 1;

	if (axis < n)
		return 0;
	return err_set(e, -ERR_CONFIG, "constraint %s: axis %u of %s, which has %u dimension%s", v->row->name, axis, g->path, n,
		n == 1 ? "" : "s");
}

static int check_one(const struct constraint *v, const struct program *p, struct err *e)
{
	uint32_t found = 0;
	int code = 0;

	if (v->row == constraint_find("min_max_norm") && v->option[0] > v->option[1])
		return err_set(e, -ERR_CONFIG, "constraint min_max_norm: min_value %g is above max_value %g", v->option[0], v->option[1]);
	for (uint32_t g = 0; !code && g < p->nweight_group; g++)
		if (penalty_applies(v->pattern, &p->weight_group[g])) {
			found++;
			code = check_group(v, &p->weight_group[g], e);
		}
	if (!code && !found)
		code = err_set(e, -ERR_CONFIG, "constraint %s: no trainable weights match `%s`",
			v->row->name, v->pattern ? v->pattern : "*");
	return code;
}

int constraint_check(const struct constraint *v, unsigned n, const struct program *p, struct err *e)
{
	int code = 0;

	for (unsigned k = 0; !code && k < n; k++)
		code = check_one(&v[k], p, e);
	return code;
}

/* The vector weight[0], weight[stride], ... of `length` entries. */
static void scale_vector(const struct constraint *v, double *weight, size_t stride, size_t length)
{
	double sum = 0, scale;

	for (size_t i = 0; i < length; i++)
		sum += weight[i * stride] * weight[i * stride];
	scale = v->row->scale(v->option, sqrt(sum));
	for (size_t i = 0; i < length; i++)
		weight[i * stride] *= scale;
}

/* Entries behind the axis have stride 1: the last index runs fastest. */
static void scale_group(const struct constraint *v, const struct weight_group *g, double *weight)
{
	unsigned axis = axis_of(v);
	size_t length = g->ndim ? g->dim[axis] : 1, inner = 1;

	for (unsigned k = axis + 1; k < g->ndim; k++)
		inner *= g->dim[k];
	for (size_t outer = 0; length && outer < g->count / (length * inner); outer++)
		for (size_t i = 0; i < inner; i++)
			scale_vector(v, weight + outer * length * inner + i, inner, length);
}

static void drop_negative(double *weight, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(weight[i] >= 0))
			weight[i] = 0;
}

void constraint_apply(const struct constraint *v, unsigned n, const struct program *p, double *weight)
{
	for (unsigned k = 0; k < n; k++)
		for (uint32_t i = 0; i < p->nweight_group; i++) {
			const struct weight_group *g = &p->weight_group[i];

			if (!penalty_applies(v[k].pattern, g))
				continue;
			if (v[k].row->scale)
				scale_group(&v[k], g, weight + g->first);
			else
				drop_negative(weight + g->first, g->count);
		}
}
