/* SPDX-License-Identifier: Apache-2.0
 * From networks and trees to tensors in memory. */
#include "runtime/exec/tensor/tensor_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	KEPT_BYTES = 64 << 20, /* tensors of all terms of a worker, at most */
	LANES_ENTRIES = 1 << 17, /* of the widest tensor: larger ones are contracted sample by sample */
	ENTRY_OPERATIONS = 4,        /* that writing and reading an entry is worth */
	CONTRACTION_OPERATIONS = 60, /* that beginning a contraction is worth */
	LARGE_WORK = 1 << 20,        /* multiplications that are worth waking other threads for */
	SLICE_WORK = 1 << 20,        /* of a unit of terms, at least */
	SLICES_MAX = 64
};

/* ---- what depends on weights ---- */

/* Of all matrices that there are by now. */
static void find_depends(struct tensor_plan *pl)
{
	const struct program *p = pl->set.program;

	if (pl->ndepends == pl->set.set.n)
		return;
	mem_auto bool *expr = mem_alloc(p->nexpr + 1, sizeof *expr);

	program_trained(p, expr);
	pl->ndepends = pl->set.set.n;
	pl->depends = arena_alloc(&pl->arena, pl->ndepends, sizeof *pl->depends);
	for (uint32_t m = 0; m < pl->ndepends; m++)
		pl->depends[m] = matrix_has(pl->set.set.def[m], pl->depends, expr);
}

/* ---- one contraction ---- */

/* Offsets of all values of the chosen legs of a tensor, the last fastest. */
static const uint32_t *offsets(struct tensor_plan *pl, const struct network *n,
	const struct tensor_node *x, const uint32_t *chosen, uint32_t nchosen, uint32_t *count)
{
	mem_auto uint32_t *stride = mem_alloc(nchosen + 1, sizeof *stride);
	mem_auto uint32_t *place = mem_alloc(nchosen + 1, sizeof *place);
	uint32_t size = 1, at = 0;

	for (uint32_t k = 0; k < nchosen; k++) {
		uint32_t s = 1;

		for (uint32_t i = x->nleg; i-- > 0 && x->leg[i] != chosen[k];)
			s *= n->edge[x->leg[i]].nvalue;
		stride[k] = s;
		size *= n->edge[chosen[k]].nvalue;
	}
	uint32_t *out = arena_alloc(&pl->arena, size, sizeof *out);
	for (uint32_t i = 0; i < size; i++) {
		out[i] = at;
		for (uint32_t k = nchosen; k-- > 0;) {
			at += stride[k];
			if (++place[k] < n->edge[chosen[k]].nvalue)
				break;
			at -= place[k] * stride[k];
			place[k] = 0;
		}
	}
	*count = size;
	return out;
}

static bool has_leg(const uint32_t *leg, uint32_t n, uint32_t e)
{
	for (uint32_t k = 0; k < n; k++)
		if (leg[k] == e)
			return true;
	return false;
}

static const uint32_t *children(const struct tensor_term *t, uint32_t node)
{
	return t->tree.child[node - t->network->nleaf];
}

/* Legs of A alone, then of B alone. */
static void join_legs(struct tensor_plan *pl, struct tensor_term *t, uint32_t node)
{
	struct tensor_node *x = &t->node[node];
	const struct tensor_node *a = &t->node[children(t, node)[0]];
	const struct tensor_node *b = &t->node[children(t, node)[1]];
	uint32_t *leg = arena_alloc(&pl->arena, a->nleg + b->nleg, sizeof *leg);

	for (uint32_t k = 0; k < a->nleg; k++)
		if (!has_leg(b->leg, b->nleg, a->leg[k]))
			leg[x->nleg++] = a->leg[k];
	for (uint32_t k = 0; k < b->nleg; k++)
		if (!has_leg(a->leg, a->nleg, b->leg[k]))
			leg[x->nleg++] = b->leg[k];
	x->leg = leg;
	x->size = 1;
	for (uint32_t k = 0; k < x->nleg; k++)
		x->size *= t->network->edge[leg[k]].nvalue;
	x->by_sample = a->by_sample || b->by_sample;
	x->trained = a->trained || b->trained;
}

/* The product of rows, columns and sums is the square root of that of the sizes. */
static void count_contraction(struct tensor_plan *pl, const struct tensor_term *t, uint32_t node)
{
	const struct tensor_node *x = &t->node[node];
	double a = (double)t->node[children(t, node)[0]].size,
	       b = (double)t->node[children(t, node)[1]].size, c = (double)x->size;
	double work = sqrt(a * b * c);

	*(x->by_sample ? &pl->sample_work : &pl->shared_work) += work;
	pl->nsample_node += x->by_sample;
	pl->table_entries += 2 * (work / a + work / b + work / c);
}

