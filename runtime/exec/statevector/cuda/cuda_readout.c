/* SPDX-License-Identifier: Apache-2.0
 * Readouts of a state, and the state they make of their gradients. */
#include "config.h"
#include "runtime/exec/statevector/cuda/cuda_state.h"

#include <math.h>
#include <string.h>

/* ---- from outputs to bits of the index ---- */

static struct cuda_pauli compile_term(const struct plan_circuit *c, const struct pauli_term *t,
	uint32_t readout)
{
	struct plan_product p = plan_product(c, t);

	return (struct cuda_pauli){ .term = { .flip = p.flip, .sign = p.sign, .ny = (uint8_t)p.ny },
		.readout = readout,
		.segment = p.segment,
		.coefficient = t->coefficient };
}

static void compile_output(struct cuda_circuit *c, const struct output *o, uint32_t *readout)
{
	if (o->kind == OUTPUT_PROBS) {
		uint32_t last = plan_segment_of(c->plan, c->plan->nstage);
		struct cuda_probs *p = &c->probs[c->nprobs++];

		*p = (struct cuda_probs){ .readout = *readout, .nbin = o->nwire };
		for (uint32_t k = 0; k < o->nwire; k++)
			p->bit[k] = c->plan->segment[last].place[o->wire[k]];
	}
	for (uint32_t t = 0; t < o->nterm; t++)
		c->pauli[c->npauli++] = compile_term(c->plan, &o->term[t], *readout);
	*readout += output_nreadout(o);
}

/* Moves the products of one launch behind the first n, and returns how many there are then: of one segment, those
 * that stay in the same chunks, those that leave any, or those that flip nothing. */
static uint32_t fill_group(struct cuda_circuit *c, const struct cuda_pauli *from, bool *done,
	uint32_t n)
{
	uint32_t end = n + CUDA_TERMS_MAX;
	const struct cuda_pauli *first = NULL;
	uint64_t flip = 0;

	for (uint32_t k = 0; k < c->npauli && n < end; k++) {
		bool fits;

		if (done[k]
			|| (first
				&& (from[k].segment != first->segment
					|| !from[k].term.flip != !first->term.flip)))
			continue;
		first = first ? first : &from[k];
		fits = cuda_flips_fit(flip | from[k].term.flip, c->nbit);
		if (!fits && cuda_flips_fit(from[k].term.flip, c->nbit))
			continue;
		flip |= fits ? from[k].term.flip : 0;
		c->pauli[n++] = from[k];
		done[k] = true;
	}
	return n;
}

/* Orders the products by launches, the last ones of Z at the end. */
static void group_terms(struct arena *arena, struct cuda_circuit *c)
{
	struct cuda_pauli *from = arena_copy(arena, c->pauli, c->npauli, sizeof *from);
	bool *done = arena_alloc(arena, c->npauli, sizeof *done);

	for (uint32_t k = c->npauli; k-- > 0 && c->nproduct < CUDA_PRODUCTS_MAX;)
		if (!from[k].term.flip) {
			c->pauli[c->npauli - ++c->nproduct] = from[k];
			done[k] = true;
		}
	c->group = arena_alloc(arena, (size_t)c->npauli + 2, sizeof *c->group);
	while (c->group[c->ngroup] < c->npauli - c->nproduct) {
		uint32_t n = fill_group(c, from, done, c->group[c->ngroup]);

		c->group[++c->ngroup] = n;
	}
	c->group[c->ngroup + 1] = c->npauli;
}

/* The last launch of the last stage that has any; back, the first one. */
static void find_launches(const struct cuda_state *b, struct cuda_circuit *c)
{
	if (plan_deep(c->plan) || b->plan->nrank_bit)
		return;
	for (uint32_t k = 0; k < c->plan->nstage; k++) {
		for (struct cuda_launch *l = c->forward[k]; l; l = l->next)
			c->reads = l;
		c->makes = c->back[k] ? c->back[k] : c->makes;
	}
}

/* Lambda that the first launch back makes is for those behind it. */
static void keep_lambda(struct cuda_circuit *c)
{
	struct cuda_launch *last = c->makes;

	for (uint32_t k = c->plan->nstage; k-- > 0;)
		for (struct cuda_launch *l = c->back[k]; l; l = l->next) {
			c->clears = c->clears || (l->bits & ~c->makes->bits);
			last = l;
		}
	if (last != c->makes)
		c->makes->args.save = 1;
}

