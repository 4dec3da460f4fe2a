/* SPDX-License-Identifier: Apache-2.0
 * Which engines evaluate a program, and why. */
#include "runtime/exec/engine.h"

#define ENGINE(name) &engine_##name,
static const struct engine *const engines[ENGINES_MAX] = { ENGINES(ENGINE) };
#undef ENGINE

unsigned engine_choose(const struct engine_problem *p, const struct engine *out[ENGINES_MAX])
{
	unsigned n = 0;

	for (unsigned k = 0; k < ENGINES_MAX; k++)
		if (!engines[k]->obstacle(p))
			out[n++] = engines[k];
	return n;
}

int engine_cost(const struct engine_problem *p, struct engine_cost *out)
{
	return engines[ENGINES_MAX - 1]->cost(p, out);
}

unsigned engine_optimisations(const struct evaluator_options *o)
{
	return engines[ENGINES_MAX - 1]->optimisations(o);
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
	return engines[ENGINES_MAX - 1]->program(p, o, a);
}

void engine_reasons(const struct engine_problem *p, const char *before, const char *after,
	struct buf *out)
{
	const struct engine_optimisation *used[OPTIMISATIONS_COUNT];
	unsigned can = engine_optimisations(p->options), n = engine_uses(used);
	bool any = false;

	for (unsigned k = 0; k < ENGINES_MAX; k++) {
		const char *why = engines[k]->obstacle(p);

		buf_printf(out, "%s%s: ", before, engines[k]->name);
		if (why)
			buf_printf(out, "not used: %s", why);
		else if (k == ENGINES_MAX - 1)
			buf_str(out, any ? "every other batch; " : "every batch; ");
		if (!why)
			engines[k]->describe(p, out);
		any |= !why;
		buf_str(out, after);
	}
	for (unsigned k = 0; k < n; k++)
		if (used[k]->describe && can >> used[k]->row & 1) {
			buf_str(out, before);
			used[k]->describe(p, out);
			buf_str(out, after);
		}
}
