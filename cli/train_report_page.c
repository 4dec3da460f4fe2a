/* SPDX-License-Identifier: Apache-2.0
 * The page of a report: head, numbers, figures, tables. */
#include "config.h"
#include "cli/train_report.h"
#include "cli/train_callbacks.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/draw.h"
#include "runtime/base/clock.h"
#include "runtime/base/cpus.h"
#include "runtime/base/crypto.h"
#include "runtime/log/svg.h"

enum { GROUPS_SHOWN = 200, CIRCUIT_BYTES_MAX = 1 << 20, HASH_SHOWN = 16, PAPER_WIDTH = 1000 };

/* ---- pieces ---- */

static void begin_section(const char *title, struct buf *out)
{
	buf_str(out, "<section>\n<h2>");
	svg_text(title, out);
	buf_str(out, "</h2>\n");
}

static void end_section(struct buf *out)
{
	buf_str(out, "</section>\n");
}

static void figure(const struct buf *svg, struct buf *out)
{
	if (!svg->len)
		return;
	buf_str(out, "<figure>");
	buf_add(out, svg->data, svg->len);
	buf_str(out, "</figure>\n");
}

/* A text of several lines. */
static void lines(const char *text, size_t len, struct buf *out)
{
	for (size_t i = 0; i < len; i++)
		text[i] == '&' ? buf_str(out, "&amp;") : text[i] == '<' ? buf_str(out, "&lt;")
			: text[i] == '>' ? buf_str(out, "&gt;") : buf_char(out, text[i]);
}

static void card(const char *value, const char *what, struct buf *out)
{
	buf_str(out, "<div class=\"card\"><b>");
	svg_text(value, out);
	buf_str(out, "</b><span>");
	svg_text(what, out);
	buf_str(out, "</span></div>\n");
}

static void row(const char *name, const char *value, struct buf *out)
{
	buf_str(out, "<tr><th>");
	svg_text(name, out);
	buf_str(out, "</th><td>");
	svg_text(value, out);
	buf_str(out, "</td></tr>\n");
}

static void seconds_text(double s, struct buf *out)
{
	buf_clear(out);
	if (s < 1)
		buf_printf(out, "%.3g ms", 1000 * s);
	else if (s < 120)
		buf_printf(out, "%.3g s", s);
	else if (s < 7200)
		buf_printf(out, "%.0f min %02.0f s", floor(s / 60), floor(fmod(s, 60)));
	else
		buf_printf(out, "%.0f h %02.0f min", floor(s / 3600), floor(fmod(s, 3600) / 60));
}

/* ---- head ---- */

