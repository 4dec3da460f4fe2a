/* SPDX-License-Identifier: Apache-2.0
 * What a report needs: the run's history, the model's outputs, the classes of the labels. */
#include "cli/report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/order.h"
#include "runtime/net/scheduler/pool_threads.h"
#include "runtime/train/score.h"

struct train_report *train_report_new(const struct cli *c, const struct job *j, const char *folder)
{
	struct train_report *p = mem_alloc(1, sizeof *p);

	p->cli = c;
	p->job = j;
	p->folder = folder;
	return p;
}

static void add_norm(struct train_report *p, const double norm[NORM_NUMBERS])
{
	if (p->nnorm == REPORT_NORMS_MAX)
		return;
	mem_reserve(p->norm, p->nnorm, p->cap_norm);
	memcpy(p->norm[p->nnorm++], norm, sizeof *p->norm);
}

void train_report_state(struct train_report *p, const struct epoch_record *r, const struct epoch_state *s)
{
	double sum = 0;

	for (uint32_t i = 0; i < p->job->model.program->nweight; i++)
		sum += s->gradient[i] * s->gradient[i];
	add_norm(p, (const double[]){ r->restart, r->epoch, sqrt(sum) });
}

const double *train_report_norms(const struct train_report *p, size_t *n)
{
	*n = NORM_NUMBERS * p->nnorm;
	return (const double *)p->norm;
}

void train_report_resume(struct train_report *p, const struct weights_vector *norms)
{
	for (size_t i = 0; norms && i + 2 < norms->n; i += NORM_NUMBERS) {
		const double *v = norms->value + i;

		if (v[0] >= 0 && v[0] < TRAIN_RESTARTS_MAX && v[1] >= 1 && v[1] <= p->job->train.epochs)
			add_norm(p, v);
	}
}

/* ---- outputs ---- */

static int evaluate_parts(struct train_report *p, struct err *e)
{
	struct evaluator_options o = p->job->train.exec;
	const struct program *program = p->job->model.program;
	struct evaluator *ev;

	o.gradient = GRADIENT_NONE;
	int code = evaluator_new(program, &o, &ev, e);
	if (code)
		return code;
	struct pool *pool = pool_threads_new(o.nthread);
	for (unsigned k = 0; !code && k < PART_COUNT; k++) {
		const struct part *part = &p->job->samples.part[k];
		struct report_part *to = &p->part[p->npart];
		struct part shown = *part;

		if (!part->nrow)
			continue;
		shown.nrow = part->nrow < REPORT_ROWS_MAX ? part->nrow : REPORT_ROWS_MAX;
		*to = (struct report_part){ .name = k == PART_TRAIN ? "training" : sample_part_name(k),
			.nrow = shown.nrow,
			.nleft_out = part->nrow - shown.nrow,
			.part = part };
		to->output = mem_try((size_t)shown.nrow, program->noutput * sizeof *to->output);
		if (!to->output)
			code = err_set(e, -ERR_CONFIG, "no memory for the outputs of %u samples", shown.nrow);
		else
			code = evaluate_part(ev, &shown, &p->job->train.measures, p->result->weight,
				to->output, NULL, NULL, pool, e);
		p->npart++;
	}
	pool->ops->free(pool);
	evaluator_free(ev);
	return code;
}

/* ---- classes ---- */

/* The only word that data.label_map makes this class; a number where the words are numbers, or several. */
static void name_class(struct train_report *p, unsigned k)
{
	const struct ynode *map = config_node(p->job->config, KEY_DATA_LABEL_MAP);
	const char *word = NULL;
	unsigned n = 0;

	for (uint32_t i = 0; map && i < map->n; i++) {
		struct ynode key = { .kind = YNODE_NONE };

		if (map->entry[i].value->kind == YNODE_NULL
			|| map->entry[i].value->f != p->class_value[k])
			continue;
		yaml_resolve(&key, map->entry[i].key);
		word = key.kind == YNODE_INT || key.kind == YNODE_REAL ? NULL : map->entry[i].key;
		n++;
	}
	if (n != 1 || !word) {
		snprintf(p->class_name[k], sizeof p->class_name[k], "%.4g", p->class_value[k]);
		return;
	}
	size_t len = strlen(word);
	if (len > REPORT_NAME_MAX)
		for (len = REPORT_NAME_MAX - 3; len && ((unsigned char)word[len] & 0xc0) == 0x80; len--)
			;
	snprintf(p->class_name[k], sizeof p->class_name[k], "%.*s%s", (int)len, word, word[len] ? "\u2026" : "");
}

