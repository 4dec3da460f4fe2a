/* SPDX-License-Identifier: Apache-2.0
 * What every part of a report's page is made with: its style, sections, texts. */
#include "cli/report/report.h"

#include <math.h>
#include <string.h>

#include "compiler/draw/draw.h"
#include "runtime/log/svg.h"

void report_section(const char *title, struct buf *out)
{
	buf_xml_in(out, "<section>\n<h2>", title, "</h2>\n");
}

void report_section_end(struct buf *out) { buf_str(out, "</section>\n"); }

/* A text of several lines. */
void report_lines(const char *text, size_t len, struct buf *out)
{
	for (size_t i = 0; i < len; i++)
		text[i] == '&' ? buf_str(out, "&amp;") : text[i] == '<' ? buf_str(out, "&lt;")
			: text[i] == '>' ? buf_str(out, "&gt;") : buf_char(out, text[i]);
}

void report_name(const char *name, bool capital, struct buf *out)
{
	/* Those that are more than their words. */
	static const struct { const char *name, *shown; } other[] = {
		{ "auc", "AUC" }, { "binary_crossentropy", "binary cross-entropy" }, { "categorical_crossentropy", "categorical cross-entropy" },
		{ "f1", "F1 score" }, { "kl", "Kullback\u2013Leibler divergence" }, { "log_cosh", "log-cosh" }, { "mae", "mean absolute error" },
		{ "mse", "mean squared error" }, { "poisson", "Poisson loss" },
	};
	size_t from = out->len;

	for (size_t k = 0; k < sizeof other / sizeof *other; k++)
		if (!strcmp(name, other[k].name))
			name = other[k].shown;
	buf_str(out, name);
	for (size_t i = from; i < out->len; i++)
		if (out->data[i] == '_')
			out->data[i] = ' ';
	if (capital && out->data[from] >= 'a' && out->data[from] <= 'z')
		out->data[from] -= 'a' - 'A';
}

void report_seconds(double s, struct buf *out)
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

static const char page_style[] =
	"*{box-sizing:border-box}\n"
	"body{margin:0;font:16px/1.5 system-ui,-apple-system,\"Segoe UI\",Helvetica,Arial,\"Liberation Sans\",sans-serif;"
	"color:var(--ink);background:var(--ground)}\n"
	"main{max-width:1040px;margin:0 auto;padding:28px 20px 48px}\n"
	"h1{font-size:1.9rem;line-height:1.2;margin:0 0 2px}\n"
	"h2{font-size:1.2rem;margin:0 0 12px}\n"
	".sub{color:var(--soft);margin:0 0 22px;font-size:.95rem;overflow-wrap:anywhere}\n"
	".cards{display:flex;flex-wrap:wrap;gap:10px;margin:0 0 14px}\n"
	/* --w cards a row on a wide page, --m and --s on narrower ones. */
	".card{--n:var(--w);flex:1 1 calc(100%/var(--n) - 10px);min-width:0;background:var(--sheet);border:1px solid var(--edge);border-radius:8px;padding:10px 12px}\n"
	".card b{display:block;font-size:1.3rem;font-weight:600;font-variant-numeric:tabular-nums;line-height:1.3}\n"
	".card span{color:var(--soft);font-size:.82rem}\n"
	"section{background:var(--sheet);border:1px solid var(--edge);border-radius:8px;padding:18px 18px 16px;margin:14px 0}\n"
	/* Two figures a row, of an odd number the last three in one; one below the other where that is too narrow. */
	".figures{display:grid;grid-template-columns:repeat(6,1fr);gap:14px 22px}\n"
	"figure{margin:0;grid-column:span 3}figure.third{grid-column:span 2}figure.alone{grid-column:1/-1;max-width:560px}\n"
	"@media screen and (max-width:820px){.figures{display:block;max-width:560px;margin:0 auto}figure+figure{margin-top:14px}}\n"
	"@media (max-width:820px){.card{--n:var(--m)}}\n"
	".qcnn-plot{display:block;width:100%;height:auto}\n"
	/* Visible: words may be wider in the fonts of a machine than was assumed. */
	".scroll{overflow-x:auto;padding-bottom:6px}\n.scroll svg{display:block;overflow:visible}\n"
	"table{border-collapse:collapse;width:100%;font-size:.9rem;font-variant-numeric:tabular-nums}\n"
	"th,td{text-align:left;padding:5px 10px 5px 0;border-bottom:1px solid var(--edge);vertical-align:middle}\n"
	"tr:last-child th,tr:last-child td{border-bottom:0}\n"
	"th{font-weight:500;color:var(--soft);white-space:nowrap}\ntd{overflow-wrap:anywhere}\n"
	"td.n,th.n{text-align:right;white-space:nowrap;overflow-wrap:normal}.n+td:not(.n),.n+th:not(.n){padding-left:18px}\ntd.strip{width:34%;min-width:120px;padding-right:0}\n"
	"td.strip .qcnn-plot{height:24px}\ntd code,td.name{white-space:nowrap}\n"
	"code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",monospace;font-size:.85em}\n"
	"pre{background:var(--code);border-radius:6px;padding:10px 12px;overflow-x:auto;margin:8px 0;line-height:1.45}\n"
	"summary{cursor:pointer;color:var(--soft);margin:8px 0 4px}\n"
	"p{margin:6px 0}\n.note{color:var(--soft);font-size:.88rem}\n"
	"footer{color:var(--soft);font-size:.82rem;margin-top:18px}\n"
	"@media (max-width:520px){.card{--n:var(--s);padding:8px}.card b{font-size:1.1rem}main{padding:18px 10px 32px}section{padding:14px 10px}h1{font-size:1.5rem}td.strip{min-width:110px}.w{display:none}"
	"th{white-space:normal}}\n"
	"@page{margin:14mm}\n"
	"@media print{body{font-size:10pt;background:#fff}main{max-width:none;padding:0 1px}section,.card{border-color:#ccc}"
	/* A drawing and its heading fit a page of A4 or Letter, in wider fonts, too; a table may begin on one and end on the next. */
	"section{padding:10px 12px;-webkit-box-decoration-break:clone;box-decoration-break:clone}"
	"figure,tr,pre,svg,.card{break-inside:avoid}h2,thead,p:has(+pre){break-after:avoid}"
	".scroll{overflow:visible}.scroll svg{max-width:88%;height:auto;max-height:215mm}pre{white-space:pre-wrap}details:not([open]){display:none}}\n";

static void colours(bool dark, struct buf *out)
{
	buf_str(out, dark
		? ":root{--ink:#e6e6e6;--soft:#a3abb5;--ground:#101316;--sheet:#14171a;--edge:#2b3138;--code:#1d2227}\n"
		: ":root{--ink:#1a1a1a;--soft:#5b6470;--ground:#f3f4f6;--sheet:#ffffff;--edge:#dfe3e8;--code:#f3f4f6}\n");
	svg_style(dark, out);
	draw_svg_style(dark, out);
}

void report_head(const char *title, struct buf *out)
{
	buf_str(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
	buf_xml_in(out, "", title, "</title>\n<style>\n");
	buf_str(out, page_style);
	colours(false, out);
	/* Paper is light, whatever the screen is. */
	buf_str(out, "@media screen and (prefers-color-scheme:dark){\n");
	colours(true, out);
	buf_str(out, "}\n</style>\n</head>\n<body>\n<main>\n");
}
