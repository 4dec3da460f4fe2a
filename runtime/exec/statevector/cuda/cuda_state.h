/* SPDX-License-Identifier: Apache-2.0
 * What the files of the cuda backend share: the launches of circuits, and memory on the device. */
#pragma once

#include "runtime/base/arena.h"
#include "runtime/base/profile/recorder.h"
#include "runtime/exec/statevector/backend.h"
#include "runtime/exec/statevector/cuda/cuda_launch.h"
#include "runtime/exec/statevector/cuda/cuda_layout.h"
#include "runtime/exec/statevector/tail_observables.h"

struct cuda_pauli {
	struct cuda_term term;
	uint32_t readout;
	uint32_t segment; /* of a split state, in which it is read */
	double coefficient;
};

struct cuda_probs {
	uint32_t readout, nbin; /* 2^nbin bins */
	uint8_t bit[CUDA_BITS_MAX];
	size_t sum; /* the first of its sums */
};

/* heisenberg_tail: of a circuit that has one, and of the samples that went forward last. */
struct cuda_tail {
	struct tail_observables observables;
	struct cuda_launch *sum;     /* of P */
	struct cuda_launch *last[2]; /* of the last stage: forward, back */
	cplx *p, *lambda;            /* (samples, d, d): P; the matrices that make lambda of psi */
};

struct cuda_circuit {
	const struct plan_circuit *plan;
	unsigned nbit; /* of the index of one sample's state, of a split state's part for one rank as planned */
	bool starts; /* the first launch makes |0...0> */
	/* Of each stage, forward; and backward, from the last to the first. */
	struct cuda_launch **forward, **back; /* (plan->nstage) */
	struct cuda_tail *tail;               /* or NULL */
	uint32_t *noise; /* (plan->nstep) number of the step among those of all circuits */
	uint32_t npauli;
	struct cuda_pauli *pauli; /* their sums come first, in this order */
	uint32_t ngroup, *group;  /* (ngroup + 2) the first product of each launch, and npauli */
	/* The last group, number ngroup, are products of Z. They have no launch of their own where stages have launches that read them
	 * forward, and make lambda of them back. */
	uint32_t nproduct;
	struct cuda_launch *reads, *makes; /* or NULL */
	/* The first launch back can make the factors of its products itself (cuda_loss.c); it does, of this unit. */
	bool has_loss, takes_loss;
	struct cuda_launch *joined; /* does both passes, where the device makes the gradients (cuda_join.c); or NULL */
	bool clears; /* launches back read more of lambda than the first one makes: 0 */
	uint32_t nprobs;
	struct cuda_probs *probs;
	size_t nsum_readout, nsum_back; /* of each sample; of all samples together */
	size_t nsample_sum;             /* of the backward pass, of each sample */
	size_t nsample_entry[2]; /* entries of each sample's matrices in the launches forward, and back */
	/* Set by cuda_place: samples of which memory is worked on, and what is before its own in the parts of the memory. */
	uint32_t nsample;
	size_t input, matrix[2], loss,
		input_end; /* bytes: its vectors, matrices of samples, forward and back, what a loss needs */
	size_t readout_sum, readout_end, norm_sum,
		sum; /* integers: of readouts, of norms, of the backward pass */
	size_t factor, factor_end, norm_factor; /* numbers: what makes lambda; norms */
	bool takes_tail, takes_joined;          /* in place of the other launches of the stage */
	int exponent;                           /* 2^exponent divides lambda */
	const struct cuda_state *state; /* that it is of */
};

/* Parts of the memory of the device. The host has the first ones too, at the same places: what is copied from there and to there. */
enum cuda_part {
	CUDA_SUM,
	CUDA_DIGEST,
	CUDA_FACTOR,
	CUDA_INPUT,
	CUDA_STAGING,
	CUDA_PSI,
	CUDA_LAMBDA,
	CUDA_PARTS
};
struct cuda_memory {
	void *all; /* NULL: there is none */
	/* Integers. A flag of bad parts, then sums: of readouts so for each sample; of the backward pass once, those of all samples
	 * together, then those of each sample; where the tail is taken, of readouts once, then P of each sample. First all circuits' of
	 * readouts, then of the backward pass, then norms. */
	long long *sum;
	unsigned long long *digest; /* split states: of what is sent */
	double *factor; /* of each circuit (samples, nsum_readout), or the matrices of the launch that makes lambda; then of norms (samples) */
	/* Of each circuit: complex numbers of the vectors of a start, sample by sample; matrices of samples, in the kernels' precision,
	 * launch by launch. */
	char *input;
	char *staging;      /* split states: what is on its way to another process */
	void *psi, *lambda; /* on the device alone */
};

