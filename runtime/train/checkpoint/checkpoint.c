/* SPDX-License-Identifier: Apache-2.0
 * Training states as vectors of doubles, and back; counts are far below 2^53. */
#include "runtime/train/checkpoint/checkpoint.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"

/* training/counters */
enum counter { COUNT_START, COUNT_EPOCH, COUNT_STEP, COUNT_AT, COUNT_LOSS_SUM, COUNT_SECONDS, COUNT_BATCH, COUNT_OVER, COUNTERS };

#define RECORD "optimizer/record"
#define EVENTS "training/tape"
#define COUNT_MAX 9007199254740992.0      /* 2^53 */

static unsigned slots_of(const struct train_job *j)
{
	return optimizer_slots(j->optimizer, j->option);
}

/* ---- writing ---- */

struct writer {
	const struct train_job *job;
	struct weights_vector *vector; size_t n, cap;
	double **own; size_t nown, cap_own;      /* vectors that are not borrowed from the state */
	struct buf name;
};

static void add(struct writer *w, const char *prefix, const char *name, const double *value, size_t n)
{
	if (!value)
		return;
	mem_reserve(w->vector, w->n, w->cap);
	buf_clear(&w->name);
	buf_printf(&w->name, "%s%s", prefix, name);
	w->vector[w->n++] = (struct weights_vector){ mem_strdup(w->name.data), value, n };
}

static void add_slots(struct writer *w, const char *prefix, double *const *slot)
{
	const struct train_job *j = w->job;
	buf_auto name = BUF_INIT;

	for (unsigned k = 0; k < slots_of(j); k++) {
		buf_clear(&name);
		buf_printf(&name, "optimizer/%s", j->optimizer->slot_name[k]);
		add(w, prefix, name.data, slot[k], j->program->nweight);
	}
}

/* Memory for n numbers that lives as long as the image. */
static double *list(struct writer *w, size_t n)
{
	mem_reserve(w->own, w->nown, w->cap_own);
	return w->own[w->nown++] = mem_alloc(n ? n : 1, sizeof **w->own);
}

static void add_callbacks(struct writer *w, const char *prefix, const struct restart_state *s)
{
	const double *state = s->callback_list, *best = s->callback_best;
	double *now;
	size_t n = s->ncallback;

	if (s->callbacks) {
		n = callbacks_state(s->callbacks, NULL, 0);
		state = now = list(w, n);
		callbacks_state(s->callbacks, now, n);
		best = callbacks_best((struct callbacks *)s->callbacks);
	}
	add(w, prefix, "callbacks/state", state, n);
	add(w, prefix, "callbacks/best", best, w->job->program->nweight);
}

static void add_start(struct writer *w, const char *prefix, const struct restart_state *s)
{
	const struct program *p = w->job->program;
	double *c = list(w, COUNTERS);

	c[COUNT_START] = s->restart;
	c[COUNT_EPOCH] = s->epoch;
	c[COUNT_STEP] = (double)s->step;
	c[COUNT_AT] = s->at;
	c[COUNT_LOSS_SUM] = s->loss_sum;
	c[COUNT_SECONDS] = s->seconds;
	c[COUNT_BATCH] = s->nbatch;
	c[COUNT_OVER] = s->over;
	add(w, prefix, "training/counters", c, COUNTERS);
	add_slots(w, prefix, (double *const *)s->slot);
	add(w, prefix, RECORD, s->nrecord ? s->record : NULL, s->nrecord);
	add(w, prefix, "training/outputs", s->output, (size_t)s->at * p->noutput);
	add(w, prefix, "training/gradient", s->gradient, p->nweight);
	add(w, prefix, "training/readouts", s->readout, (size_t)s->nbatch * p->nreadout);
	add(w, prefix, EVENTS, s->events.n ? s->events.value : NULL, s->events.n);
	add_callbacks(w, prefix, s);
}

/* The last epoch of a restart that has ended. */
static void add_result(struct writer *w, const char *prefix, const struct epoch_record *last)
{
	unsigned nvalue = train_values(w->job);
	double *r = list(w, epoch_record_size(nvalue));

	epoch_record_pack(last, nvalue, r);
	add(w, prefix, "result", r, epoch_record_size(nvalue));
}

static void add_best(struct writer *w, const struct train_state *s)
{
	const struct train_result *b = s->best;

	if (!s->ndone)
		return;
	add(w, "", "training/start_losses", s->restart_loss, s->ndone);
	add(w, "", "training/start_ends", (const double *)s->end, (size_t)s->ndone * RESTART_END_NUMBERS);
	add_result(w, "best/", &b->last);
	add(w, "best/", "weights", b->weight, w->job->program->nweight);
	add_slots(w, "best/", b->slot);
}

static void add_ended(struct writer *w, const char *prefix, const struct restart_state *s)
{
	double *end = list(w, RESTART_END_NUMBERS);

	memcpy(end, &s->end, sizeof s->end);
	add_result(w, prefix, s->last);
	add(w, prefix, "end", end, RESTART_END_NUMBERS);
	add_slots(w, prefix, (double *const *)s->slot);
	add(w, prefix, EVENTS, s->events.n ? s->events.value : NULL, s->events.n);
}

