/* SPDX-License-Identifier: Apache-2.0
 * Collecting diagnostics, their table, and the nearest of some names. */
#include "runtime/base/diag.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "runtime/base/arena.h"
#include "runtime/base/diag_print.h"

enum {
	WORD_MAX = 64,      /* longer words get no suggestion */
	PREFIX_MIN = 4      /* shorter ones begin too many others */
};

static const struct diag_row table[DIAG_COUNT] = {
#define DIAG(name, number, severity, title, explain) \
	[DIAG_##name] = { DIAG_##name, number, DIAG_##severity, #name, title, explain },
#include "runtime/base/diag.def"
#undef DIAG
};

const struct diag_row *diag_row(enum diag_code code)
{
	return code > DIAG_NONE && code < DIAG_COUNT ? &table[code] : NULL;
}

const struct diag_row *diag_row_find(const char *text)
{
	char *end;

	if (*text == 'Q' || *text == 'q')
		text++;
	if (!isdigit((unsigned char)*text))
		return NULL;
	unsigned long number = strtoul(text, &end, 10);
	for (int i = 1; i < DIAG_COUNT && !*end; i++)
		if (table[i].number == number)
			return &table[i];
	return NULL;
}

struct diags *diags_new(struct source_set *s)
{
	struct diags *d = mem_alloc(1, sizeof *d);

	d->sources = s;
	return d;
}

void diags_free(struct diags *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->n; i++) {
		arena_release(&d->v[i]->arena);
		free(d->v[i]);
	}
	arena_release(&d->dropped.arena);
	free(d->v);
	free(d);
}

void diags_free_all(struct diags *d)
{
	struct source_set *sources = d ? d->sources : NULL;

	diags_free(d);
	source_set_free(sources);
}

struct source_set *diags_sources(const struct diags *d) { return d->sources; }

static char *format(struct arena *a, const char *fmt, va_list ap)
{
	buf_auto b = BUF_INIT;

	buf_vprintf(&b, fmt, ap);
	return arena_strndup(a, b.data, b.len);
}

/* Beyond the limit everything lands in the same place, which is never printed. */
static struct diag *next_diag(struct diags *d, unsigned nth)
{
	if (nth > DIAG_ERRORS_MAX) {
		arena_release(&d->dropped.arena);
		memset(&d->dropped, 0, sizeof d->dropped);
		return &d->dropped;
	}
	mem_reserve(d->v, d->n, d->cap);
	return d->v[d->n++] = mem_alloc(1, sizeof(struct diag));
}

struct diag *diag_at(struct diags *d, enum diag_code code, struct span at, const char *fmt, ...)
{
	const struct diag_row *row = diag_row(code);
	va_list ap;

	if (!row)
		BUG("no diagnostic %d", (int)code);
	struct diag *g = next_diag(d, row->severity == DIAG_ERROR ? ++d->nerror : ++d->nwarning);
	g->row = row;
	g->at = at;
	va_start(ap, fmt);
	g->text = format(&g->arena, fmt, ap);
	va_end(ap);
	return g;
}

void diag_add(struct diag *g, enum diag_part part, struct span at, const char *fmt, ...)
{
	struct diag_text **list = &g->part[part];
	va_list ap;

	while (*list && part != DIAG_LABEL)
		list = &(*list)->next;
	*list = arena_alloc(&g->arena, 1, sizeof **list);
	(*list)->at = at;
	va_start(ap, fmt);
	(*list)->text = format(&g->arena, fmt, ap);
	va_end(ap);
}

unsigned diags_errors(const struct diags *d) { return d->nerror; }

unsigned diags_errors_of(const struct diags *d, enum diag_code code)
{
	unsigned n = 0;

	for (size_t i = 0; i < d->n; i++)
		n += d->v[i]->row->code == code;
	return n;
}

unsigned diags_warnings(const struct diags *d) { return d->nwarning; }

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

/* Optimal string alignment: insert, delete, replace, swap neighbours
 * (Damerau, CACM 7 (1964)); three rows of the table are enough. */
static unsigned distance(const char *x, size_t nx, const char *y, size_t ny)
{
	unsigned rows[3][WORD_MAX + 1], *before = rows[0], *last = rows[1], *now = rows[2], *t;

	for (size_t j = 0; j <= ny; j++)
		last[j] = (unsigned)j;
	for (size_t i = 1; i <= nx; i++) {
		now[0] = (unsigned)i;
		for (size_t j = 1; j <= ny; j++) {
			int a = tolower((unsigned char)x[i - 1]), b = tolower((unsigned char)y[j - 1]);

			now[j] = least(last[j - 1] + (a != b), least(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && a == tolower((unsigned char)y[j - 2])
					&& b == tolower((unsigned char)x[i - 2]))
				now[j] = least(now[j], before[j - 2] + 1);
		}
		t = before;
		before = last;
		last = now;
		now = t;
	}
	return last[ny];
}

/* `train` for `training`: one word begins the other. */
static bool begins(const char *x, size_t nx, const char *y, size_t ny)
{
	size_t n = nx < ny ? nx : ny;

	return n >= PREFIX_MIN && !strncasecmp(x, y, n);
}

const char *diag_nearest(const char *word, const char *const *names, size_t n)
{
	size_t nword = strlen(word), len;
	unsigned limit = (unsigned)(nword < 3 ? 3 : nword) / 3, best = limit + 1, d;
	const char *found = NULL;

	if (nword > WORD_MAX)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		len = strlen(names[i]);
		if (len > WORD_MAX)
			continue;
		d = distance(word, nword, names[i], len);
		if (d > limit && begins(word, nword, names[i], len))
			d = limit;
		/* Nothing in common is no suggestion. */
		if (d < best && d < nword) {
			best = d;
			found = names[i];
		}
	}
	return found;
}
