/* SPDX-License-Identifier: Apache-2.0
 * Saves checkpoints at their times, and repeats what could not be written. */
#include "cli/training/backup.h"

#include <stdio.h>

#include "cli/signals.h"
#include "runtime/base/system/clock.h"
#include "runtime/base/system/folder.h"

int backup_open(struct backup *b, struct write_errors *t, const struct job *j, struct run *run,
	double begin, uint64_t count, struct end_states *ends, struct err *e)
{
	*b = (struct backup){ .write_errors = t,
		.job = j,
		.run = run,
		.begin = begin,
		.count = count,
		.ends = ends,
		.last = clock_seconds(),
		.every_seconds = (double)config_int(j->config, KEY_LOG_CHECKPOINT_SECONDS),
		.every_steps = (uint64_t)config_int(j->config, KEY_LOG_CHECKPOINT_STEPS) };
	return record_texts(j, &b->texts, e);
}

void backup_close(struct backup *b) { record_texts_release(&b->texts); }

/* run.json says which configuration it is: a checkpoint is found by it, also after a power failure, and after someone
 * has removed the folder. What else the checkpoint counts on, lines and events up to now, goes to the disk before it too. */
static void sync_others(struct backup *b)
{
	struct stat st;
	struct err e;

	if (folder_stat(run_folder(b->run), "run.json", &st))
		record_run(b->run, b->write_errors->cli, b->job, "running", 0, NULL, &e);
	write_errors_note(b->write_errors, run_sync(b->run, &e), &e);
}

static int make_image(struct backup *b, const struct train_state *s, struct checkpoint_image *out,
	struct err *e)
{
	struct metadata meta[RECORD_METADATA];
	buf_auto note = BUF_INIT;
	json_auto_t *v = b->log ? train_log_files(b->log, &b->waiting)
				: train_log_closed_files(b->run, &b->job->train);
	struct weights_vector all[1 + TRAIN_LOG_WAITING_MAX] = { { REPORT_NORMS_NAME, NULL, 0 } };
	unsigned n = 0;

	if (b->report && !s->failed)
		all->value = train_report_norms(b->report, &all->n);
	n += all->value != NULL;
	for (unsigned k = 0; k < b->waiting.n; k++)
		all[n++] = b->waiting.vector[k];
	json_object_set_new(v, "count", json_integer((json_int_t)b->count + 1));
	json_object_set_new(v, "seconds", json_real(clock_seconds() - b->begin));
	json_object_set_new(v, "version", json_string(PACKAGE_VERSION));
	if (b->ended_by)
		json_object_set_new(v, "ended_by", json_string(b->ended_by));
	json_write(v, &note);
	int code = checkpoint_image(&b->job->train, s, all, n, meta,
		record_metadata(b->job, &b->texts, "checkpoint", note.data, meta), out);
	return record_too_long(code, e);
}

static int write_file(struct backup *b, const char *file, const struct train_state *s, struct err *e)
{
	struct checkpoint_image image;
	int code = make_image(b, s, &image, e);

	if (!code)
		sync_others(b);
	if (!code)
		code = run_write_parts(b->run, file, &image.weights.file, e);
	if (!code)
		b->count++;
	checkpoint_image_release(&image);
	train_log_waiting_release(&b->waiting);
	b->last = clock_seconds();
	b->nstep = 0;
	return code;
}

bool backup_is_due(struct backup *b)
{
	b->nstep++;
	return stop_asked() || (b->every_steps && b->nstep >= b->every_steps)
		|| (b->every_seconds > 0 && clock_seconds() - b->last >= b->every_seconds);
}

/* Where it stops, and how it goes on. */
static int stopped(const struct backup *b, const struct train_state *s, const char *signal, struct err *e)
{
	const struct restart_state *at = &s->running[0];
	char restart[32] = "";

	if (b->job->train.restarts > 1)
		snprintf(restart, sizeof restart, "restart %u, ", at->restart + 1);
	return err_set(e, -ERR_STOPPED,
		"stopped by %s after %sstep %llu (epoch %u); the same command resumes from there",
		signal, restart, (unsigned long long)at->step, at->epoch);
}

int backup_save(struct backup *b, const struct train_state *s, struct err *e)
{
	const char *signal = stop_asked();
	struct train_state all = *s;
	struct err why;

	all.ends = b->ends;
	int code = write_file(b, backup_file[b->count % BACKUP_SLOTS], &all, &why);

	if (!code)
		return signal ? stopped(b, s, signal, e) : 0;
	if (signal)
		return err_set(e, -ERR_IO, "stopped by %s, and what was done since the last checkpoint is lost: %s", signal, why.text);
	write_errors_note(b->write_errors, code, &why);
	return 0;
}

/* ---- the state after the last epoch ---- */

static bool within_epoch(const struct train_job *j, uint64_t step)
{
	return j->max_steps && step >= j->max_steps && step % train_steps_per_epoch(j);
}

static void save_end(struct backup *b, const struct train_state *s)
{
	struct err e;

	if (write_file(b, backup_file[BACKUP_END], s, &e))
		cli_note(b->write_errors->cli, "%s; the run cannot be extended by more epochs",
			e.text);
}

void backup_save_cut(struct backup *b, const struct train_state *s)
{
	const struct train_job *j = &b->job->train;

	if (j->restarts == 1 && within_epoch(j, s->running[0].step))
		save_end(b, s);
}

void backup_save_end(struct backup *b)
{
	const struct train_job *j = &b->job->train;
	struct train_state s = { .nrunning = 1,
		.running = end_states_of(b->ends, 0),
		.others = end_states_others,
		.other_context = b->ends };

	if (!end_states_complete(b->ends))
		return;
	for (uint32_t i = 0; i < j->restarts; i++)
		if (within_epoch(j, end_states_of(b->ends, i)->step))
			b->ended_by = "within_epoch";
	if (j->restarts > 1 || !b->ended_by) /* else backup_save_cut() has done it */
		save_end(b, &s);
}
