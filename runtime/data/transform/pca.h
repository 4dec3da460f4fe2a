/* SPDX-License-Identifier: Apache-2.0
 * Principal components of rows of numbers. */
#pragma once

#include <stdint.h>
#include "runtime/data/transform/covariance.h"

/* The k directions of largest variance of the n columns of c, which has ended, by falling variance: out (k, n)
 * of length 1, each with its largest entry in size positive. k <= n. */
int pca_directions(struct covariance *c, uint32_t k, double *out, struct err *e);
