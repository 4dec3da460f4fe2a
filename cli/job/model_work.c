/* SPDX-License-Identifier: Apache-2.0
 * Asks the engines what a sample of a model takes. */
#include "cli/job/model_work.h"

#include <math.h>
#include <stdio.h>

#include "runtime/base/system/cpus.h"
#include "runtime/base/system/resource_limits.h"
#include "runtime/exec/engine.h"
#include "runtime/exec/statevector/state_memory.h"

static struct evaluator_options options_of(const struct program *p, enum method m)
{
	return (struct evaluator_options){ .method = m,
		.nthread = 1,
		.precision = PRECISION_SINGLE,
		.gradient = p->nweight_circuit ? GRADIENT_ADJOINT : GRADIENT_NONE,
		.optimisations = OPTIMISATION_ALL };
}

/* *e: why not. */
static bool state_fits(const struct program *p, uint64_t available, struct err *e)
{
	const struct memory_need need = { .nqubit = program_nwire(p),
		.nstate = 1,
		.precision = PRECISION_SINGLE,
		.available = available };

	return !memory_check_states(&need, e);
}

/* The method that auto takes; METHOD_AUTO: none is possible. */
static enum method chosen_method(const struct program *p)
{
	const struct evaluator_options o = options_of(p, METHOD_AUTO);
	enum method m;

	return engine_method(&(struct engine_problem){ .program = p, .options = &o }, &m, NULL)
		? METHOD_AUTO
		: m;
}

static void find_tensors(const struct program *p, struct model_work *w)
{
	static const double long_flops = 1e9;
	const struct evaluator_options o = options_of(p, METHOD_TENSOR);
	const struct engine_problem problem = { .program = p, .options = &o };
	const char *obstacle = engine_tensor.obstacle(&problem);
	struct err e;

	w->tensors = tensor_summary(&problem, &w->tensor);
	if (w->tensors) {
		w->tensor_bytes = w->tensor.thread_bytes + w->tensor.shared_bytes;
		w->tensors_fit = w->tensor_bytes <= w->available;
	} else if (obstacle) {
		snprintf(w->no_tensors, sizeof w->no_tensors, "%s", obstacle);
	} else if (engine_tensor.check(&problem, &e)) {
		snprintf(w->no_tensors, sizeof w->no_tensors, "%s", e.text);
	}
	w->costly_found = !obstacle && !(w->tensors_fit && w->tensor.forward_flops <= long_flops);
	if (w->costly_found)
		costly_layers_find(p, w->tensors ? w->tensor.forward_flops : INFINITY, &w->costly);
}

void model_work_find(const struct program *p, struct model_work *out)
{
	const struct evaluator_options o = options_of(p, METHOD_STATEVECTOR);
	uint64_t available = ulimit_memory_available(1);
	bool possible = program_nwire(p) <= PLAN_WIRES_MAX;
	struct err e;

	*out = (struct model_work){ .method = chosen_method(p),
		.forward_flops = possible ? plan_nominal(p, false) : NAN,
		.gradient_flops = possible ? plan_nominal(p, true) : NAN,
		.available = (double)available,
		.state_fits = state_fits(p, available, &e) };
	engine_statevector.memory(&(struct engine_problem){ .program = p, .options = &o },
		&out->states_bytes);
	if (out->method == METHOD_TENSOR || !out->state_fits)
		find_tensors(p, out);
}

void model_warn_large(struct diags *d, const struct program *p)
{
	const struct evaluator_options o = options_of(p, METHOD_TENSOR);
	uint64_t available = ulimit_memory_available(1);
	char needed[MEMORY_TEXT_MAX];
	bool contracts;
	double nbyte;
	struct err e;

	if (state_fits(p, available, &e))
		return;
	contracts = chosen_method(p) == METHOD_TENSOR
		&& !tensor_memory(&(struct engine_problem){ .program = p, .options = &o }, &nbyte);
	if (contracts && nbyte <= (double)available)
		return;
	diag_at(d, DIAG_LARGE_STATE, (struct span){ 0, 0, 0 },
		"a state of this model does not fit this machine: it %s%s%s", e.text,
		contracts ? "; its tensors need " : "",
		contracts ? memory_text(nbyte, 0, needed) : "");
}
