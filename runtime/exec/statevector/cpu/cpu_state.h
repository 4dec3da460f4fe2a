/* SPDX-License-Identifier: Apache-2.0
 * What the files of the cpu backend share: compiled circuits, workers, the state.
 *
 * SHAPE_BATCHED runs a circuit as one stage on whole states in place.  The other
 * shapes run stage by stage: gather a block of rows, exchange lanes, apply, put back.
 * Sums over a large state are cut into CHUNKS parts, a number that never changes. */
#pragma once

#include "runtime/base/memory_use.h"
#include "runtime/base/profile/recorder.h"
#include "runtime/base/system/clock.h"
#include "runtime/exec/statevector/backend.h"
#include "runtime/exec/statevector/cpu/cpu_fork.h"
#include "runtime/exec/statevector/cpu/cpu_target.h"
#include "runtime/exec/statevector/cpu/kernels.h"
#include "runtime/exec/statevector/tail_observables.h"

enum { CPU_PART_BITS = 7 /* rows of a part of a block: 2^ */, CPU_CHUNKS = 64 /* most parts of a sum */, CPU_CHUNK_ROWS = 256 /* rows a part has at least */ };

static inline const struct kernels *kernels_of(const struct plan *pl)
{
	return kernels_find(cpu_target_isa(pl->target), pl->precision);
}

struct cpu_step {
	struct kernel_step kernel;
	struct kernel_step back;     /* the same for the backward pass, where fewer rows may be known to be 0 */
	const struct plan_step *plan;
	uint32_t lane_on;            /* lanes that the lane controls allow */
	bool lane_masked;            /* some lane is off */
	size_t base_mask, base_value;    /* controls outside the block, on its first row */
	bool per_lane;                   /* its reduced transition matrix is summed lane by lane */
	size_t transition; /* place of its sums (anti_hermitian.h) in a thread's: [d*d], or [d*d][lanes]; diagonal [d] */
	size_t sum;                  /* place among the stage's sums: [d*d] */
	size_t at;                   /* entries before its matrix and inverse in b->matrix, or of class SAMPLE in a worker's */
	uint32_t *noise[2];          /* (2*d*d) of their entries, or NULL: see kernels.h, round */
	bool permutes;               /* constant and without phases: rows change places */
	bool in_transfer; /* and they do so where the block is fetched or put back, or in a later step's matrix */
	uint8_t source[8], target[8];        /* target index r takes source[r]; target is the inverse */
	/* A diagonal matrix may have targets outside the block's rows. */
	bool diagonal;
	bool spread;                 /* it has: the phases differ from block to block or lane to lane */
	uint8_t nbase, row_part[8], lane_part[KERNEL_LANES_MAX];     /* the matrix's index of the rows' and of a lane's targets */
	struct { uint8_t outer, part; } base[MATRIX_TARGETS_MAX];    /* and of those on the block's first row */
};

/* A transfer between state and block: local bits that lie in the lanes change places with bits of the rows; then
 * row k of the state's part is row place[k ^ flip] of the block, where flip is the sum of the masks of outer bits that
 * are 1. */
struct cpu_transfer {
	struct kernel_swap swap;
	uint32_t *place;
	unsigned nflip; struct { uint8_t outer; uint32_t mask; } flip[64];
};

/* What forward does: a step, after diagonal steps that its visit of the rows takes along, or some matrices on one
 * qubit each in one visit. */
struct cpu_op {
	const struct cpu_step *step;
	uint32_t ndiagonal; const struct cpu_step **diagonal;
	unsigned none; const struct cpu_step *one[KERNEL_ONES_MAX];
	bool on_zero; /* one dense step, on targets that are |0> still */
};

/* Chunks of a sum: those of this process where states are split over several. */
struct cpu_span {
	unsigned first, end, each /* of a process that has some */;
};

/* The blocks of a stage that are not known to be 0. */
struct cpu_blocks {
	unsigned nouter; uint8_t outer[64];      /* row bits that number them */
	uint64_t nblock;
	unsigned nchunk;             /* parts that they are cut into */
	struct cpu_span span;        /* those of this process */
	size_t absent;               /* bits of a block's row number: where one is 1, psi is 0 when the block is fetched */
	size_t nontemporal; /* and where one of these is 1, the row is written by non-temporal stores */
	size_t unset;       /* and of these, it is first written by an op on |0> */
};

