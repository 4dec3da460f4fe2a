/* SPDX-License-Identifier: Apache-2.0
 * Text to program: the reverse of asm_print.  The first fault ends the reading; what
 * the text says as a whole is the verifier's business. */
#include "compiler/asm/asm.h"

#include <string.h>

/* ---- parts of records ---- */

void asm_want_text(struct asm_reader *r, const char *what, const char **out)
{
	if (r->s.kind != ASM_TEXT)
		asm_fail(&r->s, DIAG_ASM_SYNTAX, "%s belongs here, in quotes", what);
	else
		*out = arena_strndup(&r->p->arena, r->s.string.data ? r->s.string.data : "",
			r->s.string.len);
	asm_next(&r->s);
}

/* `%3` */
static void read_value(struct asm_reader *r, uint32_t *out)
{
	asm_want_sign(&r->s, '%');
	asm_want_u32(&r->s, "an expression", out);
}

void asm_read_values(struct asm_reader *r, uint32_t max, uint32_t **out, uint32_t *n)
{
	*out = NULL;
	*n = 0;
	if (!asm_accept_sign(&r->s, '('))
		return;
	do {
		if (*n == max)
			asm_fail(&r->s, DIAG_ASM_SYNTAX, "more than %u values", max);
		else
			read_value(r, arena_push(&r->p->arena, *out, *n));
	} while (asm_accept_sign(&r->s, ','));
	asm_want_sign(&r->s, ')');
}

void asm_read_u32s(struct asm_reader *r, uint32_t max, uint32_t **out, uint32_t *n)
{
	*out = NULL;
	for (*n = 0; r->s.kind == ASM_NUMBER;)
		if (*n == max)
			asm_fail(&r->s, DIAG_ASM_SYNTAX, "more than %u wires", max);
		else
			asm_want_u32(&r->s, "a wire", arena_push(&r->p->arena, *out, *n));
}

void asm_read_prefix(struct asm_reader *r, bool *adjoint, uint32_t max, uint32_t *ncontrol,
	uint64_t *ones)
{
	*adjoint = asm_accept_word(&r->s, "inv");
	*ncontrol = 0;
	*ones = 0;
	for (;;) {
		bool one = asm_is_word(&r->s, "ctrl");
		if (!one && !asm_is_word(&r->s, "negctrl"))
			return;
		if (*ncontrol == max)
			asm_fail(&r->s, DIAG_ASM_SYNTAX, "more than %u controls", max);
		else
			*ones |= (uint64_t)one << (*ncontrol)++;
		asm_next(&r->s);
	}
}

/* The number of the name that is there; 0 after a fault. */
static unsigned want_one_of(struct asm_scanner *s, const char *what, const char *const *name,
	unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (name[i] && asm_accept_word(s, name[i]))
			return i;
	asm_fail(s, DIAG_ASM_WORD, "%s belongs here", what);
	return 0;
}

static void read_dims(struct asm_scanner *s, uint32_t *ndim, uint32_t *dim)
{
	*ndim = 0;
	if (!asm_accept_sign(s, '['))
		return;
	do {
		if (*ndim == PROGRAM_DIMS_MAX)
			asm_fail(s, DIAG_ASM_SYNTAX, "more than %d dimensions", PROGRAM_DIMS_MAX);
		else
			asm_want_u32(s, "a dimension", &dim[(*ndim)++]);
	} while (asm_accept_sign(s, ','));
	asm_want_sign(s, ']');
}

/* ---- weights, inputs, expressions ---- */

static void read_init_values(struct asm_reader *r, struct weight_group *g)
{
	double *value = NULL;
	size_t n = 0;
	if (r->s.kind == ASM_NUMBER)
		do
			asm_want_number(&r->s, "a value", arena_push(&r->p->arena, value, n));
		while (asm_accept_sign(&r->s, ','));
	g->init_value = value;
	uint32_t want = shape_count(g->ndim, g->dim, PROGRAM_WEIGHTS_MAX);
	if (n != want)
		asm_fail(&r->s, DIAG_ASM_SYNTAX, "%zu values for %u weights", n, want);
}

static void read_init(struct asm_reader *r, struct weight_group *g)
{
	asm_want_sign(&r->s, '~');
	g->init = want_one_of(&r->s, "an initialiser", init_names, INIT_COUNT);
	asm_want_sign(&r->s, '(');
	if (g->init == INIT_VALUES) {
		read_init_values(r, g);
	} else {
		asm_want_number(&r->s, "the first number", &g->init_a);
		asm_want_sign(&r->s, ',');
		asm_want_number(&r->s, "the second number", &g->init_b);
	}
	asm_want_sign(&r->s, ')');
}

