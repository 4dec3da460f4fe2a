/* SPDX-License-Identifier: Apache-2.0
 * Reads and writes parts of files, by pread and write repeated until all bytes are done. */
#include "runtime/base/system/temporary_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/input_files.h"

enum { TEMPORARY_FILE_WAITING_MAX = 1 << 18 };

int file_open(const char *path, uint64_t *size, struct err *e)
{
	struct stat st;

	if (input_is_stdin(path))
		return err_set(e, -ERR_NO_INPUT, "parts of the standard input cannot be read in any order; give a file");
	/* open(2) of a named pipe would wait for a writer. */
	bool fifo = !stat(path, &st) && S_ISFIFO(st.st_mode);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (fifo ? O_NONBLOCK : 0));

	if (fd < 0 || fstat(fd, &st)) {
		fd_close(fd);
		return err_set(e, -ERR_NO_INPUT, "cannot read %s: %s", path, strerror(errno));
	}
	if (!S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(e, -ERR_NO_INPUT, "cannot read parts of %s: it is no regular file",
			path);
	}
	inputs_note(fd, path);
	*size = (uint64_t)st.st_size;
	return fd;
}

int file_read(int fd, const char *path, uint64_t at, void *p, size_t len, struct err *e)
{
	char *to = p;

	while (len) {
		ssize_t got = pread(fd, to, len, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_set(e, -ERR_IO, "cannot read %s: %s", path, strerror(errno));
		if (!got)
			return err_set(e, -ERR_IO, "%s has become shorter while it was read", path);
		to += got;
		at += (uint64_t)got;
		len -= (size_t)got;
	}
	return 0;
}

const char *temporary_folder(void)
{
	const char *wanted = getenv("TMPDIR");

	if (wanted && *wanted)
		return wanted;
	return access("/var/tmp", W_OK | X_OK) ? "/tmp" : "/var/tmp";
}

int temporary_file_open(struct temporary_file *s, struct err *e)
{
	char name[PATH_MAX];
	int fd = -1;

	if (snprintf(name, sizeof name, "%s/qcnn-XXXXXX", temporary_folder()) < (int)sizeof name) {
		fd = mkostemp(name, O_CLOEXEC);
		if (fd >= 0)
			unlink(name);
	} else {
		errno = ENAMETOOLONG;
	}
	if (fd < 0)
		return err_set(e, -ERR_CANT_CREATE,
			"cannot create a temporary file in %s: %s; TMPDIR names another folder",
			temporary_folder(), strerror(errno));
	*s = (struct temporary_file){ .fd = fd };
	return 0;
}

static int flush(struct temporary_file *s, struct err *e)
{
	if (fd_write(s->fd, s->waiting.data, s->waiting.len))
		return err_set(e, -ERR_IO,
			"cannot write a temporary file in %s: %s; TMPDIR names another folder",
			temporary_folder(), strerror(errno));
	buf_clear(&s->waiting);
	return 0;
}

int temporary_file_add(struct temporary_file *s, const void *p, size_t len, struct err *e)
{
	buf_add(&s->waiting, p, len);
	s->len += len;
	return s->waiting.len < TEMPORARY_FILE_WAITING_MAX ? 0 : flush(s, e);
}

int temporary_file_take(struct temporary_file *s, int *fd, struct err *e)
{
	int code = flush(s, e);

	if (!code) {
		*fd = s->fd;
		s->fd = -1;
	}
	return code;
}

void temporary_file_release(struct temporary_file *s)
{
	fd_close(s->fd);
	s->fd = -1;
	buf_release(&s->waiting);
}
