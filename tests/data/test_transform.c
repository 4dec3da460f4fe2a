/* SPDX-License-Identifier: Apache-2.0
 * Scaling and principal components against scikit-learn 1.9.1; eigenvalues against formulas. */
#include "runtime/data/transform/transform.h"

#include "runtime/base/maths.h"
#include "runtime/data/eigen.h"
#include "runtime/data/generate/generate.h"
#include "tests/tap.h"

enum { ROWS = 10, COLUMNS = 4, LEARNT = 8 };

/* Every fifteenth flower of Fisher's irises. */
static const double iris[ROWS * COLUMNS] = {
	5.1, 3.5, 1.4, 0.2,
	5.7, 4.4, 1.5, 0.4,
	4.8, 3.1, 1.6, 0.2,
	4.8, 3.0, 1.4, 0.3,
	5.0, 2.0, 3.5, 1.0,
	6.6, 3.0, 4.4, 1.4,
	5.5, 2.6, 4.4, 1.2,
	7.6, 3.0, 6.6, 2.1,
	6.9, 3.2, 5.7, 2.3,
	7.7, 3.0, 6.1, 2.3,
};

static struct dataset *flowers(void)
{
	struct dataset *d;
	struct err e;

	if (dataset_new(ROWS, COLUMNS, 0, "iris", &d, &e))
		tap_bail("%s", e.text);
	memcpy(d->x, iris, sizeof iris);
	return d;
}

static double distance(const double *a, const double *b, size_t n)
{
	double most = 0;

	for (size_t i = 0; i < n; i++)
		most = tap_worst(most, fabs(a[i] - b[i]));
	return most;
}

/* The last two rows, after learning from the others. */
static void against_scikit_learn(void)
{
	static const struct {
		const char *name;
		unsigned n;
		struct transform_wish wish[3];
		unsigned nout;
		double want[8];
	} row[] = {
		{ "min_max", 1, { { TRANSFORM_min_max, { 0, PI } } }, 4,
			{ 2.356194490192345, 1.5707963267948966, 2.597855463545406,
				3.47228661712556, 3.253792391218001, 1.308996938995747,
				2.839516436898467, 3.47228661712556 } },
		{ "min_max together", 1, { { TRANSFORM_min_max, { 0, PI, 1 } } }, 4,
			{ 2.84441497014211, 1.2736186433472136, 2.3349675128032246,
				0.8915330503430494, 3.1840466083680337, 1.1887107337907326,
				2.5047833319161863, 0.8915330503430494 } },
		{ "standardize", 1, { { .kind = TRANSFORM_standardize } }, 4,
			{ 1.3595374547832464, 0.19360077316559157, 1.4317953441416427,
				2.2373985744503324, 2.221026535041937, -0.1161604638993552,
				1.6520715509326644, 2.2373985744503324 } },
		{ "l2", 1, { { .kind = TRANSFORM_l2 } }, 4,
			{ 0.7055893432004945, 0.327229840324867, 0.5828781530786694,
				0.23519644773349813, 0.7315439854044734, 0.28501713717057403,
				0.5795348455801672, 0.21851313849744008 } },
		{ "pca", 1, { { TRANSFORM_pca, { 2 } } }, 2,
			{ 3.1577146678316614, 0.44486365741330935, 3.8334517408968356,
				0.7062671415582988 } },
		/* By hand. */
		{ "resize", 1, { { TRANSFORM_resize, { 1, 1 } } }, 1, { 4.45, 4.55 } },
		{ "resize a square", 1, { { TRANSFORM_resize, { 2, 1, 1 } } }, 2,
			{ 6.3, 2.75, 6.9, 2.65 } },
		{ "resize a column", 1, { { TRANSFORM_resize, { 1, 3 } } }, 3,
			{ 6.9 - 3.7 / 6, 4.45, 5.7 - 3.4 * 5 / 6, 7.7 - 4.7 / 6, 4.55,
				6.1 - 3.8 * 5 / 6 } },
		{ "resize by areas", 1, { { TRANSFORM_resize, { 1, 3, 1 } } }, 3,
			{ 5.975, 4.45, 3.15, 6.525, 4.55, 3.25 } },
		{ "resize, l2", 2, { { TRANSFORM_resize, { 1, 2 } }, { .kind = TRANSFORM_l2 } }, 2,
			{ 0.7838884202219797, 0.6209017189877065, 0.7865733591242315,
				0.6174968426769668 } },
		{ "standardize, pca, min_max", 3,
			{ { .kind = TRANSFORM_standardize }, { TRANSFORM_pca, { 3 } },
				{ TRANSFORM_min_max, { -1, 1 } } },
			3,
			{ 0.771168659158583, 0.36965594961685355, -1.3876373086877065,
				1.0303782114501696, 0.4314412581514483, 1.004790700446602 } },
	};

	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct dataset *d = flowers(), *later = flowers();
		struct transform t = { 0 }, back = { 0 };
		struct buf text = BUF_INIT;
		struct err e = { 0 };
		int code = transform_fit(row[i].wish, row[i].n, d, NULL, LEARNT, &t, &e);

		tap_ok(!code && d->nx == row[i].nout && distance(d->x + 8 * d->nx, row[i].want, 2 * d->nx) < 1e-13,
			"%s%s", row[i].name, e.text);
		transform_format(&t, &text);
		code = transform_parse(text.data, text.len, &back, &e);
		if (!code)
			code = transform_apply(&back, later, &e);
		tap_ok(!code && later->nx == d->nx && !memcmp(d->x, later->x, ROWS * d->nx * sizeof *d->x),
			"written, read, applied: the same bits%s", e.text);
		tap_is_int(transform_outputs(&back), row[i].nout, "numbers that come out");
		transform_release(&t);
		transform_release(&back);
		buf_release(&text);
		dataset_free(d);
		dataset_free(later);
	}
}

