/* SPDX-License-Identifier: Apache-2.0
 * qcnn weights convert: weights from one kind of file into another. */
#include "cli/job/weights_files.h"

#include "cli/job/execution.h"

/* A weights.bin from a model and its numbers: what training would have written, without what only training knows. */
static int write_bin(struct cli *c, const struct named_model *m, const struct weights_file *f,
	const char *target)
{
	struct execution_words words = execution_of_config(m->config, m->model.program);
	buf_auto config = BUF_INIT, seed = BUF_INIT, b = BUF_INIT;
	struct transform_wish wish[TRANSFORM_STEPS_MAX];
	struct evaluator_options o;
	struct err e;

	if (execution_options(&words, &o, &e)
		|| execution_method(&words, m->model.program,
			(uint32_t)config_int(m->config, KEY_TRAIN_BATCH_SIZE), &o, &e))
		return cli_fail(c, &e);
	if (config_transforms(m->config, f->program->ninput, wish))
		return cli_error(c, -ERR_CONFIG,
			"data.transform is fitted to data, so that only "
			"training can write a weights.bin for this configuration");
	(void)execution_method(&words, f->program, 0, &o, NULL); /* else auto: whoever computes says why */
	const struct config_resolved r = execution_resolved(&o);
	json_auto_t *tree = config_json(m->config, SCOPE_RESULT, &r);
	json_write(tree, &config);
	buf_printf(&seed, "%lld", (long long)config_int(m->config, KEY_RUN_SEED));
	int code = weights_format(f->program, f->weight,
		(const struct metadata[]){ { "config", config.data }, { "seed", seed.data },
			{ "source", m->model.text ? m->model.text : "" } },
		3, &b);
	return code ? cli_error(c, code,
		       "the model's text and configuration are too long for a file of weights")
		    : cli_write(c, &b, target);
}

/* A weights.bin that has its own model keeps all its metadata. */
static int copy_bin(struct cli *c, const struct weights *w, const char *target)
{
	buf_auto b = BUF_INIT;
	int code = weights_format(w->program, w->weight, w->meta, w->nmeta, &b);

	return code ? cli_error(c, code, "%s: its metadata are too long", c->options.operand[1])
		    : cli_write(c, &b, target);
}

static int convert(struct cli *c, const struct named_model *m)
{
	const char *target = c->options.operand[2];
	struct weights_file f;
	struct err e;
	int status = weights_file_open(c, c->options.operand[1], m->model.program, &f);

	if (!status)
		status = cli_can_write(c, target);
	if (!status && weights_file_is_bin(target))
		status = f.bin ? copy_bin(c, f.bin, target) : write_bin(c, m, &f, target);
	else if (!status && weights_export(f.program, f.weight, target, &e))
		status = cli_fail(c, &e);
	weights_file_release(&f);
	return status;
}

int weights_convert(struct cli *c)
{
	const struct options *o = &c->options;
	const char *target = o->operand[2];

	if (weights_file_is_bin(target) && !path_ends(target, ".bin") && !path_ends(target, ".safetensors"))
		return cli_usage(c, "the target must end in .npz, .json, .h5, .bin or .safetensors, not `%s`", target);
	if (weights_file_is_bin(target) && !weights_file_is_bin(o->operand[1]) && !o->given[OPT_MODEL])
		return cli_usage(c, "%s has weights without a model, and %s would hold both; name the model with --model", o->operand[1],
			target);
	named_model_auto m;
	int status = weights_model_open(c, &m);
	return status ? status : convert(c, &m);
}
