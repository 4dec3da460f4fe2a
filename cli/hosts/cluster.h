/* SPDX-License-Identifier: Apache-2.0
 * Workers for a command: the hosts that options and configuration name, and the pool of their workers. */
#pragma once

#include "cli/command.h"
#include "cli/config/configuration.h"
#include "cli/hosts/joined.h"
#include "cli/hosts/worker_groups.h"
#include "cli/job/samples.h"
#include "runtime/net/cluster/coordinator.h"
#include "runtime/train/train.h"

struct cluster {
	struct cli *cli;
	struct hosts hosts;          /* n 0: this process does it all */
	struct coordinator_options wish; /* what options and configuration say of them */
	const char *why;             /* what said so: "--hosts"; NULL: nothing did */
	bool same_isa;
	bool mpi;                    /* ranks communicate by it */
	enum rank_link link;         /* of ranks on GPUs */
	bool of_config;              /* the configuration names the program that would start workers, or hosts that are not this one */
	unsigned nrank; /* not 0: the hosts hold the ranks of one group, and there are no workers */
	struct worker_groups groups; /* of the workers */
	struct joined joined;
	struct external_workers external;    /* n 0: none */
	struct coordinator *coordinator;
};

/* From --hosts, --hostfile and so on, else from those who started this process several times over, else from the
 * configuration's keys (NULL: there are none), else from the batch job.  folder: that all processes share.
 * 0, or said and the status; end in any case.  *out stays where it is. */
int cluster_wish(struct cli *c, const struct config *config, const char *folder, struct cluster *out);

/* Is one of its hosts not `local`? */
bool cluster_is_remote(const struct cluster *k);
/* Print a line of a worker (NULL: ours) of the cluster ctx. */
void cluster_say(void *ctx, const char *worker, const char *line);

/* How a process is started on one of the hosts. */
struct launch_place cluster_place(const struct cluster *k, const struct host *h);

/* The job of the workers; loss NULL: outputs only.  any_isa: exec->target may be replaced by a lesser one
 * that all workers have; any_device: by one of the processor if a worker lacks the device. */
struct cluster_work {
	const struct program *program;
	struct evaluator_options *exec;
	bool any_isa, any_device;
	uint32_t threads;            /* of each worker; 0: its part of its machine */
	const struct loss_choice *loss; uint32_t nlabel;
	struct samples *samples;     /* of which cluster.shard: file lets workers read the files themselves; NULL: none */
};
/* Several groups of processes that were started together. */
static inline bool cluster_joined_groups(const struct cluster *k)
{
	return k->external.n && k->groups.nrank;
}
/* Start the workers that were wished for, unless they are there; *pool is theirs, NULL where there are none.  A call
 * after the first gives them another job. */
int cluster_start(struct cluster *k, const struct cluster_work *w, struct pool **pool);
/* Wait until all processes that were started together with this one are there, to be ranks; at once where they are. */
int cluster_meet(struct cluster *k, struct err *e);
/* status: that the command ends with. */
void cluster_end(struct cluster *k, int status);
