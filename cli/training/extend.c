/* SPDX-License-Identifier: Apache-2.0
 * What a training of more epochs would have done otherwise from the beginning. */
#include "cli/training/extend.h"

#include <string.h>

#include "cli/job/run_config.h"
#include "runtime/train/train.h"

/* A number of the section train; null is 0. */
static uint64_t length_of(const json_t *config, const char *key, uint64_t max)
{
	json_int_t n = json_integer_value(json_object_get(json_object_get(config, "train"), key));

	return n > 0 && (uint64_t)n <= max ? (uint64_t)n : 0;
}

static uint32_t epochs_of(const json_t *config)
{
	return (uint32_t)length_of(config, "epochs", UINT32_MAX);
}

static uint64_t max_steps_of(const json_t *config)
{
	return length_of(config, "max_steps", INT64_MAX);
}

static bool is_more(uint64_t ours, uint64_t theirs) { return theirs && (!ours || ours > theirs); }

static void take(json_t *ours, const json_t *theirs, const char *key)
{
	json_t *v = json_object_get(json_object_get(theirs, "train"), key);

	json_object_set(json_object_get(ours, "train"), key, v);
}

void extend_lengths(json_t *ours, const json_t *theirs, struct extension *x)
{
	bool epochs = is_more(epochs_of(ours), epochs_of(theirs)),
	     updates = is_more(max_steps_of(ours), max_steps_of(theirs));

	x->epochs = epochs_of(theirs);
	x->max_steps = max_steps_of(theirs);
	x->more = epochs || updates;
	if (epochs)
		take(ours, theirs, "epochs");
	if (updates)
		take(ours, theirs, "max_steps");
}

/* With the weights alone every training can go on. */
static int refuse(struct cli *c, const struct run_folder *f, const char *why)
{
	return cli_error(c, -ERR_USAGE,
		"%s cannot be extended: %s. In place of --resume, `--set train.init.from=%s` begins a new run with its weights",
		f->path, why, f->name);
}

/* What it ended with, and a number above that. */
static void say_length(const struct run_folder *f, uint32_t epochs, uint64_t max_steps, struct buf *out)
{
	if (max_steps && run_number(f, "metrics", "steps") >= (double)max_steps)
		buf_printf(out,
			"%llu updates (train.max_steps); with more of them, as `--set train.max_steps=%llu`",
			(unsigned long long)max_steps,
			(unsigned long long)(max_steps < INT64_MAX / 2 ? 2 * max_steps : INT64_MAX));
	else
		buf_printf(out, "%u epochs; with more of them, as `--set train.epochs=%u`", epochs,
			epochs > UINT32_MAX / 2 ? UINT32_MAX : 2 * epochs);
}

int extend_more(struct cli *c, const struct job *j, const struct run_folder *f)
{
	json_auto_t *config = run_config(f, &(struct config_resolved){ NULL });
	uint32_t epochs = epochs_of(config);
	uint64_t max_steps = max_steps_of(config);
	buf_auto length = BUF_INIT, newer = BUF_INIT;

	if (!epochs || is_more(j->train.epochs, epochs) || is_more(j->train.max_steps, max_steps))
		return 0;
	say_length(f, epochs, max_steps, &length);
	int status = cli_error(c, -ERR_USAGE,
		"%s has finished its %s, it goes on, and in place of --resume, `--set train.init.from=%s` begins a new run with its "
		"weights",
		f->path, length.data, f->name);
	if (run_newest_unfinished(config_text(j->config, KEY_LOG_DIR), f, &newer))
		cli_note(c, "%s is newer, and has not finished: --resume=%s goes on with it",
			newer.data, newer.data);
	return status;
}

int extend_no_state(struct cli *c, const struct run_folder *f)
{
	return refuse(c, f, "it has finished, and has no state.bin with the state of its optimizer");
}

int extend_check(struct cli *c, const struct job *j, const struct extension *x)
{
	const struct schedule *schedule = &j->train.schedule;
	const char *length = schedule_length(schedule);
	buf_auto why = BUF_INIT;

	if (x->ended_by && !strcmp(x->ended_by, "within_epoch"))
		return refuse(c, x->run,
			"train.max_steps has ended its restarts within an epoch, and the state of each there is not kept; with one restart it is, "
			"and with a multiple of the updates of an epoch");
	if (x->ended_by) /* of an earlier program */
		return refuse(c, x->run,
			"it ended before its last epoch, and its state.bin does not say how");
	if (!length)
		return 0;
	buf_printf(&why,
		"without train.schedule.%s.%s, its schedule is as long as the training, so that the learning rates of a longer one are "
		"others from the first update on",
		schedule->row->name, length);
	return refuse(c, x->run, why.data);
}

/* ---- restarts ---- */

static bool goes_on(const struct train_job *j, const struct restart_state *at)
{
	return !at->over && at->epoch <= j->epochs && (!j->max_steps || at->step < j->max_steps);
}

