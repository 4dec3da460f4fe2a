/* SPDX-License-Identifier: Apache-2.0
 * Where inputs, sums and factors of a unit lie in the memory of a device and of the host: of all circuits, one after the other. */
#include "config.h"
#include "runtime/exec/statevector/cuda/cuda_state.h"

uint32_t cuda_run_samples(const struct cuda_state *b, const struct cuda_circuit *c, uint32_t count)
{
	unsigned tile = cuda_tile_bits(b->plan);
	uint32_t near = c->nbit < tile ? UINT32_C(1) << (tile - c->nbit) : 1;

	return (count + near - 1) & ~(near - 1);
}

static void set_pointers(const struct cuda_state *b, const struct cuda_circuit *c,
	struct cuda_launch *l, bool back, size_t *nsum)
{
	for (; l; l = l->next) {
		l->args.psi = b->gpu.psi;
		l->args.lambda = b->gpu.lambda;
		l->args.bad = (unsigned *)(b->gpu.sum + c->sum);
		l->args.sum = b->gpu.sum + c->sum + 1 + *nsum;
		l->args.sample_sum =
			b->gpu.sum + c->sum + 1 + c->nsum_back + l->sum_before * c->nsample;
		if (l->makes_lambda) {
			l->args.sample_matrix = b->gpu.factor + c->factor;
			l->matrix_host = (char *)(b->host.factor + c->factor);
		} else {
			size_t at = c->matrix[back]
				+ l->entry_before * c->nsample * cuda_amplitude_bytes(b);

			l->args.sample_matrix = b->gpu.input + at;
			l->matrix_host = b->host.input + at;
		}
		*nsum += l->args.nsum;
	}
}

static void set_tail_pointers(const struct cuda_state *b, const struct cuda_circuit *c)
{
	struct cuda_launch *l = c->tail->sum;
	long long *sum = b->gpu.sum + c->readout_sum;

	l->args.psi = b->gpu.psi;
	l->args.bad = (unsigned *)sum;
	l->args.sum = l->args.sample_sum = sum + 1;
}

static void set_products(const struct cuda_state *b, const struct cuda_circuit *c,
	struct cuda_launch *l, uint32_t count)
{
	if (!l)
		return;
	l->args.products.sum = b->gpu.sum + c->readout_sum;
	l->args.products.factor = b->gpu.factor + c->factor;
	l->args.products.stride = (uint32_t)c->nsum_readout;
	l->args.products.first = c->npauli - c->nproduct;
	l->args.products.nsample = count;
}

static void place_inputs(const struct cuda_state *b, struct cuda_circuit *c, bool back, size_t *at)
{
	size_t nentry[2] = { c->nsample_entry[0], back ? c->nsample_entry[1] : 0 };

	if (c->takes_joined) {
		nentry[1] += nentry[0];
		nentry[0] = 0;
	}
	c->input = *at;
	c->matrix[0] = c->input + c->nsample * cuda_vector_entries(c->plan) * sizeof(cplx);
	c->matrix[1] = c->matrix[0] + c->nsample * nentry[0] * cuda_amplitude_bytes(b);
	c->loss = c->matrix[1] + c->nsample * nentry[1] * cuda_amplitude_bytes(b);
	c->input_end = c->loss + (back ? cuda_loss_bytes(c) : 0);
	*at = c->input_end;
}

/* Where the parts end. */
struct ends {
	size_t input, sum, factor;
};

/* Of each circuit. */
static struct ends place_all(struct cuda_state *b, uint32_t count, bool back, bool whole)
{
	struct cuda_circuit *end = b->circuit + b->plan->ncircuit;
	struct ends e = { 0 };

