/* SPDX-License-Identifier: Apache-2.0
 * Checks a new basis: a few samples are also evolved by themselves, and compared. */
#include "runtime/exec/basis/basis.h"

#include <math.h>
#include <string.h>

enum { PROOF_MAX = 16 };

static double weight_of(const struct basis *k, uint32_t sample)
{
	double sum = 0;

	for (uint32_t i = 0; i < k->r; i++)
		sum += cabs(k->c[(size_t)sample * k->r + i]);
	return sum;
}

/* The samples whose combinations are the largest: as many as a unit holds. */
static uint32_t pick(const struct basis *k, uint32_t *sample)
{
	uint32_t n = 0, most = k->pl->width < PROOF_MAX ? k->pl->width : PROOF_MAX;

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

static double tolerance(const struct basis *k, uint32_t sample, double scale)
{
	double w = weight_of(k, sample), unit = k->pl->precision == PRECISION_DOUBLE ? 1e-10 : 1e-4;

	return unit * (1 + scale) * (1 + w * w);
}

/* What sample s of the unit reads by itself against what the combination says. */
static int compare(struct basis *k, unsigned worker, uint32_t s, uint32_t sample, struct err *e)
{
	const struct scratch *w = &k->sv->scratch[worker];
	uint32_t row = whole_row(k, sample);

	rank_combine(k, worker, sample, k->read);
	for (uint32_t c = 0; c < k->pl->ncircuit; c++) {
		const struct plan_circuit *pc = &k->pl->circuit[c];

		for (uint32_t j = 0; j < pc->nreadout; j++) {
			double read = w->readout[c][(size_t)s * pc->nreadout + j],
			       said = k->read[pc->first_readout + j];

			if (isfinite(read) && !(fabs(read - said) <= tolerance(k, sample, fabs(read))))
				return err_set(e, -ERR_BUG,
					"sample %u: the exact optimisation batch_rank reads %.9g where the state reads %.9g; "
					"please report it, and go on without (run.optimizations: none)",
					row, said, read);
		}
	}
	return 0;
}

/* Each evolved by itself must read what the combination says. */
static int prove_item(void *ctx, unsigned worker, uint32_t item, struct err *e)
{
	struct basis *k = ctx;
	struct statevector *sv = k->sv;
	struct scratch *w = &sv->scratch[worker];
	struct batch basis = sv->batch;
	uint32_t sample[PROOF_MAX], row[PROOF_MAX], n = pick(k, sample);

	(void)item;
	for (uint32_t s = 0; s < n; s++)
		row[s] = whole_row(k, sample[s]);
	sv->batch = (struct batch){ .nsample = n, .row = row, .input = basis.input };
	int code = unit_fill(sv, w, 0, n, e);
	sv->batch = basis;
	for (uint32_t c = 0; c < sv->pl->ncircuit && !code; c++)
		sv->backend->forward(sv->state, worker, c, &w->input, false, w->readout[c]);
	code = code ? code : statevector_failure(sv, e);
	for (uint32_t s = 0; s < n && !code; s++)
		code = compare(k, worker, s, sample[s], e);
	return code;
}

int rank_prove(struct basis *k, struct err *e) { return basis_items(k, 1, prove_item, k, e); }
