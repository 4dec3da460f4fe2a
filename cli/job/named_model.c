/* SPDX-License-Identifier: Apache-2.0
 * Opens the model of a command line, through its configuration where that is what is named. */
#include "cli/job/named_model.h"

#include "cli/job/job.h"
#include "cli/job/model_work.h"
#include "cli/job/weights_files.h"

unsigned config_changes(const struct options *o, struct config_change *change)
{
	unsigned n = 0;

	for (unsigned i = 0; i < o->nlist; i++)
		if (o->list[i].id == OPT_SET || o->list[i].id == OPT_CONST)
			change[n++] = (struct config_change){ o->list[i].value,
				o->list[i].id == OPT_CONST };
	return n;
}

bool path_is_config(const char *path)
{
	return path_ends(path, ".yaml") || path_ends(path, ".yml");
}

/* A model alone as a configuration that says nothing else. */
static struct config *config_of_model(struct cli *c, struct named_model *m, const char *path)
{
	struct config_change change[OPTIONS_LIST_MAX];
	unsigned n = config_changes(&c->options, change);
	buf_auto text = BUF_INIT;

	buf_json(&text, "model: {file: %s}\n", path);
	int file = source_add(diags_sources(m->d), "(--model)", text.data, text.len);
	if (file < 0)
		BUG("no room for the name of a model");
	return config_read((uint32_t)file, change, n, m->d);
}

static int config_status(struct cli *c, const struct named_model *m)
{
	return diags_errors(m->d) ? cli_diags_fail(c, m->d, err_exit_status(-ERR_CONFIG)) : 0;
}

static int open_config(struct cli *c, const char *path, struct named_model *m)
{
	struct config_change change[OPTIONS_LIST_MAX];
	unsigned n = config_changes(&c->options, change);
	struct err e;

	m->config = config_open(path, change, n, m->d, &e);
	m->configured = m->config;
	return m->config ? config_status(c, m) : cli_fail(c, &e);
}

int named_config_open(struct cli *c, const char *path, struct named_model *m)
{
	*m = (struct named_model){ .d = diags_new(source_set_new()) };
	return open_config(c, path, m);
}

static int find_config(struct cli *c, const struct model_wish *wish, struct named_model *m)
{
	if (path_is_config(wish->path) && !wish->alone)
		return open_config(c, wish->path, m);
	if (wish->defaults)
		m->config = config_of_model(c, m, wish->path);
	else if (c->options.given[OPT_SET])
		return cli_usage(c, "--set needs a configuration (.yaml); for a model use --const");
	return config_status(c, m);
}

int model_add_noise(struct cli *c, const struct config *config, struct program *p)
{
	double one, two;
	struct err e;

	return config_noise(config, &one, &two) && compile_noise(p, one, two, &e) ? cli_fail(c, &e)
										  : 0;
}

int named_model_compile(struct cli *c, const struct model_wish *wish, struct named_model *m)
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
		if (e.code == -ERR_NO_INPUT && m->configured)
			config_blame(m->config, KEY_MODEL_FILE, &e);
		status = cli_fail(c, &e);
	}
	compile_words_release(&w);
	if (!status && !diags_errors(m->d) && m->config)
		status = model_add_noise(c, m->config, m->model.program);
	if (!status && diags_errors(m->d))
		status = cli_diags_fail(c, m->d, model_fault_status(m->d, m->configured));
	return status;
}

int named_model_read(struct cli *c, const struct model_wish *wish, struct named_model *m)
{
	struct model_wish named = *wish;

	*m = (struct named_model){ .d = diags_new(source_set_new()) };
	int status = weights_named(c, &named.path, &m->path);
	if (!status)
		status = find_config(c, &named, m);
	return status ? status : named_model_compile(c, &named, m);
}

int named_model_open(struct cli *c, const struct model_wish *wish, struct named_model *m)
{
	*m = (struct named_model){ .d = NULL };
	if (!wish->path)
		return 0;
	int status = named_model_read(c, wish, m);
	if (!status && wish->whole)
		model_warn_large(m->d, m->model.program);
	return status ? status : cli_warnings(c, m->d);
}

void named_model_release(struct named_model *m)
{
	model_file_release(&m->model);
	config_free(m->config);
	diags_free_all(m->d);
	buf_release(&m->path);
}
