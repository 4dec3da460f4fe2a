/* SPDX-License-Identifier: Apache-2.0
 * Density matrices of a few qubits, and models with noise channels for which they are known. */
#pragma once

#include <math.h>

#include "runtime/base/maths.h"
#include "runtime/program/program.h"

/* ---- density matrices ---- */

enum { DIM_MAX = 16 };

struct density {
	unsigned n, dim;
	cplx rho[DIM_MAX][DIM_MAX];
};

static inline struct density density_zero(unsigned n)
{
	struct density d = { .n = n, .dim = 1u << n };

	d.rho[0][0] = 1;
	return d;
}

/* u on qubit q where all bits of `under` are 1. */
static inline void unitary(struct density *d, const cplx u[4], unsigned q, unsigned under)
{
	unsigned bit = 1u << q;

	for (unsigned i = 0; i < d->dim; i++)
		for (unsigned j = 0; j < d->dim; j++)
			if (!(i & bit) && (i & under) == under) {
				cplx a = d->rho[i][j], b = d->rho[i | bit][j];
				d->rho[i][j] = cplx_mul(u[0], a) + cplx_mul(u[1], b);
				d->rho[i | bit][j] = cplx_mul(u[2], a) + cplx_mul(u[3], b);
			}
	for (unsigned i = 0; i < d->dim; i++)
		for (unsigned j = 0; j < d->dim; j++)
			if (!(j & bit) && (j & under) == under) {
				cplx a = d->rho[i][j], b = d->rho[i][j | bit];
				d->rho[i][j] = cplx_mul(conj(u[0]), a) + cplx_mul(conj(u[1]), b);
				d->rho[i][j | bit] =
					cplx_mul(conj(u[2]), a) + cplx_mul(conj(u[3]), b);
			}
}

/* I, x, y, z */
static const cplx pauli[4][4] = { { 1, 0, 0, 1 }, { 0, 1, 1, 0 },
	{ 0, CMPLX(0, -1), CMPLX(0, 1), 0 }, { 1, 0, 0, -1 } };

static inline void turn(struct density *d, unsigned letter, double angle, unsigned q)
{
	cplx u[4];

	for (unsigned k = 0; k < 4; k++)
		u[k] = cos(angle / 2) * pauli[0][k]
			+ cplx_mul(cplx_of(0, -sin(angle / 2)), pauli[letter][k]);
	unitary(d, u, q, 0);
}

static inline void cx(struct density *d, unsigned control, unsigned target)
{
	unitary(d, pauli[1], target, 1u << control);
}

static inline void mix(struct density *to, double p, const struct density *from)
{
	for (unsigned i = 0; i < to->dim; i++)
		for (unsigned j = 0; j < to->dim; j++)
			to->rho[i][j] += p * from->rho[i][j];
}

/* x, y, z of qubit q with these probabilities. */
static inline void channel(struct density *d, double x, double y, double z, unsigned q)
{
	const double p[4] = { 1 - x - y - z, x, y, z };
	struct density sum = { .n = d->n, .dim = d->dim };

	for (unsigned k = 0; k < 4; k++) {
		struct density one = *d;

		unitary(&one, pauli[k], q, 0);
		mix(&sum, p[k], &one);
	}
	*d = sum;
}

/* Amplitude damping of qubit q. */
static inline void damping(struct density *d, double g, unsigned q)
{
	unsigned bit = 1u << q;

	for (unsigned i = 0; i < d->dim; i++)
		for (unsigned j = 0; j < d->dim; j++)
			if (!(i & bit) && !(j & bit)) {
				d->rho[i][j] += g * d->rho[i | bit][j | bit];
				d->rho[i | bit][j | bit] *= 1 - g;
				d->rho[i][j | bit] *= sqrt(1 - g);
				d->rho[i | bit][j] *= sqrt(1 - g);
			}
}

static inline void depolarise_pair(struct density *d, double p, unsigned q, unsigned r)
{
	struct density sum = { .n = d->n, .dim = d->dim };

	for (unsigned k = 0; k < 16; k++) {
		struct density one = *d;

		unitary(&one, pauli[k % 4], q, 0);
		unitary(&one, pauli[k / 4], r, 0);
		mix(&sum, k ? p / 15 : 1 - p, &one);
	}
	*d = sum;
}

