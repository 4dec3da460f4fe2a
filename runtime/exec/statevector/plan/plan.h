/* SPDX-License-Identifier: Apache-2.0
 * A plan fits a program to a kernel set and precision: which matrices are merged,
 * which shape runs, which stages a large state is cut into.
 *
 * The numerical plan depends on program, precision, kernel set and what it is made for (forward), never on
 * batch size, threads, this host's caches or measured times: equal plans, equal
 * bits.  A plan is constant once made and may be shared by threads. */
#pragma once

#include "runtime/base/bits.h"
#include "runtime/exec/evaluator.h"

enum {
	PLAN_SAMPLES_WIRES_MAX = 10,
	PLAN_STATE_WIRES_MAX = 17,
	PLAN_WIRES_MAX = 60, /* index bits and masks are 64-bit numbers */
	PLAN_RANK_BITS_MAX = 16,
	PLAN_RANKS_MAX = 1 << PLAN_RANK_BITS_MAX, /* of a plan; SPLIT_RANKS_MAX of them can compute */
	PLAN_DEEP_STEPS = 1024 /* a state that has gone through as many is normalised before it is read */
};

/* One thing to do to a state.  Bits are positions in the amplitude's index, after
 * swaps have been turned into relabellings. */
enum step_op { STEP_NONE = 0, STEP_UNITARY, STEP_PREPARE };

struct plan_step {
	enum step_op op;
	uint32_t matrix;             /* UNITARY: number in plan.set; PREPARE: number of the vector (plan_circuit.prepare) */
	bool adjoint;
	bool transition; /* the gradient needs its reduced transition matrix: the matrix depends on a trainable weight */
	bool undo;                   /* the backward pass needs the states before it: see plan_backward_pass */
	bool tail; /* the exact optimisation heisenberg_tail: no state goes through it (plan_heisenberg.c) */
	uint8_t ncontrol, ntarget;   /* UNITARY; PREPARE: nbit */
	uint64_t control_mask, control_value;    /* acts where (index & mask) == value */
	const uint8_t *bit;          /* targets in order, then controls; PREPARE: bits of the vector's index */
	uint32_t apply;              /* first apply of the program it came from */
};

/* A stage: a block holds the amplitudes whose indices differ in `nlocal` local bits, and steps first ..
 * first+count-1 are done on it: their targets are local, controls and bits of diagonal steps may be any. */
struct plan_stage {
	uint32_t first, count;
	uint8_t nlocal;
	const uint8_t *local;
	const uint8_t *partner; /* (bits in the lanes) the bit that changes places with one that is local */
	const uint8_t *place; /* (bits as stored) where each bit of the index lies in the state before the stage, */
	const uint8_t *after; /* and behind it */
	uint32_t segment;
};

/* A segment of a state that is split over 2^k ranks (plan_segment.c): stages without communication between them. The
 * bits in `rank` lie at the k highest places, and number the ranks. */
struct plan_swap {
	uint8_t rank, local;
}; /* two places, local < rank */
struct plan_segment {
	uint32_t end; /* its steps are those before, and from the end of the segment before on */
	uint64_t rank;
	uint8_t nswap; /* the exchange before it: pairs of places whose bits change places, none twice */
	const struct plan_swap *swap;
	/* Or CX gates on rank bits: where the bit at place `control`, a local one, is 1, those
	 * at the places in `flip` change. */
	uint8_t control;
	uint64_t flip;        /* 0: none */
	const uint8_t *place; /* (bits as stored) of bits at its end, but for CX gates */
};

/* What a device with memory of its own is asked for in a part of a circuit, as its backend counts it (backend.h, work). Launches, copies,
 * clears, calls of the host's functions in between, waits and copied_once are those of a unit, however few samples it has; the rest is a
 * sample's. */
