/* SPDX-License-Identifier: Apache-2.0
 * A program's circuit as OpenQASM 2.0 or 3.0.
 *
 * Each gate is a product of a few elementary ones: phases, rotations about Pauli words, h and cx. Under controls these become
 * controlled; under more controls than the standard libraries have, they are made of ccx (A. Barenco et al.,
 * arXiv:quant-ph/9503016). */
#include "compiler/export/openqasm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compiler/export/model_print.h"
#include "compiler/export/openqasm_parts.h"
#include "runtime/base/visible.h"

/* A number, and what inputs add to it: factor times expression. */
struct angle {
	double number;
	unsigned nterm;
	struct {
		double factor;
		uint32_t expr;
	} term[GATE_ANGLES_MAX];
};

struct writer {
	struct printer w; /* the first: callbacks are given this one */
	bool two;         /* OpenQASM 2.0 */
	char qubits[16],
		bits[16]; /* names of the circuit's registers: q and c, of several circuits q0 and c0, q1 and c1, ... */
};

/* Wires that must be 1, and behind them those that a gate acts on. */
struct wires {
	uint32_t n, wire[APPLY_WIRES_MAX + GATE_TARGETS_MAX];
};

static struct wires with(const struct wires *c, uint32_t wire)
{
	struct wires all = *c;

	all.wire[all.n++] = wire;
	return all;
}

/* ---- angles ---- */

static struct angle times(double factor, const struct angle *a)
{
	struct angle r = *a;

	r.number *= factor;
	for (unsigned k = 0; k < r.nterm; k++)
		r.term[k].factor *= factor;
	return r;
}

static void put_angle(struct writer *q, const struct angle *a)
{
	bool alone = a->nterm == 1 && !a->number && a->term[0].factor == 1;

	if (!isfinite(a->number))
		PRINT_FAIL(&q->w, "an angle is not finite");
	if (a->number || !a->nterm) /* no negative zero */
		model_put_number(&q->w, a->number + 0.0);
	for (unsigned k = 0; k < a->nterm; k++) {
		double factor = a->term[k].factor;

		buf_str(q->w.out,
			signbit(factor)          ? k || a->number ? " - " : "-"
				: k || a->number ? " + "
						 : "");
		if (fabs(factor) != 1) {
			model_put_number(&q->w, fabs(factor));
			buf_char(q->w.out, '*');
		}
		buf_str(q->w.out, alone ? "" : "(");
		model_put_angle(&q->w, a->term[k].expr);
		buf_str(q->w.out, alone ? "" : ")");
	}
}

/* ---- gates of the libraries ---- */

/* `name(angle) wires;`, angle NULL: none. */
static void call(struct writer *q, const char *name, const struct angle *a, const struct wires *on)
{
	if (q->w.code)
		return;
	buf_str(q->w.out, name);
	if (a) {
		buf_char(q->w.out, '(');
		put_angle(q, a);
		buf_char(q->w.out, ')');
	}
	buf_char(q->w.out, ' ');
	model_put_wires(&q->w, on->wire, on->n, ", ");
	buf_str(q->w.out, ";\n");
	model_check_length(&q->w);
}

static void call_one(struct writer *q, const char *name, const struct angle *a, uint32_t wire)
{
	call(q, name, a, &(struct wires){ 1, { wire } });
}

static void put_x(struct writer *q, const struct wires *all);

/* A wire that is none of these, or INDEX_NONE. */
static uint32_t other_wire(const struct writer *q, const struct wires *all)
{
	for (uint32_t i = 0; i < q->w.c->nwire; i++) {
		bool used = false;

		for (uint32_t k = 0; k < all->n; k++)
			used |= all->wire[k] == i;
		if (!used)
			return i;
	}
	return INDEX_NONE;
}

/* The wires' part from..to, and one more. */
static struct wires some(const struct wires *all, uint32_t from, uint32_t to, uint32_t more,
	uint32_t target)
{
	struct wires s = { 0 };

	for (uint32_t k = from; k < to; k++)
		s.wire[s.n++] = all->wire[k];
	if (more != INDEX_NONE)
		s.wire[s.n++] = more;
	s.wire[s.n++] = target;
	return s;
}

