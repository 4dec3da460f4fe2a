/* SPDX-License-Identifier: Apache-2.0
 * States to vectors and back; numbers are doubles, counts are far below 2^53. */
#include "config.h"
#include "runtime/train/checkpoint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"

/* training/counters, and the fixed part of best/result, which the metrics follow. */
enum counter { COUNT_START, COUNT_EPOCH, COUNT_STEP, COUNT_AT, COUNT_LOSS_SUM, COUNT_SECONDS, COUNT_BATCH, COUNT_OVER, COUNTERS };
enum result { RESULT_WINNER, RESULT_EPOCH, RESULT_STEP, RESULT_LOSS, RESULT_HAS_VALIDATION, RESULT_VAL_LOSS,
	RESULT_LEARNING_RATE, RESULT_SECONDS, RESULT_SAMPLES_PER_SECOND, RESULTS };

#define RECORD "optimizer/record"
#define COUNT_MAX 9007199254740992.0      /* 2^53 */

static unsigned values_of(const struct train_job *j)
{
	return measures_at(&j->measures, j->measures.nmetric, j->program->noutput);
}

static unsigned slots_of(const struct train_job *j)
{
	return optimizer_slots(j->optimizer, j->option);
}

/* ---- writing ---- */

struct writer {
	const struct train_job *job;
	struct weights_vector *vector; size_t n, cap;
	double counter[COUNTERS], result[RESULTS + 2 * TRAIN_VALUES_MAX];
	double *callbacks;
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
	struct buf name = BUF_INIT;

	for (unsigned k = 0; k < slots_of(j); k++) {
		buf_clear(&name);
		buf_printf(&name, "optimizer/%s", j->optimizer->slot_name[k]);
		add(w, prefix, name.data, slot[k], j->program->nweight);
	}
	buf_release(&name);
}

static void add_callbacks(struct writer *w, const struct start_state *s)
{
	const double *list = s->callback_list, *best = s->callback_best;
	size_t n = s->ncallback;

	if (s->callbacks) {
		n = callbacks_state(s->callbacks, NULL, 0);
		list = w->callbacks = mem_alloc(n, sizeof *w->callbacks);
		callbacks_state(s->callbacks, w->callbacks, n);
		best = callbacks_best((struct callbacks *)s->callbacks);
	}
	add(w, "", "callbacks/state", list, n);
	add(w, "", "callbacks/best", best, w->job->program->nweight);
}

static void add_start(struct writer *w, const struct start_state *s)
{
	const struct program *p = w->job->program;
	double *c = w->counter;

	c[COUNT_START] = s->start;
	c[COUNT_EPOCH] = s->epoch;
	c[COUNT_STEP] = (double)s->step;
	c[COUNT_AT] = s->at;
	c[COUNT_LOSS_SUM] = s->loss_sum;
	c[COUNT_SECONDS] = s->seconds;
	c[COUNT_BATCH] = s->nbatch;
	c[COUNT_OVER] = s->over;
	add(w, "", "training/counters", c, COUNTERS);
	add_slots(w, "", (double *const *)s->slot);
	add(w, "", RECORD, s->nrecord ? s->record : NULL, s->nrecord);
	add(w, "", "training/outputs", s->output, (size_t)s->at * p->noutput);
	add(w, "", "training/gradient", s->gradient, p->nweight);
	add(w, "", "training/readouts", s->readout, (size_t)s->nbatch * p->nreadout);
	add_callbacks(w, s);
}

