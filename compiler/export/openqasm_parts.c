/* SPDX-License-Identifier: Apache-2.0
 * The table of gates as products of elementary ones; gates.def says what each gate is. */
#include "compiler/export/openqasm_parts.h"

enum {
	X = 1,
	Y,
	Z,
	XX = X | X << 2,
	YY = Y | Y << 2,
	ZZ = Z | Z << 2,
	XY = X | Y << 2,
	YX = Y | X << 2,
	ZX = Z | X << 2
};

/* Fields: gate, kind, always, word, wires, number, factors of the gate's angles. */
static const struct openqasm_part parts[] = {
	{ GATE_GPHASE, PART_PHASE, false, 0, { 0 }, 0, { 1 } },
	{ GATE_PHASE_ALL, PART_PHASE, false, 0, { 0 }, 0, { 1 } },

	/* H = ry(pi/4) Z ry(-pi/4), in matrix order; Z^t = e^(i pi t/2) rz(pi t). */
	{ GATE_H, PART_ROTATION, true, Y, { 0 }, -PI / 4, { 0 } },
	{ GATE_H, PART_P, false, 0, { 0 }, PI, { 0 } },
	{ GATE_H, PART_ROTATION, true, Y, { 0 }, PI / 4, { 0 } },
	{ GATE_POW_H, PART_ROTATION, true, Y, { 0 }, -PI / 4, { 0 } },
	{ GATE_POW_H, PART_P, false, 0, { 0 }, 0, { PI } },
	{ GATE_POW_H, PART_ROTATION, true, Y, { 0 }, PI / 4, { 0 } },
	{ GATE_S, PART_P, false, 0, { 0 }, PI / 2, { 0 } },
	{ GATE_SDG, PART_P, false, 0, { 0 }, -PI / 2, { 0 } },
	{ GATE_T, PART_P, false, 0, { 0 }, PI / 4, { 0 } },
	{ GATE_TDG, PART_P, false, 0, { 0 }, -PI / 4, { 0 } },
	{ GATE_SX, PART_ROTATION, false, X, { 0 }, PI / 2, { 0 } },
	{ GATE_SX, PART_PHASE, false, 0, { 0 }, PI / 4, { 0 } },
	{ GATE_SXDG, PART_ROTATION, false, X, { 0 }, -PI / 2, { 0 } },
	{ GATE_SXDG, PART_PHASE, false, 0, { 0 }, -PI / 4, { 0 } },
	{ GATE_P, PART_P, false, 0, { 0 }, 0, { 1 } },
	{ GATE_U2, PART_P, false, 0, { 0 }, 0, { 0, 1 } },
	{ GATE_U2, PART_ROTATION, false, Y, { 0 }, PI / 2, { 0 } },
	{ GATE_U2, PART_P, false, 0, { 0 }, 0, { 1 } },
	{ GATE_U3, PART_P, false, 0, { 0 }, 0, { 0, 0, 1 } },
	{ GATE_U3, PART_ROTATION, false, Y, { 0 }, 0, { 1 } },
	{ GATE_U3, PART_P, false, 0, { 0 }, 0, { 0, 1 } },
	{ GATE_U4, PART_P, false, 0, { 0 }, 0, { 0, 0, 1 } },
	{ GATE_U4, PART_ROTATION, false, Y, { 0 }, 0, { 1 } },
	{ GATE_U4, PART_P, false, 0, { 0 }, 0, { 0, 1 } },
	{ GATE_U4, PART_PHASE, false, 0, { 0 }, 0, { 0, 0, 0, 1 } },
	{ GATE_R, PART_ROTATION, true, Z, { 0 }, 0, { 0, -1 } },
	{ GATE_R, PART_ROTATION, false, X, { 0 }, 0, { 1 } },
	{ GATE_R, PART_ROTATION, true, Z, { 0 }, 0, { 0, 1 } },
	{ GATE_ROT, PART_ROTATION, false, Z, { 0 }, 0, { 1 } },
	{ GATE_ROT, PART_ROTATION, false, Y, { 0 }, 0, { 0, 1 } },
	{ GATE_ROT, PART_ROTATION, false, Z, { 0 }, 0, { 0, 0, 1 } },

	/* swap = (1 + xx + yy + zz)/2; iswap = exp(i pi/4 (xx + yy)). */
	{ GATE_SWAP, PART_CX, true, 0, { 0, 1 }, 0, { 0 } },
	{ GATE_SWAP, PART_CX, false, 0, { 1, 0 }, 0, { 0 } },
	{ GATE_SWAP, PART_CX, true, 0, { 0, 1 }, 0, { 0 } },
	{ GATE_POW_SWAP, PART_ROTATION, false, XX, { 0, 1 }, 0, { PI / 2 } },
	{ GATE_POW_SWAP, PART_ROTATION, false, YY, { 0, 1 }, 0, { PI / 2 } },
	{ GATE_POW_SWAP, PART_ROTATION, false, ZZ, { 0, 1 }, 0, { PI / 2 } },
	{ GATE_POW_SWAP, PART_PHASE, false, 0, { 0 }, 0, { PI / 4 } },
	{ GATE_ISWAP, PART_ROTATION, false, XX, { 0, 1 }, -PI / 2, { 0 } },
	{ GATE_ISWAP, PART_ROTATION, false, YY, { 0, 1 }, -PI / 2, { 0 } },
	{ GATE_POW_ISWAP, PART_ROTATION, false, XX, { 0, 1 }, 0, { -PI / 2 } },
	{ GATE_POW_ISWAP, PART_ROTATION, false, YY, { 0, 1 }, 0, { -PI / 2 } },
	{ GATE_SISWAP, PART_ROTATION, false, XX, { 0, 1 }, -PI / 4, { 0 } },
	{ GATE_SISWAP, PART_ROTATION, false, YY, { 0, 1 }, -PI / 4, { 0 } },
	{ GATE_ECR, PART_ROTATION, true, ZX, { 0, 1 }, PI / 4, { 0 } },
	{ GATE_ECR, PART_X, false, 0, { 0 }, 0, { 0 } },
	{ GATE_ECR, PART_ROTATION, true, ZX, { 0, 1 }, -PI / 4, { 0 } },
	{ GATE_DCX, PART_CX, false, 0, { 0, 1 }, 0, { 0 } },
	{ GATE_DCX, PART_CX, false, 0, { 1, 0 }, 0, { 0 } },
	{ GATE_XX_PLUS_YY, PART_P, true, 0, { 1 }, 0, { 0, -1 } },
	{ GATE_XX_PLUS_YY, PART_ROTATION, false, XX, { 0, 1 }, 0, { 0.5 } },
	{ GATE_XX_PLUS_YY, PART_ROTATION, false, YY, { 0, 1 }, 0, { 0.5 } },
	{ GATE_XX_PLUS_YY, PART_P, true, 0, { 1 }, 0, { 0, 1 } },
	{ GATE_XX_MINUS_YY, PART_P, true, 0, { 1 }, 0, { 0, -1 } },
	{ GATE_XX_MINUS_YY, PART_ROTATION, false, XX, { 0, 1 }, 0, { 0.5 } },
	{ GATE_XX_MINUS_YY, PART_ROTATION, false, YY, { 0, 1 }, 0, { -0.5 } },
	{ GATE_XX_MINUS_YY, PART_P, true, 0, { 1 }, 0, { 0, 1 } },
	{ GATE_ISING_XY, PART_ROTATION, false, XX, { 0, 1 }, 0, { -0.5 } },
	{ GATE_ISING_XY, PART_ROTATION, false, YY, { 0, 1 }, 0, { -0.5 } },
	/* exp(i a/4 (xy - yx)); plus and minus: times exp(+-i a/4 (1 + zz)). */
	{ GATE_SINGLE_EXCITATION, PART_ROTATION, false, XY, { 0, 1 }, 0, { -0.5 } },
	{ GATE_SINGLE_EXCITATION, PART_ROTATION, false, YX, { 0, 1 }, 0, { 0.5 } },
	{ GATE_SINGLE_EXCITATION_PLUS, PART_ROTATION, false, XY, { 0, 1 }, 0, { -0.5 } },
	{ GATE_SINGLE_EXCITATION_PLUS, PART_ROTATION, false, YX, { 0, 1 }, 0, { 0.5 } },
	{ GATE_SINGLE_EXCITATION_PLUS, PART_ROTATION, false, ZZ, { 0, 1 }, 0, { -0.5 } },
	{ GATE_SINGLE_EXCITATION_PLUS, PART_PHASE, false, 0, { 0 }, 0, { 0.25 } },
	{ GATE_SINGLE_EXCITATION_MINUS, PART_ROTATION, false, XY, { 0, 1 }, 0, { -0.5 } },
	{ GATE_SINGLE_EXCITATION_MINUS, PART_ROTATION, false, YX, { 0, 1 }, 0, { 0.5 } },
	{ GATE_SINGLE_EXCITATION_MINUS, PART_ROTATION, false, ZZ, { 0, 1 }, 0, { 0.5 } },
	{ GATE_SINGLE_EXCITATION_MINUS, PART_PHASE, false, 0, { 0 }, 0, { -0.25 } },
	{ GATE_PSWAP, PART_ROTATION, false, ZZ, { 0, 1 }, 0, { 1 } },
	{ GATE_PSWAP, PART_PHASE, false, 0, { 0 }, 0, { 0.5 } },
	{ GATE_PSWAP, PART_CX, true, 0, { 0, 1 }, 0, { 0 } },
	{ GATE_PSWAP, PART_CX, false, 0, { 1, 0 }, 0, { 0 } },
	{ GATE_PSWAP, PART_CX, true, 0, { 0, 1 }, 0, { 0 } },
	{ GATE_FERMIONIC_SWAP, PART_ROTATION, false, XX, { 0, 1 }, 0, { 0.5 } },
	{ GATE_FERMIONIC_SWAP, PART_ROTATION, false, YY, { 0, 1 }, 0, { 0.5 } },
	{ GATE_FERMIONIC_SWAP, PART_P, false, 0, { 0 }, 0, { 0.5 } },
	{ GATE_FERMIONIC_SWAP, PART_P, false, 0, { 1 }, 0, { 0.5 } },
	/* On one basis state: p(a) of the second where the first is 0, and so on. */
	{ GATE_CPHASE00, PART_X, true, 0, { 0 }, 0, { 0 } },
	{ GATE_CPHASE00, PART_X, true, 0, { 1 }, 0, { 0 } },
	{ GATE_CPHASE00, PART_CP, false, 0, { 0, 1 }, 0, { 1 } },
	{ GATE_CPHASE00, PART_X, true, 0, { 1 }, 0, { 0 } },
	{ GATE_CPHASE00, PART_X, true, 0, { 0 }, 0, { 0 } },
	{ GATE_CPHASE01, PART_X, true, 0, { 0 }, 0, { 0 } },
	{ GATE_CPHASE01, PART_CP, false, 0, { 0, 1 }, 0, { 1 } },
	{ GATE_CPHASE01, PART_X, true, 0, { 0 }, 0, { 0 } },
	{ GATE_CPHASE10, PART_X, true, 0, { 1 }, 0, { 0 } },
	{ GATE_CPHASE10, PART_CP, false, 0, { 0, 1 }, 0, { 1 } },
	{ GATE_CPHASE10, PART_X, true, 0, { 1 }, 0, { 0 } },
	{ GATE_FSIM, PART_ROTATION, false, XX, { 0, 1 }, 0, { 1 } },
	{ GATE_FSIM, PART_ROTATION, false, YY, { 0, 1 }, 0, { 1 } },
	{ GATE_FSIM, PART_CP, false, 0, { 0, 1 }, 0, { 0, -1 } },

	/* Qiskit's RCCXGate (Maslov, arXiv:1508.03273, fig. 3). */
	{ GATE_RCCX, PART_H, true, 0, { 2 }, 0, { 0 } },
	{ GATE_RCCX, PART_P, true, 0, { 2 }, PI / 4, { 0 } },
	{ GATE_RCCX, PART_CX, false, 0, { 1, 2 }, 0, { 0 } },
	{ GATE_RCCX, PART_P, true, 0, { 2 }, -PI / 4, { 0 } },
	{ GATE_RCCX, PART_CX, false, 0, { 0, 2 }, 0, { 0 } },
	{ GATE_RCCX, PART_P, true, 0, { 2 }, PI / 4, { 0 } },
	{ GATE_RCCX, PART_CX, false, 0, { 1, 2 }, 0, { 0 } },
	{ GATE_RCCX, PART_P, true, 0, { 2 }, -PI / 4, { 0 } },
	{ GATE_RCCX, PART_H, true, 0, { 2 }, 0, { 0 } },
};

size_t openqasm_parts(enum gate g, const struct openqasm_part **part)
{
	size_t n = 0, first = 0;

	while (first < sizeof parts / sizeof *parts && parts[first].of != g)
		first++;
	while (first + n < sizeof parts / sizeof *parts && parts[first + n].of == g)
		n++;
	*part = parts + first;
	return n;
}
