/* SPDX-License-Identifier: Apache-2.0
 * What one unit of state vectors needs: values, matrices and vectors of its samples. */
#include "runtime/exec/statevector/statevector.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "runtime/base/profile/recorder.h"
#include "runtime/base/rng.h"

uint32_t unit_samples(const struct statevector *sv, uint32_t unit, uint32_t *first)
{
	return unit_states(unit, sv->ntrajectory ? 1 : sv->pl->width, sv->batch.nsample, first);
}

uint32_t unit_runs(const struct statevector *sv)
{
	return sv->ntrajectory ? (sv->ntrajectory - 1) / sv->pl->width + 1 : 1;
}

double unit_part(const struct statevector *sv, const struct scratch *w, uint32_t s)
{
	if (!sv->ntrajectory)
		return 1;
	if (!sv->o.shots)
		return 1.0 / sv->ntrajectory;
	return (double)trajectory_shots(sv->o.shots, sv->ntrajectory, w->trajectory + s) / sv->o.shots;
}

/* The number of place s of the scratch in the streams of random numbers. */
static uint32_t drawn_sample(const struct statevector *sv, const struct scratch *w, uint32_t s)
{
	const struct draws *d = &sv->batch.draws;
	uint32_t at = w->first + (sv->ntrajectory ? 0 : s);

	return d->sample ? d->sample[at] : d->first + at;
}

/* Matrices shared by the samples that per-sample definitions refer to. */
static void copy_referred(const struct statevector *sv, cplx *u)
{
	const struct matrix_set *s = &sv->pl->set;

	for (uint32_t k = 0; k < sv->nreferred; k++) {
		uint32_t m = sv->referred[k];

		memcpy(u + s->offset[m], sv->u + s->offset[m],
			(s->offset[m + 1] - s->offset[m]) * sizeof *u);
	}
}

void scratch_weights(struct statevector *sv)
{
	for (unsigned k = 0; k < sv->nworker && (sv->ncopied_expr || sv->nreferred); k++)
		for (uint32_t s = 0; s < sv->pl->width; s++) {
			for (uint32_t i = 0; i < sv->ncopied_expr; i++)
				sv->scratch[k].value[s][sv->copied_expr[i]] =
					sv->value[sv->copied_expr[i]];
			copy_referred(sv, sv->scratch[k].own_u[s]);
		}
}

static double draw_number(const struct statevector *sv, const struct scratch *w, uint32_t s,
	uint32_t number)
{
	if (!sv->ntrajectory)
		return 1; /* as program_eval */
	return rng_uniform(sv->batch.draws.key, RNG_NOISE, drawn_sample(sv, w, s),
		(uint64_t)(w->trajectory + s) << 32 | number);
}

static void eval_sample(const struct statevector *sv, const struct scratch *w, uint32_t s)
{
	const double *row = w->row[s];
	double *value = w->value[s];

	for (uint32_t k = 0; k < sv->nsample_expr; k++) {
		const struct expr *x = &sv->p->expr[sv->sample_expr[k]];

		value[sv->sample_expr[k]] = x->op == EXPR_INPUT ? row[x->a]
			: x->op == EXPR_DRAW
			? draw_number(sv, w, s, x->a)
			: expr_apply(x->op, value[x->a], expr_noperand(x->op) > 1 ? value[x->b] : 0);
	}
}

void unit_values(const struct statevector *sv, const struct scratch *w, uint32_t s,
	const double *weight)
{
	program_eval(sv->p, weight, w->row[s], w->value[s]);
	if (sv->ntrajectory)
		eval_sample(sv, w, s);
}

