/* SPDX-License-Identifier: Apache-2.0
 * qcnn profile: where the time of a training, an inference or a circuit goes. */
#include "cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/job/named_model.h"
#include "cli/profile/profile_advice.h"
#include "cli/profile/profile_attach.h"
#include "cli/profile/profile_files.h"
#include "cli/profile/profile_page.h"
#include "cli/profile/profiling.h"
#include "cli/signals.h"
#include "runtime/base/system/clock.h"
#include "runtime/base/system/folder.h"
#include "runtime/base/system/temporary_file.h"

enum { WARMUP_STEPS = 2 };
static const double SECONDS = 2;
static const char LONG_ENOUGH[] = "train.epochs=1000000"; /* the profile ends it */

enum { ADDED = 2 }; /* options, at most */

static void add_list(struct options *o, enum option_id id, const char *value)
{
	o->list[o->nlist].id = id;
	o->list[o->nlist++].value = value;
}

/* A training in a folder that is gone afterwards. */
static int profile_training(struct cli *c)
{
	buf_auto folder = BUF_INIT, set = BUF_INIT;

	buf_printf(&folder, "%s/qcnn-profile-XXXXXX", temporary_folder());
	if (!mkdtemp(folder.data))
		return cli_error(c, -ERR_CANT_CREATE,
			"cannot create a temporary folder in %s: %s; TMPDIR names another folder",
			temporary_folder(), strerror(errno));
	stop_removes(folder.data);
	/* As YAML, in single quotes. */
	buf_str(&set, "log.dir='");
	for (const char *s = folder.data; *s; s++)
		*s == '\'' ? buf_str(&set, "''") : buf_char(&set, *s);
	buf_char(&set, '\'');
	add_list(&c->options, OPT_SET, set.data);
	add_list(&c->options, OPT_SET, LONG_ENOUGH);
	c->options.given[OPT_FRESH] = true;
	int status = command_train.run(c);
	(void)folder_remove(AT_FDCWD, folder.data, NULL);
	return status;
}

static bool is_model(const char *path)
{
	return path_ends(path, ".qcnn") || path_ends(path, ".qasm");
}

static int run_profiled(struct cli *c)
{
	const char *what = c->options.operand[0];

	if (path_is_config(what))
		return profile_training(c);
	if (is_model(what)) {
		/* Calls of a model's circuit, with the gradient where it has weights. */
		add_list(&c->options, OPT_CIRCUIT, c->options.operand[0]);
		c->options.noperand = 0;
		c->options.given[OPT_CIRCUIT] = c->options.given[OPT_NO_LIMITS] = true;
		return command_bench.run(c);
	}
	if (c->options.given[OPT_BENCH_THREADS]) {
		c->options.given[OPT_THREADS] = true;
		c->options.value[OPT_THREADS] = c->options.value[OPT_BENCH_THREADS];
	}
	return command_infer.run(c);
}

static int check_options(struct cli *c)
{
	const struct options *o = &c->options;
	/* Options for a model, and what a configuration has for them; some are for weights, too. */
	static const struct {
		enum option_id option;
		const char *key;
		bool weights;
	} keys[] = {
		{ OPT_BATCH, "train.batch_size", false },
		{ OPT_BENCH_GRADIENT, "train", false },
		{ OPT_PRECISION, "run.precision", false },
		{ OPT_OPTIMIZATIONS, "run.optimizations", false },
		{ OPT_BENCH_THREADS, "run.threads", true },
		{ OPT_ISA, "run.isa", true },
		{ OPT_METHOD, "run.method", true },
		{ OPT_DEVICE, "run.device", true },
	};
	bool model = o->noperand && is_model(o->operand[0]);
	bool weights = o->noperand && !model && !path_is_config(o->operand[0]);

	if (o->given[OPT_JSON] + o->given[OPT_CSV] > 1)
		return cli_usage(c, "--json and --csv exclude each other");
	if (o->given[OPT_PROFILE_ATTACH] && o->noperand)
		return cli_usage(c, "--attach takes a profile of a run, not of `%s`", o->operand[0]);
	if (!o->given[OPT_PROFILE_ATTACH] && !o->noperand)
		return cli_usage(c, "missing CONFIG, MODEL or WEIGHTS, or --attach=RUN");
	if (o->given[OPT_PROFILE_EVERY] && !o->given[OPT_PROFILE_ATTACH])
		return cli_usage(c, "--every goes with --attach");
	for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
		if (!model && o->given[keys[k].option] && !(weights && keys[k].weights))
			return cli_usage(c,
				"--%s is for a model (.qcnn, .qasm); a configuration has the key %s, which --set changes",
				option_rows[keys[k].option].name, keys[k].key);
	if (model && o->given[OPT_SET])
		return cli_usage(c,
			"--set is for a configuration; a model has --const, --batch and --threads");
	return 0;
}

static void page(struct cli *c, const struct profile *p)
{
	if (c->options.given[OPT_JSON])
		profile_page_json(p, &c->out);
	else if (c->options.given[OPT_CSV])
		profile_page_csv(p, &c->out);
	else
		profile_page_text(p, &c->out);
}

