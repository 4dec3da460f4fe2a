/* SPDX-License-Identifier: Apache-2.0
 * qcnn explain: what a diagnostic's code means and how to fix it. */
#include "cli/command.h"

static const char *severity_text(const struct diag_row *r)
{
	return r->severity == DIAG_ERROR ? "error" : "warning";
}

/* Paragraphs as they are written in diag.def. */
static void print_row(struct buf *out, const struct diag_row *r)
{
	buf_printf(out, "%s[Q%04u]: %s\n\n%s\n", severity_text(r), r->number, r->title, r->explain);
}

static void json_row(struct buf *out, const struct diag_row *r)
{
	buf_json(out, "\"code\": \"Q%04u\", \"severity\": %s, \"title\": %s, \"text\": %s",
		r->number, severity_text(r), r->title, r->explain);
}

static void print_json(struct buf *out, const struct diag_row *r)
{
	buf_str(out, "{\"schema\": 1, ");
	json_row(out, r);
	buf_str(out, "}\n");
}

static void list_json(struct buf *out)
{
	buf_str(out, "{\"schema\": 1, \"codes\": [");
	for (int i = 1; i < DIAG_COUNT; i++) {
		buf_json(out, ", {");
		json_row(out, diag_row((enum diag_code)i));
		buf_char(out, '}');
	}
	buf_str(out, "]}\n");
}

static void print_list(struct buf *out)
{
	for (int i = 1; i < DIAG_COUNT; i++) {
		const struct diag_row *r = diag_row((enum diag_code)i);

		buf_printf(out, "Q%04u  %-7s  %s\n", r->number, severity_text(r), r->title);
	}
}

static int explain(struct cli *c)
{
	if (!c->options.noperand) {
		(c->options.given[OPT_JSON] ? list_json : print_list)(&c->out);
		return 0;
	}
	const struct diag_row *r = diag_row_find(c->options.operand[0]);
	if (!r)
		return cli_usage(c, "no diagnostic has the code `%s`; `qcnn explain` alone lists them all",
			c->options.operand[0]);
	(c->options.given[OPT_JSON] ? print_json : print_row)(&c->out, r);
	return 0;
}

const struct command_about command_explain = {
	.summary = "explain a diagnostic and how to fix it",
	.operands = "[CODE]",
	.max_operands = 1,
	.text = "Explains the diagnostic with this code, which messages print in brackets after `error` or `warning`: what is "
		"wrong, why it is an error, and a corrected example. Without a code, lists all diagnostics.",
	.example = (const char *const[]){ "qcnn explain Q0107", "qcnn explain", NULL },
	.run = explain,
};
