/* SPDX-License-Identifier: Apache-2.0
 * Angle expressions while compiling: a DAG in which equal nodes are one node.
 *
 * Numbers are those of struct expr of program.h; operands are always smaller than
 * the node that uses them, so a walk in order needs no recursion. */
#pragma once

#include "runtime/program/program.h"

enum { EXPRS_WEIGHT = 1, EXPRS_INPUT = 2, EXPRS_DRAW = 4 }; /* what a node depends on */

struct exprs {
	struct expr *v; uint8_t *depends;
	uint32_t n, cap;
	uint32_t *table; uint32_t ntable;        /* open addressing, INDEX_NONE is empty */
	bool full;                               /* PROGRAM_EXPRS_MAX reached; numbers are then 0 */
};

void exprs_init(struct exprs *x);
/* Expressions of a program, under their numbers; x was initialised. */
void exprs_load(struct exprs *x, const struct expr *v, uint32_t n);
void exprs_release(struct exprs *x);
uint32_t exprs_const(struct exprs *x, double value);
uint32_t exprs_leaf(struct exprs *x, enum expr_op op, uint32_t number); /* WEIGHT, INPUT, DRAW */
uint32_t exprs_node(struct exprs *x, enum expr_op op, uint32_t a, uint32_t b);
/* The same, but constants are computed and neutral elements vanish. */
uint32_t exprs_folded(struct exprs *x, enum expr_op op, uint32_t a, uint32_t b);
bool exprs_is_const(const struct exprs *x, uint32_t e, double *value);