/* ---- a job that runs ---- */

static int keep(struct cli *c, const struct attached *a, const struct profile *p)
{
	buf_auto folder = BUF_INIT;
	char stamp[32];

	clock_stamp(stamp, sizeof stamp);
	if (c->options.given[OPT_PROFILE_OUT])
		buf_str(&folder, c->options.value[OPT_PROFILE_OUT]);
	else
		buf_printf(&folder, "%s%sprofile/%s", a->folder.len ? a->folder.data : "",
			a->folder.len ? "/" : "", stamp);
	int status = profile_write_files(c, p, folder.data);
	if (!status)
		cli_note(c, "the files of this profile are in %s", folder.data);
	return status;
}

/* Once, or again and again until the job ends. */
static int attach(struct cli *c, const struct capture_order *o)
{
	uint64_t every = options_count_or(&c->options, OPT_PROFILE_EVERY, 0);
	struct attached a;
	struct err e;
	int code = attach_find(c->options.value[OPT_PROFILE_ATTACH],
		    c->options.given[OPT_KEY_FILE] ? c->options.value[OPT_KEY_FILE] : NULL, &a, &e),
	    status = 0;
	bool first = true;

	while (!code && !status) {
		double began = clock_seconds();
		struct profile *p = NULL;

		code = attach_take(&a, o, &p, &e);
		if (code && !first) { /* the job has ended */
			code = 0;
			break;
		}
		if (code)
			break;
		first = false;
		profile_advise(p);
		page(c, p);
		status = keep(c, &a, p);
		profile_free(p);
		if (!every)
			break;
		status = cli_flush(c, &c->out);
		buf_clear(&c->out);
		while (!status && clock_seconds() - began < (double)every)
			usleep(100000);
	}
	attach_release(&a);
	return code ? cli_fail(c, &e) : status;
}

static int profile(struct cli *c)
{
	const struct options *o = &c->options;
	bool quiet = c->quiet;
	struct profiling g = { .began = clock_seconds(),
		.warmup = WARMUP_STEPS,
		.no_limits = o->given[OPT_NO_LIMITS],
		.order = { .level = (enum profile_level)(PROFILE_PHASES
				   + options_choice(o, OPT_PROFILE_LEVEL)),
			.steps = options_count_or(o, OPT_PROFILE_STEPS, 0),
			.seconds = o->given[OPT_PROFILE_SECONDS]
				? (double)options_count(o, OPT_PROFILE_SECONDS)
				: o->given[OPT_PROFILE_STEPS] ? 0
							      : SECONDS,
			.bytes_max = options_count(o, OPT_MAX_BYTES) } };
	int status = check_options(c);

	if (!status && o->nlist > OPTIONS_LIST_MAX - ADDED)
		return cli_usage(c, "more than %d options that may be repeated",
			OPTIONS_LIST_MAX - ADDED);
	if (!status && o->given[OPT_PROFILE_ATTACH])
		return attach(c, &g.order);
	if (status)
		return status;
	c->profiling = &g;
	c->quiet = true; /* what is computed is of no interest here */
	status = run_profiled(c);
	c->quiet = quiet;
	c->profiling = NULL;
	buf_clear(&c->out);
	if (!status && !(g.result && g.result->steps))
		status = stop_asked()
			? cli_error(c, -ERR_STOPPED,
				"stopped by %s before step %u, after which the profile begins",
				stop_asked(), WARMUP_STEPS + 1)
			: cli_error(c, -ERR_CONFIG,
				"%s: it ended before step %u, after which the profile begins",
				o->operand[0], WARMUP_STEPS + 1);
	/* More steps than the configuration has may lead to numbers that are not finite: those before count. */
	if (!status || (status == err_exit_status(-ERR_NOT_FINITE) && g.result && g.result->steps)) {
		int written = 0;

		profile_advise(g.result);
		page(c, g.result);
		if (o->given[OPT_PROFILE_OUT])
			written = profile_write_files(c, g.result, o->value[OPT_PROFILE_OUT]);
		status = status ? status : written;
	}
	profile_free(g.result);
	return status;
}

const struct command_about command_profile = {
	.summary = "show where the time of a training goes, and what would make it faster",
	.operands = "[CONFIG|MODEL|WEIGHTS]",
	.max_operands = 1,
	.text = "Runs some steps of the training of a configuration, or calls of a model's circuit, or the inference of weights, and "
		"prints on one page where the time goes: phases of a step, layers of the model, matrices, stages of the plan, "
		"workers; the shares of the machine's limits; then what limits the run and what would help. No run is left "
		"behind, and the results of the training are not kept.",
	.example = (const char *const[]){ "qcnn profile config.yaml",
		"qcnn profile --level=matrices --steps 20 config.yaml",
		"qcnn profile --set train.batch_size=64 -o profile config.yaml",
		"qcnn profile --gradient --batch 16 cluster.qcnn",
		"qcnn profile --json config.yaml", NULL },
	.exit_1 = "the command that is profiled exits with 1",
	.run = profile,
};
