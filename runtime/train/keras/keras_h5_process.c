/* SPDX-License-Identifier: Apache-2.0
 * Reading in a process of its own: a damaged file may make the HDF5 library crash or loop,
 * and that must end as an error.  The arrays come back through a pipe. */
#include "runtime/train/keras/keras_h5.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the process of its own ---- */

enum { READER_SECONDS = 5 };

/* Sanitizers reserve terabytes of addresses: with them the count of numbers (numbers_max) is the only limit. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define LIMITS_ADDRESSES 0
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define LIMITS_ADDRESSES 0
#endif
#endif
#ifndef LIMITS_ADDRESSES
#define LIMITS_ADDRESSES 1
#endif

enum { READER_BYTES_LEAST = 256 << 20, BYTES_A_NUMBER = 32 };   /* as the library has it, its buffers, and ours while it grows */

/* Beyond what this process has now: memory for the numbers that the file may have, and for its image in the library. */
static void limit_memory(size_t nimage, uint64_t numbers)
{
	FILE *f = LIMITS_ADDRESSES ? fopen("/proc/self/statm", "r") : NULL;
	unsigned long long pages = 0;
	struct rlimit r;

	if (f && fscanf(f, "%llu", &pages) == 1 && !getrlimit(RLIMIT_AS, &r)) {
		uint64_t most = pages * (uint64_t)sysconf(_SC_PAGESIZE) + READER_BYTES_LEAST + 4 * (uint64_t)nimage + BYTES_A_NUMBER * numbers;

		if (most < r.rlim_max && (rlim_t)most == most) {
			r.rlim_cur = r.rlim_max = (rlim_t)most;
			setrlimit(RLIMIT_AS, &r);
		}
	}
	if (f)
		fclose(f);
}

/* Answers with a code, the number of arrays, the length of what follows: an error's text, or the arrays. */
static _Noreturn void reader_process(const struct buf *image, uint64_t numbers, const int pipe_end[2])
{
	int fd = pipe_end[1];
	struct rlimit seconds = { READER_SECONDS, READER_SECONDS }, core = { 0, 0 };
	int silent = open("/dev/null", O_RDWR);
	struct buf head = BUF_INIT, body = BUF_INIT;
	struct err e = { 0 };
	uint32_t n = 0;

	close(pipe_end[0]);
	/* What the library or the system say about a crash is no message of ours. */
	for (int k = 0; k < 3; k++)
		if (k != fd)
			dup2(silent, k);
	for (int k = 1; k < 32; k++)
		signal(k, k == SIGINT || k == SIGTERM || k == SIGHUP ? SIG_IGN : SIG_DFL);
	setrlimit(RLIMIT_CPU, &seconds);
	setrlimit(RLIMIT_CORE, &core);
	limit_memory(image->len, numbers);
	int code = keras_h5_read_image(image, numbers, &body, &n, &e);
	if (code) {
		buf_clear(&body);
		buf_str(&body, e.text);
	}
	buf_u32(&head, (uint32_t)-code);
	buf_u32(&head, n);
	buf_u64(&head, body.len);
	if (fd_write(fd, head.data, head.len) || fd_write(fd, body.data, body.len))
		_exit(1);
	_exit(0);
}

