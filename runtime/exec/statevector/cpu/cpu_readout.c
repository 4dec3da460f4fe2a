/* SPDX-License-Identifier: Apache-2.0
 * Readouts of a state, the state they make of their readout gradients, and its norm. */
#include <math.h>
#include <string.h>
#include "runtime/exec/statevector/cpu/cpu_state.h"

struct reading {
	struct backend_state *b;
	const struct cpu_circuit *c;
	const void *psi;
	void *lambda;
	const double *dreadout;
	double *part;                /* (CPU_CHUNKS, nterm) sums */
	uint32_t segment;            /* terms of this one are read */
	bool begun;                  /* lambda is there already, of later segments */
};

static double lanes_total(const double *v, unsigned lanes)
{
	double sum = 0;
	for (unsigned l = 0; l < lanes; l++)
		sum += v[l];
	return sum;
}

/* The sign in a lane of what expect_products sums: -1 where a product has it, times that of (-i)^ny. */
static double lane_sign(const struct cpu_term *t, unsigned lane)
{
	return __builtin_parity(lane & t->kernel.sign_lane) ^ (t->kernel.ny >> 1 & 1) ? -1 : 1;
}

static const void *row_of(const struct reading *r, size_t row) { return (const char *)r->psi + row * 2 * r->b->k->lanes * r->b->k->real_bytes; }

enum { SUB_ROWS = 1024 /* rows that are read for many terms while they are near */ };

static bool is_z(const struct reading *r, const struct cpu_terms *g) { return g->first < r->c->nz; }

static bool is_constant(const struct reading *r, const struct cpu_terms *g)
{
	return cpu_is_identity(&r->c->term[g->first]);
}

static uint32_t segment_of(const struct reading *r, const struct cpu_terms *g)
{
	return r->c->term[g->first].segment;
}

/* Adds expectations of a group over rows [first, last), lane by lane: out[k * lanes + lane]. */
static void expect_group(const struct reading *r, size_t first, size_t last,
	const struct cpu_terms *g, double *out)
{
	unsigned lanes = r->b->k->lanes;

	if (is_constant(r, g))
		return;
	if (g->count >= PLAN_TOGETHER_MIN)
		r->b->k->expect_products(row_of(r, first), first, last,
			is_z(r, g) ? NULL : &g->partner, r->c->sign_row + g->first, g->count, out);
	else
		for (uint32_t k = 0; k < g->count; k++)
			r->b->k->expect(r->psi, first, last, &r->c->term[g->first + k].kernel,
				out + (size_t)k * lanes);
}

/* Groups from g on are read together if they are of one segment and have no more terms than a call of a kernel takes; products of Z
 * apart from others. Returns the first group behind them. */
static uint32_t last_together(const struct reading *r, uint32_t g)
{
	const struct cpu_terms *first = &r->c->group[g], *next;

	while (++g < r->c->ngroup) {
		next = &r->c->group[g];
		if (next->first + next->count - first->first > KERNEL_TERMS_MAX
			|| segment_of(r, next) != segment_of(r, first)
			|| is_z(r, next) != is_z(r, first))
			break;
	}
	return g;
}

/* Expectations of groups [begin, end) over rows [first, last), lane by lane: out[k * lanes + lane]. Returns the number of terms. */
static uint32_t expect_groups(const struct reading *r, size_t first, size_t last, uint32_t begin,
	uint32_t end, double *out)
{
	const struct cpu_terms *g = &r->c->group[begin];
	unsigned lanes = r->b->k->lanes;
	uint32_t from = g->first, n = r->c->group[end - 1].first + r->c->group[end - 1].count - from;
	bool at_once = is_z(r, g) && g->count >= PLAN_TOGETHER_MIN;

	memset(out, 0, (size_t)n * lanes * sizeof *out);
	for (size_t next; first < last; first = next) {
		next = at_once || last - first < SUB_ROWS ? last : first + SUB_ROWS;
		for (uint32_t k = begin; k < end; k++)
			expect_group(r, first, next, &r->c->group[k],
				out + (size_t)(r->c->group[k].first - from) * lanes);
	}
	for (; begin < end; begin++) {
		g = &r->c->group[begin];
		for (uint32_t k = 0; k < g->count && g->count >= PLAN_TOGETHER_MIN; k++)
			for (unsigned l = 0; l < lanes; l++)
				out[(g->first - from + k) * lanes + l] *=
					lane_sign(&r->c->term[g->first + k], l);
	}
	return n;
}

