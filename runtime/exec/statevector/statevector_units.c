/* SPDX-License-Identifier: Apache-2.0
 * Scratch memory of the workers, and filling it for one unit. */
#include "config.h"
#include "runtime/exec/statevector/statevector.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

static uint64_t vector_length(const struct plan_circuit *c, uint32_t v)
{
	const struct apply *a = c->prepare[v];

	return a->op == APPLY_STATE ? UINT64_C(1) << a->nwire : a->nexpr;
}

static uint64_t vector_entries(const struct plan *pl)
{
	uint64_t n = 0;

	for (uint32_t c = 0; c < pl->ncircuit; c++)
		for (uint32_t v = 0; v < pl->circuit[c].nprepare; v++)
			n += vector_length(&pl->circuit[c], v);
	return n;
}

/* Of one worker. */
static uint64_t shot_bytes(const struct evaluator *ev)
{
	uint64_t most = 0;

	for (uint32_t c = 0; ev->shot_group && c < ev->pl->ncircuit; c++) {
		uint64_t nbyte = shot_scratch_bytes(ev->shot_group[c]);

		most = nbyte > most ? nbyte : most;
	}
	return most;
}

uint64_t units_bytes(const struct evaluator *ev)
{
	const struct plan *pl = ev->pl;
	const struct program *p = pl->program;
	uint64_t sample = p->nexpr * sizeof(double) + (uint64_t)pl->nmatrix_entry * (sizeof(cplx) + sizeof(double))
		+ vector_entries(pl) * sizeof(cplx) + 5 * (uint64_t)p->nreadout * sizeof(double);
	uint64_t worker = sample * pl->width + (uint64_t)pl->nmatrix_entry * (2 * sizeof(double) + sizeof(struct fixed))
		+ p->nexpr * sizeof(double) + (uint64_t)p->nweight * (2 * sizeof(double) + sizeof(struct fixed));

	if (ev->shot_group)
		worker += shot_bytes(ev) + (sizeof(cplx) << program_nwire(p));
	return worker * (ev->nworker + 1) + pl->set.nkept * sizeof(cplx);
}

/* Arena memory that is refused, not fatal, when the system has none. */
struct taker { struct arena *arena; bool failed; };

static void *take(struct taker *t, size_t n, size_t size)
{
	void *probe;

	if (n && size && n > (SIZE_MAX / 4) / size)
		t->failed = true;
	if (t->failed)
		return NULL;
	if (n * size > 1 << 20) {
		probe = mem_try(n, size);
		if (!probe)
			t->failed = true;
		free(probe);
	}
	return t->failed ? NULL : arena_alloc(t->arena, n, size);
}

static cplx **take_entries(struct taker *t, const struct plan *pl)
{
	cplx **u = take(t, pl->width, sizeof *u);

	for (uint32_t s = 0; s < pl->width && !t->failed; s++)
		u[s] = take(t, pl->nmatrix_entry, sizeof **u);
	return u;
}

static void take_vectors(struct taker *t, const struct evaluator *ev, struct scratch *w)
{
	const struct plan *pl = ev->pl;

	w->own_vector = take(t, pl->ncircuit, sizeof *w->own_vector);
	w->vector = take(t, pl->ncircuit, sizeof *w->vector);
	for (uint32_t c = 0; c < pl->ncircuit && !t->failed; c++) {
		size_t n = (size_t)pl->circuit[c].nprepare * pl->width;

		w->own_vector[c] = take(t, n, sizeof **w->own_vector);
		w->vector[c] = take(t, n, sizeof **w->vector);
		for (size_t k = 0; k < n && !t->failed; k++)
			w->own_vector[c][k] = take(t, ev->length[c][k / pl->width], sizeof ***w->own_vector);
	}
}

