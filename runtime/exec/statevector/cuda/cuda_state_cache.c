/* SPDX-License-Identifier: Apache-2.0
 * Final states side by side on each device: overlaps between any two, and what batch rank sends back.
 *
 * A unit is kept on the device that evolved it. Before overlaps every device gets the units of the others; each then does its share
 * of the overlaps, whose sums are integers, and has all states for the mixtures of the units that it sends back. */
#include "config.h"
#include "runtime/exec/statevector/cuda/cuda_state.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/exec/statevector/pauli_observables.h"

/* Overlaps that a device has at a time: all of one term, at least. */
enum { SUMS_MAX = 1 << 18 };

struct cache_circuit {
	size_t first; /* bytes before its states on a device */
	struct forms forms;
	unsigned *device; /* (units) that has kept it */
};

/* Of a device: states of all circuits; behind them what is also on the host, sums of overlaps or factors of a mixture. */
struct cache_memory {
	char *device, *host;
};

struct cuda_state_cache {
	struct arena arena;
	uint32_t nstate; /* whole units */
	size_t nbyte;    /* of all circuits' states */
	struct cache_circuit *circuit;
	struct cache_memory *memory; /* (devices) */
};

/* ---- memory ---- */

struct sizes {
	uint64_t states, work; /* bytes; work: of sums or factors */
};

static uint64_t amplitude_bytes(const struct plan *pl)
{
	return pl->precision == PRECISION_DOUBLE ? 16 : 8;
}

static uint64_t state_bytes(const struct plan *pl, uint32_t c)
{
	return amplitude_bytes(pl) << plan_stored_bits(pl, pl->circuit[c].nbit);
}

/* Terms whose overlaps are summed at a time. */
static uint32_t terms_at_a_time(uint32_t nstate)
{
	uint64_t n = SUMS_MAX / ((uint64_t)nstate * nstate);

	return n < 1 ? 1 : n > CUDA_TERMS_MAX ? CUDA_TERMS_MAX : (uint32_t)n;
}

/* Rows of a unit's factors: a whole number of groups that a thread mixes together. */
static uint32_t rows_of(uint32_t nlambda)
{
	return (nlambda + CUDA_MIX_ROWS - 1) / CUDA_MIX_ROWS * CUDA_MIX_ROWS;
}

/* Up to `nstate` states. */
static struct sizes sizes_of(const struct plan *pl, uint32_t nstate)
{
	uint64_t kept = plan_units(pl, nstate) * pl->width, nform = 0, states = 0;
	uint64_t sums = (1 + 2 * (uint64_t)SUMS_MAX) * sizeof(long long), factors;

	for (uint32_t c = 0; c < pl->ncircuit; c++) {
		uint64_t n = forms_count(&pl->circuit[c]), nbyte;

		nform = n > nform ? n : nform;
		if (__builtin_mul_overflow(kept, state_bytes(pl, c), &nbyte)
			|| __builtin_add_overflow(states, nbyte, &states))
			states = UINT64_MAX / 2;
	}
	factors = nform * nstate * rows_of(nstate < pl->width ? nstate : pl->width)
		* amplitude_bytes(pl);
	return (struct sizes){ states, sums > factors ? sums : factors };
}

static uint64_t cache_bytes(const struct plan *pl, uint32_t nstate, unsigned nrank)
{
	struct sizes s = sizes_of(pl, nstate);

	(void)nrank; /* states are not split */
	return s.states + s.work;
}

void cuda_state_cache_free(struct backend_state *b)
{
	struct cuda_state_cache *k = b ? b->cache : NULL;

	if (!k)
		return;
	for (unsigned d = 0; d < b->ndevice; d++) {
		cuda_free(k->memory[d].device);
		cuda_host_free(k->memory[d].host);
	}
	arena_release(&k->arena);
	free(k);
	b->cache = NULL;
}