/* Three controls or more and another wire, which is left as it was (Barenco, lemma 7.3). */
static void put_x_by_other(struct writer *q, const struct wires *all, uint32_t other)
{
	uint32_t ncontrol = all->n - 1, half = (ncontrol + 1) / 2;
	struct wires first = some(all, 0, half, INDEX_NONE, other);
	struct wires second = some(all, half, ncontrol, other, all->wire[ncontrol]);

	for (unsigned k = 0; k < 4; k++)
		put_x(q, k % 2 ? &second : &first);
}

/* e^(i a) where all wires are 1 (Barenco, lemma 7.5, of which one wire after the other is split off). */
static void put_phase(struct writer *q, const struct angle *a, const struct wires *all)
{
	struct wires left = *all;
	struct angle now = *a;

	while (left.n > 2) {
		uint32_t n = left.n;
		struct angle half = times(0.5, &now), minus = times(-0.5, &now);
		struct wires pair = { 2, { left.wire[n - 2], left.wire[n - 1] } }, before = left;

		before.n = n - 1;
		call(q, q->two ? "cu1" : "cp", &half, &pair);
		put_x(q, &before);
		call(q, q->two ? "cu1" : "cp", &minus, &pair);
		put_x(q, &before);
		left.wire[n - 2] = left.wire[n - 1];
		left.n--;
		now = half;
	}
	if (left.n == 2)
		call(q, q->two ? "cu1" : "cp", &now, &left);
	else if (left.n)
		call(q, q->two ? "u1" : "p", &now, &left);
}

/* x on the last wire where all others are 1. */
static void put_x(struct writer *q, const struct wires *all)
{
	static const char *const name[] = { "x", "cx", "ccx" };
	const struct angle half_turn = { .number = PI };
	uint32_t other = all->n > 3 ? other_wire(q, all) : INDEX_NONE, target = all->wire[all->n - 1];

	if (all->n <= 3) {
		call(q, name[all->n - 1], NULL, all);
	} else if (other != INDEX_NONE) {
		put_x_by_other(q, all, other);
	} else {
		call_one(q, "h", NULL, target);
		put_phase(q, &half_turn, all);
		call_one(q, "h", NULL, target);
	}
}

/* rx, ry or rz on the last wire where all others are 1 (Barenco, lemma 5.4). */
static void put_rotation(struct writer *q, enum pauli_letter letter, const struct angle *a,
	const struct wires *all)
{
	static const char *const name[2][4] = { { "", "rx", "ry", "rz" },
		{ "", "crx", "cry", "crz" } };
	uint32_t target = all->wire[all->n - 1];
	struct angle half = times(0.5, a), minus = times(-0.5, a);
	const char *turn = name[0][letter];

	/* Without cu3, whose phase is not the same in all programs that read OpenQASM 2. */
	if (all->n == 1 || (all->n == 2 && (!q->two || letter == PAULI_Z))) {
		call(q, name[all->n - 1][letter], a, all);
	} else if (letter == PAULI_X) {
		call_one(q, "h", NULL, target);
		put_rotation(q, PAULI_Z, a, all);
		call_one(q, "h", NULL, target);
	} else {
		call_one(q, turn, &half, target);
		put_x(q, all);
		call_one(q, turn, &minus, target);
		put_x(q, all);
	}
}

static void put_pauli(struct writer *q, enum pauli_letter letter, const struct wires *all)
{
	static const char *const name[2][4] = { { "", "x", "y", "z" }, { "", "cx", "cy", "cz" } };
	const struct angle half_turn = { .number = PI };
	uint32_t target = all->wire[all->n - 1];

	if (all->n <= 2) {
		call(q, name[all->n - 1][letter], NULL, all);
	} else if (letter == PAULI_Z) {
		put_phase(q, &half_turn, all);
	} else if (letter == PAULI_X) {
		put_x(q, all);
	} else {
		call_one(q, "sdg", NULL, target);
		put_x(q, all);
		call_one(q, "s", NULL, target);
	}
}

