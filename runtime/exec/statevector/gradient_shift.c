/* SPDX-License-Identifier: Apache-2.0
 * Shifted circuits: one use of one matrix is replaced, the circuit is run again. */
#include "runtime/exec/statevector/statevector.h"

#include <math.h>
#include <string.h>

enum { SHIFT_DEPTH_MAX = 1000 }; /* definitions within definitions */

/* Where an angle is: an item of a matrix, which is itself an item of the matrix above. */
struct place {
	const struct place *up;
	uint32_t matrix, item;
	unsigned depth;
	bool under_control;
};

struct shift {
	struct statevector *sv;
	struct scratch *w;
	uint32_t count, circuit, own; /* own: the step's matrix, of class SAMPLE */
	unsigned worker;
	struct err *e;
};

/* The definition with item `at` replaced by x, an embedded matrix. */
static void product_with(const struct shift *sh, const struct matrix *m, uint32_t at, const cplx *x,
	const double *value, const cplx *u, cplx *out)
{
	unsigned d = matrix_dim(m);
	cplx item[MATRIX_ENTRIES_MAX], sum[MATRIX_ENTRIES_MAX];

	for (unsigned i = 0; i < d * d; i++)
		out[i] = i % (d + 1) == 0;
	for (uint32_t k = 0; k < m->nitem; k++) {
		const cplx *factor = x;

		if (k != at) {
			item_matrix(&sh->sv->pl->set, &m->item[k], m->ntarget, value, u, item);
			factor = item;
		}
		matrix_multiply(d, factor, out, sum);
		memcpy(out, sum, d * d * sizeof *out);
	}
}

/* The item at `p` with one angle shifted, embedded. */
static void shifted_item(const struct shift *sh, const struct place *p, unsigned angle, double by,
	const double *value, const cplx *u, cplx *out)
{
	const struct matrix *m = sh->sv->pl->set.def[p->matrix];
	struct item it = m->item[p->item];
	double own[GATE_ANGLES_MAX];

	for (unsigned k = 0; k < gate_row(it.gate)->nangle; k++) {
		own[k] = value[it.angle[k]] + (k == angle ? by : 0);
		it.angle[k] = k;
	}
	item_matrix(&sh->sv->pl->set, &it, m->ntarget, own, u, out);
}

/* The step's own matrix of sample s with the angle shifted, from the place upwards. */
static void shifted_matrix(const struct shift *sh, const struct place *p, unsigned angle, double by,
	uint32_t s)
{
	const struct matrix_set *set = &sh->sv->pl->set;
	cplx *u = sh->w->own_u[s], x[MATRIX_ENTRIES_MAX], out[MATRIX_ENTRIES_MAX],
	     kept[MATRIX_ENTRIES_MAX];
	const double *value = sh->w->value[s];

	shifted_item(sh, p, angle, by, value, u, x);
	product_with(sh, set->def[p->matrix], p->item, x, value, u, out);
	for (const struct place *up = p->up; up; p = up, up = up->up) {
		size_t nbyte = (set->offset[p->matrix + 1] - set->offset[p->matrix]) * sizeof *u;
		const struct matrix *above = set->def[up->matrix];

		memcpy(kept, u + set->offset[p->matrix], nbyte);
		memcpy(u + set->offset[p->matrix], out, nbyte);
		item_matrix(set, &above->item[up->item], above->ntarget, value, u, x);
		memcpy(u + set->offset[p->matrix], kept, nbyte);
		product_with(sh, above, up->item, x, value, u, out);
	}
	memcpy(u + set->offset[sh->own], out,
		(set->offset[sh->own + 1] - set->offset[sh->own]) * sizeof *u);
}

/* sum_k dreadout[k] readout[k] of one sample of the circuit just run. */
static double weighted_sum(const struct shift *sh, uint32_t s)
{
	uint32_t n = sh->sv->pl->circuit[sh->circuit].nreadout;
	double sum = 0;

	for (uint32_t k = 0; k < n; k++)
		sum += sh->w->dreadout[sh->circuit][s * n + k] * sh->w->shifted[s * n + k];
	return sum;
}

static void run_again(const struct shift *sh)
{
	unit_forward(sh->sv, sh->w, sh->worker, sh->circuit, sh->count, false, sh->w->shifted);
}

/* d/da = w sum_j (-1)^(j-1) / (4n sin^2(x_j / 2)) f(a + x_j / w), x_j = (2j - 1) pi / (2n), j = 1 .. 2n */
static void shift_angle(const struct shift *sh, const struct place *p, unsigned angle)
{
	const struct item *it = &sh->sv->pl->set.def[p->matrix]->item[p->item];
	struct gate_frequencies f =
		gate_shift_frequencies(gate_row(it->gate)->shift[angle], p->under_control);

	for (unsigned j = 1; j <= 2 * f.n; j++) {
		double x = (2 * j - 1) * PI / (2 * f.n), sine = sin(x / 2);
		double factor = (j % 2 ? f.w : -f.w) / (4 * f.n * sine * sine);

		for (uint32_t s = 0; s < sh->count; s++)
			shifted_matrix(sh, p, angle, x / f.w, s);
		run_again(sh);
		for (uint32_t s = 0; s < sh->count; s++) {
			memset(sh->w->dexpr, 0, sh->sv->p->nexpr * sizeof *sh->w->dexpr);
			sh->w->dexpr[it->angle[angle]] = factor * weighted_sum(sh, s);
			program_eval_reverse(sh->sv->p, sh->w->value[s], sh->w->dexpr,
				sh->w->gradient);
		}
	}
}