struct plan_device_work {
	uint32_t launch, copy, clear, call, wait;
	double flops[2]; /* of kernels, in single and in double precision; a multiplication alone takes as long as a multiply-add: two */
	double mads[2];  /* multiply-adds of these */
	double converted;     /* numbers from one precision to the other */
	double blocks;        /* of threads, of all launches */
	double read, written; /* bytes of the device's memory that kernels touch; in each launch once */
	double copied, copied_once; /* bytes between host and device */
};
/* Parts of a circuit in each direction: its stages, then these. Readouts are of the samples that are asked for, all else of whole groups. */
enum {
	PLAN_DEVICE_OUTPUTS = 0, /* readouts; back: lambda, and sums that are fetched */
	PLAN_DEVICE_START, /* the first state, and norms; back: all of forward but readouts again, where another circuit took the memory */
	PLAN_DEVICE_PARTS
};
struct plan_device {
	uint32_t group; /* samples that are computed together: a power of two */
	unsigned streams; /* units that the device does side by side, where the host has as many threads */
	const struct plan_device_work *part[2]; /* (nstage + PLAN_DEVICE_PARTS) forward, back */
	const struct plan_device_work *joined; /* forward, where a gradient follows and launches back do both; NULL: as without one */
};

struct plan_circuit {
	const struct circuit_code *code;
	uint32_t nbit;               /* = nwire: the state has 2^nbit amplitudes */
	uint32_t nstep; struct plan_step *step;
	uint32_t nstart;             /* leading steps that are constant: done once for all samples and kept
	                              * (not SHAPE_SHARED, nor after a prepared vector, nor a whole circuit) */
	uint32_t nstart_stage;       /* the stages that hold them */
	uint32_t first_transition; /* the first of the steps with `transition`, or nstep: those before need no backward pass */
	uint32_t nprepare; const struct apply **prepare;   /* AMPLITUDES and STATE applies, each before all unitaries on its wires */
	uint32_t nstage;
	struct plan_stage *stage; /* SHAPE_PER_THREAD and SHAPE_SHARED */
	/* One where nothing is split. Behind the last that has stages may be others, where readouts are read whose x and y
	 * are on rank bits before (plan_product). */
	uint32_t nsegment;
	struct plan_segment *segment;
	uint32_t noutput; struct output *output;           /* the circuit's outputs with wires turned into bits */
	uint32_t nterm;                                    /* of all of them */
	uint32_t nreadout, first_readout;                  /* this circuit's part of the program's readouts */
	/* Visits of the state that read products with x or y: one for PLAN_TOGETHER_MIN to PLAN_TOGETHER_MAX that
	 * flip the same bits. */
	uint32_t nflip;
	const uint8_t *bit_of_wire;  /* the bit that carries each wire in the end, for reading the state */
	const uint8_t *place;        /* where each bit lies in the state in the end */
	const struct plan_device *device; /* NULL: states are the processor's */
};

struct plan_options {
	enum precision precision;
	const struct target *target;
	enum shape shape;  /* SHAPE_AUTO, or forced by a test */
	bool no_fuse;      /* one step per apply */
	bool own_matrices; /* one step per apply, and each that is differentiated has a matrix of its
	                              * own, of class SAMPLE (parameter shift changes one use of a matrix) */
	uint32_t split;    /* ranks that states are split over at most, a power of two; 0: 1 */
	bool forward; /* stages are cut for the forward pass alone, whether gradients follow or not */
	bool loss_terms; /* the loss has terms (loss_terms.h), of which the backend's `unit` may make readout gradients itself */
	/* That optimisation may be taken: with TARGET_HEISENBERG_TAIL, not with no_fuse or own_matrices. */
	bool heisenberg_tail;
	uint64_t random; /* non-zero: a random legal choice of stages and merges (tests) */
};

