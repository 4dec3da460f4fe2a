/* SPDX-License-Identifier: Apache-2.0
 * Small parts go to the file together, large ones from where they are; a thread makes the digest beside that. */
#include "runtime/base/system/file_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/system/threads.h"

/* Files below PARTED_MIN are gone before a thread has started; parts below TOGETHER wait for the next. */
enum { PARTED_MIN = 1 << 18, TOGETHER = 1 << 16 };

void file_parts_add(struct file_parts *f, const void *p, size_t len)
{
	mem_reserve(f->part, f->npart, f->cap);
	f->part[f->npart++] = (struct file_part){ p, len };
}

void file_parts_release(struct file_parts *f)
{
	free(f->part);
	memset(f, 0, sizeof *f);
}

size_t file_parts_size(const struct file_parts *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->npart; i++)
		n += f->part[i].len;
	return n;
}

void file_parts_join(const struct file_parts *f, struct buf *out)
{
	size_t begin = out->len;

	buf_reserve(out, file_parts_size(f));
	for (size_t i = 0; i < f->npart; i++)
		buf_add(out, f->part[i].p, f->part[i].len);
	if (f->make)
		f->make(f, out->data + begin + f->seal_at);
}

static int put_joined(const struct file_parts *f, int fd)
{
	buf_auto whole = BUF_INIT;

	file_parts_join(f, &whole);
	return fd_write(fd, whole.data, whole.len);
}

static int put_parts(const struct file_parts *f, int fd)
{
	buf_auto small = BUF_INIT;
	int code = 0;

	for (size_t i = 0; !code && i < f->npart; i++) {
		const struct file_part *part = &f->part[i];

		if (part->len < TOGETHER)
			buf_add(&small, part->p, part->len);
		if (small.len >= TOGETHER || (part->len >= TOGETHER && small.len)) {
			code = fd_write(fd, small.data, small.len);
			buf_clear(&small);
		}
		if (!code && part->len >= TOGETHER)
			code = fd_write(fd, part->p, part->len);
	}
	if (!code && small.len)
		code = fd_write(fd, small.data, small.len);
	return code;
}

/* The disk begins with all whole pages behind the seal, which so are not written twice; what fails here fails in fsync. */
static void begin_transfer(const struct file_parts *f, int fd)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE),
	       from = (f->seal_at + f->seal_len + page - 1) / page * page;

	sync_file_range(fd, (off_t)from, 0, SYNC_FILE_RANGE_WRITE);
}

/* ---- the seal ---- */

struct sealing {
	const struct file_parts *file;
	char seal[FILE_SEAL_MAX];
	pthread_t thread;
};

static void *make_seal(void *ctx)
{
	struct sealing *s = ctx;

	s->file->make(s->file, s->seal);
	return NULL;
}

static int put_and_seal(const struct file_parts *f, int fd)
{
	struct sealing s = { .file = f };

	bool runs = thread_start(&s.thread, make_seal, &s);
	int code = put_parts(f, fd);
	int saved = errno;
	if (!code)
		begin_transfer(f, fd);
	if (runs)
		pthread_join(s.thread, NULL);
	else
		make_seal(&s);
	errno = saved;
	if (code)
		return code;
	return lseek(fd, (off_t)f->seal_at, SEEK_SET) < 0 ? -1 : fd_write(fd, s.seal, f->seal_len);
}

/* A pipe has no place to come back to. */
int file_parts_put(const void *file, int fd)
{
	const struct file_parts *f = file;

	if (file_parts_size(f) < PARTED_MIN || lseek(fd, 0, SEEK_CUR) < 0)
		return put_joined(f, fd);
	return f->make ? put_and_seal(f, fd) : put_parts(f, fd);
}
