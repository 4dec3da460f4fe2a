/* SPDX-License-Identifier: Apache-2.0
 * Hands out work units and collects their results, exactly once each.
 *
 * A step is a fixed list of unit ids 0 .. nunit-1.  Compute threads (in this
 * process or elsewhere) pull ids and push results; the sum over units is exact
 * integer arithmetic, so it does not depend on who did what.  A pool owns no
 * compute threads.  All calls but begin and end may come from any thread. */
#ifndef QCNN_POOL_H
#define QCNN_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "runtime/base/err.h"
#include "runtime/base/fixed.h"

struct pool;

/* What a pool whose workers are elsewhere needs to know of a step: samples are numbers that go
 * there and numbers that come back.  Unit u is the samples u * width .. of nsample. */
struct pool_step {
	uint64_t version;            /* of the weights: equal versions, equal weights */
	const double *weight; uint32_t nweight;
	bool gradient;
	uint32_t nsample, width;
	uint32_t nin, nout;          /* numbers of a sample: to the worker, and back */
	uint64_t draw_key; uint32_t draw_first;      /* of shots: see evaluator_draws */
	void *ctx;
	/* Where inputs, the first nx of a sample's numbers, are rows of data that stay as they are: all, (nall, nx; NULL
	 * where they are of this step alone), and which row a sample is. */
	const double *all; uint32_t nall, nx;
	uint32_t (*row)(void *ctx, uint32_t sample);
	uint32_t file;               /* or rows of the job's file of that number, from 1 on; 0: of none */
	/* in[nin] of a sample; out[nout] of a sample has come. */
	void (*give)(void *ctx, uint32_t sample, double *in);
	void (*take)(void *ctx, uint32_t sample, const double *out);
	/* Do a unit here, since a worker could not; v as that of push. */
	int (*redo)(void *ctx, uint32_t unit, struct fixed *v, struct err *e);
};

struct pool_ops {
	const char *name;
	/* NULL in a pool of this process, whose threads pull.  Else called before begin: the units
	 * are done elsewhere, and nobody pulls.  *s is borrowed until end. */
	int (*offer)(struct pool *p, const struct pool_step *s, struct err *e);
	/* Start a step of nunit units whose result vectors have n entries. */
	int (*begin)(struct pool *p, uint32_t nunit, size_t n, struct err *e);
	/* The next open unit for `worker`, or -1 when there is none. */
	int64_t (*pull)(struct pool *p, unsigned worker);
	/* Add v (n entries) as the sum of the nid units id[0..nid).  Counts only if
	 * all of them are still open; else it is dropped and 0 is returned (1: counted;
	 * negative: a limb would overflow or the step was aborted). */
	int (*push)(struct pool *p, unsigned worker, const uint32_t *id, size_t nid,
		const struct fixed *v);
	/* A worker is gone: its ids are open again.  A worker joined: its number. */
	void (*lose)(struct pool *p, unsigned worker);
	int (*join)(struct pool *p);
	/* Give up the step: pull answers -1 from now on and end returns e. */
	void (*abort)(struct pool *p, const struct err *e);
	/* Wait until every unit is in; write the sums (n entries). */
	int (*end)(struct pool *p, struct fixed *sum, struct err *e);
	/* Units done by each worker since the pool was made (for logs and tests). */
	size_t (*shares)(const struct pool *p, uint64_t *unit_count, size_t max_worker);
	void (*free)(struct pool *p);
};

/* First member of every pool. */
struct pool { const struct pool_ops *ops; };

#endif
