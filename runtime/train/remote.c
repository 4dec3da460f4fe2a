/* SPDX-License-Identifier: Apache-2.0
 * A worker's evaluator: samples come as numbers, so it needs no data and no configuration. */
#include "runtime/train/remote.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/crypto/crypto.h"
#include "runtime/base/maths.h"
#include "runtime/base/profile/recorder.h"
#include "runtime/base/rng.h"
#include "runtime/base/system/cpus.h"
#include "runtime/base/system/resource_limits.h"
#include "runtime/net/scheduler/pool_threads.h"
#include "runtime/train/remote_rows.h"
#include "runtime/train/score.h"

/* ---- the job ---- */

unsigned remote_optimisations(const struct evaluator_options *o)
{
	return o->optimisations & ~(unsigned)OPTIMISATION_BATCH_RANK;
}

void remote_job(const struct program *p, const struct evaluator_options *o, const struct loss_choice *loss,
	uint32_t nlabel, struct buf *program, struct wire_job *out)
{
	_Static_assert((int)TRAIN_OPTIONS_MAX <= (int)WIRE_OPTIONS_MAX, "options of a loss fit into a message");

	*out = (struct wire_job){ .precision = (uint8_t)o->precision,
		.gradient = (uint8_t)o->gradient,
		.method = (uint8_t)o->method,
		.share = 1,
		.again = o->start_again,
		.forward = o->outputs_alone,
		.shots = o->shots,
		.trajectories = o->trajectories,
		.split = o->split,
		.optimisations = remote_optimisations(o) };
	strncpy(out->device, o->target->device, sizeof out->device - 1);
	strncpy(out->kernels, o->target->kernels, sizeof out->kernels - 1);
	if (loss) {
		out->nlabel = nlabel;
		strncpy(out->loss, loss->row->name, sizeof out->loss - 1);
		out->noption = loss->row->noption;
		memcpy(out->option, loss->option, out->noption * sizeof *out->option);
	} else {
		out->gradient = GRADIENT_NONE;
	}
	program_write(p, program);
	out->program = (const uint8_t *)program->data;
	out->nprogram = program->len;
}

/* ---- the test ---- */

enum { TEST_SEED = 20261121, THREADS_MAX = 1024 };

/* A gradient for every readout, none of them alike. */
static int test_gradient(void *ctx, uint32_t sample, const double *readout, double *gradient, double *head)
{
	uint32_t n = *(const uint32_t *)ctx;

	(void)readout;
	(void)head;
	for (uint32_t k = 0; gradient && k < n; k++)
		gradient[k] = 1.0 / (1 + k + sample);
	return 0;
}

static int test_unit(struct evaluator *ev, bool gradient, const double *weight, const double *input, double *readout,
	struct sha256 *h, struct err *e)
{
	const struct program *p = evaluator_evaluated(ev);
	uint32_t width = evaluator_width(ev), nreadout = p->nreadout;
	struct batch b = { .nsample = width, .input = p->ninput ? input : NULL };
	struct pool *pool = pool_threads_new(THREADS_MAX);
	int code = evaluator_weights(ev, weight, e);

	if (!code) {
		evaluator_prepare(ev, &b, gradient, test_gradient, &nreadout, readout);
		code = evaluator_run(ev, pool, NULL, e);
	}
	if (!code) {
		sha256_add(h, readout, (size_t)width * nreadout * sizeof *readout);
		sha256_add(h, evaluator_sums(ev),
			(gradient ? evaluator_vector(ev) : 0) * sizeof(struct fixed));
	}
	pool->ops->free(pool);
	return code;
}

int remote_test(struct evaluator *ev, bool gradient, struct wire_ready *out, struct err *e)
{
	const struct program *p = evaluator_evaluated(ev);
	uint32_t width = evaluator_width(ev);
	size_t ninput = (size_t)width * p->ninput;
	mem_auto double *weight = mem_try(p->nweight + (size_t)1, sizeof *weight),
			*input = mem_try(ninput + 1, sizeof *input);
	mem_auto double *readout = mem_try(width * ((size_t)p->nreadout + 1), sizeof *readout);
	uint64_t maths = maths_digest();
	struct sha256 h;
	int code = -ERR_CONFIG;

	*out = (struct wire_ready){ width, (uint32_t)evaluator_vector(ev), p->nreadout, 1, { 0 } };
	sha256_init(&h);
	sha256_add(&h, &maths, sizeof maths);
	if (weight && input && readout) {
		program_init_weights(p, TEST_SEED, 0, weight);
		for (size_t i = 0; i < ninput; i++)
			input[i] = 2 * rng_uniform(TEST_SEED, RNG_TEST, 0, i) - 1;
		code = test_unit(ev, gradient, weight, input, readout, &h, e);
	} else {
		err_set(e, code, "no memory for a test of %u samples", width);
	}
	sha256_end(&h, out->digest);
	return code;
}

