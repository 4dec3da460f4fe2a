/* SPDX-License-Identifier: Apache-2.0
 * A program as bytes, in the one order that bytecode.h draws. */
#include "runtime/program/program.h"

#include <string.h>
#include "runtime/base/crypto/crypto.h"
#include "runtime/program/bytecode.h"

const char *const bytecode_section_name[SECTION_END] = {
	[SECTION_NONE] = "none", [SECTION_WEIGHTS] = "weights", [SECTION_INPUTS] = "inputs",
	[SECTION_EXPRS] = "exprs", [SECTION_MATRICES] = "matrices", [SECTION_CIRCUITS] = "circuits",
	[SECTION_DENSE] = "dense", [SECTION_LAYERS] = "layers", [SECTION_SPANS] = "spans"
};

static void put_text(struct buf *b, const char *s)
{
	if (!s) {
		buf_u16(b, BYTECODE_TEXT_ABSENT);
		return;
	}
	size_t n = strlen(s);
	buf_u16(b, (uint16_t)n);
	buf_add(b, s, n);
}

static void put_u32s(struct buf *b, const uint32_t *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		buf_u32(b, v[i]);
}

static void put_weights(const struct program *p, struct buf *b)
{
	for (uint32_t i = 0; i < p->nweight_group; i++) {
		const struct weight_group *g = &p->weight_group[i];
		put_text(b, g->path);
		buf_u8(b, (uint8_t)g->init);
		buf_u8(b, g->frozen);
		buf_u8(b, (uint8_t)g->ndim);
		put_u32s(b, g->dim, g->ndim);
		if (g->init == INIT_VALUES) {
			for (uint32_t k = 0; k < g->count; k++)
				buf_f64(b, g->init_value[k]);
		} else {
			buf_f64(b, g->init_a);
			buf_f64(b, g->init_b);
		}
	}
}

static void put_inputs(const struct program *p, struct buf *b)
{
	for (uint32_t i = 0; i < p->ninput_group; i++) {
		const struct input_group *g = &p->input_group[i];
		put_text(b, g->name);
		buf_u8(b, g->is_state);
		buf_u8(b, (uint8_t)g->ndim);
		put_u32s(b, g->dim, g->ndim);
	}
}

static void put_exprs(const struct program *p, struct buf *b)
{
	for (uint32_t i = 0; i < p->nexpr; i++) {
		const struct expr *x = &p->expr[i];
		buf_u8(b, (uint8_t)x->op);
		if (x->op == EXPR_CONST)
			buf_f64(b, x->value);
		else
			buf_u32(b, x->a);
		if (expr_noperand(x->op) > 1)
			buf_u32(b, x->b);
	}
}

static void put_item(const struct item *it, struct buf *b)
{
	buf_u16(b, (uint16_t)it->gate);
	buf_u8(b, it->word);
	buf_u8(b, it->adjoint);
	buf_u8(b, it->ncontrol);
	buf_u8(b, it->nwire);
	buf_u8(b, it->control_ones);
	buf_add(b, it->wire, it->nwire);
	if (it->gate == GATE_NONE)
		buf_u32(b, it->ref);
	else
		put_u32s(b, it->angle, gate_row(it->gate)->nangle);
}

static void put_matrices(const struct program *p, struct buf *b)
{
	for (uint32_t i = 0; i < p->nmatrix; i++) {
		const struct matrix *m = &p->matrix[i];
		put_text(b, m->name);
		buf_u8(b, m->ntarget);
		buf_u32(b, m->nitem);
		for (uint32_t k = 0; k < m->nitem; k++)
			put_item(&m->item[k], b);
	}
}

static void put_apply(const struct apply *a, struct buf *b)
{
	buf_u8(b, (uint8_t)a->op);
	buf_u8(b, a->adjoint);
	buf_u16(b, a->ncontrol);
	buf_u16(b, a->nwire);
	buf_u32(b, a->layer);
	buf_u32(b, a->span);
	put_u32s(b, a->wire, a->nwire);
	if (a->ncontrol)
		buf_u64(b, a->control_ones);
	if (a->op == APPLY_UNITARY || a->op == APPLY_STATE)
		buf_u32(b, a->matrix);
	if (a->op == APPLY_AMPLITUDES) {
		buf_u32(b, a->nexpr);
		put_u32s(b, a->expr, a->nexpr);
	}
}

