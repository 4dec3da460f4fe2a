/* SPDX-License-Identifier: Apache-2.0
 * Bytes as a program: every length is checked against the bytes that are there
 * before memory is taken, and the verifier has the last word. */
#include "runtime/program/program.h"

#include <stdio.h>
#include <string.h>
#include "runtime/base/crypto/crypto.h"
#include "runtime/program/bytecode.h"

struct reader {
	struct rd rd;                    /* of the current section */
	struct program *p;
	struct err *e;
	unsigned section;
	uint32_t record;
};

__attribute__((format(printf, 2, 3)))
static int bad(struct reader *r, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return err_set(r->e, -ERR_BAD_DATA, "section %s, record %u: %s",
		bytecode_section_name[r->section], r->record, text);
}

static int check_end(struct reader *r, const char *field)
{
	return r->rd.bad ? bad(r, "%s: the section ends too early", field) : 0;
}

/* n records of at least `least` bytes fit into what is left of the section. */
static int check_room(struct reader *r, const char *what, uint64_t n, unsigned least)
{
	int rc = check_end(r, what);
	uint64_t left = r->rd.len - r->rd.at;
	if (!rc && n > left / least)
		return bad(r, "%llu %s, but only %llu bytes are left", (unsigned long long)n, what,
			(unsigned long long)left);
	return rc;
}

static int get_flag(struct reader *r, const char *field, bool *out)
{
	uint8_t v = rd_u8(&r->rd);
	if (v > 1)
		return bad(r, "%s is %u, neither 0 nor 1", field, v);
	*out = v;
	return check_end(r, field);
}

static int get_text(struct reader *r, const char *field, bool may_be_absent, const char **out)
{
	uint16_t n = rd_u16(&r->rd);
	*out = NULL;
	if (n == BYTECODE_TEXT_ABSENT && may_be_absent)
		return check_end(r, field);
	if (n > PROGRAM_PATH_MAX)
		return bad(r, "%s: %u bytes, the limit is %d", field, n, PROGRAM_PATH_MAX);
	const uint8_t *s = rd_bytes(&r->rd, n);
	if (!s)
		return bad(r, "%s: the section ends too early", field);
	if (memchr(s, 0, n))
		return bad(r, "%s holds a zero byte", field);
	*out = arena_strndup(&r->p->arena, (const char *)s, n);
	return 0;
}

static int get_dims(struct reader *r, uint32_t *ndim, uint32_t *dim)
{
	*ndim = rd_u8(&r->rd);
	if (*ndim > PROGRAM_DIMS_MAX)
		return bad(r, "%u dimensions, the limit is %d", *ndim, PROGRAM_DIMS_MAX);
	for (uint32_t i = 0; i < *ndim; i++)
		dim[i] = rd_u32(&r->rd);
	return check_end(r, "dimensions");
}

static uint32_t *get_u32s(struct reader *r, uint32_t n)
{
	uint32_t *v = arena_alloc(&r->p->arena, n, sizeof *v);
	for (uint32_t i = 0; i < n; i++)
		v[i] = rd_u32(&r->rd);
	return v;
}

/* ---- weights, inputs, expressions ---- */

static int get_values(struct reader *r, struct weight_group *g)
{
	int rc = check_room(r, "initial values", g->count, sizeof(double));
	if (rc)
		return rc;
	double *v = arena_alloc(&r->p->arena, g->count, sizeof *v);
	for (uint32_t i = 0; i < g->count; i++)
		v[i] = rd_f64(&r->rd);
	g->init_value = v;
	return 0;
}

static int get_weight(struct reader *r, void *record)
{
	struct weight_group *g = record;
	int rc = get_text(r, "path", false, &g->path);
	if (rc)
		return rc;
	g->init = rd_u8(&r->rd);
	if (g->init == INIT_NONE || g->init > INIT_GLOROT_UNIFORM)
		return bad(r, "initialiser %d is unknown", (int)g->init);
	if ((rc = get_flag(r, "frozen", &g->frozen)) || (rc = get_dims(r, &g->ndim, g->dim)))
		return rc;
	g->count = shape_count(g->ndim, g->dim, PROGRAM_WEIGHTS_MAX);
	if (g->init == INIT_VALUES)
		return get_values(r, g);
	g->init_a = rd_f64(&r->rd);
	g->init_b = rd_f64(&r->rd);
	return check_end(r, "initialiser");
}

static int get_input(struct reader *r, void *record)
{
	struct input_group *g = record;
	int rc = get_text(r, "name", false, &g->name);
	if (rc || (rc = get_flag(r, "is_state", &g->is_state)))
		return rc;
	return get_dims(r, &g->ndim, g->dim);
}

