/* SPDX-License-Identifier: Apache-2.0
 * Options of losses, metrics, optimisers and schedules: rows that their tables carry, and
 * from which the configuration's schema and the manual are expanded. */
#ifndef QCNN_OPTION_H
#define QCNN_OPTION_H

#include <math.h>

enum { TRAIN_OPTIONS_MAX = 16, VALUE_LIST_MAX = 64 };

/* How a value is held: a number, 0 or 1, a whole number, or a list, whose number of
 * entries stands in the option's place. */
enum value_kind { VALUE_REAL = 0, VALUE_BOOL, VALUE_COUNT, VALUE_LIST };

#define VALUE_UNSET NAN              /* default: null, left out */
#define VALUE_REQUIRED HUGE_VAL     /* default: none, must be given */

struct train_option { const char *name; double value, min, max; enum value_kind kind; const char *doc; };

static inline int value_given(double value)
{
	return !isnan(value);
}

#endif
