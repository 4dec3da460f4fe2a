/* SPDX-License-Identifier: Apache-2.0
 * Sources and diagnostics: places, the three formats as golden texts, limits, suggestions. */
#include "runtime/base/diag.h"

#include "tests/tap.h"

static const char model[] = "qubit[2] q;\n\tcnott q[0], q[1];\r\n/* \xc3\xa4 */ rx(1) \xc3\xb6;\nlast";

static struct span find(const char *word)
{
	uint32_t at = (uint32_t)(strstr(model, word) - model);

	return (struct span){ 1, at, at + (uint32_t)strlen(word) };
}

static void check(struct diags *d, enum diag_format f, bool colour, const char *want, const char *what)
{
	struct buf b = BUF_INIT;

	diags_print(d, f, colour, &b);
	tap_is_str(b.data, want, "%s", what);
	buf_release(&b);
}

static void places(struct source_set *s)
{
	struct place p = source_place(s, find("\xc3\xb6"));
	size_t len;

	tap_ok(p.line == 3 && p.column == 15 && p.end_column == 16, "columns count characters");
	p = source_place(s, find("q[1];\r\n/*"));
	tap_ok(p.line == 2 && p.column == 14 && p.end_line == 3 && p.end_column == 3, "a span over lines");
	p = source_place(s, (struct span){ 1, 99999, 99999 });
	tap_ok(p.line == 4 && p.column == 5, "a place behind the end is the end");
	p = source_place(s, (struct span){ 0, 0, 0 });
	tap_ok(p.line == 0 && !*p.name, "no place");
	source_line(s, 1, 2, &len);
	tap_is_int((long long)len, 18, "a line comes without its end");
	source_line(s, 1, 4, &len);
	tap_is_int((long long)len, 4, "the last line needs none");
	tap_ok(span_join(find("q[0]"), find("cnott")).begin == find("cnott").begin, "joined spans");
}

static void formats(struct source_set *s)
{
	struct diags *d = diags_new(s);
	struct diag *g = diag_at(d, DIAG_UNKNOWN_GATE, find("cnott"), "unknown gate `%s`", "cnott");

	diag_label(g, "no gate or block of this name");
	diag_help(g, "did you mean `cnot`? here it is called `%s`", "cx");
	diag_note(g, "gates\nare listed in qcnn-lang(7)");
	check(d, DIAG_HUMAN, false,
		"error[Q0107]: unknown gate `cnott`\n"
		" --> m.qcnn:2:2\n"
		"  |\n"
		"2 | \tcnott q[0], q[1];\n"
		"  | \t^^^^^ no gate or block of this name\n"
		"  = help: did you mean `cnot`? here it is called `cx`\n"
		"  = note: gates?are listed in qcnn-lang(7)\n\n", "for people");
	check(d, DIAG_SHORT, false, "m.qcnn:2:2: error[Q0107]: unknown gate `cnott`\n", "short");
	diag_second(g, find("q[0]"), "on this qubit");
	diag_second(g, find("\xc3\xb6"), "not like here");
	check(d, DIAG_HUMAN, true,
		"\033[1;31merror[Q0107]\033[0m\033[1m: unknown gate `cnott`\033[0m\n"
		"\033[1;34m -->\033[0m m.qcnn:2:2\n"
		"\033[1;34m  |\033[0m\n"
		"\033[1;34m2 |\033[0m \tcnott q[0], q[1];\n"
		"\033[1;34m  |\033[0m \t\033[1;31m^^^^^ no gate or block of this name\033[0m\n"
		"\033[1;34m  |\033[0m \t      \033[1;34m---- on this qubit\033[0m\n"
		"\033[1;34m :::\033[0m m.qcnn:3:15\n"
		"\033[1;34m  |\033[0m\n"
		"\033[1;34m3 |\033[0m /* \xc3\xa4 */ rx(1) \xc3\xb6;\n"
		"\033[1;34m  |\033[0m               \033[1;34m- not like here\033[0m\n"
		"\033[1;34m  = \033[0m\033[1mhelp:\033[0m did you mean `cnot`? here it is called `cx`\n"
		"\033[1;34m  = \033[0m\033[1mnote:\033[0m gates?are listed in qcnn-lang(7)\n\n", "in colour, second places");
	check(d, DIAG_JSON, true,
		"{\"schema\": 1, \"severity\": \"error\", \"code\": \"Q0107\", \"message\": \"unknown gate `cnott`\", "
		"\"file\": \"m.qcnn\", \"line\": 2, \"column\": 2, \"end_line\": 2, \"end_column\": 7, "
		"\"label\": \"no gate or block of this name\", \"related\": [{\"message\": \"on this qubit\", "
		"\"file\": \"m.qcnn\", \"line\": 2, \"column\": 8, \"end_line\": 2, \"end_column\": 12}, "
		"{\"message\": \"not like here\", \"file\": \"m.qcnn\", \"line\": 3, \"column\": 15, "
		"\"end_line\": 3, \"end_column\": 16}], \"help\": [\"did you mean `cnot`? here it is called `cx`\"], "
		"\"notes\": [\"gates\\nare listed in qcnn-lang(7)\"]}\n", "as JSON");
	diags_free(d);
}

