/* SPDX-License-Identifier: Apache-2.0
 * Learning and applying the steps of transforms.def. */
#include "config.h"
#include "runtime/data/transform.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/data/pca.h"

enum { SAFE_EXPONENT = 400 };            /* squares of such numbers, and sums of them, are far from the range's ends */

/* The training rows. */
struct sample { const struct dataset *d; const uint32_t *row; uint32_t nrow; };

static const double *row_of(const struct sample *s, uint32_t i)
{
	return s->d->x + (size_t)(s->row ? s->row[i] : i) * s->d->nx;
}

static int values_new(struct transform_step *s, size_t n, struct err *e)
{
	s->value = mem_try(n, sizeof *s->value);
	if (!s->value)
		return err_set(e, -ERR_CONFIG, "no memory for the %zu numbers of data.transform", n);
	s->nvalue = n;
	return 0;
}

/* ---- learning ---- */

static int fit_min_max(const struct transform_wish *w, const struct sample *s, struct transform_step *out, struct err *e)
{
	double low = w->option[0], high = w->option[1], *least, *factor;
	uint32_t n = s->d->nx;
	int code = values_new(out, 2 * (size_t)n + 1, e);

	if (code)
		return code;
	least = out->value;
	factor = least + n;                      /* the largest, until all rows were seen */
	memcpy(least, row_of(s, 0), n * sizeof *least);
	memcpy(factor, least, n * sizeof *least);
	for (uint32_t i = 1; i < s->nrow; i++)
		for (uint32_t j = 0; j < n; j++) {
			double x = row_of(s, i)[j];

			least[j] = x < least[j] ? x : least[j];
			factor[j] = x > factor[j] ? x : factor[j];
		}
	for (uint32_t j = 0; !code && j < n; j++) {
		if (!isfinite(factor[j] - least[j]))
			code = err_set(e, -ERR_BAD_DATA, "%s: column %u (from 0) runs from %g to %g, too far for min_max", s->d->source,
				j, least[j], factor[j]);
		factor[j] = factor[j] > least[j] ? (high - low) / (factor[j] - least[j]) : 0;
	}
	out->value[2 * n] = low;
	return code;
}

static void means(const struct sample *s, double *mean)
{
	uint32_t n = s->d->nx;

	for (uint32_t i = 0; i < s->nrow; i++)
		for (uint32_t j = 0; j < n; j++)
			mean[j] += row_of(s, i)[j];
	for (uint32_t j = 0; j < n; j++)
		mean[j] /= s->nrow;
}

/* Powers of two that bring columns, whose squares would leave the range of double, back to about 1;
 * 1 for the others. */
static void column_scales(const struct sample *s, double *scale)
{
	uint32_t n = s->d->nx;
	int exponent;

	for (uint32_t i = 0; i < s->nrow; i++)
		for (uint32_t j = 0; j < n; j++) {
			double x = fabs(row_of(s, i)[j]);

			scale[j] = x > scale[j] ? x : scale[j];
		}
	for (uint32_t j = 0; j < n; j++) {
		frexp(scale[j], &exponent);
		scale[j] = ldexp(1, abs(exponent) < SAFE_EXPONENT ? 0 : exponent > 1000 ? -1000 : exponent < -1000 ? 1000 : -exponent);
	}
}

/* mean, and the sum of squares about it, of columns times scale. */
static void moments(const struct sample *s, const double *scale, double *mean, double *square)
{
	uint32_t n = s->d->nx;

	for (uint32_t i = 0; i < s->nrow; i++)
		for (uint32_t j = 0; j < n; j++)
			mean[j] += row_of(s, i)[j] * scale[j];
	for (uint32_t j = 0; j < n; j++)
		mean[j] /= s->nrow;
	for (uint32_t i = 0; i < s->nrow; i++)
		for (uint32_t j = 0; j < n; j++) {
			double x = row_of(s, i)[j] * scale[j] - mean[j];

			square[j] += x * x;
		}
}

