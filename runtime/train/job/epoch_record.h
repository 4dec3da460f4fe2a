/* SPDX-License-Identifier: Apache-2.0
 * The record of an epoch of a restart, and its only serialisations: as numbers, for checkpoints, and as a line of
 * named values, for everything that people and programs read.  All are expanded from epoch_record.def. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "runtime/log/metrics.h"
#include "runtime/train/job/train_job.h"

struct epoch_record {
#define EPOCH_INDEX(field) uint32_t field;
#define EPOCH_COUNT(field) uint32_t field;
#define EPOCH_LONG_COUNT(field) uint64_t field;
#define EPOCH_FLAG(field) bool field;
#define EPOCH_REAL(field) double field;
#define EPOCH_VALUES(field) double field[TRAIN_VALUES_MAX];
#define EPOCH_FIELD(field, type, part, name, meaning) EPOCH_##type(field)
#include "runtime/train/job/epoch_record.def"
#undef EPOCH_FIELD
#undef EPOCH_INDEX
#undef EPOCH_COUNT
#undef EPOCH_LONG_COUNT
#undef EPOCH_FLAG
#undef EPOCH_REAL
#undef EPOCH_VALUES
};

enum epoch_field {
#define EPOCH_FIELD(field, type, part, name, meaning) EPOCH_FIELD_##field,
#include "runtime/train/job/epoch_record.def"
#undef EPOCH_FIELD
	EPOCH_FIELDS
};

/* One number of a record, not of type VALUES.  set: false where v is no value of the field. */
double epoch_record_get(const struct epoch_record *r, enum epoch_field field);
bool epoch_record_set(struct epoch_record *r, enum epoch_field field, double v);

/* As epoch_record_size() numbers: the fields that are one number, then the VALUES, nvalue each.  unpack: false where
 * some are no values of their fields. */
size_t epoch_record_size(unsigned nvalue);
void epoch_record_pack(const struct epoch_record *r, unsigned nvalue, double *out);
bool epoch_record_unpack(struct epoch_record *r, unsigned nvalue, const double *in);

/* As named values, which borrow from r; those of validation where the job has any, without a value in epochs without
 * validation. */
void epoch_record_line(const struct train_job *j, const struct epoch_record *r,
	struct metrics_line *out);
