/* SPDX-License-Identifier: Apache-2.0
 * Classes from labels, loss, metrics and outputs. */
#include "cli/job/classes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/job/sample_checks.h"
#include "runtime/base/json.h"
#include "runtime/base/order.h"

/* ---- which labels there are ---- */

bool label_set_has(const struct label_set *s, double v)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->value[i] == v)
			return true;
	return false;
}

bool label_set_add(struct label_set *s, double v)
{
	if (label_set_has(s, v))
		return true;
	if (s->n == CLASSES_MAX)
		return false;
	s->value[s->n++] = v;
	return true;
}

struct label_set classes_distinct(const struct part *p)
{
	struct label_set s = { .n = 0 };

	if (!p->nrow || !p->data->y || p->data->ny != 1)
		return s;
	for (uint32_t i = 0; i < p->nrow; i++)
		if (!label_set_add(&s, *labels_of(p, i)))
			return (struct label_set){ .n = 0 };
	qsort(s.value, s.n, sizeof *s.value, order_doubles);
	return s;
}

void classes_labels(const struct part *p, struct buf *out)
{
	struct label_set s = classes_distinct(p);

	for (unsigned i = 0; i < s.n; i++)
		buf_json(out, i ? ",%g" : "[%g", s.value[i]);
	buf_str(out, s.n ? "]" : "");
}

/* Each is one of a and b. */
static bool labels_are(const struct label_set *s, double a, double b)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->value[i] != a && s->value[i] != b)
			return false;
	return true;
}

/* Numbers of outputs. */
static bool labels_count(const struct label_set *s, uint32_t noutput)
{
	for (unsigned i = 0; i < s->n; i++)
		if (!(s->value[i] >= 0 && s->value[i] < noutput && s->value[i] == floor(s->value[i])))
			return false;
	return s->n > 0;
}

/* ---- the rule ---- */

/* Of one output, where the labels are not known: by the loss and metrics that are for one kind alone. */
static enum class_rule rule_of_measures(const struct measures *m)
{
	enum loss_outputs outputs = m->loss.row->outputs;

	if (outputs == OUTPUTS_MARGINS || measures_binary(m, BINARY_SIGNS))
		return CLASS_BY_SIGN;
	if (outputs == OUTPUTS_PROBABILITIES || measures_binary(m, BINARY_BITS))
		return CLASS_BY_THRESHOLD;
	return CLASS_NONE;
}

static enum class_rule rule_of_one(const struct label_set *s, const struct measures *m)
{
	if (!s->n)
		return rule_of_measures(m);
	if (!labels_are(s, 0, 1) && !labels_are(s, -1, 1))
		return CLASS_NONE;
	return binary_rule(s->value, s->n, loss_outputs(&m->loss), VALUE_UNSET).signs ? CLASS_BY_SIGN : CLASS_BY_THRESHOLD;
}

static enum class_rule rule_of_several(const struct label_set *s, const struct measures *m, uint32_t noutput)
{
	bool classes = m->loss.row->classes != CLASSES_NO;

	for (unsigned i = 0; i < m->nmetric; i++)
		classes |= m->metric[i].row->takes_class;
	return labels_count(s, noutput) || (!s->n && classes) ? CLASS_BY_LARGEST : CLASS_NONE;
}

static enum class_score score_of(const struct measures *m, const struct program *p, enum class_rule rule)
{
	enum activation last = p->ndense ? p->dense[p->ndense - 1].activation : ACTIVATION_LINEAR;
	bool logits = loss_of_logits(&m->loss);

	if (!logits && outputs_negative(p) < p->noutput)
		return SCORE_OUTPUT;
	if (m->loss.row->outputs == OUTPUTS_PROBABILITIES)
		return logits ? SCORE_SIGMOID : SCORE_PROBABILITY;
	if (m->loss.row->outputs == OUTPUTS_SHARES)
		return logits ? SCORE_SOFTMAX : SCORE_SHARE;
	if ((rule == CLASS_BY_LARGEST && last == ACTIVATION_SOFTMAX) || (rule == CLASS_BY_THRESHOLD && last == ACTIVATION_SIGMOID))
		return SCORE_PROBABILITY;
	return SCORE_OUTPUT;
}

struct label_set classes_known(const char *labels)
{
	json_auto_t *list = labels ? json_read(labels, strlen(labels), NULL) : NULL;
	struct label_set s = { .n = 0 };

	for (size_t i = 0; i < json_array_size(list); i++)
		if (json_is_number(json_array_get(list, i)))
			label_set_add(&s, json_number_value(json_array_get(list, i)));
	return s;
}

void classes_init(struct classes *k, const struct config *c, const struct program *p, const char *labels)
{
	static const double signs[] = { -1, 1 }, bits[] = { 0, 1 };
	struct label_set s = classes_known(labels);
	struct measures m;

	*k = (struct classes){ .noutput = p->noutput, .map = config_node(c, KEY_DATA_LABEL_MAP) };
	config_measures(c, &m);
	for (uint32_t i = 0; !s.n && k->map && i < k->map->n && i < CLASSES_MAX; i++)
		if (k->map->entry[i].value->kind != YNODE_NULL)
			label_set_add(&s, k->map->entry[i].value->f);
	if (m.loss.row->labels != LABELS_NONE)
		k->rule = p->noutput == 1 ? rule_of_one(&s, &m) : rule_of_several(&s, &m, p->noutput);
	k->score = score_of(&m, p, k->rule);
	k->binary = measures_rule(&m, k->rule == CLASS_BY_SIGN ? signs : bits, 2);
}

/* ---- one sample ---- */

static double clipped(double p) { return fmin(fmax(p, 0), 1); }

/* Of an output that is one by itself. */
static double probability(const struct classes *k, double output)
{
	return k->score == SCORE_SIGMOID ? 1 / (1 + exp(-output)) : clipped(output);
}

/* Of output k among all. */
static double score_of_several(const struct classes *k, const double *output, uint32_t at)
{
	double sum = 0;

	if (k->score == SCORE_OUTPUT)
		return output[at];
	if (k->score != SCORE_SHARE && k->score != SCORE_SOFTMAX)
		return probability(k, output[at]);
	for (uint32_t j = 0; j < k->noutput; j++)
		sum += k->score == SCORE_SHARE ? output[j] : exp(output[j] - output[at]);
	return k->score == SCORE_SHARE ? clipped(output[at] / sum) : 1 / sum;
}

double classes_choose(const struct classes *k, const double *output, double *score)
{
	if (k->rule == CLASS_BY_LARGEST) {
		uint32_t at = metric_largest(output, k->noutput);
		*score = score_of_several(k, output, at);
		return at;
	}
	bool positive = binary_positive(&k->binary, *output);
	double p = probability(k, *output); /* of label 1 */
	*score = k->score == SCORE_OUTPUT ? *output : positive ? p : 1 - p;
	return positive ? 1 : k->rule == CLASS_BY_SIGN ? -1 : 0;
}

const char *classes_score_name(const struct classes *k)
{
	return k->score == SCORE_OUTPUT ? "score" : "probability";
}

void classes_name(const struct classes *k, double label, struct buf *out)
{
	bool found = false;

	for (uint32_t i = 0; k->map && i < k->map->n; i++) {
		if (k->map->entry[i].value->kind == YNODE_NULL || k->map->entry[i].value->f != label)
			continue;
		buf_str(out, found ? "|" : "");
		buf_str(out, k->map->entry[i].key);
		found = true;
	}
	if (!found)
		buf_real(out, label);
}
