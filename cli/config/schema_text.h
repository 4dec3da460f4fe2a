/* SPDX-License-Identifier: Apache-2.0
 * What the rows of the schema and of its tables take, in words: for messages and the manual. */
#pragma once

#include "cli/config/schema.h"
#include "runtime/base/buf.h"

/* The numbers from low to high: "1 to 1024", "above 0, up to 1", "at least 0", "any".  DBL_MIN as low
 * means above 0, the number before 1 as high below 1; 1e300 and what no integer holds are no bounds. */
void range_text(double low, double high, struct buf *out);
/* Words, and those of a row of options as in struct train_option, with commas between. */
void words_text(const char *const *name, size_t n, struct buf *out);
void option_words_text(const char *words, struct buf *out);
/* The numbers and words that a value of the key, or of an option, may be; nothing where any of its type may. */
void schema_allowed(const struct schema_row *row, struct buf *out);
void option_allowed(const struct train_option *o, struct buf *out);
/* Type, range, words, unit and default of a key, as sentences. */
void schema_describe(const struct schema_row *row, struct buf *out);
/* Range, words and default of an option of a table's row. */
void option_describe(const struct train_option *o, struct buf *out);
