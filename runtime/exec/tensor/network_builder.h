/* SPDX-License-Identifier: Apache-2.0
 * What the files that build networks share (network.h): light cones (light_cone.c), then the tensors of each and their edges
 * (network_tensors.c). */
#pragma once

#include "runtime/exec/tensor/network.h"

enum {
	PROBABILITY_QUBITS = 6, /* of one output: 2^6 products of Z */
	PROBES = 2
};

/* Entries of a list by the hash of what is looked for. */
struct numbers {
	uint32_t first[4096]; /* of each hash, one more than the number of the last entry; 0: none */
	uint32_t *next;       /* (n) of each entry, the same of the one before */
	uint32_t n;
};

struct gate_use {
	uint32_t transfer;
	uint32_t wire[NETWORK_QUBITS];
	unsigned nwire;
	unsigned last; /* bit w: nothing acts on wire w behind it */
};

/* The gates that a product depends on. */
struct cone {
	struct gate_use *gate; /* the last in time first */
	uint32_t n;
	bool *touched;     /* (nwire) by what is behind; while it is found */
	uint64_t *pending; /* bits of ops on wires that are needed; while it is found */
	bool counted;      /* only n is filled */
};

struct builder {
	struct network_set *s;
	struct arena *a;
	struct arena scratch; /* until all networks are built */
	const struct program *p;
	struct numbers terms, transfers, splits, channels;
	uint32_t ndef;
	const struct matrix **def; /* the program's matrices, and parts of them */
	/* Split matrices: of matrix `of` what acts first on qubit `qubit` alone, and the rest. */
	struct split {
		uint32_t of, qubit, first, rest;
	} * split;
	uint32_t nsplit;
	bool noisy;
	uint32_t *channel; /* (program's nmatrix) number in network_set.channel, or INDEX_NONE */
	/* Sets of random angles, with the transfer matrices that are known so far. */
	struct probe {
		cplx *u;
		double *value;
		double **transfer; /* (ntransfer), or NULL */
		double *other;     /* one that is not kept */
	} probe[PROBES];
	size_t nkept;      /* entries */
	double *zero;      /* weights or inputs */
	struct uses *uses; /* (program's ncircuit) */
};

/* ---- light_cone.c ---- */

/* Lists the products that the readouts are made of, and noise channels. */
void light_cones_begin(struct builder *b);
/* Adds the matrices and transfer matrices that it needs to those of the set, unless gates are only counted. */
void light_cone_find(struct builder *b, const struct network_term *t, struct cone *k);

/* ---- network_tensors.c ---- */

/* Set k of random angles, for the matrices that there are by now. */
void network_fill_probe(struct builder *b, unsigned k);
void network_of_cone(struct builder *b, struct network_term *t, const struct cone *cone);
