/* SPDX-License-Identifier: Apache-2.0
 * Reading qsim's circuits line by line; every gate is one row of a table. */
#include "compiler/import/qsim.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/circuit_builder.h"
#include "runtime/base/arena.h"

enum { QUBITS_MAX = 2, ANGLES_MAX = 2, WORD_MAX = 63, CONTROLS_MAX = PROGRAM_CONTROLS_MAX };

/* An angle: parameter number `from`, counted from 1; where from is 0, `constant`. */
struct angle {
	unsigned from;
	double constant;
};

#define P(number) \
	{ \
		.from = number \
	}
#define CONST(value) { .constant = value }

/* Matrices as in qsim's gates_qsim.h, phases included. */
static const struct qsim_gate {
	const char *name;
	unsigned nqubit, nangle;
	const char *gate; /* of the language; NULL: the line has no effect */
	double power;     /* the exponent of gate, 0 for none */
	struct angle angle[GATE_ANGLES_MAX];
} gates[] = {
	{ "p", 0, 1, "gphase", 0, { P(1) } },
	{ "id1", 1, 0, .gate = "id" },
	{ "id_1", 1, 0, .gate = "id" },
	{ "id2", 2, 0, .gate = NULL },
	{ "id_2", 2, 0, .gate = NULL },
	{ "h", 1, 0, .gate = "h" },
	{ "x", 1, 0, .gate = "x" },
	{ "y", 1, 0, .gate = "y" },
	{ "z", 1, 0, .gate = "z" },
	{ "s", 1, 0, .gate = "s" },
	{ "t", 1, 0, .gate = "t" },
	{ "x_1_2", 1, 0, .gate = "sx" },
	{ "y_1_2", 1, 0, .gate = "y", .power = 0.5 },
	{ "hz_1_2", 1, 0, "u4", 0, { CONST(PI / 2), CONST(-PI / 4), CONST(PI / 4), CONST(PI / 4) } },
	{ "rx", 1, 1, "rx", 0, { P(1) } },
	{ "ry", 1, 1, "ry", 0, { P(1) } },
	{ "rz", 1, 1, "rz", 0, { P(1) } },
	{ "rxy", 1, 2, "r", 0, { P(2), P(1) } },
	{ "cz", 2, 0, .gate = "cz" },
	{ "cnot", 2, 0, .gate = "cx" },
	{ "cx", 2, 0, .gate = "cx" },
	{ "cp", 2, 1, "cp", 0, { P(1) } },
	{ "sw", 2, 0, .gate = "swap" },
	{ "is", 2, 0, .gate = "iswap" },
	{ "fs", 2, 2, "fsim", 0, { P(1), P(2) } },
};
enum { GATES = sizeof gates / sizeof *gates };

struct reader {
	struct diags *d;
	uint32_t file;
	const char *text;
	size_t at, end;              /* of the line at hand */
	uint32_t nqubit;
	int64_t *last;               /* (nqubit) time of the last gate, -1 before */
	struct design design;
	struct circuit *circuit;
	struct calls ops;            /* of the gate at hand, on its operands */
	uint32_t ncall;
	/* the word at hand */
	struct span span;
	char word[WORD_MAX + 1];
};

/* The next word of the line; false at its end. */
static bool next(struct reader *r)
{
	while (r->at < r->end && (r->text[r->at] == ' ' || r->text[r->at] == '\t' || r->text[r->at] == '\r'))
		r->at++;
	r->span = (struct span){ r->file, (uint32_t)r->at, (uint32_t)r->at };
	while (r->at < r->end && !isspace((unsigned char)r->text[r->at]))
		r->at++;
	r->span.end = (uint32_t)r->at;
	size_t n = r->span.end - r->span.begin;
	memcpy(r->word, r->text + r->span.begin, n < WORD_MAX ? n : WORD_MAX);
	r->word[n < WORD_MAX ? n : WORD_MAX] = 0;
	return n > 0;
}

static bool fault(struct reader *r, enum diag_code code, const char *headline, const char *label)
{
	diag_label(diag_at(r->d, code, r->span, "%s", headline), "%s", label);
	return false;
}

static bool is_count(const char *word, uint64_t most, uint64_t *out)
{
	char *end;

	if (!isdigit((unsigned char)*word) || strlen(word) > 18)
		return false;
	*out = strtoull(word, &end, 10);
	return !*end && *out <= most;
}

static bool want_time(struct reader *r, int64_t *when)
{
	uint64_t v;

	if (!is_count(r->word, INT64_MAX, &v))
		return fault(r, DIAG_QSIM_SYNTAX, "a line begins with its time", "expected a whole number");
	*when = (int64_t)v;
	return true;
}

