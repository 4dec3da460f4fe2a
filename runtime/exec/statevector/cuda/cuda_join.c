/* SPDX-License-Identifier: Apache-2.0
 * Both passes of small states in one launch: the rounds of the forward launch, then those of the
 * backward launch. */
#include "config.h"
#include "runtime/exec/statevector/cuda/cuda_state.h"

#include <string.h>

/* The kernel has to compute the gradient of the loss; each pass has to be one launch, forward from
 * |0...0>, with whole samples in each block; and the arguments of one launch have to hold both. */
static bool can_join(const struct cuda_state *b, const struct cuda_circuit *c)
{
	const struct cuda_launch *f = c->forward[0], *g = c->back[0];

	return c->has_loss && c->starts && c->plan->nstage == 1 && !f->next && !g->next
		&& !f->args.nouter && !g->args.nouter
		&& f->args.nround + g->args.nround <= CUDA_ROUNDS_MAX
		&& f->nplaced + g->nplaced <= CUDA_OPS_MAX
		&& (size_t)(f->nentry + g->nentry) * cuda_amplitude_bytes(b) <= CUDA_MATRIX_BYTES
		&& c->nproduct <= CUDA_JOINED_PRODUCTS_MAX;
}

/* Appends the rounds, ops and matrices of l to those of *to. */
static void append(struct cuda_launch *to, const struct cuda_launch *l)
{
	struct cuda_stage_args *a = &to->args;

	for (uint32_t k = 0; k < l->args.nround; k++) {
		struct cuda_round *r = &a->round[a->nround++];

		*r = l->args.round[k];
		r->first = (uint16_t)(r->first + to->nplaced);
	}
	for (uint32_t k = 0; k < l->nplaced; k++) {
		struct cuda_op *o = &a->op[to->nplaced];

		*o = l->args.op[k];
		o->entry = (uint16_t)(o->entry + (o->of_sample ? a->nsample_entry : to->nentry));
		if (!l->placed[k].back) /* lambda is still 0 */
			o->undo = CUDA_UNDO_PSI;
		to->placed[to->nplaced] = l->placed[k];
		to->placed[to->nplaced++].op = o;
	}
	to->nentry = (uint16_t)(to->nentry + l->nentry);
	a->nsample_entry = (uint16_t)(a->nsample_entry + l->args.nsample_entry);
}

void cuda_join_passes(struct cuda_state *b, struct cuda_circuit *c)
{
	const struct cuda_stage_args *f, *g;
	struct cuda_stage_args *a;

	if (!can_join(b, c))
		return;
	f = &c->forward[0]->args;
	g = &c->back[0]->args;
	c->joined = arena_alloc(&b->arena, 1, sizeof *c->joined);
	a = &c->joined->args;
	append(c->joined, c->forward[0]);
	append(c->joined, c->back[0]);
	/* Tiles have the lowest bits of the index: save_at and load_at are also tile bits. */
	cuda_layout_exchange(b->plan, f->save_at, g->load_at, a->round[f->nround - 1].put,
		a->round[f->nround].get);
	memcpy(a->load_at, f->load_at, sizeof a->load_at);
	memcpy(a->save_at, g->save_at, sizeof a->save_at);
	a->nnear = g->nnear;
	a->sample_at = g->sample_at;
	a->nsum = g->nsum;
	a->nsample_sum = g->nsample_sum;
	a->save = g->save;
	a->zero = f->zero;
	a->start = f->start;
	a->lambda_from = CUDA_LAMBDA_PRODUCTS;
	a->nforward = f->nround;
	a->read_regs = f->products.regs;
	memcpy(a->read, f->products.product, c->nproduct * sizeof *a->read);
	a->products = g->products;
	a->products.n = (uint16_t)c->nproduct;
	c->joined->bits = c->forward[0]->bits;
}
