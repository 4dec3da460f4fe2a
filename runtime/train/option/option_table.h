/* SPDX-License-Identifier: Apache-2.0
 * Macros with which tables turn OPTION() rows in parentheses into arrays. */
#ifndef QCNN_OPTION_TABLE_H
#define QCNN_OPTION_TABLE_H

#include <stddef.h>
#include "runtime/train/option/option.h"

#define OPTION(name, value, least, most, kind, doc) { #name, value, least, most, VALUE_##kind, doc, NULL }
/* An option of words or texts; see struct train_option. */
#define OPTION_TEXT(name, value, kind, words, doc) { #name, value, 0, 1e15, VALUE_##kind, doc, words }
#define OPTION_ROWS(...) __VA_ARGS__
#define OPTION_COUNT_OF(...) (sizeof (struct train_option[]){ __VA_ARGS__ } / sizeof (struct train_option))

#endif
