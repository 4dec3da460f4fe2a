/* SPDX-License-Identifier: Apache-2.0
 * qcnn infer: outputs, loss and metrics of trained weights, from weights.bin alone. */
#include "cli/command.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/memory_exit.h"
#include "cli/hosts/rank_places.h"
#include "cli/job/execution.h"
#include "cli/job/job.h"
#include "cli/job/predictions.h"
#include "cli/job/run_config.h"
#include "cli/job/sample_checks.h"
#include "cli/job/samples.h"
#include "cli/job/weights_files.h"
#include "cli/output/table.h"
#include "cli/profile/profiling.h"
#include "runtime/base/numerical_version.h"
#include "runtime/base/rng.h"
#include "runtime/base/system/cpus.h"
#include "runtime/base/visible.h"
#include "runtime/data/format/dataset_read.h"
#include "runtime/exec/engine.h"
#include "runtime/net/scheduler/pool_threads.h"
#include "runtime/train/score.h"
#include "runtime/train/weights/weights.h"

struct inference {
	struct cli *cli;
	struct diags *d;
	struct weights *weights;
	json_t *trained; /* the configuration in the weights, which config is with the changes */
	struct config *config;
	struct input_want *want;
	struct samples samples;
	struct transform learnt;     /* of the training data; without steps where there were none */
	struct dataset *own;         /* of --data */
	uint32_t *kept;              /* its rows */
	struct buf path;             /* of the weights, where a run is named */
	bool other_model;            /* than that of the training: --model, --const */
	bool more_noise;             /* than that of the training: --set run.noise */
	const char *run_folder;      /* config_folder of the run.json beside the weights, or NULL */
	struct arena arena;
	struct predictions p;
	struct cluster cluster;
};

/* ---- the file ---- */

static int damaged(struct inference *f, const char *what)
{
	return cli_error(f->cli, -ERR_BAD_DATA, "%s: its metadata have no valid %s",
		f->cli->options.operand[0], what);
}

/* What the steps of data.transform learnt. */
static int open_transform(struct inference *f)
{
	const char *text = weights_meta(f->weights, "transform");
	const struct ynode *steps = config_node(f->config, KEY_DATA_TRANSFORM);
	unsigned n = steps ? steps->n : 0;
	struct err e;

	if (text && transform_parse(text, strlen(text), &f->learnt, &e))
		return damaged(f, "transform");
	if (f->learnt.nstep != n || (n && transform_outputs(&f->learnt) != f->weights->program->ninput))
		return damaged(f, "transform");
	return 0;
}

/* Keys that --set may change; of data_keys, those that say how a file names what is in it, also that of --data. */
static const char *const data_keys[] = { "data.", "run.seed=", NULL },
			 *const metrics_keys[] = { "train.metrics=", NULL },
			 *const noise_keys[] = { "run.noise", NULL },
			 *const name_keys[] = { "data.label=", "data.label_map", "data.inputs",
				 "data.sample_weight=", NULL };

static bool sets(const char *change, const char *const *key)
{
	while (*key && strncmp(change, *key, strlen(*key)))
		key++;
	return *key;
}

/* Is one of these keys set? */
static bool any_set(const struct cli *c, const char *const *key)
{
	const char *text[OPTIONS_LIST_MAX];
	unsigned n = options_list(&c->options, OPT_SET_INFER, text), i = 0;

	while (i < n && !sets(text[i], key))
		i++;
	return i < n;
}

/* Whether a --set describes other data than those of the training, or than those of --data. */
static bool changes_data(const struct cli *c)
{
	const char *text[OPTIONS_LIST_MAX];
	unsigned n = options_list(&c->options, OPT_SET_INFER, text), i = 0;

	while (i < n
		&& (!sets(text[i], data_keys)
			|| (c->options.given[OPT_DATA] && sets(text[i], name_keys))))
		i++;
	return i < n;
}

