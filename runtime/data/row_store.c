/* SPDX-License-Identifier: Apache-2.0
 * Reads rows that lie behind one another at once, others one by one. */
#include "runtime/data/row_store.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/system/temporary_file.h"

enum { PIECE_BYTES = 1 << 20 };          /* of a field, read at once unless one row has more */

struct row_step { row_step_fn change; void *data; uint32_t nout; };

struct row_store {
	const char *source;
	uint32_t nx;
	struct arena memory; /* of source, fields and steps */
	struct row_field *field;
	unsigned nfield;
	struct row_step *step;
	size_t nstep;
	pthread_mutex_t lock;        /* of what follows: restarts side by side read the same data */
	double *row;                 /* (nx) of the row that is put together */
	uint8_t *bytes;              /* of the piece of a field */
	size_t nbytes;
};

struct row_store *row_store_new(const char *source, uint32_t nx)
{
	struct row_store *s = mem_alloc(1, sizeof *s);

	s->source = arena_strdup(&s->memory, source);
	s->nx = nx;
	pthread_mutex_init(&s->lock, NULL);
	return s;
}

void row_store_free(struct row_store *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->nfield; i++) {
		bool shared = false;

		for (unsigned k = 0; k < i; k++)
			shared |= s->field[k].fd == s->field[i].fd;
		if (!shared)
			close(s->field[i].fd);
	}
	arena_release(&s->memory);
	free(s->row);
	free(s->bytes);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

void row_store_add(struct row_store *s, const struct row_field *f)
{
	struct row_field *own = arena_push(&s->memory, s->field, s->nfield);

	*own = *f;
	own->name = f->name ? arena_strdup(&s->memory, f->name) : NULL;
}

void row_store_through(struct row_store *s, row_step_fn change, const void *step, size_t nbytes, uint32_t nout)
{
	*arena_push(&s->memory, s->step, s->nstep) =
		(struct row_step){ change, arena_copy(&s->memory, step, nbytes, 1), nout };
}

/* Rows of a piece; memory for it. */
static uint32_t piece_rows(struct row_store *s, struct err *e)
{
	size_t most = 1, rows;

	for (unsigned i = 0; i < s->nfield; i++)
		most = s->field[i].stride > most ? s->field[i].stride : most;
	rows = PIECE_BYTES / most ? PIECE_BYTES / most : 1;
	if (!s->bytes) {
		s->bytes = mem_try(rows, most);
		s->row = mem_try((size_t)s->nx + 1, sizeof *s->row);
	}
	if (s->bytes && s->row)
		return (uint32_t)rows;
	err_set(e, -ERR_CONFIG, "no memory for a row of %u numbers", s->nx);
	return 0;
}

static int bad_number(const struct row_store *s, const struct row_field *f, uint32_t row, size_t column, const char *what,
	struct err *e)
{
	if (f->name)
		return err_set(e, -ERR_BAD_DATA, "%s: array \"%s\", row %u, column %zu (from 0) %s", s->source, f->name, row, column, what);
	return err_set(e, -ERR_BAD_DATA, "%s: number %zu of row %u (from 0) %s", s->source, column, row, what);
}

/* One row's share of a field, from its bytes to its places in x. */
static int put_field(const struct row_store *s, const struct row_field *f, const uint8_t *p, uint32_t row, double *x,
	struct err *e)
{
	double *to = x + f->first;
	size_t well = numbers_decode(f->type, p, f->count, to);

	if (well < f->count)
		return bad_number(s, f, row, well, "has no exact double", e);
	for (size_t j = 0; j < f->count; j++)
		if (!isfinite(to[j]))
			return bad_number(s, f, row, j, "is not finite", e);
	for (size_t j = f->count; f->pad && j-- > 0; ) {
		to[2 * j] = to[j];
		to[2 * j + 1] = 0;
	}
	return 0;
}

/* n rows behind one another; x has room for nx numbers a row. */
static int read_run(struct row_store *s, uint32_t first, uint32_t n, double *x, struct err *e)
{
	int code = 0;

	for (unsigned i = 0; !code && i < s->nfield; i++) {
		const struct row_field *f = &s->field[i];

		code = file_read(f->fd, s->source, f->at + (uint64_t)first * f->stride, s->bytes,
			(size_t)(n - 1) * f->stride + (size_t)f->count * f->type.nbytes, e);
		for (uint32_t r = 0; !code && r < n; r++)
			code = put_field(s, f, s->bytes + r * f->stride, first + r, x + (size_t)r * s->nx, e);
	}
	return code;
}

/* Rows that follow one another from at on. */
static uint32_t run_length(const uint32_t *row, uint32_t at, uint32_t n, uint32_t most)
{
	uint32_t k = 1;

	if (!row)
		return n - at < most ? n - at : most;
	while (at + k < n && k < most && row[at + k] == row[at] + k)
		k++;
	return k;
}

static uint32_t width(const struct row_store *s)
{
	return s->nstep ? s->step[s->nstep - 1].nout : s->nx;
}

/* The run's rows, one after the other through the steps, to x. */
static int read_changed(struct row_store *s, uint32_t first, uint32_t n, double *x, struct err *e)
{
	uint32_t nout = width(s);
	int code = 0;

	for (uint32_t r = 0; !code && r < n; r++) {
		code = read_run(s, first + r, 1, s->row, e);
		for (size_t i = 0; !code && i < s->nstep; i++)
			code = s->step[i].change(s->step[i].data, s->row, s->source, first + r, e);
		memcpy(x + (size_t)r * nout, s->row, nout * sizeof *x);
	}
	return code;
}

static int read_rows(struct row_store *s, const uint32_t *row, uint32_t first, uint32_t n,
	double *x, struct err *e)
{
	uint32_t most = piece_rows(s, e), nout = width(s);
	int code = most ? 0 : -ERR_CONFIG;

	for (uint32_t at = 0, k; !code && at < n; at += k) {
		uint32_t from = row ? row[at] : first + at;

		k = run_length(row, at, n, most);
		code = s->nstep ? read_changed(s, from, k, x + (size_t)at * nout, e) : read_run(s, from, k, x + (size_t)at * nout, e);
	}
	return code;
}

int row_store_read(struct row_store *s, const uint32_t *row, uint32_t first, uint32_t n, double *x,
	struct err *e)
{
	pthread_mutex_lock(&s->lock);
	int code = read_rows(s, row, first, n, x, e);
	pthread_mutex_unlock(&s->lock);
	return code;
}
