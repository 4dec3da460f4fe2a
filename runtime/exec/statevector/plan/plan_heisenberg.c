/* SPDX-License-Identifier: Apache-2.0
 * The exact optimisation heisenberg_tail: the last matrices before outputs of few qubits as one that no state goes through.
 *
 * With U their product on qubits T, all of an output's qubits among T, and P[k,c] = sum over the other qubits of
 * conj(psi[k]) psi[c] before them, <O> = sum_kc (U^+ O U)[k,c] P[k,c]: one matrix for all samples.  On the backward pass
 * lambda = U^+ (sum dreadout O) U psi, where U had to be undone twice and its reduced transition matrix summed. */
#include "runtime/exec/statevector/plan/plan_build.h"
#include "runtime/exec/statevector/plan/plan_stage.h"

#include <math.h>
#include <string.h>

static const double READ_FLOPS = 10;     /* of an amplitude: a pass that reads outputs, or writes lambda */

struct tail {
	const struct plan_build *b;
	struct plan_circuit *c;
	uint64_t bits, passed;       /* T; bits of steps that stay behind it */
	double off;                  /* operations an amplitude without the optimisation */
};

static uint64_t output_bits(const struct plan_circuit *c)
{
	uint64_t bits = 0;

	for (uint32_t k = 0; k < c->noutput; k++) {
		const struct output *o = &c->output[k];

		for (uint32_t w = 0; o->kind == OUTPUT_PROBS && w < o->nwire; w++)
			bits |= UINT64_C(1) << o->wire[w];
		for (uint32_t t = 0; t < o->nterm; t++)
			bits |= pauli_mask(&o->term[t]).flip | pauli_mask(&o->term[t]).sign;
	}
	return bits;
}

static bool has_gradient(const struct plan_circuit *c)
{
	for (uint32_t k = 0; k < c->nstep; k++)
		if (c->step[k].transition)
			return true;
	return false;
}

/* Forward, and in the backward pass twice and its reduced transition matrix. */
static double step_off(const struct tail *t, const struct plan_step *s, bool gradient)
{
	double flops = ldexp(plan_cost(s->ntarget, t->b->def[s->matrix]->flags), -(int)s->ncontrol);

	return gradient ? 3 * flops
			+ (s->transition ? ldexp(plan_transition_cost(s->ntarget,
							 t->b->def[s->matrix]->flags),
				   -(int)s->ncontrol)
					 : 0)
			: flops;
}

/* Can the step join the tail?  It then grows by the step's bits. */
static bool take(struct tail *t, const struct plan_step *s, bool gradient)
{
	uint64_t bits = plan_step_bits(s);

	if (s->op != STEP_UNITARY || (bits & t->passed)
		|| bits_count(t->bits | bits) > MATRIX_TARGETS_MAX
		|| t->b->def[s->matrix]->cls == VALUE_SAMPLE)
		return false;
	t->bits |= bits;
	t->off += step_off(t, s, gradient);
	return true;
}

/* Of a device, in the operations an amplitude that it does meanwhile: on the backward pass lambda is neither written, nor psi read, by
 * a pass of its own, nor lambda read by the last stage's; but in each pass a matrix of each sample goes between host and device. */
static double device_gain(const struct tail *t, bool gradient)
{
	enum { AMPLITUDE_BYTES = 8 };
	const struct plan_limits l = plan_usual_limits(t->b->pl->target, 1);
	double passes = gradient ? 2 : 1;

	if (!target_has_memory(t->b->pl->target))
		return 0;
	return (gradient ? 3 : 0) * AMPLITUDE_BYTES * l.single_gflop_s / l.stream_gb_s
		- passes * ldexp(AMPLITUDE_BYTES, 2 * (int)bits_count(t->bits) - (int)t->c->nbit)
		* l.single_gflop_s / l.link_gb_s;
}

/* Mark the steps of the tail that saves most; its bits, or 0 where none saves anything. */
static uint64_t find(struct tail *t, bool *mine)
{
	bool gradient = has_gradient(t->c);
	uint64_t best = 0;
	uint32_t from = t->c->nstep;
	double gain = 0;

	for (uint32_t k = t->c->nstep; k-- > 0; ) {
		const struct plan_step *s = &t->c->step[k];

		if (!(plan_step_bits(s) & t->bits)) {
			t->passed |= plan_step_bits(s);
			continue;
		}
		if (!take(t, s, gradient))
			break;
		mine[k] = true;
		double g = t->off + (gradient ? 2 : 1) * (READ_FLOPS - (8 << bits_count(t->bits)))
			+ device_gain(t, gradient);
		if (g > gain) {
			gain = g;
			best = t->bits;
			from = k;
		}
	}
	memset(mine, 0, from * sizeof *mine);
	return best;
}