static int get_expr(struct reader *r, void *record)
{
	struct expr *x = record;
	x->op = rd_u8(&r->rd);
	if (x->op == EXPR_NONE || x->op >= EXPR_COUNT)
		return bad(r, "operation %d is unknown", (int)x->op);
	if (x->op == EXPR_CONST)
		x->value = rd_f64(&r->rd);
	else
		x->a = rd_u32(&r->rd);
	if (expr_noperand(x->op) > 1)
		x->b = rd_u32(&r->rd);
	return check_end(r, "operands");
}

/* ---- matrices ---- */

static int get_item(struct reader *r, struct item *it)
{
	it->gate = rd_u16(&r->rd);
	it->word = rd_u8(&r->rd);
	int rc = get_flag(r, "adjoint", &it->adjoint);
	if (rc)
		return rc;
	it->ncontrol = rd_u8(&r->rd);
	it->nwire = rd_u8(&r->rd);
	it->control_ones = rd_u8(&r->rd);
	if (it->gate >= GATE_COUNT)
		return bad(r, "gate %d is unknown", (int)it->gate);
	if (it->nwire > MATRIX_TARGETS_MAX)
		return bad(r, "a factor on %u wires, the limit is %d", it->nwire, MATRIX_TARGETS_MAX);
	for (unsigned k = 0; k < it->nwire; k++)
		it->wire[k] = rd_u8(&r->rd);
	if (it->gate == GATE_NONE)
		it->ref = rd_u32(&r->rd);
	else
		for (unsigned k = 0; k < gate_row(it->gate)->nangle; k++)
			it->angle[k] = rd_u32(&r->rd);
	if (it->gate == GATE_NONE && it->word)
		return bad(r, "a Pauli word in a factor that is a matrix");
	return check_end(r, "factor");
}

static int get_matrix(struct reader *r, void *record)
{
	struct matrix *m = record;
	int rc = get_text(r, "name", true, &m->name);
	if (rc)
		return rc;
	m->ntarget = rd_u8(&r->rd);
	m->nitem = rd_u32(&r->rd);
	if ((rc = check_room(r, "factors", m->nitem, ITEM_BYTES_MIN)))
		return rc;
	m->item = arena_alloc(&r->p->arena, m->nitem, sizeof *m->item);
	for (uint32_t i = 0; !rc && i < m->nitem; i++)
		rc = get_item(r, &m->item[i]);
	return rc;
}

/* ---- circuits ---- */

static int get_operand(struct reader *r, struct apply *a)
{
	if (a->op == APPLY_UNITARY || a->op == APPLY_STATE)
		a->matrix = rd_u32(&r->rd);
	if (a->op == APPLY_AMPLITUDES) {
		a->nexpr = rd_u32(&r->rd);
		int rc = check_room(r, "entries", a->nexpr, sizeof(uint32_t));
		if (rc)
			return rc;
		a->expr = get_u32s(r, a->nexpr);
	}
	return check_end(r, "operation");
}

static int get_apply(struct reader *r, struct apply *a)
{
	a->op = rd_u8(&r->rd);
	int rc = get_flag(r, "adjoint", &a->adjoint);
	if (rc)
		return rc;
	a->ncontrol = rd_u16(&r->rd);
	a->nwire = rd_u16(&r->rd);
	a->layer = rd_u32(&r->rd);
	a->span = rd_u32(&r->rd);
	if (a->op == APPLY_NONE || a->op >= APPLY_COUNT)
		return bad(r, "operation %d is unknown", (int)a->op);
	if ((rc = check_room(r, "wires", a->nwire, sizeof(uint32_t))))
		return rc;
	a->wire = get_u32s(r, a->nwire);
	if (a->ncontrol)
		a->control_ones = rd_u64(&r->rd);
	return get_operand(r, a);
}

static int get_term(struct reader *r, struct pauli_term *t)
{
	t->coefficient = rd_f64(&r->rd);
	t->nfactor = rd_u32(&r->rd);
	int rc = check_room(r, "factors", t->nfactor, FACTOR_BYTES);
	if (rc)
		return rc;
	t->factor = arena_alloc(&r->p->arena, t->nfactor, sizeof *t->factor);
	for (uint32_t i = 0; i < t->nfactor; i++) {
		t->factor[i].wire = rd_u32(&r->rd);
		t->factor[i].letter = rd_u8(&r->rd);
	}
	return 0;
}