/* What --set gives, behind what other data imply: all samples are in one part. */
static unsigned changes_to_config(const struct inference *f, struct config_change *change)
{
	const char *text[OPTIONS_LIST_MAX];
	unsigned n = options_list(&f->cli->options, OPT_SET_INFER, text), k = 0;

	if (changes_data(f->cli))
		change[k++] = (struct config_change){ "data.split=null", false };
	if (f->cli->options.given[OPT_DATA] && n) /* it is a file, whatever the training had */
		change[k++] = (struct config_change){ "data.generate=null", false };
	for (unsigned i = 0; i < n; i++)
		change[k++] = (struct config_change){ text[i], false };
	n = options_list(&f->cli->options, OPT_CONST, text);
	for (unsigned i = 0; i < n; i++)
		change[k++] = (struct config_change){ text[i], true };
	return k;
}

static int check_changes(struct cli *c)
{
	const char *text[OPTIONS_LIST_MAX];
	unsigned n = options_list(&c->options, OPT_SET_INFER, text);

	for (unsigned i = 0; i < n; i++)
		if (!sets(text[i], data_keys) && !sets(text[i], metrics_keys)
			&& !sets(text[i], noise_keys))
			return cli_usage(c,
				"--set changes data.KEY, run.seed, run.noise or train.metrics here, not `%s`%s",
				text[i],
				strncmp(text[i], "model.", strlen("model."))
					? ""
					: "; --const changes a constant, and --model the model");
		else if (!strncmp(text[i], "data.transform", strlen("data.transform")))
			return cli_usage(c, "the steps of data.transform belong to the weights");
	return 0;
}

static int open_config(struct inference *f)
{
	const char *text = weights_meta(f->weights, "config");
	int file = text
		? source_add(diags_sources(f->d), "(config in the weights)", text, strlen(text))
		: -1;
	struct config_change change[OPTIONS_LIST_MAX + 1];
	unsigned nchange = changes_to_config(f, change);

	if (file < 0)
		return damaged(f, "config");
	f->trained = json_read(text, strlen(text), NULL);
	f->config = config_read((uint32_t)file, change, nchange, f->d);
	if (diags_errors(f->d))
		return cli_diags_fail(f->cli, f->d, err_exit_status(nchange ? -ERR_CONFIG : -ERR_BAD_DATA));
	return 0;
}

/* Whether the folder, written with its last slash, is that of a run's checkpoints. */
static bool is_checkpoint(const struct buf *folder)
{
	return folder->len && path_ends(folder->data, "checkpoint/") && (folder->len == strlen("checkpoint/")
		|| path_ends(folder->data, "/checkpoint/"));
}

/* A file of the run: beside the weights, or above a checkpoint. */
static void path_in_run(const char *weights_path, const char *name, struct buf *path)
{
	const char *slash = strrchr(weights_path, '/');

	if (slash)
		buf_add(path, weights_path, (size_t)(slash - weights_path) + 1);
	if (is_checkpoint(path))
		buf_str(path, "../");
	buf_str(path, name);
}

/* config_folder of the run.json of the weights, in the arena; NULL without one. */
static const char *noted_folder(struct arena *a, const char *weights_path)
{
	buf_auto path = BUF_INIT, text = BUF_INIT;
	json_auto_t *run = NULL;

	path_in_run(weights_path, "run.json", &path);
	if (!buf_read_file(&text, path.data, 1 << 20, NULL))
		run = json_read(text.data, text.len, NULL);
	const char *folder = json_string_value(json_object_get(run, "config_folder"));
	return folder ? arena_strdup(a, folder) : NULL;
}

/* Does the model have the noise of run.noise since its training? */
static bool trained_with_noise(const struct inference *f)
{
	return json_is_object(json_object_get(json_object_get(f->trained, "run"), "noise"));
}

/* What --set says of it. */
static int add_noise(struct inference *f)
{
	if (!any_set(f->cli, noise_keys))
		return 0;
	if (trained_with_noise(f))
		return cli_usage(f->cli,
			"the weights were trained with run.noise, which is in their model; --trajectories=0 leaves it out");
	f->more_noise = true;
	return model_add_noise(f->cli, f->config, f->weights->program);
}

