/* SPDX-License-Identifier: Apache-2.0
 * Finding a run that has not ended, and reading where it was. */
#include "cli/training/resume.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/job/run_config.h"
#include "cli/training/extend.h"
#include "runtime/base/numerical_version.h"
#include "runtime/base/system/folder.h"

/* What is looked for, and what was found of it. */
struct search {
	struct cli *cli;
	struct job *job;
	struct resume *r;
	bool named;                  /* by --resume */
	const char *file;            /* the checkpoint of the run that is read */
	char device[16];             /* of the run, where --device names another; "": none */
	struct extension more;       /* than the run was begun with */
	struct record_texts texts;
};

/* ---- is it the same training? ---- */

/* The first leaf that differs, "train.epochs"; false: none does. */
static bool first_difference(const json_t *ours, const json_t *theirs, struct buf *path, struct buf *text)
{
	const char *key;
	json_t *a, *b;
	size_t len = path->len;

	json_object_foreach((json_t *)ours, key, a) {
		b = json_object_get(theirs, key);
		if (b && json_equal(a, b))
			continue;
		buf_printf(path, "%s%s", len ? "." : "", key);
		if (json_is_object(a) && json_is_object(b) && first_difference(a, b, path, text))
			return true;
		buf_printf(text, "%s is ", path->data);
		json_write(a, text);
		buf_str(text, " here and ");
		if (b)
			json_write(b, text);
		else
			buf_str(text, "not set");
		buf_str(text, " there");
		return true;
	}
	return false;
}

static int other_configuration(struct search *s, const json_t *ours, const json_t *theirs)
{
	const char *weights = s->more.finished ? "weights.bin" : s->file;
	buf_auto path = BUF_INIT, text = BUF_INIT;

	if (!first_difference(ours, theirs, &path, &text))
		buf_str(&text, "it has more keys");
	return cli_error(s->cli, -ERR_CONFIG,
		"%s has another configuration: %s; %s is resumed with its own, or, in place of --resume, `--set train.init.from=%s/%s` begins a new run "
		"with its weights and with a new optimizer state",
		run_path(s->r->run), text.data, s->cli->config_folder ? "it" : "without CONFIG it",
		run_path(s->r->run), weights);
}

/* Which part of the data, and where it is from. */
static int other_data(struct search *s, const char *theirs)
{
	json_auto_t *a = json_read(s->texts.split.data, s->texts.split.len, NULL);
	json_auto_t *b = json_read(theirs, strlen(theirs), NULL);
	struct err e;

	err_set(&e, -ERR_BAD_DATA,
		"the data have changed since %s was interrupted; restore "
		"them, or begin a new run with --fresh",
		run_path(s->r->run));
	for (unsigned k = 0; k < PART_COUNT; k++) {
		const json_t *x = json_object_get(a, sample_part_name(k)), *y = json_object_get(b, sample_part_name(k));

		if (x == y || json_equal(x, y))
			continue;
		err_prefix(&e, "%s (%s)", sample_part_name(k), x ? json_string_value(json_object_get(x, "source")) : "missing");
		break;
	}
	return cli_fail(s->cli, &e);
}

static const char *meta_of(const struct resume *r, const char *key)
{
	const char *text = weights_meta(r->weights, key);

	return text ? text : "";
}

/* Is the configuration ours but for another device, which --device asks for by its name?  Otherwise `ours` differs in the
 * rest alone. */
static bool moves_to_device(struct search *s, json_t *ours, json_t *theirs)
{
	json_t *here = json_object_get(ours, "run"), *run = json_object_get(theirs, "run");
	const char *device = json_string_value(json_object_get(run, "device"));
	bool moves = s->named && s->cli->options.given[OPT_TRAIN_DEVICE] && device
		&& strcmp(device, execution_device(&s->job->train.exec)) != 0;

	if (moves) {
		snprintf(s->device, sizeof s->device, "%s", device);
		json_object_set(here, "device", json_object_get(run, "device"));
		json_object_set(here, "isa", json_object_get(run, "isa"));
		moves = json_equal(ours, theirs);
	}
	return moves;
}