/* ---- elementary gates ---- */

/* From the eigenvectors of the letter to those of z, or back. */
static void change_basis(struct writer *q, enum pauli_letter letter, bool back, uint32_t wire)
{
	const struct angle quarter = { .number = back ? -PI / 2 : PI / 2 };

	if (letter == PAULI_X)
		call_one(q, "h", NULL, wire);
	else if (letter == PAULI_Y)
		call_one(q, "rx", &quarter, wire);
}

static enum pauli_letter letter_of(uint8_t word, unsigned k) { return word >> 2 * k & 3; }

/* exp(-i a P/2) on target[]: the parity of all is collected on the last. */
static void put_word_rotation(struct writer *q, uint8_t word, const struct angle *a,
	const struct wires *controls, const uint32_t *target)
{
	unsigned n = 1;

	while (n < GATE_TARGETS_MAX && letter_of(word, n))
		n++;
	struct wires all = with(controls, target[n - 1]);
	if (n == 1) {
		put_rotation(q, letter_of(word, 0), a, &all);
		return;
	}
	for (unsigned k = 0; k < n; k++)
		change_basis(q, letter_of(word, k), false, target[k]);
	for (unsigned k = 0; k + 1 < n; k++)
		call(q, "cx", NULL, &(struct wires){ 2, { target[k], target[k + 1] } });
	put_rotation(q, PAULI_Z, a, &all);
	for (unsigned k = n - 1; k-- > 0;)
		call(q, "cx", NULL, &(struct wires){ 2, { target[k], target[k + 1] } });
	for (unsigned k = 0; k < n; k++)
		change_basis(q, letter_of(word, k), true, target[k]);
}

/* angle[]: of the gate. */
static struct angle angle_of_part(const struct openqasm_part *part, const struct angle *angle,
	bool adjoint)
{
	struct angle r = { .number = part->number };

	for (unsigned k = 0; k < GATE_ANGLES_MAX; k++) {
		struct angle a = times(part->factor[k], &angle[k]);

		if (!part->factor[k])
			continue;
		r.number += a.number;
		for (unsigned i = 0; i < a.nterm; i++)
			r.term[r.nterm++] = a.term[i];
	}
	return adjoint ? times(-1, &r) : r;
}

static void put_part(struct writer *q, const struct openqasm_part *part, const struct angle *angle,
	const struct apply *site, const struct wires *controls)
{
	const struct wires none = { 0 }, *under = part->always ? &none : controls;
	const uint32_t *target = site->wire + site->ncontrol;
	unsigned ntarget = site->nwire - site->ncontrol;
	struct angle a = angle_of_part(part, angle, site->adjoint);
	uint32_t own[GATE_TARGETS_MAX];

	for (unsigned k = 0; k < GATE_TARGETS_MAX; k++)
		own[k] = part->wire[k] < ntarget ? target[part->wire[k]] : INDEX_NONE;
	struct wires one = with(under, own[0]), two = with(&one, own[1]);
	switch (part->kind) {
	case PART_PHASE: put_phase(q, &a, under); break;
	case PART_P: put_phase(q, &a, &one); break;
	case PART_CP: put_phase(q, &a, &two); break;
	case PART_ROTATION: put_word_rotation(q, part->word, &a, under, own); break;
	case PART_X: put_x(q, &one); break;
	case PART_CX: put_x(q, &two); break;
	case PART_H: call_one(q, "h", NULL, own[0]); break;
	}
}

/* ---- gates ---- */

static struct angle angle_of(const struct writer *q, uint32_t expr)
{
	const struct expr *x = &q->w.p->expr[expr];

	if (x->cls != VALUE_SAMPLE)
		return (struct angle){ .number = q->w.value[expr] };
	return (struct angle){ .nterm = 1, .term = { { 1, expr } } };
}

