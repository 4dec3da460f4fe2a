/* SPDX-License-Identifier: Apache-2.0
 * Data sets from CSV: columns by order and by name, every fault with its place, limits. */
#include "runtime/base/arena.h"
#include "runtime/data/dataset.h"

#include "runtime/data/format/dataset_read.h"
#include "tests/tap.h"

static const struct input_want one[] = { { .name = "x", .count = 2, .ndim = 1, .dim = { 2 } } };
static const struct input_want two[] = {
	{ .name = "a", .count = 1, .ndim = 1, .dim = { 1 } },
	{ .name = "b", .count = 2, .ndim = 1, .dim = { 2 } },
};
static const struct read_options plain = { .want = one, .nwant = 1 };
static const struct read_options labelled = { .want = one, .nwant = 1, .label_required = true };

/* Reads `text` as a file; the diagnostics in short form (or human) go to out. */
static int read_text(const char *text, size_t len, const struct read_options *o, enum diag_format f,
	struct buf *out, struct dataset **d, struct err *e)
{
	struct buf b = BUF_INIT;
	struct source_set *s = source_set_new();
	struct diags *g = diags_new(s);
	int code;

	buf_add(&b, text, len);
	if (buf_write_file(&b, "d.csv", 0, e))
		tap_bail("cannot write d.csv: %s", e->text);
	code = dataset_read("d.csv", o, g, d, e);
	buf_clear(out);
	buf_str(out, "");
	diags_print(g, f, false, out);
	buf_release(&b);
	diags_free(g);
	source_set_free(s);
	return code;
}

static void good(const char *text, const struct read_options *o, const char *want, const char *what)
{
	struct buf faults = BUF_INIT, got = BUF_INIT;
	struct dataset *d;
	struct err e;

	buf_str(&got, "");
	if (!read_text(text, strlen(text), o, DIAG_SHORT, &faults, &d, &e)) {
		for (uint32_t r = 0; r < d->nrow; r++) {
			for (uint32_t j = 0; j < d->nx; j++)
				buf_printf(&got, "%g ", d->x[(size_t)r * d->nx + j]);
			buf_printf(&got, d->ny ? "-> %g; " : "; ", d->ny ? d->y[r] : 0);
		}
		dataset_free(d);
	} else {
		buf_str(&got, faults.data);
	}
	tap_is_str(got.data, want, "%s", what);
	buf_release(&faults);
	buf_release(&got);
}

static void reading(void)
{
	static const char *const b_column[] = { "v", "u" };
	static const struct input_map map[] = { { "b", b_column, 2 } };
	static const double from[] = { 0, 1 }, to[] = { -1, 1 };
	struct read_options o = { .want = two, .nwant = 2, .label = "c", .map = map, .nmap = 1 };

	good("x0,x1,label\n1,2,0\n-3e-1,+4,1\n", &labelled, "1 2 -> 0; -0.3 4 -> 1; ", "a header and a label");
	good("label,x0,x1\n0,1,2\n", &labelled, "1 2 -> 0; ", "the label may come first");
	good("1,2\n3,4", &plain, "1 2 ; 3 4 ; ", "no header, no last newline");
	good("\xef\xbb\xbf" "x,y\r\n 1 ,\t2\r\n\r\n  \n3,4\r\n", &plain, "1 2 ; 3 4 ; ",
		"byte order mark, CRLF, blanks, blank lines");
	good("\"a \"\"b\"\"\",\"c,\nd\"\n\"1\",2\n", &plain, "1 2 ; ", "quoted names and numbers");
	good("u,v,w,c\n1,2,3,4\n", &o, "3 2 1 -> 4; ", "columns by name, the rest in order");
	o = (struct read_options){ .want = one, .nwant = 1, .label = "3", .label_map = { from, to, 2, NULL } };
	good("1,2,0\n3,4,1\n", &o, "1 2 -> -1; 3 4 -> 1; ", "labels by number and mapped");
	good("0,1,label\n5,6,7\n", &labelled, "5 6 -> 7; ", "names that are numbers, beside one that is asked for");
	o = (struct read_options){ .want = one, .nwant = 1, .label = "3", .label_map = { (double[]){ NAN, NAN }, to, 2,
		(const char *const[]){ "cat", "dog" } } };
	good("1,2,cat\n3,4,dog\n", &o, "1 2 -> -1; 3 4 -> 1; ", "no header, classes that are words");
	o = (struct read_options){ .label = "label" };
	good("label\n5\n", &o, "-> 5; ", "a model without inputs");
}

