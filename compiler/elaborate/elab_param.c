/* SPDX-License-Identifier: Apache-2.0
 * Elaboration: qubits, weights, inputs and layers. */
#include "compiler/circuit_builder.h"
#include "compiler/elaborate/elab.h"

#include <math.h>
#include <string.h>

void elab_qubit(struct elab *e, const struct node *n)
{
	struct circuit *c = e->circuit;
	int64_t size = 1;

	elab_bind(e, n, value_unknown());
	if (n->a && !elab_int(e, n->a, &size))
		return;
	if (size < 1) {
		elab_error(e, DIAG_BAD_SIZE, n->a->span, "a register of %lld qubits, at least 1 is needed", (long long)size);
		return;
	}
	if (size > PROGRAM_WIRES_MAX - (int64_t)c->calls.nwire) {
		elab_error(e, DIAG_LIMIT_QUBITS, n->a ? n->a->span : n->span,
			"%llu qubits, a circuit holds at most %d",
			(unsigned long long)size + c->calls.nwire, PROGRAM_WIRES_MAX);
		return;
	}
	uint32_t first = build_register(&e->design, c, n->name, (uint32_t)size, n->name_span);
	elab_bind(e, n, value_numbered(e->arena, KIND_QUBITS, first, (uint32_t)size));
}

/* ---- weights ---- */

static bool constant(struct elab *e, const struct node *n, double *out)
{
	struct value v = elab_eval(e, n);

	if (v.kind == KIND_ANGLE)
		v = elab_fail(e, DIAG_NOT_CONSTANT, n->span, "initial values cannot depend on weights or inputs");
	if (v.kind == KIND_UNKNOWN)
		return false;
	*out = value_number(&v);
	return true;
}

static bool init_random(struct elab *e, const struct node *n, struct weight_group *g)
{
	if (!constant(e, n->args.v[0], &g->init_a) || !constant(e, n->args.v[1], &g->init_b))
		return false;
	g->init = !strcmp(n->name, "normal") ? INIT_NORMAL : INIT_UNIFORM;
	if (!isfinite(g->init_b - g->init_a))
		return elab_refuse(e, DIAG_NOT_FINITE_VALUE, n->span,
			"these bounds are too far apart");
	if (g->init == INIT_UNIFORM ? g->init_b >= g->init_a : g->init_b >= 0)
		return true;
	return elab_refuse(e, DIAG_PARAM_INIT, n->args.v[1]->span,
		g->init == INIT_UNIFORM ? "the upper bound %g is below the lower bound %g"
					: "a deviation of %g, it cannot be negative (mean %g)",
		g->init_b, g->init_a);
}

static bool init_values(struct elab *e, const struct node *n, struct weight_group *g)
{
	struct value v = elab_eval(e, n->b);
	double *to = arena_alloc(e->arena, g->count + 1, sizeof *to);

	if (v.kind == KIND_ANGLE || v.kind == KIND_ANGLE_ARRAY)
		v = elab_fail(e, DIAG_NOT_CONSTANT, n->b->span, "initial values cannot depend on weights or inputs");
	if (v.kind == KIND_UNKNOWN)
		return false;
	if (value_is_array(&v))
		v = elab_convert(e, v, AST_TYPE_FLOAT, n->a, n->b->span, n);
	if (v.kind == KIND_UNKNOWN)
		return false;
	for (uint32_t k = 0; k < g->count; k++)
		to[k] = value_is_array(&v) ? v.array->f[k] : value_number(&v);
	g->init = INIT_VALUES;
	g->init_value = to;
	return true;
}

static bool initialised(struct elab *e, const struct node *n, struct weight_group *g)
{
	g->init = INIT_UNIFORM;
	g->init_a = 0;
	g->init_b = 2 * PI;
	if (n->c)
		return init_random(e, n->c, g);
	return n->b ? init_values(e, n, g) : true;
}

/* Where the weights stand: the group's expressions as a value. */
static struct value weights_value(struct elab *e, const struct weight_group *g)
{
	struct exprs *x = &e->design.exprs;

	return g->ndim ? value_array(array_of_leaves(e->arena, x, EXPR_WEIGHT, g->first, g->ndim, g->dim))
		: value_angle(exprs_leaf(x, EXPR_WEIGHT, g->first));
}

/* The group of a repeated instance, or NULL after a report. */
static struct weights *again(struct elab *e, const struct node *n, struct weights *w, const struct weight_group *g)
{
	if (w->instance == e->instance) {
		struct diag *f = elab_error(e, DIAG_PARAM_TWICE, n->span, "`param %s` runs twice in one run of its %s", n->name,
			e->layer->up ? "layer" : "circuit");
		if (w->at.begin != n->name_span.begin || w->at.file != n->name_span.file)
			diag_second(f, w->at, "weights `%s` were declared here", g->path);
		diag_help(f, "put it before the loop, or the loop's body into a `layer`");
		return NULL;
	}
	w->instance = e->instance;
	if (w->g.ndim == g->ndim && !memcmp(w->g.dim, g->dim, g->ndim * sizeof *g->dim))
		return w;
	elab_error(e, DIAG_SHARED_SHAPE, n->span, "weights `%s` have another shape in an earlier run of the same instance", g->path);
	return NULL;
}

