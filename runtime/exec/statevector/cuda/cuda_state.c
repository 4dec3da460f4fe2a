/* SPDX-License-Identifier: Apache-2.0
 * Units on one device: circuits stage by stage, sums of the backward pass. */
#include "config.h"
#include "runtime/exec/statevector/cuda/cuda_state.h"

#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/profile/recorder.h"
#include "runtime/program/anti_hermitian.h"

/* ---- a profile's row ---- */

/* The first of a pass: 0. */
void cuda_mark(struct cuda_state *b, enum profile_kind kind, uint32_t id)
{
	if (!recorder_on() || cuda_trace_mark(b, kind, id) || b->nmark == CUDA_MOMENTS_MAX
		|| b->pass.in)
		return;
	if (!b->nmark) /* what was before is not recorded */
		cuda_stream_counts(b->stream);
	b->mark[b->nmark] = (struct cuda_mark){ (uint8_t)kind, id };
	cuda_moment(b->stream, b->nmark++);
}

/* Once the stream has been waited for: its last moment was just before. */
static void record_marks(struct cuda_state *b)
{
	int64_t end = recorder_clock(), at;

	if (cuda_trace_end(b))
		return;
	for (unsigned k = 1; k < b->nmark; k++) {
		int64_t from = cuda_moments_apart(b->stream, k - 1, b->nmark - 1);

		at = cuda_moments_apart(b->stream, k, b->nmark - 1);
		if (from >= at && at >= 0)
			recorder_queue_event(b->queue, b->mark[k].kind, b->mark[k].id, end - from,
				end - at);
	}
	if (b->nmark) {
		struct cuda_counts n = cuda_stream_counts(b->stream);

		recorder_queue_count(b->queue, n.launches, n.copied);
		recorder_queue_timed(b->queue, "events", cuda_trace_obstacle(b));
	}
	b->nmark = 0;
}

/* ---- sums ---- */

void cuda_clear_sums(struct cuda_state *b, size_t from, size_t to)
{
	cuda_clear(b->stream, b->gpu.sum + from, (to - from) * sizeof *b->gpu.sum);
}

void cuda_fetch_sums(struct cuda_state *b, size_t from, size_t to)
{
	cuda_download(b->stream, b->host.sum + from, b->gpu.sum + from,
		(to - from) * sizeof *b->gpu.sum);
}

bool cuda_finish(struct cuda_state *b)
{
	cuda_mark(b, EVENT_COPY, CUDA_TO_HOST);
	cuda_wait(b->stream);
	record_marks(b);
	return !cuda_stream_failure(b->stream, NULL);
}

uint64_t cuda_vector_entries(const struct plan_circuit *c)
{
	uint64_t n = 0;

	for (uint32_t v = 0; v < c->nprepare; v++)
		n += apply_nentry(c->prepare[v]);
	return n;
}

/* ---- launches of circuits ---- */

static void count_launches(struct cuda_circuit *c, struct cuda_launch *l, bool back)
{
	for (; l; l = l->next) {
		l->entry_before = c->nsample_entry[back];
		l->sum_before = c->nsample_sum;
		if (!l->makes_lambda) /* else its matrices are among the factors */
			c->nsample_entry[back] += l->args.nsample_entry;
		c->nsample_sum += l->args.nsample_sum;
		c->nsum_back += l->args.nsum;
	}
}

static size_t larger(size_t x, size_t y) { return x > y ? x : y; }

/* With and without a tail, whose launches of the last stage take turns with the others: there is room for either. */
static void count_all_launches(struct cuda_circuit *c)
{
	for (unsigned tail = c->tail ? 2 : 1; tail-- > 0;) {
		struct cuda_circuit n = { 0 };

		c->takes_tail = tail;
		for (uint32_t k = 0; k < c->plan->nstage; k++)
			for (unsigned back = 0; back < 2; back++)
				count_launches(&n, cuda_launches(c, k, back), back);
		for (unsigned back = 0; back < 2; back++)
			c->nsample_entry[back] =
				larger(c->nsample_entry[back], n.nsample_entry[back]);
		c->nsample_sum = larger(c->nsample_sum, n.nsample_sum);
		c->nsum_back = larger(c->nsum_back, n.nsum_back);
	}
}

