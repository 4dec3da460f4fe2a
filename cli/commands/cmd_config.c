/* SPDX-License-Identifier: Apache-2.0
 * qcnn config: everything a configuration says, with the defaults and where each value came from. */
#include "cli/command.h"

#include "cli/job/named_model.h"

static void print_json(const struct config *config, struct buf *out)
{
	json_auto_t *all = config_json(config, SCOPE_NONE, &(struct config_resolved){ NULL });

	json_object_set_new(all, "schema", json_integer(1));
	json_print(all, out);
	buf_char(out, '\n');
}

static int print_config(struct cli *c)
{
	named_model_auto m;
	int status = named_config_open(c, c->options.operand[0], &m);

	if (!status)
		(c->options.given[OPT_JSON] ? print_json : config_print)(m.config, &c->out);
	return status;
}

const struct command_about command_config = {
	.summary = "print a configuration with all defaults filled in",
	.operands = "CONFIG",
	.min_operands = 1,
	.max_operands = 1,
	.text = "Reads and checks a configuration, and prints all keys with their values as YAML. A comment after each value "
		"gives its source: a line of the file, --set, or the default.",
	.example = (const char *const[]){ "qcnn config config.yaml",
		"qcnn config --set train.epochs=5 config.yaml", NULL },
	.run = print_config,
};