/* Concurrent restarts behind the first. */
static void add_others(struct writer *w, const struct train_state *s)
{
	mem_auto struct restart_state *other = mem_alloc(STATE_RESTARTS_MAX, sizeof *other);
	uint32_t n = s->others ? s->others(s->other_context, other) : 0;
	char prefix[64];

	for (uint32_t k = 0; k < n; k++) {
		snprintf(prefix, sizeof prefix, "starts/%u/", other[k].restart + 1);
		add(w, prefix, "weights", other[k].weight, w->job->program->nweight);
		if (other[k].last)
			add_ended(w, prefix, &other[k]);
		else
			add_start(w, prefix, &other[k]);
	}
}

int checkpoint_image(const struct train_job *j, const struct train_state *s, const struct weights_vector *own,
	unsigned nown, const struct metadata *meta, unsigned nmeta, struct checkpoint_image *out)
{
	struct writer w = { .job = j };

	add_start(&w, "", &s->running[0]);
	add_others(&w, s);
	add_best(&w, s);
	for (unsigned k = 0; k < nown; k++)
		add(&w, "", own[k].name, own[k].value, own[k].n);
	int code = weights_image(j->program, s->running[0].weight, w.vector, (unsigned)w.n, meta,
		nmeta, &out->weights);
	for (size_t k = 0; k < w.n; k++)
		free((char *)w.vector[k].name);
	free(w.vector);
	buf_release(&w.name);
	out->own = w.own;
	out->nown = w.nown;
	return code;
}

void checkpoint_image_release(struct checkpoint_image *m)
{
	weights_image_release(&m->weights);
	for (size_t k = 0; k < m->nown; k++)
		free(m->own[k]);
	free(m->own);
}

/* ---- reading ---- */

struct reader { const struct train_job *job; const struct weights *weights; const char *prefix; struct err *e; };

static int bad(const struct reader *r, const char *name, const char *what)
{
	return err_set(r->e, -ERR_BAD_DATA, "%s: %s", name, what);
}

static const struct weights_vector *find(const struct reader *r, const char *name)
{
	buf_auto whole = BUF_INIT;

	buf_printf(&whole, "%s%s", r->prefix, name);
	return weights_vector(r->weights, whole.data);
}

/* The vector of that name, of n numbers. */
static int get(const struct reader *r, const char *name, size_t n, const double **out)
{
	const struct weights_vector *v = find(r, name);

	if (!v || v->n != n)
		return err_set(r->e, -ERR_BAD_DATA, "%s%s: %sexpected %zu numbers", r->prefix, name, v ? "" : "missing, ", n);
	*out = v->value;
	return 0;
}

static bool is_count(double v) { return v >= 0 && v <= COUNT_MAX && v == floor(v); }

static int get_slots(const struct reader *r, const double **slot)
{
	buf_auto name = BUF_INIT;
	int code = 0;

	for (unsigned k = 0; !code && k < slots_of(r->job); k++) {
		buf_clear(&name);
		buf_printf(&name, "optimizer/%s", r->job->optimizer->slot_name[k]);
		code = get(r, name.data, r->job->program->nweight, &slot[k]);
	}
	return code;
}

