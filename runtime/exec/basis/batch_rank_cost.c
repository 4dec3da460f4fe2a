/* SPDX-License-Identifier: Apache-2.0
 * When batch rank applies and what it costs, counted from the plan alone. */
#include "runtime/exec/basis/basis.h"

#include <math.h>

#include "runtime/exec/basis/batch_rank_projection.h"
#include "runtime/exec/statevector/pauli_observables.h"

/* What an operation costs beside one of a dense step: overlaps and mixtures read more for
 * what they compute, the host's loops are not vectorised as kernels are, and looking for a basis is most of all
 * sines, cosines and random phases. */
struct weights { double overlap, mixture, host, basis; };
static const struct weights plain = { 1, 1, 1, 1 }, measured = { 1.5, 2, 4, 50 };
static const double GAIN = 2;    /* taken where it is at least that much cheaper */
static const double HOST_GFLOP_S = 80; /* of the processor beside a device with memory of its own */

/* Where a device evolves the states, the host's operations take as much longer as it is slower. */
static struct weights weights_of(const struct target *t)
{
	struct weights w = measured;

	if (target_has_memory(t)) {
		w.host *= t->usual_gflop_s / HOST_GFLOP_S;
		w.basis *= t->usual_gflop_s / HOST_GFLOP_S;
	}
	return w;
}

/* ---- does it apply? ---- */

static bool outputs_are_forms(const struct plan *pl)
{
	for (uint32_t c = 0; c < pl->ncircuit; c++)
		if (!forms_possible(&pl->circuit[c]))
			return false;
	return true;
}

/* Overlaps are of states as they lie after the last stage: no exchange follows for products with x or y on bits of ranks. */
static bool reads_after_exchanges(const struct plan *pl)
{
	for (uint32_t c = 0; c < pl->ncircuit; c++)
		if (plan_segment_of(&pl->circuit[c], pl->circuit[c].nstage) + 1
			< pl->circuit[c].nsegment)
			return true;
	return false;
}

static bool encoding_is_trained(const struct plan *pl)
{
	for (uint32_t m = 0; m < pl->set.n; m++)
		if (pl->transition[m] && pl->set.def[m]->cls == VALUE_SAMPLE)
			return true;
	return false;
}

const char *rank_obstacle(const struct plan *pl, bool gradient)
{
	if (!pl->program->ninput)
		return "there are no inputs";
	if (!target_can(pl->target, TARGET_STATE_CACHE))
		return "the device keeps no states side by side";
	if (pl->nrank_bit && !target_can(pl->target, TARGET_SPLIT_OPTIMISED))
		return "states are split over ranks, and the device keeps no parts of them side by side";
	if (!pl->program->nreadout)
		return "there are no outputs";
	if (!outputs_are_forms(pl))
		return "there are probabilities of many qubits";
	if (reads_after_exchanges(pl))
		return "products of x or y are read after another exchange between ranks";
	if (gradient && encoding_is_trained(pl))
		return "matrices depend on inputs and trained weights at once";
	if (sketch_entries(pl) > RANK_ENTRIES_MAX / 16)
		return "the encoding is too large";
	return NULL;
}

/* ---- costs ---- */

/* States that are evolved for n samples: copies fill the lanes of a vector, but not the units of a device. */
static double evolved(const struct plan *pl, uint32_t n)
{
	return pl->target->unit_bits ? n : (double)(plan_units(pl, n) * pl->width);
}

static uint64_t count_terms(const struct plan_circuit *c)
{
	uint64_t n = 0;

	for (uint32_t o = 0; o < c->noutput; o++)
		n += c->output[o].kind == OUTPUT_PROBS ? UINT64_C(1) << c->output[o].nwire : c->output[o].nterm;
	return n;
}

/* Eight operations a complex product: half the pairs forward, all of them back. */
static double combination(const struct plan *pl, double n, uint32_t r, bool gradient, const struct weights *w)
{
	double wide = evolved(pl, r), sum = 0;
	double outer = 8 * n * r * r * pl->program->nreadout;

	for (uint32_t c = 0; c < pl->ncircuit; c++)
		sum += ldexp(8 * wide * wide * (double)count_terms(&pl->circuit[c]), (int)pl->circuit[c].nbit)
			* (w->overlap / 2 + (gradient ? w->mixture : 0));
	return sum + w->host * outer * (gradient ? 1 : 0.5);
}

/* Projections of all samples and two passes over them for every dimension; where the batch comes again, once for many times. */
static double analysis(const struct plan *pl, double n, uint32_t r, bool again)
{
	double columns = 2.0 * r + 8;
	struct weights w = weights_of(pl->target);

	return (again ? w.host : w.basis) * n * columns * 8
		* ((double)sketch_entries(pl) + (double)pl->ncircuit * r);
}

double rank_cost_off(const struct plan *pl, uint32_t nsample, bool gradient)
{
	return plan_effort(pl, gradient) * evolved(pl, nsample);
}

double rank_cost_on(const struct plan *pl, uint32_t nsample, uint32_t r, bool gradient, bool again)
{
	struct weights w = weights_of(pl->target);

	return plan_effort(pl, gradient) * evolved(pl, r)
		+ combination(pl, nsample, r, gradient, &w) + analysis(pl, nsample, r, again);
}

double rank_flops(const struct plan *pl, uint32_t nsample, uint32_t r, bool gradient)
{
	return plan_flops(pl, gradient) * evolved(pl, r)
		+ combination(pl, nsample, r, gradient, &plain);
}

static bool worth(const struct plan *pl, uint32_t nsample, uint32_t r, bool gradient, bool again)
{
	return (uint64_t)r * r * pl->program->nreadout <= RANK_ENTRIES_MAX
		&& (2 * (uint64_t)r + 8) * sketch_entries(pl) <= RANK_ENTRIES_MAX
		&& pl->target->backend->state_cache->bytes(pl, r, 1) <= RANK_BYTES_MAX
		&& GAIN * rank_cost_on(pl, nsample, r, gradient, again)
		<= rank_cost_off(pl, nsample, gradient);
}

/* Costs grow with r. */
uint32_t rank_worth(const struct plan *pl, uint32_t nsample, bool gradient, bool again)
{
	uint32_t low = 0, high = nsample < RANK_MAX ? nsample : RANK_MAX;

	while (low < high) {
		uint32_t middle = low + (high - low + 1) / 2;

		if (worth(pl, nsample, middle, gradient, again))
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}
