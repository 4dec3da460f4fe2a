/* SPDX-License-Identifier: Apache-2.0
 * The cpu backend: its table, its memory, its one parallel region over units. */
#include <malloc.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "runtime/exec/statevector/cpu/cpu_state.h"
#include "runtime/exec/statevector/plan/plan_stage.h"

enum {
	KEEP_BYTES_MAX =
		512 << 10, /* states of several circuits that a worker keeps for the backward pass */
	HUGE_PAGE = 2 << 20,
	PAGE = 4096,
	CACHE_LINE = 64,
	BLOCK_MIN = 16 << 10 /* bytes of a worker from which on it has huge pages */
};

static int cpu_supports(const struct plan *pl, struct err *e)
{
	const char *obstacle = cpu_target_obstacle(pl->target);
	if (kernels_of(pl) == NULL)
		return err_set(e, -ERR_CONFIG, "this qcnn has no kernels for %s", pl->target->kernels);
	if (obstacle)
		return err_set(e, -ERR_CONFIG, "%s %s; the best kernels here are %s", obstacle,
			pl->target->kernels, cpu_target(ISA_NONE)->kernels);
	return 0;
}

/* ---- sizes ---- */

/* Bytes of each thing a worker needs; the same numbers serve `bytes` and `prepare`. */
struct sizes {
	uint64_t state;              /* of the largest circuit */
	uint64_t nslot, nstart;      /* states of a worker; kept ones */
	uint64_t block, part, matrix, transition, bins, table;
	uint64_t tail;               /* of one worker */
	uint64_t shared_matrix;
	uint64_t chunk,
		fused; /* of one worker; sums of one pass, and those kept from forward to backward */
};

static unsigned lanes_log2(const struct kernels *k) { return (unsigned)__builtin_ctz(k->lanes); }

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Entries of the reduced transition matrices of n steps. */
static uint64_t transition_entries(const struct plan_step *s, uint32_t n)
{
	uint64_t sum = 0;
	for (uint32_t k = 0; k < n; k++)
		sum += s[k].transition ? UINT64_C(1) << (2 * s[k].ntarget) : 0;
	return sum;
}

/* Of the stage with the most. */
static uint64_t stage_entries(const struct plan *pl, const struct plan_circuit *c)
{
	uint64_t most = 0;
	if (pl->shape == SHAPE_BATCHED)
		return transition_entries(c->step, c->nstep);
	for (const struct plan_stage *s = c->stage; s < c->stage + c->nstage; s++)
		most = larger(most, transition_entries(c->step + s->first, s->count));
	return most;
}

/* Entries of the matrices of all steps: of class SAMPLE, or of the others. */
static uint64_t step_entries(const struct plan *pl, bool sample)
{
	uint64_t n = 0;
	for (uint32_t c = 0; c < pl->ncircuit; c++)
		for (uint32_t k = 0; k < pl->circuit[c].nstep; k++) {
			const struct plan_step *s = &pl->circuit[c].step[k];
			if (s->op == STEP_UNITARY && (pl->set.def[s->matrix]->cls == VALUE_SAMPLE) == sample)
				n += UINT64_C(1) << (2 * s->ntarget);
		}
	return n;
}

static uint64_t probs_doubles(const struct plan *pl, const struct kernels *k, const struct plan_circuit *c)
{
	uint64_t most = 0;
	unsigned lane_bits = pl->shape == SHAPE_BATCHED ? 0 : lanes_log2(k);
	for (uint32_t o = 0; o < c->noutput; o++) {
		const struct output *out = &c->output[o];
		unsigned nrow_bit = 0;
		for (uint32_t w = 0; w < out->nwire; w++)
			nrow_bit += c->segment[plan_segment_of(c, c->nstage)].place[out->wire[w]]
				>= lane_bits;
		most = larger(most, (UINT64_C(1) << nrow_bit) * k->lanes);
	}
	return most;
}

uint64_t cpu_state_bytes(const struct plan *pl, uint32_t c, unsigned nrank)
{
	const struct kernels *k = kernels_of(pl);
	unsigned nbit = pl->circuit[c].nbit;
	nbit = pl->shape == SHAPE_BATCHED ? nbit + lanes_log2(k) : plan_stored_bits(pl, nbit);
	return (UINT64_C(2) << nbit) / nrank * k->real_bytes;
}