static int fit_standardize(const struct transform_wish *w, const struct sample *s, struct transform_step *out, struct err *e)
{
	uint32_t n = s->d->nx;
	double *mean, *factor, *scale = mem_try(n, sizeof *scale);
	int code = scale ? values_new(out, 2 * (size_t)n + 1, e) : err_set(e, -ERR_CONFIG, "no memory for %u columns", n);

	(void)w;
	if (!code) {
		mean = out->value;
		factor = mean + n;               /* the sum of squares, until all rows were seen */
		column_scales(s, scale);
		moments(s, scale, mean, factor);
		/* A constant column's mean may be a rounding away from it. */
		for (uint32_t j = 0; j < n; j++) {
			bool constant = !(sqrt(factor[j] / s->nrow) > 1e-14 * fabs(mean[j]));

			factor[j] = constant ? 0 : sqrt(s->nrow / factor[j]) * scale[j];
			mean[j] /= scale[j];
		}
	}
	free(scale);
	return code;
}

static int fit_l2(const struct transform_wish *w, const struct sample *s, struct transform_step *out, struct err *e)
{
	(void)w;
	(void)s;
	return values_new(out, 0, e);
}

static int fit_pca(const struct transform_wish *w, const struct sample *s, struct transform_step *out, struct err *e)
{
	uint32_t n = s->d->nx, k = (uint32_t)w->option[0];
	int code;

	if (n > PCA_COLUMNS_MAX || k > PCA_COMPONENTS_MAX)
		return err_set(e, -ERR_CONFIG, "pca takes at most %d columns and makes at most %d components, not %u and %u",
			PCA_COLUMNS_MAX, PCA_COMPONENTS_MAX, n, k);
	if (!k || k > n || k > s->nrow)
		return err_set(e, -ERR_CONFIG, "pca cannot make %u components of %u rows and %u columns", k, s->nrow, n);
	code = values_new(out, (size_t)n * (k + 1), e);
	if (code)
		return code;
	out->nout = k;
	means(s, out->value);
	code = pca_directions(s->d->x, n, s->row, s->nrow, out->value, k, out->value + n, e);
	if (code)
		err_prefix(e, "%s", s->d->source);
	return code;
}

static const struct {
	const char *name;
	int (*fit)(const struct transform_wish *w, const struct sample *s, struct transform_step *out, struct err *e);
} kinds[TRANSFORM_COUNT] = {
#define TRANSFORM(name, doc, source, options) [TRANSFORM_##name] = { #name, fit_##name },
#include "runtime/data/transforms.def"
#undef TRANSFORM
};

const char *transform_name(enum transform_kind k)
{
	return kinds[k].name;
}

enum transform_kind transform_find(const char *name)
{
	for (int i = 1; i < TRANSFORM_COUNT; i++)
		if (!strcmp(kinds[i].name, name))
			return (enum transform_kind)i;
	return TRANSFORM_NONE;
}

/* ---- applying ---- */

static void apply_affine(const struct transform_step *s, struct dataset *d)
{
	const double *offset = s->value, *factor = offset + s->nin, low = offset[2 * s->nin];

	for (uint32_t i = 0; i < d->nrow; i++) {
		double *x = d->x + (size_t)i * s->nin;

		for (uint32_t j = 0; j < s->nin; j++)
			x[j] = (x[j] - offset[j]) * factor[j] + low;
	}
}