static int cache_reserve(struct backend_state *b, uint32_t nstate, struct err *e)
{
	const struct plan *pl = b->device[0]->plan;
	struct sizes size = sizes_of(pl, nstate);
	struct cuda_state_cache *k;
	size_t first = 0;
	int code = 0;

	if (b->cache && b->cache->nstate >= plan_units(pl, nstate) * pl->width)
		return 0;
	cuda_state_cache_free(b);
	b->cache = k = mem_alloc(1, sizeof *k);
	arena_init(&k->arena);
	k->nstate = (uint32_t)(plan_units(pl, nstate) * pl->width);
	k->circuit = arena_alloc(&k->arena, pl->ncircuit, sizeof *k->circuit);
	k->memory = arena_alloc(&k->arena, b->ndevice, sizeof *k->memory);
	for (uint32_t c = 0; c < pl->ncircuit; c++) {
		forms_of(b->device[0]->circuit[c].plan, &k->arena, &k->circuit[c].forms);
		k->circuit[c].first = first;
		k->circuit[c].device =
			arena_alloc(&k->arena, plan_units(pl, nstate), sizeof(unsigned));
		first += k->nstate * state_bytes(pl, c);
	}
	k->nbyte = first;
	for (unsigned d = 0; d < b->ndevice && !code; d++) {
		struct cuda_stream *s = b->device[d]->stream;

		k->memory[d].device = cuda_malloc(s, size.states + size.work);
		k->memory[d].host = cuda_host_malloc(s, size.work);
		code = cuda_state_failure(b->device[d], e);
	}
	if (code)
		cuda_state_cache_free(b);
	return code;
}

/* ---- places in the memory of device d ---- */

static char *state_at(const struct backend_state *b, unsigned d, uint32_t c, uint32_t number)
{
	return b->cache->memory[d].device + b->cache->circuit[c].first
		+ number * state_bytes(b->device[d]->plan, c);
}

/* Of sums and factors: those on the device. */
static char *behind_states(const struct backend_state *b, unsigned d)
{
	return b->cache->memory[d].device + b->cache->nbyte;
}

/* ---- keeping ---- */

static void cache_keep(struct backend_state *b, unsigned worker, uint32_t c, uint32_t unit)
{
	struct cuda_state *s = b->device[worker];
	uint32_t width = s->plan->width, n = s->nsample < width ? s->nsample : width;

	cuda_copy(s->stream, state_at(b, worker, c, unit * width), s->stream, s->gpu.psi,
		n * state_bytes(s->plan, c));
	b->cache->circuit[c].device[unit] = worker;
}

/* The states of a circuit that device d has not kept itself. */
static void gather(struct backend_state *b, unsigned d, uint32_t c, uint32_t nstate)
{
	const struct plan *pl = b->device[d]->plan;

	for (uint32_t unit = 0; unit < plan_units(pl, nstate); unit++) {
		unsigned from = b->cache->circuit[c].device[unit];
		uint32_t first, n = unit_states(unit, pl->width, nstate, &first);

		if (from != d)
			cuda_copy(b->device[d]->stream, state_at(b, d, c, first),
				b->device[from]->stream, state_at(b, from, c, first),
				n * state_bytes(pl, c));
	}
}

static struct cuda_term term_of(const struct form_term *t)
{
	return (struct cuda_term){
		.flip = t->mask.flip, .sign = t->mask.sign, .ny = (uint8_t)t->mask.ny
	};
}

/* ---- overlaps ---- */

