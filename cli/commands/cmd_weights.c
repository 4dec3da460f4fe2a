/* SPDX-License-Identifier: Apache-2.0
 * qcnn weights: shows, compares and converts files of weights. */
#include "cli/command.h"

#include <stdio.h>
#include <string.h>

#include "cli/job/weights_files.h"
#include "runtime/base/json.h"
#include "runtime/base/visible.h"

/* ---- show ---- */

/* Metadata that are JSON are shown as such, the rest as strings. */
static void metadata_json(const struct weights *w, struct buf *out)
{
	buf_char(out, '{');
	for (unsigned i = 0; i < w->nmeta; i++) {
		json_auto_t *v = json_read(w->meta[i].value, strlen(w->meta[i].value), NULL);

		buf_json(out, ", %s: ", w->meta[i].key);
		if (json_is_object(v) || json_is_array(v))
			json_print(v, out);
		else
			buf_json_str(out, w->meta[i].value);
	}
	buf_char(out, '}');
}

static void show_json(const struct weights *w, struct buf *out)
{
	buf_str(out, "{\"schema\": 1, \"params\": ");
	weights_to_json(w->program, w->weight, out);
	buf_str(out, ", \"metadata\": ");
	metadata_json(w, out);
	buf_str(out, "}\n");
}

static void show_group(const struct weights *w, const struct weight_group *g, struct buf *out)
{
	visible_str(out, g->path);
	buf_char(out, ' ');
	shape_print(g->ndim, g->dim, out);
	buf_str(out, g->frozen ? " frozen\n" : "\n");
	for (uint32_t i = 0; i < g->count; i++) {
		buf_str(out, i % 4 ? " " : "    ");
		buf_real(out, w->weight[g->first + i]);
		if (i % 4 == 3 || i + 1 == g->count)
			buf_char(out, '\n');
	}
}

static void show_text(const struct weights *w, struct buf *out)
{
	if (!weights_meta(w, "numerical_version"))
		buf_str(out, "# numerical_version: 0 (none in the file)\n");
	for (unsigned i = 0; i < w->nmeta; i++) {
		char size[64];

		snprintf(size, sizeof size, "%zu bytes of text", strlen(w->meta[i].value));
		buf_str(out, "# ");
		visible_str(out, w->meta[i].key);
		buf_str(out, ": ");
		visible_str(out, strchr(w->meta[i].value, '\n') ? size : w->meta[i].value);
		buf_char(out, '\n');
	}
	for (uint32_t i = 0; i < w->program->nweight_group; i++)
		show_group(w, &w->program->weight_group[i], out);
}

static int show(struct cli *c)
{
	const char *path = c->options.operand[1];
	struct weights *w;
	struct err e;

	if (!weights_file_is_bin(path))
		return cli_usage(c,
			"%s has weights without a model; `qcnn weights convert --model=MODEL` makes a weights.bin of it",
			path);
	if (weights_open(path, &w, &e))
		return cli_fail(c, &e);
	(c->options.given[OPT_JSON] ? show_json : show_text)(w, &c->out);
	weights_free(w);
	return 0;
}

/* ---- the actions ---- */

static const struct { const char *word; unsigned noperand; const char *operands; int (*run)(struct cli *c); } actions[] = {
	{ "show", 2, "show FILE", show },
	{ "convert", 3, "convert FILE TARGET", weights_convert },
	{ "diff", 3, "diff FILE FILE", weights_diff },
};

enum { ACTIONS = sizeof actions / sizeof *actions, WEIGHTS_OPERANDS = 3 };

static int weights(struct cli *c)
{
	struct options *o = &c->options;
	struct buf own[WEIGHTS_OPERANDS] = { BUF_INIT };
	int i = 0, status = 0;

	while (i < ACTIONS && strcmp(actions[i].word, o->operand[0]))
		i++;
	if (i == ACTIONS)
		return cli_usage(c, "`%s` is neither show, convert nor diff", o->operand[0]);
	if (o->noperand != actions[i].noperand)
		return cli_usage(c, "usage: qcnn weights %s", actions[i].operands);
	if (o->given[OPT_MODEL] && actions[i].run == show)
		return cli_usage(c, "show reads a weights.bin, which has its model; --model is for convert and diff");
	for (unsigned k = 1; !status && k < o->noperand && (k == 1 || actions[i].run == weights_diff); k++)
		status = weights_named(c, &o->operand[k], &own[k]);
	if (!status)
		status = actions[i].run(c);
	for (unsigned k = 0; k < o->noperand; k++)
		buf_release(&own[k]);
	return status;
}

const struct command_about command_weights = {
	.summary = "show, convert or compare files of weights",
	.operands = "show FILE | convert FILE TARGET | diff FILE FILE",
	.min_operands = 1,
	.max_operands = WEIGHTS_OPERANDS,
	.text = "Shows the weights and metadata of a file; converts weights to .npz (one array per path), .json (an object from "
		"path to nested lists), .h5 (the format of Keras and TensorFlow Quantum), or .bin or .safetensors (with model and "
		"metadata); or prints, by path, how two files differ. `qcnn run --weights` and train.init read all these formats, "
		"too. .npz, .json and .h5 contain no model; --model names it.",
	.example = (const char *const[]){ "qcnn weights show weights.bin",
		"qcnn weights show --json weights.bin", "qcnn weights convert weights.bin weights.npz",
		"qcnn weights convert weights.bin weights.safetensors",
		"qcnn weights convert --model=config.yaml weights.bin again.bin",
		"qcnn weights diff weights.bin weights.bin", NULL },
	.exit_1 = "with diff, weights, shapes, paths or metadata differ",
	.run = weights,
};
