/* SPDX-License-Identifier: Apache-2.0
 * What recording costs: calls of a model's circuit with its gradient, at each level in turn.
 *
 *   recording MODEL BATCH THREADS ROUNDS
 *       Prints for each level the median over the rounds of its time over the time of the call without recording in
 *       the same round, and the least times. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/profile/captures.h"
#include "runtime/base/profile/recorder.h"
#include "runtime/base/system/clock.h"
#include "runtime/exec/evaluator.h"
#include "runtime/net/scheduler/pool_threads.h"
#include "tests/compile_file.h"

/* What a round measures; "waiting": captures that nobody has asked for. */
enum { OFF_AGAIN = 0, WAITING, PHASES, LAYERS, MATRICES, KINDS };
static const char *const kind_name[KINDS] = { "off again", "attachable", "phases", "layers",
	"matrices" };
static const double GROUP_SECONDS = 0.05; /* calls that are measured together take at least so long */

struct job {
	struct evaluator *ev;
	struct pool *pool;
	struct batch batch;
	double *weight, *gradient, *readout;
	struct captures *captures; /* or NULL */
};

static int dreadout(void *ctx, uint32_t sample, const double *readout, double *out, double *head)
{
	(void)ctx, (void)head;
	if (out)
		*out = *readout - (sample & 1 ? -1 : 1);
	return 0;
}

static void call(struct job *j)
{
	struct err e;

	if (evaluator_weights(j->ev, j->weight, &e))
		abort();
	evaluator_prepare(j->ev, &j->batch, true, dreadout, NULL, j->readout);
	if (evaluator_run(j->ev, j->pool, j->gradient, &e))
		abort();
	if (j->captures)
		captures_step(j->captures, j->batch.nsample);
}

static double seconds_of(struct job *j, unsigned n, enum profile_level level)
{
	struct profile_process process = { 0 };
	double began;

	if (level)
		recorder_start(level, PROFILE_BYTES_DEFAULT);
	began = clock_seconds();
	for (unsigned k = 0; k < n; k++)
		call(j);
	began = clock_seconds() - began;
	if (level)
		recorder_stop(NULL, &process);
	return began / n;
}

static void describe(void *ctx, struct profile *p) { (void)ctx, (void)p; }

static int ascending(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static void measure(struct job *j, unsigned rounds)
{
	double *ratio = mem_alloc((size_t)KINDS * rounds, sizeof *ratio), least[KINDS], off = 1e9;
	struct captures *idle = captures_new(describe, NULL, NULL, NULL);
	unsigned n = 1;

	for (unsigned k = 0; k < 3; k++)
		call(j);
	n += (unsigned)(GROUP_SECONDS / seconds_of(j, 1, PROFILE_OFF));
	for (unsigned k = 0; k < KINDS; k++)
		least[k] = 1e9;
	for (unsigned r = 0; r < rounds; r++)
		for (unsigned i = 0; i < KINDS; i++) {
			/* The pair in either order: what comes second may be faster. */
			unsigned k = (i + r) % KINDS;
			bool first = (r / KINDS) & 1;
			double without = first ? 0 : seconds_of(j, n, PROFILE_OFF), with;

			j->captures = k == WAITING ? idle : NULL;
			with = seconds_of(j, n,
				k >= PHASES ? (enum profile_level)(PROFILE_PHASES + k - PHASES)
					    : PROFILE_OFF);
			j->captures = NULL;
			if (first)
				without = seconds_of(j, n, PROFILE_OFF);
			ratio[k * rounds + r] = with / without;
			off = without < off ? without : off;
			least[k] = with < least[k] ? with : least[k];
		}
	printf("%u calls together, %u pairs; off: least %.6g s\n", n, rounds, off);
	for (unsigned k = 0; k < KINDS; k++) {
		double *x = ratio + (size_t)k * rounds;

		qsort(x, rounds, sizeof *x, ascending);
		printf("%-10s median %.4f of off, quarters %.4f to %.4f, least %.4f\n",
			kind_name[k], (x[(rounds - 1) / 2] + x[rounds / 2]) / 2, x[rounds / 4],
			x[rounds - 1 - rounds / 4], least[k] / off);
	}
	captures_end(idle);
	captures_free(idle);
	free(ratio);
}

int main(int argc, char **argv)
{
	struct source_set *s = source_set_new();
	struct diags *d = diags_new(s);
	struct err e = { 0 };
	struct program *p =
		argc == 5 ? compile_file(argv[1], d, &(struct compile_options){ 0 }, &e) : NULL;
	struct job j = { 0 };
	double *input;
	unsigned nthread;

	if (!p)
		return fprintf(stderr, "recording MODEL BATCH THREADS ROUNDS %s\n", e.text), 64;
	nthread = (unsigned)atoi(argv[3]);
	if (evaluator_new(p,
		    &(struct evaluator_options){ .precision = PRECISION_SINGLE,
			    .nthread = nthread,
			    .gradient = GRADIENT_ADJOINT },
		    &j.ev, &e))
		return fprintf(stderr, "%s\n", e.text), 1;
	j.pool = pool_threads_new(nthread);
	j.batch.nsample = (uint32_t)atoi(argv[2]);
	input = mem_alloc((size_t)j.batch.nsample * p->ninput + 1, sizeof *input);
	for (size_t k = 0; k < (size_t)j.batch.nsample * p->ninput; k++)
		input[k] = 0.01 * (double)(k % 311);
	j.batch.input = input;
	j.weight = mem_alloc(p->nweight + 1, sizeof *j.weight);
	j.gradient = mem_alloc(p->nweight + 1, sizeof *j.gradient);
	j.readout = mem_alloc((size_t)j.batch.nsample * p->nreadout + 1, sizeof *j.readout);
	for (uint32_t k = 0; k < p->nweight; k++)
		j.weight[k] = 0.1 * (double)(k % 31);
	measure(&j, (unsigned)atoi(argv[4]));
	evaluator_free(j.ev);
	j.pool->ops->free(j.pool);
	return 0;
}
