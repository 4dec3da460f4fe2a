/* SPDX-License-Identifier: Apache-2.0
 * Prints processors, memory and measured limits as text and as JSON. */
#include "cli/machine.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

enum { CACHE_LEVELS = 3 };

static void isa_list(struct buf *out, const char *before, const char *between, const char *quote)
{
	const struct target *t;

	for (unsigned k = 0; (t = target_of(NULL, k)); k++)
		if (!target_obstacle(t))
			buf_printf(out, "%s%s%s%s", k ? between : before, quote, t->kernels, quote);
}

static const char *kernels_of(const struct machine_asked *a)
{
	return target_or_best(a->target)->kernels;
}

/* The number of qubits for which `nstate` states fit into that many bytes. */
static unsigned largest_qubits(uint64_t nbytes, enum precision p, unsigned nstate)
{
	uint64_t states = nbytes / nstate / (p == PRECISION_DOUBLE ? 16 : 8);
	unsigned n = 0;

	while (n < PLAN_WIRES_MAX && states >> (n + 1))
		n++;
	return n;
}

/* ---- JSON ---- */

static void json_caches(struct buf *out)
{
	buf_str(out, "\"caches\": [");
	for (unsigned level = 1; level <= CACHE_LEVELS; level++) {
		unsigned shared_by = 1;
		uint64_t size = cpus_cache(level, &shared_by);

		if (size)
			buf_json(out, ", {\"level\": %u, \"bytes\": %" PRIu64 ", \"shared_by\": %u}",
				level, size, shared_by);
	}
	buf_char(out, ']');
}

static void json_largest(struct buf *out)
{
	static const struct { const char *name; enum precision p; } row[] = {
		{ "single", PRECISION_SINGLE }, { "double", PRECISION_DOUBLE },
	};
	uint64_t available = cpus_memory_available();

	buf_str(out, "\"largest_qubits\": {");
	for (unsigned k = 0; k < 2; k++)
		buf_json(out, ", %s: {\"forward\": %u, \"gradient\": %u}", row[k].name,
			largest_qubits(available, row[k].p, 1),
			largest_qubits(available, row[k].p, 2));
	buf_char(out, '}');
}

static unsigned threads_of(const struct machine_asked *a, const char **rule)
{
	unsigned threads = cpus_threads(rule);

	if (!a->threads)
		return threads;
	*rule = "--threads";
	return a->threads;
}

void machine_json(const struct machine_asked *a, struct buf *out)
{
	const char *rule, *places = getenv("OMP_PLACES");
	unsigned threads = threads_of(a, &rule);
	uint64_t limit = cpus_memory_limit();

	buf_json(out,
		"{\"processor\": %s, \"processors\": %u, \"numa_nodes\": %u, \"isa\": %s, \"isa_available\": [",
		cpus_model(), cpus_online(), cpus_numa_nodes(), kernels_of(a));
	isa_list(out, "", ", ", "\"");
	buf_str(out, "], ");
	json_caches(out);
	buf_json(out, ", \"memory_bytes\": %" PRIu64 ", \"memory_available_bytes\": %" PRIu64,
		cpus_memory_total(), cpus_memory_available());
	buf_str(out, ", \"memory_limit_bytes\": ");
	limit ? buf_json(out, "%" PRIu64, limit) : buf_str(out, "null");
	buf_json(out, ", \"threads\": %u, \"threads_rule\": %s, \"omp_places\": %s, ", threads,
		rule, places);
	json_largest(out);
	buf_char(out, '}');
}

static const struct {
	const char *key;
	size_t at;
} rates[] = {
	{ "stream_gb_s", offsetof(struct plan_limits, stream_gb_s) },
	{ "write_gb_s", offsetof(struct plan_limits, write_gb_s) },
	{ "l2_gb_s_per_core", offsetof(struct plan_limits, l2_gb_s) },
	{ "fma_gflop_s_single", offsetof(struct plan_limits, single_gflop_s) },
	{ "fma_gflop_s_double", offsetof(struct plan_limits, double_gflop_s) },
};

