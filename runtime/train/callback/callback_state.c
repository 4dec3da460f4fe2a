/* SPDX-License-Identifier: Apache-2.0
 * The state of callbacks as a flat list of doubles, and back; one walk over the fields writes and reads. */
#include "runtime/train/callback/callback_parts.h"

enum { STATE_VERSION = 1, BYTES_A_NUMBER = 6 };

/* A cursor over the list: it counts, and with out or in, writes or reads up to max numbers. */
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

static void field(struct walk *w, struct epoch_record *r, enum epoch_field which)
{
	double v = epoch_record_get(r, which);

	number(w, &v);
	if (w->in && !w->bad)
		w->bad = !epoch_record_set(r, which, v);
}

/* The record of an epoch but for its times. */
static void record(struct walk *w, const struct callbacks *c, struct epoch_record *r)
{
	static const enum epoch_field kept[] = { EPOCH_FIELD_epoch, EPOCH_FIELD_step, EPOCH_FIELD_loss, EPOCH_FIELD_learning_rate,
		EPOCH_FIELD_has_validation, EPOCH_FIELD_val_loss };

	r->restart = c->restart;
	for (unsigned k = 0; k < sizeof kept / sizeof *kept; k++)
		field(w, r, kept[k]);
	for (unsigned k = 0; k < c->nvalue; k++) {
		number(w, &r->metric[k]);
		number(w, &r->val_metric[k]);
	}
}

static void stopping(struct walk *w, struct callbacks *c, struct callback_part *p)
{
	struct stopping *s = &p->stop;

	number(w, &s->best);
	number(w, &s->wait);
	count32(w, &s->best_epoch);
	count32(w, &s->stopped);
	flag(w, &s->has_best);
	count32(w, &c->restored);
	if (p == c->restorer)
		record(w, c, &c->best_record);
}

static void plateau(struct walk *w, struct callbacks *c, struct callback_part *p)
{
	double rate = callback_rate(c);

	number(w, &rate);
	if (w->in && !w->bad)
		c->rate->replaced = rate;
	number(w, &p->plateau.best);
	number(w, &p->plateau.wait);
	number(w, &p->plateau.cooldown);
}

/* A path by the 52 high bits of its FNV-1a digest: files of another path are not those of this state. */
static void same_path(struct walk *w, const char *path)
{
	uint64_t digest = 14695981039346656037u, kept;

	while (*path)
		digest = (digest ^ (unsigned char)*path++) * 1099511628211u;
	kept = digest >> 12;
	count(w, &kept, 9e15);
	if (kept != digest >> 12)
		w->bad = true;
}

static void saving(struct walk *w, struct callbacks *c, struct callback_part *p)
{
	struct saving *s = &p->save;
	uint64_t n = s->nsaved;

	same_path(w, p->choice->text[SAVE_PATH]);
	number(w, &s->best);
	count(w, &s->since, 9e15);
	count(w, &n, s->saved ? CALLBACK_KEEP_MAX : 0);
	s->nsaved = w->bad ? 0 : (uint32_t)n;
	for (uint32_t i = 0; i < s->nsaved; i++) {
		count32(w, &s->saved[i].epoch);
		count32(w, &s->saved[i].batch);
		record(w, c, &s->saved[i].record);
	}
}

/* Six bytes of a text as a number. */
static uint64_t six_bytes(const struct buf *b, uint64_t at)
{
	uint64_t bits = 0;

	for (unsigned k = 0; k < BYTES_A_NUMBER && at + k < b->len; k++)
		bits |= (uint64_t)(uint8_t)b->data[at + k] << 8 * k;
	return bits;
}

/* Text at the end of a section: nothing for an empty one, else its length and six bytes a number. What is read
 * replaces *b when all is well. */
static void text(struct walk *w, struct buf *b, uint64_t most)
{
	struct buf in = BUF_INIT;
	uint64_t n = b->len, bits;

	if (w->in ? w->bad || w->n >= w->max : !n)
		return;
	count(w, &n, (double)most);
	w->bad |= w->in && !w->bad && w->max - w->n != (n + BYTES_A_NUMBER - 1) / BYTES_A_NUMBER;
	for (uint64_t i = 0; i < n && !w->bad; i += BYTES_A_NUMBER) {
		bits = w->in ? 0 : six_bytes(b, i);
		count(w, &bits, 0x1p48 - 1);
		for (unsigned k = 0; w->in && k < BYTES_A_NUMBER && i + k < n; k++)
			buf_char(&in, (int)(bits >> 8 * k & 255));
	}
	if (w->in && !w->bad) {
		buf_release(b);
		*b = in;
	} else {
		buf_release(&in);
	}
}

