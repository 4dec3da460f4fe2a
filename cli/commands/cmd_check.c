/* SPDX-License-Identifier: Apache-2.0
 * qcnn check: diagnoses a model or a configuration and says how large it is. */
#include "cli/command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/job/costly_layers.h"
#include "cli/job/job.h"
#include "cli/job/named_model.h"
#include "cli/output/values.h"
#include "compiler/asm/asm.h"
#include "runtime/exec/statevector/state_memory.h"
#include "runtime/exec/tensor/tensor_summary.h"

static uint64_t count_applies(const struct program *p)
{
	uint64_t n = 0;

	for (uint32_t c = 0; c < p->ncircuit; c++)
		n += p->circuit[c].napply;
	return n;
}

/* Nominal work of one sample; nothing where no state vector has so many amplitudes. */
static void flops_of(const struct program *p, double flops[2])
{
	bool possible = program_nwire(p) <= PLAN_WIRES_MAX;

	flops[0] = possible ? plan_nominal(p, false) : NAN;
	flops[1] = possible ? plan_nominal(p, true) : NAN;
}

/* ---- JSON ---- */

static void json_groups(const struct program *p, struct buf *out)
{
	buf_str(out, "\"params\": {");
	for (uint32_t i = 0; i < p->nweight_group; i++) {
		const struct weight_group *g = &p->weight_group[i];

		buf_json(out, ", %s: {\"shape\": ", g->path);
		shape_print(g->ndim, g->dim, out);
		buf_json(out, ", \"init\": %s, \"frozen\": %i}", asm_init_name[g->init], g->frozen);
	}
	buf_str(out, "}, \"inputs\": {");
	for (uint32_t i = 0; i < p->ninput_group; i++) {
		const struct input_group *g = &p->input_group[i];

		buf_json(out, ", %s: {\"kind\": %s, \"shape\": ", g->name,
			g->is_state ? "state" : "float");
		shape_print(g->ndim, g->dim, out);
		buf_char(out, '}');
	}
	buf_char(out, '}');
}

static void json_circuits(const struct program *p, struct buf *out)
{
	buf_str(out, "\"circuits\": [");
	for (uint32_t i = 0; i < p->ncircuit; i++) {
		const struct circuit_code *c = &p->circuit[i];

		buf_json(out,
			", {\"name\": %s, \"qubits\": %u, \"operations\": %u, \"applies\": %u, \"readouts\": %u}",
			c->name, c->nwire, c->napply, c->napply, c->nreadout);
	}
	buf_char(out, ']');
}

static void print_json(const struct program *p, const struct job *j, struct buf *out)
{
	double flops[2];

	flops_of(p, flops);
	buf_printf(out, "{\"schema\": 1, \"weights\": %u, \"circuit_weights\": %u, \"matrices\": %u, \"outputs\": %u, ",
		p->nweight, p->nweight_circuit, p->nmatrix, p->noutput);
	json_circuits(p, out);
	buf_str(out, ", ");
	json_groups(p, out);
	buf_json(out, ", \"flops_forward\": %g, \"flops_gradient\": %g", flops[0], flops[1]);
	for (unsigned k = 0; j && k < PART_COUNT; k++)
		buf_printf(out, ", \"%s_rows\": %u", sample_part_name(k), j->samples.part[k].nrow);
	buf_str(out, "}\n");
}

/* ---- text ---- */

static void text_circuits(const struct program *p, struct buf *out)
{
	for (uint32_t i = 0; i < p->ncircuit; i++) {
		const struct circuit_code *c = &p->circuit[i];
		uint32_t n = program_instances(p, i);

		if (!n)
			continue;
		buf_printf(out, "circuit   %s%s%u qubit%s, %u operation%s, %u readout%s", c->name,
			*c->name ? ": " : "", c->nwire, c->nwire == 1 ? "" : "s", c->napply,
			c->napply == 1 ? "" : "s", c->nreadout, c->nreadout == 1 ? "" : "s");
		n > 1 ? buf_printf(out, "; %u times\n", n) : buf_char(out, '\n');
	}
	for (uint32_t i = 0; i < p->ndense; i++)
		buf_printf(out, "head      dense %u -> %u\n", p->dense[i].nin, p->dense[i].nout);
}

static void text_groups(const struct program *p, struct buf *out)
{
	for (uint32_t i = 0; i < p->ninput_group; i++) {
		const struct input_group *g = &p->input_group[i];

		buf_printf(out, "input     %s ", g->name);
		g->is_state ? buf_printf(out, "state of %u amplitudes", g->count / 2)
			    : shape_print(g->ndim, g->dim, out);
		buf_char(out, '\n');
	}
	for (uint32_t i = 0; i < p->nweight_group; i++) {
		const struct weight_group *g = &p->weight_group[i];

		buf_printf(out, "param     %s ", g->path);
		shape_print(g->ndim, g->dim, out);
		buf_printf(out, " %s%s\n", asm_init_name[g->init], g->frozen ? ", frozen" : "");
	}
}

