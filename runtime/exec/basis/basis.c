/* SPDX-License-Identifier: Apache-2.0
 * The engine of batch rank: its table and life, the basis of a batch, evaluating the batch by it. */
#include "runtime/exec/basis/basis.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/profile/recorder.h"
#include "runtime/exec/statevector/state_memory.h"

enum {
	KEPT_MAX = 1 << 23,  /* inputs that are remembered */
	USUAL_SAMPLES = 1000 /* of a batch that is described */
};

/* ---- before it is open ---- */

/* The plan of the engine below, or one that is made for a problem of which none is open. */
static const struct plan *plan_of(const struct engine_problem *p, struct plan **made)
{
	const struct statevector *sv = p->below;

	*made = sv ? NULL : statevector_plan_new(p->program, p->options, NULL);
	return sv ? sv->pl : *made;
}

static const char *basis_obstacle(const struct engine_problem *p)
{
	const struct evaluator_options *o = p->options;
	struct plan *made;

	if (!(o->optimisations & OPTIMISATION_BATCH_RANK))
		return "batch_rank is switched off";
	if (program_is_noisy(p->program))
		return "noise channels are drawn for each sample by itself";
	if (o->shots)
		return "readouts are drawn from the states of the samples";
	if (o->gradient > GRADIENT_ADJOINT)
		return "the gradient method is not adjoint";
	const struct plan *pl = plan_of(p, &made);
	const char *why =
		pl ? rank_obstacle(pl, o->gradient != GRADIENT_NONE) : "the program is too large";
	plan_free(made);
	return why;
}

/* The largest number of states is the one where it is only just used. */
static void describe_plan(const struct plan *pl, uint32_t n, bool gradient, struct buf *out)
{
	uint32_t most = rank_worth(pl, n, gradient, true), example = program_nwire(pl->program) + 1;

	if (!most) {
		buf_printf(out, "not used: no basis saves enough operations in a batch of %u sample%s",
			n, n == 1 ? "" : "s");
		return;
	}
	example = example < most ? example : most;
	buf_printf(out,
		"for batches of %u samples that span at most %u states (%u where each batch is another one): %.4g operations "
		"from a basis of %u states instead of %.4g (batch_rank)",
		n, most, rank_worth(pl, n, gradient, false),
		rank_cost_on(pl, n, example, gradient, true), example,
		rank_cost_off(pl, n, gradient));
}

static void basis_describe(const struct engine_problem *p, struct buf *out)
{
	struct plan *made;
	const struct plan *pl = plan_of(p, &made);

	if (pl)
		describe_plan(pl, p->nsample ? p->nsample : USUAL_SAMPLES,
			p->options->gradient != GRADIENT_NONE, out);
	plan_free(made);
}

/* With as many states as the samples of an encoding by one angle a qubit span. */
static int basis_cost(const struct engine_problem *p, struct engine_cost *out)
{
	struct plan *made;
	const struct plan *pl = plan_of(p, &made);
	uint32_t n = p->nsample ? p->nsample : USUAL_SAMPLES, most, r;
	bool gradient = p->options->gradient != GRADIENT_NONE, again = p->options->batch_again;
	int code = pl ? 0 : -ERR_CONFIG;

	most = code ? 0 : rank_worth(pl, n, gradient, again);
	if (!most)
		code = -ERR_CONFIG;
	if (!code) {
		r = program_nwire(pl->program) + 1;
		r = r < most ? r : most;
		*out = (struct engine_cost){ .flops = rank_flops(pl, n, r, gradient) / n,
			.effort = rank_cost_on(pl, n, r, gradient, again) / n };
	}
	plan_free(made);
	return code;
}

/* ---- life ---- */