static void rows_and_constants(void)
{
	static const uint32_t order[] = { 9, 3 };
	static const struct transform_wish both[] = { { TRANSFORM_min_max, { 2, 4 } }, { .kind = TRANSFORM_standardize } };
	struct transform t;
	struct dataset *d = flowers();
	struct err e;

	for (int i = 0; i < ROWS; i++)
		d->x[i * COLUMNS + 2] = 0.1;
	tap_ok(!transform_fit(both, 1, d, order, 2, &t, &e) && d->x[9 * 4] == 4 && d->x[3 * 4] == 2, "rows by their order");
	tap_ok(d->x[2] == 2 && d->x[9 * 4 + 2] == 2, "a constant column becomes low");
	transform_release(&t);
	dataset_free(d);
	d = flowers();
	for (int i = 0; i < ROWS; i++)
		d->x[i * COLUMNS + 2] = 0.1;
	tap_ok(!transform_fit(both + 1, 1, d, NULL, ROWS, &t, &e) && d->x[2] == 0, "or 0");
	transform_release(&t);
	dataset_free(d);
}

/* A column times 2^600 or 2^-600 becomes the same numbers, to the bit; so does a row for l2. */
static void huge_and_tiny(void)
{
	static const int power[] = { 600, -600, 1010, -1030 };
	static const struct transform_wish wish[] = { { .kind = TRANSFORM_standardize }, { .kind = TRANSFORM_l2 },
		{ TRANSFORM_min_max, { 0, 1 } } };

	for (size_t w = 0; w < sizeof wish / sizeof *wish; w++)
		for (size_t k = 0; k < sizeof power / sizeof *power; k++) {
			struct dataset *d = flowers(), *plain = flowers();
			struct transform t = { 0 }, u = { 0 };
			struct err e = { 0 };
			bool by_row = wish[w].kind == TRANSFORM_l2;

			for (int i = 0; i < ROWS * COLUMNS; i++)
				plain->x[i] = floor(plain->x[i] * 256);
			memcpy(d->x, plain->x, ROWS * COLUMNS * sizeof *d->x);
			for (int i = 0; i < ROWS * COLUMNS; i++)
				if (by_row ? i / COLUMNS == 3 : i % COLUMNS == 1)
					d->x[i] = ldexp(d->x[i], power[k]);
			transform_fit(&wish[w], 1, plain, NULL, ROWS, &u, &e);
			tap_ok(!transform_fit(&wish[w], 1, d, NULL, ROWS, &t, &e) && !memcmp(d->x, plain->x, ROWS * COLUMNS * sizeof *d->x),
				"%s, times 2^%d%s", transform_name(wish[w].kind), power[k], e.text);
			transform_release(&t);
			transform_release(&u);
			dataset_free(d);
			dataset_free(plain);
		}
}

