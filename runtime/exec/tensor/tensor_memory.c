/* SPDX-License-Identifier: Apache-2.0
 * Memory of the tensor engine: what it takes, checked before anything is taken. */
#include "runtime/exec/tensor/tensor.h"

#include <stdlib.h>

#include "runtime/base/system/cpus.h"
#include "runtime/base/system/resource_limits.h"

enum { ALIGNMENT = 64 };

void tensor_take_lists(struct tensor *t)
{
	const struct network_set *s = &t->pl->set;
	size_t nmatrix = s->set.offset[s->set.n], nexpr = t->p->nexpr;

	t->value = arena_alloc(&t->arena, nexpr, sizeof(double));
	t->u = arena_alloc(&t->arena, nmatrix, sizeof(cplx));
	t->kept = arena_alloc(&t->arena, s->set.nkept, sizeof(cplx));
	t->transfer = arena_alloc(&t->arena, s->ntransfer_entry, sizeof(double));
	t->anti_hermitian = arena_alloc(&t->arena, nmatrix, sizeof(double));
	t->pauli_gradient = arena_alloc(&t->arena, nmatrix, sizeof(double));
	t->dexpr = arena_alloc(&t->arena, nexpr, sizeof(double));
	t->dread = arena_alloc(&t->arena, s->nterm, sizeof(double));
	t->worker = arena_alloc(&t->arena, t->nthread, sizeof *t->worker);
}

static void take_worker_lists(struct tensor *t, struct tensor_worker *w)
{
	const struct network_set *s = &t->pl->set;
	size_t nmatrix = s->set.offset[s->set.n], nexpr = t->p->nexpr, lanes = t->pl->lanes;

	w->transfer = arena_alloc(&t->arena, t->nsample_entry * lanes, sizeof(double));
	w->dtransfer = arena_alloc(&t->arena, t->nsample_entry * lanes, sizeof(double));
	w->dtransfer_shared = arena_alloc(&t->arena, s->ntransfer_entry, sizeof(double));
	w->touched = arena_alloc(&t->arena, s->ntransfer, sizeof(bool));
	w->value = arena_alloc(&t->arena, nexpr * lanes, sizeof(double));
	w->u = arena_alloc(&t->arena, nmatrix * lanes, sizeof(cplx));
	w->read = arena_alloc(&t->arena, s->nterm * lanes, sizeof(double));
	w->dread = arena_alloc(&t->arena, s->nterm * lanes, sizeof(double));
	w->anti_hermitian = arena_alloc(&t->arena, nmatrix, sizeof(double));
	w->anti_hermitian_sample = arena_alloc(&t->arena, nmatrix, sizeof(double));
	w->pauli_gradient = arena_alloc(&t->arena, nmatrix, sizeof(double));
	w->dexpr = arena_alloc(&t->arena, nexpr, sizeof(double));
	w->dthreshold = arena_alloc(&t->arena, (size_t)s->nchannel * NOISE_WORDS_MAX, sizeof(double));
}

/* Bytes of take_lists. */
static double engine_lists(const struct tensor *t)
{
	const struct network_set *s = &t->pl->set;
	double nmatrix = s->set.offset[s->set.n];

	return sizeof(double)
		* (2.0 * t->p->nexpr + (double)s->ntransfer_entry + 2 * nmatrix + s->nterm)
		+ sizeof(cplx) * (nmatrix + (double)s->set.nkept);
}

/* Numbers of take_worker_lists. */
static double worker_lists(const struct tensor *t)
{
	const struct network_set *s = &t->pl->set;
	double nmatrix = s->set.offset[s->set.n], nexpr = t->p->nexpr;

	return t->pl->lanes * (2 * (double)t->nsample_entry + nexpr + 2 * nmatrix + 2.0 * s->nterm)
		+ (double)s->ntransfer_entry + s->ntransfer / 8.0 + 3 * nmatrix + nexpr
		+ (double)s->nchannel * NOISE_WORDS_MAX;
}

