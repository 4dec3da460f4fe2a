/* SPDX-License-Identifier: Apache-2.0
 * What the steps and stages of a plan cost, counted: shared by what adds it up (plan_work.c) and what turns it
 * into the least time of a machine (plan_floor.c). */
#ifndef QCNN_PLAN_WORK_H
#define QCNN_PLAN_WORK_H

#include "runtime/exec/plan.h"

/* Floating-point operations an amplitude: of a step forward, where its qubits are |0> still (fresh) or not, and of its
 * way back alone (psi and lambda undone, the cross matrix; a tail makes lambda). */
double plan_step_flops(const struct plan *pl, const struct plan_step *s, bool fresh);
double plan_back_flops(const struct plan *pl, const struct plan_step *s);

/* Amplitudes that a stage visits, and those of them that a step works on, are fewer where bits are still |0>.
 * live: bits that steps before the stage have turned; left: those that the way back finds turned besides. */
struct plan_visited { uint64_t hot, live, left; double there, back; };

struct plan_visited plan_visit(const struct plan *pl, const struct plan_circuit *c, const struct plan_stage *s);
/* Amplitudes that a step works on, forward and back.  fresh: forward it writes them all and reads only those where its
 * targets are 0, since no step before has turned one of these. */
struct plan_visited_step { double there, back; bool fresh; };

/* The stage's next step; they are asked for in their order.  Fresh is what the kernels make of it where nothing hinders
 * them: diagonal steps that it takes along, one-qubit steps that share its visit and targets in the lanes do (cpu_ops.c),
 * so that operations forward are never counted too high. */
struct plan_visited_step plan_visit_step(const struct plan *pl, struct plan_visited *v, const struct plan_step *s);
/* Amplitudes that the stage reads before its first step; `there` are written. */
double plan_visit_read(const struct plan_visited *v);

#endif