static void csv_file(struct walk *w, struct callbacks *c, struct callback_part *p)
{
	(void)c;
	same_path(w, p->choice->text[CSV_PATH]);
	flag(w, &p->csv.begun);
	count(w, &p->csv.nbyte, 9e15);
	text(w, &p->csv.waiting, 2 * CSV_WAITING_MAX);
}

static void (*const sections[CALLBACK_COUNT])(struct walk *w, struct callbacks *c, struct callback_part *p) = {
	[CALLBACK_early_stopping] = stopping,
	[CALLBACK_reduce_lr_on_plateau] = plateau,
	[CALLBACK_checkpoint] = saving,
	[CALLBACK_csv] = csv_file,
};

/* ---- writing: version, epochs, then sections of callback, length, numbers ---- */

static void write_part(struct walk *w, struct callbacks *c, struct callback_part *p)
{
	struct walk size = { .out = NULL };
	uint64_t id = p->choice->id, len;

	sections[id](&size, c, p);
	len = size.n;
	count(w, &id, 0);
	count(w, &len, 0);
	sections[id](w, c, p);
}

static void write_all(struct walk *w, struct callbacks *c)
{
	uint64_t version = STATE_VERSION;

	count(w, &version, 0);
	count32(w, &c->epochs);
	for (unsigned i = 0; i < c->npart; i++)
		write_part(w, c, &c->part[i]);
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

static bool changes_result(unsigned id)
{
	const struct callback_row *row;

	callback_rows(&row);
	return row[id].changes_result;
}

/* Is the section that of the part?  If not, nothing is changed. */
static bool read_part(const struct walk *w, struct callbacks *c, struct callback_part *p, size_t len)
{
	struct walk part = { .in = w->in + w->n, .max = len };
	const struct callback_part before = *p;
	const struct epoch_record best = c->best_record;
	const uint32_t restored = c->restored;
	const struct learning_rate rate = *c->rate;

	sections[p->choice->id](&part, c, p);
	if (!part.bad && part.n == len)
		return true;
	*p = before;
	c->best_record = best;
	c->restored = restored;
	*c->rate = rate;
	return false;
}

/* The first part of the kind that none was read for; of those that change no result the first that it
 * fits, and where it fits none, or is there without need, that costs the run nothing. */
static void read_section(struct walk *w, struct callbacks *c, unsigned id, size_t len, bool seen[CALLBACKS_MAX])
{
	bool fits = false;

	for (unsigned i = 0; !fits && i < c->npart; i++) {
		if (c->part[i].choice->id != id || seen[i])
			continue;
		fits = seen[i] = read_part(w, c, &c->part[i], len);
		if (changes_result(id))
			break;
	}
	w->bad |= !fits && changes_result(id);
	w->n += len;
}

static void read_all(struct walk *w, struct callbacks *c)
{
	bool seen[CALLBACKS_MAX] = { false };
	uint64_t version = 0, id = 0, len = 0;

	count(w, &version, STATE_VERSION);
	count32(w, &c->epochs);
	while (!w->bad && version == STATE_VERSION && w->n < w->max) {
		count(w, &id, CALLBACK_COUNT - 1);
		count(w, &len, 9e15);
		if (w->bad || !sections[id] || len > w->max - w->n)
			w->bad = true;
		else
			read_section(w, c, (unsigned)id, (size_t)len, seen);
	}
	for (unsigned i = 0; i < c->npart; i++)
		w->bad |= changes_result(c->part[i].choice->id) && !seen[i];
	w->bad |= version != STATE_VERSION;
}

int callbacks_restore(struct callbacks *c, uint32_t restart, const double *in, size_t n, struct err *e)
{
	struct walk w = { .in = in, .max = n };

	callbacks_begin(c, restart);
	read_all(&w, c);
	if (!w.bad)
		return 0;
	callbacks_begin(c, restart);
	return err_set(e, -ERR_BAD_DATA, "the callbacks' state has %zu numbers that fit none of this configuration", n);
}
