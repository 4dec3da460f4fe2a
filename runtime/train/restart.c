/* SPDX-License-Identifier: Apache-2.0
 * Epochs and steps of one restart. */
#include "runtime/train/restart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/profile/recorder.h"
#include "runtime/base/rng.h"
#include "runtime/base/system/clock.h"
#include "runtime/net/scheduler/pool_threads.h"

static void mark_frozen(const struct program *p, uint8_t *frozen)
{
	for (uint32_t g = 0; g < p->nweight_group; g++)
		memset(frozen + p->weight_group[g].first, p->weight_group[g].frozen, p->weight_group[g].count);
}

/* All that depends on the sizes of the job; false when memory is short. */
static bool trainer_memory(struct trainer *t)
{
	const struct train_job *j = t->job;
	const struct program *p = j->program;
	size_t nweight = p->nweight ? p->nweight : 1, nrow = j->train.nrow, batch = t->batch_size, d = sizeof(double);
	size_t kept = !j->measures.nmetric ? batch : j->steps_per_epoch ? batch * j->steps_per_epoch : nrow;
	struct mem_list *m = &t->memory;

	t->score.stride = score_stride(p);
	t->row = mem_list_try(m, nrow, sizeof *t->row);
	t->input = mem_list_try(m, part_input(&j->train, t->batch_size) + 1, d);
	t->readout = mem_list_try(m, batch, (p->nreadout + 1) * d);
	t->score.memory = mem_list_try(m, batch, t->score.stride * d);
	t->score.value = mem_list_try(m, batch, d);
	t->output = mem_list_try(m, kept, p->noutput * d);
	t->label = mem_list_try(m, kept, j->train.data->ny * d);
	t->val_output = mem_list_try(m, (size_t)j->validation.nrow + 1, p->noutput * d);
	t->gradient = mem_list_try(m, nweight, d);
	t->weight = mem_list_try(m, nweight, d);
	t->frozen = mem_list_try(m, nweight, 1);
	for (unsigned k = 0; k < optimizer_slots(j->optimizer, j->option); k++)
		t->slot[k] = mem_list_try(m, nweight, d);
	if (j->optimizer->method != METHOD_GRADIENT)
		trainer_probe_open(t);
	return !m->failed;
}

static void open_rate(struct trainer *t)
{
	const struct train_job *j = t->job;
	uint64_t nstep = (uint64_t)(j->epochs - j->initial_epoch) * t->steps_per_epoch;

	learning_rate_init(&t->rate, j->optimizer, j->option, &j->schedule, j->max_steps && j->max_steps < nstep ? j->max_steps : nstep);
}

int trainer_open(struct trainer *t, const struct train_job *j, const struct train_observer *o, struct err *e)
{
	*t = (struct trainer){ .job = j,
		.of_run = o,
		.observer = o,
		.score = { .program = j->program,
			.loss = &j->measures.loss,
			.part = &j->train,
			.class_weights = j->class_weights.n ? &j->class_weights : NULL } };
	t->batch_size = train_batch_size(j);
	t->steps_per_epoch = train_steps_per_epoch(j);
	struct evaluator_options exec = j->exec;
	if (!optimizer_needs_gradient(j->optimizer))
		exec.gradient = GRADIENT_NONE;
	exec.terms = score_terms(j->program, &j->measures.loss, j->train.data->ny);
	exec.remote = j->pool != NULL;
	exec.batch_again = t->batch_size >= j->train.nrow;
	if (j->pool && !exec.optimisations)
		exec.nthread =
			1; /* it computes only what workers cannot, and what exact optimisations leave */
	int code = evaluator_new(j->program, &exec, &t->ev, e);
	if (code)
		return code;
	t->pool = j->pool ? j->pool : pool_threads_new(j->exec.nthread);
	evaluator_needs(t->ev,
		&(struct readout_gradient_needs){ LOSS_LABELS + j->train.data->ny, score_give });
	t->callbacks = callbacks_new(j, &t->rate, e);
	if (!t->callbacks) {
		trainer_close(t, NULL);
		return -ERR_CONFIG;
	}
	if (!trainer_memory(t)) {
		trainer_close(t, NULL);
		return err_set(e, -ERR_CONFIG, "no memory for training on %u samples, %u at a time",
			j->train.nrow, t->batch_size);
	}
	open_rate(t);
	mark_frozen(j->program, t->frozen);
	return 0;
}