/* The first launch that does more than is needed: nothing reads the states that the last launch of the backward pass leaves. */
static void leave_last(struct cuda_circuit *c)
{
	struct cuda_launch *last = NULL;

	for (uint32_t k = c->plan->nstage; k-- > 0;)
		for (struct cuda_launch *l = cuda_launches(c, k, true); l; l = l->next)
			last = l;
	if (last)
		last->args.save = 0;
}

/* Steps of states that fit into a tile are one stage, and bits stay where they are: stages are cut for processors, whose vectors
 * hold the lowest bits. */
static const struct plan_circuit *in_one_stage(struct cuda_state *b, const struct plan_circuit *pc)
{
	unsigned nstored = plan_stored_bits(b->plan, pc->nbit);
	struct plan_circuit *one;
	struct plan_segment *segment;
	struct plan_stage *stage;
	uint8_t *place;

	if (nstored > cuda_tile_bits(b->plan) || !pc->nstage || b->plan->nrank_bit)
		return pc;
	one = arena_copy(&b->arena, pc, 1, sizeof *one);
	stage = arena_alloc(&b->arena, 1, sizeof *stage);
	place = arena_alloc(&b->arena, nstored, sizeof *place);
	for (unsigned k = 0; k < nstored; k++)
		place[k] = (uint8_t)k;
	segment = arena_copy(&b->arena, pc->segment, 1, sizeof *segment);
	segment->place = place;
	*stage = (struct plan_stage){
		.first = pc->stage[0].first, .count = pc->nstep - pc->stage[0].first, .place = place
	};
	one->segment = segment;
	one->stage = stage;
	one->nstage = 1;
	one->place = place;
	return one;
}

/* Launches forward, of which the first one starts, or of states that are there. Returns whether all amplitudes are in memory in the
 * end. */
static bool compile_forward(struct cuda_state *b, struct cuda_circuit *c, bool starts)
{
	const struct plan_circuit *pc = c->plan;
	uint64_t every = (UINT64_C(1) << plan_stored_bits(b->plan, pc->nbit)) - 1;
	uint64_t stored = starts ? 0 : every, before = stored;
	const struct cuda_launch *last;

	for (uint32_t k = 0; k < pc->nstage; k++) {
		before = stored;
		c->forward[k] = cuda_layout_stage(b->plan, pc, k, CUDA_FORWARD, before, b->process,
			&b->arena);
		if (starts && c->forward[k])
			stored = c->forward[k]->bits;
	}
	cuda_compile_tail(b, c, before);
	last = c->tail ? c->tail->last[false] : NULL;
	return stored == every && (!c->tail || !starts || (last ? last->bits : before) == every);
}

static void compile(struct cuda_state *b, const struct plan_circuit *pc, uint32_t *nstep,
	struct cuda_circuit *c)
{
	c->plan = pc = in_one_stage(b, pc);
	c->nbit = plan_stored_bits(b->plan, pc->nbit) - b->plan->nrank_bit;
	c->forward = arena_alloc(&b->arena, pc->nstage, sizeof(struct cuda_launch *));
	c->back = arena_alloc(&b->arena, pc->nstage, sizeof(struct cuda_launch *));
	c->noise = arena_alloc(&b->arena, pc->nstep, sizeof *c->noise);
	for (uint32_t k = 0; k < pc->nstep; k++)
		c->noise[k] = (*nstep)++;
	for (uint32_t k = 0; k < pc->nstage; k++) {
		const struct plan_stage *s = &pc->stage[k];

		if (b->gradient && s->first + s->count > pc->first_transition)
			c->back[k] = cuda_layout_stage(b->plan, pc, k, CUDA_BACKWARD, 0, b->process,
				&b->arena);
	}
	c->starts = !pc->nprepare && !b->plan->nrank_bit && compile_forward(b, c, true);
	if (!c->starts)
		compile_forward(b, c, false);
	count_all_launches(c);
	leave_last(c);
	c->takes_tail = c->tail; /* the other launches of the last stage */
	leave_last(c);
	cuda_compile_readouts(b, c);
	cuda_join_passes(b, c);
}

/* ---- memory ---- */

