/* SPDX-License-Identifier: Apache-2.0
 * Tokens of the assembler's text. */
#include "compiler/asm/asm.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void asm_scan_init(struct asm_scanner *s, struct diags *d, uint32_t file)
{
	*s = (struct asm_scanner){ .d = d, .file = file };
	s->text = source_text(diags_sources(d), file, &s->len);
	buf_init(&s->string);
	asm_next(s);
}

void asm_scan_release(struct asm_scanner *s) { buf_release(&s->string); }

void asm_fail(struct asm_scanner *s, enum diag_code code, const char *fmt, ...)
{
	if (s->failed)
		return;
	char text[256];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	diag_at(s->d, code, s->span, "%s", text);
	s->failed = true;
	s->kind = ASM_END;
}

static void skip_space(struct asm_scanner *s)
{
	while (s->at < s->len) {
		unsigned char c = (unsigned char)s->text[s->at];
		if (c == ';')
			while (s->at < s->len && s->text[s->at] != '\n')
				s->at++;
		else if (isspace(c))
			s->at++;
		else
			return;
	}
}

static void scan_word(struct asm_scanner *s)
{
	size_t n = 0, start = s->at;
	while (s->at < s->len && (isalnum((unsigned char)s->text[s->at]) || s->text[s->at] == '_'))
		s->at++;
	n = s->at - start;
	s->span.end = (uint32_t)s->at;
	if (n > ASM_WORD_MAX) {
		asm_fail(s, DIAG_ASM_SYNTAX, "a word of %zu letters, the limit is %d", n, ASM_WORD_MAX);
		return;
	}
	memcpy(s->word, s->text + start, n);
	s->word[n] = 0;
	s->kind = ASM_WORD;
}

static void scan_number(struct asm_scanner *s)
{
	const char *start = s->text + s->at;
	char *end;
	s->number = strtod(start, &end);     /* the source ends in a NUL */
	s->at += (size_t)(end - start);
	s->span.end = (uint32_t)s->at;
	s->kind = ASM_NUMBER;
	s->is_u32 = strspn(start, "0123456789") == (size_t)(end - start) && s->number <= UINT32_MAX;
	s->u32 = s->is_u32 ? (uint32_t)s->number : 0;
	if (end == start || (s->at < s->len && (isalnum((unsigned char)*end) || *end == '_')))
		asm_fail(s, DIAG_ASM_SYNTAX, "this is no number");
}

static void scan_text(struct asm_scanner *s)
{
	buf_clear(&s->string);
	for (s->at++; s->at < s->len && s->text[s->at] != '"' && s->text[s->at] != '\n'; s->at++) {
		if (s->text[s->at] == '\\' && s->at + 1 < s->len && strchr("\"\\", s->text[s->at + 1]))
			s->at++;
		buf_char(&s->string, s->text[s->at]);
	}
	s->span.end = (uint32_t)s->at;
	if (s->at >= s->len || s->text[s->at] != '"' || memchr(s->string.data ? s->string.data : "", 0, s->string.len)) {
		asm_fail(s, DIAG_ASM_SYNTAX, "this text is never closed");
		return;
	}
	s->span.end = (uint32_t)++s->at;
	s->kind = ASM_TEXT;
}

void asm_next(struct asm_scanner *s)
{
	s->kind = ASM_END;
	if (s->failed)
		return;
	skip_space(s);
	s->span = (struct span){ s->file, (uint32_t)s->at, (uint32_t)s->at };
	if (s->at >= s->len)
		return;
	unsigned char c = (unsigned char)s->text[s->at];
	if (isalpha(c) || c == '_') {
		scan_word(s);
	} else if (isdigit(c) || c == '-') {
		scan_number(s);
	} else if (c == '"') {
		scan_text(s);
	} else {
		s->span.end = (uint32_t)++s->at;
		s->sign = (char)c;
		s->kind = ASM_SIGN;
	}
}

/* ---- what a rule expects ---- */

bool asm_is_word(const struct asm_scanner *s, const char *word)
{
	return s->kind == ASM_WORD && strcmp(s->word, word) == 0;
}

bool asm_accept_word(struct asm_scanner *s, const char *word)
{
	bool yes = asm_is_word(s, word);
	if (yes)
		asm_next(s);
	return yes;
}

bool asm_accept_sign(struct asm_scanner *s, char c)
{
	bool yes = s->kind == ASM_SIGN && s->sign == c;
	if (yes)
		asm_next(s);
	return yes;
}

void asm_want_word(struct asm_scanner *s, const char *word)
{
	if (!asm_accept_word(s, word))
		asm_fail(s, DIAG_ASM_SYNTAX, "`%s` belongs here", word);
}

void asm_want_sign(struct asm_scanner *s, char c)
{
	if (!asm_accept_sign(s, c))
		asm_fail(s, DIAG_ASM_SYNTAX, "`%c` belongs here", c);
}

void asm_want_u32(struct asm_scanner *s, const char *what, uint32_t *out)
{
	if (s->kind != ASM_NUMBER || !s->is_u32)
		asm_fail(s, DIAG_ASM_SYNTAX, "%s belongs here, a number without sign or fraction",
			what);
	else
		*out = s->u32;
	asm_next(s);
}

void asm_want_number(struct asm_scanner *s, const char *what, double *out)
{
	if (s->kind != ASM_NUMBER)
		asm_fail(s, DIAG_ASM_SYNTAX, "%s belongs here, a number", what);
	else
		*out = s->number;
	asm_next(s);
}

void asm_want_place(struct asm_scanner *s, const char *what, uint32_t n)
{
	if (s->kind == ASM_NUMBER && s->is_u32 && s->u32 != n)
		asm_fail(s, DIAG_ASM_PLACE, "%s %u where %s %u belongs", what, s->u32, what, n);
	uint32_t ignored;
	asm_want_u32(s, what, &ignored);
}

bool asm_split_word(const char *word, char prefix, uint32_t *number)
{
	size_t n = strlen(word);
	if (word[0] != prefix || n < 2 || n > 11 || strspn(word + 1, "0123456789") != n - 1)
		return false;
	unsigned long long v = strtoull(word + 1, NULL, 10);
	*number = (uint32_t)v;
	return v <= UINT32_MAX;
}
