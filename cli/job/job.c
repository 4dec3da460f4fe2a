/* SPDX-License-Identifier: Apache-2.0
 * Joins configuration, model and data. */
#include "cli/job/job.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/job/model_work.h"
#include "cli/job/named_model.h"
#include "cli/job/run_folder.h"
#include "cli/job/sample_checks.h"
#include "cli/job/weights_files.h"
#include "runtime/data/generate/generate.h"

/* ---- compiling ---- */

static int constant_of(struct compile_words *w, const char *text, struct err *e)
{
	const char *equals = strchr(text, '=');

	if (!equals || equals == text || !equals[1])
		return err_set(e, -ERR_USAGE, "--const takes NAME=VALUE, not `%s`", text);
	char *copy = arena_strdup(&w->text, text);
	copy[equals - text] = 0;
	w->constant[w->compile.nconstant++] = (struct const_override){ copy, copy + (equals - text) + 1 };
	return 0;
}

static int constants_of_config(struct compile_words *w, const struct config *config, struct err *e)
{
	const struct ynode *v = config_node(config, KEY_MODEL_CONST);

	if (v && v->n > OPTIONS_LIST_MAX)
		return err_set(e, -ERR_CONFIG, "model.const has %u names, more than %d", v->n, OPTIONS_LIST_MAX);
	for (uint32_t i = 0; v && i < v->n; i++) {
		w->at[i] = v->entry[i].key_at;
		w->constant[i] = (struct const_override){ v->entry[i].key, v->entry[i].value->text };
	}
	w->compile.nconstant = v ? v->n : 0;
	w->compile.constant_at = w->at;
	return 0;
}

int compile_words_init(struct compile_words *w, const struct options *o, const struct config *config, struct err *e)
{
	int code = 0;

	memset(w, 0, sizeof *w);
	w->compile.constant = w->constant;
	w->compile.without = w->without;
	w->lang.include_dir = w->include;
	w->compile.nwithout = options_list(o, OPT_NO_PASS, w->without);
	w->lang.ninclude_dir = options_list(o, OPT_INCLUDE, w->include);
	if (config)
		return constants_of_config(w, config, e);
	for (unsigned i = 0; !code && i < o->nlist; i++)
		if (o->list[i].id == OPT_CONST)
			code = constant_of(w, o->list[i].value, e);
	return code;
}

void compile_words_release(struct compile_words *w) { arena_release(&w->text); }

int compile_words_check(struct cli *c, const struct compile_options *o)
{
	const struct pass_row *rows;
	size_t n = compile_passes(&rows);
	buf_auto known = BUF_INIT;
	int status = 0;

	for (size_t i = 0; i < n; i++)
		buf_printf(&known, "%s%s (%c)", i ? ", " : "", rows[i].name, rows[i].letter);
	for (unsigned k = 0; !status && k < o->nwithout; k++) {
		size_t i = 0;

		while (i < n && strcmp(rows[i].name, o->without[k]))
			i++;
		if (i == n)
			status = cli_usage(c, "no pass is called `%s`; there are %s", o->without[k], known.data);
		else if (!rows[i].optional)
			status = cli_usage(c, "the pass `%s` cannot be left out", o->without[k]);
	}
	for (const char *l = o->dump; !status && l && *l; l++) {
		size_t i = 0;

		while (i < n && rows[i].letter != *l)
			i++;
		if (i == n)
			status = cli_usage(c, "no pass has the letter `%c`; there are %s", *l, known.data);
	}
	return status;
}

/* ---- parts of a job ---- */

static bool generates_nothing(const struct config *c)
{
	double option[GENERATOR_OPTIONS_MAX];

	return config_has(c, KEY_DATA_GENERATE)
		&& generator_input(config_generator(c, option)) == GENERATOR_NOTHING;
}

/* What no training can change or measure. */
static int check_trainable(struct cli *c, const struct job *j)
{
	const struct program *p = j->model.program;
	const char *path = config_text(j->config, KEY_MODEL_FILE);

	if (p->noutput && p->nweight) {
		if (!p->ninput_group && !generates_nothing(j->config))
			cli_note(c, "%s has no `input`: its outputs are the same for every sample, only the labels of the data are used", path);
		return 0;
	}
	return cli_error(c, -ERR_BAD_DATA,
		!p->noutput ? "%s has no outputs to compare with labels: say what is measured, for example `observe z(q);`"
			    : "%s has no weights to train: it has neither `param` nor `head`",
		path);
}

static const char *find_beside_config(void *ctx, const char *path)
{
	const struct job *j = ctx;

	return config_path(j->config, path);
}

