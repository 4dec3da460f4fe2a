/* SPDX-License-Identifier: Apache-2.0
 * qcnn check: diagnoses a model or a configuration and says how large it is. */
#include "cli/command.h"

#include "cli/job/job.h"
#include "cli/job/model_work.h"
#include "cli/job/named_model.h"
#include "cli/job/record.h"
#include "cli/output/values.h"

/* ---- JSON ---- */

static void json_groups(const struct program *p, struct buf *out)
{
	buf_str(out, "\"params\": {");
	for (uint32_t i = 0; i < p->nweight_group; i++) {
		const struct weight_group *g = &p->weight_group[i];

		buf_json(out, ", %s: {\"shape\": ", g->path);
		shape_print(g->ndim, g->dim, out);
		buf_json(out, ", \"init\": %s, \"frozen\": %i}", init_names[g->init], g->frozen);
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

/* What the method of auto needs, and tensors where they are known. */
static void json_work(const struct model_work *w, struct buf *out)
{
	json_auto_t *tensor = w->tensors ? record_tensors(&w->tensor) : json_null();

	buf_json(out, ", \"flops_forward\": %g, \"flops_gradient\": %g, \"method\": %s",
		w->forward_flops, w->gradient_flops,
		w->method == METHOD_AUTO ? NULL : method_name(w->method));
	buf_json(out, ", \"states_bytes\": %g, \"memory_available_bytes\": %g, \"tensor\": ",
		w->states_bytes, w->available);
	json_print(tensor, out);
	buf_json(out, ", \"tensor_obstacle\": %s", *w->no_tensors ? w->no_tensors : NULL);
	buf_str(out, ", \"costly_layers\": [");
	for (unsigned k = 0; k < w->costly.n; k++)
		buf_json(out, ", {\"layer\": %s, \"flops_forward\": %g, \"memory_thread_bytes\": %g}",
			w->costly.layer[k].path, w->costly.layer[k].flops,
			w->costly.layer[k].thread_bytes);
	buf_char(out, ']');
}

static void print_json(const struct program *p, const struct job *j, struct buf *out)
{
	struct model_work w;

	model_work_find(p, &w);
	buf_printf(out, "{\"schema\": 1, \"weights\": %u, \"circuit_weights\": %u, \"matrices\": %u, \"outputs\": %u, ",
		p->nweight, p->nweight_circuit, p->nmatrix, p->noutput);
	buf_str(out, "\"circuits\": [");
	for (const struct circuit_code *c = p->circuit; c < p->circuit + p->ncircuit; c++)
		buf_json(out,
			", {\"name\": %s, \"qubits\": %u, \"operations\": %u, \"applies\": %u, \"readouts\": %u}",
			c->name, c->nwire, c->napply, c->napply, c->nreadout);
	buf_str(out, "], ");
	json_groups(p, out);
	json_work(&w, out);
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
		buf_printf(out, " %s%s\n", init_names[g->init], g->frozen ? ", frozen" : "");
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

/* Layers whose gates could be fewer, where tensors take long, or do not fit. */
static void text_costly_layers(const struct model_work *w, struct buf *out)
{
	char each[MEMORY_TEXT_MAX];

	for (unsigned k = 0; k < w->costly.n && k < 3; k++)
		buf_printf(out,
			"costly    %s: %.4g flops a sample and %s a thread if no two of its gates shared a qubit, as on even(w)\n",
			w->costly.layer[k].path, w->costly.layer[k].flops,
			memory_text(w->costly.layer[k].thread_bytes, 0, each));
	if (w->costly_found && !w->costly.n && !w->tensors_fit)
		buf_str(out, "costly    no layer alone: see run.method in qcnn-config(5)\n");
}

/* Where auto does not hold a state, or can do neither. */
static void text_tensors(const struct model_work *w, struct buf *out)
{
	char each[MEMORY_TEXT_MAX], available[MEMORY_TEXT_MAX], states[MEMORY_TEXT_MAX];
	const char *method = method_name(w->method == METHOD_TENSOR ? METHOD_AUTO : METHOD_TENSOR);

	if (*w->no_tensors)
		buf_printf(out, "tensors   not possible: %s\n", w->no_tensors);
	if (w->tensors)
		buf_printf(out,
			"tensors   %.4g flops a sample, %.4g with its gradient, and %s a thread: ",
			w->tensor.forward_flops, w->tensor.gradient_flops,
			memory_text(w->tensors_fit ? w->tensor.thread_bytes : w->tensor_bytes, 0,
				each));
	if (w->tensors && w->tensors_fit)
		buf_printf(out, "run.method: %s contracts them, without a state\n", method);
	else if (w->tensors)
		buf_printf(out, "more than the %s available here%s%s\n",
			memory_text(w->available, 0, available),
			w->states_bytes <= w->available ? "; run.method: statevector needs " : "",
			w->states_bytes <= w->available ? memory_text(w->states_bytes, 0, states)
							: "");
	text_costly_layers(w, out);
}

static void print_text(const struct program *p, const struct job *j, struct buf *out)
{
	unsigned long long napply = 0;
	struct model_work w;

	for (uint32_t c = 0; c < p->ncircuit; c++)
		napply += p->circuit[c].napply;
	model_work_find(p, &w);
	text_circuits(p, out);
	text_groups(p, out);
	buf_printf(out, "weights   %u\noutputs   %u\nmatrices  %u, used %llu times\n", p->nweight,
		p->noutput, p->nmatrix, napply);
	if (w.forward_flops == w.forward_flops)
		buf_printf(out, "work      %.4g flops a %s, %.4g with its gradient (nominal)\n",
			w.forward_flops, program_is_noisy(p) ? "trajectory" : "sample",
			w.gradient_flops);
	text_noise(p, out);
	/* Of the largest circuit, so that a machine can be chosen before anything is run. */
	char single[MEMORY_TEXT_MAX], both[MEMORY_TEXT_MAX];
	unsigned n = program_nwire(p);

	buf_printf(out, "state     %s in single precision, %s in double; a gradient takes two\n",
		memory_text(8, n, single), memory_text(16, n, both));
	text_tensors(&w, out);
	for (unsigned k = 0; j && k < PART_COUNT; k++)
		if (j->samples.part[k].nrow)
			buf_printf(out, "data      %u sample%s for %s\n", j->samples.part[k].nrow,
				j->samples.part[k].nrow == 1 ? "" : "s", sample_part_name(k));
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

const struct command_about command_check = {
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
