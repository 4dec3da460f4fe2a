/* SPDX-License-Identifier: Apache-2.0
 * The data that a configuration describes, for the inputs that a program wants. */
#pragma once

#include "cli/config/configuration.h"
#include "cli/job/model_file.h"

enum sample_part { PART_TRAIN = 0, PART_VALIDATION, PART_TEST, PART_COUNT };

struct samples {
	struct dataset *set[PART_COUNT];     /* of data.train or the generator; of the other files */
	uint32_t *order;                     /* rows of set[0], by parts */
	uint32_t *kept[PART_COUNT]; /* rows of set k that data.label_map does not leave out */
	struct part part[PART_COUNT];        /* nrow 0: there is none */
	bool used[PART_COUNT];               /* set k was read */
	struct transform transform;          /* the transform fitted to these data, if any */
	const struct transform *through; /* the transform of the inputs, fitted here or before; NULL: none */
};

/* The path, in the arena, of a file that the configuration names, or NULL. */
typedef const char *(*find_fn)(void *ctx, const char *path);

struct samples_wish {
	const struct config *config;
	const struct program *program;
	const struct input_want *want;
	unsigned parts;              /* bits 1 << enum sample_part: only what these need is read */
	find_fn find; void *ctx;
	const struct transform *learnt; /* the transform of the weights; NULL: fit it to the training part */
	const char *columns;         /* samples_columns of the training, for samples_file; may be NULL */
};

/* 0 (then check diags_errors), or a negative code and *e. */
int samples_open(const struct samples_wish *w, struct diags *d, struct samples *out, struct err *e);
void samples_release(struct samples *s);

/* The rows of d that data.label_map does not leave out, whose numbers may be in *kept, which the caller frees. */
int samples_part(const struct dataset *d, uint32_t **kept, struct part *out, struct err *e);

/* {"train": {"source", "sha256", "rows", "count"}, ...}: the data of each part, in a canonical form. */
int samples_describe(const struct samples *s, const struct config *c, struct buf *out, struct err *e);
const char *sample_part_name(enum sample_part p);

/* Memory for the inputs of a file before they are streamed, and for streamed inputs. */
#define STREAM_KEEP_BYTES ((uint64_t)64 << 20)

/* The names of columns that were used in the order of a CSV file, as JSON; empty if there are none. */
void samples_columns(const struct samples *s, const struct config *c, struct buf *out);

/* Read one file for the program's inputs as the configuration (may be NULL) describes it, and apply the fitted transform
 * (NULL: none); labels may be missing. If the file has one of the training's column names, columns are found by name, in
 * any order. */
int samples_file(const struct samples_wish *w, const char *path, struct diags *d,
	struct dataset **out, struct err *e);
