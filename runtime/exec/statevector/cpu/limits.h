/* SPDX-License-Identifier: Apache-2.0
 * What this machine can do at best: stream rates and arithmetic, measured.
 *
 * Every kernel is judged by its share of these.  The loops are compiled with the kernels. */
#pragma once

#include "runtime/base/err.h"
#include "runtime/exec/target.h"

struct limits {
	unsigned nthread;
	const struct target *target;
	double stream_gb_s;          /* all threads together, in place: read and written bytes */
	double write_gb_s; /* all threads together, written bytes alone: memory that was not read */
	bool nontemporal;  /* which was written by non-temporal stores */
	double l2_gb_s;              /* per core, in place, with all threads at work */
	double single_gflop_s, double_gflop_s;   /* all threads together; a multiply-add is two */
	uint64_t stream_bytes;       /* of the array that was streamed */
};

/* Measure a target of the cpu backend with that many threads; takes less than a second or two.  The array is smaller where
 * memory is short.  -ERR_CONFIG when this build or machine lacks its kernels. */
int limits_measure(const struct target *t, unsigned nthread, struct limits *out, struct err *e);
