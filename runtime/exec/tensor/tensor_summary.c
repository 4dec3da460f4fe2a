/* SPDX-License-Identifier: Apache-2.0
 * Counts and prints what a tensor plan does. */
#include "runtime/exec/tensor/tensor_summary.h"

#include "runtime/exec/tensor/tensor_plan.h"

static void count(const struct tensor_plan *pl, struct tensor_summary *s)
{
	for (uint32_t k = 0; k < pl->set.nterm; k++) {
		const struct tensor_term *t = &pl->term[k];

		s->ngate += t->network->nleaf;
		for (uint32_t i = t->network->nleaf; i < t->tree.nnode; i++) {
			s->ncontraction++;
			s->nsample_contraction += t->node[i].by_sample;
		}
	}
}

bool tensor_summary(const struct engine_problem *p, struct tensor_summary *out)
{
	struct tensor_plan *pl =
		engine_tensor.obstacle(p) ? NULL : tensor_plan_new(p->program, p->options);
	uint32_t n = p->nsample ? p->nsample : tensor_usual_samples(p->program);
	bool gradient = p->options->gradient != GRADIENT_NONE;

	if (!pl)
		return false;
	*out = (struct tensor_summary){ .batch = n,
		.nnetwork = pl->set.nterm,
		.width = pl->lanes,
		.forward_flops = tensor_plan_flops(pl, n, false) / n,
		.gradient_flops = tensor_plan_flops(pl, n, true) / n,
		.largest = pl->widest,
		.shared_bytes = tensor_plan_bytes(pl, 0, gradient) };
	out->thread_bytes = tensor_plan_bytes(pl, 1, gradient) - out->shared_bytes;
	count(pl, out);
	tensor_plan_free(pl);
	return true;
}

int tensor_memory(const struct engine_problem *p, double *nbyte)
{
	struct tensor_summary s;

	if (!tensor_summary(p, &s))
		return -ERR_CONFIG;
	*nbyte = s.shared_bytes + s.thread_bytes; /* threads share it where there is no more */
	return 0;
}

void tensor_summary_print(const struct engine_problem *p, const struct tensor_summary *s,
	struct buf *out)
{
	buf_printf(out, "kernels    %s, double precision\n",
		target_or_best(p->options->target)->kernels);
	buf_printf(out, "unit       %u sample%s\n", s->width, s->width == 1 ? "" : "s");
	buf_printf(out, "networks   %u, of %u gate%s\n", s->nnetwork, s->ngate,
		s->ngate == 1 ? "" : "s");
	buf_printf(out, "trees      %u contraction%s, %u of them for each sample\n",
		s->ncontraction, s->ncontraction == 1 ? "" : "s", s->nsample_contraction);
	buf_printf(out, "flops      %.4g forward, %.4g with gradient, a sample in batches of %u\n",
		s->forward_flops, s->gradient_flops, s->batch);
	buf_printf(out, "tensors    the largest of %.4g entries, %.4g bytes\n", s->largest,
		8 * s->largest);
	buf_printf(out, "memory     %.4g bytes for each thread, %.4g for all\n", s->thread_bytes,
		s->shared_bytes);
}
