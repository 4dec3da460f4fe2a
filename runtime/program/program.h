/* SPDX-License-Identifier: Apache-2.0
 * The program in memory: what a compiled model is, and all that a runtime needs.
 *
 * Slots (weights, inputs, angle expressions over both), matrices (small unitaries
 * made from gates and angles), circuits (lists of applies: which matrix acts on
 * which wires) with their observables, a dense head, and notes.  Matrices are
 * named, applies refer to them: a block used on eight pairs with shared weights is
 * one matrix and eight applies, however the plan later fuses them.
 *
 * Index order everywhere: wire 0 is the least significant bit of an amplitude's
 * index; the first target of a matrix is the lowest bit of its row and column.
 * Weights are numbered in order of elaboration, last index fastest.  Everything
 * lives in the program's arena and is constant once verified. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "lang/gates.h"
#include "runtime/base/arena.h"
#include "runtime/base/buf.h"
#include "runtime/base/err.h"

enum {
	PROGRAM_WIRES_MAX = 4096, /* of one circuit; the runtime's method sets the real limit */
	PROGRAM_WEIGHTS_MAX = 1 << 24,
	PROGRAM_INPUTS_MAX = 1 << 24,
	PROGRAM_EXPRS_MAX = 1 << 24,
	PROGRAM_DRAWS_MAX = 1 << 24,
	PROGRAM_MATRICES_MAX = 1 << 22,
	PROGRAM_ITEMS_MAX = 1 << 24, /* of all matrices together */
	PROGRAM_GATES_MAX =
		1 << 30, /* multiplied into one matrix: with more, rounding errors would be visible in the results */
	PROGRAM_APPLIES_MAX = 1 << 24, /* of all circuits together */
	PROGRAM_CIRCUITS_MAX = 4096,
	PROGRAM_OUTPUTS_MAX = 1 << 20,
	PROGRAM_TERMS_MAX = 1 << 22,
	PROGRAM_DENSE_MAX = 64,
	PROGRAM_DIMS_MAX = 8,
	PROGRAM_PATH_MAX = 1023,
	PROGRAM_CONTROLS_MAX = 60, /* of one item or apply */
	PROGRAM_BYTES_MAX = 1 << 30,
	MATRIX_TARGETS_MAX = 3,
	/* of an apply, and of an item under it: its wires are among those of its matrix */
	APPLY_WIRES_MAX = PROGRAM_CONTROLS_MAX + MATRIX_TARGETS_MAX
};

#define INDEX_NONE UINT32_MAX

/* ---- slots ---- */

enum expr_op {
	EXPR_NONE = 0,
#define EXPR(id, text, noperand) EXPR_##id,
#include "runtime/program/expr.def"
#undef EXPR
	EXPR_COUNT
};

/* What a value depends on: nothing, weights (one value per step), inputs (one per sample). */
enum value_class { VALUE_CONSTANT = 0, VALUE_SHARED, VALUE_SAMPLE };

struct expr {                    /* node of a DAG; operands have smaller indices */
	enum expr_op op;
	uint32_t a, b; /* operands; WEIGHT, INPUT: a = number of the scalar, DRAW: of the random number */
	double value;                /* CONST */
	enum value_class cls;        /* derived by program_derive, not stored in files */
};

enum weight_init {
	INIT_NONE = 0,
	INIT_UNIFORM,
	INIT_NORMAL,
	INIT_VALUES,
	INIT_GLOROT_UNIFORM,
	INIT_COUNT
};
extern const char *const init_names[INIT_COUNT]; /* NULL for NONE */

/* The name of an operation, its operands (0: a leaf), and its value; b is ignored where there is one. */
extern const char *const expr_names[EXPR_COUNT];
unsigned expr_noperand(enum expr_op op);
double expr_apply(enum expr_op op, double a, double b);

struct weight_group {            /* one `param` (or dense kernel, bias) */
	const char *path;            /* "conv[0].t", "a.pool[1].t", "head.dense[0].kernel" */
	uint32_t ndim, dim[PROGRAM_DIMS_MAX];   /* ndim 0: a scalar */
	uint32_t first, count;       /* weights first .. first+count-1 */
	enum weight_init init;
	double init_a, init_b;       /* UNIFORM: bounds; NORMAL: mean, deviation; GLOROT: fan in, fan out */
	const double *init_value;    /* VALUES: count numbers */
	bool frozen;
};