/* Gates without angles that both libraries have; their inverses. */
static const char *plain_name(const struct item *it, bool adjoint)
{
	switch (it->gate) {
	case GATE_H: return "h";
	case GATE_S: return adjoint ? "sdg" : "s";
	case GATE_SDG: return adjoint ? "s" : "sdg";
	case GATE_T: return adjoint ? "tdg" : "t";
	case GATE_TDG: return adjoint ? "t" : "tdg";
	default: return NULL;
	}
}

/* U(theta, phi, lambda), whose inverse is U(-theta, -lambda, -phi). */
static void put_u(struct writer *q, const struct angle *a, bool adjoint, uint32_t wire)
{
	const struct angle minus[] = { times(-1, &a[0]), times(-1, &a[2]), times(-1, &a[1]) };

	a = adjoint ? minus : a;
	buf_str(q->w.out, q->two ? "u3" : "U");
	for (unsigned k = 0; k < 3; k++) {
		buf_str(q->w.out, k ? ", " : "(");
		put_angle(q, &a[k]);
	}
	call_one(q, ")", NULL, wire);
}

static void put_family(struct writer *q, const struct item *it, const struct angle *angle,
	const struct apply *site, const struct wires *controls)
{
	const uint32_t *target = site->wire + site->ncontrol;
	struct angle a = times(site->adjoint ? -1 : 1, &angle[0]), turn = times(PI, &a),
		     half = times(PI / 2, &a);

	if (it->gate == GATE_RPAULI)
		put_word_rotation(q, it->word, &a, controls, target);
	if (it->gate == GATE_PPAULI) {
		put_word_rotation(q, it->word, &turn, controls, target);
		put_phase(q, &half, controls);
	}
	for (unsigned k = 0; it->gate == GATE_PAULI && k < (unsigned)site->nwire - site->ncontrol;
		k++) {
		struct wires all = with(controls, target[k]);

		put_pauli(q, letter_of(it->word, k), &all);
	}
}

static void put_under(struct writer *q, const struct item *it, const struct apply *site,
	const struct wires *controls)
{
	struct angle angle[GATE_ANGLES_MAX] = { 0 };
	const struct openqasm_part *part;
	const char *plain = controls->n ? NULL : plain_name(it, site->adjoint);
	size_t n = openqasm_parts(it->gate, &part);

	for (unsigned k = 0; k < gate_row(it->gate)->nangle; k++)
		angle[k] = angle_of(q, it->angle[k]);
	if (plain)
		call_one(q, plain, NULL, site->wire[site->ncontrol]);
	else if (it->gate == GATE_U3 && !controls->n)
		put_u(q, angle, site->adjoint, site->wire[site->ncontrol]);
	else if (gate_row(it->gate)->flags & GATE_WORD)
		put_family(q, it, angle, site, controls);
	else if (!n && it->gate != GATE_ID && it->gate != GATE_U0)
		BUG("openqasm_parts.c has no parts of gate %s", gate_row(it->gate)->name);
	else
		for (size_t k = 0; k < n; k++)
			put_part(q, &part[site->adjoint ? n - 1 - k : k], angle, site, controls);
}

/* Controls that wait for 0 are turned around before and behind. */
static void turn_controls(struct writer *q, const struct apply *site)
{
	for (uint32_t k = 0; k < site->ncontrol; k++)
		if (!(site->control_ones >> k & 1))
			call_one(q, "x", NULL, site->wire[k]);
}

static void put_gate(struct printer *w, const struct item *it, const struct apply *site)
{
	struct writer *q = (struct writer *)w;
	struct wires controls = { .n = site->ncontrol };

	memcpy(controls.wire, site->wire, site->ncontrol * sizeof *site->wire);
	turn_controls(q, site);
	put_under(q, it, site, &controls);
	turn_controls(q, site);
}

/* ---- inputs and outputs ---- */

/* Scalars of input x are x_0, x_1, ...: a name with a digit behind `_` is none of a gate. */
static void put_input(struct printer *w, uint32_t scalar)
{
	uint32_t group = program_input_group(w->p, scalar);
	const struct input_group *g = &w->p->input_group[group];

	if (model_is_name(g->name) && !w->plain_inputs)
		buf_printf(w->out, "%s_%u", g->name, scalar - g->first);
	else
		buf_printf(w->out, "input%u_%u", group, scalar - g->first);
}

