/* SPDX-License-Identifier: Apache-2.0
 * Matrices of the gates on two qubits, and their derivatives. */
#include "lang/gates_matrix.h"

/* Entry (row, column) of a two-qubit matrix: the block on 01, 10 and the corners 00, 11. */
enum { M00 = 0, M11 = 5, M12 = 6, M21 = 9, M22 = 10, M33 = 15, M03 = 3, M30 = 12 };

static void set_middle(cplx *u, cplx corner0, cplx corner3, cplx u11, cplx u12, cplx u21, cplx u22)
{
	u[M00] = corner0;
	u[M33] = corner3;
	u[M11] = u11;
	u[M12] = u12;
	u[M21] = u21;
	u[M22] = u22;
}

MATRIX(u_swap) { set_middle(u, 1, 1, 0, 1, 1, 0); }
MATRIX(u_iswap) { set_middle(u, 1, 1, 0, J, J, 0); }
MATRIX(u_siswap) { set_middle(u, 1, 1, RSQRT2, RSQRT2 * J, RSQRT2 * J, RSQRT2); }

MATRIX(u_ecr)
{
	u[1] = u[4] = RSQRT2;
	u[3] = cplx_of(0, RSQRT2);
	u[6] = cplx_of(0, -RSQRT2);
	u[9] = cplx_of(0, RSQRT2);
	u[12] = cplx_of(0, -RSQRT2);
	u[11] = u[14] = RSQRT2;
}

MATRIX(u_dcx) { u[0] = u[7] = u[9] = u[14] = 1; }

MATRIX(u_pow_swap)
{
	struct halves h = power_halves(a[0]);
	set_middle(u, 1, 1, h.one, h.g, h.g, h.one);
}

DERIVATIVE(d_pow_swap)
{
	struct halves h = power_derivative(a[0]);
	set_middle(du, 0, 0, h.one, h.g, h.g, h.one);
}

MATRIX(u_pow_iswap)
{
	cplx e = cplx_exp_i_pi(a[0] / 2), is = cplx_of(0, cimag(e));
	set_middle(u, 1, 1, creal(e), is, is, creal(e));
}

DERIVATIVE(d_pow_iswap)
{
	cplx e = PI / 2 * cplx_exp_i_pi(a[0] / 2), ic = cplx_of(0, creal(e));
	set_middle(du, 0, 0, -cimag(e), ic, ic, -cimag(e));
}

/* The rotation by theta of the pair (1,2) or (0,3), with phases e^(+-i beta): entries u[lo], u[hi] on
 * the diagonal, u[up] = -i s e^(-i beta), u[down] = -i s e^(i beta). */
struct pair { unsigned lo, hi, up, down; };
static const struct pair middle = { M11, M22, M12, M21 }, outer = { M00, M33, M03, M30 };

static void set_pair(const struct pair *p, const double *a, cplx *u)
{
	cplx e = cplx_exp_i(a[0] / 2), b = cplx_exp_i(a[1]);
	u[p->lo] = u[p->hi] = creal(e);
	u[p->up] = cplx_mul(cplx_of(0, -cimag(e)), conj(b));
	u[p->down] = cplx_mul(cplx_of(0, -cimag(e)), b);
}

static void derivative_pair(const struct pair *p, const double *a, unsigned k, cplx *du)
{
	cplx e = cplx_exp_i(a[0] / 2), b = cplx_exp_i(a[1]);
	if (k == 0) {
		du[p->lo] = du[p->hi] = -cimag(e) / 2;
		du[p->up] = cplx_mul(cplx_of(0, -creal(e) / 2), conj(b));
		du[p->down] = cplx_mul(cplx_of(0, -creal(e) / 2), b);
	} else {
		du[p->up] = -cimag(e) * conj(b);
		du[p->down] = cimag(e) * b;
	}
}

MATRIX(u_xx_plus_yy)
{
	u[M00] = u[M33] = 1;
	set_pair(&middle, a, u);
}

DERIVATIVE(d_xx_plus_yy) { derivative_pair(&middle, a, k, du); }