/* A unit that is done at once, for the function of the host between its two passes. */
struct cuda_pass {
	const struct unit_input *in;
	double *const *readout, *const *dreadout; /* of each circuit */
	bool (*losses)(void *ctx);
	void *ctx;
	bool good;                          /* gradients are there */
	int64_t losses_began, losses_ended; /* as recorder_begin */
};

struct cuda_state {
	const struct plan *plan;
	bool twice, gradient, worked; /* worked: a pass has been done */
	unsigned number;              /* of the device */
	struct split_rank *split;     /* or NULL */
	struct backend_link *nccl;    /* NULL: parts are exchanged through memory of the host */
	struct cuda_process process;
	void *shown; /* amplitudes of the process, while others ask for them; or NULL */
	unsigned nthread;
	struct arena arena;
	struct cuda_circuit *circuit;
	cplx *u;          /* (nmatrix_entry) constant and shared matrices */
	int64_t holds;    /* circuit whose final states psi has, or -1 */
	uint32_t nsample; /* samples that these are of */
	uint32_t placed;  /* samples that cuda_place was called for, with `back` and `whole` */
	bool placed_back, placed_whole, placed_joined;
	struct cuda_stream *stream;
	struct cuda_pass pass;
	struct unit_input part; /* samples from `first` on of the unit that devices share */
	uint32_t first;
	const cplx *const **vector; /* (ncircuit) behind part.vector */
	/* While a profile is recorded: what the stream does between its moments. */
	struct recorder_queue *queue;
	struct cuda_trace *trace;
	unsigned nmark; /* where there is no CUPTI */
	struct cuda_mark {
		uint8_t kind;
		uint32_t id;
	} mark[CUDA_MOMENTS_MAX];
	size_t part_bytes[CUDA_PARTS];
	struct cuda_memory gpu, host;
};

struct backend_state {
	unsigned ndevice, nstream;      /* of all devices */
	unsigned share;                 /* devices of each worker */
	unsigned nthread;               /* of the processor */
	struct cuda_state_cache *cache; /* or NULL */
	struct cuda_state *device[]; /* (nstream) one of each device, then the second of each, ... */
};

/* Digests of what each rank is sent, and of what each has sent. */
enum { CUDA_DIGESTS = 2 * SPLIT_RANKS_MAX };

/* ---- cuda_state.c: what the table has, on one device. ---- */

/* Bytes of the device's memory, where nrank processes have parts of a state. */
uint64_t cuda_state_bytes(const struct plan *pl, bool gradient, unsigned nrank);
/* All but memory and a device: what the circuits of the plan need. */
struct cuda_state *cuda_state_layout(const struct plan *pl, bool gradient,
	struct cuda_process process);
/* Of the vectors of a sample. */
uint64_t cuda_vector_entries(const struct plan_circuit *c);
/* nthread: threads of the processor that work for it. split: as prepare has it. */
int cuda_state_new(const struct plan *pl, unsigned device, unsigned nthread, bool gradient,
	struct split_rank *split, struct cuda_state **out, struct err *e);
void cuda_state_free(struct cuda_state *b);
void cuda_state_matrices(struct cuda_state *b, const cplx *u);
void cuda_state_forward(struct cuda_state *b, uint32_t c, const struct unit_input *in, bool keep,
	double *readout);
/* The sums are then in host.sum, of lambda divided by 2^exponent. dreadout NULL: the device makes the gradients of the loss from what
 * forward has left. False: the device failed. */
bool cuda_state_backward(struct cuda_state *b, uint32_t c, const struct unit_input *in,
	const double *dreadout, int exponent);
int cuda_state_failure(const struct cuda_state *b, struct err *e);
/* Amplitudes first .. first+n-1 of sample s: 0 for those of other processes. Those of a state are asked for from the first to the last. */
void cuda_state_amplitudes(struct cuda_state *b, uint32_t c, uint32_t s, uint64_t first, uint64_t n,
	cplx *out);
/* As `unit` of a backend. */
void cuda_state_pass(struct cuda_state *b, const struct cuda_pass *pass,
	double *anti_hermitian_shared, double *const *anti_hermitian_sample);

static inline size_t cuda_amplitude_bytes(const struct cuda_state *b) { return b->twice ? 16 : 8; }

