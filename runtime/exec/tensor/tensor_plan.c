/* SPDX-License-Identifier: Apache-2.0
 * From networks and trees to tensors in memory. */
#include "runtime/exec/tensor/tensor_plan.h"

#include <stdlib.h>
#include <string.h>

enum {
	KEPT_BYTES = 64 << 20, /* tensors of all terms of a worker, at most */
	LANES_ENTRIES = 1 << 17, /* of the widest tensor: larger ones are contracted sample by sample */
	ENTRY_OPERATIONS = 4,       /* that writing and reading an entry is worth */
	CONTRACTION_OPERATIONS = 60 /* that beginning a contraction is worth */
};

/* ---- what depends on weights ---- */

static bool item_depends(const struct tensor_plan *pl, const bool *expr, const struct item *it)
{
	if (it->gate == GATE_NONE)
		return pl->depends[it->ref];
	for (unsigned k = 0; k < gate_row(it->gate)->nangle; k++)
		if (expr[it->angle[k]])
			return true;
	return false;
}

static void find_depends(struct tensor_plan *pl)
{
	const struct program *p = pl->set.program;
	mem_auto bool *expr = mem_alloc(p->nexpr + 1, sizeof *expr);

	for (uint32_t i = 0; i < p->nexpr; i++) {
		const struct expr *x = &p->expr[i];
		unsigned n = expr_noperand(x->op);

		expr[i] = x->op == EXPR_WEIGHT || (n > 0 && expr[x->a]) || (n > 1 && expr[x->b]);
	}
	pl->depends = arena_alloc(&pl->arena, pl->set.set.n, sizeof *pl->depends);
	for (uint32_t m = 0; m < pl->set.set.n; m++) {
		const struct matrix *d = pl->set.set.def[m];

		for (uint32_t k = 0; k < d->nitem; k++)
			pl->depends[m] |= item_depends(pl, expr, &d->item[k]);
	}
}

/* ---- one contraction ---- */

