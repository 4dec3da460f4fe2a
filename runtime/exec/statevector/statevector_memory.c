/* SPDX-License-Identifier: Apache-2.0
 * Memory of the state vector engine: states, and the scratch of each worker. */
#include "runtime/exec/statevector/statevector.h"

#include <stdlib.h>

#include "runtime/base/system/resource_limits.h"
#include "runtime/exec/statevector/state_memory.h"

/* ---- scratches ---- */

static uint64_t vector_entries(const struct plan *pl)
{
	uint64_t n = 0;

	for (uint32_t c = 0; c < pl->ncircuit; c++)
		for (uint32_t v = 0; v < pl->circuit[c].nprepare; v++)
			n += apply_nentry(pl->circuit[c].prepare[v]);
	return n;
}

/* Of one worker. */
static uint64_t shot_bytes(const struct statevector *sv)
{
	uint64_t most = 0;

	for (uint32_t c = 0; sv->shot_group && c < sv->pl->ncircuit; c++) {
		uint64_t nbyte = shot_scratch_bytes(sv->shot_group[c]);

		most = nbyte > most ? nbyte : most;
	}
	return most;
}

/* Bytes that the engine takes besides the backend. */
static uint64_t scratch_bytes(const struct statevector *sv)
{
	const struct plan *pl = sv->pl;
	const struct program *p = pl->program;
	uint64_t sample = p->nexpr * sizeof(double)
		+ (uint64_t)pl->nmatrix_entry * (sizeof(cplx) + sizeof(double))
		+ vector_entries(pl) * sizeof(cplx) + 5 * (uint64_t)p->nreadout * sizeof(double);
	uint64_t worker = sample * pl->width
		+ (uint64_t)pl->nmatrix_entry * (2 * sizeof(double) + sizeof(struct fixed))
		+ p->nexpr * sizeof(double)
		+ (uint64_t)p->nweight * (2 * sizeof(double) + sizeof(struct fixed));

	if (sv->ntrajectory)
		worker += p->nreadout * sizeof(double);
	if (pl->options.loss_terms)
		worker += loss_numbers(&sv->o.terms) * pl->width * sizeof(double);
	if (sv->shot_group)
		worker += shot_bytes(sv) + (sizeof(cplx) << program_nwire(p));
	return worker * (sv->nworker + 1) + pl->set.nkept * sizeof(cplx);
}

static void take_vectors(struct arena *a, const struct statevector *sv, struct scratch *w)
{
	const struct plan *pl = sv->pl;

	w->own_vector = arena_alloc(a, pl->ncircuit, sizeof *w->own_vector);
	w->vector = arena_alloc(a, pl->ncircuit, sizeof *w->vector);
	for (uint32_t c = 0; c < pl->ncircuit; c++) {
		size_t n = (size_t)pl->circuit[c].nprepare * pl->width;

		w->own_vector[c] = arena_alloc(a, n, sizeof **w->own_vector);
		w->vector[c] = arena_alloc(a, n, sizeof **w->vector);
		for (size_t k = 0; k < n; k++)
			w->own_vector[c][k] = arena_alloc(a, sv->length[c][k / pl->width],
				sizeof ***w->own_vector);
	}
}

static void take_readouts(struct arena *a, const struct plan *pl, struct scratch *w)
{
	size_t most = 0;

	w->readout = arena_alloc(a, pl->ncircuit, sizeof *w->readout);
	w->dreadout = arena_alloc(a, pl->ncircuit, sizeof *w->dreadout);
	for (uint32_t c = 0; c < pl->ncircuit; c++) {
		size_t n = (size_t)pl->circuit[c].nreadout * pl->width;

		w->readout[c] = arena_alloc(a, n, sizeof **w->readout);
		w->dreadout[c] = arena_alloc(a, n, sizeof **w->dreadout);
		most = n > most ? n : most;
	}
	w->shifted = arena_alloc(a, most, sizeof *w->shifted);
}

