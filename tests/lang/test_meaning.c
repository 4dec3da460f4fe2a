/* SPDX-License-Identifier: Apache-2.0
 * Pairs of models that mean the same: the compiler's way of writing modifiers,
 * powers, phases and pooling against a plainer one, as states of a small simulator
 * that starts from each basis state.  Global phases count. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "compiler/compile.h"
#include "runtime/program/matrix.h"
#include "tests/tap.h"
#include "tests/program/own_set.h"

enum { WIRES = 5, DIM = 1 << WIRES };

/* ---- a program's unitary, column by column ---- */

struct built { struct arena arena; struct matrix_set set; cplx *u; double *value; };

static void build(const struct program *p, struct built *b)
{
	double weight[64];

	for (int k = 0; k < 64; k++)
		weight[k] = 0.37 + 0.61 * k;
	arena_init(&b->arena);
	b->value = calloc(p->nexpr + 1, sizeof *b->value);
	own_set(&b->set, p, &b->arena);
	b->u = calloc(b->set.offset[p->nmatrix] + 1, sizeof *b->u);
	program_eval(p, weight, NULL, b->value);
	matrix_build(&b->set, b->value, VALUE_CONSTANT, VALUE_SAMPLE, NULL, b->u, NULL);
}

static void release(struct built *b)
{
	arena_release(&b->arena);
	free(b->value);
	free(b->u);
}

static void swap(const struct apply *a, cplx *s)
{
	unsigned i = 1u << a->wire[0], j = 1u << a->wire[1];

	for (unsigned k = 0; k < DIM; k++)
		if (k & i && !(k & j)) {
			cplx t = s[k];
			s[k] = s[k ^ i ^ j];
			s[k ^ i ^ j] = t;
		}
}

static bool controlled(const struct apply *a, unsigned k)
{
	for (unsigned c = 0; c < a->ncontrol; c++)
		if ((k >> a->wire[c] & 1) != (a->control_ones >> c & 1))
			return false;
	return true;
}

static void unitary(const struct built *b, const struct apply *a, cplx *s)
{
	unsigned n = a->nwire - a->ncontrol, dim = 1u << n, at[8];
	const cplx *u = b->u + b->set.offset[a->matrix];
	cplx t[8];

	for (unsigned k = 0; k < DIM; k++) {
		unsigned low = 0;
		for (unsigned w = 0; w < n; w++)
			low |= k >> a->wire[a->ncontrol + w] & 1;
		if (low || !controlled(a, k))
			continue;
		for (unsigned r = 0; r < dim; r++) {
			at[r] = k;
			for (unsigned w = 0; w < n; w++)
				at[r] |= (r >> w & 1) << a->wire[a->ncontrol + w];
		}
		for (unsigned r = 0; r < dim; r++) {
			t[r] = 0;
			for (unsigned c = 0; c < dim; c++)
				t[r] += (a->adjoint ? conj(u[c * dim + r]) : u[r * dim + c]) * s[at[c]];
		}
		for (unsigned r = 0; r < dim; r++)
			s[at[r]] = t[r];
	}
}

static void run(const struct program *p, cplx s[DIM][DIM])
{
	struct built b;

	build(p, &b);
	for (unsigned from = 0; from < DIM; from++) {
		for (unsigned k = 0; k < DIM; k++)
			s[from][k] = k == from;
		for (uint32_t i = 0; i < p->circuit[0].napply; i++) {
			if (p->circuit[0].apply[i].op == APPLY_UNITARY)
				unitary(&b, &p->circuit[0].apply[i], s[from]);
			if (p->circuit[0].apply[i].op == APPLY_SWAP)
				swap(&p->circuit[0].apply[i], s[from]);
		}
	}
	release(&b);
}

/* ---- models ---- */

static const char prefix[] = "QCNN 1; qubit[5] q; param float[4] t;\n"
	"block u(float s) a, b { rx(s) a; cx a, b; ry(2*s) b; }\n"
	"block wide(float s) a, b, c, d { h a; u(s) a, b; cry(s) c, d; gphase(s); cz a, d; }\n"
	"gate g(a, b) p { rz(a) p; h p; rz(b) p; gphase(0.3); }\n"
	"block pool(float s, float r) a, b { if (measure a) rx(s) b; else rz(r) b; }\n";

static struct program *compile(const char *body, bool passes)
{
	static const char *const all[] = { "fold", "cancel", "cone" };
	struct compile_options o = { .without = all, .nwithout = passes ? 1 : 3 };
	struct source_set *s = source_set_new();
	struct diags *d = diags_new(s);
	struct buf text = BUF_INIT, out = BUF_INIT;