/* Rows of a block that the last ops are done on and that are put back together (cpu_part.c). */
struct cpu_part {
	unsigned nbit;               /* a part has 2^nbit rows; 0: there are none */
	size_t mask, state_mask;     /* row bits of the block that number them, and of the state, */
	uint8_t bit[KERNEL_FINISH_BITS], state_bit[KERNEL_FINISH_BITS];      /* in their order there */
	uint32_t nop;
	struct cpu_op *op;           /* the last of the stage's */
	uint32_t *near, *row;        /* (2^nbit) rows of the block from a part's first, and of the state */
	uint32_t *place;             /* (2^nbit) permutation of the transfer to the state */
	uint32_t *first;             /* first rows of all parts in the block */
	uint32_t *inside, *outside;  /* which row of the state's they go to: its bits that number a part's rows, and the others */
	struct kernel_swap swap;
	size_t unset,
		nontemporal; /* as of cpu_blocks; nontemporal has bit nbit for parts all of whose rows are */
};

struct cpu_stage {
	uint32_t nstep; struct cpu_step *step;
	uint32_t nop;
	struct cpu_op *op; /* the same steps for the forward pass; SHAPE_BATCHED: behind the constant start */
	unsigned nlocal;                         /* a block has 2^nlocal rows */
	uint8_t row_bit[64]; /* (nlocal) bits of a block's rows among the state's, ascending */
	uint32_t *row;       /* (2^nlocal) rows of a block, from its first */
	uint32_t *moves; /* (nlocal) as a mask: the bit of those that bit j goes to when the block is put back */
	struct cpu_transfer in, out; /* before the first step, after the last */
	struct cpu_part part;
	struct cpu_blocks forward, back;
	size_t ntransition,
		nsum; /* doubles of its reduced transition matrices in a thread, among the sums */
	size_t sums; /* place of its sums of all chunks among those of all stages, where a plan is for several ranks; else 0 */
	uint32_t first_transition;   /* steps before it need no backward visit */
	bool undoes;                 /* the backward pass changes psi and lambda */
	size_t unread;               /* bits of a block's row number: where one is 1, no stage before reads the row in the backward pass */
	bool nontemporal; /* the backward pass writes a lambda that is made here by non-temporal stores */
	bool in_place,
		fused_in_place; /* its one block is the state as it lies there; is where its passes are fused */
};

struct cpu_term {
	struct kernel_term kernel;
	double coefficient;
	uint32_t readout, segment;
	uint32_t order; /* among those of the outputs */
};
/* Terms of one segment that flip the same bits: at most KERNEL_TERMS_MAX. */
struct cpu_terms {
	uint32_t first, count;
	struct kernel_partner partner;
};
static inline bool cpu_is_identity(const struct cpu_term *t)
{
	const struct kernel_term *k = &t->kernel;
	return !(k->flip_row | k->sign_row | k->flip_lane | k->sign_lane);
}
/* The sign of a product of Z in a block of the last stage, before it is put back: of its lanes and
 * first row, and of its rows: near_row, or by parts part_row[part]. */
struct cpu_sign { size_t base; unsigned lane; bool minus; uint32_t part; };
struct cpu_probs { struct kernel_bins bins; uint32_t readout, nbit; uint32_t row_bin[64]; uint32_t lane_bin[KERNEL_LANES_MAX]; };

/* A readout is (nreadout) matrices d x d: O_j, O_j U and U^+ O_j U. */
struct cpu_tail {
	const struct cpu_step *step;
	struct tail_observables observables;
};
enum { CPU_TAIL_DOUBLES = 2 * MATRIX_ENTRIES_MAX * KERNEL_LANES_MAX };

