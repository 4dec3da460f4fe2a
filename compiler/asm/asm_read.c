/* SPDX-License-Identifier: Apache-2.0
 * Text to program: the reverse of asm_print.  The first fault ends the reading; what
 * the text says as a whole is the verifier's business. */
#include "compiler/asm/asm.h"

#include <stdlib.h>
#include <string.h>

/* ---- parts of records ---- */

void *asm_keep(struct program *p, void *list, size_t n, size_t size)
{
	void *kept = n ? arena_copy(&p->arena, list, n, size) : NULL;
	free(list);
	return kept;
}

bool asm_want_text(struct asm_reader *r, const char *what, const char **out)
{
	if (r->s.kind != ASM_TEXT)
		return asm_fail(&r->s, DIAG_ASM_SYNTAX, "%s belongs here, in quotes", what);
	*out = arena_strndup(&r->p->arena, r->s.string.data ? r->s.string.data : "", r->s.string.len);
	asm_next(&r->s);
	return true;
}

/* `%3` */
static bool read_value(struct asm_reader *r, uint32_t *out)
{
	return asm_want_sign(&r->s, '%') && asm_want_u32(&r->s, "an expression", out);
}

bool asm_read_values(struct asm_reader *r, uint32_t max, uint32_t **out, uint32_t *n)
{
	uint32_t *v = NULL, cap = 0;
	bool ok = true;
	*n = 0;
	if (asm_accept_sign(&r->s, '(')) {
		do
			ok = *n < max ? read_value(r, ASM_PUSH(v, *n, cap))
				      : asm_fail(&r->s, DIAG_ASM_SYNTAX, "more than %u values", max);
		while (ok && asm_accept_sign(&r->s, ','));
		ok = ok && asm_want_sign(&r->s, ')');
	}
	*out = asm_keep(r->p, v, *n, sizeof *v);
	return ok;
}

bool asm_read_u32s(struct asm_reader *r, uint32_t max, uint32_t **out, uint32_t *n)
{
	uint32_t *v = NULL, cap = 0;
	bool ok = true;
	for (*n = 0; ok && r->s.kind == ASM_NUMBER;)
		ok = *n < max ? asm_want_u32(&r->s, "a wire", ASM_PUSH(v, *n, cap)) :
			asm_fail(&r->s, DIAG_ASM_SYNTAX, "more than %u wires", max);
	*out = asm_keep(r->p, v, *n, sizeof *v);
	return ok;
}

bool asm_read_prefix(struct asm_reader *r, bool *adjoint, uint32_t max, uint32_t *ncontrol, uint64_t *ones)
{
	*adjoint = asm_accept_word(&r->s, "inv");
	*ncontrol = 0;
	*ones = 0;
	for (;;) {
		bool one = asm_is_word(&r->s, "ctrl");
		if (!one && !asm_is_word(&r->s, "negctrl"))
			return true;
		if (*ncontrol == max)
			return asm_fail(&r->s, DIAG_ASM_SYNTAX, "more than %u controls", max);
		*ones |= (uint64_t)one << (*ncontrol)++;
		asm_next(&r->s);
	}
}

static bool want_one_of(struct asm_scanner *s, const char *what, const char *const *name, size_t n, unsigned *out)
{
	for (size_t i = 0; i < n; i++)
		if (name[i] && asm_accept_word(s, name[i])) {
			*out = (unsigned)i;
			return true;
		}
	return asm_fail(s, DIAG_ASM_WORD, "%s belongs here", what);
}

static bool read_dims(struct asm_scanner *s, uint32_t *ndim, uint32_t *dim)
{
	*ndim = 0;
	if (!asm_accept_sign(s, '['))
		return true;
	do {
		if (*ndim == PROGRAM_DIMS_MAX)
			return asm_fail(s, DIAG_ASM_SYNTAX, "more than %d dimensions", PROGRAM_DIMS_MAX);
		if (!asm_want_u32(s, "a dimension", &dim[(*ndim)++]))
			return false;
	} while (asm_accept_sign(s, ','));
	return asm_want_sign(s, ']');
}

