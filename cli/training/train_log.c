/* SPDX-License-Identifier: Apache-2.0
 * history.csv and event files of a training run. */
#include "cli/training/train_log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/draw/draw.h"
#include "runtime/base/system/clock.h"
#include "runtime/base/system/folder.h"
#include "runtime/log/event_folders.h"
#include "runtime/log/tfevents.h"
#include "runtime/train/checkpoint/train_state.h"

enum { TEXT_MAX = 1 << 18 };         /* of a text in an event file: what a browser still shows */

struct train_log {
	struct write_errors *write_errors;
	const struct job *job;
	struct run *run;
	bool tensorboard, csv_begun;
	uint64_t update_freq;        /* 0: no batch_loss */
	uint32_t histograms;         /* epochs from one to the next; 0: none */
	struct tfevents *own, *train, *validation;
	uint32_t restart; /* that train and validation are of */
	json_t *kept;     /* event files of an earlier process, of the run and of that restart */
	const struct weights *from;  /* the checkpoint that the run goes on from, else NULL */
	json_t *taken;               /* what waited in it and has been taken over */
	uint32_t extended; /* after this epoch, so that the configuration is another from there on; 0: it is not */
};

/* ---- failures ---- */

static void check(struct train_log *l, struct tfevents *f)
{
	struct err e;

	write_errors_note(l->write_errors, tfevents_flush(f, &e), &e);
}

static void finish(struct train_log *l, struct tfevents **f)
{
	struct err e;

	write_errors_lost(l->write_errors, tfevents_close(*f, &e), &e);
	*f = NULL;
}

/* ---- opening ---- */

/* "events/train" of the file's path. */
static void name_waiting(const struct tfevents *f, struct buf *name)
{
	const char *path = tfevents_path(f), *slash = strrchr(path, '/');

	buf_str(name, "events");
	if (slash)
		buf_printf(name, "/%.*s", (int)(slash - path), path);
}

/* Takes over the records that an earlier process could not write; false: there are none. */
static bool take_waiting(struct train_log *l, struct tfevents *f)
{
	buf_auto name = BUF_INIT, records = BUF_INIT;

	name_waiting(f, &name);
	bool there = !json_object_get(l->taken, name.data)
		&& train_log_unpack(l->from, name.data, &records);
	if (there) {
		tfevents_add(f, &records);
		json_object_set_new(l->taken, name.data, json_true());
	}
	return there;
}

/* Has an earlier process written into that folder of the run? */
static bool was_begun(const struct train_log *l, const char *folder)
{
	size_t n = strlen(folder);
	const char *name;
	json_t *size;

	json_object_foreach(l->kept, name, size)
		if (!strncmp(name, folder, n) && (!n || name[n] == '/')
			&& !strchr(name + n + (n > 0), '/'))
			return true;
	return false;
}

/* Has it been opened, and has no earlier process begun it? */
static bool open_in(struct train_log *l, const char *folder, struct tfevents **f)
{
	struct err e;

	if (l->tensorboard)
		write_errors_note(l->write_errors, tfevents_open(l->run, folder, f, &e), &e);
	return *f && !take_waiting(l, *f) && !was_begun(l, folder);
}

/* Indented by four, so that it is shown as it is. */
static void add_text(struct tfevents *f, const char *tag, uint64_t step, const char *text, size_t len)
{
	buf_auto b = BUF_INIT;
	bool fresh = true;

	for (size_t i = 0; i < len && b.len < TEXT_MAX; i++) {
		buf_str(&b, fresh ? "    " : "");
		buf_char(&b, text[i]);
		fresh = text[i] == '\n';
	}
	tfevents_text(f, tag, step, b.data ? b.data : "");
}

static void add_config(struct train_log *l, struct tfevents *f, uint64_t epoch)
{
	buf_auto b = BUF_INIT;

	config_print(l->job->config, &b);
	add_text(f, "config", epoch, b.data, b.len);
}

static void add_texts(struct train_log *l, struct tfevents *f)
{
	struct draw_options o = { .width = 0 };
	buf_auto b = BUF_INIT;

	add_config(l, f, 0);
	if (l->job->model.text)
		add_text(f, "model", 0, l->job->model.text, l->job->model.len);
	if (!draw_text(l->job->model.program, &o, &b, &(struct err){ 0 }) && b.len <= TEXT_MAX)
		add_text(f, "circuit", 0, b.data, b.len);
	buf_clear(&b);
	train_graph(l->job->model.program, &b);
	if (b.len)
		tfevents_graph(f, &b);
}

