/* SPDX-License-Identifier: Apache-2.0
 * Data sets from CSV files: which column feeds which number, then the rows. */
#include "config.h"
#include "runtime/data/reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/crypto.h"
#include "runtime/base/spool.h"
#include "runtime/data/csv.h"
#include "runtime/data/row_store.h"

enum { TO_NOTHING = -1, TO_LABEL = -2, TO_WEIGHT = -3 };
enum { CSV_FAULTS_MAX = 5 };         /* what is wrong in every row is not said for every row */

static const char LABEL[] = "the label";

struct table {
	struct csv csv;
	const struct read_options *o;
	struct read_options own;         /* with the width of the file, where any will do */
	struct input_want want;
	struct diags *diags;
	unsigned before;                 /* errors reported before this file's */
	bool has_header;
	struct span header;              /* the first row */
	bool at_first;                   /* no row was read but that */
	size_t ncolumn;
	char **name;                     /* "1", "2", ... without a header */
	int64_t *to;                     /* position in x, or one of the above */
	int64_t label, weight;           /* columns, or -1 */
	double *x, *y, *w;
	struct spool *spool;             /* where rows of x go (x is then one row); NULL: they stay in x */
	size_t nrow, cap, nx;
	struct diag *last;               /* the last fault of a row */
};

static unsigned faults(const struct table *t)
{
	return diags_errors(t->diags) - t->before;
}

/* Does the configuration ask for a column of this name? */
static bool is_wanted(const struct read_options *o, const char *name)
{
	if (!strcmp(name, o->label ? o->label : "label") || (o->weight && !strcmp(name, o->weight)))
		return true;
	for (unsigned i = 0; i < o->nmap; i++)
		for (unsigned k = 0; k < o->map[i].ncolumn; k++)
			if (!strcmp(name, o->map[i].column[k]))
				return true;
	return false;
}

/* The first row names the columns where no field of it is a number, or where one that is none is a name
 * that is asked for. Otherwise it is a sample: a slip in it is not to be taken for a name. */
static bool is_header(const struct csv *c, const struct read_options *o)
{
	size_t words = 0;
	bool wanted = false;
	double v;

	for (size_t i = 0; i < c->nfield; i++) {
		char *text;

		if (csv_number(c, i, &v))
			continue;
		words++;
		text = csv_text(c, i);
		wanted |= is_wanted(o, text);
		free(text);
	}
	return wanted || words == c->nfield;
}

static void name_columns(struct table *t)
{
	char number[24];

	t->has_header = is_header(&t->csv, t->o);
	t->header = t->csv.row;
	t->ncolumn = t->csv.nfield;
	t->name = mem_alloc(t->ncolumn, sizeof *t->name);
	t->to = mem_alloc(t->ncolumn, sizeof *t->to);
	for (size_t i = 0; i < t->ncolumn; i++) {
		snprintf(number, sizeof number, "%zu", i + 1);
		t->name[i] = t->has_header ? csv_text(&t->csv, i) : mem_strdup(number);
		t->to[i] = TO_NOTHING;
	}
}

/* The column of this name, or -1; a name that stands twice is reported. */
static int64_t find_column(struct table *t, const char *name)
{
	int64_t found = -1;

	for (size_t i = 0; i < t->ncolumn; i++) {
		if (strcmp(t->name[i], name))
			continue;
		if (found >= 0) {
			diag_second(diag_at(t->diags, DIAG_DATA_COLUMN_TWICE, csv_span(&t->csv, i),
				"two columns are named `%s`", name), csv_span(&t->csv, (size_t)found), "the other");
			break;
		}
		found = (int64_t)i;
	}
	return found;
}

static void unknown_column(struct table *t, const char *name, const char *wanted_by)
{
	struct diag *g = diag_at(t->diags, DIAG_DATA_COLUMN, t->header, "no column `%s` for %s",
		name, wanted_by);
	const char *near = diag_nearest(name, (const char *const *)t->name, t->ncolumn);

	if (!t->has_header)
		diag_help(g, "this file has no header: its columns are named 1 to %zu", t->ncolumn);
	else if (near)
		diag_help(g, "did you mean `%s`?", near);
	else
		diag_help(g, "the file's columns are `%s` to `%s`", t->name[0], t->name[t->ncolumn - 1]);
	if (!strcmp(wanted_by, LABEL) && !t->o->label)
		diag_help(g, "`data.label` says which column holds the labels");
}

