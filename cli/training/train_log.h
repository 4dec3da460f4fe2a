/* SPDX-License-Identifier: Apache-2.0
 * What a training run writes while it goes, besides metrics.jsonl: history.csv and
 * TensorBoard's event files, as the configuration's log keys say.
 *
 * Event files lie in train/ and validation/ of the run's folder (with several restarts in
 * start-1/train/, ...) with the tags and steps of Keras's callback; hyperparameters in the
 * folder itself.  What cannot be written waits, and is tried again. */
#pragma once

#include "cli/job/job.h"
#include "cli/output/write_error.h"
#include "runtime/log/metrics.h"
#include "runtime/log/run.h"
#include "runtime/train/weights/weights.h"

struct train_log;

/* Of a resumed run: train_log_files() of the checkpoint, to which the files are truncated, and the checkpoint itself; else NULL. */
struct train_log *train_log_new(struct write_errors *t, const struct job *j, struct run *run, const json_t *resumed,
	const struct weights *from);
/* The lengths of the files by their names in the run's folder, of the run and of restarts that have not ended:
 * {"lines": {NAME: bytes}, "events": {NAME: bytes}}; to json_decref. *w, cleared before: what could not be written
 * yet, as vectors log/lines/NAME and log/events/FOLDER of a checkpoint. */
enum { TRAIN_LOG_WAITING_MAX = RUN_LINES_MAX + 3 };
struct train_log_waiting { struct weights_vector vector[TRAIN_LOG_WAITING_MAX]; unsigned n; };     /* owned */
json_t *train_log_files(struct train_log *l, struct train_log_waiting *w);
/* The same of a closed log, with the event files of all restarts. */
json_t *train_log_closed_files(struct run *run, const struct train_job *j);
void train_log_step(struct train_log *l, uint32_t restart, uint64_t step, double batch_loss);
void train_log_epoch(struct train_log *l, const struct epoch_record *r, const struct metrics_line *m);
void train_log_state(struct train_log *l, const struct epoch_record *r, const struct epoch_state *s);
/* Ends the event files; well: training ended as it should. l may be NULL. */
void train_log_close(struct train_log *l, bool well);

/* train_log_files.c: cut the files of a run to what `resumed` says; event files that it does not know are removed,
 * but for those of the restarts before the one that runs. *lost: the files that are shorter, "metrics.jsonl (80 bytes), ...". */
int train_log_cut(struct run *run, const struct train_job *j, const json_t *resumed, const struct weights *from, struct buf *lost,
	struct err *e);

/* train_log_waiting.c: n bytes as one more vector (none: no vector), and back behind *out; false where there is none. */
#define TRAIN_LOG_WAITING "log/"
void train_log_pack(struct train_log_waiting *w, const char *name, const void *bytes, size_t n);
bool train_log_unpack(const struct weights *from, const char *name, struct buf *out);
void train_log_waiting_release(struct train_log_waiting *w);

/* train_graph.c: the program as nodes and edges for tfevents_graph, layers as scopes. */
void train_graph(const struct program *p, struct buf *graph);
