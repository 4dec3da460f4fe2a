/* SPDX-License-Identifier: Apache-2.0
 * Elaboration: gates given by their matrices. */
#include "compiler/elaborate/elab.h"

#include <math.h>
#include <string.h>

#include "compiler/elaborate/matrix_text.h"
#include "compiler/elaborate/unitary.h"

/* A matrix as it is read: its numbers, and where its rows are. */
struct reading {
	struct elab *e;
	const struct node *def;
	uint32_t dim;
	cplx *u;
	struct span *row;
};

bool elab_matrix_file(struct elab *e, const struct node *n, uint32_t nrow, uint32_t ncolumn,
	cplx *u, struct span *row)
{
	uint32_t file = (uint32_t)n->value.i;
	struct matrix_text_fault fault;
	size_t len;

	if (!file)
		return false;
	const char *text = source_text(diags_sources(e->diags), file, &len);
	if (!elab_work(e, len / 16, n->span))
		return false;
	for (uint32_t i = 0; i < nrow; i++)
		row[i].file = file;
	if (matrix_text_read(text, len, nrow, ncolumn, u, row, &fault))
		return true;
	const struct span at = { file, (uint32_t)fault.begin, (uint32_t)fault.end };
	struct diag *g = elab_error(e, DIAG_MATRIX, at, "%s", fault.why);
	diag_second(g, n->span, "read here");
	if (!strncmp(text, "\x93NUMPY", 6))
		diag_help(g, "write the array as text: `numpy.savetxt(\"v.txt\", v)`");
	return false;
}

static bool number(struct elab *e, const struct node *n, double *out)
{
	struct value v = elab_eval(e, n);

	if (v.kind == KIND_UNKNOWN)
		return false;
	*out = value_number(&v);
	return true;
}

static bool entry(struct elab *e, const struct node *n, cplx *out)
{
	bool pair = n->kind == NODE_TUPLE;
	double re, im = 0;

	if (!number(e, pair ? n->list.v[0] : n, &re) || (pair && !number(e, n->list.v[1], &im)))
		return false;
	*out = cplx_of(re, im);
	return true;
}

static bool right_length(struct reading *m, const struct node *list, const char *what)
{
	uint32_t n = m->def->list.n;

	return list->list.n == m->dim
		|| elab_refuse(m->e, DIAG_MATRIX, list->span,
			"%u %s%s, where a gate on %u qubit%s has %u", list->list.n, what,
			list->list.n == 1 ? "" : "s", n, n == 1 ? "" : "s", m->dim);
}

static bool from_rows(struct reading *m)
{
	const struct node *rows = m->def->a;

	if (!right_length(m, rows, "row"))
		return false;
	for (uint32_t i = 0; i < m->dim; i++) {
		const struct node *row = rows->list.v[i];

		m->row[i] = row->span;
		if (!right_length(m, row, "number"))
			return false;
		for (uint32_t k = 0; k < m->dim; k++)
			if (!entry(m->e, row->list.v[k], &m->u[(size_t)i * m->dim + k]))
				return false;
	}
	return true;
}

/* A matrix that lacks a factor. */
static void help_length(struct diag *g, const struct reading *m, double length)
{
	for (size_t k = 0; k < (size_t)m->dim * m->dim; k++)
		m->u[k] /= length;
	if (unitary_worst(m->u, m->dim).deviation < UNITARY_TOLERANCE)
		diag_help(g, "all rows have this length: divide by it");
}

static bool is_unitary(struct reading *m)
{
	struct unitary_fault f = unitary_worst(m->u, m->dim);
	const char *name = m->def->name;
	struct diag *g;

	if (f.deviation <= UNITARY_TOLERANCE)
		return true;
	if (f.row == f.other) {
		double length = sqrt(creal(f.product));

		g = elab_error(m->e, DIAG_MATRIX, m->row[f.row],
			"`%s` is not unitary: row %u has length %.10g, not 1", name, f.row, length);
		if (length > 0)
			help_length(g, m, length);
	} else {
		g = elab_error(m->e, DIAG_MATRIX, m->row[f.other],
			"`%s` is not unitary: the product of rows %u and %u is %.10g, not 0", name,
			f.row, f.other, f.deviation);
		diag_second(g, m->row[f.row], "not orthogonal to this row");
	}
	if (m->def->text)
		diag_second(g, m->def->span, "read here");
	return false;
}

/* A single gate gets a matrix around it, which has the name. */
static void name_single(struct design *d, struct calls *ops, const char *name, uint32_t n)
{
	struct apply *p = &ops->v[0];
	struct item one = { .ref = p->matrix, .adjoint = p->adjoint };
	uint32_t *wire = arena_alloc(d->arena, n, sizeof *wire);

	one.ncontrol = (uint8_t)p->ncontrol;
	one.control_ones = (uint8_t)p->control_ones;
	one.nwire = (uint8_t)p->nwire;
	for (uint32_t k = 0; k < p->nwire; k++)
		one.wire[k] = (uint8_t)p->wire[k];
	for (uint32_t k = 0; k < n; k++)
		wire[k] = k;
	*p = (struct apply){ .op = APPLY_UNITARY,
		.nwire = (uint16_t)n,
		.wire = wire,
		.layer = INDEX_NONE,
		.span = INDEX_NONE };
	p->matrix = design_matrix(d, name, n, &one, 1);
}

bool elab_matrix(struct elab *e, const struct node *def, uint64_t power, struct calls *out)
{
	const char *name = def->name;
	uint32_t n = def->list.n, dim = 1u << (n <= UNITARY_QUBITS_MAX ? n : 0);
	mem_auto cplx *u = mem_alloc((size_t)dim * dim, sizeof *u);
	mem_auto struct span *row = mem_alloc(dim, sizeof *row);
	struct reading m = { e, def, dim, u, row };

	if (n > UNITARY_QUBITS_MAX)
		return elab_refuse(e, DIAG_MATRIX, def->name_span,
			"a matrix on %u qubits, at most %d are possible", n, UNITARY_QUBITS_MAX);
	if (!elab_work(e, (uint64_t)dim * dim * dim / 64 + 1, def->span)
		|| !(def->a ? from_rows(&m) : elab_matrix_file(e, def, dim, dim, u, row))
		|| !is_unitary(&m))
		return false;
	if (power > 1) {
		unsigned nproduct = 4 * (64 - (unsigned)__builtin_clzll(power));

		if (!elab_work(e, nproduct * ((uint64_t)dim * dim * dim / 1024), def->span))
			return false;
		name = arena_printf(e->arena, "%s^%llu", name, (unsigned long long)power);
		unitary_power(u, dim, power);
	}
	calls_wires(out, n);
	unitary_build(&e->design, out, u, n);
	if (out->n == 1 && n <= MATRIX_TARGETS_MAX && out->v[0].nwire)
		name_single(&e->design, out, name, n);
	calls_fold(&e->design, out, name);
	return true;
}