/* Bits of the index of all that the process has of a state. */
static inline unsigned cuda_index_bits(const struct cuda_state *b, const struct cuda_circuit *c)
{
	return c->nbit + b->plan->nrank_bit - b->process.nbit;
}
/* States that kernels on whole states work on: what a process has of a split state is one. Tiles and chunks have amplitudes of one
 * part of it, as planned, and sums are integers: which process has a part changes no bit. */
static inline uint32_t cuda_nstates(const struct cuda_state *b, const struct cuda_circuit *c)
{
	return b->plan->nrank_bit ? 1 : c->nsample;
}
/* Bytes of psi, with what fills tiles up. */
static inline size_t cuda_state_size(const struct cuda_state *b, const struct cuda_circuit *c)
{
	return ((size_t)c->nsample << cuda_index_bits(b, c)) * cuda_amplitude_bytes(b);
}

/* Ranges of n samples, by its threads. */
void cuda_samples(const struct cuda_state *b, uint32_t n,
	void (*part)(void *ctx, uint32_t from, uint32_t to), void *ctx);

/* ---- cuda_work.c ---- */

/* As backend.h has it. */
void cuda_work(struct plan *pl);
/* Streams of a device that do units of the plan side by side, at most. */
unsigned cuda_streams_most(const struct plan *pl);
/* ---- cuda_unit.c: as backend.h has them. A unit, whose samples n devices share: the same bits for any number of them. ---- */

void cuda_unit_forward(struct backend_state *b, unsigned worker, uint32_t c,
	const struct unit_input *in, bool keep, double *readout);
void cuda_unit_backward(struct backend_state *b, unsigned worker, uint32_t c,
	const struct unit_input *in, const double *dreadout, double *anti_hermitian_shared,
	double *const *anti_hermitian_sample);
/* False: nothing is done, as several devices share the unit, events of each stage are recorded without CUPTI, or states are split. */
bool cuda_unit_pass(struct backend_state *b, unsigned worker, const struct unit_input *in,
	double *const *readout, bool (*losses)(void *ctx), void *ctx, double *const *dreadout,
	double *anti_hermitian_shared, double *const *anti_hermitian_sample);
void cuda_unit_amplitudes(struct backend_state *b, unsigned worker, uint32_t c, uint32_t s,
	uint64_t first, uint64_t n, cplx *out);

/* ---- cuda_exchange.c: what processes send each other, by NCCL or through memory of the host. ---- */

/* Nothing has failed, here or in another process. What has failed here ends the group. */
bool cuda_goes_on(struct cuda_state *b);
/* The exchanges before segments from .. to: of psi forward; of psi and lambda back. None where states are not split. */
void cuda_exchange(struct cuda_state *b, uint32_t c, uint32_t from, uint32_t to);
void cuda_exchange_back(struct cuda_state *b, uint32_t c, uint32_t from, uint32_t to);
/* sum[n] of all processes that have parts of a state. False: something failed. */
bool cuda_add_processes(struct cuda_state *b, long long *sum, size_t n);

/* ---- cuda_nccl.c ---- */

/* As target_library. */
const char *cuda_nccl_about(void);
/* As `join` of a backend: sets b->nccl where all ranks can use it. */
void cuda_nccl_join(struct cuda_state *b);
void cuda_nccl_leave(struct cuda_state *b);
/* Asks the stream for an exchange: what arrives is put `behind` bytes behind what is sent. False: the group has failed, here as below. */
struct comm_part;
bool cuda_nccl_exchange(struct cuda_state *b, const struct comm_part *part, unsigned npart,
	size_t behind);
/* Until the stream has come to that moment. */
bool cuda_nccl_await(struct cuda_state *b, unsigned moment);

/* ---- cuda_cupti.c: what CUPTI records of a state's stream while a profile is recorded. ---- */

/* As target_profiler. */
const char *cuda_cupti_about(void);
struct cuda_trace *cuda_trace_new(struct cuda_state *b); /* once it has its queue */
void cuda_trace_free(struct cuda_trace *t);              /* takes NULL; before the queue is freed */
/* Before a unit asks its stream for anything. False: no profile is recorded, or there is an obstacle: b has moments. */
bool cuda_trace_begin(struct cuda_state *b);
/* Why CUPTI cannot be used, as a sentence; NULL: it can. */
const char *cuda_trace_obstacle(const struct cuda_state *b);
/* As cuda_mark and, once the stream has been waited for, as the end of the unit. False: there is no trace, nothing is done. */
bool cuda_trace_mark(struct cuda_state *b, enum profile_kind kind, uint32_t id);
bool cuda_trace_end(struct cuda_state *b);