static struct sizes sizes_of(const struct plan *pl, bool gradient, unsigned nrank)
{
	const struct kernels *k = kernels_of(pl);
	bool samples = pl->shape == SHAPE_BATCHED;
	uint64_t entries = 0, all_entries = 0, terms = 0, local = 0;
	struct sizes s = { 0 };
	for (uint32_t c = 0; c < pl->ncircuit; c++) {
		const struct plan_circuit *pc = &pl->circuit[c];
		if (plan_has_tail(pc))
			s.tail = (pl->ncircuit + UINT64_C(1)) * CPU_TAIL_DOUBLES * sizeof(double);
		s.state = larger(s.state, cpu_state_bytes(pl, c, nrank));
		entries = larger(entries, stage_entries(pl, pc));
		all_entries = larger(all_entries, transition_entries(pc->step, pc->nstep));
		s.nstart += pc->nstart > 0;
		if (gradient && plan_fuses_last(pl, pc))
			s.fused = CPU_CHUNKS * stage_entries(pl, pc) * sizeof(double);
		s.bins = larger(s.bins, (probs_doubles(pl, k, pc) << pl->nrank_bit) * sizeof(double));
		terms = larger(terms, pc->nterm);
		for (uint32_t st = 0; !samples && st < pc->nstage; st++)
			local = larger(local, pc->stage[st].nlocal);
	}
	s.nslot = gradient && samples && pl->ncircuit > 1 && s.state <= KEEP_BYTES_MAX / pl->ncircuit ? pl->ncircuit : 1;
	s.block = samples ? 0 : (2 * k->real_bytes * k->lanes) << local;
	s.part = samples ? 0 : (2 * k->real_bytes * k->lanes) << CPU_PART_BITS;
	s.table = samples ? 0 : 2 * k->real_bytes * larger(UINT64_C(1) << local, k->lanes);
	s.matrix = 2 * step_entries(pl, true) * k->real_bytes * (samples ? k->lanes : 1);
	s.shared_matrix = 2 * step_entries(pl, false) * k->real_bytes;
	s.transition = gradient ? entries * k->lanes * sizeof(double) : 0; /* lane by lane at most */
	if (gradient && pl->nrank_bit)
		entries = all_entries;
	s.chunk = samples ? 0
			  : CPU_CHUNKS
			* larger(s.tail ? 2 * MATRIX_ENTRIES_MAX : 1,
				larger(terms, gradient ? entries : 0))
			* sizeof(double);
	return s;
}

static uint64_t round_up(uint64_t n, uint64_t unit) { return (n + unit - 1) / unit * unit; }

/* The next nbytes of a block of memory, of which *used bytes are in use; block NULL: only counts. */
static void *place(char *block, uint64_t *used, uint64_t nbytes)
{
	uint64_t at = round_up(*used, nbytes >= PAGE ? PAGE : CACHE_LINE);
	*used = at + nbytes;
	return block ? block + at : NULL;
}

/* The block of all that a worker has, its states first; its bytes, and those of the states in *nstate. */
static uint64_t place_worker(struct cpu_worker *w, const struct sizes *s, bool gradient,
	bool holder, char *block, uint64_t *nstate)
{
	uint64_t used = 0;
	for (uint64_t k = 0; holder && k < s->nslot; k++) {
		void *psi = place(block, &used, s->state);
		if (block)
			w->psi[k] = psi;
	}
	if (holder && gradient)
		w->lambda = place(block, &used, s->state);
	*nstate = used;
	if (holder) {
		w->matrix[0] = place(block, &used, s->matrix);
		w->matrix[1] = place(block, &used, s->matrix);
		w->bins = place(block, &used, s->bins);
	}
	w->block_psi = place(block, &used, s->block);
	w->block_lambda = place(block, &used, gradient ? s->block : 0);
	w->transition = place(block, &used, s->transition);
	w->table = place(block, &used, s->table);
	w->tail = place(block, &used, s->tail);
	w->part = place(block, &used, s->part);
	/* A state of 32 KiB fills an L1 cache: in pages of 4 KiB from all over the memory it took 1.0 to 1.4 of the time. */
	return used < BLOCK_MIN ? used : round_up(used, HUGE_PAGE);
}