/* One qubit: in range, not among used[0..n), later than its last gate. */
static bool want_qubit(struct reader *r, int64_t when, uint32_t *used, unsigned n)
{
	uint64_t v;

	if (!next(r))
		return fault(r, DIAG_QSIM_SYNTAX, "the line ends too early", "expected a qubit");
	if (!is_count(r->word, INT64_MAX, &v))
		return fault(r, DIAG_QSIM_SYNTAX, "not the number of a qubit", "expected a whole number");
	if (v >= r->nqubit) {
		diag_label(diag_at(r->d, DIAG_QSIM_QUBIT, r->span, "there is no qubit %s", r->word),
			"the circuit has qubits 0 to %u", r->nqubit - 1);
		return false;
	}
	for (unsigned k = 0; k < n; k++)
		if (used[k] == v)
			return fault(r, DIAG_QSIM_QUBIT, "the same qubit twice", "it is already an operand of this gate");
	if (r->last[v] >= when) {
		diag_label(diag_at(r->d, DIAG_QSIM_TIME, r->span, "a gate out of time order"),
			"qubit %s has a gate at time %lld already", r->word, (long long)r->last[v]);
		return false;
	}
	used[n] = (uint32_t)v;
	return true;
}

static bool want_angle(struct reader *r, double *out)
{
	char *end;

	if (!next(r))
		return fault(r, DIAG_QSIM_SYNTAX, "the line ends too early", "expected a parameter");
	*out = strtod(r->word, &end);
	if (*end || end == r->word || !isfinite(*out) || r->span.end - r->span.begin > WORD_MAX)
		return fault(r, DIAG_QSIM_SYNTAX, "not a parameter", "expected a number");
	return true;
}

static const struct qsim_gate *want_gate(struct reader *r)
{
	const char *names[GATES], *near;
	struct diag *g;

	for (unsigned k = 0; k < GATES; k++) {
		names[k] = gates[k].name;
		if (!strcmp(r->word, names[k]))
			return &gates[k];
	}
	if (!strcmp(r->word, "m")) {
		g = diag_at(r->d, DIAG_QSIM_GATE, r->span, "a measurement");
		diag_label(g, "circuits are read without measurements");
		diag_help(g, "delete the line: results are computed from the final state");
		return NULL;
	}
	g = diag_at(r->d, DIAG_QSIM_GATE, r->span, "unknown gate `%s`", r->word);
	diag_label(g, "no gate of this format has this name");
	near = diag_nearest(r->word, names, GATES);
	if (near)
		diag_help(g, "did you mean `%s`?", near);
	return NULL;
}

/* ---- building ---- */

static void build_ops(struct reader *r, const struct qsim_gate *g, const double *value)
{
	uint8_t word;
	const char *alias;
	const struct gate_row *row = gate_find(g->gate, &word, &alias);
	uint32_t angle[GATE_ANGLES_MAX];

	for (unsigned k = 0; k < row->nangle; k++) {
		const struct angle *a = &g->angle[k];

		angle[k] = exprs_const(&r->design.exprs, a->from ? value[a->from - 1] : a->constant);
	}
	r->ops.n = 0;
	build_gate(&r->design, &r->ops, row->id, word, angle);
	if (g->power != 0)
		build_power(&r->design, &r->ops, exprs_const(&r->design.exprs, g->power));
}

static bool build_line(struct reader *r, const struct qsim_gate *g, unsigned ncontrol, const uint32_t *qubit, const double *value,
	struct span line)
{
	if (!g->gate)
		return true;
	if (++r->ncall > COMPILE_CALLS_MAX || r->design.full || r->design.exprs.full) {
		diag_at(r->d, DIAG_LIMIT_CALLS, line, "the circuit has more than %d gates", COMPILE_CALLS_MAX);
		return false;
	}
	build_ops(r, g, value);
	if (ncontrol && !build_controls(&r->design, &r->ops, ncontrol, true)) {
		diag_at(r->d, DIAG_LIMIT_SIZE, line, "a gate under more than %d controls",
			PROGRAM_CONTROLS_MAX);
		return false;
	}
	build_on(&r->design, r->circuit, &r->ops, qubit, line);
	return true;
}

/* ---- lines ---- */

