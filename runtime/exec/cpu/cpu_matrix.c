/* SPDX-License-Identifier: Apache-2.0
 * Matrices and phases in the kernels' precision and layout. */
#include "config.h"
#include <string.h>
#include "runtime/exec/cpu/cpu_sweep.h"

/* Entries of m (or its conjugate transpose) as re, im pairs. */
static void flatten(const cplx *u, unsigned d, bool adjoint, double *out)
{
	unsigned to_row = adjoint ? 1 : d, to_column = adjoint ? d : 1;
	double sign = adjoint ? -1 : 1;
	for (unsigned r = 0; r < d; r++)
		for (unsigned c = 0; c < d; c++, u++) {
			double *to = out + 2 * (r * to_row + c * to_column);
			to[0] = creal(*u);
			to[1] = sign * cimag(*u);
		}
}

static void *real_at(const struct backend_state *b, void *base, size_t n) { return (char *)base + n * b->k->real_bytes; }

/* The matrices of class cls that steps use. */
static void store_all(struct backend_state *b, enum value_class cls, const cplx *u)
{
	const struct matrix_set *set = &b->plan->set;
	double flat[2 * MATRIX_ENTRIES_MAX];
	for (uint32_t k = 0; k < b->nused[cls]; k++) {
		uint32_t m = b->used[cls][k], at = set->offset[m], n = set->offset[m + 1] - at;
		if (u != b->u)
			memcpy(b->u + at, u + at, n * sizeof *u);
		/* A complex number is its two parts (C17 6.2.5). */
		b->k->store(real_at(b, b->matrix[0], 2 * (size_t)at), (const double *)(u + at), 2 * (size_t)n);
		flatten(u + at, matrix_dim(set->def[m]), true, flat);
		b->k->store(real_at(b, b->matrix[1], 2 * (size_t)at), flat, 2 * (size_t)n);
	}
}

void cpu_constants(struct backend_state *b)
{
	store_all(b, VALUE_CONSTANT, b->u);
}

void cpu_matrices(struct backend_state *b, const cplx *u)
{
	store_all(b, VALUE_SHARED, u);
	for (uint32_t k = 0; b->circuit && k < b->plan->ncircuit; k++) {
		if (b->lane_bits)
			cpu_masked_matrices(b, &b->circuit[k]);
		cpu_tail_matrices(b, &b->circuit[k]);
	}
}

/* Is that part (0 real, 1 imaginary) of entry (r, c) 0 whatever the weights and inputs? */
static bool is_zero(const struct matrix *m, unsigned r, unsigned c, unsigned part)
{
	if (m->flags & MATRIX_REAL)
		return part == 1;
	return m->flags & MATRIX_PARITY && part != (unsigned)__builtin_parity(r ^ c);
}

/* One of the unit's own matrices, entry by entry and lane by lane. */
static void sample_matrix(const struct backend_state *b, uint32_t m, bool adjoint, const struct unit_input *in, unsigned lanes,
	double *wide)
{
	const struct matrix *def = b->plan->set.def[m];
	unsigned d = matrix_dim(def);
	size_t at = b->plan->set.offset[m];
	for (unsigned e = 0; e < d * d; e++) {
		unsigned from = adjoint ? e % d * d + e / d : e;
		for (unsigned part = 0; part < 2; part++, wide += lanes) {
			double sign = adjoint && part ? -1 : 1;
			if (is_zero(def, e / d, e % d, part))
				memset(wide, 0, lanes * sizeof *wide);
			else
				for (unsigned s = 0; s < lanes; s++)
					wide[s] = sign * ((const double *)(in->u[s] + at + from))[part];
		}
	}
}

/* The unit's own matrices: lane by lane in SHAPE_SAMPLES, else one sample's. */
void cpu_sample_matrices(const struct backend_state *b, struct cpu_worker *w,
	const struct cpu_circuit *c, const struct unit_input *in)
{
	const struct matrix_set *set = &b->plan->set;
	unsigned lanes = b->lane_bits ? 1 : b->k->lanes;
	double wide[2 * MATRIX_ENTRIES_MAX * KERNEL_LANES_MAX];
	for (uint32_t k = 0; k < c->nsample_matrix; k++) {
		uint32_t m = c->sample_matrix[k];
		unsigned d = matrix_dim(set->def[m]);
		for (unsigned adjoint = 0; adjoint <= c->sample_inverse[k]; adjoint++) {
			sample_matrix(b, m, adjoint, in, lanes, wide);
			b->k->store(real_at(b, w->matrix[adjoint], 2 * (size_t)set->offset[m] * lanes), wide, 2 * (size_t)d * d * lanes);
		}
	}
}

