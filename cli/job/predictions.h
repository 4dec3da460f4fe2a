/* SPDX-License-Identifier: Apache-2.0
 * Outputs of samples with their labels, loss and metrics, in the forms infer prints. */
#pragma once

#include "cli/job/classes.h"
#include "runtime/train/train.h"

struct predictions {
	struct part part;
	uint32_t noutput;
	double *output;              /* (part.nrow, noutput) row-major */
	bool has_loss;               /* the data have labels */
	struct classes classes;
	struct measures measures;
	double loss_value, metric_value[TRAIN_VALUES_MAX];
};

/* For people: samples (if requested), loss and metrics, tabs between columns, numbers in 6 digits. */
void predictions_text(const struct predictions *p, bool samples, struct buf *out);
/* {"schema", "outputs", "labels", "label_classes", "classes", "probabilities", "scores", "metrics"} */
void predictions_json(const struct predictions *p, struct buf *out);
/* By the path's ending: .npz (with inputs and labels), .npy (outputs alone), .csv, .jsonl. */
int predictions_format(const struct predictions *p, const char *path, struct buf *out, struct err *e);
int predictions_ending(const char *path, struct err *e); /* -ERR_USAGE for another ending */