MATRIX(u_xx_minus_yy)
{
	u[M11] = u[M22] = 1;
	set_pair(&outer, a, u);
}

DERIVATIVE(d_xx_minus_yy) { derivative_pair(&outer, a, k, du); }

MATRIX(u_ising_xy)
{
	cplx e = cplx_exp_i(a[0] / 2), is = cplx_of(0, cimag(e));
	set_middle(u, 1, 1, creal(e), is, is, creal(e));
}

DERIVATIVE(d_ising_xy)
{
	cplx e = cplx_exp_i(a[0] / 2), ic = cplx_of(0, creal(e) / 2);
	set_middle(du, 0, 0, -cimag(e) / 2, ic, ic, -cimag(e) / 2);
}

/* PennyLane's first wire is the high bit there, the low bit here: hence the signs. */
static void set_excitation(double a, cplx corner, cplx *u)
{
	cplx e = cplx_exp_i(a / 2);
	set_middle(u, corner, corner, creal(e), cimag(e), -cimag(e), creal(e));
}

static void derivative_excitation(double a, cplx corner, cplx *du)
{
	cplx e = cplx_exp_i(a / 2) / 2;
	set_middle(du, corner, corner, -cimag(e), creal(e), -creal(e), -cimag(e));
}

MATRIX(u_excitation) { set_excitation(a[0], 1, u); }

DERIVATIVE(d_excitation) { derivative_excitation(a[0], 0, du); }

MATRIX(u_excitation_plus) { set_excitation(a[0], cplx_exp_i(a[0] / 2), u); }

DERIVATIVE(d_excitation_plus)
{
	derivative_excitation(a[0], cplx_mul(cplx_of(0, 0.5), cplx_exp_i(a[0] / 2)), du);
}

MATRIX(u_excitation_minus) { set_excitation(a[0], cplx_exp_i(-a[0] / 2), u); }

DERIVATIVE(d_excitation_minus)
{
	derivative_excitation(a[0], cplx_mul(cplx_of(0, -0.5), cplx_exp_i(-a[0] / 2)), du);
}

MATRIX(u_pswap)
{
	cplx e = cplx_exp_i(a[0]);
	set_middle(u, 1, 1, 0, e, e, 0);
}

DERIVATIVE(d_pswap)
{
	cplx e = cplx_mul(J, cplx_exp_i(a[0]));
	set_middle(du, 0, 0, 0, e, e, 0);
}

MATRIX(u_fermionic)
{
	cplx e = cplx_exp_i(a[0]);
	set_middle(u, 1, e, (1 + e) / 2, (1 - e) / 2, (1 - e) / 2, (1 + e) / 2);
}

DERIVATIVE(d_fermionic)
{
	cplx e = cplx_mul(J, cplx_exp_i(a[0]));
	set_middle(du, 0, e, e / 2, -e / 2, -e / 2, e / 2);
}

/* A phase on one of the four basis states. */
static void set_phase_on(unsigned at, const double *a, cplx *u)
{
	add_identity(2, 1, u);
	u[at] = cplx_exp_i(a[0]);
}

#define PHASE_ON(name, at) \
	MATRIX(u_##name) { set_phase_on(at, a, u); } \
	DERIVATIVE(d_##name) { du[at] = cplx_mul(J, cplx_exp_i(a[0])); }
PHASE_ON(phase00, M00)
PHASE_ON(phase01, M22)
PHASE_ON(phase10, M11)

MATRIX(u_fsim)
{
	cplx e = cplx_exp_i(a[0]), is = cplx_of(0, -cimag(e));
	set_middle(u, 1, cplx_exp_i(-a[1]), creal(e), is, is, creal(e));
}

DERIVATIVE(d_fsim)
{
	cplx e = cplx_exp_i(a[0]), ic = cplx_of(0, -creal(e));
	if (k == 0)
		set_middle(du, 0, 0, -cimag(e), ic, ic, -cimag(e));
	else
		du[M33] = cplx_mul(cplx_of(0, -1), cplx_exp_i(-a[1]));
}
