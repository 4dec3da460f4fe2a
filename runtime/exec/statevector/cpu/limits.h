/* SPDX-License-Identifier: Apache-2.0
 * What this machine can do at best: stream rates and arithmetic, measured.
 *
 * Every kernel is judged by its share of these.  The loops are compiled with the kernels. */
#pragma once

#include "runtime/base/err.h"
#include "runtime/exec/statevector/plan/plan.h"

/* Measure a target of the cpu backend with that many threads; takes less than a second or two.  The array is smaller where
 * memory is short.  -ERR_CONFIG when this build or machine lacks its kernels. */
int limits_measure(const struct target *t, unsigned nthread, struct plan_limits *out, struct err *e);
