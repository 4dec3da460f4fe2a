/* SPDX-License-Identifier: Apache-2.0
 * A program as TensorBoard's graph: parameters and inputs, the uses of matrices along the
 * wires, observables and the head; layers are the scopes that the page folds. */
#include "cli/training/train_log.h"

#include <ctype.h>
#include <string.h>

#include "runtime/log/tfevents.h"

enum { GRAPH_APPLIES_MAX = 4000, GRAPH_INPUTS_MAX = 64, ITEM_DEPTH_MAX = 64 };

struct grapher {
	const struct program *p;
	struct buf *out;
	struct arena arena;
	const char **at;             /* (nwire) the last node on each wire */
	uint32_t *stamp, now;        /* (nexpr) expressions seen in this walk */
	bool *weight, *input;        /* (groups) used by this node */
	const char *edge[GRAPH_INPUTS_MAX]; unsigned nedge;
};

/* "a.conv[0]" as a scope: "a/conv_0". */
static const char *scope_name(struct grapher *g, const char *path)
{
	char *s = arena_strdup(&g->arena, path), *to = s;

	for (const char *c = s; *c; c++) {
		if (*c == '.')
			*to++ = '/';
		else if (*c != ']')
			*to++ = isalnum((unsigned char)*c) ? *c : '_';
	}
	*to = 0;
	return s;
}

static void add_edge(struct grapher *g, const char *from)
{
	for (unsigned k = 0; k < g->nedge; k++)
		if (g->edge[k] == from)
			return;
	if (from && g->nedge < GRAPH_INPUTS_MAX)
		g->edge[g->nedge++] = from;
}

/* ---- what a matrix depends on ---- */

static void use_leaf(struct grapher *g, const struct expr *x)
{
	for (uint32_t i = 0; x->op == EXPR_WEIGHT && i < g->p->nweight_group; i++)
		g->weight[i] |= x->a - g->p->weight_group[i].first < g->p->weight_group[i].count;
	for (uint32_t i = 0; x->op == EXPR_INPUT && i < g->p->ninput_group; i++)
		g->input[i] |= x->a - g->p->input_group[i].first < g->p->input_group[i].count;
}

/* Operands have smaller numbers, so one pass downwards visits all below the marked ones. */
static void use_marked(struct grapher *g, uint32_t highest)
{
	for (uint32_t i = highest + 1; i-- > 0; ) {
		const struct expr *x = &g->p->expr[i];

		if (g->stamp[i] != g->now)
			continue;
		use_leaf(g, x);
		if (expr_noperand(x->op) > 0)
			g->stamp[x->a] = g->now;
		if (expr_noperand(x->op) > 1)
			g->stamp[x->b] = g->now;
	}
}

static void mark_matrix(struct grapher *g, uint32_t m, unsigned depth, uint32_t *highest)
{
	const struct matrix *x = &g->p->matrix[m];

	for (uint32_t i = 0; i < x->nitem && depth < ITEM_DEPTH_MAX; i++) {
		const struct item *it = &x->item[i];

		if (it->gate == GATE_NONE) {
			mark_matrix(g, it->ref, depth + 1, highest);
			continue;
		}
		for (unsigned k = 0; k < gate_row(it->gate)->nangle; k++) {
			g->stamp[it->angle[k]] = g->now;
			*highest = it->angle[k] > *highest ? it->angle[k] : *highest;
		}
	}
}

static void mark_apply(struct grapher *g, const struct apply *a, uint32_t *highest)
{
	if (a->op == APPLY_UNITARY)
		mark_matrix(g, a->matrix, 0, highest);
	if (a->op == APPLY_STATE)
		g->input[a->matrix] = true;
	for (uint32_t k = 0; a->op == APPLY_AMPLITUDES && k < a->nexpr; k++) {
		g->stamp[a->expr[k]] = g->now;
		*highest = a->expr[k] > *highest ? a->expr[k] : *highest;
	}
}

/* ---- nodes ---- */

static const char *kind_of(const struct program *p, const struct apply *a)
{
	switch (a->op) {
	case APPLY_SWAP: return "swap";
	case APPLY_AMPLITUDES: return "amplitudes";
	case APPLY_STATE: return "state";
	case APPLY_DISCARD: return "discard";
	case APPLY_MEASURE: return "measure";
	default: return p->matrix[a->matrix].name && *p->matrix[a->matrix].name ? p->matrix[a->matrix].name : "gate";
	}
}

