/* SPDX-License-Identifier: Apache-2.0
 * Training states as vectors of doubles, and back; counts are far below 2^53. */
#include "runtime/train/checkpoint/checkpoint.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/train/checkpoint/end_states.h"

/* training/counters */
enum counter { COUNT_START, COUNT_EPOCH, COUNT_STEP, COUNT_AT, COUNT_LOSS_SUM, COUNT_SECONDS, COUNT_BATCH, COUNT_OVER, COUNTERS };

#define COUNT_MAX 9007199254740992.0      /* 2^53 */

/* One walk over the vectors of a state writes and reads them. */
struct walk {
	const struct train_job *job;
	const struct weights *file; /* reading; NULL: writing */
	const char *prefix;         /* of the vectors' names */
	struct err *e;
	/* Writing: the image's memory, and in it the vectors so far, their names, and what is not borrowed from the state. */
	struct arena *memory;
	struct weights_vector *vector;
	size_t n;
};

static int bad(const struct walk *w, const char *name, const char *what)
{
	return err_set(w->e, -ERR_BAD_DATA, "%s: %s", name, what);
}

static const struct weights_vector *find(const struct walk *w, const char *name)
{
	buf_auto whole = BUF_INIT;

	buf_printf(&whole, "%s%s", w->prefix, name);
	return weights_vector(w->file, whole.data);
}

/* n numbers of that name: written, unless *v is NULL, or read. */
static int vector(struct walk *w, const char *name, size_t n, const double **v)
{
	const struct weights_vector *found = w->file ? find(w, name) : NULL;

	if (w->file && (!found || found->n != n))
		return err_set(w->e, -ERR_BAD_DATA, "%s%s: %sexpected %zu numbers", w->prefix, name,
			found ? "" : "missing, ", n);
	if (w->file)
		*v = found->value;
	else if (*v)
		*arena_push(w->memory, w->vector, w->n) =
			(struct weights_vector){ arena_printf(w->memory, "%s%s", w->prefix, name),
				*v, n };
	return 0;
}

/* Any number of them, which may be missing. */
static int vector_if_any(struct walk *w, const char *name, size_t *n, const double **v)
{
	const struct weights_vector *found = w->file ? find(w, name) : NULL;

	if (w->file)
		*n = found ? found->n : 0;
	return w->file && !found ? 0 : vector(w, name, *n, v);
}

/* Memory for n numbers that lives as long as the image. */
static double *list(struct walk *w, size_t n) { return arena_alloc(w->memory, n, sizeof(double)); }

static int slots(struct walk *w, const double **slot)
{
	const struct train_job *j = w->job;
	int code = 0;

	for (unsigned k = 0; !code && k < optimizer_slots(j->optimizer, j->option); k++) {
		buf_auto name = BUF_INIT;

		buf_printf(&name, "optimizer/%s", j->optimizer->slot_name[k]);
		code = vector(w, name.data, j->program->nweight, &slot[k]);
	}
	return code;
}

static bool is_count(double v) { return v >= 0 && v <= COUNT_MAX && v == floor(v); }

static const double *pack_counters(struct walk *w, const struct restart_state *s)
{
	double *c = list(w, COUNTERS);

	c[COUNT_START] = s->restart;
	c[COUNT_EPOCH] = s->epoch;
	c[COUNT_STEP] = (double)s->step;
	c[COUNT_AT] = s->at;
	c[COUNT_LOSS_SUM] = s->loss_sum;
	c[COUNT_SECONDS] = s->seconds;
	c[COUNT_BATCH] = s->nbatch;
	c[COUNT_OVER] = s->over;
	return c;
}

static int counters(struct walk *w, struct restart_state *s)
{
	const double *c = w->file ? NULL : pack_counters(w, s);
	int code = vector(w, "training/counters", COUNTERS, &c);

	if (code || !w->file)
		return code;
	for (unsigned k = 0; k < COUNTERS; k++)
		if (k != COUNT_LOSS_SUM && k != COUNT_SECONDS && (!is_count(c[k]) || (k != COUNT_STEP && c[k] > UINT32_MAX)))
			return bad(w, "training/counters", "an entry is no count");
	s->restart = (uint32_t)c[COUNT_START];
	s->epoch = (uint32_t)c[COUNT_EPOCH];
	s->step = (uint64_t)c[COUNT_STEP];
	s->at = (uint32_t)c[COUNT_AT];
	s->loss_sum = c[COUNT_LOSS_SUM];
	s->seconds = c[COUNT_SECONDS];
	s->nbatch = (uint32_t)c[COUNT_BATCH];
	s->over = c[COUNT_OVER] != 0;
	return 0;
}

static int events(struct walk *w, struct event_queue *q)
{
	const double *v = q->n ? q->value : NULL;
	int code = vector_if_any(w, "training/tape", &q->n, &v);

	if (code || !w->file)
		return code;
	*q = (struct event_queue){ .job = w->job, .value = (double *)v, .n = q->n };
	return event_queue_is_whole(q) ? 0 : bad(w, "training/tape", "a malformed message");
}

