/* SPDX-License-Identifier: Apache-2.0
 * Final states side by side: overlaps between any two, and what batch rank sends back.
 *
 * Overlaps are cut into tiles of states and parts of rows, both of fixed size; each is
 * summed in one order and the parts are added in theirs. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/exec/statevector/cpu/cpu_state.h"
#include "runtime/exec/statevector/pauli_observables.h"
#include "runtime/exec/statevector/plan/plan_stage.h"

enum {
	TILE = 8,       /* states on each side of a tile */
	BANK_ROWS = 64, /* rows that a tile visits at once: 8 KiB of a state, 2 * TILE of them in L2 */
	NEXT = 3 /* of one circuit's shared state: units whose lambda is made together with that of the one before */
};

struct cpu_state_cache {
	struct arena arena;
	struct forms *forms; /* (ncircuit) */
	uint32_t nunit;
	char *memory;     /* of all that follows */
	void ***state;    /* [circuit][unit], as cpu_whole gives them */
	void *next[NEXT]; /* lambda of units next_first to next_end - 1, mixed while the states were near; or NULL */
	cplx *part;       /* sums of overlaps, where states are no lanes of others */
	uint32_t next_first, next_end;
};

/* ---- memory ---- */

static uint64_t tiles_of(uint32_t nstate)
{
	uint64_t n = ((uint64_t)nstate + TILE - 1) / TILE;
	return n * (n + 1) / 2;
}

/* Of each lambda that is made before it is needed; 0: none is. */
static uint64_t next_bytes(const struct plan *pl, unsigned nrank)
{
	return pl->shape == SHAPE_SHARED && pl->ncircuit == 1 ? cpu_state_bytes(pl, 0, nrank) : 0;
}

static uint64_t part_bytes(const struct plan *pl, uint32_t nstate)
{
	return pl->shape == SHAPE_BATCHED
		? 0
		: tiles_of(nstate) * CPU_CHUNKS * TILE * TILE * sizeof(cplx);
}

/* But for those. */
static uint64_t own_bytes(const struct plan *pl, uint32_t nstate, unsigned nrank)
{
	uint64_t sum = part_bytes(pl, nstate);

	for (uint32_t c = 0; c < pl->ncircuit; c++)
		if (__builtin_add_overflow(sum,
			    plan_units(pl, nstate) * cpu_state_bytes(pl, c, nrank), &sum))
			return UINT64_MAX;
	return __builtin_add_overflow(sum, NEXT * next_bytes(pl, nrank), &sum) ? UINT64_MAX : sum;
}

static uint64_t cache_bytes(const struct plan *pl, uint32_t nstate, unsigned nrank)
{
	uint64_t sum = own_bytes(pl, nstate, nrank);
	/* While sums of overlaps are gathered (split_gather): what a process sends, and what all have sent. */
	uint64_t sent = nrank > 1 ? part_bytes(pl, nstate) / nrank * (nrank + 1) : 0;

	return __builtin_add_overflow(sum, sent, &sum) ? UINT64_MAX : sum;
}

void cpu_state_cache_free(struct cpu_state_cache *k)
{
	if (k == NULL)
		return;
	cpu_release(MEMORY_STATE_CACHE, k->memory);
	arena_release(&k->arena);
	free(k);
}

/* The next state of circuit c in the memory, as cpu_whole gives it. */
static void *place_state(const struct backend_state *b, uint32_t c, char **at)
{
	char *part = *at;
	*at += cpu_state_bytes(b->plan, c, 1u << b->rank_bits);
	return cpu_whole(b, &b->circuit[c], part);
}

static void place_states(struct backend_state *b, struct cpu_state_cache *k)
{
	char *at = k->memory;
	for (uint32_t c = 0; c < b->plan->ncircuit; c++) {
		k->state[c] = arena_alloc(&k->arena, k->nunit, sizeof **k->state);
		for (uint32_t u = 0; u < k->nunit; u++)
			k->state[c][u] = place_state(b, c, &at);
	}
	for (unsigned n = 0; next_bytes(b->plan, 1) > 0 && n < NEXT; n++)
		k->next[n] = place_state(b, 0, &at);
	k->part = (cplx *)at;
}

static int cache_reserve(struct backend_state *b, uint32_t nstate, struct err *e)
{
	uint32_t nunit = (uint32_t)plan_units(b->plan, nstate), ncircuit = b->plan->ncircuit;
	struct cpu_state_cache *k = b->state_cache;
	if (k && k->nunit >= nunit)
		return 0;
	cpu_state_cache_free(k);
	b->state_cache = k = mem_alloc(1, sizeof *k);
	k->nunit = nunit;
	k->memory = cpu_aligned(MEMORY_STATE_CACHE, own_bytes(b->plan, nstate, 1u << b->rank_bits));
	if (!k->memory) {
		cpu_state_cache_free(k);
		b->state_cache = NULL;
		return err_set(e, -ERR_CONFIG,
			"the system has no memory for %u states side by side", nstate);
	}
	k->state = arena_alloc(&k->arena, ncircuit, sizeof *k->state);
	k->forms = arena_alloc(&k->arena, ncircuit, sizeof *k->forms);
	for (uint32_t c = 0; c < ncircuit; c++)
		forms_of(&b->plan->circuit[c], &k->arena, &k->forms[c]);
	place_states(b, k);
	return 0;
}

