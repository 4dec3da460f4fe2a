/* SPDX-License-Identifier: Apache-2.0
 * Elaboration: bodies of blocks, run once for each set of arguments. */
#include "compiler/elaborate/elab.h"

#include <stdlib.h>

struct memo_entry {
	struct memo_entry *next;
	const struct node *def;
	uint32_t narg;
	struct value *arg;
	struct calls calls;
};

enum { MEMO_BUCKETS = 4096 };
struct block_memo { struct memo_entry *bucket[MEMO_BUCKETS]; };

void elab_memo_free(struct elab *e)
{
	for (int i = 0; e->memo && i < MEMO_BUCKETS; i++)
		for (struct memo_entry *m = e->memo->bucket[i]; m; m = m->next)
			calls_release(&m->calls);
	free(e->memo);
	e->memo = NULL;
}

static bool same_arguments(const struct value *a, const struct value *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!value_same(&a[i], &b[i]))
			return false;
	return true;
}

static struct memo_entry *memo_find(struct elab *e, const struct node *def, const struct value *arg, uint32_t narg)
{
	uint64_t h = (uintptr_t)def >> 4;

	if (!e->memo)
		e->memo = mem_alloc(1, sizeof *e->memo);
	for (uint32_t i = 0; i < narg; i++)
		h = h * 0x9e3779b97f4a7c15u ^ value_hash(&arg[i]);
	struct memo_entry **b = &e->memo->bucket[(h ^ h >> 32) % MEMO_BUCKETS];
	for (struct memo_entry *m = *b; m; m = m->next)
		if (m->def == def && m->narg == narg && same_arguments(m->arg, arg, narg))
			return m;
	struct memo_entry *m = arena_alloc(e->arena, 1, sizeof *m);
	*m = (struct memo_entry){ .next = *b, .def = def, .narg = narg };
	m->arg = arena_copy(e->arena, arg, narg, sizeof *arg);
	*b = m;
	return m;
}

/* Formals in order: numbers are converted and checked, sizes may use earlier ones. */
bool elab_bind_formals(struct elab *e, const struct node *def, const struct value *arg, const struct node *const *at)
{
	uint32_t wire = 0, n;
	bool fine = true;

	for (uint32_t i = 0; i < def->list.n; i++) {
		const struct node *f = def->list.v[i];
		if (f->op == AST_TYPE_QUBIT) {
			n = elab_formal_width(e, f);
			elab_bind(e, f, value_numbered(e->arena, KIND_QUBITS, wire, n));
			wire += n;
			continue;
		}
		struct value v = elab_convert(e, arg[i], f->op, f->a, at[i]->span, f);
		fine = fine && v.kind != KIND_UNKNOWN;
		elab_bind(e, f, v);
	}
	return fine;
}

uint32_t elab_formal_width(struct elab *e, const struct node *formal)
{
	int64_t n = 1;

	if (formal->a && !elab_int(e, formal->a, &n))
		return 0;
	if (n >= 1 && n <= PROGRAM_WIRES_MAX)
		return (uint32_t)n;
	elab_error(e, DIAG_BAD_SIZE, formal->a->span, "`%s` of %lld qubits, 1 to %d are possible",
		formal->name, (long long)n, PROGRAM_WIRES_MAX);
	return 0;
}

uint32_t elab_count_wires(struct elab *e, const struct node *def)
{
	uint32_t n = 0, width;

	for (uint32_t i = 0; i < def->list.n; i++) {
		if (def->list.v[i]->op != AST_TYPE_QUBIT)
			continue;
		width = elab_formal_width(e, def->list.v[i]);
		if (!width || n + width > PROGRAM_WIRES_MAX)
			return 0;
		n += width;
	}
	return n;
}

/* Conditions of the caller apply to the block's applies when they are emitted there. */
static void run_block(struct elab *e, const struct node *call, const struct node *def, struct calls *out)
{
	struct frame f = { .calls = out, .block = def, .call = call, .up = e->frame };
	unsigned in_angle = e->in_angle;

	e->in_angle = 0;
	e->frame = &f;
	e->depth++;
	elab_body(e, def->c);
	e->depth--;
	e->frame = f.up;
	e->in_angle = in_angle;
	calls_fold(&e->design, out, def->name);
}

/* A block that became one matrix: of how many gates? */
static void check_gates(struct elab *e, const struct node *call, const struct calls *c)
{
	uint64_t n = c->n && c->v[0].op == APPLY_UNITARY && c->v[0].matrix < e->design.nmatrix ? e->design.gates[c->v[0].matrix] : 0;

	if (n <= PROGRAM_GATES_MAX || e->stop)
		return;
	struct diag *g = elab_error(e, DIAG_LIMIT_CALLS, call->name_span, "`%s` multiplies more than %d gates", call->name, PROGRAM_GATES_MAX);
	diag_label(g, "%.4g gates, those of the blocks it calls counted for each call", (double)n);
	diag_note(g, "with more gates, rounding errors would be visible in the results");
	e->stop = true;
}

const struct calls *elab_power(struct elab *e, const struct node *def, uint64_t power)
{
	struct value k = value_int((int64_t)power);
	struct memo_entry *m = memo_find(e, def, &k, 1);

	return m->calls.nwire || elab_matrix(e, def, power, &m->calls) ? &m->calls : NULL;
}

const struct calls *elab_block(struct elab *e, const struct node *call, const struct node *def,
	const struct value *arg, const struct node *const *arg_node)
{
	if (def->kind == NODE_MATRIX_DEF)
		return elab_power(e, def, 1);
	uint32_t narg = ast_count_angles(def);
	struct memo_entry *m = memo_find(e, def, arg, narg);

	if (m->calls.nwire || e->stop)
		return &m->calls;
	if (e->depth >= COMPILE_DEPTH_MAX) {
		elab_error(e, DIAG_LIMIT_DEPTH, call->name_span, "blocks call blocks more than %d deep", COMPILE_DEPTH_MAX);
		e->stop = true;
		return &m->calls;
	}
	if (!elab_bind_formals(e, def, arg, arg_node)) {
		return NULL;
	}
	calls_wires(&m->calls, elab_count_wires(e, def));
	run_block(e, call, def, &m->calls);
	check_gates(e, call, &m->calls);
	return &m->calls;
}