struct cuda_state *cuda_state_layout(const struct plan *pl, bool gradient, struct cuda_process process)
{
	struct cuda_state *b = mem_alloc(1, sizeof *b);
	uint32_t nstep = 0;

	*b = (struct cuda_state){ .plan = pl,
		.twice = pl->precision == PRECISION_DOUBLE,
		.gradient = gradient,
		.process = process,
		.holds = -1 };
	arena_init(&b->arena);
	b->circuit = arena_alloc(&b->arena, pl->ncircuit, sizeof *b->circuit);
	b->vector = arena_alloc(&b->arena, pl->ncircuit, sizeof *b->vector);
	for (uint32_t k = 0; k < pl->ncircuit; k++)
		compile(b, &pl->circuit[k], &nstep, &b->circuit[k]);
	cuda_measure(b);
	return b;
}

enum { PART_ALIGN = 256 };

/* Bytes of the parts before part k. */
static size_t part_offset(const struct cuda_state *b, unsigned k)
{
	size_t at = 0;

	for (unsigned i = 0; i < k; i++)
		at += (b->part_bytes[i] + PART_ALIGN - 1) / PART_ALIGN * PART_ALIGN;
	return at;
}

void cuda_state_free(struct cuda_state *b)
{
	if (!b)
		return;
	cuda_nccl_leave(b);
	cuda_free(b->gpu.all);
	cuda_host_free(b->host.all);
	cuda_trace_free(b->trace);
	cuda_stream_free(b->stream);
	recorder_queue_free(b->queue);
	free(b->shown);
	arena_release(&b->arena);
	free(b);
}

uint64_t cuda_state_bytes(const struct plan *pl, bool gradient, unsigned nrank)
{
	struct cuda_process first = { (unsigned)__builtin_ctz(nrank), 0 };
	struct cuda_state *b = cuda_state_layout(pl, gradient, first);
	uint64_t nbyte = part_offset(b, CUDA_PARTS);

	cuda_state_free(b);
	return nbyte;
}

/* at: of the device or the host, or NULL. */
static struct cuda_memory parts_at(const struct cuda_state *b, char *at)
{
	if (!at)
		return (struct cuda_memory){ NULL };
	return (struct cuda_memory){ .all = at,
		.sum = (void *)(at + part_offset(b, CUDA_SUM)),
		.digest = (void *)(at + part_offset(b, CUDA_DIGEST)),
		.factor = (void *)(at + part_offset(b, CUDA_FACTOR)),
		.input = at + part_offset(b, CUDA_INPUT),
		.staging = at + part_offset(b, CUDA_STAGING),
		.psi = at + part_offset(b, CUDA_PSI),
		.lambda = at + part_offset(b, CUDA_LAMBDA) };
}

int cuda_state_failure(const struct cuda_state *b, struct err *e)
{
	const char *why, *call = cuda_stream_failure(b->stream, &why);

	/* One that has worked before may work again. */
	return call ? err_set(e, b->worked ? -ERR_STOPPED : -ERR_CONFIG, "the GPU failed: %s: %s",
		       call, why)
		    : 0;
}

int cuda_state_new(const struct plan *pl, unsigned device, unsigned nthread, bool gradient,
	struct split_rank *split, struct cuda_state **out, struct err *e)
{
	struct cuda_process process = { (unsigned)__builtin_ctz(split_nrank(split)),
		split ? split->rank : 0 };
	struct cuda_state *b = cuda_state_layout(pl, gradient, process);
	char name[32];
	int code;

	b->nthread = nthread;
	b->split = split;
	b->number = device;
	b->u = arena_alloc(&b->arena, pl->nmatrix_entry + 1, sizeof *b->u);
	b->stream = cuda_stream_new(device);
	snprintf(name, sizeof name, "cuda:%u", device);
	b->queue = recorder_queue_new(name);
	b->trace = cuda_trace_new(b);
	cuda_kernels_open(b->stream);
	b->gpu = parts_at(b, cuda_malloc(b->stream, part_offset(b, CUDA_PARTS)));
	b->host = parts_at(b, cuda_host_malloc(b->stream, part_offset(b, CUDA_PSI)));
	code = cuda_state_failure(b, e);
	if (code)
		cuda_state_free(b);
	else
		*out = b;
	return code;
}

