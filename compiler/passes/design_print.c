/* SPDX-License-Identifier: Apache-2.0
 * A circuit as text, for looking at what a pass did. */
#include "compiler/passes/pass.h"

static void print_expr(const struct design *d, uint32_t e, unsigned depth, struct buf *out)
{
	const struct expr *x = &d->exprs.v[e];

	if (depth > 6) {
		buf_str(out, "...");
		return;
	}
	if (x->op == EXPR_CONST) {
		buf_real(out, x->value);
	} else if (expr_noperand(x->op) == 0) {
		buf_printf(out, "%s[%u]", expr_names[x->op], x->a);
	} else {
		buf_printf(out, "%s(", expr_names[x->op]);
		print_expr(d, x->a, depth + 1, out);
		if (expr_noperand(x->op) > 1) {
			buf_str(out, ", ");
			print_expr(d, x->b, depth + 1, out);
		}
		buf_char(out, ')');
	}
}

static void print_item(const struct design *d, const struct item *it, struct buf *out)
{
	char name[16];

	buf_str(out, it->adjoint ? "\tinv " : "\t");
	for (unsigned k = 0; k < it->ncontrol; k++)
		buf_printf(out, "%s ", it->control_ones >> k & 1 ? "ctrl" : "negctrl");
	if (it->gate == GATE_NONE)
		buf_printf(out, "m%u", it->ref);
	else
		buf_str(out, gate_word_name(it->gate, it->word, name));
	for (unsigned k = 0; it->gate != GATE_NONE && k < gate_row(it->gate)->nangle; k++) {
		buf_str(out, k ? ", " : "(");
		print_expr(d, it->angle[k], 0, out);
	}
	if (it->gate != GATE_NONE && gate_row(it->gate)->nangle)
		buf_char(out, ')');
	for (unsigned k = 0; k < it->nwire; k++)
		buf_printf(out, "%s %u", k ? "," : "", it->wire[k]);
	buf_char(out, '\n');
}

static void print_apply(const struct design *d, const struct apply *p, struct buf *out)
{
	buf_str(out, p->adjoint ? "\tinv " : "\t");
	for (unsigned k = 0; k < p->ncontrol; k++)
		buf_printf(out, "%s ", p->control_ones >> k & 1 ? "ctrl" : "negctrl");
	if (p->op == APPLY_UNITARY)
		buf_printf(out, "m%u", p->matrix);
	else
		buf_str(out, apply_names[p->op]);
	for (unsigned k = 0; k < p->nwire; k++)
		buf_printf(out, "%s %u", k ? "," : "", p->wire[k]);
	if (p->layer != INDEX_NONE)
		buf_printf(out, "\t; %s", d->layer[p->layer].path);
	buf_char(out, '\n');
}

void design_print(const struct design *d, struct buf *out)
{
	for (uint32_t m = 0; m < d->nmatrix; m++) {
		const struct matrix *p = &d->matrix[m];
		buf_printf(out, "matrix m%u \"%s\", %u wires\n", m, p->name ? p->name : "", p->ntarget);
		for (uint32_t i = 0; i < p->nitem; i++)
			print_item(d, &p->item[i], out);
	}
	for (uint32_t c = 0; c < d->ncircuit; c++) {
		const struct circuit *p = d->circuit[c];
		buf_printf(out, "circuit \"%s\", %u wires, %u outputs\n", p->name, p->calls.nwire, p->noutput);
		for (uint32_t i = 0; i < p->calls.n; i++)
			print_apply(d, &p->calls.v[i], out);
	}
}
