/* SPDX-License-Identifier: Apache-2.0
 * Where the bits of an amplitude's index are while a stage runs. */
#pragma once

#include "runtime/exec/statevector/cpu/cpu_state.h"

struct cpu_layout {
	int8_t row_bit[64];          /* of the block, or -1 */
	int8_t lane_bit[64];         /* or -1 */
	int8_t outer_bit[64];        /* of the state's rows, or -1 */
};

/* Set l, and of s what its blocks are: nlocal, row_bit, row, moves, the lanes exchanged in its transfers, and of both transfers' blocks
 * `outer` and `absent`.  after: places of bits behind the stage. */
void cpu_lay_out(const struct backend_state *b, const struct cpu_circuit *c, const struct plan_stage *ps, const uint8_t *after,
	struct cpu_stage *s, struct cpu_layout *l);
/* SHAPE_BATCHED: every bit is a row bit of the one block. */
void cpu_lay_out_whole(const struct cpu_circuit *c, struct cpu_stage *s, struct cpu_layout *l);
