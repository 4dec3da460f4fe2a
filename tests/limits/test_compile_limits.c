/* SPDX-License-Identifier: Apache-2.0
 * The compiler's limits: what is allowed at the limit is refused one beyond, with the
 * limit's own code, and an endless loop ends soon. */
#include <time.h>
#include "compiler/compile.h"
#include "tests/tap.h"

/* Compiles a text; its first diagnostic in one line, "" if there is none. */
static char *first_fault(const char *text)
{
	struct source_set *s = source_set_new();
	struct diags *d = diags_new(s);
	struct buf out = BUF_INIT;
	int file = source_add(s, "model.qcnn", text, strlen(text));
	struct ast *t = lang_parse(d, (uint32_t)file, NULL);

	if (!diags_errors(d))
		lang_resolve(t, d);
	program_free(compile_tree(t, d, NULL));
	buf_str(&out, "");
	if (diags_errors(d))
		diags_print(d, DIAG_SHORT, false, &out);
	ast_free(t);
	diags_free(d);
	source_set_free(s);
	return buf_take(&out);
}

static void check(const char *name, const char *format, long long at, long long beyond, const char *code)
{
	long long n[2] = { at, beyond };

	for (int k = 0; k < 2; k++) {
		struct buf text = BUF_INIT;
		buf_str(&text, "QCNN 1;\n");
		for (const char *p = format; *p; p++)
			if (*p == '$')
				buf_printf(&text, "%lld", n[k]);
			else
				buf_char(&text, *p);
		char *fault = first_fault(text.data);
		bool fine = k ? strstr(fault, code) != NULL : !*fault;
		if (!tap_ok(fine, "%s: %lld %s", name, n[k], k ? "is refused" : "is allowed"))
			tap_note("%s", *fault ? fault : "no fault");
		free(fault);
		buf_release(&text);
	}
}

/* Blocks that call blocks, n deep. */
static void check_depth(void)
{
	for (int n = COMPILE_DEPTH_MAX; n <= COMPILE_DEPTH_MAX + 1; n++) {
		struct buf text = BUF_INIT;
		buf_str(&text, "QCNN 1; qubit q; block b1 a { h a; }\n");
		for (int k = 2; k <= n; k++)
			buf_printf(&text, "block b%d a { b%d a; }\n", k, k - 1);
		buf_printf(&text, "b%d q;\n", n);
		char *fault = first_fault(text.data);
		tap_ok(n > COMPILE_DEPTH_MAX ? strstr(fault, "Q0303") != NULL : !*fault, "blocks %d deep", n);
		free(fault);
		buf_release(&text);
	}
}

/* Loops inside each other, in blocks that call each other: the first call, loops and a call in each block, the gate. */
static void check_nesting(void)
{
	for (int n = COMPILE_NESTING_MAX; n <= COMPILE_NESTING_MAX + 1; n++) {
		struct buf text = BUF_INIT;
		int blocks = 40, each = (n - 2) / blocks - 1, left = n - 2 - blocks * (each + 1);

		buf_str(&text, "QCNN 1; qubit q; block b0 a { x a; }\n");
		for (int k = 1; k <= blocks; k++) {
			buf_printf(&text, "block b%d a { ", k);
			for (int i = 0; i < each + (k <= left); i++)
				buf_str(&text, "for int i in [0:0] ");
			buf_printf(&text, "b%d a; }\n", k - 1);
		}
		buf_printf(&text, "b%d q;\n", blocks);
		char *fault = first_fault(text.data);
		if (!tap_ok(n > COMPILE_NESTING_MAX ? strstr(fault, "Q0303") != NULL : !*fault, "%d statements inside each other", n))
			tap_note("%s", fault);
		free(fault);
		buf_release(&text);
	}
}

