/* SPDX-License-Identifier: Apache-2.0
 * A new basis is not believed: a few samples are evolved by themselves. */
#include "config.h"
#include "runtime/exec/basis/batch_rank_state.h"

#include <math.h>
#include <string.h>

enum { PROOF_MAX = 16 };

static double weight_of(const struct rank *k, uint32_t sample)
{
	double sum = 0;

	for (uint32_t i = 0; i < k->r; i++)
		sum += cabs(k->c[(size_t)sample * k->r + i]);
	return sum;
}

/* The samples whose combinations are the largest: as many as a unit holds. */
static uint32_t pick(const struct evaluator *ev, uint32_t *sample)
{
	const struct rank *k = ev->rank;
	uint32_t n = 0, most = ev->pl->width < PROOF_MAX ? ev->pl->width : PROOF_MAX;

	for (uint32_t s = 0; s < k->nsample; s++) {
		double x = weight_of(k, s);
		uint32_t at = n;

		while (at > 0 && weight_of(k, sample[at - 1]) < x)
			at--;
		if (at == most)
			continue;
		n += n < most;
		memmove(sample + at + 1, sample + at, (n - 1 - at) * sizeof *sample);
		sample[at] = s;
	}
	return n;
}

static double tolerance(const struct evaluator *ev, uint32_t sample, double scale)
{
	double w = weight_of(ev->rank, sample), unit = ev->pl->precision == PRECISION_DOUBLE ? 1e-10 : 1e-4;

	return unit * (1 + scale) * (1 + w * w);
}

/* What sample s of the unit reads by itself against what the combination says. */
static int compare(struct evaluator *ev, unsigned worker, uint32_t s, uint32_t sample, struct err *e)
{
	struct scratch *w = &ev->scratch[worker];
	uint32_t row = whole_row(ev->rank, sample);

	rank_combine(ev, worker, sample, w->slope_row);
	for (uint32_t c = 0; c < ev->pl->ncircuit; c++) {
		const struct plan_circuit *pc = &ev->pl->circuit[c];

		for (uint32_t j = 0; j < pc->nreadout; j++) {
			double read = w->readout[c][(size_t)s * pc->nreadout + j], said = w->slope_row[pc->first_readout + j];

			if (isfinite(read) && !(fabs(read - said) <= tolerance(ev, sample, fabs(read))))
				return err_set(e, -ERR_BUG, "sample %u: the shortcut batch_rank reads %.9g where the state reads %.9g; "
					"please report it, and go on without (run.shortcuts: none)", row, said, read);
		}
	}
	return 0;
}

/* Each evolved by itself must read what the combination says. */
static int prove_part(struct evaluator *ev, unsigned worker, uint32_t unit, struct err *e)
{
	struct scratch *w = &ev->scratch[worker];
	struct batch basis = ev->batch;
	uint32_t sample[PROOF_MAX], row[PROOF_MAX], n = pick(ev, sample);
	int code;

	(void)unit;
	for (uint32_t s = 0; s < n; s++)
		row[s] = whole_row(ev->rank, sample[s]);
	ev->batch = (struct batch){ .nsample = n, .row = row, .input = basis.input };
	code = unit_fill(ev, w, 0, n, e);
	ev->batch = basis;
	for (uint32_t c = 0; c < ev->pl->ncircuit && !code; c++)
		ev->backend->forward(ev->state, worker, c, &w->input, false, w->readout[c]);
	for (uint32_t s = 0; s < n && !code; s++)
		code = compare(ev, worker, s, sample[s], e);
	return code;
}

int rank_prove(struct evaluator *ev, struct err *e)
{
	return rank_parts(ev, 1, prove_part, e);
}