static void scratch_take(struct arena *a, const struct statevector *sv, struct scratch *w)
{
	const struct plan *pl = sv->pl;
	const struct program *p = sv->p;

	w->value = arena_alloc(a, pl->width, sizeof *w->value);
	w->own_u = arena_alloc(a, pl->width, sizeof *w->own_u);
	w->anti_hermitian_sample = arena_alloc(a, pl->width, sizeof *w->anti_hermitian_sample);
	for (uint32_t s = 0; s < pl->width; s++) {
		w->value[s] = arena_alloc(a, p->nexpr, sizeof **w->value);
		w->own_u[s] = arena_alloc(a, pl->nmatrix_entry, sizeof **w->own_u);
		w->anti_hermitian_sample[s] =
			arena_alloc(a, pl->nmatrix_entry, sizeof **w->anti_hermitian_sample);
	}
	w->u = arena_alloc(a, pl->width, sizeof *w->u);
	w->row = arena_alloc(a, pl->width, sizeof *w->row);
	take_vectors(a, sv, w);
	take_readouts(a, pl, w);
	w->anti_hermitian_shared =
		arena_alloc(a, pl->nmatrix_entry, sizeof *w->anti_hermitian_shared);
	w->pauli_gradient = arena_alloc(a, pl->nmatrix_entry, sizeof *w->pauli_gradient);
	w->dexpr = arena_alloc(a, p->nexpr, sizeof *w->dexpr);
	w->weight = arena_alloc(a, p->nweight, sizeof *w->weight);
	if (pl->options.loss_terms)
		w->number = arena_alloc(a, loss_numbers(&sv->o.terms) * pl->width, sizeof *w->number);
	if (sv->ntrajectory)
		w->base = arena_alloc(a, p->nreadout, sizeof *w->base);
	if (sv->shot_group) {
		w->shot_psi = arena_alloc(a, (size_t)1 << program_nwire(p), sizeof *w->shot_psi);
		w->shot_scratch = arena_alloc(a, shot_bytes(sv), 1);
	}
	w->input = (struct unit_input){ .nsample = pl->width,
		.u = (const cplx *const *)w->u,
		.vector = (const cplx *const *const *)w->vector,
		.length = sv->length };
}

/* ---- lists ---- */

static void mark_matrices(struct statevector *sv)
{
	const struct matrix_set *s = &sv->pl->set;

	plan_used(sv->pl, sv->need);
	for (uint32_t m = 0; m < s->n; m++) {
		bool sample = s->def[m]->cls == VALUE_SAMPLE;

		sv->need_sample[m] = sv->need[m] && sample;
		sv->reverse_sample[m] = sv->transition_sample[m] = sv->pl->transition[m] && sample;
		sv->reverse_shared[m] = sv->transition_shared[m] = sv->pl->transition[m] && !sample;
	}
	matrix_set_close(s, sv->need);
	matrix_set_close(s, sv->need_sample);
	matrix_set_close(s, sv->reverse_sample);
	matrix_set_close(s, sv->reverse_shared);
	for (uint32_t m = 0; m < s->n; m++)
		if (sv->need_sample[m] && s->def[m]->cls == VALUE_SAMPLE)
			sv->sample_matrix[sv->nsample_matrix++] = m;
		else if (sv->need_sample[m])
			sv->referred[sv->nreferred++] = m;
}

/* Operands of expressions, angles of matrices and entries of vectors that differ between samples. */
static void mark_copied(const struct statevector *sv, bool *mark)
{
	const struct matrix_set *set = &sv->pl->set;

	for (uint32_t k = 0; k < sv->nsample_expr; k++) {
		const struct expr *x = &sv->p->expr[sv->sample_expr[k]];

		if (expr_noperand(x->op) > 0)
			mark[x->a] = true;
		if (expr_noperand(x->op) > 1)
			mark[x->b] = true;
	}
	for (uint32_t m = 0; m < set->n; m++)
		for (uint32_t i = 0; sv->need_sample[m] && i < set->def[m]->nitem; i++) {
			const struct item *it = &set->def[m]->item[i];

			for (unsigned k = 0;
				it->gate != GATE_NONE && k < gate_row(it->gate)->nangle; k++)
				mark[it->angle[k]] = true;
		}
	for (uint32_t c = 0; c < sv->pl->ncircuit; c++)
		for (uint32_t v = 0; v < sv->pl->circuit[c].nprepare; v++) {
			const struct apply *a = sv->pl->circuit[c].prepare[v];

			for (uint32_t j = 0; a->op != APPLY_STATE && j < a->nexpr; j++)
				mark[a->expr[j]] = true;
		}
}

