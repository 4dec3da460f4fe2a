/* SPDX-License-Identifier: Apache-2.0
 * qcnn init: a starter model and configuration that train at once. */
#include "cli/command.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/config/yaml_read.h"
#include "runtime/base/json.h"

static const char model_text[] =
	"QCNN 1;\n"
	"\n"
	"// A quantum convolutional network. `qcnn draw model.qcnn` shows it, qcnn-lang(7) explains every word.\n"
	"\n"
	"const int n = 4;          // qubits: any power of two; try `qcnn train --const n=8 config.yaml`\n"
	"qubit[n] q;\n"
	"input float[n] x;         // one sample: an angle for each qubit\n"
	"\n"
	"// The filter: a gate on two neighbours with six weights.\n"
	"block filter(float[6] t) a, b {\n"
	"  ry(t[0]) a;  ry(t[1]) b;  cz a, b;\n"
	"  ry(t[2]) a;  ry(t[3]) b;  cz a, b;\n"
	"  ry(t[4]) a;  ry(t[5]) b;\n"
	"}\n"
	"\n"
	"// Pooling: the source controls rotations of the sink; then the source is discarded.\n"
	"block merge(float[2] t) source, sink {\n"
	"  crz(t[0]) source, sink;\n"
	"  x source;  crx(t[1]) source, sink;\n"
	"  discard source;\n"
	"}\n"
	"\n"
	"embed {                   // from a sample to a state: a cluster state, excited by x\n"
	"  h q;  cz on cycle(q);\n"
	"  rx(each x) on q;\n"
	"}\n"
	"\n"
	"let w = q;                // the qubits that are left\n"
	"while (len(w) > 1) {\n"
	"  int half = len(w) / 2;\n"
	"  layer conv { param float[6] t;  filter(t) on ring(w); }     // the same six weights on every pair\n"
	"  layer pool { param float[2] t;  merge(t) on zip(w[0:half-1], w[half:-1]); }\n"
	"  w = w[half:-1];\n"
	"}\n"
	"observe z(w);             // the output: between -1 and 1\n";

static const char config_text_[] =
	"# What is trained, with what, and how: qcnn train config.yaml\n"
	"# qcnn-config(5) explains every key; `qcnn config config.yaml` prints all of them with their values.\n"
	"model:\n"
	"  file: model.qcnn\n"
	"data:\n"
	"  generate: cluster-excitation   # generated samples\n"
	"  rounds: 40\n"
	"  # For your own data, in place of these two: a file with a column for each input, and one for the label.\n"
	"  # train: samples.csv\n"
	"  # label: kind\n"
	"  # label_map: {normal: -1, excited: 1}\n"
	"  # transform: min_max           # each input from 0 to pi; for numbers that are not angles in radians\n"
	"  split: 0.7                     # 70 % to train, the rest to validate\n"
	"train:\n"
	"  epochs: 20\n"
	"  batch_size: 16\n"
	"  loss: mse\n"
	"  optimizer:\n"
	"    adam:\n"
	"      learning_rate: 0.05\n"
	"  metrics: [sign_accuracy]\n"
	"  restarts: 4                    # some restarts get stuck; the best of four is kept\n"
	"run:\n"
	"  seed: 1\n";

/* After it: how the folders of its runs are called. */
static const char name_text[] =
	"log:\n"
	"  name: %s%*s# the folders of its runs are runs/NAME-TIME\n";

static const struct { const char *name, *text; } files[] = {
	{ "model.qcnn", model_text }, { "config.yaml", config_text_ },
};

enum { FILES = sizeof files / sizeof *files };

/* All are looked at before one is written. */
static int nothing_is_lost(struct cli *c, const char *folder)
{
	buf_auto path = BUF_INIT;
	int status = 0;

	for (int i = 0; !status && !c->options.given[OPT_REPLACE] && i < FILES; i++) {
		buf_clear(&path);
		buf_printf(&path, "%s/%s", folder, files[i].name);
		if (access(path.data, F_OK))
			continue;
		status = cli_error(c, -ERR_CANT_CREATE, "%s already exists; --force replaces it",
			path.data);
	}
	return status;
}

/* The name of the folder as the value of a key in YAML; nothing for the root folder and for names that are not UTF-8. */
static void add_name(const char *folder, struct buf *text)
{
	mem_auto char *real = realpath(folder, NULL);
	const char *name = real ? strrchr(real, '/') + 1 : NULL;
	struct ynode value = { .kind = YNODE_NONE };
	buf_auto shown = BUF_INIT;
	bool plain = name && isalpha((unsigned char)*name);
	json_auto_t *utf8 = name && *name ? json_string(name) : NULL;

	for (const char *p = name; plain && *p; p++)
		plain = isalnum((unsigned char)*p) || strchr("._-", *p);
	if (plain)
		yaml_resolve(&value, name);
	if (plain && value.kind == YNODE_TEXT)
		buf_str(&shown, name);
	else if (utf8)
		buf_json_str(&shown, name);
	if (utf8)
		buf_printf(text, name_text, shown.data, shown.len < 24 ? (int)(25 - shown.len) : 1,
			"");
}

static int init(struct cli *c)
{
	const char *folder = c->options.noperand ? c->options.operand[0] : ".";
	buf_auto path = BUF_INIT, text = BUF_INIT;
	struct err e;

	if (mkdir(folder, 0777) && errno != EEXIST)
		return cli_error(c, -ERR_CANT_CREATE, "cannot create the folder %s: %s", folder,
			strerror(errno));
	int status = nothing_is_lost(c, folder);
	for (int i = 0; !status && i < FILES; i++) {
		buf_clear(&path);
		buf_clear(&text);
		buf_printf(&path, "%s/%s", folder, files[i].name);
		buf_str(&text, files[i].text);
		if (files[i].text == config_text_)
			add_name(folder, &text);
		if (buf_write_file(&text, path.data, 0, &e))
			status = cli_fail(c, &e);
	}
	if (!status)
		cli_note(c, "wrote %s/model.qcnn and %s; now: qcnn train %s", folder, path.data,
			path.data);
	return status;
}

const struct command_about command_init = {
	.summary = "write a starter model and configuration",
	.operands = "[FOLDER]",
	.max_operands = 1,
	.text = "Writes model.qcnn and config.yaml to the folder, by default the current one, and creates the folder if it does "
		"not exist: a small quantum convolutional network with generated data that trains within a second. Comments "
		"describe the next steps. Existing files are not changed.",
	.example = (const char *const[]){ "qcnn init mine", "qcnn init --force", NULL },
	.run = init,
};