/* Terms first .. first + n - 1: this device's share. */
static void sum_overlaps(struct backend_state *b, unsigned d, uint32_t c, uint32_t nstate,
	uint32_t first, uint32_t n)
{
	struct cuda_state *s = b->device[d];
	size_t nbyte = (1 + (size_t)n * nstate * nstate * 2) * sizeof(long long);
	struct cuda_overlaps a = { .state = state_at(b, d, c, 0),
		.sum = (long long *)behind_states(b, d),
		.nbit = s->circuit[c].nbit,
		.nstate = nstate,
		.nterm = n,
		.first = d,
		.step = b->ndevice };

	for (uint32_t t = 0; t < n; t++)
		a.term[t] = term_of(&b->cache->circuit[c].forms.term[first + t]);
	cuda_mark(s, EVENT_PHASE, PHASE_NONE);
	cuda_clear(s->stream, a.sum, nbyte);
	cuda_launch_overlaps(s->stream, &a, s->twice);
	cuda_mark(s, EVENT_PHASE, PHASE_COMBINE);
	cuda_download(s->stream, b->cache->memory[d].host, a.sum, nbyte);
}

/* Both triangles from what all devices have summed of one. */
static void add_overlaps(const struct backend_state *b, const struct form_term *term,
	uint32_t number, uint32_t nstate, cplx *m)
{
	m += (size_t)term->form * nstate * nstate;
	for (uint32_t k = 0; k < nstate; k++)
		for (uint32_t l = k; l < nstate; l++) {
			size_t at = 1 + 2 * (((size_t)number * nstate + k) * nstate + l);
			long long re = 0, im = 0, bad = 0;
			double unit = term->coefficient / (double)(1ll << CUDA_FIXED_BITS);
			cplx z;

			for (unsigned d = 0; d < b->ndevice; d++) {
				const long long *sum = (const long long *)b->cache->memory[d].host;

				bad += sum[0];
				re += sum[at];
				im += sum[at + 1];
			}
			z = bad ? cplx_of(NAN, NAN) : cplx_of(unit * (double)re, unit * (double)im);
			m[(size_t)k * nstate + l] += z;
			if (k != l)
				m[(size_t)l * nstate + k] += conj(z);
		}
}

static int cache_overlaps(struct backend_state *b, uint32_t c, uint32_t nstate, cplx *m, struct err *e)
{
	const struct forms *f = &b->cache->circuit[c].forms;
	uint32_t most = terms_at_a_time(nstate);
	int code = 0;

	memset(m, 0, (size_t)f->nform * nstate * nstate * sizeof *m);
	for (unsigned d = 0; d < b->ndevice; d++)
		cuda_wait(b->device[d]->stream); /* others read what it keeps */
	for (unsigned d = 0; d < b->ndevice; d++)
		gather(b, d, c, nstate);
	for (uint32_t first = 0; first < f->nterm && !code; first += most) {
		uint32_t n = f->nterm - first < most ? f->nterm - first : most;

		for (unsigned d = 0; d < b->ndevice; d++)
			sum_overlaps(b, d, c, nstate, first, n);
		for (unsigned d = 0; d < b->ndevice; d++) {
			cuda_finish(b->device[d]);
			code = code ? code : cuda_state_failure(b->device[d], e);
		}
		for (uint32_t t = 0; t < n && !code; t++)
			add_overlaps(b, &f->term[first + t], t, nstate, m);
	}
	return code;
}

/* ---- back ---- */

struct mixing {
	const struct forms *f;
	uint32_t first, nlambda, nstate; /* states of the unit; all */
	const cplx *a;
};

static cplx factor_at(const struct mixing *x, uint32_t form, uint32_t l, uint32_t k)
{
	return x->a[((size_t)form * x->nstate + x->first + k) * x->nstate + l];
}

/* What the norms of all lambdas sum up to at most. */
static double bound(const struct mixing *x)
{
	double sum = 0;

	for (uint32_t t = 0; t < x->f->nterm; t++)
		for (uint32_t k = 0; k < x->nlambda; k++)
			for (uint32_t l = 0; l < x->nstate; l++) {
				cplx z = factor_at(x, x->f->term[t].form, l, k);

				sum += fabs(x->f->term[t].coefficient) * hypot(creal(z), cimag(z));
			}
	return sum;
}