static void bad(const char *text, const struct read_options *o, const char *want, const char *what)
{
	struct buf faults = BUF_INIT;
	struct dataset *d;
	struct err e;

	tap_is_int(read_text(text, strlen(text), o, DIAG_SHORT, &faults, &d, &e), -ERR_BAD_DATA, "%s", what);
	tap_is_str(faults.data, want, "with its place");
	buf_release(&faults);
}

static void faults(void)
{
	static const char *const twice[] = { "p", "p" }, *const few[] = { "p" }, *const lost[] = { "p", "qq" };
	struct input_map map = { "x", twice, 2 };
	struct read_options o = { .want = one, .nwant = 1, .map = &map, .nmap = 1 };
	static const double from[] = { 0 }, to[] = { 1 };
	struct buf text = BUF_INIT;
	struct dataset *d;
	struct err e;

	bad("", &plain, "d.csv:1:1: error[Q0608]: the file is empty\n", "an empty file");
	bad("a,b\n", &plain, "d.csv:1:1: error[Q0608]: the file has a header but no rows\n", "only a header");
	bad("a,b\n1,x\n2,\nnan,0x1\n", &plain, "d.csv:2:3: error[Q0601]: column `b` holds no number\n"
		"d.csv:3:3: error[Q0601]: column `b` holds no number\n"
		"d.csv:4:1: error[Q0601]: column `a` holds no number\n"
		"d.csv:4:5: error[Q0601]: column `b` holds no number\n", "words, nothing, nan, hexadecimal");
	bad("a,b\n1,1e400\n", &plain, "d.csv:2:3: error[Q0609]: column `b` holds a number beyond the range of "
		"double\n", "infinite");
	bad("1,2\n1,2,3\n1\n", &plain, "d.csv:2:1: error[Q0602]: this row has 3 fields, the first one 2\n"
		"d.csv:3:1: error[Q0602]: this row has 1 field, the first one 2\n", "rows of other lengths");
	bad("a,b\n\"1,2\n", &plain, "d.csv:2:1: error[Q0603]: a quoted field is broken\n", "an open quote");
	bad("a,b\n\"1\"5,2\n", &plain, "d.csv:2:4: error[Q0603]: a quoted field is broken\n", "text behind a quote");
	bad("0.l,2\n1,2\n", &plain, "d.csv:1:1: error[Q0601]: column `1` holds no number\n", "a slip in the first row");
	bad("1,\n1,2\n", &plain, "d.csv:1:3: error[Q0601]: column `2` holds no number\n", "nothing in it");
	bad("a,b\n1,2\n", &labelled, "d.csv:1:1: error[Q0604]: no column `label` for the label\n", "no label");
	read_text("a,b\n1,2\n", 8, &labelled, DIAG_HUMAN, &text, &d, &e);
	tap_ok(strstr(text.data, "`data.label` says which column holds the labels"), "with the key that names another column: %s", text.data);
	buf_release(&text);
	bad("a,b,c\n1,2,3\n", &plain, "d.csv:1:1: error[Q0606]: the file has 3 columns, but input `x` takes 2\n",
		"a column too many");
	bad("1\n", &plain, "d.csv:1:1: error[Q0606]: the file has 1 column, but input `x` takes 2\n",
		"a column too few");
	bad("p,p\n1,2\n", &o, "d.csv:1:3: error[Q0605]: two columns are named `p`\n"
		"d.csv:1:3: error[Q0605]: two columns are named `p`\n"
		"d.csv:1:1: error[Q0605]: column `p` is taken twice, the second time by x\n", "two columns of a name");
	bad("p,q,p,p\n1,2,3,4\n", &o,
		"d.csv:1:5: error[Q0605]: two columns are named `p`\n"
		"d.csv:1:5: error[Q0605]: two columns are named `p`\n"
		"d.csv:1:1: error[Q0605]: column `p` is taken twice, the second time by x\n",
		"three: the first two are shown");
	map.column = lost;
	bad("p,q\n1,2\n", &o, "d.csv:1:1: error[Q0604]: no column `qq` for an input\n", "an unknown column");
	map = (struct input_map){ "x", few, 1 };
	bad("p,q\n1,2\n", &o, "d.csv:1:1: error[Q0606]: `inputs` names 1 column, but input `x` takes 2\n",
		"too few names");
	o = (struct read_options){ .want = one, .nwant = 1, .label = "c", .label_map = { from, to, 1, NULL } };
	bad("a,b,c\n1,2,0\n1,2,3\n", &o, "d.csv:3:5: error[Q0607]: label 3 is not in `label_map`\n",
		"a label outside the map");
}

