/* SPDX-License-Identifier: Apache-2.0
 * A run's folder: made exclusively, its files written whole. */
#include "config.h"
#include "runtime/log/run.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/clock.h"
#include "runtime/log/latest.h"

enum { SUFFIX_MAX = 100000, NAME_SHOWN_MAX = 100, FOLDERS_OPEN_MAX = 16 };

/* A file of lines, and those of it that found no room yet. */
struct lines { char *file; struct buf waiting; };

struct run {
	char *path;
	int lock;                    /* -1: the file system has none */
	struct lines lines[RUN_LINES_MAX]; unsigned nlines;
};

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

/* ---- the lock ---- */

/* Who has it, as they wrote it there. */
static int is_taken(int fd, const char *path, struct err *e)
{
	char who[300] = "";
	ssize_t n = pread(fd, who, sizeof who - 1, 0);

	who[n > 0 ? n : 0] = 0;
	who[strcspn(who, "\n")] = 0;
	return err_set(e, -ERR_CANT_CREATE, "%s: another process trains it%s%s", path, *who ? ": " : "", who);
}

static void sign(int fd)
{
	char host[256] = "", who[300];
	int len;

	gethostname(host, sizeof host - 1);
	len = snprintf(who, sizeof who, "process %ld on %s\n", (long)getpid(), host);
	if (ftruncate(fd, 0) || pwrite(fd, who, (size_t)len, 0) != len)
		return;              /* it is for people only */
}

bool run_is_open(const char *path)
{
	struct buf file = BUF_INIT;
	bool is = false;
	int fd;

	buf_printf(&file, "%s/checkpoint/lock", path);
	fd = open(file.data, O_RDONLY | O_CLOEXEC);
	buf_release(&file);
	if (fd >= 0)
		is = flock(fd, LOCK_SH | LOCK_NB) != 0;
	else
		is = errno != ENOENT;
	if (fd >= 0)
		close(fd);
	return is;
}

/* Whoever only looks (run_is_open) has it for less than a moment. */
static int lock_patiently(int fd)
{
	static const struct timespec moment = { 0, 10000000 };
	int code = flock(fd, LOCK_EX | LOCK_NB);

	for (int k = 0; code && errno == EWOULDBLOCK && k < 5; k++) {
		nanosleep(&moment, NULL);
		code = flock(fd, LOCK_EX | LOCK_NB);
	}
	return code;
}

