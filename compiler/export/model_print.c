/* SPDX-License-Identifier: Apache-2.0
 * A program as a model again: its circuits gate by gate, weights as numbers.
 *
 * What passes and lowering did is kept; blocks, loops and layers are written out.  Angles
 * that depend on inputs stay expressions.  Measurements are left out: they were deferred, and
 * what followed from them is controlled gates. */
#include "compiler/export/model_print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/order.h"

/* ---- names ---- */

static bool is_reserved(const char *s)
{
	static const char *const words[] = {
#define KEYWORD(token, word, class) word,
#define FOREIGN(word, help, help_qasm3) word,
#include "lang/tokens.def"
	};

	return text_among(s, words, sizeof words / sizeof *words);
}

bool model_is_name(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");

	return n && !s[n] && n <= LANG_IDENT_MAX && !strchr("0123456789", *s) && !is_reserved(s);
}

/* The registers are names, differ from inputs and each other, and have every wire once, in order. */
static bool registers_are_named(const struct program *p, const struct circuit_code *c)
{
	uint32_t next = 0;

	for (uint32_t r = 0; r < c->nregister; r++) {
		if (!model_is_name(c->reg[r].name) || c->reg[r].first != next || !c->reg[r].count)
			return false;
		next += c->reg[r].count;
		for (uint32_t k = 0; k < r; k++)
			if (!strcmp(c->reg[k].name, c->reg[r].name))
				return false;
		for (uint32_t i = 0; i < p->ninput_group; i++)
			if (!strcmp(p->input_group[i].name, c->reg[r].name))
				return false;
	}
	return next == c->nwire;
}

/* Vectors are put on a list, and only wires of one register make one. */
static bool vectors_are_inside(const struct circuit_code *c)
{
	for (uint32_t i = 0; i < c->napply; i++) {
		const struct apply *a = &c->apply[i];

		if (a->op != APPLY_AMPLITUDES && a->op != APPLY_STATE)
			continue;
		for (uint32_t r = 0; r < c->nregister; r++)
			for (uint32_t k = 1; k < a->nwire; k++)
				if ((a->wire[0] - c->reg[r].first < c->reg[r].count) != (a->wire[k] - c->reg[r].first < c->reg[r].count))
					return false;
	}
	return true;
}

/* Are n texts names, all different? */
static bool are_names(const char **name, uint32_t n)
{
	bool good = true;

	qsort(name, n, sizeof *name, order_texts);
	for (uint32_t i = 0; i < n; i++)
		good = good && model_is_name(name[i]) && (!i || strcmp(name[i - 1], name[i]));
	return good;
}

static void choose_names(struct printer *w)
{
	static const char *const registers[] = { "q", "qubits", "wires" };
	const struct program *p = w->p;
	uint32_t n = p->ninput_group > p->ncircuit ? p->ninput_group : p->ncircuit;
	mem_auto const char **name = mem_alloc((size_t)n + 1, sizeof *name);

	for (uint32_t i = 0; i < p->ncircuit; i++)
		name[i] = p->circuit[i].name;
	w->plain = p->ncircuit > 1 && !are_names(name, p->ncircuit);
	for (uint32_t i = 0; !w->plain && i < p->ncircuit; i++)
		w->plain = !registers_are_named(p, &p->circuit[i]) || !vectors_are_inside(&p->circuit[i]);
	for (uint32_t i = 0; i < p->ninput_group; i++)
		name[i] = p->input_group[i].name;
	w->plain_inputs = !are_names(name, p->ninput_group);
	for (size_t k = 0; k < sizeof registers / sizeof *registers && !w->register_name; k++) {
		w->register_name = registers[k];
		for (uint32_t i = 0; i < p->ninput_group; i++)
			if (!strcmp(name[i], registers[k]))
				w->register_name = NULL;
	}
	w->plain_inputs |= !w->register_name;
	w->plain |= w->plain_inputs;
	w->register_name = w->register_name ? w->register_name : registers[0];
}

/* Wires of one register as one operand. */
static void put_list(struct printer *w, const uint32_t *wire, uint32_t n)
{
	buf_printf(w->out, "%s[{", w->register_of[wire[0]]);
	for (uint32_t k = 0; k < n; k++)
		buf_printf(w->out, k ? ", %u" : "%u", w->place[wire[k]]);
	buf_str(w->out, "}]");
}

static void put_circuit_name(struct printer *w, uint32_t number)
{
	if (w->plain)
		buf_printf(w->out, "c%u", number);
	else
		buf_str(w->out, w->p->circuit[number].name);
}

/* ---- other applies ---- */

