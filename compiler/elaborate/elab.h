/* SPDX-License-Identifier: Apache-2.0
 * Inside elaboration: the state that its files share.  Not for other folders.
 *
 * The text runs once, statement by statement.  A fault is reported where it is,
 * the statement is abandoned, and its names are KIND_UNKNOWN, which stays silent. */
#pragma once

#include "compiler/circuit.h"
#include "compiler/compile.h"
#include "compiler/elaborate/value.h"
#include "runtime/base/text_table.h"
#include "lang/builtins.h"

struct condition {
	uint32_t wire;
	bool one;
};

/* Where applies go: a circuit's list, or that of the block whose body runs; and under which `if (measure ...)` of it. */
struct frame {
	struct calls *calls;
	const struct node *block, *call;
	struct frame *up;
	struct condition *condition;
	uint32_t ncondition;
};

/* One run of a layer; `count` numbers the runs of layers inside it. */
struct layer_run {
	const char *path;                /* "conv[0]", "" at the top; with the instance's prefix */
	uint32_t note;                   /* number in design.layer */
	struct layer_run *up;
	struct text_table count; /* runs by name */
};

struct block_memo;                       /* bodies already elaborated, by block and arguments */

struct elab {
	struct ast *tree;
	struct diags *diags, *mute;      /* mute swallows repetitions of one fault in a loop */
	uint64_t *seen;
	uint32_t nseen, nmute;
	const struct compile_options *options;
	struct arena *arena;
	struct design design;
	struct value *value; /* (tree->ndecl + 1) what names stand for, by number of the declaration */
	uint64_t nstep;
	uint32_t ncall, depth, nesting, instance;
	bool stop;                       /* a limit was passed: run nothing more */
	unsigned in_angle;               /* inside the angle of a gate: 1/2 gets a warning */
	struct frame *frame;             /* NULL: file level of a file with circuits */
	struct circuit *circuit;
	struct layer_run *layer;
	const char *prefix; /* of weights' paths: "a." or "" */
	struct block_memo *memo;
	uint32_t nterm;                  /* of all observables */
	uint32_t *bit, nbit; /* the qubit that each classical bit was measured from, or INDEX_NONE */
	const struct node *head;
	const struct node *loop;         /* the innermost `while` that runs, and how often it has */
	uint64_t nloop;
	bool changed;                    /* the run of its body has given a variable from outside another value */
};

