/* SPDX-License-Identifier: Apache-2.0
 * What a plan costs, counted: floating-point operations, passes, bytes. */
#include "config.h"
#include "runtime/exec/plan.h"

#include <math.h>
#include <string.h>

#include "runtime/exec/plan_build.h"
#include "runtime/exec/plan_stage.h"

/* ---- executed ---- */

/* Share of the amplitudes that a diagonal matrix multiplies by something other than 1, where its
 * definition shows it. */
static double active_share(const struct matrix *m)
{
	if (m->nitem != 1 || m->item->ncontrol)
		return 1;
	switch (m->item->gate) {
	case GATE_S:
	case GATE_SDG:
	case GATE_T:
	case GATE_TDG:
	case GATE_P:
		return 0.5;
	case GATE_PAULI:
		return m->ntarget == 1 ? 0.5 : 1;
	default:
		return 1;
	}
}

static double step_cost(const struct plan *pl, const struct plan_step *s)
{
	const struct matrix *m = pl->set.def[s->matrix];
	double cost;

	if (s->op != STEP_UNITARY)
		return 0;
	cost = plan_cost(s->ntarget, m->flags) * (m->flags & MATRIX_DIAGONAL ? active_share(m) : 1);
	return ldexp(cost, -(int)s->ncontrol);
}

/* Forward once; backward undoes psi and lambda, and forms a cross matrix, where these are wanted. */
static double circuit_flops(const struct plan *pl, const struct plan_circuit *c, bool gradient)
{
	double per_amplitude = 0;

	for (uint32_t k = c->nstart; k < c->nstep; k++) {   /* the kept start costs nothing */
		const struct plan_step *s = &c->step[k];

		per_amplitude += step_cost(pl, s);
		if (gradient && s->undo)
			per_amplitude += 2 * step_cost(pl, s);
		if (gradient && s->cross)
			per_amplitude += ldexp(plan_diagonal(pl, s) ? 8 : 8 << s->ntarget, -(int)s->ncontrol);
	}
	return ldexp(per_amplitude, (int)c->nbit);
}

/* ---- nominal ---- */

/* Did the text call a block, not a gate? */
static bool is_block(const struct matrix *m)
{
	char name[16];

	if (m->nitem != 1 || m->item->gate == GATE_NONE)
		return true;
	return m->name && strcmp(m->name, gate_word_name(m->item->gate, m->item->word, name)) != 0;
}

static unsigned targets(const struct apply *a)
{
	return a->nwire - a->ncontrol;
}

/* As dense matrices: the blocks on two qubits and more, or every apply. */
static double dense_flops(const struct program *p, const struct circuit_code *code, bool blocks)
{
	double per_amplitude = 0;

	for (uint32_t i = 0; i < code->napply; i++) {
		const struct apply *a = &code->apply[i];

		if (a->op == APPLY_UNITARY && (!blocks || (targets(a) > 1 && is_block(&p->matrix[a->matrix]))))
			per_amplitude += ldexp(8 << targets(a), -(int)a->ncontrol);
	}
	return ldexp(per_amplitude, (int)code->nwire);
}

double plan_nominal(const struct program *p, bool gradient)
{
	double blocks = 0, all = 0;

	for (uint32_t c = 0; c < p->ncircuit; c++) {
		blocks += dense_flops(p, &p->circuit[c], true);
		all += dense_flops(p, &p->circuit[c], false);
	}
	return (gradient ? 4 : 1) * (blocks > 0 ? blocks : all);
}

void plan_flops(const struct plan *pl, bool gradient, double *executed, double *nominal)
{
	*executed = 0;
	for (uint32_t c = 0; c < pl->ncircuit; c++)
		*executed += circuit_flops(pl, &pl->circuit[c], gradient);
	*nominal = plan_nominal(pl->program, gradient);
}

/* ---- traffic ---- */

/* Stages that the way back visits: those with a step from first_cross on. */
static uint32_t backward_stages(const struct plan_circuit *c)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < c->nstage; k++)
		n += c->stage[k].first + c->stage[k].count > c->first_cross;
	return n;
}

/* Forward a pass reads and writes psi; backward psi and lambda; lambda is written once from psi. */
void plan_traffic(const struct plan *pl, bool gradient, double *bytes, uint32_t *passes)
{
	double amplitude = pl->precision == PRECISION_DOUBLE ? 16 : 8;

	*bytes = 0;
	*passes = 0;
	for (uint32_t c = 0; c < pl->ncircuit; c++) {
		const struct plan_circuit *pc = &pl->circuit[c];
		bool in_lanes = pl->shape == SHAPE_SAMPLES;
		uint32_t forward = in_lanes ? 1 : pc->nstage;
		uint32_t backward = !gradient ? 0 : in_lanes ? 1 : backward_stages(pc);
		double state = ldexp(amplitude, (int)(in_lanes ? pc->nbit : plan_stored_bits(pl->isa, pl->precision, pc->nbit)));

		*passes += forward + backward;
		*bytes += state * (2 * forward + (backward ? 2 + 4 * backward : 0));
	}
}