/* Expressions that angles of gates need: need[nexpr]. An expression stands behind its operands. */
static void mark_angles(const struct program *p, bool *need)
{
	for (uint32_t m = 0; m < p->nmatrix; m++)
		for (uint32_t i = 0; i < p->matrix[m].nitem; i++) {
			const struct item *it = &p->matrix[m].item[i];

			for (unsigned k = 0;
				it->gate != GATE_NONE && k < gate_row(it->gate)->nangle; k++)
				need[it->angle[k]] = true;
		}
	for (uint32_t e = p->nexpr; e-- > 0;) {
		unsigned n = need[e] ? expr_noperand(p->expr[e].op) : 0;

		if (n)
			need[p->expr[e].a] = true;
		if (n > 1)
			need[p->expr[e].b] = true;
	}
}

static void declare_inputs(struct writer *q)
{
	const struct program *p = q->w.p;
	mem_auto bool *need = mem_alloc((size_t)p->nexpr + 1, sizeof *need);
	mem_auto bool *used = mem_alloc((size_t)p->ninput + 1, sizeof *used);

	mark_angles(p, need);
	for (uint32_t e = 0; e < p->nexpr; e++)
		if (need[e] && p->expr[e].op == EXPR_INPUT)
			used[p->expr[e].a] = true;
	for (uint32_t i = 0; i < p->ninput; i++) {
		if (!used[i])
			continue;
		buf_str(q->w.out, "input float[64] ");
		put_input(&q->w, i);
		buf_str(q->w.out, ";\n");
	}
}

/* How each wire is measured: letter[nwire], 0: not at all. False where two outputs need different bases. */
static bool choose_bases(const struct circuit_code *c, uint8_t *letter)
{
	bool good = true;

	for (uint32_t i = 0; i < c->noutput; i++) {
		const struct output *o = &c->output[i];

		for (uint32_t k = 0; k < o->nwire; k++) {
			good = good && (!letter[o->wire[k]] || letter[o->wire[k]] == PAULI_Z);
			letter[o->wire[k]] = PAULI_Z;
		}
		for (uint32_t t = 0; t < o->nterm; t++)
			for (uint32_t k = 0; k < o->term[t].nfactor; k++) {
				const struct pauli_factor *f = &o->term[t].factor[k];

				good = good && (!letter[f->wire] || letter[f->wire] == f->letter);
				letter[f->wire] = f->letter;
			}
	}
	return good;
}

static void measure(struct writer *q)
{
	const struct circuit_code *c = q->w.c;
	mem_auto uint8_t *letter = mem_alloc((size_t)c->nwire + 1, sizeof *letter);
	uint32_t nbit = 0, bit = 0;

	q->w.indent = "// ";
	for (uint32_t i = 0; i < c->noutput; i++)
		model_put_output(&q->w, &c->output[i]);
	if (!choose_bases(c, letter)) {
		buf_str(q->w.out,
			"// These need different bases, one after the other, so that nothing is measured here.\n");
		return;
	}
	for (uint32_t k = 0; k < c->nwire; k++)
		nbit += letter[k] != 0;
	if (!nbit)
		return;
	buf_printf(q->w.out, q->two ? "creg %2$s[%1$u];\n" : "bit[%u] %s;\n", nbit, q->bits);
	for (uint32_t k = 0; k < c->nwire; k++) {
		if (!letter[k])
			continue;
		change_basis(q, letter[k], false, k);
		buf_printf(q->w.out,
			q->two ? "measure %s[%u] -> %s[%u];\n" : "%3$s[%4$u] = measure %1$s[%2$u];\n",
			q->qubits, k, q->bits, bit++);
	}
}

/* ---- vectors of amplitudes ---- */

enum { VECTOR_WIRES_MAX = 24 };

static bool is_constant(const struct program *p, const struct apply *a)
{
	for (uint32_t k = 0; k < a->nexpr; k++)
		if (p->expr[a->expr[k]].cls == VALUE_SAMPLE)
			return false;
	return a->op == APPLY_AMPLITUDES && a->nwire <= VECTOR_WIRES_MAX;
}

