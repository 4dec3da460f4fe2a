/* SPDX-License-Identifier: Apache-2.0
 * Room on the stack for what recurses over a model, whatever `ulimit -s` says. */
#ifndef QCNN_STACK_H
#define QCNN_STACK_H

enum { STACK_BYTES = 8 << 20 };      /* what the limits on nesting are made for */

/* run(ctx) with at least STACK_BYTES of stack, where the system lets us; its result. */
int stack_run(int (*run)(void *ctx), void *ctx);

#endif
