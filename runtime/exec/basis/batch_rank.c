/* SPDX-License-Identifier: Apache-2.0
 * Life of batch rank: the basis of a batch, remembered; evaluating the batch by it. */
#include "config.h"
#include "runtime/exec/basis/batch_rank_state.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/exec/statevector/gradient_adjoint.h"
#include "runtime/exec/statevector/state_memory.h"

enum { KEPT_MAX = 1 << 23 };     /* inputs that are remembered */

/* ---- life ---- */

/* Does what differs between samples depend on weights (frozen ones, or in a forward sweep)? */
static bool encoding_has_weights(const struct evaluator *ev)
{
	const struct program *p = ev->p;

	for (uint32_t i = 0; i < p->nexpr; i++) {
		const struct expr *x = &p->expr[i];
		unsigned n = expr_noperand(x->op);

		if (x->cls == VALUE_SAMPLE && ((n > 0 && p->expr[x->a].cls == VALUE_SHARED)
				|| (n > 1 && p->expr[x->b].cls == VALUE_SHARED)))
			return true;
	}
	for (uint32_t m = 0; m < ev->pl->set.n; m++) {
		const struct matrix *def = ev->pl->set.def[m];

		for (uint32_t k = 0; ev->need_sample[m] && def->cls == VALUE_SAMPLE && k < def->nitem; k++) {
			const struct item *it = &def->item[k];

			if (it->gate == GATE_NONE ? ev->pl->set.def[it->ref]->cls == VALUE_SHARED : false)
				return true;
			for (unsigned a = 0; it->gate != GATE_NONE && a < gate_row(it->gate)->nangle; a++)
				if (p->expr[it->angle[a]].cls == VALUE_SHARED)
					return true;
		}
	}
	return false;
}

static void list_forms(struct evaluator *ev, struct rank *k)
{
	k->forms = arena_alloc(&ev->arena, ev->pl->ncircuit, sizeof *k->forms);
	k->first_form = arena_alloc(&ev->arena, ev->pl->ncircuit, sizeof *k->first_form);
	for (uint32_t c = 0; c < ev->pl->ncircuit; c++) {
		forms_of(&ev->pl->circuit[c], &ev->arena, &k->forms[c]);
		k->first_form[c] = k->nform;
		k->nform += k->forms[c].nform;
	}
}

int rank_new(struct evaluator *ev, struct err *e)
{
	struct rank *k;
	const char *why;

	if (!ev->backend->bank || ev->o.gradient > GRADIENT_ADJOINT || !rank_possible(ev->pl, ev->o.gradient != GRADIENT_NONE, &why))
		return 0;
	ev->rank = k = mem_alloc(1, sizeof *k);
	pthread_mutex_init(&k->lock, NULL);
	k->keeps = !encoding_has_weights(ev);
	list_forms(ev, k);
	k->value = mem_try((size_t)ev->nworker * k->nform + 1, sizeof *k->value);
	k->head = mem_try(((size_t)ev->nworker + 1) * nhead(ev) + 1, sizeof *k->head);
	k->sum = mem_try((size_t)ev->nworker * ev->nvector + 1, sizeof *k->sum);
	if (!k->value || !k->head || !k->sum)
		return err_set(e, -ERR_CONFIG, "no memory for the sums of %u threads", ev->nworker);
	return 0;
}

static void forget(struct rank *k)
{
	free(k->pivot);
	free(k->row);
	free(k->c);
	free(k->kept);
	free(k->m);
	free(k->a);
	free(k->slope);
	k->pivot = k->row = NULL;
	k->c = k->m = k->a = NULL;
	k->kept = k->slope = NULL;
	k->kept_on = k->proved = false;
	k->nkept = 0;
}

void rank_free(struct rank *k)
{
	if (!k)
		return;
	forget(k);
	free(k->head);
	free(k->value);
	free(k->sum);
	pthread_mutex_destroy(&k->lock);
	free(k);
}

void rank_weights(struct evaluator *ev)
{
	if (ev->rank)
		ev->rank->begun = false;
}

bool rank_on(const struct evaluator *ev)
{
	return ev->rank && ev->rank->on;
}

bool rank_size(const struct evaluator *ev, uint32_t *r, uint32_t *nsample)
{
	if (!rank_on(ev))
		return false;
	*r = ev->rank->r;
	*nsample = ev->rank->nsample;
	return true;
}

/* ---- remembering a batch ---- */

static const double *input_of(const struct evaluator *ev, const struct batch *b, uint32_t s)
{
	return b->input + (size_t)(b->row ? b->row[s] : s) * ev->p->ninput;
}

