/* SPDX-License-Identifier: Apache-2.0
 * Words of configurations and options, resolved for this machine. */
#include "cli/job/execution.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/config/aliases.h"
#include "cli/output/values.h"
#include "runtime/base/buf.h"
#include "runtime/base/system/cpus.h"
#include "runtime/base/system/resource_limits.h"
#include "runtime/exec/engine.h"

static enum gradient_method gradient_of(const char *word)
{
	static const struct { const char *word; enum gradient_method method; } row[] = {
		{ "adjoint", GRADIENT_ADJOINT }, { "shift", GRADIENT_SHIFT }, { "difference", GRADIENT_DIFFERENCE },
	};

	for (size_t i = 0; i < sizeof row / sizeof *row; i++)
		if (!strcmp(word, row[i].word))
			return row[i].method;
	BUG("no gradient method %s", word);
}

/* Is the device in this build, and on this machine? */
static int check_target(const char *device, const struct target *t, bool plan_alone, struct err *e)
{
	bool alone = t && !target_of(t->device, 1); /* of its device */
	const char *obstacle = !t || (alone && plan_alone) ? NULL : target_obstacle(t);

	if (!t)
		return err_set(e, -ERR_CONFIG,
			"this build has no CUDA, which the device %s needs; use --device=cpu, or build where configure finds nvcc",
			device);
	if (!obstacle)
		return 0;
	if (alone)
		return err_set(e, -ERR_CONFIG, "the device %s cannot be used: %s; use --device=cpu",
			device, obstacle);
	return err_set(e, -ERR_CONFIG, "%s %s; the best instruction set here is %s", obstacle,
		t->kernels, target_find(device, NULL)->kernels);
}

/* "cuda:1" is number 1 of the devices that "cuda" has; returns the name, NULL for auto. */
static const char *device_of(const char *word, char *name, size_t size, uint64_t *devices)
{
	const char *colon = strchr(word, ':');
	unsigned long number = colon ? strtoul(colon + 1, NULL, 10) : 0;

	snprintf(name, size, "%.*s", (int)strcspn(word, ":"), word);
	*devices = colon && number < 64 ? UINT64_C(1) << number : 0;
	return strcmp(word, "auto") ? name : NULL;
}

int execution_options(const struct execution_words *w, struct evaluator_options *out, struct err *e)
{
	char name[16];
	struct evaluator_options o = { 0 };
	const char *device = device_of(w->device, name, sizeof name, &o.devices), *rule;

	o.target = target_find(device, w->isa);
	int code = check_target(w->device, o.target, w->plan_alone, e);
	if (code)
		return code;

	o.precision = !strcmp(w->precision, "double") || !target_can(o.target, TARGET_SINGLE) ? PRECISION_DOUBLE : PRECISION_SINGLE;
	o.gradient = w->gradient ? gradient_of(w->gradient) : GRADIENT_NONE;
	o.method = method_find(w->method);
	o.shots = w->shots;
	o.trajectories = w->trajectories;
	o.optimisations = w->optimisations;
	o.split = w->split;
	o.nthread = w->threads ? w->threads : cpus_threads(&rule);
	if (o.nthread > cpus_thread_limit())
		o.nthread = cpus_thread_limit();
	*out = o;
	return 0;
}

int execution_method(const struct execution_words *w, const struct program *p, uint32_t nsample,
	struct evaluator_options *o, struct err *e)
{
	struct engine_problem problem = { .program = p, .options = o, .nsample = nsample };
	bool chosen = o->method == METHOD_AUTO;
	uint32_t split = o->split;
	enum method m;

	/* Only state vectors need parts. */
	if (w->split_auto)
		o->split = 1;
	int code = engine_method(&problem, &m, e);
	if (!code && m == METHOD_TENSOR)
		split = o->split;
	o->split = split;
	if (code)
		return code;
	o->method = m;
	o->method_chosen = chosen;
	return 0;
}

int execution_here(const struct execution_words *w, const struct evaluator_options *o, struct err *e)
{
	return check_target(w->device, o->target, false, e);
}

int execution_threads(unsigned n, struct err *e)
{
	unsigned possible = ulimit_threads(n);

	return possible == n ? 0 : err_set(e, -ERR_USAGE,
		"%u threads cannot run here: OMP_THREAD_LIMIT, or the processes that ulimit allows, leave %u", n, possible);
}

static unsigned find_optimisation(const char *word)
{
	const char *now = former_now(FORMER_VALUE, word, strlen(word));

	return optimisation_find(now ? now : word);
}

static int unknown_optimisation(const char *word, size_t len, struct err *e)
{
	buf_auto b = BUF_INIT;

	if (len == 4 && (!memcmp(word, "none", len) || !memcmp(word, "auto", len)))
		return err_set(e, -ERR_USAGE, "`%.4s` stands alone, without other words", word);
	for (unsigned k = 0; k < OPTIMISATIONS_COUNT; k++)
		buf_printf(&b, ", %s", optimisation_name[k]);
	return err_set(e, -ERR_USAGE, "`%.*s` is no exact optimisation; there are auto, none%s",
		(int)len, word, b.data);
}

int execution_optimisations(const char *text, unsigned *out, struct err *e)
{
	*out = OPTIMISATION_NONE;
	if (!*text || !strcmp(text, "auto"))
		*out = OPTIMISATION_ALL;
	else if (strcmp(text, "none"))
		for (size_t len; ; text += len + 1) {
			char word[32] = "";

			len = strcspn(text, ",");
			if (len < sizeof word)
				memcpy(word, text, len);
			if (!find_optimisation(word))
				return unknown_optimisation(text, len, e);
			*out |= find_optimisation(word);
			if (!text[len])
				break;
		}
	return 0;
}

