/* SPDX-License-Identifier: Apache-2.0
 * The callback csv: a file as Keras's CSVLogger writes it.  Columns are epoch, from 0, and all
 * numbers in the order of their names.  A resumed run first truncates its file to what it had
 * written when its state was saved. */
#include "runtime/train/callback/callback_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/input_files.h"
#include "runtime/log/run.h"

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct metrics_value *)a)->name, ((const struct metrics_value *)b)->name);
}

/* All numbers but matrices, sorted. */
static void columns(const struct train_job *j, const struct epoch_record *r, struct metrics_line *line)
{
	unsigned n = 0;

	epoch_record_line(j, r, line);
	for (unsigned k = 0; k < line->n; k++) {
		const struct metrics_value *v = &line->value[k];

		if (!v->side && v->part != METRICS_PLACE && v->part != METRICS_TIME)
			line->value[n++] = *v;
	}
	line->n = n;
	qsort(line->value, n, sizeof *line->value, by_name);
}

static void add_header(const struct metrics_line *line, char separator, struct buf *out)
{
	buf_str(out, "epoch");
	for (unsigned k = 0; k < line->n; k++)
		buf_printf(out, "%c%s", separator, line->value[k].name);
	buf_str(out, "\r\n");        /* as Python's csv.excel ends lines */
}

static void add_row(const struct metrics_line *line, char separator, uint32_t epoch, struct buf *out)
{
	buf_printf(out, "%u", epoch - 1);
	for (unsigned k = 0; k < line->n; k++) {
		const struct metrics_value *v = &line->value[k];

		buf_char(out, separator);
		if (!v->given || isnan(v->number))
			buf_str(out, "NA");
		else
			buf_real(out, v->number);
	}
	buf_str(out, "\r\n");
}

/* The file, truncated to what this restart has written; -1 and errno. */
static int open_at_end(struct run *run, const struct csv_file *f, const char *path, bool append, off_t *size)
{
	int fd = run_open_file(run, path, O_WRONLY | O_CREAT, NULL), saved;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		goto failed;
	*size = st.st_size;
	off_t known = f->begun ? (off_t)f->nbyte : append ? *size : 0;
	if (*size > known) {
		if (ftruncate(fd, known))
			goto failed;
		*size = known;
	}
	if (lseek(fd, *size, SEEK_SET) >= 0)
		return fd;
failed:
	saved = errno;
	if (fd >= 0)
		close(fd);
	errno = saved;
	return -1;
}

/* The file is not one that this process has read. */
static int check_input(const struct run *run, const char *path, struct err *e)
{
	buf_auto whole = BUF_INIT;

	run_full_path(run, path, &whole);
	return inputs_check(whole.data, e);
}

/* All that waits; r is for the names of the columns. */
static int write_rows(const struct callbacks *c, struct csv_file *f, const char *path, const struct callback_choice *o, const struct epoch_record *r, struct err *e)
{
	struct metrics_line line;
	buf_auto b = BUF_INIT;
	off_t size = 0;
	int fd, code = check_input(c->job->run, path, e);

	if (code)
		return code;
	columns(c->job, r, &line);
	fd = open_at_end(c->job->run, f, path, o->option[CSV_APPEND] != 0, &size);
	if (fd < 0)
		return run_cannot(c->job->run, "create", path, -ERR_CANT_CREATE, e);
	if (!size)
		add_header(&line, *o->text[CSV_SEPARATOR], &b);
	buf_add(&b, f->waiting.data ? f->waiting.data : "", f->waiting.len);
	if (fd_write(fd, b.data, b.len))
		code = run_cannot(c->job->run, "write", path, -ERR_IO, e);
	if (close(fd) && !code)
		code = run_cannot(c->job->run, "write", path, -ERR_IO, e);
	if (!code) {
		f->begun = true;
		f->nbyte = (uint64_t)size + b.len;
		buf_clear(&f->waiting);
	}
	return code;
}

static int write_waiting(const struct callbacks *c, struct callback_part *p, const struct epoch_record *r, struct err *e)
{
	const struct callback_choice *o = p->choice;
	buf_auto path = BUF_INIT;
	int code = callback_path(c->job, o->text[CSV_PATH], &(struct epoch_record){ .restart = c->restart }, 0, &path, e);

	return code ? code : write_rows(c, &p->csv, path.data, o, r, e);
}

int callback_csv(struct callbacks *c, struct callback_part *p, const struct epoch_record *r, struct err *e)
{
	struct metrics_line line;

	columns(c->job, r, &line);
	if (p->csv.waiting.len < CSV_WAITING_MAX)
		add_row(&line, *p->choice->text[CSV_SEPARATOR], r->epoch, &p->csv.waiting);
	return write_waiting(c, p, r, e);
}

int callback_csv_end(struct callbacks *c, struct callback_part *p, const struct epoch_record *last, struct err *e)
{
	return p->csv.waiting.len ? write_waiting(c, p, last, e) : 0;
}
