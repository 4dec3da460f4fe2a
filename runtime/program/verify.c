/* SPDX-License-Identifier: Apache-2.0
 * The verifier: slots, expressions, matrices, head and notes. */
#include "runtime/program/verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int verify_fail(struct verifier *v, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return err_set(v->e, -ERR_BAD_DATA, "%s%s", v->where, text);
}

void verify_at(struct verifier *v, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(v->where, sizeof v->where, fmt, ap);
	va_end(ap);
}

int verify_text(struct verifier *v, const char *what, const char *text)
{
	if (!text)
		return verify_fail(v, "%s is absent", what);
	size_t n = 0;
	for (; text[n]; n++)
		if ((unsigned char)text[n] < ' ' || text[n] == 127)
			return verify_fail(v, "%s holds a control character", what);
	return n > PROGRAM_PATH_MAX ?
		verify_fail(v, "%s has %zu bytes, the limit is %d", what, n, PROGRAM_PATH_MAX) : 0;
}

int verify_count(struct verifier *v, const char *what, uint64_t n, uint64_t max)
{
	return n > max ? verify_fail(v, "%llu %s, the limit is %llu", (unsigned long long)n, what,
		(unsigned long long)max) : 0;
}

/* ---- weights and inputs ---- */

/* A shape and the number of its elements, both bounded by max. */
static int check_shape(struct verifier *v, uint32_t ndim, const uint32_t *dim, uint64_t max, uint64_t *count)
{
	if (ndim > PROGRAM_DIMS_MAX)
		return verify_fail(v, "%u dimensions, the limit is %d", ndim, PROGRAM_DIMS_MAX);
	*count = 1;
	bool empty = false;
	for (uint32_t i = 0; i < ndim; i++) {
		empty |= dim[i] == 0;
		if (dim[i] && *count > max / dim[i])
			return verify_fail(v, "dimension %u is %u: more than %llu elements", i, dim[i],
				(unsigned long long)max);
		*count *= dim[i] ? dim[i] : 1;
	}
	if (empty)
		*count = 0;
	return 0;
}

static int check_init(struct verifier *v, const struct weight_group *g)
{
	if (g->init == INIT_NONE || g->init >= INIT_COUNT)
		return verify_fail(v, "initialiser %d is unknown", (int)g->init);
	if (g->init == INIT_VALUES) {
		for (uint32_t i = 0; i < g->count; i++)
			if (!isfinite(g->init_value[i]))
				return verify_fail(v, "initial value %u is not finite", i);
		return 0;
	}
	if (!isfinite(g->init_a) || !isfinite(g->init_b) || !isfinite(g->init_b - g->init_a))
		return verify_fail(v, "initialiser: the two numbers are not finite");
	if (g->init == INIT_UNIFORM && g->init_a > g->init_b)
		return verify_fail(v, "initialiser: lower bound %g is above upper bound %g", g->init_a, g->init_b);
	if (g->init == INIT_NORMAL && g->init_b < 0)
		return verify_fail(v, "initialiser: negative deviation %g", g->init_b);
	if (g->init == INIT_GLOROT_UNIFORM && !(g->init_a >= 0 && g->init_b >= 0 && g->init_a + g->init_b > 0))
		return verify_fail(v, "initialiser: fans %g and %g", g->init_a, g->init_b);
	return 0;
}

/* A group's place, which is behind the groups before, and its number of scalars. */
static int check_place(struct verifier *v, uint32_t first, uint32_t count, uint64_t shape_first,
	uint64_t shape_count)
{
	return first == shape_first && count == shape_count
		? 0
		: verify_fail(v, "scalars %u..+%u, its shape and place say %llu..+%llu", first,
			count, (unsigned long long)shape_first, (unsigned long long)shape_count);
}