/* By the index's bits before or after the launch. */
static void put_products(const struct cuda_circuit *c, struct cuda_stage_args *a,
	const uint8_t *bit, unsigned nbit)
{
	unsigned samples = a->round[a->nround - 1].sample_regs, s = 0;

	for (uint32_t k = 0; k < c->nproduct; k++) {
		struct cuda_product *p = &a->products.product[k];
		uint64_t sign = c->pauli[c->npauli - c->nproduct + k].term.sign,
			 tile = cuda_gather(sign, bit, nbit);

		*p = (struct cuda_product){ (uint32_t)cuda_gather(sign, a->outer, a->nouter),
			(uint8_t)tile, (uint8_t)(tile >> CUDA_THREAD_BITS) };
		do {
			a->products.regs |= (uint16_t)(1u << (p->reg | s));
			s = (s - samples) & samples;
		} while (s);
	}
}

void cuda_compile_readouts(struct cuda_state *b, struct cuda_circuit *c)
{
	const struct plan_circuit *pc = c->plan;
	unsigned nbit = cuda_tile_bits(b->plan);
	uint32_t nterm = 0, readout = 0;

	for (uint32_t k = 0; k < pc->noutput; k++)
		nterm += pc->output[k].nterm;
	c->pauli = arena_alloc(&b->arena, nterm, sizeof *c->pauli);
	c->probs = arena_alloc(&b->arena, pc->noutput, sizeof *c->probs);
	for (uint32_t k = 0; k < pc->noutput; k++)
		compile_output(c, &pc->output[k], &readout);
	find_launches(b, c);
	group_terms(&b->arena, c);
	if (c->reads)
		put_products(c, &c->reads->args, c->reads->args.save_at, nbit);
	if (c->makes) {
		keep_lambda(c);
		put_products(c, &c->makes->args, c->makes->args.load_at, nbit);
	}
	c->has_loss = cuda_loss_fits(b, c);
	c->nsum_readout = c->npauli;
	for (uint32_t k = 0; k < c->nprobs; k++) {
		c->probs[k].sum = c->nsum_readout;
		c->nsum_readout += (size_t)1 << c->probs[k].nbin;
	}
}

/* ---- terms and bins as arguments ---- */

static struct cuda_readout readouts_from(const struct cuda_state *b, const struct cuda_circuit *c,
	uint32_t nsample, size_t first)
{
	return (struct cuda_readout){ .psi = b->gpu.psi,
		.lambda = b->gpu.lambda,
		.sum = b->gpu.sum + c->readout_sum,
		.factor = b->gpu.factor + c->factor,
		.nbit = cuda_index_bits(b, c),
		.part_bits = c->nbit,
		.nsample = nsample,
		.stride = (uint32_t)c->nsum_readout,
		.first = (uint32_t)first };
}

/* Of a process' part of a split state, whose bits of the index behind its own are `number`: of two y more a product is the negative. */
static struct cuda_term term_of(const struct cuda_pauli *p, unsigned nbit, uint32_t number)
{
	struct cuda_term t = p->term;

	t.ny ^= __builtin_parityll(t.sign >> nbit & number) ? 2 : 0;
	return t;
}

static struct cuda_terms terms_of(const struct cuda_state *b, const struct cuda_circuit *c,
	uint32_t nsample, uint32_t group)
{
	struct cuda_terms a = { .to = readouts_from(b, c, nsample, c->group[group]) };

	for (uint32_t k = c->group[group]; k < c->group[group + 1]; k++)
		a.term[a.nterm++] = term_of(&c->pauli[k], a.to.nbit, b->process.number);
	return a;
}

static struct cuda_bins bins_of(const struct cuda_state *b, const struct cuda_circuit *c,
	uint32_t nsample, const struct cuda_probs *p)
{
	struct cuda_bins a = { .to = readouts_from(b, c, nsample, p->sum), .nbin = p->nbin };

	memcpy(a.bit, p->bit, p->nbin);
	for (unsigned k = 0; k < p->nbin; k++)
		if (p->bit[k] >= a.to.nbit)
			a.to.first += (b->process.number >> (p->bit[k] - a.to.nbit) & 1) << k;
	return a;
}

/* ---- readouts ---- */

void cuda_read_products(const struct cuda_circuit *c, bool read)
{
	if (c->reads)
		c->reads->args.products.n = (uint16_t)(read && !c->takes_tail ? c->nproduct : 0);
}

/* Products are read in the segment behind the last stage, where probabilities are read too, and in those behind it. */
static bool is_read(const struct cuda_circuit *c, uint32_t group, uint32_t segment)
{
	return c->plan->nsegment == 1 || c->pauli[c->group[group]].segment == segment;
}