static void add_best(struct writer *w, const struct train_state *s)
{
	const struct train_result *b = s->best;
	double *r = w->result;
	unsigned n = values_of(w->job);

	if (!s->ndone)
		return;
	r[RESULT_WINNER] = b->winner;
	r[RESULT_EPOCH] = b->last.epoch;
	r[RESULT_STEP] = (double)b->step;
	r[RESULT_LOSS] = b->last.loss;
	r[RESULT_HAS_VALIDATION] = b->last.has_validation;
	r[RESULT_VAL_LOSS] = b->last.val_loss;
	r[RESULT_LEARNING_RATE] = b->last.learning_rate;
	r[RESULT_SECONDS] = b->last.seconds;
	r[RESULT_SAMPLES_PER_SECOND] = b->last.samples_per_second;
	memcpy(r + RESULTS, b->last.metric, n * sizeof *r);
	memcpy(r + RESULTS + n, b->last.val_metric, n * sizeof *r);
	add(w, "", "training/start_losses", s->start_loss, s->ndone);
	add(w, "", "training/start_ends", (const double *)s->end, (size_t)s->ndone * START_END_NUMBERS);
	add(w, "best/", "result", r, RESULTS + 2 * n);
	add(w, "best/", "weights", b->weight, w->job->program->nweight);
	add_slots(w, "best/", b->slot);
}

int checkpoint_format(const struct train_job *j, const struct train_state *s, const struct weights_vector *own,
	unsigned nown, const struct metadata *meta, unsigned nmeta, struct buf *out)
{
	struct writer w = { .job = j };
	int code;

	add_start(&w, &s->running[0]);
	add_best(&w, s);
	for (unsigned k = 0; k < nown; k++)
		add(&w, "", own[k].name, own[k].value, own[k].n);
	code = weights_format_more(j->program, s->running[0].weight, w.vector, (unsigned)w.n, meta, nmeta, out);
	for (size_t k = 0; k < w.n; k++)
		free((char *)w.vector[k].name);
	free(w.vector);
	free(w.callbacks);
	buf_release(&w.name);
	return code;
}

/* ---- reading ---- */

struct reader { const struct train_job *job; const struct weights *weights; struct err *e; };

static int bad(const struct reader *r, const char *name, const char *what)
{
	return err_set(r->e, -ERR_BAD_DATA, "%s: %s", name, what);
}

/* n numbers; missing ones are an error. */
static int get(const struct reader *r, const char *name, size_t n, const double **out)
{
	const struct weights_vector *v = weights_vector(r->weights, name);

	if (!v || v->n != n)
		return err_set(r->e, -ERR_BAD_DATA, "%s: %s%zu numbers are wanted", name, v ? "" : "missing, ", n);
	*out = v->value;
	return 0;
}

static bool is_count(double v)
{
	return v >= 0 && v <= COUNT_MAX && v == floor(v);
}

static int get_slots(const struct reader *r, const char *prefix, const double **slot)
{
	struct buf name = BUF_INIT;
	int code = 0;

	for (unsigned k = 0; !code && k < slots_of(r->job); k++) {
		buf_clear(&name);
		buf_printf(&name, "%soptimizer/%s", prefix, r->job->optimizer->slot_name[k]);
		code = get(r, name.data, r->job->program->nweight, &slot[k]);
	}
	buf_release(&name);
	return code;
}

static int read_counters(const struct reader *r, struct start_state *s)
{
	const double *c = NULL;
	int code = get(r, "training/counters", COUNTERS, &c);

	if (code)
		return code;
	for (unsigned k = 0; k < COUNTERS; k++)
		if (k != COUNT_LOSS_SUM && k != COUNT_SECONDS && (!is_count(c[k]) || (k != COUNT_STEP && c[k] > UINT32_MAX)))
			return bad(r, "training/counters", "an entry is no count");
	s->start = (uint32_t)c[COUNT_START];
	s->epoch = (uint32_t)c[COUNT_EPOCH];
	s->step = (uint64_t)c[COUNT_STEP];
	s->at = (uint32_t)c[COUNT_AT];
	s->loss_sum = c[COUNT_LOSS_SUM];
	s->seconds = c[COUNT_SECONDS];
	s->nbatch = (uint32_t)c[COUNT_BATCH];
	s->over = c[COUNT_OVER] != 0;
	return 0;
}

static int read_callbacks(const struct reader *r, struct start_state *s)
{
	const struct weights_vector *list = weights_vector(r->weights, "callbacks/state");

	if (!list)
		return bad(r, "callbacks/state", "missing");
	s->callback_list = list->value;
	s->ncallback = list->n;
	return weights_vector(r->weights, "callbacks/best")
		? get(r, "callbacks/best", r->job->program->nweight, &s->callback_best) : 0;
}