/* ---- copies ---- */

struct copy {
	const struct backend_state *b;
	const struct cpu_circuit *c;
	void *to;
	const void *from;
};

static void copy_chunk(void *ctx, unsigned chunk, struct cpu_worker *thread)
{
	struct copy *y = ctx;
	size_t row = cpu_row_bytes(y->b);
	size_t first = cpu_chunk_begin(y->c->nrow, y->c->nchunk, chunk),
	       last = cpu_chunk_begin(y->c->nrow, y->c->nchunk, chunk + 1);
	(void)thread;
	memcpy((char *)y->to + first * row, (const char *)y->from + first * row, (last - first) * row);
}

static void copy_state(struct backend_state *b, struct cpu_worker *w, const struct cpu_circuit *c,
	void *to, const void *from)
{
	cpu_chunks(b, w, c->span, copy_chunk, &(struct copy){ b, c, to, from });
}

static void *psi_of(const struct backend_state *b, const struct cpu_worker *w, uint32_t c)
{
	return cpu_whole(b, &b->circuit[c], w->psi[cpu_slot(b, c)]);
}

static void cache_keep(struct backend_state *b, unsigned worker, uint32_t c, uint32_t unit)
{
	struct cpu_worker *w = &b->worker[worker];
	copy_state(b, w, &b->circuit[c], b->state_cache->state[c][unit], psi_of(b, w, c));
}

/* ---- overlaps ---- */

/* Both triangles get what was found for k <= l. */
static void add_pair(cplx *m, uint32_t n, uint32_t k, uint32_t l, cplx z)
{
	if (k >= n || l >= n || k > l)
		return;
	m[(size_t)k * n + l] += z;
	if (k != l)
		m[(size_t)l * n + k] += conj(z);
}

/* The unit pair (g, h), g <= h, of the item's number. */
static void pair_of(uint64_t item, uint32_t *g, uint32_t *h)
{
	*h = 0;
	while (item > *h)
		item -= ++*h;
	*g = (uint32_t)item;
}

/* SHAPE_BATCHED: one pair of units, all terms in order.  Pairs write to places of their own. */
static void overlap_units(const struct backend_state *b, uint32_t number, uint32_t g, uint32_t h,
	uint32_t nstate, cplx *m)
{
	const struct cpu_circuit *c = &b->circuit[number];
	const struct forms *f = &b->state_cache->forms[number];
	unsigned lanes = b->k->lanes;
	double out[2 * KERNEL_LANES_MAX * KERNEL_LANES_MAX];
	for (uint32_t t = 0; t < f->nterm; t++) {
		const struct form_term *term = &f->term[t];
		struct kernel_term kernel = cpu_kernel_term(b, term->mask);
		memset(out, 0, sizeof out);
		b->k->overlap_lanes(b->state_cache->state[number][g],
			b->state_cache->state[number][h], c->nrow, &kernel, out);
		for (unsigned k = 0; k < lanes; k++)
			for (unsigned l = 0; l < lanes; l++)
				add_pair(m + (size_t)term->form * nstate * nstate, nstate,
					g * lanes + k, h * lanes + l,
					cplx_of(term->coefficient * out[2 * lanes * k + l],
						term->coefficient * out[2 * lanes * k + lanes + l]));
	}
}

/* Part `chunk` of the rows for the states g*TILE.. and h*TILE.. . */
static void overlap_tile(const struct backend_state *b, uint32_t number, const struct kernel_term *t,
	uint32_t g, uint32_t h, uint32_t nstate, unsigned chunk, cplx part[TILE * TILE])
{
	const struct cpu_circuit *c = &b->circuit[number];
	size_t first = cpu_chunk_begin(c->nrow, c->nchunk, chunk),
	       last = cpu_chunk_begin(c->nrow, c->nchunk, chunk + 1);
	double sum[TILE * TILE][2 * KERNEL_LANES_MAX] = { 0 };
	void *const *state = b->state_cache->state[number];
	unsigned lanes = b->k->lanes;
	for (size_t row = first; row < last; row += BANK_ROWS)
		for (uint32_t k = g * TILE; k < g * TILE + TILE && k < nstate; k++)
			for (uint32_t l = h * TILE > k ? h * TILE : k;
				l < h * TILE + TILE && l < nstate; l++)
				b->k->overlap(state[k], state[l], row,
					row + BANK_ROWS < last ? row + BANK_ROWS : last, t,
					sum[(k - g * TILE) * TILE + l - h * TILE]);
	for (unsigned p = 0; p < TILE * TILE; p++) {
		double re = 0, im = 0;
		for (unsigned l = 0; l < lanes; l++) {
			re += sum[p][l];
			im += sum[p][lanes + l];
		}
		part[p] = cplx_of(re, im);
	}
}

