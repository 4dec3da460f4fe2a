/* SPDX-License-Identifier: Apache-2.0
 * 21 updates of Adam from given weights on given data, as other people's simulators made
 * them: every weight, loss and prediction, in double, on both backends.
 *
 * The values lie in $QCNN_SHARED/reference/tfq (default: ../shared beside the sources). */
#include "runtime/train/train.h"

#include <unistd.h>

#include "runtime/base/json.h"
#include "runtime/data/format/dataset_read.h"
#include "runtime/net/scheduler/pool_threads.h"
#include "tests/compile_file.h"
#include "tests/tap.h"

enum { STEPS = 21, STEPS_PER_EPOCH = 7, NQUBIT = 8, NTRAIN = 112, NALL = 160, NWEIGHT_MAX = 256 };
static const double tolerance = 1e-8;
static char source_dir[2048], tfq_dir[2048];

static json_t *open_json(const char *name)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	struct err e = { 0 };
	json_t *v;

	buf_printf(&path, "%s/%s", tfq_dir, name);
	if (buf_read_file(&text, path.data, JSON_BYTES_MAX, &e))
		tap_bail("%s", e.text);
	v = json_read(text.data, text.len, &e);
	if (!v)
		tap_bail("%s: %s", name, e.text);
	buf_release(&text);
	buf_release(&path);
	return v;
}

/* Numbers of nested lists in order, from v + n on; the new n. */
static size_t flatten(const json_t *j, double *v, size_t n)
{
	if (!json_is_array(j)) {
		v[n] = json_number_value(j);
		return n + 1;
	}
	for (size_t k = 0; k < json_array_size(j); k++)
		n = flatten(json_array_get(j, k), v, n);
	return n;
}

/* The weights by the names that the file lists, which is the program's order. */
static size_t weights_of(const json_t *file, const json_t *by_name, double *v)
{
	const json_t *names = json_object_get(file, "weight_names");
	size_t n = 0;

	for (size_t k = 0; k < json_array_size(names); k++)
		n = flatten(json_object_get(by_name, json_string_value(json_array_get(names, k))), v, n);
	return n;
}

static struct program *compile(const char *name)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	struct source_set *s = source_set_new();
	struct diags *d = diags_new(s);
	struct err e = { 0 };
	struct program *p;

	buf_printf(&path, "%s/examples/%s", source_dir, name);
	p = compile_file(path.data, d, &(struct compile_options){ 0 }, &e);
	if (!p) {
		diags_print(d, DIAG_HUMAN, false, &text);
		tap_bail("%s %s", e.text, text.data ? text.data : "");
	}
	diags_free(d);
	source_set_free(s);
	buf_release(&text);
	buf_release(&path);
	return p;
}

static struct dataset *read_data(void)
{
	struct buf path = BUF_INIT;
	struct source_set *s = source_set_new();
	struct diags *d = diags_new(s);
	struct input_want want = { .name = "x", .count = NQUBIT, .ndim = 1, .dim = { NQUBIT } };
	struct read_options o = { .want = &want, .nwant = 1, .label_required = true };
	struct dataset *data;
	struct err e = { 0 };

	buf_printf(&path, "%s/cluster_data.csv", tfq_dir);
	if (dataset_read(path.data, &o, d, &data, &e))
		tap_bail("%s", e.text);
	diags_free(d);
	source_set_free(s);
	buf_release(&path);
	return data;
}

/* ---- one run beside the file ---- */

struct comparison { const json_t *file; double batch_loss, loss, val_loss; };

static double farther(double worst, double got, const json_t *want)
{
	return tap_worst(worst, fabs(got - json_number_value(want)));
}

static void see_step(void *ctx, uint32_t restart, uint32_t epoch, uint64_t step, uint32_t step_in_epoch,
	uint32_t steps_per_epoch, double batch_loss)
{
	struct comparison *c = ctx;
	const json_t *row = json_array_get(json_object_get(c->file, "steps"), step - 1);

	(void)restart, (void)epoch, (void)step_in_epoch, (void)steps_per_epoch;
	c->batch_loss = farther(c->batch_loss, batch_loss, json_object_get(row, "batch_loss"));
}

static void see_epoch(void *ctx, const struct epoch_record *r)
{
	struct comparison *c = ctx;
	const json_t *row = json_array_get(json_object_get(c->file, "epochs"), r->epoch - 1);

	if (r->step != r->epoch * STEPS_PER_EPOCH)
		return;
	c->loss = farther(c->loss, r->loss, json_object_get(row, "loss"));
	c->val_loss = farther(c->val_loss, r->val_loss, json_object_get(row, "val_loss"));
	tap_ok(r->val_metric[0] == json_number_value(json_object_get(row, "val_sign_accuracy")),
		"epoch %u: %g of the validation signs are right", r->epoch, r->val_metric[0]);
}

