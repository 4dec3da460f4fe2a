/* SPDX-License-Identifier: Apache-2.0
 * What the columns of a training's CSV file are called, so that those of another file are found by their names. */
#ifndef QCNN_SAMPLE_NAMES_H
#define QCNN_SAMPLE_NAMES_H

#include "runtime/base/arena.h"
#include "runtime/base/buf.h"
#include "runtime/data/dataset.h"
#include "runtime/data/format/dataset_read.h"

enum { SAMPLE_NAMES_BYTES_MAX = 1 << 20 };

/* The columns of a data set, as a JSON list; nothing where it has no names, one twice, or more text than the limit. */
void sample_names_format(const struct dataset *d, struct buf *out);

/* The names of such a list, in the arena; 0 where it is none. */
uint32_t sample_names_read(const char *list, struct arena *a, const char *const **name);
/* Which columns of the CSV file at path feed the inputs that o wants: those of o->trained, where its header has one of
 * them at least. How many maps, in the arena; 0: columns are taken in their order, or the file can be read only once, and
 * its reader looks for the names. */
unsigned sample_names_map(const struct read_options *o, const char *path, struct arena *a, const struct input_map **map);

#endif
