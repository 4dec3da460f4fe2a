/* SPDX-License-Identifier: Apache-2.0
 * Stages of a large state: which bits of the index are local, and which steps run then. */
#pragma once

#include "runtime/exec/statevector/plan/plan.h"

/* Stages that write more bytes than this use non-temporal stores for what they have not read. */
enum { PLAN_NONTEMPORAL_BYTES = 32 << 20 };

/* Numbers in a vector of the plan's target: samples in the lanes of SHAPE_BATCHED. */
static inline unsigned plan_lanes(const struct plan *pl) { return target_lanes(pl->target, pl->precision); }
static inline unsigned plan_lane_bits(const struct plan *pl)
{
	return (unsigned)__builtin_ctz(plan_lanes(pl));
}

/* Index bits of the state as stored: nbit, or more where a state, or a rank's part of it, would not fill the
 * vectors of a block (the extra bits are always 0). */
unsigned plan_stored_bits(const struct plan *pl, unsigned nbit);

/* Targets and controls of a step, and the local bits of a stage, as sets. */
uint64_t plan_step_bits(const struct plan_step *s);
uint64_t plan_local(const struct plan_stage *s);
/* Does the step multiply each amplitude by a phase, for all angles?  Its targets may then be any bits. */
bool plan_diagonal(const struct plan *pl, const struct plan_step *s);
/* Bits of the index that the step changes, its targets; and those that it only reads: its controls, and the targets of
 * a diagonal step, which has no others. Steps commute where the targets of neither are among the bits of the other. */
uint64_t plan_targets(const struct plan *pl, const struct plan_step *s);
uint64_t plan_controls(const struct plan *pl, const struct plan_step *s);

/* Bits that are no longer known to be |0> after the first nstep steps. */
uint64_t plan_nonzero(const struct plan *pl, const struct plan_circuit *c, uint32_t nstep);
/* Bits that the backward pass finds nonzero because of steps from `first` on that it does not undo. */
uint64_t plan_left(const struct plan *pl, const struct plan_circuit *c, uint32_t first);

/* Set c->first_transition and every step's undo.
 *
 * The reduced transition matrix of a step is a sum over all bits that it does not touch, so it does not change
 * when psi and lambda both go through a unitary on those: of what comes later, only the steps
 * that do not commute with it, and those that do not commute with these, must be undone first.
 * Steps that change a bit which it takes for |0> are undone too, where that should be faster: sums over
 * rows where psi was 0 need no visit then. */
void plan_backward_pass(const struct plan *pl, struct plan_circuit *c);

/* What that has to do in a stage. */
struct plan_duties {
	bool undo, transition;
};
struct plan_duties plan_duties(const struct plan_circuit *c, const struct plan_stage *s);

/* Bring constant steps to the front of c, past steps on other bits, and set nstart;
 * keeps the rest in order.  Before plan_cut. */
void plan_start(struct plan *pl, struct plan_circuit *c);

/* Where states are split over ranks: reorder c's steps (only past steps that they commute with by their bits) and set its
 * segments, but for places and exchanges; else, one segment. Prepare steps come first. After plan_start, before plan_cut.
 * Products with x or y on too many bits for a part are left to plan_products. */
void plan_segments(struct plan *pl, struct plan_circuit *c);
enum { PLAN_SPLIT_LOCAL_MIN = 4 /* bits of a state that are no rank bits, at least */ };

/* Bits whose steps were left behind hold back those that do not commute with them. */
struct held {
	uint64_t targets, controls; /* of those steps */
};
static inline bool plan_is_held(const struct held *h, uint64_t targets, uint64_t controls)
{
	return (targets & (h->targets | h->controls)) || (controls & h->targets);
}
static inline void plan_hold(struct held *h, uint64_t targets, uint64_t controls)
{
	h->targets |= targets;
	h->controls |= controls;
}

/* How a circuit is cut: local bits that the first stages behind the kept start have fewer than fit; and visits of steps that the
 * search for local bits made. */
enum { PLAN_CUT_STAGES = 3 };
struct plan_cut { unsigned less[PLAN_CUT_STAGES]; uint64_t visits; };

/* Reorder c's unitary steps (only past steps that they commute with by their bits) and cut them into stages,
 * greedily; prepare steps come first and belong to none.  The targets of a stage's steps are
 * local; their controls may be any.  At most 63 bits are stored.  random: another legal cut, into smaller blocks (tests). */
void plan_cut(struct plan *pl, struct plan_circuit *c, struct plan_cut *cut, uint64_t random);

/* What the circuit is expected to take on a machine like many, whatever this one is: plans are the same everywhere. */
struct plan_seconds plan_usual_seconds(const struct plan *pl, const struct plan_circuit *c);

/* Once steps stay where they are and the backward pass is known: fill the blocks of c's stages up, and set where bits lie in the state, of stages and in
 * the end (without stages: bit b at b).  random: any legal places (tests). */
void plan_place(struct plan *pl, struct plan_circuit *c, uint64_t random);
/* After plan_place: segments behind the last, for products with x or y that cannot be read in
 * one that is there; counts visits for products (nflip). */
void plan_products(struct plan *pl, struct plan_circuit *c);

/* Bits of the index at their places. */
uint64_t plan_places(const uint8_t *place, uint64_t bits);

/* Bits that are in the lanes of the stage's blocks (before plan_place, those that are in the lanes of any state). */
uint64_t plan_lanes_inside(const struct plan *pl, const struct plan_stage *s);

/* Amplitudes of a block that lie side by side in the state, as a power of two. */
unsigned plan_run(const struct plan *pl, const struct plan_stage *s);