static bool same_batch(const struct evaluator *ev)
{
	const struct rank *k = ev->rank;
	size_t n = ev->p->ninput;

	if (!k->kept || k->nkept != ev->batch.nsample || k->kept_gradient != ev->gradient)
		return false;
	for (uint32_t s = 0; s < k->nkept; s++)
		if (memcmp(k->kept + s * n, input_of(ev, &ev->batch, s), n * sizeof(double)) != 0)
			return false;
	return true;
}

static void remember(struct evaluator *ev)
{
	struct rank *k = ev->rank;
	size_t n = ev->p->ninput;

	if (!k->keeps || (size_t)ev->batch.nsample > KEPT_MAX / n || !(k->kept = mem_try(ev->batch.nsample, n * sizeof(double))))
		return;
	k->nkept = ev->batch.nsample;
	k->kept_gradient = ev->gradient;
	for (uint32_t s = 0; s < k->nkept; s++)
		memcpy(k->kept + s * n, input_of(ev, &ev->batch, s), n * sizeof(double));
}

/* ---- prepare ---- */

/* Tables of the batch; false when there is no memory. */
static bool take_tables(struct evaluator *ev)
{
	struct rank *k = ev->rank;
	size_t square = (size_t)k->r * k->r * k->nform;

	k->m = mem_try(square, sizeof *k->m);
	k->a = mem_try(ev->gradient ? square : 1, sizeof *k->a);
	k->slope = mem_try(ev->gradient ? k->nsample : 1, (k->nform + (size_t)1) * sizeof *k->slope);
	return k->m && k->a && k->slope;
}

static uint32_t limit_of(uint32_t nsample)
{
	return nsample - 1 < RANK_MAX ? nsample - 1 : RANK_MAX;
}

/* Is what is learnt of a batch of n samples there when it comes again? */
static bool learns_once(const struct evaluator *ev, uint32_t n)
{
	return ev->o.batch_again && ev->rank->keeps && n <= KEPT_MAX / ev->p->ninput;
}

static void find_anew(struct evaluator *ev)
{
	struct rank *k = ev->rank;
	uint32_t n = ev->batch.nsample, max = ev->o.shortcuts_always ? limit_of(n) : rank_worth(ev->pl, n, ev->gradient, learns_once(ev, n));

	forget(k);
	if (!max)
		return;
	k->nsample = n;
	k->pivot = mem_try(max, sizeof *k->pivot);
	k->row = mem_try(max, sizeof *k->row);
	k->c = mem_try(n, (size_t)max * sizeof *k->c);
	if (k->pivot && k->row && k->c && rank_find(ev, max, &k->r, k->pivot, k->c))
		k->kept_on = take_tables(ev);
	remember(ev);
}

/* States side by side for the basis; what the decision is by is not this machine's memory, so
 * that one with too little refuses. */
static int reserve(struct evaluator *ev, struct err *e)
{
	uint64_t need = ev->backend->bank->bytes(ev->pl, ev->rank->r), have;
	char needed[MEMORY_TEXT_MAX], available[MEMORY_TEXT_MAX];
	int code = evaluator_need_states(ev, e);

	if (code || ev->rank->nbank >= ev->rank->r)
		return code;
	have = evaluator_memory_left(ev);
	if (need > have)
		return err_set(e, -ERR_CONFIG, "the shortcut batch_rank needs %s for %u states of %u qubits side by side, %s available; "
			"smaller batches need fewer, and without the shortcut (run.shortcuts: none, --shortcuts=none) there are none",
			memory_text((double)need, 0, needed), ev->rank->r, program_nwire(ev->p),
			memory_text((double)have, 0, available));
	ev->rank->nbank = 0;
	if (ev->backend->bank->reserve(ev->state, ev->rank->r, e))
		return -ERR_CONFIG;
	ev->rank->nbank = ev->rank->r;
	return 0;
}

bool rank_looks(const struct evaluator *ev, uint32_t nsample)
{
	return ev->rank && (ev->o.shortcuts_always || rank_worth(ev->pl, nsample, false, learns_once(ev, nsample))
		|| rank_worth(ev->pl, nsample, true, learns_once(ev, nsample)));
}

void rank_prepare(struct evaluator *ev)
{
	struct rank *k = ev->rank;

	if (!k)
		return;
	k->on = k->begun = false;
	k->fault.code = 0;
	if (ev->batch.alone)
		return;
	if (ev->p->ninput && !ev->batch.input) {
		forget(k);               /* rank_looks said so */
		return;
	}
	if (!same_batch(ev))
		find_anew(ev);
	if (!k->kept_on)
		return;
	k->on = true;
	k->whole = ev->batch;
	for (uint32_t i = 0; i < k->r; i++)
		k->row[i] = unit_row(ev, k->pivot[i]);
	ev->batch = (struct batch){ .nsample = k->r, .row = k->row, .input = ev->batch.input };
	reserve(ev, &k->fault);
}

