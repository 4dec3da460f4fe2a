/* SPDX-License-Identifier: Apache-2.0
 * A unit on several devices: each has some of its samples, in whole tiles.
 *
 * A tile is computed in the same way wherever it is, readouts are sums of one sample, and the sums of the backward pass are
 * integers with an exponent that is the unit's: how many devices share it changes no bit. */
#include "config.h"
#include "runtime/exec/statevector/cuda/cuda_state.h"

/* The devices of a worker are `share` ones from here on. */
static struct cuda_state **devices_of(struct backend_state *b, unsigned worker)
{
	return b->device + worker * b->share;
}

/* Sets what the k-th of n devices has of a unit. */
static struct cuda_state *take_part(struct cuda_state *s, unsigned k, unsigned n, uint32_t c,
	const struct unit_input *in)
{
	uint32_t tile = cuda_run_samples(s, &s->circuit[c], 1),
		 ntile = (in->count + tile - 1) / tile, each = (ntile + n - 1) / n * tile;

	s->first = k * each < in->count ? k * each : in->count;
	s->part = *in;
	s->part.count = in->count - s->first < each ? in->count - s->first : each;
	s->part.u += s->first;
	if (in->terms)
		s->part.number = unit_numbers(in, s->first);
	s->vector[c] = in->vector[c] + s->first;
	s->part.vector = s->vector;
	return s;
}

void cuda_unit_forward(struct backend_state *b, unsigned worker, uint32_t c,
	const struct unit_input *in, bool keep, double *readout)
{
	struct cuda_state **device = devices_of(b, worker);

#pragma omp parallel for schedule(static, 1) num_threads((int)b->share) if (b->share > 1)
	for (unsigned k = 0; k < b->share; k++) {
		struct cuda_state *s = take_part(device[k], k, b->share, c, in);

		if (s->part.count)
			cuda_state_forward(s, c, &s->part, keep,
				readout + (size_t)s->first * s->circuit[c].plan->nreadout);
	}
}

/* The sums of all parts: not numbers where a device failed or a sum is bad. */
static void add_parts(struct cuda_state **device, unsigned n, uint32_t c, bool good, double *shared,
	double *const *sample)
{
	struct cuda_state *first = device[0];

	for (unsigned k = 1; k < n && device[k]->part.count; k++)
		cuda_move_sums(first, c, device[k]);
	good = good && !first->host.sum[first->circuit[c].sum];
	for (unsigned k = 0; k < n && device[k]->part.count; k++)
		cuda_add_sums(device[k], c, &device[k]->part, good, shared, sample + device[k]->first);
}

/* Of the matrix that no state goes through: the samples in their order. */
static void add_tail(struct cuda_state **device, unsigned n, uint32_t c, const double *dreadout,
	double *shared)
{
	const struct cuda_circuit *first = &device[0]->circuit[c];

	if (!first->takes_tail || !first->tail->observables.step->transition)
		return;
	mem_auto cplx *g = mem_alloc(first->plan->nreadout * cuda_tail_entries(first), sizeof *g);
	for (unsigned k = 0; k < n; k++)
		cuda_tail_add(&device[k]->circuit[c], device[k]->part.count,
			dreadout + (size_t)device[k]->first * first->plan->nreadout, g);
	cuda_tail_gradient(device[0], first, g, shared);
}

void cuda_unit_backward(struct backend_state *b, unsigned worker, uint32_t c,
	const struct unit_input *in, const double *dreadout, double *anti_hermitian_shared,
	double *const *anti_hermitian_sample)
{
	struct cuda_state **device = devices_of(b, worker);
	const struct cuda_circuit *circuit = &device[0]->circuit[c];
	bool good = true;
	int exponent;
	const double *given = cuda_loss_exponent(circuit, in, &exponent) ? NULL : dreadout;

	if (given)
		exponent = cuda_exponent(circuit, in->count, given);
	if (!cuda_has_sums_back(circuit))
		return;
#pragma omp parallel for schedule(static, 1) num_threads((int)b->share) reduction(&& : good) if (b->share > 1)
	for (unsigned k = 0; k < b->share; k++) {
		struct cuda_state *s = take_part(device[k], k, b->share, c, in);

		if (s->part.count)
			good = cuda_state_backward(s, c, &s->part,
				       given ? given + (size_t)s->first * circuit->plan->nreadout
					     : NULL,
				       exponent)
				&& good;
	}
	add_parts(device, b->share, c, good, anti_hermitian_shared, anti_hermitian_sample);
	add_tail(device, b->share, c, dreadout, anti_hermitian_shared);
}

bool cuda_unit_pass(struct backend_state *b, unsigned worker, const struct unit_input *in,
	double *const *readout, bool (*losses)(void *ctx), void *ctx, double *const *dreadout,
	double *anti_hermitian_shared, double *const *anti_hermitian_sample)
{
	struct cuda_state **device = devices_of(b, worker);
	const struct cuda_pass pass = {
		.in = in, .readout = readout, .dreadout = dreadout, .losses = losses, .ctx = ctx
	};
	struct cuda_state *first = device[0];

	if (b->share > 1 || first->plan->nrank_bit
		|| (recorder_on() && !cuda_trace_begin(first) && recorder_keeps_events()))
		return false;
	cuda_state_pass(first, &pass, anti_hermitian_shared, anti_hermitian_sample);
	first->part = *in;
	first->first = 0;
	for (uint32_t c = 0; c < first->plan->ncircuit && losses; c++)
		add_tail(device, b->share, c, dreadout[c], anti_hermitian_shared);
	return true;
}

void cuda_unit_amplitudes(struct backend_state *b, unsigned worker, uint32_t c, uint32_t s,
	uint64_t first, uint64_t n, cplx *out)
{
	struct cuda_state **device = devices_of(b, worker);
	unsigned k = 0;

	while (k + 1 < b->share && s >= device[k]->nsample) /* all but the last part are whole tiles */
		s -= device[k++]->nsample;
	cuda_state_amplitudes(device[k], c, s, first, n, out);
}