static void choose_label(struct table *t)
{
	const char *name = t->o->label ? t->o->label : "label";

	t->label = find_column(t, name);
	if (t->label >= 0)
		t->to[t->label] = TO_LABEL;
	else if (t->o->label_required)
		unknown_column(t, name, LABEL);
}

static void choose_weight(struct table *t)
{
	t->weight = t->o->weight ? find_column(t, t->o->weight) : -1;
	if (t->weight >= 0 && t->to[t->weight] != TO_NOTHING)
		diag_at(t->diags, DIAG_DATA_COLUMN_TWICE, t->header,
			"column `%s` is taken twice, the second time by the weights", t->o->weight);
	else if (t->weight >= 0)
		t->to[t->weight] = TO_WEIGHT;
	else if (t->o->weight && t->o->label_required)
		unknown_column(t, t->o->weight, "the weights");
}

/* Columns that data.inputs names, in its order. */
static void choose_mapped(struct table *t, const struct input_want *w, const struct input_map *m,
	size_t first)
{
	for (unsigned i = 0; i < m->ncolumn; i++) {
		int64_t column = find_column(t, m->column[i]);

		if (column < 0)
			unknown_column(t, m->column[i], "an input");
		else if (t->to[column] != TO_NOTHING)
			diag_at(t->diags, DIAG_DATA_COLUMN_TWICE, t->header,
				"column `%s` is taken twice, the second time by %s", m->column[i], w->name);
		else if (i < w->count)
			t->to[column] = (int64_t)(first + i);
	}
	if (m->ncolumn != w->count)
		reader_width(t->diags, t->o, t->header, w, m->ncolumn, "`inputs` names");
}

/* The next columns that nothing else takes, in the file's order. */
static size_t choose_next(struct table *t, const struct input_want *w, size_t first, size_t column)
{
	size_t taken = 0;

	for (; column < t->ncolumn && taken < w->count; column++)
		if (t->to[column] == TO_NOTHING)
			t->to[column] = (int64_t)(first + taken++);
	return column;
}

static size_t free_columns(const struct table *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->ncolumn; i++)
		n += t->to[i] == TO_NOTHING;
	return n;
}

/* As many columns as there are, where the input takes any number of them. */
static void choose_width(struct table *t)
{
	const struct input_map *m = t->o->nwant == 1 ? reader_map(t->o, t->o->want->name) : NULL;

	t->o = reader_any_width(t->o, m ? m->ncolumn : free_columns(t), &t->own, &t->want);
}

static void choose_columns(struct table *t)
{
	size_t first = 0, column = 0, wanted = 0, free_count;
	const struct input_want *last = NULL;
	const struct input_map *m;

	choose_label(t);
	choose_width(t);
	choose_weight(t);
	for (unsigned i = 0; i < t->o->nwant; first += t->o->want[i++].count) {
		m = reader_map(t->o, t->o->want[i].name);
		if (m)
			choose_mapped(t, &t->o->want[i], m, first);
		else
			wanted += (last = &t->o->want[i])->count;
	}
	t->nx = first;
	free_count = free_columns(t);
	if (!last || faults(t))
		return;
	if (free_count != wanted) {
		struct diag *g = reader_width(t->diags, t->o, t->header, NULL, free_count, "the file has");

		if (t->label < 0 && free_count == wanted + 1)
			diag_help(g, "if one is the labels', `%s` is the name by which it would be known",
				t->o->label ? t->o->label : "label");
		return;
	}
	for (unsigned i = 0, at = 0; i < t->o->nwant; at += t->o->want[i++].count)
		if (!reader_map(t->o, t->o->want[i].name))
			column = choose_next(t, &t->o->want[i], at, column);
}

static void bad_number(struct table *t, size_t field)
{
	struct span at = csv_span(&t->csv, field);
	char *text = csv_text(&t->csv, field);
	struct diag *g = t->last = diag_at(t->diags, DIAG_DATA_NUMBER, at, "column `%s` holds no number",
		t->name[field]);

	if (!*text)
		diag_label(g, "empty");
	else
		diag_label(g, "not a decimal number");
	if (strchr(text, ';'))
		diag_help(g, "fields are separated by commas");
	else if (t->to[field] == TO_LABEL && *text)
		diag_help(g, "`data.label_map` gives classes their numbers, for example `label_map: {%s: 1}`", text);
	if (t->at_first && !t->has_header)
		diag_note(g, "the first row holds numbers, so it is a sample; names of columns are words, all of them or that of the label");
	free(text);
}

