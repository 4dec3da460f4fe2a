/* SPDX-License-Identifier: Apache-2.0
 * From words (device, precision, isa, ...) to an evaluator's options for this machine. */
#ifndef QCNN_EXECUTION_H
#define QCNN_EXECUTION_H

#include "cli/config/configuration.h"
#include "runtime/exec/evaluator.h"

struct execution_words { const char *device, *precision, *isa, *gradient; uint32_t threads /* 0: auto */, shots /* 0: exact */;
	uint32_t split;         /* ranks that states are split over; 0: 1 */
	unsigned optimisations; /* of enum optimisation */
	bool plan_alone;        /* nothing is computed: no GPU has to be here */
};

/* -ERR_CONFIG when this build lacks the device, or this machine the device or the instruction set. */
int execution_options(const struct execution_words *w, struct evaluator_options *out, struct err *e);
/* Of words with plan_alone, before something is computed here after all: -ERR_CONFIG where the device cannot. */
int execution_here(const struct execution_words *w, const struct evaluator_options *o, struct err *e);
/* Can n threads be measured here?  Evaluators take fewer where not; -ERR_USAGE. */
int execution_threads(unsigned n, struct err *e);
/* The set that a text names: "" or auto for all, none, or names between commas; -ERR_USAGE. */
int execution_optimisations(const char *text, unsigned *out, struct err *e);
struct execution_words execution_of_config(const struct config *c);
/* The resolved words, as weights.bin records them. */
const char *execution_device(const struct evaluator_options *o);
const char *execution_isa(const struct evaluator_options *o);

#endif
