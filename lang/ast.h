/* SPDX-License-Identifier: Apache-2.0
 * The syntax tree of a model, and what name resolution writes on it.
 *
 * All nodes have one shape; ast.def says which kind uses which field.  Nodes,
 * strings and lists live in the tree's arena. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "runtime/base/arena.h"
#include "runtime/base/buf.h"
#include "runtime/base/source.h"
#include "lang/gates.h"

enum node_kind {
	NODE_NONE = 0,
#define NODE(kind, text, a, b, c, list) NODE_##kind,
#include "lang/ast.def"
#undef NODE
	NODE_COUNT
};

/* What language a text is written in; one bit each, for sets of them. */
enum dialect { DIALECT_MODEL = 1, DIALECT_QASM2 = 2, DIALECT_QASM3 = 4 };

/* node.op of operators and declarations. */
enum ast_op {
	AST_NONE = 0,
	AST_ADD, AST_SUB, AST_MUL, AST_DIV, AST_MOD, AST_POW, AST_JOIN,          /* + - * / % ** ++ */
	AST_LT, AST_LE, AST_GT, AST_GE, AST_EQ, AST_NE, AST_AND, AST_OR,         /* < <= > >= == != && || */
	AST_NEG, AST_NOT, AST_PLUS,                                              /* unary - ! + */
	AST_SET_TO,                                                              /* = */
	AST_TYPE_INT, AST_TYPE_FLOAT, AST_TYPE_QUBIT, AST_TYPE_STATE,
	AST_FROZEN
};

/* What a name or an expression is, as far as the text alone tells. */
enum kind {
	KIND_UNKNOWN = 0, /* an error was reported; accept anything */
	KIND_INT,
	KIND_FLOAT,
	KIND_BOOL,
	KIND_ANGLE, /* a float that may depend on param or input */
	KIND_INT_ARRAY,
	KIND_FLOAT_ARRAY,
	KIND_ANGLE_ARRAY,
	KIND_STATE,  /* input state */
	KIND_QUBITS, /* a list of qubits; a qubit is a list of one */
	KIND_TUPLES, /* a list of tuples of qubits */
	KIND_OBSERVABLE,
	KIND_PROBS,
	KIND_BITS, /* classical bits of OpenQASM, a list as qubits are */
	KIND_COUNT
};

/* Sets of kinds. */
#define KIND_BIT(kind) (1u << (kind))
enum {
	KINDS_CONSTANT = KIND_BIT(KIND_INT) | KIND_BIT(KIND_FLOAT),
	KINDS_NUMBER = KINDS_CONSTANT | KIND_BIT(KIND_ANGLE),
	KINDS_CONDITION = KIND_BIT(KIND_BOOL) | KIND_BIT(KIND_INT),
	KINDS_ARRAY =
		KIND_BIT(KIND_INT_ARRAY) | KIND_BIT(KIND_FLOAT_ARRAY) | KIND_BIT(KIND_ANGLE_ARRAY),
	KINDS_WIRES = KIND_BIT(KIND_QUBITS) | KIND_BIT(KIND_TUPLES),
	KINDS_LIST = KINDS_WIRES | KIND_BIT(KIND_BITS)
};
static inline bool kind_is_number(enum kind k) { return KIND_BIT(k) & KINDS_NUMBER; }
static inline bool kind_is_array(enum kind k) { return KIND_BIT(k) & KINDS_ARRAY; }
/* Of an array's elements; of an array of such numbers. Other kinds are returned as they are. */
enum kind kind_element(enum kind array);
enum kind kind_array(enum kind element);
/* The kind that holds both, or KIND_COUNT: numbers and arrays widen, the rest must agree. */
enum kind kinds_join(enum kind a, enum kind b);

enum modifier_kind { MODIFIER_CTRL = 1, MODIFIER_NEGCTRL, MODIFIER_INV, MODIFIER_POW };
struct modifier { enum modifier_kind kind; struct node *arg; /* count of ctrl (NULL: 1) or exponent */ struct span span; };

struct node_list {
	struct node **v;
	uint32_t n;
};

struct node {
	enum node_kind kind;
	int op;                      /* enum ast_op or a count; see ast.def */
	struct span span;            /* the whole construct */
	const char *name;            /* identifier, or NULL */
	struct span name_span;
	struct node *a, *b, *c;
	struct node_list list;       /* statements, operands, elements, ... */
	struct node_list args;       /* arguments in parentheses; has_args tells () from none */
	bool has_args;
	struct modifier *modifier; uint32_t nmodifier;   /* as written, left to right */
	const char *text;
	struct span callee_span; /* INSTANCE: circuit; DENSE: activation; INCLUDE, APPLY: path */
	union { int64_t i; double f; } value;
	uint32_t depth; /* levels of nodes from here down, itself counted; sums that begin with sums are one */
	struct node *sum; /* of + and -: the + or - that begins with this one, or NULL */
	/* written by names_resolve */
	uint32_t number;             /* of a declaration, from 1 on */
	struct node *decl; /* declaration the name refers to, or NULL (built in); LET, VAR: the assignment that changed its kind */
	enum kind rank;              /* kind of an expression or declared name */
	uint8_t ndim;                /* dimensions of an array, 0 where the text does not tell */
	bool late;                   /* LET: circuits or the head use it, with its last value */
	enum gate gate;
	uint8_t word; /* CALL of a built-in gate; word of a channel: its enum channel */
	int builtin;                 /* APPLY: enum builtin (names.h) */
};

/* A parsed model.  Freed with ast_free. */
struct ast {
	struct arena arena;
	struct node *file;           /* NODE_FILE; includes are spliced in place */
	uint32_t ndecl;              /* declarations that are numbered; written by names_resolve */
	enum dialect dialect;
};

const char *node_kind_text(enum node_kind k);
const char *kind_text(enum kind k);      /* "an int", "qubits", ... for messages */
const char *ast_op_text(int op);         /* "+", "float", "" for AST_NONE */
void node_list_add(struct arena *a, struct node_list *l, struct node *n);
void ast_free(struct ast *t);
/* Of a gate, block or circuit: formals that are no qubits, which are the first of its list. */
uint32_t ast_count_angles(const struct node *def);
/* Is a formal of it, which may be NULL, a list of qubits? */
bool ast_takes_lists(const struct node *def);
/* The innermost of the sums that n begins with: their `sum`s lead to n. Any number of terms nest without a call for each. */
struct node *ast_first_sum(const struct node *n);
/* Calls visit on every node, parents first; stops when it returns non-zero. */
int ast_walk(struct node *n, int (*visit)(struct node *n, void *ctx), void *ctx);