static double uses_of_item(const struct statevector *sv, const struct item *it)
{
	double n = 0;

	if (it->gate == GATE_NONE)
		return sv->shift_use[it->ref];
	for (unsigned k = 0; k < gate_row(it->gate)->nangle; k++)
		n += sv->pl->expr_trainable[it->angle[k]];
	return n;
}

/* Definitions refer to earlier ones, so one pass counts all, however often a block calls blocks. */
int shift_prepare(struct statevector *sv, struct err *e)
{
	const struct matrix_set *set = &sv->pl->set;
	double n = 0;

	sv->shift_use = arena_alloc(&sv->arena, set->n, sizeof *sv->shift_use);
	for (uint32_t m = 0; m < set->n; m++)
		for (uint32_t i = 0; i < set->def[m]->nitem; i++)
			sv->shift_use[m] += uses_of_item(sv, &set->def[m]->item[i]);
	for (uint32_t c = 0; c < sv->pl->ncircuit; c++)
		for (uint32_t k = 0; k < sv->pl->circuit[c].nstep; k++)
			n += sv->pl->circuit[c].step[k].transition
				? sv->shift_use[sv->pl->circuit[c].step[k].matrix]
				: 0;
	if (n <= SHIFT_USES_MAX)
		return 0;
	return err_set(e, -ERR_CONFIG,
		"parameter shift runs the circuit at least twice for each use of a trained angle: %.4g uses, "
		"at most %d are possible; the adjoint method has no such limit",
		n, SHIFT_USES_MAX);
}

/* All trained angles within matrix m, which stands where `up` says. */
static int shift_within(const struct shift *sh, uint32_t m, const struct place *up)
{
	const struct matrix *def = sh->sv->pl->set.def[m];
	struct place here = { .up = up->depth ? up : NULL, .matrix = m, .depth = up->depth + 1 };
	int code = 0;

	if (here.depth > SHIFT_DEPTH_MAX)
		return err_set(sh->e, -ERR_CONFIG,
			"parameter shift: definitions nested more than %d deep", SHIFT_DEPTH_MAX);
	for (here.item = 0; here.item < def->nitem && !code; here.item++) {
		const struct item *it = &def->item[here.item];

		here.under_control = up->under_control || it->ncontrol;
		if (it->gate == GATE_NONE && sh->sv->shift_use[it->ref] == 0)
			continue;
		if (it->gate == GATE_NONE) {
			code = shift_within(sh, it->ref, &here);
			continue;
		}
		for (unsigned k = 0; k < gate_row(it->gate)->nangle; k++)
			if (sh->sv->pl->expr_trainable[it->angle[k]])
				shift_angle(sh, &here, k);
	}
	return code;
}

static void restore_matrix(const struct shift *sh)
{
	const struct matrix_set *set = &sh->sv->pl->set;
	const struct item *whole = &set->def[sh->own]->item[0];

	for (uint32_t s = 0; s < sh->count; s++)
		memcpy(sh->w->own_u[s] + set->offset[sh->own],
			sh->w->own_u[s] + set->offset[whole->ref],
			(set->offset[sh->own + 1] - set->offset[sh->own]) * sizeof(cplx));
}

int shift_unit(struct statevector *sv, struct scratch *w, uint32_t count, unsigned worker,
	struct err *e)
{
	struct shift sh = { .sv = sv, .w = w, .count = count, .worker = worker, .e = e };
	int code = 0;

	for (sh.circuit = 0; sh.circuit < sv->pl->ncircuit; sh.circuit++) {
		const struct plan_circuit *c = &sv->pl->circuit[sh.circuit];

		for (uint32_t k = 0; k < c->nstep && !code; k++) {
			struct place top = { .under_control = c->step[k].ncontrol > 0 };

			if (!c->step[k].transition)
				continue;
			sh.own = c->step[k].matrix;
			code = shift_within(&sh, sh.own, &top);
			restore_matrix(&sh);
		}
	}
	return code;
}

/* ---- central differences ---- */

/* Expressions and all matrices of the unit's samples with w->weight. */
static void rebuild(const struct shift *sh)
{
	struct statevector *sv = sh->sv;

	for (uint32_t s = 0; s < sh->count; s++) {
		unit_values(sv, sh->w, s, sh->w->weight);
		matrix_build(&sv->pl->set, sh->w->value[s], VALUE_SHARED, VALUE_SAMPLE,
			sv->need_sample, sh->w->own_u[s], NULL);
	}
}

static double weighted_readouts(struct shift *sh)
{
	double sum = 0;

	for (sh->circuit = 0; sh->circuit < sh->sv->pl->ncircuit; sh->circuit++) {
		run_again(sh);
		for (uint32_t s = 0; s < sh->count; s++)
			sum += weighted_sum(sh, s);
	}
	return sum;
}

void difference_unit(struct statevector *sv, struct scratch *w, uint32_t count, unsigned worker)
{
	struct shift sh = { .sv = sv, .w = w, .count = count, .worker = worker };
	double step = sv->pl->precision == PRECISION_DOUBLE ? 1e-4 : 1e-2;

	memcpy(w->weight, sv->weight, sv->p->nweight * sizeof *w->weight);
	for (uint32_t i = 0; i < sv->p->nweight_circuit; i++) {
		w->weight[i] = sv->weight[i] + step;
		rebuild(&sh);
		double up = weighted_readouts(&sh);
		w->weight[i] = sv->weight[i] - step;
		rebuild(&sh);
		double down = weighted_readouts(&sh);
		w->weight[i] = sv->weight[i];
		w->gradient[i] += (up - down) / (2 * step);
	}
	rebuild(&sh);
}