void trainer_close(struct trainer *t, const struct train_observer *o)
{
	struct optimisation_use u;

	if (o && o->work) {
		evaluator_use(t->ev, &u);
		o->work(o->ctx, &u);
	}
	trainer_probe_close(t);
	mem_list_free(&t->memory);
	if (t->pool && t->pool != t->job->pool)
		t->pool->ops->free(t->pool);
	callbacks_free(t->callbacks);
	evaluator_free(t->ev);
	memset(t, 0, sizeof *t);
}

/* The order of a pass through the data (an epoch, unless steps_per_epoch is given): that of the part, or shuffled by
 * (seed, pass), the same for all restarts.  A batch of all samples is not shuffled: its sums do not depend on the
 * order, and the evaluator recognises the batch. */
static void order_rows(struct trainer *t, uint64_t pass)
{
	const struct train_job *j = t->job;

	if (t->pass == pass)
		return;
	t->pass = pass;
	for (uint32_t i = 0; i < j->train.nrow; i++)
		t->row[i] = j->train.row ? j->train.row[i] : i;
	if (j->shuffle && !optimizer_takes_all(j->optimizer) && t->batch_size < j->train.nrow)
		rng_shuffle(j->seed, RNG_SHUFFLE, pass, t->row, j->train.nrow);
}

/* Updates of this epoch so far. */
static uint32_t steps_done(const struct trainer *t)
{
	return (uint32_t)(t->step - (uint64_t)(t->epoch - 1 - t->job->initial_epoch) * t->steps_per_epoch);
}

/* The rows of the epoch's update after k others: row[result .. result + *n). */
static uint32_t rows_of(struct trainer *t, uint32_t k, uint32_t *n)
{
	uint32_t per_pass = train_steps_per_pass(t->job), at;
	uint64_t before = (uint64_t)(t->epoch - 1) * t->steps_per_epoch + k;

	order_rows(t, before / per_pass + 1);
	at = (uint32_t)(before % per_pass) * t->batch_size;
	*n = t->job->train.nrow - at < t->batch_size ? t->job->train.nrow - at : t->batch_size;
	return at;
}

/* The place for the outputs of the step's batch. */
static double *output_of_step(const struct trainer *t)
{
	return t->output + (t->job->measures.nmetric ? (size_t)t->at * t->job->program->noutput : 0);
}

/* Prefixes the error with the place in the run. */
static void prefix_step(const struct trainer *t, struct err *e)
{
	if (t->job->restarts > 1)
		err_prefix(e, "restart %u, step %llu (epoch %u)", t->restart + 1,
			(unsigned long long)t->step, t->epoch);
	else
		err_prefix(e, "step %llu (epoch %u)", (unsigned long long)t->step, t->epoch);
}

static struct update update_of(const struct trainer *t)
{
	return (struct update){ .opt = t->job->option, .step = t->step, .gradient = t->gradient, .weight = t->weight, .slot = t->slot,
		.frozen = t->frozen, .n = t->job->program->nweight };
}

/* After the update: constraints, and are all weights numbers? */
static int finish_update(struct trainer *t, struct err *e)
{
	const struct train_job *j = t->job;

	constraint_apply(j->constraint, j->nconstraint, j->program, t->weight);
	for (uint32_t i = 0; i < j->program->nweight; i++)
		if (!isfinite(t->weight[i])) {
			const struct weight_group *g =
				&j->program->weight_group[program_weight_group(j->program, i)];
			return err_set(e, -ERR_NOT_FINITE,
				"entry %u of weight %s is not finite after the update",
				i - g->first, g->path);
		}
	return 0;
}

