/* SPDX-License-Identifier: Apache-2.0
 * What assembler and disassembler share: words, and the scanner of the text.
 *
 * Text is free of layout: tokens are words, numbers, quoted texts and single
 * characters; `;` begins a comment that goes on to the end of the line. */
#pragma once

#include "compiler/compile.h"

enum { ASM_VERSION = 1, ASM_WORD_MAX = 63 };

enum asm_kind { ASM_NONE = 0, ASM_WORD, ASM_NUMBER, ASM_TEXT, ASM_SIGN, ASM_END };

struct asm_scanner {
	struct diags *d;
	uint32_t file;
	const char *text;
	size_t len, at;
	bool failed;                     /* a fault was reported: the rest of the text is not read */
	/* the token at hand */
	enum asm_kind kind;
	struct span span;
	char word[ASM_WORD_MAX + 1];     /* WORD */
	double number;                   /* NUMBER */
	bool is_u32; uint32_t u32;       /* NUMBER: its value when that fits */
	char sign;                       /* SIGN */
	struct buf string;               /* TEXT: without quotes and escapes */
};

void asm_scan_init(struct asm_scanner *s, struct diags *d, uint32_t file);
void asm_scan_release(struct asm_scanner *s);
void asm_next(struct asm_scanner *s);

/* Reports the token at hand, the first time. From then on there is none, so that every rule ends and no loop goes on. */
void asm_fail(struct asm_scanner *s, enum diag_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Is it that word or character?  accept_* also takes it; want_* reports if it is not. */
bool asm_is_word(const struct asm_scanner *s, const char *word);
bool asm_accept_word(struct asm_scanner *s, const char *word);
bool asm_accept_sign(struct asm_scanner *s, char c);
void asm_want_word(struct asm_scanner *s, const char *word);
void asm_want_sign(struct asm_scanner *s, char c);
void asm_want_u32(struct asm_scanner *s, const char *what, uint32_t *out);
void asm_want_number(struct asm_scanner *s, const char *what, double *out);
/* A number that must be `n`: records are written with their place. */
void asm_want_place(struct asm_scanner *s, const char *what, uint32_t n);
/* A word like z3 or m12: the prefix and a number behind it. */
bool asm_split_word(const char *word, char prefix, uint32_t *number);

/* Reading a program: the rules of asm_read.c and asm_circuit.c. */
struct asm_reader { struct asm_scanner s; struct program *p; };

void asm_want_text(struct asm_reader *r, const char *what, const char **out);
/* (`%3`, `%4`) or nothing ; 0 1 2 */
void asm_read_values(struct asm_reader *r, uint32_t max, uint32_t **out, uint32_t *n);
void asm_read_u32s(struct asm_reader *r, uint32_t max, uint32_t **out, uint32_t *n);
/* [inv] {ctrl | negctrl} */
void asm_read_prefix(struct asm_reader *r, bool *adjoint, uint32_t max, uint32_t *ncontrol,
	uint64_t *ones);
void asm_read_circuit(struct asm_reader *r);
