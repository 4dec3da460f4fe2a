/* SPDX-License-Identifier: Apache-2.0
 * What a plan is expected to take: of every stage the arithmetic and the visits of its blocks, and the bytes
 * between memory and blocks, over the limits of a machine. */
#include "runtime/exec/statevector/plan/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/exec/statevector/plan/plan_build.h"
#include "runtime/exec/statevector/plan/plan_stage.h"
#include "runtime/exec/statevector/plan/plan_work.h"

/* Shares of the limits that kernels reach: dense matrices inside a block, streams that wait for rows, and non-temporal
 * stores.  pass_seconds: of all threads over one state, which meet, and its first blocks are far.  ideal: blocks in L1
 * are moved for nothing, and streams go on while the rest is computed. */
struct speeds {
	double kernel, memory, nontemporal, pass_seconds;
	bool ideal;
};
static const struct speeds USUAL = { 0.6, 0.7, 0.8, 5e-5, false }, IDEAL = { 1, 1, 1, 0, true };
/* Operations on an amplitude that take as long as a diagonal step that a dense one takes along (factors of rows), and, for each visit
 * that is for products that flip the same bits and for each product, as their expectations in a pass, as sums of products of Z near,
 * and as lambda. */
static const double ALONG_FLOPS = 0.7, READ_FLOPS = 10, READ_TERM_FLOPS = 0.6, NEAR_FLOPS = 14,
		    NEAR_TERM_FLOPS = 0.3, LAMBDA_FLOPS = 17, LAMBDA_TERM_FLOPS = 2;
static const double NEAR_BYTES = 2 << 20;    /* a state of a thread that stays near */

enum { L1_BYTES = 32 << 10 }; /* where the machine does not tell */

struct clock {
	const struct plan *pl;
	const struct plan_limits *l;
	const struct speeds *speeds;
	double amplitude; /* bytes */
	double block;     /* bytes of what is visited again and again */
	double l1_bytes;  /* a block of that size is moved for nothing */
	unsigned nrank_bit; /* bits that number machines: seconds are those of one of them */
	uint64_t rank;      /* these bits, in the stage */
};

static struct clock clock_of(const struct plan *pl, const struct plan_limits *l, bool ideal)
{
	uint64_t l1 = ideal ? cpus_cache(1, NULL) : 0;

	return (struct clock){ .pl = pl,
		.l = l,
		.speeds = ideal ? &IDEAL : &USUAL,
		.amplitude = plan_amplitude_bytes(pl),
		.nrank_bit = l->exchange_gb_s > 0 ? pl->nrank_bit : 0,
		.l1_bytes = !ideal ? 0
			: l1       ? (double)l1
				   : L1_BYTES };
}

/* Seconds of `flops` operations on each of n amplitudes. */
static double arithmetic(const struct clock *t, double n, double flops)
{
	return n * flops
		/ (t->speeds->kernel
			* (t->pl->precision == PRECISION_DOUBLE ? t->l->double_gflop_s
								: t->l->single_gflop_s))
		* 1e-9;
}

/* The same where each amplitude is read and written inside a block. */
static double visit(const struct clock *t, double n, double flops)
{
	double bytes = t->block <= t->l1_bytes ? 0 : n * 2 * t->amplitude;

	return fmax(arithmetic(t, n, flops), bytes / (t->l->l2_gb_s * t->l->nthread) * 1e-9);
}

/* Seconds of bytes that go between a state and its blocks. */
static double stream(const struct clock *t, uint32_t nbit, double bytes)
{
	bool near = ldexp(t->amplitude, (int)nbit - (int)t->nrank_bit)
		<= NEAR_BYTES * (t->pl->shape == SHAPE_SHARED ? t->l->nthread : 1);

	return bytes / (near ? t->l->l2_gb_s * t->l->nthread : t->speeds->memory * t->l->stream_gb_s)
		* 1e-9;
}

static double nontemporal_stores(const struct clock *t, double bytes)
{
	return bytes / (t->speeds->nontemporal * t->l->write_gb_s) * 1e-9;
}

