/* SPDX-License-Identifier: Apache-2.0
 * A program as text: complete, so that asm_read gives the same bytes, with comments
 * that say in a model's words what the numbers are. */
#include "compiler/asm/asm.h"

/* Quoted. */
static void print_text(const char *s, struct buf *out)
{
	buf_char(out, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			buf_char(out, '\\');
		buf_char(out, *s);
	}
	buf_char(out, '"');
}

static void print_dims(uint32_t ndim, const uint32_t *dim, struct buf *out)
{
	if (ndim)
		shape_print(ndim, dim, out);
}

/* ---- slots ---- */

static void print_weights(const struct program *p, struct buf *out)
{
	for (uint32_t i = 0; i < p->nweight_group; i++) {
		const struct weight_group *g = &p->weight_group[i];
		buf_printf(out, "  %u ", i);
		print_text(g->path, out);
		buf_str(out, " float");
		print_dims(g->ndim, g->dim, out);
		buf_printf(out, " ~ %s(", init_names[g->init]);
		for (uint32_t k = 0; k < (g->init == INIT_VALUES ? g->count : 2); k++) {
			if (k)
				buf_str(out, ", ");
			buf_real(out, g->init == INIT_VALUES ? g->init_value[k] : k ? g->init_b : g->init_a);
		}
		buf_printf(out, ")%s", g->frozen ? " frozen" : "");
		if (g->count > 1)
			buf_printf(out, "  ; weights %u to %u", g->first, g->first + g->count - 1);
		buf_char(out, '\n');
	}
}

static void print_inputs(const struct program *p, struct buf *out)
{
	for (uint32_t i = 0; i < p->ninput_group; i++) {
		const struct input_group *g = &p->input_group[i];
		buf_printf(out, "  %u ", i);
		print_text(g->name, out);
		buf_str(out, g->is_state ? " state" : " float");
		print_dims(g->ndim, g->dim, out);
		buf_char(out, '\n');
	}
}

static void print_element(const char *name, uint32_t ndim, const uint32_t *dim, uint32_t k, struct buf *out)
{
	uint32_t at[PROGRAM_DIMS_MAX];

	shape_place(ndim, dim, k, at);
	buf_printf(out, "  ; %s", name);
	print_dims(ndim, at, out);
}

static void print_weight_name(const struct program *p, uint32_t scalar, struct buf *out)
{
	uint32_t i = program_weight_group(p, scalar);
	const struct weight_group *g = &p->weight_group[i];

	if (i != INDEX_NONE)
		print_element(g->path, g->ndim, g->dim, scalar - g->first, out);
}

static void print_input_name(const struct program *p, uint32_t scalar, struct buf *out)
{
	uint32_t i = program_input_group(p, scalar);
	const struct input_group *g = &p->input_group[i];

	if (i != INDEX_NONE)         /* the verifier refuses expressions of a state's numbers */
		print_element(g->name, g->ndim, g->dim, scalar - g->first, out);
}

static void print_exprs(const struct program *p, struct buf *out)
{
	for (uint32_t i = 0; i < p->nexpr; i++) {
		const struct expr *x = &p->expr[i];
		unsigned n = expr_noperand(x->op);
		buf_printf(out, "  %%%u = %s ", i, expr_names[x->op]);
		if (x->op == EXPR_CONST)
			buf_real(out, x->value);
		else
			buf_printf(out, n ? "%%%u" : "%u", x->a);
		if (n > 1)
			buf_printf(out, " %%%u", x->b);
		if (x->op == EXPR_WEIGHT)
			print_weight_name(p, x->a, out);
		else if (x->op == EXPR_INPUT)
			print_input_name(p, x->a, out);
		buf_char(out, '\n');
	}
}

/* ---- matrices ---- */

static void print_prefix(bool adjoint, unsigned ncontrol, uint64_t ones, struct buf *out)
{
	if (adjoint)
		buf_str(out, "inv ");
	for (unsigned k = 0; k < ncontrol; k++)
		buf_str(out, ones >> k & 1 ? "ctrl " : "negctrl ");
}

static void print_item(const struct item *it, struct buf *out)
{
	char name[16];
	unsigned nangle = it->gate == GATE_NONE ? 0 : gate_row(it->gate)->nangle;
	buf_str(out, "    ");
	print_prefix(it->adjoint, it->ncontrol, it->control_ones, out);
	if (it->gate == GATE_NONE)
		buf_printf(out, "m%u", it->ref);
	else
		buf_str(out, gate_word_name(it->gate, it->word, name));
	for (unsigned k = 0; k < nangle; k++)
		buf_printf(out, "%s%%%u%s", k ? ", " : "(", it->angle[k], k + 1 == nangle ? ")" : "");
	for (unsigned k = 0; k < it->nwire; k++)
		buf_printf(out, " %u", it->wire[k]);
	buf_char(out, '\n');
}

static void print_matrices(const struct program *p, struct buf *out)
{
	static const char *const class_name[] = { "constant", "shared", "per sample" };
	for (uint32_t i = 0; i < p->nmatrix; i++) {
		const struct matrix *m = &p->matrix[i];
		buf_printf(out, "  m%u %u ", i, m->ntarget);
		if (m->name) {
			print_text(m->name, out);
			buf_char(out, ' ');
		}
		buf_printf(out, "{  ; %s%s\n", class_name[m->cls], m->flags & MATRIX_DIAGONAL ? ", diagonal" :
			m->flags & MATRIX_PERMUTATION ? ", permutation" : "");
		for (uint32_t k = 0; k < m->nitem; k++)
			print_item(&m->item[k], out);
		buf_str(out, "  }\n");
	}
}