static int callbacks(struct walk *w, struct restart_state *s)
{
	size_t nbest = w->job->program->nweight;

	if (s->callbacks) {
		double *now = list(w, s->ncallback = callbacks_state(s->callbacks, NULL, 0));

		callbacks_state(s->callbacks, now, s->ncallback);
		s->callback_list = now;
		s->callback_best = callbacks_best((struct callbacks *)s->callbacks);
	}
	int code = vector_if_any(w, "callbacks/state", &s->ncallback, &s->callback_list);
	if (!code && w->file && !s->callback_list)
		code = bad(w, "callbacks/state", "missing");
	return code || (w->file && !find(w, "callbacks/best"))
		? code
		: vector(w, "callbacks/best", nbest, &s->callback_best);
}

/* The record of an epoch. */
static int record(struct walk *w, const char *name, struct epoch_record *last)
{
	unsigned nvalue = train_values(w->job);
	size_t n = epoch_record_size(nvalue);
	double *packed = w->file ? NULL : list(w, n);
	const double *v = packed;

	if (packed)
		epoch_record_pack(last, nvalue, packed);
	int code = vector(w, name, n, &v);
	if (code || packed)
		return code;
	*last = (struct epoch_record){ .loss = 0 };
	return epoch_record_unpack(last, nvalue, v) ? 0 : bad(w, name, "an entry is no count");
}

static int after(struct walk *w, struct restart_state *s, struct epoch_record *own)
{
	static const char name[] = "training/last_epoch";

	if (w->file && find(w, name))
		s->after = own;
	return s->after ? record(w, name, w->file ? own : (struct epoch_record *)s->after) : 0;
}

/* A restart that runs; when writing the caller's copy. own: memory for what is read of its last epoch. */
static int running(struct walk *w, struct restart_state *s, struct epoch_record *own)
{
	const struct program *p = w->job->program;
	int code = *w->prefix ? vector(w, "weights", p->nweight, &s->weight) : 0;

	if (w->file && !*w->prefix)
		s->weight = w->file->weight;
	if (!s->nrecord)
		s->record = NULL;
	if (!code)
		code = counters(w, s);
	if (!code)
		code = slots(w, s->slot);
	if (!code)
		code = vector_if_any(w, "optimizer/record", &s->nrecord, &s->record);
	if (!code && w->job->measures.nmetric)
		code = vector(w, "training/outputs", (size_t)s->at * p->noutput, &s->output);
	if (!code && s->nbatch)
		code = vector(w, "training/gradient", p->nweight, &s->gradient);
	if (!code && s->nbatch)
		code = vector(w, "training/readouts", (size_t)s->nbatch * p->nreadout, &s->readout);
	if (!code)
		code = events(w, &s->events);
	if (!code)
		code = after(w, s, own);
	return code ? code : callbacks(w, s);
}

/* A restart that has ended; its last epoch is the caller's. */
static int ended(struct walk *w, struct restart_state *s, struct epoch_record *last)
{
	double *packed = w->file ? NULL : list(w, RESTART_END_NUMBERS);
	const double *end = packed;

	if (packed)
		memcpy(packed, &s->end, sizeof s->end);
	int code = vector(w, "weights", w->job->program->nweight, &s->weight);

	if (!code)
		code = record(w, "result", last);
	if (!code)
		code = vector(w, "end", RESTART_END_NUMBERS, &end);
	if (!code)
		code = slots(w, s->slot);
	if (code)
		return code;
	s->restart = last->restart;
	s->last = last;
	memcpy(&s->end, end, sizeof s->end);
	return events(w, &s->events);
}

/* Those that have ended and were reported: the losses and ends of all, and the best of them, which writing leaves as it is. */
static int reported(struct walk *w, struct train_state *s, struct train_result *b)
{
	size_t n = s->ndone, nweight = w->job->program->nweight;
	const double *ends = (const double *)s->end, *weight, *slot[OPTIMIZER_SLOTS_MAX];

	if (w->file ? !find(w, "training/start_losses") : !n)
		return 0;
	weight = b->weight;
	memcpy(slot, b->slot, sizeof slot);
	int code = vector_if_any(w, "training/start_losses", &n, &s->restart_loss);
	if (!n || n >= w->job->restarts)
		return bad(w, "training/start_losses", "not as many as restarts can have ended");
	if (!code)
		code = vector(w, "training/start_ends", n * RESTART_END_NUMBERS, &ends);
	w->prefix = "best/";
	if (!code)
		code = record(w, "result", &b->last);
	if (!code)
		code = vector(w, "weights", nweight, &weight);
	if (!code)
		code = slots(w, slot);
	w->prefix = "";
	if (code || !w->file)
		return code;
	s->ndone = (uint32_t)n;
	s->end = (const struct restart_end *)ends;
	s->best = b;
	b->winner = b->last.restart;
	b->step = b->last.step;
	b->weight = (double *)weight;
	memcpy(b->slot, slot, sizeof slot);
	return 0;
}

/* ---- writing ---- */

