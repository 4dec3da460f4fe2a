/* SPDX-License-Identifier: Apache-2.0
 * Prints the results of a dry run as text or as JSON. */
#include "cli/training/train_preview_parts.h"

#include <math.h>

#include "cli/hosts/cluster_plan.h"
#include "cli/job/record.h"
#include "cli/output/values.h"
#include "runtime/base/json.h"
#include "runtime/base/system/cpus.h"
#include "runtime/exec/engine.h"
#include "runtime/exec/statevector/state_memory.h"
#include "runtime/net/cluster/coordinator.h"

/* Of all restarts, as far as nothing stops them before. */
static double all_seconds(const struct preview *p)
{
	const struct train_job *j = &p->job->train;
	double epochs = j->epochs - j->initial_epoch, most = (double)j->max_steps / train_steps_per_epoch(j);

	if (j->max_steps && most < epochs)
		epochs = most;
	return ceil((double)j->restarts / p->nconcurrent) * epochs * p->epoch_seconds;
}

static json_t *data_json(const struct preview *p)
{
	json_t *all = json_array();

	for (unsigned k = 0; k < PART_COUNT; k++) {
		const struct part *part = &p->job->samples.part[k];

		if (part->nrow)
			json_array_append_new(all,
				json_pack("{s:s, s:s, s:i, s:i, s:i, s:b}", "part",
					sample_part_name((enum sample_part)k), "source",
					part->data->source, "rows", (int)part->nrow, "inputs",
					(int)part->data->nx, "labels", (int)part->data->ny,
					"streamed", part->data->rows != NULL));
	}
	return all;
}

static struct engine_problem problem_of(const struct train_job *j)
{
	return (struct engine_problem){
		.program = j->program, .options = &j->exec, .nsample = train_batch_size(j)
	};
}

void preview_json(const struct preview *p, struct buf *out)
{
	const struct train_job *j = &p->job->train;
	const struct engine_problem problem = problem_of(j);
	json_auto_t *all = json_object();

	json_object_set_new(all, "schema", json_integer(1));
	json_object_set_new(all, "data", data_json(p));
	json_object_set_new(all, "qubits", json_integer(program_nwire(j->program)));
	json_object_set_new(all, "weights", json_integer(j->program->nweight));
	json_object_set_new(all, "batch_size", json_integer(train_batch_size(j)));
	json_object_set_new(all, "steps_per_epoch", json_integer(train_steps_per_epoch(j)));
	json_object_set_new(all, "epochs", json_integer(j->epochs - j->initial_epoch));
	json_object_set_new(all, "restarts", json_integer(j->restarts));
	json_object_set_new(all, "side_by_side", json_integer(p->nconcurrent));
	json_object_set_new(all, "memory_bytes", json_integer((json_int_t)p->memory));
	json_object_set_new(all, "memory_available_bytes", json_integer((json_int_t)cpus_memory_available()));
	json_object_set_new(all, "device", json_string(execution_device(&j->exec)));
	json_object_set_new(all, "device_reason",
		*p->job->device_reason ? json_string(p->job->device_reason) : json_null());
	json_object_set_new(all, "start", cluster_plan_json(p->cluster));
	if (p->job->workers)
		json_object_set_new(all, "workers", record_workers(p->job->workers));
	json_object_set_new(all, "method", json_string(method_name(j->exec.method)));
	json_object_set_new(all, "engines", record_engines(&problem));
	json_t *tensor = record_tensor_plan(j);
	if (tensor)
		json_object_set_new(all, "tensor", tensor);
	record_optimisations(&p->optimisations, all);
	if (p->split.nrank)
		json_object_set_new(all, "split", preview_split_json(&p->split));
	json_object_set_new(all, "steps_measured", json_integer((json_int_t)p->nstep));
	json_object_set_new(all, "step_seconds", json_real(p->step_seconds));
	json_object_set_new(all, "validation_seconds", json_real(p->validation_seconds));
	json_object_set_new(all, "epoch_seconds", json_real(p->epoch_seconds));
	json_object_set_new(all, "total_seconds", json_real(all_seconds(p)));
	json_print(all, out);
	buf_char(out, '\n');
}

void preview_text(const struct preview *p, struct buf *out)
{
	const struct train_job *j = &p->job->train;
	struct coordinator_worker w;
	const struct engine_problem problem = problem_of(j);
	char taken[MEMORY_TEXT_MAX], free_text[MEMORY_TEXT_MAX];
	uint32_t epochs = j->epochs - j->initial_epoch;
	buf_auto b = BUF_INIT;

	for (unsigned k = 0; k < PART_COUNT; k++) {
		const struct part *part = &p->job->samples.part[k];

		if (part->nrow)
			buf_printf(out, "data      %u sample%s for %s: %s, %u input%s, %u label%s%s\n",
				part->nrow, part->nrow == 1 ? "" : "s",
				sample_part_name((enum sample_part)k), part->data->source,
				part->data->nx, part->data->nx == 1 ? "" : "s", part->data->ny,
				part->data->ny == 1 ? "" : "s", part->data->rows ? ", streamed" : "");
	}
	buf_printf(out, "weights   %u\n", j->program->nweight);
	buf_printf(out, "steps     %u an epoch, of %u sample%s; %u epoch%s",
		train_steps_per_epoch(j), train_batch_size(j), train_batch_size(j) == 1 ? "" : "s",
		epochs, epochs == 1 ? "" : "s");
	if (j->restarts > 1)
		buf_printf(out, ", %u restarts", j->restarts);
	if (p->nconcurrent > 1)
		buf_printf(out, ", %u side by side", p->nconcurrent);
	buf_str(out, "\n");
	cluster_plan_text(p->cluster, out);
	/* Who would compute, with the measured steps behind them. */
	for (unsigned rank = 0; p->job->workers && coordinator_worker(p->job->workers, rank, &w);
		rank++)
		buf_printf(out, "worker    %s: %u thread%s, %llu units so far\n", w.name, w.nthread,
			w.nthread == 1 ? "" : "s", (unsigned long long)w.nunit);
	buf_printf(out, "device    %s%s%s\n", execution_device(&j->exec),
		*p->job->device_reason ? ": " : "", p->job->device_reason);
	engine_reasons(&problem, "engine    ", "\n", out);
	preview_split_text(&p->split, out);
	optimisation_use_text(&p->optimisations, &b);
	if (b.len)
		buf_printf(out, "optimised %s\n", b.data);
	buf_printf(out, "memory    %s used, %s available\n", memory_text((double)p->memory, 0, taken),
		memory_text((double)cpus_memory_available(), 0, free_text));
	buf_str(out, "time      ");
	duration_print(p->step_seconds, out);
	buf_printf(out, " a step (%llu measured), ", (unsigned long long)p->nstep);
	duration_print(p->epoch_seconds, out);
	buf_str(out, j->validation.nrow ? " an epoch with its validation, " : " an epoch, ");
	duration_print(all_seconds(p), out);
	buf_str(out, " in total\n");
}
