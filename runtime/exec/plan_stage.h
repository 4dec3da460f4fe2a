/* SPDX-License-Identifier: Apache-2.0
 * Stages of a large state: which index bits are brought near, and what runs then. */
#ifndef QCNN_PLAN_STAGE_H
#define QCNN_PLAN_STAGE_H

#include "runtime/exec/plan.h"

/* Numbers in a SIMD vector of a kernel set: samples in the lanes of SHAPE_SAMPLES. 1 for
 * ISA_NONE (ref). */
unsigned plan_lanes(enum isa isa, enum precision p);

/* Index bits of the state as stored: nbit, or more where a state would not fill the
 * vectors of a block (the extra bits are always 0). */
unsigned plan_stored_bits(enum isa isa, enum precision p, unsigned nbit);

/* Bring constant steps to the front of c, past steps on other bits, and set nstart;
 * keeps the rest in order.  Before plan_stages. */
void plan_start(struct plan *pl, struct plan_circuit *c);

/* Reorder c's unitary steps (only past steps on other bits) and cut them into stages,
 * greedily; prepare steps come first and belong to none.  A stage's targets are hot;
 * its controls may be any bits.  Sets first_cross.  random: another legal cut (tests). */
int plan_stages(struct plan *pl, struct plan_circuit *c, uint64_t random, struct err *e);

#endif
