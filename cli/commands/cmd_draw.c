/* SPDX-License-Identifier: Apache-2.0
 * qcnn draw: a model's circuits as text or as SVG. */
#include "cli/command.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/job/named_model.h"
#include "compiler/draw/draw.h"

enum { WIDTH_UNKNOWN = 80 };

/* Of the terminal that the drawing goes to. */
static unsigned terminal_width(void)
{
	struct winsize size;
	const char *columns = getenv("COLUMNS");
	long width = columns ? strtol(columns, NULL, 10) : 0;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		width = size.ws_col;
	return width > 0 && width < 100000 ? (unsigned)width : WIDTH_UNKNOWN;
}

static int draw_program(struct cli *c, const struct program *p)
{
	const struct options *o = &c->options;
	const char *collapse[OPTIONS_LIST_MAX];
	struct draw_options d = { .collapse = collapse, .expand = o->given[OPT_EXPAND], .ascii = o->given[OPT_ASCII] };
	bool svg = o->given[OPT_SVG], json = o->given[OPT_JSON];
	buf_auto b = BUF_INIT;
	struct err e;

	if (svg && json)
		return cli_usage(c, "--svg and --json exclude each other");
	d.ncollapse = options_list(o, OPT_COLLAPSE, collapse);
	d.width = o->given[OPT_WIDTH] ? (unsigned)options_count(o, OPT_WIDTH) : svg ? 0 : terminal_width();
	int code = json ? draw_json(p, &d, &b, &e)
		: svg   ? draw_svg(p, &d, &b, &e)
			: draw_text(p, &d, &b, &e);
	return code ? cli_fail(c, &e) : cli_write(c, &b, svg ? o->value[OPT_SVG] : NULL);
}

static int draw(struct cli *c)
{
	/* as it is written: gates that cancel are parts of blocks */
	const struct model_wish wish = { .path = c->options.operand[0], .without = "cancel" };
	named_model_auto m;
	int status = named_model_open(c, &wish, &m);

	return status ? status : draw_program(c, m.model.program);
}

const struct command_about command_draw = {
	.summary = "draw a model's circuits as text or SVG",
	.operands = "MODEL|CONFIG|RUN",
	.min_operands = 1,
	.max_operands = 1,
	.text = "Draws the circuits of a model, or of the model of a configuration (a name ending in .yaml), with layers, blocks, "
		"gates and observables: as text, folded to the width of the terminal, or with --svg as a figure for a paper. "
		"OpenQASM, assembler text, bytecode and the weights.bin of a run are read, too; a run may be given by its name.",
	.example = (const char *const[]){ "qcnn draw cluster.qcnn",
		"qcnn draw --collapse=all cluster.qcnn", "qcnn draw config.yaml",
		"qcnn draw latest", "qcnn draw --json cluster.qcnn",
		"qcnn draw --svg=cluster.svg --const n=8 cluster.qcnn",
		"qcnn draw --expand --ascii bell.qcnn", NULL },
	.run = draw,
};
