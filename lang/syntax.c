/* SPDX-License-Identifier: Apache-2.0
 * Syntax errors in words: what came, what may stand there, and what is likely meant. */
#include <string.h>

#include "lang/parser.h"
#include "lang/parse.h"

enum { WANTED_SHOWN_MAX = 6, WORD_SHOWN_MAX = 40 };

/* The grammar writes ';' and "block"; messages write `;` and `block`, but "a name". */
static void add_symbol(struct buf *b, const char *name)
{
	size_t len = strlen(name);

	if (len >= 3 && name[0] == '\'')
		buf_printf(b, "`%.*s`", (int)len - 2, name + 1);
	else if (strchr(name, ' '))
		buf_str(b, name);
	else
		buf_printf(b, "`%s`", name);
}

static bool wants(const char *name, const char *const *want, size_t n)
{
	return text_among(name, want, n);
}

/* A group of tokens is named by one word when all of `proof` may stand there; then
 * none of `members` is named.  within: a part of the first group, not named beside it. */
static const struct {
	const char *text;
	bool within;
	const char *proof[2], *members[48];
} groups[] = {
	{ "a statement", false, { "';'", "barrier" },
		{ "';'", "'{'", "'}'", "a name", "QCNN", "include", "const", "int", "float", "let",
			"qubit", "gate", "ctrl", "negctrl", "inv", "pow", "barrier", "for", "while",
			"if", "input", "param", "block", "layer", "embed", "discard", "observe",
			"circuit", "head", "OPENQASM", "qreg", "creg", "bit", "uint", "angle",
			"opaque", "reset", "measure", "end of file" } },
	{ "a gate or block", true, { "ctrl", "a name" },
		{ "a name", "ctrl", "negctrl", "inv", "pow" } },
	{ "an expression", false, { "an integer", "'!'" },
		{ "an integer", "a number", "a name", "'-'", "'+'", "'!'", "'('", "'{'", "int",
			"float", "pow", "uint", "angle" } },
	{ "an operator", false, { "&&", "'%'" },
		{ "'('", "'['", "'+'", "'-'", "'*'", "'/'", "'%'", "**", "++", "'<'", "'>'",
			"<=", ">=", "==", "!=", "&&", "||" } },
	{ "an assignment", false, { "+=", "'='" }, { "'='", "+=", "-=", "*=", "/=", "%=", "**=" } },
};

static bool is_named(const char *name, const bool *active)
{
	for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
		for (size_t i = 0; active[g] && groups[g].members[i]; i++)
			if (!strcmp(groups[g].members[i], name))
				return true;
	return false;
}

/* "`,`, `)` or an operator"; returns how many. */
static size_t describe(struct buf *b, const char *const *want, size_t n)
{
	bool active[sizeof groups / sizeof *groups];
	const char *shown[64];
	size_t nshown = 0, nplain;

	for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
		active[g] = wants(groups[g].proof[0], want, n) && wants(groups[g].proof[1], want, n)
			&& !(groups[g].within && active[0]);
	for (size_t i = 0; i < n && nshown < 48; i++)
		if (!is_named(want[i], active))
			shown[nshown++] = want[i];
	nplain = nshown;
	for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
		if (active[g])
			shown[nshown++] = groups[g].text;
	for (size_t i = 0; i < nshown && nshown <= WANTED_SHOWN_MAX; i++) {
		buf_str(b, !i ? "" : i + 1 == nshown ? " or " : ", ");
		if (i < nplain)
			add_symbol(b, shown[i]);
		else
			buf_str(b, shown[i]);
	}
	return nshown;
}

static bool begins_statement(int token)
{
	const char *word = scan_keyword_text(token);

	return token == TOKEN_ID || token == '{'
		|| (word && token != TOKEN_IN && token != TOKEN_ELSE && token != TOKEN_ON && token != TOKEN_EACH
		&& token != TOKEN_FROZEN && token != TOKEN_MEASURE);
}

static bool on_later_line(struct parser *p, struct span a, struct span b)
{
	struct source_set *s = diags_sources(p->diags);

	return a.file != b.file || source_place(s, a).end_line < source_place(s, b).line;
}

/* Between two statements, before a `}` or at the end: `;` is what is missing. */
static bool lacks_semicolon(struct parser *p, const char *const *want, size_t n)
{
	int before = p->previous.token, now = p->last.token;

	if (!wants("';'", want, n) || before == ';' || before == '{' || before == '}' || !before)
		return false;
	return now == '}' || now == TOKEN_END
		|| (begins_statement(now) && on_later_line(p, p->previous.at, p->last.at));
}

static void missing_semicolon(struct parser *p)
{
	struct diag *g = diag_at(p->diags, DIAG_MISSING_SEMICOLON, span_after(p->previous.at), "missing `;`");

	diag_label(g, "a statement ends with `;`");
	if (p->last.token != '}' && p->last.token != TOKEN_END) {
		parser_replay_last(p);
		parser_replay(p, ';');
	}
}

static void unclosed(struct parser *p)
{
	struct bracket b = p->bracket[p->nbracket - 1];
	struct diag *g = diag_at(p->diags, DIAG_UNCLOSED_BRACKET, span_after(p->previous.at), "`%c` is never closed", b.open);

	diag_label(g, "the text ends here");
	diag_second(g, b.at, "opened here");
}

void parser_unmatched(struct parser *p, struct span at)
{
	struct diag *g = diag_at(p->diags, DIAG_UNMATCHED_BRACE, at, "`}` without a `{`");

	diag_label(g, "nothing is open here");
}

static char closer_of(int open) { return open == '(' ? ')' : open == '[' ? ']' : '}'; }

