/* SPDX-License-Identifier: Apache-2.0
 * Predictions as text, JSON, CSV, JSON lines, NPY and NPZ. */
#include "cli/job/predictions.h"

#include <string.h>

#include "runtime/data/format/npz.h"
#include "runtime/log/metrics.h"

static const double *outputs_of(const struct predictions *p, uint32_t i)
{
	return p->output + (size_t)p->noutput * i;
}

/* How numbers are written: in 6 digits, 10 where outputs are what is minimised, or in all that they have. */
typedef void (*number_fn)(struct buf *out, double v);

static void short_number(struct buf *out, double v) { buf_printf(out, "%.6g", v); }
static void energy(struct buf *out, double v) { buf_printf(out, "%.10g", v); }

static void numbers(struct buf *out, const double *v, uint32_t n, const char *between, number_fn number)
{
	for (uint32_t k = 0; k < n; k++) {
		if (k)
			buf_str(out, between);
		number(out, v[k]);
	}
}

static bool has_classes(const struct predictions *p) { return p->classes.rule != CLASS_NONE; }

/* Labels are then called as the classes are. */
static bool names_labels(const struct predictions *p)
{
	return has_classes(p) && p->classes.map && p->part.data->ny == 1;
}

/* ---- tables: text and CSV ---- */

struct style { char between; number_fn number; void (*text)(struct buf *out, const char *s); };

/* In a table of text: a tab or newline would be the end of a column. */
static void plain_text(struct buf *out, const char *s)
{
	for (; *s; s++)
		buf_char(out, (unsigned char)*s < ' ' ? ' ' : *s);
}

static void csv_field(struct buf *out, const char *s)
{
	if (s[strcspn(s, ",\"\r\n")])
		buf_csv_str(out, s);
	else
		buf_str(out, s);
}

static const struct style text_style = { '\t', short_number, plain_text }, csv_style = { ',', buf_real, csv_field };

static void heading(struct buf *out, const char *word, uint32_t n, char between)
{
	for (uint32_t k = 0; k < n; k++)
		n == 1 ? buf_printf(out, "%c%s", between, word) : buf_printf(out, "%c%s[%u]", between, word, k);
}

static void add_name(const struct predictions *p, double label, const struct style *s, struct buf *out)
{
	buf_auto name = BUF_INIT;

	classes_name(&p->classes, label, &name);
	s->text(out, name.data);
}

static void table_row(const struct predictions *p, uint32_t i, const struct style *s, struct buf *out)
{
	const char between[] = { s->between, 0 };
	uint32_t ny = p->part.data->ny;
	double score;

	buf_printf(out, "%u%c", part_row(&p->part, i), s->between);
	numbers(out, outputs_of(p, i), p->noutput, between, s->number);
	if (has_classes(p)) {
		buf_char(out, s->between);
		add_name(p, classes_choose(&p->classes, outputs_of(p, i), &score), s, out);
		buf_char(out, s->between);
		s->number(out, score);
	}
	if (ny) {
		buf_char(out, s->between);
		names_labels(p) ? add_name(p, *labels_of(&p->part, i), s, out)
				: numbers(out, labels_of(&p->part, i), ny, between, s->number);
	}
	buf_char(out, '\n');
}

static void table(const struct predictions *p, const struct style *s, struct buf *out)
{
	buf_str(out, "sample");
	heading(out, "output", p->noutput, s->between);
	if (has_classes(p)) {
		heading(out, "class", 1, s->between);
		heading(out, classes_score_name(&p->classes), 1, s->between);
	}
	heading(out, "label", p->part.data->ny, s->between);
	buf_char(out, '\n');
	for (uint32_t i = 0; i < p->part.nrow; i++)
		table_row(p, i, s, out);
}

/* The label of row and column i of a matrix. */
static double label_of_row(const struct predictions *p, unsigned i)
{
	if (p->noutput > 1)
		return i;
	return i ? 1 : p->classes.rule == CLASS_BY_SIGN ? -1 : 0;
}

