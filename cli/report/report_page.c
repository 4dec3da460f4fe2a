/* SPDX-License-Identifier: Apache-2.0
 * The page of a report: title, numbers, figures, tables. */
#include "cli/report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/job/train_callbacks.h"
#include "compiler/draw/draw.h"
#include "runtime/base/crypto/crypto.h"
#include "runtime/base/system/clock.h"
#include "runtime/log/svg.h"

enum {
	GROUPS_SHOWN = 200,
	CIRCUIT_BYTES_MAX = 1 << 20,
	HASH_SHOWN = 16,
	CIRCUIT_WIDTH = 960,
	CIRCUIT_HEIGHT = 2400
};

/* ---- title and numbers ---- */

/* A loss or metric of three parts each, the best epoch, steps, time. */
enum { CARDS_MAX = 3 * (TRAIN_METRICS_MAX + 1) + 3 };

struct cards { unsigned n; struct { char value[32], what[96]; } card[CARDS_MAX]; };

static void card(struct cards *c, const char *value, const char *what)
{
	snprintf(c->card[c->n].value, sizeof c->card->value, "%s", value);
	snprintf(c->card[c->n++].what, sizeof c->card->what, "%s", what);
}

/* How many of n cards stand in the row of card i, at most `most` (2: or 3): rows of nearly one length, the longer ones last, so
 * that no card is alone. */
static unsigned cards_beside(unsigned i, unsigned n, unsigned most)
{
	unsigned rows = most > 2 ? (n + most - 1) / most : n / 2, length = n / rows, shorter = rows - n % rows;

	return i < shorter * length ? length : length + 1;
}

/* The number of the last epoch of the best restart, which may have gone on after the one whose weights are kept. */
static uint32_t last_epoch(const struct train_report *p)
{
	const struct train_result *r = p->result;
	uint32_t ended = p->job->train.initial_epoch + r->end[r->winner].epochs;

	return ended > r->last.epoch ? ended : r->last.epoch;
}

static const char *plural(uint32_t n) { return n == 1 ? "" : "s"; }

static void sentence(const struct train_report *p, struct buf *out)
{
	const struct train_job *j = &p->job->train;
	const struct program *g = p->job->model.program;
	const uint32_t epochs = last_epoch(p);
	char now[32];

	clock_iso(now, sizeof now);
	buf_printf(out,
		"<p class=\"sub\">%u qubit%s, %u weight%s, trained with %s on %u sample%s for %u epoch%s",
		program_nwire(g), plural(program_nwire(g)), g->nweight, plural(g->nweight),
		j->optimizer->name, j->train.nrow, plural(j->train.nrow), epochs, plural(epochs));
	if (j->restarts > 1)
		buf_printf(out, "; the best of %u restarts", j->restarts);
	buf_printf(out, ". %.10s %.5s UTC.</p>\n", now, now + 11);
}

static void number_card(struct cards *c, double v, int digits, const char *part, const char *name)
{
	buf_auto what = BUF_INIT;
	char value[32];

	snprintf(value, sizeof value, "%.*g", digits, v);
	buf_printf(&what, "%s ", part);
	report_name(name, false, &what);
	card(c, value, what.data);
}

/* Loss and metrics of a part: metric NULL for one that was not evaluated. */
struct measured { const char *part; double loss; const double *metric; };

/* A number of all parts, then the next number. */
static void measure_cards(const struct train_report *p, const struct measured *part, unsigned n, struct cards *c)
{
	const struct measures *m = &p->job->train.measures;
	uint32_t noutput = p->job->model.program->noutput;

	for (unsigned i = 0; i < n; i++)
		if (part[i].metric)
			number_card(c, part[i].loss, loss_digits(m->loss.row) - 2, part[i].part,
				"loss");
	for (unsigned k = 0; k < m->nmetric; k++)
		for (unsigned i = 0; i < n; i++)
			if (part[i].metric && !metric_side(m->metric[k].row, noutput))
				number_card(c, part[i].metric[measures_at(m, k, noutput)], 4,
					part[i].part, m->metric[k].row->name);
}

