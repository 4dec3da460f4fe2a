/* SPDX-License-Identifier: Apache-2.0
 * Circuits on a state that is planned for several processes, of which each has one or more parts on its device.
 *
 * To kernels on whole states the parts are samples side by side. Tiles and chunks have amplitudes of one part, and sums are
 * integers: which process has a part changes no bit. */
#include "config.h"
#include "runtime/exec/statevector/cuda/cuda_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static unsigned part_bits(const struct cuda_state *b)
{
	return b->plan->nrank_bit - b->process.nbit;
}

/* Number of part k of this process. */
static uint32_t part_number(const struct cuda_state *b, uint32_t k)
{
	return b->process.number << part_bits(b) | k;
}

/* Of the index of all that the process has. */
static unsigned index_bits(const struct cuda_state *b, const struct cuda_circuit *c)
{
	return c->nbit + part_bits(b);
}

/* Parts smaller than tiles have others beside them, which stay 0. */
static bool fills_tiles(const struct cuda_state *b, const struct cuda_circuit *c)
{
	return cuda_run_samples(b, c, 1) == 1;
}

static void clear_state(struct cuda_state *b, const struct cuda_circuit *c, void *state)
{
	cuda_clear(b->stream, state, cuda_amplitude_bytes(b) << (c->nbit + c->nsample_bits));
}

/* ---- the first state ---- */

/* The entries of a vector that the process needs, to `to`, for the bits of its index; returns how many. */
static uint64_t put_vector(const struct plan_step *s, const uint8_t *place, unsigned nbit,
	uint64_t own, const cplx *entry, uint64_t length, struct cuda_vector *v, cplx *to)
{
	uint64_t n = 0, at, fixed = 0;
	unsigned bit[CUDA_BITS_MAX];

	for (unsigned k = 0; k < s->ntarget; k++)
		if (place[s->bit[k]] < nbit) {
			bit[v->nbit] = k;
			v->bit[v->nbit++] = place[s->bit[k]];
		} else {
			fixed |= (own >> place[s->bit[k]] & 1) << k;
		}
	for (; n < UINT64_C(1) << v->nbit; n++) {
		at = fixed;
		for (unsigned k = 0; k < v->nbit; k++)
			at |= (n >> k & 1) << bit[k];
		if (at >= length)
			break;
		to[n] = entry[at];
	}
	return n;
}

static void start(struct cuda_state *b, uint32_t number, const struct unit_input *in)
{
	const struct cuda_circuit *c = &b->circuit[number];
	const struct plan_circuit *pc = c->plan;
	const uint8_t *place = pc->nstage ? pc->stage[0].place : pc->segment[0].place;
	unsigned nbit = index_bits(b, c);
	uint64_t own = (uint64_t)b->process.number << nbit, one = own;
	struct cuda_start a = {
		.psi = b->psi, .zero = (UINT64_C(1) << nbit) - 1, .nbit = nbit, .nsample = 1
	};
	cplx *to = (cplx *)(b->input_host + c->input);

	for (uint32_t k = 0; k < pc->nprepare; k++) {
		const struct plan_step *s = &pc->step[k];
		struct cuda_vector *v = &a.vector[a.nvector++];

		v->entry = (double *)(b->input + c->input) + 2 * a.stride;
		v->length = put_vector(s, place, nbit, own,
			in->vector[number][(size_t)s->matrix * in->nsample],
			in->length[number][s->matrix], v, to + a.stride);
		a.stride += v->length;
		for (unsigned n = 0; n < s->ntarget; n++) {
			a.zero &= ~(UINT64_C(1) << place[s->bit[n]]);
			one &= ~(UINT64_C(1) << place[s->bit[n]]);
		}
	}
	if (one || !fills_tiles(b, c))
		clear_state(b, c, b->psi);
	if (one)
		return;
	cuda_upload(b->stream, b->input + c->input, b->input_host + c->input, a.stride * sizeof(cplx));
	cuda_launch_start(b->stream, &a, b->twice);
}

/* ---- sums of parts ---- */

/* Bits of the number of part `part` in bins of probabilities. */
static size_t bin_of(const struct cuda_circuit *c, const struct cuda_probs *p, uint32_t part)
{
	size_t bin = 0;

	for (unsigned k = 0; k < p->nbin; k++)
		if (p->bit[k] >= c->nbit)
			bin |= (size_t)(part >> (p->bit[k] - c->nbit) & 1) << k;
	return bin;
}

