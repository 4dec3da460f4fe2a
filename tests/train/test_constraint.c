/* SPDX-License-Identifier: Apache-2.0
 * Constraints against Keras's formulas (constraints.txt), shapes, patterns and what is refused. */
#include "runtime/train/optimizer/constraint.h"

#include "tests/train/numbers.h"

enum { N = 6 };

static struct weight_group group[] = { { .path = "head.dense[0].kernel", .ndim = 2, .dim = { 2, 3 }, .first = 0, .count = N } };
static const struct program program = { .nweight = N, .nweight_group = 1, .weight_group = group };
static const double begin[N] = { 0.5, -1.25, 3, -2, 0.25, 4 };

static struct constraint of_name(const char *name, const char *pattern)
{
	struct constraint c = { .row = constraint_find(name), .pattern = pattern };

	if (!c.row)
		tap_bail("no constraint %s", name);
	for (unsigned k = 0; k < c.row->noption; k++)
		c.option[k] = c.row->option[k].value;
	return c;
}

static void test_line(const struct numbers *r)
{
	struct constraint c = of_name(r->name, NULL);
	double weight[N];
	struct err e = { 0 };

	numbers_options(r, c.row->option, c.row->noption, c.option);
	memcpy(weight, begin, sizeof weight);
	tap_is_int(constraint_check(&c, 1, &program, &e), 0, "%s: is possible", r->what);
	constraint_apply(&c, 1, &program, weight);
	for (int i = 0; i < N; i++)
		tap_close(weight[i], r->part[0][i], 1e-15, "%s: weight %d", r->what, i);
	memcpy(weight, begin, sizeof weight);
	group[0].frozen = true;
	constraint_apply(&c, 1, &program, weight);
	group[0].frozen = false;
	tap_is_mem(weight, begin, sizeof weight, "%s: frozen weights stay", r->what);
}

/* A vector, a scalar and the middle one of three dimensions; the others' weights stay. */
static void test_shapes(void)
{
	struct weight_group g[] = {
		{ .path = "v", .ndim = 1, .dim = { 2 }, .first = 0, .count = 2 },
		{ .path = "s", .ndim = 0, .first = 2, .count = 1 },
		{ .path = "cube", .ndim = 3, .dim = { 1, 2, 2 }, .first = 3, .count = 4 } };
	struct program p = { .nweight = 7, .nweight_group = 3, .weight_group = g };
	double weight[] = { 3, 4, -5, 6, 5, 8, 12 };
	struct constraint c = of_name("unit_norm", "?");
	struct err e = { 0 };

	constraint_apply(&c, 1, &p, weight);
	tap_close(weight[0], 0.6, 1e-7, "a vector");
	tap_close(weight[2], -1, 1e-7, "a scalar");
	tap_ok(weight[3] == 6 && weight[6] == 12, "the pattern leaves the rest");
	c.pattern = "cube";
	c.option[0] = 1;
	tap_is_int(constraint_check(&c, 1, &p, &e), 0, "the middle dimension");
	constraint_apply(&c, 1, &p, weight);
	tap_close(weight[3], 0.6, 1e-7, "of entries 0 and 2");
	tap_close(weight[4], 5. / 13, 1e-7, "of entries 1 and 3");
	tap_close(weight[5], 0.8, 1e-7, "of entries 0 and 2");
	tap_close(weight[6], 12. / 13, 1e-7, "of entries 1 and 3");
	c.pattern = "*";
	tap_is_int(constraint_check(&c, 1, &p, &e), -ERR_CONFIG, "a dimension that is not there");
	tap_is_str(e.text, "constraint unit_norm: axis 1 of v, which has 1 dimension", "is refused");
	c.pattern = "w*";
	tap_is_int(constraint_check(&c, 1, &p, &e), -ERR_CONFIG, "a pattern for nothing");
	tap_is_str(e.text, "constraint unit_norm: no trainable weights match `w*`", "is refused");
	c = of_name("min_max_norm", NULL);
	c.option[0] = 3;
	tap_is_int(constraint_check(&c, 1, &p, &e), -ERR_CONFIG, "bounds the wrong way round");
	tap_is_str(e.text, "constraint min_max_norm: min_value 3 is above max_value 1", "are refused");
}

int main(void)
{
	static struct numbers r;
	FILE *f = numbers_open("constraints.txt");
	const struct constraint_row *row;
	size_t n = constraint_rows(&row);
	unsigned found = 0;

	while (numbers_next(f, &r)) {
		test_line(&r);
		found |= 1u << (constraint_find(r.name) - row);
	}
	fclose(f);
	for (size_t i = 0; i < n; i++)
		tap_ok(found & 1u << i, "%s has been compared", row[i].name);
	test_shapes();
	return tap_done();
}