	buf_printf(&text, "%s%s", prefix, body);
	if (passes)
		o.without = all + 2;
	int file = source_add(s, "model.qcnn", text.data, text.len);
	struct ast *t = lang_parse(d, (uint32_t)file, NULL);
	lang_resolve(t, d);
	struct program *p = compile_tree(t, d, &o);
	if (!p) {
		diags_print(d, DIAG_SHORT, false, &out);
		tap_note("%s", out.data);
	}
	ast_free(t);
	diags_free(d);
	source_set_free(s);
	buf_release(&text);
	buf_release(&out);
	return p;
}

static double distance(const char *left, const char *right, bool passes)
{
	static cplx s[2][DIM][DIM];
	double far = 0;

	for (int k = 0; k < 2; k++) {
		struct program *p = compile(k ? right : left, passes);
		if (!p)
			return INFINITY;
		run(p, s[k]);
		program_free(p);
	}
	for (unsigned i = 0; i < DIM; i++)
		for (unsigned k = 0; k < DIM; k++)
			far = tap_worst(far, cabs(s[0][i][k] - s[1][i][k]));
	return far;
}

static const struct {
	const char *left, *right;
} same[] = {
	{ "cx q[0], q[1];", "ctrl @ x q[0], q[1];" },
	{ "negctrl @ ry(t[0]) q[0], q[1];", "x q[0]; cry(t[0]) q[0], q[1]; x q[0];" },
	{ "ctrl @ negctrl @ x q[0], q[1], q[2];", "x q[1]; ccx q[0], q[1], q[2]; x q[1];" },
	{ "ctrl(3) @ z q[0], q[1], q[2], q[3];", "h q[3]; c3x q[0], q[1], q[2], q[3]; h q[3];" },
	{ "inv @ u(t[0]) q[0], q[1];", "ry(-2*t[0]) q[1]; cx q[0], q[1]; rx(-t[0]) q[0];" },
	{ "ctrl @ u(t[0]) q[2], q[0], q[1];",
		"crx(t[0]) q[2], q[0]; ccx q[2], q[0], q[1]; cry(2*t[0]) q[2], q[1];" },
	{ "ctrl @ wide(t[0]) q[4], q[0], q[1], q[2], q[3];",
		"ch q[4], q[0]; ctrl @ u(t[0]) q[4], q[0], q[1]; ctrl @ cry(t[0]) q[4], q[2], q[3]; p(t[0]) q[4]; ccz q[4], q[0], q[3];" },
	{ "inv @ wide(t[0]) q[0], q[1], q[2], q[3];",
		"cz q[0], q[3]; gphase(-t[0]); cry(-t[0]) q[2], q[3]; inv @ u(t[0]) q[0], q[1]; h q[0];" },
	{ "pow(2) @ u(t[0]) q[0], q[1];", "u(t[0]) q[0], q[1]; u(t[0]) q[0], q[1];" },
	{ "pow(-2) @ u(t[0]) q[0], q[1];", "inv @ u(t[0]) q[0], q[1]; inv @ u(t[0]) q[0], q[1];" },
	{ "inv @ pow(2) @ ctrl @ u(t[0]) q[2], q[0], q[1];",
		"ctrl @ pow(-2) @ u(t[0]) q[2], q[0], q[1];" },
	{ "gphase(t[0]); ctrl @ gphase(t[1]) q[3];",
		"p(t[1]) q[3]; p(t[0]) q[1]; x q[1]; p(t[0]) q[1]; x q[1];" },
	{ "negctrl @ gphase(t[0]) q[1];", "x q[1]; p(t[0]) q[1]; x q[1];" },
	{ "ctrl @ negctrl @ gphase(t[0]) q[1], q[2];", "x q[2]; cp(t[0]) q[1], q[2]; x q[2];" },
	{ "ctrl @ g(t[0], t[1]) q[1], q[2];",
		"crz(t[0]) q[1], q[2]; ch q[1], q[2]; crz(t[1]) q[1], q[2]; p(0.3) q[1];" },
	/* powers */
	{ "pow(t[0]) @ x q[0];", "gphase(pi*t[0]/2); rx(pi*t[0]) q[0];" },
	{ "pow(t[0]) @ zz q[0], q[1];", "gphase(pi*t[0]/2); rzz(pi*t[0]) q[0], q[1];" },
	{ "pow(t[0]) @ cx q[0], q[1];", "ctrl @ pow(t[0]) @ x q[0], q[1];" },
	{ "pow(t[0]) @ ctrl @ ctrl @ h q[0], q[1], q[2];",
		"ctrl(2) @ pow(t[0]) @ h q[0], q[1], q[2];" },
	{ "inv @ pow(t[0]) @ iswap q[0], q[1];", "pow(-t[0]) @ iswap q[0], q[1];" },
	{ "pow(1.0) @ swap q[0], q[1];", "swap q[0], q[1];" },
	{ "pow(0.5) @ x q[0];", "sx q[0];" },
	{ "pow(0.5) @ cx q[0], q[1];", "csx q[0], q[1];" },
	{ "pow(0.5) @ z q[0]; pow(0.25) @ z q[1];", "s q[0]; t q[1];" },
	{ "pow(0.5) @ s q[0];", "t q[0];" },
	{ "pow(-0.5) @ s q[0];", "tdg q[0];" },
	{ "pow(2.0) @ s q[0];", "z q[0];" },
	{ "pow(0.25) @ rx(1.2) q[0];", "rx(0.3) q[0];" },
	{ "pow(0.5) @ rx(5*pi/2) q[0];", "gphase(-0.0); rx(-3*pi/4) q[0];" },
	{ "pow(0.5) @ ryz(4.0) q[0], q[1];", "ryz(2.0) q[0], q[1];" },
	{ "pow(0.5) @ rzz(8.0) q[0], q[1];", "rzz(4.0 - 2*pi) q[0], q[1];" },
	{ "pow(0.5) @ pow(0.5) @ y q[0];", "pow(0.25) @ y q[0];" },
	{ "pow(0.5) @ pow(1.5) @ y q[0];", "pow(-0.25) @ y q[0];" },
	{ "pow(0.5) @ iswap q[0], q[1];", "SISWAP q[0], q[1];" },
	{ "pow(0.5) @ SISWAP q[0], q[1];", "pow(0.25) @ iswap q[0], q[1];" },
	{ "pow(0.5) @ pow(3.5) @ iswap q[0], q[1];", "pow(-0.25) @ iswap q[0], q[1];" },
	{ "pow(0.5) @ pow(1.5) @ swap q[0], q[1];", "pow(-0.25) @ swap q[0], q[1];" },
	{ "pow(0.5) @ pow(1.5) @ zz q[0], q[1];", "pow(-0.25) @ zz q[0], q[1];" },
	{ "pow(3) @ pow(1.0/3) @ g(0.4, 1.9) q[0];", "g(0.4, 1.9) q[0];" },
	{ "pow(3) @ pow(1.0/3) @ u3(0.4, 1.9, -2.2) q[0];", "u3(0.4, 1.9, -2.2) q[0];" },
	{ "pow(5) @ pow(0.2) @ sx q[0];", "sx q[0];" },
	{ "pow(2) @ pow(0.5) @ u3(pi, 0.4, 0.1) q[0];", "u3(pi, 0.4, 0.1) q[0];" },
	{ "pow(2) @ pow(0.5) @ rz(2*pi) q[0];", "rz(2*pi) q[0];" },
	{ "ctrl @ pow(2) @ pow(0.5) @ h q[0], q[1];", "ch q[0], q[1];" },
	{ "pow(0.5) @ gphase(1.0);", "gphase(0.5);" },
	{ "pow(0.5) @ gphase(4.0);", "gphase(2.0 - pi);" },
	{ "pow(1000001) @ x q[0];", "x q[0];" },
	/* operands */
	{ "h q;", "for int i in [0:4] { h q[i]; }" },
	{ "cx q[0], q[1:4];", "cx q[0], q[1]; cx q[0], q[2]; cx q[0], q[3]; cx q[0], q[4];" },
	{ "rx(each t) on q[0:3];", "rx(t[0]) q[0]; rx(t[1]) q[1]; rx(t[2]) q[2]; rx(t[3]) q[3];" },
	{ "swap q[0], q[3]; h q[0];", "h q[3]; cx q[0], q[3]; cx q[3], q[0]; cx q[0], q[3];" },
	{ "if (measure q[0]) u(t[0]) q[1], q[2]; else rz(t[1]) q[2];",
		"ctrl @ u(t[0]) q[0], q[1], q[2]; negctrl @ rz(t[1]) q[0], q[2];" },
	{ "pool(t[0], t[1]) on {(q[0], q[1]), (q[0], q[2])};",
		"crx(t[0]) q[0], q[1]; negctrl @ rz(t[1]) q[0], q[1]; crx(t[0]) q[0], q[2]; negctrl @ rz(t[1]) q[0], q[2];" },
	{ "if (measure q[0]) { if (measure q[1]) x q[2]; else h q[2]; }",
		"ccx q[0], q[1], q[2]; ctrl @ negctrl @ h q[0], q[1], q[2];" },
	{ "rc3x q[0], q[1], q[2], q[3]; inv @ rc3x q[0], q[1], q[2], q[3];", "gphase(0);" },
	{ "DoubleExcitation(t[0]) q[0], q[1], q[2], q[3]; inv @ DoubleExcitation(t[0]) q[0], q[1], q[2], q[3];",
		"gphase(0);" },
	{ "DoubleExcitationPlus(t[0]) q[4], q[1], q[0], q[3]; DoubleExcitationMinus(t[0]) q[4], q[1], q[0], q[3];",
		"DoubleExcitation(2*t[0]) q[4], q[1], q[0], q[3];" },
	{ "ctrl @ DoubleExcitationPlus(t[0]) q[2], q[4], q[1], q[0], q[3]; negctrl @ DoubleExcitationPlus(t[0]) q[2], q[4], q[1], q[0], q[3];",
		"DoubleExcitationPlus(t[0]) q[4], q[1], q[0], q[3];" },
	{ "DoubleExcitation(t[0]) q[3], q[1], q[0], q[4];",
		"let a = q[3]; let b = q[1]; let c = q[0]; let d = q[4];"
		"evolve((x(a)*y(b)*x(c)*x(d) + y(a)*x(b)*x(c)*x(d) + y(a)*y(b)*x(c)*y(d) + y(a)*y(b)*y(c)*x(d)"
		" - x(a)*x(b)*x(c)*y(d) - x(a)*x(b)*y(c)*x(d) - x(a)*y(b)*y(c)*y(d) - y(a)*x(b)*y(c)*y(d))/8, t[0]/2);" },
	{ "OrbitalRotation(t[0]) q[3], q[1], q[0], q[4];",
		"FermionicSWAP(pi) q[1], q[0]; SingleExcitation(t[0]) q[3], q[1]; SingleExcitation(t[0]) q[0], q[4]; FermionicSWAP(pi) q[1], q[0];" },
	{ "evolve(z(q[0])*x(q[2]), t[0]/2);", "rzx(t[0]) q[0], q[2];" },
	{ "evolve(z(q[0]) - 0.5 - z(q[0]), t[0]);", "gphase(t[0]/2);" },
	{ "evolve(z(q[4])*z(q[0])*z(q[1])*z(q[3]), t[0]/2);",
		"cx q[0], q[4]; cx q[1], q[4]; cx q[3], q[4]; rz(t[0]) q[4]; cx q[3], q[4]; cx q[1], q[4]; cx q[0], q[4];" },
	{ "evolve(x(q[0])*z(q[1])*y(q[2])*y(q[3])*x(q[4]), t[0]/2);",
		"h q[0]; h q[4]; sdg q[2:3]; h q[2:3]; cx q[0:3], q[4]; rz(t[0]) q[4]; cx q[0:3], q[4]; h q[2:3]; s q[2:3]; h q[0]; h q[4];" },
	{ "evolve(z(q[0])*z(q[1])*z(q[2])*y(q[3])*x(q[4]), t[0]/2);",
		"h q[4]; sdg q[3]; h q[3]; cx q[0:3], q[4]; rz(t[0]) q[4]; cx q[0:3], q[4]; h q[3]; s q[3]; h q[4];" },
	{ "evolve(z(q[0])*z(q[1])*y(q[2])*z(q[3]), t[0]/2);",
		"sdg q[2]; h q[2]; cx q[0:2], q[3]; rz(t[0]) q[3]; cx q[0:2], q[3]; h q[2]; s q[2];" },
	{ "evolve(z(q[0])*z(q[1])*z(q[2])*z(q[3])*x(q[4]), t[0]/2);",
		"h q[4]; cx q[0:3], q[4]; rz(t[0]) q[4]; cx q[0:3], q[4]; h q[4];" },
	{ "evolve(x(q[0]) + z(q[0]), t[0], 3);",
		"for int i in [0:2] { rx(2*t[0]/3) q[0]; rz(2*t[0]/3) q[0]; }" },
	{ "evolve(z(q[0:2]), t[0]);", "rz(2*t[0]) q[0:2];" },
	{ "negctrl @ evolve(x(q[0])*y(q[1])*y(q[2])*z(q[3]), t[0]) q[4]; ctrl @ evolve(x(q[0])*y(q[1])*y(q[2])*z(q[3]), t[0]) q[4];",
		"evolve(x(q[0])*y(q[1])*y(q[2])*z(q[3]), t[0]);" },
	/* passes change nothing */
	{ "u(t[0]) q[0], q[1]; inv @ u(t[0]) q[0], q[1]; rx(0*t[1]) q[2]; h q[3]; h q[3]; cx q[1], q[2];",
		"cx q[1], q[2];" },
};

int main(void)
{
	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		for (int passes = 0; passes < 2; passes++) {
			double d = distance(same[i].left, same[i].right, passes);
			if (!tap_ok(d < 1e-14, "%s", same[i].left))
				tap_note("differs by %g from %s", d, same[i].right);
		}
	/* a test that cannot fail proves nothing */
	tap_ok(distance("h q[0];", "h q[1];", true) > 0.1, "different models differ");
	return tap_done();
}
