/* SPDX-License-Identifier: Apache-2.0
 * The callback checkpoint: files of the weights.  Those that cannot be written are kept and written later. */
#include "runtime/train/callback/callback_parts.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"

size_t callback_files_kept(const struct callback_choice *o)
{
	return o->id == CALLBACK_checkpoint && value_given(o->option[SAVE_KEEP]) ? (size_t)o->option[SAVE_KEEP] : 0;
}

bool callbacks_step(struct callbacks *c)
{
	bool any = false;

	for (unsigned i = 0; i < c->npart; i++) {
		struct callback_part *p = &c->part[i];

		if (p->choice->id != CALLBACK_checkpoint || !value_given(p->choice->option[SAVE_FREQ])
			|| ++p->save.since < p->choice->option[SAVE_FREQ])
			continue;
		p->save.since = 0;
		p->save.due = any = true;
	}
	return any;
}

static void path_of(const struct callbacks *c, const struct callback_part *p, const struct saved *s, struct buf *path)
{
	if (callback_path(c->job, p->choice->text[SAVE_PATH], &s->record, s->batch, path, NULL))
		BUG("the path of train.callbacks.checkpoint was not checked");
}

/* Adds a file to the list of those that were written; beyond `keep` the oldest is removed. */
static void remember(struct callbacks *c, struct callback_part *p, const struct train_observer *o, const struct saved *now, const char *path)
{
	struct saving *s = &p->save;
	buf_auto old = BUF_INIT, other = BUF_INIT;
	uint32_t keep = (uint32_t)callback_files_kept(p->choice), n = 0;

	if (!keep)
		return;
	for (uint32_t i = 0; i < s->nsaved; i++) {       /* an older one of this name was overwritten */
		buf_clear(&other);
		path_of(c, p, &s->saved[i], &other);
		if (strcmp(other.data, path))
			s->saved[n++] = s->saved[i];
	}
	s->saved[n++] = *now;
	s->nsaved = n;
	if (n > keep) {
		path_of(c, p, &s->saved[0], &old);
		callback_report(o, &(struct train_event){ .kind = TRAIN_DROP, .path = old.data }, c, &s->saved[0].record);
		memmove(s->saved, s->saved + 1, (n - 1) * sizeof *s->saved);
		s->nsaved = n - 1;
	}
}

/* ---- files that could not be written ---- */

static void drop_waiting(struct saving *s, uint32_t k)
{
	free(s->waiting[k].weight);
	s->nwaiting--;
	memmove(s->waiting + k, s->waiting + k + 1, (s->nwaiting - k) * sizeof *s->waiting);
}

void callback_save_forget(struct saving *s)
{
	while (s->nwaiting)
		drop_waiting(s, s->nwaiting - 1);
}

void callback_save_free(struct saving *s)
{
	callback_save_forget(s);
	free(s->saved);
}

/* Of several files of one name only the newest is written. */
static void drop_older(const struct callbacks *c, struct callback_part *p, const char *path)
{
	buf_auto other = BUF_INIT;

	for (uint32_t k = p->save.nwaiting; k-- > 0; ) {
		buf_clear(&other);
		path_of(c, p, &p->save.waiting[k].at, &other);
		if (!strcmp(other.data, path))
			drop_waiting(&p->save, k);
	}
}

/* A copy to be written later; dropped without memory, or when SAVES_WAITING_MAX newer ones are kept. */
static void keep_for_later(struct callbacks *c, struct saving *s, const struct saved *now, double value, const double *weight)
{
	size_t n = c->job->program->nweight;
	double *copy = mem_try(n ? n : 1, sizeof *copy);

	if (!copy)
		return;
	if (s->nwaiting == SAVES_WAITING_MAX)
		drop_waiting(s, 0);
	memcpy(copy, weight, n * sizeof *copy);
	s->waiting[s->nwaiting++] = (struct waiting_save){ *now, value, copy };
}

/* Writes the file and adds it to the list; value: of the monitor, NaN without one. */
static int save_now(struct callbacks *c, struct callback_part *p, const struct train_observer *o, const struct saved *now, double value,
	const double *weight)
{
	buf_auto path = BUF_INIT;

	path_of(c, p, now, &path);
	int code = callback_report(o,
		&(struct train_event){
			.kind = TRAIN_SAVE, .path = path.data, .weight = weight, .batch = now->batch },
		c, &now->record);
	if (!code) {
		if (monitor_improves(&p->save.monitor, value, p->save.best, 0))
			p->save.best = value;
		remember(c, p, o, now, path.data);
	}
	return code;
}

void callback_save_late(struct callbacks *c, struct callback_part *p, const struct train_observer *o)
{
	struct saving *s = &p->save;

	for (uint32_t k = 0; k < s->nwaiting; )
		if (save_now(c, p, o, &s->waiting[k].at, s->waiting[k].value, s->waiting[k].weight))
			k++;
		else
			drop_waiting(s, k);
}

void callback_save(struct callbacks *c, struct callback_part *p, const struct train_observer *o, const struct saved *now, const double *weight)
{
	struct saving *s = &p->save;
	double value = NAN;
	buf_auto path = BUF_INIT;

	path_of(c, p, now, &path);
	if (p->choice->option[SAVE_BEST_ONLY] != 0) {
		value = monitor_value(c->job, &s->monitor, &now->record);
		if (!monitor_has_value(&s->monitor, &now->record)
				|| !monitor_improves(&s->monitor, value, s->nwaiting ? s->waiting[s->nwaiting - 1].value : s->best, 0)) {
			callback_save_late(c, p, o);
			return;
		}
	}
	drop_older(c, p, path.data);
	callback_save_late(c, p, o);
	if (save_now(c, p, o, now, value, weight))
		keep_for_later(c, s, now, value, weight);
}

void callbacks_save(struct callbacks *c, const struct train_observer *o, const struct epoch_record *r,
	uint32_t step_in_epoch, const double *weight)
{
	for (unsigned i = 0; i < c->npart; i++)
		if (c->part[i].choice->id == CALLBACK_checkpoint && c->part[i].save.due) {
			c->part[i].save.due = false;
			callback_save(c, &c->part[i], o, &(struct saved){ r->epoch, step_in_epoch, *r }, weight);
		}
}
