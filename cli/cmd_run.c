/* SPDX-License-Identifier: Apache-2.0
 * qcnn run: evaluates a model with given weights on given data, without training. */
#include "config.h"
#include "cli/commands.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/job.h"
#include "cli/values.h"
#include "runtime/base/cpus.h"
#include "runtime/base/rng.h"
#include "runtime/exec/shots.h"
#include "runtime/net/pool_threads.h"
#include "runtime/train/model.h"

struct running {
	struct cli *cli;
	struct source_set *sources;
	struct diags *d;
	struct model_file model;
	const struct program *program;
	struct dataset *data;        /* NULL: the model has no inputs */
	double *weight;
	struct evaluator *ev;
	struct pool *pool;
	uint32_t nsample;
	struct values *v;            /* results */
	unsigned nv;
};

enum emit { EMIT_OUTPUTS = 0, EMIT_JACOBIAN, EMIT_READOUTS, EMIT_READOUT_JACOBIAN, EMIT_STATE, EMIT_PROBABILITIES, EMIT_SAMPLES };

static uint32_t shots_of(const struct running *r)
{
	return r->cli->options.given[OPT_SHOTS] ? (uint32_t)options_count(&r->cli->options, OPT_SHOTS) : 0;
}

/* Where shots come from: step 0 of the seed. */
static uint64_t shots_key(const struct running *r)
{
	return rng_u64(options_count(&r->cli->options, OPT_SEED), RNG_SHOT_KEY, 0, 0);
}

static const double *row_of(const struct running *r, uint32_t s)
{
	return r->data ? r->data->x + (size_t)s * r->data->nx : NULL;
}

static struct values *result(struct running *r, const char *name, unsigned ndim, const uint64_t *dim, bool is_complex,
	struct err *e)
{
	struct values *v = &r->v[r->nv];

	if (values_new(v, name, ndim, dim, is_complex, e))
		return NULL;
	r->nv++;
	return v;
}

/* ---- values ---- */

static int emit_readouts(struct running *r, bool head, struct err *e)
{
	const struct program *p = r->program;
	struct batch b = { r->nsample, NULL, row_of(r, 0), NULL, 0 };
	uint64_t dim[2] = { r->nsample, p->nreadout };
	struct values *readout = result(r, head ? "outputs" : "readouts", 2, dim, false, e), *output;
	double *tape;
	int code;

	if (!readout)
		return e->code;
	evaluator_draws(r->ev, shots_key(r), 0);
	evaluator_prepare(r->ev, &b, false, NULL, NULL, readout->array.value);
	code = evaluator_run(r->ev, r->pool, NULL, e);
	readout->index[0] = "sample";
	readout->column = head ? "output" : "readout";
	if (code || !head || !p->ndense)
		return code;
	dim[1] = p->noutput;
	output = result(r, "outputs", 2, dim, false, e);
	tape = mem_try(model_tape(p) + 1, sizeof *tape);
	if (!output || !tape)
		code = output ? err_set(e, -ERR_CONFIG, "no memory for the head") : e->code;
	for (uint32_t s = 0; !code && s < r->nsample; s++)
		model_head(p, r->weight, readout->array.value + (size_t)s * p->nreadout,
			output->array.value + (size_t)s * p->noutput, tape);
	free(tape);
	if (!code) {
		output->index[0] = "sample";
		output->column = "output";
		values_release(readout);
		r->v[0] = *output;
		r->nv = 1;
	}
	return code;
}

/* One output's derivative: its slope through the head is a unit vector. */
struct unit_slope {
	const struct program *program;
	const double *weight;
	uint32_t output;
	bool head;                   /* outputs behind the head, not readouts */
	double *tape, *value, *slope_output;
};