/* By the schema of this program: a key that the program of the checkpoint did not know has its default. */
static int check_config(struct search *s)
{
	buf_auto text = BUF_INIT;

	if (!strcmp(meta_of(s->r, "config"), s->texts.config.data))
		return 0;
	run_config_complete(meta_of(s->r, "config"), &text);
	json_auto_t *ours = json_read(s->texts.config.data, s->texts.config.len, NULL);
	json_auto_t *theirs = json_read(text.data, text.len, NULL);
	extend_lengths(ours, theirs, &s->more); /* a longer training is no other configuration */
	return json_equal(ours, theirs) || moves_to_device(s, ours, theirs)
		? 0
		: other_configuration(s, ours, theirs);
}

/* Everything that decides the result: 0, or said and the status. */
static int check_same(struct search *s)
{
	const struct resume *r = s->r;
	int status = check_config(s);

	if (status)
		return status;
	if (!program_same(r->weights->program, s->job->model.program))
		return cli_error(s->cli, -ERR_BAD_DATA,
			"the model has changed since %s was interrupted; "
			"restore it, or begin a new run with --fresh",
			run_path(r->run));
	if (strcmp(meta_of(r, "split"), s->texts.split.data))
		return other_data(s, meta_of(r, "split"));
	return 0;
}

/* ---- its checkpoints ---- */

/* One slot: weights and note of *one, which has neither; a damaged one is an error. */
static int open_slot(const struct run *run, unsigned slot, struct resume *one, struct err *e)
{
	const char *file = backup_file[slot];
	buf_auto path = BUF_INIT;
	int fd, code = 0;

	run_full_path(run, file, &path);
	fd = folder_file(run_folder(run), file, O_RDONLY);
	if (fd >= 0)
		code = weights_open_fd(fd, path.data, &one->weights, e);
	else if (errno != ENOENT)
		code = err_set(e, -ERR_NO_INPUT, "cannot read %s: %s", path.data, folder_reason(errno));
	if (fd >= 0)
		close(fd);
	const char *text = one->weights ? weights_meta(one->weights, "checkpoint") : NULL;
	if (text)
		one->note = json_read(text, strlen(text), NULL);
	if (one->weights && !resume_count(one)) {
		code = err_set(e, -ERR_BAD_DATA, "%s is not a checkpoint", path.data);
		resume_release(one);
	}
	return code;
}

/* The newest that is whole. No checkpoint at all: weights stay NULL. */
static int open_newest(struct search *s)
{
	struct resume *r = s->r;
	struct err e, bad = { 0 };

	for (unsigned k = 0; k < BACKUP_FILES; k++) {
		struct resume one = { .run = NULL }, before = *r;

		if (open_slot(r->run, k, &one, &e))
			bad = e;
		if (one.weights && (!r->weights || resume_count(&one) > resume_count(r))) {
			r->weights = one.weights;
			r->note = one.note;
			one.weights = before.weights;
			one.note = before.note;
			s->file = backup_file[k];
		}
		resume_release(&one);
	}
	if (bad.code && !r->weights)
		return cli_error(s->cli, -ERR_BAD_DATA,
			"%s; the run has no undamaged checkpoint: begin a "
			"new run with --fresh",
			bad.text);
	if (bad.code)
		cli_note(s->cli, "%s; resuming from the other checkpoint", bad.text);
	return 0;
}

/* ---- one run ---- */

static void leave(struct search *s)
{
	if (s->more.finished && s->r->run)
		folder_remove(run_folder(s->r->run), "checkpoint", NULL); /* as it was */
	run_close(s->r->run);
	resume_release(s->r);
}

/* The result would depend on which program did which part: the user decides. */
static bool other_version(const struct search *s, int version, const char *path)
{
	if (version != NUMERICAL_VERSION)
		cli_note(s->cli,
			"%s, which has not ended and has the same configuration, was begun with numerical version %d; this program has %d, "
			"and its last digits may differ; a new run begins (--resume=%s continues that one)",
			path, version, NUMERICAL_VERSION, path_base(path));
	return version != NUMERICAL_VERSION;
}