/* n applies as one node; they are of one layer. */
static void add_node(struct grapher *g, const struct apply *a, uint32_t n, uint32_t number)
{
	const struct program *p = g->p;
	const char *op = n == 1 ? kind_of(p, a) : "layer", *name, *layer = a->layer == INDEX_NONE ? NULL : p->layer[a->layer].path;
	uint32_t highest = 0;

	g->now++;
	g->nedge = 0;
	memset(g->weight, 0, p->nweight_group * sizeof *g->weight);
	memset(g->input, 0, p->ninput_group * sizeof *g->input);
	for (uint32_t i = 0; i < n; i++) {
		mark_apply(g, &a[i], &highest);
		for (uint32_t k = 0; k < a[i].nwire; k++)
			add_edge(g, g->at[a[i].wire[k]]);
	}
	if (p->nexpr)
		use_marked(g, highest);
	for (uint32_t i = 0; i < p->nweight_group; i++)
		if (g->weight[i])
			add_edge(g, scope_name(g, p->weight_group[i].path));
	for (uint32_t i = 0; i < p->ninput_group; i++)
		if (g->input[i])
			add_edge(g, scope_name(g, p->input_group[i].name));
	name = layer ? arena_printf(&g->arena, "%s/%s_%u", scope_name(g, layer), scope_name(g, op), number)
		: arena_printf(&g->arena, "%s_%u", scope_name(g, op), number);
	tfevents_node(g->out, name, op, g->edge, g->nedge, NULL, 0);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < a[i].nwire; k++)
			g->at[a[i].wire[k]] = name;
}

static void add_groups(struct grapher *g)
{
	const struct program *p = g->p;

	for (uint32_t i = 0; i < p->nweight_group; i++) {
		char count[16];
		struct tfevents_attr attr[] = { { "weights", count }, { "path", p->weight_group[i].path } };

		snprintf(count, sizeof count, "%u", p->weight_group[i].count);
		tfevents_node(g->out, scope_name(g, p->weight_group[i].path), "param", NULL, 0, attr, 2);
	}
	for (uint32_t i = 0; i < p->ninput_group; i++)
		tfevents_node(g->out, scope_name(g, p->input_group[i].name), "input", NULL, 0, NULL, 0);
}

static const char *add_circuit(struct grapher *g, const struct circuit_code *c, bool whole)
{
	const char *name = *c->name ? arena_printf(&g->arena, "%s/observe", scope_name(g, c->name)) : "observe";
	const char *wires = *c->name ? arena_printf(&g->arena, "%s/qubits", scope_name(g, c->name)) : "qubits";

	tfevents_node(g->out, wires, "qubits", NULL, 0, NULL, 0);
	for (uint32_t r = 0; r < c->nwire; r++)
		g->at[r] = wires;
	/* A node for each apply; where they are many, one for each layer. */
	for (uint32_t i = 0, n; i < c->napply; i += n) {
		for (n = 1; whole && i + n < c->napply && c->apply[i + n].layer == c->apply[i].layer;
			n++)
			;
		add_node(g, &c->apply[i], n, i);
	}
	g->nedge = 0;
	for (uint32_t i = 0; i < c->noutput; i++) {
		const struct output *o = &c->output[i];

		for (uint32_t k = 0; k < o->nwire; k++)
			add_edge(g, g->at[o->wire[k]]);
		for (uint32_t t = 0; t < o->nterm; t++)
			for (uint32_t k = 0; k < o->term[t].nfactor; k++)
				add_edge(g, g->at[o->term[t].factor[k].wire]);
	}
	tfevents_node(g->out, name, "observe", g->edge, g->nedge, NULL, 0);
	return name;
}

static void add_head(struct grapher *g, const char *const *circuit)
{
	const struct program *p = g->p;
	const char *before = NULL;

	for (uint32_t i = 0; i < p->ndense; i++) {
		const char *name = arena_printf(&g->arena, "head/dense_%u/dense", i);

		g->nedge = 0;
		for (uint32_t c = 0; !i && c < p->ncircuit; c++)
			add_edge(g, circuit[c]);
		add_edge(g, before);
		add_edge(g, scope_name(g, p->weight_group[p->dense[i].kernel].path));
		add_edge(g, scope_name(g, p->weight_group[p->dense[i].bias].path));
		tfevents_node(g->out, name, "dense", g->edge, g->nedge, NULL, 0);
		before = name;
	}
}

void train_graph(const struct program *p, struct buf *graph)
{
	mem_auto uint32_t *stamp = mem_try((size_t)p->nexpr + 1, sizeof *stamp);
	struct grapher g = { .p = p, .out = graph, .stamp = stamp };
	const char **circuit;
	uint64_t napply = 0;

	for (uint32_t i = 0; i < p->ncircuit; i++)
		napply += p->circuit[i].napply;
	if (!stamp)
		return;
	g.at = arena_alloc(&g.arena, program_nwire(p), sizeof *g.at);
	g.weight = arena_alloc(&g.arena, p->nweight_group, sizeof *g.weight);
	g.input = arena_alloc(&g.arena, p->ninput_group, sizeof *g.input);
	circuit = arena_alloc(&g.arena, p->ncircuit, sizeof *circuit);
	add_groups(&g);
	for (uint32_t i = 0; i < p->ncircuit; i++)
		circuit[i] = add_circuit(&g, &p->circuit[i], napply > GRAPH_APPLIES_MAX);
	add_head(&g, circuit);
	arena_release(&g.arena);
}