static void cards(const struct train_report *p, struct buf *out)
{
	const struct epoch_record *r = &p->result->last;
	const struct measured part[] = {
		{ "training", r->loss, r->metric },
		{ "validation", r->val_loss, r->has_validation ? r->val_metric : NULL },
		{ "test", p->job->test.loss, p->job->test.done ? p->job->test.metric : NULL },
	};
	struct cards c = { .n = 0 };
	buf_auto b = BUF_INIT;

	measure_cards(p, part, sizeof part / sizeof *part, &c);
	if (!isnan(p->best.epoch)) {
		buf_printf(&b, "%.0f of %u", p->best.epoch, last_epoch(p));
		card(&c, b.data, strcmp(p->best.column, "loss") ? "best epoch, by validation loss" : "best epoch, by training loss");
	}
	buf_clear(&b);
	buf_printf(&b, "%llu", (unsigned long long)p->result->step);
	card(&c, b.data, "optimizer steps");
	report_seconds(p->seconds, &b);
	card(&c, b.data, "total time");
	buf_str(out, "<div class=\"cards\">\n");
	for (unsigned i = 0; i < c.n; i++) {
		buf_printf(out, "<div class=\"card\" style=\"--w:%u;--m:%u;--s:%u\"><b>",
			cards_beside(i, c.n, 7), cards_beside(i, c.n, 4), cards_beside(i, c.n, 2));
		buf_xml_str(out, c.card[i].value);
		buf_xml_in(out, "</b><span>", c.card[i].what, "</span></div>\n");
	}
	buf_str(out, "</div>\n");
}

/* ---- sections ---- */

/* Draw the k-th figure of a section, or nothing where it has nothing to show; false: there is no k-th one. */
typedef bool draw_fn(const struct train_report *p, unsigned k, struct buf *out);

static const struct svg_size half = { 420, 270, false }, third = { 320, 250, false };

/* Rows of two, of an odd number a last row of three, so that no row is half empty. */
static void figures(const struct train_report *p, draw_fn *draw, struct buf *out)
{
	struct train_report wide = *p, narrow = *p;
	buf_auto b = BUF_INIT;
	unsigned n = 0, at = 0;

	wide.size = half;
	narrow.size = third;
	for (unsigned k = 0; draw(&wide, k, &b); k++) {
		n += b.len > 0;
		buf_clear(&b);
	}
	buf_str(out, "<div class=\"figures\">\n");
	for (unsigned k = 0; at < n; k++) {
		const bool is_third = n % 2 && n > 1 && at + 3 >= n;

		buf_clear(&b);
		draw(is_third ? &narrow : &wide, k, &b);
		if (!b.len)
			continue;
		buf_str(out, n == 1 ? "<figure class=\"alone\">" : is_third ? "<figure class=\"third\">" : "<figure>");
		buf_add(out, b.data, b.len);
		buf_str(out, "</figure>\n");
		at++;
	}
	buf_str(out, "</div>\n");
}

static bool varies(const struct train_report *p, const char *column)
{
	const double *v = history_column(&p->history, column);

	for (size_t i = 1; v && i < p->history.nrow; i++)
		if (v[i] != v[0])
			return true;
	return false;
}

static bool learning_figure(const struct train_report *p, unsigned k, struct buf *out)
{
	const struct measures *m = &p->job->train.measures;

	if (k == 0)
		figure_loss(p, out);
	else if (k <= m->nmetric && !metric_side(m->metric[k - 1].row, p->job->model.program->noutput))
		figure_metric(p, m->metric[k - 1].row->name, out);
	else if (k == m->nmetric + 1)
		figure_norm(p, out);
	else if (k == m->nmetric + 2)
		figure_starts(p, out);
	else if (k == m->nmetric + 3 && varies(p, "learning_rate"))
		figure_column(p, "learning_rate", "Learning rate", out);
	return k < m->nmetric + 4;
}

