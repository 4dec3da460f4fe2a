/* SPDX-License-Identifier: Apache-2.0
 * Finding runs, and removing them. */
#include "cli/job/run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/job/run_metrics.h"
#include "runtime/base/arena.h"
#include "runtime/base/diag.h"
#include "runtime/base/input_files.h"
#include "runtime/base/system/folder.h"
#include "runtime/log/latest.h"
#include "runtime/log/run.h"

const char *const backup_file[BACKUP_FILES] = { "checkpoint/0.bin", "checkpoint/1.bin", "state.bin" };

/* The record of a folder, or NULL when it is no run's. */
static json_t *read_record(const char *path)
{
	buf_auto text = BUF_INIT;
	json_t *v = NULL;

	if (!folder_read_in(&text, path, "run.json", RUN_RECORD_BYTES_MAX, NULL))
		v = json_read(text.data ? text.data : "", text.len, NULL);
	if (!json_is_object(v)) {
		json_decref(v);
		v = NULL;
	}
	return v;
}

/* A training that was killed before it could write a record: it has its lock alone. */
static bool was_begun(const char *path)
{
	int folder = folder_open(path, false);
	struct stat st;
	bool begun = folder >= 0 && !folder_stat(folder, "checkpoint/lock", &st) && folder_stat(folder, "run.json", &st) && errno == ENOENT;

	if (folder >= 0)
		close(folder);
	return begun;
}

static bool add_run(struct run_list *l, const char *name, const char *path)
{
	json_t *record = read_record(path);

	if (!record && was_begun(path))
		record = json_pack("{s:s}", "state", "running");
	if (!record)
		return false;
	mem_reserve(l->run, l->n, l->cap);
	l->run[l->n++] = (struct run_folder){ mem_strdup(name), mem_strdup(path), record, false };
	return true;
}

static const char *written(const struct run_folder *r)
{
	const char *s = json_string_value(json_object_get(r->record, "written"));

	return s ? s : "";
}

static int newest_first(const void *x, const void *y)
{
	const struct run_folder *a = x, *b = y;
	int order = strcmp(written(b), written(a));

	return order ? order : strcmp(b->name, a->name);
}

static bool is_unfinished(const char *path)
{
	buf_auto checkpoint = BUF_INIT;

	buf_printf(&checkpoint, "%s/checkpoint", path);
	return !access(checkpoint.data, F_OK);
}

int run_list_read(const char *dir, bool unfinished, struct run_list *l, struct err *e)
{
	buf_auto path = BUF_INIT;
	DIR *d = opendir(dir);
	struct stat st;
	int code = 0;

	memset(l, 0, sizeof *l);
	if (!d)
		return errno == ENOENT ? 0 : err_set(e, -ERR_NO_INPUT, "cannot read the folder %s: %s", dir, strerror(errno));
	for (struct dirent *f; !code && (f = readdir(d)); ) {
		buf_clear(&path);
		buf_printf(&path, "%s/%s", dir, f->d_name);
		if (*f->d_name == '.' || lstat(path.data, &st) || !S_ISDIR(st.st_mode)
				|| (!strcmp(f->d_name, "latest") && latest_is(path.data)))
			continue;
		if (l->n == RUNS_MAX)
			code = err_set(e, -ERR_CONFIG, "%s has more than %d runs", dir, RUNS_MAX);
		else if (!unfinished || is_unfinished(path.data))
			add_run(l, f->d_name, path.data);
	}
	closedir(d);
	if (l->n > 0)
		qsort(l->run, l->n, sizeof *l->run, newest_first);
	return code;
}

/* The only run whose name begins with `word`. */
static int find_beginning(const char *dir, const char *word, struct run_list *l, struct err *e)
{
	run_list_auto all;
	size_t found = 0, at = 0;
	int code = run_list_read(dir, false, &all, e);

	for (size_t i = 0; !code && i < all.n; i++)
		if (!strncmp(all.run[i].name, word, strlen(word))) {
			at = found++ ? at : i;
		}
	if (!code && !found)
		code = err_set(e, -ERR_NO_INPUT, "there is no run `%s` in %s", word, dir);
	else if (!code && found > 1)
		code = err_set(e, -ERR_USAGE, "%zu runs in %s begin with `%s`; the newest is %s", found, dir, word, all.run[at].name);
	else if (!code)
		add_run(l, all.run[at].name, all.run[at].path);
	return code;
}

