/* SPDX-License-Identifier: Apache-2.0
 * Gates of the table as operations over interned matrices, and their modifiers. */
#include "compiler/circuit_builder.h"

#include "runtime/base/arena.h"

/* ---- circuits ---- */

struct circuit *build_circuit(struct design *d, const char *name)
{
	struct circuit *c = arena_alloc(d->arena, 1, sizeof *c);

	c->name = name;
	return *arena_push(d->arena, d->circuit, d->ncircuit) = c;
}

uint32_t build_register(struct design *d, struct circuit *c, const char *name, uint32_t count,
	struct span at)
{
	uint32_t first = c->calls.nwire;

	calls_wires(&c->calls, count);
	c->reg_at = arena_grow(d->arena, c->reg_at, c->nreg, sizeof *c->reg_at);
	c->reg_at[c->nreg] = at;
	*arena_push(d->arena, c->reg, c->nreg) = (struct wire_register){ name, first, count };
	return first;
}

/* ---- gates ---- */

/* The matrix of a base gate, named after it when it is new. */
static uint32_t named_matrix(struct design *d, enum gate g, uint8_t word, const uint32_t *angle)
{
	uint32_t matrix = design_gate(d, NULL, g, word, angle);
	char name[16];

	if (matrix < d->nmatrix && !d->matrix[matrix].name)
		d->matrix[matrix].name = arena_strdup(d->arena, gate_word_name(g, word, name));
	return matrix;
}

/* One operation; its wires are those operands, the step's controls first. */
static void add_step(struct design *d, struct calls *ops, const struct gate_step *s,
	const uint32_t *angle)
{
	const struct gate_row *r = gate_row(s->gate);
	struct apply p = { .op = APPLY_UNITARY, .layer = INDEX_NONE, .span = INDEX_NONE };
	enum gate base = s->gate == GATE_GPHASE ? GATE_PHASE_ALL : r->base;
	uint32_t wire[GATE_WIRES_MAX];

	p.matrix = named_matrix(d, base, r->base == s->gate ? s->word : r->base_word, angle);
	p.ncontrol = (uint16_t)(s->ncontrol + r->ncontrol);
	p.control_ones = s->ones | (((uint64_t)1 << r->ncontrol) - 1) << s->ncontrol;
	p.nwire = (uint16_t)(p.ncontrol + gate_ntarget(s->gate, s->word));
	for (unsigned k = 0; k < p.nwire; k++)
		wire[k] = s->wire[k];
	p.wire = arena_copy(d->arena, wire, p.nwire, sizeof *wire);
	calls_add(ops, &p);
}

void build_gate(struct design *d, struct calls *ops, enum gate g, uint8_t word, const uint32_t *angle)
{
	const struct gate_step whole = { .gate = g, .word = word, .wire = { 0, 1, 2, 3, 4, 5, 6, 7 } },
			       *step;

	if (!(gate_row(g)->flags & GATE_COMPOSITE)) {
		add_step(d, ops, &whole, angle);
		return;
	}
	size_t n = gate_steps(g, &step);
	for (size_t i = 0; i < n; i++) {
		uint32_t x = gate_row(step[i].gate)->nangle ? exprs_folded(&d->exprs, EXPR_MUL,
				     exprs_const(&d->exprs, step[i].angle), angle[0])
							    : 0;

		add_step(d, ops, &step[i], &x);
	}
}

/* ---- modifiers ---- */

bool build_controls(struct design *d, struct calls *ops, uint32_t n, bool on_one)
{
	for (uint32_t i = 0; i < ops->n; i++) {
		struct apply p = apply_copy(d->arena, &ops->v[i], n);

		for (uint32_t k = 0; k < p.nwire; k++)
			p.wire[n + k] += n;
		for (uint32_t k = 0; k < n; k++)
			p.wire[k] = k;
		p.control_ones = p.control_ones << n | (on_one ? ((uint64_t)1 << n) - 1 : 0);
		p.ncontrol += (uint16_t)n;
		p.nwire += (uint16_t)n;
		if (p.ncontrol > PROGRAM_CONTROLS_MAX)
			return false;
		ops->v[i] = p;
	}
	return true;
}

void build_inverse(struct design *d, struct calls *ops)
{
	for (uint32_t i = 0; i < ops->n / 2; i++) {
		struct apply t = ops->v[i];

		ops->v[i] = ops->v[ops->n - 1 - i];
		ops->v[ops->n - 1 - i] = t;
	}
	for (uint32_t i = 0; i < ops->n; i++)
		if (!design_self_inverse(d, ops->v[i].matrix))
			ops->v[i].adjoint = !ops->v[i].adjoint;
}

bool build_power(struct design *d, struct calls *ops, uint32_t exponent)
{
	const struct item *it = ops->n == 1 ? design_single(d, ops->v[0].matrix) : NULL;
	const struct gate_row *r = it ? gate_row(it->gate) : NULL;

	if (!r || r->power == GATE_NONE)
		return false;
	ops->v[0].matrix = named_matrix(d, r->power, r->power_word ? r->power_word : it->word, &exponent);
	return true;
}

/* ---- onto qubits ---- */

void build_on(struct design *d, struct circuit *c, const struct calls *ops, const uint32_t *wire, struct span at)
{
	uint32_t place = design_place(d, at);

	for (uint32_t i = 0; i < ops->n; i++) {
		struct apply p = apply_copy(d->arena, &ops->v[i], 0);

		for (uint32_t k = 0; k < p.nwire; k++)
			p.wire[k] = wire[p.wire[k]];
		p.span = place;
		call_settle(d, &p, 0);
		for (uint32_t k = 0; k < p.nwire; k++)
			c->calls.wire[p.wire[k]].use = WIRE_USED;
		calls_add(&c->calls, &p);
	}
}