static const char page_style[] =
	"*{box-sizing:border-box}\n"
	"body{margin:0;font:16px/1.5 system-ui,-apple-system,\"Segoe UI\",Helvetica,Arial,\"Liberation Sans\",sans-serif;"
	"color:var(--ink);background:var(--ground)}\n"
	"main{max-width:1040px;margin:0 auto;padding:28px 20px 48px}\n"
	"h1{font-size:1.9rem;line-height:1.2;margin:0 0 2px}\n"
	"h2{font-size:1.2rem;margin:0 0 12px}\n"
	".sub{color:var(--soft);margin:0 0 22px;font-size:.95rem;overflow-wrap:anywhere}\n"
	".cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(130px,1fr));gap:10px;margin:0 0 14px}\n"
	".card{background:var(--sheet);border:1px solid var(--edge);border-radius:8px;padding:10px 12px}\n"
	".card b{display:block;font-size:1.3rem;font-weight:600;font-variant-numeric:tabular-nums;line-height:1.3}\n"
	".card span{color:var(--soft);font-size:.82rem}\n"
	"section{background:var(--sheet);border:1px solid var(--edge);border-radius:8px;padding:18px 18px 16px;margin:14px 0}\n"
	".figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,400px),1fr));gap:14px 22px}\n"
	"figure{margin:0}\n.qcnn-plot{display:block;width:100%;height:auto}\n"
	".scroll{overflow-x:auto;padding-bottom:6px}\n.scroll svg{display:block}\n"
	"table{border-collapse:collapse;width:100%;font-size:.9rem;font-variant-numeric:tabular-nums}\n"
	"th,td{text-align:left;padding:5px 10px 5px 0;border-bottom:1px solid var(--edge);vertical-align:middle}\n"
	"tr:last-child th,tr:last-child td{border-bottom:0}\n"
	"th{font-weight:500;color:var(--soft);white-space:nowrap}\ntd{overflow-wrap:anywhere}\n"
	"td.n,th.n{text-align:right;white-space:nowrap;overflow-wrap:normal}\ntd.strip{width:34%;min-width:120px;padding-right:0}\n"
	"td.strip .qcnn-plot{height:24px}\ntd code,td.name{white-space:nowrap}\n"
	"code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",monospace;font-size:.85em}\n"
	"pre{background:var(--code);border-radius:6px;padding:10px 12px;overflow-x:auto;margin:8px 0;line-height:1.45}\n"
	"summary{cursor:pointer;color:var(--soft);margin:8px 0 4px}\n"
	"p{margin:6px 0}\n.note{color:var(--soft);font-size:.88rem}\n"
	"footer{color:var(--soft);font-size:.82rem;margin-top:18px}\n"
	"@media (max-width:520px){main{padding:18px 10px 32px}section{padding:14px 10px}h1{font-size:1.5rem}td.strip{min-width:110px}.w{display:none}"
	"th{white-space:normal}}\n"
	"@page{margin:14mm}\n"
	".paper{display:none}\n"
	"@media print{body{font-size:10pt;background:#fff}main{max-width:none;padding:0}section,.card{border-color:#ccc}"
	"section{padding:10px 12px}figure,tr,pre,.card{break-inside:avoid}h2{break-after:avoid}.figures{grid-template-columns:1fr 1fr}"
	".scroll{overflow:visible}.screen{display:none}.paper{display:block}.paper svg{max-width:100%;height:auto}pre{white-space:pre-wrap}}\n";

static void colours(bool dark, struct buf *out)
{
	buf_str(out, dark
		? ":root{--ink:#e6e6e6;--soft:#a3abb5;--ground:#101316;--sheet:#14171a;--edge:#2b3138;--code:#1d2227}\n"
		: ":root{--ink:#1a1a1a;--soft:#5b6470;--ground:#f3f4f6;--sheet:#ffffff;--edge:#dfe3e8;--code:#f3f4f6}\n");
	svg_style(dark, out);
	draw_svg_style(dark, out);
}