/* A line with the classes that are predicted, and a line for each class of the labels. */
static void text_matrix(const struct predictions *p, const char *name, const double *value,
	unsigned side, struct buf *out)
{
	bool named = has_classes(p);

	buf_str(out, name);
	for (unsigned i = 0; named && i < side; i++) {
		buf_char(out, '\t');
		add_name(p, label_of_row(p, i), &text_style, out);
	}
	for (unsigned i = 0; i < side; i++) {
		buf_str(out, named || i ? "\n" : "");
		if (named)
			add_name(p, label_of_row(p, i), &text_style, out);
		buf_char(out, '\t');
		numbers(out, value + (size_t)i * side, side, "\t", short_number);
	}
	buf_char(out, '\n');
}

static void text_metric(const struct predictions *p, unsigned k, struct buf *out)
{
	const struct metric_row *row = p->measures.metric[k].row;
	const double *value = p->metric_value + measures_at(&p->measures, k, p->noutput);
	unsigned side = metric_side(row, p->noutput);

	if (side) {
		text_matrix(p, row->name, value, side, out);
		return;
	}
	buf_printf(out, "%s\t", row->name);
	short_number(out, *value);
	buf_char(out, '\n');
}

void predictions_text(const struct predictions *p, bool samples, struct buf *out)
{
	struct style style = text_style;

	if (p->measures.loss.row && loss_digits(p->measures.loss.row) > 6)
		style.number = energy;
	if (samples)
		table(p, &style, out);
	if (!p->has_loss)
		return;
	buf_str(out, "loss\t");
	style.number(out, p->loss_value);
	buf_char(out, '\n');
	for (unsigned k = 0; k < p->measures.nmetric; k++)
		text_metric(p, k, out);
}

static void format_csv(const struct predictions *p, struct buf *out) { table(p, &csv_style, out); }

/* ---- JSON ---- */

static void json_numbers(const double *v, uint32_t n, struct buf *out)
{
	buf_char(out, '[');
	numbers(out, v, n, ", ", buf_json_f64);
	buf_char(out, ']');
}

static void json_outputs(const struct predictions *p, uint32_t i, struct buf *out)
{
	json_numbers(outputs_of(p, i), p->noutput, out);
}

static void json_labels(const struct predictions *p, uint32_t i, struct buf *out)
{
	json_numbers(labels_of(&p->part, i), p->part.data->ny, out);
}

static void json_name(const struct predictions *p, double label, struct buf *out)
{
	buf_auto name = BUF_INIT;

	classes_name(&p->classes, label, &name);
	buf_json_str(out, name.data);
}

/* The class of the label: its number, or the place of the largest in a list. */
static void json_label_class(const struct predictions *p, uint32_t i, struct buf *out)
{
	uint32_t ny = p->part.data->ny;

	json_name(p, ny == 1 ? *labels_of(&p->part, i) : metric_largest(labels_of(&p->part, i), ny),
		out);
}

static void json_class(const struct predictions *p, uint32_t i, struct buf *out)
{
	double score;

	json_name(p, classes_choose(&p->classes, outputs_of(p, i), &score), out);
}

static void json_score(const struct predictions *p, uint32_t i, struct buf *out)
{
	double score;

	classes_choose(&p->classes, outputs_of(p, i), &score);
	buf_json_f64(out, score);
}

/* "key": a list with one entry a sample, or null. */
static void json_list(const struct predictions *p, const char *key, bool there,
	void (*entry)(const struct predictions *p, uint32_t i, struct buf *out), struct buf *out)
{
	buf_printf(out, ", \"%s\": ", key);
	if (!there) {
		buf_str(out, "null");
		return;
	}
	for (uint32_t i = 0; i < p->part.nrow; i++) {
		buf_str(out, i ? ", " : "[");
		entry(p, i, out);
	}
	buf_str(out, p->part.nrow ? "]" : "[]");
}

void predictions_json(const struct predictions *p, struct buf *out)
{
	bool probability = p->classes.score != SCORE_OUTPUT;

	buf_str(out, "{\"schema\": 1");
	json_list(p, "outputs", true, json_outputs, out);
	json_list(p, "labels", p->part.data->ny > 0, json_labels, out);
	json_list(p, "label_classes", has_classes(p) && p->part.data->ny > 0, json_label_class, out);
	json_list(p, "classes", has_classes(p), json_class, out);
	json_list(p, "probabilities", has_classes(p) && probability, json_score, out);
	json_list(p, "scores", has_classes(p) && !probability, json_score, out);
	buf_str(out, ", \"metrics\": {");
	if (p->has_loss)
		buf_json(out, "\"loss\": %g", p->loss_value);
	for (unsigned k = 0; p->has_loss && k < p->measures.nmetric; k++) {
		buf_json(out, ", %s: ", p->measures.metric[k].row->name);
		metrics_value_json(metric_side(p->measures.metric[k].row, p->noutput),
			p->metric_value + measures_at(&p->measures, k, p->noutput), out);
	}
	buf_str(out, "}}\n");
}