static void curves(const struct train_report *p, struct buf *out)
{
	buf_auto b = BUF_INIT;

	report_section("Learning", out);
	figures(p, learning_figure, out);
	train_callbacks_ending(&p->job->train, p->result, &b);
	if (b.len) {
		buf_printf(out, "<p class=\"note\">%s: ",
			p->job->train.restarts > 1 ? "The best restart" : "Training");
		report_lines(b.data, b.len, out);
		buf_str(out, ".</p>\n");
	}
	report_section_end(out);
}

/* Samples that training has not seen, where there are any: those for a test, else for validation. */
static const struct report_part *judged(const struct train_report *p)
{
	return p->npart ? &p->part[p->npart - 1] : NULL;
}

static bool prediction_figure(const struct train_report *p, unsigned k, struct buf *out)
{
	const struct report_part *part = judged(p);

	if (k == 0)
		figure_confusion(p, part, out);
	else if (k == 1)
		figure_outputs(p, part, out);
	else if (k == 2 && part != &p->part[0])
		figure_outputs(p, &p->part[0], out);
	else if (k == 3)
		figure_labels(p, out);
	return k < 4;
}

static void predictions(const struct train_report *p, struct buf *out)
{
	const struct report_part *part = judged(p);
	const bool compared = p->job->train.measures.loss.row->labels != LABELS_NONE;

	/* One output that is minimised, such as an energy, is the loss. */
	if (!part || (part->nrow < 2 && !compared))
		return;
	report_section("Predictions", out);
	figures(p, prediction_figure, out);
	for (unsigned k = 0; k < p->npart; k++)
		if (p->part[k].nleft_out)
			buf_printf(out, "<p class=\"note\">Of the %u samples for %s the first %u are shown.</p>\n",
				p->part[k].nrow + p->part[k].nleft_out, p->part[k].name, p->part[k].nrow);
	report_section_end(out);
}

/* The number behind the first `name="` of the drawing. */
static double svg_number(const struct buf *svg, const char *name)
{
	const char *at = strstr(svg->data, name);

	return at ? strtod(at + strlen(name), NULL) : 0;
}

/* Gates and blocks, or layers as one box each where that would be too much, or too small on paper; false: even that. */
static bool drawing(const struct train_report *p, struct buf *out)
{
	static const char *const all[] = { "all" };
	struct draw_options o = { .embedded = true, .whole_layers = true, .width = CIRCUIT_WIDTH, .collapse = all };
	buf_auto b = BUF_INIT;
	struct err e;
	bool good = false;

	for (o.ncollapse = 0; !good && o.ncollapse < 2; o.ncollapse++) {
		buf_clear(&b);
		good = !draw_svg(p->job->model.program, &o, &b, &e) && b.len <= CIRCUIT_BYTES_MAX
			&& (o.ncollapse || svg_number(&b, " height=\"") <= CIRCUIT_HEIGHT);
	}
	if (good) {
		buf_str(out, "<div class=\"scroll\">\n");
		buf_add(out, b.data, b.len);
		buf_str(out, "</div>\n");
		if (o.ncollapse == 2)
			buf_str(out,
				"<p class=\"note\">Each layer is one box; qcnn draw shows its gates.</p>\n");
	}
	return good;
}

static void circuit(const struct train_report *p, struct buf *out)
{
	report_section("Circuit", out);
	if (!drawing(p, out))
		buf_str(out, "<p class=\"note\">The circuit is too large for a drawing here; see qcnn draw.</p>\n");
	if (p->job->model.text) {
		buf_str(out, "<details><summary>The model</summary><pre>");
		report_lines(p->job->model.text, p->job->model.len, out);
		buf_str(out, "</pre></details>\n");
	}
	report_section_end(out);
}

