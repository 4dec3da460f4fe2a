/* SPDX-License-Identifier: Apache-2.0
 * Text to program: circuits, their applies and outputs. */
#include "compiler/asm/asm.h"

#include <string.h>

static bool read_register(struct asm_reader *r, struct wire_register *g)
{
	return asm_want_text(r, "a register's name", &g->name) &&
		asm_want_u32(&r->s, "its first wire", &g->first) && asm_want_u32(&r->s, "its number of wires", &g->count);
}

/* ---- applies ---- */

static bool read_amplitudes(struct asm_reader *r, struct apply *a)
{
	return asm_read_values(r, PROGRAM_EXPRS_MAX, &a->expr, &a->nexpr);
}

static bool read_state(struct asm_reader *r, struct apply *a)
{
	return asm_want_sign(&r->s, '(') && asm_want_u32(&r->s, "an input", &a->matrix) && asm_want_sign(&r->s, ')');
}

/* The operation's word and what belongs to it. */
static bool read_operation(struct asm_reader *r, struct apply *a)
{
	if (r->s.kind == ASM_WORD && asm_split_word(r->s.word, 'm', &a->matrix)) {
		a->op = APPLY_UNITARY;
		asm_next(&r->s);
		return true;
	}
	for (unsigned op = APPLY_UNITARY + 1; op < APPLY_COUNT; op++)
		if (asm_accept_word(&r->s, apply_names[op])) {
			a->op = op;
			return op == APPLY_AMPLITUDES ? read_amplitudes(r, a) : op == APPLY_STATE ? read_state(r, a) : true;
		}
	return asm_fail(&r->s, DIAG_ASM_WORD, "an operation, an output or `}` belongs here");
}

static bool read_apply(struct asm_reader *r, struct apply *a)
{
	uint32_t ncontrol, nwire;
	a->layer = a->span = INDEX_NONE;
	if (!asm_read_prefix(r, &a->adjoint, PROGRAM_CONTROLS_MAX, &ncontrol, &a->control_ones) ||
	    !read_operation(r, a) || !asm_read_u32s(r, PROGRAM_WIRES_MAX, &a->wire, &nwire))
		return false;
	a->ncontrol = (uint16_t)ncontrol;
	a->nwire = (uint16_t)nwire;
	if (asm_accept_word(&r->s, "layer") && !asm_want_u32(&r->s, "a layer", &a->layer))
		return false;
	return !asm_accept_word(&r->s, "span") || asm_want_u32(&r->s, "a span", &a->span);
}

/* ---- outputs ---- */

static bool read_factors(struct asm_reader *r, struct pauli_term *t)
{
	uint32_t wire;
	while (r->s.kind == ASM_WORD && strchr("xyz", r->s.word[0]) && asm_split_word(r->s.word, r->s.word[0], &wire)) {
		struct pauli_factor *f = arena_push(&r->p->arena, t->factor, t->nfactor);
		f->letter = (uint8_t)(r->s.word[0] - 'x' + 1);
		f->wire = wire;
		asm_next(&r->s);
	}
	return !r->s.failed;
}

static bool read_pauli(struct asm_reader *r, struct output *o)
{
	o->kind = OUTPUT_PAULI;
	if (r->s.kind == ASM_NUMBER)
		do {
			struct pauli_term *t = arena_push(&r->p->arena, o->term, o->nterm);
			if (!asm_want_number(&r->s, "a coefficient", &t->coefficient)
				|| !read_factors(r, t))
				return false;
		} while (asm_accept_sign(&r->s, '+'));
	return true;
}

static bool read_probs(struct asm_reader *r, struct output *o)
{
	o->kind = OUTPUT_PROBS;
	return asm_read_u32s(r, PROGRAM_WIRES_MAX, &o->wire, &o->nwire);
}

/* ---- circuits ---- */

static bool read_statement(struct asm_reader *r, struct circuit_code *c)
{
	struct arena *arena = &r->p->arena;
	if (asm_accept_word(&r->s, "register"))
		return read_register(r, arena_push(arena, c->reg, c->nregister));
	if (asm_accept_word(&r->s, "pauli"))
		return read_pauli(r, arena_push(arena, c->output, c->noutput));
	if (asm_accept_word(&r->s, "probs"))
		return read_probs(r, arena_push(arena, c->output, c->noutput));
	if (c->noutput)
		return asm_fail(&r->s, DIAG_ASM_SYNTAX,
			"an output or `}` belongs here: operations come before outputs");
	return read_apply(r, arena_push(arena, c->apply, c->napply));
}

static bool read_circuit(struct asm_reader *r, struct circuit_code *c)
{
	if (!asm_want_text(r, "the circuit's name", &c->name) || !asm_want_word(&r->s, "wires")
		|| !asm_want_u32(&r->s, "the number of wires", &c->nwire)
		|| !asm_want_sign(&r->s, '{'))
		return false;
	while (!asm_accept_sign(&r->s, '}'))
		if (!read_statement(r, c))
			return false;
	return true;
}

bool asm_read_circuits(struct asm_reader *r)
{
	struct program *p = r->p;
	while (r->s.kind == ASM_NUMBER)
		if (!asm_want_place(&r->s, "circuit", p->ncircuit)
			|| !read_circuit(r, arena_push(&p->arena, p->circuit, p->ncircuit)))
			return false;
	return true;
}
