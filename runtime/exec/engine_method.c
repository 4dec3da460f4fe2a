/* SPDX-License-Identifier: Apache-2.0
 * The method by which a program is evaluated: what auto chooses, and why a method is not possible. */
#include "runtime/exec/engine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/system/cpus.h"
#include "runtime/base/system/resource_limits.h"

enum { QUBITS_PLANNED = 32 }; /* circuits of fewer always have a plan for state vectors */

#define METHOD_WORD(id, word, text) [METHOD_##id] = word,
static const char *const method_names[METHOD_COUNT] = { "auto", METHODS(METHOD_WORD) };
#undef METHOD_WORD

const char *method_name(enum method m) { return method_names[m]; }

enum method method_find(const char *word)
{
	for (unsigned k = 0; word && k < METHOD_COUNT; k++)
		if (!strcmp(word, method_names[k]))
			return (enum method)k;
	return METHOD_AUTO;
}

static const struct engine *engine_of(enum method m)
{
	return m == METHOD_TENSOR ? &engine_tensor : &engine_statevector;
}

/* -ERR_CONFIG, with the reason, where the method is not possible, whatever memory there is. */
static int check(const struct engine_problem *p, enum method m, struct err *e)
{
	const struct engine *engine = engine_of(m);
	struct evaluator_options o = *p->options;
	struct engine_problem with = { .options = &o, .nsample = p->nsample };
	arena_auto a = { 0 };

	o.method = m;
	if (m == METHOD_TENSOR && o.amplitudes)
		return err_set(e, -ERR_CONFIG, "amplitudes are asked for");
	with.program = engine->program ? engine->program(p->program, &o, &a) : p->program;
	const char *obstacle = engine->obstacle(&with);
	if (obstacle)
		return err_set(e, -ERR_CONFIG, "%s", obstacle);
	return engine->check ? engine->check(&with, e) : 0;
}

static enum method chosen_method(const struct engine_problem *p)
{
	return engine_main(p) == &engine_tensor ? METHOD_TENSOR : METHOD_STATEVECTOR;
}

int engine_method(const struct engine_problem *p, enum method *out, struct err *e)
{
	struct err states, tensors;
	enum method m = p->options->method;

	if (m == METHOD_TENSOR && check(p, METHOD_TENSOR, &tensors))
		return err_set(e, -ERR_CONFIG,
			"the method tensor is not possible: %s; set run.method (--method) to auto or statevector",
			tensors.text);
	if (m == METHOD_AUTO) {
		m = chosen_method(p);
		if (m == METHOD_STATEVECTOR && program_nwire(p->program) >= QUBITS_PLANNED
			&& check(p, METHOD_STATEVECTOR, &states) && check(p, METHOD_TENSOR, &tensors))
			return err_set(e, -ERR_CONFIG,
				"no method is possible: statevector: %s; tensor: %s", states.text,
				tensors.text);
	}
	*out = m;
	return 0;
}

static double memory_available(const struct evaluator_options *o)
{
	return (double)(o->memory_limit ? o->memory_limit : ulimit_memory_available(o->nthread));
}

static double memory_of(const struct engine_problem *p, enum method m)
{
	struct evaluator_options o = *p->options;
	struct engine_problem with = *p;
	double nbyte;

	o.method = m;
	with.options = &o;
	return engine_of(m)->memory(&with, &nbyte) ? INFINITY : nbyte;
}

void engine_method_explain(const struct engine_problem *p, struct err *e)
{
	enum method other = p->options->method == METHOD_TENSOR ? METHOD_STATEVECTOR : METHOD_TENSOR;
	char needed[MEMORY_TEXT_MAX];
	struct err first, why;

	if (!e)
		return;
	first = *e;
	if (check(p, other, &why)) {
		if (p->options->method_chosen)
			err_set(e, first.code, "%s; the method %s is not possible either: %s",
				first.text, method_name(other), why.text);
		return;
	}
	double need = memory_of(p, other);
	if (need <= memory_available(p->options))
		err_set(e, first.code,
			"%s; the method %s needs %s: set run.method (--method) to %s", first.text,
			method_name(other), memory_text(need, 0, needed), method_name(other));
	else if (p->options->method_chosen)
		err_set(e, first.code, "%s; the method %s needs %s", first.text, method_name(other),
			memory_text(need, 0, needed));
}
