/* SPDX-License-Identifier: Apache-2.0
 * What the files of the cuda backend share: the launches of circuits, and memory on the device. */
#pragma once

#include "runtime/base/arena.h"
#include "runtime/base/profile/recorder.h"
#include "runtime/exec/statevector/backend.h"
#include "runtime/exec/statevector/cuda/cuda_launch.h"
#include "runtime/exec/statevector/cuda/cuda_layout.h"
#include "runtime/exec/statevector/tail_observables.h"

/* A product of Pauli matrices in a readout. */
struct cuda_pauli {
	struct cuda_term term;
	uint32_t readout;
	uint32_t segment; /* the segment of a split circuit in which its expectation is computed */
	double coefficient;
};

/* Probabilities: 2^nbin readouts from `readout` on, by the bits bit[] of the index. */
struct cuda_probs {
	uint32_t readout, nbin;
	uint8_t bit[CUDA_BITS_MAX];
	size_t sum; /* the first of its sums, among those of a sample */
};

/* The Heisenberg tail of a circuit (tail_observables.h). p and lambda are of the samples of the
 * last forward pass. */
struct cuda_tail {
	struct tail_observables observables;
	struct cuda_launch *sum;     /* computes P */
	struct cuda_launch *last[2]; /* the launches of the last stage: forward, back */
	cplx *p, *lambda;            /* (samples, d, d): P; the matrices that make lambda of psi */
};

struct cuda_circuit {
	const struct plan_circuit *plan;
	/* Bits of the index of one sample's state; of a split state, of the part of one rank. */
	unsigned nbit;
	bool starts; /* the first forward launch begins with |0...0>, which it does not read */
	/* The launches of each stage: a list, in the order in which they run. */
	struct cuda_launch **forward, **back; /* (plan->nstage) */
	struct cuda_tail *tail;               /* or NULL */
	uint32_t *noise; /* (plan->nstep) numbers of the steps in all circuits: cuda_matrix.c */
	uint32_t npauli;
	struct cuda_pauli *pauli; /* a sample's sums begin with theirs, in this order */
	/* (ngroup + 2) Group k has products group[k] .. group[k + 1] - 1: those of one launch. */
	uint32_t ngroup, *group;
	/* Group number ngroup, the last one, has nproduct products of Z. They need no launch of
	 * their own where the last launch forward sums them (`reads`), and the first one back makes
	 * lambda of them (`makes`). */
	uint32_t nproduct;
	struct cuda_launch *reads, *makes; /* or NULL */
	bool has_loss;   /* the device can compute the gradient of the loss (cuda_loss.c) */
	bool takes_loss; /* it does so for this unit */
	struct cuda_launch *joined; /* does both passes where it does (cuda_join.c); or NULL */
	/* Launches back read more amplitudes of lambda than the first of them writes: lambda has to
	 * be cleared. */
	bool clears;
	uint32_t nprobs;
	struct cuda_probs *probs;
	size_t nsum_readout;     /* sums of readouts of each sample */
	size_t nsum_back;        /* sums of the backward pass of all samples together */
	size_t nsample_sum;      /* sums of the backward pass of each sample */
	size_t nsample_entry[2]; /* entries of each sample's own matrices, forward and back */
	/* Set by cuda_place: the number of samples with those that fill up the last tile, and where
	 * the circuit's data are in the parts of the memory. */
	uint32_t nsample;
	/* In `input`, bytes: its vectors; matrices of samples, forward and back; numbers for a
	 * loss. */
	size_t input, matrix[2], loss, input_end;
	/* In `sum`: sums of readouts, of norms, of the backward pass. */
	size_t readout_sum, readout_end, norm_sum, sum;
	/* In `factor`: what lambda is made with; norms. */
	size_t factor, factor_end, norm_factor;
	bool takes_tail, takes_joined;  /* launches of `tail`, or `joined`, are used */
	int exponent;                   /* lambda is divided by 2^exponent */
	const struct cuda_state *state; /* that the circuit is of */
};

