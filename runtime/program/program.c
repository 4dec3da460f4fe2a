/* SPDX-License-Identifier: Apache-2.0
 * A program's life, and the fields that follow from the others. */
#include "runtime/program/program.h"

#include <stdlib.h>
#include <string.h>

const char *const init_names[INIT_COUNT] = {
	[INIT_UNIFORM] = "uniform", [INIT_NORMAL] = "normal", [INIT_VALUES] = "values", [INIT_GLOROT_UNIFORM] = "glorot_uniform"
};
const char *const expr_names[EXPR_COUNT] = {
#define EXPR(id, text, noperand) [EXPR_##id] = text,
#include "runtime/program/expr.def"
#undef EXPR
};
const char *const apply_names[APPLY_COUNT] = {
#define APPLY(id, text) [APPLY_##id] = text,
#include "runtime/program/apply.def"
#undef APPLY
};
const char *const activation_names[ACTIVATION_COUNT] = {
	[ACTIVATION_LINEAR] = "linear",
#define ACTIVATION(id, text) [ACTIVATION_##id] = text,
#include "runtime/program/activation.def"
#undef ACTIVATION
};

struct program *program_new(void) { return mem_alloc(1, sizeof(struct program)); }

void program_free(struct program *p)
{
	if (!p)
		return;
	arena_release(&p->arena);
	free(p);
}

/* ---- numbers ---- */

uint32_t shape_count(uint32_t ndim, const uint32_t *dim, uint32_t max)
{
	uint64_t n = 1;
	for (uint32_t i = 0; i < ndim; i++)
		if (dim[i] == 0)
			return 0;
	for (uint32_t i = 0; i < ndim && n <= max; i++)
		n *= dim[i];
	return n > max ? max + 1 : (uint32_t)n;
}

void shape_print(uint32_t ndim, const uint32_t *dim, struct buf *out)
{
	buf_char(out, '[');
	for (uint32_t k = 0; k < ndim; k++)
		buf_printf(out, k ? ", %u" : "%u", dim[k]);
	buf_char(out, ']');
}

void shape_place(uint32_t ndim, const uint32_t *dim, uint32_t k, uint32_t *at)
{
	for (uint32_t i = ndim; i-- > 0; k /= dim[i])
		at[i] = k % dim[i];
}

struct pauli_mask pauli_mask(const struct pauli_term *t)
{
	struct pauli_mask m = { 0, 0, 0 };

	for (uint32_t f = 0; f < t->nfactor; f++) {
		uint64_t bit = UINT64_C(1) << t->factor[f].wire;

		m.flip |= t->factor[f].letter != PAULI_Z ? bit : 0;
		m.sign |= t->factor[f].letter != PAULI_X ? bit : 0;
		m.ny += t->factor[f].letter == PAULI_Y;
	}
	return m;
}

/* Sums saturate: the verifier refuses what is beyond its limits. */
static uint32_t sum_u32(uint32_t a, uint64_t b)
{
	return b > UINT32_MAX - a ? UINT32_MAX : a + (uint32_t)b;
}

static void number_readouts(struct circuit_code *c)
{
	c->nreadout = 0;
	for (uint32_t i = 0; i < c->noutput; i++) {
		const struct output *o = &c->output[i];
		uint64_t n = o->kind != OUTPUT_PROBS ? 1 : o->nwire < 32 ? 1ull << o->nwire : UINT32_MAX;
		c->nreadout = sum_u32(c->nreadout, n);
	}
}

static void number_groups(struct program *p)
{
	p->nweight = p->ninput = 0;
	for (uint32_t i = 0; i < p->nweight_group; i++) {
		struct weight_group *g = &p->weight_group[i];
		g->first = p->nweight;
		g->count = shape_count(g->ndim, g->dim, PROGRAM_WEIGHTS_MAX);
		p->nweight = sum_u32(p->nweight, g->count);
	}
	for (uint32_t i = 0; i < p->ninput_group; i++) {
		struct input_group *g = &p->input_group[i];
		g->first = p->ninput;
		g->count = shape_count(g->ndim, g->dim, PROGRAM_INPUTS_MAX) << g->is_state;
		p->ninput = sum_u32(p->ninput, g->count);
	}
}

