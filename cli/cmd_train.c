/* SPDX-License-Identifier: Apache-2.0
 * qcnn train: trains the model of a configuration and writes weights.bin into a run's folder. */
#include "config.h"
#include "cli/commands.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/job.h"
#include "cli/record.h"
#include "cli/train_log.h"
#include "cli/train_report.h"
#include "runtime/base/clock.h"
#include "runtime/log/metrics.h"
#include "runtime/log/progress.h"

struct training {
	struct cli *cli;
	struct job *job;
	struct run *run;
	struct progress *progress;
	struct train_log *log;
	struct train_report *report;         /* NULL: none is wanted */
	bool shows_progress;         /* which names the best start itself */
	const char *metric[TRAIN_METRICS_MAX], *number[TRAIN_METRICS_MAX];     /* all; those that are numbers */
	unsigned side[TRAIN_METRICS_MAX], at[TRAIN_METRICS_MAX], nnumber;     /* at: where each number is */
	struct err log_error;        /* the first failure to write metrics.jsonl */
	double begin;
};

/* ---- signals ---- */

static volatile sig_atomic_t stopped_by;

static void note_signal(int signal_number)
{
	stopped_by = signal_number;
}

/* A second signal of the same kind ends the process at once. */
static void catch_signals(void)
{
	static const int number[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU };
	struct sigaction a = { .sa_handler = note_signal, .sa_flags = SA_RESTART | SA_RESETHAND }, old;

	sigemptyset(&a.sa_mask);
	for (size_t i = 0; i < sizeof number / sizeof *number; i++)
		/* nohup means it; shells that start background jobs with INT ignored do not. */
		if (number[i] == SIGINT || sigaction(number[i], NULL, &old) || old.sa_handler != SIG_IGN)
			sigaction(number[i], &a, NULL);
}

/* ---- what training tells ---- */

static void on_step(void *ctx, uint32_t start, uint32_t epoch, uint64_t step, uint32_t step_in_epoch,
	uint32_t steps_per_epoch, double batch_loss)
{
	struct training *t = ctx;

	(void)steps_per_epoch;
	progress_step(t->progress, start, epoch, step_in_epoch, batch_loss);
	train_log_step(t->log, start, step, batch_loss);
}

static int on_between(void *ctx, const struct train_state *s, struct err *e)
{
	struct training *t = ctx;

	(void)s;
	if (t->log_error.code)
		*e = t->log_error;
	if (t->log_error.code)
		return t->log_error.code;
	return !stopped_by ? 0 : err_set(e, stopped_by == SIGINT ? -ERR_INTERRUPTED : -ERR_TERMINATED, "stopped by a signal; no weights were written");
}

static void on_epoch(void *ctx, const struct epoch_result *r)
{
	struct training *t = ctx;
	double number[TRAIN_METRICS_MAX], val_number[TRAIN_METRICS_MAX];
	struct progress_epoch p = { r->start, r->epoch, r->loss, r->val_loss, number, val_number,
		r->has_validation, r->seconds, r->samples_per_second };
	struct metrics_line m = { .start = r->start, .epoch = r->epoch, .step = r->step, .loss = r->loss,
		.val_loss = r->val_loss, .metric = t->metric, .side = t->side, .value = r->metric, .val_value = r->val_metric,
		.nmetric = t->job->train.measures.nmetric, .has_validation = r->has_validation,
		.learning_rate = r->learning_rate, .seconds = r->seconds, .samples_per_second = r->samples_per_second };
	struct buf line = BUF_INIT;

	for (unsigned k = 0; k < t->nnumber; k++) {
		number[k] = r->metric[t->at[k]];
		val_number[k] = r->val_metric[t->at[k]];
	}
	progress_epoch(t->progress, &p);
	metrics_format(&m, &line);
	if (!t->log_error.code)
		run_append(t->run, "metrics.jsonl", &line, &t->log_error);
	train_log_epoch(t->log, r, &m);
	buf_release(&line);
}

static void on_state(void *ctx, const struct epoch_result *r, const struct epoch_state *s)
{
	struct training *t = ctx;

	train_log_state(t->log, r, s);
	if (t->report)
		train_report_state(t->report, r, s);
}

static void on_start(void *ctx, uint32_t start, double final_loss, const double *weight)
{
	struct training *t = ctx;

	(void)weight;
	progress_start_done(t->progress, start, final_loss);
}

