/* SPDX-License-Identifier: Apache-2.0
 * Groups of products that are measured together, and drawing their shots. */
#include "runtime/exec/shots.h"

#include <math.h>
#include <string.h>

#include "runtime/base/rng.h"

/* One product: coefficient times (-1)^(ones among the bits of mask). */
struct shot_term { uint32_t group, readout; double coefficient; uint64_t mask; };
/* Probabilities of wires: counts of their values. */
struct shot_probs { uint32_t group, readout; const struct output *output; };

struct shot_groups {
	uint32_t first, ngroup, nwire, nreadout;
	uint8_t *letter; /* (ngroup, nwire): 0: any basis, else the basis */
	uint32_t nterm; struct shot_term *term;      /* ordered by group */
	uint32_t *first_term;        /* (ngroup + 1) */
	uint32_t nprobs; struct shot_probs *probs;
	double *constant;            /* (nreadout): coefficients of the identity */
};

/* ---- groups ---- */

static bool fits(const uint8_t *letter, const struct pauli_term *t)
{
	for (uint32_t f = 0; f < t->nfactor; f++)
		if (letter[t->factor[f].wire] && letter[t->factor[f].wire] != t->factor[f].letter)
			return false;
	return true;
}

/* The first group that the term fits, or a new one; the letters have room for it. */
static uint32_t group_of(struct shot_groups *g, const struct pauli_term *t)
{
	uint32_t k = 0;

	while (k < g->ngroup && !fits(g->letter + (size_t)k * g->nwire, t))
		k++;
	g->ngroup += k == g->ngroup;
	for (uint32_t f = 0; f < t->nfactor; f++)
		g->letter[(size_t)k * g->nwire + t->factor[f].wire] = t->factor[f].letter;
	return k;
}

static void add_term(struct shot_groups *g, const struct pauli_term *t, uint32_t readout)
{
	if (!t->nfactor) {
		g->constant[readout] += t->coefficient;
		return;
	}
	struct shot_term *s = &g->term[g->nterm++];
	*s = (struct shot_term){ .group = group_of(g, t), .readout = readout, .coefficient = t->coefficient };
	for (uint32_t f = 0; f < t->nfactor; f++)
		s->mask |= UINT64_C(1) << t->factor[f].wire;
}

static void add_probs(struct shot_groups *g, const struct output *o, uint32_t readout)
{
	struct pauli_factor factor[64];
	struct pauli_term all = { 1, o->nwire, factor };

	for (uint32_t w = 0; w < o->nwire; w++)
		factor[w] = (struct pauli_factor){ o->wire[w], PAULI_Z };
	g->probs[g->nprobs++] = (struct shot_probs){ group_of(g, &all), readout, o };
}

/* By group, else in their order. */
static void order_terms(struct shot_groups *g, struct arena *a)
{
	struct shot_term *old = arena_copy(a, g->term, g->nterm, sizeof *old);

	g->first_term = arena_alloc(a, (size_t)g->ngroup + 1, sizeof *g->first_term);
	for (uint32_t t = 0; t < g->nterm; t++)
		g->first_term[old[t].group + 1]++;
	for (uint32_t k = 0; k < g->ngroup; k++)
		g->first_term[k + 1] += g->first_term[k];
	for (uint32_t t = 0; t < g->nterm; t++)
		g->term[g->first_term[old[t].group]++] = old[t];
	for (uint32_t k = g->ngroup; k > 0; k--)         /* each has become the next one's */
		g->first_term[k] = g->first_term[k - 1];
	g->first_term[0] = 0;
}

struct shot_groups *shot_groups_new(struct arena *a, const struct circuit_code *c, uint32_t first_group)
{
	struct shot_groups *g = arena_alloc(a, 1, sizeof *g);
	uint32_t nterm = 0, nprobs = 0, readout = 0;

	for (uint32_t k = 0; k < c->noutput; k++) {
		nterm += c->output[k].kind == OUTPUT_PAULI ? c->output[k].nterm : 0;
		nprobs += c->output[k].kind == OUTPUT_PROBS;
	}
	*g = (struct shot_groups){ .first = first_group, .nwire = c->nwire, .nreadout = c->nreadout };
	g->term = arena_alloc(a, nterm, sizeof *g->term);
	g->probs = arena_alloc(a, nprobs, sizeof *g->probs);
	g->letter = arena_alloc(a, (size_t)nterm + nprobs + 1, c->nwire);
	g->constant = arena_alloc(a, c->nreadout, sizeof *g->constant);
	for (uint32_t k = 0; k < c->noutput; k++) {
		const struct output *o = &c->output[k];

		if (o->kind == OUTPUT_PROBS)
			add_probs(g, o, readout);
		for (uint32_t t = 0; o->kind == OUTPUT_PAULI && t < o->nterm; t++)
			add_term(g, &o->term[t], readout);
		readout += output_nreadout(o);
	}
	order_terms(g, a);
	return g;
}

uint32_t shot_groups_count(const struct shot_groups *g) { return g->ngroup; }

/* ---- shots ---- */

uint64_t shot_scratch_bytes(const struct shot_groups *g)
{
	return ((sizeof(cplx) + sizeof(double)) << g->nwire) + g->nterm * sizeof(int64_t);
}