void machine_limits_json(const struct plan_limits *l, unsigned n, struct buf *out)
{
	buf_char(out, '[');
	for (unsigned k = 0; k < n; k++) {
		buf_json(out, ", {\"threads\": %u, \"isa\": %s", l[k].nthread, l[k].target->kernels);
		for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
			buf_json(out, ", %s: %g", rates[r].key,
				*(const double *)((const char *)&l[k] + rates[r].at));
		buf_char(out, '}');
	}
	buf_char(out, ']');
}

/* ---- text ---- */

void machine_size_text(struct buf *out, uint64_t nbytes)
{
	static const char *const unit[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
	double size = (double)nbytes;
	unsigned k = 0;

	while (size >= 1024 && k + 1 < sizeof unit / sizeof *unit) {
		size /= 1024;
		k++;
	}
	buf_printf(out, "%.*f %s", k >= 3 ? 1 : 0, size, unit[k]);
}

static void text_caches(struct buf *out)
{
	buf_printf(out, "caches        %s", cpus_cache(1, &(unsigned){ 0 }) ? "" : "unknown");
	for (unsigned level = 1; level <= CACHE_LEVELS; level++) {
		unsigned shared_by = 1;
		uint64_t size = cpus_cache(level, &shared_by);

		if (!size)
			continue;
		buf_printf(out, "%sL%u ", level > 1 ? ", " : "", level);
		machine_size_text(out, size);
		if (shared_by > 1)
			buf_printf(out, " shared by %u", shared_by);
	}
	buf_char(out, '\n');
}

static void text_memory(struct buf *out)
{
	buf_str(out, "memory        ");
	machine_size_text(out, cpus_memory_available());
	buf_str(out, " available of ");
	machine_size_text(out, cpus_memory_total());
	if (cpus_memory_limit()) {
		buf_str(out, ", limited to ");
		machine_size_text(out, cpus_memory_limit());
		buf_str(out, " by the cgroup");
	}
	buf_char(out, '\n');
}

void machine_text(const struct machine_asked *a, struct buf *out)
{
	const char *rule, *places = getenv("OMP_PLACES");
	unsigned threads = threads_of(a, &rule);

	buf_printf(out, "processor     %s\nprocessors    %u in %u NUMA node%s\n", cpus_model(), cpus_online(),
		cpus_numa_nodes(), cpus_numa_nodes() == 1 ? "" : "s");
	text_caches(out);
	buf_printf(out, "kernels       %s%s (there are", kernels_of(a), a->target ? ", by --isa" : "");
	isa_list(out, " ", ", ", "");
	buf_str(out, ")\n");
	text_memory(out);
	uint64_t available = cpus_memory_available();

	buf_printf(out,
		"largest n     single %u forward, %u with gradient; double %u forward, %u with gradient\n",
		largest_qubits(available, PRECISION_SINGLE, 1),
		largest_qubits(available, PRECISION_SINGLE, 2),
		largest_qubits(available, PRECISION_DOUBLE, 1),
		largest_qubits(available, PRECISION_DOUBLE, 2));
	buf_printf(out, "threads       %u, by %s%s%s%s\n", threads, *rule >= 'a' ? "the " : "", rule, places ? "; OMP_PLACES is " : "",
		places ? places : "");
}

void machine_limits_text(const struct plan_limits *l, unsigned n, struct buf *out)
{
	for (unsigned k = 0; k < n; k++)
		buf_printf(out,
			"limits        %u thread%s: stream %.1f GB/s in place, write %.1f GB/s%s, L2 %.0f GB/s a core, "
			"multiply-add %.0f GFLOP/s single, %.0f double (%s)\n",
			l[k].nthread, l[k].nthread == 1 ? "" : "s", l[k].stream_gb_s,
			l[k].write_gb_s, l[k].nontemporal ? " by non-temporal stores" : "",
			l[k].l2_gb_s, l[k].single_gflop_s, l[k].double_gflop_s, l[k].target->kernels);
}

unsigned machine_thread_counts(unsigned most, unsigned *thread)
{
	unsigned n = 0;

	for (unsigned t = 1; t < most && n + 1 < MACHINE_LIMITS_MAX; t *= 2)
		thread[n++] = t;
	thread[n++] = most;
	return n;
}
