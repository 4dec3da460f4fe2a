/* SPDX-License-Identifier: Apache-2.0
 * What a plan costs, counted: floating-point operations, passes, bytes. */
#include "runtime/exec/statevector/plan/plan_work.h"

#include <math.h>
#include <string.h>

#include "runtime/exec/statevector/plan/plan_build.h"
#include "runtime/exec/statevector/plan/plan_stage.h"

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
	case GATE_P: return 0.5;
	case GATE_PAULI: return m->ntarget == 1 ? 0.5 : 1;
	default: return 1;
	}
}

/* Floating-point operations an amplitude, of a step forward, where its qubits are |0> still (on_zero) or not. */
static double step_flops(const struct plan *pl, const struct plan_step *s, bool on_zero)
{
	const struct matrix *m = pl->set.def[s->matrix];
	double cost;

	if (s->op != STEP_UNITARY)
		return 0;
	if (s->tail)   /* P forward, lambda back */
		return 8 << s->ntarget;
	if (on_zero) /* by one entry of the matrix's first column */
		return 8;
	if (pl->moves[s->matrix])
		return 0;
	if (m->flags & MATRIX_DIAGONAL)
		cost = plan_cost(s->ntarget, m->flags) * active_share(m);
	else           /* a permutation with factors is a matrix like any other */
		cost = plan_cost(s->ntarget, m->flags & ~(unsigned)MATRIX_PERMUTATION);
	return ldexp(cost, -(int)s->ncontrol);
}

static double transition_cost(const struct plan *pl, const struct plan_step *s)
{
	return ldexp(plan_transition_cost(s->ntarget, pl->set.def[s->matrix]->flags),
		-(int)s->ncontrol);
}

/* Of its backward pass alone: psi and lambda undone, the reduced transition matrix; a tail makes lambda. */
static double back_flops(const struct plan *pl, const struct plan_step *s)
{
	if (s->tail)
		return step_flops(pl, s, false);
	return (s->undo ? 2 * step_flops(pl, s, false) : 0)
		+ (s->transition ? transition_cost(pl, s) : 0);
}

struct plan_visited plan_visit(const struct plan *pl, const struct plan_circuit *c, const struct plan_stage *s)
{
	struct plan_visited v = { .live = plan_nonzero(pl, c, s->first),
		.left = plan_left(pl, c, s->first),
		.local = plan_local(s) };
	uint64_t all = v.live | plan_nonzero(pl, c, s->first + s->count), in_lanes = 0;

	for (unsigned k = 0; k < s->nlocal; k++) {
		uint64_t bit = UINT64_C(1) << s->local[k];

		in_lanes |= UINT64_C(1) << (s->place ? s->place[s->local[k]] : s->local[k])
				< plan_lanes(pl)
			? bit
			: 0;
	}
	v.lanes = plan_lanes_inside(pl, s);
	v.there = ldexp(1, (int)bits_count(all | v.local));
	v.back = ldexp(1, (int)bits_count(all | v.local | v.left));
	v.kept = c->first_transition < s->first
		? ldexp(v.back, -(int)bits_count(v.local & ~(v.live | v.left | in_lanes)))
		: 0;
	return v;
}

double plan_visit_read(const struct plan_visited *v)
{
	return ldexp(v->there, -(int)bits_count(v->local & ~v->live));
}

/* A step that is not diagonal: is it a matrix on all amplitudes?  Then it may write what it has not read, and multiply
 * amplitudes by a table of factors. */
static bool is_plain(const struct plan *pl, const struct plan_step *s)
{
	return s->op == STEP_UNITARY && !s->ncontrol && !s->tail && !pl->moves[s->matrix] && target_can(pl->target, TARGET_STAGES);
}

struct plan_visited_step plan_visit_step(const struct plan *pl, struct plan_visited *v, const struct plan_step *s)
{
	uint64_t own = plan_targets(pl, s),
		 idle = own ? v->local & ~(v->live | own | plan_controls(pl, s)) : 0;
	struct plan_visited_step n = { .there = ldexp(v->there, -(int)bits_count(idle)),
		.back = ldexp(v->back, -(int)bits_count(idle & ~v->left)) };

