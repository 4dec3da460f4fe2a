/* SPDX-License-Identifier: Apache-2.0
 * Matrices of the base gates and their derivatives by each angle.
 *
 * Every function gets a zeroed matrix and writes what is not zero.  Index bits:
 * the first target is the lowest, so of two targets row 1 is "first 1, second 0".
 * Multiples of a quarter turn of an exponent are exact. */
#include "config.h"
#include "lang/gates.h"

#include <math.h>
#include <string.h>
#include "runtime/base/err.h"

#define RSQRT2 0.70710678118654752440
#define J cplx_of(0, 1)

typedef void (*matrix_fn)(uint8_t word, const double *a, cplx *u);
typedef void (*derivative_fn)(uint8_t word, const double *a, unsigned k, cplx *du);

/* e^(i pi t), exact where t is a multiple of 1/2. */
static cplx exp_i_pi(double t)
{
	double r = t - 2 * rint(t / 2), quarter = rint(2 * r);
	cplx e = cplx_exp_i(PI * (r - quarter / 2));
	double c = creal(e), s = cimag(e);
	switch ((int)quarter & 3) {
	case 1: return cplx_of(-s, c);
	case 2: return cplx_of(-c, -s);
	case 3: return cplx_of(s, -c);
	default: return e;
	}
}

/* ---- Pauli words ---- */

/* u += factor P. */
static void add_word(uint8_t word, cplx factor, cplx *u)
{
	static const signed char quarter[4][2] = { { 1, 0 }, { 0, 1 }, { -1, 0 }, { 0, -1 } };
	unsigned n = gate_word_length(word), flip = 0, sign = 0, ny = 0;
	for (unsigned i = 0; i < n; i++) {
		unsigned letter = word >> 2 * i & 3;
		flip |= (unsigned)(letter != 3) << i;
		sign |= (unsigned)(letter != 1) << i;
		ny += letter == 2;
	}
	cplx q = cplx_mul(factor, cplx_of(quarter[ny % 4][0], quarter[ny % 4][1]));
	for (unsigned c = 0; c < 1u << n; c++)
		u[(c ^ flip) << n | c] += __builtin_parity(c & sign) ? -q : q;
}

static void add_identity(unsigned n, cplx factor, cplx *u)
{
	for (unsigned c = 0; c < 1u << n; c++)
		u[c << n | c] += factor;
}

static void u_pauli(uint8_t word, const double *a, cplx *u)
{
	(void)a;
	add_word(word, 1, u);
}

static void u_rpauli(uint8_t word, const double *a, cplx *u)
{
	cplx e = cplx_exp_i(a[0] / 2);
	add_identity(gate_word_length(word), creal(e), u);
	add_word(word, cplx_of(0, -cimag(e)), u);
}

static void d_rpauli(uint8_t word, const double *a, unsigned k, cplx *du)
{
	(void)k;
	cplx e = cplx_exp_i(a[0] / 2);
	add_identity(gate_word_length(word), -cimag(e) / 2, du);
	add_word(word, cplx_of(0, -creal(e) / 2), du);
}

/* Powers of an involution G: (1+e)/2 + (1-e)/2 G with e = e^(i pi t). */
struct halves { cplx one, g; };

static struct halves power_halves(double t)
{
	cplx e = exp_i_pi(t);
	return (struct halves){ (1 + e) / 2, (1 - e) / 2 };
}

static struct halves power_slope(double t)
{
	cplx e = cplx_mul(cplx_of(0, PI / 2), exp_i_pi(t));
	return (struct halves){ e, -e };
}

static void u_ppauli(uint8_t word, const double *a, cplx *u)
{
	struct halves h = power_halves(a[0]);
	add_identity(gate_word_length(word), h.one, u);
	add_word(word, h.g, u);
}

static void d_ppauli(uint8_t word, const double *a, unsigned k, cplx *du)
{
	(void)k;
	struct halves h = power_slope(a[0]);
	add_identity(gate_word_length(word), h.one, du);
	add_word(word, h.g, du);
}

/* ---- one qubit ---- */

static void set2(cplx *u, cplx u00, cplx u01, cplx u10, cplx u11)
{
	u[0] = u00;
	u[1] = u01;
	u[2] = u10;
	u[3] = u11;
}

#define CONSTANT(name) static void name(uint8_t word, const double *a, cplx *u)
#define NO_ANGLE ((void)word, (void)a)