static void read_vector(const struct statevector *sv, const struct apply *a, const double *value,
	const double *row, uint32_t length, cplx *v)
{
	if (a->op == APPLY_STATE) {
		const double *x = row + sv->p->input_group[a->matrix].first;

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

static int fill_vectors(const struct statevector *sv, struct scratch *w, uint32_t s,
	uint32_t sample, struct err *e)
{
	uint32_t width = sv->pl->width;

	for (uint32_t c = 0; c < sv->pl->ncircuit; c++)
		for (uint32_t k = 0; k < sv->pl->circuit[c].nprepare; k++) {
			cplx *v = w->own_vector[c][(size_t)k * width + s];
			uint32_t length = sv->length[c][k];

			read_vector(sv, sv->pl->circuit[c].prepare[k], w->value[s], w->row[s],
				length, v);
			if (!normalise(length, v))
				return err_set(e, -ERR_BAD_DATA,
					"sample %u: the vector of amplitudes is zero or not finite and cannot be normalised",
					batch_row(&sv->batch, sample));
			w->vector[c][(size_t)k * width + s] = v;
		}
	return 0;
}

/* A place of a short unit that repeats its first sample. */
static void repeat_first(const struct statevector *sv, struct scratch *w, uint32_t s)
{
	uint32_t width = sv->pl->width;

	w->u[s] = w->u[0];
	w->row[s] = w->row[0];
	for (uint32_t c = 0; c < sv->pl->ncircuit; c++)
		for (uint32_t k = 0; k < sv->pl->circuit[c].nprepare; k++)
			w->vector[c][(size_t)k * width + s] = w->vector[c][(size_t)k * width];
}

/* Samples of a unit that threads share. */
struct filling {
	struct statevector *sv;
	struct scratch *w;
	uint32_t first;
	atomic_int code; /* of any that failed */
};

static int fill_samples(const struct filling *f, uint32_t from, uint32_t to, struct err *e)
{
	const struct statevector *sv = f->sv;
	struct scratch *w = f->w;

	for (uint32_t s = from; s < to; s++) {
		uint32_t sample = f->first + (sv->ntrajectory ? 0 : s);

		w->row[s] = sv->batch.input
			? sv->batch.input + (size_t)batch_row(&sv->batch, sample) * sv->p->ninput
			: NULL;
		eval_sample(sv, w, s);
		if (w->input.terms)
			sv->batch.needs.give(sv->batch.needs_ctx, sample,
				w->number + s * loss_numbers(&sv->o.terms));
		w->u[s] = w->own_u[s];
		int code = fill_vectors(sv, w, s, sample, e);
		if (code)
			return code;
	}
	for (uint32_t k = 0; k < sv->nsample_matrix; k++)
		matrix_build_samples(&sv->pl->set, sv->sample_matrix[k], to - from, w->value + from,
			w->own_u + from);
	return 0;
}

static void fill_part(void *ctx, uint32_t from, uint32_t to)
{
	struct filling *f = ctx;
	int code = fill_samples(f, from, to, NULL);

	if (code)
		atomic_store(&f->code, code);
}

int unit_fill(struct statevector *sv, struct scratch *w, uint32_t first, uint32_t count, struct err *e)
{
	struct filling f = { .sv = sv, .w = w, .first = first };

	w->input.whole = sv->shot_group != NULL;
	w->input.count = count;
	w->input.terms = w->number && sv->batch.needs.give ? &sv->o.terms : NULL;
	w->input.number = w->number;
	if (sv->backend->samples && sv->state)
		sv->backend->samples(sv->state, count, fill_part, &f);
	/* Once more for the first that fails. */
	int code = !sv->backend->samples || !sv->state || atomic_load(&f.code)
		? fill_samples(&f, 0, count, e)
		: 0;
	if (code)
		return code;
	for (uint32_t s = count; s < sv->pl->width; s++)
		repeat_first(sv, w, s);
	return 0;
}

/* The state is read at once: a worker may keep but one for all circuits. */
static void draw_sample(struct statevector *sv, struct scratch *w, unsigned worker, uint32_t c,
	uint32_t s, double *readout)
{
	uint32_t n = sv->ntrajectory, t = w->trajectory + s;
	const struct shot_stream stream = { .key = sv->batch.draws.key,
		.sample = drawn_sample(sv, w, s),
		.variant = n ? w->variant * n + t : w->variant };

	sv->backend->amplitudes(sv->state, worker, c, s, 0, UINT64_C(1) << sv->pl->circuit[c].nbit,
		w->shot_psi);
	shot_readouts(sv->shot_group[c], w->shot_psi,
		n ? trajectory_shots(sv->o.shots, n, t) : sv->o.shots, &stream, w->shot_scratch,
		readout + (size_t)s * sv->pl->circuit[c].nreadout);
}

void unit_forward(struct statevector *sv, struct scratch *w, unsigned worker, uint32_t c,
	uint32_t count, bool keep, double *readout)
{
	sv->backend->forward(sv->state, worker, c, &w->input, keep || sv->shot_group, readout);
	recorder_states(false, count);
	if (!sv->shot_group)
		return;
	for (uint32_t s = 0; s < count; s++)
		draw_sample(sv, w, worker, c, s, readout);
	w->variant++;
}
