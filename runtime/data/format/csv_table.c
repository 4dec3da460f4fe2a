/* SPDX-License-Identifier: Apache-2.0
 * Which column of a CSV file feeds which number. */
#include "runtime/data/format/csv_table.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "runtime/base/arena.h"

static const char LABEL[] = "the label";

enum { NAMES_SHOWN = 12, NAMES_BYTES = 400, TWICE_LOOKED = 4096, COLUMN_FAULTS_MAX = 50 };

unsigned csv_table_faults(const struct csv_table *t) { return diags_errors(t->diags) - t->before; }

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
		if (csv_number(c, i, &v))
			continue;
		words++;
		char *text = csv_text(c, i);
		wanted = wanted || is_wanted(o, text);
		free(text);
	}
	return wanted || words == c->nfield;
}

void csv_table_names(struct csv_table *t)
{
	t->has_header = is_header(&t->csv, t->o);
	t->header = t->csv.row;
	t->ncolumn = t->csv.nfield;
	t->name = arena_alloc(&t->memory, t->ncolumn, sizeof *t->name);
	t->to = arena_alloc(&t->memory, t->ncolumn, sizeof *t->to);
	for (size_t i = 0; i < t->ncolumn; i++) {
		mem_auto char *text = t->has_header ? csv_text(&t->csv, i) : NULL;

		t->name[i] = text ? arena_strdup(&t->memory, text)
				  : arena_printf(&t->memory, "%zu", i + 1);
		t->to[i] = TO_NOTHING;
	}
}

size_t csv_header(const char *path, const struct read_options *o, struct arena *a, const char ***name)
{
	struct csv_table t = { .o = o, .diags = diags_new(source_set_new()) };
	struct data_file f;
	struct stat st;
	size_t n = 0;

	if (path_ends(path, ".csv") && !stat(path, &st) && S_ISREG(st.st_mode) && !data_file_open(&f, path, NULL)) {
		if (!csv_init_file(&t.csv, t.diags, f.fd, path, f.size, NULL) && csv_next(&t.csv) > 0) {
			csv_table_names(&t);
			n = t.has_header ? t.ncolumn : 0;
			*name = t.name;
			arena_join(a, &t.memory);
		}
		data_file_close(&f);
	}
	csv_table_release(&t);
	diags_free_all(t.diags);
	return n;
}

void csv_table_release(struct csv_table *t)
{
	text_table_release(&t->index);
	text_table_release(&t->again);
	arena_release(&t->memory);
	free(t->x);
	free(t->y);
	free(t->w);
	csv_release(&t->csv);
}

/* The column of this name, or -1; a name that stands twice is reported. */
static int64_t find_column(struct csv_table *t, const char *name)
{
	uint32_t found = text_table_find(&t->index, name), again = text_table_find(&t->again, name);

	if (again != UINT32_MAX)
		diag_second(diag_at(t->diags, DIAG_DATA_COLUMN_TWICE, csv_span(&t->csv, again),
				    "two columns are named `%s`", name),
			csv_span(&t->csv, found), "the other");
	return found == UINT32_MAX ? -1 : (int64_t)found;
}

/* "`a`, `b`, ... and `z`". */
static void list_names(struct buf *out, const char *const *name, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (n > NAMES_SHOWN && i == NAMES_SHOWN - 1) {
			buf_str(out, ", ...");
			i = n - 1;
		}
		buf_printf(out, "%s`%s`", !i ? "" : i + 1 == n ? " and " : ", ", name[i]);
	}
}

/* What the training had, and what the file has. */
static void help_trained(const struct csv_table *t, struct diag *g)
{
	buf_auto b = BUF_INIT;

	buf_printf(&b, "the training took the %u column%s ", t->o->ntrained, t->o->ntrained == 1 ? "" : "s");
	list_names(&b, t->o->trained, t->o->ntrained);
	if (t->has_header) {
		buf_str(&b, "; this file has ");
		list_names(&b, t->name, t->ncolumn);
	} else {
		buf_printf(&b, "; this file has no header and %zu column%s", t->ncolumn, t->ncolumn == 1 ? "" : "s");
	}
	diag_help(g, "%s", b.data);
}