/* Samples are read and transformed by the order of the inputs: the same names and sizes. */
static int check_inputs(struct inference *f, const struct program *p, const char *path)
{
	const struct program *trained = f->weights->program;

	if (p->ninput != trained->ninput)
		return cli_error(f->cli, -ERR_BAD_DATA,
			"%s has inputs of %u numbers, the model of the training of %u", path,
			p->ninput, trained->ninput);
	for (uint32_t i = 0; i < p->ninput_group && i < trained->ninput_group; i++) {
		const struct input_group *x = &p->input_group[i], *y = &trained->input_group[i];

		if (strcmp(x->name, y->name) != 0 || x->count != y->count)
			return cli_error(f->cli, -ERR_BAD_DATA,
				"%s has the input `%s` of size %u where the model of the training has `%s` of size %u",
				path, x->name, x->count, y->name, y->count);
	}
	return 0;
}

/* The weights of the training become those of m, which has to have their paths. */
static int take_model(struct inference *f, const char *path, struct model_file *m)
{
	struct program *p = m->program;
	struct err e;

	if (m->weights)
		return cli_usage(f->cli, "--model takes the text of a model, and %s has weights",
			path);
	int status = check_inputs(f, p, path);
	if (status)
		return status;
	double *weight = arena_alloc(&f->arena, p->nweight, sizeof *weight);
	if (weights_import(p, f->cli->options.operand[0], false, weight, &e))
		return cli_fail(f->cli, &e);
	if (trained_with_noise(f))
		status = model_add_noise(f->cli, f->config, p);
	if (status)
		return status;
	program_free(f->weights->program);
	free(f->want);
	f->weights->program = p;
	f->weights->weight = weight;
	f->want = m->want;
	f->other_model = true;
	m->program = NULL;
	m->want = NULL;
	return 0;
}

/* The model of --model, or with --const that of the run, with the constants of the training and of --const. */
static int other_model(struct inference *f)
{
	const struct options *o = &f->cli->options;
	const char *path = o->value[OPT_MODEL_INFER];
	buf_auto beside = BUF_INIT;
	struct model_file m = { 0 };
	struct compile_words w;
	struct err e;

	if (!path && !o->given[OPT_CONST])
		return o->given[OPT_INCLUDE]
			? cli_usage(f->cli, "--include needs --model or --const")
			: 0;
	if (!path) {
		path_in_run(o->operand[0], "model.qcnn", &beside);
		path = beside.data;
	}
	int code = compile_words_init(&w, o, f->config, &e), status;
	if (!code)
		code = model_file_open(path, f->d, &w.lang, &w.compile, &m, &e);
	compile_words_release(&w);
	if (code == -ERR_NO_INPUT && !o->value[OPT_MODEL_INFER])
		err_set(&e, code,
			"there is no model %s beside the weights for --const to change; name it with --model",
			path);
	if (code)
		status = cli_fail(f->cli, &e);
	else if (diags_errors(f->d))
		status = cli_diags_fail(f->cli, f->d, model_fault_status(f->d, false));
	else
		status = take_model(f, path, &m);
	model_file_release(&m);
	return status;
}

/* Those of --weights, in place of the run's, whose model, configuration and samples stay. */
static int take_weights(struct inference *f)
{
	const char *file = f->cli->options.value[OPT_WEIGHTS_INFER];
	buf_auto path = BUF_INIT;
	struct err e;
	int status = weights_named(f->cli, &file, &path);

	if (!file || status)
		return status;
	if (weights_import(f->weights->program, file, false, f->weights->weight, &e))
		return cli_fail(f->cli, &e);
	weights_file_say_orders(f->cli, file, f->weights->program);
	return 0;
}

