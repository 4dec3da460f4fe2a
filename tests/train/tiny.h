/* SPDX-License-Identifier: Apache-2.0
 * A tiny program made by hand: two wires, rx(x) on both, ry(t0) and ry(t1), cx, rz(s), cx, ry(t1)
 * on the second; <Z> of both wires; optionally a head of two dense layers.
 * Weights: conv[0].t (2), s (scalar), head.dense[0].kernel (2, 3) and .bias (3), head.dense[1]... (3, 1), (1). */
#ifndef TESTS_TRAIN_TINY_H
#define TESTS_TRAIN_TINY_H

#include "runtime/program/program.h"

static struct item tiny_rotation(uint8_t letter, uint8_t wire, uint32_t expr)
{
	return (struct item){ .gate = GATE_RPAULI, .word = letter, .nwire = 1, .wire = { wire }, .angle = { expr } };
}

static struct item tiny_cx(void)
{
	return (struct item){ .gate = GATE_PAULI, .word = 1, .ncontrol = 1, .control_ones = 1, .nwire = 2, .wire = { 0, 1 } };
}

static void tiny_group(struct program *p, const char *path, uint32_t ndim, uint32_t d0, uint32_t d1, enum weight_init init)
{
	struct weight_group *g = &p->weight_group[p->nweight_group++];

	*g = (struct weight_group){ .path = path, .ndim = ndim, .dim = { d0, d1 }, .first = p->nweight,
		.count = ndim > 1 ? d0 * d1 : ndim ? d0 : 1, .init = init, .init_a = -1, .init_b = 1 };
	if (init == INIT_GLOROT_UNIFORM) {
		g->init_a = d0;
		g->init_b = ndim > 1 ? d1 : d0;
	}
	p->nweight += g->count;
}

static void tiny_apply(struct program *p, uint32_t at, uint32_t matrix, uint32_t nwire, uint32_t wire)
{
	struct apply *a = &p->circuit[0].apply[at];
	uint32_t both[2] = { 0, 1 };

	*a = (struct apply){ .op = APPLY_UNITARY, .matrix = matrix, .nwire = (uint16_t)nwire, .layer = INDEX_NONE, .span = INDEX_NONE };
	a->wire = arena_copy(&p->arena, nwire == 2 ? both : &wire, nwire, sizeof wire);
}

static void tiny_output(struct program *p, uint32_t at, uint32_t wire)
{
	struct pauli_factor f = { wire, 3 };
	struct pauli_term t = { 1, 1, arena_copy(&p->arena, &f, 1, sizeof f) };

	p->circuit[0].output[at] = (struct output){ .kind = OUTPUT_PAULI, .nterm = 1, .term = arena_copy(&p->arena, &t, 1, sizeof t) };
}

static void tiny_head(struct program *p, enum activation first, enum activation last, uint32_t nout)
{
	tiny_group(p, "head.dense[0].kernel", 2, 2, 3, INIT_GLOROT_UNIFORM);
	tiny_group(p, "head.dense[0].bias", 1, 3, 0, INIT_UNIFORM);
	tiny_group(p, "head.dense[1].kernel", 2, 3, nout, INIT_GLOROT_UNIFORM);
	tiny_group(p, "head.dense[1].bias", 1, nout, 0, INIT_UNIFORM);
	p->dense = arena_alloc(&p->arena, 2, sizeof *p->dense);
	p->dense[p->ndense++] = (struct dense){ 2, 3, first, 2, 3 };
	p->dense[p->ndense++] = (struct dense){ 3, nout, last, 4, 5 };
	p->noutput = nout;
}

/* nout 0: without a head. */
static struct program *tiny_program(enum activation first, enum activation last, uint32_t nout)
{
	struct program *p = program_new();
	struct expr expr[] = { { .op = EXPR_INPUT }, { .op = EXPR_WEIGHT, .a = 0 }, { .op = EXPR_WEIGHT, .a = 1 }, { .op = EXPR_WEIGHT, .a = 2 } };
	struct item encode[] = { tiny_rotation(1, 0, 0) };
	struct item block[] = { tiny_rotation(2, 0, 1), tiny_rotation(2, 1, 2), tiny_cx(), tiny_rotation(3, 1, 3), tiny_cx(), tiny_rotation(2, 1, 2) };
	struct matrix matrix[] = { { .name = "encode", .ntarget = 1, .nitem = 1 }, { .name = "block", .ntarget = 2, .nitem = 6 } };

	p->weight_group = arena_alloc(&p->arena, 6, sizeof *p->weight_group);
	tiny_group(p, "conv[0].t", 1, 2, 0, INIT_UNIFORM);
	tiny_group(p, "s", 0, 0, 0, INIT_UNIFORM);
	p->nweight_circuit = p->nweight;
	p->ninput_group = p->ninput = 1;
	p->input_group = arena_alloc(&p->arena, 1, sizeof *p->input_group);
	p->input_group[0] = (struct input_group){ .name = "x", .count = 1 };
	p->nexpr = 4;
	p->expr = arena_copy(&p->arena, expr, 4, sizeof *expr);
	matrix[0].item = arena_copy(&p->arena, encode, 1, sizeof *encode);
	matrix[1].item = arena_copy(&p->arena, block, 6, sizeof *block);
	p->nmatrix = 2;
	p->matrix = arena_copy(&p->arena, matrix, 2, sizeof *matrix);
	p->ncircuit = 1;
	p->circuit = arena_alloc(&p->arena, 1, sizeof *p->circuit);
	p->circuit[0] = (struct circuit_code){ .name = "", .nwire = 2, .napply = 3, .noutput = 2, .nreadout = 2 };
	p->circuit[0].apply = arena_alloc(&p->arena, 3, sizeof(struct apply));
	p->circuit[0].output = arena_alloc(&p->arena, 2, sizeof(struct output));
	tiny_apply(p, 0, 0, 1, 0);
	tiny_apply(p, 1, 0, 1, 1);
	tiny_apply(p, 2, 1, 2, 0);
	tiny_output(p, 0, 0);
	tiny_output(p, 1, 1);
	p->nreadout = p->noutput = 2;
	if (nout)
		tiny_head(p, first, last, nout);
	program_derive(p);
	return p;
}

#endif