struct summary { double low, high, mean, deviation; };

static struct summary summarise(const double *v, uint32_t n)
{
	struct summary s = { INFINITY, -INFINITY, 0, 0 };

	for (uint32_t i = 0; i < n; i++) {
		s.low = v[i] < s.low ? v[i] : s.low;
		s.high = v[i] > s.high ? v[i] : s.high;
		s.mean += v[i] / n;
	}
	for (uint32_t i = 0; i < n; i++)
		s.deviation += (v[i] - s.mean) * (v[i] - s.mean) / n;
	s.deviation = sqrt(s.deviation);
	return s;
}

static void weight_row(const struct weight_group *g, const double *v, const struct summary *whole, struct buf *out)
{
	static const struct svg_size strip = { 300, 24, false };
	struct summary s = summarise(v, g->count);

	buf_xml_in(out, "<tr><td><code>", g->path, "");
	buf_printf(out, "</code></td><td class=\"n\">%u</td><td class=\"n w\">%.3g</td><td class=\"n w\">%.3g</td><td class=\"strip\">", g->count,
		s.mean, s.deviation);
	svg_strip(v, g->count, whole->low, whole->high, &strip, out);
	buf_str(out, "</td></tr>\n");
}

static void weights(const struct train_report *p, struct buf *out)
{
	const struct program *g = p->job->model.program;
	struct summary whole = summarise(p->result->weight, g->nweight);

	report_section("Weights", out);
	buf_str(out, "<table>\n<tr><th>group</th><th class=\"n\">weights</th><th class=\"n w\">mean</th><th class=\"n w\">deviation</th>");
	buf_printf(out, "<th>values, from %.3g to %.3g</th></tr>\n", whole.low, whole.high);
	for (uint32_t i = 0; i < g->nweight_group && i < GROUPS_SHOWN; i++)
		weight_row(&g->weight_group[i], p->result->weight + g->weight_group[i].first, &whole, out);
	buf_str(out, "</table>\n");
	if (g->nweight_group > GROUPS_SHOWN)
		buf_printf(out, "<p class=\"note\">The first %d of %u groups.</p>\n", GROUPS_SHOWN, g->nweight_group);
	report_section_end(out);
}

static void data(const struct train_report *p, struct buf *out)
{
	report_section("Data", out);
	buf_str(out, "<table>\n<tr><th>part</th><th class=\"n\">samples</th><th>source</th><th class=\"w\">SHA-256</th></tr>\n");
	for (unsigned k = 0; k < p->npart; k++) {
		const struct part *part = p->part[k].part;
		char hex[SHA256_HEX + 1];

		sha256_hex(part->data->digest, hex);
		buf_printf(out, "<tr><td class=\"name\">%s</td><td class=\"n\">%u</td><td>", p->part[k].name, part->nrow);
		buf_xml_str(out, part->data->source);
		buf_printf(out, "</td><td class=\"w\"><code>%.*s…</code></td></tr>\n", HASH_SHOWN, hex);
	}
	buf_str(out, "</table>\n");
	report_section_end(out);
}

/* ---- the whole ---- */

void report_page(const struct train_report *p, struct buf *out)
{
	buf_auto title = BUF_INIT;
	/* The run's own name, else that of the model's file without folder and ending. */
	const char *name = config_text(p->job->config, KEY_LOG_NAME),
		   *file = config_text(p->job->config, KEY_MODEL_FILE);
	const char *base = path_base(file), *dot = strrchr(base, '.');

	if (name)
		buf_str(&title, name);
	else
		buf_add(&title, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
	report_head(title.data, out);
	buf_xml_in(out, "<h1>", title.data, "</h1>\n");
	sentence(p, out);
	cards(p, out);
	curves(p, out);
	predictions(p, out);
	circuit(p, out);
	weights(p, out);
	data(p, out);
	report_how(p, out);
	buf_str(out, "</main>\n</body>\n</html>\n");
}
