/* SPDX-License-Identifier: Apache-2.0
 * The data that a configuration describes, for the inputs that a program wants. */
#ifndef QCNN_SAMPLES_H
#define QCNN_SAMPLES_H

#include "cli/config/configuration.h"
#include "cli/job/model_file.h"

enum sample_part { PART_TRAIN = 0, PART_VALIDATION, PART_TEST, PART_COUNT };

struct samples {
	struct dataset *set[PART_COUNT];     /* of data.train or the generator; of the other files */
	uint32_t *order;                     /* rows of set[0], by parts */
	struct part part[PART_COUNT];        /* nrow 0: there is none */
	bool used[PART_COUNT];               /* set k was read */
	struct transform transform;          /* that the inputs have gone through, where it was learnt here */
	const struct transform *through;     /* that, or what was learnt before; NULL: they are as they were */
};

/* Where a file that the configuration names lies: a path in the arena, or NULL. */
typedef const char *(*find_fn)(void *ctx, const char *path);

struct samples_wish {
	const struct config *config;
	const struct program *program;
	const struct input_want *want;
	unsigned parts;              /* bits 1 << enum sample_part: only what these need is read */
	find_fn find; void *ctx;
	const struct transform *learnt;      /* of the weights; NULL: to be learnt from the training part */
	const char *columns;         /* samples_columns of the training, for samples_file; may be NULL */
};

/* 0 (then look at diags_errors), or a negative code and *e. */
int samples_open(const struct samples_wish *w, struct diags *d, struct samples *out, struct err *e);
void samples_release(struct samples *s);

/* {"train": {"source", "sha256", "rows", "count"}, ...}: what was used for what; canonical. */
int samples_describe(const struct samples *s, const struct config *c, struct buf *out, struct err *e);
const char *sample_part_name(enum sample_part p);

/* What a file's inputs may take in memory before they are streamed, and what is kept of streamed ones. */
#define STREAM_KEEP_BYTES ((uint64_t)64 << 20)

/* The names of the columns that were taken in the order of a CSV file, as JSON; nothing where there are none. */
void samples_columns(const struct samples *s, const struct config *c, struct buf *out);

/* One file for the program's inputs, read as the configuration (may be NULL) says, and changed by what was learnt (NULL:
 * left as it is); labels may be missing. Columns that the training had are found by their names, wherever they stand,
 * if there is one of these names. */
int samples_file(const struct samples_wish *w, const char *path, struct diags *d, struct dataset **out, struct err *e);

#endif