static void update(struct trainer *t)
{
	const struct train_job *j = t->job;
	struct update u = update_of(t);

	u.learning_rate = learning_rate_of_step(&t->rate, &u, t->step - 1);
	optimizer_step(j->optimizer, j->program, &u, t->gradient);
}

/* Weights and slots, which searches change while they evaluate, to or from t->before_step. */
static void keep_before_step(struct trainer *t, bool restore)
{
	size_t n = t->job->program->nweight;
	double *kept = t->before_step;

	for (unsigned k = 0; k <= optimizer_slots(t->job->optimizer, t->job->option); k++, kept += n) {
		double *now = k ? t->slot[k - 1] : t->weight;

		memcpy(restore ? now : kept, restore ? kept : now, n * sizeof *now);
	}
}

static int search_step(struct trainer *t, struct err *e)
{
	struct update u = update_of(t);

	keep_before_step(t, false);
	int code = t->job->optimizer->search(&u, &t->probe, e);
	if (code == -ERR_STOPPED) /* the state before the step is saved */
		keep_before_step(t, true);
	return code;
}

/* One update from rows at .. at+n of the pass's order; *loss_sum is the batch's. */
static int one_step(struct trainer *t, uint32_t at, uint32_t n, double *loss_sum, struct err *e)
{
	const struct train_job *j = t->job;
	int64_t event = recorder_begin();
	int code;

	t->batch_at = at;
	t->batch_n = t->last_batch = n;
	t->nevaluation = 0;
	if (j->optimizer->method == METHOD_GRADIENT) {
		code = trainer_loss(t, t->weight, output_of_step(t), t->readout, t->gradient,
			loss_sum, e);
		recorder_mark(PHASE_LOSSES);
		if (!code)
			update(t);
	} else {
		code = search_step(t, e);
		*loss_sum = t->kept;
		memcpy(output_of_step(t), t->kept_output,
			(size_t)n * j->program->noutput * sizeof *t->output);
	}
	code = code ? code : finish_update(t, e);
	recorder_mark(PHASE_OPTIMIZER);
	recorder_event(EVENT_STEP, (uint32_t)t->step, 0, event);
	return code;
}

static bool updates_left(const struct trainer *t)
{
	return steps_done(t) < t->steps_per_epoch && !t->probe.over && (!t->job->max_steps || t->step < t->job->max_steps);
}

/* The state of the run; *at is that of the restart. failed: the next update could not be made. */
static struct train_state state_now(struct trainer *t, bool failed, struct restart_state *at)
{
	bool last = !updates_left(t);

	*at = (struct restart_state){ .restart = t->restart,
		.epoch = t->epoch,
		.step = t->step,
		.at = t->at,
		.loss_sum = t->loss_sum,
		.seconds = clock_seconds() - t->epoch_begin,
		.weight = t->weight,
		.record = t->record.value,
		.nrecord = t->record.n,
		.over = t->probe.over,
		.output = t->job->measures.nmetric ? t->output : NULL,
		.gradient = last ? t->gradient : NULL,
		.readout = last ? t->readout : NULL,
		.nbatch = last ? t->last_batch : 0,
		.callbacks = t->callbacks };
	for (unsigned k = 0; k < optimizer_slots(t->job->optimizer, t->job->option); k++)
		at->slot[k] = t->slot[k];
	return (struct train_state){ .failed = failed,
		.nrunning = 1,
		.running = at,
		.ndone = t->restart,
		.restart_loss = t->restart_loss,
		.end = t->end,
		.best = t->best };
}

static int between(struct trainer *t, bool failed, struct err *e)
{
	struct restart_state at;

	if (!t->between)
		return 0;
	const struct train_state state = state_now(t, failed, &at);
	return t->between(t->between_ctx, &state, e);
}

/* The labels of the epoch's samples so far, in their order. */
static void epoch_labels(struct trainer *t)
{
	const struct train_job *j = t->job;
	uint32_t n, at;

	for (uint32_t k = 0, seen = 0; seen < t->at; k++, seen += n) {
		at = rows_of(t, k, &n);
		part_labels(&j->train, t->row + at, n, t->label + (size_t)seen * j->train.data->ny);
	}
}