/* Offsets of all values of the chosen legs of a tensor whose legs are `all`, the last fastest. */
static const uint32_t *offsets(struct tensor_plan *pl, const struct network *n, const uint32_t *all,
	uint32_t nall, const uint32_t *chosen, uint32_t nchosen, uint32_t *count)
{
	mem_auto uint32_t *stride = mem_alloc(nchosen + 1, sizeof *stride);
	mem_auto uint32_t *place = mem_alloc(nchosen + 1, sizeof *place);
	uint32_t size = 1, at = 0;

	for (uint32_t k = 0; k < nchosen; k++) {
		uint32_t s = 1;

		for (uint32_t i = nall; i-- > 0 && all[i] != chosen[k];)
			s *= n->edge[all[i]].nvalue;
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

/* Of a contraction: legs of A alone, of B alone, of both. legs[], nleg[]: of all nodes; those of this one are made. */
static void plan_contraction(struct tensor_plan *pl, const struct tensor_term *t, uint32_t node,
	uint32_t **legs, uint32_t *nleg)
{
	const uint32_t *child = t->tree.child[node - t->network->nleaf];
	const uint32_t *a = legs[child[0]], *b = legs[child[1]];
	uint32_t na = nleg[child[0]], nb = nleg[child[1]], nrow = 0, ncolumn = 0, nsum = 0, same;
	mem_auto uint32_t *sum = mem_alloc(na + 1, sizeof *sum);
	struct tensor_node *x = &t->node[node];

	legs[node] = arena_alloc(&pl->arena, na + nb, sizeof **legs);
	for (uint32_t k = 0; k < na; k++)
		if (has_leg(b, nb, a[k]))
			sum[nsum++] = a[k];
		else
			legs[node][nrow++] = a[k];
	for (uint32_t k = 0; k < nb; k++)
		if (!has_leg(a, na, b[k]))
			legs[node][nrow + ncolumn++] = b[k];
	nleg[node] = nrow + ncolumn;
	x->a_row = offsets(pl, t->network, a, na, legs[node], nrow, &x->m);
	x->a_column = offsets(pl, t->network, a, na, sum, nsum, &x->k);
	x->b_row = offsets(pl, t->network, b, nb, sum, nsum, &same);
	x->b_column = offsets(pl, t->network, b, nb, legs[node] + nrow, ncolumn, &x->n);
	x->c_row = offsets(pl, t->network, legs[node], nleg[node], legs[node], nrow, &same);
	x->c_column =
		offsets(pl, t->network, legs[node], nleg[node], legs[node] + nrow, ncolumn, &same);
	x->size = (size_t)x->m * x->n;
	x->by_sample = t->node[child[0]].by_sample || t->node[child[1]].by_sample;
	x->trained = t->node[child[0]].trained || t->node[child[1]].trained;
	size_t pack = x->k > x->m ? x->k : x->m;
	pack = pack > x->n ? pack : x->n;
	pl->npack = pl->npack > pack ? pl->npack : pack;
}

static void count_node(struct tensor_plan *pl, const struct tensor_node *x, bool leaf)
{
	double work = leaf ? 0 : (double)x->m * x->n * x->k;

	pl->widest = (double)x->size > pl->widest ? (double)x->size : pl->widest;
	if (x->by_sample) {
		pl->sample_work += work;
		pl->sample_entries += (double)x->size;
		pl->nsample_node++;
	} else {
		pl->shared_work += work;
		pl->shared_entries += (double)x->size;
	}
}

static void plan_term(struct tensor_plan *pl, struct tensor_term *t)
{
	uint32_t nleaf = t->network->nleaf, nnode = t->tree.nnode;
	mem_auto uint32_t **legs = mem_alloc(nnode + 1, sizeof *legs);
	mem_auto uint32_t *nleg = mem_alloc(nnode + 1, sizeof *nleg);

	t->node = arena_alloc(&pl->arena, nnode, sizeof *t->node);
	for (uint32_t k = 0; k < nnode; k++) {
		struct tensor_node *x = &t->node[k];

		if (k < nleaf) {
			const struct network_leaf *f = &t->network->leaf[k];
			const struct transfer *tr = &pl->set.transfer[f->transfer];

			legs[k] = (uint32_t *)f->leg;
			nleg[k] = f->nleg;
			x->size = f->size;
			x->by_sample = tr->cls == VALUE_SAMPLE;
			x->trained = pl->depends[tr->matrix];
		} else {
			plan_contraction(pl, t, k, legs, nleg);
		}
		count_node(pl, x, k < nleaf);
	}
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

static void place_all(struct tensor_plan *pl)
{
	bool samples = false;
	size_t most = 0;

	for (uint32_t k = 0; k < pl->set.ntransfer; k++)
		samples |= pl->set.transfer[k].cls == VALUE_SAMPLE;
	pl->lanes = samples && pl->widest <= LANES_ENTRIES ? CONTRACTION_LANES : 1;
	pl->keeps = pl->sample_entries * pl->lanes * sizeof(double) <= KEPT_BYTES;
	for (uint32_t k = 0; k < pl->set.nterm; k++) {
		size_t n = pl->keeps ? pl->nsample : 0;

		place_term(pl, &pl->term[k], &n);
		most = n > most ? n : most;
		if (pl->keeps)
			pl->nsample = n;
	}
	pl->nsample = most;
}

struct tensor_plan *tensor_plan_new(const struct program *p)
{
	struct tensor_plan *pl = mem_alloc(1, sizeof *pl);

	network_build(&pl->set, p, &pl->arena);
	find_depends(pl);
	pl->term = arena_alloc(&pl->arena, pl->set.nterm, sizeof *pl->term);
	for (uint32_t k = 0; k < pl->set.nterm; k++) {
		struct tensor_term *t = &pl->term[k];

		t->network = &pl->set.term[k].network;
		contraction_tree_find(t->network, &pl->arena, &t->tree);
		if (t->tree.widest > UINT32_MAX) {
			tensor_plan_free(pl);
			return NULL;
		}
		plan_term(pl, t);
	}
	place_all(pl);
	return pl;
}

void tensor_plan_free(struct tensor_plan *pl)
{
	if (pl)
		arena_release(&pl->arena);
	free(pl);
}

/* ---- what it takes ---- */

/* A contraction has two products in the backward pass. */
static double passes(bool gradient) { return gradient ? 3 : 1; }

double tensor_plan_flops(const struct tensor_plan *pl, uint32_t nsample, bool gradient)
{
	double units = gradient ? (nsample + pl->lanes - 1) / pl->lanes : 0;

	return 2 * passes(gradient) * pl->sample_work * nsample
		+ 2 * pl->shared_work * (1 + 2 * units);
}

double tensor_plan_effort(const struct tensor_plan *pl, uint32_t nsample, bool gradient)
{
	double units = gradient ? (nsample + pl->lanes - 1) / pl->lanes : 0;
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
	entries += (double)pl->npack * CONTRACTION_COLUMNS;
	return sizeof(double) * ((double)pl->nshared + nworker * entries);
}
