/* SPDX-License-Identifier: Apache-2.0
 * Elaboration: classical bits of OpenQASM, and the measurements that end a circuit. */
#include "compiler/elaborate/elab.h"

#include <inttypes.h>

static bool same_length(struct elab *e, const struct wire_list *w, const struct wire_list *bits,
	struct span at)
{
	if (w->n == bits->n)
		return true;
	return elab_refuse(e, DIAG_BROADCAST, at, "%u qubit%s measured into %u bit%s", w->n,
		w->n == 1 ? "" : "s", bits->n, bits->n == 1 ? "" : "s");
}

/* bits: NULL where the results go nowhere.  A measured qubit ends there: nothing may follow. */
static void measure(struct elab *e, const struct node *qubits, const struct wire_list *bits,
	struct span at)
{
	struct wire_list w;

	if (!elab_qubits(e, qubits, &w) || (bits && !same_length(e, &w, bits, at))
		|| !elab_work(e, w.n / 4, at))
		return;
	for (uint32_t k = 0; k < w.n; k++) {
		e->frame->calls->wire[w.wire[k]] = (struct wire_state){ WIRE_MEASURED, at };
		if (bits)
			e->bit[bits->wire[k]] = w.wire[k];
	}
}

void elab_bits(struct elab *e, const struct node *n)
{
	int64_t size = 1;

	elab_bind(e, n, value_unknown());
	if (n->a && !elab_int(e, n->a, &size))
		return;
	if (size < 1 || size > PROGRAM_OUTPUTS_MAX - (int64_t)e->nbit) {
		elab_error(e, size < 1 ? DIAG_BAD_SIZE : DIAG_LIMIT_OUTPUTS,
			n->a ? n->a->span : n->span,
			size < 1 ? "a register of %" PRId64 " bits, at least 1 is needed"
				 : "%" PRId64 " more bits are too many",
			size);
		return;
	}
	struct value v = value_numbered(e->arena, KIND_BITS, e->nbit, (uint32_t)size);
	for (int64_t k = 0; k < size; k++)
		*arena_push(e->arena, e->bit, e->nbit) = INDEX_NONE;
	elab_bind(e, n, v);
	if (n->b)
		measure(e, n->b, &v.list, n->span);
}

void elab_measure(struct elab *e, const struct node *n)
{
	struct value v = n->b ? elab_eval(e, n->b) : value_unknown();

	if (v.kind == KIND_BITS || !n->b)
		measure(e, n->a, n->b ? &v.list : NULL, n->span);
}

/* Qubits begin in |0>: a reset before the first gate has no effect, and a later one is not unitary. */
void elab_reset(struct elab *e, const struct node *n)
{
	struct wire_list w;

	for (uint32_t i = 0; i < n->list.n && elab_qubits(e, n->list.v[i], &w); i++)
		for (uint32_t k = 0; k < w.n; k++)
			if (e->frame->calls->wire[w.wire[k]].use != WIRE_UNUSED) {
				diag_help(elab_wire_fault(e, DIAG_QASM_PART, n->list.v[i]->span,
						  w.wire[k], "is reset after it was used",
						  "used here"),
					"go on with another qubit; a model can also `discard` this one");
				return;
			}
}

void elab_observe_bits(struct elab *e, struct span at)
{
	for (uint32_t k = 0; k < e->nbit && !e->stop; k++)
		if (e->bit[k] != INDEX_NONE)
			elab_observe_z(e, e->bit[k], at);
}
