/* SPDX-License-Identifier: Apache-2.0
 * What the columns of a training's CSV file are called, so that those of another file are found by their names. */
#ifndef QCNN_SAMPLE_NAMES_H
#define QCNN_SAMPLE_NAMES_H

#include "runtime/base/arena.h"
#include "runtime/base/buf.h"
#include "runtime/data/dataset.h"

enum { SAMPLE_NAMES_BYTES_MAX = 1 << 20 };

/* The columns of a data set, as a JSON list; nothing where it has no names, one twice, or more text than the limit. */
void sample_names_format(const struct dataset *d, struct buf *out);

/* Which columns of the CSV file at path feed the inputs that o wants: those of such a list, where its header has one of
 * them at least. How many maps, in the arena; 0: columns are taken in their order. */
unsigned sample_names_map(const char *list, const char *path, const struct read_options *o, struct arena *a,
	const struct input_map **map);

/* Has the data set names, but none of the list? */
bool sample_names_differ(const char *list, const struct dataset *d);

#endif
