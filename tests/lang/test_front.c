/* SPDX-License-Identifier: Apache-2.0
 * The front end against golden files: NAME.ast is the resolved tree, NAME.err the
 * diagnostics with their carets. */
#include "config.h"

#include "lang/lang.h"
#include "tests/lang/golden.h"

static void front(const char *model, struct buf *out, bool want_tree)
{
	static const char *const dirs[] = { "include" };
	struct lang_options o = { dirs, 1 };
	struct source_set *s = source_set_new();
	struct diags *d = diags_new(s);
	struct err e = { 0 };
	int id = source_open(s, model, SOURCE_BYTES_MAX, &e);
	struct ast *t;

	if (id < 0) {
		buf_printf(out, "%s\n", e.text);
	} else {
		t = lang_parse(d, (uint32_t)id, &o);
		lang_resolve(t, d);
		diags_print(d, DIAG_HUMAN, false, out);
		if (want_tree)
			ast_print(t, out);
		ast_free(t);
	}
	diags_free(d);
	source_set_free(s);
}

static void make_ast(const char *model, struct buf *out)
{
	front(model, out, true);
}

static void make_err(const char *model, struct buf *out)
{
	front(model, out, false);
}

int main(void)
{
	static const struct golden_kind kinds[] = { { ".ast", make_ast }, { ".err", make_err } };

	golden_folder("tests/lang/front", kinds, sizeof kinds / sizeof *kinds);
	return tap_done();
}
