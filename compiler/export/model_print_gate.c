/* SPDX-License-Identifier: Apache-2.0
 * Gates and their angles as statements of a model. */
#include "compiler/export/model_print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lang/channels.h"

enum { NODES_MAX = 1024 }; /* of one angle, written out */

/* ---- names ---- */

void model_put_wires(struct printer *w, const uint32_t *wire, uint32_t n, const char *between)
{
	for (uint32_t k = 0; k < n; k++) {
		buf_str(w->out, k ? between : "");
		buf_printf(w->out, "%s[%u]", w->register_of[wire[k]], w->place[wire[k]]);
	}
}

void model_put_input_name(struct printer *w, uint32_t group)
{
	if (w->plain_inputs)
		buf_printf(w->out, "x%u", group);
	else
		buf_str(w->out, w->p->input_group[group].name);
}

/* ---- angles ---- */

static void put_input(struct printer *w, uint32_t scalar)
{
	uint32_t number = program_input_group(w->p, scalar), at[PROGRAM_DIMS_MAX];
	const struct input_group *g = &w->p->input_group[number];

	model_put_input_name(w, number);
	shape_place(g->ndim, g->dim, scalar - g->first, at);
	if (g->ndim)
		shape_print(g->ndim, at, w->out);
}

void model_put_number(struct printer *w, double v)
{
	size_t begin = w->out->len;

	buf_real(w->out, v);
	if (!strpbrk(w->out->data + begin, ".e"))
		buf_str(w->out, ".0");
}

static void put_expr(struct printer *w, uint32_t e, bool inside);

/* inside: an operand of an operation, in parentheses. */
static void put_operation(struct printer *w, const struct expr *x, bool inside)
{
	static const char *const infix[EXPR_COUNT] = {
		[EXPR_ADD] = " + ", [EXPR_SUB] = " - ", [EXPR_MUL] = "*", [EXPR_DIV] = "/", [EXPR_POW] = "**"
	};
	bool sign = infix[x->op] || x->op == EXPR_NEG, parentheses = !sign || inside;

	if (w->language->no_function >> x->op & 1)
		PRINT_FAIL(w, "an angle depends on inputs by %s, which %s has not",
			expr_names[x->op], w->language->name);
	buf_printf(w->out, "%s%s%s", sign ? "" : expr_names[x->op], parentheses ? "(" : "",
		x->op == EXPR_NEG ? "-" : "");
	put_expr(w, x->a, sign);
	if (expr_noperand(x->op) > 1) {
		buf_str(w->out, infix[x->op] ? infix[x->op] : ", ");
		put_expr(w, x->b, sign);
	}
	buf_str(w->out, parentheses ? ")" : "");
}

static void put_expr(struct printer *w, uint32_t number, bool inside)
{
	const struct expr *x = &w->p->expr[number];

	if (!w->nodes)
		PRINT_FAIL(w, "an angle that depends on inputs has more than %d parts", NODES_MAX);
	if (w->code)
		return;
	w->nodes--;
	if (x->op == EXPR_INPUT) {
		w->language->input(w, x->a);
	} else if (x->cls == VALUE_SAMPLE) {
		put_operation(w, x, inside);
	} else {
		if (!isfinite(w->value[number]))
			PRINT_FAIL(w, "an angle is not finite");
		buf_str(w->out, inside && w->value[number] < 0 ? "(" : "");
		model_put_number(w, w->value[number]);
		buf_str(w->out, inside && w->value[number] < 0 ? ")" : "");
	}
}

void model_put_angle(struct printer *w, uint32_t e)
{
	w->nodes = NODES_MAX;
	put_expr(w, e, false);
}

static void put_angles(struct printer *w, const uint32_t *angle, unsigned n)
{
	for (unsigned k = 0; k < n; k++) {
		buf_str(w->out, k ? ", " : "(");
		model_put_angle(w, angle[k]);
	}
	buf_str(w->out, n ? ")" : "");
}

/* ---- gates ---- */

void model_check_length(struct printer *w)
{
	if (w->out->len > MODEL_TEXT_MAX)
		PRINT_FAIL(w, "the circuit's text is longer than %d MiB", MODEL_TEXT_MAX >> 20);
}