static bool is_minus(const struct cuda_circuit *c, const struct cuda_pauli *p, uint32_t part)
{
	return __builtin_parityll(p->sign >> c->nbit & part);
}

/* Of the readouts, behind their flag (cuda_readout): those of part number `part` are added to sum. */
static void add_part(const struct cuda_circuit *c, uint32_t part, const long long *from, long long *sum)
{
	sum[0] += from[0];
	for (uint32_t k = 0; k < c->npauli; k++)
		sum[1 + k] += is_minus(c, &c->pauli[k], part) ? -from[1 + k] : from[1 + k];
	for (uint32_t k = 0; k < c->nprobs; k++) {
		const struct cuda_probs *p = &c->probs[k];
		size_t others = bin_of(c, p, UINT32_MAX), own = bin_of(c, p, part);

		for (size_t n = 0; n < (size_t)1 << p->nbin; n++)
			if (!(n & others))
				sum[1 + p->sum + (n | own)] += from[1 + p->sum + n];
	}
}

static bool fetch(struct cuda_state *b, size_t first, size_t n, enum profile_phase phase)
{
	cuda_mark(b, EVENT_PHASE, phase);
	cuda_fetch_sums(b, first, first + n);
	return cuda_finish(b);
}

static bool fetch_readouts(struct cuda_state *b, const struct cuda_circuit *c)
{
	size_t n = 1 + c->nsum_readout;
	long long *sum, *host = b->sum_host + c->readout_sum;
	bool good = fetch(b, c->readout_sum, cuda_nparts(b) * n, PHASE_FORWARD);

	sum = mem_alloc(n, sizeof *sum);
	for (uint32_t k = 0; k < cuda_nparts(b) && good; k++)
		add_part(c, part_number(b, k), host + k * n, sum);
	good = cuda_add_processes(b, sum, n);
	memcpy(host, sum, n * sizeof *sum);
	free(sum);
	return good && !*host;
}

/* ---- forward ---- */

static void normalise(struct cuda_state *b, const struct cuda_circuit *c)
{
	struct cuda_terms norm = { .to = { .psi = b->psi,
					   .sum = b->sum,
					   .nbit = c->nbit,
					   .nsample = cuda_nparts(b),
					   .stride = 1 },
		.nterm = 1 };
	struct cuda_scale scale = { .psi = b->psi,
		.factor = b->factor + c->norm_factor,
		.nbit = index_bits(b, c),
		.nsample = 1 };
	long long *sum = b->sum_host + c->norm_sum;
	double *factor = b->factor_host + c->norm_factor;
	size_t n = 2 * (size_t)cuda_nparts(b);
	bool good;

	cuda_clear_sums(b, c->norm_sum, c->norm_sum + n);
	cuda_launch_expect(b->stream, &norm, b->twice);
	good = fetch(b, c->norm_sum, n, PHASE_FORWARD);
	for (size_t k = 2; k < n && good; k++)
		sum[k % 2] += sum[k];
	good = cuda_add_processes(b, sum, 2);
	*factor = good && !sum[0] ? 1 / sqrt(cuda_sum_value(b, c->norm_sum + 1)) : NAN;
	cuda_upload(b->stream, b->factor + c->norm_factor, factor, sizeof *factor);
	cuda_launch_scale(b->stream, &scale, b->twice);
	cuda_wait(b->stream); /* the host's factor is used again */
	cuda_mark(b, EVENT_PHASE, PHASE_NONE);
}

static uint64_t blocks(const struct cuda_state *b, const struct cuda_circuit *c,
	const struct cuda_launch *l)
{
	return cuda_blocks(l, cuda_run_samples(b, c, 1));
}

