/* SPDX-License-Identifier: Apache-2.0
 * A depolarising channel behind every gate of a program: how a device runs it whose gates fail. */
#include <stdlib.h>
#include <string.h>

#include "compiler/channels.h"
#include "compiler/compile.h"
#include "runtime/program/verify.h"

struct gate_noise {
	struct program *p;
	struct design d; /* expressions and matrices of p, and more */
	double one, two;
	bool *measured; /* of the circuit's wires */
	struct calls *out;
};

/* ---- channels ---- */

/* A measured wire is a classical bit: it has no noise, and what it controls happens if it is 1, noise included. */
static void add_noise(struct gate_noise *n, const struct apply *gate)
{
	uint32_t wire[APPLY_WIRES_MAX], nbit = 0, nqubit = 0;
	struct calls ops = { 0 };
	uint64_t ones = 0;

	for (uint32_t k = 0; k < gate->nwire; k++)
		if (n->measured[gate->wire[k]]) {
			ones |= (gate->control_ones >> k & 1) << nbit;
			wire[nbit++] = gate->wire[k];
		}
	for (uint32_t k = 0; k < gate->nwire; k++)
		if (!n->measured[gate->wire[k]] && nqubit++ < CHANNEL_QUBITS_MAX)
			wire[nbit + nqubit - 1] = gate->wire[k];
	if (nqubit == 1)
		build_channel(&n->d, &ops, CHANNEL_DEPOLARIZING, 1, &n->one, n->d.ndraw);
	else if (nqubit == 2)
		build_channel(&n->d, &ops, CHANNEL_DEPOLARIZING, 2, &n->two, n->d.ndraw);
	if (ops.n) {
		struct apply q = ops.v[0];

		n->d.ndraw++;
		q.layer = gate->layer;
		q.span = gate->span;
		q.ncontrol = (uint16_t)nbit;
		q.nwire += (uint16_t)nbit;
		q.control_ones = ones;
		q.wire = arena_copy(n->d.arena, wire, q.nwire, sizeof *wire);
		calls_add(n->out, &q);
	}
	calls_release(&ops);
}

/* ---- gates ---- */

static void put_matrix(struct gate_noise *n, const struct apply *a);

/* A factor of the matrix that `around` applies. */
static void put_item(struct gate_noise *n, const struct item *it, const struct apply *around)
{
	uint32_t *wire = arena_alloc(n->d.arena, around->ncontrol + it->nwire, sizeof *wire);
	struct apply q = apply_of_item(around, it, wire);
	char name[16];

	if (it->gate == GATE_NONE) {
		put_matrix(n, &q);
		return;
	}
	q.matrix = design_gate(&n->d,
		arena_strdup(n->d.arena, gate_word_name(it->gate, it->word, name)), it->gate,
		it->word, it->angle);
	if (design_self_inverse(&n->d, q.matrix))
		q.adjoint = false;
	calls_add(n->out, &q);
	if (it->gate != GATE_PHASE_ALL)
		add_noise(n, &q);
}

static void put_matrix(struct gate_noise *n, const struct apply *a)
{
	const struct matrix m = n->d.matrix[a->matrix]; /* the table may move */

	if (design_is_channel(&n->d, a->matrix) || is_damping(&m)) {
		calls_add(n->out, a);
		return;
	}
	for (uint32_t i = 0; i < m.nitem; i++)
		put_item(n, &m.item[a->adjoint ? m.nitem - 1 - i : i], a);
}

static void put_apply(struct gate_noise *n, const struct apply *a)
{
	if (a->op == APPLY_UNITARY) {
		put_matrix(n, a);
		return;
	}
	calls_add(n->out, a);
	if (a->op == APPLY_SWAP)
		add_noise(n, a);
	for (uint32_t k = 0; a->op == APPLY_MEASURE && k < a->nwire; k++)
		n->measured[a->wire[k]] = true;
}

static void put_circuit(struct gate_noise *n, struct circuit_code *c)
{
	mem_auto bool *measured = mem_alloc((size_t)c->nwire + 1, sizeof *measured);
	struct calls out = { 0 };

	n->measured = measured;
	n->out = &out;
	for (uint32_t i = 0; i < c->napply; i++)
		put_apply(n, &c->apply[i]);
	c->apply = arena_copy(n->d.arena, out.v, out.n, sizeof *out.v);
	c->napply = out.n;
	calls_release(&out);
}

int compile_noise(struct program *p, double one, double two, struct err *e)
{
	struct gate_noise n = { .p = p, .one = one, .two = two };
	int code = model_check_size(p, e);

	if (code)
		return code;
	design_load(&n.d, p);
	for (uint32_t c = 0; c < p->ncircuit; c++)
		put_circuit(&n, &p->circuit[c]);
	p->nexpr = n.d.exprs.n;
	p->expr = arena_copy(&p->arena, n.d.exprs.v, n.d.exprs.n, sizeof *p->expr);
	p->nmatrix = n.d.nmatrix;
	p->matrix = arena_copy(&p->arena, n.d.matrix, n.d.nmatrix, sizeof *p->matrix);
	bool full = n.d.full || n.d.exprs.full;
	design_release(&n.d);
	if (full)
		return err_set(e, -ERR_BAD_DATA, "the model has too many gates for noise behind each");
	code = program_verify(p, e);
	if (!code)
		program_derive(p);
	return code;
}
