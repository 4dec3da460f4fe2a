/* SPDX-License-Identifier: Apache-2.0
 * Metadata of weights.bin and run.json. */
#include "cli/job/record.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/config/aliases.h"
#include "cli/job/classes.h"
#include "cli/job/run_metrics.h"
#include "runtime/base/numerical_version.h"
#include "runtime/base/system/clock.h"
#include "runtime/base/system/cpus.h"
#include "runtime/exec/engine.h"
#include "runtime/net/cluster/coordinator.h"

#define TEXT_OF(x) TEXT_OF_VALUE(x)
#define TEXT_OF_VALUE(x) #x
#define NUMERICAL_VERSION_TEXT TEXT_OF(NUMERICAL_VERSION)

/* A number, or rows of them. */
static json_t *value_json(unsigned side, const double *value)
{
	if (!side)
		return json_real(*value);
	json_t *rows = json_array();
	for (unsigned i = 0; i < side; i++) {
		json_t *row = json_array();
		for (unsigned k = 0; k < side; k++)
			json_array_append_new(row, json_real(*value++));
		json_array_append_new(rows, row);
	}
	return rows;
}

static void add_metrics(json_t *all, const struct train_job *j, const struct epoch_record *r)
{
	struct metrics_line line;

	epoch_record_line(j, r, &line);
	for (unsigned k = 0; k < line.n; k++) {
		const struct metrics_value *v = &line.value[k];

		if ((v->part == METRICS_TRAINING || v->part == METRICS_VALIDATION) && v->given)
			json_object_set_new(all, v->name, value_json(v->side, v->side ? v->entry : &v->number));
	}
}

/* The test part's, under the same names behind test_. */
static void add_test(json_t *all, const struct job *j)
{
	struct epoch_record r = { .loss = j->test.loss };
	json_auto_t *named = json_object();
	const char *key;
	json_t *v;

	if (!j->test.done)
		return;
	memcpy(r.metric, j->test.metric, sizeof r.metric);
	add_metrics(named, &j->train, &r);
	json_object_foreach(named, key, v) {
		buf_auto name = BUF_INIT;

		buf_printf(&name, "test_%s", key);
		json_object_set(all, name.data, v);
	}
}

/* How restarts ended that early_stopping watched, by their numbers; null: that did not happen. */
static void add_ends(json_t *all, const struct train_job *j, const struct train_result *r)
{
	if (!r->end || !callback_next(j, CALLBACK_early_stopping, NULL))
		return;
	json_t *trained = json_array();
	json_t *stopped = json_array();
	json_t *restored = json_array();
	for (const struct restart_end *end = r->end; end < r->end + j->restarts; end++) {
		json_array_append_new(trained, json_integer((json_int_t)end->epochs));
		json_array_append_new(stopped, end->stopped > 0 ? json_integer((json_int_t)end->stopped) : json_null());
		json_array_append_new(restored, end->restored > 0 ? json_integer((json_int_t)end->restored) : json_null());
	}
	json_object_set_new(all, "start_epochs", trained);
	json_object_set_new(all, "stopped_epochs", stopped);
	json_object_set_new(all, "restored_epochs", restored);
}

/* No timings here: equal results are equal files. */
static json_t *metrics_json(const struct train_job *j, const struct train_result *r)
{
	json_t *all = json_object(), *starts = json_array();

	add_metrics(all, j, &r->last);
	for (uint32_t i = 0; r->restart_loss && i < j->restarts; i++)
		json_array_append_new(starts, json_real(r->restart_loss[i]));
	json_object_set_new(all, "start_losses", starts);
	add_ends(all, j, r);
	json_object_set_new(all, "start", json_integer(r->winner + 1));
	json_object_set_new(all, "epochs", json_integer(r->last.epoch));
	json_object_set_new(all, "steps", json_integer((json_int_t)r->step));
	return all;
}