/* `if (measure ...)` in `if (measure ...)`: each is a control. */
static void check_conditions(void)
{
	for (int n = PROGRAM_CONTROLS_MAX; n <= PROGRAM_CONTROLS_MAX + 10; n += 10) {
		struct buf text = BUF_INIT;
		buf_str(&text, "QCNN 1; qubit[80] q;");
		for (int k = 0; k < n; k++)
			buf_printf(&text, " if (measure q[%d])", k);
		buf_str(&text, " x q[79];\n");
		char *fault = first_fault(text.data);
		if (!tap_ok(n > PROGRAM_CONTROLS_MAX ? strstr(fault, "Q0308") != NULL : !*fault, "under %d conditions", n))
			tap_note("%s", fault);
		free(fault);
		buf_release(&text);
	}
}

static void check_endless(const char *body, const char *code)
{
	struct buf text = BUF_INIT;
	clock_t start = clock();

	buf_printf(&text, "QCNN 1; qubit[4] q; let w = q; int k = 0; %s\n", body);
	char *fault = first_fault(text.data);
	if (!tap_ok(strstr(fault, code) != NULL, "%s is ended", body))
		tap_note("%s", fault);
	tap_note("after %.2f s", (double)(clock() - start) / CLOCKS_PER_SEC);
	free(fault);
	buf_release(&text);
}

int main(void)
{
	check("qubits", "qubit[$] q; h q[0];", 4096, 4097, "Q0304");
	check("qubits of two registers", "qubit[4000] q; qubit[$] r; h q[0];", 96, 97, "Q0304");
	check("weights", "qubit q; param float[$] t; rx(t[0]) q;", 1 << 24, (1 << 24) + 1, "Q0305");
	check("weights of two groups", "qubit q; param float[16777215] s; param float[$] t; rx(t[0]) q;", 1, 2, "Q0305");
	check("inputs", "input float[$] x; qubit q; rx(x[0]) q;", 1 << 24, (1 << 24) + 1, "Q0308");
	check("outputs", "qubit[24] q; observe probs(q[0:$]);", 19, 20, "Q0307");
	check("outputs of several", "qubit[24] q; observe probs(q[0:18]), probs(q[0:$]);", 18, 19, "Q0307");
	check("outputs of all circuits", "circuit a { qubit[20] q; observe probs(q[0:18]); } circuit b { qubit[21] q; observe probs(q[0:$]); } head (a x, b y) { dense(1); }",
		18, 19, "Q0307");
	check("outputs one by one", "qubit[1024] q; for int k in [1:1024] { observe z(q); } for int k in [1:$] { observe z(q[0]); }",
		0, 1, "Q0307");
	check("range of all numbers", "qubit q; for int k in [-9223372036854775807:$:9223372036854775807] { h q; }",
		1ll << 62, 1, "Q0302");
	check("controls", "qubit[70] q; ctrl($) @ gphase(1) on windows(q, $, 70);", 60, 61, "Q0");
	check("controls in all", "qubit[70] q; ctrl(60) @ x on windows(q, 61, 70); ctrl(59) @ ctrl($) @ x on windows(q, 61, 70);", 1, 2, "Q0308");
	check("calls", "qubit[1024] q; for int k in [1:1024] { h q; } for int k in [1:$] { h q[0]; }", 0, 1, "Q0302");
	check("array", "qubit q; int[$] a; rx(a[0]) q;", 1 << 22, (1 << 22) + 1, "Q0306");
	check("power", "qubit q; pow($) @ s q;", 1 << 20, (1 << 20) + 1, "Q0302");
	check_depth();
	check_nesting();
	check_conditions();
	check_endless("while (len(w) > 1) { k = 1 - k; }", "Q0301");
	check_endless("while (len(w) > 1) { h w; }", "Q0301");
	check_endless("while (len(w) > 1) { k = 1 - k; h w; }", "Q0302");
	check_endless("while (len(w) > 1) { w = w ++ w; }", "Q0306");
	check_endless("while (k < 1) { let c = z(q[0]); for int i in [1:100] { c += c; } }", "Q030");
	check_endless("while (len(w) > 1) { k = 1 - k; param float[1000000] t; }", "Q0221");
	return tap_done();
}