/* ---- expectations ---- */

static void expect_chunk(void *ctx, unsigned chunk, struct cpu_worker *thread)
{
	struct reading *r = ctx;
	size_t first = cpu_chunk_begin(r->c->nrow, r->c->nchunk, chunk), last = cpu_chunk_begin(r->c->nrow, r->c->nchunk, chunk + 1);
	double out[KERNEL_TERMS_MAX * KERNEL_LANES_MAX], *part = r->part + (size_t)chunk * r->c->nterm;
	(void)thread;
	for (uint32_t g = 0, end, n; g < r->c->ngroup; g = end) {
		uint32_t t = r->c->group[g].first;
		end = last_together(r, g);
		if (r->c->term[t].segment != r->segment)
			continue;
		n = expect_groups(r, first, last, g, end, out);
		for (uint32_t k = 0; k < n; k++)
			part[t + k] = lanes_total(out + (size_t)k * r->b->k->lanes, r->b->k->lanes);
	}
}

static void expect_state(struct reading *r, struct cpu_worker *w, unsigned nsum, double *readout)
{
	unsigned nchunk = nsum ? nsum : r->c->nchunk;
	uint32_t last = r->c->plan->nsegment - 1;
	for (r->segment = plan_segment_of(r->c->plan, r->c->plan->nstage); !nsum; r->segment++) {
		cpu_chunks(r->b, w, r->c->span, expect_chunk, r);
		if (r->segment == last)
			break;
		cpu_exchange(r->b,
			&(struct cpu_exchange){ .circuit = r->c,
				.psi = (void *)r->psi,
				.from = r->segment + 1,
				.to = r->segment + 1 });
	}
	cpu_gather(r->b, r->part, r->c->nterm,
		nsum ? r->c->stage[r->c->nstage - 1].forward.span : r->c->span);
	for (uint32_t t = 0; t < r->c->nterm; t++) {
		const struct cpu_term *term = &r->c->term[t];
		double sum = 0;
		for (unsigned chunk = 0; chunk < nchunk; chunk++)
			sum += r->part[(size_t)chunk * r->c->nterm + t];
		readout[term->readout] += term->coefficient * (cpu_is_identity(term) ? 1 : sum);
	}
}

static void expect_samples(const struct reading *r, double *readout)
{
	unsigned lanes = r->b->k->lanes;
	double out[KERNEL_TERMS_MAX * KERNEL_LANES_MAX];
	for (uint32_t g = 0, end, n; g < r->c->ngroup; g = end) {
		uint32_t t = r->c->group[g].first;
		end = last_together(r, g);
		n = expect_groups(r, 0, r->c->nrow, g, end, out);
		for (uint32_t k = 0; k < n; k++)
			for (unsigned l = 0; l < lanes; l++) {
				const struct cpu_term *term = &r->c->term[t + k];
				readout[l * r->c->plan->nreadout + term->readout] += term->coefficient * (cpu_is_identity(term) ? 1 : out[k * lanes + l]);
			}
	}
}

/* ---- probabilities ---- */

/* The readout's index of row bin `bin`. */
static size_t readout_bin(const struct cpu_probs *p, size_t bin)
{
	size_t k = 0;
	for (unsigned bit = 0; bit < p->bins.nbit; bit++)
		k |= (bin >> bit) & 1 ? p->row_bin[bit] : 0;
	return k;
}

static void read_probs(const struct reading *r, struct cpu_worker *w, double *readout)
{
	unsigned lanes = r->b->k->lanes, nrank = 1u << r->b->plan->nrank_bit,
		 own = nrank >> r->b->rank_bits, first = r->b->rank * own;
	for (uint32_t k = 0; k < r->c->nprobs; k++) {
		const struct cpu_probs *p = &r->c->probs[k];
		size_t nbin = (size_t)1 << p->bins.nbit, nsum = nbin * lanes;
		memset(w->bins, 0, nrank * nsum * sizeof(double));
		for (unsigned rank = first; rank < first + own; rank++)
			r->b->k->probs(r->psi, r->c->nrow / nrank * rank,
				r->c->nrow / nrank * (rank + 1), &p->bins, w->bins + rank * nsum);
		cpu_gather(r->b, w->bins, nsum, (struct cpu_span){ first, first + own, own });
		for (size_t bin = 0; bin < nrank * nbin; bin++)
			for (unsigned l = 0; l < lanes; l++)
				readout[(r->b->lane_bits ? 0 : l * r->c->plan->nreadout) + p->readout
					+ (readout_bin(p, bin % nbin) | p->lane_bin[l])] +=
					w->bins[bin * lanes + l];
	}
}

