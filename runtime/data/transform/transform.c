/* SPDX-License-Identifier: Apache-2.0
 * Applying the steps of transforms.def. */
#include "runtime/data/transform/transform.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/data/eigen.h"
#include "runtime/data/row_store.h"

static const char *const names[TRANSFORM_COUNT] = {
#define TRANSFORM(name, doc, source, options) [TRANSFORM_##name] = #name,
#include "runtime/data/transform/transforms.def"
#undef TRANSFORM
};

const char *transform_name(enum transform_kind k) { return names[k]; }

enum transform_kind transform_find(const char *name)
{
	for (int i = 1; i < TRANSFORM_COUNT; i++)
		if (!strcmp(names[i], name))
			return (enum transform_kind)i;
	return TRANSFORM_NONE;
}

static void change_affine(const struct transform_step *s, double *x)
{
	const double *offset = s->value, *factor = offset + s->nin, low = offset[2 * s->nin];

	for (uint32_t j = 0; j < s->nin; j++)
		x[j] = (x[j] - offset[j]) * factor[j] + low;
}

/* Squares that leave the range of double are taken of numbers that a power of two has brought to about 1. */
static void change_l2(const struct transform_step *s, double *x)
{
	const uint32_t n = s->nin;
	double sum = 0, largest = 0;
	int exponent;

	for (uint32_t j = 0; j < n; j++)
		sum += x[j] * x[j];
	if (!(sum > ldexp(1, -2 * TRANSFORM_SAFE_EXPONENT) && sum < ldexp(1, 2 * TRANSFORM_SAFE_EXPONENT))) {
		for (uint32_t j = 0; j < n; j++)
			largest = fabs(x[j]) > largest ? fabs(x[j]) : largest;
		frexp(largest, &exponent);
		sum = 0;
		for (uint32_t j = 0; j < n; j++) {
			x[j] = ldexp(x[j], -exponent);
			sum += x[j] * x[j];
		}
	}
	for (uint32_t j = 0; j < n && sum > 0; j++)
		x[j] /= sqrt(sum);
}

/* Not in place: out has fewer numbers. */
static void change_pca(const struct transform_step *s, double *x, double *out)
{
	for (uint32_t j = 0; j < s->nin; j++)
		x[j] -= s->value[j];
	for (uint32_t k = 0; k < s->nout; k++)
		out[k] = eigen_dot(s->nin, s->value + (size_t)s->nin * (k + 1), x);
}

static int change_row(const struct transform_step *s, double *x, double *spare)
{
	bool finite = true;

	if (s->kind == TRANSFORM_pca) {
		change_pca(s, x, spare);
		memcpy(x, spare, s->nout * sizeof *x);
	} else if (s->kind == TRANSFORM_l2) {
		change_l2(s, x);
	} else {
		change_affine(s, x);
	}
	for (uint32_t j = 0; j < s->nout; j++)
		finite &= isfinite(x[j]) != 0;
	return finite ? 0 : -ERR_BAD_DATA;
}

static int out_of_range(const struct transform_step *s, const char *source, size_t row, struct err *e)
{
	return err_set(e, -ERR_BAD_DATA, "%s: %s takes row %zu beyond the range of double", source, names[s->kind], row);
}

/* Rows move together where a step leaves fewer numbers; the memory behind them is given back. */
static int apply_in_memory(const struct transform_step *s, struct dataset *d, struct err *e)
{
	double spare[PCA_COMPONENTS_MAX], *smaller;

	for (uint32_t i = 0; i < d->nrow; i++) {
		double *x = d->x + (size_t)i * s->nin;

		if (change_row(s, x, spare))
			return out_of_range(s, d->source, i, e);
		if (s->nout != s->nin)
			memmove(d->x + (size_t)i * s->nout, x, s->nout * sizeof *x);
	}
	smaller = s->nout < s->nin ? realloc(d->x, (size_t)d->nrow * s->nout * sizeof *d->x) : NULL;
	if (smaller)
		d->x = smaller;
	return 0;
}

/* A row_step_fn; the step's values are the transform's. */
static int change_stored_row(const void *step, double *x, const char *source, size_t row, struct err *e)
{
	double spare[PCA_COMPONENTS_MAX];

	return change_row(step, x, spare) ? out_of_range(step, source, row, e) : 0;
}

static int apply_step(const struct transform_step *s, struct dataset *d, struct err *e)
{
	int code = 0;

	if (s->nin != d->nx)
		return err_set(e, -ERR_BAD_DATA,
			"%s: rows of %u numbers, but %s was fitted to rows of %u", d->source, d->nx,
			names[s->kind], s->nin);
	if (d->rows)
		row_store_through(d->rows, change_stored_row, s, sizeof *s, s->nout);
	else
		code = apply_in_memory(s, d, e);
	if (!code)
		d->nx = s->nout;
	return code;
}

int transform_apply(const struct transform *t, struct dataset *d, struct err *e)
{
	int code = 0;

	for (unsigned i = 0; !code && i < t->nstep; i++)
		code = apply_step(&t->step[i], d, e);
	return code;
}

void transform_release(struct transform *t)
{
	for (unsigned i = 0; i < t->nstep; i++)
		free(t->step[i].value);
	memset(t, 0, sizeof *t);
}

uint32_t transform_width(const struct transform *t) { return t->nstep ? t->step[0].nin : 0; }

uint32_t transform_outputs(const struct transform *t)
{
	return t->nstep ? t->step[t->nstep - 1].nout : 0;
}
