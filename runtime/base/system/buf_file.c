/* SPDX-License-Identifier: Apache-2.0
 * Whole files into a buffer, and a buffer into a file in one atomic step. */
#include "runtime/base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/input_files.h"

enum { CHUNK = 1 << 16, TEMPORARY_TRIES = 100, LINKS_MAX = 40 };
enum { WRITER_WAIT_MS = 5000, WRITER_POLL_MS = 10, NO_WRITER = -2 };

static int too_large(const char *path, size_t max_bytes, struct err *e)
{
	return err_set(e, -ERR_BAD_DATA, "%s is larger than the limit of %zu bytes", path, max_bytes);
}

static int cannot_read(const char *path, struct err *e)
{
	int why = errno;

	err_set(e, -ERR_NO_INPUT, "cannot read %s: %s", path, strerror(why));
	if (why == ENOENT && e)
		input_hint(path, e);
	return -ERR_NO_INPUT;
}

/* The file's memory; the size is a promise only for regular files, and what promises none ends sooner. */
static int first_memory(struct buf *b, int fd, const char *path, size_t *max_bytes, struct err *e)
{
	struct stat st;
	size_t size = CHUNK;

	if (fstat(fd, &st))
		return cannot_read(path, e);
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return cannot_read(path, e);
	}
	if (S_ISREG(st.st_mode) && st.st_size > 0) {
		if ((uintmax_t)st.st_size > *max_bytes)
			return too_large(path, *max_bytes, e);
		size = (size_t)st.st_size + 1;   /* one more sees the end without growing */
	} else if (*max_bytes > BUF_STREAM_MAX) {
		*max_bytes = BUF_STREAM_MAX;
	}
	b->data = mem_try(size + 1, 1);
	if (!b->data)
		return err_set(e, -ERR_CONFIG, "no memory for the %zu bytes of %s", size, path);
	b->cap = size + 1;
	return 0;
}

static int read_all(struct buf *b, int fd, const char *path, size_t max_bytes, struct err *e)
{
	for (;;) {
		if (b->len + 1 >= b->cap) {
			char *more = realloc(b->data, 2 * b->cap);
			if (!more)
				return err_set(e, -ERR_CONFIG, "no memory for the contents of %s", path);
			b->data = more;
			b->cap *= 2;
		}
		ssize_t got = read(fd, b->data + b->len, b->cap - b->len - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return cannot_read(path, e);
		if (!got)
			break;
		b->len += (size_t)got;
		if (b->len > max_bytes)
			return too_large(path, max_bytes, e);
	}
	b->data[b->len] = '\0';
	return 0;
}

/* Waits until the pipe has bytes or a writer, which tee(2) finds without taking a byte: 0, NO_WRITER, or -1 and errno. */
static int await_writer(int pipe_fd)
{
	int scratch[2], code = 0;

	if (pipe2(scratch, O_CLOEXEC))
		return -1;
	for (int ms = 0; !code && !tee(pipe_fd, scratch[1], 1, SPLICE_F_NONBLOCK);
		ms += WRITER_POLL_MS)
		code = ms < WRITER_WAIT_MS ? poll(NULL, 0, WRITER_POLL_MS) : NO_WRITER;
	fd_close(scratch[0]);
	fd_close(scratch[1]);
	return code;
}

/* The descriptor, NO_WRITER, or -1 and errno. open(2) of a named pipe would wait for a writer without end. */
static int open_input(const char *path)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY;
	struct stat st;

	if (stat(path, &st) || !S_ISFIFO(st.st_mode))
		return open(path, flags);
	int fd = open(path, flags | O_NONBLOCK), code = fd < 0 ? fd : await_writer(fd);
	if (!code)
		code = fcntl(fd, F_SETFL, 0);
	if (code)
		fd_close(fd);
	return code ? code : fd;
}

/* The file, or the standard input, which may be a socket, so that /dev/stdin could not be opened. */
int buf_open_file(const char *path, int *fd, struct err *e)
{
	int code = 0;

	if (input_is_stdin(path))
		code = inputs_take_stdin(e);
	if (code)
		return code;
	*fd = input_is_stdin(path) ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open_input(path);
	if (*fd == NO_WRITER)
		return err_set(e, -ERR_NO_INPUT,
			"cannot read %s: it is a named pipe, and no program has opened it to write for %d s",
			path, WRITER_WAIT_MS / 1000);
	if (*fd < 0)
		return cannot_read(path, e);
	inputs_note(*fd, path);
	return 0;
}

/* The end of reading: *b becomes what is read, or stays as it was. */
static int replace_by(struct buf *b, struct buf *read, int code)
{
	buf_release(code ? read : b);
	if (!code)
		*b = *read;
	return code;
}

int buf_read_fd(struct buf *b, int fd, const char *path, size_t max_bytes, struct err *e)
{
	struct buf new = BUF_INIT;
	int code = first_memory(&new, fd, path, &max_bytes, e);

	return replace_by(b, &new, code ? code : read_all(&new, fd, path, max_bytes, e));
}