static void begin_session(struct train_log *l)
{
	const struct evaluator_options *x = &l->job->train.exec;
	const struct config_resolved r = execution_resolved(x);
	json_auto_t *config = config_json(l->job->config, SCOPE_RESULT, &r);
	json_auto_t *flat = json_object();
	buf_auto out = BUF_INIT;
	const char *key; /* "train.optimizer.adam.learning_rate" */
	json_t *v;

	json_flatten(config, "", flat);
	json_object_foreach(flat, key, v)
		tfevents_hparam(&out, key, v);
	tfevents_session_begin(l->own, &out, clock_wall());
	check(l, l->own);
}

/* What waits for a restart that has ended in the meantime has a file of its own. */
static void write_all_ended(struct train_log *l)
{
	const struct train_job *j = &l->job->train;
	struct tfevents *f = NULL;

	for (uint32_t i = 0; l->from && j->restarts > 1 && j->resume && i < j->resume->ndone; i++)
		for (enum event_folder k = 0; k < EVENT_FOLDERS; k++) {
			buf_auto folder = BUF_INIT, name = BUF_INIT, records = BUF_INIT;

			event_folder_path(true, i, k, &folder);
			buf_printf(&name, "events/%s", folder.data);
			if (!train_log_unpack(l->from, name.data, &records))
				continue;
			open_in(l, folder.data, &f);
			finish(l, &f);
		}
}

struct train_log *train_log_new(struct write_errors *t, const struct job *j, struct run *run, const json_t *resumed,
	const struct weights *from)
{
	struct train_log *l = mem_alloc(1, sizeof *l);
	buf_auto lines = BUF_INIT;
	struct stat st;

	*l = (struct train_log){ .write_errors = t,
		.job = j,
		.run = run,
		.restart = UINT32_MAX,
		.from = from,
		.taken = json_object(),
		.extended = (uint32_t)json_integer_value(json_object_get(resumed, "extended")),
		.tensorboard = config_bool(j->config, KEY_LOG_TENSORBOARD),
		.update_freq = (uint64_t)config_int(j->config, KEY_LOG_UPDATE_FREQ),
		.histograms = (uint32_t)config_int(j->config, KEY_LOG_HISTOGRAMS) };
	l->kept = resumed ? json_deep_copy(json_object_get(resumed, "events")) : json_object();
	/* A file that was cut to nothing has no header either. */
	l->csv_begun =
		(resumed && !folder_stat(run_folder(run), "history.csv", &st) && st.st_size > 0)
		|| train_log_unpack(from, "lines/history.csv", &lines);
	write_all_ended(l);
	if (open_in(l, "", &l->own))
		begin_session(l);
	return l;
}

/* The files of restarts that have ended. */
static void forget(struct train_log *l, uint32_t restart)
{
	const char *name;
	json_t *size;
	void *next;

	for (buf_auto folder = BUF_INIT; restart-- > l->restart; buf_clear(&folder)) {
		event_folder_restart(restart, &folder);
		json_object_foreach_safe(l->kept, next, name, size)
			if (!strncmp(name, folder.data, folder.len))
				json_object_del(l->kept, name);
	}
}

/* The files of a restart; those of the one before are complete. */
static void open_restart(struct train_log *l, uint32_t restart)
{
	buf_auto folder = BUF_INIT;

	finish(l, &l->train);
	finish(l, &l->validation);
	if (l->restart != UINT32_MAX)
		forget(l, restart);
	l->restart = restart;
	event_folder_path(l->job->train.restarts > 1, restart, EVENTS_TRAIN, &folder);
	if (open_in(l, folder.data, &l->train) && !restart)
		add_texts(l, l->train);
	else if (l->train && l->extended && !restart)
		add_config(l, l->train, l->extended);
	buf_clear(&folder);
	event_folder_path(l->job->train.restarts > 1, restart, EVENTS_VALIDATION, &folder);
	if (l->job->train.validation.nrow)
		open_in(l, folder.data, &l->validation);
}

/* ---- while it goes ---- */

static bool has_restart(struct train_log *l, uint32_t restart)
{
	if (l->tensorboard && l->restart != restart)
		open_restart(l, restart);
	return l->tensorboard && l->train;
}

void train_log_step(struct train_log *l, uint32_t restart, uint64_t step, double batch_loss)
{
	if (l->update_freq && step % l->update_freq == 0 && has_restart(l, restart))
		tfevents_scalar(l->train, "batch_loss", step, batch_loss);
}

/* "epoch_" NAME, and for validation also "evaluation_" NAME "_vs_iterations" by update. */
static void add_scalar(struct tfevents *f, const char *name, uint32_t epoch, uint64_t step, bool validation, double v)
{
	char tag[128];

	snprintf(tag, sizeof tag, "epoch_%s", name);
	tfevents_scalar(f, tag, epoch - 1, v);
	if (!validation)
		return;
	snprintf(tag, sizeof tag, "evaluation_%s_vs_iterations", name);
	tfevents_scalar(f, tag, step, v);
}

