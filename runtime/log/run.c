/* SPDX-License-Identifier: Apache-2.0
 * A run's folder: made exclusively, its files written whole. */
#include "runtime/log/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/json.h"
#include "runtime/base/system/cgroup.h"
#include "runtime/base/system/clock.h"
#include "runtime/base/system/folder.h"
#include "runtime/log/latest.h"

enum { SUFFIX_MAX = 100000, NAME_SHOWN_MAX = 100, LINE_LOOKED_MAX = 1 << 16 };

/* A file of lines, and those of them that could not be written yet. */
struct lines { char *file; struct buf waiting; };

struct run {
	char *path;
	int folder;                  /* everything below it is reached from here: folder.h */
	int lock;                    /* -1: none */
	char *other_writer;          /* NULL: none is known */
	json_t *unsynced;            /* a set: names of files written since run_sync */
	json_t *placed;              /* of files whose entries are synced: their inodes */
	bool entered;                /* the entries of the folder itself and of those above it are synced */
	struct lines lines[RUN_LINES_MAX]; unsigned nlines;
};

static const char other_place[] = "; --set log.dir=FOLDER names another place";

/* The folder and all above it. hint: what to do if that fails, or "". */
static int make_folders(const char *dir, const char *hint, struct err *e)
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
			code = err_set(e, -ERR_CANT_CREATE, "cannot create the folder %s: %s%s",
				path, strerror(errno), hint);
		if (at)
			*at = '/';
	}
	free(path);
	return code;
}

int run_make_parents(const char *path, struct err *e)
{
	const char *slash = strrchr(path, '/');
	buf_auto dir = BUF_INIT;

	if (!slash || slash == path)
		return 0;
	buf_add(&dir, path, (size_t)(slash - path));
	return make_folders(dir.data, "", e);
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
			return err_set(e, -ERR_CANT_CREATE, "cannot create the folder %s: %s%s",
				path->data, strerror(errno), other_place);
	}
	return err_set(e, -ERR_CANT_CREATE, "cannot create %s: %d folders of that name are there", path->data, SUFFIX_MAX);
}

/* ---- the lock ---- */

enum { SIGNATURE_MAX = 300, HOST_MAX = 256 };

/* The owner of the lock, as it has written its name there; empty: it has ended. */
static void read_signature(int fd, char who[SIGNATURE_MAX])
{
	ssize_t n = pread(fd, who, SIGNATURE_MAX - 1, 0);

	who[n > 0 ? n : 0] = 0;
	who[strcspn(who, "\n")] = 0;
}

static void program_of(long pid, char name[SYSTEM_LINE_BYTES])
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%ld/comm", pid);
	if (!system_line(path, "", name))
		*name = 0;
}

enum owner { OWNER_ENDED, OWNER_RUNS, OWNER_REMOTE };

/* Where locks do not work: only processes of this machine can be looked up. */
static enum owner owner_of(const char *who)
{
	char host[HOST_MAX] = "", here[HOST_MAX] = "", program[SYSTEM_LINE_BYTES],
	     own[SYSTEM_LINE_BYTES];
	long pid;

	if (sscanf(who, "process %ld on %255s", &pid, host) != 2)
		return OWNER_ENDED;
	gethostname(here, sizeof here - 1);
	if (strcmp(host, here) != 0)
		return OWNER_REMOTE;
	program_of(pid, program);
	program_of((long)getpid(), own);
	return pid != (long)getpid() && *program && !strcmp(program, own) ? OWNER_RUNS : OWNER_ENDED;
}

static void sign(int fd)
{
	char host[HOST_MAX] = "", who[SIGNATURE_MAX];

	gethostname(host, sizeof host - 1);
	int len = snprintf(who, sizeof who, "process %ld on %s\n", (long)getpid(), host);
	if (ftruncate(fd, 0) || pwrite(fd, who, (size_t)len, 0) != len)
		return;              /* it is for people only */
}

bool run_is_open(const char *path)
{
	fd_auto folder = folder_open(path, true);
	fd_auto fd = folder < 0 ? -1 : folder_file(folder, "checkpoint/lock", O_RDONLY);
	bool is = fd < 0 && errno != ENOENT && errno != ELOOP && errno != ENXIO;
	char who[SIGNATURE_MAX];

	if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB)) {
		bool held = errno == EWOULDBLOCK;

		read_signature(fd, who);
		is = held || owner_of(who) != OWNER_ENDED;
	}
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

/* A lock is held by whoever can open its file. So those who may write to the run's folder may open it, and nobody else: a
 * reader could otherwise keep the owner from continuing the run. */
