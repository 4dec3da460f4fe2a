/* SPDX-License-Identifier: Apache-2.0
 * The cuda backend: states on a GPU, one sample at a time.
 *
 * A stage is one launch where its steps fit (cuda_stage.h), and all work is done on one stream. The host waits for a unit once: losses
 * are computed by a function of the host between the two passes, and from the second unit of a size on all is one CUDA graph. Where
 * several devices share a unit, or a profile is recorded without CUPTI, the host waits for each pass. */
#pragma once

#include "runtime/exec/statevector/backend.h"

/* The only target: what a plan for a GPU is made for. */
extern const struct target target_cuda;