struct input_group {             /* one `input` */
	const char *name;
	bool is_state;
	uint32_t ndim, dim[PROGRAM_DIMS_MAX];   /* states: ndim 1, dim[0] amplitudes */
	uint32_t first, count;       /* scalars in a sample's row; a state: re, im, re, im, ... */
};

/* ---- matrices ---- */

struct item {                    /* one factor of a matrix, acting on wires local to it */
	enum gate gate;              /* a base row (ncontrol 0), or GATE_NONE: matrix `ref` */
	uint8_t word;                /* of a Pauli family */
	bool adjoint;                /* conjugate transpose of the factor */
	uint8_t ncontrol, nwire;     /* wire[0..ncontrol) controls, then targets */
	uint8_t control_ones;        /* bit k: control k acts on 1 (else on 0) */
	uint8_t wire[MATRIX_TARGETS_MAX];
	uint32_t ref;                /* GATE_NONE: a matrix with a smaller index */
	uint32_t angle[GATE_ANGLES_MAX];   /* expression numbers, as many as the gate has */
};

/* Structure for all angles; PARITY: see GATE_PARITY. */
enum matrix_flag { MATRIX_DIAGONAL = 1, MATRIX_PERMUTATION = 2, MATRIX_REAL = 4, MATRIX_PARITY = 8 };

struct matrix {                  /* product of its items, the first acts first */
	const char *name;            /* block's or gate's name, for people; may be NULL */
	uint8_t ntarget;             /* 1 .. MATRIX_TARGETS_MAX */
	uint32_t nitem;
	struct item *item;
	/* derived by program_derive, not stored in files */
	enum value_class cls;
	unsigned flags;              /* of enum matrix_flag */
};

/* ---- circuits ---- */

enum apply_op {
	APPLY_NONE = 0,
#define APPLY(id, text) APPLY_##id,
#include "runtime/program/apply.def"
#undef APPLY
	APPLY_COUNT
};

extern const char *const apply_names[APPLY_COUNT];

struct apply {
	enum apply_op op;
	uint32_t matrix;             /* UNITARY: matrix number; AMPLITUDES: expression of the first entry (see nexpr) */
	bool adjoint;                /* UNITARY: conjugate transpose */
	uint16_t ncontrol, nwire;    /* wire[0..ncontrol) controls, then targets in order */
	uint64_t control_ones;       /* bit k: control k acts on 1 (else on 0) */
	uint32_t *wire;
	/* AMPLITUDES: entries of the vector (wire[0] lowest bit), zero-padded, normalised by the
	 * runtime; expr[j] numbers; STATE: input group in `matrix`, exactly 2^nwire entries. */
	uint32_t nexpr, *expr;
	uint32_t layer;              /* number in program.layer, INDEX_NONE outside */
	uint32_t span;               /* number in program.span, INDEX_NONE if unknown */
	uint32_t call; /* number in program.call, from 1 on; 0: none. Not stored in files */
};

enum output_kind { OUTPUT_NONE = 0, OUTPUT_PAULI, OUTPUT_PROBS };

enum pauli_letter { PAULI_X = 1, PAULI_Y, PAULI_Z };
struct pauli_factor {
	uint32_t wire;
	uint8_t letter;
}; /* letter: of enum pauli_letter */
struct pauli_term { double coefficient; uint32_t nfactor; struct pauli_factor *factor; };  /* wires ascending */

struct output {                  /* one entry of `observe` */
	enum output_kind kind;
	uint32_t nterm; struct pauli_term *term;   /* PAULI: one real output; the identity is nfactor 0 */
	uint32_t nwire; uint32_t *wire;            /* PROBS: 2^nwire real outputs, wire[0] lowest bit */
};

struct circuit_code {            /* one instance of a circuit, elaborated */
	const char *name;            /* instance's name; "" in a file without `circuit` */
	uint32_t nwire;
	uint32_t napply; struct apply *apply;
	uint32_t noutput; struct output *output;
	uint32_t nreadout;           /* real numbers the outputs give */
	uint32_t nregister; struct wire_register { const char *name; uint32_t first, count; } *reg;
};

