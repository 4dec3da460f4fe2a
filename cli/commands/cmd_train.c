/* SPDX-License-Identifier: Apache-2.0
 * qcnn train: trains the model of a configuration and writes weights.bin into a run's folder. */
#include "cli/command.h"
#include "cli/hosts/rank_places.h"

#include <string.h>

#include "cli/hosts/cluster.h"
#include "cli/job/job.h"
#include "cli/signals.h"
#include "cli/training/own_config.h"
#include "cli/training/resume_target.h"
#include "cli/training/train_preview.h"
#include "cli/training/train_run.h"

/* A name of another format would be taken for that by whatever reads the file. */
static int check_ending(const struct cli *c, const char *path)
{
	static const char *const other[] = { ".npz", ".npy", ".json", ".jsonl", ".h5", ".hdf5",
		".keras", ".csv", ".txt", ".yaml", ".yml", ".qcnn", ".qasm" };

	for (size_t i = 0; i < sizeof other / sizeof *other; i++)
		if (path_ends(path, other[i]))
			return cli_usage(c,
				"--output=%s: what is written has the format of weights.bin; end the name in .bin or .safetensors, and let `qcnn weights convert` "
				"write .npz, .json or .h5 from that file",
				path);
	return 0;
}

/* Where --output goes, looked at before hours are spent. */
static int output_is_possible(const struct cli *c)
{
	const char *path = c->options.value[OPT_WEIGHTS_OUT];
	int status = path ? cli_can_write(c, path) : 0;

	return path && !status ? check_ending(c, path) : status;
}

/* With the workers of other hosts, where some are named. */
static int start_workers(struct cluster *k, struct job *j, bool target_taken)
{
	struct train_job *t = &j->train;
	bool gradient = optimizer_needs_gradient(t->optimizer);
	struct evaluator_options exec = t->exec;
	const struct target *device = exec.target;
	struct cluster_work w = { .program = t->program,
		.exec = &exec,
		.any_device = !target_taken && !strcmp(config_text(j->config, KEY_RUN_DEVICE), "auto"),
		.any_isa = !target_taken && !strcmp(config_text(j->config, KEY_RUN_ISA), "auto"),
		.threads = (uint32_t)config_int(j->config, KEY_RUN_THREADS),
		.loss = gradient ? &t->measures.loss : NULL,
		.nlabel = t->train.data->ny,
		.samples = &j->samples };

	if (k->of_config && k->cli->options.given[OPT_DRY_RUN]) {
		cli_note(k->cli, "--dry-run runs no program and logs in to no host that the configuration names: no worker was started, and times are "
			"those of this process; give --hosts, --launcher and --remote-path to measure with workers");
		return 0;
	}
	if (!gradient)
		exec.gradient = GRADIENT_NONE;
	int status = cluster_start(k, &w, &t->pool);
	t->exec.target = exec.target;
	if (strcmp(device->device, exec.target->device))
		snprintf(j->device_reason, sizeof j->device_reason, "a worker has no GPU");
	j->workers = k->coordinator;
	return status;
}

/* A GPU that the configuration names has to be here, unless workers compute. */
static int check_device(struct cli *c, const struct job *j, const struct cluster *k)
{
	struct execution_words words = execution_of_config(j->config, j->train.program);
	struct err e;

	if ((k->hosts.n && !k->nrank) || !execution_here(&words, &j->train.exec, &e))
		return 0;
	return cli_fail(c, &e);
}

/* Data may take minutes to read: a signal need not wait for that. */
static void stop_before_training(const struct cli *c)
{
	buf_auto line = BUF_INIT;
	struct err e;

	err_set(&e, -ERR_STOPPED, "stopped before training began; the same command starts again");
	cli_fail_text(c, &e, &line);
	stop_at_once(line.data);
}

/* CONFIG is an operand by now. */
static int train_config(struct cli *c, const struct own_config *own)
{
	struct cluster k = { 0 };
	struct ranks *ranks = NULL;
	struct job j;
	bool target_taken = false;
	int status;

	if (joined_work(c, c->options.operand[0], NULL, &status))
		return status;
	status = job_open(c, c->options.operand[0], &j);
	if (own->word)
		j.word = own->word;
	j.word_folder = own->folder;
	if (status == err_exit_status(-ERR_NO_INPUT))
		own_config_explain(c, own);
	if (!status)
		status = output_is_possible(c);
	if (!status)
		status = cluster_wish(c, j.config, config_text(j.config, KEY_LOG_DIR), &k);
	if (!status && !c->options.given[OPT_DRY_RUN])
		status = resume_target(c, &j, &target_taken);
	if (!status)
		status = check_device(c, &j, &k);
	if (!status)
		status = start_workers(&k, &j, target_taken);
	if (!status && *j.device_reason && !c->options.given[OPT_DRY_RUN])
		cli_note(c, "computing on the device %s: %s", execution_device(&j.train.exec),
			j.device_reason);
	if (!status && !(k.of_config && c->options.given[OPT_DRY_RUN]))
		status = ranks_of_cluster(&k, &j.train.exec, &ranks);
	if (!status) {
		execution_say_trajectories(c, j.train.program, &j.train.exec);
		execution_say_long(c, j.train.program, train_batch_size(&j.train), &j.train.exec,
			"a step");
	}
	if (!status)
		status = c->options.given[OPT_DRY_RUN] ? train_preview(c, &j, &k) : train_run_job(c, &j);
	j.workers = NULL;
	ranks_end(ranks);
	cluster_end(&k, status);
	job_release(&j);
	return status;
}

static int train(struct cli *c)
{
	struct own_config own;

	if (c->options.given[OPT_DRY_JSON] && !c->options.given[OPT_DRY_RUN])
		return cli_usage(c,
			"--json is for --dry-run; the folder of a run has metrics.jsonl and run.json");
	if (c->options.given[OPT_LINK] && !c->options.given[OPT_DRY_RUN])
		return cli_usage(c, "--link is for --dry-run");
	int status = own_config_find(c, &own);
	if (!status && !c->options.given[OPT_DRY_RUN])
		stop_before_training(c);
	if (!status)
		status = train_config(c, &own);
	own_config_release(&own);
	return status;
}

const struct command_about command_train = {
	.summary = "train the model of a configuration",
	.operands = "[CONFIG]",
	.max_operands = 1,
	.text = "Trains the model of a configuration with its data. All results are written to a new folder, runs/NAME-TIME: the "
		"resolved configuration, the model, the weights, one line of metrics per epoch, and a record of the run. "
		"runs/latest links to the files of the newest finished run. The same command resumes an interrupted run from its "
		"last checkpoint, with the same bits as an uninterrupted run; --resume=RUN with more epochs extends a finished one, and "
		"without CONFIG uses the run's own configuration.",
	.example = (const char *const[]){ "qcnn train config.yaml",
		"qcnn train --set train.epochs=5 --set run.seed=2 config.yaml",
		"qcnn train -o weights.bin config.yaml", "qcnn train --fresh config.yaml",
		"qcnn train --resume=latest --set train.epochs=100", "qcnn train --live config.yaml",
		"qcnn train --dry-run config.yaml", "qcnn train --hosts local:2 config.yaml",
		"qcnn train --device cpu config.yaml", NULL },
	.exit_1 = "training failed: a value is not finite",
	.run = train,
};
