/* SPDX-License-Identifier: Apache-2.0
 * Outputs, loss and metrics of a part with given weights: validation and inference.
 *
 * Rows go through the evaluator in chunks of bounded memory; a sample's numbers do not
 * depend on its chunk, and the losses are added in the order of the rows. */
#include "runtime/train/train.h"

#include <stdlib.h>

#include "runtime/train/score.h"

/* Doubles of scratch that a chunk may take, unless one sample needs more. */
enum { CHUNK_DOUBLES = 1 << 22, CHUNK_ROWS = 4096 };

static uint32_t chunk_rows(const struct program *p, uint32_t nrow)
{
	size_t each = score_stride(p) + p->nreadout + 1, rows = CHUNK_DOUBLES / each;

	rows = rows > CHUNK_ROWS ? CHUNK_ROWS : rows ? rows : 1;
	return rows < nrow ? (uint32_t)rows : nrow;
}

struct evaluation {
	struct evaluator *ev;
	struct pool *pool;
	struct score score;
	double *scratch, *readout, *input;
	uint32_t chunk;
	double loss_sum;
};

static int evaluation_open(struct evaluation *v, const struct program *p, const struct part *part, struct err *e)
{
	size_t stride = score_stride(p), n;

	v->chunk = chunk_rows(p, part->nrow);
	n = v->chunk;
	v->scratch = mem_try(n ? n : 1, (stride + p->nreadout + 1) * sizeof *v->scratch);
	v->input = mem_try(part_input(part, v->chunk) + 1, sizeof *v->input);
	if (!v->scratch || !v->input)
		return err_set(e, -ERR_CONFIG, "no memory for evaluating %zu samples", n);
	v->readout = v->scratch + n * stride;
	v->score.memory = v->scratch;
	v->score.stride = stride;
	v->score.value = v->readout + n * p->nreadout;
	return 0;
}

/* Rows at .. at+n of the part, whose outputs go to output. */
static int evaluation_chunk(struct evaluation *v, const struct part *part, uint32_t at, uint32_t n,
	double *output, struct err *e)
{
	struct batch batch;
	int code = part_batch(part, v->ev, part->row ? part->row + at : NULL, at, n, v->input, &batch, e), bad;

	if (code)
		return code;
	batch.alone = true;              /* the same bits as in infer, which has other batches */
	v->score.row = part->row ? part->row + at : NULL;
	v->score.first = at;
	v->score.output = output;
	for (uint32_t i = 0; i < n; i++)
		v->score.value[i] = 0;
	evaluator_draws(v->ev, evaluator_draw_key(v->ev), at);
	evaluator_prepare(v->ev, &batch, false, score_sample, &v->score, v->readout);
	code = evaluator_run(v->ev, v->pool, NULL, e);
	if (code == -ERR_STOPPED) /* numbers of a lost state mean nothing */
		return code;
	bad = score_check(&v->score, n, e);
	if (bad || code)
		return bad ? bad : code;
	for (uint32_t i = 0; i < n; i++)
		v->loss_sum += v->score.value[i];
	return 0;
}

static int metrics_of(const struct program *p, const struct part *part, const struct measures *m,
	const double *output, double *metric_out, struct err *e)
{
	if (!m || !m->nmetric || !metric_out || !part->nrow)
		return 0;
	mem_auto double *label = mem_try(part->nrow, part->data->ny * sizeof *label);
	if (!label)
		return err_set(e, -ERR_CONFIG, "no memory for the labels of %u samples", part->nrow);
	part_labels(part, part->row, part->nrow, label);
	measures_metrics(m,
		&(struct metric_set){ NULL, output, label, part->nrow, p->noutput, part->data->ny,
			OUTPUTS_VALUES, LABELS_NOT_KNOWN },
		metric_out);
	return 0;
}

int evaluate_part_until(struct evaluator *ev, const struct part *part, const struct measures *m,
	const double *weight, double *output, double *loss_out, double *metric_out,
	struct pool *pool, const char *(*stop)(void), struct err *e)
{
	const struct program *p = evaluator_evaluated(ev);
	struct evaluation v = { .ev = ev, .pool = pool,
		.score = { .program = p, .weight = weight, .loss = loss_out ? &m->loss : NULL, .part = part, .scale = 1 } };
	int code = part_check(p, part, "data", loss_out || metric_out ? m : NULL, e);

	if (!code && m && metric_out)
		code = measures_check(m, p->noutput, e);
	if (!code)
		code = evaluation_open(&v, p, part, e);
	if (!code)
		code = evaluator_weights(ev, weight, e);
	for (uint32_t at = 0, n; !code && at < part->nrow; at += n) {
		if (stop && stop()) {
			code = err_set(e, -ERR_STOPPED, "stopped by %s", stop());
			break;
		}
		n = part->nrow - at < v.chunk ? part->nrow - at : v.chunk;
		code = evaluation_chunk(&v, part, at, n, output + (size_t)at * p->noutput, e);
	}
	if (!code)
		code = metrics_of(p, part, m, output, metric_out, e);
	if (!code && loss_out)
		*loss_out = (part->nrow ? v.loss_sum / part->nrow : 0)
			+ penalty_sum(m->penalty, m->npenalty, p, weight, NULL);
	free(v.scratch);
	free(v.input);
	return code;
}

int evaluate_part(struct evaluator *ev, const struct part *part, const struct measures *m,
	const double *weight, double *output, double *loss_out, double *metric_out,
	struct pool *pool, struct err *e)
{
	return evaluate_part_until(ev, part, m, weight, output, loss_out, metric_out, pool, NULL, e);
}