/* elaborate.c */
struct diag *elab_error(struct elab *e, enum diag_code code, struct span at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The same where nothing is added to the report: no value, or false, so that `return elab_refuse(...)` ends a rule. */
#define elab_fail(...) (elab_error(__VA_ARGS__), value_unknown())
#define elab_refuse(...) (elab_error(__VA_ARGS__), false)
void elab_run(struct elab *e, const struct node *statement);
void elab_body(struct elab *e, const struct node *scope);
void elab_bind(struct elab *e, const struct node *decl, struct value v);
/* Where a limit was passed: the `while` that runs. */
void elab_in_loop(struct elab *e, struct diag *g);
/* Counts work done without statements (elements copied); false when the limit is passed. */
bool elab_work(struct elab *e, uint64_t n, struct span at);
/* The qubit as its register or operand is called: "q[3]". */
const char *elab_wire_name(struct elab *e, uint32_t wire, char *buf, size_t len);
/* A second span at the declaration of the name that n is or indexes, if there is one. */
void elab_declared(struct diag *g, const struct node *n, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* elab_expr.c */
struct value elab_eval(struct elab *e, const struct node *n);
/* Whether k, the kind of a number or of an array, is that of an int or of an array of int; reports. */
bool elab_is_int(struct elab *e, enum kind k, struct span at);
bool elab_int(struct elab *e, const struct node *n, int64_t *out);   /* reports */
/* A condition: 1, 0, or -1 when a fault was reported. */
int elab_truth(struct elab *e, const struct node *n);
bool elab_qubits(struct elab *e, const struct node *n, struct wire_list *out);
struct value elab_join(struct elab *e, const struct value *a, const struct value *b, struct span at);
/* elab_builtin.c */
struct value elab_apply(struct elab *e, const struct node *n);
/* elab_observe.c */
struct value elab_observable(struct elab *e, int op, struct span at, const struct value *a, const struct value *b);
struct value elab_pauli(struct elab *e, const struct node *n);
struct value elab_pauli_file(struct elab *e, const struct node *n);
struct value elab_sum(struct elab *e, struct pauli_sum s);
/* The qubits of a function that reads a file, each of them once; false: reported, there or in the parser. */
bool elab_file_qubits(struct elab *e, const struct node *n, struct wire_list *w);
/* elab_hermitian.c */
struct value elab_hermitian(struct elab *e, const struct node *n);
void elab_observe(struct elab *e, const struct node *n);
void elab_observe_z(struct elab *e, uint32_t wire, struct span at);
/* elab_index.c */
struct value elab_index(struct elab *e, const struct node *n);
/* The numbers of [a:b], [a:s:b] or {..} as written, for `for`. */
bool elab_range(struct elab *e, const struct node *n, int64_t *first, int64_t *step, uint32_t *count);
/* elab_decl.c */
bool elab_dims(struct elab *e, const struct node *dims, int64_t least, uint64_t most,
	enum diag_code limit, uint32_t *ndim, uint32_t *dim);
/* v as the declared type (int to float); reports at `at` what does not fit. */
struct value elab_convert(struct elab *e, struct value v, int type, const struct node *dims,
	struct span at, const struct node *decl);
void elab_const(struct elab *e, const struct node *n);
void elab_var(struct elab *e, const struct node *n);
void elab_let(struct elab *e, const struct node *n);
void elab_assign(struct elab *e, const struct node *n);
void elab_overrides(struct elab *e);
/* elab_param.c */
void elab_qubit(struct elab *e, const struct node *n);
void elab_param(struct elab *e, const struct node *n);
void elab_input(struct elab *e, const struct node *n);
void elab_layer(struct elab *e, const struct node *n);
/* elab_call.c */
void elab_call(struct elab *e, const struct node *n);
/* The operations of a call, whose operands are these different qubits. */
void elab_emit_on(struct elab *e, const struct node *call, const struct calls *ops,
	const uint32_t *wire, uint32_t width);
void elab_emit(struct elab *e, const struct apply *p, struct span at);
/* Whether the qubits may be acted upon by `at`; reports. */
bool elab_wires_free(struct elab *e, const uint32_t *wire, uint32_t n, struct span at);
/* Reports "qubit q[1] `fault`", and `before` where it was used, measured or discarded. */
struct diag *elab_wire_fault(struct elab *e, enum diag_code code, struct span at, uint32_t wire,
	const char *fault, const char *before);
/* The report that qubit k is one of those before it, "twice in ..."; NULL: it is not. */
struct diag *elab_twice(struct elab *e, const uint32_t *wire, uint32_t k, struct span at,
	const char *what);
/* elab_note.c: the number of a note of this call, which apply.call is; 0: none is needed, or none can be made. */
uint32_t elab_note(struct elab *e, const struct node *call, const struct calls *ops,
	const uint32_t *wire, uint32_t width);
/* elab_channel.c: the operations of a noise channel on `width` qubits for these numbers; reports. */
bool elab_channel(struct elab *e, const struct node *call, const struct value *v,
	const struct node *const *at, uint32_t width, struct calls *out);
/* elab_wires.c */
bool elab_operands(struct elab *e, const struct node *call, struct wire_list *out);
void elab_discard(struct elab *e, const struct node *n);
void elab_if_measure(struct elab *e, const struct node *n);
void elab_amplitudes(struct elab *e, const struct node *n);
/* elab_evolve.c */
void elab_evolve(struct elab *e, const struct node *n);
/* elab_measure.c: classical bits of OpenQASM */
void elab_bits(struct elab *e, const struct node *n);
void elab_measure(struct elab *e, const struct node *n);
void elab_reset(struct elab *e, const struct node *n);
/* The outputs of the circuit: z of the qubit of each bit that was measured, in order of the bits. */
void elab_observe_bits(struct elab *e, struct span at);
/* elab_block.c */
/* The qubits of a formal, and of all of a block or gate; 0: reported. */
uint32_t elab_formal_width(struct elab *e, const struct node *formal);
uint32_t elab_count_wires(struct elab *e, const struct node *def);
const struct calls *elab_block(struct elab *e, const struct node *call, const struct node *def,
	const struct value *arg, const struct node *const *arg_node);
/* The same of a power of a gate given by its matrix. */
const struct calls *elab_power(struct elab *e, const struct node *def, uint64_t power);
bool elab_bind_formals(struct elab *e, const struct node *def, const struct value *arg, const struct node *const *at);
void elab_memo_free(struct elab *e);
/* elab_matrix.c: the operations of a power > 0 of a gate given by its matrix; false: a message says why there are none. */
bool elab_matrix(struct elab *e, const struct node *def, uint64_t power, struct calls *out);
/* The numbers of the matrix in the file that n reads, u[nrow * ncolumn], and where its rows are, row[nrow]; reports. */
bool elab_matrix_file(struct elab *e, const struct node *n, uint32_t nrow, uint32_t ncolumn,
	cplx *u, struct span *row);
/* elab_modifier.c */
/* Rewrites the callee's applies under the call's modifiers; *nwire counts the operands. */
bool elab_modify(struct elab *e, const struct node *call, struct calls *ops, uint32_t *nwire);
bool elab_count_controls(struct elab *e, const struct node *call, uint32_t *n);
/* The integer that all inv and pow of a call make; false: they make none. */
bool elab_whole_power(struct elab *e, const struct node *call, int64_t *power);
/* elab_circuit.c */
void elab_file(struct elab *e);
/* principal_power.c: *out = (matrix)^power of a constant gate: eigenphases in (-pi, pi], multiplied.  False when some angle
 * is not constant (*constant tells) or the gate has no exact form for it. */
bool principal_power(struct design *d, uint32_t matrix, double power, uint32_t *out, bool *constant);
