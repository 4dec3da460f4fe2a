/* SPDX-License-Identifier: Apache-2.0
 * The names of the columns of the training's CSV file, by which the columns of another file are found. */
#pragma once

#include "runtime/base/arena.h"
#include "runtime/base/buf.h"
#include "runtime/data/dataset.h"
#include "runtime/data/format/dataset_read.h"

enum { SAMPLE_NAMES_BYTES_MAX = 1 << 20 };

/* The column names of a data set as a JSON list; empty if it has no names, a repeated name, or too much text. */
void sample_names_format(const struct dataset *d, struct buf *out);

/* Parse such a list into the arena; returns the number of names, 0 if it is malformed. */
uint32_t sample_names_read(const char *list, struct arena *a, const char *const **name);
/* Map the columns of the CSV file at path to the required inputs by the names o->trained, if the header has at least one
 * of them. Returns the number of maps, in the arena; 0: use the columns in their order, or the file can be read only once
 * and its reader finds the names. */
unsigned sample_names_map(const struct read_options *o, const char *path, struct arena *a,
	const struct input_map **map);
