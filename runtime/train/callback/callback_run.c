/* SPDX-License-Identifier: Apache-2.0
 * What callbacks do while a restart runs.  Formulas: Keras 3.15, keras/src/callbacks; a number that
 * is NaN never improves on anything here. */
#include "runtime/train/callback/callback_parts.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"

/* ---- opening ---- */

/* Where its monitor is: STOP_MONITOR and so on. */
static void find_monitor(const struct train_job *j, const struct callback_choice *o, unsigned name, unsigned mode, struct monitor *m)
{
	callback_monitor(j, o->text[name], m);
	if (o->option[mode] != MODE_AUTO)
		m->rises = o->option[mode] == MODE_MAX;
}

/* A part for each callback of that kind; false when memory is short. */
static bool add_parts(struct callbacks *c, enum callback_id id)
{
	const struct callback_choice *o = NULL;
	unsigned n = 0;

	while ((o = callback_next(c->job, id, o))) {
		struct callback_part *p = &c->part[c->npart++];

		p->choice = o;
		if (id == CALLBACK_early_stopping) {
			find_monitor(c->job, o, STOP_MONITOR, STOP_MODE, &p->stop.monitor);
			p->stop.which = n++;
			c->restorer = o->option[STOP_RESTORE_BEST_WEIGHTS] != 0 ? p : c->restorer;
		} else if (id == CALLBACK_reduce_lr_on_plateau) {
			find_monitor(c->job, o, PLATEAU_MONITOR, PLATEAU_MODE, &p->plateau.monitor);
		} else if (id == CALLBACK_checkpoint) {
			find_monitor(c->job, o, SAVE_MONITOR, SAVE_MODE, &p->save.monitor);
			if (callback_files_kept(o) && !(p->save.saved = mem_try(callback_files_kept(o) + 1, sizeof *p->save.saved)))
				return false;
		}
	}
	return true;
}

struct callbacks *callbacks_new(const struct train_job *j, struct learning_rate *rate, struct err *e)
{
	static const enum callback_id order[] = { CALLBACK_csv, CALLBACK_checkpoint, CALLBACK_reduce_lr_on_plateau, CALLBACK_early_stopping };
	struct callbacks *c = mem_alloc(1, sizeof *c);
	size_t nweight = j->program->nweight ? j->program->nweight : 1;
	bool well = true;

	c->job = j;
	c->rate = rate;
	c->nvalue = train_values(j);
	for (unsigned i = 0; well && i < sizeof order / sizeof *order; i++)
		well = add_parts(c, order[i]);
	if (well && c->restorer)
		well = (c->best_weight = mem_try(nweight, sizeof *c->best_weight));
	if (!well) {
		callbacks_free(c);
		err_set(e, -ERR_CONFIG, "no memory for the callbacks of %zu weights", nweight);
		return NULL;
	}
	callbacks_begin(c, 0);
	return c;
}

void callbacks_free(struct callbacks *c)
{
	for (unsigned i = 0; c && i < c->npart; i++)
		if (c->part[i].choice->id == CALLBACK_checkpoint)
			callback_save_free(&c->part[i].save);
		else if (c->part[i].choice->id == CALLBACK_csv)
			buf_release(&c->part[i].csv.waiting);
	if (c)
		free(c->best_weight);
	free(c);
}

static void begin_part(struct callback_part *p)
{
	switch (p->choice->id) {
	case CALLBACK_early_stopping:
		p->stop = (struct stopping){ .monitor = p->stop.monitor, .which = p->stop.which, .best = NAN };
		break;
	case CALLBACK_reduce_lr_on_plateau:
		p->plateau = (struct plateau){ .monitor = p->plateau.monitor, .best = NAN };
		break;
	case CALLBACK_checkpoint:
		callback_save_forget(&p->save);
		p->save = (struct saving){ .monitor = p->save.monitor, .saved = p->save.saved,
			.best = p->choice->option[SAVE_INITIAL_VALUE_THRESHOLD] };
		break;
	case CALLBACK_csv:
		p->csv.begun = false;
		buf_clear(&p->csv.waiting);
		break;
	case CALLBACK_command:
	case CALLBACK_COUNT: break;
	}
}

void callbacks_begin(struct callbacks *c, uint32_t restart)
{
	c->restart = restart;
	c->epochs = c->restored = 0;
	c->rate->replaced = NAN;
	for (unsigned i = 0; i < c->npart; i++)
		begin_part(&c->part[i]);
	c->best_record = (struct epoch_record){ .restart = restart };
}

/* ---- monitored values ---- */

bool monitor_improves(const struct monitor *m, double value, double reference, double min_delta)
{
	if (isnan(value))
		return false;
	if (isnan(reference))
		return true;
	return m->rises ? value - min_delta > reference : value + min_delta < reference;
}

bool monitor_has_value(const struct monitor *m, const struct epoch_record *r)
{
	return !m->validation || r->has_validation;
}

int callback_report(const struct train_observer *o, struct train_event *v, const struct callbacks *c, const struct epoch_record *r)
{
	v->restart = c->restart;
	v->record = r;
	return o->event ? o->event(o->ctx, v) : 0;
}

/* ---- early_stopping ---- */

static void keep_best(struct callbacks *c, struct callback_part *p, const struct epoch_record *r, const double *weight)
{
	p->stop.has_best = true;
	p->stop.best_epoch = r->epoch;
	if (p != c->restorer)
		return;
	c->best_record = *r;
	memcpy(c->best_weight, weight, c->job->program->nweight * sizeof *weight);
}