/* ry(angle[p]) on the target where the controls, the first the lowest bit, are p: rotations between cx in the order of a
 * Gray code (Mottonen et al., arXiv:quant-ph/0407010, section 2). angle is destroyed. */
static void put_selected_ry(struct writer *q, double *angle, const uint32_t *control, unsigned k,
	uint32_t target)
{
	uint32_t n = 1u << k;

	for (uint32_t half = 1; half < n; half *= 2)
		for (uint32_t i = 0; i < n; i++) {
			double x = angle[i], y = angle[i ^ half];

			if (i & half)
				continue;
			angle[i] = (x + y) / 2;
			angle[i ^ half] = (x - y) / 2;
		}
	for (uint32_t i = 0; i < n; i++) {
		const struct angle a = { .number = angle[i ^ i >> 1] };
		unsigned bit = i + 1 < n ? (unsigned)__builtin_ctz(i + 1) : k - 1;

		call_one(q, "ry", &a, target);
		if (k)
			call(q, "cx", NULL, &(struct wires){ 2, { control[bit], target } });
	}
}

/* One qubit after the other, the highest bit first: part[p] is the norm, or at the end the number, of the amplitudes
 * whose index begins with p. */
static void put_amplitudes(struct writer *q, const struct apply *a)
{
	uint32_t n = 1u << a->nwire;
	mem_auto double *part = mem_try(2 * (size_t)n, sizeof *part),
			*angle = mem_try(n, sizeof *angle);

	if (!part || !angle) {
		q->w.code = err_set(q->w.e, -ERR_CONFIG, "no memory for %u amplitudes", n);
		return;
	}
	for (uint32_t k = 0; k < a->nexpr; k++)
		part[n + k] = q->w.value[a->expr[k]];
	for (uint32_t k = n - 1; k; k--)
		part[k] = hypot(part[2 * k], part[2 * k + 1]);
	for (uint32_t level = 1, bit = a->nwire; level < n; level *= 2) {
		bool some = false;

		bit--;
		for (uint32_t k = 0; k < level; k++) {
			angle[k] = 2 * atan2(part[2 * (level + k) + 1], part[2 * (level + k)]);
			some |= angle[k] != 0;
		}
		if (some)
			put_selected_ry(q, angle, a->wire + bit + 1, a->nwire - 1 - bit, a->wire[bit]);
	}
}

/* ---- the whole ---- */

/* Names of bytecode may have any character, but none ends the comment. */
static void comment(struct writer *q, const char *before, const char *name, const char *behind)
{
	buf_printf(q->w.out, "// %s", before);
	visible_str(q->w.out, name);
	buf_str(q->w.out, behind);
}

static void put_apply(struct writer *q, const struct apply *a)
{
	if (a->layer != q->w.layer && a->layer != INDEX_NONE)
		comment(q, "", q->w.p->layer[a->layer].path, "\n");
	q->w.layer = a->layer;
	switch (a->op) {
	case APPLY_UNITARY: model_put_unitary(&q->w, a); break;
	case APPLY_SWAP:
		for (unsigned k = 0; k < 3; k++)
			call(q, "cx", NULL,
				&(struct wires){ 2, { a->wire[k % 2], a->wire[1 - k % 2] } });
		break;
	case APPLY_AMPLITUDES:
	case APPLY_STATE:
		if (is_constant(q->w.p, a)) {
			put_amplitudes(q, a);
			break;
		}
		buf_str(q->w.out, "// To be prepared: a vector of amplitudes on ");
		model_put_wires(&q->w, a->wire, a->nwire, ", ");
		buf_str(q->w.out, ", the first the lowest bit of an amplitude's number.\n");
		break;
	case APPLY_DISCARD:
	case APPLY_MEASURE: break;
	case APPLY_NONE:
	case APPLY_COUNT: BUG("no operation number %d", (int)a->op);
	}
}

