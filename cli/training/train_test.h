/* SPDX-License-Identifier: Apache-2.0
 * The test part with the weights of a training that has ended. */
#pragma once

#include "cli/job/job.h"

/* Sets j->test, to the numbers that qcnn infer prints; a note says why where it cannot be evaluated. */
void train_test(const struct cli *c, struct job *j, const double *weight);
