/* SPDX-License-Identifier: Apache-2.0
 * Gates as products of elementary ones. */
#pragma once

#include "lang/gates.h"

enum openqasm_kind {
	PART_PHASE,    /* e^(i a), on no wire */
	PART_P,        /* e^(i a) where the wire is 1 */
	PART_CP,       /* e^(i a) where wire[0] and wire[1] are 1 */
	PART_ROTATION, /* exp(-i a P/2) about the word P */
	PART_X,
	PART_H,
	PART_CX /* of wire[1], where wire[0] is 1 */
};

struct openqasm_part {
	enum gate of;
	enum openqasm_kind kind;
	bool always; /* under controls, too: it is undone by another part where those between do nothing */
	uint8_t word; /* ROTATION */
	uint8_t wire[GATE_TARGETS_MAX];
	double number, factor[GATE_ANGLES_MAX]; /* a: number + sum of factor[k] * angle[k] */
};

/* The parts of a gate that is no Pauli word, the first acts first; 0: the identity. */
size_t openqasm_parts(enum gate g, const struct openqasm_part **part);