static void odd_places(struct source_set *s)
{
	struct diags *d = diags_new(s);

	diag_at(d, DIAG_UNKNOWN_GATE, (struct span){ 0, 0, 0 }, "nowhere");
	diag_at(d, DIAG_UNKNOWN_GATE, find(";\n\tcnott"), "two lines");
	diag_at(d, DIAG_UNKNOWN_GATE, span_after(find("last")), "at the end");
	check(d, DIAG_HUMAN, false,
		"error[Q0107]: nowhere\n\n"
		"error[Q0107]: two lines\n"
		" --> m.qcnn:1:11\n"
		"  |\n"
		"1 | qubit[2] q;\n"
		"  |           ^\n\n"
		"error[Q0107]: at the end\n"
		" --> m.qcnn:4:5\n"
		"  |\n"
		"4 | last\n"
		"  |     ^\n\n", "without a place, over lines, behind the end");
	diags_free(d);
}

static void long_lines(struct source_set *s)
{
	char text[1000], want[1000];
	struct diags *d = diags_new(s);
	int file;

	memset(text, 'x', sizeof text);
	text[500] = '\033';
	file = source_add(s, "long", text, sizeof text);
	diag_at(d, DIAG_UNKNOWN_GATE, (struct span){ (uint32_t)file, 500, 502 }, "here");
	snprintf(want, sizeof want, "error[Q0107]: here\n --> long:1:501\n  |\n1 | ...%.60s?%.99s...\n"
		"  |    %60s^^\n\n", text, text, "");
	check(d, DIAG_HUMAN, false, want, "a long line is a window, control characters are hidden");
	diags_free(d);
}

static void many(struct source_set *s)
{
	struct diags *d = diags_new(s);
	struct buf b = BUF_INIT;

	for (int i = 0; i < DIAG_ERRORS_MAX + 3; i++) {
		if (i == DIAG_ERRORS_MAX) {
			diags_print(d, DIAG_SHORT, false, &b);
			tap_ok(!strstr(b.data, "too many"), "all are shown at the limit");
		}
		diag_help(diag_at(d, DIAG_UNKNOWN_GATE, find("cnott"), "number %d", i), "help");
	}
	buf_clear(&b);
	diags_print(d, DIAG_SHORT, false, &b);
	tap_ok(strstr(b.data, "number 49\ntoo many errors: 3 more not shown\n"), "beyond it they are counted");
	tap_is_int(diags_errors(d), DIAG_ERRORS_MAX + 3, "all of them");
	buf_release(&b);
	diags_free(d);
}

static void table(void)
{
	bool unique = true, complete = true;

	for (int i = 1; i < DIAG_COUNT; i++) {
		const struct diag_row *r = diag_row((enum diag_code)i);
		char code[16];

		snprintf(code, sizeof code, "Q%04u", r->number);
		unique &= diag_row_find(code) == r;
		complete &= *r->title && strlen(r->explain) > 20;
		if (diag_row_find(code) != r || strlen(r->explain) <= 20)
			tap_note("row %s (%s)", r->name, code);
	}
	tap_ok(unique, "every number is used once");
	tap_ok(complete, "every row has a title and an explanation");
	tap_ok(diag_row_find("0107") == diag_row(DIAG_UNKNOWN_GATE)
		&& diag_row_find("q107") == diag_row(DIAG_UNKNOWN_GATE), "codes are found in short forms");
	tap_ok(!diag_row_find("Q") && !diag_row_find("") && !diag_row_find("Q0107x")
		&& !diag_row_find("Q9999") && !diag_row_find("Q-107"), "others are not");
}

static void suggestions(void)
{
	static const char *const names[] = { "cx", "cnot", "learning_rate", "uniform", "rz" };
	static const struct { const char *word, *want; } row[] = {
		{ "cnott", "cnot" }, { "CNOT", "cnot" }, { "learnign_rate", "learning_rate" },
		{ "unifrm", "uniform" }, { "zr", "rz" }, { "completely", NULL }, { "q", NULL },
		{ "learning", "learning_rate" }, { "uniformly", "uniform" }, { "unif", "uniform" }, { "uni", NULL }, { "", NULL },
	};

	for (size_t i = 0; i < sizeof row / sizeof *row; i++)
		tap_is_str(diag_nearest(row[i].word, names, 5), row[i].want, "nearest of \"%s\"", row[i].word);
}

static void limits(void)
{
	struct source_set *s = source_set_new();
	struct err e;
	int i;

	for (i = 0; i < SOURCE_FILES_MAX; i++)
		if (source_add(s, "x", "", 0) != i + 1)
			break;
	tap_is_int(i, SOURCE_FILES_MAX, "files at the limit");
	tap_ok(source_add(s, "x", "", 0) < 0, "one beyond");
	tap_is_int(source_open(s, "/dev/null", 10, &e), -ERR_BAD_DATA, "opened, too");
	source_set_free(s);
}

int main(void)
{
	struct source_set *s = source_set_new();

	tap_is_int(source_add(s, "m.qcnn", model, sizeof model - 1), 1, "the first text");
	places(s);
	formats(s);
	odd_places(s);
	long_lines(s);
	many(s);
	table();
	suggestions();
	limits();
	source_set_free(s);
	return tap_done();
}
