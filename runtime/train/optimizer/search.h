/* SPDX-License-Identifier: Apache-2.0
 * The optimisers of optimizer.def that ask for losses: what the table's rows point to. */
#pragma once

#include "runtime/train/optimizer/optimizer.h"

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

/* NLopt's, by search_nlopt.c. */
#if QCNN_NLOPT
#define NLOPT_LACKS NULL
int search_cobyla(const struct update *u, struct probe *p, struct err *e);
int search_bobyqa(const struct update *u, struct probe *p, struct err *e);
int search_nelder_mead(const struct update *u, struct probe *p, struct err *e);
int search_lbfgs(const struct update *u, struct probe *p, struct err *e);
void session_free_nlopt(void *session);
int check_nlopt(const struct program *p, struct err *e);
#else
#define NLOPT_LACKS "the library NLopt (on Debian and Ubuntu: libnlopt-dev)"
#define search_cobyla NULL
#define search_bobyqa NULL
#define search_nelder_mead NULL
#define search_lbfgs NULL
#define session_free_nlopt NULL
#define check_nlopt NULL
#endif
#define rate_cobyla NULL
#define session_free_cobyla session_free_nlopt
#define check_cobyla check_nlopt
#define rate_bobyqa NULL
#define session_free_bobyqa session_free_nlopt
#define check_bobyqa check_nlopt
#define rate_nelder_mead NULL
#define session_free_nelder_mead session_free_nlopt
#define check_nelder_mead check_nlopt
#define rate_lbfgs NULL
#define session_free_lbfgs session_free_nlopt
#define check_lbfgs check_nlopt
