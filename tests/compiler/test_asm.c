/* SPDX-License-Identifier: Apache-2.0
 * A program's text: printing and reading give the same text and bytes; faults are
 * reported at their place. */
#include "compiler/compile.h"

#include <stdio.h>

#include "tests/program/sample.h"

static void round_trip(void)
{
	struct program *p = sample_program(), *again;
	struct buf out = BUF_INIT, bytes = BUF_INIT, bytes_again = BUF_INIT;
	asm_print(p, &out);
	tap_is_str(out.data, sample_text, "the text comes back, comments too");
	again = sample_read(out.data, NULL);
	tap_ok(again != NULL, "the printed text is read");
	program_write(p, &bytes);
	if (again)
		program_write(again, &bytes_again);
	tap_ok(bytes.len == bytes_again.len && memcmp(bytes.data, bytes_again.data, bytes.len) == 0,
		"and gives the same bytes");
	buf_release(&out);
	buf_release(&bytes);
	buf_release(&bytes_again);
	program_free(p);
	program_free(again);
}

/* The sample with its first `old` replaced: what is said. */
static void fault(const char *old, const char *new, const char *want)
{
	const char *at = strstr(sample_text, old);
	struct buf changed = BUF_INIT, out = BUF_INIT;
	if (!at)
		tap_bail("the sample has no %s", old);
	buf_add(&changed, sample_text, (size_t)(at - sample_text));
	buf_str(&changed, new);
	buf_str(&changed, at + strlen(old));
	struct program *p = sample_read(changed.data, &out);
	tap_ok(p == NULL, "refused: %.*s", (int)strcspn(want, "\n"), want);
	tap_is_str(out.len ? out.data : "", want, "and the reason is told");
	program_free(p);
	buf_release(&changed);
	buf_release(&out);
}

static void faults(void)
{
	fault("qcnn_asm 1", "qasm 1", "sample.asm:1:1: error[Q0070]: `qcnn_asm` belongs here\n");
	fault("qcnn_asm 1", "qcnn_asm 2", "sample.asm:1:10: error[Q0070]: version 2; this qcnn reads version 1\n");
	fault("1 \"conv[0].s\"", "2 \"conv[0].s\"", "sample.asm:4:3: error[Q0072]: weight group 2 where weight group 1 belongs\n");
	fault("uniform", "unifrom", "sample.asm:3:31: error[Q0071]: an initialiser belongs here\n");
	fault("values(-0, 1e-300)", "values(-0)", "sample.asm:5:35: error[Q0070]: 1 values for 2 weights\n");
	fault("\"empty\"", "\"empty", "sample.asm:6:5: error[Q0070]: this text is never closed\n");
	fault("const 0.1", "const 0x", "sample.asm:18:14: error[Q0070]: this is no number\n");
	fault("mul %0 %2", "mul %0", "sample.asm:20:6: error[Q0070]: neither a record of this section nor a later section\n");
	fault("mul %0 %2", "mul %0 %4", "sample.asm:1:1: error[Q0073]: exprs: expression 4: operand 4 is not an earlier expression\n");
	fault("rx(%0)", "cnot(%0)", "sample.asm:23:5: error[Q0071]: unknown gate `cnot`\n");
	fault("rx(%0)", "rx(%0, %1)", "sample.asm:23:16: error[Q0070]: rpauli has 1 angles, here are 2\n");
	fault("m2 3", "m2 4", "sample.asm:33:8: error[Q0070]: 4 targets: a matrix has 1 to 3\n");
	fault("x 0 1 2\n", "x 0 1 2 0\n", "sample.asm:34:26: error[Q0070]: more than 3 wires\n");
	fault("m2 3", "m7 3", "sample.asm:33:3: error[Q0072]: matrix 7 where matrix 2 belongs\n");
	fault("swap 0 1", "swop 0 1", "sample.asm:46:5: error[Q0071]: an operation, an output or `}` belongs here\n");
	fault("pauli\n", "swap 0 1\n",
		"sample.asm:51:5: error[Q0070]: an output or `}` belongs here: operations come before outputs\n");
	fault("discard 3", "discard 3 3",
		"sample.asm:1:1: error[Q0073]: circuits: circuit 0: operation 7: wire 3 twice\n");
	fault("relu", "prelu", "sample.asm:59:13: error[Q0071]: an activation belongs here\n");
	fault("spans\n", "spams\n", "sample.asm:64:1: error[Q0070]: neither a record of this section nor a later section\n");
}

/* Cut anywhere, the text is refused or is a shorter program; never a crash. */
static void cut(void)
{
	char *text = mem_strdup(sample_text);
	unsigned refused = 0;
	for (size_t n = sizeof sample_text - 1; n-- > 0;) {
		text[n] = 0;
		struct program *p = sample_read(text, NULL);
		refused += !p;
		program_free(p);
	}
	tap_ok(refused > 1500, "cut texts are refused (%u)", refused);
	free(text);
}

/* The manual page's lists are those of the tables, and its example is a program. */
static void listed(const char *page, unsigned n, const char *name)
{
	char text[64];
	snprintf(text, sizeof text, "%u %s", n, name);
	tap_ok(strstr(page, text) != NULL, "the manual lists %s", text);
}

static void manual(void)
{
	struct buf page = BUF_INIT, out = BUF_INIT;
	char path[4096];
	snprintf(path, sizeof path, "%s/man/qcnn-bytecode.5", tap_srcdir());
	if (buf_read_file(&page, path, 1 << 20, NULL))
		tap_bail("cannot read %s", path);
	char *line = mem_strdup(page.data);      /* lists go on over lines */
	for (char *c = line; (c = strchr(c, '\n')) != NULL;)
		*c = ' ';
#define EXPR(id, text, noperand) listed(line, EXPR_##id, text);
#include "runtime/program/expr.def"
#undef EXPR
#define APPLY(id, text) listed(line, APPLY_##id, text);
#include "runtime/program/apply.def"
#undef APPLY
#define ACTIVATION(id, text) listed(line, ACTIVATION_##id, text);
#include "runtime/program/activation.def"
#undef ACTIVATION
	char *example = strstr(strstr(page.data, ".Sh EXAMPLES"), "qcnn_asm");
	*strstr(example, ".Ed") = 0;
	struct program *p = sample_read(example, NULL);
	if (tap_ok(p != NULL, "the manual's example is read"))
		asm_print(p, &out);
	tap_is_str(out.data, example, "and printed the same");
	free(line);
	program_free(p);
	buf_release(&page);
	buf_release(&out);
}

int main(void)
{
	manual();
	round_trip();
	faults();
	cut();
	return tap_done();
}
