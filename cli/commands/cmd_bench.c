/* SPDX-License-Identifier: Apache-2.0
 * qcnn bench: how fast circuits and gradients are, and which share of the machine that is. */
#include "cli/command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/bench/bench.h"
#include "cli/memory_exit.h"
#include "cli/hosts/joined.h"
#include "cli/job/execution.h"
#include "runtime/base/system/resource_limits.h"
#include "runtime/exec/engine.h"
#include "runtime/exec/statevector/state_memory.h"

struct bench_job {
	struct cli *cli;
	struct bench_programs what;
	struct bench_list batch, threads;    /* n 0: not given */
	unsigned optimisations;              /* of enum optimisation */
	struct bench_case *cases; unsigned ncase;
	struct bench_report report;
	struct bench_workers *workers;       /* NULL: this process measures itself */
};

/* ---- options ---- */

static int read_list(struct bench_job *j, enum option_id id, uint64_t high, struct bench_list *out)
{
	const char *text = j->cli->options.value[id];
	struct err e;

	if (text && bench_list_read(option_rows[id].name, text, 1, high, out, &e))
		return cli_usage(j->cli, "%s", e.text);
	return 0;
}

static int read_lists(struct bench_job *j)
{
	struct err e;
	int status = read_list(j, OPT_QUBITS, BENCH_QUBITS_MAX, &j->what.qubits);

	if (!status)
		status = read_list(j, OPT_LAYERS, BENCH_LAYERS_MAX, &j->what.layers);
	if (!status)
		status = read_list(j, OPT_BATCH, BENCH_BATCH_MAX, &j->batch);
	if (!status)
		status = read_list(j, OPT_BENCH_THREADS, BENCH_THREADS_MAX, &j->threads);
	for (unsigned k = 0; !status && k < j->threads.n && !bench_has_workers(j->cli); k++)
		if (execution_threads((unsigned)j->threads.v[k], &e))
			status = cli_usage(j->cli, "%s", e.text);
	if (!status && !j->threads.n)
		j->threads = (struct bench_list){ { ulimit_threads(cpus_threads(NULL)) }, 1 };
	if (!status && j->cli->options.given[OPT_OPTIMIZATIONS]
		&& execution_optimisations(j->cli->options.value[OPT_OPTIMIZATIONS],
			&j->optimisations, &e))
		return cli_usage(j->cli, "--optimizations: %s", e.text);
	j->what.seed = options_count(&j->cli->options, OPT_BENCH_SEED);
	return status;
}

/* ---- cases ---- */

/* Inputs and readouts of a call, which this process holds whoever computes. */
static int check_samples(const struct bench_case *bc, uint64_t available, struct err *e)
{
	const struct program *p = bc->program->model.program;
	double bytes = sizeof(double) * (double)bc->batch * ((double)p->ninput + p->nreadout);
	char needed[MEMORY_TEXT_MAX], there[MEMORY_TEXT_MAX];

	if (bytes <= (double)available)
		return 0;
	return err_set(e, -ERR_CONFIG, "needs %s for the inputs and readouts of %u samples, %s available: --batch",
		memory_text(bytes, 0, needed), bc->batch, memory_text((double)available, 0, there));
}

/* Everything that can be refused is refused before memory is taken. */
static int check_case(struct bench_job *j, const struct bench_case *bc)
{
	const struct program *p = bc->program->model.program;
	arena_auto arena = { 0 };
	const bool stateless = target_can(bc->options.target, TARGET_STATELESS)
		|| bc->options.method == METHOD_TENSOR;
	struct memory_need need = { .nstate = stateless ? 0 : bc->gradient ? 2 : 1,
		.precision = bc->options.precision, .available = cpus_memory_available() };
	struct err e;

	need.nqubit = program_nwire(evaluator_program(p, &bc->options, &arena));
	if (bc->gradient && (!p->nweight_circuit || !p->nreadout))
		return cli_usage(j->cli, "%s has no %s, so that it has no gradient", bc->program->name,
			p->nreadout ? "weights" : "outputs");
	bool large = !j->workers && memory_check_states(&need, &e);
	if (large)
		engine_method_explain(&(struct engine_problem){ .program = p, .options = &bc->options },
			&e);
	if (large || check_samples(bc, need.available, &e)) {
		err_prefix(&e, "%s", bc->program->name);
		return cli_fail(j->cli, &e);
	}
	return 0;
}

