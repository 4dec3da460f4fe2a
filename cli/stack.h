/* SPDX-License-Identifier: Apache-2.0
 * A stack that is large enough for recursion over a model, whatever `ulimit -s` is. */
#pragma once

enum { STACK_BYTES = 8 << 20 }; /* enough for the limits on nesting */

/* Call run(ctx) with at least STACK_BYTES of stack if the system permits it, and return its result. */
int stack_run(int (*run)(void *ctx), void *ctx);
