/* SPDX-License-Identifier: Apache-2.0
 * Text to program: the reverse of asm_print.  The first fault ends the reading; what
 * the text says as a whole is the verifier's business. */
#include "compiler/asm/asm.h"

#include <string.h>

/* ---- parts of records ---- */

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
	*out = NULL;
	*n = 0;
	if (!asm_accept_sign(&r->s, '('))
		return true;
	do {
		if (*n == max)
			return asm_fail(&r->s, DIAG_ASM_SYNTAX, "more than %u values", max);
		if (!read_value(r, arena_push(&r->p->arena, *out, *n)))
			return false;
	} while (asm_accept_sign(&r->s, ','));
	return asm_want_sign(&r->s, ')');
}

bool asm_read_u32s(struct asm_reader *r, uint32_t max, uint32_t **out, uint32_t *n)
{
	*out = NULL;
	for (*n = 0; r->s.kind == ASM_NUMBER;) {
		if (*n == max)
			return asm_fail(&r->s, DIAG_ASM_SYNTAX, "more than %u wires", max);
		if (!asm_want_u32(&r->s, "a wire", arena_push(&r->p->arena, *out, *n)))
			return false;
	}
	return true;
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
	double *value = NULL;
	size_t n = 0;
	if (r->s.kind == ASM_NUMBER)
		do {
			if (!asm_want_number(&r->s, "a value", arena_push(&r->p->arena, value, n)))
				return false;
		} while (asm_accept_sign(&r->s, ','));
	g->init_value = value;
	uint32_t want = shape_count(g->ndim, g->dim, PROGRAM_WEIGHTS_MAX);
	return n == want || asm_fail(&r->s, DIAG_ASM_SYNTAX, "%zu values for %u weights", n, want);
}

static bool read_init(struct asm_reader *r, struct weight_group *g)
{
	unsigned init = INIT_NONE;
	if (!asm_want_sign(&r->s, '~')
		|| !want_one_of(&r->s, "an initialiser", init_names, INIT_COUNT, &init)
		|| !asm_want_sign(&r->s, '('))
		return false;
	g->init = init;
	bool ok = init == INIT_VALUES ? read_init_values(r, g) :
		asm_want_number(&r->s, "the first number", &g->init_a) && asm_want_sign(&r->s, ',') &&
		asm_want_number(&r->s, "the second number", &g->init_b);
	return ok && asm_want_sign(&r->s, ')');
}

static bool read_weights(struct asm_reader *r)
{
	struct program *p = r->p;
	while (r->s.kind == ASM_NUMBER) {
		struct weight_group *g = arena_push(&p->arena, p->weight_group, p->nweight_group);
		if (!asm_want_place(&r->s, "weight group", p->nweight_group - 1)
			|| !asm_want_text(r, "a path", &g->path) || !asm_want_word(&r->s, "float")
			|| !read_dims(&r->s, &g->ndim, g->dim) || !read_init(r, g))
			return false;
		g->frozen = asm_accept_word(&r->s, "frozen");
	}
	return true;
}

static bool read_inputs(struct asm_reader *r)
{
	static const char *const kind[] = { "float", "state" };
	struct program *p = r->p;
	while (r->s.kind == ASM_NUMBER) {
		struct input_group *g = arena_push(&p->arena, p->input_group, p->ninput_group);
		unsigned k = 0;
		if (!asm_want_place(&r->s, "input", p->ninput_group - 1)
			|| !asm_want_text(r, "a name", &g->name)
			|| !want_one_of(&r->s, "`float` or `state`", kind, 2, &k)
			|| !read_dims(&r->s, &g->ndim, g->dim))
			return false;
		g->is_state = k == 1;
	}
	return true;
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
	struct program *p = r->p;
	while (asm_accept_sign(&r->s, '%')) {
		struct expr *x = arena_push(&p->arena, p->expr, p->nexpr);
		unsigned op = 0;
		if (!asm_want_place(&r->s, "expression", p->nexpr - 1) || !asm_want_sign(&r->s, '=')
			|| !want_one_of(&r->s, "an operation", expr_names, EXPR_COUNT, &op))
			return false;
		x->op = op;
		if (!read_operands(r, x))
			return false;
	}
	return true;
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
	uint32_t ntarget;
	if (!asm_want_u32(&r->s, "the number of targets", &ntarget))
		return false;
	if (ntarget < 1 || ntarget > MATRIX_TARGETS_MAX)
		return asm_fail(&r->s, DIAG_ASM_SYNTAX, "%u targets: a matrix has 1 to %d", ntarget, MATRIX_TARGETS_MAX);
	m->ntarget = (uint8_t)ntarget;
	if (r->s.kind == ASM_TEXT && !asm_want_text(r, "a name", &m->name))
		return false;
	if (!asm_want_sign(&r->s, '{'))
		return false;
	while (!asm_accept_sign(&r->s, '}'))
		if (!read_item(r, arena_push(&r->p->arena, m->item, m->nitem)))
			return false;
	return true;
}

static bool read_matrices(struct asm_reader *r)
{
	struct program *p = r->p;
	uint32_t number;
	while (r->s.kind == ASM_WORD && asm_split_word(r->s.word, 'm', &number)) {
		if (number != p->nmatrix)
			return asm_fail(&r->s, DIAG_ASM_PLACE, "matrix %u where matrix %u belongs",
				number, p->nmatrix);
		asm_next(&r->s);
		if (!read_matrix(r, arena_push(&p->arena, p->matrix, p->nmatrix)))
			return false;
	}
	return true;
}

/* ---- head and notes ---- */

static bool read_dense(struct asm_reader *r)
{
	struct program *p = r->p;
	while (r->s.kind == ASM_NUMBER) {
		struct dense *l = arena_push(&p->arena, p->dense, p->ndense);
		unsigned activation = 0;
		if (!asm_want_place(&r->s, "dense layer", p->ndense - 1) || !asm_want_sign(&r->s, ':')
			|| !asm_want_u32(&r->s, "the number of inputs", &l->nin)
			|| !asm_want_word(&r->s, "to")
			|| !asm_want_u32(&r->s, "the number of outputs", &l->nout)
			|| !want_one_of(&r->s, "an activation", activation_names, ACTIVATION_COUNT,
				&activation)
			|| !asm_want_word(&r->s, "kernel")
			|| !asm_want_u32(&r->s, "a weight group", &l->kernel)
			|| !asm_want_word(&r->s, "bias")
			|| !asm_want_u32(&r->s, "a weight group", &l->bias))
			return false;
		l->activation = activation;
	}
	return true;
}

static bool read_layers(struct asm_reader *r)
{
	struct program *p = r->p;
	while (r->s.kind == ASM_NUMBER) {
		struct layer_note *l = arena_push(&p->arena, p->layer, p->nlayer);
		if (!asm_want_place(&r->s, "layer", p->nlayer - 1)
			|| !asm_want_text(r, "a path", &l->path))
			return false;
		l->embed = asm_accept_word(&r->s, "embed");
	}
	return true;
}

static bool read_spans(struct asm_reader *r)
{
	struct program *p = r->p;
	while (r->s.kind == ASM_NUMBER) {
		struct span_note *l = arena_push(&p->arena, p->span, p->nspan);
		if (!asm_want_place(&r->s, "span", p->nspan - 1) || !asm_want_sign(&r->s, ':')
			|| !asm_want_u32(&r->s, "a line", &l->line)
			|| !asm_want_u32(&r->s, "a column", &l->column))
			return false;
	}
	return true;
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
