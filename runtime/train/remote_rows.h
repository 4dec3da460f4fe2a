/* SPDX-License-Identifier: Apache-2.0
 * Inputs that a worker has and work may name: rows that came once, and files that it reads itself. */
#ifndef QCNN_REMOTE_ROWS_H
#define QCNN_REMOTE_ROWS_H

#include "runtime/data/format/dataset_spec.h"
#include "runtime/net/protocol/protocol.h"

/* Rows of a data set that have come. */
struct kept {
	uint32_t nrow, n;
	uint32_t *place;             /* (nrow) 1 + where a row is; 0: it is not here */
	double *x; size_t cap;       /* (n, nx); memory for this many rows */
};

struct remote_rows {
	uint32_t nx;                 /* numbers of a row: the model's inputs */
	struct kept kept[WIRE_SETS_MAX];
	struct dataset_again file[WIRE_FILES_MAX]; uint32_t nfile;
};

/* Read the job's files: -ERR_NO_INPUT, -ERR_BAD_DATA, -ERR_CONFIG, with what to do about it. */
int remote_rows_open(struct remote_rows *r, const struct wire_job *job, struct err *e);
void remote_rows_release(struct remote_rows *r);
/* Rows that have come, to be kept. */
int remote_rows_take(struct remote_rows *r, const struct wire_data *d, struct err *e);
/* Are all rows that the work names here? */
bool remote_rows_has(const struct remote_rows *r, const struct wire_work *work);
/* x[nx]: one of them. */
int remote_rows_get(const struct remote_rows *r, uint32_t set, uint32_t row, double *x, struct err *e);

#endif