int buf_read_file(struct buf *b, const char *path, size_t max_bytes, struct err *e)
{
	fd_auto fd = -1;
	int code = buf_open_file(path, &fd, e);

	return code ? code : buf_read_fd(b, fd, input_name(path), max_bytes, e);
}

/* Up to len bytes from `at` on, fewer at the end of the file. */
static int read_at(struct buf *b, int fd, uint64_t at, size_t len)
{
	ssize_t got = 1;

	b->data = mem_try(len + 1, 1);
	if (!b->data) {
		errno = ENOMEM;
		return -1;
	}
	b->cap = len + 1;
	while (b->len < len && got) {
		got = pread(fd, b->data + b->len, len - b->len, (off_t)(at + b->len));
		if (got < 0 && errno != EINTR)
			return -1;
		b->len += got > 0 ? (size_t)got : 0;
	}
	return 0;
}

int buf_read_part_fd(struct buf *b, int fd, const char *path, size_t len, bool tail, uint64_t *size, struct err *e)
{
	struct buf new = BUF_INIT;
	struct stat st;
	int code = 0;

	*size = 0;
	if (fstat(fd, &st))
		return cannot_read(path, e);
	if (S_ISREG(st.st_mode)) {
		*size = (uint64_t)st.st_size;
		if (read_at(&new, fd, tail && *size > len ? *size - len : 0, len))
			code = cannot_read(path, e);
	}
	return replace_by(b, &new, code);
}

int buf_read_part(struct buf *b, const char *path, size_t len, bool tail, uint64_t *size, struct err *e)
{
	struct stat st;

	*size = 0;
	/* Opening a pipe and closing it would end its writer; there are no parts of it to read. */
	if (input_is_stdin(path) || (stat(path, &st) == 0 && !S_ISREG(st.st_mode))) {
		buf_clear(b);
		return 0;
	}
	fd_auto fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return cannot_read(path, e);
	inputs_note(fd, path);
	return buf_read_part_fd(b, fd, path, len, tail, size, e);
}

bool text_among(const char *text, const char *const *words, size_t n)
{
	while (n && strcmp(words[n - 1], text))
		n--;
	return n > 0;
}

