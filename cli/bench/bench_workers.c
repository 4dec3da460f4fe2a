/* SPDX-License-Identifier: Apache-2.0
 * Cases measured with workers: those that the options name, or the other processes of mpirun and the like; or, with --ranks, with
 * a state that is split over the hosts. */
#include "cli/bench/bench.h"
#include "cli/hosts/rank_places.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/train/remote.h"

struct bench_workers {
	struct cli *cli;
	struct cluster k;
	struct rank_places places;
	bool wished;
};

bool bench_has_workers(struct cli *c)
{
	const struct options *o = &c->options;
	struct join a;

	return o->given[OPT_HOSTS] || o->given[OPT_HOSTFILE] || (!joined_find(c, &a) && a.mode);
}

struct bench_workers *bench_workers_new(struct cli *c)
{
	struct bench_workers *w = mem_alloc(1, sizeof *w);

	w->cli = c;
	return w;
}

void bench_workers_free(struct bench_workers *w, int status)
{
	if (w)
		cluster_end(&w->k, status);
	free(w);
}

static int wish(struct bench_workers *w)
{
	struct err e;
	int status = cluster_wish(w->cli, NULL, ".", &w->k);

	if (status || !w->k.nrank)
		return status;
	return rank_places_of(&w->k, &w->places, &e) ? cli_fail(w->cli, &e) : 0;
}

int bench_workers_begin(struct bench_workers *w, struct bench_case *bc)
{
	struct cli *c = w->cli;
	const struct program *p = bc->program->model.program;
	struct loss_choice loss = loss_choice(loss_find("mse"));
	struct cluster_work work = { .program = p,
		.exec = &bc->options,
		.any_isa = !strcmp(c->options.value[OPT_ISA], "auto"),
		.threads = c->options.given[OPT_BENCH_THREADS] ? bc->options.nthread : 0,
		.loss = bc->gradient ? &loss : NULL,
		.nlabel = p->noutput };
	struct coordinator_worker one;
	int status = 0;

	bc->options.optimisations = remote_optimisations(&bc->options);
	if (!w->wished)
		status = wish(w);
	w->wished = true;
	if (!status)
		status = cluster_start(&w->k, &work, &bc->pool);
	if (status)
		return status;
	if (w->k.nrank)
		bc->places = &w->places;
	else
		for (bc->nworker = 0; coordinator_worker(w->k.coordinator, bc->nworker, &one);
			bc->nworker++)
			bc->worker_threads =
				bc->nworker && one.nthread != bc->worker_threads ? 0 : one.nthread;
	return 0;
}

/* A case's workers were there to its end. */
void bench_workers_end(struct bench_workers *w)
{
	struct coordinator_worker one;
	bool lost = false;

	if (w->k.nrank)
		return;
	for (unsigned n = 0; coordinator_worker(w->k.coordinator, n, &one); n++)
		lost |= one.lost || one.nrestart;
	if (!lost || w->k.external.n)
		return;
	cluster_end(&w->k, 0);
	w->wished = false;
}