static int unit_slope(void *ctx, uint32_t sample, const double *readout, double *slope, double *head)
{
	struct unit_slope *u = ctx;
	const struct program *p = u->program;

	(void)sample;
	if (!u->head || !p->ndense) {
		if (slope)
			memset(slope, 0, p->nreadout * sizeof *slope);
		if (slope)
			slope[u->output] = 1;
		return 0;
	}
	model_head(p, u->weight, readout, u->value, u->tape);
	memset(u->slope_output, 0, p->noutput * sizeof *u->slope_output);
	u->slope_output[u->output] = 1;
	if (slope)
		model_head_reverse(p, u->weight, u->tape, u->slope_output, slope, head);
	return 0;
}

static int derive_all(struct running *r, struct unit_slope *u, uint64_t nout, uint64_t nkeep, double *readout,
	double *gradient, double *out, struct err *e)
{
	for (uint32_t s = 0; s < r->nsample; s++)
		for (u->output = 0; u->output < nout; u->output++) {
			struct batch b = { 1, NULL, row_of(r, s), NULL, 0 };
			int code;

			evaluator_draws(r->ev, shots_key(r), s);
			evaluator_prepare(r->ev, &b, true, unit_slope, u, readout);
			code = evaluator_run(r->ev, r->pool, gradient, e);
			if (code)
				return code;
			memcpy(out + (s * nout + u->output) * nkeep, gradient, nkeep * sizeof *out);
		}
	return 0;
}

static int emit_jacobian(struct running *r, bool head, struct err *e)
{
	const struct program *p = r->program;
	uint64_t nout = head ? p->noutput : p->nreadout, nkeep = head ? p->nweight : p->nweight_circuit;
	uint64_t dim[3] = { r->nsample, nout, nkeep };
	size_t tape = model_tape(p);
	struct values *v = result(r, head ? "jacobian" : "readout_jacobian", 3, dim, false, e);
	double *scratch = mem_try(tape + 2 * (size_t)p->noutput + p->nreadout + p->nweight + 1, sizeof *scratch);
	struct unit_slope u = { .program = p, .weight = r->weight, .head = head, .tape = scratch };
	int code;

	if (!v || !scratch) {
		free(scratch);
		return v ? err_set(e, -ERR_CONFIG, "no memory for derivatives") : e->code;
	}
	u.value = scratch + tape;
	u.slope_output = u.value + p->noutput;
	v->index[0] = "sample";
	v->index[1] = head ? "output" : "readout";
	v->paths = p;
	code = derive_all(r, &u, nout, nkeep, u.slope_output + p->noutput,
		u.slope_output + p->noutput + p->nreadout, v->array.value, e);
	free(scratch);
	return code;
}

static void squares(const cplx *psi, uint64_t size, double *out)
{
	for (uint64_t i = 0; i < size; i++)
		out[i] = creal(psi[i]) * creal(psi[i]) + cimag(psi[i]) * cimag(psi[i]);
}

/* Squares of amplitudes, or their frequencies among the shots; scratch has 2^n numbers. */
static void squares_of(const struct running *r, uint32_t c, uint32_t s, uint64_t size, const cplx *psi, double *scratch, double *out)
{
	const struct shot_stream stream = { .key = shots_key(r), .sample = s, .group = c };

	squares(psi, size, out);
	if (shots_of(r))
		shot_frequencies(out, size, shots_of(r), &stream, scratch);
}

static int state_of_circuit(struct running *r, uint32_t c, bool squares, struct err *e)
{
	const struct circuit_code *code = &r->program->circuit[c];
	uint64_t size = code->nwire < 34 ? (uint64_t)1 << code->nwire : UINT64_MAX, dim[2] = { r->nsample, size };
	const char *name = *code->name ? code->name : squares ? "probabilities" : "state";
	struct values *v = result(r, name, 2, dim, !squares, e);
	cplx *psi = v ? mem_try(size, sizeof *psi) : NULL;
	int status = 0;

	if (!psi)
		return v ? err_set(e, -ERR_CONFIG, "no memory for a state of %u qubits", code->nwire) : e->code;
	v->index[0] = "sample";
	v->index[1] = "index";
	for (uint32_t s = 0; !status && s < r->nsample; s++) {
		double *out = v->array.value + (size_t)s * size * (squares ? 1 : 2);

		status = evaluator_state(r->ev, c, row_of(r, s), psi, e);
		if (!status && squares)
			squares_of(r, c, s, size, psi, (double *)psi, out);
		for (uint64_t i = 0; !status && !squares && i < size; i++) {
			out[2 * i] = creal(psi[i]);
			out[2 * i + 1] = cimag(psi[i]);
		}
	}
	free(psi);
	return status;
}