/* Nothing of a longer training is left to do for any of them. */
static int refuse_all(struct cli *c, const struct train_job *j, const struct restart_state *at,
	const struct extension *x)
{
	buf_auto why = BUF_INIT;

	if (at->over && callback_next(j, CALLBACK_early_stopping, NULL))
		buf_str(&why,
			"its callback early_stopping has ended it, and would end a training of more epochs at the same one");
	else if (at->over)
		buf_str(&why,
			"the search of its optimizer has ended, as it would in a training of more epochs");
	else if (at->epoch <= j->epochs)
		buf_printf(&why,
			"train.max_steps has ended it after %llu updates, and would end a training of more epochs there; `--set "
			"train.max_steps=%llu` gives it more updates",
			(unsigned long long)j->max_steps, (unsigned long long)(2 * j->max_steps));
	else
		buf_printf(&why,
			"it has finished its %u epochs; `--set train.epochs=%u` gives it more",
			x->epochs, 2 * x->epochs);
	return refuse(c, x->run, why.data);
}

int extend_check_restarts(struct cli *c, const struct job *j, const struct train_state *s,
	const struct extension *x)
{
	bool ended = s->ndone > 0, any = false;

	for (uint32_t k = 0; k < s->nrunning; k++) {
		ended |= s->running[k].last != NULL;
		any |= goes_on(&j->train, &s->running[k]);
	}
	if (ended)
		return cli_error(c, -ERR_USAGE,
			"some restarts of %s have ended after %u epochs; resume it with train.epochs=%u, and extend it when it has finished",
			x->run->path, x->epochs, x->epochs);
	return any ? 0 : refuse_all(c, &j->train, &s->running[0], x);
}

/* ---- what is said ---- */

uint32_t extend_epoch(const struct train_state *s)
{
	uint32_t epoch = 0;

	for (uint32_t k = 0; k < s->nrunning; k++)
		if (s->running[k].epoch > epoch)
			epoch = s->running[k].epoch;
	return epoch - 1;
}

static void add_length(uint32_t epochs, uint64_t max_steps, struct buf *out)
{
	buf_printf(out, "%u epochs", epochs);
	if (max_steps)
		buf_printf(out, ", at most %llu updates", (unsigned long long)max_steps);
}

/* Those that were ended early: "restart 2 (after epoch 7), restart 5 (after epoch 9)". */
static void say_ended(struct cli *c, const struct train_state *s)
{
	buf_auto list = BUF_INIT;
	uint32_t n = 0;

	for (uint32_t k = 0; k < s->nrunning; k++)
		if (s->running[k].over && s->running[k].after && n++ < 16)
			buf_printf(&list, "%srestart %u (after epoch %u)", list.len ? ", " : "",
				s->running[k].restart + 1, s->running[k].epoch - 1);
	if (n)
		cli_note(c,
			"ended early, as in a training of more epochs, and not trained further: %s%s",
			list.data, n > 16 ? " ..." : "");
}

static void say_lengths(struct cli *c, const struct train_job *t, const struct train_state *s,
	const struct extension *x)
{
	uint64_t step = s->running[0].step;
	uint32_t epochs = extend_epoch(s);
	buf_auto from = BUF_INIT, to = BUF_INIT;

	add_length(t->epochs, t->max_steps, &to);
	if (x->max_steps && step >= x->max_steps) {
		cli_note(c,
			"extending %s from %llu updates to %s, with the same bits as such a training from the beginning; until it has finished, its "
			"weights.bin stays",
			x->run->path, (unsigned long long)step, to.data);
	} else if (epochs < x->epochs) {
		add_length(x->epochs, x->max_steps, &from);
		cli_note(c,
			"resuming %s behind epoch %u, for %s in place of %s; --fresh begins a new run",
			x->run->path, epochs, to.data, from.data);
	} else {
		cli_note(c,
			"extending %s from %u to %s, with the same bits as a training of %u epochs from the beginning; until it has finished, its "
			"weights.bin stays",
			x->run->path, epochs, to.data, t->epochs);
	}
}

/* Of the restart that weights.bin is from, if it goes on. */
static void say_kept(struct cli *c, const struct train_job *t, const struct train_state *s,
	const struct extension *x)
{
	const struct restart_state *best =
		train_state_restart(s, (uint32_t)(run_number(x->run, "metrics", "start") - 1));
	double kept = run_number(x->run, "metrics", "epochs");

	if (best && goes_on(t, best) && kept < best->epoch - 1)
		cli_note(c,
			"it goes on from the weights of epoch %u, not from those of its best epoch %.0f, which are in weights.bin",
			best->epoch - 1, kept);
}

void extend_say(struct cli *c, const struct job *j, const struct train_state *s,
	const struct extension *x)
{
	say_lengths(c, &j->train, s, x);
	say_ended(c, s);
	say_kept(c, &j->train, s, x);
}