/* ---- head ---- */

enum activation { ACTIVATION_LINEAR = 0,
#define ACTIVATION(id, text) ACTIVATION_##id,
#include "runtime/program/activation.def"
#undef ACTIVATION
	ACTIVATION_COUNT };
extern const char *const activation_names[ACTIVATION_COUNT];

/* The head's groups are the last ones of the program, in the order kernel, bias, kernel, bias, ... */
struct dense { uint32_t nin, nout; enum activation activation; uint32_t kernel, bias; };  /* weight groups; kernel (nin, nout) row-major */

/* ---- notes ---- */

struct layer_note { const char *path; bool embed; };          /* "conv[0]", "a.pool[2]" */
struct span_note { uint32_t line, column; };                  /* in the model's main text */

/* For drawings: what a model calls once and the program has as several operations.  Not stored in files. */
struct call_note {
	const char *name;
	int64_t power;            /* that modifiers make: -1 is the inverse */
	bool ordered;             /* does the order of the operands matter? */
	uint16_t ncontrol, nwire; /* wire[0..ncontrol) controls, then operands */
	uint64_t control_ones;    /* bit k: control k acts on 1 (else on 0) */
	uint32_t *wire;
	uint32_t noperation; /* if there are fewer, some were removed */
};

struct program {
	struct arena arena;
	uint32_t nweight_group; struct weight_group *weight_group;
	uint32_t nweight;            /* scalars; circuit weights come before the head's */
	uint32_t nweight_circuit;
	uint32_t ninput_group; struct input_group *input_group;
	uint32_t ninput;             /* scalars in a sample's row */
	uint32_t nexpr; struct expr *expr;
	uint32_t nmatrix; struct matrix *matrix;
	uint32_t ncircuit; struct circuit_code *circuit;    /* at least one; readouts are concatenated */
	uint32_t nreadout;           /* of all circuits */
	uint32_t ndense; struct dense *dense;
	uint32_t noutput;            /* of the model: last dense layer's, or nreadout */
	uint32_t nlayer; struct layer_note *layer;
	uint32_t nspan; struct span_note *span;
	uint32_t ncall;
	struct call_note *call;
};

struct program *program_new(void);
void program_free(struct program *p);

/* Fill what follows from shapes and lists: firsts, counts of scalars and readouts, totals,
 * nweight_circuit, noutput.  Sums saturate, so that the verifier sees what is too large. */
void program_number(struct program *p);
/* The group that a scalar is of, INDEX_NONE where there is none; groups are in order of their firsts. */
uint32_t program_weight_group(const struct program *p, uint32_t weight);
uint32_t program_input_group(const struct program *p, uint32_t input);
/* Of a verified program: real numbers that an output gives, and entries of a prepared vector (AMPLITUDES, STATE). */
static inline uint32_t output_nreadout(const struct output *o)
{
	return o->kind == OUTPUT_PROBS ? UINT32_C(1) << o->nwire : 1;
}
/* The probability that an amplitude counts for, its index having the bits that wires name. */
static inline uint32_t output_bin(const struct output *o, uint64_t index)
{
	uint32_t bin = 0;

	for (uint32_t w = 0; w < o->nwire; w++)
		bin |= (uint32_t)(index >> o->wire[w] & 1) << w;
	return bin;
}
static inline uint32_t apply_nentry(const struct apply *a)
{
	return a->op == APPLY_STATE ? UINT32_C(1) << a->nwire : a->nexpr;
}
/* Copies whose wire w is map[w], w itself where map is NULL; factors of a product stay in the order that they had. */
uint32_t *wires_mapped(struct arena *a, const uint32_t *wire, uint32_t n, const uint32_t *map);
struct output output_mapped(struct arena *a, const struct output *o, const uint32_t *map);
/* An item of the matrix that `around` applies, as an apply on wire[APPLY_WIRES_MAX]: controls of both in front; its matrix
 * is item.ref, which means nothing for a gate. */
struct apply apply_of_item(const struct apply *around, const struct item *it, uint32_t *wire);
/* A Pauli product on an amplitude's index, wire 0 the lowest of at most 64 bits:
 * (P psi)[i] = (-i)^ny (-1)^popcount(i & sign) psi[i ^ flip]. */