static int check_weights(struct verifier *v)
{
	const struct program *p = v->p;
	uint64_t total = 0, count;
	int rc = verify_count(v, "weight groups", p->nweight_group, PROGRAM_WEIGHTS_MAX);
	for (uint32_t i = 0; !rc && i < p->nweight_group; i++) {
		const struct weight_group *g = &p->weight_group[i];
		verify_at(v, "weights: group %u: ", i);
		if ((rc = verify_text(v, "path", g->path))
			|| (rc = check_shape(v, g->ndim, g->dim, PROGRAM_WEIGHTS_MAX, &count))
			|| (rc = check_place(v, g->first, g->count, total, count)))
			break;
		total += count;
		rc = check_init(v, g);
		if (!rc)
			rc = verify_count(v, "weights", total, PROGRAM_WEIGHTS_MAX);
	}
	verify_at(v, "weights: ");
	if (!rc && p->nweight != total)
		return verify_fail(v, "%u scalars, the groups have %llu", p->nweight, (unsigned long long)total);
	return rc;
}

static int check_state_shape(struct verifier *v, const struct input_group *g)
{
	if (g->ndim != 1)
		return verify_fail(v, "a state has one dimension, not %u", g->ndim);
	return g->dim[0] && !(g->dim[0] & (g->dim[0] - 1)) ? 0 :
		verify_fail(v, "%u amplitudes, not a power of two", g->dim[0]);
}

static int check_inputs(struct verifier *v)
{
	const struct program *p = v->p;
	uint64_t total = 0, count;
	int rc = verify_count(v, "input groups", p->ninput_group, PROGRAM_INPUTS_MAX);
	for (uint32_t i = 0; !rc && i < p->ninput_group; i++) {
		const struct input_group *g = &p->input_group[i];
		verify_at(v, "inputs: group %u: ", i);
		if ((rc = verify_text(v, "name", g->name)) ||
		    (rc = check_shape(v, g->ndim, g->dim, PROGRAM_INPUTS_MAX, &count)) ||
		    (g->is_state && (rc = check_state_shape(v, g))))
			break;
		count *= g->is_state ? 2 : 1;
		rc = check_place(v, g->first, g->count, total, count);
		total += count;
		rc = rc ? rc : verify_count(v, "input scalars", total, PROGRAM_INPUTS_MAX);
	}
	verify_at(v, "inputs: ");
	if (!rc && p->ninput != total)
		return verify_fail(v, "%u scalars, the groups have %llu", p->ninput, (unsigned long long)total);
	return rc;
}

/* ---- expressions ---- */

static int check_leaf(struct verifier *v, const struct expr *x)
{
	const struct program *p = v->p;
	if (x->op == EXPR_CONST)
		return isfinite(x->value) ? 0 : verify_fail(v, "constant is not finite");
	if (x->op == EXPR_WEIGHT)
		return x->a < p->nweight_circuit ? 0 :
			verify_fail(v, "weight %u, circuits have %u", x->a, p->nweight_circuit);
	if (x->op == EXPR_DRAW)
		return x->a < PROGRAM_DRAWS_MAX
			? 0
			: verify_fail(v, "random number %u of %d", x->a, PROGRAM_DRAWS_MAX);
	if (x->a >= p->ninput)
		return verify_fail(v, "input %u of %u", x->a, p->ninput);
	return p->input_group[program_input_group(p, x->a)].is_state
		? verify_fail(v, "input %u belongs to a state", x->a)
		: 0;
}

static int check_exprs(struct verifier *v)
{
	const struct program *p = v->p;
	int rc = verify_count(v, "expressions", p->nexpr, PROGRAM_EXPRS_MAX);
	for (uint32_t i = 0; !rc && i < p->nexpr; i++) {
		const struct expr *x = &p->expr[i];
		verify_at(v, "exprs: expression %u: ", i);
		if (x->op <= EXPR_NONE || x->op >= EXPR_COUNT)
			return verify_fail(v, "operation %d is unknown", (int)x->op);
		unsigned n = expr_noperand(x->op);
		if (n == 0)
			rc = check_leaf(v, x);
		else if (x->a >= i || (n > 1 && x->b >= i))
			return verify_fail(v, "operand %u is not an earlier expression", x->a >= i ? x->a : x->b);
	}
	return rc;
}

/* ---- matrices ---- */

