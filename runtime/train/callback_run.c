/* SPDX-License-Identifier: Apache-2.0
 * What callbacks do while a start runs.  Formulas: Keras 3.15, keras/src/callbacks; a number that
 * is NaN never improves on anything here. */
#include "config.h"
#include "runtime/train/callback_parts.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"

/* ---- opening ---- */

/* How many files are remembered so that they can be removed; 0: none. */
static size_t files_kept(const struct train_job *j)
{
	const struct callback_choice *o = callback_wanted(j, CALLBACK_checkpoint);

	return o && value_given(o->option[SAVE_KEEP]) ? (size_t)o->option[SAVE_KEEP] : 0;
}

static void find_monitor(const struct train_job *j, enum callback_id id, unsigned name, unsigned mode, struct monitor *m)
{
	const struct callback_choice *o = callback_wanted(j, id);

	if (!o)
		return;
	callback_monitor(j, o->text[name], m);
	if (o->option[mode] != MODE_AUTO)
		m->rises = o->option[mode] == MODE_MAX;
}

struct callbacks *callbacks_new(const struct train_job *j, struct err *e)
{
	struct callbacks *c = mem_alloc(1, sizeof *c);
	const struct callback_choice *stop = callback_wanted(j, CALLBACK_early_stopping);
	bool restores = stop && stop->option[STOP_RESTORE_BEST_WEIGHTS] != 0;
	size_t nweight = j->program->nweight ? j->program->nweight : 1, kept = files_kept(j);

	c->job = j;
	c->nvalue = measures_at(&j->measures, j->measures.nmetric, j->program->noutput);
	find_monitor(j, CALLBACK_early_stopping, STOP_MONITOR, STOP_MODE, &c->stop.monitor);
	find_monitor(j, CALLBACK_reduce_lr_on_plateau, PLATEAU_MONITOR, PLATEAU_MODE, &c->plateau.monitor);
	find_monitor(j, CALLBACK_checkpoint, SAVE_MONITOR, SAVE_MODE, &c->save.monitor);
	if ((restores && !(c->best_weight = mem_try(nweight, sizeof *c->best_weight)))
		|| (kept && !(c->save.saved = mem_try(kept + 1, sizeof *c->save.saved)))) {
		callbacks_free(c);
		err_set(e, -ERR_CONFIG, "no memory for the callbacks of %zu weights", nweight);
		return NULL;
	}
	callbacks_begin(c, 0);
	return c;
}

void callbacks_free(struct callbacks *c)
{
	if (!c)
		return;
	free(c->best_weight);
	free(c->save.saved);
	buf_release(&c->csv.waiting);
	free(c);
}

void callbacks_begin(struct callbacks *c, uint32_t start)
{
	const struct callback_choice *save = callback_wanted(c->job, CALLBACK_checkpoint);

	c->start = start;
	c->epochs = c->restored = 0;
	c->stop = (struct stopping){ .monitor = c->stop.monitor, .best = NAN };
	c->plateau = (struct plateau){ .monitor = c->plateau.monitor, .best = NAN, .rate = c->job->option[OPTIMIZER_LEARNING_RATE] };
	c->save = (struct saving){ .monitor = c->save.monitor, .saved = c->save.saved,
		.best = save ? save->option[SAVE_INITIAL_VALUE_THRESHOLD] : NAN };
	c->csv.begun = false;
	buf_clear(&c->csv.waiting);
	c->best_result = (struct epoch_result){ .start = start };
}

/* ---- what is better ---- */

/* MonitorCallback._is_improvement: reference NaN is Keras's None. */
static bool improves(const struct monitor *m, double value, double reference, double min_delta)
{
	if (isnan(value))
		return false;
	if (isnan(reference))
		return true;
	return m->rises ? value - min_delta > reference : value + min_delta < reference;
}

/* Has the epoch what is monitored?  NaN may also be its value. */
static bool has_value(const struct monitor *m, const struct epoch_result *r)
{
	return !m->validation || r->has_validation;
}

