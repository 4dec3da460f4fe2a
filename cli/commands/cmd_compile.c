/* SPDX-License-Identifier: Apache-2.0
 * qcnn compile: a model as assembler text, as bytecode, as a plan, or written out gate by gate. */
#include "cli/command.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/gpu_limits.h"
#include "cli/job/execution.h"
#include "cli/job/named_model.h"
#include "cli/job/record.h"
#include "cli/job/weights_files.h"
#include "cli/machine.h"
#include "compiler/export/openqasm.h"
#include "runtime/exec/statevector/statevector.h"
#include "runtime/exec/tensor/tensor_summary.h"
#include "runtime/train/weights/weights.h"

enum emit { EMIT_ASM = 0, EMIT_BYTECODE, EMIT_PLAN, EMIT_CIRCUIT, EMIT_OPENQASM, EMIT_OPENQASM_2 };

/* The machine's limits, measured, or those of a usual one; gpu, machine: those that options name, or NULL. */
static int limits_of(const struct evaluator_options *eo, bool measure, const char *gpu,
	const char *machine, struct plan_limits *out, struct err *e)
{
	const char *rule;
	unsigned n = cpus_threads(&rule);

	*out = plan_usual_limits(eo->target, n);
	if (gpu && !target_has_memory(eo->target))
		return err_set(e, -ERR_USAGE, "--gpu is for plans of --device=cuda");
	if (machine && (measure || target_has_memory(eo->target)))
		return err_set(e, -ERR_USAGE,
			"--machine is for plans of processors, without --measure");
	if (machine)
		return machine_limits(machine, out, e);
	if (!measure)
		return gpu ? gpu_limits(gpu, out, e) : 0;
	if (target_has_memory(eo->target))
		return err_set(e, -ERR_CONFIG,
			"limits of a GPU are not measured: without --measure, the plan has those of a usual one, or of --gpu");
	return limits_measure(target_has_limits(eo->target) ? eo->target : target_find(NULL, NULL),
		n, out, e);
}

/* Limits of machines are those of passes over states. */
static bool wants_states(const struct options *o)
{
	return o->given[OPT_MEASURE_PLAN] || o->given[OPT_GPU] || o->given[OPT_MACHINE]
		|| o->given[OPT_LINK];
}

/* The object up to what each method has. */
static void begin_json(const struct engine_problem *p, struct buf *out)
{
	json_auto_t *engines = record_engines(p);

	buf_json(out,
		"{\"schema\": 1, \"method\": %s, \"engines\": ", method_name(p->options->method));
	json_print(engines, out);
	buf_str(out, ", ");
}

/* The plan of a program whose states the method tensor does not hold. */
static int print_tensor_plan(struct cli *c, const struct program *p,
	const struct evaluator_options *eo, struct buf *out)
{
	const struct options *o = &c->options;
	const struct engine_problem problem = { .program = p,
		.options = eo,
		.nsample = o->given[OPT_PLAN_BATCH] ? (uint32_t)options_count(o, OPT_PLAN_BATCH) : 0 };
	struct tensor_summary s;

	if (wants_states(o))
		return cli_usage(c,
			"--measure, --gpu, --machine and --link are for plans of the method statevector");
	if (!tensor_summary(&problem, &s))
		return cli_error(c, -ERR_CONFIG, "the tensors of the program are too large");
	if (o->given[OPT_PLAN_JSON]) {
		json_auto_t *tensor = record_tensors(&s);
		begin_json(&problem, out);
		buf_json(out,
			"\"kernels\": %s, \"precision\": \"double\", \"batch_samples\": %u, \"tensor\": ",
			target_or_best(eo->target)->kernels, s.batch);
		json_print(tensor, out);
		buf_str(out, "}\n");
		return 0;
	}
	engine_reasons(&problem, "engine     ", "\n", out);
	tensor_summary_print(&problem, &s, out);
	return 0;
}