static int open_weights(struct inference *f)
{
	const char *path = f->cli->options.operand[0];
	struct err e;

	if (!weights_file_is_bin(path))
		return cli_usage(f->cli,
			"%s has weights without a model; `qcnn infer --weights=%s RUN` evaluates them on the samples of a run, and `qcnn weights "
			"convert --model=MODEL` makes a weights.bin of them",
			path, path);
	if (weights_open(path, &f->weights, &e))
		return cli_fail(f->cli, &e);
	f->want = input_wants(f->weights->program);
	/* Results agree within the tolerances of the tests whatever the version: of interest for last digits alone. */
	int version = numerical_version_of(weights_meta(f->weights, "numerical_version"));
	if (version != NUMERICAL_VERSION)
		cli_detail(f->cli,
			"the weights have numerical version %d, this program has %d: last digits may differ from those of the training",
			version, NUMERICAL_VERSION);
	f->run_folder = noted_folder(&f->arena, path);
	int status = open_config(f);
	if (!status)
		status = other_model(f);
	if (!status)
		status = open_transform(f);
	if (!status)
		status = add_noise(f);
	return status ? status : take_weights(f);
}

/* ---- the data ---- */

static const char *find_data(void *ctx, const char *path)
{
	struct inference *f = ctx;
	const char *folder[] = { f->run_folder, ".", f->cli->options.value[OPT_DATA_DIR] };

	if (*path == '/')
		return access(path, F_OK) ? NULL : path;
	for (size_t i = 0; i < sizeof folder / sizeof *folder; i++) {
		const char *whole = folder[i] ? arena_printf(&f->arena, "%s/%s", folder[i], path) : NULL;

		if (whole && !access(whole, F_OK))
			return whole;
	}
	return NULL;
}

/* The part that is asked for, or test, or validation. */
static int choose_part(struct inference *f, const json_t *split, enum sample_part *part)
{
	const struct options *o = &f->cli->options;

	if (o->given[OPT_SPLIT])
		*part = (enum sample_part)options_choice(o, OPT_SPLIT);
	else
		*part = json_object_get(split, "test") ? PART_TEST : PART_VALIDATION;
	if (json_object_get(split, sample_part_name(*part)))
		return 0;
	if (o->given[OPT_SPLIT])
		return cli_usage(f->cli, "the training had no %s data", sample_part_name(*part));
	return cli_usage(f->cli, "the training had neither test nor validation data; give --data or --split=train");
}

/* Does the part that was made or read again equal the one that the weights describe? */
static int same_samples(struct inference *f, enum sample_part k, const json_t *wanted)
{
	const struct part *p = &f->samples.part[k];
	buf_auto now = BUF_INIT;
	struct err e = { 0 };
	const char *source = json_string_value(json_object_get(wanted, "source"));
	int code = samples_describe(&f->samples, f->config, &now, &e);

	if (!code) {
		json_auto_t *all = json_read(now.data, now.len, &e);
		const json_t *part = json_object_get(all, sample_part_name(k));

		if (!json_equal(json_object_get(part, "sha256"), json_object_get(wanted, "sha256")))
			code = err_set(&e, -ERR_BAD_DATA, "the data %s have changed since the training (their SHA-256 differs)",
				p->nrow && f->samples.used[k] ? p->data->source : source);
		else if (!json_equal((json_t *)part, (json_t *)wanted))
			code = err_set(&e, -ERR_BAD_DATA, "the %s rows of %s cannot be chosen again as in the training",
				sample_part_name(k), source);
	}
	return code ? cli_fail(f->cli, &e) : 0;
}

static int not_found(struct inference *f, const struct err *e)
{
	const struct options *o = &f->cli->options;
	buf_auto b = BUF_INIT;

	buf_printf(&b, "%s; looked for it in ", e->text);
	if (f->run_folder)
		buf_printf(&b, "%s, ", f->run_folder);
	buf_str(&b, "the current folder");
	if (o->given[OPT_DATA_DIR])
		buf_printf(&b, " and %s", o->value[OPT_DATA_DIR]);
	else
		buf_str(&b, "; --data-dir names another one");
	return cli_error(f->cli, -ERR_NO_INPUT, "%s", b.data);
}