/* The path of a link to a run becomes that of the run itself: beside the link where it is there, else the whole path, and
 * the result is true: the link leads away. */
static bool name_run(const char *real, struct buf *path)
{
	const char *slash = strrchr(path->data, '/'), *name = strrchr(real, '/') + 1;
	buf_auto beside = BUF_INIT;

	buf_printf(&beside, "%.*s%s", slash ? (int)(slash - path->data) + 1 : 0, path->data, name);
	mem_auto char *same = realpath(beside.data, NULL);
	buf_clear(path);
	bool away = !same || strcmp(same, real);
	buf_str(path, away ? real : beside.data);
	return away;
}

static bool same_owner(const char *a, const char *b)
{
	struct stat sa, sb;

	return !lstat(a, &sa) && !lstat(b, &sb) && sa.st_uid == sb.st_uid;
}

/* `latest` whose links lead nowhere, since their run was renamed: the real path of the newest finished run beside it that belongs
 * to the same user. NULL: it is something else, or there is none. */
static char *beside_latest(const char *path)
{
	buf_auto dir = BUF_INIT;
	run_list_auto all = { NULL, 0, 0 };
	char *real = NULL;

	if (strcmp(path_base(path), "latest") || !latest_is(path) || (real = latest_run(path))) {
		free(real);
		return NULL;
	}
	path_folder(path, &dir);
	if (run_list_read(dir.data, false, &all, NULL))
		return NULL;
	for (size_t i = 0; !real && i < all.n; i++)
		if (!strcmp(run_state(&all.run[i]), "finished") && same_owner(path, all.run[i].path))
			real = realpath(all.run[i].path, NULL);
	return real;
}

int run_list_find(const char *dir, const char *word, struct run_list *l, struct err *e)
{
	buf_auto path = BUF_INIT;
	bool found, away = false;

	if (strchr(word, '/') || !strcmp(word, ".")) {
		buf_str(&path, word);
		while (path.len > 1 && path.data[path.len - 1] == '/')
			path.data[--path.len] = 0;
	} else {
		buf_printf(&path, "%s/%s", dir, word);
	}
	int code = latest_check(path.data, e);
	if (code)
		return code;
	char *real = latest_run(path.data);
	if (!real)
		real = beside_latest(path.data);
	if (!real && was_begun(path.data))
		real = realpath(path.data, NULL);
	if (real && latest_is(path.data))
		away = name_run(real, &path);
	found = real && add_run(l, strrchr(real, '/') + 1, path.data);
	if (found)
		l->run[l->n - 1].away = away;
	free(real);
	return found ? 0 : find_beginning(dir, word, l, e);
}

void run_list_release(struct run_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->run[i].name);
		free(l->run[i].path);
		json_decref(l->run[i].record);
	}
	free(l->run);
	memset(l, 0, sizeof *l);
}

const char *run_state(const struct run_folder *r)
{
	const char *s = json_string_value(json_object_get(r->record, "state"));

	if (s && !strcmp(s, "running") && !run_is_open(r->path))
		return "cut off";
	return s ? s : "unknown";
}

bool run_newest_unfinished(const char *dir, const struct run_folder *r, struct buf *path)
{
	run_list_auto all;
	bool found = false;

	if (run_list_read(dir, true, &all, NULL))
		return false;
	for (size_t i = 0; !found && i < all.n; i++) {
		const char *state = run_state(&all.run[i]);

		found = (!strcmp(state, "interrupted") || !strcmp(state, "cut off"))
			&& (!r || strcmp(written(&all.run[i]), written(r)) >= 0);
		if (found)
			buf_str(path, all.run[i].path);
	}
	return found;
}