/* `cx` for x under one control that waits for 1, where the table has such a row. */
static const struct gate_row *controlled_row(const struct item *it, const struct apply *a)
{
	if (a->control_ones != ((uint64_t)1 << a->ncontrol) - 1)
		return NULL;
	for (unsigned g = 1; a->ncontrol && g < GATE_COUNT; g++) {
		const struct gate_row *row = gate_row(g);

		if (row->ncontrol == a->ncontrol && row->base == it->gate
			&& row->base_word == it->word && row->id != row->base)
			return row;
	}
	return NULL;
}

/* The gate behind pow(t) @, for the rows that are powers; NULL for others. */
static const char *base_of_power(const struct item *it, char text[16])
{
	if (it->gate == GATE_PPAULI)
		return gate_word_name(GATE_PAULI, it->word, text);
	for (unsigned g = 1; g < GATE_COUNT; g++)
		if (gate_row(g)->power == it->gate && !gate_row(g)->ncontrol)
			return gate_row(g)->name;
	return NULL;
}

static void put_gate(struct printer *w, const struct item *it, const struct apply *a)
{
	const struct gate_row *row = controlled_row(it, a);
	bool is_phase = it->gate == GATE_GPHASE || it->gate == GATE_PHASE_ALL;
	unsigned nangle = gate_row(it->gate)->nangle;
	char text[16];

	buf_str(w->out, w->indent);
	if (a->adjoint && !(gate_flags(it->gate, it->word) & GATE_SELF_INVERSE))
		buf_str(w->out, "inv @ ");
	for (uint32_t k = 0; !row && k < a->ncontrol; k++)
		buf_str(w->out, a->control_ones >> k & 1 ? "ctrl @ " : "negctrl @ ");
	const char *power = base_of_power(it, text);
	if (power && !row) {
		buf_str(w->out, "pow");
		put_angles(w, it->angle, nangle);
		buf_printf(w->out, " @ %s", power);
	} else {
		buf_str(w->out, row ? row->name : is_phase ? "gphase" : gate_word_name(it->gate, it->word, text));
		put_angles(w, it->angle, nangle);
	}
	buf_str(w->out, a->ncontrol || !is_phase ? " " : "");
	model_put_wires(w, a->wire, is_phase ? a->ncontrol : a->nwire, ", ");
	buf_str(w->out, ";\n");
	model_check_length(w);
}

/* Its name is how it is written. */
static void put_channel(struct printer *w, const struct matrix *m, const struct apply *a)
{
	char word[32];
	size_t n = m->name ? strcspn(m->name, "(") : 0;

	snprintf(word, sizeof word, "%.*s", (int)n, m->name ? m->name : "");
	if (n && !m->name[n])
		PRINT_FAIL(w,
			"a noise channel whose probabilities depend on weights or data cannot be written gate by gate");
	if (n >= sizeof word || !channel_find(word))
		PRINT_FAIL(w, "a noise channel without a name of the language");
	if (a->ncontrol)
		PRINT_FAIL(w,
			"a noise channel under `if (measure ...)` cannot be written gate by gate");
	if (w->code)
		return;
	buf_printf(w->out, "%s%s ", w->indent, m->name);
	model_put_wires(w, a->wire, a->nwire, ", ");
	buf_str(w->out, ";\n");
}

void model_put_unitary(struct printer *w, const struct apply *a)
{
	const struct matrix *m = &w->p->matrix[a->matrix];
	uint32_t wire[APPLY_WIRES_MAX];

	if (matrix_is_channel(w->p, m)) {
		w->language->channel(w, m, a);
		return;
	}
	for (uint32_t i = 0; !w->code && i < m->nitem; i++) {
		const struct item *it = &m->item[a->adjoint ? m->nitem - 1 - i : i];
		const struct apply inner = apply_of_item(a, it, wire);

		if (it->gate == GATE_NONE)
			model_put_unitary(w, &inner);
		else
			w->language->gate(w, it, &inner);
	}
}

const struct print_language model_language = {
	.gate = put_gate, .input = put_input, .channel = put_channel, .name = "the language"
};