static void take_readouts(struct taker *t, const struct plan *pl, struct scratch *w)
{
	size_t most = 0;

	w->readout = take(t, pl->ncircuit, sizeof *w->readout);
	w->slope = take(t, pl->ncircuit, sizeof *w->slope);
	for (uint32_t c = 0; c < pl->ncircuit && !t->failed; c++) {
		size_t n = (size_t)pl->circuit[c].nreadout * pl->width;

		w->readout[c] = take(t, n, sizeof **w->readout);
		w->slope[c] = take(t, n, sizeof **w->slope);
		most = n > most ? n : most;
	}
	w->shifted = take(t, most, sizeof *w->shifted);
}

static void scratch_take(struct taker *t, const struct evaluator *ev, struct scratch *w)
{
	const struct plan *pl = ev->pl;
	const struct program *p = ev->p;

	w->value = take(t, pl->width, sizeof *w->value);
	for (uint32_t s = 0; s < pl->width && !t->failed; s++)
		w->value[s] = take(t, p->nexpr, sizeof **w->value);
	w->own_u = take_entries(t, pl);
	w->anti_hermitian_sample = take(t, pl->width, sizeof *w->anti_hermitian_sample);
	for (uint32_t s = 0; s < pl->width && !t->failed; s++)
		w->anti_hermitian_sample[s] = take(t, pl->nmatrix_entry, sizeof **w->anti_hermitian_sample);
	w->u = take(t, pl->width, sizeof *w->u);
	w->row = take(t, pl->width, sizeof *w->row);
	take_vectors(t, ev, w);
	take_readouts(t, pl, w);
	w->anti_hermitian_shared = take(t, pl->nmatrix_entry, sizeof *w->anti_hermitian_shared);
	w->pauli_gradient = take(t, pl->nmatrix_entry, sizeof *w->pauli_gradient);
	w->slope_expr = take(t, p->nexpr, sizeof *w->slope_expr);
	w->slope_row = take(t, p->nreadout, sizeof *w->slope_row);
	w->gradient = take(t, p->nweight, sizeof *w->gradient);
	w->weight = take(t, p->nweight, sizeof *w->weight);
	w->vector_sum = take(t, ev->nvector, sizeof *w->vector_sum);
	if (ev->shot_group) {
		w->shot_psi = take(t, (size_t)1 << program_nwire(p), sizeof *w->shot_psi);
		w->shot_scratch = take(t, shot_bytes(ev), 1);
	}
	w->input = (struct unit_input){ .nsample = pl->width, .u = (const cplx *const *)w->u,
		.vector = (const cplx *const *const *)w->vector, .length = ev->length };
}

/* ---- lists ---- */

/* What the marked matrices refer to is marked as well. */
static void close_over(const struct matrix_set *s, bool *mark)
{
	for (uint32_t m = s->n; m-- > 0; )
		for (uint32_t i = 0; mark[m] && i < s->def[m]->nitem; i++)
			if (s->def[m]->item[i].gate == GATE_NONE)
				mark[s->def[m]->item[i].ref] = true;
}

static void mark_matrices(struct evaluator *ev)
{
	const struct matrix_set *s = &ev->pl->set;

	for (uint32_t c = 0; c < ev->pl->ncircuit; c++)
		for (uint32_t k = 0; k < ev->pl->circuit[c].nstep; k++)
			if (ev->pl->circuit[c].step[k].op == STEP_UNITARY)
				ev->need[ev->pl->circuit[c].step[k].matrix] = true;
	for (uint32_t m = 0; m < s->n; m++) {
		bool sample = s->def[m]->cls == VALUE_SAMPLE;

		ev->need_sample[m] = ev->need[m] && sample;
		ev->reverse_sample[m] = ev->cross_sample[m] = ev->pl->cross[m] && sample;
		ev->reverse_shared[m] = ev->cross_shared[m] = ev->pl->cross[m] && !sample;
	}
	close_over(s, ev->need);
	close_over(s, ev->need_sample);
	close_over(s, ev->reverse_sample);
	close_over(s, ev->reverse_shared);
	for (uint32_t m = 0; m < s->n; m++)
		if (ev->need_sample[m] && s->def[m]->cls == VALUE_SAMPLE)
			ev->sample_matrix[ev->nsample_matrix++] = m;
		else if (ev->need_sample[m])
			ev->referred[ev->nreferred++] = m;
}