static void train_metrics(struct trainer *t, double *metric)
{
	const struct train_job *j = t->job;

	if (!j->measures.nmetric)
		return;
	epoch_labels(t);
	measures_metrics(&j->measures,
		&(struct metric_set){ NULL, t->output, t->label, t->at, j->program->noutput,
			j->train.data->ny, OUTPUTS_VALUES, LABELS_NOT_KNOWN },
		metric);
}

/* The record of the epoch's updates so far. */
static void epoch_so_far(struct trainer *t, struct epoch_record *r)
{
	struct update u = update_of(t);

	*r = (struct epoch_record){ .restart = t->restart, .epoch = t->epoch, .step = t->step, .loss = t->loss_sum / t->at };
	r->learning_rate = learning_rate_of_step(&t->rate, &u, t->step);
	train_metrics(t, r->metric);
}

/* Files of callbacks within an epoch. */
static void callbacks_between(struct trainer *t)
{
	struct epoch_record r;

	if (!callbacks_step(t->callbacks))
		return;
	epoch_so_far(t, &r);
	callbacks_save(t->callbacks, t->observer, &r, steps_done(t), t->weight);
}

/* What computes is gone, but not what was learnt: the state behind t->step is reported as the last. Returns the code: what could
 * not even make one step is no reason to begin again. */
static int keep_failed(struct trainer *t, int code, struct err *e)
{
	struct err why;

	if (code != -ERR_STOPPED || !t->between)
		return code;
	if (!t->step)
		return e ? e->code = -ERR_CONFIG : -ERR_CONFIG;
	if (!between(t, true, &why) && e) {
		size_t len = strlen(e->text);

		snprintf(e->text + len, sizeof e->text - len,
			"; the same command resumes behind step %llu", (unsigned long long)t->step);
	}
	return code;
}

/* The steps that are left of the epoch. */
static int epoch_steps(struct trainer *t, struct err *e)
{
	double batch_sum = 0;
	uint32_t n, at;
	int code = 0;

	while (!code && updates_left(t)) {
		at = rows_of(t, steps_done(t), &n);
		t->step++;
		code = one_step(t, at, n, &batch_sum, e);
		if (code) {
			prefix_step(t, e);
			t->step -= code == -ERR_STOPPED;
			return keep_failed(t, code, e);
		}
		t->loss_sum += batch_sum;
		t->at += n;
		const struct train_observer *o = t->observer;
		if (o->step)
			o->step(o->ctx, t->restart, t->epoch, t->step, steps_done(t), t->steps_per_epoch, batch_sum / n);
		callbacks_between(t);
		recorder_mark(PHASE_LOG);
		code = between(t, false, e);
		recorder_mark(PHASE_LOG);
	}
	return code;
}

static int validate(struct trainer *t, struct epoch_record *r, struct err *e)
{
	const struct train_job *j = t->job;

	if (!train_validates(j, t->epoch))
		return 0;
	enum profile_phase as = recorder_as(PHASE_VALIDATION);
	trainer_draws(t, SHOTS_OF_VALIDATION);
	int code = evaluate_part(t->ev, &j->validation, &j->measures, t->weight, t->val_output,
		&r->val_loss, r->val_metric, t->pool, e);
	recorder_mark(PHASE_VALIDATION);
	recorder_as(as);
	r->has_validation = !code;
	if (code) { /* the epoch's steps are kept, and the validation is done again */
		err_prefix(e, "validation");
		prefix_step(t, e);
		return keep_failed(t, code, e);
	}
	return 0;
}

static int one_epoch(struct trainer *t, struct epoch_record *r, struct err *e)
{
	int code = epoch_steps(t, e);

	if (code)
		return code;
	double trained = clock_seconds();
	epoch_so_far(t, r);
	recorder_mark(PHASE_VALIDATION);
	code = validate(t, r, e);
	if (code)
		return code;
	r->seconds = clock_seconds() - t->epoch_begin;
	r->samples_per_second = trained > t->epoch_begin ? t->at / (trained - t->epoch_begin) : 0;
	return 0;
}