/* ---- cuda_state_cache.c ---- */

extern const struct state_cache_ops cuda_state_cache_ops;
/* Takes NULL. */
void cuda_state_cache_free(struct backend_state *b);

/* ---- for the files beside it ---- */

/* The segment behind the last stage. */
static inline uint32_t cuda_first_reading(const struct cuda_circuit *c)
{
	return plan_segment_of(c->plan, c->plan->nstage);
}
static inline bool cuda_stages_read(const struct cuda_circuit *c)
{
	return c->nproduct && c->reads;
}
/* Launches that read products. */
static inline uint32_t cuda_groups(const struct cuda_circuit *c)
{
	return c->ngroup + (c->nproduct && !c->reads);
}

/* cuda_place.c. Samples of which memory is worked on for `count` of them: whole tiles. */
uint32_t cuda_run_samples(const struct cuda_state *b, const struct cuda_circuit *c, uint32_t count);

/* Where each circuit's part of the memory is for units of `count` samples. back: a backward pass follows. whole: no tail is taken. */
void cuda_place(struct cuda_state *b, uint32_t count, bool back, bool whole);
/* Bytes of the parts of the memory: those of the largest unit. */
void cuda_measure(struct cuda_state *b);
/* Are there sums of the backward pass? */
static inline bool cuda_has_sums_back(const struct cuda_circuit *c)
{
	return c->nsum_back || c->nsample_sum;
}
/* How many, with the one that is before them. */
static inline size_t cuda_sums_back(const struct cuda_circuit *c)
{
	return 1 + c->nsum_back + c->nsample_sum * c->nsample;
}

/* The launches of stage k. */
static inline struct cuda_launch *cuda_launches(const struct cuda_circuit *c, uint32_t k, bool back)
{
	if (c->takes_tail && k + 1 == c->plan->nstage)
		return c->tail->last[back];
	if (c->takes_joined)
		return back ? c->joined : NULL;
	return (back ? c->back : c->forward)[k];
}
/* The first launch forward, which sets sums to 0; NULL: there is none. */
static inline struct cuda_launch *cuda_first_launch(const struct cuda_circuit *c)
{
	struct cuda_launch *l = NULL;

	for (uint32_t k = 0; k < c->plan->nstage && !l; k++)
		l = cuda_launches(c, k, false);
	return l;
}
/* Does it add to sums of readouts itself? */
static inline bool cuda_first_reads(const struct cuda_circuit *c)
{
	return cuda_stages_read(c) && !c->takes_tail && c->reads == cuda_first_launch(c);
}
/* Those it leaves to a clear of their own where a sample's are added to by several blocks. */
static inline bool cuda_first_clears(const struct cuda_circuit *c)
{
	const struct cuda_launch *l = cuda_first_launch(c);

	return l && !(cuda_first_reads(c) && l->args.nouter);
}
static inline uint64_t cuda_blocks(const struct cuda_launch *l, uint32_t nsample)
{
	return (uint64_t)(nsample >> l->args.nnear) << l->args.nouter;
}

/* What the stream was asked for since the mark before is of that kind (profile.h). */
void cuda_mark(struct cuda_state *b, enum profile_kind kind, uint32_t id);
enum cuda_direction { CUDA_TO_DEVICE = 0, CUDA_TO_HOST }; /* ids of EVENT_COPY */
/* Waits for all that the stream was asked for: copies to the host since the last mark. False: the device failed. */
bool cuda_finish(struct cuda_state *b);
/* The backward pass of samples whose final states are in psi: first everything but lambda, then from lambda on. False: something
 * failed. */
void cuda_begin_backward(struct cuda_state *b, uint32_t number, const struct unit_input *in);
bool cuda_sum_backward(struct cuda_state *b, uint32_t number);
/* Those that samples share: adds those of another device, which has 0 then. */
void cuda_move_sums(struct cuda_state *to, uint32_t number, const struct cuda_state *from);
/* s[d * d] (anti_hermitian.h) of the step from the sums of an op, which are number `first` and those behind. */
void cuda_step_sums(const struct cuda_state *b, const struct cuda_placed *p, size_t first,
	double scale, double *s);
/* From host.sum, of lambda divided by 2^exponent of the circuit, to reduced transition matrices: not numbers where sums are bad, or
 * not good. */
