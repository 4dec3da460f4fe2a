/* SPDX-License-Identifier: Apache-2.0
 * The optimisers of optimizer.def that ask for losses: what the table's rows point to. */
#ifndef QCNN_SEARCH_H
#define QCNN_SEARCH_H

#include "runtime/train/optimizer.h"

/* A SEARCH row without a rate of its own, a session or a check has NULL in its place. */
int search_spsa(const struct update *u, struct probe *p, struct err *e);
double rate_spsa(const struct update *u, uint64_t step);
#define session_free_spsa NULL
#define check_spsa NULL
int search_bold_driver(const struct update *u, struct probe *p, struct err *e);
double rate_bold_driver(const struct update *u, uint64_t step);
#define session_free_bold_driver NULL
#define check_bold_driver NULL
int search_rotosolve(const struct update *u, struct probe *p, struct err *e);
#define rate_rotosolve NULL
#define session_free_rotosolve NULL
int check_rotosolve(const struct program *p, struct err *e);

#endif
