/* SPDX-License-Identifier: Apache-2.0
 * What the passes forward and back over a state share: blocks of a stage and the matrices of its steps. */
#pragma once

#include "runtime/exec/statevector/cpu/cpu_state.h"

struct sweep;

/* What is done with each block of a stage of the forward pass behind its ops: it is read (cpu_z.c, cpu_tail.c), and it goes to
 * the state, at once (cpu_sweep.c) or part by part (cpu_part.c), or back through the stage (cpu_backward.c). All but `block`
 * may be NULL. */
struct block_step {
	void (*begin)(const struct sweep *w, struct cpu_worker *thread); /* a chunk */
	void (*block)(const struct sweep *w, struct cpu_worker *thread, void *block, size_t base);
	void (*end)(const struct sweep *w, struct cpu_worker *thread, unsigned chunk);
	void (*total)(const struct sweep *w, struct cpu_worker *owner); /* when all chunks are done */
};
enum { BLOCK_STEPS_MAX = 2 };

/* Makes lambda from psi on the block whose first row is `base`. */
typedef void make_lambda_fn(const struct sweep *w, const void *psi, size_t base, void *lambda);

/* One stage of one sweep over a state. */
struct sweep {
	struct backend_state *b;
	const struct cpu_worker *owner;      /* whose per-sample matrices */
	const struct cpu_circuit *circuit;
	const struct cpu_stage *stage;
	const struct unit_input *in;
	void *psi, *lambda;
	const void *from;            /* forward: what blocks are fetched from, psi or the kept start */
	uint32_t nop,
		nstep; /* ops forward, but for those of parts, and steps back: without a tail that is read instead */
	const struct block_step *behind[BLOCK_STEPS_MAX]; /* forward: behind those ops, up to the first NULL */
	bool in_place;                                    /* blocks are worked on where they lie */
	make_lambda_fn *make_lambda; /* back: in this stage; NULL: lambda is there */
	const void *lambda_of; /* what it is made of: the tail's matrix, or gradients with respect to readouts (double) */
	bool puts_psi, puts_lambda; /* back: an earlier stage reads what is left of them */
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
	return bits_spread(k, s->outer, s->nouter);
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
	return w->in_place ? state : room;
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
	if (w->lambda && !w->make_lambda)
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
	bool undone = w->lambda && s->undoes, made = state == w->lambda && w->make_lambda;
	struct kernel_rows r = cpu_rows(s, undone ? &s->in : &s->out, base);
	r.absent = cpu_blocks(w)->nontemporal;
	r.unset = undone ? s->unread : 0;
	if (made && s->nontemporal)
		r.absent = r.above = (size_t)1 << s->nlocal; /* all rows */
	if (block != state)
		w->b->k->scatter(block, state, base, &r);
}

/* ---- cpu_sweep.c ---- */

/* These ops on 2^nbit rows of the block that begins at `base`. */
void cpu_forward_ops(const struct sweep *w, const struct cpu_op *op, uint32_t nop, void *rows,
	unsigned nbit, size_t base, struct cpu_worker *thread);

/* ---- cpu_backward.c ---- */

/* The block goes back through the stage, with lambda as make_lambda makes it. */
extern const struct block_step cpu_fused;

/* ---- cpu_tail.c ---- */

void cpu_tail_compile(struct backend_state *b, struct cpu_circuit *c);
/* With the matrices that b->u holds now. */
void cpu_tail_matrices(struct backend_state *b, struct cpu_circuit *c);
bool cpu_tail_taken(const struct cpu_circuit *c, const struct unit_input *in);
/* P of the circuit, from blocks before the tail. */
extern const struct block_step cpu_tail_read;
/* readout[(width, nreadout)] from P. */
void cpu_tail_readouts(struct backend_state *b, const struct cpu_worker *w, const struct cpu_circuit *c, double *readout);
/* The matrix of lambda, lane by lane in SHAPE_BATCHED. */
void cpu_tail_matrix(const struct backend_state *b, const struct cpu_circuit *c,
	const double *dreadout, void *matrix);
/* The tail's own reduced transition matrix added to anti_hermitian_shared. */
void cpu_tail_sums(const struct backend_state *b, const struct cpu_worker *w,
	const struct cpu_circuit *c, const double *dreadout, double *anti_hermitian_shared);
make_lambda_fn cpu_tail_lambda;

/* ---- cpu_part.c ---- */

/* After the stage's ops. */
void cpu_part_compile(struct backend_state *b, struct cpu_stage *s);
/* Row of the block as number of the part << nbit | row of it; also of a mask of row bits. */
size_t cpu_part_row(const struct cpu_stage *s, size_t row);
/* The stage's last ops, and the block to psi, part by part: the second with the sums of cpu_z.c. */
extern const struct block_step cpu_part_put, cpu_part_read;

/* ---- cpu_z.c ---- */

/* Sets c->near where the last stage can sum all that is read.  After compile_outputs. */
void cpu_z_compile(struct backend_state *b, struct cpu_circuit *c);
/* The sums of a chunk, which are left for cpu_readouts. */
extern const struct block_step cpu_z_read;
/* Those of a block that is read part by part: begin the chunk, add z->out[(npart_row)] of the block, end the chunk. */
void cpu_z_begin(const struct sweep *w, struct cpu_worker *thread);
void cpu_z_add_parts(const struct sweep *w, struct z_sums *z, size_t base);
void cpu_z_end(const struct sweep *w, struct cpu_worker *thread, unsigned chunk);
/* lambda = sum of dreadout * Z products psi, on a block as cpu_z_read finds it. */
make_lambda_fn cpu_z_lambda;

/* ---- passes ---- */

/* Where backward follows: does the backward pass begin in the forward pass? */
static inline bool cpu_fuses_last(const struct cpu_circuit *c, const struct unit_input *in)
{
	return c->fuses_last && !in->whole;
}

/* psi becomes the final state of the circuit, or with `fuses` that before the last stage.  sums: and where the circuit
 * has c->near, its last stage sums the products of Z. */
void cpu_forward_sweep(struct backend_state *b, struct cpu_worker *w, uint32_t number,
	const struct unit_input *in, void *psi, bool sums, bool fuses);