static int get_output(struct reader *r, struct output *o)
{
	int rc;
	o->kind = rd_u8(&r->rd);
	uint32_t n = rd_u32(&r->rd);
	if (o->kind == OUTPUT_PROBS) {
		if ((rc = check_room(r, "wires", n, sizeof(uint32_t))))
			return rc;
		o->nwire = n;
		o->wire = get_u32s(r, n);
		return 0;
	}
	if (o->kind != OUTPUT_PAULI)
		return bad(r, "output of kind %d is unknown", (int)o->kind);
	if ((rc = check_room(r, "terms", n, TERM_BYTES_MIN)))
		return rc;
	o->nterm = n;
	o->term = arena_alloc(&r->p->arena, n, sizeof *o->term);
	for (uint32_t i = 0; !rc && i < n; i++)
		rc = get_term(r, &o->term[i]);
	return rc;
}

static int get_registers(struct reader *r, struct circuit_code *c)
{
	int rc = check_room(r, "registers", c->nregister, REGISTER_BYTES_MIN);
	if (rc)
		return rc;
	c->reg = arena_alloc(&r->p->arena, c->nregister, sizeof *c->reg);
	for (uint32_t i = 0; !rc && i < c->nregister; i++) {
		rc = get_text(r, "register", false, &c->reg[i].name);
		c->reg[i].first = rd_u32(&r->rd);
		c->reg[i].count = rd_u32(&r->rd);
	}
	return rc ? rc : check_end(r, "registers");
}

static int get_applies(struct reader *r, struct circuit_code *c)
{
	int rc = check_room(r, "operations", c->napply, APPLY_BYTES_MIN);
	if (rc)
		return rc;
	c->apply = arena_alloc(&r->p->arena, c->napply, sizeof *c->apply);
	for (uint32_t i = 0; !rc && i < c->napply; i++)
		rc = get_apply(r, &c->apply[i]);
	return rc;
}

static int get_circuit(struct reader *r, void *record)
{
	struct circuit_code *c = record;
	int rc = get_text(r, "name", false, &c->name);
	if (rc)
		return rc;
	c->nwire = rd_u32(&r->rd);
	c->nregister = rd_u32(&r->rd);
	c->napply = rd_u32(&r->rd);
	c->noutput = rd_u32(&r->rd);
	if ((rc = check_end(r, "counts")) || (rc = get_registers(r, c)) || (rc = get_applies(r, c)) ||
	    (rc = check_room(r, "outputs", c->noutput, OUTPUT_BYTES_MIN)))
		return rc;
	c->output = arena_alloc(&r->p->arena, c->noutput, sizeof *c->output);
	for (uint32_t i = 0; !rc && i < c->noutput; i++)
		rc = get_output(r, &c->output[i]);
	return rc;
}

/* ---- head and notes ---- */

static int get_dense(struct reader *r, void *record)
{
	struct dense *l = record;
	l->nin = rd_u32(&r->rd);
	l->nout = rd_u32(&r->rd);
	l->activation = rd_u8(&r->rd);
	l->kernel = rd_u32(&r->rd);
	l->bias = rd_u32(&r->rd);
	return check_end(r, "layer");
}

static int get_layer(struct reader *r, void *record)
{
	struct layer_note *n = record;
	int rc = get_text(r, "path", false, &n->path);
	return rc ? rc : get_flag(r, "embed", &n->embed);
}

static int get_span(struct reader *r, void *record)
{
	struct span_note *n = record;
	n->line = rd_u32(&r->rd);
	n->column = rd_u32(&r->rd);
	return check_end(r, "span");
}

/* ---- the file ---- */

struct section_row { uint32_t count; uint64_t offset, size; };

static int get_section(struct reader *r, const struct section_row *row, const uint8_t *bytes)
{
	struct program *p = r->p;
	const struct {
		uint32_t *count; void *list; size_t size; unsigned least; int (*get)(struct reader *, void *);
	} kind[SECTION_END] = {
#define LIST(n, list) &p->n, &p->list, sizeof *p->list
		[SECTION_WEIGHTS] = { LIST(nweight_group, weight_group), WEIGHT_BYTES_MIN, get_weight },
		[SECTION_INPUTS] = { LIST(ninput_group, input_group), INPUT_BYTES_MIN, get_input },
		[SECTION_EXPRS] = { LIST(nexpr, expr), EXPR_BYTES_MIN, get_expr },
		[SECTION_MATRICES] = { LIST(nmatrix, matrix), MATRIX_BYTES_MIN, get_matrix },
		[SECTION_CIRCUITS] = { LIST(ncircuit, circuit), CIRCUIT_BYTES_MIN, get_circuit },
		[SECTION_DENSE] = { LIST(ndense, dense), DENSE_BYTES, get_dense },
		[SECTION_LAYERS] = { LIST(nlayer, layer), LAYER_BYTES_MIN, get_layer },
		[SECTION_SPANS] = { LIST(nspan, span), SPAN_BYTES, get_span }
#undef LIST
	};
	size_t size = kind[r->section].size;
	r->rd = (struct rd){ .p = bytes + row->offset, .len = row->size };
	r->record = 0;
	int rc = check_room(r, "records", row->count, kind[r->section].least);
	if (rc)
		return rc;
	char *list = arena_alloc(&p->arena, row->count, size);
	memcpy(kind[r->section].list, &list, sizeof list);
	*kind[r->section].count = row->count;
	for (r->record = 0; !rc && r->record < row->count; r->record++)
		if ((rc = kind[r->section].get(r, list + size * r->record)))
			return rc;
	return r->rd.at == r->rd.len ? 0 : bad(r, "%zu bytes follow the last record", r->rd.len - r->rd.at);
}