/* A checked value of run.optimizations. */
static unsigned optimisations_of(const struct ynode *v)
{
	unsigned bits = OPTIMISATION_NONE;
	struct err e;

	if (v->kind != YNODE_LIST)
		execution_optimisations(v->text, &bits, &e);
	for (uint32_t i = 0; v->kind == YNODE_LIST && i < v->n; i++)
		bits |= find_optimisation(v->entry[i].value->text);
	return bits;
}

/* auto: the fewest parts that have at most SPLIT_AUTO_BITS qubits each, whatever the machine. */
static uint32_t split_of(const struct config *c, const struct program *p)
{
	enum { SPLIT_AUTO_BITS = 30 };
	uint32_t given = (uint32_t)config_int(c, KEY_RUN_SPLIT), n = program_nwire(p), parts = 1;

	while (n-- > SPLIT_AUTO_BITS && parts < SPLIT_RANKS_MAX)
		parts *= 2;
	return given ? given : parts;
}

struct execution_words execution_of_config(const struct config *c, const struct program *p)
{
	return (struct execution_words){
		.device = config_text(c, KEY_RUN_DEVICE),
		.precision = config_text(c, KEY_RUN_PRECISION),
		.isa = config_text(c, KEY_RUN_ISA),
		.gradient = config_text(c, KEY_RUN_GRADIENT),
		.method = config_text(c, KEY_RUN_METHOD),
		.threads = (uint32_t)config_int(c, KEY_RUN_THREADS),
		.shots = (uint32_t)config_int(c, KEY_RUN_SHOTS),
		.trajectories = config_has(c, KEY_RUN_TRAJECTORIES)
			? execution_trajectories((uint64_t)config_int(c, KEY_RUN_TRAJECTORIES))
			: 0,
		.split = split_of(c, p),
		.split_auto = !config_int(c, KEY_RUN_SPLIT),
		.optimisations = optimisations_of(config_node(c, KEY_RUN_OPTIMIZATIONS)),
	};
}

uint32_t execution_trajectories(uint64_t given)
{
	return given ? (uint32_t)given : TRAJECTORIES_NONE;
}

/* Does an engine evaluate the program that has no trajectories? */
static bool noise_is_exact(const struct program *p, const struct evaluator_options *o)
{
	const struct engine *engine[ENGINES_MAX];
	unsigned n = engine_choose(&(struct engine_problem){ .program = p, .options = o }, engine);

	return engine[n - 1] == &engine_tensor;
}

/* Where auto has left few qubits to trajectories, of which tensors need none. */
static bool could_be_exact(const struct program *p, const struct evaluator_options *o)
{
	static const double quick_flops = 1e9;
	struct evaluator_options tensors = *o;
	struct engine_problem problem = { .program = p, .options = &tensors, .most = quick_flops };
	struct engine_cost cost;

	tensors.method = METHOD_TENSOR;
	return o->method_chosen && !engine_tensor.obstacle(&problem)
		&& !engine_tensor.cost(&problem, &cost);
}

void execution_say_trajectories(const struct cli *c, const struct program *p,
	const struct evaluator_options *o)
{
	uint32_t n = trajectories_of(p, o);

	if (n && noise_is_exact(p, o))
		cli_note(c, "noise channels are computed exactly, without trajectories%s",
			o->trajectories ? ", so that their number has no effect" : "");
	else if (n)
		cli_note(c,
			"the outputs are means over %u trajector%s of each sample, because the model has noise channels%s",
			n, n == 1 ? "y" : "ies",
			could_be_exact(p, o) ? "; the method tensor computes them exactly" : "");
	else if (program_is_noisy(p))
		cli_note(c, "the noise channels of the model are left out");
	else if (o->trajectories && o->trajectories != TRAJECTORIES_NONE)
		cli_note(c,
			"the model has no noise channels, so the number of trajectories has no effect");
}

void execution_say_long(const struct cli *c, const struct program *p, uint32_t nsample,
	const struct evaluator_options *o, const char *what)
{
	/* Of the usual rate of single precision: double, and factors of tensors that do not fit into caches. */
	static const double tensor_share = 0.1, long_seconds = 10;
	const struct engine_problem problem = { .program = p, .options = o, .nsample = nsample };
	buf_auto text = BUF_INIT;
	struct engine_cost cost;

	if (o->method != METHOD_TENSOR || engine_tensor.obstacle(&problem)
		|| engine_tensor.cost(&problem, &cost))
		return;
	double flops = cost.flops * nsample,
	       seconds = flops / (1e9 * tensor_share * o->target->usual_gflop_s * o->nthread);
	if (seconds < long_seconds)
		return;
	duration_print(seconds, &text);
	cli_note(c,
		"%s takes %.2g operations on tensors, about %s here; `qcnn check` names the layers that make them many",
		what, flops, text.data);
}

const char *execution_device(const struct evaluator_options *o) { return o->target->device; }

const char *execution_isa(const struct evaluator_options *o)
{
	return strcmp(o->target->kernels, o->target->device) ? o->target->kernels : "auto";
}

struct config_resolved execution_resolved(const struct evaluator_options *o)
{
	return (struct config_resolved){ execution_device(o), execution_isa(o),
		method_name(o->method) };
}