static void lambda_probs(const struct reading *r, struct cpu_worker *w)
{
	unsigned lanes = r->b->k->lanes;
	for (uint32_t k = 0; k < r->c->nprobs; k++) {
		const struct cpu_probs *p = &r->c->probs[k];
		size_t nbin = (size_t)1 << p->bins.nbit;
		for (size_t bin = 0; bin < nbin; bin++)
			for (unsigned l = 0; l < lanes; l++)
				w->bins[bin * lanes + l] =
					r->dreadout[(r->b->lane_bits ? 0 : l * r->c->plan->nreadout)
						+ p->readout + (readout_bin(p, bin) | p->lane_bin[l])];
		size_t first = cpu_first_row(r->b, r->c);
		r->b->k->lambda_probs(r->lambda, r->psi, first,
			first + (r->c->nrow >> r->b->rank_bits), &p->bins, w->bins);
	}
}

/* ---- both ---- */

void cpu_readouts(struct backend_state *b, struct cpu_worker *w, const struct cpu_circuit *c,
	const void *psi, unsigned nsum, double *readout)
{
	struct reading r = { .b = b, .c = c, .psi = psi };
	memset(readout, 0, (size_t)b->plan->width * c->plan->nreadout * sizeof *readout);
	read_probs(&r, w, readout);
	if (b->lane_bits) {
		r.part = cpu_chunk_sums(b, w);
		expect_state(&r, w, nsum, readout);
	} else {
		expect_samples(&r, readout);
	}
}

/* Gradients of a term's expectation in each lane, with the term's coefficient. */
static void term_gradient(const struct reading *r, const struct cpu_term *term, double *c)
{
	size_t stride = r->b->lane_bits ? 0 : r->c->plan->nreadout;
	for (unsigned l = 0; l < r->b->k->lanes; l++)
		c[l] = term->coefficient * r->dreadout[l * stride + term->readout];
}

/* lambda of a group's terms over rows [first, last); added: to what is there. */
static void lambda_together(const struct reading *r, size_t first, size_t last,
	const struct cpu_terms *g, bool added)
{
	double c[KERNEL_TERMS_MAX * KERNEL_LANES_MAX];
	unsigned lanes = r->b->k->lanes;

	for (uint32_t k = 0; k < g->count; k++) {
		const struct cpu_term *t = &r->c->term[g->first + k];
		term_gradient(r, t, c + (size_t)k * lanes);
		for (unsigned l = 0; l < lanes; l++)
			c[k * lanes + l] *= lane_sign(t, l);
	}
	r->b->k->lambda_products(r->lambda, r->psi, first, last, added ? &g->partner : NULL,
		r->c->sign_row + g->first, g->count, c);
}

/* Products of Z first, many in one visit, which writes lambda: the groups that are done. */
static uint32_t lambda_start(const struct reading *r, size_t first, size_t last)
{
	if (r->begun)
		return 0;
	if (r->c->nz == 0 || segment_of(r, r->c->group) != r->segment) {
		r->b->k->zero(r->lambda, first, last);
		return 0;
	}
	lambda_together(r, first, last, r->c->group, false);
	return 1;
}

static void lambda_one_by_one(const struct reading *r, size_t first, size_t last,
	const struct cpu_terms *g)
{
	double c[KERNEL_LANES_MAX];

	for (uint32_t k = 0; k < g->count; k++) {
		const struct cpu_term *t = &r->c->term[g->first + k];
		term_gradient(r, t, c);
		r->b->k->lambda(r->lambda, r->psi, first, last, &t->kernel, c);
	}
}

static void lambda_rows(const struct reading *r, size_t first, size_t last)
{
	uint32_t done = lambda_start(r, first, last);
	for (size_t end; first < last; first = end) {
		end = last - first < SUB_ROWS ? last : first + SUB_ROWS;
		for (uint32_t k = done; k < r->c->ngroup; k++) {
			const struct cpu_terms *g = &r->c->group[k];
			if (is_constant(r, g) || segment_of(r, g) != r->segment)
				continue; /* a multiple of psi has no real derivative */
			if (g->count >= PLAN_TOGETHER_MIN)
				lambda_together(r, first, end, g, true);
			else
				lambda_one_by_one(r, first, end, g);
		}
	}
}