/* ---- circuits ---- */

static void print_notes(const struct program *p, const struct apply *a, struct buf *out)
{
	if (a->layer != INDEX_NONE)
		buf_printf(out, " layer %u", a->layer);
	if (a->span != INDEX_NONE)
		buf_printf(out, " span %u", a->span);
	if (a->layer != INDEX_NONE || a->span != INDEX_NONE)
		buf_str(out, "  ;");
	if (a->layer != INDEX_NONE)
		buf_printf(out, " %s", p->layer[a->layer].path);
	if (a->span != INDEX_NONE)
		buf_printf(out, " line %u", p->span[a->span].line);
}

static void print_apply(const struct program *p, const struct apply *a, struct buf *out)
{
	buf_str(out, "    ");
	print_prefix(a->adjoint, a->ncontrol, a->control_ones, out);
	if (a->op == APPLY_UNITARY)
		buf_printf(out, "m%u", a->matrix);
	else
		buf_str(out, apply_names[a->op]);
	if (a->op == APPLY_STATE)
		buf_printf(out, "(%u)", a->matrix);
	if (a->op == APPLY_AMPLITUDES) {
		for (uint32_t i = 0; i < a->nexpr; i++)
			buf_printf(out, "%s%%%u", i ? ", " : "(", a->expr[i]);
		buf_char(out, ')');
	}
	for (uint32_t i = 0; i < a->nwire; i++)
		buf_printf(out, " %u", a->wire[i]);
	print_notes(p, a, out);
	buf_char(out, '\n');
}

static void print_output(const struct output *o, struct buf *out)
{
	if (o->kind == OUTPUT_PROBS) {
		buf_str(out, "    probs");
		for (uint32_t i = 0; i < o->nwire; i++)
			buf_printf(out, " %u", o->wire[i]);
		buf_char(out, '\n');
		return;
	}
	buf_str(out, "    pauli");
	for (uint32_t i = 0; i < o->nterm; i++) {
		const struct pauli_term *t = &o->term[i];
		buf_str(out, i ? " + " : " ");
		buf_real(out, t->coefficient);
		for (uint32_t k = 0; k < t->nfactor; k++)
			buf_printf(out, " %c%u", "?xyz"[t->factor[k].letter & 3], t->factor[k].wire);
	}
	buf_char(out, '\n');
}

static void print_circuits(const struct program *p, struct buf *out)
{
	for (uint32_t i = 0; i < p->ncircuit; i++) {
		const struct circuit_code *c = &p->circuit[i];
		buf_printf(out, "  %u ", i);
		print_text(c->name, out);
		buf_printf(out, " wires %u {\n", c->nwire);
		for (uint32_t k = 0; k < c->nregister; k++) {
			buf_str(out, "    register ");
			print_text(c->reg[k].name, out);
			buf_printf(out, " %u %u\n", c->reg[k].first, c->reg[k].count);
		}
		for (uint32_t k = 0; k < c->napply; k++)
			print_apply(p, &c->apply[k], out);
		for (uint32_t k = 0; k < c->noutput; k++)
			print_output(&c->output[k], out);
		buf_str(out, "  }\n");
	}
}

/* ---- head and notes ---- */

static void print_dense(const struct program *p, struct buf *out)
{
	for (uint32_t i = 0; i < p->ndense; i++) {
		const struct dense *l = &p->dense[i];
		buf_printf(out, "  %u: %u to %u %s kernel %u bias %u\n", i, l->nin, l->nout,
			activation_names[l->activation], l->kernel, l->bias);
	}
}

static void print_layers(const struct program *p, struct buf *out)
{
	for (uint32_t i = 0; i < p->nlayer; i++) {
		buf_printf(out, "  %u ", i);
		print_text(p->layer[i].path, out);
		buf_str(out, p->layer[i].embed ? " embed\n" : "\n");
	}
}

static void print_spans(const struct program *p, struct buf *out)
{
	for (uint32_t i = 0; i < p->nspan; i++)
		buf_printf(out, "  %u: %u %u\n", i, p->span[i].line, p->span[i].column);
}

void asm_print(const struct program *p, struct buf *out)
{
	static const struct { const char *name; void (*print)(const struct program *, struct buf *); } section[] = {
		{ "weights", print_weights }, { "inputs", print_inputs }, { "exprs", print_exprs },
		{ "matrices", print_matrices }, { "circuits", print_circuits }, { "dense", print_dense },
		{ "layers", print_layers }, { "spans", print_spans }
	};
	buf_printf(out, "qcnn_asm %d\n", ASM_VERSION);
	for (size_t i = 0; i < sizeof section / sizeof *section; i++) {
		size_t before = out->len;
		buf_printf(out, "%s\n", section[i].name);
		size_t head = out->len;
		section[i].print(p, out);
		if (out->len == head) {      /* empty sections are left out */
			out->len = before;
			out->data[before] = 0;
		}
	}
}