/* Up to the segment of the last stage. */
static void evolve(struct cuda_state *b, uint32_t number, const struct unit_input *in)
{
	struct cuda_circuit *c = &b->circuit[number];
	const struct plan_stage *s = c->plan->stage;

	free(b->shown);
	b->shown = NULL;
	cuda_store_matrices(b, c, true, in->u[0]);
	cuda_mark(b, EVENT_PHASE, PHASE_NONE);
	start(b, number, in);
	cuda_mark(b, EVENT_PHASE, PHASE_ENCODING);
	for (uint32_t k = 0; k < c->plan->nstage; k++) {
		if (k)
			cuda_exchange(b, number, b->psi, s[k - 1].segment + 1, s[k].segment, false);
		cuda_range_begin("forward stage", k);
		for (const struct cuda_launch *l = c->forward[k]; l; l = l->next)
			if (!l->idle)
				cuda_launch_forward(b->stream, &l->args, blocks(b, c, l), b->twice);
		cuda_range_end();
		cuda_mark(b, EVENT_FORWARD, number << 16 | k);
	}
	if (plan_deep(c->plan))
		normalise(b, c);
	b->holds = number;
	b->nsample = 1;
}

/* The segment behind the last stage, in which probabilities are read; products are in this one and those behind it. */
static uint32_t first_reading(const struct cuda_circuit *c)
{
	return plan_segment_of(c->plan, c->plan->nstage);
}

static bool is_read(const struct cuda_circuit *c, uint32_t group, uint32_t segment)
{
	return c->plan->nsegment == 1 || c->pauli[c->group[group]].segment == segment;
}

void cuda_split_forward(struct cuda_state *b, uint32_t number, const struct unit_input *in,
	double *readout)
{
	struct cuda_circuit *c = &b->circuit[number];
	uint32_t last = c->plan->nsegment - 1;
	const char *why;

	cuda_place(b, 1, b->gradient, true);
	cuda_range_begin("circuit, forward", number);
	evolve(b, number, in);
	cuda_clear_sums(b, c->readout_sum, c->readout_sum + cuda_nparts(b) * (1 + c->nsum_readout));
	for (uint32_t k = 0; k < c->nprobs; k++) {
		struct cuda_bins a = cuda_bins_of(b, c, cuda_nparts(b), &c->probs[k]);

		cuda_launch_bins(b->stream, &a, b->twice);
	}
	for (uint32_t segment = first_reading(c); segment <= last; segment++) {
		for (uint32_t k = 0; k < cuda_groups(c); k++) {
			struct cuda_terms a = cuda_terms_of(b, c, cuda_nparts(b), k);

			if (is_read(c, k, segment))
				cuda_launch_expect(b->stream, &a, b->twice);
		}
		if (segment < last)
			cuda_exchange(b, number, b->psi, segment + 1, segment + 1, false);
	}
	cuda_read_sums(b, c, c->readout_sum + 1, fetch_readouts(b, c), readout);
	cuda_range_end();
	b->worked = b->worked || !cuda_stream_failure(b->stream, &why);
}

/* ---- backward ---- */

/* Of all parts, side by side. */
static void upload_factors(struct cuda_state *b, const struct cuda_circuit *c,
	const double *dreadout, int exponent)
{
	double *to = b->factor_host + c->factor;

	memset(to, 0, cuda_nparts(b) * c->nsum_readout * sizeof *to);
	for (uint32_t part = 0; part < cuda_nparts(b); part++, to += c->nsum_readout) {
		uint32_t number = part_number(b, part);

		for (uint32_t k = 0; k < c->npauli; k++) {
			const struct cuda_pauli *p = &c->pauli[k];
			double f = cuda_factor(p, dreadout[p->readout], exponent);

			to[k] = is_minus(c, p, number) ? -f : f;
		}
		for (uint32_t k = 0; k < c->nprobs; k++) {
			const struct cuda_probs *p = &c->probs[k];
			size_t own = bin_of(c, p, number);

			for (size_t n = 0; n < (size_t)1 << p->nbin; n++)
				to[p->sum + n] = ldexp(dreadout[p->readout + (n | own)], -exponent);
		}
	}
	cuda_upload(b->stream, b->factor + c->factor, b->factor_host + c->factor,
		cuda_nparts(b) * c->nsum_readout * sizeof *b->factor_host);
}

