/* SPDX-License-Identifier: Apache-2.0
 * Files, programs and words of callbacks. */
#include "cli/job/train_callbacks.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/child.h"
#include "cli/job/record.h"
#include "cli/signals.h"
#include "runtime/base/input_files.h"

extern char **environ;

/* ---- the user's program ---- */

struct environment {
	struct arena arena;
	char **value;
	size_t n;
};

static void set_text(struct environment *v, const char *name, const char *text)
{
	*arena_push(&v->arena, v->value, v->n) = arena_printf(&v->arena, "%s=%s", name, text);
}

/* QCNN_METRIC_VAL_LOSS of val_loss. */
static void set_number(struct environment *v, const char *prefix, const char *name, double number)
{
	buf_auto key = BUF_INIT, text = BUF_INIT;

	buf_printf(&key, "%s%s", prefix, name);
	for (char *c = key.data; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	buf_real(&text, number);
	set_text(v, key.data, text.data);
}

/* Absolute, so that a program may look from elsewhere. */
static void set_path(struct environment *v, const char *name, const char *path)
{
	mem_auto char *absolute = realpath(path, NULL);

	set_text(v, name, absolute ? absolute : path);
}

static void set_record(struct environment *env, const struct train_callbacks *t, const struct epoch_record *r)
{
	struct metrics_line line;

	epoch_record_line(&t->job->train, r, &line);
	for (unsigned k = 0; k < line.n; k++) {
		const struct metrics_value *v = &line.value[k];

		if (!v->side && v->given && v->part != METRICS_TIME)
			set_number(env, v->part == METRICS_PLACE ? "QCNN_" : "QCNN_METRIC_", v->name, v->number);
	}
}

/* Ours before the others, which may not stand for them. */
static void set_others(struct environment *v)
{
	for (char **e = environ; e && *e; e++) {
		size_t len = strcspn(*e, "="), i = 0;

		while (i < v->n && (strncmp(v->value[i], *e, len) || v->value[i][len] != '='))
			i++;
		if (i == v->n)
			*arena_push(&v->arena, v->value, v->n) = *e;
	}
}

/* One program, with the environment v. */
static void run_one(struct train_callbacks *t, const struct callback_choice *o, unsigned event, const char *name, const struct environment *v)
{
	bool *failed = &t->command_failed[o - t->job->callbacks.of];
	struct err e;
	int output = run_open_file(t->run, "command.log", O_WRONLY | O_APPEND | O_CREAT, &e), code = output < 0 ? output : 0;

	/* At the end of a run that was stopped the signal is old. */
	if (!code)
		code = child_run(&(struct child){ o->command, v->value, output, o->option[HOOK_TIMEOUT],
			event == ON_END ? NULL : stop_asked }, &e);
	if (code && !*failed) {
		cli_note(t->cli, "train.callbacks.command, event %s: %s; what it printed is in %s/command.log; later failures are not reported",
			name, e.text, run_path(t->run));
		*failed = true;
	}
	if (output >= 0)
		close(output);
}

/* file, state, r: may be NULL. */
static void run_commands(struct train_callbacks *t, unsigned event, const char *name, const char *file, const char *state,
	const struct epoch_record *r)
{
	const struct train_job *j = &t->job->train;
	const struct callback_choice *o = NULL;
	struct environment v = { .n = 0 };

	set_text(&v, "QCNN_EVENT", name);
	set_path(&v, "QCNN_RUN", run_path(t->run));
	if (file)
		set_path(&v, "QCNN_FILE", file);
	if (state)
		set_text(&v, "QCNN_STATE", state);
	if (r)
		set_record(&v, t, r);
	set_others(&v);
	*arena_push(&v.arena, v.value, v.n) = NULL;
	while ((o = callback_next(j, CALLBACK_command, o)))
		if ((unsigned)o->option[HOOK_ON] & event)
			run_one(t, o, event, name, &v);
	arena_release(&v.arena);
}

void train_callbacks_epoch(struct train_callbacks *t, const struct epoch_record *r)
{
	run_commands(t, ON_EPOCH, "epoch", NULL, NULL, r);
}

void train_callbacks_end(struct train_callbacks *t, const char *state, const struct train_result *r)
{
	buf_auto file = BUF_INIT;

	buf_printf(&file, "%s/weights.bin", run_path(t->run));
	run_commands(t, ON_END, "end", r ? file.data : NULL, state, r ? &r->last : NULL);
}

/* ---- files ---- */

static int save(struct train_callbacks *t, const struct train_event *v)
{
	const struct train_result r = { .weight = (double *)v->weight, .winner = v->restart, .last = *v->record, .step = v->record->step };
	buf_auto b = BUF_INIT, path = BUF_INIT;
	struct err e;

	run_full_path(t->run, v->path, &path);
	int code = inputs_check(path.data, &e);
	if (!code)
		code = record_weights(t->job, &r, &b, &e);
	if (!code)
		code = run_write(t->run, v->path, &b, 0, &e);
	if (code)
		err_prefix(&e, "train.callbacks.checkpoint");
	write_errors_note(t->write_errors, code, &e);
	if (!code)
		run_commands(t, ON_CHECKPOINT, "checkpoint", path.data, NULL, v->record);
	return code;
}

static void drop(struct train_callbacks *t, const struct train_event *v)
{
	struct err e;

	if (run_unlink(t->run, v->path) && errno != ENOENT)
		write_errors_note(t->write_errors, err_set(&e, -ERR_IO, "train.callbacks.checkpoint: cannot remove %s: %s", v->path,
			strerror(errno)), &e);
}

static void say_csv(struct train_callbacks *t, const struct train_event *v)
{
	struct err e;

	write_errors_note(t->write_errors, err_set(&e, -ERR_IO, "train.callbacks.csv: %s", v->path), &e);
}

/* ---- words ---- */

static void say_rate(struct train_callbacks *t, const struct train_event *v)
{
	buf_auto b = BUF_INIT;

	if (t->job->train.restarts > 1)
		return;
	buf_printf(&b, "epoch %u: the learning rate is %g from now on", v->record->epoch, v->rate);
	progress_note(t->progress, b.data);
}

static void say_stopped(struct train_callbacks *t, const struct train_event *v)
{
	buf_auto b = BUF_INIT;

	if (t->job->train.restarts > 1)
		buf_printf(&b, "stopped after epoch %u", v->record->epoch);
	else
		buf_printf(&b, "epoch %u: stopped early, since %s is not better than %.6g of epoch %u", v->record->epoch,
			v->monitor, v->best, v->best_epoch);
	progress_note(t->progress, b.data);
}

static void say_restored(struct train_callbacks *t, const struct train_event *v)
{
	struct metrics_line line;

	epoch_record_line(&t->job->train, v->record, &line);
	progress_restored(t->progress, v->best_epoch, &line);
}

int train_callbacks_event(struct train_callbacks *t, const struct train_event *v)
{
	switch (v->kind) {
	case TRAIN_SAVE: return save(t, v);
	case TRAIN_DROP: drop(t, v); break;
	case TRAIN_RATE: say_rate(t, v); break;
	case TRAIN_STOPPED: say_stopped(t, v); break;
	case TRAIN_RESTORED: say_restored(t, v); break;
	case TRAIN_CSV_FAILED: say_csv(t, v); break;
	}
	return 0;
}

void train_callbacks_ending(const struct train_job *j, const struct train_result *r, struct buf *out)
{
	const struct callback_choice *o = callback_next(j, CALLBACK_early_stopping, NULL);
	const struct restart_end *end = &r->end[r->winner];

	if (end->stopped > 0 && callback_next(j, CALLBACK_early_stopping, o))
		buf_printf(out, "stopped early after epoch %.0f", end->stopped);
	else if (end->stopped > 0)
		buf_printf(out, "stopped early after epoch %.0f, since %s had not improved for %.0f epoch%s", end->stopped, o->text[STOP_MONITOR],
			fmax(o->option[STOP_PATIENCE], 1), o->option[STOP_PATIENCE] > 1 ? "s" : "");
	if (end->restored > 0)
		buf_printf(out, "%sthe weights are those of epoch %.0f", out->len ? "; " : "", end->restored);
}