static struct train_job job_of(const struct program *p, const struct dataset *data, const char *device, const double *init)
{
	static uint32_t row[NALL];
	struct train_job j = { .program = p,
		.exec = { .target = target_find(device, NULL), .precision = PRECISION_DOUBLE, .nthread = 2, .gradient = GRADIENT_ADJOINT },
		.train = { data, row, NTRAIN }, .validation = { data, row + NTRAIN, NALL - NTRAIN },
		.epochs = STEPS / STEPS_PER_EPOCH, .batch_size = 16,
		.measures = { .loss = loss_choice(loss_find("mse")), .metric = { metric_choice(metric_find("sign_accuracy")) }, .nmetric = 1 },
		.optimizer = optimizer_find("adam"),
		.restarts = 1, .init = init };

	for (uint32_t i = 0; i < NALL; i++)
		row[i] = i;
	for (unsigned k = 0; k < j.optimizer->noption; k++)
		j.option[k] = j.optimizer->option[k].value;
	j.option[0] = 0.02;
	return j;
}

/* The weights after `steps` updates against the file's. */
static double weights_after(const json_t *file, const struct train_job *job, unsigned steps)
{
	struct train_job j = *job;
	struct train_result r;
	struct err e = { 0 };
	double want[NWEIGHT_MAX], worst = 0;
	size_t n = weights_of(file, json_object_get(json_array_get(json_object_get(file, "steps"), steps - 1), "weights_after"), want);

	j.max_steps = steps;
	j.validation.nrow = 0;
	if (train_run(&j, NULL, &r, &e))
		tap_bail("%s", e.text);
	for (size_t i = 0; i < n; i++)
		worst = tap_worst(worst, fabs(r.weight[i] - want[i]));
	train_result_release(&r);
	return worst;
}

static double predictions(const json_t *file, const struct train_job *j, const double *weight)
{
	const json_t *want = json_object_get(file, "prediction_after_training");
	struct part all = { j->train.data, NULL, NALL };
	struct pool *pool = pool_threads_new(2);
	struct evaluator *ev;
	struct err e = { 0 };
	double output[NALL], worst = 0;

	if (evaluator_new(j->program, &j->exec, &ev, &e)
		|| evaluate_part(ev, &all, NULL, weight, output, NULL, NULL, pool, &e))
		tap_bail("%s", e.text);
	for (uint32_t i = 0; i < NALL; i++)
		worst = farther(worst, output[i], json_array_get(want, i));
	pool->ops->free(pool);
	evaluator_free(ev);
	return worst;
}

static void test_run(const char *name, const char *model, const char *device, unsigned stride)
{
	struct program *p = compile(model);
	struct dataset *data = read_data();
	json_t *file = open_json(name);
	struct comparison c = { .file = file };
	struct train_observer o = { .ctx = &c, .step = see_step, .epoch = see_epoch };
	double init[NWEIGHT_MAX], worst = 0;
	struct train_job j = job_of(p, data, device, init);
	struct train_result r;
	struct err e = { 0 };

	tap_is_int((long long)weights_of(file, json_object_get(file, "initial"), init), p->nweight, "%s on %s: weights", name, device);
	if (train_run(&j, &o, &r, &e))
		tap_bail("%s", e.text);
	tap_close(c.batch_loss, 0, tolerance, "%s on %s: loss of every batch", name, device);
	tap_close(c.loss, 0, tolerance, "%s on %s: loss of every epoch", name, device);
	tap_close(c.val_loss, 0, tolerance, "%s on %s: validation loss of every epoch", name, device);
	tap_close(predictions(file, &j, r.weight), 0, tolerance, "%s on %s: predictions after training", name, device);
	for (unsigned k = stride; k <= STEPS; k += stride)
		worst = tap_worst(worst, weights_after(file, &j, k));
	tap_close(worst, 0, tolerance, "%s on %s: weights after every %u updates", name, device, stride);
	train_result_release(&r);
	json_decref(file);
	dataset_free(data);
	program_free(p);
}

int main(void)
{
	const char *shared = getenv("QCNN_SHARED"), *source = getenv("top_srcdir");

	snprintf(source_dir, sizeof source_dir, "%s", source ? source : ".");
	if (shared && *shared)
		snprintf(tfq_dir, sizeof tfq_dir, "%s/reference/tfq", shared);
	else
		snprintf(tfq_dir, sizeof tfq_dir, "%.2000s/../shared/reference/tfq", source_dir);
	if (access(tfq_dir, R_OK))
		tap_skip_all("no reference values in %s", tfq_dir);
	test_run("train_a.json", "cluster/cluster.qcnn", "cpu", 1);
	test_run("train_b.json", "cluster-hybrid/hybrid.qcnn", "cpu", 1);
	test_run("train_a.json", "cluster/cluster.qcnn", "ref", 7);
	test_run("train_b.json", "cluster-hybrid/hybrid.qcnn", "ref", 7);
	return tap_done();
}