static int check_gate(struct verifier *v, const struct item *it, unsigned nt)
{
	if (it->gate <= GATE_NONE || it->gate >= GATE_COUNT)
		return verify_fail(v, "gate %d is unknown", (int)it->gate);
	const struct gate_row *r = gate_row(it->gate);
	if (r->ncontrol || r->flags & GATE_COMPOSITE)
		return verify_fail(v, "gate %s has no matrix of its own", r->name);
	unsigned len = gate_word_length(it->word);
	if (it->word >> 2 * len || (len > 0) != !!(r->flags & GATE_WORD))
		return verify_fail(v, "gate %s with word %u", r->name, it->word);
	if (nt == 0 || nt != gate_ntarget(it->gate, it->word))
		return verify_fail(v, "gate %s on %u targets", r->name, nt);
	for (unsigned k = 0; k < r->nangle; k++)
		if (it->angle[k] >= v->p->nexpr)
			return verify_fail(v, "angle %u: expression %u of %u", k, it->angle[k], v->p->nexpr);
	return 0;
}

static int check_item(struct verifier *v, uint32_t m, const struct item *it)
{
	const struct matrix *all = v->p->matrix;
	unsigned used = 0;
	if (it->nwire > all[m].ntarget || it->ncontrol >= it->nwire)
		return verify_fail(v, "%u controls among %u wires in a matrix of %u", it->ncontrol, it->nwire,
			all[m].ntarget);
	for (unsigned k = 0; k < it->nwire; k++) {
		if (it->wire[k] >= all[m].ntarget)
			return verify_fail(v, "wire %u of %u", it->wire[k], all[m].ntarget);
		if (used >> it->wire[k] & 1)
			return verify_fail(v, "wire %u twice", it->wire[k]);
		used |= 1u << it->wire[k];
	}
	if (it->control_ones >> it->ncontrol)
		return verify_fail(v, "control values beyond the %u controls", it->ncontrol);
	unsigned nt = it->nwire - it->ncontrol;
	if (it->gate != GATE_NONE)
		return check_gate(v, it, nt);
	if (it->ref >= m)
		return verify_fail(v, "matrix %u is not an earlier one", it->ref);
	return all[it->ref].ntarget == nt ? 0
					  : verify_fail(v, "matrix %u has %u targets, the factor %u",
						  it->ref, all[it->ref].ntarget, nt);
}

static int check_matrix(struct verifier *v, uint32_t m)
{
	const struct matrix *x = &v->p->matrix[m];
	int rc;
	if (x->name && (rc = verify_text(v, "name", x->name)))
		return rc;
	if (x->ntarget < 1 || x->ntarget > MATRIX_TARGETS_MAX)
		return verify_fail(v, "%u targets, not 1 to %d", x->ntarget, MATRIX_TARGETS_MAX);
	for (uint32_t i = 0; i < x->nitem; i++) {
		verify_at(v, "matrices: matrix %u: factor %u: ", m, i);
		if ((rc = check_item(v, m, &x->item[i])))
			return rc;
	}
	return 0;
}

uint64_t matrix_gates(const struct matrix *m, const uint64_t *gates)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < m->nitem; i++) {
		n += m->item[i].gate == GATE_NONE ? gates[m->item[i].ref] : 1;
		n = n > UINT64_MAX / 2 ? UINT64_MAX / 2 : n;
	}
	return n;
}

/* gates: of the matrices so far. */
static int check_next_matrix(struct verifier *v, uint32_t i, uint64_t *nitem, uint64_t *gates)
{
	const struct matrix *m = &v->p->matrix[i];

	verify_at(v, "matrices: matrix %u: ", i);
	*nitem += m->nitem;
	int rc = verify_count(v, "factors of all matrices so far", *nitem, PROGRAM_ITEMS_MAX);
	if (!rc)
		rc = check_matrix(v, i);
	if (rc)
		return rc;
	gates[i] = matrix_gates(m, gates);
	verify_at(v, "matrices: matrix %u: ", i);
	return verify_count(v, "gates multiplied", gates[i], PROGRAM_GATES_MAX);
}

static int check_matrices(struct verifier *v)
{
	const struct program *p = v->p;
	uint64_t nitem = 0, *gates;
	int rc = verify_count(v, "matrices", p->nmatrix, PROGRAM_MATRICES_MAX);

	if (rc)
		return rc;
	gates = mem_alloc((size_t)p->nmatrix + 1, sizeof *gates);
	for (uint32_t i = 0; !rc && i < p->nmatrix; i++)
		rc = check_next_matrix(v, i, &nitem, gates);
	free(gates);
	return rc;
}

