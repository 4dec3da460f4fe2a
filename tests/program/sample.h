/* SPDX-License-Identifier: Apache-2.0
 * A program with something of everything, for the tests of bytes and text. */
#ifndef TESTS_SAMPLE_H
#define TESTS_SAMPLE_H

#include "compiler/compile.h"
#include "tests/tap.h"

static const char sample_text[] =
	"qcnn_asm 1\n"
	"weights\n"
	"  0 \"conv[0].t\" float[2, 2] ~ uniform(0, 6.283185307179586)  ; weights 0 to 3\n"
	"  1 \"conv[0].s\" float ~ normal(0.5, 0.1)\n"
	"  2 \"a \\\"b\\\\\" float[2] ~ values(-0, 1e-300) frozen  ; weights 5 to 6\n"
	"  3 \"empty\" float[0] ~ values()\n"
	"  4 \"head.dense[0].kernel\" float[7, 2] ~ glorot_uniform(7, 2)  ; weights 7 to 20\n"
	"  5 \"head.dense[0].bias\" float[2] ~ values(0, 0)  ; weights 21 to 22\n"
	"  6 \"head.dense[1].kernel\" float[2, 1] ~ glorot_uniform(2, 1)  ; weights 23 to 24\n"
	"  7 \"head.dense[1].bias\" float[1] ~ values(0)\n"
	"inputs\n"
	"  0 \"x\" float[3]\n"
	"  1 \"psi\" state[4]\n"
	"exprs\n"
	"  %0 = weight 0  ; conv[0].t[0, 0]\n"
	"  %1 = weight 6  ; a \"b\\[1]\n"
	"  %2 = input 2  ; x[2]\n"
	"  %3 = const 0.1\n"
	"  %4 = mul %0 %2\n"
	"  %5 = sin %4\n"
	"matrices\n"
	"  m0 1 \"rotate\" {  ; shared\n"
	"    rx(%0) 0\n"
	"    inv pow_z(%1) 0\n"
	"    Rot(%3, %3, %1) 0\n"
	"  }\n"
	"  m1 2 {  ; per sample\n"
	"    m0 1\n"
	"    inv negctrl m0 1 0\n"
	"    rzx(%5) 1 0\n"
	"    ctrl pow_x(%4) 0 1\n"
	"  }\n"
	"  m2 3 \"\" {  ; constant, permutation\n"
	"    ctrl negctrl x 0 1 2\n"
	"  }\n"
	"  m3 1 {  ; constant, diagonal\n"
	"  }\n"
	"circuits\n"
	"  0 \"a\" wires 4 {\n"
	"    register \"q\" 0 3\n"
	"    register \"anc\" 3 1\n"
	"    state(1) 0 1\n"
	"    amplitudes(%2, %4, %3) 3 2 layer 0  ; embed\n"
	"    m0 1 layer 1 span 0  ; conv[0] line 7\n"
	"    inv ctrl negctrl m1 0 3 1 2 span 1  ; line 8\n"
	"    swap 0 1\n"
	"    measure 0\n"
	"    ctrl m0 0 2\n"
	"    discard 3\n"
	"    pauli 0.5 z0 x1 + -1\n"
	"    pauli\n"
	"    probs 2 1\n"
	"  }\n"
	"  1 \"b\" wires 1 {\n"
	"    m0 0\n"
	"    pauli 1 z0\n"
	"  }\n"
	"dense\n"
	"  0: 7 to 2 relu kernel 4 bias 5\n"
	"  1: 2 to 1 linear kernel 6 bias 7\n"
	"layers\n"
	"  0 \"embed\" embed\n"
	"  1 \"conv[0]\"\n"
	"spans\n"
	"  0: 7 3\n"
	"  1: 8 1\n";

/* The program of a text; NULL and the printed faults in *out if it is refused. */
__attribute__((unused)) static struct program *sample_read(const char *text, struct buf *out)
{
	struct source_set *s = source_set_new();
	struct diags *d = diags_new(s);
	int file = source_add(s, "sample.asm", text, strlen(text));
	struct program *p = asm_read(d, (uint32_t)file);
	if (out)
		diags_print(d, DIAG_SHORT, false, out);
	if (!p && diags_errors(d) == 0)
		tap_bail("a refused text without a diagnostic");
	diags_free(d);
	source_set_free(s);
	return p;
}

__attribute__((unused)) static struct program *sample_program(void)
{
	struct buf out = BUF_INIT;
	struct program *p = sample_read(sample_text, &out);
	if (!p)
		tap_bail("the sample is refused: %s", out.data);
	buf_release(&out);
	return p;
}

#endif
