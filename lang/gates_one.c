/* SPDX-License-Identifier: Apache-2.0
 * Matrices of the gates on no qubit and on one, and their derivatives. */
#include "lang/gates_matrix.h"

static void set2(cplx *u, cplx u00, cplx u01, cplx u10, cplx u11)
{
	u[0] = u00;
	u[1] = u01;
	u[2] = u10;
	u[3] = u11;
}

MATRIX(u_identity) { set2(u, 1, 0, 0, 1); }
MATRIX(u_wait) { set2(u, 1, 0, 0, 1); }
MATRIX(u_hadamard) { set2(u, RSQRT2, RSQRT2, RSQRT2, -RSQRT2); }
MATRIX(u_phase_s) { set2(u, 1, 0, 0, J); }
MATRIX(u_phase_sdg) { set2(u, 1, 0, 0, cplx_of(0, -1)); }
MATRIX(u_phase_t) { set2(u, 1, 0, 0, cplx_of(RSQRT2, RSQRT2)); }
MATRIX(u_phase_tdg) { set2(u, 1, 0, 0, cplx_of(RSQRT2, -RSQRT2)); }

MATRIX(u_root_x)
{
	cplx p = cplx_of(0.5, 0.5), m = cplx_of(0.5, -0.5);
	set2(u, p, m, m, p);
}

MATRIX(u_root_xdg)
{
	cplx p = cplx_of(0.5, 0.5), m = cplx_of(0.5, -0.5);
	set2(u, m, p, p, m);
}

/* Zero, as the matrix was given. */
DERIVATIVE(d_wait) {}

static void set_hadamard(struct halves h, cplx *u)
{
	set2(u, h.one + h.g * RSQRT2, h.g * RSQRT2, h.g * RSQRT2, h.one - h.g * RSQRT2);
}

MATRIX(u_pow_h) { set_hadamard(power_halves(a[0]), u); }

DERIVATIVE(d_pow_h) { set_hadamard(power_derivative(a[0]), du); }

MATRIX(u_gphase) { u[0] = cplx_exp_i(a[0]); }

DERIVATIVE(d_gphase) { du[0] = cplx_mul(J, cplx_exp_i(a[0])); }

MATRIX(u_phase_all)
{
	u_gphase(word, a, u);
	u[3] = u[0];
}

DERIVATIVE(d_phase_all)
{
	d_gphase(word, a, k, du);
	du[3] = du[0];
}

MATRIX(u_phase)
{
	u[0] = 1;
	u[3] = cplx_exp_i(a[0]);
}

DERIVATIVE(d_phase) { du[3] = cplx_mul(J, cplx_exp_i(a[0])); }

/* The general gate from cos, sin of theta/2 and the phases of its columns and rows. */
static void set_u3(double c, double s, double phi, double lambda, cplx *u)
{
	cplx ep = cplx_exp_i(phi), el = cplx_exp_i(lambda);
	set2(u, c, -s * el, s * ep, c * cplx_mul(ep, el));
}

/* Derivative by theta (k 0), phi (1), lambda (2): phi turns row 1, lambda column 1. */
static void derivative_u3(double theta, double phi, double lambda, unsigned k, cplx *du)
{
	cplx e = cplx_exp_i(theta / 2);
	if (k == 0) {
		set_u3(-cimag(e) / 2, creal(e) / 2, phi, lambda, du);
		return;
	}
	set_u3(creal(e), cimag(e), phi, lambda, du);
	du[0] = 0;
	du[k == 1 ? 1 : 2] = 0;
	for (unsigned i = 1; i < 4; i++)
		du[i] = cplx_mul(J, du[i]);
}

MATRIX(u_u2) { set_u3(RSQRT2, RSQRT2, a[0], a[1], u); }

DERIVATIVE(d_u2) { derivative_u3(PI / 2, a[0], a[1], k + 1, du); }

MATRIX(u_u3)
{
	cplx e = cplx_exp_i(a[0] / 2);
	set_u3(creal(e), cimag(e), a[1], a[2], u);
}

DERIVATIVE(d_u3) { derivative_u3(a[0], a[1], a[2], k, du); }

static void multiply2(cplx factor, cplx *u)
{
	for (unsigned i = 0; i < 4; i++)
		u[i] = cplx_mul(factor, u[i]);
}

MATRIX(u_u4)
{
	u_u3(word, a, u);
	multiply2(cplx_exp_i(a[3]), u);
}

DERIVATIVE(d_u4)
{
	cplx e = cplx_exp_i(a[3]);
	if (k == 3)
		u_u3(word, a, du);
	else
		d_u3(word, a, k, du);
	multiply2(k == 3 ? cplx_mul(J, e) : e, du);
}

MATRIX(u_axis)
{
	cplx e = cplx_exp_i(a[0] / 2), p = cplx_exp_i(a[1]);
	cplx ms = cplx_of(0, -cimag(e));
	set2(u, creal(e), cplx_mul(ms, conj(p)), cplx_mul(ms, p), creal(e));
}

DERIVATIVE(d_axis)
{
	cplx e = cplx_exp_i(a[0] / 2), p = cplx_exp_i(a[1]);
	if (k == 0) {
		cplx mc = cplx_of(0, -creal(e) / 2);
		set2(du, -cimag(e) / 2, cplx_mul(mc, conj(p)), cplx_mul(mc, p), -cimag(e) / 2);
	} else {
		set2(du, 0, -cimag(e) * conj(p), cimag(e) * p, 0);
	}
}

/* rz(omega) ry(theta) rz(phi) with a = phi, theta, omega: both z angles turn an entry by
 * -+ half their sum (diagonal) or difference. */
static void set_rot(double c, double s, const double *a, cplx *u)
{
	cplx sum = cplx_exp_i((a[0] + a[2]) / 2), dif = cplx_exp_i((a[0] - a[2]) / 2);
	set2(u, c * conj(sum), -s * dif, s * conj(dif), c * sum);
}

MATRIX(u_rot)
{
	cplx e = cplx_exp_i(a[1] / 2);
	set_rot(creal(e), cimag(e), a, u);
}

DERIVATIVE(d_rot)
{
	static const signed char turn[3][4] = { { -1, 1, -1, 1 }, { 0, 0, 0, 0 }, { -1, -1, 1, 1 } };
	cplx e = cplx_exp_i(a[1] / 2);
	if (k == 1) {
		set_rot(-cimag(e) / 2, creal(e) / 2, a, du);
		return;
	}
	set_rot(creal(e), cimag(e), a, du);
	for (unsigned i = 0; i < 4; i++)
		du[i] = cplx_mul(cplx_of(0, turn[k][i] / 2.0), du[i]);
}
