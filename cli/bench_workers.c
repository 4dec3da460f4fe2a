/* SPDX-License-Identifier: Apache-2.0
 * A case measured with workers on other hosts: they are started for it, and end with it. */
#include "config.h"
#include "cli/bench.h"
#include "cli/cluster.h"

#include <string.h>

#include "runtime/train/remote.h"

bool bench_has_workers(const struct options *o)
{
	return o->given[OPT_HOSTS] || o->given[OPT_HOSTFILE];
}

static unsigned count_workers(const struct coordinator *c, uint32_t *threads)
{
	struct coordinator_worker w;
	unsigned n = 0;

	for (; coordinator_worker(c, n, &w); n++)
		*threads = n && w.nthread != *threads ? 0 : w.nthread;
	return n;
}

int bench_measure_far(struct cli *c, const struct bench_case *bc, const struct bench_run *how, struct bench_result *out)
{
	struct bench_case mine = *bc;
	const struct program *p = bc->program->model.program;
	struct loss_choice loss = loss_choice(loss_find("mse"));
	struct cluster k = { 0 };
	struct cluster_work w = { .program = p, .exec = &mine.options, .any_isa = !strcmp(c->options.value[OPT_ISA], "auto"),
		.threads = c->options.given[OPT_BENCH_THREADS] ? bc->options.nthread : 0,
		.loss = bc->gradient ? &loss : NULL, .nlabel = p->noutput };
	struct err e;
	int status;

	mine.options.shortcuts = remote_shortcuts(&mine.options);
	status = cluster_wish(c, NULL, ".", &k);
	if (!status)
		status = cluster_start(&k, &w, &mine.pool);
	if (!status) {
		mine.nworker = count_workers(k.coordinator, &mine.worker_threads);
		if (bench_measure(&mine, how, NULL, out, &e)) {
			err_prefix(&e, "%s", bc->program->name);
			status = cli_fail(c, &e);
		}
	}
	cluster_end(&k, status);
	return status;
}
