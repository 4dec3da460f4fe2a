/* SPDX-License-Identifier: Apache-2.0
 * What is done with the reduced transition matrices of the backward pass (anti_hermitian.h). */
#include "runtime/exec/statevector/statevector.h"

#include <string.h>

#include "runtime/base/profile/recorder.h"

static size_t entries(const struct statevector *sv, uint32_t m)
{
	return sv->pl->set.offset[m + 1] - sv->pl->set.offset[m];
}

static void clear_marked(const struct statevector *sv, const bool *mark, double *anti_hermitian)
{
	for (uint32_t m = 0; m < sv->pl->set.n; m++)
		if (mark[m])
			memset(anti_hermitian + sv->pl->set.offset[m], 0,
				entries(sv, m) * sizeof *anti_hermitian);
}

/* One sample's per-sample reduced transition matrices become weight gradients. */
static void reverse_sample(const struct statevector *sv, struct scratch *w, uint32_t s)
{
	memset(w->dexpr, 0, sv->p->nexpr * sizeof *w->dexpr);
	matrix_reverse(&sv->pl->set, w->value[s], w->u[s], NULL, sv->reverse_sample,
		sv->transition_sample, w->anti_hermitian_sample[s], w->pauli_gradient, w->dexpr);
	program_eval_reverse(sv->p, w->value[s], w->dexpr, w->gradient);
}

void adjoint_clear_samples(const struct statevector *sv, struct scratch *w)
{
	for (uint32_t s = 0; s < sv->pl->width && sv->direct; s++)
		clear_marked(sv, sv->transition_sample, w->anti_hermitian_sample[s]);
}

void adjoint_clear(const struct statevector *sv, struct scratch *w)
{
	clear_marked(sv, sv->transition_shared, w->anti_hermitian_shared);
	adjoint_clear_samples(sv, w);
}

void adjoint_samples(const struct statevector *sv, struct scratch *w, uint32_t count)
{
	for (uint32_t s = 0; s < count && sv->direct; s++)
		reverse_sample(sv, w, s);
	recorder_mark(PHASE_CHAIN);
}

int adjoint_vector(const struct statevector *sv, const struct scratch *w, uint32_t first,
	uint32_t count, struct fixed *v, struct err *e)
{
	uint32_t from = sv->direct ? 0 : sv->p->nweight_circuit;
	bool good = true;
	size_t at = 0;

	for (uint32_t k = 0; k < sv->ntransition; k++) {
		size_t n = entries(sv, sv->transition[k]);

		good &= fixed_from_all(w->anti_hermitian_shared
				+ sv->pl->set.offset[sv->transition[k]],
			n, v + at);
		at += n;
	}
	good &= fixed_from_all(w->gradient + from, sv->p->nweight - from, v + at);
	if (good)
		return 0;
	if (count == 1)
		return err_set(e, -ERR_NOT_FINITE,
			"sample %u: its gradient is not finite or too large",
			batch_row(&sv->batch, first));
	return err_set(e, -ERR_NOT_FINITE,
		"samples %u to %u of the batch: their gradient is not finite or too large", first,
		first + count - 1);
}

void statevector_finish(void *state, const struct fixed *sum, double *gradient)
{
	struct statevector *sv = state;
	const struct program *p = sv->p;
	size_t at = 0;

	memset(gradient, 0, p->nweight * sizeof *gradient);
	for (uint32_t k = 0; k < sv->ntransition; k++) {
		double *anti_hermitian = sv->anti_hermitian + sv->pl->set.offset[sv->transition[k]];

		for (size_t i = 0, n = entries(sv, sv->transition[k]); i < n; i++, at++)
			anti_hermitian[i] = fixed_value(sum[at]);
	}
	memset(sv->dexpr, 0, p->nexpr * sizeof *sv->dexpr);
	matrix_reverse(&sv->pl->set, sv->value, sv->u, sv->kept, sv->reverse_shared,
		sv->transition_shared, sv->anti_hermitian, sv->pauli_gradient, sv->dexpr);
	program_eval_reverse(p, sv->value, sv->dexpr, gradient);
	for (uint32_t i = sv->direct ? 0 : p->nweight_circuit; i < p->nweight; i++)
		gradient[i] += fixed_value(sum[at++]);
	program_clear_frozen(p, gradient);
}