/* Parts of the memory of the device. The host has those before CUDA_PSI too, at the same offsets,
 * for copies. */
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
	void *all; /* the allocation; or NULL */
	/* Integers: sums of the readouts of all circuits, then of their backward passes, then
	 * norms. Of readouts, each sample has a flag, set where a term was left out
	 * (CUDA_FIXED_LIMIT), then sums; with a tail there is one flag, then P of each sample. Of
	 * the backward pass there are one flag, the sums of all samples together, then those of
	 * each sample. Where passes are joined, they are behind `input` instead. */
	long long *sum;
	unsigned long long *digest; /* split states: of what is sent */
	/* Of each circuit: factors (samples, nsum_readout), or with a tail the matrices that make
	 * lambda; then norms (samples). */
	double *factor;
	/* Of each circuit: the vectors that states start with, sample by sample; the matrices of
	 * samples, in the kernels' precision, launch by launch; numbers for a loss. */
	char *input;
	char *staging;      /* split states: what is on its way to another process */
	void *psi, *lambda; /* on the device alone */
};

/* The arguments of cuda_unit_pass (`unit` of backend.h), for the host's function between the
 * passes. */
struct cuda_pass {
	const struct unit_input *in;
	double *const *readout, *const *dreadout; /* of each circuit */
	bool (*losses)(void *ctx);                /* NULL: there is no backward pass */
	void *ctx;
	bool good;                          /* losses() has set the gradients */
	int64_t losses_began, losses_ended; /* as recorder_begin */
};

/* A stream of a device: the launches of each circuit, and memory for the states of a unit. */
struct cuda_state {
	const struct plan *plan;
	bool twice, gradient;      /* double precision; there are backward passes */
	bool worked;               /* a pass has succeeded */
	unsigned number;           /* of the device */
	struct split_rank *split;  /* or NULL */
	struct backend_link *nccl; /* NULL: parts are exchanged through memory of the host */
	struct cuda_process process;
	void *shown; /* a copy of the state that cuda_state_amplitudes reads; or NULL */
	unsigned nthread;
	struct arena arena;
	struct cuda_circuit *circuit;
	cplx *u;          /* (nmatrix_entry) constant and shared matrices */
	int64_t holds;    /* the circuit whose final states are in psi, or -1 */
	uint32_t nsample; /* samples of these states */
	/* The arguments of the last cuda_place, and whether passes were joined. */
	uint32_t placed;
	bool placed_back, placed_whole, placed_joined;
	struct cuda_stream *stream;
	struct cuda_pass pass;
	struct unit_input part;     /* of a unit that devices share: this device's samples, */
	uint32_t first;             /* from number `first` on */
	const cplx *const **vector; /* (ncircuit) what part.vector points to */
	/* While a profile is recorded: what the stream does between its moments. */
	struct recorder_queue *queue;
	struct cuda_trace *trace;
	unsigned nmark; /* without CUPTI: elements of mark, and moments of the stream */
	struct cuda_mark {
		uint8_t kind;
		uint32_t id;
	} mark[CUDA_MOMENTS_MAX];
	size_t part_bytes[CUDA_PARTS];
	struct cuda_memory gpu, host;
};

struct backend_state {
	unsigned ndevice, nstream;      /* nstream: streams of all devices together */
	unsigned share;                 /* devices that share a worker's unit */
	unsigned nthread;               /* of the processor */
	struct cuda_state_cache *cache; /* or NULL */
	struct cuda_state *device[];    /* (nstream) one of each device, then another of each ... */
};

/* Digests of what each rank is sent, and of what each has sent. */
enum { CUDA_DIGESTS = 2 * SPLIT_RANKS_MAX };

/* ---- cuda_state.c: the functions of a backend (backend.h), for one stream. ---- */

/* Bytes of the device's memory, where nrank processes have parts of a state. */
uint64_t cuda_state_bytes(const struct plan *pl, bool gradient, unsigned nrank);
/* A state with the launches of the plan's circuits, without memory and device. */
struct cuda_state *cuda_state_layout(const struct plan *pl, bool gradient,
	struct cuda_process process);
/* Complex numbers of the vectors that a sample's state starts with. */
uint64_t cuda_vector_entries(const struct plan_circuit *c);
/* nthread: threads of the processor for the stream's work. split: as for `prepare` of backend.h. */
int cuda_state_new(const struct plan *pl, unsigned device, unsigned nthread, bool gradient,
	struct split_rank *split, struct cuda_state **out, struct err *e);
void cuda_state_free(struct cuda_state *b);
void cuda_state_matrices(struct cuda_state *b, const cplx *u);
void cuda_state_forward(struct cuda_state *b, uint32_t c, const struct unit_input *in, bool keep,
	double *readout);
/* Leaves the sums, of lambda divided by 2^exponent, in host.sum. dreadout: NULL: the device
 * computes the gradients of the loss, from the states and sums that forward has left. False: the
 * device failed. */
bool cuda_state_backward(struct cuda_state *b, uint32_t c, const struct unit_input *in,
	const double *dreadout, int exponent);