double run_number(const struct run_folder *r, const char *section, const char *key)
{
	const json_t *v = json_object_get(section ? json_object_get(r->record, section) : r->record, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

int run_command_words(const struct run_folder *r, char **word)
{
	const json_t *command = json_object_get(r->record, "command");
	bool after = false;
	int n = 0;

	for (size_t i = 0; i < json_array_size(command) && n < RUN_COMMAND_WORDS_MAX; i++) {
		const char *s = json_string_value(json_array_get(command, i));

		if (after && s)
			word[n++] = (char *)s;
		after |= s && i > 0 && !strcmp(s, "train");
	}
	return n;
}

/* ---- removing ---- */

/* realpath() of a folder, or NULL and errno; ELOOP where `path` itself is a link, or becomes one meanwhile. */
static char *real_folder(const char *path)
{
	int fd = folder_open(path, false), saved = errno;
	char *real = fd < 0 ? NULL : realpath(path, NULL);
	struct stat opened, named;

	if (fd >= 0) {
		saved = real ? ELOOP : errno;
		if (real && !fstat(fd, &opened) && !lstat(real, &named) && opened.st_dev == named.st_dev && opened.st_ino == named.st_ino)
			saved = 0;
		close(fd);
	}
	if (saved) {
		free(real);
		real = NULL;
	}
	errno = saved;
	return real;
}

/* Whoever owns the run can put a link in its place after it was looked at. */
int run_remove(const struct run_folder *r, struct err *e)
{
	if (r->away)
		return err_set(e, -ERR_USAGE, "a link leads to %s, in another folder; it is not followed: name the folder of the run itself", r->path);
	mem_auto char *real = real_folder(r->path);
	if (!real)
		return err_set(e, -ERR_IO, "cannot remove %s: %s", r->path, folder_reason(errno));
	int code = folder_remove(AT_FDCWD, real, e);
	char *slash = strrchr(real, '/');
	*slash = 0;
	const char *dir = *real ? real : "/";
	run_list_auto all = { NULL, 0, 0 };
	/* Only where the run that `latest` names no longer exists. */
	if (latest_remove_dangling(dir) && !run_list_read(dir, false, &all, NULL) && all.n)
		latest_point(dir, all.run[0].name, NULL);
	return code;
}

/* ---- the file of a run ---- */

/* The checkpoint of the run that was written last; false: there is none. */
static bool newest_checkpoint(const char *run, struct buf *path)
{
	buf_auto slot = BUF_INIT;
	struct timespec newest = { 0, 0 };
	struct stat st;

	for (unsigned k = 0; k < BACKUP_SLOTS; k++) {
		buf_clear(&slot);
		buf_printf(&slot, "%s/%s", run, backup_file[k]);
		if (stat(slot.data, &st) || st.st_mtim.tv_sec < newest.tv_sec
				|| (st.st_mtim.tv_sec == newest.tv_sec && st.st_mtim.tv_nsec <= newest.tv_nsec))
			continue;
		newest = st.st_mtim;
		buf_clear(path);
		buf_str(path, slot.data);
	}
	return path->len > 0;
}

/* A run that has not finished: its state, and what can be done. */
static int no_weights(const struct run_folder *r, struct err *e)
{
	const bool running = !strcmp(run_state(r), "running");
	double epoch = run_number(r, "metrics", "epochs");
	buf_auto checkpoint = BUF_INIT, text = BUF_INIT;

	buf_printf(&text, "the run %s (%s", r->path, run_state(r));
	if (!isnan(epoch))
		buf_printf(&text, " after epoch %.0f", epoch);
	buf_printf(&text, ") has no weights.bin, since its training %s", running ? "has not finished" : "did not finish");
	if (!running)
		buf_printf(&text, "; `qcnn train --resume=%s` continues it", r->path);
	if (newest_checkpoint(r->path, &checkpoint))
		buf_printf(&text, "; the weights of its last checkpoint are in %s", checkpoint.data);
	return err_set(e, -ERR_NO_INPUT, "%s", text.data);
}

/* The run's weights.bin, which only a finished run has. */
static int weights_of(const char *path, struct buf *own, const char **out, struct err *e)
{
	run_list_auto l = { NULL, 0, 0 };
	struct stat st;
	int code = latest_check(path, e);

	if (code)
		return code;
	buf_printf(own, "%s%sweights.bin", path, *path && path[strlen(path) - 1] == '/' ? "" : "/");
	*out = own->data;
	if (!stat(own->data, &st))
		return 0;
	mem_auto char *other = beside_latest(path);
	if (other) {
		buf_clear(own);
		return weights_of(other, own, out, e);
	}
	if (!add_run(&l, path, path))
		return err_set(e, -ERR_NO_INPUT, "%s is a folder without weights.bin, and not that of a run (it has no run.json); name a file "
			"of weights or a run (`qcnn runs` lists those in runs)", path);
	run_metrics_complete(&l.run[0]);
	return no_weights(&l.run[0], e);
}

/* No file and no run: runs have names without an ending. */
static int no_such(const char *dir, const char *word, const struct run_list *all, struct err *e)
{
	mem_auto const char **name = mem_alloc(all->n + 1, sizeof *name);

	for (size_t i = 0; i < all->n; i++)
		name[i] = all->run[i].name;
	name[all->n] = "latest";
	const char *near = diag_nearest(word, name, all->n + (all->n > 0));
	if (near && strcmp(near, word))
		return err_set(e, -ERR_NO_INPUT,
			"there is no file `%s` and no run of this name in %s; did you mean `%s`?",
			word, dir, near);
	return err_set(e, -ERR_NO_INPUT,
		"there is no file `%s` and no run of this name in %s; `qcnn runs` lists the runs",
		word, dir);
}

int run_file(const char *dir, const char *word, struct buf *own, const char **out, struct err *e)
{
	run_list_auto l = { NULL, 0, 0 }, all = { NULL, 0, 0 };
	struct stat st;
	struct err why;

	*out = word;
	if (input_is_stdin(word) || (!stat(word, &st) && !S_ISDIR(st.st_mode)))
		return 0;
	if (!stat(word, &st))
		return weights_of(word, own, out, e);
	if (!*word || strchr(word, '/'))
		return 0;
	int code = run_list_find(dir, word, &l, &why);
	if (!code)
		code = weights_of(l.run[0].path, own, out, e);
	else if (code == -ERR_USAGE)
		code = err_set(e, code, "%s", why.text);
	else if (strchr(word, '.') || run_list_read(dir, false, &all, NULL))
		code = 0;
	else
		code = no_such(dir, word, &all, e);
	return code;
}

/* The component `latest` of a path, or NULL. */
static const char *latest_in(const char *path)
{
	static const char latest[] = "latest";

	for (const char *at = path; *at; at += *at == '/') {
		size_t len = strcspn(at, "/");

		if (len == strlen(latest) && !strncmp(at, latest, len))
			return at;
		at += len;
	}
	return NULL;
}

bool run_lasting_name(const char *dir, const char *word, const char *path, struct buf *out)
{
	const char *at = latest_in(word);
	size_t base = strlen(path) - strlen(word);
	buf_auto folder = BUF_INIT;
	run_list_auto l = { NULL, 0, 0 };

	if (at)
		buf_add(&folder, path, base + (size_t)(at - word) + strlen("latest"));
	mem_auto char *real = at && latest_is(folder.data) ? latest_run(folder.data) : NULL;
	if (real) {
		bool away = name_run(real, &folder);

		buf_printf(out, "%s%s", folder.data + (away ? 0 : base), at + strlen("latest"));
	} else if (!strchr(word, '/') && access(path, F_OK) && !run_list_find(dir, word, &l, NULL)) {
		buf_str(out, l.run[0].away ? l.run[0].path : l.run[0].name);
	}
	return out->len && strcmp(out->data, word) != 0;
}
