/* SPDX-License-Identifier: Apache-2.0
 * The machine and its measured limits, as text and JSON: what info and bench share. */
#pragma once

#include "runtime/base/buf.h"
#include "runtime/exec/statevector/cpu/limits.h"
#include "runtime/exec/statevector/plan/plan.h"

enum { MACHINE_LIMITS_MAX = 16 };

/* Values that options set instead of the defaults of the machine. */
struct machine_asked { unsigned threads; const struct target *target; };     /* 0, NULL: nothing */

/* {"processor": ..., ...}, without a newline. */
void machine_json(const struct machine_asked *a, struct buf *out);
void machine_text(const struct machine_asked *a, struct buf *out);

/* Limits for several numbers of threads: a list of objects; a table. */
void machine_limits_json(const struct plan_limits *l, unsigned n, struct buf *out);
void machine_limits_text(const struct plan_limits *l, unsigned n, struct buf *out);

/* Fill thread[MACHINE_LIMITS_MAX] with 1, 2, 4, ... and `most`; returns the number of entries. */
unsigned machine_thread_counts(unsigned most, unsigned *thread);

/* Append a number of bytes with a suitable unit. */
void machine_size_text(struct buf *out, uint64_t nbytes);
