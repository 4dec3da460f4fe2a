/* SPDX-License-Identifier: Apache-2.0
 * What elaboration yields and passes rewrite: flat lists of applies over interned
 * matrices and angle expressions, in growing vectors.  lower.c packs it into a
 * program.
 *
 * Applies, items and outputs are those of program.h, with two freedoms: apply.span
 * numbers design.place, and a global phase is an apply of a one-wire matrix without
 * a target (nwire == ncontrol) until call_settle gives it one. */
#pragma once

#include "compiler/exprs.h"
#include "runtime/base/text_table.h"
#include "runtime/base/source.h"

enum wire_use { WIRE_UNUSED = 0, WIRE_USED, WIRE_MEASURED, WIRE_DISCARDED };

struct wire_state { enum wire_use use; struct span at; };   /* at: what measured or discarded it */

/* Applies on wires 0 .. nwire-1: a circuit's, or a block's on its own operands. */
struct calls {
	struct apply *v; uint32_t n, cap;
	struct wire_state *wire; uint32_t nwire, cap_wire;
};

struct circuit {                 /* one instance */
	const char *name;
	struct calls calls;
	struct output *output;
	uint32_t noutput;
	uint64_t nreadout;           /* numbers that the outputs make */
	struct wire_register *reg;
	uint32_t nreg;
	struct span *reg_at;         /* (nreg) where each is declared */
	struct span observed;        /* first `observe`; file 0: none yet */
};

struct weights {                 /* a group with its declaration */
	struct weight_group g;
	struct span at;
	uint32_t instance;           /* serial of the instance that ran it last */
};

struct design {
	struct arena *arena;
	struct exprs exprs;
	struct matrix *matrix;
	uint32_t nmatrix;
	uint64_t *gates;                         /* (nmatrix) matrix_gates of each */
	uint32_t *table; uint32_t ntable;        /* hash of matrix definitions */
	uint64_t nitem;
	uint32_t ndraw;                  /* uses of noise channels */
	bool full;                       /* a limit on matrices or items was reached */
	struct circuit **circuit;
	uint32_t ncircuit;
	struct weights *weight;
	uint32_t nweight; /* groups; scalars in nscalar */
	struct text_table weight_path, layer_path;
	uint32_t nscalar;
	struct input_group *input;
	uint32_t ninput, ninput_scalar;
	struct span *input_at; /* (ninput) where each is declared */
	struct layer_note *layer;
	uint32_t nlayer;
	struct dense *dense;
	uint32_t ndense;
	struct span *place;
	uint32_t nplace;
	struct call_note *call;
	uint32_t ncall;
	uint32_t main_file;
};

void design_init(struct design *d, struct arena *a);
void design_release(struct design *d);
/* Expressions and matrices of a program, under their numbers, in its arena. d is not initialised; no circuits. */
void design_load(struct design *d, struct program *p);

/* The matrix with this definition, made or found; items are copied. */
uint32_t design_matrix(struct design *d, const char *name, unsigned ntarget, const struct item *item, uint32_t nitem);
/* The matrix of one base gate on its own wires. */
uint32_t design_gate(struct design *d, const char *name, enum gate g, uint8_t word, const uint32_t *angle);
/* The only item of a matrix that is a single uncontrolled gate on its wires in order, else NULL. */
const struct item *design_single(const struct design *d, uint32_t matrix);
/* A swap without controls: a relabelling of two wires. */
bool design_plain_swap(const struct design *d, const struct apply *p);
/* A constant gate that is its own inverse. */
bool design_self_inverse(const struct design *d, uint32_t matrix);
uint32_t design_place(struct design *d, struct span at);
uint32_t design_layer(struct design *d, const char *path, bool embed);

void calls_release(struct calls *c);
void calls_wires(struct calls *c, uint32_t n); /* n more, in |0> */
struct apply *calls_add(struct calls *c, const struct apply *a);
/* Copy with its own wire vector (room for `room` more in front). */
struct apply apply_copy(struct arena *a, const struct apply *p, uint32_t room);
/* Give a global phase a wire: a phase gate on its last control, else `free_wire`. */
void call_settle(struct design *d, struct apply *p, uint32_t free_wire);
/* The last wire of an operation that takes a qubit in |0> of its own where it is emitted, and discards it. */
#define WIRE_OWN (UINT32_MAX - 1)
static inline bool has_own_wire(const struct apply *p)
{
	return p->nwire && p->wire[p->nwire - 1] == WIRE_OWN;
}

/* At most MATRIX_TARGETS_MAX wires touched and nothing but unitaries and discards, no noise channel:
 * replace the unitaries by one apply of one matrix. */
void calls_fold(struct design *d, struct calls *c, const char *name);