CONSTANT(u_identity)  { NO_ANGLE; set2(u, 1, 0, 0, 1); }
CONSTANT(u_wait)      { NO_ANGLE; set2(u, 1, 0, 0, 1); }
CONSTANT(u_hadamard)  { NO_ANGLE; set2(u, RSQRT2, RSQRT2, RSQRT2, -RSQRT2); }
CONSTANT(u_phase_s)   { NO_ANGLE; set2(u, 1, 0, 0, J); }
CONSTANT(u_phase_sdg) { NO_ANGLE; set2(u, 1, 0, 0, cplx_of(0, -1)); }
CONSTANT(u_phase_t)   { NO_ANGLE; set2(u, 1, 0, 0, cplx_of(RSQRT2, RSQRT2)); }
CONSTANT(u_phase_tdg) { NO_ANGLE; set2(u, 1, 0, 0, cplx_of(RSQRT2, -RSQRT2)); }

CONSTANT(u_root_x)
{
	NO_ANGLE;
	cplx p = cplx_of(0.5, 0.5), m = cplx_of(0.5, -0.5);
	set2(u, p, m, m, p);
}

CONSTANT(u_root_xdg)
{
	NO_ANGLE;
	cplx p = cplx_of(0.5, 0.5), m = cplx_of(0.5, -0.5);
	set2(u, m, p, p, m);
}

/* Zero, as the matrix was given. */
static void d_wait(uint8_t word, const double *a, unsigned k, cplx *du)
{
	(void)word, (void)a, (void)k, (void)du;
}

static void set_hadamard(struct halves h, cplx *u)
{
	set2(u, h.one + h.g * RSQRT2, h.g * RSQRT2, h.g * RSQRT2, h.one - h.g * RSQRT2);
}

static void u_pow_h(uint8_t word, const double *a, cplx *u)
{
	(void)word;
	set_hadamard(power_halves(a[0]), u);
}

static void d_pow_h(uint8_t word, const double *a, unsigned k, cplx *du)
{
	(void)word, (void)k;
	set_hadamard(power_slope(a[0]), du);
}

static void u_gphase(uint8_t word, const double *a, cplx *u)
{
	(void)word;
	u[0] = cplx_exp_i(a[0]);
}

static void d_gphase(uint8_t word, const double *a, unsigned k, cplx *du)
{
	(void)word, (void)k;
	du[0] = cplx_mul(J, cplx_exp_i(a[0]));
}

static void u_phase_all(uint8_t word, const double *a, cplx *u)
{
	u_gphase(word, a, u);
	u[3] = u[0];
}

static void d_phase_all(uint8_t word, const double *a, unsigned k, cplx *du)
{
	d_gphase(word, a, k, du);
	du[3] = du[0];
}

static void u_phase(uint8_t word, const double *a, cplx *u)
{
	(void)word;
	u[0] = 1;
	u[3] = cplx_exp_i(a[0]);
}

static void d_phase(uint8_t word, const double *a, unsigned k, cplx *du)
{
	(void)word, (void)k;
	du[3] = cplx_mul(J, cplx_exp_i(a[0]));
}

/* The general gate from cos, sin of theta/2 and the phases of its columns and rows. */
static void set_u3(double c, double s, double phi, double lambda, cplx *u)
{
	cplx ep = cplx_exp_i(phi), el = cplx_exp_i(lambda);
	set2(u, c, -s * el, s * ep, c * cplx_mul(ep, el));
}

/* Derivative by theta (k 0), phi (1), lambda (2): phi turns row 1, lambda column 1. */
static void slope_u3(double theta, double phi, double lambda, unsigned k, cplx *du)
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

static void u_u2(uint8_t word, const double *a, cplx *u)
{
	(void)word;
	set_u3(RSQRT2, RSQRT2, a[0], a[1], u);
}

static void d_u2(uint8_t word, const double *a, unsigned k, cplx *du)
{
	(void)word;
	slope_u3(PI / 2, a[0], a[1], k + 1, du);
}

static void u_u3(uint8_t word, const double *a, cplx *u)
{
	(void)word;
	cplx e = cplx_exp_i(a[0] / 2);
	set_u3(creal(e), cimag(e), a[1], a[2], u);
}

static void d_u3(uint8_t word, const double *a, unsigned k, cplx *du)
{
	(void)word;
	slope_u3(a[0], a[1], a[2], k, du);
}

static void multiply2(cplx factor, cplx *u)
{
	for (unsigned i = 0; i < 4; i++)
		u[i] = cplx_mul(factor, u[i]);
}

static void u_u4(uint8_t word, const double *a, cplx *u)
{
	u_u3(word, a, u);
	multiply2(cplx_exp_i(a[3]), u);
}

static void d_u4(uint8_t word, const double *a, unsigned k, cplx *du)
{
	cplx e = cplx_exp_i(a[3]);
	if (k == 3)
		u_u3(word, a, du);
	else
		d_u3(word, a, k, du);
	multiply2(k == 3 ? cplx_mul(J, e) : e, du);
}