static struct weights *new_group(struct elab *e, const struct node *n, struct weight_group *g)
{
	struct design *d = &e->design;

	if (g->count > PROGRAM_WEIGHTS_MAX - d->nscalar) {
		elab_error(e, DIAG_LIMIT_WEIGHTS, n->span, "more than %d weights", PROGRAM_WEIGHTS_MAX);
		return NULL;
	}
	if (!initialised(e, n, g))
		return NULL;
	g->first = d->nscalar;
	d->nscalar += g->count;
	text_table_add(&d->weight_path, g->path, d->nweight);
	struct weights *w = arena_push(d->arena, d->weight, d->nweight);
	*w = (struct weights){ .g = *g, .at = n->name_span, .instance = e->instance };
	return w;
}

void elab_param(struct elab *e, const struct node *n)
{
	struct weight_group g = { .frozen = n->op == 1 || n->op == AST_FROZEN, .count = 1 };

	elab_bind(e, n, value_unknown());
	if (!elab_dims(e, n->a, 0, PROGRAM_WEIGHTS_MAX, DIAG_LIMIT_WEIGHTS, &g.ndim, g.dim))
		return;
	for (uint32_t k = 0; k < g.ndim; k++)
		g.count *= g.dim[k];
	g.path = *e->layer->path ? arena_printf(e->arena, "%s.%s", e->layer->path, n->name)
		: arena_printf(e->arena, "%s%s", e->prefix, n->name);
	if (strlen(g.path) > PROGRAM_PATH_MAX) {
		elab_error(e, DIAG_LIMIT_DEPTH, n->span, "the path of these weights is longer than %d characters", PROGRAM_PATH_MAX);
		return;
	}
	uint32_t k = text_table_find(&e->design.weight_path, g.path);
	struct weights *w =
		k != INDEX_NONE ? again(e, n, &e->design.weight[k], &g) : new_group(e, n, &g);
	if (w)
		elab_bind(e, n, weights_value(e, &w->g));
}

/* ---- inputs ---- */

static void add_input(struct design *d, const struct node *n, const struct input_group *g)
{
	d->input_at = arena_grow(d->arena, d->input_at, d->ninput, sizeof *d->input_at);
	d->input_at[d->ninput] = n->name_span;
	*arena_push(d->arena, d->input, d->ninput) = *g;
}

/* Inputs are numbered here without the states, whose sizes come with their use;
 * lowering makes room for those. */
void elab_input(struct elab *e, const struct node *n)
{
	struct design *d = &e->design;
	struct input_group g = { .name = n->name, .first = d->ninput_scalar, .count = 1 };

	elab_bind(e, n, value_unknown());
	if (n->op == AST_TYPE_STATE) {
		elab_bind(e, n, (struct value){ .kind = KIND_STATE, .input = d->ninput });
		add_input(d, n, &(struct input_group){ .name = n->name, .is_state = true, .ndim = 1 });
		return;
	}
	if (!elab_dims(e, n->a, 1, PROGRAM_INPUTS_MAX - d->ninput_scalar, DIAG_LIMIT_SIZE, &g.ndim, g.dim))
		return;
	for (uint32_t k = 0; k < g.ndim; k++)
		g.count *= g.dim[k];
	if (g.count > PROGRAM_INPUTS_MAX - d->ninput_scalar) {
		elab_error(e, DIAG_LIMIT_SIZE, n->span, "more than %d input numbers", PROGRAM_INPUTS_MAX);
		return;
	}
	d->ninput_scalar += g.count;
	add_input(d, n, &g);
	elab_bind(e, n, g.ndim ? value_array(array_of_leaves(e->arena, &d->exprs, EXPR_INPUT, g.first, g.ndim, g.dim))
		: value_angle(exprs_leaf(&d->exprs, EXPR_INPUT, g.first)));
}

/* ---- layers ---- */

void elab_layer(struct elab *e, const struct node *n)
{
	const char *name = n->kind == NODE_EMBED ? "embed" : n->name;
	struct layer_run run = { .up = e->layer };
	uint32_t k = text_table_count(&e->layer->count, name);

	run.path = *e->layer->path ? arena_printf(e->arena, "%s.%s[%u]", e->layer->path, name, k)
		: arena_printf(e->arena, "%s%s[%u]", e->prefix, name, k);
	if (strlen(run.path) > PROGRAM_PATH_MAX) {
		elab_error(e, DIAG_LIMIT_DEPTH, n->name_span, "the path of this layer is longer than %d characters", PROGRAM_PATH_MAX);
		return;
	}
	run.note = design_layer(&e->design, run.path, n->kind == NODE_EMBED);
	e->layer = &run;
	elab_body(e, n->c);
	e->layer = run.up;
	text_table_release(&run.count);
}