/* Does what differs between samples depend on weights (frozen ones, or in a forward sweep)? */
static bool encoding_has_weights(const struct statevector *sv)
{
	const struct program *p = sv->p;
	const struct matrix_set *set = &sv->pl->set;
	mem_auto bool *expr = mem_alloc((size_t)p->nexpr + 1, sizeof *expr);
	mem_auto bool *matrix = mem_alloc((size_t)set->n + 1, sizeof *matrix);

	for (uint32_t i = 0; i < p->nexpr; i++) {
		expr[i] = p->expr[i].cls == VALUE_SHARED;
		if (p->expr[i].cls == VALUE_SAMPLE && expr_has(&p->expr[i], expr))
			return true;
	}
	for (uint32_t m = 0; m < set->n; m++) {
		matrix[m] = set->def[m]->cls == VALUE_SHARED;
		if (sv->need_sample[m] && set->def[m]->cls == VALUE_SAMPLE
			&& matrix_has(set->def[m], matrix, expr))
			return true;
	}
	return false;
}

static void list_forms(struct basis *k)
{
	k->forms = arena_alloc(&k->arena, k->pl->ncircuit, sizeof *k->forms);
	k->first_form = arena_alloc(&k->arena, k->pl->ncircuit, sizeof *k->first_form);
	for (uint32_t c = 0; c < k->pl->ncircuit; c++) {
		forms_of(&k->pl->circuit[c], &k->arena, &k->forms[c]);
		k->first_form[c] = k->nform;
		k->nform += k->forms[c].nform;
	}
}

static void forget(struct basis *k)
{
	mem_list_free(&k->memory);
	k->kept = NULL;
	k->kept_on = k->proved = false;
	k->nkept = 0;
}

static void basis_close(void *state)
{
	mem_auto struct basis *k = state;

	forget(k);
	free(k->value);
	free(k->read);
	arena_release(&k->arena);
}

static int basis_open(const struct engine_problem *p, void **state, struct err *e)
{
	struct basis *k = mem_alloc(1, sizeof *k);

	k->sv = p->below;
	k->pl = k->sv->pl;
	k->keeps = !encoding_has_weights(k->sv);
	list_forms(k);
	k->value = mem_try((size_t)k->sv->nworker * k->nform + 1, sizeof *k->value);
	k->read = mem_try((size_t)k->pl->program->nreadout + 1, sizeof *k->read);
	*state = k;
	if (k->value && k->read)
		return 0;
	err_set(e, -ERR_CONFIG, "no memory for the readouts of %u threads", k->sv->nworker);
	basis_close(k);
	*state = NULL;
	return -ERR_CONFIG;
}

static void basis_layout(const void *state, struct engine_layout *out)
{
	const struct basis *k = state;

	statevector_layout(k->sv, out);
}

/* ---- remembering a batch ---- */

static const double *input_of(const struct basis *k, uint32_t s)
{
	return k->whole.input + (size_t)whole_row(k, s) * k->pl->program->ninput;
}

static bool same_batch(const struct basis *k, bool gradient)
{
	size_t n = k->pl->program->ninput;

	if (!k->kept || k->nkept != k->whole.nsample || k->kept_gradient != gradient)
		return false;
	for (uint32_t s = 0; s < k->nkept; s++)
		if (memcmp(k->kept + s * n, input_of(k, s), n * sizeof(double)) != 0)
			return false;
	return true;
}

static void remember(struct basis *k, bool gradient)
{
	size_t n = k->pl->program->ninput;

	if (!k->keeps || (size_t)k->whole.nsample > KEPT_MAX / n
		|| !(k->kept = mem_list_try(&k->memory, k->whole.nsample, n * sizeof(double))))
		return;
	k->nkept = k->whole.nsample;
	k->kept_gradient = gradient;
	for (uint32_t s = 0; s < k->nkept; s++)
		memcpy(k->kept + s * n, input_of(k, s), n * sizeof(double));
}

/* ---- prepare ---- */

/* Tables of the batch; false when there is no memory. */
static bool take_tables(struct basis *k, bool gradient)
{
	size_t square = (size_t)k->r * k->r * k->nform;

	k->m = mem_list_try(&k->memory, square, sizeof *k->m);
	k->a = mem_list_try(&k->memory, gradient ? square : 1, sizeof *k->a);
	k->dreadout = mem_list_try(&k->memory, gradient ? k->nsample : 1,
		(k->nform + (size_t)1) * sizeof *k->dreadout);
	return !k->memory.failed;
}

/* Is what is learnt of a batch of n samples there when it comes again? */
static bool learns_once(const struct basis *k, uint32_t n)
{
	return k->sv->o.batch_again && k->keeps && n <= KEPT_MAX / k->pl->program->ninput;
}

