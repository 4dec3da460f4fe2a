/* SPDX-License-Identifier: Apache-2.0
 * The configuration that a run keeps, and the command that it was begun with. */
#include "cli/training/own_config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/job/run_folder.h"
#include "cli/config/configuration.h"
#include "runtime/base/system/folder.h"

/* ---- its folder ---- */

/* The value of the last `--set log.dir=`, or its default. */
static const char *folder_of_runs(const struct options *o)
{
	static const char key[] = "log.dir=";
	const char *text[OPTIONS_LIST_MAX], *dir = "runs";

	for (unsigned i = 0, n = options_list(o, OPT_SET, text); i < n; i++)
		if (!strncmp(text[i], key, sizeof key - 1))
			dir = text[i] + sizeof key - 1;
	return dir;
}

/* Its configuration may name programs to run. */
static int check_owner(struct cli *c, const char *path)
{
	buf_auto why = BUF_INIT;
	int folder = folder_open(path, false);
	bool own = folder >= 0 && folder_is_own(folder, &why);

	if (folder >= 0)
		close(folder);
	return own
		? 0
		: cli_usage(c,
			"%s: %s; a configuration in it may run programs: read it, and name one of your own: qcnn train --resume=%s CONFIG",
			path, why.len ? why.data : "its folder cannot be opened", path);
}

/* A path with a slash and the run's name: `.` has none. */
static const char *name_run(struct arena *a, const char *path)
{
	const char *base = path_base(path);
	mem_auto char *real = !strcmp(base, ".") || !strcmp(base, "..") ? realpath(path, NULL) : NULL;

	return arena_strdup(a, real ? real : path);
}

/* ---- where its paths lead ---- */

static bool has_model(const char *folder, const char *file)
{
	buf_auto path = BUF_INIT;

	buf_printf(&path, "%s/%s", folder, file);
	return !access(*file == '/' ? file : path.data, F_OK);
}

/* The folder of the configuration that it was begun with, or this one, where that has no such model. */
static void find_base(struct cli *c, struct own_config *o, const struct run_folder *f,
	const struct config *config)
{
	const char *noted = json_string_value(json_object_get(f->record, "config_folder")),
		   *model = config_text(config, KEY_MODEL_FILE);
	bool here = !noted || (!has_model(noted, model) && has_model(".", model));

	o->base = arena_strdup(&o->arena, here ? "." : noted);
	if (here && noted)
		cli_note(c,
			"%s, where %s was begun, has no %s: the paths of its configuration begin at this folder",
			noted, f->path, model);
}

/* Only where it is another one: the configuration may have it as a default. */
static void set_log_dir(struct cli *c, struct own_config *o, const struct config *config)
{
	buf_auto folder = BUF_INIT, change = BUF_INIT;

	path_folder(o->run, &folder);
	if (!strcmp(folder.data, config_text(config, KEY_LOG_DIR)))
		return;
	buf_json(&change, "log.dir=%s", folder.data);
	c->options.list[c->options.nlist].id = OPT_SET;
	c->options.list[c->options.nlist++].value = arena_strdup(&o->arena, change.data);
}

/* ---- the command ---- */

static void add(struct own_config *o, const char *word)
{
	*arena_push(&o->arena, o->word, o->nword) = word ? arena_strdup(&o->arena, word) : NULL;
}

/* Is the key of `path=value` changed here, too? */
static bool changes_key(const struct options *o, enum option_id id, const char *change)
{
	size_t len = strcspn(change, "=") + 1;
	const char *text[OPTIONS_LIST_MAX];

	for (unsigned i = 0, n = options_list(o, id, text); i < n; i++)
		if (!strncmp(text[i], change, len))
			return true;
	return false;
}

/* Those that change the result: its hosts and files are of its own time. */
static void add_former(struct own_config *o, const struct options *former, const struct options *now)
{
	static const char *const name[] = { "--set", "--const" };

	for (unsigned i = 0; i < former->nlist; i++) {
		enum option_id id = former->list[i].id;

		if ((id != OPT_SET && id != OPT_CONST) || changes_key(now, id, former->list[i].value))
			continue;
		add(o, name[id == OPT_CONST]);
		add(o, former->list[i].value);
	}
	if (former->given[OPT_TRAIN_DEVICE] && !now->given[OPT_TRAIN_DEVICE]) {
		add(o, "--device");
		add(o, former->value[OPT_TRAIN_DEVICE]);
	}
}

