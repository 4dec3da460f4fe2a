/* SPDX-License-Identifier: Apache-2.0
 * Checks labels and inputs before a training. */
#include "cli/job/sample_checks.h"

#include <math.h>

/* ---- what an output can be ---- */

struct range { double low, high; };

static struct range range_of_terms(const struct output *o)
{
	struct range r = { 0, 0 };

	for (uint32_t i = 0; i < o->nterm; i++) {
		double c = o->term[i].coefficient;

		r.low += o->term[i].nfactor ? -fabs(c) : c;
		r.high += o->term[i].nfactor ? fabs(c) : c;
	}
	return r;
}

static struct range range_of_readout(const struct program *p, uint32_t k)
{
	uint64_t at = 0;

	for (uint32_t c = 0; c < p->ncircuit; c++)
		for (uint32_t i = 0; i < p->circuit[c].noutput; i++) {
			const struct output *o = &p->circuit[c].output[i];

			at += o->kind == OUTPUT_PROBS ? UINT64_C(1) << o->nwire : 1;
			if (k < at)
				return o->kind == OUTPUT_PROBS ? (struct range){ 0, 1 } : range_of_terms(o);
		}
	return (struct range){ -INFINITY, INFINITY };
}

static struct range range_of_output(const struct program *p, uint32_t k)
{
	if (!p->ndense)
		return range_of_readout(p, k);
	switch (p->dense[p->ndense - 1].activation) {
	case ACTIVATION_TANH: return (struct range){ -1, 1 };
	case ACTIVATION_SIGMOID:
	case ACTIVATION_SOFTMAX: return (struct range){ 0, 1 };
	case ACTIVATION_RELU: return (struct range){ 0, INFINITY };
	default: return (struct range){ -INFINITY, INFINITY };
	}
}

/* ---- labels ---- */

static void check_range(const struct program *p, const struct part *part, const struct loss_row *loss, struct span at,
	struct diags *d)
{
	const double slack = 1e-6;

	if (loss->outputs != OUTPUTS_VALUES || part->data->ny != p->noutput)
		return;
	for (uint32_t k = 0; k < p->noutput; k++) {
		struct range r = range_of_output(p, k);

		for (uint32_t i = 0; i < part->nrow; i++) {
			double y = labels_of(part, i)[k];

			if (y >= r.low - slack && y <= r.high + slack)
				continue;
			struct diag *g = diag_at(d, DIAG_DATA_LABELS, at,
				"the label %.6g of row %u is outside of %.6g to %.6g, where the output always is",
				y, part_row(part, i) + 1, r.low, r.high);
			diag_help(g, "loss %s cannot come near 0; `data.label_map` gives labels other numbers, and a head such as "
				"`head { dense(%u); }` has outputs of any size", loss->name, p->noutput);
			return;
		}
	}
}

static void list_labels(struct buf *out, const struct label_set *s)
{
	for (unsigned i = 0; i < s->n && i < 8; i++)
		buf_printf(out, "%s%.6g", !i ? "" : i + 1 == s->n ? " and " : ", ", s->value[i]);
	buf_str(out, s->n > 8 ? ", ..." : "");
}

/* A metric that takes one output for two classes, or NULL. */
static const char *binary_metric(const struct measures *m)
{
	for (unsigned i = 0; i < m->nmetric; i++)
		if (m->metric[i].row->takes_class || m->metric[i].row->labels != BINARY_ANY)
			return m->metric[i].row->name;
	return NULL;
}

/* Whole numbers, more than two. */
static bool are_classes(const struct label_set *s)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->value[i] != floor(s->value[i]))
			return false;
	return s->n > 2;
}

/* Two labels that a metric sees on one side; value is in ascending order. */
static const char *blind_metric(const struct measures *m, const double *value)
{
	const struct metric_choice *blind = measures_binary(m, BINARY_SIGNS);

	if (!blind && value[0] != 0)
		blind = measures_binary(m, BINARY_SIGNS_OR_BITS);
	return blind && (value[0] >= 0) == (value[1] >= 0) ? blind->row->name : NULL;
}

void sample_labels_check(const struct program *p, const struct part *part, const struct measures *m, struct span at,
	struct diags *d)
{
	const char *metric = p->noutput == 1 ? binary_metric(m) : NULL, *blind;
	struct label_set s = classes_distinct(part);
	buf_auto list = BUF_INIT;
	struct diag *g;

