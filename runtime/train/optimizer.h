/* SPDX-License-Identifier: Apache-2.0
 * Optimisers: rows of optimizer.def, each with its options and their defaults
 * (Keras's names, defaults and formulas), state in float64. */
#ifndef QCNN_OPTIMIZER_H
#define QCNN_OPTIMIZER_H

#include <stddef.h>
#include <stdint.h>

enum { OPTIMIZER_OPTIONS_MAX = 12, OPTIMIZER_SLOTS_MAX = 4 };

/* An option row; bool options are 0 or 1. */
struct optimizer_option { const char *name; double value, min, max; int is_bool; const char *doc; };

struct optimizer_row {
	const char *name, *doc, *source;
	unsigned noption; struct optimizer_option option[OPTIMIZER_OPTIONS_MAX];
	unsigned nslot;              /* vectors of n doubles that it keeps */
	const char *slot_name[OPTIMIZER_SLOTS_MAX];
	/* weight[i] -= ... for i with !frozen[i]; step counts from 1; opt[] as in option[]. */
	void (*update)(const double *opt, uint64_t step, const double *gradient, double *weight,
		double *const *slot, const uint8_t *frozen, size_t n);
};

const struct optimizer_row *optimizer_find(const char *name);
size_t optimizer_rows(const struct optimizer_row **rows);

#endif
