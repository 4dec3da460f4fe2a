/* SPDX-License-Identifier: Apache-2.0
 * The hosts that a batch system has allocated to the job of this process. */
#pragma once

#include "runtime/net/launch/hostfile.h"
#include "runtime/net/launch/launch.h"

struct allocation {
	struct hosts hosts;          /* n 0: no job, or a job with one host */
	const char *system;          /* "Slurm", "PBS", "LSF" */
	const char *why;             /* the variable that says so */
	enum launcher launcher; const char *agent;
};

/* Read SLURM_JOB_NODELIST, PBS_NODEFILE or LSB_MCPU_HOSTS.  Each host gets one worker, whatever the number of tasks; it
 * uses the cores that the job has there.  A malformed list is an error that names it. */
int allocation_find(struct allocation *a, struct err *e);

/* Slurm's notation: "n[01-03,7],login". */
int allocation_expand(const char *list, struct hosts *h, struct err *e);