static int add_case(struct bench_job *j, const struct bench_program *bp, uint64_t batch, uint64_t threads)
{
	const struct options *o = &j->cli->options;
	struct execution_words w = { .device = o->value[OPT_DEVICE],
		.precision = o->value[OPT_PRECISION],
		.isa = o->value[OPT_ISA],
		/* What a bench measures depends on no estimate; a profile shows what a training would do. */
		.method = o->given[OPT_METHOD] || j->cli->profiling ? o->value[OPT_METHOD]
								    : method_name(METHOD_STATEVECTOR),
		.gradient = o->given[OPT_BENCH_GRADIENT] ? "adjoint" : NULL,
		.threads = (uint32_t)threads,
		.split = (uint32_t)options_count_or(o, OPT_RANKS, 1),
		.optimisations = j->optimisations };
	struct bench_case *bc = &j->cases[j->ncase];
	struct err e;

	if (j->ncase == BENCH_CASES_MAX)
		return cli_usage(j->cli, "more than %d cases", BENCH_CASES_MAX);
	*bc = (struct bench_case){ .program = bp, .batch = (uint32_t)batch, .gradient = o->given[OPT_BENCH_GRADIENT] };
	if (execution_options(&w, &bc->options, &e)
		|| execution_method(&w, bp->model.program, (uint32_t)batch, &bc->options, &e)) {
		err_prefix(&e, "%s", bp->name);
		return cli_fail(j->cli, &e);
	}
	bc->options.start_again = bc->options.batch_again = true;
	j->ncase++;
	return check_case(j, bc);
}

/* The samples of a call of one program: those that are asked for, or what fills --amplitudes. */
static struct bench_list batches(const struct bench_job *j, const struct bench_program *bp)
{
	if (!j->cli->options.given[OPT_AMPLITUDES])
		return j->batch;
	uint64_t n =
		bp->qubits < 63 ? options_count(&j->cli->options, OPT_AMPLITUDES) >> bp->qubits : 0;
	return (struct bench_list){ { n < 1 ? 1 : n > BENCH_BATCH_MAX ? BENCH_BATCH_MAX : n }, 1 };
}

static int cases(struct bench_job *j)
{
	int status = 0;

	j->cases = mem_alloc(BENCH_CASES_MAX, sizeof *j->cases);
	for (unsigned p = 0; !status && p < j->what.nprogram; p++) {
		struct bench_list batch = batches(j, &j->what.program[p]);

		for (unsigned b = 0; !status && b < batch.n; b++)
			for (unsigned t = 0; !status && t < j->threads.n; t++)
				status = add_case(j, &j->what.program[p], batch.v[b], j->threads.v[t]);
	}
	return status;
}

/* ---- measuring ---- */

static void say(const struct bench_job *j, const char *what, const char *name, unsigned long long n)
{
	if (!isatty(STDERR_FILENO))
		cli_detail(j->cli, "measuring %s %s %llu", what, name, n);
	else if (!j->cli->quiet)
		fprintf(stderr, "\r\033[Kmeasuring %s %s %llu ...", what, name, n);
}