/* ---- the worker ---- */

struct remote_worker {
	remote_group *group;
	void *group_ctx;
	struct program *program;
	struct evaluator *ev;
	struct pool *pool;
	struct loss_choice loss;
	uint32_t nlabel, need;       /* numbers of a sample's gradient */
	double *weight;              /* (nweight) */
	struct remote_rows rows;
	/* Of the units that are done now, for `cap` samples */
	uint32_t cap;
	struct mem_list memory;
	double *number;              /* (nin) */
	uint32_t *place, *unit;      /* (cap) of the samples in the step; the units */
	double *input, *label, *sample_weight, *scale, *readout, *output, *value, *head;
	struct dataset data;
	struct part part;
	struct score score;
};

struct remote_worker *remote_worker_new(remote_group *group, void *ctx)
{
	struct remote_worker *w = mem_alloc(1, sizeof *w);

	w->group = group;
	w->group_ctx = ctx;
	return w;
}

/* Nothing is left of a job. */
static void clear(struct remote_worker *w)
{
	mem_list_free(&w->memory);
	remote_rows_release(&w->rows);
	free(w->weight);
	if (w->pool)
		w->pool->ops->free(w->pool);
	evaluator_free(w->ev);
	program_free(w->program);
	*w = (struct remote_worker){ .group = w->group, .group_ctx = w->group_ctx };
}

void remote_worker_free(struct remote_worker *w)
{
	if (w)
		clear(w);
	free(w);
}

/* Those of the machine's devices that this worker uses, where each has some, or several have one. */
static uint64_t devices_of(const struct target *t, uint32_t share, uint32_t place)
{
	unsigned n = target_devices(t);
	uint64_t mine = 0;

	for (unsigned k = 0; k < n && share > 1; k++)
		if (k % share == place % share || (n < share && k == place % n))
			mine |= UINT64_C(1) << k;
	return mine;
}

/* Bytes for the states of one of `share` workers of this machine, which allocate them at the same time: what is free, but at most
 * an equal part of all. */
static uint64_t memory_of_share(uint32_t share, unsigned nthread)
{
	uint64_t process = ulimit_address_space(nthread), limit = cpus_memory_limit(),
		 all = cpus_memory_total(), most = cpus_memory_available();

	if (limit && (!all || limit < all))
		all = limit;
	if (all && all / share < most)
		most = all / share;
	return process < most ? process : most;
}

static int options_of(const struct wire_job *job, struct evaluator_options *o, struct err *e)
{
	const struct target *target = target_find(job->device, job->kernels);
	const char *rule, *obstacle;
	unsigned n = cpus_threads(&rule);

	if (job->precision > PRECISION_DOUBLE || job->gradient > GRADIENT_DIFFERENCE
		|| job->method >= METHOD_COUNT || job->again > 1 || job->forward > 1
		|| (job->forward && job->gradient != GRADIENT_NONE)
		|| job->optimisations & ~(unsigned)(OPTIMISATION_ALL & ~OPTIMISATION_BATCH_RANK))
		return err_set(e, -ERR_PROTOCOL,
			"the coordinator requested an unknown precision or method");
	if (!target)
		return err_set(e, -ERR_PROTOCOL,
			"the coordinator requested kernels `%s` of the device `%s`, which are unknown here",
			job->kernels, job->device);
	obstacle = target_obstacle(target);
	if (obstacle && !target_of(target->device, 1))
		return err_set(e, -ERR_CONFIG, "the device %s cannot be used: %s", target->device,
			obstacle);
	if (obstacle)
		return err_set(e, -ERR_CONFIG, "%s %s; the best instruction set here is %s", obstacle, target->kernels,
			target_find(target->device, NULL)->kernels);
	*o = (struct evaluator_options){ .target = target,
		.devices = devices_of(target, job->share, job->place),
		.precision = (enum precision)job->precision,
		.gradient = (enum gradient_method)job->gradient,
		.method = (enum method)job->method,
		.shots = job->shots,
		.trajectories = job->trajectories,
		.split = job->split,
		.optimisations = job->optimisations,
		.outputs_alone = job->forward,
		.start_again = job->again };
	o->nthread = job->threads ? job->threads : job->share && job->share < n ? n / job->share : 1;
	if (o->nthread > THREADS_MAX)
		return err_set(e, -ERR_CONFIG, "%u threads are more than %d", o->nthread, THREADS_MAX);
	o->nthread = ulimit_threads(o->nthread);
	if (job->share > 1 && !job->nrank && !target_has_memory(target)) {
		o->memory_limit = memory_of_share(job->share, o->nthread);
		o->memory_sharers = job->share;
	}
	return 0;
}

