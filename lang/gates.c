/* SPDX-License-Identifier: Apache-2.0
 * Rows, names and words of the gate table. */
#include "lang/gates.h"

#include <string.h>
#include "runtime/base/err.h"

/* Short words of gates.def. */
enum {
	DIA = GATE_DIAGONAL, PER = GATE_PERMUTATION, REA = GATE_REAL, INV = GATE_SELF_INVERSE,
	SYM = GATE_SYMMETRIC, WORD = GATE_WORD, COMPOSITE = GATE_COMPOSITE, STEP = GATE_STEP, EVN = GATE_PARITY
};
#define S0 { SHIFT_NONE }
#define S1(a) { SHIFT_##a }
#define S2(a, b) { SHIFT_##a, SHIFT_##b }
#define S3(a, b, c) { SHIFT_##a, SHIFT_##b, SHIFT_##c }
#define S4(a, b, c, d) { SHIFT_##a, SHIFT_##b, SHIFT_##c, SHIFT_##d }

/* What a row must not get wrong. Numbers are 1, 2, ..., each once: a struct has a member once, and with GATE_COUNT - 1
 * rows none is larger. */
struct numbers_of_rows {
#define GATE(no, ...) char gate_number_##no;
#include "lang/gates.def"
#undef GATE
};
#define GATE(no, i, n, nc, nt, na, f, b, ...) \
	_Static_assert(no > 0 && no < GATE_COUNT, "gate " n ": its number is not the next free one"); \
	_Static_assert(na <= GATE_ANGLES_MAX, "gate " n ": more angles than GATE_ANGLES_MAX"); \
	_Static_assert(nc + nt <= GATE_WIRES_MAX, "gate " n ": more qubits than GATE_WIRES_MAX"); \
	_Static_assert(nc > 0 || GATE_##b == GATE_##i, \
		"gate " n ": without controls, it is its own base");
#include "lang/gates.def"
#undef GATE

static const struct gate_row rows[GATE_COUNT] = {
#define GATE(no, i, n, nc, nt, na, f, b, bw, p, pw, s, u, d, text) \
	[GATE_##i] = { .id = GATE_##i, .name = n, .ncontrol = nc, .ntarget = nt, .nangle = na, \
		.flags = f, .base = GATE_##b, .base_word = bw, .power = GATE_##p, .power_word = pw, \
		.shift = s, .doc = text },
#include "lang/gates.def"
#undef GATE
};

static const struct { const char *name, *of; } aliases[] = {
#define GATE(...)
#define ALIAS(n, o) { n, o },
#include "lang/gates.def"
#undef GATE
};

/* Rows (the families first), words of one letter, aliases. */
static const char *const all_names[] = {
#define GATE(no, i, n, ...) n,
#include "lang/gates.def"
#undef GATE
	"x", "y", "z", "rx", "ry", "rz",
#define GATE(...)
#define ALIAS(n, o) n,
#include "lang/gates.def"
#undef GATE
};
enum { NFAMILY = 3, NALL = sizeof all_names / sizeof *all_names };
_Static_assert(GATE_PAULI == 1 && GATE_RPAULI == 2 && GATE_PPAULI == 3, "families come first");

const struct gate_row *gate_row(enum gate g)
{
	if (g <= GATE_NONE || g >= GATE_COUNT)
		BUG("gate %d is not in the table", (int)g);
	return &rows[g];
}

size_t gate_names(const char *const **names)
{
	*names = all_names + NFAMILY;        /* a family cannot be named without a word */
	return NALL - NFAMILY;
}

/* ---- words ---- */

static uint8_t word_read(const char *s)
{
	unsigned word = 0, n = 0;
	for (; *s; s++, n++) {
		if (n == GATE_TARGETS_MAX || *s < 'x' || *s > 'z')
			return 0;
		word |= (unsigned)(*s - 'x' + 1) << 2 * n;
	}
	return (uint8_t)word;
}

unsigned gate_word_length(uint8_t word)
{
	unsigned n = 0;
	while (n < GATE_TARGETS_MAX && (word >> 2 * n & 3))
		n++;
	return n;
}

static const char *const family_prefix[] = {
	[GATE_PAULI] = "", [GATE_RPAULI] = "r", [GATE_PPAULI] = "pow_"
};

