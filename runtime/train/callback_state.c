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

/* A file of another path is none that the run knows. */
static void csv_file(struct walk *w, struct callbacks *c)
{
	const char *path = callback_wanted(c->job, CALLBACK_csv)->text[CSV_PATH];
	uint64_t digest = 14695981039346656037u, kept;       /* FNV-1a, its 52 high bits */

	while (*path)
		digest = (digest ^ (unsigned char)*path++) * 1099511628211u;
	kept = digest >> 12;
	count(w, &kept, 9e15);
	flag(w, &c->csv.begun);
	count(w, &c->csv.nbyte, 9e15);
	if (kept != digest >> 12)
		w->bad = true;
}

static void (*const sections[CALLBACK_COUNT])(struct walk *w, struct callbacks *c) = {
	[CALLBACK_early_stopping] = stopping,
	[CALLBACK_reduce_lr_on_plateau] = plateau,
	[CALLBACK_checkpoint] = saving,
	[CALLBACK_csv] = csv_file,
};

/* ---- writing: version, epochs, then sections of callback, length, numbers ---- */

static void write_all(struct walk *w, struct callbacks *c)
{
	uint64_t version = STATE_VERSION;

	count(w, &version, 0);
	count32(w, &c->epochs);
	for (unsigned i = 0; i < CALLBACK_COUNT; i++) {
		struct walk size = { .out = NULL };
		uint64_t id = i, len;

		if (!sections[i] || !callback_wanted(c->job, (enum callback_id)i))
			continue;
		sections[i](&size, c);
		len = size.n;
		count(w, &id, 0);
		count(w, &len, 0);
		sections[i](w, c);
	}
}

size_t callbacks_state(const struct callbacks *c, double *out, size_t max)
{
	struct walk w = { .out = NULL };

	/* Neither walk changes c: without `in` nothing is read. */
	write_all(&w, (struct callbacks *)c);
	if (out && w.n <= max) {
		w = (struct walk){ .out = out, .max = max };
		write_all(&w, (struct callbacks *)c);
	}
	return w.n;
}

/* ---- reading ---- */

/* What is wrong with a callback that changes no result, or there without need, costs the run nothing. */
static void read_section(struct walk *w, struct callbacks *c, unsigned id, size_t len, bool seen[CALLBACK_COUNT])
{
	const struct callback_row *row;
	struct walk part = { .in = w->in + w->n, .max = len };
	struct callbacks before = *c;

	callback_rows(&row);
	seen[id] = true;
	if (!callback_wanted(c->job, (enum callback_id)id))
		w->bad = row[id].changes_result;
	else
		sections[id](&part, c);
	if (part.bad || (part.n && part.n != len)) {
		w->bad = row[id].changes_result;
		*c = before;
	}
	w->n += len;
}

static void read_all(struct walk *w, struct callbacks *c)
{
	bool seen[CALLBACK_COUNT] = { false };
	uint64_t version = 0, id = 0, len = 0;
	const struct callback_row *row;

	callback_rows(&row);
	count(w, &version, STATE_VERSION);
	count32(w, &c->epochs);
	while (!w->bad && version == STATE_VERSION && w->n < w->max) {
		count(w, &id, CALLBACK_COUNT - 1);
		count(w, &len, 9e15);
		if (w->bad || !sections[id] || len > w->max - w->n || seen[id])
			w->bad = true;
		else
			read_section(w, c, (unsigned)id, (size_t)len, seen);
	}
	for (unsigned i = 0; i < CALLBACK_COUNT; i++)
		w->bad |= row[i].changes_result && !seen[i] && callback_wanted(c->job, (enum callback_id)i);
	w->bad |= version != STATE_VERSION;
}

int callbacks_restore(struct callbacks *c, uint32_t start, const double *in, size_t n, struct err *e)
{
	struct walk w = { .in = in, .max = n };

	callbacks_begin(c, start);
	read_all(&w, c);
	if (!w.bad)
		return 0;
	callbacks_begin(c, start);
	return err_set(e, -ERR_BAD_DATA, "the callbacks' state has %zu numbers that fit none of this configuration", n);
}