static int take_loss(struct remote_worker *w, const struct wire_job *job, struct err *e)
{
	if (job->gradient == GRADIENT_NONE)
		return 0;
	w->loss.row = loss_find(job->loss);
	if (!w->loss.row || w->loss.row->noption != job->noption)
		return err_set(e, -ERR_PROTOCOL, "the coordinator requested the unknown loss `%s`",
			job->loss);
	memcpy(w->loss.option, job->option, job->noption * sizeof *job->option);
	w->nlabel = job->nlabel;
	w->need = LOSS_LABELS + job->nlabel;
	return 0;
}

static void give(void *ctx, uint32_t sample, double *out)
{
	const struct remote_worker *w = ctx;

	out[LOSS_SCALE] = w->scale[sample];
	out[LOSS_WEIGHT] = w->sample_weight[sample];
	memcpy(out + LOSS_LABELS, w->label + (size_t)sample * w->nlabel, w->nlabel * sizeof *out);
}

static int open_job(void *ctx, const struct wire_job *job, struct wire_ready *out, struct err *e)
{
	struct remote_worker *w = ctx;
	struct evaluator_options o;
	int code = options_of(job, &o, e);

	clear(w);
	if (!code && w->group)
		code = w->group(w->group_ctx, job, &o, e);
	else if (!code && job->nrank)
		code = err_set(e, -ERR_PROTOCOL,
			"the coordinator requested a group, which this worker cannot start");
	if (!code)
		code = take_loss(w, job, e);
	if (!code)
		code = program_read(job->program, job->nprogram, &w->program, e);
	if (!code && w->loss.row)
		o.terms = score_terms(w->program, &w->loss, w->nlabel);
	if (!code)
		code = evaluator_new(w->program, &o, &w->ev, e);
	if (!code) {
		w->rows.nx = w->program->ninput;
		code = remote_rows_open(&w->rows, job, e);
	}
	if (!code)
		code = remote_test(w->ev, o.gradient != GRADIENT_NONE, out, e);
	if (code)
		return code;
	evaluator_needs(w->ev, &(struct readout_gradient_needs){ w->need, give });
	out->nthread = o.nthread;
	w->pool = pool_threads_new(o.nthread);
	w->weight = mem_try(w->program->nweight + (size_t)1, sizeof *w->weight);
	return w->weight ? 0 : err_set(e, -ERR_CONFIG, "no memory for %u weights", w->program->nweight);
}

static int take_weights(void *ctx, const struct wire_weights *m, struct err *e)
{
	struct remote_worker *w = ctx;

	if (!w->ev || m->n != w->program->nweight)
		return err_set(e, -ERR_PROTOCOL,
			"the coordinator sent %u weights, which is not the number of weights of the model",
			m->n);
	wire_doubles(m->value, m->n, w->weight);
	return evaluator_weights(w->ev, w->weight, e);
}

static int take_data(void *ctx, const struct wire_data *d, struct err *e)
{
	struct remote_worker *w = ctx;

	return w->ev ? remote_rows_take(&w->rows, d, e)
		     : err_set(e, -ERR_PROTOCOL, "the coordinator sent samples before a job");
}

static bool grow_buffers(struct remote_worker *w, uint32_t n)
{
	const struct program *p = w->program;
	size_t d = sizeof(double), samples = (size_t)n + n / 4;

	if (n <= w->cap)
		return true;
	mem_list_free(&w->memory);
	w->number = mem_list_try(&w->memory, (size_t)p->ninput + w->need + 1, d);
	w->input = mem_list_try(&w->memory, samples, (p->ninput + (size_t)1) * d);
	w->label = mem_list_try(&w->memory, samples, (w->nlabel + (size_t)1) * d);
	w->sample_weight = mem_list_try(&w->memory, samples, d);
	w->scale = mem_list_try(&w->memory, samples, d);
	w->readout = mem_list_try(&w->memory, samples, (p->nreadout + (size_t)1) * d);
	w->output = mem_list_try(&w->memory, samples, (p->noutput + (size_t)1) * d);
	w->value = mem_list_try(&w->memory, samples, d);
	w->head = mem_list_try(&w->memory, samples, score_stride(p) * d + d);
	w->place = mem_list_try(&w->memory, samples, sizeof *w->place);
	w->unit = mem_list_try(&w->memory, samples, sizeof *w->unit);
	w->cap = w->memory.failed ? 0 : (uint32_t)samples;
	return !w->memory.failed;
}