	if (!part->nrow || !part->data->y)
		return;
	list_labels(&list, &s);
	if (s.n == 1 && part->nrow > 1) {
		g = diag_at(d, DIAG_DATA_ONE_CLASS, at, "all %u labels of the training data are %s", part->nrow, list.data);
		diag_help(g, "there is nothing to tell apart; does the split leave out a class? data.split_shuffle and data.split_stratify mix "
			"the rows");
	} else if (metric && are_classes(&s)) {
		g = diag_at(d, DIAG_DATA_LABELS, at, "the labels are %s, but metric %s of one output tells two classes apart", list.data, metric);
		diag_help(g,
			"give the model one output for each class, for example `head { dense(%u, softmax); }`, and loss "
			"categorical_crossentropy",
			s.n);
	} else if (s.n == 2 && p->noutput == 1 && (blind = blind_metric(m, s.value))) {
		g = diag_at(d, DIAG_DATA_LABELS, at, "metric %s takes the labels %s for one class, since they have one sign", blind, list.data);
		diag_help(g, "`data.label_map: {%.6g: -1, %.6g: 1}` gives them two", s.value[0],
			s.value[1]);
	} else {
		check_range(p, part, m->loss.row, at, d);
	}
}

/* ---- outputs as probabilities ---- */

static bool takes_probabilities(const struct loss_choice *loss)
{
	return (loss->row->outputs == OUTPUTS_PROBABILITIES || loss->row->outputs == OUTPUTS_SHARES) && !loss_of_logits(loss);
}

/* range_of_output is exact unless an observable sums several Pauli terms, whose least values need not occur together. */
static bool has_sums(const struct program *p)
{
	for (uint32_t c = 0; c < p->ncircuit; c++)
		for (uint32_t i = 0; i < p->circuit[c].noutput; i++) {
			uint32_t n = 0;

			for (uint32_t k = 0; k < p->circuit[c].output[i].nterm; k++)
				n += p->circuit[c].output[i].term[k].nfactor > 0;
			if (n > 1)
				return true;
		}
	return false;
}

uint32_t outputs_negative(const struct program *p)
{
	uint32_t k = 0;

	if (!p->ndense && has_sums(p))
		return p->noutput;
	while (k < p->noutput && range_of_output(p, k).low >= 0)
		k++;
	return k;
}

void sample_outputs_check(const struct program *p, const struct measures *m, struct span at,
	struct diags *d)
{
	const char *loss = m->loss.row->name, *last = p->noutput == 1 ? "sigmoid" : "softmax";
	uint32_t k = takes_probabilities(&m->loss) ? outputs_negative(p) : p->noutput;

	if (k == p->noutput)
		return;
	struct diag *g = diag_at(d, DIAG_TRAIN_OUTPUTS, at,
		"loss %s takes the outputs as probabilities, but output %u can be negative", loss, k);
	if (m->loss.row->noption)
		diag_help(g,
			"end the model with `head { dense(%u, %s); }`, or set `train.loss: {%s: {from_logits: true}}`",
			p->noutput, last, loss);
	else
		diag_help(g,
			"end the model with `head { dense(%u, %s); }`, or use `observe probs(...)`",
			p->noutput, last);
}

/* ---- classes of the parts ---- */

/* One class may be chance in a smaller part. */
enum { ONE_CLASS_ROWS_MIN = 10 };

static void check_only_class(const struct classes *k, const struct part *part, const char *name,
	double label, struct span at, struct diags *d)
{
	buf_auto word = BUF_INIT;

	if (part->nrow < ONE_CLASS_ROWS_MIN)
		return;
	classes_name(k, label, &word);
	struct diag *g = diag_at(d, DIAG_DATA_ONE_CLASS, at,
		"all %u samples of the %s data have the class %s; the training data have several",
		part->nrow, name, word.data);
	diag_help(g,
		"their loss and metrics show nothing of the other classes; if the file is sorted by class, set "
		"data.split_shuffle or data.split_stratify to true");
}

