/* SPDX-License-Identifier: Apache-2.0
 * Light cones per observable: a circuit with several outputs as several circuits, each
 * with the applies and wires that its own outputs see.
 *
 * What cannot reach an output is a unitary under a trace; wires that only such applies
 * touch are not needed.  Outputs that are neighbours stay together where that is
 * cheaper.  Readouts, weights and inputs keep their order: the new program gives the
 * same numbers, but for rounding. */
#pragma once

#include "runtime/exec/engine.h"

enum { CONES_OUTPUTS_MAX = 128 }; /* of a circuit that is looked at */

/* The program of the cones, in a, sharing p's tables; NULL where no circuit falls apart or loses a wire. */
const struct program *cones_of(const struct program *p, struct arena *a);
/* The program that is evaluated in place of p: its cones in a, where they may be used and are worth it, or p. */
const struct program *light_cones_program(const struct program *p,
	const struct evaluator_options *o, struct arena *a);
/* A batch that is evaluated by p's cones. */
void light_cones_count(const struct program *cones, struct optimisation_tally *tally);
/* For the table of the engine (engine.h). */
void light_cones_describe(const struct engine_problem *p, struct buf *out);
void light_cones_text(const struct optimisation_use *u, struct buf *out);