static void begin_epoch(struct trainer *t, uint32_t epoch)
{
	t->epoch = epoch;
	t->at = 0;
	t->loss_sum = 0;
	t->epoch_begin = clock_seconds();
}

static void begin_restart(struct trainer *t, uint32_t restart)
{
	const struct train_job *j = t->job;

	t->restart = restart;
	t->step = 0;
	if (j->init && !restart)
		memcpy(t->weight, j->init, j->program->nweight * sizeof *t->weight);
	else
		program_init_weights(j->program, j->seed, restart, t->weight);
	for (unsigned k = 0; k < optimizer_slots(j->optimizer, j->option); k++)
		memset(t->slot[k], 0, j->program->nweight * sizeof *t->slot[k]);
	callbacks_begin(t->callbacks, restart);
	begin_epoch(t, j->initial_epoch + 1);
}

/* Within an epoch; the state was checked.  False when memory is short. */
static bool resume_restart(struct trainer *t, const struct restart_state *s)
{
	const struct program *p = t->job->program;
	size_t d = sizeof(double);

	t->restart = s->restart;
	t->step = s->step;
	begin_epoch(t, s->epoch);
	t->at = s->at;
	t->loss_sum = s->loss_sum;
	t->epoch_begin -= s->seconds;
	memcpy(t->weight, s->weight, p->nweight * d);
	for (unsigned k = 0; k < optimizer_slots(t->job->optimizer, t->job->option); k++)
		memcpy(t->slot[k], s->slot[k], p->nweight * d);
	if (s->output)
		memcpy(t->output, s->output, (size_t)s->at * p->noutput * d);
	if (s->gradient)
		memcpy(t->gradient, s->gradient, p->nweight * d);
	if (s->readout)
		memcpy(t->readout, s->readout, (size_t)s->nbatch * p->nreadout * d);
	t->last_batch = s->nbatch;
	if (callbacks_restore(t->callbacks, s->restart, s->callback_list, s->ncallback, NULL))
		BUG("the state of the callbacks was not checked");
	if (s->callback_best)
		memcpy(callbacks_best(t->callbacks), s->callback_best, p->nweight * d);
	return trainer_probe_resume(t, s);
}

/* An epoch that was begun is always completed. */
static bool epochs_left(const struct trainer *t)
{
	const struct train_job *j = t->job;

	return t->at || (!t->probe.over && !callbacks_stopped(t->callbacks) && t->epoch <= j->epochs
		&& (!j->max_steps || t->step < j->max_steps));
}

int trainer_run(struct trainer *t, uint32_t restart, const struct restart_state *from, struct epoch_record *last, struct err *e)
{
	const struct train_observer *o;
	int code = 0;

	t->restart = restart;
	trainer_probe_begin(t);
	if (!from)
		begin_restart(t, restart);
	else if (!resume_restart(t, from))
		return err_set(e, -ERR_CONFIG, "no memory for the %zu numbers of the optimiser's search", from->nrecord);
	if (from && from->after)
		*last = *from->after; /* no further epoch may follow */
	for (; !code && epochs_left(t); begin_epoch(t, t->epoch + 1)) {
		code = one_epoch(t, last, e);
		o = t->observer;
		if (!code && o->epoch)
			o->epoch(o->ctx, last);
		if (!code && o->state)
			o->state(o->ctx, last,
				&(struct epoch_state){ .weight = t->weight,
					.gradient = t->gradient,
					.readout = t->readout,
					.nbatch = t->last_batch });
		if (!code)
			callbacks_epoch(t->callbacks, o, last, steps_done(t), t->weight);
		recorder_mark(PHASE_LOG);
	}
	if (code)
		return code;
	if (t->of_run->complete) {
		struct restart_state at;

		state_now(t, false, &at);
		at.after = last;
		t->of_run->complete(t->of_run->ctx, &at);
	}
	struct update u = update_of(t);
	optimizer_finish(t->job->optimizer, &u);
	callbacks_finish(t->callbacks, t->observer, last, t->weight);
	return 0;
}
