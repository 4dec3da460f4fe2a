/* SPDX-License-Identifier: Apache-2.0
 * qcnn train: trains the model of a configuration and writes weights.bin into a run's folder. */
#include "config.h"
#include "cli/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/backup.h"
#include "cli/cluster.h"
#include "cli/job.h"
#include "cli/record.h"
#include "cli/resume.h"
#include "cli/resume_isa.h"
#include "cli/stop.h"
#include "cli/train_callbacks.h"
#include "cli/train_log.h"
#include "cli/train_preview.h"
#include "cli/train_report.h"
#include "cli/train_workers.h"
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
	struct train_callbacks callbacks;
	struct train_workers *workers;       /* NULL: there are none elsewhere */
	struct resume resume;
	struct backup backup;
	bool stepped;                /* there is something in the folder */
	struct trouble trouble;
	double begin;
};

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
	struct weights_vector norms = { REPORT_NORMS_NAME, NULL, 0 };

	t->stepped = true;
	if (!backup_is_due(&t->backup))
		return 0;
	if (t->report)
		norms.value = train_report_norms(t->report, &norms.n);
	return backup_save(&t->backup, s, t->log, &norms, norms.value != NULL, e);
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
		.may_validate = t->job->train.validation.nrow > 0,
		.learning_rate = r->learning_rate, .seconds = r->seconds, .samples_per_second = r->samples_per_second };
	struct buf line = BUF_INIT;
	struct err e;

	m.worker = train_workers_now(t->workers, &m.nworker);
	for (unsigned k = 0; k < t->nnumber; k++) {
		number[k] = r->metric[t->at[k]];
		val_number[k] = r->val_metric[t->at[k]];
	}
	progress_epoch(t->progress, &p);
	metrics_format(&m, &line);
	trouble_note(&t->trouble, run_append(t->run, "metrics.jsonl", &line, &e), &e);
	train_log_epoch(t->log, r, &m);
	buf_release(&line);
	train_callbacks_epoch(&t->callbacks, r);
	train_workers_epoch(t->workers, t->cli);
}

