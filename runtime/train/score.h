/* SPDX-License-Identifier: Apache-2.0
 * From the readouts of a sample to its loss and the gradient with respect to the readouts: head, loss, backward
 * pass of the head.  One struct score serves the samples of one batch, from any thread. */
#pragma once

#include "runtime/exec/evaluator.h"
#include "runtime/train/job/train_job.h"

struct score {
	const struct program *program;
	const double *weight;
	const struct loss_choice *loss;            /* NULL: compute outputs only */
	const struct class_weights *class_weights; /* NULL: all classes have weight 1 */
	const struct part *part;
	const uint32_t *row;             /* (batch) rows of part->data; NULL: first, first + 1, ... */
	uint32_t first;
	double scale;                    /* factor of every gradient: 1 / samples in the batch */
	double *output;                  /* (batch, noutput) */
	double *value;                   /* (batch) weighted losses; NaN: not finite */
	double *memory; /* (batch, stride): values of the head for the backward pass */
	size_t stride;
};

/* The stride of score.memory. */
size_t score_stride(const struct program *p);
/* A readout_gradient_fn; ctx is a struct score. */
int score_sample(void *ctx, uint32_t sample, const double *readout, double *gradient, double *head);
/* Write the numbers that score_sample needs for the gradient of a sample: scale, weight, labels, LOSS_LABELS + ny in all
 * (the member `give` of struct readout_gradient_needs). */
void score_give(void *ctx, uint32_t sample, double *out);
/* The terms of the loss (its labels are ny a sample), where its gradient is that of readouts. */
struct loss_terms score_terms(const struct program *p, const struct loss_choice *loss, uint32_t ny);
/* After a batch of n: 0, or -ERR_NOT_FINITE naming the first sample whose value is not finite. */
int score_check(const struct score *s, uint32_t n, struct err *e);
/* The sum of the losses in the order of the samples, so that its bits do not depend on threads. */
double score_sum(const struct score *s, uint32_t n);

/* Check that the rows fit the program, and the labels the loss and metrics (m NULL: not checked).
 * `what`: name of the part, for messages. */
int part_check(const struct program *p, const struct part *part, const char *what, const struct measures *m,
	struct err *e);
/* Make a batch for ev of the rows row[0..n) of the part (NULL: first, first + 1, ...).  Streamed rows are read into
 * input[(n, nx)], unless workers read the file; input may be NULL if part_input returns 0. */
int part_batch(const struct part *part, const struct evaluator *ev, const uint32_t *row, uint32_t first, uint32_t n, double *input,
	struct batch *out, struct err *e);
/* Number of doubles that part_batch needs for n rows: 0 if the data are in memory. */
size_t part_input(const struct part *part, uint32_t n);
/* The class of a label for class_weights: its value or, of several, the index of the largest. */
double label_class(const double *label, uint32_t n);
/* label[(n, ny)] = the labels of rows row[0..n) (NULL: 0, 1, ...). */
void part_labels(const struct part *part, const uint32_t *row, uint32_t n, double *label);