static int check(const struct program *p, bool two, struct err *e)
{
	if (program_is_noisy(p))
		return err_set(e, -ERR_BAD_DATA,
			"the model has noise channels, which OpenQASM has not");
	for (uint32_t m = 0; m < p->nmatrix && two; m++)
		if (p->matrix[m].cls == VALUE_SAMPLE)
			return err_set(e, -ERR_BAD_DATA,
				"angles depend on inputs, which OpenQASM 2 has not; OpenQASM 3 has: --emit=openqasm");
	return model_check_size(p, e);
}

static void put_head(struct writer *q)
{
	const struct program *p = q->w.p;
	struct buf *out = q->w.out;

	buf_str(out,
		q->two ? "OPENQASM 2.0;\ninclude \"qelib1.inc\";\n"
		       : "OPENQASM 3.0;\ninclude \"stdgates.inc\";\n");
	if (p->ndense)
		buf_printf(out, "// The circuit%s alone: %u readouts went into a head.\n",
			p->ncircuit == 1 ? "" : "s", p->nreadout);
	if (!q->two)
		declare_inputs(q);
}

static void put_circuit(struct writer *q, uint32_t number)
{
	const struct circuit_code *c = q->w.c = &q->w.p->circuit[number];
	bool alone = q->w.p->ncircuit == 1;

	snprintf(q->qubits, sizeof q->qubits, alone ? "q" : "q%u", number);
	snprintf(q->bits, sizeof q->bits, alone ? "c" : "c%u", number);
	q->w.layer = INDEX_NONE;
	q->w.indent = "";
	for (uint32_t k = 0; k < c->nwire; k++) {
		q->w.register_of[k] = q->qubits;
		q->w.place[k] = k;
	}
	if (!alone)
		comment(q, "Circuit ", c->name, "\n");
	for (uint32_t r = 0; c->nregister > 1 && r < c->nregister; r++) {
		comment(q, "", c->reg[r].name, "");
		buf_printf(q->w.out, ": %s[%u] to %s[%u]\n", q->qubits, c->reg[r].first, q->qubits,
			c->reg[r].first + c->reg[r].count - 1);
	}
	buf_printf(q->w.out, q->two ? "qreg %2$s[%1$u];\n" : "qubit[%u] %s;\n", c->nwire, q->qubits);
	for (uint32_t i = 0; !q->w.code && i < c->napply; i++)
		put_apply(q, &c->apply[i]);
	if (!q->w.code)
		measure(q);
}

bool openqasm_lacks_states(const struct program *p)
{
	for (uint32_t c = 0; c < p->ncircuit; c++)
		for (uint32_t i = 0; i < p->circuit[c].napply; i++)
			if ((p->circuit[c].apply[i].op == APPLY_AMPLITUDES
				    || p->circuit[c].apply[i].op == APPLY_STATE)
				&& !is_constant(p, &p->circuit[c].apply[i]))
				return true;
	return false;
}

int openqasm_print(const struct program *p, const double *weight, enum openqasm version,
	struct buf *out, struct err *e)
{
	static const struct print_language language = { .gate = put_gate,
		.input = put_input,
		.name = "OpenQASM",
		.no_function = 1u << EXPR_ABS | 1u << EXPR_MIN | 1u << EXPR_MAX };
	mem_auto double *value = mem_try((size_t)p->nexpr + 1, sizeof *value);
	mem_auto double *input = mem_try((size_t)p->ninput + 1, sizeof *input);
	mem_auto struct writer *q = mem_alloc(1, sizeof *q);
	int code = check(p, version == OPENQASM_2, e);

	if (!code && (!value || !input))
		code = err_set(e, -ERR_CONFIG, "no memory for %u angles", p->nexpr);
	if (code)
		return code;
	program_eval(p, weight, input, value);
	*q = (struct writer){
		.w = { .language = &language, .p = p, .value = value, .plain = true, .out = out, .e = e },
		.two = version == OPENQASM_2
	};
	put_head(q);
	for (uint32_t c = 0; !q->w.code && c < p->ncircuit; c++)
		put_circuit(q, c);
	return q->w.code;
}