static uint64_t worker_bytes(const struct sizes *s, bool gradient, bool holder)
{
	struct cpu_worker counted = { 0 };
	uint64_t nstate;
	return place_worker(&counted, s, gradient, holder, NULL, &nstate);
}

static uint64_t cpu_bytes(const struct plan *pl, unsigned nthread, bool gradient, unsigned nrank)
{
	struct sizes s = sizes_of(pl, gradient, nrank);
	unsigned holders = pl->shape == SHAPE_SHARED ? 1 : nthread;
	return holders * worker_bytes(&s, gradient, true)
		+ (nthread - holders) * worker_bytes(&s, gradient, false) + 2 * s.shared_matrix
		+ s.nstart * s.state + holders * (s.chunk + s.fused)
		+ pl->nmatrix_entry * sizeof(cplx);
}

/* ---- memory ---- */

static void *aligned(uint64_t nbytes)
{
	size_t align = nbytes >= HUGE_PAGE ? HUGE_PAGE : nbytes >= PAGE ? PAGE : CACHE_LINE;
	void *p = NULL;
	if (nbytes == 0)
		nbytes = CACHE_LINE;
	if (nbytes > SIZE_MAX / 2 || posix_memalign(&p, align, nbytes) != 0)
		return NULL;
	if (align == HUGE_PAGE)
		madvise(p, nbytes, MADV_HUGEPAGE);
	return p;
}

void *cpu_aligned(enum memory_use use, uint64_t nbytes)
{
	void *p = aligned(nbytes);
	if (p)
		memory_use(use, (int64_t)malloc_usable_size(p));
	return p;
}

void cpu_release(enum memory_use use, void *p)
{
	if (p)
		memory_use(use, -(int64_t)malloc_usable_size(p));
	free(p);
}

/* Memory that cpu_free gives back, of which nstate bytes are states; NULL when there is none. */
static void *take_block(struct backend_state *b, uint64_t nbytes, uint64_t nstate)
{
	void *p = aligned(nbytes);
	if (p) {
		memory_use(MEMORY_STATES, (int64_t)nstate);
		memory_use(MEMORY_WORK_BUFFERS, (int64_t)(malloc_usable_size(p) - nstate));
		b->memory[b->nmemory++] = (struct cpu_memory){ p, nstate };
	}
	return p;
}

static void *take(struct backend_state *b, uint64_t nbytes) { return take_block(b, nbytes, 0); }

static bool take_worker(struct backend_state *b, struct cpu_worker *w, const struct sizes *s, bool holder)
{
	uint64_t nstate, nbytes = place_worker(w, s, b->gradient, holder, NULL, &nstate);
	char *block = take_block(b, nbytes, nstate);
	w->psi = arena_alloc(&b->arena, b->nslot, sizeof *w->psi);
	w->resident = arena_alloc(&b->arena, b->nslot, sizeof *w->resident);
	for (uint32_t k = 0; k < b->nslot; k++)
		w->resident[k] = INDEX_NONE;
	if (block)
		place_worker(w, s, b->gradient, holder, block, &nstate);
	return block;
}

static void cpu_free(struct backend_state *b)
{
	if (b == NULL)
		return;
	for (unsigned k = 0; k < b->nmemory; k++) {
		const struct cpu_memory *m = &b->memory[k];
		memory_use(MEMORY_STATES, -(int64_t)m->nstate);
		memory_use(MEMORY_WORK_BUFFERS, -(int64_t)(malloc_usable_size(m->at) - m->nstate));
		free(m->at);
	}
	cpu_state_cache_free(b->state_cache);
	pthread_cond_destroy(&b->exchanging.more);
	pthread_mutex_destroy(&b->exchanging.lock);
	arena_release(&b->arena);
	free(b);
}

