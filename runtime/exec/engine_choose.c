/* SPDX-License-Identifier: Apache-2.0
 * Which engines evaluate a program, and why. */
#include "runtime/exec/engine.h"

#include <math.h>

#include "runtime/base/arena.h"

#define ENGINE(name) &engine_##name,
static const struct engine *const engines[ENGINES_MAX] = { ENGINES(ENGINE) };
#undef ENGINE

/* The least effort of state vectors for the program as it is, alone or as a basis; infinite: they are too large. */
static double statevector_effort(const struct engine_problem *p)
{
	struct engine_cost cost, basis;

	if (engine_statevector.cost(p, &cost))
		return INFINITY;
	if (!engine_basis.obstacle(p) && !engine_basis.cost(p, &basis) && basis.effort < cost.effort)
		return basis.effort;
	return cost.effort;
}

/* An operation on tensors takes about twice the time of one on a state vector, and by how much less they must be worth
 * it: a change of the method changes the last digits of results. */
static const double TENSOR_GAIN = 4;

/* Always where whole states are too large. The search for an order of contraction ends early where state vectors are far cheaper. What these
 * gain by light cones and as a basis takes more plans to say: it is asked last. */
static bool tensors_pay(const struct engine_problem *p)
{
	arena_auto a = { 0 };
	struct engine_problem one = *p;
	struct engine_cost cost, states;
	bool large = engine_statevector.cost(p, &states);

	if (!one.nsample && !p->program->ninput)
		one.nsample = 1;
	one.most = large ? INFINITY : states.effort / TENSOR_GAIN;
	if (engine_tensor.cost(&one, &cost))
		return false;
	if (large)
		return true;
	if (!(cost.effort < one.most))
		return false;
	one.program = engine_statevector.program(p->program, p->options, &a);
	return cost.effort < statevector_effort(&one) / TENSOR_GAIN;
}

const struct engine *engine_main(const struct engine_problem *p)
{
	if (engine_tensor.obstacle(p))
		return &engine_statevector;
	return p->options->method == METHOD_TENSOR || engine_statevector.obstacle(p) || tensors_pay(p)
		? &engine_tensor
		: &engine_statevector;
}

unsigned engine_choose(const struct engine_problem *p, const struct engine *out[ENGINES_MAX])
{
	const struct engine *main = engine_main(p);
	unsigned n = 0;

	if (main == &engine_statevector && !engine_basis.obstacle(p))
		out[n++] = &engine_basis;
	out[n++] = main;
	return n;
}

int engine_cost(const struct engine_problem *p, struct engine_cost *out)
{
	return engine_main(p)->cost(p, out);
}

unsigned engine_optimisations(const struct evaluator_options *o)
{
	return engine_statevector.optimisations(o);
}

static unsigned add_uses(bool of_program, const struct engine_optimisation **out)
{
	unsigned n = 0;

	for (unsigned k = 0; k < ENGINES_MAX; k++)
		for (const struct engine_optimisation *x = engines[k]->uses; x && x->text; x++)
			if (x->of_program == of_program && n < OPTIMISATIONS_COUNT)
				out[n++] = x;
	return n;
}

unsigned engine_uses(const struct engine_optimisation *out[OPTIMISATIONS_COUNT])
{
	unsigned n = add_uses(true, out);

	return n + add_uses(false, out + n);
}

const struct program *evaluator_program(const struct program *p, const struct evaluator_options *o,
	struct arena *a)
{
	const struct engine *main =
		engine_main(&(struct engine_problem){ .program = p, .options = o });

	return main->program ? main->program(p, o, a) : p;
}

/* NULL: used. asked: the problem before auto chose the method. */
static const char *why_not(const struct engine *x, const struct engine *main,
	const struct engine_problem *asked)
{
	const char *why = x->obstacle(asked);

	if (why || x == main)
		return why;
	if (main == &engine_tensor)
		return asked->options->method == METHOD_TENSOR
			? "tensors are asked for"
			: "the tensor engine needs fewer operations";
	return x == &engine_tensor ? "state vectors need not many more operations" : NULL;
}

void engine_reasons(const struct engine_problem *p, const char *before, const char *after,
	struct buf *out)
{
	const struct engine_optimisation *used[OPTIMISATIONS_COUNT];
	const struct engine *main = engine_main(p);
	unsigned can = engine_optimisations(p->options), n = engine_uses(used);
	struct evaluator_options o = *p->options;
	struct engine_problem asked = *p;
	bool any = false;

	asked.options = &o;
	if (o.method_chosen)
		o.method = METHOD_AUTO;
	for (unsigned k = 0; k < ENGINES_MAX; k++) {
		const char *why = why_not(engines[k], main, &asked);

		buf_printf(out, "%s%s: ", before, engines[k]->name);
		if (why)
			buf_printf(out, "not used: %s", why);
		else if (engines[k] == main)
			buf_str(out, any ? "every other batch; " : "every batch; ");
		if (!why)
			engines[k]->describe(p, out);
		any |= !why;
		buf_str(out, after);
	}
	for (unsigned k = 0; k < n; k++)
		if (used[k]->describe && main == &engine_statevector && can >> used[k]->row & 1) {
			buf_str(out, before);
			used[k]->describe(p, out);
			buf_str(out, after);
		}
}
