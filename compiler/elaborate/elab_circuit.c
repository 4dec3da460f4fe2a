/* SPDX-License-Identifier: Apache-2.0
 * Elaboration: the file, circuits, their instances, and the head. */
#include "compiler/circuit_builder.h"
#include "compiler/elaborate/elab.h"

#include <stdlib.h>
#include <string.h>

/* ---- circuits ---- */

static void run_circuit(struct elab *e, const char *name, const struct node_list *body, struct span at)
{
	struct circuit *c = build_circuit(&e->design, name);
	struct frame f = { .calls = &c->calls };
	struct layer_run top = { .path = "", .note = INDEX_NONE };

	e->circuit = c;
	e->frame = &f;
	e->layer = &top;
	e->instance++;
	e->prefix = *name ? arena_printf(e->arena, "%s.", name) : "";
	for (uint32_t i = 0; i < body->n && !e->stop; i++)
		elab_run(e, body->v[i]);
	elab_observe_bits(e, at);
	if (!c->calls.nwire && !diags_errors(e->diags))
		elab_error(e, DIAG_NO_QUBITS, at, "the circuit has no qubits");
	text_table_release(&top.count);
	e->circuit = NULL;
	e->frame = NULL;
	e->layer = NULL;
	e->prefix = "";
}

static void run_instance(struct elab *e, const char *name, const struct node *circuit,
	const struct value *arg, const struct node *const *at)
{
	if (e->design.ncircuit >= PROGRAM_CIRCUITS_MAX) {
		elab_error(e, DIAG_LIMIT_SIZE, circuit->name_span, "more than %d circuits", PROGRAM_CIRCUITS_MAX);
		e->stop = true;
		return;
	}
	if (elab_bind_formals(e, circuit, arg, at))
		run_circuit(e, name, &circuit->c->list, circuit->name_span);
}

/* ---- instances in the head ---- */

static bool instance_args(struct elab *e, const struct node *n, struct value *v, uint32_t *times)
{
	*times = 1;
	for (uint32_t k = 0; k < n->args.n; k++) {
		const struct node *a = n->args.v[k];
		v[k] = elab_eval(e, a->kind == NODE_EACH ? a->a : a);
		if (v[k].kind == KIND_UNKNOWN)
			return false;
		if (a->kind != NODE_EACH)
			continue;
		uint32_t len = value_len(&v[k]);
		if (*times != 1 && len != *times)
			return elab_refuse(e, DIAG_EACH_LENGTH, a->span,
				"`each` over %u elements beside one over %u", len, *times);
		*times = len;
	}
	return true;
}

static void run_instances(struct elab *e, const struct node *n)
{
	const struct node *circuit = n->decl;
	mem_auto struct value *v = mem_alloc(n->args.n + 1, sizeof *v),
			      *arg = mem_alloc(n->args.n + 1, sizeof *arg);
	uint32_t times;

	if (!instance_args(e, n, v, &times))
		return;
	for (uint32_t i = 0; i < times && !e->stop; i++) {
		for (uint32_t k = 0; k < n->args.n; k++)
			arg[k] = n->args.v[k]->kind == NODE_EACH ? array_row(e->arena, v[k].array, i) : v[k];
		run_instance(e, n->name, circuit, arg, (const struct node *const *)n->args.v);
	}
}

/* The first circuit of the file, and the only one for `head { ... }` and files without a head. */
static const struct node *first_circuit(const struct node_list *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->v[i]->kind == NODE_CIRCUIT)
			return l->v[i];
	return NULL;
}

/* ---- the head ---- */

static uint32_t count_readouts(const struct design *d)
{
	uint64_t n = 0;

	for (uint32_t c = 0; c < d->ncircuit; c++)
		for (uint32_t i = 0; i < d->circuit[c]->noutput; i++)
			n += d->circuit[c]->output[i].kind == OUTPUT_PROBS ? (uint64_t)1 << d->circuit[c]->output[i].nwire : 1;
	return n > PROGRAM_OUTPUTS_MAX ? UINT32_MAX : (uint32_t)n;
}

static uint32_t dense_weights(struct elab *e, const struct weight_group *g)
{
	struct design *d = &e->design;

	struct weights *w = arena_push(d->arena, d->weight, d->nweight);
	*w = (struct weights){ .g = *g, .instance = e->instance };
	w->g.first = d->nscalar;
	d->nscalar += g->count;
	return d->nweight - 1;
}

static bool activation(struct elab *e, const struct node *n, enum activation *out)
{
	const char *const *text = activation_names;
	buf_auto known = BUF_INIT;

	for (int k = 0; k < ACTIVATION_COUNT; k++)
		if (!n->text || !strcmp(n->text, text[k])) {
			*out = (enum activation)k;
			return true;
		}
	const char *near = diag_nearest(n->text, text, ACTIVATION_COUNT);
	struct diag *g = elab_error(e, DIAG_ACTIVATION, n->callee_span, "unknown activation `%s`", n->text);
	if (near)
		diag_help(g, "did you mean `%s`?", near);
	for (int k = 0; k < ACTIVATION_COUNT; k++)
		buf_printf(&known, "%s%s", k ? ", " : "", text[k]);
	diag_note(g, "known are %s", known.data);
	return false;
}