void program_number(struct program *p)
{
	number_groups(p);
	p->nreadout = 0;
	for (uint32_t i = 0; i < p->ncircuit; i++) {
		number_readouts(&p->circuit[i]);
		p->nreadout = sum_u32(p->nreadout, p->circuit[i].nreadout);
	}
	p->noutput = p->ndense ? p->dense[p->ndense - 1].nout : p->nreadout;
	p->nweight_circuit = p->nweight;
	if (p->ndense && p->nweight_group / 2 >= p->ndense)
		p->nweight_circuit = p->weight_group[p->nweight_group - 2 * p->ndense].first;
}

/* ---- classes and structure ---- */

static enum value_class class_max(enum value_class a, enum value_class b) { return a > b ? a : b; }

static const uint8_t operand_count[EXPR_COUNT] = {
#define EXPR(id, text, noperand) [EXPR_##id] = noperand,
#include "runtime/program/expr.def"
#undef EXPR
};

unsigned expr_noperand(enum expr_op op)
{
	return op > EXPR_NONE && op < EXPR_COUNT ? operand_count[op] : 0;
}

static enum value_class expr_class(const struct program *p, const struct expr *x)
{
	unsigned n = operand_count[x->op];
	enum value_class cls = n > 0 ? p->expr[x->a].cls : VALUE_CONSTANT;
	if (n > 1)
		cls = class_max(cls, p->expr[x->b].cls);
	if (x->op == EXPR_WEIGHT)
		cls = VALUE_SHARED;
	if (x->op == EXPR_INPUT || x->op == EXPR_DRAW)
		cls = VALUE_SAMPLE;
	return cls;
}

/* Structure that holds for all angles, from the items' own: products of diagonals are
 * diagonal and so on, and controls keep all four. */
static unsigned gate_structure(enum gate g, uint8_t word)
{
	unsigned f = gate_flags(g, word);
	return (f & GATE_DIAGONAL ? MATRIX_DIAGONAL : 0) | (f & GATE_PERMUTATION ? MATRIX_PERMUTATION : 0) |
		(f & GATE_REAL ? MATRIX_REAL : 0) | (f & GATE_PARITY ? MATRIX_PARITY : 0);
}

static enum value_class angles_class(const struct program *p, const struct item *it)
{
	enum value_class cls = VALUE_CONSTANT;
	for (unsigned k = 0, n = gate_row(it->gate)->nangle; k < n; k++)
		cls = class_max(cls, p->expr[it->angle[k]].cls);
	return cls;
}

void matrix_derive(const struct program *p, const struct matrix *const *def, struct matrix *m)
{
	m->cls = VALUE_CONSTANT;
	m->flags = MATRIX_DIAGONAL | MATRIX_PERMUTATION | MATRIX_REAL | MATRIX_PARITY;
	for (uint32_t i = 0; i < m->nitem; i++) {
		const struct item *it = &m->item[i];
		if (it->gate == GATE_NONE) {
			const struct matrix *ref = def ? def[it->ref] : &p->matrix[it->ref];
			m->cls = class_max(m->cls, ref->cls);
			m->flags &= ref->flags;
		} else {
			m->cls = class_max(m->cls, angles_class(p, it));
			m->flags &= gate_structure(it->gate, it->word);
		}
	}
}

void program_derive(struct program *p)
{
	for (uint32_t i = 0; i < p->nexpr; i++)
		p->expr[i].cls = expr_class(p, &p->expr[i]);
	for (uint32_t i = 0; i < p->nmatrix; i++)
		matrix_derive(p, NULL, &p->matrix[i]);
}

static bool applies_alike(const struct apply *a, const struct apply *b)
{
	return a->op == b->op && a->adjoint == b->adjoint && a->ncontrol == b->ncontrol && a->nwire == b->nwire
		&& a->control_ones == b->control_ones && (!a->nwire || !memcmp(a->wire, b->wire, a->nwire * sizeof *a->wire));
}