/* Sizes and kinds of all tensors of a term. */
static void size_term(struct tensor_plan *pl, struct tensor_term *t)
{
	uint32_t nleaf = t->network->nleaf;

	t->node = arena_alloc(&pl->arena, t->tree.nnode, sizeof *t->node);
	for (uint32_t k = 0; k < t->tree.nnode; k++) {
		struct tensor_node *x = &t->node[k];

		if (k < nleaf) {
			const struct network_leaf *f = &t->network->leaf[k];
			const struct transfer *tr = &pl->set.transfer[f->transfer];

			*x = (struct tensor_node){ .leg = f->leg,
				.nleg = f->nleg,
				.size = f->size,
				.by_sample = tr->cls == VALUE_SAMPLE,
				.trained = pl->depends[tr->matrix] };
		} else {
			join_legs(pl, t, k);
			count_contraction(pl, t, k);
		}
		pl->widest = (double)x->size > pl->widest ? (double)x->size : pl->widest;
		*(x->by_sample ? &pl->sample_entries : &pl->shared_entries) += (double)x->size;
	}
}

static void list_offsets(struct tensor_plan *pl, struct tensor_term *t, uint32_t node)
{
	struct tensor_node *x = &t->node[node];
	const struct tensor_node *a = &t->node[children(t, node)[0]];
	const struct tensor_node *b = &t->node[children(t, node)[1]];
	mem_auto uint32_t *sum = mem_alloc(a->nleg + 1, sizeof *sum);
	uint32_t nsum = 0, same;

	for (uint32_t k = 0; k < a->nleg; k++)
		if (has_leg(b->leg, b->nleg, a->leg[k]))
			sum[nsum++] = a->leg[k];
	uint32_t nrow = a->nleg - nsum, ncolumn = b->nleg - nsum;
	const uint32_t *column = x->leg + nrow;

	x->a_row = offsets(pl, t->network, a, x->leg, nrow, &x->m);
	x->a_column = offsets(pl, t->network, a, sum, nsum, &x->k);
	x->b_row = offsets(pl, t->network, b, sum, nsum, &same);
	x->b_column = offsets(pl, t->network, b, column, ncolumn, &x->n);
	x->c_row = offsets(pl, t->network, x, x->leg, nrow, &same);
	x->c_column = offsets(pl, t->network, x, column, ncolumn, &same);
	double work = (double)x->m * x->n * x->k;
	x->large = work * (x->by_sample ? pl->lanes : 1) >= LARGE_WORK;
	if (x->large)
		*(x->by_sample ? &pl->sample_large : &pl->shared_large) +=
			work / (x->by_sample ? pl->sample_work : pl->shared_work);
}

/* ---- memory ---- */

static void place_term(struct tensor_plan *pl, struct tensor_term *t, size_t *nsample)
{
	size_t gradient_sample = 0, gradient_shared = 0;

	for (uint32_t k = 0; k < t->tree.nnode; k++) {
		struct tensor_node *x = &t->node[k];
		size_t *n = x->by_sample ? nsample : &pl->nshared;
		size_t *g = x->by_sample ? &gradient_sample : &gradient_shared;

		x->at = *n;
		*n += x->size;
		x->gradient_at = *g;
		if (x->trained)
			*g += x->size;
	}
	if (gradient_sample > pl->ngradient_sample)
		pl->ngradient_sample = gradient_sample;
	if (gradient_shared > pl->ngradient_shared)
		pl->ngradient_shared = gradient_shared;
}

/* As many as are worth other threads, whatever their number. */
static uint32_t slices(const struct tensor_plan *pl)
{
	double n = pl->shared_work / SLICE_WORK;
	uint32_t most = pl->set.nterm < SLICES_MAX ? pl->set.nterm : SLICES_MAX;

	return n < 2 || most < 2 ? 0 : n < most ? (uint32_t)n : most;
}

static void place_all(struct tensor_plan *pl, const struct evaluator_options *o)
{
	bool samples = false;
	size_t most = 0;

	for (uint32_t k = 0; k < pl->set.ntransfer; k++)
		samples |= pl->set.transfer[k].cls == VALUE_SAMPLE;
	pl->lanes = samples && !o->lanes_never && pl->widest <= LANES_ENTRIES ? CONTRACTION_LANES : 1;
	pl->keeps =
		!o->tensors_again && pl->sample_entries * pl->lanes * sizeof(double) <= KEPT_BYTES;
	for (uint32_t k = 0; k < pl->set.nterm; k++) {
		size_t n = pl->keeps ? pl->nsample : 0;

		place_term(pl, &pl->term[k], &n);
		most = n > most ? n : most;
		if (pl->keeps)
			pl->nsample = n;
	}
	pl->nsample = most;
	if (!samples)
		pl->nslice = slices(pl);
}