void cuda_samples(const struct cuda_state *b, uint32_t n,
	void (*part)(void *ctx, uint32_t from, uint32_t to), void *ctx)
{
	enum { EACH = 64 }; /* as many take longer than it takes to wake a thread */
	uint32_t npart = (n + EACH - 1) / EACH;
	unsigned nthread = b->nthread < npart ? b->nthread : npart;

	if (nthread <= 1) {
		part(ctx, 0, n);
		return;
	}
#pragma omp parallel for schedule(static) num_threads((int)nthread)
	for (uint32_t k = 0; k < npart; k++)
		part(ctx, k * EACH, k + 1 < npart ? (k + 1) * EACH : n);
}

void cuda_state_matrices(struct cuda_state *b, const cplx *u)
{
	memcpy(b->u, u, b->plan->nmatrix_entry * sizeof *u);
	for (uint32_t k = 0; k < b->plan->ncircuit; k++) {
		struct cuda_tail *t = b->circuit[k].tail;

		cuda_store_matrices(b, &b->circuit[k], false, u);
		if (t)
			tail_observables_absorb(&t->observables,
				u + b->plan->set.offset[t->observables.step->matrix]);
	}
	b->holds = -1;
}

/* ---- forward ---- */

/* The vectors of the samples, one sample's after the other's. */
static void put_vectors(const struct cuda_state *b, uint32_t number, const struct unit_input *in)
{
	const struct cuda_circuit *c = &b->circuit[number];
	cplx *to = (cplx *)(b->host.input + c->input);

	for (uint32_t s = 0; s < c->nsample; s++)
		for (uint32_t k = 0; k < c->plan->nprepare; k++) {
			uint32_t v = c->plan->step[k].matrix, length = in->length[number][v];

			memcpy(to,
				in->vector[number][(size_t)v * in->nsample + (s < in->count ? s : 0)],
				length * sizeof *to);
			to += length;
		}
}

static void put_inputs(struct cuda_state *b, uint32_t number, const struct unit_input *in, bool back)
{
	struct cuda_circuit *c = &b->circuit[number];

	cuda_store_matrices(b, c, true, in->u[0]);
	put_vectors(b, number, in);
	cuda_put_matrices(b, c, false, in);
	if (back)
		cuda_put_matrices(b, c, true, in);
}

/* The process has nothing where one of its bits that no vector has is 1. */
static void start_states(struct cuda_state *b, uint32_t number, const struct unit_input *in)
{
	const struct cuda_circuit *c = &b->circuit[number];
	const struct plan_circuit *pc = c->plan;
	const uint8_t *place = pc->nstage ? pc->stage[0].place : pc->segment[0].place;
	unsigned nbit = cuda_index_bits(b, c);
	struct cuda_start a = { .psi = b->gpu.psi,
		.first = (uint64_t)b->process.number << nbit,
		.zero = (UINT64_C(1) << (nbit + b->process.nbit)) - 1,
		.nbit = nbit,
		.nsample = cuda_nstates(b, c) };

	for (uint32_t k = 0; k < pc->nprepare; k++) {
		const struct plan_step *s = &pc->step[k];
		struct cuda_vector *v = &a.vector[a.nvector++];

		*v = (struct cuda_vector){ .entry = (double *)(b->gpu.input + c->input) + 2 * a.stride,
			.length = in->length[number][s->matrix],
			.nbit = s->ntarget };
		for (unsigned n = 0; n < s->ntarget; n++) {
			v->bit[n] = place[s->bit[n]];
			a.zero &= ~(UINT64_C(1) << v->bit[n]);
		}
		a.stride += v->length;
	}
	if ((a.first & a.zero)
		|| a.nsample < c->nsample) /* what is beside parts smaller than tiles stays 0 */
		cuda_clear(b->stream, b->gpu.psi, cuda_state_size(b, c));
	if (!(a.first & a.zero))
		cuda_launch_start(b->stream, &a, b->twice);
}

static void upload_inputs(struct cuda_state *b, size_t from, size_t to)
{
	cuda_upload(b->stream, b->gpu.input + from, b->host.input + from, to - from);
	if (to > from)
		cuda_mark(b, EVENT_COPY, CUDA_TO_DEVICE);
}

