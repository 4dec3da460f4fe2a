/* SPDX-License-Identifier: Apache-2.0
 * Optimisers against numbers computed in Python's doubles from Keras's formulas
 * (keras/src/optimizers/adam.py and sgd.py: update_step), four steps on three weights. */
#include "config.h"
#include "runtime/train/optimizer.h"

#include "tests/tap.h"

enum { N = 3, STEPS = 4 };
static const double gradient[STEPS][N] = {
	{ 0.1, -2.0, 1e-6 }, { 0.3, 0.5, 0.0 }, { -0.2, 1.5, -1e-3 }, { 0.05, -0.75, 2.0 } };

struct expectation {
	const char *optimizer; double option[OPTIMIZER_OPTIONS_MAX]; bool defaults; double want[N]; };

static const struct expectation rows[] = {
	{ "adam", { 0 }, true, { 0.49753792608002056, -1.2485141106787847, 2.9996542422095396 } },
	{ "adam", { 0.02, 0.8, 0.99, 1e-3 }, false, { 0.4550498491008923, -1.2238868095664188, 2.9879035795354709 } },
	{ "sgd", { 0 }, true, { 0.4975, -1.2424999999999997, 2.9800099900000001 } },
	{ "sgd", { 0.1, 0.9, 0 }, false, { 0.41731000000000001, -0.90770000000000006, 2.8001896561000006 } },
	{ "sgd", { 0.1, 0.9, 1 }, false, { 0.40057900000000002, -0.86692999999999987, 2.6202705904899997 } },
};

static void run(const struct expectation *x, const uint8_t *frozen, double *weight)
{
	const struct optimizer_row *o = optimizer_find(x->optimizer);
	double memory[OPTIMIZER_SLOTS_MAX][N] = { { 0 } }, option[OPTIMIZER_OPTIONS_MAX];
	double *slot[OPTIMIZER_SLOTS_MAX];

	for (unsigned k = 0; k < OPTIMIZER_SLOTS_MAX; k++)
		slot[k] = memory[k];
	for (unsigned k = 0; k < o->noption; k++)
		option[k] = x->defaults ? o->option[k].value : x->option[k];
	for (uint64_t step = 1; step <= STEPS; step++)
		o->update(option, step, gradient[step - 1], weight, slot, frozen, N);
}

static void test_numbers(const struct expectation *x)
{
	double weight[N] = { 0.5, -1.25, 3.0 };

	run(x, NULL, weight);
	for (int i = 0; i < N; i++)
		tap_close(weight[i], x->want[i], 4e-16, "%s, row %d, weight %d", x->optimizer, (int)(x - rows), i);
}

static void test_frozen(const struct expectation *x)
{
	double weight[N] = { 0.5, -1.25, 3.0 };
	const uint8_t frozen[N] = { 0, 1, 0 };

	run(x, frozen, weight);
	tap_ok(weight[1] == -1.25, "%s leaves a frozen weight", x->optimizer);
	tap_close(weight[2], x->want[2], 4e-16, "%s moves the others", x->optimizer);
}

/* Every row is complete, and its defaults lie in their ranges. */
static void test_table(void)
{
	const struct optimizer_row *row;
	size_t n = optimizer_rows(&row);

	for (size_t i = 0; i < n; i++) {
		tap_ok(optimizer_find(row[i].name) == &row[i], "%s is found by its name", row[i].name);
		tap_ok(*row[i].doc && *row[i].source && row[i].update, "%s has text, source and function", row[i].name);
		for (unsigned k = 0; k < row[i].noption; k++) {
			const struct optimizer_option *o = &row[i].option[k];

			tap_ok(o->name && *o->doc && o->min <= o->value && o->value <= o->max, "%s.%s", row[i].name, o->name);
		}
	}
	tap_ok(!optimizer_find("adamant"), "an unknown name is not found");
}

int main(void)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		test_numbers(&rows[i]);
		test_frozen(&rows[i]);
	}
	test_table();
	return tap_done();
}
