/* SPDX-License-Identifier: Apache-2.0
 * A program as bytes, in the one order that bytecode.h draws: one description of each record writes and reads it.
 *
 * When reading, every length is checked against the bytes that are there before memory is taken, and the verifier has
 * the last word. */
#include "runtime/program/program.h"

#include <stddef.h>
#include <string.h>
#include "runtime/base/crypto/crypto.h"
#include "runtime/program/bytecode.h"

struct codec {
	struct buf *out; /* writing: the records so far; NULL: reading */
	struct rd rd;    /* of the current section */
	struct program *p;
	struct err *e;
	int code; /* of a fault in what is read */
	unsigned section;
	uint32_t record;
};

/* Where a program has the number of a section's records, and their list. */
struct section {
	const char *name;
	size_t count, records, size;
	unsigned least;
	void (*record)(struct codec *c, void *record);
};
static const struct section section[SECTION_END];

/* ---- fields ---- */

/* A number of nbyte bytes, to or from a field of the program. */
#define NUMBER(c, nbyte, field) \
	((c)->out ? buf_little((c)->out, (uint64_t)(field), nbyte) \
		  : (void)((field) = (__typeof__(field))rd_little(&(c)->rd, nbyte)))
#define U8(c, field) NUMBER(c, 1, field)
#define U16(c, field) NUMBER(c, 2, field)
#define U32(c, field) NUMBER(c, 4, field)
#define U64(c, field) NUMBER(c, 8, field)

static void real(struct codec *c, double *field)
{
	if (c->out)
		buf_f64(c->out, *field);
	else
		*field = rd_f64(&c->rd);
}

/* The first fault ends it, with the place in the file before its text: what is read then is 0. */
#define FAIL(c, ...) \
	do { \
		if (!(c)->code) { \
			(c)->code = err_set((c)->e, -ERR_BAD_DATA, __VA_ARGS__); \
			err_prefix((c)->e, "section %s, record %u", section[(c)->section].name, \
				(c)->record); \
			(c)->rd.bad = 1; \
		} \
	} while (0)

static void check_end(struct codec *c, const char *field)
{
	if (c->rd.bad)
		FAIL(c, "%s: the section ends too early", field);
}

/* Is a number that was read beyond what the format knows?  Others write what they have. */
static void check_known(struct codec *c, const char *what, unsigned value, unsigned least, unsigned end)
{
	if (!c->out && (value < least || value >= end))
		FAIL(c, "%s %u is unknown", what, value);
}

/* A list of n records of at least `least` bytes, which fit into what is left of the section; memory for it when reading. */
static void list(struct codec *c, const char *what, uint32_t n, unsigned least, size_t size,
	void *records)
{
	uint64_t left = c->rd.len - c->rd.at;

	check_end(c, what);
	if (n > left / least && !c->out)
		FAIL(c, "%u %s, but only %llu bytes are left", n, what, (unsigned long long)left);
	if (c->out || c->code)
		return;
	void *memory = arena_alloc(&c->p->arena, n, size);
	memcpy(records, &memory, sizeof memory);
}
#define LIST(c, what, n, least, records) list(c, what, n, least, sizeof **(records), records)

static void flag(struct codec *c, const char *field, bool *v)
{
	uint8_t byte = *v;

	U8(c, byte);
	if (byte > 1)
		FAIL(c, "%s is %u, neither 0 nor 1", field, byte);
	if (!c->out)
		*v = byte;
	check_end(c, field);
}

/* *v may be NULL where the text may be absent. */
static void text(struct codec *c, const char *field, bool may_be_absent, const char **v)
{
	size_t len = c->out && *v ? strlen(*v) : BYTECODE_TEXT_ABSENT;

	U16(c, len);
	if (c->out) {
		buf_add(c->out, *v, *v ? len : 0);
		return;
	}
	*v = NULL;
	bool is_absent = len == BYTECODE_TEXT_ABSENT && may_be_absent;
	if (len > PROGRAM_PATH_MAX && !is_absent)
		FAIL(c, "%s: %zu bytes, the limit is %d", field, len, PROGRAM_PATH_MAX);
	const uint8_t *s = is_absent ? NULL : rd_bytes(&c->rd, len);
	if (!s)
		check_end(c, field);
	else if (memchr(s, 0, len))
		FAIL(c, "%s holds a zero byte", field);
	else
		*v = arena_strndup(&c->p->arena, (const char *)s, len);
}

