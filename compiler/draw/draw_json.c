/* SPDX-License-Identifier: Apache-2.0
 * The scenes of a program's circuits as JSON: wires, elements with their columns and marks, layers, outputs. */
#include "compiler/draw/draw_scene.h"

#include "runtime/base/buf.h"

static const char *const mark_name[] = {
	[MARK_NONE] = "none", [MARK_BOX] = "box", [MARK_CONTROL] = "control", [MARK_ANTICONTROL] = "anticontrol",
	[MARK_PLUS] = "plus", [MARK_CROSS] = "cross", [MARK_DISCARD] = "discard", [MARK_METER] = "measure",
};

static void add_wires(const struct scene *s, struct buf *out)
{
	buf_str(out, ", \"wires\": [");
	for (uint32_t i = 0; i < s->nrow; i++)
		buf_json(out, ", {\"name\": %s, \"output\": %s}", s->row_name[i], s->row_output[i]);
	buf_char(out, ']');
}

static void add_marks(const struct element *x, struct buf *out)
{
	buf_str(out, ", \"marks\": [");
	for (uint32_t i = 0; i < x->nmark; i++)
		buf_json(out, ", {\"kind\": %s, \"first\": %u, \"last\": %u}",
			mark_name[x->mark[i].kind], x->mark[i].first, x->mark[i].last);
	buf_char(out, ']');
}

static void add_element(const struct scene *s, const struct element *x, struct buf *out)
{
	buf_json(out, ", {\"column\": %u, \"first\": %u, \"last\": %u, \"label\": %s, \"operands\": [",
		x->column, x->first, x->last,
		x->label.plain && *x->label.plain ? x->label.plain : NULL);
	for (uint32_t i = 0; i < x->noperand; i++)
		buf_json(out, ", %u", x->operand[i]);
	buf_json(out, "], \"layer\": %s",
		x->layer == INDEX_NONE ? NULL : s->program->layer[x->layer].path);
	add_marks(x, out);
	buf_char(out, '}');
}

static void add_layers(const struct scene *s, struct buf *out)
{
	buf_str(out, ", \"layers\": [");
	for (uint32_t i = 0; i < s->nframe; i++) {
		const struct frame *f = &s->frame[i];

		buf_json(out,
			", {\"name\": %s, \"column\": %u, \"columns\": %u, \"first\": %u, \"last\": %u}",
			f->title, f->column, f->ncolumn, f->first, f->last);
	}
	buf_char(out, ']');
}

static void add_scene(struct scene *s, struct buf *out)
{
	buf_json(out, ", {\"name\": %s, \"columns\": %u", *s->circuit->name ? scene_title(s) : NULL,
		s->ncolumn);
	add_wires(s, out);
	buf_str(out, ", \"elements\": [");
	for (uint32_t i = 0; i < s->nelement; i++)
		add_element(s, &s->element[i], out);
	buf_char(out, ']');
	add_layers(s, out);
	buf_str(out, ", \"outputs\": [");
	for (uint32_t i = 0; i < s->nnote; i++)
		buf_json(out, ", %s", s->note[i]);
	buf_str(out, "]}");
}

int draw_json(const struct program *p, const struct draw_options *o, struct buf *out, struct err *e)
{
	buf_auto head = BUF_INIT;
	int code = scene_check(p, o, e);

	buf_str(out, "{\"schema\": 1, \"circuits\": [");
	for (uint32_t i = 0; !code && i < p->ncircuit; i++) {
		struct scene s;

		if (!program_instances(p, i))
			continue;
		code = scene_build(p, i, o, &s, e);
		if (!code)
			add_scene(&s, out);
		scene_release(&s);
	}
	scene_head(p, &head);
	buf_json(out, "], \"head\": %s}\n", head.len ? head.data : NULL);
	return code;
}