static void forget_shown(struct cuda_state *b)
{
	free(b->shown);
	b->shown = NULL;
}

static void launch_stage(struct cuda_state *b, uint32_t number, uint32_t k, bool back)
{
	const struct cuda_circuit *c = &b->circuit[number];

	cuda_range_begin(b->stream, back ? "backward stage" : "forward stage", k);
	for (const struct cuda_launch *l = cuda_launches(c, k, back); l; l = l->next)
		if (!l->idle)
			cuda_launch_stage(b->stream, &l->args, cuda_blocks(l, c->nsample), back,
				b->twice);
	cuda_range_end(b->stream);
	cuda_mark(b, back ? EVENT_BACKWARD : EVENT_FORWARD, number << 16 | k);
}

/* With inputs that are on the device; read: the products that stages read are added to their sums. */
static void evolve(struct cuda_state *b, uint32_t number, const struct unit_input *in, bool read)
{
	struct cuda_circuit *c = &b->circuit[number];
	const struct plan_stage *s = c->plan->stage;

	forget_shown(b);
	cuda_read_products(c, read);
	if (!c->starts)
		start_states(b, number, in);
	cuda_mark(b, EVENT_PHASE, PHASE_ENCODING);
	for (uint32_t k = 0; k < c->plan->nstage; k++) {
		if (k)
			cuda_exchange(b, number, s[k - 1].segment + 1, s[k].segment);
		launch_stage(b, number, k, false);
	}
	if (plan_deep(c->plan))
		cuda_normalise(b, c);
	b->holds = number;
	b->nsample = c->nsample;
}

void cuda_state_forward(struct cuda_state *b, uint32_t number, const struct unit_input *in,
	bool keep, double *readout)
{
	struct cuda_circuit *c = &b->circuit[number];
	bool good;

	cuda_trace_begin(b);
	cuda_place(b, in->count, keep && b->gradient, in->whole);
	cuda_range_begin(b->stream, "circuit, forward", number);
	put_inputs(b, number, in, false);
	cuda_mark(b, EVENT_PHASE, PHASE_NONE);
	upload_inputs(b, c->input, c->matrix[1]);
	cuda_clear_sums(b, c->readout_sum, c->readout_end);
	evolve(b, number, in, true);
	cuda_sum_readouts(b, number, in->count);
	cuda_mark(b, EVENT_PHASE, PHASE_FORWARD);
	cuda_fetch_sums(b, c->readout_sum, c->readout_end);
	good = cuda_finish(b);
	cuda_range_end(b->stream);
	b->worked = b->worked || good;
	good = cuda_add_processes(b, b->host.sum + c->readout_sum, 1 + c->nsum_readout);
	cuda_read_readouts(b, c, in->count, good, readout);
}

/* ---- backward ---- */

/* Rows of the op are in another order. */
void cuda_step_sums(const struct cuda_state *b, const struct cuda_placed *p, size_t first,
	double scale, double *s)
{
	unsigned d = 1u << p->step->ntarget;

	memset(s, 0, (size_t)d * d * sizeof *s);
	for (unsigned r = 0; r < d; r++) {
		unsigned row = p->diagonal ? r : p->row[r];
		int own = p->diagonal ? (int)r : cuda_sum_number((int)d, (int)r, (int)r, 0);

		s[row * d + row] = scale * cuda_sum_value(b, first + (size_t)own);
		for (unsigned c = r + 1; c < d && !p->diagonal; c++) {
			unsigned column = p->row[c], low = row < column ? row : column,
				 high = row ^ column ^ low;
			int number = cuda_sum_number((int)d, (int)r, (int)c, 1);
			double real = scale * cuda_sum_value(b, first + (size_t)number);

			s[low * d + high] = row < column ? real : -real;
			s[high * d + low] = scale * cuda_sum_value(b, first + (size_t)number + 1);
		}
	}
}

static void add_step(const struct cuda_state *b, const struct cuda_placed *p, size_t first,
	double scale, const cplx *u, double *to)
{
	unsigned d = 1u << p->step->ntarget;
	double s[MATRIX_ENTRIES_MAX];

	cuda_step_sums(b, p, first, scale, s);
	if (p->step->adjoint)
		anti_hermitian_add_adjoint(d, u, s, to);
	for (unsigned e = 0; e < d * d && !p->step->adjoint; e++)
		to[e] += s[e];
}

