/* SPDX-License-Identifier: Apache-2.0
 * Opens the model of a command line, through its configuration where that is what is named. */
#include "cli/job/named_model.h"

#include "cli/option_lists.h"
#include "cli/job/job.h"
#include "cli/job/weights_files.h"

bool path_is_config(const char *path)
{
	return path_ends(path, ".yaml") || path_ends(path, ".yml");
}

/* A model alone as a configuration that says nothing else. */
static struct config *config_of_model(struct named_model *m, const char *path, const struct config_change *change, unsigned n)
{
	buf_auto text = BUF_INIT;

	buf_json(&text, "model: {file: %s}\n", path);
	int file = source_add(m->sources, "(--model)", text.data, text.len);
	if (file < 0)
		BUG("no room for the name of a model");
	return config_read((uint32_t)file, change, n, m->d);
}

static int open_config(struct cli *c, const struct model_wish *wish, struct named_model *m)
{
	struct config_change change[OPTIONS_LIST_MAX];
	unsigned n = changes_of(&c->options, change);
	struct err e;

	if (path_is_config(wish->path)) {
		m->config = config_open(wish->path, change, n, m->d, &e);
		if (!m->config)
			return cli_fail(c, &e);
	} else if (wish->defaults) {
		m->config = config_of_model(m, wish->path, change, n);
	} else if (c->options.given[OPT_SET]) {
		return cli_usage(c, "--set needs a configuration (.yaml); for a model use --const");
	}
	return diags_errors(m->d) ? cli_diags_fail(c, m->d, err_exit_status(-ERR_CONFIG)) : 0;
}

static int open_model(struct cli *c, const struct model_wish *wish, struct named_model *m)
{
	const char *path = m->config ? config_path(m->config, config_text(m->config, KEY_MODEL_FILE)) : wish->path;
	struct compile_words w;
	struct err e;
	int code = compile_words_init(&w, &c->options, m->config, &e);

	w.compile.whole = wish->whole;
	w.compile.dump = wish->dump;
	w.compile.dump_out = wish->dump_out;
	int status = code ? cli_fail(c, &e) : compile_words_check(c, &w.compile);
	if (wish->without)
		w.without[w.compile.nwithout++] = wish->without;
	if (!status && model_file_open(path, m->d, &w.lang, &w.compile, &m->model, &e)) {
		if (e.code == -ERR_NO_INPUT && path_is_config(wish->path))
			config_blame(m->config, KEY_MODEL_FILE, &e);
		status = cli_fail(c, &e);
	}
	compile_words_release(&w);
	if (!status && diags_errors(m->d))
		status = cli_diags_fail(c, m->d, model_fault_status(m->d, path_is_config(wish->path)));
	return status;
}

int named_model_open(struct cli *c, const struct model_wish *wish, struct named_model *m)
{
	struct model_wish named = *wish;

	*m = (struct named_model){ .sources = source_set_new() };
	m->d = diags_new(m->sources);
	if (!wish->path)
		return 0;
	int status = weights_named(c, &named.path, &m->path);
	if (!status)
		status = open_config(c, &named, m);
	if (!status)
		status = open_model(c, &named, m);
	if (!status && wish->whole)
		model_warn_large(m->d, m->model.program);
	return status ? status : cli_warnings(c, m->d);
}

void named_model_release(struct named_model *m)
{
	model_file_release(&m->model);
	config_free(m->config);
	diags_free(m->d);
	source_set_free(m->sources);
	buf_release(&m->path);
}
