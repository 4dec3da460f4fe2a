/* SPDX-License-Identifier: Apache-2.0
 * Records of a training run: the metadata of weights.bin, which depend on results only,
 * and run.json with times, machine and speed. */
#pragma once

#include "cli/job/job.h"
#include "runtime/base/crypto/crypto.h"
#include "runtime/exec/tensor/tensor_summary.h"
#include "runtime/log/run.h"

/* Metadata that do not change during the training. */
struct record_texts { struct buf config, columns, labels, split, seed, transform; };
int record_texts(const struct job *j, struct record_texts *t, struct err *e);
void record_texts_release(struct record_texts *t);
/* Convert these and one more entry to metadata, which borrow from the arguments; returns their number. */
enum { RECORD_METADATA = 9 };
unsigned record_metadata(const struct job *j, const struct record_texts *t, const char *key, const char *value,
	struct metadata meta[RECORD_METADATA]);
/* The code of weights_format as an error. */
int record_too_long(int code, struct err *e);
/* SHA-256 of the configuration in the result scope and of NUMERICAL_VERSION: equal ones give equal weights. And of a
 * configuration that is written out. */
void record_digest(const struct job *j, char hex[SHA256_HEX + 1]);
void record_text_digest(const struct buf *config, char hex[SHA256_HEX + 1]);

/* The bytes of weights.bin. */
int record_weights(const struct job *j, const struct train_result *r, struct buf *out, struct err *e);
/* An array with the units, seconds and losses of each worker. */
json_t *record_workers(struct coordinator *c);
/* Which exact optimisations were used, and the operations with and without them: optimizations, and once more with
 * their former names. */
void record_optimisations(const struct optimisation_use *u, json_t *into);
/* A text for each engine: what is expected of it, or why it is not used. */
json_t *record_engines(const struct engine_problem *p);
/* The numbers of a plan of tensors. */
json_t *record_tensors(const struct tensor_summary *s);
/* The numbers of the plan of a training whose method is tensor; NULL: of another one. */
json_t *record_tensor_plan(const struct train_job *j);
/* run.json; r NULL: no result (yet). */
int record_run(struct run *run, const struct cli *c, const struct job *j, const char *state,
	double seconds, const struct train_result *r, struct err *e);
