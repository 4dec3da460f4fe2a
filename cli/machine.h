/* SPDX-License-Identifier: Apache-2.0
 * The machine and its measured limits, as text and JSON: what info and bench share. */
#ifndef QCNN_MACHINE_H
#define QCNN_MACHINE_H

#include "runtime/base/buf.h"
#include "runtime/exec/statevector/cpu/limits.h"
#include "runtime/exec/statevector/plan/plan.h"

enum { MACHINE_LIMITS_MAX = 16 };

/* What options ask for in place of the machine's own. */
struct machine_asked { unsigned threads; const struct target *target; };     /* 0, NULL: nothing */

/* {"processor": ..., ...}, without a newline. */
void machine_json(const struct machine_asked *a, struct buf *out);
void machine_text(const struct machine_asked *a, struct buf *out);

/* Limits for several numbers of threads: a list of objects; a table. */
void machine_limits_json(const struct limits *l, unsigned n, struct buf *out);
void machine_limits_text(const struct limits *l, unsigned n, struct buf *out);

/* As plans reckon with them. */
struct plan_limits machine_plan_limits(const struct limits *l);

/* 1, 2, 4, ... and `most`: thread[MACHINE_LIMITS_MAX]; returns how many. */
unsigned machine_thread_counts(unsigned most, unsigned *thread);

/* Qubits of the largest state that fits into that many bytes, `nstate` at once. */
unsigned machine_largest(uint64_t nbytes, enum precision p, unsigned nstate);

/* Bytes in the unit that suits them. */
void machine_size_text(struct buf *out, uint64_t nbytes);

#endif
