/* SPDX-License-Identifier: Apache-2.0
 * What the device is asked for by the passes of a plan, counted from their launches: kernels, bytes of its memory, operations, copies
 * and waits. What cuda_state.c and cuda_readout.c ask for and what the kernels do is repeated here in numbers; the emulated device counts
 * the same (tests/gpu/test_counted_work.c). */
#include "config.h"
#include "runtime/exec/statevector/cuda/cuda_state.h"

#include <math.h>

/* Bytes of integers and of numbers in double precision, which sums, factors and vectors are made of. */
enum { NUMBER = 8 };

/* ---- operations ---- */

static unsigned count(uint32_t bits) { return (unsigned)__builtin_popcount(bits); }

/* Multiply-adds, and multiplications alone. */
static void add(struct plan_device_work *w, bool twice, double mads, double others)
{
	w->mads[twice] += mads;
	w->flops[twice] += 2 * (mads + others);
}

/* `n` groups of d amplitudes times a matrix, whose rows begin with a multiplication. */
static void add_dense(struct plan_device_work *w, bool twice, double n, double d)
{
	add(w, twice, n * (4 * d * d - 2 * d), n * 2 * d);
}

/* n complex products. */
static void add_products(struct plan_device_work *w, bool twice, double n)
{
	add(w, twice, 2 * n, 2 * n);
}

/* An op of a launch that has n amplitudes of a sample. */
static void add_op(struct plan_device_work *w, const struct cuda_launch *l,
	const struct cuda_placed *p, bool back, bool twice, double n)
{
	const struct cuda_op *o = p->op;
	double here = ldexp(n, -(int)count(o->block_mask));
	double on = ldexp(here, -(int)(count(o->reg_mask) + count(o->thread_mask)));
	double d = ldexp(1, (int)p->step->ntarget);
	unsigned states = back ? count(o->undo) : 1;

	if (p->diagonal) {
		/* Threads compute their part of a sum whether it counts or not, for each pattern of register bits that are samples'. */
		if (back && o->sum >= 0) {
			const struct cuda_round *r = l->args.round;

			while (r->first + r->count <= p - l->placed)
				r++;
			here = ldexp(here, o->of_sample ? (int)count(r->sample_regs) : 0);
			add(w, twice, here, here);
		}
		add_products(w, twice, states * on);
		return;
	}
	if (back && o->sum >= 0)
		add(w, twice, on / d * (4 * d * d - 2 * d), 0);
	add_dense(w, twice, states * on / d, d);
}

/* Entries that an op reads of a sample's matrix: none where it need not be undone. */
static double sample_entries(const struct cuda_placed *p, bool back)
{
	if (!p->op->of_sample || (back && !p->op->undo))
		return 0;
	return ldexp(1, (p->diagonal ? 1 : 2) * (int)p->step->ntarget);
}

/* ---- stages ---- */

/* Amplitudes of a sample that a launch has. */
static double launch_amplitudes(const struct cuda_state *b, const struct cuda_launch *l)
{
	return ldexp(1, (int)cuda_tile_bits(b->plan) + l->args.nouter - l->args.nnear);
}

/* Of n, those that it reads. */
static double amplitudes_read(const struct cuda_stage_args *a, bool twice, double n)
{
	unsigned nbit = CUDA_THREAD_BITS + (twice ? CUDA_REGS_DOUBLE : CUDA_REGS_SINGLE), nzero = 0;

	for (unsigned k = 0; k < nbit; k++)
		nzero += a->zero >> a->load_at[k] & 1;
	for (unsigned k = 0; k < a->nouter; k++)
		nzero += a->zero >> a->outer[k] & 1;
	return a->start ? 0 : ldexp(n, -(int)nzero);
}

static void add_launch(const struct cuda_state *b, const struct cuda_launch *l, bool back,
	struct plan_device_work *w)
{
	const struct cuda_stage_args *a = &l->args;
	double amplitude = b->twice ? 16 : 8, n = launch_amplitudes(b, l);

	w->launch++;
	w->blocks += ldexp(1, a->nouter - a->nnear);
	w->read += amplitudes_read(a, b->twice, n) * amplitude;
	w->read += back && a->lambda_from == CUDA_LAMBDA_STORED ? n * amplitude : 0;
	w->written += a->save ? (back ? 2 : 1) * n * amplitude : 0;
	for (uint32_t k = 0; k < l->nplaced; k++) {
		add_op(w, l, &l->placed[k], back, b->twice, n);
		w->read += sample_entries(&l->placed[k], back) * amplitude;
	}
}

static void add_launches(const struct cuda_state *b, const struct cuda_launch *l, bool back,
	struct plan_device_work *w)
{
	for (; l; l = l->next)
		add_launch(b, l, back, w);
}