static void dims(struct codec *c, uint32_t *ndim, uint32_t *dim)
{
	U8(c, *ndim);
	if (!c->out && *ndim > PROGRAM_DIMS_MAX) {
		FAIL(c, "%u dimensions, the limit is %d", *ndim, PROGRAM_DIMS_MAX);
		*ndim = 0;
	}
	for (uint32_t i = 0; i < *ndim; i++)
		U32(c, dim[i]);
	check_end(c, "dimensions");
}

static void u32s(struct codec *c, const char *what, uint32_t n, uint32_t **v)
{
	LIST(c, what, n, sizeof(uint32_t), v);
	for (uint32_t i = 0; !c->code && i < n; i++)
		U32(c, (*v)[i]);
}

/* ---- weights, inputs, expressions ---- */

static void weight(struct codec *c, void *record)
{
	struct weight_group *g = record;

	text(c, "path", false, &g->path);
	U8(c, g->init);
	check_known(c, "initialiser", g->init, INIT_UNIFORM, INIT_COUNT);
	flag(c, "frozen", &g->frozen);
	dims(c, &g->ndim, g->dim);
	if (!c->out)
		g->count = shape_count(g->ndim, g->dim, PROGRAM_WEIGHTS_MAX);
	if (g->init == INIT_VALUES) {
		LIST(c, "initial values", g->count, sizeof(double), &g->init_value);
		for (uint32_t i = 0; !c->code && i < g->count; i++)
			real(c, (double *)&g->init_value[i]);
		return;
	}
	real(c, &g->init_a);
	real(c, &g->init_b);
	check_end(c, "initialiser");
}

static void input(struct codec *c, void *record)
{
	struct input_group *g = record;

	text(c, "name", false, &g->name);
	flag(c, "is_state", &g->is_state);
	dims(c, &g->ndim, g->dim);
}

static void expr(struct codec *c, void *record)
{
	struct expr *x = record;

	U8(c, x->op);
	check_known(c, "operation", x->op, EXPR_NONE + 1, EXPR_COUNT);
	if (c->code)
		return;
	if (x->op == EXPR_CONST)
		real(c, &x->value);
	else
		U32(c, x->a);
	if (expr_noperand(x->op) > 1)
		U32(c, x->b);
	check_end(c, "operands");
}

/* ---- matrices ---- */

static void item(struct codec *c, struct item *it)
{
	U16(c, it->gate);
	U8(c, it->word);
	flag(c, "adjoint", &it->adjoint);
	U8(c, it->ncontrol);
	U8(c, it->nwire);
	U8(c, it->control_ones);
	check_known(c, "gate", it->gate, GATE_NONE, GATE_COUNT);
	if (!c->out && it->nwire > MATRIX_TARGETS_MAX)
		FAIL(c, "a factor on %u wires, the limit is %d", it->nwire, MATRIX_TARGETS_MAX);
	if (c->code)
		return;
	for (unsigned k = 0; k < it->nwire; k++)
		U8(c, it->wire[k]);
	if (it->gate == GATE_NONE)
		U32(c, it->ref);
	else
		for (unsigned k = 0; k < gate_row(it->gate)->nangle; k++)
			U32(c, it->angle[k]);
	if (!c->out && it->gate == GATE_NONE && it->word)
		FAIL(c, "a Pauli word in a factor that is a matrix");
	check_end(c, "factor");
}

static void matrix(struct codec *c, void *record)
{
	struct matrix *m = record;

	text(c, "name", true, &m->name);
	U8(c, m->ntarget);
	U32(c, m->nitem);
	LIST(c, "factors", m->nitem, ITEM_BYTES_MIN, &m->item);
	for (uint32_t i = 0; !c->code && i < m->nitem; i++)
		item(c, &m->item[i]);
}

/* ---- circuits ---- */

static void apply(struct codec *c, struct apply *a)
{
	U8(c, a->op);
	flag(c, "adjoint", &a->adjoint);
	U16(c, a->ncontrol);
	U16(c, a->nwire);
	U32(c, a->layer);
	U32(c, a->span);
	check_known(c, "operation", a->op, APPLY_NONE + 1, APPLY_COUNT);
	u32s(c, "wires", a->nwire, &a->wire);
	if (a->ncontrol)
		U64(c, a->control_ones);
	if (a->op == APPLY_UNITARY || a->op == APPLY_STATE)
		U32(c, a->matrix);
	if (a->op == APPLY_AMPLITUDES) {
		U32(c, a->nexpr);
		u32s(c, "entries", a->nexpr, &a->expr);
	}
	check_end(c, "operation");
}

