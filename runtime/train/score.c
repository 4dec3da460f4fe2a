/* SPDX-License-Identifier: Apache-2.0
 * Head, loss and gradients of one sample, and the checks that come before. */
#include "runtime/train/score.h"

#include <math.h>
#include <string.h>

#include "runtime/train/model.h"

size_t score_stride(const struct program *p) { return model_memory(p) + p->noutput; }

/* The row of the data of a sample of the batch. */
static uint32_t row_of(const struct score *s, uint32_t sample)
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

double label_class(const double *label, uint32_t n)
{
	return n == 1 ? label[0] : metric_largest(label, n);
}

/* By the label, or by which of several is the largest. */
static double class_weight(const struct class_weights *c, const double *label, uint32_t n)
{
	if (!c)
		return 1;
	double class = label_class(label, n);
	for (unsigned k = 0; k < c->n; k++)
		if (c->label[k] == class)
			return c->weight[k];
	return 1;
}

static double weight_of(const struct score *s, uint32_t row)
{
	const struct dataset *d = s->part->data;

	return (d->weight ? d->weight[row] : 1) * class_weight(s->class_weights, d->y + (size_t)row * d->ny, d->ny);
}

void score_give(void *ctx, uint32_t sample, double *out)
{
	const struct score *s = ctx;
	const struct dataset *d = s->part->data;
	uint32_t row = row_of(s, sample);

	out[LOSS_SCALE] = s->scale;
	out[LOSS_WEIGHT] = weight_of(s, row);
	memcpy(out + LOSS_LABELS, d->y + (size_t)row * d->ny, d->ny * sizeof *out);
}

static double value_of(const struct score *s, uint32_t sample, const double *output, double *gradient)
{
	const struct dataset *d = s->part->data;
	uint32_t row = row_of(s, sample), n = s->program->noutput;
	struct loss_sample one = { NULL, output, NULL, n, d->ny };

	if (!all_finite(output, n))
		return NAN;
	if (!s->loss)
		return 0;
	one.opt = s->loss->option;
	one.label = d->y + (size_t)row * d->ny;
	double weight = weight_of(s, row);
	double value = s->loss->row->value(&one, gradient);
	for (uint32_t j = 0; gradient && j < n; j++)
		gradient[j] *= weight;
	return value * weight;
}

int score_sample(void *ctx, uint32_t sample, const double *readout, double *gradient, double *head)
{
	struct score *s = ctx;
	uint32_t n = s->program->noutput;
	double *memory = s->memory + sample * s->stride, *output_gradient = memory + s->stride - n;
	double *output = s->output + (size_t)sample * n;

	model_head(s->program, s->weight, readout, output, memory);
	double value = value_of(s, sample, output, gradient ? output_gradient : NULL);
	s->value[sample] = isfinite(value) ? value : NAN;
	if (!isfinite(value))
		return -ERR_NOT_FINITE;
	if (!gradient)
		return 0;
	for (uint32_t j = 0; j < n; j++)
		output_gradient[j] *= s->scale;
	model_head_backward(s->program, s->weight, memory, output_gradient, gradient, head);
	return 0;
}

struct loss_terms score_terms(const struct program *p, const struct loss_choice *loss, uint32_t ny)
{
	enum loss_term term = loss->row->term;

	if (p->ndense || (ny != p->noutput && term != LOSS_TERM_OUTPUT))
		term = LOSS_TERM_NONE;
	return (struct loss_terms){ .term = term, .nlabel = ny, .option = loss->option[0] };
}

int score_check(const struct score *s, uint32_t n, struct err *e)
{
	const char *source = s->part->data->source;

	for (uint32_t i = 0; i < n; i++)
		if (isnan(s->value[i]))
			return err_set(e, -ERR_NOT_FINITE,
				"the %s of sample %u (row %u of %s, from 0) is not finite",
				s->loss ? "loss" : "output", i, row_of(s, i),
				source ? source : "the data");
	return 0;
}

double score_sum(const struct score *s, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += s->value[i];
	return sum;
}

/* Labels outside of what the loss has a meaning for: no number of a class where they are to be one; above all -1 in the
 * place of 0. */
