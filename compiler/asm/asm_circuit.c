/* SPDX-License-Identifier: Apache-2.0
 * Text to program: circuits, their applies and outputs. */
#include "compiler/asm/asm.h"

#include <string.h>

static void read_register(struct asm_reader *r, struct wire_register *g)
{
	asm_want_text(r, "a register's name", &g->name);
	asm_want_u32(&r->s, "its first wire", &g->first);
	asm_want_u32(&r->s, "its number of wires", &g->count);
}

/* ---- applies ---- */

/* The operation's word and what belongs to it. */
static void read_operation(struct asm_reader *r, struct apply *a)
{
	if (r->s.kind == ASM_WORD && asm_split_word(r->s.word, 'm', &a->matrix)) {
		a->op = APPLY_UNITARY;
		asm_next(&r->s);
	}
	for (unsigned op = APPLY_UNITARY + 1; !a->op && op < APPLY_COUNT; op++)
		if (asm_accept_word(&r->s, apply_names[op]))
			a->op = op;
	if (a->op == APPLY_AMPLITUDES)
		asm_read_values(r, PROGRAM_EXPRS_MAX, &a->expr, &a->nexpr);
	if (a->op == APPLY_STATE) {
		asm_want_sign(&r->s, '(');
		asm_want_u32(&r->s, "an input", &a->matrix);
		asm_want_sign(&r->s, ')');
	}
	if (!a->op)
		asm_fail(&r->s, DIAG_ASM_WORD, "an operation, an output or `}` belongs here");
}

static void read_apply(struct asm_reader *r, struct apply *a)
{
	uint32_t ncontrol, nwire;
	a->layer = a->span = INDEX_NONE;
	asm_read_prefix(r, &a->adjoint, PROGRAM_CONTROLS_MAX, &ncontrol, &a->control_ones);
	read_operation(r, a);
	asm_read_u32s(r, PROGRAM_WIRES_MAX, &a->wire, &nwire);
	a->ncontrol = (uint16_t)ncontrol;
	a->nwire = (uint16_t)nwire;
	if (asm_accept_word(&r->s, "layer"))
		asm_want_u32(&r->s, "a layer", &a->layer);
	if (asm_accept_word(&r->s, "span"))
		asm_want_u32(&r->s, "a span", &a->span);
}

/* ---- outputs ---- */

static void read_factors(struct asm_reader *r, struct pauli_term *t)
{
	uint32_t wire;
	while (r->s.kind == ASM_WORD && strchr("xyz", r->s.word[0]) && asm_split_word(r->s.word, r->s.word[0], &wire)) {
		struct pauli_factor *f = arena_push(&r->p->arena, t->factor, t->nfactor);
		f->letter = (uint8_t)(r->s.word[0] - 'x' + 1);
		f->wire = wire;
		asm_next(&r->s);
	}
}

static void read_pauli(struct asm_reader *r, struct output *o)
{
	o->kind = OUTPUT_PAULI;
	if (r->s.kind == ASM_NUMBER)
		do {
			struct pauli_term *t = arena_push(&r->p->arena, o->term, o->nterm);
			asm_want_number(&r->s, "a coefficient", &t->coefficient);
			read_factors(r, t);
		} while (asm_accept_sign(&r->s, '+'));
}

static void read_probs(struct asm_reader *r, struct output *o)
{
	o->kind = OUTPUT_PROBS;
	asm_read_u32s(r, PROGRAM_WIRES_MAX, &o->wire, &o->nwire);
}

/* ---- circuits ---- */

static void read_statement(struct asm_reader *r, struct circuit_code *c)
{
	struct arena *arena = &r->p->arena;
	if (asm_accept_word(&r->s, "register"))
		read_register(r, arena_push(arena, c->reg, c->nregister));
	else if (asm_accept_word(&r->s, "pauli"))
		read_pauli(r, arena_push(arena, c->output, c->noutput));
	else if (asm_accept_word(&r->s, "probs"))
		read_probs(r, arena_push(arena, c->output, c->noutput));
	else if (c->noutput)
		asm_fail(&r->s, DIAG_ASM_SYNTAX,
			"an output or `}` belongs here: operations come before outputs");
	else
		read_apply(r, arena_push(arena, c->apply, c->napply));
}

void asm_read_circuit(struct asm_reader *r)
{
	struct circuit_code *c = arena_push(&r->p->arena, r->p->circuit, r->p->ncircuit);
	asm_want_text(r, "the circuit's name", &c->name);
	asm_want_word(&r->s, "wires");
	asm_want_u32(&r->s, "the number of wires", &c->nwire);
	asm_want_sign(&r->s, '{');
	while (!r->s.failed && !asm_accept_sign(&r->s, '}'))
		read_statement(r, c);
}