/* ---- weights, inputs, expressions ---- */

static bool read_init_values(struct asm_reader *r, struct weight_group *g)
{
	double *v = NULL;
	size_t n = 0, cap = 0;
	bool ok = true;
	if (r->s.kind == ASM_NUMBER)
		do
			ok = asm_want_number(&r->s, "a value", ASM_PUSH(v, n, cap));
		while (ok && asm_accept_sign(&r->s, ','));
	uint32_t want = shape_count(g->ndim, g->dim, PROGRAM_WEIGHTS_MAX);
	if (ok && n != want)
		ok = asm_fail(&r->s, DIAG_ASM_SYNTAX, "%zu values for %u weights", n, want);
	g->init_value = asm_keep(r->p, v, n, sizeof *v);
	return ok;
}

static bool read_init(struct asm_reader *r, struct weight_group *g)
{
	unsigned init = INIT_NONE;
	if (!asm_want_sign(&r->s, '~') ||
	    !want_one_of(&r->s, "an initialiser", asm_init_name, ASM_INITS, &init) || !asm_want_sign(&r->s, '('))
		return false;
	g->init = init;
	bool ok = init == INIT_VALUES ? read_init_values(r, g) :
		asm_want_number(&r->s, "the first number", &g->init_a) && asm_want_sign(&r->s, ',') &&
		asm_want_number(&r->s, "the second number", &g->init_b);
	return ok && asm_want_sign(&r->s, ')');
}

static bool read_weights(struct asm_reader *r)
{
	struct weight_group *list = NULL;
	uint32_t n = 0, cap = 0;
	bool ok = true;
	while (ok && r->s.kind == ASM_NUMBER) {
		struct weight_group *g = ASM_PUSH(list, n, cap);
		ok = asm_want_place(&r->s, "weight group", n - 1) && asm_want_text(r, "a path", &g->path) &&
			asm_want_word(&r->s, "float") && read_dims(&r->s, &g->ndim, g->dim) && read_init(r, g);
		g->frozen = ok && asm_accept_word(&r->s, "frozen");
	}
	r->p->nweight_group = n;
	r->p->weight_group = asm_keep(r->p, list, n, sizeof *list);
	return ok;
}

static bool read_inputs(struct asm_reader *r)
{
	static const char *const kind[] = { "float", "state" };
	struct input_group *list = NULL;
	uint32_t n = 0, cap = 0;
	bool ok = true;
	while (ok && r->s.kind == ASM_NUMBER) {
		struct input_group *g = ASM_PUSH(list, n, cap);
		unsigned k = 0;
		ok = asm_want_place(&r->s, "input", n - 1) && asm_want_text(r, "a name", &g->name) &&
			want_one_of(&r->s, "`float` or `state`", kind, 2, &k) && read_dims(&r->s, &g->ndim, g->dim);
		g->is_state = k == 1;
	}
	r->p->ninput_group = n;
	r->p->input_group = asm_keep(r->p, list, n, sizeof *list);
	return ok;
}

static bool read_operands(struct asm_reader *r, struct expr *x)
{
	unsigned n = expr_noperand(x->op);
	if (x->op == EXPR_CONST)
		return asm_want_number(&r->s, "a constant", &x->value);
	if (n == 0)
		return asm_want_u32(&r->s, "a scalar's number", &x->a);
	return read_value(r, &x->a) && (n == 1 || read_value(r, &x->b));
}

static bool read_exprs(struct asm_reader *r)
{
	struct expr *list = NULL;
	uint32_t n = 0, cap = 0;
	bool ok = true;
	while (ok && asm_accept_sign(&r->s, '%')) {
		struct expr *x = ASM_PUSH(list, n, cap);
		unsigned op = 0;
		ok = asm_want_place(&r->s, "expression", n - 1) && asm_want_sign(&r->s, '=') &&
			want_one_of(&r->s, "an operation", asm_expr_name, EXPR_COUNT, &op);
		x->op = op;
		ok = ok && read_operands(r, x);
	}
	r->p->nexpr = n;
	r->p->expr = asm_keep(r->p, list, n, sizeof *list);
	return ok;
}