static int labels_check(const struct program *p, const struct part *part, const char *what,
	const struct loss_row *loss, struct err *e)
{
	const struct dataset *d = part->data;
	const bool by_class = d->ny != p->noutput;
	const double most = by_class            ? p->noutput - 1.0
		: loss->labels == LABELS_SHARES ? 1
						: HUGE_VAL;
	uint64_t n = by_class || loss->labels != LABELS_ANY ? (uint64_t)part->nrow * d->ny : 0;

	for (uint64_t i = 0; i < n; i++) {
		uint32_t at = (uint32_t)(i / d->ny), row = part->row ? part->row[at] : at;
		double y = d->y[(size_t)row * d->ny + i % d->ny];

		if (y >= 0 && y <= most && (!by_class || y == floor(y)))
			continue;
		if (by_class)
			return err_set(e, -ERR_BAD_DATA,
				"the label of row %u of the %s is %g: for loss %s it is the number of one of %u outputs, from 0",
				row, what, y, loss->name, p->noutput);
		return err_set(e, -ERR_BAD_DATA,
			"the label of row %u of the %s is %g: loss %s takes %s; data.label_map gives labels others, for "
			"example {-1: 0, 1: 1}",
			row, what, y, loss->name, most == 1 ? "those from 0 to 1" : "none below 0");
	}
	return 0;
}

static int fits(const struct program *p, const struct part *part, const char *what, const char *kind,
	const char *name, bool takes_class, struct err *e)
{
	uint32_t ny = part->data->ny;
	const char *way = ny == 1 ? "; where the label is the number of a class, loss categorical_crossentropy and metric "
		"categorical_accuracy take it" : p->noutput == 1 ? "; a head with dense(N) has N outputs" : "";

	if (ny == p->noutput || (takes_class && ny == 1))
		return 0;
	return err_set(e, -ERR_BAD_DATA, "the %s has %u label%s a row, the model has %u output%s, and %s %s compares them one by one%s",
		what, ny, ny == 1 ? "" : "s", p->noutput, p->noutput == 1 ? "" : "s", kind, name, way);
}

int part_check(const struct program *p, const struct part *part, const char *what, const struct measures *m, struct err *e)
{
	const struct dataset *d = part->data;
	const struct loss_row *loss =
		m && m->loss.row && m->loss.row->labels != LABELS_NONE ? m->loss.row : NULL;
	int code = 0;

	if (d->nx != p->ninput)
		return err_set(e, -ERR_BAD_DATA, "the %s has %u numbers a row, the model's inputs take %u",
			what, d->nx, p->ninput);
	if (!loss && !(m && m->nmetric))
		return 0;
	if (!d->ny)
		return err_set(e, -ERR_BAD_DATA, "the %s has no labels", what);
	if (loss)
		code = fits(p, part, what, "loss", loss->name, loss->classes != CLASSES_NO, e);
	if (!code && loss && loss->classes == CLASSES_OF_SEVERAL && p->noutput == 1)
		return err_set(e, -ERR_BAD_DATA, "loss %s compares the outputs of several classes, the model has one; "
			"binary_crossentropy is for one", loss->name);
	if (!code && loss)
		code = labels_check(p, part, what, loss, e);
	for (unsigned k = 0; !code && k < m->nmetric; k++)
		code = fits(p, part, what, "metric", m->metric[k].row->name, m->metric[k].row->takes_class, e);
	return code;
}

void part_labels(const struct part *part, const uint32_t *row, uint32_t n, double *label)
{
	const struct dataset *d = part->data;

	for (uint32_t i = 0; i < n; i++)
		memcpy(label + (size_t)i * d->ny, d->y + (size_t)(row ? row[i] : i) * d->ny, d->ny * sizeof *label);
}

size_t part_input(const struct part *part, uint32_t n)
{
	return part->data->rows ? (size_t)n * part->data->nx : 0;
}

static int fetch_rows(const void *source, const uint32_t *row, uint32_t first, uint32_t n, double *x, struct err *e)
{
	return dataset_rows(source, row, first, n, x, e);
}

int part_batch(const struct part *part, const struct evaluator *ev, const uint32_t *row, uint32_t first, uint32_t n, double *input,
	struct batch *out, struct err *e)
{
	const struct dataset *d = part->data;

	*out = (struct batch){ .nsample = n, .file = d->file, .file_row = row, .file_first = first };
	if (d->rows && d->file && !evaluator_reads(ev, n)) {
		out->fetch = fetch_rows;
		out->source = d;
		return 0;
	}
	if (d->rows) {
		out->input = input;
		return dataset_rows(d, row, first, n, input, e);
	}
	out->row = row;
	out->input = row || !d->x ? d->x : d->x + (size_t)first * d->nx;
	out->all = d->x;
	out->nall = d->nrow;
	return 0;
}
