/* SPDX-License-Identifier: Apache-2.0
 * qcnn config: everything a configuration says, with the defaults and where each value came from. */
#include "cli/command.h"

#include "cli/option_lists.h"
#include "cli/config/configuration.h"

static void print_json(const struct config *config, struct buf *out)
{
	json_auto_t *all = config_json(config, SCOPE_NONE, NULL, NULL);

	json_object_set_new(all, "schema", json_integer(1));
	json_print(all, out);
	buf_char(out, '\n');
}

static int print_config(struct cli *c)
{
	struct config_change change[OPTIONS_LIST_MAX];
	unsigned nchange = changes_of(&c->options, change);
	struct source_set *sources = source_set_new();
	struct diags *d = diags_new(sources);
	struct err e;
	struct config *config = config_open(c->options.operand[0], change, nchange, d, &e);
	int status = 0;

	if (!config)
		status = cli_fail(c, &e);
	else if (diags_errors(d))
		status = cli_diags_fail(c, d, err_exit_status(-ERR_CONFIG));
	else if (c->options.given[OPT_JSON])
		print_json(config, &c->out);
	else
		config_print(config, &c->out);
	config_free(config);
	diags_free(d);
	source_set_free(sources);
	return status;
}

const struct command command_config = {
	.bit = COMMAND_CONFIG,
	.name = "config",
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