/* The bits of all shots of one circuit. */
static int samples_of_circuit(struct running *r, uint32_t c, struct err *e)
{
	const struct circuit_code *code = &r->program->circuit[c];
	uint64_t size = code->nwire < 34 ? (uint64_t)1 << code->nwire : UINT64_MAX, shots = shots_of(r);
	uint64_t dim[3] = { r->nsample, shots, code->nwire };
	struct values *v = result(r, *code->name ? code->name : "samples", 3, dim, false, e);
	cplx *psi = v ? mem_try(size, sizeof *psi) : NULL;
	double *p = psi ? mem_try(size, sizeof *p) : NULL;
	int status = 0;

	if (!p) {
		free(psi);
		return v ? err_set(e, -ERR_CONFIG, "no memory for a state of %u qubits", code->nwire) : e->code;
	}
	v->index[0] = "sample";
	v->index[1] = "shot";
	v->column = "qubit";
	for (uint32_t s = 0; !status && s < r->nsample; s++) {
		const struct shot_stream stream = { .key = shots_key(r), .sample = s, .group = c };

		status = evaluator_state(r->ev, c, row_of(r, s), psi, e);
		if (status)
			break;
		squares(psi, size, p);
		shot_bits(p, code->nwire, shots, &stream, v->array.value + s * shots * code->nwire);
	}
	free(psi);
	free(p);
	return status;
}

static int emit_samples(struct running *r, struct err *e)
{
	int code = 0;

	for (uint32_t c = 0; !code && c < r->program->ncircuit; c++)
		code = samples_of_circuit(r, c, e);
	return code;
}

static int emit_states(struct running *r, bool squares, struct err *e)
{
	int code = 0;

	for (uint32_t c = 0; !code && c < r->program->ncircuit; c++)
		code = state_of_circuit(r, c, squares, e);
	return code;
}

static int emit_all(struct running *r, enum emit what, struct err *e)
{
	switch (what) {
	case EMIT_OUTPUTS: return emit_readouts(r, true, e);
	case EMIT_READOUTS: return emit_readouts(r, false, e);
	case EMIT_JACOBIAN: return emit_jacobian(r, true, e);
	case EMIT_READOUT_JACOBIAN: return emit_jacobian(r, false, e);
	case EMIT_STATE: return emit_states(r, false, e);
	case EMIT_PROBABILITIES: return emit_states(r, true, e);
	case EMIT_SAMPLES: return emit_samples(r, e);
	}
	BUG("no values number %d", (int)what);
}

/* ---- what is needed for it ---- */

static bool needs_gradient(enum emit what)
{
	return what == EMIT_JACOBIAN || what == EMIT_READOUT_JACOBIAN;
}

/* Of all qubits, not of observables. */
static bool needs_state(enum emit what)
{
	return what == EMIT_STATE || what == EMIT_PROBABILITIES || what == EMIT_SAMPLES;
}

static bool needs_head(enum emit what)
{
	return what == EMIT_OUTPUTS || what == EMIT_JACOBIAN;
}

static int open_model(struct running *r, enum emit what)
{
	struct cli *c = r->cli;
	struct compile_words w;
	struct err e;
	int code = compile_words_init(&w, &c->options, NULL, &e);
	int status = code ? 0 : compile_words_check(c, &w.compile);

	if (status) {
		compile_words_release(&w);
		return status;
	}
	/* The light cone keeps observables right, not the state. */
	if (!code && needs_state(what))
		w.without[w.compile.nwithout++] = "cone";
	if (!code)
		code = model_file_open(c->options.operand[0], r->d, &w.lang, &w.compile, &r->model, &e);
	compile_words_release(&w);
	if (code)
		return cli_fail(c, &e);
	if (diags_errors(r->d))
		return cli_diags_fail(c, r->d, err_exit_status(-ERR_BAD_DATA));
	r->program = r->model.program;
	return 0;
}

