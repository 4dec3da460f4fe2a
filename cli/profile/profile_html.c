/* SPDX-License-Identifier: Apache-2.0
 * The page in the style of a run's report. */
#include "cli/profile/profile_page.h"

#include <math.h>
#include <string.h>

#include "cli/profile/profile_advice.h"
#include "cli/report/report.h"

enum { WIDTH = 1000, ROW = 22, NAMES = 190, ROWS_MAX = 64, SLOTS = WIDTH - NAMES };

/* ---- tables ---- */

static void cell_html(const struct profile_column *c, const struct profile_cell *cell, struct buf *out)
{
	buf_auto text = BUF_INIT;

	buf_str(out, c->kind == CELL_TEXT ? "<td class=\"name\">" : "<td class=\"n\">");
	profile_cell_text(c->kind, cell, &text);
	buf_xml_in(out, "", text.data ? text.data : "", "</td>");
	if (c->bar && isfinite(cell->number))
		buf_printf(out,
			"<td class=\"strip\"><svg class=\"qcnn-plot\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" "
			"role=\"img\"><rect class=\"p-bar p-c0\" x=\"0\" y=\"1\" width=\"%.2f\" height=\"8\"/></svg></td>",
			100 * fmin(fmax(cell->number, 0), 1));
	else if (c->bar)
		buf_str(out, "<td></td>");
}

static void section_html(const struct profile_section *s, struct buf *out)
{
	if (!s->nrow && !s->note)
		return;
	report_section(s->title, out);
	if (s->nrow) {
		buf_str(out, "<div class=\"scroll\"><table><thead><tr>");
		for (unsigned k = 0; k < s->ncolumn; k++) {
			buf_str(out, s->column[k].kind == CELL_TEXT ? "<th>" : "<th class=\"n\">");
			buf_xml_str(out, s->column[k].heading);
			buf_str(out, s->column[k].bar ? "</th><th></th>" : "</th>");
		}
		buf_str(out, "</tr></thead><tbody>\n");
		for (uint32_t r = 0; r < s->shown; r++) {
			buf_str(out, "<tr>");
			for (unsigned k = 0; k < s->ncolumn; k++)
				cell_html(&s->column[k], &s->cell[r * s->ncolumn + k], out);
			buf_str(out, "</tr>\n");
		}
		buf_str(out, "</tbody></table></div>\n");
	}
	if (s->note)
		buf_xml_in(out, "<p class=\"note\">", s->note, "</p>\n");
	report_section_end(out);
}

/* ---- timeline ---- */

/* Phases of one colour; the last are all others. */
static const struct {
	const char *text;
	unsigned colour;
	enum profile_phase phase[3];
} groups[] = {
	{ "forward", 0, { PHASE_FORWARD } },
	{ "backward", 1, { PHASE_BACKWARD } },
	{ "matrices, encoding, chain rule", 2, { PHASE_MATRICES, PHASE_CHAIN, PHASE_ENCODING } },
	{ "messages, exchanges", 3, { PHASE_EXCHANGE, PHASE_SEND, PHASE_RECEIVE } },
	{ "log, checkpoints", 4, { PHASE_LOG, PHASE_CHECKPOINT } },
	{ "validation", 5, { PHASE_VALIDATION } },
	{ "waiting", SVG_FAINT, { PHASE_WAIT } },
	{ "other", 6, { PHASE_NONE } },
};
enum { GROUPS = sizeof groups / sizeof *groups };

static unsigned colour_of(uint32_t phase)
{
	unsigned k = 0;

	while (k + 1 < GROUPS && phase != groups[k].phase[0] && phase != groups[k].phase[1]
		&& phase != groups[k].phase[2])
		k++;
	return groups[k].colour;
}

/* Of each part of the row as wide as a pixel, the phase that has most of it; neighbours of one phase are one rectangle. */
static void row_html(const struct profile *p, const struct profile_thread *t, unsigned row,
	struct buf *out)
{
	mem_auto double(*share)[PHASE_COUNT] = mem_alloc(SLOTS, sizeof *share);
	double slot = (double)(p->ns > 0 ? p->ns : 1) / SLOTS;

	for (uint32_t i = 0; i < t->nevent; i++) {
		const struct profile_event *e = &t->event[i];
		double begin = fmax((double)e->begin, 0), end = fmin((double)e->end, (double)p->ns);

		if (e->kind != EVENT_PHASE || e->id >= PHASE_COUNT || end <= begin)
			continue;
		for (unsigned k = (unsigned)(begin / slot); k < SLOTS && k * slot < end; k++)
			share[k][e->id] += fmin(end, (k + 1) * slot) - fmax(begin, k * slot);
	}
	for (unsigned k = 0, first = 0, last = PHASE_NONE; k <= SLOTS; k++) {
		unsigned most = PHASE_NONE;

		for (unsigned q = 1; k < SLOTS && q < PHASE_COUNT; q++)
			if (share[k][q] > share[k][most])
				most = q;
		if (k && (k == SLOTS || most != last)) {
			if (last != PHASE_NONE)
				buf_printf(out,
					"<rect class=\"p-bar p-c%u\" x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\"/>",
					colour_of(last), NAMES + first, row * ROW + 3, k - first,
					ROW - 6);
			first = k;
		}
		last = most;
	}
}

