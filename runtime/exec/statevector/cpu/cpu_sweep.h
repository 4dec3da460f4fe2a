/* SPDX-License-Identifier: Apache-2.0
 * What the passes forward and back over a state share: blocks of a stage and the matrices of its steps. */
#pragma once

#include "runtime/exec/statevector/cpu/cpu_state.h"

/* One stage of one sweep over a state. */
struct sweep {
	struct backend_state *b;
	const struct cpu_worker *owner;      /* whose per-sample matrices */
	const struct cpu_circuit *circuit;
	const struct cpu_stage *stage;
	const struct unit_input *in;
	void *psi, *lambda;
	const void *from;            /* forward: what blocks are fetched from, psi or the kept start */
	bool sums;                   /* products of Z are wanted, from the last stage; in the stage: it is that one */
	bool tail;                   /* the stage ends with the tail, which is taken */
	const void *tail_matrix;     /* where lambda is made: it is matrix psi, */
	const double *dreadout; /* or of these gradients with respect to readouts, or if NULL in the backward pass it is there */
	bool fused; /* forward: the backward pass begins in the last stage's blocks; in the stage: it is that one */
	bool last;                   /* no earlier stage: what is left of psi and lambda is not needed */
};

/* Sums of products of Z, lane by lane: of a chunk; of a block, by the signs of its rows; of its parts, in the kernels'
 * precision. */
enum { Z_SUMS = KERNEL_TERMS_MAX * KERNEL_LANES_MAX };
struct z_sums { double total[Z_SUMS], out[Z_SUMS]; char part[Z_SUMS * sizeof(double)] __attribute__((aligned(64))); };

/* ---- cpu_matrix.c: what a step's kernel is given; V instead of U where `inverse` ---- */

/* Room for one matrix, lane by lane. */
typedef union { double align; char bytes[2 * MATRIX_ENTRIES_MAX * KERNEL_LANES_MAX * sizeof(double)]; }
	matrix_room __attribute__((aligned(64)));

/* Matrix of a dense step; `room` takes one that is put together here. */
const void *cpu_step_matrix(const struct sweep *w, const struct cpu_step *s, bool inverse, matrix_room *room);

/* Phases of a diagonal step on the block whose first row is `base`; `room` takes those that are put together. */
struct phases { const void *phase; unsigned stride, active; };
struct phases cpu_step_phases(const struct sweep *w, const struct cpu_step *s, bool inverse, size_t base, matrix_room *room);

/* Do the controls outside a block hold on it? */
static inline bool cpu_is_on(const struct cpu_step *st, size_t base) { return (base & st->base_mask) == st->base_value; }

/* ---- blocks ---- */

/* First row of block number k. */
static inline size_t cpu_block_base(const struct cpu_blocks *s, uint64_t k)
{
	size_t base = 0;
	for (unsigned bit = 0; bit < s->nouter; bit++)
		base |= (size_t)((k >> bit) & 1) << s->outer[bit];
	return base;
}

static inline const struct cpu_blocks *cpu_blocks(const struct sweep *w) { return w->lambda ? &w->stage->back : &w->stage->forward; }

static inline size_t cpu_flip(const struct cpu_transfer *transfer, size_t base)
{
	size_t flip = 0;
	for (unsigned k = 0; k < transfer->nflip; k++)
		flip ^= (base >> transfer->flip[k].outer) & 1 ? transfer->flip[k].mask : 0;
	return flip;
}

static inline struct kernel_rows cpu_rows(const struct cpu_stage *s,
	const struct cpu_transfer *transfer, size_t base)
{
	return (struct kernel_rows){ .nbit = s->nlocal,
		.row = s->row,
		.swap = transfer->swap,
		.place = transfer->place,
		.flip = cpu_flip(transfer, base) };
}

/* Where a block of a state is worked on: a thread's room, or the state itself, which needs no fetching then. */
static inline void *cpu_block(const struct sweep *w, void *state, void *room)
{
	return w->stage->in_place || (w->fused && w->stage->fused_in_place) ? state : room;
}

/* What is fetched for block k, where there is one before `end`: kernels prefetch it.  Of small states everything is near. */
static inline void cpu_look_ahead(const struct sweep *w, struct cpu_worker *thread, uint64_t k, uint64_t end)
{
	const struct cpu_blocks *s = cpu_blocks(w);
	size_t base = k < end ? cpu_block_base(s, k) * 2 * w->b->k->lanes * w->b->k->real_bytes : 0;
	thread->ahead = (struct kernel_ahead){
		.state = { (const char *)(w->lambda ? w->psi : w->from) + base },
		.row = w->stage->row,
		.n = k < end && w->b->shared ? (size_t)1 << w->stage->nlocal : 0,
		.absent = s->absent
	};
	if (w->lambda && !w->tail && !w->dreadout)
		thread->ahead.state[1] = (const char *)w->lambda + base;
}

/* A block as it is before the stage's first step (forward) or after its last one (backward). */
static inline void cpu_fetch(const struct sweep *w, const void *state, size_t base, void *block)
{
	struct kernel_rows r = cpu_rows(w->stage, w->lambda ? &w->stage->out : &w->stage->in, base);
	r.absent = cpu_blocks(w)->absent;
	r.unset = cpu_blocks(w)->unset;
	if (block != state)
		w->b->k->gather(block, state, base, &r);
}

