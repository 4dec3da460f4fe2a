/* SPDX-License-Identifier: Apache-2.0
 * Metrics one after the other in one vector. */
#include "runtime/train/loss/measures.h"

#include <string.h>

static void fill_defaults(const struct train_option *row, unsigned n, double *option)
{
	for (unsigned k = 0; k < n; k++)
		option[k] = row[k].value;
}

struct loss_choice loss_choice(const struct loss_row *row)
{
	struct loss_choice c = { .row = row };

	fill_defaults(row->option, row->noption, c.option);
	return c;
}

struct metric_choice metric_choice(const struct metric_row *row)
{
	struct metric_choice c = { .row = row };

	fill_defaults(row->option, row->noption, c.option);
	return c;
}

bool loss_of_logits(const struct loss_choice *loss)
{
	for (unsigned k = 0; k < loss->row->noption; k++)
		if (!strcmp(loss->row->option[k].name, "from_logits"))
			return loss->option[k] != 0;
	return false;
}

enum loss_outputs loss_outputs(const struct loss_choice *loss)
{
	return loss_of_logits(loss) ? OUTPUTS_MARGINS : loss->row->outputs;
}

const struct metric_choice *measures_binary(const struct measures *m, enum metric_labels labels)
{
	for (unsigned k = 0; k < m->nmetric; k++)
		if (m->metric[k].row->labels == labels)
			return &m->metric[k];
	return NULL;
}

unsigned measures_at(const struct measures *m, unsigned k, uint32_t n)
{
	unsigned at = 0;

	for (unsigned i = 0; i < k; i++) {
		unsigned side = metric_side(m->metric[i].row, n);

		at += side ? side * side : 1;
	}
	return at;
}

int measures_check(const struct measures *m, uint32_t n, struct err *e)
{
	unsigned matrices = 0;

	for (unsigned k = 0; k < m->nmetric; k++) {
		const struct metric_row *row = m->metric[k].row;

		if (metric_side(row, n) > METRIC_SIDE_MAX)
			return err_set(e, -ERR_CONFIG, "metric %s takes at most %d outputs, the model has %u", row->name,
				METRIC_SIDE_MAX, n);
		matrices += row->is_matrix;
	}
	return matrices > 1 ? err_set(e, -ERR_CONFIG, "more than one of the metrics is a matrix") : 0;
}

struct binary_rule measures_rule(const struct measures *m, const double *label, uint64_t n)
{
	const struct metric_choice *bits = measures_binary(m, BINARY_BITS);

	return binary_rule(label, n, loss_outputs(&m->loss), bits ? bits->option[0] : VALUE_UNSET);
}

void measures_metrics(const struct measures *m, const struct metric_set *s, double *value)
{
	for (unsigned k = 0; k < m->nmetric; k++) {
		struct metric_set own = *s;

		own.opt = m->metric[k].option;
		own.outputs = loss_outputs(&m->loss);
		own.labels = m->labels;
		m->metric[k].row->value(&own, value + measures_at(m, k, s->n));
	}
}