static void list_used(struct backend_state *b)
{
	const struct plan *pl = b->plan;
	mem_auto bool *mark = mem_alloc(pl->set.n + 1, sizeof *mark);
	plan_used(pl, mark);
	b->used = arena_alloc(&b->arena, pl->set.n, sizeof *b->used);
	for (uint32_t m = 0; m < pl->set.n; m++)
		if (mark[m] && pl->set.def[m]->cls == VALUE_SHARED)
			b->used[b->nused++] = m;
}

/* The constant matrices, which no weights change. */
static void make_constants(struct backend_state *b)
{
	const struct matrix_set *set = &b->plan->set;
	mem_auto double *value = mem_alloc(b->plan->program->nexpr + 1, sizeof *value);
	mem_auto double *weight = mem_alloc(b->plan->program->nweight + 1, sizeof *weight);
	mem_auto double *input = mem_alloc(b->plan->program->ninput + 1, sizeof *input);
	memset(b->u, 0, b->plan->nmatrix_entry * sizeof *b->u);
	program_eval(b->plan->program, weight, input, value);
	matrix_build(set, value, VALUE_CONSTANT, VALUE_CONSTANT, NULL, b->u, NULL);
}

struct touch {
	char *state;
	uint64_t nbytes;
};

static void touch_chunk(void *ctx, unsigned chunk, struct cpu_worker *thread)
{
	struct touch *t = ctx;
	uint64_t end = cpu_chunk_begin(t->nbytes, CPU_CHUNKS, chunk + 1);
	(void)thread;
	for (uint64_t k = cpu_chunk_begin(t->nbytes, CPU_CHUNKS, chunk); k < end; k += PAGE)
		t->state[k] = 0;
}

/* A page of a shared state lies near the thread that touches it first: the one whose part it is when sums are read. */
static void touch_states(struct backend_state *b, const struct sizes *s)
{
	struct cpu_worker *w = b->worker;
	struct cpu_span all = { 0, CPU_CHUNKS, CPU_CHUNKS };
	if (!b->shared)
		return;
	for (uint32_t k = 0; k < b->nslot; k++)
		cpu_chunks(b, w, all, touch_chunk, &(struct touch){ w->psi[k], s->state });
	if (w->lambda)
		cpu_chunks(b, w, all, touch_chunk, &(struct touch){ w->lambda, s->state });
}

/* The states after the leading constant steps, where there are any. */
static bool make_starts(struct backend_state *b, const struct sizes *s)
{
	for (uint32_t k = 0; k < b->plan->ncircuit; k++) {
		if (b->plan->circuit[k].nstart == 0)
			continue;
		void *room = take(b, s->state);
		if (room == NULL)
			return false;
		cpu_start(b, &b->circuit[k], room);
	}
	return true;
}

static void start_again(struct backend_state *b)
{
	for (uint32_t k = 0; k < b->plan->ncircuit; k++)
		if (b->circuit[k].start)
			cpu_start(b, &b->circuit[k], b->circuit[k].start);
}

static int cpu_prepare(const struct plan *pl, unsigned nthread, uint64_t devices, bool gradient,
	struct split_rank *split, struct backend_state **out, struct err *e)
{
	unsigned nrank = split ? split->nrank : 1;
	struct sizes s = sizes_of(pl, gradient, nrank);
	struct backend_state *b = mem_alloc(1, sizeof *b);
	bool ok = true;
	(void)devices;
	b->plan = pl;
	b->split = split;
	b->rank = split ? split->rank : 0;
	b->rank_bits = (unsigned)__builtin_ctz(nrank);
	b->k = kernels_of(pl);
	b->nthread = nthread;
	b->lane_bits = pl->shape == SHAPE_BATCHED ? 0 : lanes_log2(b->k);
	b->gradient = gradient;
	b->shared = pl->shape == SHAPE_SHARED;
	b->nslot = (uint32_t)s.nslot;
	pthread_mutex_init(&b->exchanging.lock, NULL);
	pthread_cond_init(&b->exchanging.more, NULL);
	cpu_doing(b, EVENT_PHASE, PHASE_FORWARD);
	b->chunk_fused = s.chunk / sizeof(double);
	b->chunk_stride = (s.chunk + s.fused) / sizeof(double);
	b->memory = arena_alloc(&b->arena, 4 + pl->ncircuit + (size_t)nthread, sizeof *b->memory);
	b->worker = arena_alloc(&b->arena, nthread, sizeof *b->worker);
	for (unsigned t = 0; ok && t < nthread; t++)
		ok = take_worker(b, &b->worker[t], &s, !b->shared || t == 0);
	ok = ok && (b->matrix[0] = take(b, s.shared_matrix))
		&& (b->matrix[1] = take(b, s.shared_matrix))
		&& (b->chunk = take(b, (s.chunk + s.fused) * (b->shared ? 1 : nthread)))
		&& (b->u = take(b, pl->nmatrix_entry * sizeof *b->u));
	if (!ok) {
		cpu_free(b);
		return err_set(e, -ERR_CONFIG,
			"the system has no memory for %.1f MiB of states and buffers",
			(double)cpu_bytes(pl, nthread, gradient, nrank) / 1048576);
	}
	touch_states(b, &s);
	list_used(b);
	make_constants(b);
	cpu_compile(b);
	if (!make_starts(b, &s)) {
		cpu_free(b);
		return err_set(e, -ERR_CONFIG, "the system has no memory for the start states");
	}
	*out = b;
	return 0;
}