/* p[i] becomes p[0] + ... + p[i]; their sum. */
static double cumulate(double *p, uint64_t n)
{
	double sum = 0;

	for (uint64_t i = 0; i < n; i++)
		p[i] = sum += p[i];
	return sum;
}

/* Draw number `shot` from the cumulated distribution. */
static uint64_t draw(const double *cumulated, uint64_t n, double total, const struct shot_stream *s, uint64_t shot)
{
	double u = rng_uniform(s->key, RNG_SHOT, (uint64_t)s->sample << 24 | s->group, (uint64_t)s->variant << 32 | shot) * total;
	uint64_t low = 0, high = n - 1;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (cumulated[middle] > u)
			high = middle;
		else
			low = middle + 1;
	}
	while (low && cumulated[low] == cumulated[low - 1])      /* u was rounded up to the total */
		low--;
	return low;
}

void shot_frequencies(double *p, uint64_t n, uint64_t nshot, const struct shot_stream *s, double *scratch)
{
	memcpy(scratch, p, n * sizeof *p);
	memset(p, 0, n * sizeof *p);
	double total = cumulate(scratch, n);
	for (uint64_t k = 0; k < nshot; k++)
		p[draw(scratch, n, total, s, k)]++;
	for (uint64_t i = 0; i < n; i++)
		p[i] /= (double)nshot;
}

void shot_bits(double *p, uint32_t nwire, uint64_t nshot, const struct shot_stream *s, double *bit)
{
	const uint64_t n = UINT64_C(1) << nwire;
	const double total = cumulate(p, n);

	for (uint64_t k = 0; k < nshot; k++) {
		uint64_t index = draw(p, n, total, s, k);

		for (uint32_t w = 0; w < nwire; w++)
			*bit++ = (double)(index >> w & 1);
	}
}

/* The wire's X or Y basis becomes that of Z: H, or H after the adjoint of S. */
static void turn_wire(cplx *psi, uint32_t nwire, uint32_t wire, uint8_t letter)
{
	const double half = sqrt(0.5);
	const uint64_t bit = UINT64_C(1) << wire;

	for (uint64_t i = 0; i < UINT64_C(1) << nwire; i++) {
		if (i & bit)
			continue;
		cplx a = psi[i];
		cplx b = psi[i | bit];
		if (letter == PAULI_Y)
			b = cplx_of(cimag(b), -creal(b));
		psi[i] = cplx_of(half * (creal(a) + creal(b)), half * (cimag(a) + cimag(b)));
		psi[i | bit] = cplx_of(half * (creal(a) - creal(b)), half * (cimag(a) - cimag(b)));
	}
}

/* p[2^nwire] = the cumulated distribution in the bases of group k; the total. */
static double distribution(const struct shot_groups *g, uint32_t k, const cplx *psi, cplx *rotated,
	double *p)
{
	const uint8_t *letter = g->letter + (size_t)k * g->nwire;
	const uint64_t n = UINT64_C(1) << g->nwire;
	const cplx *from = psi;

	for (uint32_t w = 0; w < g->nwire; w++)
		if (letter[w] == PAULI_X || letter[w] == PAULI_Y) {
			if (from == psi)
				memcpy(rotated, psi, n * sizeof *rotated);
			from = rotated;
			turn_wire(rotated, g->nwire, w, letter[w]);
		}
	for (uint64_t i = 0; i < n; i++)
		p[i] = creal(from[i]) * creal(from[i]) + cimag(from[i]) * cimag(from[i]);
	return cumulate(p, n);
}

/* The shots of group k: sums of signs of its products into sum[nterm], counts of its probabilities into readout. */
static void shoot(const struct shot_groups *g, uint32_t k, const double *p, double total, uint64_t nshot,
	const struct shot_stream *s, int64_t *sum, double *readout)
{
	for (uint64_t shot = 0; shot < nshot; shot++) {
		uint64_t bits = draw(p, UINT64_C(1) << g->nwire, total, s, shot);

		for (uint32_t t = g->first_term[k]; t < g->first_term[k + 1]; t++)
			sum[t] += __builtin_parityll(bits & g->term[t].mask) ? -1 : 1;
		for (uint32_t i = 0; i < g->nprobs; i++)
			if (g->probs[i].group == k)
				readout[g->probs[i].readout + output_bin(g->probs[i].output, bits)]++;
	}
}

void shot_readouts(const struct shot_groups *g, const cplx *psi, uint64_t nshot, const struct shot_stream *s,
	void *scratch, double *readout)
{
	const uint64_t n = UINT64_C(1) << g->nwire;
	double *p = (double *)((cplx *)scratch + n);
	int64_t *sum = (int64_t *)(p + n);

	memset(sum, 0, g->nterm * sizeof *sum);
	memset(readout, 0, g->nreadout * sizeof *readout);
	for (uint32_t k = 0; k < g->ngroup; k++) {
		const struct shot_stream own = { s->key, s->sample, s->variant, g->first + k };

		shoot(g, k, p, distribution(g, k, psi, scratch, p), nshot, &own, sum, readout);
	}
	for (uint32_t i = 0; i < g->nreadout; i++)
		readout[i] = readout[i] / (double)nshot + g->constant[i];
	for (uint32_t t = 0; t < g->nterm; t++)
		readout[g->term[t].readout] += g->term[t].coefficient * ((double)sum[t] / (double)nshot);
}