/* An input as it is, or a slice of it, where the amplitudes are one; else INDEX_NONE. */
static uint32_t input_behind(const struct program *p, const struct apply *a)
{
	const struct expr *x = &p->expr[a->expr[0]];
	uint32_t first = x->a, group;

	for (uint32_t k = 0; k < a->nexpr; k++)
		if (p->expr[a->expr[k]].op != EXPR_INPUT || p->expr[a->expr[k]].a != first + k)
			return INDEX_NONE;
	group = program_input_group(p, first);
	return p->input_group[group].ndim == 1 && first - p->input_group[group].first + a->nexpr <= p->input_group[group].count
		? group : INDEX_NONE;
}

static void put_amplitudes(struct printer *w, const struct apply *a)
{
	uint32_t group = a->op == APPLY_STATE ? a->matrix : input_behind(w->p, a);

	buf_printf(w->out, "%samplitudes(", w->indent);
	if (group != INDEX_NONE)
		model_put_input_name(w, group);
	if (group != INDEX_NONE && a->nexpr && a->nexpr < w->p->input_group[group].count) {
		uint32_t first = w->p->expr[a->expr[0]].a - w->p->input_group[group].first;

		buf_printf(w->out, "[%u:%u]", first, first + a->nexpr - 1);
	}
	for (uint32_t k = 0; !w->code && group == INDEX_NONE && k < a->nexpr; k++) {
		buf_str(w->out, k ? ", " : "{");
		model_put_angle(w, a->expr[k]);
		model_check_length(w);
	}
	buf_str(w->out, group == INDEX_NONE ? "}) " : ") ");
	put_list(w, a->wire, a->nwire);
	buf_str(w->out, ";\n");
}

static void put_apply(struct printer *w, const struct apply *a)
{
	if (a->layer != w->layer && a->layer != INDEX_NONE)
		buf_printf(w->out, "%s// %s\n", w->indent, w->plain ? "next layer" : w->p->layer[a->layer].path);
	w->layer = a->layer;
	switch (a->op) {
	case APPLY_UNITARY: model_put_unitary(w, a); return;
	case APPLY_AMPLITUDES:
	case APPLY_STATE: put_amplitudes(w, a); return;
	case APPLY_SWAP: buf_printf(w->out, "%sswap ", w->indent); break;
	case APPLY_DISCARD: buf_printf(w->out, "%sdiscard ", w->indent); break;
	case APPLY_MEASURE: return;
	case APPLY_NONE: case APPLY_COUNT: BUG("no operation number %d", (int)a->op);
	}
	model_put_wires(w, a->wire, a->nwire, ", ");
	buf_str(w->out, ";\n");
}

/* ---- observables ---- */

/* "- 0.5*z(q[0])*x(q[1])": one term of a sum, or its first. */
static void put_term(struct printer *w, const struct pauli_term *t, bool first)
{
	double c = t->coefficient;

	buf_str(w->out, first ? signbit(c) ? "-" : "" : signbit(c) ? " - " : " + ");
	if (!t->nfactor || fabs(c) != 1)
		model_put_number(w, fabs(c));
	for (uint32_t k = 0; k < t->nfactor; k++) {
		buf_printf(w->out, "%s%c(", k || fabs(c) != 1 ? "*" : "", "?xyz"[t->factor[k].letter & 3]);
		model_put_wires(w, &t->factor[k].wire, 1, "");
		buf_char(w->out, ')');
	}
}

static void put_sum(struct printer *w, const struct output *o)
{
	/* A sum of numbers alone is no observable. */
	bool numbers = !o->nterm || (o->nterm == 1 && !o->term[0].nfactor);
	const uint32_t first = 0;

	for (uint32_t k = 0; k < o->nterm; k++)
		put_term(w, &o->term[k], !k);
	if (numbers && w->c->nwire) {
		buf_str(w->out, o->nterm ? " + 0.0*z(" : "0.0*z(");
		model_put_wires(w, &first, 1, "");
		buf_char(w->out, ')');
	}
}

void model_put_output(struct printer *w, const struct output *o)
{
	buf_printf(w->out, "%sobserve ", w->indent);
	if (o->kind == OUTPUT_PROBS) {
		buf_str(w->out, "probs(");
		model_put_wires(w, o->wire, o->nwire, " ++ ");
		buf_char(w->out, ')');
	} else {
		put_sum(w, o);
	}
	buf_str(w->out, ";\n");
}

/* ---- the whole ---- */

static void put_registers(struct printer *w)
{
	const struct circuit_code *c = w->c;

	for (uint32_t k = 0; w->plain && k < c->nwire; k++) {
		w->register_of[k] = w->register_name;
		w->place[k] = k;
	}
	if (w->plain && c->nwire)
		buf_printf(w->out, "%squbit[%u] %s;\n", w->indent, c->nwire, w->register_name);
	for (uint32_t r = 0; !w->plain && r < c->nregister; r++) {
		buf_printf(w->out, "%squbit[%u] %s;\n", w->indent, c->reg[r].count, c->reg[r].name);
		for (uint32_t k = 0; k < c->reg[r].count; k++) {
			w->register_of[c->reg[r].first + k] = c->reg[r].name;
			w->place[c->reg[r].first + k] = k;
		}
	}
}