int cuda_state_failure(const struct cuda_state *b, struct err *e);
/* Amplitudes first .. first + n - 1 of sample s: 0 for those of other processes. Calls go from the
 * first to the last amplitude of a state. */
void cuda_state_amplitudes(struct cuda_state *b, uint32_t c, uint32_t s, uint64_t first, uint64_t n,
	cplx *out);
/* Both passes of a unit, as `unit` of backend.h. */
void cuda_state_pass(struct cuda_state *b, const struct cuda_pass *pass,
	double *anti_hermitian_shared, double *const *anti_hermitian_sample);

static inline size_t cuda_amplitude_bytes(const struct cuda_state *b) { return b->twice ? 16 : 8; }

/* Bits of the index of the process' part of a state. */
static inline unsigned cuda_index_bits(const struct cuda_state *b, const struct cuda_circuit *c)
{
	return c->nbit + b->plan->nrank_bit - b->process.nbit;
}
/* States for the kernels that work on whole states; a process' part of a split state is one.
 * Results do not depend on which process has which parts: tiles and chunks are within one part, as
 * planned, and sums are integers. */
static inline uint32_t cuda_nstates(const struct cuda_state *b, const struct cuda_circuit *c)
{
	return b->plan->nrank_bit ? 1 : c->nsample;
}
/* Bytes of psi, with the samples that fill up the last tile. */
static inline size_t cuda_state_size(const struct cuda_state *b, const struct cuda_circuit *c)
{
	return ((size_t)c->nsample << cuda_index_bits(b, c)) * cuda_amplitude_bytes(b);
}

/* Calls part() for ranges that make up n samples, from the threads of b. */
void cuda_samples(const struct cuda_state *b, uint32_t n,
	void (*part)(void *ctx, uint32_t from, uint32_t to), void *ctx);

/* ---- cuda_work.c ---- */

/* As `work` of backend.h. */
void cuda_work(struct plan *pl);
/* The most streams of a device that are given units of the plan at the same time. */
unsigned cuda_streams_most(const struct plan *pl);

/* ---- cuda_unit.c: the functions of backend.h for a unit whose samples several devices may share:
 * results have the same bits for any number of devices. ---- */

void cuda_unit_forward(struct backend_state *b, unsigned worker, uint32_t c,
	const struct unit_input *in, bool keep, double *readout);
void cuda_unit_backward(struct backend_state *b, unsigned worker, uint32_t c,
	const struct unit_input *in, const double *dreadout, double *anti_hermitian_shared,
	double *const *anti_hermitian_sample);
/* False: nothing is done, as several devices share the unit, states are split, or each stage has to
 * be recorded without CUPTI. */
bool cuda_unit_pass(struct backend_state *b, unsigned worker, const struct unit_input *in,
	double *const *readout, bool (*losses)(void *ctx), void *ctx, double *const *dreadout,
	double *anti_hermitian_shared, double *const *anti_hermitian_sample);
void cuda_unit_amplitudes(struct backend_state *b, unsigned worker, uint32_t c, uint32_t s,
	uint64_t first, uint64_t n, cplx *out);

/* ---- cuda_exchange.c: what processes send each other, by NCCL or through memory of the host. ---- */

/* Has nothing failed, here or in another process? A failure here ends the group of processes. */
bool cuda_goes_on(struct cuda_state *b);
/* The exchanges before segments from .. to: of psi forward; of psi and lambda back, in the reverse
 * order. Nothing to do where states are not split. */
void cuda_exchange(struct cuda_state *b, uint32_t c, uint32_t from, uint32_t to);
void cuda_exchange_back(struct cuda_state *b, uint32_t c, uint32_t from, uint32_t to);
/* Adds up sum[n] over the processes that have parts of a state. False: something failed. */
bool cuda_add_processes(struct cuda_state *b, long long *sum, size_t n);

/* ---- cuda_nccl.c ---- */

/* As target_library. */
const char *cuda_nccl_about(void);
/* As `join` of a backend: sets b->nccl where all ranks can use it. */
void cuda_nccl_join(struct cuda_state *b);
void cuda_nccl_leave(struct cuda_state *b);
/* Asks the stream for an exchange; what arrives is stored `behind` bytes behind what is sent.
 * False, here and below: the group has failed. */
struct comm_part;
bool cuda_nccl_exchange(struct cuda_state *b, const struct comm_part *part, unsigned npart,
	size_t behind);
