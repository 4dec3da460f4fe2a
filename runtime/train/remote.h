/* SPDX-License-Identifier: Apache-2.0
 * Training and inference by workers in other processes: the job as a message, and its evaluation there. */
#pragma once

#include "runtime/net/worker_process.h"
#include "runtime/train/train.h"

/* Make the job message; loss NULL: no gradients.  *program gets the bytecode, which *out borrows. */
void remote_job(const struct program *p, const struct evaluator_options *o, const struct loss_choice *loss,
	uint32_t nlabel, struct buf *program, struct wire_job *out);

/* The exact optimisations that workers use: not those of a whole batch, since a worker has a part of it only. */
unsigned remote_optimisations(const struct evaluator_options *o);

/* The fixed test: evaluate fixed samples with fixed weights, with gradients if possible.  *out gets the sizes and a digest
 * of all result bits and of the mathematical library: equal digests mean equal bits. */
int remote_test(struct evaluator *ev, bool gradient, struct wire_ready *out, struct err *e);

/* The worker's evaluator behind worker_process_run. */
struct remote_worker;
/* group: called for each job with the options of its evaluator, before that is made; it starts the other processes of this
 * worker's group, if it has any. NULL: a job for a group is an error. */
typedef int remote_group(void *ctx, const struct wire_job *job, struct evaluator_options *o,
	struct err *e);
struct remote_worker *remote_worker_new(remote_group *group, void *ctx);
void remote_worker_free(struct remote_worker *w);
extern const struct worker_ops remote_worker_ops; /* ctx: a struct remote_worker */