/* Few different values of one label are classes; several labels are one each. */
static void find_classes(struct train_report *p)
{
	uint32_t noutput = p->job->model.program->noutput;
	struct label_set s = { .n = 0 };

	for (unsigned k = 0; k < p->npart; k++) {
		const struct report_part *part = &p->part[k];
		uint32_t ny = part->part->data->ny;

		for (uint32_t i = 0;
			ny == 1 && noutput == 1 && i < part->nrow && s.n < REPORT_CLASSES_MAX; i++)
			label_set_add(&s, *labels_of(part->part, i));
	}
	qsort(s.value, s.n, sizeof *s.value, order_doubles);
	memcpy(p->class_value, s.value, s.n * sizeof *s.value);
	p->nclass = s.n;
	if (noutput > 1 && noutput <= REPORT_CLASSES_MAX && p->npart) {
		p->nclass = noutput;
		for (unsigned k = 0; k < noutput; k++)
			p->class_value[k] = k;
	}
	if (p->nclass >= REPORT_CLASSES_MAX || p->nclass < 2)
		p->nclass = 0;
	for (unsigned k = 0; k < p->nclass; k++)
		name_class(p, k);
}

/* Labels 0 and 1, or -1 and 1: as metrics and `qcnn infer` do. */
static void find_rule(struct train_report *p)
{
	const double *v = p->class_value;

	p->has_rule = p->nclass == 2 && p->job->model.program->noutput == 1 && (v[0] == 0 || v[0] == -1) && v[1] == 1;
	if (p->has_rule)
		p->rule = measures_rule(&p->job->train.measures, v, 2);
}

static unsigned nearest(const struct train_report *p, double v)
{
	unsigned best = 0;

	for (unsigned k = 1; k < p->nclass; k++)
		if (fabs(v - p->class_value[k]) < fabs(v - p->class_value[best]))
			best = k;
	return best;
}

unsigned report_class(const struct train_report *p, const struct report_part *part, uint32_t row, bool label)
{
	uint32_t n = p->job->model.program->noutput, ny = part->part->data->ny;
	const double *y = labels_of(part->part, row), *output = part->output + (size_t)row * n;

	if (n > 1)
		return label && ny == 1 ? (*y >= 0 && *y < n ? (unsigned)*y : 0) : metric_largest(label ? y : output, n);
	if (!label && p->has_rule)
		return binary_positive(&p->rule, *output);
	return nearest(p, label ? *y : *output);
}

/* ---- the file ---- */

int train_report_write(struct train_report *p, struct run *run, const struct train_result *r, double seconds, struct err *e)
{
	buf_auto lines = BUF_INIT, page = BUF_INIT;

	p->result = r;
	p->seconds = seconds;
	int code = run_read(run, "metrics.jsonl", HISTORY_BYTES_MAX, &lines, e);
	if (!code) {
		history_parse(lines.data, lines.len, &p->history);
		code = evaluate_parts(p, e);
	}
	if (!code) {
		p->best = history_best(&p->history, r->winner + 1.0);
		find_classes(p);
		find_rule(p);
		report_page(p, &page);
		code = run_write(run, "report.html", &page, 0, e);
	}
	return code;
}

void train_report_free(struct train_report *p)
{
	if (!p)
		return;
	for (unsigned k = 0; k < p->npart; k++)
		free(p->part[k].output);
	history_release(&p->history);
	free(p->norm);
	free(p);
}