/* Adds the sums of one op: to those that all samples share, or to each sample's. */
static void add_placed(const struct cuda_state *b, const struct cuda_launch *l,
	const struct cuda_placed *p, double scale, const struct unit_input *in, double *shared,
	double *const *own)
{
	const struct matrix_set *set = &b->plan->set;
	uint32_t m = p->step->matrix, at = set->offset[m];
	bool sample = set->def[m]->cls == VALUE_SAMPLE;
	const long long *sums = p->op->of_sample ? l->args.sample_sum : l->args.sum;
	size_t first = (size_t)(sums - b->gpu.sum) + (size_t)p->op->sum;

	if (!p->op->of_sample) {
		add_step(b, p, first, scale, (sample ? in->u[0] : b->u) + at,
			(sample ? own[0] : shared) + at);
		return;
	}
	for (uint32_t s = 0; s < in->count; s++)
		add_step(b, p, first + (size_t)s * l->args.nsample_sum, scale, in->u[s] + at,
			own[s] + at);
}

void cuda_begin_backward(struct cuda_state *b, uint32_t number, const struct unit_input *in)
{
	struct cuda_circuit *c = &b->circuit[number];

	cuda_place(b, in->count, true, in->whole);
	forget_shown(b);
	b->holds = -1;
	cuda_put_matrices(b, c, true, in);
	cuda_put_loss(b, c, in);
	cuda_mark(b, EVENT_PHASE, PHASE_NONE);
	cuda_clear_sums(b, c->sum, c->sum + cuda_sums_back(c));
	cuda_upload(b->stream, b->gpu.input + c->matrix[1], b->host.input + c->matrix[1],
		c->input_end - c->matrix[1]);
}

static void back_from_lambda(struct cuda_state *b, uint32_t number)
{
	struct cuda_circuit *c = &b->circuit[number];
	const struct plan_stage *s = c->plan->stage;
	uint32_t k = c->plan->nstage;

	while (k-- > 0 && s[k].first + s[k].count > c->plan->first_transition) {
		if (k + 1 < c->plan->nstage)
			cuda_exchange_back(b, number, s[k].segment + 1, s[k + 1].segment);
		launch_stage(b, number, k, true);
	}
}

bool cuda_sum_backward(struct cuda_state *b, uint32_t number)
{
	struct cuda_circuit *c = &b->circuit[number];

	cuda_mark(b, EVENT_PHASE, PHASE_BACKWARD);
	back_from_lambda(b, number);
	cuda_mark(b, EVENT_PHASE, PHASE_BACKWARD);
	cuda_fetch_sums(b, c->sum, c->sum + cuda_sums_back(c));
	cuda_finish(b);
	return cuda_add_processes(b, b->host.sum + c->sum, cuda_sums_back(c));
}

void cuda_move_sums(struct cuda_state *to, uint32_t number, const struct cuda_state *from)
{
	long long *sum = to->host.sum + to->circuit[number].sum;
	long long *more = from->host.sum + from->circuit[number].sum;

	for (size_t k = 0; k < 1 + to->circuit[number].nsum_back; k++) {
		sum[k] = (long long)((unsigned long long)sum[k] + (unsigned long long)more[k]);
		more[k] = 0;
	}
}

void cuda_add_sums(const struct cuda_state *b, uint32_t number, const struct unit_input *in,
	bool good, double *anti_hermitian_shared, double *const *anti_hermitian_sample)
{
	const struct cuda_circuit *c = &b->circuit[number];
	double scale = good && !b->host.sum[c->sum] ? ldexp(1, c->exponent) : NAN;

	for (uint32_t k = c->plan->nstage; k-- > 0;)
		for (const struct cuda_launch *l = cuda_launches(c, k, true); l; l = l->next)
			for (uint32_t i = 0; i < l->nplaced; i++)
				if (l->placed[i].op->sum >= 0)
					add_placed(b, l, &l->placed[i], scale, in,
						anti_hermitian_shared, anti_hermitian_sample);
}

