/* SPDX-License-Identifier: Apache-2.0
 * How a data file was read, as text, and the same file read again elsewhere to the same bits. */
#pragma once

#include "runtime/data/dataset.h"
#include "runtime/data/format/dataset_read.h"
#include "runtime/data/transform/transform.h"

/* As canonical JSON. */
void dataset_spec_format(const struct read_options *o, struct buf *out);

/* A file that is read by such a text, and changed by learnt steps (transform_format; empty: left as it is). */
struct dataset_again { struct dataset *data; struct transform through; };

/* digest, nrow, nx: what has to come out.  Rows stay in the file where they did, or where they would take more than
 * most_bytes.  -ERR_NO_INPUT, -ERR_BAD_DATA (another content; a text that is none), -ERR_CONFIG (no memory). */
struct dataset_claim { const char *path, *spec, *through; size_t nspec, nthrough; uint8_t digest[32]; uint32_t nrow, nx; };
int dataset_again_open(const struct dataset_claim *c, uint64_t most_bytes, struct dataset_again *out, struct err *e);
void dataset_again_release(struct dataset_again *a);
