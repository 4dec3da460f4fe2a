/* SPDX-License-Identifier: Apache-2.0
 * What the tensor engine does for a program: networks, their trees, and where each tensor lies.
 *
 * A tensor differs between samples (`by_sample`) where a gate below it does. The others are made once for new weights, in memory of the
 * engine; those that differ belong to a worker, whose unit has `lanes` samples: entry i of sample l is at i * lanes + l. */
#pragma once

#include "runtime/exec/contraction.h"
#include "runtime/exec/engine.h"
#include "runtime/exec/tensor/contraction_tree.h"

struct tensor_node {
	bool by_sample;
	bool trained; /* a weight that is not frozen is below it: gradients go there */
	uint32_t nleg;
	const uint32_t *leg; /* edges, in the order in which they lie in memory, the last fastest */
	size_t size;         /* entries */
	size_t at;           /* entry of its first in the memory of the engine, or of a worker */
	size_t gradient_at;  /* the same of gradients, all in the memory of a worker */
	/* Of node nleaf + k: C[m, n] of A[m, k] B[k, n], the tensors of its children; offsets of rows and columns
	 * (tensor_plan_offsets). */
	uint32_t m, n, k;
	bool large; /* worth sharing among threads */
	const uint32_t *a_row, *a_column, *b_row, *b_column, *c_row, *c_column;
};

struct tensor_term {
	const struct network *network;
	struct contraction_tree tree;
	struct tensor_node *node; /* (tree.nnode) */
};

struct tensor_plan {
	struct arena arena;
	struct network_set set;
	struct tensor_term *term; /* (set.nterm) */
	unsigned lanes;           /* samples of a unit: 1 or CONTRACTION_LANES */
	bool keeps; /* tensors of all terms are kept from the forward to the backward pass */
	/* Entries: of the engine; of a worker, by sample; of its gradients, by sample and not. */
	size_t nshared, nsample, ngradient_sample, ngradient_shared;
	/* Multiplications and entries for new weights, and of a sample. */
	double shared_work, shared_entries, sample_work, sample_entries;
	uint32_t nsample_node; /* contractions of a sample */
	/* Of the multiplications for new weights, and of a sample, those of large contractions (tensor_plan_offsets). */
	double shared_large, sample_large;
	uint32_t nslice; /* units of a batch whose samples are alike, term k of unit k % nslice; 0: units of samples */
	double widest;
	double table_entries; /* of offsets */
	uint32_t ndepends;
	bool *depends; /* (ndepends: set.set.n) matrices that depend on weights that are not frozen */
};

/* NULL: a tensor has more than 2^32 entries, or all orders of contraction are far too long. Of *p, whether o leaves noise channels out,
 * and o's options for tests alone: equal programs have equal plans. */
struct tensor_plan *tensor_plan_new(const struct program *p, const struct evaluator_options *o);
/* The same for batches of nsample samples; NULL, too, where a sample takes more than `most` operations. */
struct tensor_plan *tensor_plan_within(const struct program *p, const struct evaluator_options *o,
	uint32_t nsample, bool gradient, double most);
void tensor_plan_free(struct tensor_plan *pl);
/* Fills in the offsets: memory that tensor_plan_bytes counts. */
void tensor_plan_offsets(struct tensor_plan *pl);
/* Operations of a batch of nsample samples. */
double tensor_plan_flops(const struct tensor_plan *pl, uint32_t nsample, bool gradient);
double tensor_plan_effort(const struct tensor_plan *pl, uint32_t nsample, bool gradient);
/* Bytes of tensors, of the engine and each of nworker workers. */
double tensor_plan_bytes(const struct tensor_plan *pl, unsigned nworker, bool gradient);
