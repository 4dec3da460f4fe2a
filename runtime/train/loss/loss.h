/* SPDX-License-Identifier: Apache-2.0
 * Losses and metrics: rows of loss.def and metric.def, one function each. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "runtime/base/loss_terms.h"
#include "runtime/train/option/option.h"

/* One sample: n outputs, and as many labels, or one where a loss takes the number of a class. */
struct loss_sample { const double *opt, *output, *label; uint32_t n, nlabel; };

/* See loss.def. */
enum loss_outputs { OUTPUTS_VALUES = 0, OUTPUTS_MARGINS, OUTPUTS_PROBABILITIES, OUTPUTS_SHARES, OUTPUTS_RATES };
enum loss_classes { CLASSES_NO = 0, CLASSES_OF_SEVERAL, CLASSES_OR_ONE };
enum loss_labels { LABELS_ANY = 0, LABELS_SHARES, LABELS_COUNTS, LABELS_NONE };

struct loss_row {
	const char *name, *doc, *source;
	enum loss_outputs outputs;
	enum loss_classes classes;
	enum loss_labels labels;
	enum loss_term term;
	unsigned noption; struct train_option option[TRAIN_OPTIONS_MAX];
	/* Its loss; gradient (may be NULL) gets dLoss/d output[n].  A batch's loss is the mean over
	 * its samples. */
	double (*value)(const struct loss_sample *s, double *gradient);
};
/* Digits of a loss that people read: more where it is an output itself, such as an energy. */
static inline int loss_digits(const struct loss_row *row)
{
	return row->labels == LABELS_NONE ? 10 : 6;
}
const struct loss_row *loss_find(const char *name);
size_t loss_rows(const struct loss_row **rows);

/* What the labels of two classes are: -1 and 1, or, if one of them is 0 and none negative, 0 and 1. */
enum binary_labels { LABELS_NOT_KNOWN = 0, LABELS_ARE_SIGNS, LABELS_ARE_BITS };
enum binary_labels binary_labels(const double *label, uint64_t n);

/* How one output chooses between two labels: the greater one above `threshold`, and at it, too, if it is the sign. */
struct binary_rule { double threshold; bool signs; };
/* For these labels, which are 0 and 1 in any case if the outputs are probabilities.
 * threshold: VALUE_UNSET for 0, or for 0.5 between the labels 0 and 1 unless the outputs are margins. */
struct binary_rule binary_rule(const double *label, uint64_t n, enum loss_outputs outputs, double threshold);
bool binary_positive(const struct binary_rule *r, double output);

/* A set: output (nsample, n) and label (nsample, nlabel), row-major.  nlabel is n, or 1 where
 * a metric takes the number of a class. */
struct metric_set {
	const double *opt, *output, *label;
	uint32_t nsample, n, nlabel;
	enum loss_outputs outputs;
	enum binary_labels labels; /* those of the training: NOT_KNOWN: as those of the set */
};

/* See metric.def. */
enum metric_labels { BINARY_ANY = 0, BINARY_SIGNS, BINARY_BITS, BINARY_SIGNS_OR_BITS };
/* Classes of a metric that is a matrix. */
enum { METRIC_SIDE_MAX = 32 };

struct metric_row {
	const char *name, *doc, *source;
	bool takes_class;
	enum metric_labels labels;
	bool is_matrix, rises;       /* rises: more is better */
	unsigned noption; struct train_option option[TRAIN_OPTIONS_MAX];
	/* One number, or the rows of a matrix of metric_side() rows. */
	void (*value)(const struct metric_set *s, double *out);
};
const struct metric_row *metric_find(const char *name);
size_t metric_rows(const struct metric_row **rows);
/* Rows and columns of a metric for n outputs; 0: it is a number. */
unsigned metric_side(const struct metric_row *row, uint32_t n);
/* The class that n outputs choose: the place of the largest, the first of equal ones, as Keras's argmax. */
uint32_t metric_largest(const double *v, uint32_t n);