static void page_head(const char *title, struct buf *out)
{
	buf_str(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
	svg_text(title, out);
	buf_str(out, "</title>\n<style>\n");
	buf_str(out, page_style);
	colours(false, out);
	/* Paper is light, whatever the screen is. */
	buf_str(out, "@media screen and (prefers-color-scheme:dark){\n");
	colours(true, out);
	buf_str(out, "}\n</style>\n</head>\n<body>\n<main>\n");
}

/* The run's own name, else that of the model's file without folder and ending. */
static void run_title(const struct train_report *p, struct buf *out)
{
	const char *name = config_text(p->job->config, KEY_LOG_NAME), *file = config_text(p->job->config, KEY_MODEL_FILE);
	const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file, *dot = strrchr(base, '.');

	if (name)
		buf_str(out, name);
	else
		buf_add(out, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
}

static void sentence(const struct train_report *p, struct buf *out)
{
	const struct train_job *j = &p->job->train;
	const struct program *g = p->job->model.program;
	char now[32];

	clock_iso(now, sizeof now);
	buf_printf(out, "<p class=\"sub\">%u qubit%s, %u weights, trained with %s on %u samples for %u epoch%s", program_nwire(g),
		program_nwire(g) == 1 ? "" : "s", g->nweight, j->optimizer->name, j->train.nrow, p->result->last.epoch,
		p->result->last.epoch == 1 ? "" : "s");
	if (j->restarts > 1)
		buf_printf(out, "; the best of %u starts", j->restarts);
	buf_printf(out, ". %.10s %.5s UTC.</p>\n", now, now + 11);
}

static void number_card(double v, const char *prefix, const char *name, struct buf *out)
{
	struct buf value = BUF_INIT, what = BUF_INIT;

	buf_printf(&value, "%.4g", v);
	buf_printf(&what, "%s%s", prefix, name);
	for (char *c = what.data; *c; c++)
		*c = *c == '_' ? ' ' : *c;
	card(value.data, what.data, out);
	buf_release(&value);
	buf_release(&what);
}

static void cards(const struct train_report *p, struct buf *out)
{
	const struct epoch_result *r = &p->result->last;
	const struct measures *m = &p->job->train.measures;
	uint32_t n = p->job->model.program->noutput;
	struct buf b = BUF_INIT;

	buf_str(out, "<div class=\"cards\">\n");
	number_card(r->loss, "training ", "loss", out);
	if (r->has_validation)
		number_card(r->val_loss, "validation ", "loss", out);
	for (unsigned k = 0; k < m->nmetric; k++)
		if (!metric_side(m->metric[k].row, n))
			number_card((r->has_validation ? r->val_metric : r->metric)[measures_at(m, k, n)],
				r->has_validation ? "validation " : "training ", m->metric[k].row->name, out);
	buf_printf(&b, "%llu", (unsigned long long)p->result->step);
	card(b.data, "updates", out);
	seconds_text(p->seconds, &b);
	card(b.data, "in all", out);
	buf_str(out, "</div>\n");
	buf_release(&b);
}

/* ---- sections ---- */

static bool varies(const struct train_report *p, const char *column)
{
	const double *v = history_column(&p->history, column);

	for (size_t i = 1; v && i < p->history.nrow; i++)
		if (v[i] != v[0])
			return true;
	return false;
}

static void curves(const struct train_report *p, struct buf *out)
{
	const struct measures *m = &p->job->train.measures;
	struct buf b = BUF_INIT;

	begin_section("Learning", out);
	buf_str(out, "<div class=\"figures\">\n");
	figure_loss(p, &b);
	figure(&b, out);
	for (unsigned k = 0; k < m->nmetric; k++) {
		buf_clear(&b);
		if (!metric_side(m->metric[k].row, p->job->model.program->noutput))
			figure_metric(p, m->metric[k].row->name, &b);
		figure(&b, out);
	}
	buf_clear(&b);
	figure_norm(p, &b);
	figure(&b, out);
	buf_clear(&b);
	figure_starts(p, &b);
	figure(&b, out);
	buf_clear(&b);
	if (varies(p, "learning_rate"))
		figure_column(p, "learning_rate", "Learning rate", &b);
	figure(&b, out);
	buf_str(out, "</div>\n");
	buf_clear(&b);
	train_callbacks_ending(&p->job->train, p->result, &b);
	if (b.len) {
		buf_printf(out, "<p class=\"note\">%s: ", p->job->train.restarts > 1 ? "The best start" : "Training");
		lines(b.data, b.len, out);
		buf_str(out, ".</p>\n");
	}
	end_section(out);
	buf_release(&b);
}

/* Samples that training has not seen, where there are any. */
static const struct report_part *judged(const struct train_report *p)
{
	const struct report_part *part = p->npart ? &p->part[0] : NULL;

	for (unsigned k = 1; k < p->npart && k < 2; k++)
		part = &p->part[k];
	return part;
}

static void predictions(const struct train_report *p, struct buf *out)
{
	const struct report_part *part = judged(p);
	struct buf b = BUF_INIT;

	if (!part)
		return;
	begin_section("Predictions", out);
	buf_str(out, "<div class=\"figures\">\n");
	figure_confusion(p, part, &b);
	figure(&b, out);
	buf_clear(&b);
	figure_outputs(p, part, &b);
	figure(&b, out);
	buf_clear(&b);
	if (part != &p->part[0])
		figure_outputs(p, &p->part[0], &b);
	figure(&b, out);
	buf_clear(&b);
	figure_labels(p, &b);
	figure(&b, out);
	buf_str(out, "</div>\n");
	for (unsigned k = 0; k < p->npart; k++)
		if (p->part[k].nleft_out)
			buf_printf(out, "<p class=\"note\">Of the %u samples for %s the first %u are shown.</p>\n",
				p->part[k].nrow + p->part[k].nleft_out, p->part[k].name, p->part[k].nrow);
	end_section(out);
	buf_release(&b);
}

/* Gates and blocks, or layers as one box each where that would be too much; false: even that. */
static bool drawing(const struct train_report *p, const char *class, unsigned width, struct buf *out)
{
	static const char *const all[] = { "all" };
	struct draw_options o = { .embedded = true, .width = width, .collapse = all };
	struct buf b = BUF_INIT;
	struct err e;
	bool drawn = false;

	for (o.ncollapse = 0; !drawn && o.ncollapse < 2; o.ncollapse++) {
		buf_clear(&b);
		drawn = !draw_svg(p->job->model.program, &o, &b, &e) && b.len <= CIRCUIT_BYTES_MAX;
	}
	if (drawn) {
		buf_printf(out, "<div class=\"%s\">\n", class);
		buf_add(out, b.data, b.len);
		buf_str(out, "</div>\n");
	}
	buf_release(&b);
	return drawn;
}

static void circuit(const struct train_report *p, struct buf *out)
{
	begin_section("Circuit", out);
	if (!drawing(p, "screen scroll", 0, out) || !drawing(p, "paper", PAPER_WIDTH, out))
		buf_str(out, "<p class=\"note\">The circuit is too large for a drawing here; see qcnn draw.</p>\n");
	if (p->job->model.text) {
		buf_str(out, "<details><summary>The model</summary><pre>");
		lines(p->job->model.text, p->job->model.len, out);
		buf_str(out, "</pre></details>\n");
	}
	end_section(out);
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

	buf_str(out, "<tr><td><code>");
	svg_text(g->path, out);
	buf_printf(out, "</code></td><td class=\"n\">%u</td><td class=\"n w\">%.3g</td><td class=\"n w\">%.3g</td><td class=\"strip\">", g->count,
		s.mean, s.deviation);
	svg_strip(v, g->count, whole->low, whole->high, &strip, out);
	buf_str(out, "</td></tr>\n");
}

static void weights(const struct train_report *p, struct buf *out)
{
	const struct program *g = p->job->model.program;
	struct summary whole = summarise(p->result->weight, g->nweight);

	begin_section("Weights", out);
	buf_str(out, "<table>\n<tr><th>group</th><th class=\"n\">weights</th><th class=\"n w\">mean</th><th class=\"n w\">deviation</th>");
	buf_printf(out, "<th>values, from %.3g to %.3g</th></tr>\n", whole.low, whole.high);
	for (uint32_t i = 0; i < g->nweight_group && i < GROUPS_SHOWN; i++)
		weight_row(&g->weight_group[i], p->result->weight + g->weight_group[i].first, &whole, out);
	buf_str(out, "</table>\n");
	if (g->nweight_group > GROUPS_SHOWN)
		buf_printf(out, "<p class=\"note\">The first %d of %u groups.</p>\n", GROUPS_SHOWN, g->nweight_group);
	end_section(out);
}

static void data(const struct train_report *p, struct buf *out)
{
	begin_section("Data", out);
	buf_str(out, "<table>\n<tr><th>part</th><th class=\"n\">samples</th><th>source</th><th class=\"w\">SHA-256</th></tr>\n");
	for (unsigned k = 0; k < p->npart; k++) {
		const struct part *part = p->part[k].part;
		char hex[SHA256_HEX + 1];

		sha256_hex(part->data->digest, hex);
		buf_printf(out, "<tr><td class=\"name\">%s</td><td class=\"n\">%u</td><td>", p->part[k].name, part->nrow);
		svg_text(part->data->source, out);
		buf_printf(out, "</td><td class=\"w\"><code>%.*s…</code></td></tr>\n", HASH_SHOWN, hex);
	}
	buf_str(out, "</table>\n");
	end_section(out);
}

/* ---- how it was run ---- */

/* A word as a shell takes it. */
static void shell_word(const char *word, struct buf *out)
{
	bool plain = *word;

	for (const char *c = word; *c; c++)
		plain &= isalnum((unsigned char)*c) || strchr("-_./=:,+@%", *c);
	if (plain) {
		svg_text(word, out);
		return;
	}
	buf_char(out, '\'');
	for (const char *c = word; *c; c++) {
		char one[2] = { *c, 0 };

		*c == '\'' ? buf_str(out, "'\\''") : svg_text(one, out);
	}
	buf_char(out, '\'');
}

static void again(const struct train_report *p, struct buf *out)
{
	char *here = getcwd(NULL, 0);
	struct buf path = BUF_INIT;

	buf_str(out, "<p>To run it again, to the same bits:</p>\n<pre>");
	if (here) {
		buf_str(out, "cd ");
		shell_word(here, out);
		buf_char(out, '\n');
	}
	for (int i = 0; i < p->cli->argc; i++) {
		buf_str(out, i ? " " : "");
		shell_word(p->cli->argv[i], out);
	}
	buf_str(out, "</pre>\n<p>To use the weights:</p>\n<pre>");
	shell_word(p->cli->argv[0], out);
	buf_str(out, p->npart > 1 ? " infer " : " infer --split=train ");
	buf_printf(&path, "%s/weights.bin", p->folder);
	shell_word(path.data, out);
	buf_str(out, "</pre>\n");
	buf_release(&path);
	free(here);
}

static double median_of(const struct train_report *p, const char *column)
{
	const double *v = history_column(&p->history, column);
	double *copy, middle;
	size_t n = p->history.nrow;

	if (!v || !n)
		return NAN;
	copy = mem_alloc(n, sizeof *copy);
	memcpy(copy, v, n * sizeof *copy);
	for (size_t gap = n / 2; gap; gap /= 2)
		for (size_t i = gap; i < n; i++)
			for (size_t k = i; k >= gap && copy[k - gap] > copy[k]; k -= gap) {
				double t = copy[k];

				copy[k] = copy[k - gap];
				copy[k - gap] = t;
			}
	middle = copy[n / 2];
	free(copy);
	return middle;
}

static void machine(const struct train_report *p, struct buf *out)
{
	const struct evaluator_options *x = &p->job->train.exec;
	struct buf b = BUF_INIT;
	char host[256] = "";

	gethostname(host, sizeof host - 1);
	buf_str(out, "<table>\n");
	row("machine", host, out);
	row("processor", cpus_model(), out);
	buf_printf(&b, "%s, %s, %s, %u thread%s", execution_device(x), execution_isa(x),
		x->precision == PRECISION_DOUBLE ? "double precision" : "single precision", x->nthread, x->nthread == 1 ? "" : "s");
	row("computed with", b.data, out);
	seconds_text(median_of(p, "seconds"), &b);
	row("an epoch takes (median)", b.data, out);
	buf_clear(&b);
	buf_printf(&b, "%.4g", median_of(p, "samples_per_second"));
	row("samples a second (median)", b.data, out);
	buf_clear(&b);
	buf_printf(&b, "qcnn %s", PACKAGE_VERSION);
	row("program", b.data, out);
	row("folder", p->folder, out);
	buf_str(out, "</table>\n");
	buf_release(&b);
}

static void how(const struct train_report *p, struct buf *out)
{
	struct buf config = BUF_INIT;

	begin_section("How it was run", out);
	again(p, out);
	machine(p, out);
	config_print(p->job->config, &config);
	buf_str(out, "<details><summary>The configuration, resolved</summary><pre>");
	lines(config.data, config.len, out);
	buf_str(out, "</pre></details>\n");
	end_section(out);
	buf_release(&config);
}

void report_page(const struct train_report *p, struct buf *out)
{
	struct buf title = BUF_INIT;

	run_title(p, &title);
	page_head(title.data, out);
	buf_str(out, "<h1>");
	svg_text(title.data, out);
	buf_str(out, "</h1>\n");
	sentence(p, out);
	cards(p, out);
	curves(p, out);
	predictions(p, out);
	circuit(p, out);
	weights(p, out);
	data(p, out);
	how(p, out);
	buf_str(out, "</main>\n</body>\n</html>\n");
	buf_release(&title);
}
