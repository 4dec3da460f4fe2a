/* SPDX-License-Identifier: Apache-2.0
 * Programs by hand: small builders, one call an entry.
 *
 *     struct build b = build_new(nweight, ninput, ncircuit);
 *     uint32_t m = build_gate(&b, GATE_RPAULI, 3, (uint32_t[]){ build_weight(&b, 0) });
 *     build_wires(&b, 0, 2);
 *     build_apply(&b, 0, m, 1, (uint32_t[]){ 0 });
 *     build_z(&b, 0, 1);
 *     struct program *p = build_done(&b);
 */
#ifndef TESTS_KERNELS_BUILD_H
#define TESTS_KERNELS_BUILD_H

#include "runtime/program/program.h"
#include "runtime/program/verify.h"
#include "tests/tap.h"

enum { BUILD_EXPRS = 4096, BUILD_MATRICES = 1024, BUILD_APPLIES = 1024, BUILD_OUTPUTS = 64, BUILD_CIRCUITS = 8 };

struct build { struct program *p; };

/* All weights are one group, as are all inputs; a state group can be added behind. */
__attribute__((unused)) static struct build build_new(uint32_t nweight, uint32_t ninput, uint32_t ncircuit)
{
	struct program *p = program_new();

	p->weight_group = arena_alloc(&p->arena, 8, sizeof *p->weight_group);
	p->input_group = arena_alloc(&p->arena, 8, sizeof *p->input_group);
	p->expr = arena_alloc(&p->arena, BUILD_EXPRS, sizeof *p->expr);
	p->matrix = arena_alloc(&p->arena, BUILD_MATRICES, sizeof *p->matrix);
	p->circuit = arena_alloc(&p->arena, BUILD_CIRCUITS, sizeof *p->circuit);
	p->ncircuit = ncircuit;
	for (uint32_t c = 0; c < ncircuit; c++) {
		p->circuit[c].name = ncircuit == 1 ? "" : arena_printf(&p->arena, "c%u", c);
		p->circuit[c].apply = arena_alloc(&p->arena, BUILD_APPLIES, sizeof(struct apply));
		p->circuit[c].output = arena_alloc(&p->arena, BUILD_OUTPUTS, sizeof(struct output));
	}
	if (nweight)
		p->weight_group[p->nweight_group++] = (struct weight_group){ .path = "w", .ndim = 1, .dim = { nweight },
			.count = nweight, .init = INIT_UNIFORM, .init_a = -3, .init_b = 3 };
	if (ninput)
		p->input_group[p->ninput_group++] = (struct input_group){ .name = "x", .ndim = 1, .dim = { ninput }, .count = ninput };
	p->nweight = p->nweight_circuit = nweight;
	p->ninput = ninput;
	return (struct build){ p };
}

__attribute__((unused)) static void build_wires(struct build *b, uint32_t c, uint32_t nwire)
{
	b->p->circuit[c].nwire = nwire;
}

/* A frozen weight group behind those there; its first weight. */
__attribute__((unused)) static uint32_t build_frozen(struct build *b, uint32_t n)
{
	struct program *p = b->p;

	p->weight_group[p->nweight_group++] = (struct weight_group){ .path = "frozen", .ndim = 1, .dim = { n },
		.first = p->nweight, .count = n, .init = INIT_UNIFORM, .init_a = -3, .init_b = 3, .frozen = true };
	p->nweight = p->nweight_circuit += n;
	return p->nweight - n;
}

static uint32_t build_expr(struct build *b, struct expr x)
{
	if (b->p->nexpr == BUILD_EXPRS)
		tap_bail("too many expressions");
	b->p->expr[b->p->nexpr] = x;
	return b->p->nexpr++;
}

__attribute__((unused)) static uint32_t build_const(struct build *b, double v)
{
	return build_expr(b, (struct expr){ .op = EXPR_CONST, .value = v });
}

__attribute__((unused)) static uint32_t build_weight(struct build *b, uint32_t i)
{
	return build_expr(b, (struct expr){ .op = EXPR_WEIGHT, .a = i });
}

__attribute__((unused)) static uint32_t build_input(struct build *b, uint32_t i)
{
	return build_expr(b, (struct expr){ .op = EXPR_INPUT, .a = i });
}

/* With one operand pass a twice. */
__attribute__((unused)) static uint32_t build_op(struct build *b, enum expr_op op, uint32_t x, uint32_t y)
{
	return build_expr(b, (struct expr){ .op = op, .a = x, .b = expr_noperand(op) > 1 ? y : 0 });
}

__attribute__((unused)) static uint32_t build_matrix(struct build *b, unsigned ntarget, uint32_t nitem, const struct item *item)
{
	struct program *p = b->p;

	if (p->nmatrix == BUILD_MATRICES)
		tap_bail("too many matrices");
	p->matrix[p->nmatrix] = (struct matrix){ .ntarget = (uint8_t)ntarget, .nitem = nitem,
		.item = arena_copy(&p->arena, item, nitem, sizeof *item) };
	return p->nmatrix++;
}

