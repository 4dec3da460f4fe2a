/* SPDX-License-Identifier: Apache-2.0
 * Metrics on small sets: counted by hand, or from scikit-learn 1.9.1 (metrics.roc_auc_score, precision_score,
 * recall_score, f1_score and confusion_matrix; several classes: multi_class="ovr", average="macro"). */
#include "runtime/train/loss/measures.h"

#include <string.h>

#include "tests/tap.h"

enum { VALUES_MAX = 21 };

struct set {
	const char *metric; uint32_t nsample, n, nlabel; double output[VALUES_MAX], label[VALUES_MAX], want;
	const char *what; double threshold;      /* 0: left out */
};

#define SEVEN { 0.2, 0.7, 0.55, 0.1, 0.7, 0.4, 0.9 }, { 0, 1, 1, 0, 0, 1, 1 }
#define SEVEN_SIGNED { 0.2, 0.7, 0.55, 0.1, 0.7, 0.4, 0.9 }, { -1, 1, 1, -1, -1, 1, 1 }
#define THREE { 0.5, 0.3, 0.2, 0.1, 0.7, 0.2, 0.3, 0.3, 0.4, 0.6, 0.1, 0.3, 0.2, 0.5, 0.3, 0.25, 0.15, 0.6 }, { 0, 1, 1, 2, 1, 2 }

static const struct set sets[] = {
	{ "sign_accuracy", 4, 1, 1, { 0.2, -0.3, 0, -0.1 }, { 1, -1, 1, 1 }, 0.75, "0 counts as +1",
		0 },
	{ "sign_accuracy", 2, 1, 1, { 0.2, -0.3 }, { 0, 0 }, 0.5, "a label of 0 counts as +1", 0 },
	{ "sign_accuracy", 2, 2, 2, { 1, -1, 1, 1 }, { 1, 1, 1, 1 }, 0.75,
		"several outputs, each for itself", 0 },
	{ "accuracy", 4, 1, 1, { 0.2, -0.3, 0.6, -0.1 }, { 1, -1, 1, 1 }, 0.75,
		"labels -1 and 1 by sign", 0 },
	{ "accuracy", 4, 1, 1, { 0.2, 0.7, 0.5, -2 }, { 1, 1, 0, 0 }, 0.75,
		"labels 0 and 1 by 0.5, which is 0", 0 },
	{ "accuracy", 2, 3, 3, { 0.1, 0.7, 0.2, 0.5, 0.3, 0.2 }, { 0, 1, 0, 0, 0, 1 }, 0.5,
		"one-hot labels", 0 },
	{ "accuracy", 2, 3, 1, { 0.1, 0.7, 0.2, 0.5, 0.3, 0.2 }, { 1, 0 }, 1,
		"the number of a class", 0 },
	{ "accuracy", 1, 3, 1, { 0.5, 0.5, 0.2 }, { 1 }, 0, "of equal outputs the first", 0 },
	{ "mse", 2, 2, 2, { 1, 2, 3, 4 }, { 1, 0, 3, 0 }, 5, "the mean over outputs and samples", 0 },
	{ "binary_accuracy", 7, 1, 1, SEVEN, 5. / 7, "by 0.5 for labels 0 and 1", 0 },
	{ "binary_accuracy", 7, 1, 1, SEVEN, 6. / 7, "by a threshold", 0.3 },
	{ "binary_accuracy", 7, 1, 1, SEVEN_SIGNED, 4. / 7, "by 0 for labels -1 and 1", 0 },
	{ "binary_accuracy", 2, 1, 1, { 0, -1 }, { 1, -1 }, 1, "0 counts as +1 for labels -1 and 1",
		0 },
	{ "binary_accuracy", 2, 2, 2, { 0.6, 0.4, 0.7, 0.2 }, { 1, 1, 0, 0 }, 0.5,
		"several outputs, each for itself", 0 },
	{ "categorical_accuracy", 6, 3, 1, THREE, 4. / 6, "by class", 0 },
	{ "auc", 7, 1, 1, SEVEN, 0.79166666666666663, "with a tie", 0 },
	{ "auc", 7, 1, 1, SEVEN_SIGNED, 0.79166666666666663, "of labels -1 and 1", 0 },
	{ "auc", 6, 3, 1, THREE, 0.85231481481481486, "of three classes", 0 },
	{ "auc", 2, 1, 1, { 1, 2 }, { 1, 1 }, 0, "without a negative sample", 0 },
	{ "precision", 7, 1, 1, SEVEN, 0.75, "of the positive class", 0 },
	{ "recall", 7, 1, 1, SEVEN, 0.75, "of the positive class", 0 },
	{ "recall", 7, 1, 1, SEVEN, 0.25, "by a high threshold", 0.8 },
	{ "precision", 7, 1, 1, SEVEN, 1, "by a high threshold", 0.8 },
	{ "f1", 7, 1, 1, SEVEN, 0.75, "of the positive class", 0 },
	{ "precision", 6, 3, 1, THREE, 0.66666666666666663, "of three classes", 0 },
	{ "recall", 6, 3, 1, THREE, 0.72222222222222221, "of three classes", 0 },
	{ "f1", 6, 3, 1, THREE, 0.65555555555555556, "of three classes", 0 },
	{ "auc", 2, 3, 1, { 0.8, 0.1, 0.1, 0.2, 0.7, 0.1 }, { 0, 1 }, 1,
		"without a class that no sample has", 0 },
	{ "precision", 2, 3, 1, { 0.8, 0.1, 0.1, 0.2, 0.7, 0.1 }, { 0, 1 }, 1,
		"without a class that no sample has", 0 },
	{ "recall", 2, 3, 1, { 0.8, 0.1, 0.1, 0.2, 0.7, 0.1 }, { 0, 1 }, 1,
		"without a class that no sample has", 0 },
	{ "f1", 2, 3, 1, { 0.8, 0.1, 0.1, 0.2, 0.7, 0.1 }, { 0, 1 }, 1,
		"without a class that no sample has", 0 },
	{ "recall", 2, 3, 1, { 0.8, 0.1, 0.1, 0.2, 0.1, 0.7 }, { 0, 1 }, 1. / 3,
		"with one that is predicted alone", 0 },
	{ "precision", 2, 1, 1, { 0.1, 0.2 }, { 1, 1 }, 0,
		"where nothing is called positive (threshold 0.5 is given)", 0.5 },
};