	for (struct cuda_circuit *c = b->circuit; c < end; c++) {
		c->nsample = cuda_run_samples(b, c, count);
		c->takes_tail = c->tail && !whole;
		place_inputs(b, c, back, &e.input);
		c->readout_sum = e.sum;
		e.sum += c->takes_tail ? 1 + c->nsample * cuda_tail_entries(c)
				       : count * (1 + c->nsum_readout);
		c->readout_end = e.sum;
		c->factor = e.factor;
		e.factor += c->nsample * (c->takes_tail ? cuda_tail_factors(b, c) : c->nsum_readout);
		c->factor_end = e.factor;
	}
	for (struct cuda_circuit *c = b->circuit; c < end; c++) {
		c->sum = e.sum;
		e.sum += back && cuda_has_sums_back(c) ? cuda_sums_back(c) : 0;
	}
	for (struct cuda_circuit *c = b->circuit; c < end; c++) {
		c->norm_sum = e.sum;
		c->norm_factor = e.factor;
		e.sum += plan_deep(c->plan) ? 2 * c->nsample : 0;
		e.factor += plan_deep(c->plan) ? c->nsample : 0;
	}
	return e;
}

/* Where one launch does both passes: n sums behind the inputs, which come from the host as 0. */
static void place_sums_with_inputs(const struct cuda_state *b, struct cuda_circuit *c, size_t n)
{
	size_t to = (size_t)((long long *)(b->host.input + c->input_end) - b->host.sum);

	c->readout_sum += to;
	c->readout_end += to;
	c->sum += to;
	c->norm_sum += to;
	c->input_end += n * sizeof *b->host.sum;
}

void cuda_place(struct cuda_state *b, uint32_t count, bool back, bool whole)
{
	bool joined = b->circuit[0].takes_joined;
	struct ends e;

	if (b->placed == count && b->placed_back == back && b->placed_whole == whole
		&& b->placed_joined == joined)
		return;
	b->placed = count;
	b->placed_joined = joined;
	b->placed_back = back;
	b->placed_whole = whole;
	e = place_all(b, count, back, whole);
	if (joined)
		place_sums_with_inputs(b, &b->circuit[0], e.sum);
	for (uint32_t k = 0; k < b->plan->ncircuit; k++) {
		struct cuda_circuit *c = &b->circuit[k];
		size_t none = 0, nsum = 0;

		for (uint32_t i = 0; i < c->plan->nstage; i++) {
			set_pointers(b, c, cuda_launches(c, i, false), false, &none);
			set_pointers(b, c, cuda_launches(c, i, true), true, &nsum);
		}
		if (c->takes_tail)
			set_tail_pointers(b, c);
		set_products(b, c, c->reads, count);
		set_products(b, c, c->makes, count);
		set_products(b, c, c->joined, count);
	}
}

/* Amplitudes that are on their way to other processes at once: an eighth of the state, a power of two, and at most as many. */
enum { STAGING = 1 << 22 };

void cuda_measure(struct cuda_state *b)
{
	struct ends whole = place_all(b, b->plan->width, b->gradient, true),
		    most = place_all(b, b->plan->width, b->gradient, false);

	most.sum = whole.sum > most.sum ? whole.sum : most.sum;
	most.factor = whole.factor > most.factor ? whole.factor : most.factor;
	for (uint32_t k = 0; k < b->plan->ncircuit; k++) {
		struct cuda_circuit *c = &b->circuit[k];
		size_t nbyte = cuda_state_size(b, c);

		if (nbyte > b->part_bytes[CUDA_PSI])
			b->part_bytes[CUDA_PSI] = nbyte;
		c->state = b;
	}
	b->part_bytes[CUDA_LAMBDA] = b->gradient ? b->part_bytes[CUDA_PSI] : 0;
	b->part_bytes[CUDA_SUM] = most.sum * sizeof *b->gpu.sum;
	b->part_bytes[CUDA_FACTOR] = most.factor * sizeof *b->gpu.factor;
	b->part_bytes[CUDA_INPUT] = most.input + (b->circuit[0].joined ? b->part_bytes[CUDA_SUM] : 0);
	if (b->plan->nrank_bit) {
		size_t room = STAGING * cuda_amplitude_bytes(b), part = b->part_bytes[CUDA_PSI] / 8;

		b->part_bytes[CUDA_DIGEST] = CUDA_DIGESTS * sizeof *b->gpu.digest;
		b->part_bytes[CUDA_STAGING] = part < room ? part : room;
	}
}
