/* SPDX-License-Identifier: Apache-2.0
 * Learning the steps of transforms.def from the training rows, in memory or read from their file chunk by chunk. */
#include "runtime/data/transform/transform.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/base/arena.h"
#include "runtime/data/transform/covariance.h"

enum { CHUNK_ROWS = 256 };

/* The training rows. */
struct sample { const struct dataset *d; const uint32_t *row; uint32_t nrow; };

/* Shows the rows one after the other, in the order of the sample. */
typedef void (*visit_fn)(void *ctx, const double *x);

static int each_row(const struct sample *s, visit_fn visit, void *ctx, struct err *e)
{
	const uint32_t nx = s->d->nx;
	int code = 0;

	if (s->d->x) {
		for (uint32_t i = 0; i < s->nrow; i++)
			visit(ctx, s->d->x + (size_t)(s->row ? s->row[i] : i) * nx);
		return 0;
	}
	mem_auto double *chunk = mem_try(CHUNK_ROWS, nx * sizeof *chunk);
	if (!chunk)
		return err_set(e, -ERR_CONFIG, "no memory for %d rows of %u numbers", CHUNK_ROWS, nx);
	for (uint32_t at = 0, n; !code && at < s->nrow; at += n) {
		n = s->nrow - at < CHUNK_ROWS ? s->nrow - at : CHUNK_ROWS;
		code = dataset_rows(s->d, s->row ? s->row + at : NULL, at, n, chunk, e);
		for (uint32_t i = 0; !code && i < n; i++)
			visit(ctx, chunk + (size_t)i * nx);
	}
	return code;
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

struct range { uint32_t n; bool begun; double *least, *largest; };

static void widen(void *ctx, const double *x)
{
	struct range *r = ctx;

	for (uint32_t j = 0; j < r->n; j++) {
		r->least[j] = !r->begun || x[j] < r->least[j] ? x[j] : r->least[j];
		r->largest[j] = !r->begun || x[j] > r->largest[j] ? x[j] : r->largest[j];
	}
	r->begun = true;
}

/* One range for all columns. */
static void join_ranges(uint32_t n, double *least, double *largest)
{
	for (uint32_t j = 1; j < n; j++) {
		least[0] = least[j] < least[0] ? least[j] : least[0];
		largest[0] = largest[j] > largest[0] ? largest[j] : largest[0];
	}
	for (uint32_t j = 1; j < n; j++) {
		least[j] = least[0];
		largest[j] = largest[0];
	}
}

static int fit_min_max(const struct transform_wish *w, const struct sample *s, struct transform_step *out, struct err *e)
{
	double low = w->option[0], high = w->option[1], *least, *factor;
	uint32_t n = s->d->nx;

	if (!(low < high))
		return err_set(e, -ERR_CONFIG, "data.transform: min_max has low %g and high %g; low has to be below high", low, high);
	int code = values_new(out, 2 * (size_t)n + 1, e);
	if (code)
		return code;
	least = out->value;
	factor = least + n;                      /* the largest, until all rows were seen */
	code = each_row(s, widen, &(struct range){ n, false, least, factor }, e);
	if (!code && w->option[2] != 0)
		join_ranges(n, least, factor);
	for (uint32_t j = 0; !code && j < n; j++) {
		if (!isfinite(factor[j] - least[j]))
			code = err_set(e, -ERR_BAD_DATA, "%s: column %u (from 0) runs from %g to %g, too far for min_max", s->d->source,
				j, least[j], factor[j]);
		factor[j] = factor[j] > least[j] ? (high - low) / (factor[j] - least[j]) : 0;
	}
	out->value[2 * n] = low;
	return code;
}

/* Sums over the rows, of columns times scale. */
struct sums { uint32_t n; const double *scale, *mean; double *sum; };

static void add_size(void *ctx, const double *x)
{
	struct sums *s = ctx;

	for (uint32_t j = 0; j < s->n; j++)
		s->sum[j] = fabs(x[j]) > s->sum[j] ? fabs(x[j]) : s->sum[j];
}

static void add_value(void *ctx, const double *x)
{
	struct sums *s = ctx;

	for (uint32_t j = 0; j < s->n; j++)
		s->sum[j] += x[j] * s->scale[j];
}

static void add_square(void *ctx, const double *x)
{
	struct sums *s = ctx;

	for (uint32_t j = 0; j < s->n; j++) {
		double moved = x[j] * s->scale[j] - s->mean[j];

		s->sum[j] += moved * moved;
	}
}

/* Powers of two that bring columns, whose squares would leave the range of double, back to about 1;
 * 1 for the others. */
static int column_scales(const struct sample *s, double *scale, struct err *e)
{
	uint32_t n = s->d->nx;
	int exponent, code = each_row(s, add_size, &(struct sums){ .n = n, .sum = scale }, e);

	for (uint32_t j = 0; j < n; j++) {
		frexp(scale[j], &exponent);
		scale[j] = ldexp(1, abs(exponent) < TRANSFORM_SAFE_EXPONENT ? 0 : exponent > 1000 ? -1000 : exponent < -1000 ? 1000 : -exponent);
	}
	return code;
}

/* The mean of columns times scale. */
static int means(const struct sample *s, const double *scale, double *mean, struct err *e)
{
	uint32_t n = s->d->nx;
	int code = each_row(s, add_value, &(struct sums){ n, scale, NULL, mean }, e);

	for (uint32_t j = 0; j < n; j++)
		mean[j] /= s->nrow;
	return code;
}

static int fit_standardize(const struct transform_wish *w, const struct sample *s, struct transform_step *out, struct err *e)
{
	uint32_t n = s->d->nx;
	double *mean = NULL, *factor = NULL, *scale = mem_try(n, sizeof *scale);
	int code = scale ? values_new(out, 2 * (size_t)n + 1, e) : err_set(e, -ERR_CONFIG, "no memory for %u columns", n);

	(void)w;
	if (!code) {
		mean = out->value;
		factor = mean + n;               /* the sum of squares, until all rows were seen */
		code = column_scales(s, scale, e);
	}
	if (!code)
		code = means(s, scale, mean, e);
	if (!code)
		code = each_row(s, add_square, &(struct sums){ n, scale, mean, factor }, e);
	/* A constant column's mean may be a rounding away from it. */
	for (uint32_t j = 0; !code && j < n; j++) {
		bool constant = !(sqrt(factor[j] / s->nrow) > 1e-14 * fabs(mean[j]));

		factor[j] = constant ? 0 : sqrt(s->nrow / factor[j]) * scale[j];
		mean[j] /= scale[j];
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

static void add_products(void *ctx, const double *x) { covariance_add(ctx, x); }

static int fit_directions(const struct sample *s, struct transform_step *out, struct err *e)
{
	uint32_t n = s->d->nx;
	struct covariance c = { .n = 0 };
	mem_auto double *one = mem_try(n, sizeof *one);
	int code = one ? 0 : err_set(e, -ERR_CONFIG, "no memory for %u columns", n);

	for (uint32_t j = 0; !code && j < n; j++)
		one[j] = 1;
	if (!code)
		code = means(s, one, out->value, e);
	if (!code)
		code = covariance_open(&c, n, out->value, e);
	if (!code)
		code = each_row(s, add_products, &c, e);
	if (!code)
		code = covariance_end(&c, e);
	if (!code)
		code = covariance_directions(&c, out->nout, out->value + n, e);
	if (code)
		err_prefix(e, "%s", s->d->source);
	covariance_release(&c);
	return code;
}

static int fit_pca(const struct transform_wish *w, const struct sample *s, struct transform_step *out, struct err *e)
{
	uint32_t n = s->d->nx, k = (uint32_t)w->option[0];

	if (n > PCA_COLUMNS_MAX || k > PCA_COMPONENTS_MAX)
		return err_set(e, -ERR_CONFIG, "pca takes at most %d columns and makes at most %d components, not %u and %u",
			PCA_COLUMNS_MAX, PCA_COMPONENTS_MAX, n, k);
	if (!k || k > n || k > s->nrow)
		return err_set(e, -ERR_CONFIG, "pca cannot make %u components of %u rows and %u columns", k, s->nrow, n);
	int code = values_new(out, (size_t)n * (k + 1), e);
	if (code)
		return code;
	out->nout = k;
	return fit_directions(s, out, e);
}

static int fit_resize(const struct transform_wish *w, const struct sample *s,
	struct transform_step *out, struct err *e)
{
	double n = s->d->nx, columns = w->option[0], rows = w->option[1],
	       side = columns == 1 ? 1 : floor(sqrt(n) + 0.5);

	if (columns != 1 && side * side != n)
		return err_set(e, -ERR_CONFIG,
			"resize takes square pictures, or with width 1 columns of pixels, not rows of %u numbers",
			s->d->nx);
	if (rows > n / side || columns > side)
		return err_set(e, -ERR_CONFIG,
			"resize makes pictures smaller: %g x %g pixels cannot become %g x %g",
			n / side, side, rows, columns);
	int code = values_new(out, RESIZE_VALUES, e);
	if (code)
		return code;
	out->nout = transform_wish_width(w);
	out->value[RESIZE_ROWS_IN] = n / side;
	out->value[RESIZE_COLUMNS_IN] = side;
	out->value[RESIZE_ROWS] = rows;
	out->value[RESIZE_COLUMNS] = columns;
	out->value[RESIZE_AVERAGE] = w->option[2];
	return 0;
}

static int (*const fits[TRANSFORM_COUNT])(const struct transform_wish *w, const struct sample *s, struct transform_step *out,
	struct err *e) = {
#define TRANSFORM(name, doc, source, options) [TRANSFORM_##name] = fit_##name,
#include "runtime/data/transform/transforms.def"
#undef TRANSFORM
};

int transform_fit(const struct transform_wish *wish, unsigned n, struct dataset *d, const uint32_t *row,
	uint32_t nrow, struct transform *out, struct err *e)
{
	struct transform t = { .nstep = 0 }, one = { .nstep = 1 };
	struct sample s = { d, row, nrow };
	int code = 0;

	if (n > TRANSFORM_STEPS_MAX)
		return err_set(e, -ERR_CONFIG, "%u steps, more than %d", n, TRANSFORM_STEPS_MAX);
	if (!nrow || !d->nx)
		return err_set(e, -ERR_CONFIG, "there are no %s to fit data.transform to",
			nrow ? "inputs" : "rows");
	while (!code && t.nstep < n) {
		struct transform_step *step = &t.step[t.nstep];

		*step = (struct transform_step){ .kind = wish[t.nstep].kind, .nin = d->nx, .nout = d->nx };
		code = fits[step->kind](&wish[t.nstep++], &s, step, e);
		one.step[0] = *step;
		if (!code)
			code = transform_apply(&one, d, e);
	}
	if (code)
		transform_release(&t);
	else
		*out = t;
	return code;
}
