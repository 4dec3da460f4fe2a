/* SPDX-License-Identifier: Apache-2.0
 * Inputs that a worker keeps and WORK refers to: rows received in DATA, and rows of files that it reads. */
#pragma once

#include "runtime/data/format/dataset_spec.h"
#include "runtime/net/protocol/protocol.h"

/* The received rows of a data set. */
struct kept {
	uint32_t nrow, n;
	uint32_t *place; /* (nrow) 1 + index of a row in x; 0: not received */
	double *x;
	size_t cap; /* (n, nx); cap: allocated rows */
};

struct remote_rows {
	uint32_t nx; /* numbers of a row: the inputs of the model */
	struct kept kept[WIRE_SETS_MAX];
	struct dataset_again file[WIRE_FILES_MAX]; uint32_t nfile;
};

/* Open the files of the job: -ERR_NO_INPUT, -ERR_BAD_DATA or -ERR_CONFIG, with a hint. */
int remote_rows_open(struct remote_rows *r, const struct wire_job *job, struct err *e);
void remote_rows_release(struct remote_rows *r);
/* Keep the received rows. */
int remote_rows_take(struct remote_rows *r, const struct wire_data *d, struct err *e);
/* Whether all rows that the work refers to are kept here. */
bool remote_rows_has(const struct remote_rows *r, const struct wire_work *work);
/* Copy one row to x[nx]. */
int remote_rows_get(const struct remote_rows *r, uint32_t set, uint32_t row, double *x, struct err *e);
