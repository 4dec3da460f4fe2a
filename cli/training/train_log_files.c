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

/* One that the checkpoint does not know is removed. */
static int keep_or_remove(struct run *run, const char *file, const json_t *size, struct buf *lost, struct err *e)
{
	json_int_t want = json_integer_value(size);

	if (size)
		return cut_events_file(run, file, want > 0 ? want : 0, lost, e);
	return folder_unlink(run_folder(run), file)
		? err_set(e, -ERR_IO, "cannot remove %s/%s: %s", run_path(run), file, strerror(errno)) : 0;
}

/* The event files of a folder of the run ("": its own, else ending in a slash); no folder, no files. */
static int cut_events(struct run *run, const char *folder, const json_t *events, struct buf *lost, struct err *e)
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
			code = keep_or_remove(run, path.data, json_object_get(events, path.data), lost, e);
	}
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	return code;
}

/* Those of restart `restart`; all is removed when it has not begun. */
static int cut_restart(struct run *run, const struct train_job *j, uint32_t restart,
	const json_t *events, struct buf *lost, struct err *e)
{
	buf_auto folder = BUF_INIT;
	int code = 0;

	for (enum event_folder k = 0; !code && k < EVENT_FOLDERS; k++) {
		buf_clear(&folder);
		event_folder_path(j->restarts > 1, restart, k, &folder);
		buf_char(&folder, '/');
		code = cut_events(run, folder.data, events, lost, e);
	}
	return code;
}

/* Those that the checkpoint knows and that are gone. */
static void note_missing(struct run *run, const json_t *events, struct buf *lost)
{
	const char *name;
	json_t *size;
	struct stat st;

	json_object_foreach((json_t *)events, name, size)
		if (folder_stat(run_folder(run), name, &st))
			note_lost(lost, name, (uint64_t)json_integer_value(size));
}

int train_log_cut(struct run *run, const struct train_job *j, const json_t *resumed, const struct weights *from, struct buf *lost,
	struct err *e)
{
	const json_t *events = json_object_get(resumed, "events");
	int code = cut_lines(run, resumed, from, lost, e);

	if (!code)
		code = cut_events(run, "", events, lost, e);
	for (uint32_t i = j->resume->ndone; !code && i < j->restarts; i++)
		code = cut_restart(run, j, i, events, lost, e);
	if (!code)
		note_missing(run, events, lost);
	return code;
}