static void format_jsonl(const struct predictions *p, struct buf *out)
{
	for (uint32_t i = 0; i < p->part.nrow; i++) {
		buf_printf(out, "{\"sample\": %u, \"outputs\": ", part_row(&p->part, i));
		json_outputs(p, i, out);
		if (p->part.data->ny) {
			buf_str(out, ", \"labels\": ");
			json_labels(p, i, out);
		}
		if (p->part.data->ny && has_classes(p)) {
			buf_str(out, ", \"label_class\": ");
			json_label_class(p, i, out);
		}
		if (has_classes(p)) {
			buf_str(out, ", \"class\": ");
			json_class(p, i, out);
			buf_printf(out, ", \"%s\": ", classes_score_name(&p->classes));
			json_score(p, i, out);
		}
		buf_str(out, "}\n");
	}
}

/* ---- files ---- */

/* A matrix with a row for each sample. */
static struct array rows_of(const struct predictions *p, uint32_t width, double *value)
{
	return (struct array){ .ndim = 2,
		.dim = { p->part.nrow, width },
		.count = (uint64_t)p->part.nrow * width,
		.value = value };
}

static void format_npy(const struct predictions *p, struct buf *out)
{
	struct array a = rows_of(p, p->noutput, p->output);

	npy_format(&a, out);
}

/* Inputs are those of the circuit, after data.transform. */
static int format_npz(const struct predictions *p, struct buf *out, struct err *e)
{
	const struct dataset *d = p->part.data;
	uint32_t n = p->part.nrow;
	mem_auto double *sample = mem_try((size_t)n + 1, sizeof *sample);
	mem_auto double *input = mem_try((size_t)n * d->nx + 1, sizeof *input);
	mem_auto double *label = mem_try((size_t)n * d->ny + 1, sizeof *label);

	if (!sample || !input || !label)
		return err_set(e, -ERR_CONFIG, "no memory for the inputs and labels of %u samples", n);
	for (uint32_t i = 0; i < n; i++) {
		sample[i] = part_row(&p->part, i);
		if (d->ny)
			memcpy(label + (size_t)i * d->ny, labels_of(&p->part, i),
				d->ny * sizeof *label);
	}
	int code = dataset_rows(d, p->part.row, 0, n, input, e);
	struct npz_member member[] = {
		{ "sample", { .ndim = 1, .dim = { n }, .count = n, .value = sample } },
		{ "inputs", rows_of(p, d->nx, input) },
		{ "outputs", rows_of(p, p->noutput, p->output) },
		{ "labels", rows_of(p, d->ny, label) },
	};
	unsigned all = sizeof member / sizeof *member;
	return code ? code : npz_format(&(struct npz){ d->ny ? all : all - 1, member }, out, e);
}

static const struct { const char *ending; void (*format)(const struct predictions *p, struct buf *out); } formats[] = {
	{ ".npy", format_npy }, { ".csv", format_csv }, { ".jsonl", format_jsonl },
};

static bool is_npz(const char *path) { return path_ends(path, ".npz") && strcmp(path, ".npz"); }

enum { FORMATS = sizeof formats / sizeof *formats };

static int find_format(const char *path)
{
	for (int i = 0; i < FORMATS; i++)
		if (path_ends(path, formats[i].ending) && strcmp(path, formats[i].ending))
			return i;
	return -1;
}

int predictions_ending(const char *path, struct err *e)
{
	if (find_format(path) >= 0 || is_npz(path))
		return 0;
	return err_set(e, -ERR_USAGE,
		"--output takes a file that ends in .npz, .npy, .csv or .jsonl, not `%s`", path);
}

int predictions_format(const struct predictions *p, const char *path, struct buf *out, struct err *e)
{
	int code = predictions_ending(path, e);

	if (!code && is_npz(path))
		return format_npz(p, out, e);
	if (!code)
		formats[find_format(path)].format(p, out);
	return code;
}
