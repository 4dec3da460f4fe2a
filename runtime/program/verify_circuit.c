/* SPDX-License-Identifier: Apache-2.0
 * The verifier: circuits, where each wire's life is followed (unused, in use,
 * measured, discarded), and readouts. */
#include "runtime/program/verify.h"

#include <math.h>
#include <stdlib.h>

enum wire_state { WIRE_UNUSED = 0, WIRE_USED, WIRE_MEASURED, WIRE_DISCARDED };

enum { AMPLITUDE_WIRES_MAX = 24 };       /* 2^n expressions or input scalars at most */

struct walk {
	struct verifier *v;
	const struct circuit_code *c;
	uint8_t *state;                  /* enum wire_state of each wire */
	uint32_t *seen;                  /* stamp of the last list that named the wire */
	uint32_t stamp;
};

static int check_wires(struct walk *w, const uint32_t *wire, uint32_t n)
{
	w->stamp++;
	for (uint32_t i = 0; i < n; i++) {
		if (wire[i] >= w->c->nwire)
			return verify_fail(w->v, "wire %u of %u", wire[i], w->c->nwire);
		if (w->seen[wire[i]] == w->stamp)
			return verify_fail(w->v, "wire %u twice", wire[i]);
		w->seen[wire[i]] = w->stamp;
		if (w->state[wire[i]] == WIRE_DISCARDED)
			return verify_fail(w->v, "wire %u was discarded before", wire[i]);
	}
	return 0;
}

/* The targets are neither measured nor, if on_zero is asked for, used. */
static int check_unmeasured(struct walk *w, const struct apply *a, bool on_zero)
{
	for (uint32_t i = a->ncontrol; i < a->nwire; i++) {
		if (w->state[a->wire[i]] == WIRE_MEASURED)
			return verify_fail(w->v, "wire %u was measured before", a->wire[i]);
		if (on_zero && w->state[a->wire[i]] != WIRE_UNUSED)
			return verify_fail(w->v, "wire %u was used before", a->wire[i]);
	}
	return 0;
}

static int check_unitary(struct walk *w, const struct apply *a)
{
	const struct program *p = w->v->p;
	if (a->matrix >= p->nmatrix)
		return verify_fail(w->v, "matrix %u of %u", a->matrix, p->nmatrix);
	if (a->ncontrol > PROGRAM_CONTROLS_MAX)
		return verify_fail(w->v, "%u controls, the limit is %d", a->ncontrol, PROGRAM_CONTROLS_MAX);
	if (a->control_ones >> a->ncontrol)
		return verify_fail(w->v, "control values beyond the %u controls", a->ncontrol);
	if (a->nwire != a->ncontrol + p->matrix[a->matrix].ntarget)
		return verify_fail(w->v, "%u controls and %u wires, matrix %u has %u targets", a->ncontrol,
			a->nwire, a->matrix, p->matrix[a->matrix].ntarget);
	return check_unmeasured(w, a, false);
}

static int check_swap(struct walk *w, const struct apply *a)
{
	return a->nwire == 2 ? check_unmeasured(w, a, false)
			     : verify_fail(w->v, "%u wires, a swap has 2", a->nwire);
}

static int check_amplitudes(struct walk *w, const struct apply *a)
{
	if (a->nwire > AMPLITUDE_WIRES_MAX)
		return verify_fail(w->v, "%u wires, the limit is %d", a->nwire, AMPLITUDE_WIRES_MAX);
	if (a->nexpr < 1 || a->nexpr > 1u << a->nwire)
		return verify_fail(w->v, "%u entries for %u wires", a->nexpr, a->nwire);
	for (uint32_t i = 0; i < a->nexpr; i++)
		if (a->expr[i] >= w->v->p->nexpr)
			return verify_fail(w->v, "entry %u: expression %u of %u", i, a->expr[i], w->v->p->nexpr);
	return check_unmeasured(w, a, true);
}

