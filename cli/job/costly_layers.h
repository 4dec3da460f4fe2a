/* SPDX-License-Identifier: Apache-2.0
 * Which layers make the contraction of a model's tensors long. */
#pragma once

#include "runtime/program/program.h"

enum { COSTLY_LAYERS_MAX = 8 };

struct costly_layers {
	unsigned n;
	struct costly_layer {
		/* Of the outputs of a sample, without the layer's gates on qubits that another one of its gates joins. The first member:
		 * layers are sorted by it as by a number. */
		double flops;
		const char *path;
		double thread_bytes; /* memory of the same; for gradients, if there are weights */
	} layer[COSTLY_LAYERS_MAX];  /* the fewest operations first */
};

/* Of the first COSTLY_LAYERS_MAX layers in which gates on several qubits share one, those without which a sample takes less than half
 * of forward_flops. Takes a search of contractions for each. */
void costly_layers_find(const struct program *p, double forward_flops, struct costly_layers *out);