/* A fault of the configuration ends with 78, one in a data file with 65. */
static int open_samples(struct cli *c, struct job *j)
{
	struct samples_wish w = { j->config, j->model.program, j->model.want, ~0u, find_beside_config, j, NULL, NULL };
	struct err e;
	int code = samples_open(&w, j->d, &j->samples, &e);

	if (diags_errors(j->d))
		return cli_diags_fail(c, j->d, err_exit_status(code ? code : -ERR_CONFIG));
	return code ? cli_fail(c, &e) : 0;
}

/* `latest` leads to another run soon: configuration and command name the run itself. */
static void settle_init(const struct cli *c, struct job *j, const char *from, const char *path)
{
	static const char key[] = "train.init.from=";
	const struct ynode *v = config_node(j->config, KEY_TRAIN_INIT);
	char **word = arena_alloc(&j->arena, (size_t)c->argc + 2, sizeof *word);
	int at = c->argc - 1 /* the last one counts */, end = 0, n = 0;
	buf_auto given = BUF_INIT;

	if (!run_lasting_name(config_text(j->config, KEY_LOG_DIR), from, path, &j->init_name))
		return;
	v->entry[0].value->text = j->init_name.data;
	buf_printf(&given, "%s%s", key, from);
	while (at >= 0 && !path_ends(c->argv[at], given.data))
		at--;
	while (end < c->argc && strcmp(c->argv[end], "--"))
		end++;
	for (int i = 0; i <= c->argc; i++) {
		if (at < 0 && i == end)
			word[n++] = arena_printf(&j->arena, "--set=%s%s", key, j->init_name.data);
		word[n++] = i != at
			? c->argv[i]
			: arena_printf(&j->arena, "%.*s%s", (int)(strlen(c->argv[i]) - strlen(from)),
				c->argv[i], j->init_name.data);
	}
	j->word = word;
}

static int open_init(struct cli *c, struct job *j)
{
	const struct ynode *v = config_node(j->config, KEY_TRAIN_INIT);
	uint32_t n = j->model.program->nweight;
	struct err e;

	if (!v || v->kind != YNODE_MAP)
		return 0;
	const char *from = v->entry[0].value->text;
	const char *path = config_path(j->config, from), *named;
	if (access(path, F_OK))
		path = from;
	named = path;
	if (run_file(config_text(j->config, KEY_LOG_DIR), path, &j->init_path, &path, &e))
		return cli_fail(c, &e);
	if (path == from)
		path = config_path(j->config, from);
	j->init = mem_try(n ? n : 1, sizeof *j->init);
	if (!j->init)
		err_set(&e, -ERR_CONFIG, "no memory for %u weights", n);
	else if (!weights_import(j->model.program, path, false, j->init, &e)) {
		weights_file_say_orders(c, path, j->model.program);
		long long n = config_int(j->config, KEY_TRAIN_RESTARTS);

		if (n > 1)
			cli_note(c,
				"train.init.from gives the weights with which restart 1 of %lld begins; the others begin with random weights",
				n);
		settle_init(c, j, from, named);
		return 0;
	}
	return cli_fail(c, &e);
}

/* Only parameter shift needs no more than what shots tell. */
static void check_shots(const struct job *j)
{
	const struct config *g = j->config;
	struct span at = config_span(g, KEY_RUN_GRADIENT);

	if (!j->train.exec.shots || !optimizer_needs_gradient(j->train.optimizer) || j->train.exec.gradient == GRADIENT_SHIFT)
		return;
	if (!at.file)
		at = config_span(g, KEY_RUN_SHOTS);
	struct diag *d = diag_at(j->d, DIAG_CONFIG_CONFLICT, at,
		"run.shots and run.gradient: %s contradict each other",
		config_text(g, KEY_RUN_GRADIENT));
	diag_label(d, "shots do not show the state");
	diag_help(d, "set run.gradient: shift, or an optimiser without gradients, such as spsa");
}

