/* SPDX-License-Identifier: Apache-2.0
 * Warnings about samples that can be read and trained with, but hardly are what was meant. */
#ifndef QCNN_SAMPLE_CHECKS_H
#define QCNN_SAMPLE_CHECKS_H

#include "cli/job/classes.h"
#include "runtime/base/diag.h"
#include "runtime/train/train.h"

/* Numbers beyond this have lost the digits of their angle: a double knows it to 1e-10 radians, a float to 0.06. */
#define SAMPLE_ANGLE_MAX 1e6

/* Labels that the outputs cannot reach or the metrics cannot tell apart, or that are all equal. at: the place that says
 * which data these are. */
void sample_labels_check(const struct program *p, const struct part *part, const struct measures *m, struct span at,
	struct diags *d);
/* A loss that takes the outputs as probabilities, of outputs that can be negative.  at: where the loss is set. */
void sample_outputs_check(const struct program *p, const struct measures *m, struct span at, struct diags *d);
/* Classes of another part, called `name`, that the training part lacks. */
void sample_parts_check(const struct classes *k, const struct part *train, const struct part *other, const char *name,
	struct span at, struct diags *d);
/* Inputs in angles beyond SAMPLE_ANGLE_MAX; streamed rows are not looked at. */
void sample_angles_check(const struct program *p, const struct part *part, struct span at, struct diags *d);

#endif