/* On the backward pass only rows that are read again are put back, and a large lambda that is made here goes by non-temporal stores.  A stage
 * that undoes nothing leaves psi where it is, and puts a lambda that it has made beside it. */
static inline void cpu_put_back(const struct sweep *w, const void *block, size_t base, void *state)
{
	const struct cpu_stage *s = w->stage;
	bool undone = w->lambda && s->undoes, made = state == w->lambda && (w->tail || w->dreadout);
	struct kernel_rows r = cpu_rows(s, undone ? &s->in : &s->out, base);
	r.absent = cpu_blocks(w)->nontemporal;
	r.unset = undone ? s->unread : 0;
	if (made && s->nontemporal)
		r.absent = r.above = (size_t)1 << s->nlocal; /* all rows */
	if (block != state)
		w->b->k->scatter(block, state, base, &r);
}

/* ---- cpu_backward.c ---- */

/* A block's backward pass through the stage, psi and lambda as its steps left them; sums are added to the thread's. */
void cpu_backward_block(const struct sweep *w, struct cpu_worker *thread, void *psi, void *lambda,
	size_t base);
/* The sums of a thread's chunk to the worker's sums from `place` on. */
void cpu_backward_sums(const struct sweep *w, const struct cpu_worker *thread, unsigned chunk, size_t place);

/* ---- cpu_tail.c ---- */

void cpu_tail_compile(struct backend_state *b, struct cpu_circuit *c);
/* With the matrices that b->u holds now. */
void cpu_tail_matrices(struct backend_state *b, struct cpu_circuit *c);
bool cpu_tail_taken(const struct cpu_circuit *c, const struct unit_input *in);
/* P of the circuit (a whole state, or chunk by chunk and their total): begin, add blocks before the tail. */
void cpu_tail_begin(const struct sweep *w, struct cpu_worker *thread);
void cpu_tail_add(const struct sweep *w, struct cpu_worker *thread, const void *block);
void cpu_tail_chunk(const struct sweep *w, const struct cpu_worker *thread, unsigned chunk);
void cpu_tail_total(const struct sweep *w, struct cpu_worker *owner);
/* readout[(width, nreadout)] from P. */
void cpu_tail_readouts(struct backend_state *b, const struct cpu_worker *w, const struct cpu_circuit *c, double *readout);
/* The matrix of lambda, lane by lane in SHAPE_BATCHED. */
void cpu_tail_matrix(const struct backend_state *b, const struct cpu_circuit *c,
	const double *dreadout, void *matrix);
/* The tail's own reduced transition matrix added to anti_hermitian_shared. */
void cpu_tail_sums(const struct backend_state *b, const struct cpu_worker *w,
	const struct cpu_circuit *c, const double *dreadout, double *anti_hermitian_shared);
void cpu_tail_lambda(const struct sweep *w, const void *psi, void *lambda);

/* ---- cpu_part.c ---- */

/* After the stage's ops. */
void cpu_part_compile(struct backend_state *b, struct cpu_stage *s);
/* Row of the block as number of the part << nbit | row of it; also of a mask of row bits. */
size_t cpu_part_row(const struct cpu_stage *s, size_t row);
void cpu_part_fetch(const struct sweep *w, const void *block, uint32_t k, void *part);
/* Where parts of the block that begins at `base` go. */
struct part_transfer {
	size_t inside, outside, base;
};
struct part_transfer cpu_part_transfer(const struct sweep *w, size_t base);
/* Part k to psi, and where z is given its sums to those. */
void cpu_part_put_back(const struct sweep *w, void *part, const struct part_transfer *transfer,
	uint32_t k, struct z_sums *z);

/* ---- cpu_z.c ---- */

/* Sets c->near where the last stage can sum all that is read.  After compile_outputs. */
void cpu_z_compile(struct backend_state *b, struct cpu_circuit *c);
/* The sums of a chunk: those of its blocks are added, each of which is cleared, added itself or part by part before it is
 * put back, and done; in the end they are left for cpu_readouts. */
void cpu_z_begin(const struct sweep *w, struct z_sums *z);
void cpu_z_clear(const struct sweep *w, struct z_sums *z);
void cpu_z_block(const struct sweep *w, const void *block, struct z_sums *z);
void cpu_z_add(const struct sweep *w, struct z_sums *z, size_t base);
void cpu_z_end(const struct sweep *w, const struct z_sums *z, unsigned chunk);
/* lambda = sum of dreadout * Z products psi, on a block as cpu_z_block finds it. */
void cpu_z_lambda(const struct sweep *w, const void *psi, size_t base, void *lambda);

/* ---- passes ---- */

/* Where a worker keeps the state of circuit c. */
static inline uint32_t cpu_slot(const struct backend_state *b, uint32_t c) { return b->nslot == 1 ? 0 : c; }

/* Where backward follows: does the backward pass begin in the forward pass? */
static inline bool cpu_fuses_last(const struct cpu_circuit *c, const struct unit_input *in)
{
	return c->fuses_last && !in->whole;
}

/* psi becomes the final state of the circuit, or with `fused` that before the last stage.  sums: and where the circuit has
 * c->near, its last stage sums the products of Z. */
void cpu_forward_sweep(struct backend_state *b, struct cpu_worker *w, uint32_t number,
	const struct unit_input *in, void *psi, bool sums, bool fused);
