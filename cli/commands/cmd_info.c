/* SPDX-License-Identifier: Apache-2.0
 * qcnn info: what this machine and this build offer. */
#include "cli/command.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/bench/bench.h"
#include "cli/bench/selftest.h"
#include "cli/job/device_choice.h"
#include "cli/machine.h"
#include "runtime/base/system/resource_limits.h"
#include "runtime/base/visible.h"
#include "runtime/net/comm/mpi_load.h"

#if defined __clang__
#define COMPILER __VERSION__
#elif defined __GNUC__
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

#if !QCNN_HDF5
#define QCNN_HDF5 0
#endif
#if !QCNN_NLOPT
#define QCNN_NLOPT 0
#endif

/* What configure may find or not, and what it is for. */
static const struct { const char *name, *use; bool built; } optional[] = {
	{ "HDF5", ".h5 files of weights", QCNN_HDF5 },
	{ "NLopt", "the optimisers cobyla, bobyqa, nelder_mead and lbfgs", QCNN_NLOPT },
};

enum { OPTIONAL = sizeof optional / sizeof *optional };

/* Modules for --transport=mpi. */
static void mpi_text(struct buf *out)
{
	const struct mpi_library *l;
	char path[MPI_PATH_MAX];

	for (unsigned k = 0; (l = mpi_library(k)); k++) {
		int code = mpi_module_find(l, path, NULL);

		buf_printf(out, "%-14s%s: %s%s\n", "", l->title,
			!code                         ? path
				: code == -ERR_CONFIG ? "no module; configure tells why"
						      : "of another build is ",
			code == -ERR_PROTOCOL ? path : "");
	}
}

struct measured {
	struct machine_asked asked;
	struct plan_limits limits[MACHINE_LIMITS_MAX];
	unsigned n;
	/* Of the GPU: operations of a step, and where they are stored. NAN: not measured. */
	double crossover;
	struct buf path;
};

static int measure(struct cli *c, struct measured *m)
{
	unsigned thread[MACHINE_LIMITS_MAX], most = ulimit_threads(cpus_threads(NULL)), n;
	struct err e;

	*m = (struct measured){ .crossover = NAN,
		.asked.target = strcmp(c->options.value[OPT_ISA], "auto")
			? target_find(NULL, c->options.value[OPT_ISA])
			: NULL };
	if (c->options.given[OPT_THREADS])
		most = m->asked.threads = (unsigned)options_count(&c->options, OPT_THREADS);
	if (m->asked.threads && execution_threads(most, &e))
		return cli_usage(c, "%s", e.text);
	if (!c->options.given[OPT_MEASURE])
		return 0;
	n = machine_thread_counts(most, thread);
	for (unsigned k = 0; k < n; k++) {
		if (limits_measure(target_or_best(m->asked.target), thread[k], &m->limits[k], &e))
			return cli_fail(c, &e);
		m->n++;
	}
	if (target_gpu() && !target_obstacle(target_gpu())
		&& (crossover_measure(c, most, &m->crossover, &e)
			|| device_crossover_store(m->crossover, most, &m->path, &e)))
		return cli_fail(c, &e);
	return 0;
}

static void gpu_json(const struct measured *m, struct buf *out)
{
	const struct target *t = target_gpu();
	const char *obstacle = t ? target_obstacle(t) : "this build has no CUDA";
	struct device_about d;

	buf_json(out, ", \"gpu\": {\"obstacle\": %s, \"devices\": [", obstacle);
	for (unsigned k = 0; t && target_device(t, k, &d); k++)
		buf_json(out,
			", {\"name\": %s, \"compute_capability\": %u, \"multiprocessors\": %u"
			", \"memory_bytes\": %" PRIu64 ", \"free_bytes\": %" PRIu64
			", \"driver_cuda\": %u}",
			d.name, d.capability, d.units, d.memory, d.left, d.driver);
	buf_json(out, "], \"library\": %s, \"profiler\": %s, \"crossover_operations\": %g}",
		t ? target_library(t) : NULL, t ? target_profiler(t) : NULL, m->crossover);
}

/* Those of this build that compute. */
static void print_backends(struct buf *out, const char *quote)
{
	const struct target *t;
	const char *name;

	for (unsigned k = 0; (name = device_name(k)); k++)
		if ((t = target_of(name, 0)) && !target_can(t, TARGET_STATELESS))
			buf_printf(out, "%s%s%s%s", k ? ", " : "", quote, name, quote);
}