static void term(struct codec *c, struct pauli_term *t)
{
	real(c, &t->coefficient);
	U32(c, t->nfactor);
	LIST(c, "factors", t->nfactor, FACTOR_BYTES, &t->factor);
	for (uint32_t i = 0; !c->code && i < t->nfactor; i++) {
		U32(c, t->factor[i].wire);
		U8(c, t->factor[i].letter);
	}
}

static void output(struct codec *c, struct output *o)
{
	U8(c, o->kind);
	uint32_t *n = o->kind == OUTPUT_PROBS ? &o->nwire : &o->nterm;
	U32(c, *n);
	if (o->kind == OUTPUT_PROBS) {
		u32s(c, "wires", o->nwire, &o->wire);
		return;
	}
	check_known(c, "output of kind", o->kind, OUTPUT_PAULI, OUTPUT_PAULI + 1);
	LIST(c, "terms", o->nterm, TERM_BYTES_MIN, &o->term);
	for (uint32_t i = 0; !c->code && i < o->nterm; i++)
		term(c, &o->term[i]);
}

static void circuit(struct codec *c, void *record)
{
	struct circuit_code *x = record;

	text(c, "name", false, &x->name);
	U32(c, x->nwire);
	U32(c, x->nregister);
	U32(c, x->napply);
	U32(c, x->noutput);
	check_end(c, "counts");
	LIST(c, "registers", x->nregister, REGISTER_BYTES_MIN, &x->reg);
	for (uint32_t i = 0; !c->code && i < x->nregister; i++) {
		text(c, "register", false, &x->reg[i].name);
		U32(c, x->reg[i].first);
		U32(c, x->reg[i].count);
	}
	check_end(c, "registers");
	LIST(c, "operations", x->napply, APPLY_BYTES_MIN, &x->apply);
	for (uint32_t i = 0; !c->code && i < x->napply; i++)
		apply(c, &x->apply[i]);
	LIST(c, "outputs", x->noutput, OUTPUT_BYTES_MIN, &x->output);
	for (uint32_t i = 0; !c->code && i < x->noutput; i++)
		output(c, &x->output[i]);
}

/* ---- head and notes ---- */

static void dense(struct codec *c, void *record)
{
	struct dense *l = record;

	U32(c, l->nin);
	U32(c, l->nout);
	U8(c, l->activation);
	U32(c, l->kernel);
	U32(c, l->bias);
	check_end(c, "layer");
}

static void layer(struct codec *c, void *record)
{
	struct layer_note *n = record;

	text(c, "path", false, &n->path);
	flag(c, "embed", &n->embed);
}

static void span(struct codec *c, void *record)
{
	struct span_note *n = record;

	U32(c, n->line);
	U32(c, n->column);
	check_end(c, "span");
}

/* ---- sections ---- */

static const struct section section[SECTION_END] = {
#define SECTION(name, n, list, least, record) \
	{ \
		name, offsetof(struct program, n), offsetof(struct program, list), \
			sizeof *((struct program *)NULL)->list, least, record \
	}
	[SECTION_WEIGHTS] = SECTION("weights", nweight_group, weight_group, WEIGHT_BYTES_MIN, weight),
	[SECTION_INPUTS] = SECTION("inputs", ninput_group, input_group, INPUT_BYTES_MIN, input),
	[SECTION_EXPRS] = SECTION("exprs", nexpr, expr, EXPR_BYTES_MIN, expr),
	[SECTION_MATRICES] = SECTION("matrices", nmatrix, matrix, MATRIX_BYTES_MIN, matrix),
	[SECTION_CIRCUITS] = SECTION("circuits", ncircuit, circuit, CIRCUIT_BYTES_MIN, circuit),
	[SECTION_DENSE] = SECTION("dense", ndense, dense, DENSE_BYTES, dense),
	[SECTION_LAYERS] = SECTION("layers", nlayer, layer, LAYER_BYTES_MIN, layer),
	[SECTION_SPANS] = SECTION("spans", nspan, span, SPAN_BYTES, span)
#undef SECTION
};

static uint32_t *count_of(const struct codec *c)
{
	return (uint32_t *)((char *)c->p + section[c->section].count);
}

/* All records of the section that the program has. */
static void records(struct codec *c)
{
	const struct section *s = &section[c->section];
	char *first;

	memcpy(&first, (char *)c->p + s->records, sizeof first);
	for (c->record = 0; !c->code && c->record < *count_of(c); c->record++)
		s->record(c, first + s->size * c->record);
}

/* ---- writing ---- */

static void put_row(struct buf *b, unsigned number, uint32_t count, uint64_t offset, uint64_t size)
{
	buf_u32(b, number);
	buf_u32(b, count);
	buf_u64(b, offset);
	buf_u64(b, size);
}