static void text_noise(const struct program *p, struct buf *out)
{
	uint64_t n = 0;

	for (uint32_t c = 0; c < p->ncircuit; c++)
		for (uint32_t i = 0; i < p->circuit[c].napply; i++) {
			const struct apply *a = &p->circuit[c].apply[i];

			n += a->op == APPLY_UNITARY && matrix_is_channel(p, &p->matrix[a->matrix]);
		}
	if (n)
		buf_printf(out, "noise     %llu channel%s; a sample is run once%s\n",
			(unsigned long long)n, n == 1 ? "" : "s",
			program_noise_varies(p)
				? " by the method tensor"
				: " for each trajectory, or exactly by the method tensor");
}

/* Layers whose gates could be fewer, where a sample takes long, or forever. */
static void text_costly_layers(const struct program *p, double forward_flops, struct buf *out)
{
	struct costly_layers costly;

	costly_layers_find(p, forward_flops, &costly);
	for (unsigned k = 0; k < costly.n && k < 3; k++)
		buf_printf(out,
			"costly    %s: %.4g flops a sample if no two of its gates shared a qubit, as on even(w)\n",
			costly.layer[k].path, costly.layer[k].flops);
	if (forward_flops == INFINITY && !costly.n)
		buf_str(out, "costly    no layer alone: see run.method in qcnn-config(5)\n");
}

/* Where auto does not hold a state, or can do neither. */
static void text_tensors(const struct program *p, struct buf *out)
{
	static const double long_flops = 1e9;
	const struct evaluator_options o = { .method = METHOD_TENSOR };
	const struct engine_problem problem = { .program = p, .options = &o };
	char each[MEMORY_TEXT_MAX];
	struct tensor_summary s;
	struct err e;

	if (model_contracts(p, &s)) {
		buf_printf(out,
			"tensors   %.4g flops a sample, %.4g with its gradient, and %s a thread: run.method: auto contracts them, without a state\n",
			s.forward_flops, s.gradient_flops, memory_text(s.thread_bytes, 0, each));
		if (s.forward_flops > long_flops)
			text_costly_layers(p, s.forward_flops, out);
	} else if (!model_fits(p)) {
		const char *why = engine_tensor.obstacle(&problem);

		if (why || engine_tensor.check(&problem, &e))
			buf_printf(out, "tensors   not possible: %s\n", why ? why : e.text);
		if (!why)
			text_costly_layers(p, INFINITY, out);
	}
}

static void print_text(const struct program *p, const struct job *j, struct buf *out)
{
	double flops[2];

	flops_of(p, flops);
	text_circuits(p, out);
	text_groups(p, out);
	buf_printf(out, "weights   %u\noutputs   %u\nmatrices  %u, used %llu times\n", p->nweight, p->noutput, p->nmatrix,
		(unsigned long long)count_applies(p));
	if (flops[0] == flops[0])
		buf_printf(out, "work      %.4g flops a %s, %.4g with its gradient (nominal)\n",
			flops[0], program_is_noisy(p) ? "trajectory" : "sample", flops[1]);
	text_noise(p, out);
	/* Of the largest circuit, so that a machine can be chosen before anything is run. */
	char single[MEMORY_TEXT_MAX], both[MEMORY_TEXT_MAX];
	unsigned n = program_nwire(p);

	buf_printf(out, "state     %s in single precision, %s in double; a gradient takes two\n",
		memory_text(8, n, single), memory_text(16, n, both));
	text_tensors(p, out);
	for (unsigned k = 0; j && k < PART_COUNT; k++)
		if (j->samples.part[k].nrow)
			buf_printf(out, "data      %u samples for %s\n", j->samples.part[k].nrow, sample_part_name(k));
}

static void print(struct cli *c, const struct program *p, const struct job *j)
{
	(c->options.given[OPT_JSON] ? print_json : print_text)(p, j, &c->out);
}

/* ---- the two kinds of files ---- */

static int check_model(struct cli *c, const char *path)
{
	const struct model_wish wish = { .path = path, .whole = true };
	named_model_auto m;
	int status = named_model_open(c, &wish, &m);

	if (!status)
		print(c, m.model.program, NULL);
	return status;
}

static int check_job(struct cli *c, const char *path)
{
	struct job j;
	struct err e;
	int status = job_open(c, path, &j);

	if (!status && train_check(&j.train, &e))
		status = cli_fail(c, &e);
	if (!status)
		print(c, j.model.program, &j);
	job_release(&j);
	return status;
}

static int check(struct cli *c)
{
	const char *path = c->options.operand[0];

	return path_is_config(path) ? check_job(c, path) : check_model(c, path);
}

const struct command command_check = {
	.bit = COMMAND_CHECK,
	.name = "check",
	.summary = "check a model or a configuration and print its size",
	.operands = "MODEL|CONFIG|RUN",
	.min_operands = 1,
	.max_operands = 1,
	.text = "Compiles a model or a circuit of OpenQASM, or reads a configuration (a name ending in .yaml) with its model and data. "
		"Reports each error "
		"with its location, and warns about parts that no output depends on. If there is no error, prints the circuits, "
		"inputs and weights, and the work and memory that one sample needs.",
	.example = (const char *const[]){ "qcnn check cluster.qcnn",
		"qcnn check --const n=16 cluster.qcnn", "qcnn check config.yaml", NULL },
	.run = check,
};