/* What the outputs are to the loss decides, too. */
static const struct { enum loss_outputs outputs; struct set set; } losses[] = {
	{ OUTPUTS_MARGINS, { "accuracy", 4, 1, 1, { 0.2, -0.7, 0, 2 }, { 1, 1, 0, 0 }, 0.5, "labels 0 and 1 by 0, which is 0", 0 } },
	{ OUTPUTS_MARGINS, { "accuracy", 4, 1, 1, { 0.2, -0.7, 0, 2 }, { 1, 1, 1, -1 }, 0.5, "labels -1 and 1 by sign", 0 } },
	{ OUTPUTS_PROBABILITIES, { "accuracy", 2, 1, 1, { 0.2, 0.7 }, { 1, 1 }, 0.5, "by 0.5 without a label 0, too", 0 } },
	{ OUTPUTS_MARGINS, { "binary_accuracy", 4, 1, 1, { 0.2, -0.7, 0, 2 }, { 1, 1, 0, 0 }, 0.5, "by 0", 0 } },
	{ OUTPUTS_MARGINS, { "binary_accuracy", 4, 1, 1, { 0.2, -0.7, 0, 2 }, { 1, 1, 0, 0 }, 0.25, "by a threshold", 0.5 } },
	{ OUTPUTS_MARGINS, { "precision", 4, 1, 1, { 0.2, -0.7, 0, 2 }, { 1, 1, 0, 0 }, 0.5, "by 0", 0 } },
};

static double value_of(const struct metric_row *row, const struct set *s, enum loss_outputs outputs)
{
	struct metric_choice c = metric_choice(row);
	double value = -1;

	if (s->threshold != 0)
		c.option[0] = s->threshold;
	row->value(&(struct metric_set){ c.option, s->output, s->label, s->nsample, s->n, s->nlabel,
			   outputs, LABELS_NOT_KNOWN },
		&value);
	return value;
}

