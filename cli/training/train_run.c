/* SPDX-License-Identifier: Apache-2.0
 * Runs a training: its folder, what is written and reported while it runs, and its weights. */
#include "cli/training/train_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/memory_exit.h"
#include "cli/job/record.h"
#include "cli/job/train_callbacks.h"
#include "cli/profile/profile_files.h"
#include "cli/profile/profile_advice.h"
#include "cli/profile/profile_server.h"
#include "cli/profile/profiling.h"
#include "cli/report/report.h"
#include "cli/signals.h"
#include "cli/training/backup.h"
#include "cli/training/resume.h"
#include "cli/training/train_log.h"
#include "cli/training/train_summary.h"
#include "cli/training/train_test.h"
#include "cli/training/train_workers.h"
#include "runtime/base/profile/recorder.h"
#include "runtime/base/system/clock.h"
#include "runtime/log/history.h"
#include "runtime/log/metrics.h"
#include "runtime/log/progress.h"
#include "runtime/train/score.h"

struct training {
	struct cli *cli;
	struct job *job;
	struct run *run;
	struct progress *progress;
	struct train_log *log;
	struct train_report *report; /* NULL: none is requested */
	struct train_words words;
	struct train_callbacks callbacks;
	struct train_workers *workers;       /* NULL: there are none elsewhere */
	struct resume resume;
	struct backup backup;
	struct end_states *ends;
	bool stepped;                /* there is something in the folder */
	struct write_errors write_errors;
	double begin;
	struct profile_server *server; /* NULL: nobody can attach */
	struct captures *captures; /* profiles of this training that are asked for while it runs */
	struct profile_subject subject;
	uint64_t profile_first, profile_last; /* log.profile_steps; 0: none */
};

/* ---- what a training reports ---- */

static void on_step(void *ctx, uint32_t restart, uint32_t epoch, uint64_t step,
	uint32_t step_in_epoch, uint32_t steps_per_epoch, double batch_loss)
{
	struct training *t = ctx;

	(void)steps_per_epoch;
	progress_step(t->progress, restart, epoch, step_in_epoch, batch_loss);
	train_log_step(t->log, restart, step, batch_loss);
}

/* The profile of log.profile_steps: training goes on where its files cannot be written. */
static void keep_profile(void *ctx, struct profile *p)
{
	struct training *t = ctx;
	buf_auto name = BUF_INIT;
	struct err e;

	buf_printf(&name, "steps-%llu-%llu", (unsigned long long)t->profile_first,
		(unsigned long long)t->profile_last);
	profile_advise(p);
	write_errors_note(&t->write_errors, profile_write_run(p, t->run, name.data, &e), &e);
	profile_free(p);
}

static void ask_profile(struct training *t)
{
	struct capture_order o = { .level = PROFILE_LAYERS,
		.steps = t->profile_last - t->profile_first + 1,
		.bytes_max = PROFILE_BYTES_DEFAULT };

	captures_ask(t->captures, &o, keep_profile, t);
}

/* Of update number `step`, from 1 on: the last of a pass may have fewer. */
static uint64_t step_samples(const struct train_job *j, uint64_t step)
{
	uint32_t each = train_steps_per_epoch(j), k = (uint32_t)((step - 1) % each);
	uint32_t epoch = j->initial_epoch + 1 + (uint32_t)((step - 1) / each);

	return train_samples(j, epoch, k + 1) - train_samples(j, epoch, k);
}

static void between_steps(const struct training *t)
{
	memory_exit_during(t->backup.count ? MEMORY_EXIT_TRAINING : MEMORY_EXIT_STEPS);
}

static int on_between(void *ctx, const struct train_state *s, struct err *e)
{
	struct training *t = ctx;
	uint64_t samples = s->nrunning && s->running->step
		? step_samples(&t->job->train, s->running->step)
		: t->subject.batch_size;
	bool first; /* step of a new run: a checkpoint of split states is there from then on */

	if (s->failed)
		return backup_save(&t->backup, s, e);
	first = !t->stepped && !t->backup.count;
	t->stepped = true;
	between_steps(t);
	if (t->profile_first && s->nrunning && s->running->step + 1 == t->profile_first)
		ask_profile(t);
	captures_step(t->captures, samples);
	if (profiling_step(t->cli, samples))
		return err_set(e, -ERR_STOPPED, "the profile is complete");
	backup_save_cut(&t->backup, s);
	if (!backup_is_due(&t->backup) && !(t->job->train.exec.split > 1 && first))
		return 0;
	int code = backup_save(&t->backup, s, e);
	between_steps(t);
	recorder_mark(PHASE_CHECKPOINT);
	return code;
}

