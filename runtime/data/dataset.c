/* SPDX-License-Identifier: Apache-2.0
 * Data sets in memory and in files. */
#include "runtime/data/dataset.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/crypto/crypto.h"
#include "runtime/data/row_store.h"

enum { CHUNK_ROWS = 256 };

/* Looks at every number once. */
static int check_rows(const struct dataset *d, struct err *e)
{
	mem_auto double *x = mem_try(CHUNK_ROWS, (size_t)d->nx * sizeof *x);
	int code = x
		? 0
		: err_set(e, -ERR_CONFIG, "no memory for %d rows of %u numbers", CHUNK_ROWS, d->nx);

	for (uint32_t at = 0, n; !code && at < d->nrow; at += n) {
		n = d->nrow - at < CHUNK_ROWS ? d->nrow - at : CHUNK_ROWS;
		code = row_store_read(d->rows, NULL, at, n, x, e);
	}
	return code;
}

int dataset_new_stored(uint64_t nrow, uint64_t nx, uint32_t ny, const char *source,
	struct row_store *rows, struct dataset **out, struct err *e)
{
	if (nrow > DATASET_ROWS_MAX || nx > DATASET_COLUMNS_MAX || ny > DATASET_COLUMNS_MAX
			|| nrow * ((rows ? 0 : nx) + ny) > DATASET_BYTES_MAX / sizeof(double))
		return err_set(e, -ERR_BAD_DATA, "%llu rows of %llu numbers are beyond the limits "
			"(%d rows, %d columns, %llu bytes)", (unsigned long long)nrow, (unsigned long long)nx,
			DATASET_ROWS_MAX, DATASET_COLUMNS_MAX, (unsigned long long)DATASET_BYTES_MAX);
	struct dataset *d = mem_alloc(1, sizeof *d);
	d->nrow = (uint32_t)nrow;
	d->nx = (uint32_t)nx;
	d->ny = ny;
	d->source = arena_strdup(&d->memory, source);
	d->x = rows ? NULL : mem_try(nrow, nx * sizeof *d->x);
	d->y = ny ? mem_try(nrow, ny * sizeof *d->y) : NULL;
	if ((!rows && !d->x) || (ny && !d->y)) {
		dataset_free(d);
		return err_set(e, -ERR_CONFIG, "no memory for %llu rows of %llu numbers%s",
			(unsigned long long)nrow, (unsigned long long)((rows ? 0 : nx) + ny), rows ? "" : "; data.streaming: on reads them bit by bit");
	}
	d->rows = rows;
	int code = rows ? check_rows(d, e) : 0;
	if (code) {
		d->rows = NULL; /* it stays the caller's */
		dataset_free(d);
		return code;
	}
	*out = d;
	return 0;
}

int dataset_new(uint64_t nrow, uint64_t nx, uint32_t ny, const char *source, struct dataset **out, struct err *e)
{
	return dataset_new_stored(nrow, nx, ny, source, NULL, out, e);
}

int dataset_rows(const struct dataset *d, const uint32_t *row, uint32_t first, uint32_t n, double *x, struct err *e)
{
	if (d->rows)
		return row_store_read(d->rows, row, first, n, x, e);
	for (uint32_t i = 0; i < n; i++)
		memcpy(x + (size_t)i * d->nx, d->x + (size_t)(row ? row[i] : first + i) * d->nx, d->nx * sizeof *x);
	return 0;
}

int dataset_keep(struct dataset *d, uint64_t max_bytes, struct err *e)
{
	double *x;

	if (!d->rows || (uint64_t)d->nrow * d->nx > max_bytes / sizeof *x)
		return 0;
	x = mem_try(d->nrow, d->nx * sizeof *x);
	if (!x)
		return err_set(e, -ERR_CONFIG, "no memory for %u rows of %u numbers", d->nrow, d->nx);
	int code = row_store_read(d->rows, NULL, 0, d->nrow, x, e);
	if (code) {
		free(x);
		return code;
	}
	row_store_free(d->rows);
	d->rows = NULL;
	d->x = x;
	return 0;
}

void dataset_free(struct dataset *d)
{
	if (!d)
		return;
	row_store_free(d->rows);
	free(d->x);
	free(d->y);
	free(d->weight);
	arena_release(&d->memory);
	free(d);
}

void dataset_digest_arrays(struct dataset *d)
{
	size_t n = (size_t)d->nrow * d->nx, m = (size_t)d->nrow * d->ny;
	buf_auto b = BUF_INIT;
	struct sha256 h;

	sha256_init(&h);
	buf_u32(&b, d->nrow);
	buf_u32(&b, d->nx);
	buf_u32(&b, d->ny);
	for (size_t i = 0; i < n + m; i++) {
		buf_f64(&b, i < n ? d->x[i] : d->y[i - n]);
		if (b.len < 4096 && i + 1 < n + m)
			continue;
		sha256_add(&h, b.data, b.len);
		buf_clear(&b);
	}
	sha256_add(&h, b.data, b.len);
	sha256_end(&h, d->digest);
}
