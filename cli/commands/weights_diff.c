/* SPDX-License-Identifier: Apache-2.0
 * qcnn weights diff: where two files of weights differ, and how much. */
#include "cli/job/weights_files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/values.h"
#include "runtime/base/visible.h"

/* One path of either file. */
struct path_difference {
	const struct weight_group *group[2];   /* NULL: not in that file */
	bool same_shape, equal;
	uint32_t at;                 /* of the largest difference, counted in the first file's weights */
	double largest, rms;
};

struct comparison {
	const struct weights_file *file;       /* [2] */
	uint32_t n;
	struct path_difference *path;
	bool weights_equal, metadata_equal;    /* files without metadata: equal */
};

enum presence { IN_BOTH_EQUAL = 0, IN_BOTH, IN_FIRST, IN_SECOND };
static const char *const presence_name[] = { "equal", "different", "only in the first", "only in the second" };

/* ---- comparing ---- */

static bool same_shape(const struct weight_group *a, const struct weight_group *b)
{
	return a->ndim == b->ndim && !memcmp(a->dim, b->dim, a->ndim * sizeof *a->dim);
}

static void compare_values(const struct comparison *c, struct path_difference *d)
{
	const double *a = c->file[0].weight + d->group[0]->first, *b = c->file[1].weight + d->group[1]->first;
	uint32_t n = d->group[0]->count;
	double sum = 0;

	d->at = d->group[0]->first;
	for (uint32_t i = 0; i < n; i++) {
		double x = fabs(a[i] - b[i]);

		sum += x * x / n;
		if (x > d->largest) {
			d->largest = x;
			d->at = d->group[0]->first + i;
		}
	}
	d->rms = sqrt(sum);
	d->equal = d->largest == 0;
}

static int by_path(const void *x, const void *y)
{
	const struct path_difference *a = x, *b = y;

	return strcmp((a->group[0] ? a->group[0] : a->group[1])->path, (b->group[0] ? b->group[0] : b->group[1])->path);
}

/* Sorted by path, those of one name joined. */
static void join_paths(struct comparison *c)
{
	uint32_t n = 0, out = 0;

	for (int f = 0; f < 2; f++)
		for (uint32_t g = 0; g < c->file[f].program->nweight_group; g++)
			c->path[n++].group[f] = &c->file[f].program->weight_group[g];
	qsort(c->path, n, sizeof *c->path, by_path);
	for (uint32_t i = 0; i < n; i++)
		if (out && !by_path(&c->path[out - 1], &c->path[i])) {
			for (int f = 0; f < 2; f++)
				if (c->path[i].group[f])
					c->path[out - 1].group[f] = c->path[i].group[f];
		} else {
			c->path[out++] = c->path[i];
		}
	c->n = out;
}

/* As in the first file, then what only the second has. */
static int by_place(const void *x, const void *y)
{
	const struct path_difference *a = x, *b = y;
	int f = a->group[0] && b->group[0] ? 0 : 1;

	if (!a->group[0] != !b->group[0])
		return a->group[0] ? -1 : 1;
	return (a->group[f] > b->group[f]) - (a->group[f] < b->group[f]);
}

static void compare_weights(struct comparison *c)
{
	join_paths(c);
	qsort(c->path, c->n, sizeof *c->path, by_place);
	c->weights_equal = true;
	for (uint32_t i = 0; i < c->n; i++) {
		struct path_difference *d = &c->path[i];

		d->same_shape = d->group[0] && d->group[1] && same_shape(d->group[0], d->group[1]);
		if (d->same_shape)
			compare_values(c, d);
		c->weights_equal &= d->equal;
	}
}

/* ---- metadata ---- */

/* Calls visit for each key of either file, in order of the keys, and for the program. */
static void each_metadata(struct comparison *c, void (*visit)(void *ctx, const char *key, enum presence p), void *ctx)
{
	const struct weights *a = c->file[0].bin, *b = c->file[1].bin;

	c->metadata_equal = true;
	if (!a || !b)
		return;
	for (unsigned i = 0, k = 0; i < a->nmeta || k < b->nmeta; ) {
		int order = i == a->nmeta ? 1 : k == b->nmeta ? -1 : strcmp(a->meta[i].key, b->meta[k].key);
		const char *key = order > 0 ? b->meta[k].key : a->meta[i].key;
		enum presence p = order < 0 ? IN_FIRST : order > 0 ? IN_SECOND
			: strcmp(a->meta[i].value, b->meta[k].value) ? IN_BOTH : IN_BOTH_EQUAL;

		i += order <= 0;
		k += order >= 0;
		c->metadata_equal &= p == IN_BOTH_EQUAL;
		visit(ctx, key, p);
	}
	if (!program_same(a->program, b->program)) {
		c->metadata_equal = false;
		visit(ctx, "program", IN_BOTH);
	} else {
		visit(ctx, "program", IN_BOTH_EQUAL);
	}
}

