/* SPDX-License-Identifier: Apache-2.0
 * The limits of the front end, each at the limit and one beyond. */
#include "lang/lang.h"
#include "lang/parser.h"
#include "tests/tap.h"

/* The only diagnostic's code for a model, or DIAG_NONE. */
static int code_of(const char *name, const char *text)
{
	struct source_set *s = source_set_new();
	struct diags *d = diags_new(s);
	struct ast *t = lang_parse(d, (uint32_t)source_add(s, name, text, strlen(text)), NULL);
	struct buf out = BUF_INIT;
	int number = 0;

	if (!diags_errors(d))
		lang_resolve(t, d);
	if (diags_errors(d)) {
		diags_print(d, DIAG_SHORT, false, &out);
		number = atoi(strstr(out.data, "[Q") + 2);
		tap_note("%u error(s), the first Q%04d", diags_errors(d), number);
		number = diags_errors(d) == 1 ? number : -1;
	}
	buf_release(&out);
	ast_free(t);
	diags_free(d);
	source_set_free(s);
	return number;
}

/* before, n times middle, inner, n times after, end. */
static int nested(const char *before, size_t n, const char *open, const char *inner, const char *close, const char *end)
{
	struct buf b = BUF_INIT;
	int code;

	buf_str(&b, before);
	for (size_t i = 0; i < n; i++)
		buf_str(&b, open);
	buf_str(&b, inner);
	for (size_t i = 0; i < n; i++)
		buf_str(&b, close);
	buf_str(&b, end);
	code = code_of("model.qcnn", b.data);
	buf_release(&b);
	return code;
}

static void names(void)
{
	tap_is_int(nested("qubit ", LANG_IDENT_MAX, "q", ";", "", ""), 0, "a name of %d characters", LANG_IDENT_MAX);
	tap_is_int(nested("qubit ", LANG_IDENT_MAX + 1, "q", ";", "", ""), 14, "one more");
}

/* A text that does not parse is resolved all the same, as `qcnn check` does. */
static void foreign_names(void)
{
	struct source_set *s = source_set_new();
	struct diags *d = diags_new(s);
	struct buf b = BUF_INIT;
	struct ast *t;

	buf_str(&b, "qubit q; block b(float ");
	for (int i = 0; i < 5000; i++)
		buf_str(&b, "\xc3\xa9");
	buf_str(&b, ") a { h a; } b(q) q;");
	t = lang_parse(d, (uint32_t)source_add(s, "model.qcnn", b.data, b.len), NULL);
	lang_resolve(t, d);
	tap_is_int(diags_errors(d), 2, "a long name of other letters, and a qubit for it");
	ast_free(t);
	diags_free(d);
	source_set_free(s);
	buf_release(&b);
}

static void brackets(void)
{
	enum { N = LANG_NESTING_MAX };

	tap_is_int(nested("const int n = ", N, "(", "1", ")", ";"), 0, "%d parentheses", N);
	tap_is_int(nested("const int n = ", N + 1, "(", "1", ")", ";"), 15, "one more");
	tap_is_int(nested("", N, "{", "", "}", ""), 0, "%d braces", N);
	tap_is_int(nested("", N + 1, "{", "", "}", ""), 15, "one more");
	tap_is_int(nested("const int n = ", N + 1, "{", "1", "}", ";"), 15, "lists in lists");
}

/* The literal, each operator, the statement and the file are levels. */
static void depth(void)
{
	enum { N = PARSER_DEPTH_MAX - 3 };

	tap_is_int(nested("const int n = 1", N, "*1", "", "", ";"), 0, "%d operators", N);
	tap_is_int(nested("const int n = 1", N + 1, "*1", "", "", ";"), 15, "one more");
	tap_is_int(nested("const int n = 1", 1000000, "+1-1", "", "", ";"), 0, "sums of any length");
	tap_is_int(nested("const int n = ", N, "- ", "1", "", ";"), 0, "%d signs", N);
	tap_is_int(nested("const int n = ", N + 1, "- ", "1", "", ";"), 15, "one more");
	tap_is_int(nested("const int n = ", 1000000, "-", "1", "", ";"), 15, "a million signs");
	tap_is_int(nested("", 1000000, "if (1 == 1) ", "barrier;", "", ""), 15, "a million branches");
	tap_is_int(nested("qubit q; ", 1000000, "inv @ ", "x q;", "", ""), 0, "a million modifiers are a list");
}

/* Each loop makes the next ones run twice. */
static void loops(void)
{
	static const char begin[] = "let a = 0; for int i in [0:1] { {", end[] = "} a = a + z(q); }";

	tap_is_int(nested("qubit q;", 16, begin, "", end, ""), 0,
		"16 loops whose variables become observables");
	tap_is_int(nested("qubit q;", 40, begin, "", end, ""), 15, "40 of them are too many to check");
}

static void numbers(void)
{
	tap_is_int(code_of("m.qcnn", "const int n = 9223372036854775807;"), 0, "the largest int");
	tap_is_int(code_of("m.qcnn", "const int n = 9223372036854775808;"), 2, "one more");
	tap_is_int(code_of("m.qcnn", "const int n = 0x7fffffffffffffff;"), 0, "the largest int in hexadecimal");
	tap_is_int(code_of("m.qcnn", "const int n = 0x8000000000000000;"), 2, "one more");
	tap_is_int(code_of("m.qcnn", "const float f = 1.7976931348623157e308;"), 0, "the largest float");
	tap_is_int(code_of("m.qcnn", "const float f = 1.8e308;"), 2, "a larger one");
}

/* A chain of n files behind the model, which the last one ends. */
static int chain(unsigned n)
{
	struct buf b = BUF_INIT;
	char name[32];

	for (unsigned i = 1; i <= n; i++) {
		buf_clear(&b);
		if (i < n)
			buf_printf(&b, "include \"f%u.inc\";\n", i + 1);
		else
			buf_str(&b, "qubit q;\n");
		snprintf(name, sizeof name, "f%u.inc", i);
		if (buf_write_file(&b, name, 0, NULL))
			return -2;
	}
	buf_release(&b);
	return code_of("model.qcnn", "include \"f1.inc\"; h q;");
}

int main(void)
{
	names();
	foreign_names();
	brackets();
	depth();
	loops();
	numbers();
	tap_is_int(chain(LANG_NESTING_MAX - 1), 0, "%d files including each other", LANG_NESTING_MAX);
	tap_is_int(chain(LANG_NESTING_MAX), 15, "one more");
	return tap_done();
}