/* The mean of a product of letters, 0 for none on a qubit. */
static inline double mean_of(const struct density *d, const unsigned letter[4])
{
	struct density o = *d;
	double sum = 0;

	for (unsigned q = 0; q < d->n; q++)
		for (unsigned i = 0; letter[q] && i < d->dim; i++)
			for (unsigned j = 0; j < d->dim; j++)
				if (!(i >> q & 1)) {
					const cplx *u = pauli[letter[q]];
					cplx a = o.rho[i][j], b = o.rho[i | 1u << q][j];
					o.rho[i][j] = cplx_mul(u[0], a) + cplx_mul(u[1], b);
					o.rho[i | 1u << q][j] = cplx_mul(u[2], a) + cplx_mul(u[3], b);
				}
	for (unsigned i = 0; i < d->dim; i++)
		sum += creal(o.rho[i][i]);
	return sum;
}

/* ---- one channel ---- */

static const struct {
	const char *call;
	double x, y, z; /* what it is */
} single[] = {
	{ "bit_flip(0.2) q;", 0.2, 0, 0 },
	{ "phase_flip(0.3) q;", 0, 0, 0.3 },
	{ "bit_phase_flip(0.15) q;", 0, 0.15, 0 },
	{ "depolarizing(0.3) q;", 0.1, 0.1, 0.1 },
	{ "depolarizing(1) q;", 1. / 3, 1. / 3, 1. / 3 },
	{ "pauli_channel(0.05, 0.3, 0.2) q;", 0.05, 0.3, 0.2 },
	{ "pauli_channel(0, 0.25, 0.75) q;", 0, 0.25, 0.75 },
	{ "phase_damping(0.75) q;", 0, 0, 0.25 },
	{ "BitFlip(1) q;", 1, 0, 0 },
};

/* ---- a small convolutional network ---- */

static const char network[] =
	"QCNN 1;\n"
	"qubit[4] q;\n"
	"input float x;\n"
	"param float[2] t = {0.3, -0.8};\n"
	"param float[2] s = {1.1, 0.5};\n"
	"block conv(float[2] t) a, b { ry(t[0]) a; ry(t[1]) b; cx a, b; depolarizing(0.08) a, b; }\n"
	"ry(x) q;\n"
	"conv(t) on ring(q);\n"
	"pauli_channel(0.05, 0.02, 0.1) q[1];\n"
	"phase_damping(0.3) q[0];\n"
	"for int i in [0:2:2] { cx q[i], q[i+1]; bit_flip(0.04) q[i+1]; discard q[i]; }\n"
	"rx(each s) on q[{1,3}];\n"
	"cx q[1], q[3];\n"
	"depolarizing(0.06) q[3];\n"
	"observe z(q[3]);\n"
	"observe x(q[3])*z(q[1]);\n";

static inline void conv(struct density *d, unsigned a, unsigned b)
{
	turn(d, PAULI_Y, 0.3, a);
	turn(d, PAULI_Y, -0.8, b);
	cx(d, a, b);
	depolarise_pair(d, 0.08, a, b);
}

static inline struct density network_density(double x)
{
	struct density d = density_zero(4);

	for (unsigned q = 0; q < 4; q++)
		turn(&d, PAULI_Y, x, q);
	conv(&d, 0, 1);
	conv(&d, 2, 3);
	conv(&d, 1, 2);
	conv(&d, 3, 0);
	channel(&d, 0.05, 0.02, 0.1, 1);
	channel(&d, 0, 0, (1 - sqrt(1 - 0.3)) / 2, 0);
	for (unsigned q = 0; q < 4; q += 2) {
		cx(&d, q, q + 1);
		channel(&d, 0.04, 0, 0, q + 1);
	}
	turn(&d, PAULI_X, 1.1, 1);
	turn(&d, PAULI_X, 0.5, 3);
	cx(&d, 1, 3);
	channel(&d, 0.02, 0.02, 0.02, 3);
	return d;
}

/* A readout_gradient_fn whose gradients differ between readouts and samples; ctx: their number. */
__attribute__((unused)) static int given_gradients(void *ctx, uint32_t sample,
	const double *readout, double *dreadout, double *head)
{
	const uint32_t *n = ctx;

	(void)readout, (void)head;
	for (uint32_t k = 0; dreadout && k < *n; k++)
		dreadout[k] = 1 + 0.5 * k - 0.25 * sample;
	return 0;
}
