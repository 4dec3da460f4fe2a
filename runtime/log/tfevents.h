/* SPDX-License-Identifier: Apache-2.0
 * TensorBoard's event files: scalars, histograms, text, a graph, hyperparameters.
 *
 * Records wait in memory and go to the file when they are many, when a second has passed,
 * or at tfevents_flush.  What cannot be written waits, and is tried again.
 * A record: length (u64), its masked CRC-32C, the Event, its masked CRC-32C
 * (tensorflow/core/lib/io/record_writer.h). */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "runtime/base/json.h"

struct run;
struct tfevents;

/* A new file in the folder `dir` of a run (run NULL: of the current folder), which is made where it is missing, and what it
 * lies in. *out is set in any case: a file that cannot be made now is an error, and is made when that is possible; the records wait. */
int tfevents_open(struct run *run, const char *dir, struct tfevents **out, struct err *e);
void tfevents_scalar(struct tfevents *f, const char *tag, uint64_t step, double value);
/* Bucketed as tf.summary.histogram does: 30 buckets from the least to the greatest value. */
void tfevents_histogram(struct tfevents *f, const char *tag, uint64_t step, const double *value, size_t n);
void tfevents_text(struct tfevents *f, const char *tag, uint64_t step, const char *markdown);
/* graph: nodes from tfevents_node. */
void tfevents_graph(struct tfevents *f, const struct buf *graph);

struct tfevents_attr { const char *key, *value; };
void tfevents_node(struct buf *graph, const char *name, const char *op, const char *const *input, unsigned ninput,
	const struct tfevents_attr *attr, unsigned nattr);

/* Append an entry for a number, a text, true or false; for other values none. */
void tfevents_hparam(struct buf *hparams, const char *name, const json_t *v);
/* hparams: such entries; a session begins and ends once in a file. */
void tfevents_session_begin(struct tfevents *f, const struct buf *hparams, double wall_seconds);
void tfevents_session_end(struct tfevents *f, bool well, double wall_seconds);

const char *tfevents_path(const struct tfevents *f);         /* in the run's folder */
uint64_t tfevents_size(const struct tfevents *f);
/* The records that wait, without the one that begins a file; and such records of another file, to wait in this one. */
const void *tfevents_waiting(const struct tfevents *f, size_t *n);
void tfevents_add(struct tfevents *f, const struct buf *records);
/* 0, or why not: records that cannot be written are kept for the next call, up to TFEVENTS_WAITING_MAX bytes. */
enum { TFEVENTS_WAITING_MAX = 16 << 20 };
int tfevents_flush(struct tfevents *f, struct err *e);
int tfevents_close(struct tfevents *f, struct err *e);      /* flushes; f may be NULL */

/* CRC-32C (Castagnoli, RFC 3720 B.4), and as records carry it. */
uint32_t crc32c(const void *p, size_t len);
uint32_t crc32c_masked(const void *p, size_t len);