static int tell(const struct train_observer *o, struct train_event *v, const struct callbacks *c, const struct epoch_result *r)
{
	v->start = c->start;
	v->result = r;
	return o->event ? o->event(o->ctx, v) : 0;
}

/* ---- early_stopping ---- */

static void keep_best(struct callbacks *c, const struct epoch_result *r, const double *weight)
{
	c->stop.has_best = true;
	c->stop.best_epoch = r->epoch;
	if (!c->best_weight)
		return;
	c->best_result = *r;
	memcpy(c->best_weight, weight, c->job->program->nweight * sizeof *weight);
}

/* EarlyStopping.on_epoch_end; its epochs count from 0. */
static void watch_for_stop(struct callbacks *c, const struct train_observer *o, const struct epoch_result *r, const double *weight)
{
	const double *opt = c->job->callbacks->of[CALLBACK_early_stopping].option;
	struct stopping *s = &c->stop;
	double value = monitor_value(c->job, &s->monitor, r);

	if (!has_value(&s->monitor, r) || r->epoch - 1 < opt[STOP_START_FROM_EPOCH])
		return;
	if (!s->has_best)
		keep_best(c, r, weight);
	s->wait++;
	if (improves(&s->monitor, value, s->best, opt[STOP_MIN_DELTA])) {
		s->best = value;
		keep_best(c, r, weight);
		if (improves(&s->monitor, value, opt[STOP_BASELINE], opt[STOP_MIN_DELTA]))
			s->wait = 0;
		return;
	}
	if (s->wait >= opt[STOP_PATIENCE] && r->epoch > 1) {
		s->stopped = r->epoch;
		tell(o, &(struct train_event){ .kind = TRAIN_STOPPED, .monitor = s->monitor.name, .best = s->best,
			.best_epoch = s->best_epoch }, c, r);
	}
}

const char *callbacks_monitor(const struct callbacks *c)
{
	return c->stop.monitor.name;
}

bool callbacks_stopped(const struct callbacks *c)
{
	return c->stop.stopped > 0;
}

/* ---- reduce_lr_on_plateau ---- */

double callbacks_rate(const struct callbacks *c, double rate)
{
	return callback_wanted(c->job, CALLBACK_reduce_lr_on_plateau) ? c->plateau.rate : rate;
}

/* ReduceLROnPlateau.on_epoch_end. */
static void watch_for_plateau(struct callbacks *c, const struct train_observer *o, const struct epoch_result *r)
{
	const double *opt = c->job->callbacks->of[CALLBACK_reduce_lr_on_plateau].option;
	struct plateau *p = &c->plateau;
	double value = monitor_value(c->job, &p->monitor, r);

	if (!has_value(&p->monitor, r))
		return;
	if (p->cooldown > 0) {
		p->cooldown--;
		p->wait = 0;
	}
	if (improves(&p->monitor, value, p->best, opt[PLATEAU_MIN_DELTA])) {
		p->best = value;
		p->wait = 0;
		return;
	}
	if (p->cooldown > 0 || ++p->wait < opt[PLATEAU_PATIENCE] || !(p->rate > opt[PLATEAU_MIN_LR]))
		return;
	p->rate = fmax(p->rate * opt[PLATEAU_FACTOR], opt[PLATEAU_MIN_LR]);
	p->cooldown = opt[PLATEAU_COOLDOWN];
	p->wait = 0;
	tell(o, &(struct train_event){ .kind = TRAIN_RATE, .rate = p->rate }, c, r);
}

/* ---- checkpoint ---- */

bool callbacks_step(struct callbacks *c)
{
	const struct callback_choice *o = callback_wanted(c->job, CALLBACK_checkpoint);

	if (!o || !value_given(o->option[SAVE_FREQ]) || ++c->save.since < o->option[SAVE_FREQ])
		return false;
	c->save.since = 0;
	return true;
}

static void path_of(const struct callbacks *c, const struct saved *s, struct buf *path)
{
	const struct callback_choice *o = callback_wanted(c->job, CALLBACK_checkpoint);

	if (callback_path(c->job, o->text[SAVE_PATH], &s->result, s->batch, path, NULL))
		BUG("the path of train.callbacks.checkpoint was not checked");
}