/* The first label of others that is not known; NULL: there is none. */
static const double *find_unknown(const struct label_set *known, const struct label_set *others)
{
	unsigned i = 0;

	while (i < others->n && label_set_has(known, others->value[i]))
		i++;
	return i < others->n ? &others->value[i] : NULL;
}

static struct diag *unknown_class(const struct classes *k, const char *name, double label,
	struct span at, struct diags *d)
{
	buf_auto word = BUF_INIT;

	classes_name(k, label, &word);
	return diag_at(d, DIAG_DATA_CLASS_MISSING, at,
		"the %s data have the class %s, which no training sample has", name, word.data);
}

void sample_parts_check(const struct classes *k, const struct part *train, const struct part *other,
	const char *name, struct span at, struct diags *d)
{
	struct label_set known = classes_distinct(train), s = classes_distinct(other);
	const double *unknown = find_unknown(&known, &s);

	if (k->rule == CLASS_NONE || known.n < 2)
		return;
	if (unknown)
		diag_help(unknown_class(k, name, *unknown, at, d),
			"if the file is sorted by class, set data.split_shuffle or data.split_stratify to true");
	else if (s.n == 1)
		check_only_class(k, other, name, *s.value, at, d);
}

void sample_known_check(const struct classes *k, const char *labels, const struct part *part,
	struct diags *d)
{
	struct label_set known = classes_known(labels), s = classes_distinct(part);
	const double *unknown = find_unknown(&known, &s);
	buf_auto list = BUF_INIT;

	if (k->rule == CLASS_NONE || !known.n || !unknown)
		return;
	list_labels(&list, &known);
	diag_help(unknown_class(k, "given", *unknown, (struct span){ 0, 0, 0 }, d),
		"the labels of the training are %s: loss and metrics mean little; data.label_map gives labels their numbers",
		list.data);
}

/* ---- angles ---- */

/* Is a value about as large as its operands?  Not those of arctan, log, min and the like; a quotient may be small. */
static bool keeps_size(enum expr_op op)
{
	return op == EXPR_NEG || op == EXPR_ADD || op == EXPR_SUB || op == EXPR_MUL || op == EXPR_ABS
		|| op == EXPR_SIN || op == EXPR_COS || op == EXPR_TAN;
}

/* in_angle[p->ninput]: does the number go into an angle? */
static void find_angles(const struct program *p, bool *in_angle)
{
	mem_auto bool *used = mem_alloc(p->nexpr + 1, sizeof *used);

	for (uint32_t i = 0; i < p->nmatrix; i++)
		for (uint32_t k = 0; k < p->matrix[i].nitem; k++) {
			const struct item *it = &p->matrix[i].item[k];
			unsigned n = it->gate == GATE_NONE ? 0 : gate_row(it->gate)->nangle;

			for (unsigned a = 0; a < n; a++)
				used[it->angle[a]] = true;
		}
	for (uint32_t i = p->nexpr; i--; ) {
		const struct expr *e = &p->expr[i];
		unsigned n = used[i] && keeps_size(e->op) ? expr_noperand(e->op) : 0;

		if (n > 0)
			used[e->a] = true;
		if (n > 1)
			used[e->b] = true;
		if (used[i] && e->op == EXPR_INPUT)
			in_angle[e->a] = true;
	}
}

void sample_angles_check(const struct program *p, const struct part *part, struct span at, struct diags *d)
{
	const struct dataset *data = part->data;
	mem_auto bool *in_angle = mem_alloc(p->ninput + 1, sizeof *in_angle);
	bool found = false;

	find_angles(p, in_angle);
	for (uint32_t i = 0; data && data->x && data->nx == p->ninput && !found && i < part->nrow; i++) {
		uint32_t row = part_row(part, i);
		const double *x = data->x + (size_t)row * data->nx;

		for (uint32_t k = 0; !found && k < data->nx; k++) {
			found = in_angle[k] && fabs(x[k]) > SAMPLE_ANGLE_MAX;
			if (!found)
				continue;
			struct diag *g = diag_at(d, DIAG_DATA_ANGLE, at,
				"input number %u of row %u is %.6g, which the model takes for an angle",
				k + 1, row + 1, x[k]);
			diag_help(g, "angles are in radians and repeat after 2 pi; data.transform scales inputs, for example "
				"`[{min_max: {low: 0, high: 3.14159}}]`");
		}
	}
}