struct cpu_circuit {
	const struct plan_circuit *plan;
	unsigned nbit;               /* as stored */
	size_t nrow;
	uint32_t nstage; struct cpu_stage *stage;
	bool fuses_last; /* the backward pass begins in the forward pass (plan_fuses_last) */
	uint32_t nterm;
	struct cpu_term *term; /* products of Z first, then by what they flip */
	uint32_t nz;
	size_t *sign_row; /* (nterm) of those */
	uint32_t ngroup;
	struct cpu_terms *group;                 /* of the terms in their order */
	struct cpu_sign *near; size_t *near_row; /* (nz) or NULL: summed block by block in the last stage (cpu_z.c) */
	uint32_t npart_row; size_t *part_row;    /* signs of rows that occur where that is done by parts */
	uint32_t nprobs; struct cpu_probs *probs;
	unsigned nchunk;             /* parts that its rows are cut into */
	struct cpu_span span;        /* those of this process */
	size_t start_idle,
		idle; /* row bits that no step of the kept start, or none at all, makes nonzero */
	uint32_t nsample_step; const struct cpu_step **sample_step;  /* with a matrix of class VALUE_SAMPLE, in the order of these */
	struct cpu_tail *tail;       /* or NULL */
	void *start;                 /* the state after the plan's constant start, or NULL */
	struct plan_seconds *seconds; /* (nstage + 1) of the latest passes; the last: readouts and lambda */
};

struct cpu_worker {
	void **psi;                  /* (nslot) */
	uint32_t *resident;          /* (nslot) circuit whose state forward left there, or INDEX_NONE */
	void *lambda;
	void *block_psi, *block_lambda, *part;
	struct kernel_ahead ahead;   /* the next block of a shared state */
	void *table;                 /* factors of a block's rows */
	void *matrix[2];             /* per-sample matrices of all steps and their inverses, kernels' precision */
	double *transition;          /* sums of one stage or step, lane by lane */
	double *bins;
	double *tail;                /* (ncircuit + 1, CPU_TAIL_DOUBLES) where a circuit has one */
	struct z_sums *z;            /* of the chunk in work (cpu_z.c) */
	uint64_t blocks;             /* of a shared state, done by this thread */
	/* While a profile with layers is taken: nanoseconds of the circuit's items, forward and back (cpu_record.h), or NULL;
	 * each step by itself, not by layers; and when the last record was. */
	_Atomic uint64_t *item[2];
	bool each_step;
	int64_t last;
};

struct cpu_memory {
	void *at;
	uint64_t nstate; /* bytes of states; the rest are work buffers */
};

/* Exchanges beside stages, and the chunks and pieces that these wait for: one exchange after the other. */
struct cpu_exchanging {
	pthread_mutex_t lock;
	pthread_cond_t more;
	uint64_t begun, ended;
};

struct backend_state {
	const struct plan *plan;
	struct split_rank *split; /* or NULL */
	unsigned rank, rank_bits; /* the process has the rows whose highest rank_bits bits are `rank` */
	const struct kernels *k;
	unsigned nthread, lane_bits; /* lane bits of an amplitude's index: 0 in SHAPE_BATCHED */
	bool gradient, shared;
	uint32_t nslot;              /* states a worker keeps: one per circuit, or one */
	struct cpu_circuit *circuit;
	struct cpu_worker *worker;
	cplx *u; /* constant and shared matrices; while compiling, the constant ones */
	uint32_t *used, nused;       /* the shared ones that steps use */
	void *matrix[2];             /* of all steps: the same and their inverses, kernels' precision */
	size_t nentry[2];            /* while compiling: entries that steps have in these, and in a worker's, */
	uint32_t nstep;              /* and steps */
	double *chunk;               /* partial sums of CPU_CHUNKS chunks, for every worker that holds states: those of one pass, then */
	size_t chunk_fused; /* from this number on, those that the forward pass makes for the backward pass (fused last stage) */
	size_t chunk_stride;         /* doubles of one worker */
	struct cpu_fork fork;        /* of units */
	struct cpu_exchanging exchanging;
	enum profile_kind doing; /* what all threads of a shared state do, as recorder_help has it */
	uint32_t doing_id;
	struct cpu_state_cache *state_cache;     /* NULL until it is first needed */
	struct cpu_memory *memory;
	unsigned nmemory; /* all that free gives back */
	struct arena arena;
};

static inline void cpu_doing(struct backend_state *b, enum profile_kind kind, uint32_t id)
{
	b->doing = kind;
	b->doing_id = id;
}

/* Seconds of a pass over a shared state, of which one runs at a time. */
static inline double cpu_began(const struct backend_state *b) { return b->shared ? clock_seconds() : 0; }
static inline void cpu_took(const struct backend_state *b, double began, double *seconds)
{
	if (b->shared)
		*seconds = clock_seconds() - began;
}

