/* SPDX-License-Identifier: Apache-2.0
 * Running a circuit forward and back: matrices, stages, blocks, cross matrices. */
#include "config.h"
#include <omp.h>
#include <string.h>
#include "runtime/exec/cpu/cpu_state.h"

/* ---- matrices ---- */

/* Entries of m (or its conjugate transpose) as re, im pairs. */
static void flatten(const cplx *u, unsigned d, bool adjoint, double *out)
{
	for (unsigned r = 0; r < d; r++)
		for (unsigned c = 0; c < d; c++) {
			cplx z = adjoint ? conj(u[c * d + r]) : u[r * d + c];
			out[2 * (r * d + c)] = creal(z);
			out[2 * (r * d + c) + 1] = cimag(z);
		}
}

static void *real_at(const struct backend_state *b, void *base, size_t n) { return (char *)base + n * b->k->real_bytes; }

void cpu_matrices(struct backend_state *b, const cplx *u)
{
	const struct matrix_set *set = &b->plan->set;
	double flat[2 * MATRIX_ENTRIES_MAX];
	if (u != b->u)
		memcpy(b->u, u, b->plan->nmatrix_entry * sizeof *u);
	for (uint32_t m = 0; m < set->n; m++) {
		unsigned d = matrix_dim(set->def[m]);
		if (set->def[m]->cls == VALUE_SAMPLE)
			continue;
		for (unsigned adjoint = 0; adjoint < 2; adjoint++) {
			flatten(u + set->offset[m], d, adjoint, flat);
			b->k->store(real_at(b, b->matrix[adjoint], 2 * (size_t)set->offset[m]), flat, 2 * d * d);
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
		unsigned d = matrix_dim(set->def[m]), n = d * d;
		for (unsigned adjoint = 0; adjoint <= c->sample_inverse[k]; adjoint++) {
			for (unsigned e = 0; e < n; e++) {
				unsigned from = adjoint ? e % d * d + e / d : e;
				for (unsigned s = 0; s < lanes; s++) {
					cplx z = in->u[s][set->offset[m] + from];
					wide[2 * e * lanes + s] = creal(z);
					wide[(2 * e + 1) * lanes + s] = adjoint ? -cimag(z) : cimag(z);
				}
			}
			b->k->store(real_at(b, w->matrix[adjoint], 2 * (size_t)set->offset[m] * lanes), wide, 2 * (size_t)n * lanes);
		}
	}
}

/* A matrix that is the identity in lanes where the controls do not hold. */
static const void *masked_matrix(const struct backend_state *b, const struct cpu_step *s,
	const struct unit_input *in, bool adjoint, void *room)
{
	const struct matrix_set *set = &b->plan->set;
	uint32_t m = s->plan->matrix;
	unsigned d = matrix_dim(set->def[m]), n = 2 * d * d, lanes = b->k->lanes;
	const cplx *u = set->def[m]->cls == VALUE_SAMPLE ? in->u[0] : b->u;
	double flat[2 * MATRIX_ENTRIES_MAX], wide[2 * MATRIX_ENTRIES_MAX * KERNEL_LANES_MAX];
	flatten(u + set->offset[m], d, adjoint, flat);
	for (unsigned e = 0; e < n; e++)
		for (unsigned l = 0; l < lanes; l++)
			wide[e * lanes + l] = (s->lane_on >> l) & 1 ? flat[e] : e % (2 * d + 2) == 0;
	b->k->store(room, wide, n * lanes);
	return room;
}

static const void *step_matrix(const struct backend_state *b, const struct cpu_worker *w,
	const struct cpu_step *s, const struct unit_input *in, bool inverse, void *room)
{
	const struct matrix_set *set = &b->plan->set;
	size_t offset = 2 * (size_t)set->offset[s->plan->matrix];
	bool adjoint = s->plan->adjoint != inverse;
	if (s->lane_masked)
		return masked_matrix(b, s, in, adjoint, room);
	if (set->def[s->plan->matrix]->cls == VALUE_SAMPLE)
		return real_at(b, w->matrix[adjoint], offset * (b->lane_bits ? 1 : b->k->lanes));
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

/* Place of the sums of a block with these base targets among a diagonal step's. */
static size_t base_place(const struct backend_state *b, const struct cpu_step *s, size_t base)
{
	size_t place = 0;
	for (unsigned k = 0; k < s->nbase; k++)
		place |= ((base >> s->base[k].outer) & 1) << k;
	return place * (2u << s->kernel.ntarget) * (s->per_lane ? b->k->lanes : 1);
}

struct phases { const void *phase; unsigned stride, active; };

/* Phases of a diagonal step on a block; `room` takes those that are put together here. */
static struct phases step_phases(const struct backend_state *b, const struct cpu_worker *w, const struct cpu_step *s,
	const struct unit_input *in, bool inverse, size_t base, void *room)
{
	const struct matrix_set *set = &b->plan->set;
	uint32_t m = s->plan->matrix;
	bool sample = set->def[m]->cls == VALUE_SAMPLE, conjugate = s->plan->adjoint != inverse;
	unsigned d = matrix_dim(set->def[m]), nrow = 1u << s->kernel.ntarget, lanes = s->kernel.lanewise ? b->k->lanes : 1;
	const cplx *u = (sample ? in->u[0] : b->u) + set->offset[m];
	double wide[2 * MATRIX_DIM_MAX * KERNEL_LANES_MAX];
	struct phases p = { .stride = d + 1, .active = sample ? (1u << nrow) - 1 : 0 };
	unsigned first = base_part(s, base);
	if (!s->spread) {
		for (unsigned r = 0; r < nrow && !sample; r++)
			p.active |= (unsigned)(u[r * (d + 1)] != 1) << r;
		p.phase = real_at(b, sample ? w->matrix[conjugate] : b->matrix[conjugate], 2 * (size_t)set->offset[m] * lanes);
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

/* ---- chunks and blocks ---- */

void cpu_chunks(struct backend_state *b, struct cpu_worker *own, unsigned nchunk, cpu_chunk_fn fn, void *ctx)
{
	if (!b->shared) {
		for (unsigned chunk = 0; chunk < nchunk; chunk++)
			fn(ctx, chunk, own);
		return;
	}
	#pragma omp parallel num_threads((int)b->nthread)
	{
		unsigned saved = kernels_flush_enter();
		struct cpu_worker *w = &b->worker[omp_get_thread_num()];
		#pragma omp for schedule(static)
		for (unsigned chunk = 0; chunk < nchunk; chunk++)
			fn(ctx, chunk, w);
		kernels_flush_leave(saved);
	}
}

/* First row of block number k. */
static size_t block_base(const struct cpu_stage *s, uint64_t k)
{
	size_t base = 0;
	for (unsigned bit = 0; bit < s->nouter; bit++)
		base |= (size_t)((k >> bit) & 1) << s->outer[bit];
	return base;
}

static void fetch(const struct backend_state *b, const struct cpu_stage *s, const void *state, size_t base, void *block)
{
	b->k->gather(block, state, base, s->row, s->nhot, &s->swap);
}

static void put_back(const struct backend_state *b, const struct cpu_stage *s, const void *block, size_t base, void *state)
{
	b->k->scatter(block, state, base, s->row, s->nhot, &s->swap);
}

/* One stage of one sweep over a state. */
struct sweep {
	struct backend_state *b;
	const struct cpu_worker *owner;      /* whose per-sample matrices */
	const struct cpu_stage *stage;
	const struct unit_input *in;
	void *psi, *lambda;
	bool last;                   /* no earlier stage: what is left of psi and lambda is not needed */
};

/* The block that comes next, asked for part by part between the steps of this one. */
struct ahead { bool any; size_t base; uint32_t step; };

static struct ahead look_ahead(const struct cpu_stage *s, uint64_t next, uint64_t end)
{
	return (struct ahead){ .any = next < end, .base = next < end ? block_base(s, next) : 0 };
}

static void ask_ahead(const struct sweep *w, struct ahead *a, uint32_t nstep)
{
	size_t rows = (size_t)1 << w->stage->nhot;
	size_t first = rows * a->step / nstep, last = rows * (a->step + 1) / nstep;
	a->step++;
	if (!a->any)
		return;
	w->b->k->prefetch(w->psi, a->base, w->stage->row, first, last);
	if (w->lambda)
		w->b->k->prefetch(w->lambda, a->base, w->stage->row, first, last);
}

/* ---- forward ---- */

typedef union { double align; char bytes[2 * MATRIX_ENTRIES_MAX * KERNEL_LANES_MAX * sizeof(double)]; }
	matrix_room __attribute__((aligned(64)));

static bool is_on(const struct cpu_step *st, size_t base) { return (base & st->base_mask) == st->base_value; }

static void forward_step(const struct sweep *w, const struct cpu_step *st, void *block, size_t base)
{
	const struct kernels *k = w->b->k;
	unsigned nbit = w->stage->nhot;
	matrix_room room;
	if (!is_on(st, base))
		return;
	if (st->permutes) {
		k->permute(block, nbit, &st->kernel, st->source);
	} else if (st->diagonal) {
		struct phases p = step_phases(w->b, w->owner, st, w->in, false, base, &room);
		k->scale(block, nbit, &st->kernel, p.phase, p.stride, p.active);
	} else {
		k->apply(block, nbit, &st->kernel, step_matrix(w->b, w->owner, st, w->in, false, &room));
	}
}

/* Steps first .. last-1 of SHAPE_SAMPLES' one stage. */
static void forward_whole(const struct sweep *w, uint32_t first, uint32_t last, void *psi)
{
	for (uint32_t k = first; k < last; k++)
		forward_step(w, &w->stage->step[k], psi, 0);
}

/* A dense step that takes diagonal steps along. */
static void forward_op(const struct sweep *w, const struct cpu_op *op, void *block, size_t base, void *table)
{
	const struct kernels *k = w->b->k;
	unsigned nbit = w->stage->nhot;
	matrix_room room;
	k->table_one(table, nbit);
	for (uint32_t n = 0; n < op->ndiagonal; n++) {
		const struct cpu_step *st = op->diagonal[n];
		if (!is_on(st, base))
			continue;
		struct phases p = step_phases(w->b, w->owner, st, w->in, false, base, &room);
		k->table_scale(table, nbit, &st->kernel, p.phase, p.stride, p.active);
	}
	k->apply_table(block, nbit, &op->step->kernel, step_matrix(w->b, w->owner, op->step, w->in, false, &room), table);
}

static void forward_block(const struct sweep *w, void *block, size_t base, struct ahead *ahead, void *table)
{
	const struct cpu_stage *s = w->stage;
	for (uint32_t k = 0; k < s->nop; k++) {
		ask_ahead(w, ahead, s->nop);
		if (s->op[k].ndiagonal)
			forward_op(w, &s->op[k], block, base, table);
		else
			forward_step(w, s->op[k].step, block, base);
	}
}

static void forward_chunk(void *ctx, unsigned chunk, struct cpu_worker *thread)
{
	struct sweep *w = ctx;
	const struct cpu_stage *s = w->stage;
	uint64_t end = cpu_chunk_begin(s->nblock, s->nchunk, chunk + 1);
	for (uint64_t k = cpu_chunk_begin(s->nblock, s->nchunk, chunk); k < end; k++) {
		size_t base = block_base(s, k);
		struct ahead ahead = look_ahead(s, k + 1, end);
		fetch(w->b, s, w->psi, base, thread->block_psi);
		forward_block(w, thread->block_psi, base, &ahead, thread->table);
		put_back(w->b, w->stage, thread->block_psi, base, w->psi);
		thread->blocks++;
	}
}

struct clear { struct backend_state *b; const struct cpu_circuit *c; void *psi; };

static void clear_chunk(void *ctx, unsigned chunk, struct cpu_worker *thread)
{
	struct clear *z = ctx;
	(void)thread;
	z->b->k->zero(z->psi, cpu_chunk_begin(z->c->nrow, z->c->nchunk, chunk),
		cpu_chunk_begin(z->c->nrow, z->c->nchunk, chunk + 1));
}

static void start_state(struct backend_state *b, struct cpu_worker *w, const struct cpu_circuit *c, void *psi)
{
	if (c->start) {
		memcpy(psi, c->start, c->nrow * 2 * b->k->lanes * b->k->real_bytes);
		return;
	}
	if (b->lane_bits) {
		cpu_chunks(b, w, c->nchunk, clear_chunk, &(struct clear){ b, c, psi });
		b->k->put(psi, 0, 0, 1, 0);
		return;
	}
	b->k->zero(psi, 0, c->nrow);
	for (unsigned lane = 0; lane < b->k->lanes; lane++)
		b->k->put(psi, 0, lane, 1, 0);
}

/* Index i of the state with the vector's bits taken out, and those as the vector's index. */
static size_t split_index(const struct plan_step *s, size_t i, size_t *entry)
{
	*entry = 0;
	for (unsigned k = 0; k < s->ntarget; k++) {
		*entry |= ((i >> s->bit[k]) & 1) << k;
		i &= ~((size_t)1 << s->bit[k]);
	}
	return i;
}

/* psi[i] <- vector[entry of i] psi[i without the vector's bits]; downwards, so that the
 * factor is still there. */
static void prepare_lane(const struct backend_state *b, const struct plan_step *s, size_t nindex,
	const cplx *vector, uint32_t length, void *psi, unsigned lane)
{
	size_t mask = ((size_t)1 << b->lane_bits) - 1;
	for (size_t i = nindex; i-- > 0; ) {
		size_t entry, rest = split_index(s, i, &entry);
		double re, im;
		unsigned from = b->lane_bits ? (unsigned)(rest & mask) : lane, to = b->lane_bits ? (unsigned)(i & mask) : lane;
		b->k->get(psi, rest >> b->lane_bits, from, &re, &im);
		cplx z = entry < length ? cplx_mul(vector[entry], cplx_of(re, im)) : 0;
		b->k->put(psi, i >> b->lane_bits, to, creal(z), cimag(z));
	}
}

static void prepare_vectors(const struct backend_state *b, uint32_t c, const struct unit_input *in, void *psi)
{
	const struct plan_circuit *pc = &b->plan->circuit[c];
	for (uint32_t k = 0; k < pc->nstep; k++) {
		const struct plan_step *s = &pc->step[k];
		if (s->op != STEP_PREPARE)
			continue;
		for (uint32_t lane = 0; lane < in->nsample; lane++) {
			uint32_t v = s->matrix * in->nsample + lane;
			prepare_lane(b, s, (size_t)1 << pc->nbit, in->vector[c][v], in->length[c][s->matrix], psi, lane);
		}
	}
}

/* Stages first .. last-1 of a large state. */
static void forward_stages(const struct sweep *like, struct cpu_worker *w, const struct cpu_circuit *c, uint32_t first, uint32_t last)
{
	struct sweep sweep = *like;
	for (uint32_t k = first; k < last; k++) {
		sweep.stage = &c->stage[k];
		cpu_chunks(sweep.b, w, sweep.stage->nchunk, forward_chunk, &sweep);
	}
}

static void forward_sweep(struct backend_state *b, struct cpu_worker *w, uint32_t number,
	const struct unit_input *in, void *psi)
{
	const struct cpu_circuit *c = &b->circuit[number];
	struct sweep sweep = { .b = b, .owner = w, .in = in, .psi = psi, .stage = c->stage };
	cpu_sample_matrices(b, w, c, in);
	start_state(b, w, c, psi);
	prepare_vectors(b, number, in, psi);
	if (b->lane_bits)
		forward_stages(&sweep, w, c, c->plan->nstart_stage, c->nstage);
	else
		forward_whole(&sweep, c->plan->nstart, c->stage->nstep, psi);
}

/* Leading constant steps act on |0...0> alike for every sample: done once. */
void cpu_start(struct backend_state *b, struct cpu_circuit *c, void *room)
{
	struct sweep sweep = { .b = b, .owner = b->worker, .psi = room, .stage = c->stage };
	start_state(b, b->worker, c, room);
	if (b->lane_bits)
		forward_stages(&sweep, b->worker, c, 0, c->plan->nstart_stage);
	else
		forward_whole(&sweep, 0, c->plan->nstart, room);
	c->start = room;
}

static uint32_t slot_of(const struct backend_state *b, uint32_t c) { return b->nslot == 1 ? 0 : c; }

void cpu_forward(struct backend_state *b, unsigned worker, uint32_t c, const struct unit_input *in,
	bool keep, double *readout)
{
	struct cpu_worker *w = &b->worker[worker];
	uint32_t slot = slot_of(b, c);
	(void)keep;
	forward_sweep(b, w, c, in, w->psi[slot]);
	w->resident[slot] = c;
	cpu_readouts(b, w, &b->circuit[c], w->psi[slot], readout);
}

/* ---- backward ---- */

/* Sum of the lanes, in their order, where the controls hold. */
static double lane_sum(const double *r, unsigned lanes, uint32_t on)
{
	double sum = 0;
	for (unsigned l = 0; l < lanes; l++)
		if ((on >> l) & 1)
			sum += r[l];
	return sum;
}

static unsigned step_doubles(const struct cpu_step *st) { return 2u << (2 * st->plan->ntarget); }

/* Diagonal entries from the sums of rows, base targets and lanes. */
static void diagonal_sums(const struct backend_state *b, const struct cpu_step *st, const double *cross, double *r)
{
	unsigned lanes = st->per_lane ? b->k->lanes : 1, nrow = 1u << st->kernel.ntarget, d = 1u << st->plan->ntarget;
	memset(r, 0, step_doubles(st) * sizeof *r);
	for (unsigned k = 0; k < 1u << st->nbase; k++) {
		unsigned part = 0;
		for (unsigned j = 0; j < st->nbase; j++)
			part |= (k >> j) & 1 ? st->base[j].part : 0;
		for (unsigned row = 0; row < nrow; row++)
			for (unsigned l = 0; l < lanes; l++) {
				unsigned t = part | st->row_part[row] | st->lane_part[l];
				const double *sum = cross + st->cross + 2 * (size_t)(k * nrow + row) * lanes + l;
				if (!((st->lane_on >> l) & 1))
					continue;
				r[2 * t * (d + 1)] += sum[0];
				r[2 * t * (d + 1) + 1] += sum[lanes];
			}
	}
}

/* One step's sums in a thread, the lanes added. */
static void step_sums(const struct backend_state *b, const struct cpu_step *st, const double *cross, double *r)
{
	unsigned n = step_doubles(st), lanes = b->k->lanes;
	if (st->diagonal) {
		diagonal_sums(b, st, cross, r);
		return;
	}
	for (unsigned e = 0; e < n; e++)
		r[e] = st->per_lane ? lane_sum(cross + st->cross + (size_t)e * lanes, lanes, st->lane_on)
			: cross[st->cross + e];
}

static void backward_block(const struct sweep *w, void *psi, void *lambda, size_t base, double *cross,
	struct ahead *ahead)
{
	const struct cpu_stage *s = w->stage;
	const struct kernels *k = w->b->k;
	matrix_room room;
	for (uint32_t n = s->nstep; n-- > s->first_cross; ) {
		const struct cpu_step *st = &s->step[n];
		if (ahead)
			ask_ahead(w, ahead, s->nstep - s->first_cross);
		if (!is_on(st, base))
			continue;
		if (st->permutes) {
			k->permute(psi, s->nhot, &st->kernel, st->target);
			k->permute(lambda, s->nhot, &st->kernel, st->target);
			continue;
		}
		if (st->diagonal) {
			struct phases p = step_phases(w->b, w->owner, st, w->in, true, base, &room);
			k->unscale(psi, lambda, s->nhot, &st->kernel, p.phase, p.stride, p.active,
				st->plan->cross ? cross + st->cross + base_place(w->b, st, base) : NULL, st->per_lane);
			continue;
		}
		k->unapply(psi, lambda, s->nhot, &st->kernel, step_matrix(w->b, w->owner, st, w->in, true, &room),
			st->plan->cross ? cross + st->cross : NULL, st->per_lane);
	}
}

static void backward_chunk(void *ctx, unsigned chunk, struct cpu_worker *thread)
{
	struct sweep *w = ctx;
	const struct cpu_stage *s = w->stage;
	struct backend_state *b = w->b;
	uint64_t end = cpu_chunk_begin(s->nblock, s->nchunk, chunk + 1);
	memset(thread->cross, 0, s->ncross * sizeof(double));
	for (uint64_t k = cpu_chunk_begin(s->nblock, s->nchunk, chunk); k < end; k++) {
		size_t base = block_base(s, k);
		struct ahead ahead = look_ahead(s, k + 1, end);
		fetch(b, s, w->psi, base, thread->block_psi);
		fetch(b, s, w->lambda, base, thread->block_lambda);
		backward_block(w, thread->block_psi, thread->block_lambda, base, thread->cross, &ahead);
		if (!w->last) {
			put_back(b, s, thread->block_psi, base, w->psi);
			put_back(b, s, thread->block_lambda, base, w->lambda);
		}
		thread->blocks++;
	}
	double *out = cpu_chunk_sums(b, thread) + s->nsum * chunk;
	for (uint32_t k = s->first_cross; k < s->nstep; k++)
		if (s->step[k].plan->cross)
			step_sums(b, &s->step[k], thread->cross, out + s->step[k].sum);
}

/* Where step st's cross matrix goes; adjoint steps give that of the conjugate transpose:
 * dL = 2 Re sum d(U^+)[r,c] R[r,c] = 2 Re sum dU[c,r] conj(R[r,c]). */
static void add_cross(const struct backend_state *b, const struct cpu_step *st, const double *r, cplx *to)
{
	unsigned d = 1u << st->plan->ntarget;
	to += b->plan->set.offset[st->plan->matrix];
	for (unsigned i = 0; i < d; i++)
		for (unsigned j = 0; j < d; j++) {
			cplx z = cplx_of(r[2 * (i * d + j)], r[2 * (i * d + j) + 1]);
			if (st->plan->adjoint)
				to[j * d + i] += conj(z);
			else
				to[i * d + j] += z;
		}
}

static bool of_sample(const struct backend_state *b, const struct cpu_step *st)
{
	return b->plan->set.def[st->plan->matrix]->cls == VALUE_SAMPLE;
}

static void collect_chunks(const struct backend_state *b, const struct cpu_worker *w,
	const struct cpu_stage *s, cplx *r_shared, cplx *const *r_sample)
{
	const double *part = cpu_chunk_sums(b, w);
	for (uint32_t k = s->first_cross; k < s->nstep; k++) {
		const struct cpu_step *st = &s->step[k];
		unsigned n = step_doubles(st);
		double r[2 * MATRIX_ENTRIES_MAX] = { 0 };
		if (!st->plan->cross)
			continue;
		for (unsigned chunk = 0; chunk < s->nchunk; chunk++)
			for (unsigned e = 0; e < n; e++)
				r[e] += part[s->nsum * chunk + st->sum + e];
		add_cross(b, st, r, of_sample(b, st) ? r_sample[0] : r_shared);
	}
}

/* One step's sums of the sample whose lane `cross` points to. */
static void sample_sums(const struct cpu_step *st, const double *cross, unsigned lanes, double *r)
{
	unsigned n = step_doubles(st), d = 1u << st->plan->ntarget;
	if (!st->diagonal) {
		for (unsigned e = 0; e < n; e++)
			r[e] = cross[(size_t)e * lanes];
		return;
	}
	memset(r, 0, n * sizeof *r);
	for (unsigned t = 0; t < d; t++) {
		r[2 * t * (d + 1)] = cross[2 * (size_t)t * lanes];
		r[2 * t * (d + 1) + 1] = cross[(2 * (size_t)t + 1) * lanes];
	}
}

/* SHAPE_SAMPLES: a lane is a sample. */
static void collect_lanes(const struct backend_state *b, const double *cross, const struct cpu_stage *s,
	uint32_t nsample, cplx *r_shared, cplx *const *r_sample)
{
	unsigned lanes = b->k->lanes;
	for (uint32_t k = s->first_cross; k < s->nstep; k++) {
		const struct cpu_step *st = &s->step[k];
		double r[2 * MATRIX_ENTRIES_MAX];
		if (!st->plan->cross)
			continue;
		if (!of_sample(b, st)) {
			step_sums(b, st, cross, r);
			add_cross(b, st, r, r_shared);
			continue;
		}
		for (uint32_t sample = 0; sample < nsample; sample++) {
			sample_sums(st, cross + st->cross + sample, lanes, r);
			add_cross(b, st, r, r_sample[sample]);
		}
	}
}

void cpu_unsweep(struct backend_state *b, struct cpu_worker *w, const struct cpu_circuit *c, const struct unit_input *in,
	void *psi, cplx *r_shared, cplx *const *r_sample)
{
	uint32_t first = 0;
	while (first < c->nstage && c->stage[first].first_cross == c->stage[first].nstep)
		first++;
	struct sweep sweep = { .b = b, .owner = w, .in = in, .psi = psi, .lambda = w->lambda };
	for (uint32_t k = c->nstage; k-- > first; ) {
		sweep.stage = &c->stage[k];
		sweep.last = k == first;
		if (b->lane_bits) {
			cpu_chunks(b, w, sweep.stage->nchunk, backward_chunk, &sweep);
			collect_chunks(b, w, sweep.stage, r_shared, r_sample);
		} else {
			memset(w->cross, 0, sweep.stage->ncross * sizeof(double));
			backward_block(&sweep, psi, w->lambda, 0, w->cross, NULL);
			collect_lanes(b, w->cross, sweep.stage, in->nsample, r_shared, r_sample);
		}
	}
}

void cpu_backward(struct backend_state *b, unsigned worker, uint32_t number, const struct unit_input *in,
	const double *slope, cplx *r_shared, cplx *const *r_sample)
{
	struct cpu_worker *w = &b->worker[worker];
	const struct cpu_circuit *c = &b->circuit[number];
	uint32_t slot = slot_of(b, number);
	void *psi = w->psi[slot];
	if (w->resident[slot] != number)
		forward_sweep(b, w, number, in, psi);
	w->resident[slot] = INDEX_NONE;
	cpu_lambda(b, w, c, psi, w->lambda, slope);
	cpu_unsweep(b, w, c, in, psi, r_shared, r_sample);
}
