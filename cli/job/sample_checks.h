/* SPDX-License-Identifier: Apache-2.0
 * Warnings about samples that are valid but probably wrong. */
#pragma once

#include "cli/job/classes.h"
#include "runtime/base/diag.h"
#include "runtime/train/train.h"

/* Larger angles are inexact modulo 2 pi: by 1e-10 radians as a double, by 0.06 as a float. */
#define SAMPLE_ANGLE_MAX 1e6

/* Warn about labels that the outputs cannot reach or the metrics cannot distinguish, or that are all equal. at: the place
 * in the configuration that names the data. */
void sample_labels_check(const struct program *p, const struct part *part, const struct measures *m, struct span at,
	struct diags *d);
/* Warn if the loss takes the outputs as probabilities but they can be negative.  at: place of the loss. */
void sample_outputs_check(const struct program *p, const struct measures *m, struct span at, struct diags *d);
/* The first output that can be negative; noutput: none can, or it is not known. */
uint32_t outputs_negative(const struct program *p);
/* Warn about classes of the part that the training, whose different labels are given (classes_labels, or NULL), had not. */
void sample_known_check(const struct classes *k, const char *labels, const struct part *part,
	struct diags *d);
/* Warn about classes of the part `name` without training samples, and if it has one of several classes alone. */
void sample_parts_check(const struct classes *k, const struct part *train, const struct part *other, const char *name,
	struct span at, struct diags *d);
/* Warn about inputs of angles beyond SAMPLE_ANGLE_MAX; streamed rows are not checked. */
void sample_angles_check(const struct program *p, const struct part *part, struct span at,
	struct diags *d);
