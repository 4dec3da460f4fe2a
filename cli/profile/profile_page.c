/* SPDX-License-Identifier: Apache-2.0
 * The tables of a profile as text, JSON and CSV. */
#include "cli/profile/profile_page.h"

#include <math.h>
#include <string.h>

#include "cli/output/table.h"
#include "cli/profile/profile_advice.h"
#include "runtime/base/json.h"
#include "runtime/base/visible.h"

enum { CELL_BYTES_MAX = 64, TEXT_MAX = 60, BAR = 20 };

/* ---- one cell ---- */

static void seconds_text(double s, struct buf *out)
{
	double m = fabs(s);

	if (m >= 100)
		buf_printf(out, "%.0f s", s);
	else if (m >= 1)
		buf_printf(out, "%.3g s", s);
	else if (m >= 1e-3)
		buf_printf(out, "%.3g ms", 1e3 * s);
	else if (m >= 1e-6)
		buf_printf(out, "%.3g us", 1e6 * s);
	else
		buf_printf(out, "%.3g ns", 1e9 * s);
}

static void bytes_text(double v, struct buf *out)
{
	if (v >= 1048576)
		buf_printf(out, "%.1f MiB", v / 1048576);
	else if (v >= 1024)
		buf_printf(out, "%.1f KiB", v / 1024);
	else
		buf_printf(out, "%.0f B", v);
}

void profile_cell_text(enum cell_kind kind, const struct profile_cell *cell, struct buf *out)
{
	double v = cell->number;

	if (kind == CELL_TEXT) {
		if (cell->text) {
			/* A part of a name is enough for a table. */
			size_t n = strlen(cell->text), kept = n;

			if (n > TEXT_MAX)
				for (kept = TEXT_MAX - 3;
					kept && ((unsigned char)cell->text[kept] & 0xC0) == 0x80;
					kept--)
					;
			visible_text(out, cell->text, kept, VISIBLE_ONE_COLUMN);
			if (kept < n)
				buf_str(out, "...");
		}
		return;
	}
	if (!isfinite(v))
		return;
	switch (kind) {
	case CELL_SECONDS: seconds_text(v, out); break;
	case CELL_SHARE: buf_printf(out, "%.1f %%", 100 * v); break;
	case CELL_COUNT: buf_printf(out, "%.0f", v); break;
	case CELL_BYTES: bytes_text(v, out); break;
	case CELL_NUMBER:
	case CELL_TEXT: buf_printf(out, "%.3g", v);
	}
}

/* ---- for a terminal ---- */

static void bar(double share, struct buf *out)
{
	buf_pad(out, '#', isfinite(share) ? (size_t)lround(fmin(fmax(share, 0), 1) * BAR) : 0);
}

/* A column without anything in it is left out. */
static bool is_empty(const struct profile_section *s, unsigned column)
{
	for (uint32_t r = 0; r < s->shown; r++) {
		const struct profile_cell *cell = &s->cell[r * s->ncolumn + column];

		if (cell->text || isfinite(cell->number))
			return false;
	}
	return true;
}

static void add_row(struct table *t, const struct profile_section *s, uint32_t row)
{
	for (unsigned k = 0; k < s->ncolumn; k++) {
		const struct profile_cell *cell = &s->cell[row * s->ncolumn + k];
		buf_auto b = BUF_INIT;

		if (is_empty(s, k))
			continue;
		profile_cell_text(s->column[k].kind, cell, &b);
		table_add(t, b.data ? b.data : "");
		buf_clear(&b);
		if (s->column[k].bar) {
			bar(cell->number, &b);
			table_add(t, b.data ? b.data : "");
		}
	}
}

static void section_text(const struct profile_section *s, struct buf *out)
{
	struct table t = { 0 };

	if (!s->nrow && !s->note)
		return;
	buf_printf(out, "\n%s\n", s->title);
	for (unsigned k = 0; k < s->ncolumn && s->nrow; k++)
		if (!is_empty(s, k)) {
			table_add(&t, s->column[k].heading);
			if (s->column[k].bar)
				table_add(&t, "");
		}
	t.ncolumn = (unsigned)t.n;
	for (uint32_t r = 0; r < s->shown; r++)
		add_row(&t, s, r);
	if (s->nrow)
		table_print(&t, out);
	if (s->note) {
		visible_str(out, s->note);
		buf_char(out, '\n');
	}
}

