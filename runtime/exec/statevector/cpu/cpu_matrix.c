/* SPDX-License-Identifier: Apache-2.0
 * Matrices and phases in the kernels' precision and layout. */
#include <string.h>
#include "runtime/base/rng.h"
#include "runtime/exec/statevector/cpu/cpu_sweep.h"

static void *real_at(const struct backend_state *b, void *base, size_t n) { return (char *)base + n * b->k->real_bytes; }

void cpu_noise(struct backend_state *b, uint32_t index, unsigned d, struct cpu_step *s)
{
	uint32_t *noise = arena_alloc(&b->arena, 4 * (size_t)d * d, sizeof *noise);
	s->noise[0] = noise;
	s->noise[1] = noise + 2 * (size_t)d * d;
	for (unsigned e = 0; e < d * d; e++) {
		uint64_t random = rng_u64(0, RNG_ROUND, index, e);
		unsigned inverse = e % d * d + e / d;
		s->noise[0][2 * e] = s->noise[1][2 * inverse] = (uint32_t)(random >> 35);
		s->noise[0][2 * e + 1] = s->noise[1][2 * inverse + 1] = (uint32_t)random >> 3;
	}
}

/* The image of a step's matrix u, and of its inverse. */
static void store_step(struct backend_state *b, const struct cpu_step *s, const cplx *u)
{
	unsigned d = 1u << s->plan->ntarget;
	void *to = real_at(b, b->matrix[0], 2 * s->at);
	/* A complex number is its two parts (C17 6.2.5). */
	b->k->round(to, (const double *)u, 2 * (size_t)d * d, 1, s->noise[0]);
	b->k->adjoint(real_at(b, b->matrix[1], 2 * s->at), to, d);
}

/* Of all steps with matrices of class cls.  Two images of one matrix are rounded by different noise: were they equal, their
 * errors would add up in proportion to the number of steps; so they do in proportion to its square root (stochastic rounding:
 * Croci, Fasi, Higham, Mary, Mikaitis, Royal Society Open Science 9, 211631, 2022, section 6). */
static void store_all(struct backend_state *b, enum value_class cls)
{
	const struct matrix_set *set = &b->plan->set;
	for (uint32_t c = 0; c < b->plan->ncircuit; c++)
		for (uint32_t k = 0; k < b->circuit[c].nstage; k++)
			for (uint32_t n = 0; n < b->circuit[c].stage[k].nstep; n++) {
				const struct cpu_step *s = &b->circuit[c].stage[k].step[n];
				uint32_t m = s->plan->matrix;
				if (set->def[m]->cls == cls && !s->permutes)
					store_step(b, s, b->u + set->offset[m]);
			}
}

void cpu_constants(struct backend_state *b) { store_all(b, VALUE_CONSTANT); }

void cpu_matrices(struct backend_state *b, const cplx *u)
{
	const uint32_t *offset = b->plan->set.offset;
	for (uint32_t k = 0; k < b->nused; k++)
		memcpy(b->u + offset[b->used[k]], u + offset[b->used[k]], (offset[b->used[k] + 1] - offset[b->used[k]]) * sizeof *u);
	store_all(b, VALUE_SHARED);
	for (uint32_t k = 0; b->circuit && k < b->plan->ncircuit; k++)
		cpu_tail_matrices(b, &b->circuit[k]);
}

/* Is that part (0 real, 1 imaginary) of entry (r, c) 0 whatever the weights and inputs? */
static bool is_zero(const struct matrix *m, unsigned r, unsigned c, unsigned part)
{
	if (m->flags & MATRIX_REAL)
		return part == 1;
	return m->flags & MATRIX_PARITY && part != (unsigned)__builtin_parity(r ^ c);
}

/* A matrix, or its conjugate transpose, of some sets (u), entry by entry and lane by lane: re, im. */
static void lane_matrix(const struct backend_state *b, uint32_t m, bool adjoint,
	const cplx *const *u, unsigned lanes, double *wide)
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
					wide[s] = sign * ((const double *)(u[s] + at + from))[part];
		}
	}
}

