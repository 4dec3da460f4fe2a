/* SPDX-License-Identifier: Apache-2.0
 * Rotosolve: one weight after the other goes where the loss is least, the others held.
 *
 * By one angle the readouts are trigonometric polynomials; 2n + 1 evaluations give them whole
 * (Wierichs et al., arXiv:2107.12390, eq. 12), and with them the loss on the whole circle, whatever
 * loss and head make of the readouts.  With one frequency and a loss linear in the readouts its
 * minimum is that of Ostaszewski et al., Quantum 5 (2021) 391, eq. 4. */
#include "runtime/train/optimizer/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/maths.h"
#include "runtime/program/spectrum.h"

enum { ROTOSOLVE_POINTS };

/* The readouts of the batch by the angle x of one weight:
 * c[0] + sum_j c[2j - 1] cos(j w x) + c[2j] sin(j w x), c[k] having nvalue numbers. */
struct circle {
	const struct update *u;
	struct probe *p;
	struct err *e;
	struct spectrum s;
	uint32_t weight;
	size_t nvalue;
	double *c, *value;           /* (2n + 1, nvalue), (nvalue) */
	int code;                    /* of the first loss that failed */
};

int check_rotosolve(const struct program *p, struct err *e)
{
	struct spectrum s;
	int code = 0;

	for (uint32_t g = 0; !code && g < p->nweight_group; g++) {
		const struct weight_group *w = &p->weight_group[g];

		if (w->frozen)
			continue;
		if (w->first >= p->nweight_circuit)
			return err_set(e, -ERR_CONFIG,
				"rotosolve optimises angles of gates only, and weight %s belongs to the head",
				w->path);
		for (uint32_t i = w->first; !code && i < w->first + w->count; i++)
			code = weight_spectrum(p, i, &s, e);
	}
	if (code)
		err_prefix(e, "rotosolve");
	return code;
}

/* ---- the circle ---- */

/* The discrete Fourier transform, one evaluation after the other. */
static int fill(struct circle *c)
{
	const uint32_t n = c->s.n, count = 2 * n + 1;
	const double *readout;
	uint32_t nsample;
	int code = 0;

	memset(c->c, 0, count * c->nvalue * sizeof *c->c);
	memcpy(c->p->moved, c->u->weight, c->u->n * sizeof *c->u->weight);
	for (uint32_t k = 0; !code && k < count; k++) {
		double turn = 2 * PI * k / count;

		c->p->moved[c->weight] = turn / c->s.w;
		code = c->p->ops->readouts(c->p, c->p->moved, &readout, &nsample, c->e);
		for (uint32_t j = 0; !code && j < count; j++) {
			double factor = (j ? 2. : 1.) / count * (j % 2 ? cos((j + 1) / 2 * turn) : sin(j / 2 * turn));

			if (!j)
				factor = 1. / count;
			for (size_t i = 0; i < c->nvalue; i++)
				c->c[j * c->nvalue + i] += factor * readout[i];
		}
	}
	return code;
}

/* The loss with the weight at x; infinite once one has failed. */
static double loss_at(struct circle *c, double x)
{
	double loss;

	memcpy(c->value, c->c, c->nvalue * sizeof *c->value);
	for (uint32_t j = 1; j <= 2 * c->s.n; j++) {
		double angle = (j + 1) / 2 * c->s.w * x, factor = j % 2 ? cos(angle) : sin(angle);

		for (size_t i = 0; i < c->nvalue; i++)
			c->value[i] += factor * c->c[j * c->nvalue + i];
	}
	c->p->moved[c->weight] = x;
	if (!c->code)
		c->code = c->p->ops->loss_of(c->p, c->p->moved, c->value, &loss, c->e);
	return c->code ? HUGE_VAL : loss;
}

/* Golden section between a and b, around a point that is lower than both. */
static double least_between(struct circle *c, double a, double b)
{
	const double golden = (sqrt(5) - 1) / 2, small = 1e-9 * (b - a);
	double x = b - golden * (b - a), y = a + golden * (b - a), fx = loss_at(c, x), fy = loss_at(c, y);

	while (b - a > small && !c->code)
		if (fx <= fy) {
			b = y;
			y = x;
			fy = fx;
			fx = loss_at(c, x = b - golden * (b - a));
		} else {
			a = x;
			x = y;
			fx = fy;
			fy = loss_at(c, y = a + golden * (b - a));
		}
	return (a + b) / 2;
}

/* Where in (-T/2, T/2], T being the period, the loss is least: the weight as it is unless another is lower. */
static double least(struct circle *c)
{
	const double period = 2 * PI / c->s.w;
	uint32_t n = (uint32_t)c->u->opt[ROTOSOLVE_POINTS] * (2 * c->s.n + 1);
	double best = -period / 2, lowest = HUGE_VAL, step = period / n, x;

	for (uint32_t k = 0; k < n && !c->code; k++) {
		double at = -period / 2 + (k + 1) * step, loss = loss_at(c, at);

		if (loss < lowest) {
			lowest = loss;
			best = at;
		}
	}
	x = least_between(c, best - step, best + step);
	if (x > period / 2)
		x -= period;
	return loss_at(c, x) < loss_at(c, c->u->weight[c->weight]) ? x : c->u->weight[c->weight];
}

/* ---- a step ---- */

static int turn_weight(const struct update *u, struct probe *p, uint32_t i, struct err *e)
{
	struct circle c = { .u = u, .p = p, .e = e, .weight = i };
	const double *readout;
	uint32_t nsample;
	double best = u->weight[i];
	int code = weight_spectrum(p->program, i, &c.s, e);

	if (!code)
		code = p->ops->readouts(p, NULL, &readout, &nsample, e);
	if (code || !c.s.n)
		return code;
	c.nvalue = (size_t)nsample * p->program->nreadout;
	c.c = mem_try(2 * (size_t)c.s.n + 2, c.nvalue * sizeof *c.c);
	if (!c.c)
		return err_set(e, -ERR_CONFIG, "no memory for %u readouts of a batch", 2 * c.s.n + 1);
	c.value = c.c + (2 * (size_t)c.s.n + 1) * c.nvalue;
	code = fill(&c);
	if (!code)
		best = least(&c);
	free(c.c);
	if (!code)
		code = c.code;
	if (!code)
		u->weight[i] = best;
	return code;
}

int search_rotosolve(const struct update *u, struct probe *p, struct err *e)
{
	double loss;
	int code = p->ops->loss(p, u->weight, &loss, NULL, e);

	if (code)
		return code;
	p->ops->keep(p);
	memset(p->gradient, 0, u->n * sizeof *p->gradient);
	for (uint32_t i = 0; !code && i < p->program->nweight_circuit; i++)
		if (update_moves(u, i))
			code = turn_weight(u, p, i, e);
	return code;
}