/* A contraction has two products in the backward pass. */
static double passes(bool gradient) { return gradient ? 3 : 1; }

struct search {
	struct tensor_plan *pl;
	struct contraction_search *search;
};

/* Tree and sizes of term k, behind those before it. false: see tensor_plan_within. */
static bool find_tree(void *ctx, uint32_t k)
{
	const struct search *by = ctx;
	struct tensor_plan *pl = by->pl;
	struct contraction_search *s = by->search;

	if (!k) {
		pl->term = arena_alloc(&pl->arena, pl->set.nterm, sizeof *pl->term);
		s->nnetwork = pl->set.nterm;
	}
	find_depends(pl);
	struct tensor_term *t = &pl->term[k];
	t->network = &pl->set.term[k].network;
	if (!contraction_tree_find(t->network, s, &pl->arena, &t->tree) || t->tree.widest > UINT32_MAX)
		return false;
	size_term(pl, t);
	return s->sample_work * pl->sample_work + s->shared_work * pl->shared_work <= s->most_work;
}

static struct tensor_plan *make_plan(const struct program *p, const struct evaluator_options *o,
	struct contraction_search *s)
{
	struct tensor_plan *pl = mem_alloc(1, sizeof *pl);
	struct search by = { pl, s };

	if (network_build(&pl->set, p, o->trajectories != TRAJECTORIES_NONE, &pl->arena, find_tree,
		    &by)) {
		find_depends(pl); /* where no readout depends on a circuit */
		place_all(pl, o);
		return pl;
	}
	tensor_plan_free(pl);
	return NULL;
}

struct tensor_plan *tensor_plan_new(const struct program *p, const struct evaluator_options *o)
{
	return make_plan(p, o, &(struct contraction_search){ .most_work = INFINITY });
}

struct tensor_plan *tensor_plan_within(const struct program *p, const struct evaluator_options *o,
	uint32_t nsample, bool gradient, double most)
{
	double shared = 1 + (gradient ? 2.0 * nsample / CONTRACTION_LANES : 0);

	return make_plan(p, o,
		&(struct contraction_search){ .sample_work = 2 * passes(gradient),
			.shared_work = 2 * shared / nsample,
			.most_work = most });
}

void tensor_plan_offsets(struct tensor_plan *pl)
{
	pl->sample_large = pl->shared_large = 0;
	for (uint32_t k = 0; k < pl->set.nterm; k++)
		for (uint32_t i = pl->term[k].network->nleaf; i < pl->term[k].tree.nnode; i++)
			list_offsets(pl, &pl->term[k], i);
}

void tensor_plan_free(struct tensor_plan *pl)
{
	if (pl)
		arena_release(&pl->arena);
	free(pl);
}

/* ---- what it takes ---- */

/* Backward passes of a batch over the contractions that do not differ between samples: of each unit of samples, or of all units of
 * terms together. */
static double shared_passes(const struct tensor_plan *pl, uint32_t nsample, bool gradient)
{
	if (!gradient)
		return 0;
	return pl->nslice ? 1 : (nsample + pl->lanes - 1) / pl->lanes;
}

double tensor_plan_flops(const struct tensor_plan *pl, uint32_t nsample, bool gradient)
{
	double units = shared_passes(pl, nsample, gradient);

	return 2 * passes(gradient) * pl->sample_work * nsample
		+ 2 * pl->shared_work * (1 + 2 * units);
}

double tensor_plan_effort(const struct tensor_plan *pl, uint32_t nsample, bool gradient)
{
	double units = shared_passes(pl, nsample, gradient);
	double moved = pl->sample_entries * passes(gradient) * nsample
		+ pl->shared_entries * (1 + 2 * units);

	return tensor_plan_flops(pl, nsample, gradient) + ENTRY_OPERATIONS * moved
		+ CONTRACTION_OPERATIONS * (double)pl->nsample_node * passes(gradient) * nsample;
}

double tensor_plan_bytes(const struct tensor_plan *pl, unsigned nworker, bool gradient)
{
	double entries = (double)pl->nsample * pl->lanes;

	if (gradient)
		entries += (double)pl->ngradient_sample * pl->lanes + (double)pl->ngradient_shared;
	return sizeof(double) * ((double)pl->nshared + nworker * entries)
		+ sizeof(uint32_t) * pl->table_entries;
}
