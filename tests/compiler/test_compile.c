/* SPDX-License-Identifier: Apache-2.0
 * The compiler against golden files: NAME.err is every diagnostic with its carets,
 * NAME.asm the program, NAME.<pass> the circuit as text after that pass. */
#include "tests/compile_file.h"
#include "tests/lang/golden.h"

static void compile(const char *model, const char *pass, bool want_program, struct buf *out)
{
	struct source_set *s = source_set_new();
	struct diags *d = diags_new(s);
	const struct pass_row *row;
	struct err e = { 0 };
	char letter[2] = "";

	for (size_t k = compile_passes(&row); k-- > 0; )
		if (pass && !strcmp(row[k].name, pass))
			letter[0] = row[k].letter;
	struct compile_options o = { .dump = letter, .dump_out = out };
	struct program *p = compile_file(model, d, &o, &e);
	if (!pass)
		diags_print(d, DIAG_HUMAN, false, out);
	if (p && want_program)
		asm_print(p, out);
	program_free(p);
	diags_free(d);
	source_set_free(s);
}

static void make_err(const char *model, struct buf *out) { compile(model, NULL, false, out); }
static void make_asm(const char *model, struct buf *out) { compile(model, NULL, true, out); }
static void make_unroll(const char *model, struct buf *out) { compile(model, "unroll", false, out); }
static void make_fold(const char *model, struct buf *out) { compile(model, "fold", false, out); }
static void make_cancel(const char *model, struct buf *out) { compile(model, "cancel", false, out); }
static void make_cone(const char *model, struct buf *out) { compile(model, "cone", false, out); }

int main(void)
{
	static const struct golden_kind kinds[] = {
		{ ".err", make_err }, { ".asm", make_asm }, { ".unroll", make_unroll }, { ".fold", make_fold },
		{ ".cancel", make_cancel }, { ".cone", make_cone },
	};

	golden_folder("tests/compiler/golden", kinds, sizeof kinds / sizeof *kinds);
	return tap_done();
}