struct plan {
	struct arena arena;
	struct plan_options options;     /* that it was made with */
	const struct program *program;   /* borrowed; outlives the plan */
	enum precision precision;
	const struct target *target;
	enum shape shape;            /* one for the whole program: that of its widest circuit */
	uint32_t width;              /* samples in a unit: a power of two */
	unsigned nrank_bit;          /* states are split over up to 2^ ranks */
	struct matrix_set set;       /* the program's matrices, then products made by fusion */
	uint32_t nmatrix_entry;      /* set.offset[set.n] */
	double nontemporal_bytes; /* stages that write more bytes than this use non-temporal stores */
	bool *transition; /* per matrix of the set: some step wants its reduced transition matrix */
	bool *moves;                 /* per matrix of the set: it is made of x and swap */
	const bool *expr_trainable;  /* (program->nexpr): depends on a weight that is not frozen */
	uint32_t ncircuit;
	struct plan_circuit *circuit;
};

/* Bytes of an amplitude. */
static inline unsigned plan_amplitude_bytes(const struct plan *pl)
{
	return pl->precision == PRECISION_DOUBLE ? 16 : 8;
}

/* Units of n samples. */
static inline uint64_t plan_units(const struct plan *pl, uint64_t n)
{
	return (n + pl->width - 1) / pl->width;
}

/* Is the state normalised after the last step?  Readouts then have a pass of their own, and there is no heisenberg_tail. */
static inline bool plan_deep(const struct plan_circuit *c) { return c->nstep >= PLAN_DEEP_STEPS; }

/* A product of Pauli operators on places of the index, P psi [i] = (-i)^ny (-1)^|i & sign| psi[i
 * ^ flip], as it is in the segment in which it is read: the first from that of the last stage on
 * where `flip` has no rank bits. */
struct plan_product {
	uint64_t flip, sign;
	unsigned ny; /* modulo 4 */
	uint32_t segment;
};
/* Of a product on bits. */
struct plan_product plan_product(const struct plan_circuit *c, const struct pauli_term *t);
/* Where the amplitude with this index, by wires, lies in the state that is left when all
 * products are read. */
uint64_t plan_index(const struct plan_circuit *c, uint64_t index);
/* What each rank sends where as many ranks take part as are planned for: bytes of states; messages, one to each partner of an
 * exchange. */
struct plan_sent {
	double bytes, messages;
};
/* Of one state, before segment n (at least 1). */
struct plan_sent plan_exchange(const struct plan *pl, const struct plan_circuit *c, uint32_t n);
/* Of a sample in all circuits, forward, or of both states in the backward pass alone; *n: exchanges. */
struct plan_sent plan_exchanges(const struct plan *pl, bool back, uint32_t *n);
/* Bytes of a part of a message, at least where a state is exchanged by several pieces beside stages; and how many of these a process
 * has of a state, at least, so that a thread for the exchange pays. */
enum { PLAN_PART_BYTES = 64 << 10, PLAN_PARTS_LEAST = 16 };
/* How the rows of a rank's part are cut where bits at some places of their numbers (local) change places with rank bits, and
 * bits at others (piece) number pieces, which are exchanged one after the other: rows that agree in all of these make up
 * 2^nother parts of a message, numbered by the bits at `other`. A part is 2^nbit runs of 2^run rows: the bits from `low` on number runs. */
struct plan_parts {
	uint8_t local[PLAN_RANK_BITS_MAX], piece[8], other[64];
	unsigned nlocal, npiece, nother, npartner /* 2^ parts for each of 2^nlocal - 1 partners */;
	unsigned run, low, nbit;
};
/* Places row[n] and piece[npiece], of which some may be the same, among those of the numbers of 2^nrow_bit rows. */
struct plan_parts plan_exchange_parts(const uint8_t *row, unsigned n, const uint8_t *piece,
	unsigned npiece, unsigned nrow_bit);
/* Are there so few of them that they can be exchanged at once? */
bool plan_parts_few(const struct plan_parts *c);
/* How many bits at places row[n], ascending, are exchanged at once, those at the highest places, so that parts are few: 1 .. n. Then
 * come the others in the same way: more bytes. */
