/* SPDX-License-Identifier: Apache-2.0
 * Several runs side by side. */
#pragma once

#include "cli/command.h"
#include "cli/job/run_folder.h"
#include "runtime/base/arena.h"
#include "runtime/base/crypto/crypto.h"
#include "runtime/log/svg.h"

enum { RUNS_COMPARED_MAX = SVG_COLOURS, MODEL_DIGEST_SHOWN = 12 };

/* The place of a run, or of a group of runs, in a sorted list. */
struct ranked {
	double value; /* NaN: none */
	size_t at;    /* its place before */
};
/* For qsort, of structures that begin with a struct ranked: the smallest value first, those without one last, equal ones as before. */
int by_rank(const void *a, const void *b);

/* Of 2 to RUNS_COMPARED_MAX runs.  Results and what differs in the configurations, as a table behind c->out; 0. */
int runs_compare_text(struct cli *c, const struct run_list *l);
/* For each metric the paths of the runs that have its best value, where values differ: an object of arrays. The caller
 * calls json_decref. */
json_t *runs_compare_best(const struct run_list *l);
/* Curves of --metric over each other, to --svg; 0, or the exit status, and the fault is said. */
int runs_compare_svg(struct cli *c, const struct run_list *l);
/* The values of a column for the epochs of the best restart, or of the only one, in the arena; *n: 0 without the column. */
const double *runs_best_values(struct arena *a, const struct run_folder *r, const struct history *h,
	const char *column, size_t *n);
/* The SHA-256 of the text of a run's model, or "-". */
void runs_model_digest(const struct run_folder *r, char hex[SHA256_HEX + 1]);
