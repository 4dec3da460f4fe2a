/* SPDX-License-Identifier: Apache-2.0
 * Measures steps and validation as training does them, for about two seconds each. */
#include "config.h"
#include "cli/train_preview.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cli/record.h"
#include "runtime/base/arena.h"
#include "runtime/base/clock.h"
#include "runtime/base/cpus.h"
#include "runtime/base/json.h"
#include "runtime/exec/memory.h"
#include "runtime/net/pool_threads.h"
#include "runtime/net/coordinator.h"

enum { STEPS_LEAST = 3, TRIAL_EPOCHS = 1 << 20, TIMES_MAX = 4096 };
static const double trial_seconds = 1.5, slow_seconds = 10;

/* Durations, of which the one in the middle counts: a pause of the machine is none of the work's. */
struct times { unsigned n; double seconds[TIMES_MAX]; };

static void add_time(struct times *t, double seconds)
{
	if (t->n < TIMES_MAX)
		t->seconds[t->n++] = seconds;
}

static int by_length(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* 0 where there are none. */
static double middle(struct times *t)
{
	qsort(t->seconds, t->n, sizeof *t->seconds, by_length);
	return t->n ? t->seconds[t->n / 2] : 0;
}

struct preview {
	struct cli *cli;
	const struct job *job;
	double first, last;          /* clock behind the first and the last step */
	uint64_t nstep;              /* that were taken */
	struct times steps, epochs, validations;
	double step_seconds, pass_seconds, validation_seconds;       /* pass: an epoch without its validation */
	uint64_t memory;             /* bytes that the process has taken at most */
};

/* ---- steps ---- */

static void see_step(void *ctx, uint32_t start, uint32_t epoch, uint64_t step, uint32_t step_in_epoch,
	uint32_t steps_per_epoch, double batch_loss)
{
	struct preview *p = ctx;
	double now = clock_seconds();

	(void)start, (void)epoch, (void)step, (void)step_in_epoch, (void)steps_per_epoch, (void)batch_loss;
	if (p->nstep)
		add_time(&p->steps, now - p->last);
	else
		p->first = now;
	p->last = now;
	p->nstep++;
}

/* The first epoch warms up. */
static void see_epoch(void *ctx, const struct epoch_result *r)
{
	struct preview *p = ctx;

	if (r->epoch > p->job->train.initial_epoch + 1)
		add_time(&p->epochs, r->seconds);
}

/* The first step warms up; two more are enough where they are slow. */
static int enough(void *ctx, const struct train_state *s, struct err *e)
{
	const struct preview *p = ctx;
	double took = p->last - p->first;

	(void)s;
	if (p->nstep < 2 || took < trial_seconds || (p->nstep < STEPS_LEAST && took < slow_seconds))
		return 0;
	return err_set(e, -ERR_STOPPED, "measured");
}

/* One start from the beginning, of which nobody is told. Epochs follow one another, so that their own work counts. */
static int try_steps(struct preview *p, struct err *e)
{
	const struct train_observer o = { .ctx = p, .step = see_step, .epoch = see_epoch, .between = enough };
	struct train_job j = p->job->train;
	struct train_result r;
	int code;

	j.validation.nrow = 0;
	j.epochs = j.initial_epoch + TRIAL_EPOCHS;
	j.max_steps = 0;
	j.restarts = 1;
	j.callbacks = NULL;
	j.resume = NULL;
	code = train_run(&j, &o, &r, e);
	if (!code)
		train_result_release(&r);
	if (code && code != -ERR_STOPPED)
		return code;
	p->step_seconds = middle(&p->steps);
	p->pass_seconds = p->epochs.n ? middle(&p->epochs) : p->step_seconds * train_steps_per_epoch(&p->job->train);
	return 0;
}

/* ---- validation ---- */

/* Samples of it that a second is enough for, a forward sweep taking less than a step's share. */
static uint32_t validation_rows(const struct preview *p)
{
	const struct train_job *j = &p->job->train;
	double each = p->step_seconds / train_batch_size(j), n = each > 0 ? trial_seconds / each : j->validation.nrow;

	n = n < 64 ? 64 : n;
	return n < j->validation.nrow ? (uint32_t)n : j->validation.nrow;
}

static int evaluate_rows(struct preview *p, struct evaluator *ev, struct pool *pool, struct part *part, struct err *e)
{
	const struct train_job *j = &p->job->train;
	double *weight = mem_try((size_t)j->program->nweight + 1, sizeof *weight), metric[TRAIN_VALUES_MAX], loss, begin;
	double *output = mem_try((size_t)part->nrow + 1, j->program->noutput * sizeof *output);
	int code = weight && output ? 0 : err_set(e, -ERR_CONFIG, "no memory for evaluating %u samples", part->nrow);

	if (!code && j->init)
		memcpy(weight, j->init, j->program->nweight * sizeof *weight);
	else if (!code)
		program_init_weights(j->program, j->seed, 0, weight);
	/* The first time warms up; then until there is time enough. */
	for (double until = 0, now; !code && (now = clock_seconds(), !until || now < until || p->validations.n < 2); ) {
		begin = now;
		code = evaluate_part(ev, part, &j->measures, weight, output, &loss, metric, pool, e);
		if (until)
			add_time(&p->validations, clock_seconds() - begin);
		else
			until = now + trial_seconds / 3;
	}
	p->validation_seconds = middle(&p->validations) * j->validation.nrow / part->nrow;
	free(weight);
	free(output);
	return code;
}

static int try_validation(struct preview *p, struct err *e)
{
	const struct train_job *j = &p->job->train;
	struct part part = j->validation;
	struct pool *own = NULL;
	struct evaluator *ev;
	int code;

	if (!part.nrow)
		return 0;
	part.nrow = validation_rows(p);
	code = evaluator_new(j->program, &j->exec, &ev, e);
	if (code)
		return code;
	if (!j->pool)
		own = pool_threads_new(j->exec.nthread);
	code = evaluate_rows(p, ev, j->pool ? j->pool : own, &part, e);
	if (own)
		own->ops->free(own);
	evaluator_free(ev);
	return code;
}

/* ---- telling ---- */

/* Of the epochs, that with validation. */
static double validated_share(const struct train_job *j)
{
	double n = 0;

	if (!j->nvalidation_epoch)
		return 1.0 / (j->validation_freq ? j->validation_freq : 1);
	for (uint32_t i = 0; i < j->nvalidation_epoch; i++)
		n += j->validation_epoch[i] > j->initial_epoch && j->validation_epoch[i] <= j->epochs;
	return fmin(1, n / (j->epochs - j->initial_epoch));
}

static double epoch_seconds(const struct preview *p)
{
	const struct train_job *j = &p->job->train;

	return p->pass_seconds + p->validation_seconds * validated_share(j);
}

/* Of all starts, as far as nothing stops them before. */
static double all_seconds(const struct preview *p)
{
	const struct train_job *j = &p->job->train;
	double epochs = j->epochs - j->initial_epoch, most = (double)j->max_steps / train_steps_per_epoch(j);

	if (j->max_steps && most < epochs)
		epochs = most;
	return j->restarts * epochs * epoch_seconds(p);
}

static const struct dataset *set_of(const struct preview *p, enum sample_part k)
{
	return p->job->samples.part[k].data;
}

static json_t *data_json(const struct preview *p)
{
	json_t *all = json_array();

	for (unsigned k = 0; k < PART_COUNT; k++) {
		const struct part *part = &p->job->samples.part[k];

		if (part->nrow)
			json_array_append_new(all, json_pack("{s:s, s:s, s:i, s:i, s:i, s:b}", "part", sample_part_name((enum sample_part)k),
				"source", set_of(p, (enum sample_part)k)->source, "rows", (int)part->nrow, "inputs", (int)part->data->nx,
				"labels", (int)part->data->ny, "streamed", part->data->rows != NULL));
	}
	return all;
}

static void print_json(const struct preview *p, struct buf *out)
{
	const struct train_job *j = &p->job->train;
	json_t *all = json_object();

	json_object_set_new(all, "schema", json_integer(1));
	json_object_set_new(all, "data", data_json(p));
	json_object_set_new(all, "qubits", json_integer(program_nwire(j->program)));
	json_object_set_new(all, "weights", json_integer(j->program->nweight));
	json_object_set_new(all, "batch_size", json_integer(train_batch_size(j)));
	json_object_set_new(all, "steps_per_epoch", json_integer(train_steps_per_epoch(j)));
	json_object_set_new(all, "epochs", json_integer(j->epochs - j->initial_epoch));
	json_object_set_new(all, "restarts", json_integer(j->restarts));
	json_object_set_new(all, "memory_bytes", json_integer((json_int_t)p->memory));
	json_object_set_new(all, "memory_available_bytes", json_integer((json_int_t)cpus_memory_available()));
	if (p->job->workers)
		json_object_set_new(all, "workers", record_workers(p->job->workers));
	json_object_set_new(all, "steps_measured", json_integer((json_int_t)p->nstep));
	json_object_set_new(all, "step_seconds", json_real(p->step_seconds));
	json_object_set_new(all, "validation_seconds", json_real(p->validation_seconds));
	json_object_set_new(all, "epoch_seconds", json_real(epoch_seconds(p)));
	json_object_set_new(all, "total_seconds", json_real(all_seconds(p)));
	json_write(all, out);
	buf_char(out, '\n');
	json_decref(all);
}

static void print_duration(struct buf *out, double seconds)
{
	if (seconds < 1)
		buf_printf(out, "%.3g ms", 1e3 * seconds);
	else if (seconds < 600)
		buf_printf(out, "%.3g s", seconds);
	else if (seconds < 36000)
		buf_printf(out, "%.0f min", seconds / 60);
	else
		buf_printf(out, "%.3g h", seconds / 3600);
}

/* Who would compute, with the measured steps behind them. */
static void print_workers(const struct coordinator *c, struct buf *out)
{
	struct coordinator_worker w;

	for (unsigned rank = 0; coordinator_worker(c, rank, &w); rank++)
		buf_printf(out, "worker    %s: %u thread%s, %llu units so far\n", w.name, w.nthread, w.nthread == 1 ? "" : "s",
			(unsigned long long)w.nunit);
}

static void print_text(const struct preview *p, struct buf *out)
{
	const struct train_job *j = &p->job->train;
	char taken[MEMORY_TEXT_MAX], free_text[MEMORY_TEXT_MAX];
	uint32_t epochs = j->epochs - j->initial_epoch;

	for (unsigned k = 0; k < PART_COUNT; k++) {
		const struct part *part = &p->job->samples.part[k];

		if (part->nrow)
			buf_printf(out, "data      %u samples for %s: %s, %u input%s, %u label%s%s\n", part->nrow, sample_part_name((enum sample_part)k),
				part->data->source, part->data->nx, part->data->nx == 1 ? "" : "s", part->data->ny, part->data->ny == 1 ? "" : "s",
				part->data->rows ? ", streamed" : "");
	}
	buf_printf(out, "weights   %u\n", j->program->nweight);
	buf_printf(out, "steps     %u an epoch, of %u samples; %u epoch%s", train_steps_per_epoch(j), train_batch_size(j), epochs,
		epochs == 1 ? "" : "s");
	if (j->restarts > 1)
		buf_printf(out, ", %u starts", j->restarts);
	buf_str(out, "\n");
	if (p->job->workers)
		print_workers(p->job->workers, out);
	buf_printf(out, "memory    %s were taken, %s are free\n", memory_text((double)p->memory, 0, taken),
		memory_text((double)cpus_memory_available(), 0, free_text));
	buf_str(out, "time      ");
	print_duration(out, p->step_seconds);
	buf_printf(out, " a step (%llu were taken), ", (unsigned long long)p->nstep);
	print_duration(out, epoch_seconds(p));
	buf_str(out, j->validation.nrow ? " an epoch with its validation, " : " an epoch, ");
	print_duration(out, all_seconds(p));
	buf_str(out, " in all\n");
}

int train_preview(struct cli *c, const struct job *j)
{
	struct preview *p = mem_alloc(1, sizeof *p);
	struct rusage u;
	struct err e;
	int code;

	p->cli = c;
	p->job = j;
	code = try_steps(p, &e);
	if (!code)
		code = try_validation(p, &e);
	if (code) {
		free(p);
		return cli_fail(c, &e);
	}
	getrusage(RUSAGE_SELF, &u);
	p->memory = (uint64_t)u.ru_maxrss * 1024;
	if (c->options.given[OPT_JSON])
		print_json(p, &c->out);
	else
		print_text(p, &c->out);
	free(p);
	cli_note(c, "nothing was trained, and no file was written");
	return 0;
}