static void test_confusion(void)
{
	static const struct set two = { "confusion", 7, 1, 1, SEVEN, 0, "", 0 }, three = { "confusion", 6, 3, 1, THREE, 0, "", 0 };
	static const double want_two[] = { 2, 1, 1, 3 }, want_three[] = { 1, 0, 0, 0, 2, 1, 1, 0, 1 };
	struct measures m = { .loss = loss_choice(loss_find("mse")), .metric = { metric_choice(metric_find("accuracy")), metric_choice(metric_find("confusion")),
		metric_choice(metric_find("mse")) }, .nmetric = 3 };
	double value[TRAIN_VALUES_MAX];
	struct err e;

	measures_metrics(&m,
		&(struct metric_set){
			NULL, two.output, two.label, 7, 1, 1, OUTPUTS_VALUES, LABELS_NOT_KNOWN },
		value);
	tap_is_mem(value + 1, want_two, sizeof want_two, "confusion of two classes");
	tap_close(value[0], 5. / 7, 1e-15, "the metric before it");
	tap_close(value[5], 1.2025 / 7, 1e-15, "the metric after it");
	tap_is_int(measures_at(&m, 3, 1), 6, "six numbers in all");
	m.nmetric = 2;
	measures_metrics(&m,
		&(struct metric_set){ NULL, three.output, three.label, 6, 3, 1, OUTPUTS_VALUES,
			LABELS_NOT_KNOWN },
		value);
	tap_is_mem(value + 1, want_three, sizeof want_three, "confusion of three classes");
	tap_is_int(measures_check(&m, METRIC_SIDE_MAX, &e), 0, "as many classes as there is room for");
	tap_is_int(measures_check(&m, METRIC_SIDE_MAX + 1, &e), -ERR_CONFIG, "one more");
	tap_is_str(e.text, "metric confusion takes at most 32 outputs, the model has 33", "is refused");
	m.metric[0] = m.metric[1];
	tap_is_int(measures_check(&m, 2, &e), -ERR_CONFIG, "two matrices are refused");
}

static void test_rows(void)
{
	const struct metric_row *metric;
	const struct loss_row *loss;
	size_t n = metric_rows(&metric);
	static const struct set none = { "", 0, 1, 1, { 1 }, { 1 }, 0, "", 0 };

	for (size_t i = 0; i < n; i++) {
		unsigned tested = metric[i].is_matrix || loss_find(metric[i].name);

		for (size_t k = 0; k < sizeof sets / sizeof *sets; k++)
			tested |= !strcmp(sets[k].metric, metric[i].name);
		tap_ok(tested, "%s is tested here or as a loss", metric[i].name);
		tap_ok(metric_find(metric[i].name) == &metric[i], "%s is found by its name", metric[i].name);
		tap_ok(*metric[i].doc && *metric[i].source, "%s has text and source", metric[i].name);
		if (!metric[i].is_matrix)
			tap_ok(value_of(&metric[i], &none, OUTPUTS_VALUES) == 0, "%s of no samples is 0", metric[i].name);
	}
	n = loss_rows(&loss);
	for (size_t i = 0; i < n; i++)
		tap_ok(loss_find(loss[i].name) == &loss[i] && metric_find(loss[i].name), "%s is a loss and a metric", loss[i].name);
	tap_ok(!loss_find("mess") && !metric_find("mess"), "unknown names are not found");
}

int main(void)
{
	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
		tap_close(value_of(metric_find(sets[i].metric), &sets[i], OUTPUTS_VALUES), sets[i].want, 1e-15, "%s: %s", sets[i].metric,
			sets[i].what);
	for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
		const struct set *s = &losses[i].set;

		tap_close(value_of(metric_find(s->metric), s, losses[i].outputs), s->want, 1e-15, "%s of %s: %s", s->metric,
			losses[i].outputs == OUTPUTS_MARGINS ? "margins" : "probabilities", s->what);
	}
	test_confusion();
	test_rows();
	return tap_done();
}