static void on_complete(void *ctx, const struct restart_state *at)
{
	struct training *t = ctx;

	end_states_add(t->ends, at);
}

static void on_epoch(void *ctx, const struct epoch_record *r)
{
	struct training *t = ctx;
	struct metrics_line m;
	buf_auto line = BUF_INIT;
	struct err e;

	epoch_record_line(&t->job->train, r, &m);
	m.worker = train_workers_now(t->workers, &m.nworker);
	progress_epoch(t->progress, r->restart, r->epoch, r->seconds, &m);
	metrics_format(&m, &line);
	write_errors_note(&t->write_errors, run_append(t->run, "metrics.jsonl", &line, &e), &e);
	train_log_epoch(t->log, r, &m);
	train_callbacks_epoch(&t->callbacks, r);
	train_workers_epoch(t->workers, t->cli);
}

static int on_event(void *ctx, const struct train_event *v)
{
	struct training *t = ctx;

	return train_callbacks_event(&t->callbacks, v);
}

static void on_state(void *ctx, const struct epoch_record *r, const struct epoch_state *s)
{
	struct training *t = ctx;

	train_log_state(t->log, r, s);
	if (t->report)
		train_report_state(t->report, r, s);
}

static void on_ended(void *ctx, uint32_t restart, double final_loss, const double *weight)
{
	struct training *t = ctx;

	(void)weight;
	progress_restart_done(t->progress, restart, final_loss);
}

static void on_work(void *ctx, const struct optimisation_use *u)
{
	struct training *t = ctx;

	optimisation_use_add(&t->job->optimisations, u);
}

static void clear_progress(void *ctx) { progress_clear(ctx); }

/* NULL: the losses. */
static const char *live_metric(const struct cli *c)
{
	const char *metric = c->options.value[OPT_LIVE];

	return metric && *metric && strcmp(metric, "loss") ? metric : NULL;
}

static int check_live(const struct training *t)
{
	const struct train_job *j = &t->job->train;
	const char *metric = live_metric(t->cli);
	buf_auto names = BUF_INIT;

	if (!metric)
		return 0;
	for (unsigned k = 0; k < j->measures.nmetric; k++) {
		const struct metric_row *row = j->measures.metric[k].row;

		if (metric_side(row, j->program->noutput))
			continue;
		if (!strcmp(metric, row->name))
			return 0;
		buf_printf(&names, ", %s", row->name);
	}
	return cli_usage(t->cli, "--live=%s: the training does not compute it; available: loss%s",
		metric, names.data ? names.data : "");
}

static struct progress *open_progress(struct training *t)
{
	const struct train_job *j = &t->job->train;
	const char *terminal = getenv("TERM");
	struct progress_options o = {
		.out = stderr,
		.lock = cli_terminal(),
		.quiet = !t->words.shows_progress,
		.terminal = isatty(STDERR_FILENO) && !(terminal && !strcmp(terminal, "dumb")),
		.colour = t->cli->colour,
		.live = t->cli->options.given[OPT_LIVE],
		.live_metric = live_metric(t->cli),
		.epochs = j->epochs,
		.steps_per_epoch = train_steps_per_epoch(j),
		.restarts = j->restarts,
		.loss = j->measures.loss.row->name,
		.energies = loss_digits(j->measures.loss.row) > 6,
		.lines = t->workers ? train_workers_lines : NULL,
		.lines_ctx = t->workers,
	};

	if (j->resume && j->resume->ndone) {
		o.restarts_done = j->resume->ndone;
		o.best = j->resume->best->winner;
		o.best_loss = j->resume->best->last.loss;
	}
	return progress_new(&o);
}

/* The curves begin with the first epoch: those before a resume are in metrics.jsonl. */
static void show_past(const struct training *t)
{
	const char *metric = live_metric(t->cli) ? live_metric(t->cli) : "loss";
	buf_auto lines = BUF_INIT, val = BUF_INIT;
	struct history h;

	if (!t->resume.note || !t->cli->options.given[OPT_LIVE])
		return;
	buf_printf(&val, "val_%s", metric);
	if (!run_read(t->run, "metrics.jsonl", HISTORY_BYTES_MAX, &lines, NULL)) {
		const double *restart, *epoch, *training, *validation;

		history_parse(lines.data, lines.len, &h);
		restart = history_column(&h, "start");
		epoch = history_column(&h, "epoch");
		training = history_column(&h, metric);
		validation = history_column(&h, val.data);
		for (size_t i = 0; restart && epoch && training && i < h.nrow; i++)
			progress_past(t->progress, (uint32_t)restart[i] - 1, (uint32_t)epoch[i],
				training[i], validation ? validation[i] : NAN);
		history_release(&h);
	}
}

