/* SPDX-License-Identifier: Apache-2.0
 * The result of a training run. */
#ifndef QCNN_TRAIN_RESULT_H
#define QCNN_TRAIN_RESULT_H

#include "runtime/train/job/epoch_record.h"
#include "runtime/train/optimizer/optimizer.h"

/* What became of a start: numbers of epochs, 0 for what did not happen. */
struct start_end { double epochs /* trained */, stopped /* early, after this one */, restored /* its weights are kept */; };
enum { START_END_NUMBERS = sizeof(struct start_end) / sizeof(double) };
struct train_result {
	double *weight;                      /* nweight of the winner; malloc'ed */
	uint32_t winner;
	double *start_loss;                  /* (restarts) final losses */
	struct start_end *end;               /* (restarts) how they ended */
	struct epoch_record last;            /* the winner's last epoch */
	uint64_t step;
	double *slot[OPTIMIZER_SLOTS_MAX];   /* optimiser's state of the winner */
};

#endif