/* Waits until the stream has reached that moment. */
bool cuda_nccl_await(struct cuda_state *b, unsigned moment);

/* ---- cuda_cupti.c: what CUPTI records of a state's stream while a profile is recorded. ---- */

/* As target_profiler. */
const char *cuda_cupti_about(void);
struct cuda_trace *cuda_trace_new(struct cuda_state *b); /* once it has its queue */
void cuda_trace_free(struct cuda_trace *t);              /* takes NULL; before the queue is freed */
/* Called before a unit asks its stream for anything. False: no profile is recorded, or CUPTI cannot
 * be used and moments of the stream are. */
bool cuda_trace_begin(struct cuda_state *b);
/* Why CUPTI cannot be used, as a sentence; NULL: it can. */
const char *cuda_trace_obstacle(const struct cuda_state *b);
/* What cuda_mark does; and what ends a unit, once the stream has been waited for. False: there is
 * no trace, and nothing is done. */
bool cuda_trace_mark(struct cuda_state *b, enum profile_kind kind, uint32_t id);
bool cuda_trace_end(struct cuda_state *b);

/* ---- cuda_state_cache.c ---- */

extern const struct state_cache_ops cuda_state_cache_ops;
/* b->cache may be NULL. */
void cuda_state_cache_free(struct backend_state *b);

/* ---- what the files of the backend share ---- */

/* The first segment in which readouts are computed: that behind the last stage. */
static inline uint32_t cuda_first_reading(const struct cuda_circuit *c)
{
	return plan_segment_of(c->plan, c->plan->nstage);
}
/* Does the last launch forward sum the products of Z? */
static inline bool cuda_stages_read(const struct cuda_circuit *c)
{
	return c->nproduct && c->reads;
}
/* Groups of products that need a launch of their own. */
static inline uint32_t cuda_groups(const struct cuda_circuit *c)
{
	return c->ngroup + (c->nproduct && !c->reads);
}

/* cuda_place.c. Samples of the whole tiles that `count` samples take. */
uint32_t cuda_run_samples(const struct cuda_state *b, const struct cuda_circuit *c, uint32_t count);

/* Sets where each circuit's data are in the parts of the memory, for units of `count` samples.
 * back: a backward pass follows. whole: no tail is taken. */
void cuda_place(struct cuda_state *b, uint32_t count, bool back, bool whole);
/* Sets the sizes of the parts of the memory, for the largest unit. */
void cuda_measure(struct cuda_state *b);
/* Has the backward pass sums? */
static inline bool cuda_has_sums_back(const struct cuda_circuit *c)
{
	return c->nsum_back || c->nsample_sum;
}
/* Sums of the backward pass of all samples, with the flag before them. */
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
/* The first launch forward, which clears sums; NULL: there is none. */
static inline struct cuda_launch *cuda_first_launch(const struct cuda_circuit *c)
{
	struct cuda_launch *l = NULL;

	for (uint32_t k = 0; k < c->plan->nstage && !l; k++)
		l = cuda_launches(c, k, false);
	return l;
}
/* Does the first launch also add to sums of readouts? */
static inline bool cuda_first_reads(const struct cuda_circuit *c)
{
	return cuda_stages_read(c) && !c->takes_tail && c->reads == cuda_first_launch(c);
}
/* Can the first launch clear the sums? Not where several of its blocks add to the same ones. */
static inline bool cuda_first_clears(const struct cuda_circuit *c)
{
	const struct cuda_launch *l = cuda_first_launch(c);

	return l && !(cuda_first_reads(c) && l->args.nouter);
}
static inline uint64_t cuda_blocks(const struct cuda_launch *l, uint32_t nsample)
{
	return (uint64_t)(nsample >> l->args.nnear) << l->args.nouter;
}

/* Names the kind (profile.h) of what the stream was asked for since the mark before. */
void cuda_mark(struct cuda_state *b, enum profile_kind kind, uint32_t id);
enum cuda_direction { CUDA_TO_DEVICE = 0, CUDA_TO_HOST }; /* ids of EVENT_COPY */
/* Waits for the stream, whose work since the last mark is copies to the host. False: the device
 * failed. */
bool cuda_finish(struct cuda_state *b);
/* The two parts of the backward pass of samples whose final states are in psi: what comes before
 * lambda is made, and what comes after. False: something failed. */
void cuda_begin_backward(struct cuda_state *b, uint32_t number, const struct unit_input *in);
bool cuda_sum_backward(struct cuda_state *b, uint32_t number);
/* Moves the sums of all samples together from one device's state to another's, to whose sums they
 * are added. */