static bool is_fused(const struct clock *t, const struct plan_circuit *c, const struct plan_stage *s)
{
	return s == &c->stage[c->nstage - 1] && plan_fuses_last(t->pl, c);
}

/* A step on n amplitudes of the blocks; diagonal ones wait for a dense one that takes them along, but for those with a bit
 * in the lanes, which visit half of the rows.  on_zero: all of its qubits are |0> before. */
static double step_forward(const struct clock *t, const struct plan_step *s, double n,
	uint64_t lanes, bool on_zero, unsigned *waiting)
{
	unsigned flags = t->pl->set.def[s->matrix]->flags, along = *waiting;

	if ((flags & MATRIX_DIAGONAL) && (plan_controls(t->pl, s) & lanes))
		return visit(t, n / 2, 6);
	if (flags & MATRIX_DIAGONAL) {
		(*waiting)++;
		return 0;
	}
	*waiting = 0;
	if (on_zero && !along && !s->ncontrol && !(flags & MATRIX_PERMUTATION))
		return visit(t, n / 2, 8);
	return visit(t, ldexp(n, -(int)s->ncontrol), plan_cost(s->ntarget, flags)) + (along ? visit(t, n, 6) / 2 : 0)
		+ arithmetic(t, n, ALONG_FLOPS * along);
}

static double step_back(const struct clock *t, const struct plan_step *s, double n)
{
	unsigned flags = t->pl->set.def[s->matrix]->flags;
	double transition = plan_transition_cost(s->ntarget, flags);

	n = ldexp(n, -(int)s->ncontrol);
	if (s->tail)
		return visit(t, n, plan_cost(s->ntarget, flags));
	return (s->undo ? 2 * visit(t, n, plan_cost(s->ntarget, flags)) : 0)
		+ (s->transition ? visit(t, n, transition) : 0);
}

static bool is_permutation(const struct plan *pl, const struct plan_step *s)
{
	const struct matrix *m = pl->set.def[s->matrix];

	return m->cls == VALUE_CONSTANT && (m->flags & MATRIX_PERMUTATION) && !(m->flags & MATRIX_DIAGONAL);
}

/* Is step k a permutation that may be done when the block is put back? */
static bool at_the_end(const struct plan *pl, const struct plan_circuit *c, const struct plan_stage *s, uint32_t k)
{
	uint64_t targets = plan_targets(pl, &c->step[k]), controls = plan_controls(pl, &c->step[k]);

	if (!is_permutation(pl, &c->step[k]) || c->step[k].ncontrol > 1)
		return false;
	for (uint32_t j = k + 1; j < s->first + s->count; j++) {
		uint64_t other = plan_targets(pl, &c->step[j]);

		if (!is_permutation(pl, &c->step[j])
			&& ((targets & (other | plan_controls(pl, &c->step[j])))
				|| (controls & other)))
			return false;
	}
	return true;
}

/* Seconds of one pass over a stage's blocks: inside them, of streams that go on meanwhile, and of those that do not. */
struct pass {
	double inside, meanwhile, after;
};