/* The ( or [ that should end about here. */
static void add_opener(struct parser *p, struct diag *g, const char *const *want, size_t n)
{
	struct bracket b = { 0 };
	char closer[] = "' '";

	if (p->nbracket)
		b = p->bracket[p->nbracket - 1];
	closer[1] = closer_of(b.open);
	if (p->unclosed.file)
		diag_second(g, p->unclosed, "opened here");
	else if ((b.open == '(' || b.open == '[') && wants(closer, want, n))
		diag_second(g, b.at, "opened here");
}

static const struct { int token; const char *help; } hints[] = {
	{ TOKEN_MEASURE, "`measure` stands in `if (measure a) u(t) b; else v(t) b;`; results are listed by `observe`" },
	{ TOKEN_EACH, "`each` stands before an argument of a call: `conv(each t) on ring(w);`" },
	{ TOKEN_INCLUDE, "`include` stands at file level" },
	{ TOKEN_POW, "a power of a number is written `a ** b` or `pow(a, b)`" },
	{ TOKEN_QCNN, "the version line stands first in its file" },
	{ TOKEN_ELSE, "`else` follows the body of an `if`" },
};

/* The statement began with a name that is nearly a keyword. */
static void add_keyword(struct parser *p, struct diag *g)
{
	const char *text = source_text(diags_sources(p->diags), p->begin.file, NULL), *near = NULL;
	char word[LANG_IDENT_MAX + 1];
	size_t len = p->begin.end - p->begin.begin;

	if (len && len <= LANG_IDENT_MAX && p->begin.begin != p->last.at.begin) {
		memcpy(word, text + p->begin.begin, len);
		word[len] = '\0';
		near = scan_nearest_keyword(p, word);
		if (near && strcmp(near, word))
			diag_help(g, "did you mean `%s`?", near);
	}
}

/* Is this the text of a token? */
static bool is_word(struct parser *p, struct span at, const char *word)
{
	const char *text = source_text(diags_sources(p->diags), at.file, NULL);
	size_t len = strlen(word);

	return at.end - at.begin == len && !memcmp(text + at.begin, word, len);
}

/* What C, Python and PennyLane write in another way. */
static void add_other_language(struct parser *p, struct diag *g, const char *const *want, size_t n)
{
	int now = p->last.token, before = p->previous.token;

	if (now == '[' && before == TOKEN_ID && wants("';'", want, n) && !wants("'['", want, n))
		diag_help(g, "the size stands before the name: `qubit[4] q;`, `param float[4] t;`");
	if (is_word(p, p->begin, "for")
		&& (now == ':' || now == TOKEN_REAL || (now == '(' && before != TOKEN_ID)))
		diag_help(g,
			"a loop is written `for int i in [0:3] { ... }`; the last value is included");
	if (now == '=' && wants("==", want, n))
		diag_help(g,
			before == TOKEN_ID
					&& (is_word(p, p->previous.at, "wires")
						|| is_word(p, p->previous.at, "wire"))
				? "qubits stand behind the angles: `ry(t) q[0];`"
				: "equality is written `==`");
}

static void add_hints(struct parser *p, struct diag *g, const char *const *want, size_t n)
{
	const char *word = scan_keyword_text(p->last.token);
	bool hinted = false;

	for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
		if (hints[i].token == p->last.token) {
			diag_help(g, "%s", hints[i].help);
			hinted = true;
		}
	if (word && !hinted && wants("a name", want, n) && !wants("on", want, n) && !wants("let", want, n))
		diag_note(g, "`%s` is a reserved word and cannot be a name", word);
	if (p->last.token == '@' && wants("on", want, n))
		diag_help(g,
			"the modifiers of a gate are `inv @`, `ctrl @`, `negctrl @` and `pow(k) @`");
	if (p->last.token == '@' && wants("'*'", want, n))
		diag_help(g, "a product of observables is written `z(a) * z(b)`; `@` follows a modifier of a gate");
	add_other_language(p, g, want, n);
	if (p->last.token == '(' && wants("';'", want, n) && wants("','", want, n) && !wants("'+'", want, n))
		diag_help(g, "operands are qubits and slices; lists that functions make stand behind `on`");
	add_keyword(p, g);
}

static void unexpected(struct parser *p, const char *got, const char *const *want, size_t n)
{
	buf_auto b = BUF_INIT, text = BUF_INIT;
	const struct seen *last = &p->last;

	add_symbol(&b, got);
	if (last->token == TOKEN_ID || last->token == TOKEN_INTEGER || last->token == TOKEN_REAL) {
		const char *source = source_text(diags_sources(p->diags), last->at.file, NULL);

		buf_clear(&b);
		bool long_word = last->at.end - last->at.begin > LANG_IDENT_MAX;

		buf_printf(&b, long_word ? "`%.*s...`" : "`%.*s`",
			long_word ? WORD_SHOWN_MAX : (int)(last->at.end - last->at.begin), source + last->at.begin);
	}
	struct diag *g = diag_at(p->diags, DIAG_SYNTAX, last->at, "unexpected %s", b.data);
	size_t nshown = describe(&text, want, n);
	if (nshown && nshown <= WANTED_SHOWN_MAX)
		diag_label(g, "expected %s", text.data);
	else
		diag_label(g, "cannot stand here");
	add_opener(p, g, want, n);
	add_hints(p, g, want, n);
}

void parser_syntax_error(struct parser *p, const char *got, const char *const *want, size_t n)
{
	if (p->stop)
		return;
	if (p->last.token == TOKEN_END && p->nbracket)
		unclosed(p);
	else if (lacks_semicolon(p, want, n))
		missing_semicolon(p);
	else
		unexpected(p, got, want, n);
}