static int open_weights(struct running *r, enum emit what)
{
	const struct options *o = &r->cli->options;
	const struct program *p = r->program;
	struct err e;
	int code;

	r->weight = mem_try((size_t)p->nweight + 1, sizeof *r->weight);
	if (!r->weight) {
		err_set(&e, -ERR_CONFIG, "no memory for %u weights", p->nweight);
		return cli_fail(r->cli, &e);
	}
	if (o->given[OPT_WEIGHTS]) {
		code = weights_import(p, o->value[OPT_WEIGHTS], false, r->weight, &e);
		/* Where the head is of no use its weights may be missing. */
		if (code == -ERR_BAD_DATA && !needs_head(what) && p->ndense)
			code = weights_import(p, o->value[OPT_WEIGHTS], true, r->weight, &e);
		return code ? cli_fail(r->cli, &e) : 0;
	}
	program_init_weights(p, options_count(o, OPT_SEED), 0, r->weight);
	if (p->nweight)
		cli_note(r->cli, "no --weights: the model's initial weights of seed %s are used", o->value[OPT_SEED]);
	return 0;
}

static int open_data(struct running *r)
{
	const struct options *o = &r->cli->options;
	const struct program *p = r->program;
	struct err e;
	int code;

	r->nsample = 1;
	if (!p->ninput_group)
		return o->given[OPT_DATA] ? cli_usage(r->cli, "the model has no inputs, --data has no use") : 0;
	if (!o->given[OPT_DATA])
		return cli_usage(r->cli, "the model has the input `%s`; give samples with --data", p->input_group[0].name);
	code = samples_file(NULL, p, r->model.want, NULL, o->value[OPT_DATA], false, r->d, &r->data, &e);
	if (diags_errors(r->d))
		return cli_diags_fail(r->cli, r->d, err_exit_status(-ERR_BAD_DATA));
	if (code)
		return cli_fail(r->cli, &e);
	r->nsample = r->data->nrow;
	return 0;
}

/* The numbers of --emit=state, probabilities and samples, before anything is taken for them. Where one state
 * alone is beyond reason the evaluator says so. */
static int states_fit(struct running *r, enum emit what)
{
	static const char *const name[] = { [EMIT_STATE] = "the state", [EMIT_PROBABILITIES] = "the probabilities", [EMIT_SAMPLES] = "the shots" };
	uint64_t available = cpus_memory_available(), size = what == EMIT_STATE ? 16 : 8;
	double needed = 0;
	struct err e;

	if (!needs_state(what))
		return 0;
	for (uint32_t c = 0; c < r->program->ncircuit; c++) {
		uint32_t n = r->program->circuit[c].nwire;

		needed += what == EMIT_SAMPLES ? ldexp(24, (int)n) + 8.0 * r->nsample * shots_of(r) * n : ldexp((double)size * r->nsample, (int)n);
	}
	if (needed <= (double)available || needed > 0x1p60)
		return 0;
	err_set(&e, -ERR_CONFIG, "needs %.1f GiB for %u sample%s of %s, %.1f GiB available", needed / 0x1p30,
		r->nsample, r->nsample == 1 ? "" : "s", name[what],
		(double)available / 0x1p30);
	return cli_fail(r->cli, &e);
}

static int open_evaluator(struct running *r, enum emit what)
{
	const struct options *o = &r->cli->options;
	struct execution_words w = {
		.device = o->value[OPT_DEVICE],
		.precision = o->value[OPT_PRECISION],
		.isa = o->value[OPT_ISA],
		.gradient = needs_gradient(what) ? o->value[OPT_GRADIENT] : NULL,
		.shots = needs_state(what) ? 0 : shots_of(r),
		.threads = o->given[OPT_THREADS] ? (uint32_t)options_count(o, OPT_THREADS) : 0,
	};
	struct evaluator_options eo;
	struct err e;
	int code = execution_options(&w, &eo, &e);

	if (!code)
		code = evaluator_new(r->program, &eo, &r->ev, &e);
	if (!code)
		code = evaluator_weights(r->ev, r->weight, &e);
	if (!code)
		r->pool = pool_threads_new(eo.nthread);
	return code ? cli_fail(r->cli, &e) : 0;
}