/* Operands of expressions, angles of matrices and entries of vectors that differ between samples. */
static void mark_copied(const struct evaluator *ev, bool *mark)
{
	const struct matrix_set *set = &ev->pl->set;

	for (uint32_t k = 0; k < ev->nsample_expr; k++) {
		const struct expr *x = &ev->p->expr[ev->sample_expr[k]];

		if (expr_noperand(x->op) > 0)
			mark[x->a] = true;
		if (expr_noperand(x->op) > 1)
			mark[x->b] = true;
	}
	for (uint32_t m = 0; m < set->n; m++)
		for (uint32_t i = 0; ev->need_sample[m] && i < set->def[m]->nitem; i++) {
			const struct item *it = &set->def[m]->item[i];

			for (unsigned k = 0; it->gate != GATE_NONE && k < gate_row(it->gate)->nangle; k++)
				mark[it->angle[k]] = true;
		}
	for (uint32_t c = 0; c < ev->pl->ncircuit; c++)
		for (uint32_t v = 0; v < ev->pl->circuit[c].nprepare; v++) {
			const struct apply *a = ev->pl->circuit[c].prepare[v];

			for (uint32_t j = 0; a->op != APPLY_STATE && j < a->nexpr; j++)
				mark[a->expr[j]] = true;
		}
}

/* Where weight gradients are made unit by unit, all shared values are looked at. */
static void list_exprs(struct taker *t, struct evaluator *ev)
{
	bool *mark;

	for (uint32_t i = 0; i < ev->p->nexpr; i++)
		if (ev->p->expr[i].cls == VALUE_SAMPLE)
			ev->sample_expr[ev->nsample_expr++] = i;
	mark = take(t, ev->p->nexpr, sizeof *mark);
	if (t->failed)
		return;
	mark_copied(ev, mark);
	for (uint32_t i = 0; i < ev->p->nexpr; i++)
		if (ev->p->expr[i].cls != VALUE_SAMPLE && (mark[i] || ev->direct))
			ev->copied_expr[ev->ncopied_expr++] = i;
}

static void list_lengths(struct taker *t, struct evaluator *ev)
{
	uint32_t **length = take(t, ev->pl->ncircuit, sizeof *length);

	for (uint32_t c = 0; c < ev->pl->ncircuit && !t->failed; c++) {
		length[c] = take(t, ev->pl->circuit[c].nprepare, sizeof **length);
		for (uint32_t v = 0; v < ev->pl->circuit[c].nprepare && !t->failed; v++)
			length[c][v] = (uint32_t)vector_length(&ev->pl->circuit[c], v);
	}
	ev->length = (const uint32_t *const *)length;
}

/* The vector's layout: what is summed of cross matrices (anti_hermitian.h) of shared matrices; gradients by the
 * circuit's weights where they are made unit by unit; the head's gradient. */
static void lay_out(struct evaluator *ev)
{
	bool adjoint = ev->o.gradient == GRADIENT_ADJOINT;
	size_t nsum = 0;

	ev->direct = !adjoint && ev->o.gradient != GRADIENT_NONE;
	for (uint32_t m = 0; m < ev->pl->set.n && adjoint; m++) {
		if (!ev->pl->cross[m])
			continue;
		if (ev->pl->set.def[m]->cls == VALUE_SAMPLE) {
			ev->direct = true;
			continue;
		}
		ev->cross[ev->ncross++] = m;
		nsum += ev->pl->set.offset[m + 1] - ev->pl->set.offset[m];
	}
	ev->nvector = nsum + (ev->direct ? ev->p->nweight_circuit : 0) + ev->p->nweight - ev->p->nweight_circuit;
}