static int read_counters(const struct reader *r, struct restart_state *s)
{
	const double *c = NULL;
	int code = get(r, "training/counters", COUNTERS, &c);

	if (code)
		return code;
	for (unsigned k = 0; k < COUNTERS; k++)
		if (k != COUNT_LOSS_SUM && k != COUNT_SECONDS && (!is_count(c[k]) || (k != COUNT_STEP && c[k] > UINT32_MAX)))
			return bad(r, "training/counters", "an entry is no count");
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

static int read_callbacks(const struct reader *r, struct restart_state *s)
{
	const struct weights_vector *list = find(r, "callbacks/state");

	if (!list)
		return bad(r, "callbacks/state", "missing");
	s->callback_list = list->value;
	s->ncallback = list->n;
	return find(r, "callbacks/best")
		? get(r, "callbacks/best", r->job->program->nweight, &s->callback_best) : 0;
}

static int read_events(const struct reader *r, struct restart_state *s)
{
	const struct weights_vector *v = find(r, EVENTS);

	s->events = (struct event_queue){
		.job = r->job, .value = v ? (double *)v->value : NULL, .n = v ? v->n : 0
	};
	return event_queue_is_whole(&s->events) ? 0 : bad(r, EVENTS, "a malformed message");
}

static int read_start(const struct reader *r, struct restart_state *s)
{
	const struct weights_vector *record = find(r, RECORD);
	const struct program *p = r->job->program;
	int code = read_counters(r, s);

	s->weight = r->weights->weight;
	if (!code)
		code = read_events(r, s);
	if (!code && *r->prefix)
		code = get(r, "weights", p->nweight, &s->weight);
	s->record = record ? record->value : NULL;
	s->nrecord = record ? record->n : 0;
	if (!code)
		code = get_slots(r, s->slot);
	if (!code && r->job->measures.nmetric)
		code = get(r, "training/outputs", (size_t)s->at * p->noutput, &s->output);
	if (!code && s->nbatch)
		code = get(r, "training/gradient", p->nweight, &s->gradient);
	if (!code && s->nbatch)
		code = get(r, "training/readouts", (size_t)s->nbatch * p->nreadout, &s->readout);
	return code ? code : read_callbacks(r, s);
}

static int read_result(const struct reader *r, struct epoch_record *last)
{
	const double *v = NULL;
	unsigned nvalue = train_values(r->job);
	int code = get(r, "result", epoch_record_size(nvalue), &v);

	if (code)
		return code;
	*last = (struct epoch_record){ .loss = 0 };
	return epoch_record_unpack(last, nvalue, v) ? 0 : bad(r, "result", "an entry is no count");
}

/* A restart that has ended; its last epoch is the caller's. */
static int read_ended(const struct reader *r, struct restart_state *s, struct epoch_record *last)
{
	const double *end = NULL;
	int code = read_result(r, last);

	if (!code)
		code = get(r, "end", RESTART_END_NUMBERS, &end);
	if (!code)
		code = get(r, "weights", r->job->program->nweight, &s->weight);
	if (!code)
		code = get_slots(r, s->slot);
	if (code)
		return code;
	s->restart = last->restart;
	s->last = last;
	memcpy(&s->end, end, sizeof s->end);
	return read_events(r, s);
}

static int read_best(const struct reader *r, struct checkpoint *c)
{
	const struct weights_vector *losses = weights_vector(r->weights, "training/start_losses");
	const double *weight = NULL, *ends = NULL, *slot[OPTIMIZER_SLOTS_MAX];
	struct reader best = *r;

	if (!losses)
		return 0;
	if (!losses->n || losses->n >= r->job->restarts)
		return bad(r, "training/start_losses", "not as many as restarts can have ended");
	c->state.ndone = (uint32_t)losses->n;
	c->state.restart_loss = losses->value;
	c->state.best = &c->best;
	int code = get(r, "training/start_ends", losses->n * RESTART_END_NUMBERS, &ends);
	if (code)
		return code;
	c->state.end = (const struct restart_end *)ends;
	best.prefix = "best/";
	code = read_result(&best, &c->best.last);
	if (!code)
		code = get(&best, "weights", r->job->program->nweight, &weight);
	if (!code)
		code = get_slots(&best, slot);
	if (code)
		return code;
	c->best.winner = c->best.last.restart;
	c->best.step = c->best.last.step;
	c->best.weight = (double *)weight;
	for (unsigned k = 0; k < slots_of(r->job); k++)
		c->best.slot[k] = (double *)slot[k];
	return 0;
}

/* Concurrent restarts behind the first, in the order of their numbers. */
static int read_others(const struct reader *r, struct checkpoint *c)
{
	char prefix[64];
	struct reader other = *r;
	int code = 0;

	other.prefix = prefix;
	for (uint32_t i = c->running[0].restart + 1; !code && i < r->job->restarts; i++) {
		snprintf(prefix, sizeof prefix, "starts/%u/", i + 1);
		bool ended = find(&other, "result") != NULL;
		if (!ended && !find(&other, "training/counters"))
			continue;
		uint32_t n = c->state.nrunning;
		if (n == STATE_RESTARTS_MAX)
			return bad(r, prefix, "one restart too many");
		code = ended ? read_ended(&other, &c->running[n], &c->last[n])
			     : read_start(&other, &c->running[n]);
		if (!code && c->running[c->state.nrunning++].restart != i)
			code = bad(r, prefix, "another restart");
	}
	return code;
}

int checkpoint_read(const struct train_job *j, const struct weights *w, struct checkpoint *c, struct err *e)
{
	const struct reader r = { j, w, "", e };

	memset(&c->state, 0, sizeof c->state);
	memset(&c->best, 0, sizeof c->best);
	memset(c->running, 0, sizeof c->running);
	c->last = mem_try(j->restarts < STATE_RESTARTS_MAX ? j->restarts : STATE_RESTARTS_MAX, sizeof *c->last);
	if (!c->last)
		return err_set(e, -ERR_CONFIG, "no memory for the results of %u restarts",
			j->restarts);
	if (w->program->nweight != j->program->nweight)
		return err_set(e, -ERR_BAD_DATA, "%u weights, the model has %u", w->program->nweight, j->program->nweight);
	c->state.nrunning = 1;
	c->state.running = c->running;
	int code = read_start(&r, c->running);
	if (!code)
		code = read_others(&r, c);
	if (!code)
		code = read_best(&r, c);
	return code ? code : train_state_check(j, &c->state, e);
}

void checkpoint_release(struct checkpoint *c)
{
	free(c->last);
	c->last = NULL;
}