/* cpu_layout.c: where the bits of an amplitude's index are while a stage runs. */
struct cpu_layout {
	int8_t row_bit[64];   /* of the block, or -1 */
	int8_t lane_bit[64];  /* or -1 */
	int8_t outer_bit[64]; /* of the state's rows, or -1 */
};
/* Set l, and of s what its blocks are: nlocal, row_bit, row, moves, the lanes exchanged in its transfers, and of both transfers' blocks
 * `outer` and `absent`.  after: places of bits behind the stage. */
void cpu_lay_out(const struct backend_state *b, const struct cpu_circuit *c,
	const struct plan_stage *ps, const uint8_t *after, struct cpu_stage *s, struct cpu_layout *l);
/* SHAPE_BATCHED: every bit is a row bit of the one block. */
void cpu_lay_out_whole(const struct cpu_circuit *c, struct cpu_stage *s, struct cpu_layout *l);

/* cpu_compile.c: plan -> compiled circuits, in b->arena. */
void cpu_compile(struct backend_state *b);
/* A product on places of a state's bits. */
struct kernel_term cpu_kernel_term(const struct backend_state *b, struct pauli_mask m);

/* cpu_ops.c: what the forward pass does, from step `first` of a stage on; and flips: cx that steps behind them do. */
void cpu_flips(struct backend_state *b, struct cpu_stage *s, uint32_t first);
void cpu_ops(struct backend_state *b, struct cpu_stage *s, uint32_t first);
/* Mark ops as on |0>, and rows that they write first; nonzero: bits that steps before the stage have made nonzero; idle: bits
 * of the block's rows that they have not. */
void cpu_mark_on_zero(struct backend_state *b, struct cpu_stage *s, uint64_t fused, size_t idle);

/* cpu_transfer.c: take permutations at the stage's end, and where `settled` (none of its rows is known to be 0) at
 * its beginning, out of its steps and into its transfers. */
void cpu_transfers(struct backend_state *b, struct cpu_stage *s, bool settled);

/* cpu_readout.c: expectations and probabilities of psi, and lambda = sum dreadout O psi.  nsum: parts of the sums that the
 * last stage has left (cpu_z.c), or 0. */
void cpu_readouts(struct backend_state *b, struct cpu_worker *w, const struct cpu_circuit *c,
	const void *psi, unsigned nsum, double *readout);
void cpu_lambda(struct backend_state *b, struct cpu_worker *w, const struct cpu_circuit *c,
	const void *psi, void *lambda, const double *dreadout);

/* psi <- psi / |psi|, in SHAPE_BATCHED lane by lane. */
void cpu_normalise(struct backend_state *b, struct cpu_worker *w, const struct cpu_circuit *c, void *psi);

/* cpu_matrix.c, cpu_sweep.c, cpu_backward.c: the functions of the backend's table that run circuits. */
void cpu_matrices(struct backend_state *b, const cplx *u);
/* The constant ones, from b->u. */
void cpu_constants(struct backend_state *b);
/* How the entries of the matrix of step number `index`, d x d, are rounded. */
void cpu_noise(struct backend_state *b, uint32_t index, unsigned d, struct cpu_step *s);
/* Compute c->start in `room` (a state) once the constant matrices are in b->matrix. */
void cpu_start(struct backend_state *b, struct cpu_circuit *c, void *room);
void cpu_forward(struct backend_state *b, unsigned worker, uint32_t c, const struct unit_input *in,
	bool keep, double *readout);
void cpu_backward(struct backend_state *b, unsigned worker, uint32_t c, const struct unit_input *in,
	const double *dreadout, double *anti_hermitian_shared, double *const *anti_hermitian_sample);

/* The parts of these that batch rank uses: the unit's own matrices in the kernels' precision, and
 * the backward pass from psi and what lambda is made of. */
void cpu_sample_matrices(const struct backend_state *b, struct cpu_worker *w, const struct cpu_circuit *c,
	const struct unit_input *in);
struct sweep;
struct cpu_begin {
	/* As in struct sweep, for the last stage; NULL: lambda is in w->lambda, */
	void (*make_lambda)(const struct sweep *w, const void *psi, size_t base, void *lambda);
	const void *lambda_of;
	uint32_t nabsorbed;  /* steps at its end that lambda_of takes along */
	const double *fused; /* or unless this is NULL forward has undone the last stage, with a gradient of 1 instead of this one */
};
void cpu_backward_sweep(struct backend_state *b, struct cpu_worker *w, const struct cpu_circuit *c,
	const struct unit_input *in, void *psi, const struct cpu_begin *begin,
	double *anti_hermitian_shared, double *const *anti_hermitian_sample);