/* What the last launch forward does for products of Z: squares, their sums over registers, and over lanes where products need
 * them. */
static void add_product_sums(const struct cuda_state *b, const struct cuda_circuit *c,
	struct plan_device_work *w)
{
	const struct cuda_stage_args *a = &c->reads->args;
	unsigned nreg = cuda_reg_bits(b->plan);
	double n = launch_amplitudes(b, c->reads);
	double sums = n * nreg + ldexp(n, -(int)nreg) * 5 * count(a->products.regs);

	/* In single precision sums are of integers: an addition of 64 bits takes the time of two of its own. */
	add(w, b->twice, n, n + (b->twice ? 1 : 2) * sums);
	w->converted += b->twice ? 0 : n;
}

/* Sums and numbers of a sample, of which factors are made. */
static double loss_bytes(const struct cuda_circuit *c)
{
	return (double)(1 + c->nsum_readout + LOSS_LABELS + c->plan->nreadout) * NUMBER;
}

/* What the first launch back does to make lambda of them; others: lambda has been stored by other launches. */
static void add_product_lambda(const struct cuda_state *b, const struct cuda_circuit *c,
	bool others, struct plan_device_work *w)
{
	unsigned nreg = cuda_reg_bits(b->plan);
	double n = launch_amplitudes(b, c->makes);

	add(w, b->twice, 2 * n, 0);
	add(w, true, 0, n * nreg + ldexp(n, -(int)nreg) * c->nproduct);
	w->converted += b->twice ? 0 : n;
	w->read -= others ? 0 : n * (b->twice ? 16 : 8); /* of lambda */
	if (!c->has_loss)
		w->read += (double)c->nproduct * NUMBER;
	else if (!c->joined)
		w->read += loss_bytes(c);
}

/* ---- the first state ---- */

static double state_amplitudes(const struct cuda_circuit *c) { return ldexp(1, (int)c->nbit); }

/* Launches of kernels on whole states, whose blocks have a part of one: they read and write states. */
static void add_state_launches(const struct cuda_state *b, const struct cuda_circuit *c, uint32_t n,
	uint32_t read, uint32_t written, struct plan_device_work *w)
{
	double nbyte = state_amplitudes(c) * (double)cuda_amplitude_bytes(b);

	w->launch += n;
	w->blocks += n * ldexp(1, c->nbit > CUDA_CHUNK_BITS ? (int)c->nbit - CUDA_CHUNK_BITS : 0);
	w->read += read * nbyte;
	w->written += written * nbyte;
}

static void add_start(const struct cuda_state *b, const struct cuda_circuit *c,
	struct plan_device_work *w)
{
	double n = state_amplitudes(c);

	add_state_launches(b, c, 1, 0, 1, w);
	w->read += (double)cuda_vector_entries(c->plan) * 2 * NUMBER;
	add_products(w, true, n * c->plan->nprepare);
	w->converted += b->twice ? 0 : 2 * n;
}

/* ---- readouts ---- */

/* <psi|P|psi> of nterm terms. What products read of other chunks, their blocks read as well. */
static void add_expectations(const struct cuda_state *b, const struct cuda_circuit *c,
	uint32_t nterm, uint32_t nlaunch, struct plan_device_work *w)
{
	double n = state_amplitudes(c);

	add_state_launches(b, c, nlaunch, nlaunch, 0, w);
	add(w, b->twice, n * nterm, n * nterm);
	w->converted += b->twice ? 0 : n * nterm;
}

static void add_norm(const struct cuda_state *b, const struct cuda_circuit *c,
	struct plan_device_work *w)
{
	double n = state_amplitudes(c);

	w->clear++;
	add_expectations(b, c, 1, 1, w);
	w->call++;
	w->copy += 2;
	w->copied += 3 * NUMBER;
	add_state_launches(b, c, 1, 1, 1, w);
	w->read += NUMBER;
	add(w, true, 0, 2 * n);
	w->converted += b->twice ? 0 : 4 * n;
}

static void add_readouts(const struct cuda_state *b, const struct cuda_circuit *c,
	struct plan_device_work *w)
{
	double n = state_amplitudes(c);

	if (c->takes_tail) {
		add_launch(b, c->tail->sum, true, w);
		return;
	}
	add_expectations(b, c, c->npauli - (cuda_stages_read(c) ? c->nproduct : 0), cuda_groups(c), w);
	add_state_launches(b, c, c->nprobs, c->nprobs, 0, w);
	add(w, true, n * c->nprobs, n * c->nprobs);
	w->converted += b->twice ? 0 : 2 * n * c->nprobs;
}

