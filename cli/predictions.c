/* SPDX-License-Identifier: Apache-2.0
 * Predictions as text, JSON, CSV, JSON lines and NPY. */
#include "config.h"
#include "cli/predictions.h"

#include <string.h>

#include "runtime/log/metrics.h"

static const double *labels_of(const struct predictions *p, uint32_t i)
{
	return p->part.data->y + (size_t)p->part.data->ny * (p->part.row ? p->part.row[i] : i);
}

static const double *outputs_of(const struct predictions *p, uint32_t i)
{
	return p->output + (size_t)p->noutput * i;
}

static void numbers(struct buf *out, const double *v, uint32_t n, const char *between, bool json)
{
	for (uint32_t k = 0; k < n; k++) {
		if (k)
			buf_str(out, between);
		json ? buf_json_f64(out, v[k]) : buf_real(out, v[k]);
	}
}

/* ---- text ---- */

static void heading(struct buf *out, const char *word, uint32_t n, const char *between)
{
	for (uint32_t k = 0; k < n; k++)
		n == 1 ? buf_printf(out, "%s%s", between, word) : buf_printf(out, "%s%s[%u]", between, word, k);
}

/* A number, or a matrix row by row. */
static void text_metric(const struct predictions *p, unsigned k, struct buf *out)
{
	const struct metric_row *row = p->measures.metric[k].row;
	const double *value = p->metric_value + measures_at(&p->measures, k, p->noutput);
	unsigned side = metric_side(row, p->noutput);

	buf_printf(out, "%s\t", row->name);
	for (unsigned i = 0; i < (side ? side : 1); i++) {
		buf_str(out, i ? "\t" : "");
		numbers(out, value + (size_t)i * side, side ? side : 1, "\t", false);
		buf_char(out, '\n');
	}
}

void predictions_text(const struct predictions *p, bool samples, struct buf *out)
{
	uint32_t ny = p->part.data->ny;

	if (samples) {
		buf_str(out, "sample");
		heading(out, "output", p->noutput, "\t");
		heading(out, "label", ny, "\t");
		buf_char(out, '\n');
	}
	for (uint32_t i = 0; samples && i < p->part.nrow; i++) {
		buf_printf(out, "%u\t", p->part.row ? p->part.row[i] : i);
		numbers(out, outputs_of(p, i), p->noutput, "\t", false);
		if (ny) {
			buf_char(out, '\t');
			numbers(out, labels_of(p, i), ny, "\t", false);
		}
		buf_char(out, '\n');
	}
	if (!p->has_loss)
		return;
	buf_str(out, "loss\t");
	buf_real(out, p->loss_value);
	buf_char(out, '\n');
	for (unsigned k = 0; k < p->measures.nmetric; k++)
		text_metric(p, k, out);
}

/* ---- JSON ---- */

static void json_rows(const struct predictions *p, bool labels, struct buf *out)
{
	buf_char(out, '[');
	for (uint32_t i = 0; i < p->part.nrow; i++) {
		buf_str(out, i ? ", [" : "[");
		if (labels)
			numbers(out, labels_of(p, i), p->part.data->ny, ", ", true);
		else
			numbers(out, outputs_of(p, i), p->noutput, ", ", true);
		buf_char(out, ']');
	}
	buf_char(out, ']');
}

void predictions_json(const struct predictions *p, struct buf *out)
{
	buf_str(out, "{\"schema\": 1, \"outputs\": ");
	json_rows(p, false, out);
	buf_str(out, ", \"labels\": ");
	if (p->part.data->ny)
		json_rows(p, true, out);
	else
		buf_str(out, "null");
	buf_str(out, ", \"metrics\": {");
	if (p->has_loss) {
		buf_str(out, "\"loss\": ");
		buf_json_f64(out, p->loss_value);
		for (unsigned k = 0; k < p->measures.nmetric; k++) {
			buf_printf(out, ", \"%s\": ", p->measures.metric[k].row->name);
			metrics_value(metric_side(p->measures.metric[k].row, p->noutput),
				p->metric_value + measures_at(&p->measures, k, p->noutput), out);
		}
	}
	buf_str(out, "}}\n");
}

/* ---- files ---- */

static void format_csv(const struct predictions *p, struct buf *out)
{
	buf_str(out, "sample");
	heading(out, "output", p->noutput, ",");
	heading(out, "label", p->part.data->ny, ",");
	buf_char(out, '\n');
	for (uint32_t i = 0; i < p->part.nrow; i++) {
		buf_printf(out, "%u,", p->part.row ? p->part.row[i] : i);
		numbers(out, outputs_of(p, i), p->noutput, ",", false);
		if (p->part.data->ny) {
			buf_char(out, ',');
			numbers(out, labels_of(p, i), p->part.data->ny, ",", false);
		}
		buf_char(out, '\n');
	}
}

static void format_jsonl(const struct predictions *p, struct buf *out)
{
	for (uint32_t i = 0; i < p->part.nrow; i++) {
		buf_printf(out, "{\"sample\": %u, \"outputs\": [", p->part.row ? p->part.row[i] : i);
		numbers(out, outputs_of(p, i), p->noutput, ", ", true);
		buf_char(out, ']');
		if (p->part.data->ny) {
			buf_str(out, ", \"labels\": [");
			numbers(out, labels_of(p, i), p->part.data->ny, ", ", true);
			buf_char(out, ']');
		}
		buf_str(out, "}\n");
	}
}

static void format_npy(const struct predictions *p, struct buf *out)
{
	struct array a = { .ndim = 2, .dim = { p->part.nrow, p->noutput },
		.count = (uint64_t)p->part.nrow * p->noutput, .value = p->output };

	npy_format(&a, out);
}

static const struct { const char *ending; void (*format)(const struct predictions *p, struct buf *out); } formats[] = {
	{ ".npy", format_npy }, { ".csv", format_csv }, { ".jsonl", format_jsonl },
};

enum { FORMATS = sizeof formats / sizeof *formats };

static int find_format(const char *path)
{
	size_t n = strlen(path);

	for (int i = 0; i < FORMATS; i++) {
		size_t k = strlen(formats[i].ending);

		if (n > k && !strcmp(path + n - k, formats[i].ending))
			return i;
	}
	return -1;
}

int predictions_ending(const char *path, struct err *e)
{
	if (find_format(path) >= 0)
		return 0;
	return err_set(e, -ERR_USAGE, "--output takes a file that ends in .npy, .csv or .jsonl, not `%s`", path);
}

int predictions_format(const struct predictions *p, const char *path, struct buf *out, struct err *e)
{
	int code = predictions_ending(path, e);

	if (!code)
		formats[find_format(path)].format(p, out);
	return code;
}
