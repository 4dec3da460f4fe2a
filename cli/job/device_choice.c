/* SPDX-License-Identifier: Apache-2.0
 * The choice between processor and GPUs, and the file of its crossover. */
#include "cli/job/device_choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/json.h"
#include "runtime/base/system/folder.h"
#include "runtime/exec/engine.h"
#include "runtime/log/run.h"

/* Of a usual GPU: seconds from weights to sums of a step that has next to nothing to do; and the share of the usual rate of
 * operations that a processor reaches. */
static const double STEP_SECONDS = 1e-4, PROCESSOR_SHARE = 0.6;
enum { CROSSOVER_BYTES_MAX = 4096 };
static const char crossover_file[] = "gpu.json";

/* ---- the stored crossover ---- */

/* False: the user has no such folder. */
static bool crossover_folder(struct buf *path)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && *cache == '/')
		buf_printf(path, "%s/qcnn", cache);
	else if (home && *home == '/')
		buf_printf(path, "%s/.cache/qcnn", home);
	return path->len > 0;
}

int device_crossover_store(double operations, unsigned nthread, struct buf *path, struct err *e)
{
	const struct target *gpu = target_gpu();
	struct device_about about;
	buf_auto text = BUF_INIT;

	if (!gpu || !target_device(gpu, 0, &about))
		return err_set(e, -ERR_CONFIG, "there is no GPU");
	if (!crossover_folder(path))
		return err_set(e, -ERR_CONFIG,
			"HOME and XDG_CACHE_HOME name no folder for %s: the crossover is not stored",
			crossover_file);
	buf_printf(path, "/%s", crossover_file);
	json_auto_t *v = json_pack("{s:i, s:s, s:i}", "schema", 1, "gpu", about.name, "threads",
		(int)nthread);
	json_object_set_new(v, "operations",
		isfinite(operations) ? json_real(operations) : json_null());
	json_print(v, &text);
	buf_char(&text, '\n');
	int code = run_make_parents(path->data, e);
	return code ? code : buf_write_file(&text, path->data, 1, e);
}

/* For that many threads; NAN: nothing was measured of this GPU. */
static double read_crossover(const struct device_about *gpu, unsigned nthread)
{
	buf_auto path = BUF_INIT, text = BUF_INIT;
	const json_t *operations, *name;
	json_auto_t *v = NULL;
	double threads, at = NAN;

	if (crossover_folder(&path)
		&& !folder_read_in(&text, path.data, crossover_file, CROSSOVER_BYTES_MAX, NULL))
		v = json_read(text.data, text.len, NULL);
	name = json_object_get(v, "gpu");
	operations = json_object_get(v, "operations");
	threads = json_number_value(json_object_get(v, "threads"));
	if (json_is_string(name) && !strcmp(json_string_value(name), gpu->name) && threads >= 1)
		at = json_is_null(operations) ? HUGE_VAL
			: json_is_number(operations)
			? json_number_value(operations) / threads * nthread
			: NAN;
	return at;
}

static double estimate_crossover(const struct target *gpu, const struct evaluator_options *o)
{
	double here = PROCESSOR_SHARE * o->target->usual_gflop_s * o->nthread,
	       there = gpu->usual_gflop_s;

	return here < there ? 1e9 * STEP_SECONDS * here / (1 - here / there) : HUGE_VAL;
}

/* ---- the choice ---- */

double device_operations(const struct program *p, uint32_t nsample, const struct evaluator_options *o)
{
	struct engine_cost cost;

	if (engine_cost(&(struct engine_problem){ .program = p, .options = o, .nsample = nsample },
		    &cost))
		return NAN;
	return cost.effort * nsample;
}

/* On the smallest of the GPUs. */
static bool states_fit(const struct target *gpu, const struct program *p,
	const struct evaluator_options *o)
{
	unsigned amplitude = o->precision == PRECISION_DOUBLE ? 16 : 8,
		 nstate = o->gradient == GRADIENT_ADJOINT ? 2 : 1;
	struct device_about about;

	for (unsigned k = 0; target_device(gpu, k, &about); k++)
		if (ldexp(amplitude * nstate, (int)program_nwire(p)) > (double)about.left)
			return false;
	return true;
}

void device_choose(const struct execution_words *w, const struct program *p, uint32_t nsample,
	struct evaluator_options *o, char reason[DEVICE_REASON_MAX])
{
	const struct target *gpu = target_gpu();
	struct device_about about;

	*reason = 0;
	if (strcmp(w->device, "auto") || strcmp(w->isa, "auto") || w->split > 1 || !gpu
		|| target_obstacle(gpu) || !target_device(gpu, 0, &about))
		return;
	if (o->method == METHOD_TENSOR) {
		snprintf(reason, DEVICE_REASON_MAX, "only the processor contracts tensors");
		return;
	}
	double operations = device_operations(p, nsample, o);
	double from = read_crossover(&about, o->nthread);
	bool measured = !isnan(from);
	if (!measured)
		from = estimate_crossover(gpu, o);
	if (!states_fit(gpu, p, o))
		snprintf(reason, DEVICE_REASON_MAX,
			"the states do not fit into the memory of the GPU");
	else if (from > 1e300)
		snprintf(reason, DEVICE_REASON_MAX, "the processor is faster than the GPU (%s)",
			measured ? "measured" : "estimated");
	else
		snprintf(reason, DEVICE_REASON_MAX,
			"a step has %.2g operations, and from %.2g on a GPU is faster (%s)",
			operations, from,
			measured ? "measured" : "estimated; qcnn info --measure measures it");
	if (operations >= from && states_fit(gpu, p, o))
		o->target = gpu;
}
