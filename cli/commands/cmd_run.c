/* SPDX-License-Identifier: Apache-2.0
 * qcnn run: evaluates a model with given weights on given data, without training. */
#include "cli/command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/memory_exit.h"
#include "cli/hosts/rank_places.h"
#include "cli/job/job.h"
#include "cli/job/weights_files.h"
#include "cli/output/run_values.h"
#include "runtime/base/rng.h"
#include "runtime/base/system/cpus.h"
#include "runtime/net/scheduler/pool_threads.h"

struct running {
	struct cli *cli;
	struct named_model m;
	struct run_values v;         /* filled as the parts are opened */
	struct dataset *data;        /* NULL: the model has no inputs */
	struct transform learnt;     /* of the training whose weights the model has */
	double *weight;
	struct ranks *ranks; /* that hold the states together; NULL: this process alone */
	struct cluster cluster;
	struct pool *remote; /* of the cluster's workers, which compute outputs and readouts; NULL: there are none */
	struct buf path, weights_path;       /* of the model and the weights, where a run is named */
};

static uint32_t trajectories_given(const struct running *r)
{
	const struct options *o = &r->cli->options;

	return o->given[OPT_TRAJECTORIES]
		? execution_trajectories(options_count(o, OPT_TRAJECTORIES))
		: 0;
}

static bool needs_gradient(enum emit what)
{
	return what == EMIT_JACOBIAN || what == EMIT_READOUT_JACOBIAN;
}

/* Of all qubits, not of observables. */
static bool needs_state(enum emit what)
{
	return what == EMIT_STATE || what == EMIT_PROBABILITIES || what == EMIT_SAMPLES;
}

static int open_model(struct running *r, enum emit what)
{
	const struct model_wish wish = { .path = r->cli->options.operand[0],
		.alone = true,
		/* The light cone keeps observables right, not the state. */
		.without = needs_state(what) ? "cone" : NULL };
	int status = named_model_read(r->cli, &wish, &r->m);

	if (status)
		return status;
	if (needs_gradient(what)) {
		/* Derivatives are with respect to all weights: frozen ones stay as they are in training alone. */
		for (uint32_t i = 0; i < r->m.model.program->nweight_group; i++)
			r->m.model.program->weight_group[i].frozen = false;
	}
	r->v.program = r->m.model.program;
	if (what == EMIT_STATE
		&& trajectories_of(r->v.program,
			&(struct evaluator_options){ .trajectories = trajectories_given(r) }))
		return cli_usage(r->cli,
			"a model with noise channels has no state vector; --emit=probabilities gives the probabilities of its mixed state");
	if (!r->v.program->noutput && !needs_state(what))
		cli_note(r->cli,
			"the model observes nothing, so there is nothing to print: end it with what is measured, for example `observe z(q);`, in OpenQASM `measure`, or add "
			"--emit=state");
	return 0;
}