/* Fields that spaces part: the first row as a list of them. */
static bool help_spaces(const struct csv_table *t, struct diag *g)
{
	char *text = csv_text(&t->csv, 0);
	size_t n = 0;

	for (const char *p = text; *p; n++) {
		p += strcspn(p, " ");
		p += strspn(p, " ");
	}
	free(text);
	if (n > 1)
		diag_help(g, "the first row is %zu words with spaces between, but commas, semicolons or tabs separate fields; "
			"for example: tr -s ' ' ','", n);
	return n > 1;
}

static void unknown_column(struct csv_table *t, const char *name, const char *wanted_by)
{
	bool trained = text_among(name, t->o->trained, t->o->ntrained);
	const char *near = diag_nearest(name, t->name, t->ncolumn);

	if (trained && near && text_among(near, t->o->trained, t->o->ntrained)) /* it is no misspelling */
		near = NULL;
	if (trained && t->trained_listed && !near)           /* one list names all that are missing */
		return;
	struct diag *g = diag_at(t->diags, DIAG_DATA_COLUMN, t->header,
		trained ? "no column `%s`, which the training had" : "no column `%s` for %s", name,
		wanted_by);
	if (t->ncolumn == 1 && help_spaces(t, g))
		return;
	if (trained && near)
		diag_help(g, "did you mean `%s`?", near);
	if (trained && !t->trained_listed)
		help_trained(t, g);
	t->trained_listed |= trained;
	if (trained)
		return;
	if (!t->has_header)
		diag_help(g, "this file has no header: its columns are named 1 to %zu", t->ncolumn);
	else if (near)
		diag_help(g, "did you mean `%s`?", near);
	else
		diag_help(g, "the file's columns are `%s` to `%s`", t->name[0], t->name[t->ncolumn - 1]);
	if (!strcmp(wanted_by, LABEL) && !t->o->label)
		diag_help(g, "`data.label` says which column holds the labels");
}

static void choose_label(struct csv_table *t)
{
	const char *name = t->o->label ? t->o->label : "label";

	t->label = find_column(t, name);
	if (t->label >= 0)
		t->to[t->label] = t->o->inputs_only ? TO_SKIPPED : TO_LABEL;
	else if (t->o->label_required)
		unknown_column(t, name, LABEL);
}