static void write_and_drop(json_t *v, struct buf *out)
{
	json_write(v, out);
	json_decref(v);
}

int record_texts(const struct job *j, struct record_texts *t, struct err *e)
{
	const struct config_resolved r = execution_resolved(&j->train.exec);

	memset(t, 0, sizeof *t);
	write_and_drop(config_json(j->config, SCOPE_RESULT, &r), &t->config);
	transform_format(&j->samples.transform, &t->transform);
	samples_columns(&j->samples, j->config, &t->columns);
	classes_labels(&j->samples.part[PART_TRAIN], &t->labels);
	buf_printf(&t->seed, "%llu", (unsigned long long)j->train.seed);
	return samples_describe(&j->samples, j->config, &t->split, e);
}

void record_texts_release(struct record_texts *t)
{
	buf_release(&t->config);
	buf_release(&t->columns);
	buf_release(&t->labels);
	buf_release(&t->split);
	buf_release(&t->seed);
	buf_release(&t->transform);
}

unsigned record_metadata(const struct job *j, const struct record_texts *t, const char *key, const char *value,
	struct metadata meta[RECORD_METADATA])
{
	unsigned n = 0;

	if (t->columns.len)
		meta[n++] = (struct metadata){ "columns", t->columns.data };
	meta[n++] = (struct metadata){ "config", t->config.data };
	if (t->labels.len)
		meta[n++] = (struct metadata){ "labels", t->labels.data };
	meta[n++] = (struct metadata){ key, value };
	meta[n++] = (struct metadata){ "numerical_version", NUMERICAL_VERSION_TEXT };
	meta[n++] = (struct metadata){ "seed", t->seed.data };
	meta[n++] = (struct metadata){ "source", j->model.text ? j->model.text : "" };
	meta[n++] = (struct metadata){ "split", t->split.data };
	if (j->samples.transform.nstep)
		meta[n++] = (struct metadata){ "transform", t->transform.data };
	return n;
}

int record_too_long(int code, struct err *e)
{
	return !code ? 0 : err_set(e, code, "the metadata of the weights are too long; data.transform may have too many numbers");
}

int record_weights(const struct job *j, const struct train_result *r, struct buf *out, struct err *e)
{
	struct metadata meta[RECORD_METADATA];
	buf_auto metrics = BUF_INIT;
	struct record_texts t;
	int code = record_texts(j, &t, e);

	write_and_drop(metrics_json(&j->train, r), &metrics);
	if (!code) {
		unsigned n = record_metadata(j, &t, "metrics", metrics.data, meta);

		code = record_too_long(weights_format(j->train.program, r->weight, meta, n, out), e);
	}
	record_texts_release(&t);
	return code;
}

void record_text_digest(const struct buf *config, char hex[SHA256_HEX + 1])
{
	uint8_t digest[SHA256_BYTES];
	buf_auto all = BUF_INIT;

	buf_add(&all, config->data, config->len);
	buf_printf(&all, "\nnumerical_version %s\n", NUMERICAL_VERSION_TEXT);
	sha256_of(all.data, all.len, digest);
	sha256_hex(digest, hex);
}

void record_digest(const struct job *j, char hex[SHA256_HEX + 1])
{
	const struct config_resolved r = execution_resolved(&j->train.exec);
	buf_auto config = BUF_INIT;

	write_and_drop(config_json(j->config, SCOPE_RESULT, &r), &config);
	record_text_digest(&config, hex);
}

/* Arguments, paths and names may have bytes that are not UTF-8: json_write replaces them by U+FFFD. */
static json_t *any_text(const char *s) { return json_string_nocheck(s); }

static json_t *command_json(const struct cli *c, const struct job *j)
{
	json_t *all = json_array();

	for (char *const *word = job_words(c, j); *word; word++)
		json_array_append_new(all, any_text(*word));
	return all;
}

