/* SPDX-License-Identifier: Apache-2.0
 * Losses of a step's batch at any weights: for the step itself, and for optimisers that probe. */
#include "runtime/train/restart.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/rng.h"

void trainer_draws(struct trainer *t, uint32_t evaluation)
{
	uint64_t stream = (uint64_t)t->restart << 32 | evaluation;

	evaluator_draws(t->ev, rng_u64(t->job->seed, RNG_SHOT_KEY, t->step, stream), 0);
}

/* The step's batch at these weights, with shots of its own. */
static int begin_evaluation(struct trainer *t, const double *weight, struct batch *out, struct err *e)
{
	int code = part_batch(&t->job->train, t->ev, t->row + t->batch_at, 0, t->batch_n, t->input,
		out, e);

	if (!code)
		code = evaluator_weights(t->ev, weight, e);
	if (!code)
		trainer_draws(t, t->nevaluation++);
	return code;
}

int trainer_loss(struct trainer *t, const double *weight, double *output, double *readout, double *gradient,
	double *sum, struct err *e)
{
	const struct measures *m = &t->job->measures;
	struct score *s = &t->score;
	uint32_t n = t->batch_n;
	struct batch batch;
	int code = begin_evaluation(t, weight, &batch, e), bad;

	if (code)
		return code;
	s->weight = weight;
	s->row = t->row + t->batch_at;
	s->scale = 1.0 / n;
	s->output = output;
	memset(s->value, 0, n * sizeof *s->value);
	evaluator_prepare(t->ev, &batch, gradient != NULL, score_sample, s, readout);
	code = evaluator_run(t->ev, t->pool, gradient, e);
	if (code == -ERR_STOPPED) /* numbers of a lost state mean nothing */
		return code;
	bad = score_check(s, n, e);
	if (bad || code)
		return bad ? bad : code;
	*sum = score_sum(s, n);
	if (m->npenalty)
		*sum += n * penalty_sum(m->penalty, m->npenalty, s->program, weight, gradient);
	return 0;
}

/* ---- what a search calls ---- */

static struct trainer *trainer_of(struct probe *p)
{
	return (struct trainer *)((char *)p - offsetof(struct trainer, probe));
}

static int probe_loss(struct probe *p, const double *weight, double *loss, double *gradient, struct err *e)
{
	struct trainer *t = trainer_of(p);
	int code = trainer_loss(t, weight, t->probe_output, t->probe_readout, gradient, &t->probed, e);

	if (!code)
		*loss = t->probed / t->batch_n;
	return code;
}

static int probe_readouts(struct probe *p, const double *weight, const double **readout, uint32_t *nsample, struct err *e)
{
	struct trainer *t = trainer_of(p);
	struct batch batch;

	*nsample = t->batch_n;
	*readout = t->probe_readout;
	if (!weight)
		return 0;
	int code = begin_evaluation(t, weight, &batch, e);
	if (code)
		return code;
	evaluator_prepare(t->ev, &batch, false, NULL, NULL, t->probe_readout);
	return evaluator_run(t->ev, t->pool, NULL, e);
}

static int probe_loss_of(struct probe *p, const double *weight, const double *readout, double *loss, struct err *e)
{
	struct trainer *t = trainer_of(p);
	const struct measures *m = &t->job->measures;
	struct score *s = &t->score;
	int bad = 0;

	s->weight = weight;
	s->row = t->row + t->batch_at;
	s->output = t->probe_output;
	for (uint32_t i = 0; i < t->batch_n; i++)
		bad |= score_sample(s, i, readout + (size_t)i * p->program->nreadout, NULL, NULL);
	if (bad)
		return score_check(s, t->batch_n, e);
	*loss = score_sum(s, t->batch_n) / t->batch_n + penalty_sum(m->penalty, m->npenalty, p->program, weight, NULL);
	return 0;
}

static void probe_keep(struct probe *p)
{
	struct trainer *t = trainer_of(p);
	const struct program *g = p->program;

	t->kept = t->probed;
	memcpy(t->kept_output, t->probe_output, (size_t)t->batch_n * g->noutput * sizeof *t->output);
	memcpy(t->readout, t->probe_readout, (size_t)t->batch_n * g->nreadout * sizeof *t->readout);
}

static int probe_again(struct probe *p, const double *weight, uint64_t step, struct err *e)
{
	struct trainer *t = trainer_of(p);
	uint64_t now = t->step;
	double loss;

	t->step = step;
	t->nevaluation = 0;
	int code = probe_loss(p, weight, &loss, NULL, e);
	t->step = now;
	t->nevaluation = 0;
	if (!code)
		probe_keep(p);
	return code;
}

static const struct probe_ops ops = { .loss = probe_loss, .readouts = probe_readouts, .loss_of = probe_loss_of, .again = probe_again, .keep = probe_keep };

/* ---- life ---- */

void trainer_probe_open(struct trainer *t)
{
	const struct program *g = t->job->program;
	size_t batch = t->batch_size, nweight = g->nweight ? g->nweight : 1, d = sizeof(double);

	t->probe = (struct probe){ .ops = &ops, .program = g, .seed = t->job->seed, .gradient = t->gradient, .record = &t->record };
	t->before_step = mem_list_try(&t->memory, nweight * (1 + OPTIMIZER_SLOTS_MAX), d);
	t->probe_readout = mem_list_try(&t->memory, batch, (g->nreadout + 1) * d);
	t->probe_output = mem_list_try(&t->memory, batch, g->noutput * d);
	t->kept_output = mem_list_try(&t->memory, batch, g->noutput * d);
	t->probe.moved = mem_list_try(&t->memory, nweight, d);
}

static void end_session(struct trainer *t)
{
	if (t->probe.session)
		t->job->optimizer->session_free(t->probe.session);
	t->probe.session = NULL;
}

void trainer_probe_begin(struct trainer *t)
{
	end_session(t);
	t->probe.restart = t->restart;
	t->probe.over = false;
	t->record.n = 0;
}

bool trainer_probe_resume(struct trainer *t, const struct restart_state *s)
{
	double *value = mem_try(s->nrecord ? s->nrecord : 1, sizeof *value);

	t->probe.over = s->over;
	if (!value)
		return false;
	if (s->nrecord)
		memcpy(value, s->record, s->nrecord * sizeof *value);
	free(t->record.value);
	t->record = (struct search_record){ value, s->nrecord, s->nrecord ? s->nrecord : 1 };
	return true;
}

void trainer_probe_close(struct trainer *t)
{
	end_session(t);
	free(t->record.value);
}