static int read_part(struct inference *f, enum sample_part k)
{
	struct samples_wish w = { f->config, f->weights->program, f->want, 1u << k, find_data, f, &f->learnt, NULL };
	struct err e;
	int code = samples_open(&w, f->d, &f->samples, &e);

	if (diags_errors(f->d))          /* in a data file, or else in what --set says of it */
		return cli_diags_fail(f->cli, f->d, err_exit_status(code ? code : -ERR_CONFIG));
	if (code)
		return code == -ERR_NO_INPUT ? not_found(f, &e) : cli_fail(f->cli, &e);
	f->p.part = f->samples.part[k];
	return 0;
}

/* Weights that were converted from a file without a model: the configuration, if one was given, describes data, but no parts
 * with digests. */
static int no_split(struct inference *f)
{
	const char *path = f->cli->options.operand[0];
	const struct ynode *split = config_node(f->config, KEY_DATA_SPLIT);
	bool part = split && (split->kind == YNODE_REAL || split->kind == YNODE_INT);

	if (!config_has(f->config, KEY_DATA_TRAIN) && !config_has(f->config, KEY_DATA_GENERATE))
		return cli_usage(f->cli,
			"%s was not made by training and describes no data; give --data, or convert the weights with --model=CONFIG, "
			"the configuration of their training, to evaluate its data",
			path);
	return cli_usage(f->cli,
		"%s was not made by training and describes no data; give --data, or evaluate %s of its configuration: "
		"--set data.split=%s%s",
		path, part ? "the validation data" : "all samples", part ? split->text : "null",
		part ? " --split=validation" : "");
}

static int open_described(struct inference *f)
{
	const char *text = weights_meta(f->weights, "split");
	json_auto_t *split = text ? json_read(text, strlen(text), NULL) : NULL;
	enum sample_part k;

	if (!text)
		return no_split(f);
	if (!split)
		return damaged(f, "split");
	int status = choose_part(f, split, &k);
	if (!status)
		status = read_part(f, k);
	return status ? status : same_samples(f, k, json_object_get(split, sample_part_name(k)));
}

/* Samples that --set describes. */
static int open_changed(struct inference *f)
{
	const struct options *o = &f->cli->options;
	enum sample_part k = o->given[OPT_SPLIT] ? (enum sample_part)options_choice(o, OPT_SPLIT) : PART_TRAIN;
	int status = read_part(f, k);

	if (status || f->p.part.nrow)
		return status;
	return cli_usage(f->cli, "there are no %s data; data.split and --split say what they are", sample_part_name(k));
}

/* The samples of --data have no labels. */
static void say_unlabelled(const struct inference *f)
{
	static const char *const label_key[] = { "data.label=", NULL };
	const char *label = config_has(f->config, KEY_DATA_LABEL)
		? config_text(f->config, KEY_DATA_LABEL)
		: "label";

	if (any_set(f->cli, label_key))
		cli_note(f->cli, "no labels in %s, which has nothing named `%s`: no loss or metrics",
			f->own->source, label);
	else
		cli_note(f->cli,
			"no labels in %s: no loss or metrics; --set data.label=NAME names their column, which was `%s` in the training",
			f->own->source, label);
}

static int open_own(struct inference *f)
{
	const struct samples_wish w = { .config = f->config, .program = f->weights->program, .want = f->want, .learnt = &f->learnt,
		.columns = weights_meta(f->weights, "columns") };
	struct err e;
	int code = samples_file(&w, f->cli->options.value[OPT_DATA], f->d, &f->own, &e);

	if (diags_errors(f->d))
		return cli_diags_fail(f->cli, f->d, err_exit_status(-ERR_BAD_DATA));
	if (!code)
		code = samples_part(f->own, &f->kept, &f->p.part, &e);
	if (code)
		return cli_fail(f->cli, &e);
	if (!f->p.part.nrow)
		return cli_error(f->cli, -ERR_BAD_DATA, "%s: data.label_map leaves out all %u rows",
			f->own->source, f->own->nrow);
	if (!f->own->ny)
		say_unlabelled(f);
	return 0;
}