bool path_ends(const char *path, const char *ending)
{
	size_t n = strlen(path), k = strlen(ending);

	return n >= k && !strcmp(path + n - k, ending);
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void path_folder(const char *path, struct buf *out)
{
	const char *slash = strrchr(path, '/');

	if (slash)
		buf_add(out, path, slash == path ? 1 : (size_t)(slash - path));
	else
		buf_str(out, ".");
}

int fd_write(int fd, const void *bytes, size_t len)
{
	const char *p = bytes;
	ssize_t put;

	for (; len; p += put, len -= (size_t)put) {
		put = write(fd, p, len);
		if (put < 0 && errno == EINTR)
			put = 0;
		if (put < 0)
			return -1;
	}
	return 0;
}

void fd_close(int fd)
{
	int saved = errno;

	if (fd >= 0)
		close(fd);
	errno = saved;
}

/* Give the file the group and the mode of the one that it replaces. A file that cannot have that group grants it nothing beyond what
 * all others may do. What cannot be changed stays: some file systems know neither. */
static void keep_access(int fd, const struct stat *replaced)
{
	mode_t mode = replaced->st_mode & 0777;
	struct stat st;

	if (!fstat(fd, &st) && st.st_gid != replaced->st_gid && fchown(fd, (uid_t)-1, replaced->st_gid))
		mode &= 0707 | (mode & 07) << 3;
	if (fchmod(fd, mode))
		return;
}

/* A new file beside `path`, which is relative to the folder `at`; its name in name[PATH_MAX]. */
static int open_temporary(int at, const char *path, mode_t mode, char *name)
{
	int fd = -1;

	for (int i = 0; i < TEMPORARY_TRIES && fd < 0; i++) {
		if (snprintf(name, PATH_MAX, "%s.tmp-%ld-%d", path, (long)getpid(), i) >= PATH_MAX) {
			errno = ENAMETOOLONG;
			return -1;
		}
		fd = openat(at, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (fd < 0 && errno != EEXIST)
			return -1;
	}
	return fd;
}

bool buf_is_temporary(const char *name)
{
	static const char mark[] = ".tmp-";
	const char *at = name, *found = NULL;
	int end = -1;
	long pid;
	int k;

	while ((at = strstr(at, mark)) != NULL)
		found = at++;
	if (found && sscanf(found + sizeof mark - 1, "%ld-%d%n", &pid, &k, &end) < 2)
		end = -1;
	return end > 0 && !found[sizeof mark - 1 + (size_t)end];
}

/* The folder of `path`, open to be synced. */
static int open_folder_of(const char *path)
{
	buf_auto folder = BUF_INIT;

	path_folder(path, &folder);
	return open(folder.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Behind the rename: what fails here cannot be undone. */
static int sync_folder(int fd, const char *path, struct err *e)
{
	/* Some file systems cannot sync a folder, and say so. */
	if (!fsync(fd) || errno == EINVAL || errno == EROFS)
		return 0;
	return err_set(e, -ERR_IO, "%s is written, but its folder cannot be synced (%s): a power cut may undo it", path,
		strerror(errno));
}

struct writing { int (*put)(const void *what, int fd); const void *what; };

int buf_put(const void *what, int fd)
{
	const struct buf *b = what;

	return fd_write(fd, b->data, b->len);
}

/* Pipes, terminals and /dev/null are written to, never replaced. */
static int write_in_place(const struct writing *w, const char *path, struct err *e)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY), code;

	if (fd < 0)
		return err_set(e, -ERR_CANT_CREATE, "cannot write %s: %s", path, strerror(errno));
	code = w->put(w->what, fd);
	if (close(fd) || code)
		return err_set(e, -ERR_IO, "cannot write %s: %s", path, strerror(errno));
	return 0;
}

/* shown: `path` as errors name it; replaced: the file that lies there, or NULL; a new one gets `mode` under the umask. */
static int write_beside(const struct writing *w, int at, const char *path, const char *shown, mode_t mode, const struct stat *replaced,
	int sync, struct err *e)
{
	char name[PATH_MAX];
	fd_auto folder = !sync   ? -1
		: at == AT_FDCWD ? open_folder_of(path)
				 : fcntl(at, F_DUPFD_CLOEXEC, 0);
	int fd = -1, code;

	if (folder >= 0 || !sync)
		fd = open_temporary(at, path, replaced ? replaced->st_mode & 0700 : mode, name);
	if (fd < 0)
		return err_set(e, -ERR_CANT_CREATE, "cannot create %s: %s", shown, strerror(errno));
	if (replaced)
		keep_access(fd, replaced);
	code = w->put(w->what, fd);
	if (!code && sync)
		code = fsync(fd);
	if (code)
		fd_close(fd);
	else
		code = close(fd);
	if (!code)
		code = renameat(at, name, at, path);
	if (code) {
		code = err_set(e, -ERR_IO, "cannot write %s: %s", shown, strerror(errno));
		unlinkat(at, name, 0);
	} else if (sync) {
		code = sync_folder(folder, shown, e);
	}
	return code;
}

int file_replace_at(int folder, const char *name, const char *shown, int (*put)(const void *what, int fd), const void *what,
	int sync, struct err *e)
{
	struct stat st;
	bool is_there = !fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW);

	if (is_there && S_ISDIR(st.st_mode))
		return err_set(e, -ERR_CANT_CREATE, "cannot write %s: it is a folder", shown);
	return write_beside(&(struct writing){ put, what }, folder, name, shown, 0666, is_there && S_ISREG(st.st_mode) ? &st : NULL, sync, e);
}

/* Where the links that begin at `path` lead though nothing is there yet; path itself where it is no link. */
static int follow(const char *path, char real[PATH_MAX])
{
	char link[PATH_MAX];

	snprintf(real, PATH_MAX, "%s", path);
	for (int k = 0; k < LINKS_MAX; k++) {
		ssize_t n = readlink(real, link, sizeof link - 1);

		if (n < 0)
			return 0;
		link[n] = '\0';
		size_t folder = link[0] == '/' || !strrchr(real, '/')
			? 0
			: (size_t)(strrchr(real, '/') - real) + 1;
		if (folder + (size_t)n >= PATH_MAX)
			break;
		memcpy(real + folder, link, (size_t)n + 1);
	}
	return -1;
}

int file_replace(const char *path, int (*put)(const void *what, int fd), const void *what, int sync, struct err *e)
{
	const struct writing w = { put, what };
	char real[PATH_MAX];
	struct stat st;
	bool exists = !stat(path, &st);

	if (exists) {
		if (S_ISDIR(st.st_mode))
			return err_set(e, -ERR_CANT_CREATE, "cannot write %s: it is a folder", path);
		if (!S_ISREG(st.st_mode))
			return write_in_place(&w, path, e);
		/* Behind a link the file is replaced, not the link. */
		if (realpath(path, real))
			path = real;
	} else if (errno == ENOENT && strlen(path) < PATH_MAX && !follow(path, real)) {
		path = real;
	}
	return write_beside(&w, AT_FDCWD, path, path, 0666, exists ? &st : NULL, sync, e);
}

int buf_write_file(const struct buf *b, const char *path, int sync, struct err *e)
{
	return file_replace(path, buf_put, b, sync, e);
}

int buf_write_secret(const struct buf *b, const char *path, struct err *e)
{
	return write_beside(&(struct writing){ buf_put, b }, AT_FDCWD, path, path, 0600, NULL, 1, e);
}
