/* SPDX-License-Identifier: Apache-2.0
 * Elaboration: statements, names, and the reporting of faults. */
#include "compiler/elaborate/elab.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { ELAB_MUTE_MAX = 20000 };          /* repetitions of known faults before we give up */

/* ---- faults ---- */

static bool seen_before(struct elab *e, enum diag_code code, struct span at)
{
	uint64_t key = (uint64_t)code << 40 ^ (uint64_t)at.file << 32 ^ at.begin;

	for (uint32_t i = 0; i < e->nseen; i++)
		if (e->seen[i] == key)
			return true;
	if (e->nseen > 4 * DIAG_ERRORS_MAX && diags_errors(e->diags))
		e->stop = true;
	if (e->nseen > 4 * DIAG_ERRORS_MAX && (e->stop || diag_row(code)->severity == DIAG_WARNING))
		return true;
	*arena_push(e->arena, e->seen, e->nseen) = key;
	return false;
}

struct diag *elab_error(struct elab *e, enum diag_code code, struct span at, const char *fmt, ...)
{
	char text[512];
	bool old = seen_before(e, code, at);
	va_list ap;

	if (old && ++e->nmute > ELAB_MUTE_MAX && diags_errors(e->diags))
		e->stop = true;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	struct diag *g = diag_at(old ? e->mute : e->diags, code, at, "%s", text);
	if (e->frame && e->frame->call)
		diag_second(g, e->frame->call->span, "in this call");
	return g;
}

bool elab_work(struct elab *e, uint64_t n, struct span at)
{
	if (e->stop)
		return false;
	e->nstep += n;
	if (e->nstep <= COMPILE_STEPS_MAX)
		return true;
	e->stop = true;
	struct diag *g = elab_error(e, DIAG_LIMIT_STEPS, at, "the model runs more than %d steps while compiling", COMPILE_STEPS_MAX);
	diag_label(g, "still running here");
	elab_in_loop(e, g);
	return false;
}

void elab_in_loop(struct elab *e, struct diag *g)
{
	if (!e->loop)
		return;
	diag_second(g, e->loop->a->span, "the condition of this `while` was true %llu times", (unsigned long long)e->nloop);
	diag_help(g, "does the loop change what its condition asks for?");
}

void elab_declared(struct diag *g, const struct node *n, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	while (n && n->kind == NODE_INDEX)
		n = n->a;
	if (!n || !n->decl)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	diag_second(g, n->decl->name_span, "%s", text);
}

/* ---- names ---- */

void elab_bind(struct elab *e, const struct node *decl, struct value v)
{
	e->value[decl->number] = v;
}

static void operand_name(struct elab *e, const struct node *block, uint32_t wire, char *buf, size_t len)
{
	for (uint32_t i = 0; i < block->list.n; i++) {
		const struct node *f = block->list.v[i];
		uint32_t width = f->op == AST_TYPE_QUBIT ? elab_formal_width(e, f) : 0;

		if (wire < width) {
			snprintf(buf, len, f->a ? "%s[%u]" : "%s", f->name, wire);
			return;
		}
		wire -= width;
	}
}

const char *elab_wire_name(struct elab *e, uint32_t wire, char *buf, size_t len)
{
	snprintf(buf, len, "%u", wire);
	if (e->frame && e->frame->block)
		operand_name(e, e->frame->block, wire, buf, len);
	else if (e->circuit)
		for (uint32_t i = 0; i < e->circuit->nreg; i++) {
			const struct wire_register *r = &e->circuit->reg[i];
			if (wire < r->first || wire - r->first >= r->count)
				continue;
			if (*r->name == '$') /* a physical qubit is no register */
				snprintf(buf, len, "%s", r->name);
			else
				snprintf(buf, len, "%s[%u]", r->name, wire - r->first);
		}
	return buf;
}

/* ---- statements ---- */

void elab_body(struct elab *e, const struct node *body)
{
	if (body->kind != NODE_SCOPE) {
		elab_run(e, body);
		return;
	}
	for (uint32_t i = 0; i < body->list.n && !e->stop; i++)
		elab_run(e, body->list.v[i]);
}

static void run_if(struct elab *e, const struct node *n)
{
	int t = elab_truth(e, n->a);

	if (t > 0)
		elab_body(e, n->c);
	else if (t == 0 && n->b)
		elab_body(e, n->b);
}

static void endless(struct elab *e, const struct node *n, unsigned nerror)
{
	if (e->stop || diags_errors(e->diags) > nerror)      /* what was reported may have kept a variable as it is */
		return;
	struct diag *g = elab_error(e, DIAG_LIMIT_STEPS, n->a->span, "this `while` never ends: its body changes no variable");
	diag_label(g, "true, and stays so");
	diag_help(g, "assign to what the condition asks for, for example `w = w[len(w)/2:-1];`");
	e->stop = true;
}

