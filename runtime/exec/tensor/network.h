/* SPDX-License-Identifier: Apache-2.0
 * A circuit and a product of Pauli operators as a network of real tensors.
 *
 * The state is a density operator, given by its traces with all products of I, X, Y, Z. A gate on k qubits is a real 4^k x 4^k
 * matrix R[i, j] = Tr(P_i U P_j U^+) / 2^k between the traces before it and
 * those behind it; |0> has 1 at I and Z, a qubit that nothing reads any more is traced out, which leaves I, and <P> is one number that the
 * whole network gives. A qubit that
 * is traced out behind a gate that it only controls has a leg of two values there, I and Z: the others are found to be 0 and
 * left out.
 *
 * Gates that the product does not depend on are left out (light cone). |0>, traces and factors of the product are part of the
 * gate's tensor next to them: the tensors are those of gates alone. */
#pragma once

#include "runtime/base/arena.h"
#include "runtime/exec/tensor/noise_channel.h"
#include "runtime/program/matrix.h"

enum {
	NETWORK_QUBITS = 3, /* of a gate, controls included */
	NETWORK_LEGS = 2 * NETWORK_QUBITS,
	NETWORK_SUM = 1 << NETWORK_QUBITS, /* entries of a gate's matrix that are added for one of its tensor */
	TRANSFER_ENTRIES = 1 << (4 * NETWORK_QUBITS)
};

/* A gate's matrix R, which all its uses share. Qubit w of it, controls first, is digit w of i and j (base 4). */
struct transfer {
	uint32_t matrix; /* number in network_set.set */
	bool adjoint;
	uint8_t ncontrol, nqubit; /* nqubit: with the controls */
	uint32_t control_ones;
	uint32_t channel; /* number in network_set.channel; INDEX_NONE: a gate */
	enum value_class cls;
	size_t offset; /* of its entries among those of all (i major) */
};

/* The tensor of a gate. Entry e, its legs in order, the last fastest, is the sum of `sum` entries of the transfer matrix:
 * entry[e * sum ...]. */
struct network_leaf {
	uint32_t transfer;
	bool by_sample; /* the transfer matrix is of class SAMPLE */
	uint32_t nleg;
	uint32_t leg[NETWORK_LEGS]; /* edges */
	uint32_t sum, size;
	const uint16_t *entry;
};

struct network_edge {
	uint32_t leaf[2]; /* that it joins: from the first to the second in time */
	uint32_t nvalue;  /* of I, X, Y, Z that matter */
	uint8_t value[4];
};

struct network {
	double factor; /* of <P>, beside the leaves */
	uint32_t nleaf;
	struct network_leaf *leaf;
	uint32_t nedge;
	struct network_edge *edge;
};

/* <P> of one circuit, and the readouts that it is part of. */
struct network_term {
	uint32_t circuit, nfactor;
	const struct pauli_factor *factor;
	struct network network;
};
struct network_part { /* readout += coefficient * term */
	uint32_t readout, term;
	double coefficient;
};

/* All that a program's readouts are made of. */
struct network_set {
	const struct program *program;
	struct matrix_set set; /* the program's matrices, and parts of these */
	uint32_t nchannel;     /* noise channels, those alike once */
	struct noise_channel *channel;
	uint32_t ntransfer;
	struct transfer *transfer;
	size_t ntransfer_entry;
	uint32_t nterm;
	struct network_term *term;
	uint32_t npart;
	struct network_part *part;
	double *constant; /* (nreadout) */
};

/* NULL: network_build can. Otherwise why not, as a phrase. noisy: noise channels are not left out. */
const char *network_obstacle(const struct program *p, bool noisy);
/* Of a program without obstacle; everything lives in a. take is called for each term whose network is made, after all that it refers
 * to: if it returns false, there are no more, and the result is false. Later terms may add matrices to s->set. */
bool network_build(struct network_set *s, const struct program *p, bool noisy, struct arena *a,
	bool (*take)(void *ctx, uint32_t term), void *ctx);

/* transfer_matrix.c: R[4^k, 4^k] of t for u, the matrix t->matrix. */
void transfer_make(const struct transfer *t, const cplx *u, double *r);
/* The gradient g[4^k, 4^k] with respect to R, added to what gradients need of the reduced transition matrix of t->matrix (anti_hermitian.h).
 * r, u: of transfer_make. */
void transfer_gradient(const struct transfer *t, const cplx *u, const double *r, const double *g,
	double *anti_hermitian);