/* Where the samples are in the step. */
static void place_samples(struct remote_worker *w, const struct wire_work *work)
{
	uint32_t width = evaluator_width(w->ev);

	wire_units_list(&work->units, w->unit);
	for (uint32_t s = 0; s < work->nsample; s++)
		w->place[s] = work->draw_first + w->unit[s / width] * width + s % width;
	evaluator_draws_of(w->ev, work->draw_key, w->place);
}

/* The samples' numbers into rows. */
static int unpack(struct remote_worker *w, const struct wire_work *work, struct err *e)
{
	uint32_t nx = w->program->ninput, ny = w->nlabel, nhere = work->nkept, ncome = work->nin - nhere;
	int code = 0;

	for (uint32_t s = 0; s < work->nsample && !code; s++) {
		if (nhere)
			code = remote_rows_get(&w->rows, work->set, wire_row(work->row, s), w->number, e);
		wire_doubles(work->value + (size_t)s * ncome * sizeof(double), ncome, w->number + nhere);
		memcpy(w->input + (size_t)s * nx, w->number, nx * sizeof(double));
		if (!work->gradient)
			continue;
		w->scale[s] = w->number[nx + LOSS_SCALE];
		w->sample_weight[s] = w->number[nx + LOSS_WEIGHT];
		memcpy(w->label + (size_t)s * ny, w->number + nx + LOSS_LABELS, ny * sizeof(double));
	}
	w->data = (struct dataset){ .nrow = work->nsample, .nx = nx, .ny = ny, .x = w->input, .y = w->label,
		.weight = w->sample_weight };
	w->part = (struct part){ &w->data, NULL, work->nsample };
	w->score = (struct score){ .program = w->program,
		.weight = w->weight,
		.loss = &w->loss,
		.part = &w->part,
		.output = w->output,
		.value = w->value,
		.memory = w->head,
		.stride = score_stride(w->program) };
	return code;
}

static int remote_gradient(void *ctx, uint32_t sample, const double *readout, double *gradient, double *head)
{
	struct remote_worker *w = ctx;
	struct score mine = w->score;        /* threads have samples of their own, and so a scale */

	mine.scale = w->scale[sample];
	return score_sample(&mine, sample, readout, gradient, head);
}

static int check_work(const struct remote_worker *w, const struct wire_work *work, struct err *e)
{
	uint32_t nin, nunit = wire_units_list(&work->units, NULL), width;

	if (!w->ev || (work->gradient && !w->loss.row))
		return err_set(e, -ERR_PROTOCOL, "the coordinator sent work before a job");
	width = evaluator_width(w->ev);
	nin = w->program->ninput + (work->gradient ? w->need : 0);
	if (work->nin != nin || (work->nsample - 1) / width + 1 != nunit)
		return err_set(e, -ERR_PROTOCOL,
			"the coordinator sent %u samples of %u numbers for %u units of %u samples of %u numbers",
			work->nsample, work->nin, nunit, width, nin);
	if (!remote_rows_has(&w->rows, work))
		return err_set(e, -ERR_PROTOCOL,
			"the coordinator refers to samples that it has not sent");
	return 0;
}

static int do_work(void *ctx, const struct wire_work *work, const double **value, uint32_t *nout,
	const struct fixed **vector, uint32_t *nvector, struct err *e)
{
	struct remote_worker *w = ctx;
	struct batch b = { .nsample = work->nsample };
	int code = check_work(w, work, e);

	if (code)
		return code;
	if (!grow_buffers(w, work->nsample))
		return err_set(e, -ERR_CONFIG, "no memory for %u samples", work->nsample);
	code = unpack(w, work, e);
	if (code)
		return code;
	place_samples(w, work);
	recorder_mark(PHASE_RECEIVE);
	b.input = w->program->ninput ? w->input : NULL;
	evaluator_prepare(w->ev, &b, work->gradient, work->gradient ? remote_gradient : NULL, w, w->readout);
	code = evaluator_run(w->ev, w->pool, NULL, e);
	*value = w->readout;
	*nout = w->program->nreadout;
	*vector = evaluator_sums(w->ev);
	*nvector = work->gradient ? (uint32_t)evaluator_vector(w->ev) : 0;
	return code;
}

const struct worker_ops remote_worker_ops = { .open = open_job, .data = take_data, .weights = take_weights, .work = do_work };
