/* SPDX-License-Identifier: Apache-2.0
 * All passes on one screen. */
#include "compiler/compile.h"

#include <string.h>

#include "compiler/passes/pass.h"

enum { PASS_UNROLL, PASS_FOLD, PASS_CANCEL, PASS_CONE, PASS_COUNT };

static const struct pass_row rows[PASS_COUNT] = {
	[PASS_UNROLL] = { "unroll", 'u',
		"unroll loops, layers and calls into operations; blocks remain matrices", false },
	[PASS_FOLD] = { "fold", 'f', "compute constants in angles, remove gates without effect", true },
	[PASS_CANCEL] = { "cancel", 'i', "remove adjacent gates that are inverse to each other", true },
	[PASS_CONE] = { "cone", 'c', "remove gates that no output depends on (light cone)", true },
};

static void (*const run[PASS_COUNT])(struct design *d) = {
	[PASS_FOLD] = pass_fold,
	[PASS_CANCEL] = pass_cancel,
	[PASS_CONE] = pass_cone,
};

size_t compile_passes(const struct pass_row **out)
{
	*out = rows;
	return PASS_COUNT;
}

static bool without(const struct compile_options *o, const char *name)
{
	return o && text_among(name, o->without, o->nwithout);
}

static void dump(const struct design *d, const struct pass_row *r, const struct compile_options *o)
{
	if (!o || !o->dump || !o->dump_out || !strchr(o->dump, r->letter))
		return;
	buf_printf(o->dump_out, "; after %s\n", r->name);
	design_print(d, o->dump_out);
}

struct program *compile_design(struct design *d, struct diags *diags, const struct compile_options *o)
{
	struct err e = { 0 };

	if (diags_errors(diags))
		return NULL;
	mem_auto bool *weight = used_scalars(d, EXPR_WEIGHT), *input = used_scalars(d, EXPR_INPUT);
	if (o && o->whole && !warn_outputs(d, diags))
		warn_qubits(d, diags);
	for (int k = 0; k < PASS_COUNT; k++) {
		if (run[k] && (!rows[k].optional || !without(o, rows[k].name)))
			run[k](d);
		dump(d, &rows[k], o);
	}
	/* What is used in the text, against what the passes have left. */
	bool all = without(o, rows[PASS_CONE].name);
	mem_auto bool *left = used_scalars(d, EXPR_WEIGHT), *left_input = used_scalars(d, EXPR_INPUT);

	warn_weights(d, weight, all ? weight : left, diags);
	if (o && o->whole)
		warn_inputs(d, input, all ? input : left_input, diags);
	struct program *p = lower(d, diags_sources(diags));
	if (program_verify(p, &e))
		BUG("the compiled program is not valid: %s", e.text);
	program_derive(p);
	return p;
}

struct program *compile_tree(struct ast *t, struct diags *diags, const struct compile_options *o)
{
	arena_auto arena = { 0 };
	struct design d;

	if (diags_errors(diags))
		return NULL;
	design_init(&d, &arena);
	d.main_file = t->file->span.file;
	elaborate(t, diags, o, &d);
	struct program *p = compile_design(&d, diags, o);
	design_release(&d);
	return p;
}
