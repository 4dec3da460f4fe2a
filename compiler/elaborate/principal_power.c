/* SPDX-License-Identifier: Apache-2.0
 * Principal powers: one-qubit gates by their axis, families of rotations and
 * powers by their angle. */
#include "compiler/elaborate/elab.h"

#include <math.h>

/* Into (-pi, pi]. */
static double wrap(double phase)
{
	double w = remainder(phase, 2 * PI);

	return w <= -PI ? w + 2 * PI : w;
}

static bool constants(const struct design *d, const struct item *it, double *angle)
{
	for (unsigned k = 0; k < gate_row(it->gate)->nangle; k++)
		if (!exprs_is_const(&d->exprs, it->angle[k], &angle[k]))
			return false;
	return true;
}

/* u = the 2x2 matrix of a one-wire definition. */
static bool small_matrix(const struct design *d, uint32_t matrix, cplx u[4], unsigned depth)
{
	const struct matrix *m = &d->matrix[matrix];

	u[0] = u[3] = 1;
	u[1] = u[2] = 0;
	for (uint32_t i = 0; i < m->nitem; i++) {
		const struct item *it = &m->item[i];
		double angle[GATE_ANGLES_MAX];
		cplx g[4], t[4];
		if (it->gate == GATE_NONE ? depth == 0 || !small_matrix(d, it->ref, g, depth - 1) : !constants(d, it, angle))
			return false;
		if (it->gate != GATE_NONE)
			gate_matrix(it->gate, it->word, angle, g);
		if (it->adjoint) {
			cplx swap = conj(g[1]);
			g[0] = conj(g[0]);
			g[1] = conj(g[2]);
			g[2] = swap;
			g[3] = conj(g[3]);
		}
		for (int r = 0; r < 2; r++)
			for (int c = 0; c < 2; c++)
				t[2 * r + c] = cplx_mul(g[2 * r], u[c]) + cplx_mul(g[2 * r + 1], u[2 + c]);
		for (int k = 0; k < 4; k++)
			u[k] = t[k];
	}
	return true;
}

/* u = e^(i alpha) (cos(beta) - i sin(beta) n.sigma), eigenphases alpha -+ beta;
 * then u^p in the same form, as u3 and a phase (Nielsen and Chuang, eq. 4.9). */
static bool one_wire_power(struct design *d, const cplx u[4], double p, uint32_t *out)
{
	double alpha = carg(cplx_mul(u[0], u[3]) - cplx_mul(u[1], u[2])) / 2;
	cplx back = cplx_exp_i(-alpha), a = cplx_mul(back, u[0]), b = cplx_mul(back, u[1]);
	double sx = -cimag(b), sy = -creal(b), sz = -cimag(a);        /* sin(beta) n */
	double s = sqrt(sx * sx + sy * sy + sz * sz), beta = atan2(s, creal(a));
	double lower = p * wrap(alpha - beta), upper = p * wrap(alpha + beta);
	double alpha2 = (lower + upper) / 2, beta2 = (upper - lower) / 2;
	double k = s > 1e-15 ? sin(beta2) / s : 0, nz = s > 1e-15 ? sz : 0;
	if (s <= 1e-15) {
		alpha2 = p * wrap(alpha + beta);
		beta2 = 0;
	}
	/* v = [[cos - i k nz, -k (sy + i sx)], [k (sy - i sx), ...]], u3 with a phase */
	double re = cos(beta2), im = -k * nz, off = k * hypot(sx, sy);
	double theta = 2 * atan2(fabs(off), hypot(re, im)), half = atan2(-im, re);   /* (phi + lambda) / 2 */
	double turn = off != 0 ? atan2(-k * sx, k * sy) : 0;                          /* (phi - lambda) / 2 */
	double angle[3] = { theta, half + turn, half - turn };
	if (!isfinite(alpha2 - half) || !isfinite(theta))
		return false;
	uint32_t x[3], phase = exprs_const(&d->exprs, alpha2 - half);
	for (int i = 0; i < 3; i++)
		x[i] = exprs_const(&d->exprs, angle[i]);
	struct item v[2] = {
		{ .gate = GATE_U3, .nwire = 1, .angle = { x[0], x[1], x[2] } },
		{ .gate = GATE_PHASE_ALL, .nwire = 1, .angle = { phase } },
	};
	*out = design_matrix(d, "power", 1, v, 2);
	return true;
}

/* Gates on several wires, and how an eigenphase follows from their angle; signs: its negative is an eigenphase, too,
 * and at pi both have the principal phase pi, which the gate cannot have. A gate that is added here gets lines in
 * tests/lang, a phase beyond pi in test_meaning.c, with signs the phase pi in language.txt, and its name in the help of
 * elab_modifier.c. */
static const struct {
	enum gate gate, to;
	double phase_per_angle;
	bool signs;
} family[] = {
	{ GATE_PPAULI, GATE_PPAULI, PI, false },
	{ GATE_POW_SWAP, GATE_POW_SWAP, PI, false },
	{ GATE_RPAULI, GATE_RPAULI, 0.5, true },
	{ GATE_POW_ISWAP, GATE_POW_ISWAP, PI / 2, true },
	{ GATE_SISWAP, GATE_POW_ISWAP, PI / 2, false },
	{ GATE_PHASE_ALL, GATE_PHASE_ALL, 1, false },
};

static bool family_power(struct design *d, const struct item *it, double p, uint32_t *out)
{
	double angle[GATE_ANGLES_MAX] = { 0.5 };

	constants(d, it, angle);
	for (size_t i = 0; i < sizeof family / sizeof *family; i++) {
		if (family[i].gate != it->gate)
			continue;
		double phase = wrap(angle[0] * family[i].phase_per_angle), scaled = p * phase / family[i].phase_per_angle;
		if (!isfinite(scaled))
			return false;
		if (phase == PI && family[i].signs)
			return false;
		uint32_t x = exprs_const(&d->exprs, scaled);
		*out = design_gate(d, "power", family[i].to, it->word, &x);
		return true;
	}
	return false;
}

bool principal_power(struct design *d, uint32_t matrix, double p, uint32_t *out, bool *constant)
{
	const struct item *one = design_single(d, matrix);
	double angle[GATE_ANGLES_MAX];
	cplx u[4];

	*constant = true;
	if (one && one->gate != GATE_NONE && !constants(d, one, angle)) {
		*constant = false;
		return false;
	}
	if (one && !one->adjoint && (one->gate == GATE_PHASE_ALL || d->matrix[matrix].ntarget > 1))
		return family_power(d, one, p, out);
	if (d->matrix[matrix].ntarget > 1)
		return false;
	*constant = small_matrix(d, matrix, u, 64);
	return *constant && one_wire_power(d, u, p, out);
}
