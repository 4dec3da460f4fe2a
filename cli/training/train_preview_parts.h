/* SPDX-License-Identifier: Apache-2.0
 * What `qcnn train --dry-run` has measured, and how it says so; for train_preview*.c alone. */
#ifndef QCNN_TRAIN_PREVIEW_PARTS_H
#define QCNN_TRAIN_PREVIEW_PARTS_H

#include "cli/hosts/cluster.h"
#include "cli/job/job.h"

/* Durations, of which the one in the middle counts: a pause of the machine is none of the work's. */
enum { TIMES_MAX = 4096 };
struct times { unsigned n; double seconds[TIMES_MAX]; };

struct preview {
	struct cli *cli;
	const struct job *job;
	const struct cluster *cluster;
	unsigned nconcurrent;              /* restarts that run at once */
	double first, last;          /* clock behind the first and the last step */
	uint64_t nstep;              /* that were taken */
	struct times steps, epochs, validations;
	struct optimisation_use optimisations;                       /* of these steps */
	double step_seconds, validation_seconds, epoch_seconds;      /* an epoch with its validation, as far as it has one */
	uint64_t memory;             /* bytes that the process has taken at most */
};

/* train_preview_print.c */
void preview_json(const struct preview *p, struct buf *out);
void preview_text(const struct preview *p, struct buf *out);

#endif
