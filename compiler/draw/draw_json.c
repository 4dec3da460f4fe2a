/* SPDX-License-Identifier: Apache-2.0
 * The scenes of a program's circuits as JSON: wires, elements with their columns and marks, layers, outputs. */
#include "config.h"
#include "compiler/draw/draw_scene.h"

#include "runtime/base/buf.h"

static const char *const mark_name[] = {
	[MARK_NONE] = "none", [MARK_BOX] = "box", [MARK_CONTROL] = "control", [MARK_ANTICONTROL] = "anticontrol",
	[MARK_PLUS] = "plus", [MARK_CROSS] = "cross", [MARK_DISCARD] = "discard", [MARK_METER] = "measure",
};

static void add_wires(const struct scene *s, struct buf *out)
{
	buf_str(out, ", \"wires\": [");
	for (uint32_t i = 0; i < s->nrow; i++) {
		buf_str(out, i ? ", {\"name\": " : "{\"name\": ");
		buf_json_str(out, s->row_name[i]);
		buf_str(out, ", \"output\": ");
		buf_json_str(out, s->row_output[i]);
		buf_char(out, '}');
	}
	buf_char(out, ']');
}

static void add_marks(const struct element *x, struct buf *out)
{
	buf_str(out, ", \"marks\": [");
	for (uint32_t i = 0; i < x->nmark; i++)
		buf_printf(out, "%s{\"kind\": \"%s\", \"first\": %u, \"last\": %u}", i ? ", " : "", mark_name[x->mark[i].kind],
			x->mark[i].first, x->mark[i].last);
	buf_char(out, ']');
}

static void add_element(const struct scene *s, const struct element *x, struct buf *out)
{
	buf_printf(out, "{\"column\": %u, \"first\": %u, \"last\": %u, \"label\": ", x->column, x->first, x->last);
	buf_json_str(out, x->label.plain && *x->label.plain ? x->label.plain : NULL);
	buf_str(out, ", \"operands\": [");
	for (uint32_t i = 0; i < x->noperand; i++)
		buf_printf(out, i ? ", %u" : "%u", x->operand[i]);
	buf_str(out, "], \"layer\": ");
	buf_json_str(out, x->layer == INDEX_NONE ? NULL : s->program->layer[x->layer].path);
	add_marks(x, out);
	buf_char(out, '}');
}

static void add_layers(const struct scene *s, struct buf *out)
{
	buf_str(out, ", \"layers\": [");
	for (uint32_t i = 0; i < s->nframe; i++) {
		const struct frame *f = &s->frame[i];

		buf_str(out, i ? ", {\"name\": " : "{\"name\": ");
		buf_json_str(out, f->title);
		buf_printf(out, ", \"column\": %u, \"columns\": %u, \"first\": %u, \"last\": %u}", f->column, f->ncolumn, f->first, f->last);
	}
	buf_char(out, ']');
}

static void add_scene(struct scene *s, struct buf *out)
{
	buf_str(out, "{\"name\": ");
	buf_json_str(out, *s->circuit->name ? scene_title(s) : NULL);
	buf_printf(out, ", \"columns\": %u", s->ncolumn);
	add_wires(s, out);
	buf_str(out, ", \"elements\": [");
	for (uint32_t i = 0; i < s->nelement; i++) {
		buf_str(out, i ? ", " : "");
		add_element(s, &s->element[i], out);
	}
	buf_char(out, ']');
	add_layers(s, out);
	buf_str(out, ", \"outputs\": [");
	for (uint32_t i = 0; i < s->nnote; i++) {
		buf_str(out, i ? ", " : "");
		buf_json_str(out, s->note[i]);
	}
	buf_str(out, "]}");
}

int draw_json(const struct program *p, const struct draw_options *o, struct buf *out, struct err *e)
{
	buf_auto head = BUF_INIT;
	int code = scene_check(p, o, e);
	bool first = true;

	buf_str(out, "{\"schema\": 1, \"circuits\": [");
	for (uint32_t i = 0; !code && i < p->ncircuit; i++) {
		struct scene s;

		if (!program_instances(p, i))
			continue;
		code = scene_build(p, i, o, &s, e);
		if (!code) {
			buf_str(out, first ? "" : ", ");
			add_scene(&s, out);
			first = false;
		}
		scene_release(&s);
	}
	scene_head(p, &head);
	buf_str(out, "], \"head\": ");
	buf_json_str(out, head.len ? head.data : NULL);
	buf_str(out, "}\n");
	return code;
}