static void print_json(const struct measured *m, struct buf *out)
{
	buf_printf(out, "{\"schema\": 1, \"version\": \"%s\", \"machine\": ", PACKAGE_VERSION);
	machine_json(&m->asked, out);
	buf_json(out, ", \"build\": {\"compiler\": %s, \"backends\": [", COMPILER);
	print_backends(out, "\"");
	buf_str(out, "], \"libraries\": [");
	for (int i = 0; i < OPTIONAL; i++)
		if (optional[i].built)
			buf_json(out, ", %s", optional[i].name);
	buf_str(out, "], \"mpi\": [");
	const struct mpi_library *l;
	char path[MPI_PATH_MAX];

	for (unsigned k = 0; (l = mpi_library(k)); k++)
		if (!mpi_module_find(l, path, NULL))
			buf_json(out, ", %s", l->name);
	buf_str(out, "]}");
	gpu_json(m, out);
	buf_str(out, ", \"limits\": ");
	machine_limits_json(m->limits, m->n, out);
	buf_str(out, "}\n");
}

/* In a build with CUDA: the GPUs, and why none can be used. */
static void gpu_text(struct buf *out)
{
	const struct target *t = target_gpu();
	const char *obstacle = t ? target_obstacle(t) : NULL;
	struct device_about d;

	if (!t)
		return;
	if (obstacle)
		buf_printf(out, "%-13s cannot be used: %s\n", t->device, obstacle);
	for (unsigned k = 0; target_device(t, k, &d); k++) {
		buf_printf(out, "%s:%-8u ", t->device, k);
		visible_str(out, d.name);
		buf_printf(out, ", compute capability %u.%u, %u multiprocessors, ",
			d.capability / 10, d.capability % 10, d.units);
		machine_size_text(out, d.memory);
		buf_str(out, " (");
		machine_size_text(out, d.left);
		buf_printf(out, " free), driver for CUDA %u.%u\n", d.driver / 1000,
			d.driver % 1000 / 10);
	}
	if (target_library(t))
		buf_printf(out, "exchange      of GPUs: %s\n", target_library(t));
	if (target_profiler(t))
		buf_printf(out, "profile       of GPUs: %s\n", target_profiler(t));
}

static void print_text(const struct measured *m, struct buf *out)
{
	buf_printf(out, "version       qcnn %s\n", PACKAGE_VERSION);
	machine_text(&m->asked, out);
	buf_printf(out, "build         compiler %s; backends ", COMPILER);
	print_backends(out, "");
	buf_str(out, "\n");
	gpu_text(out);
	for (int i = 0; i < OPTIONAL; i++)
		buf_printf(out, "%-14s%s: %s\n", i ? "" : "libraries", optional[i].name,
			optional[i].built ? optional[i].use : "not built in; configure tells why");
	mpi_text(out);
	machine_limits_text(m->limits, m->n, out);
	if (isinf(m->crossover))
		buf_printf(out,
			"crossover     none: the processor is faster than the GPU (stored in %s)\n",
			m->path.data);
	else if (!isnan(m->crossover))
		buf_printf(out,
			"crossover     a GPU is faster from %.2g operations a step on (stored in %s)\n",
			m->crossover, m->path.data);
}

/* One thread gives the same digits as many. */
static int selftest(struct cli *c)
{
	const struct options *o = &c->options;
	struct execution_words w = { .device = o->value[OPT_DEVICE],
		.precision = "single",
		.isa = o->value[OPT_ISA],
		.threads = (uint32_t)options_count_or(o, OPT_THREADS, 1) };
	struct selftest_row row[SELFTEST_ROWS];
	struct evaluator_options options;
	struct err e;

	if (execution_options(&w, &options, &e) || selftest_run(&options, row, &e))
		return cli_fail(c, &e);
	bool passed = o->given[OPT_JSON] ? selftest_json(row, &c->out) : selftest_text(row, &c->out);
	return passed ? 0 : 1;
}

static int info(struct cli *c)
{
	const struct options *o = &c->options;
	struct measured m;

	if (o->given[OPT_DEVICE] && !o->given[OPT_SELFTEST])
		return cli_usage(c, "--device goes with --selftest");
	if (o->given[OPT_SELFTEST] && o->given[OPT_MEASURE])
		return cli_usage(c, "--selftest and --measure are two commands");
	if (o->given[OPT_SELFTEST])
		return selftest(c);
	int status = measure(c, &m);
	if (status)
		return status;
	(o->given[OPT_JSON] ? print_json : print_text)(&m, &c->out);
	buf_release(&m.path);
	return 0;
}

const struct command_about command_info = {
	.summary = "describe this machine and this build",
	.operands = "",
	.text = "Prints the processor, caches, instruction sets, memory, the largest number of qubits that fits into memory, and "
		"the number of threads with the rule that determined it. With --measure, also measures the limits of the machine: "
		"the rates of streaming through memory, of writing to memory, of the second-level cache, and of multiply-adds; and, "
		"where there is a GPU, from how many operations of a step on it is faster than the processor, which --device=auto goes by.",
	.example = (const char *const[]){ "qcnn info", "qcnn info --json",
		"qcnn info --measure --threads 2", "qcnn info --selftest", NULL },
	.exit_1 = "with --selftest, a test failed",
	.run = info,
};
