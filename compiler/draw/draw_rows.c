/* SPDX-License-Identifier: Apache-2.0
 * What a drawing says in words: names of wires, outputs, title, head. */
#include "compiler/draw/draw_build.h"

static void name_rows(struct scene *s)
{
	const struct circuit_code *c = s->circuit;

	for (uint32_t r = 0; r < s->nrow; r++)
		s->row_name[r] = arena_printf(&s->arena, "wire %u", r);
	for (uint32_t i = 0; i < c->nregister; i++)
		for (uint32_t k = 0; k < c->reg[i].count && c->reg[i].first + k < s->nrow; k++)
			s->row_name[c->reg[i].first + k] = c->reg[i].count == 1
				? arena_strdup(&s->arena, c->reg[i].name)
				: arena_printf(&s->arena, "%s[%u]", c->reg[i].name, k);
}

/* The wire whose letter alone is the output, or INDEX_NONE. */
static uint32_t simple_wire(const struct output *o)
{
	return o->kind == OUTPUT_PAULI && o->nterm == 1 && o->term[0].coefficient == 1 && o->term[0].nfactor == 1
		? o->term[0].factor[0].wire : INDEX_NONE;
}

/* Expectation values of one wire stand at its end, others below; distributions are elements. */
static void name_outputs(struct scene *s)
{
	const struct circuit_code *c = s->circuit;
	buf_auto b = BUF_INIT;

	s->note = arena_alloc(&s->arena, c->noutput + 1, sizeof *s->note);
	for (uint32_t i = 0; i < c->noutput; i++) {
		uint32_t r = simple_wire(&c->output[i]);

		if (r != INDEX_NONE) {
			const char *before = s->row_output[r];

			s->row_output[r] = arena_printf(&s->arena, "%s%s⟨%c⟩", before ? before : "", before ? " " : "",
				" XYZ"[c->output[i].term[0].factor[0].letter]);
			continue;
		}
		if (c->output[i].kind == OUTPUT_PROBS)
			continue;
		buf_clear(&b);
		buf_str(&b, "⟨");
		label_output(s, &c->output[i], &b);
		buf_str(&b, "⟩");
		s->note[s->nnote++] = arena_strdup(&s->arena, b.data);
	}
}

void scene_rows(struct scene *s)
{
	s->row_name = arena_alloc(&s->arena, s->nrow, sizeof *s->row_name);
	s->row_output = arena_alloc(&s->arena, s->nrow, sizeof *s->row_output);
	s->row_end = arena_alloc(&s->arena, s->nrow, sizeof *s->row_end);
	s->row_classical = arena_alloc(&s->arena, s->nrow, sizeof *s->row_classical);
	for (uint32_t r = 0; r < s->nrow; r++)
		s->row_end[r] = s->row_classical[r] = INDEX_NONE;
	name_rows(s);
	name_outputs(s);
}

const char *scene_title(struct scene *s)
{
	const uint32_t n = program_instances(s->program, (uint32_t)(s->circuit - s->program->circuit));

	return n > 1 ? arena_printf(&s->arena, "%s (%u times; the first is drawn)", s->circuit->name, n) : s->circuit->name;
}

void scene_head(const struct program *p, struct buf *out)
{
	if (!p->ndense)
		return;
	buf_printf(out, "head: dense %u", p->dense[0].nin);
	for (uint32_t i = 0; i < p->ndense; i++) {
		buf_printf(out, " → %u", p->dense[i].nout);
		if (p->dense[i].activation)
			buf_printf(out, " (%s)", activation_names[p->dense[i].activation]);
	}
}
