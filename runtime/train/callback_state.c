/* SPDX-License-Identifier: Apache-2.0
 * What callbacks know as a flat list of doubles, and back.  One walk serves both ways. */
#include "config.h"
#include "runtime/train/callback_parts.h"

#include <stdlib.h>

#include "runtime/base/arena.h"

enum { STATE_VERSION = 1 };

/* A cursor over the list: it counts, and where there is room it writes or reads. */
struct walk { double *out; const double *in; size_t max, n; bool bad; };

static void number(struct walk *w, double *v)
{
	if (w->in && w->n >= w->max)
		w->bad = true;
	else if (w->in)
		*v = w->in[w->n];
	else if (w->out && w->n < w->max)
		w->out[w->n] = *v;
	w->n++;
}

/* A whole number up to most. */
static void count(struct walk *w, uint64_t *v, double most)
{
	double d = (double)*v;

	number(w, &d);
	if (!w->in || w->bad)
		return;
	if (!(d >= 0 && d <= most && d == floor(d)))
		w->bad = true;
	else
		*v = (uint64_t)d;
}

static void count32(struct walk *w, uint32_t *v)
{
	uint64_t wide = *v;

	count(w, &wide, UINT32_MAX);
	*v = (uint32_t)wide;
}

static void flag(struct walk *w, bool *v)
{
	uint64_t wide = *v;

	count(w, &wide, 1);
	*v = wide != 0;
}

/* The numbers of an epoch but for its times. */
static void result(struct walk *w, const struct callbacks *c, struct epoch_result *r)
{
	r->start = c->start;
	count32(w, &r->epoch);
	count(w, &r->step, 9e15);
	number(w, &r->loss);
	number(w, &r->learning_rate);
	flag(w, &r->has_validation);
	number(w, &r->val_loss);
	for (unsigned k = 0; k < c->nvalue; k++) {
		number(w, &r->metric[k]);
		number(w, &r->val_metric[k]);
	}
}

static void stopping(struct walk *w, struct callbacks *c)
{
	struct stopping *s = &c->stop;

	number(w, &s->best);
	number(w, &s->wait);
	count32(w, &s->best_epoch);
	count32(w, &s->stopped);
	flag(w, &s->has_best);
	count32(w, &c->restored);
	if (c->best_weight)
		result(w, c, &c->best_result);
}

static void plateau(struct walk *w, struct callbacks *c)
{
	number(w, &c->plateau.rate);
	number(w, &c->plateau.best);
	number(w, &c->plateau.wait);
	number(w, &c->plateau.cooldown);
}

static void saving(struct walk *w, struct callbacks *c)
{
	struct saving *s = &c->save;
	uint64_t n = s->nsaved;

	number(w, &s->best);
	count(w, &s->since, 9e15);
	count(w, &n, s->saved ? CALLBACK_KEEP_MAX : 0);
	s->nsaved = w->bad ? 0 : (uint32_t)n;
	for (uint32_t i = 0; i < s->nsaved; i++) {
		count32(w, &s->saved[i].epoch);
		count32(w, &s->saved[i].batch);
		result(w, c, &s->saved[i].result);
	}
}

static void all(struct walk *w, struct callbacks *c)
{
	uint64_t version = STATE_VERSION;

	count(w, &version, 1e15);
	if (version != STATE_VERSION)
		w->bad = true;
	count32(w, &c->epochs);
	if (callback_wanted(c->job, CALLBACK_early_stopping))
		stopping(w, c);
	if (callback_wanted(c->job, CALLBACK_reduce_lr_on_plateau))
		plateau(w, c);
	if (callback_wanted(c->job, CALLBACK_checkpoint))
		saving(w, c);
	if (callback_wanted(c->job, CALLBACK_csv)) {
		flag(w, &c->csv.begun);
		count(w, &c->csv.nbyte, 9e15);
	}
}

size_t callbacks_state(const struct callbacks *c, double *out, size_t max)
{
	struct walk w = { .out = NULL };

	/* Neither walk changes c: without `in` nothing is read. */
	all(&w, (struct callbacks *)c);
	if (out && w.n <= max) {
		w = (struct walk){ .out = out, .max = max };
		all(&w, (struct callbacks *)c);
	}
	return w.n;
}

int callbacks_restore(struct callbacks *c, uint32_t start, const double *in, size_t n, struct err *e)
{
	struct walk w = { .in = in, .max = n };

	callbacks_begin(c, start);
	all(&w, c);
	if (!w.bad && w.n == n)
		return 0;
	callbacks_begin(c, start);
	return err_set(e, -ERR_BAD_DATA, "the callbacks' state has %zu numbers that fit none of this configuration", n);
}