static void refused(void)
{
	static const struct {
		struct transform_wish wish;
		uint32_t nrow;
		const char *want;
	} row[] = {
		{ { TRANSFORM_pca, { 5 } }, 8, "pca cannot make 5 components of 8 rows and 4 columns" },
		{ { TRANSFORM_pca, { 4 } }, 3, "pca cannot make 4 components of 3 rows and 4 columns" },
		{ { TRANSFORM_pca, { 257 } }, 8,
			"pca takes at most 4096 columns and makes at most 256 components, not 4 and 257" },
		{ { TRANSFORM_resize, { 3, 1 } }, 8,
			"resize makes pictures smaller: 2 x 2 pixels cannot become 1 x 3" },
		{ { TRANSFORM_resize, { 1, 5 } }, 8,
			"resize makes pictures smaller: 4 x 1 pixels cannot become 5 x 1" },
		{ { TRANSFORM_l2, { 0 } }, 0, "there are no rows to fit data.transform to" },
		{ { TRANSFORM_min_max, { -1e300, 1e300 } }, 8,
			"iris: min_max takes row 8 beyond the range of double" },
	};
	static const char *const text[] = {
		"",
		"{}",
		"[{}]",
		"[{\"kind\":\"cube\",\"inputs\":1,\"outputs\":1,\"values\":[]}]",
		"[{\"kind\":\"l2\",\"inputs\":1,\"outputs\":2,\"values\":[]}]",
		"[{\"kind\":\"l2\",\"inputs\":-1,\"outputs\":-1,\"values\":[]}]",
		"[{\"kind\":\"l2\",\"inputs\":2,\"outputs\":2,\"values\":[1]}]",
		"[{\"kind\":\"min_max\",\"inputs\":1,\"outputs\":1,\"values\":[1,2]}]",
		"[{\"kind\":\"resize\",\"inputs\":4,\"outputs\":1,\"values\":[2,2,1,1]}]",
		"[{\"kind\":\"resize\",\"inputs\":4,\"outputs\":1,\"values\":[3,2,1,1,0]}]",
		"[{\"kind\":\"resize\",\"inputs\":4,\"outputs\":1,\"values\":[2,2,2,0.5,0]}]",
		"[{\"kind\":\"resize\",\"inputs\":4,\"outputs\":3,\"values\":[2,2,3,1,0]}]",
		"[{\"kind\":\"resize\",\"inputs\":4,\"outputs\":4,\"values\":[-2,-2,2,2,0]}]",
		"[{\"kind\":\"min_max\",\"inputs\":1,\"outputs\":1,\"values\":[1,2,\"3\"]}]",
		"[{\"kind\":\"l2\",\"inputs\":2,\"outputs\":2,\"values\":[]},{\"kind\":\"l2\",\"inputs\":3,\"outputs\":3,\"values\":[]}]",
	};
	struct transform t = { 0 };
	struct dataset *d;
	struct err e;

	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		d = flowers();
		e.text[0] = 0;
		if (row[i].wish.kind == TRANSFORM_min_max)
			d->x[8 * COLUMNS] = 1e10;
		transform_fit(&row[i].wish, 1, d, NULL, row[i].nrow, &t, &e);
		tap_is_str(e.text, row[i].want, "refused");
		dataset_free(d);
	}
	d = flowers();
	d->x[1] = -1.7e308;
	d->x[5] = 1.7e308;
	transform_fit(&(struct transform_wish){ TRANSFORM_min_max, { 0, 1 } }, 1, d, NULL, ROWS, &t, &e);
	tap_is_str(e.text, "iris: column 1 (from 0) runs from -1.7e+308 to 1.7e+308, too far for min_max", "a range beyond double");
	dataset_free(d);
	d = flowers();
	d->x[1] = 1e200;
	tap_ok(transform_fit(&(struct transform_wish){ TRANSFORM_pca, { 2 } }, 1, d, NULL, ROWS, &t, &e), "no pca of squares beyond double");
	tap_is_str(e.text, "iris: pca takes sums of squares, and those of column 1 (from 0) are beyond the range of double; "
		"standardize or min_max before it helps", "which it says");
	dataset_free(d);
	for (size_t i = 0; i < sizeof text / sizeof *text; i++)
		tap_is_int(transform_parse(text[i], strlen(text[i]), &t, &e), -ERR_BAD_DATA, "no steps: %s", text[i]);
	tap_is_int(transform_width(&t), 0, "and nothing is left behind");
}