/* All but --resume. */
static void add_these(struct own_config *o, const struct cli *c)
{
	bool after = false;

	for (int i = 1; i < c->argc; i++) {
		const char *word = c->argv[i];

		if (!strcmp(word, "--resume"))
			i++;
		else if (after && strncmp(word, "--resume=", strlen("--resume=")))
			add(o, word);
		after |= !strcmp(word, c->command->name);
	}
}

/* The configuration that the command named may have changed since: the run's own is in the report. */
static void make_command(const struct cli *c, struct own_config *o, const struct run_folder *f)
{
	char *former[RUN_COMMAND_WORDS_MAX];
	int n = run_command_words(f, former);
	const char *folder = json_string_value(json_object_get(f->record, "folder"));
	struct options before;
	struct err e;

	bool known = n && folder && !options_parse(COMMAND_TRAIN, n, former, false, &before, NULL, &e)
		&& before.noperand == 1;
	add(o, c->argv[0]);
	add(o, c->command->name);
	if (known)
		add_former(o, &before, &c->options);
	add_these(o, c);
	add(o, known ? before.operand[0] : o->path);
	add(o, NULL);
	o->folder = arena_strdup(&o->arena, known && o->base && strcmp(o->base, ".") ? folder : ".");
}

/* ---- all of it ---- */

/* The values that decide where files are; faults are reported when it is read as the job's. */
static void complete(struct cli *c, struct own_config *o, const struct run_folder *f)
{
	struct diags *d = diags_new(source_set_new());
	struct config *config = config_open(o->path, NULL, 0, d, NULL);

	if (config && !diags_errors(d)) {
		find_base(c, o, f, config);
		set_log_dir(c, o, config);
	}
	config_free(config);
	diags_free_all(d);
	make_command(c, o, f);
	c->options.value[OPT_RESUME] = o->run;
	c->options.operand[c->options.noperand++] = o->path;
	c->config_folder = o->base;
}

/* `latest` is a run that has finished. */
static int not_found(struct cli *c, const struct err *e)
{
	const char *dir = folder_of_runs(&c->options);
	buf_auto other = BUF_INIT;
	int status = cli_fail(c, e);

	if (!strcmp(c->options.value[OPT_RESUME], "latest")
		&& run_newest_unfinished(dir, NULL, &other))
		cli_note(c, "%s has not finished: --resume=%s goes on with it", other.data,
			other.data);
	return status;
}

int own_config_find(struct cli *c, struct own_config *o)
{
	const struct options *given = &c->options;
	run_list_auto l = { NULL, 0, 0 };
	struct err e;

	memset(o, 0, sizeof *o);
	if (given->noperand)
		return 0;
	if (!given->given[OPT_RESUME] || !strcmp(given->value[OPT_RESUME], "auto"))
		return cli_usage(c, "missing CONFIG; only --resume=RUN goes without one");
	if (given->nlist == OPTIONS_LIST_MAX)
		return cli_usage(c, "with %d options such as --set, name a CONFIG", OPTIONS_LIST_MAX);
	int status = run_list_find(folder_of_runs(given), given->value[OPT_RESUME], &l, &e)
		? not_found(c, &e)
		: check_owner(c, l.run[0].path);
	if (!status) {
		o->run = name_run(&o->arena, l.run[0].path);
		o->path = arena_printf(&o->arena, "%s/config.yaml", o->run);
		complete(c, o, &l.run[0]);
	}
	return status;
}

void own_config_explain(const struct cli *c, const struct own_config *o)
{
	if (o->base)
		cli_note(c,
			"the paths in %s begin at %s; where the files are elsewhere, run the command in the folder that has them all, "
			"or name a configuration there: qcnn train --resume=%s CONFIG",
			o->path, o->base, o->run);
}

void own_config_release(struct own_config *o) { arena_release(&o->arena); }