/* What stands below the first fault of a text whose last column is the label; the caller frees. */
static char *help_of(const char *text, const struct read_options *o)
{
	struct source_set *s = source_set_new();
	struct diags *g = diags_new(s);
	struct buf b = BUF_INIT, out = BUF_INIT;
	struct dataset *d;
	struct err e;
	const char *help;
	char *said;

	buf_str(&b, text);
	buf_write_file(&b, "h.csv", 0, &e);
	tap_ok(dataset_read("h.csv", o, g, &d, &e) == -ERR_BAD_DATA && diags_errors(g) == 1, "one fault");
	diags_print(g, DIAG_HUMAN, false, &out);
	help = out.data ? strstr(out.data, "= help: ") : NULL;
	said = mem_strdup(help ? help + 8 : "");
	said[strcspn(said, "\n")] = 0;
	buf_release(&b);
	buf_release(&out);
	diags_free(g);
	source_set_free(s);
	return said;
}

/* Classes without numbers are told once, all of them. */
static void words(void)
{
	static const double nan_from[] = { NAN }, to[] = { 1 };
	static const char *const name[] = { "a" };
	struct read_options o = { .want = one, .nwant = 1, .label = "c", .label_required = true };
	struct buf many = BUF_INIT;
	char *said = help_of("x,y,c\n1,2,wet day\n1,2,dry\n3,4,dry\n1,1,wet day\n", &o);

	tap_is_str(said, "`data.label_map` gives classes their numbers: `label_map: {dry: -1, 'wet day': 1}`", "two classes");
	free(said);
	said = help_of("x,y,c\n1,2,c\n1,2,b\n3,4,a\n1,1,it's\n", &o);
	tap_is_str(said, "`data.label_map` gives classes their numbers: `label_map: {a: 0, b: 1, c: 2, 'it''s': 3}`", "more");
	free(said);
	buf_str(&many, "x,y,c\n");
	for (int i = 0; i < 100; i++)
		buf_printf(&many, "1,2,w%c%c\n", 'a' + i / 10, 'a' + i % 10);
	said = help_of(many.data, &o);
	tap_ok(strstr(said, "{waa: 0, wab: 1, ") && strstr(said, ", wbb: 11, …}`"), "a hundred: %s", said);
	free(said);
	o.label_map = (struct label_map){ nan_from, to, 1, name };
	said = help_of("x,y,c\n1,2,a\n1,2,b\n3,4,d\n1,2,b\n", &o);
	tap_is_str(said,
		"`data.label_map` has no number for: b, d; `'*': null` in it leaves out their samples",
		"classes that the map lacks");
	free(said);
	said = help_of("x,y,z,c\n1,2,3,4\n", &o);
	tap_is_str(said, "`data.inputs` names those that are meant; `data.transform: {pca: {components: 2}}` makes 2 numbers of all",
		"columns that are too many");
	free(said);
	o.label_required = false;
	said = help_of("x,y,z,c\n1,2,3,4\n", &o);
	tap_is_str(said, "all columns except the label are inputs; to keep some of them, for example: cut -d, -f1-2,4", "without a configuration");
	free(said);
	said = help_of("x;id;y;c\n1;2;3;4\n", &o);
	tap_is_str(said, "column `id` looks like the number of the row; to leave it out: cut -d';' -f1,3-4", "and a column of row numbers");
	free(said);
	said = help_of("x\ty\tz\n1\t2\t3\n1\t2\t3\n", &o);
	tap_is_str(said, "if one is the labels', `c` is the name by which it would be known", "or perhaps of labels");
	free(said);
	said = help_of("w\tx\ty\tz\n1\t2\t3\t4\n", &o);
	tap_is_str(said, "all columns are inputs; to keep some of them, for example: cut -f1-2", "no label, tabs");
	free(said);
	said = help_of("x,y\n1,red\n", &o);
	tap_is_str(said, "an input is a number: write each category as a column of 0 and 1, or leave the column out", "a category");
	free(said);
	buf_release(&many);
}