static bool read_pipe(int fd, void *out, size_t len)
{
	for (char *p = out; len; ) {
		ssize_t n = read(fd, p, len);

		if (!n || (n < 0 && errno != EINTR))
			return false;
		p += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

enum { HEAD_BYTES = 16 };

/* The answer's bytes; -ERR_BAD_DATA with a text of ours where the process died. */
static int read_answer(int fd, struct buf *body, uint32_t *n, struct err *e)
{
	uint64_t limit = 8ull * KERAS_NUMBERS_MAX + KERAS_ARRAYS_MAX * (2ull * KERAS_NAME_MAX + 128), len;
	uint8_t head[HEAD_BYTES];
	struct rd rd = { head, sizeof head, 0, 0 };

	if (!read_pipe(fd, head, sizeof head))
		return err_set(e, -ERR_BAD_DATA, "damaged: the HDF5 library fails on this file");
	uint32_t code = rd_u32(&rd);
	*n = rd_u32(&rd);
	len = rd_u64(&rd);
	if (code >= ERR_COUNT || *n > KERAS_ARRAYS_MAX || len > limit)
		return err_set(e, -ERR_BAD_DATA, "damaged: the HDF5 library fails on this file");
	body->data = mem_try(len + 1, 1);
	if (!body->data)
		return err_set(e, -ERR_CONFIG, "no memory for its weights");
	body->len = body->cap = len;
	if (!read_pipe(fd, body->data, len))
		return err_set(e, -ERR_BAD_DATA, "damaged: the HDF5 library fails on this file");
	return code ? err_set(e, -(int)code, "%s", body->data) : 0;
}

static int ask_process(const struct buf *image, uint64_t numbers, struct buf *body, uint32_t *n, struct err *e)
{
	int fd[2], code;

	if (pipe(fd))
		return err_set(e, -ERR_CONFIG, "no pipe: %s", strerror(errno));
	pid_t pid = fork();
	if (!pid)
		reader_process(image, numbers, fd);
	close(fd[1]);
	code = pid < 0 ? err_set(e, -ERR_CONFIG, "no process to read with: %s", strerror(errno)) : read_answer(fd[0], body, n, e);
	close(fd[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return code;
}

/* ---- the answer as arrays ---- */

static const char *take_text(struct rd *rd, struct arena *a)
{
	uint32_t n = rd_u32(rd);
	const uint8_t *p = n <= KERAS_NAME_MAX ? rd_bytes(rd, n) : NULL;

	rd->bad |= !p;
	return p ? arena_strndup(a, (const char *)p, n) : "";
}

static void take_array(struct rd *rd, struct arena *a, struct keras_array *out)
{
	out->layer = take_text(rd, a);
	out->name = take_text(rd, a);
	out->ndim = rd_u32(rd);
	out->count = 1;
	rd->bad |= out->ndim > KERAS_DIMS_MAX;
	for (uint32_t k = 0; !rd->bad && k < out->ndim; k++) {
		out->dim[k] = rd_u64(rd);
		rd->bad |= out->dim[k] > KERAS_NUMBERS_MAX || out->count > KERAS_NUMBERS_MAX;
		out->count *= out->dim[k];
	}
	if (rd->bad || out->count > (rd->len - rd->at) / 8) {
		rd->bad = 1;
		return;
	}
	double *value = arena_alloc(a, out->count + 1, sizeof *value);
	words_copy(value, rd_bytes(rd, 8 * out->count), out->count);
	out->value = value;
}

static int take_arrays(const struct buf *body, uint32_t n, struct keras_arrays *out, struct err *e)
{
	struct rd rd = { (const uint8_t *)body->data, body->len, 0, 0 };

	arena_init(&out->arena);
	out->n = n;
	out->array = arena_alloc(&out->arena, (size_t)n + 1, sizeof *out->array);
	for (uint32_t i = 0; !rd.bad && i < n; i++)
		take_array(&rd, &out->arena, &out->array[i]);
	if (!rd.bad && rd.at == rd.len)
		return 0;
	keras_arrays_release(out);
	return err_set(e, -ERR_BAD_DATA, "damaged: the HDF5 library fails on this file");
}

/* Far more than a file of that length or the model can need; a small file may claim any number of equal ones. */
static uint64_t numbers_max(size_t nimage, uint64_t nweight)
{
	uint64_t n = KERAS_NUMBERS_LEAST + (uint64_t)nimage + 4 * nweight;

	return n < KERAS_NUMBERS_MAX ? n : KERAS_NUMBERS_MAX;
}

int keras_h5_read(const char *path, uint64_t nweight, struct keras_arrays *out, struct err *e)
{
	struct buf image = BUF_INIT, body = BUF_INIT;
	uint32_t n = 0;
	int code = buf_read_file(&image, path, KERAS_BYTES_MAX, e);

	if (code)
		return code;
	code = keras_h5_load(e);
	if (!code)
		code = ask_process(&image, numbers_max(image.len, nweight), &body, &n, e);
	if (!code)
		code = take_arrays(&body, n, out, e);
	if (code)
		err_prefix(e, "%s", path);
	buf_release(&body);
	buf_release(&image);
	return code;
}

void keras_arrays_release(struct keras_arrays *a)
{
	arena_release(&a->arena);
	a->n = 0;
}
