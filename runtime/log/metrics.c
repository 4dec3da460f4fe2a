/* SPDX-License-Identifier: Apache-2.0
 * Lines of metrics.jsonl and history.csv; numbers read back to the same bits. */
#include "runtime/log/metrics.h"

#include <string.h>

const struct metrics_value *metrics_find(const struct metrics_line *m, const char *name)
{
	for (unsigned k = 0; k < m->n; k++)
		if (!m->value[k].side && m->value[k].given && !strcmp(m->value[k].name, name))
			return &m->value[k];
	return NULL;
}

void metrics_value_json(unsigned side, const double *value, struct buf *out)
{
	if (!side)
		buf_json_f64(out, *value);
	for (unsigned i = 0; i < side; i++) {
		buf_str(out, i ? ", [" : "[[");
		for (unsigned j = 0; j < side; j++)
			buf_json(out, ", %g", *value++);
		buf_str(out, i + 1 < side ? "]" : "]]");
	}
}

static void add_workers(const struct metrics_line *m, struct buf *out)
{
	for (unsigned i = 0; i < m->nworker; i++) {
		const struct metrics_worker *w = &m->worker[i];

		buf_json(out, i ? ", {\"name\": %s" : ", \"workers\": [{\"name\": %s", w->name);
		buf_json(out,
			", \"share\": %g, \"samples_per_second\": %g, \"replaced\": %u, \"lost\": %i}",
			w->share, w->samples_per_second, w->replaced, w->lost);
	}
	buf_str(out, m->nworker ? "]" : "");
}

void metrics_format(const struct metrics_line *m, struct buf *out)
{
	for (unsigned k = 0; k < m->n; k++) {
		const struct metrics_value *v = &m->value[k];

		if (!v->given)
			continue;
		buf_json(out, k ? ", %s: " : "{%s: ", v->name);
		metrics_value_json(v->side, v->side ? v->entry : &v->number, out);
	}
	add_workers(m, out);
	buf_char(out, '}');
}

/* ---- CSV ---- */

void metrics_csv_header(const struct metrics_line *m, struct buf *out)
{
	for (unsigned k = 0; k < m->n; k++) {
		const struct metrics_value *v = &m->value[k];

		if (!v->side)
			buf_printf(out, "%s%s", k ? "," : "", v->name);
		for (unsigned i = 0; i < v->side * v->side; i++)
			buf_printf(out, "%s%s_%u_%u", k || i ? "," : "", v->name, i / v->side, i % v->side);
	}
}

void metrics_csv(const struct metrics_line *m, struct buf *out)
{
	for (unsigned k = 0; k < m->n; k++) {
		const struct metrics_value *v = &m->value[k];
		const double *entry = v->side ? v->entry : &v->number;

		for (unsigned i = 0; i < (v->side ? v->side * v->side : 1); i++) {
			buf_str(out, k || i ? "," : "");
			if (v->given)
				buf_real(out, entry[i]);
		}
	}
}