/* Where locks do not work there is none: *fd is -1 then. */
static int take_lock(const char *path, int *fd, struct err *e)
{
	struct buf file = BUF_INIT;
	int code = 0;

	buf_printf(&file, "%s/checkpoint", path);
	if (mkdir(file.data, 0777) && errno != EEXIST)
		code = err_set(e, -ERR_CANT_CREATE, "cannot create the folder %s: %s", file.data, strerror(errno));
	buf_str(&file, "/lock");
	*fd = code ? -1 : open(file.data, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (!code && *fd < 0)
		code = err_set(e, -ERR_CANT_CREATE, "cannot create %s: %s", file.data, strerror(errno));
	if (!code && lock_patiently(*fd)) {
		if (errno == EWOULDBLOCK)
			code = is_taken(*fd, path, e);
		close(*fd);
		*fd = -1;
	}
	if (*fd >= 0)
		sign(*fd);
	buf_release(&file);
	return code;
}

static int remove_temporary(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	if (kind == FTW_F && buf_is_temporary(path + at->base))
		unlink(path);
	return 0;
}

int run_reopen(const char *path, struct run **out, struct err *e)
{
	struct run *r;
	int lock, code = take_lock(path, &lock, e);

	if (code)
		return code;
	nftw(path, remove_temporary, FOLDERS_OPEN_MAX, FTW_PHYS);    /* of a process that was killed: nobody else writes here */
	r = mem_alloc(1, sizeof *r);
	*r = (struct run){ .path = mem_strdup(path), .lock = lock };
	*out = r;
	return 0;
}

int run_open(const char *dir, const char *name, struct run **out, struct err *e)
{
	struct buf base = BUF_INIT, path = BUF_INIT;
	int code = make_folders(dir, e);

	if (!code)
		code = make_own(dir, name, &base, &path, e);
	if (!code)
		code = run_reopen(path.data, out, e);
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

/* Someone has removed the folder of a training that runs: it is made again, so that what comes now is kept. */
static bool remake(struct run *r)
{
	struct buf path = BUF_INIT;
	bool gone;
	int lock;

	path_of(r, "checkpoint", &path);
	gone = access(path.data, F_OK) && errno == ENOENT;
	buf_release(&path);
	if (!gone || make_folders(r->path, NULL) || take_lock(r->path, &lock, NULL))
		return false;
	if (r->lock >= 0)
		close(r->lock);
	r->lock = lock;
	return true;
}

int run_write(struct run *r, const char *file, const struct buf *content, int sync, struct err *e)
{
	struct buf path = BUF_INIT;
	int code;

	path_of(r, file, &path);
	code = buf_write_file(content, path.data, sync, e);
	if (code && remake(r))
		code = buf_write_file(content, path.data, sync, e);
	buf_release(&path);
	return code;
}

int run_write_parts(struct run *r, const char *file, const struct file_parts *content, struct err *e)
{
	struct buf path = BUF_INIT;
	int code;

	path_of(r, file, &path);
	code = file_parts_write(content, path.data, e);
	if (code && remake(r))
		code = file_parts_write(content, path.data, e);
	buf_release(&path);
	return code;
}

/* ---- files of lines ---- */

/* All of it, or the file stays as it was. */
static int append_whole(int fd, const struct buf *b)
{
	struct stat st;
	int saved;

	if (fstat(fd, &st))
		return -1;
	if (!fd_write(fd, b->data, b->len))
		return 0;
	saved = errno;
	if (ftruncate(fd, st.st_size))
		saved = errno;
	errno = saved;
	return -1;
}

static struct lines *lines_of(struct run *r, const char *file)
{
	for (unsigned k = 0; k < r->nlines; k++)
		if (!strcmp(r->lines[k].file, file))
			return &r->lines[k];
	if (r->nlines == RUN_LINES_MAX)
		BUG("a run has more than %d files of lines", RUN_LINES_MAX);
	r->lines[r->nlines] = (struct lines){ .file = mem_strdup(file) };
	return &r->lines[r->nlines++];
}

static int put_waiting(struct run *r, struct lines *l, struct err *e)
{
	struct buf path = BUF_INIT;
	int fd, code = 0;

	if (!l->waiting.len)
		return 0;
	path_of(r, l->file, &path);
	do
		fd = open(path.data, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	while (fd < 0 && errno == ENOENT && remake(r));
	if (fd < 0)
		code = err_set(e, -ERR_CANT_CREATE, "cannot create %s: %s", path.data, strerror(errno));
	else if (append_whole(fd, &l->waiting))
		code = err_set(e, -ERR_IO, "cannot write %s: %s", path.data, strerror(errno));
	if (fd >= 0)
		close(fd);
	if (!code)
		buf_clear(&l->waiting);
	buf_release(&path);
	return code;
}

int run_append(struct run *r, const char *file, const struct buf *line, struct err *e)
{
	struct lines *l = lines_of(r, file);

	if (l->waiting.len + line->len < RUN_WAITING_MAX) {
		buf_add(&l->waiting, line->data, line->len);
		if (!line->len || line->data[line->len - 1] != '\n')
			buf_char(&l->waiting, '\n');
	}
	return put_waiting(r, l, e);
}

int run_flush(struct run *r, struct err *e)
{
	int first = 0;

	for (unsigned k = 0; k < r->nlines; k++) {
		int code = put_waiting(r, &r->lines[k], first ? NULL : e);

		first = first ? first : code;
	}
	return first;
}

bool run_lines(const struct run *r, unsigned k, const char **file, uint64_t *size, const char **waiting)
{
	struct buf path = BUF_INIT;
	struct stat st;

	if (k >= r->nlines)
		return false;
	path_of(r, r->lines[k].file, &path);
	*file = r->lines[k].file;
	*size = stat(path.data, &st) ? 0 : (uint64_t)st.st_size;
	*waiting = r->lines[k].waiting.len ? r->lines[k].waiting.data : NULL;
	buf_release(&path);
	return true;
}

int run_cut(struct run *r, const char *file, uint64_t size, const char *waiting, struct err *e)
{
	struct lines *l = lines_of(r, file);
	struct buf path = BUF_INIT;
	struct stat st;
	int code = 0;

	path_of(r, file, &path);
	if (!stat(path.data, &st) && (uint64_t)st.st_size > size && truncate(path.data, (off_t)size))
		code = err_set(e, -ERR_IO, "cannot shorten %s: %s", path.data, strerror(errno));
	buf_clear(&l->waiting);
	buf_str(&l->waiting, waiting ? waiting : "");
	buf_release(&path);
	return code;
}

/* ---- the end ---- */

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

int folder_remove(const char *path, struct err *e)
{
	if (nftw(path, remove_one, FOLDERS_OPEN_MAX, FTW_DEPTH | FTW_PHYS))
		return err_set(e, -ERR_IO, "cannot remove %s: %s", path, strerror(errno));
	return 0;
}

void run_point_latest(const struct run *r)
{
	char *real = realpath(r->path, NULL), *slash = real ? strrchr(real, '/') : NULL;

	if (slash && slash > real) {
		*slash = 0;
		latest_point(real, slash + 1);
	}
	free(real);
}

void run_finish(struct run *r)
{
	struct buf path = BUF_INIT;

	run_point_latest(r);
	path_of(r, "checkpoint", &path);
	folder_remove(path.data, NULL);      /* what stays is of no use, and does no harm */
	nftw(r->path, remove_temporary, FOLDERS_OPEN_MAX, FTW_PHYS);    /* that could not be removed at once */
	buf_release(&path);
}

int run_discard(struct run *r, struct err *e)
{
	return folder_remove(r->path, e);
}

void run_close(struct run *r)
{
	if (!r)
		return;
	for (unsigned k = 0; k < r->nlines; k++) {
		free(r->lines[k].file);
		buf_release(&r->lines[k].waiting);
	}
	if (r->lock >= 0)
		close(r->lock);
	free(r->path);
	free(r);
}