/* ---- forward ---- */

static int forward_part(struct evaluator *ev, unsigned worker, uint32_t unit, struct err *e)
{
	struct scratch *w = &ev->scratch[worker];
	uint32_t first, count = unit_samples(ev, unit, &first);
	int code = unit_fill(ev, w, first, count, e);

	w->input.whole = true;
	for (uint32_t c = 0; c < ev->pl->ncircuit && !code; c++) {
		ev->backend->forward(ev->state, worker, c, &w->input, true, w->readout[c]);
		ev->backend->bank->keep(ev->state, worker, c, unit);
	}
	return code;
}

static int overlaps(struct evaluator *ev, struct err *e)
{
	const struct rank *k = ev->rank;
	int code = 0;

	for (uint32_t c = 0; c < ev->pl->ncircuit && !code; c++)
		code = ev->backend->bank->overlaps(ev->state, c, k->r, k->m + (size_t)k->first_form[c] * k->r * k->r, e);
	return code;
}

/* ---- all before the backward pass ---- */

static int begin(struct evaluator *ev, struct err *e)
{
	struct rank *k = ev->rank;
	int code = k->fault.code;

	if (code) {
		*e = k->fault;
		return code;
	}
	code = rank_parts(ev, ev->nunit, forward_part, e);
	if (!code)
		code = overlaps(ev, e);
	if (!code && !k->proved)
		code = rank_prove(ev, e);
	k->proved = k->proved || !code;
	if (!code)
		code = rank_read(ev, e);
	if (!code && ev->gradient)
		code = rank_mix(ev, e);
	k->begun = !code;
	return code;
}

int rank_begin(struct evaluator *ev, struct err *e)
{
	struct rank *k = ev->rank;
	int code = 0;

	pthread_mutex_lock(&k->lock);
	if (!k->begun)
		code = begin(ev, e);
	pthread_mutex_unlock(&k->lock);
	return code;
}

/* ---- the backward pass ---- */

int rank_unit(struct evaluator *ev, unsigned worker, uint32_t unit, struct fixed *v, struct err *e)
{
	struct scratch *w = &ev->scratch[worker];
	const struct rank *k = ev->rank;
	uint32_t first, count = unit_samples(ev, unit, &first);
	int code = k->begun ? 0 : rank_begin(ev, e);

	if (code || !ev->gradient)
		return code;
	code = unit_fill(ev, w, first, count, e);
	if (code)
		return code;
	adjoint_clear(ev, w);
	w->input.whole = true;
	for (uint32_t c = 0; c < ev->pl->ncircuit; c++)
		ev->backend->bank->backward(ev->state, worker, c, &w->input, unit, k->r,
			k->a + (size_t)k->first_form[c] * k->r * k->r, w->anti_hermitian_shared, w->anti_hermitian_sample);
	memset(w->gradient, 0, ev->p->nweight * sizeof *w->gradient);
	code = adjoint_vector(ev, w, first, count, v, e);
	if (!code && !unit)
		memcpy(v + ev->nvector - nhead(ev), k->head + (size_t)ev->nworker * nhead(ev), nhead(ev) * sizeof *v);
	return code;
}

static int unit_part(struct evaluator *ev, unsigned worker, uint32_t unit, struct err *e)
{
	struct scratch *w = &ev->scratch[worker];
	int code = evaluator_unit(ev, worker, unit, w->vector_sum, e);

	if (!code && !fixed_add(ev->rank->sum + (size_t)worker * ev->nvector, w->vector_sum, ev->nvector))
		code = err_set(e, -ERR_NOT_FINITE, "the gradient is too large");
	return code;
}

int rank_run(struct evaluator *ev, struct err *e)
{
	struct rank *k = ev->rank;
	int code = rank_begin(ev, e);

	if (code || !ev->gradient)
		return code;
	memset(k->sum, 0, (size_t)ev->nworker * ev->nvector * sizeof *k->sum);
	memset(ev->sum, 0, ev->nvector * sizeof *ev->sum);
	code = rank_parts(ev, ev->nunit, unit_part, e);
	for (unsigned worker = 0; worker < ev->nworker && !code; worker++)
		if (!fixed_add(ev->sum, k->sum + (size_t)worker * ev->nvector, ev->nvector))
			code = err_set(e, -ERR_NOT_FINITE, "the gradient is too large");
	return code;
}
