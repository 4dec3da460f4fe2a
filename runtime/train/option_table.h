/* SPDX-License-Identifier: Apache-2.0
 * Macros with which tables turn OPTION() rows in parentheses into arrays. */
#ifndef QCNN_OPTION_TABLE_H
#define QCNN_OPTION_TABLE_H

#include "runtime/train/option.h"

#define OPTION(name, value, least, most, kind, doc) { #name, value, least, most, VALUE_##kind, doc }
#define OPTION_ROWS(...) __VA_ARGS__
#define OPTION_COUNT_OF(...) (sizeof (struct train_option[]){ __VA_ARGS__ } / sizeof (struct train_option))

#endif