static void add_tiles(const struct cpu_circuit *c, const struct form_term *term, uint64_t ntile,
	uint32_t nstate, const cplx *part, cplx *m)
{
	m += (size_t)term->form * nstate * nstate;
	for (uint64_t tile = 0; tile < ntile; tile++) {
		uint32_t g, h;
		pair_of(tile, &g, &h);
		for (unsigned p = 0; p < TILE * TILE; p++) {
			cplx sum = 0;
			for (unsigned chunk = 0; chunk < c->nchunk; chunk++)
				sum += part[(chunk * ntile + tile) * TILE * TILE + p];
			add_pair(m, nstate, g * TILE + p / TILE, h * TILE + p % TILE,
				term->coefficient * sum);
		}
	}
}

/* part: (nchunk, ntile, TILE * TILE). */
static void overlap_large(struct backend_state *b, uint32_t number, uint32_t nstate, cplx *m)
{
	const struct cpu_circuit *c = &b->circuit[number];
	const struct forms *f = &b->state_cache->forms[number];
	uint64_t ntile = tiles_of(nstate);
	cplx *part = b->state_cache->part;
	for (uint32_t t = 0; t < f->nterm; t++) {
		struct kernel_term kernel = cpu_kernel_term(b, f->term[t].mask);
#pragma omp parallel num_threads((int)b->nthread)
		{
			unsigned saved = kernels_flush_enter();
			int64_t began = omp_get_thread_num() ? recorder_begin() : 0;
#pragma omp for schedule(static) nowait
			for (uint64_t item = c->span.first * ntile; item < c->span.end * ntile;
				item++) {
				uint32_t g, h;
				pair_of(item % ntile, &g, &h);
				overlap_tile(b, number, &kernel, g, h, nstate,
					(unsigned)(item / ntile), part + item * TILE * TILE);
			}
			recorder_help(EVENT_PHASE, PHASE_COMBINE, began);
			kernels_flush_leave(saved);
		}
		cpu_gather(b, (double *)part, ntile * TILE * TILE * sizeof *part / sizeof(double),
			c->span);
		add_tiles(c, &f->term[t], ntile, nstate, part, m);
	}
}

static int cache_overlaps(struct backend_state *b, uint32_t number, uint32_t nstate, cplx *m,
	struct err *e)
{
	uint64_t n = plan_units(b->plan, nstate), npair = n * (n + 1) / 2;
	memset(m, 0, (size_t)b->state_cache->forms[number].nform * nstate * nstate * sizeof *m);
	(void)e;
	if (b->lane_bits) {
		overlap_large(b, number, nstate, m);
		return 0;
	}
#pragma omp parallel num_threads((int)b->nthread) if (npair > 1)
	{
		unsigned saved = kernels_flush_enter();
		int64_t began = omp_get_thread_num() ? recorder_begin() : 0;
#pragma omp for schedule(static) nowait
		for (uint64_t item = 0; item < npair; item++) {
			uint32_t g, h;
			pair_of(item, &g, &h);
			overlap_units(b, number, g, h, nstate, m);
		}
		recorder_help(EVENT_PHASE, PHASE_COMBINE, began);
		kernels_flush_leave(saved);
	}
	return 0;
}

/* ---- the backward pass ---- */

struct mixing {
	struct backend_state *b;
	const struct cpu_circuit *c;
	const struct forms *forms;
	void *const *state;
	void *lambda[1 + NEXT]; /* of the unit and of those behind it */
	unsigned nlambda;
	uint32_t unit, nstate;
	const cplx *a;
};

static cplx factor_of(const struct mixing *x, const struct form_term *t, uint32_t k, uint32_t l)
{
	cplx z = k < x->nstate && l < x->nstate
		? x->a[((size_t)t->form * x->nstate + k) * x->nstate + l]
		: 0;
	return t->coefficient * z;
}

/* States l .. l + n - 1 of one term to the lambda of a unit. */
static void add_states(const struct mixing *x, void *lambda, uint32_t unit,
	const struct form_term *term, uint32_t l, unsigned n, size_t first, size_t last)
{
	struct kernel_term kernel = cpu_kernel_term(x->b, term->mask);
	double c[2 * KERNEL_MIX_MAX];
	for (unsigned k = 0; k < n; k++) {
		cplx z = factor_of(x, term, unit, l + k);
		c[2 * k] = creal(z);
		c[2 * k + 1] = cimag(z);
	}
	x->b->k->mix(lambda, (const void *const *)x->state + l, n, first, last, &kernel, c);
}