/* Squares that leave the range of double are taken of numbers that a power of two has brought to about 1. */
static void normalize(double *x, uint32_t n)
{
	double sum = 0, largest = 0;
	int exponent;

	for (uint32_t j = 0; j < n; j++)
		sum += x[j] * x[j];
	if (!(sum > ldexp(1, -2 * SAFE_EXPONENT) && sum < ldexp(1, 2 * SAFE_EXPONENT))) {
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

static void apply_l2(const struct transform_step *s, struct dataset *d)
{
	for (uint32_t i = 0; i < d->nrow; i++)
		normalize(d->x + (size_t)i * s->nin, s->nin);
}

static int apply_pca(const struct transform_step *s, struct dataset *d, struct err *e)
{
	double *out = mem_try(d->nrow, s->nout * sizeof *out), *moved = mem_try(s->nin, sizeof *moved);

	if (!out || !moved) {
		free(out);
		free(moved);
		return err_set(e, -ERR_CONFIG, "no memory for %u rows of %u components", d->nrow, s->nout);
	}
	for (uint32_t i = 0; i < d->nrow; i++) {
		for (uint32_t j = 0; j < s->nin; j++)
			moved[j] = d->x[(size_t)i * s->nin + j] - s->value[j];
		for (uint32_t k = 0; k < s->nout; k++)
			out[(size_t)i * s->nout + k] = pca_coordinate(s->nin, s->value + (size_t)s->nin * (k + 1), moved);
	}
	free(moved);
	free(d->x);
	d->x = out;
	d->nx = s->nout;
	return 0;
}

static int check_finite(const struct transform_step *s, const struct dataset *d, struct err *e)
{
	for (size_t i = 0; i < (size_t)d->nrow * d->nx; i++)
		if (!isfinite(d->x[i]))
			return err_set(e, -ERR_BAD_DATA, "%s: %s takes row %zu beyond the range of double", d->source,
				kinds[s->kind].name, i / d->nx);
	return 0;
}

static int apply_step(const struct transform_step *s, struct dataset *d, struct err *e)
{
	int code = 0;

	if (s->nin != d->nx)
		return err_set(e, -ERR_BAD_DATA, "%s: rows of %u numbers, %s was learnt from rows of %u", d->source, d->nx,
			kinds[s->kind].name, s->nin);
	if (s->kind == TRANSFORM_pca)
		code = apply_pca(s, d, e);
	else if (s->kind == TRANSFORM_l2)
		apply_l2(s, d);
	else
		apply_affine(s, d);
	return code ? code : check_finite(s, d, e);
}

int transform_apply(const struct transform *t, struct dataset *d, struct err *e)
{
	int code = 0;

	for (unsigned i = 0; !code && i < t->nstep; i++)
		code = apply_step(&t->step[i], d, e);
	return code;
}

int transform_fit(const struct transform_wish *wish, unsigned n, struct dataset *d, const uint32_t *row,
	uint32_t nrow, struct transform *out, struct err *e)
{
	struct transform t = { .nstep = 0 };
	struct sample s = { d, row, nrow };
	int code = 0;

	if (n > TRANSFORM_STEPS_MAX)
		return err_set(e, -ERR_CONFIG, "%u steps, more than %d", n, TRANSFORM_STEPS_MAX);
	if (!nrow || !d->nx)
		return err_set(e, -ERR_CONFIG, "there are no %s to learn data.transform from", nrow ? "inputs" : "rows");
	while (!code && t.nstep < n) {
		struct transform_step *step = &t.step[t.nstep];

		*step = (struct transform_step){ .kind = wish[t.nstep].kind, .nin = d->nx, .nout = d->nx };
		code = kinds[step->kind].fit(&wish[t.nstep++], &s, step, e);
		if (!code)
			code = apply_step(step, d, e);
	}
	if (code)
		transform_release(&t);
	else
		*out = t;
	return code;
}

void transform_release(struct transform *t)
{
	for (unsigned i = 0; i < t->nstep; i++)
		free(t->step[i].value);
	memset(t, 0, sizeof *t);
}

uint32_t transform_width(const struct transform *t)
{
	return t->nstep ? t->step[0].nin : 0;
}

uint32_t transform_outputs(const struct transform *t)
{
	return t->nstep ? t->step[t->nstep - 1].nout : 0;
}
