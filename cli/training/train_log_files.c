/* SPDX-License-Identifier: Apache-2.0
 * Cutting the files of a run to where its checkpoint was, so that nothing is in them twice. */
#include "cli/training/train_log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/system/folder.h"
#include "runtime/log/event_folders.h"
#include "runtime/train/checkpoint/train_state.h"

static void note_lost(struct buf *lost, const char *name, uint64_t nbyte)
{
	if (nbyte)
		buf_printf(lost, "%s%s (%llu bytes)", lost->len ? ", " : "", name, (unsigned long long)nbyte);
}

/* metrics.jsonl and history.csv. */
static int cut_lines(struct run *run, const json_t *resumed, const struct weights *from, struct buf *lost, struct err *e)
{
	static const char *const name[] = { "metrics.jsonl", "history.csv" };
	const json_t *lines = json_object_get(resumed, "lines");
	buf_auto key = BUF_INIT, waiting = BUF_INIT;
	uint64_t nbyte;
	int code = 0;

	for (size_t k = 0; !code && k < sizeof name / sizeof *name; k++) {
		json_int_t size = json_integer_value(json_object_get(lines, name[k]));

		buf_clear(&key);
		buf_clear(&waiting);
		buf_printf(&key, "lines/%s", name[k]);
		code = run_cut(run, name[k], size > 0 ? (uint64_t)size : 0,
			train_log_unpack(from, key.data, &waiting) ? waiting.data : NULL, &nbyte, e);
		note_lost(lost, name[k], nbyte);
	}
	return code;
}

static int cut_events_file(struct run *run, const char *file, json_int_t want, struct buf *lost, struct err *e)
{
	int fd = folder_file(run_folder(run), file, O_WRONLY);
	struct stat st;
	int code = 0;

	if (fd < 0 || fstat(fd, &st) || (st.st_size > want && ftruncate(fd, (off_t)want)))
		code = err_set(e, -ERR_IO, "cannot shorten %s/%s: %s", run_path(run), file, folder_reason(errno));
	else if (st.st_size < want)
		note_lost(lost, file, (uint64_t)(want - st.st_size));
	if (fd >= 0)
		close(fd);
	return code;
}

struct cutting {
	const json_t *events;
	struct buf *lost;
};

/* One that the checkpoint does not know is removed. */
static int keep_or_remove(struct run *run, const char *file, void *ctx, struct err *e)
{
	const struct cutting *c = ctx;
	const json_t *size = json_object_get(c->events, file);
	json_int_t want = json_integer_value(size);

	if (size)
		return cut_events_file(run, file, want > 0 ? want : 0, c->lost, e);
	return folder_unlink(run_folder(run), file)
		? err_set(e, -ERR_IO, "cannot remove %s/%s: %s", run_path(run), file, strerror(errno)) : 0;
}

typedef int (*event_file_fn)(struct run *run, const char *file, void *ctx, struct err *e);

/* The event files of a folder of the run ("": its own, else ending in a slash); no folder, no files. */
static int each_event_file(struct run *run, const char *folder, event_file_fn visit, void *ctx,
	struct err *e)
{
	buf_auto path = BUF_INIT;
	int fd, code = 0;

	buf_printf(&path, "%s.", folder);
	fd = folder_sub(run_folder(run), path.data);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	if (fd < 0 && errno != ENOENT)
		code = err_set(e, -ERR_IO, "cannot read %s/%s: %s", run_path(run), folder, folder_reason(errno));
	for (struct dirent *f; d && !code && (f = readdir(d)); ) {
		buf_clear(&path);
		buf_printf(&path, "%s%s", folder, f->d_name);
		if (!strncmp(f->d_name, "events.out.", strlen("events.out.")))
			code = visit(run, path.data, ctx, e);
	}
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	return code;
}

/* Those of a restart. */
static int each_of_restart(struct run *run, const struct train_job *j, uint32_t restart,
	event_file_fn visit, void *ctx, struct err *e)
{
	buf_auto folder = BUF_INIT;
	int code = 0;

	for (enum event_folder k = 0; !code && k < EVENT_FOLDERS; k++) {
		buf_clear(&folder);
		event_folder_path(j->restarts > 1, restart, k, &folder);
		buf_char(&folder, '/');
		code = each_event_file(run, folder.data, visit, ctx, e);
	}
	return code;
}

int train_log_cut(struct run *run, const struct train_job *j, const json_t *resumed,
	const struct weights *from, struct buf *lost, struct err *e)
{
	const json_t *events = json_object_get(resumed, "events");
	struct cutting cutting = { events, lost };
	const char *name;
	json_t *size;
	struct stat st;
	int code = cut_lines(run, resumed, from, lost, e);

	if (!code)
		code = each_event_file(run, "", keep_or_remove, &cutting, e);
	for (uint32_t i = j->resume->ndone; !code && i < j->restarts; i++)
		code = each_of_restart(run, j, i, keep_or_remove, &cutting, e);
	if (code)
		return code;
	/* Those that the checkpoint knows and that are gone. */
	json_object_foreach((json_t *)events, name, size)
		if (folder_stat(run_folder(run), name, &st))
			note_lost(lost, name, (uint64_t)json_integer_value(size));
	return 0;
}

static int note_size(struct run *run, const char *file, void *ctx, struct err *e)
{
	struct stat st;

	(void)e;
	if (!folder_stat(run_folder(run), file, &st))
		json_object_set_new(ctx, file, json_integer((json_int_t)st.st_size));
	return 0;
}

json_t *train_log_closed_files(struct run *run, const struct train_job *j)
{
	json_t *lines = json_object(), *events = json_object();
	const char *file, *waiting;
	uint64_t size;

	for (unsigned k = 0; run_lines(run, k, &file, &size, &waiting); k++)
		json_object_set_new(lines, file, json_integer((json_int_t)size));
	for (uint32_t i = 0; i < j->restarts; i++)
		each_of_restart(run, j, i, note_size, events, NULL);
	return json_pack("{s:o,s:o}", "lines", lines, "events", events);
}
