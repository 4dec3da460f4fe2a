/* SPDX-License-Identifier: Apache-2.0
 * Measures steps and validation as training does them, for at most about two seconds each. */
#include "cli/training/train_preview.h"

#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "cli/training/train_preview_parts.h"
#include "runtime/base/arena.h"
#include "runtime/base/order.h"
#include "runtime/base/system/clock.h"
#include "runtime/train/concurrent_restarts.h"

enum { STEPS_LEAST = 3, STEPS_MANY = 1000, EPOCHS_MANY = 100, TRIAL_EPOCHS = 1 << 20 };
static const double quick_seconds = 0.25, trial_seconds = 1.5, slow_seconds = 10;

/* ---- times ---- */

static void add_time(struct times *t, double seconds)
{
	if (t->n < TIMES_MAX)
		t->seconds[t->n++] = seconds;
}

/* 0 where there are none. */
static double middle(struct times *t)
{
	qsort(t->seconds, t->n, sizeof *t->seconds, order_doubles);
	return t->n ? t->seconds[t->n / 2] : 0;
}

/* ---- steps ---- */

/* Of the first restart: concurrent ones are reported later, or never. */
static void see_step(void *ctx, uint32_t restart, uint32_t epoch, uint64_t step,
	uint32_t step_in_epoch, uint32_t steps_per_epoch, double batch_loss)
{
	struct preview *p = ctx;
	double now = clock_seconds();

	(void)epoch, (void)step, (void)step_in_epoch, (void)steps_per_epoch, (void)batch_loss;
	if (restart)
		return;
	if (p->nstep)
		add_time(&p->steps, now - p->last);
	else
		p->first = now;
	p->last = now;
	p->nstep++;
}

/* The first epoch warms up. */
static void see_epoch(void *ctx, const struct epoch_record *r)
{
	struct preview *p = ctx;

	if (!r->restart && r->epoch > p->job->train.initial_epoch + 1)
		add_time(&p->epochs, r->seconds);
}

/* The first step warms up; two more are enough where they are slow, and less time where they are many. Of epochs with
 * validation one is measured behind the first, however slow they are. */
static int enough(void *ctx, const struct train_state *s, struct err *e)
{
	const struct preview *p = ctx;
	double took = p->last - p->first, most = p->steps.n >= STEPS_MANY && p->epochs.n >= EPOCHS_MANY ? quick_seconds : trial_seconds;

	(void)s;
	if (p->nstep < 2 || took < most || (p->nstep < STEPS_LEAST && took < slow_seconds)
		|| (p->validates && !p->epochs.n))
		return 0;
	return err_set(e, -ERR_STOPPED, "measured");
}

static void see_work(void *ctx, const struct optimisation_use *u)
{
	struct preview *p = ctx;

	optimisation_use_add(&p->optimisations, u);
}

/* Restarts from the beginning, concurrent as in the training, without reports. Epochs follow one
 * another, so that their own work counts. nvalidated: samples of the validation; is_short: epochs of one step. */
static int try_epochs(struct preview *p, uint32_t nvalidated, bool is_short, struct err *e)
{
	const struct train_observer o = { .ctx = p, .step = see_step, .epoch = see_epoch, .between = enough, .work = see_work };
	struct train_job j = p->job->train;
	struct train_result r;

	p->validates = nvalidated != 0;
	j.validation.nrow = nvalidated;
	if (is_short)
		j.steps_per_epoch = 1;
	j.validation_freq = j.nvalidation_epoch = 0;
	j.epochs = j.initial_epoch + TRIAL_EPOCHS;
	j.max_steps = 0;
	j.restarts = p->nconcurrent;
	j.callbacks = NULL;
	j.resume = NULL;
	p->nstep = p->steps.n = p->epochs.n = 0;
	p->optimisations = (struct optimisation_use){ 0 };
	int code = train_run(&j, &o, &r, e);
	if (!code)
		train_result_release(&r);
	return code == -ERR_STOPPED ? 0 : code;
}

/* ---- validation ---- */

/* Samples of it that a second is enough for, a forward sweep taking less than a step's share. */
static uint32_t validation_rows(const struct preview *p)
{
	const struct train_job *j = &p->job->train;
	double each = p->step_seconds / train_batch_size(j), n = each > 0 ? trial_seconds / each : j->validation.nrow;

	n = n < 64 ? 64 : n;
	return n < j->validation.nrow ? (uint32_t)n : j->validation.nrow;
}

/* Of the epochs, that with validation. */
static double validated_share(const struct train_job *j)
{
	double n = 0;

	if (!j->nvalidation_epoch)
		return 1.0 / (j->validation_freq ? j->validation_freq : 1);
	for (uint32_t i = 0; i < j->nvalidation_epoch; i++)
		n += j->validation_epoch[i] > j->initial_epoch && j->validation_epoch[i] <= j->epochs;
	return fmin(1, n / (j->epochs - j->initial_epoch));
}

/* As a part of epochs, where the work between steps and validation counts, too: of whole ones where these are short, else of a step and as
 * many samples as there is time for. */
static int try_validation(struct preview *p, struct err *e)
{
	const struct train_job *j = &p->job->train;
	uint32_t n = validation_rows(p);
	bool is_short = n < j->validation.nrow || p->epoch_seconds > trial_seconds;
	double pass = is_short ? p->step_seconds : p->epoch_seconds;
	uint64_t nstep = p->nstep;

	if (!n)
		return 0;
	int code = try_epochs(p, n, is_short, e);
	if (is_short)
		p->nstep = nstep; /* of which step_seconds is */
	p->validation_seconds =
		p->epochs.n ? fmax(middle(&p->epochs) - pass, 0) * j->validation.nrow / n : 0;
	p->epoch_seconds += p->validation_seconds * validated_share(j);
	return code;
}

int train_preview(struct cli *c, const struct job *j, const struct cluster *k)
{
	mem_auto struct preview *p = mem_alloc(1, sizeof *p);
	struct rusage u;
	struct err e;

	p->cli = c;
	p->job = j;
	p->cluster = k;
	p->nconcurrent = concurrent_restarts_count(&j->train);
	int code = preview_split_check(p, &e);
	if (!code) {
		code = try_epochs(p, 0, false, &e);
		p->step_seconds = middle(&p->steps);
		p->epoch_seconds = p->epochs.n ? middle(&p->epochs)
					       : p->step_seconds * train_steps_per_epoch(&j->train);
	}
	if (!code)
		code = try_validation(p, &e);
	getrusage(RUSAGE_SELF, &u);
	p->memory = (uint64_t)u.ru_maxrss * 1024;
	if (!code)
		code = preview_split(p, &e);
	if (code)
		return cli_fail(c, &e);
	(c->options.given[OPT_DRY_JSON] ? preview_json : preview_text)(p, &c->out);
	cli_note(c, "nothing was trained, and no file was written");
	return 0;
}