static void read_weight(struct asm_reader *r)
{
	struct program *p = r->p;
	struct weight_group *g = arena_push(&p->arena, p->weight_group, p->nweight_group);
	asm_want_text(r, "a path", &g->path);
	asm_want_word(&r->s, "float");
	read_dims(&r->s, &g->ndim, g->dim);
	read_init(r, g);
	g->frozen = asm_accept_word(&r->s, "frozen");
}

static void read_input(struct asm_reader *r)
{
	static const char *const kind[] = { "float", "state" };
	struct program *p = r->p;
	struct input_group *g = arena_push(&p->arena, p->input_group, p->ninput_group);
	asm_want_text(r, "a name", &g->name);
	g->is_state = want_one_of(&r->s, "`float` or `state`", kind, 2) == 1;
	read_dims(&r->s, &g->ndim, g->dim);
}

static void read_operands(struct asm_reader *r, struct expr *x)
{
	unsigned n = expr_noperand(x->op);
	if (x->op == EXPR_CONST)
		asm_want_number(&r->s, "a constant", &x->value);
	else if (n == 0)
		asm_want_u32(&r->s, "a scalar's number", &x->a);
	else
		read_value(r, &x->a);
	if (n > 1)
		read_value(r, &x->b);
}

static void read_exprs(struct asm_reader *r)
{
	struct program *p = r->p;
	while (asm_accept_sign(&r->s, '%')) {
		struct expr *x = arena_push(&p->arena, p->expr, p->nexpr);
		asm_want_place(&r->s, "expression", p->nexpr - 1);
		asm_want_sign(&r->s, '=');
		x->op = want_one_of(&r->s, "an operation", expr_names, EXPR_COUNT);
		read_operands(r, x);
	}
}

/* ---- matrices ---- */

static void read_named_gate(struct asm_reader *r, const struct gate_row *row, struct item *it)
{
	uint32_t *angle, n;
	it->gate = row->id;
	asm_next(&r->s);
	asm_read_values(r, GATE_ANGLES_MAX, &angle, &n);
	if (n != row->nangle)
		asm_fail(&r->s, DIAG_ASM_SYNTAX, "%s has %u angles, here are %u", row->name,
			row->nangle, n);
	if (n)
		memcpy(it->angle, angle, n * sizeof *angle);
}

static void read_gate(struct asm_reader *r, struct item *it)
{
	const struct gate_row *row;
	const char *alias;
	if (r->s.kind != ASM_WORD)
		asm_fail(&r->s, DIAG_ASM_SYNTAX, "a gate, a matrix or `}` belongs here");
	else if (asm_split_word(r->s.word, 'm', &it->ref))
		asm_next(&r->s);
	else if (!(row = gate_find(r->s.word, &it->word, &alias)) || alias)
		asm_fail(&r->s, DIAG_ASM_WORD, "unknown gate `%s`", r->s.word);
	else
		read_named_gate(r, row, it);
}

static void read_item(struct asm_reader *r, struct item *it)
{
	uint32_t ncontrol, nwire, *wire;
	uint64_t ones;
	asm_read_prefix(r, &it->adjoint, MATRIX_TARGETS_MAX, &ncontrol, &ones);
	read_gate(r, it);
	asm_read_u32s(r, MATRIX_TARGETS_MAX, &wire, &nwire);
	it->ncontrol = (uint8_t)ncontrol;
	it->control_ones = (uint8_t)ones;
	it->nwire = (uint8_t)nwire;
	for (uint32_t i = 0; i < nwire; i++) {
		if (wire[i] >= MATRIX_TARGETS_MAX)
			asm_fail(&r->s, DIAG_ASM_SYNTAX, "wire %u: a matrix has at most %d",
				wire[i], MATRIX_TARGETS_MAX);
		it->wire[i] = (uint8_t)wire[i];
	}
}

static void read_matrix(struct asm_reader *r, struct matrix *m)
{
	uint32_t ntarget = 0;
	asm_want_u32(&r->s, "the number of targets", &ntarget);
	if (ntarget < 1 || ntarget > MATRIX_TARGETS_MAX)
		asm_fail(&r->s, DIAG_ASM_SYNTAX, "%u targets: a matrix has 1 to %d", ntarget,
			MATRIX_TARGETS_MAX);
	m->ntarget = (uint8_t)ntarget;
	if (r->s.kind == ASM_TEXT)
		asm_want_text(r, "a name", &m->name);
	asm_want_sign(&r->s, '{');
	while (!r->s.failed && !asm_accept_sign(&r->s, '}'))
		read_item(r, arena_push(&r->p->arena, m->item, m->nitem));
}

