/* SPDX-License-Identifier: Apache-2.0
 * Memory of the tensor engine: what it takes, checked before anything is taken. */
#include "runtime/exec/tensor/tensor.h"

#include <stdlib.h>

#include "runtime/base/system/cpus.h"
#include "runtime/base/system/resource_limits.h"

enum { ALIGNMENT = 64 };

/* Lists are taken from an arena; where there is none, their bytes are counted alone. */
struct lists {
	struct arena *a;
	double nbyte;
};

static void *list(struct lists *l, size_t n, size_t size)
{
	l->nbyte += (double)n * (double)size;
	return l->a ? arena_alloc(l->a, n, size) : NULL;
}

static void engine_lists(struct tensor *t, struct lists *l)
{
	const struct network_set *s = &t->pl->set;
	size_t nmatrix = s->set.offset[s->set.n], nexpr = t->p->nexpr;

	t->value = list(l, nexpr, sizeof(double));
	t->u = list(l, nmatrix, sizeof(cplx));
	t->kept = list(l, s->set.nkept, sizeof(cplx));
	t->transfer = list(l, s->ntransfer_entry, sizeof(double));
	t->anti_hermitian = list(l, nmatrix, sizeof(double));
	t->pauli_gradient = list(l, nmatrix, sizeof(double));
	t->dexpr = list(l, nexpr, sizeof(double));
	t->dread = list(l, s->nterm, sizeof(double));
}

void tensor_take_lists(struct tensor *t)
{
	engine_lists(t, &(struct lists){ &t->arena, 0 });
	t->worker = arena_alloc(&t->arena, t->nthread, sizeof *t->worker);
}

static void worker_lists(const struct tensor *t, struct tensor_worker *w, struct lists *l)
{
	const struct network_set *s = &t->pl->set;
	size_t nmatrix = s->set.offset[s->set.n], nexpr = t->p->nexpr, lanes = t->pl->lanes;

	w->transfer = list(l, t->nsample_entry * lanes, sizeof(double));
	w->dtransfer = list(l, t->nsample_entry * lanes, sizeof(double));
	w->dtransfer_shared = list(l, s->ntransfer_entry, sizeof(double));
	w->touched = list(l, s->ntransfer, sizeof(bool));
	w->value = list(l, nexpr * lanes, sizeof(double));
	w->u = list(l, nmatrix * lanes, sizeof(cplx));
	w->read = list(l, s->nterm * lanes, sizeof(double));
	w->dread = list(l, s->nterm * lanes, sizeof(double));
	w->anti_hermitian = list(l, nmatrix, sizeof(double));
	w->anti_hermitian_sample = list(l, nmatrix, sizeof(double));
	w->pauli_gradient = list(l, nmatrix, sizeof(double));
	w->dexpr = list(l, nexpr, sizeof(double));
	w->dthreshold = list(l, (size_t)s->nchannel * NOISE_WORDS_MAX, sizeof(double));
}

static double memory_available(const struct tensor *t, unsigned nthread)
{
	return (double)(t->o.memory_limit ? t->o.memory_limit : ulimit_memory_available(nthread));
}

/* Bytes of one worker. */
static double worker_bytes(const struct tensor *t)
{
	bool gradient = t->o.gradient != GRADIENT_NONE;
	struct lists l = { NULL, tensor_plan_bytes(t->pl, 1, gradient) };
	struct tensor_worker counted;

	worker_lists(t, &counted, &l);
	return l.nbyte - tensor_plan_bytes(t->pl, 0, gradient);
}

/* Bytes of what nthread threads share. */
static double shared_bytes(const struct tensor *t, unsigned nthread)
{
	struct lists l = { NULL, tensor_plan_bytes(t->pl, 0, t->o.gradient != GRADIENT_NONE) };
	struct tensor counted = *t;

	engine_lists(&counted, &l);
	return l.nbyte + sizeof(double) * (double)nthread * CONTRACTION_PACK;
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
		worker_lists(t, &t->worker[k], &(struct lists){ &t->arena, 0 });
	t->taken = true;
	if (t->weighted)
		tensor_make_shared(t);
	return 0;
}