	n.along = (own & v->controls) && v->waiting > 1 && is_plain(pl, s) ? v->waiting : 0;
	n.on_zero = own && !n.along && !(own & v->live) && is_plain(pl, s);
	n.forward_flops = step_flops(pl, s, n.on_zero) * n.there;
	n.back_flops = back_flops(pl, s) * n.back;
	v->live |= own;
	if (s->op == STEP_UNITARY && !own && !(plan_controls(pl, s) & v->lanes)) {
		v->waiting++;
		v->controls |= plan_controls(pl, s);
		v->waits += n.forward_flops;
		n.forward_flops = 0;
	} else if (own & v->controls) {
		/* A table has a factor for a row: it serves all lanes. */
		n.forward_flops += n.along ? 6 * n.there + v->waits / plan_lanes(pl) : v->waits;
		v->waiting = 0;
		v->controls = 0;
		v->waits = 0;
	}
	return n;
}

/* Operations, and amplitudes that are moved without any. */
struct cost { double flops, moves; };

/* Forward once; backward undoes psi and lambda, and forms a reduced transition matrix, where these are wanted. */
static void add_step(const struct plan *pl, const struct plan_step *s, const struct plan_visited_step *n, bool gradient, struct cost *sum)
{
	sum->flops += n->forward_flops + (gradient ? n->back_flops : 0);
	if (s->op == STEP_UNITARY && pl->moves[s->matrix])
		sum->moves += ldexp(n->there + (gradient && s->undo ? 2 * n->back : 0), -(int)s->ncontrol);
}

static void add_stage(const struct plan *pl, const struct plan_circuit *c, const struct plan_stage *s, bool gradient, struct cost *sum)
{
	struct plan_visited v = plan_visit(pl, c, s);

	for (uint32_t k = s->first; k < s->first + s->count; k++) {
		struct plan_visited_step n = plan_visit_step(pl, &v, &c->step[k]);

		add_step(pl, &c->step[k], &n, gradient, sum);
	}
	sum->flops += v.waits;
}

/* A step of a state that is one block from the first step to the last. */
static struct plan_visited_step visit_whole(const struct plan *pl, const struct plan_circuit *c,
	const struct plan_step *s)
{
	double all = ldexp(1, (int)c->nbit);

	return (struct plan_visited_step){ .there = all,
		.back = all,
		.forward_flops = step_flops(pl, s, false) * all,
		.back_flops = back_flops(pl, s) * all };
}

/* The kept start, or all behind it. */
static void add_circuit(const struct plan *pl, const struct plan_circuit *c, bool start,
	bool gradient, struct cost *sum)
{
	uint32_t stages = start ? c->nstart_stage : c->nstage;
	uint32_t steps = c->nstage ? 0 : start ? c->nstart : c->nstep;

	for (uint32_t k = start ? 0 : c->nstart_stage; k < stages; k++)
		add_stage(pl, c, &c->stage[k], gradient, sum);
	for (uint32_t k = start ? 0 : c->nstart; k < steps; k++) {
		struct plan_visited_step n = visit_whole(pl, c, &c->step[k]);

		add_step(pl, &c->step[k], &n, gradient, sum);
	}
}

static struct cost cost_of(const struct plan *pl, bool start, bool gradient)
{
	struct cost sum = { 0 };

	for (uint32_t c = 0; c < pl->ncircuit; c++)
		add_circuit(pl, &pl->circuit[c], start, gradient, &sum);
	return sum;
}

double plan_start_flops(const struct plan *pl) { return cost_of(pl, true, false).flops; }

double plan_effort(const struct plan *pl, bool gradient)
{
	enum { MOVE_FLOPS = 4 };
	struct cost sum = cost_of(pl, false, gradient);

	return sum.flops + MOVE_FLOPS * sum.moves;
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

static unsigned targets(const struct apply *a) { return a->nwire - a->ncontrol; }

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

double plan_flops(const struct plan *pl, bool gradient)
{
	struct plan_device_work device = plan_device_work(pl, pl->width, gradient);

	return plan_on_device(pl) ? (device.flops[0] + device.flops[1]) / pl->width
				  : cost_of(pl, false, gradient).flops;
}

/* ---- outputs that are made block by block ---- */

bool plan_has_probs(const struct plan_circuit *c)
{
	for (uint32_t k = 0; k < c->noutput; k++)
		if (c->output[k].kind == OUTPUT_PROBS)
			return true;
	return false;
}

bool plan_sums_near(const struct plan_circuit *c)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < c->noutput; k++)
		for (uint32_t t = 0; t < c->output[k].nterm; t++) {
			if (pauli_mask(&c->output[k].term[t]).flip)
				return false;
			n += c->output[k].term[t].nfactor > 0;
		}
	return c->nstage > c->nstart_stage && n > 0 && n <= PLAN_NEAR_TERMS_MAX && !plan_deep(c);
}