bool cuda_state_backward(struct cuda_state *b, uint32_t number, const struct unit_input *in,
	const double *dreadout, int exponent)
{
	struct cuda_circuit *c = &b->circuit[number];
	bool good;

	cuda_trace_begin(b);
	if (b->holds != number) { /* another circuit took the place: once more */
		evolve(b, number, in, false);
		cuda_exchange(b, number, cuda_first_reading(c) + 1, c->plan->nsegment - 1);
	}
	c->exponent = exponent;
	c->takes_loss = !dreadout;
	cuda_begin_backward(b, number, in);
	cuda_range_begin(b->stream, "circuit, backward", number);
	if (dreadout)
		cuda_put_factors(b, c, in->count, dreadout);
	cuda_mark(b, EVENT_COPY, CUDA_TO_DEVICE);
	if (dreadout)
		cuda_upload(b->stream, b->gpu.factor + c->factor, b->host.factor + c->factor,
			(c->factor_end - c->factor) * sizeof *b->gpu.factor);
	cuda_lambda(b, number);
	good = cuda_sum_backward(b, number);
	cuda_range_end(b->stream);
	return good;
}

/* ---- both at once ---- */

/* Called between the passes, on a thread of the runtime; or behind both. */
static void take_losses(void *arg)
{
	struct cuda_state *b = arg;
	struct cuda_pass *p = &b->pass;

	p->losses_began = recorder_begin();
	for (uint32_t k = 0; k < b->plan->ncircuit; k++)
		cuda_read_readouts(b, &b->circuit[k], p->in->count, true, p->readout[k]);
	p->good = p->losses(p->ctx);
	for (uint32_t k = 0; k < b->plan->ncircuit && !b->circuit[0].takes_loss; k++) {
		struct cuda_circuit *c = &b->circuit[k];

		c->exponent = p->good ? cuda_exponent(c, p->in->count, p->dreadout[k]) : 0;
		cuda_put_factors(b, c, p->in->count, p->good ? p->dreadout[k] : NULL);
	}
	p->losses_ended = recorder_begin();
}

/* All of a unit's, by its first launch where that can be. Both passes in one launch add to them: there they come from the host, with the
 * inputs. */
static void clear_sums(struct cuda_state *b, struct cuda_launch *first)
{
	const struct cuda_circuit *c = &b->circuit[0];
	size_t end = c->norm_sum, own = cuda_first_reads(c) ? c->readout_end : 0;
	uint64_t nblock = first ? cuda_blocks(first, c->nsample) : 1;

	if (c->takes_joined)
		memset(b->host.sum + c->readout_sum, 0, (end - c->readout_sum) * sizeof *b->host.sum);
	else if (!cuda_first_clears(c))
		cuda_clear_sums(b, 0, first ? own : end);
	else if (own)
		first->args.own = (struct cuda_clears){ b->gpu.sum, own,
			(1 + c->nsum_readout) << first->args.nnear };
	if (first)
		first->args.others = (struct cuda_clears){ b->gpu.sum + own, end - own,
			(end - own + nblock - 1) / nblock };
}

static void ask_forward(struct cuda_state *b, const struct unit_input *in)
{
	uint32_t n = b->plan->ncircuit;
	struct cuda_launch *first = cuda_first_launch(&b->circuit[0]);

	clear_sums(b, first);
	upload_inputs(b, 0, b->circuit[n - 1].input_end);
	for (uint32_t k = 0; k < n; k++) {
		evolve(b, k, in, true);
		cuda_sum_readouts(b, k, in->count);
		cuda_mark(b, EVENT_PHASE, PHASE_FORWARD);
	}
	if (first) /* it may be needed again */
		first->args.own = first->args.others = (struct cuda_clears){ 0 };
	if (b->circuit[0].takes_loss) /* all of them at once, behind the backward pass */
		return;
	cuda_fetch_sums(b, 0, b->circuit[0].sum);
	cuda_mark(b, EVENT_COPY, CUDA_TO_HOST);
}

