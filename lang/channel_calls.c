/* SPDX-License-Identifier: Apache-2.0
 * Calls of noise channels: where they can stand, and what they take. */
#include "lang/resolve.h"

static void note_signature(struct diag *g, const char *name, const struct channel_row *row)
{
	diag_note(g, "signature: `%s(%s) %s`: %s", name, row->nnumber == 1 ? "p" : "px, py, pz",
		row->nqubit == 1 ? "q" : "q` or `q, r", row->doc);
}

static void check_numbers(struct resolver *r, struct node *n, const struct channel_row *row)
{
	struct diag *g;

	for (uint32_t i = 0; i < n->args.n; i++)
		if (n->args.n == row->nnumber)
			kinds_require(r, n->args.v[i], KINDS_NUMBER, "a probability", "a number");
	if (n->args.n == row->nnumber)
		return;
	g = diag_at(r->diags, DIAG_CALL_ARGUMENTS, n->name_span,
		"wrong number of probabilities for `%s`", n->name);
	diag_label(g, "takes %u, here %s %u", row->nnumber, n->args.n == 1 ? "is" : "are", n->args.n);
	if (n->args.n && !n->list.n && !n->a)
		diag_help(g, "qubits stand behind the name, not between parentheses");
	note_signature(g, n->name, row);
}

static void check_qubits(struct resolver *r, struct node *n, const struct channel_row *row)
{
	if (n->a || n->nmodifier || (n->list.n >= 1 && n->list.n <= row->nqubit))
		return;
	struct diag *g = diag_at(r->diags, DIAG_CALL_QUBITS, n->name_span,
		"wrong number of qubits for `%s`", n->name);
	diag_label(g, "acts on %s, here %s %u", row->nqubit == 1 ? "1 qubit" : "1 or 2 qubits",
		n->list.n == 1 ? "is" : "are", n->list.n);
	if (n->list.n > 1)
		diag_help(g,
			"it acts on each of several qubits where these are written `q[0:2]` or `q[{0,2}]`");
	note_signature(g, n->name, row);
}

static void check_place(struct resolver *r, struct node *n)
{
	struct diag *g = NULL;

	if (n->nmodifier) {
		g = diag_at(r->diags, DIAG_TRACES, n->span,
			"`%s` is a noise channel and cannot be modified", n->name);
		diag_second(g, n->modifier[0].span, "this modifier%s needs something reversible",
			n->nmodifier == 1 ? "" : " and those behind it");
	} else if (r->context == IN_GATE) {
		g = diag_at(r->diags, DIAG_TRACES, n->name_span,
			"`%s` is a noise channel and cannot stand in a gate", n->name);
		diag_help(g, "write a `block` with the same operands");
	}
}

void calls_channel(struct resolver *r, struct node *n, enum channel c)
{
	const struct channel_row *row = channel_row(c);

	n->builtin = CALL_CHANNEL;
	n->word = (uint8_t)c;
	for (uint32_t i = 0; i < n->nmodifier; i++)
		if (n->modifier[i].arg)
			kinds_expr(r, n->modifier[i].arg);
	check_place(r, n);
	check_numbers(r, n, row);
	check_qubits(r, n, row);
}