static void add_lambda(const struct cuda_state *b, const struct cuda_circuit *c,
	struct plan_device_work *w)
{
	double n = state_amplitudes(c);
	uint32_t launches = cuda_groups(c) + c->nprobs;
	size_t nfactor = c->nsum_readout - (cuda_stages_read(c) ? c->nproduct : 0);
	double nflip = 0, nown; /* products that flip bits; others, which a sum of factors is made of */
	uint32_t adding = launches ? launches - 1 : 0; /* those that read lambda too */

	add_state_launches(b, c, launches, launches + adding, launches, w);
	for (uint32_t k = 0; k < c->npauli; k++)
		nflip += c->pauli[k].term.flip != 0;
	nown = c->npauli - nflip - (cuda_stages_read(c) ? c->nproduct : 0);
	w->clear += !launches && (!c->nproduct || (c->reads && c->clears));
	w->read += (double)nfactor * NUMBER;
	add(w, true, 2 * n * nflip, n * (nown + 2 * c->nprobs));
	add(w, b->twice, 2 * n * cuda_groups(c), 0);
	w->converted += b->twice ? 0 : n * (2 * (nflip + launches + adding) + cuda_groups(c));
}

/* ---- all ---- */

/* stage: of each stage, or NULL: all to `start`. */
static void work_states(const struct cuda_state *b, const struct cuda_circuit *c,
	struct plan_device_work *stage, struct plan_device_work *start)
{
	for (uint32_t k = 0; k < c->plan->nstage; k++)
		add_launches(b, cuda_launches(c, k, false), false, stage ? &stage[k] : start);
	if (!c->starts)
		add_start(b, c, start);
	if (plan_deep(c->plan))
		add_norm(b, c, start);
}

/* The last stage that has any launches. */
static uint32_t last_stage(struct cuda_launch *const *l, uint32_t n)
{
	while (!l[n - 1])
		n--;
	return n - 1;
}

static void work_forward(const struct cuda_state *b, const struct cuda_circuit *c, uint32_t nstage,
	struct plan_device_work *w)
{
	work_states(b, c, w, &w[nstage + PLAN_DEVICE_START]);
	if (cuda_stages_read(c) && !c->takes_tail)
		add_product_sums(b, c, &w[last_stage(c->forward, c->plan->nstage)]);
	add_readouts(b, c, &w[nstage + PLAN_DEVICE_OUTPUTS]);
}

/* again: another circuit took the memory of the states. */
static void work_back(const struct cuda_state *b, const struct cuda_circuit *c, uint32_t nstage,
	bool again, struct plan_device_work *w)
{
	if (!cuda_has_sums_back(c))
		return;
	if (again)
		work_states(b, c, NULL, &w[nstage + PLAN_DEVICE_START]);
	for (uint32_t k = 0; k < c->plan->nstage; k++)
		add_launches(b, cuda_launches(c, k, true), true, &w[k]);
	if (c->takes_tail)
		return;
	add_lambda(b, c, &w[nstage + PLAN_DEVICE_OUTPUTS]);
	if (cuda_stages_read(c))
		add_product_lambda(b, c, c->ngroup + c->nprobs > 0 || c->clears,
			&w[last_stage(c->back, c->plan->nstage)]);
}

/* Numbers of a sample that make lambda, from the host. */
static size_t factors(const struct cuda_state *b, const struct cuda_circuit *c)
{
	return c->has_loss ? 0 : c->takes_tail ? cuda_tail_factors(b, c) : c->nsum_readout;
}

/* Bytes between host and device, of all circuits at once: their copies are counted by ask_once. forward, back: the parts behind the
 * stages. */
static void copy_circuit(const struct cuda_state *b, const struct cuda_circuit *c, bool any_back,
	struct plan_device_work *forward, struct plan_device_work *back)
{
	double amplitude = b->twice ? 16 : 8;

	forward[PLAN_DEVICE_START].copied += (double)c->nsample_entry[0] * amplitude
		+ (double)cuda_vector_entries(c->plan) * 2 * NUMBER;
	if (c->takes_tail) { /* P of whole groups of samples, unlike readouts */
		forward[PLAN_DEVICE_OUTPUTS].copied += (double)cuda_tail_entries(c) * NUMBER;
		forward[PLAN_DEVICE_OUTPUTS].copied_once += NUMBER;
	} else {
		forward[PLAN_DEVICE_OUTPUTS].copied += (double)(1 + c->nsum_readout) * NUMBER;
	}
	back[PLAN_DEVICE_OUTPUTS].copied += (double)c->nsample_entry[1] * amplitude
		+ (any_back ? (double)factors(b, c) * NUMBER : 0);
	if (c->joined) { /* sums that are set to 0 */
		back[PLAN_DEVICE_OUTPUTS].copied_once += (double)(1 + c->nsum_back) * NUMBER;
		back[PLAN_DEVICE_OUTPUTS].copied += (double)c->nsample_sum * NUMBER;
	}
	if (c->has_loss) {
		struct cuda_circuit none = *c;

		none.nsample = 0;
		back[PLAN_DEVICE_OUTPUTS].copied_once += (double)cuda_loss_bytes(&none);
		back[PLAN_DEVICE_OUTPUTS].copied +=
			(double)(LOSS_LABELS + c->plan->nreadout) * NUMBER;
	}
	if (cuda_has_sums_back(c)) {
		back[PLAN_DEVICE_OUTPUTS].copied += (double)c->nsample_sum * NUMBER;
		back[PLAN_DEVICE_OUTPUTS].copied_once += (double)(1 + c->nsum_back) * NUMBER;
	}
}