static int read_start(const struct reader *r, struct start_state *s)
{
	const struct weights_vector *record = weights_vector(r->weights, RECORD);
	const struct program *p = r->job->program;
	int code = read_counters(r, s);

	s->weight = r->weights->weight;
	s->record = record ? record->value : NULL;
	s->nrecord = record ? record->n : 0;
	if (!code)
		code = get_slots(r, "", s->slot);
	if (!code && r->job->measures.nmetric)
		code = get(r, "training/outputs", (size_t)s->at * p->noutput, &s->output);
	if (!code && s->nbatch)
		code = get(r, "training/gradient", p->nweight, &s->gradient);
	if (!code && s->nbatch)
		code = get(r, "training/readouts", (size_t)s->nbatch * p->nreadout, &s->readout);
	if (!code)
		code = read_callbacks(r, s);
	return code;
}

static int read_result(const struct reader *r, struct train_result *b)
{
	const double *v = NULL;
	unsigned n = values_of(r->job);
	int code = get(r, "best/result", RESULTS + 2 * (size_t)n, &v);

	if (code)
		return code;
	for (unsigned k = RESULT_WINNER; k <= RESULT_STEP; k++)
		if (!is_count(v[k]) || (k != RESULT_STEP && v[k] > UINT32_MAX))
			return bad(r, "best/result", "an entry is no count");
	b->winner = (uint32_t)v[RESULT_WINNER];
	b->step = (uint64_t)v[RESULT_STEP];
	b->last = (struct epoch_result){ .start = b->winner, .epoch = (uint32_t)v[RESULT_EPOCH], .step = b->step,
		.loss = v[RESULT_LOSS], .has_validation = v[RESULT_HAS_VALIDATION] != 0, .val_loss = v[RESULT_VAL_LOSS],
		.learning_rate = v[RESULT_LEARNING_RATE], .seconds = v[RESULT_SECONDS],
		.samples_per_second = v[RESULT_SAMPLES_PER_SECOND] };
	memcpy(b->last.metric, v + RESULTS, n * sizeof *v);
	memcpy(b->last.val_metric, v + RESULTS + n, n * sizeof *v);
	return 0;
}

static int read_best(const struct reader *r, struct checkpoint *c)
{
	const struct weights_vector *losses = weights_vector(r->weights, "training/start_losses");
	const double *weight = NULL, *ends = NULL, *slot[OPTIMIZER_SLOTS_MAX];
	int code;

	if (!losses)
		return 0;
	if (!losses->n || losses->n >= r->job->restarts)
		return bad(r, "training/start_losses", "not as many as starts can have ended");
	c->state.ndone = (uint32_t)losses->n;
	c->state.start_loss = losses->value;
	c->state.best = &c->best;
	code = get(r, "training/start_ends", losses->n * START_END_NUMBERS, &ends);
	if (code)
		return code;
	c->state.end = (const struct start_end *)ends;
	code = read_result(r, &c->best);
	if (!code)
		code = get(r, "best/weights", r->job->program->nweight, &weight);
	if (!code)
		code = get_slots(r, "best/", slot);
	if (code)
		return code;
	c->best.weight = (double *)weight;
	for (unsigned k = 0; k < slots_of(r->job); k++)
		c->best.slot[k] = (double *)slot[k];
	return 0;
}

int checkpoint_read(const struct train_job *j, const struct weights *w, struct checkpoint *c, struct err *e)
{
	const struct reader r = { j, w, e };
	int code;

	if (w->program->nweight != j->program->nweight)
		return err_set(e, -ERR_BAD_DATA, "%u weights, the model has %u", w->program->nweight, j->program->nweight);
	memset(c, 0, sizeof *c);
	c->state.nrunning = 1;
	c->state.running = &c->running;
	code = read_start(&r, &c->running);
	if (!code)
		code = read_best(&r, c);
	return code ? code : train_state_check(j, &c->state, e);
}