static int on_event(void *ctx, const struct train_event *v)
{
	struct training *t = ctx;

	return train_callbacks_event(&t->callbacks, v);
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

static void on_work(void *ctx, const struct shortcut_use *u)
{
	struct training *t = ctx;

	shortcut_use_add(&t->job->shortcuts, u);
}

static void clear_progress(void *ctx)
{
	progress_clear(ctx);
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
		.live = t->cli->options.given[OPT_LIVE],
		.epochs = j->epochs,
		.steps_per_epoch = train_steps_per_epoch(j),
		.starts = j->restarts,
		.metric = t->number,
		.nmetric = t->nnumber,
		.loss = j->measures.loss.row->name,
		.lines = t->workers ? train_workers_lines : NULL, .lines_ctx = t->workers,
	};

	if (j->resume && j->resume->ndone) {
		o.starts_done = j->resume->ndone;
		o.best = j->resume->best->winner;
		o.best_loss = j->resume->best->last.loss;
	}
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

/* Before anything else told it to. */
static bool search_ended(const struct train_job *j, const struct train_result *r)
{
	return optimizer_takes_all(j->optimizer) && r->last.epoch < j->epochs && !(r->end[r->winner].stopped > 0)
		&& !(j->max_steps && r->step >= j->max_steps);
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
	buf_clear(&b);
	train_callbacks_ending(&t->job->train, r, &b);
	if (b.len)
		cli_note(t->cli, "%s", b.data);
	buf_clear(&b);
	shortcut_use_text(&t->job->shortcuts, &b);
	if (b.len)
		cli_note(t->cli, "exact shortcuts: %s", b.data);
	if (t->job->train.restarts > 1 && !t->shows_progress)
		cli_note(t->cli, "start %u of %u was the best", r->winner + 1, t->job->train.restarts);
	buf_clear(&b);
	if (!weights)
		buf_printf(&b, "%s/weights.bin", run_path(t->run));
	if (!weights)
		weights = b.data;
	if (search_ended(&t->job->train, r))
		cli_note(t->cli, "%s ended the search after %llu evaluations, by its tolerances", t->job->train.optimizer->name,
			(unsigned long long)r->step);
	cli_note(t->cli, "the weights are in %s; to evaluate them: qcnn infer %s%s", weights,
		t->job->samples.part[PART_TEST].nrow || t->job->samples.part[PART_VALIDATION].nrow ? "" : "--split=train ",
		weights);
	buf_release(&b);
}

/* Into the run's folder and to --output: where one cannot be written, the other is. */
static int keep_weights(const struct training *t, const struct train_result *r, struct err *e)
{
	struct buf b = BUF_INIT;
	const char *path = t->cli->options.value[OPT_WEIGHTS_OUT];
	struct err other;
	int code = record_weights(t->job, r, &b, e), code_path = 0;

	if (!code) {
		code = run_write(t->run, "weights.bin", &b, 1, e);
		if (path)
			code_path = buf_write_file(&b, path, 1, &other);
	}
	if (code && path && !code_path)
		cli_note(t->cli, "the weights are in %s", path);
	if (!code && code_path)
		*e = other;
	buf_release(&b);
	return code ? code : code_path;
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
	return !code ? "finished" : code == -ERR_STOPPED ? "interrupted" : "failed";
}

/* All that writes while training goes. */
static int open_writers(struct training *t, struct err *e)
{
	const json_t *resumed = t->resume.note;
	int code = 0;

	if (resumed)
		trouble_note(&t->trouble, record_run(t->run, t->cli, t->job, "running", resume_seconds(&t->resume), NULL, e), e);
	else
		code = begin_folder(t, e);
	if (!code)
		code = backup_open(&t->backup, &t->trouble, t->job, t->run, t->begin, resume_count(&t->resume), e);
	if (code)
		return code;
	t->progress = open_progress(t);
	t->callbacks.progress = t->progress;
	t->cli->before_talk = clear_progress;
	t->cli->talk_ctx = t->progress;
	t->log = train_log_new(&t->trouble, t->job, t->run, resumed);
	if (config_bool(t->job->config, KEY_LOG_REPORT))
		t->report = train_report_new(t->cli, t->job, run_path(t->run));
	if (t->report && t->resume.weights)
		train_report_resume(t->report, weights_vector(t->resume.weights, REPORT_NORMS_NAME));
	return 0;
}

static void close_writers(struct training *t, bool well)
{
	struct err e;

	progress_free(t->progress);
	t->callbacks.progress = NULL;
	t->cli->before_talk = NULL;
	train_log_close(t->log, well);
	trouble_lost(&t->trouble, run_flush(t->run, &e), &e);
	backup_close(&t->backup);
}

/* The end of the folder: with a result, to be gone on with, or gone. Without its last record the run has not finished:
 * its checkpoint stays, and the same command comes to here once more. */
static int end_folder(struct training *t, int code, const struct train_result *r, struct err *e)
{
	struct err ignored;

	if (code && !t->stepped && !t->resume.note) {
		run_discard(t->run, &ignored);
		return code;
	}
	if (!code) {
		write_report(t, r);
		run_point_latest(t->run);
		code = record_run(t->run, t->cli, t->job, "finished", clock_seconds() - t->begin, r, e);
	} else {
		record_run(t->run, t->cli, t->job, ending_of(code), clock_seconds() - t->begin, NULL, &ignored);
	}
	if (!code) {
		run_finish(t->run);
		summary(t, r);
	}
	train_callbacks_end(&t->callbacks, ending_of(code), code ? NULL : r);
	return code;
}

static int train_and_keep(struct training *t)
{
	const struct train_observer o = { .ctx = t, .step = on_step, .between = on_between, .epoch = on_epoch,
		.state = on_state, .event = on_event, .start = on_start, .work = on_work };
	struct train_result r = { .weight = NULL };
	struct err e;
	int code;

	t->callbacks = (struct train_callbacks){ .cli = t->cli, .job = t->job, .run = t->run, .trouble = &t->trouble,
		.metric = t->number, .at = t->at, .nmetric = t->nnumber };
	t->job->train.folder = run_path(t->run);
	t->workers = train_workers_new(t->job->workers);
	code = open_writers(t, &e);
	if (!code)
		code = train_run(&t->job->train, &o, &r, &e);
	close_writers(t, !code);
	train_workers_free(t->workers);
	if (!code)
		code = keep_weights(t, &r, &e);
	code = end_folder(t, code, &r, &e);
	train_report_free(t->report);
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
	struct training t = { .cli = c, .job = j, .begin = clock_seconds(), .trouble = { .cli = c } };
	struct buf name = BUF_INIT;
	struct err e;
	int status;

	t.shows_progress = !c->quiet && !c->options.given[OPT_NO_PROGRESS] && c->error_format != DIAG_JSON;
	list_metrics(&t);
	stop_catch();                /* from here on there are files to leave whole */
	status = resume_find(c, j, &t.resume);
	if (status)
		return status;
	t.run = t.resume.run;
	t.begin -= resume_seconds(&t.resume);
	run_name(j->config, &name);
	if (!t.run && run_open(config_text(j->config, KEY_LOG_DIR), name.data, &t.run, &e))
		status = cli_fail(c, &e);
	buf_release(&name);
	if (!status) {
		cli_detail(c, "this run's folder is %s", run_path(t.run));
		status = train_and_keep(&t);
	}
	run_close(t.run);
	resume_release(&t.resume);
	return status;
}

/* With the workers of other hosts, where some are named. */
static int start_workers(struct cluster *k, struct job *j, bool isa_taken)
{
	struct train_job *t = &j->train;
	bool gradient = optimizer_needs_gradient(t->optimizer);
	struct evaluator_options exec = t->exec;
	struct cluster_work w = { .program = t->program, .exec = &exec, .any_isa = !isa_taken && !strcmp(config_text(j->config, KEY_RUN_ISA), "auto"),
		.threads = (uint32_t)config_int(j->config, KEY_RUN_THREADS), .loss = gradient ? &t->measures.loss : NULL,
		.nlabel = t->train.data->ny };
	int status;

	if (!gradient)
		exec.gradient = GRADIENT_NONE;
	status = cluster_start(k, &w, &t->pool);
	t->exec.isa = exec.isa;
	j->workers = k->coordinator;
	return status;
}

/* Data may take minutes to read: a signal need not wait for that. */
static void stop_before_training(const struct cli *c)
{
	struct buf line = BUF_INIT;
	struct err e;

	err_set(&e, -ERR_STOPPED, "stopped before training began; the same command starts again");
	cli_fail_text(c, &e, &line);
	stop_at_once(line.data);
	buf_release(&line);
}

static int train(struct cli *c)
{
	struct cluster k = { 0 };
	struct job j;
	bool isa_taken = false;
	int status;

	if (c->options.given[OPT_DRY_JSON] && !c->options.given[OPT_DRY_RUN])
		return cli_usage(c, "--json is for --dry-run; the folder of a run has metrics.jsonl and run.json");
	if (attached_work(c, c->options.operand[0], NULL, &status))
		return status;
	if (!c->options.given[OPT_DRY_RUN])
		stop_before_training(c);
	status = job_open(c, c->options.operand[0], &j);
	if (!status)
		status = output_is_possible(c);
	if (!status)
		status = cluster_wish(c, j.config, config_text(j.config, KEY_LOG_DIR), &k);
	if (!status && !c->options.given[OPT_DRY_RUN])
		status = resume_isa(c, &j, &isa_taken);
	if (!status)
		status = start_workers(&k, &j, isa_taken);
	if (!status)
		status = c->options.given[OPT_DRY_RUN] ? train_preview(c, &j, &k) : run_job(c, &j);
	j.workers = NULL;
	cluster_end(&k, status);
	job_release(&j);
	return status;
}

static const char *const examples[] = {
	"qcnn train config.yaml",
	"qcnn train --set train.epochs=5 --set run.seed=2 config.yaml",
	"qcnn train -o weights.bin config.yaml",
	"qcnn train --fresh config.yaml",
	"qcnn train --live config.yaml",
	"qcnn train --dry-run config.yaml",
	"qcnn train --hosts local:2 config.yaml",
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
		"new folder, runs/NAME-TIME: the resolved configuration, the model, the weights, one line of metrics per epoch, "
		"and a record of the run; runs/latest points to the newest that has finished. A run that was stopped or cut off goes "
		"on from its last checkpoint when the command is given again, to the same bits.",
	.example = examples,
	.run = train,
};
