/* SPDX-License-Identifier: Apache-2.0
 * The metrics of metric.def, one function each, and the losses as metrics. */
#include "runtime/train/loss/loss.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/train/option/option_table.h"

static double share(double count, double total) { return total != 0 ? count / total : 0; }

static void metric_sign_accuracy(const struct metric_set *s, double *out)
{
	uint64_t right = 0, total = (uint64_t)s->nsample * s->n;

	for (uint64_t i = 0; i < total; i++)
		right += (s->output[i] >= 0) == (s->label[i] >= 0);
	*out = share((double)right, (double)total);
}

/* ---- classes ---- */

uint32_t metric_largest(const double *v, uint32_t n)
{
	uint32_t at = 0;

	for (uint32_t j = 1; j < n; j++)
		if (v[j] > v[at])
			at = j;
	return at;
}

/* The class of a sample; n where its label is the number of none. */
static uint32_t label_class(const struct metric_set *s, uint32_t sample)
{
	double number = s->label[sample];

	if (s->n == 1)
		return number > 0.5;
	if (s->nlabel == s->n)
		return metric_largest(s->label + (size_t)sample * s->n, s->n);
	return number >= 0 && number < s->n && number == (uint32_t)number ? (uint32_t)number : s->n;
}

static bool are_signs(const double *label, uint64_t n)
{
	bool zero = false;

	for (uint64_t i = 0; i < n; i++) {
		if (label[i] < 0)
			return true;
		zero |= label[i] == 0;
	}
	return !zero;
}

enum binary_labels binary_labels(const double *label, uint64_t n)
{
	return !n ? LABELS_NOT_KNOWN : are_signs(label, n) ? LABELS_ARE_SIGNS : LABELS_ARE_BITS;
}

static struct binary_rule rule_for(enum binary_labels labels, enum loss_outputs outputs,
	double threshold)
{
	bool signs = outputs != OUTPUTS_PROBABILITIES && labels != LABELS_ARE_BITS;

	if (value_given(threshold))
		return (struct binary_rule){ threshold, false };
	return (struct binary_rule){ signs || outputs == OUTPUTS_MARGINS ? 0 : 0.5, signs };
}

struct binary_rule binary_rule(const double *label, uint64_t n, enum loss_outputs outputs,
	double threshold)
{
	return rule_for(binary_labels(label, n), outputs, threshold);
}

bool binary_positive(const struct binary_rule *r, double output)
{
	return r->signs ? output >= r->threshold : output > r->threshold;
}

static struct binary_rule rule_of(const struct metric_set *s, double threshold)
{
	return rule_for(s->labels ? s->labels
				  : binary_labels(s->label, (uint64_t)s->nsample * s->nlabel),
		s->outputs, threshold);
}

static uint32_t answer_class(const struct metric_set *s, const struct binary_rule *rule, uint32_t sample)
{
	const double *output = s->output + (size_t)sample * s->n;

	return s->n == 1 ? binary_positive(rule, *output) : metric_largest(output, s->n);
}

static void metric_categorical_accuracy(const struct metric_set *s, double *out)
{
	uint64_t right = 0;

	for (uint32_t i = 0; i < s->nsample; i++)
		right += label_class(s, i) == metric_largest(s->output + (size_t)i * s->n, s->n);
	*out = share((double)right, s->nsample);
}

static double share_by_rule(const struct metric_set *s, struct binary_rule rule)
{
	uint64_t right = 0, total = (uint64_t)s->nsample * s->n;

	for (uint64_t i = 0; i < total; i++)
		right += binary_positive(&rule, s->output[i]) == (s->label[i] > 0.5);
	return share((double)right, (double)total);
}

static void metric_binary_accuracy(const struct metric_set *s, double *out)
{
	*out = share_by_rule(s, rule_of(s, s->opt[0]));
}

static void metric_accuracy(const struct metric_set *s, double *out)
{
	struct binary_rule rule = rule_of(s, VALUE_UNSET);

	if (s->n > 1)
		metric_categorical_accuracy(s, out);
	else if (rule.signs)
		metric_sign_accuracy(s, out);
	else
		*out = share_by_rule(s, rule);
}

/* ---- area under the curve ---- */

struct scored { double score; bool positive; };

static int by_score(const void *a, const void *b)
{
	double x = ((const struct scored *)a)->score, y = ((const struct scored *)b)->score;

	return (x > y) - (x < y);
}

/* Mann and Whitney's count: pairs in the right order, ties half.  Whole and half numbers, so
 * that the order of equal scores does not matter.  False: there are no pairs, *out is 0. */
static bool area(struct scored *v, uint32_t n, double *out)
{
	double below = 0, pairs = 0, positives = 0;

	qsort(v, n, sizeof *v, by_score);
	for (uint32_t i = 0, next; i < n; i = next) {
		double up = 0, down = 0;

		for (next = i; next < n && v[next].score == v[i].score; next++)
			v[next].positive ? up++ : down++;
		pairs += up * (below + down / 2);
		below += down;
		positives += up;
	}
	*out = share(pairs, positives * below);
	return positives * below > 0;
}