/* psi goes from the last segment to that of the last stage, and lambda is there. */
static void make_lambda(struct cuda_state *b, uint32_t number, const double *dreadout, int exponent)
{
	const struct cuda_circuit *c = &b->circuit[number];
	bool add = false;

	upload_factors(b, c, dreadout, exponent);
	if (!fills_tiles(b, c))
		clear_state(b, c, b->lambda);
	for (uint32_t segment = c->plan->nsegment - 1;; segment--) {
		for (uint32_t k = 0; k < c->ngroup; k++) {
			struct cuda_terms a = cuda_terms_of(b, c, cuda_nparts(b), k);

			if (!is_read(c, k, segment))
				continue;
			a.to.add = add;
			cuda_launch_lambda(b->stream, &a, b->twice);
			add = true;
		}
		if (segment == first_reading(c))
			break;
		if (!add)
			clear_state(b, c, b->lambda);
		add = true;
		cuda_exchange(b, number, b->psi, segment, segment, true);
		cuda_exchange(b, number, b->lambda, segment, segment, true);
	}
	for (uint32_t k = 0; k < c->nprobs; k++, add = true) {
		struct cuda_bins a = cuda_bins_of(b, c, cuda_nparts(b), &c->probs[k]);

		a.to.add = add;
		cuda_launch_lambda_bins(b->stream, &a, b->twice);
	}
	if (c->nproduct) { /* last, as where states are not split */
		struct cuda_terms a = cuda_terms_of(b, c, cuda_nparts(b), c->ngroup);

		a.to.add = add;
		cuda_launch_lambda(b->stream, &a, b->twice);
		add = true;
	}
	if (!add)
		clear_state(b, c, b->lambda);
}

static void go_back(struct cuda_state *b, uint32_t number)
{
	const struct cuda_circuit *c = &b->circuit[number];
	const struct plan_stage *s = c->plan->stage;

	for (uint32_t k = c->plan->nstage; k-- > 0;) {
		if (s[k].first + s[k].count <= c->plan->first_transition)
			break;
		if (k + 1 < c->plan->nstage) {
			cuda_exchange(b, number, b->psi, s[k].segment + 1, s[k + 1].segment, true);
			cuda_exchange(b, number, b->lambda, s[k].segment + 1, s[k + 1].segment, true);
		}
		cuda_range_begin("backward stage", k);
		for (struct cuda_launch *l = c->back[k]; l; l = l->next)
			if (!l->idle)
				cuda_launch_backward(b->stream, &l->args, blocks(b, c, l), b->twice);
		cuda_range_end();
		cuda_mark(b, EVENT_BACKWARD, number << 16 | k);
	}
}

bool cuda_split_backward(struct cuda_state *b, uint32_t number, const struct unit_input *in,
	const double *dreadout, int exponent)
{
	const struct cuda_circuit *c = &b->circuit[number];
	size_t nsum = 1 + c->nsum_back;

	cuda_place(b, 1, true, true);
	if (b->holds != number) { /* another circuit took the place: once more */
		evolve(b, number, in);
		cuda_exchange(b, number, b->psi, first_reading(c) + 1, c->plan->nsegment - 1, false);
		cuda_wait(b->stream); /* the host's vectors are used again */
	}
	free(b->shown);
	b->shown = NULL;
	b->holds = -1;
	cuda_mark(b, EVENT_PHASE, PHASE_NONE);
	cuda_clear_sums(b, c->sum, c->sum + nsum);
	cuda_range_begin("circuit, backward", number);
	make_lambda(b, number, dreadout, exponent);
	cuda_mark(b, EVENT_PHASE, PHASE_BACKWARD);
	go_back(b, number);
	cuda_range_end();
	fetch(b, c->sum, nsum, PHASE_BACKWARD);
	return cuda_add_processes(b, b->sum_host + c->sum, nsum);
}

/* ---- amplitudes ---- */

void cuda_split_amplitudes(struct cuda_state *b, uint32_t number, uint64_t first, uint64_t n, cplx *out)
{
	const struct cuda_circuit *c = &b->circuit[number];
	const struct plan_circuit *pc = c->plan;
	unsigned nbit = index_bits(b, c);
	bool good = true;

	if (!b->shown) {
		b->shown = mem_alloc(cuda_amplitude_bytes(b) << nbit, 1);
		cuda_stream_enter(b->stream);
		cuda_download(b->stream, b->shown, b->psi, cuda_amplitude_bytes(b) << nbit);
		cuda_wait(b->stream);
		good = cuda_goes_on(b);
	}
	for (uint64_t i = 0; i < n; i++) {
		uint64_t at = plan_index(pc, first + i);

		out[i] = good && at >> nbit == b->process.number
			? cuda_amplitude(b, b->shown, at & ((UINT64_C(1) << nbit) - 1))
			: 0;
	}
	if (first + n == UINT64_C(1) << pc->nbit) {
		free(b->shown);
		b->shown = NULL;
	}
}