/* ---- evaluating ---- */

/* Settle the method; with what options change, that of the training may not be possible. */
static int settle_method(struct inference *f, const struct execution_words *w,
	struct evaluator_options *out)
{
	const struct engine_problem problem = { .program = f->weights->program, .options = out };
	const char *why = out->method == METHOD_TENSOR ? engine_tensor.obstacle(&problem) : NULL;
	struct err e;

	if (why && !f->cli->options.given[OPT_METHOD]) {
		cli_note(f->cli,
			"the weights were trained with the method tensor, which is not possible here: %s; with state vectors the last digits may differ",
			why);
		out->method = METHOD_AUTO;
	}
	return execution_method(w, f->weights->program, f->p.part.nrow, out, &e)
		? cli_fail(f->cli, &e)
		: 0;
}

static int execution(struct inference *f, struct evaluator_options *out)
{
	struct execution_words w = execution_of_config(f->config, f->weights->program);
	const struct options *o = &f->cli->options;
	struct err e;

	if (o->given[OPT_DEVICE]) {
		w.device = o->value[OPT_DEVICE];
		w.isa = "auto";
	}
	const struct target *trained = strcmp(w.isa, "auto") ? target_find(NULL, w.isa) : NULL;

	/* As in training; a sample's numbers do not depend on the others. */
	w.optimisations &= OPTIMISATION_HEISENBERG_TAIL | OPTIMISATION_LIGHT_CONE;
	if (o->given[OPT_RANKS] && options_count(o, OPT_RANKS) > w.split) {
		w.split = (uint32_t)options_count(o, OPT_RANKS);
		cli_note(f->cli,
			"states are split over more ranks than in the training: the last digits may differ");
	}
	w.threads = (uint32_t)options_count_or(o, OPT_THREADS, 0);
	if (o->given[OPT_SHOTS])
		w.shots = (uint32_t)options_count(o, OPT_SHOTS);
	if (o->given[OPT_TRAJECTORIES])
		w.trajectories = execution_trajectories(options_count(o, OPT_TRAJECTORIES));
	if (w.shots
		|| !strcmp(w.gradient,
			"adjoint")) /* the plans of other methods differ from that of outputs alone */
		w.gradient = NULL;
	w.method = o->given[OPT_METHOD] ? o->value[OPT_METHOD]
		: f->other_model || f->more_noise
		? "auto"
		: method_name(method_find(run_config_method(json_object_get(f->trained, "run"))));
	w.split_auto &= !o->given[OPT_RANKS];
	if (!strcmp(w.method, "tensor") && w.split_auto)
		w.split = 1;
	if (o->given[OPT_ISA]) {
		w.isa = o->value[OPT_ISA];
	} else if (trained && target_obstacle(trained)) {
		cli_note(f->cli,
			"%s %s, with which the weights were trained; with %s the last digits may differ",
			target_obstacle(trained), w.isa, target_find(NULL, NULL)->kernels);
		w.isa = "auto";
	}
	return execution_options(&w, out, &e) ? cli_fail(f->cli, &e) : settle_method(f, &w, out);
}

static int start_workers(struct inference *f, struct evaluator_options *o, struct pool **remote)
{
	struct cluster_work w = { .program = f->weights->program,
		.exec = o,
		.threads = (uint32_t)options_count_or(&f->cli->options, OPT_THREADS, 0) };
	buf_auto folder = BUF_INIT;

	path_folder(f->cli->options.operand[0], &folder);
	int status = cluster_wish(f->cli, NULL, folder.data, &f->cluster);
	return status ? status : cluster_start(&f->cluster, &w, remote);
}

/* For weights that no training wrote, the labels of the samples decide where nothing else does. */
static void open_classes(struct inference *f)
{
	buf_auto labels = BUF_INIT;

	classes_init(&f->p.classes, f->config, f->weights->program,
		weights_meta(f->weights, "labels"));
	if (weights_meta(f->weights, "split") || f->p.classes.rule
		|| classes_distinct(&f->p.part).n < 2)
		return;
	classes_labels(&f->p.part, &labels);
	classes_init(&f->p.classes, f->config, f->weights->program, labels.data);
}