static void said(const struct bench_job *j)
{
	if (!j->cli->quiet && isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

static int limits(struct bench_job *j)
{
	const struct evaluator_options *o = &j->cases->options;
	struct err e;

	if (j->cli->options.given[OPT_NO_LIMITS] || j->workers || !target_has_limits(o->target))
		return 0;
	for (unsigned k = 0; k < j->threads.n; k++) {
		say(j, "the machine", "on threads:", j->threads.v[k]);
		if (limits_measure(o->target, (unsigned)j->threads.v[k], &j->report.limits[k], &e))
			return cli_fail(j->cli, &e);
		j->report.nlimit++;
	}
	return 0;
}

static const struct plan_limits *limits_of(const struct bench_report *r, unsigned nthread)
{
	for (unsigned k = 0; k < r->nlimit; k++)
		if (r->limits[k].nthread == nthread)
			return &r->limits[k];
	return NULL;
}

/* One case while it is measured. */
struct trial { struct bench_job *job; const struct bench_case *bc; const struct bench_run *how; };

/* A busy machine makes limits smaller, never larger. */
static int limits_again(struct bench_job *j, unsigned nthread, struct err *e)
{
	struct plan_limits again;
	int code = 0;

	for (unsigned k = 0; !code && k < j->report.nlimit; k++) {
		struct plan_limits *l = &j->report.limits[k];

		if (l->nthread != nthread)
			continue;
		code = limits_measure(l->target, nthread, &again, e);
		if (code)
			break;
		l->stream_gb_s = fmax(l->stream_gb_s, again.stream_gb_s);
		l->write_gb_s = fmax(l->write_gb_s, again.write_gb_s);
		l->l2_gb_s = fmax(l->l2_gb_s, again.l2_gb_s);
		l->single_gflop_s = fmax(l->single_gflop_s, again.single_gflop_s);
		l->double_gflop_s = fmax(l->double_gflop_s, again.double_gflop_s);
	}
	return code;
}

static int measure_once(void *ctx, enum bench_doubt doubt, struct bench_result *out, struct err *e)
{
	struct trial *t = ctx;
	unsigned nthread = t->bc->options.nthread;
	int code = 0;

	if (t->job->workers)
		return bench_measure(t->bc, t->how, NULL, out, e);
	say(t->job, t->bc->program->name, doubt ? "again, as the machine is busy, on qubits:" : "on qubits:", t->bc->program->qubits);
	if (doubt == BENCH_DOUBT_SHARE)
		code = limits_again(t->job, nthread, e);
	memory_exit_during(MEMORY_EXIT_COMPUTING);
	if (!code)
		code = bench_measure(t->bc, t->how, limits_of(&t->job->report, nthread), out, e);
	memory_exit_during(MEMORY_EXIT_NONE);
	return code;
}

static int measure(struct bench_job *j)
{
	const struct options *o = &j->cli->options;
	struct bench_run how = { options_count_or(o, OPT_RUNS, 0), j->what.seed,
		o->given[OPT_PARTS], j->cli };
	struct err e;

	j->report.result = mem_alloc(j->ncase, sizeof *j->report.result);
	for (unsigned k = 0; k < j->ncase; k++) {
		struct bench_case bc = j->cases[k];
		int status = j->workers ? bench_workers_begin(j->workers, &bc) : 0;

		if (status)
			return status;
		if (bench_repeat(measure_once, &(struct trial){ j, &bc, &how },
			    &j->report.result[k], &e)) {
			said(j);
			err_prefix(&e, "%s", bc.program->name);
			return cli_fail(j->cli, &e);
		}
		if (j->workers)
			bench_workers_end(j->workers);
		j->report.n++;
	}
	said(j);
	return 0;
}

/* ---- showing ---- */

static int plot(struct bench_job *j, const char *path)
{
	buf_auto b = BUF_INIT;

	bench_plot(&j->report, options_choice(&j->cli->options, OPT_PLOT_OF) == 1, &b);
	return cli_write(j->cli, &b, path);
}

/* What was found goes to the standard error where results for programs are on the standard output. */
static int compare(struct bench_job *j, const char *path, bool people)
{
	buf_auto b = BUF_INIT;
	unsigned slower;
	struct err e;
	int status = 0;

	if (bench_compare(&j->report, path, &b, &slower, &e))
		status = cli_fail(j->cli, &e);
	else if (people)
		buf_add(&j->cli->out, b.data, b.len);
	else
		fwrite(b.data, 1, b.len, stderr);
	return status ? status : slower != 0;
}

static int report(struct bench_job *j)
{
	const struct options *o = &j->cli->options;
	struct buf *out = &j->cli->out;
	bool people = !o->given[OPT_JSON] && !o->given[OPT_CSV];
	int status = 0;

	if (o->given[OPT_JSON])
		bench_json(&j->report, out);
	else if (o->given[OPT_CSV])
		bench_csv(&j->report, out);
	else if (o->given[OPT_MARKDOWN])
		bench_markdown(&j->report, out);
	else
		bench_text(&j->report, out);
	if (o->value[OPT_PLOT])
		status = plot(j, o->value[OPT_PLOT]);
	if (!status && o->value[OPT_COMPARE])
		status = compare(j, o->value[OPT_COMPARE], people);
	return status;
}

/* What is only read and written at the end is looked at before hours of measuring. */
static int check_files(struct bench_job *j)
{
	const struct options *o = &j->cli->options;
	struct err e;

	if (o->given[OPT_PLOT_OF] && !o->value[OPT_PLOT])
		return cli_usage(j->cli, "--plot-of says what --plot draws, which is missing");
	if (o->value[OPT_COMPARE] && bench_compare_check(o->value[OPT_COMPARE], &e))
		return cli_fail(j->cli, &e);
	return 0;
}

static int run(struct bench_job *j)
{
	const char *plot_path = j->cli->options.value[OPT_PLOT];
	int status = read_lists(j);

	if (!status)
		status = check_files(j);
	if (!status)
		status = bench_programs_compile(&j->what);
	/* When the circuits have been read: the plot replaces none of them. */
	if (!status && plot_path && strcmp(plot_path, "-"))
		status = cli_can_write(j->cli, plot_path);
	if (!status && j->cli->options.given[OPT_SHOW]) {
		for (unsigned k = 0; k < j->what.nprogram; k++)
			if (j->what.program[k].model.text)
				buf_add(&j->cli->out, j->what.program[k].model.text,
					j->what.program[k].model.len);
		return 0;
	}
	if (!status && bench_has_workers(j->cli))
		j->workers = bench_workers_new(j->cli);
	if (!status)
		status = cases(j);
	if (!status)
		status = limits(j);
	if (!status)
		status = measure(j);
	if (status && j->report.n) {
		cli_note(j->cli, "%u of %u cases were measured", j->report.n, j->ncase);
		report(j);
		return status;
	}
	return status ? status : report(j);
}

static void release(struct bench_job *j, int status)
{
	bench_workers_free(j->workers, status);
	bench_programs_release(&j->what);
	free(j->cases);
	for (unsigned k = 0; j->report.result && k < j->ncase; k++)
		free(j->report.result[k].pass);
	free(j->report.result);
	free(j);
}

static int bench(struct cli *c)
{
	const struct options *o = &c->options;
	struct bench_job *j;
	struct err e;
	int status;

	if (o->given[OPT_JSON] + o->given[OPT_CSV] + o->given[OPT_MARKDOWN] > 1)
		return cli_usage(c, "--json, --csv and --markdown exclude each other");
	if (o->given[OPT_AMPLITUDES] && o->given[OPT_BATCH])
		return cli_usage(c, "--amplitudes and --batch both say how many samples are in a call");
	if (!o->given[OPT_SHOW] && joined_work(c, NULL, "bench", &status))
		return status;
	j = mem_alloc(1, sizeof *j);
	j->cli = j->what.cli = c;
	j->what.d = diags_new(source_set_new());
	if (compile_words_init(&j->what.words, o, NULL, &e)) {
		status = cli_usage(c, "%s", e.text);
	} else {
		/* The light cone would drop what no output sees. */
		if (!o->given[OPT_OPTIMIZATIONS]) {
			j->what.words.without[j->what.words.compile.nwithout++] = "cone";
			j->what.words.compile.without = j->what.words.without;
		}
		status = run(j);
	}
	release(j, status);
	return status;
}

const struct command_about command_bench = {
	.summary = "measure circuits and gradients, and their share of the machine's limits",
	.operands = "",
	.text = "Measures the time of circuits, named ones or files, for outputs only or with the gradient, and compares it with "
		"the limits of the machine, which are measured in the same run. The default circuit is strongly entangling "
		"layers, with <Z> of every qubit as outputs. On a terminal it says which case is measured; with -v, log files of "
		"batch jobs have a line for each case as it begins.",
	.example = (const char *const[]){ "qcnn bench --qubits 12 --runs 3",
		"qcnn bench --circuit qcnn --qubits 4,6,8 --gradient --batch 16 --json",
		"qcnn bench --circuit qcnn --qubits 8 --gradient --batch 16 --runs 100 --parts",
		"qcnn bench --circuit qcnn --qubits 12 --gradient --batch 200 --optimizations=batch_rank --runs 1",
		"qcnn bench --circuit qcnn --qubits 12 --gradient --batch 64 --runs 3 --hosts local:2",
		"qcnn bench --circuit brickwork --qubits 4-12 --amplitudes 65536 --plot growth.svg --plot-of amplitude",
		"qcnn bench --circuit ghz --circuit qft --qubits 8-12+2 --threads 1 --plot times.svg",
		NULL },
	.exit_1 = "with --compare, a case is slower; or a value is not finite",
	.run = bench,
};