/* Where weight gradients are made unit by unit, all shared values are looked at. */
static void list_exprs(struct statevector *sv)
{
	bool *mark = arena_alloc(&sv->arena, sv->p->nexpr, sizeof *mark);

	for (uint32_t i = 0; i < sv->p->nexpr; i++)
		if (sv->p->expr[i].cls == VALUE_SAMPLE)
			sv->sample_expr[sv->nsample_expr++] = i;
	mark_copied(sv, mark);
	for (uint32_t i = 0; i < sv->p->nexpr; i++)
		if (sv->p->expr[i].cls != VALUE_SAMPLE && (mark[i] || sv->direct))
			sv->copied_expr[sv->ncopied_expr++] = i;
}

static void list_lengths(struct statevector *sv)
{
	uint32_t **length = arena_alloc(&sv->arena, sv->pl->ncircuit, sizeof *length);

	for (uint32_t c = 0; c < sv->pl->ncircuit; c++) {
		length[c] = arena_alloc(&sv->arena, sv->pl->circuit[c].nprepare, sizeof **length);
		for (uint32_t v = 0; v < sv->pl->circuit[c].nprepare; v++)
			length[c][v] = apply_nentry(sv->pl->circuit[c].prepare[v]);
	}
	sv->length = (const uint32_t *const *)length;
}

/* The vector's layout: what is summed of reduced transition matrices (anti_hermitian.h) of shared matrices; gradients by the
 * circuit's weights where they are made unit by unit; the head's gradient. */
static void lay_out(struct statevector *sv)
{
	bool adjoint = sv->o.gradient == GRADIENT_ADJOINT;
	size_t nsum = 0;

	sv->direct = !adjoint && sv->o.gradient != GRADIENT_NONE;
	for (uint32_t m = 0; m < sv->pl->set.n && adjoint; m++) {
		if (!sv->pl->transition[m])
			continue;
		if (sv->pl->set.def[m]->cls == VALUE_SAMPLE) {
			sv->direct = true;
			continue;
		}
		sv->transition[sv->ntransition++] = m;
		nsum += sv->pl->set.offset[m + 1] - sv->pl->set.offset[m];
	}
	sv->nvector = nsum + (sv->direct ? sv->p->nweight_circuit : 0) + sv->p->nweight
		- sv->p->nweight_circuit;
}

static void take_lists(struct statevector *sv)
{
	const struct plan *pl = sv->pl;
	uint32_t n = pl->set.n;
	struct arena *a = &sv->arena;

	sv->value = arena_alloc(a, sv->p->nexpr, sizeof *sv->value);
	sv->dexpr = arena_alloc(a, sv->p->nexpr, sizeof *sv->dexpr);
	sv->u = arena_alloc(a, pl->nmatrix_entry, sizeof *sv->u);
	sv->kept = arena_alloc(a, pl->set.nkept, sizeof *sv->kept);
	sv->anti_hermitian = arena_alloc(a, pl->nmatrix_entry, sizeof *sv->anti_hermitian);
	sv->pauli_gradient = arena_alloc(a, pl->nmatrix_entry, sizeof *sv->pauli_gradient);
	sv->need = arena_alloc(a, n, sizeof *sv->need);
	sv->need_sample = arena_alloc(a, n, sizeof *sv->need_sample);
	sv->reverse_shared = arena_alloc(a, n, sizeof *sv->reverse_shared);
	sv->reverse_sample = arena_alloc(a, n, sizeof *sv->reverse_sample);
	sv->transition_shared = arena_alloc(a, n, sizeof *sv->transition_shared);
	sv->transition_sample = arena_alloc(a, n, sizeof *sv->transition_sample);
	sv->transition = arena_alloc(a, n, sizeof *sv->transition);
	sv->sample_matrix = arena_alloc(a, n, sizeof *sv->sample_matrix);
	sv->referred = arena_alloc(a, n, sizeof *sv->referred);
	sv->sample_expr = arena_alloc(a, sv->p->nexpr, sizeof *sv->sample_expr);
	sv->copied_expr = arena_alloc(a, sv->p->nexpr, sizeof *sv->copied_expr);
	sv->scratch = arena_alloc(a, sv->nworker, sizeof *sv->scratch);
}

int scratch_new(struct statevector *sv, struct err *e)
{
	void *probe = mem_try(scratch_bytes(sv), 1);

	free(probe);
	if (!probe)
		return err_set(e, -ERR_CONFIG,
			"no memory for the matrices and inputs of %u samples", sv->pl->width);
	take_lists(sv);
	list_lengths(sv);
	mark_matrices(sv);
	lay_out(sv);
	list_exprs(sv);
	for (unsigned k = 0; k < sv->nworker; k++)
		scratch_take(&sv->arena, sv, &sv->scratch[k]);
	return 0;
}

