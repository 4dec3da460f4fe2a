/* SPDX-License-Identifier: Apache-2.0
 * Lines of metrics.jsonl; numbers read back to the same bits. */
#include "config.h"
#include "runtime/log/metrics.h"

const double *metrics_value(unsigned side, const double *value, struct buf *out)
{
	if (!side) {
		buf_json_f64(out, *value);
		return value + 1;
	}
	for (unsigned i = 0; i < side; i++) {
		buf_str(out, i ? ", [" : "[[");
		for (unsigned j = 0; j < side; j++) {
			buf_str(out, j ? ", " : "");
			buf_json_f64(out, *value++);
		}
		buf_char(out, ']');
	}
	buf_char(out, ']');
	return value;
}

static const double *add_value(struct buf *out, const char *prefix, const char *name, unsigned side, const double *v)
{
	struct buf key = BUF_INIT;

	buf_printf(&key, "%s%s", prefix, name);
	buf_str(out, ", ");
	buf_json_str(out, key.data);
	buf_str(out, ": ");
	v = metrics_value(side, v, out);
	buf_release(&key);
	return v;
}

static void add_numbers(const struct metrics_line *m, const char *prefix, double loss, const double *v, struct buf *out)
{
	add_value(out, prefix, "loss", 0, &loss);
	for (unsigned k = 0; k < m->nmetric; k++)
		v = add_value(out, prefix, m->metric[k], m->side ? m->side[k] : 0, v);
}

static void add_workers(const struct metrics_line *m, struct buf *out)
{
	for (unsigned i = 0; i < m->nworker; i++) {
		const struct metrics_worker *w = &m->worker[i];

		buf_str(out, i ? ", {\"name\": " : ", \"workers\": [{\"name\": ");
		buf_json_str(out, w->name);
		add_value(out, "", "share", 0, &w->share);
		add_value(out, "", "samples_per_second", 0, &w->samples_per_second);
		buf_printf(out, ", \"replaced\": %u, \"lost\": %s}", w->replaced, w->lost ? "true" : "false");
	}
	buf_str(out, m->nworker ? "]" : "");
}

void metrics_format(const struct metrics_line *m, struct buf *out)
{
	buf_printf(out, "{\"start\": %u, \"epoch\": %u, \"step\": %llu", m->start + 1, m->epoch, (unsigned long long)m->step);
	add_numbers(m, "", m->loss, m->value, out);
	if (m->has_validation)
		add_numbers(m, "val_", m->val_loss, m->val_value, out);
	add_value(out, "", "learning_rate", 0, &m->learning_rate);
	add_value(out, "", "seconds", 0, &m->seconds);
	add_value(out, "", "samples_per_second", 0, &m->samples_per_second);
	add_workers(m, out);
	buf_char(out, '}');
}

/* ---- CSV ---- */

static void csv_names(const struct metrics_line *m, const char *prefix, struct buf *out)
{
	buf_printf(out, ",%sloss", prefix);
	for (unsigned k = 0; k < m->nmetric; k++) {
		unsigned side = m->side ? m->side[k] : 0;

		if (!side)
			buf_printf(out, ",%s%s", prefix, m->metric[k]);
		for (unsigned i = 0; i < side * side; i++)
			buf_printf(out, ",%s%s_%u_%u", prefix, m->metric[k], i / side, i % side);
	}
}

void metrics_csv_header(const struct metrics_line *m, struct buf *out)
{
	buf_str(out, "start,epoch,step");
	csv_names(m, "", out);
	if (m->has_validation || m->may_validate)
		csv_names(m, "val_", out);
	buf_str(out, ",learning_rate,seconds,samples_per_second");
}

static void csv_number(struct buf *out, double v)
{
	buf_char(out, ',');
	buf_real(out, v);
}

static void csv_numbers(const struct metrics_line *m, double loss, const double *v, struct buf *out)
{
	csv_number(out, loss);
	for (unsigned k = 0; k < m->nmetric; k++) {
		unsigned side = m->side ? m->side[k] : 0;

		for (unsigned i = 0; i < (side ? side * side : 1); i++)
			csv_number(out, *v++);
	}
}

/* No validation in this epoch. */
static void csv_gap(const struct metrics_line *m, struct buf *out)
{
	buf_char(out, ',');
	for (unsigned k = 0; k < m->nmetric; k++) {
		unsigned side = m->side ? m->side[k] : 0;

		buf_pad(out, ',', side ? side * side : 1);
	}
}

void metrics_csv(const struct metrics_line *m, struct buf *out)
{
	buf_printf(out, "%u,%u,%llu", m->start + 1, m->epoch, (unsigned long long)m->step);
	csv_numbers(m, m->loss, m->value, out);
	if (m->has_validation)
		csv_numbers(m, m->val_loss, m->val_value, out);
	else if (m->may_validate)
		csv_gap(m, out);
	csv_number(out, m->learning_rate);
	csv_number(out, m->seconds);
	csv_number(out, m->samples_per_second);
}