/* ---- matrices ---- */

static bool read_gate(struct asm_reader *r, struct item *it)
{
	const char *alias;
	if (r->s.kind != ASM_WORD)
		return asm_fail(&r->s, DIAG_ASM_SYNTAX, "a gate, a matrix or `}` belongs here");
	if (asm_split_word(r->s.word, 'm', &it->ref)) {
		asm_next(&r->s);
		return true;
	}
	const struct gate_row *row = gate_find(r->s.word, &it->word, &alias);
	if (!row || alias)
		return asm_fail(&r->s, DIAG_ASM_WORD, "unknown gate `%s`", r->s.word);
	it->gate = row->id;
	asm_next(&r->s);
	uint32_t *angle, n;
	if (!asm_read_values(r, GATE_ANGLES_MAX, &angle, &n))
		return false;
	if (n != row->nangle)
		return asm_fail(&r->s, DIAG_ASM_SYNTAX, "%s has %u angles, here are %u", row->name, row->nangle, n);
	if (n)
		memcpy(it->angle, angle, n * sizeof *angle);
	return true;
}

static bool read_item(struct asm_reader *r, struct item *it)
{
	uint32_t ncontrol, nwire, *wire;
	uint64_t ones;
	if (!asm_read_prefix(r, &it->adjoint, MATRIX_TARGETS_MAX, &ncontrol, &ones) || !read_gate(r, it) ||
	    !asm_read_u32s(r, MATRIX_TARGETS_MAX, &wire, &nwire))
		return false;
	it->ncontrol = (uint8_t)ncontrol;
	it->control_ones = (uint8_t)ones;
	it->nwire = (uint8_t)nwire;
	for (uint32_t i = 0; i < nwire; i++) {
		if (wire[i] >= MATRIX_TARGETS_MAX)
			return asm_fail(&r->s, DIAG_ASM_SYNTAX, "wire %u: a matrix has at most %d", wire[i],
				MATRIX_TARGETS_MAX);
		it->wire[i] = (uint8_t)wire[i];
	}
	return true;
}

static bool read_matrix(struct asm_reader *r, struct matrix *m)
{
	uint32_t ntarget, cap = 0;
	struct item *item = NULL;
	if (!asm_want_u32(&r->s, "the number of targets", &ntarget))
		return false;
	if (ntarget < 1 || ntarget > MATRIX_TARGETS_MAX)
		return asm_fail(&r->s, DIAG_ASM_SYNTAX, "%u targets: a matrix has 1 to %d", ntarget, MATRIX_TARGETS_MAX);
	m->ntarget = (uint8_t)ntarget;
	if (r->s.kind == ASM_TEXT && !asm_want_text(r, "a name", &m->name))
		return false;
	bool ok = asm_want_sign(&r->s, '{');
	while (ok && !asm_accept_sign(&r->s, '}'))
		ok = read_item(r, ASM_PUSH(item, m->nitem, cap));
	m->item = asm_keep(r->p, item, m->nitem, sizeof *item);
	return ok;
}

static bool read_matrices(struct asm_reader *r)
{
	struct matrix *list = NULL;
	uint32_t n = 0, cap = 0, number;
	bool ok = true;
	while (ok && r->s.kind == ASM_WORD && asm_split_word(r->s.word, 'm', &number)) {
		if (number != n) {
			ok = asm_fail(&r->s, DIAG_ASM_PLACE, "matrix %u where matrix %u belongs", number, n);
			break;
		}
		asm_next(&r->s);
		ok = read_matrix(r, ASM_PUSH(list, n, cap));
	}
	r->p->nmatrix = n;
	r->p->matrix = asm_keep(r->p, list, n, sizeof *list);
	return ok;
}

/* ---- head and notes ---- */