static int check_state(struct walk *w, const struct apply *a)
{
	const struct program *p = w->v->p;
	if (a->matrix >= p->ninput_group || !p->input_group[a->matrix].is_state)
		return verify_fail(w->v, "input group %u is not a state", a->matrix);
	if (a->nwire > AMPLITUDE_WIRES_MAX || p->input_group[a->matrix].dim[0] != 1u << a->nwire)
		return verify_fail(w->v, "%u wires for a state of %u amplitudes", a->nwire,
			p->input_group[a->matrix].dim[0]);
	return check_unmeasured(w, a, true);
}

static int check_mark(struct walk *w, const struct apply *a)
{
	(void)w;
	(void)a;
	return 0;
}

/* after: the state of its wires then; controls keep a measured one. */
static const struct {
	int (*check)(struct walk *, const struct apply *);
	enum wire_state after;
} kinds[APPLY_COUNT] = { [APPLY_UNITARY] = { check_unitary, WIRE_USED },
	[APPLY_SWAP] = { check_swap, WIRE_USED },
	[APPLY_AMPLITUDES] = { check_amplitudes, WIRE_USED },
	[APPLY_STATE] = { check_state, WIRE_USED },
	[APPLY_DISCARD] = { check_mark, WIRE_DISCARDED },
	[APPLY_MEASURE] = { check_mark, WIRE_MEASURED } };

static int check_apply(struct walk *w, const struct apply *a)
{
	const struct program *p = w->v->p;
	if (a->op <= APPLY_NONE || a->op >= APPLY_COUNT)
		return verify_fail(w->v, "operation %d is unknown", (int)a->op);
	if (a->nwire < 1 || a->nwire > PROGRAM_WIRES_MAX)
		return verify_fail(w->v, "%u wires, not 1 to %d", a->nwire, PROGRAM_WIRES_MAX);
	if (a->layer != INDEX_NONE && a->layer >= p->nlayer)
		return verify_fail(w->v, "layer %u of %u", a->layer, p->nlayer);
	if (a->span != INDEX_NONE && a->span >= p->nspan)
		return verify_fail(w->v, "span %u of %u", a->span, p->nspan);
	if (a->op != APPLY_UNITARY && (a->adjoint || a->ncontrol || a->control_ones))
		return verify_fail(w->v, "only a unitary has controls or an adjoint");
	int rc = check_wires(w, a->wire, a->nwire);
	if (!rc)
		rc = kinds[a->op].check(w, a);
	for (uint32_t i = 0; !rc && i < a->nwire; i++)
		if (w->state[a->wire[i]] < kinds[a->op].after)
			w->state[a->wire[i]] = (uint8_t)kinds[a->op].after;
	return rc;
}

/* ---- readouts ---- */

static int check_factor(struct walk *w, const struct pauli_factor *f)
{
	if (f->wire >= w->c->nwire)
		return verify_fail(w->v, "wire %u of %u", f->wire, w->c->nwire);
	if (f->letter < 1 || f->letter > 3)
		return verify_fail(w->v, "letter %u on wire %u", f->letter, f->wire);
	if (w->state[f->wire] == WIRE_DISCARDED)
		return verify_fail(w->v, "wire %u was discarded", f->wire);
	return w->state[f->wire] == WIRE_MEASURED && f->letter != 3 ?
		verify_fail(w->v, "wire %u was measured, only z can be read", f->wire) : 0;
}

static int check_term(struct walk *w, const struct pauli_term *t)
{
	if (!isfinite(t->coefficient))
		return verify_fail(w->v, "a coefficient is not finite");
	for (uint32_t i = 0; i < t->nfactor; i++) {
		int rc = check_factor(w, &t->factor[i]);
		if (rc)
			return rc;
		if (i && t->factor[i].wire <= t->factor[i - 1].wire)
			return verify_fail(w->v, "wires %u, %u are not in ascending order", t->factor[i - 1].wire,
				t->factor[i].wire);
	}
	return 0;
}