/* ---- results ---- */

/* Into the run's folder and to --output: where one cannot be written, the other is. */
static int keep_weights(const struct training *t, const struct train_result *r, struct err *e)
{
	buf_auto b = BUF_INIT;
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
	return code ? code : code_path;
}

static int write_config(struct training *t, struct err *e)
{
	buf_auto b = BUF_INIT;

	config_print(t->job->config, &b);
	return run_write(t->run, "config.yaml", &b, 0, e);
}

/* The files that say what is going to be done. */
static int begin_folder(struct training *t, struct err *e)
{
	buf_auto b = BUF_INIT;
	int code = write_config(t, e);

	buf_add(&b, t->job->model.text ? t->job->model.text : "", t->job->model.len);
	if (!code && t->job->model.text)
		code = run_write(t->run, "model.qcnn", &b, 0, e);
	return code ? code : record_run(t->run, t->cli, t->job, "running", 0, NULL, e);
}

/* Of an extended run the record is first: with it, the run is found again by its new configuration. */
static int resume_folder(struct training *t, struct err *e)
{
	int code = record_run(t->run, t->cli, t->job, "running", resume_seconds(&t->resume), NULL, e);

	return code || !t->resume.extended ? code : write_config(t, e);
}

/* The weights are safe by now: what fails here is noted. */
static bool write_report(struct training *t, const struct train_result *r)
{
	struct err e;

	if (!t->report)
		return false;
	if (!train_report_write(t->report, t->run, r, clock_seconds() - t->begin, &e))
		return true;
	cli_note(t->cli, "there is no report.html: %s", e.text);
	return false;
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
		write_errors_note(&t->write_errors, resume_folder(t, e), e);
	else
		code = begin_folder(t, e);
	if (!code)
		code = backup_open(&t->backup, &t->write_errors, t->job, t->run, t->begin,
			resume_count(&t->resume), t->ends, e);
	if (code)
		return code;
	t->progress = open_progress(t);
	show_past(t);
	t->callbacks.progress = t->progress;
	cli_draws(t->cli, clear_progress, t->progress);
	t->log = train_log_new(&t->write_errors, t->job, t->run, resumed, t->resume.weights);
	if (config_bool(t->job->config, KEY_LOG_REPORT))
		t->report = train_report_new(t->cli, t->job, run_path(t->run));
	t->backup.log = t->log;
	t->backup.report = t->report;
	if (t->report && t->resume.weights)
		train_report_resume(t->report, weights_vector(t->resume.weights, REPORT_NORMS_NAME));
	return 0;
}

static void close_writers(struct training *t, bool well)
{
	struct err e;

	cli_draws(t->cli, NULL, NULL);
	progress_free(t->progress);
	t->callbacks.progress = NULL;
	train_log_close(t->log, well);
	t->backup.log = NULL;
	write_errors_lost(&t->write_errors, run_flush(t->run, &e), &e);
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
		t->words.reported = write_report(t, r);
		if (run_point_latest(t->run, e))
			cli_note(t->cli, "%s", e->text);
		code = record_run(t->run, t->cli, t->job, "finished", clock_seconds() - t->begin, r, e);
	} else {
		record_run(t->run, t->cli, t->job, ending_of(code), clock_seconds() - t->begin, NULL, &ignored);
	}
	if (!code) {
		backup_save_end(&t->backup);
		run_finish(t->run);
		t->words.folder = run_path(t->run);
		train_summary(t->cli, t->job, &t->words, r);
	}
	train_callbacks_end(&t->callbacks, ending_of(code), code ? NULL : r);
	if (!code)
		run_point_latest(t->run, &ignored);    /* once more: the command callback may have added files */
	return code;
}