/* ---- states ---- */

/* States that the method holds at once on one worker: psi, and lambda for the adjoint method. */
static unsigned states_per_sample(const struct statevector *sv)
{
	if (target_can(sv->o.target, TARGET_STATELESS))
		return 0;
	return sv->o.gradient == GRADIENT_ADJOINT ? 2 : 1;
}

static bool two_states(const struct statevector *sv) { return states_per_sample(sv) == 2; }

unsigned statevector_workers(const struct statevector *sv)
{
	if (sv->backend->devices && !sv->o.remote) {
		unsigned n = sv->backend->devices(sv->o.devices);

		return sv->backend->streams ? n * sv->backend->streams(sv->pl, sv->o.nthread, n) : n;
	}
	return sv->pl->shape == SHAPE_SHARED || !target_can(sv->pl->target, TARGET_THREADS)
		? 1
		: sv->o.nthread;
}

static uint64_t bytes_needed(const struct statevector *sv)
{
	const struct backend *holder =
		sv->o.target->backend; /* of the states, or of this rank's part of them */
	uint64_t nbyte;

	/* Memory of devices has no scratch. */
	if (__builtin_add_overflow(holder->bytes(sv->pl, sv->o.nthread, two_states(sv),
					   split_nrank(sv->o.rank)),
		    holder->memory ? 0 : scratch_bytes(sv), &nbyte))
		return UINT64_MAX;
	return nbyte;
}

static uint64_t memory_available(const struct statevector *sv)
{
	const struct backend *holder = sv->o.target->backend;

	if (sv->o.memory_limit)
		return sv->o.memory_limit;
	if (holder->memory)
		return split_memory(sv->o.rank, holder->memory(sv->o.devices),
			holder->devices(sv->o.devices));
	return ulimit_memory_available(sv->o.nthread);
}

uint64_t statevector_memory_left(const struct statevector *sv)
{
	uint64_t taken = sv->o.memory_limit ? bytes_needed(sv) : 0, all = memory_available(sv);

	return all > taken ? all - taken : 0;
}

/* Once the states are there it shows how many threads can be; fewer of them give the same bits. */
int statevector_take_states(struct statevector *sv, struct err *e)
{
	int code = sv->backend->prepare(sv->pl, sv->o.nthread, sv->o.devices, two_states(sv),
		sv->o.rank, &sv->state, e);
	unsigned possible = sv->o.nthread;

	if (!code && target_can(sv->pl->target, TARGET_THREADS))
		possible = ulimit_threads(sv->o.nthread);
	if (possible == sv->o.nthread)
		return code;
	sv->backend->free(sv->state);
	sv->state = NULL;
	sv->o.nthread = possible;
	sv->nworker = statevector_workers(sv);
	return sv->backend->prepare(sv->pl, possible, sv->o.devices, two_states(sv), sv->o.rank,
		&sv->state, e);
}

static struct memory_need states_needed(const struct statevector *sv)
{
	/* A process that has a part of them needs as much as for fewer qubits. */
	return (struct memory_need){ .nqubit = program_nwire(sv->p)
			- (unsigned)__builtin_ctz(split_nrank(sv->o.rank)),
		.nstate = states_per_sample(sv),
		.precision = sv->o.precision,
		.available = memory_available(sv),
		.sharers = sv->o.memory_sharers };
}

int statevector_check_memory(const struct statevector *sv, struct err *e)
{
	struct memory_need need = states_needed(sv);

	need.nstate *= (sv->o.target->backend->memory ? 1 : sv->nworker) * sv->pl->width;
	return memory_check(&need, bytes_needed(sv), e);
}

int statevector_check_states(const struct statevector *sv, struct err *e)
{
	struct memory_need need = states_needed(sv);

	return memory_check_states(&need, e);
}

int statevector_states(struct statevector *sv, struct err *e)
{
	if (sv->state)
		return 0;
	int code = statevector_check_states(sv, e);
	if (!code)
		code = statevector_check_memory(sv, e);
	if (!code)
		code = statevector_take_states(sv, e);
	if (!code)
		sv->backend->matrices(sv->state, sv->u);
	return code;
}