/* ---- text ---- */

static void path_text(const struct comparison *c, const struct path_difference *d, struct buf *out)
{
	visible_str(out, (d->group[0] ? d->group[0] : d->group[1])->path);
	buf_str(out, ": ");
	if (!d->group[0] || !d->group[1]) {
		buf_printf(out, "only in %s\n", c->file[d->group[0] ? 0 : 1].path);
		return;
	}
	if (!d->same_shape) {
		buf_str(out, "shapes ");
		shape_print(d->group[0]->ndim, d->group[0]->dim, out);
		buf_str(out, " and ");
		shape_print(d->group[1]->ndim, d->group[1]->dim, out);
	} else if (d->equal) {
		buf_str(out, "equal");
	} else {
		buf_printf(out, "largest difference %.3g at ", d->largest);
		weight_path(c->file[0].program, d->at, out);
		buf_printf(out, ", rms %.3g", d->rms);
	}
	buf_char(out, '\n');
}

static void metadata_text(void *ctx, const char *key, enum presence p)
{
	buf_str(ctx, "# ");
	visible_str(ctx, key);
	buf_printf(ctx, ": %s\n", presence_name[p]);
}

static void diff_text(struct comparison *c, struct buf *out)
{
	each_metadata(c, metadata_text, out);
	for (uint32_t i = 0; i < c->n; i++)
		path_text(c, &c->path[i], out);
}

/* ---- JSON ---- */

static void shape_json(const struct weight_group *g, struct buf *out)
{
	if (g)
		shape_print(g->ndim, g->dim, out);
	else
		buf_str(out, "null");
}

static void path_json(const struct comparison *c, const struct path_difference *d, struct buf *out)
{
	buf_json(out, ", %s: {\"equal\": %i, \"shapes\": [",
		(d->group[0] ? d->group[0] : d->group[1])->path, d->equal);
	shape_json(d->group[0], out);
	buf_str(out, ", ");
	shape_json(d->group[1], out);
	buf_char(out, ']');
	if (d->same_shape) {
		buf_auto at = BUF_INIT;

		if (d->group[0]->count)
			weight_path(c->file[0].program, d->at, &at);
		buf_json(out, ", \"largest\": %g, \"at\": %s, \"rms\": %g", d->largest,
			at.data ? at.data : "", d->rms);
	}
	buf_char(out, '}');
}

static void metadata_json(void *ctx, const char *key, enum presence p)
{
	buf_json(ctx, ", %s: %s", key, presence_name[p]);
}

static void diff_json(struct comparison *c, struct buf *out)
{
	buf_str(out, "{\"schema\": 1, \"params\": {");
	for (uint32_t i = 0; i < c->n; i++)
		path_json(c, &c->path[i], out);
	buf_str(out, "}, \"metadata\": {");
	each_metadata(c, metadata_json, out);
	buf_json(out, "}, \"weights_equal\": %i, \"metadata_equal\": %i}\n", c->weights_equal,
		c->metadata_equal);
}

/* ---- the files ---- */

/* Numbers without a model of their own take that of --model, else that of the other file. */
static int open_files(struct cli *c, const struct named_model *m, struct weights_file file[2])
{
	const char *const *path = c->options.operand + 1;
	int first = weights_file_is_bin(path[0]) ? 0 : 1, status;
	const struct program *p = m->model.program;

	status = weights_file_open(c, path[first], weights_file_is_bin(path[first]) ? NULL : p, &file[first]);
	if (status)
		return status;
	if (!p)
		p = file[first].program;
	return weights_file_open(c, path[!first], weights_file_is_bin(path[!first]) ? NULL : p, &file[!first]);
}

int weights_diff(struct cli *c)
{
	struct weights_file file[2] = { { 0 }, { 0 } };
	struct comparison diff = { .file = file };
	named_model_auto m;
	int status = weights_model_open(c, &m);

	if (!status)
		status = open_files(c, &m, file);
	if (!status) {
		diff.path = mem_alloc((size_t)file[0].program->nweight_group + file[1].program->nweight_group + 1, sizeof *diff.path);
		compare_weights(&diff);
		(c->options.given[OPT_JSON] ? diff_json : diff_text)(&diff, &c->out);
		/* Here, since main prefers the command's status to that of a failed write. */
		status = cli_flush(c, &c->out);
		buf_clear(&c->out);
		if (!status && !(diff.weights_equal && diff.metadata_equal))
			status = 1;
	}
	free(diff.path);
	for (int k = 0; k < 2; k++)
		weights_file_release(&file[k]);
	return status;
}