static bool circuits_alike(const struct circuit_code *a, const struct circuit_code *b)
{
	if (strcmp(a->name, b->name) || a->nwire != b->nwire || a->napply != b->napply || a->nreadout != b->nreadout)
		return false;
	for (uint32_t i = 0; i < a->napply; i++)
		if (!applies_alike(&a->apply[i], &b->apply[i]))
			return false;
	return true;
}

uint32_t program_instances(const struct program *p, uint32_t circuit)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->ncircuit; i++) {
		if (!circuits_alike(&p->circuit[i], &p->circuit[circuit]))
			continue;
		if (i < circuit)
			return 0;
		n++;
	}
	return n;
}

uint32_t program_nwire(const struct program *p)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < p->ncircuit; i++)
		if (p->circuit[i].nwire > n)
			n = p->circuit[i].nwire;
	return n;
}

/* A scalar among first .. first + count - 1: 0, or on which side of them it is. */
static int side_of(uint32_t scalar, uint32_t first, uint32_t count)
{
	return scalar < first ? -1 : scalar - first >= count;
}

static int by_weight(const void *weight, const void *group)
{
	const struct weight_group *g = group;
	return side_of(*(const uint32_t *)weight, g->first, g->count);
}

static int by_input(const void *input, const void *group)
{
	const struct input_group *g = group;
	return side_of(*(const uint32_t *)input, g->first, g->count);
}

uint32_t program_weight_group(const struct program *p, uint32_t weight)
{
	const struct weight_group *g = weight < p->nweight
		? bsearch(&weight, p->weight_group, p->nweight_group, sizeof *g, by_weight)
		: NULL;
	return g ? (uint32_t)(g - p->weight_group) : INDEX_NONE;
}

uint32_t program_input_group(const struct program *p, uint32_t input)
{
	const struct input_group *g = input < p->ninput
		? bsearch(&input, p->input_group, p->ninput_group, sizeof *g, by_input)
		: NULL;
	return g ? (uint32_t)(g - p->input_group) : INDEX_NONE;
}

uint32_t *wires_mapped(struct arena *a, const uint32_t *wire, uint32_t n, const uint32_t *map)
{
	uint32_t *out = arena_copy(a, wire, n, sizeof *out);

	for (uint32_t k = 0; map && k < n; k++)
		out[k] = map[out[k]];
	return out;
}

struct output output_mapped(struct arena *a, const struct output *o, const uint32_t *map)
{
	struct output out = *o;

	out.wire = wires_mapped(a, o->wire, o->nwire, map);
	out.term = arena_copy(a, o->term, o->nterm, sizeof *o->term);
	for (uint32_t t = 0; t < o->nterm; t++) {
		struct pauli_term *term = &out.term[t];

		term->factor = arena_copy(a, o->term[t].factor, term->nfactor, sizeof *term->factor);
		for (uint32_t f = 0; map && f < term->nfactor; f++)
			term->factor[f].wire = map[term->factor[f].wire];
	}
	return out;
}

struct apply apply_of_item(const struct apply *around, const struct item *it, uint32_t *wire)
{
	const uint32_t nouter = around->ncontrol;
	struct apply a = *around;

	a.matrix = it->ref;
	a.adjoint = around->adjoint != it->adjoint;
	a.ncontrol = (uint16_t)(nouter + it->ncontrol);
	a.nwire = (uint16_t)(nouter + it->nwire);
	a.control_ones = around->control_ones | (uint64_t)it->control_ones << nouter;
	a.wire = wire;
	for (uint32_t k = 0; k < nouter; k++)
		wire[k] = around->wire[k];
	for (uint32_t k = 0; k < it->nwire; k++)
		wire[nouter + k] = around->wire[nouter + it->wire[k]];
	return a;
}

/* ---- equal definitions ---- */