static int fill_train(struct cli *c, struct job *j)
{
	const struct config *g = j->config;
	struct train_job *t = &j->train;
	struct execution_words words = execution_of_config(g, j->model.program);
	struct label_set labels = classes_distinct(&j->samples.part[PART_TRAIN]);
	struct err e;

	words.split_auto &= !c->options.given[OPT_RANKS]; /* which are to share them */
	words.plan_alone = true; /* workers may have what this machine lacks */
	if (execution_options(&words, &t->exec, &e))
		return cli_fail(c, &e);
	t->program = j->model.program;
	t->train = j->samples.part[PART_TRAIN];
	t->validation = j->samples.part[PART_VALIDATION];
	t->epochs = (uint32_t)config_int(g, KEY_TRAIN_EPOCHS);
	t->batch_size = (uint32_t)config_int(g, KEY_TRAIN_BATCH_SIZE);
	t->max_steps = (uint64_t)config_int(g, KEY_TRAIN_MAX_STEPS);
	config_measures(g, &t->measures);
	t->measures.labels = binary_labels(labels.value, labels.n);
	t->class_weights = config_class_weights(g);
	t->nconstraint = config_constraints(g, t->constraint);
	config_schedule(g, &t->schedule);
	config_callbacks(g, &j->callbacks);
	t->callbacks = &j->callbacks;
	t->steps_per_epoch = (uint32_t)config_int(g, KEY_TRAIN_STEPS_PER_EPOCH);
	t->initial_epoch = (uint32_t)config_int(g, KEY_TRAIN_INITIAL_EPOCH);
	t->validation_freq = (uint32_t)config_int(g, KEY_TRAIN_VALIDATION_FREQ);
	t->nvalidation_epoch = config_validation_epochs(g, &t->validation_epoch);
	t->optimizer = config_optimizer(g, t->option);
	t->seed = (uint64_t)config_int(g, KEY_RUN_SEED);
	t->shuffle = config_bool(g, KEY_TRAIN_SHUFFLE);
	t->restarts = (uint32_t)config_int(g, KEY_TRAIN_RESTARTS);
	t->init = j->init;
	check_shots(j);
	if (diags_errors(j->d))
		return cli_diags_fail(c, j->d, err_exit_status(-ERR_CONFIG));
	if (execution_method(&words, t->program, train_batch_size(t), &t->exec, &e))
		return cli_fail(c, &e);
	if (c->command->bit != COMMAND_CHECK)
		device_choose(&words, t->program, train_batch_size(t), &t->exec, j->device_reason);
	return 0;
}

static void check_samples(struct job *j)
{
	const struct train_job *t = &j->train;
	struct span at = config_span(j->config, config_has(j->config, KEY_DATA_GENERATE) ? KEY_DATA_GENERATE : KEY_DATA_TRAIN);
	buf_auto labels = BUF_INIT;
	struct classes k;

	classes_labels(&t->train, &labels);
	classes_init(&k, j->config, t->program, labels.len ? labels.data : NULL);
	sample_labels_check(t->program, &t->train, &t->measures, at, j->d);
	sample_outputs_check(t->program, &t->measures, config_has(j->config, KEY_TRAIN_LOSS)
		? config_span(j->config, KEY_TRAIN_LOSS) : at, j->d);
	for (enum sample_part i = PART_VALIDATION; i < PART_COUNT; i++)
		sample_parts_check(&k, &t->train, &j->samples.part[i], sample_part_name(i), at, j->d);
	sample_angles_check(t->program, &t->train, at, j->d);
	if (t->validation.nrow)
		sample_angles_check(t->program, &t->validation, at, j->d);
}

int job_open(struct cli *c, const char *path, struct job *j)
{
	struct config_change change[OPTIONS_LIST_MAX + 1]; /* and --device */
	unsigned nchange = config_changes(&c->options, change);
	struct err e;

	memset(j, 0, sizeof *j);
	if (c->options.given[OPT_TRAIN_DEVICE]) {
		snprintf(j->device_change, sizeof j->device_change, "run.device=%s",
			c->options.value[OPT_TRAIN_DEVICE]);
		change[nchange++] = (struct config_change){ j->device_change, false };
	}
	j->d = diags_new(source_set_new());
	j->config = config_open(path, change, nchange, j->d, &e);
	if (!j->config)
		return cli_fail(c, &e);
	if (c->config_folder)
		config_of_run(j->config, c->config_folder);
	if (diags_errors(j->d))
		return cli_diags_fail(c, j->d, err_exit_status(-ERR_CONFIG));
	struct named_model m = { .d = j->d, .config = j->config, .configured = true };
	int status = named_model_compile(c, &(struct model_wish){ .whole = true }, &m);
	j->model = m.model;
	if (!status)
		status = open_samples(c, j);
	if (!status)
		status = check_trainable(c, j);
	if (!status)
		status = open_init(c, j);
	if (!status)
		status = fill_train(c, j);
	if (!status && c->command->bit == COMMAND_CHECK
		&& j->train.exec.method
			== METHOD_STATEVECTOR) /* training asks the evaluator, or other hosts */
		model_warn_large(j->d, j->model.program);
	if (!status)
		check_samples(j);
	return status ? status : cli_warnings(c, j->d);
}

void job_release(struct job *j)
{
	free(j->init);
	buf_release(&j->init_path);
	buf_release(&j->init_name);
	arena_release(&j->arena);
	samples_release(&j->samples);
	model_file_release(&j->model);
	config_free(j->config);
	diags_free_all(j->d);
	memset(j, 0, sizeof *j);
}