static void set_lock_access(int folder, int fd)
{
	struct stat st;
	mode_t write = folder_stat(folder, "checkpoint", &st) ? 0 : st.st_mode & (S_IWGRP | S_IWOTH);

	if (fchmod(fd, S_IRUSR | S_IWUSR | write | write << 1))
		return; /* another user's: its owner has set the mode */
}

/* Where locks do not work, a process of this machine that has signed and runs holds it; *other: the signature of one of another
 * machine, which may run. */
static int own_lock(int fd, const char *path, char **other, struct err *e)
{
	bool works = !lock_patiently(fd), held = !works && errno == EWOULDBLOCK;
	char who[SIGNATURE_MAX];

	if (works)
		return 0;
	read_signature(fd, who);
	enum owner owner = owner_of(who);
	if (held || owner == OWNER_RUNS)
		return err_set(e, -ERR_CANT_CREATE, "%s: another process trains it%s%s", path,
			*who ? ": " : "", who);
	if (owner == OWNER_REMOTE)
		*other = mem_strdup(who);
	return 0;
}

static int take_lock(int folder, const char *path, int *fd, char **other, struct err *e)
{
	*fd = -1;
	*other = NULL;
	if (folder_parents(folder, "checkpoint/lock"))
		return err_set(e, -ERR_CANT_CREATE, "cannot create the folder %s/checkpoint: %s", path, folder_reason(errno));
	*fd = folder_file_mode(folder, "checkpoint/lock", O_RDWR | O_CREAT, S_IRUSR | S_IWUSR);
	if (*fd < 0)
		return err_set(e, -ERR_CANT_CREATE, "cannot create %s/checkpoint/lock: %s", path, folder_reason(errno));
	set_lock_access(folder, *fd);
	int code = own_lock(*fd, path, other, e);
	if (!code) {
		sign(*fd);
		return 0;
	}
	close(*fd);
	*fd = -1;
	return code;
}

/* Without a signature: where locks do not work, the end of this process shows by that. */
static void give_lock_back(int fd)
{
	if (fd < 0)
		return;
	ssize_t ignored = ftruncate(fd, 0);

	(void)ignored;
	close(fd);
}

static int remove_temporary(void *ctx, int at, const char *name, const char *path, const struct stat *st)
{
	(void)ctx;
	(void)path;
	if (S_ISREG(st->st_mode) && buf_is_temporary(name))
		unlinkat(at, name, 0);
	return 0;
}

/* Takes the descriptor. */
static int take_folder(const char *path, int folder, struct run **out, struct err *e)
{
	char *other;
	int lock, code = take_lock(folder, path, &lock, &other, e);

	if (code) {
		close(folder);
		return code;
	}
	folder_walk(folder, remove_temporary, NULL);    /* of a process that was killed: no other one writes here */
	struct run *r = mem_alloc(1, sizeof *r);
	*r = (struct run){ .path = mem_strdup(path),
		.folder = folder,
		.lock = lock,
		.other_writer = other,
		.unsynced = json_object(),
		.placed = json_object() };
	*out = r;
	return 0;
}

int run_reopen(const char *path, struct buf *foreign, struct run **out, struct err *e)
{
	int folder = folder_open(path, !foreign);

	*out = NULL;
	if (folder < 0)
		return err_set(e, -ERR_NO_INPUT, "cannot open the folder %s: %s", path, strerror(errno));
	if (foreign && !folder_is_own(folder, foreign)) {
		close(folder);
		return 0;
	}
	return take_folder(path, folder, out, e);
}

int run_open(const char *dir, const char *name, struct run **out, struct err *e)
{
	buf_auto base = BUF_INIT, path = BUF_INIT;
	int code = make_folders(dir, other_place, e), folder = -1;

	if (!code)
		code = make_own(dir, name, &base, &path, e);
	if (!code && (folder = folder_open(path.data, false)) < 0)
		code = err_set(e, -ERR_CANT_CREATE, "cannot open the folder %s: %s", path.data, strerror(errno));
	return code ? code : take_folder(path.data, folder, out, e);
}

const char *run_path(const struct run *r) { return r->path; }
const char *run_other_writer(const struct run *r) { return r->other_writer; }