void program_write(const struct program *p, struct buf *out)
{
	buf_auto body = BUF_INIT;
	struct codec c = { .out = &body, .p = (struct program *)p }; /* which writing does not change */
	uint8_t hash[SHA256_BYTES];
	size_t start = out->len;
	uint64_t at = BYTECODE_HEAD_BYTES + (uint64_t)BYTECODE_SECTIONS * BYTECODE_ROW_BYTES;
	buf_add(out, BYTECODE_MAGIC, BYTECODE_MAGIC_BYTES);
	buf_u32(out, BYTECODE_VERSION);
	buf_u32(out, BYTECODE_SECTIONS);
	for (c.section = SECTION_WEIGHTS; c.section < SECTION_END; c.section++) {
		size_t before = body.len;
		records(&c);
		put_row(out, c.section, *count_of(&c), at + before, body.len - before);
	}
	buf_add(out, body.data, body.len);
	sha256_of(out->data + start, out->len - start, hash);
	buf_add(out, hash, sizeof hash);
}

bool program_same(const struct program *a, const struct program *b)
{
	buf_auto x = BUF_INIT, y = BUF_INIT;
	program_write(a, &x);
	program_write(b, &y);
	return x.len == y.len && !memcmp(x.data, y.data, x.len);
}

/* ---- reading ---- */

struct section_row {
	uint32_t count;
	uint64_t offset, size;
};

static void get_section(struct codec *c, const struct section_row *row, const uint8_t *bytes)
{
	const struct section *s = &section[c->section];

	c->rd = (struct rd){ .p = bytes + row->offset, .len = row->size };
	c->record = 0;
	list(c, "records", row->count, s->least, s->size, (char *)c->p + s->records);
	if (c->code)
		return;
	*count_of(c) = row->count;
	records(c);
	if (c->rd.at != c->rd.len)
		FAIL(c, "%zu bytes follow the last record", c->rd.len - c->rd.at);
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
				section[s].name);
		if (row[s].offset != at || row[s].size > len - BYTECODE_HASH_BYTES - at)
			return err_set(e, -ERR_BAD_DATA,
				"section table, row %u (%s): bytes %llu..+%llu do not fit", s,
				section[s].name, (unsigned long long)row[s].offset,
				(unsigned long long)row[s].size);
		at += row[s].size;
	}
	return at == len - BYTECODE_HASH_BYTES
		? 0
		: err_set(e, -ERR_BAD_DATA, "%llu bytes follow the last section",
			(unsigned long long)(len - BYTECODE_HASH_BYTES - at));
}

static int check_frame(const uint8_t *bytes, size_t len, struct err *e)
{
	const size_t least =
		BYTECODE_HEAD_BYTES + BYTECODE_SECTIONS * BYTECODE_ROW_BYTES + BYTECODE_HASH_BYTES;
	uint8_t hash[SHA256_BYTES];
	if (len < BYTECODE_MAGIC_BYTES || memcmp(bytes, BYTECODE_MAGIC, BYTECODE_MAGIC_BYTES))
		return err_set(e, -ERR_BAD_DATA,
			"not qcnn bytecode: the file does not begin with its magic");
	if (len > PROGRAM_BYTES_MAX)
		return err_set(e, -ERR_BAD_DATA, "%zu bytes of bytecode, the limit is %d", len,
			PROGRAM_BYTES_MAX);
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
		return err_set(e, -ERR_BAD_DATA, "bytecode of version %u, this qcnn reads version %d",
			version, BYTECODE_VERSION);
	uint32_t n = rd_u32(&rd);
	return n == BYTECODE_SECTIONS ? 0
				      : err_set(e, -ERR_BAD_DATA, "%u sections, version %d has %d",
					      n, BYTECODE_VERSION, BYTECODE_SECTIONS);
}

int program_read(const void *bytes, size_t len, struct program **out, struct err *e)
{
	struct section_row row[SECTION_END];
	struct rd rd = { .p = bytes, .len = len, .at = BYTECODE_HEAD_BYTES };
	int rc = check_frame(bytes, len, e);
	if (rc || (rc = get_table(&rd, len, row, e)))
		return rc;
	struct codec c = { .p = program_new(), .e = e };
	for (c.section = SECTION_WEIGHTS; !c.code && c.section < SECTION_END; c.section++)
		get_section(&c, &row[c.section], bytes);
	if (!c.code) {
		program_number(c.p);
		c.code = program_verify(c.p, e);
	}
	if (c.code) {
		program_free(c.p);
		return c.code;
	}
	program_derive(c.p);
	*out = c.p;
	return 0;
}
