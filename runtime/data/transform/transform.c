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

/* A place between two pixels of a line: numbers from 0 to n - 1. */
struct between {
	uint32_t low, high;
	double part;
};

static struct between between_of(uint32_t k, uint32_t n, uint32_t new_n)
{
	double at = (k + 0.5) * n / new_n - 0.5;
	uint32_t low = (uint32_t)at;

	return (struct between){ low, low + 1 < n ? low + 1 : low, at - low };
}

static double interpolate(const double *x, uint32_t ncolumn, struct between row, struct between column)
{
	const double *upper = x + (size_t)row.low * ncolumn, *lower = x + (size_t)row.high * ncolumn;
	double above = upper[column.low] + (upper[column.high] - upper[column.low]) * column.part;
	double below = lower[column.low] + (lower[column.high] - lower[column.low]) * column.part;

	return above + (below - above) * row.part;
}

/* How much of pixel k lies between begin and end. */
static double share_of(uint32_t k, double begin, double end)
{
	return fmin(k + 1.0, end) - fmax(k, begin);
}

static double average(const double *x, uint32_t ncolumn, const double row[2], const double column[2])
{
	double sum = 0;

	for (uint32_t r = (uint32_t)row[0]; r < row[1]; r++)
		for (uint32_t c = (uint32_t)column[0]; c < column[1]; c++)
			sum += x[(size_t)r * ncolumn + c] * share_of(r, row[0], row[1])
				* share_of(c, column[0], column[1]);
	return sum / ((row[1] - row[0]) * (column[1] - column[0]));
}

/* In place: a pixel depends on none before its own place, since there are fewer rows and columns than before. */
static void change_resize(const struct transform_step *s, double *x)
{
	const uint32_t rows = (uint32_t)s->value[RESIZE_ROWS_IN],
		       columns = (uint32_t)s->value[RESIZE_COLUMNS_IN];
	const uint32_t new_rows = (uint32_t)s->value[RESIZE_ROWS],
		       new_columns = (uint32_t)s->value[RESIZE_COLUMNS];
	double tall = (double)rows / new_rows, wide = (double)columns / new_columns;

	for (uint32_t r = 0; r < new_rows; r++)
		for (uint32_t c = 0; c < new_columns; c++)
			x[(size_t)r * new_columns + c] = s->value[RESIZE_AVERAGE] != 0
				? average(x, columns,
					(double[]){ r * tall, fmin((r + 1) * tall, rows) },
					(double[]){ c * wide, fmin((c + 1) * wide, columns) })
				: interpolate(x, columns, between_of(r, rows, new_rows),
					between_of(c, columns, new_columns));
}

bool transform_resize_fits(const struct transform_step *s)
{
	const double *v = s->value;

	for (int k = 0; k < RESIZE_AVERAGE; k++)
		if (!(v[k] >= 1 && v[k] <= DATASET_COLUMNS_MAX && v[k] == floor(v[k])))
			return false;
	return v[RESIZE_ROWS_IN] * v[RESIZE_COLUMNS_IN] == s->nin
		&& v[RESIZE_ROWS] * v[RESIZE_COLUMNS] == s->nout
		&& v[RESIZE_ROWS] <= v[RESIZE_ROWS_IN] && v[RESIZE_COLUMNS] <= v[RESIZE_COLUMNS_IN];
}

uint32_t transform_wish_width(const struct transform_wish *w)
{
	double n = w->kind == TRANSFORM_pca   ? w->option[0]
		: w->kind == TRANSFORM_resize ? w->option[0] * w->option[1]
					      : 0;

	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

static int change_row(const struct transform_step *s, double *x, double *spare)
{
	bool finite = true;

	if (s->kind == TRANSFORM_pca) {
		change_pca(s, x, spare);
		memcpy(x, spare, s->nout * sizeof *x);
	} else if (s->kind == TRANSFORM_l2) {
		change_l2(s, x);
	} else if (s->kind == TRANSFORM_resize) {
		change_resize(s, x);
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