/* live: bits that steps before have made nonzero; those of the stage are added. */
static struct pass stage_forward(const struct clock *t, const struct plan_circuit *c,
	const struct plan_stage *s, uint64_t *live)
{
	uint64_t local = plan_local(s), before = *live, lanes = plan_lanes_inside(t->pl, s), all;
	unsigned waiting = 0;
	struct pass p = { 0 };

	for (uint32_t k = s->first; k < s->first + s->count; k++)
		*live |= plan_targets(t->pl, &c->step[k]);
	all = (*live | local | lanes) & ~t->rank;
	double n = ldexp(1, (int)bits_count(all));
	double read = ldexp(n, -(int)bits_count(local & ~before));
	bool nontemporal = read < n && t->amplitude * n > t->pl->nontemporal_bytes;
	for (uint32_t k = s->first; k < s->first + s->count; k++) {
		uint64_t own = plan_targets(t->pl, &c->step[k]);
		unsigned idle = own
			? bits_count(local & ~before & ~own & ~plan_controls(t->pl, &c->step[k]))
			: 0;

		if (!at_the_end(t->pl, c, s, k)) {
			p.inside += step_forward(t, &c->step[k], ldexp(n, -(int)idle), lanes,
				own && !(own & before), &waiting);
			before |= own;
		}
	}
	p.inside += waiting * visit(t, n, 3) + 2 * visit(t, nontemporal ? read : n, 0);
	if (s == &c->stage[c->nstage - 1] && plan_sums_near(c))
		p.inside += arithmetic(t, n, NEAR_FLOPS + NEAR_TERM_FLOPS * c->nterm);
	if (t->pl->shape == SHAPE_SHARED) /* threads without a block wait */
		p.inside *= fmax(1,
			t->l->nthread / ldexp(1, (int)bits_count(all) - (int)bits_count(local)));
	double written = t->amplitude * (n - read);
	p.meanwhile = stream(t, c->nbit, 2 * t->amplitude * read);
	if (nontemporal) /* stores go on while the rest is computed */
		p.meanwhile += nontemporal_stores(t, written);
	else if (t->speeds->ideal)
		p.meanwhile += stream(t, c->nbit, written);
	else /* a cache reads what it is to write */
		p.after += stream(t, c->nbit, 2 * written);
	return p;
}

/* live: bits that steps before have made nonzero. */
static struct pass stage_back(const struct clock *t, const struct plan_circuit *c,
	const struct plan_stage *s, uint64_t live)
{
	uint64_t local = plan_local(s), left = plan_left(t->pl, c, s->first);
	struct plan_visited v = plan_visit(t->pl, c, s);
	struct pass p = { 0 };
	double nontemporal, moved = plan_moved_back(t->pl, c, s, &nontemporal);
	double share = ldexp(1,
		-(int)bits_count(t->rank & (plan_nonzero(t->pl, c, s->first + s->count) | left)));

	v.back *= share;
	v.kept *= share;
	for (uint32_t k = s->first; k < s->first + s->count; k++) {
		uint64_t own = plan_targets(t->pl, &c->step[k]);
		unsigned idle = own
			? bits_count(local & ~(live | left | own | plan_controls(t->pl, &c->step[k])))
			: 0;

		p.inside += step_back(t, &c->step[k], ldexp(v.back, -(int)idle));
		live |= own;
	}
	if (!moved)
		return (struct pass){ 0 };
	p.inside += (is_fused(t, c, s) ? 0 : 2 * visit(t, v.back, 0))
		+ (plan_duties(c, s).undo ? 2 * visit(t, v.kept, 0) : 0);
	p.meanwhile = stream(t, c->nbit, t->amplitude * share * (moved - nontemporal))
		+ nontemporal_stores(t, t->amplitude * share * nontemporal);
	return p;
}

static double pass_seconds(const struct clock *t, const struct pass *p)
{
	double seconds = fmax(p->inside, p->meanwhile) + p->after;

	return seconds > 0 && t->pl->shape == SHAPE_SHARED ? seconds + t->speeds->pass_seconds
							   : seconds;
}

/* Both passes of a stage; live as for stage_forward.  A fused stage is one pass: of its backward pass counts what it adds. */
static struct plan_seconds stage_seconds(const struct clock *whole, const struct plan_circuit *c,
	const struct plan_stage *s, uint64_t *live)
{
	struct clock t = *whole;
	uint64_t before = *live;
	struct plan_seconds sum;

	t.rank = t.nrank_bit ? c->segment[s->segment].rank : 0;
	t.block = ldexp(t.amplitude, (int)bits_count(plan_local(s) | plan_lanes_inside(t.pl, s)));
	struct pass forward = stage_forward(&t, c, s, live);
	t.block *= 2;
	struct pass back = stage_back(&t, c, s, before);
	sum.forward = pass_seconds(&t, &forward);
	sum.back = pass_seconds(&t, &back);
	if (!is_fused(&t, c, s))
		return sum;
	if (t.speeds->ideal) {
		back.inside += forward.inside;
		back.meanwhile += forward.meanwhile;
		sum.back = pass_seconds(&t, &back) - sum.forward;
	} else if (t.pl->shape == SHAPE_SHARED && sum.back > 0) {
		sum.back -= t.speeds->pass_seconds;
	}
	return sum;
}

