/* SPDX-License-Identifier: Apache-2.0
 * What is done with the cross matrices of the backward pass (anti_hermitian.h). */
#include "config.h"
#include "runtime/exec/statevector/gradient_adjoint.h"

#include <string.h>

static size_t entries(const struct evaluator *ev, uint32_t m)
{
	return ev->pl->set.offset[m + 1] - ev->pl->set.offset[m];
}

static void clear_marked(const struct evaluator *ev, const bool *mark, double *anti_hermitian)
{
	for (uint32_t m = 0; m < ev->pl->set.n; m++)
		if (mark[m])
			memset(anti_hermitian + ev->pl->set.offset[m], 0, entries(ev, m) * sizeof *anti_hermitian);
}

/* One sample's per-sample cross matrices become weight gradients. */
static void reverse_sample(const struct evaluator *ev, struct scratch *w, uint32_t s)
{
	memset(w->slope_expr, 0, ev->p->nexpr * sizeof *w->slope_expr);
	matrix_reverse(&ev->pl->set, w->value[s], w->u[s], NULL, ev->reverse_sample, ev->cross_sample, w->anti_hermitian_sample[s], w->pauli_gradient,
		w->slope_expr);
	program_eval_reverse(ev->p, w->value[s], w->slope_expr, w->gradient);
}

void adjoint_clear(const struct evaluator *ev, struct scratch *w)
{
	clear_marked(ev, ev->cross_shared, w->anti_hermitian_shared);
	for (uint32_t s = 0; s < ev->pl->width && ev->direct; s++)
		clear_marked(ev, ev->cross_sample, w->anti_hermitian_sample[s]);
}

void adjoint_unit(struct evaluator *ev, struct scratch *w, uint32_t count, unsigned worker)
{
	adjoint_clear(ev, w);
	for (uint32_t c = 0; c < ev->pl->ncircuit; c++)
		ev->backend->backward(ev->state, worker, c, &w->input, w->slope[c], w->anti_hermitian_shared, w->anti_hermitian_sample);
	stopwatch_phase(&w->watch, PHASE_STATES);
	for (uint32_t s = 0; s < count && ev->direct; s++)
		reverse_sample(ev, w, s);
	stopwatch_phase(&w->watch, PHASE_CHAIN);
}

int adjoint_vector(const struct evaluator *ev, const struct scratch *w, uint32_t first, uint32_t count,
	struct fixed *v, struct err *e)
{
	uint32_t from = ev->direct ? 0 : ev->p->nweight_circuit;
	bool good = true;
	size_t at = 0;

	for (uint32_t k = 0; k < ev->ncross; k++) {
		size_t n = entries(ev, ev->cross[k]);

		good &= fixed_from_all(w->anti_hermitian_shared + ev->pl->set.offset[ev->cross[k]], n, v + at);
		at += n;
	}
	good &= fixed_from_all(w->gradient + from, ev->p->nweight - from, v + at);
	if (good)
		return 0;
	if (count == 1)
		return err_set(e, -ERR_NOT_FINITE, "sample %u: its gradient is not finite or too large",
			unit_row(ev, first));
	return err_set(e, -ERR_NOT_FINITE, "samples %u to %u of the batch: their gradient is not finite or too large",
		first, first + count - 1);
}

static void clear_frozen(const struct program *p, double *gradient)
{
	for (uint32_t g = 0; g < p->nweight_group; g++)
		if (p->weight_group[g].frozen)
			memset(gradient + p->weight_group[g].first, 0, p->weight_group[g].count * sizeof *gradient);
}

void adjoint_finish(struct evaluator *ev, const struct fixed *sum, double *gradient)
{
	const struct program *p = ev->p;
	size_t at = 0;

	memset(gradient, 0, p->nweight * sizeof *gradient);
	for (uint32_t k = 0; k < ev->ncross; k++) {
		double *anti_hermitian = ev->anti_hermitian + ev->pl->set.offset[ev->cross[k]];

		for (size_t i = 0, n = entries(ev, ev->cross[k]); i < n; i++, at++)
			anti_hermitian[i] = fixed_value(sum[at]);
	}
	memset(ev->slope_expr, 0, p->nexpr * sizeof *ev->slope_expr);
	matrix_reverse(&ev->pl->set, ev->value, ev->u, ev->kept, ev->reverse_shared, ev->cross_shared, ev->anti_hermitian, ev->pauli_gradient,
		ev->slope_expr);
	program_eval_reverse(p, ev->value, ev->slope_expr, gradient);
	for (uint32_t i = ev->direct ? 0 : p->nweight_circuit; i < p->nweight; i++)
		gradient[i] += fixed_value(sum[at++]);
	clear_frozen(p, gradient);
}
