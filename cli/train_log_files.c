/* SPDX-License-Identifier: Apache-2.0
 * Cutting the files of a run to where its checkpoint was, so that nothing is in them twice. */
#include "config.h"
#include "cli/train_log.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/train/state.h"

/* metrics.jsonl and history.csv. */
static int cut_lines(struct run *run, const json_t *resumed, const struct weights *from, struct err *e)
{
	static const char *const name[] = { "metrics.jsonl", "history.csv" };
	const json_t *lines = json_object_get(resumed, "lines");
	struct buf key = BUF_INIT, waiting = BUF_INIT;
	int code = 0;

	for (size_t k = 0; !code && k < sizeof name / sizeof *name; k++) {
		json_int_t size = json_integer_value(json_object_get(lines, name[k]));

		buf_clear(&key);
		buf_clear(&waiting);
		buf_printf(&key, "lines/%s", name[k]);
		code = run_cut(run, name[k], size > 0 ? (uint64_t)size : 0,
			train_log_unpack(from, key.data, &waiting) ? waiting.data : NULL, e);
	}
	buf_release(&key);
	buf_release(&waiting);
	return code;
}

static int cut_events_file(const char *path, const json_t *size, struct err *e)
{
	struct stat st;
	json_int_t want = json_integer_value(size);

	if (!size)
		return unlink(path) ? err_set(e, -ERR_IO, "cannot remove %s: %s", path, strerror(errno)) : 0;
	if (stat(path, &st) || want < 0 || st.st_size <= want)
		return 0;
	return truncate(path, (off_t)want) ? err_set(e, -ERR_IO, "cannot shorten %s: %s", path, strerror(errno)) : 0;
}

/* The event files of a folder of the run ("": its own); no folder, no files. */
static int cut_events(struct run *run, const char *folder, const json_t *events, struct err *e)
{
	struct buf path = BUF_INIT;
	size_t base = strlen(run_path(run)) + 1;
	DIR *d;
	int code = 0;

	buf_printf(&path, "%s/%s", run_path(run), folder);
	d = opendir(path.data);
	for (struct dirent *f; d && !code && (f = readdir(d)); ) {
		path.len = base + strlen(folder);
		buf_str(&path, f->d_name);
		if (!strncmp(f->d_name, "events.out.", strlen("events.out.")))
			code = cut_events_file(path.data, json_object_get(events, path.data + base), e);
	}
	if (d)
		closedir(d);
	buf_release(&path);
	return code;
}

/* Those of start `start`; all is removed when it has not begun. */
static int cut_start(struct run *run, const struct train_job *j, uint32_t start, const json_t *events, struct err *e)
{
	struct buf folder = BUF_INIT;
	int code;

	if (j->restarts > 1)
		buf_printf(&folder, "start-%u/", start + 1);
	buf_str(&folder, "train/");
	code = cut_events(run, folder.data, events, e);
	buf_clear(&folder);
	if (j->restarts > 1)
		buf_printf(&folder, "start-%u/", start + 1);
	buf_str(&folder, "validation/");
	if (!code)
		code = cut_events(run, folder.data, events, e);
	buf_release(&folder);
	return code;
}

int train_log_cut(struct run *run, const struct train_job *j, const json_t *resumed, const struct weights *from, struct err *e)
{
	const json_t *events = json_object_get(resumed, "events");
	int code = cut_lines(run, resumed, from, e);

	if (!code)
		code = cut_events(run, "", events, e);
	for (uint32_t i = j->resume->ndone; !code && i < j->restarts; i++)
		code = cut_start(run, j, i, events, e);
	return code;
}
