/* SPDX-License-Identifier: Apache-2.0
 * What names stand for while a model's text runs: numbers, arrays, lists of
 * qubits and tuples, observables.  Values never change once made; their parts
 * live in the compilation's arena. */
#pragma once

#include "compiler/elaborate/pauli_sum.h"
#include "compiler/exprs.h"
#include "lang/ast.h"

struct array {                   /* row-major, last index fastest */
	enum kind element;           /* KIND_INT, KIND_FLOAT or KIND_ANGLE */
	uint32_t ndim, dim[PROGRAM_DIMS_MAX];
	uint32_t count;
	union {
		int64_t *i;
		double *f;
		uint32_t *expr;
	};
	/* weights and inputs: element k is the leaf of number first + k, made when asked for */
	struct exprs *leaves; enum expr_op leaf; uint32_t first;
};

struct wire_list { uint32_t n, width; const uint32_t *wire; };   /* n tuples of width; qubits: width 1 */

struct value {
	enum kind kind;              /* KIND_UNKNOWN: an error was reported, stay silent */
	union {
		int64_t i;               /* INT, BOOL */
		double f;                /* FLOAT */
		uint32_t expr;           /* ANGLE */
		const struct array *array;
		struct wire_list list;   /* QUBITS, TUPLES, PROBS, BITS */
		struct observables obs;  /* OBSERVABLE: one or, for z(w), several */
		uint32_t input;          /* STATE: number of the input group */
	};
};

static inline struct value value_unknown(void) { return (struct value){ .kind = KIND_UNKNOWN }; }
static inline struct value value_int(int64_t i) { return (struct value){ .kind = KIND_INT, .i = i }; }
static inline struct value value_bool(bool b) { return (struct value){ .kind = KIND_BOOL, .i = b }; }
static inline struct value value_float(double f) { return (struct value){ .kind = KIND_FLOAT, .f = f }; }
static inline struct value value_angle(uint32_t x) { return (struct value){ .kind = KIND_ANGLE, .expr = x }; }
/* A list, QUBITS or BITS, of n numbers from `first` on. */
struct value value_numbered(struct arena *a, enum kind kind, uint32_t first, uint32_t n);
struct value value_array(const struct array *a);

static inline bool value_is_number(const struct value *v) { return kind_is_number(v->kind); }
static inline bool value_is_array(const struct value *v) { return kind_is_array(v->kind); }
static inline bool value_is_list(const struct value *v) { return KIND_BIT(v->kind) & KINDS_LIST; }
double value_number(const struct value *v);      /* of INT or FLOAT */
const char *value_kind_text(enum kind k);        /* "an int", "a list of qubits" */
/* First dimension of an array, length of a list. */
uint32_t value_len(const struct value *v);

/* An array of the leaves first, first + 1, ... */
const struct array *array_of_leaves(struct arena *m, struct exprs *x, enum expr_op leaf, uint32_t first,
	uint32_t ndim, const uint32_t *dim);
struct value array_at(const struct array *a, uint32_t k);          /* element k, flat */
struct value array_row(struct arena *m, const struct array *a, uint32_t k);  /* a[k] */
/* Element as an expression number; numbers become constants. */
uint32_t array_expr(struct exprs *x, const struct array *a, uint32_t k);
/* New array of the given shape; its elements are 0. */
struct array *array_new(struct arena *m, enum kind element, uint32_t ndim, const uint32_t *dim);
/* Element k, flat, is the number v as the array's kind (int to float to angle). */
void array_set(struct exprs *x, struct array *a, uint32_t k, struct value v);
/* The same for all elements of `from`, from number `at` on. */
void array_copy(struct exprs *x, struct array *a, uint32_t at, const struct array *from);
/* `count` elements from number `from` on as an array of the given shape; shares memory. */
const struct array *array_part(struct arena *m, const struct array *a, size_t from, uint32_t ndim,
	const uint32_t *dim);
bool array_same_shape(const struct array *a, const struct array *b);

uint32_t value_expr(struct exprs *x, const struct value *v);       /* of a number */
bool value_same(const struct value *a, const struct value *b);     /* numbers and arrays, exactly */
uint64_t value_hash(const struct value *v);
