/* SPDX-License-Identifier: Apache-2.0
 * What scanner and grammar share while one model is parsed: the tree, the open
 * brackets, the open files, and the constructor of nodes.  Private to lang/. */
#pragma once

#include "lang/lang.h"

enum {
	PARSER_BRACKETS_MAX = LANG_NESTING_MAX,
	PARSER_REPLAY_MAX = 2,
	PARSER_DEPTH_MAX = 2000,
	PARSER_VALUE_BYTES = 64,
	PARSER_PHYSICAL_MAX = 4096 /* as many qubits as a circuit holds */
};

struct arguments { struct node_list list; struct span span; bool present; };
struct modifiers {
	struct modifier *v;
	uint32_t n;
};
struct bracket { int open; struct span at; };

/* One file being read; include_at is the statement that named it. */
struct parser_file {
	uint32_t id, offset;         /* offset: bytes scanned */
	struct span first;           /* its first token */
	struct span include_at;
	void *buffer;                /* the scanner's */
};

/* A token with its value (the grammar's union, as bytes). */
struct seen { int token; struct span at; _Alignas(16) unsigned char value[PARSER_VALUE_BYTES]; };

struct parser {
	struct ast *tree;
	struct diags *diags;
	const struct lang_options *options;
	void *scanner;
	struct parser_file file[LANG_NESTING_MAX];
	unsigned nfile;
	uint32_t first_file;         /* id of the model itself */
	struct bracket bracket[PARSER_BRACKETS_MAX];
	unsigned nbracket;
	struct span unclosed;        /* opener that the last token, a closer, does not fit; file 0: none */
	struct seen last, previous;  /* the last token given to the grammar, and the one before */
	struct seen replay[PARSER_REPLAY_MAX];   /* to be given again, the topmost first */
	unsigned nreplay;
	struct span begin;           /* the first token of the statement */
	struct node_list statements; /* of the file, so far */
	uint32_t nnode;
	bool unread; /* behind a word that is not read, to the end of its statement: not text to report on */
	struct node_list physical;   /* qubits $0, $1, ... that the text names, in their order */
	bool stop;                   /* give no more tokens, report no more syntax errors */
};

/* Copies *n into the tree; checks the limits on number and depth. */
struct node *parser_node(struct parser *p, const struct node *n);
#define NODE_OF(...) parser_node(p, &(struct node){ __VA_ARGS__ })
void parser_list_add(struct parser *p, struct node_list *l, struct node *n);
struct node_list parser_joined(struct parser *p, struct node_list a, struct node_list b);
struct node_list parser_prepended(struct parser *p, struct node *first, struct node_list rest);

/* Brackets, as the tokens pass. */
void parser_track(struct parser *p, int token, struct span at);
/* Give `token`, or the last one, (again) before going on with the text. */
void parser_replay(struct parser *p, int token);
void parser_replay_last(struct parser *p);
void parser_stop(struct parser *p);

/* The qubit `$k` of OpenQASM 3, which needs no declaration: its name. */
const char *parser_physical(struct parser *p, uint64_t k, struct span at);

/* Words that are no keywords but have one meaning in their place. */
void parser_expect_word(struct parser *p, const char *got, struct span at, const char *want);
/* The word at the beginning of a layer of a head; false: it is reported. */
bool parser_head_layer(struct parser *p, const char *word, struct span at, bool has_units);
void parser_version(struct parser *p, double number, struct span word, struct span at);
/* What stands in [] behind a type: the dimensions of an array in models; NULL in OpenQASM, where it is a width. */
struct node *parser_dims(struct parser *p, struct node *dims);
/* The same where models have nothing but `expected`. */
void parser_width(struct parser *p, const struct node *dims, const char *expected);

/* The file as a source, whose text elaboration reads; 0: a message says why not. */
uint32_t parser_text(struct parser *p, const char *path, struct span path_at);
/* f("path", args): the file becomes a source, whose text the function reads. */
struct node *parser_read(struct parser *p, const char *name, const char *path, struct span path_at,
	struct node_list args, struct span name_span, struct span at);
/* include "path": from now on the scanner reads that file. */
void parser_include(struct parser *p, const char *path, struct span path_at, struct span at);
/* The file ended: true when an including one goes on. */
bool parser_end_of_file(struct parser *p);

/* syntax.c: `got` came where only the n names of `want` may stand (as the grammar names them). */
void parser_syntax_error(struct parser *p, const char *got, const char *const *want, size_t n);
void parser_unmatched(struct parser *p, struct span at);

/* scan.l */
void scan_open(struct parser *p);
void scan_close(struct parser *p);
void scan_push(struct parser *p, const char *text, size_t len);   /* reads it from now on */
void scan_pop(struct parser *p);             /* back to the file below */
const char *scan_keyword_text(int token);    /* "block", or NULL when no keyword */
const char *scan_nearest_keyword(const struct parser *p,
	const char *word);                               /* the likely meant one, or NULL */
bool scan_is_keyword(const struct parser *p, int token); /* of the dialect; true for what is no word */

/* parse.y: to the end of the grammar, or of what can be read. */
void parser_run(struct parser *p);