static void open_captures(struct training *t)
{
	const struct train_job *j = &t->job->train;
	struct err e;

	t->subject = (struct profile_subject){ .command = "train",
		.model = config_text(t->job->config, KEY_MODEL_FILE),
		.program = j->program,
		.options = &j->exec,
		.batch_size = train_batch_size(j),
		.gradient = optimizer_needs_gradient(j->optimizer),
		.streaming = part_input(&j->train, 1) > 0,
		.histograms = config_int(t->job->config, KEY_LOG_HISTOGRAMS) > 0 };
	t->captures = captures_new(profile_describe_subject, &t->subject, j->pool, j->exec.rank);
	t->server = t->cli->profiling ? NULL : profile_server_open(t->captures, &e);
	if (t->server)
		t->job->profile_socket = profile_server_path(t->server);
	else if (!t->cli->profiling)
		cli_detail(t->cli, "qcnn profile --attach cannot be used: %s", e.text);
	if (t->server && t->job->workers)
		coordinator_on_profiler(t->job->workers, profile_server_hand, t->server);
	profiling_begin(t->cli, &t->subject, j->pool);
	config_range(t->job->config, KEY_LOG_PROFILE_STEPS, &t->profile_first, &t->profile_last);
}

static void close_captures(struct training *t)
{
	captures_end(t->captures);
	if (t->job->workers)
		coordinator_on_profiler(t->job->workers, NULL, NULL);
	profile_server_close(t->server);
	t->server = NULL;
	t->job->profile_socket = NULL;
	captures_free(t->captures);
	profiling_end(t->cli);
}

static int train_and_keep(struct training *t)
{
	const struct train_observer o = { .ctx = t,
		.step = on_step,
		.between = on_between,
		.epoch = on_epoch,
		.state = on_state,
		.event = on_event,
		.complete = on_complete,
		.ended = on_ended,
		.work = on_work };
	struct train_result r = { .weight = NULL };
	struct err e;

	t->callbacks = (struct train_callbacks){ .cli = t->cli, .job = t->job, .run = t->run, .write_errors = &t->write_errors };
	t->job->train.run = t->run;
	t->workers = train_workers_new(t->job->workers);
	open_captures(t);
	int code = open_writers(t, &e);
	if (!code && t->profile_first == 1) {
		ask_profile(t);
		captures_step(t->captures, 0);
	}
	if (!code) {
		memory_exit_during(t->resume.note ? MEMORY_EXIT_TRAINING : MEMORY_EXIT_COMPUTING);
		code = train_run(&t->job->train, &o, &r, &e);
		memory_exit_during(MEMORY_EXIT_NONE);
	}
	close_captures(t);
	close_writers(t, !code);
	train_workers_free(t->workers);
	if (!code)
		code = keep_weights(t, &r, &e);
	if (!code)
		train_test(t->cli, t->job, r.weight);
	code = end_folder(t, code, &r, &e);
	backup_close(&t->backup);
	train_report_free(t->report);
	train_result_release(&r);
	return code && !(t->cli->profiling && code == -ERR_STOPPED) ? cli_fail(t->cli, &e) : 0;
}

/* The folder's name: log.name, else the model's file without folder and ending. */
static void run_name(const struct config *c, struct buf *name)
{
	const char *given = config_text(c, KEY_LOG_NAME), *file = config_text(c, KEY_MODEL_FILE), *base, *dot;

	if (given) {
		buf_str(name, given);
		return;
	}
	base = path_base(file);
	dot = strrchr(base, '.');
	buf_add(name, base, dot ? (size_t)(dot - base) : strlen(base));
}

int train_run_job(struct cli *c, struct job *j)
{
	struct training t = { .cli = c, .job = j, .begin = clock_seconds(), .write_errors = { .cli = c } };
	buf_auto name = BUF_INIT;
	struct err e;

	t.words.shows_progress =
		!c->quiet && !c->options.given[OPT_NO_PROGRESS] && c->error_format != DIAG_JSON;
	if (check_live(&t))
		return err_exit_status(-ERR_USAGE);
	stop_catch();                /* from here on there are files to leave whole */
	int status = resume_find(c, j, &t.resume);
	if (status)
		return status;
	t.run = t.resume.run;
	t.begin -= resume_seconds(&t.resume);
	t.ends = t.resume.checkpoint.ends ? t.resume.checkpoint.ends : end_states_new(&j->train);
	t.resume.checkpoint.ends = NULL;
	run_name(j->config, &name);
	if (!t.run && run_open(config_text(j->config, KEY_LOG_DIR), name.data, &t.run, &e))
		status = cli_fail(c, &e);
	if (!status) {
		cli_detail(c, "this run's folder is %s", run_path(t.run));
		status = train_and_keep(&t);
	}
	run_close(t.run);
	end_states_free(t.ends);
	resume_release(&t.resume);
	return status;
}