/* One more is known; the oldest beyond keep is dropped. */
static void remember(struct callbacks *c, const struct train_observer *o, const struct saved *now, const char *path)
{
	struct saving *s = &c->save;
	struct buf old = BUF_INIT, other = BUF_INIT;
	uint32_t keep = (uint32_t)files_kept(c->job), n = 0;

	if (!keep)
		return;
	for (uint32_t i = 0; i < s->nsaved; i++) {       /* an older one of this name is gone */
		buf_clear(&other);
		path_of(c, &s->saved[i], &other);
		if (strcmp(other.data, path))
			s->saved[n++] = s->saved[i];
	}
	s->saved[n++] = *now;
	s->nsaved = n;
	if (n > keep) {
		path_of(c, &s->saved[0], &old);
		tell(o, &(struct train_event){ .kind = TRAIN_DROP, .path = old.data }, c, &s->saved[0].result);
		memmove(s->saved, s->saved + 1, (n - 1) * sizeof *s->saved);
		s->nsaved = n - 1;
	}
	buf_release(&old);
	buf_release(&other);
}

void callbacks_save(struct callbacks *c, const struct train_observer *o, const struct epoch_result *r,
	uint32_t step_in_epoch, const double *weight)
{
	const double *opt = c->job->callbacks->of[CALLBACK_checkpoint].option;
	struct saving *s = &c->save;
	const struct saved now = { r->epoch, step_in_epoch, *r };
	double value = NAN;
	struct buf path = BUF_INIT;

	if (opt[SAVE_BEST_ONLY] != 0) {
		value = monitor_value(c->job, &s->monitor, r);
		if (!has_value(&s->monitor, r) || !improves(&s->monitor, value, s->best, 0))
			return;
	}
	path_of(c, &now, &path);
	if (!tell(o, &(struct train_event){ .kind = TRAIN_SAVE, .path = path.data, .weight = weight, .batch = step_in_epoch }, c, r)) {
		if (opt[SAVE_BEST_ONLY] != 0)
			s->best = value;
		remember(c, o, &now, path.data);
	}
	buf_release(&path);
}

/* ---- epochs ---- */

static void write_csv(struct callbacks *c, const struct train_observer *o, const struct epoch_result *r)
{
	struct err e;

	if (callback_csv(c, r, &e))
		tell(o, &(struct train_event){ .kind = TRAIN_CSV_FAILED, .path = e.text }, c, r);
}

void callbacks_epoch(struct callbacks *c, const struct train_observer *o, const struct epoch_result *r,
	uint32_t step_in_epoch, const double *weight)
{
	const struct callback_choice *save = callback_wanted(c->job, CALLBACK_checkpoint);

	c->epochs++;
	if (callback_wanted(c->job, CALLBACK_csv))
		write_csv(c, o, r);
	if (save && !value_given(save->option[SAVE_FREQ]))
		callbacks_save(c, o, r, step_in_epoch, weight);
	if (callback_wanted(c->job, CALLBACK_reduce_lr_on_plateau))
		watch_for_plateau(c, o, r);
	if (callback_wanted(c->job, CALLBACK_early_stopping))
		watch_for_stop(c, o, r, weight);
}

void callbacks_finish(struct callbacks *c, const struct train_observer *o, struct epoch_result *last, double *weight)
{
	if (!c->best_weight || !c->stop.has_best)
		return;
	memcpy(weight, c->best_weight, c->job->program->nweight * sizeof *weight);
	c->restored = c->best_result.epoch;
	*last = c->best_result;
	tell(o, &(struct train_event){ .kind = TRAIN_RESTORED, .monitor = c->stop.monitor.name, .best = c->stop.best,
		.best_epoch = c->restored }, c, last);
}

double *callbacks_best(struct callbacks *c)
{
	return c->best_weight;
}

struct start_end callbacks_end(const struct callbacks *c)
{
	return (struct start_end){ c->epochs, c->stop.stopped, c->restored };
}