void cuda_add_sums(const struct cuda_state *b, uint32_t number, const struct unit_input *in,
	bool good, double *anti_hermitian_shared, double *const *anti_hermitian_sample);

/* Sums `from` .. `to` - 1. */
void cuda_clear_sums(struct cuda_state *b, size_t from, size_t to);
void cuda_fetch_sums(struct cuda_state *b, size_t from, size_t to);
static inline double cuda_sum_value(const struct cuda_state *b, size_t k)
{
	return (double)b->host.sum[k] / (double)(1ll << CUDA_FIXED_BITS);
}

/* cuda_matrix.c, in the kernels' precision: number k of out; */
void cuda_put_number(const struct cuda_state *b, void *out, size_t k, double re, double im);
/* matrices of steps of that class into the launches, where samples have not one each; */
void cuda_store_matrices(struct cuda_state *b, struct cuda_circuit *c, bool sample, const cplx *u);
/* and where they have, into the host's part of the memory: or without `in`, what makes lambda of psi where the tail is taken. */
void cuda_put_matrices(struct cuda_state *b, struct cuda_circuit *c, bool back,
	const struct unit_input *in);

/* cuda_join.c. Sets c->joined, where all other launches are laid out. */
void cuda_join_passes(struct cuda_state *b, struct cuda_circuit *c);

/* cuda_loss.c. Can the device make the gradients of such losses? */
bool cuda_loss_fits(const struct cuda_state *b, const struct cuda_circuit *c);
/* Of the host's memory and the device's, for units as they are placed. */
size_t cuda_loss_bytes(const struct cuda_circuit *c);
/* Where it does so of this unit: as cuda_exponent, of gradients that are not known yet. */
bool cuda_loss_exponent(const struct cuda_circuit *c, const struct unit_input *in, int *exponent);
/* What it needs, to the host's part of the memory and the arguments of the launch, where the unit takes a loss. */
void cuda_put_loss(struct cuda_state *b, struct cuda_circuit *c, const struct unit_input *in);

/* cuda_tail.c: what the functions of cuda_readout.c do where the tail is taken. */
void cuda_compile_tail(struct cuda_state *b, struct cuda_circuit *c, uint64_t stored);
static inline size_t cuda_tail_entries(const struct cuda_circuit *c) /* of P */
{
	return (size_t)c->tail->observables.d * c->tail->observables.d;
}
/* Numbers of a sample that make lambda. */
size_t cuda_tail_factors(const struct cuda_state *b, const struct cuda_circuit *c);
void cuda_tail_read(const struct cuda_state *b, const struct cuda_circuit *c, uint32_t count,
	bool good, double *readout);
void cuda_tail_put(struct cuda_state *b, struct cuda_circuit *c, uint32_t count,
	const double *dreadout);
/* g[nreadout * d * d] += P of the samples, times dreadout. */
void cuda_tail_add(const struct cuda_circuit *c, uint32_t count, const double *dreadout, cplx *g);
/* Adds the tail's own reduced transition matrix, from g of all samples. */
void cuda_tail_gradient(const struct cuda_state *b, const struct cuda_circuit *c, const cplx *g,
	double *anti_hermitian_shared);

/* cuda_readout.c. Readouts and their gradients are those of `count` samples. */
void cuda_compile_readouts(struct cuda_state *b, struct cuda_circuit *c);
/* Does the last launch forward, which follows, sum products? */
void cuda_read_products(const struct cuda_circuit *c, bool read);
/* All that it does not. */
void cuda_sum_readouts(struct cuda_state *b, uint32_t c, uint32_t count);
/* From host.sum. */
void cuda_read_readouts(const struct cuda_state *b, const struct cuda_circuit *c, uint32_t count,
	bool good, double *readout);
/* lambda = sum dreadout O psi, divided by 2^c->exponent (dreadout NULL: 0): the factors of the host, which are uploaded in between. */
void cuda_put_factors(struct cuda_state *b, struct cuda_circuit *c, uint32_t count,
	const double *dreadout);
void cuda_lambda(struct cuda_state *b, uint32_t c);
/* Where the first launch back has lambda from: its products, unless it is stored as a whole. */
void cuda_take_lambda(const struct cuda_circuit *c, enum cuda_lambda from);
/* With which the norms of all samples' sum up to at most 1. */
int cuda_exponent(const struct cuda_circuit *c, uint32_t count, const double *dreadout);
/* psi / |psi| */
void cuda_normalise(struct cuda_state *b, struct cuda_circuit *c);
