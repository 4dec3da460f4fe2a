/* SPDX-License-Identifier: Apache-2.0
 * From a program to networks: one for each product of Pauli operators that its readouts are made of. */
#include "runtime/exec/tensor/network_builder.h"

#include <stdlib.h>

enum {
	TERMS_MAX = 4096,
	GATES_MAX = 1 << 22 /* of all networks: about 1 KiB each */
};

/* Of terms first to end - 1. */
static bool build_networks(struct builder *b, uint32_t first, uint32_t end,
	bool (*take)(void *ctx, uint32_t term), void *ctx)
{
	mem_auto struct cone *cone = mem_alloc(end + 1, sizeof *cone);
	bool good = true;

	for (uint32_t k = first; k < end; k++)
		light_cone_find(b, &b->s->term[k], &cone[k]);
	matrix_set_of(&b->s->set, b->p, b->def, b->ndef, b->a);
	for (unsigned k = 0; k < PROBES; k++)
		network_fill_probe(b, k);
	for (uint32_t k = first; k < end && good; k++) {
		network_of_cone(b, &b->s->term[k], &cone[k]);
		good = take(ctx, k);
	}
	return good;
}

/* Lists of the program, before anything is built. */
static struct builder *builder_new(struct network_set *s, const struct program *p, bool noisy,
	struct arena *a)
{
	struct builder *b = mem_alloc(1, sizeof *b);

	b->s = s;
	b->a = a;
	b->p = p;
	b->noisy = noisy;
	*s = (struct network_set){ .program = p };
	s->constant = arena_alloc(a, p->nreadout, sizeof *s->constant);
	light_cones_begin(b);
	return b;
}

bool network_build(struct network_set *s, const struct program *p, bool noisy, struct arena *a,
	bool (*take)(void *ctx, uint32_t term), void *ctx)
{
	mem_auto struct builder *b = builder_new(s, p, noisy, a);

	while (b->ndef < p->nmatrix) {
		b->def = arena_grow(a, b->def, b->ndef, sizeof *b->def);
		b->def[b->ndef] = &p->matrix[b->ndef];
		b->ndef++;
	}
	b->zero = arena_alloc(&b->scratch,
		(size_t)(p->nweight > p->ninput ? p->nweight : p->ninput) + 1, sizeof *b->zero);
	/* The first by itself: most searches that end early end there. */
	uint32_t first = s->nterm > 0;
	bool good = build_networks(b, 0, first, take, ctx)
		&& (first == s->nterm || build_networks(b, first, s->nterm, take, ctx));
	arena_release(&b->scratch);
	return good;
}

/* ---- what can be built ---- */

/* Without a look at light cones where there cannot be. */
static bool too_many_gates(const struct program *p, bool noisy, uint64_t nterm)
{
	uint64_t ngate = 0;
	struct network_set s;
	arena_auto a = { 0 };

	for (uint32_t c = 0; c < p->ncircuit; c++)
		ngate += p->circuit[c].napply;
	if (ngate * nterm <= GATES_MAX)
		return false;
	mem_auto struct builder *b = builder_new(&s, p, noisy, &a);
	ngate = 0;
	for (uint32_t k = 0; k < s.nterm && ngate <= GATES_MAX; k++) {
		struct cone cone = { .counted = true };

		light_cone_find(b, &s.term[k], &cone);
		ngate += cone.n;
	}
	arena_release(&b->scratch);
	return ngate > GATES_MAX;
}

static const char *apply_obstacle(const struct apply *a)
{
	if (a->op == APPLY_AMPLITUDES || a->op == APPLY_STATE)
		return "qubits are prepared in a state of given amplitudes";
	if (a->op == APPLY_UNITARY && a->nwire > NETWORK_QUBITS)
		return "a gate acts on more than 3 qubits, controls included";
	return NULL;
}

const char *network_obstacle(const struct program *p, bool noisy)
{
	const char *noise = noisy ? noise_obstacle(p) : NULL;
	uint64_t nterm = 0;

	if (noise)
		return noise;

	for (uint32_t c = 0; c < p->ncircuit; c++) {
		const struct circuit_code *code = &p->circuit[c];
		const char *why = NULL;

		for (uint32_t i = 0; i < code->noutput; i++) {
			const struct output *o = &code->output[i];

			if (o->kind == OUTPUT_PROBS && o->nwire > PROBABILITY_QUBITS)
				return "probabilities of more than 6 qubits are read";
			nterm += o->kind == OUTPUT_PROBS ? 1u << o->nwire : o->nterm;
		}
		for (uint32_t k = 0; k < code->napply && !why; k++)
			why = apply_obstacle(&code->apply[k]);
		if (why)
			return why;
	}
	if (nterm > TERMS_MAX)
		return "the readouts have more than 4096 products of Pauli operators";
	return too_many_gates(p, noisy, nterm)
		? "the readouts depend on more than 4194304 gates, those of each product of Pauli operators counted"
		: NULL;
}
