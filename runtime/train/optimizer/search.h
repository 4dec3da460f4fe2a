/* SPDX-License-Identifier: Apache-2.0
 * The optimisers of optimizer.def that ask for losses: what the table's rows point to. */
#pragma once

#include "runtime/train/optimizer/optimizer.h"

int search_spsa(const struct update *u, struct probe *p, struct err *e);
double rate_spsa(const struct update *u, uint64_t step);
int search_bold_driver(const struct update *u, struct probe *p, struct err *e);
double rate_bold_driver(const struct update *u, uint64_t step);
int search_rotosolve(const struct update *u, struct probe *p, struct err *e);
int check_rotosolve(const struct program *p, struct err *e);

/* Members of a row whose search is one of NLopt's, by search_nlopt.c. */
#if QCNN_NLOPT
#define BY_NLOPT(search_name) \
	.search = search_name, .session_free = session_free_nlopt, .check = check_nlopt
int search_cobyla(const struct update *u, struct probe *p, struct err *e);
int search_bobyqa(const struct update *u, struct probe *p, struct err *e);
int search_nelder_mead(const struct update *u, struct probe *p, struct err *e);
int search_lbfgs(const struct update *u, struct probe *p, struct err *e);
void session_free_nlopt(void *session);
int check_nlopt(const struct program *p, struct err *e);
#else
#define BY_NLOPT(search_name) .lacks = "the library NLopt (on Debian and Ubuntu: libnlopt-dev)"
#endif