bool plan_lambda_near(const struct plan_circuit *c) { return plan_has_tail(c) || (plan_sums_near(c) && !plan_has_probs(c)); }

struct plan_duties plan_duties(const struct plan_circuit *c, const struct plan_stage *s)
{
	struct plan_duties d = { false, false };

	for (uint32_t k = s->first; k < s->first + s->count; k++) {
		d.undo |= c->step[k].undo;
		d.transition |= c->step[k].transition;
	}
	return d;
}

bool plan_fuses_last(const struct plan *pl, const struct plan_circuit *c)
{
	if (!target_can(pl->target, TARGET_FUSED_LAST) || pl->nrank_bit)
		return false;
	if (pl->shape == SHAPE_BATCHED || pl->ncircuit > 1 || c->nreadout != 1
		|| c->nstage < c->nstart_stage + 2 || !plan_lambda_near(c))
		return false;
	const struct plan_stage *s = &c->stage[c->nstage - 1];
	struct plan_visited v = plan_visit(pl, c, s);
	return c->first_transition < s->first && plan_duties(c, s).undo
		&& plan_visit_read(&v) == v.there && v.back == v.there && !(v.lanes & ~v.live);
}

double plan_moved_back(const struct plan *pl, const struct plan_circuit *c,
	const struct plan_stage *s, double *nontemporal)
{
	bool last = s == &c->stage[c->nstage - 1], made = last && plan_lambda_near(c);
	struct plan_visited v = plan_visit(pl, c, s);
	struct plan_duties d = plan_duties(c, s);
	double put = d.undo ? v.kept : made && v.kept > 0 ? v.back : 0;     /* of each state that is put back */

	*nontemporal = made && plan_amplitude_bytes(pl) * put > pl->nontemporal_bytes ? put : 0;
	if (last && plan_fuses_last(pl, c))
		return 2 * put - v.there;
	if (!d.undo && !d.transition && !put)
		return 0;
	/* Amplitudes that are 0 before the backward pass are not read. */
	return (made ? 1 : 2)
		* ldexp(v.back,
			-(int)bits_count(v.local
				& ~(v.live | plan_nonzero(pl, c, s->first + s->count) | v.left)))
		+ (d.undo ? 2 : 1) * put;
}

/* ---- traffic ---- */

/* Bytes of the passes over a state in stages, in one direction.  A fused last stage is no backward pass of its own. */
static void add_passes(const struct plan *pl, const struct plan_circuit *c, bool back,
	struct plan_traffic *sum)
{
	double flops, bytes;

	for (uint32_t k = c->nstart_stage; k <= c->nstage; k++) {
		plan_pass(pl, c, k, back, &flops, &bytes);
		sum->bytes += bytes;
		sum->passes += bytes > 0 && !(back && k + 1 == c->nstage && plan_fuses_last(pl, c));
	}
}

/* Samples in lanes are one pass in each direction: psi forward, psi and lambda back, which is made of psi before. A device's passes are
 * launches. */
struct plan_traffic plan_traffic(const struct plan *pl, bool gradient)
{
	struct plan_device_work device = plan_device_work(pl, pl->width, gradient);
	struct plan_traffic sum = { (device.read + device.written) / pl->width, device.launch };

	for (uint32_t c = 0; c < pl->ncircuit; c++) {
		const struct plan_circuit *pc = &pl->circuit[c];

		if (pc->device)
			continue;
		if (pc->nstage) {
			add_passes(pl, pc, false, &sum);
			if (gradient)
				add_passes(pl, pc, true, &sum);
		} else if (pl->shape == SHAPE_BATCHED) {
			sum.passes += 1 + gradient;
			sum.bytes += ldexp(plan_amplitude_bytes(pl), (int)pc->nbit)
				* (!gradient                           ? 2
						: plan_lambda_near(pc) ? 6
								       : 8);
		}
	}
	return sum;
}