/* Concurrent restarts behind the first. */
static void write_others(struct walk *w, const struct train_state *s)
{
	mem_auto struct restart_state *other = mem_alloc(STATE_RESTARTS_MAX, sizeof *other);
	uint32_t n = s->others ? s->others(s->other_context, other) : 0;
	char prefix[64];

	for (uint32_t k = 0; k < n; k++) {
		snprintf(prefix, sizeof prefix, "starts/%u/", other[k].restart + 1);
		w->prefix = prefix;
		if (other[k].last)
			ended(w, &other[k], (struct epoch_record *)other[k].last);
		else
			running(w, &other[k], NULL);
	}
	w->prefix = "";
}

/* Those after the last epochs of restarts. */
static void write_ends(struct walk *w, const struct end_states *ends)
{
	char prefix[64];

	for (uint32_t i = 0; i < w->job->restarts && i < STATE_RESTARTS_MAX; i++) {
		const struct restart_state *at = end_states_of(ends, i);

		if (!at)
			continue;
		struct restart_state copy = *at;
		snprintf(prefix, sizeof prefix, "ends/%u/", i + 1);
		w->prefix = prefix;
		running(w, &copy, NULL);
	}
	w->prefix = "";
}

int checkpoint_image(const struct train_job *j, const struct train_state *s,
	const struct weights_vector *own, unsigned nown, const struct metadata *meta,
	unsigned nmeta, struct checkpoint_image *out)
{
	struct walk w = { .job = j, .prefix = "", .memory = &out->memory };
	struct restart_state first = s->running[0];
	struct train_state all = *s;

	arena_init(&out->memory);
	running(&w, &first, NULL);
	write_others(&w, s);
	write_ends(&w, s->ends);
	reported(&w, &all, (struct train_result *)s->best);
	for (unsigned k = 0; k < nown; k++)
		vector(&w, own[k].name, own[k].n, (const double **)&own[k].value);
	return weights_image(j->program, s->running[0].weight, w.vector, (unsigned)w.n, meta, nmeta,
		&out->weights);
}

void checkpoint_image_release(struct checkpoint_image *m)
{
	weights_image_release(&m->weights);
	arena_release(&m->memory);
}

/* ---- reading ---- */

/* Concurrent restarts behind the first, in the order of their numbers. */
static int read_others(struct walk *w, struct checkpoint *c)
{
	char prefix[64];
	int code = 0;

	w->prefix = prefix;
	for (uint32_t i = c->running[0].restart + 1; !code && i < w->job->restarts; i++) {
		snprintf(prefix, sizeof prefix, "starts/%u/", i + 1);
		bool has_ended = find(w, "result") != NULL;
		if (!has_ended && !find(w, "training/counters"))
			continue;
		uint32_t n = c->state.nrunning;
		if (n == STATE_RESTARTS_MAX)
			return bad(w, prefix, "one restart too many");
		code = has_ended ? ended(w, &c->running[n], &c->last[n])
				 : running(w, &c->running[n], &c->last[n]);
		if (!code && c->running[c->state.nrunning++].restart != i)
			code = bad(w, prefix, "another restart");
	}
	w->prefix = "";
	return code;
}

static int read_ends(struct walk *w, struct end_states *ends)
{
	char prefix[64];
	int code = 0;

	w->prefix = prefix;
	for (uint32_t i = 0; !code && i < w->job->restarts && i < STATE_RESTARTS_MAX; i++) {
		struct restart_state at = { .restart = 0 };
		struct epoch_record last;

		snprintf(prefix, sizeof prefix, "ends/%u/", i + 1);
		if (!find(w, "training/counters"))
			continue;
		code = running(w, &at, &last);
		if (!code && (at.restart != i || at.at))
			code = bad(w, prefix, "another restart");
		if (!code)
			end_states_add(ends, &at);
	}
	w->prefix = "";
	return code;
}

int checkpoint_read(const struct train_job *j, const struct weights *w, struct checkpoint *c, struct err *e)
{
	struct walk walk = { .job = j, .file = w, .prefix = "", .e = e };

	memset(&c->state, 0, sizeof c->state);
	memset(&c->best, 0, sizeof c->best);
	memset(c->running, 0, sizeof c->running);
	c->ends = end_states_new(j);
	c->last = mem_try(j->restarts < STATE_RESTARTS_MAX ? j->restarts : STATE_RESTARTS_MAX, sizeof *c->last);
	if (!c->last)
		return err_set(e, -ERR_CONFIG, "no memory for the results of %u restarts",
			j->restarts);
	if (w->program->nweight != j->program->nweight)
		return err_set(e, -ERR_BAD_DATA, "%u weights, the model has %u", w->program->nweight, j->program->nweight);
	c->state.nrunning = 1;
	c->state.running = c->running;
	int code = running(&walk, c->running, c->last);
	if (!code)
		code = read_others(&walk, c);
	if (!code)
		code = read_ends(&walk, c->ends);
	if (!code)
		code = reported(&walk, &c->state, &c->best);
	return code ? code : train_state_check(j, &c->state, e);
}

void checkpoint_release(struct checkpoint *c)
{
	free(c->last);
	c->last = NULL;
	end_states_free(c->ends);
	c->ends = NULL;
}
