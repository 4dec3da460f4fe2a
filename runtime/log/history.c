/* SPDX-License-Identifier: Apache-2.0
 * Reading metrics.jsonl. */
#include "runtime/log/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/json.h"
#include "runtime/base/system/folder.h"

struct rows { double *value; size_t n, cap; };   /* (n, HISTORY_COLUMNS_MAX) while it is read */

static unsigned column_of(struct history *h, const char *name)
{
	unsigned k = 0;

	while (k < h->ncolumn && strcmp(h->column[k], name))
		k++;
	if (k == h->ncolumn && k < HISTORY_COLUMNS_MAX)
		h->column[h->ncolumn++] = mem_strdup(name);
	return k;
}

static void add_row(struct history *h, struct rows *r, json_t *line)
{
	const char *key;
	json_t *v;

	if (r->n == r->cap) {
		r->cap = r->cap ? 2 * r->cap : 64;
		r->value = mem_grow(r->value, r->cap, HISTORY_COLUMNS_MAX * sizeof *r->value);
	}
	double *row = r->value + r->n++ * HISTORY_COLUMNS_MAX;
	for (unsigned k = 0; k < HISTORY_COLUMNS_MAX; k++)
		row[k] = NAN;
	json_object_foreach(line, key, v) {
		unsigned k = json_is_number(v) ? column_of(h, key) : HISTORY_COLUMNS_MAX;

		if (k < HISTORY_COLUMNS_MAX)
			row[k] = json_number_value(v);
	}
}

static void turn(struct history *h, const struct rows *r)
{
	h->nrow = r->n;
	h->value = mem_alloc(h->ncolumn * r->n + 1, sizeof *h->value);
	for (size_t i = 0; i < r->n; i++)
		for (unsigned k = 0; k < h->ncolumn; k++)
			h->value[k * r->n + i] = r->value[i * HISTORY_COLUMNS_MAX + k];
}

void history_parse(const char *text, size_t len, struct history *h)
{
	struct rows r = { NULL, 0, 0 };

	memset(h, 0, sizeof *h);
	for (size_t at = 0; at < len && r.n < HISTORY_ROWS_MAX; ) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t n = end ? (size_t)(end - text) - at : len - at;
		json_auto_t *line = json_read(text + at, n, NULL);

		if (!json_is_object(line))
			break;
		add_row(h, &r, line);
		at += n + 1;
	}
	turn(h, &r);
	free(r.value);
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
