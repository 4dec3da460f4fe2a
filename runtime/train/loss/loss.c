/* SPDX-License-Identifier: Apache-2.0
 * The losses of loss.def, one function each. */
#include "runtime/train/loss/loss.h"

#include <float.h>
#include <math.h>

#include "runtime/train/option/option_table.h"

/* Keras's backend.epsilon(). */
static const double TINY = 1e-7;

/* Label j as a number of its own, where a single one may name a class. */
static double label_of(const struct loss_sample *s, uint32_t j)
{
	return s->nlabel == s->n ? s->label[j] : s->label[0] == j;
}

/* Mean over the outputs of term(output, label, opt); *d: its derivative. */
typedef double (*term_fn)(double output, double label, const double *opt, double *d);

static double mean_of(const struct loss_sample *s, double *gradient, term_fn term)
{
	double sum = 0, d;

	for (uint32_t j = 0; j < s->n; j++) {
		sum += term(s->output[j], s->label[j], s->opt, &d);
		if (gradient)
			gradient[j] = d / s->n;
	}
	return sum / s->n;
}

/* Those that devices compute too. */
#define SHARED_TERM(name, id, option) \
	static double term_##name(double output, double label, const double *opt, double *d) \
	{ \
		(void)opt; \
		return loss_term_value(LOSS_TERM_##id, option, output, label, d); \
	}
SHARED_TERM(mse, MSE, 0)
SHARED_TERM(mae, MAE, 0)
SHARED_TERM(huber, HUBER, opt[0])
SHARED_TERM(hinge, HINGE, 0)
SHARED_TERM(squared_hinge, SQUARED_HINGE, 0)

/* log(cosh(x)) = |x| + log(1 + exp(-2 |x|)) - log(2), without overflow. */
static double term_log_cosh(double output, double label, const double *opt, double *d)
{
	double error = output - label;

	(void)opt;
	*d = tanh(error);
	return fabs(error) + log1p(exp(-2 * fabs(error))) - log(2);
}

/* log(1 + exp(x)) without overflow; *d: its derivative, the logistic function. */
static double softplus(double x, double *d)
{
	*d = 1 / (1 + exp(-x));
	return fmax(x, 0) + log1p(exp(-fabs(x)));
}

static double term_soft_margin(double output, double label, const double *opt, double *d)
{
	double y = loss_plus_or_minus(label), value = softplus(-y * output, d);

	(void)opt;
	*d *= -y;
	return value;
}

/* A probability between least and most; *d: whether it still moves with the output. */
static double clipped(double p, double least, double most, double *d)
{
	*d = p >= least && p <= most;
	return p < least ? least : p > most ? most : p;
}

enum { FROM_LOGITS, LABEL_SMOOTHING };

static double term_binary_crossentropy(double output, double label, const double *opt, double *d)
{
	double y = label * (1 - opt[LABEL_SMOOTHING]) + 0.5 * opt[LABEL_SMOOTHING], p, value;

	if (opt[FROM_LOGITS] != 0) {
		value = softplus(output, d) - y * output;
		*d -= y;
		return value;
	}
	p = clipped(output, TINY, 1 - TINY, d);
	*d *= (1 - y) / (1 - p) - y / p;
	return -(y * log(p) + (1 - y) * log(1 - p));
}

static double term_poisson(double output, double label, const double *opt, double *d)
{
	(void)opt;
	*d = 1 - label / (output + TINY);
	return output - label * log(output + TINY);
}

#define MEAN_LOSS(name) \
	static double loss_##name(const struct loss_sample *s, double *gradient) \
	{ \
		return mean_of(s, gradient, term_##name); \
	}
MEAN_LOSS(mse)
MEAN_LOSS(mae)
MEAN_LOSS(huber)
MEAN_LOSS(log_cosh)
MEAN_LOSS(hinge)
MEAN_LOSS(squared_hinge)
MEAN_LOSS(soft_margin)
MEAN_LOSS(binary_crossentropy)
MEAN_LOSS(poisson)

static double smoothed(const struct loss_sample *s, uint32_t j)
{
	return label_of(s, j) * (1 - s->opt[LABEL_SMOOTHING]) + s->opt[LABEL_SMOOTHING] / s->n;
}

/* -sum_j y_j log softmax(output)_j; the gradient is softmax(output) sum_j y_j - y. */
static double crossentropy_of_logits(const struct loss_sample *s, double *gradient)
{
	double top = s->output[0], sum = 0, all = 0, value = 0;

	for (uint32_t j = 1; j < s->n; j++)
		top = fmax(top, s->output[j]);
	for (uint32_t j = 0; j < s->n; j++)
		sum += exp(s->output[j] - top);
	for (uint32_t j = 0; j < s->n; j++) {
		value -= smoothed(s, j) * (s->output[j] - top - log(sum));
		all += smoothed(s, j);
	}
	for (uint32_t j = 0; gradient && j < s->n; j++)
		gradient[j] = exp(s->output[j] - top) / sum * all - smoothed(s, j);
	return value;
}

/* -sum_j y_j log p_j, p = output / sum; dp_j/d output_k = ((j = k) - p_j) / sum. */
static double crossentropy_of_shares(const struct loss_sample *s, double *gradient)
{
	double sum = 0, all = 0, value = 0, moves;

	for (uint32_t j = 0; j < s->n; j++)
		sum += s->output[j];
	for (uint32_t j = 0; j < s->n; j++) {
		double share = s->output[j] / sum, p = clipped(share, TINY, 1 - TINY, &moves);

		value -= smoothed(s, j) * log(p);
		all += moves * smoothed(s, j) / p * share;
		if (gradient)
			gradient[j] = -moves * smoothed(s, j) / p / sum;
	}
	for (uint32_t j = 0; gradient && j < s->n; j++)
		gradient[j] += all / sum;
	return value;
}

static double loss_categorical_crossentropy(const struct loss_sample *s, double *gradient)
{
	return s->opt[FROM_LOGITS] != 0 ? crossentropy_of_logits(s, gradient) : crossentropy_of_shares(s, gradient);
}

static double loss_kl(const struct loss_sample *s, double *gradient)
{
	double value = 0, moves;

	for (uint32_t j = 0; j < s->n; j++) {
		double y = clipped(s->label[j], TINY, 1, &moves), p = clipped(s->output[j], TINY, 1, &moves);

		value += y * log(y / p);
		if (gradient)
			gradient[j] = -moves * y / p;
	}
	return value;
}

/* One output p is the probability of label 1, so that of label y is p y + (1 - p)(1 - y). */
static double loss_one_minus_probability(const struct loss_sample *s, double *gradient)
{
	double sum = 0, y = s->label[0];

	if (s->n == 1) {
		if (gradient)
			gradient[0] = 1 - 2 * y;
		return 1 - (s->output[0] * y + (1 - s->output[0]) * (1 - y));
	}
	for (uint32_t j = 0; j < s->n; j++) {
		sum += label_of(s, j) * s->output[j];
		if (gradient)
			gradient[j] = -label_of(s, j);
	}
	return 1 - sum;
}

static double loss_output(const struct loss_sample *s, double *gradient)
{
	double sum = 0;

	for (uint32_t j = 0; j < s->n; j++) {
		sum += s->output[j];
		if (gradient)
			gradient[j] = 1.0 / s->n;
	}
	return sum / s->n;
}

static const struct loss_row table[] = {
#define LOSS(id, text, origin, of_outputs, of_classes, of_labels, of_term, options) \
	{ .name = #id, \
		.doc = text, \
		.source = origin, \
		.outputs = OUTPUTS_##of_outputs, \
		.classes = CLASSES_##of_classes, \
		.labels = LABELS_##of_labels, \
		.term = LOSS_TERM_##of_term, \
		.noption = OPTION_COUNT_OF(OPTION_ROWS options), \
		.option = { OPTION_ROWS options }, \
		.value = loss_##id },
#include "runtime/train/loss/loss.def"
#undef LOSS
};

TABLE_OF_ROWS(loss_row, loss_rows, loss_find)