static void take_lists(struct taker *t, struct evaluator *ev)
{
	const struct plan *pl = ev->pl;
	uint32_t n = pl->set.n;

	ev->weight = take(t, ev->p->nweight, sizeof *ev->weight);
	ev->value = take(t, ev->p->nexpr, sizeof *ev->value);
	ev->slope_expr = take(t, ev->p->nexpr, sizeof *ev->slope_expr);
	ev->u = take(t, pl->nmatrix_entry, sizeof *ev->u);
	ev->kept = take(t, pl->set.nkept, sizeof *ev->kept);
	ev->anti_hermitian = take(t, pl->nmatrix_entry, sizeof *ev->anti_hermitian);
	ev->pauli_gradient = take(t, pl->nmatrix_entry, sizeof *ev->pauli_gradient);
	ev->need = take(t, n, sizeof *ev->need);
	ev->need_sample = take(t, n, sizeof *ev->need_sample);
	ev->reverse_shared = take(t, n, sizeof *ev->reverse_shared);
	ev->reverse_sample = take(t, n, sizeof *ev->reverse_sample);
	ev->cross_shared = take(t, n, sizeof *ev->cross_shared);
	ev->cross_sample = take(t, n, sizeof *ev->cross_sample);
	ev->cross = take(t, n, sizeof *ev->cross);
	ev->sample_matrix = take(t, n, sizeof *ev->sample_matrix);
	ev->referred = take(t, n, sizeof *ev->referred);
	ev->sample_expr = take(t, ev->p->nexpr, sizeof *ev->sample_expr);
	ev->readout_most = take(t, ev->p->nreadout, sizeof *ev->readout_most);
	ev->readout_limit = take(t, ev->p->nreadout, sizeof *ev->readout_limit);
	ev->copied_expr = take(t, ev->p->nexpr, sizeof *ev->copied_expr);
	ev->scratch = take(t, ev->nworker, sizeof *ev->scratch);
}

/* The sum of the coefficients' magnitudes; 1 of a probability.  And what is refused above. */
static void bound_readouts(struct evaluator *ev)
{
	double *most = ev->readout_most;

	for (uint32_t c = 0; c < ev->p->ncircuit; c++)
		for (uint32_t i = 0; i < ev->p->circuit[c].noutput; i++) {
			const struct output *o = &ev->p->circuit[c].output[i];
			uint32_t n = o->kind == OUTPUT_PROBS ? UINT32_C(1) << o->nwire : 1;

			for (uint32_t k = 0; o->kind == OUTPUT_PROBS && k < n; k++)
				most[k] = 1;
			for (uint32_t k = 0; o->kind != OUTPUT_PROBS && k < o->nterm; k++)
				*most += fabs(o->term[k].coefficient);
			most += n;
		}
	for (uint32_t k = 0; k < ev->p->nreadout; k++)
		ev->readout_limit[k] = fmin(ev->readout_most[k] * (1 + norm_tolerance(ev)), DBL_MAX);
}

int units_new(struct evaluator *ev, struct err *e)
{
	struct taker t = { .arena = &ev->arena };

	take_lists(&t, ev);
	if (!t.failed)
		list_lengths(&t, ev);
	if (!t.failed) {
		bound_readouts(ev);
		mark_matrices(ev);
		lay_out(ev);
		list_exprs(&t, ev);
	}
	if (!t.failed) {
		ev->sum = take(&t, ev->nvector, sizeof *ev->sum);
	}
	for (unsigned k = 0; k < ev->nworker && !t.failed; k++)
		scratch_take(&t, ev, &ev->scratch[k]);
	if (t.failed)
		return err_set(e, -ERR_CONFIG, "no memory for the matrices and inputs of %u samples", ev->pl->width);
	return 0;
}

/* ---- a unit ---- */

uint32_t unit_samples(const struct evaluator *ev, uint32_t unit, uint32_t *first)
{
	uint32_t width = ev->pl->width, left;

	*first = unit * width;
	left = ev->batch.nsample - *first;
	return left < width ? left : width;
}

uint32_t unit_row(const struct evaluator *ev, uint32_t sample)
{
	return ev->batch.row ? ev->batch.row[sample] : sample;
}