static void read_label(struct table *t, size_t field, double v)
{
	struct diag *g;

	if (label_map_apply(&t->o->label_map, &v)) {
		t->y[t->nrow] = v;
		return;
	}
	g = t->last = diag_at(t->diags, DIAG_DATA_LABEL, csv_span(&t->csv, field), "label %g is not in `label_map`", v);
	diag_help(g, "`label_map` has a value for every label of the file");
}

static void read_weight(struct table *t, size_t field, double v)
{
	if (v < 0)
		t->last = diag_at(t->diags, DIAG_DATA_NUMBER, csv_span(&t->csv, field), "the weight %g is negative", v);
	t->w[t->nrow] = v;
}

/* A class that label_map names by a text; false: it is to be a number. */
static bool read_named_label(struct table *t, size_t field)
{
	const struct label_map *m = &t->o->label_map;
	bool known = false;
	char *text;

	if (!m->name || csv_number(&t->csv, field, &(double){ 0 }))
		return false;
	text = csv_text(&t->csv, field);
	for (unsigned i = 0; !known && i < m->n; i++)
		if (!strcmp(m->name[i], text)) {
			t->y[t->nrow] = m->to[i];
			known = true;
		}
	free(text);
	return known;
}

static void read_row(struct table *t)
{
	double *x = t->x + (t->spool ? 0 : t->nrow * t->nx), v = 0;

	for (size_t i = 0; i < t->ncolumn; i++) {
		if (t->to[i] == TO_NOTHING)
			continue;
		if (t->to[i] == TO_LABEL && read_named_label(t, i))
			continue;
		if (!csv_number(&t->csv, i, &v))
			bad_number(t, i);
		else if (!isfinite(v))
			t->last = diag_at(t->diags, DIAG_DATA_NOT_FINITE, csv_span(&t->csv, i),
				"column `%s` holds a number beyond the range of double", t->name[i]);
		else if (t->to[i] == TO_LABEL)
			read_label(t, i, v);
		else if (t->to[i] == TO_WEIGHT)
			read_weight(t, i, v);
		else
			x[t->to[i]] = v;
	}
}

static bool row_width_fits(struct table *t)
{
	struct diag *g;

	if (t->csv.nfield == t->ncolumn)
		return true;
	g = t->last = diag_at(t->diags, DIAG_DATA_ROW, t->csv.row, "this row has %zu field%s, the first one %zu",
		t->csv.nfield, t->csv.nfield == 1 ? "" : "s", t->ncolumn);
	diag_second(g, t->header, "the first row");
	return false;
}

/* Room for one more row. */
static int grow(struct table *t, struct err *e)
{
	size_t cap = t->cap ? 2 * t->cap : 64, nbytes, rows = t->spool ? 1 : cap;
	double *x, *y, *w;

	if (t->nrow < t->cap)
		return 0;
	if (t->nrow >= DATASET_ROWS_MAX || __builtin_mul_overflow(rows, t->nx * sizeof *x, &nbytes)
			|| nbytes > DATASET_BYTES_MAX)
		return err_set(e, -ERR_BAD_DATA, "more than %d rows or %llu bytes of numbers",
			DATASET_ROWS_MAX, (unsigned long long)DATASET_BYTES_MAX);
	x = realloc(t->x, nbytes ? nbytes : 1);
	if (x)
		t->x = x;
	y = realloc(t->y, cap * sizeof *y);
	if (y)
		t->y = y;
	w = realloc(t->w, t->weight >= 0 ? cap * sizeof *w : 1);
	if (w)
		t->w = w;
	if (!x || !y || !w)
		return err_set(e, -ERR_CONFIG, "no memory for %zu rows", cap);
	t->cap = cap;
	return 0;
}

static int read_rows(struct table *t, struct err *e)
{
	int more = t->has_header ? csv_next(&t->csv) : 1, code;

	for (; more > 0 && faults(t) < CSV_FAULTS_MAX; more = csv_next(&t->csv)) {
		if (!row_width_fits(t))
			continue;
		code = grow(t, e);
		if (code)
			return code;
		read_row(t);
		if (t->spool && t->nx)
			code = spool_add(t->spool, t->x, t->nx * sizeof *t->x, e);
		if (code)
			return code;
		t->nrow++;
		t->at_first = false;
	}
	if (t->csv.code)
		return t->csv.code;
	if (more > 0 && t->last)
		diag_note(t->last, "after %u faults the rest of the file is not read", faults(t));
	if (!more && !t->nrow && !faults(t))
		diag_at(t->diags, DIAG_DATA_EMPTY, t->header, "the file has a header but no rows");
	return 0;
}

