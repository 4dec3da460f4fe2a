/* SPDX-License-Identifier: Apache-2.0
 * Limits of a GPU, a processor or a network that is not here, for predictions. */
#pragma once

#include "runtime/exec/statevector/plan/plan.h"

/* text: a name of gpus.def, or limits "memory=2000,single=40000", or both, the name first; changes *l, which has a usual GPU's. Borrows
 * text. -ERR_USAGE and a sentence. */
int gpu_limits(const char *text, struct plan_limits *l, struct err *e);
/* text: limits of a processor "stream=60,write=40"; changes *l. Borrows text. -ERR_USAGE and a sentence. */
int machine_limits(const char *text, struct plan_limits *l, struct err *e);
/* text: "GB/S[,MICROSECONDS]", or NULL, which changes nothing: of the network between ranks that have a machine each; changes *l. is_split: are there
 * ranks? -ERR_USAGE and a sentence. */
int link_limits(const char *text, bool is_split, struct plan_limits *l, struct err *e);
