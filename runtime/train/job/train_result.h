/* SPDX-License-Identifier: Apache-2.0
 * The result of a training run. */
#pragma once

#include "runtime/base/arena.h"
#include "runtime/train/job/epoch_record.h"
#include "runtime/train/optimizer/optimizer.h"

/* How a restart ended: numbers of epochs, 0 for what did not happen. */
struct restart_end { double epochs /* trained */, stopped /* early, after this one */, restored /* whose weights it has */; };
enum { RESTART_END_NUMBERS = sizeof(struct restart_end) / sizeof(double) };

struct train_result {
	double *weight; /* nweight of the winner */
	uint32_t winner;
	double *restart_loss;                /* (restarts) final losses */
	struct restart_end *end;             /* (restarts) how they ended */
	struct epoch_record last;            /* epoch of the winner */
	uint64_t step;
	double *slot[OPTIMIZER_SLOTS_MAX];   /* state of the winner's optimizer */
	struct mem_list memory;              /* of all these */
};
