/* SPDX-License-Identifier: Apache-2.0
 * Pauli sums of outputs, and probabilities by Walsh sums over products of Z. */
#include "runtime/exec/statevector/pauli_observables.h"

#include "runtime/exec/statevector/plan/plan_stage.h"

bool forms_possible(const struct plan_circuit *c)
{
	for (uint32_t o = 0; o < c->noutput; o++)
		if (c->output[o].kind == OUTPUT_PROBS && c->output[o].nwire > FORMS_PROBS_WIRES_MAX)
			return false;
	return true;
}

/* The product of Z on the wires that `set` names. */
static struct pauli_mask product_of_z(const struct output *o, uint32_t set)
{
	struct pauli_mask m = { 0, 0, 0 };

	for (uint32_t w = 0; w < o->nwire; w++)
		m.sign |= (uint64_t)(set >> w & 1) << o->wire[w];
	return m;
}

uint64_t forms_count(const struct plan_circuit *c)
{
	uint64_t n = 0;

	for (uint32_t o = 0; o < c->noutput; o++)
		n += output_nreadout(&c->output[o]) - (c->output[o].kind == OUTPUT_PROBS);
	return n;
}

static void add_pauli(struct forms *f, const struct output *o, double *constant)
{
	for (uint32_t t = 0; t < o->nterm; t++) {
		const struct pauli_term *term = &o->term[t];

		if (term->nfactor)
			f->term[f->nterm++] =
				(struct form_term){ pauli_mask(term), term->coefficient, f->nform };
		else
			*constant += term->coefficient;
	}
	f->nform++;
}

void forms_of(const struct plan_circuit *c, struct arena *a, struct forms *out)
{
	uint32_t n = 0;

	for (uint32_t o = 0; o < c->noutput; o++)
		n += c->output[o].kind == OUTPUT_PROBS ? output_nreadout(&c->output[o])
						       : c->output[o].nterm;
	*out = (struct forms){ .term = arena_alloc(a, n, sizeof *out->term),
		.constant = arena_alloc(a, c->noutput, sizeof *out->constant) };
	for (uint32_t o = 0; o < c->noutput; o++) {
		if (c->output[o].kind != OUTPUT_PROBS) {
			add_pauli(out, &c->output[o], &out->constant[o]);
			continue;
		}
		for (uint32_t set = 1; set < output_nreadout(&c->output[o]); set++)
			out->term[out->nterm++] =
				(struct form_term){ product_of_z(&c->output[o], set), 1,
					out->nform++ };
	}
	for (uint32_t t = 0; t < out->nterm; t++) {
		struct pauli_mask *m = &out->term[t].mask;

		m->flip = plan_places(c->place, m->flip);
		m->sign = plan_places(c->place, m->sign);
		m->ny %= 4;
	}
}

static double signed_by(uint32_t bits, double x) { return __builtin_parity(bits) ? -x : x; }

void forms_readouts(const struct plan_circuit *c, const struct forms *f, const double *value,
	double *readout)
{
	for (uint32_t o = 0; o < c->noutput; o++) {
		uint32_t nbin = output_nreadout(&c->output[o]);

		if (nbin == 1) {
			*readout++ = f->constant[o] + *value++;
			continue;
		}
		for (uint32_t bin = 0; bin < nbin; bin++) {
			double sum = 1;

			for (uint32_t set = 1; set < nbin; set++)
				sum += signed_by(bin & set, value[set - 1]);
			readout[bin] = sum / nbin;
		}
		readout += nbin;
		value += nbin - 1;
	}
}

void forms_gradient(const struct plan_circuit *c, const double *dreadout, double *dform)
{
	for (uint32_t o = 0; o < c->noutput; o++) {
		uint32_t nbin = output_nreadout(&c->output[o]);

		if (nbin == 1) {
			*dform++ = *dreadout++;
			continue;
		}
		for (uint32_t set = 1; set < nbin; set++) {
			double sum = 0;

			for (uint32_t bin = 0; bin < nbin; bin++)
				sum += signed_by(bin & set, dreadout[bin]);
			*dform++ = sum / nbin;
		}
		dreadout += nbin;
	}
}