static void lambda_chunk(void *ctx, unsigned chunk, struct cpu_worker *thread)
{
	struct reading *r = ctx;
	(void)thread;
	lambda_rows(r, cpu_chunk_begin(r->c->nrow, r->c->nchunk, chunk), cpu_chunk_begin(r->c->nrow, r->c->nchunk, chunk + 1));
}

void cpu_lambda(struct backend_state *b, struct cpu_worker *w, const struct cpu_circuit *c,
	const void *psi, void *lambda, const double *dreadout)
{
	struct reading r = { .b = b, .c = c, .psi = psi, .lambda = lambda, .dreadout = dreadout };
	uint32_t last = plan_segment_of(c->plan, c->plan->nstage);
	if (b->lane_bits)
		for (r.segment = c->plan->nsegment - 1;; r.segment--) {
			cpu_doing(b, EVENT_PHASE, PHASE_BACKWARD);
			cpu_chunks(b, w, c->span, lambda_chunk, &r);
			cpu_doing(b, EVENT_PHASE, PHASE_FORWARD);
			if (r.segment == last)
				break;
			r.begun = true;
			cpu_exchange(b,
				&(struct cpu_exchange){
					c, (void *)psi, lambda, r.segment, r.segment, true, 0 });
		}
	else
		lambda_rows(&r, 0, c->nrow);
	lambda_probs(&r, w);
}

/* ---- the norm of a state that went through many steps: rounding has changed it, and it becomes 1 again ---- */

/* Rounding of amplitudes does not average out where a circuit comes back to the same state again and again: the Fourier
 * transform and its inverse on 5 qubits, 4,000 times, change the norm by 1.1e-5, in proportion to the number of steps. */
struct norm {
	struct backend_state *b;
	const struct cpu_circuit *c;
	void *psi;
	double *part;                    /* (nchunk) of the squared norm */
	double factor[KERNEL_LANES_MAX]; /* psi += factor psi, lane by lane */
};

static const struct kernel_term identity;

static void sum_chunk(void *ctx, unsigned chunk, struct cpu_worker *thread)
{
	struct norm *n = ctx;
	size_t first = cpu_chunk_begin(n->c->nrow, n->c->nchunk, chunk),
	       last = cpu_chunk_begin(n->c->nrow, n->c->nchunk, chunk + 1);
	double out[KERNEL_LANES_MAX] = { 0 };
	(void)thread;
	n->b->k->expect(n->psi, first, last, &identity, out);
	n->part[chunk] = lanes_total(out, n->b->k->lanes);
}

static void scale_chunk(void *ctx, unsigned chunk, struct cpu_worker *thread)
{
	struct norm *n = ctx;
	size_t first = cpu_chunk_begin(n->c->nrow, n->c->nchunk, chunk),
	       last = cpu_chunk_begin(n->c->nrow, n->c->nchunk, chunk + 1);
	(void)thread;
	n->b->k->lambda(n->psi, n->psi, first, last, &identity, n->factor);
}

static double factor_of(double squared_norm)
{
	return squared_norm > 0 ? 1 / sqrt(squared_norm) - 1 : 0;
}

void cpu_normalise(struct backend_state *b, struct cpu_worker *w, const struct cpu_circuit *c,
	void *psi)
{
	struct norm n = { .b = b, .c = c, .psi = psi };
	unsigned lanes = b->k->lanes;
	if (!b->lane_bits) { /* a sample in each lane */
		double out[KERNEL_LANES_MAX] = { 0 };
		b->k->expect(psi, 0, c->nrow, &identity, out);
		for (unsigned l = 0; l < lanes; l++)
			n.factor[l] = factor_of(out[l]);
		b->k->lambda(psi, psi, 0, c->nrow, &identity, n.factor);
		return;
	}
	double sum = 0;
	n.part = cpu_chunk_sums(b, w);
	cpu_chunks(b, w, c->span, sum_chunk, &n);
	cpu_gather(b, n.part, 1, c->span);
	for (unsigned chunk = 0; chunk < c->nchunk; chunk++)
		sum += n.part[chunk];
	for (unsigned l = 0; l < lanes; l++)
		n.factor[l] = factor_of(sum);
	cpu_chunks(b, w, c->span, scale_chunk, &n);
}
