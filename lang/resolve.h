/* SPDX-License-Identifier: Apache-2.0
 * Name resolution from inside: scopes.c keeps the names, resolve.c walks the
 * statements, kinds.c the expressions, calls.c the calls.  Private to lang/. */
#pragma once

#include "lang/lang.h"
#include "lang/builtins.h"
#include "lang/channels.h"

/* Names are looked up by place; the spaces do not meet. */
enum space { SPACE_VALUE = 1, SPACE_CALL, SPACE_LAYER, SPACE_CIRCUIT };

/* Where a statement stands.  FILE: the file is the one circuit; OUTSIDE: file level of
 * a file with circuits. */
enum context { IN_FILE = 1, IN_OUTSIDE = 2, IN_CIRCUIT = 4, IN_LAYER = 8, IN_EMBED = 16,
	IN_BLOCK = 32, IN_GATE = 64, IN_MEASURED = 128 };

struct symbol {
	const char *name;
	struct node *decl;
	enum space space;
	unsigned scope;              /* 1: file level */
	uint32_t hash;
	struct symbol *below;        /* of the same bucket, declared earlier */
};

enum { RESOLVE_BUCKETS = 1024, RESOLVE_VISITS_MAX = 4 * LANG_NODES_MAX };

struct resolver {
	struct ast *tree;
	struct diags *diags;
	struct arena arena;
	struct symbol *bucket[RESOLVE_BUCKETS];
	struct symbol **order;       /* as declared, for leaving scopes */
	size_t norder, order_cap;
	unsigned scope;
	struct node *def;            /* the gate or block whose body this is */
	unsigned def_scope;          /* the scope of its formals */
	enum context context;
	unsigned flow;               /* loops, branches and {} around, inside the context */
	struct node *head;
	unsigned ncircuit;
	struct node *circuit;        /* the first one */
	const char **dropped;        /* names in text that recovery dropped: silent where unknown */
	size_t ndropped;
	bool told_outside;           /* that something stands outside of the circuits: once is enough */
	uint32_t late; /* in circuits and the head, which run last: number of the declarations before; else 0 */
	unsigned grown;  /* outermost scope of the variables whose kind has grown, or UINT_MAX */
	uint32_t nvisit; /* statements and expressions, those of loops each time */
};

/* scopes.c */
void scope_enter(struct resolver *r);
void scope_leave(struct resolver *r);
/* Twice in one scope is an error; n->name_span is the place. */
void scope_declare(struct resolver *r, enum space space, struct node *n);
/* The visible declaration, or NULL.  *hidden: one that a gate or block cannot see. */
struct node *scope_find(struct resolver *r, enum space space, const char *name, struct node **hidden);
/* Adds "did you mean" from the visible names and `more`; a later declaration as second place. */
void scope_suggest(struct resolver *r, struct diag *g, enum space space, const char *name,
	const char *const *more, size_t nmore);
/* The scope of a value that is visible. */
unsigned scope_of_value(const struct resolver *r, const char *name);
/* The value a name stands for; reports an unknown one. */
struct node *scope_value(struct resolver *r, struct node *n);
/* Remember the names in the text of an ERROR node; does the text name this one? */
void scope_drop(struct resolver *r, struct span at);
bool scope_dropped(const struct resolver *r, const char *name);

/* kinds.c: every function writes n->rank (and ndim) and returns the kind. */
enum kind kinds_expr(struct resolver *r, struct node *n);
void kinds_list(struct resolver *r, const struct node_list *l);
/* n, which is `role` ("a size"), must be of one of these kinds, `wanted` in words. */
bool kinds_require(struct resolver *r, struct node *n, unsigned kinds, const char *role, const char *wanted);
/* The same for an expression that has no kind yet, or NULL where none is written. */
void kinds_check(struct resolver *r, struct node *n, unsigned kinds, const char *role,
	const char *wanted);
void kinds_check_int(struct resolver *r, struct node *n, const char *role);
enum kind kinds_binary(struct resolver *r, struct node *n, struct node *a, struct node *b, int op);
enum kind kinds_element(const struct node *list, unsigned nsubscript, uint8_t *ndim);

/* resolve_decl.c: the statements, and for formals and loops: sizes in [], the kind of a declared name, whether
 * a declared kind takes a value of another. */
void decl_const(struct resolver *r, struct node *n);
void decl_var(struct resolver *r, struct node *n);
void decl_let(struct resolver *r, struct node *n);
void decl_qubit(struct resolver *r, struct node *n);
void decl_bits(struct resolver *r, struct node *n);
void decl_input(struct resolver *r, struct node *n);
void decl_param(struct resolver *r, struct node *n);
void decl_matrix(struct resolver *r, struct node *n);
void decl_assign(struct resolver *r, struct node *n);
void decl_dims(struct resolver *r, struct node *n);
void decl_set_kind(struct node *n, int op, bool angle);
bool decl_takes(enum kind to, enum kind from);

/* calls.c */
void calls_call(struct resolver *r, struct node *n);
/* channel_calls.c: of a noise channel */
void calls_channel(struct resolver *r, struct node *n, enum channel c);
void calls_head(struct resolver *r, struct node *n);
