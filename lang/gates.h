/* SPDX-License-Identifier: Apache-2.0
 * The gates: names, sizes, matrices and derivative rules, all from gates.def.
 *
 * A gate is a unitary on `ntarget` wires under `ncontrol` leading controls (cx is
 * x under one control).  Matrices here are those of the targets alone, row-major,
 * 2^ntarget square; the first target is the least significant bit of row and
 * column.  Angles are radians, or exponents t for the power gates (pow(t) @ g has
 * eigenphases 0 and pi*t).  Global phase is exact.
 *
 * The families of Pauli words (pauli: P; rpauli: exp(-i a P/2); ppauli: pow(t) @ P)
 * are three rows; a word of 1 to 3 letters rides beside the gate's id.  Word
 * encoding: 2 bits a letter (x 1, y 2, z 3), first letter (first operand) lowest.
 * So `x` and `rzz` are words of these families; `x y z rx ry rz` too. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "runtime/base/maths.h"

enum gate {
	GATE_NONE = 0,           /* in an item: a sub-matrix, not a gate */
#define GATE(no, id, ...) GATE_##id = no,
#include "lang/gates.def"
#undef GATE
	GATE_COUNT = 1           /* and one for each row: their numbers have no gaps */
#define GATE(...) + 1
#include "lang/gates.def"
#undef GATE
};

enum { GATE_ANGLES_MAX = 4, GATE_TARGETS_MAX = 3, GATE_WIRES_MAX = 8 };

enum gate_flag {             /* of the target matrix */
	GATE_DIAGONAL    = 1 << 0,
	GATE_PERMUTATION = 1 << 1,   /* one nonzero of modulus 1 per row */
	GATE_REAL        = 1 << 2,
	GATE_SELF_INVERSE = 1 << 3,
	GATE_SYMMETRIC   = 1 << 4,   /* equal to its transpose */
	GATE_WORD        = 1 << 5,   /* a family of Pauli words */
	GATE_COMPOSITE   = 1 << 6,   /* has steps instead of a matrix (rc3x) */
	GATE_STEP        = 1 << 7,   /* made from a modifier (pow(t) @ h) by the compiler; a model cannot name it */
	GATE_PARITY      = 1 << 8    /* real where row and column differ in an even number of bits, else imaginary (rx) */
};

/* How expectations depend on an angle: a trigonometric polynomial with frequencies
 * w, 2w, ..., nw, so that 2n shifted circuits give the derivative (Wierichs et al.,
 * arXiv:2107.12390, eq. 22).  Named after the eigenvalues of the generator. */
enum gate_shift {
	SHIFT_NONE = 0,   /* no angle */
	SHIFT_HALF,       /* +-1/2 (rotations): 1; under controls 1/2, 1 */
	SHIFT_PHASE,      /* 0 and 1 (phases): 1 */
	SHIFT_POWER,      /* pow(t), eigenphases 0 and pi t: pi */
	SHIFT_FOUR,       /* 0 and +-1/2 (SingleExcitation): 1/2, 1 */
	SHIFT_FOUR_POWER, /* pow(t) of iswap, 0 and +-pi/2: pi/2, pi */
	SHIFT_TWICE       /* 0 and +-1 (fsim); an angle of the axis, used on both sides: 1, 2 */
};
struct gate_frequencies { double w; unsigned n; };
struct gate_frequencies gate_shift_frequencies(enum gate_shift s, bool under_control);

struct gate_row {
	enum gate id;
	const char *name;        /* as written in a model; families: "pauli", ... */
	unsigned ncontrol, ntarget, nangle;
	unsigned flags;          /* of enum gate_flag */
	enum gate base;          /* the gate that acts on the targets; itself if ncontrol == 0 */
	uint8_t base_word;
	enum gate power;         /* row of pow(t) @ base, GATE_NONE if t must be constant */
	uint8_t power_word;
	enum gate_shift shift[GATE_ANGLES_MAX];   /* of every angle of the base */
	const char *doc;         /* one line */
};

const struct gate_row *gate_row(enum gate g);

/* A name as written in a model (`cx`, `cnot`, `IsingXX`, `rzx`, `zz`): its row and
 * word, or NULL.  *alias_of is set to the row's own name when `name` is an alias. */
const struct gate_row *gate_find(const char *name, uint8_t *word, const char **alias_of);
/* All names and aliases (not the words of two and three letters), for suggestions and lists. */
size_t gate_names(const char *const **names);

bool gate_is_step(const char *name);             /* of a row with GATE_STEP, or a word of such a family */

unsigned gate_word_length(uint8_t word);         /* letters in a word; 0 for word 0 */
/* Flags of a row, those that hold for this word for families. */
unsigned gate_flags(enum gate g, uint8_t word);
/* Targets of a row, with the word's length for families. */
unsigned gate_ntarget(enum gate g, uint8_t word);
/* The name with its word, e.g. "rzx", "zz", "pow_zz", in buf (at least 16 bytes); other rows' own names. */
const char *gate_word_name(enum gate g, uint8_t word, char *buf);

/* u = the target matrix (4^ntarget entries, one for gphase); du = its derivative by angle k. Base rows
 * (ncontrol == 0, not composite) only. */
void gate_matrix(enum gate g, uint8_t word, const double *angle, cplx *u);
/* u[k] the same from its own angles, for k < n: of matrix k, angle[i * n + k] is number i. */
void gate_matrices(enum gate g, uint8_t word, size_t n, const double *angle, cplx *const *u);
void gate_derivative(enum gate g, uint8_t word, const double *angle, unsigned k, cplx *du);

/* How a word acts on an index: P has i^ny (-1)^parity(c & sign) in row c ^ flip of column c. */
struct gate_word { uint8_t flip, sign, ny; };
struct gate_word gate_word_of(uint8_t word);
static inline cplx gate_word_turned(cplx z, unsigned ny)         /* i^ny z */
{
	switch (ny % 4) {
	case 1: return cplx_of(-cimag(z), creal(z));
	case 2: return cplx_of(-creal(z), -cimag(z));
	case 3: return cplx_of(cimag(z), -creal(z));
	default: return z;
	}
}

/* What angles give words: e^(i a/2) for rpauli, e^(i pi t) for ppauli, 1 for pauli, which has none. */
cplx gate_word_turn(enum gate g, const double *angle);
void gate_word_turns(enum gate g, size_t n, const double *angle, cplx *e);
/* A gate of the families whose angle gives e is one + p P. */
void gate_word_terms(enum gate g, cplx e, cplx *one, cplx *p);
/* The derivative of rpauli and ppauli is D times the matrix, with a D = i (one + p P) that no angle changes and that
 * commutes with it; false for all others. */
bool gate_generator(enum gate g, double *one, double *p);

/* A composite row's steps, in order.  wire: operand numbers, first `ncontrol` controls that are not in the step's own row
 * (bit k of `ones`: control k acts on 1, else on 0).  A step with an angle has `angle` times the composite's first. */
struct gate_step {
	enum gate gate;
	uint8_t word, ncontrol, ones, wire[GATE_WIRES_MAX];
	double angle;
};
size_t gate_steps(enum gate g, const struct gate_step **steps);