static int evaluate(struct inference *f)
{
	struct evaluator_options o;
	struct evaluator *ev = NULL;
	struct pool *pool = NULL, *remote = NULL;
	struct ranks *ranks = NULL;
	struct predictions *p = &f->p;
	struct err e = { 0 };
	int status = execution(f, &o), code;

	if (!status)
		status = start_workers(f, &o, &remote);
	if (!status)
		status = ranks_of_cluster(&f->cluster, &o, &ranks);
	if (status)
		return status;
	/* The training may have chosen state vectors when the model had no noise. */
	struct evaluator_options said = o;
	said.method_chosen |= !f->cli->options.given[OPT_METHOD];
	execution_say_trajectories(f->cli, f->weights->program, &said);
	execution_say_long(f->cli, f->weights->program, p->part.nrow, &o, "the evaluation");
	o.remote = remote != NULL;
	if (remote)
		o.nthread = 1;
	p->noutput = f->weights->program->noutput;
	p->has_loss = p->part.data->ny > 0;
	p->output = mem_try(p->part.nrow + 1, p->noutput * sizeof *p->output);
	code = p->output ? evaluator_new(f->weights->program, &o, &ev, &e)
		: err_set(&e, -ERR_CONFIG, "no memory for the outputs of %u samples", p->part.nrow);
	if (!code) {
		pool = remote ? remote : pool_threads_new(o.nthread);
		uint64_t seed = options_count_or(&f->cli->options, OPT_SHOT_SEED,
			(uint64_t)config_int(f->config, KEY_RUN_SEED));
		evaluator_draws(ev, rng_u64(seed, RNG_SHOT_KEY, 0, 0),
			0); /* step 0, which no training has */
		profiling_begin(f->cli,
			&(struct profile_subject){ .command = "infer",
				.model = f->cli->options.operand[0],
				.program = f->weights->program,
				.options = &o,
				.batch_size = p->part.nrow,
				.streaming = part_input(&p->part, 1) > 0 },
			remote);
		profiling_step(f->cli, 0);
		/* Under `qcnn profile`, once more until the profile is complete. */
		do
			code = evaluate_part(ev, &p->part, &p->measures, f->weights->weight,
				p->output, p->has_loss ? &p->loss_value : NULL,
				p->has_loss ? p->metric_value : NULL, pool, &e);
		while (!code && f->cli->profiling && !profiling_step(f->cli, p->part.nrow));
		profiling_end(f->cli);
		if (!remote)
			pool->ops->free(pool);
	}
	evaluator_free(ev);
	ranks_end(ranks);
	return code ? cli_fail(f->cli, &e) : 0;
}

/* What is odd about the samples, before they are evaluated. */
static void check_samples(struct inference *f)
{
	const char *labels = weights_meta(f->weights, "labels");
	struct label_set known = classes_known(labels);

	config_measures(f->config, &f->p.measures);
	f->p.measures.labels = binary_labels(known.value, known.n);
	open_classes(f);
	sample_angles_check(f->weights->program, &f->p.part, (struct span){ 0, 0, 0 }, f->d);
	sample_known_check(&f->p.classes, labels, &f->p.part, f->d);
}

/* On a terminal columns are aligned, elsewhere tabs are between them. mpirun gives its processes a terminal for the output
 * alone, whatever it writes that to. */
static void print_predictions(struct inference *f, bool samples)
{
	struct buf *to = &f->cli->out;
	buf_auto b = BUF_INIT;
	bool json = f->cli->options.given[OPT_JSON];

	if (json)
		predictions_json(&f->p, &b);
	else
		predictions_text(&f->p, samples, &b);
	if (!b.len)
		return;
	if (json || !isatty(STDOUT_FILENO) || !isatty(STDERR_FILENO))
		visible_text(to, b.data, b.len, VISIBLE_TABS | VISIBLE_LINES);
	else
		table_align(b.data, to);
}