void cuda_sum_readouts(struct cuda_state *b, uint32_t number, uint32_t count)
{
	const struct cuda_circuit *c = &b->circuit[number];
	uint32_t first = cuda_first_reading(c);

	if (c->takes_tail) {
		cuda_launch_stage(b->stream, &c->tail->sum->args,
			cuda_blocks(c->tail->sum, c->nsample), true, b->twice);
		return;
	}
	for (uint32_t k = 0; k < c->nprobs; k++) {
		struct cuda_bins a = bins_of(b, c, count, &c->probs[k]);

		cuda_launch_bins(b->stream, &a, b->twice);
	}
	for (uint32_t segment = first; segment < c->plan->nsegment; segment++) {
		if (segment > first)
			cuda_exchange(b, number, segment, segment);
		for (uint32_t k = 0; k < cuda_groups(c); k++) {
			struct cuda_terms a = terms_of(b, c, count, k);

			if (is_read(c, k, segment))
				cuda_launch_terms(b->stream, &a, false, b->twice);
		}
	}
}

/* Of a sample whose sums are from host.sum[sum] on. */
static void read_sums(const struct cuda_state *b, const struct cuda_circuit *c, size_t sum,
	bool good, double *readout)
{
	for (uint32_t k = 0; k < c->plan->nreadout; k++)
		readout[k] = good ? 0 : NAN;
	for (uint32_t k = 0; k < c->npauli && good; k++)
		readout[c->pauli[k].readout] += c->pauli[k].coefficient * cuda_sum_value(b, sum + k);
	for (uint32_t k = 0; k < c->nprobs && good; k++)
		for (size_t n = 0; n < (size_t)1 << c->probs[k].nbin; n++)
			readout[c->probs[k].readout + n] =
				cuda_sum_value(b, sum + c->probs[k].sum + n);
}

void cuda_read_readouts(const struct cuda_state *b, const struct cuda_circuit *c, uint32_t count,
	bool good, double *readout)
{
	if (c->takes_tail) {
		cuda_tail_read(b, c, count, good, readout);
		return;
	}
	for (uint32_t s = 0; s < count; s++) {
		size_t at = c->readout_sum + s * (1 + c->nsum_readout);

		read_sums(b, c, at + 1, good && !b->host.sum[at],
			readout + (size_t)s * c->plan->nreadout);
	}
}

/* Called in between, on a thread of the runtime. */
static void invert_norms(void *arg)
{
	const struct cuda_circuit *c = arg;
	const struct cuda_state *b = c->state;

	for (uint32_t s = 0; s < cuda_nstates(b, c); s++) {
		size_t at = c->norm_sum + 2 * (size_t)s;

		b->host.factor[c->norm_factor + s] =
			b->host.sum[at] ? NAN : 1 / sqrt(cuda_sum_value(b, at + 1));
	}
}

void cuda_normalise(struct cuda_state *b, struct cuda_circuit *c)
{
	uint32_t n = cuda_nstates(b, c);
	struct cuda_terms norm = { .to = readouts_from(b, c, n, 0), .nterm = 1 };
	struct cuda_bins one;

	norm.to.lambda = b->gpu.psi;
	norm.to.sum = b->gpu.sum + c->norm_sum;
	norm.to.factor = b->gpu.factor + c->norm_factor;
	norm.to.stride = 1;
	one = (struct cuda_bins){ .to = norm.to };
	cuda_clear_sums(b, c->norm_sum, c->norm_sum + 2 * (size_t)n);
	cuda_launch_terms(b->stream, &norm, false, b->twice);
	cuda_fetch_sums(b, c->norm_sum, c->norm_sum + 2 * (size_t)n);
	if (b->plan->nrank_bit) {
		cuda_finish(b);
		cuda_mark(b, EVENT_PHASE, PHASE_NONE);
		if (!cuda_add_processes(b, b->host.sum + c->norm_sum, 2))
			b->host.sum[c->norm_sum] = 1;
		invert_norms(c);
	} else {
		cuda_call_host(b->stream, invert_norms, c);
	}
	cuda_upload(b->stream, b->gpu.factor + c->norm_factor, b->host.factor + c->norm_factor,
		n * sizeof *b->gpu.factor);
	cuda_launch_lambda_bins(b->stream, &one, b->twice);
}

/* ---- lambda ---- */

/* What its norm is at most, of one sample. */
static double bound(const struct cuda_circuit *c, const double *dreadout)
{
	double most = 0;

	for (uint32_t k = 0; k < c->npauli; k++)
		most += fabs(dreadout[c->pauli[k].readout] * c->pauli[k].coefficient);
	for (uint32_t k = 0; k < c->nprobs; k++) {
		double largest = 0;

		for (size_t n = 0; n < (size_t)1 << c->probs[k].nbin; n++)
			largest = fmax(largest, fabs(dreadout[c->probs[k].readout + n]));
		most += largest;
	}
	return most;
}