static bool item_same(const struct item *a, const struct item *b)
{
	unsigned nangle = a->gate == GATE_NONE ? 0 : gate_row(a->gate)->nangle;

	return a->gate == b->gate && a->word == b->word && a->adjoint == b->adjoint
		&& a->ncontrol == b->ncontrol && a->nwire == b->nwire
		&& a->control_ones == b->control_ones && !memcmp(a->wire, b->wire, a->nwire)
		&& (a->gate != GATE_NONE || a->ref == b->ref)
		&& !memcmp(a->angle, b->angle, nangle * sizeof *a->angle);
}

bool matrix_same(const struct matrix *m, unsigned ntarget, uint32_t nitem, const struct item *item)
{
	if (m->ntarget != ntarget || m->nitem != nitem)
		return false;
	for (uint32_t i = 0; i < nitem; i++)
		if (!item_same(&m->item[i], &item[i]))
			return false;
	return true;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ (h >> 29);
}

uint32_t matrix_hash(unsigned ntarget, uint32_t nitem, const struct item *item)
{
	uint64_t h = mix(ntarget, nitem);

	for (const struct item *it = item; it < item + nitem; it++) {
		h = mix(h,
			it->gate | (uint64_t)it->word << 16 | (uint64_t)it->adjoint << 24
				| (uint64_t)it->control_ones << 32);
		h = mix(h, it->gate == GATE_NONE ? it->ref : 0);
		for (unsigned k = 0; k < it->nwire; k++)
			h = mix(h, it->wire[k]);
		for (unsigned k = 0; it->gate != GATE_NONE && k < gate_row(it->gate)->nangle; k++)
			h = mix(h, it->angle[k]);
	}
	return (uint32_t)h;
}

bool expr_has(const struct expr *x, const bool *mark)
{
	unsigned n = expr_noperand(x->op);

	return (n > 0 && mark[x->a]) || (n > 1 && mark[x->b]);
}

static bool item_has(const struct item *it, const bool *matrix, const bool *expr)
{
	if (it->gate == GATE_NONE)
		return matrix[it->ref];
	for (unsigned k = 0; k < gate_row(it->gate)->nangle; k++)
		if (expr[it->angle[k]])
			return true;
	return false;
}

bool matrix_has(const struct matrix *m, const bool *matrix, const bool *expr)
{
	for (uint32_t i = 0; i < m->nitem; i++)
		if (item_has(&m->item[i], matrix, expr))
			return true;
	return false;
}

void program_trained(const struct program *p, bool *trained)
{
	for (uint32_t i = 0; i < p->nexpr; i++) {
		const struct expr *x = &p->expr[i];

		trained[i] = x->op == EXPR_WEIGHT
			? !p->weight_group[program_weight_group(p, x->a)].frozen
			: expr_has(x, trained);
	}
}

bool program_is_noisy(const struct program *p)
{
	for (uint32_t i = 0; i < p->nexpr; i++)
		if (p->expr[i].op == EXPR_DRAW)
			return true;
	return false;
}

void program_clear_frozen(const struct program *p, double *gradient)
{
	for (uint32_t g = 0; g < p->nweight_group; g++)
		if (p->weight_group[g].frozen)
			memset(gradient + p->weight_group[g].first, 0,
				p->weight_group[g].count * sizeof *gradient);
}

bool program_noise_varies(const struct program *p)
{
	for (uint32_t i = 0; i < p->nexpr; i++) {
		const struct expr *x = &p->expr[i];

		if (x->op == EXPR_LESS && p->expr[x->a].op == EXPR_DRAW
			&& p->expr[x->b].cls != VALUE_CONSTANT)
			return true;
	}
	return false;
}

/* The exponents of channels are sums of comparisons, each added last. */
static bool is_drawn(const struct program *p, const struct expr *x)
{
	while (x->op == EXPR_ADD || x->op == EXPR_SUB)
		x = &p->expr[x->b];
	return x->op == EXPR_LESS && p->expr[x->a].op == EXPR_DRAW;
}

bool matrix_is_channel(const struct program *p, const struct matrix *m)
{
	for (uint32_t i = 0; i < m->nitem; i++)
		if (m->item[i].gate != GATE_PPAULI || !is_drawn(p, &p->expr[m->item[i].angle[0]]))
			return false;
	return m->nitem > 0;
}