/* Numbers that the epoch has, but for its place and times. */
static void add_scalars(struct train_log *l, const struct epoch_record *r, const struct metrics_line *m)
{
	for (unsigned k = 0; k < m->n; k++) {
		const struct metrics_value *v = &m->value[k];
		bool validation = v->part == METRICS_VALIDATION;

		if (v->side || !v->given || v->part == METRICS_PLACE || v->part == METRICS_TIME)
			continue;
		if (!validation)
			add_scalar(l->train, v->name, r->epoch, r->step, false, v->number);
		else if (l->validation)
			add_scalar(l->validation, v->name + strlen("val_"), r->epoch, r->step, true, v->number);
	}
}

static void add_csv(struct train_log *l, const struct metrics_line *m)
{
	buf_auto line = BUF_INIT;
	struct err e;

	if (!l->csv_begun) {
		metrics_csv_header(m, &line);
		buf_char(&line, '\n');
	}
	l->csv_begun = true;
	metrics_csv(m, &line);
	write_errors_note(l->write_errors, run_append(l->run, "history.csv", &line, &e), &e);
}

void train_log_epoch(struct train_log *l, const struct epoch_record *r, const struct metrics_line *m)
{
	add_csv(l, m);
	if (!has_restart(l, r->restart))
		return;
	add_scalars(l, r, m);
	for (unsigned i = 0; i < m->nworker; i++) {
		buf_auto tag = BUF_INIT;

		buf_printf(&tag, "worker_samples_per_second/%s", m->worker[i].name);
		tfevents_scalar(l->train, tag.data, r->epoch - 1, m->worker[i].samples_per_second);
	}
	check(l, l->train);
	check(l, l->validation);
}

static void add_histogram(struct train_log *l, const char *what, const char *suffix, uint32_t epoch, const double *v, size_t n)
{
	buf_auto tag = BUF_INIT;

	buf_printf(&tag, "%s/%s", what, suffix);
	tfevents_histogram(l->train, tag.data, epoch - 1, v, n);
}

void train_log_state(struct train_log *l, const struct epoch_record *r, const struct epoch_state *s)
{
	const struct program *p = l->job->model.program;
	double squares = 0;

	if (!l->histograms || (r->epoch - 1) % l->histograms || !has_restart(l, r->restart))
		return;
	for (uint32_t g = 0; g < p->nweight_group; g++) {
		const struct weight_group *w = &p->weight_group[g];

		add_histogram(l, w->path, "histogram", r->epoch, s->weight + w->first, w->count);
		add_histogram(l, w->path, "gradient", r->epoch, s->gradient + w->first, w->count);
	}
	add_histogram(l, "readouts", "histogram", r->epoch, s->readout, (size_t)s->nbatch * p->nreadout);
	for (uint32_t i = 0; i < p->nweight; i++)
		squares += s->gradient[i] * s->gradient[i];
	tfevents_scalar(l->train, "epoch_gradient_norm", r->epoch - 1, sqrt(squares));
	check(l, l->train);
}

/* ---- where the files are ---- */

static void note_events(struct train_log *l, struct tfevents *f, json_t *events, struct train_log_waiting *w)
{
	buf_auto name = BUF_INIT;
	size_t n;

	if (!f)
		return;
	check(l, f);
	const void *records = tfevents_waiting(f, &n);
	name_waiting(f, &name);
	train_log_pack(w, name.data, records, n);
	if (tfevents_size(f))
		json_object_set_new(events, tfevents_path(f), json_integer((json_int_t)tfevents_size(f)));
}

json_t *train_log_files(struct train_log *l, struct train_log_waiting *w)
{
	json_t *lines = json_object(), *events = json_copy(l->kept);
	buf_auto name = BUF_INIT;
	const char *file, *text;
	uint64_t size;

	for (unsigned k = 0; run_lines(l->run, k, &file, &size, &text); k++) {
		json_object_set_new(lines, file, json_integer((json_int_t)size));
		buf_clear(&name);
		buf_printf(&name, "lines/%s", file);
		train_log_pack(w, name.data, text, text ? strlen(text) : 0);
	}
	note_events(l, l->own, events, w);
	note_events(l, l->train, events, w);
	note_events(l, l->validation, events, w);
	return json_pack("{s:o,s:o}", "lines", lines, "events", events);
}

void train_log_close(struct train_log *l, bool well)
{
	if (!l)
		return;
	if (l->tensorboard && l->own)
		tfevents_session_end(l->own, well, clock_wall());
	finish(l, &l->train);
	finish(l, &l->validation);
	finish(l, &l->own);
	json_decref(l->kept);
	json_decref(l->taken);
	free(l);
}
