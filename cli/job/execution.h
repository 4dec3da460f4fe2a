/* SPDX-License-Identifier: Apache-2.0
 * Converts words (device, precision, isa, ...) to options of an evaluator on this machine. */
#pragma once

#include "cli/command.h"
#include "cli/config/configuration.h"
#include "runtime/exec/evaluator.h"

struct execution_words {
	const char *device, *precision, *isa, *gradient, *method /* NULL: auto */;
	uint32_t threads /* 0: auto */, shots /* 0: exact */;
	uint32_t trajectories;  /* of models with noise channels; 0: the default */
	uint32_t split;         /* ranks that states are split over; 0: 1 */
	bool split_auto;        /* as many as states need */
	unsigned optimisations; /* of enum optimisation */
	bool plan_alone;        /* only a plan is made: no GPU is needed */
};

/* -ERR_CONFIG if this build lacks the device, or this machine the device or the instruction set. */
int execution_options(const struct execution_words *w, struct evaluator_options *out, struct err *e);
/* Settle the method of o for p, once for all that is computed with it: auto becomes one of the others; nsample: of a batch, 0:
 * any. -ERR_CONFIG where it is not possible, or no method is. */
int execution_method(const struct execution_words *w, const struct program *p, uint32_t nsample,
	struct evaluator_options *o, struct err *e);
/* With plan_alone, call it before computing on this machine after all: -ERR_CONFIG if the device cannot be used. */
int execution_here(const struct execution_words *w, const struct evaluator_options *o, struct err *e);
/* Check that n threads can run here: 0, or -ERR_USAGE. An evaluator would use fewer. */
int execution_threads(unsigned n, struct err *e);
/* Parse a set of exact optimisations: "" or auto for all, none, or names separated by commas; -ERR_USAGE. */
int execution_optimisations(const char *text, unsigned *out, struct err *e);
/* p: of the configuration, by which run.split: auto is resolved. */
struct execution_words execution_of_config(const struct config *c, const struct program *p);
/* A number that a user gave: 0 is no noise. */
uint32_t execution_trajectories(uint64_t given);
/* On stderr: how many trajectories a model with noise channels has, or that it needs none; that a number of them has no effect
 * without. */
void execution_say_trajectories(const struct cli *c, const struct program *p,
	const struct evaluator_options *o);
/* On stderr: how long what ("a step") of nsample samples is expected to take on this machine, where tensors need 10 seconds or more. */
void execution_say_long(const struct cli *c, const struct program *p, uint32_t nsample,
	const struct evaluator_options *o, const char *what);
/* The resolved words, as weights.bin records them. */
struct config_resolved execution_resolved(const struct evaluator_options *o);
const char *execution_device(const struct evaluator_options *o);
const char *execution_isa(const struct evaluator_options *o);