/* Of a state that is one block from the first step to the last. */
static struct plan_seconds whole_seconds(struct clock *t, const struct plan_circuit *c, double n)
{
	struct plan_seconds sum = { 0 };
	unsigned waiting = 0;

	t->block = n * t->amplitude * t->pl->width;
	for (uint32_t k = c->nstart; k < c->nstep; k++)
		if (c->step[k].op == STEP_UNITARY)
			sum.forward += step_forward(t, &c->step[k], n, 0, false, &waiting);
	t->block *= 2;
	for (uint32_t k = c->nstart; k < c->nstep; k++)
		if (c->step[k].op == STEP_UNITARY)
			sum.back += step_back(t, &c->step[k], n);
	return sum;
}

/* Readouts and lambda: passes of their own, but for sums that the last stage has made. */
static struct plan_seconds outputs(const struct clock *t, const struct plan_circuit *c, double n)
{
	double whole = stream(t, c->nbit, t->amplitude * n);
	double sums = arithmetic(t, n, READ_FLOPS * (1 + c->nflip) + READ_TERM_FLOPS * c->nterm);
	double lambda = arithmetic(t, n, LAMBDA_FLOPS * c->nflip + LAMBDA_TERM_FLOPS * c->nterm);

	return (struct plan_seconds){ plan_sums_near(c) ? plan_has_probs(c) ? whole : 0
							: fmax(whole, sums),
		plan_lambda_near(c) ? 0 : fmax(2 * whole, lambda) };
}

/* Bits that are in the lanes of a state whose bits are at these places. */
static uint64_t lanes_of(const struct plan *pl, const struct plan_circuit *c, const uint8_t *place)
{
	uint64_t lanes = 0;

	for (unsigned b = 0; b < c->nbit; b++)
		lanes |= (uint64_t)(UINT64_C(1) << place[b] < plan_lanes(pl)) << b;
	return lanes;
}

/* Only whole vectors are read and written: `amplitudes` of `bits`, and those with other bits in the lanes. */
static double whole_vectors(double amplitudes, uint64_t bits, uint64_t lanes)
{
	return ldexp(amplitudes, __builtin_popcountll(lanes & ~bits));
}

static void stage_pass(const struct plan *pl, const struct plan_circuit *c, const struct plan_stage *s, bool back, double *flops,
	double *amplitudes)
{
	struct plan_visited v = plan_visit(pl, c, s);
	double nontemporal;

	*amplitudes = back ? plan_moved_back(pl, c, s, &nontemporal)
			   : whole_vectors(plan_visit_read(&v), v.live, lanes_of(pl, c, s->place))
			+ whole_vectors(v.there,
				v.live | v.local | plan_nonzero(pl, c, s->first + s->count),
				v.lanes | lanes_of(pl, c, s->after));
	for (uint32_t k = s->first; k < s->first + s->count; k++) {
		struct plan_visited_step n = plan_visit_step(pl, &v, &c->step[k]);

		*flops += back ? n.back_flops : n.forward_flops;
	}
	*flops += back ? 0 : v.waits;
}

void plan_pass(const struct plan *pl, const struct plan_circuit *c, uint32_t k, bool back, double *flops, double *bytes)
{
	double amplitudes = 0;

	*flops = 0;
	if (c->device) {
		const struct plan_device_work *w = &c->device->part[back][k];

		*flops = w->flops[0] + w->flops[1];
		*bytes = w->read + w->written;
		return;
	}
	if (k < c->nstage)
		stage_pass(pl, c, &c->stage[k], back, flops, &amplitudes);
	else if (!plan_lambda_near(c) && !(back && c->first_transition == c->nstep))
		amplitudes = ldexp(back ? 2 : 1, (int)c->nbit);
	*bytes = amplitudes * plan_amplitude_bytes(pl);
}

static void circuit_seconds(struct clock *t, const struct plan_circuit *c,
	struct plan_seconds *stage, struct plan_seconds *all)
{
	const struct plan *pl = t->pl;
	uint64_t live = plan_nonzero(pl, c, c->nstart);