static json_t *machine_json(const struct job *j)
{
	json_t *all = json_object();
	char host[256] = "";
	const char *rule = "run.threads";

	gethostname(host, sizeof host - 1);
	cpus_threads(&rule);
	json_object_set_new(all, "host", json_string(host));
	json_object_set_new(all, "cpu", json_string(cpus_model()));
	json_object_set_new(all, "device", json_string(execution_device(&j->train.exec)));
	if (*j->device_reason)
		json_object_set_new(all, "device_reason", json_string(j->device_reason));
	json_object_set_new(all, "isa", json_string(execution_isa(&j->train.exec)));
	json_object_set_new(all, "method", json_string(method_name(j->train.exec.method)));
	json_object_set_new(all, "threads", json_integer(j->train.exec.nthread));
	json_object_set_new(all, "threads_rule",
		json_string(config_int(j->config, KEY_RUN_THREADS) ? "run.threads" : rule));
	return all;
}

json_t *record_engines(const struct engine_problem *p)
{
	buf_auto lines = BUF_INIT;
	json_t *all = json_array();

	engine_reasons(p, "", "\n", &lines);
	for (char *line = strtok(lines.data, "\n"); line; line = strtok(NULL, "\n"))
		json_array_append_new(all, json_string(line));
	return all;
}

json_t *record_tensors(const struct tensor_summary *s)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f}", "networks",
		(json_int_t)s->nnetwork, "gates", (json_int_t)s->ngate, "contractions",
		(json_int_t)s->ncontraction, "contractions_of_a_sample",
		(json_int_t)s->nsample_contraction, "unit_samples", (json_int_t)s->width,
		"flops_forward", s->forward_flops, "flops_gradient", s->gradient_flops,
		"largest_tensor", s->largest, "memory_thread_bytes", s->thread_bytes,
		"memory_shared_bytes", s->shared_bytes);
}

json_t *record_tensor_plan(const struct train_job *j)
{
	const struct engine_problem problem = {
		.program = j->program, .options = &j->exec, .nsample = train_batch_size(j)
	};
	struct tensor_summary s;

	if (j->exec.method != METHOD_TENSOR || !tensor_summary(&problem, &s))
		return NULL;
	return record_tensors(&s);
}

/* Absolute where it can be had, so that the folder is found from elsewhere. */
static json_t *folder_json(const char *folder)
{
	mem_auto char *absolute = realpath(folder, NULL);
	json_t *v = any_text(absolute ? absolute : folder);

	return v;
}

static json_t *samples_json(const struct samples *s)
{
	json_t *all = json_object();

	for (unsigned k = 0; k < PART_COUNT; k++)
		json_object_set_new(all, sample_part_name(k), json_integer(s->part[k].nrow));
	return all;
}

json_t *record_workers(struct coordinator *c)
{
	json_t *all = json_array();
	struct coordinator_worker w;

	for (unsigned rank = 0; coordinator_worker(c, rank, &w); rank++)
		json_array_append_new(all,
			json_pack("{s:o, s:i, s:I, s:f, s:o, s:b, s:i}", "name", any_text(w.name),
				"threads", (int)w.nthread, "units", (json_int_t)w.nunit, "seconds",
				w.seconds, "units_per_second",
				w.seconds > 0 ? json_real((double)w.nunit / w.seconds) : json_null(),
				"lost", w.lost, "replaced", (int)w.nrestart));
	return all;
}

/* What was counted of an optimisation; samples and states: the mean of its batches. */
static json_t *tally_json(const struct optimisation_tally *t, bool of_program)
{
	json_t *one = json_object();

	if (!of_program)
		json_object_set_new(one, "batches", json_integer((json_int_t)t->nbatch));
	if (t->ncircuit)
		json_object_set_new(one, "circuits", json_integer(t->ncircuit));
	if (t->nsample) {
		json_object_set_new(one, "samples", json_real((double)t->nsample / (double)t->nbatch));
		json_object_set_new(one, "states", json_real((double)t->nstate / (double)t->nbatch));
	}
	if (t->nqubit)
		json_object_set_new(one, "qubits", json_integer(t->nqubit));
	return one;
}

