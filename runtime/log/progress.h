/* SPDX-License-Identifier: Apache-2.0
 * The progress of a training run: on a terminal a bar redrawn at most 20 times a
 * second, then one line per epoch, folded to the width; otherwise one line per epoch.
 *
 * With several restarts there is one line per restart and at last the best of them; epochs
 * get lines of their own only where each takes a second or more. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "runtime/base/buf.h"
#include "runtime/log/metrics.h"

struct progress_options {
	FILE *out;                   /* stderr */
	pthread_mutex_t *lock;       /* held while something is written there */
	bool quiet, terminal, colour;
	bool live;                   /* on a terminal: curves above the bar */
	const char *live_metric;     /* of which metric; NULL: of the losses */
	uint32_t epochs, steps_per_epoch, restarts;
	uint32_t restarts_done, best;
	double best_loss; /* that ended before a resume; the best of them */
	const char *loss;
	bool energies; /* losses are outputs, of which more digits are read */
	/* More lines above the bar; NULL: none. Called without the lock. */
	void (*lines)(void *ctx, unsigned most, struct buf *out); void *lines_ctx;
};

struct progress;

/* Starts count from 0 here, as in the program; people read them from 1. step: in this
 * epoch, from 1. */
struct progress *progress_new(const struct progress_options *o);
void progress_step(struct progress *p, uint32_t restart, uint32_t epoch, uint32_t step,
	double batch_loss);
/* values: of which those of the samples are shown. */
void progress_epoch(struct progress *p, uint32_t restart, uint32_t epoch, double seconds,
	const struct metrics_line *values);
/* An epoch of the run before a resume, for the curves, also those of o.best: its value of the metric that they show; validation NaN: none. */
void progress_past(struct progress *p, uint32_t restart, uint32_t epoch, double training,
	double validation);
/* A line of its own (p may be NULL); with several restarts it goes behind that of the restart. */
void progress_note(struct progress *p, const char *text);
/* The restart ended with the weights of that epoch, whose values the line of several restarts shows. */
void progress_restored(struct progress *p, uint32_t epoch, const struct metrics_line *values);
/* Before others write to the same terminal, from any thread that holds the lock (p may be NULL). */
void progress_clear(struct progress *p);
void progress_restart_done(struct progress *p, uint32_t restart, double final_loss);
void progress_free(struct progress *p); /* leaves the cursor on a new line */