static const struct gate_row *find_word(const char *name, uint8_t *word)
{
	for (enum gate g = GATE_PAULI; g <= GATE_PPAULI; g++) {
		size_t n = strlen(family_prefix[g]);
		if (strncmp(name, family_prefix[g], n) == 0 && (*word = word_read(name + n)))
			return &rows[g];
	}
	return NULL;
}

const char *gate_word_name(enum gate g, uint8_t word, char *buf)
{
	const struct gate_row *r = gate_row(g);
	if (!(r->flags & GATE_WORD))
		return r->name;
	char *p = stpcpy(buf, family_prefix[g]);
	for (unsigned n = gate_word_length(word), i = 0; i < n; i++)
		*p++ = "?xyz"[word >> 2 * i & 3];
	*p = 0;
	return buf;
}

unsigned gate_ntarget(enum gate g, uint8_t word)
{
	const struct gate_row *r = gate_row(g);
	return r->flags & GATE_WORD ? gate_word_length(word) : r->ntarget;
}

unsigned gate_flags(enum gate g, uint8_t word)
{
	unsigned flags = gate_row(g)->flags, nx = 0, ny = 0, nz = 0, n = gate_word_length(word);
	if (!(flags & GATE_WORD))
		return flags;
	for (unsigned i = 0; i < n; i++) {
		nx += (word >> 2 * i & 3) == 1;
		ny += (word >> 2 * i & 3) == 2;
		nz += (word >> 2 * i & 3) == 3;
	}
	if (nz == n)
		flags |= GATE_DIAGONAL | GATE_PERMUTATION;
	if (ny % 2 == 0)             /* y alone is antisymmetric and imaginary */
		flags |= GATE_SYMMETRIC;
	if (g != GATE_PPAULI && (ny % 2 == 0) == (g == GATE_PAULI))
		flags |= GATE_REAL;
	if (g != GATE_PPAULI && (nx % 2 == 0) == (g == GATE_PAULI))   /* a word is i^ny times a real matrix that turns nx + ny bits */
		flags |= GATE_PARITY;
	return flags;
}

/* ---- names ---- */

static const struct gate_row *find_row(const char *name)
{
	for (enum gate g = GATE_PPAULI + 1; g < GATE_COUNT; g++)
		if (strcmp(rows[g].name, name) == 0)
			return &rows[g];
	return NULL;
}

const struct gate_row *gate_find(const char *name, uint8_t *word, const char **alias_of)
{
	*word = 0;
	*alias_of = NULL;
	for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
		if (strcmp(aliases[i].name, name) == 0) {
			name = *alias_of = aliases[i].of;
			break;
		}
	const struct gate_row *r = find_row(name);
	return r ? r : find_word(name, word);
}

bool gate_is_step(const char *name)
{
	const char *alias;
	uint8_t word;
	const struct gate_row *r = gate_find(name, &word, &alias);

	return r && r->flags & GATE_STEP;
}

/* ---- parameter shift ---- */

struct gate_frequencies gate_shift_frequencies(enum gate_shift s, bool under_control)
{
	static const struct gate_frequencies table[] = {
		[SHIFT_NONE] = { 0, 0 }, [SHIFT_HALF] = { 1, 1 }, [SHIFT_PHASE] = { 1, 1 },
		[SHIFT_POWER] = { PI, 1 }, [SHIFT_FOUR] = { 0.5, 2 },
		[SHIFT_FOUR_POWER] = { PI / 2, 2 }, [SHIFT_TWICE] = { 1, 2 }
	};
	return table[s == SHIFT_HALF && under_control ? SHIFT_FOUR : s];
}

/* ---- steps of composite rows ---- */

/* qiskit's RC3XGate (Maslov, arXiv:1508.03273, fig. 4). */
static const struct gate_step rc3x_steps[] = {
	{ .gate = GATE_H,   .wire = { 3 } },
	{ .gate = GATE_T,   .wire = { 3 } },
	{ .gate = GATE_CX,  .wire = { 2, 3 } },
	{ .gate = GATE_TDG, .wire = { 3 } },
	{ .gate = GATE_H,   .wire = { 3 } },
	{ .gate = GATE_CX,  .wire = { 0, 3 } },
	{ .gate = GATE_T,   .wire = { 3 } },
	{ .gate = GATE_CX,  .wire = { 1, 3 } },
	{ .gate = GATE_TDG, .wire = { 3 } },
	{ .gate = GATE_CX,  .wire = { 0, 3 } },
	{ .gate = GATE_T,   .wire = { 3 } },
	{ .gate = GATE_CX,  .wire = { 1, 3 } },
	{ .gate = GATE_TDG, .wire = { 3 } },
	{ .gate = GATE_H,   .wire = { 3 } },
	{ .gate = GATE_T,   .wire = { 3 } },
	{ .gate = GATE_CX,  .wire = { 2, 3 } },
	{ .gate = GATE_TDG, .wire = { 3 } },
	{ .gate = GATE_H,   .wire = { 3 } },
};