static void put_output(const struct output *o, struct buf *b)
{
	buf_u8(b, (uint8_t)o->kind);
	if (o->kind == OUTPUT_PROBS) {
		buf_u32(b, o->nwire);
		put_u32s(b, o->wire, o->nwire);
		return;
	}
	buf_u32(b, o->nterm);
	for (uint32_t i = 0; i < o->nterm; i++) {
		const struct pauli_term *t = &o->term[i];
		buf_f64(b, t->coefficient);
		buf_u32(b, t->nfactor);
		for (uint32_t k = 0; k < t->nfactor; k++) {
			buf_u32(b, t->factor[k].wire);
			buf_u8(b, t->factor[k].letter);
		}
	}
}

static void put_circuits(const struct program *p, struct buf *b)
{
	for (uint32_t i = 0; i < p->ncircuit; i++) {
		const struct circuit_code *c = &p->circuit[i];
		put_text(b, c->name);
		buf_u32(b, c->nwire);
		buf_u32(b, c->nregister);
		buf_u32(b, c->napply);
		buf_u32(b, c->noutput);
		for (uint32_t k = 0; k < c->nregister; k++) {
			put_text(b, c->reg[k].name);
			buf_u32(b, c->reg[k].first);
			buf_u32(b, c->reg[k].count);
		}
		for (uint32_t k = 0; k < c->napply; k++)
			put_apply(&c->apply[k], b);
		for (uint32_t k = 0; k < c->noutput; k++)
			put_output(&c->output[k], b);
	}
}

static void put_dense(const struct program *p, struct buf *b)
{
	for (uint32_t i = 0; i < p->ndense; i++) {
		buf_u32(b, p->dense[i].nin);
		buf_u32(b, p->dense[i].nout);
		buf_u8(b, (uint8_t)p->dense[i].activation);
		buf_u32(b, p->dense[i].kernel);
		buf_u32(b, p->dense[i].bias);
	}
}

static void put_layers(const struct program *p, struct buf *b)
{
	for (uint32_t i = 0; i < p->nlayer; i++) {
		put_text(b, p->layer[i].path);
		buf_u8(b, p->layer[i].embed);
	}
}

static void put_spans(const struct program *p, struct buf *b)
{
	for (uint32_t i = 0; i < p->nspan; i++) {
		buf_u32(b, p->span[i].line);
		buf_u32(b, p->span[i].column);
	}
}

static void put_row(struct buf *b, unsigned section, uint32_t count, uint64_t offset, uint64_t size)
{
	buf_u32(b, section);
	buf_u32(b, count);
	buf_u64(b, offset);
	buf_u64(b, size);
}

void program_write(const struct program *p, struct buf *out)
{
	const struct { uint32_t count; void (*put)(const struct program *, struct buf *); } section[SECTION_END] = {
		[SECTION_WEIGHTS] = { p->nweight_group, put_weights },
		[SECTION_INPUTS] = { p->ninput_group, put_inputs },
		[SECTION_EXPRS] = { p->nexpr, put_exprs },
		[SECTION_MATRICES] = { p->nmatrix, put_matrices },
		[SECTION_CIRCUITS] = { p->ncircuit, put_circuits },
		[SECTION_DENSE] = { p->ndense, put_dense },
		[SECTION_LAYERS] = { p->nlayer, put_layers },
		[SECTION_SPANS] = { p->nspan, put_spans }
	};
	struct buf body = BUF_INIT;
	size_t start = out->len;
	uint64_t at = BYTECODE_HEAD_BYTES + (uint64_t)BYTECODE_SECTIONS * BYTECODE_ROW_BYTES;
	buf_add(out, BYTECODE_MAGIC, BYTECODE_MAGIC_BYTES);
	buf_u32(out, BYTECODE_VERSION);
	buf_u32(out, BYTECODE_SECTIONS);
	for (unsigned s = SECTION_WEIGHTS; s < SECTION_END; s++) {
		size_t before = body.len;
		section[s].put(p, &body);
		put_row(out, s, section[s].count, at + before, body.len - before);
	}
	buf_add(out, body.data, body.len);
	buf_release(&body);
	uint8_t hash[SHA256_BYTES];
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