unsigned plan_exchange_at_once(const uint8_t *row, unsigned n, unsigned nrow_bit);
/* Segment of stage k, or with k = nstage, that of the last one. */
uint32_t plan_segment_of(const struct plan_circuit *c, uint32_t k);

/* Marks the matrices of the set that steps use: used[set.n]. */
void plan_used(const struct plan *pl, bool *used);

struct plan *plan_new(const struct program *p, const struct plan_options *o, struct err *e);
void plan_free(struct plan *pl);

/* Is the circuit's last step the exact optimisation heisenberg_tail?  Qubits of the widest one, or 0. */
bool plan_has_tail(const struct plan_circuit *c);
uint32_t plan_tail_qubits(const struct plan *pl);

/* What a machine can do at best, all threads together: bytes of memory that are read and written in place, that are written alone, by
 * non-temporal stores or not, and, of each thread, of the second-level cache in place; a multiply-add is two operations. */
struct plan_limits {
	unsigned nthread;
	const struct target *target; /* whose kernels measured them; NULL: they were not measured */
	bool nontemporal;            /* when they were measured */
	const char *name; /* of a device; NULL: a usual one */
	double stream_gb_s, write_gb_s, l2_gb_s, single_gflop_s, double_gflop_s;
	/* Of a device with memory of its own: GB/s between host and device, 10^9 numbers a second between precisions, multiprocessors
	 * among which the blocks of a launch are shared, and microseconds that a launch, a copy and a wait of the host take at least. */
	double link_gb_s, convert_g_s, units, launch_us, copy_us, wait_us;
	/* Of ranks that have such a machine each: GB/s that each sends while it receives as much, and microseconds that a message takes
	 * besides. 0: one machine has the whole state. */
	double exchange_gb_s, message_us;
};
/* Of a usual device of the target, or of a usual machine with that number of threads. */
struct plan_limits plan_usual_limits(const struct target *t, unsigned nthread);
/* Of one sample; back: the backward pass without the forward pass. */
struct plan_seconds { double forward, back; };
/* With TARGET_STAGES.  What the stages of a circuit of the plan are expected to take: stage[nstage + 1], where the last are readouts
 * and lambda, and all.  Where ranks have a machine each: of the rank with the most to do, without exchanges. */
void plan_seconds(const struct plan *pl, const struct plan_circuit *c, const struct plan_limits *l, struct plan_seconds *stage,
	struct plan_seconds *all);
/* Where ranks have a machine each: what the one with the most to do is expected to take for a sample, forward or with the gradient:
 * computing, exchanges, matrices and sums that ranks send each other, and all: exchanges go on beside the stages before and behind them. */
struct plan_split_seconds {
	double compute, exchange, rest, all;
};
struct plan_split_seconds plan_split_seconds(const struct plan *pl, const struct plan_limits *l,
	bool gradient);
/* The same with what it sends, and its memory in bytes. */
struct plan_rank_takes {
	struct plan_split_seconds seconds;
	struct plan_sent sent;
	double memory;
};
struct plan_rank_takes plan_rank_takes(const struct plan *pl, const struct plan_limits *l,
	bool gradient);
/* Are products of Z and constants all whose expectations are read, so that the circuit's last stage sums them?  At most
 * PLAN_NEAR_TERMS_MAX. */
enum { PLAN_NEAR_TERMS_MAX = 128, PLAN_TOGETHER_MIN = 3, PLAN_TOGETHER_MAX = 128 };
bool plan_sums_near(const struct plan_circuit *c);
/* Does the backward pass make lambda from psi block by block: of such sums, without probabilities, or of a tail? */
bool plan_lambda_near(const struct plan_circuit *c);
/* Does the backward pass begin with each of the last stage's blocks as forward leaves it, without a transfer to the state and back?  With
 * one readout alone: what follows lambda is linear in its readout gradient, which is known when all blocks have been there.  Batch rank does
 * not, but is counted as if. */
