/* SPDX-License-Identifier: Apache-2.0
 * Lines of metrics.jsonl; numbers read back to the same bits. */
#include "config.h"
#include "runtime/log/metrics.h"

static void add_number(struct buf *out, const char *prefix, const char *name, double v)
{
	struct buf key = BUF_INIT;

	buf_printf(&key, "%s%s", prefix, name);
	buf_str(out, ", ");
	buf_json_str(out, key.data);
	buf_str(out, ": ");
	buf_json_f64(out, v);
	buf_release(&key);
}

void metrics_format(const struct metrics_line *m, struct buf *out)
{
	buf_printf(out, "{\"start\": %u, \"epoch\": %u, \"step\": %llu", m->start, m->epoch, (unsigned long long)m->step);
	add_number(out, "", "loss", m->loss);
	for (unsigned k = 0; k < m->nmetric; k++)
		add_number(out, "", m->metric[k], m->value[k]);
	if (m->has_validation)
		add_number(out, "val_", "loss", m->val_loss);
	for (unsigned k = 0; m->has_validation && k < m->nmetric; k++)
		add_number(out, "val_", m->metric[k], m->val_value[k]);
	add_number(out, "", "seconds", m->seconds);
	add_number(out, "", "samples_per_second", m->samples_per_second);
	buf_char(out, '}');
}