static int print_plan(struct cli *c, const struct program *p, struct buf *out)
{
	const struct options *o = &c->options;
	struct execution_words w = { .device = o->value[OPT_DEVICE],
		.precision = o->value[OPT_PRECISION],
		.isa = o->value[OPT_ISA],
		.method = !o->given[OPT_METHOD] && wants_states(o) ? method_name(METHOD_STATEVECTOR)
								   : o->value[OPT_METHOD],
		.optimisations = OPTIMISATION_ALL,
		.split = (uint32_t)options_count_or(o, OPT_PLAN_RANKS, 1),
		.plan_alone = true };
	struct evaluator_options eo;
	const struct engine_problem problem = { .program = p, .options = &eo };
	struct plan_limits limits;
	struct err e;

	if (o->given[OPT_OPTIMIZATIONS]
		&& execution_optimisations(o->value[OPT_OPTIMIZATIONS], &w.optimisations, &e))
		return cli_usage(c, "--optimizations: %s", e.text);
	if (execution_options(&w, &eo, &e))
		return cli_fail(c, &e);
	eo.outputs_alone = o->given[OPT_FORWARD];
	eo.gradient = p->nweight_circuit && !eo.outputs_alone ? GRADIENT_ADJOINT : GRADIENT_NONE;
	if (!p->ndense)
		eo.terms.term = LOSS_TERM_MSE;
	if (execution_method(&w, p, 0, &eo, &e))
		return cli_fail(c, &e);
	if (eo.method == METHOD_TENSOR)
		return print_tensor_plan(c, p, &eo, out);
	struct plan *pl = statevector_plan_new(p, &eo, &e);
	if (!pl)
		return cli_fail(c, &e);
	int code = limits_of(&eo, o->given[OPT_MEASURE_PLAN], o->value[OPT_GPU],
		o->value[OPT_MACHINE], &limits, &e);
	if (!code && w.split > 1 && target_has_memory(eo.target)
		&& (o->value[OPT_GPU] || o->value[OPT_LINK]))
		code = err_set(&e, -ERR_USAGE,
			"the time that GPUs take for split states is not predicted: without --gpu and --link, the plan has the "
			"exchanges and their bytes");
	if (!code)
		code = link_limits(o->value[OPT_LINK], w.split > 1, &limits, &e);
	if (!code && o->given[OPT_PLAN_JSON]) {
		begin_json(&problem, out);
		plan_json(pl, &limits, options_count(o, OPT_PLAN_BATCH), out);
		buf_str(out, "}\n");
	} else if (!code) {
		engine_reasons(&problem, "engine     ", "\n", out);
		plan_print(pl, &limits, options_count(o, OPT_PLAN_BATCH), out);
	}
	plan_free(pl);
	return code ? cli_fail(c, &e) : 0;
}

static int print_circuit(struct cli *c, const struct model_file *m, enum emit what, struct buf *out)
{
	mem_auto double *weight = NULL;
	struct err e;
	/* The head's weights are of no use here, and may be missing. */
	int status = weights_of_model(c, m, true, m->program->nweight_circuit, &weight);

	if (status)
		return status;
	int code = what == EMIT_CIRCUIT
		? model_print(m->program, weight, out, &e)
		: openqasm_print(m->program, weight,
			what == EMIT_OPENQASM ? OPENQASM_3 : OPENQASM_2, out, &e);

	if (!code && what != EMIT_CIRCUIT && openqasm_lacks_states(m->program))
		cli_note(c,
			"the circuit has vectors of amplitudes, which are no gates of OpenQASM: a comment stands where they are to be prepared");
	return code ? cli_fail(c, &e) : 0;
}

static int emit_program(struct cli *c, const struct model_file *m)
{
	const struct program *p = m->program;
	const char *path = c->options.value[OPT_PROGRAM_OUT];
	enum emit what = (enum emit)options_choice(&c->options, OPT_EMIT_PROGRAM);
	buf_auto b = BUF_INIT;
	int status = 0;

	if (c->options.given[OPT_PLAN_JSON] && what != EMIT_PLAN)
		return cli_usage(c, "--json is for --emit=plan");
	if (what == EMIT_BYTECODE && !path && isatty(STDOUT_FILENO))
		return cli_usage(c, "bytecode is not for a terminal; give --output");
	if (what == EMIT_PLAN)
		status = print_plan(c, p, &b);
	else if (what >= EMIT_CIRCUIT)
		status = print_circuit(c, m, what, &b);
	else if (what == EMIT_BYTECODE)
		program_write(p, &b);
	else
		asm_print(p, &b);
	return status ? status : cli_write(c, &b, path);
}

static int compile(struct cli *c)
{
	buf_auto dump = BUF_INIT;
	const struct model_wish wish = { .path = c->options.operand[0],
		.dump = c->options.value[OPT_DUMP],
		.dump_out = &dump,
		/* The light cone keeps observables right, not the state. */
		.without = options_choice(&c->options, OPT_EMIT_PROGRAM) >= EMIT_CIRCUIT ? "cone"
											 : NULL };
	named_model_auto m;
	buf_auto weights = BUF_INIT;
	int status = named_model_open(c, &wish, &m);

	if (!status)
		status = weights_named(c, &c->options.value[OPT_WEIGHTS], &weights);
	if (dump.len)
		fwrite(dump.data, 1, dump.len, stderr);
	return status ? status : emit_program(c, &m.model);
}

const struct command_about command_compile = {
	.summary = "compile a model and print its program or plan",
	.operands = "MODEL|CONFIG|RUN",
	.min_operands = 1,
	.max_operands = 1,
	.text = "Compiles a model and prints the program as assembler text or bytecode, its execution plan, or the circuit gate "
		"by gate, as a model or in OpenQASM, with numbers for its weights. Assembler text (a name ending in .asm) and bytecode are read, "
		"too, so that each can be converted to the other.",
	.example = (const char *const[]){ "qcnn compile bell.qcnn",
		"qcnn compile --emit=bytecode -o bell.qbc bell.qcnn",
		"qcnn compile --emit=asm bell.qbc",
		"qcnn compile --emit=plan --const n=16 cluster.qcnn",
		"qcnn compile --emit=circuit --weights=weights.bin cluster.qcnn",
		"qcnn compile --emit=openqasm2 -o bell.qasm bell.qcnn", NULL },
	.run = compile,
};
