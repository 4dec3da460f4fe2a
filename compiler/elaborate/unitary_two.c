/* SPDX-License-Identifier: Apache-2.0
 * Two-qubit gates as gates on each qubit around one rotation about xx, yy and zz, the Cartan decomposition (Kraus and Cirac,
 * arXiv:quant-ph/0011050, appendix).
 *
 * In the magic basis, gates on single qubits are real and the rotation is diagonal. Hence M = O D P', real orthogonal O and P,
 * where P diagonalises the real and the imaginary part of M' M = P D^2 P' at once. */
#include <math.h>
#include <string.h>

#include "compiler/elaborate/unitary.h"

enum { SWEEPS_MAX = 40 };
#define CONVERGED 2e-16 /* the largest entry off the diagonal */

typedef cplx matrix4[4][4];

/* Columns: the magic basis, Bell states with phases. */
static const matrix4 magic = {
	{ M_SQRT1_2, 0, 0, M_SQRT1_2 *I },
	{ 0, M_SQRT1_2 *I, M_SQRT1_2, 0 },
	{ 0, M_SQRT1_2 *I, -M_SQRT1_2, 0 },
	{ M_SQRT1_2, 0, 0, -M_SQRT1_2 *I },
};

/* out = a b; adjoint_a, adjoint_b: of their conjugate transposes. */
static void multiply(const matrix4 a, bool adjoint_a, const matrix4 b, bool adjoint_b, matrix4 out)
{
	matrix4 r;

	for (unsigned i = 0; i < 4; i++)
		for (unsigned j = 0; j < 4; j++) {
			r[i][j] = 0;
			for (unsigned k = 0; k < 4; k++)
				r[i][j] += cplx_mul(adjoint_a ? conj(a[k][i]) : a[i][k],
					adjoint_b ? conj(b[j][k]) : b[k][j]);
		}
	memcpy(out, r, sizeof r);
}

/* ---- two symmetric matrices that commute ---- */

static void turn(double m[4][4], unsigned p, unsigned q, double c, double s)
{
	for (unsigned k = 0; k < 4; k++) {
		double x = m[k][p], y = m[k][q];

		m[k][p] = c * x + s * y;
		m[k][q] = c * y - s * x;
	}
}

static void turn_both(double m[4][4], unsigned p, unsigned q, double c, double s)
{
	turn(m, p, q, c, s);
	for (unsigned k = 0; k < 4; k++) {
		double x = m[p][k], y = m[q][k];

		m[p][k] = c * x + s * y;
		m[q][k] = c * y - s * x;
	}
}

/* The rotation of rows p and q that is best for both (Cardoso and Souloumiac, SIAM J. Matrix Anal. Appl. 17, 161). */
static bool turn_pair(double a[4][4], double b[4][4], double v[4][4], unsigned p, unsigned q)
{
	double da = a[p][p] - a[q][q], db = b[p][p] - b[q][q], oa = 2 * a[p][q], ob = 2 * b[p][q];
	double on = da * da + db * db - oa * oa - ob * ob, off = 2 * (da * oa + db * ob);
	double theta = atan2(off, on) / 4;

	if (hypot(oa, ob) < CONVERGED)
		return false;
	turn_both(a, p, q, cos(theta), sin(theta));
	turn_both(b, p, q, cos(theta), sin(theta));
	turn(v, p, q, cos(theta), sin(theta));
	return true;
}

static void diagonalise(double a[4][4], double b[4][4], double v[4][4])
{
	bool turned = true;

	for (unsigned i = 0; i < 4; i++)
		for (unsigned j = 0; j < 4; j++)
			v[i][j] = i == j;
	for (unsigned sweep = 0; turned && sweep < SWEEPS_MAX; sweep++) {
		turned = false;
		for (unsigned p = 0; p < 3; p++)
			for (unsigned q = p + 1; q < 4; q++)
				turned |= turn_pair(a, b, v, p, q);
	}
}

static double determinant(const matrix4 m)
{
	double a[4][4], det = 1;

	for (unsigned i = 0; i < 16; i++)
		a[i / 4][i % 4] = creal(m[i / 4][i % 4]);
	for (unsigned k = 0; k < 4; k++) {
		unsigned best = k;

		for (unsigned i = k; i < 4; i++)
			best = fabs(a[i][k]) > fabs(a[best][k]) ? i : best;
		det *= best == k ? a[k][k] : -a[best][k];
		for (unsigned j = 0; j < 4; j++) {
			double x = a[k][j];

			a[k][j] = a[best][j];
			a[best][j] = x;
		}
		for (unsigned i = k + 1; i < 4; i++)
			for (unsigned j = 4; j-- > k;)
				a[i][j] -= a[k][j] * (a[i][k] / a[k][k]);
	}
	return det;
}