static void put_circuit(struct printer *w, uint32_t number)
{
	bool alone = w->p->ncircuit == 1;

	w->c = &w->p->circuit[number];
	w->indent = alone ? "" : "  ";
	w->layer = INDEX_NONE;
	if (!alone) {
		buf_str(w->out, "\ncircuit ");
		put_circuit_name(w, number);
		buf_str(w->out, " {\n");
	}
	put_registers(w);
	for (uint32_t i = 0; !w->code && i < w->c->napply; i++)
		put_apply(w, &w->c->apply[i]);
	for (uint32_t i = 0; !w->code && i < w->c->noutput; i++)
		model_put_output(w, &w->c->output[i]);
	buf_str(w->out, alone ? "" : "}\n");
}

static void put_inputs(struct printer *w)
{
	for (uint32_t i = 0; i < w->p->ninput_group; i++) {
		const struct input_group *g = &w->p->input_group[i];

		buf_str(w->out, g->is_state ? "input state" : "input float");
		if (!g->is_state && g->ndim)
			shape_print(g->ndim, g->dim, w->out);
		buf_char(w->out, ' ');
		model_put_input_name(w, i);
		buf_str(w->out, ";\n");
	}
}

/* All circuits' readouts, one behind the other, as the program has them. */
static void put_instances(struct printer *w)
{
	buf_str(w->out, "\nhead (");
	for (uint32_t i = 0; i < w->p->ncircuit; i++) {
		buf_str(w->out, i ? ", " : "");
		put_circuit_name(w, i);
		buf_char(w->out, ' ');
		put_circuit_name(w, i);
	}
	buf_str(w->out, ") { }\n");
}

int model_check_size(const struct program *p, struct err *e)
{
	mem_auto uint64_t *ngate = mem_try((size_t)p->nmatrix + 1, sizeof *ngate);
	mem_auto uint32_t *depth = mem_try((size_t)p->nmatrix + 1, sizeof *depth);
	uint64_t total = 0;
	int code = ngate && depth ? 0 : err_set(e, -ERR_CONFIG, "no memory for %u matrices", p->nmatrix);

	for (uint32_t m = 0; !code && m < p->nmatrix; m++) {
		ngate[m] = matrix_gates(&p->matrix[m], ngate);
		for (uint32_t i = 0; i < p->matrix[m].nitem; i++) {
			const struct item *it = &p->matrix[m].item[i];
			uint32_t inner = it->gate == GATE_NONE ? depth[it->ref] + 1 : 1;

			depth[m] = inner > depth[m] ? inner : depth[m];
		}
	}
	for (uint32_t c = 0; !code && c < p->ncircuit; c++)
		for (uint32_t i = 0; !code && i < p->circuit[c].napply; i++) {
			const struct apply *a = &p->circuit[c].apply[i];

			total += a->op == APPLY_UNITARY ? ngate[a->matrix] : 1;
			if (total > COMPILE_CALLS_MAX || (a->op == APPLY_UNITARY && depth[a->matrix] > COMPILE_DEPTH_MAX))
				code = err_set(e, -ERR_BAD_DATA, "more than %d gates, or blocks deeper than %d: too large to be written "
					"gate by gate", COMPILE_CALLS_MAX, COMPILE_DEPTH_MAX);
		}
	return code;
}

int model_print(const struct program *p, const double *weight, struct buf *out, struct err *e)
{
	int code = model_check_size(p, e);

	if (code)
		return code;
	mem_auto struct printer *w = mem_alloc(1, sizeof *w);
	mem_auto double *value = mem_try((size_t)p->nexpr + 1, sizeof *value);
	mem_auto double *input = mem_try((size_t)p->ninput + 1, sizeof *input);
	*w = (struct printer){ .language = &model_language, .p = p, .value = value, .out = out, .e = e };
	choose_names(w);
	if (!value || !input)
		return err_set(e, -ERR_CONFIG, "no memory for %u angles", p->nexpr);
	program_eval(p, weight, input, value);
	buf_str(out, "QCNN 1;\n");
	if (p->ndense)
		buf_printf(out, "// The circuits alone: their %u readouts went into a head.\n",
			p->nreadout);
	put_inputs(w);
	for (uint32_t c = 0; !w->code && c < p->ncircuit; c++)
		put_circuit(w, c);
	if (p->ncircuit > 1)
		put_instances(w);
	return w->code;
}