static void timeline(const struct profile *p, struct buf *out)
{
	unsigned rows = 0, row = 0;

	for (uint32_t k = 0; k < p->nprocess; k++)
		rows += p->process[k].nthread;
	if (!rows)
		return;
	report_section("Timeline", out);
	buf_printf(out,
		"<div class=\"scroll\"><svg class=\"qcnn-plot\" viewBox=\"0 0 %u %u\" style=\"min-width:640px\" role=\"img\">\n",
		WIDTH, (rows < ROWS_MAX ? rows : ROWS_MAX) * ROW + 4);
	for (uint32_t k = 0; k < p->nprocess; k++)
		for (uint32_t t = 0; t < p->process[k].nthread && row < ROWS_MAX; t++, row++) {
			buf_auto name = BUF_INIT, shown = BUF_INIT;

			buf_printf(&name, "%.16s %u, %.16s",
				p->process[k].host ? p->process[k].host : "?", p->process[k].rank,
				p->process[k].thread[t].name ? p->process[k].thread[t].name : "?");
			profile_cell_text(CELL_TEXT, &(struct profile_cell){ name.data, 0 }, &shown);
			buf_printf(out, "<text class=\"p-label\" x=\"0\" y=\"%u\">", row * ROW + 15);
			buf_xml_in(out, "", shown.data ? shown.data : "", "</text>");
			row_html(p, &p->process[k].thread[t], row, out);
			buf_char(out, '\n');
		}
	buf_str(out, "</svg></div>\n<p class=\"note\">");
	for (unsigned k = 0; k < GROUPS; k++)
		buf_printf(out,
			"<span style=\"white-space:nowrap\"><svg class=\"qcnn-plot\" style=\"display:inline;width:12px;height:12px\" viewBox=\"0 0 12 12\" "
			"role=\"img\"><rect class=\"p-bar p-c%u\" width=\"12\" height=\"12\"/></svg> %s</span>%s",
			groups[k].colour, groups[k].text, k + 1 < GROUPS ? " &#160; " : "");
	buf_printf(out, "</p>\n<p class=\"note\">%.4g ms; trace.json.gz has every event.</p>\n",
		1e-6 * (double)p->ns);
	report_section_end(out);
}

/* ---- roofline ---- */

static void roofline(const struct profile *p, const struct profile_section *stages, struct buf *out)
{
	buf_auto figure = BUF_INIT;

	profile_roofline(p, stages, false, &figure);
	if (figure.len) {
		report_section("Roofline", out);
		buf_printf(out,
			"<div class=\"scroll\">%s</div>\n<p class=\"note\">Points are stages; the line is what the machine can do at best, measured before the steps.</p>\n",
			figure.data);
		report_section_end(out);
	}
}

/* ---- the page ---- */

static void advice_html(const struct profile *p, struct buf *out)
{
	buf_auto bound = BUF_INIT;

	report_section("What limits it", out);
	profile_bound(p, &bound);
	buf_xml_in(out, "<p>", bound.data, "</p>\n<ol>\n");
	for (uint32_t k = 0; k < p->nadvice; k++) {
		buf_printf(out, "<li><b>about %.2f times as fast</b>: ", p->advice[k].gain);
		buf_xml_in(out, "", p->advice[k].text, "</li>\n");
	}
	buf_str(out, "</ol>\n");
	if (!p->nadvice)
		buf_str(out, "<p>No change that is known here would make it 3 % faster.</p>\n");
	report_section_end(out);
}

static void card(struct buf *out, const char *text, double value, enum cell_kind kind)
{
	buf_str(out, "<div class=\"card\"><b>");
	profile_cell_text(kind, &(struct profile_cell){ NULL, value }, out);
	buf_printf(out, "</b><span>%s</span></div>\n", text);
}

void profile_page_html(const struct profile *p, struct buf *out)
{
	profile_sections_auto s;
	buf_auto title = BUF_INIT, shown = BUF_INIT;
	double wall = 1e-9 * (double)p->ns;

	profile_sections_make(p, &s);
	buf_printf(&title, "Profile of %.60s", p->model && *p->model ? p->model : "a run");
	profile_cell_text(CELL_TEXT, &(struct profile_cell){ title.data, 0 }, &shown);
	report_head(shown.data, out);
	buf_xml_in(out, "<h1>", shown.data, "</h1>\n<p class=\"sub\">");
	buf_printf(out, "%s, %s kernels, %s precision; batch %u, %u threads a process",
		p->command ? p->command : "", p->target ? p->target : "?",
		p->precision ? p->precision : "?", p->batch_size, p->nthread);
	buf_str(out, "</p>\n<div class=\"cards\" style=\"--w:4;--m:4;--s:2\">\n");
	card(out, "steps", (double)p->steps, CELL_COUNT);
	card(out, "a step", p->steps ? wall / (double)p->steps : (double)NAN, CELL_SECONDS);
	card(out, "samples a second", wall > 0 ? (double)p->samples / wall : (double)NAN, CELL_NUMBER);
	card(out, p->nprocess == 1 ? "process" : "processes", p->nprocess, CELL_COUNT);
	buf_str(out, "</div>\n");
	advice_html(p, out);
	timeline(p, out);
	for (unsigned k = 0; k < s.n; k++) {
		if (!strcmp(s.section[k].key, "stages"))
			roofline(p, &s.section[k], out);
		if (strcmp(s.section[k].key, "advice"))
			section_html(&s.section[k], out);
	}
	buf_printf(out, "<footer>qcnn %s</footer>\n</main>\n</body>\n</html>\n",
		p->version ? p->version : "");
}
