/* SPDX-License-Identifier: Apache-2.0
 * What a sample of a model takes, by default options: operations and memory of state vectors and of tensors. */
#pragma once

#include "cli/job/costly_layers.h"
#include "runtime/base/diag.h"
#include "runtime/base/err.h"
#include "runtime/exec/evaluator.h"
#include "runtime/exec/tensor/tensor_summary.h"

struct model_work {
	enum method method; /* that run.method: auto takes, for gradients if there are weights; METHOD_AUTO: none is possible */
	double forward_flops,
		gradient_flops; /* nominal, of state vectors; NaN: they have too many amplitudes */
	double available;       /* memory of this machine, as far as ulimit permits */
	bool state_fits;        /* one state, in single precision */
	double states_bytes;    /* of what a gradient, or an output, needs */

	bool tensors; /* the next lines are known: auto contracts them, or a state does not fit and the method tensor is possible */
	struct tensor_summary tensor;
	double tensor_bytes; /* for one thread */
	bool tensors_fit;
	char no_tensors[ERR_TEXT_MAX]; /* where a state does not fit: why the method tensor is not possible; else "" */
	/* Where tensors take long, do not fit or are too large for any machine. */
	bool costly_found;
	struct costly_layers costly;
};

void model_work_find(const struct program *p, struct model_work *out);
/* Warn if one state of p needs more memory than this machine has, and tensors would, too, or are not contracted. */
void model_warn_large(struct diags *d, const struct program *p);