static struct progress *open_progress(struct training *t)
{
	const struct train_job *j = &t->job->train;
	const char *terminal = getenv("TERM");
	struct progress_options o = {
		.out = stderr,
		.quiet = !t->shows_progress,
		.terminal = isatty(STDERR_FILENO) && !(terminal && !strcmp(terminal, "dumb")),
		.colour = t->cli->colour,
		.epochs = j->epochs,
		.steps_per_epoch = train_steps_per_epoch(j),
		.starts = j->restarts,
		.metric = t->number,
		.nmetric = t->nnumber,
		.loss = j->measures.loss.row->name,
	};

	return progress_new(&o);
}

/* ---- results ---- */

/* Where --output goes, looked at before hours are spent. */
static int output_is_possible(const struct cli *c)
{
	const char *path = c->options.value[OPT_WEIGHTS_OUT], *slash;
	struct buf folder = BUF_INIT;
	struct stat st;
	struct err e;
	int status = 0;

	if (!path)
		return 0;
	slash = strrchr(path, '/');
	if (!slash)
		buf_str(&folder, ".");
	else
		buf_add(&folder, path, slash == path ? 1 : (size_t)(slash - path));
	buf_str(&folder, "/.");
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		err_set(&e, -ERR_CANT_CREATE, "cannot write %s: it is a folder", path);
		status = cli_fail(c, &e);
	} else if (access(folder.data, W_OK | X_OK)) {
		err_set(&e, -ERR_CANT_CREATE, "cannot create %s: %s", path, strerror(errno));
		status = cli_fail(c, &e);
	}
	buf_release(&folder);
	return status;
}

static void say_numbers(struct buf *b, const struct training *t, const char *what, double loss, const double *metric)
{
	buf_printf(b, "%s: loss %.6g", what, loss);
	for (unsigned k = 0; k < t->nnumber; k++)
		buf_printf(b, ", %s %.6g", t->number[k], metric[t->at[k]]);
}

static void summary(const struct training *t, const struct train_result *r)
{
	struct buf b = BUF_INIT;
	const char *weights = t->cli->options.value[OPT_WEIGHTS_OUT];

	say_numbers(&b, t, "training", r->last.loss, r->last.metric);
	if (r->last.has_validation) {
		buf_str(&b, "; ");
		say_numbers(&b, t, "validation", r->last.val_loss, r->last.val_metric);
	}
	cli_note(t->cli, "%s", b.data);
	if (t->job->train.restarts > 1 && !t->shows_progress)
		cli_note(t->cli, "start %u of %u was the best", r->winner + 1, t->job->train.restarts);
	buf_clear(&b);
	if (!weights)
		buf_printf(&b, "%s/weights.bin", run_path(t->run));
	if (!weights)
		weights = b.data;
	cli_note(t->cli, "the weights are in %s; to evaluate them: qcnn infer %s%s", weights,
		t->job->samples.part[PART_TEST].nrow || t->job->samples.part[PART_VALIDATION].nrow ? "" : "--split=train ",
		weights);
	buf_release(&b);
}

static int keep_weights(const struct training *t, const struct train_result *r, struct err *e)
{
	struct buf b = BUF_INIT;
	const char *path = t->cli->options.value[OPT_WEIGHTS_OUT];
	int code = record_weights(t->job, r, &b, e);

	if (!code)
		code = run_write(t->run, "weights.bin", &b, 1, e);
	if (!code && path)
		code = buf_write_file(&b, path, 1, e);
	buf_release(&b);
	return code;
}

/* The files that say what is going to be done. */
static int begin_folder(struct training *t, struct err *e)
{
	struct buf b = BUF_INIT;
	int code;

	config_print(t->job->config, &b);
	code = run_write(t->run, "config.yaml", &b, 0, e);
	buf_clear(&b);
	buf_add(&b, t->job->model.text ? t->job->model.text : "", t->job->model.len);
	if (!code && t->job->model.text)
		code = run_write(t->run, "model.qcnn", &b, 0, e);
	buf_release(&b);
	return code ? code : record_run(t->run, t->cli, t->job, "running", 0, NULL, e);
}

/* The weights are safe by now: what fails here is noted. */
static void write_report(struct training *t, const struct train_result *r)
{
	struct err e;

	if (t->report && train_report_write(t->report, t->run, r, clock_seconds() - t->begin, &e))
		cli_note(t->cli, "there is no report.html: %s", e.text);
}