static void head_text(const struct profile *p, struct buf *out)
{
	double wall = 1e-9 * (double)p->ns;
	uint64_t dropped = 0, moved = 0;

	for (uint32_t k = 0; k < p->nprocess; k++) {
		moved += p->process[k].moved_events;
		for (uint32_t t = 0; t < p->process[k].nthread; t++)
			dropped += p->process[k].thread[t].dropped;
	}
	visible_str(out, p->command ? p->command : "");
	buf_str(out, " of ");
	visible_str(out, p->model ? p->model : "?");
	buf_printf(out, ": %llu step%s in ", (unsigned long long)p->steps, p->steps == 1 ? "" : "s");
	seconds_text(wall, out);
	if (p->steps) {
		buf_str(out, ", ");
		seconds_text(wall / (double)p->steps, out);
		buf_printf(out, " each");
	}
	if (p->samples && wall > 0)
		buf_printf(out, ", %.4g samples/s", (double)p->samples / wall);
	if (p->startup_seconds > 0) {
		buf_str(out, "; ");
		seconds_text(p->startup_seconds, out);
		buf_str(out, " before the first step");
	}
	buf_printf(out,
		"\nqcnn %s, %s kernels, %s precision, %s; batch %u; %u thread%s a process, %u process%s; level %s\n",
		p->version ? p->version : "?", p->target ? p->target : "?",
		p->precision ? p->precision : "?", p->shape ? p->shape : "?", p->batch_size,
		p->nthread, p->nthread == 1 ? "" : "s", p->nprocess, p->nprocess == 1 ? "" : "es",
		profile_level_names[p->level]);
	if (dropped)
		buf_printf(out,
			"%llu events did not fit into --max-bytes: the timeline is not complete, the times here are\n",
			(unsigned long long)dropped);
	if (moved)
		buf_printf(out,
			"%llu events of messages were moved because of the uncertainty of clocks\n",
			(unsigned long long)moved);
}

static void advice_text(const struct profile *p, struct buf *out)
{
	buf_str(out, "\nWhat limits it\n");
	profile_bound(p, out);
	buf_char(out, '\n');
	for (uint32_t k = 0; k < p->nadvice; k++) {
		buf_printf(out, "%u. about %.2f times as fast: ", k + 1, p->advice[k].gain);
		visible_str(out, p->advice[k].text);
		buf_char(out, '\n');
	}
	if (!p->nadvice)
		buf_str(out, "No change that is known here would make it 3 % faster.\n");
}

void profile_page_text(const struct profile *p, struct buf *out)
{
	profile_sections_auto s;

	profile_sections_make(p, &s);
	head_text(p, out);
	for (unsigned k = 0; k < s.n; k++)
		if (strcmp(s.section[k].key, "advice"))
			section_text(&s.section[k], out);
	advice_text(p, out);
}

/* ---- for programs ---- */

static json_t *cell_json(const struct profile_column *c, const struct profile_cell *cell)
{
	if (c->kind == CELL_TEXT)
		return cell->text ? json_string(cell->text) : json_null();
	if (!isfinite(cell->number))
		return json_null();
	return c->kind == CELL_COUNT || c->kind == CELL_BYTES
		? json_integer((json_int_t)cell->number)
		: json_real(cell->number);
}

static json_t *section_json(const struct profile_section *s)
{
	json_t *rows = json_array();

	for (uint32_t r = 0; r < s->nrow; r++) {
		json_t *row = json_object();

		for (unsigned k = 0; k < s->ncolumn; k++)
			json_object_set_new(row, s->column[k].key,
				cell_json(&s->column[k], &s->cell[r * s->ncolumn + k]));
		json_array_append_new(rows, row);
	}
	return rows;
}

static void set_text(json_t *o, const char *key, const char *text)
{
	json_object_set_new(o, key, text ? json_string(text) : json_null());
}

void profile_page_json(const struct profile *p, struct buf *out)
{
	profile_sections_auto s;
	json_auto_t *o = json_object();

	profile_sections_make(p, &s);
	json_object_set_new(o, "schema", json_integer(1));
	set_text(o, "version", p->version);
	set_text(o, "command", p->command);
	set_text(o, "model", p->model);
	set_text(o, "target", p->target);
	set_text(o, "precision", p->precision);
	set_text(o, "level", profile_level_names[p->level]);
	json_object_set_new(o, "wall_seconds", json_real(1e-9 * (double)p->ns));
	json_object_set_new(o, "startup_seconds", json_real(p->startup_seconds));
	json_object_set_new(o, "steps", json_integer((json_int_t)p->steps));
	json_object_set_new(o, "samples", json_integer((json_int_t)p->samples));
	json_object_set_new(o, "batch_size", json_integer(p->batch_size));
	json_object_set_new(o, "threads", json_integer(p->nthread));
	for (unsigned k = 0; k < s.n; k++)
		json_object_set_new(o, s.section[k].key, section_json(&s.section[k]));
	json_print(o, out);
	buf_char(out, '\n');
}

void profile_page_csv(const struct profile *p, struct buf *out)
{
	profile_sections_auto s;

	profile_sections_make(p, &s);
	buf_str(out, "section,row,key,value\n");
	for (unsigned k = 0; k < s.n; k++)
		for (uint32_t i = 0; i < s.section[k].nrow * s.section[k].ncolumn; i++) {
			const struct profile_section *section = &s.section[k];
			const struct profile_cell *cell = &section->cell[i];

			if (!cell->text && !isfinite(cell->number))
				continue;
			buf_printf(out, "%s,%u,%s,", section->key, i / section->ncolumn,
				section->column[i % section->ncolumn].key);
			if (cell->text)
				buf_csv_str(out, cell->text);
			else
				buf_printf(out, "%.15g", cell->number);
			buf_char(out, '\n');
		}
}