/* ---- running ---- */

/* A lone worker starts no region of its own: the threads of the sweeps below it would be nested then,
 * and OpenMP makes nested ones anew each time. */
static void run_alone(const struct unit_job *job)
{
	unsigned saved = kernels_flush_enter();
	job->claim(job->ctx, 0);
	job->work(job->ctx, 0);
	kernels_flush_leave(saved);
}

static const double LANE_FLOPS_S = 2.5e9;    /* what small states reach, in every lane */

static void cpu_run(struct backend_state *b, const struct unit_job *job)
{
	unsigned nthread = !b || b->shared ? 1 : b->nthread < job->nunit ? b->nthread : job->nunit ? job->nunit : 1;
	omp_set_dynamic(0);
	if (nthread > 1 && job->flops > 0
			&& !cpu_fork_pays(&b->fork, nthread, job->nunit * job->flops / (b->k->lanes * LANE_FLOPS_S)))
		nthread = 1;
	if (nthread == 1) {
		run_alone(job);
		return;
	}
	#pragma omp parallel num_threads((int)nthread)
	{
		unsigned saved = kernels_flush_enter();
		unsigned worker = (unsigned)omp_get_thread_num();
		job->claim(job->ctx, worker);
		#pragma omp barrier
		job->work(job->ctx, worker);
		kernels_flush_leave(saved);
	}
}

static void cpu_amplitudes(struct backend_state *b, unsigned worker, uint32_t c, uint32_t s,
	uint64_t first, uint64_t n, cplx *out)
{
	const struct plan_circuit *pc = &b->plan->circuit[c];
	const void *psi = cpu_whole(b, &b->circuit[c], b->worker[worker].psi[cpu_slot(b, c)]);
	unsigned rank_at = b->circuit[c].nbit - b->rank_bits;
	for (uint64_t i = 0; i < n; i++) {
		size_t at = plan_index(pc, first + i);
		double re = 0, im = 0;
		unsigned lane = b->lane_bits ? (unsigned)(at & (b->k->lanes - 1)) : s;
		if (!b->rank_bits || at >> rank_at == b->rank)
			b->k->get(psi, at >> b->lane_bits, lane, &re, &im);
		out[i] = cplx_of(re, im);
	}
}

static const struct plan_seconds *cpu_passes(const struct backend_state *b, uint32_t c)
{
	return b->shared ? b->circuit[c].seconds : NULL;
}

const struct backend backend_cpu = {
	.target = cpu_target_row + ISA_NONE + 1,
	.ntarget = ISA_COUNT - 1,
	.obstacle = cpu_target_obstacle,
	.supports = cpu_supports,
	.bytes = cpu_bytes,
	.prepare = cpu_prepare,
	.matrices = cpu_matrices,
	.start = start_again,
	.run = cpu_run,
	.forward = cpu_forward,
	.backward = cpu_backward,
	.amplitudes = cpu_amplitudes,
	.passes = cpu_passes,
	.state_cache = &cpu_state_cache_ops,
	.free = cpu_free,
};