static void find_anew(struct basis *k, bool gradient)
{
	uint32_t n = k->whole.nsample, max;

	max = !k->sv->o.optimisations_always ? rank_worth(k->pl, n, gradient, learns_once(k, n))
		: n - 1 < RANK_MAX           ? n - 1
					     : RANK_MAX;
	forget(k);
	if (!max)
		return;
	k->nsample = n;
	k->pivot = mem_list_try(&k->memory, max, sizeof *k->pivot);
	k->row = mem_list_try(&k->memory, max, sizeof *k->row);
	k->c = mem_list_try(&k->memory, n, (size_t)max * sizeof *k->c);
	if (!k->memory.failed && rank_find(k, max, &k->r, k->pivot, k->c))
		k->kept_on = take_tables(k, gradient);
	remember(k, gradient);
}

static bool basis_reads(const void *state, uint32_t nsample)
{
	const struct basis *k = state;

	return k->sv->o.optimisations_always
		|| rank_worth(k->pl, nsample, false, learns_once(k, nsample))
		|| rank_worth(k->pl, nsample, true, learns_once(k, nsample));
}

/* While a basis is sought the engine below has the batch that is offered; then that of the basis. */
static bool basis_prepare(void *state, const struct batch *b, bool gradient, struct engine_units *out)
{
	struct basis *k = state;
	uint32_t width = k->pl->width;

	if (b->alone)
		return false;
	if (!b->input) {
		forget(k); /* basis_reads said so */
		return false;
	}
	k->whole = *b;
	statevector_prepare(k->sv, b, gradient);
	if (!same_batch(k, gradient)) {
		recorder_mark(PHASE_DATA);
		find_anew(k, gradient);
		recorder_mark(PHASE_COMBINE);
	}
	if (!k->kept_on)
		return false;
	for (uint32_t i = 0; i < k->r; i++)
		k->row[i] = whole_row(k, k->pivot[i]);
	statevector_prepare(k->sv,
		&(struct batch){ .nsample = k->r, .row = k->row, .input = b->input }, gradient);
	*out = (struct engine_units){
		.nunit = (k->r + width - 1) / width, .nstate = k->r, .two_phase = true
	};
	return true;
}

static void basis_work(const void *state, double *flops, double *bytes)
{
	const struct basis *k = state;

	*bytes = plan_traffic(k->pl, k->sv->gradient).bytes * k->r;
	*flops = rank_flops(k->pl, k->nsample, k->r, k->sv->gradient);
	*flops += k->sv->o.start_again ? plan_start_flops(k->pl) : 0;
}

static void basis_count(const void *state, const struct program *written,
	struct optimisation_tally *tally)
{
	struct optimisation_tally *t = &tally[OPTIMISATION_ROW_BATCH_RANK];
	const struct basis *k = state;

	statevector_count_program(k->sv, written, tally);
	t->nbatch++;
	t->nstate += k->r;
	t->nsample += k->nsample;
}

static void rank_text(const struct optimisation_use *u, struct buf *out)
{
	const struct optimisation_tally *t = &u->row[OPTIMISATION_ROW_BATCH_RANK];

	buf_str(out, "batch_rank: ");
	optimisation_text_number(out, (double)t->nstate / (double)t->nbatch);
	buf_str(out, t->nstate == t->nbatch ? " state instead of " : " states instead of ");
	optimisation_text_number(out, (double)t->nsample / (double)t->nbatch);
	optimisation_text_batches(u, t->nbatch, out);
}

/* States side by side for the basis; what the decision is by is not this machine's memory, so
 * that one with too little refuses. */
