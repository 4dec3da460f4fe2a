/* SPDX-License-Identifier: Apache-2.0
 * From the readouts of a sample to its loss and the gradient with respect to the readouts: head, loss, backward
 * pass of the head.  One struct score serves the samples of one batch, from any thread. */
#ifndef QCNN_SCORE_H
#define QCNN_SCORE_H

#include "runtime/exec/evaluator.h"
#include "runtime/train/job/train_job.h"

struct score {
	const struct program *program;
	const double *weight;
	const struct loss_choice *loss;  /* NULL: outputs alone */
	const struct class_weights *class_weights;   /* NULL: all classes alike */
	const struct part *part;
	const uint32_t *row;             /* (batch) rows of part->data; NULL: first, first + 1, ... */
	uint32_t first;
	double scale;                    /* of every gradient: 1 / samples in the batch */
	double *output;                  /* (batch, noutput) */
	double *value;                   /* (batch) weighted losses; NaN: not finite */
	double *memory;                  /* (batch, stride): of the head, for the backward pass */
	size_t stride;
};

/* The stride of score.memory. */
size_t score_stride(const struct program *p);
/* A readout_gradient_fn; ctx is a struct score. */
int score_sample(void *ctx, uint32_t sample, const double *readout, double *gradient, double *head);
/* What score_sample needs of a sample for its gradient, as numbers: scale, weight, labels (a give of
 * struct readout_gradient_needs; SCORE_NEEDS and one per label). */
enum { SCORE_NEEDS = 2 };
void score_give(void *ctx, uint32_t sample, double *out);
/* The row of the data that a sample of the batch is. */
uint32_t score_row(const struct score *s, uint32_t sample);
/* After a batch of n: 0, or -ERR_NOT_FINITE naming the first sample whose value is not finite. */
int score_check(const struct score *s, uint32_t n, struct err *e);
/* The losses' sum in the order of the samples, so that threads do not change its bits. */
double score_sum(const struct score *s, uint32_t n);

/* Do the rows fit the program, and the labels the loss and metrics (NULL: not looked at)?
 * `what` is the part's name. */
int part_check(const struct program *p, const struct part *part, const char *what, const struct measures *m,
	struct err *e);
/* Rows row[0..n) of the part's data (NULL: first, first + 1, ...) as a batch for ev; those that are in a file are read to
 * input[(n, nx)], which may be NULL for others (part_input), unless workers read that file themselves. */
int part_batch(const struct part *part, const struct evaluator *ev, const uint32_t *row, uint32_t first, uint32_t n, double *input,
	struct batch *out, struct err *e);
/* Doubles that part_batch needs for n rows: 0 where the data are in memory. */
size_t part_input(const struct part *part, uint32_t n);
/* What class_weights call the class of a label: its value, or which of several is the largest. */
double label_class(const double *label, uint32_t n);
/* label[(n, ny)] = the labels of rows row[0..n) (NULL: 0, 1, ...). */
void part_labels(const struct part *part, const uint32_t *row, uint32_t n, double *label);

#endif