/* The controls behind `c`, then the gate's name is at hand. */
static bool read_controls(struct reader *r, int64_t when, uint32_t *qubit, unsigned *ncontrol)
{
	for (*ncontrol = 0; ; ++*ncontrol) {
		size_t at = r->at;

		if (!next(r))
			return fault(r, DIAG_QSIM_SYNTAX, "the line ends too early", "expected a gate");
		if (!isdigit((unsigned char)*r->word))
			break;
		if (*ncontrol == CONTROLS_MAX)
			return fault(r, DIAG_QSIM_SYNTAX, "too many controls", "the limit is reached here");
		r->at = at;
		if (!want_qubit(r, when, qubit, *ncontrol))
			return false;
	}
	return *ncontrol || fault(r, DIAG_QSIM_SYNTAX, "no controls", "expected a qubit behind `c`");
}

static bool read_gate(struct reader *r)
{
	uint32_t qubit[CONTROLS_MAX + QUBITS_MAX];
	double angle[ANGLES_MAX];
	unsigned ncontrol = 0;
	struct span line = r->span;
	int64_t when;

	if (!want_time(r, &when))
		return false;
	if (!next(r))
		return fault(r, DIAG_QSIM_SYNTAX, "the line ends too early", "expected a gate");
	if (!strcmp(r->word, "c") && !read_controls(r, when, qubit, &ncontrol))
		return false;
	const struct qsim_gate *g = want_gate(r);
	if (!g)
		return false;
	for (unsigned k = 0; k < g->nqubit; k++)
		if (!want_qubit(r, when, qubit, ncontrol + k))
			return false;
	for (unsigned k = 0; k < g->nangle; k++)
		if (!want_angle(r, &angle[k]))
			return false;
	if (next(r))
		return fault(r, DIAG_QSIM_SYNTAX, "something behind the gate", "the line should end here");
	for (unsigned k = 0; k < ncontrol + g->nqubit; k++)
		r->last[qubit[k]] = when;
	return build_line(r, g, ncontrol, qubit, angle, line);
}

static bool read_qubits(struct reader *r)
{
	struct span at = r->span;
	uint64_t n;

	if (!is_count(r->word, PROGRAM_WIRES_MAX, &n) || n == 0) {
		diag_label(diag_at(r->d, DIAG_QSIM_SYNTAX, r->span, "no number of qubits"),
			"expected a whole number from 1 to %d", PROGRAM_WIRES_MAX);
		return false;
	}
	if (next(r))
		return fault(r, DIAG_QSIM_SYNTAX, "something behind the number of qubits", "the line should end here");
	r->nqubit = (uint32_t)n;
	r->last = arena_alloc(r->design.arena, n, sizeof *r->last);
	for (uint32_t q = 0; q < r->nqubit; q++)
		r->last[q] = -1;
	build_register(&r->design, r->circuit, "q", r->nqubit, at);
	return true;
}

static void read_lines(struct reader *r)
{
	size_t len, begin = 0;
	bool ok = true;

	r->text = source_text(diags_sources(r->d), r->file, &len);
	while (begin < len && (ok || r->nqubit) && r->ncall <= COMPILE_CALLS_MAX) {
		const char *newline = memchr(r->text + begin, '\n', len - begin);

		r->at = begin;
		r->end = newline ? (size_t)(newline - r->text) : len;
		begin = r->end + 1;
		if (next(r) && *r->word != '#')
			ok = r->nqubit ? read_gate(r) : read_qubits(r);
	}
	if (ok && !r->nqubit)
		fault(r, DIAG_QSIM_SYNTAX, "no number of qubits", "the file ends here");
}

struct program *qsim_read(struct diags *d, uint32_t file, const struct compile_options *o)
{
	struct reader r = { .d = d, .file = file };
	arena_auto arena = { 0 };

	design_init(&r.design, &arena);
	r.design.main_file = file;
	r.circuit = build_circuit(&r.design, "");
	if (o->nconstant)
		diag_at(d, DIAG_OVERRIDE, (struct span){ 0, 0, 0 }, "%s is a circuit in qsim's format, which has no constants such as `%s`",
			source_name(diags_sources(d), file), o->constant->name);
	read_lines(&r);
	struct program *p = compile_design(&r.design, d, o);
	calls_release(&r.ops);
	design_release(&r.design);
	return p;
}

bool qsim_is(const char *text, size_t len)
{
	size_t i = 0, digits;

	while (i < len && (isspace((unsigned char)text[i]) || text[i] == '#')) {
		if (text[i] == '#')
			while (i < len && text[i] != '\n')
				i++;
		else
			i++;
	}
	for (digits = 0; i < len && isdigit((unsigned char)text[i]); i++)
		digits++;
	while (i < len && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r'))
		i++;
	return digits && (i == len || text[i] == '\n');
}