/* One gate on its targets in order. */
__attribute__((unused)) static uint32_t build_gate(struct build *b, enum gate g, uint8_t word, const uint32_t *angle)
{
	unsigned n = gate_ntarget(g, word);
	struct item it = { .gate = g, .word = word, .nwire = (uint8_t)n, .wire = { 0, 1, 2 } };

	for (unsigned k = 0; k < gate_row(g)->nangle; k++)
		it.angle[k] = angle[k];
	return build_matrix(b, n, 1, &it);
}

static struct apply *build_step(struct build *b, uint32_t c, enum apply_op op, uint32_t nwire, const uint32_t *wire)
{
	struct circuit_code *code = &b->p->circuit[c];
	struct apply *a = &code->apply[code->napply++];

	if (code->napply > BUILD_APPLIES)
		tap_bail("too many applies");
	*a = (struct apply){ .op = op, .nwire = (uint16_t)nwire, .layer = INDEX_NONE, .span = INDEX_NONE,
		.wire = arena_copy(&b->p->arena, wire, nwire, sizeof *wire) };
	return a;
}

/* Controls, if any, come first in wire[] and act on 1. */
__attribute__((unused)) static struct apply *build_controlled(struct build *b, uint32_t c, uint32_t m, uint32_t ncontrol,
	uint32_t nwire, const uint32_t *wire)
{
	struct apply *a = build_step(b, c, APPLY_UNITARY, nwire, wire);

	a->matrix = m;
	a->ncontrol = (uint16_t)ncontrol;
	a->control_ones = (UINT64_C(1) << ncontrol) - 1;
	return a;
}

__attribute__((unused)) static struct apply *build_apply(struct build *b, uint32_t c, uint32_t m, uint32_t nwire, const uint32_t *wire)
{
	return build_controlled(b, c, m, 0, nwire, wire);
}

__attribute__((unused)) static void build_swap(struct build *b, uint32_t c, uint32_t x, uint32_t y)
{
	build_step(b, c, APPLY_SWAP, 2, (uint32_t[]){ x, y });
}

__attribute__((unused)) static void build_amplitudes(struct build *b, uint32_t c, uint32_t nexpr, const uint32_t *expr,
	uint32_t nwire, const uint32_t *wire)
{
	struct apply *a = build_step(b, c, APPLY_AMPLITUDES, nwire, wire);

	a->nexpr = nexpr;
	a->expr = arena_copy(&b->p->arena, expr, nexpr, sizeof *expr);
	a->matrix = expr[0];
}

/* A complex input state for these wires; its numbers come behind the inputs there are. */
__attribute__((unused)) static void build_state(struct build *b, uint32_t c, uint32_t nwire, const uint32_t *wire)
{
	struct program *p = b->p;
	struct apply *a = build_step(b, c, APPLY_STATE, nwire, wire);

	a->matrix = p->ninput_group;
	p->input_group[p->ninput_group++] = (struct input_group){ .name = "psi", .is_state = true, .ndim = 1,
		.dim = { 1u << nwire }, .first = p->ninput, .count = 2u << nwire };
	p->ninput += 2u << nwire;
}

static struct output *build_output(struct build *b, uint32_t c, struct output o, uint32_t nreadout)
{
	struct circuit_code *code = &b->p->circuit[c];

	if (code->noutput == BUILD_OUTPUTS)
		tap_bail("too many outputs");
	code->output[code->noutput] = o;
	code->nreadout += nreadout;
	b->p->nreadout += nreadout;
	b->p->noutput = b->p->nreadout;
	return &code->output[code->noutput++];
}

/* A Pauli sum whose terms are copied (factors too). */
__attribute__((unused)) static void build_pauli(struct build *b, uint32_t c, uint32_t nterm, const struct pauli_term *term)
{
	struct arena *a = &b->p->arena;
	struct pauli_term *own = arena_copy(a, term, nterm, sizeof *term);

	for (uint32_t t = 0; t < nterm; t++)
		own[t].factor = arena_copy(a, term[t].factor, term[t].nfactor, sizeof *own[t].factor);
	build_output(b, c, (struct output){ .kind = OUTPUT_PAULI, .nterm = nterm, .term = own }, 1);
}

__attribute__((unused)) static void build_z(struct build *b, uint32_t c, uint32_t wire)
{
	struct pauli_factor f = { wire, 3 };

	build_pauli(b, c, 1, &(struct pauli_term){ 1, 1, &f });
}

__attribute__((unused)) static void build_probs(struct build *b, uint32_t c, uint32_t nwire, const uint32_t *wire)
{
	build_output(b, c, (struct output){ .kind = OUTPUT_PROBS, .nwire = nwire,
		.wire = arena_copy(&b->p->arena, wire, nwire, sizeof *wire) }, 1u << nwire);
}

__attribute__((unused)) static struct program *build_done(struct build *b)
{
	struct err e = { 0, "" };

	if (program_verify(b->p, &e))
		tap_bail("a program made by hand does not verify: %s", e.text);
	program_derive(b->p);
	return b->p;
}

#endif