/* A matrix that is the identity in lanes where the controls do not hold; u: the set it is of. */
static void masked_matrix(const struct backend_state *b, const struct cpu_step *s, const cplx *u, bool adjoint, void *to)
{
	uint32_t m = s->plan->matrix;
	unsigned d = matrix_dim(b->plan->set.def[m]), n = 2 * d * d, lanes = b->k->lanes;
	double flat[2 * MATRIX_ENTRIES_MAX], wide[2 * MATRIX_ENTRIES_MAX * KERNEL_LANES_MAX];
	flatten(u + b->plan->set.offset[m], d, adjoint, flat);
	for (unsigned e = 0; e < n; e++)
		for (unsigned l = 0; l < lanes; l++)
			wide[e * lanes + l] = (s->lane_on >> l) & 1 ? flat[e] : e % (2 * d + 2) == 0;
	b->k->store(to, wide, n * lanes);
}

void cpu_masked_matrices(struct backend_state *b, const struct cpu_circuit *c)
{
	for (uint32_t k = 0; k < c->nstage; k++)
		for (uint32_t n = 0; n < c->stage[k].nstep; n++)
			for (unsigned adjoint = 0; adjoint < 2; adjoint++)
				if (c->stage[k].step[n].masked[adjoint])
					masked_matrix(b, &c->stage[k].step[n], b->u, adjoint, c->stage[k].step[n].masked[adjoint]);
}

const void *cpu_step_matrix(const struct sweep *w, const struct cpu_step *s, bool inverse, matrix_room *room)
{
	const struct backend_state *b = w->b;
	const struct matrix_set *set = &b->plan->set;
	size_t offset = 2 * (size_t)set->offset[s->plan->matrix];
	bool adjoint = s->plan->adjoint != inverse;
	if (s->masked[adjoint])
		return s->masked[adjoint];
	if (s->lane_masked) {
		masked_matrix(b, s, w->in->u[0], adjoint, room);
		return room;
	}
	if (set->def[s->plan->matrix]->cls == VALUE_SAMPLE)
		return real_at(b, w->owner->matrix[adjoint], offset * (b->lane_bits ? 1 : b->k->lanes));
	return real_at(b, b->matrix[adjoint], offset);
}

/* Index of a diagonal step's matrix that the targets on the block's first row give. */
static unsigned base_part(const struct cpu_step *s, size_t base)
{
	unsigned part = 0;
	for (unsigned k = 0; k < s->nbase; k++)
		part |= (base >> s->base[k].outer) & 1 ? s->base[k].part : 0;
	return part;
}

struct phases cpu_step_phases(const struct sweep *w, const struct cpu_step *s, bool inverse, size_t base, matrix_room *room)
{
	const struct backend_state *b = w->b;
	const struct matrix_set *set = &b->plan->set;
	uint32_t m = s->plan->matrix;
	bool sample = set->def[m]->cls == VALUE_SAMPLE, conjugate = s->plan->adjoint != inverse;
	unsigned d = matrix_dim(set->def[m]), nrow = 1u << s->kernel.ntarget, lanes = s->kernel.lanewise ? b->k->lanes : 1;
	const cplx *u = (sample ? w->in->u[0] : b->u) + set->offset[m];
	double wide[2 * MATRIX_DIM_MAX * KERNEL_LANES_MAX];
	struct phases p = { .stride = d + 1, .active = sample ? (1u << nrow) - 1 : 0 };
	unsigned first = base_part(s, base);
	if (!s->spread) {
		for (unsigned r = 0; r < nrow && !sample; r++)
			p.active |= (unsigned)(u[r * (d + 1)] != 1) << r;
		p.phase = real_at(b, sample ? w->owner->matrix[conjugate] : b->matrix[conjugate], 2 * (size_t)set->offset[m] * lanes);
		return p;
	}
	for (unsigned r = 0; r < nrow; r++)
		for (unsigned l = 0; l < lanes; l++) {
			unsigned t = first | s->row_part[r] | s->lane_part[l];
			cplx z = (s->lane_on >> l) & 1 ? u[t * (d + 1)] : 1;
			wide[2 * r * lanes + l] = creal(z);
			wide[(2 * r + 1) * lanes + l] = conjugate ? -cimag(z) : cimag(z);
			p.active |= (unsigned)(z != 1) << r;
		}
	b->k->store(room, wide, 2 * (size_t)nrow * lanes);
	p.phase = room;
	p.stride = 1;
	return p;
}