static int get_table(struct rd *rd, size_t len, struct section_row *row, struct err *e)
{
	uint64_t at = BYTECODE_HEAD_BYTES + (uint64_t)BYTECODE_SECTIONS * BYTECODE_ROW_BYTES;
	for (unsigned s = SECTION_WEIGHTS; s < SECTION_END; s++) {
		uint32_t id = rd_u32(rd);
		row[s].count = rd_u32(rd);
		row[s].offset = rd_u64(rd);
		row[s].size = rd_u64(rd);
		if (id != s)
			return err_set(e, -ERR_BAD_DATA,
				"section table, row %u: section %u instead of %u (%s)", s, id, s,
				bytecode_section_name[s]);
		if (row[s].offset != at || row[s].size > len - BYTECODE_HASH_BYTES - at)
			return err_set(e, -ERR_BAD_DATA, "section table, row %u (%s): bytes %llu..+%llu do not fit",
				s, bytecode_section_name[s], (unsigned long long)row[s].offset,
				(unsigned long long)row[s].size);
		at += row[s].size;
	}
	return at == len - BYTECODE_HASH_BYTES ? 0 :
		err_set(e, -ERR_BAD_DATA, "%llu bytes follow the last section",
			(unsigned long long)(len - BYTECODE_HASH_BYTES - at));
}

static int check_frame(const uint8_t *bytes, size_t len, struct err *e)
{
	const size_t least = BYTECODE_HEAD_BYTES + BYTECODE_SECTIONS * BYTECODE_ROW_BYTES + BYTECODE_HASH_BYTES;
	uint8_t hash[SHA256_BYTES];
	if (len < BYTECODE_MAGIC_BYTES || memcmp(bytes, BYTECODE_MAGIC, BYTECODE_MAGIC_BYTES))
		return err_set(e, -ERR_BAD_DATA, "not qcnn bytecode: the file does not begin with its magic");
	if (len > PROGRAM_BYTES_MAX)
		return err_set(e, -ERR_BAD_DATA, "%zu bytes of bytecode, the limit is %d", len, PROGRAM_BYTES_MAX);
	struct rd rd = { .p = bytes, .len = len, .at = BYTECODE_MAGIC_BYTES };
	uint32_t version = rd_u32(&rd);
	if (len < least)
		return err_set(e, -ERR_BAD_DATA,
			"bytecode truncated: %zu bytes, at least %zu expected", len, least);
	sha256_of(bytes, len - sizeof hash, hash);
	if (memcmp(hash, bytes + len - sizeof hash, sizeof hash))
		return err_set(e, -ERR_BAD_DATA,
			"bytecode damaged or truncated: its SHA-256 does not match");
	if (version != BYTECODE_VERSION)
		return err_set(e, -ERR_BAD_DATA, "bytecode of version %u, this qcnn reads version %d", version,
			BYTECODE_VERSION);
	uint32_t n = rd_u32(&rd);
	return n == BYTECODE_SECTIONS ? 0 :
		err_set(e, -ERR_BAD_DATA, "%u sections, version %d has %d", n, BYTECODE_VERSION, BYTECODE_SECTIONS);
}

int program_read(const void *bytes, size_t len, struct program **out, struct err *e)
{
	struct section_row row[SECTION_END];
	struct rd rd = { .p = bytes, .len = len, .at = BYTECODE_HEAD_BYTES };
	int rc = check_frame(bytes, len, e);
	if (rc || (rc = get_table(&rd, len, row, e)))
		return rc;
	struct reader r = { .p = program_new(), .e = e };
	for (r.section = SECTION_WEIGHTS; !rc && r.section < SECTION_END; r.section++)
		rc = get_section(&r, &row[r.section], bytes);
	if (!rc) {
		program_number(r.p);
		rc = program_verify(r.p, e);
	}
	if (rc) {
		program_free(r.p);
		return rc;
	}
	program_derive(r.p);
	*out = r.p;
	return 0;
}