void cuda_move_sums(struct cuda_state *to, uint32_t number, const struct cuda_state *from);
/* s[d * d] (anti_hermitian.h) of a step, from the sums of its op: host.sum[first], ... */
void cuda_step_sums(const struct cuda_state *b, const struct cuda_placed *p, size_t first,
	double scale, double *s);
/* Adds the sums in host.sum, multiplied by 2^exponent of the circuit, to the reduced transition
 * matrices: NAN where the sums have their flag set, or not `good`. */
void cuda_add_sums(const struct cuda_state *b, uint32_t number, const struct unit_input *in,
	bool good, double *anti_hermitian_shared, double *const *anti_hermitian_sample);

/* Clears sums from .. to - 1 on the device; or copies them to the host. */
void cuda_clear_sums(struct cuda_state *b, size_t from, size_t to);
void cuda_fetch_sums(struct cuda_state *b, size_t from, size_t to);
static inline double cuda_sum_value(const struct cuda_state *b, size_t k)
{
	return (double)b->host.sum[k] / (double)(1ll << CUDA_FIXED_BITS);
}

/* cuda_matrix.c. Sets complex number k of out, in the kernels' precision. */
void cuda_put_number(const struct cuda_state *b, void *out, size_t k, double re, double im);
/* Writes the matrices that all samples share into the arguments of the launches. sample: those of
 * class VALUE_SAMPLE (of a unit that is one sample), or else all others. */
void cuda_store_matrices(struct cuda_state *b, struct cuda_circuit *c, bool sample, const cplx *u);
/* Writes the matrices that each sample has of its own into the host's memory; without `in`, those
 * that make lambda of psi where the tail is taken. */
void cuda_put_matrices(struct cuda_state *b, struct cuda_circuit *c, bool back,
	const struct unit_input *in);

/* cuda_join.c. Sets c->joined where that can be; all other launches are there. */
void cuda_join_passes(struct cuda_state *b, struct cuda_circuit *c);

/* cuda_loss.c. Can the device compute the gradients of the losses of loss_terms.h? */
bool cuda_loss_fits(const struct cuda_state *b, const struct cuda_circuit *c);
/* Bytes of what it needs for that, in the host's memory and the device's. */
size_t cuda_loss_bytes(const struct cuda_circuit *c);
/* Does it compute those of this unit? *exponent: of cuda_exponent, by a bound of the gradients. */
bool cuda_loss_exponent(const struct cuda_circuit *c, const struct unit_input *in, int *exponent);
/* Where the unit takes a loss, writes what it needs into the host's memory and the launch's
 * arguments. */
void cuda_put_loss(struct cuda_state *b, struct cuda_circuit *c, const struct unit_input *in);

/* cuda_tail.c: what the functions of cuda_readout.c do where the tail is taken. stored: as for
 * cuda_layout_stage. */
void cuda_compile_tail(struct cuda_state *b, struct cuda_circuit *c, uint64_t stored);
static inline size_t cuda_tail_entries(const struct cuda_circuit *c) /* of P */
{
	return (size_t)c->tail->observables.d * c->tail->observables.d;
}
/* Doubles that the matrices of a sample which make lambda take in `factor`. */
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
/* Before a forward pass: is its last launch to sum the products of Z (c->reads)? */
void cuda_read_products(const struct cuda_circuit *c, bool read);
/* Sums the readouts that this launch does not. */
void cuda_sum_readouts(struct cuda_state *b, uint32_t c, uint32_t count);
/* Readouts from host.sum. */
void cuda_read_readouts(const struct cuda_state *b, const struct cuda_circuit *c, uint32_t count,
	bool good, double *readout);
/* lambda = sum dreadout O psi, divided by 2^c->exponent (dreadout NULL: 0). The first function
 * writes the factors into the host's memory; once they are uploaded, the second one makes lambda,
 * except what the first launch back makes. */
void cuda_put_factors(struct cuda_state *b, struct cuda_circuit *c, uint32_t count,
	const double *dreadout);
void cuda_lambda(struct cuda_state *b, uint32_t c);
/* Sets how the first launch back gets lambda. */
void cuda_take_lambda(const struct cuda_circuit *c, enum cuda_lambda from);
/* The exponent with which the norms of all samples' lambda add up to at most 1. */
int cuda_exponent(const struct cuda_circuit *c, uint32_t count, const double *dreadout);
/* psi / |psi| */
void cuda_normalise(struct cuda_state *b, struct cuda_circuit *c);
