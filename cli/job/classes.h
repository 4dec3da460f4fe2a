/* SPDX-License-Identifier: Apache-2.0
 * The class that a model's outputs choose, and its name.
 *
 * One output chooses between two labels by measures_rule, as metrics do. Of several outputs the index of the largest is
 * the class. Whether labels are classes follows from the different labels of the training, which are in weights.bin, or
 * else from data.label_map, loss and metrics. Models with other labels (regression) have no classes. */
#pragma once

#include <stdbool.h>

#include "cli/config/configuration.h"
#include "runtime/data/dataset.h"
#include "runtime/program/program.h"

/* The row of the data that is number i of the part, and its labels. */
static inline uint32_t part_row(const struct part *p, uint32_t i) { return p->row ? p->row[i] : i; }
static inline const double *labels_of(const struct part *p, uint32_t i)
{
	return p->data->y + (size_t)p->data->ny * part_row(p, i);
}

/* Largest number of classes: with more different labels, labels are not classes. */
enum { CLASSES_MAX = 64 };

/* SIGN: the labels are -1 and 1, THRESHOLD: 0 and 1. */
enum class_rule { CLASS_NONE = 0, CLASS_BY_SIGN, CLASS_BY_THRESHOLD, CLASS_BY_LARGEST };
/* How the loss interprets the outputs. */
enum class_score { SCORE_OUTPUT = 0, SCORE_PROBABILITY, SCORE_SHARE, SCORE_SIGMOID, SCORE_SOFTMAX };

struct classes {
	enum class_rule rule;
	enum class_score score;
	struct binary_rule binary;
	uint32_t noutput;
	const struct ynode *map;         /* data.label_map, or NULL */
};

/* labels: the training's different labels as a JSON list (classes_labels), or NULL. */
void classes_init(struct classes *k, const struct config *c, const struct program *p, const char *labels);
/* The label that outputs[noutput] choose; *score: its probability, or the output that decides (one output: that output). */
double classes_choose(const struct classes *k, const double *output, double *score);
/* "probability" or "score". */
const char *classes_score_name(const struct classes *k);
/* Name of a label: the key of data.label_map with this number (several are joined by |), else the number. */
void classes_name(const struct classes *k, double label, struct buf *out);

struct label_set {
	double value[CLASSES_MAX];
	unsigned n;
};
bool label_set_has(const struct label_set *s, double v);
/* Add v unless it is there.  False: there are more than fit. */
bool label_set_add(struct label_set *s, double v);
/* The different labels of a part with one label a row, in ascending order; none: there are more than CLASSES_MAX, or the
 * part is empty or has another number of labels. */
struct label_set classes_distinct(const struct part *p);
/* The different labels of a part with one label a row, in ascending order, as a JSON list; empty if there are more than
 * CLASSES_MAX. */
void classes_labels(const struct part *p, struct buf *out);
/* The other way: the labels of such a list (NULL: none). */
struct label_set classes_known(const char *labels);
