/* SPDX-License-Identifier: Apache-2.0
 * Losses and metrics on small sets counted by hand. */
#include "config.h"
#include "runtime/train/loss.h"

#include "tests/tap.h"

struct set { const char *metric; uint32_t nsample, n, nlabel; double output[8], label[8], want; const char *what; };

static const struct set sets[] = {
	{ "sign_accuracy", 4, 1, 1, { 0.2, -0.3, 0, -0.1 }, { 1, -1, 1, 1 }, 0.75, "0 counts as +1" },
	{ "sign_accuracy", 2, 1, 1, { 0.2, -0.3 }, { 0, 0 }, 0.5, "a label of 0 counts as +1" },
	{ "sign_accuracy", 2, 2, 2, { 1, -1, 1, 1 }, { 1, 1, 1, 1 }, 0.75, "several outputs, each for itself" },
	{ "accuracy", 4, 1, 1, { 0.2, -0.3, 0.6, -0.1 }, { 1, -1, 1, 1 }, 0.75, "labels -1 and 1 by sign" },
	{ "accuracy", 4, 1, 1, { 0.2, 0.7, 0.5, -2 }, { 1, 1, 0, 0 }, 0.75, "labels 0 and 1 by 0.5, which is 0" },
	{ "accuracy", 2, 3, 3, { 0.1, 0.7, 0.2, 0.5, 0.3, 0.2 }, { 0, 1, 0, 0, 0, 1 }, 0.5, "one-hot labels" },
	{ "accuracy", 2, 3, 1, { 0.1, 0.7, 0.2, 0.5, 0.3, 0.2 }, { 1, 0 }, 1, "the number of a class" },
	{ "accuracy", 1, 3, 1, { 0.5, 0.5, 0.2 }, { 1 }, 0, "of equal outputs the first" },
	{ "mse", 2, 2, 2, { 1, 2, 3, 4 }, { 1, 0, 3, 0 }, 5, "the mean over outputs and samples" },
};

static void test_slope(const struct loss_row *loss)
{
	double output[3] = { 0.3, -0.8, 0.45 }, label[3] = { 1, -1, 0 }, slope[3], up, down;
	double value = loss->value(output, label, 3, slope), h = 1e-5;

	tap_ok(value == loss->value(output, label, 3, NULL), "%s: the same value without slopes", loss->name);
	for (int j = 0; j < 3; j++) {
		double at = output[j];

		output[j] = at + h;
		up = loss->value(output, label, 3, NULL);
		output[j] = at - h;
		down = loss->value(output, label, 3, NULL);
		output[j] = at;
		tap_close(slope[j], (up - down) / (2 * h), 1e-9, "%s: slope %d against a difference", loss->name, j);
	}
}

int main(void)
{
	const struct loss_row *loss;
	const struct metric_row *metric;
	size_t n;
	double one = 1;

	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
		const struct set *s = &sets[i];

		tap_close(metric_find(s->metric)->value(s->output, s->label, s->nsample, s->n, s->nlabel), s->want, 1e-15,
			"%s: %s", s->metric, s->what);
	}
	n = loss_rows(&loss);
	for (size_t i = 0; i < n; i++) {
		test_slope(&loss[i]);
		tap_ok(loss_find(loss[i].name) == &loss[i] && metric_find(loss[i].name), "%s is a loss and a metric", loss[i].name);
	}
	n = metric_rows(&metric);
	for (size_t i = 0; i < n; i++) {
		tap_ok(metric_find(metric[i].name) == &metric[i], "%s is found by its name", metric[i].name);
		tap_ok(*metric[i].doc && *metric[i].source, "%s has text and source", metric[i].name);
		tap_ok(metric[i].value(&one, &one, 0, 1, 1) == 0, "%s of no samples is 0", metric[i].name);
	}
	tap_ok(!loss_find("mess") && !metric_find("mess"), "unknown names are not found");
	return tap_done();
}