static void put_factors(const struct cuda_state *s, const struct mixing *x, double scale, void *to)
{
	uint32_t nrow = rows_of(x->nlambda);
	size_t at = 0;

	for (uint32_t form = 0; form < x->f->nform; form++)
		for (uint32_t l = 0; l < x->nstate; l++)
			for (uint32_t k = 0; k < nrow; k++) {
				cplx z = k < x->nlambda ? scale * factor_at(x, form, l, k) : 0;

				cuda_put_number(s, to, at++, creal(z), cimag(z));
			}
}

static void mix(struct backend_state *b, unsigned d, uint32_t number, const struct mixing *x)
{
	struct cuda_state *s = b->device[d];
	struct cuda_mixture a = { .state = state_at(b, d, number, 0),
		.lambda = s->gpu.lambda,
		.factor = behind_states(b, d),
		.nbit = s->circuit[number].nbit,
		.nstate = x->nstate,
		.nlambda = x->nlambda };
	size_t nbyte =
		(size_t)x->f->nform * x->nstate * rows_of(x->nlambda) * cuda_amplitude_bytes(s);
	int *exponent = &s->circuit[number].exponent; /* of what lambda is divided by */

	frexp(bound(x), exponent);
	put_factors(s, x, ldexp(1, -*exponent), b->cache->memory[d].host);
	cuda_upload(s->stream, behind_states(b, d), b->cache->memory[d].host, nbyte);
	cuda_mark(s, EVENT_COPY, CUDA_TO_DEVICE);
	for (uint32_t first = 0; first < x->f->nterm; first += CUDA_TERMS_MAX, a.add = 1) {
		a.nterm = x->f->nterm - first < CUDA_TERMS_MAX ? x->f->nterm - first : CUDA_TERMS_MAX;
		for (uint32_t t = 0; t < a.nterm; t++) {
			const struct form_term *m = &x->f->term[first + t];

			a.term[t] = (struct cuda_form_term){ term_of(m), m->coefficient, m->form, 0 };
		}
		cuda_launch_mixture(s->stream, &a, s->twice);
	}
	if (!a.add)
		cuda_clear(s->stream, s->gpu.lambda, x->nlambda * state_bytes(s->plan, number));
}

static void cache_backward(struct backend_state *b, unsigned worker, uint32_t number,
	const struct unit_input *in, uint32_t unit, uint32_t nstate, const cplx *a,
	double *anti_hermitian_shared, double *const *anti_hermitian_sample)
{
	struct cuda_state *s = b->device[worker];
	uint32_t first, n = unit_states(unit, s->plan->width, nstate, &first);
	struct mixing x = { .f = &b->cache->circuit[number].forms,
		.first = first,
		.nlambda = n,
		.nstate = nstate,
		.a = a };
	size_t nbyte = state_bytes(s->plan, number), behind;
	bool good;

	cuda_store_matrices(s, &s->circuit[number], true, in->u[0]);
	assert(in->count == n);
	s->circuit[number].takes_loss = false;
	cuda_begin_backward(s, number, in);
	behind = (s->circuit[number].nsample - n) * nbyte;
	cuda_copy(s->stream, s->gpu.psi, s->stream, state_at(b, worker, number, first), n * nbyte);
	cuda_take_lambda(&s->circuit[number], CUDA_LAMBDA_STORED);
	mix(b, worker, number, &x);
	cuda_clear(s->stream, (char *)s->gpu.psi + n * nbyte, behind);
	cuda_clear(s->stream, (char *)s->gpu.lambda + n * nbyte, behind);
	good = cuda_sum_backward(s, number);
	cuda_add_sums(s, number, in, good, anti_hermitian_shared, anti_hermitian_sample);
}

const struct state_cache_ops cuda_state_cache_ops = {
	.bytes = cache_bytes,
	.reserve = cache_reserve,
	.keep = cache_keep,
	.overlaps = cache_overlaps,
	.backward = cache_backward,
};
