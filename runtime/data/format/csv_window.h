/* SPDX-License-Identifier: Apache-2.0
 * The part of a long CSV file that is in memory: csv.c sees whole rows. */
#pragma once

#include "runtime/data/format/csv.h"

enum { CSV_WINDOW_BYTES = 4 << 20 };     /* more where a row has more */

/* Moves the window on until the row at c->at is in it to its end. 0, or a code, also in c->code. */
int csv_window_ready(struct csv *c);
void csv_window_free(struct csv_window *w);
