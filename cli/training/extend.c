/* SPDX-License-Identifier: Apache-2.0
 * What a training of more epochs would have done otherwise from the beginning. */
#include "cli/training/extend.h"

#include <math.h>
#include <string.h>

#include "cli/job/run_config.h"
#include "runtime/train/train.h"

uint32_t extend_epochs(const json_t *config)
{
	json_int_t n =
		json_integer_value(json_object_get(json_object_get(config, "train"), "epochs"));

	return n > 0 && n <= UINT32_MAX ? (uint32_t)n : 0;
}

/* With the weights alone every training can go on. */
static int refuse(struct cli *c, const struct run_folder *f, const char *why)
{
	return cli_error(c, -ERR_USAGE,
		"%s cannot be extended: %s. In place of --resume, `--set train.init.from=%s` begins a new run with its weights",
		f->path, why, f->name);
}

int extend_more(struct cli *c, const struct job *j, const struct run_folder *f)
{
	json_auto_t *config = run_config(f, "", "");
	uint32_t epochs = extend_epochs(config);

	if (!epochs || j->train.epochs > epochs)
		return 0;
	return cli_error(c, -ERR_USAGE,
		"%s has finished its %u epochs; with more of them, as `--set train.epochs=%u`, it goes on, and in place of --resume, "
		"`--set train.init.from=%s` begins a new run with its weights",
		f->path, epochs, epochs > UINT32_MAX / 2 ? UINT32_MAX : 2 * epochs, f->name);
}

int extend_no_state(struct cli *c, const struct run_folder *f)
{
	return refuse(c, f, "it has finished, and has no state.bin with the state of its optimizer");
}

/* What ended it, as backup.c records it. */
static const char *end_text(const char *ended_by)
{
	static const char *const end[][2] = {
		{ "early_stopping",
			"its callback early_stopping has ended it, and would end a training of more epochs at the same one" },
		{ "max_steps",
			"train.max_steps has ended it, and would end a training of more epochs at the same update" },
		{ "optimizer",
			"the search of its optimizer has ended, as it would in a training of more epochs" },
	};

	for (size_t k = 0; k < sizeof end / sizeof *end; k++)
		if (!strcmp(ended_by, end[k][0]))
			return end[k][1];
	return "it ended before its last epoch";
}

int extend_check(struct cli *c, const struct job *j, const struct extension *x)
{
	const struct schedule *schedule = &j->train.schedule;
	const char *length = schedule_length(schedule);
	buf_auto why = BUF_INIT;

	if (x->ended_by)
		return refuse(c, x->run, end_text(x->ended_by));
	if (!length)
		return 0;
	buf_printf(&why,
		"without train.schedule.%s.%s, its schedule is as long as the training, so that the learning rates of %u epochs are "
		"others from the first update on",
		schedule->row->name, length, j->train.epochs);
	return refuse(c, x->run, why.data);
}

int extend_check_restarts(struct cli *c, const struct train_state *s, const struct extension *x)
{
	bool ended = s->ndone > 0;

	for (uint32_t k = 0; k < s->nrunning; k++)
		ended |= s->running[k].last != NULL;
	return !ended
		? 0
		: cli_error(c, -ERR_USAGE,
			"some restarts of %s have ended after %u epochs; resume it with train.epochs=%u, and extend it when it has finished",
			x->run->path, x->epochs, x->epochs);
}

void extend_say(struct cli *c, const struct job *j, const struct extension *x, uint32_t epochs)
{
	double kept = run_number(x->run, "metrics", "epochs");

	if (epochs < x->epochs) {
		cli_note(c,
			"resuming %s behind epoch %u, for %u epochs in place of %u; --fresh begins a new run",
			x->run->path, epochs, j->train.epochs, x->epochs);
		return;
	}
	cli_note(c,
		"extending %s from %u to %u epochs, with the same bits as a training of %u epochs from the beginning; until it has finished, its "
		"weights.bin stays",
		x->run->path, epochs, j->train.epochs, j->train.epochs);
	if (kept < epochs)
		cli_note(c,
			"it goes on from the weights of epoch %u, not from those of its best epoch %.0f, which are in weights.bin",
			epochs, kept);
}