static void negate_column(matrix4 m, unsigned k)
{
	for (unsigned i = 0; i < 4; i++)
		m[i][k] = -m[i][k];
}

/* ---- the parts ---- */

/* m = one[1] times one[0], each on its qubit: the largest block of m is a multiple of one[0]. */
static void split(const matrix4 m, cplx one[2][4])
{
	unsigned best = 0;
	double largest = -1;

	for (unsigned b = 0; b < 4; b++) {
		double size = 0;

		for (unsigned k = 0; k < 4; k++)
			size += cabs(m[b / 2 * 2 + k / 2][b % 2 * 2 + k % 2]);
		if (size > largest) {
			largest = size;
			best = b;
		}
	}
	for (unsigned k = 0; k < 4; k++)
		one[0][k] = m[best / 2 * 2 + k / 2][best % 2 * 2 + k % 2];
	double norm = sqrt(creal(cplx_mul(one[0][0], conj(one[0][0]))
		+ cplx_mul(one[0][2], conj(one[0][2]))));
	for (unsigned k = 0; k < 4; k++)
		one[0][k] /= norm;
	for (unsigned b = 0; b < 4; b++) {
		one[1][b] = 0;
		for (unsigned k = 0; k < 4; k++)
			one[1][b] +=
				cplx_mul(conj(one[0][k]), m[b / 2 * 2 + k / 2][b % 2 * 2 + k % 2]) / 2;
	}
}

/* xx, yy or zz */
static void pauli_pair(unsigned axis, matrix4 out)
{
	memset(out, 0, sizeof(matrix4));
	for (unsigned i = 0; i < 4; i++) {
		bool even = i == 0 || i == 3;

		out[i][axis == 2 ? i : 3 - i] = axis == 0 || (even == (axis == 2)) ? 1 : -1;
	}
}

/* exp(-i n pi/2 P) is (-i)^n, times P if n is odd, which goes into `after`. */
static void reduce(double angle[3], double *phase, matrix4 after)
{
	matrix4 pair;

	for (unsigned k = 0; k < 3; k++) {
		double n = rint(angle[k] / PI);

		angle[k] -= n * PI;
		*phase -= n * PI / 2;
		if (fmod(n, 2) == 0)
			continue;
		pauli_pair(k, pair);
		multiply(after, false, pair, false, after);
	}
}

/* re + i im = m' m without conjugation, m being unitary: symmetric, and so are both parts. */
static void square(const matrix4 m, double re[4][4], double im[4][4])
{
	for (unsigned i = 0; i < 4; i++)
		for (unsigned j = i; j < 4; j++) {
			cplx sum = 0;

			for (unsigned k = 0; k < 4; k++)
				sum += cplx_mul(m[k][i], m[k][j]);
			re[i][j] = re[j][i] = creal(sum);
			im[i][j] = im[j][i] = cimag(sum);
		}
}

/* m = o diag(e^(i theta)) p', o and p real and of determinant 1. */
static void factor(const matrix4 m, matrix4 o, double theta[4], matrix4 p)
{
	double re[4][4], im[4][4], v[4][4];

	square(m, re, im);
	diagonalise(re, im, v);
	for (unsigned i = 0; i < 16; i++)
		p[i / 4][i % 4] = v[i / 4][i % 4];
	if (determinant(p) < 0)
		negate_column(p, 0);
	multiply(m, false, p, false, o);
	for (unsigned k = 0; k < 4; k++) {
		theta[k] = atan2(im[k][k], re[k][k]) / 2;
		for (unsigned i = 0; i < 4; i++)
			o[i][k] = creal(cplx_mul(o[i][k], cplx_exp_i(-theta[k])));
	}
	if (determinant(o) < 0) {
		theta[0] += PI;
		negate_column(o, 0);
	}
}

void unitary_two(const cplx u[16], struct two_qubit_parts *out)
{
	matrix4 m, o, p;
	double t[4];

	memcpy(m, u, sizeof m);
	multiply(magic, true, m, false, m);
	multiply(m, false, magic, false, m);
	factor(m, o, t, p);
	/* in the magic basis xx is + + - -, yy - + - +, zz + - - + */
	out->phase = (t[0] + t[1] + t[2] + t[3]) / 4;
	out->angle[0] = (-t[0] - t[1] + t[2] + t[3]) / 2;
	out->angle[1] = (t[0] - t[1] + t[2] - t[3]) / 2;
	out->angle[2] = (-t[0] + t[1] + t[2] - t[3]) / 2;
	multiply(magic, false, o, false, o);
	multiply(o, false, magic, true, o);
	multiply(magic, false, p, true, p);
	multiply(p, false, magic, true, p);
	reduce(out->angle, &out->phase, o);
	split(p, out->before);
	split(o, out->after);
}
