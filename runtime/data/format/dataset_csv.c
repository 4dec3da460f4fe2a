/* SPDX-License-Identifier: Apache-2.0
 * Data sets from CSV files: the rows, in memory or passing by. */
#include "runtime/data/format/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "runtime/base/arena.h"
#include "runtime/base/crypto/crypto.h"
#include "runtime/base/input_files.h"
#include "runtime/base/system/temporary_file.h"
#include "runtime/data/format/csv_table.h"
#include "runtime/data/row_store.h"

enum { CSV_FAULTS_MAX = 5 };         /* what is wrong in every row is not said for every row */

/* How programs write that there is no value. */
static bool is_missing(const char *text)
{
	static const char *const word[] = { "", "nan", "na", "n/a", "#n/a", "null", "none", "nil", "?", "-", "missing" };

	for (size_t i = 0; i < sizeof word / sizeof *word; i++)
		if (!strcasecmp(text, word[i]))
			return true;
	return false;
}

static void help_number(const struct csv_table *t, size_t field, const char *text, struct diag *g)
{
	if (strchr(text, ';'))
		diag_help(g, "fields are separated by commas, because the first row has some; semicolons separate them only if it has none, and numbers have a decimal point");
	else if (strchr(text, ','))
		diag_help(g, "numbers have a decimal point, not a comma");
	else if (is_missing(text) && t->to[field] == TO_LABEL)
		diag_help(g, "a sample without a label cannot be used for training: remove its row");
	else if (is_missing(text) && t->to[field] == TO_WEIGHT)
		diag_help(g, "remove the row, or give it a weight (0 leaves it out)");
	else if (is_missing(text))
		diag_help(g, "missing values have to be filled before, for example by the mean of the column, or their rows removed");
	else if (t->to[field] != TO_LABEL && !strpbrk(text, "0123456789"))
		diag_help(g, "an input is a number: write each category as a column of 0 and 1, or %s", t->o->label_required
			? "name the columns that are inputs with `data.inputs`" : "leave the column out");
}

static void bad_number(struct csv_table *t, size_t field)
{
	struct span at = csv_span(&t->csv, field);
	mem_auto char *text = csv_text(&t->csv, field);
	bool word = t->to[field] == TO_LABEL && !is_missing(text) && !strchr(text, ';');

	if (word && !label_words_add(&t->words, &t->memory, text))
		return;
	struct diag *g = t->last = diag_at(t->diags, DIAG_DATA_NUMBER, at,
		"column `%s` holds no number", t->name[field]);
	if (word)
		t->words.fault = g;
	if (!*text)
		diag_label(g, "empty");
	else
		diag_label(g, is_missing(text) ? "a missing value" : "not a decimal number");
	help_number(t, field, text, g);
	if (t->at_first && !t->has_header)
		diag_note(g,
			"the first row holds numbers, so it is a sample; names of columns are words, all of them or that of the label");
}

static void read_label(struct csv_table *t, size_t field, double v)
{
	if (label_map_apply(&t->o->label_map, &v)) {
		t->y[t->nrow] = v;
		return;
	}
	struct diag *g = t->last = diag_at(t->diags, DIAG_DATA_LABEL, csv_span(&t->csv, field),
		"label %g is not in `label_map`", v);
	diag_help(g,
		"`label_map` has a value for every label of the file; `'*': null` in it leaves out samples of other labels");
}

static void read_weight(struct csv_table *t, size_t field, double v)
{
	if (v < 0)
		t->last = diag_at(t->diags, DIAG_DATA_NUMBER, csv_span(&t->csv, field), "the weight %g is negative", v);
	t->w[t->nrow] = v;
}

/* A class that label_map names by a text; false: it is to be a number. */
static bool read_named_label(struct csv_table *t, size_t field)
{
	const struct label_map *m = &t->o->label_map;
	double *label = &t->y[t->nrow];

	if (!m->name || csv_number(&t->csv, field, &(double){ 0 }))
		return false;
	mem_auto char *text = csv_text(&t->csv, field);
	return label_map_named(m, text, label)
		|| (!is_missing(text) && label_map_named(m, LABEL_OTHERS, label));
}

