/* SPDX-License-Identifier: Apache-2.0
 * What a struct callbacks holds; shared by the files callback*.c. */
#pragma once

#include "runtime/base/buf.h"
#include "runtime/train/callback/callback.h"
#include "runtime/train/job/train_job.h"
#include "runtime/train/job/train_observer.h"
#include "runtime/train/optimizer/schedule.h"

/* One of the numbers of an epoch, and whether a larger one is better. */
struct monitor { const char *name; int metric /* -1: the loss */; bool validation, rises; };

/* A NaN among the numbers is "none yet". */
struct stopping { struct monitor monitor; unsigned which; double best, wait; uint32_t best_epoch, stopped; bool has_best; };
struct plateau { struct monitor monitor; double best, wait, cooldown; };
struct saved { uint32_t epoch, batch; struct epoch_record record; };
enum { SAVES_WAITING_MAX = 8 };
struct waiting_save { struct saved at; double value; double *weight; };      /* could not be written yet; (nweight), owned */
struct saving { struct monitor monitor; double best; bool due; uint64_t since; struct saved *saved; uint32_t nsaved;
	struct waiting_save waiting[SAVES_WAITING_MAX]; uint32_t nwaiting; };
enum { CSV_WAITING_MAX = 16 << 20 };          /* bytes, beyond which no row is added */
struct csv_file { bool begun; uint64_t nbyte; struct buf waiting; };   /* waiting: rows that could not be written yet */

/* An enabled callback that has a state. */
struct callback_part {
	const struct callback_choice *choice;
	union { struct stopping stop; struct plateau plateau; struct saving save; struct csv_file csv; };
};

struct callbacks {
	const struct train_job *job;
	uint32_t restart, epochs;              /* epochs: seen so far */
	unsigned nvalue;                     /* numbers of all metrics */
	struct callback_part part[CALLBACKS_MAX]; unsigned npart;    /* kinds in the order of their work */
	const struct callback_part *restorer;        /* whose best weights the restart ends with, or NULL */
	double *best_weight;                 /* (nweight), NULL: not kept */
	struct epoch_record best_record;     /* of them */
	uint32_t restored;
	struct learning_rate *rate;          /* which reduce_lr_on_plateau replaces; borrowed */
};

/* A number of an epoch by its name ("val_accuracy"); false: unknown, or a matrix. */
bool callback_monitor(const struct train_job *j, const char *name, struct monitor *m);
/* Its value; NaN where the epoch has none. */
double monitor_value(const struct train_job *j, const struct monitor *m, const struct epoch_record *r);
/* Has the epoch a value of the monitor?  It may be NaN. */
bool monitor_has_value(const struct monitor *m, const struct epoch_record *r);
/* MonitorCallback._is_improvement: reference NaN is Keras's None. */
bool monitor_improves(const struct monitor *m, double value, double reference, double min_delta);
/* All names that can be monitored, "loss, accuracy, ...". */
void callback_names(const struct train_job *j, struct buf *out);

/* callback_path.c: the path that a template means for the numbers of an epoch, for run_open_file; batch 0: {batch} is the
 * epoch's last.  -ERR_CONFIG when the template is malformed. */
int callback_path(const struct train_job *j, const char *template, const struct epoch_record *r, uint32_t batch,
	struct buf *out, struct err *e);

/* The learning rate that reduce_lr_on_plateau may lower; with it there is no schedule (callbacks_check). */
double callback_rate(const struct callbacks *c);

/* The event for numbers r; what the observer says, 0 without one. */
int callback_report(const struct train_observer *o, struct train_event *v, const struct callbacks *c, const struct epoch_record *r);

/* callback_save.c: how many files are remembered so that they can be removed, 0: none; a file that is due now; those
 * that could not be written before; discarding these; and the end. */
size_t callback_files_kept(const struct callback_choice *o);
void callback_save(struct callbacks *c, struct callback_part *p, const struct train_observer *o, const struct saved *now, const double *weight);
void callback_save_late(struct callbacks *c, struct callback_part *p, const struct train_observer *o);
void callback_save_forget(struct saving *s);
void callback_save_free(struct saving *s);

/* callback_csv.c: a row, after those that could not be written before; and at the end what is left of them. */
int callback_csv(struct callbacks *c, struct callback_part *p, const struct epoch_record *r, struct err *e);
int callback_csv_end(struct callbacks *c, struct callback_part *p, const struct epoch_record *last,
	struct err *e);