/* One run of the body.  What it does depends on the variables alone: when it changes none, the next run does the same. */
static bool run_body(struct elab *e, const struct node *n, uint64_t *idle)
{
	uint64_t before = (uint64_t)e->ncall + e->nterm;
	unsigned nerror = diags_errors(e->diags);

	e->changed = false;
	elab_body(e, n->c);
	if (!e->changed) {
		endless(e, n, nerror);
		return false;
	}
	*idle = (uint64_t)e->ncall + e->nterm == before ? *idle + 1 : 0;
	if (*idle > COMPILE_IDLE_MAX) {
		struct diag *g = elab_error(e, DIAG_LIMIT_STEPS, n->a->span,
			"this `while` runs more than %d times without adding a gate",
			COMPILE_IDLE_MAX);
		diag_label(g, "still true");
		elab_in_loop(e, g);
		e->stop = true;
	}
	return !e->stop;
}

static void run_while(struct elab *e, const struct node *n)
{
	const struct node *outer = e->loop;
	uint64_t nouter = e->nloop, idle = 0;
	bool changed = e->changed;

	for (uint64_t k = 1; !e->stop && elab_truth(e, n->a) > 0; k++) {
		e->loop = n;
		e->nloop = k;
		if (!elab_work(e, 1, n->a->span))
			return;
		if (!run_body(e, n, &idle))
			break;
		changed = true;
	}
	e->loop = outer;
	e->nloop = nouter;
	e->changed = changed;
}

static void for_range(struct elab *e, const struct node *n)
{
	int64_t first, step;
	uint32_t count;

	if (!elab_range(e, n->a, &first, &step, &count))
		return;
	for (uint32_t k = 0; k < count && elab_work(e, 1, n->span); k++) {
		elab_bind(e, n, value_int((int64_t)((uint64_t)first + k * (uint64_t)step)));
		elab_body(e, n->c);
	}
}

static struct value list_element(const struct wire_list *l, enum kind kind, uint32_t k)
{
	return (struct value){ .kind = kind, .list = { 1, l->width, l->wire + (size_t)k * l->width } };
}

static void run_for(struct elab *e, const struct node *n)
{
	if (n->a->kind == NODE_RANGE) {
		for_range(e, n);
		return;
	}
	struct value v = elab_eval(e, n->a);
	if (v.kind == KIND_UNKNOWN)
		return;
	uint32_t count = value_len(&v);
	for (uint32_t k = 0; k < count && elab_work(e, 1, n->span); k++) {
		struct value x = value_is_array(&v) ? array_row(e->arena, v.array, k) : list_element(&v.list, v.kind, k);
		if (n->op)
			x = elab_convert(e, x, n->op, NULL, n->a->span, n);
		elab_bind(e, n, x);
		elab_body(e, n->c);
	}
}

static void run_barrier(struct elab *e, const struct node *n)
{
	struct wire_list w;

	for (uint32_t i = 0; i < n->list.n; i++)
		elab_qubits(e, n->list.v[i], &w);
}

static void run_head(struct elab *e, const struct node *n) { e->head = n; }

static void run_matrix(struct elab *e, const struct node *n) { elab_block(e, n, n, NULL, NULL); }

/* Where a statement may stand is known since names were resolved. Declarations of gates, blocks and circuits, and includes,
 * whose statements follow them, run nothing. */
static void (*const run[NODE_COUNT])(struct elab *, const struct node *) = {
	[NODE_CONST] = elab_const,
	[NODE_VAR] = elab_var,
	[NODE_LET] = elab_let,
	[NODE_ASSIGN] = elab_assign,
	[NODE_QUBIT] = elab_qubit,
	[NODE_SCOPE] = elab_body,
	[NODE_CALL] = elab_call,
	[NODE_BARRIER] = run_barrier,
	[NODE_FOR] = run_for,
	[NODE_WHILE] = run_while,
	[NODE_IF] = run_if,
	[NODE_IF_MEASURE] = elab_if_measure,
	[NODE_PARAM] = elab_param,
	[NODE_INPUT] = elab_input,
	[NODE_DISCARD] = elab_discard,
	[NODE_OBSERVE] = elab_observe,
	[NODE_LAYER] = elab_layer,
	[NODE_EMBED] = elab_layer,
	[NODE_HEAD] = run_head,
	[NODE_BITS] = elab_bits,
	[NODE_MEASURE] = elab_measure,
	[NODE_RESET] = elab_reset,
	[NODE_MATRIX_DEF] = run_matrix,
};

void elab_run(struct elab *e, const struct node *n)
{
	if (!elab_work(e, 1, n->span) || !run[n->kind])
		return;
	if (e->nesting >= COMPILE_NESTING_MAX) {
		elab_error(e, DIAG_LIMIT_DEPTH, n->span, "more than %d statements inside each other, those of called blocks counted",
			COMPILE_NESTING_MAX);
		e->stop = true;
		return;
	}
	e->nesting++;
	run[n->kind](e, n);
	e->nesting--;
}

void elaborate(struct ast *t, struct diags *diags, const struct compile_options *o, struct design *d)
{
	struct elab e = { .tree = t, .diags = diags, .options = o, .arena = d->arena, .prefix = "" };

	e.mute = diags_new(diags_sources(diags));
	e.design = *d;
	e.value = arena_alloc(e.arena, t->ndecl + (size_t)1, sizeof *e.value);
	elab_overrides(&e);
	if (!diags_errors(diags))
		elab_file(&e);
	*d = e.design;
	elab_memo_free(&e);
	diags_free(e.mute);
}
