/* SPDX-License-Identifier: Apache-2.0
 * The device that `auto` means: the GPUs of this machine where a step has enough operations for them to take less time
 * than the processor, else the processor.
 *
 * The number of operations where both take the same time is measured by `qcnn info --measure`, which stores it in a file
 * of the user; where it was not measured it is estimated. */
#pragma once

#include "cli/job/execution.h"

enum { DEVICE_REASON_MAX = 192 };

/* After execution_method. Changes o->target where the words leave device and instruction set open. nsample: of a step. reason: why it is the one or
 * the other, as a phrase, or "" where there was no choice. */
void device_choose(const struct execution_words *w, const struct program *p, uint32_t nsample,
	struct evaluator_options *o, char reason[DEVICE_REASON_MAX]);

/* Operations of a step of nsample samples, as the choice counts them; NAN: unknown. */
double device_operations(const struct program *p, uint32_t nsample, const struct evaluator_options *o);

/* The crossover in operations of a step, infinite where the processor is always faster; measured with that many threads of
 * the processor, which this machine's GPUs, named by the first, were compared to. path: where it was stored. */
int device_crossover_store(double operations, unsigned nthread, struct buf *path, struct err *e);