/* The window with the first row will go: a source of its own keeps the row for messages. */
static int keep_header(struct table *t, struct err *e)
{
	int file = source_window(diags_sources(t->diags), 0, source_name(diags_sources(t->diags), t->csv.file), t->csv.text,
		t->header.end, 1, e);

	if (file > 0)
		t->header.file = (uint32_t)file;
	return file > 0 ? 0 : file;
}

static int read_table(struct table *t, struct err *e)
{
	int code = csv_next(&t->csv);

	if (t->csv.code)
		return t->csv.code;
	if (!code)
		diag_at(t->diags, DIAG_DATA_EMPTY, (struct span){ t->csv.file, 0, 0 }, "the file is empty");
	if (code <= 0)
		return 0;
	t->at_first = true;
	name_columns(t);
	choose_columns(t);
	if (!faults(t) && t->csv.window && keep_header(t, e))
		return -ERR_CONFIG;
	return faults(t) ? 0 : read_rows(t, e);
}

/* Hands the table's memory over. */
static void finish(struct table *t, const char *path, struct dataset **out)
{
	struct dataset *d = mem_alloc(1, sizeof *d);

	d->nrow = (uint32_t)t->nrow;
	d->nx = (uint32_t)t->nx;
	d->ny = t->label >= 0;
	d->x = t->spool ? NULL : t->x;
	d->y = d->ny ? t->y : NULL;
	d->weight = t->weight >= 0 ? t->w : NULL;
	d->source = mem_strdup(path);
	if (!t->spool) {
		sha256_of(t->csv.text, t->csv.len, d->digest);
		t->x = NULL;
	}
	if (d->y)
		t->y = NULL;
	if (d->weight)
		t->w = NULL;
	*out = d;
}

static void table_release(struct table *t)
{
	for (size_t i = 0; i < t->ncolumn; i++)
		free(t->name[i]);
	free(t->name);
	free(t->to);
	free(t->x);
	free(t->y);
	free(t->w);
	csv_release(&t->csv);
}

/* Whatever was read, and what was wrong with it. */
static int read_and_judge(struct table *t, const char *path, struct dataset **out, struct err *e)
{
	int code = read_table(t, e);

	if (code)
		err_prefix(e, "%s", path);
	else if (faults(t))
		code = err_set(e, -ERR_BAD_DATA, "%s has %u fault%s", path, faults(t), faults(t) == 1 ? "" : "s");
	else
		finish(t, path, out);
	return code;
}

/* The rows as doubles, in the machine's order, which the spool has. */
static int store_rows(struct dataset *d, struct spool *spool, struct err *e)
{
	struct row_field f = { .stride = d->nx * sizeof *d->x, .type = { 'f', sizeof *d->x, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ },
		.count = d->nx };
	int code = spool_take(spool, &f.fd, e);

	if (code)
		return code;
	d->rows = row_store_new(d->source, d->nx);
	row_store_add(d->rows, &f);
	return 0;
}

/* The text passes by, and the numbers of its rows go to a temporary file. */
static int read_streamed(const char *path, const struct read_options *o, struct diags *d, struct dataset **out, struct err *e)
{
	struct spool spool;
	struct table t = { .o = o, .diags = d, .before = diags_errors(d), .spool = &spool };
	struct data_file f;
	struct sha256 h;
	int code;

	sha256_init(&h);
	code = data_file_open(&f, path, &h, e);
	if (code)
		return code;
	code = spool_open(&spool, e);
	if (!code) {
		code = csv_init_file(&t.csv, d, f.fd, path, f.size, e);
		if (!code)
			code = read_and_judge(&t, path, out, e);
		if (!code) {
			code = store_rows(*out, &spool, e);
			sha256_end(&h, (*out)->digest);
			if (code)
				dataset_free(*out);
		}
		spool_release(&spool);
	}
	data_file_close(&f);
	table_release(&t);
	return code;
}

int dataset_read_csv(const char *path, const struct read_options *o, struct diags *d,
	struct dataset **out, struct err *e)
{
	struct table t = { .o = o, .diags = d, .before = diags_errors(d) };
	int file, code;

	if (o->streamed)
		return read_streamed(path, o, d, out, e);
	file = source_open(diags_sources(d), path, CSV_BYTES_MAX, e);
	if (file < 0)
		return file;
	csv_init(&t.csv, d, (uint32_t)file);
	code = read_and_judge(&t, path, out, e);
	table_release(&t);
	return code;
}