/* The last circuit first, whose states are there. */
static void ask_backward(struct cuda_state *b, const struct unit_input *in)
{
	if (!b->circuit[0].takes_loss) {
		cuda_call_host(b->stream, take_losses, b);
		if (b->circuit[0].sum == b->circuit[0].norm_sum)
			return;
		cuda_upload(b->stream, b->gpu.factor, b->host.factor,
			b->circuit[0].norm_factor * sizeof *b->gpu.factor);
		cuda_mark(b, EVENT_COPY, CUDA_TO_DEVICE);
	}
	for (uint32_t k = b->plan->ncircuit; k-- > 0;) {
		if (!cuda_has_sums_back(&b->circuit[k]))
			continue;
		if (b->holds != k)
			evolve(b, k, in, false);
		b->holds = -1;
		if (!b->circuit[k].takes_joined)
			cuda_lambda(b, k);
		cuda_mark(b, EVENT_PHASE, PHASE_BACKWARD);
		back_from_lambda(b, k);
	}
	cuda_mark(b, EVENT_PHASE, PHASE_BACKWARD);
	cuda_fetch_sums(b, b->circuit[0].takes_loss ? b->circuit[0].readout_sum : b->circuit[0].sum,
		b->circuit[0].norm_sum);
}

void cuda_state_pass(struct cuda_state *b, const struct cuda_pass *pass,
	double *anti_hermitian_shared, double *const *anti_hermitian_sample)
{
	const struct unit_input *in = pass->in;
	struct cuda_circuit *c = &b->circuit[0];
	bool back = pass->losses != NULL, good;

	b->pass = *pass;
	c->takes_loss = back && cuda_loss_exponent(c, in, &c->exponent);
	c->takes_joined = c->takes_loss && c->joined;
	cuda_place(b, in->count, back, in->whole);
	for (uint32_t k = 0; k < b->plan->ncircuit; k++)
		put_inputs(b, k, in, back);
	cuda_put_loss(b, c, in);
	cuda_range_begin(b->stream, back ? "circuits, forward and backward" : "circuits, forward",
		in->count);
	cuda_graph_begin(b->stream, back, (uint64_t)c->takes_loss << 32 | in->count);
	ask_forward(b, in);
	if (back)
		ask_backward(b, in);
	cuda_graph_end(b->stream);
	good = cuda_finish(b);
	cuda_range_end(b->stream);
	if (c->takes_loss && good) {
		recorder_mark(PHASE_BACKWARD);
		take_losses(b);
	}
	recorder_mark_until(PHASE_FORWARD, b->pass.losses_began);
	recorder_mark_until(PHASE_LOSSES, b->pass.losses_ended);
	b->worked = b->worked || good;
	for (uint32_t k = 0; k < b->plan->ncircuit && !back; k++)
		cuda_read_readouts(b, &b->circuit[k], in->count, good, pass->readout[k]);
	for (uint32_t k = 0; k < b->plan->ncircuit && back; k++)
		if (cuda_has_sums_back(&b->circuit[k]))
			cuda_add_sums(b, k, in, good && b->pass.good, anti_hermitian_shared,
				anti_hermitian_sample);
	c->takes_joined = false;
	b->pass.in = NULL;
}

/* ---- amplitudes ---- */

/* Number `at` of those at psi in the host's memory. */
static cplx amplitude(const struct cuda_state *b, const void *psi, uint64_t at)
{
	const double *twice = psi;
	const float *single = psi;

	return b->twice ? cplx_of(twice[2 * at], twice[2 * at + 1])
			: cplx_of(single[2 * at], single[2 * at + 1]);
}

void cuda_state_amplitudes(struct cuda_state *b, uint32_t number, uint32_t s, uint64_t first,
	uint64_t n, cplx *out)
{
	const struct cuda_circuit *c = &b->circuit[number];
	unsigned nbit = cuda_index_bits(b, c);
	size_t nbyte = cuda_amplitude_bytes(b) << nbit;

	if (!b->shown) {
		b->shown = mem_alloc(nbyte, 1);
		cuda_download(b->stream, b->shown, (const char *)b->gpu.psi + s * nbyte, nbyte);
		cuda_wait(b->stream);
		cuda_goes_on(b);
	}
	for (uint64_t i = 0; i < n; i++) {
		uint64_t at = plan_index(c->plan, first + i);

		out[i] = at >> nbit == b->process.number
			? amplitude(b, b->shown, at & ((UINT64_C(1) << nbit) - 1))
			: 0;
	}
	if (first + n == UINT64_C(1) << c->plan->nbit)
		forget_shown(b);
}