static void mix_rows(const struct mixing *x, void *lambda, uint32_t unit, size_t first, size_t last)
{
	x->b->k->zero(lambda, first, last);
	for (uint32_t l = 0; l < x->nstate; l += KERNEL_MIX_MAX)
		for (uint32_t t = 0; t < x->forms->nterm; t++)
			add_states(x, lambda, unit, &x->forms->term[t], l,
				x->nstate - l < KERNEL_MIX_MAX ? x->nstate - l : KERNEL_MIX_MAX,
				first, last);
}

static void mix_chunk(void *ctx, unsigned chunk, struct cpu_worker *thread)
{
	const struct mixing *x = ctx;
	size_t first = cpu_chunk_begin(x->c->nrow, x->c->nchunk, chunk),
	       last = cpu_chunk_begin(x->c->nrow, x->c->nchunk, chunk + 1);
	(void)thread;
	for (size_t row = first; row < last; row += BANK_ROWS) {
		size_t end = row + BANK_ROWS < last ? row + BANK_ROWS : last;
		for (unsigned k = 0; k < x->nlambda; k++)
			mix_rows(x, x->lambda[k], x->unit + k, row, end);
	}
}

static void mix_lanes(const struct mixing *x)
{
	unsigned lanes = x->b->k->lanes;
	uint32_t nunit = (uint32_t)plan_units(x->b->plan, x->nstate);
	double c[2 * KERNEL_LANES_MAX * KERNEL_LANES_MAX];
	x->b->k->zero(x->lambda[0], 0, x->c->nrow);
	for (uint32_t t = 0; t < x->forms->nterm; t++) {
		const struct form_term *term = &x->forms->term[t];
		struct kernel_term kernel = cpu_kernel_term(x->b, term->mask);
		for (uint32_t h = 0; h < nunit; h++) {
			for (unsigned k = 0; k < lanes; k++)
				for (unsigned l = 0; l < lanes; l++) {
					cplx z = factor_of(x, term, x->unit * lanes + l,
						h * lanes + k);
					c[2 * lanes * k + l] = creal(z);
					c[2 * lanes * k + lanes + l] = cimag(z);
				}
			x->b->k->lambda_lanes(x->lambda[0], x->state[h], x->c->nrow, &kernel, c);
		}
	}
}

/* The lambda of x's unit, which one before may have left; those of the next ones are made in the same visit where there is room for
 * them, since reading all states takes longer than mixing them.  Units come in their order, from 0. */
static void *mixed(struct mixing *x, struct cpu_worker *w)
{
	struct cpu_state_cache *k = x->b->state_cache;
	if (x->unit >= k->next_first && x->unit < k->next_end)
		return k->next[x->unit - k->next_first];
	for (; x->nlambda < 1 + NEXT && x->unit + x->nlambda < x->nstate && k->next[0]; x->nlambda++)
		x->lambda[x->nlambda] = k->next[x->nlambda - 1];
	cpu_chunks(x->b, w, x->c->span, mix_chunk, x);
	if (x->nlambda > 1) { /* else several threads may be here */
		k->next_first = x->unit + 1;
		k->next_end = x->unit + x->nlambda;
	}
	return x->lambda[0];
}

static void cache_backward(struct backend_state *b, unsigned worker, uint32_t number,
	const struct unit_input *in, uint32_t unit, uint32_t nstate, const cplx *a,
	double *anti_hermitian_shared, double *const *anti_hermitian_sample)
{
	struct cpu_worker *w = &b->worker[worker];
	const struct cpu_circuit *c = &b->circuit[number];
	struct mixing x = { b, c, &b->state_cache->forms[number], b->state_cache->state[number],
		{ cpu_whole(b, c, w->lambda) }, 1, unit, nstate, a };
	void *psi = psi_of(b, w, number), *own = w->lambda;
	w->resident[cpu_slot(b, number)] = INDEX_NONE;
	copy_state(b, w, c, psi, x.state[unit]);
	cpu_sample_matrices(b, w, c, in);
	if (b->lane_bits)
		w->lambda = (char *)mixed(&x, w) + cpu_first_row(b, c) * cpu_row_bytes(b);
	else
		mix_lanes(&x);
	cpu_backward_sweep(b, w, c, in, psi, &(struct cpu_begin){ 0 }, anti_hermitian_shared,
		anti_hermitian_sample);
	w->lambda = own;
}

const struct state_cache_ops cpu_state_cache_ops = {
	.bytes = cache_bytes,
	.reserve = cache_reserve,
	.keep = cache_keep,
	.overlaps = cache_overlaps,
	.backward = cache_backward,
};
