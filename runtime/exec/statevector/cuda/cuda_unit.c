/* SPDX-License-Identifier: Apache-2.0
 * A unit on several devices: each has some of its samples, in whole tiles.
 *
 * A tile is computed in the same way wherever it is, readouts are sums of one sample, and the sums of the backward pass are
 * integers with an exponent that is the unit's: how many devices share it changes no bit. */
#include "config.h"
#include "runtime/exec/statevector/cuda/cuda_state.h"

/* Devices that take part. */
struct team {
	struct cuda_state **device;
	unsigned n;
};

static struct team team_of(struct backend_state *b, unsigned worker)
{
	return (struct team){ b->device + worker * b->share, b->share };
}

/* Sets what device k has of a unit. */
static struct cuda_state *take_part(const struct team *t, unsigned k, uint32_t c,
	const struct unit_input *in)
{
	struct cuda_state *s = t->device[k];
	uint32_t tile = cuda_run_samples(s, &s->circuit[c], 1),
		 ntile = (in->count + tile - 1) / tile, each = (ntile + t->n - 1) / t->n * tile;

	s->first = k * each < in->count ? k * each : in->count;
	s->part = *in;
	s->part.count = in->count - s->first < each ? in->count - s->first : each;
	s->part.u += s->first;
	s->vector[c] = in->vector[c] + s->first;
	s->part.vector = s->vector;
	return s;
}

void cuda_unit_forward(struct backend_state *b, unsigned worker, uint32_t c,
	const struct unit_input *in, bool keep, double *readout)
{
	const struct team t = team_of(b, worker);

#pragma omp parallel for schedule(static, 1) num_threads((int)t.n) if (t.n > 1)
	for (unsigned k = 0; k < t.n; k++) {
		struct cuda_state *s = take_part(&t, k, c, in);

		if (s->part.count)
			cuda_state_forward(s, c, &s->part, keep,
				readout + (size_t)s->first * s->circuit[c].plan->nreadout);
	}
}

/* The sums of all parts: not numbers where a device failed or a sum is bad. */
static void add_parts(const struct team *t, uint32_t c, bool good, double *shared,
	double *const *sample)
{
	struct cuda_state *first = t->device[0];

	for (unsigned k = 1; k < t->n && t->device[k]->part.count; k++)
		cuda_move_sums(first, c, t->device[k]);
	good = good && !first->host.sum[first->circuit[c].sum];
	for (unsigned k = 0; k < t->n && t->device[k]->part.count; k++)
		cuda_add_sums(t->device[k], c, &t->device[k]->part, good, shared,
			sample + t->device[k]->first);
}

/* Of the matrix that no state goes through: the samples in their order. */
static void add_tail(const struct team *t, uint32_t c, const double *dreadout, double *shared)
{
	const struct cuda_circuit *first = &t->device[0]->circuit[c];

	if (!first->takes_tail || !first->tail->observables.step->transition)
		return;
	mem_auto cplx *g = mem_alloc(first->plan->nreadout * cuda_tail_entries(first), sizeof *g);
	for (unsigned k = 0; k < t->n; k++)
		cuda_tail_add(&t->device[k]->circuit[c], t->device[k]->part.count,
			dreadout + (size_t)t->device[k]->first * first->plan->nreadout, g);
	cuda_tail_gradient(t->device[0], first, g, shared);
}

void cuda_unit_backward(struct backend_state *b, unsigned worker, uint32_t c,
	const struct unit_input *in, const double *dreadout, double *anti_hermitian_shared,
	double *const *anti_hermitian_sample)
{
	const struct team t = team_of(b, worker);
	const struct cuda_circuit *circuit = &t.device[0]->circuit[c];
	int exponent = cuda_exponent(circuit, in->count, dreadout);
	bool good = true;

	if (!cuda_has_sums_back(circuit))
		return;
#pragma omp parallel for schedule(static, 1) num_threads((int)t.n) reduction(&& : good) if (t.n > 1)
	for (unsigned k = 0; k < t.n; k++) {
		struct cuda_state *s = take_part(&t, k, c, in);

		if (s->part.count)
			good = cuda_state_backward(s, c, &s->part,
				       dreadout + (size_t)s->first * circuit->plan->nreadout, exponent)
				&& good;
	}
	add_parts(&t, c, good, anti_hermitian_shared, anti_hermitian_sample);
	add_tail(&t, c, dreadout, anti_hermitian_shared);
}

bool cuda_unit_pass(struct backend_state *b, unsigned worker, const struct unit_input *in,
	double *const *readout, bool (*losses)(void *ctx), void *ctx, double *const *dreadout,
	double *anti_hermitian_shared, double *const *anti_hermitian_sample)
{
	const struct team t = team_of(b, worker);
	const struct cuda_pass pass = {
		.in = in, .readout = readout, .dreadout = dreadout, .losses = losses, .ctx = ctx
	};
	struct cuda_state *first = t.device[0];

	if (t.n > 1 || first->plan->nrank_bit
		|| (recorder_on() && !cuda_trace_begin(first) && recorder_keeps_events()))
		return false;
	cuda_state_pass(first, &pass, anti_hermitian_shared, anti_hermitian_sample);
	first->part = *in;
	first->first = 0;
	for (uint32_t c = 0; c < first->plan->ncircuit && losses; c++)
		add_tail(&t, c, dreadout[c], anti_hermitian_shared);
	return true;
}

void cuda_unit_amplitudes(struct backend_state *b, unsigned worker, uint32_t c, uint32_t s,
	uint64_t first, uint64_t n, cplx *out)
{
	const struct team t = team_of(b, worker);
	unsigned k = 0;

	while (k + 1 < t.n && s >= t.device[k]->nsample) /* all but the last part are whole tiles */
		s -= t.device[k++]->nsample;
	cuda_state_amplitudes(t.device[k], c, s, first, n, out);
}
