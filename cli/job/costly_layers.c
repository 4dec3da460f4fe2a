/* SPDX-License-Identifier: Apache-2.0
 * Plans a model again without some gates of one layer: those that join a qubit that another gate of the layer has joined before. */
#include "cli/job/costly_layers.h"

#include <stdlib.h>

#include "runtime/base/arena.h"
#include "runtime/base/order.h"
#include "runtime/exec/tensor/tensor_summary.h"

/* Does another gate of the layer, that is kept, join one of its qubits with others? partner: of each qubit, the gate's first wire + 1. */
static bool is_second(const struct apply *a, uint32_t *partner)
{
	uint32_t least = a->wire[0], most = a->wire[0];

	for (unsigned k = 1; k < a->nwire; k++) {
		least = a->wire[k] < least ? a->wire[k] : least;
		most = a->wire[k] > most ? a->wire[k] : most;
	}
	for (unsigned k = 0; k < a->nwire; k++) {
		uint32_t w = a->wire[k], other = w == least ? most : least;

		if (partner[w] && partner[w] != other + 1)
			return true;
	}
	for (unsigned k = 0; k < a->nwire; k++)
		partner[a->wire[k]] = (a->wire[k] == least ? most : least) + 1;
	return false;
}

/* Circuit c without them, its gates in the arena; their number. */
static uint32_t thin(struct arena *a, struct circuit_code *c, uint32_t layer)
{
	mem_auto uint32_t *partner = mem_alloc((size_t)c->nwire + 1, sizeof *partner);
	struct apply *apply = arena_alloc(a, c->napply, sizeof *apply);
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->napply; i++) {
		const struct apply *g = &c->apply[i];
		bool joins = g->op == APPLY_UNITARY && g->layer == layer && g->nwire > 1;

		if (!joins || !is_second(g, partner))
			apply[n++] = *g;
	}
	uint32_t without = c->napply - n;
	c->apply = apply;
	c->napply = n;
	return without;
}

/* *out: without them. False: the layer has none, or its tensors are too large. */
static bool thin_summary(const struct program *p, uint32_t layer, struct tensor_summary *out)
{
	const struct evaluator_options o = { .gradient = p->nweight_circuit ? GRADIENT_ADJOINT
									    : GRADIENT_NONE,
		.method = METHOD_TENSOR };
	struct program thinned = *p;
	struct engine_problem problem = { .program = &thinned, .options = &o };
	arena_auto a = { 0 };
	uint32_t without = 0;

	thinned.circuit = arena_copy(&a, p->circuit, p->ncircuit, sizeof *p->circuit);
	for (uint32_t i = 0; i < p->ncircuit; i++)
		without += thin(&a, &thinned.circuit[i], layer);
	return without && tensor_summary(&problem, out);
}

void costly_layers_find(const struct program *p, double forward_flops, struct costly_layers *out)
{
	out->n = 0;
	for (uint32_t i = 0; i < p->nlayer && i < COSTLY_LAYERS_MAX; i++) {
		struct tensor_summary s;

		if (thin_summary(p, i, &s) && s.forward_flops < forward_flops / 2)
			out->layer[out->n++] = (struct costly_layer){ .path = p->layer[i].path,
				.flops = s.forward_flops,
				.thread_bytes = s.thread_bytes };
	}
	qsort(out->layer, out->n, sizeof *out->layer, order_doubles);
}