static bool read_dense(struct asm_reader *r)
{
	struct dense *list = NULL;
	uint32_t n = 0, cap = 0;
	bool ok = true;
	while (ok && r->s.kind == ASM_NUMBER) {
		struct dense *l = ASM_PUSH(list, n, cap);
		unsigned activation = 0;
		ok = asm_want_place(&r->s, "dense layer", n - 1) && asm_want_sign(&r->s, ':') &&
			asm_want_u32(&r->s, "the number of inputs", &l->nin) && asm_want_word(&r->s, "to") &&
			asm_want_u32(&r->s, "the number of outputs", &l->nout) &&
			want_one_of(&r->s, "an activation", asm_activation_name, ACTIVATION_COUNT, &activation) &&
			asm_want_word(&r->s, "kernel") && asm_want_u32(&r->s, "a weight group", &l->kernel) &&
			asm_want_word(&r->s, "bias") && asm_want_u32(&r->s, "a weight group", &l->bias);
		l->activation = activation;
	}
	r->p->ndense = n;
	r->p->dense = asm_keep(r->p, list, n, sizeof *list);
	return ok;
}

static bool read_layers(struct asm_reader *r)
{
	struct layer_note *list = NULL;
	uint32_t n = 0, cap = 0;
	bool ok = true;
	while (ok && r->s.kind == ASM_NUMBER) {
		struct layer_note *l = ASM_PUSH(list, n, cap);
		ok = asm_want_place(&r->s, "layer", n - 1) && asm_want_text(r, "a path", &l->path);
		l->embed = ok && asm_accept_word(&r->s, "embed");
	}
	r->p->nlayer = n;
	r->p->layer = asm_keep(r->p, list, n, sizeof *list);
	return ok;
}

static bool read_spans(struct asm_reader *r)
{
	struct span_note *list = NULL;
	uint32_t n = 0, cap = 0;
	bool ok = true;
	while (ok && r->s.kind == ASM_NUMBER) {
		struct span_note *l = ASM_PUSH(list, n, cap);
		ok = asm_want_place(&r->s, "span", n - 1) && asm_want_sign(&r->s, ':') &&
			asm_want_u32(&r->s, "a line", &l->line) && asm_want_u32(&r->s, "a column", &l->column);
	}
	r->p->nspan = n;
	r->p->span = asm_keep(r->p, list, n, sizeof *list);
	return ok;
}

/* ---- the text ---- */

static bool read_sections(struct asm_reader *r)
{
	static const struct { const char *name; bool (*read)(struct asm_reader *); } section[] = {
		{ "weights", read_weights }, { "inputs", read_inputs }, { "exprs", read_exprs },
		{ "matrices", read_matrices }, { "circuits", asm_read_circuits }, { "dense", read_dense },
		{ "layers", read_layers }, { "spans", read_spans }
	};
	uint32_t version;
	struct span at;
	if (!asm_want_word(&r->s, "qcnn_asm"))
		return false;
	at = r->s.span;
	if (!asm_want_u32(&r->s, "the version", &version))
		return false;
	if (version != ASM_VERSION) {
		r->s.span = at;
		return asm_fail(&r->s, DIAG_ASM_SYNTAX, "version %u; this qcnn reads version %d", version, ASM_VERSION);
	}
	for (size_t i = 0; i < sizeof section / sizeof *section; i++)
		if (asm_accept_word(&r->s, section[i].name) && !section[i].read(r))
			return false;
	return !r->s.failed && (r->s.kind == ASM_END ||
		asm_fail(&r->s, DIAG_ASM_SYNTAX, "neither a record of this section nor a later section"));
}

/* A program that reads but does not hold together has no single place: its beginning stands for it. */
static bool check(struct asm_reader *r)
{
	struct err e;
	program_number(r->p);
	if (!program_verify(r->p, &e))
		return true;
	r->s.span = (struct span){ r->s.file, 0, 0 };
	return asm_fail(&r->s, DIAG_ASM_PROGRAM, "%s", e.text);
}

struct program *asm_read(struct diags *d, uint32_t file)
{
	struct asm_reader r = { .p = program_new() };
	asm_scan_init(&r.s, d, file);
	bool ok = read_sections(&r) && check(&r);
	asm_scan_release(&r.s);
	if (!ok) {
		program_free(r.p);
		return NULL;
	}
	program_derive(r.p);
	return r.p;
}
