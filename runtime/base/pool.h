/* SPDX-License-Identifier: Apache-2.0
 * Computes the work units of a step, and adds up their results, each exactly once.
 *
 * A step is a fixed list of unit ids 0 .. nunit-1.  The sum over units is exact integer arithmetic, so it does not
 * depend on who computed what.  In one pool the units are computed by threads of this process, which pull them; in the
 * other by processes that the pool hands them to. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "runtime/base/err.h"
#include "runtime/base/fixed.h"

struct pool;
struct profile;

/* A step as other processes need it: samples are numbers that are sent there and numbers that come back.  Unit u is the
 * samples u * width .. of nsample. */
struct pool_step {
	uint64_t version;            /* of the weights: equal versions, equal weights */
	const double *weight; uint32_t nweight;
	bool gradient;
	uint32_t nsample, width;
	uint32_t nin, nout;          /* numbers of a sample: to the worker, and back */
	uint64_t draw_key;
	uint32_t draw_first; /* of shots and trajectories: see evaluator_draws */
	void *ctx;
	/* Where inputs, the first nx of a sample's numbers, are rows of data that does not change: all (nall, nx; NULL where
	 * they are of this step alone), and which row a sample is. */
	const double *all; uint32_t nall, nx;
	uint32_t (*row)(void *ctx, uint32_t sample);
	uint32_t file;               /* number, from 1 on, of the job's data file that has these rows; 0: none */
	/* Write in[nin] of a sample; out[nout] of a sample has come. */
	void (*give)(void *ctx, uint32_t sample, double *in);
	void (*take)(void *ctx, uint32_t sample, const double *out);
	/* Recompute locally a unit that a worker could not compute; v: its vector. */
	int (*recompute)(void *ctx, uint32_t unit, struct fixed *v, struct err *e);
};

struct pool_ops {
	/* Start a step of nunit units whose vectors have n entries.  *s is borrowed until end; NULL for a pool of threads. */
	int (*begin)(struct pool *p, const struct pool_step *s, uint32_t nunit, size_t n, struct err *e);
	/* Wait until every unit is done; write the sums (n entries). */
	int (*end)(struct pool *p, struct fixed *sum, struct err *e);
	/* Between two steps; NULL where all is done in this process. Processes elsewhere begin to record a profile (level:
	 * enum profile_level), each with bytes_max of memory for events at most; those that join while it lasts do so too.
	 * It returns when clocks have been compared, and the workers have been asked: best just before recorder_start. */
	int (*record)(struct pool *p, int level, uint64_t bytes_max, struct err *e);
	/* Between two steps, best after recorder_stop: they stop, and what each recorded is appended to the processes of *into,
	 * the first of which is this one, whose bytes and messages are filled in. A worker that was lost meanwhile, or does
	 * not answer within ten seconds, is marked as lost, with what is known of it. */
	int (*recorded)(struct pool *p, struct profile *into, struct err *e);
	void (*free)(struct pool *p);
};

/* Between begin and end, for the threads of this process; from any thread. */
struct pool_thread_ops {
	/* The next pending unit for thread `worker`, or -1 when there is none. */
	int64_t (*pull)(struct pool *p, unsigned worker);
	/* Add v (n entries) as the vector of unit id.  1: counted; 0: it was done already; negative: the sum has grown too
	 * large, or the step was aborted. */
	int (*push)(struct pool *p, unsigned worker, uint32_t id, const struct fixed *v);
	/* Give up the step: pull returns -1 from now on, and end returns *e. */
	void (*abort)(struct pool *p, const struct err *e);
};

/* First field of every pool. */
struct pool {
	const struct pool_ops *ops;
	const struct pool_thread_ops *threads;       /* NULL: other processes compute the units */
};