double norm_tolerance(const struct evaluator *ev)
{
	return ev->pl->precision == PRECISION_SINGLE ? 1e-3 : 1e-6;
}

static int out_of_range(const struct evaluator *ev, double readout, uint32_t k, uint32_t row, struct err *e)
{
	if (!isfinite(readout))
		return err_set(e, -ERR_NOT_FINITE, "sample %u: readout %u is not finite", row, k);
	return err_set(e, -ERR_NOT_FINITE, "sample %u: readout %u is %.6g, and a state of norm 1 gives at most %.6g: rounding has changed "
		"the norm%s", row, k, readout, ev->readout_most[k], ev->pl->precision == PRECISION_SINGLE ? "; compute in double precision" : "");
}

int unit_finite(const struct evaluator *ev, const double *readout, uint32_t row, struct err *e)
{
	for (uint32_t k = 0; k < ev->p->nreadout; k++)
		if (!(fabs(readout[k]) <= ev->readout_limit[k]))
			return out_of_range(ev, readout[k], k, row, e);
	return 0;
}

int unit_slope(struct evaluator *ev, struct scratch *w, uint32_t sample, uint32_t row, struct err *e)
{
	const double *readout = ev->readout + (size_t)sample * ev->p->nreadout;
	double *slope = ev->gradient ? w->slope_row : NULL;
	int code = ev->fn(ev->ctx, sample, readout, slope, slope ? w->gradient + ev->p->nweight_circuit : NULL);

	if (code)
		return err_set(e, code, "sample %u: its loss is not finite", row);
	for (uint32_t k = 0; slope && k < ev->p->nreadout; k++)
		if (!isfinite(slope[k]))
			return err_set(e, -ERR_NOT_FINITE, "sample %u: its loss has a slope that is not finite", row);
	return 0;
}

/* Matrices shared by the samples that per-sample definitions refer to. */
static void copy_referred(const struct evaluator *ev, cplx *u)
{
	const struct matrix_set *s = &ev->pl->set;

	for (uint32_t k = 0; k < ev->nreferred; k++) {
		uint32_t m = ev->referred[k];

		memcpy(u + s->offset[m], ev->u + s->offset[m], (s->offset[m + 1] - s->offset[m]) * sizeof *u);
	}
}

void units_weights(struct evaluator *ev)
{
	for (unsigned k = 0; k < ev->nworker && (ev->ncopied_expr || ev->nreferred); k++)
		for (uint32_t s = 0; s < ev->pl->width; s++) {
			for (uint32_t i = 0; i < ev->ncopied_expr; i++)
				ev->scratch[k].value[s][ev->copied_expr[i]] = ev->value[ev->copied_expr[i]];
			copy_referred(ev, ev->scratch[k].own_u[s]);
		}
}

static void eval_sample(const struct evaluator *ev, const double *row, double *value)
{
	for (uint32_t k = 0; k < ev->nsample_expr; k++) {
		const struct expr *x = &ev->p->expr[ev->sample_expr[k]];

		value[ev->sample_expr[k]] = x->op == EXPR_INPUT ? row[x->a]
			: expr_apply(x->op, value[x->a], expr_noperand(x->op) > 1 ? value[x->b] : 0);
	}
}

static void read_vector(const struct evaluator *ev, const struct apply *a, const double *value,
	const double *row, uint32_t length, cplx *v)
{
	if (a->op == APPLY_STATE) {
		const double *x = row + ev->p->input_group[a->matrix].first;

		for (uint32_t j = 0; j < length; j++)
			v[j] = cplx_of(x[2 * j], x[2 * j + 1]);
	} else {
		for (uint32_t j = 0; j < length; j++)
			v[j] = value[a->expr[j]];
	}
}