static void say(const struct search *s)
{
	const struct restart_state *at = s->r->checkpoint.running;
	int version = numerical_version_of(weights_meta(s->r->weights, "numerical_version"));
	char restart[32] = "";

	if (s->job->train.restarts > 1)
		snprintf(restart, sizeof restart, "restart %u, ", at->restart + 1);
	if (s->more.more)
		extend_say(s->cli, s->job, &s->r->checkpoint.state, &s->more);
	else
		cli_note(s->cli, "resuming %s after %sstep %llu (epoch %u); --fresh begins a new run",
			run_path(s->r->run), restart, (unsigned long long)at->step, at->epoch);
	if (*s->device)
		cli_note(s->cli,
			"warning: the run was begun with the device %s and goes on with %s: the last digits may differ from those of a run "
			"without interruption",
			s->device, execution_device(&s->job->train.exec));
	if (version != NUMERICAL_VERSION)
		cli_note(s->cli, "warning: its checkpoint has numerical version %d, this program has %d: the last digits may differ from "
			"those of a run without interruption", version, NUMERICAL_VERSION);
}

/* The event file of the run itself has the configuration, which is another now, and is made anew. */
static void note_extension(struct resume *r)
{
	json_t *events = json_object_get(r->note, "events"), *size;
	const char *name;
	void *next;

	json_object_foreach_safe(events, next, name, size)
		if (!strchr(name, '/'))
			json_object_del(events, name);
	json_object_set_new(r->note, "extended", json_integer(extend_epoch(&r->checkpoint.state)));
	r->extended = true;
}

/* Lines and events of the checkpoint's time. */
static int cut_files(struct search *s)
{
	buf_auto lost = BUF_INIT;
	struct err e;
	int code = train_log_cut(s->r->run, &s->job->train, s->r->note, s->r->weights, &lost, &e);

	if (!code && lost.len)
		cli_note(s->cli,
			"warning: in %s, the last lines of files that belong to the "
			"checkpoint are missing, as after a power failure: %s; the weights are not affected",
			run_path(s->r->run), lost.data);
	return code ? cli_fail(s->cli, &e) : 0;
}

/* What the checkpoint of the open run says. *usable: there is something to go on from. */
static int read_run(struct search *s, bool *usable)
{
	struct resume *r = s->r;
	struct err e;
	int status = open_newest(s);

	if (!status && !r->weights && !s->named) { /* it is reported once */
		cli_note(s->cli,
			"%s was killed before its first checkpoint and cannot be resumed; `qcnn runs remove` removes it",
			run_path(r->run));
		folder_remove(run_folder(r->run), "checkpoint", NULL);
	}
	if (status || !r->weights)
		return status;
	if (!s->named && other_version(s, numerical_version_of(weights_meta(r->weights, "numerical_version")), run_path(r->run)))
		return 0;
	status = check_same(s);
	s->more.ended_by = json_string_value(json_object_get(r->note, "ended_by"));
	if (!status && s->more.more)
		status = extend_check(s->cli, s->job, &s->more);
	if (status)
		return status;
	if (checkpoint_read(&s->job->train, r->weights, &r->checkpoint, &e)) {
		err_prefix(&e, "%s: the checkpoint is damaged; begin a new run with --fresh",
			run_path(r->run));
		return cli_fail(s->cli, &e);
	}
	if (s->more.more)
		status = extend_check_restarts(s->cli, s->job, &r->checkpoint.state, &s->more);
	if (status)
		return status;
	s->job->train.resume = &r->checkpoint.state;
	if (s->more.more)
		note_extension(r);
	status = cut_files(s);
	if (!status) {
		*usable = true;
		say(s);
	}
	return status;
}

