/* SPDX-License-Identifier: Apache-2.0
 * Optimisers against Keras's own numbers (optimizers.txt), four steps on three weights in two groups. */
#include "runtime/train/optimizer/optimizer.h"

#include "tests/train/numbers.h"

enum { N = 3, STEPS = 4 };
static const double gradient[STEPS][N] = {
	{ 0.1, -2.0, 1e-6 }, { 0.3, 0.5, 0.0 }, { -0.2, 1.5, -1e-3 }, { 0.05, -0.75, 2.0 } };

static struct weight_group group[] = { { .path = "a", .first = 0, .count = 2 }, { .path = "b", .first = 2, .count = 1 } };
static const struct program program = { .nweight = N, .nweight_group = 2, .weight_group = group };

static void run(const struct optimizer_row *o, const double *option, const uint8_t *frozen, double *weight)
{
	double memory[OPTIMIZER_SLOTS_MAX][N] = { { 0 } }, *slot[OPTIMIZER_SLOTS_MAX], g[N];
	struct update u = { .opt = option, .learning_rate = option[OPTIMIZER_LEARNING_RATE], .gradient = g, .weight = weight, .slot = slot, .frozen = frozen, .n = N };

	tap_ok(optimizer_slots(o, option) <= OPTIMIZER_SLOTS_MAX, "%s: its slots have room", o->name);
	for (unsigned k = 0; k < OPTIMIZER_SLOTS_MAX; k++)
		slot[k] = memory[k];
	for (u.step = 1; u.step <= STEPS; u.step++) {
		memcpy(g, gradient[u.step - 1], sizeof g);
		optimizer_step(o, &program, &u, g);
	}
	u.step = STEPS;
	optimizer_finish(o, &u);
	bool untouched = true;
	for (unsigned k = optimizer_slots(o, option); k < OPTIMIZER_SLOTS_MAX; k++)
		for (int i = 0; i < N; i++)
			untouched = untouched && memory[k][i] == 0;
	tap_ok(untouched, "%s: it uses no more slots than its row names", o->name);
}

static void test_line(const struct numbers *r)
{
	const struct optimizer_row *o = optimizer_find(r->name);
	double option[OPTIMIZER_OPTIONS_MAX], weight[N] = { 0.5, -1.25, 3.0 }, still[N] = { 0.5, -1.25, 3.0 };
	const uint8_t frozen[N] = { 1, 1, 0 };

	if (!o)
		tap_bail("no optimiser %s", r->name);
	numbers_options(r, o->option, o->noption, option);
	tap_is_int(optimizer_check(o, option, NULL), 0, "%s: the options go together", r->what);
	run(o, option, NULL, weight);
	for (int i = 0; i < N; i++)
		tap_close(weight[i], r->part[0][i], 9e-16, "%s: weight %d", r->what, i);
	run(o, option, frozen, still);
	tap_ok(still[0] == 0.5 && still[1] == -1.25, "%s: frozen weights stay", r->what);
	if (!value_given(option[o->nown + SHARED_GLOBAL_CLIPNORM]))
		tap_ok(still[2] == weight[2], "%s: the others move as without them", r->what);
}

static unsigned test_lines(void)
{
	static struct numbers r;
	FILE *f = numbers_open("optimizers.txt");
	const struct optimizer_row *row;
	size_t n = optimizer_rows(&row);
	unsigned seen = 0;

	while (numbers_next(f, &r)) {
		test_line(&r);
		for (size_t i = 0; i < n; i++)
			if (!strcmp(row[i].name, r.name))
				seen |= 1u << i;
	}
	fclose(f);
	return seen;
}

static void test_clips(void)
{
	const struct optimizer_row *o = optimizer_find("sgd");
	double option[OPTIMIZER_OPTIONS_MAX];
	struct err e;

	for (unsigned k = 0; k < o->noption; k++)
		option[k] = o->option[k].value;
	option[o->nown + SHARED_CLIPNORM] = option[o->nown + SHARED_CLIPVALUE] = 1;
	tap_is_int(optimizer_check(o, option, &e), -ERR_CONFIG, "two ways to clip");
	tap_is_str(e.text, "clipnorm, clipvalue and global_clipnorm of sgd exclude each other", "are refused");
}

static void test_shared(const struct optimizer_row *row)
{
	tap_is_str(row->option[OPTIMIZER_LEARNING_RATE].name, "learning_rate", "%s: the first option", row->name);
	tap_is_int(row->noption, row->nown + SHARED_COUNT, "%s has the shared options", row->name);
	tap_is_str(row->slot_name[row->nslot], "ema", "%s: the last slot", row->name);
}

/* A schedule may end at 0. */
static void test_rate_zero(const struct optimizer_row *row)
{
	double option[OPTIMIZER_OPTIONS_MAX], weight[N] = { 0.5, -1.25, 3.0 };

	for (unsigned k = 0; k < row->noption; k++)
		option[k] = row->option[k].value;
	option[OPTIMIZER_LEARNING_RATE] = 0;
	run(row, option, NULL, weight);
	tap_ok(weight[0] == 0.5 && weight[1] == -1.25 && weight[2] == 3.0,
		"%s: with a learning rate of 0 the weights stay", row->name);
}

/* Every row is complete, and its defaults lie in their ranges. */
static void test_table(unsigned seen)
{
	const struct optimizer_row *row;
	size_t n = optimizer_rows(&row);

	for (size_t i = 0; i < n; i++) {
		bool is_update = row[i].method == METHOD_GRADIENT;

		tap_ok(!(seen & 1u << i) == !is_update, "%s has been compared, here or in test_search", row[i].name);
		tap_ok(optimizer_find(row[i].name) == &row[i], "%s is found by its name", row[i].name);
		tap_ok(*row[i].doc && *row[i].source && !row[i].update == !is_update && !row[i].search == (is_update || row[i].lacks),
			"%s has text, source and function", row[i].name);
		tap_ok(row[i].noption <= OPTIMIZER_OPTIONS_MAX && row[i].nslot <= OPTIMIZER_SLOTS_MAX, "%s: all has room", row[i].name);
		if (is_update) {
			test_shared(&row[i]);
			test_rate_zero(&row[i]);
		}
		for (unsigned k = 0; k < row[i].noption; k++) {
			const struct train_option *o = &row[i].option[k];

			tap_ok(o->name && *o->doc && (!value_given(o->value) || (o->min <= o->value && o->value <= o->max)),
				"%s.%s", row[i].name, o->name);
		}
	}
	tap_ok(!optimizer_find("adamant"), "an unknown name is not found");
}

int main(void)
{
	unsigned seen = test_lines();

	test_clips();
	test_table(seen);
	return tap_done();
}