static int basis_begin(void *state, struct err *e)
{
	struct basis *k = state;
	const struct state_cache_ops *cache = k->sv->backend->state_cache;
	uint64_t need = cache->bytes(k->pl, k->r, split_nrank(k->sv->o.rank)), have;
	char needed[MEMORY_TEXT_MAX], available[MEMORY_TEXT_MAX];
	int code = statevector_states(k->sv, e);

	if (code || k->ncached >= k->r)
		return code;
	have = statevector_memory_left(k->sv);
	if (need > have)
		return err_set(e, -ERR_CONFIG,
			"the exact optimisation batch_rank needs %s for %u states of %u qubits side by side, %s available; "
			"smaller batches need fewer, and without the optimisation (run.optimizations: none, --optimizations=none) there are none",
			memory_text((double)need, 0, needed), k->r, program_nwire(k->pl->program),
			memory_text((double)have, 0, available));
	k->ncached = 0;
	code = cache->reserve(k->sv->state, k->r, e);
	k->ncached = code ? 0 : k->r;
	return code;
}

static void basis_run(void *state, const struct unit_job *job)
{
	struct basis *k = state;

	statevector_run(k->sv, job);
}

/* ---- forward ---- */

/* The scratch gets states of the basis: a pass of the unit begins. */
static int fill(const struct basis *k, struct scratch *w, uint32_t unit, bool back, struct err *e)
{
	uint32_t count = unit_samples(k->sv, unit, &w->first);
	int code = unit_fill(k->sv, w, w->first, count, e);

	recorder_mark(PHASE_ENCODING);
	w->input.whole = true;
	recorder_states(back, count * k->pl->ncircuit);
	return code;
}

static int basis_forward(void *state, unsigned worker, uint32_t unit, double *readout, struct err *e)
{
	struct basis *k = state;
	struct statevector *sv = k->sv;
	struct scratch *w = &sv->scratch[worker];
	int code = fill(k, w, unit, false, e);

	(void)readout;
	for (uint32_t c = 0; c < k->pl->ncircuit && !code; c++) {
		sv->backend->forward(sv->state, worker, c, &w->input, true, w->readout[c]);
		sv->backend->state_cache->keep(sv->state, worker, c, unit);
	}
	return code;
}

static int basis_join(void *state, struct err *e)
{
	struct basis *k = state;
	int code = 0;

	for (uint32_t c = 0; c < k->pl->ncircuit && !code; c++)
		code = k->sv->backend->state_cache->overlaps(k->sv->state, c, k->r,
			k->m + (size_t)k->first_form[c] * k->r * k->r, e);
	if (!code && !k->proved)
		code = rank_prove(k, e);
	k->proved = k->proved || !code;
	return code;
}

/* ---- the backward pass ---- */

static int basis_backward(void *state, unsigned worker, uint32_t unit, const double *dreadout,
	double *gradient, struct fixed *v, struct err *e)
{
	struct basis *k = state;
	struct statevector *sv = k->sv;
	struct scratch *w = &sv->scratch[worker];
	int code = fill(k, w, unit, true, e);

	(void)dreadout;
	if (code)
		return code;
	w->gradient = gradient;
	adjoint_clear(sv, w);
	for (uint32_t c = 0; c < k->pl->ncircuit; c++)
		sv->backend->state_cache->backward(sv->state, worker, c, &w->input, unit, k->r,
			k->a + (size_t)k->first_form[c] * k->r * k->r, w->anti_hermitian_shared,
			w->anti_hermitian_sample);
	code = statevector_failure(sv, e);
	return code ? code : adjoint_vector(sv, w, w->first, w->input.count, v, e);
}

static void basis_finish(void *state, const struct fixed *sum, double *gradient)
{
	struct basis *k = state;

	statevector_finish(k->sv, sum, gradient);
}

static const struct engine_optimisation basis_uses[] = {
	{ .row = OPTIMISATION_ROW_BATCH_RANK, .text = rank_text },
	{ .text = NULL },
};

const struct engine engine_basis = {
	.name = "basis",
	.obstacle = basis_obstacle,
	.describe = basis_describe,
	.uses = basis_uses,
	.cost = basis_cost,
	.open = basis_open,
	.close = basis_close,
	.layout = basis_layout,
	.reads = basis_reads,
	.prepare = basis_prepare,
	.work = basis_work,
	.count = basis_count,
	.begin = basis_begin,
	.run = basis_run,
	.forward = basis_forward,
	.backward = basis_backward,
	.finish = basis_finish,
	.join = basis_join,
	.readout = rank_combine,
	.readout_gradient = rank_gradient,
	.mix = rank_mix,
};