static void choose_weight(struct csv_table *t)
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
static void choose_mapped(struct csv_table *t, const struct input_want *w, const struct input_map *m,
	size_t first)
{
	for (unsigned i = 0; i < m->ncolumn && csv_table_faults(t) < COLUMN_FAULTS_MAX; i++) {
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
static size_t choose_next(struct csv_table *t, const struct input_want *w, size_t first, size_t column)
{
	size_t taken = 0;

	for (; column < t->ncolumn && taken < w->count; column++)
		if (t->to[column] == TO_NOTHING)
			t->to[column] = (int64_t)(first + taken++);
	return column;
}

static size_t free_columns(const struct csv_table *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->ncolumn; i++)
		n += t->to[i] == TO_NOTHING;
	return n;
}

/* As many columns as there are, where the input takes any number of them. */
static void choose_width(struct csv_table *t)
{
	const struct input_map *m = t->o->nwant == 1 ? reader_map(t->o, t->o->want->name) : NULL;

	t->o = reader_any_width(t->o, m ? m->ncolumn : free_columns(t), &t->own, &t->want);
}

static bool last_is_empty(const struct csv_table *t)
{
	const struct csv_field *f = &t->csv.field[t->ncolumn - 1];

	return f->begin == f->end && !f->is_quoted;
}

/* The free column that looks like the number of the row, by its name; -1: none. */
static int64_t row_number(const struct csv_table *t)
{
	static const char *const name[] = { "", "id", "index", "row", "sample", "nr", "no", "number", "unnamed: 0" };

	for (size_t i = 0; t->has_header && i < t->ncolumn; i++)
		for (size_t k = 0; t->to[i] == TO_NOTHING && k < sizeof name / sizeof *name; k++)
			if (!strcasecmp(t->name[i], name[k]))
				return (int64_t)i;
	return -1;
}

/* A command that keeps the label and the first `wanted` columns that are free, without one (-1: with all). */
static void add_cut(const struct csv_table *t, uint64_t wanted, int64_t without, struct buf *out)
{
	size_t from = 0, end;

	buf_printf(out, t->csv.separator == '\t' ? "cut" : t->csv.separator == ';' ? "cut -d'%c'" : "cut -d%c", t->csv.separator);
	for (const char *between = " -f"; from < t->ncolumn; from = end + 1) {
		for (end = from; end < t->ncolumn && (t->to[end] != TO_NOTHING || ((int64_t)end != without && wanted)); end++)
			wanted -= t->to[end] == TO_NOTHING;
		if (end == from)
			continue;
		buf_printf(out, end == from + 1 ? "%s%zu" : "%s%zu-%zu", between, from + 1, end);
		between = ",";
	}
}

/* What takes the columns that are too many away, where no configuration chooses them. */
static void help_cut(const struct csv_table *t, struct diag *g, uint64_t have, uint64_t wanted)
{
	int64_t number = row_number(t);
	buf_auto b = BUF_INIT;

	add_cut(t, wanted, number, &b);
	if (number >= 0 && have == wanted + 1)
		diag_help(g, "column `%s` looks like the number of the row; to leave it out: %s", t->name[number], b.data);
	else
		diag_help(g, "all columns%s are inputs; to keep some of them, for example: %s",
			t->label < 0 ? "" : " except the label", b.data);
}

/* The configuration that leaves that column out. */
static void help_number(const struct csv_table *t, struct diag *g, int64_t number)
{
	buf_auto b = BUF_INIT;

	for (size_t i = 0; i < t->ncolumn; i++)
		if (t->to[i] == TO_NOTHING && (int64_t)i != number)
			buf_printf(&b, "%s%s", b.len ? ", " : "", t->name[i]);
	if (t->o->nwant == 1 && b.len < NAMES_BYTES)
		diag_help(g, "column `%s` looks like the number of the row; to leave it out: `data.inputs: {%s: [%s]}`", t->name[number],
			t->o->want->name, b.data);
	else
		diag_help(g,
			"column `%s` looks like the number of the row; `data.inputs` names the columns that are inputs",
			t->name[number]);
}

/* The only input may be made as wide as the file. */
static void help_size(const struct csv_table *t, struct diag *g, size_t have)
{
	if (t->o->nwant == 1)
		diag_help(g,
			"an input of %zu would take them: where a constant of the model sets its size, --const changes it",
			have);
}

static void width_fault(struct csv_table *t, size_t have, uint64_t wanted)
{
	struct diag *g = reader_width(t->diags, t->o, t->header, NULL, have, t->label < 0 ? "the file has" : "beside the label the file has");
	int64_t number = row_number(t);

	if (t->ncolumn == 1 && help_spaces(t, g))
		return;
	if (have == wanted + 1 && !*t->name[t->ncolumn - 1])
		diag_help(g, "the rows end in a separator, so that the last column has no name: remove it, for example with "
			"sed 's/%c$//'", t->csv.separator);
	else if (have == wanted + 1 && !t->has_header && last_is_empty(t))
		diag_help(g, "the rows end in a separator, so that the last column is empty: remove it, for example with sed 's/%c$//'",
			t->csv.separator);
	else if (t->o->ntrained)
		help_trained(t, g);
	else if (have == wanted + 1 && number >= 0)
		t->o->label_required ? help_number(t, g, number) : help_cut(t, g, have, wanted);
	else if (t->label < 0 && have == wanted + 1)
		diag_help(g, "if one is the labels', `%s` is the name by which it would be known", t->o->label ? t->o->label : "label");
	else if (have > wanted && !t->o->label_required)
		help_cut(t, g, have, wanted);
	else {
		if (have > wanted)
			diag_help(g,
				"`data.inputs` names those that are meant; `data.transform: {pca: {components: %llu}}` makes %llu number%s of all",
				(unsigned long long)wanted, (unsigned long long)wanted,
				wanted == 1 ? "" : "s");
		help_size(t, g, have);
	}
}

/* One column for each number of the inputs, in their order. */
static void map_columns(struct csv_table *t, const char *const *column)
{
	t->map = arena_alloc(&t->memory, t->o->nwant, sizeof *t->map);
	for (unsigned i = 0; i < t->o->nwant; column += t->o->want[i++].count)
		t->map[i] = (struct input_map){ t->o->want[i].name, column, t->o->want[i].count };
	t->own = *t->o;
	t->own.map = t->map;
	t->own.nmap = t->o->nwant;
	t->o = &t->own;
}

/* Maps of the training's names, where the file has one of them; else its columns are taken in their order. */
static void choose_trained(struct csv_table *t)
{
	size_t wanted = 0;
	bool found = false;

	for (unsigned i = 0; i < t->o->nwant; i++)
		wanted += t->o->want[i].count;
	for (size_t i = 0; t->has_header && !found && i < t->o->ntrained; i++)
		found = text_table_find(&t->index, t->o->trained[i]) != UINT32_MAX;
	if (found && !t->o->nmap && t->o->ntrained == wanted)
		map_columns(t, t->o->trained);
}

/* Where every input is one number, and a column has its name: by these names. */
static void choose_named(struct csv_table *t)
{
	if (!t->has_header || t->o->nmap || !t->o->nwant)
		return;
	for (unsigned i = 0; i < t->o->nwant; i++) {
		const struct input_want *w = &t->o->want[i];
		uint32_t column = text_table_find(&t->index, w->name);

		if (w->count != 1 || w->any_count || column == UINT32_MAX
			|| t->to[column] != TO_NOTHING)
			return;
	}
	t->input = arena_alloc(&t->memory, t->o->nwant, sizeof *t->input);
	for (unsigned i = 0; i < t->o->nwant; i++)
		t->input[i] = t->o->want[i].name;
	map_columns(t, t->input);
}

/* Columns that have the same name: only their order distinguishes them. */
static void warn_twice(struct csv_table *t)
{
	for (size_t i = 1; t->has_header && i < t->ncolumn && i < TWICE_LOOKED; i++)
		for (size_t k = 0; k < i; k++) {
			if (t->to[i] < 0 || t->to[k] < 0 || strcmp(t->name[i], t->name[k]))
				continue;
			struct diag *g = diag_at(t->diags, DIAG_DATA_SAME_NAME,
				csv_span(&t->csv, i), "two columns are named `%s`", t->name[i]);
			diag_second(g, csv_span(&t->csv, k), "the other");
			diag_help(g, "both are inputs, in the order of the file; give them different names, or remove one");
			return;
		}
}

/* A first column that numbers the rows, and that nothing but the order of the columns makes an input. */
static void warn_number(struct csv_table *t)
{
	if (!t->o->label_required || t->o->ntrained || row_number(t) != 0)
		return;
	struct diag *g = diag_at(t->diags, DIAG_DATA_ROW_NUMBER, csv_span(&t->csv, 0),
		*t->name[0] ? "column `%s` is an input" : "the first column is an input%s",
		t->name[0]);
	help_number(t, g, 0);
}

/* No name of the training's is in the file. */
static void warn_names(struct csv_table *t)
{
	if (!t->o->ntrained || t->o->nmap || !t->has_header)
		return;
	struct diag *g = diag_at(t->diags, DIAG_DATA_NAMES, t->header,
		"the columns have other names than those of the training; they are taken in their order");
	help_trained(t, g);
}

void csv_table_columns(struct csv_table *t)
{
	size_t first = 0, column = 0, wanted = 0, free_count;
	const struct input_want *last = NULL;

	for (uint32_t i = 0; i < t->ncolumn; i++)
		if (text_table_find(&t->index, t->name[i]) == UINT32_MAX)
			text_table_add(&t->index, t->name[i], i);
		else if (text_table_find(&t->again, t->name[i]) == UINT32_MAX)
			text_table_add(&t->again, t->name[i], i);
	choose_label(t);
	choose_trained(t);
	choose_weight(t);
	choose_named(t);
	choose_width(t);
	for (unsigned i = 0; i < t->o->nwant; first += t->o->want[i++].count) {
		const struct input_map *m = reader_map(t->o, t->o->want[i].name);
		if (m)
			choose_mapped(t, &t->o->want[i], m, first);
		else
			wanted += (last = &t->o->want[i])->count;
	}
	t->nx = first;
	free_count = free_columns(t);
	if (!last || csv_table_faults(t))
		return;
	if (free_count != wanted) {
		width_fault(t, free_count, wanted);
		return;
	}
	warn_number(t);
	for (unsigned i = 0, at = 0; i < t->o->nwant; at += t->o->want[i++].count)
		if (!reader_map(t->o, t->o->want[i].name))
			column = choose_next(t, &t->o->want[i], at, column);
	warn_twice(t);
	warn_names(t);
}