/* ---- eigenvalues ---- */

enum { CHAIN = 600 };

/* 2 on the diagonal, -1 beside it: eigenvalues 2 - 2 cos(j pi / (n + 1)), j = 1 ... n. */
static void chain(void *ctx, const double *x, double *y)
{
	(void)ctx;
	for (int i = 0; i < CHAIN; i++)
		y[i] = 2 * x[i] - (i ? x[i - 1] : 0) - (i + 1 < CHAIN ? x[i + 1] : 0);
}

enum { PAIRS = 9 };

/* Diagonal with pairs 0 0 1 1 2 2 ...: one start shows only one of each. */
static void pairs(void *ctx, const double *x, double *y)
{
	(void)ctx;
	for (int i = 0; i < PAIRS; i++)
		y[i] = i / 2 * x[i];
}

static void eigenvalues(void)
{
	static double start[CHAIN], vector[4 * CHAIN];
	double value[4], want[4];
	struct eigen_wish w = { .n = CHAIN, .k = 3, .times = chain, .start = start };
	struct err e = { 0 };
	double inner = 0;

	for (int i = 0; i < CHAIN; i++)
		start[i] = 1 + 1.0 / (i + 1);
	for (int j = 0; j < 4; j++)
		want[j] = 2 - 2 * cos((j + 1) * PI / (CHAIN + 1));
	tap_ok(!eigen_lowest(&w, value, vector, &e) && distance(value, want, 3) < 1e-12, "a chain of 600%s", e.text);
	for (int i = 0; i < CHAIN; i++)
		inner += vector[i] * vector[CHAIN + i];
	tap_ok(fabs(inner) < 1e-10, "vectors are orthogonal");
	inner = 0;
	for (int i = 0; i < CHAIN; i++)
		inner += vector[i] * sin((i + 1) * PI / (CHAIN + 1));
	tap_ok(fabs(fabs(inner) - sqrt((CHAIN + 1) / 2.0)) < 1e-9, "and the lowest is a sine");
	w = (struct eigen_wish){ .n = PAIRS, .k = 4, .times = pairs, .start = start };
	tap_ok(!eigen_lowest(&w, value, vector, &e) && distance(value, (double[]){ 0, 0, 1, 1 }, 4) < 1e-12,
		"equal eigenvalues%s", e.text);
}

int main(void)
{
	against_scikit_learn();
	rows_and_constants();
	huge_and_tiny();
	refused();
	eigenvalues();
	return tap_done();
}
