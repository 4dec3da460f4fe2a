/* SPDX-License-Identifier: Apache-2.0
 * What a training run writes while it goes, besides metrics.jsonl: history.csv and
 * TensorBoard's event files, as the configuration's log keys say.
 *
 * Event files lie in train/ and validation/ of the run's folder (with several starts in
 * start-1/train/, ...) with the tags and steps of Keras's callback; hyperparameters in the
 * folder itself.  What cannot be written waits, and is tried again. */
#ifndef QCNN_TRAIN_LOG_H
#define QCNN_TRAIN_LOG_H

#include "cli/job.h"
#include "cli/trouble.h"
#include "runtime/log/metrics.h"
#include "runtime/log/run.h"

struct train_log;

/* resumed: what train_log_files() said when the run was left, else NULL; the run's files are cut to it. */
struct train_log *train_log_new(struct trouble *t, const struct job *j, struct run *run, const json_t *resumed);
/* How long the files are now, by their names in the run's folder: of the run, and of starts that have not ended;
 * {"lines": {NAME: bytes}, "waiting": {NAME: text}, "events": {NAME: bytes}}. The caller's to json_decref. */
json_t *train_log_files(struct train_log *l);
void train_log_step(struct train_log *l, uint32_t start, uint64_t step, double batch_loss);
void train_log_epoch(struct train_log *l, const struct epoch_result *r, const struct metrics_line *m);
void train_log_state(struct train_log *l, const struct epoch_result *r, const struct epoch_state *s);
/* Ends the event files; well: training ended as it should. l may be NULL. */
void train_log_close(struct train_log *l, bool well);

/* train_log_files.c: cut the files of a run to what `resumed` says; event files that it does not know are removed,
 * but for those of the starts before the one that runs. */
int train_log_cut(struct run *run, const struct train_job *j, const json_t *resumed, struct err *e);

/* train_graph.c: the program as nodes and edges for tfevents_graph, layers as scopes. */
void train_graph(const struct program *p, struct buf *graph);

#endif