static bool dense(struct elab *e, const struct node *n, uint32_t *nin)
{
	struct design *d = &e->design;
	struct dense layer = { .nin = *nin };
	int64_t units;

	if (!elab_int(e, n->a, &units) || !activation(e, n, &layer.activation))
		return false;
	if (units > PROGRAM_OUTPUTS_MAX)
		return elab_refuse(e, DIAG_LIMIT_OUTPUTS, n->span,
			"a dense layer of %lld units, at most %d are possible", (long long)units,
			PROGRAM_OUTPUTS_MAX);
	if (units < 1 || d->ndense >= PROGRAM_DENSE_MAX
		|| units > (PROGRAM_WEIGHTS_MAX - (int64_t)d->nscalar) / ((int64_t)*nin + 1))
		return elab_refuse(e, units < 1 ? DIAG_BAD_SIZE : DIAG_LIMIT_WEIGHTS, n->span,
			units < 1 ? "a dense layer of %lld units, at least 1 is needed"
				: d->ndense >= PROGRAM_DENSE_MAX
				? "too many dense layers (%lld units)"
				: "too many weights in a dense layer of %lld units",
			(long long)units);
	layer.nout = (uint32_t)units;
	struct weight_group kernel = { .ndim = 2, .dim = { layer.nin, layer.nout }, .count = layer.nin * layer.nout,
		.init = INIT_GLOROT_UNIFORM, .init_a = layer.nin, .init_b = layer.nout };
	struct weight_group bias = { .ndim = 1, .dim = { layer.nout }, .count = layer.nout, .init = INIT_VALUES };
	kernel.path = arena_printf(e->arena, "head.dense[%u].kernel", d->ndense);
	bias.path = arena_printf(e->arena, "head.dense[%u].bias", d->ndense);
	bias.init_value = arena_alloc(e->arena, layer.nout, sizeof *bias.init_value);
	layer.kernel = dense_weights(e, &kernel);
	layer.bias = dense_weights(e, &bias);
	*arena_push(d->arena, d->dense, d->ndense) = layer;
	*nin = layer.nout;
	return true;
}

static void run_dense(struct elab *e, const struct node *head)
{
	uint32_t nin = count_readouts(&e->design);

	if (diags_errors(e->diags))
		return;
	if (nin == 0)
		elab_error(e, DIAG_NO_OUTPUTS, head->span, "the head gets no outputs: nothing is observed");
	if (nin == UINT32_MAX)
		elab_error(e, DIAG_LIMIT_OUTPUTS, head->span, "the circuits have more than %d outputs", PROGRAM_OUTPUTS_MAX);
	if (nin == 0 || nin == UINT32_MAX)
		return;
	for (uint32_t i = 0; i < head->list.n; i++)
		if (head->list.v[i]->kind == NODE_DENSE && !dense(e, head->list.v[i], &nin))
			return;
}

/* ---- the file ---- */

static void run_with_circuits(struct elab *e, const struct node *first)
{
	const struct node_list *l = &e->tree->file->list;
	bool named = false;

	for (uint32_t i = 0; i < l->n && !e->stop; i++)
		elab_run(e, l->v[i]);
	for (uint32_t i = 0; e->head && i < e->head->list.n; i++)
		named = named || e->head->list.v[i]->kind == NODE_INSTANCE;
	if (!named && !e->stop) {
		if (first->list.n)
			diag_help(elab_error(e, DIAG_SEVERAL_CIRCUITS, first->name_span,
					  "circuit `%s` takes arguments", first->name),
				"give them where it is used: head (%s(...) a) { ... }", first->name);
		else
			run_instance(e, "", first, NULL, NULL);
	}
	for (uint32_t i = 0; named && i < e->head->list.n && !e->stop; i++)
		if (e->head->list.v[i]->kind == NODE_INSTANCE)
			run_instances(e, e->head->list.v[i]);
}

void elab_file(struct elab *e)
{
	const struct node *first = first_circuit(&e->tree->file->list);

	if (first)
		run_with_circuits(e, first);
	else
		run_circuit(e, "", &e->tree->file->list, e->tree->file->span);
	if (e->head && !e->stop)
		run_dense(e, e->head);
	if ((e->design.full || e->design.exprs.full) && !diags_errors(e->diags))
		elab_error(e, DIAG_LIMIT_CALLS, e->tree->file->span, "the model has too many matrices or angles");
	for (uint32_t i = 0; i < e->design.ninput; i++)
		if (e->design.input[i].is_state && !e->design.input[i].count && !diags_errors(e->diags))
			elab_error(e, DIAG_AMPLITUDES, e->tree->file->span, "input state `%s` is never put on qubits", e->design.input[i].name);
}