static double memory_available(const struct tensor *t, unsigned nthread)
{
	return (double)(t->o.memory_limit ? t->o.memory_limit : ulimit_memory_available(nthread));
}

/* Bytes of one worker. */
static double worker_bytes(const struct tensor *t)
{
	bool gradient = t->o.gradient != GRADIENT_NONE;

	return tensor_plan_bytes(t->pl, 1, gradient) - tensor_plan_bytes(t->pl, 0, gradient)
		+ sizeof(double) * worker_lists(t);
}

/* Bytes of what nthread threads share. */
static double shared_bytes(const struct tensor *t, unsigned nthread)
{
	return tensor_plan_bytes(t->pl, 0, t->o.gradient != GRADIENT_NONE) + engine_lists(t)
		+ sizeof(double) * (double)nthread * CONTRACTION_PACK;
}

int tensor_check_memory(struct tensor *t, struct err *e)
{
	double shared = shared_bytes(t, t->nthread), one = worker_bytes(t);
	double have = memory_available(t, t->nthread);
	char needed[MEMORY_TEXT_MAX], available[MEMORY_TEXT_MAX];
	bool fewer = shared_bytes(t, 1) + one <= memory_available(t, 1);

	if (shared + one > have)
		return err_set(e, -ERR_CONFIG,
			"the tensors need %s, the largest of %.4g entries, %s available%s",
			memory_text(shared + one, 0, needed), t->pl->widest,
			memory_text(have, 0, available),
			fewer ? "; fewer threads (--threads) need less" : "");
	t->nworker =
		shared + t->nthread * one <= have ? t->nthread : (unsigned)((have - shared) / one);
	return 0;
}

/* Numbers from the start of a cache line on; *at may be NULL. */
static double *take_numbers(size_t n)
{
	void *at = NULL;

	return posix_memalign(&at, ALIGNMENT, (n + 1) * sizeof(double)) ? NULL : at;
}

static size_t round_up(size_t n) { return (n + 7) / 8 * 8; }

static bool take_worker(const struct tensor *t, struct tensor_worker *w)
{
	const struct tensor_plan *pl = t->pl;
	bool gradient = t->o.gradient != GRADIENT_NONE;
	size_t lanes = pl->lanes, sample = round_up(pl->ngradient_sample * lanes),
	       shared = round_up(pl->ngradient_shared);

	w->entry = take_numbers(pl->nsample * lanes);
	w->gradient_sample = take_numbers(gradient ? sample + shared : 0);
	w->gradient_shared = w->gradient_sample + (gradient ? sample : 0);
	w->pack = t->pack + (size_t)(w - t->worker) * CONTRACTION_PACK;
	return w->entry && w->gradient_sample;
}

void tensor_free_memory(struct tensor *t)
{
	for (unsigned k = 0; k < t->nthread && t->worker; k++) {
		free(t->worker[k].entry);
		free(t->worker[k].gradient_sample);
		t->worker[k].entry = t->worker[k].gradient_sample = NULL;
	}
	free(t->entry);
	free(t->pack);
	t->entry = t->pack = NULL;
}

int tensor_take_memory(struct tensor *t, struct err *e)
{
	int code = t->taken ? 0 : tensor_check_memory(t, e);
	bool good = true;

	if (code || t->taken)
		return code;
	tensor_plan_offsets(t->pl);
	t->entry = take_numbers(t->pl->nshared);
	t->pack = take_numbers((size_t)t->nthread * CONTRACTION_PACK);
	for (unsigned k = 0; k < t->nworker; k++)
		good = take_worker(t, &t->worker[k]) && good;
	if (!good || !t->entry || !t->pack) {
		tensor_free_memory(t);
		return err_set(e, -ERR_CONFIG, "the system has no memory for the tensors");
	}
	for (unsigned k = 0; k < t->nworker; k++)
		take_worker_lists(t, &t->worker[k]);
	t->taken = true;
	if (t->weighted)
		tensor_make_shared(t);
	return 0;
}