/* cpu_state_cache.c: states kept side by side. */
extern const struct state_cache_ops cpu_state_cache_ops;
void cpu_state_cache_free(struct cpu_state_cache *k);

/* Memory on a page's boundary, from 2 MiB on in huge pages; NULL when there is none; cpu_release gives it back. */
void *cpu_aligned(enum memory_use use, uint64_t nbytes);
void cpu_release(enum memory_use use, void *p);

/* Of a state of circuit c, or the part of it that one of nrank processes has; in SHAPE_BATCHED, of one in each lane. */
uint64_t cpu_state_bytes(const struct plan *pl, uint32_t c, unsigned nrank);

/* Where a worker keeps the state of circuit c. */
static inline uint32_t cpu_slot(const struct backend_state *b, uint32_t c)
{
	return b->nslot == 1 ? 0 : c;
}

/* Call fn(ctx, chunk, thread) for every one of these chunks: in order in this thread, or by
 * all threads where a state is shared. */
typedef void (*cpu_chunk_fn)(void *ctx, unsigned chunk, struct cpu_worker *w);
void cpu_chunks(struct backend_state *b, struct cpu_worker *own, struct cpu_span span,
	cpu_chunk_fn fn, void *ctx);
/* sum[chunks][n], of which this process has made `span`: all chunks' sums from all processes. */
static inline void cpu_gather(struct backend_state *b, double *sum, size_t n, struct cpu_span span)
{
	if (b->rank_bits)
		split_gather(b->split, sum, n, span.first, span.end, span.each);
}
static inline double *cpu_chunk_sums(const struct backend_state *b, const struct cpu_worker *w)
{
	return b->chunk + (b->shared ? 0 : b->chunk_stride * (size_t)(w - b->worker));
}
static inline size_t cpu_row_bytes(const struct backend_state *b)
{
	return 2 * (size_t)b->k->lanes * b->k->real_bytes;
}
/* First row of the process' part of a state of circuit c. */
static inline size_t cpu_first_row(const struct backend_state *b, const struct cpu_circuit *c)
{
	return (c->nrow >> b->rank_bits) * b->rank;
}
/* The part's memory as the state it is a part of: row number 0 would be there. Only the part's rows may be touched. */
static inline void *cpu_whole(const struct backend_state *b, const struct cpu_circuit *c, void *part)
{
	return (void *)((uintptr_t)part - cpu_first_row(b, c) * cpu_row_bytes(b));
}
/* Exchanges before segments from .. to, forward, or those after, back: of the state psi (as cpu_whole gives it), and of lambda
 * unless it is NULL. */
struct cpu_exchange {
	const struct cpu_circuit *circuit;
	void *psi, *lambda;
	uint32_t from, to;
	bool back;
	uint32_t stage; /* it follows in that direction */
};
void cpu_exchange(struct backend_state *b, const struct cpu_exchange *x);
/* Those between this stage and the next one in that direction, of which there may be none. */
struct cpu_exchange cpu_exchange_behind(const struct cpu_circuit *c, uint32_t stage, bool back,
	void *psi, void *lambda);
/* The same beside the stages before and behind, where that pays: a thread exchanges what chunks of the stage before have written, and chunks
 * behind are computed when their rows have arrived. begin: before x->stage is computed, or where that is `done`; NULL: to be
 * exchanged between the stages. chunks: fn is called for the chunks of a stage that are this process', beside the exchanges
 * before and behind it (or NULL); that before is ended then. end: all rows have arrived; the exchange is freed. */
struct cpu_overlap *cpu_overlap_begin(struct backend_state *b, const struct cpu_exchange *x,
	bool done);
void cpu_overlap_chunks(struct backend_state *b, struct cpu_worker *own,
	const struct cpu_blocks *blocks, struct cpu_overlap *before, struct cpu_overlap *behind,
	cpu_chunk_fn fn, void *ctx);
void cpu_overlap_end(struct cpu_overlap *o);

/* Where part `chunk` of nchunk begins among n things. */
static inline uint64_t cpu_chunk_begin(uint64_t n, unsigned nchunk, unsigned chunk)
{
	return n / nchunk * chunk + n % nchunk * chunk / nchunk;
}
