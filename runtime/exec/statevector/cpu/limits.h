/* SPDX-License-Identifier: Apache-2.0
 * What this machine can do at best: stream rates and arithmetic, measured.
 *
 * Every kernel is judged by its share of these.  The loops are compiled once per
 * precision and instruction set, as the kernels are. */
#pragma once

#include <stddef.h>
#include "runtime/base/err.h"
#include "runtime/exec/target.h"

/* One table per precision and instruction set (limits_tmpl.c). */
struct limit_loops {
	/* v[i] *= c for n numbers, n a multiple of 512; narrow: by vectors of at most 32 bytes. */
	void (*scale)(void *v, size_t n, double c);
	void (*scale_narrow)(void *v, size_t n, double c);
	/* v[i] = c, by non-temporal stores where the kernels of the set have such stores. */
	void (*write_nontemporal)(void *v, size_t n, double c);
	/* `rounds` rounds of independent multiply-adds on full vectors: returns their flops.
	 * *sink gets a number that depends on all of them. */
	double (*multiply_add)(size_t rounds, double *sink);
	size_t real_bytes;
	bool nontemporal; /* the set has such stores */
};
const struct limit_loops *limit_loops_find(enum isa isa, enum precision p);

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
