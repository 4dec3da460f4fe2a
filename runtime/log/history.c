/* SPDX-License-Identifier: Apache-2.0
 * Reading metrics.jsonl. */
#include "runtime/log/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/json.h"
#include "runtime/base/system/folder.h"

/* While it is read: each column has memory for cap numbers. */
struct rows {
	double *column[HISTORY_COLUMNS_MAX];
	size_t n, cap;
};

/* In a new one, no row so far has a value. */
static unsigned column_of(struct history *h, struct rows *r, const char *name)
{
	unsigned k = 0;

	while (k < h->ncolumn && strcmp(h->column[k], name))
		k++;
	if (k == h->ncolumn && k < HISTORY_COLUMNS_MAX) {
		h->column[h->ncolumn++] = mem_strdup(name);
		r->column[k] = mem_alloc(r->cap, sizeof *r->column[k]);
		for (size_t i = 0; i <= r->n; i++)
			r->column[k][i] = NAN;
	}
	return k;
}

static void add_row(struct history *h, struct rows *r, json_t *line)
{
	const char *key;
	json_t *v;

	if (r->n == r->cap) {
		r->cap = r->cap ? 2 * r->cap : 64;
		for (unsigned k = 0; k < h->ncolumn; k++)
			r->column[k] = mem_grow(r->column[k], r->cap, sizeof *r->column[k]);
	}
	for (unsigned k = 0; k < h->ncolumn; k++)
		r->column[k][r->n] = NAN;
	json_object_foreach(line, key, v) {
		unsigned k = json_is_number(v) ? column_of(h, r, key) : HISTORY_COLUMNS_MAX;

		if (k < HISTORY_COLUMNS_MAX)
			r->column[k][r->n] = json_number_value(v);
	}
	r->n++;
}

/* Whether the table remains as small as the text with this line: a value, with its name, is at least six bytes there, and
 * lines of a run have most of the columns. */
static bool has_room(const struct history *h, const struct rows *r, const json_t *line, size_t len)
{
	size_t ncolumn = h->ncolumn + json_object_size(line);

	return (r->n + 1) * (ncolumn < HISTORY_COLUMNS_MAX ? ncolumn : HISTORY_COLUMNS_MAX) <= len;
}

static void join_columns(struct history *h, struct rows *r)
{
	h->nrow = r->n;
	h->value = mem_alloc(h->ncolumn * r->n + 1, sizeof *h->value);
	for (unsigned k = 0; k < h->ncolumn; k++) {
		memcpy(h->value + k * r->n, r->column[k], r->n * sizeof *h->value);
		free(r->column[k]);
	}
}

void history_parse(const char *text, size_t len, struct history *h)
{
	struct rows r = { .n = 0 };

	memset(h, 0, sizeof *h);
	for (size_t at = 0; at < len && r.n < HISTORY_ROWS_MAX; ) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t n = end ? (size_t)(end - text) - at : len - at;
		json_auto_t *line = json_read(text + at, n, NULL);

		if (!json_is_object(line) || !has_room(h, &r, line, len))
			break;
		add_row(h, &r, line);
		at += n + 1;
	}
	join_columns(h, &r);
}

int history_read(const char *run, struct history *h, struct err *e)
{
	buf_auto text = BUF_INIT;
	int code = folder_read_in(&text, run, "metrics.jsonl", HISTORY_BYTES_MAX, e);

	history_parse(text.data, text.len, h);
	return code;
}

void history_release(struct history *h)
{
	for (unsigned k = 0; k < h->ncolumn; k++)
		free(h->column[k]);
	free(h->value);
	memset(h, 0, sizeof *h);
}

const double *history_column(const struct history *h, const char *name)
{
	for (unsigned k = 0; k < h->ncolumn; k++)
		if (!strcmp(h->column[k], name))
			return h->value + k * h->nrow;
	return NULL;
}

static struct history_best lowest(const struct history *h, double restart, const char *column)
{
	const double *restarts = history_column(h, "start"), *epoch = history_column(h, "epoch"),
		     *v = history_column(h, column);
	struct history_best best = { column, NAN, NAN };

	for (size_t i = 0; restarts && epoch && v && i < h->nrow; i++)
		if (restarts[i] == restart && isfinite(v[i]) && !(v[i] >= best.value)) {
			best.epoch = epoch[i];
			best.value = v[i];
		}
	return best;
}

struct history_best history_best(const struct history *h, double restart)
{
	struct history_best best = lowest(h, restart, "val_loss");

	return isnan(best.epoch) ? lowest(h, restart, "loss") : best;
}