static void golden(void)
{
	static const char model[] = "input float[2] x;\n", text[] = "a:b\n1:2\n";
	struct source_set *s = source_set_new();
	struct diags *g = diags_new(s);
	struct buf out = BUF_INIT, b = BUF_INIT;
	struct dataset *d;
	struct input_want w = one[0];
	struct read_options o = { .want = &w, .nwant = 1 };
	struct err e;

	w.at = (struct span){ (uint32_t)source_add(s, "m.qcnn", model, strlen(model)), 15, 16 };
	buf_str(&b, text);
	buf_write_file(&b, "e.csv", 0, &e);
	tap_is_int(dataset_read("e.csv", &o, g, &d, &e), -ERR_BAD_DATA, "a separator that is none");
	tap_is_str(e.text, "e.csv has 1 fault", "in a sentence");
	diags_print(g, DIAG_HUMAN, false, &out);
	tap_is_str(out.data,
		"error[Q0606]: the file has 1 column, but input `x` takes 2\n"
		" --> e.csv:1:1\n"
		"  |\n"
		"1 | a:b\n"
		"  | ^^^\n"
		" ::: m.qcnn:1:16\n"
		"  |\n"
		"1 | input float[2] x;\n"
		"  |                - `x` is declared here\n"
		"  = help: an input of 1 would take them: where a constant of the model sets its size, --const changes it\n\n",
		"with places in both files");
	buf_release(&out);
	buf_release(&b);
	diags_free(g);
	source_set_free(s);
}

static void limits(void)
{
	struct input_want w = { .name = "x", .count = DATASET_COLUMNS_MAX };
	struct read_options o = { .want = &w, .nwant = 1, .label_required = true };
	struct buf text = BUF_INIT, out = BUF_INIT;
	struct dataset *d;
	struct err e;

	for (int i = 0; i < DATASET_COLUMNS_MAX; i++)
		buf_str(&text, "1,");
	buf_str(&text, "7");
	o.label = "1048577";
	if (tap_ok(!read_text(text.data, text.len, &o, DIAG_SHORT, &out, &d, &e), "columns at the limit")) {
		tap_ok(d->nx == DATASET_COLUMNS_MAX && d->y[0] == 7, "all of them");
		dataset_free(d);
	}
	buf_str(&text, ",8");
	tap_is_int(read_text(text.data, text.len, &o, DIAG_SHORT, &out, &d, &e), -ERR_BAD_DATA, "one beyond");
	tap_ok(strstr(out.data, "error[Q0610]: too many columns, more than 1048577"), "is named");
	w.count++;
	tap_is_int(read_text("1", 1, &o, DIAG_SHORT, &out, &d, &e), -ERR_BAD_DATA, "inputs beyond it, too");
	for (size_t over = 0; over < 2; over++) {
		buf_clear(&text);
		buf_str(&text, "1,");
		buf_pad(&text, '0', CSV_FIELD_MAX - 1 + over);
		buf_str(&text, "2\n");
		if (over) {
			tap_is_int(read_text(text.data, text.len, &plain, DIAG_SHORT, &out, &d, &e), -ERR_BAD_DATA,
				"a field beyond the limit");
			tap_is_str(out.data, "d.csv:1:3: error[Q0610]: too many bytes in a field, more than 65536\n",
				"is named");
		} else if (tap_ok(!read_text(text.data, text.len, &plain, DIAG_SHORT, &out, &d, &e),
				"a field at the limit")) {
			dataset_free(d);
		}
	}
	tap_is_int(dataset_read("d.txt", &plain, NULL, &d, &e), -ERR_BAD_DATA, "another ending");
	tap_is_str(e.text,
		"d.txt: data files end in .csv, .npz or .npy, or have idx in their names; a table with commas, semicolons or tabs is a "
		".csv, and Python's numpy.savez(\"samples.npz\", x=inputs, y=labels) writes pictures and others",
		"is named, and what to do with others");
	buf_release(&text);
	buf_release(&out);
}

/* Whatever the bytes are, there is an answer. */
static void rubbish(void)
{
	static const char text[] = "x0,x1,label\n1,2,0\n\"3\",4,1\n-5e3,6,0\n";
	struct buf out = BUF_INIT;
	char copy[sizeof text];
	struct dataset *d;
	struct err e;
	bool answered = true;

	for (size_t i = 0; i < 8 * (sizeof text - 1); i++) {
		memcpy(copy, text, sizeof text);
		copy[i / 8] ^= (char)(1 << i % 8);
		if (read_text(copy, i % 2 ? sizeof text - 1 : i / 8, &labelled, DIAG_HUMAN, &out, &d, &e))
			answered &= out.len > 0 && *e.text;
		else
			dataset_free(d);
	}
	tap_ok(answered, "cut off or with flipped bits, a refused file gets a reason");
	buf_release(&out);
}

int main(void)
{
	reading();
	faults();
	words();
	golden();
	limits();
	rubbish();
	return tap_done();
}