static const char *ending_of(int code)
{
	return !code ? "finished" : code == -ERR_INTERRUPTED || code == -ERR_TERMINATED ? "interrupted" : "failed";
}

static int train_and_keep(struct training *t)
{
	const struct train_observer o = { .ctx = t, .step = on_step, .between = on_between, .epoch = on_epoch, .state = on_state, .start = on_start };
	struct train_result r = { .weight = NULL };
	struct err e, ignored;
	int code = begin_folder(t, &e);

	if (code)
		return cli_fail(t->cli, &e);
	t->progress = open_progress(t);
	t->log = train_log_new(t->cli, t->job, t->run);
	if (config_bool(t->job->config, KEY_LOG_REPORT))
		t->report = train_report_new(t->cli, t->job, run_path(t->run));
	code = train_run(&t->job->train, &o, &r, &e);
	progress_free(t->progress);
	train_log_close(t->log, !code);
	if (code && code == t->log_error.code)
		e = t->log_error;
	if (!code)
		code = keep_weights(t, &r, &e);
	if (code == -ERR_INTERRUPTED || code == -ERR_TERMINATED)
		err_set(&e, code, "stopped by a signal; no weights were written");
	record_run(t->run, t->cli, t->job, ending_of(code), clock_seconds() - t->begin, code ? NULL : &r, &ignored);
	if (!code)
		write_report(t, &r);
	train_report_free(t->report);
	if (!code)
		summary(t, &r);
	train_result_release(&r);
	return code ? cli_fail(t->cli, &e) : 0;
}

/* The folder's name: log.name, else the model's file without folder and ending. */
static void run_name(const struct config *c, struct buf *name)
{
	const char *given = config_text(c, KEY_LOG_NAME), *file = config_text(c, KEY_MODEL_FILE), *base, *dot;

	if (given) {
		buf_str(name, given);
		return;
	}
	base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
	dot = strrchr(base, '.');
	buf_add(name, base, dot ? (size_t)(dot - base) : strlen(base));
}

static void list_metrics(struct training *t)
{
	const struct train_job *j = &t->job->train;

	for (unsigned k = 0; k < j->measures.nmetric; k++) {
		const struct metric_row *row = j->measures.metric[k].row;

		t->metric[k] = row->name;
		t->side[k] = metric_side(row, j->program->noutput);
		if (t->side[k])
			continue;
		t->at[t->nnumber] = measures_at(&j->measures, k, j->program->noutput);
		t->number[t->nnumber++] = row->name;
	}
}

static int run_job(struct cli *c, struct job *j)
{
	struct training t = { .cli = c, .job = j, .begin = clock_seconds() };
	struct buf name = BUF_INIT;
	struct err e;
	int status;

	t.shows_progress = !c->quiet && !c->options.given[OPT_NO_PROGRESS] && c->error_format != DIAG_JSON;
	list_metrics(&t);
	run_name(j->config, &name);
	catch_signals();             /* from here on there are files to leave whole */
	if (run_open(config_text(j->config, KEY_LOG_DIR), name.data, &t.run, &e)) {
		buf_release(&name);
		return cli_fail(c, &e);
	}
	buf_release(&name);
	cli_detail(c, "this run's folder is %s", run_path(t.run));
	status = train_and_keep(&t);
	run_close(t.run);
	return status;
}

static int train(struct cli *c)
{
	struct job j;
	int status = job_open(c, c->options.operand[0], &j);

	if (!status)
		status = output_is_possible(c);
	if (!status)
		status = run_job(c, &j);
	job_release(&j);
	return status;
}

static const char *const examples[] = {
	"qcnn train config.yaml",
	"qcnn train --set train.epochs=5 --set run.seed=2 config.yaml",
	"qcnn train -o weights.bin config.yaml",
	NULL
};

const struct command command_train = {
	.bit = COMMAND_TRAIN,
	.name = "train",
	.summary = "train the model of a configuration",
	.operands = "CONFIG",
	.min_operands = 1,
	.max_operands = 1,
	.text = "Trains the model that the configuration names with the data that it describes. Everything goes into a "
		"new folder, runs/NAME-TIME, and runs/latest points to it: the resolved configuration, the model, the "
		"weights, one line of metrics per epoch, and a record of the run.",
	.example = examples,
	.run = train,
};
