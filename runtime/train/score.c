/* SPDX-License-Identifier: Apache-2.0
 * Head, loss and slopes of one sample, and the checks that come before. */
#include "config.h"
#include "runtime/train/score.h"

#include <math.h>
#include <string.h>

#include "runtime/train/model.h"

size_t score_stride(const struct program *p)
{
	return model_tape(p) + p->noutput;
}

uint32_t score_row(const struct score *s, uint32_t sample)
{
	return s->row ? s->row[sample] : s->first + sample;
}

static bool all_finite(const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(v[i]))
			return false;
	return true;
}

static double value_of(const struct score *s, uint32_t sample, const double *output, double *slope)
{
	const struct dataset *d = s->part->data;

	if (!all_finite(output, s->program->noutput))
		return NAN;
	if (!s->loss)
		return 0;
	return s->loss->value(output, d->y + (size_t)score_row(s, sample) * d->ny, d->ny, slope);
}

int score_sample(void *ctx, uint32_t sample, const double *readout, double *slope, double *head)
{
	struct score *s = ctx;
	uint32_t n = s->program->noutput;
	double *tape = s->tape + sample * s->stride, *slope_output = tape + s->stride - n;
	double *output = s->output + (size_t)sample * n;
	double value;

	model_head(s->program, s->weight, readout, output, tape);
	value = value_of(s, sample, output, slope ? slope_output : NULL);
	s->value[sample] = isfinite(value) ? value : NAN;
	if (!isfinite(value))
		return -ERR_NOT_FINITE;
	if (!slope)
		return 0;
	for (uint32_t j = 0; j < n; j++)
		slope_output[j] *= s->scale;
	model_head_reverse(s->program, s->weight, tape, slope_output, slope, head);
	return 0;
}

int score_check(const struct score *s, uint32_t n, struct err *e)
{
	const char *source = s->part->data->source;

	for (uint32_t i = 0; i < n; i++)
		if (isnan(s->value[i]))
			return err_set(e, -ERR_NOT_FINITE, "the %s of sample %u (row %u of %s, from 0) is not finite",
				s->loss ? "loss" : "output", i, score_row(s, i), source ? source : "the data");
	return 0;
}

double score_sum(const struct score *s, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += s->value[i];
	return sum;
}

int part_check(const struct program *p, const struct part *part, const char *what,
	const struct loss_row *loss, const struct metric_row *const *metric, unsigned nmetric, struct err *e)
{
	const struct dataset *d = part->data;

	if (d->nx != p->ninput)
		return err_set(e, -ERR_BAD_DATA, "the %s has %u numbers a row, the model's inputs take %u",
			what, d->nx, p->ninput);
	if (!loss && !nmetric)
		return 0;
	if (!d->ny)
		return err_set(e, -ERR_BAD_DATA, "the %s has no labels", what);
	if (loss && d->ny != p->noutput)
		return err_set(e, -ERR_BAD_DATA, "the %s has %u labels a row, the model has %u outputs: loss %s compares them one by one",
			what, d->ny, p->noutput, loss->name);
	for (unsigned k = 0; k < nmetric; k++)
		if (d->ny != p->noutput && !(metric[k]->takes_class && d->ny == 1))
			return err_set(e, -ERR_BAD_DATA, "the %s has %u labels a row, the model has %u outputs: metric %s compares them one by one",
				what, d->ny, p->noutput, metric[k]->name);
	return 0;
}

void part_labels(const struct part *part, const uint32_t *row, uint32_t n, double *label)
{
	const struct dataset *d = part->data;

	for (uint32_t i = 0; i < n; i++)
		memcpy(label + (size_t)i * d->ny, d->y + (size_t)(row ? row[i] : i) * d->ny, d->ny * sizeof *label);
}