static int write_predictions(struct inference *f)
{
	struct cli *c = f->cli;
	const char *path = c->options.value[OPT_PREDICTIONS_OUT];
	buf_auto b = BUF_INIT;
	struct err e;
	int status = 0;

	if (path) {
		status = predictions_format(&f->p, path, &b, &e) ? cli_fail(c, &e) : cli_write(c, &b, path);
		buf_clear(&b);
	}
	if (!status)
		print_predictions(f, !path);
	return status;
}

static int infer(struct cli *c)
{
	struct inference f = { .cli = c };
	struct err e;
	int status = weights_named(c, &c->options.operand[0], &f.path);

	if (status || joined_work(c, NULL, c->options.operand[0], &status)) {
		buf_release(&f.path);
		return status;
	}
	f.d = diags_new(source_set_new());
	if (c->options.given[OPT_PREDICTIONS_OUT] && predictions_ending(c->options.value[OPT_PREDICTIONS_OUT], &e))
		status = cli_usage(c, "%s", e.text);
	else if (c->options.given[OPT_DATA] && c->options.given[OPT_SPLIT])
		status = cli_usage(c, "--data and --split exclude each other");
	else if (c->options.given[OPT_DATA] && changes_data(c))
		status = cli_usage(c, "--data and --set of other data exclude each other");
	else
		status = check_changes(c);
	if (!status)
		status = open_weights(&f);
	if (!status)
		status = c->options.given[OPT_DATA] ? open_own(&f)
			: changes_data(c)           ? open_changed(&f)
						    : open_described(&f);
	if (!status && c->options.given[OPT_PREDICTIONS_OUT])
		status = cli_can_write(c, c->options.value[OPT_PREDICTIONS_OUT]);
	if (!status)
		check_samples(&f);
	if (!status)
		status = cli_warnings(c, f.d);
	memory_exit_during(MEMORY_EXIT_COMPUTING);
	if (!status)
		status = evaluate(&f);
	memory_exit_during(MEMORY_EXIT_NONE);
	if (!status)
		status = write_predictions(&f);
	cluster_end(&f.cluster, status);
	free(f.p.output);
	dataset_free(f.own);
	free(f.kept);
	samples_release(&f.samples);
	transform_release(&f.learnt);
	free(f.want);
	buf_release(&f.path);
	config_free(f.config);
	json_decref(f.trained);
	weights_free(f.weights);
	arena_release(&f.arena);
	diags_free_all(f.d);
	return status;
}

const struct command_about command_infer = {
	.summary = "evaluate trained weights on data",
	.operands = "WEIGHTS|RUN",
	.min_operands = 1,
	.max_operands = 1,
	.text = "Evaluates the test part of the data that the weights were trained with (or, where there was none, the "
		"validation part), as the file of weights describes it, and prints the outputs, the classes that they choose with "
		"their probabilities or scores, labels, loss and metrics. Data files that are missing or have changed are named, never replaced. --data and --set "
		"give other data, --set train.metrics other metrics, --set run.noise noise, --weights other weights, and --model and "
		"--const another model of the same weights.",
	.example = (const char *const[]){ "qcnn infer runs/latest/weights.bin",
		"qcnn infer --hosts local:2 weights.bin", "qcnn infer --split=train --json weights.bin",
		"qcnn infer --data new.csv --output=predictions.csv weights.bin",
		"qcnn infer --set train.metrics=[accuracy,confusion] weights.bin",
		"qcnn infer --weights=w.npz runs/latest",
		"qcnn infer --model=noisy.qcnn --const p=0.02 runs/latest",
		"qcnn infer --set run.noise.two_qubit=0.01 --trajectories=1000 runs/latest",
		"qcnn infer --set data.rounds=50 --set run.seed=8 runs/latest/weights.bin", NULL },
	.exit_1 = "an output or the loss is not finite",
	.run = infer,
};