bool plan_fuses_last(const struct plan *pl, const struct plan_circuit *c);
/* What a profile tells apart (profile_item), in this order for each circuit: its steps, then the others. */
enum {
	PLAN_OTHER_READOUTS = 0,
	PLAN_OTHER_START,
	PLAN_OTHER_STAGES /* transfers of stage 0, 1, ... */
};
/* Number of item k of circuit c: step k, or nstep + one of the others. */
uint32_t plan_profile_item(const struct plan *pl, uint32_t c, uint32_t k);
/* Items of the plan. */
uint32_t plan_profile_items(const struct plan *pl);
/* Operations of one pass over a state that is cut into stages, and bytes between it and its blocks: stage k, or with
 * k = nstage readouts and lambda.  The backward pass of a stage whose passes are fused has less bytes by those that forward is spared then. */
void plan_pass(const struct plan *pl, const struct plan_circuit *c, uint32_t k, bool back, double *flops, double *bytes);
/* Stages, bytes, flops and expected seconds as text (qcnn compile --emit plan); nsample: of a batch for which a device is expected
 * to take what is printed. */
void plan_print(const struct plan *pl, const struct plan_limits *l, uint64_t nsample, struct buf *out);
/* The same, but for steps, as members of a JSON object, without braces. */
void plan_json(const struct plan *pl, const struct plan_limits *l, uint64_t nsample, struct buf *out);
/* "samples", "state" or "shared": how states are held. */
const char *plan_shape_word(const struct plan *pl);
/* Floating-point operations that this plan executes for a sample. */
double plan_flops(const struct plan *pl, bool gradient);
/* Of the starts that are kept, all circuits together; plan_flops leaves them out. */
double plan_start_flops(const struct plan *pl);
/* What a sample takes, in operations: the executed ones, and a few for each amplitude that x, cx or swap move. */
double plan_effort(const struct plan *pl, bool gradient);
/* The nominal ones of a program: 32 per amplitude and use of a block on two qubits in the model's text (8 * 2^k on k); where there
 * is no block on two qubits or more, every gate as a dense matrix.  Four times that with the gradient. */
double plan_nominal(const struct program *p, bool gradient);
/* Passes over the state of one sample, and the bytes that they read and write. */
struct plan_traffic {
	double bytes;
	uint32_t passes;
};
struct plan_traffic plan_traffic(const struct plan *pl, bool gradient);
/* Are states in a device's memory, and counted (plan_circuit.device)? */
static inline bool plan_on_device(const struct plan *pl)
{
	return pl->ncircuit && pl->circuit->device;
}
/* What a device is asked for in a call of nsample samples, added up over its units: readouts, and with `gradient` the backward pass.
 * Nothing where circuits have no device. */
struct plan_device_work plan_device_work(const struct plan *pl, uint64_t nsample, bool gradient);
/* Seconds that this is expected to take: with arithmetic and memory at the same time, and one after the other. The host's own work (matrices,
 * encoding, chain rule) is not in it. */
struct plan_span {
	double least, most;
};
struct plan_span plan_device_seconds(const struct plan *pl, const struct plan_limits *l,
	uint64_t nsample, bool gradient);
/* Of one part in one direction, in a unit that is whole. back: what it takes more with a gradient. */
struct plan_span plan_device_part_seconds(const struct plan *pl, const struct plan_limits *l,
	const struct plan_circuit *c, uint32_t part, bool back);
/* Seconds that the limits allow at best for a batch: the time of plan_seconds with kernels that reach the limits, streams
 * that go on while blocks are computed, blocks in L1 that are moved for nothing, and passes that begin at once.  Units are
 * one thread's where the shape says so.  Encoding, matrices and readouts in passes of their own are for nothing.  With TARGET_STAGES. */
double plan_floor(const struct plan *pl, bool gradient, uint64_t nsample, const struct plan_limits *l);
