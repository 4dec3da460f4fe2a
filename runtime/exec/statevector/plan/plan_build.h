/* SPDX-License-Identifier: Apache-2.0
 * A plan while it is made: the growing table of matrices and what is trainable.
 *
 * plan.c opens and closes it; plan_split.c, plan_fuse.c and plan_pair.c add products to the table. */
#pragma once

#include "runtime/exec/statevector/plan/plan.h"
#include "runtime/exec/statevector/plan/plan_stage.h"

struct plan_build {
	struct plan *pl;
	const struct plan_options *o;
	const bool *expr_trainable;      /* (nexpr): depends on a weight that is not frozen */
	const struct matrix **def;       /* (ndef): the program's, then the plan's own */
	bool *trainable;                 /* (ndef) */
	uint32_t ndef, cap, trainable_cap;
	uint32_t *bucket, nbucket;       /* hash of the plan's own definitions; 0: empty, else number + 1 */
};

/* Number of the matrix on ntarget wires that is the product of the items: an existing one
 * where its definition is the same.  Items refer to
 * matrices that are there. */
uint32_t plan_matrix(struct plan_build *b, unsigned ntarget, uint32_t nitem, const struct item *item);

/* Take blocks of c apart whose core is cheap, for plan_fuse to merge the rest elsewhere. */
void plan_split(struct plan_build *b, struct plan_circuit *c);

/* Merge steps of c where that saves arithmetic. */
void plan_fuse(struct plan_build *b, struct plan_circuit *c);

/* The whole step as one item: its matrix, under its controls; wires are places in s->bit. */
struct item plan_item(const struct plan_step *s);

/* Where that saves arithmetic, make the last steps before the outputs of c one that is marked as its tail; c->output is there. */
void plan_tail(struct plan_build *b, struct plan_circuit *c);
/* Once stages are cut: bring the tail to the end, or mark it no more where it is not in the last stage. */
void plan_tail_last(struct plan_circuit *c);

/* The cut into stages that is expected to be the fastest of some; c is left as it is. */
struct plan_cut plan_try(const struct plan_build *b, const struct plan_circuit *c);

/* Pair one-qubit steps within the stages of c, where all threads share a state and steps may be merged.  pl->set is that of b
 * so far. */
void plan_pairs(struct plan_build *b, struct plan_circuit *c);

/* Floating-point operations an amplitude of a matrix with these flags (enum matrix_flag), and of its reduced transition matrix. */
double plan_cost(unsigned ntarget, unsigned flags);
double plan_transition_cost(unsigned ntarget, unsigned flags);