/* Yordanov, Arvidsson-Shukur and Barnes, arXiv:2005.14475, section III.B: three cx take 1100 to 1010 and 0011 to 0010, which
 * differ in the first qubit alone. */
static const struct gate_step double_steps[] = {
	{ .gate = GATE_CX, .wire = { 0, 1 } },
	{ .gate = GATE_CX, .wire = { 2, 3 } },
	{ .gate = GATE_CX, .wire = { 0, 2 } },
	{ .gate = GATE_RPAULI, .word = 2, .ncontrol = 3, .ones = 1, .wire = { 2, 1, 3, 0 }, .angle = 1 },
	{ .gate = GATE_CX, .wire = { 0, 2 } },
	{ .gate = GATE_CX, .wire = { 2, 3 } },
	{ .gate = GATE_CX, .wire = { 0, 1 } },
};

/* The phase of the other states is that of all, taken back on these two. */
static const struct gate_step double_plus_steps[] = {
	{ .gate = GATE_CX, .wire = { 0, 1 } },
	{ .gate = GATE_CX, .wire = { 2, 3 } },
	{ .gate = GATE_CX, .wire = { 0, 2 } },
	{ .gate = GATE_RPAULI, .word = 2, .ncontrol = 3, .ones = 1, .wire = { 2, 1, 3, 0 }, .angle = 1 },
	{ .gate = GATE_GPHASE, .angle = 0.5 },
	{ .gate = GATE_GPHASE, .ncontrol = 3, .ones = 1, .wire = { 2, 1, 3 }, .angle = -0.5 },
	{ .gate = GATE_CX, .wire = { 0, 2 } },
	{ .gate = GATE_CX, .wire = { 2, 3 } },
	{ .gate = GATE_CX, .wire = { 0, 1 } },
};

static const struct gate_step double_minus_steps[] = {
	{ .gate = GATE_CX, .wire = { 0, 1 } },
	{ .gate = GATE_CX, .wire = { 2, 3 } },
	{ .gate = GATE_CX, .wire = { 0, 2 } },
	{ .gate = GATE_RPAULI, .word = 2, .ncontrol = 3, .ones = 1, .wire = { 2, 1, 3, 0 }, .angle = 1 },
	{ .gate = GATE_GPHASE, .angle = -0.5 },
	{ .gate = GATE_GPHASE, .ncontrol = 3, .ones = 1, .wire = { 2, 1, 3 }, .angle = 0.5 },
	{ .gate = GATE_CX, .wire = { 0, 2 } },
	{ .gate = GATE_CX, .wire = { 2, 3 } },
	{ .gate = GATE_CX, .wire = { 0, 1 } },
};

/* Qubits 1 and 2 change places, as fermions do, so that the excitations are those of one spin each. */
static const struct gate_step orbital_steps[] = {
	{ .gate = GATE_CZ, .wire = { 1, 2 } },
	{ .gate = GATE_SWAP, .wire = { 1, 2 } },
	{ .gate = GATE_SINGLE_EXCITATION, .wire = { 0, 1 }, .angle = 1 },
	{ .gate = GATE_SINGLE_EXCITATION, .wire = { 2, 3 }, .angle = 1 },
	{ .gate = GATE_SWAP, .wire = { 1, 2 } },
	{ .gate = GATE_CZ, .wire = { 1, 2 } },
};

size_t gate_steps(enum gate g, const struct gate_step **steps)
{
	static const struct {
		const struct gate_step *v;
		size_t n;
	} of[GATE_COUNT] = {
#define STEPS(id, name) [GATE_##id] = { name, sizeof name / sizeof *name }
		STEPS(RC3X, rc3x_steps),
		STEPS(DOUBLE_EXCITATION, double_steps),
		STEPS(DOUBLE_EXCITATION_PLUS, double_plus_steps),
		STEPS(DOUBLE_EXCITATION_MINUS, double_minus_steps),
		STEPS(ORBITAL_ROTATION, orbital_steps),
#undef STEPS
	};

	*steps = of[g].v;
	return of[g].n;
}