/* ---- head and notes ---- */

static int check_kernel(struct verifier *v, const char *what, uint32_t group, uint32_t want,
	uint32_t ndim, uint32_t rows, uint32_t columns)
{
	const struct program *p = v->p;
	if (group != want)
		return verify_fail(v, "%s is weight group %u, its place is %u", what, group, want);
	const struct weight_group *g = &p->weight_group[group];
	uint32_t last = ndim == 2 ? g->dim[1] : columns;
	if (g->ndim != ndim || g->dim[0] != rows || last != columns)
		return verify_fail(v, "%s: weight group %u has another shape", what, group);
	return 0;
}

static int check_dense(struct verifier *v)
{
	const struct program *p = v->p;
	uint32_t base = p->nweight_group - 2 * p->ndense, nin = p->nreadout;
	for (uint32_t i = 0; i < p->ndense; i++) {
		const struct dense *l = &p->dense[i];
		verify_at(v, "dense: layer %u: ", i);
		if (l->nin != nin || l->nin == 0)
			return verify_fail(v, "%u inputs, it gets %u", l->nin, nin);
		if (l->nout == 0 || l->nout > PROGRAM_OUTPUTS_MAX)
			return verify_fail(v, "%u outputs, not 1 to %d", l->nout, PROGRAM_OUTPUTS_MAX);
		if (l->activation >= ACTIVATION_COUNT)
			return verify_fail(v, "activation %d is unknown", (int)l->activation);
		int rc;
		if ((rc = check_kernel(v, "kernel", l->kernel, base + 2 * i, 2, l->nin, l->nout)) ||
		    (rc = check_kernel(v, "bias", l->bias, base + 2 * i + 1, 1, l->nout, l->nout)))
			return rc;
		nin = l->nout;
	}
	verify_at(v, "dense: ");
	return p->noutput == nin ? 0 : verify_fail(v, "%u outputs of the model, the head gives %u", p->noutput, nin);
}

/* Weights of circuits are those before the head's first group. */
static int check_split(struct verifier *v)
{
	const struct program *p = v->p;
	uint32_t end = p->nweight;
	int rc = verify_count(v, "layers", p->ndense, PROGRAM_DENSE_MAX);
	if (rc)
		return rc;
	if (p->nweight_group < 2 * p->ndense)
		return verify_fail(v, "%u layers and only %u weight groups", p->ndense, p->nweight_group);
	if (p->ndense)
		end = p->weight_group[p->nweight_group - 2 * p->ndense].first;
	return p->nweight_circuit == end ? 0 :
		verify_fail(v, "%u weights of circuits, the head begins at %u", p->nweight_circuit, end);
}

static int check_notes(struct verifier *v)
{
	const struct program *p = v->p;
	verify_at(v, "layers: ");
	int rc = verify_count(v, "layers", p->nlayer, PROGRAM_APPLIES_MAX);
	for (uint32_t i = 0; !rc && i < p->nlayer; i++) {
		verify_at(v, "layers: layer %u: ", i);
		rc = verify_text(v, "path", p->layer[i].path);
	}
	verify_at(v, "spans: ");
	return rc ? rc : verify_count(v, "spans", p->nspan, PROGRAM_APPLIES_MAX);
}

static int verify_slots(struct verifier *v)
{
	static int (*const check[])(struct verifier *) = {
		check_weights, check_inputs, check_split, check_exprs, check_matrices, check_notes
	};
	static const char *const section[] = { "weights: ", "inputs: ", "dense: ", "exprs: ", "matrices: ", "layers: " };
	for (size_t i = 0; i < sizeof check / sizeof *check; i++) {
		verify_at(v, "%s", section[i]);
		int rc = check[i](v);
		if (rc)
			return rc;
	}
	return 0;
}

int program_verify(const struct program *p, struct err *e)
{
	struct verifier v = { .p = p, .e = e };
	int rc = verify_slots(&v);
	if (!rc)
		rc = verify_circuits(&v);
	if (!rc) {
		verify_at(&v, "dense: ");
		rc = check_dense(&v);
	}
	return rc;
}
