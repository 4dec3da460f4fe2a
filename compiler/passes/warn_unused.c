/* SPDX-License-Identifier: Apache-2.0
 * Warnings about what a model declares and does not need. */
#include "compiler/passes/pass.h"

#include "runtime/base/diag.h"

enum { GROUPS_MAX = 4096, NAMES_MAX = 4 };

/* ---- weights and inputs ---- */

/* Numbers of a declaration: count of them, from the scalar `first` on. */
struct group { const char *name; struct span at; uint32_t first, count; };

static uint32_t count_unused(const struct group *g, const bool *used, uint32_t *first)
{
	uint32_t n = 0;

	for (uint32_t k = g->count; k-- > 0; )
		if (!used[g->first + k]) {
			*first = k;
			n++;
		}
	return n;
}

static void warn_group(const struct group *g, enum diag_code code, const bool *used, const char *why, struct diags *diags)
{
	uint32_t first = 0, n = count_unused(g, used, &first);

	if (!n)
		return;
	struct diag *w = diag_at(diags, code, g->at,
		n == g->count ? "no %s `%s`" : "no %s all of `%s`", why, g->name);
	if (n < g->count)
		diag_label(w, "%u of %u, beginning with element %u", n, g->count, first);
}

/* One warning per declaration: what is without any use, else what is without effect. */
static void warn_unused(const struct group *g, enum diag_code code, const bool *used, const bool *effective, struct diags *diags)
{
	uint32_t ignored;

	if (count_unused(g, used, &ignored))
		warn_group(g, code, used, "gate uses", diags);
	else
		warn_group(g, code, effective, "output depends on", diags);
}

static bool first_at_place(const struct design *d, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (d->weight[k].at.file == d->weight[i].at.file && d->weight[k].at.begin == d->weight[i].at.begin)
			return false;
	return true;
}

void warn_weights(const struct design *d, const bool *used, const bool *effective, struct diags *diags)
{
	for (uint32_t i = 0; i < d->nweight && i < GROUPS_MAX; i++) {
		const struct weights *w = &d->weight[i];
		const struct group g = { w->g.path, w->at, w->g.first, w->g.count };

		if (w->at.file && first_at_place(d, i))
			warn_unused(&g, DIAG_UNUSED_WEIGHT, used, effective, diags);
	}
}

void warn_inputs(const struct design *d, const bool *used, const bool *effective, struct diags *diags)
{
	for (uint32_t i = 0; i < d->ninput && i < GROUPS_MAX; i++) {
		const struct input_group *in = &d->input[i];
		const struct group g = { in->name, d->input_at[i], in->first, in->count };

		if (!in->is_state && g.at.file)
			warn_unused(&g, DIAG_UNUSED_INPUT, used, effective, diags);
	}
}

/* ---- qubits ---- */

static void warn_register(const struct circuit *c, uint32_t i, const bool *reaches, struct diags *diags)
{
	const struct wire_register *r = &c->reg[i];
	buf_auto names = BUF_INIT;
	uint32_t n = 0;

	for (uint32_t k = 0; k < r->count; k++) {
		uint32_t wire = r->first + k;

		if (reaches[wire] || c->calls.wire[wire].use == WIRE_DISCARDED)
			continue;
		if (n++ >= NAMES_MAX)
			continue;
		buf_str(&names, names.len ? ", " : "");
		r->count == 1 ? buf_str(&names, r->name) : buf_printf(&names, "%s[%u]", r->name, k);
	}
	if (n) {
		struct diag *g = diag_at(diags, DIAG_UNUSED_QUBIT, c->reg_at[i], n == 1 ? "no output depends on qubit %s" : "no output depends on qubits %s%s",
			names.data, n > NAMES_MAX ? ", ..." : "");
		diag_help(g, "observe %s, or `discard` %s, or declare fewer qubits", n == 1 ? "it" : "them", n == 1 ? "it" : "them");
	}
}

static bool declared_before(const struct design *d, uint32_t circuit, struct span at)
{
	for (uint32_t k = 0; k < circuit; k++)
		for (uint32_t i = 0; i < d->circuit[k]->nreg; i++)
			if (d->circuit[k]->reg_at[i].file == at.file && d->circuit[k]->reg_at[i].begin == at.begin)
				return true;
	return false;
}

void warn_qubits(const struct design *d, struct diags *diags)
{
	for (uint32_t k = 0; k < d->ncircuit && k < GROUPS_MAX; k++) {
		const struct circuit *c = d->circuit[k];
		mem_auto bool *reaches = pass_cone_wires(d, c);

		for (uint32_t i = 0; i < c->nreg && i < GROUPS_MAX; i++)
			if (c->reg_at[i].file && !declared_before(d, k, c->reg_at[i]))
				warn_register(c, i, reaches, diags);
	}
}

bool warn_outputs(const struct design *d, struct diags *diags)
{
	const struct circuit *c = d->circuit[0];

	for (uint32_t k = 0; k < d->ncircuit; k++)
		if (d->circuit[k]->noutput)
			return false;
	struct diag *g =
		diag_at(diags, DIAG_UNOBSERVED, c->nreg ? c->reg_at[0] : (struct span){ 0, 0, 0 },
			"nothing is observed: the model has no outputs");
	diag_help(g,
		"end it with what is measured, for example `observe z(%s);`, in OpenQASM `measure`; `qcnn train` needs an output",
		c->nreg ? c->reg[0].name : "q");
	return true;
}
