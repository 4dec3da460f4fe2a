/* SPDX-License-Identifier: Apache-2.0
 * The results of runs that have finished, are training, or were interrupted. */
#include "cli/job/run_metrics.h"

#include <math.h>
#include <string.h>

#include "runtime/train/loss/loss.h"

/* ---- the best epoch ---- */

void run_metrics_best(json_t *metrics, const struct history *h, double restart)
{
	struct history_best best = history_best(h, restart);
	buf_auto key = BUF_INIT;

	if (isnan(best.epoch))
		return;
	buf_printf(&key, "best_%s", best.column);
	json_object_set_new(metrics, "best_epoch", json_integer((json_int_t)best.epoch));
	json_object_set_new(metrics, key.data, json_real(best.value));
}

/* ---- the last epoch ---- */

static void set_count(json_t *metrics, const char *key, const struct history *h, const char *column)
{
	const double *v = history_column(h, column);

	if (v && v[h->nrow - 1] >= 0)
		json_object_set_new(metrics, key, json_integer((json_int_t)v[h->nrow - 1]));
}

/* h has at least one row. */
static json_t *last_epoch(const struct history *h)
{
	/* Columns that are no results. */
	static const char *const other[] = { "start", "epoch", "step", "learning_rate", "seconds",
		"samples_per_second" };
	json_t *all = json_object();

	for (unsigned k = 0; k < h->ncolumn; k++) {
		double v = h->value[k * h->nrow + h->nrow - 1];

		if (!text_among(h->column[k], other, sizeof other / sizeof *other) && isfinite(v))
			json_object_set_new(all, h->column[k], json_real(v));
	}
	set_count(all, "start", h, "start");
	set_count(all, "epochs", h, "epoch");
	set_count(all, "steps", h, "step");
	return all;
}

void run_metrics_complete(struct run_folder *r)
{
	json_t *metrics = json_object_get(r->record, "metrics");
	struct history h;

	if (json_object_get(metrics, "best_epoch"))
		return;
	if (!history_read(r->path, &h, NULL) && h.nrow) {
		if (!json_is_object(metrics)) {
			metrics = last_epoch(&h);
			json_object_set_new(r->record, "metrics", metrics);
		}
		run_metrics_best(metrics, &h, run_number(r, "metrics", "start"));
	}
	history_release(&h);
}

/* ---- which value is better ---- */

static const char *without(const char *key, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(key, prefix, n) ? key : key + n;
}

int run_metrics_rise(const char *key)
{
	const char *name = without(without(without(key, "best_"), "val_"), "test_");
	const struct metric_row *row = metric_find(name);

	return !strcmp(name, "loss") ? 0 : row ? row->rises : -1;
}
