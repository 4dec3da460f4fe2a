/* SPDX-License-Identifier: Apache-2.0
 * Losses against Keras's own numbers (losses.txt), their gradients also against differences. */
#include "runtime/train/loss/loss.h"

#include "tests/train/numbers.h"

enum { N = 3, SAMPLES = 2, OUTPUTS = 0, LABELS, VALUES, GRADIENTS };

static void test_differences(const struct loss_row *loss, const struct loss_sample *s,
	const double *dreadout, const char *what)
{
	double output[N], h = 1e-5, up, down, worst = 0;
	struct loss_sample moved = *s;

	moved.output = output;
	for (int j = 0; j < N; j++) {
		memcpy(output, s->output, sizeof output);
		output[j] += h;
		up = loss->value(&moved, NULL);
		output[j] -= 2 * h;
		down = loss->value(&moved, NULL);
		worst = tap_worst(worst, fabs(dreadout[j] - (up - down) / (2 * h)));
	}
	tap_close(worst, 0, 1e-7, "%s: gradients against differences", what);
}

static void test_sample(const struct loss_row *loss, const double *option, const struct numbers *r, int i)
{
	struct loss_sample s = { option, r->part[OUTPUTS] + N * i, r->part[LABELS] + N * i, N, N };
	bool corner = !strcmp(loss->name, "mae") && i == 0;
	double dreadout[N];

	tap_close(loss->value(&s, dreadout), r->part[VALUES][i], 5e-16, "%s: sample %d", r->what, i);
	tap_ok(loss->value(&s, NULL) == loss->value(&s, dreadout), "%s: the same without gradients",
		r->what);
	for (int j = 0; j < N; j++)
		tap_close(dreadout[j], r->part[GRADIENTS][N * i + j], 7e-16,
			"%s: sample %d, gradient %d", r->what, i, j);
	if (!corner)
		test_differences(loss, &s, dreadout, r->what);
}

static unsigned test_lines(void)
{
	static struct numbers r;
	FILE *f = numbers_open("losses.txt");
	const struct loss_row *row, *loss;
	size_t n = loss_rows(&row);
	unsigned seen = 0;
	double option[TRAIN_OPTIONS_MAX];

	while (numbers_next(f, &r)) {
		loss = loss_find(r.name);
		if (!loss)
			tap_bail("no loss %s", r.name);
		numbers_options(&r, loss->option, loss->noption, option);
		for (int i = 0; i < SAMPLES; i++)
			test_sample(loss, option, &r, i);
		for (size_t i = 0; i < n; i++)
			seen |= (unsigned)(loss == &row[i]) << i;
	}
	fclose(f);
	return seen;
}

/* A label that names a class is the same as one number per class. */
static void test_classes(const char *name)
{
	const struct loss_row *loss = loss_find(name);
	const double option[TRAIN_OPTIONS_MAX] = { 0, 0.2 }, output[N] = { 0.2, 0.5, 0.3 }, class = 2, each[N] = { 0, 0, 1 };
	struct loss_sample one = { option, output, &class, N, 1 }, all = { option, output, each, N, N };
	double by_class[N], by_each[N];

	tap_ok(loss->classes != CLASSES_NO && loss->value(&one, by_class) == loss->value(&all, by_each), "%s by class", name);
	tap_is_mem(by_class, by_each, sizeof by_each, "and its gradients");
}

static void test_extremes(void)
{
	const double option[TRAIN_OPTIONS_MAX] = { 1 }, far[N] = { 800, -800, 0 }, label[N] = { 0, 1, 0 };
	struct loss_sample s = { option, far, label, N, N };
	double dreadout[N];

	tap_close(loss_find("categorical_crossentropy")->value(&s, dreadout), 1600, 1e-12,
		"logits that exp cannot take");
	tap_close(loss_find("binary_crossentropy")->value(&s, dreadout), (1600 + log(2)) / 3, 1e-12,
		"for two classes too");
	tap_close(loss_find("log_cosh")->value(&s, dreadout), (800 + 801 - 2 * log(2)) / 3, 1e-12,
		"and the hyperbolic cosine");
	tap_close(loss_find("soft_margin")->value(&s, dreadout), (800 + 800 + log1p(exp(0))) / 3,
		1e-12, "and the margin");
}

static void test_one_output(void)
{
	const double option[TRAIN_OPTIONS_MAX] = { 0 }, p = 0.8, zero = 0, one = 1;
	struct loss_sample s = { option, &p, &zero, 1, 1 };
	double dreadout;

	tap_close(loss_find("one_minus_probability")->value(&s, &dreadout), 0.8, 1e-15,
		"label 0 has probability 1 - p");
	tap_ok(dreadout == 1, "its gradient");
	s.label = &one;
	tap_close(loss_find("one_minus_probability")->value(&s, &dreadout), 0.2, 1e-15,
		"label 1 has probability p");
	tap_ok(dreadout == -1, "its gradient");
}

int main(void)
{
	const struct loss_row *row;
	size_t n = loss_rows(&row);
	unsigned seen = test_lines();

	for (size_t i = 0; i < n; i++)
		tap_ok(seen & 1u << i, "%s has been compared", row[i].name);
	test_classes("categorical_crossentropy");
	test_classes("one_minus_probability");
	test_extremes();
	test_one_output();
	return tap_done();
}