	*all = stage[c->nstage] = (struct plan_seconds){ 0 };
	if (pl->shape == SHAPE_BATCHED)
		*all = whole_seconds(t, c, ldexp(1, (int)c->nbit));
	for (uint32_t k = c->nstart_stage; k < c->nstage; k++) {
		stage[k] = stage_seconds(t, c, &c->stage[k], &live);
		all->forward += stage[k].forward;
		all->back += stage[k].back;
	}
}

/* Half of arithmetic and memory at the same time. */
static double part_seconds(const struct plan *pl, const struct plan_limits *l,
	const struct plan_circuit *c, uint32_t part, bool back)
{
	struct plan_span s = plan_device_part_seconds(pl, l, c, part, back);

	return (s.least + s.most) / 2 / pl->width;
}

/* The first state and readouts are one: the last. */
static void device_seconds(const struct plan *pl, const struct plan_circuit *c,
	const struct plan_limits *l, struct plan_seconds *stage, struct plan_seconds *all)
{
	memset(stage, 0, (c->nstage + (size_t)1) * sizeof *stage);
	*all = (struct plan_seconds){ 0 };
	for (uint32_t k = 0; k < c->nstage + PLAN_DEVICE_PARTS; k++) {
		struct plan_seconds s = { part_seconds(pl, l, c, k, false),
			part_seconds(pl, l, c, k, true) };
		struct plan_seconds *to = &stage[k < c->nstage ? k : c->nstage];

		to->forward += s.forward;
		to->back += s.back;
		all->forward += s.forward;
		all->back += s.back;
	}
}

void plan_seconds(const struct plan *pl, const struct plan_circuit *c, const struct plan_limits *l,
	struct plan_seconds *stage, struct plan_seconds *all)
{
	struct clock t = clock_of(pl, l, false);

	if (c->device) {
		device_seconds(pl, c, l, stage, all);
		return;
	}
	circuit_seconds(&t, c, stage, all);
	if (!plan_has_tail(c))
		stage[c->nstage] = outputs(&t, c, ldexp(1, (int)c->nbit - (int)t.nrank_bit));
	all->forward += stage[c->nstage].forward;
	all->back += stage[c->nstage].back;
}

double plan_floor(const struct plan *pl, bool gradient, uint64_t nsample, const struct plan_limits *l)
{
	struct clock t = clock_of(pl, l, true);
	uint64_t nunit = plan_units(pl, nsample);
	double sample = 0;

	if (plan_on_device(pl))
		return plan_device_seconds(pl, l, nsample, gradient).least;
	for (uint32_t k = 0; k < pl->ncircuit; k++) {
		const struct plan_circuit *c = &pl->circuit[k];
		mem_auto struct plan_seconds *stage = mem_alloc(c->nstage + 1, sizeof *stage);
		struct plan_seconds all;

		circuit_seconds(&t, c, stage, &all);
		sample += all.forward + (gradient ? all.back : 0);
	}
	if (pl->shape == SHAPE_SHARED)
		return sample * (double)nsample;
	/* A unit is one thread's: threads that have none wait. */
	return sample * pl->width * (double)((nunit + l->nthread - 1) / l->nthread * l->nthread);
}

struct plan_limits plan_usual_limits(const struct target *t, unsigned nthread)
{
	const double device = t->usual_stream_gb_s, flops = t->usual_gflop_s;

	if (device > 0)
		return (struct plan_limits){ .nthread = 1,
			.stream_gb_s = device,
			.write_gb_s = device,
			.l2_gb_s = 2 * device,
			.single_gflop_s = flops,
			.double_gflop_s = flops / 2,
			.link_gb_s = 25,
			.convert_g_s = flops / 8,
			.units = 100,
			.launch_us = 4,
			.copy_us = 8,
			.wait_us = 10 };
	return (struct plan_limits){ .nthread = nthread,
		.stream_gb_s = 25 * nthread,
		.write_gb_s = 20 * nthread,
		.l2_gb_s = 50,
		.single_gflop_s = flops * nthread,
		.double_gflop_s = flops * nthread / 2 };
}