/* Divided by the largest part first, so that no square overflows or vanishes. */
static bool normalise(uint32_t length, cplx *v)
{
	double most = 0, sum = 0, scale;

	for (uint32_t j = 0; j < length; j++)
		most = fmax(most, fmax(fabs(creal(v[j])), fabs(cimag(v[j]))));
	if (!(most > 0) || !isfinite(most))
		return false;
	for (uint32_t j = 0; j < length; j++) {
		v[j] = cplx_of(creal(v[j]) / most, cimag(v[j]) / most);
		sum += creal(v[j]) * creal(v[j]) + cimag(v[j]) * cimag(v[j]);
	}
	if (!isfinite(sum))
		return false;
	scale = sqrt(sum);
	for (uint32_t j = 0; j < length; j++)
		v[j] = cplx_of(creal(v[j]) / scale, cimag(v[j]) / scale);
	return true;
}

static int fill_vectors(const struct evaluator *ev, struct scratch *w, uint32_t s, uint32_t sample, struct err *e)
{
	uint32_t width = ev->pl->width;

	for (uint32_t c = 0; c < ev->pl->ncircuit; c++)
		for (uint32_t k = 0; k < ev->pl->circuit[c].nprepare; k++) {
			cplx *v = w->own_vector[c][(size_t)k * width + s];
			uint32_t length = ev->length[c][k];

			read_vector(ev, ev->pl->circuit[c].prepare[k], w->value[s], w->row[s], length, v);
			if (!normalise(length, v))
				return err_set(e, -ERR_BAD_DATA, "sample %u: the vector of amplitudes is zero or not finite "
					"and cannot be normalised", unit_row(ev, sample));
			w->vector[c][(size_t)k * width + s] = v;
		}
	return 0;
}

/* A place of a short unit that repeats its first sample. */
static void repeat_first(const struct evaluator *ev, struct scratch *w, uint32_t s)
{
	uint32_t width = ev->pl->width;

	w->u[s] = w->u[0];
	w->row[s] = w->row[0];
	for (uint32_t c = 0; c < ev->pl->ncircuit; c++)
		for (uint32_t k = 0; k < ev->pl->circuit[c].nprepare; k++)
			w->vector[c][(size_t)k * width + s] = w->vector[c][(size_t)k * width];
}

int unit_fill(struct evaluator *ev, struct scratch *w, uint32_t first, uint32_t count, struct err *e)
{
	w->input.whole = ev->shot_group != NULL;
	for (uint32_t s = 0; s < count; s++) {
		int code;

		w->row[s] = ev->batch.input ? ev->batch.input + (size_t)unit_row(ev, first + s) * ev->p->ninput : NULL;
		eval_sample(ev, w->row[s], w->value[s]);
		w->u[s] = w->own_u[s];
		code = fill_vectors(ev, w, s, first + s, e);
		if (code)
			return code;
	}
	for (uint32_t k = 0; k < ev->nsample_matrix; k++)
		matrix_build_samples(&ev->pl->set, ev->sample_matrix[k], count, w->value, w->own_u);
	for (uint32_t s = count; s < ev->pl->width; s++)
		repeat_first(ev, w, s);
	return 0;
}

/* The state is read at once: a worker may keep but one for all circuits. */
static void draw_sample(struct evaluator *ev, struct scratch *w, unsigned worker, uint32_t c, uint32_t s, double *readout)
{
	uint32_t sample = ev->draw_sample ? ev->draw_sample[w->first + s] : ev->draw_first + w->first + s;
	const struct shot_stream stream = { .key = ev->draw_key, .sample = sample, .variant = w->variant };

	ev->backend->amplitudes(ev->state, worker, c, s, w->shot_psi);
	shot_readouts(ev->shot_group[c], w->shot_psi, ev->o.shots, &stream, w->shot_scratch,
		readout + (size_t)s * ev->pl->circuit[c].nreadout);
}

void unit_forward(struct evaluator *ev, struct scratch *w, unsigned worker, uint32_t c, uint32_t count, bool keep,
	double *readout)
{
	ev->backend->forward(ev->state, worker, c, &w->input, keep || ev->shot_group, readout);
	if (!ev->shot_group)
		return;
	for (uint32_t s = 0; s < count; s++)
		draw_sample(ev, w, worker, c, s, readout);
	w->variant++;
}