static void metric_auc(const struct metric_set *s, double *out)
{
	/* No more than the labels and outputs, which are in memory already. */
	mem_auto struct scored *v = mem_alloc(s->nsample + (size_t)1, sizeof *v);
	uint32_t *class = mem_alloc(s->nsample + (size_t)1, sizeof *class), positive = s->n == 1,
		 n = 0;
	double sum = 0, one;

	for (uint32_t i = 0; i < s->nsample; i++)
		class[i] = label_class(s, i);
	for (uint32_t c = 0; c < s->n; c++, positive++) {
		for (uint32_t i = 0; i < s->nsample; i++)
			v[i] = (struct scored){ s->output[(size_t)i * s->n + c], class[i] == positive };
		n += area(v, s->nsample, &one);
		sum += one;
	}
	*out = share(sum, n);
	free(class);
}

/* ---- right and wrong by class ---- */

struct tally { double right, answered, labelled; };

/* Of the positive class, or the mean over those that labels or answers have. */
static double mean_over_classes(const struct metric_set *s, double (*of)(const struct tally *t))
{
	struct binary_rule rule = s->n == 1 ? rule_of(s, s->opt[0]) : (struct binary_rule){ 0 };
	double sum = 0, n = 0;
	mem_auto struct tally *t = mem_alloc((size_t)s->n + 1,
		sizeof *t); /* no more than a sample's labels and outputs */

	for (uint32_t i = 0; i < s->nsample; i++) {
		uint32_t answer = answer_class(s, &rule, i), label = label_class(s, i);

		t[answer].right += answer == label;
		t[answer].answered++;
		t[label].labelled++;
	}
	for (uint32_t c = s->n == 1; c < (s->n == 1 ? 2 : s->n); c++) {
		n += t[c].answered + t[c].labelled > 0;
		sum += of(&t[c]);
	}
	return share(sum, n);
}

#define SHARE_BY_CLASS(name, count, total) \
	static double name##_of(const struct tally *t) { return share(count, total); } \
	static void metric_##name(const struct metric_set *s, double *out) \
	{ \
		*out = mean_over_classes(s, name##_of); \
	}
SHARE_BY_CLASS(precision, t->right, t->answered)
SHARE_BY_CLASS(recall, t->right, t->labelled)
SHARE_BY_CLASS(f1, 2 * t->right, t->answered + t->labelled)

static unsigned classes(uint32_t n) { return n > 1 ? n : 2; }

static void metric_confusion(const struct metric_set *s, double *out)
{
	unsigned side = classes(s->n);
	struct binary_rule rule = s->n == 1 ? rule_of(s, s->opt[0]) : (struct binary_rule){ 0 };

	memset(out, 0, (size_t)side * side * sizeof *out);
	for (uint32_t i = 0; i < s->nsample; i++)
		if (label_class(s, i) < side)
			out[(size_t)label_class(s, i) * side + answer_class(s, &rule, i)]++;
}

/* ---- losses ---- */

static double mean_loss(const struct loss_row *loss, const struct metric_set *s)
{
	double sum = 0;

	for (uint32_t i = 0; i < s->nsample; i++) {
		struct loss_sample one = { s->opt, s->output + (size_t)i * s->n, s->label + (size_t)i * s->nlabel,
			s->n, s->nlabel };

		sum += loss->value(&one, NULL);
	}
	return s->nsample ? sum / s->nsample : 0;
}

#define LOSS(name, doc, source, outputs, classes, labels, term, options) \
	static void metric_##name(const struct metric_set *s, double *out) \
	{ \
		*out = mean_loss(loss_find(#name), s); \
	}
#include "runtime/train/loss/loss.def"
#undef LOSS

static const struct metric_row table[] = {
#define ROW(id, text, origin, by_class, of_labels, matrix, up, options) { \
	.name = #id, .doc = text, .source = origin, .takes_class = by_class, .labels = BINARY_##of_labels, .is_matrix = matrix, .rises = up, \
	.noption = OPTION_COUNT_OF(OPTION_ROWS options), .option = { OPTION_ROWS options }, \
	.value = metric_##id },
#define METRIC(id, text, origin, by_class, of_labels, matrix, options) ROW(id, text, origin, by_class, of_labels, matrix, 1, options)
#include "runtime/train/loss/metric.def"
#undef METRIC
#define LOSS(id, text, origin, of_outputs, of_classes, of_labels, of_term, options) \
	ROW(id, text, origin, CLASSES_##of_classes != CLASSES_NO, ANY, 0, 0, options)
#include "runtime/train/loss/loss.def"
#undef LOSS
};

TABLE_OF_ROWS(metric_row, metric_rows, metric_find)

unsigned metric_side(const struct metric_row *row, uint32_t n)
{
	return row->is_matrix ? classes(n) : 0;
}
