/* SPDX-License-Identifier: Apache-2.0
 * A run's folder: made exclusively, its files written whole, `latest` moved in one step. */
#include "config.h"
#include "runtime/log/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/clock.h"

enum { SUFFIX_MAX = 100000, NAME_SHOWN_MAX = 100 };

struct run { char *path; };

/* The folder and all above it. */
static int make_folders(const char *dir, struct err *e)
{
	char *path, *at;
	int code = 0;

	if (!*dir)
		return err_set(e, -ERR_CANT_CREATE, "the folder for runs has no name; `.` is the current one");
	path = at = mem_strdup(dir);
	while (!code && at) {
		at = strchr(at + 1, '/');
		if (at)
			*at = '\0';
		if (mkdir(path, 0777) && errno != EEXIST)
			code = err_set(e, -ERR_CANT_CREATE, "cannot create the folder %s: %s", path, strerror(errno));
		if (at)
			*at = '/';
	}
	free(path);
	return code;
}

int run_make_parents(const char *path, struct err *e)
{
	const char *slash = strrchr(path, '/');
	struct buf dir = BUF_INIT;
	int code;

	if (!slash || slash == path)
		return 0;
	buf_add(&dir, path, (size_t)(slash - path));
	code = make_folders(dir.data, e);
	buf_release(&dir);
	return code;
}

/* A name that is one plain component of a path. */
static void add_name(struct buf *b, const char *name)
{
	for (size_t i = 0; name[i] && i < NAME_SHOWN_MAX; i++)
		buf_char(b, name[i] == '/' || (unsigned char)name[i] <= ' ' || name[i] == 0x7f ? '_' : name[i]);
	if (!*name)
		buf_str(b, "run");
}

/* <name>-<stamp>, then -2, -3, ... until the folder is ours; the last component in base. */
static int make_own(const char *dir, const char *name, struct buf *base, struct buf *path, struct err *e)
{
	char stamp[32];

	clock_stamp(stamp, sizeof stamp);
	for (int k = 1; k <= SUFFIX_MAX; k++) {
		buf_clear(base);
		add_name(base, name);
		buf_printf(base, "-%s", stamp);
		if (k > 1)
			buf_printf(base, "-%d", k);
		buf_clear(path);
		buf_printf(path, "%s/%s", dir, base->data);
		if (!mkdir(path->data, 0777))
			return 0;
		if (errno != EEXIST)
			return err_set(e, -ERR_CANT_CREATE, "cannot create the folder %s: %s", path->data, strerror(errno));
	}
	return err_set(e, -ERR_CANT_CREATE, "cannot create %s: %d folders of that name are there", path->data, SUFFIX_MAX);
}

/* A convenience: where links are impossible, or `latest` is something else, there is none. */
static void point_latest(const char *dir, const char *base)
{
	struct buf temporary = BUF_INIT, latest = BUF_INIT;

	buf_printf(&temporary, "%s/.latest-%s", dir, base);
	buf_printf(&latest, "%s/latest", dir);
	unlink(temporary.data);
	if (!symlink(base, temporary.data) && rename(temporary.data, latest.data))
		unlink(temporary.data);
	buf_release(&temporary);
	buf_release(&latest);
}

int run_open(const char *dir, const char *name, struct run **out, struct err *e)
{
	struct buf base = BUF_INIT, path = BUF_INIT;
	int code = make_folders(dir, e);

	if (!code)
		code = make_own(dir, name, &base, &path, e);
	if (!code) {
		point_latest(dir, base.data);
		*out = mem_alloc(1, sizeof **out);
		(*out)->path = buf_take(&path);
	}
	buf_release(&base);
	buf_release(&path);
	return code;
}

const char *run_path(const struct run *r)
{
	return r->path;
}

static void path_of(const struct run *r, const char *file, struct buf *path)
{
	buf_printf(path, "%s/%s", r->path, file);
}

int run_write(struct run *r, const char *file, const struct buf *content, int sync, struct err *e)
{
	struct buf path = BUF_INIT;
	int code;

	path_of(r, file, &path);
	code = buf_write_file(content, path.data, sync, e);
	buf_release(&path);
	return code;
}

static int write_line(int fd, const struct buf *line)
{
	size_t at = 0;
	ssize_t put;

	while (at < line->len) {
		put = write(fd, line->data + at, line->len - at);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -1;
		at += (size_t)put;
	}
	return 0;
}

int run_append(struct run *r, const char *file, const struct buf *line, struct err *e)
{
	struct buf path = BUF_INIT, whole = BUF_INIT;
	int fd, code = 0;

	path_of(r, file, &path);
	buf_add(&whole, line->data, line->len);
	if (!whole.len || whole.data[whole.len - 1] != '\n')
		buf_char(&whole, '\n');
	fd = open(path.data, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		code = err_set(e, -ERR_CANT_CREATE, "cannot create %s: %s", path.data, strerror(errno));
	else if (write_line(fd, &whole))
		code = err_set(e, -ERR_IO, "cannot write %s: %s", path.data, strerror(errno));
	if (fd >= 0 && close(fd) && !code)
		code = err_set(e, -ERR_IO, "cannot write %s: %s", path.data, strerror(errno));
	buf_release(&whole);
	buf_release(&path);
	return code;
}

void run_close(struct run *r)
{
	if (!r)
		return;
	free(r->path);
	free(r);
}