static json_t *optimisations_json(const struct optimisation_use *u, bool former)
{
	const struct engine_optimisation *used[OPTIMISATIONS_COUNT];
	unsigned n = engine_uses(used);
	json_t *all = json_object();

	for (unsigned k = 0; k < n; k++) {
		const struct optimisation_tally *t = &u->row[used[k]->row];
		const char *name = optimisation_name[used[k]->row];

		if (t->nbatch)
			json_object_set_new(all, former ? former_name(FORMER_VALUE, name) : name,
				tally_json(t, used[k]->of_program));
	}
	json_object_set_new(all, "batches", json_integer((json_int_t)u->nbatch));
	json_object_set_new(all, "flops", json_real(u->flops));
	if (u->plain_flops > 0 || !optimisation_use_any(u))
		json_object_set_new(all, "flops_without",
			json_real(optimisation_use_any(u) ? u->plain_flops : u->flops));
	return all;
}

void record_optimisations(const struct optimisation_use *u, json_t *into)
{
	static const char former[] = "shortcuts";

	json_object_set_new(into, "optimizations", optimisations_json(u, false));
	json_object_set_new(into, former, optimisations_json(u, true));
}

/* The best epoch, as the run's metrics.jsonl has it. */
static json_t *add_best(const struct run *run, json_t *metrics)
{
	buf_auto text = BUF_INIT;
	struct history h;

	if (!run_read(run, "metrics.jsonl", HISTORY_BYTES_MAX, &text, NULL)) {
		history_parse(text.data, text.len, &h);
		run_metrics_best(metrics, &h, json_number_value(json_object_get(metrics, "start")));
		history_release(&h);
	}
	return metrics;
}

int record_run(struct run *run, const struct cli *c, const struct job *j, const char *state, double seconds,
	const struct train_result *r, struct err *e)
{
	json_auto_t *all = json_object();
	buf_auto b = BUF_INIT;
	char now[32], hex[SHA256_HEX + 1];

	record_digest(j, hex);
	clock_iso(now, sizeof now);
	json_object_set_new(all, "schema", json_integer(1));
	json_object_set_new(all, "state", json_string(state));
	json_object_set_new(all, "version", json_string(PACKAGE_VERSION));
	json_object_set_new(all, "numerical_version", json_integer(NUMERICAL_VERSION));
	json_object_set_new(all, "command", command_json(c, j));
	json_object_set_new(all, "config_sha256", json_string(hex));
	json_object_set_new(all, "folder", folder_json(j->word_folder ? j->word_folder : "."));
	json_object_set_new(all, "config_folder", folder_json(config_folder(j->config)));
	json_object_set_new(all, "written", json_string(now));
	json_object_set_new(all, "seconds", json_real(seconds));
	json_object_set_new(all, "machine", machine_json(j));
	json_object_set_new(all, "samples", samples_json(&j->samples));
	json_object_set_new(all, "weights", json_integer(j->model.program->nweight));
	if (j->profile_socket)
		json_object_set_new(all, "profile_socket", json_string(j->profile_socket));
	if (j->workers)
		json_object_set_new(all, "workers", record_workers(j->workers));
	json_t *tensor = record_tensor_plan(&j->train);
	if (tensor)
		json_object_set_new(all, "tensor", tensor);
	if (j->optimisations.nbatch)
		record_optimisations(&j->optimisations, all);
	if (r) {
		json_t *metrics = metrics_json(&j->train, r);

		add_test(metrics, j);
		json_object_set_new(all, "metrics", add_best(run, metrics));
	}
	json_print(all, &b);
	buf_char(&b, '\n');
	return run_write(run, "run.json", &b, 0, e);
}