static int check_output(struct walk *w, const struct output *o, uint64_t *nterm, uint64_t *nreadout)
{
	int rc = 0;
	if (o->kind == OUTPUT_PAULI) {
		*nreadout += 1;
		*nterm += o->nterm;
		rc = verify_count(w->v, "terms so far", *nterm, PROGRAM_TERMS_MAX);
		for (uint32_t i = 0; !rc && i < o->nterm; i++)
			rc = check_term(w, &o->term[i]);
	} else if (o->kind == OUTPUT_PROBS) {
		if (o->nwire < 1 || o->nwire > w->c->nwire || o->nwire >= 32)
			return verify_fail(w->v, "probabilities of %u wires", o->nwire);
		*nreadout += 1ull << o->nwire;
		rc = check_wires(w, o->wire, o->nwire);
	} else {
		return verify_fail(w->v, "kind %d is unknown", (int)o->kind);
	}
	return rc ? rc : verify_count(w->v, "readouts so far", *nreadout, PROGRAM_OUTPUTS_MAX);
}

static int check_registers(struct walk *w, uint32_t number)
{
	int rc = verify_count(w->v, "registers", w->c->nregister, PROGRAM_WIRES_MAX);
	for (uint32_t i = 0; !rc && i < w->c->nregister; i++) {
		verify_at(w->v, "circuits: circuit %u: register %u: ", number, i);
		if (w->c->reg[i].first > w->c->nwire || w->c->reg[i].count > w->c->nwire - w->c->reg[i].first)
			return verify_fail(w->v, "wires %u..+%u of %u", w->c->reg[i].first, w->c->reg[i].count,
				w->c->nwire);
		rc = verify_text(w->v, "name", w->c->reg[i].name);
	}
	return rc;
}

static int walk_circuit(struct walk *w, uint32_t number, uint64_t *nterm)
{
	uint64_t nreadout = 0;
	int rc = check_registers(w, number);
	for (uint32_t i = 0; !rc && i < w->c->napply; i++) {
		verify_at(w->v, "circuits: circuit %u: operation %u: ", number, i);
		rc = check_apply(w, &w->c->apply[i]);
	}
	for (uint32_t i = 0; !rc && i < w->c->noutput; i++) {
		verify_at(w->v, "circuits: circuit %u: output %u: ", number, i);
		rc = check_output(w, &w->c->output[i], nterm, &nreadout);
	}
	verify_at(w->v, "circuits: circuit %u: ", number);
	if (!rc && nreadout != w->c->nreadout)
		return verify_fail(w->v, "%u readouts, its outputs give %llu", w->c->nreadout,
			(unsigned long long)nreadout);
	return rc;
}

static int check_circuit(struct verifier *v, uint32_t number, uint64_t *napply, uint64_t *nterm)
{
	const struct circuit_code *c = &v->p->circuit[number];
	verify_at(v, "circuits: circuit %u: ", number);
	int rc = verify_text(v, "name", c->name);
	if (rc)
		return rc;
	if (c->nwire < 1 || c->nwire > PROGRAM_WIRES_MAX)
		return verify_fail(v, "%u wires, not 1 to %d", c->nwire, PROGRAM_WIRES_MAX);
	*napply += c->napply;
	if ((rc = verify_count(v, "operations so far", *napply, PROGRAM_APPLIES_MAX)))
		return rc;
	struct walk w = {
		.v = v, .c = c,
		.state = mem_alloc(c->nwire, sizeof *w.state),
		.seen = mem_alloc(c->nwire, sizeof *w.seen)
	};
	rc = walk_circuit(&w, number, nterm);
	free(w.state);
	free(w.seen);
	return rc;
}

int verify_circuits(struct verifier *v)
{
	const struct program *p = v->p;
	uint64_t napply = 0, nterm = 0, nreadout = 0;
	verify_at(v, "circuits: ");
	if (p->ncircuit < 1 || p->ncircuit > PROGRAM_CIRCUITS_MAX)
		return verify_fail(v, "%u circuits, not 1 to %d", p->ncircuit, PROGRAM_CIRCUITS_MAX);
	for (uint32_t i = 0; i < p->ncircuit; i++) {
		int rc = check_circuit(v, i, &napply, &nterm);
		if (rc)
			return rc;
		nreadout += p->circuit[i].nreadout;
	}
	verify_at(v, "circuits: ");
	if (nreadout != p->nreadout)
		return verify_fail(v, "%u readouts, the circuits give %llu", p->nreadout, (unsigned long long)nreadout);
	return verify_count(v, "readouts", nreadout, PROGRAM_OUTPUTS_MAX);
}
