/* SPDX-License-Identifier: Apache-2.0
 * The measurements of `qcnn train --dry-run` and their output; for train_preview*.c alone. */
#pragma once

#include "cli/hosts/cluster.h"
#include "cli/job/job.h"
#include "runtime/base/json.h"
#include "runtime/exec/statevector/plan/plan.h"

/* Durations, of which the one in the middle counts: a pause of the machine is none of the work's. */
enum { TIMES_MAX = 4096 };
struct times { unsigned n; double seconds[TIMES_MAX]; };

/* States that are split over processes, as planned; with --link, what each of them is expected to take on a machine like this one. */
struct preview_split {
	const char *library;             /* as target_library, of GPUs; or NULL */
	uint32_t nrank;                  /* 0: they are not split */
	uint32_t nexchange[2];           /* forward, in the backward pass */
	double bytes[2];                 /* that each process sends then, for a state */
	double nstate;                   /* of a step */
	struct plan_limits limits;       /* exchange_gb_s is 0 without --link */
	struct plan_rank_takes takes[2]; /* a state, forward and with the gradient */
};

struct preview {
	struct cli *cli;
	const struct job *job;
	const struct cluster *cluster;
	unsigned nconcurrent;              /* restarts that run at once */
	double first, last;          /* clock behind the first and the last step */
	uint64_t nstep;              /* that were taken */
	bool validates;              /* epochs end with a validation */
	struct times steps, epochs;
	struct optimisation_use optimisations;                       /* of these steps */
	double step_seconds, validation_seconds, epoch_seconds;      /* an epoch with its validation, as far as it has one */
	struct preview_split split;
	uint64_t memory;             /* bytes that the process has taken at most */
};

/* train_preview_split.c */
/* -ERR_USAGE for a wrong --link. */
int preview_split_check(const struct preview *p, struct err *e);
/* Behind the steps: p->split. */
int preview_split(struct preview *p, struct err *e);
json_t *preview_split_json(const struct preview_split *s);
void preview_split_text(const struct preview_split *s, struct buf *out);

/* train_preview_print.c */
void preview_json(const struct preview *p, struct buf *out);
void preview_text(const struct preview *p, struct buf *out);