/* Does a path of the configuration stay in the run's folder?  Another one is taken as the user wrote it. */
static bool is_inside(const char *file)
{
	for (const char *at = file; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
		if (!strncmp(at, "..", 2) && (at[2] == '/' || !at[2]))
			return false;
	return *file != '/';
}

void run_full_path(const struct run *r, const char *file, struct buf *path)
{
	if (r && *file != '/')
		buf_printf(path, "%s/", r->path);
	buf_str(path, file);
}

int run_cannot(const struct run *r, const char *what, const char *file, int code, struct err *e)
{
	int reason = errno;
	buf_auto path = BUF_INIT;

	run_full_path(r, file, &path);
	err_set(e, code, "cannot %s %s: %s", what, path.data, folder_reason(reason));
	errno = reason;
	return code;
}

/* Someone has removed the folder of a training that runs: it is made again, so that what comes now is kept. */
static bool remake(struct run *r)
{
	struct stat st;
	int folder, lock;
	char *other;

	if (!folder_stat(r->folder, "checkpoint", &st) || errno != ENOENT)
		return false;
	if (!fstat(r->folder, &st) && !st.st_nlink) {
		if (make_folders(r->path, "", NULL) || (folder = folder_open(r->path, false)) < 0)
			return false;
		close(r->folder);
		r->folder = folder;
		r->entered = false;
	}
	if (take_lock(r->folder, r->path, &lock, &other, NULL))
		return false;
	free(other);
	fd_close(r->lock);
	r->lock = lock;
	return true;
}

void run_written(struct run *r, const char *file)
{
	if (r)
		json_object_set_new(r->unsynced, file, json_true());
}

static void sync_folder(const char *path)
{
	fd_auto fd = folder_open(path, true);

	if (fd >= 0 && fsync(fd)) /* some file systems cannot */
		errno = 0;
}

/* The entries of the run's folder and of those above it, up to where its path begins: once. */
static void sync_entry(struct run *r)
{
	buf_auto path = BUF_INIT;
	char *slash = NULL;

	if (r->entered)
		return;
	r->entered = true;
	buf_str(&path, r->path);
	while ((slash = strrchr(path.data, '/')) && slash > path.data) {
		*slash = 0;
		sync_folder(path.data);
	}
	sync_folder(slash ? "/" : ".");
}

static int replace(struct run *r, const char *file, int (*put)(const void *what, int fd), const void *what, int sync, struct err *e)
{
	buf_auto path = BUF_INIT;

	if (r && is_inside(file)) {
		folder_parents(r->folder, file);        /* what fails here fails again below, and is reported there */
		return folder_replace(r->folder, r->path, file, put, what, sync, e);
	}
	run_full_path(r, file, &path);
	int code = run_make_parents(path.data, e);
	return code ? code : file_replace(path.data, put, what, sync, e);
}

static int replace_always(struct run *r, const char *file, int (*put)(const void *what, int fd), const void *what, int sync,
	struct err *e)
{
	int code = replace(r, file, put, what, sync, e);

	if (code && r && remake(r))
		code = replace(r, file, put, what, sync, e);
	if (!code && !sync)
		run_written(r, file);
	return code;
}

int run_write(struct run *r, const char *file, const struct buf *content, int sync, struct err *e)
{
	return replace_always(r, file, buf_put, content, sync, e);
}

int run_write_parts(struct run *r, const char *file, const struct file_parts *content, struct err *e)
{
	return replace_always(r, file, file_parts_put, content, 1, e);
}

static int open_file(struct run *r, const char *file, int flags)
{
	buf_auto path = BUF_INIT;

	if (r && is_inside(file)) {
		if (flags & O_CREAT)
			folder_parents(r->folder, file);
		return folder_file(r->folder, file, flags);
	}
	run_full_path(r, file, &path);
	if (flags & O_CREAT)
		run_make_parents(path.data, NULL);
	return open(path.data, flags | O_CLOEXEC, 0666);
}

int run_open_file(struct run *r, const char *file, int flags, struct err *e)
{
	int fd = open_file(r, file, flags);

	if (fd < 0 && r && (flags & O_CREAT) && errno == ENOENT && remake(r))
		fd = open_file(r, file, flags);
	if (fd < 0)
		return flags & O_CREAT ? run_cannot(r, "create", file, -ERR_CANT_CREATE, e)
				       : run_cannot(r, "open", file, -ERR_NO_INPUT, e);
	if ((flags & O_ACCMODE) != O_RDONLY)
		run_written(r, file);
	return fd;
}

int run_read(const struct run *r, const char *file, size_t max_bytes, struct buf *b, struct err *e)
{
	return folder_read(b, r->folder, r->path, file, max_bytes, e);
}

int run_unlink(struct run *r, const char *file)
{
	buf_auto path = BUF_INIT;

	if (is_inside(file))
		return folder_unlink(r->folder, file);
	run_full_path(r, file, &path);
	return unlink(path.data);
}

int run_folder(const struct run *r) { return r->folder; }

/* ---- to the disk ---- */

/* A file that no longer exists, a pipe and a device need no sync. O_NONBLOCK: opening a pipe does not wait for its writer. */
static int sync_file(struct run *r, const char *file)
{
	int fd = open_file(r, file, O_RDONLY | O_NONBLOCK), code;
	struct stat st;

	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	code = fsync(fd);
	if (code && (errno == EINVAL || errno == EROFS))
		code = 0;
	if (fstat(fd, &st))
		code = -1;
	if (close(fd) || code)
		return -1;
	if (!is_inside(file)
		|| json_integer_value(json_object_get(r->placed, file)) == (json_int_t)st.st_ino)
		return 0;
	code = folder_sync(r->folder, file);
	if (!code)
		json_object_set_new(r->placed, file, json_integer((json_int_t)st.st_ino));
	return code;
}

int run_sync(struct run *r, struct err *e)
{
	const char *file;
	json_t *value;
	void *next;
	int code = 0;

	json_object_foreach_safe(r->unsynced, next, file, value) {
		if (!sync_file(r, file))
			json_object_del(r->unsynced, file);
		else if (!code)
			code = run_cannot(r, "sync", file, -ERR_IO, e);
	}
	sync_entry(r);
	return code;
}

/* ---- files of lines ---- */

int run_append_whole(int fd, const struct buf *b)
{
	struct stat st;

	if (fstat(fd, &st))
		return -1;
	if (!fd_write(fd, b->data, b->len))
		return 0;
	int saved = errno;
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
	if (!l->waiting.len)
		return 0;
	fd_auto fd = run_open_file(r, l->file, O_WRONLY | O_APPEND | O_CREAT, e);
	if (fd < 0)
		return fd;
	if (run_append_whole(fd, &l->waiting))
		return run_cannot(r, "write", l->file, -ERR_IO, e);
	buf_clear(&l->waiting);
	return 0;
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
	struct stat st;

	if (k >= r->nlines)
		return false;
	*file = r->lines[k].file;
	*size = folder_stat(r->folder, r->lines[k].file, &st) ? 0 : (uint64_t)st.st_size;
	*waiting = r->lines[k].waiting.len ? r->lines[k].waiting.data : NULL;
	return true;
}

/* Where the last whole line ends. */
static uint64_t whole_lines(int fd, uint64_t size)
{
	char end[LINE_LOOKED_MAX];
	uint64_t from = size > sizeof end ? size - sizeof end : 0;
	ssize_t n = pread(fd, end, (size_t)(size - from), (off_t)from);

	while (n > 0 && end[n - 1] != '\n')
		n--;
	return n > 0 ? from + (uint64_t)n : from;
}

int run_cut(struct run *r, const char *file, uint64_t size, const char *waiting, uint64_t *lost, struct err *e)
{
	struct lines *l = lines_of(r, file);
	fd_auto fd = folder_file(r->folder, file, O_RDWR);
	int code = 0;
	struct stat st = { .st_size = 0 };
	uint64_t keep = size;

	*lost = 0;
	if ((fd < 0 && errno != ENOENT) || (fd >= 0 && fstat(fd, &st)))
		code = run_cannot(r, "shorten", file, -ERR_IO, e);
	if (!code && (uint64_t)st.st_size < size) {
		keep = fd < 0 ? 0 : whole_lines(fd, (uint64_t)st.st_size);
		*lost = size - keep;
	}
	if (!code && fd >= 0 && (uint64_t)st.st_size > keep && ftruncate(fd, (off_t)keep))
		code = run_cannot(r, "shorten", file, -ERR_IO, e);
	buf_clear(&l->waiting);
	buf_str(&l->waiting, waiting ? waiting : "");
	return code;
}

/* ---- the end ---- */

int run_point_latest(const struct run *r, struct err *e)
{
	char *real = realpath(r->path, NULL), *slash = real ? strrchr(real, '/') : NULL;
	int code = 0;

	if (slash && slash > real) {
		*slash = 0;
		code = latest_point(real, slash + 1, e);
	}
	free(real);
	return code;
}

void run_finish(struct run *r)
{
	run_point_latest(r, NULL);
	folder_remove(r->folder, "checkpoint", NULL);   /* what stays is of no use, and does no harm */
	folder_walk(r->folder, remove_temporary, NULL);         /* that could not be removed at once */
}

int run_discard(struct run *r, struct err *e) { return folder_remove(AT_FDCWD, r->path, e); }

void run_close(struct run *r)
{
	if (!r)
		return;
	for (unsigned k = 0; k < r->nlines; k++) {
		free(r->lines[k].file);
		buf_release(&r->lines[k].waiting);
	}
	give_lock_back(r->lock);
	close(r->folder);
	json_decref(r->unsynced);
	json_decref(r->placed);
	free(r->other_writer);
	free(r->path);
	free(r);
}