/* Shots show no state, and derivatives by parameter shift alone. */
static int check_shots(const struct running *r, enum emit what)
{
	const struct options *o = &r->cli->options;

	if (!shots_of(r) && what == EMIT_SAMPLES)
		return cli_usage(r->cli, "--emit=samples prints the bits of shots; give their number with --shots");
	if (!shots_of(r))
		return 0;
	if (what == EMIT_STATE)
		return cli_usage(r->cli, "shots do not show the state; --emit=samples gives their bits, --emit=probabilities their frequencies");
	if (needs_gradient(what) && strcmp(o->value[OPT_GRADIENT], "shift"))
		return cli_usage(r->cli, "derivatives from shots are made by parameter shift; give --gradient=shift");
	return 0;
}

static int write_values(struct running *r)
{
	static void (*const one[])(const struct values *, struct buf *) = { NULL, values_npy, values_csv };
	const struct options *o = &r->cli->options;
	unsigned format = options_choice(o, OPT_FORMAT);
	struct buf b = BUF_INIT;
	int status;

	if (!format)
		values_json(r->v, r->nv, &b);
	else if (r->nv == 1)
		one[format](r->v, &b);
	else
		return cli_usage(r->cli, "the states of several circuits do not fit into one array; use --format=json");
	status = cli_write(r->cli, &b, o->value[OPT_VALUES_OUT]);
	buf_release(&b);
	return status;
}

static int evaluate(struct running *r, enum emit what)
{
	struct err e = { 0 };
	int status = check_shots(r, what);

	if (!status)
		status = open_model(r, what);
	if (!status)
		status = open_data(r);
	if (!status)
		status = open_weights(r, what);
	if (!status)
		status = states_fit(r, what);
	if (!status)
		status = open_evaluator(r, what);
	if (status)
		return status;
	cli_diags(r->cli, r->d);
	r->v = mem_alloc(r->program->ncircuit + 2, sizeof *r->v);
	if (emit_all(r, what, &e))
		return cli_fail(r->cli, &e);
	return write_values(r);
}

static int run(struct cli *c)
{
	struct running r = { .cli = c, .sources = source_set_new() };
	int status;

	r.d = diags_new(r.sources);
	status = evaluate(&r, (enum emit)options_choice(&c->options, OPT_EMIT_VALUES));
	for (unsigned i = 0; i < r.nv; i++)
		values_release(&r.v[i]);
	free(r.v);
	if (r.pool)
		r.pool->ops->free(r.pool);
	evaluator_free(r.ev);
	free(r.weight);
	dataset_free(r.data);
	model_file_release(&r.model);
	diags_free(r.d);
	source_set_free(r.sources);
	return status;
}

static const char *const examples[] = {
	"qcnn run bell.qcnn",
	"qcnn run --weights=weights.bin --data=new.npz cluster.qcnn",
	"qcnn run --emit=jacobian --precision=double --data=new.npz cluster.qcnn",
	"qcnn run --emit=state --format=npy -o state.npy bell.qcnn",
	"qcnn run --emit=samples --shots=100 --format=csv bell.qcnn",
	NULL
};

const struct command command_run = {
	.bit = COMMAND_RUN,
	.name = "run",
	.summary = "evaluate a model: outputs, derivatives, states, shots",
	.operands = "MODEL",
	.min_operands = 1,
	.max_operands = 1,
	.text = "Evaluates a model, as text, assembler text (.asm) or bytecode, with the given weights for each sample of "
		"the given data, and prints an array whose first dimension counts samples.",
	.example = examples,
	.run = run,
};