static void read_matrices(struct asm_reader *r)
{
	struct program *p = r->p;
	uint32_t number;
	while (r->s.kind == ASM_WORD && asm_split_word(r->s.word, 'm', &number)) {
		if (number != p->nmatrix)
			asm_fail(&r->s, DIAG_ASM_PLACE, "matrix %u where matrix %u belongs", number,
				p->nmatrix);
		asm_next(&r->s);
		read_matrix(r, arena_push(&p->arena, p->matrix, p->nmatrix));
	}
}

/* ---- head and notes ---- */

static void read_dense(struct asm_reader *r)
{
	struct program *p = r->p;
	struct dense *l = arena_push(&p->arena, p->dense, p->ndense);
	asm_want_sign(&r->s, ':');
	asm_want_u32(&r->s, "the number of inputs", &l->nin);
	asm_want_word(&r->s, "to");
	asm_want_u32(&r->s, "the number of outputs", &l->nout);
	l->activation = want_one_of(&r->s, "an activation", activation_names, ACTIVATION_COUNT);
	asm_want_word(&r->s, "kernel");
	asm_want_u32(&r->s, "a weight group", &l->kernel);
	asm_want_word(&r->s, "bias");
	asm_want_u32(&r->s, "a weight group", &l->bias);
}

static void read_layer(struct asm_reader *r)
{
	struct program *p = r->p;
	struct layer_note *l = arena_push(&p->arena, p->layer, p->nlayer);
	asm_want_text(r, "a path", &l->path);
	l->embed = asm_accept_word(&r->s, "embed");
}

static void read_span(struct asm_reader *r)
{
	struct program *p = r->p;
	struct span_note *l = arena_push(&p->arena, p->span, p->nspan);
	asm_want_sign(&r->s, ':');
	asm_want_u32(&r->s, "a line", &l->line);
	asm_want_u32(&r->s, "a column", &l->column);
}

/* ---- the text ---- */

static void read_sections(struct asm_reader *r)
{
	static const struct {
		const char *name, *record; /* record: those of a section that are numbered */
		void (*read)(struct asm_reader *);
	} section[] = { { "weights", "weight group", read_weight }, { "inputs", "input", read_input },
		{ "exprs", NULL, read_exprs }, { "matrices", NULL, read_matrices },
		{ "circuits", "circuit", asm_read_circuit }, { "dense", "dense layer", read_dense },
		{ "layers", "layer", read_layer }, { "spans", "span", read_span } };
	uint32_t version = 0;
	asm_want_word(&r->s, "qcnn_asm");
	if (r->s.kind == ASM_NUMBER && r->s.is_u32 && r->s.u32 != ASM_VERSION)
		asm_fail(&r->s, DIAG_ASM_SYNTAX, "version %u; this qcnn reads version %d", r->s.u32,
			ASM_VERSION);
	asm_want_u32(&r->s, "the version", &version);
	for (size_t i = 0; i < sizeof section / sizeof *section; i++)
		if (asm_accept_word(&r->s, section[i].name)) {
			if (!section[i].record)
				section[i].read(r);
			for (uint32_t n = 0; section[i].record && r->s.kind == ASM_NUMBER; n++) {
				asm_want_place(&r->s, section[i].record, n);
				section[i].read(r);
			}
		}
	if (r->s.kind != ASM_END)
		asm_fail(&r->s, DIAG_ASM_SYNTAX,
			"neither a record of this section nor a later section");
}

/* A program that reads but does not hold together has no single place: its beginning stands for it. */
static void check(struct asm_reader *r)
{
	struct err e;
	program_number(r->p);
	r->s.span = (struct span){ r->s.file, 0, 0 };
	if (program_verify(r->p, &e))
		asm_fail(&r->s, DIAG_ASM_PROGRAM, "%s", e.text);
}

struct program *asm_read(struct diags *d, uint32_t file)
{
	struct asm_reader r = { .p = program_new() };
	asm_scan_init(&r.s, d, file);
	read_sections(&r);
	if (!r.s.failed)
		check(&r);
	asm_scan_release(&r.s);
	if (r.s.failed) {
		program_free(r.p);
		return NULL;
	}
	program_derive(r.p);
	return r.p;
}