static int open_data(struct running *r)
{
	const struct options *o = &r->cli->options;
	const struct program *p = r->v.program;
	struct err e;

	r->v.nsample = 1;
	if (!p->ninput_group)
		return o->given[OPT_DATA]
			? cli_usage(r->cli, "the model has no inputs, so that --data cannot be used")
			: 0;
	if (!o->given[OPT_DATA])
		return cli_usage(r->cli, "the model has the input `%s`; give samples with --data", p->input_group[0].name);
	const struct weights *w = r->m.model.weights;
	const char *steps = w ? weights_meta(w, "transform") : NULL;
	struct samples_wish wish = { .program = p,
		.want = r->m.model.want,
		.learnt = steps ? &r->learnt : NULL,
		.columns = w ? weights_meta(w, "columns") : NULL };
	int code = steps ? transform_parse(steps, strlen(steps), &r->learnt, &e) : 0;

	if (!code)
		code = samples_file(&wish, o->value[OPT_DATA], r->m.d, &r->data, &e);
	if (diags_errors(r->m.d))
		return cli_diags_fail(r->cli, r->m.d, err_exit_status(-ERR_BAD_DATA));
	if (code)
		return cli_fail(r->cli, &e);
	buf_auto names = BUF_INIT;
	for (unsigned i = 0; i < r->learnt.nstep; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", transform_name(r->learnt.step[i].kind));
	if (names.len)
		cli_note(r->cli, "the inputs are transformed as in the training: %s", names.data);
	r->v.x = r->data->x;
	r->v.nx = r->data->nx;
	r->v.nsample = r->data->nrow;
	return 0;
}

/* The numbers of --emit=state, probabilities and samples, before anything is taken for them. Where one state
 * alone is beyond reason the evaluator says so. */
static int states_fit(struct running *r, enum emit what)
{
	static const char *const name[] = { [EMIT_STATE] = "the state", [EMIT_PROBABILITIES] = "the probabilities", [EMIT_SAMPLES] = "the shots" };
	uint64_t available = cpus_memory_available(), size = what == EMIT_STATE ? 16 : 8;
	char need[MEMORY_TEXT_MAX], have[MEMORY_TEXT_MAX];
	double needed = 0;

	if (!needs_state(what))
		return 0;
	for (uint32_t c = 0; c < r->v.program->ncircuit; c++) {
		uint32_t n = r->v.program->circuit[c].nwire;

		needed += what == EMIT_SAMPLES
			? ldexp(24, (int)n) + 8.0 * r->v.nsample * r->v.shots * n
			: ldexp((double)size * r->v.nsample, (int)n);
	}
	if (needed <= (double)available || needed > 0x1p60)
		return 0;
	return cli_error(r->cli, -ERR_CONFIG, "needs %s for %u sample%s of %s, %s available",
		memory_text(needed, 0, need), r->v.nsample, r->v.nsample == 1 ? "" : "s",
		name[what], memory_text((double)available, 0, have));
}

/* Other processes take part where an option says so: not all of a job's, as for a training, for what is often a moment's work. */
static bool has_others(const struct cli *c)
{
	const struct options *o = &c->options;

	return o->given[OPT_RANKS] || o->given[OPT_HOSTS] || o->given[OPT_HOSTFILE]
		|| joined_by_mpi(o, NULL);
}

static bool workers_can(enum emit what) { return what == EMIT_OUTPUTS || what == EMIT_READOUTS; }

static int refuse_workers(struct cli *c)
{
	return cli_usage(c,
		"workers, and several groups, compute outputs and readouts; for --emit=%s start as many processes as --ranks",
		c->options.value[OPT_EMIT_VALUES]);
}

/* Found by all processes that were started together: rank 0 says it. */
static int check_joined(struct cli *c, enum emit what)
{
	unsigned nrank = (unsigned)options_count_or(&c->options, OPT_RANKS, 0);
	struct join a;
	int status = joined_find(c, &a);

	if (status || !a.mode || a.size == nrank || workers_can(what))
		return status;
	return a.rank ? err_exit_status(-ERR_USAGE) : refuse_workers(c);
}

/* Start workers, or the ranks of one group. */
static int open_cluster(struct running *r, struct evaluator_options *eo, enum emit what)
{
	struct cli *c = r->cli;
	struct cluster_work w = { .program = r->v.program,
		.exec = eo,
		.any_isa = !strcmp(c->options.value[OPT_ISA], "auto"),
		.any_device = !strcmp(c->options.value[OPT_DEVICE], "auto"),
		.threads = (uint32_t)options_count_or(&c->options, OPT_THREADS, 0) };
	buf_auto folder = BUF_INIT;

	if (!has_others(c))
		return 0;
	path_folder(c->options.operand[0], &folder);
	int status = cluster_wish(c, NULL, folder.data, &r->cluster);
	if (!status && r->cluster.hosts.n && !r->cluster.nrank && !workers_can(what))
		status = refuse_workers(c);
	if (!status)
		status = cluster_start(&r->cluster, &w, &r->remote);
	if (!status)
		status = ranks_of_cluster(&r->cluster, eo, &r->ranks);
	eo->remote = r->remote != NULL;
	if (r->remote)
		eo->nthread = 1;
	return status;
}

static int open_evaluator(struct running *r, enum emit what)
{
	const struct options *o = &r->cli->options;
	const char *trained = o->given[OPT_PRECISION] ? NULL : weights_precision(r->m.model.weights);
	struct execution_words w = {
		.device = o->value[OPT_DEVICE],
		.precision = trained ? trained : o->value[OPT_PRECISION],
		.isa = o->value[OPT_ISA],
		.method = needs_state(what) ? method_name(METHOD_STATEVECTOR) : o->value[OPT_METHOD],
		.gradient = needs_gradient(what) ? o->value[OPT_GRADIENT] : NULL,
		.shots = needs_state(what) ? 0 : r->v.shots,
		.trajectories = trajectories_given(r),
		.threads = (uint32_t)options_count_or(o, OPT_THREADS, 0),
		.split = (uint32_t)options_count_or(o, OPT_RANKS, 1),
	};
	struct evaluator_options eo;
	char reason[DEVICE_REASON_MAX];
	struct err e;
	int code, status;

	code = execution_options(&w, &eo, &e);
	eo.outputs_alone = !w.gradient;
	eo.amplitudes = needs_state(what);
	if (!code)
		code = execution_method(&w, r->v.program, r->v.nsample, &eo, &e);
	if (!code)
		device_choose(&w, r->v.program, r->v.nsample, &eo, reason);
	if (!code)
		execution_say_trajectories(r->cli, r->v.program, &eo);
	if (!code)
		execution_say_long(r->cli, r->v.program, r->v.nsample, &eo, "the evaluation");
	if (!code && *reason)
		cli_detail(r->cli, "computing on the device %s: %s", execution_device(&eo), reason);
	status = code ? cli_fail(r->cli, &e) : open_cluster(r, &eo, what);
	if (status)
		return status;
	code = evaluator_new(r->v.program, &eo, &r->v.ev, &e);
	if (!code)
		code = evaluator_weights(r->v.ev, r->weight, &e);
	if (!code && eo.rank && *eo.rank->way)
		cli_detail(r->cli, "GPUs exchange by %s", eo.rank->way);
	if (!code)
		r->v.pool = r->remote ? r->remote : pool_threads_new(eo.nthread);
	return code ? cli_fail(r->cli, &e) : 0;
}

/* Tensors show no amplitudes. */
static int check_method(const struct running *r, enum emit what)
{
	const struct options *o = &r->cli->options;

	if (!needs_state(what) || method_find(o->value[OPT_METHOD]) != METHOD_TENSOR)
		return 0;
	return cli_usage(r->cli,
		"--emit=%s needs the amplitudes of the state, and the method tensor computes none; leave out --method, or observe what is of interest",
		o->value[OPT_EMIT_VALUES]);
}

/* Shots show no state, and derivatives by parameter shift alone. */
static int check_shots(const struct running *r, enum emit what)
{
	const struct options *o = &r->cli->options;

	if (!r->v.shots && what == EMIT_SAMPLES)
		return cli_usage(r->cli, "--emit=samples prints the bits of shots; give their number with --shots");
	if (!r->v.shots)
		return 0;
	if (what == EMIT_STATE)
		return cli_usage(r->cli, "shots do not show the state; --emit=samples gives their bits, --emit=probabilities their frequencies");
	if (needs_gradient(what) && strcmp(o->value[OPT_GRADIENT], "shift"))
		return cli_usage(r->cli, "derivatives from shots are made by parameter shift; give --gradient=shift");
	return 0;
}

enum format { FORMAT_JSON = 0, FORMAT_NPY, FORMAT_CSV };

/* That of --format, or else of the ending of --output. */
static enum format format_of(const struct options *o)
{
	const char *path = o->value[OPT_VALUES_OUT];

	if (o->given[OPT_FORMAT])
		return (enum format)options_choice(o, OPT_FORMAT);
	if (path && path_ends(path, ".npy"))
		return FORMAT_NPY;
	return path && path_ends(path, ".csv") ? FORMAT_CSV : FORMAT_JSON;
}

static int write_values(struct cli *c, const struct run_values *r)
{
	static void (*const one[])(const struct values *,
		struct buf *) = { [FORMAT_NPY] = values_npy, [FORMAT_CSV] = values_csv };
	const struct options *o = &c->options;
	enum format format = format_of(o);
	buf_auto b = BUF_INIT;

	if (format == FORMAT_JSON)
		values_json(r->v, r->nv, &b);
	else if (r->nv == 1)
		one[format](r->v, &b);
	else
		return cli_usage(c, "the states of several circuits do not fit into one array; use --format=json");
	return cli_write(c, &b, o->value[OPT_VALUES_OUT]);
}

/* All is open: the values, and their way out. */
static int print_values(struct running *r, enum emit what)
{
	struct run_values *v = &r->v;
	const struct evaluator_options noise = { .shots = v->shots,
		.trajectories = trajectories_given(r) };
	struct err e;

	v->weight = r->weight;
	/* Where shots and trajectories come from: step 0 of the seed. */
	v->key = rng_u64(options_count(&r->cli->options, OPT_SEED), RNG_SHOT_KEY, 0, 0);
	v->trajectories = trajectories_of(v->program, &noise);
	v->v = mem_alloc(v->program->ncircuit + 2, sizeof *v->v);
	int status = run_values_emit(v, what, &e) ? cli_fail(r->cli, &e) : write_values(r->cli, v);

	for (unsigned i = 0; i < v->nv; i++)
		values_release(&v->v[i]);
	free(v->v);
	return status;
}

static int evaluate(struct running *r, enum emit what)
{
	int status = check_shots(r, what);

	if (!status)
		status = check_method(r, what);
	if (!status)
		status = open_model(r, what);
	if (!status)
		status = open_data(r);
	if (!status)
		status = weights_named(r->cli, &r->cli->options.value[OPT_WEIGHTS], &r->weights_path);
	if (!status)
		status = weights_of_model(r->cli, &r->m.model,
			what != EMIT_OUTPUTS && what != EMIT_JACOBIAN, r->v.program->nweight,
			&r->weight);
	if (!status)
		status = states_fit(r, what);
	memory_exit_during(MEMORY_EXIT_COMPUTING);
	if (!status)
		status = open_evaluator(r, what);
	if (!status)
		status = cli_warnings(r->cli, r->m.d);
	if (!status)
		status = print_values(r, what);
	memory_exit_during(MEMORY_EXIT_NONE);
	return status;
}

static int run(struct cli *c)
{
	enum emit what = (enum emit)options_choice(&c->options, OPT_EMIT_VALUES);
	struct running r = { .cli = c,
		.v.shots = (uint32_t)options_count_or(&c->options, OPT_SHOTS, 0) };
	int status = weights_named(c, &c->options.operand[0], &r.path);

	if (!status && has_others(c))
		status = check_joined(c, what);
	if (status || (has_others(c) && joined_work(c, NULL, c->options.operand[0], &status))) {
		buf_release(&r.path);
		return status;
	}
	status = evaluate(&r, what);
	if (r.v.pool && !r.remote)
		r.v.pool->ops->free(r.v.pool);
	evaluator_free(r.v.ev);
	ranks_end(r.ranks);
	cluster_end(&r.cluster, status);
	free(r.weight);
	dataset_free(r.data);
	transform_release(&r.learnt);
	named_model_release(&r.m);
	buf_release(&r.path);
	buf_release(&r.weights_path);
	return status;
}

const struct command_about command_run = {
	.summary = "evaluate a model: outputs, derivatives, states, shots",
	.operands = "MODEL|RUN",
	.min_operands = 1,
	.max_operands = 1,
	.text = "Evaluates a model, as text, assembler text (.asm) or bytecode, or a circuit of OpenQASM, with the given weights for "
		"each sample of the given data, and prints an array whose first dimension counts samples. A run, or its weights.bin, is a model "
		"with its weights.",
	.example = (const char *const[]){ "qcnn run bell.qcnn",
		"qcnn run --weights=weights.bin --data=new.npz cluster.qcnn",
		"qcnn run --data=new.npz latest",
		"qcnn run --emit=jacobian --precision=double --data=new.npz cluster.qcnn",
		"qcnn run --emit=state -o state.npy bell.qcnn",
		"qcnn run --emit=samples --shots=100 --format=csv bell.qcnn",
		"qcnn run --emit=probabilities ghz.qasm", NULL },
	.exit_1 = "a value is not finite",
	.run = run,
};