/* Inputs, readouts, gradients with respect to these, and sums are copied once each, and the host computes losses between the passes. Where
 * the device does, inputs are copied once and sums with readouts. */
static void ask_once(const struct cuda_circuit *first, bool any_input, bool any_factor,
	bool any_back, struct plan_device_work *forward, struct plan_device_work *back)
{
	forward[PLAN_DEVICE_START].copy += any_input;
	forward[PLAN_DEVICE_OUTPUTS].clear += !cuda_first_clears(first);
	forward[PLAN_DEVICE_OUTPUTS].copy++;
	forward[PLAN_DEVICE_OUTPUTS].wait++;
	back[PLAN_DEVICE_OUTPUTS].call += !first->has_loss;
	if (first->has_loss)
		back[PLAN_DEVICE_OUTPUTS].copy += !any_input;
	else
		back[PLAN_DEVICE_OUTPUTS].copy += any_back ? 1u + any_factor : 0;
}

/* Forward, as the launch back does it, too: in no launch of its own, without states in memory. */
static const struct plan_device_work *work_joined(struct plan *pl, const struct cuda_state *b,
	const struct cuda_circuit *c, uint32_t nstage, const struct plan_device_work *forward,
	struct plan_device_work *back)
{
	struct plan_device_work *w;

	if (!c->joined)
		return NULL;
	w = arena_copy(&pl->arena, forward, nstage + (size_t)PLAN_DEVICE_PARTS, sizeof *w);
	w->launch = 0;
	w->blocks = w->written = 0;
	w[nstage + PLAN_DEVICE_OUTPUTS].clear = 0;
	w[nstage + PLAN_DEVICE_OUTPUTS].copied +=
		(double)(1 + c->nsum_readout) * NUMBER; /* sums that are set to 0 */
	w[nstage + PLAN_DEVICE_OUTPUTS].read += loss_bytes(c);
	back->read -= launch_amplitudes(b, c->joined) * (double)cuda_amplitude_bytes(b);
	return w;
}

unsigned cuda_streams_most(const struct plan *pl)
{
	/* Amplitudes of a unit: those of more take longer than the waits between them. */
	enum { STREAMS = 8, BITS = 21 };
	unsigned nbit = plan_stored_bits(pl, program_nwire(pl->program));

	return !pl->nrank_bit && nbit <= BITS ? STREAMS : 1;
}

void cuda_work(struct plan *pl)
{
	struct cuda_state *b = cuda_state_layout(pl, true, (struct cuda_process){ 0 });
	bool any_input = false, any_factor = false, any_back = false;

	for (uint32_t k = 0; k < pl->ncircuit; k++) {
		const struct cuda_circuit *c = &b->circuit[k];

		any_input = any_input || c->nsample_entry[0] || cuda_vector_entries(c->plan);
		any_factor = any_factor || factors(b, c);
		any_back = any_back || cuda_has_sums_back(c);
	}
	for (uint32_t k = 0; k < pl->ncircuit; k++) {
		struct cuda_circuit *c = &b->circuit[k];
		struct plan_device *d = arena_alloc(&pl->arena, 1, sizeof *d);
		uint32_t nstage = pl->circuit[k].nstage;
		struct plan_device_work *w[2];

		for (unsigned i = 0; i < 2; i++)
			d->part[i] = w[i] =
				arena_alloc(&pl->arena, nstage + PLAN_DEVICE_PARTS, sizeof **w);
		d->group = cuda_run_samples(b, c, 1);
		d->streams = cuda_streams_most(pl);
		work_forward(b, c, nstage, w[0]);
		/* The last circuit goes back first, from the states that it left. */
		work_back(b, c, nstage, k + 1 < pl->ncircuit, w[1]);
		copy_circuit(b, c, any_back, w[0] + nstage, w[1] + nstage);
		if (!k)
			ask_once(c, any_input, any_factor, any_back, w[0] + nstage, w[1] + nstage);
		d->joined = work_joined(pl, b, c, nstage, w[0], w[1]);
		pl->circuit[k].device = d;
	}
	cuda_state_free(b);
}