/* Of a product. */
static double factor_of(const struct cuda_pauli *p, double dreadout, int exponent)
{
	double f = ldexp(dreadout * p->coefficient, -exponent);

	return p->term.flip ? f : rint(f * CUDA_FACTOR_UNITS) / CUDA_FACTOR_UNITS;
}

/* Of a sample. */
static void put_factors(const struct cuda_circuit *c, const double *dreadout, double *factor)
{
	for (uint32_t k = 0; k < c->npauli; k++)
		factor[k] = factor_of(&c->pauli[k], dreadout[c->pauli[k].readout], c->exponent);
	for (uint32_t k = 0; k < c->nprobs; k++) {
		const struct cuda_probs *p = &c->probs[k];

		for (size_t n = 0; n < (size_t)1 << p->nbin; n++)
			factor[p->sum + n] = ldexp(dreadout[p->readout + n], -c->exponent);
	}
}

int cuda_exponent(const struct cuda_circuit *c, uint32_t count, const double *dreadout)
{
	double all = 0;
	int exponent;

	for (uint32_t s = 0; s < count; s++)
		all += bound(c, dreadout + (size_t)s * c->plan->nreadout);
	frexp(all, &exponent); /* of what is not finite, any: its sums are bad */
	return exponent;
}

/* Those behind `count` have none. */
void cuda_put_factors(struct cuda_state *b, struct cuda_circuit *c, uint32_t count,
	const double *dreadout)
{
	double *to = b->host.factor + c->factor;

	if (c->takes_tail) {
		cuda_tail_put(b, c, count, dreadout);
		return;
	}
	memset(to, 0, (c->factor_end - c->factor) * sizeof *to);
	for (uint32_t s = 0; s < count && dreadout; s++)
		put_factors(c, dreadout + (size_t)s * c->plan->nreadout, to + s * c->nsum_readout);
}

void cuda_take_lambda(const struct cuda_circuit *c, enum cuda_lambda from)
{
	if (!c->makes)
		return;
	c->makes->args.lambda_from = (uint16_t)from;
	c->makes->args.products.n = (uint16_t)(from >= CUDA_LAMBDA_PRODUCTS ? c->nproduct : 0);
}

static void clear_lambda(struct cuda_state *b, const struct cuda_circuit *c)
{
	cuda_clear(b->stream, b->gpu.lambda, cuda_state_size(b, c));
}

static void lambda_of_group(struct cuda_state *b, const struct cuda_circuit *c, uint32_t k, bool add)
{
	struct cuda_terms a = terms_of(b, c, cuda_nstates(b, c), k);

	a.to.add = add;
	cuda_launch_terms(b->stream, &a, true, b->twice);
}

/* What is read in the segments behind the last stage; psi and lambda are then where its states are. */
static bool lambda_of_products(struct cuda_state *b, uint32_t number)
{
	const struct cuda_circuit *c = &b->circuit[number];
	bool add = false;

	for (uint32_t segment = c->plan->nsegment - 1;; segment--) {
		for (uint32_t k = 0; k < c->ngroup; k++)
			if (is_read(c, k, segment)) {
				lambda_of_group(b, c, k, add);
				add = true;
			}
		if (segment == cuda_first_reading(c))
			return add;
		if (!add)
			clear_lambda(b, c);
		add = true;
		cuda_exchange_back(b, number, segment, segment);
	}
}

/* Products of Z are added last, as the first launch of the backward pass adds them. */
void cuda_lambda(struct cuda_state *b, uint32_t number)
{
	const struct cuda_circuit *c = &b->circuit[number];
	bool add;

	cuda_take_lambda(c, CUDA_LAMBDA_STORED);
	if (c->takes_tail) /* the first launch makes it by itself */
		return;
	if (b->plan->nrank_bit && c->nsample > 1) /* what fills a tile up stays 0 */
		clear_lambda(b, c);
	add = lambda_of_products(b, number);
	for (uint32_t k = 0; k < c->nprobs; k++, add = true) {
		struct cuda_bins a = bins_of(b, c, cuda_nstates(b, c), &c->probs[k]);

		a.to.add = add;
		cuda_launch_lambda_bins(b->stream, &a, b->twice);
	}
	if (!add && (!c->nproduct || (c->reads && c->clears))) {
		clear_lambda(b, c);
		add = true;
	}
	if (cuda_stages_read(c))
		cuda_take_lambda(c, add ? CUDA_LAMBDA_ADDED : CUDA_LAMBDA_PRODUCTS);
	else if (c->nproduct)
		lambda_of_group(b, c, c->ngroup, add);
}