/* EarlyStopping.on_epoch_end; its epochs count from 0. */
static void watch_for_stop(struct callbacks *c, struct callback_part *p, const struct train_observer *o, const struct epoch_record *r,
	const double *weight)
{
	const double *opt = p->choice->option;
	struct stopping *s = &p->stop;
	double value = monitor_value(c->job, &s->monitor, r);

	if (!monitor_has_value(&s->monitor, r) || r->epoch - 1 < opt[STOP_START_FROM_EPOCH])
		return;
	if (!s->has_best)
		keep_best(c, p, r, weight);
	s->wait++;
	if (monitor_improves(&s->monitor, value, s->best, opt[STOP_MIN_DELTA])) {
		s->best = value;
		keep_best(c, p, r, weight);
		if (monitor_improves(&s->monitor, value, opt[STOP_BASELINE], opt[STOP_MIN_DELTA]))
			s->wait = 0;
		return;
	}
	if (s->wait >= opt[STOP_PATIENCE] && r->epoch > 1) {
		s->stopped = r->epoch;
		callback_report(o, &(struct train_event){ .kind = TRAIN_STOPPED, .monitor = s->monitor.name, .which = s->which, .best = s->best,
			.best_epoch = s->best_epoch }, c, r);
	}
}

/* The epoch after which the restart was stopped, 0: none. */
static uint32_t stopped_after(const struct callbacks *c)
{
	for (unsigned i = 0; i < c->npart; i++)
		if (c->part[i].choice->id == CALLBACK_early_stopping && c->part[i].stop.stopped)
			return c->part[i].stop.stopped;
	return 0;
}

bool callbacks_stopped(const struct callbacks *c) { return stopped_after(c) > 0; }

/* ---- reduce_lr_on_plateau ---- */

double callback_rate(const struct callbacks *c) { return learning_rate_of_step(c->rate, NULL, 0); }

/* ReduceLROnPlateau.on_epoch_end. */
static void watch_for_plateau(struct callbacks *c, struct callback_part *part, const struct train_observer *o, const struct epoch_record *r)
{
	const double *opt = part->choice->option;
	struct plateau *p = &part->plateau;
	double value = monitor_value(c->job, &p->monitor, r), rate = callback_rate(c);

	if (!monitor_has_value(&p->monitor, r))
		return;
	if (p->cooldown > 0) {
		p->cooldown--;
		p->wait = 0;
	}
	if (monitor_improves(&p->monitor, value, p->best, opt[PLATEAU_MIN_DELTA])) {
		p->best = value;
		p->wait = 0;
		return;
	}
	if (p->cooldown > 0 || ++p->wait < opt[PLATEAU_PATIENCE] || !(rate > opt[PLATEAU_MIN_LR]))
		return;
	rate = fmax(rate * opt[PLATEAU_FACTOR], opt[PLATEAU_MIN_LR]);
	c->rate->replaced = rate;
	p->cooldown = opt[PLATEAU_COOLDOWN];
	p->wait = 0;
	callback_report(o, &(struct train_event){ .kind = TRAIN_RATE, .rate = rate }, c, r);
}

/* ---- epochs ---- */

static void write_csv(struct callbacks *c, struct callback_part *p, const struct train_observer *o, const struct epoch_record *r)
{
	struct err e;

	if (callback_csv(c, p, r, &e))
		callback_report(o, &(struct train_event){ .kind = TRAIN_CSV_FAILED, .path = e.text }, c, r);
}

void callbacks_epoch(struct callbacks *c, const struct train_observer *o, const struct epoch_record *r,
	uint32_t step_in_epoch, const double *weight)
{
	c->epochs++;
	for (unsigned i = 0; i < c->npart; i++) {
		struct callback_part *p = &c->part[i];

		if (p->choice->id == CALLBACK_csv)
			write_csv(c, p, o, r);
		else if (p->choice->id == CALLBACK_reduce_lr_on_plateau)
			watch_for_plateau(c, p, o, r);
		else if (p->choice->id == CALLBACK_early_stopping)
			watch_for_stop(c, p, o, r, weight);
		else if (value_given(p->choice->option[SAVE_FREQ]))
			callback_save_late(c, p, o);
		else
			callback_save(c, p, o, &(struct saved){ r->epoch, step_in_epoch, *r }, weight);
	}
}

void callbacks_finish(struct callbacks *c, const struct train_observer *o, struct epoch_record *last, double *weight)
{
	const struct stopping *s = c->restorer ? &c->restorer->stop : NULL;
	struct err e;

	for (unsigned i = 0; i < c->npart; i++)
		if (c->part[i].choice->id == CALLBACK_csv && callback_csv_end(c, &c->part[i], last, &e))
			callback_report(o, &(struct train_event){ .kind = TRAIN_CSV_FAILED, .path = e.text }, c, last);
		else if (c->part[i].choice->id == CALLBACK_checkpoint)
			callback_save_late(c, &c->part[i], o);
	if (!s || !s->has_best)
		return;
	memcpy(weight, c->best_weight, c->job->program->nweight * sizeof *weight);
	c->restored = c->best_record.epoch;
	*last = c->best_record;
	callback_report(o, &(struct train_event){ .kind = TRAIN_RESTORED, .monitor = s->monitor.name, .which = s->which, .best = s->best,
		.best_epoch = c->restored }, c, last);
}

double *callbacks_best(struct callbacks *c) { return c->best_weight; }

struct restart_end callbacks_end(const struct callbacks *c)
{
	return (struct restart_end){ c->epochs, stopped_after(c), c->restored };
}