/* Wires of the item of a step, as places in the tail's bits. */
static struct item on_tail(const struct plan_step *s, uint64_t bits)
{
	struct item it = plan_item(s);

	for (unsigned w = 0; w < it.nwire; w++)
		it.wire[w] = (uint8_t)bits_count(bits & ((UINT64_C(1) << s->bit[it.wire[w]]) - 1));
	return it;
}

static struct plan_step one_step(struct plan_build *b, const struct plan_circuit *c, uint64_t bits, const bool *mine)
{
	mem_auto struct item *item = mem_alloc(c->nstep, sizeof *item);
	uint8_t *bit = arena_alloc(&b->pl->arena, MATRIX_TARGETS_MAX, 1);
	struct plan_step s = { .op = STEP_UNITARY,
		.tail = true,
		.ntarget = (uint8_t)bits_count(bits),
		.bit = bit,
		.apply = UINT32_MAX };
	uint32_t n = 0;

	for (unsigned k = 0; k < s.ntarget; k++) {
		uint64_t rest = bits;

		for (unsigned j = 0; j < k; j++)
			rest &= rest - 1;
		bit[k] = (uint8_t)__builtin_ctzll(rest);
	}
	for (uint32_t k = 0; k < c->nstep; k++)
		if (mine[k]) {
			item[n++] = on_tail(&c->step[k], bits);
			s.apply = c->step[k].apply < s.apply ? c->step[k].apply : s.apply;
		}
	s.matrix = plan_matrix(b, s.ntarget, n, item);
	s.transition = b->trainable[s.matrix];
	return s;
}

void plan_tail(struct plan_build *b, struct plan_circuit *c)
{
	struct tail t = { .b = b, .c = c, .bits = output_bits(c) };
	mem_auto bool *mine = mem_alloc((size_t)c->nstep + 1, sizeof *mine);
	uint64_t bits = bits_count(t.bits) <= MATRIX_TARGETS_MAX ? find(&t, mine) : 0;

	if (bits) {
		struct plan_step s = one_step(b, c, bits, mine);
		uint32_t n = 0;

		for (uint32_t k = 0; k < c->nstep; k++)
			n += !mine[k];
		/* A kernel of its own applies what is diagonal or a permutation, and there is little to save; nor is there in a deep circuit. */
		if (!(b->def[s.matrix]->flags & (MATRIX_DIAGONAL | MATRIX_PERMUTATION)) && n + 1 < PLAN_DEEP_STEPS) {
			n = 0;
			for (uint32_t k = 0; k < c->nstep; k++)
				if (!mine[k])
					c->step[n++] = c->step[k];
			c->step[n++] = s;
			c->nstep = n;
		}
	}
}

/* The tail, if there is one; steps behind it are on other bits. */
static struct plan_step *find_tail(const struct plan_circuit *c)
{
	for (uint32_t k = 0; k < c->nstep; k++)
		if (c->step[k].tail)
			return &c->step[k];
	return NULL;
}

void plan_tail_last(struct plan_circuit *c)
{
	struct plan_step *s = find_tail(c), tail;

	if (!s)
		return;
	if (c->nstage && (uint32_t)(s - c->step) < c->stage[c->nstage - 1].first) {
		s->tail = false;         /* it is applied like any other */
		return;
	}
	tail = *s;
	memmove(s, s + 1, (size_t)(c->step + c->nstep - s - 1) * sizeof *s);
	c->step[c->nstep - 1] = tail;
}

bool plan_has_tail(const struct plan_circuit *c)
{
	return c->nstep > 0 && c->step[c->nstep - 1].tail;
}

uint32_t plan_tail_qubits(const struct plan *pl)
{
	uint32_t most = 0;

	for (uint32_t k = 0; k < pl->ncircuit; k++) {
		const struct plan_circuit *c = &pl->circuit[k];

		if (plan_has_tail(c) && c->step[c->nstep - 1].ntarget > most)
			most = c->step[c->nstep - 1].ntarget;
	}
	return most;
}