static void u_axis(uint8_t word, const double *a, cplx *u)
{
	(void)word;
	cplx e = cplx_exp_i(a[0] / 2), p = cplx_exp_i(a[1]);
	cplx ms = cplx_of(0, -cimag(e));
	set2(u, creal(e), cplx_mul(ms, conj(p)), cplx_mul(ms, p), creal(e));
}

static void d_axis(uint8_t word, const double *a, unsigned k, cplx *du)
{
	(void)word;
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

static void u_rot(uint8_t word, const double *a, cplx *u)
{
	(void)word;
	cplx e = cplx_exp_i(a[1] / 2);
	set_rot(creal(e), cimag(e), a, u);
}

static void d_rot(uint8_t word, const double *a, unsigned k, cplx *du)
{
	(void)word;
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

/* ---- two qubits ---- */

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

CONSTANT(u_swap)   { NO_ANGLE; set_middle(u, 1, 1, 0, 1, 1, 0); }
CONSTANT(u_iswap)  { NO_ANGLE; set_middle(u, 1, 1, 0, J, J, 0); }
CONSTANT(u_siswap) { NO_ANGLE; set_middle(u, 1, 1, RSQRT2, RSQRT2 * J, RSQRT2 * J, RSQRT2); }

CONSTANT(u_ecr)
{
	NO_ANGLE;
	u[1] = u[4] = RSQRT2;
	u[3] = cplx_of(0, RSQRT2);
	u[6] = cplx_of(0, -RSQRT2);
	u[9] = cplx_of(0, RSQRT2);
	u[12] = cplx_of(0, -RSQRT2);
	u[11] = u[14] = RSQRT2;
}

CONSTANT(u_dcx)
{
	NO_ANGLE;
	u[0] = u[7] = u[9] = u[14] = 1;
}

static void u_pow_swap(uint8_t word, const double *a, cplx *u)
{
	(void)word;
	struct halves h = power_halves(a[0]);
	set_middle(u, 1, 1, h.one, h.g, h.g, h.one);
}

static void d_pow_swap(uint8_t word, const double *a, unsigned k, cplx *du)
{
	(void)word, (void)k;
	struct halves h = power_slope(a[0]);
	set_middle(du, 0, 0, h.one, h.g, h.g, h.one);
}

static void u_pow_iswap(uint8_t word, const double *a, cplx *u)
{
	(void)word;
	cplx e = exp_i_pi(a[0] / 2), is = cplx_of(0, cimag(e));
	set_middle(u, 1, 1, creal(e), is, is, creal(e));
}

static void d_pow_iswap(uint8_t word, const double *a, unsigned k, cplx *du)
{
	(void)word, (void)k;
	cplx e = PI / 2 * exp_i_pi(a[0] / 2), ic = cplx_of(0, creal(e));
	set_middle(du, 0, 0, -cimag(e), ic, ic, -cimag(e));
}

/* The rotation by theta of the pair (1,2) or (0,3), turned by beta: entries u[lo], u[hi] on
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

static void slope_pair(const struct pair *p, const double *a, unsigned k, cplx *du)
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

static void u_xx_plus_yy(uint8_t word, const double *a, cplx *u)
{
	(void)word;
	u[M00] = u[M33] = 1;
	set_pair(&middle, a, u);
}

static void d_xx_plus_yy(uint8_t word, const double *a, unsigned k, cplx *du)
{
	(void)word;
	slope_pair(&middle, a, k, du);
}

static void u_xx_minus_yy(uint8_t word, const double *a, cplx *u)
{
	(void)word;
	u[M11] = u[M22] = 1;
	set_pair(&outer, a, u);
}

static void d_xx_minus_yy(uint8_t word, const double *a, unsigned k, cplx *du)
{
	(void)word;
	slope_pair(&outer, a, k, du);
}

static void u_ising_xy(uint8_t word, const double *a, cplx *u)
{
	(void)word;
	cplx e = cplx_exp_i(a[0] / 2), is = cplx_of(0, cimag(e));
	set_middle(u, 1, 1, creal(e), is, is, creal(e));
}

static void d_ising_xy(uint8_t word, const double *a, unsigned k, cplx *du)
{
	(void)word, (void)k;
	cplx e = cplx_exp_i(a[0] / 2), ic = cplx_of(0, creal(e) / 2);
	set_middle(du, 0, 0, -cimag(e) / 2, ic, ic, -cimag(e) / 2);
}

/* PennyLane's first wire is the high bit there, the low bit here: hence the signs. */
static void set_excitation(double a, cplx corner, cplx *u)
{
	cplx e = cplx_exp_i(a / 2);
	set_middle(u, corner, corner, creal(e), cimag(e), -cimag(e), creal(e));
}

static void slope_excitation(double a, cplx corner, cplx *du)
{
	cplx e = cplx_exp_i(a / 2) / 2;
	set_middle(du, corner, corner, -cimag(e), creal(e), -creal(e), -cimag(e));
}

static void u_excitation(uint8_t word, const double *a, cplx *u)
{
	(void)word;
	set_excitation(a[0], 1, u);
}

static void d_excitation(uint8_t word, const double *a, unsigned k, cplx *du)
{
	(void)word, (void)k;
	slope_excitation(a[0], 0, du);
}

static void u_excitation_plus(uint8_t word, const double *a, cplx *u)
{
	(void)word;
	set_excitation(a[0], cplx_exp_i(a[0] / 2), u);
}

static void d_excitation_plus(uint8_t word, const double *a, unsigned k, cplx *du)
{
	(void)word, (void)k;
	slope_excitation(a[0], cplx_mul(cplx_of(0, 0.5), cplx_exp_i(a[0] / 2)), du);
}

static void u_excitation_minus(uint8_t word, const double *a, cplx *u)
{
	(void)word;
	set_excitation(a[0], cplx_exp_i(-a[0] / 2), u);
}

static void d_excitation_minus(uint8_t word, const double *a, unsigned k, cplx *du)
{
	(void)word, (void)k;
	slope_excitation(a[0], cplx_mul(cplx_of(0, -0.5), cplx_exp_i(-a[0] / 2)), du);
}

static void u_pswap(uint8_t word, const double *a, cplx *u)
{
	(void)word;
	cplx e = cplx_exp_i(a[0]);
	set_middle(u, 1, 1, 0, e, e, 0);
}

static void d_pswap(uint8_t word, const double *a, unsigned k, cplx *du)
{
	(void)word, (void)k;
	cplx e = cplx_mul(J, cplx_exp_i(a[0]));
	set_middle(du, 0, 0, 0, e, e, 0);
}

static void u_fermionic(uint8_t word, const double *a, cplx *u)
{
	(void)word;
	cplx e = cplx_exp_i(a[0]);
	set_middle(u, 1, e, (1 + e) / 2, (1 - e) / 2, (1 - e) / 2, (1 + e) / 2);
}

static void d_fermionic(uint8_t word, const double *a, unsigned k, cplx *du)
{
	(void)word, (void)k;
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
	static void u_##name(uint8_t word, const double *a, cplx *u) \
	{ \
		(void)word; \
		set_phase_on(at, a, u); \
	} \
	static void d_##name(uint8_t word, const double *a, unsigned k, cplx *du) \
	{ \
		(void)word, (void)k; \
		du[at] = cplx_mul(J, cplx_exp_i(a[0])); \
	}
PHASE_ON(phase00, M00)
PHASE_ON(phase01, M22)
PHASE_ON(phase10, M11)

/* ---- three qubits ---- */

/* Margolus's gate: x of the third under both, with -1 on 101 and +-i inside the exchange. */
CONSTANT(u_rccx)
{
	NO_ANGLE;
	u[0 * 8 + 0] = u[1 * 8 + 1] = u[2 * 8 + 2] = u[4 * 8 + 4] = u[6 * 8 + 6] = 1;
	u[5 * 8 + 5] = -1;
	u[6 * 8 + 6] = 1;
	u[3 * 8 + 7] = cplx_of(0, -1);
	u[7 * 8 + 3] = J;
}

/* ---- the table ---- */

static const struct { matrix_fn matrix; derivative_fn derivative; } functions[GATE_COUNT] = {
#define GATE(i, n, nc, nt, na, f, b, bw, p, pw, s, u, d, text) [GATE_##i] = { .matrix = u, .derivative = d },
#include "lang/gates.def"
#undef GATE
};

static void clear(enum gate g, uint8_t word, cplx *u)
{
	memset(u, 0, sizeof *u << 2 * gate_ntarget(g, word));
}

void gate_matrix(enum gate g, uint8_t word, const double *angle, cplx *u)
{
	if (!functions[g].matrix)
		BUG("gate %s has no matrix of its own", gate_row(g)->name);
	clear(g, word, u);
	functions[g].matrix(word, angle, u);
}

void gate_derivative(enum gate g, uint8_t word, const double *angle, unsigned k, cplx *du)
{
	if (k >= gate_row(g)->nangle || !functions[g].derivative)
		BUG("gate %s has no angle %u of its own", gate_row(g)->name, k);
	clear(g, word, du);
	functions[g].derivative(word, angle, k, du);
}