struct pauli_mask {
	uint64_t flip, sign;
	unsigned ny;
};
struct pauli_mask pauli_mask(const struct pauli_term *t);
/* Elements of a shape, max + 1 if there are more than max. */
uint32_t shape_count(uint32_t ndim, const uint32_t *dim, uint32_t max);
void shape_print(uint32_t ndim, const uint32_t *dim, struct buf *out); /* [2, 3] */
/* The place of element k in a shape: at[ndim], the last index fastest. */
void shape_place(uint32_t ndim, const uint32_t *dim, uint32_t k, uint32_t *at);

/* Gates that are multiplied into m, those of the matrices it refers to (gates[]) for each use; saturates. */
uint64_t matrix_gates(const struct matrix *m, const uint64_t *gates);

/* Is m the product of these items, on as many targets?  matrix_hash: the same number for equal definitions. */
bool matrix_same(const struct matrix *m, unsigned ntarget, uint32_t nitem, const struct item *item);
uint32_t matrix_hash(unsigned ntarget, uint32_t nitem, const struct item *item);

/* Is one of the expression's operands marked; one of the matrices that m refers to, or an angle of its gates? */
bool expr_has(const struct expr *x, const bool *mark);
bool matrix_has(const struct matrix *m, const bool *matrix, const bool *expr);
/* trained[nexpr]: expressions that depend on a weight that is not frozen. */
void program_trained(const struct program *p, bool *trained);

/* Fill the derived fields (classes, flags) of a verified program; called by the reader
 * and by lowering.  matrix_derive: of one matrix, after those it refers to, which are
 * def[ref] (a plan's table; NULL: the program's own). */
void program_derive(struct program *p);
void matrix_derive(const struct program *p, const struct matrix *const *def, struct matrix *m);

/* Bytes: bytecode.h draws the layout.  Writing is canonical: equal programs give
 * equal bytes; the last 32 bytes are the SHA-256 of all before. */
void program_write(const struct program *p, struct buf *out);
/* Equal in all that is written. */
bool program_same(const struct program *a, const struct program *b);
/* Read and verify; *out is a new program.  Never reads past len, takes no memory
 * beyond what the checked counts declare. */
int program_read(const void *bytes, size_t len, struct program **out, struct err *e);

/* Every index, count, order and shape checked; what passes can be executed. */
int program_verify(const struct program *p, struct err *e);

/* Values of all expressions for one sample: value[nexpr].  weight[nweight], input[ninput]
 * (may be NULL when no expression is VALUE_SAMPLE).  Random numbers are 1: no channel does anything. */
void program_eval(const struct program *p, const double *weight, const double *input, double *value);
/* Where value[nexpr], of program_eval, makes an operation of a circuit not finite: its place in the model, and what was computed
 * there of finite numbers, as a phrase to *out; nothing where all are finite. */
void program_not_finite(const struct program *p, const double *value, struct buf *out);
/* Reverse mode through the expressions: dexpr[nexpr] (dL/d value; destroyed) is
 * added into dweight[nweight]. */
void program_eval_reverse(const struct program *p, const double *value, double *dexpr,
	double *dweight);

/* The gradient with respect to frozen weights becomes 0: gradient[nweight]. */
void program_clear_frozen(const struct program *p, double *gradient);

/* Initial weights (frozen too) for start `restart` of `seed`: weight[nweight]. */
void program_init_weights(const struct program *p, uint64_t seed, uint32_t restart, double *weight);

/* How many instances are alike with this one, itself too: of the same name, with the same applies on the
 * same wires, so that at most their angles differ. 0 where an earlier one is alike. */
uint32_t program_instances(const struct program *p, uint32_t circuit);

/* Does the program have noise channels: random numbers that differ between trajectories? */
bool program_is_noisy(const struct program *p);
/* Do their probabilities depend on weights or inputs? */
bool program_noise_varies(const struct program *p);
/* Is it a noise channel: powers of Pauli words whose exponents a random number decides? */
bool matrix_is_channel(const struct program *p, const struct matrix *m);

/* Largest nwire of the circuits. */
uint32_t program_nwire(const struct program *p);