/* The unit's own matrices: lane by lane in SHAPE_BATCHED, else one sample's. */
void cpu_sample_matrices(const struct backend_state *b, struct cpu_worker *w,
	const struct cpu_circuit *c, const struct unit_input *in)
{
	unsigned lanes = b->lane_bits ? 1 : b->k->lanes;
	double wide[2][2 * MATRIX_ENTRIES_MAX * KERNEL_LANES_MAX];
	uint32_t of[2] = { INDEX_NONE, INDEX_NONE };     /* the matrices that are in these */
	for (uint32_t k = 0; k < c->nsample_step; k++) {
		const struct cpu_step *s = c->sample_step[k];
		uint32_t m = s->plan->matrix;
		unsigned d = matrix_dim(b->plan->set.def[m]);
		for (unsigned inverse = 0; inverse <= s->plan->undo; inverse++) {
			bool adjoint = s->plan->adjoint != inverse;
			if (of[adjoint] != m)
				lane_matrix(b, m, adjoint, in->u, lanes, wide[adjoint]);
			of[adjoint] = m;
			b->k->round(real_at(b, w->matrix[adjoint], 2 * s->at * lanes), wide[adjoint], 2 * (size_t)d * d, lanes, s->noise[adjoint]);
		}
	}
}

/* A matrix that is the identity in lanes where the controls do not hold; u: the set it is of. */
static void masked_matrix(const struct backend_state *b, const struct cpu_step *s, const cplx *u, bool adjoint, void *to)
{
	uint32_t m = s->plan->matrix;
	unsigned d = matrix_dim(b->plan->set.def[m]), n = 2 * d * d, lanes = b->k->lanes;
	double flat[2 * MATRIX_ENTRIES_MAX], wide[2 * MATRIX_ENTRIES_MAX * KERNEL_LANES_MAX];
	lane_matrix(b, m, adjoint, &u, 1, flat);
	for (unsigned e = 0; e < n; e++)
		for (unsigned l = 0; l < lanes; l++)
			wide[e * lanes + l] = (s->lane_on >> l) & 1 ? flat[e] : e % (2 * d + 2) == 0;
	b->k->round(to, wide, n, lanes, s->noise[adjoint]);
}

/* A step's own image of its matrix or, conjugate and transposed, inverse. */
static void *image(const struct sweep *w, const struct cpu_step *s, bool adjoint)
{
	const struct backend_state *b = w->b;
	if (b->plan->set.def[s->plan->matrix]->cls == VALUE_SAMPLE)
		return real_at(b, w->owner->matrix[adjoint], 2 * s->at * (b->lane_bits ? 1 : b->k->lanes));
	return real_at(b, b->matrix[adjoint], 2 * s->at);
}

const void *cpu_step_matrix(const struct sweep *w, const struct cpu_step *s, bool inverse, matrix_room *room)
{
	const struct backend_state *b = w->b;
	bool adjoint = s->plan->adjoint != inverse;
	if (!s->lane_masked)
		return image(w, s, adjoint);
	bool sample = b->plan->set.def[s->plan->matrix]->cls == VALUE_SAMPLE;
	masked_matrix(b, s, sample ? w->in->u[0] : b->u, adjoint, room);
	return room;
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
	double wide[2 * MATRIX_DIM_MAX * KERNEL_LANES_MAX], rounded[2 * MATRIX_DIM_MAX];
	struct phases p = { .stride = d + 1, .active = sample ? (1u << nrow) - 1 : 0 };
	unsigned first = base_part(s, base);
	if (!s->spread) {
		for (unsigned r = 0; r < nrow && !sample; r++)
			p.active |= (unsigned)(u[r * (d + 1)] != 1) << r;
		p.phase = image(w, s, conjugate);
		return p;
	}
	for (unsigned t = 0; t < d; t++)
		b->k->fetch(rounded + 2 * t, real_at(b, image(w, s, conjugate), 2 * (size_t)t * (d + 1)), 2);
	for (unsigned r = 0; r < nrow; r++)
		for (unsigned l = 0; l < lanes; l++) {
			unsigned t = first | s->row_part[r] | s->lane_part[l];
			bool on = (s->lane_on >> l) & 1;
			wide[2 * r * lanes + l] = on ? rounded[2 * t] : 1;
			wide[(2 * r + 1) * lanes + l] = on ? rounded[2 * t + 1] : 0;
			p.active |= (unsigned)(on && u[t * (d + 1)] != 1) << r;
		}
	b->k->store(room, wide, 2 * (size_t)nrow * lanes);
	p.phase = room;
	p.stride = 1;
	return p;
}