/* Lock the run, and read where it is. One that the user names may be somebody else's. */
static int try_run(struct search *s, const struct run_folder *f, bool *usable)
{
	buf_auto foreign = BUF_INIT;
	struct err e;

	*usable = false;
	s->more = (struct extension){ .run = f, .finished = !strcmp(run_state(f), "finished") };
	if (run_reopen(f->path, s->named ? NULL : &foreign, &s->r->run, &e)) {
		if (s->named && access(f->path, W_OK))
			err_prefix(&e,
				"you have no write permission for %s; begin a run of your own with --fresh",
				f->path);
		return cli_fail(s->cli, &e);
	}
	if (!s->r->run) {
		cli_note(s->cli,
			"%s, which has not ended and has the same configuration, is not continued by itself: %s; a new run begins "
			"(--resume=%s continues it)",
			f->path, foreign.data, f->name);
		return 0;
	}
	if (s->named && !folder_is_own(run_folder(s->r->run), &foreign))
		cli_note(s->cli,
			"warning: %s: %s; a user who can write there can change the "
			"weights and state that this training begins with",
			f->path, foreign.data);
	if (run_other_writer(s->r->run))
		cli_note(s->cli,
			"warning: %s: its file system has no locks, and %s, which has written there last, was killed or still trains it: "
			"let only one of the two go on",
			f->path, run_other_writer(s->r->run));
	return read_run(s, usable);
}

/* ---- which run ---- */

static int named_run(struct search *s, const char *word)
{
	run_list_auto l = { NULL, 0, 0 };
	struct err e;
	bool usable = true;
	int status = 0;

	if (run_list_find(config_text(s->job->config, KEY_LOG_DIR), word, &l, &e))
		status = cli_fail(s->cli, &e);
	else if (!strcmp(run_state(&l.run[0]), "finished"))
		status = extend_more(s->cli, s->job, &l.run[0]);
	if (!status)
		status = try_run(s, &l.run[0], &usable);
	if (!status && !usable && s->more.finished)
		status = extend_no_state(s->cli, &l.run[0]);
	else if (!status && !usable)
		status = cli_error(s->cli, -ERR_NO_INPUT,
			"%s has no checkpoint: it ended before the "
			"first one; begin a new run with --fresh",
			l.run[0].path);
	return status;
}

/* By the digest that it was begun with, or, where keys or the numerical version are newer, by one that is made now. */
static bool is_ours(const struct run_folder *f, const char *digest)
{
	const char *theirs = json_string_value(json_object_get(f->record, "config_sha256"));
	char now[SHA256_HEX + 1];

	if (!theirs || !strcmp(run_state(f), "finished"))
		return false;
	if (!strcmp(theirs, digest))
		return true;
	run_config_digest(f, now);
	return !strcmp(now, digest);
}

static int newest_run(struct search *s)
{
	run_list_auto l = { NULL, 0, 0 };
	char digest[SHA256_HEX + 1];
	bool usable = false;
	int status = 0;

	record_digest(s->job, digest);
	/* A folder that cannot be read is reported when the run's own folder is created in it. */
	run_list_read(config_text(s->job->config, KEY_LOG_DIR), true, &l, NULL);
	for (size_t i = 0; !status && !usable && i < l.n; i++) {
		if (!is_ours(&l.run[i], digest))
			continue;
		status = try_run(s, &l.run[i], &usable);
		if (!status && !usable)
			leave(s);
	}
	return status;
}

int resume_find(struct cli *c, struct job *j, struct resume *r)
{
	struct search s = { .cli = c, .job = j, .r = r };
	const char *word = c->options.value[OPT_RESUME];
	struct err e;
	int status = 0;

	s.named = strcmp(word, "auto") != 0;
	memset(r, 0, sizeof *r);
	if (c->options.given[OPT_FRESH] && c->options.given[OPT_RESUME])
		return cli_usage(c, "--fresh and --resume exclude each other");
	if (c->options.given[OPT_FRESH])
		return 0;
	if (record_texts(j, &s.texts, &e))
		status = cli_fail(c, &e);
	else
		status = s.named ? named_run(&s, word) : newest_run(&s);
	record_texts_release(&s.texts);
	if (status) {
		j->train.resume = NULL;
		leave(&s);
	}
	return status;
}

void resume_release(struct resume *r)
{
	checkpoint_release(&r->checkpoint);
	weights_free(r->weights);
	json_decref(r->note);
	memset(r, 0, sizeof *r);
}

uint64_t resume_count(const struct resume *r)
{
	json_int_t n = json_integer_value(json_object_get(r->note, "count"));

	return n > 0 ? (uint64_t)n : 0;
}

double resume_seconds(const struct resume *r)
{
	double s = json_number_value(json_object_get(r->note, "seconds"));

	return s > 0 ? s : 0;
}