static void read_row(struct csv_table *t)
{
	double *x = t->x + (t->file ? 0 : t->nrow * t->nx), v = 0;

	for (size_t i = 0; i < t->ncolumn; i++) {
		if (t->to[i] == TO_NOTHING || t->to[i] == TO_SKIPPED)
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

static bool row_width_fits(struct csv_table *t)
{
	if (t->csv.nfield == t->ncolumn)
		return true;
	struct diag *g = t->last = diag_at(t->diags, DIAG_DATA_ROW, t->csv.row,
		"this row has %zu field%s, the first one %zu", t->csv.nfield,
		t->csv.nfield == 1 ? "" : "s", t->ncolumn);
	diag_second(g, t->header, "the first row");
	return false;
}

/* Room for one more row. */
static int grow(struct csv_table *t, struct err *e)
{
	size_t cap = t->cap ? 2 * t->cap : 64, nbytes, rows = t->file ? 1 : cap;
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

static int read_rows(struct csv_table *t, struct err *e)
{
	int more = t->has_header ? csv_next(&t->csv) : 1, code;

	for (; more > 0 && csv_table_faults(t) < CSV_FAULTS_MAX; more = csv_next(&t->csv)) {
		if (!row_width_fits(t))
			continue;
		code = grow(t, e);
		if (code)
			return code;
		read_row(t);
		if (t->file && t->nx)
			code = temporary_file_add(t->file, t->x, t->nx * sizeof *t->x, e);
		if (code)
			return code;
		t->nrow++;
		t->at_first = false;
	}
	label_words_help(&t->words, t->o->label_map.name, t->o->label_map.n);
	if (t->csv.code)
		return t->csv.code;
	if (more > 0 && t->last)
		diag_note(t->last, "after %u faults the rest of the file is not read", csv_table_faults(t));
	if (!more && !t->nrow && !csv_table_faults(t))
		diag_at(t->diags, DIAG_DATA_EMPTY, t->header, "the file has a header but no rows");
	return 0;
}

/* The window with the first row will go: a source of its own keeps the row for messages. */
static int keep_header(struct csv_table *t, struct err *e)
{
	int file = source_window(diags_sources(t->diags), 0, source_name(diags_sources(t->diags), t->csv.file), t->csv.text,
		t->header.end, 1, e);

	if (file > 0)
		t->header.file = (uint32_t)file;
	return file > 0 ? 0 : file;
}

/* How files begin that are not text. */
static const struct { const char *bytes; size_t n; const char *what; } binary[] = {
	{ "\x93NUMPY", 6, "a NumPy array; give it a name that ends in .npy" },
	{ "PK\x03\x04", 4, "a ZIP archive, such as .npz (give it that ending) or a spreadsheet (.xlsx: save it as CSV)" },
	{ "\x1f\x8b", 2, "compressed; unpack it with gunzip" },
	{ "PAR1", 4, "a Parquet file; write it as CSV or .npz" },
	{ "\x89HDF", 4, "an HDF5 file; write its arrays as .npz" },
	{ "\xd0\xcf\x11\xe0", 4, "a spreadsheet (.xls); save it as CSV" },
};

static int check_binary(const struct csv *c, struct err *e)
{
	const char *nul = memchr(c->text, 0, c->len);

	for (size_t i = 0; i < sizeof binary / sizeof *binary; i++)
		if (c->len >= binary[i].n && !memcmp(c->text, binary[i].bytes, binary[i].n))
			return err_set(e, -ERR_BAD_DATA, "this is not CSV text but %s", binary[i].what);
	if (!nul)
		return 0;
	return err_set(e, -ERR_BAD_DATA, "this is not CSV text: byte %zu is 0; data files are CSV texts, .npz, .npy or IDX",
		(size_t)(nul - c->text) + 1);
}

/* Texts of bytes that are no CSV, though some programs call them so. */
static int check_text(const struct csv *c, struct err *e)
{
	const char *cr = memchr(c->text, '\r', c->len);

	if (text_check_encoding(c->text, c->len, e) || check_binary(c, e))
		return -ERR_BAD_DATA;
	if (cr && !memchr(c->text, '\n', c->len) && cr + 1 < c->text + c->len)
		return err_set(e, -ERR_BAD_DATA, "lines end in a carriage return alone; save the file with other line ends, or: tr '\\r' '\\n'");
	return 0;
}

static int read_table(struct csv_table *t, struct err *e)
{
	int code = check_text(&t->csv, e);

	if (code)
		return code;
	code = csv_next(&t->csv);
	if (t->csv.code)
		return t->csv.code;
	if (!code)
		diag_at(t->diags, DIAG_DATA_EMPTY, (struct span){ t->csv.file, 0, 0 }, "the file is empty");
	if (code <= 0)
		return 0;
	t->at_first = true;
	csv_table_names(t);
	csv_table_columns(t);
	if (!csv_table_faults(t) && t->csv.window && keep_header(t, e))
		return -ERR_CONFIG;
	return csv_table_faults(t) ? 0 : read_rows(t, e);
}

/* The names of the numbers of a row. */
static void keep_names(struct csv_table *t, struct dataset *d)
{
	if (!t->has_header || !t->nx)
		return;
	d->ncolumn = (uint32_t)t->nx;
	d->column = arena_alloc(&d->memory, t->nx, sizeof *d->column);
	for (size_t i = 0; i < t->ncolumn; i++)
		if (t->to[i] >= 0)
			d->column[t->to[i]] = t->name[i];
}

/* Hands the table's memory over. */
static void finish(struct csv_table *t, const char *path, struct dataset **out)
{
	struct dataset *d = mem_alloc(1, sizeof *d);

	d->nrow = (uint32_t)t->nrow;
	d->nx = (uint32_t)t->nx;
	d->ny = t->label >= 0 && !t->o->inputs_only;
	d->x = t->file ? NULL : t->x;
	d->y = d->ny ? t->y : NULL;
	d->weight = t->weight >= 0 ? t->w : NULL;
	d->source = arena_strdup(&d->memory, input_name(path));
	keep_names(t, d);
	arena_join(&d->memory, &t->memory);
	if (!t->file) {
		sha256_of(t->csv.text, t->csv.len, d->digest);
		t->x = NULL;
	}
	if (d->y)
		t->y = NULL;
	if (d->weight)
		t->w = NULL;
	*out = d;
}

/* Whatever was read, and what was wrong with it. */
static int read_and_judge(struct csv_table *t, const char *path, struct dataset **out, struct err *e)
{
	int code = read_table(t, e);

	if (code)
		err_prefix(e, "%s", path);
	else if (csv_table_faults(t))
		code = err_set(e, -ERR_BAD_DATA, "%s has %u fault%s", path, csv_table_faults(t), csv_table_faults(t) == 1 ? "" : "s");
	else
		finish(t, path, out);
	return code;
}

/* The rows as doubles, in the machine's order, which the file has. */
static int store_rows(struct dataset *d, struct temporary_file *file, struct err *e)
{
	struct row_field f = { .stride = d->nx * sizeof *d->x, .type = { 'f', sizeof *d->x, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ },
		.count = d->nx };
	int code = temporary_file_take(file, &f.fd, e);

	if (code)
		return code;
	d->rows = row_store_new(d->source, d->nx);
	row_store_add(d->rows, &f);
	return 0;
}

/* The text passes by, and the numbers of its rows go to a temporary file. */
static int read_streamed(const char *path, const struct read_options *o, struct diags *d, struct dataset **out, struct err *e)
{
	struct temporary_file file;
	struct csv_table t = { .o = o, .diags = d, .before = diags_errors(d), .file = &file };
	struct data_file f;
	struct sha256 h;

	sha256_init(&h);
	int code = data_file_open(&f, path, e);
	if (code)
		return code;
	code = temporary_file_open(&file, e);
	if (!code) {
		code = csv_init_file(&t.csv, d, f.fd, path, f.size, e);
		if (!code)
			code = read_and_judge(&t, path, out, e);
		if (!code) {
			code = store_rows(*out, &file, e);
			if (!code)
				code = data_file_digest(&f, &h, e);
			sha256_end(&h, (*out)->digest);
			if (code)
				dataset_free(*out);
		}
		temporary_file_release(&file);
	}
	data_file_close(&f);
	csv_table_release(&t);
	return code;
}

int dataset_read_csv(const char *path, const struct read_options *o, struct diags *d,
	struct dataset **out, struct err *e)
{
	struct csv_table t = { .o = o, .diags = d, .before = diags_errors(d) };

	if (o->streamed)
		return read_streamed(path, o, d, out, e);
	int file = source_open(diags_sources(d), path, CSV_BYTES_MAX, e);
	if (file < 0)
		return file;
	csv_init(&t.csv, d, (uint32_t)file);
	int code = read_and_judge(&t, path, out, e);
	csv_table_release(&t);
	return code;
}
